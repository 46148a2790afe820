/* SPDX-License-Identifier: MIT */
/*
 * Verifies an image once, so that everything after may follow its offsets without looking.
 *
 * Any bytes at all may come in. What passes keeps every invariant of image.h; one that is not
 * verified here must not be relied upon anywhere. Pure.
 */
#include "engine.h"

#include <errno.h>
#include <string.h>

static const uint32_t table_sizes[SBX_TABLE_COUNT] = {
#define TABLE(name, type) [SBX_TABLE_##name] = sizeof(type),
	SBX_TABLES(TABLE)
#undef TABLE
};

static bool tables_fit(const struct sbx_image *image)
{
	for (int i = 0; i < SBX_TABLE_COUNT; i++) {
		const struct sbx_span *span = &image->tables[i];
		uint64_t end = span->offset + (uint64_t)span->count * table_sizes[i];

		if (span->offset < sizeof(*image) || span->offset % 8 || end > image->size)
			return false;
	}
	return true;
}

static bool is_string(const struct sbx_image *image, uint32_t offset)
{
	return offset < sbx_count(image, SBX_TABLE_strings);
}

static bool is_bytes(const struct sbx_image *image, uint32_t offset, uint32_t len)
{
	return (uint64_t)offset + len < sbx_count(image, SBX_TABLE_strings);
}

static bool is_index(const struct sbx_image *image, enum sbx_table table, uint32_t index)
{
	return index < sbx_count(image, table);
}

static bool is_index_or_none(const struct sbx_image *image, enum sbx_table table, uint32_t index)
{
	return index == SBX_NONE || is_index(image, table, index);
}

static bool is_range(const struct sbx_image *image, enum sbx_table table, struct sbx_range range)
{
	return (uint64_t)range.first + range.count <= sbx_count(image, table);
}

static bool strings_ok(const struct sbx_image *image)
{
	uint32_t count = sbx_count(image, SBX_TABLE_strings);

	return count > 0 && !sbx_strings(image)[0] && !sbx_strings(image)[count - 1];
}

static bool file_ok(const struct sbx_image *image, const struct sbx_file *file)
{
	return is_string(image, file->name) && is_string(image, file->path) &&
	       is_string(image, file->dir) && file->role < SBX_FILE_ROLE_COUNT;
}

static bool rule_ok(const struct sbx_image *image, const struct sbx_rule *rule)
{
	return is_index(image, SBX_TABLE_files, rule->file) && is_string(image, rule->text) &&
	       is_string(image, rule->written) && is_string(image, rule->path) &&
	       strlen(sbx_str(image, rule->path)) < SBX_MAX_PATH &&
	       is_index_or_none(image, SBX_TABLE_sections, rule->section) &&
	       rule->kind < SBX_RULE_KIND_COUNT && rule->rights <= SBX_RIGHTS_ALL;
}

static bool says_ok(const struct sbx_image *image, const struct sbx_node *node)
{
	if (node->says == SBX_SAYS_NOTHING)
		return true;
	if (node->says == SBX_SAYS_MUCH)
		return is_index(image, SBX_TABLE_speeches, node->rule);
	return node->says <= SBX_RULE_UNIX_DENY && is_index(image, SBX_TABLE_rules, node->rule) &&
	       node->rights <= SBX_RIGHTS_ALL;
}

static bool node_ok(const struct sbx_image *image, const struct sbx_node *node)
{
	return is_bytes(image, node->name, node->name_len) && says_ok(image, node) &&
	       is_index_or_none(image, SBX_TABLE_fans, node->fan) &&
	       node->kind < SBX_EDGE_KIND_COUNT;
}

static bool hole_ok(const struct sbx_image *image, const struct sbx_hole *hole)
{
	return is_index_or_none(image, SBX_TABLE_rules, hole->rule) &&
	       is_index_or_none(image, SBX_TABLE_rules, hole->guard) &&
	       is_index_or_none(image, SBX_TABLE_rules, hole->guard_repo);
}

static bool fan_ok(const struct sbx_image *image, const struct sbx_fan *fan)
{
	return is_range(image, SBX_TABLE_edges, fan->edges) && !(fan->prefix_lens & 1) &&
	       !(fan->suffix_lens & 1) && is_index(image, SBX_TABLE_nodes, fan->node) &&
	       (fan->star == SBX_NONE || fan->star < image->globs);
}

static bool speech_ok(const struct sbx_image *image, const struct sbx_speech *speech)
{
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (!is_index_or_none(image, SBX_TABLE_rules, speech->add[i]))
			return false;
	/* A word that takes or sets is followed to its rule, so there must be one. */
	if (speech->take_kind &&
	    (speech->take_kind < SBX_RULE_SET || speech->take_kind > SBX_RULE_HIDE ||
	     !is_index(image, SBX_TABLE_rules, speech->take)))
		return false;
	return is_index_or_none(image, SBX_TABLE_rules, speech->take) &&
	       is_index_or_none(image, SBX_TABLE_rules, speech->protect) &&
	       is_index_or_none(image, SBX_TABLE_rules, speech->lock) &&
	       is_index_or_none(image, SBX_TABLE_rules, speech->unix_deny) &&
	       is_index_or_none(image, SBX_TABLE_rules, speech->make_dir) &&
	       is_range(image, SBX_TABLE_words, speech->words) &&
	       speech->set_rights <= SBX_RIGHTS_ALL && speech->add_rights <= SBX_RIGHTS_ALL;
}

static bool section_ok(const struct sbx_image *image, const struct sbx_section *section)
{
	return is_string(image, section->name) && is_string(image, section->reason) &&
	       is_index(image, SBX_TABLE_rules, section->rule) &&
	       is_range(image, SBX_TABLE_items, section->suffixes);
}

static bool netnode_ok(const struct sbx_image *image, const struct sbx_netnode *node)
{
	return is_bytes(image, node->key, node->key_len) &&
	       is_range(image, SBX_TABLE_ports, node->ports);
}

static bool port_ok(const struct sbx_image *image, const struct sbx_port *port)
{
	return is_index(image, SBX_TABLE_rules, port->rule);
}

static bool setting_ok(const struct sbx_image *image, const struct sbx_setting *setting)
{
	return is_string(image, setting->text) &&
	       is_index_or_none(image, SBX_TABLE_files, setting->file) &&
	       is_range(image, SBX_TABLE_items, setting->items);
}

static bool item_ok(const struct sbx_image *image, const struct sbx_item *item)
{
	return is_string(image, item->text) && is_index(image, SBX_TABLE_files, item->file);
}

/* Slots are looked up with a mask, so their number is a power of two. */
static bool slots_ok(const struct sbx_image *image, enum sbx_table table,
		     const struct sbx_slot *slots, enum sbx_table target)
{
	uint32_t count = sbx_count(image, table);

	if (count == 0 || (count & (count - 1)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (!is_index_or_none(image, target, slots[i].node))
			return false;
	return true;
}

static bool indices_ok(const struct sbx_image *image, enum sbx_table table, const uint32_t *list,
		       enum sbx_table target)
{
	for (uint32_t i = 0; i < sbx_count(image, table); i++)
		if (!is_index(image, target, list[i]))
			return false;
	return true;
}

/* No two places share patterns: a step costs no more than there are of them in all. */
static bool fans_ok(const struct sbx_image *image)
{
	const struct sbx_node *nodes = sbx_nodes(image);
	const struct sbx_fan *fans = sbx_fans(image);
	uint64_t edges = 0;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_nodes); i++)
		if (nodes[i].fan != SBX_NONE && fans[nodes[i].fan].node != i)
			return false;
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_fans); i++) {
		if (nodes[fans[i].node].fan != i)
			return false;
		edges += fans[i].edges.count;
	}
	return edges <= sbx_count(image, SBX_TABLE_edges);
}

#define EACH_OK(table, check)                                                      \
	do {                                                                       \
		for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_##table); i++) \
			if (!check(image, &sbx_##table(image)[i]))                 \
				return false;                                      \
	} while (0)

static bool contents_ok(const struct sbx_image *image)
{
	EACH_OK(files, file_ok);
	EACH_OK(rules, rule_ok);
	EACH_OK(nodes, node_ok);
	EACH_OK(holes, hole_ok);
	EACH_OK(fans, fan_ok);
	EACH_OK(speeches, speech_ok);
	EACH_OK(sections, section_ok);
	EACH_OK(netnodes, netnode_ok);
	EACH_OK(ports, port_ok);
	EACH_OK(settings, setting_ok);
	EACH_OK(items, item_ok);
	return fans_ok(image) &&
	       indices_ok(image, SBX_TABLE_edges, sbx_edges(image), SBX_TABLE_nodes) &&
	       indices_ok(image, SBX_TABLE_words, sbx_words(image), SBX_TABLE_rules) &&
	       slots_ok(image, SBX_TABLE_slots, sbx_slots(image), SBX_TABLE_nodes) &&
	       slots_ok(image, SBX_TABLE_netslots, sbx_netslots(image), SBX_TABLE_netnodes);
}

static bool header_ok(const struct sbx_image *image)
{
	return is_string(image, image->root) && is_string(image, image->tmp) &&
	       is_string(image, image->home) && image->max_probe <= SBX_MAX_PROBE &&
	       is_index_or_none(image, SBX_TABLE_files, image->main_file) &&
	       sbx_count(image, SBX_TABLE_nodes) > 0 &&
	       sbx_count(image, SBX_TABLE_holes) == sbx_count(image, SBX_TABLE_nodes) &&
	       image->globs <= SBX_MAX_GLOBS && image->globs <= sbx_count(image, SBX_TABLE_fans) &&
	       sbx_count(image, SBX_TABLE_settings) == SBX_KEY_COUNT;
}

int sbx_image_check(const void *bytes, size_t size)
{
	const struct sbx_image *image = bytes;

	if (size < sizeof(*image) || size > SBX_MAX_IMAGE || (uintptr_t)bytes % 8)
		return -EINVAL;
	if (memcmp(image->magic, SBX_IMAGE_MAGIC, sizeof(image->magic)) ||
	    image->version != SBX_IMAGE_VERSION || image->size != size)
		return -EINVAL;
	if (!tables_fit(image) || !strings_ok(image) || !header_ok(image) || !contents_ok(image))
		return -EINVAL;
	return 0;
}
