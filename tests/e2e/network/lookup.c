/* SPDX-License-Identifier: MIT */
/*
 * Looks up a name, or opens a socket, by the way that the first argument names, and prints what came of
 * it: "found", "not found", or an errno. What follows a ':' in the way is the service.
 */
#define _GNU_SOURCE
#include "contract.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

static int by_getaddrinfo(const char *name, const char *service, int flags)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags }, *found = NULL;
	int result;

	errno = EDOM;
	result = getaddrinfo(name, service, &hints, &found);
	if (!result)
		freeaddrinfo(found);
	return result ? -1 : 0;
}

static int by_host_r(const char *name, int family)
{
	struct hostent host, *found = NULL;
	char memory[4096];
	int error;

	if (family)
		(void)gethostbyname2_r(name, family, &host, memory, sizeof(memory), &found, &error);
	else
		(void)gethostbyname_r(name, &host, memory, sizeof(memory), &found, &error);
	return found ? 0 : -1;
}

#ifdef __GLIBC__
static int by_gone_service(const char *name)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gaicb request = { .ar_name = name, .ar_service = page }, *list[] = { &request };

	if (page == MAP_FAILED)
		return -1;
	memcpy(page, "80", 3);
	(void)getaddrinfo_a(GAI_WAIT, list, 1, NULL);
	munmap(page, 4096);
	return gai_error(&request) ? -1 : 0;
}

static int by_getaddrinfo_a(const char *name, int mode)
{
	struct gaicb request = { .ar_name = name }, *list[] = { &request };
	int result;

	(void)getaddrinfo_a(mode, list, 1, NULL);
	while ((result = gai_error(&request)) == EAI_INPROGRESS)
		usleep(1000);
	return result ? -1 : 0;
}
#endif

static int look_up(const char *how, const char *name)
{
	unsigned char answer[512];

	if (!strcmp(how, "getaddrinfo"))
		return by_getaddrinfo(name, NULL, 0);
	if (!strncmp(how, "getaddrinfo:", 12))
		return by_getaddrinfo(name, how + 12, 0);
	if (!strcmp(how, "numeric"))
		return by_getaddrinfo(name, NULL, AI_NUMERICHOST);
	if (!strcmp(how, "gethostbyname"))
		return gethostbyname(name) ? 0 : -1;
	if (!strcmp(how, "gethostbyname2"))
		return gethostbyname2(name, AF_INET) ? 0 : -1;
	if (!strcmp(how, "six"))
		return gethostbyname2(name, AF_INET6) ? 0 : -1;
	if (!strcmp(how, "gethostbyname_r"))
		return by_host_r(name, 0);
	if (!strcmp(how, "gethostbyname2_r"))
		return by_host_r(name, AF_INET);
	if (!strcmp(how, "res_query"))
		return res_query(name, 1, 1, answer, sizeof(answer)) < 0 ? -1 : 0;
#ifdef __GLIBC__
	if (!strcmp(how, "getaddrinfo_a"))
		return by_getaddrinfo_a(name, GAI_WAIT);
	if (!strcmp(how, "getaddrinfo_a-gone"))
		return by_gone_service(name);
	if (!strcmp(how, "getaddrinfo_a-later"))
		return by_getaddrinfo_a(name, GAI_NOWAIT);
#endif
	return -2;
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

static int open_socket(char **args, int count)
{
	int family = number(args[1]), type = number(args[2]),
	    protocol = count > 3 ? number(args[3]) : 0;
	int pair[2], result;

	errno = 0;
	if (!strcmp(args[0], "socketpair"))
		result = socketpair(family, type, protocol, pair);
	else if (!strcmp(args[0], "raw"))
		result = (int)syscall(SYS_socket, family, type, protocol);
	else
		result = socket(family, type, protocol);
	printf("%s\n", result < 0 ? strerror(errno) : "opened");
	return result < 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = (socklen_t)(sizeof(sa_family_t) + strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (path[0] == '@') {
		address.sun_path[0] = '\0';
		size--;
	}
	if (connect(fd, (struct sockaddr *)&address, size) == 0) {
		printf("connected\n");
		return 0;
	}
	printf("%s\n", strerror(errno));
	return 1;
}

#ifdef __x86_64__
static long tell(const void *memory, unsigned long size, unsigned long by, unsigned long port)
{
	register unsigned long r10 __asm__("r10") = by;
	register unsigned long r8 __asm__("r8") = port;
	register unsigned long r9 __asm__("r9") = SBX_ASK;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_connect), "D"(-1L), "S"(memory), "d"(size), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* As the shim would tell of a name, but that it is none, or not there. */
static int forge(void)
{
	static char told[4096] = "\x58\xfb";
	static const struct {
		const char *name;
		unsigned long size, by;
	} forged[] = {
		{ "\033[31mred.example", 18, 0 },
		{ "a.example\nsbx: Cannot", 24, 0 },
		{ "a.example", 11, 1UL << 40 },
		{ "a.example", 11, 99 },
		{ "a.example", 2, 0 },
		{ "a.example", 0, 0 },
		{ "a.example", 257, 0 },
		{ "a.example", -1UL, 0 },
		{ "a.example", 1UL << 32 | 11, 0 },
		{ "", 20, 0 },
	};
	int good = tell(NULL, 11, 0, 0) == -EBADF && tell((void *)-4096L, 11, 0, 0) == -EBADF;

	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++) {
		(void)snprintf(told + 2, sizeof(told) - 2, "%s", forged[i].name);
		good &= tell(told, forged[i].size, forged[i].by, 80) == -EBADF;
	}
	told[0] = AF_UNIX;
	told[1] = 0;
	(void)snprintf(told + 2, sizeof(told) - 2, "a.example");
	good &= tell(told, 11, 0, 80) == -EBADF;
	printf("%s\n", good ? "nobody is fooled" : "something else");
	return !good;
}

/* A name that is one, wanted for a port that is none. */
static int forge_port(const char *name)
{
	static struct sbx_told told = { .family = SBX_TOLD_FAMILY };

	memcpy(told.name, name, strnlen(name, sizeof(told.name)));
	return tell(&told, offsetof(struct sbx_told, name) + strlen(name), 0, 1 << 16 | 80) !=
	       -EBADF;
}
#else
static int forge(void)
{
	printf("nobody is fooled\n");
	return 0;
}

static int forge_port(const char *name)
{
	return by_getaddrinfo(name, NULL, 0) == 0;
}
#endif

int main(int count, char **args)
{
	int result;

	if (count > 3)
		return open_socket(args + 1, count - 1);
	if (count < 3)
		return 2;
	if (!strcmp(args[1], "forge"))
		return forge();
	if (!strcmp(args[1], "forge-port"))
		return forge_port(args[2]);
	if (!strcmp(args[1], "connect"))
		return connect_to(args[2]);
	if (!strcmp(args[1], "syslog")) {
		syslog(LOG_DEBUG, "%s", args[2]);
		printf("logged\n");
		return 0;
	}
	result = look_up(args[1], args[2]);
	printf("%s\n", result == -2 ? "no such way" : result ? "not found" : "found");
	return result ? 1 : 0;
}
