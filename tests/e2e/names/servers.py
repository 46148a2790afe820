# SPDX-License-Identifier: MIT
"""The outside world of names.t, in a network of the test's own.

servers.py FOLDER: a DNS server at 127.0.0.1:5353 and 127.0.0.3:53, web servers of FOLDER/www, and
traps: whoever contacts one is written down in FOLDER/trapped. All that the DNS server is asked is in
FOLDER/asked, a line each: how, the name, the type, and how many bytes follow the question.
FOLDER/ready is there once all of them listen.
"""

import functools
import http.server
import os
import socket
import struct
import sys
import threading
import time

FOLDER = sys.argv[1]
PUBLIC, OTHER, FILED, SIX = "55.0.0.7", "55.0.0.8", "55.0.0.9", "2600::7"
A, CNAME, AAAA = 1, 5, 28

REBOUND = {
    "loop": "127.0.0.1",
    "link": "169.254.169.254",
    "ten": "10.0.0.1",
    "none": "0.0.0.0",
    "nat": "100.64.0.1",
    "six": "::1",
    "unspecified": "::",
    "mapped": "::ffff:127.0.0.1",
    "nat64": "64:ff9b::127.0.0.1",
    "local": "fd00::1",
}


def say(file, text):
    with open(os.path.join(FOLDER, file), "a", encoding="ascii") as out:
        out.write(text + "\n")


def wire(name):
    return b"".join(bytes([len(l)]) + l.encode() for l in name.split(".") if l) + b"\0"


def record(name, kind, data, ttl):
    return wire(name) + struct.pack("!HHIH", kind, 1, ttl, len(data)) + data


def address(name, text, ttl=5):
    six = ":" in text
    data = socket.inet_pton(socket.AF_INET6 if six else socket.AF_INET, text)
    return (AAAA if six else A), record(name, AAAA if six else A, data, ttl)


def alias(name, target):
    return CNAME, record(name, CNAME, wire(target), 5)


def records(name):
    """What there is under a name, None when there is no such name."""
    first, _, rest = name.partition(".")
    if name in ("ok.test", "two.test", "blocked.test", "evil-ok.test", "lies.test"):
        return [address(name, PUBLIC)]
    if rest in ("wild.test", "part.test"):
        return [address(name, PUBLIC)]
    if name == "both.test":
        return [address(name, PUBLIC), address(name, SIX)]
    if name == "other.test":
        return [address(name, OTHER)]
    if name == "chain.test":
        links = [alias(f"c{i}.chain", f"c{i + 1}.chain") for i in range(8)]
        return [alias(name, "c0.chain")] + links + [address("c8.chain", PUBLIC)]
    if name == "round.test":
        return [alias(name, "a.round"), alias("a.round", name)]
    if name == "aside.test":
        # An address of somebody else's: not of this name.
        return [address(name, PUBLIC), address("ok.test", OTHER), address("two.test", OTHER)]
    if name == "large.test":
        return [address(name, PUBLIC)] + [address(name, f"55.0.1.{i}") for i in range(50)]
    if rest == "rebind.test" and first in REBOUND:
        return [address(name, REBOUND[first])]
    return None


def answer(query, stream):
    """The messages to send back."""
    at, labels = 12, []
    while query[at]:
        labels.append(query[at + 1 : at + 1 + query[at]])
        at += query[at] + 1
    name = b".".join(labels).decode("latin-1")
    kind, _ = struct.unpack("!HH", query[at + 1 : at + 5])
    question = query[12 : at + 5]
    say("asked", f"{'tcp' if stream else 'udp'} {ascii(name)[1:-1]} {kind} {len(query) - at - 5}")
    if name.startswith("silent."):
        return []
    if name == "junk.test":
        return [os.urandom(40), query[:2] + os.urandom(60), query[:2]]
    found = records(name)
    hits = [r for t, r in found or [] if t in (kind, CNAME)]
    flags = 0x8180 | (0 if found is not None else 3)

    def message(ident, asked, hits):
        return ident + struct.pack("!HHHHH", flags, 1, len(hits), 0, 0) + asked + b"".join(hits)

    true = message(query[:2], question, hits)
    if name == "large.test" and not stream:
        return [message(query[:2], question, [])[:2] + b"\x83\x80" + true[4:6] + b"\0" * 6 + question]
    if name == "lies.test" and kind == A:
        lie = [address(name, OTHER)[1]]
        other = wire("ok.test") + question[-4:]
        wrong = bytes([query[0] ^ 1, query[1]])
        return [message(wrong, question, lie), message(query[:2], other, lie),
                ("elsewhere", message(query[:2], question, lie)), true]
    return [true]


def serve_datagrams(sock):
    while True:
        query, peer = sock.recvfrom(4096)
        for each in answer(query, False):
            if isinstance(each, tuple):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as elsewhere:
                    elsewhere.sendto(each[1], peer)
                time.sleep(0.05)
            else:
                sock.sendto(each, peer)


def serve_stream(conn):
    with conn:
        size = conn.recv(2)
        if len(size) == 2:
            query = conn.recv(struct.unpack("!H", size)[0])
            for each in answer(query, True):
                conn.sendall(struct.pack("!H", len(each)) + each)


def each_connection(sock, serve):
    while True:
        serve(sock.accept()[0])


def trap_datagrams(sock, port):
    while True:
        sock.recvfrom(4096)
        say("trapped", f"udp {port}")


def trap_stream(port, conn):
    say("trapped", f"tcp {conn.getsockname()[0]} {port}")
    conn.close()


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass


class Web(http.server.ThreadingHTTPServer):
    def server_bind(self):  # without a look-up of its own name
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "ok.test", 80


class Web6(Web):
    address_family = socket.AF_INET6


def start(function, *args):
    threading.Thread(target=function, args=args, daemon=True).start()


def listener(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=64)


def datagrams(host, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((host, port))
    return sock


def main():
    handler = functools.partial(Handler, directory=os.path.join(FOLDER, "www"))
    for host in (PUBLIC, FILED):
        start(Web((host, 80), handler).serve_forever)
    if len(sys.argv) > 2:  # there is IPv6
        start(Web6((SIX, 80), handler).serve_forever)
    for place in (("127.0.0.1", 5353), ("127.0.0.3", 53)):
        start(serve_datagrams, datagrams(*place))
        start(each_connection, listener(*place), serve_stream)
    for host, port in [(h, p) for h in (PUBLIC, OTHER, "127.0.0.1") for p in (53, 80, 443, 9999)]:
        if (host, port) != (PUBLIC, 80):
            start(each_connection, listener(host, port), functools.partial(trap_stream, port))
        start(trap_datagrams, datagrams(host, port), port)
    # Nobody is let in any more, and whoever tries waits.
    full = socket.create_server((PUBLIC, 81), backlog=0)
    waiting = [socket.socket() for _ in range(3)]
    for sock in waiting:
        sock.setblocking(False)
        sock.connect_ex((PUBLIC, 81))
    say("ready", "yes")
    while os.getppid() != 1:
        time.sleep(1)


main()
