#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: runs app.js inside its policy, and lets the policy explain what was refused. 'make demo'
# builds sbx and runs this.
set -eu
cd "$(dirname "$(readlink -f "$0")")"
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

show 'A program in the sandbox. It does its work, and is refused what its policy does not allow:' \
	sbx-launch -p policy.ini -- node app.js
show 'What it wrote is there:' \
	cat out/report.md
show 'Why it could not read the other file, and what would allow it:' \
	sbx-policy why -p policy.ini read /etc/passwd
