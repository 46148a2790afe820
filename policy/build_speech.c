/* SPDX-License-Identifier: MIT */
/*
 * Compile side: what all rules of one place say together becomes that place's speech, and every
 * place is told which rules below it take something away.
 *
 * Makes no places, and no verdicts: what holds along a path is for the walk to find.
 */
#include "build.h"

static void keep_first(uint32_t *kept, uint32_t rule)
{
	if (rule < *kept)
		*kept = rule;
}

static void speak_take(struct build *build, struct sbx_speech *speech, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	if (rule->kind == SBX_RULE_SET && speech->take_kind == SBX_RULE_SET) {
		const struct draft_rule *other = &build->draft->rules.list[speech->take];

		sbx_draft_error(build->draft, rule->file, rule->line,
				"[path %s] and [path %s] (%s) have the same root '%s'",
				build->draft->sections.list[rule->section].name,
				build->draft->sections.list[other->section].name,
				sbx_draft_where(build->draft, other->file, other->line),
				rule->path);
	}
	if (rule->kind <= speech->take_kind)
		return;
	speech->take = index;
	speech->take_kind = (uint8_t)rule->kind;
	speech->set_rights = rule->rights;
}

static void speak_add(struct sbx_speech *speech, const struct draft_rule *rule, uint32_t index)
{
	speech->add_rights |= rule->rights;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (rule->rights & (1 << i))
			keep_first(&speech->add[i], index);
}

static uint8_t speech_flags(const struct draft_rule *rule)
{
	uint8_t flags = 0;

	if (rule->flags & SBX_RULE_FREE)
		flags |= SBX_SPEECH_FREE;
	if (rule->kind == SBX_RULE_PROTECT && !(rule->flags & SBX_RULE_REPO))
		flags |= SBX_SPEECH_ALWAYS;
	if (rule->kind == SBX_RULE_PROTECT && !(rule->flags & SBX_RULE_FILE))
		flags |= SBX_SPEECH_FOLDER;
	if (!(rule->rights & SBX_RIGHT_WRITE))
		return flags;
	if (!(rule->flags & SBX_RULE_GLOB))
		flags |= SBX_SPEECH_EXACT;
	/* What a pattern matches may come and go, whatever its folder allows. */
	if (rule->flags & (SBX_RULE_MISSING | SBX_RULE_GLOB))
		flags |= SBX_SPEECH_MISSING;
	return flags;
}

static void speak(struct build *build, struct sbx_speech *speech, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	speech->flags |= speech_flags(rule);
	switch (rule->kind) {
	case SBX_RULE_ADD:
		speak_add(speech, rule, index);
		break;
	case SBX_RULE_PROTECT:
		keep_first(&speech->protect, index);
		break;
	case SBX_RULE_LOCK:
		keep_first(&speech->lock, index);
		break;
	case SBX_RULE_UNIX_DENY:
		keep_first(&speech->unix_deny, index);
		break;
	default:
		speak_take(build, speech, index);
		break;
	}
}

static struct sbx_speech *speech_of(struct build *build, uint32_t index)
{
	struct sbx_node *node = &sbx_build_nodes(build)[index];
	struct sbx_speech *speech;

	if (node->says == SBX_SAYS_MUCH)
		return &sbx_build_speeches(build)[node->rule];
	speech = sbx_build_take(build, SBX_TABLE_speeches, 1);
	if (!speech)
		return NULL;
	node->says = SBX_SAYS_MUCH;
	node->rule = sbx_build_last(build, SBX_TABLE_speeches);
	memset(speech, 0xff, offsetof(struct sbx_speech, words));
	return speech;
}

static bool add_make_dirs(struct build *build)
{
	for (size_t i = 0; i < build->make_dirs.count; i++) {
		struct sbx_speech *speech = speech_of(build, build->make_dirs.list[i].node);

		if (!speech)
			return false;
		speech->flags |= SBX_SPEECH_MAKE_DIR;
		keep_first(&speech->make_dir, build->make_dirs.list[i].rule);
	}
	return true;
}

/* A rule that speaks alone needs no speech: the node itself has room for it. */
static void speak_alone(struct build *build, struct sbx_node *node, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	node->rule = index;
	node->says = (uint8_t)rule->kind;
	node->rights = rule->rights;
	node->flags = speech_flags(rule);
}

static bool add_speeches(struct build *build)
{
	const struct build_word *words = build->words.list;

	sbx_build_sort(build->words.list, build->words.count);
	for (size_t i = 0; i < build->words.count; i++) {
		struct sbx_node *node = &sbx_build_nodes(build)[words[i].node];
		struct sbx_speech *speech;
		uint32_t *word;

		if (node->says == SBX_SAYS_NOTHING &&
		    (i + 1 == build->words.count || words[i + 1].node != words[i].node)) {
			speak_alone(build, node, words[i].rule);
			continue;
		}
		speech = speech_of(build, words[i].node);
		word = speech ? sbx_build_take(build, SBX_TABLE_words, 1) : NULL;
		if (!word)
			return false;
		*word = words[i].rule;
		if (speech->words.count++ == 0)
			speech->words.first = sbx_build_last(build, SBX_TABLE_words);
		speak(build, speech, *word);
	}
	return true;
}

static uint8_t flags_of(struct build *build, const struct sbx_node *node)
{
	return node->says == SBX_SAYS_MUCH ? sbx_build_speeches(build)[node->rule].flags
					   : node->flags;
}

static uint32_t first_word(struct build *build, const struct sbx_node *node)
{
	return node->says == SBX_SAYS_MUCH
		       ? sbx_build_words(build)[sbx_build_speeches(build)[node->rule].words.first]
		       : node->rule;
}

static bool has_protections(const struct build *build)
{
	for (size_t i = 0; i < build->draft->rules.count; i++)
		if (build->draft->rules.list[i].kind == SBX_RULE_PROTECT)
			return true;
	return false;
}

static void add_hole(struct sbx_hole *above, const struct sbx_speech *speech)
{
	keep_first(&above->rule, speech->take);
	keep_first(&above->rule, speech->lock);
	keep_first(&above->rule, speech->unix_deny);
	keep_first(speech->flags & SBX_SPEECH_ALWAYS ? &above->guard : &above->guard_repo,
		   speech->protect);
}

/*
 * Tells every place which rule below it takes something away: to move the place would move what
 * is refused from under the rule. What is private is not protected, and must not come to where it
 * would be. Children stand behind their parents.
 */
static bool add_holes(struct build *build)
{
	size_t count = build->tables[SBX_TABLE_nodes].count;
	struct sbx_hole *holes = sbx_build_take(build, SBX_TABLE_holes, count);
	bool protects = has_protections(build);

	if (!holes)
		return false;
	memset(holes, 0xff, count * sizeof(*holes));
	for (size_t i = count; i-- > 1;) {
		const struct sbx_node *node = &sbx_build_nodes(build)[i];
		struct sbx_hole *above = &holes[node->parent];

		keep_first(&above->rule, holes[i].rule);
		keep_first(&above->guard, holes[i].guard);
		keep_first(&above->guard_repo, holes[i].guard_repo);
		if (node->says == SBX_SAYS_MUCH)
			add_hole(above, &sbx_build_speeches(build)[node->rule]);
		else if (node->says == SBX_RULE_PROTECT)
			keep_first(node->flags & SBX_SPEECH_ALWAYS ? &above->guard
								   : &above->guard_repo,
				   node->rule);
		else if (node->says != SBX_RULE_ADD && node->says != SBX_SAYS_NOTHING)
			keep_first(&above->rule, node->rule);
		if (protects && flags_of(build, node) & SBX_SPEECH_FREE)
			keep_first(&above->guard, first_word(build, node));
	}
	return true;
}

bool sbx_build_speak(struct build *build)
{
	return add_make_dirs(build) && add_speeches(build) && add_holes(build);
}
