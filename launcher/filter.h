/* SPDX-License-Identifier: MIT */
/*
 * The base seccomp filter: an allow-list made from syscalls.def.
 *
 * The usual variants are compiled to BPF when sbx is built and only loaded here. [syscalls] deny adds
 * a small filter; allow builds the base filter anew with libseccomp.
 */
#ifndef SBX_LAUNCH_FILTER_H
#define SBX_LAUNCH_FILTER_H

#include "launch.h"

#include <linux/filter.h>

/*
 * Loads the base filter on the calling thread, which must have no_new_privs. 'listening' says that a
 * notify filter follows: refused calls of the EPERM class, and what [syscalls] denies, then pass here
 * and are refused there, in words; without one they are refused here.
 */
int launch_filter_load(const struct sbx_image *image, bool listening, struct launch_error *error);

/* Checks [syscalls] before anything runs: names, groups, and what may be loosened. */
int launch_filter_check(const struct sbx_image *image, struct launch_error *error);

/* The built-in programs, for tests and --doctor. */
const struct sock_fprog *launch_filter_program(bool listening);

/* Rows of syscalls.def. */
enum launch_verdict {
	CALL_ALLOW,
	CALL_REFUSE,
	CALL_ENOSYS,
	CALL_EOPNOTSUPP,
	CALL_ARGS
};
struct launch_call {
	const char *group;
	const char *name;
	int number; /* on this architecture, or negative */
	enum launch_verdict verdict;
	bool loosenable;
	const char *reason;
};
const struct launch_call *launch_calls(size_t *count);
const struct launch_call *launch_call_find(const char *name);

#endif
