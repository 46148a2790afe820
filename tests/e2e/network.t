#!/bin/bash
# SPDX-License-Identifier: MIT
#
# The network by address: real clients get to the servers that a policy names and to no others, and
# servers are reached where they may be. All of it on loopback, where other servers stand beside those
# that are allowed, and tell when anybody comes to them.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

cc -D_GNU_SOURCE -o "$DIR/no-userns" "$SBX_TOP/tests/e2e/without-namespaces.c" || exit

# -- the servers outside: web pages, a repository and a registry; and others, which nobody may come to
mkdir "$DIR/web" "$DIR/web/little" "$DIR/unix"
mkdir "$DIR/package" && printf '{"name":"little","version":"1.0.0"}' >"$DIR/package/package.json"
echo 'module.exports = "a little package"' >"$DIR/package/index.js"
tar -C "$DIR" -czf "$DIR/web/little/little-1.0.0.tgz" package
(
	cd "$DIR/package" && git init -q . && git add . &&
		git -c user.name=a -c user.email=a@example.org commit -qm first &&
		git clone -q --bare . "$DIR/web/repo.git" && git -C "$DIR/web/repo.git" update-server-info
) >/dev/null 2>&1 || exit

cat >"$DIR/servers.py" <<'END'
import http.server, json, os, socket, sys, threading
folder = sys.argv[1]
class Pages(http.server.SimpleHTTPRequestHandler):
    def __init__(self, *args): super().__init__(*args, directory=folder + "/web")
    def log_message(self, *args): pass
    def do_GET(self):
        if self.path == "/": return self.say(b"hello\n")
        if self.path != "/little": return super().do_GET()
        at = "http://127.0.0.1:%d/little/little-1.0.0.tgz" % ports["main"]
        version = {"name": "little", "version": "1.0.0", "dist": {"tarball": at}}
        self.say(json.dumps({"name": "little", "dist-tags": {"latest": "1.0.0"},
                             "versions": {"1.0.0": version}}).encode())
    def say(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def address_string(self): return "client"
class Six(http.server.ThreadingHTTPServer): address_family = socket.AF_INET6
class File(http.server.ThreadingHTTPServer):
    address_family = socket.AF_UNIX
    def server_bind(self): self.socket.bind(self.server_address)
    def get_request(self): return self.socket.accept()[0], ("file", 0)
touched = open(folder + "/touched", "w")
def watch(family, address):
    s = socket.socket(family)
    s.bind(address)
    s.listen(64)
    def wait():
        while True:
            s.accept()[0].close()
            touched.write("%s\n" % (s.getsockname(),))
            touched.flush()
    threading.Thread(target=wait, daemon=True).start()
    return s.getsockname()
def serve(kind, address):
    server = kind(address, Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address
ports = {}
ports["main"] = serve(http.server.ThreadingHTTPServer, ("127.0.0.1", 0))[1]
ports["six"] = serve(Six, ("::1", 0))[1]
serve(http.server.ThreadingHTTPServer, ("127.0.0.2", ports["main"]))
serve(File, folder + "/unix/web.sock")
# Beside them: the same port elsewhere, another port, and a file in the same folder.
watch(socket.AF_INET, ("127.0.0.5", ports["main"]))
watch(socket.AF_INET6, ("::1", ports["main"]))
ports["never"] = watch(socket.AF_INET, ("127.0.0.1", 0))[1]
ports["never6"] = watch(socket.AF_INET6, ("::1", 0))[1]
watch(socket.AF_UNIX, folder + "/unix/other.sock")
for name in ("web", "other"): os.chmod(folder + "/unix/%s.sock" % name, 0o777)
with open(folder + "/ports.new", "w") as out:
    for name in ports: print("%s=%d" % (name, ports[name]), file=out)
os.rename(folder + "/ports.new", folder + "/ports")
threading.Event().wait()
END
"$PYTHON" "$DIR/servers.py" "$DIR" &
servers=$!
trap 'kill "$servers" 2>/dev/null; cleanup' EXIT
until [ -e "$DIR/ports" ] || ! kill -0 "$servers" 2>/dev/null; do sleep 0.02; done
main=0 six=0 never=0 never6=0
# shellcheck source=/dev/null
. "$DIR/ports"

web=http://127.0.0.1:$main/
cat >policy.ini <<END
[sandbox]
include = node, npm, git, python, ruby, bash
workspace = .
[paths]
read = /etc/passwd
[network]
connect = 127.0.0.0/30:$main, [::1]:$six, unix:$DIR/unix/web.sock
deny = 127.0.0.3/32:*
END

OPTIONS=()
WITHIN=()
inside() { run timeout 60 "${WITHIN[@]}" "$LAUNCH" -q -p policy.ini "${OPTIONS[@]}" -- "$@"; }

# -- clients
cat >get.js <<'END'
const http = require('http')
const [kind, to] = process.argv.slice(2)
const fail = error => { console.log((error.cause || error).code); process.exitCode = 1 }
const show = text => process.stdout.write(text)
if (kind == 'fetch') fetch(to).then(r => r.text()).then(show).catch(fail)
else http.get(kind == 'file' ? { socketPath: to, path: '/' } : to,
	r => r.on('data', show)).on('error', fail)
END
cat >get.py <<'END'
import asyncio, sys, urllib.request
kind, host, port = sys.argv[1:]
async def by_hand():
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(b"GET / HTTP/1.0\r\n\r\n")
    return (await reader.read()).split(b"\r\n\r\n")[1]
try:
    if kind == "asyncio": text = asyncio.run(by_hand())
    else: text = urllib.request.urlopen("http://%s:%s/" % (host, port)).read()
    print(text.decode(), end="")
except OSError as e:
    sys.exit(str(getattr(e, "reason", e)))
END
never_words="sbx: Cannot connect to '127.0.0.1:$never': destination not allowed."

few_clients()
{
	works hello 'node gets a page' node get.js http "$web"
	refuses "$never_words" 'and not of another port' node get.js http "http://127.0.0.1:$never/"
	works hello 'curl' curl -s "$web"
	refuses "$never_words" 'and not another port' curl -s "http://127.0.0.1:$never/"
	works hello 'python' "$PYTHON" get.py urllib 127.0.0.1 "$main"
	works hello 'a static wget' busybox wget -qO - "$web"
	refuses "$never_words" 'and not another port' busybox wget -qO - "http://127.0.0.1:$never/"
}

more_clients()
{
	works hello 'node by fetch' node get.js fetch "$web"
	works hello 'node by IPv6' node get.js http "http://[::1]:$six/"
	works hello 'node by a socket' node get.js file "$DIR/unix/web.sock"
	refuses "sbx: Cannot connect to '127.0.0.5:$main': destination not allowed." \
		'fetch of another address' node get.js fetch "http://127.0.0.5:$main/"
	refuses "sbx: Cannot connect to 'unix:$DIR/unix/other.sock': destination not allowed." \
		'another socket' node get.js file "$DIR/unix/other.sock"
	works hello 'curl by IPv6' curl -sg "http://[::1]:$six/"
	works hello 'curl by a socket' curl -s --unix-socket "$DIR/unix/web.sock" http://localhost/
	refuses "sbx: Cannot connect to '[::1]:$never6': destination not allowed." 'curl by IPv6 elsewhere' \
		curl -sg "http://[::1]:$never6/"
	works hello 'a network of addresses' curl -s "http://127.0.0.2:$main/"
	refuses "sbx: Cannot connect to '127.0.0.3:$main': " 'but not what is denied in it' \
		curl -s "http://127.0.0.3:$main/"
	works hello 'asyncio' "$PYTHON" get.py asyncio 127.0.0.1 "$main"
	refuses "$never_words" 'and not another port' "$PYTHON" get.py asyncio 127.0.0.1 "$never"
	works hello 'ruby' ruby -rnet/http -e 'print Net::HTTP.get(URI(ARGV[0]))' "$web"
	works first 'git clones' bash -c 'git clone -q "$1repo.git" cloned && git -C cloned log --format=%s' - "$web"
	rm -rf cloned
	refuses "$never_words" 'and not from elsewhere' git ls-remote "http://127.0.0.1:$never/repo.git"
	mkdir app && echo '{"name":"app","version":"1.0.0"}' >app/package.json
	works 'a little package' 'npm installs from a registry' bash -c 'cd app &&
		npm install --silent --no-audit --no-fund --no-update-notifier --registry "$1" little >/dev/null &&
		node -p "require(\"little\")"' - "$web"
	rm -rf app
}

few_clients
more_clients
how=', without the shim' OPTIONS=(--no-shim)
few_clients
how=', without namespaces' OPTIONS=() WITHIN=("$DIR/no-userns")
works hello 'curl' curl -s "$web"
refuses "$never_words" 'and not another port' curl -s "http://127.0.0.1:$never/"
how=', without Landlock' OPTIONS=(--enforce=seccomp) WITHIN=()
works hello 'curl' curl -s "$web"
refuses "$never_words" 'and not another port' curl -s "http://127.0.0.1:$never/"
works hello 'curl by a socket' curl -s --unix-socket "$DIR/unix/web.sock" http://localhost/
how='' OPTIONS=()

# -- rules
cat >try.py <<'END'
import errno, socket, sys
for to in sys.argv[1:]:
    host, port = to.rsplit(":", 1)
    s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try: s.connect((host, int(port))); print(to, "ok")
    except OSError as e: print(to, errno.errorcode[e.errno])
END
tries() # NAME NETWORK DESTINATION=RESULT...
{
	local name=$1 pair expected='' to=()

	printf '[sandbox]\nworkspace = .\n[network]\n%b\n' "$2" >rules.ini
	shift 2
	for pair; do
		to+=("${pair%=*}")
		expected+="${pair%=*} ${pair#*=}"$'\n'
	done
	run "$LAUNCH" -q -p rules.ini -- "$PYTHON" try.py "${to[@]}"
	[ "$STATUS" -eq 0 ] && [ "$(cat "$DIR/out")" = "${expected%$'\n'}" ]
	result $? "$name"
}
tries 'one address' "connect = 127.0.0.1:$main" "127.0.0.1:$main=ok" "127.0.0.2:$main=EACCES" \
	"127.0.0.1:$never=EACCES" "::1:$main=EACCES" "::ffff:127.0.0.1:$main=ok" \
	"::ffff:127.0.0.5:$main=EACCES" "0.0.0.0:$main=ok" ":::$main=EACCES" "::127.0.0.1:$main=EACCES"
tries 'a range of ports' "connect = 127.0.0.1:$((main - 1))-$((main + 1))\ndeny = *:$never" "127.0.0.1:$main=ok" \
	"127.0.0.1:$never=EACCES"
tries 'ranges beside it' "connect = 127.0.0.1:1-$((main - 1)), 127.0.0.1:$((main + 1))-65535\ndeny = *:$never" \
	"127.0.0.1:$main=EACCES"
tries 'every port, but for one' "connect = 127.0.0.1:*\ndeny = *:$never" "127.0.0.1:$main=ok" \
	"127.0.0.1:$never=EACCES"
tries 'a wide net, but for a small one' "connect = 127.0.0.0/8:$main\ndeny = 127.0.0.4/30:*" \
	"127.0.0.1:$main=ok" "127.0.0.2:$main=ok" "127.0.0.5:$main=EACCES"
tries 'IPv6' "connect = [::1]:$six" "::1:$six=ok" "::1:$never6=EACCES" "127.0.0.1:$main=EACCES" \
	"::ffff:127.0.0.1:$main=EACCES"
tries 'localhost' "connect = localhost:$main" "127.0.0.1:$main=ok" "127.0.0.2:$main=ok" "127.0.0.1:$never=EACCES"
tries 'no network' 'mode = none' "127.0.0.1:$main=EACCES" "::1:$six=EACCES" '127.0.0.1:1=EACCES'
tries 'nothing is listed' 'mode = filtered' "127.0.0.1:$main=EACCES" "127.0.0.5:$main=EACCES"
tries 'nobody listens' 'mode = none' "127.0.0.1:$("$PYTHON" -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')=ECONNREFUSED"

# -- servers inside
free_port()
{
	"$PYTHON" -c 'import socket
s = socket.socket(); s.bind(("0.0.0.0", 0)); print(s.getsockname()[1])'
}
serves() # NAME PORT COMMAND...
{
	local name=$1 port=$2 i=0

	shift 2
	timeout 60 "${WITHIN[@]}" "$LAUNCH" -q -p serve.ini "${OPTIONS[@]}" -- "$@" >"$DIR/out" 2>"$DIR/err" &
	job=$!
	until curl -sf "http://127.0.0.1:$port/index.html" >"$DIR/page" || [ $((i++)) -gt 300 ]; do sleep 0.03; done
	kill "$job" 2>/dev/null
	wait "$job" 2>/dev/null
	[ "$(cat "$DIR/page")" = served ]
	result $? "$name is reached from outside$how"
}
echo served >index.html
cat >serve.js <<'END'
require('http').createServer((q, r) => r.end('served\n')).listen(process.argv[2], '0.0.0.0')
END
for how in '' ', without the shim' ', without namespaces'; do
	OPTIONS=() WITHIN=()
	case $how in
	*shim) OPTIONS=(--no-shim) ;;
	*namespaces) WITHIN=("$DIR/no-userns") ;;
	esac
	port=$(free_port)
	printf '[sandbox]\nworkspace = .\n[network]\nbind = 0.0.0.0:%d\n' "$port" >serve.ini
	serves 'a node server' "$port" node serve.js "$port"
	serves 'a python server' "$port" "$PYTHON" -m http.server --bind 0.0.0.0 "$port"
	run "${WITHIN[@]}" "$LAUNCH" -q -p serve.ini "${OPTIONS[@]}" -- node serve.js $((port - 1))
	has err "sbx: Cannot listen on '0.0.0.0:$((port - 1))': address not allowed." "and one elsewhere is explained$how"
	has err 'EACCES' "and told so$how"
done
how=''

# -- a program that serves itself, without any network
mkdir app
echo '{"name":"app","version":"1.0.0","scripts":{"test":"node test.js"}}' >app/package.json
cat >app/test.js <<'END'
const server = require('http').createServer((q, r) => r.end('served'))
server.listen(0, '127.0.0.1', async () => {
	const text = await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text()
	console.log(text)
	server.close()
	server.closeAllConnections()
})
END
printf '[sandbox]\nworkspace = .\n' >policy.ini
for enforce in auto seccomp; do
	run "$LAUNCH" -q -p policy.ini --enforce=$enforce -- npm --prefix app --silent test
	exits 0 "$enforce: npm test with a server of its own"
	says out served "$enforce: which answers"
	says err '' "$enforce: and nothing is said"
done

[ -e "$DIR/touched" ] && [ ! -s "$DIR/touched" ]
result $? 'nobody came to any other server'
[ -s "$DIR/touched" ] && sed 's/^/# /' "$DIR/touched"
finish
