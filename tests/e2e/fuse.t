#!/bin/bash
# SPDX-License-Identifier: MIT
#
# A workspace on a file system of somebody else's: FUSE, without O_TMPFILE and without the kernel's own
# look at files. What works there without a sandbox works in it, and what is refused stays refused,
# whatever holds it.
# shellcheck disable=SC2016 # what others shall expand
set -u

# It is mounted where nobody else sees it, once; then the test begins anew.
if [ -z "${SBX_FUSE:-}" ]; then
	if [ "$(id -u)" -ne 0 ] || [ ! -c /dev/fuse ] || ! unshare -m true 2>/dev/null; then
		echo '1..0 # SKIP only root can mount FUSE, and where there is /dev/fuse'
		exit
	fi
	SBX_FUSE=$(mktemp -d /tmp/sbx-fuse.XXXXXX) || exit
	export SBX_FUSE
	trap 'rm -rf "$SBX_FUSE"' EXIT
	mkdir "$SBX_FUSE/disk" "$SBX_FUSE/disk/root" "$SBX_FUSE/disk/user" "$SBX_FUSE/seen" &&
		chmod 755 "$SBX_FUSE" && chown 65534 "$SBX_FUSE/disk/user" || exit
	unshare -m bash -c 'bindfs -f --multithreaded "$SBX_FUSE/disk" "$SBX_FUSE/seen" &
		for ((i = 0; i < 600; i++)); do
			! mountpoint -q "$SBX_FUSE/seen" || break
			sleep 0.05
		done
		bash "$0"
		status=$?
		kill $!
		wait
		exit "$status"' "$0"
	exit
fi

# Nobody else runs this as an ordinary user.
unset SBX_ONCE
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"
if is_root; then WS=$SBX_FUSE/seen/root; else WS=$SBX_FUSE/seen/user; fi
cd "$WS" || exit
policy='[sandbox]
include = bash, python, git
workspace = ./ws
[paths]
deny = ./ws/**/.env, ./ws/hole
'
file policy.ini "$policy"

start_anew()
{
	rm -rf ws && mkdir ws && file ws/sub/.env 'SECRET\n' && file ws/hole/key 'SECRET\n' && file ws/file 'file\n'
}

inside()
{
	(cd ws && "$LAUNCH" -q -p ../policy.ini "${options[@]}" -- "$@") >"$DIR/out" 2>"$DIR/err"
	STATUS=$?
}

# What the same does without a sandbox is in $DIR/bare.
alike() # NAME COMMAND...
{
	local name=$1

	shift
	start_anew
	(cd ws && "$@" 2>&1; echo "exit $?"; find . -printf '%P %y %m %n\n' | grep -v '\.git/' | sort) >"$DIR/bare"
	start_anew
	inside "$@"
	(cat "$DIR/out" "$DIR/err"; echo "exit $STATUS"; cd ws && find . -printf '%P %y %m %n\n' | grep -v '\.git/' | sort) >"$DIR/seen"
	diff "$DIR/bare" "$DIR/seen" >&2
	result $? "$name$how"
}

python3 -c 'import os; os.open(".", os.O_TMPFILE | os.O_RDWR)' 2>&1 | grep -q 'Operation not supported'
result $? 'this file system has no O_TMPFILE'

for way in '' --no-shim --isolate=none '--isolate=none --no-shim' --enforce=seccomp; do
	how=${way:+, $way}
	read -ra options <<<"$way"
	alike 'O_TMPFILE is answered as by the kernel' "$PYTHON" -c 'import os
for path in ".", "file", "none":
    for flags in os.O_TMPFILE | os.O_RDWR, os.O_TMPFILE | os.O_WRONLY | os.O_EXCL:
        try: print(os.open(path, flags, 0o600))
        except OSError as error: print(path, error.strerror)'
	alike 'files for a while are made by name instead' "$PYTHON" -c 'import os, tempfile
with tempfile.TemporaryFile(dir=".") as file:
    file.write(b"x" * 100000)
    file.seek(0)
    print(len(file.read()), sorted(name for name in os.listdir() if not name.startswith(".fuse")))'
	alike 'files are made, written, cut, moved and removed' bash -c 'umask 027; echo one >a; echo two >>a; mkdir d
cp a d/b; mv d/b d/c; ln -s a l; truncate -s 2 a; chmod 600 a; touch -d 2001-01-01 d; mv d e; rm l; cat a e/c; set -C; echo x >a'
	alike 'git works' bash -c 'git init -q . && git config user.name a && git config user.email a@b &&
git add file && git commit -qm one && git mv file other && git commit -qm two && git log --format=%s && git status --short -uno'
	start_anew
	refuses 'denied by a rule' 'what is denied is not read' cat sub/.env
	refuses 'denied by a rule' 'nor written' bash -c 'echo >sub/.env'
	refuses 'denied by a rule' 'nor made, where it was not' bash -c 'echo >.env'
	refuses '.env' 'nor put there' bash -c 'echo >new; mv new .env'
	refuses 'hole' 'nor moved away' mv hole sub/
	refuses 'denied by a rule' 'nor is a folder' cat hole/key
	works file 'what is beside it can be read' cat file
	[ "$(cat ws/sub/.env ws/hole/key)" = $'SECRET\nSECRET' ] && [ ! -e ws/.env ]
	result $? "and all is as it was$how"
done
rm -rf ws policy.ini
finish
