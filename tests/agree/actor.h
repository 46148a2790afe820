/* SPDX-License-Identifier: MIT */
/*
 * What the test asks of the program that it starts bare and in sandboxes: one act at a time, through
 * a pipe, and for each an errno comes back through another.
 */
#ifndef ACTOR_H
#define ACTOR_H

#include "../kernel/acts.h"

#define ACTOR_PATH 512
/* The number that a folder is opened under, when paths are relative to a descriptor. */
#define ACTOR_FOLDER 100
/* Above any errno: not even the folder could be entered, for the reason in the rest. */
#define ACTOR_NO_BASE 1000

/* Spellings of the same act. Each fits any act; those that an act does not have are like another. */
enum actor_how {
	HOW_PLAIN, /* unlink() */
	HOW_OTHER, /* another function of libc that comes to the same: remove() */
	HOW_AT, /* unlinkat() */
	HOW_RAW, /* syscall(SYS_unlink) */
	HOW_RAW_AT, /* syscall(SYS_unlinkat) */
	HOW_COUNT
};

struct actor_case {
	enum act act;
	enum actor_how how;
	bool by_descriptor; /* 'base' is opened, else it is entered */
	char base[ACTOR_PATH]; /* a folder, or "" */
	char path[ACTOR_PATH];
	char to[ACTOR_PATH];
};

/* Said once, at the beginning. */
struct actor_hello {
	pid_t pid;
	bool shim; /* it is loaded */
};

#endif
