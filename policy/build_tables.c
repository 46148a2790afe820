/* SPDX-License-Identifier: MIT */
/*
 * Compile side: an image's tables while they grow, its strings, and the order of notes.
 *
 * Knows nothing of what the items mean.
 */
#include "build.h"

#include <stdlib.h>

/* Most tables have about as many items as there are rules: what fits at once is not moved. */
bool sbx_build_grow(struct build *build, enum sbx_table id, size_t count)
{
	struct build_table *table = &build->tables[id];
	size_t per_rule = id == SBX_TABLE_strings ? 192 : id == SBX_TABLE_nodes ? 2 : 1;
	size_t cap = table->cap ? table->cap * 2 : build->draft->rules.count * per_rule + 64;
	void *list;

	while (cap < count)
		cap *= 2;
	list = reallocarray(table->list, cap, build_item_sizes[id]);
	if (!list) {
		build->draft->out_of_memory = true;
		return false;
	}
	table->list = list;
	table->cap = cap;
	return true;
}

uint32_t sbx_build_put_bytes(struct build *build, const char *bytes, size_t len)
{
	uint32_t offset = (uint32_t)build->tables[SBX_TABLE_strings].count;
	char *to;

	if (!bytes || len == 0)
		return 0;
	to = sbx_build_take(build, SBX_TABLE_strings, len + 1);
	if (!to)
		return 0;
	memcpy(to, bytes, len);
	return offset;
}

static int by_node(const void *a, const void *b)
{
	const struct build_word *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

void sbx_build_sort(struct build_word *words, size_t count)
{
	sbx_draft_sort(words, count, sizeof(*words), by_node);
}
