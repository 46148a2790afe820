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
