/* SPDX-License-Identifier: MIT */
/*
 * One act: what should come of it, and whether that is what came. What may differ from it for a reason
 * stands in one table, and is counted.
 */
#include "agree.h"

/* --- What should be --- */

/* Whoever looks is refused what is hidden, and nothing else. */
static void ask_look(struct one *one, const struct world *world, const char *cwd, const char *path)
{
	struct answer *answer = &one->answers[0];

	engine_ask(world->image, cwd, SBX_OP_READ, one->spelled.what.act, path, NULL, answer);
	if (answer->known && answer->verdict.code != SBX_CODE_HIDDEN)
		answer->verdict.allowed = true;
	one->answer_count = 1;
}

static void ask(struct one *one, const struct world *world, const char *path, const char *to)
{
	const struct actor_case *what = &one->spelled.what;
	const char *cwd = *what->base ? what->base : "/";

	if (what->act >= ACT_COUNT)
		ask_look(one, world, cwd, path);
	else
		one->answer_count =
			engine_asks(world->image, cwd, what->act, path, to, one->answers);
	one->known = one->allowed = true;
	for (size_t i = 0; i < one->answer_count; i++) {
		one->known = one->known && one->answers[i].known;
		one->allowed = one->allowed && one->answers[i].verdict.allowed;
	}
}

static const char *without_slash(const char *path, char out[ACTOR_PATH])
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	snprintf(out, ACTOR_PATH, "%.*s", (int)len, path);
	return out;
}

/* The entry is meant, and not what the slash behind it would lead to: there it fails. */
static bool is_slashed_link(const struct one *one)
{
	const struct spelled *spelled = &one->spelled;
	char path[ACTOR_PATH], whole[2 * ACTOR_PATH];
	struct stat st;

	if (acts[spelled->what.act].op != SBX_OP_DELETE ||
	    !strcmp(without_slash(spelled->path, path), spelled->path))
		return false;
	snprintf(whole, sizeof(whole), "%s%s%s", *path == '/' ? "" : spelled->what.base,
		 *path == '/' ? "" : "/", path);
	return lstat(whole, &st) == 0 && S_ISLNK(st.st_mode);
}

/*
 * Where it starts from may be hidden. And where names are hidden, O_PATH gives an ordinary descriptor
 * for reading, which rules may refuse.
 */
static void judge_base(struct one *one, const struct world *world)
{
	const struct actor_case *what = &one->spelled.what;

	one->base.known = false;
	if (!*what->base || !world->hides)
		return;
	if (world_hides(world, what->base)) {
		one->base.known = true;
		snprintf(one->base.at.path, sizeof(one->base.at.path), "%s", what->base);
		sbx_refuse(&one->base.verdict, SBX_CODE_HIDDEN, SBX_NONE);
		return;
	}
	engine_ask(world->image, "/", SBX_OP_LIST, ACT_LIST, what->base, NULL, &one->base);
	one->base.known = one->base.known && !one->base.verdict.allowed && what->by_descriptor;
}

/*
 * A slash behind the name of a file leads nowhere; but who removes or moves "file/" is refused for
 * the entry first, and would be told that it is no folder later.
 */
void one_judge(struct one *one, const struct world *world)
{
	const struct actor_case *what = &one->spelled.what;
	char path[ACTOR_PATH], to_path[ACTOR_PATH];
	const char *to = *what->to ? one->spelled.to : NULL, *cwd = *what->base ? what->base : "/";

	one->early = false;
	ask(one, world, one->spelled.path, to);
	if (!one->known || is_slashed_link(one)) {
		ask(one, world, without_slash(one->spelled.path, path),
		    to ? without_slash(to, to_path) : NULL);
		one->early = one->known && !one->allowed;
		one->known = false;
	}
	one->bound = one->known && grown_bound(&world->grown, world->image, one->answers[0].at.path,
					       to ? one->answers[0].to.path : NULL);
	one->way = (struct way){ .hidden = false };
	way_walk(world, cwd, one->spelled.path, acts[what->act].nofollow, &one->way);
	if (to)
		way_walk(world, cwd, one->spelled.to, true, &one->way);
	if (*what->base)
		way_walk(world, "/", what->base, false, &one->way);
	judge_base(one, world);
}

bool one_changes(const struct one *one)
{
	enum sbx_op op = acts[one->spelled.what.act].op;

	return op != SBX_OP_READ && op != SBX_OP_LIST && op != SBX_OP_EXEC;
}

/* --- What is --- */

static int code_of(const struct one *one, enum run_kind kind)
{
	return one->replies[kind].code;
}

static bool is_unchanged(const struct one *one, enum run_kind kind)
{
	return one->pictures[kind].all == one->before[kind].all;
}

/* With the errno that the engine says. */
static bool is_refused(const struct one *one, enum run_kind kind)
{
	for (size_t i = 0; i < one->answer_count; i++)
		if (!one->answers[i].verdict.allowed &&
		    one->answers[i].verdict.error == code_of(one, kind))
			return is_unchanged(one, kind);
	return false;
}

static bool is_base_refused(const struct one *one, enum run_kind kind)
{
	return one->base.known && is_unchanged(one, kind) &&
	       code_of(one, kind) == ACTOR_NO_BASE + one->base.verdict.error;
}

static bool has_bare_effect(const struct one *one, enum run_kind kind)
{
	return code_of(one, kind) == code_of(one, RUN_BARE) &&
	       one->pictures[kind].seen == one->pictures[RUN_BARE].seen &&
	       one->pictures[kind].hidden == one->before[kind].hidden;
}

static bool is_as_bare(const struct one *one, enum run_kind kind)
{
	return has_bare_effect(one, kind) && one->replies[kind].seen == one->replies[RUN_BARE].seen;
}

/* --- What differs for a reason --- */

struct seeing {
	const struct one *one;
	const struct world *world;
	enum run_kind kind;
	const char *policy;
	int code;
};

bool one_holds_repository(const struct world *world, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < world->grown.count; i++) {
		const struct grown_entry *entry = &world->grown.entries[i];
		char whole[ACTOR_PATH];

		snprintf(whole, sizeof(whole), "%s/%s", world->grown.root, entry->path);
		if (strncmp(whole, path, len) != 0 || (whole[len] && whole[len] != '/'))
			continue;
		if (strstr(whole + len, "/.git") || (entry->kind == '/' && entry->mode != 0755))
			return true;
	}
	return false;
}

/* Whether a repository that is protected is to be moved. */
static bool moves_repository(const struct one *one, const struct world *world, const char *policy)
{
	const struct answer *answer = &one->answers[0];
	enum act act = one->spelled.what.act;

	return acts[act].op == SBX_OP_RENAME && answer->known && act != ACT_LINK &&
	       strstr(policy, "protect = yes") &&
	       (one_holds_repository(world, answer->at.path) ||
		(act == ACT_EXCHANGE && one_holds_repository(world, answer->to.path)));
}

static bool is_kept(const struct seeing *s)
{
	return moves_repository(s->one, s->world, s->policy) &&
	       (s->code == EACCES || s->code == EXDEV || s->code == EPERM);
}

/*
 * What is moved may be exchanged for something else until it is moved. Where a file may be moved and a
 * folder may not, or the other way round, the broker says that it must be copied.
 */
static bool is_to_be_copied(const struct seeing *s)
{
	const struct answer *answer = &s->one->answers[0];
	enum act act = s->one->spelled.what.act;
	struct sbx_request request = { .op = SBX_OP_RENAME, .size = -1 };
	struct sbx_verdict verdict;

	if (acts[act].op != SBX_OP_RENAME || s->code != EXDEV || !s->one->known || act == ACT_LINK)
		return false;
	for (int i = 0; i < 4; i++) {
		request.is_dir = i & 1;
		request.path = i & 2 ? answer->to.path : answer->at.path;
		request.to = i & 2 ? answer->at.path : answer->to.path;
		sbx_eval(s->world->image, &request, &verdict);
		if (!verdict.allowed && (act == ACT_EXCHANGE || i < 2))
			return true;
	}
	return false;
}

/*
 * Behind a mask there is nothing: no name to miss, no link to something hidden, and no way out again by
 * "..". What is hidden may be denied, too, and have a mask: then for what is not hidden in it.
 */
static bool is_behind_mask(const struct seeing *s)
{
	const struct actor_case *what = &s->one->spelled.what;
	const struct way *way = &s->one->way;
	bool denied = way->denied || (way->shut && !way->hidden && !way->ends);

	if (!run_is_masked(s->kind))
		return false;
	if (*what->base && way_denies(s->world, what->base) && s->code == ACTOR_NO_BASE + EACCES)
		return true;
	/* EXDEV: the engine's word for a second name of what is denied. */
	if (what->act == ACT_LINK && s->code == EXDEV)
		return denied;
	/* ENOENT: the names behind a mask, which may be links, may be called as something hidden. */
	return denied && (s->code == EACCES || (s->world->hides && s->code == ENOENT));
}

/* How much of a path is the place of a [path] section, or 0. */
static size_t place_len(const struct world *world, const char *path)
{
	size_t most = 0;

	for (uint32_t i = 0; i < sbx_count(world->image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(world->image)[i];
		const char *place = sbx_str(world->image, rule->path);
		size_t len = strlen(place);

		if (rule->kind == SBX_RULE_SET && !strncmp(place, path, len) &&
		    (!path[len] || path[len] == '/') && len > most)
			most = len;
	}
	return most;
}

static bool is_place_of_rule(const struct world *world, const char *path)
{
	return place_len(world, path) == strlen(path);
}

/* Nothing is moved or linked between mounts; a mask that only takes a right away is one, too. */
static bool is_between_mounts(const struct seeing *s)
{
	const struct answer *answer = &s->one->answers[0];

	return run_is_masked(s->kind) && s->code == EXDEV && s->one->known &&
	       acts[s->one->spelled.what.act].op == SBX_OP_RENAME &&
	       place_len(s->world, answer->at.path) != place_len(s->world, answer->to.path);
}

/*
 * Both names are of one file, and nothing would change. What refuses it seems to be that its folder
 * cannot be changed: whether it would have to be is found out last.
 */
static bool is_idle_move(const struct seeing *s)
{
	return acts[s->one->spelled.what.act].op == SBX_OP_RENAME && s->code == EACCES &&
	       code_of(s->one, RUN_BARE) == 0 && is_unchanged(s->one, RUN_BARE) && s->one->known &&
	       !s->one->allowed;
}

/* What permissions refuse anyway: the kernel looks at the mount first. */
static bool is_read_only_first(const struct seeing *s)
{
	return run_is_masked(s->kind) && s->code == EROFS && code_of(s->one, RUN_BARE) != 0 &&
	       s->one->known && !s->one->allowed;
}

/* What has lost a right and may still be removed: the kernel removes nothing on which a mount is. */
static bool is_busy(const struct seeing *s)
{
	const struct answer *answer = &s->one->answers[0];

	return run_is_masked(s->kind) && s->code == EBUSY && s->one->known &&
	       (is_place_of_rule(s->world, answer->at.path) ||
		(*s->one->spelled.what.to && is_place_of_rule(s->world, answer->to.path)));
}

static bool is_mount_refusing(const struct world *world, const char *path, enum sbx_op op)
{
	struct sbx_request request = { .op = op, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(world->image, &request, &verdict);
	return !verdict.allowed;
}

/* A mask is an empty file or folder that nobody may use, or a mount that nobody may write to. */
static bool is_look_at_mask(const struct seeing *s)
{
	const char *path = s->one->answers[0].at.path;
	enum act act = s->one->spelled.what.act;

	if (!run_is_masked(s->kind) || !s->one->known || code_of(s->one, RUN_BARE) != 0)
		return false;
	if (act == ACT_STAT || act == ACT_LSTAT)
		return way_denies(s->world, path) && s->code == 0;
	if (act == ACT_ACCESS && s->code == EROFS)
		return is_mount_refusing(s->world, path, SBX_OP_WRITE);
	if (act == ACT_ACCESS && s->one->spelled.what.how == HOW_AT && s->code == EACCES)
		return is_mount_refusing(s->world, path, SBX_OP_EXEC);
	if (act == ACT_ACCESS || act == ACT_CHDIR)
		return way_denies(s->world, path) && s->code == EACCES;
	return false;
}

/* Where names are hidden, O_PATH is an ordinary open: ordinary permissions count. */
static bool is_base_closed(const struct seeing *s)
{
	const struct actor_case *what = &s->one->spelled.what;
	struct stat st;

	return s->world->hides && *what->base && what->by_descriptor &&
	       s->code == ACTOR_NO_BASE + EACCES && stat(what->base, &st) == 0 &&
	       !(st.st_mode & S_IRUSR);
}

static bool holds_hidden(const struct world *world, const char *folder)
{
	size_t len = strlen(folder);

	for (size_t i = 0; i < world->grown.count; i++) {
		char whole[ACTOR_PATH];

		snprintf(whole, sizeof(whole), "%s/%s", world->grown.root,
			 world->grown.entries[i].path);
		if (!strncmp(whole, folder, len) && whole[len] == '/' && world_hides(world, whole))
			return true;
	}
	return false;
}

/* To the program the folder is empty; the kernel knows better. */
static bool is_not_empty(const struct seeing *s)
{
	const struct answer *answer = &s->one->answers[0];

	return s->code == ENOTEMPTY && code_of(s->one, RUN_BARE) == 0 && s->one->known &&
	       (holds_hidden(s->world, answer->at.path) ||
		(*s->one->spelled.what.to && holds_hidden(s->world, answer->to.path)));
}

static const struct {
	const char *why;
	bool (*applies)(const struct seeing *s);
} differences[] = {
	{ "a repository stays where it is", is_kept },
	{ "what is moved has to be copied: a file may be moved, and a folder may not",
	  is_to_be_copied },
	{ "EACCES: it would change nothing, in a folder that cannot be changed", is_idle_move },
	{ "whoever looks at what is masked sees the mask", is_look_at_mask },
	{ "EBUSY: a mask stands on it", is_busy },
	{ "EROFS: what permissions refuse, too, is in a mask", is_read_only_first },
	{ "EXDEV: to or from what is masked", is_between_mounts },
	{ "EACCES: where names are hidden, O_PATH is an ordinary open", is_base_closed },
	{ "ENOTEMPTY: there are hidden files in it", is_not_empty },
	{ "EACCES: the way leads through a masked folder", is_behind_mask },
};
#define DIFFERENCES (sizeof(differences) / sizeof(differences[0]))

static unsigned int counts[DIFFERENCES];

static bool differs(const struct one *one, enum run_kind kind, const struct world *world,
		    const char *policy)
{
	const struct seeing s = { one, world, kind, policy, code_of(one, kind) };

	for (size_t i = 0; i < DIFFERENCES && is_unchanged(one, kind); i++)
		if (differences[i].applies(&s)) {
			counts[i]++;
			return true;
		}
	return false;
}

void one_note_differences(void)
{
	for (size_t i = 0; i < DIFFERENCES; i++)
		note("%u times: %s", counts[i], differences[i].why);
	memset(counts, 0, sizeof(counts));
}

/* --- Both --- */

static bool is_as_should(const struct one *one, enum run_kind kind)
{
	bool fails = code_of(one, RUN_BARE) != 0;

	if (!one->known && !fails)
		return false;
	if (one->base.known)
		return is_base_refused(one, kind) || (fails && is_as_bare(one, kind));
	/* Whatever else there is to say of it. */
	if (one->way.hidden || one->way.ends)
		return (code_of(one, kind) == ENOENT && is_unchanged(one, kind)) ||
		       (fails && is_as_bare(one, kind));
	if (one->early)
		return fails && (is_as_bare(one, kind) || is_refused(one, kind));
	if (!one->known || one->allowed)
		return is_as_bare(one, kind);
	return is_refused(one, kind) || (is_as_bare(one, kind) && (fails || one->bound));
}

bool one_agrees(const struct one *one, enum run_kind kind, const struct world *world,
		const char *policy)
{
	return is_as_should(one, kind) || differs(one, kind, world, policy);
}

/* What changes nothing, because both names are of one file, may seem to be refused by permissions. */
bool one_needs_words(const struct one *one, enum run_kind kind, const struct world *world,
		     const char *policy)
{
	bool idle = acts[one->spelled.what.act].op == SBX_OP_RENAME && is_unchanged(one, RUN_BARE);

	/* Of something hidden on the way, the way says where it is, and no answer does. */
	if (one->way.hidden || (run_is_masked(kind) && (one->way.denied || one->way.shut)))
		return false;
	return code_of(one, RUN_BARE) == 0 && code_of(one, kind) != 0 && !idle &&
	       is_as_should(one, kind) && !moves_repository(one, world, policy);
}
