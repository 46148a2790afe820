/* SPDX-License-Identifier: MIT */
/*
 * The folders that runs have their things in, and these things: entries that are made locked, found
 * again, and removed by whoever gets their lock.
 *
 * A base is a folder of this user, 0700 (0711 where a program that is another user must get in), and
 * verified to be ours. An entry is KIND.ID in it, locked by its run (flock) as long as that lives.
 * Only PLACE_STRAY is different: there the base is one run's alone, /tmp/sbx-UID.ID, and an entry of
 * /tmp itself.
 *
 * Nothing here follows a link, enters a mount, or touches an entry that somebody has locked.
 */
#ifndef SBX_LAUNCH_BASE_H
#define SBX_LAUNCH_BASE_H

#include "launch.h"

enum launch_where {
	PLACE_MEMORY, /* /dev/shm/sbx-UID */
	PLACE_TMPDIR, /* TMPDIR/sbx */
	PLACE_TMP, /* /tmp/sbx-UID */
	PLACE_STRAY, /* /tmp, when that name is taken there */
	PLACE_COUNT
};

enum launch_kind {
	KIND_RUN, /* a file: the registry's */
	KIND_TMP, /* folders */
	KIND_HOME,
	KIND_STRAY,
	KIND_COUNT
};

struct launch_base {
	int fd; /* close-on-exec, to be read */
	bool shared; /* others have entries there too: all of ours are of KIND_STRAY */
	dev_t dev;
	ino_t ino;
	char path[PATH_MAX]; /* without links */
};

struct launch_entry {
	const struct launch_base *base;
	enum launch_kind kind;
	const char *name;
	const char *id; /* the end of 'name' */
};

/*
 * Opens it, and makes it where that is asked for ('shared' ones are there or not). 'foreign': others
 * must be able to get in. 0; -EPERM when what is there is not ours alone; or another negative errno
 * when there is nothing and nothing can be. 'out' has the path as far as it came.
 */
int launch_base_open(enum launch_where place, bool create, bool foreign, struct launch_base *out);
/*
 * Opens all that are there; returns how many. /tmp itself is among them only when /tmp/sbx-UID is not
 * ours, or not there although it is the one to be used: only then a run can have been put beside it.
 */
int launch_base_open_all(struct launch_base out[PLACE_COUNT]);
void launch_base_close_all(struct launch_base *bases, int count);

/* KIND.ID, as it is called. */
void launch_entry_name(enum launch_kind kind, const char *id, char out[64]);
/*
 * Makes it and locks it. Its descriptor, close-on-exec (to be written to, when it is a file), or a
 * negative errno: -EEXIST when it is there, -ENOENT when the base is gone.
 */
int launch_entry_make(int base, const char *name, bool folder, mode_t mode);
/*
 * Removes it with all that is in it; 'fd' is its descriptor, and locked. Who still fills it is not
 * waited for.
 */
int launch_entry_remove(int base, const char *name, int fd);
/* Removes it when nobody has locked it. */
int launch_entry_sweep(const struct launch_entry *entry);
/*
 * Opens it to be read, when it is what its kind says and in a base of ours. A negative errno, also
 * when it does not let itself be read. 'alive' says whether somebody has locked it.
 */
int launch_entry_open(const struct launch_entry *entry, bool *alive);

/* Calls 'each' for all that look like entries; returns the sum of what it returns. */
int launch_base_each(const struct launch_base *base,
		     int (*each)(const struct launch_entry *entry, void *arg), void *arg);

#endif
