/* SPDX-License-Identifier: MIT */
/*
 * Calls that may have to wait for others: the open of a FIFO whose other end nobody has, of a terminal
 * without a carrier, of a file that somebody holds a lease on; a connection to somebody far away. Each
 * waits in a thread of its own, so that nobody else does.
 *
 * Whoever waits is given up once its caller has died, or has a signal to take. Nobody waits for these
 * threads: they end with the process, or when there has been nothing to do for a second.
 */
#ifndef SBX_LAUNCH_BROKER_WAIT_H
#define SBX_LAUNCH_BROKER_WAIT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

/* Of a socket, as the kernel takes it. */
struct launch_address {
	union {
		struct sockaddr any;
		struct sockaddr_in four;
		struct sockaddr_in6 six;
		struct sockaddr_un file;
		char bytes[sizeof(struct sockaddr_storage)];
	};
	socklen_t len;
};

enum launch_wait_kind {
	WAIT_OPEN,
	WAIT_TRUNCATE, /* to 'length'; nobody gets the descriptor */
	WAIT_CONNECT /* to 'address' */
};

struct launch_waiting {
	enum launch_wait_kind kind;
	uint64_t id; /* of the question */
	pid_t thread; /* that asked */
	int pinned; /* what is opened, or the socket */
	uint64_t flags; /* of open() */
	int64_t length;
	struct launch_address address;
	int named; /* what the address names by our descriptor's number; -1: it does not */
};

struct launch_waits;
struct launch_waits *launch_waits_new(int listener); /* NULL: out of memory */

/*
 * The call is answered by and by, and 'pinned' is no longer the caller's. Or a negative errno, and
 * nothing has happened: -ENOMEM as for a FIFO that the kernel has no memory for, because there are
 * too many, or 'waits' is NULL.
 */
int launch_waits_add(struct launch_waits *waits, const struct launch_waiting *waiting);

#endif
