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

/* Whether a sandbox could have given this result of getaddrinfo(). */
static bool is_refusal(int result)
{
	return result == EAI_NONAME || result == EAI_AGAIN || result == EAI_FAIL ||
	       result == EAI_NODATA || result == EAI_ADDRFAMILY || result == EAI_SYSTEM;
}

/* Of services with names only the two that programs ask for; libc would read a file for others. */
static uint16_t port_of(const char *service)
{
	uint32_t port = 0;

	if (!service)
		return 0;
	if (!strcmp(service, "https"))
		return 443;
	if (!strcmp(service, "http"))
		return 80;
	for (; *service >= '0' && *service <= '9' && port <= UINT16_MAX; service++)
		port = port * 10 + (uint32_t)(*service - '0');
	return *service || port > UINT16_MAX ? 0 : (uint16_t)port;
}

static void tell(const char *name, unsigned int by, uint16_t port)
{
	struct sbx_told told = { .family = SBX_TOLD_FAMILY };
	size_t len = name ? strlen(name) : 0;
	struct shim_call call = { SYS_connect, { -1, (long)&told, 0, (long)by, port } };
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
		tell(name, by | SBX_TOLD_BEGINS, 0);
}

void shim_lookup_failed(const char *name, enum sbx_told_by by)
{
	tell(name, by, 0);
}

int shim_lookup_ended(int result, const char *name, const char *service,
		      const struct addrinfo *hints, enum sbx_told_by by)
{
	/* Without a name, nobody has looked at the rest. */
	if (SHIM_UNLIKELY(is_refusal(result)) && name &&
	    !(hints && hints->ai_flags & AI_NUMERICHOST))
		tell(name, by, port_of(service));
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
