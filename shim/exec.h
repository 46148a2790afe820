/* SPDX-License-Identifier: MIT */
/*
 * Programs that are started from here: with the shim in their environment, in the layout that suits
 * them, and with an explanation when they may not be started.
 */
#ifndef SHIM_EXEC_H
#define SHIM_EXEC_H

#include <stdarg.h>
#include <stddef.h>

#include "libc.h"

/* The results are as the kernel gives them: a negative errno, or no return at all. */
long shim_start_path(const char *path, char *const *argv, char *const *envp);
long shim_start_at(int dir, const char *path, char *const *argv, char *const *envp, int flags);
long shim_start_fd(int fd, char *const *argv, char *const *envp);
long shim_start_file(const char *file, char *const *argv, char *const *envp);

/* The argument lists of execl() and its kin. */
enum shim_list {
	SHIM_EXECL,
	SHIM_EXECLE,
	SHIM_EXECLP
};
long shim_start_list(enum shim_list kind, const char *path, const char *first, va_list rest);

/*
 * For what is started inside libc: calls 'work' with the environment that the program shall have,
 * and in its layout. 'list' is the caller's environment; 'path' is NULL where it is not known.
 */
typedef long shim_start_function(void *context, char *const *envp);
long shim_start_inside(const char *path, char *const *list, shim_start_function *work,
		       void *context);

/*
 * Calls 'try' with each path that PATH has for a name without a slash, until it returns something
 * else than "not here". As in libc: the last result, but -EACCES where any one was that.
 */
typedef long shim_search_function(void *context, const char *path);
long shim_search(const char *file, shim_search_function *try, void *context);

#endif
