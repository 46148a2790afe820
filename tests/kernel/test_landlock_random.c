/* SPDX-License-Identifier: MIT */
/*
 * Random trees, random plain policies, random operations: whatever works without a sandbox must be
 * allowed by the kernel under Landlock exactly where the engine allows it. SBX_SEED repeats a run.
 */
#include "grown.h"

#include "confined.h"

#define CASES 2000

static struct grown grown;
static int newest;

/* An entry, or sometimes a new name beside or below it. */
static const char *some_path(unsigned int fresh)
{
	const char *path = grown_some(&grown)->path;

	return chance(10) < fresh ? at("r/%s/new", path) : at("r/%s", path);
}

static struct attempt some_attempt(void)
{
	static char path[PATH_MAX], to[PATH_MAX];
	struct attempt attempt = { .act = (enum act)chance(ACT_COUNT), .path = path };
	bool makes = acts[attempt.act].op == SBX_OP_CREATE && attempt.act != ACT_THROUGH;

	snprintf(path, sizeof(path), "%s", some_path(makes ? 10 : 0));
	snprintf(to, sizeof(to), "%s", some_path(attempt.act == ACT_EXCHANGE ? 0 : 6));
	attempt.to = acts[attempt.act].op == SBX_OP_RENAME ? to : NULL;
	return attempt;
}

/* What the last round found. */
static struct {
	unsigned int cases, allowed, refused, unheld, bound, wrong;
} tally;

static bool is_bound(const struct attempt *attempt)
{
	struct answer answers[2];

	engine_asks(attempt->image, "/", attempt->act, attempt->path, attempt->to, answers);
	return grown_bound(&grown, attempt->image, answers[0].at.path,
			   attempt->to ? answers[0].to.path : NULL);
}

static void compare(const struct sbx_image *image, uid_t uid, const char *policy)
{
	struct attempt attempt = { 0 };
	bool should;
	int code = ENOENT;

	/* Only what works without a sandbox can be compared. */
	for (int tries = 0; code && tries < 10; tries++) {
		attempt = some_attempt();
		code = in_child(uid, attempt_body, &attempt);
	}
	if (code)
		return;
	if (acts[attempt.act].op != SBX_OP_READ && acts[attempt.act].op != SBX_OP_LIST &&
	    acts[attempt.act].op != SBX_OP_EXEC)
		grown_plant(&grown);
	attempt.image = image;
	attempt.abi = 1 + (int)chance((unsigned int)newest * 2);
	attempt.abi = attempt.abi > newest ? newest : attempt.abi;
	should = kernel_should(image, attempt.abi, attempt.act, attempt.path, attempt.to);
	code = in_child(uid, attempt_body, &attempt);
	tally.cases++;
	tally.allowed += should;
	tally.refused += !should;
	if (should ? code == 0 : is_refusal(code))
		return;
	if (!should && is_bound(&attempt)) {
		tally.bound++;
		return;
	}
	tally.wrong++;
	diag("ABI %d: %s %s %s: the engine says %d, the kernel %s, under\n%s", attempt.abi,
	     acts[attempt.act].name, attempt.path, attempt.to ? attempt.to : "", should,
	     strerror(code), policy);
}

static void one_round(uid_t uid)
{
	struct sbx_policy *policy;
	char text[2048];

	grown_grow(&grown);
	grown_plant(&grown);
	grown_policy(&grown, text, sizeof(text));
	policy = load_rules(text);
	if (!policy)
		return;
	if (launch_landlock_unheld(sbx_policy_image(policy), NULL) == SBX_NONE)
		compare(sbx_policy_image(policy), uid, text);
	else
		tally.unheld++;
	sbx_free(policy);
}

static void run(uid_t uid, const char *who, unsigned int cases)
{
	memset(&tally, 0, sizeof(tally));
	grown.uid = uid;
	while (tally.cases < cases && tally.wrong < 20)
		one_round(uid);
	cmp_ok(tally.wrong, "==", 0, "engine and kernel agree on %u cases %s", tally.cases, who);
	ok(tally.allowed > cases / 10 && tally.refused > cases / 10,
	   "of which %u were allowed, %u refused", tally.allowed, tally.refused);
	note("%u policies could not be held by plain rules, %u cases were about a file that a rule "
	     "names",
	     tally.unheld, tally.bound);
}

int main(void)
{
	newest = launch_landlock_abi();
	if (!newest)
		plan(SKIP_ALL, "this kernel has no Landlock");
	plan(NO_PLAN);
	chance_begin();
	tree_begin_fast();
	snprintf(grown.root, sizeof(grown.root), "%s", at("r"));
	if (getuid() == 0) {
		run(0, "as root", CASES / 2);
		run(NOBODY, "as an ordinary user", CASES / 2);
	} else {
		run(0, "as an ordinary user", CASES);
	}
	done_testing();
}
