#!/bin/sh
# SPDX-License-Identifier: MIT
#
# run.sh BUILD CASES JOBS [SEED]: random cases in parts of 10,000, each with a seed of its own, as many at
# a time as there are jobs. Prints one line for each part, all of what a part that fails has to say,
# and what all of them come to.
set -eu
build=$1 cases=$2 jobs=$3 seed=${4:-$(date +%s)}
logs=$build/agree
part=10000
[ "$cases" -ge "$part" ] || part=$cases

echo "seeds from $seed on"
rm -rf "$logs"
mkdir -p "$logs"
result=0
# shellcheck disable=SC2016 # for the other shell
seq "$seed" "$((seed + (cases + part - 1) / part - 1))" | xargs -P "$jobs" -I % sh -c '
	if SBX_SEED=$1 SBX_CASES=$2 SBX_BUILD=$3 "$3/tests/agree/test_agree.t" >"$4/$1.log" 2>&1
	then
		echo "SBX_SEED=$1: clean"
	else
		cat "$4/$1.log"
		echo "SBX_SEED=$1: FAILED"
		exit 1
	fi' - % "$part" "$build" "$logs" || result=1
cat "$logs"/*.log | awk '
	/^(not )?ok .*agree on [0-9]+ cases/ { for (i = 1; i < NF; i++) if ($i == "on") cases += $(i + 1) }
	/of which [0-9]+ were allowed/ { for (i = 1; i < NF; i++) if ($i == "which") { allowed += $(i + 1); refused += $(i + 4) } }
	/more failed as they do/ { for (i = 1; i < NF; i++) if ($i == "and") failing += $(i + 1) }
	/policies, of which/ { policies += $2; hiding += $6; masked += $10 }
	/policies let Landlock read beside/ { beside += $2 }
	/^# [0-9]+ times: / { n = $2; sub(/^# [0-9]+ times: /, ""); times[$0] += n }
	END {
		printf "%d cases: %d allowed, %d refused; %d more failed by themselves\n", cases, allowed, refused, failing
		printf "%d policies, %d of them with hidden names, %d with masks too, %d with folders read beside a deny\n", policies, hiding, masked, beside
		for (why in times)
			printf "%d times: %s\n", times[why], why
	}'
exit $result
