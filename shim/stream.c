/* SPDX-License-Identifier: MIT */
/*
 * What follows an open inside libc that was refused. It must never call the libc function again: a
 * freopen() that failed has closed its stream.
 */
#include "stream.h"

#include "call.h"
#include "explain.h"

#include <fcntl.h>

int shim_mode_flags(const char *mode)
{
	int flags = O_RDONLY;
	char first = *mode;

	if (first == 'w' || first == 'a')
		flags = O_WRONLY | O_CREAT | (first == 'w' ? O_TRUNC : O_APPEND);
	for (; *mode && *mode != ','; mode++) {
		if (*mode == '+')
			flags = (flags & ~O_ACCMODE) | O_RDWR;
		if (*mode == 'e')
			flags |= O_CLOEXEC;
	}
	return flags;
}

/* What writes was asked about by the kernel: only what reads is ever quiet. */
void shim_open_failed(const char *path, int flags)
{
	struct shim_call call = { SYS_openat, { AT_FDCWD, (long)path, flags } };
	int error = shim_errno();
	long result = -error;

	if (!path || !shim_is_refusal(result))
		return;
	if ((flags & (O_ACCMODE | O_CREAT | O_TRUNC)) == O_RDONLY) {
		result = shim_ask(&call, result);
		if (result >= 0)
			(void)shim_raw(SYS_close, result, 0, 0, 0, 0, 0);
	} else if (shim_explains()) {
		(void)shim_explain(&call, &result);
	}
	shim_set_errno(error);
}

void shim_mkdir_failed(const char *path)
{
#if SHIM_HAS_OLD_CALLS
	struct shim_call call = { SYS_mkdir, { (long)path } };
#else
	struct shim_call call = { SYS_mkdirat, { AT_FDCWD, (long)path } };
#endif
	int error = shim_errno();
	long result = -error;

	if (path && shim_is_refusal(result) && shim_explains())
		(void)shim_explain(&call, &result);
	shim_set_errno(error);
}
