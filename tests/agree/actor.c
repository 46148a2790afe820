/* SPDX-License-Identifier: MIT */
/*
 * Does what actor.h says, in the spelling that is asked for, until its standard input ends. Built
 * with a loader and without. Keeps nothing from one act to the next: no descriptor, no folder.
 */
#include "actor.h"

#include "contract.h"

#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char *const no_variables[] = { NULL };

/* The folder that relative paths start from. */
static int folder_of(const struct actor_case *what)
{
	return what->by_descriptor && *what->base ? ACTOR_FOLDER : AT_FDCWD;
}

/* Of the act that is being done. */
static uint32_t seen;

static int see_names(int fd)
{
	_Alignas(struct dirent64) char bytes[2048];
	long got = 0;

	while (fd >= 0 && (got = syscall(SYS_getdents64, fd, bytes, sizeof(bytes))) > 0)
		for (long at = 0; at < got;) {
			const struct dirent64 *entry = (const void *)(bytes + at);

			seen += actor_name(entry->d_name);
			at += entry->d_reclen;
		}
	return got < 0 ? -1 : 0;
}

static int see_stream(DIR *stream)
{
	const struct dirent *entry;

	while (stream && (entry = readdir(stream)))
		seen += actor_name(entry->d_name);
	return stream ? closedir(stream) : -1;
}

static int done_with(int fd)
{
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static int done_with_open(const struct actor_case *what, int fd)
{
	int failed = what->act == ACT_LIST ? see_names(fd) : 0;

	return done_with(fd) < 0 ? -1 : failed;
}

static int done_with_stream(FILE *stream)
{
	return stream ? fclose(stream) : -1;
}

static int open_other(const struct actor_case *what, int flags)
{
	struct open_how how = { .flags = (uint64_t)flags, .mode = flags & O_CREAT ? 0600 : 0 };

	switch (what->act) {
	case ACT_READ:
		return done_with_stream(fopen(what->path, "re"));
	case ACT_BOTH:
		return done_with_stream(fopen(what->path, "r+e"));
	case ACT_CREATE:
		return done_with_stream(fopen(what->path, "w+xe"));
	case ACT_THROUGH:
		return done_with(creat(what->path, 0600));
	case ACT_LIST:
		return see_stream(opendir(what->path));
	default:
		return done_with(
			(int)syscall(SYS_openat2, AT_FDCWD, what->path, &how, sizeof(how)));
	}
}

static int do_open(const struct actor_case *what)
{
	int flags = acts[what->act].open | O_CLOEXEC, folder = folder_of(what);

	switch (what->how) {
	case HOW_OTHER:
		return open_other(what, flags);
	case HOW_AT:
		return done_with_open(what, openat(folder, what->path, flags, 0600));
#ifdef SYS_open
	case HOW_RAW:
		return done_with_open(what, (int)syscall(SYS_open, what->path, flags, 0600));
#endif
	case HOW_RAW_AT:
		return done_with_open(what,
				      (int)syscall(SYS_openat, folder, what->path, flags, 0600));
	default:
		return done_with_open(what, open(what->path, flags, 0600));
	}
}

static int do_at(const struct actor_case *what)
{
	const char *path = what->path, *to = what->to;
	int folder = folder_of(what);

	switch (what->act) {
	case ACT_MKDIR:
		return mkdirat(folder, path, 0700);
	case ACT_SYMLINK:
		return symlinkat("anywhere", folder, path);
	case ACT_FIFO:
		return mkfifoat(folder, path, 0600);
	case ACT_NODE:
		return mknodat(folder, path, S_IFREG | 0600, 0);
	case ACT_UNLINK:
		return unlinkat(folder, path, 0);
	case ACT_RMDIR:
		return unlinkat(folder, path, AT_REMOVEDIR);
	case ACT_RENAME:
		return renameat(folder, path, folder, to);
	case ACT_EXCHANGE:
		return renameat2(folder, path, folder, to, RENAME_EXCHANGE);
	case ACT_LINK:
		return linkat(folder, path, folder, to, 0);
	default:
		return act_call(what->act, path, to);
	}
}

static long do_raw_at(const struct actor_case *what)
{
	const char *path = what->path, *to = what->to;
	int folder = folder_of(what);

	switch (what->act) {
	case ACT_MKDIR:
		return syscall(SYS_mkdirat, folder, path, 0700);
	case ACT_SYMLINK:
		return syscall(SYS_symlinkat, "anywhere", folder, path);
	case ACT_FIFO:
		return syscall(SYS_mknodat, folder, path, S_IFIFO | 0600, 0);
	case ACT_NODE:
		return syscall(SYS_mknodat, folder, path, S_IFREG | 0600, 0);
	case ACT_UNLINK:
		return syscall(SYS_unlinkat, folder, path, 0);
	case ACT_RMDIR:
		return syscall(SYS_unlinkat, folder, path, AT_REMOVEDIR);
	case ACT_RENAME:
		return syscall(SYS_renameat2, folder, path, folder, to, 0);
	case ACT_EXCHANGE:
		return syscall(SYS_renameat2, folder, path, folder, to, RENAME_EXCHANGE);
	case ACT_LINK:
		return syscall(SYS_linkat, folder, path, folder, to, 0);
	case ACT_TRUNCATE:
		return syscall(SYS_truncate, path, 0);
	default:
		return act_call(what->act, path, to);
	}
}

#ifdef SYS_open
static long do_raw(const struct actor_case *what)
{
	const char *path = what->path, *to = what->to;

	switch (what->act) {
	case ACT_MKDIR:
		return syscall(SYS_mkdir, path, 0700);
	case ACT_SYMLINK:
		return syscall(SYS_symlink, "anywhere", path);
	case ACT_FIFO:
		return syscall(SYS_mknod, path, S_IFIFO | 0600, 0);
	case ACT_NODE:
		return syscall(SYS_mknod, path, S_IFREG | 0600, 0);
	case ACT_UNLINK:
		return syscall(SYS_unlink, path);
	case ACT_RMDIR:
		return syscall(SYS_rmdir, path);
	case ACT_RENAME:
		return syscall(SYS_rename, path, to);
	case ACT_LINK:
		return syscall(SYS_link, path, to);
	default:
		return do_raw_at(what);
	}
}
#else
static long do_raw(const struct actor_case *what)
{
	return do_raw_at(what);
}
#endif

static long do_call(const struct actor_case *what)
{
	switch (what->how) {
	case HOW_AT:
		return do_at(what);
	case HOW_RAW:
		return do_raw(what);
	case HOW_RAW_AT:
		return do_raw_at(what);
	case HOW_OTHER:
		if (what->act == ACT_UNLINK)
			return remove(what->path);
		if (what->act == ACT_TRUNCATE)
			return truncate64(what->path, 0);
		return act_call(what->act, what->path, what->to);
	default:
		return act_call(what->act, what->path, what->to);
	}
}

/* --- Looks --- */

/* How large a folder is depends on what was in it once. */
static long see_stat(long result, const struct stat *st)
{
	if (result == 0)
		seen = S_ISREG(st->st_mode) ? actor_mix(actor_mix(actor_mix(1, st->st_mode),
								  (uint64_t)st->st_size),
							st->st_nlink)
					    : actor_mix(1, st->st_mode);
	return result;
}

static long do_statx(const struct actor_case *what)
{
	int flags = what->act == ACT_LSTAT ? AT_SYMLINK_NOFOLLOW : 0;
	struct statx more;
	long result = statx(AT_FDCWD, what->path, flags, STATX_BASIC_STATS, &more);
	struct stat st = { .st_mode = more.stx_mode,
			   .st_size = (off_t)more.stx_size,
			   .st_nlink = more.stx_nlink };

	return see_stat(result, &st);
}

static long do_stat(const struct actor_case *what)
{
	bool follows = what->act == ACT_STAT;
	int flags = follows ? 0 : AT_SYMLINK_NOFOLLOW;
	const char *path = what->path;
	struct stat st;

	switch (what->how) {
	case HOW_OTHER:
		return do_statx(what);
	case HOW_AT:
		return see_stat(fstatat(folder_of(what), path, &st, flags), &st);
#ifdef SYS_stat
	case HOW_RAW:
		return see_stat(syscall(follows ? SYS_stat : SYS_lstat, path, &st), &st);
#endif
	case HOW_RAW_AT:
		return see_stat(syscall(SYS_newfstatat, folder_of(what), path, &st, flags), &st);
	default:
		return see_stat(follows ? stat(path, &st) : lstat(path, &st), &st);
	}
}

static long do_access(const struct actor_case *what)
{
	switch (what->how) {
	case HOW_OTHER:
		return access(what->path, W_OK);
	case HOW_AT:
		return faccessat(folder_of(what), what->path, X_OK, 0);
#ifdef SYS_access
	case HOW_RAW:
		return syscall(SYS_access, what->path, R_OK);
#endif
	case HOW_RAW_AT:
		return syscall(SYS_faccessat, folder_of(what), what->path, F_OK);
	default:
		return access(what->path, R_OK);
	}
}

/* Where an absolute link leads differs in one letter from tree to tree. */
static long do_readlink(const struct actor_case *what)
{
	char text[ACTOR_PATH];
	long len;

	switch (what->how) {
	case HOW_AT:
		len = readlinkat(folder_of(what), what->path, text, sizeof(text));
		break;
#ifdef SYS_readlink
	case HOW_RAW:
		len = syscall(SYS_readlink, what->path, text, sizeof(text));
		break;
#endif
	case HOW_RAW_AT:
		len = syscall(SYS_readlinkat, folder_of(what), what->path, text, sizeof(text));
		break;
	default:
		len = readlink(what->path, text, sizeof(text));
	}
	if (len > 0)
		seen = actor_mix(actor_mix(1, (uint64_t)len), (unsigned char)text[len - 1]);
	return len;
}

static long do_look(const struct actor_case *what)
{
	switch (what->act) {
	case ACT_STAT:
	case ACT_LSTAT:
		return do_stat(what);
	case ACT_ACCESS:
		return do_access(what);
	case ACT_READLINK:
		return do_readlink(what);
	default:
		return what->how == HOW_RAW ? syscall(SYS_chdir, what->path) : chdir(what->path);
	}
}

/* --- All of it --- */

/* Only returns: nothing here is a program. ENOEXEC says that it may be executed. */
static int do_exec(const struct actor_case *what)
{
	char *const argv[] = { (char *)(uintptr_t)what->path, NULL };

	if (what->how == HOW_AT)
		(void)execveat(folder_of(what), what->path, argv, no_variables, 0);
	else if (what->how == HOW_RAW)
		(void)syscall(SYS_execve, what->path, argv, no_variables);
	else if (what->how == HOW_RAW_AT)
		(void)syscall(SYS_execveat, folder_of(what), what->path, argv, no_variables, 0);
	else
		(void)execve(what->path, argv, no_variables);
	return errno == ENOEXEC ? 0 : -1;
}

/* An errno. */
static int do_spawn(const struct actor_case *what)
{
	char *const argv[] = { (char *)(uintptr_t)what->path, NULL };
	pid_t pid;
	int code = posix_spawn(&pid, what->path, NULL, NULL, argv, no_variables);

	if (code == 0)
		waitpid(pid, NULL, 0);
	return code == ENOEXEC ? 0 : code;
}

/* An errno, or 0. */
static int perform(const struct actor_case *what)
{
	long result;

	if (what->act == ACT_EXEC)
		result = do_exec(what);
	else if (what->act >= ACT_COUNT)
		result = do_look(what);
	else if (acts[what->act].open >= 0)
		result = do_open(what);
	else
		result = do_call(what);
	return result < 0 ? errno : 0;
}

static int perform_in_child(const struct actor_case *what)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(perform(what));
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return ECHILD;
	return WEXITSTATUS(status);
}

/*
 * Whatever has two paths is done by a process of its own: of one process the log has only the first
 * of several refusals that are about the same path.
 */
static int choose(const struct actor_case *what)
{
	if (what->act == ACT_EXEC && what->how == HOW_OTHER)
		return do_spawn(what);
	if (what->act == ACT_EXEC || acts[what->act].op == SBX_OP_RENAME)
		return perform_in_child(what);
	return perform(what);
}

/* Where the act starts from. O_PATH gives no access to what is in a folder, and is never refused. */
static bool enter(const struct actor_case *what)
{
	int fd;

	if (!*what->base)
		return true;
	if (!what->by_descriptor)
		return chdir(what->base) == 0;
	fd = open(what->base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || dup3(fd, ACTOR_FOLDER, O_CLOEXEC) < 0)
		return false;
	return close(fd) == 0;
}

static void leave(const struct actor_case *what)
{
	if (*what->base && what->by_descriptor)
		close(ACTOR_FOLDER);
	if (((*what->base && !what->by_descriptor) || what->act == ACT_CHDIR) && chdir("/") < 0)
		_exit(3);
}

static bool has_shim(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	bool found = false;
	char line[4096];

	while (maps && fgets(line, sizeof(line), maps))
		found = found || strstr(line, SBX_SHIM_NAME);
	if (maps)
		fclose(maps);
	return found;
}

int main(void)
{
	struct actor_hello hello = { .pid = getpid(), .shim = has_shim() };
	struct actor_case what;

	if (chdir("/") < 0 || write(STDOUT_FILENO, &hello, sizeof(hello)) != sizeof(hello))
		return 3;
	umask(0);
	while (read(STDIN_FILENO, &what, sizeof(what)) == sizeof(what)) {
		struct actor_reply reply;

		seen = 0;
		reply.code = enter(&what) ? choose(&what) : ACTOR_NO_BASE + errno;
		reply.seen = reply.code ? 0 : seen;
		leave(&what);
		if (write(STDOUT_FILENO, &reply, sizeof(reply)) != sizeof(reply))
			return 3;
	}
	return 0;
}
