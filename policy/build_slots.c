/* SPDX-License-Identifier: MIT */
/*
 * Compile side: the slot tables, by which places and destinations are found by hash.
 *
 * They are sized so that no look-up goes far, whatever the names: see invariant 4 in image.h.
 * Rather than leave an item out, or put it too far from its home, no image is made.
 */
#include "build.h"
#include "hash.h"

/* Puts an index into a slot table; false when it would lie too far from home. */
static bool slot_insert(struct sbx_slot *slots, uint32_t count, uint32_t hash, uint32_t index)
{
	for (uint32_t i = 0; i <= BUILD_MAX_PROBE && i < count; i++) {
		struct sbx_slot *slot = &slots[(hash + i) & (count - 1)];

		if (slot->node == SBX_NONE) {
			*slot = (struct sbx_slot){ hash, index };
			return true;
		}
	}
	return false;
}

static uint32_t node_hash(const struct build *build, uint32_t index)
{
	const struct sbx_node *node = &sbx_build_nodes(build)[index];

	return sbx_hash_edge(sbx_build_nodes(build)[node->parent].hash,
			     sbx_hash_bytes(sbx_build_string(build, node->name), node->name_len),
			     node->kind);
}

static uint32_t netnode_hash(const struct build *build, uint32_t index)
{
	const struct sbx_netnode *node = &sbx_build_netnodes(build)[index];

	return sbx_hash_edge(build->head.net_seed,
			     sbx_hash_bytes(sbx_build_string(build, node->key), node->key_len), 0);
}

/* "/" and "**" are reached without a look-up. */
static bool is_hashed(const struct build *build, enum sbx_table id, uint32_t index)
{
	return id != SBX_TABLE_slots ||
	       (index > 0 && sbx_build_nodes(build)[index].kind != SBX_EDGE_STAR);
}

static uint32_t hash_of(const struct build *build, enum sbx_table id, uint32_t index)
{
	return id == SBX_TABLE_slots ? sbx_build_nodes(build)[index].hash
				     : netnode_hash(build, index);
}

/*
 * Fills a slot table of 'count' slots anew. False when some item lies too far from home: the
 * caller grows the table.
 */
static bool fill_slots(struct build *build, enum sbx_table id, uint32_t count)
{
	enum sbx_table of = id == SBX_TABLE_slots ? SBX_TABLE_nodes : SBX_TABLE_netnodes;
	struct sbx_slot *slots;

	build->tables[id].count = 0;
	slots = sbx_build_take(build, id, count);
	if (!slots)
		return false;
	memset(slots, 0xff, count * sizeof(*slots));
	for (uint32_t i = 0; i < build->tables[of].count; i++)
		if (is_hashed(build, id, i) && !slot_insert(slots, count, hash_of(build, id, i), i))
			return false;
	return true;
}

/* Another seed changes the hash of every place. Children stand behind their parents. */
static void change_seed(struct build *build, enum sbx_table id)
{
	uint32_t *seed = id == SBX_TABLE_slots ? &build->head.seed : &build->head.net_seed;

	*seed = *seed * 747796405u + 2891336453u;
	if (id != SBX_TABLE_slots)
		return;
	sbx_build_nodes(build)[0].hash = *seed;
	for (uint32_t i = 1; i < build->tables[SBX_TABLE_nodes].count; i++)
		sbx_build_nodes(build)[i].hash = node_hash(build, i);
}

/*
 * Twice as many slots as items keep probes short. Where they are not, the table grows, and names
 * that share a hash are split by another seed.
 */
bool sbx_build_grow_slots(struct build *build, enum sbx_table id, size_t items)
{
	uint32_t count = 16;

	while (count < items * 2)
		count *= 2;
	for (int tries = 0; tries < 8 && !build->draft->out_of_memory; tries++) {
		if (fill_slots(build, id, count))
			return true;
		if (tries % 2)
			change_seed(build, id);
		else
			count *= 2;
	}
	if (!build->draft->out_of_memory)
		sbx_draft_error(build->draft, 0, 0, "too many names that hash alike");
	return false;
}

bool sbx_build_add_slot(struct build *build, enum sbx_table id, uint32_t index)
{
	struct build_table *slots = &build->tables[id];

	if (!is_hashed(build, id, index))
		return true;
	if ((size_t)index * 2 < slots->count &&
	    slot_insert(slots->list, (uint32_t)slots->count, hash_of(build, id, index), index))
		return true;
	return sbx_build_grow_slots(build, id, (size_t)index * 2 + 2);
}
