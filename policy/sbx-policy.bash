# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Completes sbx-policy in bash: commands, options, operations, files. Needs nothing but bash itself.

# Puts what fits the word into COMPREPLY, one reply a line, whatever is in it.
_sbx_policy_reply() # ARGUMENTS OF COMPGEN...
{
	mapfile -t COMPREPLY < <(compgen "$@")
}

_sbx_policy_files() # WORD [SUFFIX]: files, of that suffix where there are any, and folders
{
	local -a suited=()

	compopt -o filenames 2>/dev/null
	[ -z "${2:-}" ] || mapfile -t suited < <(compgen -f -X "!*$2" -- "$1")
	if [ ${#suited[@]} -gt 0 ]; then
		_sbx_policy_reply -d -- "$1"
		COMPREPLY+=("${suited[@]}")
	else
		_sbx_policy_reply -f -- "$1"
	fi
}

# What stands where a value is wanted; false when none is.
_sbx_policy_value() # OPTION WORD
{
	case $1 in
	-p | --policy) _sbx_policy_files "$2" .ini ;;
	-o | --output) _sbx_policy_files "$2" ;;
	--command) _sbx_policy_reply -c -- "$2" ;;
	*) return 1 ;;
	esac
}

_sbx_policy_option() # COMMAND WORD
{
	local options='-p --policy= --command= --trust --lenient --help --version'

	case $1 in
	check | why | resolve) options+=' --json' ;;
	show) options+=' --json --all --env' ;;
	lint) options+=' --json --strict' ;;
	compile) options+=' -o --output=' ;;
	'') options+=' --json --all --env --strict -o --output=' ;;
	esac
	_sbx_policy_reply -W "$options" -- "$2"
	[[ ${COMPREPLY[*]} != *= ]] || compopt -o nospace 2>/dev/null
	return 0
}

_sbx_policy_target() # OPERATION WORD
{
	case $1 in
	connect | bind | lookup) _sbx_policy_reply -A hostname -- "$2" ;;
	exec)
		if [[ $2 == */* ]]; then
			_sbx_policy_files "$2"
		else
			_sbx_policy_reply -c -- "$2"
		fi
		;;
	*) _sbx_policy_files "$2" ;;
	esac
}

# The command, the operation and so on: all words before the cursor but options and their values.
_sbx_policy_arguments()
{
	local -i i

	arguments=()
	for ((i = 1; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-p | -o) i+=1 ;;
		# bash splits words at '='.
		--policy | --output | --command)
			i+=1
			[ "${COMP_WORDS[i]}" != = ] || i+=1
			;;
		-*) ;;
		*) arguments+=("${COMP_WORDS[i]}") ;;
		esac
	done
}

_sbx_policy()
{
	local operations='read write list create delete rename change exec connect bind lookup'
	local word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]}
	local -a arguments

	COMPREPLY=()
	# --policy=WORD comes as three words, and as two while WORD is empty.
	if [ "$word" = = ]; then
		word=''
	elif [ "$option" = = ] && [ "$COMP_CWORD" -gt 2 ]; then
		option=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	! _sbx_policy_value "$option" "$word" || return 0
	_sbx_policy_arguments
	if [[ $word == -* ]]; then
		_sbx_policy_option "${arguments[0]:-}" "$word"
		return 0
	fi
	case ${arguments[0]:-} in
	'') _sbx_policy_reply -W 'check why show lint resolve describe compile' -- "$word" ;;
	check | why)
		if [ ${#arguments[@]} -eq 1 ]; then
			_sbx_policy_reply -W "$operations" -- "$word"
		else
			_sbx_policy_target "${arguments[1]}" "$word"
		fi
		;;
	resolve) _sbx_policy_files "$word" ;;
	esac
}

complete -F _sbx_policy sbx-policy
