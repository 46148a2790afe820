#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sbx-launch in the place of something else: as a wrapper in front of a tool, as a shell, as the first
# line of a script, as a prefix. Whoever calls it so sees the program, and not the sandbox; and nothing
# that the caller's environment says takes the sandbox away.
# shellcheck source=tests/e2e/lib.sh disable=SC2016 # '$' is for the shells inside
. "${SBX_TOP:-.}/tests/e2e/lib.sh"
LAUNCH=$SBX_BUILD/bin/sbx-launch
BARE=$PATH

launch() { run "$LAUNCH" "$@"; }

# A tool whose argv[0], arguments, streams and end can be asked for: a shell under another name.
mkdir "$DIR/tools" "$DIR/bin" "$DIR/other bin" "$DIR/it's policies"
ln -s "$(command -v bash)" "$DIR/tools/tool"
printf '[sandbox]\ninclude = bash\nworkspace = ${workdir}\n' >"$DIR/it's policies/tool.ini"
echo secret >"$DIR/secret"
export PATH=$DIR/bin:$DIR/tools:$BARE
cd "$DIR/work" || exit

# Writing one.
launch --wrap tool -p "../it's policies/tool.ini" -o ../bin
is 0 '--wrap writes a wrapper'
says out '' 'and says nothing about it'
[ "$(wc -l <../bin/tool)" -eq 2 ] && [ "$(head -n 1 ../bin/tool)" = '#!/bin/sh' ]
result $? 'it has two lines, for sh'
[ "$(stat -c %a ../bin/tool)" = 755 ] && [ "$(ls ../bin)" = tool ]
result $? 'anybody may execute it, and nothing lies beside it'
launch --wrap tool -p "../it's policies/tool.ini" -o ../bin --memory 1G --no-protect -q \
	--env "WORDS=it's \$HOME; echo * \`id\`" --name 'two words' --output 5M --complain=paths --dry-run
is 0 '--dry-run shows the wrapper'
for word in "'$SBX_BUILD/bin/sbx-launch'" "-p '$DIR/work/../it'\\''s policies/tool.ini'" "'--memory=1G'" \
	"'--no-protect'" "'-q'" "'--name' 'two words'" "'--output=5M'" "'--complain=paths'" \
	"'--env=WORDS=it'\\''s \$HOME; echo * \`id\`'" "-- 'tool' \"\$@\""; do
	has out "$word" "with $word in it"
done
! grep -q memory ../bin/tool
result $? 'and leaves what is there alone'
launch --wrap tool -p "../it's policies/tool.ini" -o ../bin --env "WORDS=it's \$HOME; echo *"
is 0 'a wrapper may be written anew'
[ "$(tool -c 'echo "$WORDS"')" = "it's \$HOME; echo *" ]
result $? 'and its options reach the run as they were written'

# As if it were not there.
run tool -c 'echo "$0"'
says out tool 'the tool is called by its own name'
run tool -c 'printf "%s|" "$@"' x 'a b' '' '*' "it's" $'two\nlines' -v --help
says out $'a b||*|it\'s|two\nlines|-v|--help|' 'every argument arrives as it was given'
run tool -c 'cat; echo error >&2' <<<input
says out input 'standard input and output are its own'
says err error 'and so is standard error'
for status in 0 1 7 125 255; do
	run tool -c "exit $status"
	[ "$STATUS" -eq "$status" ] && [ ! -s "$DIR/err" ]
	result $? "exit status $status is passed on"
done
run tool -c 'kill -TERM $$'
[ "$STATUS" -eq 143 ]
result $? 'a signal that ends the tool is seen as a shell shows it'
[ "$(tool -c 'echo $PWD')" = "$PWD" ]
result $? 'it works where it is called'
run "$PYTHON" -c 'import os, signal, subprocess, sys
def run(number, text):
    p = subprocess.Popen(["tool", "-c", text], stdout=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    p.stdout.readline()
    p.send_signal(number)
    rest = p.stdout.read().decode()
    print(p.wait(), rest.strip())
run(signal.SIGINT, "echo; exec sleep 20")
run(signal.SIGTERM, "trap \"echo caught; exit 3\" TERM; echo; while :; do sleep 0.1; done")'
says out $'-2 \n3 caught' 'signals reach the tool, and Ctrl-C ends the wrapper as it ends the tool'
if command -v script >/dev/null; then
	run script -qec "tool -c 'test -t 0 && test -t 1 && test -t 2 && stty -a | grep -o isig'" \
		/dev/null </dev/null
	grep -q isig "$DIR/out"
	result $? 'the terminal is its own'
fi

# And yet it is.
run tool -c "cat ../secret"
[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ]
result $? 'what the policy does not allow is refused'
[ "$(PATH=$DIR/tools:$BARE tool -c 'cat ../secret')" = secret ]
result $? 'which the bare tool could do'
mkdir inner
(cd inner && ../../bin/tool -c 'echo "$0" >x; echo y >../y') >"$DIR/out" 2>"$DIR/err"
[ "$(cat inner/x)" = tool ] && [ ! -e y ]
result $? 'a wrapper called by a relative path finds its tool, and the workdir is where it is called'

# The caller's environment says that this is a sandbox already, and it is not.
run tool -c 'cat "$SANDBOX_SBX_IMAGE" >image'
[ -s image ]
result $? 'a program inside can read its own compiled policy'
mv image ../image
export SANDBOX_SBX_IMAGE=$DIR/image
run tool -c 'cat ../secret'
[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ]
result $? 'the variable alone does not switch the sandbox off'
run setpriv --no-new-privs tool -c 'cat ../secret'
[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ]
result $? 'nor with no_new_privs'
# A filter that allows everything, as containers and services have one of their own.
cat >"$DIR/filtered.py" <<'END'
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 1, ctypes.addressof(allow)))
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
    sys.exit(99)
os.execvp(sys.argv[1], sys.argv[1:])
END
run "$PYTHON" "$DIR/filtered.py" "$DIR/tools/tool" -c 'grep -E "NoNewPrivs|Seccomp:" /proc/self/status; cat ../secret'
says out $'NoNewPrivs:\t1\nSeccomp:\t2\nsecret' 'a program under a filter of somebody else reads it'
run "$PYTHON" "$DIR/filtered.py" tool -c 'cat ../secret'
[ "$STATUS" -ne 0 ] && [ "$STATUS" -ne 99 ] && [ ! -s "$DIR/out" ]
result $? 'and a wrapper there is a sandbox still, whatever the variable says'
unset SANDBOX_SBX_IMAGE

# A wrapper that is met inside a sandbox.
cat >"$DIR/outer.ini" <<END
[sandbox]
include = bash
workspace = \${workdir}
[paths]
exec = "$DIR/bin", "$DIR/other bin", "$DIR/tools", "$LAUNCH"
END
# AddressSanitizer wants more address space than a sandbox has, so that one cannot be met there.
if [ "${SBX_VARIANT:-release}" != asan ]; then
	count='grep Seccomp_filters /proc/self/status'
	launch -p "$DIR/outer.ini" -- bash -c "type -p tool; $count; tool -c '$count'"
	[ "$STATUS" -eq 0 ] && [ "$(sed -n 1p "$DIR/out")" = "$DIR/bin/tool" ] &&
		[ "$(wc -l <"$DIR/out") $(sed 1d "$DIR/out" | uniq -d | wc -l)" = '3 1' ]
	result $? 'a wrapper inside a sandbox does not nest'
	launch -p "$DIR/outer.ini" -- bash -c 'tool -c "echo \$0 \$1; exit 4" - arg'
	[ "$STATUS" -eq 4 ] && [ "$(cat "$DIR/out")" = '- arg' ]
	result $? 'and passes arguments and exit status on'
	launch -p "$DIR/outer.ini" -- bash -c 'tool -c "cat ../secret || echo refused"'
	says out refused 'the policy that holds already goes on to hold'
fi
launch -p "$DIR/outer.ini" -- bash -c 'env -u SANDBOX_SBX_IMAGE tool -c "cat ../secret"'
[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ]
result $? 'leaving the variable out opens nothing'
launch -p "$DIR/outer.ini" -- tool -c 'echo "$0"'
says out tool 'sbx-launch itself looks past wrappers too'

# More than one.
launch --wrap tool -p "../it's policies/tool.ini" -o '../other bin' -q
is 0 'a tool may have two wrappers'
PATH="$DIR/bin:$DIR/other bin:$DIR/tools:$BARE" run timeout 20 tool -c 'echo "$0"'
says out tool 'they do not call each other'
if [ "${SBX_VARIANT:-release}" != asan ]; then
	PATH="$DIR/bin:$DIR/other bin:$DIR/tools:$BARE" run timeout 20 "$LAUNCH" -p "$DIR/outer.ini" -- \
		bash -c 'tool -c "echo \$0"'
	says out tool 'inside a sandbox neither'
fi
cp ../bin/tool '../other bin/copied'
ln -s ../bin/tool '../other bin/linked'
PATH="$DIR/bin:$BARE:$DIR/tools" run "$DIR/other bin/copied" -c 'echo "$0"'
says out tool 'a copy under another name runs the tool'
PATH="$DIR/bin:$BARE:$DIR/tools" run "$DIR/other bin/linked" -c 'echo "$0"'
says out tool 'and so does a link'
rm -rf '../other bin'/*
PATH="$DIR/bin:$BARE" run tool -c true
[ "$STATUS" -eq 127 ] && [ ! -s "$DIR/out" ]
result $? 'a wrapper without a tool behind it says so'
has err "'tool' was not found in PATH behind its wrapper '$DIR/bin/tool'" 'by name'

# The engine looks past wrappers as well: a profile must not open the folder they are kept in.
printf '[sandbox]\n[paths]\nexec = ${program:tool}, ${prefix:tool} ?\n' >profile.ini
sbx show -p profile.ini
has out "$(readlink -f "$(command -v bash)")" '${program:NAME} is the program behind a wrapper'
hasnt out "$DIR/bin" 'and not the wrapper'

# What is not written.
echo mine >'../other bin/tool'
launch --wrap tool -o '../other bin'
is 125 'what is there and no wrapper is not replaced'
says err "sbx-launch: '../other bin/tool' is there already, and is no wrapper (remove it, or choose another folder)" \
	'and named'
[ "$(cat '../other bin/tool')" = mine ] && [ "$(ls '../other bin')" = tool ]
result $? 'it is as it was, and nothing lies beside it'
ln -sf "$DIR/bin/tool" '../other bin/tool'
launch --wrap tool -o '../other bin'
is 125 'nor is a link'
rm '../other bin/tool'
mkdir '../other bin/tool'
launch --wrap tool -o '../other bin'
is 125 'nor a folder'
rmdir '../other bin/tool'
refused() # STATUS TEXT NAME OPTION...
{
	launch "${@:4}"
	is "$1" "$3"
	has err "$2" 'by one clear line'
	[ "$(wc -l <"$DIR/err")" -eq 1 ] && [ -z "$(ls '../other bin')" ]
	result $? 'and nothing is written'
}
refused 127 "'no-such-tool' was not found in PATH" 'a tool that is not there is refused' \
	--wrap no-such-tool -o '../other bin'
refused 125 "'../none' is not a folder" 'a folder that is not there is refused' --wrap tool -o ../none
refused 125 "'profile.ini' is not a folder" 'a file is no folder' --wrap tool -o profile.ini
refused 2 '--wrap needs -o and a folder' '-o is needed' --wrap tool
refused 2 '-o needs --wrap' 'and means nothing by itself' -o '../other bin' -- true
refused 2 '--wrap takes no command' 'a command is too much' --wrap tool -o '../other bin' -- true
refused 2 '--wrap takes the name of a tool' 'a tool is a name, not a path' \
	--wrap ./tool -o '../other bin'
refused 2 '--wrap takes the name of a tool' 'and not nothing' --wrap '' -o '../other bin'
refused 125 "cannot read the policy 'none.ini': No such file or directory" 'a policy must be there' \
	--wrap tool -p none.ini -o '../other bin'
refused 125 'standard input belongs to the wrapped tool' 'and be a file' \
	--wrap tool -p - -o '../other bin'
refused 125 "--include './more.ini' would be another file in every folder" \
	'what is included must not depend on the folder' \
	--wrap tool --include 'git, ./more.ini' -o '../other bin'
refused 125 "--include 'more.ini' would be another file in every folder" 'also without a slash' \
	--wrap tool --include more.ini -o '../other bin'
if ! is_root; then
	chmod 555 '../other bin'
	refused 125 "cannot write '../other bin/tool': Permission denied" 'a folder must be writable' \
		--wrap tool -o '../other bin'
	chmod 755 '../other bin'
fi

# Where nobody would meet it.
launch --wrap tool -o '../other bin'
[ "$STATUS" -eq 0 ] && [ -x '../other bin/tool' ]
result $? 'a wrapper outside of PATH is written'
has err "warning: '../other bin' is not in PATH" 'with a warning'
PATH="$DIR/tools:$DIR/other bin:$BARE" launch --wrap tool -o '../other bin'
has err "warning: PATH leads to '$DIR/tools/tool' first (put '../other bin' before it)" \
	'and so is one behind the tool'
PATH="$DIR/tools:$DIR/other bin:$BARE" launch --wrap tool -o '../other bin' -q
is 0 'which -q leaves out'

# As a shell.
run "$LAUNCH" -q -c 'echo "$0 $1"; exit 5' name arg
[ "$STATUS" -eq 5 ] && [ "$(cat "$DIR/out")" = 'name arg' ]
result $? '-c runs a text as sh does'
run "$LAUNCH" -q -l -c 'cat ../secret'
[ "$STATUS" -ne 0 ] && [ ! -s "$DIR/out" ]
result $? 'inside the sandbox, also with -l'
printf 'all:\n\t@echo made; cat ../secret || echo refused\n' >Makefile
if command -v make >/dev/null; then
	run make SHELL="$LAUNCH"
	says out $'made\nrefused' 'make takes it as its shell'
fi
if command -v script >/dev/null; then
	SHELL=$LAUNCH run script -qc 'echo hello; cat ../secret' /dev/null </dev/null
	grep -q hello "$DIR/out" && ! grep -q '^secret' "$DIR/out"
	result $? 'and so does what asks SHELL'
fi
if command -v npm >/dev/null; then
	echo '{"scripts":{"ask":"node -p 6*7; cat ../secret || echo refused"}}' >package.json
	npm config set script-shell "$LAUNCH" >/dev/null 2>&1
	run npm run --silent ask
	says out $'42\nrefused' 'npm takes it as its script-shell'
	npm config delete script-shell >/dev/null 2>&1
fi
launch --wrap sh -p "../it's policies/tool.ini" -o '../other bin' -q --env WHERE=wrapped
SHELL="$DIR/other bin/sh" run bash -c '"$SHELL" -c "echo \$WHERE; cat ../secret || echo refused"'
says out $'wrapped\nrefused' 'a wrapper of sh is a shell under a policy'

# As the first line of a script.
printf '[sandbox]\nworkspace = %s\n' "\"$PWD\"" >"$DIR/node.ini"
printf '#!/usr/bin/env -S %s -p %s -- bash\necho "$1"; cat ../secret || echo refused\n' \
	"$LAUNCH" "$DIR/node.ini" >script
chmod +x script
run ./script arg
says out $'arg\nrefused' 'a script may begin with it'

# As a prefix.
prefix="$LAUNCH -p $DIR/node.ini --"
# shellcheck disable=SC2086 # a prefix is several words
run $prefix bash -c 'echo "$@"; cat ../secret || echo refused' - a 'b  c'
says out $'a b  c\nrefused' 'an agent may put it before each command'
export PATH=$BARE
finish
