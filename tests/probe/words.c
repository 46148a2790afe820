/* SPDX-License-Identifier: MIT */
/*
 * What the words of a line mean as arguments of a call. A call's letters say how each is read:
 *
 *	p	a path, or any other text
 *	n	a number, or names of constants joined by '|'
 *	d	a folder's descriptor: CWD, a number, dir:PATH or path:PATH (opened, or with O_PATH)
 *	h	openat2's third and fourth argument: FLAGS,MODE,RESOLVE[,SIZE], NULL or BAD
 *	s	a socket: KIND of the table below, a number, or dir:PATH
 *	a	an address and its length: see address_of
 *	v	no word: the arguments and the environment of a program
 *
 * A path is itself, but for: NULL, BAD (points to nothing), EDGE (runs into nothing), EMPTY,
 * cross:TEXT (lies on two pages), long:N:TEXT ("./" in front until it has N bytes), and {N} (N
 * letters).
 *
 * Setups: +nofile (no descriptor is left), +hold:PATH (open for writing meanwhile), +keep:PATH (for
 * reading), +listen:PATH (a UNIX socket that listens), +alarm (signals every 20 ms), +gone (the
 * folder we are in is removed), +cd:PATH, +umask:N, +fsize (no file can grow), +tree:NAME (there, and
 * not named by the call), +storm (a signal every 50 us; the call is made until it ends differently,
 * 200 times at most).
 */
#include "probe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static const struct {
	const char *name;
	unsigned long long value;
} constants[] = {
#define NAME(constant)              \
	{                           \
#constant, constant \
	}
	NAME(O_RDONLY),
	NAME(O_WRONLY),
	NAME(O_RDWR),
	NAME(O_ACCMODE),
	NAME(O_CREAT),
	NAME(O_EXCL),
	NAME(O_TRUNC),
	NAME(O_APPEND),
	NAME(O_NONBLOCK),
	NAME(O_DIRECTORY),
	NAME(O_NOFOLLOW),
	NAME(O_PATH),
	NAME(O_TMPFILE),
	NAME(O_CLOEXEC),
	NAME(O_NOATIME),
	NAME(O_SYNC),
	NAME(O_NOCTTY),
	NAME(AT_REMOVEDIR),
	NAME(AT_SYMLINK_FOLLOW),
	NAME(AT_SYMLINK_NOFOLLOW),
	NAME(AT_EMPTY_PATH),
	NAME(RENAME_NOREPLACE),
	NAME(RENAME_EXCHANGE),
	NAME(RENAME_WHITEOUT),
	NAME(RESOLVE_BENEATH),
	NAME(RESOLVE_IN_ROOT),
	NAME(RESOLVE_NO_SYMLINKS),
	NAME(RESOLVE_NO_MAGICLINKS),
	NAME(RESOLVE_NO_XDEV),
	NAME(S_IFREG),
	NAME(S_IFIFO),
	NAME(S_IFSOCK),
	NAME(S_IFCHR),
	NAME(S_IFBLK),
	NAME(S_IFDIR),
	NAME(S_IFLNK),
#undef NAME
};

static const struct {
	const char *name;
	int family, type;
} sockets[] = {
	{ "tcp4", AF_INET, SOCK_STREAM },
	{ "tcp6", AF_INET6, SOCK_STREAM },
	{ "unix", AF_UNIX, SOCK_STREAM },
	{ "unix-packet", AF_UNIX, SOCK_SEQPACKET },
	{ "unix-datagram", AF_UNIX, SOCK_DGRAM },
	{ "tcp4-nonblock", AF_INET, SOCK_STREAM | SOCK_NONBLOCK },
};

static bool starts(const char *word, const char *with)
{
	return !strncmp(word, with, strlen(with));
}

static bool one_number(const char *text, size_t length, unsigned long long *number)
{
	char copy[64], *end;

	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++)
		if (strlen(constants[i].name) == length &&
		    !strncmp(constants[i].name, text, length)) {
			*number |= constants[i].value;
			return true;
		}
	if (!length || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = '\0';
	*number |= strtoull(copy, &end, 0);
	return !*end;
}

/* Up to the end or a comma, which is passed. */
static bool number_of(const char **text, unsigned long long *number)
{
	size_t length;

	*number = 0;
	do {
		length = strcspn(*text, "|,");
		if (!one_number(*text, length, number))
			return false;
		*text += length;
	} while (*(*text) == '|' && (*text)++);
	if (**text == ',')
		(*text)++;
	return true;
}

/* Two pages; the caller closes what shall not be read, so that nothing else comes to lie there. */
static char *two_pages(long *size)
{
	char *page;

	*size = sysconf(_SC_PAGESIZE);
	page = mmap(NULL, 2 * (size_t)*size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	return page == MAP_FAILED ? NULL : page;
}

static const char *text_at_edge(const char *text, bool runs_over)
{
	long size;
	char *page = two_pages(&size);
	size_t before = runs_over ? strlen(text) : strlen(text) / 2 + 1;

	if (!page)
		return NULL;
	memcpy(page + size - before, text, runs_over ? before : strlen(text) + 1);
	if (runs_over && mprotect(page + size, (size_t)size, PROT_NONE))
		return NULL;
	return page + size - before;
}

static const char *bad_pointer(void)
{
	long size;
	char *page = two_pages(&size);

	if (!page || mprotect(page, 2 * (size_t)size, PROT_NONE))
		return NULL;
	return page + 8;
}

static char *padded(const char *length_and_text)
{
	char *text, *path;
	unsigned long length = strtoul(length_and_text, &text, 10);
	size_t have = strlen(++text), at = 0;

	path = calloc(1, length + have + 1);
	if (!path)
		return NULL;
	for (; at + have + 2 <= length; at += 2)
		memcpy(path + at, "./", 2);
	for (; at + have < length; at++)
		path[at] = '/';
	memcpy(path + at, text, have);
	return path;
}

static char *filled(const char *word)
{
	const char *brace = strchr(word, '{');
	char *end, *path;
	unsigned long count = strtoul(brace + 1, &end, 10);
	size_t before = (size_t)(brace - word), after = strlen(++end);

	path = malloc(before + count + after + 1);
	if (!path)
		return NULL;
	memcpy(path, word, before);
	memset(path + before, 'n', count);
	memcpy(path + before + count, end, after + 1);
	return path;
}

static bool path_of(const char *word, const char **path)
{
	*path = word;
	if (!strcmp(word, "NULL")) {
		*path = NULL;
		return true;
	}
	if (!strcmp(word, "EMPTY"))
		*path = "";
	else if (!strcmp(word, "BAD"))
		*path = bad_pointer();
	else if (!strcmp(word, "EDGE"))
		*path = text_at_edge("runs-over-the-edge", true);
	else if (starts(word, "cross:"))
		*path = text_at_edge(word + 6, false);
	else if (starts(word, "long:"))
		*path = padded(word + 5);
	else if (strchr(word, '{'))
		*path = filled(word);
	return *path != NULL;
}

static bool descriptor_of(const char *word, long *fd)
{
	char *end;

	if (!strcmp(word, "CWD"))
		*fd = AT_FDCWD;
	else if (starts(word, "dir:"))
		*fd = open(word + 4, O_RDONLY | O_CLOEXEC);
	else if (starts(word, "path:"))
		*fd = open(word + 5, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	else
		*fd = strtol(word, &end, 10);
	return true;
}

static bool how_of(const char *word, long *args)
{
	static struct {
		struct open_how how;
		char more[8];
	} how;
	unsigned long long size = sizeof(how.how), number;

	args[1] = (long)size;
	if (!strcmp(word, "NULL") || !strcmp(word, "BAD"))
		return path_of(word, (const char **)&args[0]);
	if (!number_of(&word, &number))
		return false;
	how.how.flags = number;
	if (!number_of(&word, &number))
		return false;
	how.how.mode = number;
	if (!number_of(&word, &number))
		return false;
	how.how.resolve = number;
	if (*word && !number_of(&word, &size))
		return false;
	memset(how.more, 1, sizeof(how.more));
	args[0] = (long)(intptr_t)&how;
	args[1] = (long)size;
	return true;
}

static bool socket_of(const char *word, long *fd)
{
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++)
		if (!strcmp(sockets[i].name, word)) {
			*fd = socket(sockets[i].family, sockets[i].type, 0);
			return true;
		}
	return descriptor_of(word, fd);
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

/* A port of loopback that this process has: with somebody who listens, or without. */
static bool own_port(union address *address, bool listens)
{
	socklen_t length = sizeof(address->in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*address = (union address){ .in = { .sin_family = AF_INET,
					    .sin_addr = { htonl(INADDR_LOOPBACK) } } };
	return fd >= 0 && !bind(fd, &address->any, length) && (!listens || !listen(fd, 4)) &&
	       !getsockname(fd, &address->any, &length);
}

static bool inet_of(const char *word, union address *address, socklen_t *length)
{
	const char *colon = strrchr(word, ':');
	char host[64] = "";
	uint16_t port;

	if (!colon || (size_t)(colon - word) >= sizeof(host))
		return false;
	memcpy(host, word, (size_t)(colon - word));
	port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
	*length = sizeof(address->in);
	if (inet_pton(AF_INET, host, &address->in.sin_addr) == 1) {
		address->in.sin_family = AF_INET;
		address->in.sin_port = port;
		return true;
	}
	*length = sizeof(address->in6);
	address->in6.sin6_family = AF_INET6;
	address->in6.sin6_port = port;
	return inet_pton(AF_INET6, host, &address->in6.sin6_addr) == 1;
}

static bool unix_of(const char *path, union address *address, socklen_t *length)
{
	size_t size = strlen(path) + 1;

	address->un.sun_family = AF_UNIX;
	if (size > sizeof(address->un.sun_path)) /* without its NUL; longer is cut */
		size = sizeof(address->un.sun_path);
	memcpy(address->un.sun_path, path, size);
	*length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size);
	return true;
}

/*
 * unix:PATH, HOST:PORT, listening and closed (ports of our own), unspecified, NULL, BAD; @N behind
 * it gives another length.
 */
static bool address_of(const char *word, long *args)
{
	static union address address;
	static char copy[256];
	static const char *path;
	const char *at = strrchr(word, '@');
	socklen_t length = sizeof(address.in);
	bool good = true;

	if (strlen(word) >= sizeof(copy))
		return false;
	memset(copy, 0, sizeof(copy));
	memcpy(copy, word, at ? (size_t)(at - word) : strlen(word));
	args[0] = (long)(intptr_t)&address;
	if (!strcmp(copy, "NULL") || !strcmp(copy, "BAD"))
		good = path_of(copy, (const char **)&args[0]);
	else if (!strcmp(copy, "unspecified"))
		address.any.sa_family = AF_UNSPEC;
	else if (!strcmp(copy, "listening") || !strcmp(copy, "closed"))
		good = own_port(&address, *copy == 'l');
	else if (starts(copy, "unix:"))
		good = path_of(copy + 5, &path) && path && unix_of(path, &address, &length);
	else
		good = inet_of(copy, &address, &length);
	args[1] = at ? strtol(at + 1, NULL, 10) : (long)length;
	return good;
}

bool probe_words(const char *letters, char *const *words, long *args)
{
	static char *argv[] = { (char *)"probed", NULL };
	unsigned long long number;
	const char *text;
	bool good = true;

	for (; *letters && good; letters++, words++) {
		if (*letters == 'v') {
			*args++ = (long)(intptr_t)argv;
			*args++ = (long)(intptr_t)environ;
			letters++;
		}
		if (!*letters || !*words)
			break;
		text = *words;
		switch (*letters) {
		case 'p':
			good = path_of(text, (const char **)args++);
			break;
		case 'n':
			good = number_of(&text, &number);
			*args++ = (long)number;
			break;
		case 'd':
			good = descriptor_of(text, args++);
			break;
		case 'h':
			good = how_of(text, args);
			args += 2;
			break;
		case 's':
			good = socket_of(text, args++);
			break;
		case 'a':
			good = address_of(text, args);
			args += 2;
			break;
		default:
			good = false;
		}
	}
	return good && !*words;
}

static void ignore(int number)
{
	(void)number;
}

static bool set_alarm(suseconds_t every)
{
	struct sigaction action = { .sa_handler = ignore };
	struct itimerval often = { { 0, every }, { 0, every } };

	return !sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &often, NULL);
}

static bool no_descriptor_left(void)
{
	int next = dup(0);
	struct rlimit limit = { (rlim_t)next, (rlim_t)next };

	return next >= 0 && !close(next) && !setrlimit(RLIMIT_NOFILE, &limit);
}

static bool no_growth(void)
{
	struct rlimit limit = { 16, 16 };

	return signal(SIGXFSZ, SIG_IGN) != SIG_ERR && !setrlimit(RLIMIT_FSIZE, &limit);
}

static bool listens_at(const char *path)
{
	union address address = { 0 };
	socklen_t length;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	unix_of(path, &address, &length);
	return fd >= 0 && !bind(fd, &address.any, length) && !listen(fd, 4);
}

static bool gone(void)
{
	return !mkdir("gone", 0700) && !chdir("gone") && !rmdir("../gone");
}

bool probe_setup(const char *word)
{
	if (!strcmp(word, "+nofile"))
		return no_descriptor_left();
	if (!strcmp(word, "+fsize"))
		return no_growth();
	if (!strcmp(word, "+alarm"))
		return set_alarm(20000);
	if (!strcmp(word, "+storm"))
		return set_alarm(50);
	if (!strcmp(word, "+gone"))
		return gone();
	if (starts(word, "+hold:"))
		return open(word + 6, O_RDWR | O_CLOEXEC) >= 0;
	if (starts(word, "+keep:"))
		return open(word + 6, O_RDONLY | O_CLOEXEC) >= 0;
	if (starts(word, "+listen:"))
		return listens_at(word + 8);
	if (starts(word, "+cd:"))
		return !chdir(word + 4);
	if (starts(word, "+umask:")) {
		umask((mode_t)strtoul(word + 7, NULL, 8));
		return true;
	}
	return starts(word, "+tree:");
}
