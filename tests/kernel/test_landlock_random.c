/* SPDX-License-Identifier: MIT */
/*
 * Random trees, random plain policies, random operations: whatever works without a sandbox must be
 * allowed by the kernel under Landlock exactly where the engine allows it. SBX_SEED repeats a run.
 */
#include "confined.h"

#include <time.h>

#define CASES 2000

static uint64_t seed;
static int newest;

static unsigned int chance(unsigned int below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed >> 11) % below);
}

/* Entries of the tree, relative to "r"; the same choices make the same tree again. */
static struct {
	char path[64];
	char kind; /* '/', 'f', or 'l' */
	char target[64];
} entries[16];
static size_t entry_count;

static const char *const names[] = { "a", "ab", "b", "f", "f.x" };

static void grow(const char *folder, int depth)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		unsigned int kind = chance(depth == 3 ? 8 : 10);

		if (kind < 3 || entry_count == sizeof(entries) / sizeof(entries[0]))
			continue;
		snprintf(entries[entry_count].path, sizeof(entries[0].path), "%s%s%s", folder,
			 *folder ? "/" : "", names[i]);
		entries[entry_count].kind = kind < 6 ? 'f' : kind == 6 ? 'l' : '/';
		snprintf(entries[entry_count].target, sizeof(entries[0].target), "%s%s",
			 chance(2) ? "../" : "", names[chance(5)]);
		if (entries[entry_count++].kind == '/' && depth < 3)
			grow(entries[entry_count - 1].path, depth + 1);
	}
}

static void plant(uid_t uid)
{
	wipe(at("r"));
	put(at("r/"), uid);
	for (size_t i = 0; i < entry_count; i++) {
		if (entries[i].kind == 'l')
			put_link(at("r/%s", entries[i].path), entries[i].target, uid);
		else
			put(at("r/%s%s", entries[i].path, entries[i].kind == '/' ? "/" : ""), uid);
	}
}

/* An entry, or sometimes a new name beside or below it. */
static const char *some_path(unsigned int fresh)
{
	const char *path = entry_count ? entries[chance((unsigned int)entry_count)].path : "none";

	return chance(10) < fresh ? at("r/%s/new", path) : at("r/%s", path);
}

static void write_policy(char *out, size_t size)
{
	static const char *const keys[] = { "read", "write", "write", "exec", "deny" };
	static const char *const modes[] = { "ro", "rw", "rx", "rwx", "none" };
	size_t used = (size_t)snprintf(out, size, "[paths]\n");
	unsigned int sections = chance(3) ? 0 : 1 + chance(2);

	for (unsigned int i = 1 + chance(4); i > 0; i--)
		used += (size_t)snprintf(out + used, size - used, "%s = %s\n", keys[chance(5)],
					 chance(8) ? some_path(0) : at("r"));
	for (unsigned int i = 0; i < sections; i++)
		used += (size_t)snprintf(out + used, size - used,
					 "[path p%u]\nroot = %s\nmode = %s\n", i, some_path(0),
					 modes[chance(5)]);
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

/* True when a rule names this place or one inside it. */
static bool is_named(const struct sbx_image *image, const char *path)
{
	size_t len = strlen(path);

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const char *named = sbx_str(image, sbx_rules(image)[i].path);

		if (!strncmp(named, path, len) && (!named[len] || named[len] == '/'))
			return true;
	}
	return false;
}

/*
 * The kernel's rules are bound to files, the engine's to names: where a named file is moved, or
 * moved over, the kernel moves its rights along and may allow what the engine refuses.
 */
static bool is_bound(const struct attempt *attempt)
{
	return attempt->to &&
	       (is_named(attempt->image, attempt->path) || is_named(attempt->image, attempt->to));
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
		plant(uid);
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

	entry_count = 0;
	grow("", 1);
	plant(uid);
	write_policy(text, sizeof(text));
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
	while (tally.cases < cases && tally.wrong < 20)
		one_round(uid);
	cmp_ok(tally.wrong, "==", 0, "engine and kernel agree on %u cases %s", tally.cases, who);
	ok(tally.allowed > cases / 10 && tally.refused > cases / 10,
	   "of which %u were allowed, %u refused", tally.allowed, tally.refused);
	note("%u policies could not be held by plain rules, %u cases moved a rule's own file",
	     tally.unheld, tally.bound);
}

int main(void)
{
	const char *given = getenv("SBX_SEED");

	newest = launch_landlock_abi();
	if (!newest)
		plan(SKIP_ALL, "this kernel has no Landlock");
	plan(NO_PLAN);
	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
	seed = seed ? seed : 1;
	note("SBX_SEED=%llu", (unsigned long long)seed);
	tree_begin_fast();
	if (getuid() == 0) {
		run(0, "as root", CASES / 2);
		run(NOBODY, "as an ordinary user", CASES / 2);
	} else {
		run(0, "as an ordinary user", CASES);
	}
	done_testing();
}
