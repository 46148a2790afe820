/* SPDX-License-Identifier: MIT */
/*
 * Random trees, random policies, random acts in random spellings. Each act is done five times, each
 * time in the same tree: bare, by a program that loads the shim, and by a static one; by these two
 * again where masks are mounted. What works bare must work in all sandboxes, with the same effect,
 * exactly where the engine allows it; what the engine refuses must be refused in all, leave no trace,
 * and be in the log; and what fails bare must fail with the same errno, unless it is refused. For the
 * bare program, what is hidden is not there.
 *
 * SBX_SEED repeats a run, SBX_CASES says how many cases there are to be.
 */
#include "agree.h"
#include "hold.h"

#include <sched.h>

#define CASES 1700
#define CASES_SLOW 450 /* under a sanitizer */
#define BATCH 160
#define SHOWN 10
#define TRIES_MOST 200 /* policies that are refused before the first that is not */

/* Trees that are the same. */
enum {
	WORLD_BARE,
	WORLD_OPEN, /* without namespaces */
	WORLD_MASKED,
	WORLD_COUNT
};

static struct world worlds[WORLD_COUNT];
static struct world *const first = &worlds[WORLD_BARE];
static struct run runs[RUN_COUNT];
static bool running[RUN_COUNT];
static bool can_mask;
static struct one batch[BATCH];
static size_t batch_count;
static char policy_text[2048];

static struct {
	unsigned int cases, allowed, refused, failing, bound, batches, unheld, masked, hiding,
		beside;
	unsigned int wrong, lost, explained, unexplained, unfounded;
} tally;

static struct world *world_of(enum run_kind kind)
{
	return &worlds[kind == RUN_BARE	     ? WORLD_BARE
		       : run_is_masked(kind) ? WORLD_MASKED
					     : WORLD_OPEN];
}

/* --- What is --- */

/* False when the tree could not be brought back. */
static bool act_in(enum run_kind kind, struct one *one)
{
	struct world *world = world_of(kind);
	const struct answer *answer = &one->answers[0];
	struct actor_case what = one->spelled.what;

	world_call(world->called, world->grown.root, what.base);
	world_call(world->called, world->grown.root, what.path);
	world_call(world->called, world->grown.root, what.to);
	one->done[kind] = true;
	one->before[kind] = world->picture;
	one->replies[kind] = run_act(&runs[kind], &what);
	if (kind == RUN_BARE && what.act == ACT_LIST && world->hides && !one->replies[kind].code)
		one->replies[kind].seen -= world_unseen(world, answer->at.path);
	one->pictures[kind] = one_changes(one) ? world_picture(world) : world->picture;
	if (one->pictures[kind].all == world->picture.all)
		return true;
	return answer->known &&
	       world_undo(world, what.act, answer->at.path, *what.to ? answer->to.path : NULL);
}

/* --- When they do not agree --- */

static void show_tree(void)
{
	for (size_t i = 0; i < first->grown.count; i++) {
		const struct grown_entry *entry = &first->grown.entries[i];

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
	if (one->base.known)
		diag("  engine: from %s: %s", one->base.at.path,
		     sbx_code_name(one->base.verdict.code));
	if (one->way.hidden || one->way.denied || one->way.ends)
		diag("  the way is%s%s%s", one->way.hidden ? " hidden" : "",
		     one->way.denied ? " denied" : "", one->way.ends ? " to what is hidden" : "");
	for (size_t i = 0; i < RUN_COUNT; i++)
		if (one->done[i])
			diag("  %s: %s%s%s (%x)", run_names[i],
			     strerror(one->replies[i].code % ACTOR_NO_BASE),
			     one->replies[i].code >= ACTOR_NO_BASE ? " at its folder" : "",
			     one->pictures[i].all == one->before[i].all
				     ? ""
				     : ", and the tree has changed",
			     one->replies[i].seen);
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

static bool agree_all(const struct one *one)
{
	for (int kind = RUN_SHIM; kind < RUN_COUNT; kind++)
		if (one->done[kind] && !one_agrees(one, (enum run_kind)kind, first, policy_text))
			return false;
	return true;
}

static void count(const struct one *one)
{
	bool done = false;

	tally.failing += one->replies[RUN_BARE].code != 0;
	if (one->replies[RUN_BARE].code == 0 && one->known) {
		tally.cases++;
		tally.allowed += one->allowed;
		tally.refused += !one->allowed;
	}
	for (int kind = RUN_SHIM; kind < RUN_COUNT; kind++)
		done |= one->done[kind] && one->replies[kind].code == 0;
	if (!agree_all(one)) {
		tally.wrong++;
		complain(one, "no agreement");
	} else if (!one->allowed && done) {
		tally.bound++;
	}
}

static bool is_inside(const struct sbx_resolved *at)
{
	size_t len = strlen(first->grown.root);

	return !strncmp(at->path, first->grown.root, len) &&
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

	memset(one->done, 0, sizeof(one->done));
	do {
		spell(&first->grown, &one->spelled);
		one_judge(one, first);
	} while (strays(one));
	for (int kind = 0; kind < RUN_COUNT; kind++)
		whole = whole && (!running[kind] || act_in((enum run_kind)kind, one));
	if (whole) {
		batch_count++;
		count(one);
		return;
	}
	tally.lost++;
	worlds[WORLD_OPEN].spoiled = true;
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
	bool found = one->base.known && heard_find(heard, &one->base);
	struct answer hidden_to = { .at = one->answers[0].to, .verdict.code = SBX_CODE_HIDDEN };

	for (size_t i = 0; (one->known || one->early) && i < one->answer_count; i++)
		if (!one->answers[i].verdict.allowed && heard_find(heard, &one->answers[i]))
			found = true;
	return found || (one->way.ends && heard_find(heard, &hidden_to));
}

static bool leads_to(const struct one *one, const char *path, const char *place)
{
	const unsigned int flags = SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW;
	const char *base = one->spelled.what.base;
	struct sbx_resolved at;

	return sbx_resolve_path(*base ? base : "/", path, flags, NULL, &at) == 0 &&
	       !strcmp(at.path, place);
}

/* Where one of two paths leads behind a mask, nobody can see that the other would not matter. */
static bool is_beside_mask(const struct heard_event *event)
{
	for (size_t i = 0; i < batch_count; i++) {
		const struct one *one = &batch[i];

		if (one->way.denied && *one->spelled.what.to &&
		    (leads_to(one, one->spelled.path, event->path) ||
		     leads_to(one, one->spelled.to, event->path)))
			return true;
	}
	return false;
}

/* What is hidden may be said of whatever act that met it; also of what would be made in it. */
static bool is_founded_hidden(const struct heard_event *event)
{
	char folder[ACTOR_PATH];

	snprintf(folder, sizeof(folder), "%s", event->path);
	*strrchr(folder, '/') = '\0';
	return event->expected || world_hides(first, event->path) || world_hides(first, folder);
}

/* Behind a mask nobody can see where links lead: it is said by names alone. */
static bool is_founded_behind(const struct heard_event *event)
{
	return is_beside_mask(event) ||
	       ((!strcmp(event->code, "denied") || !strcmp(event->code, "refer")) &&
		way_denies(first, event->path));
}

static bool is_founded(const struct heard_event *event, enum run_kind kind)
{
	if (!strcmp(event->code, "hidden"))
		return is_founded_hidden(event);
	if (run_is_masked(kind) && is_founded_behind(event))
		return true;
	return event->expected ||
	       (!strcmp(event->op, "rename") && one_holds_repository(first, event->path));
}

static void check_log(enum run_kind kind)
{
	struct heard heard;

	heard_read(&heard, log_of(kind), world_of(kind));
	for (size_t i = 0; i < batch_count; i++) {
		const struct one *one = &batch[i];
		bool explained = is_explained(&heard, one);

		if (!one_needs_words(one, kind, first, policy_text))
			continue;
		tally.explained += explained;
		tally.unexplained += !explained;
		if (!explained)
			complain(one, run_names[kind]);
	}
	for (size_t i = 0; i < heard.count; i++) {
		if (is_founded(&heard.events[i], kind))
			continue;
		tally.unfounded++;
		if (tally.unfounded == 1) {
			diag("under\n%s", policy_text);
			show_tree();
		}
		diag("%s: said without a reason: %s %s %s", run_names[kind], heard.events[i].op,
		     heard.events[i].code, heard.events[i].path);
	}
	heard_free(&heard);
}

/* --- Batches --- */

static const char *write_policy(const struct world *world, const char *isolate)
{
	const char *path = at("policy.%s", world->grown.root + strlen(world->grown.root) - 1);
	char text[sizeof(policy_text)];
	FILE *file = fopen(path, "we");

	snprintf(text, sizeof(text), "%s", policy_text);
	world_call(world->called, world->grown.root, text);
	if (!file || fprintf(file, "[sandbox]\nisolate = %s\n%s", isolate, text) < 0 ||
	    fclose(file) != 0)
		BAIL_OUT("cannot write %s", path);
	return path;
}

/* As the program's user, as the launcher does: links in a folder that is closed to it are not seen. */
static struct sbx_policy *load_policy(const char *path)
{
	uid_t self = geteuid(), uid = first->grown.uid ? first->grown.uid : self;
	int failed;
	const struct sbx_load load = {
		.files = &path, .file_count = 1, .profiles = runs_profiles(), .trust = true
	};
	struct sbx_policy *policy;
	struct sbx_errors errors;

	if (seteuid(uid) < 0)
		BAIL_OUT("cannot become the user");
	failed = sbx_load(&load, &policy, &errors);
	if (seteuid(self) < 0)
		BAIL_OUT("cannot become root again");
	return failed ? NULL : policy;
}

static bool start_run(enum run_kind kind, const char *policy)
{
	const char *log = kind == RUN_BARE ? NULL : log_of(kind);

	if (log)
		unlink(log);
	running[kind] = run_start(&runs[kind], kind, first->grown.uid, policy, log);
	if (running[kind] && kind != RUN_BARE && runs[kind].shim != run_has_loader(kind))
		BAIL_OUT("the shim is not where it should be");
	return running[kind];
}

/* False when the launcher refuses the policy. */
static bool start_tier(enum run_kind loader, enum run_kind without, int world, const char *isolate)
{
	const char *policy = write_policy(&worlds[world], isolate);
	bool started = start_run(loader, policy);

	running[without] = false;
	if (started && !start_run(without, policy))
		BAIL_OUT("the launcher takes a policy for one program only:\n%s", policy_text);
	return started;
}

/* With masks, a policy can be held that cannot without: what is executed there needs no broker. */
static bool start_runs(const char *policy)
{
	bool open = start_tier(RUN_SHIM, RUN_STATIC, WORLD_OPEN, "none");
	bool masked = can_mask && start_tier(RUN_MASKED, RUN_MASKED_STATIC, WORLD_MASKED, "auto");

	if (can_mask && open && !masked)
		BAIL_OUT("what can be held without masks cannot with them:\n%s", policy_text);
	tally.masked += masked;
	return (open || masked) && start_run(RUN_BARE, policy);
}

static bool is_spoiled(void)
{
	return worlds[WORLD_OPEN].spoiled || worlds[WORLD_MASKED].spoiled;
}

static void run_batch(void)
{
	for (batch_count = 0; batch_count < BATCH && !is_spoiled();)
		one_case();
	for (int kind = 0; kind < RUN_COUNT; kind++)
		if (running[kind])
			run_end(&runs[kind]);
	for (int kind = RUN_SHIM; kind < RUN_COUNT; kind++)
		if (running[kind])
			check_log((enum run_kind)kind);
	tally.batches++;
	tally.hiding += first->hides;
}

/* Whether Landlock lets folders be read beside what is denied by name, where there are no masks. */
static bool reads_beside(const struct sbx_image *image)
{
	struct launch_error error;
	struct launch_hold hold;
	bool beside;

	if (launch_hold_make(image, true, NULL, &hold, &error) < 0)
		return false;
	beside = hold.beside_count > 0;
	launch_hold_done(&hold);
	return beside;
}

static void one_batch(void)
{
	struct sbx_policy *policy;
	const char *path;

	grown_grow(&first->grown);
	for (int i = 0; i < WORLD_COUNT; i++) {
		if (i != WORLD_BARE)
			world_copy(first, &worlds[i]);
		world_plant(&worlds[i]);
	}
	grown_policy_any(&first->grown, policy_text, sizeof(policy_text));
	path = write_policy(first, "none");
	policy = load_policy(path);
	if (!policy)
		return;
	for (int i = 0; i < WORLD_COUNT; i++)
		world_rule(&worlds[i], sbx_policy_image(policy));
	if (start_runs(path)) {
		tally.beside += reads_beside(sbx_policy_image(policy));
		world_bare(first);
		run_batch();
	} else {
		tally.unheld++;
	}
	sbx_free(policy);
}

static void agree(uid_t uid, const char *who, unsigned int cases)
{
	memset(&tally, 0, sizeof(tally));
	first->grown.uid = uid;
	first->grown.closed = uid != 0 || getuid() != 0;
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
	note("%u policies, of which %u hide something and %u ran with masks too; %u more were "
	     "refused at launch; %u acts were allowed by the kernel alone, on a file that a rule "
	     "names",
	     tally.batches, tally.hiding, tally.masked, tally.unheld, tally.bound);
	note("%u policies let Landlock read beside what they deny by name", tally.beside);
	one_note_differences();
}

static int try_masks(void *arg)
{
	(void)arg;
	return unshare(getuid() ? CLONE_NEWUSER | CLONE_NEWNS : CLONE_NEWNS) < 0 ? errno : 0;
}

static void begin_worlds(void)
{
	static const char letters[WORLD_COUNT] = "bwm";

	for (int i = 0; i < WORLD_COUNT; i++) {
		struct world *world = &worlds[i];

		snprintf(world->grown.root, sizeof(world->grown.root), "%s", at("%c", letters[i]));
		snprintf(world->called, sizeof(world->called), "%s", first->grown.root);
		snprintf(world->spare, sizeof(world->spare), "%s", at("spare.%c", letters[i]));
	}
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
	begin_worlds();
	can_mask = in_child(0, try_masks, NULL) == 0;
	if (getuid() == 0) {
		agree(0, "as root", cases / 2);
		can_mask = in_child(NOBODY, try_masks, NULL) == 0;
		agree(NOBODY, "as an ordinary user", cases / 2);
	} else {
		agree(0, "as an ordinary user", cases);
	}
	done_testing();
}
