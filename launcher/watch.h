/* SPDX-License-Identifier: MIT */
/*
 * Watches the whole tree's limits: wall clock, CPU time and share, memory, descriptors.
 *
 * The tree is looked at while it uses the CPU, and not at all while everybody sleeps: then a CPU
 * timer on each process wakes us, and so does a new process (launch_watch_wake). At most about 20
 * looks a second, but for a few more in a row where memory nears its limit.
 */
#ifndef SBX_LAUNCH_WATCH_H
#define SBX_LAUNCH_WATCH_H

#include "limit.h"
#include "report.h"
#include "tree.h"

#include <signal.h>
#include <time.h>

struct launch_watch {
	const struct launch_limits *limits;
	struct launch_tree tree;
	int timer_signal; /* sent by CPU timers */
	bool notified; /* new processes are told, not only found */
	bool stale; /* there are processes that the tree does not know */
	uint64_t started; /* milliseconds of the monotonic clock, as all times here */
	uint64_t next; /* when to look again; UINT64_MAX: when woken */
	uint64_t looked;
	uint64_t tokens_at; /* looks in a row are paid from a bucket */
	unsigned int tokens;
	uint64_t cpu_ms; /* so far */
	uint64_t seen_cpu_ms; /* summed up by what each look saw */
	uint64_t memory;
	uint64_t memory_peak;
	uint64_t rss_weighed; /* when memory was last counted exactly */
	uint64_t tasks_peak;
	int64_t credit_us; /* of CPU time, for cpu_percent */
	uint64_t stopped_until; /* 0: not stopped */
	struct launch_who culprit;
	bool files_told;
	timer_t *timers;
	size_t timer_count;
};

uint64_t launch_now(void);

void launch_watch_init(struct launch_watch *watch, const struct launch_limits *limits, pid_t root,
		       int timer_signal, bool notified);
void launch_watch_done(struct launch_watch *watch);

/* Somebody woke up, or was born. */
void launch_watch_wake(struct launch_watch *watch, bool born);
/* Milliseconds until launch_watch_look() is due, or -1. */
int launch_watch_due(const struct launch_watch *watch);
/*
 * Looks if it is time. LIMIT_NONE, a limit that ends the run, or LIMIT_OPEN_FILES, which does not;
 * 'hit' says more.
 */
enum launch_limit launch_watch_look(struct launch_watch *watch, struct launch_hit *hit);
/* Lets a tree go on that cpu_percent had stopped. */
void launch_watch_release(struct launch_watch *watch);
/* For a tree that is given time to end; the tree was found anew. */
bool launch_watch_memory_is_over(struct launch_watch *watch);
bool launch_watch_is_stopping(const struct launch_watch *watch);

/* What /proc says of the process that the thread belongs to. */
void launch_who_fill(struct launch_who *who, pid_t thread);

#endif
