/* SPDX-License-Identifier: MIT */
#include "names.h"

#include "diag.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 32

/* All TCP sockets of the program's are in our network (broker_net.c), so they are heard there. */
static int open_door(struct launch_error *error)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), failed;

	if (fd >= 0 && bind(fd, (struct sockaddr *)&here, sizeof(here)) == 0 &&
	    listen(fd, BACKLOG) == 0)
		return fd;
	failed = errno;
	if (fd >= 0)
		(void)close(fd);
	return launch_fail(error, failed, "cannot listen for look-ups by TCP: %s",
			   strerror(failed));
}

static bool may_look_up(void *arg, const char *name)
{
	const struct launch_names *names = arg;
	struct sbx_verdict verdict;

	return launch_lookup_allowed(names->with.image, name, &verdict);
}

static void say_refused(void *arg, const char *name)
{
	struct launch_names *names = arg;
	struct sbx_request request = { .op = SBX_OP_LOOKUP, .size = -1, .host = name };
	struct sbx_verdict verdict;
	struct sbx_report report = {
		.image = names->with.image, .request = &request, .verdict = &verdict, .given = name
	};

	/* Who asked is about to be told of, with the name as it was wanted. */
	if (launch_lookups_has(&names->lookups, name) || launch_lookup_is_known(name))
		return;
	sbx_eval(names->with.image, &request, &verdict);
	/* What is no name of a host at all, no rule can be about. */
	if (verdict.allowed)
		sbx_refuse(&verdict, SBX_CODE_NAME, SBX_NONE);
	(void)pthread_mutex_lock(names->with.lock);
	launch_report_denial(names->with.report, &report, NULL, "resolver");
	(void)pthread_mutex_unlock(names->with.lock);
}

/* The door is open to all of the host, who would be answered, and explained to, in our place. */
static bool is_welcome(void *arg, int client)
{
	(void)arg;
	return !launch_diag_is_foreign(client);
}

/* Datagrams come from the program's own network, where it has one; nobody connects there. */
static struct launch_netspace open_doors(const struct launch_netspace *space, int door)
{
	static const enum launch_door streams[] = { DOOR_TCP4, DOOR_TCP6 };
	struct launch_netspace doors = { .doors = { -1, -1, -1, -1 } };

	if (space)
		doors = *space;
	else
		doors.ipv6 = launch_netspace_host_has_ipv6();
	for (size_t i = 0; i < 2; i++) {
		if (doors.doors[streams[i]] >= 0)
			(void)close(doors.doors[streams[i]]);
		doors.doors[streams[i]] = -1;
	}
	doors.doors[DOOR_TCP4] = door;
	return doors;
}

void launch_names_init(struct launch_names *names, const struct launch_names_setup *setup)
{
	static char nothing[1];

	*names = (struct launch_names){ .with = *setup, .nowhere.hosts = nothing, .door = -1 };
	(void)pthread_mutex_init(&names->starting, NULL);
	(void)pthread_mutex_init(&names->lookups.lock, NULL);
}

int launch_names_start(struct launch_names *names, struct launch_error *error)
{
	struct launch_netspace doors;
	struct launch_resolver_setup setup = { .space = &doors,
					       .upstream = names->with.upstream,
					       .allowed = may_look_up,
					       .refused = say_refused,
					       .welcome = is_welcome,
					       .arg = names };
	int failed;

	if (!setup.upstream)
		setup.upstream = &names->nowhere;
	names->pins = setup.pins = launch_pins_new();
	if (!names->pins)
		return launch_fail(error, ENOMEM, "out of memory");
	names->door = open_door(error);
	if (names->door < 0) {
		failed = names->door;
		goto out;
	}
	doors = open_doors(names->with.space, names->door);
	failed = launch_resolver_start(&setup, &names->resolver, error);
	if (failed) {
		(void)close(names->door);
		names->door = -1;
	}
out:
	/* It may be tried again, and again. */
	if (failed) {
		launch_pins_free(names->pins);
		names->pins = NULL;
	}
	return failed;
}

int launch_names_door(struct launch_names *names)
{
	struct launch_error error;
	int door;

	(void)pthread_mutex_lock(&names->starting);
	if (!names->resolver)
		(void)launch_names_start(names, &error);
	door = names->door;
	(void)pthread_mutex_unlock(&names->starting);
	return door;
}
