/* SPDX-License-Identifier: MIT */
/*
 * Namespaces of a run: taken by the launcher itself, before its own Landlock layer, which forbids
 * mounting from then on. Supervisor and program are born into them.
 */
#ifndef SBX_LAUNCH_SPACE_H
#define SBX_LAUNCH_SPACE_H

#include "launch.h"
#include "user.h"

enum launch_isolate {
	ISOLATE_AUTO, /* what the policy needs */
	ISOLATE_FULL,
	ISOLATE_NONE
};

struct launch_space {
	bool mounts; /* a mount namespace of our own, from which nothing reaches the others */
	bool user; /* by way of a user namespace, in which everybody is who they were */
	bool tried; /* a user namespace is known not to be hollow (see space.c) */
	bool full; /* processes, System V IPC and the host's name are to be our own, too */
	char lacks[200]; /* why it could not be had */
};

/*
 * Whether it is worth while to count on a mount namespace: false, with the reason in space->lacks,
 * where it is known that none can be had. Takes none.
 */
bool launch_space_likely(struct launch_space *space);
/*
 * Takes a mount namespace where one can be had: space->mounts says so, and tried again it is the same.
 * Fails only where neither with nor without it anything could go on.
 */
int launch_space_mounts(const struct launch_user *user, struct launch_space *space,
			struct launch_error *error);

/*
 * For 'full': the next process that we fork is the first of its own. It calls launch_space_begin(),
 * before any Landlock layer, and sees no other processes in /proc from then on.
 */
int launch_space_fork(const struct launch_space *space, struct launch_error *error);
int launch_space_begin(const struct launch_space *space, struct launch_error *error);

/* A new tmpfs of so many bytes, mounted nowhere yet: its descriptor, or a negative errno. */
int launch_space_tmpfs(uint64_t size, mode_t mode);

#endif
