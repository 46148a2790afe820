/* SPDX-License-Identifier: MIT */
/*
 * The calls: one row each, and the three ways into the kernel.
 */
#include "probe.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONE (-1)

/* Calls that only older architectures have; libc makes others of them elsewhere. */
#ifdef SYS_open
#define OLD(number) SYS_##number
#else
#define OLD(number) NONE
#endif
#ifndef __GLIBC__
#define open64 open
#define creat64 creat
#define openat64 openat
#define fopen64 fopen
#define freopen64 freopen
#define truncate64 truncate
#define mkstemp64 mkstemp
#endif

#define P(i) ((char *)(intptr_t)args[i])
#define V(i) ((char **)(intptr_t)args[i])
#define N(i) ((int)args[i])

static char *const argv_of_all[] = { (char *)"probed", NULL };
static char *const no_environment[] = { NULL };

static FILE *reopened(const char *path, const char *mode,
		      FILE *(*how)(const char *, const char *, FILE *))
{
	FILE *stream = fopen("/dev/null", "r");

	return stream ? how(path, mode, stream) : NULL;
}

/* What a function changes in its argument is a copy. */
static char *template_of(const char *path)
{
	return path ? strdup(path) : NULL;
}

static int waited(int error, pid_t pid)
{
	int status = 0;

	if (error)
		return error;
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	return -WEXITSTATUS(status);
}

static int spawned(const char *path,
		   int (*how)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			      const posix_spawnattr_t *, char *const *, char *const *))
{
	pid_t pid = 0;
	int error = how(&pid, path, NULL, NULL, argv_of_all, environ);

	return waited(error, pid);
}

/* A spawn that opens a file for its child on the way. */
static int spawned_with(const char *path, int flags)
{
	posix_spawn_file_actions_t actions;
	char *const argv[] = { (char *)"false", NULL };
	pid_t pid = 0;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 5, path, flags, 0600);
	error = posix_spawn(&pid, "/bin/false", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return waited(error, pid);
}

static int forked(void)
{
	pid_t pid = fork();
	int before = errno;

	if (pid == 0)
		_exit(0);
	if (pid < 0)
		return -1;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	errno = before;
	return 0;
}

static int found_at(const char *path, const char *file)
{
	setenv("PATH", path, 1);
	return execvp(file, argv_of_all);
}

static int read_by_shell(const char *command)
{
	/* Pointers, because nothing in the tree calls these but to see what they do. */
	FILE *(*const start)(const char *, const char *) = popen;
	FILE *stream = start(command, "r");

	return stream ? pclose(stream) : -1;
}

static int run_by_shell(const char *command)
{
	int (*const start)(const char *) = system;

	return start(command);
}

#define CALL(name, words, kind, number, expression) \
	static long libc_##name(const long *args)   \
	{                                           \
		(void)args;                         \
		return (long)(expression);          \
	}
#include "calls.def"

static const struct probe_call calls[] = {
#define CALL(name, words, kind, number, expression) { #name, words, kind, number, libc_##name },
#include "calls.def"
};

const struct probe_call *probe_call_find(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (!strcmp(calls[i].name, name))
			return &calls[i];
	return NULL;
}

static long raw(long number, const long *a)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "0"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);

	return result < 0 ? -errno : result;
#endif
}

long probe_call_make(const struct probe_call *call, enum probe_mode mode, const long *args)
{
	long result;

	switch (mode) {
	case MODE_RAW:
		result = raw(call->number, args);
		if (result >= 0 || result < -4095)
			return result;
		errno = (int)-result;
		return -1;
	case MODE_SYSCALL:
		return syscall(call->number, args[0], args[1], args[2], args[3], args[4], args[5]);
	default:
		return call->libc(args);
	}
}
