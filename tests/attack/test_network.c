/* SPDX-License-Identifier: MIT */
/*
 * Attacks on the network that slip past Landlock's rules about TCP.
 */
#include "harness.h"

#include <netinet/in.h>
#include <sys/socket.h>
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

static const struct attack_hook hooks[] = {
	{ .id = "V098", .arrange = open_listener, .seen = connected, .clear = close_listener },
	{ .id = "V099", .arrange = open_listener, .seen = connected, .clear = close_listener },
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
