/* SPDX-License-Identifier: MIT */
/*
 * Who has confined itself further: a sandbox inside this one, with Landlock rules of its own. What the
 * supervisor does for a program is done under the supervisor's rules, which would lead around those
 * further ones; so it does nothing for such a program that the kernel's rules could have refused.
 */
#ifndef SBX_LAUNCH_NARROW_H
#define SBX_LAUNCH_NARROW_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define NARROW_MOST 64

struct launch_narrow_set {
	pid_t list[NARROW_MOST];
	size_t count;
	bool full; /* there were too many: it may be anybody */
};

struct launch_narrow {
	pthread_mutex_t lock;
	pid_t root; /* the supervisor */
	pid_t program; /* its one child that is no orphan */
	_Atomic bool any; /* false: nobody has, ever */
	struct launch_narrow_set confined;
	struct launch_narrow_set adopters; /* processes with children that others may have borne */
};

void launch_narrow_init(struct launch_narrow *narrow, pid_t root, pid_t program);
/* A thread of this process is about to. */
void launch_narrow_add(struct launch_narrow *narrow, pid_t process);
/*
 * This process is about to adopt: orphans of its descendants (PR_SET_CHILD_SUBREAPER), or a child that
 * one of its children bears for it (CLONE_PARENT).
 */
void launch_narrow_adopts(struct launch_narrow *narrow, pid_t process);
/*
 * Whether a thread may be so confined: it, or one that it descends from. Rules are inherited by birth, so
 * who was adopted, by us as an orphan or by others, may be, once there was any.
 */
bool launch_narrow_has(struct launch_narrow *narrow, pid_t thread);

#endif
