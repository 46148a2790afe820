/* SPDX-License-Identifier: MIT */
/*
 * Removes trees, iteratively: one level a folder, on the heap. Only the deepest KEEP levels are held
 * open. Above them one comes back through "..", which must be the folder that was left, and reads
 * it anew: what was emptied below is removed then.
 *
 * Must never follow a link, enter a mount, go up into a folder that it did not come down from, or go
 * on for ever while somebody fills what it empties.
 */
#include "erase.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define KEEP 24u
#define PASSES 4
#define SECONDS 30
#define FOLDER (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

struct level {
	dev_t dev;
	ino_t ino;
	DIR *dir; /* NULL above the deepest KEEP */
	const struct dirent *entry; /* of 'dir': the folder that the next level is */
};

struct erasing {
	struct level *levels;
	size_t count;
	size_t room;
	size_t steps;
	time_t end;
	int error; /* why something stays */
};

/* Kernels before 5.6 have no openat2(); there the device tells a mount. */
static int open_folder(int parent, const char *name)
{
	struct open_how how = { .flags = FOLDER,
				.resolve =
					RESOLVE_BENEATH | RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, parent, name, &how, sizeof(how));

	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		fd = openat(parent, name, FOLDER);
	return fd < 0 ? -errno : fd;
}

static void give_owner_rights(int fd)
{
	struct stat stat;

	if (!fstat(fd, &stat) && (stat.st_mode & 0700) != 0700)
		(void)fchmod(fd, (stat.st_mode & 07777) | 0700);
}

int launch_erase_open(int parent, const char *name)
{
	int fd = open_folder(parent, name);

	/* Not a link's target: libc goes through a descriptor of the entry itself. */
	if (fd == -EACCES && !fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW))
		fd = open_folder(parent, name);
	return fd;
}

static int grow(struct erasing *e)
{
	size_t room = e->room ? e->room * 2 : 64;
	struct level *levels = realloc(e->levels, room * sizeof(*levels));

	if (!levels)
		return -ENOMEM;
	e->levels = levels;
	e->room = room;
	return 0;
}

/* Takes the descriptor, also when it fails. */
static int enter(struct erasing *e, int fd)
{
	struct stat stat;
	DIR *dir = NULL;
	int error = e->count == e->room ? grow(e) : 0;

	if (!error && (fstat(fd, &stat) < 0 || (e->count && e->levels[0].dev != stat.st_dev)))
		error = -EXDEV;
	if (!error && !(dir = fdopendir(fd)))
		error = -ENOMEM;
	if (error) {
		close(fd);
		return error;
	}
	e->levels[e->count++] =
		(struct level){ .dev = stat.st_dev, .ino = stat.st_ino, .dir = dir };
	if (e->count > KEEP && e->levels[e->count - 1 - KEEP].dir) {
		closedir(e->levels[e->count - 1 - KEEP].dir);
		e->levels[e->count - 1 - KEEP].dir = NULL;
	}
	return 0;
}

/* Opens the level above again. Whoever moved the folder that we are in leads us nowhere. */
static int reopen(struct level *above, int below)
{
	int fd = openat(below, "..", FOLDER);
	struct stat stat;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0 || stat.st_dev != above->dev || stat.st_ino != above->ino) {
		close(fd);
		return -ESTALE;
	}
	above->dir = fdopendir(fd);
	if (!above->dir) {
		close(fd);
		return -ENOMEM;
	}
	above->entry = NULL;
	return 0;
}

static bool remove_at(struct erasing *e, int dir, const char *name, int flags)
{
	if (!unlinkat(dir, name, flags) || errno == ENOENT)
		return true;
	e->error = -errno;
	return false;
}

static void leave_all(struct erasing *e)
{
	while (e->count)
		if (e->levels[--e->count].dir)
			closedir(e->levels[e->count].dir);
}

/* Goes up. A pass that failed reads nothing twice, or a deep tree would take for ever. */
static void leave(struct erasing *e)
{
	struct level *level = &e->levels[e->count - 1];
	struct level *above = e->count > 1 ? level - 1 : NULL;
	int error = 0;

	if (above && !above->dir)
		error = e->error ? e->error : reopen(above, dirfd(level->dir));
	if (error) {
		e->error = error;
		leave_all(e);
		return;
	}
	closedir(level->dir);
	e->count--;
	if (above && above->entry)
		remove_at(e, dirfd(above->dir), above->entry->d_name, AT_REMOVEDIR);
}

static void remove_entry(struct erasing *e, struct level *level, const struct dirent *entry)
{
	int dir = dirfd(level->dir), fd, error = e->error;

	if (entry->d_type != DT_DIR) {
		if (remove_at(e, dir, entry->d_name, 0) || e->error != -EISDIR)
			return;
		e->error = error;
	}
	if (remove_at(e, dir, entry->d_name, AT_REMOVEDIR) || e->error == -EBUSY)
		return;
	e->error = error;
	level->entry = entry;
	fd = launch_erase_open(dir, entry->d_name);
	if (fd >= 0)
		give_owner_rights(fd);
	error = fd < 0 ? fd : enter(e, fd);
	if (error && error != -ENOENT)
		e->error = error;
}

static bool is_dots(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

static time_t now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void step(struct erasing *e)
{
	struct level *level = &e->levels[e->count - 1];
	const struct dirent *entry = readdir(level->dir);

	if (++e->steps % 256 == 0 && now() >= e->end) {
		e->error = -ETIMEDOUT;
		leave_all(e);
	} else if (!entry) {
		leave(e);
	} else if (!is_dots(entry->d_name)) {
		remove_entry(e, level, entry);
	}
}

int launch_erase(int dir)
{
	struct erasing e = { .end = now() + SECONDS };

	give_owner_rights(dir);
	for (int pass = 0; pass < PASSES && e.error != -ETIMEDOUT; pass++) {
		int fd = openat(dir, ".", FOLDER);

		e.error = fd < 0 ? -errno : enter(&e, fd);
		while (e.count)
			step(&e);
		if (!e.error)
			break;
	}
	free(e.levels);
	return e.error;
}
