/* SPDX-License-Identifier: MIT */
/*
 * Rings of numbers: where one is full, the oldest is forgotten, which may have ended long since. The
 * kernel gives an inode's number to nobody else for four billion sockets.
 */
#include "servers.h"

#include "diag.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#define MOST 1024

struct ring {
	size_t next;
	uint32_t sockets[MOST]; /* 0: none */
};

struct launch_servers {
	pthread_mutex_t lock;
	struct ring tcp;
	struct ring files;
};

struct launch_servers *launch_servers_new(void)
{
	struct launch_servers *servers = calloc(1, sizeof(*servers));

	if (servers)
		(void)pthread_mutex_init(&servers->lock, NULL);
	return servers;
}

static bool has(const struct ring *ring, uint32_t socket)
{
	for (size_t i = 0; i < MOST; i++)
		if (ring->sockets[i] == socket)
			return true;
	return false;
}

static void add(struct launch_servers *servers, struct ring *ring, ino_t socket)
{
	(void)pthread_mutex_lock(&servers->lock);
	if (!has(ring, (uint32_t)socket)) {
		ring->sockets[ring->next] = (uint32_t)socket;
		ring->next = (ring->next + 1) % MOST;
	}
	(void)pthread_mutex_unlock(&servers->lock);
}

void launch_servers_add_tcp(struct launch_servers *servers, ino_t socket)
{
	if (servers)
		add(servers, &servers->tcp, socket);
}

void launch_servers_add_unix(struct launch_servers *servers, ino_t socket)
{
	if (servers)
		add(servers, &servers->files, socket);
}

bool launch_servers_has_tcp(struct launch_servers *servers, const struct sbx_addr *addr,
			    uint16_t port)
{
	uint32_t socket = servers ? launch_diag_tcp(addr, port) : 0;
	bool found;

	if (!socket)
		return false;
	(void)pthread_mutex_lock(&servers->lock);
	found = has(&servers->tcp, socket);
	(void)pthread_mutex_unlock(&servers->lock);
	return found;
}

/* The kernel is not asked by file, so every one is asked about; who listens no more is forgotten. */
bool launch_servers_has_unix(struct launch_servers *servers, const struct stat *file)
{
	int found = 0;

	if (!servers)
		return false;
	(void)pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < MOST && found <= 0; i++) {
		uint32_t *socket = &servers->files.sockets[i];

		found = *socket ? launch_diag_unix(*socket, file->st_dev, file->st_ino) : 0;
		if (found == -ESRCH)
			*socket = 0;
	}
	(void)pthread_mutex_unlock(&servers->lock);
	return found > 0;
}
