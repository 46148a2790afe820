/* SPDX-License-Identifier: MIT */
/*
 * Names that programs could not look up, as the shim tells of them (see contract.h). Nothing is decided
 * here: the look-up has failed, and all there is to find out is whether the policy is why.
 */
#ifndef SBX_LAUNCH_LOOKUP_H
#define SBX_LAUNCH_LOOKUP_H

#include "judge.h"

#include <pthread.h>

#define LOOKUPS_MOST 64

/* Whether a connect tells of a name; its registers say so. It gets EBADF in any case. */
bool launch_lookup_is_told(const struct seccomp_data *data);

/* Names that are being looked up, each for a while at most; the oldest is forgotten. */
struct launch_lookups {
	pthread_mutex_t lock;
	size_t next;
	struct {
		uint64_t until; /* milliseconds of launch_now() */
		char name[SBX_HOST_MAX];
	} list[LOOKUPS_MOST];
};

/* Whether it is one of these, or one of these with a domain that is searched. */
bool launch_lookups_has(struct launch_lookups *lookups, const char *name);

/*
 * Whether it is a name of this machine, or one that its file of hosts has: that it has no address of
 * some family is nobody's refusal.
 */
bool launch_lookup_is_known(const char *name);

/* Whether the policy refuses the name: then judge->report has all to make words from. */
bool launch_lookup_judge(struct launch_judge *judge, struct launch_lookups *lookups,
			 const struct seccomp_data *data, pid_t thread);

#endif
