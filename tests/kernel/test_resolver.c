/* SPDX-License-Identifier: MIT */
/*
 * The sandbox's resolver, asked from inside a network of its own by way of any address, with a server
 * of the test's own behind it that answers, lies, cuts, and says nothing.
 */
#include "nets.h"

#include "../unit/load.h"
#include "resolver.h"
#include "watch.h"

#include <netdb.h>
#include <nss.h>
#include <pthread.h>
#include <resolv.h>
#include <stdatomic.h>
#include <sys/time.h>

#define PATIENCE_MS 200 /* of the resolver, with its server */
#define MANY 40 /* addresses, too many for a datagram */

struct findings *findings;

/* --- The server, in the network outside --- */

static struct {
	int udp, other, tcp;
	int port;
	_Atomic unsigned int asked; /* queries, of all names */
	_Atomic unsigned int streams;
	pthread_mutex_t lock;
	char names[65536]; /* all that were ever asked for */
	_Atomic uint16_t ports[64], ids[64]; /* where they came from */
} server = { .lock = PTHREAD_MUTEX_INITIALIZER };

struct heard {
	uint8_t bytes[512];
	size_t len;
	char name[NS_MAXDNAME];
	int type;
	unsigned int nth; /* query for this name */
};

static bool hear(struct heard *heard)
{
	ns_msg message;
	ns_rr question;
	size_t used;

	if (ns_initparse(heard->bytes, (int)heard->len, &message) < 0 ||
	    ns_parserr(&message, ns_s_qd, 0, &question) < 0)
		return false;
	snprintf(heard->name, sizeof(heard->name), "%s", ns_rr_name(question));
	heard->type = ns_rr_type(question);
	heard->nth = 0;
	pthread_mutex_lock(&server.lock);
	for (const char *at = server.names; (at = strstr(at, heard->name)); at++)
		heard->nth++;
	used = strlen(server.names);
	snprintf(server.names + used, sizeof(server.names) - used, "%s\n", heard->name);
	pthread_mutex_unlock(&server.lock);
	return true;
}

static size_t put_addr(uint8_t *at, int type, uint32_t ttl, uint8_t last)
{
	static const uint8_t v6[16] = { 0x20, 0x01, 0x0d, 0xb8, 0, 5 };
	uint8_t *from = at;
	size_t len = type == ns_t_a ? 4 : 16;

	NS_PUT16(0xc00c, at);
	NS_PUT16(type, at);
	NS_PUT16(ns_c_in, at);
	NS_PUT32(ttl, at);
	NS_PUT16(len, at);
	memcpy(at, type == ns_t_a ? (const uint8_t[]){ 198, 51, 100, last } : v6, len);
	at[len - 1] = last;
	return (size_t)(at + len - from);
}

/* A reply with 'count' addresses that end in 'last' and so on. */
static size_t make(const struct heard *heard, uint8_t *out, int rcode, int count, uint8_t last)
{
	size_t len = heard->len;

	memcpy(out, heard->bytes, len);
	out[2] = 0x81;
	out[3] = (uint8_t)(0x80 | rcode);
	out[6] = 0;
	out[7] = (uint8_t)count;
	for (int i = 0; i < count; i++)
		len += put_addr(out + len, heard->type, strstr(heard->name, "zero.") ? 0 : 1000,
				(uint8_t)(last + i));
	return len;
}

static bool begins(const struct heard *heard, const char *label)
{
	return !strncmp(heard->name, label, strlen(label)) && heard->name[strlen(label)] == '.';
}

static void send_from(int fd, const union where *to, const uint8_t *bytes, size_t len)
{
	(void)sendto(fd, bytes, len, 0, &to->any, where_len(to));
}

#define EVIL 66
#define GOOD 1

/* What comes before the right answer; false when none comes at all. */
static bool lie(const struct heard *heard, const union where *to, uint8_t *out)
{
	size_t len = make(heard, out, 0, 1, EVIL);

	if (begins(heard, "wrongid")) {
		out[1] ^= 1;
	} else if (begins(heard, "wrongname")) {
		out[13] ^= 1;
	} else if (begins(heard, "wrongtype")) {
		out[heard->len - 3] = ns_t_txt;
	} else if (begins(heard, "noreply")) {
		out[2] = 1;
	} else if (begins(heard, "othersource")) {
		send_from(server.other, to, out, len);
		return true;
	} else if (begins(heard, "garbage") || begins(heard, "onlygarbage")) {
		memset(out + 2, 0xc0, 60);
		len = 62;
	} else if (begins(heard, "flood")) {
		/* Only the first try of all: after some of that the resolver gives it up. */
		for (int i = 0; heard->nth == 0 && i < 60; i++) {
			out[1]++;
			send_from(server.udp, to, out, len);
		}
		return heard->nth > 0;
	} else {
		return !(begins(heard, "silent") || (begins(heard, "late") && heard->nth == 0));
	}
	send_from(server.udp, to, out, len);
	return !begins(heard, "onlygarbage");
}

static size_t tell(const struct heard *heard, uint8_t *out, bool stream)
{
	size_t len;

	if (begins(heard, "nx"))
		return make(heard, out, ns_r_nxdomain, 0, 0);
	if (begins(heard, "fails"))
		return make(heard, out, ns_r_servfail, 0, 0);
	if (begins(heard, "empty"))
		return make(heard, out, 0, 0, 0);
	if (begins(heard, "many") || begins(heard, "cut") || begins(heard, "slow")) {
		len = make(heard, out, 0, stream ? MANY : 3, GOOD);
		out[2] |= stream ? 0 : 2;
		return len;
	}
	if (begins(heard, "private")) {
		len = make(heard, out, 0, 1, GOOD);
		memcpy(out + len - 4, "\177\0\0\1", 4);
		return len;
	}
	return make(heard, out, 0, 1, GOOD);
}

static void *serve_datagrams(void *arg)
{
	struct heard heard;
	union where from = where_is("0.0.0.0", 0);
	socklen_t from_len = sizeof(from);
	uint8_t out[4096];
	ssize_t got;

	(void)arg;
	while ((got = recvfrom(server.udp, heard.bytes, sizeof(heard.bytes), 0, &from.any,
			       &from_len)) > 0) {
		unsigned int nth = server.asked++;

		from_len = sizeof(from);
		heard.len = (size_t)got;
		server.ports[nth % 64] = from.v4.sin_port;
		server.ids[nth % 64] = (uint16_t)(heard.bytes[0] << 8 | heard.bytes[1]);
		if (hear(&heard) && lie(&heard, &from, out))
			send_from(server.udp, &from, out, tell(&heard, out, false));
	}
	return NULL;
}

static void *serve_streams(void *arg)
{
	struct heard heard;
	uint8_t out[4096], length[2];
	int fd;

	(void)arg;
	while ((fd = accept(server.tcp, NULL, NULL)) >= 0) {
		size_t len;

		server.streams++;
		if (recv(fd, length, 2, MSG_WAITALL) == 2 &&
		    (heard.len = (size_t)(length[0] << 8 | length[1])) <= 512 &&
		    recv(fd, heard.bytes, heard.len, MSG_WAITALL) == (ssize_t)heard.len &&
		    hear(&heard) && !begins(&heard, "cut")) {
			len = tell(&heard, out + 2, true);
			out[0] = (uint8_t)(len >> 8);
			out[1] = (uint8_t)len;
			/* A byte now and then must not keep a try alive. */
			for (size_t i = 0; begins(&heard, "slow") && i < 20; i++) {
				if (send(fd, out + i, 1, MSG_NOSIGNAL) < 0)
					break;
				usleep(PATIENCE_MS * 1000 / 5);
			}
			if (!begins(&heard, "slow"))
				(void)send(fd, out, len + 2, MSG_NOSIGNAL);
		}
		close(fd);
	}
	return NULL;
}

static bool start_server(void)
{
	union where any = where_is("127.0.0.1", 0);
	socklen_t len = sizeof(any);
	pthread_t thread;

	server.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	server.other = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	server.tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(server.other, &any.any, where_len(&any)) < 0 ||
	    bind(server.udp, &any.any, where_len(&any)) < 0 ||
	    getsockname(server.udp, &any.any, &len) < 0 ||
	    bind(server.tcp, &any.any, where_len(&any)) < 0 || listen(server.tcp, 8) < 0)
		return false;
	server.port = ntohs(any.v4.sin_port);
	return pthread_create(&thread, NULL, serve_datagrams, NULL) == 0 &&
	       pthread_create(&thread, NULL, serve_streams, NULL) == 0;
}

/* --- Questions, in the network inside --- */

struct told {
	int rcode; /* -1: nothing came */
	bool cut, whole;
	int count;
	uint32_t ttl;
	int first; /* the last byte of the first address */
	uint8_t addr[16];
	char owner[NS_MAXDNAME];
};

static struct told read_told(const uint8_t *bytes, ssize_t len, uint16_t id)
{
	struct told told = { .rcode = -1 };
	ns_msg message;
	ns_rr record;

	if (len <= 0 || ns_initparse(bytes, (int)len, &message) < 0 || ns_msg_id(message) != id)
		return told;
	told.rcode = ns_msg_getflag(message, ns_f_rcode);
	told.cut = ns_msg_getflag(message, ns_f_tc);
	told.whole = ns_msg_count(message, ns_s_ns) == 0 && ns_msg_count(message, ns_s_ar) == 0;
	told.count = ns_msg_count(message, ns_s_an);
	if (!told.count || ns_parserr(&message, ns_s_an, 0, &record) < 0)
		return told;
	told.ttl = ns_rr_ttl(record);
	told.first = ns_rr_rdata(record)[ns_rr_rdlen(record) - 1];
	memcpy(told.addr, ns_rr_rdata(record), ns_rr_rdlen(record) > 16 ? 16 : ns_rr_rdlen(record));
	snprintf(told.owner, sizeof(told.owner), "%s", ns_rr_name(record));
	return told;
}

static size_t make_query(uint8_t out[512], uint16_t id, const char *name, int type)
{
	uint8_t *at = out;

	NS_PUT16(id, at);
	memcpy(at, "\1\0\0\1\0\0\0\0\0\0", 10);
	at += 10;
	if (ns_name_pton(name, at, 255) < 0)
		BAIL_OUT("'%s' is no name", name);
	while (*at)
		at += *at + 1;
	at++;
	NS_PUT16(type, at);
	NS_PUT16(ns_c_in, at);
	return (size_t)(at - out);
}

static int open_to(const char *address, int type, int seconds)
{
	union where to = where_is(address, 53);
	struct timeval patience = { .tv_sec = seconds };
	int fd = socket(to.any.sa_family, type | SOCK_CLOEXEC, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, &to.any, where_len(&to)) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* A connected socket hears but whom it asked. */
static struct told ask_at(const char *address, const char *name, int type)
{
	static uint16_t id = 77;
	uint8_t bytes[4096];
	int fd = open_to(address, SOCK_DGRAM, 5);
	size_t len = make_query(bytes, ++id, name, type);
	ssize_t got = send(fd, bytes, len, 0) < 0 ? -1 : recv(fd, bytes, sizeof(bytes), 0);

	close(fd);
	return read_told(bytes, got, id);
}

static struct told ask(const char *name, int type)
{
	return ask_at("8.8.8.8", name, type);
}

static struct told read_stream(int fd, uint16_t id)
{
	uint8_t bytes[4096], length[2];
	ssize_t got = -1;

	if (recv(fd, length, 2, MSG_WAITALL) == 2)
		got = recv(fd, bytes, (size_t)(length[0] << 8 | length[1]), MSG_WAITALL);
	return read_told(bytes, got, id);
}

static bool send_stream(int fd, const char *name, int type, uint16_t id)
{
	uint8_t bytes[514];
	size_t len = make_query(bytes + 2, id, name, type);

	bytes[0] = (uint8_t)(len >> 8);
	bytes[1] = (uint8_t)len;
	return send(fd, bytes, len + 2, MSG_NOSIGNAL) == (ssize_t)len + 2;
}

/* --- The resolver --- */

static const struct sbx_image *image;
static struct launch_upstream upstream;
static struct launch_pins *pins;
static struct launch_netspace space;
static struct launch_resolver *resolver;
static _Atomic unsigned int refusals;
static char last_refused[NS_MAXDNAME];

static bool allowed(void *arg, const char *name)
{
	struct sbx_verdict verdict;

	(void)arg;
	return launch_lookup_allowed(image, name, &verdict);
}

static void refused(void *arg, const char *name)
{
	(void)arg;
	pthread_mutex_lock(&server.lock);
	snprintf(last_refused, sizeof(last_refused), "%s", name);
	pthread_mutex_unlock(&server.lock);
	refusals++;
}

static bool was_refused(const char *name)
{
	bool same;

	pthread_mutex_lock(&server.lock);
	same = !strcmp(last_refused, name);
	pthread_mutex_unlock(&server.lock);
	return same;
}

static bool was_asked(const char *name)
{
	bool found;

	pthread_mutex_lock(&server.lock);
	found = strstr(server.names, name);
	pthread_mutex_unlock(&server.lock);
	return found;
}

static bool is_name(void *arg, const char *name)
{
	return !strcmp(arg, name);
}

static bool is_pinned(const char *address, const char *name)
{
	struct sbx_addr addr;

	return sbx_addr_parse(address, strlen(address), &addr) &&
	       launch_pins_find(pins, &addr, launch_now(), is_name, (void *)name);
}

/* The resolver does one thing after the other: what was asked before this is over after it. */
static void settle(void)
{
	(void)ask("ok.allowed.test", ns_t_a);
}

static void check_allowed(void)
{
	struct told told = ask("ok.allowed.test", ns_t_a);

	expect(told.rcode == 0 && told.count == 1 && told.first == GOOD && told.whole &&
		       told.ttl == 1000,
	       "an allowed name has its address, whatever server is asked");
	expect(is_pinned("198.51.100.1", "ok.allowed.test"), "which is pinned");
	expect(is_pinned("::ffff:198.51.100.1", "ok.allowed.test"), "in whatever form");
	expect(!is_pinned("198.51.100.1", "allowed.test") &&
		       !is_pinned("198.51.100.2", "ok.allowed.test"),
	       "and no other");
	told = ask_at("10.0.0.53", "exact.test", ns_t_a);
	expect(told.rcode == 0 && told.count == 1 && is_pinned("198.51.100.1", "exact.test") &&
		       is_pinned("198.51.100.1", "ok.allowed.test"),
	       "two names may have one address, and both are found");
	told = ask("OK.Allowed.TEST", ns_t_a);
	expect(told.count == 1 && !strcmp(told.owner, "OK.Allowed.TEST"),
	       "an answer has the spelling of its question");
	told = ask("ok.allowed.test", ns_t_aaaa);
	expect(told.rcode == 0 && told.count == space.ipv6,
	       "IPv6 addresses are given where there is IPv6");
	expect(is_pinned("2001:db8:5::1", "ok.allowed.test") == space.ipv6, "and pinned");
	told = ask("zero.allowed.test", ns_t_a);
	expect(told.count == 1 && told.ttl == 0 && is_pinned("198.51.100.1", "zero.allowed.test"),
	       "who must not be kept is pinned for a minute");
}

static void check_types(void)
{
	static const int types[] = { ns_t_txt, ns_t_mx, ns_t_srv, ns_t_any, 64, 65, ns_t_soa };
	unsigned int before = server.asked;
	bool empty = true;

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		struct told told = ask("types.allowed.test", types[i]);

		empty &= told.rcode == 0 && told.count == 0 && told.whole;
	}
	expect(empty && server.asked == before, "nothing but addresses is looked up");
}

static void check_refused(void)
{
	static const char *const names[] = { "refused.test",
					     "notallowed.test",
					     "allowed.test",
					     "secret-payload.evil.test",
					     "ok.allowed.test.evil.test",
					     "exact.test.evil",
					     "notexact.test",
					     "ok.allowed\\.test",
					     "ok\\000.allowed.test",
					     "denied.allowed.test" };
	unsigned int before = refusals, asked = server.asked;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct told told = ask(names[i], i % 2 ? ns_t_aaaa : ns_t_a);

		expect(told.rcode == ns_r_nxdomain && !told.count, "'%s' is no name", names[i]);
	}
	settle();
	expect(refusals == before + sizeof(names) / sizeof(names[0]), "each is reported");
	expect(server.asked == asked + 1 && !was_asked("evil"), "and none gets to the server");
	before = refusals;
	(void)ask("words.test", ns_t_a);
	(void)ask("words.test", ns_t_aaaa);
	(void)ask("WORDS.test", ns_t_a);
	settle();
	expect(refusals == before + 1 && was_refused("words.test"),
	       "who asks for both families is told once");
	(void)ask("nul\\000.test", ns_t_a);
	settle();
	expect(was_refused("nul\\000.test"), "odd names are shown as they are");
	before = refusals;
	asked = server.asked;
	(void)ask("ok.allowed.test.corp.example", ns_t_a);
	(void)ask("1.100.51.198.in-addr.arpa", ns_t_ptr);
	(void)ask(".", ns_t_ns);
	settle();
	expect(refusals == before && server.asked == asked + 1,
	       "what libc appends, reverse look-ups and the root are refused without a word");
}

static void check_local(void)
{
	unsigned int before = server.asked;
	struct told told = ask("localhost", ns_t_a);

	expect(told.count == 1 && !memcmp(told.addr, "\177\0\0\1", 4), "localhost is 127.0.0.1");
	told = ask("app.localhost", ns_t_aaaa);
	expect(told.rcode == 0 && told.count == space.ipv6 && (!told.count || told.first == 1),
	       "and all below it ::1");
	expect(!is_pinned("127.0.0.1", "localhost") && !is_pinned("127.0.0.1", "app.localhost"),
	       "loopback is not pinned");
	told = ask("listed.allowed.test", ns_t_a);
	expect(told.count == 1 && !memcmp(told.addr, "\313\0\161\7", 4),
	       "a name from the file of hosts");
	told = ask("listed.allowed.test", ns_t_aaaa);
	expect(told.rcode == 0 && told.count == 0, "has the addresses that are there");
	expect(is_pinned("203.0.113.8", "unasked.allowed.test"),
	       "allowed names of the file are pinned before they are asked for");
	told = ask("listed.evil.test", ns_t_a);
	expect(told.rcode == ns_r_nxdomain && !is_pinned("203.0.113.9", "listed.evil.test"),
	       "others of the file are refused");
	expect(server.asked == before, "and nobody was asked");
	told = ask("private.allowed.test", ns_t_a);
	expect(told.count == 1 && is_pinned("127.0.0.1", "private.allowed.test"),
	       "a name that leads to loopback is given, and known as that");
}

static void check_honest(void)
{
	struct told told = ask("nx.allowed.test", ns_t_a);

	expect(told.rcode == ns_r_nxdomain, "a name that is not there");
	told = ask("empty.allowed.test", ns_t_a);
	expect(told.rcode == 0 && !told.count, "a name without addresses");
	told = ask("fails.allowed.test", ns_t_a);
	expect(told.rcode == ns_r_servfail, "a server that fails");
	told = ask("late.allowed.test", ns_t_a);
	expect(told.count == 1 && told.first == GOOD, "a server that answers the second try");
	told = ask("silent.allowed.test", ns_t_a);
	expect(told.rcode == ns_r_servfail, "a server that never answers");
	told = ask("many.allowed.test", ns_t_a);
	expect(told.cut && told.count > 10 && told.count < MANY && server.streams > 0,
	       "what the server cuts is asked for by TCP, and cut for a datagram");
	expect(is_pinned("198.51.100.40", "many.allowed.test"), "all of it is pinned");
	told = ask("cut.allowed.test", ns_t_a);
	expect(told.rcode == ns_r_servfail, "a server that cuts, and hangs up");
	told = ask("slow.allowed.test", ns_t_a);
	expect(told.rcode == ns_r_servfail, "a server that sends a byte now and then");
}

static void check_liars(void)
{
	static const char *const liars[] = { "wrongid",	    "wrongname", "wrongtype", "noreply",
					     "othersource", "garbage",	 "flood" };

	for (size_t i = 0; i < sizeof(liars) / sizeof(liars[0]); i++) {
		char name[64];
		struct told told;

		snprintf(name, sizeof(name), "%s.allowed.test", liars[i]);
		told = ask(name, ns_t_a);
		expect(told.count == 1 && told.first == GOOD, "the right answer after '%s'",
		       liars[i]);
	}
	expect(ask("onlygarbage.allowed.test", ns_t_a).rcode == ns_r_servfail,
	       "garbage alone is no answer");
	expect(!is_pinned("198.51.100.66", "wrongid.allowed.test") &&
		       !is_pinned("198.51.100.66", "othersource.allowed.test"),
	       "what a liar said is not pinned");
}

/* Chance makes two of 64 alike in one of some runs, never half of them. */
static void check_random(void)
{
	int same = 0, rising = 0;

	for (int i = 0; i < 64; i++)
		(void)ask("random.allowed.test", ns_t_a);
	for (int i = 1; i < 64; i++) {
		same += server.ports[i] == server.ports[i - 1];
		same += server.ids[i] == server.ids[i - 1];
		rising += (uint16_t)(server.ids[i] - server.ids[i - 1]) < 256;
	}
	expect(same < 8 && rising < 8, "ports and ids are no series");
}

static void check_streams(void)
{
	int fd = open_to("9.9.9.9", SOCK_STREAM, 5);
	bool both = send_stream(fd, "many.allowed.test", ns_t_a, 1) &&
		    send_stream(fd, "refused.test", ns_t_a, 2);
	struct told first = read_stream(fd, 1), second = read_stream(fd, 2);

	expect(both && first.count == MANY && !first.cut && first.whole, "by TCP all is given");
	expect(second.rcode == ns_r_nxdomain, "and queries are answered one after the other");
	close(fd);
	fd = open_to("9.9.9.9", SOCK_STREAM, 5);
	(void)send(fd, "\377\377abc", 5, MSG_NOSIGNAL);
	expect(recv(fd, &both, 1, 0) <= 0, "who sends too much is hung up on");
	close(fd);
	fd = open_to("9.9.9.9", SOCK_STREAM, 5);
	(void)send(fd, "\0\14abcdefghijkl", 14, MSG_NOSIGNAL);
	(void)send_stream(fd, "silent.allowed.test", ns_t_a, 3);
	close(fd);
	expect(ask("ok.allowed.test", ns_t_a).count == 1, "who hangs up disturbs nobody");
}

/* More than are served, that say nothing. */
static void check_crowd(void)
{
	int fds[LAUNCH_STREAMS_MOST + 8];

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		fds[i] = open_to("9.9.9.9", SOCK_STREAM, 1);
	expect(ask("ok.allowed.test", ns_t_a).count == 1, "a crowd by TCP disturbs no datagram");
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		close(fds[i]);
	fds[0] = open_to("9.9.9.9", SOCK_STREAM, 5);
	expect(send_stream(fds[0], "ok.allowed.test", ns_t_a, 9) &&
		       read_stream(fds[0], 9).count == 1,
	       "and once it has gone, others are served");
	close(fds[0]);
}

static void check_hostile(void)
{
	static const char *const messages[] = { "", "x", "\1\2\1\0\0\1\0\0\0\0\0\0",
						"\1\2\201\200\0\1\0\0\0\0\0\0" };
	int fd = open_to("8.8.8.8", SOCK_DGRAM, 1), got = 0;
	uint8_t big[4096], bytes[512];

	memset(big, 0xc0, sizeof(big));
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++)
		(void)send(fd, messages[i], i < 2 ? i : 12, 0);
	(void)send(fd, big, sizeof(big), 0);
	while (recv(fd, bytes, sizeof(bytes), 0) > 0)
		got++;
	close(fd);
	expect(got == 1 && (bytes[3] & 15) == ns_r_formerr,
	       "of nonsense only what looks like a query is answered");
	expect(ask("ok.allowed.test", ns_t_a).count == 1, "and then all is as before");
}

/* Pages that the process has. */
static long memory(void)
{
	long size, resident = -1;
	FILE *file = fopen("/proc/self/statm", "re");
	char line[128] = "", *rest;

	if (file && fgets(line, sizeof(line), file)) {
		size = strtol(line, &rest, 10);
		resident = size ? strtol(rest, NULL, 10) : -1;
	}
	if (file)
		fclose(file);
	return resident;
}

static void check_bounds(void)
{
	unsigned int asked = server.asked;
	size_t pinned = launch_pins_count(pins);
	uint64_t from = launch_now();
	long before = memory();
	int right = 0;

	for (int i = 0; i < 10000; i++) {
		char name[64];

		if (i == 100)
			before = memory();
		snprintf(name, sizeof(name), "x%d.evil.test", i);
		right += ask(name, ns_t_a).rcode == ns_r_nxdomain;
	}
	expect(right == 10000 && server.asked == asked, "10,000 names are refused, in %d ms",
	       (int)(launch_now() - from));
	expect(memory() - before < 64, "and cost no memory: %ld pages", memory() - before);
	expect(launch_pins_count(pins) == pinned, "nor pins");
}

/* All at once, and more than are looked up at once. */
static void check_many(void)
{
	enum {
		SENT = LAUNCH_LOOKUPS_MOST + 40
	};
	int fd = open_to("8.8.8.8", SOCK_DGRAM, 1), failed = 0, got = 0;
	uint8_t bytes[512];
	ssize_t len;

	for (int i = 0; i < SENT; i++) {
		len = (ssize_t)make_query(bytes, (uint16_t)i, "silent.allowed.test", ns_t_a);
		(void)send(fd, bytes, (size_t)len, 0);
		(void)send(fd, bytes, (size_t)len, 0);
		/* What fits into a socket is not endless. */
		if (i % 32 == 0)
			usleep(2000);
	}
	while (got < SENT && recv(fd, bytes, sizeof(bytes), 0) > 0) {
		got++;
		failed += (bytes[3] & 15) == ns_r_servfail;
	}
	close(fd);
	/* Those beyond the bound fail at once, twice because they were sent twice. */
	expect(got > LAUNCH_LOOKUPS_MOST / 2 && failed == got, "%d look-ups at once, %d answers",
	       SENT, got);
	usleep(3 * PATIENCE_MS * 1000);
	expect(ask("ok.allowed.test", ns_t_a).count == 1, "and then there is room again");
}

static void check_ipv6(void)
{
	struct told told = ask_at("2001:4860:4860::8888", "ok.allowed.test", ns_t_aaaa);
	int fd;

	expect(told.count == 1 && told.first == GOOD, "any IPv6 address is asked as well");
	fd = open_to("2606:4700:4700::1111", SOCK_STREAM, 5);
	expect(send_stream(fd, "ok.allowed.test", ns_t_a, 5) && read_stream(fd, 5).count == 1,
	       "also by TCP");
	close(fd);
}

static int count_found(const char *name, int flags, int *failed)
{
	struct addrinfo hints = { .ai_flags = flags, .ai_socktype = SOCK_STREAM };
	struct addrinfo *all = NULL;
	int count = 0;

	*failed = getaddrinfo(name, "443", &hints, &all);
	for (struct addrinfo *each = all; each; each = each->ai_next)
		count++;
	if (all)
		freeaddrinfo(all);
	return count;
}

/* What programs use: both families at once, TCP after a cut answer, and no waiting for a refusal. */
static void check_libc(void)
{
	uint64_t from;
	int count, failed;

	__nss_configure_lookup("hosts", "dns");
	res_init();
	_res.nsaddr_list[0] = where_is("8.8.4.4", 53).v4;
	_res.nscount = 1;
	_res.options &= ~(RES_DNSRCH | RES_DEFNAMES);
	count = count_found("ok.allowed.test", AI_ADDRCONFIG, &failed);
	expect(!failed && count == 1 + space.ipv6, "libc finds a name: %d addresses, %s", count,
	       failed ? gai_strerror(failed) : "no error");
	count = count_found("many.allowed.test", 0, &failed);
	expect(!failed && count == (space.ipv6 ? 2 : 1) * MANY, "and %d of one that has many",
	       count);
	from = launch_now();
	(void)count_found("libc.refused.test", 0, &failed);
	expect(failed == EAI_NONAME && launch_now() - from < 1000,
	       "and is told at once that there is no such name");
}

static void run_checks(void)
{
	check_libc();
	check_allowed();
	check_types();
	check_refused();
	check_local();
	check_honest();
	check_liars();
	check_random();
	check_streams();
	check_crowd();
	check_hostile();
	check_bounds();
	check_many();
	if (space.ipv6)
		check_ipv6();
}

/* --- Both networks --- */

static bool without_ipv6; /* as if the host had none */
static pthread_barrier_t made, started, done;

/* Its network is the thread's own. */
static void *live_inside(void *arg)
{
	struct launch_error error = { "" };
	int failed = launch_netspace_enter(&space, &error);

	(void)arg;
	expect(!failed, "a network of its own %s", error.text);
	if (without_ipv6)
		space.ipv6 = false;
	pthread_barrier_wait(&made);
	pthread_barrier_wait(&started);
	if (!failed && resolver)
		run_checks();
	pthread_barrier_wait(&done);
	return NULL;
}

static void resolve_now(void)
{
	struct launch_dns_addrs addrs;

	expect(launch_resolve_now(&upstream, "ok.allowed.test", true, &addrs) == 0 &&
		       addrs.count == 2 && addrs.each[0].family == 4 && addrs.each[1].family == 6 &&
		       addrs.ttl == 1000,
	       "a name can be looked up at once, for both families");
	expect(launch_resolve_now(&upstream, "ok.allowed.test", false, &addrs) == 0 &&
		       addrs.count == 1,
	       "or for one");
	expect(launch_resolve_now(&upstream, "nx.allowed.test", true, &addrs) == -ENOENT,
	       "one that is not there");
	expect(launch_resolve_now(&upstream, "silent.allowed.test", true, &addrs) == -EAGAIN,
	       "one that nobody answers for");
	expect(launch_resolve_now(&upstream, "localhost", true, &addrs) == 0 && addrs.count == 2,
	       "and this machine");
	expect(launch_resolve_now(&upstream, "listed.allowed.test", true, &addrs) == 0 &&
		       addrs.count == 1 && addrs.each[0].bytes[3] == 7,
	       "or one from the file");
}

/* Nobody is at the first, the second says nothing, the third knows. */
static void resolve_by_others(void)
{
	union where silent = where_is("127.0.0.1", 0);
	socklen_t len = sizeof(silent);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct launch_dns_addrs addrs;
	uint64_t from = launch_now();

	upstream.servers[2] = upstream.servers[0];
	if (bind(fd, &silent.any, where_len(&silent)) < 0 || getsockname(fd, &silent.any, &len) < 0)
		BAIL_OUT("no port");
	upstream.servers[0].v4 = where_is("127.0.0.1", 1).v4;
	upstream.servers[1].v4 = silent.v4;
	upstream.count = 3;
	expect(launch_resolve_now(&upstream, "ok.allowed.test", false, &addrs) == 0 &&
		       launch_now() - from < 3 * PATIENCE_MS,
	       "servers that are not there or say nothing are passed over");
	expect(launch_resolve_now(&upstream, "fails.allowed.test", false, &addrs) == -EAGAIN,
	       "until there is none left");
	close(fd);
}

static char hosts_path[512], resolv_path[512];

static void live_outside(void)
{
	struct launch_error error = { "" };
	struct launch_resolver_setup setup = {
		.space = &space, .upstream = &upstream, .allowed = allowed, .refused = refused
	};
	pthread_t thread;
	char dns[32];

	if (!expect(start_server(), "a server"))
		return;
	snprintf(dns, sizeof(dns), "127.0.0.1:%d", server.port);
	expect(launch_upstream_init(&upstream, dns, resolv_path, hosts_path, &error) == 0,
	       "the server is known %s", error.text);
	upstream.timeout_ms = PATIENCE_MS;
	setup.pins = pins = launch_pins_new();
	pthread_barrier_init(&made, NULL, 2);
	pthread_barrier_init(&started, NULL, 2);
	pthread_barrier_init(&done, NULL, 2);
	pthread_create(&thread, NULL, live_inside, NULL);
	pthread_barrier_wait(&made);
	expect(launch_resolver_start(&setup, &resolver, &error) == 0, "the resolver starts %s",
	       error.text);
	pthread_barrier_wait(&started);
	pthread_barrier_wait(&done);
	pthread_join(thread, NULL);
	if (resolver)
		launch_resolver_stop(resolver);
	resolve_now();
	resolve_by_others();
	launch_pins_free(pins);
	launch_upstream_done(&upstream);
}

static void live_without_ipv6(void)
{
	without_ipv6 = true;
	live_outside();
}

int main(void)
{
	static const char policy_text[] =
		ALONE "[network]\nconnect = *.allowed.test:443, exact.test:22\n"
		      "deny = denied.allowed.test:*\n";
	static const char hosts_text[] = "# names\n127.0.0.1 localhost\n"
					 "203.0.113.7 other.test listed.allowed.test\n"
					 "203.0.113.8\tunasked.allowed.test # more\n"
					 "203.0.113.9 listed.evil.test\n";
	struct sbx_policy *policy;

	plan(NO_PLAN);
	tree_begin();
	snprintf(hosts_path, sizeof(hosts_path), "%s", tree_file("hosts", hosts_text, 0644));
	snprintf(resolv_path, sizeof(resolv_path), "%s",
		 tree_file("resolv.conf", "nameserver 192.0.2.9\nsearch corp.example\n", 0644));
	policy = load_text(policy_text);
	image = sbx_policy_image(policy);
	for (uid_t uid = 0;; uid = NOBODY) {
		in_child(uid, live_outside);
		in_child(uid, live_without_ipv6);
		if (uid || geteuid())
			break;
	}
	sbx_free(policy);
	done_testing();
}
