/* SPDX-License-Identifier: MIT */
/*
 * Random trees of files, random plain policies about them, and the one random sequence that all of
 * it comes from: SBX_SEED repeats a run.
 *
 * A tree has two folders that look alike, "work" and "work-evil", and in them folders, files, files
 * with several names, links that lead to any of these or to nothing, and, for ordinary users, some
 * that nobody may read.
 */
#ifndef GROWN_H
#define GROWN_H

#include "image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GROWN_MAX 26
#define GROWN_NAMES 9

extern const char *const grown_names[GROWN_NAMES];

struct grown_entry {
	char path[64]; /* below the root */
	char kind; /* '/', 'f', 'l' a link, 'h' one more name of a file */
	char target[192]; /* of a link, as it says; of 'h', the entry that it is another name of */
	mode_t mode;
};

struct grown {
	char root[64]; /* absolute */
	uid_t uid; /* whose it is; 0: of who plants it */
	bool closed; /* some entries are closed to their owner */
	struct grown_entry entries[GROWN_MAX];
	size_t count;
};

/* Says on standard output what SBX_SEED has to be to have the same again. */
void chance_begin(void);
unsigned int chance(unsigned int below);

/* Chooses entries, under the same root. */
void grown_grow(struct grown *grown);
/* Makes the tree, in the place of what was there before. All of it is open. */
void grown_plant(const struct grown *grown);
/* Closes what is to be closed. */
void grown_close(const struct grown *grown);
/* Makes one entry, which is not there. */
void grown_put(const struct grown *grown, const struct grown_entry *entry);
/* Any entry; never NULL. */
const struct grown_entry *grown_some(const struct grown *grown);
/* NULL when there is none of that absolute path. */
const struct grown_entry *grown_find(const struct grown *grown, const char *path);
/* Sections with rules about the tree, such that Landlock can say. */
void grown_policy(const struct grown *grown, char *out, size_t size);
/*
 * The same, and what it cannot say: patterns, places that are not there, suffixes, sizes, protections,
 * and now and then something hidden. What begins it belongs to [sandbox].
 */
void grown_policy_any(const struct grown *grown, char *out, size_t size);

/* True when a rule names this place or one inside it. */
bool grown_named(const struct sbx_image *image, const char *path);
/* The same of one that grants something: only such are the kernel's. */
bool grown_granted(const struct sbx_image *image, const char *path);
/*
 * The kernel's rules are bound to files, the engine's to names. Where a named file is moved, or moved
 * over, the kernel moves its rights along; and a file that a rule names has its rights under its
 * other names too. There the kernel may allow what the engine refuses. 'to' may be NULL.
 */
bool grown_bound(const struct grown *grown, const struct sbx_image *image, const char *path,
		 const char *to);

#endif
