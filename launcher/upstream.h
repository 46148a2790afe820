/* SPDX-License-Identifier: MIT */
/*
 * Where names are looked up: the servers of the host or of the policy, and the host's own file of
 * names. A look-up goes on in steps, so that many can be under way in one thread.
 *
 * Must only be given names that the policy allows: what is asked leaves the machine.
 */
#ifndef SBX_LAUNCH_UPSTREAM_H
#define SBX_LAUNCH_UPSTREAM_H

#include "dns.h"
#include "launch.h"

#include <netinet/in.h>

#define LAUNCH_SERVERS 3
#define LAUNCH_SEARCHES 8

union launch_socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

struct launch_upstream {
	union launch_socket_address servers[LAUNCH_SERVERS];
	size_t count;
	unsigned int timeout_ms; /* of each try */
	unsigned int tries; /* of each server */
	char searches[LAUNCH_SEARCHES][SBX_HOST_MAX]; /* domains that libc appends to names */
	size_t search_count;
	char *hosts; /* the text of that file */
};

/*
 * Reads both files (before a Landlock layer may forbid it). 'dns' is that setting, ADDRESS or
 * ADDRESS:PORT, or NULL: then the servers are those of 'resolv', usually /etc/resolv.conf, and this
 * machine where it names none. A file that is not there is empty.
 */
int launch_upstream_init(struct launch_upstream *upstream, const char *dns, const char *resolv,
			 const char *hosts, struct launch_error *error);
void launch_upstream_done(struct launch_upstream *upstream);

/* localhost and all below it: this machine, and nobody is ever asked. */
bool launch_is_localhost(const char *name);
/* True when 'name' is known without asking: its addresses of 'type', none if it has none of those. */
bool launch_upstream_knows(const struct launch_upstream *upstream, const char *name, uint16_t type,
			   struct launch_dns_addrs *addrs);
/* Calls 'each' for each name of the file that is not this machine's own. */
void launch_upstream_hosts(const struct launch_upstream *upstream,
			   void (*each)(void *arg, const char *name, const struct sbx_addr *addr),
			   void *arg);
/* Whether 'name' ends in a domain that libc appends, and what it was before. */
bool launch_upstream_bare(const struct launch_upstream *upstream, const char *name,
			  char bare[SBX_HOST_MAX]);

/* One look-up under way. */
struct launch_asking {
	const struct launch_upstream *upstream;
	int fd; /* to be polled for 'events'; -1 once it has ended */
	short events;
	bool stream;
	uint16_t type;
	uint16_t id;
	uint16_t tried; /* tries so far */
	uint16_t lies; /* that came for this one */
	uint64_t deadline; /* launch_now(); launch_ask_go_on() is called when it has passed, too */
	uint8_t *bytes; /* of a stream: length and message */
	size_t have;
	char name[SBX_HOST_MAX];
};

enum launch_asked {
	ASKED_WAITS,
	ASKED_DONE, /* the reply's code is ns_r_noerror or ns_r_nxdomain */
	ASKED_FAILED /* no server could be made to answer */
};

/* Both end the look-up unless it waits. */
enum launch_asked launch_ask_begin(struct launch_asking *asking,
				   const struct launch_upstream *upstream, const char *name,
				   uint16_t type, struct launch_dns_reply *reply);
enum launch_asked launch_ask_go_on(struct launch_asking *asking, short ready,
				   struct launch_dns_reply *reply);
void launch_ask_end(struct launch_asking *asking);

/*
 * Looks a name up and waits for it: all its addresses, of both families or (without 'ipv6') one. 0;
 * -ENOENT: there is no such name, or it has none; -EAGAIN: no server answered for one of them.
 */
int launch_resolve_now(const struct launch_upstream *upstream, const char *name, bool ipv6,
		       struct launch_dns_addrs *addrs);

#endif
