/* SPDX-License-Identifier: MIT */
/*
 * Umasks of the program's processes, without asking the kernel each time something is made: to read
 * one from /proc takes as long as all the rest of a brokered call. All have the one that the run began
 * with, until somebody calls umask(2), which the supervisor hears of.
 */
#ifndef SBX_LAUNCH_MASKS_H
#define SBX_LAUNCH_MASKS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#define LAUNCH_MASKS 32

struct launch_masks {
	pthread_mutex_t lock;
	mode_t first; /* that the run began with */
	pid_t others[LAUNCH_MASKS]; /* processes that have another one, as far as is known */
	size_t count;
	bool unsure; /* somebody may have inherited another one */
};

void launch_masks_init(struct launch_masks *masks);
/* A process calls umask(). */
void launch_masks_set(struct launch_masks *masks, pid_t process, mode_t mask);
/* A process is born. */
void launch_masks_born(struct launch_masks *masks);
/* The umask of a thread; never one that lets others have more than they would. */
mode_t launch_masks_get(struct launch_masks *masks, pid_t thread);

#endif
