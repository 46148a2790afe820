#!/bin/sh
# SPDX-License-Identifier: MIT
#
# tests/fuzz/policy.dict is in the tree for fuzzers that do not come through make. It is what
# policy/gen/keys.c makes of keys.def, and must not lag behind.
set -u
cd "${SBX_TOP:-.}" || exit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

result() # STATUS NUMBER NAME
{
	if [ "$1" -eq 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; fi
}

"${CC:-gcc}" -std=gnu11 -D_GNU_SOURCE -Ipolicy -o "$dir/keys" policy/gen/keys.c &&
	"$dir/keys" dict >"$dir/dict"
result $? 1 'the generator of the dictionary works'
[ -s "$dir/dict" ] && diff -u tests/fuzz/policy.dict "$dir/dict" >"$dir/diff"
lags=$?
result $lags 2 'tests/fuzz/policy.dict is what keys.def makes'
if [ $lags -ne 0 ]; then
	sed 's/^/# /' "$dir/diff"
	echo '# to bring it up to date: make build/release/policy.dict, and copy that'
fi
! grep -vqE '^"([^"\\]|\\["\\]|\\x[0-9a-f]{2})+"$' tests/fuzz/policy.dict
result $? 3 'every line of it is one that libFuzzer reads'
echo '1..3'
