#!/bin/bash
# SPDX-License-Identifier: MIT
#
# bash completes sbx-policy: what is offered is what the command knows, and files where files belong.
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
	_sbx_policy
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
echo "1..$count"
