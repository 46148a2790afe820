/* SPDX-License-Identifier: MIT */
/* One call that is judged; shared by the judge's parts. */
#ifndef SBX_LAUNCH_JUDGE_CALL_H
#define SBX_LAUNCH_JUDGE_CALL_H

#include "judge.h"

/* What is asked, with its arguments at hand. */
struct call {
	struct launch_judge *judge;
	const struct sbx_path_call *ask;
	const uint64_t *args;
	uint64_t flags; /* the argument, or 0 */
};

/* Whether judge->at could be made as it was given: a name that is free, in a folder that is there. */
bool launch_judge_is_new(const struct launch_judge *judge);
/* What the policy says to an operation on judge->at: 0, or the errno. */
int launch_judge_path(struct launch_judge *judge, enum sbx_op op);

/* A socket becomes a file. */
int launch_judge_bind(const struct call *call);

#endif
