#!/bin/bash
# SPDX-License-Identifier: MIT
#
# enforce = seccomp: no Landlock at all, and the same boundaries. Every call by path is served by the
# supervisor, with the shim, without it, and for static programs.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

outside=$DIR/outside
mkdir "$outside" ro rw rw/hole rw/sub
file "$outside/secret" 'secret\n'
file ro/file 'read only\n'
file rw/file 'file\n'
file rw/hole/key 'key\n'
file rw/hidden.env 'env\n'
ln -s "$outside/secret" rw/link
ln rw/hole/key rw/other-name
file policy.ini '[sandbox]
enforce = seccomp
include = bash
[paths]
read = ./ro
write = ./rw, ./later
deny = ./rw/hole, ./rw/*.env
'
busybox=$(command -v busybox || true)

SECRETS='^(secret|key|env)$'
inside() # COMMAND...
{
	launch -q -p policy.ini "${options[@]}" -- "$@"
}

for way in shim no-shim static; do
	how=", $way" options=() cat=(cat) sh=(bash -c)
	[ "$way" != no-shim ] || options=(--no-shim)
	if [ "$way" = static ]; then
		[ -n "$busybox" ] || continue
		options=(--allow-exec="$busybox") cat=("$busybox" cat) sh=("$busybox" sh -c)
	fi

	works 'read only' 'what may be read is read' "${cat[@]}" ro/file
	works file 'and what may be written' "${cat[@]}" rw/file
	works 'new' 'files are made' "${sh[@]}" 'echo new >rw/new && read line <rw/new && echo "$line"'
	works 'rw/new' 'folders listed' "${sh[@]}" 'echo rw/n*'
	works 'later' 'a place that was not there is made' "${sh[@]}" 'mkdir later && echo later >later/a && read line <later/a && echo "$line"'
	rm -rf rw/new later
	works "$$x" 'what the program reads of itself' "${sh[@]}" 'read line </proc/self/stat && [ "${line%% *}" = $$ ] && echo '"$$x"
	works 'read only' 'standard input by name' "${sh[@]}" 'exec <ro/file; read line </dev/stdin; echo "$line"'
	works '' 'a program may signal itself' "${sh[@]}" 'trap "exit 0" USR1; kill -USR1 $$; exit 1'
	works '' 'and its children' "${sh[@]}" 'sleep 20 & kill $! && wait $! || exit 0'

	refuses "Cannot read '$outside/secret': path is outside the sandbox." 'what is outside is refused' \
		"${cat[@]}" "$outside/secret"
	refuses "path is outside the sandbox" 'through a link too' "${cat[@]}" rw/link
	refuses "path is outside the sandbox" 'and by way of /proc' "${cat[@]}" "/proc/self/root$outside/secret"
	refuses "path is outside the sandbox" 'or the folder it is in' "${cat[@]}" /proc/self/cwd/rw/link
	refuses "denied by a rule" 'a hole is a hole' "${cat[@]}" rw/hole/key
	refuses "denied by a rule" 'by any spelling' "${cat[@]}" rw/sub/..//hole/./key
	refuses "denied by a rule" 'a pattern as well' "${cat[@]}" rw/hidden.env
	refuses "path is read-only" 'what is read-only stays so' "${sh[@]}" 'echo x >ro/file'
	refuses "path is read-only" 'and gets no entries' "${sh[@]}" 'echo x >ro/new'
	refuses "denied by a rule" 'a hole is not moved away' "${sh[@]}" 'mv rw/hole rw/sub/hole'
	refuses "it runs later" 'protections hold' "${sh[@]}" 'echo x >rw/.npmrc'
	refuses '' 'other processes cannot be looked at' "${sh[@]}" 'cat /proc/$PPID/environ /proc/1/environ'
	refuses '' 'nor signalled' "${sh[@]}" 'kill -0 $PPID || kill -0 1'
	refuses '' 'not all at once either' "${sh[@]}" 'trap "" TERM; kill -TERM -1; exit 3'
	[ "$(cat ro/file)" = 'read only' ] && [ ! -e rw/.npmrc ] && [ -e rw/hole/key ]
	result $? "and nothing has happened$how"
done

options=() how=
inside "$PYTHON" -Ic 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
socket.create_connection(s.getsockname()).sendall(b"own")
print(s.accept()[0].recv(3).decode())
socket.create_connection(("127.0.0.1", 9))'
says out own 'a program may connect to itself'
has err "sbx: Cannot connect to '127.0.0.1:9': network access is disabled." 'and to nobody else'
for program in 'node -e 1' "$PYTHON -c 1" 'ruby -e 1' 'git --version' 'gcc --version'; do
	# shellcheck disable=SC2086 # a command
	launch -q --enforce=seccomp --workspace . -- $program
	[ "$STATUS" -eq 0 ] && ! grep -q '^sbx: Cannot' "$DIR/err"
	result $? "$program starts, and nothing is said"
done
# -- what is removed outside does not become readable by that
file "$outside/gone" 'secret\n'
for opened in O_PATH O_RDONLY; do
	rm -f rw/opened rw/removed
	{
		eventually [ -e rw/opened ]
		rm -f "$outside/gone"
		touch rw/removed
	} &
	inside "$PYTHON" -Ic 'import os, sys, time
target = sys.argv[1] if sys.argv[2] == "O_PATH" else "rw/mine"
open("rw/mine", "w").write("mine")
fd = os.open(target, getattr(os, sys.argv[2]))
open("rw/opened", "w")
while not os.path.exists("rw/removed"): time.sleep(0.02)
if sys.argv[2] == "O_RDONLY": os.remove(target)
print(open("/proc/self/fd/%d" % fd).read())' "$outside/gone" "$opened"
	wait
	if [ "$opened" = O_PATH ]; then
		[ "$STATUS" -ne 0 ] && ! grep -q secret "$DIR/out"
		result $? 'a removed file of others is not read'
	else
		says out mine 'one of its own is'
	fi
done

# -- nobody outside gets a signal when there is something to read
inside "$PYTHON" -Ic 'import fcntl, os, struct
fd = os.open("/dev/null", os.O_RDONLY)
def tries(*args):
    try: fcntl.fcntl(fd, *args); return "ok"
    except OSError as e: return os.strerror(e.errno)
F_SETOWN_EX = 15
print(tries(fcntl.F_SETOWN, os.getpid()), tries(fcntl.F_SETOWN, 0), tries(fcntl.F_GETOWN))
print(tries(fcntl.F_SETOWN, os.getppid()), tries(fcntl.F_SETOWN, 1), tries(fcntl.F_SETOWN, -os.getpgrp()))
print(tries(F_SETOWN_EX, struct.pack("ii", 1, os.getppid())))'
says out 'ok ok ok
Operation not permitted Operation not permitted Operation not permitted
Operation not permitted' 'descriptors belong to processes of the sandbox alone'

launch -p policy.ini --dry-run -- true
has out 'the broker alone' 'the plan says who holds what'
has out 'executing is checked and then left to the kernel' 'and what is not held'
finish
