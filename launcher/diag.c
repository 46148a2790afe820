/* SPDX-License-Identifier: MIT */
/* A question is one message and its answer another; each gets a socket of its own, and no one waits. */
#include "diag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LOOPBACK 1 /* the interface, in every namespace */
#define ANSWER 1024 /* an address, a name and a few attributes */

/* What the kernel has found nothing for. */
static bool is_nothing(const struct nlmsghdr *came, size_t got)
{
	const struct nlmsgerr *error = NLMSG_DATA(came);

	return came->nlmsg_type == NLMSG_ERROR && got >= NLMSG_LENGTH(sizeof(*error)) &&
	       error->error == -ENOENT;
}

/* 'request' behind a header, and 'answer' in its place: its length behind its header, or an errno. */
static ssize_t ask(void *request, size_t size, char answer[ANSWER])
{
	struct nlmsghdr *header = request, *came = (struct nlmsghdr *)(void *)answer;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	ssize_t got = -1;

	if (fd < 0)
		return -errno;
	header->nlmsg_len = (uint32_t)size;
	header->nlmsg_type = SOCK_DIAG_BY_FAMILY;
	header->nlmsg_flags = NLM_F_REQUEST;
	/* The kernel answers before it returns. */
	if (sendto(fd, request, size, 0, (struct sockaddr *)&kernel, sizeof(kernel)) ==
	    (ssize_t)size)
		got = recv(fd, answer, ANSWER, MSG_DONTWAIT);
	(void)close(fd);
	if (got >= (ssize_t)sizeof(*came) && is_nothing(came, (size_t)got))
		return -ENOENT;
	if (got < (ssize_t)sizeof(*came) || came->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
	    came->nlmsg_len > (size_t)got)
		return -EIO;
	return (ssize_t)(came->nlmsg_len - NLMSG_HDRLEN);
}

int launch_diag_tcp(const struct sbx_addr *addr, uint16_t port, uint64_t *cookie)
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
	_Alignas(struct nlmsghdr) char answer[ANSWER] = { 0 };
	const struct inet_diag_msg *found = (const void *)(answer + NLMSG_HDRLEN);
	ssize_t len;

	/* From the same address: nobody else could be connected there from port 0. */
	memcpy(request.body.id.idiag_src, addr->bytes, sizeof(addr->bytes));
	memcpy(request.body.id.idiag_dst, addr->bytes, sizeof(addr->bytes));
	len = ask(&request, sizeof(request), answer);
	if (len < (ssize_t)sizeof(*found) || found->idiag_state != TCP_LISTEN)
		return len == -ENOENT ? -ENOENT : -EIO;
	*cookie = (uint64_t)found->id.idiag_cookie[1] << 32 | found->id.idiag_cookie[0];
	return 0;
}

bool launch_diag_is_foreign(int fd)
{
	struct {
		struct nlmsghdr header;
		struct inet_diag_req_v2 body;
	} request = { .body = { .sdiag_family = AF_INET,
				.sdiag_protocol = IPPROTO_TCP,
				.idiag_states = ~0U,
				.id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } };
	_Alignas(struct nlmsghdr) char answer[ANSWER] = { 0 };
	const struct inet_diag_msg *found = (const void *)(answer + NLMSG_HDRLEN);
	struct sockaddr_in here = { 0 }, there = { 0 };
	socklen_t size = sizeof(here), other = sizeof(there);

	if (getsockname(fd, (struct sockaddr *)&here, &size) < 0 ||
	    getpeername(fd, (struct sockaddr *)&there, &other) < 0)
		return false;
	request.body.id.idiag_sport = there.sin_port;
	request.body.id.idiag_dport = here.sin_port;
	request.body.id.idiag_src[0] = there.sin_addr.s_addr;
	request.body.id.idiag_dst[0] = here.sin_addr.s_addr;
	return ask(&request, sizeof(request), answer) >= (ssize_t)sizeof(*found) &&
	       found->idiag_state != TCP_LISTEN && found->idiag_uid != geteuid();
}

/* The kernel's own form of a device's number. */
static uint32_t kernel_dev(unsigned int major, unsigned int minor)
{
	return major << 20 | minor;
}

/* The device in a line of mountinfo, "36 35 98:0 / /mnt ...", if it is about that mount; else 0. */
static uint32_t dev_in(const char *line, unsigned long mount)
{
	unsigned long major;
	char *end;

	if (strtoul(line, &end, 10) != mount || *end != ' ')
		return 0;
	(void)strtoul(end, &end, 10);
	major = strtoul(end, &end, 10);
	return *end == ':'
		       ? kernel_dev((unsigned int)major, (unsigned int)strtoul(end + 1, NULL, 10))
		       : 0;
}

/* The device of a mount; 0 where there is none of this number. */
static uint32_t mount_dev(unsigned long mount)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t size = 0;
	uint32_t dev = 0;

	while (file && !dev && getline(&line, &size, file) > 0)
		dev = dev_in(line, mount);
	free(line);
	if (file)
		(void)fclose(file);
	return dev;
}

int launch_diag_file(int fd, struct launch_file *out)
{
	char path[64], text[256];
	const char *mount, *inode;
	struct stat st;
	uint32_t dev;
	ssize_t got;
	int info;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	if (fstat(fd, &st) < 0 || (info = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return -errno;
	got = read(info, text, sizeof(text) - 1);
	(void)close(info);
	text[got > 0 ? got : 0] = '\0';
	mount = strstr(text, "mnt_id:");
	inode = strstr(text, "ino:");
	/* Kernels before 5.14 do not say the inode. */
	if (mount && inode && (dev = mount_dev(strtoul(mount + strlen("mnt_id:"), NULL, 10))))
		*out = (struct launch_file){ dev,
					     (uint32_t)strtoul(inode + strlen("ino:"), NULL, 10) };
	else
		*out = (struct launch_file){ kernel_dev(major(st.st_dev), minor(st.st_dev)),
					     (uint32_t)st.st_ino };
	return 0;
}

static bool is_at_file(const struct unix_diag_msg *found, ssize_t len,
		       const struct launch_file *file)
{
	const size_t skip = NLMSG_ALIGN(sizeof(*found));
	struct rtattr *at = (struct rtattr *)(void *)((char *)found + skip);
	ssize_t left = len - (ssize_t)skip;

	for (; RTA_OK(at, left); at = RTA_NEXT(at, left)) {
		struct unix_diag_vfs at_file;

		if (at->rta_type != UNIX_DIAG_VFS || RTA_PAYLOAD(at) < sizeof(at_file))
			continue;
		memcpy(&at_file, RTA_DATA(at), sizeof(at_file));
		return at_file.udiag_vfs_dev == file->dev && at_file.udiag_vfs_ino == file->inode;
	}
	return false;
}

int launch_diag_unix(const struct launch_server *socket, const struct launch_file *file)
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
	_Alignas(struct nlmsghdr) char answer[ANSWER] = { 0 };
	const struct unix_diag_msg *found = (const void *)(answer + NLMSG_HDRLEN);
	ssize_t len = ask(&request, sizeof(request), answer);

	/* In the kernel, UNIX sockets have the states of TCP. */
	if (len < (ssize_t)sizeof(*found) || found->udiag_state != TCP_LISTEN)
		return -ESRCH;
	return is_at_file(found, len, file);
}

/* Of the messages in 'bytes': 1 one is about the file, 0 none is, -1 none is, and there are no more. */
static int look_through(const char *bytes, size_t left, const struct launch_file *file)
{
	const struct nlmsghdr *at = (const void *)bytes;

	for (; NLMSG_OK(at, left); at = NLMSG_NEXT(at, left)) {
		if (at->nlmsg_type == NLMSG_DONE)
			return -1;
		if (at->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
		    at->nlmsg_len < NLMSG_LENGTH(sizeof(struct unix_diag_msg)) ||
		    is_at_file(NLMSG_DATA(at), (ssize_t)(at->nlmsg_len - NLMSG_HDRLEN), file))
			return 1;
	}
	return 0;
}

bool launch_diag_is_served(const struct launch_file *file)
{
	struct {
		struct nlmsghdr header;
		struct unix_diag_req body;
	} request = { .header = { .nlmsg_len = sizeof(request),
				  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
				  .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		      .body = { .sdiag_family = AF_UNIX,
				.udiag_states = 1U << TCP_LISTEN,
				.udiag_show = UDIAG_SHOW_VFS } };
	_Alignas(struct nlmsghdr) char answer[16 * ANSWER];
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG), found = 1;
	ssize_t got;

	if (fd < 0)
		return true;
	if (send(fd, &request, sizeof(request), 0) == (ssize_t)sizeof(request))
		do {
			got = recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
			found = got > 0 ? look_through(answer, (size_t)got, file) : 1;
		} while (found == 0);
	(void)close(fd);
	return found > 0;
}
