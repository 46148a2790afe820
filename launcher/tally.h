/* SPDX-License-Identifier: MIT */
/*
 * What happened in a run, counted: by kind without bound, and one by one as far as memory goes.
 *
 * A program can be refused millions of times, each time for another target. Every kind of event
 * remembers so many and then only counts, so that a flood of one kind cannot hide another kind.
 */
#ifndef SBX_LAUNCH_TALLY_H
#define SBX_LAUNCH_TALLY_H

#include "ops.h"
#include "report.h"

#define TALLY_PER_KIND 512 /* events, and targets, that a kind tells apart */
#define TALLY_TARGETS 3 /* of a kind that are kept as text */
#define TALLY_TARGET_SHOWN 80 /* bytes of each */

enum launch_event {
	EVENT_DENIAL,
	EVENT_WOULD_DENY,
	EVENT_LIMIT,
	EVENT_COUNT
};

/* Operations are those of the engine, and two more. Of a limit the code is its enum launch_limit. */
enum {
	TALLY_SYSCALL = SBX_OP_COUNT,
	TALLY_LIMIT,
	TALLY_OPS
};
_Static_assert((int)LIMIT_COUNT <= (int)SBX_CODE_COUNT, "a limit fits where a code does");

/* What makes two events the same. */
struct launch_key {
	enum launch_event event;
	unsigned int op;
	unsigned int code;
	pid_t pid;
	const char *target;
};

struct launch_kind {
	uint64_t count;
	uint32_t events; /* that were remembered */
	uint32_t targets; /* likewise */
	bool more_targets; /* there were others */
	char *shown[TALLY_TARGETS]; /* the first ones, escaped */
};

/* One event that was remembered. The report fills in and the tally frees what it says. */
struct launch_seen {
	enum launch_event event;
	unsigned int op;
	unsigned int code;
	uint64_t count;
	int64_t time_ms;
	bool logged;
	char *headline; /* of an explanation that was given, or NULL */
	char *members; /* of its JSON, without "count"; NULL when not kept */
};

struct launch_slot {
	uint64_t hash;
	uint32_t used;
	uint32_t seen; /* SBX_NONE for a target */
};

struct launch_tally {
	uint64_t secret[2]; /* the program chooses targets, but not where they are put */
	struct launch_kind kinds[EVENT_COUNT][TALLY_OPS][SBX_CODE_COUNT];
	uint64_t totals[EVENT_COUNT];
	struct launch_seen *seen;
	uint32_t seen_count;
	struct launch_slot *slots;
	uint32_t slot_count;
	uint32_t slots_used;
};

enum launch_news {
	NEWS_KIND, /* the first of its kind */
	NEWS_EVENT,
	NEWS_AGAIN,
	NEWS_COUNTED /* there was no memory to tell; only the totals know of it */
};

/* The tally was zero before. */
void launch_tally_init(struct launch_tally *tally);
void launch_tally_done(struct launch_tally *tally);
/* 'seen' is set unless the event was only counted, and holds until the next one is added. */
enum launch_news launch_tally_add(struct launch_tally *tally, const struct launch_key *key,
				  struct launch_seen **seen);
/* How many kinds of the event there were. */
uint64_t launch_tally_kinds(const struct launch_tally *tally, enum launch_event event);

#endif
