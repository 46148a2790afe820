/* SPDX-License-Identifier: MIT */
/*
 * Compile side: the destinations of network rules, found by hash, each with its ports.
 *
 * Never asks the network, nor what a name leads to: a rule about a host is about its name.
 */
#include "build.h"
#include "hash.h"
#include "peer.h"

#include <stdlib.h>

static uint32_t find_netnode(const struct build *build, const char *key, size_t len)
{
	uint32_t count = (uint32_t)build->tables[SBX_TABLE_netslots].count;
	uint32_t hash = sbx_hash_edge(build->head.net_seed, sbx_hash_bytes(key, len), 0);

	for (uint32_t i = 0; i <= BUILD_MAX_PROBE && i < count; i++) {
		const struct sbx_slot *slot = &sbx_build_netslots(build)[(hash + i) & (count - 1)];
		const struct sbx_netnode *node;

		if (slot->node == SBX_NONE)
			return SBX_NONE;
		node = &sbx_build_netnodes(build)[slot->node];
		if (slot->hash == hash && node->key_len == len &&
		    !memcmp(sbx_build_string(build, node->key), key, len))
			return slot->node;
	}
	return SBX_NONE;
}

static bool add_key(struct build *build, const char *key, size_t len, struct sbx_port port)
{
	uint32_t index = find_netnode(build, key, len);
	struct sbx_port *to;

	if (index == SBX_NONE) {
		uint32_t offset = sbx_build_put_bytes(build, key, len);
		struct sbx_netnode *node = sbx_build_take(build, SBX_TABLE_netnodes, 1);

		if (!node)
			return false;
		node->key = offset;
		node->key_len = (uint32_t)len;
		index = sbx_build_last(build, SBX_TABLE_netnodes);
		if (!sbx_build_add_slot(build, SBX_TABLE_netslots, index))
			return false;
	}
	to = sbx_build_take(build, SBX_TABLE_ports, 1);
	if (!to)
		return false;
	*to = port;
	return DRAFT_PUSH(build->draft, &build->ports,
			  (struct build_word){ index, sbx_build_last(build, SBX_TABLE_ports) });
}

static bool add_network(struct build *build, const struct sbx_addr *addr, unsigned int bits,
			struct sbx_port port)
{
	char key[SBX_NETKEY_MAX];
	uint64_t *lens = addr->family == 4 ? &build->head.prefix_lens4 : build->head.prefix_lens6;

	lens[bits / 64] |= (uint64_t)1 << (bits % 64);
	return add_key(build, key, sbx_netkey_addr(key, addr, bits), port);
}

/* "localhost" is a name, and the addresses that it stands for. */
static bool add_localhost(struct build *build, struct sbx_port port)
{
	static const struct sbx_addr v4 = { .family = 4, .bytes = { 127 } };
	static const struct sbx_addr v6 = { .family = 6, .bytes = { [15] = 1 } };

	return add_network(build, &v4, 8, port) && add_network(build, &v6, 128, port);
}

bool sbx_build_net_start(struct build *build)
{
	return sbx_build_grow_slots(build, SBX_TABLE_netslots, 1);
}

bool sbx_build_net_add(struct build *build, const struct draft_rule *rule, uint32_t index)
{
	char key[SBX_NETKEY_MAX];
	struct sbx_peer peer;
	struct sbx_port port;

	if (sbx_peer_parse(rule->peer, &peer))
		return false;
	port = (struct sbx_port){ peer.low, peer.high, index };
	switch (peer.kind) {
	case SBX_PEER_ADDRESS:
		return add_network(build, &peer.addr, peer.bits, port);
	case SBX_PEER_HOST:
		if (!strcmp(peer.host, "localhost") && !add_localhost(build, port))
			return false;
		return add_key(build, key, sbx_netkey_name(key, 'h', peer.host), port);
	case SBX_PEER_SUBDOMAINS:
		return add_key(build, key, sbx_netkey_name(key, 'w', peer.host), port);
	default:
		return add_key(build, "*", 1, port);
	}
}

bool sbx_build_net_finish(struct build *build)
{
	size_t size = build->ports.count * sizeof(struct sbx_port);
	struct sbx_port *sorted = malloc(size + 1);

	if (!sorted) {
		build->draft->out_of_memory = true;
		return false;
	}
	sbx_build_sort(build->ports.list, build->ports.count);
	for (size_t i = 0; i < build->ports.count; i++) {
		struct sbx_netnode *node = &sbx_build_netnodes(build)[build->ports.list[i].node];

		sorted[i] = sbx_build_ports(build)[build->ports.list[i].rule];
		if (node->ports.count++ == 0)
			node->ports.first = (uint32_t)i;
	}
	if (size)
		memcpy(build->tables[SBX_TABLE_ports].list, sorted, size);
	free(sorted);
	return true;
}
