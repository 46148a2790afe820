/* SPDX-License-Identifier: MIT */
/*
 * What follows a look-up inside libc that failed. Nothing is looked up here, and no name that was found
 * is told to anybody.
 */
#include "lookup.h"

#include "call.h"
#include "explain.h"

#include <errno.h>
#include <netdb.h>
#include <stddef.h>
#include <string.h>

#ifndef EAI_NODATA
#define EAI_NODATA (-5)
#endif
#ifndef EAI_ADDRFAMILY
#define EAI_ADDRFAMILY (-9)
#endif

bool shim_lookup_is_refusal(int result)
{
	return result == EAI_NONAME || result == EAI_AGAIN || result == EAI_FAIL ||
	       result == EAI_NODATA || result == EAI_ADDRFAMILY || result == EAI_SYSTEM;
}

static void tell(const char *name, unsigned int by)
{
	struct sbx_told told = { .family = SBX_TOLD_FAMILY };
	size_t len = name ? strlen(name) : 0;
	struct shim_call call = { SYS_connect, { -1, (long)&told, 0, (long)by } };
	int error = shim_errno();

	if (len == 0 || len > sizeof(told.name))
		return;
	memcpy(told.name, name, len);
	call.args[2] = (long)(offsetof(struct sbx_told, name) + len);
	(void)shim_ask(&call, -EACCES);
	shim_set_errno(error);
}

void shim_lookup_begins(const char *name, enum sbx_told_by by)
{
	if (!shim_explains())
		tell(name, by | SBX_TOLD_BEGINS);
}

void shim_lookup_failed(const char *name, enum sbx_told_by by)
{
	tell(name, by);
}

int shim_lookup_ended(int result, const char *name, const struct addrinfo *hints)
{
	if (SHIM_UNLIKELY(shim_lookup_is_refusal(result)) &&
	    !(hints && hints->ai_flags & AI_NUMERICHOST))
		shim_lookup_failed(name, SBX_TOLD_getaddrinfo);
	return result;
}

/* ERANGE: the caller's memory was too small, and it will come again. */
int shim_lookup_found(int result, const char *name, struct hostent *const *found,
		      enum sbx_told_by by)
{
	if (SHIM_UNLIKELY(!*found) && result != ERANGE)
		shim_lookup_failed(name, by);
	return result;
}
