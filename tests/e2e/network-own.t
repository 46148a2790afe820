#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Servers of the sandbox's own: nobody outside shares a port with one, whoever asks first and by
# whatever means (SO_REUSEPORT); else those who want a server outside would come to the program, and
# the program to servers outside. What programs do to serve by several processes goes on to work.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Outside: a server that is ready to share its port, or a socket that will be one.
cat >share.py <<'END'
import errno, socket, sys, time
def tcp(*options):
    s = socket.socket()
    for option in options: s.setsockopt(socket.SOL_SOCKET, option, 1)
    return s
def name(call, *args):
    try: call(*args)
    except OSError as e: return errno.errorcode[e.errno]
    return "ok"
def come(port, times=40):
    "Who answers, and how often."
    told = {}
    for i in range(times):
        s = socket.socket()
        answer = name(s.connect, ("127.0.0.1", port))
        if answer == "ok": answer = s.recv(100).decode()
        told[answer] = told.get(answer, 0) + 1
        s.close()
    return told
def serve(s, text):
    import threading
    def run():
        while True:
            c = s.accept()[0]
            try: c.sendall(text)
            except OSError: pass
            c.close()
    threading.Thread(target=run, daemon=True).start()
SHARED, AGAIN = socket.SO_REUSEPORT, socket.SO_REUSEADDR
END
cat >inside.py <<'END'
from share import *
import os
what, port = sys.argv[1], int(sys.argv[2])
here = ("127.0.0.1", port)
if what == "second":
    s = tcp(SHARED)
    bound = name(s.bind, here)
    if bound == "ok":
        s.listen()
        serve(s, b"inside")
    print(bound, come(port, 5), flush=True)
elif what == "late":
    s = tcp(AGAIN)
    print(name(s.bind, here), flush=True)
    sys.stdin.readline()
    s.setsockopt(socket.SOL_SOCKET, SHARED, 1)
    print(name(s.listen), flush=True)
elif what == "first":
    s = tcp(SHARED)
    print(name(s.bind, here), name(s.listen), flush=True)
    serve(s, b"inside")
    print(come(port), flush=True)
    sys.stdin.readline()
    print(come(port), flush=True)
elif what == "kept":
    s = socket.socket(fileno=int(sys.argv[3]))
    print(name(s.bind, here), flush=True)
elif what == "listening":
    s = socket.socket(fileno=int(sys.argv[3]))
    print(name(s.listen), name(s.listen), come(port, 8), flush=True)
END
cat >outside.py <<'END'
from share import *
import subprocess
what, launch = sys.argv[1], sys.argv[2:]
s = tcp(AGAIN, SHARED) if what == "late" else tcp(SHARED)
if what != "first": s.bind(("127.0.0.1", 0))
else:
    t = socket.socket(); t.bind(("127.0.0.1", 0)); s.close()
port = (t if what == "first" else s).getsockname()[1]
if what == "first": t.close()
kept = tcp(SHARED)
if what == "listening": kept.bind(("127.0.0.1", port))
if what not in ("first", "late"):
    s.listen(64)
    serve(s, b"outside")
run = subprocess.Popen([a.replace("FD", str(kept.fileno())) for a in launch] + [what, str(port), str(kept.fileno())],
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[kept.fileno()])
def heard(): return run.stdout.readline().decode().strip()
if what == "late":
    print(heard())
    s.listen(64)
    run.stdin.write(b"\n"); run.stdin.flush()
if what == "first":
    print(heard())
    print(heard())
    other = tcp(SHARED)
    print("outside:", name(other.bind, ("127.0.0.1", port)))
    run.stdin.write(b"\n"); run.stdin.flush()
print(heard())
if what == "second": print("outside:", come(port, 20))
run.stdin.close()
sys.exit(run.wait())
END

share() # WHAT POLICY OPTION...
{
	local what=$1

	printf '[sandbox]\nworkspace = .\n[network]\n%b\n' "$2" >policy.ini
	shift 2
	run timeout 60 "$PYTHON" outside.py "$what" "$LAUNCH" -q -p policy.ini --keep-fd=FD "$@" -- \
		"$PYTHON" inside.py
}

shared_by_nobody() # HOW POLICY OPTION...
{
	local how=$1

	shift
	share second "$@"
	says out "EADDRINUSE {'EACCES': 5}
outside: {'outside': 20}" "$how: who comes second gets no part of a port, and does not come to the server there"
	share late "$@"
	says out $'ok\nEADDRINUSE' "$how: nor by sharing it once it is bound"
	share first "$@"
	says out "ok ok
{'inside': 40}
outside: EADDRINUSE
{'inside': 40}" "$how: who comes first has it alone"
	share kept "$@"
	says out EADDRINUSE "$how: nor with a socket from outside that would share it"
	share listening "$@"
	says out "ok ok {'EACCES': 8}" "$how: who shares one outside does not come to the servers there"
}

for options in '' --no-shim --enforce=seccomp; do
	# shellcheck disable=SC2086 # an option
	shared_by_nobody "without a network${options:+, $options}" '' $options
done
shared_by_nobody 'with hosts by name' 'connect = ok.test:443'
shared_by_nobody 'where it may listen anywhere' 'bind = *:*'

share second 'mode = full'
has out 'ok {' 'with mode = full ports are shared as outside'

# Several processes, and one server that asks for a port of its own.
printf '[sandbox]\nworkspace = .\n' >policy.ini
cat >cluster.js <<'END'
const cluster = require('cluster'), http = require('http')
if (cluster.isPrimary) {
	let listening = 0
	const workers = [cluster.fork(), cluster.fork(), cluster.fork()]
	cluster.on('listening', async (worker, at) => {
		if (++listening < workers.length) return
		const pids = new Set()
		for (let i = 0; i < 30; i++)
			pids.add(await (await fetch(`http://127.0.0.1:${at.port}/`, { headers: { connection: 'close' } })).text())
		console.log(pids.size > 1 ? 'several' : 'one')
		workers.forEach(w => w.kill())
		process.exit(0)
	})
} else
	http.createServer((q, r) => r.end(String(process.pid))).listen(0, '127.0.0.1')
END
cat >reuse.py <<'END'
import http.server, threading, urllib.request
class Server(http.server.ThreadingHTTPServer): allow_reuse_port = True
class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self): self.send_response(204); self.end_headers()
import socket
class Asks(Server):
    def server_bind(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        super().server_bind()
for kind in Server, Asks:
    server = kind(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(urllib.request.urlopen("http://127.0.0.1:%d/" % server.server_port).status)
END
for options in '' --no-shim --enforce=seccomp; do
	# shellcheck disable=SC2086 # an option
	launch -q -p policy.ini $options -- node cluster.js
	says out several "a cluster of node serves by several processes${options:+, $options}"
	says err '' 'and nothing is said'
	# shellcheck disable=SC2086 # an option
	launch -q -p policy.ini $options -- "$PYTHON" reuse.py
	says out $'204\n204' "python's server that would share its port serves${options:+, $options}"
	says err '' 'and nothing is said'
done

finish
