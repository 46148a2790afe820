/* SPDX-License-Identifier: MIT */
/*
 * A thread of the supervisor that lives in the network of the program's own (netspace.h), and bears
 * the program: whoever is born by it is born there. All the other threads stay where they are, and
 * reach the world for the program.
 */
#ifndef SBX_LAUNCH_INSIDE_H
#define SBX_LAUNCH_INSIDE_H

#include "netspace.h"

#include <pthread.h>

struct launch_inside {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum {
		INSIDE_ENTERS,
		INSIDE_WAITS, /* to be told what to bear */
		INSIDE_BEARS,
		INSIDE_DONE
	} state;
	int failed; /* to enter */
	struct launch_error error;
	struct launch_netspace space;
	pid_t (*bear)(void *arg); /* once, by that thread */
	void *arg;
	pid_t born;
};

/* While there are capabilities: takes the network, and keeps none of them in that thread. */
int launch_inside_begin(struct launch_inside *inside, struct launch_error *error);
/* What bear() returned; it is called in that thread, and in its child never returns. */
pid_t launch_inside_bear(struct launch_inside *inside, pid_t (*bear)(void *arg), void *arg);

#endif
