#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What system calls cost: bare, under single layers, in other sandboxes, under a tracer, and in sbx,
# both where the shim vouches for a call and where the supervisor is asked, for want of a shim.
# SBX_BENCH_ROUNDS sets the number of rounds.
# shellcheck disable=SC2154 # set there
. "${BASH_SOURCE[0]%/*}/setting.bash"

programs=$SBX_BUILD/tests/bench
file=$dir/work/data
echo data >"$file"

add() # CASE COMMAND...
{
	plan calls "$1" "$dir/work" "${@:2}"
}

measured=("$programs/calls" "$file")
add bare "${measured[@]}"
add 'filter' "$programs/under" filter "${measured[@]}"
add 'Landlock' "$programs/under" landlock "$dir/work" "${system[@]}" /proc "$programs" -- "${measured[@]}"
bubblewrap "$dir/work" "${measured[@]}"
add bwrap "${sandboxed[@]}"
add strace strace -f -e trace=none -o /dev/null "${measured[@]}"
add 'sbx' "$launch" -q -- "${measured[@]}"
add 'sbx, asking' "$launch" -q -- "$programs/calls-static" "$file"
measure calls "${SBX_BENCH_ROUNDS:-40}" --reported
