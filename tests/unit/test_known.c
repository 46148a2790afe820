/* SPDX-License-Identifier: MIT */
/*
 * Paths that need no look: only those on whose way the program can change nothing, that lead where the
 * kernel lets it read, or nowhere; and not for long.
 */
#include "known.h"

#include "load.h"

static struct launch_error error;

#define NOW 5000

static const char policy_text[] = ALONE "protect = no\n"
					"[paths]\n"
					"read = ./system, ./mixed, /proc, /dev\n"
					"write = ./work, ./system/open\n"
					"deny = ./mixed/secret\n";

static const struct {
	const char *path;
	enum launch_knowledge expected;
	const char *why;
} rows[] = {
	{ "system/lib/a", KNOWN_OPEN,
	  "a file that can be read, and nothing on its way be changed" },
	{ "system/lib", KNOWN_OPEN, "its folder" },
	{ "lib/a", KNOWN_OPEN, "through a link that cannot be changed" },
	{ "system/lib/../lib/./a", KNOWN_OPEN, "with dots" },
	{ "system/lib/none", KNOWN_OPEN, "what is not there" },
	{ "none/at/all", KNOWN_OPEN, "where there is not even a folder" },
	{ "system/lib/a/b", KNOWN_ASK, "what is behind a file" },
	{ "outside/a", KNOWN_ASK, "what no rule allows" },
	{ "system/away", KNOWN_ASK, "a link to what no rule allows" },
	{ "work/a", KNOWN_ASK, "a file in a place that can be changed" },
	{ "work/none", KNOWN_ASK, "what could be made" },
	{ "work/link", KNOWN_ASK, "a link in such a place" },
	{ "system/round", KNOWN_ASK, "a link to such a link" },
	{ "system/into", KNOWN_ASK, "a link that dangles in such a place" },
	{ "work/../system/lib/a", KNOWN_ASK, "by way of such a place" },
	{ "system/open/a", KNOWN_ASK, "below a folder of its own that can be changed" },
	{ "system/opener/a", KNOWN_OPEN, "its neighbour" },
	{ "mixed/a", KNOWN_ASK, "what the broker opens, for what is denied beside it" },
	{ "mixed/secret", KNOWN_ASK, "what is denied" },
	{ "mixed/none", KNOWN_ASK, "what the broker would open once it is there" },
	{ "outside/none", KNOWN_OPEN, "what is missing where nothing may be read" },
};

static void test_rows(struct launch_known *known)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const char *path = tree_path(rows[i].path);

		cmp_ok(launch_known_find(known, path, NOW), "==", KNOWN_NOT, "not learnt: %s",
		       rows[i].path);
		launch_known_learn(known, path, NOW);
		cmp_ok(launch_known_find(known, path, NOW), "==", rows[i].expected, "%s: %s",
		       rows[i].path, rows[i].why);
	}
}

static void test_others(struct launch_known *known)
{
	static const char *const each[] = { "/proc/self/status", "/proc", "/dev/stdin",
					    "/dev/null" };
	char text[KNOWN_LEN + 8];

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		launch_known_learn(known, each[i], NOW);
		cmp_ok(launch_known_find(known, each[i], NOW), "==", KNOWN_ASK,
		       "%s is another one for each process", each[i]);
	}
	launch_known_learn(known, "system/lib/a", NOW);
	cmp_ok(launch_known_find(known, "system/lib/a", NOW), "==", KNOWN_ASK,
	       "a relative path is another one for each process");
	memset(text, '/', sizeof(text));
	text[KNOWN_LEN - 1] = '\0';
	launch_known_learn(known, text, NOW);
	cmp_ok(launch_known_find(known, text, NOW), "!=", KNOWN_NOT, "the longest path is learnt");
	text[KNOWN_LEN - 1] = '/';
	text[KNOWN_LEN] = '\0';
	launch_known_learn(known, text, NOW);
	cmp_ok(launch_known_find(known, text, NOW), "==", KNOWN_ASK, "a longer one is not");
}

static void test_time(struct launch_known *known)
{
	const char *path = tree_path("system/lib/b"), *other = tree_path("system/lib/bb");

	launch_known_learn(known, path, NOW);
	cmp_ok(launch_known_find(known, path, NOW + 999), "==", KNOWN_OPEN, "for a second");
	cmp_ok(launch_known_find(known, path, NOW + 1000), "==", KNOWN_NOT, "and no longer");
	cmp_ok(launch_known_find(known, other, NOW), "==", KNOWN_NOT,
	       "what begins alike is not known for that");
	if (unlink(path) < 0 || symlink(tree_path("work/a"), path) < 0)
		BAIL_OUT("cannot make a link");
	launch_known_learn(known, path, NOW + 1000);
	cmp_ok(launch_known_find(known, path, NOW + 1000), "==", KNOWN_ASK,
	       "what others have changed is learnt anew");
}

/* More paths than there is room for: one that is forgotten is no harm, one that is mistaken would be. */
static void test_many(struct launch_known *known)
{
	char allowed[PATH_MAX + 32], refused[PATH_MAX + 32];
	unsigned int wrong = 0, found = 0;

	for (int i = 0; i < 3000; i++) {
		snprintf(allowed, sizeof(allowed), "%s/system/lib/n%d", tree_root, i);
		snprintf(refused, sizeof(refused), "%s/work/n%d", tree_root, i);
		launch_known_learn(known, allowed, NOW);
		launch_known_learn(known, refused, NOW);
	}
	for (int i = 0; i < 3000; i++) {
		snprintf(allowed, sizeof(allowed), "%s/system/lib/n%d", tree_root, i);
		snprintf(refused, sizeof(refused), "%s/work/n%d", tree_root, i);
		found += launch_known_find(known, allowed, NOW) == KNOWN_OPEN;
		wrong += launch_known_find(known, allowed, NOW) == KNOWN_ASK;
		wrong += launch_known_find(known, refused, NOW) == KNOWN_OPEN;
	}
	cmp_ok(wrong, "==", 0, "no path is taken for another");
	cmp_ok(found, ">", 100, "%u of 3000 are remembered", found);
}

int main(void)
{
	struct sbx_policy *policy;
	struct launch_known *known;
	struct launch_hold hold;

	plan(NO_PLAN);
	tree_begin();
	tree_file("system/lib/a", "", 0644);
	tree_file("system/lib/b", "", 0644);
	tree_file("system/open/a", "", 0644);
	tree_file("system/opener/a", "", 0644);
	tree_file("outside/a", "", 0644);
	tree_file("work/a", "", 0644);
	tree_file("mixed/a", "", 0644);
	tree_file("mixed/secret", "", 0644);
	tree_link("lib", "system/lib");
	tree_link("work/link", tree_path("system/lib/a"));
	tree_link("system/away", "../outside/a");
	tree_link("system/round", "../work/link");
	tree_link("system/into", "../work/made-later");
	policy = load_text(policy_text);
	if (launch_hold_make(sbx_policy_image(policy), true, NULL, &hold, &error) < 0)
		BAIL_OUT("%s", error.text);
	known = launch_known_new(&hold);
	if (!known)
		BAIL_OUT("out of memory");
	test_rows(known);
	test_others(known);
	test_time(known);
	test_many(known);
	launch_known_free(known);
	launch_hold_done(&hold);
	sbx_free(policy);
	done_testing();
}
