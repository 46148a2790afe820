/* SPDX-License-Identifier: MIT */
/*
 * Another library for LD_PRELOAD that stands in front of open, as tools for tracing and faking do, and
 * calls whoever comes next.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int second_open(const char *path, int flags, ...) __asm__("open");

static int calls;

int second_open(const char *path, int flags, ...)
{
	static int (*next)(const char *path, int flags, ...);
	void *function;
	va_list args;
	int mode = 0;

	if (!next) {
		function = dlsym(RTLD_NEXT, "open");
		memcpy(&next, &function, sizeof(next));
	}
	calls++;
	va_start(args, flags);
	if (flags & (O_CREAT | O_TMPFILE))
		mode = va_arg(args, int);
	va_end(args);
	return next(path, flags, mode);
}

__attribute__((destructor)) static void tell(void)
{
	printf("second: %s\n", calls ? "was called" : "was not called");
}
