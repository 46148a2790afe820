/* SPDX-License-Identifier: MIT */
/*
 * How many processes and threads a run has, and whether one more may be born.
 *
 * Births are counted exactly, both ways. Deaths are not told, so the number kept is an upper bound;
 * where it meets the limit the tree is counted. A birth that was let go on a moment ago may not be
 * visible yet: while that could make the difference, the new one waits for the next count. Refused
 * is only what the count itself shows to be too much, and nothing is ever let go on beyond it.
 */
#ifndef SBX_LAUNCH_BIRTHS_H
#define SBX_LAUNCH_BIRTHS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A clone, fork or vfork. */
struct launch_birth {
	uint64_t id; /* of the question */
	pid_t thread; /* that asked */
	uint64_t at; /* when it was let go on */
};

enum launch_birth_end {
	BIRTH_GOES_ON,
	BIRTH_REFUSED, /* too many there are */
	BIRTH_FAILED /* without memory nobody is born */
};

struct launch_birth_list {
	struct launch_birth *items;
	size_t count;
	size_t cap;
};

struct launch_births {
	pid_t root; /* the supervisor */
	uint64_t limit; /* of tasks */
	/* Told what becomes of a birth: once for each, now or at a later count. */
	void (*tell)(void *arg, const struct launch_birth *birth, enum launch_birth_end end);
	void *arg;
	uint64_t tasks; /* at most so many there are */
	uint64_t counted; /* when the tasks were last counted for a decision */
	uint64_t count_ms; /* and how long that took */
	struct launch_birth_list recent; /* let go on a moment ago */
	struct launch_birth_list waiting; /* for a count to decide */
};

void launch_births_ask(struct launch_births *births, struct launch_birth birth);
/* Milliseconds until a count is due, or -1; then launch_births_count() is called. */
int launch_births_due(const struct launch_births *births);
void launch_births_count(struct launch_births *births);

#endif
