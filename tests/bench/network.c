/* SPDX-License-Identifier: MIT */
/*
 * network serve		the other side: a DNS server for one name, a server that takes all there is
 * network ADDRESS DNS-PORT [PROXY-PORT LOGIN]
 *				what a look-up, a connection, a server of its own and a megabyte cost
 *				whoever makes them, in nanoseconds, one line for each
 *
 * With an HTTP proxy at some port of 127.0.0.1, and what logs in there, a connection is one by CONNECT.
 * A line has the fastest of some batches, as in calls.c. The name is looked up first: by name, its
 * address is nobody's before. Which sandbox it runs in is not known here.
 */
#include <arpa/inet.h>
#include <err.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ADDRESS "55.0.0.7"
#define PORT 8000
#define DNS_PORT 5353
#define BATCHES 5
#define MEGABYTES 128

static const unsigned char question[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0\5bench\4test\0\0\1\0\1";
static struct sockaddr_in peer, dns, proxy;
static char wish[2048]; /* what the proxy is asked for */
static char bytes[1 << 20];

static struct sockaddr_in place(const char *address, int port)
{
	struct sockaddr_in there = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };

	if (inet_pton(AF_INET, address, &there.sin_addr) != 1)
		errx(2, "%s is no address", address);
	return there;
}

static int make(int type)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		err(1, "socket");
	return fd;
}

/* --- The other side --- */

static int serve_at(int type, const char *address, int port)
{
	struct sockaddr_in there = place(address, port);
	int fd = make(type), on = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&there, sizeof(there)) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 128) < 0))
		err(1, "%s:%d", address, port);
	return fd;
}

static void *answer(void *arg)
{
	static const unsigned char more[] = {
		0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 55, 0, 0, 7
	};
	int fd = serve_at(SOCK_DGRAM, "127.0.0.1", DNS_PORT);
	unsigned char message[512];

	(void)arg;
	for (;;) {
		struct sockaddr_in who;
		socklen_t size = sizeof(who);
		ssize_t got = recvfrom(fd, message, 256, 0, (struct sockaddr *)&who, &size);

		if (got < 12)
			continue;
		message[2] = 0x81;
		message[3] = 0x80;
		message[7] = 1;
		memcpy(message + got, more, sizeof(more));
		(void)sendto(fd, message, (size_t)got + sizeof(more), 0, (struct sockaddr *)&who,
			     size);
	}
	return NULL;
}

static void serve(void)
{
	int fd = serve_at(SOCK_STREAM, ADDRESS, PORT);
	pthread_t thread;

	(void)signal(SIGPIPE, SIG_IGN);
	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		errx(1, "no thread");
	for (;;) {
		int client = accept(fd, NULL, NULL);

		while (read(client, bytes, sizeof(bytes)) > 0)
			;
		(void)close(client);
	}
}

/* --- What is measured --- */

static void look_up(void)
{
	unsigned char reply[512];
	int fd = make(SOCK_DGRAM);

	if (connect(fd, (struct sockaddr *)&dns, sizeof(dns)) < 0 ||
	    send(fd, question, sizeof(question) - 1, 0) < 0 ||
	    recv(fd, reply, sizeof(reply), 0) < 12 || reply[7] != 1)
		err(1, "look-up");
	(void)close(fd);
}

static void ask_proxy(int fd)
{
	char reply[1024] = "";
	ssize_t got = 0, more;

	if (write(fd, wish, strlen(wish)) < 0)
		err(1, "proxy");
	do {
		more = read(fd, reply + got, sizeof(reply) - 1 - (size_t)got);
		if (more <= 0)
			errx(1, "the proxy says: %s", reply);
		got += more;
	} while (!strstr(reply, "\r\n\r\n"));
	if (!strstr(reply, " 200 "))
		errx(1, "the proxy says: %s", reply);
}

static int connected(void)
{
	int fd = make(SOCK_STREAM);

	if (connect(fd, (struct sockaddr *)(proxy.sin_port ? &proxy : &peer), sizeof(peer)) < 0)
		err(1, "connect");
	if (proxy.sin_port)
		ask_proxy(fd);
	return fd;
}

/* Reset, so that no port stays taken. */
static void connect_close(void)
{
	const struct linger at_once = { 1, 0 };
	int fd = connected();

	(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	(void)close(fd);
}

static void serve_itself(void)
{
	struct sockaddr_in here = place("127.0.0.1", 0);
	int fd = make(SOCK_STREAM);

	if (bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0 || listen(fd, 8) < 0)
		err(1, "listen");
	(void)close(fd);
}

/* Until the other side has taken everything. */
static void send_all(void)
{
	int fd = connected();

	for (size_t i = 0; i < MEGABYTES; i++)
		for (size_t sent = 0; sent < sizeof(bytes);) {
			ssize_t did = write(fd, bytes + sent, sizeof(bytes) - sent);

			if (did < 0)
				err(1, "write");
			sent += (size_t)did;
		}
	(void)shutdown(fd, SHUT_WR);
	(void)!read(fd, bytes, 1);
	(void)close(fd);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void measure(const char *name, void (*call)(void), int calls, int each)
{
	double best = 0;

	for (int batch = 0; batch < BATCHES; batch++) {
		double start = now(), took;

		for (int i = 0; i < calls; i++)
			call();
		took = (now() - start) / calls / each;
		if (!batch || took < best)
			best = took;
	}
	printf("%s\t%.2f\n", name, best);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "serve"))
		serve();
	if (argc != 3 && argc != 5)
		errx(2, "usage: network ADDRESS DNS-PORT [PROXY-PORT LOGIN]");
	if (argc == 5) {
		proxy = place("127.0.0.1", (int)strtol(argv[3], NULL, 10));
		(void)snprintf(wish, sizeof(wish),
			       "CONNECT %s:%d HTTP/1.1\r\nHost: %s:%d\r\n"
			       "Proxy-Authorization: Basic %s\r\n\r\n",
			       argv[1], PORT, argv[1], PORT, argv[4]);
	}
	peer = place(argv[1], PORT);
	dns = place("127.0.0.1", (int)strtol(argv[2], NULL, 10));
	if (dns.sin_port)
		measure("look-up", look_up, 100, 1);
	measure("connect+close", connect_close, 100, 1);
	measure("bind+listen+close", serve_itself, 100, 1);
	measure("a megabyte sent", send_all, 1, MEGABYTES);
	return 0;
}
