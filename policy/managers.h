/* SPDX-License-Identifier: MIT */
/*
 * Compile side: what stands behind the shim of a version manager. Nothing is executed.
 */
#ifndef SBX_MANAGERS_H
#define SBX_MANAGERS_H

#include <stdbool.h>
#include <stddef.h>

#include "programs.h"

enum sbx_shim {
	SBX_SHIM_NONE, /* an ordinary program */
	SBX_SHIM_FOUND, /* 'out' names what it starts */
	SBX_SHIM_NOWHERE, /* it starts the system's own program, or nothing that is installed */
};

/* The real path of a regular file that this user may execute, into 'out'. */
bool sbx_program_is_runnable(const char *path, char out[PATH_MAX]);

/*
 * 'found' is how PATH led to the program 'name', 'real' where its links end. Sets 'file' of 'out'
 * when something was found, and 'manager' whenever a shim is in the way; nothing else.
 */
enum sbx_shim sbx_shim_follow(const char *name, const char *found, const char *real,
			      const char *workdir, struct sbx_program *out);

#endif
