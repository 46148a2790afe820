/* SPDX-License-Identifier: MIT */
/*
 * sockets: connect, bind and listen in every situation, and very often.
 *
 *	sockets errnos FOLDER		prints what each call in each situation answers
 *	sockets many PORT COUNT		connections at once, each of which must be answered
 *	sockets loop PORT COUNT FOLDER	one after the other, in ways that take turns
 *	sockets killed COUNT FOLDER	clients that are killed while they wait for a connection
 *	sockets cost PORT COUNT		medians in microseconds
 *	sockets serve FOLDER		answers on a port, which is written to FOLDER/port
 *
 * 'loop' and 'killed' make FOLDER/before and FOLDER/after and wait until these are gone again: the time
 * to look at whoever connects for them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

union address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
	struct sockaddr_un file;
	struct sockaddr_nl route;
	char bytes[256];
};

static const char *folder;

static void __attribute__((noreturn)) fail(const char *what)
{
	perror(what);
	exit(2);
}

static void say(const char *name, long result)
{
	printf("%s: %s\n", name, result < 0 ? strerrorname_np(errno) : "ok");
}

static int make(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail("socket");
	return fd;
}

static union address four(const char *text, int port)
{
	union address address = { .four = { .sin_family = AF_INET,
					    .sin_port = htons((uint16_t)port) } };

	if (inet_pton(AF_INET, text, &address.four.sin_addr) != 1)
		fail(text);
	return address;
}

static union address six(const char *text, int port)
{
	union address address = { .six = { .sin6_family = AF_INET6,
					   .sin6_port = htons((uint16_t)port) } };

	if (inet_pton(AF_INET6, text, &address.six.sin6_addr) != 1)
		fail(text);
	return address;
}

static union address file(const char *name)
{
	union address address = { .file = { .sun_family = AF_UNIX } };
	size_t len = strlen(name);

	memcpy(address.file.sun_path, name, len < 108 ? len : 108);
	return address;
}

static int size_of(const union address *address)
{
	switch (address->any.sa_family) {
	case AF_INET6:
		return sizeof(address->six);
	case AF_UNIX:
		return sizeof(address->file);
	case AF_NETLINK:
		return sizeof(address->route);
	default:
		return sizeof(address->four);
	}
}

static int joins(int fd, union address address)
{
	return connect(fd, &address.any, (socklen_t)size_of(&address));
}

static int binds(int fd, union address address)
{
	return bind(fd, &address.any, (socklen_t)size_of(&address));
}

static int port_of(int fd)
{
	union address address = { 0 };
	socklen_t size = sizeof(address);

	if (getsockname(fd, &address.any, &size) < 0)
		fail("getsockname");
	return ntohs(address.four.sin_port);
}

static int server(union address address, int backlog)
{
	int fd = make(address.any.sa_family);

	if (binds(fd, address) < 0 || listen(fd, backlog) < 0)
		fail("no server");
	return fd;
}

static int free_port(void)
{
	int fd = make(AF_INET), port;

	if (binds(fd, four("127.0.0.1", 0)) < 0)
		fail("bind");
	port = port_of(fd);
	close(fd);
	return port;
}

/* A server that takes no more connections. */
static int full_server(void)
{
	int fd = server(four("127.0.0.1", 0), 0);

	for (int i = 0; i < 3; i++) {
		int client = make(AF_INET);

		if (fcntl(client, F_SETFL, O_NONBLOCK) < 0)
			fail("fcntl");
		(void)joins(client, four("127.0.0.1", port_of(fd)));
	}
	return fd;
}

static void quickly(int fd)
{
	if (fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		fail("fcntl");
}

static void wait_until_writable(int fd)
{
	struct pollfd ready = { .fd = fd, .events = POLLOUT };

	if (poll(&ready, 1, 5000) < 1)
		fail("poll");
}

/* --- What is answered --- */

static void odd_descriptors(void)
{
	union address address = four("127.0.0.1", free_port());
	int plain = open("/dev/null", O_RDONLY), named = open("sock", O_PATH), ends[2];

	if (pipe(ends) < 0)
		fail("pipe");
	say("connect -1", joins(-1, address));
	say("connect 999", joins(999, address));
	say("connect a file", joins(plain, address));
	say("connect a pipe", joins(ends[0], address));
	say("connect a name", joins(named, address));
	say("bind -1", binds(-1, address));
	say("bind a file", binds(plain, address));
	say("bind a name", binds(named, address));
	say("listen -1", listen(-1, 1));
	say("listen a file", listen(plain, 1));
	say("listen a pipe", listen(ends[1], 1));
	say("listen a name", listen(named, 1));
}

static void lengths(int family, union address address, const char *what)
{
	static const int lens[] = { 0,	1,  2,	3,   8,	  15,  16,  17, 23,
				    24, 27, 28, 110, 111, 128, 129, -1 };
	char name[64];

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		int fd = make(family);

		snprintf(name, sizeof(name), "connect %s, %d bytes", what, lens[i]);
		say(name, connect(fd, &address.any, (socklen_t)lens[i]));
		close(fd);
		/* What is cut off could be the name of another file. */
		if (family == AF_UNIX && lens[i] > 2 && lens[i] < 111)
			continue;
		fd = make(family);
		snprintf(name, sizeof(name), "bind %s, %d bytes", what, lens[i]);
		say(name, bind(fd, &address.any, (socklen_t)lens[i]));
		close(fd);
	}
	say("connect NULL", connect(make(family), NULL, 16));
	say("connect NULL, 0 bytes", connect(make(family), NULL, 0));
	say("connect a bad pointer", connect(make(family), (void *)8, 28));
	say("bind NULL", bind(make(family), NULL, 16));
	say("bind a bad pointer", bind(make(family), (void *)8, 28));
}

static void families(void)
{
	union address odd = { .any = { .sa_family = 99 } }, none = four("0.0.0.0", free_port());
	union address some = four("127.0.0.1", free_port());
	union address mapped = six("::ffff:127.0.0.1", 0);
	int port = port_of(server(four("127.0.0.1", 0), 4)), on = 1, fd = make(AF_INET6);

	none.any.sa_family = some.any.sa_family = AF_UNSPEC;
	say("connect 4 to 6", joins(make(AF_INET), six("::1", port)));
	say("connect 6 to 4", joins(make(AF_INET6), four("127.0.0.1", port)));
	say("connect 4 to a file", joins(make(AF_INET), file("sock")));
	say("connect a file to 4", joins(make(AF_UNIX), four("127.0.0.1", port)));
	say("connect to 99", joins(make(AF_INET), odd));
	say("connect 6 to 99", joins(make(AF_INET6), odd));
	say("bind 4 to 6", binds(make(AF_INET), six("::1", 0)));
	say("bind 6 to 4", binds(make(AF_INET6), four("127.0.0.1", 0)));
	say("bind 4 to a file", binds(make(AF_INET), file("never")));
	say("bind a file to 4", binds(make(AF_UNIX), four("127.0.0.1", 0)));
	say("bind 99", binds(make(AF_INET), odd));
	say("bind without a family", binds(make(AF_INET), none));
	say("bind without a family to some", binds(make(AF_INET), some));
	say("bind 6 without a family", binds(make(AF_INET6), none));
	say("connect 6 to mapped", joins(make(AF_INET6), six("::ffff:127.0.0.1", port)));
	say("bind mapped", binds(make(AF_INET6), mapped));
	if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) < 0)
		fail("setsockopt");
	say("connect only 6 to mapped", joins(fd, six("::ffff:127.0.0.1", port)));
	say("bind only 6 to mapped", binds(fd, mapped));
	say("bind local without a scope", binds(make(AF_INET6), six("fe80::1", 0)));
}

static void addresses(void)
{
	int s = server(four("127.0.0.1", 0), 16), s6 = server(six("::1", 0), 16);
	int port = port_of(s), port6 = port_of(s6);

	say("connect", joins(make(AF_INET), four("127.0.0.1", port)));
	say("connect 6", joins(make(AF_INET6), six("::1", port6)));
	say("refused", joins(make(AF_INET), four("127.0.0.1", free_port())));
	say("refused 6", joins(make(AF_INET6), six("::1", free_port())));
	say("connect to port 0", joins(make(AF_INET), four("127.0.0.1", 0)));
	say("connect to 0.0.0.0", joins(make(AF_INET), four("0.0.0.0", port)));
	say("connect to ::", joins(make(AF_INET6), six("::", port6)));
	say("connect to mapped 0.0.0.0", joins(make(AF_INET6), six("::ffff:0.0.0.0", port)));
	say("connect to all", joins(make(AF_INET), four("255.255.255.255", port)));
	say("connect to many", joins(make(AF_INET), four("224.0.0.1", port)));
	say("bind in use", binds(make(AF_INET), four("127.0.0.1", port)));
	say("bind in use 6", binds(make(AF_INET6), six("::1", port6)));
	say("bind elsewhere", binds(make(AF_INET), four("192.0.2.1", 0)));
	say("bind elsewhere 6", binds(make(AF_INET6), six("2001:db8::9", 0)));
	say("bind", binds(make(AF_INET), four("127.0.0.1", 0)));
	say("bind any", binds(make(AF_INET), four("0.0.0.0", 0)));
	say("bind any 6", binds(make(AF_INET6), six("::", 0)));
	say("bind a low port", binds(make(AF_INET), four("127.0.0.1", 1)));
}

static void states(void)
{
	int s = server(four("127.0.0.1", 0), 16), fd = make(AF_INET), other, on = 1;
	union address to = four("127.0.0.1", port_of(s)), none = { .any = { AF_UNSPEC, { 0 } } };

	say("disconnect what is new", joins(fd, none));
	say("then connect", joins(fd, to));
	say("connect again", joins(fd, to));
	say("connect elsewhere", joins(fd, four("127.0.0.1", 1)));
	say("bind what is connected", binds(fd, four("127.0.0.1", 0)));
	say("listen on what is connected", listen(fd, 1));
	say("disconnect", joins(fd, none));
	say("connect once more", joins(fd, to));
	say("connect what listens", joins(s, to));
	say("listen twice", listen(s, 8));
	say("listen for fewer than none", listen(s, -1));
	fd = make(AF_INET);
	say("bind first", binds(fd, four("127.0.0.1", 0)));
	say("bind twice", binds(fd, four("127.0.0.1", 0)));
	say("connect from there", joins(fd, to));
	say("listen without an address", listen(make(AF_INET), 1));
	fd = make(AF_INET);
	other = make(AF_INET);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	say("bind to share", binds(fd, four("127.0.0.1", 0)));
	say("bind to share again", binds(other, four("127.0.0.1", port_of(fd))));
	say("listen on what is shared", listen(fd, 1));
	say("listen on it again", listen(other, 1));
	say("disconnect what listens", joins(fd, none));
	say("shut down what listens", shutdown(s, SHUT_RDWR));
	say("and connect", joins(make(AF_INET), to));
}

static void on_signal(int number)
{
	(void)number;
}

static void signal_soon(int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };
	const struct itimerval soon = { .it_value = { .tv_usec = 100000 } };

	if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &soon, NULL) < 0)
		fail("signal");
}

/* By somebody else: where there are threads, nobody knows which of them a signal is for. */
static pid_t take_soon(int fd)
{
	struct timespec pause = { .tv_nsec = 400000000 };
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	nanosleep(&pause, NULL);
	while (accept(fd, NULL, NULL) >= 0)
		;
	_exit(0);
}

static void waits(void)
{
	const struct timeval soon = { .tv_usec = 100000 };
	int full = full_server(), fd = make(AF_INET), error = 0;
	union address to = four("127.0.0.1", port_of(full));
	socklen_t size = sizeof(error);
	pid_t pid;

	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	say("connect for a while", joins(fd, to));
	fd = make(AF_INET);
	signal_soon(0);
	say("connect until a signal", joins(fd, to));
	quickly(fd);
	say("connect on", joins(fd, to));
	fd = make(AF_INET);
	quickly(fd);
	say("begin to connect", joins(fd, to));
	say("begin again", joins(fd, to));
	if ((pid = take_soon(full)) < 0)
		fail("fork");
	fd = make(AF_INET);
	signal_soon(SA_RESTART);
	say("connect in spite of a signal", joins(fd, to));
	say("that is done", joins(fd, to));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	full = server(four("127.0.0.1", 0), 4);
	fd = make(AF_INET);
	quickly(fd);
	say("begin", joins(fd, four("127.0.0.1", port_of(full))));
	wait_until_writable(fd);
	say("end", joins(fd, four("127.0.0.1", port_of(full))));
	say("is done", joins(fd, four("127.0.0.1", port_of(full))));
	fd = make(AF_INET);
	quickly(fd);
	say("begin in vain", joins(fd, four("127.0.0.1", free_port())));
	wait_until_writable(fd);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	errno = error;
	say("is refused", error ? -1 : 0);
}

static void files(void)
{
	union address abstract = { .any = { .sa_family = AF_UNIX } };
	const struct timeval soon = { .tv_usec = 100000 };
	int s = server(file("server"), 8), bound = make(AF_UNIX), fd, pair[2];
	int records = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	char name[110];

	memset(name, 'n', sizeof(name));
	name[108] = 0;
	say("a file", joins(make(AF_UNIX), file("server")));
	say("a file by dot", joins(make(AF_UNIX), file("./d/../server")));
	say("a file by a link", joins(make(AF_UNIX), file("link")));
	say("a name without an end", joins(make(AF_UNIX), file(name)));
	say("bind a file", binds(bound, file("bound")));
	say("nobody listens", joins(make(AF_UNIX), file("bound")));
	say("nobody has it", joins(make(AF_UNIX), file("sock")));
	say("no socket", joins(make(AF_UNIX), file("plain")));
	say("a folder", joins(make(AF_UNIX), file("d")));
	say("missing", joins(make(AF_UNIX), file("missing")));
	say("below a file", joins(make(AF_UNIX), file("plain/x")));
	say("round in circles", joins(make(AF_UNIX), file("loop")));
	say("closed", joins(make(AF_UNIX), file("closed")));
	say("records", joins(records, file("server")));
	say("bind a name in use", binds(make(AF_UNIX), file("server")));
	say("bind a name again", binds(bound, file("again")));
	say("bind below a file", binds(make(AF_UNIX), file("plain/x")));
	say("bind below nothing", binds(make(AF_UNIX), file("missing/x")));
	say("bind without a name", bind(make(AF_UNIX), &abstract.any, 2));
	say("listen without a name", listen(make(AF_UNIX), 1));
	say("listen for records", listen(records, 1));
	fd = make(AF_UNIX);
	say("connect a file", joins(fd, file("server")));
	say("connect it again", joins(fd, file("server")));
	say("listen on it", listen(fd, 1));
	say("connect what listens", joins(s, file("server")));
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		fail("socketpair");
	say("connect a pair", joins(pair[0], file("server")));
	(void)server(file("full"), 0);
	say("the first", joins(make(AF_UNIX), file("full")));
	fd = make(AF_UNIX);
	quickly(fd);
	say("one too many", joins(fd, file("full")));
	fd = make(AF_UNIX);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon));
	say("one for a while", joins(fd, file("full")));
	fd = make(AF_UNIX);
	signal_soon(0);
	say("one until a signal", joins(fd, file("full")));
}

static void routes(void)
{
	union address route = { .route = { .nl_family = AF_NETLINK } };
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	say("bind routes", binds(fd, route));
	say("connect routes", joins(fd, route));
	say("listen for routes", listen(fd, 1));
}

static void errnos(void)
{
	if (chdir(folder) < 0 || mkdir("d", 0755) < 0 || symlink("server", "link") < 0 ||
	    symlink("loop", "loop") < 0 || close(open("plain", O_CREAT | O_WRONLY, 0644)) < 0)
		fail(folder);
	close(server(file("sock"), 1));
	(void)server(file("closed"), 1);
	if (chmod("closed", 0) < 0)
		fail("chmod");
	odd_descriptors();
	lengths(AF_INET, four("127.0.0.1", free_port()), "4");
	lengths(AF_INET6, six("::1", free_port()), "6");
	lengths(AF_UNIX, file("missing"), "a file");
	families();
	addresses();
	states();
	waits();
	files();
	routes();
}

/* --- How often --- */

static int peer_port;

static bool is_answered(int fd)
{
	char byte;

	return write(fd, "x", 1) == 1 && read(fd, &byte, 1) == 1 && byte == 'x';
}

static pthread_barrier_t together;

static void *one_of_many(void *arg)
{
	int fd = make(AF_INET);

	(void)arg;
	pthread_barrier_wait(&together);
	if (joins(fd, four("127.0.0.1", peer_port)) < 0 || !is_answered(fd))
		return (void *)1;
	/* Until all are there. */
	pthread_barrier_wait(&together);
	close(fd);
	return NULL;
}

static int many(int count)
{
	pthread_t *threads = calloc((size_t)count, sizeof(*threads));
	pthread_attr_t attr;
	int wrong = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&together, NULL, (unsigned)count);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attr, one_of_many, NULL) != 0)
			fail("pthread_create");
	for (int i = 0; i < count; i++) {
		void *failed;

		pthread_join(threads[i], &failed);
		wrong += failed != NULL;
	}
	free(threads);
	printf("%d connections, %d wrong\n", count, wrong);
	return wrong != 0;
}

static void show(const char *name)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	close(open(path, O_CREAT | O_WRONLY, 0644));
	while (access(path, F_OK) == 0)
		nanosleep(&pause, NULL);
}

/* Waiting and not, refused and not, by address and by file, and as servers. */
static bool turn(int i, int closed)
{
	int fd = make(i % 8 == 5 ? AF_UNIX : AF_INET), error = 0;
	bool good = true;

	if (i % 2)
		quickly(fd);
	switch (i % 8) {
	case 2:
		good = joins(fd, four("127.0.0.1", closed)) < 0 && errno == ECONNREFUSED;
		break;
	case 4:
		good = joins(fd, four("127.0.0.1", 1)) < 0 && errno == EACCES;
		break;
	case 5:
		good = joins(fd, file("/nowhere/at/all")) < 0 && errno == ENOENT;
		break;
	case 6:
		good = binds(fd, four("127.0.0.1", 0)) == 0 && listen(fd, 1) == 0;
		break;
	default:
		if (joins(fd, four("127.0.0.1", peer_port)) < 0)
			error = errno;
		good = !error || (i % 2 && error == EINPROGRESS);
		/* Ports of what ends first are in use for a minute. */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger){ 1, 0 },
			   sizeof(struct linger));
	}
	close(fd);
	return good;
}

static int loop(int count)
{
	int closed = free_port(), wrong = 0;

	for (int i = 0; i < 64; i++)
		wrong += !turn(i, closed);
	show("before");
	for (int i = 0; i < count; i++)
		wrong += !turn(i, closed);
	show("after");
	printf("%d calls, %d wrong\n", count, wrong);
	return wrong != 0;
}

/* Each in a process of its own, and nobody accepts. */
static int killed(int count)
{
	union address to = four("127.0.0.1", port_of(full_server()));
	const struct timespec pause = { .tv_nsec = 20000000 }, end = { .tv_nsec = 600000000 };
	pid_t pids[64];

	show("before");
	for (int done = 0; done < count; done += 64) {
		for (int i = 0; i < 64; i++)
			if ((pids[i] = fork()) == 0) {
				(void)joins(make(AF_INET), to);
				_exit(0);
			}
		nanosleep(&pause, NULL);
		for (int i = 0; i < 64; i++) {
			kill(pids[i], SIGKILL);
			waitpid(pids[i], NULL, 0);
		}
	}
	nanosleep(&end, NULL);
	show("after");
	printf("%d clients, 0 wrong\n", count);
	return 0;
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int connect_once(bool quick)
{
	const struct linger at_once = { 1, 0 };
	int fd = make(AF_INET), result;

	if (quick)
		quickly(fd);
	result = joins(fd, four("127.0.0.1", peer_port)) < 0 && errno != EINPROGRESS;
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	return result;
}

static int costs(int count)
{
	static const char *const names[] = { "connect", "connect, not waiting", "bind", "listen" };
	double *times = calloc((size_t)count, sizeof(*times));

	for (int kind = 0; kind < 4; kind++) {
		for (int i = 0; i < count; i++) {
			int fd = kind < 2 ? -1 : make(AF_INET);
			double from;

			if (kind == 3 && binds(fd, four("127.0.0.1", 0)) < 0)
				fail("bind");
			from = now();
			if (kind < 2	? connect_once(kind)
			    : kind == 2 ? binds(fd, four("127.0.0.1", 0)) < 0
					: listen(fd, 8) < 0)
				fail(names[kind]);
			times[i] = now() - from;
			if (fd >= 0)
				close(fd);
		}
		qsort(times, (size_t)count, sizeof(*times), by_time);
		printf("%s: %.1f us\n", names[kind], times[count / 2]);
	}
	return 0;
}

static void *answer(void *arg)
{
	int fd = (int)(long)arg;
	char byte;

	while (read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1)
		;
	close(fd);
	return NULL;
}

static int serve(void)
{
	int s = server(four("127.0.0.1", 0), 1024), fd;
	pthread_attr_t attr;
	pthread_t thread;
	char path[512], final[512];
	FILE *port;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	signal(SIGPIPE, SIG_IGN);
	snprintf(path, sizeof(path), "%s/port.new", folder);
	snprintf(final, sizeof(final), "%s/port", folder);
	port = fopen(path, "w");
	if (!port || fprintf(port, "%d\n", port_of(s)) < 0 || fclose(port) != 0 ||
	    rename(path, final) < 0)
		fail(path);
	while ((fd = accept4(s, NULL, NULL, SOCK_CLOEXEC)) >= 0 || errno == ECONNABORTED)
		if (pthread_create(&thread, &attr, answer, (void *)(long)fd) != 0)
			close(fd);
	fail("accept");
}

static int number(const char *text)
{
	return (int)strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	bool local = !strcmp(kind, "errnos") || !strcmp(kind, "serve") || !strcmp(kind, "killed");
	int count = number(argc > 3 ? argv[3] : argc > 2 ? argv[2] : "0");
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	folder = argv[argc - 1];
	if (!local && argc > 3)
		peer_port = number(argv[2]);
	if (!strcmp(kind, "errnos"))
		return errnos(), 0;
	if (!strcmp(kind, "serve"))
		return serve();
	if (!strcmp(kind, "killed"))
		return killed(number(argv[2]));
	if (!strcmp(kind, "many") && peer_port)
		return many(count);
	if (!strcmp(kind, "loop") && peer_port)
		return loop(count);
	if (!strcmp(kind, "cost") && peer_port)
		return costs(count);
	fprintf(stderr, "usage: sockets errnos|many|loop|killed|cost|serve ...\n");
	return 2;
}
