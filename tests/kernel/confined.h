/* SPDX-License-Identifier: MIT */
/*
 * For tests that confine themselves for real: what a program can do to a path, as one table; what
 * the engine says of it; and children that do it under a ruleset.
 */
#ifndef CONFINED_H
#define CONFINED_H

#include "../unit/tree.h"
#include "landlock.h"
#include "ops.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#define NOBODY 65534
#define BROKEN 255 /* a child that could not even begin */

enum act {
	ACT_READ,
	ACT_LIST,
	ACT_WRITE,
	ACT_BOTH, /* read and write at once */
	ACT_TRUNCATE,
	ACT_OPEN_TRUNC, /* O_TRUNC on what is opened for reading only */
	ACT_CREATE,
	ACT_THROUGH, /* O_CREAT where a link leads to nothing */
	ACT_MKDIR,
	ACT_SYMLINK,
	ACT_FIFO,
	ACT_SOCKET,
	ACT_NODE,
	ACT_UNLINK,
	ACT_RMDIR,
	ACT_RENAME,
	ACT_EXCHANGE,
	ACT_LINK,
	ACT_EXEC,
	ACT_COUNT
};

static const struct {
	const char *name;
	enum sbx_op op;
	bool nofollow; /* it is about the entry, not about what a link there leads to */
	int open; /* how to open it, for what an open is all that it takes; else -1 */
} acts[ACT_COUNT] = {
	[ACT_READ] = { "read", SBX_OP_READ, false, O_RDONLY },
	[ACT_LIST] = { "list", SBX_OP_LIST, false, O_RDONLY | O_DIRECTORY },
	[ACT_WRITE] = { "write", SBX_OP_WRITE, false, O_WRONLY },
	[ACT_BOTH] = { "read and write", SBX_OP_WRITE, false, O_RDWR },
	[ACT_TRUNCATE] = { "truncate", SBX_OP_WRITE, false, -1 },
	[ACT_OPEN_TRUNC] = { "open and truncate", SBX_OP_WRITE, false, O_RDONLY | O_TRUNC },
	[ACT_CREATE] = { "create", SBX_OP_CREATE, true, O_RDWR | O_CREAT | O_EXCL },
	[ACT_THROUGH] = { "create through a link", SBX_OP_CREATE, false, O_WRONLY | O_CREAT },
	[ACT_MKDIR] = { "mkdir", SBX_OP_CREATE, true, -1 },
	[ACT_SYMLINK] = { "symlink", SBX_OP_CREATE, true, -1 },
	[ACT_FIFO] = { "mkfifo", SBX_OP_CREATE, true, -1 },
	[ACT_SOCKET] = { "bind", SBX_OP_CREATE, true, -1 },
	[ACT_NODE] = { "mknod", SBX_OP_CREATE, true, -1 },
	[ACT_UNLINK] = { "unlink", SBX_OP_DELETE, true, -1 },
	[ACT_RMDIR] = { "rmdir", SBX_OP_DELETE, true, -1 },
	[ACT_RENAME] = { "rename", SBX_OP_RENAME, true, -1 },
	[ACT_EXCHANGE] = { "exchange", SBX_OP_RENAME, true, -1 },
	[ACT_LINK] = { "link", SBX_OP_RENAME, true, -1 },
	[ACT_EXEC] = { "exec", SBX_OP_EXEC, false, -1 },
};

static inline int open_act(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static inline int bind_act(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int result, fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	result = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return result;
}

/* Files to execute hold no program: ENOEXEC says that they may be. */
static inline int exec_act(const char *path)
{
	char *const argv[] = { (char *)(uintptr_t)path, NULL }, *const envp[] = { NULL };

	(void)execve(path, argv, envp);
	return errno == ENOEXEC ? 0 : -1;
}

static inline int act_call(enum act act, const char *path, const char *to)
{
	if (acts[act].open >= 0)
		return open_act(path, acts[act].open);
	switch (act) {
	case ACT_TRUNCATE:
		return truncate(path, 0);
	case ACT_MKDIR:
		return mkdir(path, 0700);
	case ACT_SYMLINK:
		return symlink("anywhere", path);
	case ACT_FIFO:
		return mkfifo(path, 0600);
	case ACT_SOCKET:
		return bind_act(path);
	case ACT_NODE:
		return mknod(path, S_IFREG | 0600, 0);
	case ACT_UNLINK:
		return unlink(path);
	case ACT_RMDIR:
		return rmdir(path);
	case ACT_RENAME:
		return rename(path, to);
	case ACT_EXCHANGE:
		return renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_EXCHANGE);
	case ACT_LINK:
		return link(path, to);
	case ACT_EXEC:
		return exec_act(path);
	default:
		errno = ENOSYS;
		return -1;
	}
}

/* The engine's verdict on one name, or on a move from one to another. */
static inline bool engine_says(const struct sbx_image *image, enum sbx_op op, bool nofollow,
			       const char *path, const char *to, bool is_dir)
{
	unsigned int flags = SBX_RESOLVE_MISSING | (nofollow ? SBX_RESOLVE_NOFOLLOW : 0);
	struct sbx_request request = { .op = op, .size = -1 };
	struct sbx_resolved at, at_to;
	struct sbx_verdict verdict;

	if (sbx_resolve_path("/", path, flags, NULL, &at) < 0)
		return false;
	if (to && sbx_resolve_path("/", to, flags, NULL, &at_to) < 0)
		return false;
	request.path = at.path;
	request.to = to ? at_to.path : NULL;
	request.is_dir = is_dir || S_ISDIR(at.mode);
	sbx_eval(image, &request, &verdict);
	return verdict.allowed;
}

static inline bool engine_allows(const struct sbx_image *image, enum act act, const char *path,
				 const char *to)
{
	/* To create what is there is to write it. */
	bool there = act == ACT_THROUGH && access(path, F_OK) == 0;
	enum sbx_op op = there ? SBX_OP_WRITE : acts[act].op;
	bool allowed = engine_says(image, op, acts[act].nofollow, path, to, act == ACT_MKDIR);

	if (act == ACT_BOTH || act == ACT_OPEN_TRUNC)
		allowed = allowed && engine_says(image, SBX_OP_READ, false, path, NULL, false);
	if (act == ACT_EXCHANGE)
		allowed = allowed && engine_says(image, SBX_OP_RENAME, true, to, path, false);
	return allowed;
}

static inline bool same_folder(const char *a, const char *b)
{
	const unsigned int flags = SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW;
	struct sbx_resolved x, y;
	size_t len;

	if (sbx_resolve_path("/", a, flags, NULL, &x) < 0 ||
	    sbx_resolve_path("/", b, flags, NULL, &y) < 0)
		return false;
	len = (size_t)(strrchr(x.path, '/') - x.path);
	return len == (size_t)(strrchr(y.path, '/') - y.path) && !memcmp(x.path, y.path, len);
}

/* The engine's verdict, less what an old kernel cannot hold or give. */
static inline bool kernel_should(const struct sbx_image *image, int abi, enum act act,
				 const char *path, const char *to)
{
	if (abi < 2 && to && !same_folder(path, to))
		return false;
	if (abi < 3 && act == ACT_TRUNCATE)
		return true;
	if (abi < 3 && act == ACT_OPEN_TRUNC)
		act = ACT_READ;
	return engine_allows(image, act, path, to);
}

/* Runs 'body' in a child, as 'uid' when that is not 0; what it returns is an errno, or 0. */
static inline int in_child(uid_t uid, int (*body)(void *arg), void *arg)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
			_exit(BROKEN);
		_exit(body(arg));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		BAIL_OUT("cannot run a child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

/* 0, or a negative errno with the words on standard error. */
static inline int confine(const struct sbx_image *image, int abi, enum launch_layer layer)
{
	struct launch_error error = { "" };
	int result, ruleset = launch_landlock_build(image, abi, layer, NULL, 0, &error);

	if (ruleset < 0) {
		diag("%s", error.text);
		return ruleset;
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	result = launch_landlock_enforce(ruleset, &error);
	close(ruleset);
	if (result < 0 && result != -E2BIG)
		diag("%s", error.text);
	return result;
}

struct attempt {
	const struct sbx_image *image; /* NULL: unconfined */
	int abi;
	enum act act;
	const char *path;
	const char *to;
};

static inline int attempt_body(void *arg)
{
	const struct attempt *attempt = arg;

	if (attempt->image && confine(attempt->image, attempt->abi, LAYER_PROGRAM) < 0)
		return BROKEN;
	return act_call(attempt->act, attempt->path, attempt->to) < 0 ? errno : 0;
}

static inline bool is_refusal(int code)
{
	return code == EACCES || code == EXDEV || code == EPERM;
}

/* A policy of rules alone: no profile, no default protections. NULL when it is not a good one. */
static inline struct sbx_policy *load_rules(const char *text)
{
	static const struct sbx_assign options[] = {
		{ "sandbox", "include", "none", "--include" },
		{ "sandbox", "protect", "no", "--no-protect" },
	};
	const char *files[] = { tree_file("policy.ini", text, 0600) };
	struct sbx_load load = { .files = files,
				 .file_count = 1,
				 .options = options,
				 .option_count = 2,
				 .trust = true };
	struct sbx_policy *policy;
	struct sbx_errors errors = { 0 };

	if (sbx_load(&load, &policy, &errors) == 0)
		return policy;
	note("%s", errors.count ? errors.list[0].text : "?");
	return NULL;
}

/* A path below the tree, in one of a few buffers that take turns. */
static inline const char *at(const char *format, ...) TAP_FORMAT(1, 2);
static inline const char *at(const char *format, ...)
{
	static char buffers[16][PATH_MAX];
	static unsigned int next;
	char *path = buffers[next++ % 16];
	int len = snprintf(path, PATH_MAX, "%s/", tree_root);
	va_list args;

	va_start(args, format);
	vsnprintf(path + len, PATH_MAX - (size_t)len, format, args);
	va_end(args);
	return path;
}

/* Like tree_begin(), in memory where that can be had: trees are planted by the thousand. */
static inline void tree_begin_fast(void)
{
	char template[] = "/dev/shm/sbx-unit-XXXXXX";

	if (!mkdtemp(template)) {
		tree_begin();
		return;
	}
	if (!realpath(template, tree_root) || chmod(tree_root, 0755) < 0)
		BAIL_OUT("cannot make a folder in /dev/shm");
	tree_owner = getpid();
	atexit(tree_remove);
}

static inline void wipe(const char *path)
{
	char *const roots[] = { (char *)(uintptr_t)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);

	for (FTSENT *entry; fts && (entry = fts_read(fts));)
		if (entry->fts_info != FTS_D)
			remove(entry->fts_accpath);
	if (fts)
		fts_close(fts);
}

/* A folder for a name that ends in '/', else a file that can be executed but holds no program. */
static inline void put(const char *path, uid_t uid)
{
	size_t len = strlen(path);
	int fd;

	if (path[len - 1] == '/') {
		if (mkdir(path, 0755) < 0)
			BAIL_OUT("cannot make %s", path);
	} else {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
		if (fd < 0 || write(fd, "\1\2\3\n", 4) != 4)
			BAIL_OUT("cannot make %s", path);
		close(fd);
	}
	if (uid && chown(path, uid, uid) < 0)
		BAIL_OUT("cannot give %s away", path);
}

static inline void put_link(const char *path, const char *target, uid_t uid)
{
	if (symlink(target, path) < 0 || (uid && lchown(path, uid, uid) < 0))
		BAIL_OUT("cannot make %s", path);
}

#endif
