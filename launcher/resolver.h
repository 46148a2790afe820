/* SPDX-License-Identifier: MIT */
/*
 * The sandbox's resolver: a thread of the supervisor that answers the DNS queries of the program's
 * network, for allowed names only, and pins the addresses that it gives out.
 *
 * A name that is not allowed never leaves the machine, so that nothing can be told to anybody by
 * asking for it. It is answered with NXDOMAIN: REFUSED and SERVFAIL make clients ask again.
 */
#ifndef SBX_LAUNCH_RESOLVER_H
#define SBX_LAUNCH_RESOLVER_H

#include "netspace.h"
#include "pins.h"
#include "upstream.h"

#define LAUNCH_LOOKUPS_MOST 256 /* under way at once */
#define LAUNCH_STREAMS_MOST 32 /* clients by TCP */

struct launch_resolver_setup {
	const struct launch_netspace *space; /* its doors belong to the resolver from now on */
	const struct launch_upstream *upstream; /* to the end */
	struct launch_pins *pins;
	/* Whether a normalised name may be asked for; called in the resolver's thread. */
	bool (*allowed)(void *arg, const char *name);
	/*
	 * For words: a name that was refused, in printable characters, as it was asked for when it is
	 * no host name. Who asked cannot be known. Not called again for a name within a second
	 * (programs ask for both families), for addresses that are looked up in reverse, nor where
	 * libc has but appended a domain to a name that is allowed, or was refused just now.
	 */
	void (*refused)(void *arg, const char *name);
	bool (*welcome)(void *arg, int client); /* by TCP; NULL: everybody is */
	void *arg;
};

struct launch_resolver;

/* Pins what the file of hosts says, and starts the thread. The doors stay the caller's on failure. */
int launch_resolver_start(const struct launch_resolver_setup *setup, struct launch_resolver **out,
			  struct launch_error *error);
/* Waits for the thread, and closes the doors. */
void launch_resolver_stop(struct launch_resolver *resolver);

/* For 'allowed': what the policy says. What it but complains about is for the caller to report. */
bool launch_lookup_allowed(const struct sbx_image *image, const char *name,
			   struct sbx_verdict *verdict);

#endif
