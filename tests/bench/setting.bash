# SPDX-License-Identifier: MIT
#
# What the comparisons have in common; sourced, not run. A folder of their own in $dir, removed at
# exit, and in it 'work', which all sandboxes may write to. Every command gets the same environment,
# because sbx makes one anew. Commands are collected in $dir/plan for rounds.py.
# shellcheck disable=SC2034 # used where this is sourced
set -eu

here=${BASH_SOURCE[0]%/*}
launch=${SBX_BUILD:?}/bin/sbx-launch
charts=${SBX_TOP:?}/build/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/work" "$dir/home" "$charts"
python=$(python3 -c 'import sys; print(sys.executable)')
clean=(env -i HOME="$dir/home" PATH=/usr/local/bin:/usr/bin:/bin LANG=C.UTF-8 TMPDIR="${TMPDIR:-/tmp}")

# The system, and where python is when it has a folder of its own.
system=(/usr /bin /lib /lib64 /etc)
prefix=$("$python" -c 'import sys; print(sys.base_prefix)')
case $prefix in
/usr | /usr/*) ;;
*) system+=("$prefix") ;;
esac

# bubblewrap FOLDER COMMAND...: the like of sbx-launch's policy for a workspace, in $sandboxed.
bubblewrap()
{
	local folder=$1 path
	sandboxed=(bwrap --dev /dev --proc /proc --tmpfs /tmp)
	shift
	for path in "${system[@]}" "$SBX_BUILD"; do
		[ ! -e "$path" ] || sandboxed+=(--ro-bind "$path" "$path")
	done
	sandboxed+=(--bind "$folder" "$folder" --chdir "$folder" --unshare-net --die-with-parent
		--new-session -- "$@")
}

# plan GROUP CASE FOLDER COMMAND...: one more to be measured, if it runs here.
plan()
{
	local group=$1 case=$2 folder=$3
	shift 3
	if (cd "$folder" && "${clean[@]}" "$@") </dev/null >"$dir/out" 2>"$dir/err"; then
		printf '%s\t%s\t%s\t%s\n' "$group" "$case" "$folder" "${*@Q}" >>"$dir/plan"
	else
		echo "$group: $case does not run here, and is left out: $(head -n 1 "$dir/err")"
	fi
}

# measure NAME ROUNDS [--reported]: the samples are kept beside the charts, to be looked at again.
measure()
{
	"${clean[@]}" SBX_BENCH_PATIENCE="${SBX_BENCH_PATIENCE:-60}" \
		"$python" -B "$here/rounds.py" "${@:3}" "$2" "$dir/plan" >"$dir/samples"
	mv "$dir/samples" "$charts/$1.tsv"
	"$python" -B "$here/figures.py" "$1" "$charts/$1.tsv" "$charts"
}
