/* SPDX-License-Identifier: MIT */
/*
 * DNS messages, as the sandbox's resolver reads and writes them. Pure: bytes in, bytes out.
 *
 * What goes out is always made anew, of what was understood: no byte of a program's query reaches an
 * upstream server but its checked name, and no byte of a server's reply the program but addresses.
 */
#ifndef SBX_LAUNCH_DNS_H
#define SBX_LAUNCH_DNS_H

#include "peer.h"

#include <arpa/nameser.h>

#define LAUNCH_DNS_DATAGRAM 512 /* the most of a message that no EDNS was agreed on for */
#define LAUNCH_DNS_ADDRS 64 /* of a name; more are left out */
#define LAUNCH_DNS_MOST 2560 /* no message that is made here is longer */
#define LAUNCH_DNS_TTL_MOST 3600 /* seconds */

/* What a program asks. */
struct launch_dns_query {
	uint16_t id;
	uint16_t type; /* ns_t_a… */
	bool recurse; /* the flag; answers repeat it */
	uint16_t wire_len; /* 0: the question was not understood */
	uint8_t wire[NS_MAXCDNAME]; /* the name in its own spelling, which answers repeat */
	char name
		[SBX_HOST_MAX]; /* as sbx_host_normalize() leaves it; "": no host has such a name */
};

/* What a name stands for. */
struct launch_dns_addrs {
	uint32_t ttl; /* the least of all, and never above LAUNCH_DNS_TTL_MOST */
	size_t count;
	struct sbx_addr each[LAUNCH_DNS_ADDRS]; /* all of the family that was asked for */
};

/*
 * 0; ns_r_formerr or ns_r_notimpl, to be answered with; or -EBADMSG: this is no query, and nobody may
 * be answered.
 */
int launch_dns_parse(const uint8_t *bytes, size_t len, struct launch_dns_query *query);
/* The name as it was asked, in printable characters: dots inside labels and control bytes escaped. */
void launch_dns_spell(const struct launch_dns_query *query, char out[NS_MAXDNAME]);

/*
 * An answer with 'addrs', which may be NULL, and go with ns_r_noerror only. What does not fit into
 * 'limit' bytes (LAUNCH_DNS_DATAGRAM at least) is left out, and the answer says so (TC). Its length.
 */
size_t launch_dns_answer(const struct launch_dns_query *query, ns_rcode rcode,
			 const struct launch_dns_addrs *addrs, size_t limit,
			 uint8_t out[LAUNCH_DNS_MOST]);

/* What we ask an upstream server: 'name' is normalised, 'type' ns_t_a or ns_t_aaaa. */
struct launch_dns_ask {
	const char *name;
	uint16_t type;
	uint16_t id;
};

struct launch_dns_reply {
	ns_rcode rcode;
	bool truncated; /* then nothing else of it was read */
	struct launch_dns_addrs addrs;
};

/* The length of the query. */
size_t launch_dns_make(const struct launch_dns_ask *ask, uint8_t out[LAUNCH_DNS_DATAGRAM]);
/*
 * 0; or -EBADMSG when these bytes are no whole and sensible reply to that question, as if they had
 * never come. Addresses are those of the name itself, or of what its CNAMEs lead to inside the reply.
 */
int launch_dns_read(const struct launch_dns_ask *ask, const uint8_t *bytes, size_t len,
		    struct launch_dns_reply *reply);

#endif
