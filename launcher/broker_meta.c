/* SPDX-License-Identifier: MIT */
/*
 * Changes modes, owners and times for the program, and makes files in memory for it.
 *
 * Landlock sees none of it: there is no layer behind this one. So whatever a call is about is pinned,
 * or, where the caller names a descriptor, taken: the number may stand for something else a moment
 * later. The verdict is about the name that it has, and the change is made to it, by us.
 *
 * Must never let a call go on, and never act on what is below /proc: there, "self" is us.
 */
#include "broker_call.h"

#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>

#define MEMFD_NAME_MOST 249 /* the kernel's: NAME_MAX without "memfd:" */

/* Newer than the system's headers. */
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* What is to be changed, and to what. */
struct change {
	const struct brokered *call;
	enum {
		MODE,
		OWNER,
		TIMES
	} what;
	int fd; /* pinned; -1: nothing yet */
	bool taken; /* by its number: as the caller has it */
	bool hidden; /* there is none, as far as the caller sees */
	struct stat st;
	const struct timespec *when; /* NULL: now */
	struct timespec times[2];
};

/* What is to be set stands behind what it is set for. */
static uint64_t value(const struct change *change, int n)
{
	const struct sbx_path_call *ask = change->call->ask;

	return change->call->args[(ask->path < 0 ? ask->dir : ask->path) + 1 + n];
}

/* Of utime() and of utimes(): pairs of longs, the latter with parts of a second. */
static int read_old_times(struct change *change, uint64_t at)
{
	bool parts = change->call->ask->act == SBX_ACT_MICROSECONDS;
	int64_t numbers[4];
	int failed = launch_target_bytes(change->call->thread, at, numbers,
					 parts ? sizeof(numbers) : sizeof(numbers) / 2);

	for (int i = 0; i < 2 && !failed; i++) {
		int64_t part = parts ? numbers[2 * i + 1] : 0;

		if (part < 0 || part >= 1000000)
			return -EINVAL;
		change->times[i] = (struct timespec){ .tv_sec = numbers[parts ? 2 * i : i],
						      .tv_nsec = part * 1000 };
	}
	return failed;
}

static int read_times(struct change *change)
{
	uint64_t at = value(change, 0);
	int failed = 0;

	change->when = at ? change->times : NULL;
	if (at && change->call->ask->act == SBX_ACT_NANOSECONDS)
		failed = launch_target_bytes(change->call->thread, at, change->times,
					     sizeof(change->times));
	else if (at)
		failed = read_old_times(change, at);
	return failed;
}

static bool both_are(const struct change *change, long special)
{
	return change->when && change->when[0].tv_nsec == special &&
	       change->when[1].tv_nsec == special;
}

static bool is_time(const struct timespec *time)
{
	return time->tv_nsec == UTIME_NOW || time->tv_nsec == UTIME_OMIT ||
	       (time->tv_nsec >= 0 && time->tv_nsec < 1000000000);
}

/* There is no path: the descriptor itself is meant. */
static bool is_by_number(const struct change *change)
{
	const struct sbx_path_call *ask = change->call->ask;

	if (ask->path < 0)
		return true;
	return change->what == TIMES && !change->call->args[ask->path] && ask->dir >= 0 &&
	       (int)change->call->args[ask->dir] != AT_FDCWD;
}

/* The descriptor that paths are relative to; it may be none. */
static int pin_empty(const struct change *change, int dir)
{
	if (!(change->call->flags & AT_EMPTY_PATH))
		return -ENOENT;
	if (dir == AT_FDCWD)
		return launch_target_open(change->call->thread, dir, "", 0, 0);
	return launch_target_take(change->call->thread, dir);
}

static int pin_path(struct change *change)
{
	const struct brokered *call = change->call;
	char *given = call->judge->given;
	int dir = launch_broker_dir(call, call->ask->dir), own = -ENOENT, fd;
	int len = launch_target_string(call->thread, call->args[call->ask->path], given);
	bool follows =
		!(call->flags & AT_SYMLINK_NOFOLLOW) && call->ask->act != SBX_ACT_OWNER_OF_LINK;

	if (len <= 0)
		return len ? len : pin_empty(change, dir);
	change->hidden = call->broker->hides && launch_broker_hides_way(call, dir, given, follows);
	if (change->hidden)
		return -ENOENT;
	if (follows)
		own = launch_broker_pin_own(call, given);
	if (own != -ENOENT)
		return own;
	fd = launch_target_open(call->thread, dir, given, follows ? 0 : O_NOFOLLOW, 0);
	if (fd != -ENOENT || given[0] == '/' || dir == AT_FDCWD)
		return fd;
	/* It may be the folder that there is none of. */
	own = launch_target_take(call->thread, dir);
	if (own >= 0)
		(void)close(own);
	return own == -EBADF ? -EBADF : fd;
}

/* What the call is about: pinned. */
static int pin(struct change *change)
{
	const struct brokered *call = change->call;

	call->judge->given[0] = '\0';
	change->taken = is_by_number(change);
	if (change->taken && call->flags)
		return -EINVAL;
	change->fd = change->taken
			     ? launch_target_take(call->thread, (int)call->args[call->ask->dir])
			     : pin_path(change);
	if (change->fd < 0)
		return change->fd;
	/* Whoever has the caller's number by now is not who asked. */
	if (ioctl(call->broker->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) < 0)
		return -ESRCH;
	return fstat(change->fd, &change->st) < 0 ? -errno : 0;
}

/*
 * 0: rules are about its name. 1: it has none that they could be about, and is the program's own: a
 * pipe, a socket, a file without any name left. -EPERM for what may have another name somewhere, and
 * for /proc, where the kernel itself says so.
 */
static int find_name(const struct change *change)
{
	char *name = change->call->judge->at.path;
	int len = launch_broker_name(change->call, change->fd, name);
	mode_t mode = change->st.st_mode;

	if (len < 0 && len != -ELOOP && len != -EACCES)
		return len;
	if (!strncmp(name, "/proc/", strlen("/proc/")))
		return -EPERM;
	if (len >= 0)
		return 0;
	if (name[0] != '/')
		return S_ISFIFO(mode) || S_ISSOCK(mode) ? 1 : -EPERM;
	return change->st.st_nlink ? -EPERM : 1;
}

static int perform(const struct change *change)
{
	int fd = change->fd, failed;

	if (change->what == MODE && !change->taken)
		return launch_target_chmod(fd, (mode_t)value(change, 0) & 07777);
	if (change->what == MODE)
		failed = fchmod(fd, (mode_t)value(change, 0) & 07777);
	else if (change->what == OWNER)
		failed = change->taken
				 ? fchown(fd, (uid_t)value(change, 0), (gid_t)value(change, 1))
				 : fchownat(fd, "", (uid_t)value(change, 0),
					    (gid_t)value(change, 1), AT_EMPTY_PATH);
	else
		failed = change->taken ? futimens(fd, change->when)
				       : utimensat(fd, "", change->when, AT_EMPTY_PATH);
	return failed < 0 ? -errno : 0;
}

/* What the kernel would have said without us; 0: it would have worked. */
static int native_error(const struct change *change)
{
	bool now = change->what == TIMES && (!change->when || both_are(change, UTIME_NOW));
	uid_t owner = change->what == OWNER ? (uid_t)value(change, 0) : (uid_t)-1;
	const struct launch_judge *judge = change->call->judge;
	struct statvfs system;

	/* Of a mask, nobody knows what is behind it. */
	if (judge->covers && launch_covers_over(judge->covers, judge->at.path))
		return 0;
	if (fstatvfs(change->fd, &system) == 0 && system.f_flag & ST_RDONLY)
		return EROFS;
	if (launch_broker_owns(change->fd, &change->st))
		return owner == (uid_t)-1 || owner == change->st.st_uid ? 0 : EPERM;
	if (!now)
		return EPERM;
	/* Who may write may also have written just now. */
	return faccessat(change->fd, "", W_OK, AT_EACCESS | AT_EMPTY_PATH) == 0 ? 0 : EACCES;
}

/* The policy has refused it. */
static enum launch_served refuse(const struct change *change)
{
	struct launch_judge *judge = change->call->judge;
	int error = native_error(change);

	if (error && judge->verdict.code != SBX_CODE_HIDDEN)
		return launch_broker_done(change->call, -error);
	if (!judge->given[0])
		memcpy(judge->given, judge->at.path, sizeof(judge->given));
	return SERVED_JUDGED;
}

static enum launch_served change_pinned(const struct change *change)
{
	const struct brokered *call = change->call;
	struct launch_judge *judge = call->judge;
	int own = find_name(change);

	/* What can be changed nowhere. */
	if (change->what == MODE && S_ISLNK(change->st.st_mode))
		return launch_broker_done(call, -EOPNOTSUPP);
	if (change->when && (!is_time(&change->when[0]) || !is_time(&change->when[1])))
		return launch_broker_done(call, -EINVAL);
	if (own < 0)
		return launch_broker_done(call, own);
	if (own)
		return launch_broker_done(call, perform(change));
	judge->request = (struct sbx_request){ .op = SBX_OP_CHANGE,
					       .is_dir = S_ISDIR(change->st.st_mode),
					       .size = -1,
					       .path = judge->at.path };
	if (!launch_broker_allows(call, &judge->request))
		return refuse(change);
	/* To write to a device, as everybody may to some, is not to take it from all others. */
	if (change->what != TIMES && (S_ISCHR(change->st.st_mode) || S_ISBLK(change->st.st_mode)))
		return launch_broker_done(call, -EPERM);
	return launch_broker_done(call, perform(change));
}

static int what_is_changed(const struct brokered *call)
{
	switch ((enum sbx_act)call->ask->act) {
	case SBX_ACT_MODE:
		return MODE;
	case SBX_ACT_OWNER:
	case SBX_ACT_OWNER_OF_LINK:
		return OWNER;
	default:
		return TIMES;
	}
}

enum launch_served launch_broker_change(struct brokered *call)
{
	struct change change = { .call = call, .what = what_is_changed(call), .fd = -1 };
	enum launch_served served;
	int failed = change.what == TIMES ? read_times(&change) : 0;

	/* The kernel does not even look at the path then. */
	if (!failed && both_are(&change, UTIME_OMIT))
		return launch_broker_done(call, 0);
	if (!failed && call->flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		failed = -EINVAL;
	if (!failed)
		failed = pin(&change);
	if (change.hidden)
		served = launch_broker_hidden(call, SBX_OP_CHANGE, call->judge->given);
	else
		served = failed ? launch_broker_done(call, failed) : change_pinned(&change);
	if (change.fd >= 0)
		(void)close(change.fd);
	return served;
}

/* Whoever did not ask for seals cannot set any, as ever. */
static int make_memfd(const char *name, unsigned int flags)
{
	int fd = memfd_create(name, flags | MFD_CLOEXEC | MFD_NOEXEC_SEAL);

	if (fd >= 0 && !(flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL)))
		(void)fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL);
	/* Before 6.3 there is no such seal. */
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags | MFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A file in memory is no file of any folder: it must not become a program. */
enum launch_served launch_broker_memfd(struct brokered *call)
{
	unsigned int flags = (unsigned int)call->flags;
	bool asks = flags & MFD_EXEC && !(flags & MFD_NOEXEC_SEAL);
	char name[PATH_MAX];
	int len = launch_target_string(call->thread, call->args[call->ask->path], name), fd, failed;

	if (len == -ENAMETOOLONG || len > MEMFD_NAME_MOST)
		len = -EINVAL;
	if (len < 0)
		return launch_broker_done(call, len);
	fd = make_memfd(name, asks ? flags & ~MFD_EXEC : flags);
	if (fd < 0)
		return launch_broker_done(call, fd);
	failed = asks ? -EACCES : launch_broker_send(call, fd, flags & MFD_CLOEXEC);
	(void)close(fd);
	if (!failed || failed == -ENOENT || failed == -ESRCH)
		return SERVED_SENT;
	return launch_broker_done(call, failed);
}
