#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Instructions per operation, counted by valgrind: they do not depend on what else the machine does,
# so that two versions of the engine can be compared on a busy one. What they do not show is the
# time that large images lose on the way to memory: that is in bench_policy's own table, and in the
# misses of the simulated caches (SBX_BENCH_CACHE=1, slower).
set -eu
bench=${SBX_BUILD:-build/release}/tests/bench/bench_policy
if ! command -v valgrind >/dev/null; then
	echo 'there is no valgrind here: nothing is counted'
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# count CASE RULES FUNCTION: one line of the table. Only what happens inside FUNCTION is counted.
count()
{
	valgrind --tool=callgrind --toggle-collect="$3" --callgrind-out-file="$dir/out" \
		${SBX_BENCH_CACHE:+--cache-sim=yes} "$bench" --once "$1" "$2" >"$dir/done" 2>"$dir/log" || {
		cat "$dir/log" >&2
		exit 1
	}
	awk -v name="$1" -v rules="$2" '
		FNR == NR { done = $1; next }
		/^totals:/ {
			printf "%10s %8d %14.1f", name, rules, $2 / done
			if (NF > 8) printf " %12.2f %12.2f", ($6 + $7) / done, ($9 + $10) / done
			print ""
		}' "$dir/done" "$dir/out"
}

printf '%10s %8s %14s' case rules instructions
[ -z "${SBX_BENCH_CACHE:-}" ] || printf ' %12s %12s' 'L1 misses' 'L3 misses'
echo
for rules in 10 100 1000 10000; do count literal $rules once_verdicts; done
for rules in 10 10000; do count glob $rules once_verdicts; done
for rules in 10 10000; do count peers $rules once_verdicts; done
for rules in 10 1000; do count words $rules once_words; done
for rules in 10 1000 10000; do count load $rules once_load; done
