/* SPDX-License-Identifier: MIT */
/*
 * The listener: system calls that the kernel asks the supervisor about.
 *
 * The notify filter hands over every new process and thread, which are counted; the calls that the
 * base filter refuses in words; those that [syscalls] denies; and what Landlock decides and nobody
 * vouches for. A call is let go on where the verdict depends on register values alone, which no other
 * thread can change, or where Landlock decides it again.
 *
 * Receivers, threads of their own, take the questions (receive.c): one for each CPU, because a question
 * is taken fastest on the CPU it was asked on, and a single receiver would draw every caller there. What
 * they share with the supervisor's loop (births, the watch, the report) is under one lock, which the
 * loop holds but while it waits; most questions about paths need none of it.
 */
#ifndef SBX_LAUNCH_LISTEN_H
#define SBX_LAUNCH_LISTEN_H

#include "births.h"
#include "broker.h"
#include "narrow.h"
#include "report.h"
#include "watch.h"

#include <pthread.h>

/*
 * Puts base filter and notify filter on the calling thread. Returns the listener's descriptor, or a
 * negative errno: -EBUSY or -EPERM inside another sandbox, which has one already.
 */
int launch_listen_install(const struct launch_wishes *wishes);

/* What the listener works with. */
struct launch_listen_setup {
	int fd; /* -1: there is none */
	pid_t program;
	struct launch_names *names; /* of struct launch_broker */
	const struct sbx_image *image;
	const char *own; /* of struct launch_judge */
	const struct launch_wishes *wishes;
	const struct launch_hold *hold; /* NULL: nothing is brokered */
	const struct launch_covers *covers; /* of struct launch_judge */
	bool landlock; /* stands behind the broker */
	bool ports; /* of struct launch_broker */
	uint64_t limit; /* of tasks; 0: none */
	struct launch_watch *watch;
	struct launch_report *report;
	pthread_mutex_t *lock;
};

struct launch_listen {
	struct launch_listen_setup with;
	struct launch_broker broker;
	struct launch_masks masks;
	struct launch_narrow narrow;
	pid_t root; /* the supervisor */
	uint16_t rows[LAUNCH_NUMBERS]; /* of syscalls.def, by number; LAUNCH_CALL_COUNT: none */
	int wake; /* reads as ready when the loop has to look at times anew; -1: nobody receives */
	struct launch_births births;
	bool gathers; /* callers go on where they are answered (6.6+) */
	struct launch_known *known; /* paths that need no look; NULL: all do */
};

/* For the rest of the process: receivers may look at it to the end. */
void launch_listen_init(struct launch_listen *listen, const struct launch_listen_setup *setup);
/* What one thread works with that answers. */
struct launch_judge launch_listen_judge(const struct launch_listen *listen);
/* Which call a question is about; LAUNCH_CALL_COUNT: one that we do not know. */
enum launch_call_index launch_listen_row(const struct launch_listen *listen,
					 const struct seccomp_notif *asked);
/* A file that is there is opened, and for nothing but to read it. */
bool launch_listen_only_reads(enum launch_call_index index, const struct seccomp_data *data);
/* The kernel goes on with the call. */
void launch_listen_go_on(const struct launch_listen *listen, uint64_t id);
/* Answers one question. The lock is not held. */
void launch_listen_answer(struct launch_listen *listen, struct launch_judge *judge,
			  const struct seccomp_notif *asked);
/*
 * Starts the receivers, once there is a first question: listen->wake is to be waited for from now on.
 * They end by themselves when nobody is left who could ask.
 */
int launch_listen_start(struct launch_listen *listen);
/*
 * Takes what is there, and answers, where no receivers could be had. Never waits. -ENOENT when nobody
 * is left who could ask.
 */
int launch_listen_serve(struct launch_listen *listen);

#endif
