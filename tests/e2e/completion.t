#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bash completes sbx-policy and sbx-launch: what is offered is what the commands know, and files where
# files belong.
set -u
: "${SBX_TOP:=$PWD}" "${SBX_BUILD:=$PWD/build/release}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
policy=$SBX_BUILD/bin/sbx-policy
count=0

result() # STATUS NAME
{
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		echo "# offered: ${COMPREPLY[*]-}"
	fi
}

# The line as bash splits it: at blanks and at '='. The last word is the one to complete.
offer() # WORD...
{
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_${1//-/_}"
}

# Whether exactly these were offered, in any order.
offered() # WORD...
{
	[ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" = "$(printf '%s\n' "$@" | sort)" ]
}

has() # WORD
{
	printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -- "$1"
}

mkdir -p "$dir/folder/below"
touch "$dir/policy.ini" "$dir/notes.txt" "$dir/two words" "$dir/folder/other.ini"
cd "$dir" || exit

# shellcheck source=/dev/null
source "$SBX_BUILD/share/bash-completion/completions/sbx-policy"
result $? 'the installed file can be sourced'
complete -p sbx-policy 2>/dev/null | grep -q -- '-F _sbx_policy sbx-policy'
result $? 'and registers itself'

# What --help lists is what is offered, so that neither lags behind.
help=$("$policy" --help)
mapfile -t commands < <(sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' <<<"$help")
mapfile -t operations < <(sed -n 's/^Operations: //p' <<<"$help" | tr -d ' ' | tr , '\n')
mapfile -t options < <(sed -n '/^Options:/,/^$/s/.*\(--[a-z]*=\{0,1\}\).*/\1/p' <<<"$help")
[ ${#commands[@]} -gt 5 ] && [ ${#operations[@]} -gt 9 ] && [ ${#options[@]} -gt 9 ]
result $? 'commands, operations and options are found in --help'

offer sbx-policy ''
offered "${commands[@]}"
result $? 'every command is offered, and nothing else'
offer sbx-policy -p policy.ini --json che
offered check
result $? 'a command is completed behind options'
offer sbx-policy --policy = policy.ini ''
offered "${commands[@]}"
result $? 'also behind --policy=FILE'

offer sbx-policy check -p policy.ini ''
offered "${operations[@]}"
result $? 'every operation is offered behind check'
offer sbx-policy why c
offered create change connect
result $? 'and completed behind why'
offer sbx-policy lint ''
offered ''
result $? 'lint takes no argument'

offer sbx-policy -
missing=
for option in "${options[@]}"; do
	has "$option" || missing+=" $option"
done
[ -z "$missing" ] || echo "# not offered:$missing"
[ -z "$missing" ]
result $? 'every option is offered'
offer sbx-policy lint --s
offered --strict
result $? 'lint has --strict'
offer sbx-policy check --s
offered ''
result $? 'check has not'

offer sbx-policy check -p ''
offered policy.ini folder
result $? '-p offers policies and folders'
offer sbx-policy check --policy =
offered policy.ini folder
result $? 'so does --policy='
offer sbx-policy check --policy = fol
offered folder
result $? 'and --policy= with a word begun'
offer sbx-policy check -p folder/
offered folder/other.ini folder/below
result $? 'and what is in a folder'
offer sbx-policy check -p notes
offered notes.txt
result $? 'any file where no policy fits'
offer sbx-policy compile -o no
offered notes.txt
result $? '-o offers files'
offer sbx-policy check --command = bas
has bash
result $? '--command= offers programs'

offer sbx-policy check read tw
offered 'two words'
result $? 'a target is a file, also with a blank in its name'
offer sbx-policy check read policy.ini no
offered notes.txt
result $? 'and so are further targets'
offer sbx-policy resolve fold
offered folder
result $? 'resolve takes paths'
offer sbx-policy check exec bas
has bash
result $? 'exec offers programs'
offer sbx-policy check exec ./no
offered ./notes.txt
result $? 'and files behind a slash'
offer sbx-policy check connect policy
! has policy.ini
result $? 'connect offers no files'

# sbx-launch
PATH=$SBX_BUILD/bin:$PATH
# shellcheck source=/dev/null
source "$SBX_BUILD/share/bash-completion/completions/sbx-launch"
result $? "sbx-launch's file can be sourced"
complete -p sbx-launch 2>/dev/null | grep -q -- '-F _sbx_launch sbx-launch'
result $? 'and registers itself'
mapfile -t options < <(sbx-launch --help | sed -n 's/^  [ -][a-z ],\{0,1\} *\(--[a-z-]*=\{0,1\}\).*/\1/p')
[ ${#options[@]} -gt 45 ]
result $? 'its options are found in --help'
offer sbx-launch -
missing=
for option in "${options[@]}" -o -c; do
	has "$option" || missing+=" $option"
done
[ -z "$missing" ] || echo "# not offered:$missing"
[ -z "$missing" ]
result $? 'every option is offered'
[ ${#COMPREPLY[@]} -eq $((${#options[@]} + 2)) ]
result $? 'and nothing else'
offer sbx-launch --mem
offered --memory=
result $? 'an option is completed, with its ='
offer sbx-launch -p policy.ini --memory = 1G -q --dr
offered --dry-run
result $? 'also behind others'

offer sbx-launch -p ''
offered policy.ini folder
result $? '-p offers policies and folders'
offer sbx-launch --policy = fol
offered folder
result $? 'so does --policy='
offer sbx-launch --policy fol
offered folder
result $? 'and --policy with a blank'
offer sbx-launch --allow-read =
has notes.txt && has folder
result $? '--allow-read= offers files'
offer sbx-launch --workdir ''
offered folder
result $? '--workdir offers folders'
offer sbx-launch -o ''
offered folder
result $? 'and so does -o'
offer sbx-launch --wrap bas
has bash
result $? '--wrap offers programs'
offer sbx-launch --include = ''
missing=
for file in "$SBX_TOP"/policy/profiles/*.ini "$SBX_BUILD"/share/sbx/profiles/*.ini; do
	name=${file##*/}
	[ ! -e "$file" ] || has "${name%.ini}" || missing+=" $name"
done
[ -z "$missing" ] && has none
result $? '--include= offers every profile'
offer sbx-launch --include = pol
offered policy.ini
result $? 'and policies where no profile fits'
offer sbx-launch --timeout ''
offered ''
result $? 'a number is not guessed'

# What a setting may say is what keys.def says.
if [ -f "$SBX_TOP/policy/keys.def" ]; then
	missing=
	while read -r option words; do
		offer sbx-launch "$option" = ''
		# shellcheck disable=SC2046 # a list
		offered $(tr '|' ' ' <<<"$words") || missing+=" $option"
	done < <(tr -d '\n' <"$SBX_TOP/policy/keys.def" | sed 's/)KEY(/)\nKEY(/g' |
		sed -n 's/^.*KEY([a-z]*, [a-z_]*, WORDS\{0,1\}, "\([a-z|]*\)".*"\(--[a-z-]*\)",.*/\2 \1/p' |
		grep -v -e '--explain-all')
	[ -z "$missing" ] || echo "# differs:$missing"
	[ -z "$missing" ]
	result $? 'every word of a setting is offered'
fi

offer sbx-launch bas
has bash
result $? 'the command is completed'
offer sbx-launch -p policy.ini --json -- bas
has bash
result $? 'behind -- too'
offer sbx-launch -p policy.ini -- ./no
offered ./notes.txt
result $? 'a command with a slash is a file'
offer sbx-launch --memory = 1G -- cat no
offered notes.txt
result $? 'what follows the command are files'
offer sbx-launch -- cat -
! has --memory=
result $? 'and no options of sbx-launch'
offer sbx-launch cat --mem
offered ''
result $? 'also without --'
echo "1..$count"
