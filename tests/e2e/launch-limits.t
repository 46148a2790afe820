#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Limits: each one holds, is explained, and typed in JSON; what stays below it notices nothing.
# shellcheck disable=SC2016 # what others shall expand
set -u
# shellcheck source=tests/e2e/lib.sh
. "${SBX_TOP:-.}/tests/e2e/lib.sh"

# -- memory
touch_memory='import sys
blocks = []
for i in range(int(sys.argv[1])):
    blocks.append(b"x" * (1 << 20))
print("done")'
launch --memory 200M -- "$PYTHON" -c "$touch_memory" 1000
exits 137 'memory of one process'
has err 'Stopped: memory limit exceeded (200 MB; peak ' 'is explained with limit and peak'
has err 'mostly python3' 'and culprit'
has err 'To allow more: memory = ' 'and what would help'
launch --memory 200M -- "$PYTHON" -c "$touch_memory" 100
says out 'done' 'half of it is fine'
launch --memory 200M --json -- "$PYTHON" -c "$touch_memory" 1000
json_is 'j["limit"]["resource"] == "memory" and j["limit"]["limit"] == 200 << 20' 'JSON has its type and limit'
json_is 'j["limit"]["peak"] < (200 + 64) << 20' 'it did not get 64 MB further'
json_is 'j["exit_code"] == 137 and not j["success"]' 'and the exit status'
launch --memory 300M --json -- bash -c '"$@" 100 & "$@" 100 & "$@" 100 & "$@" 100 & wait' - "$PYTHON" -c "$touch_memory"'
import time
time.sleep(20)'
json_is 'j["limit"]["resource"] == "memory" and j["limit"]["peak"] < 400 << 20' 'four processes share the limit of the tree'
launch --memory 256M -- node -e 'console.log("up")'
says out up 'node starts under 256M'
launch --memory 300M --json -- "$PYTHON" -c 'import os
data = bytearray(150 << 20)
for i in range(3):
    if os.fork() == 0:
        import time; time.sleep(0.5); os._exit(0)
for i in range(3):
    os.wait()'
json_is 'j["limit"] is None and j["exit_code"] == 0' 'what forked processes share is counted once'

# -- who does not want to be counted
file hostile.c '#include <fcntl.h>\n#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>
#include <sys/prctl.h>\n#include <sys/ptrace.h>\n#include <sys/socket.h>\n#include <sys/stat.h>
#include <sys/syscall.h>\n#include <unistd.h>\n#include "contract.h"
static int megabytes = 400;
static void *eat(void *arg)
{
	for (int i = 0; i < megabytes; i++) {
		char *block = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		memset(block, 1, 1 << 20);
		usleep(1000);
	}
	puts("survived");
	exit(0);
	return arg;
}
static void *sleep_long(void *arg) { sleep(2); return arg; }
static void *look(void *arg) { for (;;) syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0, 1, 0, SBX_ASK); return arg; }
static void *wait_for(void *arg) { for (;;) { close(open("fifo", O_RDONLY)); usleep(20000); } return arg; }
/* A map of a thousand lines, each with a long name. */
static void map(void)
{
	char name[201] = "";
	int fd;

	memset(name, 110, 200);
	for (int i = 0; i < 16; i++)
		if (mkdir(name, 0700) || chdir(name)) abort();
	fd = open("file", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || ftruncate(fd, 8192)) abort();
	for (long i = 0; i < 4000; i++)
		if (mmap((void *)(0x10000000 + i * 4096), 4096, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, (i & 1) * 4096) == MAP_FAILED) abort();
}
static void *ask(void *arg) { for (;;) ptrace(PTRACE_TRACEME, 0, 0, 0); return arg; }
int main(int count, char **args)
{
	pthread_t thread;
	int started = 1;
	if (count > 1 && !strcmp(args[1], "unreadable")) { prctl(PR_SET_DUMPABLE, 0); eat(NULL); }
	if (count > 1 && !strcmp(args[1], "headless")) { pthread_create(&thread, NULL, eat, NULL); pthread_exit(NULL); }
	if (count > 1 && !strcmp(args[1], "flood")) for (int i = 0; i < 100; i++) pthread_create(&thread, NULL, ask, NULL);
	if (count > 1 && !strcmp(args[1], "flood")) sleep(30);
	if (count > 1 && !strcmp(args[1], "mapped")) map();
	if (count > 1 && !strcmp(args[1], "mapped")) for (int i = 0; i < 8; i++) pthread_create(&thread, NULL, look, NULL);
	if (count > 1 && !strcmp(args[1], "waiting")) mkfifo("fifo", 0600);
	if (count > 1 && !strcmp(args[1], "waiting")) for (int i = 0; i < 900; i++) pthread_create(&thread, NULL, wait_for, NULL);
	if (count > 1 && strcmp(args[1], "headless-threads")) { sleep(1); megabytes = 2000; eat(NULL); }
	for (int i = 0; i < 40; i++) started += !pthread_create(&thread, NULL, sleep_long, NULL);
	printf("%d\\n", started);
	fflush(stdout);
	pthread_exit(NULL);
}
'
gcc -I"$SBX_TOP/policy" -o hostile hostile.c -pthread
launch --memory 100M -- ./hostile unreadable
exits 137 'memory of a process that made itself unreadable'
launch --memory 100M -- ./hostile headless
exits 137 'and of one whose first thread has ended'
launch --processes 20 --json -- ./hostile headless-threads
json_is 'j["stdout"] == "20\n" and j["usage"]["processes_peak"] <= 20' 'whose threads are counted all the same'
launch -qq --timeout 1s -- ./hostile flood
exits 124 'a flood of refused calls does not keep the limits from being held'
launch -qq --memory 100M -- ./hostile mapped
exits 137 'nor do calls that take long to be told apart'
launch -qq --memory 100M --isolate=none --deny=./none --allow-exec=./hostile -- ./hostile waiting
exits 137 'nor do many that wait'
rm -f fifo
run bash -c 'ulimit -n 128; exec "$@"' - "$LAUNCH" -qq --memory 100M --isolate=none --deny=./none --allow-exec=./hostile -- ./hostile waiting
exits 137 'with few descriptors either'

# -- time
launch --timeout 500ms -- sleep 30
exits 124 'wall clock'
has err 'Stopped: time limit exceeded (' 'is explained'
launch --cpu 1s -- "$PYTHON" -c 'while True: pass'
exits 124 'CPU time'
has err 'Stopped: CPU time limit exceeded (1 s).' 'is explained'
launch --cpu 1s --json -- bash -c 'for i in 1 2 3; do "$@" & done; wait' - "$PYTHON" -c 'while True: pass'
json_is 'j["limit"]["resource"] == "cpu" and j["usage"]["cpu_ms"] < 3000' 'CPU time of all together'
launch --json -- "$PYTHON" -c 'print(len(b"x" * int("104857600")))'
json_is 'j["usage"]["memory_peak_bytes"] > 100 << 20' 'what a program had for a moment is in the peak'
launch --timeout 20s --json -- sleep 0.2
json_is 'j["limit"] is None and not j["timed_out"]' 'who ends in time is not stopped'
launch --cpu-percent 25 --json -- "$PYTHON" -c 'import time
end = time.time() + 3
while time.time() < end: pass'
json_is '300 < j["usage"]["cpu_ms"] < 1500' 'a quarter of a CPU is about a quarter of a CPU'

# -- processes
count='import os, sys, time
started = 0
try:
    for i in range(int(sys.argv[1])):
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        started += 1
except OSError as error:
    print(started + 1, error.errno)
else:
    print(started + 1)'
launch --processes 20 -- "$PYTHON" -c "$count" 19
says out 20 'twenty processes are twenty'
launch --processes 20 -- "$PYTHON" -c "$count" 20
says out '20 11' 'the next one gets EAGAIN'
has err 'Cannot start another process: 20 are running (limit 20).' 'in words'
launch --processes 20 -- "$PYTHON" -c 'import threading, time
started = 1
try:
    for i in range(30):
        threading.Thread(target=time.sleep, args=(0.5,)).start()
        started += 1
except RuntimeError:
    pass
print(started)'
says out 20 'threads count like processes'
launch --processes 5 -- bash -c 'for i in $(seq 200); do /bin/true || exit 1; done; echo fine'
says out fine 'two hundred processes, of which two are alive at once, are fine under five'
launch --processes 40 --timeout 3s --json -- bash -c 'bomb() { bomb | bomb & }; bomb; sleep 30'
json_is 'j["usage"]["processes_peak"] <= 40 and j["timed_out"]' 'a fork bomb is held'
launch -- true
exits 0 'and the machine goes on'

# -- files
launch --open-files 32 -- "$PYTHON" -c 'import time
files = []
try:
    while True: files.append(open("/dev/null"))
except OSError as error:
    print(len(files) + 3, error.errno)
time.sleep(0.5)'
says out '32 24' 'open files are limited'
has err 'Cannot open more files: limit 32.' 'and explained'
launch --file-size 1M -- bash -c 'head -c 2000000 /dev/zero >big; exit $?'
[ "$(stat -c %s big)" -le 1048576 ]
result $? 'a file does not get larger than allowed'
launch --file-size 1M -- dd if=/dev/zero of=big bs=1M count=2
exits 153 'SIGXFSZ ends who tries'
has err 'file size limit (1 MB)' 'and is explained'
launch -- sh -c 'ulimit -c; ulimit -Hc'
says out "$(printf '0\n0')" 'core files are off (one byte, which no handler takes)'

# -- output
launch --output 1000 --json -- bash -c 'head -c 5000 /dev/zero | tr "\0" x; echo done >&2'
json_is 'len(j["stdout"]) == 1000 and j["truncated"]' 'output is cut'
json_is 'j["stderr"] == "done\n" and j["exit_code"] == 0' 'and the program notices nothing'

finish
