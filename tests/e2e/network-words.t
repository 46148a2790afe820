#!/bin/bash
# SPDX-License-Identifier: MIT
#
# What is said about the network: kinds of sockets that are not to be had, names that are not looked up,
# sockets that are known for what they can do; and that nothing is said about what libc tries by itself.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# As messages.md has the lines, but for who tried.
first_line() { grep -m1 '^sbx: ' "$DIR/err"; }

told() # FIRST-LINE NAME
{
	[ "$(first_line)" = "sbx: $1" ]
	result $? "$2"
}

silent() # NAME
{
	! grep -q '^sbx: Cannot' "$DIR/err"
	result $? "$1"
}

# The one refusal that the log has, by members that are text; "-" is null.
logged() # MEMBERS NAME
{
	"$PYTHON" -c 'import json, sys
events = [e for e in map(json.loads, open("log.json")) if e["event"] == "denial"]
want = dict(m.split("=", 1) for m in sys.argv[1].split())
sys.exit(len(events) != 1 or any((events[0][k] or "-").replace(" ", "") != v for k, v in want.items()))' "$1"
	result $? "$2"
	rm -f log.json
}

mkdir bin
source=(-O1 -I"$SBX_TOP/policy" "$SBX_TOP/tests/e2e/network/lookup.c")
cc -o bin/ask "${source[@]}" && cc -static -o bin/ask-static "${source[@]}" 2>/dev/null &&
	cc -static-pie -o bin/ask-static-pie "${source[@]}" 2>/dev/null || exit
programs='ask'
if command -v musl-gcc >/dev/null && [ -e /lib/ld-musl-x86_64.so.1 ] &&
	musl-gcc -o bin/ask-musl "${source[@]}"; then
	programs='ask ask-musl'
fi
file policy.ini '[sandbox]
workspace = .
'
file filtered.ini '[sandbox]
workspace = .

[network]
connect = 10.0.0.1:22
'

# --- Kinds of sockets ---

opened() # KIND ALLOWED HELP NAME PROGRAM ARGUMENT...
{
	local kind=$1 allowed=$2 help=$3 name=$4

	shift 4
	launch -q -p policy.ini --log log.json -- "$@"
	says out 'Permission denied' "$name is refused"
	told "Cannot open $kind: $allowed." 'and that is said'
	has err "$help" 'with what would help, if anything'
	logged 'op=syscall code=socket errno=EACCES layer=seccomp' 'and logged'
}

only='only TCP is allowed'
plain='only UNIX and TCP sockets are allowed'
never='No policy line can allow it.'
wide='A line for it would open far more; none is suggested.'
datagram='To allow it, the user can add to [network] in policy.ini: unix_datagram = yes'
for program in $programs ask-static ask-static-pie; do
	opened 'a UDP socket' "$only" "$wide" "UDP by $program" "bin/$program" socket 2 2
	opened 'a UDP socket' "$only" "$wide" "UDP by number by $program" "bin/$program" raw 10 2 17
	opened 'a UNIX datagram socket' 'only stream sockets are allowed' "$datagram" \
		"a UNIX datagram socket by $program" "bin/$program" socket 1 2
done
opened 'a pair of UNIX datagram sockets' 'only stream sockets are allowed' "$datagram" \
	'a pair of UNIX datagram sockets' bin/ask socketpair 1 2
opened 'a raw socket' "$only" "$never" 'a raw socket' bin/ask socket 2 3 1
opened 'a vsock socket' "$plain" "$never" 'a vsock socket' bin/ask socket 40 1
opened 'a packet socket' "$plain" "$never" 'a packet socket' bin/ask socket 17 3
opened 'a socket of family 38' "$plain" "$never" 'another family' bin/ask socket 38 5
opened 'a netlink socket of protocol 4' 'only NETLINK_ROUTE is allowed' "$never" 'SOCK_DIAG' bin/ask socket 16 3 4

for kind in '2 1' '10 1 6' '1 1' '1 5' '16 3 0'; do
	# shellcheck disable=SC2086 # numbers
	launch -v -p policy.ini -- bin/ask socket $kind 0
	says out opened "a socket of $kind is opened"
	silent 'and nothing is said'
done
launch -q -p policy.ini -- bin/ask socket 2 1 262
says out 'Permission denied' 'MPTCP is refused'
silent 'and nothing is said: servers try it, and do without'
launch -q --explain-all -p policy.ini -- bin/ask socket 2 1 262
told 'Cannot open an MPTCP socket: only TCP is allowed.' 'but where all is explained'

# What libraries only look with, and do without; and the same call of who means it.
if command -v curl >/dev/null; then
	launch -q -p policy.ini -- curl -s http://blocked.test/
	has err "Cannot look up 'blocked.test'" 'curl is told which host it cannot have'
	hasnt err 'UDP' 'and not that libcurl looked for IPv6'
	launch -q -p policy.ini -- git ls-remote http://blocked.test/repo.git
	has err "Cannot look up 'blocked.test'" 'nor is git'
	hasnt err 'UDP' 'which has it from there'
	launch -q --explain-all -p policy.ini -- curl -s http://blocked.test/
	has err "Cannot open a UDP socket: $only." 'but where all is explained'
fi
uuid='import ctypes; print(ctypes.CDLL("libuuid.so.1").uuid_generate_time(bytes(16)) * 0)'
launch -q -p policy.ini -- "$PYTHON" -c "$uuid"
says out 0 'libuuid does without an address of the hardware'
hasnt err 'UDP' 'and nothing is said'
launch -q -p policy.ini -- "$PYTHON" -c 'import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)'
has err "Cannot open a UDP socket: $only." 'python is told that there is no UDP'
launch -q -p policy.ini -- "$PYTHON" -c 'import ctypes; ctypes.CDLL(None).socket(10, 2, 0)'
has err "Cannot open a UDP socket: $only." 'and whoever makes the very call that libcurl makes'

launch -p policy.ini -- bin/ask socket 2 2
has err 'By: no rule matches; policy.ini decides. Tried by ask[' 'who tried is named'
has err '] with socket.' 'and the call'
has err '1 × open socket: a UDP socket' 'and the summary has it'
launch -q --log log.json -p policy.ini -- bin/ask socket 1 2
logged 'syscall=socket rule=- suggest=unix_datagram=yes path=-' 'the log has all of it'
file written.ini '[sandbox]
workspace = .

[network]
mode = none
unix_datagram = no
'
launch -q -p written.ini -- bin/ask socket 1 2
has err 'By: written.ini:6 unix_datagram = no. Tried by' 'a written line is named'
has err 'To allow it, the user can change or remove written.ini:6 unix_datagram = no' 'which would have to go'
launch -q -p written.ini -- bin/ask socket 2 2
has err 'By: written.ini:5 mode = none. Tried by' 'and so is a mode'
file datagram.ini '[sandbox]
workspace = .

[network]
unix_datagram = yes
'
launch -v -p datagram.ini -- bin/ask socket 1 2
says out opened 'the line that is suggested helps'
silent 'and nothing is said'
launch -q -p datagram.ini -- bin/ask socket 2 2
told "Cannot open a UDP socket: $only." 'UDP is another matter'
printf '[sandbox]\nworkspace = .\n[network]\nmode = full\n' >full.ini
launch -v -p full.ini -- bin/ask socket 2 2
says out opened 'with a full network there is UDP'
launch -q -p full.ini -- bin/ask socket 40 1
told 'Cannot open a vsock socket: only UNIX, TCP and UDP sockets are allowed.' 'and what there is not is said'
printf '[sandbox]\nworkspace = .\n[syscalls]\ndeny = socket\n' >denied.ini
launch -q -p denied.ini -- bin/ask socket 2 2
told "Cannot use 'socket': system call not allowed in the sandbox." 'a call that is denied as such is told as such'

# --- Names ---

looked_up() # FIRST-LINE FUNCTION NAME COMMAND...
{
	local line=$1 by=$2 name=$3

	shift 3
	launch -q "$@"
	says out 'not found' "$name is not found"
	told "$line" 'and that is said'
	has err "] with $by." 'by which function'
	[ "$(grep -c '^sbx: Cannot' "$DIR/err")" -eq 1 ]
	result $? 'once, and nothing of how libc asks'
}

for program in $programs; do
	for how in getaddrinfo gethostbyname gethostbyname2 gethostbyname_r gethostbyname2_r res_query; do
		looked_up "Cannot look up 'example.com': network access is disabled." "$how" \
			"a name by $how of $program" -p policy.ini -- "bin/$program" "$how" example.com
	done
done
for how in getaddrinfo_a getaddrinfo_a-later; do
	looked_up "Cannot look up 'example.com': network access is disabled." getaddrinfo_a \
		"a name by $how" -p policy.ini -- bin/ask "$how" example.com
done
has err 'Do not retry, change DNS or use a proxy' 'and what not to do about it'
has err 'add to [network] in policy.ini: connect = example.com:443' 'and what would help'
looked_up "Cannot look up 'example.com': host not allowed. This is the sandbox, not a DNS failure." \
	getaddrinfo 'a name that no rule allows' -p filtered.ini -- bin/ask getaddrinfo example.com
has err 'Allowed hosts: none' 'with those that are allowed'

# What is suggested must help: it is for the port that the program is about to connect to.
add='To allow it, the user can add to [network]'
suggests() # PORT NAME COMMAND...
{
	local port=$1 name=$2

	shift 2
	launch -q -p policy.ini -- "$@"
	grep -Fqx "sbx:   $add in policy.ini: connect = example.com:$port" "$DIR/err"
	result $? "$name is told of port $port"
	[ "$(grep -c '^sbx: Cannot' "$DIR/err")" -eq 1 ]
	result $? 'once'
}
for program in $programs; do
	suggests 80 "a look-up for '80' by $program" "bin/$program" getaddrinfo:80 example.com
	suggests 80 "and for 'http'" "bin/$program" getaddrinfo:http example.com
	suggests 443 "and for 'https'" "bin/$program" getaddrinfo:https example.com
	suggests 65535 'and for the last port' "bin/$program" getaddrinfo:65535 example.com
	suggests 443 'and for nothing in particular' "bin/$program" getaddrinfo example.com
	suggests 443 'and for port 0, which is any' "bin/$program" getaddrinfo:0 example.com
done
suggests 443 'a look-up for an empty service' bin/ask getaddrinfo: example.com
suggests 443 'one whose service is gone by the time of its end' bin/ask getaddrinfo_a-gone example.com
suggests 443 'one for more than any port' bin/ask getaddrinfo:65616 example.com
suggests 443 'who forges such a port' bin/ask forge-port example.com
suggests 80 "python's create_connection" "$PYTHON" -Ic 'import socket
try: socket.create_connection(("example.com", 80))
except OSError: pass'
if command -v curl >/dev/null; then
	suggests 80 'curl http://' curl -qs http://example.com/
	suggests 443 'curl https://' curl -qs https://example.com/
	suggests 8080 'curl with a port' curl -qs http://example.com:8080/
fi
printf '[sandbox]\nworkspace = .\n[network]\nconnect = 10.0.0.1:22\ndeny = *:80\n' >no-http.ini
launch -q -p no-http.ini -- bin/ask getaddrinfo:80 example.com
has err "$never" 'where a rule denies the port, no line for it is suggested'
launch -q -p no-http.ini -- bin/ask getaddrinfo:81 example.com
has err 'connect = example.com:81' 'but for its neighbour'

launch -q --log log.json -p filtered.ini -- bin/ask getaddrinfo example.com
logged 'op=lookup code=name dest=example.com syscall=getaddrinfo layer=shim suggest=connect=example.com:443' \
	'the log has all of it'
looked_up "Cannot look up 'EXAMPLE.com.': network access is disabled." getaddrinfo \
	'a name in another spelling' -p policy.ini -- bin/ask getaddrinfo EXAMPLE.com.

# Hosts by name, in a network of the program's own and without; nobody answers at that address.
for isolate in auto none; do
	file names.ini "[sandbox]
workspace = .
isolate = $isolate

[network]
connect = api.example:443, *.cdn.example:80
dns = 127.0.0.1:9
"
	for program in $programs; do
		looked_up "Cannot look up 'example.com': host not allowed. This is the sandbox, not a DNS failure." \
			getaddrinfo "a name that is not listed, by $program with isolate = $isolate" \
			-p names.ini -- "bin/$program" getaddrinfo example.com
		has err 'Allowed hosts: api.example, *.cdn.example' 'with those that are'
	done
	for name in api.example API.Example. x.cdn.example; do
		launch -q -p names.ini -- bin/ask getaddrinfo "$name"
		says out 'not found' "'$name', which is listed, is not found where nobody answers"
		silent 'and that is no refusal'
	done
	launch -q -p names.ini -- bin/ask getaddrinfo cdn.example
	told "Cannot look up 'cdn.example': host not allowed. This is the sandbox, not a DNS failure." \
		'what is above a pattern is not listed'
	launch -q -p names.ini -- bin/ask socket 1 2
	told 'Cannot open a UNIX datagram socket: only stream sockets are allowed.' 'kinds of sockets are told there, too'
	launch -q -p names.ini -- bin/ask socket 2 3 1
	says out 'Permission denied' 'and refused'
	has err 'Cannot open a raw socket: ' 'each'
	launch -v -p names.ini -- bin/ask socket 2 1
	says out opened 'but TCP'
	silent 'without a word'
done

# What is allowed, is no name, or is known from files is no refusal.
printf '[sandbox]\nworkspace = .\n[network]\nconnect = *:443\ndns = 127.0.0.1:9\n' >any.ini
launch -q -p any.ini -- bin/ask getaddrinfo example.com
silent 'nothing is said about a name that is allowed, and not found'
for name in localhost 127.0.0.1 ::1; do
	launch -v -p policy.ini -- bin/ask getaddrinfo "$name"
	silent "nothing is said about '$name'"
done
for name in 1.2.3.4 5.6.7 ::1 fe80::1%lo x.localhost 'no name' '' "$(printf 'a%.0s' {1..300})"; do
	launch -q -p policy.ini -- bin/ask gethostbyname2 "$name"
	silent "nor about '${name:0:20}', found or not"
done
# A name that this machine's file has, of the other family, where there is one.
name=$(awk '$1 ~ /^127/ && $2 != "localhost" { print $2; exit }' /etc/hosts)
if [ -n "$name" ] && ! grep -Eq "^[0-9a-f]*:.*[[:space:]]$name([[:space:]]|\$)" /etc/hosts; then
	for program in ask ask-static; do
		launch -q -p policy.ini -- "bin/$program" six "$name"
		says out 'not found' "'$name' has no such address"
		silent 'which is nobody'\''s refusal'
	done
fi
launch -q -p policy.ini -- bin/ask numeric example.com
silent 'who wants an address looks up no name'

# Hostile names are escaped like all others, and a flood of them is bounded.
launch -q -p policy.ini -- "$PYTHON" -Ic 'import socket
for i in range(1000):
	try: socket.getaddrinfo(f"n{i}.example", 1)
	except OSError: pass'
[ "$(grep -c '^sbx: Cannot look up' "$DIR/err")" -le 201 ] && grep -q 'further refusals are only counted' "$DIR/err"
result $? 'a thousand names are not a thousand explanations'

launch -q -p policy.ini -- bin/ask forge names
says out 'nobody is fooled' 'what looks as if the shim told it is no more than a call that fails'
silent 'and what is no name is not repeated'

for program in node "$PYTHON" ruby; do
	case $program in
	node) code='require("dns").lookup("example.com", e => console.log(e ? "not found" : "found"))' ;;
	ruby) code='require "socket"; begin; Addrinfo.getaddrinfo("example.com", 1); rescue SocketError; puts "not found"; end' ;;
	*) code='import socket
try: socket.getaddrinfo("example.com", 1)
except OSError: print("not found")' ;;
	esac
	command -v "$program" >/dev/null || continue
	option=-e
	[ "$program" = "$PYTHON" ] && option=-Ic
	looked_up "Cannot look up 'example.com': network access is disabled." getaddrinfo \
		"a name by ${program##*/}" -p policy.ini -- "$program" "$option" "$code"
done

# Without the shim the resolver explains, where it is asked; else there is only the socket.
for program in ask-static 'ask --no-shim'; do
	# shellcheck disable=SC2086 # an option or nothing
	launch -q ${program#ask*[c ]} -p policy.ini -- "bin/${program% *}" getaddrinfo example.com
	told "Cannot look up 'example.com': network access is disabled." "$program is told of the name, too"
	[ "$(grep -c '^sbx: Cannot' "$DIR/err")" -eq 1 ]
	result $? 'once'
done

# Where nobody listens, the shim explains by itself.
file outer.ini "[sandbox]
include = bash, python

[paths]
write = $DIR
read = $SBX_BUILD
exec = $SBX_BUILD/bin, ./bin
"
file inner.ini '[sandbox]
include = bash, python

[paths]
exec = ./bin
'
launch -q -p outer.ini -- "$LAUNCH" -p inner.ini -- bin/ask getaddrinfo example.com
says out 'not found' 'in a nested run, a name is not found'
has err "sbx: Cannot look up 'example.com': network access is disabled." 'and the shim says why'
has err 'inner.ini decides. Tried by ask[' 'by the inner policy'
[ "$(grep -c "Cannot look up 'example.com'" "$DIR/err")" -eq 1 ]
result $? 'once'
launch -q -p outer.ini -- "$LAUNCH" -p inner.ini -- bin/ask socket 2 2
says out 'Permission denied' 'and a socket is refused without words'

# --- What libc tries by itself ---

for program in ask ask-musl; do
	[ -e "bin/$program" ] || continue
	launch -v -p policy.ini -- "bin/$program" syslog text
	says out logged "syslog() of $program fails as it always does"
	silent 'and nothing is said'
done
launch -v -p policy.ini -- "$PYTHON" -Ic 'import socket
server = socket.create_server(("localhost", 0))
client = socket.create_connection(("localhost", server.getsockname()[1]))
print("connected")'
says out connected 'a server of the sandbox is found by the name of this host'
silent 'and nothing is said about how libc sorts addresses'

# --- UNIX sockets ---

mkdir outside && cd outside || exit
"$PYTHON" -Ic 'import socket, sys, time
held = []
for name in sys.argv[1:]:
	s = socket.socket(socket.AF_UNIX)
	s.bind(name)
	s.listen()
	held.append(s)
print("ready", flush=True)
time.sleep(600)' docker.sock S.gpg-agent app.sock >"$DIR/ready" 2>/dev/null &
server=$!
cd .. || exit
for _ in {1..100}; do
	[ -s "$DIR/ready" ] && break
	sleep 0.1
done
mkdir ws
file ws/policy.ini '[sandbox]
workspace = .

[paths]
exec = ../bin
'
reach() # NAME
{
	rm -f log.json
	launch -q --log log.json -p ws/policy.ini -- bin/ask connect "$DIR/work/outside/$1"
	says out 'Permission denied' "'$1' is not connected to"
	told "Cannot connect to 'unix:$DIR/work/outside/$1': destination not allowed." 'which is said'
}
reach docker.sock
has err "sbx:   This is the container engine's socket: whoever may connect to it controls the machine." \
	'and what it is'
has err 'sbx:   No line is suggested for it.' 'and that no line is suggested'
hasnt err 'To allow it' 'nor is one'
logged 'op=connect code=destination suggest=-' 'in the log, too'
reach S.gpg-agent
has err "This is a GnuPG agent: whoever may connect to it can use the user's keys." 'an agent is known'
reach app.sock
hasnt err 'This is' 'another socket is just a socket'
has err "To allow it, the user can add to [network] in ws/policy.ini: connect = unix:$DIR/work/outside/app.sock" \
	'and the line for it is suggested'
rm -f log.json
kill "$server" 2>/dev/null
wait "$server" 2>/dev/null

for network in policy filtered; do
	launch -q --log log.json -p "$network.ini" -- bin/ask connect @sbx-test
	says out 'Permission denied' "an abstract socket is not connected to ($network)"
	has err "Cannot connect to 'unix:@sbx-test': " 'which is said'
	has err "$never" 'with the truth about what would help'
	hasnt err ':0' 'and no senseless line'
	logged 'op=connect dest=unix:@sbx-test suggest=-' 'in the log, too'
done

# --- lint ---

warned() # RULES TEXT NAME
{
	policy "[network]\n$1\n"
	sbx lint -p policy.ini
	has out "$2" "$3"
}
engine="the container engine's socket"
warned 'connect = unix:/run/docker.sock' "opens $engine: whoever may connect to it controls the machine" \
	'lint warns of a dangerous socket'
warned 'connect = unix:/run' "opens $engine (/run/docker.sock), too" 'and of a folder with one'
warned 'connect = unix:/run/*.sock' "opens $engine (/run/docker.sock), too" 'and of a pattern'
warned 'connect = unix:/run/user/1000' 'opens ' 'and of a folder with many'
policy '[network]\nconnect = unix:/run/app.sock, unix:/runner\n'
sbx lint -p policy.ini
hasnt out opens 'a socket that nobody knows is nothing to warn of, nor is one with a name alike'
policy "[network]\nconnect = unix:/run/docker*\ndeny = unix:/run/docker.sock\n"
sbx lint -p policy.ini
hasnt out docker.sock\) 'nor is one that is denied'
finish
