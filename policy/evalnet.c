/* SPDX-License-Identifier: MIT */
/*
 * What a policy says about a destination: by host name, by address, by port.
 *
 * Names match by label and addresses by network, each found by hash: one look-up for every label of
 * the name and for every length of network that the policy has. 'deny' wins over everything. A name
 * that is allowed does not make a private address reachable: that needs a rule for the address.
 *
 * Pure, like eval.c.
 */
#include "hash.h"
#include "ops.h"
#include "peer.h"

#include <string.h>

size_t sbx_netkey_name(char out[SBX_NETKEY_MAX], char kind, const char *name)
{
	size_t len = strlen(name);

	if (len > SBX_NETKEY_MAX - 1)
		len = SBX_NETKEY_MAX - 1;
	out[0] = kind;
	memcpy(out + 1, name, len);
	return len + 1;
}

size_t sbx_netkey_addr(char out[SBX_NETKEY_MAX], const struct sbx_addr *addr, unsigned int bits)
{
	struct sbx_addr network = *addr;
	size_t len = addr->family == 4 ? 4 : 16;

	sbx_addr_mask(&network, bits);
	out[0] = addr->family == 4 ? '4' : '6';
	out[1] = (char)bits;
	memcpy(out + 2, network.bytes, len);
	return len + 2;
}

static const struct sbx_netnode *find(const struct sbx_image *image, const char *key, size_t len)
{
	const struct sbx_slot *slots = sbx_netslots(image);
	uint32_t mask = sbx_count(image, SBX_TABLE_netslots) - 1;
	uint32_t hash = sbx_hash_edge(image->net_seed, sbx_hash_bytes(key, len), 0);

	for (uint32_t i = 0; i <= image->max_probe; i++) {
		const struct sbx_slot *slot = &slots[(hash + i) & mask];
		const struct sbx_netnode *node;

		if (slot->node == SBX_NONE)
			return NULL;
		node = &sbx_netnodes(image)[slot->node];
		if (slot->hash == hash && node->key_len == len &&
		    !memcmp(sbx_str(image, node->key), key, len))
			return node;
	}
	return NULL;
}

static void keep_first(uint32_t *kept, uint32_t rule)
{
	if (rule < *kept)
		*kept = rule;
}

/* A question about one kind of rule. */
struct ask {
	const struct sbx_image *image;
	struct sbx_trace *trace;
	enum sbx_rule_kind kind;
	int port;
};

static bool port_fits(const struct sbx_port *port, int asked)
{
	return asked >= port->low && asked <= port->high;
}

/* The first rule under this key that fits, or SBX_NONE. */
static uint32_t match_key(const struct ask *ask, const char *key, size_t len)
{
	const struct sbx_netnode *node = find(ask->image, key, len);

	for (uint32_t i = 0; node && i < node->ports.count; i++) {
		const struct sbx_port *port = &sbx_ports(ask->image)[node->ports.first + i];
		struct sbx_trace *trace = ask->trace;

		if (sbx_rules(ask->image)[port->rule].kind != ask->kind ||
		    !port_fits(port, ask->port))
			continue;
		if (trace && trace->count++ < trace->cap)
			trace->steps[trace->count - 1] = (struct sbx_step){ port->rule, 0 };
		return port->rule;
	}
	return SBX_NONE;
}

static uint32_t match_host(const struct ask *ask, const char *host)
{
	char key[SBX_NETKEY_MAX];
	uint32_t rule = match_key(ask, key, sbx_netkey_name(key, 'h', host));

	for (const char *dot = host; rule == SBX_NONE && *dot; dot++)
		if (*dot == '.')
			rule = match_key(ask, key, sbx_netkey_name(key, 'w', dot + 1));
	return rule;
}

static uint32_t match_any(const struct ask *ask)
{
	return match_key(ask, "*", 1);
}

/* The narrowest network first. */
static uint32_t match_addr(const struct ask *ask, const struct sbx_addr *addr)
{
	const uint64_t *lens =
		addr->family == 4 ? &ask->image->prefix_lens4 : ask->image->prefix_lens6;
	char key[SBX_NETKEY_MAX];

	if (!addr->family)
		return SBX_NONE;
	for (int bits = addr->family == 4 ? 32 : 128; bits >= 0; bits--) {
		uint32_t rule;

		if (!(lens[bits / 64] >> (bits % 64) & 1))
			continue;
		rule = match_key(ask, key, sbx_netkey_addr(key, addr, (unsigned int)bits));
		if (rule != SBX_NONE)
			return rule;
	}
	return SBX_NONE;
}

static uint32_t match_all(const struct ask *ask, const char *host, const struct sbx_addr *addr)
{
	uint32_t rule = host ? match_host(ask, host) : SBX_NONE;

	if (rule == SBX_NONE)
		rule = match_addr(ask, addr);
	return rule == SBX_NONE ? match_any(ask) : rule;
}

struct sbx_addr sbx_addr_canonical(const struct sbx_addr *addr, enum sbx_op op)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const uint8_t zero[16];
	struct sbx_addr result = *addr;

	if (result.family == 6 && !memcmp(result.bytes, mapped, sizeof(mapped))) {
		result.family = 4;
		memcpy(result.bytes, addr->bytes + 12, 4);
		memset(result.bytes + 4, 0, 12);
	}
	if (op != SBX_OP_CONNECT || !result.family)
		return result;
	if (result.family == 4 && !memcmp(result.bytes, zero, 4)) {
		result.bytes[0] = 127;
		result.bytes[3] = 1;
	} else if (result.family == 6 && !memcmp(result.bytes, zero, 16)) {
		result.bytes[15] = 1;
	}
	return result;
}

static void allow(struct sbx_verdict *verdict, uint32_t rule)
{
	*verdict = (struct sbx_verdict){
		.allowed = true, .code = SBX_CODE_ALLOWED, .rule = rule, .section = SBX_NONE
	};
}

enum sbx_network sbx_network_mode(const struct sbx_image *image)
{
	const struct sbx_setting *mode = sbx_setting(image, SBX_KEY_network_mode);

	if (mode->is_set)
		return (enum sbx_network)mode->value;
	if (sbx_setting(image, SBX_KEY_network_connect)->items.count ||
	    sbx_setting(image, SBX_KEY_network_bind)->items.count ||
	    sbx_setting(image, SBX_KEY_network_proxy)->is_set)
		return SBX_NETWORK_FILTERED;
	return SBX_NETWORK_NONE;
}

static void eval_connect(struct ask *ask, const struct sbx_request *request,
			 const struct sbx_extra *extra, struct sbx_verdict *verdict)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, SBX_OP_CONNECT);
	uint32_t rule;

	ask->kind = SBX_RULE_CONNECT;
	rule = match_addr(ask, &addr);
	if (rule != SBX_NONE || extra) {
		allow(verdict, rule);
		return;
	}
	rule = request->host ? match_host(ask, request->host) : SBX_NONE;
	if (rule == SBX_NONE)
		rule = match_any(ask);
	if (rule == SBX_NONE)
		sbx_refuse(verdict, SBX_CODE_DESTINATION, SBX_NONE);
	else if (!addr.family || !sbx_addr_is_private(&addr) ||
		 (sbx_rules(ask->image)[rule].flags & SBX_RULE_PROXY))
		allow(verdict, rule);
	else if (request->host)
		sbx_refuse(verdict, SBX_CODE_PRIVATE_ADDRESS, rule);
	else
		sbx_refuse(verdict, SBX_CODE_DESTINATION, SBX_NONE);
}

static void eval_bind(struct ask *ask, const struct sbx_request *request,
		      const struct sbx_extra *extra, struct sbx_verdict *verdict)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, SBX_OP_BIND);
	uint32_t rule;

	ask->kind = SBX_RULE_BIND;
	rule = match_all(ask, NULL, &addr);
	if (rule != SBX_NONE || extra)
		allow(verdict, rule);
	else if (sbx_network_mode(ask->image) == SBX_NETWORK_NONE)
		sbx_refuse(verdict, SBX_CODE_NETWORK_OFF, SBX_NONE);
	else
		sbx_refuse(verdict, SBX_CODE_BIND, SBX_NONE);
}

static bool is_unspecified(const struct sbx_addr *addr)
{
	static const uint8_t zero[16];

	return addr->family && !memcmp(addr->bytes, zero, addr->family == 4 ? 4 : 16);
}

/* [network] own: a program may serve itself. */
static bool is_own(const struct sbx_image *image, const struct sbx_request *request)
{
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, request->op);

	return request->op == SBX_OP_BIND && sbx_setting(image, SBX_KEY_network_own)->value &&
	       addr.family && sbx_addr_is_loopback(&addr) &&
	       (request->port == 0 || request->port >= 1024);
}

/* Whether any deny is about this port: to listen on all addresses is to listen on those too. */
static uint32_t match_any_address(const struct ask *ask)
{
	for (uint32_t i = 0; i < sbx_count(ask->image, SBX_TABLE_ports); i++) {
		const struct sbx_port *port = &sbx_ports(ask->image)[i];

		if (sbx_rules(ask->image)[port->rule].kind == ask->kind &&
		    port_fits(port, ask->port))
			return port->rule;
	}
	return SBX_NONE;
}

/* The rule that denies a destination, in whatever spelling, or SBX_NONE. */
static uint32_t find_deny(const struct sbx_image *image, struct sbx_trace *trace,
			  const struct sbx_request *request, int port)
{
	struct ask ask = {
		.image = image, .trace = trace, .kind = SBX_RULE_NET_DENY, .port = port
	};
	struct sbx_addr addr = sbx_addr_canonical(&request->addr, request->op);
	struct sbx_addr inner = addr;
	uint32_t rule = match_all(&ask, request->host, &addr);

	if (rule == SBX_NONE)
		rule = match_addr(&ask, &request->addr);
	if (rule == SBX_NONE && sbx_addr_embedded(&addr, &inner))
		rule = match_addr(&ask, &inner);
	if (rule == SBX_NONE && request->op == SBX_OP_BIND && is_unspecified(&addr))
		rule = match_any_address(&ask);
	return rule;
}

/* A connect rule under this key that a port is left of, or SBX_NONE and the deny that took it. */
static uint32_t match_open(const struct ask *ask, const struct sbx_request *request,
			   const char *key, size_t len, uint32_t *deny)
{
	const struct sbx_netnode *node = find(ask->image, key, len);

	for (uint32_t i = 0; node && i < node->ports.count; i++) {
		const struct sbx_port *port = &sbx_ports(ask->image)[node->ports.first + i];
		uint32_t low, high;

		if (sbx_rules(ask->image)[port->rule].kind != SBX_RULE_CONNECT)
			continue;
		low = find_deny(ask->image, NULL, request, port->low ? port->low : 1);
		high = find_deny(ask->image, NULL, request, port->high);
		if (low == SBX_NONE || high == SBX_NONE)
			return port->rule;
		keep_first(deny, low);
	}
	return SBX_NONE;
}

/* A name that nothing can be reached by must not be asked for: the question itself would get out. */
static void eval_lookup(struct ask *ask, const struct sbx_request *request,
			const struct sbx_extra *extra, struct sbx_verdict *verdict)
{
	const char *host = request->host ? request->host : "";
	char key[SBX_NETKEY_MAX];
	uint32_t deny = SBX_NONE;
	uint32_t rule = match_open(ask, request, key, sbx_netkey_name(key, 'h', host), &deny);

	for (const char *dot = host; rule == SBX_NONE && *dot; dot++)
		if (*dot == '.')
			rule = match_open(ask, request, key, sbx_netkey_name(key, 'w', dot + 1),
					  &deny);
	if (rule == SBX_NONE)
		rule = match_open(ask, request, "*", 1, &deny);
	/* The line that would be suggested is for this port. */
	if (extra)
		keep_first(&deny, find_deny(ask->image, NULL, request, sbx_lookup_port(request)));
	/* Loopback names come from files, and lead nowhere that connect does not guard. */
	if (rule != SBX_NONE || (extra && deny == SBX_NONE) || !strcmp(host, "localhost"))
		allow(verdict, rule);
	else if (deny != SBX_NONE)
		sbx_refuse(verdict, SBX_CODE_DENIED, deny);
	else if (sbx_network_mode(ask->image) == SBX_NETWORK_NONE)
		sbx_refuse(verdict, SBX_CODE_NETWORK_OFF, SBX_NONE);
	else
		sbx_refuse(verdict, SBX_CODE_NAME, SBX_NONE);
}

/* UNIX sockets are files: to make one is to create, and what is denied or hidden stays so. */
static void eval_socket(const struct sbx_image *image, const struct sbx_request *request,
			const struct sbx_extra *extra, struct sbx_trace *trace,
			struct sbx_verdict *verdict)
{
	sbx_eval_path(image, request, extra, trace, verdict);
	if (sbx_network_mode(image) == SBX_NETWORK_FULL && request->op == SBX_OP_CONNECT &&
	    verdict->code != SBX_CODE_DENIED && verdict->code != SBX_CODE_HIDDEN)
		allow(verdict, SBX_NONE);
}

void sbx_eval_net(const struct sbx_image *image, const struct sbx_request *request,
		  const struct sbx_extra *extra, struct sbx_trace *trace,
		  struct sbx_verdict *verdict)
{
	enum sbx_network mode = sbx_network_mode(image);
	bool has_port = request->op != SBX_OP_LOOKUP && !request->path;
	uint32_t deny = has_port ? find_deny(image, trace, request, request->port) : SBX_NONE;
	struct ask ask = { .image = image, .trace = trace, .port = request->port };

	*verdict = (struct sbx_verdict){ .section = SBX_NONE };
	if (request->path) {
		eval_socket(image, request, extra, trace, verdict);
	} else if (mode == SBX_NETWORK_FULL) {
		allow(verdict, SBX_NONE);
	} else if (deny != SBX_NONE) {
		sbx_refuse(verdict, SBX_CODE_DENIED, deny);
	} else if (is_own(image, request)) {
		allow(verdict, SBX_NONE);
		verdict->flags |= SBX_VERDICT_OWN;
	} else if (request->op == SBX_OP_LOOKUP) {
		eval_lookup(&ask, request, extra, verdict);
	} else if (request->op == SBX_OP_BIND) {
		eval_bind(&ask, request, extra, verdict);
	} else if (mode == SBX_NETWORK_NONE && !extra) {
		sbx_refuse(verdict, SBX_CODE_NETWORK_OFF, SBX_NONE);
	} else {
		eval_connect(&ask, request, extra, verdict);
	}
}

void sbx_eval_by_port(const struct sbx_image *image, const struct sbx_request *request,
		      struct sbx_verdict *verdict)
{
	bool own = sbx_setting(image, SBX_KEY_network_own)->value;

	if (request->path || sbx_network_mode(image) == SBX_NETWORK_FULL)
		return;
	if (request->op == SBX_OP_CONNECT) {
		if (verdict->flags & SBX_VERDICT_OWN)
			sbx_refuse(verdict, SBX_CODE_NETWORK_OFF, SBX_NONE);
	} else if (request->op == SBX_OP_BIND) {
		if (own && !request->port && verdict->code != SBX_CODE_DENIED)
			allow(verdict, SBX_NONE);
		else if (verdict->flags & SBX_VERDICT_OWN)
			sbx_refuse(verdict, SBX_CODE_BIND, SBX_NONE);
	}
	verdict->flags |= SBX_VERDICT_BY_PORT;
}
