/* SPDX-License-Identifier: MIT */
/* Rings of sockets: where one is full, the oldest is forgotten, which may have ended long since. */
#include "servers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define MOST 1024

struct ring {
	size_t next;
	struct launch_server sockets[MOST];
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

static bool has(const struct ring *ring, uint64_t cookie)
{
	for (size_t i = 0; i < MOST; i++)
		if (ring->sockets[i].cookie == cookie)
			return true;
	return false;
}

int launch_servers_add(struct launch_servers *servers, int fd, int domain)
{
	struct ring *ring = domain == AF_UNIX ? &servers->files : &servers->tcp;
	struct launch_server socket = { 0 };
	socklen_t size = sizeof(socket.cookie);
	struct stat st;

	if (getsockopt(fd, SOL_SOCKET, SO_COOKIE, &socket.cookie, &size) < 0 || fstat(fd, &st) < 0)
		return -errno;
	socket.inode = (uint32_t)st.st_ino;
	(void)pthread_mutex_lock(&servers->lock);
	if (!has(ring, socket.cookie)) {
		ring->sockets[ring->next] = socket;
		ring->next = (ring->next + 1) % MOST;
	}
	(void)pthread_mutex_unlock(&servers->lock);
	return 0;
}

bool launch_servers_has_tcp(struct launch_servers *servers, const struct sbx_addr *addr,
			    uint16_t port)
{
	uint64_t cookie;
	bool found;

	if (!servers || launch_diag_tcp(addr, port, &cookie) < 0)
		return false;
	(void)pthread_mutex_lock(&servers->lock);
	found = has(&servers->tcp, cookie);
	(void)pthread_mutex_unlock(&servers->lock);
	return found;
}

/* The kernel is not asked by file, so every one is asked about; who listens no more is forgotten. */
bool launch_servers_has_unix(struct launch_servers *servers, const struct launch_file *file)
{
	int found = 0;

	if (!servers)
		return false;
	(void)pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < MOST && found <= 0; i++) {
		struct launch_server *socket = &servers->files.sockets[i];

		found = socket->cookie ? launch_diag_unix(socket, file) : 0;
		if (found == -ESRCH)
			socket->cookie = 0;
	}
	(void)pthread_mutex_unlock(&servers->lock);
	return found > 0;
}
