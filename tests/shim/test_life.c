/* SPDX-License-Identifier: MIT */
/*
 * The shim in places where little may be done: small stacks, signal handlers, children of vfork,
 * threads that are cancelled, processes without descriptors. Each case is a process of its own, with
 * the shim in it, which says what went wrong.
 */
#include "shimmed.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define STACK 8192

int __open_2(const char *path, int flags);
#pragma weak __open_2

static char fifo[64], dir[] = "/tmp/sbx-life.XXXXXX";
static char *const no_env[] = { NULL };

static void bad(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	(void)fflush(stdout);
	_exit(1);
}

/* A stack of 8 KB with nothing below it. */
static char *small_stack(void)
{
	char *memory =
		mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || mprotect(memory, STACK, PROT_NONE))
		bad("mmap");
	return memory + 2 * STACK;
}

static char *many[400];

static int on_small_stack(void *context)
{
	char *const argv[] = { (char *)"report", NULL };
	int *count = context;
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0 || unlink("/nowhere/at/all") == 0 || rename("/nowhere/a", "/nowhere/b") == 0)
		return 1;
	(void)close(fd);
	for (int i = 0; i < *count; i++)
		many[i] = (char *)"SOME=thing";
	many[*count] = NULL;
	(void)execve(built(PROGRAMS "report"), argv, many);
	return 2;
}

static void in_8k(void)
{
	int status, flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
	pid_t pid;

	(void)built(""); /* whose buffers are static */
	(void)setenv("SBX_BUILD", built(""), 0);
	for (int count = 10; count < 400; count += 50) {
		pid = clone(on_small_stack, small_stack(), flags, &count);
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			bad("on 8 KB");
	}
}

static size_t count_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	size_t count = 0;
	int c;

	while (file && (c = getc(file)) != EOF)
		count += c == '\n';
	if (file)
		(void)fclose(file);
	return count;
}

static void after_vfork(void)
{
	const char *report = built(PROGRAMS "report");
	char *const argv[] = { (char *)"report", NULL };
	size_t before = count_maps();

	for (int i = 0; i < 50; i++) {
		pid_t pid = vfork(); /* NOLINT */
		int status;

		if (pid == 0) {
			(void)execve(report, argv, no_env);
			_exit(1);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			bad("vfork");
	}
	if (count_maps() != before)
		bad("something stayed behind");
}

static void without_descriptors(void)
{
	int fd;
	FILE *file;

	if (syscall(SYS_close_range, 3, ~0U, 0))
		for (fd = 3; fd < 256; fd++)
			(void)close(fd);
	fd = open("/dev/null", O_RDONLY);
	if (fd != 3)
		bad("the first descriptor is not 3");
	file = fopen("/dev/null", "r");
	if (!file || fileno(file) != 4)
		bad("the next is not 4");
	(void)open("/dev/null/x", O_RDONLY);
	(void)opendir("/nowhere");
	if (dup(0) != 5)
		bad("a descriptor was left open");
}

static atomic_int handled;

static void handler(int number)
{
	int saved = errno, fd = open("/dev/null", O_RDONLY);

	(void)number;
	if (fd >= 0)
		(void)close(fd);
	if (open("/nowhere", O_RDONLY) >= 0)
		abort();
	errno = saved;
	atomic_fetch_add(&handled, 1);
}

static void in_signal_handlers(void)
{
	stack_t stack = { .ss_sp = small_stack() - STACK, .ss_size = STACK };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };

	if (sigaltstack(&stack, NULL) || sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &often, NULL))
		bad("signals");
	for (long i = 0; atomic_load(&handled) < 200; i++) {
		int fd = open(i % 2 ? "/dev/null" : "/nowhere", O_RDONLY);

		if ((fd >= 0) != (i % 2 != 0) || (fd < 0 && errno != ENOENT))
			bad("open");
		if (fd >= 0)
			(void)close(fd);
	}
}

static atomic_int cleaned, waiting;

static void clean(void *context)
{
	(void)context;
	atomic_store(&cleaned, 1);
}

static void *open_fifo(void *context)
{
	int fd = -1;

	(void)context;
	pthread_cleanup_push(clean, NULL);
	atomic_store(&waiting, 1);
	fd = open(fifo, O_RDONLY);
	pthread_cleanup_pop(0);
	return fd < 0 ? (void *)1 : NULL;
}

static void *open_much(void *context)
{
	int type;

	for (int i = 0; i < 1000; i++) {
		int fd = open("/dev/null", O_RDONLY);

		if (fd < 0)
			return (void *)1;
		(void)close(fd);
	}
	(void)pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	if (type != PTHREAD_CANCEL_DEFERRED)
		return (void *)2;
	(void)context;
	return NULL;
}

static void cancelled(void)
{
	pthread_t thread;
	void *result = NULL;

	if (mkfifo(fifo, 0600) || pthread_create(&thread, NULL, open_fifo, NULL))
		bad("fifo");
	while (!atomic_load(&waiting))
		(void)usleep(1000);
	(void)usleep(50000);
	(void)pthread_cancel(thread);
	(void)pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED || !atomic_load(&cleaned))
		bad("a thread that waits in open() was not cancelled");
	if (pthread_create(&thread, NULL, open_much, NULL))
		bad("thread");
	(void)pthread_join(thread, &result);
	if (result)
		bad("open() left the thread's type changed");
}

/* A cancellation that came before takes effect in open(), unless it is disabled. */
static void *open_after(void *context)
{
	int *disable = context, state;

	if (*disable)
		(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	(void)pthread_cancel(pthread_self());
	(void)close(open("/dev/null", O_RDONLY));
	return NULL;
}

static void cancelled_before(void)
{
	for (int disable = 0; disable < 2; disable++) {
		pthread_t thread;
		void *result = NULL;

		if (pthread_create(&thread, NULL, open_after, &disable))
			bad("thread");
		(void)pthread_join(thread, &result);
		if ((result == PTHREAD_CANCELED) == disable)
			bad(disable ? "cancelled although disabled" : "not cancelled");
	}
}

static void *list_after(void *context)
{
	(void)pthread_cancel(pthread_self());
	if (!opendir("/"))
		bad("opendir");
	return context;
}

/* A point of cancellation in musl, and none in glibc. */
static void cancelled_in_opendir(void)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, list_after, NULL))
		bad("thread");
	(void)pthread_join(thread, &result);
#ifdef __GLIBC__
	if (result == PTHREAD_CANCELED)
		bad("cancelled");
#else
	if (result != PTHREAD_CANCELED)
		bad("not cancelled");
#endif
}

static atomic_int over;

static void *open_always(void *context)
{
	(void)context;
	while (!atomic_load(&over)) {
		FILE *file = fopen("/dev/null", "r");

		if (file)
			(void)fclose(file);
		(void)close(open("/dev/null", O_RDONLY));
	}
	return NULL;
}

static void forks_and_threads(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, open_always, NULL))
			bad("thread");
	for (int i = 0; i < 1000; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			_exit(open("/dev/null", O_RDONLY) < 0);
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
			bad("fork");
	}
	atomic_store(&over, 1);
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
}

static void fortified(void)
{
	volatile int flags = O_RDONLY;

	if (!__open_2 || __open_2("/dev/null", flags) < 0)
		bad("__open_2");
	flags = O_CREAT;
	(void)__open_2("/dev/null", flags);
	bad("came back");
}

static void shell(void)
{
	int (*const run)(const char *) = system;

	environ = (char **)no_env;
	if (run("exit 3") != 3 << 8 || environ != (char **)no_env)
		bad("system");
	if (run(NULL) == 0)
		bad("system of nothing");
}

static const struct {
	const char *name;
	void (*run)(void);
	int status;
} cases[] = {
	{ "on a stack of 8 KB, and exec from there", in_8k, 0 },
	{ "in children of vfork, who leave nothing behind", after_vfork, 0 },
	{ "after all descriptors were closed, and keeps none", without_descriptors, 0 },
	{ "in signal handlers", in_signal_handlers, 0 },
	{ "open() of a FIFO can be cancelled", cancelled, 0 },
	{ "a cancellation that was pending comes true in open()", cancelled_before, 0 },
	{ "and in opendir(), where libc has it so", cancelled_in_opendir, 0 },
	{ "1000 forks of a program with threads", forks_and_threads, 0 },
	{ "O_CREAT without a mode ends the process, as fortify has it", fortified, SIGABRT },
	{ "the environment is the same after a shell", shell, 0 },
};

int main(int argc, char **argv)
{
	if (argc > 2) {
		(void)snprintf(fifo, sizeof(fifo), "%s/fifo", argv[2]);
		(void)alarm(60); /* of a case that goes wrong */
		cases[strtol(argv[1], NULL, 10)].run();
		return 0;
	}
	plan(NO_PLAN);
	if (!mkdtemp(dir))
		BAIL_OUT("no folder to work in");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char number[8];
		struct again again = { { number, dir }, true };
		const char *text;
		int status = 0;

		(void)snprintf(number, sizeof(number), "%zu", i);
		text = said_by(run_again, &again, &status);
		/* A core may have been written. */
		if (!ok((status & ~0x80) == cases[i].status, "%s", cases[i].name))
			diag("status %#x: %s", (unsigned int)status, text);
	}
	(void)snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	(void)unlink(fifo);
	(void)rmdir(dir);
	done_testing();
}
