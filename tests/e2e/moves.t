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
	inside -- bash -c 'mv packages/web $TMPDIR/w && mkdir -p $TMPDIR/w/.husky $TMPDIR/w/src &&
		echo evil >$TMPDIR/w/.npmrc && echo fine >$TMPDIR/w/src/file && mv $TMPDIR/w packages/web'
	exits 1 "$isolate: what is protected does not come out of private tmp in a folder"
	[ ! -e ws/packages/web/.husky ] && [ ! -e ws/packages/web/.npmrc ]
	result $? 'and is not there'
	[ "$(cat ws/packages/web/src/file)" = fine ]
	result $? 'what is beside it is'
	inside -- bash -c 'mkdir -p $TMPDIR/a/b && echo fine >$TMPDIR/a/b/c && mv $TMPDIR/a new && echo f >$TMPDIR/f && mv $TMPDIR/f f'
	exits 0 "$isolate: what is harmless comes out"
	[ "$(cat ws/new/b/c)$(cat ws/f)" = finef ]
	result $? 'whole'
	inside -- bash -c 'mkdir $TMPDIR/x && mv $TMPDIR/x $TMPDIR/y && mv new moved && mv moved packages/ && mv packages/moved $TMPDIR/'
	exits 0 "$isolate: within the workspace, within private tmp and into it folders are moved"
	hasnt err 'sbx: ' 'without a word'

	inside -- bash -c 'mkdir -p part/hooks && mv -T part old/.git/modules/lib'
	exits 1 "$isolate: a folder does not become a part of a repository"
	[ ! -e ws/old/.git/modules/lib/hooks ]
	result $? 'with hooks'
	inside -- ln -s ../../../part old/.git/modules/link
	exits 1 "$isolate: nor does a link"
	inside -- bash -c 'ln -s part link; ln -P link old/.git/modules/link'
	exits 1 "$isolate: nor the second name of one"
	renames link old/.git/modules/link
	exits 1 "$isolate: nor one that is moved"
	[ ! -L ws/old/.git/modules/link ]
	result $? 'there is none'
	inside -- bash -c 'mkdir -p new/.git/modules/lib/hooks && mkdir a && mv a new/.git/modules/a && ln -s lib new/.git/modules/b'
	exits 0 "$isolate: in a new repository they do"
	inside -- "$PYTHON" -c 'import os
os.makedirs("newer/.git/modules/lib/hooks")
os.rename("newer/.git/modules/lib", "newer/.git/modules/lib2")
os.rename("newer/.git/modules/lib2", "old/.git/modules/lib2")'
	has err "'newer/.git/modules/lib2' -> 'old/.git/modules/lib2'" "$isolate: and do not move on to an old one"

	inside -- bash -c 'mkdir -p x/sub && echo k >x/sub/key && mv -T x cfg/x'
	exits 1 "$isolate: what is denied anywhere below a folder does not come there in another"
	[ ! -e ws/cfg/x/sub/key ]
	result $? 'and is not there'
	inside -- bash -c 'mkdir -p y/z && echo fine >y/z/f && mv -T y cfg/y && mv cfg/y cfg/yy && cat cfg/yy/z/f'
	exits 0 "$isolate: what is harmless does, and moves on"

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

# Private tmp may lie in the workspace, too.
for isolate in auto none; do
	fresh
	mkdir ws/t
	TMPDIR=$DIR/work/ws/t launch -q --workspace=ws --workdir=ws --isolate="$isolate" -- \
		bash -c 'mkdir -p $TMPDIR/s/.husky; mv ${TMPDIR%/ws/t*}/ws/t ${TMPDIR%/ws/t*}/ws/u'
	exits 1 "$isolate: the folder that private tmp lies in is not moved"
	[ ! -e ws/u ]
	result $? 'it is where it was'
done
finish
