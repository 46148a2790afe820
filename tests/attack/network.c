/* SPDX-License-Identifier: MIT */
/*
 * Attacks on the network. The only peer is a listener of the harness on the loopback interface.
 */
#include "attack.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

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

/* --- Destinations --- */

static struct sockaddr_in four(uint32_t address, long port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(address) };
}

static struct sockaddr_in6 six(const char *address, long port)
{
	struct sockaddr_in6 result = { .sin6_family = AF_INET6,
				       .sin6_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET6, address, &result.sin6_addr) != 1)
		cannot_judge("no address");
	return result;
}

static int tcp6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		cannot_judge("no IPv6");
	return fd;
}

#define CONNECT(fd, address) connect(fd, (struct sockaddr *)&(address), sizeof(address))
#define BIND(fd, address) bind(fd, (struct sockaddr *)&(address), sizeof(address))

/* Connected to whom it should not: what is allowed is no success. */
static long is_at_peer(int fd, long result, uint32_t address, long port)
{
	struct sockaddr_in6 name = { 0 };
	socklen_t size = sizeof(name);
	const struct sockaddr_in *plain = (const void *)&name;
	uint32_t at;

	if (result < 0)
		return -1;
	errno = EACCES;
	if (getpeername(fd, (struct sockaddr *)&name, &size) < 0)
		return -1;
	memcpy(&at, name.sin6_addr.s6_addr + 12, 4);
	if (name.sin6_family == AF_INET)
		at = plain->sin_addr.s_addr;
	return at == htonl(address) && name.sin6_port == htons((uint16_t)port) ? 0 : -1;
}

static long without_waiting(struct sockaddr_in address)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	long result = CONNECT(fd, address);

	return result < 0 && errno == EINPROGRESS ? 0 : result;
}

void denied_port(void)
{
	long port = fact_number("port");
	struct sockaddr_in address = four(INADDR_LOOPBACK, port), from = four(INADDR_LOOPBACK, 0);
	struct sockaddr_in6 mapped = six("::ffff:127.0.0.1", port);
	struct sockaddr_storage storage = { 0 };
	int fd = tcp();

	step("plain", CONNECT(tcp(), address));
	step("without-waiting", without_waiting(address));
	step("mapped", CONNECT(tcp6(), mapped));
	memcpy(&storage, &address, sizeof(address));
	step("longer", CONNECT(tcp(), storage));
	must("bind", BIND(fd, from));
	step("bound", CONNECT(fd, address));
	address.sin_addr.s_addr = 0;
	step("any", CONNECT(tcp(), address));
}

/* The address beside one that is allowed; and one that a server of ours hides. */
void denied_address(void)
{
	long port = fact_number("port"), allowed = fact_number("allowed");
	struct sockaddr_in beside = four(0x7f000005, allowed), any = four(0, allowed);
	struct sockaddr_in from = four(0x7f000005, 0);
	struct sockaddr_in6 mapped = six("::ffff:127.0.0.5", allowed), own = six("::1", port);
	struct sockaddr_in6 from6 = six("::ffff:127.0.0.1", 0), any6 = six("::", port);
	int on = 1, fd = tcp6(), client = tcp6();

	step("plain", CONNECT(tcp(), beside));
	step("mapped", CONNECT(tcp6(), mapped));
	must("own", setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0 ||
				    BIND(fd, own) < 0 || listen(fd, 4) < 0
			    ? -1
			    : 0);
	must("from6", BIND(client, from6));
	step("mapped-any", is_at_peer(client, CONNECT(client, any6), INADDR_LOOPBACK, port));
	client = tcp();
	must("from", BIND(client, from));
	step("any", is_at_peer(client, CONNECT(client, any), 0x7f000005, allowed));
}

/* A server of ours that has ended, and somebody else in its place. */
void port_taken(void)
{
	struct sockaddr_in address = four(INADDR_LOOPBACK, fact_number("free"));
	int fd = tcp(), on = 1;

	must("own", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
				    BIND(fd, address) < 0 || listen(fd, 4) < 0
			    ? -1
			    : 0);
	must("itself", CONNECT(tcp(), address));
	close(fd);
	wait_for_harness();
	step("taken", CONNECT(tcp(), address));
}

void udp(void)
{
	struct sockaddr_in address = four(INADDR_LOOPBACK, fact_number("datagrams"));
	int fd = socket(AF_INET, SOCK_DGRAM, 0), pair[2];

	step("socket", fd);
	if (fd >= 0)
		step("send",
		     sendto(fd, "evil", 4, 0, (struct sockaddr *)&address, sizeof(address)));
	step("socket6", socket(AF_INET6, SOCK_DGRAM, 0));
	step("unix", socket(AF_UNIX, SOCK_DGRAM, 0));
	step("unix-raw", socket(AF_UNIX, SOCK_RAW, 0));
	step("pair", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
}

void listen_anywhere(void)
{
	struct sockaddr_in any = four(0, 0), none = { .sin_family = AF_UNSPEC };
	struct sockaddr_in to = four(INADDR_LOOPBACK, fact_number("allowed"));
	struct sockaddr_in6 any6 = six("::", 0), mapped = six("::ffff:0.0.0.0", 0);
	int fd = tcp();

	step("any", BIND(tcp(), any));
	step("any6", BIND(tcp6(), any6));
	step("mapped", BIND(tcp6(), mapped));
	step("without-family", BIND(tcp(), none));
	step("unbound", listen(tcp(), 4));
	step("unbound6", listen(tcp6(), 4));
	/* It still tells the port that it had. */
	must("connect", CONNECT(fd, to));
	must("disconnect", CONNECT(fd, none));
	step("disconnected", listen(fd, 4));
}

/* --- Two threads --- */

#define RACED 200

static struct {
	struct sockaddr_storage address; /* alternates */
	struct sockaddr_storage good, bad;
	int fds[2]; /* what RACED is in turn; -1 */
	bool both; /* the address, too */
	bool links; /* work/here and work/there are exchanged instead */
	volatile bool over;
} raced;

static void *alternate(void *arg)
{
	for (unsigned i = 0; !raced.over; i++) {
		if (raced.links)
			(void)do_exchange(at("work/here"), at("work/there"));
		else if (raced.fds[0] >= 0)
			dup2(raced.fds[i % 2], RACED);
		if (raced.fds[0] < 0 || raced.both)
			memcpy(&raced.address, i / 2 % 2 ? &raced.bad : &raced.good, 110);
	}
	return arg;
}

/* 'attempt' says whether it was won. */
static void race(const char *name, bool (*attempt)(void))
{
	long times = how_often(1000), won = 0;
	double until = seconds() + 1;
	pthread_t thread;

	raced.over = false;
	run_threads(&thread, 1, alternate);
	/* Natively these are over before the other thread has begun. */
	for (long i = 0; i < times || (!won && seconds() < until); i++)
		won += attempt();
	raced.over = true;
	join_threads(&thread, 1);
	printf("race %s: %ld of %ld\n", name, won, times);
	errno = EACCES;
	step(name, won ? 0 : -1);
}

static bool race_address(void)
{
	const struct linger at_once = { 1, 0 };
	long port = fact_number("port");
	int fd = tcp();
	bool won = is_at_peer(fd, connect(fd, (struct sockaddr *)&raced.address, 16),
			      INADDR_LOOPBACK, port) == 0;

	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	return won;
}

/* A UNIX socket has nothing to do with such an address; a TCP one has. */
static bool race_socket(void)
{
	struct sockaddr_in none = { .sin_family = AF_UNSPEC };
	bool won;

	(void)connect(RACED, (struct sockaddr *)&raced.bad, 16);
	won = is_at_peer(raced.fds[1], 0, INADDR_LOOPBACK, fact_number("port")) == 0;
	if (won)
		(void)CONNECT(raced.fds[1], none);
	return won;
}

void connect_race(void)
{
	struct sockaddr_in good = four(INADDR_LOOPBACK, fact_number("allowed"));
	struct sockaddr_in bad = four(INADDR_LOOPBACK, fact_number("port"));

	memcpy(&raced.good, &good, sizeof(good));
	memcpy(&raced.bad, &bad, sizeof(bad));
	raced.fds[0] = -1;
	race("address", race_address);
	raced.fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	raced.fds[1] = tcp();
	race("descriptor", race_socket);
}

static bool race_bind(void)
{
	struct sockaddr_in name = { 0 };
	socklen_t size = sizeof(name);
	int fd = tcp();
	bool won = bind(fd, (struct sockaddr *)&raced.address, 16) == 0 &&
		   getsockname(fd, (struct sockaddr *)&name, &size) == 0 &&
		   name.sin_addr.s_addr == 0;

	close(fd);
	return won;
}

static bool has_port(void)
{
	struct sockaddr_in name = { 0 };
	socklen_t size = sizeof(name);

	return getsockname(raced.fds[1], (struct sockaddr *)&name, &size) == 0 && name.sin_port;
}

/* Sockets of both kinds; and files and addresses for them. */
static bool race_kinds(void)
{
	(void)bind(RACED, (struct sockaddr *)&raced.bad, 16);
	return has_port();
}

static bool race_both(void)
{
	(void)bind(RACED, (struct sockaddr *)&raced.address, 110);
	return has_port();
}

static bool race_listen(void)
{
	int listens = 0;
	socklen_t size = sizeof(listens);

	(void)listen(RACED, 4);
	if (getsockopt(raced.fds[1], SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens)
		return false;
	return true;
}

void listen_race(void)
{
	struct sockaddr_in good = four(INADDR_LOOPBACK, 0), bad = { .sin_family = AF_UNSPEC };
	struct sockaddr_un file = { .sun_family = AF_UNIX };

	memcpy(&raced.good, &good, sizeof(good));
	memcpy(&raced.bad, &bad, sizeof(bad));
	raced.fds[0] = -1;
	race("address", race_bind);
	raced.fds[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	raced.fds[1] = tcp();
	race("kinds", race_kinds);
	(void)snprintf(file.sun_path, sizeof(file.sun_path), "%s", at("work/raced.sock"));
	memcpy(&raced.good, &file, sizeof(file));
	raced.fds[1] = tcp();
	raced.both = true;
	race("both", race_both);
	raced.both = false;
	raced.fds[0] = tcp();
	raced.fds[1] = tcp();
	must("bind", BIND(raced.fds[0], good));
	race("listen", race_listen);
}

/* --- UNIX sockets --- */

static long connect_unix(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(address.sun_path))
		cannot_judge("too long");
	memcpy(address.sun_path, path, strlen(path));
	return CONNECT(fd, address);
}

void socket_outside(void)
{
	char path[64];
	int named = open(at("secret/docker.sock"), O_PATH | O_CLOEXEC);

	step("plain", connect_unix(at("secret/docker.sock")));
	step("dots", connect_unix(at("work/../secret/docker.sock")));
	if (do_symlink(at("secret/docker.sock"), at("work/by-link")) == 0)
		step("symlink", connect_unix(at("work/by-link")));
	if (do_link(at("secret/docker.sock"), at("work/by-name")) == 0)
		step("linked", connect_unix(at("work/by-name")));
	else
		step("link", -1);
	if (named >= 0) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", named);
		step("by-descriptor", connect_unix(path));
		snprintf(path, sizeof(path), "/dev/fd/%d", named);
		step("by-dev-fd", connect_unix(path));
	}
	if (chdir(at("work")) == 0)
		step("relative", connect_unix("../secret/docker.sock"));
	if (chdir(at("secret")) == 0)
		step("inside", connect_unix("docker.sock"));
	step("by-cwd", connect_unix("/proc/self/cwd/docker.sock"));
	step("by-root",
	     connect_unix(at("../../../../proc/self/root/%s", at("secret/docker.sock"))));
}

static bool race_link(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX }, name = { 0 };
	socklen_t size = sizeof(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	bool won;

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("work/here"));
	won = CONNECT(fd, address) == 0 && getpeername(fd, (struct sockaddr *)&name, &size) == 0 &&
	      strstr(name.sun_path, "docker");
	close(fd);
	return won;
}

/* Links to a server of ours and to one outside take turns. */
void socket_race(void)
{
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(own.sun_path, sizeof(own.sun_path), "%s", at("work/own.sock"));
	must("own", BIND(fd, own) < 0 || listen(fd, 4096) < 0 ? -1 : 0);
	must("links", do_symlink(at("work/own.sock"), at("work/here")) < 0 ||
				      do_symlink(at("secret/docker.sock"), at("work/there")) < 0
			      ? -1
			      : 0);
	raced.links = true;
	race("link", race_link);
}

void abstract_socket(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *name = fact("abstract");
	size_t len = offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(address.sun_path + 1, name, strlen(name));
	step("connect", connect(fd, (struct sockaddr *)&address, (socklen_t)len));
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	must("bind", bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)));
	step("from-a-name", connect(fd, (struct sockaddr *)&address, (socklen_t)len));
}

/* --- Other ways to connect --- */

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

/*
 * Groups, by TCP sockets: the kernel tells routers of them, in packets that hold the group, and the
 * sources, that the program chose.
 */
void multicast(void)
{
	struct sockaddr_in to = four(0xefc00001, 0), from = four(0x7f000005, 0);
	struct ip_mreq_source old = { .imr_multiaddr = to.sin_addr,
				      .imr_interface.s_addr = htonl(INADDR_LOOPBACK),
				      .imr_sourceaddr = from.sin_addr };
	struct group_req group = { .gr_interface = 1 };
	struct group_source_req source = { .gsr_interface = 1 };
	struct sockaddr_in6 to6 = six("ff15::5b78", 0), from6 = six("fc00::7", 0);
	struct ipv6_mreq old6 = { to6.sin6_addr, 1 };
	int fd6 = tcp6();

	memcpy(&group.gr_group, &to, sizeof(to));
	memcpy(&source.gsr_group, &to, sizeof(to));
	memcpy(&source.gsr_source, &from, sizeof(from));
	step("four", setsockopt(tcp(), IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof(group)));
	step("four-by-six", setsockopt(fd6, IPPROTO_IP, MCAST_JOIN_GROUP, &group, sizeof(group)));
	step("source",
	     setsockopt(tcp(), IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP, &source, sizeof(source)));
	step("old-source",
	     setsockopt(tcp(), IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP, &old, sizeof(old)));
	/* the kernel looks at 32 bits of each argument */
	step("high", syscall(SYS_setsockopt, tcp(), IPPROTO_IP | (1L << 32),
			     MCAST_JOIN_GROUP | (1L << 32), &group, sizeof(group)));
	maybe("old",
	      setsockopt(tcp(), IPPROTO_IP, IP_ADD_MEMBERSHIP, &old, sizeof(struct ip_mreq)));
	memcpy(&group.gr_group, &to6, sizeof(to6));
	memcpy(&source.gsr_group, &to6, sizeof(to6));
	memcpy(&source.gsr_source, &from6, sizeof(from6));
	step("six", setsockopt(fd6, IPPROTO_IPV6, MCAST_JOIN_GROUP, &group, sizeof(group)));
	step("six-source",
	     setsockopt(tcp6(), IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP, &source, sizeof(source)));
	maybe("six-old", setsockopt(tcp6(), IPPROTO_IPV6, IPV6_JOIN_GROUP, &old6, sizeof(old6)));
	maybe("anycast", setsockopt(tcp6(), IPPROTO_IPV6, IPV6_JOIN_ANYCAST, &old6, sizeof(old6)));
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
