/* SPDX-License-Identifier: MIT */
/*
 * The sandbox's own servers: sockets that the program listens on, and may connect to ([network] own).
 * Everybody who listens does so through the supervisor, so all are known; who has ended since, the
 * kernel tells.
 */
#ifndef SBX_LAUNCH_SERVERS_H
#define SBX_LAUNCH_SERVERS_H

#include "diag.h"

struct launch_servers;
struct launch_servers *launch_servers_new(void); /* NULL: out of memory */

/* A socket listens from now on. */
int launch_servers_add(struct launch_servers *servers, int fd, int domain);

/* Whether whoever answers there is one of them. */
bool launch_servers_has_tcp(struct launch_servers *servers, const struct sbx_addr *addr,
			    uint16_t port);
bool launch_servers_has_unix(struct launch_servers *servers, const struct launch_file *file);

#endif
