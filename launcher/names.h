/* SPDX-License-Identifier: MIT */
/*
 * Hosts by name, in a run: the resolver of the program's own network, and the names that addresses
 * were given out for.
 */
#ifndef SBX_LAUNCH_NAMES_H
#define SBX_LAUNCH_NAMES_H

#include "report.h"
#include "resolver.h"

#include <pthread.h>

struct launch_names_setup {
	const struct sbx_image *image;
	const struct launch_netspace *space; /* of the program's own; NULL: it has none */
	const struct launch_upstream *upstream;
	struct launch_report *report; /* under 'lock' */
	pthread_mutex_t *lock;
};

struct launch_names {
	struct launch_names_setup with;
	struct launch_pins *pins;
	struct launch_resolver *resolver;
	int door; /* where the resolver hears connections that are meant for any DNS server */
};

/* For the rest of the process: the resolver's thread looks at it to the end. */
int launch_names_start(struct launch_names *names, const struct launch_names_setup *setup,
		       struct launch_error *error);

#endif
