/* SPDX-License-Identifier: MIT */
/* What is mounted where. The same folder may be mounted twice, and the kernel's rules know folders. */
#ifndef SBX_LAUNCH_MOUNTS_H
#define SBX_LAUNCH_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct launch_mount {
	char *line; /* what the others point into */
	uint64_t id;
	const char *device; /* "8:1" */
	const char *root; /* what is mounted of it */
	const char *at; /* and where */
};

struct launch_mounts {
	struct launch_mount *list;
	size_t count;
};

/* As they are now; a negative errno when nobody says. */
int launch_mounts_read(struct launch_mounts *out);
void launch_mounts_done(struct launch_mounts *mounts);

/* Whether a folder and what is below it can be reached through one mount alone. */
bool launch_mounts_has_once(const struct launch_mounts *mounts, const char *path);

#endif
