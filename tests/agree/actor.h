/* SPDX-License-Identifier: MIT */
/*
 * What the test asks of the program that it starts bare and in sandboxes: one act at a time, through
 * a pipe, and for each a reply comes back through another.
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

static inline uint32_t actor_mix(uint32_t hash, uint64_t value)
{
	hash = (hash ^ (uint32_t)(value ^ value >> 32)) * 0x9e3779b1u;
	return hash ^ hash >> 15;
}

/* What a name adds to what is seen of a listing. */
static inline uint32_t actor_name(const char *name)
{
	uint32_t hash = 1;

	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return 0;
	for (; *name; name++)
		hash = actor_mix(hash, (unsigned char)*name);
	return hash;
}

/* What came of it. */
struct actor_reply {
	int code; /* an errno, or 0 */
	uint32_t seen; /* a number that differs when what was listed or looked at does */
};

/* Said once, at the beginning. */
struct actor_hello {
	pid_t pid;
	bool shim; /* it is loaded */
};

#endif
