/* SPDX-License-Identifier: MIT */
/*
 * Compile side: lays the draft out as an image.
 *
 * Files, rules, sections and settings are put in as they are; build_tree.c, build_speech.c and
 * build_net.c make what rules are found by. Looks at nothing but the draft, and hands out no image
 * that sbx_image_check() has not verified.
 */
#include "build.h"

#include <errno.h>
#include <stdlib.h>

#define CACHE_LINE 64

/* Where 'text' ends in 'end', which most rules do with what was written; NULL where it does not. */
static const char *tail_of(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return end_len && len >= end_len && !memcmp(text + len - end_len, end, end_len)
		       ? text + len - end_len
		       : NULL;
}

static bool add_rule(struct build *build, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];
	const char *written = tail_of(rule->text, rule->written);
	uint32_t text = sbx_build_put(build, rule->text);
	struct sbx_rule image = {
		.file = rule->file,
		.line = rule->line,
		.text = text,
		.written = written ? text + (uint32_t)(written - rule->text)
				   : sbx_build_put(build, rule->written),
		.path = sbx_build_put(build, rule->peer ? rule->peer : rule->path),
		.section = rule->section,
		.kind = (uint16_t)rule->kind,
		.flags = rule->flags,
		.rights = rule->rights,
	};
	struct sbx_rule *to = sbx_build_take(build, SBX_TABLE_rules, 1);

	if (!to)
		return false;
	*to = image;
	if (rule->flags & SBX_RULE_ABSENT)
		return true;
	return rule->peer ? sbx_build_net_add(build, rule, index)
			  : sbx_build_tree_add(build, rule, index, image.path);
}

static bool add_files(struct build *build)
{
	const struct sbx_draft *draft = build->draft;

	build->head.main_file = SBX_NONE;
	for (uint32_t i = 0; i < draft->files.count; i++) {
		const struct draft_file *file = &draft->files.list[i];
		struct sbx_file image = {
			.name = sbx_build_put(build, file->name),
			.path = sbx_build_put(build, file->path),
			.dir = sbx_build_put(build, file->dir),
			.role = file->role,
			.level = file->level,
		};
		struct sbx_file *to = sbx_build_take(build, SBX_TABLE_files, 1);

		if (!to)
			return false;
		*to = image;
		if (file->level == 1 && build->head.main_file == SBX_NONE)
			build->head.main_file = i;
	}
	return true;
}

static bool add_item(struct build *build, const struct draft_entry *entry, const char *text)
{
	uint32_t offset = sbx_build_put(build, text);
	struct sbx_item *item = sbx_build_take(build, SBX_TABLE_items, 1);

	if (item)
		*item = (struct sbx_item){ offset, entry->file, entry->line };
	return item;
}

static bool add_section(struct build *build, uint32_t index)
{
	struct sbx_draft *draft = build->draft;
	const struct draft_section *section = &draft->sections.list[index];
	const struct draft_entry *max =
		sbx_draft_section_entry(draft, index, SBX_KEY_path_max_file_bytes);
	const struct draft_entry *reason =
		sbx_draft_section_entry(draft, index, SBX_KEY_path_reason);
	struct sbx_section image = {
		.max_bytes = max ? max->value : UINT64_MAX,
		.name = sbx_build_put(build, section->name),
		.rule = SBX_NONE,
		.reason = sbx_build_put(build, reason ? reason->text : NULL),
		.max_line = max ? max->line : 0,
		.suffixes.first = (uint32_t)build->tables[SBX_TABLE_items].count,
	};
	struct sbx_section *to;

	for (size_t i = section->first;
	     i < draft->entries.count && draft->entries.list[i].section == index; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->key != SBX_KEY_path_suffixes)
			continue;
		if (!add_item(build, entry, entry->text))
			return false;
		image.suffixes.count++;
	}
	to = sbx_build_take(build, SBX_TABLE_sections, 1);
	if (to)
		*to = image;
	return to;
}

static bool add_sections(struct build *build)
{
	for (uint32_t i = 0; i < build->draft->sections.count; i++)
		if (!add_section(build, i))
			return false;
	for (uint32_t i = 0; i < build->draft->rules.count; i++)
		if (build->draft->rules.list[i].kind == SBX_RULE_SET)
			sbx_build_sections(build)[build->draft->rules.list[i].section].rule = i;
	return true;
}

static void set_scalar(struct build *build, enum sbx_key key, struct sbx_setting *setting)
{
	uint32_t settled = build->draft->settled[key];
	const char *path = build->draft->settled_path[key];
	char why[256];

	if (settled != SBX_NONE) {
		const struct draft_entry *entry = &build->draft->entries.list[settled];

		*setting = (struct sbx_setting){ .value = entry->value,
						 .text = sbx_build_put(build,
								       path ? path : entry->text),
						 .file = entry->file,
						 .line = entry->line,
						 .is_set = true };
	} else if (*sbx_keys[key].preset &&
		   !sbx_value_parse(key, sbx_keys[key].preset, &setting->value, why)) {
		setting->text = sbx_build_put(build, sbx_keys[key].preset);
		setting->is_set = true;
	}
}

static bool set_list(struct build *build, enum sbx_key key, struct sbx_setting *setting)
{
	struct sbx_draft *draft = build->draft;

	setting->items.first = (uint32_t)build->tables[SBX_TABLE_items].count;
	for (size_t i = 0; i < draft->entries.count; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->key != key)
			continue;
		if (!add_item(build, entry, entry->text))
			return false;
		if (sbx_keys[key].type == SBX_TYPE_WORDS)
			setting->value |= (uint64_t)1 << entry->value;
		setting->items.count++;
		setting->is_set = true;
		if (setting->file == SBX_NONE) {
			setting->file = entry->file;
			setting->line = entry->line;
		}
	}
	return true;
}

/* Path lists live on as rules; keeping their items too would double the image. */
static bool is_kept_as_rules(enum sbx_key key)
{
	return !strcmp(sbx_keys[key].section, "paths") || !strcmp(sbx_keys[key].section, "path");
}

static bool add_settings(struct build *build)
{
	const struct sbx_draft *draft = build->draft;
	bool said[SBX_KEY_COUNT] = { false };

	for (size_t i = 0; i < draft->entries.count; i++)
		said[draft->entries.list[i].key] = true;
	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		struct sbx_setting setting = { .file = SBX_NONE };
		struct sbx_setting *to;

		if (!is_kept_as_rules(key)) {
			if (!sbx_type_is_list(sbx_keys[key].type))
				set_scalar(build, key, &setting);
			else if (said[key] && !set_list(build, key, &setting))
				return false;
		}
		to = sbx_build_take(build, SBX_TABLE_settings, 1);
		if (!to)
			return false;
		*to = setting;
	}
	return true;
}

static bool lay_out(struct build *build)
{
	if (!sbx_build_take(build, SBX_TABLE_strings, 1) || !add_files(build) ||
	    !sbx_build_tree_start(build) || !sbx_build_net_start(build))
		return false;
	for (uint32_t i = 0; i < build->draft->rules.count; i++)
		if (!add_rule(build, i))
			return false;
	return sbx_build_speak(build) && sbx_build_tree_finish(build) &&
	       sbx_build_net_finish(build) && add_sections(build) && add_settings(build);
}

static const char *policy_root(const struct sbx_draft *draft)
{
	for (size_t i = 0; !draft->root && i < draft->files.count; i++)
		if (draft->files.list[i].level == 1)
			return draft->files.list[i].dir;
	return draft->root ? draft->root : draft->cwd;
}

static size_t align(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static bool fill_head(struct build *build)
{
	struct sbx_image *head = &build->head;

	memcpy(head->magic, SBX_IMAGE_MAGIC, sizeof(head->magic));
	head->version = SBX_IMAGE_VERSION;
	head->max_probe = BUILD_MAX_PROBE;
	head->root = sbx_build_put(build, policy_root(build->draft));
	head->tmp = sbx_build_put(build, build->draft->tmp);
	head->home = sbx_build_put(build, build->draft->home);
	return !build->draft->out_of_memory;
}

/* Gives every table its place; false when the image would be too big. */
static bool place_tables(struct build *build)
{
	struct sbx_image *head = &build->head;
	size_t size = sizeof(*head);

	for (int i = 0; i < SBX_TABLE_COUNT; i++) {
		size = align(size, CACHE_LINE);
		head->tables[i].offset = (uint32_t)size;
		head->tables[i].count = (uint32_t)build->tables[i].count;
		size += build->tables[i].count * build_item_sizes[i];
		if (size > SBX_MAX_IMAGE - 8)
			return false;
	}
	head->size = (uint32_t)align(size, 8);
	return true;
}

static struct sbx_image *assemble(struct build *build)
{
	const struct sbx_image *head = &build->head;
	size_t end = sizeof(*head);
	char *bytes;

	if (!fill_head(build) || !place_tables(build))
		return NULL;
	bytes = aligned_alloc(CACHE_LINE, align(head->size, CACHE_LINE));
	if (!bytes)
		return NULL;
	memcpy(bytes, head, sizeof(*head));
	for (int i = 0; i < SBX_TABLE_COUNT; i++) {
		size_t start = head->tables[i].offset;

		memset(bytes + end, 0, start - end);
		end = start + build->tables[i].count * build_item_sizes[i];
		if (end > start)
			memcpy(bytes + start, build->tables[i].list, end - start);
	}
	memset(bytes + end, 0, head->size - end);
	return (struct sbx_image *)bytes;
}

static void build_done(struct build *build)
{
	for (int i = 0; i < SBX_TABLE_COUNT; i++)
		free(build->tables[i].list);
	free(build->words.list);
	free(build->make_dirs.list);
	free(build->edges.list);
	free(build->in_pattern.list);
	free(build->ports.list);
}

int sbx_draft_build(struct sbx_draft *draft, struct sbx_image **image)
{
	struct build build = { .draft = draft };
	struct sbx_image *made = NULL;

	if (lay_out(&build) && !draft->failed && !draft->out_of_memory)
		made = assemble(&build);
	build_done(&build);
	if (!made)
		return draft->failed ? -EINVAL : -ENOMEM;
	if (sbx_image_check(made, made->size) < 0) {
		free(made);
		return -EINVAL;
	}
	*image = made;
	return 0;
}
