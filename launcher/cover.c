/* SPDX-License-Identifier: MIT */
/*
 * Mounts masks.
 *
 * A mask is mounted on the very thing that was found, by its descriptor; no link is followed. What is
 * denied gets the one empty file, or the one empty folder, of a tmpfs: mode 000, read-only, and in the
 * end nowhere else. What may only be read is mounted over itself.
 *
 * Must never take a place for masked that is not.
 */
#include "cover.h"
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where the tmpfs is while masks are copied from it: copies need one that is mounted somewhere. */
#define STAGE "/proc"

static int fill_tmpfs(int fd)
{
	struct mount_attr read_only = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };
	int file;

	if (mkdirat(fd, "folder", 0) < 0)
		return -errno;
	file = openat(fd, "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (file < 0)
		return -errno;
	(void)close(file);
	return mount_setattr(fd, "", AT_EMPTY_PATH, &read_only, sizeof(read_only)) < 0 ? -errno : 0;
}

/* Its descriptor; it is mounted on the stage from then on. */
static int open_stage(void)
{
	int fd = launch_space_tmpfs(65536, 0700), failed = fd < 0 ? fd : fill_tmpfs(fd);

	if (!failed && move_mount(fd, "", AT_FDCWD, STAGE, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		failed = -errno;
	if (failed && fd >= 0)
		(void)close(fd);
	return failed ? failed : fd;
}

static int leave_stage(int fd)
{
	(void)close(fd);
	return umount2(STAGE, MNT_DETACH) < 0 ? -errno : 0;
}

/* What was found, and nothing else that has its name by now. */
static int open_found(const struct launch_cover *mask)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
				.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, mask->path, &how, sizeof(how));
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0 || st.st_dev != mask->dev || st.st_ino != mask->ino ||
	    S_ISDIR(st.st_mode) != mask->folder) {
		(void)close(fd);
		return -ESTALE;
	}
	return fd;
}

/* What is to stand there: something that is mounted nowhere yet. */
static int open_cover(const struct launch_cover *mask, int stage, int found)
{
	struct mount_attr attributes = { .attr_set = mask->attributes };
	int fd;

	if (mask->denied) {
		fd = open_tree(stage, mask->folder ? "folder" : "file",
			       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	fd = open_tree(found, "",
		       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (fd < 0)
		return -errno;
	if (mount_setattr(fd, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof(attributes)) ==
	    0)
		return fd;
	(void)close(fd);
	return -errno;
}

/* -ENOTSUP on kernels that do not tell (before 5.8): then nobody could see it go, either. */
static int take_id(int fd, struct launch_cover *mask)
{
	struct statx st;

	if (statx(fd, "", AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0)
		return -errno;
	mask->id = st.stx_mnt_id;
	return st.stx_mask & STATX_MNT_ID ? 0 : -ENOTSUP;
}

static int mount_one(struct launch_cover *mask, int stage)
{
	int found = open_found(mask), cover, failed = 0;

	if (found < 0)
		return found;
	cover = open_cover(mask, stage, found);
	if (cover < 0)
		failed = cover;
	else if (move_mount(cover, "", found, "",
			    MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		failed = -errno;
	else
		failed = take_id(cover, mask);
	if (cover >= 0)
		(void)close(cover);
	(void)close(found);
	return failed;
}

/* Patterns hold together or not at all, and a rule does when all of it is masked. */
static void give_up(struct launch_covers *covers, uint32_t rule)
{
	covers->held[rule] = false;
	covers->lacking = true;
}

static bool has_denied(const struct launch_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++)
		if (covers->list[i].denied)
			return true;
	return false;
}

int launch_covers_mount(struct launch_covers *covers, struct launch_error *error)
{
	char cwd[PATH_MAX];
	bool here = getcwd(cwd, sizeof(cwd)) && cwd[0] == '/', staged = has_denied(covers);
	int stage = staged ? open_stage() : -1, failed;

	for (size_t i = 0; i < covers->count; i++) {
		struct launch_cover *mask = &covers->list[i];

		failed = mask->denied && stage < 0 ? stage : mount_one(mask, stage);
		mask->made = !failed;
		if (failed)
			give_up(covers, mask->rule);
	}
	failed = stage >= 0 ? leave_stage(stage) : 0;
	if (failed)
		return launch_fail(error, -failed, "cannot unmount what masks were made from: %s",
				   strerror(-failed));
	/*
	 * What we are in may be behind a mask; from its name on, we are in front of it. Elsewhere it
	 * may be a folder that whoever started us could enter, and we cannot.
	 */
	if (here && launch_covers_over(covers, cwd) && chdir(cwd) < 0)
		return launch_fail(error, errno, "cannot enter '%s' again: %s", cwd,
				   strerror(errno));
	return 0;
}

static bool is_over(const struct launch_covers *covers, const char *path, bool denied)
{
	for (size_t len = 1; covers->count && path[0] && path[len - 1]; len++) {
		size_t low = 0, high = covers->count;

		if (path[len] && path[len] != '/')
			continue;
		while (low < high) {
			size_t middle = low + (high - low) / 2;
			const struct launch_cover *mask = &covers->list[middle];
			int order = strncmp(path, mask->path, len);

			if (!order && !mask->path[len] && mask->made && (mask->denied || !denied))
				return true;
			if (order < 0 || (!order && mask->path[len]))
				high = middle;
			else
				low = middle + 1;
		}
	}
	return false;
}

bool launch_covers_over(const struct launch_covers *covers, const char *path)
{
	return is_over(covers, path, false);
}

bool launch_covers_deny(const struct launch_covers *covers, const char *path)
{
	return is_over(covers, path, true);
}

void launch_covers_moved(struct launch_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++) {
		struct launch_cover *mask = &covers->list[i];
		int fd = mask->made ? open(mask->path, O_PATH | O_NOFOLLOW | O_CLOEXEC) : -1;

		if (fd < 0)
			continue;
		(void)take_id(fd, mask);
		(void)close(fd);
	}
}

int launch_covers_watch(const struct launch_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++)
		if (covers->list[i].made)
			return open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	return -1;
}

static bool is_mounted(FILE *mounts, uint64_t id)
{
	char *line = NULL;
	bool found = false;
	size_t room = 0;

	rewind(mounts);
	while (!found && getline(&line, &room, mounts) > 0)
		found = strtoull(line, NULL, 10) == id;
	free(line);
	return found;
}

const char *launch_covers_gone(const struct launch_covers *covers)
{
	FILE *mounts = fopen("/proc/self/mountinfo", "re");
	const char *gone = mounts ? NULL : "/proc";

	for (size_t i = 0; i < covers->count && !gone; i++)
		if (covers->list[i].made && !is_mounted(mounts, covers->list[i].id))
			gone = covers->list[i].path;
	if (mounts)
		(void)fclose(mounts);
	return gone;
}

void launch_covers_drop(struct launch_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++)
		give_up(covers, covers->list[i].rule);
}

void launch_covers_done(struct launch_covers *covers)
{
	for (size_t i = 0; i < covers->count; i++)
		free(covers->list[i].path);
	free(covers->list);
	free(covers->held);
	*covers = (struct launch_covers){ 0 };
}
