/* SPDX-License-Identifier: MIT */
/* The environment of the program: rebuilt from a safe set, credentials filtered, secrets passed. */
#ifndef SBX_LAUNCH_ENV_H
#define SBX_LAUNCH_ENV_H

#include "launch.h"

/*
 * A fresh array in one allocation (free() the pointer): what [env] lets pass of 'from', what it sets,
 * 'extra' ("TMPDIR=/…"), which wins, and of 'fallback' what is then still missing. Secret files are written into 'secret_dir' (0400) and
 * announced as NAME_FILE; NULL when there is no private tmp, then secret_file is an error. policy
 * files' own 'set' beats that of includes and profiles.
 */
int launch_env_build(const struct sbx_image *image, char *const *from, char *const *extra,
		     char *const *fallback, const char *secret_dir, char ***env,
		     struct launch_error *error);

/* Whether a variable passes by itself, and why not ("a credential"), for -v and show --env. */
bool launch_env_passes(const struct sbx_image *image, const char *name, const char **why);

#endif
