#!/bin/bash
# SPDX-License-Identifier: MIT
#
# hide: what a rule hides is not there, for whoever opens, looks, lists, or goes there; and what is
# beside it is. A folder with hidden files, seen from inside, must be like one that never had them,
# seen from outside.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir bin
for program in looks lists race; do
	cc -O1 -pthread -o "bin/$program" "$SBX_TOP/tests/e2e/hide/$program.c" &&
		cc -O1 -pthread -static -o "bin/$program-static" "$SBX_TOP/tests/e2e/hide/$program.c" || exit
done

make_tree() # FOLDER
{
	mkdir -p "$1/sub" "$1/deep/in" "$1/nosearch"
	file "$1/.env.example" 'example\n'
	file "$1/xenv" 'seen\n'
	file "$1/sub/xenv" 'seen, too\n'
	file "$1/deep/in/file" 'deep\n'
	file "$1/noread" 'n\n'
	file "$1/gone (deleted)" 'there\n'
	file "$1/secrets/f" 'beside\n'
	ln -s .env "$1/link"
	ln -s secret "$1/slink"
	ln -s secret/../xenv "$1/dots"
	ln -s xenv "$1/good"
	ln -s loop "$1/loop"
	mkfifo "$1/fifo"
	chmod 0 "$1/noread" "$1/nosearch"
}
make_tree with/ws
make_tree without/ws
cd with/ws || exit
file .env 'TOPSECRET 1\n'
file sub/.env 'TOPSECRET 2\n'
file deep/in/.env 'TOPSECRET 3\n'
ln -s ../xenv deep/.env
file secret/f 'TOPSECRET 4\n'
file secret/in/g 'TOPSECRET 5\n'
mkdir secret/.env
cp /bin/true secret/prog
mkfifo secret/fifo
cd ../.. || exit
find with -ls >"$DIR/before"
sums() { find with -name '*env*' -o -name '[fg]' -type f | sort | xargs cat | cksum; }
sums >"$DIR/sums"
file policy.ini '[sandbox]
include = bash, python, node, git
workspace = ./with/ws

[paths]
exec = ./bin
hide = ./with/ws/secret, with/**/.env
'
HERE=$PWD

inside() # COMMAND...
{
	launch -q -p "$HERE/policy.ini" "$@"
}

# Without rights, as the program has none.
bare() # COMMAND...
{
	if is_root; then
		setpriv --bounding-set=-all --inh-caps=-all "$@"
	else
		"$@"
	fi
}

# The same from inside, where something is hidden, as from outside, where nothing is.
alike() # NAME [OPTION... --] COMMAND...
{
	local name=$1 options=() saw

	shift
	case $1 in --*)
		while [ "$1" != -- ]; do
			options+=("$1")
			shift
		done
		shift
		;;
	esac
	(cd without/ws && bare "$@") >"$DIR/bare" 2>"$DIR/bare.err" </dev/null
	echo "exit $?" >>"$DIR/bare"
	cd with/ws && inside "${options[@]}" -- "$@" </dev/null
	cd ../..
	echo "exit $STATUS" >>"$DIR/out"
	sed -i 's,/without/ws,/with/ws,g' "$DIR/bare"
	cmp -s "$DIR/bare" "$DIR/out"
	saw=$?
	[ $saw -eq 0 ] || diff "$DIR/bare" "$DIR/out" | head -30 | sed 's/^/# /'
	result $saw "$name"
	! grep -q TOPSECRET "$DIR/out" "$DIR/err"
	result $? 'and nothing of it comes out'
}

# -- every call that looks, in every form of a path, as a program of each kind
long=$(printf 'x%.0s' {1..300})
paths=(.env sub/.env secret secret/f secret/in secret/in/g secret/none secret/f/x secret/.env secret/prog
	secret/fifo secret/../xenv secret/in/../../xenv secret/ .env/ ./.env .//secret//f link link/ slink
	slink/ slink/f dots deep/.env deep/in/.env .env/x "secret/$long"
	xenv xenv/ xenv/x .env.example secrets secrets/f sub sub/xenv sub/../xenv good good/ loop
	nosearch/x none none/x "$long" . ./ '' 'gone (deleted)')
forms=(/proc/self/cwd/xenv /proc/thread-self/cwd/sub /proc/self/fd/3/xenv /dev/fd/3/sub)
for kind in '' ' --no-shim' '-static' '-static --no-shim'; do
	# shellcheck disable=SC2086 # an option
	alike "bin/looks$kind: all looks are alike" ${kind#-static} -- "$HERE/bin/looks${kind%% *}" "${paths[@]}"
	[ "$(grep -vc '^$' "$DIR/out")" -gt 5000 ]
	result $? 'and there were many of them'
	says err '' 'and nothing is said'
done
for path in /proc/self/cwd/.env /proc/thread-self/cwd/secret /proc/self/fd/3/.env /dev/fd/3/secret/f \
	"$HERE/./with/ws/sub/../secret/f" "/proc/self/root$HERE/with/ws/.env" /proc/self/cwd/sub/../secret xenv/.env nosearch/.env; do
	cd with/ws && inside -- "$HERE/bin/looks" "$path" && cd ../.. || exit
	! grep -E "^$path (stat|lstat|newfstatat|statx|readlinkat|access|statfs|chdir|open|openat|execve|connect):" \
		"$DIR/out" | grep -qvE ': (ENOENT|EBADF|EINVAL)$'
	result $? "$path: is not there by any call"
done
# What no open can have is refused for that, before anybody looks whether something is there.
for kind in '' --no-shim; do
	# shellcheck disable=SC2086 # an option
	cd with/ws && inside $kind -- python3 -c 'import errno, os, sys
for path in sys.argv[1:]:
    for flags in (os.O_CREAT | os.O_DIRECTORY, os.O_CREAT | os.O_DIRECTORY | os.O_EXCL, os.O_TMPFILE):
        try: os.open(path, flags)
        except OSError as e: print(errno.errorcode[e.errno])' .env secret secret/f secret/none none/x && cd ../.. || exit
	[ "$(sort -u "$DIR/out")" = EINVAL ] && [ "$(wc -l <"$DIR/out")" -eq 15 ]
	result $? "${kind:-with the shim}: flags that go with no open tell nothing"
done
alike '/proc is seen as by itself' -- "$HERE/bin/looks" "${forms[@]}" 2>/dev/null
for look in 'readlink /proc/self/exe' 'stat -c %F%N /proc/self/exe /proc/self/fd/0 /dev/stdin' \
	'test -e /dev/stdin' 'cat <(echo passed)' 'echo x | cat /dev/stdin' 'cat /proc/self/comm' \
	'stat -L -c %F /proc/self/fd/0' 'readlink /proc/$$/cwd' \
	'stat -c %n /proc/self/ns/net' 'exec 5<xenv; rm xenv; stat -L -c %s /proc/self/fd/5; cat <&5' \
	'echo seen >xenv; pwd; cd sub; pwd; cd ..; pwd; df . >/dev/null'; do
	alike "bash: $look" bash -c "$look"
done
inside -- bash -c 'readlink /proc/$PPID/cwd /proc/$PPID/exe'
exits 1 'what others are at is not told'

# -- real programs
alike 'ls' ls -aR1
alike 'ls of one' ls -l .env secret
(cd with/ws && inside -- ls -l && grep '^sbx' "$DIR/err") >&2
[ $? -eq 1 ]
result $? 'and nothing is said of folders that libraries walk through to look up owners'
alike 'busybox ls' busybox ls -aR1
alike 'busybox find' busybox find . -type f
alike 'find' find . -type f -o -type d
alike 'bash: globs' bash -c 'shopt -s globstar dotglob; echo ** .* */.env s* sec*'
alike 'bash: tests' bash -c 'for f in .env secret sub/.env link deep/.env xenv .env.example; do
	for t in e f d r w x L s h; do test -$t $f; echo $f $t $?; done; done'
alike 'stat' stat -c '%n %s' xenv .env
alike 'readlink' readlink -f .env xenv secret/f link
alike 'realpath' realpath -e .env secret xenv good
alike 'cat' cat .env secret/f xenv link
alike 'grep' grep -rs TOP . --exclude=fifo
alike 'du' du -a --apparent-size deep/in/file .env
alike 'wc' wc -c .env xenv
alike 'python: os' "$PYTHON" -c 'import os, glob, pathlib
print(sorted(os.listdir(".")), sorted(e.name for e in os.scandir(".")))
for d, ds, fs in os.walk("."): print(d, sorted(ds), sorted(fs))
for p in (".env", "secret", "secret/f", "xenv", "link", ".env.example"):
    print(p, os.path.exists(p), os.path.lexists(p), os.path.isfile(p), os.path.isdir(p), os.access(p, os.R_OK))
print(sorted(glob.glob("**", recursive=True)), sorted(map(str, pathlib.Path(".").rglob(".env*"))))
d = os.open(".", os.O_RDONLY)
print(sorted(os.listdir(d)))
for f in (lambda: os.stat(".env", dir_fd=d), lambda: os.open("secret/f", os.O_RDONLY, dir_fd=d),
          lambda: os.readlink(".env", dir_fd=d), lambda: open(".env"), lambda: os.listdir("secret"),
          lambda: os.chdir("secret"), lambda: os.statvfs("secret"), lambda: os.truncate(".env", 0),
          lambda: os.remove(".env"), lambda: os.rmdir("secret/in"), lambda: os.rename(".env", "y"),
          lambda: os.link(".env", "y"), lambda: os.link("secret/f", "f2"), lambda: os.execv("secret/prog", ["x"])):
    try: print(f())
    except OSError as e: print(e)'
alike 'node: fs' node -e 'const fs = require("fs"); const show = (f) => { try { console.log(f()) } catch (e) { console.log(e.code) } };
for (const p of [".env", "secret", "xenv", "secret/f"]) {
	console.log(p, fs.existsSync(p)); show(() => fs.statSync(p).size); show(() => fs.readFileSync(p, "utf8"));
	show(() => fs.realpathSync(p)); show(() => fs.accessSync(p)) }
console.log(fs.readdirSync(".").sort(), fs.readdirSync(".", {withFileTypes: true}).map(e => e.name).sort());
console.log(fs.readdirSync(".", {recursive: true}).sort())'
alike 'cp -r' bash -c 'cp -r sub deep secrets "$TMPDIR"/ && cp -r secret .env "$TMPDIR"; cd "$TMPDIR" && find sub deep secrets | sort; rm -r sub deep secrets'
alike 'tar' bash -c 'tar cf - --exclude=fifo --exclude=nosearch --exclude=noread . 2>/dev/null | tar tf - | sort'
alike 'mv' bash -c 'mv sub/xenv sub/y && mv sub/y sub/xenv && cat sub/xenv'
for side in with without; do
	(cd "$side/ws" && git init -q . && printf 'no*\nfifo\n' >.git/info/exclude) || exit
done
alike 'git status' bash -c 'HOME=$TMPDIR git status --porcelain -uall | grep -v warning'
rm -rf with/ws/.git without/ws/.git
sums | cmp -s - "$DIR/sums"
result $? 'all is as it was'

# -- nothing is made where something hidden is or could be
made() # NAME COMMAND
{
	local option

	for option in '' --no-shim; do
		cd with/ws && inside ${option:+"$option"} -- bash -c "$2" && cd ../.. || exit
		[ "$STATUS" -ne 0 ] && grep -q 'No such file or directory' "$DIR/err"
		result $? "$1 $option: is refused as if its folder were missing"
	done
}
for name in .env secret secret/new secret/.env none/.env sub/.env deep/.env; do
	made "to write $name" "echo x >$name"
	made "mkdir $name" "mkdir $name"
	made "ln -s $name" "ln -s xenv $name"
	made "ln $name" "ln xenv $name"
	made "mv to $name" "mv xenv $name"
	made "mv a folder to $name" "mv -T secrets $name"
	made "mkfifo $name" "mkfifo $name"
	made "rm $name" "rm $name"
	made "chmod $name" "chmod 777 $name"
	made "touch $name" "touch -c -d 1999-01-01 $name && test -e $name || chown +1 $name"
done
made 'to exchange' "$PYTHON"' -c "import ctypes, os; l = ctypes.CDLL(None, use_errno=True)
if l.renameat2(-100, b\"xenv\", -100, b\".env\", 2): raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))"'
made 'O_EXCL' "$PYTHON"' -c "import os; os.open(\".env\", os.O_CREAT | os.O_EXCL | os.O_RDWR)"'
made 'a socket' "$PYTHON"' -c "import socket; socket.socket(socket.AF_UNIX).bind(\".env\")"'
made 'a link to it' 'ln -s .env l2; cat l2; s=$?; rm l2; exit $s'
made 'a way through it' 'ln -s secret/../xenv l2; cat l2; s=$?; rm l2; exit $s'
made 'by a link of its folder' 'ln -s "$PWD" l2; cat l2/.env; s=$?; rm l2; exit $s'
inside --workdir=with/ws -- bash -c 'echo a >.env.local && echo b >env && mkdir .environment && mv env .envx && rm -r .env.local .environment .envx'
exits 0 'what is beside it can be made'
says err '' 'in silence'
inside --workdir=with/ws -- bash -c 'mv deep deep2 && cat deep2/in/.env; mv deep2 deep'
hasnt out TOPSECRET 'a folder that is moved takes along what is hidden in it'
inside --workdir=with/ws -- bash -c 'mv with/ws x 2>/dev/null; rm -rf sub 2>/dev/null; test -e sub'
exits 0 'a folder with something hidden in it is not removed'
mkdir -p with/ws/sub
file with/ws/sub/xenv 'seen, too\n'
sums | cmp -s - "$DIR/sums"
result $? 'all is as it was'

# -- who exchanges the path meanwhile
size=12345 times=${SBX_ATTACK_TIMES:-1500}
{ echo TOPSECRET && head -c $((size - 10)) /dev/zero; } >with/ws/.env
cp with/ws/.env with/ws/secret/f
mkdir with/ws/secrex
file with/ws/secrex/f 'seen\n'
file with/ws/secrex/seen ''
file with/ws/xenv 'seen\n'
for kind in '' -static; do
	cd with/ws && inside -- "$HERE/bin/race$kind" ./xenv ./.env $size "$times"
	exits 0 "bin/race$kind: $times races for a file are lost"
	inside -- "$HERE/bin/race$kind" secrex secret $size "$times"
	exits 0 "bin/race$kind: $times races for a folder are lost"
	cd ../.. || exit
done
rm -r with/ws/secrex
file with/ws/.env 'TOPSECRET 1\n'
file with/ws/secret/f 'TOPSECRET 4\n'

# -- the same without Landlock
for command in 'cat .env' 'cat secret/f' 'stat .env' 'ls secret' 'cat link' 'cat secret/../xenv' 'mkdir .env' 'rm .env'; do
	cd with/ws && inside --enforce=seccomp -- bash -c "$command" && cd ../.. || exit
	[ "$STATUS" -ne 0 ] && grep -q 'No such file or directory' "$DIR/err" && [ ! -s "$DIR/out" ]
	result $? "without Landlock: $command"
done
alike 'without Landlock: find' --enforce=seccomp -- find . -type f
alike 'without Landlock: all looks' --enforce=seccomp -- "$HERE/bin/looks-static" .env secret secret/f secret/../xenv link dots
cd with/ws && inside --enforce=seccomp -- "$HERE/bin/race" ./xenv ./.env 12 "$times"
exits 0 'without Landlock: races are lost'
cd ../.. || exit

# -- listings: exactly the others, whatever fits
mkdir with/ws/many
(cd with/ws/many && seq -f 'n%.0f' 1 9000 | xargs touch && seq -f 'd%.0f' 1 500 | xargs mkdir &&
	for i in $(seq 1 500); do echo "d$i/.env"; done | xargs touch && touch .env && seq -f 's%.0f' 1 500 | xargs touch)
sed -i 's,^hide.*,&\, with/ws/many/s*,' policy.ini
{ echo . && echo .. && seq -f 'n%.0f' 1 9000 && seq -f 'd%.0f' 1 500; } | sort >"$DIR/expected"
for kind in '' -static; do
	for size in 40 64 280 1024 4096 32768 1048576; do
		inside -- "$HERE/bin/lists$kind" many "$size"
		grep -v '^!' "$DIR/out" | sort | cmp -s - "$DIR/expected"
		result $? "lists$kind: 10,000 entries by $size bytes are exactly the others"
		[ "$(grep '^!' "$DIR/out" | tr '\n' ' ')" = '!EFAULT !1 !-1 !-1 ' ]
		result $? 'and errors are as ever'
	done
	inside -- "$HERE/bin/lists$kind" many 16
	has out '!EINVAL' "lists$kind: what does not fit is said"
	inside -- "$HERE/bin/lists$kind" many/d7 4096
	[ "$(grep -v '^!' "$DIR/out" | sort | tr '\n' ' ')" = '. .. ' ]
	result $? "lists$kind: a folder where all is hidden is empty"
done
rm -rf with/ws/many
sed -i 's/, with.ws.many.*//' policy.ini

# -- what is said of it
cd with/ws || exit
launch -q -p ../../policy.ini -- cat .env
says err 'cat: .env: No such file or directory' '-q: nothing is said'
launch -p ../../policy.ini -- cat .env
has err '1 × read hidden' 'the summary has it'
hasnt err 'path is hidden' 'and nothing else'
launch -v -p ../../policy.ini -- cat .env
has err "sbx: Cannot read '.env' ($HERE/with/ws/.env): path is hidden." '-v says it'
has err 'policy.ini:7 hide = with/**/.env' 'and by which rule'
launch -q -p ../../policy.ini --log="$DIR/log" -- bash -c 'test -e .env; test -e none/.env; test -e a.env'
[ "$(grep -c '"code":"hidden"' "$DIR/log")" -eq 1 ]
result $? 'the log has what is there, and not what is not'
grep -q '"errno":"ENOENT"' "$DIR/log"
result $? 'with its errno'
launch -p ../../policy.ini -- bash -c 'test -e none/.env; test -e sub/none'
says err '' 'a probe of what does not exist says nothing'
cd ../.. || exit
launch --dry-run -p policy.ini -- true
has out 'hidden names' '--dry-run says what it costs'
launch --dry-run --workspace=with/ws -- true
hasnt out 'hidden names' 'and does not where nothing is hidden'

# -- what tells nothing by the errno of something else, and what is said
file policy3.ini '[sandbox]
include = bash, python
workspace = ./with/ws

[paths]
hide = ./with/ws/secret, with/**/.env
read = with/**/.env/g
write = ./with/ws/secret/in/g
deny = ./with/ws/secrets

[path small]
root = ./with/ws/deep
mode = rw
max_file_bytes = 2
'
cat >calls.py <<'END_OF_PYTHON'
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def say(name, result):
    print(name, "done" if result >= 0 else errno.errorcode[ctypes.get_errno()])
def rename(a, b): return libc.renameat2(-100, a, -100, b, 0)
for to in b"secret/in/x", b"secret/none/x", b"secret/f/x":
    say("rename", rename(b"sub/.", to))
r, w = os.pipe()
for to in b"secret/f", b"secret/none", b".env":
    say("link", libc.linkat(-100, b"/proc/self/fd/%d" % r, -100, to, 0x400))
for path in b".env/g", b"xenv/../.env/g", b"none/.env/g":
    say("open", libc.open(path, 0))
say("remove", libc.remove(b"secret/in/g"))
try: socket.socket(socket.AF_UNIX).bind("secret/in/new")
except OSError as e: print("bind", errno.errorcode[e.errno])
say("O_PATH", libc.open(b"secrets", os.O_PATH))
say("truncate", libc.truncate(b"secrets/f", 0))
say("size", libc.open(b"deep/in/file", 0))
END_OF_PYTHON
for kind in '' --no-shim; do
	rm -f "$DIR/log"
	launch -q -p policy3.ini --log="$DIR/log" ${kind:+"$kind"} -- "$PYTHON" -c "$(cat calls.py)"
	says out "$(printf '%s\n' 'rename ENOENT' 'rename ENOENT' 'rename ENOENT' 'link ENOENT' 'link ENOENT' 'link ENOENT' \
		'open ENOENT' 'open ENOENT' 'open ENOENT' 'remove ENOENT' 'bind ENOENT' 'O_PATH EACCES' 'truncate EACCES' 'size EFBIG')" \
		"${kind:-with the shim}: no other path, and no file on the way, tells what is hidden"
	for event in 'delete","code":"hidden' 'bind","code":"hidden' 'list","code":"denied' 'write","code":"denied' 'read","code":"size'; do
		grep -q "\"op\":\"$event\"" "$DIR/log"
		result $? "${kind:-with the shim}: it is said: $event"
	done
done

# Landlock knows a file by its other name, too; but openat2 never goes on to it.
file with/first 'one\n'
ln with/first with/second
file policy3.ini '[sandbox]
include = python
protect = no

[paths]
write = ./with/first
hide = ./with/ws/secret
'
launch -q -p policy3.ini -- "$PYTHON" -c 'import ctypes, os
how = (ctypes.c_uint64 * 3)(os.O_WRONLY, 0, 0)
print(ctypes.CDLL(None).syscall(437, -100, b"with/second", how, 24))'
says out -1 'openat2 of a second name is refused'
has err "Cannot write to 'with/second'" 'in words'
rm with/first with/second calls.py policy3.ini

# -- options, and what cannot be held
launch -q --workspace=with/ws --hide=with/ws/sub -- ls . sub
has err "cannot access 'sub': No such file" '--hide hides'
has out secrets 'and nothing else'
launch -q --workspace=with/ws --hide=with/ws/none -- mkdir none none2
has err "'none': No such file" 'also what does not exist yet'
rmdir with/ws/none2
result $? 'and what is beside it can be made'
file nested.ini "[sandbox]\ninclude = bash\nworkspace = ./with/ws\n[paths]\nexec = $SBX_BUILD\n"
launch -q -p nested.ini -- "$LAUNCH" -q --include=bash --workspace=. --hide=./sub -- true
exits 125 'inside another sandbox it is refused'
has err "'hide = ./sub' cannot be enforced: names are hidden by the supervisor" 'and why'

# -- O_PATH is asked as if it were read, by the size that a file has
file sized.ini '[sandbox]
include = python

[path with]
root = ./with
mode = ro
max_file_bytes = 1000

[paths]
hide = ./with/none
'
head -c 5000 /dev/zero >with/large
launch -q -p sized.ini -- python3 -c 'import os; os.open("with/large", os.O_PATH)'
has err "sbx: Cannot read 'with/large' ($PWD/with/large): file too large (5000 bytes)." 'a large file is refused by its size'
has err 'max_file_bytes = 5000' 'and what would allow it is said'
rm with/large

# -- /proc tells the program of itself, with processes of its own, too
file alone.ini '[sandbox]
include = bash, python, node
workspace = ./with/ws

[paths]
hide = ./with/ws/secret
'
alone() # COMMAND...
{
	launch -q -p alone.ini "--isolate=$isolate" --workdir=with/ws "$@"
}
for isolate in full auto none; do
	alone -- true
	[ "$STATUS" -eq 0 ] || continue
	for way in '' --no-shim; do
		how=", ${way:-with the shim}, isolate = $isolate"
		alone ${way:+"$way"} -- bash -c 'readlink /proc/self/cwd /proc/$$/cwd; readlink /proc/self/exe; realpath /proc/self/cwd/xenv'
		says out "$(printf '%s\n' "$HERE/with/ws" "$HERE/with/ws" "$(readlink -f "$(type -P readlink)")" "$HERE/with/ws/xenv")" \
			"links below /proc are read$how"
		alone ${way:+"$way"} -- bash -c '{ echo out >/dev/stdout; (echo err >/dev/stderr) 2>&1; echo in | cat /dev/stdin; } | cat'
		says out "$(printf '%s\n' out err in)" "and followed$how"
		alone ${way:+"$way"} -- "$PYTHON" -c 'import os; print(os.readlink("/proc/self") == str(os.getpid()), os.stat("/proc/self/").st_ino == os.stat("/proc/%d" % os.getpid()).st_ino)'
		says out 'True True' "/proc/self is the program's own$how"
		if [ -n "$(command -v node)" ]; then
			alone ${way:+"$way"} -- node -p process.execPath
			says out "$(readlink -f "$(command -v node)")" "node finds itself$how"
		fi
		alone ${way:+"$way"} -- bash -c '(exec sleep 5) & readlink /proc/$!/cwd; kill $!'
		says out "$HERE/with/ws" "a child is looked at$how"
		alone ${way:+"$way"} -- bash -c 'for who in 1 $PPID; do readlink /proc/$who/cwd /proc/$who/exe /proc/$who/fd/0 /proc/$who/root; done'
		says out '' "and who is above is not$how"
		alone ${way:+"$way"} -- bash -c 'cat /proc/self/cwd/secret/f /proc/$$/cwd/secret/f'
		has err 'No such file' "what is hidden stays so$how"
	done
done

# -- hidden in hidden, and shown again
file policy2.ini '[sandbox]
include = bash
workspace = ./with/ws

[paths]
hide = ./with/ws/secret, ./with/ws/secret/in
read = ./with/ws/secret/in/g
'
launch -q -p policy2.ini --workdir=with/ws -- bash -c 'cat secret/in/g; cat secret/f; ls secret; ls secret/in; stat -c %s secret/in/g; stat secret/in'
says out "$(printf 'TOPSECRET 5\n12')" 'what a deeper rule gives back can be used by its name'
find with -ls | awk '{print $3, $5, $6, $NF}' >"$DIR/after"
awk '{print $3, $5, $6, $NF}' "$DIR/before" | sort >"$DIR/was"
[ "$(awk '{print $NF}' "$DIR/was" | sort)" = "$(awk '{print $NF}' "$DIR/after" | sort)" ]
result $? 'nothing was left behind, and nothing is gone'

finish
