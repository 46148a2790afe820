#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the network costs: a look-up, a connection, a server, and a megabyte once a connection is made;
# bare, in sbx by rules for addresses, and by rules for names, where a name stands for the address. The
# other side is in a network of its own with us. SBX_BENCH_ROUNDS sets the number of rounds.
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
measure network "${SBX_BENCH_ROUNDS:-10}" --reported
