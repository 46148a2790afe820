/* SPDX-License-Identifier: MIT */
/*
 * What build.c and the build_*.c files share, and nobody else knows: an image on its way.
 *
 * Its tables grow one by one, and whatever grows may move: a pointer into a table holds until
 * something is taken from that table, an index for good. False, NULL and SBX_NONE are failures, of
 * which the draft has been told. Nothing here prints, or looks at anything but the draft.
 */
#ifndef SBX_BUILD_H
#define SBX_BUILD_H

#include "draft.h"

#include <string.h>

#define BUILD_MAX_PROBE 16u /* how far from its home a slot may lie */
#define BUILD_MAX_STEPS 32

struct build_table {
	void *list;
	size_t count;
	size_t cap;
};

/* A rule that speaks at a place; the order of rules is kept. */
struct build_word {
	uint32_t node;
	uint32_t rule;
};

struct build_edge {
	uint32_t node;
	uint32_t fan;
};

/* Where a component of a path ends, and the place that it leads to. */
struct build_step {
	size_t end;
	uint32_t node;
};

struct build {
	struct sbx_draft *draft;
	struct sbx_image head;
	struct build_table tables[SBX_TABLE_COUNT];
	/* build_tree.c writes these; words and make_dirs are for build_speech.c */
	DRAFT_VECTOR(struct build_word) words;
	DRAFT_VECTOR(struct build_word) make_dirs;
	DRAFT_VECTOR(struct build_edge) edges;
	DRAFT_VECTOR(bool) in_pattern; /* per node: reached through a pattern */
	struct build_step steps[BUILD_MAX_STEPS]; /* the way to the last rule's place */
	size_t step_count;
	const char *step_path; /* of that rule */
	/* of build_net.c */
	DRAFT_VECTOR(struct build_word) ports; /* netnode and port, to be sorted */
};

/* The items of each table, where they are now: sbx_build_nodes(build)[i]. */
#define TABLE(table, type)                                               \
	static inline type *sbx_build_##table(const struct build *build) \
	{                                                                \
		return (type *)build->tables[SBX_TABLE_##table].list;    \
	}
SBX_TABLES(TABLE)
#undef TABLE

#define TABLE(table, type) sizeof(type),
static const uint32_t build_item_sizes[SBX_TABLE_COUNT] = { SBX_TABLES(TABLE) };
#undef TABLE

/* build_tables.c */

/* Moves a table to where 'count' items have room. */
bool sbx_build_grow(struct build *build, enum sbx_table id, size_t count);

/* Room for 'count' more items, zeroed; NULL when out of memory. */
static inline void *sbx_build_take(struct build *build, enum sbx_table id, size_t count)
{
	struct build_table *table = &build->tables[id];
	size_t first = table->count;

	if (first + count > table->cap && !sbx_build_grow(build, id, first + count))
		return NULL;
	table->count += count;
	return memset((char *)table->list + first * build_item_sizes[id], 0,
		      count * build_item_sizes[id]);
}

/* The index of what was taken last. */
static inline uint32_t sbx_build_last(const struct build *build, enum sbx_table id)
{
	return (uint32_t)build->tables[id].count - 1;
}

/* A copy of the string, as its offset; NULL and "" are 0. */
uint32_t sbx_build_put_bytes(struct build *build, const char *bytes, size_t len);
static inline uint32_t sbx_build_put(struct build *build, const char *text)
{
	return text ? sbx_build_put_bytes(build, text, strlen(text)) : 0;
}

static inline const char *sbx_build_string(const struct build *build, uint32_t offset)
{
	return sbx_build_strings(build) + offset;
}

/* By node, and at one node by rule. */
void sbx_build_sort(struct build_word *words, size_t count);

/* build_slots.c; 'id' is SBX_TABLE_slots, of the nodes, or SBX_TABLE_netslots, of the netnodes. */

/* Makes slots for so many items, and puts those that there are into them. May change all hashes. */
bool sbx_build_grow_slots(struct build *build, enum sbx_table id, size_t items);
/* The newest item of a table gets its slot, if it is one that is looked up by hash. */
bool sbx_build_add_slot(struct build *build, enum sbx_table id, uint32_t index);

/* build_tree.c */

bool sbx_build_tree_start(struct build *build);
/* Leads the way to a rule's place, and notes that the rule speaks there. 'path' is in strings. */
bool sbx_build_tree_add(struct build *build, const struct draft_rule *rule, uint32_t index,
			uint32_t path);
/* After the last path: what the fans know of their edges, and the order that image.h wants. */
bool sbx_build_tree_finish(struct build *build);

/* build_speech.c, after the last path: what rules say at each place, and below it. */

bool sbx_build_speak(struct build *build);

/* build_net.c */

bool sbx_build_net_start(struct build *build);
bool sbx_build_net_add(struct build *build, const struct draft_rule *rule, uint32_t index);
/* After the last rule: the ports of each destination are brought together. */
bool sbx_build_net_finish(struct build *build);

#endif
