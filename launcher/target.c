/* SPDX-License-Identifier: MIT */
/*
 * Looks at a thread of the program through /proc and process_vm_readv().
 *
 * A path is first given to the kernel, which walks it in one call and says where it ended. What it
 * cannot be asked is walked name by name (resolve.c): what is missing, and what leads through /proc,
 * where links mean something else for each process.
 *
 * Must never open a file for anything but its name (O_PATH): that blocks for nobody, and has no
 * effect. Keeps no descriptor but those of two folders of /proc.
 */
#include "target.h"

#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

/* Newer than the system's headers. */
#ifndef PIDFD_THREAD
#define PIDFD_THREAD O_EXCL
#endif

#define PAGE 4096u /* no architecture has smaller ones */
#define PROC_BLOCK 1024 /* of every file of a procfs, and of few others */
/* Lines, and bytes: who has more goes by what cannot be told. */
#define MAPS_MOST 4096
#define MAPS_BYTES (1u << 20)

static int proc = -1; /* /proc, */
static int names = -1; /* and our own fd in it */

void launch_target_init(void)
{
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	names = open("/proc/self/fd", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* How many bytes were copied, or a negative errno. */
static ssize_t copy(pid_t thread, uint64_t at, void *out, size_t size)
{
	struct iovec here = { out, size }, there = { (void *)(uintptr_t)at, size };
	ssize_t got = process_vm_readv(thread, &here, 1, &there, 1, 0);

	if (got >= 0)
		return got;
	return errno == EPERM || errno == ESRCH ? -EPERM : -EFAULT;
}

int launch_target_bytes(pid_t thread, uint64_t at, void *out, size_t size)
{
	ssize_t got = copy(thread, at, out, size);

	if (got < 0)
		return (int)got;
	return (size_t)got == size ? 0 : -EFAULT;
}

int launch_target_text(pid_t thread, uint64_t at, char *out, size_t size)
{
	size_t done = 0;

	while (done < size) {
		size_t piece = PAGE - (size_t)((at + done) % PAGE);
		const char *end;
		ssize_t got;

		if (piece > size - done)
			piece = size - done;
		got = copy(thread, at + done, out + done, piece);
		if (got <= 0)
			return got < 0 ? (int)got : -EFAULT;
		end = memchr(out + done, '\0', (size_t)got);
		if (end)
			return (int)(end - out);
		if ((size_t)got < piece)
			return -EFAULT;
		done += piece;
	}
	return -ENAMETOOLONG;
}

int launch_target_string(pid_t thread, uint64_t at, char out[PATH_MAX])
{
	return launch_target_text(thread, at, out, PATH_MAX);
}

int launch_target_write(pid_t thread, uint64_t at, const void *bytes, size_t size)
{
	struct iovec here = { (void *)(uintptr_t)bytes, size };
	struct iovec there = { (void *)(uintptr_t)at, size };
	ssize_t put = size ? process_vm_writev(thread, &here, 1, &there, 1, 0) : 0;

	if (put < 0)
		return errno == EPERM || errno == ESRCH ? -EPERM : -EFAULT;
	return (size_t)put == size ? 0 : -EFAULT;
}

/* Reads a number from the thread's status, behind a word and in some base; -1 when there is none. */
static long read_status(pid_t thread, const char *word, int base)
{
	char path[64], text[1024];
	const char *line;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "%d/status", (int)thread);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, word);
	return line ? strtol(line + strlen(word), NULL, base) : -1;
}

pid_t launch_target_process(pid_t thread)
{
	long process = read_status(thread, "\nTgid:", 10);

	return process > 0 ? (pid_t)process : thread;
}

long launch_target_umask(pid_t thread)
{
	return read_status(thread, "\nUmask:", 8);
}

/* A line of maps: "7f1c00-7f1d00 r-xp 00000000 08:01 1234 /lib/libc.so.6". */
static bool spans(const char *line, uint64_t at)
{
	char *end;

	return at >= strtoull(line, &end, 16) && *end == '-' && at < strtoull(end + 1, NULL, 16);
}

bool launch_target_code(pid_t thread, uint64_t at, char out[PATH_MAX])
{
	char path[64], line[PATH_MAX + 128];
	const char *name = NULL;
	size_t lines = 0, bytes = 0;
	FILE *maps;
	int fd;

	(void)snprintf(path, sizeof(path), "%d/maps", (int)thread);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	maps = fd < 0 ? NULL : fdopen(fd, "r");
	while (maps && !name && lines++ < MAPS_MOST && bytes < MAPS_BYTES &&
	       fgets(line, sizeof(line), maps)) {
		name = spans(line, at) ? strchr(line, '/') : NULL;
		bytes += strlen(line);
	}
	if (name)
		(void)snprintf(out, PATH_MAX, "%.*s", (int)strcspn(name, "\n"), name);
	if (maps)
		(void)fclose(maps);
	else if (fd >= 0)
		(void)close(fd);
	return name;
}

int launch_target_take(pid_t thread, int fd)
{
	int pidfd = (int)syscall(SYS_pidfd_open, thread, PIDFD_THREAD), copy;

	/* Before 6.9 there is none for a thread, but for the first one. */
	if (pidfd < 0)
		pidfd = (int)syscall(SYS_pidfd_open, launch_target_process(thread), 0);
	if (pidfd < 0)
		return -errno;
	copy = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	if (copy < 0)
		copy = -errno;
	(void)close(pidfd);
	return copy;
}

/* What a descriptor of ours, or a folder of the thread's, is called. */
static int read_name(int dir, const char *link, char out[PATH_MAX])
{
	ssize_t len = readlinkat(dir, link, out, PATH_MAX - 1);

	if (len < 0)
		return -errno;
	out[len] = '\0';
	return (int)len;
}

bool launch_target_is_library(pid_t thread, uint64_t at)
{
	char code[PATH_MAX], link[64], program[PATH_MAX];

	(void)snprintf(link, sizeof(link), "%d/exe", (int)thread);
	return launch_target_code(thread, at, code) && read_name(proc, link, program) >= 0 &&
	       strcmp(code, program) != 0;
}

static void name_base(pid_t thread, int dir, char link[64])
{
	if (dir == AT_FDCWD)
		(void)snprintf(link, 64, "%d/cwd", (int)thread);
	else
		(void)snprintf(link, 64, "%d/fd/%d", (int)thread, dir);
}

bool launch_target_is_socket(pid_t thread, int fd)
{
	static const char kind[] = "socket:";
	char link[64], name[PATH_MAX];

	name_base(thread, fd, link);
	return read_name(proc, link, name) > 0 && !strncmp(name, kind, strlen(kind));
}

/* What has no name any more is nowhere. */
static bool is_deleted(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	size_t mark_len = sizeof(mark) - 1;

	return len > mark_len && !memcmp(path + len - mark_len, mark, mark_len);
}

/* What a descriptor of ours that was opened with O_PATH stands for; -ELOOP: it has to be walked to. */
static int take_found(int fd, unsigned int flags, struct sbx_resolved *out)
{
	struct stat st = { .st_mode = 0 };
	int len = launch_target_name(fd, out->path);

	if (len < 0 || (!(flags & SBX_RESOLVE_PLACE) && fstat(fd, &st) < 0))
		return len < 0 ? len : -errno;
	/* What is below /proc looks otherwise to others. */
	if (out->path[0] != '/' || is_deleted(out->path, (size_t)len) ||
	    !strncmp(out->path, "/proc/", strlen("/proc/")))
		return -ELOOP;
	out->len = out->existing = (size_t)len;
	out->mode = st.st_mode;
	out->size = S_ISREG(st.st_mode) ? st.st_size : -1;
	out->through_link = out->unseen = out->pinned = false;
	return 0;
}

int launch_target_name(int fd, char out[PATH_MAX])
{
	char link[16];

	(void)snprintf(link, sizeof(link), "%d", fd);
	return read_name(names, link, out);
}

int launch_target_reopen(int fd, int flags, mode_t mode)
{
	char link[16];
	int opened;

	(void)snprintf(link, sizeof(link), "%d", fd);
	opened = openat(names, link, flags, mode);
	return opened < 0 ? -errno : opened;
}

int launch_target_chmod(int fd, mode_t mode)
{
	char link[16];

	(void)snprintf(link, sizeof(link), "%d", fd);
	return fchmodat(names, link, mode, 0) < 0 ? -errno : 0;
}

static int open_found(int from, const char *path, int flags, uint64_t how)
{
	struct open_how open_how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
		.resolve = (how & ~(uint64_t)RESOLVE_CACHED) | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, from, path, &open_how, sizeof(open_how));

	return fd < 0 ? -errno : fd;
}

/* From the folder itself: where its name is too long, or leads through what we may not search. */
static int open_from(const char *link, const char *path, int flags, uint64_t how)
{
	int from = openat(proc, link, O_PATH | O_CLOEXEC), fd;

	/* The folder that a thread works in is always there: it was a descriptor. */
	if (from < 0 && (path[0] != '/' || how & RESOLVE_IN_ROOT))
		return errno == ENOENT ? -EBADF : -errno;
	if (!*path)
		return from;
	fd = open_found(from, path, flags, how);
	(void)close(from);
	return fd;
}

/* The path from "/" on: in 'whole', which has room for it and for the folder's. */
static int make_whole(const char *link, const char *path, char whole[2 * PATH_MAX])
{
	int len = 0;

	if (path[0] != '/') {
		len = read_name(proc, link, whole);
		if (len < 0 || whole[0] != '/')
			return len < 0 ? len : -ENOTDIR;
		if (is_deleted(whole, (size_t)len))
			return -ENOENT;
		whole[len++] = '/';
	}
	(void)snprintf(whole + len, PATH_MAX, "%s", path);
	return 0;
}

/* Where links lead to what only the thread itself has. */
static bool may_be_own(const char *path)
{
	return !strncmp(path, "/proc/", strlen("/proc/")) ||
	       !strncmp(path, "/dev/", strlen("/dev/"));
}

int launch_target_open_own(pid_t thread, int dir, const char *path, int flags)
{
	struct sbx_viewer viewer = { .process = launch_target_process(thread), .thread = thread };
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags),
				.resolve = RESOLVE_NO_SYMLINKS };
	struct sbx_resolved found;
	char link[64], base[PATH_MAX] = "/";
	int failed, fd;

	name_base(thread, dir, link);
	if (path[0] != '/' && (failed = read_name(proc, link, base)) < 0)
		return failed;
	failed = sbx_resolve_as(&viewer, base, path, flags & O_NOFOLLOW ? SBX_RESOLVE_NOFOLLOW : 0,
				&found);
	if (failed || found.pinned)
		return failed ? failed : -ELOOP;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, found.path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int launch_target_open(pid_t thread, int dir, const char *path, int flags, uint64_t how)
{
	char link[64], whole[2 * PATH_MAX];
	int fd;

	name_base(thread, dir, link);
	/* Only one flag makes a path from the root depend on where it starts. */
	if (how & ~(uint64_t)RESOLVE_CACHED && path[0] == '/' && !(how & RESOLVE_IN_ROOT))
		return open_found(AT_FDCWD, path, flags, how);
	if (how & ~(uint64_t)RESOLVE_CACHED || !*path || make_whole(link, path, whole) < 0)
		return open_from(link, path, flags, how);
	fd = open_found(AT_FDCWD, whole, flags, 0);
	if ((fd == -EACCES || fd == -ENAMETOOLONG) && path[0] != '/')
		return open_from(link, path, flags, how);
	if (fd == -ELOOP || (fd == -ENOENT && may_be_own(whole)))
		return launch_target_open_own(thread, dir, path, flags);
	return fd;
}

static int find_fast(pid_t thread, int dir, const char *path, unsigned int flags, uint64_t how,
		     struct sbx_resolved *out)
{
	int fd = launch_target_open(thread, dir, path,
				    flags & SBX_RESOLVE_NOFOLLOW ? O_NOFOLLOW : 0, how);
	int failed = fd < 0 ? fd : take_found(fd, flags, out);

	if (fd >= 0)
		(void)close(fd);
	return failed;
}

int launch_target_find(pid_t thread, int dir, const char *path, unsigned int flags, uint64_t how,
		       struct sbx_resolved *out)
{
	int failed = find_fast(thread, dir, path, flags, how, out);
	struct sbx_viewer viewer;
	char link[64], base[PATH_MAX];

	/* With flags of openat2 the kernel alone knows the way. */
	if (!failed || how & ~(uint64_t)RESOLVE_CACHED)
		return failed;
	/* What is not there for us is not there for the thread. */
	if ((failed == -ENOENT || failed == -ENOTDIR) && !(flags & SBX_RESOLVE_MISSING) &&
	    !may_be_own(path))
		return failed;
	viewer = (struct sbx_viewer){ .process = launch_target_process(thread), .thread = thread };
	name_base(thread, dir, link);
	if (path[0] != '/' && (failed = read_name(proc, link, base)) < 0)
		return failed;
	if (path[0] != '/' && base[0] != '/')
		return -ENOTDIR;
	return sbx_resolve_as(&viewer, base, *path ? path : base, flags, out);
}

int launch_target_whole(pid_t thread, int dir, const char *path, char out[2 * PATH_MAX])
{
	char link[64];

	name_base(thread, dir, link);
	return make_whole(link, path, out);
}

int launch_target_plain(const char *path, int flags)
{
	return open_found(AT_FDCWD, path, flags, RESOLVE_NO_SYMLINKS);
}

int launch_target_view(pid_t thread, const char *path, char out[PATH_MAX])
{
	if (!strcmp(path, "/proc/self"))
		return snprintf(out, PATH_MAX, "%d", (int)launch_target_process(thread));
	if (!strcmp(path, "/proc/thread-self"))
		return snprintf(out, PATH_MAX, "%d/task/%d", (int)launch_target_process(thread),
				(int)thread);
	return 0;
}

bool launch_target_is_foreign(const char *path)
{
	const char *number = path + strlen("/proc/");
	char *end;
	long pid = strtol(number, &end, 10);

	if (end == number || (*end && *end != '/'))
		return false;
	return pid <= 0 || pid > INT_MAX || !launch_tree_is_below(getpid(), (pid_t)pid);
}

/* Two files lie on the same file system. */
static bool is_beside(int fd, const struct statx *st)
{
	struct stat other;

	return fstat(fd, &other) == 0 && major(other.st_dev) == st->stx_dev_major &&
	       minor(other.st_dev) == st->stx_dev_minor;
}

/*
 * What kind of file system it is, a server may have to be asked, which takes its time, or does not answer.
 * So that is only asked about what looks like a procfs; and what cannot be told is one.
 */
bool launch_target_is_outside(int fd, const char *path)
{
	bool below = !strncmp(path, "/proc/", strlen("/proc/"));
	struct statfs system;
	struct statx st;

	if (below && launch_target_is_foreign(path))
		return true;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, 0, &st) < 0)
		return true;
	if (st.stx_dev_major || st.stx_blksize != PROC_BLOCK)
		return false;
	if (fstatfs(fd, &system) == 0 && system.f_type != PROC_SUPER_MAGIC)
		return false;
	return !(below || !strcmp(path, "/proc")) || !is_beside(proc, &st);
}

/* Below /proc, or behind a link of it that only its owner can follow. */
static int open_seen(pid_t thread, const char *link, const char *path, int flags)
{
	struct sbx_viewer viewer = { .process = launch_target_process(thread), .thread = thread };
	struct open_how how = { .flags = (uint64_t)(O_PATH | O_CLOEXEC | flags) };
	struct sbx_resolved found;
	char base[PATH_MAX] = "/";
	int failed, fd;

	if (path[0] != '/' && (failed = read_name(proc, link, base)) < 0)
		return failed;
	failed = sbx_resolve_as(&viewer, base, path, flags & O_NOFOLLOW ? SBX_RESOLVE_NOFOLLOW : 0,
				&found);
	if (failed)
		return failed;
	if (found.pinned && launch_target_is_foreign(found.path))
		return -EACCES;
	how.resolve = found.pinned ? 0 : RESOLVE_NO_SYMLINKS;
	fd = (int)syscall(SYS_openat2, AT_FDCWD, found.path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int launch_target_look(pid_t thread, int dir, const char *path, int flags)
{
	int fd = launch_target_open(thread, dir, path, flags, 0);
	char link[64], name[PATH_MAX];

	if (fd < 0 && fd != -ELOOP)
		return fd;
	if (fd >= 0 && (!*path || launch_target_name(fd, name) < 0 ||
			strncmp(name, "/proc/", strlen("/proc/")) != 0))
		return fd;
	if (fd >= 0)
		(void)close(fd);
	name_base(thread, dir, link);
	return open_seen(thread, link, path, flags);
}
