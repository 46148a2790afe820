/* SPDX-License-Identifier: MIT */
/*
 * Compile side: which value of a scalar holds when several files set it, and which settings
 * contradict each other.
 *
 * The command line is stronger than -p files, and those than what they include. Among equals the
 * stricter limit holds; for anything else two answers are an error: nothing is guessed.
 */
#include "draft.h"

#include <string.h>

static unsigned int level_of(const struct sbx_draft *draft, const struct draft_entry *entry)
{
	return draft->files.list[entry->file].level;
}

static bool is_limit(enum sbx_key key)
{
	return !strcmp(sbx_keys[key].section, "limits");
}

static bool same_value(const struct sbx_draft *draft, const struct draft_entry *a,
		       const struct draft_entry *b)
{
	/* A relative path means another place in another folder. */
	if (sbx_keys[a->key].type == SBX_TYPE_PATH && a->text[0] != '/' &&
	    strcmp(draft->files.list[a->file].dir, draft->files.list[b->file].dir) != 0)
		return false;
	return !strcmp(a->text, b->text) ||
	       ((a->value || sbx_keys[a->key].type == SBX_TYPE_SWITCH) && a->value == b->value);
}

static void settle_entry(struct sbx_draft *draft, uint32_t index)
{
	const struct draft_entry *entry = &draft->entries.list[index];
	uint32_t *settled = &draft->settled[entry->key];
	const struct draft_entry *other = &draft->entries.list[*settled == SBX_NONE ? 0 : *settled];

	if (*settled == SBX_NONE || level_of(draft, entry) < level_of(draft, other)) {
		*settled = index;
	} else if (level_of(draft, entry) == level_of(draft, other)) {
		if (is_limit(entry->key))
			*settled = entry->value < other->value ? index : *settled;
		else if (!same_value(draft, entry, other))
			sbx_draft_error(draft, entry->file, entry->line,
					"'%s' contradicts '%s' in %s", sbx_draft_text(draft, entry),
					sbx_draft_text(draft, other),
					sbx_draft_where(draft, other->file, other->line));
	}
}

/* The first entry of a list key, or NULL. */
static const struct draft_entry *first_of(const struct sbx_draft *draft, enum sbx_key key)
{
	for (size_t i = 0; i < draft->entries.count; i++)
		if (draft->entries.list[i].key == key)
			return &draft->entries.list[i];
	return NULL;
}

/* A mode that is written cannot be held beside destinations that need another. */
static void check_network(struct sbx_draft *draft)
{
	static const enum sbx_key filtering[] = { SBX_KEY_network_connect, SBX_KEY_network_bind,
						  SBX_KEY_network_proxy, SBX_KEY_network_deny };
	uint32_t settled = draft->settled[SBX_KEY_network_mode];
	const struct draft_entry *mode;

	if (settled == SBX_NONE)
		return;
	mode = &draft->entries.list[settled];
	if (mode->value == SBX_NETWORK_FILTERED)
		return;
	for (size_t i = 0; i < sizeof(filtering) / sizeof(filtering[0]); i++) {
		const struct draft_entry *other = first_of(draft, filtering[i]);

		/* What is forbidden anyway may be forbidden twice. */
		if (!other ||
		    (filtering[i] == SBX_KEY_network_deny && mode->value == SBX_NETWORK_NONE))
			continue;
		sbx_draft_error(draft, mode->file, mode->line,
				"'mode = %s' contradicts '%s' in %s (remove one of them)",
				mode->text, sbx_draft_text(draft, other),
				sbx_draft_where(draft, other->file, other->line));
		return;
	}
}

static void check_sections(struct sbx_draft *draft)
{
	static const enum sbx_key needed[] = { SBX_KEY_path_root, SBX_KEY_path_mode };

	for (uint32_t i = 0; i < draft->sections.count; i++) {
		const struct draft_section *section = &draft->sections.list[i];

		for (size_t k = 0; k < sizeof(needed) / sizeof(needed[0]); k++)
			if (!section->bad && !sbx_draft_section_entry(draft, i, needed[k]))
				sbx_draft_error(draft, section->file, section->line,
						"[path %s] has no '%s'", section->name,
						sbx_keys[needed[k]].name);
	}
}

void sbx_draft_settle(struct sbx_draft *draft)
{
	for (uint32_t i = 0; i < draft->entries.count; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->section == SBX_NONE && !sbx_type_is_list(sbx_keys[entry->key].type))
			settle_entry(draft, i);
	}
	check_network(draft);
	check_sections(draft);
}
