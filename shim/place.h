/* SPDX-License-Identifier: MIT */
/*
 * Which file a path leads to, found by opening it without any right to it: no policy refuses that.
 */
#ifndef SHIM_PLACE_H
#define SHIM_PLACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct shim_place {
	char path[PATH_MAX]; /* absolute, without links */
	bool missing; /* the last component is not there; all others are */
	bool is_dir;
	int64_t size; /* of a regular file, else -1 */
	char link[PATH_MAX]; /* for its own use */
};

/* 'path' is relative to 'dir', and is 'dir' itself when it is empty. False when it leads nowhere. */
bool shim_place_find(struct shim_place *place, int dir, const char *path, bool follow);

/* "/proc/self/fd/N", somewhere in 'out'. */
#define SHIM_FD_NAME 32
const char *shim_fd_name(char out[SHIM_FD_NAME], int fd);

#endif
