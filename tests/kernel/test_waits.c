/* SPDX-License-Identifier: MIT */
/*
 * Calls that may have to wait: each is made by a thread that holds nobody else up, threads are used
 * again, and of threads and callers that end nothing is left.
 *
 * Callers are processes below one that connect() is asked about for. UNIX sockets stand for others:
 * whoever finds no place in the queue of one waits until it is closed.
 */
#include "broker_wait.h"
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tap.h>
#include <time.h>
#include <unistd.h>

#define CROWD 40 /* more than are kept */
#define LONG 60000 /* ms: what has not come by then does not */
#define TRIES 50

static char folder[] = "/tmp/sbx-waits-XXXXXX";
static int listener, orders, results;
static int alone; /* threads before any is made */
static struct launch_waits *waits;

static void die(const char *what)
{
	BAIL_OUT("%s: %s", what, strerror(errno));
}

static void pause_ms(long ms)
{
	const struct timespec pause = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	(void)nanosleep(&pause, NULL);
}

/* --- Others --- */

static struct sockaddr_un place(char name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/%c", folder, name);
	return at;
}

static int make(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die("socket");
	return fd;
}

/* With room for so many. */
static int serve(char name, int room)
{
	struct sockaddr_un at = place(name);
	int fd = make();

	(void)unlink(at.sun_path);
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fd, room) < 0)
		die(at.sun_path);
	return fd;
}

/* Nobody finds a place any more. */
static int serve_full(char name)
{
	struct sockaddr_un at = place(name);
	int fd = serve(name, 0), client = make();

	if (connect(client, (struct sockaddr *)&at, sizeof(at)) < 0)
		die("connect");
	(void)close(client);
	return fd;
}

/* --- Callers --- */

struct result {
	pid_t pid;
	int error;
};

static int ask_about_connect(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof(code) / sizeof(code[0]), .filter = code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

static void call(char name, int out)
{
	struct sockaddr_un at = place(name);
	struct result result = { .pid = getpid() };

	if (connect(make(), (struct sockaddr *)&at, sizeof(at)) < 0)
		result.error = errno;
	_exit(write(out, &result, sizeof(result)) != sizeof(result));
}

/* For each name that comes, one that connects there; it says its number first. */
static void bear_callers(int in, int out)
{
	int fd = ask_about_connect();
	char name;

	(void)signal(SIGCHLD, SIG_IGN);
	if (write(out, &fd, sizeof(fd)) != sizeof(fd))
		_exit(1);
	while (read(in, &name, 1) == 1) {
		pid_t pid;

		if (fd >= 0)
			(void)close(fd);
		fd = -1;
		pid = fork();
		if (pid == 0)
			call(name, out);
		(void)!write(out, &(struct result){ .pid = pid, .error = -1 },
			     sizeof(struct result));
	}
	_exit(0);
}

static void begin(void)
{
	int in[2], out[2], fd;
	pid_t pid;

	if (pipe(in) < 0 || pipe(out) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		(void)close(in[1]);
		bear_callers(in[0], out[1]);
	}
	orders = in[1];
	results = out[0];
	(void)close(in[0]);
	(void)close(out[1]);
	listener = -1;
	if (read(results, &fd, sizeof(fd)) == sizeof(fd) && fd >= 0)
		listener = launch_target_take(pid, fd);
	if (listener >= 0)
		return;
	(void)rmdir(folder);
	plan(SKIP_ALL, "nobody can listen here");
}

static bool comes(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, LONG) == 1;
}

/* What the call gets that is answered next, whoever began meanwhile. */
static struct result next_result(void)
{
	struct result result = { .error = -1 };

	while (result.error < 0)
		if (!comes(results) || read(results, &result, sizeof(result)) != sizeof(result))
			die("result");
	return result;
}

/* One more that connects: its call is taken, and is somebody's from now on. */
static pid_t give(char name)
{
	struct seccomp_notif asked = { 0 };
	struct launch_waiting waiting = { .kind = WAIT_CONNECT, .named = -1 };

	if (write(orders, &name, 1) != 1 || !comes(listener) ||
	    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) < 0)
		die("question");
	waiting.id = asked.id;
	waiting.thread = (pid_t)asked.pid;
	waiting.pinned = launch_target_take(waiting.thread, (int)asked.data.args[0]);
	waiting.address.len = (socklen_t)asked.data.args[2];
	if (waiting.pinned < 0 ||
	    launch_target_bytes(waiting.thread, asked.data.args[1], &waiting.address.bytes,
				waiting.address.len) < 0 ||
	    launch_waits_add(waits, &waiting) < 0)
		die("call");
	return waiting.thread;
}

/* --- What we hold --- */

/* Entries of a folder of /proc; the highest number in it. */
static int count(const char *path, int *highest)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int found = 0;

	*highest = 0;
	while (dir && (entry = readdir(dir))) {
		int number = (int)strtol(entry->d_name, NULL, 10);

		found += entry->d_name[0] != '.';
		if (number > *highest)
			*highest = number;
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

static int threads(void)
{
	int highest;

	return count("/proc/self/task", &highest);
}

/* The thread that was made last; 0: there is none but who looks after them, and we. */
static int newest(void)
{
	int highest;

	return count("/proc/self/task", &highest) > alone + 1 ? highest : 0;
}

static int descriptors(void)
{
	int highest;

	return count("/proc/self/fd", &highest);
}

/* By and by. */
static bool falls_to(int (*held)(void), int most)
{
	int now = held();

	for (int ms = 0; ms < LONG && now > most; ms += 10) {
		pause_ms(10);
		now = held();
	}
	if (now > most)
		diag("%d, not %d", now, most);
	return now <= most;
}

/* --- What is tested --- */

/* That of the first may have gone when the second comes late: now and then it comes in time. */
static void test_again(void)
{
	int server = serve('a', 128), tries = 0, before, after = 0, wrong = 0;

	do {
		before = after;
		(void)give('a');
		wrong += next_result().error != 0;
		after = newest();
	} while ((!after || before != after) && ++tries < TRIES);
	ok(after && before == after, "a thread that is done takes the next call");
	ok(!wrong, "every call is answered");
	ok(falls_to(threads, alone), "with nothing to do, all threads end");
	(void)close(server);
}

/* One after the other. */
static bool are_answered(int calls)
{
	int wrong = 0;

	for (int i = 0; i < calls; i++) {
		pid_t pid = give('a');
		struct result result = next_result();

		wrong += result.pid != pid || result.error != 0;
	}
	return !wrong;
}

static void test_wait(void)
{
	int server = serve('a', 128), full = serve_full('f');
	pid_t waits_long = give('f');
	struct result result;

	ok(are_answered(20), "who waits holds up nobody");
	(void)close(full);
	result = next_result();
	ok(result.pid == waits_long && result.error == ECONNREFUSED, "and is answered in the end");
	(void)close(server);
}

static void test_crowd(void)
{
	int full = serve_full('f'), wrong = 0;

	for (int i = 0; i < CROWD; i++)
		(void)give('f');
	ok(threads() > CROWD, "%d wait at once", CROWD);
	(void)close(full);
	for (int i = 0; i < CROWD; i++)
		wrong += next_result().error != ECONNREFUSED;
	ok(!wrong, "all are answered");
	ok(falls_to(threads, alone), "and all threads end");
}

static void test_killed(void)
{
	int server = serve('a', 128), full = serve_full('f'), held = descriptors();
	pid_t pids[CROWD];

	for (int i = 0; i < CROWD; i++)
		pids[i] = give('f');
	ok(descriptors() >= held + CROWD, "%d hold a descriptor of ours each", CROWD);
	for (int i = 0; i < CROWD; i++)
		(void)kill(pids[i], SIGKILL);
	ok(falls_to(descriptors, held), "none is left of who is killed");
	ok(are_answered(20), "and threads that waited for them take other calls");
	(void)close(server);
	(void)close(full);
}

int main(void)
{
	if (!mkdtemp(folder))
		die(folder);
	launch_target_init();
	begin();
	plan(NO_PLAN);
	alone = threads();
	waits = launch_waits_new(listener);
	if (!waits)
		die("memory");
	test_again();
	test_wait();
	test_crowd();
	test_killed();
	ok(falls_to(threads, alone), "then all threads end");
	(void)unlink(place('a').sun_path);
	(void)unlink(place('f').sun_path);
	(void)rmdir(folder);
	done_testing();
}
