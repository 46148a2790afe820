/* SPDX-License-Identifier: MIT */
/*
 * Asks the kernel about sockets that are not ours: which one would answer a connection, and whether
 * that is one of the program's. Sockets are told apart by the number of their inode.
 */
#ifndef SBX_LAUNCH_DIAG_H
#define SBX_LAUNCH_DIAG_H

#include "engine.h"

#include <sys/types.h>

/* The listener that a TCP connection from this host to 'addr' and 'port' would come to; 0: none. */
uint32_t launch_diag_tcp(const struct sbx_addr *addr, uint16_t port);

/* Whether a UNIX socket listens as the file with these numbers; -ESRCH: it does not listen any more. */
int launch_diag_unix(uint32_t socket, dev_t dev, ino_t ino);

#endif
