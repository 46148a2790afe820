/* SPDX-License-Identifier: MIT */
/*
 * Asks upstream servers. Every try has a socket of its own, connected, so that the kernel lets nothing
 * in but from the server that was asked; it chooses the port at random, and we the id. What does not
 * fit the question is not there; after some of that the try is given up, because somebody may be
 * guessing. A truncated reply is asked for again by TCP.
 */
#include "upstream.h"

#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define LIES_MOST 32
#define LENGTH 2 /* of a message, before it in a stream */

static socklen_t place_len(const union launch_socket_address *place)
{
	return place->any.sa_family == AF_INET ? sizeof(place->v4) : sizeof(place->v6);
}

void launch_ask_end(struct launch_asking *asking)
{
	if (asking->fd >= 0)
		(void)close(asking->fd);
	asking->fd = -1;
	free(asking->bytes);
	asking->bytes = NULL;
}

static const union launch_socket_address *server_of(const struct launch_asking *asking)
{
	return &asking->upstream->servers[asking->tried % asking->upstream->count];
}

static bool open_socket(struct launch_asking *asking, int type)
{
	const union launch_socket_address *server = server_of(asking);

	launch_ask_end(asking);
	asking->stream = type == SOCK_STREAM;
	asking->lies = 0;
	asking->have = 0;
	asking->deadline = launch_now() + asking->upstream->timeout_ms;
	if (getrandom(&asking->id, sizeof(asking->id), 0) != sizeof(asking->id))
		return false;
	asking->fd = socket(server->any.sa_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return asking->fd >= 0 && (connect(asking->fd, &server->any, place_len(server)) == 0 ||
				   (type == SOCK_STREAM && errno == EINPROGRESS));
}

/* In a stream, its length comes first. */
static bool send_question(struct launch_asking *asking)
{
	struct launch_dns_ask ask = { asking->name, asking->type, asking->id };
	uint8_t bytes[LENGTH + LAUNCH_DNS_DATAGRAM];
	size_t len = launch_dns_make(&ask, bytes + LENGTH), skip = asking->stream ? 0 : LENGTH;

	bytes[0] = (uint8_t)(len >> 8);
	bytes[1] = (uint8_t)len;
	len += LENGTH - skip;
	asking->events = POLLIN;
	return send(asking->fd, bytes + skip, len, MSG_NOSIGNAL) == (ssize_t)len;
}

/* Begins the try that is due, or the next that can be begun. */
static enum launch_asked try(struct launch_asking *asking)
{
	const struct launch_upstream *upstream = asking->upstream;

	for (; asking->tried < upstream->count * upstream->tries; asking->tried++)
		if (open_socket(asking, SOCK_DGRAM) && send_question(asking))
			return ASKED_WAITS;
	launch_ask_end(asking);
	return ASKED_FAILED;
}

static enum launch_asked try_next(struct launch_asking *asking)
{
	asking->tried++;
	return try(asking);
}

static enum launch_asked try_stream(struct launch_asking *asking)
{
	if (!open_socket(asking, SOCK_STREAM))
		return try_next(asking);
	asking->events = POLLOUT;
	return ASKED_WAITS;
}

/* A reply to the question. */
static enum launch_asked take_reply(struct launch_asking *asking,
				    const struct launch_dns_reply *reply)
{
	if (reply->truncated)
		return asking->stream ? try_next(asking) : try_stream(asking);
	if (reply->rcode != ns_r_noerror && reply->rcode != ns_r_nxdomain)
		return try_next(asking);
	launch_ask_end(asking);
	return ASKED_DONE;
}

static enum launch_asked read_datagrams(struct launch_asking *asking,
					struct launch_dns_reply *reply)
{
	const struct launch_dns_ask ask = { asking->name, asking->type, asking->id };
	uint8_t bytes[4096];

	while (asking->lies < LIES_MOST) {
		ssize_t got = recv(asking->fd, bytes, sizeof(bytes), MSG_TRUNC);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return ASKED_WAITS;
		if (got < 0)
			return try_next(asking);
		if (got <= (ssize_t)sizeof(bytes) &&
		    launch_dns_read(&ask, bytes, (size_t)got, reply) == 0)
			return take_reply(asking, reply);
		asking->lies++;
	}
	return try_next(asking);
}

/* The length first, then the message; true when there is more to come. */
static bool read_piece(struct launch_asking *asking, size_t *message)
{
	size_t want = LENGTH;
	ssize_t got;

	if (!asking->bytes)
		asking->bytes = calloc(1, LENGTH + NS_MAXMSG);
	if (!asking->bytes)
		return false;
	if (asking->have >= LENGTH)
		want += (size_t)(asking->bytes[0] << 8 | asking->bytes[1]);
	got = recv(asking->fd, asking->bytes + asking->have, want - asking->have, 0);
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR);
	asking->have += (size_t)got;
	if (want == LENGTH || asking->have < want)
		return true;
	*message = want - LENGTH;
	return false;
}

static enum launch_asked read_stream(struct launch_asking *asking, struct launch_dns_reply *reply)
{
	const struct launch_dns_ask ask = { asking->name, asking->type, asking->id };
	size_t message = 0;

	if (read_piece(asking, &message))
		return ASKED_WAITS;
	if (message && launch_dns_read(&ask, asking->bytes + LENGTH, message, reply) == 0)
		return take_reply(asking, reply);
	return try_next(asking);
}

enum launch_asked launch_ask_begin(struct launch_asking *asking,
				   const struct launch_upstream *upstream, const char *name,
				   uint16_t type, struct launch_dns_reply *reply)
{
	*asking = (struct launch_asking){ .upstream = upstream, .fd = -1, .type = type };
	*reply = (struct launch_dns_reply){ .rcode = ns_r_servfail };
	memcpy(asking->name, name, strnlen(name, sizeof(asking->name) - 1));
	return try(asking);
}

static enum launch_asked serve(struct launch_asking *asking, struct launch_dns_reply *reply)
{
	if (!asking->stream)
		return read_datagrams(asking, reply);
	if (asking->events != POLLOUT)
		return read_stream(asking, reply);
	return send_question(asking) ? ASKED_WAITS : try_next(asking);
}

/* Who sends a byte now and then gets no more time by that. */
enum launch_asked launch_ask_go_on(struct launch_asking *asking, short ready,
				   struct launch_dns_reply *reply)
{
	enum launch_asked asked = ready ? serve(asking, reply) : ASKED_WAITS;

	return asked == ASKED_WAITS && launch_now() >= asking->deadline ? try_next(asking) : asked;
}

/* Milliseconds until then, for poll(). */
static int until(uint64_t deadline)
{
	uint64_t now = launch_now();

	return deadline > now ? (int)(deadline - now) : 0;
}

/* Appends the addresses of one family; or 0, -ENOENT or -EAGAIN. */
static int resolve(const struct launch_upstream *upstream, const char *name, uint16_t type,
		   struct launch_dns_reply *reply)
{
	struct launch_asking asking;
	enum launch_asked asked;

	if (launch_upstream_knows(upstream, name, type, &reply->addrs))
		return 0;
	asked = launch_ask_begin(&asking, upstream, name, type, reply);
	while (asked == ASKED_WAITS) {
		struct pollfd ready = { .fd = asking.fd, .events = asking.events };

		if (poll(&ready, 1, until(asking.deadline)) < 0)
			ready.revents = 0;
		asked = launch_ask_go_on(&asking, ready.revents, reply);
	}
	if (asked == ASKED_FAILED)
		return -EAGAIN;
	return reply->rcode == ns_r_nxdomain ? -ENOENT : 0;
}

static void append(struct launch_dns_addrs *to, const struct launch_dns_addrs *from)
{
	for (size_t i = 0; i < from->count && to->count < LAUNCH_DNS_ADDRS; i++)
		to->each[to->count++] = from->each[i];
	if (from->count && from->ttl < to->ttl)
		to->ttl = from->ttl;
}

int launch_resolve_now(const struct launch_upstream *upstream, const char *name, bool ipv6,
		       struct launch_dns_addrs *addrs)
{
	struct launch_dns_addrs found = { .ttl = LAUNCH_DNS_TTL_MOST };
	struct launch_dns_reply reply;
	int result = resolve(upstream, name, ns_t_a, &reply);

	if (result == 0) {
		append(&found, &reply.addrs);
		if (ipv6)
			result = resolve(upstream, name, ns_t_aaaa, &reply);
		if (result == 0 && ipv6)
			append(&found, &reply.addrs);
	}
	/* One family is better than none. */
	if (found.count) {
		*addrs = found;
		return 0;
	}
	return result ? result : -ENOENT;
}
