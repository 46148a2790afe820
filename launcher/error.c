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

const char *launch_where(const struct sbx_image *image, uint32_t file, uint32_t line, char out[300])
{
	const char *name = file == SBX_NONE ? "sbx" : sbx_str(image, sbx_files(image)[file].name);

	if (line)
		(void)snprintf(out, 300, "%.256s:%u", name, line);
	else
		(void)snprintf(out, 300, "%.256s", name);
	return out;
}
