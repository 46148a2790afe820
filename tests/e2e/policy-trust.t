#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whoever can change a policy decides what the sandbox allows: a file that others may write is
# refused, unless --trust is given.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

me=$(id -u)

# The policy is refused with these words, and --trust accepts it.
distrusted() # FILE WHY NAME
{
	sbx check -p "$1" read "$DIR/work/data"
	says err "sbx-policy: $1: $2 (--trust accepts it all the same)" "$3"
	is 125 'it is not used'
	sbx check --trust -p "$1" read "$DIR/work/data"
	is 0 'with --trust it is'
}

trusted() # FILE NAME
{
	sbx check -p "$1" read "$DIR/work/data"
	is 0 "$2"
}

mkdir data
policy "[paths]\nread = $DIR/work/data\n"
trusted policy.ini "one's own policy is fine"
chmod 600 policy.ini
trusted policy.ini 'so is one that nobody else can read'

# -- the file
chmod 666 policy.ini
distrusted policy.ini 'may be written by others (mode 0666; chmod go-w helps)' 'a policy that everybody may write is refused'
chmod 602 policy.ini
distrusted policy.ini 'may be written by others (mode 0602; chmod go-w helps)' 'even when they cannot read it'
chmod 4606 policy.ini
distrusted policy.ini 'may be written by others (mode 4606; chmod go-w helps)' 'whatever other bits it has'
chmod go-w policy.ini
trusted policy.ini 'the hint helps'

# A group of its own is the user's, by Debian's custom; any other has members.
chgrp "$me" policy.ini 2>/dev/null && chmod 664 policy.ini && [ "$(stat -c %g policy.ini)" = "$me" ] &&
	trusted policy.ini "a policy that one's own group may write is fine"
foreign=
for group in $(is_root && echo "$NOBODY"; id -G); do
	[ "$group" != "$me" ] && [ "$group" != 0 ] && foreign=$group
done
if [ -n "$foreign" ]; then
	chgrp "$foreign" policy.ini
	chmod 664 policy.ini
	distrusted policy.ini 'may be written by others (mode 0664; chmod go-w helps)' 'a policy that a foreign group may write is refused'
	chmod 644 policy.ini
	trusted policy.ini 'one that it may only read is fine'
fi

# -- its owner
other=/etc/hostname
for file in /etc/passwd /etc/os-release /etc/hosts; do
	[ "$(stat -Lc %u "$file")" -eq 0 ] && other=$file
done
sbx show -p "$other"
hasnt err 'another user' "what belongs to root is not somebody else's"
if is_root; then
	chown "$NOBODY" policy.ini
	chmod 644 policy.ini
	distrusted policy.ini "belongs to another user (uid $NOBODY)" "root does not take another user's policy"
	SUDO_UID=$NOBODY sbx check -p policy.ini read "$DIR/work/data"
	is 0 'but that of whoever called sudo'
	for uid in 1 '' '65534x' '-2' '4294967295' root; do
		SUDO_UID=$uid sbx check -p policy.ini read "$DIR/work/data"
		is 125 "and of nobody else (SUDO_UID='$uid')"
	done
	run as_user "$SBX" check -p policy.ini read "$DIR/work/data"
	is 0 'its owner may use it'
	chown 12345 policy.ini
	run as_user env SUDO_UID=12345 "$SBX" check -p policy.ini read "$DIR/work/data"
	is 125 "an ordinary user does not get another one's policy by claiming to be root's caller"
	has err 'belongs to another user (uid 12345) (--trust accepts it all the same)' 'and reads why'
	run as_user "$SBX" check --trust -p policy.ini read "$DIR/work/data"
	is 0 'with --trust it can be used'
	chown 0:0 policy.ini
	run as_user "$SBX" check -p policy.ini read "$DIR/work/data"
	is 0 "an ordinary user may use root's"
else
	chmod 644 policy.ini
fi

# -- the folders above it
mkdir -p open/inner
cp policy.ini open/policy.ini
cp policy.ini open/inner/policy.ini
chmod 777 open
distrusted open/policy.ini "stands in '$PWD/open', where everybody may replace it" 'a policy in a folder that is open to all is refused'
distrusted open/inner/policy.ini "stands in '$PWD/open', where everybody may replace it" 'so is one in a folder inside of it'
chmod 1777 open
trusted open/policy.ini 'the sticky bit keeps others from replacing it'
chmod 755 open
trusted open/policy.ini 'a folder of its own does so too'
chmod 777 open
cd open || exit
distrusted policy.ini "stands in '$PWD', where everybody may replace it" 'that one works there changes nothing'
sbx check -p - read "$DIR/work/data" <policy.ini
is 0 'standard input has no folder'
cd ..
mkdir closed
ln -s ../open/policy.ini closed/link.ini
ln -s open opened
sbx check -p opened/policy.ini read "$DIR/work/data"
is 125 'nor does a link to the folder'
sbx check -p closed/link.ini read "$DIR/work/data"
is 125 'nor does a link to the file'
chmod 755 open

# -- what is included
policy "[paths]\nread = $DIR/work/data\n"
file main.ini '[sandbox]\ninclude = none, ./policy.ini\n'
sbx check -p main.ini read "$DIR/work/data"
is 0 'what is included is looked at too: this is fine'
chmod 666 policy.ini
sbx check -p main.ini read "$DIR/work/data"
says err 'sbx-policy: ./policy.ini: may be written by others (mode 0666; chmod go-w helps) (--trust accepts it all the same)' 'and this is refused'
is 125 'and ends it'
sbx check --trust -p main.ini read "$DIR/work/data"
is 0 '--trust is for all of them'
sbx check -p main.ini -p policy.ini read "$DIR/work/data"
is 125 'two files are no better than the worse one'

# -- what is no ordinary file
sbx check -p - read "$DIR/work/data" <policy.ini
is 0 'standard input is whatever the user says'
run bash -c '"$1" check -p <(cat policy.ini) read data' bash "$SBX"
is 0 'a pipe of the shell is fine'
run bash -c '"$1" check -p <(printf "[sandbox]\ninclude = none\nworkspace = .\n") read data' bash "$SBX"
is 0 'and paths in it are relative to the current directory'
mkfifo fifo
chmod 666 fifo
timeout 10 sh -c 'cat policy.ini >fifo' &
run timeout 10 "$SBX" check -p fifo read "$DIR/work/data"
has err 'fifo: may be written by others' 'a pipe that everybody may write is refused'
wait
if is_root; then
	chmod 600 fifo
	chown "$NOBODY" fifo
	timeout 10 sh -c 'cat policy.ini >fifo' &
	run timeout 10 "$SBX" check -p fifo read "$DIR/work/data"
	has err "fifo: belongs to another user (uid $NOBODY)" "so is another user's"
	wait
fi

# -- rights that the mode does not show: an access list with one more user
chmod 600 policy.ini
give_access() # FILE
{
	"$PYTHON" - "$1" 2>/dev/null <<'END'
import os, struct, sys
rows = [(1, 6, -1), (2, 6, 12345), (4, 4, -1), (16, 6, -1), (32, 4, -1)]
acl = struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *row) for row in rows)
os.setxattr(sys.argv[1], "system.posix_acl_access", acl)
END
}
if give_access policy.ini; then
	sbx check -p policy.ini read "$DIR/work/data"
	is 125 'a policy that an access list lets somebody else write is refused'
fi
finish
