/* SPDX-License-Identifier: MIT */
/* Does what doer.h says, until its standard input ends. Built with a loader and without. */
#include "doer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER 100
#define FILE_FD 101
#define NO_FD 999
#define PAGE 4096

static const char *root;
static char *edge; /* two pages; behind them there is nothing */

static int dir_of(enum doer_dir dir)
{
	static const int numbers[DIR_COUNT] = { AT_FDCWD, FOLDER, FILE_FD, NO_FD };

	return numbers[dir];
}

/* A path in memory, where it is to be. */
static const char *place(enum doer_place where, const char *text, char whole[2 * DOER_PATH])
{
	size_t len;

	snprintf(whole, 2 * DOER_PATH, "%s%s", *text == *DOER_TEXT ? root : "",
		 *text == *DOER_TEXT ? text + 1 : text);
	len = strlen(whole) + 1;
	switch (where) {
	case AT_NULL:
		return NULL;
	case AT_ONE:
		return (const char *)1;
	case AT_NOTHING:
		return edge + 2 * PAGE;
	case AT_THE_END:
		if (len > 2 * PAGE)
			len = 2 * PAGE;
		memcpy(edge + 2 * PAGE - len, whole, len);
		return edge + 2 * PAGE - len;
	default:
		return whole;
	}
}

static long do_openat2(const struct doer_case *what, const char *path)
{
	static char bytes[2 * PAGE];
	struct open_how how = { .flags = what->flags,
				.mode = what->mode,
				.resolve = what->resolve };
	void *at = bytes;

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, &how, sizeof(how));
	if (what->dirty)
		bytes[sizeof(how) + 7] = 1;
	if (what->how_place == AT_NULL)
		at = NULL;
	else if (what->how_place == AT_NOTHING)
		at = edge + 2 * PAGE - 8;
	/* Whoever renames anything meanwhile makes ".." below a folder EAGAIN: then it is tried again. */
	for (int i = 0;; i++) {
		long result = syscall(SYS_openat2, dir_of(what->dir), path, at, what->size);

		if (result >= 0 || errno != EAGAIN || what->resolve & RESOLVE_CACHED || i == 1000)
			return result;
	}
}

static long do_raw(const struct doer_case *what, const char *path, const char *to)
{
	int dir = dir_of(what->dir), to_dir = dir_of(what->to_dir);

	switch (what->call) {
#ifdef SYS_open
	case DO_OPEN:
		return syscall(SYS_open, path, (int)what->flags, (mode_t)what->mode);
	case DO_CREAT:
		return syscall(SYS_creat, path, (mode_t)what->mode);
	case DO_RENAME:
		return syscall(SYS_rename, path, to);
	case DO_LINK:
		return syscall(SYS_link, path, to);
	case DO_UNLINK:
		return syscall(SYS_unlink, path);
	case DO_RMDIR:
		return syscall(SYS_rmdir, path);
#else
	case DO_OPEN:
		return open(path, (int)what->flags, (mode_t)what->mode);
	case DO_CREAT:
		return creat(path, (mode_t)what->mode);
	case DO_RENAME:
		return rename(path, to);
	case DO_LINK:
		return link(path, to);
	case DO_UNLINK:
		return unlink(path);
	case DO_RMDIR:
		return rmdir(path);
#endif
	case DO_OPENAT:
		return syscall(SYS_openat, dir, path, (int)what->flags, (mode_t)what->mode);
	case DO_RENAMEAT2:
		return syscall(SYS_renameat2, dir, path, to_dir, to, (unsigned int)what->flags);
	case DO_LINKAT:
		return syscall(SYS_linkat, dir, path, to_dir, to, (int)what->flags);
	case DO_UNLINKAT:
		return syscall(SYS_unlinkat, dir, path, (int)what->flags);
	case DO_MKDIR:
		return syscall(SYS_mkdirat, dir, path, (mode_t)what->mode);
	case DO_MKNOD:
		return syscall(SYS_mknodat, dir, path, (mode_t)what->mode, 0);
	case DO_SYMLINK:
		return syscall(SYS_symlinkat, to, dir, path);
	case DO_TRUNCATE:
		return syscall(SYS_truncate, path, what->length);
	default:
		return do_openat2(what, path);
	}
}

static long do_plain(const struct doer_case *what, const char *path, const char *to)
{
	int dir = dir_of(what->dir), to_dir = dir_of(what->to_dir);

	switch (what->call) {
	case DO_OPEN:
		return open(path, (int)what->flags, (mode_t)what->mode);
	case DO_OPENAT:
		return openat(dir, path, (int)what->flags, (mode_t)what->mode);
	case DO_CREAT:
		return creat(path, (mode_t)what->mode);
	case DO_RENAME:
		return rename(path, to);
	case DO_RENAMEAT2:
		return renameat2(dir, path, to_dir, to, (unsigned int)what->flags);
	case DO_LINK:
		return link(path, to);
	case DO_LINKAT:
		return linkat(dir, path, to_dir, to, (int)what->flags);
	case DO_UNLINK:
		return unlink(path);
	case DO_UNLINKAT:
		return unlinkat(dir, path, (int)what->flags);
	case DO_RMDIR:
		return rmdir(path);
	case DO_MKDIR:
		return mkdirat(dir, path, (mode_t)what->mode);
	case DO_MKNOD:
		return mknodat(dir, path, (mode_t)what->mode, 0);
	case DO_SYMLINK:
		return symlinkat(to, dir, path);
	case DO_TRUNCATE:
		return truncate(path, what->length);
	default:
		return do_openat2(what, path);
	}
}

/* What can be told of a descriptor. */
static void examine(const struct doer_case *what, const char *to, int fd,
		    struct doer_result *result)
{
	struct stat st;
	char link[32];

	result->descriptor_flags = fcntl(fd, F_GETFD);
	result->status_flags = fcntl(fd, F_GETFL);
	if (fstat(fd, &st) == 0) {
		result->mode = st.st_mode;
		result->size = S_ISREG(st.st_mode) ? st.st_size : 0;
	}
	/* Not to a disk: that takes its time, and would show nothing more. */
	if (S_ISREG(st.st_mode) && !(result->status_flags & O_SYNC)) {
		for (int i = 0; i < 2; i++) {
			if (lseek(fd, 0, SEEK_SET) < 0 || write(fd, "zz", 2) < 0)
				result->offsets[i] = -errno;
			else
				result->offsets[i] = lseek(fd, 0, SEEK_CUR);
		}
	}
	if (what->links) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (linkat(AT_FDCWD, link, AT_FDCWD, to, AT_SYMLINK_FOLLOW) < 0)
			result->link_error = errno;
	}
	close(fd);
}

static void perform(const struct doer_case *what, struct doer_result *result)
{
	static char path_text[2 * DOER_PATH], to_text[2 * DOER_PATH];
	const char *path = place(what->place, what->path, path_text);
	const char *to =
		place(what->place == AT_THE_END ? AT_ITS_PLACE : what->to_place, what->to, to_text);
	long value;

	memset(result, 0, sizeof(*result));
	umask(what->mask);
	value = what->raw ? do_raw(what, path, to) : do_plain(what, path, to);
	result->value = value < 0 ? -errno : value;
	umask(0);
	if (value >= 0 && what->call <= DO_CREAT)
		examine(what, to, (int)value, result);
}

/* Numbers that are always there. The folder may not be. */
static void enter(const struct doer_case *what)
{
	int fd = open(what->base, O_PATH | O_DIRECTORY);

	if (fd >= 0)
		dup2(fd, FOLDER);
	close(fd);
}

int main(int argc, char *argv[])
{
	static struct doer_case what;
	struct doer_result result = { 0 };
	int file;

	root = argc > 1 ? argv[1] : ".";
	edge = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (edge == MAP_FAILED || munmap(edge + 2 * PAGE, PAGE) < 0 || chdir(root) < 0)
		return 3;
	file = open("/dev/null", O_RDONLY);
	if (dup2(file, FILE_FD) < 0 || close(file) < 0 ||
	    write(STDOUT_FILENO, &result, sizeof(result)) != sizeof(result))
		return 3;
	for (;;) {
		size_t got = 0;
		ssize_t part = 0;

		while (got < sizeof(what) &&
		       (part = read(STDIN_FILENO, (char *)&what + got, sizeof(what) - got)) > 0)
			got += (size_t)part;
		if (got < sizeof(what))
			return part == 0 && !got ? 0 : 3;
		enter(&what);
		perform(&what, &result);
		close(FOLDER);
		if (write(STDOUT_FILENO, &result, sizeof(result)) != sizeof(result))
			return 3;
	}
}
