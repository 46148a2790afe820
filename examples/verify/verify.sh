#!/bin/bash
# SPDX-License-Identifier: MIT
#
# verify.sh: tries on this machine what a sandbox promises, and prints a table. Anybody may run it; as
# root it tries a little more. It changes nothing but a folder of its own below TMPDIR or /tmp: what
# stands for the world there, and is to be removed, is a tree of canaries.
# shellcheck disable=SC2016 # '$' is for the shells inside
set -u
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd) || exit
build=${SBX_BUILD:-$here/../../build/release}
[ ! -x "$build/bin/sbx-launch" ] || PATH=$build/bin:$PATH
if ! command -v sbx-launch >/dev/null; then
	echo 'verify.sh: there is no sbx-launch: build it (make), or put it into PATH' >&2
	exit 2
fi
dir=$(mktemp -d) && dir=$(cd "$dir" && pwd -P) || exit
trap 'chmod -R u+rwX "$dir"; rm -rf "$dir"' EXIT
# Somebody without rights must get there too, when root tries that.
chmod 711 "$dir"
mkdir "$dir/work" && chmod 777 "$dir/work" && cd "$dir/work" || exit
passed=0 failed=0 skipped=0

# The table is the result, so what programs say goes into the row.
inside() # OPTION... -- COMMAND...
{
	sbx-launch -q -p "$here/policy.ini" "$@" 2>&1 </dev/null
}

row() # pass|FAIL|skip WHAT DETAIL
{
	case $1 in
	pass) passed=$((passed + 1)) ;;
	FAIL) failed=$((failed + 1)) ;;
	skip) skipped=$((skipped + 1)) ;;
	esac
	printf '  %-4s  %-28s  %s\n' "$1" "$2" "$(head -n 1 <<<"$3" | cut -c 1-60)"
}

judge() # STATUS WHAT DETAIL
{
	if [ "$1" -eq 0 ]; then row pass "$2" "$3"; else row FAIL "$2" "$3"; fi
}

not_root()
{
	local uid

	if [ "$(id -u)" -ne 0 ]; then
		row skip 'not root when told so' 'only root can become somebody else'
		return
	fi
	uid=$(inside --user=nobody -- id -u)
	[ "$uid" = "$(id -u nobody)" ]
	judge $? 'not root when told so' "user = nobody: runs as $uid"
}

no_privileges()
{
	local said status

	said=$(inside -- sh -c 'grep -E "^(CapPrm|CapEff|CapAmb|NoNewPrivs)" /proc/self/status' | tr -s '\t\n' ' ')
	[ "$said" = 'CapPrm: 0000000000000000 CapEff: 0000000000000000 NoNewPrivs: 1 CapAmb: 0000000000000000 ' ] ||
		[ "$said" = 'CapPrm: 0000000000000000 CapEff: 0000000000000000 CapAmb: 0000000000000000 NoNewPrivs: 1 ' ]
	judge $? 'no privileges to gain' 'no capability, no_new_privs'
	for tool in sudo su; do
		command -v $tool >/dev/null || continue
		case $tool in
		sudo) said=$(inside -- sudo -n true) ;;
		su) said=$(inside --allow-read='/etc/passwd, /etc/group, /etc/pam.d ?, /etc/login.defs ?' -- su -c true nobody) ;;
		esac
		status=$?
		[ $status -ne 0 ]
		judge $? "$tool blocked" "exit status $status: $said"
	done
	command -v sudo >/dev/null || row skip 'sudo blocked' 'there is no sudo here'
}

read_only()
{
	local folder said

	for folder in /etc /usr /usr/bin; do
		said=$(inside -- sh -c "echo x >$folder/sbx-verify || echo refused" | tail -n 1)
		[ "$said" = refused ] && [ ! -e "$folder/sbx-verify" ]
		judge $? "$folder read-only" "$said"
	done
	said=$(inside -- sh -c 'ls /usr/bin | head -n 1')
	[ -n "$said" ]
	judge $? '/usr/bin readable' 'programs are found there'
	# The user's own file, which ordinary permissions would let be written.
	mkdir "$dir/mine" && echo mine >"$dir/mine/file"
	said=$(inside --allow-read="$dir/mine" -- \
		sh -c "cd '$dir/mine' && cat file && { echo x >file || echo refused; }" | tr '\n' ' ')
	[[ $said = 'mine '*' refused ' ]] && [ "$(cat "$dir/mine/file")" = mine ]
	judge $? 'own files too, unless listed' 'refused'
}

timeout_enforced()
{
	local began=$SECONDS status

	inside --timeout=1s -- sleep 30 >/dev/null
	status=$?
	[ $status -eq 124 ] && [ $((SECONDS - began)) -lt 20 ]
	judge $? 'timeout enforced' "sleep 30 under timeout = 1s: exit status $status"
}

tmp_writable()
{
	local said

	said=$(inside -- sh -c 'echo content >"$TMPDIR/file" && cat "$TMPDIR/file" && echo "$TMPDIR"')
	[ "$(head -n 1 <<<"$said")" = content ]
	judge $? 'tmp writable' "$(tail -n 1 <<<"$said")"
	[ ! -e "$(tail -n 1 <<<"$said")" ]
	judge $? 'and removed afterwards' ''
}

interpreter() # NAME COMMAND...
{
	local said

	if ! command -v "$2" >/dev/null; then
		row skip "$1 works" "there is no $2 here"
		return
	fi
	said=$(inside -- "${@:2}")
	[ "$said" = 42 ]
	judge $? "$1 works" "6 * 7 is $said"
}

exit_codes()
{
	local status seen=''

	for status in 0 1 42 126 255; do
		inside -- sh -c "exit $status"
		seen+="$? "
	done
	inside -- sh -c 'kill -TERM $$'
	seen+=$?
	[ "$seen" = '0 1 42 126 255 143' ]
	judge $? 'exit codes preserved' "$seen"
}

canaries() { find "$dir/world" -type f -exec cat {} + 2>/dev/null | sort | tr '\n' ' '; }

rm_harmless()
{
	local name before

	for name in bin etc home/user usr/lib var; do
		mkdir -p "$dir/world/$name" && echo "$name" >"$dir/world/$name/canary"
	done
	chmod -R a+rwX "$dir/world"
	mkdir rubbish && echo x >rubbish/file && chmod -R a+rwX rubbish
	before=$(canaries)
	inside -- rm -rf --no-preserve-root "$dir/world" >/dev/null
	[ $? -eq 1 ] && [ "$(canaries)" = "$before" ]
	judge $? 'rm -rf of the world harmless' 'where the policy says nothing of it'
	inside --allow-read="$dir/world" -- rm -rf --no-preserve-root "$dir/world" >/dev/null
	[ $? -eq 1 ] && [ "$(canaries)" = "$before" ]
	judge $? '' 'where it may be read'
	inside -- rm -rf rubbish
	[ ! -e rubbish ]
	judge $? '' 'and works where it may write'
}

echo "$(sbx-launch --version), $(uname -sr), $(id -un 2>/dev/null || id -u)"
# A run that cannot start refuses everything, and proves nothing.
if [ "$(inside -- echo hello)" != hello ]; then
	row FAIL 'a program runs' "$(inside -- echo hello)"
	exit 1
fi
not_root
no_privileges
read_only
timeout_enforced
tmp_writable
interpreter python python3 -c 'print(6 * 7)'
interpreter node node -p '6 * 7'
interpreter bash bash -c 'echo $((6 * 7))'
interpreter ruby ruby -e 'puts 6 * 7'
exit_codes
rm_harmless
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed -eq 0 ]
