/* SPDX-License-Identifier: MIT */
/*
 * One thread, one poll(): the four doors, the clients that came by TCP, and the look-ups under way.
 * All that a program can make us keep is bounded, and allocated at the start but for replies that come
 * by TCP: it can starve nobody but itself.
 *
 * Must pin before it answers: the connect may come before poll() returns.
 */
#include "resolver.h"

#include "watch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define STACK (128u << 10)
#define DATAGRAMS_MOST 64 /* in a row, from one door */
#define IDLE_MS 10000 /* of a client by TCP */
#define QUIET_MS 1000 /* a name that was refused is not reported again */
#define DEAF_MS 100
#define REMEMBERED 16
#define LENGTH 2 /* of a message, before it in a stream */
#define QUERY_MOST 512

/* Who asked, and where: answers go back the same way. */
struct route {
	int door; /* -1: a client by TCP */
	size_t client;
	uint64_t serial; /* of the client */
	union launch_socket_address from;
	union launch_socket_address asked; /* the address; no port */
};

struct lookup {
	bool taken;
	struct launch_dns_query query;
	struct route route;
	struct launch_asking asking;
};

struct client {
	int fd; /* -1: none */
	bool busy; /* with a query; the next one is not read before it is answered */
	uint64_t serial;
	uint64_t deadline;
	size_t have;
	uint8_t bytes[LENGTH + QUERY_MOST];
};

struct refusal {
	uint64_t at;
	char name[SBX_HOST_MAX];
};

struct launch_resolver {
	struct launch_resolver_setup with;
	struct launch_netspace space;
	pthread_t thread;
	int wake;
	uint64_t serial; /* of the next client */
	uint64_t deaf_until; /* no client by TCP is taken before that */
	size_t next_refusal;
	struct refusal refusals[REMEMBERED];
	struct client clients[LAUNCH_STREAMS_MOST];
	struct lookup lookups[LAUNCH_LOOKUPS_MOST];
};

/* --- Answers --- */

static socklen_t place_len(const union launch_socket_address *place)
{
	return place->any.sa_family == AF_INET ? sizeof(place->v4) : sizeof(place->v6);
}

/* From the address that was asked: clients believe no other. */
static void send_datagram(int door, const struct route *route, uint8_t *bytes, size_t len)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct in6_pktinfo))];
		struct cmsghdr align;
	} control = { "" };
	struct iovec data = { bytes, len };
	struct msghdr message = { .msg_name = (void *)&route->from,
				  .msg_namelen = place_len(&route->from),
				  .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control };
	struct cmsghdr *head = &control.align;

	if (route->asked.any.sa_family == AF_INET) {
		struct in_pktinfo info = { .ipi_spec_dst = route->asked.v4.sin_addr };

		head->cmsg_level = IPPROTO_IP;
		head->cmsg_type = IP_PKTINFO;
		head->cmsg_len = CMSG_LEN(sizeof(info));
		message.msg_controllen = CMSG_SPACE(sizeof(info));
		memcpy(CMSG_DATA(head), &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_addr = route->asked.v6.sin6_addr };

		head->cmsg_level = IPPROTO_IPV6;
		head->cmsg_type = IPV6_PKTINFO;
		head->cmsg_len = CMSG_LEN(sizeof(info));
		message.msg_controllen = CMSG_SPACE(sizeof(info));
		memcpy(CMSG_DATA(head), &info, sizeof(info));
	}
	(void)sendmsg(door, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void close_client(struct client *client)
{
	if (client->fd >= 0)
		(void)close(client->fd);
	client->fd = -1;
}

/* Who does not read what it asked for is gone. */
static void send_stream(struct client *client, uint8_t *bytes, size_t len)
{
	bytes[0] = (uint8_t)((len - LENGTH) >> 8);
	bytes[1] = (uint8_t)(len - LENGTH);
	client->busy = false;
	client->deadline = launch_now() + IDLE_MS;
	if (send(client->fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)len)
		close_client(client);
}

static void answer(struct launch_resolver *resolver, const struct route *route,
		   const struct launch_dns_query *query, ns_rcode rcode,
		   const struct launch_dns_addrs *addrs)
{
	uint8_t bytes[LENGTH + LAUNCH_DNS_MOST];
	size_t limit = route->door < 0 ? LAUNCH_DNS_MOST : LAUNCH_DNS_DATAGRAM;
	size_t len = launch_dns_answer(query, rcode, addrs, limit, bytes + LENGTH);
	struct client *client = &resolver->clients[route->client];

	if (route->door >= 0)
		send_datagram(resolver->space.doors[route->door], route, bytes + LENGTH, len);
	else if (client->fd >= 0 && client->serial == route->serial)
		send_stream(client, bytes, LENGTH + len);
}

/* --- Verdicts --- */

bool launch_lookup_allowed(const struct sbx_image *image, const char *name,
			   struct sbx_verdict *verdict)
{
	struct sbx_request request = { .op = SBX_OP_LOOKUP, .size = -1, .host = name };

	sbx_eval(image, &request, verdict);
	return verdict->allowed || (verdict->flags & SBX_VERDICT_COMPLAIN);
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len >= end_len && !strcmp(name + len - end_len, end);
}

/* Nobody means to connect to such a name. */
static bool is_reverse(const char *name)
{
	return ends_in(name, ".in-addr.arpa") || ends_in(name, ".ip6.arpa");
}

/* libc appends domains to a name that it does not find: nobody wants those by themselves. */
static bool is_of_same(const struct launch_resolver *resolver, const char *said, const char *name)
{
	const struct launch_upstream *upstream = resolver->with.upstream;
	char bare[SBX_HOST_MAX], other[SBX_HOST_MAX];

	if (!strcmp(said, name))
		return true;
	if (!launch_upstream_bare(upstream, name, bare))
		return false;
	return !strcmp(said, bare) ||
	       (launch_upstream_bare(upstream, said, other) && !strcmp(other, bare));
}

static bool was_said(struct launch_resolver *resolver, const char *name, uint64_t now)
{
	struct refusal *refusal;

	for (size_t i = 0; i < REMEMBERED; i++)
		if (resolver->refusals[i].name[0] && now - resolver->refusals[i].at < QUIET_MS &&
		    is_of_same(resolver, resolver->refusals[i].name, name))
			return true;
	refusal = &resolver->refusals[resolver->next_refusal++ % REMEMBERED];
	*refusal = (struct refusal){ .at = now };
	memcpy(refusal->name, name, strnlen(name, sizeof(refusal->name) - 1));
	return false;
}

static void refuse(struct launch_resolver *resolver, const struct route *route,
		   const struct launch_dns_query *query)
{
	const struct launch_resolver_setup *with = &resolver->with;
	char spelled[NS_MAXDNAME], bare[SBX_HOST_MAX];
	const char *name = query->name[0] ? query->name : spelled;

	launch_dns_spell(query, spelled);
	/*
	 * The root is no name that anybody looks for. Words come before the answer: the run may be at
	 * its end right after it.
	 */
	if (with->refused && !is_reverse(query->name) && strcmp(spelled, ".") != 0 &&
	    !(launch_upstream_bare(with->upstream, query->name, bare) &&
	      with->allowed(with->arg, bare)) &&
	    !was_said(resolver, name, launch_now()))
		with->refused(with->arg, name);
	answer(resolver, route, query, ns_r_nxdomain, NULL);
}

/* Loopback is nobody's to be pinned: it is reached by rules for addresses alone. */
static void give(struct launch_resolver *resolver, const struct route *route,
		 const struct launch_dns_query *query, const struct launch_dns_addrs *addrs)
{
	if (!launch_is_localhost(query->name))
		launch_pins_add(resolver->with.pins, query->name, addrs, launch_now());
	answer(resolver, route, query, ns_r_noerror, addrs);
}

/* --- Look-ups --- */

static void finish(struct launch_resolver *resolver, struct lookup *lookup, enum launch_asked asked,
		   const struct launch_dns_reply *reply)
{
	if (asked == ASKED_WAITS)
		return;
	lookup->taken = false;
	if (asked == ASKED_FAILED)
		answer(resolver, &lookup->route, &lookup->query, ns_r_servfail, NULL);
	else if (reply->rcode == ns_r_nxdomain)
		answer(resolver, &lookup->route, &lookup->query, ns_r_nxdomain, NULL);
	else
		give(resolver, &lookup->route, &lookup->query, &reply->addrs);
}

static bool is_same_place(const union launch_socket_address *a,
			  const union launch_socket_address *b)
{
	return a->any.sa_family == b->any.sa_family && !memcmp(a, b, place_len(a));
}

/* A client that asks again, because the first answer is not there yet, gets that one. */
static bool is_under_way(const struct launch_resolver *resolver, const struct route *route,
			 const struct launch_dns_query *query)
{
	for (size_t i = 0; i < LAUNCH_LOOKUPS_MOST; i++) {
		const struct lookup *other = &resolver->lookups[i];

		if (other->taken && route->door >= 0 && other->route.door == route->door &&
		    other->query.id == query->id && other->query.type == query->type &&
		    is_same_place(&other->route.from, &route->from) &&
		    is_same_place(&other->route.asked, &route->asked) &&
		    !strcmp(other->query.name, query->name))
			return true;
	}
	return false;
}

static void begin(struct launch_resolver *resolver, const struct route *route,
		  const struct launch_dns_query *query)
{
	struct lookup *lookup = resolver->lookups, *end = lookup + LAUNCH_LOOKUPS_MOST;
	struct launch_dns_reply reply;

	if (is_under_way(resolver, route, query))
		return;
	while (lookup < end && lookup->taken)
		lookup++;
	if (lookup == end) {
		answer(resolver, route, query, ns_r_servfail, NULL);
		return;
	}
	lookup->taken = true;
	lookup->query = *query;
	lookup->route = *route;
	finish(resolver, lookup,
	       launch_ask_begin(&lookup->asking, resolver->with.upstream, query->name, query->type,
				&reply),
	       &reply);
}

static bool is_wanted_type(const struct launch_resolver *resolver, uint16_t type)
{
	return type == ns_t_a || (type == ns_t_aaaa && resolver->space.ipv6);
}

/* False when nobody may be answered. */
static bool serve(struct launch_resolver *resolver, const struct route *route, const uint8_t *bytes,
		  size_t len)
{
	const struct launch_resolver_setup *with = &resolver->with;
	struct launch_dns_query query;
	struct launch_dns_addrs addrs;
	int result = launch_dns_parse(bytes, len, &query);

	if (result < 0)
		return false;
	if (result > 0)
		answer(resolver, route, &query, (ns_rcode)result, NULL);
	else if (!query.name[0] || is_reverse(query.name))
		refuse(resolver, route, &query);
	else if (!launch_is_localhost(query.name) && !with->allowed(with->arg, query.name))
		refuse(resolver, route, &query);
	else if (!is_wanted_type(resolver, query.type))
		answer(resolver, route, &query, ns_r_noerror, NULL);
	else if (launch_upstream_knows(with->upstream, query.name, query.type, &addrs))
		give(resolver, route, &query, &addrs);
	else
		begin(resolver, route, &query);
	return true;
}

/* --- Datagrams --- */

static bool take_asked(struct msghdr *message, union launch_socket_address *asked)
{
	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head;
	     head = CMSG_NXTHDR(message, head)) {
		struct in_pktinfo info;
		struct in6_pktinfo info6;

		if (head->cmsg_level == IPPROTO_IP && head->cmsg_type == IP_PKTINFO) {
			memcpy(&info, CMSG_DATA(head), sizeof(info));
			asked->v4 = (struct sockaddr_in){ .sin_family = AF_INET,
							  .sin_addr = info.ipi_addr };
			return true;
		}
		if (head->cmsg_level == IPPROTO_IPV6 && head->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info6, CMSG_DATA(head), sizeof(info6));
			asked->v6 = (struct sockaddr_in6){ .sin6_family = AF_INET6,
							   .sin6_addr = info6.ipi6_addr };
			return true;
		}
	}
	return false;
}

/* False when there are no more. */
static bool take_datagram(struct launch_resolver *resolver, int door)
{
	union {
		char bytes[256];
		struct cmsghdr align;
	} control;
	uint8_t bytes[4096];
	struct route route = { .door = door };
	struct iovec data = { bytes, sizeof(bytes) };
	struct msghdr message = { .msg_name = &route.from,
				  .msg_namelen = sizeof(route.from),
				  .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	ssize_t got = recvmsg(resolver->space.doors[door], &message, MSG_DONTWAIT);

	if (got < 0)
		return false;
	if (!(message.msg_flags & MSG_TRUNC) && take_asked(&message, &route.asked))
		(void)serve(resolver, &route, bytes, (size_t)got);
	return true;
}

/* --- Streams --- */

static void take_client(struct launch_resolver *resolver, int door)
{
	int fd = accept4(resolver->space.doors[door], NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client = resolver->clients, *end = client + LAUNCH_STREAMS_MOST;

	/* Without a descriptor for it, it stays where it is, and poll() would not wait for anything. */
	if (fd < 0) {
		resolver->deaf_until = launch_now() + DEAF_MS;
		return;
	}
	while (client < end && client->fd >= 0)
		client++;
	if (client == end ||
	    (resolver->with.welcome && !resolver->with.welcome(resolver->with.arg, fd))) {
		(void)close(fd);
		return;
	}
	*client = (struct client){ .fd = fd,
				   .serial = resolver->serial++,
				   .deadline = launch_now() + IDLE_MS };
}

/* Serves the queries that are there as a whole, one after the other. */
static void serve_client(struct launch_resolver *resolver, struct client *client)
{
	struct route route = { .door = -1,
			       .client = (size_t)(client - resolver->clients),
			       .serial = client->serial };

	while (client->fd >= 0 && !client->busy && client->have >= LENGTH) {
		size_t len = (size_t)(client->bytes[0] << 8 | client->bytes[1]);
		uint8_t query[QUERY_MOST];

		if (len > sizeof(query)) {
			close_client(client);
			return;
		}
		if (client->have < LENGTH + len)
			return;
		memcpy(query, client->bytes + LENGTH, len);
		client->have -= LENGTH + len;
		memmove(client->bytes, client->bytes + LENGTH + len, client->have);
		client->busy = true;
		if (!serve(resolver, &route, query, len))
			close_client(client);
	}
}

static void read_client(struct launch_resolver *resolver, struct client *client, short ready)
{
	ssize_t got;

	if (client->busy) {
		if (ready & (POLLHUP | POLLERR))
			close_client(client);
		return;
	}
	got = recv(client->fd, client->bytes + client->have, sizeof(client->bytes) - client->have,
		   MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		close_client(client);
		return;
	}
	client->have += (size_t)got;
	serve_client(resolver, client);
}

/* --- The loop --- */

enum {
	WAKE,
	DOORS,
	CLIENTS = DOORS + DOOR_COUNT,
	LOOKUPS = CLIENTS + LAUNCH_STREAMS_MOST,
	POLLED = LOOKUPS + LAUNCH_LOOKUPS_MOST
};

static bool has_room(const struct launch_resolver *resolver)
{
	for (size_t i = 0; i < LAUNCH_STREAMS_MOST; i++)
		if (resolver->clients[i].fd < 0)
			return true;
	return false;
}

static void keep_soonest(uint64_t *soonest, uint64_t deadline)
{
	if (deadline < *soonest)
		*soonest = deadline;
}

/* poll() overlooks what has no descriptor. Returns when something is due. */
static uint64_t prepare(const struct launch_resolver *resolver, struct pollfd polled[POLLED])
{
	uint64_t soonest = UINT64_MAX;
	bool deaf = launch_now() < resolver->deaf_until, room = has_room(resolver) && !deaf;

	if (deaf)
		soonest = resolver->deaf_until;
	polled[WAKE] = (struct pollfd){ .fd = resolver->wake, .events = POLLIN };
	for (size_t i = 0; i < DOOR_COUNT; i++) {
		bool stream = i == DOOR_TCP4 || i == DOOR_TCP6;

		polled[DOORS + i] =
			(struct pollfd){ .fd = stream && !room ? -1 : resolver->space.doors[i],
					 .events = POLLIN };
	}
	for (size_t i = 0; i < LAUNCH_STREAMS_MOST; i++) {
		const struct client *client = &resolver->clients[i];

		polled[CLIENTS + i] =
			(struct pollfd){ .fd = client->fd, .events = client->busy ? 0 : POLLIN };
		if (client->fd >= 0 && !client->busy)
			keep_soonest(&soonest, client->deadline);
	}
	for (size_t i = 0; i < LAUNCH_LOOKUPS_MOST; i++) {
		const struct lookup *lookup = &resolver->lookups[i];

		polled[LOOKUPS + i] = (struct pollfd){ .fd = lookup->taken ? lookup->asking.fd : -1,
						       .events = lookup->asking.events };
		if (lookup->taken)
			keep_soonest(&soonest, lookup->asking.deadline);
	}
	return soonest;
}

static void go_on_with_lookups(struct launch_resolver *resolver, const struct pollfd *polled)
{
	for (size_t i = 0; i < LAUNCH_LOOKUPS_MOST; i++) {
		struct lookup *lookup = &resolver->lookups[i];
		struct launch_dns_reply reply;

		/* Those with another descriptor have begun since. */
		if (!lookup->taken || polled[i].fd != lookup->asking.fd)
			continue;
		finish(resolver, lookup,
		       launch_ask_go_on(&lookup->asking, polled[i].revents, &reply), &reply);
	}
}

static void go_on_with_clients(struct launch_resolver *resolver, const struct pollfd *polled)
{
	uint64_t now = launch_now();

	for (size_t i = 0; i < LAUNCH_STREAMS_MOST; i++) {
		struct client *client = &resolver->clients[i];

		/* What came while one was busy waits for nobody. */
		serve_client(resolver, client);
		if (client->fd >= 0 && client->fd == polled[i].fd && polled[i].revents)
			read_client(resolver, client, polled[i].revents);
		if (client->fd >= 0 && !client->busy && now >= client->deadline)
			close_client(client);
	}
}

static void *run(void *arg)
{
	struct launch_resolver *resolver = arg;
	struct pollfd polled[POLLED];

	for (;;) {
		uint64_t soonest = prepare(resolver, polled), now = launch_now();
		int ms = soonest == UINT64_MAX ? -1 : soonest > now ? (int)(soonest - now) : 0;

		if (poll(polled, POLLED, ms) < 0)
			continue;
		if (polled[WAKE].revents)
			return NULL;
		go_on_with_lookups(resolver, polled + LOOKUPS);
		go_on_with_clients(resolver, polled + CLIENTS);
		for (int door = 0; door < DOOR_COUNT; door++) {
			if (!polled[DOORS + door].revents)
				continue;
			if (door == DOOR_TCP4 || door == DOOR_TCP6)
				take_client(resolver, door);
			else
				for (int i = 0; i < DATAGRAMS_MOST; i++)
					if (!take_datagram(resolver, door))
						break;
		}
	}
}

/* A program's libc reads the file itself, and asks nobody. */
static void keep_host(void *arg, const char *name, const struct sbx_addr *addr)
{
	const struct launch_resolver_setup *with = arg;

	if (with->allowed(with->arg, name))
		(void)launch_pins_keep(with->pins, name, addr);
}

/* No signal is the resolver's to take. */
static int start_thread(struct launch_resolver *resolver)
{
	sigset_t all, before;
	pthread_attr_t attr;
	int failed;

	if (pthread_attr_init(&attr) != 0)
		return -ENOMEM;
	(void)pthread_attr_setstacksize(&attr, STACK);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	failed = pthread_create(&resolver->thread, &attr, run, resolver);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return -failed;
}

int launch_resolver_start(const struct launch_resolver_setup *setup, struct launch_resolver **out,
			  struct launch_error *error)
{
	struct launch_resolver *resolver = calloc(1, sizeof(*resolver));
	int failed = resolver ? 0 : -ENOMEM;

	if (!failed) {
		resolver->with = *setup;
		resolver->space = *setup->space;
		for (size_t i = 0; i < LAUNCH_STREAMS_MOST; i++)
			resolver->clients[i].fd = -1;
		launch_upstream_hosts(setup->upstream, keep_host, &resolver->with);
		resolver->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		failed = resolver->wake < 0 ? -errno : start_thread(resolver);
		if (failed && resolver->wake >= 0)
			(void)close(resolver->wake);
	}
	if (failed) {
		free(resolver);
		return launch_fail(error, -failed, "cannot start the resolver: %s",
				   strerror(-failed));
	}
	*out = resolver;
	return 0;
}

void launch_resolver_stop(struct launch_resolver *resolver)
{
	const uint64_t one = 1;

	(void)!write(resolver->wake, &one, sizeof(one));
	(void)pthread_join(resolver->thread, NULL);
	for (size_t i = 0; i < LAUNCH_LOOKUPS_MOST; i++)
		if (resolver->lookups[i].taken)
			launch_ask_end(&resolver->lookups[i].asking);
	for (size_t i = 0; i < LAUNCH_STREAMS_MOST; i++)
		close_client(&resolver->clients[i]);
	launch_netspace_close(&resolver->space);
	(void)close(resolver->wake);
	free(resolver);
}
