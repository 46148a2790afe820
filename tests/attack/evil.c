/* SPDX-License-Identifier: MIT */
/*
 * A hostile library, for LD_PRELOAD and LD_AUDIT: it goes to the kernel on its own, before the
 * program starts and in place of the functions that others may have replaced.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

unsigned la_version(unsigned version);

static void say(const char *text, size_t size)
{
	if (syscall(SYS_write, STDOUT_FILENO, text, size) < 0)
		errno = 0;
}

/* The program's arguments are: attack ID WORLD. */
__attribute__((constructor)) static void loaded(int argc, char **argv)
{
	char target[256], bytes[256];
	long fd, got;

	say("evil: loaded\n", 13);
	if (argc < 3)
		return;
	snprintf(target, sizeof(target), "%s/secret/key", argv[2]);
	if ((fd = syscall(SYS_openat, AT_FDCWD, target, O_RDONLY)) < 0)
		return;
	if ((got = syscall(SYS_read, fd, bytes, sizeof(bytes))) > 0)
		say(bytes, (size_t)got);
	syscall(SYS_close, fd);
}

unsigned la_version(unsigned version)
{
	return version;
}

int evil_open(const char *path, int flags, ...) __asm__("open");

int evil_open(const char *path, int flags, ...)
{
	va_list args;
	int mode = 0;

	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, int);
	va_end(args);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
