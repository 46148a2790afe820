/* SPDX-License-Identifier: MIT */
/*
 * What a file would be as a program: read from its header before it is started.
 */
#ifndef SHIM_PROGRAM_H
#define SHIM_PROGRAM_H

#include <stdbool.h>

struct shim_program {
	bool foreign; /* of another architecture: the shim is not for it */
	bool floats; /* a static-PIE: the kernel would put it where shared libraries are */
};

/* All false for what cannot be read: the kernel will say more about it. */
struct shim_program shim_program_read(int dir, const char *path, int flags);

/* The path that a "#!" line leads to, in 'out'; false when the file is not such a script. */
#define SHIM_HEAD 256 /* as much as the kernel looks at */
bool shim_program_script(int dir, const char *path, int flags, char out[SHIM_HEAD]);

/*
 * Makes the next exec of this thread put a static-PIE below the quiet zone, and nothing else there.
 * Returns what shim_layout_restore() needs when no exec came of it.
 */
long shim_layout_set(const struct shim_program *program);
void shim_layout_restore(long before);

#endif
