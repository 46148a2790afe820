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
	char lacks[200]; /* why it could not be had */
};

/*
 * Takes a mount namespace where one can be had: space->mounts says so, and tried again it is the same.
 * Fails only where neither with nor without it anything could go on.
 */
int launch_space_mounts(const struct launch_user *user, struct launch_space *space,
			struct launch_error *error);

#endif
