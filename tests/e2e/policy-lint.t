#!/bin/bash
# SPDX-License-Identifier: MIT
#
# sbx-policy lint: every warning comes when it should, and not for its neighbour.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Exactly these warnings, each a 'LINE: TEXT' of which TEXT is a part, or a 'TEXT' without a line.
warns() # NAME TEXT-OF-THE-POLICY EXPECTED...
{
	local name=$1 at=0 good=0 want start line
	local -a lines

	policy "$2"
	shift 2
	sbx lint -p policy.ini
	mapfile -t lines < <(grep ': warning: ' "$DIR/out")
	[ "$STATUS" -eq 0 ] && [ ! -s "$DIR/err" ] && [ "${#lines[@]}" -eq $# ] || good=1
	for want; do
		line=${lines[at]:-}
		at=$((at + 1))
		start="policy.ini:${want%%:*}: warning: "
		[[ $line == "$start"*"${want#*: }"* ]] || good=1
	done
	[ "$good" -eq 0 ] || printf '# expected: %s\n' "$@"
	result $good "$name"
}

quiet() # NAME TEXT-OF-THE-POLICY
{
	warns "$1" "$2"
}

mkdir -p data/sub out bin "$HOME/.ssh" "$HOME/.config"
touch data/a data/b.md data/sub/c out/x "$HOME/.ssh/id_ed25519" "$HOME/notes"
export PATH=/usr/bin:/bin

# -- nothing to say
quiet 'an empty policy is clean' ''
quiet 'so is an ordinary one' '[paths]
read = ./data
write = ./out
deny = ./data/sub
exec = /bin/sh
[path b]
root = ./data/b.md
mode = rw
suffixes = .md
[network]
connect = example.org:443, 10.0.0.0/8:5432
deny = *:25
[limits]
memory = 1G
[env]
set = CI=true
secret = GITHUB_TOKEN
'
says out '0 warnings, 0 tests, 0 failed' 'and all that is said is the sum'
sbx lint --strict -p policy.ini
is 0 '--strict does not mind'
quiet 'a workspace is clean' 'workspace = .\n'
sbx lint
is 0 'so is the built-in policy'
says out '0 warnings, 0 tests, 0 failed' 'without a warning'

# -- rules that never matter
warns 'read below deny on the same path' '[paths]\nread = ./data\ndeny = ./data/sub\nread = ./data/sub\n' \
	"6: 'read = ./data/sub' never matters: policy.ini:5 deny = ./data/sub stands on the same path and is stronger"
quiet 'read below deny, one deeper, matters' '[paths]\nread = ./data\ndeny = ./data/sub\nread = ./data/sub/c\n'
warns 'deny below hide on the same path' '[paths]\nread = ./data\nhide = ./data/sub\ndeny = ./data/sub\n' \
	"6: 'deny = ./data/sub' never matters: policy.ini:5 hide = ./data/sub stands on the same path and is stronger"
warns 'read below [path] on the same path' '[paths]\nread = ./data\n[path d]\nroot = ./data\nmode = rw\n' \
	"4: 'read = ./data' never matters: policy.ini:7 mode = rw in [path d] stands on the same path and is stronger"
warns 'the same rule twice' '[paths]\nread = ./data, ./out\nread = data/../data/\n' \
	"5: 'read = data/../data/' never matters: policy.ini:4 read = ./data already says it"
warns 'read where write is given' '[paths]\nwrite = ./out\nread = ./out\n' \
	"5: 'read = ./out' never matters: policy.ini:4 write = ./out already says it"
quiet 'write where read is given adds something' '[paths]\nread = ./out\nwrite = ./out\n'
warns 'read inside read' '[paths]\nread = ./data\nread = ./data/sub\n' \
	"5: 'read = ./data/sub' never matters: policy.ini:4 read = ./data already allows it"
warns 'read inside a workspace' 'workspace = .\n[paths]\nread = ./data\n' \
	"5: 'read = ./data' never matters: policy.ini:3 workspace = . already allows it"
quiet 'write inside read matters' '[paths]\nread = ./data\nwrite = ./data/sub\n'
quiet 'exec inside read matters' '[paths]\nread = ./data\nexec = ./data/sub\n'
quiet 'a folder beside it matters' '[paths]\nread = ./data\nread = ./out\n'
warns 'deny where nothing is allowed' '[paths]\nread = ./data\ndeny = ./out\n' \
	"5: 'deny = ./out' never matters: nothing is allowed there anyway"
quiet 'deny inside what is allowed matters' '[paths]\nread = ./data\ndeny = ./data/sub\n'
quiet 'hide where nothing is allowed matters: it hides' '[paths]\nread = ./data\nhide = ./out\n'
quiet 'deny of what a pattern allows matters' '[paths]\nread = ./data/*\ndeny = ./data/a\n'
warns 'of deny and read on one path, only read never matters' '[paths]\nread = ./out\ndeny = ./out\n' \
	"4: 'read = ./out' never matters"
ln -s "$HOME/notes" data/notes
quiet 'deny of a link matters where the link stands' '[paths]\nread = ./data\ndeny = ./data/notes\n'
warns 'a destination that is denied as well' '[network]\nconnect = example.org:25, example.org:443\ndeny = *:25\n' \
	"4: 'connect = example.org:25' never matters: policy.ini:5 deny = *:25 is stronger"
warns 'an address that is denied as well' '[network]\nconnect = 10.1.2.3:80\ndeny = 10.0.0.0/8:*\n' \
	"4: 'connect = 10.1.2.3:80' never matters: policy.ini:5 deny = 10.0.0.0/8:* is stronger"
quiet 'one beside it matters' '[network]\nconnect = 11.1.2.3:80\ndeny = 10.0.0.0/8:*\n'
warns 'limits of a section that allows nothing' '[paths]\nread = .\n[path a]\nroot = ./data\nmode = none\nsuffixes = .md\nmax_file_bytes = 1k\n' \
	"8: 'suffixes' in [path a] never matters: nothing is allowed there anyway" \
	"9: 'max_file_bytes' in [path a] never matters: nothing is allowed there anyway"
quiet 'one without limits is fine' '[paths]\nread = .\n[path a]\nroot = ./data\nmode = none\n'
quiet 'limits of one that allows something matter' '[path a]\nroot = ./data\nmode = ro\nsuffixes = .md\nmax_file_bytes = 1k\n'
quiet 'and where a line below it gives something back' '[path a]\nroot = ./data\nmode = none\nsuffixes = .md\n[paths]\nread = ./data/sub\n'
quiet 'or a pattern may' '[path a]\nroot = ./data\nmode = none\nsuffixes = .md\n[paths]\nread = ./d*/sub\n'
warns 'but not where one beside it does' '[path a]\nroot = ./data\nmode = none\nsuffixes = .md\n[paths]\nread = ./out, ./o*\n' \
	"6: 'suffixes' in [path a] never matters"
warns 'a file that its own section shuts out' '[path a]\nroot = ./data/a\nmode = rw\nsuffixes = .md, .txt\n' \
	"6: './data/a' can never be used: it has none of the suffixes of [path a]"
quiet 'one with such a suffix can be used' '[path a]\nroot = ./data/b.md\nmode = rw\nsuffixes = .txt, .md\n'
quiet 'so can a folder without one' '[path a]\nroot = ./data/sub\nmode = ro\nsuffixes = .md\n'
warns 'a destination that is denied without a network' '[network]\nmode = none\ndeny = *:25, example.org:*, 10.0.0.0/8:8080\n' \
	"5: 'deny = *:25' never matters: 'mode = none' allows no destination anyway" \
	"5: 'deny = example.org:*' never matters" "5: 'deny = 10.0.0.0/8:8080' never matters"
quiet 'to deny what programs may serve themselves matters' '[network]\nmode = none\ndeny = *:8080, *:80-8080, localhost:8080, 127.0.0.5:8080, [::]/0:*\n'
warns 'unless they may not' '[network]\nmode = none\nown = no\ndeny = *:8080\n' "6: 'deny = *:8080' never matters"
quiet 'with a network, it matters' '[network]\nmode = filtered\ndeny = *:25\n'

# -- what does not exist
warns 'an optional path that is missing' '[paths]\nread = ./nothing ?, ./data ?\n' \
	"4: './nothing' does not exist, so the line says nothing"
warns 'a path to write to that is missing' '[paths]\nwrite = ./new/folder\n' \
	"4: '$PWD/new/folder' does not exist yet (the program may create it)"
warns 'a path to deny that is missing' '[paths]\nread = ./data\ndeny = ./data/nothing\n' \
	"5: '$PWD/data/nothing' does not exist (the line forbids creating it)"
file policy.ini '[sandbox]\ninclude = none\n[paths]\nread = ./nothing\n'
sbx lint --lenient -p policy.ini
is 0 'with --lenient, a missing path to read is accepted'
has out "policy.ini:4: warning: '$PWD/nothing' does not exist" 'and warned about'

file data/table 'x\n'
warns 'a pattern below a file' '[paths]\nread = ./data\ndeny = ./data/table/**/x\n' \
	"5: the pattern matches nothing as long as '$PWD/data/table' is no folder"
quiet 'a pattern below a folder may match one day' '[paths]\nread = ./data\ndeny = ./data/ta*/**/x\n'
rm data/table

# -- links
ln -s "$PWD/out" way
warns 'writing through a link' '[paths]\nwrite = ./way\n' "4: './way' leads through a link to '$PWD/out', which becomes writable"
quiet 'reading through one is nothing to warn about' '[paths]\nread = ./way\n'

# -- credentials
warns 'a credential made readable' '[paths]\nread = ~/.ssh/id_ed25519\n' \
	"4: 'read = ~/.ssh/id_ed25519' makes a credential readable: "
warns 'a folder of credentials' '[paths]\nread = ~/.ssh\n' "4: 'read = ~/.ssh' makes a credential readable: keys of ssh"
if [ "$(id -u)" -eq 0 ] || [ -e /etc/shadow ]; then
	warns "the system's passwords" '[paths]\nread = /etc/shadow\n' "4: 'read = /etc/shadow' makes a credential readable: passwords"
fi
quiet 'what lies beside them is none' '[paths]\nread = ~/notes\n'
quiet 'to deny one is fine' '[paths]\nread = ~/notes\nhide = ~/.ssh\n'
warns 'credentials in a home that may be read' '[paths]\nread = ~\n' "4: '$HOME/.ssh' can be read: keys of ssh (deny = $HOME/.ssh keeps it out)"
quiet 'unless they are kept out' '[paths]\nread = ~\ndeny = ~/.ssh\n'
touch .env
warns 'credentials in the workspace' 'workspace = .\n' "3: '$PWD/.env' can be read: settings with secrets (deny = $PWD/.env keeps it out)"
quiet 'unless they are kept out too' 'workspace = .\n[paths]\ndeny = ./.env\n'
rm .env
touch .env.example
quiet 'a template is none' 'workspace = .\n'
rm .env.example

# -- what runs later
mkdir -p .git/hooks
touch .bashrc
quiet 'a workspace with hooks is protected' 'workspace = .\n'
warns 'hooks made writable by name' 'workspace = .\n[paths]\nwrite = ./.git/hooks\n' \
	"5: 'write = ./.git/hooks' makes '$PWD/.git/hooks' writable, which runs later, outside the sandbox"
warns 'shell start-up files made writable by name' '[paths]\nwrite = ./.bashrc\n' \
	"4: 'write = ./.bashrc' makes '$PWD/.bashrc' writable, which runs later, outside the sandbox"
quiet 'to read them is fine' '[paths]\nread = ./.bashrc\n'
mkdir .bashrc.d
quiet 'a name that only begins so is another' '[paths]\nwrite = ./.bashrc.d\n'
policy 'workspace = .\nprotect = no\n'
sbx lint -p policy.ini
has out "policy.ini:3: warning: '$PWD/.git/hooks' can be written, and runs later, outside the sandbox" 'without protection, hooks'
has out "policy.ini:3: warning: '$PWD/.bashrc' can be written, and runs later, outside the sandbox" 'and start-up files'
hasnt out "'$PWD/.zshrc'" 'but not what does not exist'
quiet 'without protection, reading is fine' 'protect = no\n[paths]\nread = .\n'
rm -r .git .bashrc
PATH="$PWD/bin:$PATH" warns 'a folder of PATH that can be written' 'workspace = .\n' \
	"3: '$PWD/bin' is in your PATH and can be written: your shell runs what is put there"
PATH="$PWD/bin:$PATH" quiet 'unless it is read-only' 'workspace = .\n[path bin]\nroot = ./bin\nmode = rx\n'
PATH="bin:$PATH" quiet 'a part of PATH that is no absolute path is nowhere' 'workspace = .\n'

# -- settings
warns 'no enforcement' 'enforce = none\n' "3: 'enforce = none' runs without a sandbox"
quiet 'enforcement by one layer is fine' 'enforce = landlock\n'
warns 'complain' 'complain = paths\n' "3: 'complain' lets what it names pass, and only reports it"

# -- what profiles bring is not the user's business
file policy.ini '[sandbox]\nworkspace = .\n'
sbx lint -p policy.ini
says out '0 warnings, 0 tests, 0 failed' 'optional lines of profiles are not warned about'
file part.ini '[paths]\nread = ./nothing ?\n'
file policy.ini '[sandbox]\ninclude = none, ./part.ini\n'
sbx lint -p policy.ini
has out "./part.ini:2: warning: './nothing' does not exist, so the line says nothing" "those of the user's own files are"

# -- how it ends
policy '[paths]\nread = ./nothing ?\n'
sbx lint -p policy.ini
is 0 'warnings end with 0'
has out '1 warning, 0 tests, 0 failed' 'and are counted'
sbx lint --strict -p policy.ini
is 1 'with --strict, they end with 1'
cases='[paths]\nread = ./data\n[network]\nconnect = example.org:443\n[test]\n'
policy "${cases}allow = read ./data/a, connect example.org:443\nrefuse = read ./out/x, write ./data/a, connect example.org:80, read ~/notes\n"
sbx lint -p policy.ini
is 0 'tests that pass end with 0'
says out '0 warnings, 6 tests, 0 failed' 'and are counted'
sbx lint --strict -p policy.ini
is 0 '--strict does not mind them'
policy "${cases}allow = read ./data/a, read ./out/x\nrefuse = read ./data/a\n"
sbx lint -p policy.ini
is 1 'tests that fail end with 1'
says out "policy.ini:8: failed: 'read ./out/x' is refused, not allowed (by no rule matches)
policy.ini:9: failed: 'read ./data/a' is allowed, not refused (by policy.ini:4 read = ./data)
0 warnings, 3 tests, 2 failed" 'and each is said, with the rule that decided'
policy "${cases}allow = connect example.org\n"
sbx lint -p policy.ini
is 1 'a case that makes no sense fails'
has out 'policy.ini:8: failed: connect example.org: bad destination' 'and says why'
mkdir other
cd other || exit
sbx lint -p ../policy.ini
has out '../policy.ini:8: failed' 'cases are about the folder of the policy, from wherever it is asked'
cd .. || exit
policy "[paths]\nread = ./data\n[test]\nallow = read ./data/a\n"
cd other || exit
sbx lint -p ../policy.ini
is 0 'also when they pass'
cd .. || exit
sbx lint -p /dev/null -p policy.ini
is 0 'two policies have their tests joined'
printf '[paths]\nraed = x\n' >policy.ini
sbx lint -p policy.ini
is 125 'errors end with 125'

# -- JSON
policy '[paths]\nread = ./nothing ?, ./data\n[test]\nallow = read ./out\n'
sbx lint --json -p policy.ini
is 1 'as JSON it ends the same way'
json 'the JSON is valid'
json_is '[(f["level"], f["file"], f["line"]) for f in j["findings"]] == [("warning", "policy.ini", 4), ("failed", "policy.ini", 6)]
	and (j["warnings"], j["tests"], j["failed"]) == (1, 1, 1)' 'and says the same'
policy ''
sbx lint --json -p policy.ini
json 'nothing to say is valid JSON too'
json_is 'j["findings"] == []' 'with an empty list'
name=$(printf 'x\033[31m"\\\n')
mkdir -p "$name"
cp policy.ini "$name/policy.ini"
printf '[paths]\nwrite = ./nothing-yet\n' >>"$name/policy.ini"
sbx lint --json -p "$name/policy.ini"
json 'a hostile name leaves it valid'
sbx lint -p "$name/policy.ini"
clean 'and does not reach the terminal'

# -- the examples that come with sbx
for example in "$SBX_TOP"/examples/*/policy.ini; do
	cp -r "${example%/*}" example
	run "$SBX" lint --strict -p example/policy.ini
	is 0 "the example $(basename "${example%/*}") is clean, and its own tests pass"
	rm -rf example
done
finish
