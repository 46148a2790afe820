/* SPDX-License-Identifier: MIT */
/*
 * load: many calls at once, each with an answer that is known beforehand.
 *
 *	load threads WORK SECRET	64 threads, 1,000 opens each
 *	load mixed WORK SECRET		8 processes, 2,000 calls of all kinds each
 *	load killed WORK SECRET		200 clients that are killed in a call
 *
 * WORK is a folder that may be written, SECRET one where nothing is allowed. It prints how many
 * answers were right, and exits with 1 when one was wrong. Before and after, it makes WORK/before and
 * WORK/after and waits until these are gone again: the time to look at whoever answers. It then deletes
 * SECRET/last, whose refusal shows that somebody still does.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 64,
	OPENS = 1000,
	PROCESSES = 8,
	CALLS = 2000,
	CLIENTS = 200,
};

static const char *self, *work, *secret;
static struct {
	atomic_long right, wrong, made;
} * count; /* shared with children */

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(2);
}

/* The answer to a call, and what it should be: an errno, or 0. */
static void expect(const char *what, long result, int error)
{
	int got = result < 0 ? errno : 0;

	if (got == error) {
		count->right++;
		return;
	}
	if (count->wrong++ < 10)
		printf("%s: %s instead of %s\n", what, got ? strerror(got) : "success",
		       error ? strerror(error) : "success");
}

static long reads(const char *path, const char *text)
{
	char bytes[64] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -1;
	got = read(fd, bytes, sizeof(bytes) - 1);
	close(fd);
	errno = EIO;
	return got < 0 || strcmp(bytes, text) ? -1 : 0;
}

static long writes(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	ssize_t put;

	if (fd < 0)
		return -1;
	put = write(fd, text, strlen(text));
	return close(fd) < 0 || put < 0 ? -1 : 0;
}

/* Waits, so that nothing is under way, until somebody has looked. */
static void show(const char *name)
{
	struct timespec moment = { 0, 2000000 };
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", work, name);
	if (writes(path, "", 0) < 0)
		fail(path);
	while (access(path, F_OK) == 0)
		nanosleep(&moment, NULL);
}

static void *open_often(void *number)
{
	char own[4096], other[4096], missing[4096], text[32];

	snprintf(own, sizeof(own), "%s/own%ld", work, (long)number);
	snprintf(missing, sizeof(missing), "%s/missing%ld", work, (long)number);
	snprintf(other, sizeof(other), "%s/other", secret);
	snprintf(text, sizeof(text), "%ld\n", (long)number);
	expect("create", writes(own, text, O_EXCL), 0);
	for (int i = 0; i < OPENS; i++) {
		if (i % 5 == 3)
			expect("outside", reads(other, text), EACCES);
		else if (i % 5 == 4)
			expect("missing", reads(missing, text), ENOENT);
		else
			expect("own", reads(own, text), 0);
	}
	expect("unlink", unlink(own), 0);
	return NULL;
}

static void run_threads(void *(*body)(void *), long number)
{
	pthread_t threads[THREADS];

	for (long i = 0; i < number; i++)
		if ((errno = pthread_create(&threads[i], NULL, body, (void *)i)))
			fail("thread");
	for (long i = 0; i < number; i++)
		pthread_join(threads[i], NULL);
}

static void load_threads(void)
{
	run_threads(open_often, THREADS);
}

static long executes(const char *path, bool there)
{
	char *argv[] = { (char *)"load", NULL };
	int status = 0, error = 0, ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		fail("child");
	if (pid == 0) {
		execv(path, argv);
		error = errno;
		_exit(write(ends[1], &error, sizeof(error)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &error, sizeof(error)) < 0 || waitpid(pid, &status, 0) != pid)
		fail("child");
	close(ends[0]);
	errno = error ? error : EIO;
	return error || (there && status) ? -1 : 0;
}

/* Files of one process, in a folder of its own. */
struct places {
	char folder[4096], a[4200], b[4200], sub[4200], outside[4200], other[4200];
};

static void in_work(const struct places *place)
{
	expect("create", writes(place->a, "text", O_EXCL), 0);
	expect("create again", writes(place->a, "text", O_EXCL), EEXIST);
	expect("read", reads(place->a, "text"), 0);
	expect("rename", rename(place->a, place->b), 0);
	expect("rename again", rename(place->a, place->b), ENOENT);
	expect("link", link(place->b, place->a), 0);
	expect("unlink", unlink(place->b), 0);
	expect("symlink", symlink(place->a, place->b), 0);
	expect("through link", reads(place->b, "text"), 0);
	expect("truncate", truncate(place->b, 0), 0);
	expect("unlink link", unlink(place->b), 0);
	expect("mkdir", mkdir(place->sub, 0700), 0);
	expect("mkdir again", mkdir(place->sub, 0700), EEXIST);
	expect("rmdir", rmdir(place->sub), 0);
	expect("unlink file", unlink(place->a), 0);
}

static void outside_of_work(const struct places *place)
{
	expect("read outside", reads(place->other, ""), EACCES);
	expect("create outside", writes(place->outside, "", O_EXCL), EACCES);
	expect("mkdir outside", mkdir(place->outside, 0700), EACCES);
	expect("unlink outside", unlink(place->other), EACCES);
	expect("truncate outside", truncate(place->other, 0), EACCES);
	expect("symlink outside", symlink("x", place->outside), EACCES);
}

static void load_process(long number)
{
	struct places place;

	snprintf(place.folder, sizeof(place.folder), "%s/process%ld", work, number);
	snprintf(place.a, sizeof(place.a), "%s/a", place.folder);
	snprintf(place.b, sizeof(place.b), "%s/b", place.folder);
	snprintf(place.sub, sizeof(place.sub), "%s/sub", place.folder);
	snprintf(place.outside, sizeof(place.outside), "%s/process%ld", secret, number);
	snprintf(place.other, sizeof(place.other), "%s/other", secret);
	expect("mkdir", mkdir(place.folder, 0700), 0);
	for (int calls = 0, round = 0; calls < CALLS; round++) {
		in_work(&place);
		outside_of_work(&place);
		calls += 21;
		if (round % 8 == 0) {
			expect("execute", executes(self, true), 0);
			expect("execute outside", executes(place.other, false), EACCES);
			calls += 2;
		}
	}
	expect("rmdir", rmdir(place.folder), 0);
}

static void load_mixed(void)
{
	pid_t pids[PROCESSES];
	int status;

	fflush(stdout);
	for (long i = 0; i < PROCESSES; i++) {
		if ((pids[i] = fork()) == 0) {
			load_process(i);
			fflush(stdout);
			_exit(0);
		}
	}
	for (long i = 0; i < PROCESSES; i++) {
		status = -1;
		errno = EIO;
		expect("process", waitpid(pids[i], &status, 0) == pids[i] && !status ? 0 : -1, 0);
	}
}

static void *ask_for_ever(void *number)
{
	char other[4096], name[4200];

	snprintf(other, sizeof(other), "%s/other", secret);
	snprintf(name, sizeof(name), "%s/folder%ld", secret, (long)number);
	for (;;) {
		if ((long)number % 2)
			expect("outside", reads(other, ""), EACCES);
		else
			expect("mkdir outside", mkdir(name, 0700), EACCES);
		count->made++;
	}
	return NULL;
}

static void kill_client(long number)
{
	long before = count->made;
	pid_t pid = fork();

	if (pid == 0) {
		if (number % 3 == 0)
			run_threads(ask_for_ever, 3);
		ask_for_ever((void *)number);
	}
	if (pid < 0)
		fail("child");
	while (count->made <= before + number % 7)
		sched_yield();
	kill(pid, SIGKILL);
	if (waitpid(pid, NULL, 0) != pid)
		fail("child");
}

static void load_killed(void)
{
	fflush(stdout);
	for (long i = 0; i < CLIENTS; i++)
		kill_client(i);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*load)(void);
	} kinds[] = { { "threads", load_threads },
		      { "mixed", load_mixed },
		      { "killed", load_killed } };
	char last[4096];

	if (argc != 4)
		return 0; /* executed by itself */
	self = argv[0];
	work = argv[2];
	secret = argv[3];
	count = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (count == MAP_FAILED)
		fail("memory");
	snprintf(last, sizeof(last), "%s/other", secret);
	expect("first", reads(last, ""), EACCES); /* whoever answers has begun to */
	show("before");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			kinds[i].load();
	show("after");
	snprintf(last, sizeof(last), "%s/last", secret);
	expect("last", unlink(last), EACCES); /* a kind of refusal that is new: it is explained */
	printf("%ld right, %ld wrong\n", count->right, count->wrong);
	return count->wrong > 0;
}
