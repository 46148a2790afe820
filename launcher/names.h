/* SPDX-License-Identifier: MIT */
/*
 * Look-ups of a run: the resolver, and the names that addresses were given out for.
 *
 * Where hosts are allowed by name it is there from the start. Else it begins with the first look-up
 * that comes by TCP, only to say that it is refused: no name is ever asked for then.
 */
#ifndef SBX_LAUNCH_NAMES_H
#define SBX_LAUNCH_NAMES_H

#include "lookup.h"
#include "report.h"
#include "resolver.h"

#include <pthread.h>

struct launch_names_setup {
	const struct sbx_image *image;
	const struct launch_netspace *space; /* of the program's own; NULL: it has none */
	const struct launch_upstream *upstream; /* NULL: no host is allowed by name */
	struct launch_report *report; /* under 'lock' */
	pthread_mutex_t *lock;
};

/* For the rest of the process: the resolver's thread looks at it to the end. */
struct launch_names {
	struct launch_names_setup with;
	pthread_mutex_t starting;
	struct launch_upstream nowhere;
	struct launch_pins *pins; /* good where there is an upstream */
	struct launch_resolver *resolver; /* NULL: it has not begun */
	int door;
	struct launch_lookups lookups; /* that the shim tells of */
};

void launch_names_init(struct launch_names *names, const struct launch_names_setup *setup);
int launch_names_start(struct launch_names *names, struct launch_error *error);

/* The socket at which the resolver hears connections that are meant for any DNS server, or -1. */
int launch_names_door(struct launch_names *names);

#endif
