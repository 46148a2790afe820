/* SPDX-License-Identifier: MIT */
/*
 * For tests that confine themselves for real: what the engine says of an act, and children that do
 * it under a ruleset.
 */
#ifndef CONFINED_H
#define CONFINED_H

#include "../unit/tree.h"
#include "acts.h"
#include "landlock.h"
#include "ops.h"
#include "query.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#define NOBODY 65534
#define BROKEN 255 /* a child that could not even begin */

/* One question to the engine, and what it says. */
struct answer {
	enum sbx_op op;
	bool known; /* else the path leads nowhere, and there is no verdict */
	struct sbx_verdict verdict;
	struct sbx_resolved at, to;
};

static inline bool engine_is_new(const char *path)
{
	char place[PATH_MAX];
	struct stat st;

	sbx_repository_of(path, place);
	return lstat(place, &st) < 0;
}

/* About one name, or about a move from one to another; paths are relative to 'cwd'. */
static inline void engine_ask(const struct sbx_image *image, const char *cwd, enum sbx_op op,
			      enum act act, const char *path, const char *to, struct answer *answer)
{
	unsigned int flags = SBX_RESOLVE_MISSING | (acts[act].nofollow ? SBX_RESOLVE_NOFOLLOW : 0);
	struct sbx_request request = { .size = -1 };

	answer->op = op;
	answer->known = sbx_resolve_path(cwd, path, flags, NULL, &answer->at) == 0 &&
			(!to || sbx_resolve_path(cwd, to, flags, NULL, &answer->to) == 0);
	answer->verdict.allowed = false;
	if (!answer->known)
		return;
	/* To create what is there is to write it, and to read a folder is to list it. */
	if (act == ACT_THROUGH && answer->at.mode)
		answer->op = SBX_OP_WRITE;
	if (op == SBX_OP_READ && S_ISDIR(answer->at.mode))
		answer->op = SBX_OP_LIST;
	if (act == ACT_SOCKET)
		answer->op = SBX_OP_BIND;
	request.op = answer->op;
	request.path = answer->at.path;
	request.to = to ? answer->to.path : NULL;
	request.is_dir = act == ACT_MKDIR || S_ISDIR(answer->at.mode);
	request.is_link = act == ACT_SYMLINK;
	request.missing = !answer->at.mode;
	if (answer->op == SBX_OP_READ || answer->op == SBX_OP_WRITE)
		request.size = act == ACT_TRUNCATE ? 0 : answer->at.size;
	sbx_eval(image, &request, &answer->verdict);
	/* There is no repository to protect yet. */
	if (answer->verdict.flags & SBX_VERDICT_REPO && engine_is_new(answer->at.path) &&
	    (!to || engine_is_new(answer->to.path))) {
		request.new_repo = true;
		sbx_eval(image, &request, &answer->verdict);
	}
}

/*
 * A second name is made in a folder, and there the file must not gain rights, as if it were moved;
 * that it cannot be moved is all the same to it.
 */
static inline void engine_ask_link(const struct sbx_image *image, const char *cwd, const char *path,
				   const char *to, struct answer answers[2])
{
	engine_ask(image, cwd, SBX_OP_RENAME, ACT_LINK, path, to, &answers[0]);
	engine_ask(image, cwd, SBX_OP_CREATE, ACT_LINK, to, NULL, &answers[1]);
	/* But nothing in a hidden folder can be moved or linked: there it is not there. */
	if (answers[0].known && !answers[0].verdict.allowed &&
	    answers[0].verdict.code != SBX_CODE_HIDDEN)
		sbx_refuse(&answers[0].verdict, SBX_CODE_REFER, SBX_NONE);
}

/*
 * All that has to be asked about an act: one question, or two. All answers must allow it. The first
 * one has its paths.
 */
static inline size_t engine_asks(const struct sbx_image *image, const char *cwd, enum act act,
				 const char *path, const char *to, struct answer answers[2])
{
	if (act == ACT_LINK) {
		engine_ask_link(image, cwd, path, to, answers);
		return 2;
	}
	engine_ask(image, cwd, acts[act].op, act, path, to, &answers[0]);
	if (act == ACT_BOTH || act == ACT_OPEN_TRUNC)
		engine_ask(image, cwd, SBX_OP_READ, act, path, NULL, &answers[1]);
	else if (act == ACT_EXCHANGE)
		engine_ask(image, cwd, SBX_OP_RENAME, act, to, path, &answers[1]);
	else
		return 1;
	return 2;
}

static inline bool engine_allows(const struct sbx_image *image, enum act act, const char *path,
				 const char *to)
{
	struct answer answers[2];
	size_t count = engine_asks(image, "/", act, path, to, answers);

	return answers[0].verdict.allowed && (count == 1 || answers[1].verdict.allowed);
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

/*
 * Like tree_begin(), in memory where that can be had: trees are planted by the thousand. What is
 * there must be possible to execute.
 */
static inline void tree_begin_fast(void)
{
	char template[] = "/dev/shm/sbx-unit-XXXXXX";
	struct statvfs memory;

	if (statvfs("/dev/shm", &memory) < 0 || (memory.f_flag & ST_NOEXEC) || !mkdtemp(template)) {
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

	for (FTSENT *entry; fts && (entry = fts_read(fts));) {
		if (entry->fts_info == FTS_D)
			chmod(entry->fts_accpath, 0700);
		else
			remove(entry->fts_accpath);
	}
	if (fts)
		fts_close(fts);
}

#define PUT_BYTES "\1\2\3\n"

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
		if (fd < 0 || write(fd, PUT_BYTES, strlen(PUT_BYTES)) < 0)
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
