/* SPDX-License-Identifier: MIT */
/* The one way in which the launcher's parts say what went wrong. */
#include "launch.h"

#include <stdio.h>

int launch_fail(struct launch_error *error, int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return -code;
}
