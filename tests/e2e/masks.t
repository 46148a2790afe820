#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Masks: what a rule takes away inside a workspace stands behind a mount, and the rest is read and
# executed without being asked about. And where no namespace can be had: the same boundaries.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

cc -D_GNU_SOURCE -o "$DIR/no-userns" "$SBX_TOP/tests/e2e/without-namespaces.c" || exit
cat >"$DIR/try.c" <<'END_OF_C'
/* try CALL: 0 when it was refused with EPERM or EACCES. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *call = argc > 1 ? argv[1] : "";
	long result = 0;

	errno = 0;
	if (!strcmp(call, "umount"))
		result = umount2("hole", MNT_DETACH);
	else if (!strcmp(call, "umount-file"))
		result = umount2("token", 0);
	else if (!strcmp(call, "mount"))
		result = mount("sub", "hole", NULL, MS_BIND, NULL);
	else if (!strcmp(call, "remount"))
		result = mount(NULL, "docs", NULL, MS_REMOUNT | MS_BIND, NULL);
	else if (!strcmp(call, "unshare"))
		result = unshare(CLONE_NEWUSER | CLONE_NEWNS);
	else if (!strcmp(call, "clone"))
		result = syscall(SYS_clone, CLONE_NEWUSER | 17, 0, 0, 0, 0);
	else if (!strcmp(call, "setns"))
		result = setns(open("/proc/self/ns/mnt", O_RDONLY), CLONE_NEWNS);
	else if (!strcmp(call, "open_tree"))
		result = open_tree(AT_FDCWD, "sub", OPEN_TREE_CLONE);
	else if (!strcmp(call, "chroot"))
		result = chroot(".");
	else if (!strcmp(call, "fsopen"))
		result = fsopen("tmpfs", 0);
	printf("%s: %ld %s\n", call, result, strerror(errno));
	return !(result < 0 && (errno == EPERM || errno == EACCES));
}
END_OF_C
cc -D_GNU_SOURCE -o "$DIR/try" "$DIR/try.c" || exit

mkdir -p ws/hole/deep ws/sub/hole ws/docs ws/keys/below "$DIR/home"
cp "$DIR/try" ws/try
file ws/hole/key 'SECRET\n'
file ws/hole/deep/key 'SECRET\n'
file ws/holey 'neighbour\n'
file ws/token 'SECRET\n'
file ws/token2 'neighbour\n'
file ws/docs/text 'text\n'
file ws/.npmrc 'text\n'
file ws/docs/run '#!/bin/sh\necho ran in docs\n'
file ws/sub/a.pem 'SECRET\n'
file ws/keys/below/b.pem 'SECRET\n'
file ws/keys/below/c.pem.txt 'neighbour\n'
file ws/sub/hole/key 'neighbour\n'
file ws/script '#!/bin/sh\necho ran\n'
chmod +x ws/script ws/docs/run
ln ws/token ws/other-name
ln -s token ws/link
ln -s hole ws/link-hole
file policy.ini '[sandbox]
include = bash, python
workspace = ./ws

[paths]
deny = ./ws/hole, ./ws/token, ./ws/**/*.pem, ./ws/later, ./ws/none/later

[path docs]
root = ./ws/docs
mode = ro
'

BEFORE=()
inside() # COMMAND...
{
	run "${BEFORE[@]}" "$LAUNCH" -q -p policy.ini -- "$@"
}

# Whatever becomes of it, and whatever is said.
hidden() # NAME COMMAND...
{
	local name=$1

	shift
	inside "$@"
	! grep -q SECRET "$DIR/out"
	result $? "$name$how"
}

# The same in both tiers.
boundaries()
{
	refuses "Cannot read 'token'" 'a denied file cannot be read' cat token
	refuses "Cannot write to 'token'" 'nor written' sh -c 'echo x >token'
	refuses "Cannot delete 'token'" 'nor removed' rm -f token
	refuses "Cannot list 'hole'" 'a denied folder cannot be listed' ls hole
	refuses "Cannot read 'hole/key'" 'nor what is in it be read' cat hole/key
	refuses "Cannot read 'hole/deep/key'" 'also deeper down' cat hole/deep/key
	refuses "Cannot create 'hole/new'" 'nor anything be made there' sh -c 'echo x >hole/new'
	refuses "Cannot create 'hole/folder'" 'nor a folder' mkdir hole/folder
	refuses "Cannot rename 'hole'" 'nor it be moved away' mv hole elsewhere
	refuses "Cannot read 'sub/a.pem'" 'what a pattern matches cannot be read' cat sub/a.pem
	refuses "Cannot read 'keys/below/b.pem'" 'wherever it is' cat keys/below/b.pem
	refuses "Cannot create 'new.pem'" 'and is not made' sh -c 'echo x >new.pem'
	refuses "Cannot create 'later'" 'what is denied and not there is not made' sh -c 'echo x >later'
	refuses "Cannot create 'later'" 'nor as a folder' mkdir later
	refuses "Cannot create 'later'" 'nor as a link' ln -s token2 later
	refuses "'later'" 'nor by a second name' ln token2 later
	refuses "'later'" 'nor by moving something there' mv sub later
	refuses "Cannot rename 'none'" 'nor with the folder that it would be in' \
		sh -c 'mkdir -p x/later && mv x none; e=$?; rm -r x; exit $e'
	works '' 'which can be made without it' sh -c 'mkdir none && rmdir none'
	refuses "Cannot write to 'docs/text'" 'what is read-only cannot be written' sh -c 'echo x >docs/text'
	refuses "Cannot create 'docs/new'" 'nor made' touch docs/new
	refuses "Cannot delete 'docs/text'" 'nor removed' rm -f docs/text
	refuses "Cannot read" 'a link leads to nothing else' cat link
	refuses "Cannot read" 'nor one to a folder' cat link-hole/key
	refuses "Cannot read" 'nor another spelling' cat ./sub/../hole//./key
	refuses "Cannot read" 'nor the root of /proc' cat "/proc/self/root$PWD/ws/token"
	refuses "Cannot read" 'nor the folder of /proc' cat /proc/self/cwd/hole/key
	hidden 'nor a second name that is made inside' sh -c 'ln token t2; cat t2; ln docs/text t4; echo x >t4; ln .npmrc t5; echo x >t5; ln hole/key k2; cat k2'
	hidden 'nor an exchange' "$PYTHON" -c 'import os
for a, b in (("token", "t3"), ("hole", "h3"), ("ws", "w3")):
    try: os.rename(a, b)
    except OSError as e: print(e)
for name in ("t3", "h3/key"):
    try: print(open(name).read())
    except OSError as e: print(e)'
	hidden 'nor a way through a folder that is moved' sh -c 'mv keys keys2; cat keys2/below/b.pem; mv keys2 keys'
	hidden 'nor a change of modes' sh -c 'chmod 755 hole; chmod 644 token; cat hole/key token'
	refuses "Cannot" 'which are refused in words' chmod 600 token
	works neighbour 'neighbours can be read' cat holey
	works neighbour 'by their names' cat token2
	works neighbour 'also where a folder is called the same' cat sub/hole/key
	works neighbour 'and what matches nearly' cat keys/below/c.pem.txt
	works text 'what is read-only can be read' cat docs/text
	works $'x\nx' 'files can be made, changed and moved beside them' \
		sh -c 'echo x >new && cat new && mkdir d && mv new d/new && cat d/new && rm -r d'
	# Names count, not files: whoever made the link decided that.
	works SECRET 'a name that it had before is another name' cat other-name
	for call in umount umount-file mount remount unshare clone setns open_tree chroot fsopen; do
		run "${BEFORE[@]}" "$LAUNCH" -q -p policy.ini --allow-exec="$DIR/try" -- "$DIR/try" "$call"
		exits 0 "$call is refused$how"
	done
	[ "$(cat ws/hole/key ws/token ws/docs/text ws/.npmrc)" = $'SECRET\nSECRET\ntext\ntext' ] && [ ! -e ws/docs/new ]
	result $? "and outside all is as it was$how"
}

mounts() { cut -d' ' -f4- /proc/self/mountinfo; }
mounts >"$DIR/mounts"
unmounted() # NAME
{
	mounts | cmp -s - "$DIR/mounts"
	result $? "$1"
}

how=', without namespaces'
BEFORE=("$DIR/no-userns")
boundaries
run "$DIR/no-userns" "$LAUNCH" --dry-run -p policy.ini -- true
has out 'the broker holds what could be masked: a user and mount namespace cannot be had' \
	'the plan says that there are no masks'
run "$LAUNCH" --isolate=none --dry-run -p policy.ini -- true
hasnt out masks 'isolate = none has none'

# What is denied and not there needs no mount; so it is the same in both tiers.
cp policy.ini whole.ini
file policy.ini '[sandbox]\ninclude = bash, python\nworkspace = ./ws\n[paths]\ndeny = ./ws/later, ./ws/none/later\n'
for how in ', without namespaces' ', with them'; do
	works ran 'beside what is denied and not there a script can be executed' sh -c ./script
	refuses "Cannot create 'later'" 'and that is not made' sh -c 'echo x >later'
	refuses "Cannot create 'none/later'" 'nor deeper' sh -c 'mkdir none; mkdir none/later'
	refuses "'later'" 'nor linked' ln token2 later
	refuses "'later'" 'nor moved there' mv sub later
	refuses "'later'" 'nor exchanged' "$PYTHON" -c 'import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
sys.exit(libc.renameat2(-100, b"token2", -100, b"later", 0) != 0)'
	rmdir ws/none
	BEFORE=()
done
mv whole.ini policy.ini

# Who may have no namespaces at all here has seen all there is.
if unshare -m true 2>/dev/null || unshare -Urm true 2>/dev/null; then
	how=', masked'
	BEFORE=()
	boundaries
	unmounted 'nothing is mounted outside'
	works ran 'a script of the workspace can be executed' sh -c ./script
	refuses "Cannot execute 'docs/run'" 'but not where the mode has no x' sh -c docs/run
	works 'b.pem c.pem.txt' 'a name that is denied is listed' sh -c 'echo $(ls keys/below)'
	inside cat token
	launch -q -p policy.ini --log=log -- cat token
	grep -q '"layer":"mask"' log
	result $? 'the log says that a mask refused it'
	run "$LAUNCH" --dry-run -p policy.ini -- true
	has out './ws: read, execute by Landlock' 'the plan says who holds what'
	has out 'mounts over 5 places' 'and how much is masked'
	launch -v -p policy.ini -- true
	has err 'entries looked at for patterns' '-v says what patterns cost'

	# Nobody looks behind a mask: the line must be good for either.
	refuses 'read = ./ws/hole/none ?' 'a line for what may be missing there says so' cat hole/none
	refuses 'read = ./ws/hole/deep/key ?' 'also for what is there' cat hole/deep/key
	sed 's,^deny,read = ./ws/hole/none ?\, ./ws/hole/deep/key ?\n&,' policy.ini >followed.ini
	run "$LAUNCH" -q -p followed.ini -- cat hole/deep/key
	has out SECRET 'and who follows it is not told of an error'
	rm followed.ini

	file log.ini '[sandbox]\ninclude = bash\nworkspace = ./ws\n[paths]\ndeny = ./ws/run.log\n[errors]\nlog = ./ws/run.log\n'
	for again in 'first time' 'second time'; do
		launch -q -p log.ini -- cat run.log
		[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ] && [ -s ws/run.log ]
		result $? "what is denied and made by us cannot be read: $again"
		has err "Cannot read 'run.log'" 'which is said'
	done
	rm ws/run.log

	# Descriptors and folders from before the masks lead past them: then there are none.
	run "$LAUNCH" -q -p policy.ini --keep-fd=7 -- "$PYTHON" -c 'import os
for name in ("token", "hole/key"):
    try: print(os.read(os.open(name, os.O_RDONLY, dir_fd=7), 99))
    except OSError as e: print(e)' 7<ws
	hasnt out SECRET 'not from a folder that was open before'
	run "$LAUNCH" -q -p policy.ini -- "$PYTHON" -c 'import os
for name in ("token", "hole/key"):
    try: print(os.read(os.open(name, os.O_RDONLY, dir_fd=0), 99))
    except OSError as e: print(e)' <ws
	hasnt out SECRET 'nor one that is a standard stream'
	cp policy.ini ws/sub/policy.ini
	file cwd.ini '[sandbox]\ninclude = bash\n[paths]\nwrite = ./ws\ndeny = ./ws/hole\n[path docs]\nroot = ./ws/docs\nmode = ro\n'
	(cd ws/hole && "$LAUNCH" -q -p ../../cwd.ini -- sh -c 'cat key deep/key; cat ../hole/key') >"$DIR/out" 2>"$DIR/err"
	hasnt out SECRET 'nor from the folder that it starts in'
	(cd ws/docs && "$LAUNCH" -q -p ../../cwd.ini -- sh -c 'echo x >text; echo x >new') >"$DIR/out" 2>"$DIR/err"
	[ "$(cat ws/docs/text)" = text ] && [ ! -e ws/docs/new ]
	result $? 'nor can it be written from there'
	# As for whom sudo has started it, in somebody else's folder.
	if is_root; then
		mkdir -m 700 closed
		copy_tested
		(cd closed && as_user "$DIR/copy/build/bin/sbx-launch" -q --trust -p "$DIR/work/cwd.ini" -- \
			sh -c 'cat "$1/token2" "$1/hole/key"' - "$DIR/work/ws") >"$DIR/out" 2>"$DIR/err"
		has out neighbour 'it may start in a folder that it could not enter'
		hasnt out SECRET 'and reaches nothing else from there'
		rmdir closed
	fi

	# A folder that the program could open to itself is seen, or the pattern is the broker's.
	if ! is_root; then
		mkdir ws/closed
		file ws/closed/d.pem 'SECRET\n'
		chmod 0 ws/closed
		hidden 'a folder that was closed at the start' sh -c 'chmod 755 closed; cat closed/d.pem'
		chmod 755 ws/closed
		rm -r ws/closed
	fi

	# What could not be anyway keeps its errno, and permissions count where a mask forbids only writing.
	mkdir -p ws/docs/closed ws/hole2
	file ws/docs/closed/text 'text\n'
	chmod 444 ws/docs/closed
	cp policy.ini kinds.ini
	sed -i 's,^deny.*,&\, ./ws/hole2,' kinds.ini
	launch -q -p kinds.ini --log=kinds.log -- "$PYTHON" -c 'import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def say(name, result): print(name, result if result >= 0 else errno.errorcode[ctypes.get_errno()])
say("rmdir", libc.rmdir(b"docs/text"))
say("unlink", libc.unlink(b"docs/text/"))
say("unlink", libc.unlink(b"docs"))
say("unlink", libc.unlink(b"hole2"))
say("remove", libc.remove(b"hole2"))
say("open", libc.open(b"docs/closed/text", 0))
say("create", libc.open(b"docs/closed/new", os.O_CREAT | os.O_WRONLY, 0o600))'
	says out "$(printf '%s\n' 'rmdir ENOTDIR' 'unlink ENOTDIR' 'unlink EISDIR' 'unlink EISDIR' 'remove EACCES' 'open EACCES' 'create EACCES')" \
		'a folder is a folder, and a file none, also where both are refused'
	grep -q '"op":"delete","code":"denied".*hole2' kinds.log
	result $? 'and remove() of an empty folder is refused in words'
	is_root || ! grep -q '"event":"denial".*closed' kinds.log
	result $? 'but not what permissions refuse'
	chmod 755 ws/docs/closed
	rm -r ws/docs/closed ws/hole2 kinds.ini kinds.log

	# There is an end to looking for what patterns match. (In memory: disks take long to make so many.)
	many=$(mktemp -d /dev/shm/sbx-many-XXXXXX) && trap 'rm -rf "$many"; cleanup' EXIT
	file "$many/z.pem" 'SECRET\n'
	file "$many/token" 'SECRET\n'
	"$PYTHON" -c 'import os, sys
os.chdir(sys.argv[1])
for i in range(50000): os.mknod(str(i))' "$many"
	file many.ini "[sandbox]\ninclude = bash\n[paths]\nwrite = $many\ndeny = $many/**/*.pem, $many/token\n"
	launch --dry-run -p many.ini -- true
	has out "not all: patterns are the broker's" 'too many entries are not masked'
	has out 'mounts over 1 place;' 'but what has a name is'
	launch -q -p many.ini -- cat "$many/z.pem" "$many/token"
	hasnt out SECRET 'and what a pattern matches is refused all the same'
	has err 'z.pem' 'in words'
	rm -rf "$many"

	# What takes rights away, and gives some of them back below, is no place for a mask.
	mkdir -p ws/hole/open
	file ws/hole/open/file 'given back\n'
	file back.ini '[sandbox]\ninclude = bash\n[paths]\nwrite = ./ws\ndeny = ./ws/hole\nread = ./ws/hole/open\n'
	launch -q -p back.ini -- cat ws/hole/open/file
	says out 'given back' 'what is given back below a denied folder can be read'
	launch -q -p back.ini -- cat ws/hole/key
	hasnt out SECRET 'and the rest cannot'
	rm -r ws/hole/open

	# The kernel takes a mask away with what is under it.
	"$LAUNCH" -q -p policy.ini -- sh -c 'echo >started; sleep 60' >"$DIR/out" 2>"$DIR/err" &
	launcher=$!
	for _ in $(seq 500); do [ ! -e ws/started ] || break; sleep 0.02; done
	file ws/token.new 'SECRET\n'
	mv ws/token.new ws/token
	wait "$launcher"
	STATUS=$?
	exits 125 'who replaces from outside what is masked ends the run'
	has err "ws/token' was removed or replaced by somebody outside" 'and is told so'
	rm -f ws/started

	for victim in launcher supervisor; do
		"$LAUNCH" -q -p policy.ini -- sh -c 'echo $$ >started; sleep 60' >"$DIR/out" 2>"$DIR/err" &
		launcher=$! target=$launcher
		for _ in $(seq 500); do [ ! -s ws/started ] || break; sleep 0.02; done
		read -r program <ws/started
		[ "$victim" = launcher ] || read -r target _ <"/proc/$launcher/task/$launcher/children"
		kill -KILL "$target"
		wait "$launcher" 2>/dev/null
		for _ in $(seq 250); do [ -e "/proc/$program" ] || break; sleep 0.02; done
		[ ! -e "/proc/$program" ]
		result $? "a killed $victim takes the program along"
		unmounted 'and leaves nothing mounted'
		rm -f ws/started
	done
fi
finish
