#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The bundled profiles: each loads, alone and beside the others, from the build tree and from an
# installation; none opens more than it should; programs are found behind version managers.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Only the system's own programs, so that every machine has the same.
callers_path=$PATH
export PATH=/usr/local/bin:/usr/bin:/bin
profiles=()
for file in "$SBX_BUILD"/share/sbx/profiles/*.ini; do
	name=${file##*/}
	profiles+=("${name%.ini}")
done
all="${profiles[*]}"
for name in base node python ruby bash git npm build strict airgapped; do
	[[ " $all " == *" $name "* ]]
	result $? "there is a profile $name"
done

# Without the program itself a profile cannot be had; its name is that of the program.
usable=()
for name in "${profiles[@]}"; do
	case $name in
	node | ruby | git) program=$name ;;
	npm) program=node ;;
	python) program=python3 ;;
	*) program='sh' ;;
	esac
	if command -v "$program" >/dev/null; then usable+=("$name"); else echo "# no $program here"; fi
done
including() # LIST
{
	printf '[sandbox]\ninclude = %s\nworkspace = .\n' "$1" >policy.ini
}
is_quiet() { [ "$STATUS" -eq 0 ] && [ ! -s "$DIR/err" ] && [ "$(cat "$DIR/out")" = '0 warnings, 0 tests, 0 failed' ]; }

# -- each, and beside the others
for name in "${usable[@]}"; do
	including "$name"
	sbx lint --strict -p policy.ini
	is_quiet
	result $? "$name loads alone, without a warning"
done
good=0
for one in "${usable[@]}"; do
	for two in "${usable[@]}"; do
		including "$one, $two"
		sbx lint --strict -p policy.ini
		is_quiet || { good=1; echo "# $one, $two"; }
	done
done
result $good 'any two load together'
including "$(printf '%s, ' "${usable[@]}")base"
sbx lint --strict -p policy.ini
is_quiet
result $? 'all of them load together'
PATH=$callers_path sbx lint -p policy.ini
is 0 'also with the programs of whoever runs this'
sbx show --json -p policy.ini
json 'and can be shown'
sbx describe -p policy.ini
is 0 'and described'
printf '[sandbox]\ninclude = %s\ninclude = base\n' "${usable[0]}" >policy.ini
sbx lint -p policy.ini
is_quiet
result $? 'base may be named as well'

# -- base
including none
sbx show -p policy.ini
hasnt out 'profiles/' 'include = none leaves even base out'
sbx check -p policy.ini read /etc/ld.so.cache
is 1 'so that not even the loader can start'
including 'none, bash'
sbx show -p policy.ini
has out 'Rules of profiles/bash.ini' 'none beside a profile leaves base out'
hasnt out 'Rules of profiles/base.ini' 'but not that profile'
printf '[sandbox]\nworkspace = .\n' >policy.ini
sbx show -p policy.ini
has out 'Rules of profiles/base.ini' 'without include, base comes by itself'

# -- what each must have, and must not
mkdir -p "$HOME"/{.ssh,.aws,.config/gh,.config/git,.gnupg,.local/share/keyrings,.cargo,.docker,.kube}
touch "$HOME"/.{netrc,npmrc,pypirc,git-credentials,bash_history,pgpass,env} "$HOME"/.ssh/id_ed25519 \
	"$HOME"/.aws/credentials "$HOME"/.config/gh/hosts.yml "$HOME"/.config/git/credentials "$HOME"/.gnupg/secring \
	"$HOME"/.local/share/keyrings/login "$HOME"/.cargo/credentials.toml "$HOME"/.docker/config.json \
	"$HOME"/.kube/config "$HOME"/notes
secrets=(/etc/shadow /etc/passwd /etc/sudoers /root/x /home/x /var/log/syslog /var/lib/x /etc/ssl/private/x /run/secrets/x /boot/x
	"$HOME" "$HOME"/.{netrc,npmrc,pypirc,git-credentials,bash_history,pgpass,env} "$HOME/.ssh/id_ed25519" "$HOME/.aws/credentials"
	"$HOME/.config/gh/hosts.yml" "$HOME/.config/git/credentials" "$HOME/.gnupg/secring" "$HOME/.local/share/keyrings/login"
	"$HOME/.cargo/credentials.toml" "$HOME/.docker/config.json" "$HOME/.kube/config" "$HOME/notes")
writables=(/ /etc /etc/hosts /usr/bin/x /usr/lib/x /usr/local/bin/x /var/tmp/x /home/x "$HOME/x" /proc/sys/kernel/core_pattern /sys/x /dev/sda /dev/mem)
for name in "${usable[@]}"; do
	including "$name"
	sbx check -p policy.ini read "${secrets[@]}"
	[ "$STATUS" -eq 1 ] && ! grep '^sbx: Can ' "$DIR/out" | sed 's/^/# /' | grep .
	result $? "$name opens no credential and no home"
	sbx check -p policy.ini write "${writables[@]}"
	[ "$STATUS" -eq 1 ] && ! grep '^sbx: Can ' "$DIR/out" | sed 's/^/# /' | grep .
	result $? "$name lets nothing of the system be written"
	sbx check -p policy.ini connect 127.0.0.1:80 10.0.0.1:443 example.org:443 unix:/var/run/docker.sock
	[ "$STATUS" -eq 1 ] && ! grep -q '^sbx: Can ' "$DIR/out"
	result $? "$name brings no network"
	sbx check -p policy.ini write /dev/null ./x
	is 0 "$name keeps /dev/null, and the workspace"
done
declare -A runs=([node]=node [python]=python3 [ruby]=ruby [bash]=bash [git]=git [npm]=node [build]=cc [base]=env)
for name in "${usable[@]}"; do
	program=${runs[$name]:-}
	if [ -z "$program" ] || ! command -v "$program" >/dev/null; then continue; fi
	including "$name"
	sbx check -p policy.ini exec "$program"
	is 0 "$name can run $program"
	sbx check -p policy.ini exec ./"$program"
	is 0 'as can the workspace run its own'
done
including node
sbx check -p policy.ini exec sh
is 1 'node brings no shell'
including base
sbx check -p policy.ini exec cat
is 1 'base brings no programs'
sbx check -p policy.ini exec "$SBX"
is 0 'but sbx-policy itself'

# -- presets
including 'airgapped, bash'
printf '[network]\nconnect = example.org:443\n' >>policy.ini
sbx lint -p policy.ini
is 125 'airgapped cannot be opened by the policy that includes it'
grep -qE "^sbx-policy: profiles/airgapped.ini:[0-9]+: 'mode = none' contradicts 'connect = example.org:443' in policy.ini:5" "$DIR/err"
result $? 'and both lines are named'
including strict
printf '[network]\nconnect = example.org:443\n[limits]\nmemory = 8G\ntimeout = 5h\n' >>policy.ini
sbx show -p policy.ini
is 0 'strict can'
has out '[limits] memory = 8G   # policy.ini:7' "the policy's own values are stronger"
grep -qE '^  \[limits\] processes = [0-9]+   # profiles/strict.ini:[0-9]+$' "$DIR/out"
result $? "the preset's hold where it has none"
including 'strict, airgapped'
sbx show -p policy.ini
has out '[sandbox] home = private   # profiles/' 'both presets go together'

# -- by the command's name
printf '[sandbox]\nworkspace = .\n' >policy.ini
for pair in node:node npm:npm npx:npm python3:python python3.11:python pip:python ruby:ruby gem:ruby bash:bash sh:bash git:git gcc:build make:build /usr/bin/make:build; do
	[[ " ${usable[*]} " == *" ${pair#*:} "* ]] || continue
	sbx show --command "${pair%:*}" -p policy.ini
	has out "Rules of profiles/${pair#*:}.ini" "the command ${pair%:*} has the profile ${pair#*:}"
done
sbx show --command nodemon -p policy.ini
hasnt out 'Rules of profiles/node.ini' 'a command that only begins like one has none'
sbx show --command node --command bash -p policy.ini
hasnt out 'Rules of profiles/node.ini' 'of two commands the last counts'

# -- version managers
program() # FILE [LINES]
{
	file "$1" "#!/bin/sh\n${2:-}"
	chmod 755 "$1"
}
printf '[sandbox]\ninclude = python\nworkspace = .\n' >policy.ini
pyenv=$HOME/.pyenv
program "$pyenv/shims/python3" 'exec "/x/libexec/pyenv" exec python3 "$@"\n'
program "$pyenv/versions/3.9.18/bin/python3"
program "$pyenv/versions/3.11.4/bin/python3"
program "$pyenv/versions/3.11.7/bin/python3"
file "$pyenv/versions/3.11.7/lib/python3.11/os.py" ''
file "$pyenv/versions/3.9.18/lib/python3.9/os.py" ''
file "$pyenv/version" '3.11.7\n'
PATH=$pyenv/shims:$PATH
sbx lint --strict -p policy.ini
is_quiet
result $? 'the python profile loads behind pyenv'
sbx check -p policy.ini exec "$pyenv/versions/3.11.7/bin/python3" python3 "$pyenv/shims/python3"
is 0 'the interpreter that pyenv would take can run, and its shim'
sbx check -p policy.ini read "$pyenv/versions/3.11.7/lib/python3.11/os.py"
is 0 'its library can be read'
sbx check -p policy.ini exec "$pyenv/versions/3.9.18/bin/python3"
is 1 'another version cannot run'
sbx check -p policy.ini read "$pyenv/versions/3.9.18/lib/python3.9/os.py"
is 1 'nor be read'
sbx check -p policy.ini write "$pyenv/versions/3.11.7/lib/python3.11/os.py" "$pyenv/shims/python3"
is 1 'nothing of it can be written'
file .python-version '3.9.18\n'
sbx check -p policy.ini exec "$pyenv/versions/3.9.18/bin/python3"
is 0 "the project's version file chooses"
file .python-version '3.11\n'
sbx check -p policy.ini exec "$pyenv/versions/3.11.7/bin/python3"
is 0 'a part of a version means the newest'
PYENV_VERSION=3.9.18 sbx check -p policy.ini exec "$pyenv/versions/3.9.18/bin/python3"
is 0 "pyenv's variable is stronger"
mkdir "$HOME/evil" && program "$HOME/evil/bin/python3"
for version in ../../evil ../../../home/evil /etc '3.11.7/../../../evil' '$(id)' "$HOME/evil"; do
	file .python-version "$version\n"
	sbx check -p policy.ini read "$HOME/evil/bin/python3" "$HOME/notes"
	[ "$STATUS" -ne 0 ] && ! grep -q '^sbx: Can ' "$DIR/out"
	result $? "a version file cannot lead out of pyenv ($version)"
done
head -c 100000 /dev/urandom >.python-version
sbx lint -p policy.ini
is_quiet
result $? 'garbage in it does no harm'
rm .python-version
PATH=/usr/local/bin:/usr/bin:/bin

printf '[sandbox]\ninclude = ruby\nworkspace = .\n' >policy.ini
rbenv=$HOME/.rbenv
program "$rbenv/shims/ruby" 'exec "/x/libexec/rbenv" exec ruby "$@"\n'
program "$rbenv/versions/3.2.2/bin/ruby"
file "$rbenv/version" '3.2.2\n'
PATH=$rbenv/shims:$PATH sbx check -p policy.ini exec "$rbenv/versions/3.2.2/bin/ruby"
is 0 'ruby is found behind rbenv'

printf '[sandbox]\ninclude = node\nworkspace = .\n' >policy.ini
program "$HOME/.nvm/versions/node/v20.1.0/bin/node"
file "$HOME/.nvm/versions/node/v20.1.0/lib/node_modules/npm/package.json" '{}'
PATH=$HOME/.nvm/versions/node/v20.1.0/bin:$PATH sbx check -p policy.ini exec node
is 0 'node is found where nvm puts it'
has out "$HOME/.nvm/versions/node/v20.1.0/bin/node" 'and it is that one'
PATH=$HOME/.nvm/versions/node/v20.1.0/bin:$PATH sbx check -p policy.ini read "$HOME/.nvm/versions/node/v20.1.0/lib/node_modules"
is 0 'with its modules'
asdf=$HOME/.asdf
program "$asdf/shims/node" '# asdf-plugin: nodejs 18.0.0\nexec /x/asdf exec node "$@"\n'
program "$asdf/installs/nodejs/18.0.0/bin/node"
file .tool-versions 'nodejs 18.0.0\n'
PATH=$asdf/shims:$PATH sbx check -p policy.ini exec "$asdf/installs/nodejs/18.0.0/bin/node"
is 0 'node is found behind asdf'
rm .tool-versions
volta=$HOME/.volta
program "$volta/bin/volta-shim"
ln -s volta-shim "$volta/bin/node"
program "$volta/tools/image/node/16.2.0/bin/node"
file "$volta/tools/user/platform.json" '{"node":{"runtime":"16.2.0","npm":null}}'
PATH=$volta/bin:$PATH sbx check -p policy.ini exec "$volta/tools/image/node/16.2.0/bin/node"
is 0 'node is found behind volta'
mkdir -p "$HOME/.local/share/fnm/node-versions/v21.0.0/installation/bin" "$HOME/multishell"
program "$HOME/.local/share/fnm/node-versions/v21.0.0/installation/bin/node"
ln -s "$HOME/.local/share/fnm/node-versions/v21.0.0/installation" "$HOME/multishell/1_2"
PATH=$HOME/multishell/1_2/bin:$PATH sbx check -p policy.ini exec "$HOME/.local/share/fnm/node-versions/v21.0.0/installation/bin/node"
is 0 'node is found behind fnm'
PATH=$DIR/empty sbx lint -p policy.ini
is 125 'without node there is no node profile'
grep -q "node.*not found\|not found.*node" "$DIR/err"
result $? 'and it says that the program is missing'
PATH=. sbx lint -p policy.ini
is 125 'the current directory is not searched'

# -- where profiles are found
cd / || exit
"$SBX" lint -p "$DIR/work/policy.ini" >"$DIR/out" 2>"$DIR/err"
STATUS=$?
is 0 'profiles are found from any directory'
ln -s "$SBX" "$DIR/sbx-link"
run "$DIR/sbx-link" lint -p "$DIR/work/policy.ini"
is 0 'and through a link to the program'
cd "$DIR/work" || exit
tree=$DIR/moved
mkdir -p "$tree"
cp -r "$SBX_BUILD/bin" "$SBX_BUILD/share" "$tree/"
including bash
run "$tree/bin/sbx-policy" lint --strict -p policy.ini
is_quiet
result $? 'a tree that was moved has its profiles with it'
echo 'raed = x' >>"$tree/share/sbx/profiles/bash.ini"
run "$tree/bin/sbx-policy" lint -p policy.ini
is 125 'and it is those that are read'
has err 'profiles/bash.ini:' 'by their name'
cp "$SBX_BUILD/share/sbx/profiles/bash.ini" "$tree/share/sbx/profiles/bash.ini"
chmod 666 "$tree/share/sbx/profiles/bash.ini"
run "$tree/bin/sbx-policy" lint -p policy.ini
is 125 'a profile that everybody may write is refused'
chmod 644 "$tree/share/sbx/profiles/bash.ini"
rm "$tree/share/sbx/profiles/base.ini"
run "$tree/bin/sbx-policy" lint -p policy.ini
is 125 'base must be there'
rm -r "$tree/share"
if [ ! -d "$(cat "$SBX_BUILD/prefix" 2>/dev/null || echo /usr/local)/share/sbx/profiles" ]; then
	run "$tree/bin/sbx-policy" lint -p policy.ini
	has err "cannot include 'bash': the bundled profiles were not found" 'a program without profiles says so'
fi

# -- an installation
if [ -z "${SBX_AGAIN:-}" ] && [ "${SBX_VARIANT:-release}" = release ]; then
	prefix=$(cat "$SBX_BUILD/prefix")
	(cd "$SBX_TOP" && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make install PREFIX="$prefix" DESTDIR="$DIR/stage") >"$DIR/log" 2>&1
	result $? 'it can be installed'
	installed=$DIR/stage$prefix/bin/sbx-policy
	good=0
	for name in "${usable[@]}"; do
		including "$name"
		run "$installed" lint --strict -p policy.ini
		is_quiet || good=1
		run as_user "$installed" lint --strict -p policy.ini
		is_quiet || good=1
	done
	result $good 'every profile loads from there, for everybody'
	run "$installed" show -p policy.ini
	has out "$DIR/stage$prefix/bin/sbx-policy " 'and base lets the installed sbx-policy run'
fi
finish
