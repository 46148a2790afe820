/* SPDX-License-Identifier: MIT */
/*
 * The listener: system calls that the kernel asks the supervisor about.
 *
 * The notify filter hands over every new process and thread, which are counted; the calls that the
 * base filter refuses in words; and those that [syscalls] denies. A verdict here depends on register
 * values alone, which no other thread can change, so that a call may be let go on.
 */
#ifndef SBX_LAUNCH_LISTEN_H
#define SBX_LAUNCH_LISTEN_H

#include "calls.h"
#include "report.h"
#include "watch.h"

/*
 * Puts the notify filter on the calling thread. Returns the listener's descriptor, or a negative
 * errno: -EBUSY or -EPERM inside another sandbox, which has one already.
 */
int launch_listen_install(const struct launch_wishes *wishes);

struct launch_listen {
	int fd;
	pid_t root; /* the supervisor */
	const struct launch_wishes *wishes;
	struct launch_watch *watch;
	struct launch_report *report;
	uint64_t limit; /* of tasks */
	uint64_t tasks; /* at most so many there are */
	uint64_t counted; /* when the tasks were last counted for a decision */
	uint64_t count_ms; /* and how long that took */
	struct launch_birth *births; /* that were let go on a moment ago */
	size_t birth_count;
	size_t birth_cap;
	struct launch_birth *waiting; /* for a count to decide */
	size_t waiting_count;
	size_t waiting_cap;
};

void launch_listen_init(struct launch_listen *listen, int fd, const struct launch_wishes *wishes,
			uint64_t limit, struct launch_watch *watch, struct launch_report *report);
void launch_listen_done(struct launch_listen *listen);
/* Takes what is there, and answers. Never waits. -ENOENT when nobody is left who could ask. */
int launch_listen_serve(struct launch_listen *listen);
/* Milliseconds until a count is due, or -1; then launch_listen_count() is called. */
int launch_listen_due(const struct launch_listen *listen);
void launch_listen_count(struct launch_listen *listen);

#endif
