/* SPDX-License-Identifier: MIT */
/*
 * Networks for tests: children that may make network namespaces, as root itself or as somebody else
 * in a user namespace, and addresses as text.
 */
#ifndef NETS_H
#define NETS_H

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#define NOBODY 65534
#define NOT_TO_BE_HAD 99 /* what a child exits with that got no namespace */

union where {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static inline union where where_is(const char *text, int port)
{
	union where where = { .v4 = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) } };

	if (inet_pton(AF_INET, text, &where.v4.sin_addr) == 1)
		return where;
	where = (union where){ .v6 = { .sin6_family = AF_INET6,
				       .sin6_port = htons((uint16_t)port) } };
	if (inet_pton(AF_INET6, text, &where.v6.sin6_addr) != 1)
		BAIL_OUT("'%s' is no address", text);
	return where;
}

static inline socklen_t where_len(const union where *where)
{
	return where->any.sa_family == AF_INET ? sizeof(where->v4) : sizeof(where->v6);
}

static inline bool same_place(const union where *a, const union where *b)
{
	if (a->any.sa_family != b->any.sa_family)
		return false;
	return a->any.sa_family == AF_INET ? a->v4.sin_addr.s_addr == b->v4.sin_addr.s_addr &&
						     a->v4.sin_port == b->v4.sin_port
					   : !memcmp(&a->v6.sin6_addr, &b->v6.sin6_addr, 16) &&
						     a->v6.sin6_port == b->v6.sin6_port;
}

static inline bool put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return done;
}

/* Becomes 'uid', when that is not 0, in a user namespace of its own. */
static inline bool become(uid_t uid)
{
	char map[48];

	if (!uid)
		return true;
	if (geteuid() == 0 && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		return false;
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0); /* or /proc/self is root's */
	if (unshare(CLONE_NEWUSER) < 0 || !put("/proc/self/setgroups", "deny"))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	if (!put("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "%u %u 1", getegid(), getegid());
	return put("/proc/self/gid_map", map);
}

/* What a child found out, for its parent to say. */
struct finding {
	bool good;
	char name[200];
};
#define FINDINGS 256
struct findings {
	size_t count;
	struct finding each[FINDINGS];
};
extern struct findings *findings;

#define expect(test, ...) find_out(!!(test), __VA_ARGS__)
TAP_FORMAT(2, 3)
static inline bool find_out(bool good, const char *format, ...)
{
	va_list args;

	if (findings->count == FINDINGS)
		abort();
	va_start(args, format);
	vsnprintf(findings->each[findings->count].name, 200, format, args);
	va_end(args);
	findings->each[findings->count++].good = good;
	return good;
}

/* Runs 'body' in a child that has become 'uid', and says what it found out. */
static inline void in_child(uid_t uid, void (*body)(void))
{
	const char *who = uid || geteuid() ? "as a user" : "as root";
	int status;
	pid_t pid;

	if (!findings)
		findings = mmap(NULL, sizeof(*findings), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	findings->count = 0;
	pid = fork();
	if (pid == 0) {
		if (!become(geteuid() ? geteuid() : uid))
			_exit(NOT_TO_BE_HAD);
		body();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		BAIL_OUT("cannot run a child");
	if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_TO_BE_HAD) {
		skip(1, 1, "%s no user namespace can be had", who);
		end_skip;
		return;
	}
	for (size_t i = 0; i < findings->count; i++)
		ok(findings->each[i].good, "%s: %s", who, findings->each[i].name);
	ok(status == 0, "%s: and that was all", who);
}

#endif
