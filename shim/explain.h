/* SPDX-License-Identifier: MIT */
/*
 * Where nobody listens, the shim explains by itself, from the compiled policy.
 */
#ifndef SHIM_EXPLAIN_H
#define SHIM_EXPLAIN_H

#include "call.h"

/* Whether this process is to explain its refusals. */
bool shim_explains(void);

/*
 * The policy's opinion about a call that was refused. When the policy refuses it too, says so on
 * descriptor 2, once, sets 'result' to what the caller shall see, and returns true.
 */
bool shim_explain(const struct shim_call *call, long *result);

#endif
