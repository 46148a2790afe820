/* SPDX-License-Identifier: MIT */
/*
 * Finds bases, and makes, finds and removes entries.
 *
 * An entry is alive as long as it is locked. Between making and locking it has no lock, so a sweeper
 * may take it for left behind. It then holds the lock for as long as it takes to remove something
 * empty; the maker waits for that, sees that there is no link to what it has locked, and makes the
 * same name again. Only who has the lock removes a name. Sweepers exclude each other by the same
 * lock, and never wait.
 *
 * Must never touch an entry that is locked, trust a base that others could have made or can write to,
 * or follow a link.
 */
#include "base.h"
#include "erase.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534 /* the kernel's overflow uid */
#define TRIES 16
#define WAITS 1000 /* for a sweeper, a millisecond each */
#define FOLDER (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static const char *place_parent(enum launch_where place)
{
	const char *path = place == PLACE_MEMORY   ? "/dev/shm"
			   : place == PLACE_TMPDIR ? secure_getenv("TMPDIR")
						   : "/tmp";

	return path && path[0] == '/' ? path : NULL;
}

/*
 * The system's own folders are root's; in a user namespace that has not all users, root's are shown
 * as nobody's.
 */
static bool is_system(uid_t uid)
{
	static const char all[] = "         0          0 4294967295";
	char map[sizeof(all)] = "";
	int fd;

	if (uid == 0 || uid != NOBODY)
		return uid == 0;
	fd = open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, map, sizeof(map) - 1) <= 0)
		memcpy(map, all, sizeof(all));
	close(fd);
	return strcmp(map, all) != 0;
}

/* What is shared is safe where only owners can take entries away; TMPDIR must be ours. */
static bool is_good_parent(enum launch_where place, int fd, const struct stat *stat)
{
	bool shared = stat->st_mode & 022;
	struct statfs system;

	if (place == PLACE_TMPDIR)
		return stat->st_uid == geteuid() && !shared;
	if (place == PLACE_MEMORY && (fstatfs(fd, &system) < 0 || system.f_type != TMPFS_MAGIC))
		return false;
	return (is_system(stat->st_uid) || stat->st_uid == geteuid()) &&
	       (!shared || stat->st_mode & S_ISVTX);
}

static int open_parent(enum launch_where place, struct launch_base *base)
{
	const char *path = place_parent(place);
	struct stat stat;
	int fd;

	if (!path || !realpath(path, base->path))
		return -ENOENT;
	fd = sbx_open_unheard(AT_FDCWD, base->path,
			      (place == PLACE_STRAY ? O_RDONLY : O_PATH) | FOLDER);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0 || !is_good_parent(place, fd, &stat)) {
		close(fd);
		return -ENOENT;
	}
	base->fd = fd;
	base->dev = stat.st_dev;
	base->ino = stat.st_ino;
	return 0;
}

/* Whether the folder is ours alone, and open to others as far as that is asked for. */
static int check_base(int fd, bool foreign, struct launch_base *base)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if (stat.st_uid != geteuid() || stat.st_mode & 066)
		return -EPERM;
	if (foreign && (stat.st_mode & 011) != 011 && fchmod(fd, 0711) < 0)
		return -errno;
	base->dev = stat.st_dev;
	base->ino = stat.st_ino;
	return 0;
}

/* The folder 'name'; -EPERM for a link, a file, or a folder that we may not even read. */
static int open_inside(int parent, const char *name, bool create)
{
	int fd = sbx_open_unheard(parent, name, O_RDONLY | FOLDER);

	if (fd < 0 && errno == ENOENT && create) {
		bool made = !mkdirat(parent, name, 0700);

		if (!made && errno != EEXIST)
			return -errno;
		fd = made ? launch_erase_open(parent, name)
			  : sbx_open_unheard(parent, name, O_RDONLY | FOLDER);
		if (made && fd < 0)
			return -ENOENT;
		if (made)
			(void)fchmod(fd, 0700);
	}
	if (fd < 0)
		return errno == EACCES || errno == ELOOP || errno == ENOTDIR ? -EPERM : -ENOENT;
	return fd;
}

/* Replaces the descriptor of the parent by that of the folder 'name' in it. */
static int enter_base(const char *name, bool create, bool foreign, struct launch_base *base)
{
	size_t len = strlen(base->path);
	int fd, error;

	if (len + 1 + strlen(name) >= sizeof(base->path))
		return -ENAMETOOLONG;
	snprintf(base->path + len, sizeof(base->path) - len, "/%s", name);
	fd = open_inside(base->fd, name, create);
	if (fd < 0)
		return fd;
	error = check_base(fd, foreign, base);
	if (error) {
		close(fd);
		return error;
	}
	close(base->fd);
	base->fd = fd;
	return 0;
}

int launch_base_open(enum launch_where place, bool create, bool foreign, struct launch_base *out)
{
	char name[24];
	int error = open_parent(place, out);

	if (error)
		return error;
	out->shared = place == PLACE_STRAY;
	snprintf(name, sizeof(name), "sbx-%u", (unsigned int)geteuid());
	if (!out->shared)
		error = enter_base(place == PLACE_TMPDIR ? "sbx" : name, create, foreign, out);
	if (error)
		close(out->fd);
	return error;
}

static bool is_among(const struct launch_base *bases, int count, const struct launch_base *base)
{
	for (int i = 0; i < count; i++)
		if (bases[i].dev == base->dev && bases[i].ino == base->ino)
			return true;
	return false;
}

int launch_base_open_all(struct launch_base out[PLACE_COUNT])
{
	bool own = false, search = false;
	int count = 0;

	for (enum launch_where place = 0; place < PLACE_COUNT; place++) {
		int error;

		if (place == PLACE_STRAY && !search)
			break;
		error = launch_base_open(place, false, false, &out[count]);
		if (place != PLACE_MEMORY)
			own |= !error;
		search = place == PLACE_TMP && (error == -EPERM || !own);
		if (error)
			continue;
		if (is_among(out, count, &out[count]))
			close(out[count].fd);
		else
			count++;
	}
	return count;
}

void launch_base_close_all(struct launch_base *bases, int count)
{
	for (int i = 0; i < count; i++)
		close(bases[i].fd);
}

static void prefix_of(enum launch_kind kind, char out[32])
{
	static const char *const prefixes[] = { "run.", "tmp.", "home." };

	if (kind == KIND_STRAY)
		snprintf(out, 32, "sbx-%u.", (unsigned int)geteuid());
	else
		snprintf(out, 32, "%s", prefixes[kind]);
}

void launch_entry_name(enum launch_kind kind, const char *id, char out[64])
{
	char prefix[32];

	prefix_of(kind, prefix);
	snprintf(out, 64, "%s%.16s", prefix, id);
}

/* Locks it: -EBUSY when somebody else has, -ESTALE when it has no name any more. */
static int lock(int fd, struct stat *stat)
{
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(fd, stat) < 0)
		return -errno;
	return stat->st_nlink ? 0 : -ESTALE;
}

static int lock_new(int fd, mode_t mode)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct stat stat = { 0 };
	int error = lock(fd, &stat);

	for (int wait = 0; wait < WAITS && error == -EBUSY; wait++) {
		(void)nanosleep(&pause, NULL);
		error = lock(fd, &stat);
	}
	if (!error && (stat.st_mode & 07777) != mode && fchmod(fd, mode) < 0)
		error = -errno;
	return error;
}

/* -ESTALE when a sweeper was faster. */
static int make_entry(int base, const char *name, bool folder)
{
	int fd;

	if (!folder) {
		fd = openat(base, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
		return fd < 0 ? -errno : fd;
	}
	if (mkdirat(base, name, 0700) < 0)
		return -errno;
	fd = launch_erase_open(base, name);
	return fd == -ENOENT ? -ESTALE : fd;
}

int launch_entry_make(int base, const char *name, bool folder, mode_t mode)
{
	int error = -ESTALE;

	for (int try = 0; try < TRIES && error == -ESTALE; try++) {
		int fd = make_entry(base, name, folder);

		error = fd < 0 ? fd : lock_new(fd, mode);
		if (!error)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return error;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

int launch_entry_remove(int base, const char *name, int fd)
{
	struct stat mine, there;
	int error = -ENOTEMPTY;

	for (int try = 0; try < 4 && error == -ENOTEMPTY; try++) {
		bool folder;

		if (try && (error = launch_erase(fd)) && error != -ENOTEMPTY)
			return error;
		if (fstat(fd, &mine) < 0 || fstatat(base, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (!is_same(&mine, &there))
			return -ESTALE;
		folder = S_ISDIR(mine.st_mode);
		error = unlinkat(base, name, folder ? AT_REMOVEDIR : 0) < 0 ? -errno : 0;
		if (error == -EEXIST)
			error = -ENOTEMPTY;
	}
	return error;
}

/*
 * In a base of ours nobody else makes anything. Elsewhere, what is ours and open to others may have
 * been moved there by them.
 */
static bool is_ours(const struct launch_entry *entry, const struct stat *stat)
{
	if (entry->kind == KIND_RUN ? !S_ISREG(stat->st_mode) : !S_ISDIR(stat->st_mode))
		return false;
	return !entry->base->shared || (stat->st_uid == geteuid() && !(stat->st_mode & 022));
}

/* 'stat' is what is there before its rights are changed, where it does not let itself be read. */
static int open_entry(const struct launch_entry *entry, bool force, struct stat *stat)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int base = entry->base->fd, fd;
	struct stat now;

	if (fstatat(base, entry->name, stat, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!is_ours(entry, stat))
		return -EPERM;
	if (entry->kind != KIND_RUN && force)
		fd = launch_erase_open(base, entry->name);
	else if ((fd = openat(base, entry->name, flags)) < 0)
		fd = -errno;
	if (fd >= 0 && (fstat(fd, &now) < 0 || !is_same(stat, &now))) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

int launch_entry_sweep(const struct launch_entry *entry)
{
	struct stat before, now;
	int fd = open_entry(entry, true, &before), error;

	if (fd < 0)
		return fd;
	error = lock(fd, &now);
	if (!error)
		error = launch_entry_remove(entry->base->fd, entry->name, fd);
	/* A living program's own rights to its tmp are its own matter. */
	else if (error == -EBUSY && !fstat(fd, &now) && now.st_mode != before.st_mode)
		(void)fchmod(fd, before.st_mode & 07777);
	close(fd);
	return error;
}

int launch_entry_open(const struct launch_entry *entry, bool *alive)
{
	struct stat stat;
	int fd = open_entry(entry, false, &stat);

	if (fd < 0)
		return fd;
	*alive = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	(void)flock(fd, LOCK_UN);
	return fd;
}

/* Whether the name is that of an entry there. */
static bool parse_name(const struct launch_base *base, const char *name, struct launch_entry *out)
{
	enum launch_kind first = base->shared ? KIND_STRAY : KIND_RUN;
	enum launch_kind end = base->shared ? KIND_COUNT : KIND_STRAY;

	for (enum launch_kind kind = first; kind < end; kind++) {
		char prefix[32];
		size_t len;

		prefix_of(kind, prefix);
		len = strlen(prefix);
		if (strncmp(name, prefix, len) != 0 || !name[len])
			continue;
		*out = (struct launch_entry){ base, kind, name, name + len };
		return true;
	}
	return false;
}

int launch_base_each(const struct launch_base *base,
		     int (*each)(const struct launch_entry *entry, void *arg), void *arg)
{
	_Alignas(struct dirent64) char piece[8192];
	struct launch_entry entry;
	int count = 0;
	ssize_t len;

	while ((len = getdents64(base->fd, piece, sizeof(piece))) > 0) {
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *found = (const struct dirent64 *)(piece + at);

			at += found->d_reclen;
			if (parse_name(base, found->d_name, &entry))
				count += each(&entry, arg);
		}
	}
	return count;
}
