#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The manual does not lag behind: pages render, everything has its entry, and what is shown as output
# is what comes out.
set -u
: "${SBX_TOP:=$PWD}" "${SBX_BUILD:=$PWD/build/release}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export HOME=$dir/home PATH=$SBX_BUILD/bin:$SBX_BUILD/examples/query-c:$PATH
export LC_ALL=C.UTF-8 MANWIDTH=80
mkdir "$HOME"
page1=$SBX_BUILD/share/man/man1/sbx-policy.1
page5=$SBX_BUILD/share/man/man5/sbx-policy.5
launch1=$SBX_BUILD/share/man/man1/sbx-launch.1
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		[ ! -s "$dir/out" ] || sed 's/^/# /' "$dir/out"
	fi
	: >"$dir/out"
}

skip() # NAME WHY
{
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# A page's text without its macros: one entry begins a line.
plain() # PAGE
{
	sed -e 's/\\f[A-Z]//g' -e 's/\\-/-/g' -e 's/\\(dq/"/g' -e 's/\\&//g' -e 's/^\.[A-Z]* *//' "$1" |
		tr '\t' ' '
}

# Each of the words must begin a line of the text, alone or before a blank or a comma.
each_listed() # TEXT WORD...
{
	local word status=0

	[ $# -gt 1 ] || return 1
	for word in "${@:2}"; do
		grep -Eq -- "(^|[ ,\"])$word([ ,=\"]|\$)" "$1" && continue
		echo "missing: $word" >>"$dir/out"
		status=1
	done
	return $status
}

cd "$SBX_TOP" || exit
for page in "$page1" "$page5" "$launch1"; do
	name=${page##*/}
	[ -s "$page" ] && ! grep -n '@[A-Z]*@' "$page" >"$dir/out"
	result $? "$name is there, and nothing in it is left to fill in"
	if command -v mandoc >/dev/null; then
		mandoc -T lint -W warning "$page" >"$dir/out" 2>&1
		result $? "mandoc finds nothing wrong with $name"
	else
		skip "mandoc finds nothing wrong with $name" 'there is no mandoc'
	fi
	if man --version >/dev/null 2>&1; then
		man --warnings -E UTF-8 -l "$page" >"$dir/text" 2>"$dir/out"
		[ ! -s "$dir/out" ] && [ -s "$dir/text" ]
		result $? "man shows $name without a warning"
		[ "$(wc -L <"$dir/text")" -le 80 ]
		result $? 'in 80 columns'
	else
		skip "man shows $name without a warning" 'there is no man'
	fi
done
plain "$page1" >"$dir/page1"
plain "$page5" >"$dir/page5"
plain "$launch1" >"$dir/launch1"

sbx-policy --help >"$dir/help"
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' "$dir/help")
mapfile -t options < <(sed -n '/^Options:/,/^$/s/.*\(--[a-z]*\).*/\1/p' "$dir/help")
mapfile -t operations < <(sed -n 's/^Operations: //p' "$dir/help" | tr -d ' ' | tr , '\n')
mapfile -t codes < <(sed -n 's/^CODE([A-Z_]*, "\([a-z_]*\)".*/\1/p' policy/codes.def)
each_listed "$dir/page1" "${commands[@]}"
result $? 'sbx-policy(1) has every command'
each_listed "$dir/page1" "${options[@]}"
result $? 'every option'
each_listed "$dir/page1" "${operations[@]}"
result $? 'every operation'
each_listed "$dir/page1" "${codes[@]}"
result $? 'and every reason code'

# "section key" of every row of keys.def must be an entry below its section's heading.
sed -n 's/^KEY(\([a-z_]*\), \([a-z_]*\),.*/\1 \2/p' policy/keys.def >"$dir/keys"
awk '/^\[/ { section = $1; gsub(/[][]/, "", section) }
	/^[a-z_]+ = / { print section, $1 }' "$dir/page5" | sort -u >"$dir/listed"
[ "$(wc -l <"$dir/keys")" -gt 40 ] && sort "$dir/keys" | comm -23 - "$dir/listed" >"$dir/out" &&
	[ ! -s "$dir/out" ]
result $? 'sbx-policy(5) has every key'
mapfile -t profiles < <(cd policy/profiles && printf '%s\n' *.ini | sed 's/\.ini$//')
each_listed "$dir/page5" "${profiles[@]}"
result $? 'and every profile'

# sbx-launch: options of its own and of keys.def, limits, and every end that a run can have.
sbx-launch --help >"$dir/help"
mapfile -t options < <(sed -n 's/^  [ -][a-z ],\{0,1\} *\(--[a-z-]*\).*/\1/p' "$dir/help")
mapfile -t letters < <(sed -n 's/^  \(-[a-z]\)[, ].*/\1/p' "$dir/help")
mapfile -t statuses < <(sed -n '/^Exit status:/,$p' "$dir/help" | grep -Eo '[0-9]+\+?N?' | sort -u |
	grep -vx -e 1 -e 5 | sed 's/+/[+]/')
mapfile -t limits < <(sed -n 's/^KEY(limits, \([a-z_]*\),.*/\1/p' policy/keys.def)
[ ${#options[@]} -gt 45 ] && [ ${#letters[@]} -gt 5 ] && each_listed "$dir/launch1" "${options[@]}" "${letters[@]}"
result $? 'sbx-launch(1) has every option'
# And no other: what is in the manual is in --help.
sed -n '/^OPTIONS$/,/^THE RUN$/s/\(--[a-z-]*\)/\n\1\n/gp' "$dir/launch1" | grep -x -- '--[a-z-]*[a-z]' | sort -u |
	while read -r option; do
		grep -q -- "$option\([^a-z-]\|\$\)" "$dir/help" || echo "unknown: $option"
	done >"$dir/out"
[ ! -s "$dir/out" ]
result $? 'and no option that is none'
[ ${#statuses[@]} -gt 5 ] && each_listed "$dir/launch1" "${statuses[@]}"
result $? 'every exit status'
[ ${#limits[@]} -gt 7 ] && each_listed "$dir/launch1" "${limits[@]}"
result $? 'every limit'
mapfile -t numbers < <(sed -n '/numbers\[\] = {/,/};/p' launcher/run.c | grep -Eo 'SIG[A-Z0-9]+' |
	sed 's/SIG//' | grep -vx CHLD)
[ ${#numbers[@]} -gt 8 ] && each_listed "$dir/launch1" "${numbers[@]}"
result $? 'and every signal that is passed on'

for file in {policy,shim,launcher}/*.{c,h,def}; do
	name=${file##*/}
	case $name in
	cmd_*) continue ;;
	*.h) [ ! -e "${file%.h}.c" ] || continue ;;
	esac
	grep -qF "$name" ARCHITECTURE.md || echo "missing: $file"
done >"$dir/out"
[ ! -s "$dir/out" ]
result $? 'ARCHITECTURE.md has every file of policy/, shim/ and launcher/'

# Runs each "$ command" of a file's console blocks, and compares what follows it. A "cd" by itself goes
# there from the top, for all that follow. Numbers of processes are all the same here, and so is where
# the tree stands.
compare()
{
	[ -n "$command" ] || return 0
	if [[ $command =~ ^cd\ [a-z/-]+$ ]]; then
		folder=${command#cd }
		command=''
		return
	fi
	(cd "$folder" && bash -c "$command") 2>&1 |
		sed -E "s|\[[0-9]+\] with |[4123] with |; s|\($SBX_TOP/|(/home/me/sbx/|" >"$dir/real"
	printf '%s' "$expected" | diff - "$dir/real" >"$dir/out"
	result $? "$file: $command"
	command=''
}

run_blocks() # FILE FOLDER
{
	local file=$1 folder=$2 line command='' expected='' inside=''

	while IFS= read -r line; do
		case $inside$line in
		'```console') inside=yes ;;
		'yes```')
			compare
			inside=''
			;;
		"yes\$ "*)
			compare
			command=${line#\$ }
			expected=''
			;;
		yes*) expected+=$line$'\n' ;;
		esac
	done <"$file"
}

run_blocks README.md .
run_blocks examples/query-c/README.md examples/portfolio
run_blocks examples/agent/README.md examples/agent
run_blocks examples/node-app/README.md examples/node-app
run_blocks examples/nine-programs/README.md examples/nine-programs

# Taken out of a block that begins with the line given.
block() # FIRST LINE, FILE
{
	awk -v first="$1" '$0 == first { inside = 1; next } /^```/ { inside = 0 } inside' "$2"
}

cat >"$dir/readme.c" <<END
#include <err.h>
#include <sbx.h>
#include <stdio.h>

int main(void)
{
const char *files[] = { "policy.ini" };
struct sbx_load load = { .files = files, .file_count = 1 };
struct sbx_policy *policy;
struct sbx_errors errors;
char text[SBX_TEXT_MAX];

$(block '```c' README.md)
sbx_free(policy);
}
END
grep -q sbx_load "$dir/readme.c" &&
	cc -Wall -Werror -fsyntax-only -I"$SBX_BUILD/include" "$dir/readme.c" >"$dir/out" 2>&1
result $? "README.md's C code compiles"
echo "1..$count"
