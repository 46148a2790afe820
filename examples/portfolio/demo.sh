#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh: asks this folder's policy a few questions. 'make demo' builds sbx-policy and runs this.
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

show 'The policy allows this:' \
	sbx-policy check -p policy.ini connect api.github.com:443
show 'It does not allow this, and says why and what would help:' \
	sbx-policy check -p policy.ini read /etc/passwd
show 'Every rule that spoke:' \
	sbx-policy why -p policy.ini connect api.github.com:25
show 'The policy has tests of its own:' \
	sbx-policy lint -p policy.ini
