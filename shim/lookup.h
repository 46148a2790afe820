/* SPDX-License-Identifier: MIT */
/*
 * Names of hosts that libc did not find: the supervisor is told of each, and says so where the policy is
 * why. Else a program would take it for a failure of the network.
 */
#ifndef SHIM_LOOKUP_H
#define SHIM_LOOKUP_H

#include <stdbool.h>

#include "contract.h"

struct addrinfo;
struct hostent;

/* Before a look-up, which whoever answers it shall not explain. */
void shim_lookup_begins(const char *name, enum sbx_told_by by);
/* After 'name' was not found. errno and what libc has to say about it stay as they are. */
void shim_lookup_failed(const char *name, enum sbx_told_by by);

/*
 * The same, for results as functions have them, and return them in turn; 'found' is where libc has put
 * what it found, if anything. With a service that says which port it is for, that is told, too.
 */
int shim_lookup_ended(int result, const char *name, const char *service,
		      const struct addrinfo *hints, enum sbx_told_by by);
int shim_lookup_found(int result, const char *name, struct hostent *const *found,
		      enum sbx_told_by by);

#endif
