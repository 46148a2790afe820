/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes DNS messages. Names, counts and records are taken apart by libresolv's parser
 * (ns_initparse() and its kin), which knows compression and its loops; what they mean is decided here.
 *
 * Must never ask anybody, keep anything, or take a record for more than its owner's name says.
 */
#include "dns.h"

#include <errno.h>
#include <resolv.h>
#include <string.h>

#define HEADER NS_HFIXEDSZ
#define HOPS_MOST 16 /* CNAMEs in a row */
#define RECORDS_MOST 512 /* of a reply that are looked at */

/* Bits of the two bytes of flags. */
#define QR 0x8000u
#define OPCODE 0x7800u
#define TC 0x0200u
#define RD 0x0100u
#define RA 0x0080u
#define RCODE 0x000fu

static uint16_t get16(const uint8_t *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static uint8_t *put16(uint8_t *at, unsigned int value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
	return at + 2;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	return put16(put16(at, value >> 16), value & 0xffff);
}

static size_t wire_len(const uint8_t *wire)
{
	const uint8_t *at = wire;

	while (*at)
		at += *at + 1;
	return (size_t)(at - wire) + 1;
}

/* The text that the parser makes of a name escapes all that no host name has. */
static void set_name(struct launch_dns_query *query)
{
	char text[NS_MAXDNAME];

	launch_dns_spell(query, text);
	if (sbx_host_normalize(text, strlen(text), query->name) != NULL)
		query->name[0] = '\0';
}

static int parse_question(const uint8_t *bytes, size_t len, struct launch_dns_query *query)
{
	const uint8_t *end = bytes + len;
	ns_msg message;
	int used;

	if (ns_initparse(bytes, (int)len, &message) < 0)
		return ns_r_formerr;
	/* A pointer here could lead but into the header. */
	used = ns_name_unpack(bytes, end, bytes + HEADER, query->wire, sizeof(query->wire));
	if (used < 0 || wire_len(query->wire) != (size_t)used)
		return ns_r_formerr;
	query->type = get16(bytes + HEADER + used);
	if (get16(bytes + HEADER + used + 2) != ns_c_in)
		return ns_r_notimpl;
	query->wire_len = (uint16_t)used;
	set_name(query);
	return 0;
}

/* Records besides the question can but be EDNS, which is allowed to be there, and not needed. */
int launch_dns_parse(const uint8_t *bytes, size_t len, struct launch_dns_query *query)
{
	uint16_t flags;

	*query = (struct launch_dns_query){ 0 };
	if (len < HEADER || len > NS_MAXMSG)
		return -EBADMSG;
	flags = get16(bytes + 2);
	if (flags & QR)
		return -EBADMSG;
	query->id = get16(bytes);
	query->recurse = flags & RD;
	if (flags & OPCODE)
		return ns_r_notimpl;
	if ((flags & TC) || get16(bytes + 4) != 1 || get16(bytes + 6) || get16(bytes + 8))
		return ns_r_formerr;
	return parse_question(bytes, len, query);
}

void launch_dns_spell(const struct launch_dns_query *query, char out[NS_MAXDNAME])
{
	if (!query->wire_len || ns_name_ntop(query->wire, out, NS_MAXDNAME) < 0)
		out[0] = '\0';
}

static uint8_t *put_header(uint8_t *at, unsigned int id, unsigned int flags, bool question)
{
	at = put16(at, id);
	at = put16(at, flags);
	at = put16(at, question);
	memset(at, 0, 6);
	return at + 6;
}

static uint8_t *put_question(uint8_t *at, const uint8_t *wire, size_t len, unsigned int type)
{
	memcpy(at, wire, len);
	at = put16(at + len, type);
	return put16(at, ns_c_in);
}

static uint8_t *put_addr(uint8_t *at, const struct sbx_addr *addr, uint32_t ttl)
{
	size_t len = addr->family == 4 ? 4 : 16;

	at = put16(at, 0xc000 | HEADER); /* the name of the question */
	at = put16(at, addr->family == 4 ? ns_t_a : ns_t_aaaa);
	at = put16(at, ns_c_in);
	at = put32(at, ttl);
	at = put16(at, (unsigned int)len);
	memcpy(at, addr->bytes, len);
	return at + len;
}

size_t launch_dns_answer(const struct launch_dns_query *query, ns_rcode rcode,
			 const struct launch_dns_addrs *addrs, size_t limit,
			 uint8_t out[LAUNCH_DNS_MOST])
{
	unsigned int flags = QR | RA | (query->recurse ? RD : 0) | ((unsigned int)rcode & RCODE);
	uint8_t *at = put_header(out, query->id, flags, query->wire_len);
	size_t room = limit < LAUNCH_DNS_MOST ? limit : LAUNCH_DNS_MOST, put = 0;
	size_t each = query->type == ns_t_a ? 16 : 28;

	if (!query->wire_len)
		return (size_t)(at - out);
	at = put_question(at, query->wire, query->wire_len, query->type);
	for (; addrs && put < addrs->count && (size_t)(at - out) + each <= room; put++)
		at = put_addr(at, &addrs->each[put], addrs->ttl);
	(void)put16(out + 6, (unsigned int)put);
	if (addrs && put < addrs->count)
		(void)put16(out + 2, flags | TC);
	return (size_t)(at - out);
}

size_t launch_dns_make(const struct launch_dns_ask *ask, uint8_t out[LAUNCH_DNS_DATAGRAM])
{
	uint8_t wire[NS_MAXCDNAME], *at = put_header(out, ask->id, RD, true);

	if (ns_name_pton(ask->name, wire, sizeof(wire)) < 0)
		return 0;
	return (size_t)(put_question(at, wire, wire_len(wire), ask->type) - out);
}

/* That it is a reply, to this question and no other; how the rest of it looks is not known yet. */
static bool is_reply_to(const struct launch_dns_ask *ask, const uint8_t *bytes, size_t len)
{
	const uint8_t *end = bytes + len;
	char name[NS_MAXDNAME];
	int used;

	if (len < HEADER || len > NS_MAXMSG || get16(bytes) != ask->id ||
	    (get16(bytes + 2) & (QR | OPCODE)) != QR || get16(bytes + 4) != 1)
		return false;
	used = dn_expand(bytes, end, bytes + HEADER, name, sizeof(name));
	return used > 0 && end - bytes - HEADER >= used + 4 && !strcasecmp(name, ask->name) &&
	       get16(bytes + HEADER + used) == ask->type &&
	       get16(bytes + HEADER + used + 2) == ns_c_in;
}

/* RFC 2181: a time with its first bit set is none. */
static void keep_least(uint32_t *ttl, uint32_t other)
{
	if (other > INT32_MAX)
		other = 0;
	if (other < *ttl)
		*ttl = other;
}

static void take_addr(const ns_rr *record, struct launch_dns_addrs *addrs)
{
	size_t len = ns_rr_type(*record) == ns_t_a ? 4 : 16;
	struct sbx_addr *addr = &addrs->each[addrs->count];

	if (ns_rr_rdlen(*record) != len || addrs->count == LAUNCH_DNS_ADDRS)
		return;
	*addr = (struct sbx_addr){ .family = len == 4 ? 4 : 6 };
	memcpy(addr->bytes, ns_rr_rdata(*record), len);
	addrs->count++;
	keep_least(&addrs->ttl, ns_rr_ttl(*record));
}

/*
 * One step: the addresses of 'name', or else the name that its CNAME leads to, in its place. 1: there
 * is such a name; 0: that was all; or -EBADMSG.
 */
static int follow(ns_msg *message, const struct launch_dns_ask *ask, char name[NS_MAXDNAME],
		  struct launch_dns_addrs *addrs)
{
	int count = ns_msg_count(*message, ns_s_an);
	char next[NS_MAXDNAME] = "";
	uint32_t ttl = 0;

	for (int i = 0; i < count && i < RECORDS_MOST; i++) {
		ns_rr record;

		if (ns_parserr(message, ns_s_an, i, &record) < 0)
			return -EBADMSG;
		if (ns_rr_class(record) != ns_c_in || strcasecmp(ns_rr_name(record), name) != 0)
			continue;
		if (ns_rr_type(record) == ask->type)
			take_addr(&record, addrs);
		if (ns_rr_type(record) != ns_t_cname || next[0])
			continue;
		if (dn_expand(ns_msg_base(*message), ns_msg_end(*message), ns_rr_rdata(record),
			      next, sizeof(next)) != ns_rr_rdlen(record))
			return -EBADMSG;
		ttl = ns_rr_ttl(record);
	}
	if (addrs->count || !next[0])
		return 0;
	keep_least(&addrs->ttl, ttl);
	memcpy(name, next, sizeof(next));
	return 1;
}

int launch_dns_read(const struct launch_dns_ask *ask, const uint8_t *bytes, size_t len,
		    struct launch_dns_reply *reply)
{
	struct launch_dns_reply read = { .addrs.ttl = LAUNCH_DNS_TTL_MOST };
	char name[NS_MAXDNAME] = "";
	int more = 1;
	ns_msg message;

	if (!is_reply_to(ask, bytes, len))
		return -EBADMSG;
	read.rcode = (ns_rcode)(get16(bytes + 2) & RCODE);
	read.truncated = get16(bytes + 2) & TC;
	if (!read.truncated && ns_initparse(bytes, (int)len, &message) < 0)
		return -EBADMSG;
	if (read.truncated || read.rcode != ns_r_noerror)
		goto out;
	memcpy(name, ask->name, strlen(ask->name) + 1);
	for (int hop = 0; more > 0 && hop <= HOPS_MOST; hop++)
		more = follow(&message, ask, name, &read.addrs);
	if (more)
		return -EBADMSG;
out:
	*reply = read;
	return 0;
}
