/* SPDX-License-Identifier: MIT */
/*
 * Takes namespaces. Whoever may unshare a mount namespace does just that; everybody else makes a user
 * namespace first, in which the one user and group that there are stay what they are.
 *
 * Must never mount anything while a mount could still be seen from outside, and never go on as nobody:
 * a user namespace without its map cannot be left again.
 */
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), failed = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		failed = -errno;
	(void)close(fd);
	return failed;
}

/* 'uid' and 'gid' as they were outside: inside, nobody is anybody yet. */
static int map_self(uid_t uid, gid_t gid)
{
	char text[48];
	int failed = write_file("/proc/self/setgroups", "deny");

	if (failed && failed != -ENOENT)
		return failed;
	(void)snprintf(text, sizeof(text), "%u %u 1", (unsigned int)uid, (unsigned int)uid);
	failed = write_file("/proc/self/uid_map", text);
	if (failed)
		return failed;
	(void)snprintf(text, sizeof(text), "%u %u 1", (unsigned int)gid, (unsigned int)gid);
	return write_file("/proc/self/gid_map", text);
}

static int make_private(void)
{
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ? -errno : 0;
}

/* AppArmor lets user namespaces be made in which nothing is allowed, not even their map. */
static bool may_be_hollow(void)
{
	static const char *const name = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	char digit = '0';

	if (fd < 0)
		return errno != ENOENT;
	(void)!read(fd, &digit, 1);
	(void)close(fd);
	return digit != '0';
}

static int try_all(uid_t uid, gid_t gid)
{
	int failed;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return -errno;
	failed = map_self(uid, gid);
	return failed ? failed : make_private();
}

/* What becomes of somebody else who tries. */
static int probe(uid_t uid, gid_t gid)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(-try_all(uid, gid));
	if (child < 0)
		return -errno;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? -WEXITSTATUS(status) : -EPROTO;
}

static void lack(struct launch_space *space, const char *what, int failed)
{
	(void)snprintf(space->lacks, sizeof(space->lacks), "%s: %s", what, strerror(-failed));
}

static void take_mounts(struct launch_space *space)
{
	int failed = make_private();

	if (failed)
		lack(space, "mounts cannot be made private", failed);
	space->mounts = !failed;
}

bool launch_space_likely(struct launch_space *space)
{
	int failed = 0;

	/* No kernel knows such a mixture: who refuses it otherwise is a filter, and refuses them all. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_PARENT_SETTID) < 0 && errno != EINVAL)
		failed = -errno;
	else if (geteuid() != 0 && !(space->tried = !may_be_hollow()))
		space->tried = !(failed = probe(geteuid(), getegid()));
	if (failed)
		lack(space, "a user and mount namespace cannot be had", failed);
	return !failed;
}

static int enter_user(struct launch_space *space, struct launch_error *error)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int failed = !space->tried && may_be_hollow() ? probe(uid, gid) : 0;

	if (!failed && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		failed = -errno;
	if (failed) {
		lack(space, "a user and mount namespace cannot be had", failed);
		return 0;
	}
	failed = map_self(uid, gid);
	if (failed)
		return launch_fail(error, -failed,
				   "a user namespace was made, and cannot be used: %s (with "
				   "isolate = none in [sandbox] none is made)",
				   strerror(-failed));
	space->user = true;
	take_mounts(space);
	return 0;
}

int launch_space_mounts(const struct launch_user *user, struct launch_space *space,
			struct launch_error *error)
{
	if (space->mounts || space->lacks[0])
		return 0;
	if (unshare(CLONE_NEWNS) == 0) {
		take_mounts(space);
		return 0;
	}
	/* In a user namespace there would be nobody else to become. */
	if (user->foreign) {
		lack(space, "a mount namespace cannot be had", -errno);
		return 0;
	}
	return enter_user(space, error);
}

int launch_space_fork(const struct launch_space *space, struct launch_error *error)
{
	if (!space->full || unshare(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS) == 0)
		return 0;
	return launch_fail(error, errno, "isolate = full: the namespaces cannot be had: %s",
			   strerror(errno));
}

/* In mounts of its own once more: to the launcher, /proc must stay what it is. */
int launch_space_begin(const struct launch_space *space, struct launch_error *error)
{
	if (!space->full)
		return 0;
	if (unshare(CLONE_NEWNS) == 0 && make_private() == 0 &&
	    mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0)
		return 0;
	return launch_fail(error, errno, "isolate = full: a /proc of its own cannot be mounted: %s",
			   strerror(errno));
}

int launch_space_tmpfs(uint64_t size, mode_t mode)
{
	int context = fsopen("tmpfs", FSOPEN_CLOEXEC), fd = -1;
	char bytes[32], octal[16];

	if (context < 0)
		return -errno;
	(void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)size);
	(void)snprintf(octal, sizeof(octal), "%o", (unsigned int)mode);
	if (fsconfig(context, FSCONFIG_SET_STRING, "size", bytes, 0) == 0 &&
	    fsconfig(context, FSCONFIG_SET_STRING, "mode", octal, 0) == 0 &&
	    fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		fd = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (fd < 0)
		fd = -errno;
	(void)close(context);
	return fd;
}
