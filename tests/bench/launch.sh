#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What a launch costs: sbx-launch -- /bin/true against bare, bubblewrap and firejail with the like of
# its policy (system read-only, a writable workspace, private tmp, no network), in one hyperfine run,
# three times. Ratios are of the fastest runs, because disturbances only ever add.
set -eu

launch=${SBX_BUILD:?}/bin/sbx-launch
runs=${SBX_BENCH_RUNS:-200}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/work"
cd "$dir/work"

names=(bare)
commands=(/bin/true)
add() # NAME COMMAND
{
	if ${2} >/dev/null 2>&1; then
		names+=("$1")
		commands+=("$2")
	else
		echo "$1: does not run here, left out"
	fi
}

system=
for path in /usr /bin /lib /lib64 /etc/ld.so.cache /etc/ssl /etc/hosts /etc/resolv.conf /etc/nsswitch.conf; do
	[ ! -e "$path" ] || system="$system --ro-bind $path $path"
done
add sbx "$launch -q -- /bin/true"
add bwrap "bwrap $system --dev /dev --proc /proc --tmpfs /tmp --bind $PWD $PWD --chdir $PWD --unshare-net --die-with-parent --new-session -- /bin/true"
add bwrap-all "bwrap $system --dev /dev --proc /proc --tmpfs /tmp --bind $PWD $PWD --chdir $PWD --unshare-all --die-with-parent --new-session -- /bin/true"
add firejail "firejail --quiet --noprofile --net=none --private-tmp --caps.drop=all --seccomp --nonewprivs /bin/true"

for round in 1 2 3; do
	hyperfine -N --warmup 20 --runs "$runs" --export-json "$dir/$round.json" "${commands[@]}" >/dev/null 2>&1
done
python3 - "$dir" "${names[@]}" <<'EOF'
import json, sys
folder, names = sys.argv[1], sys.argv[2:]
rounds = [json.load(open(f"{folder}/{n}.json"))["results"] for n in (1, 2, 3)]
print(f"{'':10} {'min ms':>8} {'median':>8} {'spread of minima':>17}  x bare  x bwrap")
def least(i): return min(r[i]["min"] for r in rounds) * 1000
bwrap = names.index("bwrap") if "bwrap" in names else None
for i, name in enumerate(names):
    minima = [r[i]["min"] * 1000 for r in rounds]
    median = sorted(r[i]["median"] for r in rounds)[1] * 1000
    against = f"{least(i) / least(bwrap):8.2f}" if bwrap is not None else ""
    print(f"{name:10} {min(minima):8.2f} {median:8.2f} {min(minima):8.2f}..{max(minima):<7.2f}  {least(i) / least(0):6.2f} {against}")
if bwrap is not None and "sbx" in names:
    ratio = least(names.index("sbx")) / least(bwrap)
    print(f"bar: a launch against bwrap's: {ratio:.2f} times, at most 0.60: {'met' if ratio <= 0.6 else 'NOT met'}")
EOF

"$launch" -q -- sleep 1 &
pid=$!
sleep 0.5
for process in $pid $(pgrep -P "$pid"); do
	awk -v what="$([ "$process" = $pid ] && echo launcher || echo supervisor)" \
		'/^VmHWM/ { printf "peak RSS of the %s: %.1f MB (aim: under 3)\n", what, $2 / 1024 }' "/proc/$process/status"
done
wait "$pid"
