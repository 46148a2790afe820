/* SPDX-License-Identifier: MIT */
/*
 * Compile side: rule paths become a tree, whose edges are components, literal or patterns.
 *
 * Places are made in the order of the rules and never moved, so that children stand behind their
 * parents. It is noted here which rules speak at a place; what they say together is for
 * build_speech.c to know.
 */
#include "build.h"
#include "hash.h"

#include <stdlib.h>

static uint32_t find_node(const struct build *build, uint32_t parent, enum sbx_edge_kind kind,
			  const char *name, size_t len, uint32_t hash)
{
	uint32_t count = (uint32_t)build->tables[SBX_TABLE_slots].count;

	for (uint32_t i = 0; i <= BUILD_MAX_PROBE && i < count; i++) {
		const struct sbx_slot *slot = &sbx_build_slots(build)[(hash + i) & (count - 1)];
		const struct sbx_node *node;

		if (slot->node == SBX_NONE)
			return SBX_NONE;
		node = &sbx_build_nodes(build)[slot->node];
		if (slot->hash == hash && node->parent == parent && node->kind == kind &&
		    node->name_len == len &&
		    !memcmp(sbx_build_string(build, node->name), name, len))
			return slot->node;
	}
	return SBX_NONE;
}

static struct sbx_fan *fan_of(struct build *build, uint32_t node)
{
	uint32_t *index = &sbx_build_nodes(build)[node].fan;
	struct sbx_fan *fan;

	if (*index != SBX_NONE)
		return &sbx_build_fans(build)[*index];
	fan = sbx_build_take(build, SBX_TABLE_fans, 1);
	if (!fan)
		return NULL;
	fan->star = SBX_NONE;
	sbx_build_nodes(build)[node].fan = sbx_build_last(build, SBX_TABLE_fans);
	return fan;
}

static bool hook_up(struct build *build, uint32_t parent, uint32_t node, enum sbx_edge_kind kind,
		    size_t len)
{
	struct sbx_fan *fan;

	sbx_build_nodes(build)[parent].leads_on = true;
	if (kind == SBX_EDGE_NAME && !build->in_pattern.list[parent])
		return true;
	fan = fan_of(build, parent);
	if (!fan)
		return false;
	if (kind == SBX_EDGE_NAME)
		return true;
	if (kind == SBX_EDGE_PREFIX)
		fan->prefix_lens |= (uint64_t)1 << len;
	else if (kind == SBX_EDGE_SUFFIX)
		fan->suffix_lens |= (uint64_t)1 << len;
	else if (kind == SBX_EDGE_STAR)
		fan->star = node;
	else
		return DRAFT_PUSH(build->draft, &build->edges,
				  (struct build_edge){ node, sbx_build_nodes(build)[parent].fan });
	return true;
}

static uint32_t new_node(struct build *build, uint32_t parent, enum sbx_edge_kind kind,
			 uint32_t name, size_t len, uint32_t hash)
{
	struct sbx_node *node = sbx_build_take(build, SBX_TABLE_nodes, 1);
	bool in_pattern =
		kind != SBX_EDGE_NAME || (parent != SBX_NONE && build->in_pattern.list[parent]);

	if (!node || !DRAFT_PUSH(build->draft, &build->in_pattern, in_pattern))
		return SBX_NONE;
	*node = (struct sbx_node){ .parent = parent,
				   .hash = hash,
				   .fan = SBX_NONE,
				   .rule = SBX_NONE,
				   .says = SBX_SAYS_NOTHING,
				   .kind = (uint8_t)kind,
				   .name_len = (uint16_t)len,
				   .name = name };
	memcpy(node->head, sbx_build_string(build, name),
	       len < sizeof(node->head) ? len : sizeof(node->head));
	return sbx_build_last(build, SBX_TABLE_nodes);
}

static uint32_t star_of(const struct build *build, uint32_t node)
{
	uint32_t fan = sbx_build_nodes(build)[node].fan;

	return fan == SBX_NONE ? SBX_NONE : sbx_build_fans(build)[fan].star;
}

static uint32_t child(struct build *build, uint32_t parent, enum sbx_edge_kind kind, uint32_t name,
		      size_t len)
{
	const char *text = sbx_build_string(build, name);
	uint32_t hash =
		sbx_hash_edge(sbx_build_nodes(build)[parent].hash, sbx_hash_bytes(text, len), kind);
	uint32_t node = kind == SBX_EDGE_STAR ? star_of(build, parent)
					      : find_node(build, parent, kind, text, len, hash);

	if (node != SBX_NONE)
		return node;
	node = new_node(build, parent, kind, name, len, hash);
	if (node == SBX_NONE || !hook_up(build, parent, node, kind, len))
		return SBX_NONE;
	/* A walk is at every "**" for every component: its fan's bytes keep that cheap. */
	if (kind == SBX_EDGE_STAR && !fan_of(build, node))
		return SBX_NONE;
	return sbx_build_add_slot(build, SBX_TABLE_slots, node) ? node : SBX_NONE;
}

/* "*.md" and "test_*" are looked up by hash; what else has a wildcard is tried one by one. */
static enum sbx_edge_kind classify(const char *name, size_t *len, size_t *skip)
{
	size_t wild = 0, stars = 0;

	for (size_t i = 0; i < *len; i++) {
		wild += name[i] == '*' || name[i] == '?';
		stars += name[i] == '*';
	}
	if (wild == 0)
		return SBX_EDGE_NAME;
	if (*len == 2 && stars == 2)
		return SBX_EDGE_STAR;
	if (wild != 1 || stars != 1 || *len < 2 || *len > 63)
		return SBX_EDGE_GLOB;
	if (name[0] == '*')
		*skip = 1;
	else if (name[*len - 1] != '*')
		return SBX_EDGE_GLOB;
	*len -= 1;
	return *skip ? SBX_EDGE_SUFFIX : SBX_EDGE_PREFIX;
}

/* Marks the missing folders on the way to a root that the program may create. */
static bool mark_missing(struct build *build, const struct draft_rule *rule, uint32_t index,
			 uint32_t node, size_t end)
{
	if (!(rule->flags & SBX_RULE_MISSING) || !(rule->rights & SBX_RIGHT_WRITE) ||
	    end <= rule->existing || !rule->path[end])
		return true;
	return DRAFT_PUSH(build->draft, &build->make_dirs, (struct build_word){ node, index });
}

/* How much of the way to the last rule's place is on the way to this one's, too. */
static struct build_step shared_steps(struct build *build, const struct draft_rule *rule)
{
	size_t known = rule->literal < rule->existing ? rule->literal : rule->existing;

	for (; build->step_count > 0; build->step_count--) {
		struct build_step step = build->steps[build->step_count - 1];

		if (step.end < known && rule->path[step.end] == '/' &&
		    !memcmp(rule->path, build->step_path, step.end))
			return step;
	}
	return (struct build_step){ 0, 0 };
}

static void keep_step(struct build *build, const struct draft_rule *rule, struct build_step step)
{
	if (step.end <= rule->literal && build->step_count < BUILD_MAX_STEPS)
		build->steps[build->step_count++] = step;
}

bool sbx_build_tree_start(struct build *build)
{
	return new_node(build, SBX_NONE, SBX_EDGE_NAME, 0, 0, build->head.seed) != SBX_NONE &&
	       sbx_build_grow_slots(build, SBX_TABLE_slots, build->draft->rules.count * 2);
}

bool sbx_build_tree_add(struct build *build, const struct draft_rule *rule, uint32_t index,
			uint32_t path)
{
	struct build_step shared = shared_steps(build, rule);
	uint32_t node = shared.node;

	build->step_path = rule->path;
	for (size_t pos = shared.end; rule->path[pos];) {
		size_t len, skip = 0, end;
		enum sbx_edge_kind kind = SBX_EDGE_NAME;

		pos += rule->path[pos] == '/';
		end = (size_t)(strchrnul(rule->path + pos, '/') - rule->path);
		len = end - pos;
		if (len == 0)
			continue;
		if (pos >= rule->literal)
			kind = classify(rule->path + pos, &len, &skip);
		node = child(build, node, kind, path + (uint32_t)(pos + skip), len);
		if (node == SBX_NONE || !mark_missing(build, rule, index, node, end))
			return false;
		keep_step(build, rule, (struct build_step){ end, node });
		pos = end;
	}
	return DRAFT_PUSH(build->draft, &build->words, (struct build_word){ node, index });
}

static int by_fan(const void *a, const void *b)
{
	const struct build_edge *x = a, *y = b;

	return x->fan < y->fan ? -1 : x->fan > y->fan;
}

static bool add_edges(struct build *build)
{
	sbx_draft_sort(build->edges.list, build->edges.count, sizeof(*build->edges.list), by_fan);
	for (size_t i = 0; i < build->edges.count; i++) {
		struct sbx_fan *fan = &sbx_build_fans(build)[build->edges.list[i].fan];
		uint32_t *edge = sbx_build_take(build, SBX_TABLE_edges, 1);

		if (!edge)
			return false;
		*edge = build->edges.list[i].node;
		if (fan->edges.count++ == 0)
			fan->edges.first = sbx_build_last(build, SBX_TABLE_edges);
	}
	return true;
}

static void add_byte(uint64_t set[4], char byte)
{
	unsigned char value = (unsigned char)byte;

	set[value / 64] |= (uint64_t)1 << (value % 64);
}

static void add_bytes(struct build *build)
{
	for (uint32_t i = 1; i < build->tables[SBX_TABLE_nodes].count; i++) {
		const struct sbx_node *node = &sbx_build_nodes(build)[i];
		uint32_t index = sbx_build_nodes(build)[node->parent].fan;
		const char *name = sbx_build_string(build, node->name);
		struct sbx_fan *fan;

		if (index == SBX_NONE)
			continue;
		fan = &sbx_build_fans(build)[index];
		if (node->kind == SBX_EDGE_NAME || node->kind == SBX_EDGE_PREFIX)
			add_byte(fan->first, name[0]);
		if (node->kind == SBX_EDGE_PREFIX)
			add_byte(fan->inner, name[node->name_len - 1]);
		if (node->kind != SBX_EDGE_SUFFIX)
			continue;
		add_byte(fan->inner, name[0]);
		add_byte(fan->last, name[node->name_len - 1]);
	}
}

/* Moves the fans of all places that are, or are not, inside patterns into the table. */
static bool move_fans(struct build *build, const struct sbx_fan *from, bool in_pattern)
{
	for (uint32_t i = 0; i < build->tables[SBX_TABLE_nodes].count; i++) {
		struct sbx_node *node = &sbx_build_nodes(build)[i];
		struct sbx_fan *fan;

		if (node->fan == SBX_NONE || build->in_pattern.list[i] != in_pattern)
			continue;
		fan = sbx_build_take(build, SBX_TABLE_fans, 1);
		if (!fan)
			return false;
		*fan = from[node->fan];
		fan->node = i;
		if (node->kind == SBX_EDGE_STAR)
			fan->star = i;
		node->fan = sbx_build_last(build, SBX_TABLE_fans);
	}
	return true;
}

/* Numbers the pattern nodes that a walk must keep in mind: theirs are the first fans. */
static bool sort_fans(struct build *build)
{
	struct build_table *fans = &build->tables[SBX_TABLE_fans];
	struct build_table old = *fans;
	bool ok;

	*fans = (struct build_table){ 0 };
	ok = move_fans(build, old.list, true);
	build->head.globs = (uint32_t)fans->count;
	ok = ok && move_fans(build, old.list, false);
	free(old.list);
	for (uint32_t i = 0; i < fans->count; i++) {
		uint32_t *star = &sbx_build_fans(build)[i].star;

		if (*star != SBX_NONE)
			*star = sbx_build_nodes(build)[*star].fan;
	}
	if (build->head.globs <= SBX_MAX_GLOBS)
		return ok;
	sbx_draft_error(build->draft, 0, 0, "too many patterns (%u places inside them, at most %u)",
			build->head.globs, SBX_MAX_GLOBS);
	return false;
}

bool sbx_build_tree_finish(struct build *build)
{
	add_bytes(build);
	return add_edges(build) && sort_fans(build);
}
