/* SPDX-License-Identifier: MIT */
/*
 * sbx-launch: what its parts share. Each part has a header of its own; this one has the error that
 * all of them fill, and the description of a run.
 *
 * Functions return 0 or a negative errno and leave a sentence in the caller's struct launch_error.
 * Only main.c prints errors and exits.
 */
#ifndef SBX_LAUNCH_H
#define SBX_LAUNCH_H

#include "query.h"

#include <stdarg.h>
#include <sys/types.h>

enum {
	EXIT_USAGE = 2,
	EXIT_TIMEOUT = 124,
	EXIT_LAUNCH = 125,
	EXIT_CANNOT_RUN = 126,
	EXIT_NOT_FOUND = 127,
	EXIT_LIMIT = 137
};

/* What went wrong, as one sentence in the style of the policy's errors: failure first, then a hint. */
struct launch_error {
	char text[1024];
};

int launch_fail(struct launch_error *error, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4))); /* returns -code */

/* "policy.ini:12", or the file's name alone where there are no lines. Returns 'out'. */
const char *launch_where(const struct sbx_image *image, uint32_t file, uint32_t line,
			 char out[300]);

/* How much is said on standard error. */
enum launch_voice {
	VOICE_NOTHING,
	VOICE_QUIET,
	VOICE_NORMAL,
	VOICE_VERBOSE
};

#endif
