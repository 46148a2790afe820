/* SPDX-License-Identifier: MIT */
/*
 * The shim: which file it is, how it gets into the program, and where programs that cannot have it
 * are loaded. Nothing here holds a boundary: it decides how fast the allowed is, and how well the
 * refused is explained.
 */
#ifndef SBX_LAUNCH_PRELOAD_H
#define SBX_LAUNCH_PRELOAD_H

#include "run.h"

/* Where the shim is. NULL, or why it cannot be used. */
const char *launch_preload_find(char path[PATH_MAX]);

/*
 * Finds the shim for a run: launch->shim. Without one, launch->shimless says why, and everything is
 * asked about.
 */
void launch_preload_choose(struct launch *launch);
/* Puts it into launch->env. */
int launch_preload_add(struct launch *launch, struct launch_error *error);

/* For the program's process, once it is known whether somebody listens; does not allocate. */
void launch_preload_settle(struct launch *launch, bool listening);
/* Likewise, before the filters: a static program that the kernel may put anywhere stays out of the
 * quiet zone, where nobody would hear of what it opens. */
void launch_preload_place(const struct launch *launch);

#endif
