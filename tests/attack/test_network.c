/* SPDX-License-Identifier: MIT */
/*
 * Attacks on the network: past addresses that are allowed, past Landlock's rules about TCP, and by way
 * of names.
 */
#include "harness.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

static void open_listener(struct scene *scene)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 8) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		BAIL_OUT("no listener");
	scene->things[0] = fd;
	scene_fact(scene, "port=%d", ntohs(address.sin_port));
}

static bool connected(struct scene *scene)
{
	int fd = accept(scene->things[0], NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void close_listener(struct scene *scene)
{
	close(scene->things[0]);
}

/* --- A DNS server: all names are 127.0.0.1 --- */

/* The question's name, printed as it is: labels with dots between them. */
static void write_down(int log, const unsigned char *name)
{
	char line[300];
	size_t len = 0;

	for (; *name && len + *name < sizeof(line) - 2; name += *name + 1) {
		memcpy(line + len, name + 1, *name);
		len += *name;
		line[len++] = '.';
	}
	line[len++] = '\n';
	if (write(log, line, len) != (ssize_t)len)
		_exit(1);
}

static void serve_names(int fd, int log)
{
	static const unsigned char address[] = { 0xc0, 12, 0, 1, 0,   1, 0, 0,
						 0,    5,  0, 4, 127, 0, 0, 1 };
	unsigned char bytes[512];
	struct sockaddr_in client;

	for (;;) {
		socklen_t size = sizeof(client);
		ssize_t got = recvfrom(fd, bytes, 256, 0, (struct sockaddr *)&client, &size);

		if (got < 17)
			continue;
		bytes[got] = 0;
		write_down(log, bytes + 12);
		bytes[2] = 0x81;
		bytes[3] = 0x80;
		if (bytes[got - 3] == 1) { /* no other type has one */
			bytes[7] = 1;
			memcpy(bytes + got, address, sizeof(address));
			got += sizeof(address);
		}
		sendto(fd, bytes, (size_t)got, 0, (struct sockaddr *)&client, size);
	}
}

static int open_name_server(struct scene *scene)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int log[2], fd;

	/* At the listener's port, so that nobody else is there. */
	if (getsockname(scene->things[0], (struct sockaddr *)&address, &size) < 0)
		BAIL_OUT("no listener");
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 ||
	    pipe2(log, O_CLOEXEC | O_NONBLOCK) < 0)
		BAIL_OUT("no name server");
	scene->things[1] = log[0];
	scene->things[2] = fork();
	if (scene->things[2] == 0)
		serve_names(fd, log[1]);
	close(fd);
	close(log[1]);
	return ntohs(address.sin_port);
}

/* Natively the server itself is asked; in the sandbox, all are. */
static void open_names(struct scene *scene)
{
	int port;

	open_listener(scene);
	port = open_name_server(scene);
	scene_fact(scene, "server=%d", port);
	scene_fact(scene, "dns=%d", scene->sandboxed ? 53 : port);
	scene_policy(scene, "[network]\nconnect = ok.test:*\ndns = 127.0.0.1:%d\n", port);
}

static void open_nothing(struct scene *scene)
{
	open_listener(scene);
	scene_policy(scene, "[network]\nmode = filtered\n");
}

/* Whether anybody was asked for a name that is not allowed, or connected to. */
static bool told(struct scene *scene)
{
	static const char allowed[] = "ok.test.\n";
	char names[4096];
	ssize_t got = read(scene->things[1], names, sizeof(names) - 1);

	names[got > 0 ? got : 0] = '\0';
	for (const char *line = names; *line; line += strlen(allowed))
		if (strncasecmp(line, allowed, strlen(allowed)) != 0)
			return true;
	return connected(scene);
}

static void close_names(struct scene *scene)
{
	kill(scene->things[2], SIGKILL);
	waitpid(scene->things[2], NULL, 0);
	close(scene->things[1]);
	close_listener(scene);
}

/* One address is allowed. Nobody may come to the same port beside it, nor to another port there. */
enum {
	PORT,
	BESIDE,
	ALLOWED,
	OTHER
};

static int open_at(int type, uint32_t host, int *port)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)*port),
				       .sin_addr.s_addr = htonl(host) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 ||
	    (type == SOCK_STREAM && listen(fd, 4096) < 0) ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		BAIL_OUT("no listener");
	*port = ntohs(address.sin_port);
	return fd;
}

static void open_all(struct scene *scene, bool allow)
{
	int port = 0, allowed = 0, datagrams = 0;

	scene->things[PORT] = open_at(SOCK_STREAM, INADDR_LOOPBACK, &port);
	scene->things[ALLOWED] = open_at(SOCK_STREAM, INADDR_LOOPBACK, &allowed);
	scene->things[BESIDE] = open_at(SOCK_STREAM, 0x7f000005, &allowed);
	scene->things[OTHER] = open_at(SOCK_DGRAM, INADDR_LOOPBACK, &datagrams);
	scene_fact(scene, "port=%d", port);
	scene_fact(scene, "allowed=%d", allowed);
	scene_fact(scene, "datagrams=%d", datagrams);
	if (allow)
		scene_policy(scene, "[network]\nconnect = 127.0.0.1:%d\n", allowed);
	else
		scene_policy(scene, "[network]\nmode = filtered\n");
}

static void open_some(struct scene *scene)
{
	open_all(scene, true);
}

static void open_seccomp(struct scene *scene)
{
	open_all(scene, true);
	scene_policy(scene, "[sandbox]\nenforce = seccomp\n");
}

static void open_none(struct scene *scene)
{
	open_all(scene, false);
}

static bool anybody(struct scene *scene)
{
	char bytes[8];
	bool seen = recv(scene->things[OTHER], bytes, sizeof(bytes), 0) > 0;

	for (int i = PORT; i <= BESIDE; i++) {
		int fd = accept(scene->things[i], NULL, NULL);

		seen |= fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return seen;
}

/* Whoever comes to where it may, so often that there would be no place any more. */
static void welcome(struct scene *scene)
{
	int fd;

	while ((fd = accept(scene->things[ALLOWED], NULL, NULL)) >= 0)
		close(fd);
}

static void close_all(struct scene *scene)
{
	for (int i = PORT; i <= OTHER; i++)
		close(scene->things[i]);
}

static void find_port(struct scene *scene)
{
	scene->things[0] = -1;
	scene->things[1] = 0;
	close(open_at(SOCK_STREAM, INADDR_LOOPBACK, &scene->things[1]));
	scene_fact(scene, "free=%d", scene->things[1]);
}

static void take_port(struct scene *scene)
{
	scene->things[0] = open_at(SOCK_STREAM, INADDR_LOOPBACK, &scene->things[1]);
}

/* A name with a '@' is no file. */
static void open_unix(struct scene *scene, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(name));
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	memcpy(address.sun_path, name, strlen(name));
	if (name[0] == '@')
		address.sun_path[0] = 0;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 64) < 0 ||
	    (name[0] != '@' && chmod(name, 0777) < 0))
		BAIL_OUT("no listener");
	scene->things[0] = fd;
}

static void open_docker(struct scene *scene)
{
	scene_own_files(scene, true);
	open_unix(scene, scene_at(scene, "secret/docker.sock"));
	scene_own_files(scene, false);
}

static void open_abstract(struct scene *scene)
{
	char name[80];

	snprintf(name, sizeof(name), "@sbx-%s", scene->marker);
	open_unix(scene, name);
	scene_fact(scene, "abstract=%s", name + 1);
}

static void race_some(struct scene *scene)
{
	open_some(scene);
	scene_races(scene, 1000, 1000);
}

static void race_seccomp(struct scene *scene)
{
	open_seccomp(scene);
	scene_races(scene, 1000, 1000);
}

static void race_docker(struct scene *scene)
{
	open_docker(scene);
	scene_races(scene, 1000, 1000);
}

#define SOME .arrange = open_some, .seen = anybody, .clear = close_all

static const struct attack_hook hooks[] = {
	{ .id = "V093", SOME },
	{ .id = "V094", SOME },
	{ .id = "V094b",
	  .arrange = race_some,
	  .meanwhile = welcome,
	  .seen = anybody,
	  .clear = close_all },
	{ .id = "V094c",
	  .arrange = find_port,
	  .meanwhile = take_port,
	  .seen = connected,
	  .clear = close_listener },
	{ .id = "V095", SOME },
	{ .id = "V097", SOME },
	{ .id = "V097b", .arrange = race_some, .seen = anybody, .clear = close_all },
	{ .id = "V097c", .arrange = race_seccomp, .seen = anybody, .clear = close_all },
	{ .id = "V101", .arrange = open_docker, .seen = connected, .clear = close_listener },
	{ .id = "V101b", .arrange = race_docker, .seen = connected, .clear = close_listener },
	{ .id = "V102", .arrange = open_abstract, .seen = connected, .clear = close_listener },
	{ .id = "V106b", .arrange = open_none, .seen = anybody, .clear = close_all },
	{ .id = "V098", .arrange = open_listener, .seen = connected, .clear = close_listener },
	{ .id = "V099", .arrange = open_listener, .seen = connected, .clear = close_listener },
	{ .id = "V096",
	  .arrange = open_names,
	  .seen = told,
	  .clear = close_names,
	  .explained = "Cannot look up 'secret-data.evil': host not allowed." },
	{ .id = "V103",
	  .arrange = open_names,
	  .seen = told,
	  .clear = close_names,
	  .explained = "Cannot look up 'evil-ok.test': host not allowed." },
	{ .id = "V104",
	  .arrange = open_names,
	  .seen = told,
	  .clear = close_names,
	  .explained = "(ok.test): the name is allowed, but it leads to a private address." },
	{ .id = "V105",
	  .arrange = open_names,
	  .seen = told,
	  .clear = close_names,
	  .explained = "destination not allowed." },
	{ .id = "V106",
	  .arrange = open_nothing,
	  .seen = connected,
	  .clear = close_listener,
	  .explained = "destination not allowed." },
	{ .id = NULL },
};

static void in_both_builds(bool user)
{
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(NETWORK, way, user, hooks);
}

int main(void)
{
	attack_begin();
	attack_as_each(in_both_builds);
	return attack_end();
}
