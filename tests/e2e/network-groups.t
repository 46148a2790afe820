#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Whoever joins a group of multicast has the kernel send packets with addresses of its choice. Nobody
# does where rules decide about the network; watched on a network of the test's own, on which every
# packet is seen.
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

space=--net
is_root || space=--user\ --map-root-user\ --net
# shellcheck disable=SC2086 # words
if ! unshare $space ip link add seen0 type veth peer name seen1 2>/dev/null; then
	echo '1..0 # SKIP no network namespace with an interface can be had'
	exit
fi

# By TCP sockets, which are the host's in every mode.
cat >join.py <<'END'
import errno, socket, struct, sys
index = socket.if_nametoindex("seen0") if len(sys.argv) < 2 else int(sys.argv[1])
def four(text): return struct.pack("HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))
def six(text): return struct.pack("HHI16sI", socket.AF_INET6, 0, 0, socket.inet_pton(socket.AF_INET6, text), 0)
def group(address): return struct.pack("Q128s", index, address)
def source(to, by): return struct.pack("Q128s128s", index, to, by)
v4, v6 = socket.AF_INET, socket.AF_INET6
old = b"".join(map(socket.inet_aton, ("239.91.91.3", "10.91.91.1", "192.0.2.91")))
for family, level, option, value in (
        (v4, 0, 42, group(four("239.91.91.1"))), (v4, 0, 46, source(four("239.91.91.2"), four("192.0.2.91"))),
        (v4, 0, 39, old), (v6, 0, 42, group(four("239.91.91.4"))),
        (v6, 41, 42, group(six("ff15::5b5b:1"))), (v6, 41, 46, source(six("ff15::5b5b:2"), six("2001:db8::5b")))):
    s = socket.socket(family)
    try:
        s.setsockopt(level, option, value)
        print("joined")
    except OSError as e: print(errno.errorcode[e.errno])
    globals().setdefault("kept", []).append(s)
END
# Reports of groups are sent at once, and some moments later once more.
cat >watch.py <<'END'
import os, select, socket, subprocess, sys, time
os.system("ip link set lo up; ip link add seen0 type veth peer name seen1 && ip link set seen0 up &&"
          " ip link set seen1 up && ip addr add 10.91.91.1/24 dev seen0 && ip route add default dev seen0")
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("seen1", 0))
run = subprocess.run([a.replace("INDEX", str(socket.if_nametoindex("seen0"))) for a in sys.argv[1:]])
seen, end = 0, time.time() + 0.3
while select.select([s], [], [], max(0, end - time.time()))[0]:
    packet = s.recv(2000)
    seen += b"\x5b\x5b" in packet[34:] if packet[12:14] == b"\x08\0" else b"\x5b\x5b\0" in packet[54:]
print("packets" if seen else "silence", flush=True)
sys.exit(run.returncode)
END
refused=$'EPERM\nEPERM\nEPERM\nEPERM\nEPERM\nEPERM\nsilence'
joined=$'joined\njoined\njoined\njoined\njoined\njoined\npackets'

# shellcheck disable=SC2086 # words
join() # MODE OPTION...
{
	printf '[sandbox]\nworkspace = .\n[network]\n%b\n' "$1" >policy.ini
	shift
	run timeout 60 unshare $space "$PYTHON" watch.py "$LAUNCH" -q --trust -p policy.ini "$@" -- \
		"$PYTHON" join.py INDEX
}

# shellcheck disable=SC2086 # words
run timeout 60 unshare $space "$PYTHON" watch.py "$PYTHON" join.py
says out "$joined" 'outside, groups are joined, and packets tell of them'

join 'mode = none'
says out "$refused" 'without a network no group is joined, and no packet leaves'
has err "sbx: Cannot use 'setsockopt': system call not allowed in the sandbox." 'which is said'
has err 'multicast' 'with the reason'
has err 'A line for it would open far more; none is suggested.' 'and that there is no narrow line for it'
join 'mode = none' --no-shim
says out "$refused" 'nor without the shim'
join 'mode = none' --enforce=seccomp
says out "$refused" 'nor without Landlock'
join 'mode = filtered'
says out "$refused" 'nor where nothing is allowed'
join 'own = no'
says out "$refused" 'nor without servers of its own'
join 'connect = 127.0.0.1:9, 239.0.0.0/8:*'
says out "$refused" 'nor where destinations are allowed'
join 'bind = 0.0.0.0:*'
says out "$refused" 'nor where it may listen'
join 'connect = ok.test:443'
says out "$refused" 'nor in a network of its own'
join 'mode = full'
says out "$joined" 'with mode = full it is joined as outside'
says err '' 'and nothing is said'

finish
