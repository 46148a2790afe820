#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Private tmp in the place of /tmp, /var/tmp and /dev/shm: what programs find there is their own, and
# nothing of it is outside, during the run or after it. Where the policy is about something there, or no
# namespace can be had, these folders are refused as ever.
# shellcheck disable=SC2016 # what others shall expand
set -u
# What is tested must not itself lie in one of these folders.
ELSEWHERE=
for folder in "${SBX_ELSEWHERE:-}" /opt /srv /var/lib "${HOME:-}"; do
	case $(cd "$folder" 2>/dev/null && pwd -P) in /tmp* | /var/tmp* | /dev/shm* | /) continue ;; esac
	if [ -n "$folder" ] && ELSEWHERE=$(mktemp -d "$folder/sbx-test.XXXXXXXX" 2>/dev/null); then break; fi
done
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"
PLACES='/tmp /var/tmp /dev/shm'

file host-token 'SECRET\n'
NAME=$(basename "$DIR")
outside() # PLACE
{
	echo "$1/sbx-host-$NAME"
}
leave()
{
	for place in $PLACES; do rm -rf "$(outside "$place")"; done
	[ -z "$ELSEWHERE" ] || rm -rf "$ELSEWHERE"
	cleanup
}
trap leave EXIT
for place in $PLACES; do file "$(outside "$place")" 'HOST\n'; done

cc -D_GNU_SOURCE -o "$DIR/no-userns" "$SBX_TOP/tests/e2e/without-namespaces.c" || exit
mkdir ws
file policy.ini '[sandbox]
include = bash, python
workspace = ./ws
'

mounts() { cut -d' ' -f4- /proc/self/mountinfo; }
mounts >"$DIR/mounts"
nothing_left() # NAME
{
	local good=0

	mounts | cmp -s - "$DIR/mounts" || good=1
	[ -z "$(ls -A "$TMPDIR/sbx" 2>/dev/null)" ] || good=1
	for place in $PLACES; do
		[ "$(cat "$(outside "$place")")" = HOST ] && [ ! -e "$place/inside-$NAME" ] || good=1
	done
	result $good "$1"
}

# A place that the policy is about stays what it is: all of this is below /tmp.
refuses() # PLACE COMMAND...
{
	local place=$1

	shift
	run "$@" -p policy.ini -- bash -c "echo x >$place/inside-$NAME"
	exits 1 "$place is refused"
	has err "Cannot create '$place/inside-$NAME'" 'in words'
	has err "Use \$TMPDIR ($TMPDIR/sbx/tmp." 'that say what to use'
	[ ! -e "$place/inside-$NAME" ]
	result $? 'and nothing is there'
}
refuses /tmp "$DIR/no-userns" "$LAUNCH"
for place in $PLACES; do
	refuses "$place" "$DIR/no-userns" "$LAUNCH"
	refuses "$place" "$LAUNCH" --isolate=none
done
run "$DIR/no-userns" "$LAUNCH" -p policy.ini --dry-run -- true
has out '/tmp, /var/tmp and /dev/shm are refused, not replaced by private tmp: a user and mount' \
	'without namespaces the plan says so'
launch -p policy.ini --dry-run --isolate=none -- true
has out 'not replaced by private tmp: isolate = none' 'and that it is asked for'
if ! unshare -m true 2>/dev/null && ! unshare -Urm true 2>/dev/null; then
	finish
	exit
fi
case $DIR in /tmp/*)
	refuses /tmp "$LAUNCH"
	launch -p policy.ini --dry-run -- true
	has out "/tmp is refused, not replaced by private tmp: the policy has '" 'and the plan says why'
	;;
esac
launch -q -p policy.ini -- bash -c 'echo x >file && cat file; echo x >/dev/shm/x && cat /var/tmp/x /dev/shm/x'
has out x 'a workspace below /tmp is used as ever, and the others are replaced'
rm -f ws/file
launch -q -p policy.ini --allow-read=/dev/shm -- cat "$(outside /dev/shm)"
says out HOST 'who may read /dev/shm reads the real one'
nothing_left 'and nothing is left'
if [ -z "$ELSEWHERE" ]; then
	echo '# no folder outside of /tmp can be written to: the rest is skipped'
	finish
	exit
fi

# From here on nothing of the policy lies there.
chmod 755 "$ELSEWHERE"
mkdir "$ELSEWHERE/sbx" "$ELSEWHERE/sbx/lib" "$ELSEWHERE/ws"
cp -a "$SBX_BUILD/bin" "$SBX_BUILD/share" "$ELSEWHERE/sbx/" && cp -a "$SBX_BUILD"/lib/*.so* "$ELSEWHERE/sbx/lib/" || exit
is_root && chown -R 0:0 "$ELSEWHERE/sbx"
LAUNCH=$ELSEWHERE/sbx/bin/sbx-launch
cp policy.ini "$ELSEWHERE/"
cd "$ELSEWHERE" || exit
inside() # COMMAND
{
	launch -q -p policy.ini -- bash -c "$1"
}

for place in $PLACES; do
	inside "echo x >$place/inside-$NAME && cat $place/inside-$NAME && rm $place/inside-$NAME"
	is 0 "$place can be written to"
	says out x 'and read'
	inside "ls -A $place; cat $(outside "$place")"
	hasnt out HOST 'but what is there outside cannot'
	hasnt out sbx-host 'nor is it listed'
	inside "rm -rf $place/* $place/.[!.]* 2>/dev/null; echo x >$(outside "$place"); mkdir $place/inside-$NAME"
	nothing_left 'and whatever is done there is not outside'
done
launch -q -p policy.ini -- bash -c 'exec python3 -c "import ctypes
libc = ctypes.CDLL(None)
fd = libc.inotify_init()
print(libc.inotify_add_watch(fd, b\"/dev/fd/9\", 256), libc.inotify_add_watch(fd, b\"/tmp\", 256))" 9<&0 </dev/null' </tmp
says out '-1 1' 'nor can it be watched, by a descriptor that was there before; the new one can'
launch -p policy.ini -- cat "$(outside /tmp)" /tmp
has err "sbx-launch: '$(outside /tmp)' is not there for the program: private tmp is in the place of /tmp" \
	'who names something of outside is told'
[ "$(grep -c 'is not there for' "$DIR/err")" -eq 1 ]
result $? 'and only then'
inside 'echo x >/tmp/x; cat $TMPDIR/x /var/tmp/x; echo y >$TMPDIR/y; cat /tmp/y; stat -f -c %T /dev/shm'
says out $'x\nx\ny\ntmpfs' 'TMPDIR is the same folder; /dev/shm is in memory'
inside 'unset TMPDIR; f=$(mktemp) && echo x >"$f" && mkdir -p /tmp/a/b && mv "$f" /tmp/a/b/c && chmod 600 /tmp/a/b/c && cat /tmp/a/b/c'
says out x 'mktemp works without TMPDIR'
launch -q -p policy.ini -- env -u TMPDIR -u TMP -u TEMP "$PYTHON" -c '
import multiprocessing as m, multiprocessing.shared_memory as s, os, tempfile
def work(q, lock):
    with lock:
        q.put(os.getpid())
with tempfile.NamedTemporaryFile() as f:
    print(os.path.dirname(f.name))
c = m.get_context("fork")
q, lock = c.Queue(), c.Lock()
p = c.Process(target=work, args=(q, lock))
p.start()
print(q.get() == p.pid)
p.join()
b = s.SharedMemory(create=True, size=4096)
b.buf[:2] = b"hi"
a = s.SharedMemory(b.name)
print(bytes(a.buf[:2]))
a.close()
b.close(); b.unlink()'
exits 0 'python runs'
has out '/tmp' 'its tempfile'
has out True 'its multiprocessing'
has out "b'hi'" 'its shared memory'
hasnt err sbx: 'and nothing is refused'
if java=$(command -v java) && java=$(readlink -f "$java") && java --list-modules 2>/dev/null | grep -q jdk.compiler; then
	file ws/T.java 'import java.io.*;
public class T { public static void main(String[] a) throws Exception {
	File f = File.createTempFile("sbx", null);
	try (FileWriter w = new FileWriter(f)) { w.write("x"); }
	System.out.println(f.getParent() + " " + f.length());
} }'
	launch -q -p policy.ini --allow-exec="${java%/bin/java}" --allow-read=/etc -- "$java" -Xmx256m T.java
	says out '/tmp 1' 'java finds its tmp'
else
	result 0 'java finds its tmp # SKIP no java with a compiler'
fi

# The same rights as in TMPDIR.
inside 'printf "#!/bin/sh\necho ran\n" >/tmp/x && chmod +x /tmp/x && /tmp/x && cp /tmp/x /dev/shm/x && /dev/shm/x'
says out $'ran\nran' 'what may be executed in TMPDIR may be there'
file read-only.ini '[sandbox]
include = bash
[paths]
read = ./ws
'
for place in /tmp /dev/shm; do
	launch -q -p read-only.ini -- bash -c "cp /bin/true $place/x && $place/x"
	exits 126 "and what may not, may not in $place"
	has err "Cannot execute '$place/x'" 'in words'
done
inside "ln -s $ELSEWHERE/policy.ini /tmp/l; cat /tmp/l; ls /tmp/.."
has err "Cannot read '/tmp/l' ($ELSEWHERE/policy.ini)" 'a link leads where it leads'
has err "Cannot list '/tmp/..' (/)" 'and dot-dot to the root'
inside 'echo x >f; ln f /tmp/f'
has err 'Invalid cross-device link' 'no hard link leads there'
rm -f ws/f

# What somebody opened outside is still what it is, whatever its name would mean inside.
for place in $PLACES; do
	for option in --enforce=auto --enforce=seccomp; do
		chmod 644 "$(outside "$place")"
		touch -d 2001-01-01 "$(outside "$place")"
		run "$LAUNCH" -q -p policy.ini "$option" -- "$PYTHON" -c '
import os
def attempt(what, *arguments):
    try:
        what(*arguments)
        print(what.__name__, "worked")
    except OSError as e:
        print(what.__name__, e.strerror)
attempt(os.fchmod, 0, 0o777)
attempt(os.fchown, 0, os.getuid(), os.getgid())
attempt(os.utime, 0)
for name in "/proc/self/fd/0", "/dev/stdin":
    attempt(os.chmod, name, 0o777)
    attempt(os.utime, name)
    attempt(os.open, name, os.O_RDWR)
    attempt(os.truncate, name, 0)
attempt(lambda: os.link("/proc/self/fd/0", "linked", follow_symlinks=True))
print(open(0).read().strip())' <"$(outside "$place")"
		has out HOST "what is open in $place can be read ($option)"
		hasnt out worked 'and nothing else'
		[ "$(stat -c '%a %s %Y' "$(outside "$place")")" = "644 5 $(date -d 2001-01-01 +%s)" ]
		result $? 'and is as it was'
		rm -f ws/linked
	done
	run "$LAUNCH" -q -p policy.ini --enforce=seccomp -- bash -c "echo x >$place/x; exec 3<$place/x; rm $place/x; echo y >/proc/self/fd/3; cat <&3"
	says out y "what was made and removed in $place stays the program's"
done

# What the run has to know stays as it is.
inside "$ELSEWHERE/sbx/bin/sbx-policy check write /tmp/x && $ELSEWHERE/sbx/bin/sbx-policy check write /etc/x"
has out "Can create '/tmp/x'" 'the policy can be asked inside'
has out "Cannot create '/etc/x'" 'and tells'
inside 'i=$SANDBOX_SBX_IMAGE; d=${i%/*}; rm -rf $d; mv $d /dev/shm/d; mv $i /tmp/i; chmod 600 $i; echo x >$i; ln $i /dev/shm/i; echo x >$d/x; ls $d'
says out "$(sed -n 's/.*\(run\.[a-z2-7]*\).*/\1/p' "$DIR/out" | head -n 1)" 'of the runs there is only this one to be seen'
hasnt err 'sbx:' 'and that it cannot be changed is nobody'"'"'s rule'
[ "$(grep -c 'Read-only file system\|Device or resource busy\|cross-device' "$DIR/err")" -eq 7 ]
result $? 'but the kernel'"'"'s'
if is_root; then
	inside 'umount /tmp; umount -l /dev/shm; mount -t tmpfs none /tmp; ls -A /tmp'
	says out '' 'and nobody unmounts anything'
	launch -q -p policy.ini --user=nobody --home=private -- bash -c 'for f in /tmp /var/tmp /dev/shm $HOME $TMPDIR; do echo x >$f/x && rm $f/x || exit; done; id -u'
	says out 65534 'another user has it all, too'
	nothing_left 'and nothing of it is left'
fi
launch -q -p policy.ini --home=private -- bash -c 'cd && echo x >y && cat $HOME/y && ls -A /dev/shm'
says out $'x\n.sbx' 'private home is there beside it'
cp policy.ini "$TMPDIR/in-tmp.ini"
sed -i "s|./ws|$ELSEWHERE/ws|" "$TMPDIR/in-tmp.ini"
launch -q -p "$TMPDIR/in-tmp.ini" -- bash -c "mkdir -p $TMPDIR && echo x >$TMPDIR/in-tmp.ini && cat $TMPDIR/in-tmp.ini"
says out x 'a policy that lies in /tmp is not seen there'
grep -q workspace "$TMPDIR/in-tmp.ini"
result $? 'nor changed'
launch -q -p policy.ini --tmp=shared -- bash -c 'echo x >/tmp/x'
has err "Cannot create '/tmp/x'" 'shared tmp is by the rules'
launch -q -p policy.ini --allow-read=/tmp -- cat "$(outside /tmp)"
says out HOST 'who may read /tmp reads the real one'
printf '#!/bin/sh\necho ran; echo x >/tmp/x\n' >"$DIR/program"
chmod 755 "$DIR/program"
launch -p policy.ini -- "$DIR/program"
has out ran 'a program in /tmp can be started'
launch -q -p policy.ini --allow-read="$DIR/work" -- cat "$DIR/work/host-token"
says out SECRET 'and so can one whose files are there'
launch -p policy.ini --dry-run -- true
has out 'private tmp    $TMPDIR, /tmp, /var/tmp, /dev/shm (in memory)' 'the plan says what is where'
launch -q -p policy.ini --isolate=full -- bash -c 'echo x >/tmp/x && cat /var/tmp/x && echo y >/dev/shm/y && cat /dev/shm/y $SANDBOX_SBX_IMAGE | head -n 1'
has out y 'all of it stands with isolate = full'
launch -q -p policy.ini --allow-read="$ELSEWHERE" --allow-exec="$LAUNCH" -- "$LAUNCH" -q -p "$ELSEWHERE/policy.ini" -- bash -c 'echo x >$TMPDIR/x && cat $TMPDIR/x; echo x >/tmp/y'
has out x 'a sandbox inside of it has its own TMPDIR'
has err 'Use $TMPDIR (/tmp/sbx/tmp.' 'and that alone'

# How much there may be.
launch -q -p policy.ini --memory=64M -- stat -f -c '%b %S' /dev/shm
read -r blocks size <"$DIR/out"
[ $((blocks * size)) -le $((64 << 20)) ]
result $? '/dev/shm is as large as memory at most'
launch -p policy.ini --disk=1M -- bash -c 'for f in /tmp/a /var/tmp/b /dev/shm/c; do head -c 300000 /dev/zero >$f || exit; done; echo fits'
says out fits 'what fits can be written to all of them'
for place in $PLACES; do
	launch -p policy.ini --disk=1M -- bash -c "head -c 600000 /dev/zero >/tmp/a && head -c 600000 /dev/zero >$place/b"
	exits 1 "$place and /tmp have one limit"
	has err 'No space left on device' 'and the program is told'
	has err 'To allow more: disk = 2M in [limits]' 'as is the user'
done
launch -q -p policy.ini --disk=8K -- true
exits 0 'a small limit leaves room to start'
nothing_left 'and nothing of it is left'

# Two at once, and their ends.
start() # NAME
{
	"$LAUNCH" -q -p policy.ini -- bash -c "for f in $PLACES; do echo $1 >\$f/inside-$NAME; done; echo >$1; sleep 60" >/dev/null 2>&1 &
	launcher=$!
	for _ in $(seq 500); do [ ! -e "ws/$1" ] || break; sleep 0.02; done
}
is_over() # PID
{
	[ ! -e "/proc/$1" ] || grep -q '^State:[[:space:]]*[ZX]' "/proc/$1/status" 2>/dev/null
}
for victim in launcher supervisor; do
	start first
	first=$launcher target=$launcher
	inside "cat /tmp/inside-$NAME /dev/shm/inside-$NAME; ls -A /tmp /dev/shm /dev/shm/.sbx | grep -c run"
	says out 1 'one run does not see the other'
	[ ! -e "/tmp/inside-$NAME" ] && [ ! -e "/var/tmp/inside-$NAME" ] && [ ! -e "/dev/shm/inside-$NAME" ]
	result $? 'nor does anybody else'
	read -r supervisor _ <"/proc/$first/task/$first/children"
	read -r program _ <"/proc/$supervisor/task/$supervisor/children"
	[ "$victim" = launcher ] || target=$supervisor
	kill -KILL "$target"
	wait "$first" 2>/dev/null
	for _ in $(seq 250); do is_over "$program" && is_over "$supervisor" && break; sleep 0.02; done
	[ -n "$program" ] && is_over "$program" && is_over "$supervisor"
	result $? "a killed $victim takes all along"
	for _ in $(seq 250); do [ -n "$(ls -A "$TMPDIR/sbx")" ] || break; sleep 0.02; done
	nothing_left 'and nothing is left'
	rm -f ws/first
done
if is_root; then
	SBX_ELSEWHERE=$ELSEWHERE/user
	mkdir "$SBX_ELSEWHERE" && chown "$NOBODY" "$SBX_ELSEWHERE" || exit
	export SBX_ELSEWHERE
fi
finish
