/* SPDX-License-Identifier: MIT */
/*
 * The base seccomp filter: an allow-list made from syscalls.def.
 *
 * Where somebody listens it is one program with the notify filter (listen.h). The one that stands
 * alone is compiled to BPF when sbx is built and only loaded here: [syscalls] deny adds a small
 * filter, allow builds it anew.
 */
#ifndef SBX_LAUNCH_FILTER_H
#define SBX_LAUNCH_FILTER_H

#include "launch.h"

#include <linux/filter.h>

struct launch_wishes;

/*
 * Loads the base filter on the calling thread, which must have no_new_privs, for a run without a
 * listener: it refuses by itself.
 */
int launch_filter_load(const struct launch_wishes *wishes, struct launch_error *error);

/* Checks [syscalls] before anything runs: names, groups, and what may be loosened. */
int launch_filter_check(const struct sbx_image *image, struct launch_error *error);

/* The built-in program of it, for --doctor too. */
extern const struct sock_fprog launch_filter_standalone;

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
