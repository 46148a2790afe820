/* SPDX-License-Identifier: MIT */
/* Who the program runs as, and what is left of root's powers: nothing. */
#ifndef SBX_LAUNCH_USER_H
#define SBX_LAUNCH_USER_H

#include "launch.h"

struct launch_user {
	uid_t uid;
	gid_t gid;
	bool foreign; /* not the one who started us */
};

/* What [sandbox] user says; only root can be another user. */
int launch_user_find(const struct sbx_image *image, struct launch_user *user,
		     struct launch_error *error);

/* Becomes that user, with no group but the user's own. */
int launch_user_become(const struct launch_user *user, struct launch_error *error);

/* Whether that user can read the file; tried by a child, for there is no way back. */
bool launch_user_reads(const struct launch_user *user, const char *path);

/*
 * Takes every capability away from every set, for good, but those in 'keep' (1 << CAP_…), which stay
 * in the permitted and effective sets of this process alone.
 */
int launch_user_drop(uint64_t keep, struct launch_error *error);

#endif
