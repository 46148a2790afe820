/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel about sockets that are not ours: which one would answer a connection, and whether
 * that is one of the program's. Sockets are told apart by their cookies: the kernel gives none to a
 * second one, while numbers of inodes come again after 2^32 sockets and pipes, which a program that
 * waits for that makes in hours.
 */
#ifndef SBX_LAUNCH_DIAG_H
#define SBX_LAUNCH_DIAG_H

#include "engine.h"

#include <sys/types.h>

/*
 * The listener that a TCP connection from this host to 'addr' and 'port' would come to; -ENOENT: there
 * is none.
 */
int launch_diag_tcp(const struct sbx_addr *addr, uint16_t port, uint64_t *cookie);

/*
 * A file by the kernel's own numbers: where file systems have volumes or layers, stat() tells others.
 * 'fd' is ours, and may be one for its name alone.
 */
struct launch_file {
	uint32_t dev, inode;
};
int launch_diag_file(int fd, struct launch_file *out);

/* Whether a UNIX socket listens as a file; -ESRCH: it does not listen any more. */
struct launch_server {
	uint64_t cookie; /* 0: none */
	uint32_t inode;
};
int launch_diag_unix(const struct launch_server *socket, const struct launch_file *file);

/* Whether any socket listens as that file; or so it has to be taken, where the kernel does not say. */
bool launch_diag_is_served(const struct launch_file *file);

/*
 * Whether it is known that the other end of a TCP connection of this host with itself is somebody
 * else's. 'fd' is our end, of IPv4.
 */
bool launch_diag_is_foreign(int fd);

#endif
