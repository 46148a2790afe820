#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sbx-policy show and describe: what holds, and where each line of it comes from.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

mkdir -p data out
ln -s data way
file part.ini '[paths]\nexec = /bin/sh\n[limits]\nprocesses = 7\ntimeout = 1h\n'
cat >policy.ini <<'END'
[sandbox]
include = none, ./part.ini
workspace = ./out

[paths]
read = ./data, ./missing ?
read = ./way/sub ?
write = ./new
deny = ./data/*.key
hide = ~/.secret

[path reports]
root = ./reports
mode = rw
suffixes = .md, .txt
max_file_bytes = 10M
reason = "reports live here; nothing else"

[network]
connect = example.org:443, unix:./app.sock
bind = 127.0.0.1:80
deny = *:25

[limits]
timeout = 60s
memory = 512m

[env]
set = CI=true
secret = GITHUB_TOKEN

[test]
allow = read ./data
END

# -- show
sbx show -p policy.ini
is 0 'show ends with 0'
line() # TEXT NAME
{
	grep -qxF -e "$1" "$DIR/out"
	result $? "$2"
}
line 'Rules of policy.ini' 'rules are sorted by file'
line 'Rules of ./part.ini' 'what is included has its own part'
line "  read, write, exec  $PWD/out   # policy.ini:3 workspace = ./out" 'the workspace can be read, written and run in'
line "  read               $PWD/data   # policy.ini:6 read = ./data" 'a rule is shown with its path, its file, its line and its words'
line "  read, write        $PWD/new  (does not exist yet)   # policy.ini:8 write = ./new" 'what does not exist is marked'
line "  deny               $PWD/data/*.key   # policy.ini:9 deny = ./data/*.key" 'patterns are shown as they are'
line "  hide               $HOME/.secret  (does not exist yet)   # policy.ini:10 hide = ~/.secret" 'variables are filled in'
line "  read, write        $PWD/reports  (does not exist yet)   # policy.ini:14 mode = rw in [path reports]" '[path] sections are rules'
line '  connect            example.org:443   # policy.ini:20 connect = example.org:443' 'so are destinations'
line "  connect            $PWD/app.sock  (does not exist yet)   # policy.ini:20 connect = unix:./app.sock" 'and sockets'
line '  bind               127.0.0.1:80   # policy.ini:21 bind = 127.0.0.1:80' 'and addresses to listen on'
line '  deny               *:25   # policy.ini:22 deny = *:25' 'and what is never reached'
line "  read, exec         $(readlink -f /bin/sh)  (through a link)   # ./part.ini:2 exec = /bin/sh" 'what lies behind a link is named'
line "  lock               $PWD/policy.ini" 'the policy is locked'
line "  lock               $PWD/part.ini" 'and what it includes'
line '  protect            /**/.bashrc' 'protections are listed'
line '  [limits] timeout = 60s   # policy.ini:25' 'a setting is shown with its file and line'
line '  [limits] processes = 7   # ./part.ini:4' 'also when it is included'
line '  [sandbox] tmp = private   # default' 'defaults are marked'
line '  [env] set = CI=true   # policy.ini:29' 'lists are shown too'
line "  [path reports] $PWD/reports, suffixes .md, .txt, at most 10485760 bytes" '[path] sections have their limits'
hasnt out missing 'optional lines that say nothing are left out'
hasnt out 'profiles/' 'include = none leaves every profile out'
cp "$DIR/out" "$DIR/first"
sbx show --all -p policy.ini
line '  read               ./missing  (missing, says nothing)   # policy.ini:6 read = ./missing ?' '--all shows them'
sbx show -p policy.ini
cmp -s "$DIR/out" "$DIR/first"
result $? 'the same policy is always shown the same way'
mkdir elsewhere && cd elsewhere || exit
sbx show -p ../policy.ini
line "  read               $DIR/work/data   # ../policy.ini:6 read = ./data" 'from elsewhere, the paths are the same'
cd .. || exit

sbx show --json -p policy.ini
is 0 'show as JSON ends with 0'
json 'it is valid'
json_is 'any(r == {"kind": "allow", "rights": "read", "path": j["root"].rsplit("/", 1)[0] + "/data", "file": "policy.ini",
	"line": 6, "text": "read = ./data", "profile": False, "missing": False} for r in j["rules"])' 'and has the rules'
json_is 'any(s["key"] == "timeout" and s["value"] == "60s" and s["line"] == 25 for s in j["settings"])' 'the settings'
json_is 'any(s["key"] == "secret" and s["value"] == ["GITHUB_TOKEN"] for s in j["settings"])' 'and the lists'
json_is 'not any("missing" in r["path"] for r in j["rules"])' 'without what says nothing'
has out '10485760' 'it has the limits of [path] sections'
sbx show --json --all -p policy.ini
json_is 'any(r["text"] == "read = ./missing ?" and r["missing"] for r in j["rules"])' 'with --all it has that too'
file secret.ini '[sandbox]\ninclude = none\n[network]\nproxy = http://me:s3cret@proxy.example.org:3128\n'
sbx show -p secret.ini
has out 'proxy.example.org:3128' 'a proxy is a destination'
hasnt out s3cret 'its password is not shown'
sbx check -p secret.ini connect proxy.example.org:3128
is 0 'it can be reached'
hasnt out s3cret 'and its password is not in the answer'
for command in why\ --json\ connect\ proxy.example.org:3128 show\ --json lint describe; do
	# shellcheck disable=SC2086 # words
	sbx $command -p secret.ini
	hasnt out s3cret "nor in what ${command%% *} says"
done

# -- profiles
file profile.ini '[sandbox]\ninclude = bash\nworkspace = .\n'
sbx show -p profile.ini
line 'Rules of profiles/bash.ini' 'a profile that is included has a part of its own'
line 'Rules of profiles/base.ini' 'and base comes by itself'
grep -qE '^  read, exec +/usr/bin .*# profiles/bash.ini:[0-9]+ exec = ' "$DIR/out"
result $? 'every line of a profile is shown with its place'
sbx show --json -p profile.ini
json 'as JSON too'
json_is 'all(r["profile"] == r["file"].startswith("profiles/") for r in j["rules"])' 'and says which rules are theirs'
file profile.ini '[sandbox]\nworkspace = .\n'
sbx show --command sh -p profile.ini
line 'Rules of profiles/bash.ini' "--command brings the program's own profile"
sbx show --command /usr/bin/python3.11 -p profile.ini
line 'Rules of profiles/python.ini' 'whatever its version'
sbx show --command no-such -p profile.ini
hasnt out 'profiles/bash.ini' 'a program without one has base alone'
file profile.ini '[sandbox]\ninclude = git\nworkspace = .\n'
sbx show --command sh -p profile.ini
hasnt out 'profiles/bash.ini' 'a policy that says what to include is not added to'

# -- the environment
sbx show --env
is 0 'show --env needs no policy'
grep -qE '^kept +PATH ' "$DIR/out" && grep -qE '^dropped +LD_\* ' "$DIR/out" && grep -qE '^dropped +NODE_OPTIONS ' "$DIR/out" &&
	grep -qE '^secret +\*TOKEN ' "$DIR/out"
result $? 'and lists what passes, what injects code, and what is a credential'
! grep -vqE '^(kept|dropped|secret) +[A-Za-z_*][A-Za-z0-9_*]* +[^ ]' "$DIR/out"
result $? 'one a line, with a reason'
sbx show --env --json
json 'as JSON too'
json_is 'set(r["kind"] for r in j["env"]) == {"kept", "dropped", "secret"}' 'with the same kinds'

# -- describe
sbx describe -p policy.ini
is 0 'describe ends with 0'
has out 'You work inside boundaries that the user wrote in policy.ini.' 'it names the policy'
grep -q '^- You may read: `./out`, `./data`, `./new`, `./reports`, `/bin/sh`' "$DIR/out"
result $? 'it says what may be read'
line '- You may write: `./out`, `./new`, `./reports`' 'what may be written'
grep -q '^- You may run programs from: `./out`, `/bin/sh`' "$DIR/out"
result $? 'and what may run'
line '- In `./reports`: only files that end in .md, .txt, at most 10485760 bytes each; reports live here; nothing else' 'the limits and the reason of a [path] section'
line '- Never, whatever is around it: `./data/*.key`' 'what is denied'
hasnt out '.secret' 'and not what is hidden'
grep -q '^- You may connect to: `example.org:443`' "$DIR/out"
result $? 'what may be reached'
has out 'app.sock' 'sockets too'
line '- Never: `*:25`' 'and what may not'
has out '- timeout: 60s' 'the limits'
has out '- memory: 512m' 'as they were written'
has out 'Do not retry' 'and what to do when something is refused'
hasnt out GITHUB_TOKEN 'and nothing of secrets'
has out '`$TMPDIR`' 'where temporary files go'
cd data || exit
sbx describe -p ../policy.ini
has out "\`$DIR/work/data\`" 'from elsewhere, paths are absolute'
cd .. || exit
policy ''
sbx describe -p policy.ini
line '- You may read: nothing' 'a policy that allows nothing says so'
line '- You may write: nothing' 'for writing too'
has out 'There is none. Do not retry, change DNS or use a proxy' 'as it does of the network'
policy 'tmp = shared\n[network]\nmode = full\n'
sbx describe -p policy.ini
has out '- Everything is reachable.' 'a network without limits is said to be that'
hasnt out '$TMPDIR' 'a shared tmp is none of its own'
mkdir project && cd project || exit
sbx describe
has out 'You work inside boundaries' 'it works without a policy'
grep -q '^- You may read: `.`; and the system files that programs need to start' "$DIR/out"
result $? 'and sums profiles up'
cd .. || exit
for n in {1..60}; do mkdir -p "many/$n" && echo "read = ./many/$n"; done >many.list
{ printf '[sandbox]\ninclude = none\n[paths]\n'; cat many.list; } >policy.ini
sbx describe -p policy.ini
grep -q '^- You may read: .* and 20 more$' "$DIR/out"
result $? 'a long list is cut, and counted'
finish
