/* SPDX-License-Identifier: MIT */
/*
 * Probes of namespaces, the way a launch takes them: root tries without a user namespace first, all
 * others, and a root without the capability, make one in which they are what they were.
 *
 * To make a namespace proves little (AppArmor gives user namespaces in which nothing is allowed), so
 * each one is used. Nothing may reach the namespaces outside: mounts are made private first.
 */
#include "doctor_probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t done;

	if (fd < 0)
		return -1;
	done = write(fd, text, strlen(text));
	close(fd);
	return done == (ssize_t)strlen(text) ? 0 : -1;
}

static int read_digit(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[2] = "";

	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text)) < 1 || (text[0] != '0' && text[1] != '\n'))
		text[0] = '9';
	close(fd);
	return text[0] - '0';
}

/* Switches that are known to forbid user namespaces. */
static void say_switches(struct launch_finding *found)
{
	static const struct {
		const char *path;
		int value;
		const char *say;
	} switches[] = {
		{ "/proc/sys/user/max_user_namespaces", 0, "user.max_user_namespaces is 0" },
		{ "/proc/sys/kernel/unprivileged_userns_clone", 0,
		  "kernel.unprivileged_userns_clone is 0" },
		{ "/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 1,
		  "kernel.apparmor_restrict_unprivileged_userns is 1" },
	};

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (read_digit(switches[i].path) == switches[i].value)
			launch_probe_say(found, " (%s)", switches[i].say);
}

static int forbidden(struct launch_finding *found, const char *what)
{
	(void)launch_probe_failed(found, what);
	say_switches(found);
	return -found->error;
}

/* The user mapped to itself. */
static int enter_userns(struct launch_finding *found)
{
	unsigned int uid = geteuid(), gid = getegid();
	char uids[48], gids[48];

	snprintf(uids, sizeof(uids), "%u %u 1", uid, uid);
	snprintf(gids, sizeof(gids), "%u %u 1", gid, gid);
	if (unshare(CLONE_NEWUSER) < 0)
		return forbidden(found, "unshare a user namespace");
	if (write_file("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
		return forbidden(found, "/proc/self/setgroups");
	if (write_file("/proc/self/uid_map", uids) < 0)
		return forbidden(found, "/proc/self/uid_map");
	if (write_file("/proc/self/gid_map", gids) < 0)
		return forbidden(found, "/proc/self/gid_map");
	return 0;
}

static int enter(struct launch_finding *found, int flags)
{
	int error;

	if (geteuid() == 0 && unshare(flags) == 0)
		return 0;
	error = enter_userns(found);
	if (error)
		return error;
	return unshare(flags) == 0 ? 0 : forbidden(found, "unshare in a user namespace");
}

int launch_try_userns(struct launch_finding *found)
{
	int error = enter_userns(found);

	if (error)
		return error;
	return unshare(CLONE_NEWNS) == 0 ? 0 : forbidden(found, "unshare in a user namespace");
}

static int enter_mounts(struct launch_finding *found, int flags)
{
	int error = enter(found, CLONE_NEWNS | flags);

	if (error)
		return error;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return launch_probe_failed(found, "make mounts private");
	return 0;
}

static int mount_tmpfs(struct launch_finding *found)
{
	static const char *const places[] = { "/tmp", "/dev", "/usr", "/proc", NULL };
	struct statfs there;

	for (size_t i = 0; places[i]; i++) {
		if (access(places[i], F_OK) < 0)
			continue;
		if (mount("sbx", places[i], "tmpfs", MS_NOSUID | MS_NODEV, "size=64k") < 0)
			return launch_probe_failed(found, "mount a tmpfs");
		if (chdir(places[i]) < 0 || statfs(".", &there) < 0)
			return launch_probe_failed(found, "enter a tmpfs");
		if (there.f_type != TMPFS_MAGIC)
			return launch_probe_wrong(found, "mounted a tmpfs, but it is not there");
		return 0;
	}
	return launch_probe_wrong(found, "there is no folder to mount on");
}

/* Private tmp, and a mask: the same folder once more, read-only. */
int launch_try_mountns(struct launch_finding *found)
{
	int error = enter_mounts(found, 0);

	if (!error)
		error = mount_tmpfs(found);
	if (error)
		return error;
	if (mkdir("masked", 0700) < 0)
		return launch_probe_failed(found, "write to a tmpfs");
	if (mount("masked", "masked", NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, "masked", NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV,
		  NULL) < 0)
		return launch_probe_failed(found, "mount a folder read-only");
	if (mkdir("masked/new", 0700) == 0 || errno != EROFS)
		return launch_probe_wrong(found, "mounted read-only, but it can be written to");
	return 0;
}

/* A network namespace with lo up; the descriptor of an IPv4 socket in it, or a negative errno. */
static int enter_net(struct launch_finding *found)
{
	struct ifreq lo = { .ifr_name = "lo" };
	int error = enter(found, CLONE_NEWNET);
	int fd = error ? error : socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (error)
		return error;
	if (fd < 0)
		return launch_probe_failed(found, "socket");
	if (ioctl(fd, SIOCGIFFLAGS, &lo) < 0)
		return launch_probe_failed(found, "look at lo");
	lo.ifr_flags |= IFF_UP;
	if (ioctl(fd, SIOCSIFFLAGS, &lo) < 0)
		return launch_probe_failed(found, "bring lo up");
	return fd;
}

/* Sends a datagram to a listener of all addresses, by one of them. */
static int reach(struct launch_finding *found, int fd, const char *address)
{
	static const struct timeval patience = { .tv_sec = 1 };
	struct sockaddr_in to = { .sin_family = AF_INET };
	socklen_t len = sizeof(to);
	char byte = 0;

	if (bind(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&to, &len) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return launch_probe_failed(found, "bind");
	(void)inet_pton(AF_INET, address, &to.sin_addr);
	if (sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof(to)) != 1)
		return launch_probe_failed(found, "send over lo");
	if (recv(fd, &byte, 1, 0) != 1 || byte != 'x')
		return launch_probe_failed(found, "receive over lo");
	return 0;
}

/* 192.0.2.0/24 is nobody's. */
int launch_try_netns(struct launch_finding *found)
{
	struct sockaddr_in out = { .sin_family = AF_INET,
				   .sin_port = htons(9),
				   .sin_addr.s_addr = htonl(0xc0000201) };
	int fd = enter_net(found);
	int error = fd < 0 ? fd : reach(found, fd, "127.0.0.1");

	if (error)
		return error;
	if (connect(fd, (struct sockaddr *)&out, sizeof(out)) == 0)
		return launch_probe_wrong(found, "a new network namespace has a way out");
	return 0;
}

struct route_request {
	struct nlmsghdr head;
	struct rtmsg route;
	struct rtattr device;
	uint32_t index;
};

struct route_answer {
	struct nlmsghdr head;
	struct nlmsgerr error;
};

/* local 0.0.0.0/0 dev lo */
static int add_route(struct launch_finding *found)
{
	struct route_request request = {
		.head = { .nlmsg_len = sizeof(request),
			  .nlmsg_type = RTM_NEWROUTE,
			  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
		.route = { .rtm_family = AF_INET,
			   .rtm_table = RT_TABLE_LOCAL,
			   .rtm_protocol = RTPROT_BOOT,
			   .rtm_scope = RT_SCOPE_HOST,
			   .rtm_type = RTN_LOCAL },
		.device = { .rta_len = RTA_LENGTH(sizeof(uint32_t)), .rta_type = RTA_OIF },
		.index = if_nametoindex("lo"),
	};
	struct route_answer answer = { .error.error = -EPROTO };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &request, sizeof(request), 0) < 0 ||
	    recv(fd, &answer, sizeof(answer), MSG_TRUNC) < (ssize_t)sizeof(answer))
		return launch_probe_failed(found, "netlink");
	errno = -answer.error.error;
	return errno ? launch_probe_failed(found, "add the route") : 0;
}

int launch_try_netns_route(struct launch_finding *found)
{
	int fd = enter_net(found);
	int error = fd < 0 ? fd : add_route(found);

	return error ? error : reach(found, fd, "192.0.2.1");
}

int launch_try_pidns(struct launch_finding *found)
{
	int error = enter(found, CLONE_NEWPID);
	pid_t pid;

	if (error)
		return error;
	pid = launch_probe_fork();
	if (pid == 0)
		_exit(getpid() == 1 ? 0 : 1);
	if (pid < 0)
		return launch_probe_failed(found, "fork in a pid namespace");
	if (launch_probe_wait(pid) < 0)
		return launch_probe_wrong(found, "the first process of a pid namespace is not 1");
	return 0;
}

/* Its own view of /proc: the first process there is the one that looks. */
static int see_own_proc(struct launch_finding *found)
{
	char self[8] = "";

	if (mount("sbx", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return launch_probe_failed(found, "mount a new /proc");
	if (readlink("/proc/self", self, sizeof(self) - 1) != 1 || self[0] != '1')
		return launch_probe_wrong(found, "a new /proc shows other processes");
	return 0;
}

int launch_try_pidns_proc(struct launch_finding *found)
{
	int error = enter_mounts(found, CLONE_NEWPID);
	pid_t pid;

	if (error)
		return error;
	pid = launch_probe_fork();
	if (pid == 0)
		_exit(see_own_proc(found) == 0 ? 0 : 1);
	if (pid < 0)
		return launch_probe_failed(found, "fork in a pid namespace");
	return launch_probe_wait(pid) < 0 ? -EPROTO : 0;
}

int launch_try_ipcns(struct launch_finding *found)
{
	int error = enter(found, CLONE_NEWIPC | CLONE_NEWUTS);

	if (error)
		return error;
	if (sethostname("sbx", 3) < 0)
		return launch_probe_failed(found, "sethostname");
	return 0;
}
