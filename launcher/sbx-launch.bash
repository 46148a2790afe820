# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Completes sbx-launch in bash: its options, which the command itself lists, their values, and behind
# them the command to run. Needs nothing but bash; with bash-completion that command's own words are
# completed too.

# Puts what fits the word into COMPREPLY, one reply a line, whatever is in it.
_sbx_launch_reply() # ARGUMENTS OF COMPGEN...
{
	mapfile -t COMPREPLY < <(compgen "$@")
}

_sbx_launch_files() # WORD [SUFFIX]: files, of that suffix where there are any, and folders
{
	local -a suited=()

	compopt -o filenames 2>/dev/null
	[ -z "${2:-}" ] || mapfile -t suited < <(compgen -f -X "!*$2" -- "$1")
	if [ ${#suited[@]} -gt 0 ]; then
		_sbx_launch_reply -d -- "$1"
		COMPREPLY+=("${suited[@]}")
	else
		_sbx_launch_reply -f -- "$1"
	fi
}

# Fills 'options' with what --help lists: "--json", "--memory=" where a value must follow, "-o".
_sbx_launch_options() # PROGRAM
{
	local line

	options=()
	while IFS= read -r line; do
		if [[ $line =~ ^\ \ +(-[a-z],\ )?(--[a-z-]+=?) ]]; then
			options+=("${BASH_REMATCH[2]}")
		elif [[ $line =~ ^\ \ (-[a-z])\ [A-Z] ]]; then
			options+=("${BASH_REMATCH[1]}")
		fi
	done < <("$1" --help 2>/dev/null)
}

_sbx_launch_takes_value() # OPTION
{
	local option

	[[ $1 != -[poc] ]] || return 0
	for option in "${options[@]}"; do
		[ "$option" != "$1=" ] || return 0
	done
	return 1
}

# Profiles stand beside the program, as in bin/../share/sbx/profiles.
_sbx_launch_profiles() # WORD PROGRAM
{
	local program names

	program=$(type -P "$2")
	names=$(cd "${program%/*}/../share/sbx/profiles" 2>/dev/null && printf '%s ' *.ini)
	_sbx_launch_reply -W "none ${names//.ini/}" -- "$1"
	[ ${#COMPREPLY[@]} -gt 0 ] || _sbx_launch_files "$1" .ini
}

_sbx_launch_value() # OPTION WORD PROGRAM
{
	case $1 in
	-p | --policy) _sbx_launch_files "$2" .ini ;;
	--include) _sbx_launch_profiles "$2" "$3" ;;
	-o | --workspace | --workdir)
		compopt -o filenames 2>/dev/null
		_sbx_launch_reply -d -- "$2"
		;;
	--log | --allow-read | --allow-write | --allow-exec | --deny | --hide | --wrapped)
		_sbx_launch_files "$2"
		;;
	--wrap) _sbx_launch_reply -c -- "$2" ;;
	--user) _sbx_launch_reply -u -- "$2" ;;
	--env) _sbx_launch_reply -e -- "$2" ;;
	--enforce) _sbx_launch_reply -W 'auto landlock seccomp none' -- "$2" ;;
	--require) _sbx_launch_reply -W 'landlock seccomp notify userns netns' -- "$2" ;;
	--isolate) _sbx_launch_reply -W 'auto full none' -- "$2" ;;
	--tmp | --home) _sbx_launch_reply -W 'private shared none' -- "$2" ;;
	--complain) _sbx_launch_reply -W 'paths exec network syscalls' -- "$2" ;;
	--network) _sbx_launch_reply -W 'none filtered full' -- "$2" ;;
	--allow-connect | --allow-bind) _sbx_launch_reply -A hostname -- "$2" ;;
	esac
}

# Sets 'at' to the word that begins the command; past the cursor when that is among the options.
_sbx_launch_command()
{
	for ((at = 1; at < COMP_CWORD; at++)); do
		case ${COMP_WORDS[at]} in
		--)
			at+=1
			return
			;;
		-*)
			# bash splits words at '='.
			if [ "${COMP_WORDS[at + 1]:-}" = = ]; then
				at+=2
			elif _sbx_launch_takes_value "${COMP_WORDS[at]}"; then
				at+=1
			fi
			;;
		*) return ;;
		esac
	done
	[[ $at -eq $COMP_CWORD && ${COMP_WORDS[at]} != -* && ${COMP_WORDS[at]} != = ]] || at=COMP_CWORD+1
}

_sbx_launch()
{
	local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
	local -a options
	local -i at

	COMPREPLY=()
	_sbx_launch_options "$program"
	_sbx_launch_command
	if [ "$at" -lt "$COMP_CWORD" ]; then
		if declare -F _command_offset >/dev/null; then
			_command_offset "$at"
		else
			_sbx_launch_files "$word"
		fi
		return 0
	elif [ "$at" -eq "$COMP_CWORD" ]; then
		if [[ $word == */* ]]; then
			_sbx_launch_files "$word"
		else
			_sbx_launch_reply -c -- "$word"
		fi
		return 0
	fi
	# --policy=WORD comes as three words, and as two while WORD is empty.
	if [ "$word" = = ]; then
		_sbx_launch_value "$option" '' "$program"
	elif [ "$option" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		_sbx_launch_value "${COMP_WORDS[COMP_CWORD - 2]}" "$word" "$program"
	elif _sbx_launch_takes_value "$option"; then
		_sbx_launch_value "$option" "$word" "$program"
	else
		_sbx_launch_reply -W "${options[*]}" -- "$word"
		[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
	fi
	return 0
}

complete -F _sbx_launch sbx-launch
