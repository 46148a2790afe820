/* SPDX-License-Identifier: MIT */
/*
 * What launch_filter_sockets() and the rows of socket() in syscalls.def refuse, with names. Whatever
 * one of them refuses must have words here: the tests go through all kinds there are.
 */
#include "sockets.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#define TYPE 0xfu /* the rest are flags */
#define OLD_PACKET 10 /* SOCK_PACKET */

/* What headers may lack. */
#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

static const char *internet(const struct launch_wishes *wishes)
{
	return wishes->no_udp ? "only TCP is allowed" : "only TCP and UDP are allowed";
}

static const char *families(const struct launch_wishes *wishes)
{
	return wishes->no_udp ? "only UNIX and TCP sockets are allowed"
			      : "only UNIX, TCP and UDP sockets are allowed";
}

static void name(struct launch_socket *socket, const char *what, const char *instead)
{
	(void)snprintf(socket->what, sizeof(socket->what), "%s", what);
	socket->instead = instead;
}

static void name_number(struct launch_socket *socket, const char *what, uint32_t number,
			const char *instead)
{
	(void)snprintf(socket->what, sizeof(socket->what), "%s %u", what, number);
	socket->instead = instead;
}

static void name_unix(struct launch_socket *socket, bool pair)
{
	name(socket, pair ? "a pair of UNIX datagram sockets" : "a UNIX datagram socket",
	     "only stream sockets are allowed");
	socket->help = SOCKET_HELP_DATAGRAM;
}

static void name_internet(struct launch_socket *socket, uint32_t type, uint32_t protocol,
			  const char *only)
{
	if (type == SOCK_RAW) {
		name(socket, "a raw socket", only);
	} else if (type == OLD_PACKET) {
		name(socket, "a packet socket", only);
	} else if (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP)) {
		name(socket, "a UDP socket", only);
		socket->help = SOCKET_HELP_WIDE;
	} else if (type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP)) {
		name(socket, "a TCP socket", "nothing here could hold where it leads");
		socket->help = SOCKET_HELP_WIDE;
	} else if (protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6) {
		name(socket, "an ICMP socket", only);
	} else if (protocol == IPPROTO_MPTCP) {
		/* Go's servers do so by themselves, and fall back to TCP. */
		name(socket, "an MPTCP socket", only);
		socket->usual = true;
	} else if (protocol) {
		name_number(socket, "a socket of protocol", protocol, only);
	} else {
		name_number(socket, "an internet socket of type", type, only);
	}
}

static void describe(struct launch_socket *socket, const struct launch_wishes *wishes, bool pair,
		     const uint64_t args[6])
{
	uint32_t family = (uint32_t)args[0], type = (uint32_t)args[1] & TYPE;
	uint32_t protocol = (uint32_t)args[2];

	*socket = (struct launch_socket){ .help = SOCKET_HELP_NONE };
	switch (family) {
	case AF_UNIX:
		name_unix(socket, pair);
		break;
	case AF_INET:
	case AF_INET6:
		name_internet(socket, type, protocol, internet(wishes));
		break;
	case AF_NETLINK:
		name_number(socket, "a netlink socket of protocol", protocol,
			    "only NETLINK_ROUTE is allowed");
		break;
	case AF_PACKET:
		name(socket, "a packet socket", families(wishes));
		break;
	case AF_VSOCK:
		name(socket, "a vsock socket", families(wishes));
		break;
	default:
		name_number(socket, "a socket of family", family, families(wishes));
		break;
	}
}

/* To the kernel a raw UNIX socket is another name of a datagram socket. */
static bool is_unwanted(const struct launch_wishes *wishes, const uint64_t args[6])
{
	uint32_t family = (uint32_t)args[0], type = (uint32_t)args[1] & TYPE;

	if (family == AF_UNIX)
		return wishes->no_unix_datagram && (type == SOCK_DGRAM || type == SOCK_RAW);
	return (family == AF_INET || family == AF_INET6) && wishes->no_udp &&
	       (wishes->no_tcp || type == SOCK_DGRAM);
}

bool launch_socket_may_look(const uint64_t args[6])
{
	uint32_t family = (uint32_t)args[0];

	return (family == AF_INET || family == AF_INET6) && (uint32_t)args[1] == SOCK_DGRAM &&
	       !(uint32_t)args[2];
}

bool launch_socket_looks(const uint64_t args[6], const char *file)
{
	static const struct {
		const char *library;
		uint32_t family;
	} looks[] = {
		{ "/libcurl", AF_INET6 }, /* is there IPv6? git and others have it from there */
		{ "/libuuid", AF_INET }, /* what is the hardware's address? */
	};
	const char *name = strrchr(file, '/');

	for (size_t i = 0; name && i < sizeof(looks) / sizeof(looks[0]); i++) {
		size_t len = strlen(looks[i].library);

		if ((uint32_t)args[0] == looks[i].family && !strncmp(name, looks[i].library, len) &&
		    strchr(".-", name[len]) && name[len])
			return launch_socket_may_look(args);
	}
	return false;
}

bool launch_socket_refused(const struct launch_wishes *wishes, enum launch_call_index call,
			   const uint64_t args[6], struct launch_socket *socket)
{
	size_t count;

	if (call != LAUNCH_CALL_socket && call != LAUNCH_CALL_socketpair)
		return false;
	if (launch_call_judge(&launch_calls(&count)[call], args) == ARG_ALLOW &&
	    !is_unwanted(wishes, args))
		return false;
	describe(socket, wishes, call == LAUNCH_CALL_socketpair, args);
	return true;
}
