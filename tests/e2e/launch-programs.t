#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Real programs under their own profiles: what they do inside is what they do without a sandbox, and
# what is outside stays as it is.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# The same script in two copies of a folder, bare and in the sandbox: same output, same exit status.
same() # NAME COMMAND...
{
	local name=$1 bare

	shift
	rm -rf "$DIR/bare" "$DIR/boxed"
	cp -a "$DIR/work" "$DIR/bare"
	cp -a "$DIR/work" "$DIR/boxed"
	(cd "$DIR/bare" && "$@" >"$DIR/bare.out" 2>"$DIR/bare.err" </dev/null)
	bare=$?
	(cd "$DIR/boxed" && "$LAUNCH" --include bash,build,git,npm,python --home private -- "$@" >"$DIR/out" 2>"$DIR/err" </dev/null)
	STATUS=$?
	[ "$STATUS" -eq "$bare" ] && cmp -s "$DIR/bare.out" "$DIR/out"
	result $? "$name: same output and same exit status as bare"
	diff "$DIR/bare.out" "$DIR/out" | head -5 | sed 's/^/# /'
}

# -- each interpreter, and that it is really the one that was meant
launch -- node -e 'console.log(6 * 7)'
says out 42 'node works'
launch -- "$PYTHON" -c 'print(6 * 7)'
says out 42 'python3 works'
launch -- ruby -e 'puts 6 * 7'
says out 42 'ruby works'
launch -- bash -c 'echo $((6 * 7))'
says out 42 'bash works'
launch -- git --version
exits 0 'git works'
launch -- true
says err '' 'a program that starts well hears of no refusal'

# -- outside
secret=$DIR/outside/secret
file "$secret" 'secret\n'
launch -- cat "$secret"
exits 1 'what is outside cannot be read'
hasnt out secret 'and nothing of it comes out'
launch -- bash -c 'echo changed >"$1"' - "$secret"
exits 1 'nor written'
launch -- bash -c 'echo x >/etc/sbx-test; echo x >/usr/sbx-test; echo x >/usr/bin/sbx-test'
[ ! -e /etc/sbx-test ] && [ ! -e /usr/sbx-test ] && [ ! -e /usr/bin/sbx-test ]
result $? '/etc and /usr cannot be written'
mkdir -p "$DIR/outside/deep/er"
launch -- rm -rf "$DIR/outside"
[ "$(cat "$secret")" = secret ] && [ -d "$DIR/outside/deep/er" ]
result $? 'rm -rf of what is outside harms nothing'
file mine 'mine\n'
launch -- rm -rf "$DIR/outside" mine
[ ! -e mine ] && [ -e "$secret" ]
result $? 'and removes what is inside'
launch -- bash -c 'test -w "$TMPDIR" && echo x >"$TMPDIR/x" && cat "$TMPDIR/x" && echo "$TMPDIR" "$TMP" "$TEMP"'
exits 0 'the private tmp can be written'
tmp=$(sed -n 's/ .*//; 2p' "$DIR/out")
[ -n "$tmp" ] && [ ! -e "$tmp" ]
result $? 'and is gone afterwards'
launch --home private -- bash -c 'echo "$HOME"; cd && echo x >.profile && cat .profile'
exits 0 'a private home is a home, without protections'
home=$(head -1 "$DIR/out")
[ "$home" != "$HOME" ] && [ ! -e "$home" ]
result $? 'which is gone too'

# -- the same as bare
file hello.c '#include <stdio.h>\nint main(void) { puts("hello"); return 3; }\n'
file Makefile 'all: hello\n\nhello: hello.c\n\tcc -o hello hello.c\n'
same 'make of a C project' sh -c 'make -s && ./hello'
same 'a compiler that finds a mistake' sh -c 'echo "int main( {" >bad.c; gcc -c bad.c 2>/dev/null'
same 'git init, commit and log' bash -c 'export GIT_AUTHOR_DATE=2024-01-01T00:00:00Z GIT_COMMITTER_DATE=2024-01-01T00:00:00Z
	git init -q -b main r && cd r && echo a >a && git add a &&
	git -c user.name=n -c user.email=n@example.org commit -q -m first && git log --format="%H %s" && git status --short'
mkdir dep app
file dep/package.json '{ "name": "dep", "version": "1.0.0", "main": "index.js" }\n'
file dep/index.js 'module.exports = 42;\n'
(cd dep && npm pack --silent >/dev/null 2>&1)
file app/package.json '{ "name": "app", "version": "1.0.0", "dependencies": { "dep": "file:../dep-tree" } }\n'
cp -a dep dep-tree
same 'npm install from a folder' bash -c 'cd app && npm install --offline --no-audit --no-fund --silent && node -e "console.log(require(\"dep\"))"'
file app/package.json '{ "name": "app", "version": "1.0.0", "dependencies": { "dep": "file:../dep/dep-1.0.0.tgz" } }\n'
same 'npm install from a tarball' bash -c 'cd app && npm install --offline --no-audit --no-fund --silent && node -e "console.log(require(\"dep\"))"'
same 'python3 -m venv' bash -c "$PYTHON"' -m venv --without-pip v && v/bin/python -c "import sys; print(sys.prefix != sys.base_prefix)"'
same tar bash -c 'mkdir t && echo 1 >t/one && ln -s one t/two && tar cf t.tar t && rm -r t && tar xf t.tar && stat -c "%A %s %N" t t/*'
same 'four threads' "$PYTHON" -c 'import threading
out = []
def work(n):
    out.append(sum(range(n)))
threads = [threading.Thread(target=work, args=(n * 1000,)) for n in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sorted(out))'
same 'two hundred processes, one after the other' bash -c 'for i in $(seq 200); do /bin/echo $i; done'
same 'two hundred in parallel pipes' bash -c 'for i in $(seq 50); do (echo $i | cat | cat) & done | sort -n; wait'
same 'a script without a first line' bash -c 'printf "echo plain \$1\n" >s && chmod +x s && ./s arg'
same 'what reads standard input' cat
file script.sh '#!/bin/sh\necho script "$0" "$@"\nexit 9\n'
chmod +x script.sh
same 'a script by its first line' ./script.sh a 'b c'
file env.py '#!/usr/bin/env python3\nimport sys\nprint(len(sys.argv))\n'
chmod +x env.py
same 'a script by env' ./env.py 1 2
file plain 'echo "plain $1"\nexit 4\n'
chmod +x plain
launch -- ./plain x
says out 'plain x' 'a script without any first line is run by sh'
exits 4 'with its exit status'

# -- descriptors, umask, environment
exec 7<"$secret"
launch -- bash -c 'ls /proc/self/fd | wc -l; cat <&7' 2>/dev/null
hasnt out secret 'descriptors that we happen to have are closed'
launch --keep-fd 7 -- bash -c 'cat <&7'
says out secret 'but one that is to be kept'
exec 7<&-
launch -- sh -c 'umask'
says out 0022 'the umask is kept'
SECRET_TOKEN=s3cret NODE_OPTIONS=--inspect FOO=bar launch -- env
hasnt out s3cret 'a credential is not passed on'
hasnt out inspect 'nor what injects code'
hasnt out FOO= 'nor anything that is not safe'
FOO=bar launch --env FOO --env X=y -- env
has out FOO=bar 'a variable by name is'
has out X=y 'and one that is set'
launch -- sh -c 'sbx=$(dirname "$0"); "$sbx/sbx-policy" check read /etc/shadow' "$LAUNCH"
has out 'path is outside the sandbox' 'inside, sbx-policy knows the policy of the sandbox'

# As when root has it in its own folder.
if is_root; then
	copy_tested && mkdir -m 700 "$DIR/shut" && cp -a "$DIR/copy/build" "$DIR/shut/"
	run "$DIR/shut/build/bin/sbx-launch" -v --user=nobody -- sh -c 'id -u; cat none/key'
	has out "$NOBODY" 'a user who cannot get at the shim runs programs without it'
	hasnt err ld.so 'nobody else has to say so'
	has err "the program's user cannot read libsbx-shim.so" 'but the plan does'
fi

finish
