/* SPDX-License-Identifier: MIT */
/*
 * Takes a call apart, and has it performed by the part that knows how.
 *
 * 1. Nothing is read twice from the caller's memory.
 * 2. A verdict is about the name of something pinned, and what is done is done to what is pinned.
 * 3. A call that is left to the kernel is one that the program's own Landlock layer decides.
 */
#include "broker_call.h"
#include "stand.h"

#include "narrow.h"
#include "repos.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOW_MOST 4096 /* of struct open_how, in the kernel too */
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)
#define OPEN_FLAGS                                                                             \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |  \
	 O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC | \
	 O_PATH | TMPFILE | 0100000)
#define NAME_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) /* that go with O_PATH */
#define RESOLVE_FLAGS                                                                      \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH | \
	 RESOLVE_IN_ROOT | RESOLVE_CACHED)

enum launch_served launch_broker_done(const struct brokered *call, int64_t result)
{
	*call->answer = (struct launch_answer){ .error = result < 0 ? (int)-result : 0,
						.value = result < 0 ? 0 : result };
	return SERVED_DONE;
}

enum launch_served launch_broker_left(const struct brokered *call, int error)
{
	if (call->backed)
		return SERVED_LEFT;
	return launch_broker_done(call, -error);
}

enum launch_served launch_broker_unfound(const struct brokered *call, int failed)
{
	const struct launch_covers *covers = call->judge->covers;

	(void)launch_broker_done(call, failed);
	if (failed != -EACCES || !covers || !covers->count)
		return SERVED_DONE;
	return call->backed ? SERVED_LEFT : SERVED_REFUSED;
}

int launch_broker_path(const struct brokered *call, int8_t arg, char out[PATH_MAX])
{
	int len = launch_judge_text(call->judge, call->thread, call->args[arg], out);

	if (len < 0)
		return len;
	return len ? 0 : -ENOENT;
}

int launch_broker_dir(const struct brokered *call, int8_t arg)
{
	return arg < 0 ? AT_FDCWD : (int)call->args[arg];
}

/* There are files that are called so. */
static bool is_called(int fd, const char *path)
{
	struct stat pinned, there;

	return fstat(fd, &pinned) == 0 && lstat(path, &there) == 0 &&
	       pinned.st_dev == there.st_dev && pinned.st_ino == there.st_ino;
}

int launch_broker_name(const struct brokered *call, int fd, char path[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	int len = launch_target_name(fd, path);
	size_t mark = sizeof(deleted) - 1;

	if (len < 0)
		return len;
	/* The kernel knows who asks, and what that one may do to other processes. */
	if (launch_target_is_outside(fd, path))
		return call->backed ? -ELOOP : -EACCES;
	if (path[0] != '/' ||
	    ((size_t)len > mark && !strcmp(path + len - mark, deleted) && !is_called(fd, path)))
		return -ELOOP;
	if (!launch_stand_has(call->judge->image, fd, path))
		return -EACCES;
	return call->backed && !strncmp(path, "/proc/", strlen("/proc/")) ? -ELOOP : len;
}

/* "/proc/self/fd/5", "/dev/stdin": the caller's descriptor, or -1. */
static int own_descriptor(const char *path)
{
	static const char *const folders[] = { "/proc/self/fd/", "/proc/thread-self/fd/",
					       "/dev/fd/" };
	static const char *const streams[] = { "/dev/stdin", "/dev/stdout", "/dev/stderr" };
	char *end;
	long fd;

	for (int i = 0; i < 3; i++) {
		size_t len = strlen(folders[i]);

		if (!strcmp(path, streams[i]))
			return i;
		if (strncmp(path, folders[i], len) != 0)
			continue;
		fd = strtol(path + len, &end, 10);
		return end != path + len && !*end && fd >= 0 && fd <= INT_MAX ? (int)fd : -1;
	}
	return -1;
}

/* "/proc/self/status" by the caller's number. False for other paths. */
static bool name_self(const struct brokered *call, const char *path, char out[PATH_MAX])
{
	static const char *const names[] = { "/proc/self", "/proc/thread-self" };
	char number[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(path, names[i], len) && path[len] == '/' &&
		    launch_target_view(call->thread, names[i], number) > 0)
			return snprintf(out, PATH_MAX, "/proc/%s%s", number, path + len) < PATH_MAX;
	}
	return false;
}

int launch_broker_pin(const struct brokered *call, int dir, const char *path, int flags,
		      uint64_t how)
{
	char named[PATH_MAX];
	bool own = !strncmp(path, "/proc/", strlen("/proc/")) ||
		   !strncmp(path, "/dev/", strlen("/dev/"));
	int fd;

	/* To say that it is not at hand is always right. */
	if (!call->backed && own && how & RESOLVE_CACHED)
		return -EAGAIN;
	/* Those two are links, and no magic ones. */
	if (!call->backed && how == RESOLVE_NO_MAGICLINKS && name_self(call, path, named))
		return launch_target_open(call->thread, dir, named, flags, how);
	/* Without Landlock we do what the kernel would: also where only the caller sees the way. */
	if (call->backed || !own || how)
		return launch_target_open(call->thread, dir, path, flags, how);
	fd = launch_target_open_own(call->thread, dir, path, flags);
	if (fd == -ELOOP && own_descriptor(path) >= 0)
		fd = launch_target_open(call->thread, own_descriptor(path), "", 0, 0);
	return fd;
}

int launch_broker_pin_own(const struct brokered *call, const char *path)
{
	int own = own_descriptor(path);

	return own < 0 ? -ENOENT : launch_target_open(call->thread, own, "", 0, 0);
}

/* Where the last name of a path begins, and its length; what is behind it is slashes. */
static size_t last_name(const char *path, size_t *len)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	*len = end - start;
	return start;
}

int launch_entry_find(const struct brokered *call, int dir, const char *path, uint64_t how,
		      struct entry *entry)
{
	char folder[PATH_MAX];
	size_t len, start = last_name(path, &len);
	int path_len;

	entry->folder = -1;
	memcpy(folder, path, start);
	if (start + 1 >= sizeof(folder))
		return -ENAMETOOLONG;
	/* As the kernel does, before it looks at the name: who may not search the folder is told so. */
	memcpy(folder + start, ".", 2);
	entry->folder = launch_broker_pin(call, dir, folder, O_DIRECTORY, how);
	if (entry->folder < 0)
		return entry->folder;
	if (!len || (len == 1 && path[start] == '.') ||
	    (len == 2 && !memcmp(path + start, "..", 2)))
		return -EINVAL;
	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	entry->slashed = path[start + len] == '/';
	(void)snprintf(entry->name, sizeof(entry->name), "%.*s%s", (int)len, path + start,
		       entry->slashed ? "/" : "");
	path_len = launch_broker_name(call, entry->folder, entry->path);
	if (path_len < 0)
		return path_len;
	if (path_len == 1)
		path_len = 0;
	if ((size_t)path_len + 1 + len >= sizeof(entry->path))
		return -ENAMETOOLONG;
	(void)snprintf(entry->path + path_len, sizeof(entry->path) - (size_t)path_len, "/%.*s",
		       (int)len, path + start);
	return 0;
}

void launch_entry_close(struct entry *entry)
{
	if (entry->folder >= 0)
		(void)close(entry->folder);
	entry->folder = -1;
}

/* The kernel lets only owners read without a trace, and says so before anything is opened. */
bool launch_broker_owns(int fd, const struct stat *st)
{
	int opened;

	if (st->st_uid != geteuid())
		return false;
	if (st->st_uid != NOBODY || !(S_ISREG(st->st_mode) || S_ISDIR(st->st_mode)))
		return true;
	opened = launch_target_reopen(fd, O_RDONLY | O_NOATIME | O_NONBLOCK | O_CLOEXEC, 0);
	if (opened >= 0)
		(void)close(opened);
	return opened != -EPERM;
}

/* What is hidden gets its words from here: whoever looks once more may find something else. */
static void keep_hidden(const struct brokered *call, const struct sbx_request *request)
{
	const char *path = call->judge->verdict.flags & SBX_VERDICT_TARGET && request->to
				   ? request->to
				   : request->path;

	call->judge->request.op = request->op;
	if (path != call->judge->at.path)
		(void)snprintf(call->judge->at.path, sizeof(call->judge->at.path), "%s", path);
}

bool launch_broker_allows(const struct brokered *call, struct sbx_request *request)
{
	struct launch_judge *judge = call->judge;

	launch_repos_eval(call->broker->repos, judge->image, request, &judge->verdict);
	call->answer->error = judge->verdict.error;
	if (!judge->verdict.allowed && judge->verdict.code == SBX_CODE_HIDDEN)
		keep_hidden(call, request);
	return judge->verdict.allowed;
}

bool launch_broker_may_read(const struct brokered *call, const struct stat *st, const char *given)
{
	struct launch_judge *judge = call->judge;

	judge->request =
		(struct sbx_request){ .op = S_ISDIR(st->st_mode) ? SBX_OP_LIST : SBX_OP_READ,
				      .is_dir = S_ISDIR(st->st_mode),
				      .size = S_ISREG(st->st_mode) ? st->st_size : -1,
				      .path = judge->at.path };
	(void)snprintf(judge->given, sizeof(judge->given), "%s", given);
	return launch_broker_allows(call, &judge->request);
}

bool launch_broker_serves(const struct brokered *call, uint8_t classes)
{
	return !call->backed || call->broker->hides || call->broker->hold->brokered & classes;
}

bool launch_broker_is_held(const struct brokered *call, const char *path, uint8_t classes)
{
	return call->backed && (launch_hold_at(call->broker->hold, path) & classes) == classes;
}

bool launch_broker_is_held_in(const struct brokered *call, const char *path)
{
	char folder[PATH_MAX];
	size_t len = (size_t)(strrchr(path, '/') - path);

	(void)snprintf(folder, sizeof(folder), "%.*s", len ? (int)len : 1, path);
	return launch_broker_is_held(call, folder, HOLD_WRITE | HOLD_CHANGE);
}

void launch_broker_umask(const struct brokered *call)
{
	(void)umask(launch_masks_get(call->broker->masks, call->thread));
}

/* What is behind the fields that we know must be zero, as the kernel has it. */
static int read_how(const struct brokered *call, struct open_how *how)
{
	uint64_t size = call->args[3];
	unsigned char bytes[HOW_MOST];
	int failed;

	if (size < sizeof(*how) || size > sizeof(bytes))
		return size < sizeof(*how) ? -EINVAL : -E2BIG;
	failed = launch_target_bytes(call->thread, call->args[2], bytes, (size_t)size);
	for (size_t i = sizeof(*how); !failed && i < size; i++)
		if (bytes[i])
			failed = -E2BIG;
	if (!failed)
		memcpy(how, bytes, sizeof(*how));
	return failed;
}

static enum launch_served open_how(struct brokered *call)
{
	struct open_how how;
	int failed = read_how(call, &how);

	if (failed)
		return launch_broker_done(call, failed);
	/* What is no open at all, the kernel says before it looks at any path. */
	if (how.flags & ~(uint64_t)OPEN_FLAGS || how.resolve & ~(uint64_t)RESOLVE_FLAGS ||
	    how.mode & ~(uint64_t)07777 || (how.mode && !(how.flags & (O_CREAT | TMPFILE))) ||
	    (how.flags & O_PATH && how.flags & ~(uint64_t)NAME_FLAGS) ||
	    (how.resolve & RESOLVE_BENEATH && how.resolve & RESOLVE_IN_ROOT))
		return launch_broker_left(call, EINVAL);
	return launch_broker_open(call, how.flags, (mode_t)how.mode, how.resolve);
}

static mode_t mode_of(const struct brokered *call, int8_t arg)
{
	return (mode_t)(uint32_t)call->args[arg];
}

static enum launch_served change(struct brokered *call)
{
	switch ((enum sbx_act)call->ask->act) {
	case SBX_ACT_UNLINK:
	case SBX_ACT_RMDIR:
		return launch_broker_remove(call);
	case SBX_ACT_RENAME:
		return launch_broker_rename(call);
	case SBX_ACT_LINK:
		return launch_broker_link(call);
	default:
		return launch_broker_make(call);
	}
}

static enum launch_served serve(struct brokered *call)
{
	switch ((enum sbx_act)call->ask->act) {
	case SBX_ACT_OPEN:
		return launch_broker_open(call, call->flags,
					  mode_of(call, (int8_t)(call->ask->flags + 1)), 0);
	case SBX_ACT_OPEN_HOW:
		return open_how(call);
	case SBX_ACT_CREAT:
		return launch_broker_open(call, O_CREAT | O_WRONLY | O_TRUNC, mode_of(call, 1), 0);
	case SBX_ACT_TRUNCATE:
		return launch_broker_truncate(call);
	case SBX_ACT_MKDIR:
	case SBX_ACT_MKNOD:
	case SBX_ACT_SYMLINK:
	case SBX_ACT_UNLINK:
	case SBX_ACT_RMDIR:
	case SBX_ACT_RENAME:
	case SBX_ACT_LINK:
		return launch_broker_serves(call, HOLD_CHANGE) ? change(call) : SERVED_LEFT;
	case SBX_ACT_BIND:
		/* Without Landlock, what is no file now could be one when the kernel looks. */
		return call->broker->network || !call->backed	 ? launch_broker_bind(call)
		       : launch_broker_serves(call, HOLD_CHANGE) ? launch_broker_bind_file(call)
								 : SERVED_LEFT;
	case SBX_ACT_CONNECT:
		return call->broker->network ? launch_broker_connect(call)
					     : launch_broker_use(call);
	case SBX_ACT_LISTEN:
		return launch_broker_listen(call);
	case SBX_ACT_MODE:
	case SBX_ACT_OWNER:
	case SBX_ACT_OWNER_OF_LINK:
	case SBX_ACT_SECONDS:
	case SBX_ACT_MICROSECONDS:
	case SBX_ACT_NANOSECONDS:
		return launch_broker_change(call);
	case SBX_ACT_MEMFD:
		return launch_broker_memfd(call);
	case SBX_ACT_EXEC:
		return launch_broker_use(call);
	case SBX_ACT_NOTHING:
		break;
	}
	return SERVED_LEFT;
}

/*
 * For who has confined itself further: what the kernel's rules have no word for, nothing else. Calls
 * that go on in the kernel are decided by all its rules; those that must not go on fail.
 */
static enum launch_served serve_narrow(struct brokered *call)
{
	enum sbx_act act = (enum sbx_act)call->ask->act;

	if (act >= SBX_ACT_MODE || (act == SBX_ACT_CONNECT && !call->broker->network))
		return serve(call);
	if (act == SBX_ACT_CONNECT)
		return launch_broker_connect(call);
	if (act == SBX_ACT_OPEN_HOW)
		return launch_broker_done(call, -ENOSYS);
	return act == SBX_ACT_EXEC ? SERVED_LEFT : launch_broker_left(call, EACCES);
}

bool launch_broker_backs(const struct launch_broker *broker, enum launch_call_index index,
			 const __u64 args[6])
{
	const struct sbx_path_call *ask = launch_call_path(index);
	uint64_t flags;

	if (ask->act != SBX_ACT_OPEN)
		return broker->landlock && ask->act != SBX_ACT_TRUNCATE &&
		       ask->act != SBX_ACT_OPEN_HOW &&
		       (ask->act != SBX_ACT_BIND || broker->ports || !broker->network);
	flags = args[ask->flags];
	/* Of the access mode 3 Landlock sees nothing, and of what reads and truncates only the reading. */
	return broker->landlock && (flags & O_PATH || (flags & O_ACCMODE) == O_WRONLY ||
				    (flags & O_ACCMODE) == O_RDWR ||
				    ((flags & O_ACCMODE) == O_RDONLY && !(flags & O_TRUNC)));
}

struct brokered launch_broker_take(const struct launch_broker *broker, struct launch_judge *judge,
				   enum launch_call_index index, const struct seccomp_notif *asked,
				   struct launch_answer *answer)
{
	struct brokered call = { .broker = broker,
				 .judge = judge,
				 .ask = launch_call_path(index),
				 .id = asked->id,
				 .thread = (pid_t)asked->pid,
				 .narrow = launch_narrow_has(broker->narrow, (pid_t)asked->pid),
				 .backed = launch_broker_backs(broker, index, asked->data.args),
				 .answer = answer };

	for (int i = 0; i < 6; i++)
		call.args[i] = asked->data.args[i];
	*answer = (struct launch_answer){ 0 };
	return call;
}

enum launch_served launch_broker_call(const struct launch_broker *broker,
				      struct launch_judge *judge, enum launch_call_index index,
				      const struct seccomp_notif *asked,
				      struct launch_answer *answer)
{
	struct brokered call = launch_broker_take(broker, judge, index, asked, answer);
	enum launch_served served;

	if (call.ask->flags >= 0)
		call.flags = (uint32_t)call.args[call.ask->flags];
	judge->verdict.code = SBX_CODE_ALLOWED;
	served = call.narrow ? serve_narrow(&call) : serve(&call);
	if (served != SERVED_REFUSED || judge->verdict.code != SBX_CODE_HIDDEN)
		return served;
	return launch_broker_hidden(&call, judge->request.op, judge->at.path);
}
