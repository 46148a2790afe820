#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What the demonstrations share: each sources it with its own folder as the current one.
export PATH="${SBX_BUILD:-$PWD/../../build/release}/bin:$PATH"

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$'\e[1m' dim=$'\e[2m' plain=$'\e[0m'
fi

# Says what comes, shows the command and its output. Being refused is an answer, not a failure.
show() # TITLE COMMAND...
{
	local status=0

	printf '\n%s%s%s\n%s$ %s%s\n' "$bold" "$1" "$plain" "$dim" "${*:2}" "$plain"
	"${@:2}" || status=$?
	printf '%s(exit status %d)%s\n' "$dim" "$status" "$plain"
	[ "$status" -le 1 ]
}
