/* SPDX-License-Identifier: MIT */
/*
 * Masks: mounts over what rules take away inside a place that is allowed. Landlock cannot take back
 * below a folder what it grants there; but where something empty that nobody may open stands in the
 * way, there is nothing to take back, and all the rest can be read and executed without being asked
 * about.
 *
 * What can be masked is what is there when a run starts: places that deny and [path] name, and all
 * that a pattern of deny matches. What is made later is the broker's, who makes it.
 */
#ifndef SBX_LAUNCH_COVER_H
#define SBX_LAUNCH_COVER_H

#include "launch.h"

#include <sys/types.h>

struct launch_cover {
	char *path;
	uint32_t rule;
	bool denied; /* all of it; else only what 'attributes' forbid */
	bool folder;
	bool made; /* stands there */
	uint64_t attributes; /* MOUNT_ATTR_… */
	dev_t dev;
	ino_t ino;
	uint64_t id; /* of the mount, once made */
};

struct launch_covers {
	struct launch_cover *list; /* by path */
	size_t count;
	size_t room;
	bool *held; /* by rule: all that it takes away at the start is masked */
	size_t rules;
	size_t seen; /* entries that were looked at for patterns */
	uint64_t ms; /* and how long that took */
	bool cut; /* they were too many, or could not all be seen or masked */
	bool lacking; /* something that was found could not be masked */
};

/*
 * Finds what can be masked. 'keep' are paths that must stay as they are (NULL ends them); 'uid' is the
 * program's. Nothing is mounted yet.
 */
int launch_covers_find(const struct sbx_image *image, uid_t uid, const char *const *keep,
		       struct launch_covers *out, struct launch_error *error);
/*
 * Mounts them, in a mount namespace of our own. A rule of which a place cannot be masked is not held
 * any more. Fails where the folder that we are in cannot be entered again.
 */
int launch_covers_mount(struct launch_covers *covers, struct launch_error *error);
/* Where there can be no mounts: nothing is held but what takes nothing away. */
void launch_covers_drop(struct launch_covers *covers);
void launch_covers_done(struct launch_covers *covers);

/* Whether a mask stands at a path, or above it; and whether one that leaves nothing to be seen does. */
bool launch_covers_over(const struct launch_covers *covers, const char *path);
bool launch_covers_deny(const struct launch_covers *covers, const char *path);

/*
 * A mask goes away when somebody outside removes or replaces what is under it: the kernel takes the
 * mount with it. launch_covers_watch() opens what poll() calls ready (POLLPRI, POLLERR) when one may
 * have, -1 where there is nothing to watch; launch_covers_gone() says which, or NULL.
 */
void launch_covers_moved(struct launch_covers *covers); /* into a copy of the mount namespace */
int launch_covers_watch(const struct launch_covers *covers);
const char *launch_covers_gone(const struct launch_covers *covers);

#endif
