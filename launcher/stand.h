/* SPDX-License-Identifier: MIT */
/*
 * Private tmp in the place of /tmp, /var/tmp and /dev/shm. Not all programs ask for TMPDIR: in a mount
 * namespace of the run they find private tmp where they look, and nothing of what is there for others.
 *
 * /tmp and /var/tmp are the one folder that TMPDIR names; /dev/shm is in memory, as it is outside.
 * Whether a place is taken is the policy's word: it is, where a rule stands for it (SBX_RULE_STAND_IN),
 * and that is only where no other rule is about anything there. What the run itself has below such a
 * place keeps its name. A mount that cannot be made ends the launch: by then the policy says that what
 * is there is private.
 */
#ifndef SBX_LAUNCH_STAND_H
#define SBX_LAUNCH_STAND_H

#include "command.h"
#include "private.h"
#include "space.h"

struct launch_stand {
	const char *offered[4]; /* places that could be taken; NULL ends them */
	const char *lacks; /* why none could, or NULL */
	/* O_PATH, from before the mounts, or 0: what the run's own folders are in */
	int base;
	int registry;
	int image; /* a copy of the run's file, locked as the one outside is; or 0 */
};

/* What the mounts are made from. */
struct launch_stand_with {
	const struct sbx_image *policy;
	const char *const *argv;
	const struct launch_user *user;
	uint64_t memory; /* /dev/shm may have as much */
	bool limited; /* by 'disk': all of it is in one tmpfs already */
};

extern const char *const launch_stand_places[4]; /* NULL ends them */

/* Finds out which places are there, and not in the way of what has to be started. */
void launch_stand_offer(const struct launch_command *command, struct launch_stand *stand);
/* Whether the policy has private tmp in the place of 'folder', or of any. */
bool launch_stand_is(const struct sbx_image *image, const char *folder);
bool launch_stand_any(const struct sbx_image *image);
/* The place that is taken and that 'path' lies in, or NULL. */
const char *launch_stand_over(const struct sbx_image *image, const char *path);
/* What TMPDIR is to name: run->tmp, or the place that covers it, which is the same folder. */
const char *launch_stand_tmp(const struct sbx_image *image, const struct launch_private *run);
/* Makes a folder of the run's anew, with all above it, where its path is covered by now. */
int launch_stand_keep(const struct sbx_image *image, const struct launch_user *user,
		      const char *path);
/*
 * Whether something open that is called 'path' is what the run has under that name, and not what
 * somebody opened outside before: below a place that is taken, names alone say nothing.
 */
bool launch_stand_has(const struct sbx_image *image, int fd, const char *path);
/* Once the run's folders are made: mounts them. run->image is where the program finds it. */
int launch_stand_mount(const struct launch_stand_with *with, struct launch_private *run,
		       struct launch_stand *stand, struct launch_error *error);

#endif
