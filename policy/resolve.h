/* SPDX-License-Identifier: MIT */
/*
 * Query side: which file a path leads to, as the kernel would walk it. Uses system calls, changes
 * nothing.
 */
#ifndef SBX_RESOLVE_H
#define SBX_RESOLVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	SBX_RESOLVE_MISSING = 1 << 0, /* components that do not exist are kept as they are */
	SBX_RESOLVE_NOFOLLOW = 1 << 1, /* a link in the last place is not followed */
	SBX_RESOLVE_UNSEEN = 1 << 3, /* so are those in a folder that we may not search */
	SBX_RESOLVE_PLACE = 1 << 2, /* mode and size are not wanted, and not told: cheaper */
};

struct sbx_resolved {
	char path[PATH_MAX]; /* absolute; no link, "." or ".." in it */
	size_t len; /* of it */
	size_t existing; /* how many bytes of it exist; at least 1, for the root */
	mode_t mode; /* of what is there, 0 when missing */
	int64_t size; /* of a regular file, else -1 */
	bool through_link; /* a link was followed on the way */
	bool unseen; /* it ends in a folder that we may not search */
	bool pinned; /* it is a link below /proc that no path can stand for: see below */
};

/* Through whose eyes /proc is seen: where "self" and "thread-self" lead. */
struct sbx_viewer {
	pid_t process;
	pid_t thread;
	/* Told of every name that is met on the way, from "/" on; may be NULL. */
	void (*meet)(void *arg, const char *place);
	void *arg;
};

/* openat() of what we can do without: where this is in a sandbox itself, no refusal is told. */
int sbx_open_unheard(int dir, const char *path, int flags);

/*
 * Remembers what was walked already, so that a thousand rules cost at most a thousand look-ups. Keeps
 * the descriptor of one folder.
 */
struct sbx_resolve_cache;
struct sbx_resolve_cache *sbx_resolve_cache_new(void); /* NULL: out of memory */
void sbx_resolve_cache_free(struct sbx_resolve_cache *cache);

/*
 * 'path' is absolute or relative to 'cwd', which is absolute. 'cache' may be NULL. 0 or a negative
 * errno: -ENOENT, -ENOTDIR, -ELOOP, -EACCES, -ENAMETOOLONG as the kernel would say. With MISSING a
 * ".." behind a missing component is still -ENOENT.
 *
 * A link below /proc whose text names another file or none (a pipe, a deleted file, another mount
 * namespace) is itself the result, with the mode of what it leads to; a path through it is -ELOOP.
 */
int sbx_resolve_path(const char *cwd, const char *path, unsigned int flags,
		     struct sbx_resolve_cache *cache, struct sbx_resolved *out);
/* The same for a thread of another process, with the same root directory as ours. */
int sbx_resolve_as(const struct sbx_viewer *viewer, const char *cwd, const char *path,
		   unsigned int flags, struct sbx_resolved *out);

#endif
