/* SPDX-License-Identifier: MIT */
/*
 * What tests of the shim share that are not watched: the shim's file, this test once more with or
 * without it, and what a child says.
 */
#ifndef TESTS_SHIMMED_H
#define TESTS_SHIMMED_H

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tap.h>

#define PROGRAMS "tests/shim/programs/" /* below the build tree */

/* PATH below the build tree, or its own folder's "programs". */
static inline const char *built(const char *path)
{
	static char text[4][4200];
	static unsigned int next;
	const char *build = getenv("SBX_BUILD");
	char *out = text[next++ % 4], cwd[4096];

	if (build)
		(void)snprintf(out, sizeof(text[0]), "%s/%s", build, path);
	else
		(void)snprintf(out, sizeof(text[0]), "%.4000s/build/release/%s",
			       getcwd(cwd, sizeof(cwd)), path);
	return out;
}

static inline const char *shim_file(void)
{
	static char text[4200];

	if (!text[0])
		(void)snprintf(text, sizeof(text), "%s", built("lib/libsbx-shim.so"));
	return text;
}

/* Runs 'child' in a process of its own; what it wrote to descriptors 1 and 2, and how it ended. */
static inline const char *said_by(void (*child)(void *), void *context, int *status)
{
	static char text[16384];
	size_t len = 0;
	ssize_t got;
	int ends[2];
	pid_t pid;

	(void)fflush(stdout);
	if (pipe(ends) || (pid = fork()) < 0)
		return "cannot fork";
	if (pid == 0) {
		(void)dup2(ends[1], 1);
		(void)dup2(ends[1], 2);
		(void)close(ends[0]);
		(void)close(ends[1]);
		child(context);
		_exit(97);
	}
	(void)close(ends[1]);
	while ((got = read(ends[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	(void)close(ends[0]);
	while (waitpid(pid, status, 0) < 0 && errno == EINTR)
		;
	return text;
}

/* This program again, with the arguments: argv[1] names a case of it. */
struct again {
	const char *arguments[6];
	bool shim;
};

static inline void run_again(void *context)
{
	const struct again *again = context;
	const char *argv[8] = { "test" };

	for (int i = 0; i < 6; i++)
		argv[i + 1] = again->arguments[i];
	if (again->shim)
		(void)setenv("LD_PRELOAD", shim_file(), 1);
	else
		(void)unsetenv("LD_PRELOAD");
	(void)execv("/proc/self/exe", (char **)argv);
}

#endif
