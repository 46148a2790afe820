/* SPDX-License-Identifier: MIT */
/*
 * A network of the sandbox's own, in which every address there is leads back to itself: whatever
 * server a DNS query is sent to, it arrives at the sockets that come out of here.
 */
#ifndef SBX_LAUNCH_NETSPACE_H
#define SBX_LAUNCH_NETSPACE_H

#include "launch.h"

enum launch_door {
	DOOR_UDP4,
	DOOR_TCP4, /* listens */
	DOOR_UDP6,
	DOOR_TCP6,
	DOOR_COUNT
};

struct launch_netspace {
	bool ipv6; /* the host has it: addresses of hosts are told, and each of them leads here too */
	int doors
		[DOOR_COUNT]; /* at port 53 of all addresses, close-on-exec, never wait; -1: none */
};

/*
 * Moves the calling thread into a new network namespace, in which it has CAP_SYS_ADMIN, CAP_NET_ADMIN
 * and CAP_NET_BIND_SERVICE. 0, or a negative errno and which step it was that failed; the thread may
 * be in the new namespace then, and nothing is left open.
 */
int launch_netspace_enter(struct launch_netspace *out, struct launch_error *error);
/* Whether an address of the host leads anywhere; those of a link and of the host itself do not. */
bool launch_netspace_host_has_ipv6(void);
void launch_netspace_close(struct launch_netspace *space);

#endif
