/* SPDX-License-Identifier: MIT */
/*
 * Kinds of sockets that are not to be had: which, and what is said about them. Pure.
 */
#ifndef SBX_LAUNCH_SOCKETS_H
#define SBX_LAUNCH_SOCKETS_H

#include "calls.h"

/* What would change it. */
enum launch_socket_help {
	SOCKET_HELP_NONE, /* no line can */
	SOCKET_HELP_WIDE, /* nothing less than mode = full */
	SOCKET_HELP_DATAGRAM, /* unix_datagram = yes */
};

struct launch_socket {
	char what[64]; /* "a UDP socket" */
	const char *instead; /* "only TCP is allowed" */
	enum launch_socket_help help;
	bool usual; /* programs try it and do without */
};

/*
 * Whether socket() or socketpair() is refused with these arguments, as the filters have it, and then
 * what was tried. They are registers: no other thread can change them.
 */
bool launch_socket_refused(const struct launch_wishes *wishes, enum launch_call_index call,
			   const uint64_t args[6], struct launch_socket *socket);

/*
 * Some libraries open a datagram socket only to look at the network, send nothing, and do without.
 * Whether the arguments can be of such a look, and whether they are when code of this file
 * calls: others really want UDP with the same arguments.
 */
bool launch_socket_may_look(const uint64_t args[6]);
bool launch_socket_looks(const uint64_t args[6], const char *file);

#endif
