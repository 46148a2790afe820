/* SPDX-License-Identifier: MIT */
/* --wrap: a small script in front of a tool, so that whoever calls the tool gets it sandboxed. */
#ifndef SBX_LAUNCH_WRAP_H
#define SBX_LAUNCH_WRAP_H

#include "options.h"

/* Writes the wrapper of 'options'; returns the exit status. */
int launch_wrap(const struct launch_options *options);

/*
 * Whether this process is in a sandbox of sbx already. SANDBOX_SBX_IMAGE only says so, and anybody
 * can set it: the kernel is asked too, and what no other sandbox answers like ours.
 */
bool launch_wrap_is_inside(void);

#endif
