/* SPDX-License-Identifier: MIT */
#include "wrap.h"
int launch_wrap(const struct launch_options *options)
{
	(void)options;
	return EXIT_LAUNCH;
}
