# SPDX-License-Identifier: MIT
"""What a program in the sandbox of names.t tries. Each argument is a function of here: a line each."""

import concurrent.futures
import ctypes
import errno
import fcntl
import os
import resource
import select
import socket
import struct
import sys
import time

PUBLIC, OTHER, FILED = "55.0.0.7", "55.0.0.8", "55.0.0.9"
SERVER = ("8.8.8.8", 53)  # every server is ours


def wire(*labels):
    return b"".join(bytes([len(l)]) + l for l in labels) + b"\0"


def ask(name, kind=1, stream=False, server=SERVER):
    """The code and the addresses of an answer to the name in these very bytes."""
    query = b"\x12\x34" + struct.pack("!HHHHH", 0x0100, 1, 0, 0, 0) + name
    query += struct.pack("!HH", kind, 1)
    if stream:
        with socket.create_connection(server, timeout=10) as sock:
            sock.sendall(struct.pack("!H", len(query)) + query)
            size = struct.unpack("!H", sock.recv(2))[0]
            reply = b""
            while len(reply) < size:
                reply += sock.recv(size - len(reply))
    else:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            sock.settimeout(10)
            sock.sendto(query, server)
            reply, peer = sock.recvfrom(4096)
            assert peer == server
    assert reply[:2] == b"\x12\x34"
    count = struct.unpack("!H", reply[6:8])[0]
    return f"{reply[3] & 15}/{count}" + ("+" if reply[2] & 2 else "")


def dotted(text):
    return wire(*text.encode().split(b"."))


def names():
    """Look-alikes, and spellings of the one that is allowed."""
    print("plain", ask(dotted("ok.test")))
    print("case", ask(dotted("OK.tEsT")))
    for text in ("evil-ok.test", "ok.test.evil", "evil.ok.test", "xn--ok-.test", "ok-test",
                 "test", "ok.tes", "okk.test", "wild.test", "a.wild.test.evil"):
        print(text, ask(dotted(text)))
    print("wild", ask(dotted("a.wild.test")), ask(dotted("b.a.wild.test")))
    print("nul", ask(wire(b"ok.test\0", b"evil")), ask(wire(b"ok", b"test\0")),
          ask(wire(b"ok", b"test", b"\0")))
    print("dot inside", ask(wire(b"ok.test")), ask(wire(b"a.wild", b"test")))
    print("control", ask(wire(b"\x1b[31m", b"test")), ask(wire(b"a\nsbx: lies", b"wild", b"test")))
    print("high", ask(wire(b"\xff\xfe", b"wild", b"test")))
    print("blank", ask(wire(b"a b", b"wild", b"test")))
    print("long", ask(wire(b"a" * 63, b"b" * 63, b"c" * 63, b"d" * 61)))
    print("root", ask(wire()))
    print("reverse", ask(dotted("7.0.0.55.in-addr.arpa"), 12))
    print("types", *(ask(dotted("ok.test"), kind) for kind in (2, 15, 16, 33, 65, 255)))


def rebind():
    """Allowed names that lead back into the machine and its surroundings."""
    for name in ("loop", "link", "ten", "none", "nat"):
        attempt(name, lambda: socket.create_connection((name + ".rebind.test", 80), 5))
    attempt("mapped-four", lambda: connect_to("::ffff:127.0.0.1", 80, family=socket.AF_INET6))


def six():
    """The same in the other family; and one that has both."""
    for name in ("six", "unspecified", "mapped", "nat64", "local"):
        attempt(name, lambda: socket.create_connection((name + ".rebind.test", 80), 5))
    info = socket.getaddrinfo("both.test", 80, socket.AF_INET6, socket.SOCK_STREAM)
    attempt("both", lambda: connect_to(*info[0][4], family=socket.AF_INET6))


def parts():
    """Names that something is denied of."""
    for name in ("half.part.test", "shut.part.test"):
        print(name, ask(dotted(name)))
    for port in (80, 443):
        attempt(f"half {port}", lambda: socket.create_connection(("half.part.test", port), 5))


def attempt(what, function):
    try:
        result = function()
    except OSError as error:
        print(what, errno.errorcode.get(error.errno, error))
        return None
    print(what, "DONE")
    return result


def connect_to(*peer, family=socket.AF_INET):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.settimeout(5)
    sock.connect(peer)
    return sock


def literal():
    """An address that no look-up gave out, before and after one that did."""
    attempt("before", lambda: connect_to(PUBLIC, 80))
    socket.gethostbyname("ok.test")
    attempt("after", lambda: connect_to(PUBLIC, 80))
    attempt("mapped", lambda: connect_to("::ffff:" + PUBLIC, 80, family=socket.AF_INET6))
    attempt("port", lambda: connect_to(PUBLIC, 443))
    attempt("other", lambda: connect_to(OTHER, 80))


def upstream():
    """Servers that answer strangely: never with an address that was not the name's."""
    print("lies", socket.gethostbyname("lies.test"))
    print("aside", socket.gethostbyname_ex("aside.test")[2])
    attempt("poisoned", lambda: connect_to(OTHER, 80))
    print("chain", socket.gethostbyname("chain.test"))
    print("large", ask(dotted("large.test")), ask(dotted("large.test"), stream=True))
    strange = ("round.test", "junk.test", "silent.test")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        print("strange", *pool.map(lambda name: ask(dotted(name)), strange))


def stream():
    """Look-ups by TCP, at whatever server."""
    for server in (SERVER, ("127.0.0.1", 53), ("10.0.0.1", 53)):
        print(server[0], ask(dotted("ok.test"), stream=True, server=server),
              ask(dotted("blocked.test"), stream=True, server=server))


def inside():
    """The network of its own: datagrams go around in it, and nothing can be changed."""
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", 0))
    one.settimeout(5)
    if os.fork() == 0:
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"hello", one.getsockname())
        os._exit(0)
    os.wait()
    print("datagram", one.recv(10).decode())
    for port in (80, 443, 9999):
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        for host in (PUBLIC, OTHER, "127.0.0.1", "255.255.255.255", "224.0.0.1"):
            try:
                sock.sendto(b"out", (host, port))
            except OSError:
                pass
    attempt("bind 53", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("127.0.0.1", 53)))
    attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP))
    attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
    attempt("old packet", lambda: socket.socket(socket.AF_INET, 10, 3))
    tcp = socket.socket()
    for name, level, option, value in (
        ("mark", socket.SOL_SOCKET, 36, 1),
        ("transparent", socket.IPPROTO_IP, 19, 1),
    ):
        attempt(name, lambda: tcp.setsockopt(level, option, value))
    route = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    # RTM_DELROUTE and RTM_NEWLINK (lo down)
    for name, kind, body in (
        ("route", 25, struct.pack("=BBBBBBBBI", 2, 0, 0, 0, 255, 0, 0, 2, 0)),
        ("link", 16, struct.pack("=BBHiII", 0, 0, 0, 1, 0, 1)),
    ):
        route.send(struct.pack("=IHHII", 16 + len(body), kind, 5, 1, 0) + body)
        print(name, errno.errorcode[-struct.unpack("=i", route.recv(4096)[16:20])[0]])
    for name, flag in (("unshare", 0x40000000), ("unshare user", 0x50000000)):
        attempt(name, lambda: unshare(flag))
    attempt("setns", lambda: setns("/proc/%d/ns/net" % os.getppid()))


def unshare(flag):
    check(libc().unshare(flag))


def setns(path):
    fd = os.open(path, os.O_RDONLY)
    check(libc().setns(fd, 0))


def libc():
    return ctypes.CDLL(None, use_errno=True)


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")


def sockets():
    """Sockets that come from elsewhere look as if they were made here."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    get = lambda s, o: s.getsockopt(socket.SOL_SOCKET, o)
    print("kind", get(sock, 39), get(sock, 3), get(sock, 38), sock.getsockname())
    print("flags", bool(fcntl.fcntl(sock, fcntl.F_GETFL) & os.O_NONBLOCK), fcntl.fcntl(sock, fcntl.F_GETFD))
    call = libc().socket
    fd = call(socket.AF_INET, socket.SOCK_STREAM, 0)
    print("flags", bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK), fcntl.fcntl(fd, fcntl.F_GETFD))
    more = call(socket.AF_INET, socket.SOCK_STREAM, 0)
    os.close(fd)
    print("lowest", call(socket.AF_INET, socket.SOCK_STREAM, 0) == fd and more == fd + 1)
    resource.setrlimit(resource.RLIMIT_NOFILE, (fd + 4, fd + 4))
    some = [call(socket.AF_INET, socket.SOCK_STREAM, 0) for _ in range(4)]
    check_errno = [call(socket.AF_INET, socket.SOCK_STREAM, 0)]
    attempt("full", lambda: check(check_errno[0]))
    for each in some:
        if each >= 0:
            os.close(each)
    for kind, protocol in ((socket.SOCK_STREAM, 17), (socket.SOCK_STREAM | 0x100, 0)):
        attempt("no such", lambda: check(call(socket.AF_INET, kind, protocol)))
    poll = select.epoll()
    sock = socket.socket()
    sock.setblocking(False)
    poll.register(sock, select.EPOLLOUT)
    poll.poll(0)
    result = sock.connect_ex((socket.gethostbyname("ok.test"), 80))
    print("epoll", result in (0, errno.EINPROGRESS), poll.poll(5)[0][1] & select.EPOLLOUT,
          get(sock, socket.SO_ERROR), sock.getpeername())


def own():
    """A server of its own, reached through the names of this machine."""
    server = socket.create_server(("127.0.0.1", 0))
    port = server.getsockname()[1]
    for host in ("127.0.0.1", "localhost", "a.localhost"):
        attempt(host, lambda: socket.create_connection((host, port), 5))


def files():
    """What the machine knows by itself."""
    for name in ("filed.test", "unlisted.test", "vm"):
        print(name, ask(dotted(name)))
    attempt("filed", lambda: connect_to(FILED, 80))
    attempt("unlisted", lambda: connect_to(OTHER, 80))
    print("ok.test", ask(dotted("ok.test")))


def supervisor_kb():
    with open("/proc/%d/status" % os.getppid(), encoding="ascii") as status:
        return sum(int(line.split()[1]) for line in status if line.startswith("RssAnon"))


def flood():
    """Refused and allowed look-ups by the thousand: answered, all of them."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(10)
    before = 0
    for kind, times in (("refused", 10000), ("allowed", 1001)):
        codes = set()
        for i in range(times):
            name = f"x{i}.refused.test" if kind == "refused" else f"x{i % 50}.wild.test"
            query = struct.pack("!HHHHHH", i, 0x0100, 1, 0, 0, 0) + dotted(name) + b"\0\1\0\1"
            sock.sendto(query, SERVER)
            codes.add(sock.recv(4096)[3] & 15)
            if i == 1000:
                before = before or supervisor_kb()
        print(kind, sorted(codes))
    print("grown", "yes" if supervisor_kb() > before + 512 else "no")


def held():
    """What the supervisor has: descriptors, and threads."""
    return [len(os.listdir(f"/proc/{os.getppid()}/{what}")) for what in ("fd", "task")]


def settled():
    """The same, while nothing is asked: what is on its way out does not count."""
    seen = []
    for _ in range(20):
        seen.append(held()[0])
        time.sleep(0.02)
    return min(seen)


def wait_somewhere(turn):
    if turn == 0:
        connect_to(PUBLIC, 81).close()
    elif turn == 1:
        socket.gethostbyname("silent.test")
    else:
        sock = connect_to(*SERVER)
        sock.send(b"\0")  # half of a length
        sock.recv(1)


def dying():
    """Clients that are killed where they wait: for a connection, an answer, the rest of a query."""
    socket.gethostbyname("ok.test")
    connect_to(PUBLIC, 80).close()
    before = settled()
    children = []
    for i in range(30):
        children.append(os.fork())
        if children[-1] == 0:
            wait_somewhere(i % 3)
            os._exit(0)
    # Two of three have a descriptor there.
    for _ in range(300):
        if held()[0] >= before + 15:
            break
        time.sleep(0.1)
    print("waiting", held()[0] >= before + 15)
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    for _ in range(200):
        if held()[0] <= before:
            break
        time.sleep(0.1)
    print("left", max(0, held()[0] - before))
    print("ok.test", ask(dotted("ok.test")))


def find_door():
    """Outside: where a sandbox listens, for which no server of the test does."""
    while True:
        with open("/proc/net/tcp", encoding="ascii") as table:
            rows = [line.split() for line in table][1:]
        for row in rows:
            host, port = row[1].split(":")
            if row[3] == "0A" and host == "0100007F" and int(port, 16) >= 10000:
                return "127.0.0.1", int(port, 16)
        time.sleep(0.05)


def door():
    try:
        print("answered", ask(dotted("blocked.test"), stream=True, server=find_door()))
    except (OSError, struct.error):
        print("closed")


for argument in sys.argv[1:]:
    globals()[argument]()
