#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Hosts by name: every client reaches allowed hosts, no question about another leaves, and each client
# that asks for a host that is not allowed is told who refused it.
#
# All of it happens in a network of the test's own, with servers that write down who contacts them
# (names/servers.py). Once root (of a user namespace, at least) has made it, the test begins anew in it.
# shellcheck disable=SC2016,SC2028,SC2153 # '$' is for the shells inside, escapes for python

six=
ready_network() # COMMAND...
{
	local pid status i

	ip link set lo up && ip addr add 55.0.0.7/32 dev lo && ip addr add 55.0.0.8/32 dev lo &&
		ip addr add 55.0.0.9/32 dev lo || return
	ip -6 addr add 2600::7/128 dev lo nodad 2>/dev/null && six=yes
	export SBX_NAMES_SIX=$six
	mount --bind "$SBX_NAMES/resolv.conf" /etc/resolv.conf &&
		mount --bind "$SBX_NAMES/hosts" /etc/hosts || return
	/usr/bin/env python3 "${SBX_TOP:-.}/tests/e2e/names/servers.py" "$SBX_NAMES" $six &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		[ ! -e "$SBX_NAMES/ready" ] || break
		sleep 0.05
	done
	"$@"
	status=$?
	kill "$pid"
	return "$status"
}

# What the web servers have: a page, a repository, and a registry of one package.
make_site()
{
	local git="git -c user.name=a -c user.email=a@b -c init.defaultBranch=main"

	mkdir -p www/package source
	echo hello >www/index.html
	cd source && $git init -q && echo hello >README && $git add README && $git commit -qm hello &&
		$git clone -q --bare . ../www/repo.git && cd ../www/repo.git && git update-server-info &&
		cd ../.. || return
	echo '{"name": "left", "version": "1.0.0"}' >www/package/package.json
	tar czf www/left-1.0.0.tgz -C www package
	echo '{"name": "left", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {"name": "left",
	"version": "1.0.0", "dist": {"tarball": "http://ok.test/left-1.0.0.tgz"}}}}' >www/left
	# A server that nobody answers at comes first.
	printf 'nameserver 127.0.0.9\nnameserver 127.0.0.3\nsearch corp.test lab.test\n' >resolv.conf
	printf '127.0.0.1 localhost vm\n55.0.0.9 filed.test\n55.0.0.8 unlisted.test\n' >hosts
	: >asked
	: >trapped
}

if [ -n "${SBX_NAMES_SET_UP:-}" ]; then
	unset SBX_NAMES_SET_UP
	if [ "$SBX_NAMES_USER" -eq 0 ]; then
		ready_network bash "$0"
	else
		ready_network unshare -U --map-user="$SBX_NAMES_USER" --map-group="$(id -g)" bash "$0"
	fi
	exit
fi
if [ -z "${SBX_NAMES:-}" ]; then
	SBX_NAMES=$(mktemp -d) && chmod 755 "$SBX_NAMES" || exit
	trap 'rm -rf "$SBX_NAMES"' EXIT
	SBX_NAMES_USER=$(id -u)
	export SBX_NAMES SBX_NAMES_USER PYTHONDONTWRITEBYTECODE=yes
	apart="unshare -mn"
	[ "$SBX_NAMES_USER" -eq 0 ] || apart="unshare -rmn"
	if ! $apart true 2>/dev/null || ! command -v ip >/dev/null; then
		echo '1..0 # SKIP no network of its own can be had here'
		exit
	fi
	(umask 022 && cd "$SBX_NAMES" && HOME=$SBX_NAMES make_site >/dev/null 2>&1) || exit
	SBX_NAMES_SET_UP=yes $apart bash "$0"
	exit
fi

# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"
# Where whoever the program runs as can read it.
NAMES=$DIR/names
cp -r "$SBX_TOP/tests/e2e/names" "$NAMES" && chmod -R go+rX "$NAMES" || exit
PYTHON3=$(command -v /usr/bin/python3 || command -v python3)

# shellcheck source=tests/e2e/names/services.sh
. "$NAMES/services.sh"

# Policies: the clients and their files, and what is allowed.
rules() # NETWORK LINES...
{
	printf '[sandbox]\ninclude = bash, node, npm, git, python, ruby\nworkspace = .\nhome = private\n'
	printf '[paths]\nread = %s, /etc/passwd\n' "$NAMES"
	printf 'exec = /usr/bin/%s ?\n' curl busybox ssh redis-cli
	printf 'exec = %s ?\n[network]\n' "$PSQL"
	printf '%s\n' "$@"
}
rules 'connect = ok.test:80, both.test:80' 'dns = 127.0.0.1:5353' \
	"connect = ok.test:$SSH_PORT, ok.test:$REDIS_PORT, ok.test:$SQL_PORT" >policy.ini

# In the sandbox.
inside() # COMMAND...
{
	# shellcheck disable=SC2086 # one option, or none
	launch -q $shim ${policy:+-p "$policy"} -- "$@"
}

# Since the last time, nothing but these names was asked for, in the very bytes of them, and with
# nothing behind them; and nobody fell into a trap.
asked_before=$(wc -l <"$SBX_NAMES/asked")
trapped_before=$(wc -l <"$SBX_NAMES/trapped")
asks() # NAMES NAME
{
	tail -n "+$((asked_before + 1))" "$SBX_NAMES/asked" >"$DIR/asked"
	asked_before=$(wc -l <"$SBX_NAMES/asked")
	[ "$(awk '{ print $2, $4 }' "$DIR/asked" | sort -u | tr '\n' ' ')" = "${1:+${1// / 0 } 0 }" ]
	result $? "$2"
	[ "$(wc -l <"$SBX_NAMES/trapped")" -eq "$trapped_before" ]
	result $? 'and nobody else is contacted'
	trapped_before=$(wc -l <"$SBX_NAMES/trapped")
}

# --- Clients ---

# Every one gets what it wants of a host, or says what it has to say.
ask_by() # CLIENT HOST [PORT]
{
	case $1 in
	'curl http') echo "curl -sS http://$2/" ;;
	'curl https') echo "curl -sS https://$2/" ;;
	'node http') echo "node -e \"require('http').get('http://$2/', r => r.pipe(process.stdout))\"" ;;
	'node fetch') echo "node -e \"fetch('http://$2/').then(r => r.text()).then(t => process.stdout.write(t))\"" ;;
	'node dns.resolve') echo "node -e \"require('dns').resolve4('$2', (e, a) => { if (e) throw e; console.log(a[0]) })\"" ;;
	'node dns.lookup') echo "node -e \"require('dns').lookup('$2', 4, (e, a) => { if (e) throw e; console.log(a) })\"" ;;
	'python urllib') echo "python3 -c \"import urllib.request as r; print(r.urlopen('http://$2/').read().decode(), end='')\"" ;;
	'python asyncio') echo "python3 -c \"
import asyncio
async def main():
    r, w = await asyncio.open_connection('$2', 80)
    w.write(b'GET / HTTP/1.0\\r\\n\\r\\n')
    print((await r.read()).decode().split()[-1])
asyncio.run(main())\"" ;;
	'ruby net/http') echo "ruby -rnet/http -e \"print Net::HTTP.get(URI('http://$2/'))\"" ;;
	'git clone') echo "git clone -q http://$2/repo.git \$TMPDIR/clone && cat \$TMPDIR/clone/README" ;;
	'npm install') echo "npm install --silent --no-audit --no-fund --fetch-retries=0 --no-save --registry=http://$2/ left && echo hello" ;;
	'busybox wget') echo "busybox wget -q -O - http://$2/" ;;
	'busybox nslookup') echo "busybox nslookup $2 && echo hello" ;;
	'static musl') echo "./musl $2 && echo hello" ;;
	'git ssh') echo "export GIT_SSH_COMMAND='ssh -F none -i key -o UserKnownHostsFile=known -o BatchMode=yes'
git clone -q ssh://server@$2:${3:-$SSH_PORT}$SBX_NAMES/www/repo.git \$TMPDIR/cloned && cat \$TMPDIR/cloned/README" ;;
	'redis-cli') echo "redis-cli -h $2 -p ${3:-$REDIS_PORT} echo hello" ;;
	'psql') echo "$PSQL -h $2 -p ${3:-$SQL_PORT} -U postgres -Atc \"select 'hello'\"" ;;
	esac
}

clients=()
for client in 'curl http' 'curl https' 'node http' 'node fetch' 'node dns.resolve' 'node dns.lookup' \
	'python urllib' 'python asyncio' 'ruby net/http' 'git clone' 'npm install' 'busybox wget' 'busybox nslookup'; do
	case $client in python*) program=python3 ;; *) program=${client%% *} ;; esac
	if command -v "$program" >/dev/null; then clients+=("$client"); fi
done
if command -v musl-gcc >/dev/null && musl-gcc -static -o musl "$NAMES/client.c"; then
	clients+=('static musl')
fi
clients+=("${SERVICES[@]}")

# All in one sandbox: a line each.
for client in "${clients[@]}"; do
	[ "$client" != 'curl https' ] || continue
	printf 'printf "%s: "\n(%s) 2>&1 | tail -n 1\n' "$client" "$(ask_by "$client" ok.test)"
done >allowed.sh
for client in "${clients[@]}"; do
	case $client in
	'curl https') ;;
	'node dns'*) echo "$client: 55.0.0.7" ;;
	*) echo "$client: hello" ;;
	esac
done >"$DIR/expected"
policy=policy.ini
about='^sbx: Cannot \(look up\|connect\)' # of what else is refused, other tests speak
for shim in '' --no-shim; do
	how=${shim:+, $shim}
	inside bash allowed.sh
	diff "$DIR/expected" "$DIR/out" >&2
	result $? "every client reaches an allowed host$how"
	! grep -q "$about" "$DIR/err"
	result $? "and no host is refused$how"
	asks 'ok.test' "no other name is asked for$how"
	for client in "${clients[@]}"; do
		# Most of them the shim has no part in.
		case $shim$client in --*'curl http' | --*fetch | --*wget | [!-]*) ;; *) continue ;; esac
		inside bash -c "$(ask_by "$client" blocked.test)"
		# Some ask again.
		[ "$STATUS" -ne 0 ] && [ "$(grep "$about" "$DIR/err" | grep -cv 'more like it$')" -eq 1 ] &&
			grep -qFx "sbx: Cannot look up 'blocked.test': host not allowed. This is the sandbox, not a DNS failure." "$DIR/err"
		result $? "$client is told that the sandbox refuses a host$how"
	done
	asks '' "its name goes nowhere, whoever asks$how"
	for client in "${SERVICES[@]}"; do
		refuses "sbx: Cannot connect to '55.0.0.7:9999' (ok.test): destination not allowed." \
			"$client is told that it is the port" bash -c "$(ask_by "$client" ok.test 9999)"
	done
	asks ok.test "of the host that it asked for$how"
done

# --- Attacks (names/hostile.py) ---

hostile() # EXPECTED NAME FUNCTION...
{
	local text=$1 name=$2

	shift 2
	inside "$PYTHON3" "$NAMES/hostile.py" "$@"
	[ "$STATUS" -eq 0 ] && diff <(printf '%s\n' "$text") "$DIR/out" >"$DIR/diff"
	result $? "$name$how"
	sed 's/^/# diff: /' "$DIR/diff"
}

rules 'connect = ok.test:80, two.test:80, *.wild.test:80, *.rebind.test:80' \
	'connect = lies.test:80, aside.test:80, chain.test:80, large.test:80' \
	'connect = round.test:80, junk.test:80, silent.test:80, both.test:80' \
	'connect = *.part.test:*' 'deny = shut.part.test:*, half.part.test:443' \
	'dns = 127.0.0.1:5353' >many.ini
policy=many.ini
for shim in '' --no-shim; do
	how=${shim:+, $shim}
	hostile 'plain 0/1
case 0/1
evil-ok.test 3/0
ok.test.evil 3/0
evil.ok.test 3/0
xn--ok-.test 3/0
ok-test 3/0
test 3/0
ok.tes 3/0
okk.test 3/0
wild.test 3/0
a.wild.test.evil 3/0
wild 0/1 3/0
nul 3/0 3/0 3/0
dot inside 3/0 3/0
control 3/0 3/0
high 3/0
blank 3/0
long 3/0
root 3/0
reverse 3/0
types 0/0 0/0 0/0 0/0 0/0 0/0' 'names are what they are, by label and byte' names
	clean 'and nothing of them reaches a terminal'
	asks 'a.wild.test b.a.wild.test ok.test' 'what is no allowed name is not asked for'
	hostile 'loop EACCES
link EACCES
ten EACCES
none EACCES
nat EACCES
mapped-four EACCES
before EACCES
after DONE
mapped DONE
port EACCES
other EACCES' 'an allowed name leads to no private address, and an address is nobody before it was given out' rebind literal
	has err "(link.rebind.test): the name is allowed, but it leads to a private address." 'which is explained'
	asks "link.rebind.test loop.rebind.test nat.rebind.test none.rebind.test ok.test ten.rebind.test" 'all of which were asked for'
	hostile 'datagram hello
bind 53 EACCES
raw EACCES
packet EACCES
old packet EACCES
mark EPERM
transparent EPERM
route EPERM
link EPERM
unshare EPERM
unshare user EPERM
setns EACCES' 'the network of its own lets nothing out, and stays as it is' inside
	asks '' 'by way of datagrams, too'
	hostile "kind 2 1 6 ('0.0.0.0', 0)
flags True 1
flags False 0
lowest True
full EMFILE
no such EACCES
no such EINVAL
epoll True 4 0 ('55.0.0.7', 80)
127.0.0.1 DONE
localhost DONE
a.localhost DONE" 'sockets that are handed over are as if they had been made here' sockets own
	asks ok.test 'with one name'
done
shim='' how=''
hostile "lies 55.0.0.7
aside ['55.0.0.7']
poisoned EACCES
chain 55.0.0.7
large 0/30+ 0/51
strange 2/0 2/0 2/0" 'what servers say is believed as far as it answers' upstream
asks 'aside.test chain.test junk.test large.test lies.test round.test silent.test' 'and asked again by TCP where it is cut'
grep -q '^tcp large' "$DIR/asked"
result $? 'really'
hostile '8.8.8.8 0/1 3/0
127.0.0.1 0/1 3/0
10.0.0.1 0/1 3/0' 'look-ups by TCP get the same answers, from whatever server' stream
asks ok.test 'of names alone'
hostile 'half.part.test 0/1
shut.part.test 3/0
half 80 DONE
half 443 EACCES' 'deny wins, by name and port' parts
asks 'half.part.test' 'what nothing is left of is not asked for'
for shim in '' '--isolate none'; do
	[ -n "$SBX_NAMES_SIX" ] || continue
	how=${shim:+ ($shim)}
	hostile 'six EACCES
unspecified EACCES
mapped EACCES
nat64 EACCES
local EACCES
both DONE' 'the same goes for IPv6' six
	asks 'both.test local.rebind.test mapped.rebind.test nat64.rebind.test six.rebind.test unspecified.rebind.test' 'too'
done
shim='' how=''

# The machine's own servers and file of names; more private, and as somebody else.
rules 'connect = filed.test:80, ok.test:80, *.wild.test:80' >own.ini
policy=own.ini
hostile 'filed.test 0/1
unlisted.test 3/0
vm 3/0
filed DONE
unlisted EACCES
ok.test 0/1' "the machine's own names and servers serve, the next where one does not answer" files
asks 'ok.test' 'what is in a file is not asked for'
rules 'connect = ok.test:*, silent.test:80' >dying.ini
policy=dying.ini
hostile 'waiting True
left 0
ok.test 0/1' 'whoever dies while it waits leaves nothing behind' dying
asks 'ok.test silent.test' 'and asked for no more'
policy=own.ini
hostile 'refused [3]
allowed [0]
grown no' 'thousands of look-ups are answered, and cost no memory' flood
asks "$(printf 'x%d.wild.test\n' {0..49} | sort | tr '\n' ' ' | sed 's/ $//')" 'and refused ones go nowhere'
# Look-ups by TCP are heard on the host's loopback: others there are not answered, and not spoken of.
if is_root; then
	mkfifo "$DIR/hold"
	inside cat <"$DIR/hold" &
	holder=$!
	exec 9>"$DIR/hold"
	ours=$("$PYTHON3" "$NAMES/hostile.py" door)
	theirs=$(as_user "$PYTHON3" - door <"$NAMES/hostile.py")
	exec 9>&-
	wait "$holder"
	[ "$ours" = 'answered 3/0' ] && [ "$theirs" = closed ]
	result $? 'nobody else is answered by the resolver'
	[ "$(grep -c 'Cannot look up' "$DIR/err")" -eq 1 ]
	result $? 'or explained to'
fi
for options in '--isolate full' '--isolate none' '--user nobody'; do
	case $options in
	*user*) is_root || continue ;;
	*full*) if ! "$LAUNCH" -qq --isolate full -- true 2>/dev/null; then continue; fi ;;
	esac
	shim=$options how=" ($options)"
	hostile 'before EACCES
after DONE
mapped DONE
port EACCES
other EACCES' 'it holds in whatever way' literal
	asks ok.test 'for the same name'
done

stop_services
finish
