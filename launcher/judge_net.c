/* SPDX-License-Identifier: MIT */
/* What the policy says to calls about sockets: where they connect to, and what they are bound to. */
#include "judge_call.h"

#include "peer.h"
#include "target.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un file;
	char bytes[sizeof(struct sockaddr_storage) + 1]; /* what the kernel takes, and a 0 */
};

static bool take_address(const struct call *call, union address *address)
{
	size_t len = (uint32_t)call->flags;

	memset(address, 0, sizeof(*address));
	return len > sizeof(sa_family_t) && len < sizeof(address->bytes) &&
	       launch_target_bytes(call->judge->thread, call->args[call->ask->path], address,
				   len) == 0;
}

/* False for other families, and for what is too short. */
static bool read_address(const union address *address, size_t len, struct sbx_request *request)
{
	if (address->any.sa_family == AF_INET && len >= sizeof(address->four)) {
		request->addr.family = 4;
		request->port = ntohs(address->four.sin_port);
		memcpy(request->addr.bytes, &address->four.sin_addr, 4);
		return true;
	}
	if (address->any.sa_family != AF_INET6 || len < sizeof(address->six) - sizeof(uint32_t))
		return false;
	request->addr.family = 6;
	request->port = ntohs(address->six.sin6_port);
	memcpy(request->addr.bytes, &address->six.sin6_addr, 16);
	return true;
}

/* A UNIX socket is made, like a file. */
static int judge_socket(struct launch_judge *judge, const char *path)
{
	(void)snprintf(judge->given, sizeof(judge->given), "%s", path);
	if (!*path ||
	    launch_target_find(judge->thread, AT_FDCWD, path,
			       SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, 0, &judge->at) < 0)
		return 0;
	return launch_judge_is_new(judge) ? launch_judge_path(judge, SBX_OP_BIND) : 0;
}

int launch_judge_peer(const struct call *call, enum sbx_op op)
{
	struct launch_judge *judge = call->judge;
	struct sbx_request *request = &judge->request;
	union address address;
	char text[64];

	*request = (struct sbx_request){ .op = op, .size = -1 };
	if (!launch_target_is_socket(judge->thread, (int)call->args[0]) ||
	    !take_address(call, &address))
		return 0;
	if (address.any.sa_family == AF_UNIX && op == SBX_OP_BIND)
		return call->flags > sizeof(address.file)
			       ? 0
			       : judge_socket(judge, address.file.sun_path);
	if (!read_address(&address, (size_t)call->flags, request))
		return 0;
	(void)sbx_addr_format(&request->addr, text);
	(void)snprintf(judge->given, sizeof(judge->given), "%s%s%s:%u",
		       request->addr.family == 6 ? "[" : "", text,
		       request->addr.family == 6 ? "]" : "", request->port);
	sbx_eval(judge->image, request, &judge->verdict);
	sbx_eval_by_port(judge->image, request, &judge->verdict);
	return judge->verdict.allowed ? 0 : judge->verdict.error;
}
