#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Refusals while a program runs: whoever tried, by whatever call, the launcher's standard error says
# what, why, by which line, and what would help; and says nothing where there is nothing to say.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

outside=$DIR/outside
mkdir -p ro rw "$outside/folder"
file ro/file 'read only\n'
file "$outside/secret" 'secret\n'
cp /bin/true "$outside/prog"
file "$outside/script" '#!/bin/sh\necho never\n'
chmod +x "$outside/script"
file policy.ini '[sandbox]
include = bash, node, python, ruby

[paths]
read = ./ro, ./tools
write = ./rw
exec = ./tools
'
mkdir tools
file tools/hashbang "#!$outside/prog\n"
chmod +x tools/hashbang
cat >tools/spawn.c <<'END'
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
	pid_t pid;
	int status = 0, error = posix_spawn(&pid, argv[1], NULL, NULL, argv + 1, environ);

	if (error)
		printf("%s\n", strerror(error));
	else
		waitpid(pid, &status, 0);
	return argc < 2 || error || status;
}
END
cc -o tools/spawn tools/spawn.c || exit

inside() # COMMAND...
{
	launch -q -p policy.ini -- "$@"
}

# The whole explanation, but for who tried.
explained() # NAME LINE...
{
	local name=$1 line good=0

	shift
	for line in "$@"; do
		grep -qxF -e "$line" "$DIR/err" || good=1
	done
	result $good "$name"
}

reads="sbx:   Readable paths: ./ro, ./tools, ./rw (and the system files of profiles 'bash', 'node', 'python' and 'ruby')"

# -- reading, by every kind of call there is in libc
refused_read() # NAME COMMAND...
{
	local name=$1

	shift
	inside "$@"
	explained "$name" "sbx: Cannot read '$outside/secret': path is outside the sandbox." "$reads"
	hasnt out secret 'and nothing comes out'
}
refused_read cat cat "$outside/secret"
has err "sbx:   By: no rule matches; policy.ini decides. Tried by cat[" 'who tried is told'
has err 'sbx:   Use $TMPDIR (' 'and what to do instead'
refused_read 'a shell redirection' bash -c 'read x <"$1"' - "$outside/secret"
refused_read 'env -i' env -i cat "$outside/secret"
refused_read 'a cleared environment' bash -c 'unset LD_PRELOAD; exec -c cat "$1"' - "$outside/secret"
refused_read 'python in a thread' "$PYTHON" -Ic 'import sys, threading
t = threading.Thread(target=lambda: open(sys.argv[1])); t.start(); t.join()' "$outside/secret"
has err 'Tried by python3' 'a thread is told as its process'
refused_read 'node, asynchronously' node -e 'require("fs").readFile(process.argv[1], () => {})' "$outside/secret"
refused_read 'ruby' ruby -e 'File.read(ARGV[0]) rescue 0' "$outside/secret"
refused_read 'a static program' busybox cat "$outside/secret"
refused_read 'a child of a static program' busybox sh -c 'busybox cat "$1"' - "$outside/secret"
refused_read 'a link out of the sandbox' bash -c 'ln -s "$1" rw/link; cat rw/link; cat "$1"' - "$outside/secret"
explained 'the link as it was given, and where it leads' \
	"sbx: Cannot read 'rw/link' ($outside/secret): path is outside the sandbox."
rm -f rw/link
inside bash -c 'cd ro && cat ../../outside/secret'
explained 'dot-dot' "sbx: Cannot read '../../outside/secret' ($outside/secret): path is outside the sandbox."
inside ls "$outside/folder"
explained 'listing' "sbx: Cannot list '$outside/folder': path is outside the sandbox."
inside find "$outside/folder"
explained 'listing by find' "sbx: Cannot list '$outside/folder': path is outside the sandbox."

# -- changing a read-only place
read_only() # VERB PATH NAME COMMAND...
{
	local verb=$1 path=$2 name=$3

	shift 3
	inside "$@"
	explained "$name" "sbx: Cannot $verb '$path' ($DIR/work/$path): path is read-only." \
		'sbx:   Writable paths: ./rw, $TMPDIR'
	has err 'sbx:   By: policy.ini:5 read = ./ro. Tried by ' "and the rule's line"
}
read_only 'write to' ro/file 'write' bash -c 'echo x >ro/file'
read_only 'write to' ro/file 'append' bash -c 'echo x >>ro/file'
read_only 'write to' ro/file 'truncate' truncate -s 0 ro/file
read_only 'write to' ro/file 'write by a static program' busybox sh -c 'echo x >ro/file'
read_only create ro/new 'create' touch ro/new
read_only create ro/new 'create by node' node -e 'try { require("fs").writeFileSync("ro/new", "x") } catch {}'
read_only create ro/new 'mkdir' mkdir ro/new
read_only create ro/new 'mkdir by a static program' busybox mkdir ro/new
read_only create ro/new 'mkfifo' mkfifo ro/new
read_only create ro/new 'a symbolic link' ln -s file ro/new
read_only create ro/new 'a hard link' ln ro/file ro/new
read_only delete ro/file 'unlink' rm -f ro/file
read_only delete ro/file 'unlink by python' "$PYTHON" -Ic 'import os; os.unlink("ro/file")'
read_only rename ro/file 'rename' mv ro/file ro/other
read_only rename ro/file 'rename by python' "$PYTHON" -Ic 'import os; os.rename("ro/file", "rw/file")'
[ "$(cat ro/file)" = 'read only' ] && [ "$(ls ro)" = file ]
result $? 'and nothing has changed'
file rw/mine 'mine\n'
inside mv rw/mine ro/mine
explained 'rename into a read-only place' "sbx: Cannot rename 'ro/mine' ($DIR/work/ro/mine): path is read-only."
inside ln ro/file rw/linked
explained 'a hard link that gains rights' "sbx: Cannot move 'ro/file' to 'rw/linked': it would gain rights there." \
	'sbx:   Copy it instead.'

# -- executing
refused_exec() # PATH NAME COMMAND...
{
	local path=$1 name=$2

	shift 2
	inside "$@"
	explained "exec: $name" "sbx: Cannot execute '$path': program not allowed."
	hasnt out never 'and it did not run'
}
refused_exec "$outside/prog" bash bash -c '"$1"; true' - "$outside/prog"
[ "$(grep -c '^sbx: Cannot' "$DIR/err")" -eq 1 ]
result $? 'bash, which looks into the file then, is told once'
refused_exec "$outside/prog" 'bash, exec' bash -c 'exec "$1"' - "$outside/prog"
refused_exec "$outside/prog" "node's child_process" node -e '
require("child_process").spawnSync(process.argv[1], [])' "$outside/prog"
refused_exec "$outside/prog" "python's subprocess" "$PYTHON" -Ic 'import subprocess, sys
try: subprocess.run([sys.argv[1]])
except OSError: pass' "$outside/prog"
refused_exec "$outside/prog" 'ruby' ruby -e 'system(ARGV[0])' "$outside/prog"
refused_exec "$outside/prog" 'posix_spawn' ./tools/spawn "$outside/prog"
refused_exec "$outside/prog" 'find -exec' find ro -name file -exec "$outside/prog" '{}' ';'
refused_exec "$outside/prog" 'xargs' bash -c 'echo | xargs "$1"' - "$outside/prog"
refused_exec "$outside/prog" 'env' env "$outside/prog"
refused_exec "$outside/prog" 'a static shell' busybox sh -c '"$1"; true' - "$outside/prog"
refused_exec "$outside/script" 'a script' bash -c '"$1"; true' - "$outside/script"
refused_exec "$outside/prog" 'the interpreter of a script' bash -c './tools/hashbang; true'
has err 'sbx:   Executable paths: ./tools' 'what may be executed is listed'

# -- the network
inside "$PYTHON" -Ic 'import socket
try: socket.create_connection(("127.0.0.1", 9))
except OSError as e: print(e.errno)'
explained 'connect' "sbx: Cannot connect to '127.0.0.1:9': network access is disabled." \
	'sbx:   Allowed destinations: none. Do not retry, change DNS or use a proxy: go on without the network, or ask the user.'
says out 13 'and the program gets EACCES'
inside "$PYTHON" -Ic 'import socket
s = socket.socket(socket.AF_INET6)
try: s.connect(("::1", 80))
except OSError as e: pass'
explained 'connect by IPv6' "sbx: Cannot connect to '[::1]:80': network access is disabled."
inside "$PYTHON" -Ic 'import ctypes, socket, struct
storage = struct.pack("=H", socket.AF_INET) + struct.pack(">H", 9) + bytes([127, 0, 0, 2]) + bytes(120)
s = socket.socket()
ctypes.CDLL(None).connect(s.fileno(), storage, len(storage))'
explained 'connect with room for any address' "sbx: Cannot connect to '127.0.0.2:9': network access is disabled."
launch -q -p policy.ini --no-shim -- "$PYTHON" -Ic 'import ctypes, errno, os, struct
address = struct.pack("=H", 2) + bytes(14)
libc = ctypes.CDLL(None, use_errno=True)
for fd in 77, os.open("/dev/null", os.O_RDONLY):
    libc.connect(fd, address, len(address))
    print(errno.errorcode[ctypes.get_errno()])'
says out 'EBADF
ENOTSOCK' 'what is no socket fails as it does outside'
says err '' 'and nothing is said of it'
inside busybox wget -O - http://127.0.0.1:9/
explained 'connect by a static program' "sbx: Cannot connect to '127.0.0.1:9': network access is disabled."
inside "$PYTHON" -Ic 'import socket
try: socket.socket().bind(("0.0.0.0", 80))
except OSError as e: pass'
explained 'bind' "sbx: Cannot listen on '0.0.0.0:80': network access is disabled." \
	'sbx:   Allowed addresses: loopback on port 0 or from 1024 up'
for option in --no-suggest --no-shim; do
	launch -q -p policy.ini "$option" -- "$PYTHON" -Ic 'import socket
for call in (lambda s: s.bind(("0.0.0.0", 0))), (lambda s: s.listen()):
    try: call(socket.socket())
    except OSError as e: pass'
	explained "listen on all addresses, $option" \
		"sbx: Cannot listen on '0.0.0.0:0': network access is disabled." \
		'sbx:   Allowed addresses: loopback on port 0 or from 1024 up'
	launch -q -p policy.ini "$option" -- "$PYTHON" -Ic 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
socket.create_connection(s.getsockname()).sendall(b"x")
print(s.accept()[0].recv(1))'
	exits 0 "a program may serve itself, $option"
	says err '' 'and nothing is said of it'
done

inside "$PYTHON" -Ic 'import socket
try: socket.socket(socket.AF_UNIX).bind("ro/socket")
except OSError as e: print(e.errno)'
explained 'a UNIX socket in a read-only place' "sbx: Cannot listen on 'ro/socket': path is read-only."
inside "$PYTHON" -Ic 'import socket
socket.socket(socket.AF_UNIX).bind("rw/socket")'
says err '' 'and none in a writable one'
rm -f rw/socket

# -- what is not said
silent() # NAME COMMAND...
{
	local name=$1

	shift
	inside "$@"
	hasnt err 'sbx:' "nothing is said: $name"
}
silent 'a file that is not there' cat "$outside/none"
silent 'a folder that is not there' cat "$outside/none/none"
silent 'a probe along a path' bash -c 'for d in /nowhere /opt/nowhere; do cat "$d/x"; done'
silent 'stat and readlink outside' bash -c 'stat "$1"; readlink -f "$1"; test -e "$1"' - "$outside/secret"
silent 'what exists already' bash -c 'mkdir ro; ln -s x ro/file; ln ro/file ro/file'
silent 'no folder' cat ro/file/x
silent 'a loop of links' bash -c 'ln -s loop rw/loop; cat rw/loop; rm rw/loop'
silent 'a folder as a file' bash -c 'echo x >"$1"' - "$outside/folder"
silent 'what is not executable' bash -c '"$1"; true' - "$outside/secret"
silent 'standard streams by name' bash -c '{ echo x >/dev/stdout; echo x >/dev/stderr; echo x >/proc/self/fd/1
	cat /dev/stdin; } </dev/null 2>&1 | cat'
silent 'what the program reads of itself' bash -c 'cat /proc/self/status /proc/thread-self/comm; ls /proc/self/fd'
silent 'a deleted file' "$PYTHON" -Ic 'import os, tempfile
f = tempfile.TemporaryFile(); open("/proc/self/fd/%d" % f.fileno()).close()'
silent 'a disconnected socket' "$PYTHON" -Ic 'import socket
a, b = socket.socketpair(); a.sendall(b"x")'

# As the user of the second run, permissions are ordinary ones.
if ! is_root; then
	file "$outside/closed" 'closed\n'
	file rw/closed 'closed\n'
	chmod 000 "$outside/closed" rw/closed
	silent 'what ordinary permissions refuse, outside' cat "$outside/closed"
	silent 'and inside' cat rw/closed
	chmod 644 rw/closed
fi

# -- once, and counted
launch -p policy.ini -- bash -c 'for i in 1 2 3 4 5; do read x <"$1"; done; cat "$1"; cat "$1"; true' - "$outside/secret"
[ "$(grep -c '^sbx: Cannot read.*sandbox\.$' "$DIR/err")" -eq 3 ]
result $? 'each process is told once'
has err 'and 4 more like it' 'what comes again is counted'
has err '7 refusals (1 kind)' 'the summary has all of them'

# -- as data
launch -qq --log "$DIR/log" -p policy.ini -- bash -c 'cat "$1"; mkdir ro/new' - "$outside/secret"
"$PYTHON" - "$DIR/log" "$outside/secret" "$DIR/work/ro/new" <<'END' >"$DIR/out"
import json, sys
events = [json.loads(line) for line in open(sys.argv[1])]
first, second = [e for e in events if e["event"] == "denial"]
assert first["op"] == "read" and first["code"] == "outside" and first["errno"] == "EACCES", first
assert first["path"] == first["resolved"] == sys.argv[2] and first["syscall"] == "openat", first
assert first["layer"] == "landlock" and first["rule"] is None and first["exe"].endswith("/cat"), first
assert "./ro" in first["allowed"] and first["message"].startswith("sbx: Cannot read"), first
assert second["op"] == "create" and second["code"] == "read_only", second
assert second["resolved"] == sys.argv[3] and second["rule"]["line"] == 5, second
print("good")
END
says out good 'the log has them as JSON lines'
launch --json -p policy.ini -- cat "$outside/secret"
json_is 'len(j["violations"]) == 1 and j["violations"][0]["code"] == "outside"' 'the result has them too'

# -- without the shim, and all of it
launch -q --no-shim -p policy.ini -- cat "$outside/secret"
explained 'without the shim' "sbx: Cannot read '$outside/secret': path is outside the sandbox."
launch -q --no-shim -p policy.ini -- bash -c 'echo "$LD_PRELOAD"'
says out '' 'which is then not in the environment'
launch -q --explain-all -p policy.ini -- cat "$outside/secret"
explained 'with explain = all' "sbx: Cannot read '$outside/secret': path is outside the sandbox."

# -- what libc reads inside itself is nobody's wish, whoever refuses it
for options in '' '--isolate=none --deny=ro/none'; do
	how=${options:+, where the broker reads}
	# shellcheck disable=SC2086 # options or nothing
	launch -q $options -p policy.ini -- ls -l ro/file
	says err '' "a look for the names of users is no refusal$how"
	# shellcheck disable=SC2086
	launch -q $options -p policy.ini -- cat /etc/passwd
	explained "but whoever opens that is told$how" "sbx: Cannot read '/etc/passwd': path is outside the sandbox."
	# shellcheck disable=SC2086
	launch -q --explain-all $options -p policy.ini -- ls -l ro/file
	explained "and with explain = all that too$how" "sbx: Cannot read '/etc/passwd': path is outside the sandbox."
done

# -- nor is code libc because it lies where libraries do
cat >tools/own.c <<'END'
/* own PATH: opens it from code of our own. own jit PATH: from memory. own run PROGRAM…: executes it. */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* open(path, O_RDONLY) by numbers, as bytes and as code. */
#define OPEN "\xb8\x02\x00\x00\x00\x31\xf6\x0f\x05\xc3"

static long open_here(const char *path)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "a"(2L), "D"(path), "S"(0L) : "rcx", "r11", "memory");
	return result;
}

int main(int argc, char **argv)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (argc > 2 && !strcmp(argv[1], "run"))
		return execv(argv[2], argv + 2);
	if (argc < 3)
		return open_here(argv[1]) >= 0;
	memcpy(code, OPEN, sizeof(OPEN));
	if (mprotect(code, 4096, PROT_READ | PROT_EXEC) < 0)
		return 2;
	return ((long (*)(const char *))code)(argv[2]) >= 0;
}
END
if [ "$(uname -m)" = x86_64 ] && cc -static -o tools/own tools/own.c && cc -static-pie -o tools/own-pie tools/own.c &&
	cc -o tools/own-dynamic tools/own.c; then
	file none.ini '[sandbox]\ninclude = bash\n[paths]\nread = ./rw\nexec = ./tools\ndeny = ./rw/denied\n'
	file rw/denied 'denied\n'
	for by in 'run tools/own-pie' 'run tools/own run tools/own-pie' 'run tools/own-dynamic jit' jit; do
		# shellcheck disable=SC2086 # words
		launch -q --isolate=none -p none.ini -- tools/own $by rw/denied
		has err "sbx: Cannot read 'rw/denied'" "own code is explained: own $by"
	done
	rm rw/denied
else
	result 0 'own code is explained # SKIP it is made for x86-64, with static libraries'
fi

# -- who asks inside is told the same
inside "$SBX" check read "$outside/secret"
[ "$STATUS" -eq 1 ]
result $? 'sbx-policy check answers for the running policy'
has out "sbx: Cannot read '$outside/secret': path is outside the sandbox." 'in the same words'
inside "$SBX" why write ro/file
has out 'policy.ini:5 read = ./ro' 'sbx-policy why too'

# -- a sandbox in a sandbox: narrower, and explained by the shim alone
file outer.ini '[sandbox]
include = bash, python

[paths]
read = .
write = ./rw
exec = '"$SBX_BUILD"'/bin
read = '"$SBX_BUILD"'
'
file inner.ini '[sandbox]
include = bash, python

[paths]
read = ./ro
'
nested() # COMMAND...
{
	launch -q -p outer.ini -- "$LAUNCH" -p inner.ini -- "$@"
}
nested cat ro/file
says out 'read only' 'a nested run works'
has err 'only programs that load the shim are explained' 'and says who is explained'
nested cat policy.ini
exits 1 'it is narrower'
explained 'and the shim explains by itself' \
	"sbx: Cannot read 'policy.ini' ($DIR/work/policy.ini): path is outside the sandbox."
has err 'inner.ini decides. Tried by cat[' 'by its own policy'
nested "$PYTHON" -Ic 'import socket
try: socket.socket().bind(("127.0.0.1", 8080))
except OSError as e: pass'
explained 'bind to a port, too' "sbx: Cannot listen on '127.0.0.1:8080': address not allowed."
has err 'inner.ini decides. Tried by python' 'by its own policy'
nested "$PYTHON" -Ic 'import socket
try: socket.socket(socket.AF_UNIX).bind("rw/socket")
except OSError as e: pass'
explained 'and to a path' "sbx: Cannot listen on 'rw/socket': path is outside the sandbox."
nested bash -c 'echo x >rw/new'
exits 1 'what only the outer one may write is refused'
nested cat "$outside/secret"
exits 1 'and what neither may read'
has err "sbx: Cannot read '$outside/secret': path is outside the sandbox." 'which is explained'
[ "$(grep -c "^sbx: Cannot read '$outside/secret'" "$DIR/err")" -eq 1 ]
result $? 'once'
nested busybox cat policy.ini
exits 1 'a static program is refused too'
# The outer supervisor acts for programs in ./rw, whose files are protected by name.
for command in 'touch rw/new' 'mkdir rw/new' 'ln -s x rw/new' 'cp ro/file rw/new' 'rm rw/kept' \
	'mv rw/kept rw/new' 'ln rw/kept rw/new' 'truncate -s 0 rw/kept' 'mkfifo rw/new'; do
	file rw/kept 'kept\n'
	# shellcheck disable=SC2086 # a command
	nested busybox $command
	[ "$STATUS" -ne 0 ] && [ ! -e rw/new ] && [ ! -h rw/new ] && [ "$(cat rw/kept)" = kept ]
	result $? "nobody does it for a program of the inner sandbox: $command"
done
nested busybox sh -c '(sleep 0.3; echo >rw/new) & exec true'
sleep 0.6
[ ! -e rw/new ]
result $? 'nor for one whose parent has gone'
launch -q -p outer.ini -- bash -c '"$1" -p inner.ini -- cat ro/file; echo x >rw/new; rm rw/new rw/kept' - "$LAUNCH"
exits 0 'what is outside of the inner sandbox goes on as before'
finish
