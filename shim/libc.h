/* SPDX-License-Identifier: MIT */
/*
 * All that the shim takes from the libc of the program it is in, glibc or musl: each one weak, so
 * that a program starts whatever its libc lacks. tests/lint/may-use.tab has the same list.
 */
#ifndef SHIM_LIBC_H
#define SHIM_LIBC_H

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <unistd.h>

#pragma weak __errno_location
#pragma weak dladdr
#pragma weak dlsym
#pragma weak environ
#pragma weak pthread_setcanceltype
#pragma weak __libc_single_threaded
#pragma weak gnu_get_libc_version

const char *gnu_get_libc_version(void);
extern char __libc_single_threaded;

static inline char **shim_environ(void)
{
	return &environ ? environ : NULL;
}

/* Where glibc and musl differ in what a caller sees, the shim does what the one at hand does. */
static inline bool shim_is_glibc(void)
{
	return gnu_get_libc_version;
}

/*
 * The next function of that name, which is libc's or another library's; NULL when there is none.
 * Looked up at the first call and kept in 'slot'.
 */
void *shim_real(void *_Atomic *slot, const char *name);

#endif
