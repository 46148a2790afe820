#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Folders that are moved, and links to folders. What rules refuse to make bit by bit must not come to
# stand there in one go; and what is harmless gets there all the same, by copying.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

fresh()
{
	rm -rf "$DIR/work/ws"
	mkdir -p ws/packages/web ws/cfg ws/old/.git/modules ws/out
	echo 'ref: refs/heads/main' >ws/old/.git/HEAD
	echo '[core]' >ws/old/.git/config
}

file policy.ini '[sandbox]
include = bash, python
workspace = ./ws

[paths]
deny = ./ws/cfg/**/key

[path reports]
root = ./ws/out
mode = rw
suffixes = .md
max_file_bytes = 1K
'
inside() { launch -q -p policy.ini --workdir=./ws --isolate="$isolate" "$@"; }

# rename() alone, without what mv does when it is refused.
renames() # FROM TO
{
	inside -- "$PYTHON" -c 'import os, sys
os.rename(*(os.path.expandvars(path) for path in sys.argv[1:]))' "$@"
}

for isolate in auto none; do
	fresh
	inside -- bash -c 'mkdir folder && head -c 100000 /dev/zero >folder/evil.html && cp folder/evil.html big.md'
	renames folder out/x.md
	exits 1 "$isolate: a folder that is called like a file brings nothing into a section"
	has err 'Invalid cross-device link' 'and is to be copied'
	renames big.md out/big.md
	exits 1 "$isolate: nor does a file come there that is too large"
	inside -- ln big.md out/big.md
	exits 1 "$isolate: by a second name, either"
	[ -z "$(ls -A ws/out)" ]
	result $? 'there is nothing'
	rm -rf ws/part ws/new
done

finish
