/* SPDX-License-Identifier: MIT */
/* DNS messages, honest and hostile: what is understood of queries and replies, and what is made. */
#include "dns.h"

#include <errno.h>
#include <resolv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(text) (const uint8_t *)(text), sizeof(text) - 1
#define IN "\0\1"
#define A "\0\1"
#define NS "\0\2"
#define CNAME "\0\5"
#define AAAA "\0\34"
#define HOUR "\0\0\16\20"
#define WWW "\3www\7example\3org\0"

/* --- Queries --- */

struct query_row {
	const char *name;
	const char *expected; /* host name, type and flags; or what it is answered with */
	const uint8_t *bytes;
	size_t len;
};

#define Q(flags, counts, rest) BYTES("\x12\x34" flags counts rest)
#define ONE "\0\1\0\0\0\0\0\0"
#define LABEL63 "\77aaaaaaaaabbbbbbbbbbaaaaaaaaabbbbbbbbbbaaaaaaaaabbbbbbbbbbaaaaaa"

static const struct query_row queries[] = {
	{ "a plain query", "www.example.org 1 rd", Q("\1\0", ONE, WWW A IN) },
	{ "one that wants no recursion", "www.example.org 28", Q("\0\0", ONE, WWW AAAA IN) },
	{ "upper case is lower case", "www.example.org 1 rd",
	  Q("\1\0", ONE, "\3wWw\7EXAMPLE\3OrG\0" A IN) },
	{ "a single label", "localhost 1 rd", Q("\1\0", ONE, "\11localhost\0" A IN) },
	{ "underscores and hyphens", "_dns-sd.x--y 33 rd",
	  Q("\1\0", ONE, "\7_dns-sd\4x--y\0\0\41" IN) },
	{ "any type", "www.example.org 65 rd", Q("\1\0", ONE, WWW "\0\101" IN) },
	{ "with EDNS", "www.example.org 1 rd",
	  Q("\1\40", "\0\1\0\0\0\0\0\1", WWW A IN "\0\0\51\20\0\0\0\200\0\0\0") },
	{ "labels of 63 bytes", "label63.org 1 rd", Q("\1\0", ONE, LABEL63 "\3org\0" A IN) },
	{ "nothing", "dropped", Q("", "", "") },
	{ "a piece of a header", "dropped", Q("\1\0", "\0\1\0\0\0\0\0", "") },
	{ "a reply", "dropped", Q("\201\200", ONE, WWW A IN) },
	{ "a reply with an odd opcode", "dropped", Q("\251\200", ONE, WWW A IN) },
	{ "a header alone", "FORMERR", Q("\1\0", ONE, "") },
	{ "no question", "FORMERR", Q("\1\0", "\0\0\0\0\0\0\0\0", "") },
	{ "two questions", "FORMERR", Q("\1\0", "\0\2\0\0\0\0\0\0", WWW A IN WWW A IN) },
	{ "65535 questions", "FORMERR", Q("\1\0", "\377\377\0\0\0\0\0\0", WWW A IN) },
	{ "an answer in a query", "FORMERR",
	  Q("\1\0", "\0\1\0\1\0\0\0\0", WWW A IN "\300\14" A IN HOUR "\0\4\1\2\3\4") },
	{ "a truncated query", "FORMERR", Q("\3\0", ONE, WWW A IN) },
	{ "a question cut in its name", "FORMERR", Q("\1\0", ONE, "\3www\7exam") },
	{ "a question cut in its type", "FORMERR", Q("\1\0", ONE, WWW "\0") },
	{ "a question without class", "FORMERR", Q("\1\0", ONE, WWW A) },
	{ "bytes behind the question", "FORMERR", Q("\1\0", ONE, WWW A IN "x") },
	{ "more records than there are", "FORMERR", Q("\1\0", "\0\1\0\0\0\0\0\1", WWW A IN) },
	{ "a name that points at itself", "FORMERR", Q("\1\0", ONE, "\300\14" A IN) },
	{ "a name that points ahead", "FORMERR", Q("\1\0", ONE, "\300\24" A IN "\0\0\0\0") },
	{ "a name that points into the header", "FORMERR", Q("\1\0", ONE, "\3www\300\6" A IN) },
	{ "a name that points past the end", "FORMERR", Q("\1\0", ONE, "\377\377" A IN) },
	{ "a label of 64 bytes", "FORMERR",
	  Q("\1\0", ONE,
	    "\100aaaaaaaaabbbbbbbbbbaaaaaaaaabbbbbbbbbbaaaaaaaaabbbbbbbbbbaaaaaaa\0" A IN) },
	{ "a name of 257 bytes", "FORMERR",
	  Q("\1\0", ONE, LABEL63 LABEL63 LABEL63 LABEL63 "\0" A IN) },
	{ "a status query", "NOTIMP", Q("\21\0", ONE, WWW A IN) },
	{ "an update", "NOTIMP", Q("\51\0", ONE, WWW A IN) },
	{ "class CHAOS", "NOTIMP", Q("\1\0", ONE, "\7version\4bind\0\0\20\0\3") },
	{ "class ANY", "NOTIMP", Q("\1\0", ONE, WWW A "\0\377") },
	{ "the root", "(.) 2 rd", Q("\1\0", ONE, "\0" NS IN) },
	{ "NUL in a label", "(evil\\000.google.com) 1 rd",
	  Q("\1\0", ONE, "\5evil\0\6google\3com\0" A IN) },
	{ "a dot in a label", "(evil\\.google.com) 1 rd",
	  Q("\1\0", ONE, "\13evil.google\3com\0" A IN) },
	{ "a label that is but a dot", "(\\..com) 1 rd", Q("\1\0", ONE, "\1.\3com\0" A IN) },
	{ "a newline in a label", "(a\\010b.com) 1 rd", Q("\1\0", ONE, "\3a\nb\3com\0" A IN) },
	{ "an escape in a label", "(\\027[31m.com) 1 rd", Q("\1\0", ONE, "\5\33[31m\3com\0" A IN) },
	{ "UTF-8 in a label", "(b\\195\\188.com) 1 rd", Q("\1\0", ONE, "\3b\303\274\3com\0" A IN) },
	{ "a blank in a label", "(a\\032b.com) 1 rd", Q("\1\0", ONE, "\3a b\3com\0" A IN) },
	{ "a backslash in a label", "(a\\\\b.com) 1 rd", Q("\1\0", ONE, "\3a\\b\3com\0" A IN) },
	{ "a star", "(*.example.org) 1 rd", Q("\1\0", ONE, "\1*\7example\3org\0" A IN) },
	{ "an address for a name", "(127.0.0.1) 1 rd",
	  Q("\1\0", ONE, "\003127\0010\0010\0011\0" A IN) },
	{ "a colon", "(a:443) 1 rd", Q("\1\0", ONE, "\5a:443\0" A IN) },
};

static void describe(const struct query_row *row, char *out, size_t size)
{
	struct launch_dns_query query;
	char spelled[NS_MAXDNAME];
	/* Of its exact size, so that reading past it is seen. */
	uint8_t *copy = malloc(row->len ? row->len : 1);
	int result;

	memcpy(copy, row->bytes, row->len);
	result = launch_dns_parse(copy, row->len, &query);
	free(copy);
	launch_dns_spell(&query, spelled);
	if (!strncmp(query.name, "aaaaaaaaab", 10))
		snprintf(query.name, sizeof(query.name), "label63.org");
	if (result < 0)
		snprintf(out, size, "%s", result == -EBADMSG ? "dropped" : "?");
	else if (result)
		snprintf(out, size, "%s",
			 result == ns_r_formerr	  ? "FORMERR"
			 : result == ns_r_notimpl ? "NOTIMP"
						  : "?");
	else if (query.name[0])
		snprintf(out, size, "%s %d%s", query.name, query.type, query.recurse ? " rd" : "");
	else
		snprintf(out, size, "(%s) %d%s", spelled, query.type, query.recurse ? " rd" : "");
}

static void check_queries(void)
{
	for (size_t i = 0; i < COUNT(queries); i++) {
		char text[NS_MAXDNAME + 32];

		describe(&queries[i], text, sizeof(text));
		is(text, queries[i].expected, "%s", queries[i].name);
	}
}

/* --- Answers --- */

static struct launch_dns_query ask_for(const char *type)
{
	struct launch_dns_query query;
	char bytes[] = "\x12\x34\1\0" ONE "\3wWw\7example\3org\0" A IN;

	memcpy(bytes + sizeof(bytes) - 5, type, 2);
	if (launch_dns_parse((uint8_t *)bytes, sizeof(bytes) - 1, &query))
		BAIL_OUT("cannot ask");
	return query;
}

static struct launch_dns_addrs some(size_t count, int family)
{
	struct launch_dns_addrs addrs = { .ttl = 300, .count = count };

	for (size_t i = 0; i < count; i++)
		addrs.each[i] = (struct sbx_addr){ .family = (uint8_t)family,
						   .bytes = { 192, 0, 2, (uint8_t)i } };
	return addrs;
}

static void check_answers(void)
{
	static const char nothing[] = "\x12\x34\201\203" ONE "\3wWw\7example\3org\0" A IN;
	static const char two[] = "\x12\x34\201\200\0\1\0\2\0\0\0\0\3wWw\7example\3org\0" A IN
				  "\300\14" A IN "\0\0\1\54\0\4\300\0\2\0"
				  "\300\14" A IN "\0\0\1\54\0\4\300\0\2\1";
	struct launch_dns_query query = ask_for(A), broken = { .id = 7 };
	struct launch_dns_addrs addrs = some(2, 4);
	uint8_t out[LAUNCH_DNS_MOST];
	size_t len = launch_dns_answer(&query, ns_r_nxdomain, NULL, 512, out);

	ok(len == sizeof(nothing) - 1 && !memcmp(out, nothing, len),
	   "NXDOMAIN repeats the question in its own spelling");
	len = launch_dns_answer(&query, ns_r_noerror, &addrs, 512, out);
	ok(len == sizeof(two) - 1 && !memcmp(out, two, len),
	   "addresses are given, with their time");
	len = launch_dns_answer(&query, ns_r_servfail, NULL, 512, out);
	ok(len == sizeof(nothing) - 1 && out[3] == 0x82, "SERVFAIL too");
	len = launch_dns_answer(&broken, ns_r_formerr, NULL, 512, out);
	ok(len == 12 && !memcmp(out, "\0\7\200\201\0\0\0\0\0\0\0\0", 12),
	   "what was not understood is not repeated");
}

static void check_truncation(void)
{
	for (int family = 4; family <= 6; family += 2) {
		struct launch_dns_query query = ask_for(family == 4 ? A : AAAA);
		struct launch_dns_addrs addrs = some(LAUNCH_DNS_ADDRS, family);
		uint8_t out[LAUNCH_DNS_MOST];
		size_t each = family == 4 ? 16 : 28, fits = (512 - 33) / each;
		size_t len = launch_dns_answer(&query, ns_r_noerror, &addrs, 512, out);
		ns_msg message;

		ok(len == 33 + fits * each && (out[2] & 2),
		   "a datagram has what fits, and says so");
		ok(ns_initparse(out, (int)len, &message) == 0 &&
			   ns_msg_count(message, ns_s_an) == fits,
		   "and is whole");
		len = launch_dns_answer(&query, ns_r_noerror, &addrs, LAUNCH_DNS_MOST, out);
		ok(len == 33 + LAUNCH_DNS_ADDRS * each && !(out[2] & 2) &&
			   ns_initparse(out, (int)len, &message) == 0,
		   "a stream has all");
		addrs.count = fits;
		(void)launch_dns_answer(&query, ns_r_noerror, &addrs, 512, out);
		ok(!(out[2] & 2), "what just fits is not cut");
	}
}

/* --- Replies --- */

struct reply_row {
	const char *name;
	const char *expected; /* rcode, time and addresses */
	const char *asked;
	const uint8_t *bytes;
	size_t len;
};

#define R(flags, counts, rest) BYTES("\x12\x34" flags counts rest)
#define ADDR(owner, ttl, bytes) owner A IN ttl "\0\4" bytes
#define ADDR6(owner, ttl, bytes) owner AAAA IN ttl "\0\20" bytes
#define TO_B "\300\14" CNAME IN HOUR "\0\4\1b\300\20"
#define B "\1b\7example\3org\0"
#define COUNTS(n) "\0\1\0" n "\0\0\0\0"
#define OK "\201\200"

static const struct reply_row replies[] = {
	{ "an address", "0 60 1.2.3.4", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\14", "\0\0\0\74", "\1\2\3\4")) },
	{ "an IPv6 address", "0 60 2001:db8::1", "AAAA",
	  R(OK, COUNTS("\1"),
	    WWW AAAA IN ADDR6("\300\14", "\0\0\0\74", "\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1")) },
	{ "two, and the lesser time", "0 30 1.2.3.4 1.2.3.5", "A",
	  R(OK, COUNTS("\2"),
	    WWW A IN ADDR("\300\14", "\0\0\0\74", "\1\2\3\4")
		    ADDR("\300\14", "\0\0\0\36", "\1\2\3\5")) },
	{ "another spelling", "0 3600 1.2.3.4", "A",
	  R(OK, COUNTS("\1"),
	    "\3WWW\7Example\3org\0" A IN ADDR("\3wWw\300\20", HOUR, "\1\2\3\4")) },
	{ "time 0", "0 0 1.2.3.4", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\14", "\0\0\0\0", "\1\2\3\4")) },
	{ "a huge time is bounded", "0 3600 1.2.3.4", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\14", "\177\377\377\377", "\1\2\3\4")) },
	{ "a negative time is none", "0 0 1.2.3.4", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\14", "\200\0\0\0", "\1\2\3\4")) },
	{ "private addresses are addresses", "0 3600 127.0.0.1 10.0.0.1", "A",
	  R(OK, COUNTS("\2"),
	    WWW A IN ADDR("\300\14", HOUR, "\177\0\0\1") ADDR("\300\14", HOUR, "\12\0\0\1")) },
	{ "a CNAME and what it leads to", "0 60 1.2.3.4", "A",
	  R(OK, COUNTS("\2"), WWW A IN TO_B ADDR(B, "\0\0\0\74", "\1\2\3\4")) },
	{ "in the other order", "0 3600 1.2.3.4", "A",
	  R(OK, COUNTS("\2"), WWW A IN ADDR(B, HOUR, "\1\2\3\4") TO_B) },
	{ "a CNAME's time counts", "0 1 1.2.3.4", "A",
	  R(OK, COUNTS("\2"),
	    WWW A IN "\300\14" CNAME IN "\0\0\0\1\0\4\1b\300\20" ADDR(B, HOUR, "\1\2\3\4")) },
	{ "a CNAME that leads nowhere", "0 3600", "A", R(OK, COUNTS("\1"), WWW A IN TO_B) },
	{ "no such name", "3 3600", "A", R("\201\203", COUNTS("\0"), WWW A IN) },
	{ "no addresses", "0 3600", "A", R(OK, COUNTS("\0"), WWW A IN) },
	{ "a failure", "2 3600", "A", R("\201\202", COUNTS("\0"), WWW A IN) },
	{ "a truncated one", "0 3600 truncated", "A", R("\203\200", COUNTS("\0"), WWW A IN) },
	{ "truncated inside a record", "0 3600 truncated", "A",
	  R("\203\200", COUNTS("\1"), WWW A IN "\300\14" A IN "\0\0") },
	{ "addresses of a failure are none", "3 3600", "A",
	  R("\201\203", COUNTS("\1"), WWW A IN ADDR("\300\14", HOUR, "\1\2\3\4")) },
	{ "the address of another name", "0 3600", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR(B, HOUR, "\1\2\3\4")) },
	{ "of a look-alike", "0 3600", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\4wwww\300\20", HOUR, "\1\2\3\4")) },
	{ "of the same name with a dot in a label", "0 3600", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\13www.example\3org\0", HOUR, "\1\2\3\4")) },
	{ "in another section", "0 3600", "A",
	  R(OK, "\0\1\0\0\0\1\0\1",
	    WWW A IN ADDR("\300\14", HOUR, "\1\2\3\4") ADDR("\300\14", HOUR, "\1\2\3\5")) },
	{ "behind a CNAME of another section", "0 3600", "A",
	  R(OK, "\0\1\0\1\0\0\0\1", WWW A IN TO_B ADDR(B, HOUR, "\1\2\3\4")) },
	{ "of another class", "0 3600", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" A "\0\3" HOUR "\0\4\1\2\3\4") },
	{ "of another type", "0 3600", "AAAA",
	  R(OK, COUNTS("\1"), WWW AAAA IN ADDR("\300\14", HOUR, "\1\2\3\4")) },
	{ "of five bytes", "0 3600", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" A IN HOUR "\0\5\1\2\3\4\5") },
	{ "of no bytes", "0 3600", "A", R(OK, COUNTS("\1"), WWW A IN "\300\14" A IN HOUR "\0\0") },
	{ "another id", "ignored", "A",
	  BYTES("\x12\x35" OK COUNTS("\1") WWW A IN ADDR("\300\14", HOUR, "\1\2\3\4")) },
	{ "a query", "ignored", "A", R("\1\0", COUNTS("\0"), WWW A IN) },
	{ "another opcode", "ignored", "A", R("\221\200", COUNTS("\0"), WWW A IN) },
	{ "another question", "ignored", "A", R(OK, COUNTS("\0"), B A IN) },
	{ "a question of another type", "ignored", "A", R(OK, COUNTS("\0"), WWW AAAA IN) },
	{ "a question of another class", "ignored", "A", R(OK, COUNTS("\0"), WWW A "\0\3") },
	{ "no question", "ignored", "A", R(OK, "\0\0\0\1\0\0\0\0", ADDR(WWW, HOUR, "\1\2\3\4")) },
	{ "two questions", "ignored", "A", R(OK, "\0\2\0\0\0\0\0\0", WWW A IN WWW A IN) },
	{ "nothing", "ignored", "A", R("", "", "") },
	{ "a header", "ignored", "A", R(OK, COUNTS("\0"), "") },
	{ "a question cut short", "ignored", "A", R(OK, COUNTS("\0"), WWW A) },
	{ "a record cut short", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" A IN HOUR "\0\4\1\2\3") },
	{ "fewer records than said", "ignored", "A",
	  R(OK, COUNTS("\2"), WWW A IN ADDR("\300\14", HOUR, "\1\2\3\4")) },
	{ "bytes behind the end", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\14", HOUR, "\1\2\3\4") "x") },
	{ "an owner that points at itself", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\300\41", HOUR, "\1\2\3\4")) },
	{ "two owners that point at each other", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN ADDR("\1x\300\45\1y\300\41", HOUR, "\1\2\3\4")) },
	{ "a question that points at itself", "ignored", "A", R(OK, COUNTS("\0"), "\300\14" A IN) },
	{ "a CNAME to itself", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" CNAME IN HOUR "\0\2\300\14") },
	{ "two CNAMEs in a circle", "ignored", "A",
	  R(OK, COUNTS("\2"), WWW A IN TO_B B CNAME IN HOUR "\0\2\300\14") },
	{ "a CNAME whose name points at itself", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" CNAME IN HOUR "\0\2\300\55") },
	{ "a CNAME shorter than its name", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" CNAME IN HOUR "\0\1\1b\300\20") },
	{ "a CNAME longer than its name", "ignored", "A",
	  R(OK, COUNTS("\1"), WWW A IN "\300\14" CNAME IN HOUR "\0\6\1b\300\20xx") },
};

static void read_row(const struct reply_row *row, char *out, size_t size)
{
	struct launch_dns_ask ask = { .name = "www.example.org",
				      .type = strcmp(row->asked, "A") ? ns_t_aaaa : ns_t_a,
				      .id = 0x1234 };
	struct launch_dns_reply reply;
	uint8_t *copy = malloc(row->len ? row->len : 1);
	size_t at = 0;

	memcpy(copy, row->bytes, row->len);
	if (launch_dns_read(&ask, copy, row->len, &reply) < 0) {
		snprintf(out, size, "ignored");
	} else {
		at += (size_t)snprintf(out, size, "%d %u%s", reply.rcode, reply.addrs.ttl,
				       reply.truncated ? " truncated" : "");
		for (size_t i = 0; i < reply.addrs.count; i++) {
			char text[46];

			sbx_addr_format(&reply.addrs.each[i], text);
			at += (size_t)snprintf(out + at, size - at, " %s", text);
		}
	}
	free(copy);
}

static void check_replies(void)
{
	for (size_t i = 0; i < COUNT(replies); i++) {
		char text[512];

		read_row(&replies[i], text, sizeof(text));
		is(text, replies[i].expected, "a reply: %s", replies[i].name);
	}
}

static void check_cuts(void)
{
	size_t understood = 0, changed = 0;

	for (size_t i = 0; i < COUNT(replies); i++) {
		/* Of these, one is cut to what it should be. */
		if (!strcmp(replies[i].expected, "ignored"))
			continue;
		for (size_t len = 0; len < replies[i].len; len++) {
			struct reply_row row = replies[i];
			char text[512];

			row.len = len;
			read_row(&row, text, sizeof(text));
			understood += strchr(text, '.') != NULL;
			changed++;
		}
	}
	ok(understood == 0, "of %zu replies that were cut none has addresses", changed);
}

/* --- Long ones --- */

static size_t put_record(uint8_t *at, const char *owner, int type, const void *data, size_t len)
{
	uint8_t *from = at;
	int used = ns_name_pton(owner, at, 255) < 0 ? -1 : 0;

	for (; used == 0 && *at; at += *at + 1)
		;
	at++;
	NS_PUT16(type, at);
	NS_PUT16(ns_c_in, at);
	NS_PUT32(60, at);
	NS_PUT16(len, at);
	memcpy(at, data, len);
	return (size_t)(at + len - from);
}

static size_t begin(uint8_t *bytes, int answers)
{
	uint8_t head[] = "\x12\x34" OK "\0\1\0\0\0\0\0\0" WWW A IN;

	head[6] = (uint8_t)(answers >> 8);
	head[7] = (uint8_t)answers;
	memcpy(bytes, head, sizeof(head) - 1);
	return sizeof(head) - 1;
}

static size_t addresses_behind(int hops)
{
	struct launch_dns_ask ask = { "www.example.org", ns_t_a, 0x1234 };
	struct launch_dns_reply reply = { 0 };
	uint8_t bytes[4096];
	size_t len = begin(bytes, hops + 1);
	char owner[32] = "www.example.org";

	for (int i = 0; i < hops; i++) {
		char next[32];
		uint8_t wire[64];

		snprintf(next, sizeof(next), "n%d.test", i);
		if (ns_name_pton(next, wire, sizeof(wire)) < 0)
			BAIL_OUT("no name");
		len += put_record(bytes + len, owner, ns_t_cname, wire, strlen((char *)wire) + 1);
		memcpy(owner, next, sizeof(next));
	}
	len += put_record(bytes + len, owner, ns_t_a, "\1\2\3\4", 4);
	return launch_dns_read(&ask, bytes, len, &reply) < 0 ? 99 : reply.addrs.count;
}

static void check_long(void)
{
	struct launch_dns_ask ask = { "www.example.org", ns_t_a, 0x1234 };
	struct launch_dns_reply reply;
	static uint8_t bytes[65536];
	size_t len = begin(bytes, 2000);

	cmp_ok((int)addresses_behind(16), "==", 1, "16 CNAMEs are followed");
	cmp_ok((int)addresses_behind(17), "==", 99, "17 are too many");
	for (int i = 0; i < 2000; i++)
		len += put_record(bytes + len, "www.example.org", ns_t_a, "\1\2\3\4", 4);
	ok(launch_dns_read(&ask, bytes, len, &reply) == 0 && reply.addrs.count == LAUNCH_DNS_ADDRS,
	   "of 2000 addresses %d are taken", LAUNCH_DNS_ADDRS);
	ok(launch_dns_read(&ask, bytes, 65536, &reply) < 0, "a message has less than 64 KB");
}

static void check_make(void)
{
	static const char expected[] = "\x12\x34\1\0" ONE WWW AAAA IN;
	struct launch_dns_ask ask = { "www.example.org", ns_t_aaaa, 0x1234 };
	uint8_t out[LAUNCH_DNS_DATAGRAM];
	struct launch_dns_query query;
	char name[SBX_HOST_MAX];
	size_t len = launch_dns_make(&ask, out);

	ok(len == sizeof(expected) - 1 && !memcmp(out, expected, len), "what is asked upstream");
	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = i % 64 == 63 ? '.' : 'a';
	name[sizeof(name) - 1] = '\0';
	ask.name = name;
	len = launch_dns_make(&ask, out);
	ok(len == 12 + 255 + 4 && launch_dns_parse(out, len, &query) == 0,
	   "the longest name can be asked");
	is(query.name, name, "and is understood");
}

int main(void)
{
	plan(NO_PLAN);
	check_queries();
	check_answers();
	check_truncation();
	check_replies();
	check_cuts();
	check_long();
	check_make();
	done_testing();
}
