/* SPDX-License-Identifier: MIT */
/* A question is one message and its answer another; each gets a socket of its own, and no one waits. */
#include "diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LOOPBACK 1 /* the interface, in every namespace */
#define ANSWER 1024 /* an address, a name and a few attributes */

/* 'request' behind a header, and 'answer' in its place: its length behind its header, or -1. */
static ssize_t ask(void *request, size_t size, char answer[ANSWER])
{
	struct nlmsghdr *header = request, *came = (struct nlmsghdr *)(void *)answer;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t got = -1;

	if (fd < 0)
		return -1;
	header->nlmsg_len = (uint32_t)size;
	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	header->nlmsg_flags = NLM_F_REQUEST;
	/* The kernel answers before it returns. */
	if (sendto(fd, request, size, 0, (struct sockaddr *)&kernel, sizeof(kernel)) ==
	    (ssize_t)size)
		got = recv(fd, answer, ANSWER, MSG_DONTWAIT);
	(void)close(fd);
	if (got < (ssize_t)sizeof(*came) || came->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    came->nlmsg_len > (size_t)got)
		return -1;
	return (ssize_t)(came->nlmsg_len - NLMSG_HDRLEN);
}

uint64_t launch_diag_tcp(const struct sbx_addr *addr, uint16_t port)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 body;
	} request = {
		.body = { .sdiag_family = addr->family == 4 ? AF_INET : AF_INET6,
			  .sdiag_protocol = IPPROTO_TCP,
			  .idiag_states = ~0U,
			  .id = { .idiag_sport = htons(port),
				  .idiag_if = LOOPBACK,
				  .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } }
	};
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	const struct inet_diag_msg *found = (const void *)(answer + NLMSG_HDRLEN);

	/* From the same address: nobody else could be connected there from port 0. */
	memcpy(request.body.id.idiag_src, addr->bytes, sizeof(addr->bytes));
	memcpy(request.body.id.idiag_dst, addr->bytes, sizeof(addr->bytes));
	if (ask(&request, sizeof(request), answer) < (ssize_t)sizeof(*found) ||
	    found->idiag_state != TCP_LISTEN)
		return 0;
	return (uint64_t)found->id.idiag_cookie[1] << 32 | found->id.idiag_cookie[0];
}

/* The kernel's own form of a device's number. */
static uint32_t kernel_dev(dev_t dev)
{
	return (uint32_t)major(dev) << 20 | (uint32_t)minor(dev);
}

int launch_diag_unix(const struct launch_server *socket, dev_t dev, ino_t ino)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req body;
	} request = { .body = { .sdiag_family = AF_UNIX,
				.udiag_states = ~0U,
				.udiag_ino = socket->inode,
				.udiag_show = UDIAG_SHOW_VFS,
				.udiag_cookie = { (uint32_t)socket->cookie,
						  (uint32_t)(socket->cookie >> 32) } } };
	_Alignas(struct nlmsghdr) char answer[ANSWER];
	const struct unix_diag_msg *found = (const void *)(answer + NLMSG_HDRLEN);
	ssize_t len = ask(&request, sizeof(request), answer);
	struct rtattr *at = (struct rtattr *)(void *)(answer + NLMSG_HDRLEN +
						      NLMSG_ALIGN(sizeof(struct unix_diag_msg)));
	ssize_t left = len - (ssize_t)NLMSG_ALIGN(sizeof(*found));

	/* In the kernel, UNIX sockets have the states of TCP. */
	if (len < (ssize_t)sizeof(*found) || found->udiag_state != TCP_LISTEN)
		return -ESRCH;
	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		struct unix_diag_vfs file;

		if (at->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(at) < sizeof(file))
			continue;
		memcpy(&file, RTA_DATA(at), sizeof(file));
		return file.udiag_vfs_dev == kernel_dev(dev) && file.udiag_vfs_ino == (uint32_t)ino;
	}
	return 0;
}
