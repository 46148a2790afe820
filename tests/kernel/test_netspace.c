/* SPDX-License-Identifier: MIT */
/* The sandbox's own network: every address leads to port 53 of ours, and no other way out. */
#include "nets.h"

#include "netspace.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <sys/resource.h>
#include <time.h>

struct findings *findings;
static struct launch_netspace space;

static bool enter(void)
{
	struct launch_error error = { "" };
	struct timespec from, to;
	int failed;

	clock_gettime(CLOCK_MONOTONIC, &from);
	failed = launch_netspace_enter(&space, &error);
	clock_gettime(CLOCK_MONOTONIC, &to);
	return expect(!failed, "a network of its own can be had, in %ld us %s",
		      (to.tv_sec - from.tv_sec) * 1000000 + (to.tv_nsec - from.tv_nsec) / 1000,
		      error.text);
}

static bool is_ready(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return poll(&ready, 1, 1000) == 1;
}

/* The address that a datagram was sent to; its sender in 'from'. */
static union where receive(int door, union where *from, char *byte)
{
	char control[256];
	struct iovec data = { byte, 1 };
	struct msghdr message = { .msg_name = from,
				  .msg_namelen = sizeof(*from),
				  .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	union where asked = { .any.sa_family = AF_UNSPEC };

	if (!is_ready(door) || recvmsg(door, &message, 0) != 1)
		return asked;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
		if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO)
			asked.v4 = (struct sockaddr_in){
				.sin_family = AF_INET,
				.sin_port = htons(53),
				.sin_addr = ((struct in_pktinfo *)CMSG_DATA(c))->ipi_addr
			};
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO)
			asked.v6 = (struct sockaddr_in6){
				.sin6_family = AF_INET6,
				.sin6_port = htons(53),
				.sin6_addr = ((struct in6_pktinfo *)CMSG_DATA(c))->ipi6_addr
			};
	}
	return asked;
}

/* From the address that was asked, to a socket that will hear no other. */
static bool answers(int door, int client, union where *asked, union where *from)
{
	union {
		char bytes[64];
		struct cmsghdr head;
	} control = { "" };
	char byte = 'a';
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_name = from,
				  .msg_namelen = where_len(from),
				  .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control };
	struct in_pktinfo info = { .ipi_spec_dst = asked->v4.sin_addr };
	struct in6_pktinfo info6 = { .ipi6_addr = asked->v6.sin6_addr };
	bool v4 = asked->any.sa_family == AF_INET;
	size_t len = v4 ? sizeof(info) : sizeof(info6);

	control.head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(len),
					 .cmsg_level = v4 ? IPPROTO_IP : IPPROTO_IPV6,
					 .cmsg_type = v4 ? IP_PKTINFO : IPV6_PKTINFO };
	memcpy(CMSG_DATA(&control.head), v4 ? (void *)&info : (void *)&info6, len);
	message.msg_controllen = CMSG_SPACE(len);
	return connect(client, &asked->any, where_len(asked)) == 0 &&
	       sendmsg(door, &message, 0) == 1 && (byte = 0) == 0 && is_ready(client) &&
	       recv(client, &byte, 1, 0) == 1 && byte == 'a';
}

static void send_to(const char *text, enum launch_door door)
{
	union where to = where_is(text, 53), from, asked;
	int fd = socket(to.any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char byte = 0;

	expect(sendto(fd, "q", 1, 0, &to.any, where_len(&to)) == 1, "%s can be sent to", text);
	asked = receive(space.doors[door], &from, &byte);
	expect(byte == 'q' && same_place(&asked, &to),
	       "what is sent to %s arrives, and is known to have been sent there", text);
	expect(answers(space.doors[door], fd, &asked, &from), "and can be answered from there");
	close(fd);
}

static void connect_to(const char *text, enum launch_door door)
{
	union where to = where_is(text, 53), local = where_is("0.0.0.0", 0);
	socklen_t len = sizeof(local);
	int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), other = -1;

	expect(connect(fd, &to.any, where_len(&to)) == 0 && is_ready(space.doors[door]) &&
		       (other = accept(space.doors[door], NULL, NULL)) >= 0 &&
		       getsockname(other, &local.any, &len) == 0 && same_place(&local, &to),
	       "%s can be connected to", text);
	close(fd);
	close(other);
}

/* To be refused by whom the packet reached is not to be without a way. */
static int result_of_connect(const char *text, int port)
{
	union where to = where_is(text, port);
	int fd = socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int result = fd < 0 ? errno : connect(fd, &to.any, where_len(&to)) < 0 ? errno : 0;

	close(fd);
	return result;
}

static bool can_share(const char *text, int type)
{
	union where at = where_is(text, 53);
	int fd = socket(at.any.sa_family, type | SOCK_CLOEXEC, 0);
	const int on = 1;
	bool can;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	can = bind(fd, &at.any, where_len(&at)) == 0;
	close(fd);
	return can;
}

static void look_at_doors(void)
{
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		int fd = space.doors[i];

		if (i >= DOOR_UDP6 && !space.ipv6)
			continue;
		expect(fcntl(fd, F_GETFD) == FD_CLOEXEC && (fcntl(fd, F_GETFL) & O_NONBLOCK),
		       "door %zu is closed by exec, and never waits", i);
	}
}

static void check_space(void)
{
	if (!enter())
		return;
	look_at_doors();
	send_to("8.8.8.8", DOOR_UDP4);
	send_to("127.0.0.53", DOOR_UDP4);
	send_to("10.1.2.3", DOOR_UDP4);
	connect_to("1.1.1.1", DOOR_TCP4);
	expect(result_of_connect("1.1.1.1", 443) == ECONNREFUSED, "nobody is at other ports");
	expect(!can_share("0.0.0.0", SOCK_DGRAM) && !can_share("8.8.8.8", SOCK_DGRAM) &&
		       !can_share("8.8.8.8", SOCK_STREAM),
	       "nobody else gets port 53");
	if (!space.ipv6)
		return;
	send_to("2001:4860:4860::8888", DOOR_UDP6);
	send_to("::1", DOOR_UDP6);
	connect_to("2606:4700:4700::1111", DOOR_TCP6);
	expect(result_of_connect("2606:4700:4700::1111", 443) == ECONNREFUSED,
	       "nobody is at other ports by IPv6");
	expect(!can_share("::", SOCK_DGRAM) && !can_share("2001::8888", SOCK_DGRAM) &&
		       !can_share("2001::8888", SOCK_STREAM),
	       "nobody else gets port 53 by IPv6");
}

static void check_devices(void)
{
	struct ifaddrs *all;
	bool only = true, own4 = false, own6 = false;

	if (!enter() || getifaddrs(&all) < 0)
		return;
	for (struct ifaddrs *each = all; each; each = each->ifa_next) {
		char text[64] = "";

		only &= !strcmp(each->ifa_name, "lo");
		if (each->ifa_addr && each->ifa_addr->sa_family != AF_PACKET)
			getnameinfo(each->ifa_addr, sizeof(struct sockaddr_in6), text, sizeof(text),
				    NULL, 0, NI_NUMERICHOST);
		own4 |= !strcmp(text, "192.0.2.1");
		own6 |= !strcmp(text, "2001:db8::1");
	}
	freeifaddrs(all);
	expect(only, "there is no device but lo");
	expect(own4, "which has an address that is not loopback");
	expect(own6 == space.ipv6, "and one of IPv6 when the host has IPv6");
}

/* Says that there is no such name, and remembers which types of addresses were asked for. */
static _Atomic unsigned int asked_types;
static void *answer_all(void *arg)
{
	unsigned char bytes[512];
	union where from;
	socklen_t len = sizeof(from);
	ssize_t got;
	int fd = *(int *)arg;

	while (is_ready(fd) &&
	       (got = recvfrom(fd, bytes, sizeof(bytes), 0, &from.any, &len)) > 16) {
		ns_msg message;
		ns_rr question;

		if (ns_initparse(bytes, (int)got, &message) == 0 &&
		    ns_parserr(&message, ns_s_qd, 0, &question) == 0)
			asked_types |= 1u << (ns_rr_type(question) % 32);
		bytes[2] |= 0x80;
		bytes[3] = 3;
		(void)sendto(fd, bytes, (size_t)got, 0, &from.any, len);
		len = sizeof(from);
	}
	return NULL;
}

/* Answers come from another address than was asked here, so libc may not believe them. */
static void check_addrconfig(void)
{
	struct addrinfo hints = { .ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	pthread_t thread, thread6;

	if (!enter())
		return;
	pthread_create(&thread, NULL, answer_all, &space.doors[DOOR_UDP4]);
	pthread_create(&thread6, NULL, answer_all, &space.doors[DOOR_UDP6]);
	res_init();
	_res.retrans = 1;
	_res.retry = 1;
	(void)getaddrinfo("name.example.test", "443", &hints, &found);
	pthread_join(thread, NULL);
	pthread_join(thread6, NULL);
	expect(asked_types & 1u << ns_t_a, "AI_ADDRCONFIG asks for IPv4");
	expect(!(asked_types & 1u << ns_t_aaaa) == !space.ipv6,
	       "AI_ADDRCONFIG asks for IPv6 when the host has IPv6");
}

/* A host that has but lo. */
static void check_without_ipv6(void)
{
	if (!expect(unshare(CLONE_NEWNET) == 0, "a host without IPv6") || !enter())
		return;
	expect(!space.ipv6, "a host that has no IPv6 address has no IPv6");
	send_to("8.8.8.8", DOOR_UDP4);
	expect(result_of_connect("2606:4700:4700::1111", 53) == ENETUNREACH ||
		       result_of_connect("2606:4700:4700::1111", 53) == EAFNOSUPPORT,
	       "then no IPv6 address leads anywhere");
}

static int count_open(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* With room for so many descriptors: how many were left open, 64 when the step was not named. */
static int fail_with(int room)
{
	struct launch_netspace out = { .doors = { 11, 12, 13, 14 } };
	struct launch_error error = { "" };
	int before = count_open(), next = dup(0), failed;
	struct rlimit limit, few;

	close(next);
	getrlimit(RLIMIT_NOFILE, &limit);
	few = (struct rlimit){ (rlim_t)(next + room), limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	failed = launch_netspace_enter(&out, &error);
	setrlimit(RLIMIT_NOFILE, &limit);
	if (failed != -EMFILE || out.doors[0] != 11 || !strstr(error.text, ": Too many open") ||
	    !strstr(error.text, room ? "take port 53" : "open a netlink socket"))
		return 64;
	return count_open() - before;
}

/* Each step in turn gets no descriptor. */
static void check_failures(void)
{
	int rooms = launch_netspace_enter(&space, &(struct launch_error){ "" }) == 0 && space.ipv6
			    ? DOOR_COUNT
			    : DOOR_UDP6;

	for (int room = 0; room < rooms; room++) {
		int status;

		if (fork() == 0)
			_exit(fail_with(room));
		wait(&status);
		expect(status == 0,
		       "what fails after %d descriptors is named, and leaves none open", room);
	}
}

static void check_without_rights(void)
{
	struct launch_netspace out = { .doors = { 11, 12, 13, 14 } };
	struct launch_error error = { "" };
	int failed;

	if (geteuid() == 0 &&
	    (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0))
		return;
	failed = fork() ? 0 : launch_netspace_enter(&out, &error);
	if (failed)
		_exit(failed == -EPERM && out.doors[0] == 11 &&
				      strstr(error.text, "unshare a network namespace: Operation")
			      ? 42
			      : 1);
	wait(&failed);
	ok(WIFEXITED(failed) && WEXITSTATUS(failed) == 42,
	   "who has no right to it gets none, and is told");
}

int main(void)
{
	static void (*const bodies[])(void) = { check_space, check_devices, check_addrconfig,
						check_without_ipv6, check_failures };

	plan(NO_PLAN);
	for (uid_t uid = 0;; uid = NOBODY) {
		for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
			in_child(uid, bodies[i]);
		if (uid || geteuid())
			break;
	}
	check_without_rights();
	done_testing();
}
