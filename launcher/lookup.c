/* SPDX-License-Identifier: MIT */
/* The name is the program's to choose: it is copied once, and bounded like every other. */
#include "lookup.h"

#include "contract.h"
#include "peer.h"
#include "target.h"
#include "upstream.h"
#include "watch.h"

#include <arpa/nameser.h>
#include <stddef.h>
#include <string.h>

#define WHILE_MS 10000 /* libc asks again after five seconds, and who was ended never ends it */
#define AFTER_MS 500

static const char *const functions[SBX_TOLD_COUNT] = {
#define LOOKUP(name) [SBX_TOLD_##name] = #name,
#include "lookups.def"
};

bool launch_lookup_is_told(const struct seccomp_data *data)
{
	return data->args[5] == SBX_ASK && (int)data->args[0] == -1 &&
	       data->args[2] > offsetof(struct sbx_told, name) &&
	       data->args[2] <= sizeof(struct sbx_told);
}

/* Read anew: where a policy lets no one read these files, the program has not read them either. */
bool launch_lookup_is_known(const char *name)
{
	struct launch_upstream files;
	struct launch_dns_addrs addrs;
	struct launch_error error;
	bool known;

	if (launch_is_localhost(name))
		return true;
	if (launch_upstream_init(&files, "127.0.0.1", "/etc/resolv.conf", "/etc/hosts", &error) < 0)
		return false;
	known = launch_upstream_knows(&files, name, ns_t_a, &addrs);
	launch_upstream_done(&files);
	return known;
}

static void begin(struct launch_lookups *lookups, const char *name)
{
	(void)pthread_mutex_lock(&lookups->lock);
	memcpy(lookups->list[lookups->next].name, name, strlen(name) + 1);
	lookups->list[lookups->next].until = launch_now() + WHILE_MS;
	lookups->next = (lookups->next + 1) % LOOKUPS_MOST;
	(void)pthread_mutex_unlock(&lookups->lock);
}

/* One of that name: others may be looking it up, too. Who has answered it may not have looked yet. */
static void end(struct launch_lookups *lookups, const char *name)
{
	uint64_t soon = launch_now() + AFTER_MS;

	(void)pthread_mutex_lock(&lookups->lock);
	for (size_t i = 0; i < LOOKUPS_MOST; i++)
		if (lookups->list[i].until > soon && !strcmp(lookups->list[i].name, name)) {
			lookups->list[i].until = soon;
			break;
		}
	(void)pthread_mutex_unlock(&lookups->lock);
}

bool launch_lookups_has(struct launch_lookups *lookups, const char *name)
{
	uint64_t now = launch_now();
	bool found = false;

	(void)pthread_mutex_lock(&lookups->lock);
	for (size_t i = 0; i < LOOKUPS_MOST && !found; i++) {
		size_t len = strlen(lookups->list[i].name);

		found = lookups->list[i].until > now &&
			!strncmp(name, lookups->list[i].name, len) &&
			(!name[len] || name[len] == '.');
	}
	(void)pthread_mutex_unlock(&lookups->lock);
	return found;
}

/* The name, in the judge, and by which function; false where it is none. */
static bool take(struct launch_judge *judge, const struct seccomp_data *data, pid_t thread)
{
	size_t size = data->args[2], len = size - offsetof(struct sbx_told, name);
	struct sbx_told told;

	if ((data->args[3] & ~(uint64_t)SBX_TOLD_BEGINS) >= SBX_TOLD_COUNT ||
	    launch_target_bytes(thread, data->args[1], &told, size) < 0 ||
	    told.family != SBX_TOLD_FAMILY || sbx_host_normalize(told.name, len, judge->host))
		return false;
	memcpy(judge->given, told.name, len);
	judge->given[len] = '\0';
	return true;
}

/* That the name was wanted for: only words follow from it. */
static uint16_t port_of(const struct seccomp_data *data)
{
	return data->args[4] <= UINT16_MAX ? (uint16_t)data->args[4] : 0;
}

bool launch_lookup_judge(struct launch_judge *judge, struct launch_lookups *lookups,
			 const struct seccomp_data *data, pid_t thread)
{
	if (!take(judge, data, thread))
		return false;
	if (data->args[3] & SBX_TOLD_BEGINS) {
		begin(lookups, judge->host);
		return false;
	}
	end(lookups, judge->host);
	judge->thread = thread;
	judge->request = (struct sbx_request){
		.op = SBX_OP_LOOKUP, .port = port_of(data), .size = -1, .host = judge->host
	};
	sbx_eval(judge->image, &judge->request, &judge->verdict);
	if (judge->verdict.allowed || launch_lookup_is_known(judge->host))
		return false;
	launch_judge_record(judge, LAUNCH_CALL_connect);
	judge->report.syscall = functions[data->args[3]];
	return true;
}
