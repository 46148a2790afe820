/* SPDX-License-Identifier: MIT */
/*
 * What the shim knows about itself: found once, before the first hook that wants to know or in the
 * constructor, and never changed. Finding it twice, in two threads or after vfork, does no harm.
 */
#ifndef SHIM_START_H
#define SHIM_START_H

#include <stddef.h>

/* "NAME=value" entries that programs started from here shall have too. */
struct shim_self {
	size_t path_len; /* 0: the shim does not know where it is, and keeps nothing */
	const char *path; /* the file it was loaded from */
	const char *preload; /* "LD_PRELOAD=" and the path */
	const char *image; /* of a shim that explains, else NULL */
	const char *explain;
};

const struct shim_self *shim_self(void);

#endif
