/* SPDX-License-Identifier: MIT */
/*
 * Who holds what: which of a policy's rights the kernel's rules can grant to the program, place by
 * place, and which are left out of them, so that calls which need them are the broker's.
 *
 * Landlock adds up what the rules of a file and of all folders above it grant, and takes nothing
 * away. So a place gets only what nothing below it loses. Rights are left out in four classes, each
 * as a whole: what only protects files from being changed must not cost the reads of every run.
 *
 * What is denied by name in a place costs it reading, and still the folders beside it can be read
 * whole: they are listed apart, for rules that nothing relies on. The broker serves all that a place
 * leaves to it, whether the kernel would have granted it or not, so it matters to nobody when such a
 * folder is exchanged for another.
 */
#ifndef SBX_LAUNCH_HOLD_H
#define SBX_LAUNCH_HOLD_H

#include "launch.h"

#include <sys/types.h>

enum {
	HOLD_READ = 1 << 0, /* files and folders */
	HOLD_EXEC = 1 << 1,
	HOLD_WRITE = 1 << 2, /* what is there: contents, length */
	HOLD_CHANGE = 1 << 3, /* entries of folders: made, removed, moved */
	HOLD_ALL = (1 << 4) - 1
};

/* A place where the kernel grants something. */
struct launch_held {
	const char *path;
	size_t len;
	uint8_t rights; /* of the policy, SBX_RIGHT_… */
	uint8_t classes; /* of them, those that the kernel grants */
	uint8_t left; /* and those that are the broker's */
	uint8_t above; /* what the kernel grants to the folder above already */
	uint32_t rule; /* that names it */
	uint32_t taker; /* a rule that costs it executing, or SBX_NONE */
	bool loose; /* the program can put something else in its place */
	dev_t dev; /* then, what the kernel's rule is about */
	ino_t ino;
};

struct launch_hold {
	const struct sbx_image *image;
	struct launch_held *list; /* by path */
	size_t count;
	char **beside; /* folders that may be read whole, in places that may not */
	size_t beside_count;
	uint8_t brokered; /* classes that are left out somewhere */
	bool wider; /* we are granted whole folders for what is missing or a pattern names */
};

/* Whether a place is at or below a folder of 'len' bytes. */
bool launch_is_within(const char *path, const char *folder, size_t len);
/* How much of a pattern is names: the folder that all it matches lies in. */
size_t launch_literal_len(const char *pattern);

/* Rights about paths that the policy gives at a path, and in the folder that holds it ("/": none). */
#define PATH_RIGHTS (SBX_RIGHT_READ | SBX_RIGHT_WRITE | SBX_RIGHT_EXEC)
uint8_t launch_rights_at(const struct sbx_image *image, const char *path);
uint8_t launch_rights_above(const struct sbx_image *image, const char *path);
/* Whether a [path] section goes by more than names: suffixes, sizes. */
bool launch_has_conditions(const struct sbx_image *image, const struct sbx_rule *rule);

/* The classes that rights come to. */
uint8_t launch_hold_classes(uint8_t rights);

/*
 * Finds out. 'landlock' says whether there is any; without it all is the broker's. masked[rule] says
 * that a mount stands over what a rule takes away; NULL: none does. On failure the rule that cannot be
 * held is named, by file and line.
 */
int launch_hold_make(const struct sbx_image *image, bool landlock, const bool *masked,
		     struct launch_hold *out, struct launch_error *error);
void launch_hold_done(struct launch_hold *hold);

/* Whether the kernel could be left to execute a file, if a rule named it. */
bool launch_hold_can_execute(const struct sbx_image *image, const char *file);

/* What the kernel grants at a path: its own place, and those above it, as far as they are still there. */
uint8_t launch_hold_at(const struct launch_hold *hold, const char *path);
/* The place itself, or NULL. */
const struct launch_held *launch_hold_find(const struct launch_hold *hold, const char *path,
					   size_t len);

#endif
