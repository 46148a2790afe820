/* SPDX-License-Identifier: MIT */
/*
 * Opens files for the program, and hands them over.
 *
 * What is there is pinned first and opened through its descriptor; what is not there is made with
 * O_EXCL in a pinned folder. Whoever exchanges one for the other meanwhile makes us start again.
 */
#include "broker_call.h"
#include "stand.h"

#include "broker_wait.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
#define TRIES 100 /* against somebody who makes and removes it all the time */
#define MEMORY 1 /* the device number of null, zero, full, random: nobody waits for these */

/* An open on its way. */
struct opening {
	struct brokered *call;
	uint64_t flags;
	mode_t mode;
	uint64_t how;
	int dir; /* of the path: a descriptor of the caller's */
	char path[PATH_MAX];
	int pinned; /* what the path leads to; -1: nothing, or it is somebody else's by now */
	char name[PATH_MAX]; /* of what is pinned */
};

/* Newer than the system's headers. */
#ifndef SECCOMP_ADDFD_FLAG_SEND
#define SECCOMP_ADDFD_FLAG_SEND (1UL << 1)
#endif
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
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

static bool killable;

/* Whether only death takes a caller away from us (5.19+): the kernel then misses a filter, no flag. */
static void ask_killable(void)
{
	killable =
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
			NULL) < 0 &&
		errno == EFAULT;
}

static bool writes(uint64_t flags)
{
	return (flags & O_ACCMODE) == O_WRONLY || (flags & O_ACCMODE) == O_RDWR;
}

int launch_broker_open_flags(uint64_t flags)
{
	uint64_t without = O_CREAT | O_EXCL | O_NOFOLLOW | (writes(flags) ? O_TRUNC : 0);

	return (int)(flags & ~without) | O_CLOEXEC | O_NOCTTY;
}

/* Of a pipe, whoever opens the other end would meet our copy, and nobody behind it. */
static bool is_pipe(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

/*
 * A call that is interrupted between the two steps would leave a descriptor behind, so kernels where
 * that can be have one step.
 */
int launch_broker_hand_over(int listener, uint64_t id, int fd, int pinned, uint64_t flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct seccomp_notif_addfd add = { .id = id,
					   .srcfd = (uint32_t)fd,
					   .newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0 };
	int given;

	(void)pthread_once(&once, ask_killable);
	if (!killable || !(writes(flags) || is_pipe(fd)))
		add.flags = SECCOMP_ADDFD_FLAG_SEND;
	if (pinned >= 0)
		(void)close(pinned);
	given = ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (given < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	if (flags & O_TRUNC && writes(flags) && ftruncate(fd, 0) < 0 && errno != EINVAL)
		return -errno;
	(void)close(fd);
	return add.flags & SECCOMP_ADDFD_FLAG_SEND ? -EALREADY : given;
}

static enum launch_served hand_over(struct opening *opening, int fd)
{
	int given;

	if (fd < 0)
		return launch_broker_done(opening->call, fd);
	given = launch_broker_hand_over(opening->call->broker->listener, opening->call->id, fd,
					opening->pinned, opening->flags);
	opening->pinned = -1;
	if (given < 0 && given != -EALREADY)
		(void)close(fd);
	return given == -EALREADY ? SERVED_SENT : launch_broker_done(opening->call, given);
}

/* What is asked of something that is there. The access mode 3 wants both rights, and gives neither. */
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

/* Whether opening it may have to wait for others, and cannot be tried without waiting. */
static bool may_wait(const struct stat *st, uint64_t flags)
{
	if (flags & O_NONBLOCK)
		return false;
	/* To try to read would be noticed by who waits to write. */
	if (S_ISFIFO(st->st_mode))
		return (flags & O_ACCMODE) == O_RDONLY;
	return (S_ISCHR(st->st_mode) && major(st->st_rdev) != MEMORY) || S_ISBLK(st->st_mode);
}

/*
 * Never waits. -EAGAIN: it would have to. What is tried without waiting is a file, on which there may
 * be a lease, or a FIFO to write, which has a reader then.
 */
static int open_pinned(const struct opening *opening, const struct stat *st)
{
	int flags = launch_broker_open_flags(opening->flags), opened;
	bool tries = !(flags & O_NONBLOCK) &&
		     (S_ISREG(st->st_mode) ||
		      (S_ISFIFO(st->st_mode) && (flags & O_ACCMODE) == O_WRONLY));

	if (may_wait(st, opening->flags))
		return -EAGAIN;
	opened = launch_target_reopen(opening->pinned, flags | (tries ? O_NONBLOCK : 0), 0);
	if (opened >= 0 && tries)
		(void)fcntl(opened, F_SETFL, flags & ~(O_CLOEXEC | O_NONBLOCK | O_TRUNC));
	return opened == -ENXIO && tries ? -EAGAIN : opened;
}

/* In another thread, which answers. */
static enum launch_served wait_for(struct opening *opening, enum launch_wait_kind kind,
				   int64_t length)
{
	const struct launch_waiting waiting = { .kind = kind,
						.id = opening->call->id,
						.thread = opening->call->thread,
						.pinned = opening->pinned,
						.flags = opening->flags,
						.length = length,
						.named = -1 };
	int failed = launch_waits_add(opening->call->broker->waits, &waiting);

	if (failed)
		return launch_broker_done(opening->call, failed);
	opening->pinned = -1;
	return SERVED_SENT;
}

static enum launch_served open_for_use(struct opening *opening, const struct stat *st)
{
	int fd = open_pinned(opening, st);

	if (fd == -EAGAIN && !(opening->flags & O_NONBLOCK))
		return wait_for(opening, WAIT_OPEN, 0);
	return hand_over(opening, fd);
}

/* A setting of the kernel's; what cannot be read is taken to be set. */
static int setting(const char *path)
{
	char text[16] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void)close(fd);
	return got <= 0 ? 2 : (int)strtol(text, NULL, 10);
}

/*
 * Who would make a file where everybody can, and finds one that somebody else has put there, is
 * refused by the kernel (fs.protected_regular, fs.protected_fifos): but not in the way we open it. Of two
 * that look like nobody's, one may be of anybody.
 */
static bool is_planted(const struct opening *opening, const struct stat *st)
{
	const char *slash = strrchr(opening->name, '/');
	char folder[PATH_MAX];
	struct stat above;
	int level;

	if (!(opening->flags & O_CREAT) || launch_broker_owns(opening->pinned, st))
		return false;
	(void)snprintf(folder, sizeof(folder), "%.*s", (int)(slash - opening->name + 1),
		       opening->name);
	if (stat(folder, &above) < 0 || !(above.st_mode & S_ISVTX) || !(above.st_mode & 022) ||
	    (above.st_uid == st->st_uid && st->st_uid != NOBODY))
		return false;
	if (S_ISREG(st->st_mode))
		level = setting("/proc/sys/fs/protected_regular");
	else
		level = S_ISFIFO(st->st_mode) ? setting("/proc/sys/fs/protected_fifos") : 1;
	return level >= (above.st_mode & 02 ? 1 : 2);
}

static enum launch_served open_existing(struct opening *opening)
{
	uint64_t flags = opening->flags;
	uint8_t classes = classes_of(flags);
	struct stat st;

	if (fstat(opening->pinned, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (classes & HOLD_READ &&
	    !allows(opening, S_ISDIR(st.st_mode) ? SBX_OP_LIST : SBX_OP_READ, &st))
		return SERVED_REFUSED;
	if (classes & HOLD_WRITE && !allows(opening, SBX_OP_WRITE, &st))
		return SERVED_REFUSED;
	if (launch_broker_is_held(opening->call, opening->name, classes))
		return SERVED_HELD;
	/* What the kernel cannot see any more in the way we open it. */
	if (S_ISDIR(st.st_mode) && flags & O_CREAT)
		return launch_broker_done(opening->call, -EISDIR);
	if (is_planted(opening, &st))
		return launch_broker_done(opening->call, -EACCES);
	if (S_ISLNK(st.st_mode))
		return launch_broker_done(opening->call, flags & O_DIRECTORY ? -ENOTDIR : -ELOOP);
	return open_for_use(opening, &st);
}

/* The name that a removed file had: rules are about it still. False for what never had any. */
static bool had_name(struct opening *opening)
{
	static const char deleted[] = " (deleted)", memory[] = "/memfd:";
	int len = launch_target_name(opening->pinned, opening->name);
	size_t mark = sizeof(deleted) - 1;

	if (len <= (int)mark || opening->name[0] != '/' ||
	    !strncmp(opening->name, memory, strlen(memory)))
		return false;
	opening->name[(size_t)len - mark] = '\0';
	return true;
}

/*
 * Pipes, sockets and files in memory have no name that a rule could be about, and files that were
 * removed have it no more. The kernel's own rules know where such a one stood; without these, we do:
 * it may have been somebody else's, and be looked at by a descriptor that only stands for it (O_PATH).
 */
static enum launch_served open_nameless(struct opening *opening)
{
	uint8_t classes = classes_of(opening->flags);
	struct stat st;

	if (opening->pinned < 0 || opening->call->backed)
		return launch_broker_left(opening->call, ELOOP);
	if (fstat(opening->pinned, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (had_name(opening) &&
	    (st.st_nlink ||
	     !launch_stand_has(opening->call->judge->image, opening->pinned, opening->name) ||
	     (classes & HOLD_READ && !allows(opening, SBX_OP_READ, &st)) ||
	     (classes & HOLD_WRITE && !allows(opening, SBX_OP_WRITE, &st))))
		return launch_broker_done(opening->call, -EACCES);
	return open_for_use(opening, &st);
}

/* A file without a name: as if it had one in that folder. */
static enum launch_served open_tmpfile(struct opening *opening)
{
	char place[PATH_MAX + 2];
	struct sbx_request request = {
		.op = SBX_OP_CREATE, .size = -1, .missing = true, .path = place
	};

	(void)snprintf(place, sizeof(place), "%s/?", opening->name);
	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (launch_broker_is_held_in(opening->call, place))
		return SERVED_HELD;
	launch_broker_umask(opening->call);
	opening->flags &= ~(uint64_t)O_TRUNC; /* it is empty */
	return hand_over(opening, launch_target_reopen(
					  opening->pinned,
					  (int)(opening->flags & ~(uint64_t)O_NOFOLLOW) | O_CLOEXEC,
					  opening->mode));
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
	uint64_t flags = opening->flags & ~(uint64_t)O_TRUNC;
	int fd, given;

	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (launch_broker_is_held_in(opening->call, entry->path))
		return SERVED_HELD;
	launch_broker_umask(opening->call);
	fd = openat(entry->folder, entry->name,
		    (int)flags | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, opening->mode);
	if (fd < 0)
		return launch_broker_done(opening->call, -errno);
	given = launch_broker_hand_over(opening->call->broker->listener, opening->call->id, fd, -1,
					flags);
	if (given == -EALREADY)
		return SERVED_SENT;
	if (given < 0) {
		undo(entry, fd);
		(void)close(fd);
	}
	return launch_broker_done(opening->call, given);
}

/*
 * A link that leads to what is to be made: the path goes on behind it. 1: it is none. With flags of
 * openat2 the whole way counts, from where the caller began; else the folder it stands in is enough.
 */
static int follow(struct opening *opening, const struct entry *entry)
{
	const char *before = opening->how ? opening->path : entry->path;
	const char *slash = strrchr(before, '/');
	size_t folder = slash ? (size_t)(slash - before) + 1 : 0;
	char text[PATH_MAX];
	ssize_t len = readlinkat(entry->folder, entry->name, text, sizeof(text) - 1);

	if (len < 0)
		return 1;
	if (opening->flags & O_NOFOLLOW || opening->how & RESOLVE_NO_SYMLINKS)
		return -ELOOP;
	text[len] = '\0';
	if (!opening->how)
		opening->dir = AT_FDCWD;
	if (text[0] == '/')
		folder = 0;
	if (folder + (size_t)len >= sizeof(opening->path))
		return -ENAMETOOLONG;
	memmove(opening->path, before, folder);
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
		*served = launch_broker_left(opening->call, failed == -EINVAL ? EISDIR : -failed);
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
	int failed;

	opening->pinned = launch_broker_pin(opening->call, opening->dir, opening->path, open_flags,
					    opening->how);
	failed = opening->pinned < 0
			 ? opening->pinned
			 : launch_broker_name(opening->call, opening->pinned, opening->name);
	if (failed == -ENOENT && makes)
		return 1;
	if (failed == -ELOOP)
		*served = open_nameless(opening);
	else if (failed < 0)
		*served = launch_broker_unfound(opening->call, failed);
	else if (exclusive)
		*served = launch_broker_done(opening->call, -EEXIST);
	else if (opening->flags & TMPFILE)
		*served = open_tmpfile(opening);
	else
		*served = open_existing(opening);
	if (opening->pinned >= 0)
		(void)close(opening->pinned);
	return 0;
}

/* Names a file and opens nothing, for which Landlock wants no right. */
static bool is_name_only(uint64_t flags)
{
	return flags & O_PATH;
}

/* Whether it can be read instead; 'refused': not by the policy. */
static int check_name(const struct opening *opening, const struct stat *st, bool *refused)
{
	bool folder = S_ISDIR(st->st_mode);

	*refused = false;
	if (!folder && opening->flags & O_DIRECTORY)
		return -ENOTDIR;
	if (S_ISLNK(st->st_mode))
		return -ELOOP;
	if (!folder && !S_ISREG(st->st_mode))
		return -EACCES;
	*refused = !launch_broker_may_read(opening->call, st, opening->path);
	return *refused ? -EACCES : 0;
}

/*
 * Where something is hidden. A descriptor that only names a file tells its size, too, and cannot be
 * handed over: it becomes one to read with, where reading is allowed, and else nothing.
 */
static enum launch_served open_name(struct opening *opening)
{
	int flags = (int)opening->flags & O_NOFOLLOW;
	enum launch_served served;
	struct stat st;
	bool hidden, refused = false;
	int failed;

	opening->pinned =
		launch_broker_pin_seen(opening->call, opening->dir, opening->path, flags, &hidden);
	if (opening->pinned < 0)
		return hidden ? launch_broker_hidden(opening->call, SBX_OP_READ, opening->path)
			      : launch_broker_done(opening->call, opening->pinned);
	(void)snprintf(opening->name, sizeof(opening->name), "%s", opening->call->judge->at.path);
	failed = fstat(opening->pinned, &st) < 0 ? -errno : check_name(opening, &st, &refused);
	/* A name of what is ours alone to read. */
	if (!failed && launch_target_is_outside(opening->pinned, opening->name))
		failed = -EACCES;
	if (!failed)
		opening->flags = O_RDONLY | (opening->flags & (O_DIRECTORY | O_CLOEXEC));
	/* The judge says nothing of what only names a file by itself: it was asked as if it were read. */
	if (refused)
		served = SERVED_JUDGED;
	else
		served = failed ? launch_broker_done(opening->call, failed)
				: open_for_use(opening, &st);
	if (opening->pinned >= 0)
		(void)close(opening->pinned);
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

/*
 * What the kernel refuses before it looks at any path; of a mere name it does not look at these flags.
 * (Before 6.4 it made a file for some of them, and failed then: nobody relies on that.)
 */
static bool is_no_open(uint64_t flags)
{
	const uint64_t makes_folder = O_CREAT | O_DIRECTORY;

	if (is_name_only(flags))
		return false;
	return (flags & makes_folder) == makes_folder ||
	       (flags & TMPFILE && (!(flags & O_DIRECTORY) || !(flags & O_ACCMODE)));
}

/* No name that could be made. */
static enum launch_served find_folder(const struct opening *opening)
{
	struct entry entry;
	int failed =
		launch_entry_find(opening->call, opening->dir, opening->path, opening->how, &entry);

	launch_entry_close(&entry);
	if (failed == -EINVAL && opening->flags & O_EXCL)
		failed = -EEXIST;
	return launch_broker_left(opening->call, failed && failed != -EINVAL ? -failed : EISDIR);
}

/*
 * openat2() for a mere name: its flags could be others by the time the kernel reads them, and a mere
 * name cannot be handed over. Who knows this call knows what to do where the kernel does not have it.
 */
static enum launch_served find_only(struct opening *opening)
{
	int flags = (int)opening->flags & (O_NOFOLLOW | O_DIRECTORY);
	int fd = launch_broker_path(opening->call, opening->call->ask->path, opening->path);

	if (!fd)
		fd = launch_broker_pin(opening->call, opening->dir, opening->path, flags,
				       opening->how);
	if (fd >= 0)
		(void)close(fd);
	return launch_broker_done(opening->call, fd < 0 ? fd : -ENOSYS);
}

enum launch_served launch_broker_open(struct brokered *call, uint64_t flags, mode_t mode,
				      uint64_t how)
{
	struct opening opening = { .call = call,
				   .flags = flags,
				   .mode = mode,
				   .how = how,
				   .dir = launch_broker_dir(call, call->ask->dir),
				   .pinned = -1 };
	enum launch_served served = SERVED_LEFT;
	int failed;

	/* Landlock wants no right for these. */
	if (is_name_only(flags) && !call->broker->hides)
		return call->ask->act == SBX_ACT_OPEN_HOW ? find_only(&opening)
							  : launch_broker_left(call, EACCES);
	if (is_no_open(flags))
		return call->broker->hides ? launch_broker_done(call, -EINVAL)
					   : launch_broker_left(call, EINVAL);
	if (how & RESOLVE_CACHED && flags & (O_CREAT | O_TRUNC | TMPFILE))
		return launch_broker_left(call, EAGAIN);
	if (!launch_broker_serves(call, classes_of(flags) | (flags & O_CREAT ? HOLD_CHANGE : 0)))
		return SERVED_LEFT;
	failed = launch_broker_path(call, call->ask->path, opening.path);
	if (failed)
		return launch_broker_done(call, failed);
	if (is_ended(&opening, &served))
		return served;
	if (flags & O_CREAT && opening.path[strlen(opening.path) - 1] == '/')
		return find_folder(&opening);
	for (int tries = 0; tries < TRIES; tries++)
		if (!find(&opening, &served) || !make(&opening, &served))
			return served;
	return launch_broker_done(call, -ELOOP);
}

/* As the kernel does to whoever passes its limit; which may be less by now than the policy's. */
static int check_length(const struct brokered *call, int64_t length, int64_t before)
{
	pid_t process = launch_target_process(call->thread);
	struct rlimit limit;

	if (length <= before || prlimit(process, RLIMIT_FSIZE, NULL, &limit) < 0 ||
	    (rlim_t)length <= limit.rlim_cur)
		return 0;
	(void)syscall(SYS_tgkill, process, call->thread, SIGXFSZ);
	return -EFBIG;
}

static enum launch_served truncate_pinned(struct opening *opening, int64_t length)
{
	struct sbx_request request = { .op = SBX_OP_WRITE, .size = length, .path = opening->name };
	struct stat st;
	int opened, failed;

	if (fstat(opening->pinned, &st) < 0)
		return launch_broker_done(opening->call, -errno);
	if (!S_ISREG(st.st_mode))
		return launch_broker_done(opening->call, S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL);
	if (!launch_broker_allows(opening->call, &request))
		return SERVED_REFUSED;
	if (launch_broker_is_held(opening->call, opening->name, HOLD_WRITE))
		return SERVED_HELD;
	failed = check_length(opening->call, length, st.st_size);
	opened = failed ? failed : open_pinned(opening, &st);
	if (opened == -EAGAIN)
		return wait_for(opening, WAIT_TRUNCATE, length);
	if (opened < 0)
		return launch_broker_done(opening->call, opened);
	failed = ftruncate(opened, length) < 0 ? -errno : 0;
	(void)close(opened);
	return launch_broker_done(opening->call, failed);
}

enum launch_served launch_broker_truncate(struct brokered *call)
{
	struct opening opening = { .call = call, .dir = AT_FDCWD, .flags = O_WRONLY, .pinned = -1 };
	int64_t length = (int64_t)call->args[1];
	enum launch_served served;
	int failed = launch_broker_path(call, call->ask->path, opening.path);

	if (!launch_broker_serves(call, HOLD_WRITE))
		return SERVED_LEFT;
	if (failed || length < 0)
		return launch_broker_done(call, length < 0 ? -EINVAL : failed);
	if (call->broker->hides && launch_broker_hides_way(call, AT_FDCWD, opening.path, true))
		return launch_broker_hidden(call, SBX_OP_WRITE, opening.path);
	opening.pinned = launch_broker_pin(call, AT_FDCWD, opening.path, 0, 0);
	failed = opening.pinned < 0 ? opening.pinned
				    : launch_broker_name(call, opening.pinned, opening.name);
	if (failed == -ELOOP)
		served = launch_broker_left(call, ELOOP);
	else if (failed < 0)
		served = launch_broker_unfound(call, failed);
	else
		served = truncate_pinned(&opening, length);
	if (opening.pinned >= 0)
		(void)close(opening.pinned);
	return served;
}
