/* SPDX-License-Identifier: MIT */
/*
 * Compile side: which file really runs when somebody types a program's name, past the shims of
 * pyenv, rbenv, asdf, volta, and through the links of nvm and fnm. Nothing is executed.
 */
#ifndef SBX_PROGRAMS_H
#define SBX_PROGRAMS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct sbx_program {
	char file[PATH_MAX]; /* the real file, links resolved */
	char prefix[PATH_MAX]; /* its own installation folder; empty when it is the system's */
	char manager[PATH_MAX]; /* the version manager's folder; empty when none is in the way */
};

/*
 * Looks 'name' up in 'path_list' (a PATH; NULL: the environment's). 'workdir' is where version
 * files such as .python-version are looked for, upwards. 0, or -ENOENT.
 */
int sbx_program_find(const char *name, const char *path_list, const char *workdir,
		     struct sbx_program *out);

/*
 * How a wrapper begins that 'sbx-launch --wrap' wrote, and what follows the launcher's name in it.
 * Wrappers stand in front of programs in PATH; whoever looks for a program looks past them.
 */
#define SBX_WRAPPER_START "#!/bin/sh\nexec '"
#define SBX_WRAPPER_MARK "' --wrapped \"$0\" "
bool sbx_program_is_wrapper(const char *path);

/* The bundled profile for a command ("node" for /usr/bin/node), or NULL. */
const char *sbx_program_profile(const char *command);

#endif
