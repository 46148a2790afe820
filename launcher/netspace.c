/* SPDX-License-Identifier: MIT */
/*
 * Makes the network namespace of a sandbox, by rtnetlink: its one device is lo, and the routes
 * 'local 0.0.0.0/0 dev lo' and 'local ::/0 dev lo' make every address one of its own.
 *
 * lo gets an address that is not loopback, because getaddrinfo() with AI_ADDRCONFIG asks for no
 * address of a family that a machine has but loopback of. 192.0.2.0/24 and 2001:db8::/32 are for
 * documentation: nobody's. IPv6 is given only where the host has it: programs would try such
 * addresses first, and in vain.
 *
 * Nothing here may open a way out: no other device, no route but to lo.
 */
#include "netspace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LO 1 /* of every network namespace */
#define BACKLOG 32
#define DNS 53

static const uint8_t own4[4] = { 192, 0, 2, 1 };
static const uint8_t own6[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };

/* Room for all that we ever ask. */
struct request {
	struct nlmsghdr head;
	union {
		struct ifinfomsg link;
		struct ifaddrmsg addr;
		struct rtmsg route;
	};
	char more[64];
};

static void add(struct request *request, unsigned short type, const void *data, size_t len)
{
	struct rtattr *attr = (struct rtattr *)((char *)request + request->head.nlmsg_len);

	attr->rta_type = type;
	attr->rta_len = (unsigned short)RTA_LENGTH(len);
	memcpy(RTA_DATA(attr), data, len);
	request->head.nlmsg_len += RTA_SPACE(len);
}

/* 0, or the kernel's negative errno. */
static int ask(int netlink, struct request *request)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char question[sizeof(struct request)];
	} answer = { .error.error = -EPROTO };

	request->head.nlmsg_flags |= NLM_F_REQUEST | NLM_F_ACK;
	if (send(netlink, request, request->head.nlmsg_len, 0) < 0 ||
	    recv(netlink, &answer, sizeof(answer), 0) < 0)
		return -errno;
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.error.error : -EPROTO;
}

static int lo_up(int netlink)
{
	struct request request = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(request.link)),
			  .nlmsg_type = RTM_NEWLINK },
		.link = { .ifi_index = LO, .ifi_flags = IFF_UP, .ifi_change = IFF_UP },
	};

	return ask(netlink, &request);
}

static int own_address(int netlink, unsigned char family, const uint8_t *bytes, size_t len)
{
	struct request request = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(request.addr)),
			  .nlmsg_type = RTM_NEWADDR,
			  .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL },
		.addr = { .ifa_family = family,
			  .ifa_prefixlen = (unsigned char)(len * 8),
			  .ifa_flags = family == AF_INET6 ? IFA_F_NODAD : 0,
			  .ifa_index = LO },
	};

	add(&request, IFA_LOCAL, bytes, len);
	add(&request, IFA_ADDRESS, bytes, len);
	return ask(netlink, &request);
}

/* All addresses of a family are local. */
static int own_all(int netlink, unsigned char family)
{
	struct request request = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(request.route)),
			  .nlmsg_type = RTM_NEWROUTE,
			  .nlmsg_flags = NLM_F_CREATE | NLM_F_EXCL },
		.route = { .rtm_family = family,
			   .rtm_table = RT_TABLE_LOCAL,
			   .rtm_protocol = RTPROT_BOOT,
			   .rtm_scope = RT_SCOPE_HOST,
			   .rtm_type = RTN_LOCAL },
	};
	const uint32_t lo = LO;

	add(&request, RTA_OIF, &lo, sizeof(lo));
	return ask(netlink, &request);
}

static int say(struct launch_error *error, int failed, const char *step)
{
	return launch_fail(error, -failed,
			   "a network of its own cannot be made for the program: %s: %s", step,
			   strerror(-failed));
}

static int set_up(int netlink, bool ipv6, struct launch_error *error)
{
	int failed = lo_up(netlink);

	if (failed)
		return say(error, failed, "bring lo up");
	failed = own_address(netlink, AF_INET, own4, sizeof(own4));
	if (failed)
		return say(error, failed, "add 192.0.2.1 to lo");
	failed = own_all(netlink, AF_INET);
	if (failed)
		return say(error, failed, "route 0.0.0.0/0 to lo");
	if (!ipv6)
		return 0;
	failed = own_address(netlink, AF_INET6, own6, sizeof(own6));
	if (failed)
		return say(error, failed, "add 2001:db8::1 to lo");
	failed = own_all(netlink, AF_INET6);
	return failed ? say(error, failed, "route ::/0 to lo") : 0;
}

bool launch_netspace_host_has_ipv6(void)
{
	struct ifaddrs *all, *each;
	bool has = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (each = all; each && !has; each = each->ifa_next) {
		const struct sockaddr_in6 *addr = (const struct sockaddr_in6 *)each->ifa_addr;

		has = addr && addr->sin6_family == AF_INET6 &&
		      !IN6_IS_ADDR_LOOPBACK(&addr->sin6_addr) &&
		      !IN6_IS_ADDR_LINKLOCAL(&addr->sin6_addr);
	}
	freeifaddrs(all);
	return has;
}

/*
 * Nobody may share the port: SO_REUSEADDR and SO_REUSEPORT stay off. The answer to a datagram has to
 * come from the address that was asked, so that is told with each; for IPv6 a local route to it is not
 * enough.
 */
static int open_door(int family, int type)
{
	struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(DNS) };
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(DNS) };
	const struct sockaddr *any = family == AF_INET ? (void *)&any4 : (void *)&any6;
	socklen_t len = family == AF_INET ? sizeof(any4) : sizeof(any6);
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed;
	const int on = 1;

	if (fd < 0)
		return -errno;
	if ((family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0) ||
	    (type == SOCK_DGRAM && family == AF_INET &&
	     setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &on, sizeof(on)) < 0) ||
	    (type == SOCK_DGRAM && family == AF_INET6 &&
	     (setsockopt(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, &on, sizeof(on)) < 0 ||
	      setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof(on)) < 0)) ||
	    bind(fd, any, len) < 0 || (type == SOCK_STREAM && listen(fd, BACKLOG) < 0)) {
		failed = -errno;
		(void)close(fd);
		return failed;
	}
	return fd;
}

/*
 * Where the host has no IPv6, ::1 may still be there, and a resolv.conf that names it. A kernel
 * without IPv6 has no such sockets.
 */
static int open_doors(struct launch_netspace *space, struct launch_error *error)
{
	static const struct {
		const char *step;
		int family, type;
	} doors[DOOR_COUNT] = {
		[DOOR_UDP4] = { "take port 53 (UDP)", AF_INET, SOCK_DGRAM },
		[DOOR_TCP4] = { "take port 53 (TCP)", AF_INET, SOCK_STREAM },
		[DOOR_UDP6] = { "take port 53 (UDP, IPv6)", AF_INET6, SOCK_DGRAM },
		[DOOR_TCP6] = { "take port 53 (TCP, IPv6)", AF_INET6, SOCK_STREAM },
	};

	for (size_t i = 0; i < DOOR_COUNT; i++) {
		int fd = open_door(doors[i].family, doors[i].type);

		if (fd < 0 && (doors[i].family == AF_INET || space->ipv6))
			return say(error, fd, doors[i].step);
		space->doors[i] = fd < 0 ? -1 : fd;
	}
	return 0;
}

void launch_netspace_close(struct launch_netspace *space)
{
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		if (space->doors[i] >= 0)
			(void)close(space->doors[i]);
		space->doors[i] = -1;
	}
}

int launch_netspace_enter(struct launch_netspace *out, struct launch_error *error)
{
	struct launch_netspace space = { .ipv6 = launch_netspace_host_has_ipv6(),
					 .doors = { -1, -1, -1, -1 } };
	int netlink, failed;

	if (unshare(CLONE_NEWNET) < 0)
		return say(error, -errno, "unshare a network namespace");
	netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	if (netlink < 0)
		return say(error, -errno, "open a netlink socket");
	failed = set_up(netlink, space.ipv6, error);
	(void)close(netlink);
	if (!failed)
		failed = open_doors(&space, error);
	if (failed) {
		launch_netspace_close(&space);
		return failed;
	}
	*out = space;
	return 0;
}
