/* SPDX-License-Identifier: MIT */
/*
 * Sockets: connects, binds and listens for the program, on a copy of its own descriptor.
 *
 * What a descriptor's number and an address in memory mean can change at any time, and no layer behind
 * us knows destinations: so the socket is taken once, the address is copied once, and no such call
 * ever goes on in the kernel. What the kernel itself makes of an address that is none is the answer.
 */
#include "broker_call.h"
#include "broker_wait.h"
#include "diag.h"
#include "judge.h"
#include "peer.h"
#include "names.h"
#include "pins.h"
#include "servers.h"
#include "target.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define DNS 53
#define FIRST_OWN 1024 /* ports of servers that a policy need not name */

/* A socket of the program's, and an address of it. */
struct wire {
	struct brokered *call;
	int fd; /* our copy */
	int domain;
	int type;
	struct launch_address address;
	int named; /* what a connection by a file is made through; -1: nothing */
	bool deserted; /* nobody listens behind that */
};

/* No others can be made; but TCP sockets can become others (SMC), which nobody here understands. */
static bool is_known(int domain)
{
	return domain == AF_INET || domain == AF_INET6 || domain == AF_UNIX || domain == AF_NETLINK;
}

static int take_socket(struct wire *wire)
{
	socklen_t size = sizeof(wire->domain);

	wire->fd = launch_target_take(wire->call->thread, (int)wire->call->args[0]);
	if (wire->fd < 0)
		return wire->fd;
	if (getsockopt(wire->fd, SOL_SOCKET, SO_DOMAIN, &wire->domain, &size) < 0 ||
	    getsockopt(wire->fd, SOL_SOCKET, SO_TYPE, &wire->type, &size) < 0)
		return -errno;
	return is_known(wire->domain) ? 0 : -EACCES;
}

static void drop(const struct wire *wire)
{
	if (wire->fd >= 0)
		(void)close(wire->fd);
	if (wire->named >= 0)
		(void)close(wire->named);
}

/* As the kernel does: what is too long is no address, and what is short is for the family to judge. */
static int take_address(struct wire *wire)
{
	int len = (int)wire->call->args[2];

	if (len < 0 || (size_t)len > sizeof(wire->address.bytes))
		return -EINVAL;
	wire->address.len = (socklen_t)len;
	return len ? launch_target_bytes(wire->call->thread, wire->call->args[1],
					 &wire->address.bytes, (size_t)len)
		   : 0;
}

/* False for other families, and for what is too short: the kernel does nothing with these. */
static bool read_address(const struct launch_address *address, struct sbx_request *request)
{
	const struct sockaddr_in *four = &address->four;
	const struct sockaddr_in6 *six = &address->six;

	if (address->any.sa_family == AF_INET && address->len >= sizeof(*four)) {
		request->addr.family = 4;
		request->port = ntohs(four->sin_port);
		memcpy(request->addr.bytes, &four->sin_addr, 4);
		return true;
	}
	if (address->any.sa_family != AF_INET6 || address->len < sizeof(*six) - sizeof(uint32_t))
		return false;
	request->addr.family = 6;
	request->port = ntohs(six->sin6_port);
	memcpy(request->addr.bytes, &six->sin6_addr, 16);
	return true;
}

/* --- What the policy says --- */

/* On loopback, where a server of the sandbox's own may be. */
static bool may_be_own(const struct brokered *call, const struct sbx_addr *addr)
{
	return call->judge->verdict.code != SBX_CODE_DENIED &&
	       sbx_setting(call->judge->image, SBX_KEY_network_own)->value &&
	       sbx_addr_is_loopback(addr);
}

static bool is_own(const struct brokered *call, const struct sbx_request *request)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, SBX_OP_CONNECT);

	return may_be_own(call, &addr) &&
	       launch_servers_has_tcp(call->broker->servers, &addr, request->port);
}

/* A name that the address was given out for: whether it may be connected to as that. */
static bool is_allowed_as(void *arg, const char *name)
{
	struct launch_judge *judge = arg;

	(void)snprintf(judge->host, sizeof(judge->host), "%s", name);
	judge->request.host = judge->host;
	sbx_eval(judge->image, &judge->request, &judge->verdict);
	return judge->verdict.allowed;
}

static void evaluate(const struct brokered *call)
{
	struct launch_judge *judge = call->judge;
	struct sbx_addr addr = sbx_addr_canonical(&judge->request.addr, SBX_OP_CONNECT);

	sbx_eval(judge->image, &judge->request, &judge->verdict);
	if (!judge->verdict.allowed && judge->request.op == SBX_OP_CONNECT &&
	    call->broker->names->with.upstream)
		(void)launch_pins_find(call->broker->names->pins, &addr, launch_now(),
				       is_allowed_as, judge);
}

/* Where it could be and nobody is: programs ask until their server is there. */
static bool is_deserted(const struct brokered *call, const struct sbx_request *request)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, SBX_OP_CONNECT);
	uint64_t cookie;

	return may_be_own(call, &addr) && request->port >= FIRST_OWN &&
	       launch_diag_tcp(&addr, request->port, &cookie) == -ENOENT;
}

static bool allows(struct brokered *call, const struct sbx_request *request)
{
	struct launch_judge *judge = call->judge;
	char text[64];

	judge->request = *request;
	evaluate(call);
	call->answer->error = judge->verdict.error;
	if (judge->verdict.allowed || (request->op == SBX_OP_CONNECT && is_own(call, request)))
		return true;
	(void)sbx_addr_format(&request->addr, text);
	(void)snprintf(judge->given, sizeof(judge->given), "%s%s%s:%u",
		       request->addr.family == 6 ? "[" : "", text,
		       request->addr.family == 6 ? "]" : "", request->port);
	return false;
}

/* --- connect --- */

/* A socket that waits does so in a thread of its own. 'fd' is given away. */
static enum launch_served perform_connect(struct wire *wire)
{
	struct launch_waiting waiting = { .kind = WAIT_CONNECT,
					  .id = wire->call->id,
					  .thread = wire->call->thread,
					  .pinned = wire->fd,
					  .address = wire->address,
					  .named = wire->named };
	int flags = fcntl(wire->fd, F_GETFL), failed;

	if (flags < 0 || flags & O_NONBLOCK) {
		failed = connect(wire->fd, &wire->address.any, wire->address.len) < 0 ? -errno : 0;
		return launch_broker_done(wire->call, failed);
	}
	failed = launch_waits_add(wire->call->broker->waits, &waiting);
	if (failed)
		return launch_broker_done(wire->call, failed);
	wire->fd = wire->named = -1;
	return SERVED_SENT;
}

/* Whatever DNS server it wants, it gets ours. */
static bool turn_to_door(struct wire *wire)
{
	int fd = launch_names_door(wire->call->broker->names);
	struct sockaddr_in door = { .sin_family = AF_INET };
	struct sockaddr_in6 *six = &wire->address.six;
	socklen_t size = sizeof(door);

	if (fd < 0 || getsockname(fd, (struct sockaddr *)&door, &size) < 0)
		return false;
	if (wire->domain == AF_INET) {
		wire->address.four = door;
		wire->address.len = sizeof(door);
		return true;
	}
	*six = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = door.sin_port };
	six->sin6_addr.s6_addr[10] = six->sin6_addr.s6_addr[11] = 0xff;
	memcpy(&six->sin6_addr.s6_addr[12], &door.sin_addr, sizeof(door.sin_addr));
	wire->address.len = sizeof(*six);
	return true;
}

/*
 * To the address that was judged. Of a connection to no address at all the kernel makes one to an
 * address of this host, by the one that the socket is bound to; of all, to those of loopback.
 */
static void give_address(struct wire *wire, const struct sbx_request *request)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, SBX_OP_CONNECT);
	uint8_t *six = wire->address.six.sin6_addr.s6_addr;

	if (request->addr.family == 4)
		memcpy(&wire->address.four.sin_addr, addr.bytes, 4);
	else if (addr.family == 4)
		memcpy(six + 12, addr.bytes, 4);
	else
		memcpy(six, addr.bytes, 16);
}

static enum launch_served connect_inet(struct wire *wire)
{
	struct sbx_request request = { .op = SBX_OP_CONNECT, .size = -1 };

	if (wire->type == SOCK_STREAM && read_address(&wire->address, &request)) {
		give_address(wire, &request);
		/* There may be a rule about ports that we do not know. */
		if (wire->call->narrow)
			return launch_broker_done(wire->call, -EACCES);
		if (!allows(wire->call, &request)) {
			if (is_deserted(wire->call, &request))
				return launch_broker_done(wire->call, -ECONNREFUSED);
			if (request.port != DNS || !turn_to_door(wire))
				return SERVED_JUDGED;
		}
	}
	return perform_connect(wire);
}

/* Without the engine, which would have nothing to look at: nothing may be left of what was asked before. */
static void refuse_unasked(struct launch_judge *judge, enum sbx_code code)
{
	judge->request = (struct sbx_request){ .op = SBX_OP_CONNECT, .size = -1 };
	judge->verdict = (struct sbx_verdict){ .section = SBX_NONE };
	sbx_refuse(&judge->verdict, code, SBX_NONE);
}

static bool refuse_file(const struct wire *wire, const char *given)
{
	struct launch_judge *judge = wire->call->judge;

	wire->call->answer->error = judge->verdict.error;
	(void)snprintf(judge->given, sizeof(judge->given), "unix:%s", given);
	return false;
}

/* Whoever had a socket of the program's own may have gone: programs look, and take its place. */
static bool is_own_file(struct wire *wire)
{
	const struct launch_judge *judge = wire->call->judge;
	struct launch_file file;

	if (judge->verdict.code == SBX_CODE_DENIED || judge->verdict.code == SBX_CODE_HIDDEN ||
	    !(judge->verdict.rights & SBX_RIGHT_WRITE) ||
	    !sbx_setting(judge->image, SBX_KEY_network_own)->value ||
	    launch_diag_file(wire->named, &file) < 0)
		return false;
	wire->deserted = !launch_diag_is_served(&file);
	return wire->deserted || launch_servers_has_unix(wire->call->broker->servers, &file);
}

/* By a rule that names the socket; or a server of the sandbox's own, where the program may write. */
static bool allows_file(struct wire *wire, const char *given)
{
	struct launch_judge *judge = wire->call->judge;
	struct stat st;

	if (launch_broker_name(wire->call, wire->named, judge->at.path) < 0 ||
	    fstat(wire->named, &st) < 0) {
		refuse_unasked(judge, SBX_CODE_DESTINATION);
		return refuse_file(wire, given);
	}
	judge->request =
		(struct sbx_request){ .op = SBX_OP_CONNECT, .size = -1, .path = judge->at.path };
	if (launch_broker_allows(wire->call, &judge->request))
		return true;
	/* Nobody answers behind what is no socket; of what is hidden, not even that is said. */
	if (!S_ISSOCK(st.st_mode) && judge->verdict.code != SBX_CODE_HIDDEN)
		return true;
	return is_own_file(wire) || refuse_file(wire, given);
}

/* Through our descriptor: whatever has become of the name. */
static enum launch_served connect_file(struct wire *wire, const char *path)
{
	struct sockaddr_un *file = &wire->address.file;

	/* Before it can be told by ENOTDIR or ECONNREFUSED that something is there. */
	if (wire->call->broker->hides && launch_broker_hides_way(wire->call, AT_FDCWD, path, true))
		return launch_broker_hidden(wire->call, SBX_OP_CONNECT, path);
	wire->named = launch_broker_pin(wire->call, AT_FDCWD, path, 0, 0);
	if (wire->named < 0)
		return launch_broker_done(wire->call, wire->named);
	if (!allows_file(wire, path))
		return wire->call->judge->verdict.code == SBX_CODE_HIDDEN
			       ? launch_broker_hidden(wire->call, SBX_OP_CONNECT, path)
			       : SERVED_JUDGED;
	if (wire->deserted)
		return launch_broker_done(wire->call, -ECONNREFUSED);
	(void)snprintf(file->sun_path, sizeof(file->sun_path), "/proc/self/fd/%d", wire->named);
	wire->address.len = (socklen_t)sizeof(*file);
	return perform_connect(wire);
}

/* Names that are no files lead to anybody on the machine. */
static enum launch_served refuse_abstract(struct wire *wire, size_t len)
{
	struct launch_judge *judge = wire->call->judge;

	refuse_unasked(judge, sbx_network_mode(judge->image) == SBX_NETWORK_NONE
				      ? SBX_CODE_NETWORK_OFF
				      : SBX_CODE_DESTINATION);
	wire->call->answer->error = judge->verdict.error;
	(void)snprintf(judge->given, sizeof(judge->given), "unix:@%.*s", (int)len,
		       wire->address.file.sun_path + 1);
	return SERVED_JUDGED;
}

static enum launch_served connect_unix(struct wire *wire)
{
	const size_t before = offsetof(struct sockaddr_un, sun_path);
	char path[sizeof(wire->address.file.sun_path) + 1];
	size_t len = wire->address.len;

	if (wire->address.any.sa_family != AF_UNIX || len <= before ||
	    len > sizeof(wire->address.file))
		return perform_connect(wire);
	if (!wire->address.file.sun_path[0])
		return refuse_abstract(wire, len - before - 1);
	(void)snprintf(path, sizeof(path), "%.*s", (int)(len - before),
		       wire->address.file.sun_path);
	return connect_file(wire, path);
}

enum launch_served launch_broker_connect(struct brokered *call)
{
	struct wire wire = { .call = call, .fd = -1, .named = -1 };
	int failed = take_socket(&wire);
	enum launch_served served;

	if (!failed)
		failed = take_address(&wire);
	if (failed)
		served = launch_broker_done(call, failed);
	else if (wire.domain == AF_INET || wire.domain == AF_INET6)
		served = connect_inet(&wire);
	else if (wire.domain == AF_UNIX)
		served = connect_unix(&wire);
	else
		served = perform_connect(&wire);
	drop(&wire);
	return served;
}

/* --- bind and listen --- */

/* A UNIX socket that becomes a file is made where files are made (broker_entry.c). */
static bool makes_file(const struct wire *wire)
{
	return wire->address.any.sa_family == AF_UNIX &&
	       wire->address.len > offsetof(struct sockaddr_un, sun_path) &&
	       wire->address.len <= sizeof(wire->address.file) && wire->address.file.sun_path[0];
}

/*
 * Whether it shares its port with whoever wants to: some of those who connect there come to one, some to
 * another. The program itself cannot say so (syscalls.def), but may have been given such a socket.
 */
static bool shares_port(const struct wire *wire)
{
	int shares = 0;
	socklen_t size = sizeof(shares);

	return wire->domain != AF_UNIX &&
	       (getsockopt(wire->fd, SOL_SOCKET, SO_REUSEPORT, &shares, &size) < 0 || shares);
}

static enum launch_served perform_bind(const struct wire *wire)
{
	const int off = 0;
	int failed;

	if (wire->type == SOCK_STREAM && shares_port(wire))
		(void)setsockopt(wire->fd, SOL_SOCKET, SO_REUSEPORT, &off, sizeof(off));
	failed = bind(wire->fd, &wire->address.any, wire->address.len) < 0 ? -errno : 0;

	return launch_broker_done(wire->call, failed);
}

/* To no address at all, the kernel takes one without a family for IPv4's. */
static void name_family(struct wire *wire)
{
	const struct sockaddr_in *four = &wire->address.four;

	if (wire->domain == AF_INET && four->sin_family == AF_UNSPEC &&
	    wire->address.len >= sizeof(*four) && four->sin_addr.s_addr == htonl(INADDR_ANY))
		wire->address.four.sin_family = AF_INET;
}

/* It reads the address once more. What has become another by then is nothing for the kernel, either. */
static enum launch_served bind_file(struct brokered *call)
{
	enum launch_served served = launch_broker_bind_file(call);

	return served == SERVED_LEFT ? launch_broker_left(call, EACCES) : served;
}

static enum launch_served bind_inet(struct wire *wire)
{
	struct sbx_request request = { .op = SBX_OP_BIND, .size = -1 };

	name_family(wire);
	return read_address(&wire->address, &request) && !allows(wire->call, &request)
		       ? SERVED_JUDGED
		       : perform_bind(wire);
}

enum launch_served launch_broker_bind(struct brokered *call)
{
	struct wire wire = { .call = call, .fd = -1, .named = -1 };
	int failed = take_socket(&wire);
	enum launch_served served;

	if (!failed)
		failed = take_address(&wire);
	if (failed)
		served = launch_broker_done(call, failed);
	else if (wire.domain == AF_UNIX && makes_file(&wire))
		served = bind_file(call);
	else if ((wire.domain == AF_INET || wire.domain == AF_INET6) && wire.type == SOCK_STREAM)
		served = bind_inet(&wire);
	else
		served = perform_bind(&wire);
	drop(&wire);
	return served;
}

static bool is_at(const struct wire *wire, struct sbx_request *request)
{
	struct launch_address address = { .len = sizeof(address.bytes) };

	*request = (struct sbx_request){ .op = SBX_OP_BIND, .size = -1 };
	return getsockname(wire->fd, &address.any, &address.len) == 0 &&
	       read_address(&address, request);
}

/*
 * Where the socket is, or would be: what has no port gets one, on every address. What has one may have
 * got it where the kernel may choose; or by connecting, which is no bind.
 */
static bool may_listen(const struct wire *wire)
{
	struct sbx_request request, chosen;

	if (wire->domain == AF_UNIX)
		return true;
	if (!is_at(wire, &request))
		return false;
	if (allows(wire->call, &request))
		return true;
	chosen = request;
	chosen.port = 0;
	if (!request.port || wire->call->judge->verdict.code == SBX_CODE_DENIED)
		return false;
	/* The words are about the port that it has. */
	return allows(wire->call, &chosen) || allows(wire->call, &request);
}

static int perform_listen(const struct wire *wire)
{
	struct launch_servers *servers = wire->call->broker->servers;

	if (listen(wire->fd, (int)wire->call->args[1]) < 0)
		return -errno;
	/* Another thread may have disconnected it meanwhile: then it has a new address. */
	if (!may_listen(wire)) {
		(void)shutdown(wire->fd, SHUT_RDWR);
		return -EACCES;
	}
	/* Who is not known cannot be connected to from inside: no harm. */
	if (servers && !shares_port(wire))
		(void)launch_servers_add(servers, wire->fd, wire->domain);
	return 0;
}

enum launch_served launch_broker_listen(struct brokered *call)
{
	struct wire wire = { .call = call, .fd = -1, .named = -1 };
	int failed = take_socket(&wire);
	enum launch_served served;

	if (failed)
		served = launch_broker_done(call, failed);
	else if (wire.domain != AF_UNIX && wire.domain != AF_INET && wire.domain != AF_INET6)
		served = launch_broker_done(call, -EOPNOTSUPP);
	else if (!may_listen(&wire))
		served = call->answer->error ? SERVED_JUDGED : launch_broker_done(call, -EACCES);
	else
		served = launch_broker_done(call, perform_listen(&wire));
	drop(&wire);
	return served;
}

/* SOCK_RAW is to the kernel another name of a datagram socket here. */
static bool is_unix_datagram(int domain, int type)
{
	return domain == AF_UNIX && (type == SOCK_DGRAM || type == SOCK_RAW);
}

enum launch_served launch_broker_socket(const struct launch_broker *broker,
					const struct seccomp_notif *asked,
					struct launch_answer *answer)
{
	int domain = (int)asked->data.args[0], flags = (int)asked->data.args[1];
	int type = flags & ~(SOCK_NONBLOCK | SOCK_CLOEXEC), fd, given;

	*answer = (struct launch_answer){ .error = EACCES };
	if (is_unix_datagram(domain, type) && broker->no_unix_datagram)
		return SERVED_DONE;
	if ((domain != AF_INET && domain != AF_INET6) || type != SOCK_STREAM)
		return SERVED_HELD;
	fd = socket(domain, flags | SOCK_CLOEXEC, (int)asked->data.args[2]);
	given = fd < 0 ? -errno
		       : launch_broker_hand_over(broker->listener, asked->id, fd, -1,
						 flags & SOCK_CLOEXEC ? O_CLOEXEC : 0);
	if (given == -EALREADY)
		return SERVED_SENT;
	if (fd >= 0)
		(void)close(fd);
	answer->error = -given;
	return SERVED_DONE;
}
