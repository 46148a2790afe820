#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh BUILD SECONDS TARGET...: runs the fuzzers one after the other, from the seeds in
# tests/fuzz/corpus/NAME, which stay as they are; what they find is kept in BUILD/corpus/NAME.
# Prints one line for each, and the end of the log of those that fail.
set -eu
build=$1 seconds=$2
shift 2
[ $# -gt 0 ] || echo 'fuzz: no targets'

result=0
for target; do
	name=${target#fuzz_}
	log=$build/$target.log
	mkdir -p "$build/corpus/$name" "$build/crashes"
	set -- "$build/corpus/$name"
	[ ! -d "tests/fuzz/corpus/$name" ] || set -- "$@" "tests/fuzz/corpus/$name"
	if "$build/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -print_final_stats=1 \
		-dict="$build/policy.dict" -artifact_prefix="$build/crashes/$name-" "$@" >"$log" 2>&1
	then
		awk -v name="$target" '
			/cov: / { for (i = 1; i < NF; i++) if ($i == "cov:") edges = $(i + 1) }
			/number_of_executed_units/ { runs = $2 }
			/average_exec_per_sec/ { speed = $2 }
			/peak_rss_mb/ { memory = $2 }
			END { printf "%s: clean: %d runs, %d/s, %d edges, %d MB\n",
			      name, runs, speed, edges, memory }' "$log"
	else
		result=1
		tail -n 60 "$log"
		echo "$target: FAILED; the whole log is $log"
	fi
done
exit $result
