/* SPDX-License-Identifier: MIT */
/*
 * DNS messages: whatever comes in, what goes out is a whole message of ours that says only what was
 * understood, and names are those that the policy could have rules for.
 */
#include "fuzz.h"

#include "dns.h"

#include <errno.h>
#include <resolv.h>
#include <stdlib.h>
#include <string.h>

#define NAME "www.example.org"

static void check_name(const struct launch_dns_query *query)
{
	char spelled[NS_MAXDNAME], again[SBX_HOST_MAX];
	size_t len = strlen(query->name);

	launch_dns_spell(query, spelled);
	MUST(fuzz_is_plain(spelled, strlen(spelled), ""));
	if (!len)
		return;
	MUST(query->wire_len == len + 2 && !strcasecmp(spelled, query->name));
	MUST(strspn(query->name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == len);
	MUST(!sbx_host_normalize(query->name, len, again) && !strcmp(again, query->name));
}

/* An answer is whole, of this question, and has no records but the addresses. */
static void check_answer(const struct launch_dns_query *query, ns_rcode rcode,
			 const struct launch_dns_addrs *addrs, size_t limit)
{
	uint8_t out[LAUNCH_DNS_MOST];
	size_t len = launch_dns_answer(query, rcode, addrs, limit, out);
	ns_msg message;

	MUST(len >= 12 && len <= limit);
	MUST(ns_initparse(out, (int)len, &message) == 0);
	MUST(ns_msg_id(message) == query->id && ns_msg_getflag(message, ns_f_qr));
	MUST(ns_msg_getflag(message, ns_f_rcode) == (int)rcode);
	MUST(ns_msg_count(message, ns_s_qd) == (query->wire_len != 0));
	MUST(ns_msg_count(message, ns_s_ns) == 0 && ns_msg_count(message, ns_s_ar) == 0);
	MUST(!query->wire_len || !memcmp(out + 12, query->wire, query->wire_len));
	MUST(ns_msg_count(message, ns_s_an) <= (addrs && query->wire_len ? addrs->count : 0));
	MUST(!addrs || ns_msg_getflag(message, ns_f_tc) ||
	     ns_msg_count(message, ns_s_an) == addrs->count || !query->wire_len);
}

/* What we ask is understood by ourselves. */
static void check_upstream(const struct launch_dns_query *query)
{
	struct launch_dns_ask ask = { query->name, query->type, query->id };
	uint8_t out[LAUNCH_DNS_DATAGRAM];
	size_t len = launch_dns_make(&ask, out);
	struct launch_dns_query again;

	MUST(len > 12 && launch_dns_parse(out, len, &again) == 0);
	MUST(!strcmp(again.name, query->name) && again.type == query->type &&
	     again.id == query->id);
}

static void check_query(const uint8_t *bytes, size_t size)
{
	struct launch_dns_query query;
	int result = launch_dns_parse(bytes, size, &query);

	MUST(result == 0 || result == -EBADMSG || result == ns_r_formerr || result == ns_r_notimpl);
	if (result < 0)
		return;
	MUST((result == 0) == (query.wire_len != 0));
	check_name(&query);
	check_answer(&query, result ? (ns_rcode)result : ns_r_nxdomain, NULL, 512);
	if (query.name[0])
		check_upstream(&query);
}

static void check_addrs(const struct launch_dns_addrs *addrs, int family)
{
	MUST(addrs->count <= LAUNCH_DNS_ADDRS && addrs->ttl <= LAUNCH_DNS_TTL_MOST);
	for (size_t i = 0; i < addrs->count; i++)
		MUST(addrs->each[i].family == family);
}

static void check_reply(const uint8_t *bytes, size_t size, uint16_t type)
{
	struct launch_dns_ask ask = { NAME, type, 0x1234 };
	struct launch_dns_reply reply;
	uint8_t before[sizeof(reply)];
	const void *after = &reply;
	struct launch_dns_query query = {
		.id = 1, .type = type, .wire_len = 17, .wire = "\3www\7example\3org", .name = NAME
	};

	memset(&reply, 0x5a, sizeof(reply));
	memset(before, 0x5a, sizeof(before));
	if (launch_dns_read(&ask, bytes, size, &reply) < 0) {
		MUST(!memcmp(after, before, sizeof(before)));
		return;
	}
	MUST(size >= 12 + 17 + 4 && bytes[0] == 0x12 && bytes[1] == 0x34 && (bytes[2] & 0x80));
	MUST(!reply.addrs.count || (!reply.truncated && reply.rcode == ns_r_noerror));
	check_addrs(&reply.addrs, type == ns_t_a ? 4 : 6);
	check_answer(&query, ns_r_noerror, &reply.addrs, LAUNCH_DNS_DATAGRAM);
	check_answer(&query, ns_r_noerror, &reply.addrs, LAUNCH_DNS_MOST);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* Of its exact size, so that reading past it is seen. */
	uint8_t *copy = malloc(size ? size : 1);

	MUST(copy);
	if (size)
		memcpy(copy, data, size);
	check_query(copy, size);
	check_reply(copy, size, ns_t_a);
	check_reply(copy, size, ns_t_aaaa);
	free(copy);
	return 0;
}
