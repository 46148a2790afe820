/* SPDX-License-Identifier: MIT */
/*
 * looks PATH...: looks at each in every way that there is, and says what came of it: of a program that
 * cannot see a file, the same as of one that runs where there is none.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *path;

static void say(const char *call, long result)
{
	if (result < 0)
		printf("%s %s: %s\n", path, call, strerrorname_np(errno));
	else
		printf("%s %s: %ld\n", path, call, result);
}

/* What a descriptor or a look tells, in one number. */
static long told(long failed, const struct stat *st)
{
	if (failed < 0)
		return -1;
	return (long)st->st_mode * 1000000 + (S_ISREG(st->st_mode) ? st->st_size % 1000000 : 0);
}

static void say_open(const char *call, long fd)
{
	struct stat st;

	if (fd < 0) {
		say(call, -1);
		return;
	}
	say(call, told(fstat((int)fd, &st), &st));
	close((int)fd);
}

static void stats(int dir)
{
	static const int flags[] = { 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH, AT_NO_AUTOMOUNT,
				     0x4000000 };
	struct statx x;
	struct stat st;

	say("stat", told(syscall(SYS_stat, path, &st), &st));
	say("lstat", told(syscall(SYS_lstat, path, &st), &st));
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		say("newfstatat", told(syscall(SYS_newfstatat, dir, path, &st, flags[i]), &st));
		if (syscall(SYS_statx, dir, path, flags[i], STATX_BASIC_STATS, &x) < 0)
			say("statx", -1);
		else
			say("statx", x.stx_mode);
	}
	say("statx sync", syscall(SYS_statx, dir, path, 0x6000, STATX_BASIC_STATS, &x));
	say("statx mask", syscall(SYS_statx, dir, path, 0, 0x80000000u, &x));
	say("stat to nowhere", syscall(SYS_newfstatat, dir, path, 8, 0));
}

static void others(int dir)
{
	struct statfs fs;
	char text[4096];
	long len;

	for (int mode = 0; mode < 9; mode++) {
		say("access", syscall(SYS_access, path, mode));
		say("faccessat", syscall(SYS_faccessat, dir, path, mode));
		say("faccessat2", syscall(SYS_faccessat2, dir, path, mode, AT_EACCESS));
	}
	say("faccessat2 nofollow", syscall(SYS_faccessat2, dir, path, 0, AT_SYMLINK_NOFOLLOW));
	say("faccessat2 flags", syscall(SYS_faccessat2, dir, path, 0, 1));
	memset(text, 0, sizeof(text));
	len = syscall(SYS_readlinkat, dir, path, text, sizeof(text));
	say("readlinkat", len);
	printf("%s\n", text);
	say("readlink short", syscall(SYS_readlink, path, text, 2));
	say("readlink none", syscall(SYS_readlink, path, text, 0));
	say("readlink to nowhere", syscall(SYS_readlink, path, 8, 100));
	say("statfs", syscall(SYS_statfs, path, &fs));
	say("statfs to nowhere", syscall(SYS_statfs, path, 8));
}

static void goes(int here)
{
	long gone = syscall(SYS_chdir, path);

	say("chdir", gone);
	if (!gone)
		(void)!fchdir(here);
}

static void watches(void)
{
	static const uint32_t masks[] = { IN_MODIFY, IN_MODIFY | IN_DONT_FOLLOW,
					  IN_MODIFY | IN_ONLYDIR, 0 };
	int fd = inotify_init1(IN_CLOEXEC);

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++) {
		long watch = inotify_add_watch(fd, path, masks[i]);

		say("inotify_add_watch", watch < 0 ? -1 : 0);
		if (watch >= 0)
			inotify_rm_watch(fd, (int)watch);
	}
	close(fd);
	say("inotify_add_watch to none", inotify_add_watch(999, path, IN_MODIFY));
	say("inotify_add_watch to another", inotify_add_watch(0, path, IN_MODIFY));
}

static void opens(int dir)
{
	static const int flags[] = { O_RDONLY,
				     O_WRONLY,
				     O_RDWR,
				     O_RDONLY | O_DIRECTORY,
				     O_RDONLY | O_NOFOLLOW,
				     O_ACCMODE,
				     O_PATH,
				     O_PATH | O_DIRECTORY,
				     O_PATH | O_DIRECTORY | O_CREAT,
				     O_PATH | O_TMPFILE };
	static const uint64_t how[] = { 0,
					RESOLVE_NO_SYMLINKS,
					RESOLVE_NO_MAGICLINKS,
					RESOLVE_BENEATH,
					RESOLVE_IN_ROOT,
					RESOLVE_NO_XDEV,
					1 << 20 };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		say_open(flags[i] & O_PATH ? "open name" : "open",
			 syscall(SYS_open, path, flags[i] | O_NONBLOCK, 0));
		say_open(flags[i] & O_PATH ? "openat name" : "openat",
			 syscall(SYS_openat, dir, path, flags[i] | O_NONBLOCK, 0));
	}
	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++) {
		struct open_how open_how = { .flags = O_RDONLY | O_NONBLOCK, .resolve = how[i] };

		say_open("openat2", syscall(SYS_openat2, dir, path, &open_how, sizeof(open_how)));
	}
	say("truncate", syscall(SYS_truncate, path, -1L));
}

static void uses(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	char *argv[] = { "x", NULL };

	/* Without a path it is a name of another kind, which is always refused. */
	if (*path && strlen(path) < sizeof(address.sun_path)) {
		memcpy(address.sun_path, path, strlen(path));
		say("connect", connect(fd, (struct sockaddr *)&address, sizeof(address)));
	}
	close(fd);
	/* Nothing here can be executed. */
	say("execve", execve(path, argv, argv));
	say("unlink of a folder", syscall(SYS_unlinkat, AT_FDCWD, path, 7));
}

int main(int argc, char **argv)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);

	for (int i = 1; i < argc; i++) {
		path = argv[i];
		stats(AT_FDCWD);
		stats(here);
		stats(999);
		others(AT_FDCWD);
		others(here);
		goes(here);
		watches();
		opens(AT_FDCWD);
		opens(here);
		opens(999);
		uses();
	}
	return 0;
}
