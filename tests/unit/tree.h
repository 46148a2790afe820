/* SPDX-License-Identifier: MIT */
/*
 * Small trees of files for tests: built in a fresh folder, and removed with it at exit. A tree that
 * cannot be built ends the test program.
 */
#ifndef TREE_H
#define TREE_H

#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tap.h>

struct tree_text {
	struct tree_text *next;
	char *path;
};

static char tree_root[PATH_MAX]; /* absolute, without links */
static pid_t tree_owner;
static struct tree_text *tree_texts;

static inline void tree_remove(void)
{
	char *const roots[] = { tree_root, NULL };
	FTS *fts;

	if (getpid() != tree_owner)
		return;
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	for (FTSENT *entry; fts && (entry = fts_read(fts));) {
		if (entry->fts_info == FTS_D)
			chmod(entry->fts_accpath, 0700);
		else
			remove(entry->fts_accpath);
	}
	if (fts)
		fts_close(fts);
	while (tree_texts) {
		struct tree_text *next = tree_texts->next;

		free(tree_texts->path);
		free(tree_texts);
		tree_texts = next;
	}
}

static inline void tree_begin(void)
{
	char template[] = "/tmp/sbx-unit-XXXXXX";

	if (!mkdtemp(template) || !realpath(template, tree_root) || chmod(tree_root, 0755) < 0)
		BAIL_OUT("cannot make a folder in /tmp");
	tree_owner = getpid();
	atexit(tree_remove);
}

/*
 * A /dev/shm of this process's own, where that can be had: any launcher of this user removes what a
 * dead one left in the other.
 */
static inline void tree_own_memory(void)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777") < 0)
		note("/dev/shm is everybody's: who launches meanwhile may disturb");
}

/* The absolute path of a place in the tree; the text lives as long as the tree. */
static inline char *tree_path(const char *name)
{
	struct tree_text *text = calloc(1, sizeof(*text));

	if (!text || asprintf(&text->path, "%s%s%s", tree_root, *name ? "/" : "", name) < 0 ||
	    !text->path)
		BAIL_OUT("out of memory");
	text->next = tree_texts;
	tree_texts = text;
	return text->path;
}

static inline char *tree_dir(const char *name)
{
	char *path = tree_path(name);
	char *slash = path + strlen(tree_root);

	do {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
		slash = strchr(slash + 1, '/');
	} while (slash);
	if (mkdir(path, 0755) < 0 && access(path, F_OK) < 0)
		BAIL_OUT("cannot make folder %s", path);
	return path;
}

static inline void tree_parent(const char *name)
{
	char parent[PATH_MAX];

	snprintf(parent, sizeof(parent), "%s", name);
	if (strrchr(parent, '/')) {
		*strrchr(parent, '/') = '\0';
		tree_dir(parent);
	}
}

static inline char *tree_file(const char *name, const char *text, mode_t mode)
{
	char *path = tree_path(name);
	ssize_t len = (ssize_t)strlen(text);
	int fd;

	tree_parent(name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, text, (size_t)len) != len || fchmod(fd, mode) < 0)
		BAIL_OUT("cannot write %s", path);
	close(fd);
	return path;
}

static inline char *tree_link(const char *name, const char *target)
{
	char *path = tree_path(name);

	tree_parent(name);
	if (symlink(target, path) < 0)
		BAIL_OUT("cannot link %s", path);
	return path;
}

#endif
