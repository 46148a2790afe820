/* SPDX-License-Identifier: MIT */
/*
 * Random trees, random policies, random acts in random spellings. Each act is done three times
 * in the same tree: bare, by a program that loads the shim, and by a static one. What works bare must
 * work in both sandboxes, with the same effect, exactly where the engine allows it; what the engine
 * refuses must be refused in both, leave no trace, and be in the log; and what fails bare must fail
 * with the same errno, unless it is refused.
 *
 * SBX_SEED repeats a run, SBX_CASES says how many cases there are to be.
 */
#include "agree.h"

#define CASES 3000
#define CASES_SLOW 800 /* under a sanitizer */
#define BATCH 100
#define SHOWN 10
#define TRIES_MOST 200 /* policies that are refused before the first that is not */

/* One act, with all that was said of it and came of it. */
struct one {
	struct spelled spelled;
	struct answer answers[2];
	size_t answer_count;
	bool known, allowed, bound;
	bool early; /* the kernel may refuse before it finds that this cannot be */
	int codes[RUN_COUNT];
	uint64_t pictures[RUN_COUNT];
};

static struct world world;
static struct run runs[RUN_COUNT];
static struct one batch[BATCH];
static size_t batch_count;
static const struct sbx_image *image;
static char policy_text[2048];

static struct {
	unsigned int cases, allowed, refused, failing, bound, batches, unheld;
	unsigned int wrong, lost, explained, unexplained, unfounded;
} tally;

/* --- What should be, and what is --- */

static void ask(struct one *one, const char *path, const char *to)
{
	const struct actor_case *what = &one->spelled.what;

	one->answer_count = engine_asks(image, *what->base ? what->base : "/", what->act, path, to,
					one->answers);
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
 * A slash behind the name of a file leads nowhere; but who removes or moves "file/" is refused for
 * the entry first, and would be told that it is no folder later.
 */
static void judge(struct one *one)
{
	char path[ACTOR_PATH], to_path[ACTOR_PATH];
	const char *to = *one->spelled.what.to ? one->spelled.to : NULL;

	one->early = false;
	ask(one, one->spelled.path, to);
	if (!one->known || is_slashed_link(one)) {
		ask(one, without_slash(one->spelled.path, path),
		    to ? without_slash(to, to_path) : NULL);
		one->early = one->known && !one->allowed;
		one->known = false;
	}
	one->bound = one->known && grown_bound(&world.grown, image, one->answers[0].at.path,
					       to ? one->answers[0].to.path : NULL);
}

static bool changes(enum act act)
{
	enum sbx_op op = acts[act].op;

	return op != SBX_OP_READ && op != SBX_OP_LIST && op != SBX_OP_EXEC;
}

/* False when the tree could not be brought back. */
static bool act_in(enum run_kind kind, struct one *one)
{
	const struct actor_case *what = &one->spelled.what;
	const struct answer *answer = &one->answers[0];

	one->codes[kind] = run_act(&runs[kind], what);
	one->pictures[kind] = changes(what->act) ? world_picture(&world) : world.picture;
	if (one->pictures[kind] == world.picture)
		return true;
	return answer->known && world_undo(&world, image, what->act, answer->at.path,
					   *what->to ? answer->to.path : NULL);
}

/* With the errno that the engine says. */
static bool is_refused(const struct one *one, enum run_kind kind)
{
	for (size_t i = 0; i < one->answer_count; i++)
		if (!one->answers[i].verdict.allowed &&
		    one->answers[i].verdict.error == one->codes[kind])
			return true;
	return false;
}

/*
 * What is moved may be exchanged for something else until it is moved. Where a file may be moved and a
 * folder may not, or the other way round, the broker says that it must be copied.
 */
static bool is_to_be_copied(const struct one *one, enum run_kind kind)
{
	const struct answer *answer = &one->answers[0];
	bool back = one->spelled.what.act == ACT_EXCHANGE;
	struct sbx_request request = {
		.op = SBX_OP_RENAME, .size = -1, .path = answer->at.path, .to = answer->to.path
	};
	struct sbx_verdict verdict;

	if (acts[one->spelled.what.act].op != SBX_OP_RENAME || one->codes[kind] != EXDEV ||
	    one->pictures[kind] != world.picture || !one->known ||
	    one->spelled.what.act == ACT_LINK)
		return false;
	for (int i = 0; i < 4; i++) {
		request.is_dir = i & 1;
		request.path = i & 2 ? answer->to.path : answer->at.path;
		request.to = i & 2 ? answer->at.path : answer->to.path;
		sbx_eval(image, &request, &verdict);
		if (!verdict.allowed && (back || i < 2))
			return true;
	}
	return false;
}

/* A folder with a repository in it, or with something that cannot be looked into. */
static bool holds_repository(const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < world.grown.count; i++) {
		const struct grown_entry *entry = &world.grown.entries[i];
		char whole[ACTOR_PATH];

		snprintf(whole, sizeof(whole), "%s/%s", world.grown.root, entry->path);
		if (strncmp(whole, path, len) != 0 || (whole[len] && whole[len] != '/'))
			continue;
		if (strstr(whole + len, "/.git") || (entry->kind == '/' && entry->mode != 0755))
			return true;
	}
	return false;
}

/* Repositories that are protected stay where they are; the engine alone cannot know where they are. */
static bool is_kept(const struct one *one)
{
	const struct answer *answer = &one->answers[0];

	return acts[one->spelled.what.act].op == SBX_OP_RENAME && answer->known &&
	       one->spelled.what.act != ACT_LINK && strstr(policy_text, "protect = yes") &&
	       (holds_repository(answer->at.path) ||
		(one->spelled.what.act == ACT_EXCHANGE && holds_repository(answer->to.path)));
}

static bool is_kept_in(const struct one *one, enum run_kind kind)
{
	int code = one->codes[kind];

	return is_kept(one) && (code == EACCES || code == EXDEV || code == EPERM) &&
	       one->pictures[kind] == world.picture;
}

static bool agrees(const struct one *one, enum run_kind kind)
{
	bool as_bare = one->codes[kind] == one->codes[RUN_BARE] &&
		       one->pictures[kind] == one->pictures[RUN_BARE];
	bool refused = is_refused(one, kind) && one->pictures[kind] == world.picture;

	if (!one->known && one->codes[RUN_BARE] == 0)
		return false;
	if (is_kept_in(one, kind))
		return true;
	if (one->early)
		return one->codes[RUN_BARE] != 0 && (as_bare || refused);
	if (!one->known || one->allowed)
		return as_bare || is_to_be_copied(one, kind);
	return refused || (as_bare && (one->codes[RUN_BARE] != 0 || one->bound));
}

/* --- When they do not agree --- */

static void show_tree(void)
{
	for (size_t i = 0; i < world.grown.count; i++) {
		const struct grown_entry *entry = &world.grown.entries[i];

		diag("  %c %04o %s%s%s", entry->kind, (unsigned int)entry->mode, entry->path,
		     *entry->target ? " -> " : "", entry->target);
	}
}

static void show(const struct one *one)
{
	static const char *const hows[HOW_COUNT] = { "plain", "other", "at", "raw", "raw at" };
	const struct actor_case *what = &one->spelled.what;

	diag("%s (%s) '%s'%s%s, %s '%s'", acts[what->act].name, hows[what->how], what->path,
	     *what->to ? " to " : "", what->to, what->by_descriptor ? "from" : "in", what->base);
	for (size_t i = 0; i < one->answer_count; i++)
		diag("  engine: %s %s: %s", sbx_op_name(one->answers[i].op),
		     one->answers[i].known ? one->answers[i].at.path : "(nowhere)",
		     one->answers[i].known ? sbx_code_name(one->answers[i].verdict.code) : "-");
	for (size_t i = 0; i < RUN_COUNT; i++)
		diag("  %s: %s%s", run_names[i], strerror(one->codes[i] % ACTOR_NO_BASE),
		     one->pictures[i] == world.picture ? "" : ", and the tree has changed");
}

static void complain(const struct one *one, const char *why)
{
	static unsigned int shown, last;

	if (shown++ >= SHOWN)
		return;
	diag("%s:", why);
	show(one);
	if (last == tally.batches + 1)
		return;
	last = tally.batches + 1;
	diag("under\n%s", policy_text);
	show_tree();
}

/* --- Cases --- */

static void count(const struct one *one)
{
	tally.failing += one->codes[RUN_BARE] != 0;
	if (one->codes[RUN_BARE] == 0 && one->known) {
		tally.cases++;
		tally.allowed += one->allowed;
		tally.refused += !one->allowed;
	}
	if (!agrees(one, RUN_SHIM) || !agrees(one, RUN_STATIC)) {
		tally.wrong++;
		complain(one, "no agreement");
	} else if (!one->allowed && (one->codes[RUN_SHIM] == 0 || one->codes[RUN_STATIC] == 0)) {
		tally.bound++;
	}
}

static bool is_inside(const struct sbx_resolved *at)
{
	size_t len = strlen(world.grown.root);

	return !strncmp(at->path, world.grown.root, len) &&
	       (!at->path[len] || at->path[len] == '/');
}

/* Dot-dot behind a link can lead out of the tree, where nothing could be brought back. */
static bool strays(const struct one *one)
{
	const struct answer *answer = &one->answers[0];

	return answer->known &&
	       (!is_inside(&answer->at) || (*one->spelled.what.to && !is_inside(&answer->to)));
}

static void one_case(void)
{
	struct one *one = &batch[batch_count];
	bool whole = true;

	do {
		spell(&world.grown, &one->spelled);
		judge(one);
	} while (strays(one));
	for (int kind = 0; kind < RUN_COUNT; kind++)
		whole = whole && act_in((enum run_kind)kind, one);
	if (whole) {
		batch_count++;
		count(one);
		return;
	}
	tally.lost++;
	world.spoiled = true;
	complain(one, "the tree cannot be brought back");
}

/* --- What is said about them --- */

static const char *log_of(enum run_kind kind)
{
	return at("logs/%d", (int)kind);
}

/* Where one answer refuses, the next question may not have been asked. */
static bool is_explained(struct heard *heard, const struct one *one)
{
	bool found = false;

	for (size_t i = 0; (one->known || one->early) && i < one->answer_count; i++)
		if (!one->answers[i].verdict.allowed && heard_find(heard, &one->answers[i]))
			found = true;
	return found;
}

/* What changes nothing, because both names are of one file, may seem to be refused by permissions. */
static bool needs_words(const struct one *one, enum run_kind kind)
{
	bool idle = acts[one->spelled.what.act].op == SBX_OP_RENAME &&
		    one->pictures[RUN_BARE] == world.picture;

	return one->codes[RUN_BARE] == 0 && one->codes[kind] != 0 && !idle &&
	       !(one->allowed && is_to_be_copied(one, kind)) && !is_kept(one);
}

static void check_log(enum run_kind kind)
{
	struct heard heard;

	heard_read(&heard, log_of(kind), world.grown.root);
	for (size_t i = 0; i < batch_count; i++) {
		const struct one *one = &batch[i];
		bool explained = is_explained(&heard, one);

		if (!needs_words(one, kind))
			continue;
		tally.explained += explained;
		tally.unexplained += !explained;
		if (!explained)
			complain(one, run_names[kind]);
	}
	for (size_t i = 0; i < heard.count; i++) {
		if (heard.events[i].expected || (!strcmp(heard.events[i].op, "rename") &&
						 holds_repository(heard.events[i].path)))
			continue;
		tally.unfounded++;
		diag("%s: said without a reason: %s %s %s", run_names[kind], heard.events[i].op,
		     heard.events[i].code, heard.events[i].path);
	}
	heard_free(&heard);
}

/* --- Batches --- */

static struct sbx_policy *load_policy(const char *path)
{
	const struct sbx_load load = {
		.files = &path, .file_count = 1, .profiles = runs_profiles(), .trust = true
	};
	struct sbx_policy *policy;
	struct sbx_errors errors;
	FILE *file = fopen(path, "we");

	/*
	 * Without masks: behind one there is nothing to enter or to miss, so errors differ there, and
	 * the tree is built anew under them for every case. tests/e2e/masks.t compares both.
	 */
	if (!file || fputs("[sandbox]\nisolate = none\n", file) < 0 ||
	    fputs(policy_text, file) < 0 || fclose(file) != 0)
		BAIL_OUT("cannot write %s", path);
	return sbx_load(&load, &policy, &errors) == 0 ? policy : NULL;
}

/* False when the launcher refuses the policy. */
static bool start_runs(const char *policy)
{
	uid_t uid = world.grown.uid;

	for (int kind = RUN_SHIM; kind < RUN_COUNT; kind++) {
		unlink(log_of((enum run_kind)kind));
		if (run_start(&runs[kind], (enum run_kind)kind, uid, policy,
			      log_of((enum run_kind)kind)))
			continue;
		if (kind != RUN_SHIM)
			BAIL_OUT("the launcher takes a policy for one program only:\n%s",
				 policy_text);
		return false;
	}
	return run_start(&runs[RUN_BARE], RUN_BARE, uid, policy, NULL);
}

static void one_batch(void)
{
	const char *path = at("policy.ini");
	struct sbx_policy *policy;

	grown_grow(&world.grown);
	world_plant(&world);
	grown_policy_any(&world.grown, policy_text, sizeof(policy_text));
	policy = load_policy(path);
	if (!policy)
		return;
	image = sbx_policy_image(policy);
	if (start_runs(path)) {
		if (!runs[RUN_SHIM].shim || runs[RUN_STATIC].shim)
			BAIL_OUT("the shim is not where it should be");
		for (batch_count = 0; batch_count < BATCH && !world.spoiled;)
			one_case();
		for (int kind = 0; kind < RUN_COUNT; kind++)
			run_end(&runs[kind]);
		check_log(RUN_SHIM);
		check_log(RUN_STATIC);
		tally.batches++;
	} else {
		tally.unheld++;
	}
	sbx_free(policy);
}

static void agree(uid_t uid, const char *who, unsigned int cases)
{
	memset(&tally, 0, sizeof(tally));
	world.grown.uid = uid;
	world.grown.closed = uid != 0 || getuid() != 0;
	for (unsigned int tries = 0; tally.cases < cases && tally.wrong < SHOWN; tries++) {
		if (tries > TRIES_MOST && !tally.batches)
			BAIL_OUT("no policy of %u can be held; the last was\n%s", tries,
				 policy_text);
		one_batch();
	}
	cmp_ok(tally.wrong, "==", 0,
	       "engine, vouched calls and notified calls agree on %u cases %s", tally.cases, who);
	ok(tally.allowed > cases / 50 && tally.refused > cases / 50,
	   "of which %u were allowed, %u refused", tally.allowed, tally.refused);
	cmp_ok(tally.lost, "==", 0, "and %u more failed as they do without a sandbox",
	       tally.failing);
	cmp_ok(tally.unexplained, "==", 0, "all %u refusals are in the logs", tally.explained);
	cmp_ok(tally.unfounded, "==", 0, "and nothing else is");
	note("%u policies; %u more were refused at launch; %u acts were allowed by the kernel "
	     "alone, "
	     "on a file that a rule names",
	     tally.batches, tally.unheld, tally.bound);
}

int main(void)
{
	const char *given = getenv("SBX_CASES"), *variant = getenv("SBX_VARIANT");
	bool slow = variant && !strcmp(variant, "asan");
	unsigned int cases = given  ? (unsigned int)strtoul(given, NULL, 10)
			     : slow ? CASES_SLOW
				    : CASES;

	if (launch_landlock_abi() < 3)
		plan(SKIP_ALL, "this kernel's Landlock does not hold renaming and truncating");
	plan(NO_PLAN);
	chance_begin();
	umask(022);
	tree_begin_fast();
	runs_begin(at("build"));
	if (mkdir(at("logs"), 0777) < 0 || chmod(at("logs"), 0777) < 0)
		BAIL_OUT("no folder for logs");
	snprintf(world.grown.root, sizeof(world.grown.root), "%s", at("w"));
	snprintf(world.spare, sizeof(world.spare), "%s", at("spare"));
	if (getuid() == 0) {
		agree(0, "as root", cases / 2);
		agree(NOBODY, "as an ordinary user", cases / 2);
	} else {
		agree(0, "as an ordinary user", cases);
	}
	done_testing();
}
