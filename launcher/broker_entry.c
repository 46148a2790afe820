/* SPDX-License-Identifier: MIT */
/*
 * Makes, removes, moves and links entries of folders. A folder is pinned, and the kernel is given the
 * last name alone: there is no link on the way any more that could lead elsewhere.
 */
#include "broker_call.h"

#include "repos.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

static enum sbx_op op_of(const struct brokered *call)
{
	switch ((enum sbx_act)call->ask->act) {
	case SBX_ACT_UNLINK:
	case SBX_ACT_RMDIR:
		return SBX_OP_DELETE;
	case SBX_ACT_RENAME:
		return SBX_OP_RENAME;
	case SBX_ACT_BIND:
		return SBX_OP_BIND;
	default:
		return SBX_OP_CREATE;
	}
}

/* Before it can be told by EEXIST or ENOTDIR that something is there. */
static bool is_hidden(const struct brokered *call, int dir, const char *path,
		      enum launch_served *served)
{
	if (!call->broker->hides || !launch_broker_hides_way(call, dir, path, false))
		return false;
	*served = launch_broker_hidden(call, op_of(call), path);
	return true;
}

/* Finds the call's entry; when that is all there is to say of it, 'served' says so. */
static bool find(const struct brokered *call, int8_t dir, int8_t arg, struct entry *entry,
		 enum launch_served *served)
{
	char path[PATH_MAX];
	int failed = launch_broker_path(call, arg, path);

	entry->folder = -1;
	if (!failed && is_hidden(call, launch_broker_dir(call, dir), path, served))
		return false;
	if (!failed)
		failed = launch_entry_find(call, launch_broker_dir(call, dir), path, 0, entry);
	if (!failed)
		return true;
	/* Without a name in the end the kernel says what it says before it asks anybody. */
	*served = failed == -ELOOP || failed == -EINVAL ? launch_broker_left(call, -failed)
							: launch_broker_unfound(call, failed);
	return false;
}

/* That is all that is wrong with it: its folder is there. */
static bool is_too_long(const struct brokered *call, const struct entry *entry,
			enum launch_served served)
{
	return served == SERVED_DONE && call->answer->error == ENAMETOOLONG && entry->folder >= 0;
}

/* The entry itself: with a slash behind it, a link would be followed. */
static bool is_there(const struct entry *entry, struct stat *st)
{
	const char *name = strrchr(entry->path, '/') + 1;

	return fstatat(entry->folder, name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

/* The three calls that make something, with the name that was pinned. */
static int make(const struct brokered *call, const struct entry *entry, const char *text)
{
	int8_t mode = (int8_t)(call->ask->path + 1);
	int failed;

	if (call->ask->act == SBX_ACT_SYMLINK) {
		failed = symlinkat(text, entry->folder, entry->name);
	} else if (call->ask->act == SBX_ACT_MKDIR) {
		launch_broker_umask(call);
		failed = mkdirat(entry->folder, entry->name, (mode_t)call->args[mode]);
	} else {
		launch_broker_umask(call);
		failed = mknodat(entry->folder, entry->name, (mode_t)call->args[mode],
				 (dev_t)call->args[mode + 1]);
	}
	if (failed < 0)
		return -errno;
	if (call->ask->act == SBX_ACT_MKDIR)
		launch_repos_made(call->broker->repos, entry->folder, strrchr(entry->path, '/') + 1,
				  entry->path);
	return 0;
}

static enum launch_served make_entry(const struct brokered *call, const struct entry *entry,
				     const char *text)
{
	struct sbx_request request = { .op = SBX_OP_CREATE,
				       .is_dir = call->ask->act == SBX_ACT_MKDIR,
				       .is_link = call->ask->act == SBX_ACT_SYMLINK,
				       .missing = true,
				       .size = -1,
				       .path = entry->path };

	if (!launch_broker_allows(call, &request))
		return SERVED_REFUSED;
	if (launch_broker_is_held_in(call, entry->path))
		return SERVED_HELD;
	return launch_broker_done(call, make(call, entry, text));
}

/* What no mknod() makes, the kernel says before it looks at any path. */
static int check_type(const struct brokered *call)
{
	mode_t type = (mode_t)call->flags & S_IFMT;

	if (call->ask->act != SBX_ACT_MKNOD || !type || S_ISREG(type) || S_ISCHR(type) ||
	    S_ISBLK(type) || S_ISFIFO(type) || S_ISSOCK(type))
		return 0;
	return S_ISDIR(type) ? -EPERM : -EINVAL;
}

enum launch_served launch_broker_make(struct brokered *call)
{
	enum launch_served served;
	struct entry entry;
	char text[PATH_MAX] = "";
	int failed = check_type(call);

	/* A link's text is no path: it may be anything but empty. */
	if (call->ask->act == SBX_ACT_SYMLINK)
		failed = launch_broker_path(call, 0, text);
	if (failed)
		return launch_broker_done(call, failed);
	if (find(call, call->ask->dir, call->ask->path, &entry, &served))
		served = make_entry(call, &entry, text);
	launch_entry_close(&entry);
	return served;
}

/*
 * A folder for unlink(), or something else for rmdir(), or "file/". Landlock would refuse it before the kernel finds
 * that; but remove() of the C library goes on to rmdir() after EISDIR alone.
 */
static bool is_other_kind(const struct brokered *call, const struct entry *entry,
			  const struct stat *st, int flags)
{
	const struct launch_covers *covers = call->judge->covers;

	if (S_ISDIR(st->st_mode) == !!(flags & AT_REMOVEDIR) &&
	    (S_ISDIR(st->st_mode) || !entry->slashed))
		return false;
	if (faccessat(entry->folder, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return true;
	return errno == EROFS && covers && launch_covers_over(covers, entry->path);
}

static enum launch_served remove_entry(const struct brokered *call, const struct entry *entry,
				       int flags)
{
	struct sbx_request request = { .op = SBX_OP_DELETE, .size = -1, .path = entry->path };
	struct stat st;

	if (!is_there(entry, &st))
		return launch_broker_done(call, -errno);
	request.is_dir = S_ISDIR(st.st_mode);
	if (!launch_broker_allows(call, &request))
		return is_other_kind(call, entry, &st, flags)
			       ? launch_broker_done(call, request.is_dir ? -EISDIR : -ENOTDIR)
			       : SERVED_REFUSED;
	if (launch_broker_is_held_in(call, entry->path))
		return SERVED_HELD;
	return launch_broker_done(call,
				  unlinkat(entry->folder, entry->name, flags) < 0 ? -errno : 0);
}

enum launch_served launch_broker_remove(struct brokered *call)
{
	int flags = call->ask->act == SBX_ACT_RMDIR ? AT_REMOVEDIR : (int)call->flags;
	enum launch_served served;
	struct entry entry;

	if (flags & ~AT_REMOVEDIR)
		return launch_broker_done(call, -EINVAL);
	if (find(call, call->ask->dir, call->ask->path, &entry, &served))
		served = remove_entry(call, &entry, flags);
	launch_entry_close(&entry);
	return served;
}

/*
 * What is moved may be exchanged for something else until it is moved. So it is asked as a folder and
 * as a file, and both must be allowed. Where only what is there now may go, whoever moves it is told
 * to copy, as between file systems: SERVED_DONE. SERVED_HELD: it may be moved.
 */
static enum launch_served may_move(const struct brokered *call, const struct entry *from,
				   const struct entry *to, bool is_dir)
{
	struct sbx_request request = { .op = SBX_OP_RENAME,
				       .is_dir = is_dir,
				       .size = -1,
				       .path = from->path,
				       .to = to->path };

	if (!launch_broker_allows(call, &request))
		return SERVED_REFUSED;
	request.is_dir = !is_dir;
	return launch_broker_allows(call, &request) ? SERVED_HELD
						    : launch_broker_done(call, -EXDEV);
}

static bool is_above(const char *folder, const char *path)
{
	size_t len = strlen(folder);

	return !strncmp(folder, path, len) && path[len] == '/';
}

/* What the kernel says before it asks anybody. */
static int check_move(const struct entry *from, bool is_dir, const struct entry *to, bool to_dir,
		      unsigned int flags)
{
	bool exchanges = flags & RENAME_EXCHANGE;

	if (exchanges && !to_dir && to->slashed)
		return -ENOTDIR;
	if (!is_dir && (from->slashed || (!exchanges && to->slashed)))
		return -ENOTDIR;
	if (is_above(from->path, to->path))
		return -EINVAL;
	if (is_above(to->path, from->path))
		return exchanges ? -EINVAL : -ENOTEMPTY;
	return 0;
}

static bool may_change(const struct entry *entry)
{
	return faccessat(entry->folder, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

static enum launch_served move(const struct brokered *call, const struct entry *from,
			       const struct entry *to)
{
	unsigned int flags = (unsigned int)call->flags;
	enum launch_served served;
	struct stat st, other;
	bool there;
	int failed;

	if (!is_there(from, &st))
		return launch_broker_done(call, -errno);
	there = is_there(to, &other);
	if (there ? flags & RENAME_NOREPLACE : flags & RENAME_EXCHANGE)
		return launch_broker_done(call, there ? -EEXIST : -errno);
	failed = check_move(from, S_ISDIR(st.st_mode), to, there && S_ISDIR(other.st_mode), flags);
	if (failed)
		return launch_broker_done(call, failed);
	served = may_move(call, from, to, S_ISDIR(st.st_mode));
	if (served != SERVED_REFUSED && flags & RENAME_EXCHANGE) {
		bool copies = served == SERVED_DONE;

		/* A rule that refuses it is worth more than the advice to copy. */
		served = may_move(call, to, from, S_ISDIR(other.st_mode));
		if (copies && served == SERVED_HELD)
			served = launch_broker_done(call, -EXDEV);
	}
	/* What could not be anyway is not refused, and is not for Landlock to answer. */
	if (served == SERVED_REFUSED && there && !(flags & RENAME_EXCHANGE) &&
	    S_ISDIR(st.st_mode) != S_ISDIR(other.st_mode) && may_change(from) && may_change(to))
		return launch_broker_done(call, S_ISDIR(st.st_mode) ? -ENOTDIR : -EISDIR);
	if (served != SERVED_HELD || (launch_broker_is_held_in(call, from->path) &&
				      launch_broker_is_held_in(call, to->path)))
		return served;
	return launch_broker_done(call, syscall(SYS_renameat2, from->folder, from->name, to->folder,
						to->name, flags) < 0
						? -errno
						: 0);
}

/* What the kernel is left to answer for its first path must not tell of its second. */
static void hide_second(const struct brokered *call, enum launch_served *served)
{
	char path[PATH_MAX];

	if (*served == SERVED_LEFT && launch_broker_path(call, call->ask->to_path, path) == 0)
		(void)is_hidden(call, launch_broker_dir(call, call->ask->to_dir), path, served);
}

/*
 * Finds both. The kernel finds both folders before it looks for names, and the first name before the
 * second: so a name that is too long is told of last.
 */
static bool find_both(const struct brokered *call, struct entry *from, struct entry *to,
		      enum launch_served *served)
{
	bool found = find(call, call->ask->dir, call->ask->path, from, served);
	struct stat st;

	if (!found && !is_too_long(call, from, *served)) {
		hide_second(call, served);
		return false;
	}
	if (find(call, call->ask->to_dir, call->ask->to_path, to, served)) {
		if (!found)
			*served = launch_broker_done(call, -ENAMETOOLONG);
		return found;
	}
	if (found && is_too_long(call, to, *served) && !is_there(from, &st))
		*served = launch_broker_done(call, -errno);
	return false;
}

enum launch_served launch_broker_rename(struct brokered *call)
{
	const unsigned int known = RENAME_NOREPLACE | RENAME_EXCHANGE;
	struct entry from, to = { .folder = -1 };
	enum launch_served served;

	/* A whiteout is a device. */
	if (call->flags & ~(uint64_t)known || call->flags == known)
		return launch_broker_done(call, -EINVAL);
	if (find_both(call, &from, &to, &served))
		served = move(call, &from, &to);
	launch_entry_close(&from);
	launch_entry_close(&to);
	return served;
}

/*
 * The new name may be made, and the file must not gain rights by it. In the same folder, too: rules
 * know names there that Landlock does not.
 */
static bool may_link(const struct brokered *call, const char *from, const char *to, bool is_link)
{
	struct sbx_request create = {
		.op = SBX_OP_CREATE, .is_link = is_link, .missing = true, .size = -1, .path = to
	};
	struct sbx_request move = { .op = SBX_OP_RENAME, .size = -1, .path = from, .to = to };

	if (!launch_broker_allows(call, &create))
		return false;
	if (!from || launch_broker_allows(call, &move))
		return true;
	if (call->judge->verdict.code == SBX_CODE_HIDDEN)
		return false;
	sbx_refuse(&call->judge->verdict, SBX_CODE_REFER, SBX_NONE);
	call->answer->error = call->judge->verdict.error;
	return false;
}

static int link_to(int fd, const struct entry *to)
{
	char link[32];

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, to->folder, to->name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/*
 * Folders get no second name, and the kernel says so after it has looked at that. But whose folder it is
 * comes before whether anything may be made there (fs.protected_hardlinks), and only the kernel knows
 * that: in a user namespace all others look like nobody. Of the rest, it might answer for its rules about us.
 */
static int refuse_folder(int fd, const struct entry *to)
{
	struct stat st;

	if (is_there(to, &st))
		return -EEXIST;
	if (errno != ENOENT)
		return -errno;
	if (to->slashed)
		return -ENOENT;
	return link_to(fd, to) == -EPERM || may_change(to) ? -EPERM : -EACCES;
}

/* The very file that is pinned gets the name. One without any name is the program's own. */
static enum launch_served link_pinned(const struct brokered *call, int fd, const struct entry *to)
{
	char from[PATH_MAX];
	int failed = launch_broker_name(call, fd, from);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return launch_broker_done(call, -errno);
	if (S_ISDIR(st.st_mode))
		return launch_broker_done(call, refuse_folder(fd, to));
	if (failed < 0 && (failed != -ELOOP || st.st_nlink))
		return launch_broker_left(call, failed == -ELOOP ? EXDEV : -failed);
	if (!may_link(call, failed < 0 ? NULL : from, to->path, S_ISLNK(st.st_mode)))
		return SERVED_REFUSED;
	if (failed >= 0 && launch_broker_is_held_in(call, from) &&
	    launch_broker_is_held_in(call, to->path))
		return SERVED_HELD;
	return launch_broker_done(call, link_to(fd, to));
}

static int pin_source(const struct brokered *call, bool *hidden)
{
	int flags = call->flags & AT_SYMLINK_FOLLOW ? 0 : O_NOFOLLOW;
	int dir = launch_broker_dir(call, call->ask->dir), own = -ENOENT;
	char path[PATH_MAX];
	int len = launch_target_string(call->thread, call->args[call->ask->path], path);

	if (len < 0)
		return len;
	if (!len && !(call->flags & AT_EMPTY_PATH))
		return -ENOENT;
	*hidden = len && call->broker->hides &&
		  launch_broker_hides_way(call, dir, path, call->flags & AT_SYMLINK_FOLLOW);
	if (*hidden)
		return -ENOENT;
	if (call->flags & AT_SYMLINK_FOLLOW)
		own = launch_broker_pin_own(call, path);
	return own != -ENOENT ? own : launch_broker_pin(call, dir, path, flags, 0);
}

enum launch_served launch_broker_link(struct brokered *call)
{
	enum launch_served served;
	struct entry to = { .folder = -1 };
	bool hidden = false;
	int fd;

	if (call->flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return launch_broker_done(call, -EINVAL);
	fd = pin_source(call, &hidden);
	if (hidden)
		return launch_broker_hidden(call, SBX_OP_READ, call->judge->at.path);
	if (fd < 0) {
		served = fd == -ELOOP ? launch_broker_left(call, ELOOP)
				      : launch_broker_unfound(call, fd);
		hide_second(call, &served);
		return served;
	}
	if (find(call, call->ask->to_dir, call->ask->to_path, &to, &served))
		served = link_pinned(call, fd, &to);
	launch_entry_close(&to);
	(void)close(fd);
	return served;
}

/*
 * The kernel binds by path alone: the folder is made this thread's own, and the name is the last one.
 * That is also what getsockname() will say.
 */
static int bind_in(const struct brokered *call, const struct entry *entry)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = launch_target_take(call->thread, (int)call->args[0]), failed;

	if (fd < 0)
		return fd;
	/* A part of the path that fitted. */
	memcpy(address.sun_path, entry->name, strnlen(entry->name, sizeof(address.sun_path) - 1));
	launch_broker_umask(call);
	failed = fchdir(entry->folder) < 0 ||
				 bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0
			 ? -errno
			 : 0;
	(void)!chdir("/");
	(void)close(fd);
	return failed;
}

static enum launch_served bind_entry(const struct brokered *call, const struct entry *entry)
{
	struct sbx_request request = {
		.op = SBX_OP_BIND, .missing = true, .size = -1, .path = entry->path
	};

	if (!launch_broker_allows(call, &request))
		return SERVED_REFUSED;
	/* Another thread may have put a TCP socket in its place, which has to be held as well. */
	if (call->backed && launch_broker_is_held_in(call, entry->path))
		return SERVED_HELD;
	return launch_broker_done(call, bind_in(call, entry));
}

/* Of a socket that becomes a file. All else is for others to decide. */
enum launch_served launch_broker_bind_file(struct brokered *call)
{
	size_t len = (size_t)(uint32_t)call->flags, before = offsetof(struct sockaddr_un, sun_path);
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	char path[sizeof(address.sun_path) + 1];
	struct entry entry = { .folder = -1 };
	enum launch_served served;
	int failed;

	if (len <= before || len > sizeof(address))
		return SERVED_LEFT;
	failed = launch_target_bytes(call->thread, call->args[1], &address, len);
	if (failed)
		return launch_broker_done(call, failed);
	if (address.sun_family != AF_UNIX || !address.sun_path[0] ||
	    !launch_target_is_socket(call->thread, (int)call->args[0]))
		return SERVED_LEFT;
	(void)snprintf(path, sizeof(path), "%.*s", (int)(len - before), address.sun_path);
	if (is_hidden(call, AT_FDCWD, path, &served))
		return served;
	failed = launch_entry_find(call, AT_FDCWD, path, 0, &entry);
	if (failed == -ELOOP || failed == -EINVAL)
		served = launch_broker_left(call, -failed);
	else
		served = failed ? launch_broker_done(call, failed) : bind_entry(call, &entry);
	launch_entry_close(&entry);
	return served;
}
