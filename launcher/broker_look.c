/* SPDX-License-Identifier: MIT */
/*
 * Looks at files for the program where a policy hides some: what is hidden is not there. And watches
 * them, in every run: only what may be read.
 *
 * Landlock does not see who only looks, so nothing stands behind a call that goes on: each is made
 * here, on something pinned, and its result written into the caller's memory. The one exception is
 * chdir(), which nobody can do for another process: whoever exchanges the path meanwhile can get into
 * a hidden folder, and learns that it is there; but what is in it still goes by its name, and is
 * refused.
 */
#include "broker_call.h"

#include "stand.h"
#include "target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <linux/stat.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_MOST (32u << 10) /* of one listing, whatever the caller has room for */
#define STAT_FLAGS (AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_EMPTY_PATH | AT_STATX_SYNC_TYPE)
#define WATCH_BITS                                                                               \
	(IN_ALL_EVENTS | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED | IN_ONLYDIR | IN_DONT_FOLLOW | \
	 IN_EXCL_UNLINK | IN_MASK_ADD | IN_MASK_CREATE | IN_ISDIR | IN_ONESHOT)
#define ACCESS_FLAGS (AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)

/* A look on its way. */
struct look {
	struct brokered *call;
	const struct launch_look *row;
	int dir;
	bool nofollow;
	bool empty; /* no path: the descriptor itself is meant */
	int watcher; /* of a watch: what it is added to */
	const char *text; /* what the kernel is given with the descriptor that is pinned */
	char path[PATH_MAX];
};

/* What the caller waits for is written where it wants it; 'value' is the answer then. */
static enum launch_served hand_back(const struct look *look, const void *bytes, size_t size,
				    int64_t value)
{
	const struct brokered *call = look->call;
	uint64_t id = call->id;
	int failed;

	/* Whoever does not wait any more may be somebody else by now. */
	if (ioctl(call->broker->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) < 0)
		return SERVED_SENT;
	failed = launch_target_write(call->thread, call->args[look->row->out], bytes, size);
	return launch_broker_done(call, failed ? failed : value);
}

static enum launch_served stat_pinned(const struct look *look, int fd)
{
	int flags = (int)(look->call->flags & ~(uint64_t)AT_SYMLINK_NOFOLLOW) | AT_EMPTY_PATH;
	struct stat st;

	if (syscall(SYS_newfstatat, fd, look->text, &st, flags) < 0)
		return launch_broker_done(look->call, -errno);
	return hand_back(look, &st, sizeof(st), 0);
}

static enum launch_served statx_pinned(const struct look *look, int fd)
{
	int flags = (int)(look->call->flags & ~(uint64_t)AT_SYMLINK_NOFOLLOW) | AT_EMPTY_PATH;
	unsigned int mask = (unsigned int)look->call->args[look->row->more];
	struct statx st;

	if (syscall(SYS_statx, fd, look->text, flags, mask, &st) < 0)
		return launch_broker_done(look->call, -errno);
	return hand_back(look, &st, sizeof(st), 0);
}

static enum launch_served access_pinned(const struct look *look, int fd)
{
	int flags = (int)(look->call->flags & AT_EACCESS) | AT_EMPTY_PATH;
	int mode = (int)look->call->args[look->row->more];

	return launch_broker_done(
		look->call, syscall(SYS_faccessat2, fd, look->text, mode, flags) < 0 ? -errno : 0);
}

static enum launch_served read_pinned(const struct look *look, int fd)
{
	char text[PATH_MAX], *name = look->call->judge->at.path;
	size_t size = (size_t)(int)look->call->args[look->row->more];
	struct stat st;
	ssize_t len;

	if (fstat(fd, &st) < 0)
		return launch_broker_done(look->call, -errno);
	if (!S_ISLNK(st.st_mode))
		return launch_broker_done(look->call, look->empty ? -ENOENT : -EINVAL);
	/* We may read more of these than the program may. */
	if (launch_target_is_outside(fd, name))
		return launch_broker_done(look->call, -EACCES);
	/* Those two are others for us. */
	len = launch_target_view(look->call->thread, name, text);
	if (!len)
		len = readlinkat(fd, "", text, sizeof(text));
	if (len < 0)
		return launch_broker_done(look->call, -errno);
	if ((size_t)len > size)
		len = (ssize_t)size;
	return hand_back(look, text, (size_t)len, len);
}

static enum launch_served statfs_pinned(const struct look *look, int fd)
{
	struct statfs st;

	if (syscall(SYS_fstatfs, fd, &st) < 0)
		return launch_broker_done(look->call, -errno);
	return hand_back(look, &st, sizeof(st), 0);
}

/* Pipes, sockets and the like, and files in memory: got under the rules, and no rule names them. */
static bool is_nameless(const char *name, const struct stat *st)
{
	static const char *const kinds[] = { "pipe:", "socket:", "anon_inode:" };
	static const char memory[] = "/memfd:";

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return !st->st_nlink && !strncmp(name, memory, strlen(memory));
}

static enum launch_served watch_pinned(const struct look *look, int fd)
{
	const struct brokered *call = look->call;
	const char *name = call->judge->at.path;
	uint32_t mask = (uint32_t)call->args[look->row->more] & ~(uint32_t)IN_DONT_FOLLOW;
	struct stat st;
	char link[32];
	int watch;

	if (fstat(fd, &st) < 0)
		return launch_broker_done(call, -errno);
	if (mask & IN_ONLYDIR && !S_ISDIR(st.st_mode))
		return launch_broker_done(call, -ENOTDIR);
	/* A mask cannot be read either, and has words. */
	if (faccessat(fd, "", R_OK, AT_EMPTY_PATH | AT_EACCESS) < 0 &&
	    !(call->judge->covers && launch_covers_over(call->judge->covers, name)))
		return launch_broker_done(call, -errno);
	if (!is_nameless(name, &st)) {
		if (name[0] != '/' || !launch_stand_has(call->judge->image, fd, name))
			return launch_broker_done(call, -EACCES);
		/* News of a folder are as good as listings. */
		if (!launch_broker_may_read(call, &st, look->path))
			return SERVED_JUDGED;
	}
	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	watch = inotify_add_watch(look->watcher, link, mask);
	return launch_broker_done(call, watch < 0 ? -errno : watch);
}

static enum launch_served look_pinned(const struct look *look, int fd)
{
	switch ((enum launch_look_act)look->row->act) {
	case LOOK_STAT:
	case LOOK_LSTAT:
		return stat_pinned(look, fd);
	case LOOK_STATX:
		return statx_pinned(look, fd);
	case LOOK_ACCESS:
		return access_pinned(look, fd);
	case LOOK_READLINK:
		return read_pinned(look, fd);
	case LOOK_STATFS:
		return statfs_pinned(look, fd);
	case LOOK_WATCH:
		return watch_pinned(look, fd);
	case LOOK_CHDIR:
		return SERVED_HELD;
	case LOOK_LIST:
	case LOOK_NOTHING:
		break;
	}
	return launch_broker_done(look->call, -ENOSYS);
}

/* What the kernel says before it reads any path. */
static int check_registers(const struct look *look)
{
	const struct brokered *call = look->call;
	uint64_t more = look->row->more < 0 ? 0 : call->args[look->row->more];

	switch ((enum launch_look_act)look->row->act) {
	case LOOK_STAT:
		return call->flags & ~(uint64_t)STAT_FLAGS ? -EINVAL : 0;
	case LOOK_STATX:
		return call->flags & ~(uint64_t)STAT_FLAGS || more & STATX__RESERVED ||
				       (call->flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE
			       ? -EINVAL
			       : 0;
	case LOOK_ACCESS:
		return (uint32_t)more & ~(uint32_t)07 || call->flags & ~(uint64_t)ACCESS_FLAGS
			       ? -EINVAL
			       : 0;
	case LOOK_READLINK:
		return (int)more <= 0 ? -EINVAL : 0;
	case LOOK_WATCH:
		return more & WATCH_BITS ? 0 : -EINVAL;
	default:
		return 0;
	}
}

/* What a watch is added to must be something that watches, the kernel says first. */
static int take_watcher(struct look *look)
{
	const struct brokered *call = look->call;
	char *name = call->judge->at.path;
	int flags;

	if (look->row->act != LOOK_WATCH)
		return 0;
	look->watcher = launch_target_take(call->thread, (int)call->args[look->row->out]);
	flags = look->watcher < 0 ? 0 : fcntl(look->watcher, F_GETFL);
	if (look->watcher < 0 || flags < 0 || flags & O_PATH)
		return look->watcher < 0 ? look->watcher : -EBADF;
	if (call->args[look->row->more] & IN_MASK_ADD &&
	    call->args[look->row->more] & IN_MASK_CREATE)
		return -EINVAL;
	return launch_target_name(look->watcher, name) > 0 && !strcmp(name, "anon_inode:inotify")
		       ? 0
		       : -EINVAL;
}

/* Copies the path. Without one, where that is allowed, the descriptor itself is meant. */
static int take_path(struct look *look)
{
	const struct brokered *call = look->call;
	uint64_t at = call->args[look->row->path];
	bool may_be_empty = call->flags & AT_EMPTY_PATH || look->row->act == LOOK_READLINK;
	int len = 0;

	/* Newer kernels take no path for an empty one: this one says what it does. */
	look->text = at || look->row->act == LOOK_READLINK ? "" : NULL;
	if (at || !(call->flags & AT_EMPTY_PATH))
		len = launch_target_string(call->thread, at, look->path);
	if (len < 0)
		return len;
	look->empty = !len;
	if (look->empty)
		look->path[0] = '\0';
	return look->empty && !may_be_empty ? -ENOENT : 0;
}

/* What the descriptor stands for was opened under the rules; where the caller works may be hidden. */
static int pin_empty(const struct look *look, bool *hidden)
{
	const struct brokered *call = look->call;
	int fd, failed;

	if (look->dir == AT_FDCWD)
		return launch_broker_pin_seen(call, AT_FDCWD, ".", 0, hidden);
	*hidden = false;
	fd = launch_target_open(call->thread, look->dir, "", 0, 0);
	if (fd < 0)
		return fd;
	failed = launch_target_name(fd, call->judge->at.path);
	if (failed < 0)
		(void)close(fd);
	return failed < 0 ? failed : fd;
}

static enum launch_served look_at(struct look *look)
{
	const struct brokered *call = look->call;
	enum launch_served served;
	bool hidden = false;
	int fd = check_registers(look);

	if (!fd)
		fd = take_watcher(look);
	if (!fd)
		fd = take_path(look);
	if (fd < 0)
		return launch_broker_done(call, fd);
	fd = look->empty ? pin_empty(look, &hidden)
			 : launch_broker_pin_seen(call, look->dir, look->path,
						  look->nofollow ? O_NOFOLLOW : 0, &hidden);
	if (hidden)
		return launch_broker_hidden(call, SBX_OP_READ, look->path);
	if (fd < 0)
		return launch_broker_done(call, fd);
	served = look_pinned(look, fd);
	(void)close(fd);
	return served;
}

/* Whether a rule could hide an entry of this folder. */
static bool may_hide_in(const struct sbx_image *image, const char *folder)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		const char *path = sbx_str(image, rule->path);
		const char *slash = strrchr(path, '/');

		if (rule->kind != SBX_RULE_HIDE || (rule->flags & SBX_RULE_ABSENT))
			continue;
		if (rule->flags & SBX_RULE_GLOB
			    ? launch_is_within(folder, path, launch_literal_len(path))
			    : launch_is_within(folder, path, strlen(path)))
			return true;
		if (slash && (size_t)(slash - path) == strlen(folder) &&
		    !strncmp(path, folder, strlen(folder)))
			return true;
	}
	return false;
}

/* Leaves out what is hidden; how many bytes are left. */
static size_t sift(const struct brokered *call, const char *folder, char *entries, size_t size)
{
	char path[PATH_MAX + NAME_MAX + 2];
	size_t kept = 0, len = (size_t)snprintf(path, sizeof(path), "%s/", folder);

	for (size_t at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);
		unsigned short step = entry->d_reclen;
		bool dots = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");

		(void)snprintf(path + len, sizeof(path) - len, "%s", entry->d_name);
		if (dots || !launch_broker_hides(call, path)) {
			memmove(entries + kept, entries + at, step);
			kept += step;
		}
		at += step;
	}
	return kept;
}

/* The one folder of a process whose entries the kernel shows to whom it trusts: not to each who opens it. */
static bool is_map(int fd, const char *folder)
{
	static const char name[] = "/map_files";
	size_t len = strlen(folder), name_len = sizeof(name) - 1;

	return len > name_len && !strcmp(folder + len - name_len, name) &&
	       launch_target_is_outside(fd, folder);
}

/* Of the caller's folder, whose place in the listing is shared. */
static enum launch_served list_taken(const struct look *look, int fd)
{
	char entries[LIST_MOST] __attribute__((aligned(8))), *folder = look->call->judge->at.path;
	size_t room = (uint32_t)look->call->args[look->row->more], kept = 0;
	off_t before = lseek(fd, 0, SEEK_CUR);
	enum launch_served served;
	bool sifts;
	long got;

	if (launch_target_name(fd, folder) < 0)
		return launch_broker_done(look->call, -EBADF);
	if (is_map(fd, folder))
		return launch_broker_done(look->call, -EACCES);
	if (!strcmp(folder, "/"))
		folder[0] = '\0';
	sifts = may_hide_in(look->call->judge->image, folder);
	do {
		got = syscall(SYS_getdents64, fd, entries, room < LIST_MOST ? room : LIST_MOST);
		if (got <= 0)
			return launch_broker_done(look->call, got < 0 ? -errno : 0);
		kept = sifts ? sift(look->call, folder, entries, (size_t)got) : (size_t)got;
	} while (!kept);
	served = hand_back(look, entries, kept, (int64_t)kept);
	if (served == SERVED_DONE && look->call->answer->error)
		(void)lseek(fd, before, SEEK_SET);
	return served;
}

static enum launch_served list(const struct look *look)
{
	int fd = launch_target_take(look->call->thread, look->dir);
	enum launch_served served;

	if (fd < 0)
		return launch_broker_done(look->call, fd);
	served = list_taken(look, fd);
	(void)close(fd);
	return served;
}

enum launch_served launch_broker_look(const struct launch_broker *broker,
				      struct launch_judge *judge, enum launch_call_index index,
				      const struct seccomp_notif *asked,
				      struct launch_answer *answer)
{
	const struct launch_look *row = launch_call_look(index);
	struct brokered call = launch_broker_take(broker, judge, index, asked, answer);
	struct look look = { .call = &call, .row = row, .watcher = -1 };
	enum launch_served served;

	if (row->flags >= 0)
		call.flags = (uint32_t)call.args[row->flags];
	look.dir = row->dir < 0 ? AT_FDCWD : (int)call.args[row->dir];
	look.nofollow = call.flags & AT_SYMLINK_NOFOLLOW || row->act == LOOK_LSTAT ||
			row->act == LOOK_READLINK ||
			(row->act == LOOK_WATCH && call.args[row->more] & IN_DONT_FOLLOW);
	judge->thread = call.thread;
	served = row->act == LOOK_LIST ? list(&look) : look_at(&look);
	if (look.watcher >= 0)
		(void)close(look.watcher);
	return served;
}
