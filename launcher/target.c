/* SPDX-License-Identifier: MIT */
/*
 * Looks at a thread of the program through /proc and process_vm_readv().
 *
 * A path is first given to the kernel, which walks it in one call and says where it ended. What it
 * cannot be asked is walked name by name (resolve.c): what is missing, and what leads through /proc,
 * where links mean something else for each process.
 *
 * Must never open a file for anything but its name (O_PATH): that blocks for nobody, and has no
 * effect. Keeps no descriptor.
 */
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u /* no architecture has smaller ones */

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

int launch_target_string(pid_t thread, uint64_t at, char out[PATH_MAX])
{
	size_t done = 0;

	while (done < PATH_MAX) {
		size_t piece = PAGE - (size_t)((at + done) % PAGE);
		const char *end;
		ssize_t got;

		if (piece > PATH_MAX - done)
			piece = PATH_MAX - done;
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

pid_t launch_target_process(pid_t thread)
{
	char path[64], text[1024];
	const char *line;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return thread;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, "\nTgid:");
	return line ? (pid_t)strtol(line + strlen("\nTgid:"), NULL, 10) : thread;
}

/* The name that a descriptor of ours, or a folder of the thread's, has in /proc. */
static int read_name(const char *link, char out[PATH_MAX])
{
	ssize_t len = readlink(link, out, PATH_MAX - 1);

	if (len < 0)
		return -errno;
	out[len] = '\0';
	return (int)len;
}

static void name_base(pid_t thread, int dir, char link[64])
{
	if (dir == AT_FDCWD)
		(void)snprintf(link, 64, "/proc/%d/cwd", (int)thread);
	else
		(void)snprintf(link, 64, "/proc/%d/fd/%d", (int)thread, dir);
}

bool launch_target_is_socket(pid_t thread, int fd)
{
	static const char kind[] = "socket:";
	char link[64], name[PATH_MAX];

	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)thread, fd);
	return read_name(link, name) > 0 && !strncmp(name, kind, strlen(kind));
}

/* What has no name any more is nowhere. */
static bool is_deleted(const char *path, size_t len)
{
	static const char mark[] = " (deleted)";
	size_t mark_len = sizeof(mark) - 1;

	return len > mark_len && !memcmp(path + len - mark_len, mark, mark_len);
}

/* What a descriptor of ours that was opened with O_PATH stands for. */
static int take_found(int fd, unsigned int flags, struct sbx_resolved *out)
{
	struct stat st = { .st_mode = 0 };
	char link[64];
	int len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = read_name(link, out->path);
	if (len < 0 || (!(flags & SBX_RESOLVE_PLACE) && fstat(fd, &st) < 0))
		return len < 0 ? len : -errno;
	/* What is below /proc looks otherwise to others. */
	if (out->path[0] != '/' || is_deleted(out->path, (size_t)len) ||
	    !strncmp(out->path, "/proc/", strlen("/proc/")))
		return -ENOENT;
	out->len = out->existing = (size_t)len;
	out->mode = st.st_mode;
	out->size = S_ISREG(st.st_mode) ? st.st_size : -1;
	out->through_link = out->unseen = out->pinned = false;
	return 0;
}

/* All at once, by the kernel. */
static int find_fast(int from, const char *path, unsigned int flags, uint64_t how,
		     struct sbx_resolved *out)
{
	struct open_how open_how = {
		.flags = O_PATH | O_CLOEXEC | (flags & SBX_RESOLVE_NOFOLLOW ? O_NOFOLLOW : 0),
		.resolve = (how & ~(uint64_t)RESOLVE_CACHED) | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, from, path, &open_how, sizeof(open_how));
	int failed;

	if (fd < 0)
		return -errno;
	failed = take_found(fd, flags, out);
	(void)close(fd);
	return failed;
}

/* With flags of openat2 the kernel alone knows the way. */
static int find_how(const char *base, const char *path, unsigned int flags, uint64_t how,
		    struct sbx_resolved *out)
{
	int from = open(base, O_PATH | O_CLOEXEC);
	int failed = from < 0 ? -errno : find_fast(from, path, flags, how, out);

	if (from >= 0)
		(void)close(from);
	return failed;
}

int launch_target_find(pid_t thread, int dir, const char *path, unsigned int flags, uint64_t how,
		       struct sbx_resolved *out)
{
	char link[64], base[PATH_MAX], whole[2 * PATH_MAX];
	struct sbx_viewer viewer;
	int len = 0;

	name_base(thread, dir, link);
	if (how & ~(uint64_t)RESOLVE_CACHED)
		return find_how(link, path, flags, how, out);
	if (path[0] != '/') {
		len = read_name(link, base);
		if (len < 0 || base[0] != '/')
			return len < 0 ? len : -ENOTDIR;
		memcpy(whole, base, (size_t)len);
		whole[len++] = '/';
	}
	(void)snprintf(whole + len, sizeof(whole) - (size_t)len, "%s", path);
	if (find_fast(AT_FDCWD, whole, flags, 0, out) == 0)
		return 0;
	viewer = (struct sbx_viewer){ launch_target_process(thread), thread };
	return sbx_resolve_as(&viewer, base, *path ? path : base, flags, out);
}
