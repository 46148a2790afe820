/* SPDX-License-Identifier: MIT */
/* The command: which file it is, what its first line names, and whose profile it takes. */
#ifndef SBX_LAUNCH_COMMAND_H
#define SBX_LAUNCH_COMMAND_H

#include "launch.h"

enum {
	LAUNCH_INTERPRETERS = 6, /* the kernel follows five "#!" lines; each may name one by env */
	LAUNCH_SHELL_WORDS = 4096, /* arguments of a script without such a line */
};

struct launch_command {
	char file[PATH_MAX]; /* absolute, as PATH led to it: what is executed */
	char real[PATH_MAX]; /* links resolved */
	char interpreters[LAUNCH_INTERPRETERS][PATH_MAX]; /* what its first line names, resolved */
	size_t interpreter_count;
	bool plain_script; /* no program and no "#!" line: for sh to run, as shells do it */
	const char *past; /* a file that the search passes over, or NULL */
	const char *
		profile_of; /* the name whose profile fits: the command's, else its interpreter's */
};

/*
 * Looks 'name' up as a shell does, but past wrappers that --wrap wrote, and past the file 'past' (or
 * NULL), which is the one that asks. -ENOENT: not found (127); -EACCES and others: found, but it
 * cannot be executed (126).
 */
int launch_command_find(const char *name, const char *past, struct launch_command *command,
			struct launch_error *error);

/*
 * execve() of 'file', which is the command under one of its names; and sh for a script without a
 * first line. Returns only when it failed, with errno.
 */
void launch_command_exec(const struct launch_command *command, const char *file, char *const *argv,
			 char *const *env);

#endif
