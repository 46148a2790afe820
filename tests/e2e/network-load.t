#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Many connections: at once, one after the other, and by clients that are killed while they wait. All are
# answered, and whoever connects for them holds no more afterwards. SBX_NETWORK_TIMES=50000 makes it long.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Of the build; for the second run too, which cannot get there.
if [ -z "${PROGRAMS:-}" ]; then
	cp -a "$SBX_BUILD/tests/hygiene" "$DIR/programs" && chmod -R go+rX "$DIR/programs" || exit
	export PROGRAMS=$DIR/programs
fi
TIMES=${SBX_NETWORK_TIMES:-3000}

mkdir room outside
"$PROGRAMS/sockets" serve "$PWD/outside" &
server=$!
trap 'kill "$server" 2>/dev/null; cleanup' EXIT
until [ -s outside/port ] || ! kill -0 "$server" 2>/dev/null; do sleep 0.01; done
port=$(cat outside/port)

cat >policy.ini <<END
[sandbox]
tmp = shared
[paths]
write = ./room
exec = $PROGRAMS
[network]
connect = 127.0.0.1:$port
[limits]
processes = 2000
END

# What the supervisor holds: "DESCRIPTORS THREADS". Threads that have nothing to do end by and by: up to
# MOST are waited for.
look() # NAME [MOST]
{
	local threads i

	while [ ! -e "room/$1" ]; do
		kill -0 "$launcher" 2>/dev/null || return
		sleep 0.01
	done
	supervisor=$(pgrep -P "$launcher")
	for ((i = 0; i < 1200; i++)); do
		threads=$(find "/proc/$supervisor/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
		[ "$threads" -gt "${2:-$threads}" ] || break
		sleep 0.05
	done
	echo "$(find "/proc/$supervisor/fd" -mindepth 1 2>/dev/null | wc -l)" "$threads" >"$DIR/$1"
	rm "room/$1"
}

# Each of many calls would have left something.
held() # NAME OPTION... -- ARGUMENT...
{
	local name=$1 job before after

	shift
	timeout --foreground 600 "$LAUNCH" -q -p policy.ini "$@" "$PWD/room" >"$DIR/out" 2>"$DIR/err" &
	job=$!
	until launcher=$(pgrep -P "$job") || ! kill -0 "$job" 2>/dev/null; do sleep 0.01; done
	echo 0 0 | tee "$DIR/before" >"$DIR/after"
	look before
	read -r -a before <"$DIR/before"
	look after "${before[1]}"
	wait "$job"
	STATUS=$?
	exits 0 "$name: ends well"
	has out ', 0 wrong' "$name: every answer is right"
	read -r -a after <"$DIR/after"
	echo "# descriptors ${before[0]}, then ${after[0]}; threads ${before[1]}, then ${after[1]}"
	[ "${before[0]}" -gt 0 ] && [ "${after[0]}" -le $((before[0] + 8)) ] &&
		[ "${after[1]}" -gt 0 ] && [ "${after[1]}" -le "${before[1]}" ]
	result $? "$name: whoever connects has no more to hold"
}

for enforce in auto seccomp; do
	launch -q -p policy.ini --enforce=$enforce -- "$PROGRAMS/sockets" many "$port" 500
	exits 0 "$enforce: 500 connections at once"
	says out '500 connections, 0 wrong' "$enforce: all are answered"
	held "$enforce: one after the other" --enforce=$enforce -- "$PROGRAMS/sockets" loop "$port" "$TIMES"
	has err "sbx: Cannot connect to '127.0.0.1:1': destination not allowed." "$enforce: refusals are explained"
	held "$enforce: killed clients" --enforce=$enforce -- "$PROGRAMS/sockets" killed 128
done
finish
