#!/bin/bash
# SPDX-License-Identifier: MIT
#
# demo.sh [FILE]: lets programs of nine kinds read a file, each in the sandbox of policy.ini, and shows
# that what they are told differs in nothing but who tried. The file is /etc/passwd, unless
# another one is named. Ends with 1 when any two explanations differ.
set -u
cd "$(dirname "$(readlink -f "$0")")" || exit
export PATH="${SBX_BUILD:-$PWD/../../build/release}/bin:$PATH"
file=${1:-/etc/passwd}
made=$(mktemp -d) || exit
trap 'rm -rf "$made"' EXIT

# Compiles reader.c; a kind that this machine has no compiler for is left out, and named.
make_reader() # NAME COMPILER...
{
	command -v "$2" >/dev/null && "${@:2}" -o "$made/$1" reader.c 2>"$made/errors"
}

first='' count=0 different=0 missing=''
try() # NAME COMMAND...
{
	local name=$1 words same

	if ! command -v "$2" >/dev/null; then
		missing+=" $name"
		return
	fi
	words=$(sbx-launch -q -p policy.ini -- "${@:2}" 2>&1 >/dev/null | grep '^sbx: ')
	# shellcheck disable=SC2001 # a line of several
	same=$(sed 's/Tried by .* with .*/Tried by/' <<<"$words")
	count=$((count + 1))
	if [ -z "$first" ]; then
		first=$same
		printf '%s\n\n' "$words"
	fi
	[ "$same" = "$first" ] || different=$((different + 1))
	printf '%-17s %s\n' "$name" "$(grep -o 'Tried by .*' <<<"$words")"
}

make_reader static-pie cc -static-pie
make_reader static-musl musl-gcc -static
make_reader dynamic-musl musl-gcc
make_reader own-syscall cc -DRAW

try cat cat "$file"
try node node -e "require('fs').readFileSync('$file')"
try python3 python3 -c "open('$file')"
try ruby ruby -e "File.read('$file')"
try busybox-static busybox cat "$file"
try static-pie "$made/static-pie" "$file"
try static-musl "$made/static-musl" "$file"
try dynamic-musl "$made/dynamic-musl" "$file"
try own-syscall "$made/own-syscall" "$file"

printf '\n%d programs' "$count"
[ "$different" -eq 0 ] && echo ', one explanation' || echo ", $different of them told otherwise"
[ -z "$missing" ] || echo "not on this machine:$missing"
[ "$different" -eq 0 ]
