/* SPDX-License-Identifier: MIT */
/* What the policy says to a UNIX socket that becomes a file. All others are the broker's to judge. */
#include "judge_call.h"

#include "target.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>

int launch_judge_bind(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	size_t len = (uint32_t)call->flags, before = offsetof(struct sockaddr_un, sun_path);

	if (len <= before || len > sizeof(address) ||
	    launch_target_bytes(judge->thread, call->args[call->ask->path], &address, len) < 0 ||
	    address.sun_family != AF_UNIX || !address.sun_path[0] ||
	    !launch_target_is_socket(judge->thread, (int)call->args[0]))
		return 0;
	(void)snprintf(judge->given, sizeof(judge->given), "%.*s", (int)(len - before),
		       address.sun_path);
	if (launch_target_find(judge->thread, AT_FDCWD, judge->given,
			       SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, 0, &judge->at) < 0)
		return 0;
	return launch_judge_is_new(judge) ? launch_judge_path(judge, SBX_OP_BIND) : 0;
}
