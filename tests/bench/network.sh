#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the network costs: a look-up, a connection, a server, and a megabyte once a connection is made,
# sent by us and by iperf3; bare, in sbx by rules for addresses, and by rules for names, where a name
# stands for the address; and in a sandbox that has a proxy, where there is one. The other side is in a
# network of its own with us. SBX_BENCH_ROUNDS sets the number of rounds.
# shellcheck disable=SC2154 # set there
if [ -z "${SBX_BENCH_NETWORK:-}" ]; then
	export SBX_BENCH_NETWORK=yes
	set -- unshare -n
	[ "$(id -u)" -eq 0 ] || set -- unshare -rn
	exec "$@" bash "${BASH_SOURCE[0]}"
fi
. "${BASH_SOURCE[0]%/*}/setting.bash"

ip link set lo up
ip addr add 55.0.0.7/32 dev lo
program=$SBX_BUILD/tests/bench/network
"$program" serve &
other=$!
trap 'kill "$other"; rm -rf "$dir"' EXIT
until "$program" 55.0.0.7 5353 >/dev/null 2>&1; do sleep 0.1; done

add() # CASE COMMAND...
{
	plan network "$1" "$dir/work" "${@:2}"
}

add bare "$program" 55.0.0.7 5353
add 'by address' "$launch" -q --allow-connect=55.0.0.7:8000 -- "$program" 55.0.0.7 0
add 'by name' "$launch" -q --allow-connect=bench.test:8000 --dns=127.0.0.1:5353 -- "$program" 55.0.0.7 53

# One that lets programs out by a proxy, which they have to ask: npm has it as sandbox-runtime. What a
# program needs for that is in HTTP_PROXY, http://LOGIN@localhost:PORT.
srt=$(command -v srt || echo srt)
echo '{"network": {"allowedDomains": ["55.0.0.7:8000"], "deniedDomains": []},
"filesystem": {"denyRead": [], "allowWrite": ["."], "denyWrite": []}}' >"$dir/srt.json"
cat >"$dir/work/ask" <<'END'
login=${HTTP_PROXY#http://} port=${HTTP_PROXY##*:}
login=${login%@*}
exec "$1" 55.0.0.7 0 "$port" "$(printf %b "${login//%/\\x}" | base64 -w 0)"
END
add 'by proxy' "$srt" -s "$dir/srt.json" -c "bash ask $program"

iperf3() # CASE HOST COMMAND...
{
	plan iperf3 "$1" "$dir/work" "$python" -B "$SBX_TOP/tests/bench/iperf3.py" 55.0.0.7 "${@:3}" \
		iperf3 --json -n 2G -c "$2"
}

iperf3 bare 55.0.0.7
iperf3 'by address' 55.0.0.7 "$launch" -q --allow-exec=/usr/bin/iperf3 --allow-connect=55.0.0.7:5201 --
iperf3 'by name' bench.test "$launch" -q --allow-exec=/usr/bin/iperf3 --allow-connect=bench.test:5201 \
	--dns=127.0.0.1:5353 --
measure network "${SBX_BENCH_ROUNDS:-10}" --reported
