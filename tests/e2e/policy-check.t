#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sbx-policy check, why, resolve and compile: the answers, how they are given, and what comes of
# questions that make no sense.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# -- the portfolio example, as the manual shows it
cp -r "$SBX_TOP/examples/portfolio" portfolio && cd portfolio || exit
sbx check -p policy.ini read /etc/passwd
is 1 'the example refuses /etc/passwd'
says out "sbx: Cannot read '/etc/passwd': path is outside the sandbox.
sbx:   Readable paths: ./portfolio, ./pipeline, ./framework (and the system files of profile 'node')
sbx:   By: no rule matches; policy.ini decides.
sbx:   To allow it, the user can add to [paths] in policy.ini: read = /etc/passwd" 'in four lines'
sbx check --json -p policy.ini read /etc/passwd
is 1 'and as JSON'
json 'which is valid'
json_is 'j["v"] == 1 and j["verdict"] == "refused" and j["op"] == "read" and j["code"] == "outside" and
	j["path"] == "/etc/passwd" and j["errno"] == "EACCES" and j["rule"] is None and
	"./pipeline" in j["allowed"] and j["suggest"] == "read = /etc/passwd" and
	j["message"].count("\n") == 4' 'and says the same'
cd .. || exit
sbx check -p portfolio/policy.ini read /etc/passwd
has out "Readable paths: $PWD/portfolio/portfolio, " 'from elsewhere, its roots are absolute'

# -- a policy of our own
mkdir -p data/raw out secret bin
echo 1 >data/a.csv
echo 2 >data/raw/b.csv
printf '#!/bin/sh\n' >bin/tool
printf '#!/bin/sh\n' >bin/other
chmod 755 bin/tool bin/other
ln -s ../secret data/way-out
ln -s a.csv data/link
policy '[paths]
read = ./data
write = ./out
exec = ./bin/tool
deny = ./data/raw
hide = ./secret
[path reports]
root = ./reports
mode = rw
suffixes = .md
max_file_bytes = 10
reason = "reports only"
[network]
connect = api.example.org:443, *.example.net:8000-8100, 10.0.0.0/8:5432, [::1]:8080, unix:./app.sock
deny = *:25
bind = 127.0.0.1:80
'
allowed() # OP TARGET
{
	sbx check -p policy.ini "$1" "$2"
	is 0 "$1 $2 is allowed"
}
refused() # OP TARGET CODE
{
	sbx check --json -p policy.ini "$1" "$2"
	[ "$STATUS" -eq 1 ] && is_json && grep -q "\"code\":\"$3\"" "$DIR/out"
	result $? "$1 $2 is refused ($3)"
}
allowed read ./data
allowed read data/a.csv
allowed read "$PWD/data/a.csv"
allowed read "$PWD//data/./../data/a.csv"
allowed read data/link
allowed read data/missing
allowed list data/
refused read data-evil outside
refused read /etc/passwd outside
refused read .. outside
refused read / outside
refused write data/a.csv read_only
refused delete data/a.csv read_only
refused create data/new read_only
refused read data/raw denied
refused read data/raw/b.csv denied
refused read data/way-out hidden
refused read secret/key hidden
allowed write out/x
allowed create out/x
allowed exec ./bin/tool
refused exec ./bin/other exec
mkdir reports
echo 1 >reports/a.md
echo 12345678901234567890 >reports/big.md
allowed write reports/a.md
refused create reports/a.sh suffix
refused read reports/big.md size
refused write policy.ini outside
allowed connect api.example.org:443
allowed connect API.Example.ORG.:443
allowed connect a.example.net:8050
allowed connect 10.1.2.3:5432
allowed connect '[::ffff:10.1.2.3]:5432'
allowed connect '[0:0::1]:8080'
refused connect api.example.org:80 destination
refused connect evil-api.example.org:443 destination
refused connect example.net:8050 destination
refused connect 11.1.2.3:5432 destination
refused connect 10.1.2.3:25 denied
allowed connect unix:./app.sock
refused connect unix:./other.sock destination
allowed bind 127.0.0.1:80
refused bind 0.0.0.0:80 bind
allowed lookup api.example.org
refused lookup evil.example.com name
policy '[network]\nmode = none\n'
refused connect example.org:443 network_off
has out 'Do not retry' 'and the reader is told not to try again'
policy '[sandbox]\nworkspace = .\n' # the section again: this is a second [sandbox] part
allowed write x
refused write policy.ini read_only
has out 'No policy line can allow it' 'nothing can open the policy itself'
refused write .bashrc protected
mkdir -p .git
refused create .git/hooks/pre-commit protected
allowed create sub/.git/hooks/pre-commit

# -- several targets
policy '[paths]\nread = ./data\n[network]\nconnect = example.org:443\n'
sbx check -p policy.ini read data data/a.csv
is 0 'several targets that are all allowed end with 0'
[ "$(grep -c '^sbx: Can read ' "$DIR/out")" -eq 2 ]
result $? 'each has its answer'
sbx check -p policy.ini read data /etc/passwd data
is 1 'one that is refused makes it 1'
[ "$(grep -c '^sbx: Can' "$DIR/out")" -eq 3 ]
result $? 'and all have their answers'
sbx check --json -p policy.ini read data /etc/passwd data
json 'as JSON they are one document'
json_is '[a["verdict"] for a in j] == ["allowed", "refused", "allowed"]' 'with the answers in order'
sbx check --json -p policy.ini connect example.org:443 example.com:443
json_is '[a["verdict"] for a in j] == ["allowed", "refused"]' 'destinations too'
ln -s loop loop
for target in loop '' data/a.csv/x "$(printf 'x%.0s' {1..5000})"; do
	sbx check --json -p policy.ini read data "$target"
	is 2 "a target that makes no sense leaves no half document behind (${target:0:12})"
	sbx check -p policy.ini read data "$target"
	is 2 'nor some of the answers'
done

# -- programs by name
policy '[paths]\nexec = ./bin/tool\n'
PATH="$PWD/bin:$PATH" sbx check -p policy.ini exec tool
is 0 'a program is found in PATH'
has out "Can execute 'tool' ($PWD/bin/tool)" 'and its file is named'
PATH="$PWD/bin:$PATH" sbx check -p policy.ini exec other
is 1 'a program that may not run is refused'
has out "Cannot execute 'other' ($PWD/bin/other): program not allowed." 'by its file'
sbx check -p policy.ini exec no-such-program
is 2 'a program that nobody has is no question'
has err "not found in PATH: 'no-such-program'" 'and that is said'
cd bin || exit
for path in : . .:bin ./ ../bin; do
	PATH=$path sbx check -p ../policy.ini exec other
	is 2 "a part of PATH that is no absolute path leads nowhere ($path)"
done
cd .. || exit

# -- why
policy '[paths]\nread = ./data\ndeny = ./data/raw\nread = ./data/raw/b.csv\n'
sbx why -p policy.ini read data/raw/b.csv
is 0 'why answers as check does'
[ "$(sed -n 's/^sbx:     *[^ ]*  *\(policy.ini:[0-9]* .*\)/\1/p' "$DIR/out")" = 'policy.ini:4 read = ./data
policy.ini:5 deny = ./data/raw
policy.ini:6 read = ./data/raw/b.csv' ]
result $? 'and shows every rule that spoke, from / down'
sbx why -p policy.ini read /srv/nothing
is 1 'also when it is refused'
has out 'no rule spoke' 'and no rule spoke'
sbx why --json -p policy.ini read data/raw/b.csv
json 'its JSON is valid'
json_is '[(w["at"], w["rule"]["line"]) for w in j["walk"]] ==
	[(w, n) for w, n in zip([j["resolved"].rsplit("/", k)[0] for k in (2, 1)] + [j["resolved"]], (4, 5, 6))]' \
	'and has the same walk'
policy '[network]\nconnect = *.example.org:443\ndeny = *:25\n'
sbx why -p policy.ini connect a.example.org:443
has out 'policy.ini:4 connect = *.example.org:443' 'destinations have a walk too'
sbx why --json -p policy.ini connect a.example.org:443 b.example.org:25
json 'and JSON'
stars=./x
walk=
for _ in {1..14}; do
	stars="$stars/*"
	walk="${walk}deny = $stars\n"
done
policy "[paths]\n$walk"
name=$(printf '\377%.0s' {1..200})
long=./x
for _ in {1..14}; do long=$long/$name; done
sbx why --json -p policy.ini read "$long"
json 'however long the walk'
sbx check --json -p policy.ini read "$long"
json 'and however long the path'

# -- resolve
policy '[sandbox]\nworkspace = ./data\n'
sbx resolve -p policy.ini a.csv
says out "$PWD/data/a.csv" "resolve takes a path from the policy's root"
is 0 'and ends with 0'
sbx resolve -p policy.ini link raw/../new
says out "$PWD/data/a.csv
$PWD/data/new" 'through links, and to what is not there yet'
sbx resolve -p policy.ini ../secret
[ "$STATUS" -eq 1 ] && [ ! -s "$DIR/out" ]
result $? 'a path that leaves the root is refused'
says err "sbx-policy: '../secret' leaves the policy's root '$PWD/data'" 'and it says why'
for path in way-out way-out/key /etc/passwd raw/../../secret; do
	sbx resolve -p policy.ini "$path"
	[ "$STATUS" -eq 1 ] && grep -q 'leaves the policy' "$DIR/err"
	result $? "$path leaves it"
done
sbx resolve -p policy.ini no/such/folder
[ "$STATUS" -eq 1 ] && grep -q "'no/such/folder' below '$PWD/data': No such file or directory" "$DIR/err"
result $? 'only the last part of a path may be missing'
sbx resolve --json -p policy.ini a.csv
json 'its JSON is valid'
json_is 'j["resolved"] == j["root"] + "/a.csv"' 'and says where'
sbx resolve --json -p policy.ini a.csv ../secret no/such/folder
is 1 'several paths end with 1 when one is refused'
json 'and are one document'
json_is '[a.get("error") for a in j] == [None, "EXDEV", "ENOENT"]' 'with an errno each'
sbx resolve --json -p policy.ini "$(printf 'x%.0s' {1..30000})"
json 'a name of any length leaves it valid'

# -- where the policy comes from
policy '[paths]\nread = ./data\n'
sbx check -p - read data <policy.ini
is 0 'a policy may come from standard input'
(cd data && "$SBX" check -p - read a.csv >"$DIR/out" 2>"$DIR/err" <<<'[sandbox]
include = none
[paths]
read = ./a.csv')
STATUS=$?
is 0 'whose paths are relative to the current directory'
file more.ini '[sandbox]\ninclude = none\n[paths]\nread = ./out\n'
sbx check -p policy.ini --policy=more.ini read data out
is 0 'two policies join'
sbx check -pmore.ini read data
is 1 'and one alone says less'
sbx check -p policy.ini -p - read data out <more.ini
is 0 'one of them may be standard input'
sbx check -p "$PWD/data/../policy.ini" read data
is 0 'a policy may be anywhere'
ln -s "$PWD/policy.ini" out/link.ini
sbx check -p out/link.ini read data
is 125 'paths are relative to where a link to it stands'
rm out/link.ini

# -- without a policy
mkdir -p project/sub
cd project || exit
sbx check read x
is 0 'without a policy, the current directory can be read'
has out 'By: the built-in policy workspace = .' 'by the built-in one'
sbx check write x
is 0 'and written'
sbx check read ../data
is 1 'and what is beside it cannot'
sbx check read /srv/x
has out 'the user can add to [paths] of a policy of their own: read = /srv/x' 'a policy of their own would change that'
sbx check connect example.org:443
is 1 'there is no network'
sbx show
has out "read, write, exec  $PWD " 'show shows it'
too_wide() # FOLDER NAME
{
	sbx check read x
	[ "$STATUS" -eq 125 ] && [ ! -s "$DIR/out" ] && [ "$(cat "$DIR/err")" = "sbx-policy: no policy was \
given, and '$1' is too wide to be the workspace (use -p, or go into a project's folder)" ]
	result $? "$2"
}
cd / && too_wide / 'it is refused in /'
cd "$HOME" && too_wide "$HOME" 'it is refused in the home directory'
cd "$HOME/.." && too_wide "$DIR" 'it is refused above the home directory'
mkdir "$HOME/project" && cd "$HOME/project" || exit
sbx check read x
is 0 'it is fine inside of it'
cd "$HOME" || exit
HOME="$HOME/" too_wide "$PWD" 'however HOME is written: a slash'
HOME="$DIR//home" too_wide "$PWD" 'two slashes'
ln -s home "$DIR/house"
HOME="$DIR/house" too_wide "$PWD" 'a link'
mkdir "$HOME-sick" && cd "$HOME-sick" || exit
sbx check read x
is 0 'a folder that only begins like it is none'
if is_root && [ -d /root ]; then
	cd /root || exit
	HOME='' too_wide /root 'without HOME, the home directories of the system count'
fi
cd "$DIR/work" || exit
sbx check -p - read x <<<'[sandbox]
workspace = .'
is 0 'a policy may say so all the same'

# -- inside a sandbox
policy '[paths]\nread = ./data\n[path out]\nroot = ./out\nmode = rw\nsuffixes = .md\n[network]\nconnect = example.org:443\n'
sbx compile -p policy.ini -o image
[ "$STATUS" -eq 0 ] && [ ! -s "$DIR/out" ] && [ ! -s "$DIR/err" ] && [ -s image ]
result $? 'a policy can be compiled'
sbx compile -p policy.ini -o again
cmp -s again image
result $? 'and always to the same bytes'
export SANDBOX_SBX_IMAGE="$PWD/image"
for question in 'read data' 'read /etc/passwd' 'write out/x.md' 'write out/x.sh' 'connect example.org:443' 'connect example.org:80'; do
	# shellcheck disable=SC2086 # words
	"$SBX" check $question >"$DIR/one" 2>&1
	one=$?
	# shellcheck disable=SC2086 # words
	run "$SBX" check -p policy.ini $question
	[ "$one" -eq "$STATUS" ] && cmp -s "$DIR/one" "$DIR/out"
	result $? "the compiled policy answers the same: $question"
done
for command in show lint describe 'show --json' 'lint --json' 'resolve data'; do
	# shellcheck disable=SC2086 # words
	sbx $command
	is 0 "it can be asked to: $command"
done
sbx check -p more.ini read data
is 1 'a policy that is named comes first'
broken() # NAME (the image is 'broken')
{
	SANDBOX_SBX_IMAGE="$PWD/broken" sbx check read data
	[ "$STATUS" -eq 125 ] && [ ! -s "$DIR/out" ] && [ "$(wc -l <"$DIR/err")" -eq 1 ] &&
		grep -q '^sbx-policy: the policy of this sandbox cannot be read: ' "$DIR/err"
	result $? "$1"
}
head -c 1000 image >broken && broken 'an image that was cut is refused'
head -c "$(($(stat -c %s image) - 1))" image >broken && broken 'also when one byte is missing'
{ cat image; echo; } >broken && broken 'and when there is one too many'
: >broken && broken 'an empty image is refused'
cp policy.ini broken && broken 'a policy file is no image'
{ printf 'X'; tail -c +2 image; } >broken && broken 'an image that does not say what it is is refused'
rm broken && broken 'a missing image is refused: the built-in policy would be a wrong answer'
mkdir broken && broken 'so is a folder'
rmdir broken
SANDBOX_SBX_IMAGE='' sbx check read data
is 0 'an empty variable is none'
"$PYTHON" - "$SBX" image <<'END'
import os, random, subprocess, sys
whole = open(sys.argv[2], "rb").read()
random.seed(7)
for n in range(40):
    bytes = bytearray(whole)
    for k in range(1 + n % 4):
        bytes[random.randrange(len(bytes))] = random.randrange(256)
    open("broken", "wb").write(bytes)
    for args in (["why", "--json", "read", "data", "out/x.md"], ["show"], ["describe"]):
        run = subprocess.run([sys.argv[1], *args], capture_output=True,
                             env=dict(os.environ, SANDBOX_SBX_IMAGE="broken"))
        if run.returncode not in (0, 1, 125):
            sys.exit(1)
END
result $? 'an image with wrong bytes is refused or read, and never ends in a crash'
unset -v SANDBOX_SBX_IMAGE
sbx compile -p policy.ini -o /no/such/folder/image
is 125 'what cannot be written is said'
has err "cannot write '/no/such/folder/image': No such file or directory" 'with the reason'
sbx compile -p policy.ini -o /dev/full
is 125 'a full disk too'
has err 'No space left on device' 'with the reason'

# -- hostile names
mkdir names && cd names || exit
names=(
	"$(printf 'new\nline')" "$(printf '\033[31mred\033[0m')" "$(printf '\033]0;title\007')" "$(printf 'a\rb')"
	"$(printf 'tab\there')" "$(printf 'bidi\342\200\256gpj.exe')" "$(printf 'zero\342\200\213width')"
	"$(printf 'iso\342\201\246late')" "$(printf 'tag\363\240\201\201s')" "$(printf 'c1\302\233m')"
	"it's" 'say "x"' 'back\slash' '${HOME}' '$(id)' '`id`' '%s%n' '-dash' '~' '*' '?' ' blank ' 'a,b' '#c' ';d'
	"$(printf 'bad\377utf8')" "$(printf 'cut\342\202')" "$(printf 'long\300\257')" "$(printf 'sur\355\240\200')"
)
for name in "${names[@]}"; do : >"./$name"; done
file policy.ini '[sandbox]\ninclude = none\n[paths]\nread = .\ndeny = ./raw\n'
good=0
mkdir "$DIR/texts" "$DIR/documents"
for name in "${names[@]}"; do
	for question in 'check read' 'check write' 'why read' 'why delete' 'check exec' resolve; do
		# shellcheck disable=SC2086 # words
		sbx $question -p policy.ini -- "./$name"
		[ "$STATUS" -le 1 ] || good=1
		cat "$DIR/out" "$DIR/err" >>"$DIR/texts/$question"
		# shellcheck disable=SC2086 # words
		sbx $question -p policy.ini --json -- "./$name"
		[ "$STATUS" -le 1 ] && [ ! -s "$DIR/err" ] || good=1
		cat "$DIR/out" >>"$DIR/documents/$question"
	done
done
result $good 'hostile names can be asked about'
is_clean "$DIR"/texts/* "$DIR"/documents/*
result $? 'they never reach the terminal as they are'
"$PYTHON" -c 'import json, sys
for name in sys.argv[1:]:
    for line in open(name):
        json.loads(line)' "$DIR"/documents/*
result $? 'nor do they break JSON'
sbx check --json -p policy.ini read "./${names[0]}" "./${names[5]}" './say "x"' './back\slash'
json_is '[a["path"] for a in j] == ["./new\nline", "./bidi\u202egpj.exe", "./say \"x\"", "./back\\slash"]' \
	'and gives names back as they were'
sbx check -p policy.ini read "./${names[1]}"
has out "Can read './\\x1b[31mred\\x1b[0m'" 'as text they are escaped'
sbx check -p policy.ini write "./it's"
has out "Cannot write to './it\\'s'" 'a quote cannot end the name'
esc=$(printf '\033[31m')
good=0
for arguments in "$esc" "check -p policy.ini $esc x" "--$esc" "-$esc" "check -p policy.ini connect $esc" "check -p policy.ini connect $esc:80" \
	"check -p policy.ini lookup $esc" "check -p policy.ini bind $esc" "check -p policy.ini exec $esc" \
	"resolve -p policy.ini ../$esc" "resolve -p policy.ini $esc/$esc/$esc" "check -p $esc read x" "compile -p policy.ini -o $esc/$esc" \
	"show $esc" "check -p policy.ini read policy.ini/$esc"; do
	# shellcheck disable=SC2086 # words
	sbx $arguments
	[ "$STATUS" -ne 0 ] && is_clean "$DIR/out" "$DIR/err" && continue
	good=1
	echo "# $arguments" | cat -v
done
result $good 'nor do hostile arguments'
file policy.ini '[sandbox]\ninclude = none\n[path x]\nroot = .\nmode = ro\nsuffixes = .a\0342\0200\0256b\nreason = "r\0342\0200\0256s"\n[paths]\nread = "./it'"'"'s"\n'
good=0
for command in 'check read x' 'why read x.c' show describe lint; do
	# shellcheck disable=SC2086 # words
	sbx $command -p policy.ini
	is_clean "$DIR/out" "$DIR/err" || { good=1; echo "# $command"; }
done
result $good 'nor do hostile characters of the policy itself'
cd .. || exit

# -- the suggestion is a line that works; for a private /tmp there would be none
policy 'tmp = shared\n[paths]\nread = ./data\n'
good=0
for name in plain 'a,b' ' blank ' 'it"s' 'back\slash' '#x' ';y' '*' '${HOME}' '~' 'x ?' 'tab?'; do
	mkdir -p -- "names/d-$name" && : >"names/d-$name/f"
	sbx check --json -p policy.ini read "names/d-$name/f"
	line=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["suggest"] or "")' "$DIR/out")
	printf '[sandbox]\ninclude = none\n[paths]\n%s\n' "$line" >suggested.ini
	sbx check -p suggested.ini read "names/d-$name/f"
	[ "$STATUS" -eq 0 ] || { good=1; echo "# $line"; }
done
result $good 'what is suggested for odd names can be written into a policy and helps'
sbx check --json -p policy.ini read '/srv/a,b "c"/d'
json_is 'j["suggest"] == "read = \"/srv/a,b \\\"c\\\"/d\" ?"' 'with quotes where they are needed'
sbx check -p policy.ini read "$HOME/.ssh/id_ed25519"
has out 'this looks like a credential; no line is suggested' 'nothing is suggested for a credential'
policy '[paths]\nread = ./data\n'
sbx check -p policy.ini read /tmp/x
has out 'Use $TMPDIR' 'nor for /tmp, when that is private'
file policy.ini '[sandbox]\ninclude = none\n[errors]\nsuggest = no\n'
sbx check -p policy.ini read /srv/x
hasnt out 'To allow it' 'nor when nobody wants to know'

# -- the command line
policy '[paths]\nread = .\n'
touch -- -x
sbx check -p policy.ini -- read -x
is 0 '-- ends the options'
sbx -p policy.ini check read -- -x
is 0 'wherever it stands'
sbx check read -p policy.ini policy.ini
is 0 'options may stand anywhere'
usage() # NAME ARGUMENT...
{
	sbx "${@:2}"
	[ "$STATUS" -eq 2 ] && [ ! -s "$DIR/out" ] && [ "$(wc -l <"$DIR/err")" -eq 1 ] && grep -q '^sbx-policy: ' "$DIR/err"
	result $? "$1"
}
usage 'no command is a usage error'
usage 'an unknown command too' chekc
has err "unknown command 'chekc' (see sbx-policy --help)" 'which is named'
usage 'an operation that does not exist' check -p policy.ini peek x
has err "unknown operation 'peek' (there are read, write, list, " 'names those that do'
usage 'check without anything' check -p policy.ini
usage 'check without a target' check -p policy.ini read
usage 'check with an empty target' check -p policy.ini read ''
usage 'resolve without a path' resolve -p policy.ini
usage 'compile without a place to write to' compile -p policy.ini
usage 'show with too much' show -p policy.ini x
usage 'lint with too much' lint -p policy.ini x
usage 'describe with too much' describe -p policy.ini x
usage 'an unknown long option' check --jsno -p policy.ini read x
has err "unknown option '--jsno'" 'which is named'
usage 'an unknown letter' check -p policy.ini -z read x
has err "unknown option '-z'" 'which is named'
usage 'an unknown letter before others' check -zy read x
has err "unknown option '-z'" 'is named, and not what stands before it'
usage 'an argument that an option does not take' check --json=yes -p policy.ini read x
usage 'an option without its argument' check -p
has err "an argument is missing for '-p'" 'which is named'
usage 'a destination without a port' check -p policy.ini connect example.org
has err "bad destination 'example.org': a port is needed" 'is told so'
usage 'an address to listen on without a port' check -p policy.ini bind 8080
has err "bad destination '8080': a port is needed (127.0.0.1:8080, [::1]:8080 or *:8080)" 'is told so with addresses, as hosts would not do'
usage 'a destination that is a pattern' check -p policy.ini connect '*.example.org:443'
usage 'a destination that is a network' check -p policy.ini connect 10.0.0.0/8:443
usage 'a destination with many ports' check -p policy.ini connect 'example.org:1-2'
usage 'listening on a name' check -p policy.ini bind example.org:80
usage 'looking up what is no name' check -p policy.ini lookup 'a b'
sbx --help
is 0 '--help ends with 0'
for word in check why show lint resolve describe compile --json --trust --policy; do grep -q -e "$word" "$DIR/out" || break; done
result $? 'and lists what there is'
cp "$DIR/out" "$DIR/help"
sbx check -h
is 0 'so does -h'
cmp -s "$DIR/out" "$DIR/help"
result $? 'and says the same'
sbx --version
is 0 '--version ends with 0'
grep -qx 'sbx-policy [0-9]*\.[0-9]*\.[0-9]*' "$DIR/out"
result $? 'and is one line'
POSIXLY_CORRECT=1 sbx check -p policy.ini read x
is 0 'POSIXLY_CORRECT does not change what a line means'

# -- standard output that takes nothing
for command in 'check read x' 'why read x' show lint describe 'resolve x' 'compile -o /dev/stdout'; do
	# shellcheck disable=SC2086 # words
	"$SBX" $command -p policy.ini >/dev/full 2>"$DIR/err"
	STATUS=$?
	: >"$DIR/out"
	is 125 "${command%% *} does not end well when its output is lost"
	has err 'No space left on device' 'and says so'
done
! "$SBX" --help >/dev/full 2>"$DIR/err" && grep -q 'standard output: No space left on device' "$DIR/err"
result $? 'nor does --help'
! "$SBX" show -p policy.ini >&- 2>"$DIR/err" && grep -q 'standard output: Bad file descriptor' "$DIR/err"
result $? 'a closed standard output is said to be that'
"$SBX" show -p - <&- >"$DIR/out" 2>"$DIR/err"
STATUS=$?
is 125 'so is a closed standard input'
printf '[sandbox]\nworkspace = .\n' >wide.ini
"$SBX" show -p wide.ini 2>"$DIR/err" | head -n 1 >"$DIR/out"
[ ! -s "$DIR/err" ] && [ "$(wc -l <"$DIR/out")" -eq 1 ]
result $? 'a reader that goes away is no error to speak of'

# -- a current directory that is gone, or closed
mkdir gone && cd gone && rmdir ../gone || exit
sbx check -p "$DIR/work/policy.ini" read "$DIR/work"
is 125 'in a directory that is gone, nothing is answered'
says err 'sbx-policy: the current directory is gone (go into one that exists)' 'and it says why'
sbx check read x
is 125 'nor without a policy'
cd "$DIR/work" && mkdir closed && cd closed && chmod 000 . || exit
sbx check -p "$DIR/work/policy.ini" read "$DIR/work/data"
is 0 'in a directory that is closed, absolute paths work'
sbx check -p "$DIR/work/policy.ini" read x
is 0 'and a name is judged as a name'
chmod 755 "$DIR/work/closed"
cd "$DIR/work" || exit

# -- hosts that are allowed on several ports
file ports.ini '[sandbox]\ninclude = none\n[network]\nconnect = a.example:80, b.example:80, a.example:443\n'
sbx check -p ports.ini lookup c.example
has out 'Allowed hosts: a.example, b.example
' 'a host is named once'
sbx check -p ports.ini --json lookup c.example
has out '"allowed":["a.example","b.example"]' 'as data, too'
sbx check -p ports.ini connect c.example:80
has out 'Allowed destinations: a.example:80, b.example:80, a.example:443' 'destinations are named with each port'

# -- odd but possible
ln -s data here
cd here || exit
sbx check -p ../policy.ini read a.csv
is 0 'a current directory behind a link is its real one'
cd "$DIR/work" || exit
mkdir 'a*b' && cd 'a*b' && cp ../policy.ini . && touch x || exit
sbx check -p policy.ini read x
is 0 "a folder's name is no pattern"
mkdir ../aXb
sbx check -p policy.ini read ../aXb
is 1 'and does not match another'
finish
