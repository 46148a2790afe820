#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Many calls at once: every answer is right, nobody waits for ever, and whoever answers is the same
# afterwards, with no more descriptors and threads than before.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Of the build; for the second run too, which cannot get there.
if [ -z "${PROGRAMS:-}" ]; then
	cp -a "$SBX_BUILD/tests/hygiene" "$DIR/programs" && chmod -R go+rX "$DIR/programs" || exit
	export PROGRAMS=$DIR/programs
fi

mkdir room secret
file secret/other 'not mine\n'
file secret/last 'not mine\n'
printf '[paths]\nwrite = ./room\nexec = %s\n' "$PROGRAMS" >policy.ini

# What the supervisor holds: "DESCRIPTORS THREADS", 0 when it does not let itself be looked at.
holds() # PID
{
	local descriptors threads

	descriptors=$(find "/proc/$1/fd" -mindepth 1 2>/dev/null | wc -l)
	threads=$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)
	echo "$descriptors $threads"
}

# Looks at the supervisor when the program shows itself; tells it to go on.
look() # NAME
{
	while [ ! -e "room/$1" ]; do
		kill -0 "$launcher" 2>/dev/null || return
		sleep 0.01
	done
	supervisor=$(pgrep -P "$launcher")
	holds "$supervisor" >"$DIR/$1"
	rm "room/$1"
}

# Clients came and went in between, each of which would have left something.
not_more() # NAME
{
	local before after

	read -r -a before <"$DIR/before"
	read -r -a after <"$DIR/after"
	echo "# descriptors ${before[0]}, then ${after[0]}; threads ${before[1]}, then ${after[1]}"
	[ "${after[0]}" -le $((before[0] + 8)) ] && [ "${after[1]}" -gt 0 ] &&
		[ "${after[1]}" -le $((before[1] + 4)) ]
	result $? "$1"
}

for program in load load-static; do
	for kind in threads mixed killed; do
		# Ends it when it hangs: nothing here has to be quick.
		timeout --foreground 300 "$LAUNCH" -q -p policy.ini -- "$PROGRAMS/$program" "$kind" "$PWD/room" \
			"$PWD/secret" >"$DIR/out" 2>"$DIR/err" &
		job=$!
		until launcher=$(pgrep -P "$job") || ! kill -0 "$job" 2>/dev/null; do sleep 0.01; done
		supervisor=
		echo 0 0 | tee "$DIR/before" >"$DIR/after"
		look before
		first=$supervisor
		look after
		wait "$job"
		STATUS=$?
		exits 0 "$program, $kind: ends well"
		has out ' 0 wrong' "$program, $kind: every answer is right"
		[ -n "$first" ] && [ "$first" = "$supervisor" ]
		result $? "$program, $kind: whoever answers is the same"
		not_more "$program, $kind: and has no more to hold"
		has err "sbx: Cannot read '$PWD/secret/other': path is outside the sandbox." \
			"$program, $kind: the first refusal is explained"
		has err "sbx: Cannot delete '$PWD/secret/last': path is outside the sandbox." \
			"$program, $kind: and the last one"
		[ "$(cat secret/*)" = "$(printf 'not mine\nnot mine\n')" ] && [ -z "$(ls room)" ]
		result $? "$program, $kind: nothing else happened"
	done
done

finish
