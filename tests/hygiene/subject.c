/* SPDX-License-Identifier: MIT */
/*
 * subject KIND ALLOWED REFUSED: a program that is hard on whatever else lives in its process. It opens
 * two files, and says how that went: "allowed: success", "refused: Permission denied"; and which of
 * the libraries that this is about it has. Exit status 0 when both went so.
 *
 *	plain	with much use of memory, in threads too
 *	early	both were opened by a constructor of a library, before main
 *	vfork	by another program after vfork
 *	forks	by 1,000 children of a program with threads (few: by 100)
 *	stack	by a child that shares the memory and has 8 KB of stack
 *	signal	in a signal handler, with as little
 *	closed	with every descriptor closed
 *	library	by a second C library, and by the first one afterwards
 */
#include <dlfcn.h>
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
#include <unistd.h>

static const char *self, *allowed, *refused;

static int opens(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int say(int first, int second)
{
	printf("allowed: %s\nrefused: %s\n", first ? strerror(first) : "success",
	       second ? strerror(second) : "success");
	fflush(stdout);
	return first == 0 && second == EACCES ? 0 : 1;
}

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(2);
}

/* Blocks of all sizes, freed in another order. */
static void *use_memory(void *seed)
{
	void *blocks[64] = { NULL };
	unsigned at = (unsigned)(size_t)seed;

	for (int i = 0; i < 20000; i++) {
		at = at * 1103515245 + 12345;
		free(blocks[at >> 16 & 63]);
		blocks[at >> 16 & 63] = malloc(1 + (at >> 8 & 8191));
		if (i % 500 == 0 && opens(allowed))
			fail(allowed);
	}
	for (int i = 0; i < 64; i++)
		free(blocks[i]);
	return NULL;
}

static void run_threads(pthread_t threads[4], void *(*body)(void *))
{
	for (long i = 0; i < 4; i++)
		if ((errno = pthread_create(&threads[i], NULL, body, (void *)i)))
			fail("thread");
}

static int plain(void)
{
	pthread_t threads[4];
	FILE *file;
	int first;

	run_threads(threads, use_memory);
	use_memory((void *)4L);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	first = opens(allowed);
	if (!(file = fopen(allowed, "r")))
		first = errno;
	else
		fclose(file);
	return say(first, opens(refused));
}

/* The library left its results here. */
int early_results[2] = { -1, -1 };

static int early(void)
{
	return say(early_results[0], early_results[1]);
}

static int by_vfork(void)
{
	char *argv[] = { (char *)"subject", (char *)"plain", (char *)allowed, (char *)refused,
			 NULL };
	int status = 0;
	pid_t pid = vfork(); /* NOLINT */

	if (pid == 0) {
		execv(self, argv);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static atomic_bool over;

static void *keep_busy(void *nothing)
{
	while (!over) {
		FILE *file = fopen(allowed, "r");

		if (file)
			fclose(file);
		free(malloc(1000));
		usleep(50);
	}
	return nothing;
}

static int fork_often(int times)
{
	pthread_t threads[4];
	int good = 0, status;

	run_threads(threads, keep_busy);
	for (int i = 0; i < times; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(opens(allowed) == 0 && (i % 100 || opens(refused) == EACCES));
		if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status))
			good += WEXITSTATUS(status);
	}
	over = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("children: %d good\n", good);
	return good == times ? say(opens(allowed), opens(refused)) : 1;
}

static int forks(void)
{
	return fork_often(1000);
}

static int few(void)
{
	return fork_often(100);
}

static volatile int answers[2] = { -1, -1 };

static int open_both(void *nothing)
{
	(void)nothing;
	answers[0] = opens(allowed);
	answers[1] = opens(refused);
	return 0;
}

/* The page below it cannot be touched. */
static char *small_stack(void)
{
	char *pages =
		mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages, 4096, PROT_NONE) < 0)
		fail("stack");
	return pages + 4096;
}

static int on_small_stack(void)
{
	pid_t pid = clone(open_both, small_stack() + 8192, CLONE_VM | SIGCHLD, NULL);
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		fail("child");
	printf("status %d\n", status);
	return status ? 1 : say(answers[0], answers[1]);
}

static void handler(int number)
{
	(void)number;
	open_both(NULL);
}

static int in_signal(void)
{
	stack_t stack = { .ss_sp = small_stack(), .ss_size = 8192 };
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	if (sigaltstack(&stack, NULL) < 0 || sigaction(SIGUSR1, &action, NULL) < 0 ||
	    raise(SIGUSR1))
		fail("signal");
	return say(answers[0], answers[1]);
}

static int closed(void)
{
	int out = fcntl(STDOUT_FILENO, F_DUPFD, 700);

	for (int fd = 0; fd < 1024; fd++)
		if (fd != out)
			close(fd);
	open_both(NULL);
	if (dup2(out, STDOUT_FILENO) < 0)
		return 2;
	return say(answers[0], answers[1]);
}

static int second_library(void)
{
	void *library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
	void *function = library ? dlsym(library, "open") : NULL;
	int (*other)(const char *path, int flags, ...);
	int fd;

	if (!function)
		fail("dlmopen");
	memcpy(&other, &function, sizeof(other));
	fd = other(allowed, O_RDONLY);
	printf("second: %s\n", fd < 0 ? "failure" : "success");
	fd = other(refused, O_RDONLY);
	printf("second: %s\n", fd < 0 ? "failure" : "success");
	dlclose(library);
	return say(opens(allowed), opens(refused));
}

static void tell_libraries(void)
{
	static const char *const names[] = { "libjemalloc", "libtcmalloc", "libsbx-shim",
					     "second.so",   "audit.so",	   "libasan" };
	FILE *maps = fopen("/proc/self/maps", "r");
	bool found[6] = { false };
	char line[4400];

	while (maps && fgets(line, sizeof(line), maps))
		for (int i = 0; i < 6; i++)
			if (!found[i] && strstr(line, names[i]))
				found[i] = printf("has %s\n", names[i]) > 0;
	if (maps)
		fclose(maps);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} kinds[] = {
		{ "plain", plain },	 { "early", early },   { "vfork", by_vfork },
		{ "forks", forks },	 { "few", few },       { "stack", on_small_stack },
		{ "signal", in_signal }, { "closed", closed }, { "library", second_library }
	};

	if (argc != 4)
		return 2;
	self = argv[0];
	allowed = argv[2];
	refused = argv[3];
	tell_libraries();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name))
			return kinds[i].run();
	return 2;
}
