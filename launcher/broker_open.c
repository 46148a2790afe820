/* SPDX-License-Identifier: MIT */
/*
 * Opens files for the program, and hands them over.
 *
 * What is there is pinned first and opened through its descriptor; what is not there is made with
 * O_EXCL in a pinned folder. Whoever exchanges one for the other meanwhile makes us start again.
 */
#include "broker_call.h"

#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_ACCESS 3 /* flags of open() that want no right */
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
#define TRIES 100 /* against somebody who makes and removes it all the time */

/* An open on its way. */
struct opening {
	struct brokered *call;
	uint64_t flags;
	mode_t mode;
	uint64_t how;
	int dir; /* of the path: a descriptor of the caller's */
	char path[PATH_MAX];
	char name[PATH_MAX]; /* of what is pinned */
	bool stays; /* it must not go on in the kernel: its flags are in memory, too */
};

#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif

int launch_broker_send(const struct brokered *call, int fd, bool cloexec)
{
	struct seccomp_notif_addfd add = {
		.id = call->id,
		.flags = SECCOMP_ADDFD_FLAG_SEND,
		.srcfd = (uint32_t)fd,
		.newfd_flags = cloexec ? O_CLOEXEC : 0,
	};

	return ioctl(call->broker->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add) < 0 ? -errno : 0;
}

static int send(const struct opening *opening, int fd)
{
	return launch_broker_send(opening->call, fd, opening->flags & O_CLOEXEC);
}

static enum launch_served hand_over(const struct opening *opening, int fd)
{
	int failed = fd < 0 ? fd : send(opening, fd);

	if (fd >= 0)
		(void)close(fd);
	if (!failed || failed == -ENOENT || failed == -ESRCH)
		return SERVED_SENT;
	return launch_broker_done(opening->call, failed);
}

/* What is asked of something that is there. */
static uint8_t classes_of(uint64_t flags)
{
	uint8_t classes = (flags & O_ACCMODE) == O_WRONLY ? 0 : HOLD_READ;

	if ((flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC)
		classes |= HOLD_WRITE;
	return classes;
}

static bool allows(const struct opening *opening, enum sbx_op op, const struct stat *st)
{
	struct sbx_request request = { .op = op,
				       .is_dir = S_ISDIR(st->st_mode),
				       .size = S_ISREG(st->st_mode) ? st->st_size : -1,
				       .path = opening->name };

	return launch_broker_allows(opening->call, &request);
}

/* Never waits: what could make us is opened without waiting, and waited for by nobody. */
static int open_pinned(const struct opening *opening, int fd, const struct stat *st)
{
	int flags = (int)(opening->flags & ~(uint64_t)(O_CREAT | O_EXCL | O_NOFOLLOW));
	bool waits = !(flags & O_NONBLOCK) && !S_ISDIR(st->st_mode);
	int opened = launch_target_reopen(
		fd, flags | O_CLOEXEC | O_NOCTTY | (waits ? O_NONBLOCK : 0), 0);

	if (opened >= 0 && waits)
		(void)fcntl(opened, F_SETFL, flags & ~(O_CLOEXEC | O_NONBLOCK | O_TRUNC));
	return opened;
}

static enum launch_served open_existing(const struct opening *opening, int fd)
{
	uint64_t flags = opening->flags;
	uint8_t classes = classes_of(flags);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (classes & HOLD_READ &&
	    !allows(opening, S_ISDIR(st.st_mode) ? SBX_OP_LIST : SBX_OP_READ, &st))
		return SERVED_REFUSED;
	if (classes & HOLD_WRITE && !allows(opening, SBX_OP_WRITE, &st))
		return SERVED_REFUSED;
	if (!opening->stays && launch_broker_is_held(opening->call, opening->name, classes))
		return SERVED_HELD;
	/* What the kernel cannot see any more in the way we open it. */
	if (S_ISLNK(st.st_mode))
		return launch_broker_done(opening->call, -ELOOP);
	if (S_ISDIR(st.st_mode) && flags & O_CREAT)
		return launch_broker_done(opening->call, -EISDIR);
	return hand_over(opening, open_pinned(opening, fd, &st));
}

static enum launch_served leave(const struct opening *opening, int error)
{
	return opening->stays ? launch_broker_done(opening->call, -error)
			      : launch_broker_left(opening->call, error);
}

/*
 * Pipes, sockets and files that were removed have no name that a rule could be about. The kernel's own
 * rules do not know them; without these, what is nobody else's may be opened anew.
 */
static enum launch_served open_nameless(const struct opening *opening, int fd)
{
	struct stat st;

	if (fd < 0 || opening->call->broker->landlock)
		return leave(opening, ELOOP);
	if (fstat(fd, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode) && st.st_nlink)
		return launch_broker_done(opening->call, -EACCES);
	return hand_over(opening, open_pinned(opening, fd, &st));
}

/* A file without a name: as if it had one in that folder. */
static enum launch_served open_tmpfile(struct opening *opening, int fd)
{
	char place[PATH_MAX + 2];
	struct sbx_request request = {
		.op = SBX_OP_CREATE, .size = -1, .missing = true, .path = place
	};

	(void)snprintf(place, sizeof(place), "%s/?", opening->name);
	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (!opening->stays && launch_broker_is_held_in(opening->call, place))
		return SERVED_HELD;
	launch_broker_umask(opening->call);
	return hand_over(opening,
			 launch_target_reopen(fd, (int)opening->flags | O_CLOEXEC, opening->mode));
}

/* Nobody got it: what was made is not left behind. */
static void undo(const struct entry *entry, int fd)
{
	struct stat made, there;

	if (fstat(fd, &made) == 0 &&
	    fstatat(entry->folder, entry->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    made.st_dev == there.st_dev && made.st_ino == there.st_ino)
		(void)unlinkat(entry->folder, entry->name, 0);
}

static enum launch_served create(const struct opening *opening, const struct entry *entry)
{
	struct sbx_request request = {
		.op = SBX_OP_CREATE, .size = -1, .missing = true, .path = entry->path
	};
	int flags = (int)(opening->flags & ~(uint64_t)O_TRUNC), fd, failed;

	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (!opening->stays && launch_broker_is_held_in(opening->call, entry->path))
		return SERVED_HELD;
	launch_broker_umask(opening->call);
	fd = openat(entry->folder, entry->name,
		    flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, opening->mode);
	if (fd < 0)
		return launch_broker_done(opening->call, -errno);
	failed = send(opening, fd);
	if (failed)
		undo(entry, fd);
	(void)close(fd);
	if (!failed || failed == -ENOENT || failed == -ESRCH)
		return SERVED_SENT;
	return launch_broker_done(opening->call, failed);
}

/* A link that leads to what is to be made: the path goes on behind it. 1: it is none. */
static int follow(struct opening *opening, const struct entry *entry)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(entry->folder, entry->name, text, sizeof(text) - 1);
	size_t folder = (size_t)(strrchr(entry->path, '/') - entry->path) + 1;

	if (len < 0)
		return 1;
	if (opening->flags & O_NOFOLLOW || opening->how)
		return -ELOOP;
	text[len] = '\0';
	opening->dir = AT_FDCWD;
	if (text[0] == '/')
		folder = 0;
	if (folder + (size_t)len >= sizeof(opening->path))
		return -ENAMETOOLONG;
	memcpy(opening->path, entry->path, folder);
	memcpy(opening->path + folder, text, (size_t)len + 1);
	return 0;
}

/* 1: try again. */
static int make(struct opening *opening, enum launch_served *served)
{
	struct entry entry;
	int failed =
		launch_entry_find(opening->call, opening->dir, opening->path, opening->how, &entry);
	int followed = failed || opening->flags & O_EXCL ? 1 : follow(opening, &entry);

	if (failed == -ELOOP || failed == -EINVAL)
		*served = leave(opening, failed == -EINVAL ? EISDIR : -failed);
	else if (failed)
		*served = launch_broker_unfound(opening->call, failed);
	else if (followed < 0)
		*served = launch_broker_done(opening->call, followed);
	else if (followed && entry.slashed)
		*served = launch_broker_done(opening->call, -EISDIR);
	else if (followed)
		*served = create(opening, &entry);
	launch_entry_close(&entry);
	return followed == 0 ||
	       (followed == 1 && !failed && *served == SERVED_DONE &&
		opening->call->answer->error == EEXIST && !(opening->flags & O_EXCL));
}

/* 1: it is not there, and is to be made. */
static int find(struct opening *opening, enum launch_served *served)
{
	bool exclusive = opening->flags & O_CREAT && opening->flags & O_EXCL;
	bool makes = opening->flags & O_CREAT && !(opening->flags & TMPFILE);
	int open_flags = exclusive || opening->flags & O_NOFOLLOW ? O_NOFOLLOW : 0;
	int fd = launch_broker_pin(opening->call, opening->dir, opening->path, open_flags,
				   opening->how);
	int failed = fd < 0 ? fd : launch_broker_name(opening->call, fd, opening->name);

	if (failed == -ENOENT && makes)
		return 1;
	if (failed == -ELOOP)
		*served = open_nameless(opening, fd);
	else if (failed < 0)
		*served = launch_broker_unfound(opening->call, failed);
	else if (exclusive)
		*served = launch_broker_done(opening->call, -EEXIST);
	else if (opening->flags & TMPFILE)
		*served = open_tmpfile(opening, fd);
	else
		*served = open_existing(opening, fd);
	if (fd >= 0)
		(void)close(fd);
	return 0;
}

/* Names a file and opens nothing, for which Landlock wants no right. */
static bool is_name_only(uint64_t flags)
{
	return flags & O_PATH || (flags & O_ACCMODE) == NO_ACCESS;
}

/* Whether it can be read instead. */
static int check_name(const struct opening *opening, const struct stat *st)
{
	bool folder = S_ISDIR(st->st_mode);

	if (!folder && opening->flags & O_DIRECTORY)
		return -ENOTDIR;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	return opening->flags & O_PATH && (folder || S_ISREG(st->st_mode)) &&
			       allows(opening, folder ? SBX_OP_LIST : SBX_OP_READ, st)
		       ? 0
		       : -EACCES;
}

/*
 * Where something is hidden. A descriptor that only names a file tells its size, too, and cannot be
 * handed over: it becomes one to read with, where reading is allowed, and else nothing.
 */
static enum launch_served open_name(struct opening *opening)
{
	int flags = (int)opening->flags & O_NOFOLLOW, fd;
	enum launch_served served;
	struct stat st;
	bool hidden;
	int failed;

	fd = launch_broker_pin_seen(opening->call, opening->dir, opening->path, flags, &hidden);
	if (fd < 0)
		return hidden ? launch_broker_hidden(opening->call, SBX_OP_READ, opening->path)
			      : launch_broker_done(opening->call, fd);
	(void)snprintf(opening->name, sizeof(opening->name), "%s", opening->call->judge->at.path);
	failed = fstat(fd, &st) < 0 ? -errno : check_name(opening, &st);
	if (!failed)
		opening->flags = O_RDONLY | (opening->flags & (O_DIRECTORY | O_CLOEXEC));
	served = failed ? launch_broker_done(opening->call, failed)
			: hand_over(opening, open_pinned(opening, fd, &st));
	(void)close(fd);
	return served;
}

static enum sbx_op op_of(uint64_t flags)
{
	if (flags & O_CREAT)
		return SBX_OP_CREATE;
	return classes_of(flags) & HOLD_WRITE ? SBX_OP_WRITE : SBX_OP_READ;
}

/* Whether what is hidden ends it; 'served' says how. */
static bool is_ended(struct opening *opening, enum launch_served *served)
{
	const struct brokered *call = opening->call;
	bool exclusive = opening->flags & O_CREAT && opening->flags & O_EXCL;

	if (!call->broker->hides)
		return false;
	/* The kernel would read flags again, too: they could be those of a mere name by then. */
	opening->stays = call->ask->act == SBX_ACT_OPEN_HOW;
	if (is_name_only(opening->flags) && !opening->how) {
		*served = open_name(opening);
		return true;
	}
	if (launch_broker_hides_how(call, opening->dir, opening->path,
				    !exclusive && !(opening->flags & O_NOFOLLOW), opening->how))
		*served = launch_broker_hidden(call, op_of(opening->flags), opening->path);
	else if (is_name_only(opening->flags))
		*served = launch_broker_done(call, -EACCES);
	else
		return false;
	return true;
}

enum launch_served launch_broker_open(struct brokered *call, uint64_t flags, mode_t mode,
				      uint64_t how)
{
	struct opening opening = { .call = call,
				   .flags = flags,
				   .mode = mode,
				   .how = how,
				   .dir = launch_broker_dir(call, call->ask->dir) };
	enum launch_served served = SERVED_LEFT;
	int failed;

	/* Landlock wants no right for these. */
	if (is_name_only(flags) && !call->broker->hides)
		return launch_broker_left(call, EACCES);
	if (!launch_broker_serves(call, classes_of(flags) | (flags & O_CREAT ? HOLD_CHANGE : 0)))
		return SERVED_LEFT;
	failed = launch_broker_path(call, call->ask->path, opening.path);
	if (failed)
		return launch_broker_done(call, failed);
	if (is_ended(&opening, &served))
		return served;
	/* No name that could be made: the kernel says so. */
	if (flags & O_CREAT && opening.path[strlen(opening.path) - 1] == '/')
		return leave(&opening, EISDIR);
	for (int tries = 0; tries < TRIES; tries++)
		if (!find(&opening, &served) || !make(&opening, &served))
			return served;
	return launch_broker_done(call, -ELOOP);
}

/* As the kernel does to whoever passes its limit. */
static int check_length(const struct brokered *call, int64_t length)
{
	uint64_t most = call->broker->file_size;

	if (!most || (uint64_t)length <= most)
		return 0;
	(void)syscall(SYS_tgkill, launch_target_process(call->thread), call->thread, SIGXFSZ);
	return -EFBIG;
}

static enum launch_served truncate_pinned(const struct opening *opening, int fd, int64_t length)
{
	struct sbx_request request = { .op = SBX_OP_WRITE, .size = length, .path = opening->name };
	struct stat st;
	int opened, failed;

	if (fstat(fd, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (!S_ISREG(st.st_mode))
		return launch_broker_done(opening->call, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL);
	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (launch_broker_is_held(opening->call, opening->name, HOLD_WRITE))
		return SERVED_HELD;
	failed = check_length(opening->call, length);
	opened = failed ? failed : open_pinned(opening, fd, &st);
	if (opened < 0)
		return launch_broker_done(opening->call, opened);
	failed = ftruncate(opened, length) < 0 ? -errno : 0;
	(void)close(opened);
	return launch_broker_done(opening->call, failed);
}

enum launch_served launch_broker_truncate(struct brokered *call)
{
	struct opening opening = { .call = call, .dir = AT_FDCWD, .flags = O_WRONLY };
	int64_t length = (int64_t)call->args[1];
	enum launch_served served;
	int fd, failed = launch_broker_path(call, call->ask->path, opening.path);

	if (!launch_broker_serves(call, HOLD_WRITE))
		return SERVED_LEFT;
	if (failed || length < 0)
		return launch_broker_done(call, length < 0 ? -EINVAL : failed);
	if (call->broker->hides && launch_broker_hides_way(call, AT_FDCWD, opening.path, true))
		return launch_broker_hidden(call, SBX_OP_WRITE, opening.path);
	fd = launch_broker_pin(call, AT_FDCWD, opening.path, 0, 0);
	failed = fd < 0 ? fd : launch_broker_name(call, fd, opening.name);
	if (failed == -ELOOP)
		served = launch_broker_left(call, ELOOP);
	else if (failed < 0)
		served = launch_broker_done(call, failed);
	else
		served = truncate_pinned(&opening, fd, length);
	if (fd >= 0)
		(void)close(fd);
	return served;
}
