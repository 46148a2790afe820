#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Calls that wait for others: they wait as they do outside, nobody else has to, and nothing is left of
# those whose callers have died.

. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# Writing is brokered wherever there are default protections; with a deny, reading is too.
file deny.ini '[sandbox]\nisolate = none\n[paths]\ndeny = ./denied\n'
mkdir denied

cat >meet.py <<'END'
import os, sys, threading, time

def read(path, got):
    with open(path) as stream:
        got.append(stream.read())

def write(path, text):
    with open(path, "w") as stream:
        stream.write(text)

for first in "reader", "writer":
    os.mkfifo("fifo")
    got = []
    threads = [threading.Thread(target=read, args=("fifo", got)),
               threading.Thread(target=write, args=("fifo", first))]
    if first == "writer":
        threads.reverse()
    threads[0].start()
    time.sleep(0.1)
    # Who is first waits.
    assert threads[0].is_alive(), first
    threads[1].start()
    for thread in threads:
        thread.join()
    assert got == [first], got
    os.unlink("fifo")
os.mkfifo("fifo")
try:
    os.open("fifo", os.O_WRONLY | os.O_NONBLOCK)
    sys.exit("a FIFO without a reader was opened")
except OSError as error:
    assert error.errno == 6, error
assert os.open("fifo", os.O_RDONLY | os.O_NONBLOCK) >= 0
assert os.open("fifo", os.O_WRONLY) >= 0
print("met")
END

cat >crowd.py <<'END'
import os, threading, time

for i in range(100):
    os.mkfifo("many%d" % i)
got = []
def read(i):
    with open("many%d" % i) as stream:
        got.append(stream.read())
threads = [threading.Thread(target=read, args=(i,)) for i in range(100)]
for thread in threads:
    thread.start()
began = time.time()
for i in range(500):
    with open("other", "w") as stream:
        stream.write(str(i))
took = time.time() - began
assert took < 10, took
assert all(thread.is_alive() for thread in threads)
for i in range(100):
    with open("many%d" % i, "w") as stream:
        stream.write(str(i))
for thread in threads:
    thread.join()
assert sorted(map(int, got)) == list(range(100)), got
print("all of them")
END

# Who is killed while it waits for a writer is no reader any more.
cat >killed.py <<'END'
import os, signal, sys, time

sys.stdout.reconfigure(line_buffering=True)
os.mkfifo("killed")
for number in signal.SIGKILL, signal.SIGINT:
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.open("killed", os.O_RDONLY)
        os._exit(0)
    time.sleep(0.1)
    os.kill(pid, number)
    assert os.waitpid(pid, 0)[1] == number
time.sleep(1)
try:
    os.open("killed", os.O_WRONLY | os.O_NONBLOCK)
    print("somebody reads who is dead")
except OSError as error:
    assert error.errno == 6, error
    print("nobody reads", end=" ")
# Who has a handler is interrupted.
def handle(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, handle)
signal.alarm(1)
try:
    os.open("killed", os.O_RDONLY)
except TimeoutError:
    print("in time")
# One more waits when the program ends.
if os.fork() == 0:
    os.open("killed", os.O_RDONLY)
time.sleep(0.1)
END

cat >lease.py <<'END'
import fcntl, os, signal, subprocess, sys, time

fd = os.open("leased", os.O_RDWR | os.O_CREAT, 0o600)
asked = []
signal.signal(signal.SIGIO, lambda *_: asked.append(time.time()))
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
calls = ["os.close(os.open('leased', os.O_WRONLY))", "os.truncate('leased', 5)"]
for call in calls:
    other = subprocess.Popen([sys.executable, "-c", "import os; " + call])
    while not asked:
        time.sleep(0.01)
    # It waits for us, and nobody else does.
    for i in range(20):
        open("other%d" % i, "w").close()
    time.sleep(0.2)
    assert other.poll() is None, call
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    assert other.wait() == 0
    asked.clear()
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
try:
    os.open("leased", os.O_WRONLY | os.O_NONBLOCK)
except BlockingIOError:
    print("waited", os.fstat(fd).st_size)
END

# A file is not busy any more when who wrote it has closed it.
cat >busy.py <<'END'
import os, subprocess, sys, threading

stop = []
def disturb(name):
    while not stop:
        with open(name, "w") as stream:
            stream.write("x")
threads = [threading.Thread(target=disturb, args=("busy%d" % i,)) for i in range(3)]
for thread in threads:
    thread.start()
failed = 0
for i in range(100):
    fd = os.open("script", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o755)
    os.write(fd, b"#!/bin/sh\nexit 0\n")
    os.close(fd)
    fd = os.open("script", os.O_RDWR | os.O_CLOEXEC)
    os.close(fd)
    pid = os.posix_spawn("/bin/sh", ["sh", "-c", "./script"], os.environ)
    failed += os.waitpid(pid, 0)[1] != 0
stop.append(True)
for thread in threads:
    thread.join()
print("busy", failed)
END

# Who has no room for one more descriptor loses nothing, and leaves nothing behind.
cat >full.py <<'END'
import os, resource

with open("kept", "w") as stream:
    stream.write("kept")
fds = []
resource.setrlimit(resource.RLIMIT_NOFILE, (20, 20))
try:
    while True:
        fds.append(os.dup(0))
except OSError:
    pass
errors = []
for path, flags in ("kept", os.O_WRONLY | os.O_TRUNC), ("new", os.O_WRONLY | os.O_CREAT):
    try:
        os.open(path, flags, 0o600)
    except OSError as error:
        errors.append(error.errno)
for fd in fds:
    os.close(fd)
print(errors, open("kept").read(), os.path.exists("new"))
END

for options in '' '-p deny.ini'; do
	with=${options:+, with reading brokered too}
	for script in 'meet met' 'crowd all of them' 'killed nobody reads in time' 'lease waited 5' \
		'full [24, 24] kept False'; do
		rm -f fifo many* killed other* leased kept new
		began=$(date +%s%N)
		# shellcheck disable=SC2086
		run timeout 60 "$LAUNCH" -q --workspace . $options -- "$PYTHON" "${script%% *}.py"
		took=$((($(date +%s%N) - began) / 1000000))
		[ "$STATUS" -eq 0 ] && [ "$(cat "$DIR/out")" = "${script#* }" ] && [ "$took" -lt 20000 ]
		result $? "${script%% *}: ${script#* }$with"
	done
done
run timeout 60 "$LAUNCH" -q --workspace . -- "$PYTHON" busy.py
says out 'busy 0' 'what was written and closed can be executed'

# The same by a shell that no shim is loaded into.
busybox=$(command -v busybox)
if [ -n "$busybox" ]; then
	rm -f fifo
	# shellcheck disable=SC2016
	run timeout 60 "$LAUNCH" -q --workspace . -- "$busybox" sh -c \
		'busybox mkfifo fifo; (echo one >fifo) & busybox cat fifo; busybox cat fifo & echo two >fifo; wait'
	says out $'one\ntwo' 'a static program meets another at a FIFO, both ways'
fi

# Nobody waits for who waits for ever: the program ends, and so does the run.
mkfifo never
began=$(date +%s%N)
# shellcheck disable=SC2016
run timeout 60 "$LAUNCH" -q --workspace . -- sh -c 'cat never & sleep 0.3; exit 7'
took=$((($(date +%s%N) - began) / 1000000))
[ "$STATUS" -eq 7 ] && [ "$took" -lt 5000 ]
result $? 'a run ends while somebody waits for a FIFO'
timeout -s KILL 60 "$LAUNCH" -q --workspace . -p deny.ini -- cat never &
pid=$!
sleep 0.5
kill -INT "$pid"
began=$(date +%s%N)
wait "$pid"
STATUS=$?
took=$((($(date +%s%N) - began) / 1000000))
[ "$STATUS" -ne 0 ] && [ "$took" -lt 5000 ]
result $? 'and when it is interrupted'
finish
