/* SPDX-License-Identifier: MIT */
/*
 * Mounts private tmp over shared folders.
 *
 * Nothing is ever mounted below private tmp itself: its folder is removed at the end by whoever is
 * left, and in this namespace what is mounted on cannot be. So private home, where its path is
 * covered now, is made anew, as a folder of that name. The run's file is mounted in /dev/shm, which
 * is gone with the namespace, and its folder over itself, so that nobody inside can change, move or
 * replace them.
 *
 * Must never show anything of what is outside, and never go on without a mount that the policy
 * counts on.
 */
#include "stand.h"

#include "base.h"
#include "hold.h"
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define MEMORY "/dev/shm"
#define INSIDE ".sbx" /* in it, of what is ours */

const char *const launch_stand_places[4] = { "/tmp", "/var/tmp", MEMORY, NULL };

/* The folder itself, no link on the way to it. */
static int open_folder(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

void launch_stand_offer(const struct launch_command *command, struct launch_stand *stand)
{
	char cwd[PATH_MAX] = "";
	size_t count = 0;

	/* The newest of the calls that it takes; it says so of a size that is none. */
	if (syscall(SYS_mount_setattr, -1, "", 0, NULL, (size_t)0) < 0 && errno != EINVAL) {
		stand->lacks = "mounts cannot be changed here (the kernel can since 5.12)";
		return;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return;
	for (const char *const *place = launch_stand_places; *place; place++) {
		size_t len = strlen(*place);
		int fd;

		if (launch_is_within(cwd, *place, len) ||
		    launch_is_within(command->file, *place, len))
			continue;
		fd = open_folder(*place);
		if (fd < 0)
			continue;
		(void)close(fd);
		stand->offered[count++] = *place;
	}
}

bool launch_stand_is(const struct sbx_image *image, const char *folder)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (rule->flags & SBX_RULE_STAND_IN &&
		    (!folder || !strcmp(sbx_str(image, rule->path), folder)))
			return true;
	}
	return false;
}

bool launch_stand_any(const struct sbx_image *image)
{
	return launch_stand_is(image, NULL);
}

static int give(int folder, const char *name, const struct launch_user *user)
{
	if (!user->foreign)
		return 0;
	return fchownat(folder, name, user->uid, user->gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

const char *launch_stand_over(const struct sbx_image *image, const char *path)
{
	for (const char *const *place = launch_stand_places; *place; place++)
		if (launch_is_within(path, *place, strlen(*place)) &&
		    launch_stand_is(image, *place))
			return *place;
	return NULL;
}

const char *launch_stand_tmp(const struct sbx_image *image, const struct launch_private *run)
{
	const char *place = launch_stand_over(image, run->tmp);

	return place ? place : run->tmp;
}

/* 0: nobody knows, which is the same for all. */
static uint64_t mount_of(int fd, const char *path)
{
	struct statx st;

	if (statx(fd, path, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

bool launch_stand_has(const struct sbx_image *image, int fd, const char *path)
{
	const char *place = launch_stand_over(image, path);
	uint64_t id;

	if (!place)
		return true;
	id = mount_of(fd, "");
	return id && (id == mount_of(AT_FDCWD, place) || id == mount_of(AT_FDCWD, path));
}

int launch_stand_keep(const struct sbx_image *image, const struct launch_user *user,
		      const char *path)
{
	const char *place = launch_stand_over(image, path);
	char name[PATH_MAX];
	int failed = 0;

	if (!place)
		return 0;
	(void)snprintf(name, sizeof(name), "%.*s/", PATH_MAX - 2, path);
	for (char *end = strchr(name + strlen(place) + 1, '/'); end && !failed;
	     end = strchr(end + 1, '/')) {
		*end = '\0';
		if (mkdir(name, 0700) == 0)
			failed = give(AT_FDCWD, name, user);
		else if (errno != EEXIST)
			failed = -errno;
		*end = '/';
	}
	return failed;
}

/* A copy of a folder's mount, mounted nowhere yet. */
static int copy_mount(int folder, const char *name)
{
	int fd = open_tree(folder, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);

	return fd < 0 ? -errno : fd;
}

/* Private tmp as our namespace has it; its lock is from before that was made. */
static int copy_tmp(const struct launch_private *run)
{
	int fd = open_folder(run->tmp), copy;
	struct stat mine, there;

	if (fd < 0)
		return fd;
	if (fstat(fd, &there) < 0 || fstat(run->tmp_lock, &mine) < 0 ||
	    mine.st_dev != there.st_dev || mine.st_ino != there.st_ino)
		copy = -ESTALE;
	else
		copy = copy_mount(fd, "");
	(void)close(fd);
	return copy;
}

/* In the tmpfs that 'disk' limits, or one of its own. */
static int make_memory(const struct launch_stand_with *with, const struct launch_private *run)
{
	struct sysinfo machine;
	uint64_t size = with->memory, half;
	char name[32];
	int fd;

	if (with->limited) {
		(void)snprintf(name, sizeof(name), "shm.%s", run->id);
		if (mkdirat(run->base_fd, name, 0700) < 0)
			return -errno;
		fd = copy_mount(run->base_fd, name);
	} else {
		half = sysinfo(&machine) < 0 ? 0
					     : (uint64_t)machine.totalram * machine.mem_unit / 2;
		if (half && (!size || size > half))
			size = half;
		fd = launch_space_tmpfs(size, 0700);
	}
	if (fd >= 0 && give(fd, "", with->user) < 0) {
		(void)close(fd);
		return -EPERM;
	}
	return fd;
}

/* Takes the descriptor of what is to be mounted. */
static int mount_at(int what, const char *place)
{
	int fd = what < 0 ? what : open_folder(place), failed = fd < 0 ? fd : 0;

	if (!failed &&
	    move_mount(what, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		failed = -errno;
	if (fd >= 0)
		(void)close(fd);
	if (what >= 0)
		(void)close(what);
	return failed;
}

static const char *last_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Over itself, read-only, with what is mounted in it: nothing changes, and its name stays. */
static int shut(const char *path)
{
	struct mount_attr attributes = { .attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOEXEC };
	int copy =
		open_tree(AT_FDCWD, path,
			  OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
	int failed;

	if (copy < 0)
		return -errno;
	if (mount_setattr(copy, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
			  sizeof(attributes)) == 0)
		return mount_at(copy, path);
	failed = -errno;
	(void)close(copy);
	return failed;
}

/* The run's file below the new /dev/shm. Takes its descriptor. */
static int mount_image(int image, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400), failed = 0;

	if (fd < 0 ||
	    move_mount(image, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		failed = -errno;
	if (fd >= 0)
		(void)close(fd);
	(void)close(image);
	return failed;
}

/* Where nobody inside can change it. Takes its descriptor. */
static int keep_image(int image, struct launch_private *run)
{
	static const char path[] = MEMORY "/" INSIDE;
	int failed;

	if (mkdir(path, 0711) < 0 || chmod(path, 0711) < 0) {
		failed = -errno;
		(void)close(image);
		return failed;
	}
	(void)snprintf(run->image, sizeof(run->image), "%s/run.%s", path, run->id);
	failed = mount_image(image, run->image);
	return failed ? failed : shut(path);
}

/* The run's file for the program; its descriptor, which has it locked. */
static int copy_image(const struct launch_stand_with *with, int folder, const char *name)
{
	int fd = launch_entry_make(folder, name, false, with->user->foreign ? 0444 : 0400);
	int failed = fd < 0 ? fd : launch_registry_write(with->policy, with->argv, fd);

	return failed ? failed : fd;
}

/*
 * The run's file was with the data, for there is no /dev/shm, or the policy is about it: inside it
 * is a copy that the program could change, which would deceive nobody else.
 */
static int make_image(const struct launch_stand_with *with, const struct launch_private *run,
		      struct launch_stand *stand)
{
	char folder[PATH_MAX];
	int fd, failed;

	if (access(run->image, F_OK) == 0)
		return 0;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(last_of(run->image) - run->image - 1),
		       run->image);
	failed = launch_stand_keep(with->policy, with->user, folder);
	fd = failed ? failed : open_folder(folder);
	if (fd < 0)
		return fd;
	stand->image = copy_image(with, fd, last_of(run->image));
	(void)close(fd);
	return stand->image < 0 ? stand->image : 0;
}

static int fail_at(struct launch_error *error, const char *place, int failed)
{
	return launch_fail(error, -failed,
			   "private tmp cannot be mounted over '%s': %s (with isolate = none in "
			   "[sandbox] it is TMPDIR alone)",
			   place, strerror(-failed));
}

int launch_stand_mount(const struct launch_stand_with *with, struct launch_private *run,
		       struct launch_stand *stand, struct launch_error *error)
{
	int standing[4], image = -1, failed;

	stand->base = open_folder(run->base);
	stand->registry = open_folder(run->registry);
	if (launch_stand_is(with->policy, MEMORY) &&
	    (image = open_tree(AT_FDCWD, run->image,
			       OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW)) < 0)
		return fail_at(error, MEMORY, -errno);
	/* All of them first: where they come from may be covered by the first mount. */
	for (int i = 0; launch_stand_places[i]; i++) {
		bool wanted = launch_stand_is(with->policy, launch_stand_places[i]);

		standing[i] = !wanted ? -ENOENT
			      : strcmp(launch_stand_places[i], MEMORY) != 0
				      ? copy_tmp(run)
				      : make_memory(with, run);
		if (wanted && standing[i] < 0)
			return fail_at(error, launch_stand_places[i], standing[i]);
	}
	for (int i = 0; launch_stand_places[i]; i++)
		if (standing[i] >= 0 && (failed = mount_at(standing[i], launch_stand_places[i])))
			return fail_at(error, launch_stand_places[i], failed);
	failed = image >= 0 ? keep_image(image, run) : make_image(with, run, stand);
	if (!failed && run->home[0])
		failed = launch_stand_keep(with->policy, with->user, run->home);
	return failed ? fail_at(error, run->image, failed) : 0;
}
