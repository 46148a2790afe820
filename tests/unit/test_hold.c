/* SPDX-License-Identifier: MIT */
/*
 * Who holds what: the kernel is given nothing that a rule takes away somewhere below, and everything
 * that none does.
 */
#include "hold.h"

#include "load.h"

#include <sys/stat.h>
#include <unistd.h>

#define TEXT 2048

static struct launch_error error;

static void read_classes(uint8_t classes, char out[8])
{
	static const char letters[] = "rxwc";
	size_t len = 0;

	for (int i = 0; i < 4; i++)
		if (classes & (1 << i))
			out[len++] = letters[i];
	out[len] = '\0';
}

/* What the kernel grants, place by place: "work=rx work/a=rwc". */
struct row {
	const char *rules;
	const char *expected;
	const char *brokered;
};

static const struct row rows[] = {
	{ "[paths]\nread = ./work\n", "work=r work/a=r", "" },
	{ "[sandbox]\nprotect = no\n[paths]\nwrite = ./work\n",
	  "work=rwc work/a=rwc work-evil=", "" },
	{ "[paths]\nwrite = ./work\n", "work=r work/a=r work/f=r work-evil=", "wc" },
	{ "[sandbox]\nworkspace = ./work\n", "work=rx work/a=rx", "wc" },
	/* A file has nothing in it. */
	{ "[paths]\nwrite = ./work/f\n", "work= work/f=rw", "" },
	/* What is taken away somewhere cannot be granted above it, but beside it. */
	{ "[paths]\nread = ./work\ndeny = ./work/a\n", "work= work/a= work/f=", "r" },
	{ "[paths]\nread = ./work, ./work/b\ndeny = ./work/a\n", "work= work/b=r work/b/c=r", "r" },
	{ "[paths]\nread = ./work, ./work/a/c\ndeny = ./work/a\n", "work/a= work/a/c=r", "r" },
	{ "[paths]\nread = ./work, ./work-evil\ndeny = ./work/a\n", "work= work-evil=r", "r" },
	{ "[paths]\nread = ./work\ndeny = ./work-evil\n", "work=r", "" },
	{ "[paths]\nread = ./work\ndeny = ./**/.env\n", "work=", "r" },
	{ "[paths]\nread = ./work\ndeny = ./work-evil/*.x\n", "work=r", "" },
	{ "[paths]\nread = ./work\ndeny = ./work/none\n", "work=", "r" },
	/* Taking only the right to write costs no reading. */
	{ "[sandbox]\nprotect = no\n[paths]\nwrite = ./work\n[path p]\nroot = ./work/a\nmode = "
	  "ro\n",
	  "work=r work/a=r work/b=r", "wc" },
	{ "[paths]\nread = ./work\n[path p]\nroot = ./work/a\nmode = rw\nsuffixes = .md\n",
	  "work= work/a=", "rwc" },
	{ "[paths]\nread = ./work\n[path p]\nroot = ./work/a\nmode = ro\nmax_file_bytes = 1M\n",
	  "work= work/a=", "r" },
	/* Where nothing is yet, or a pattern says where. */
	{ "[sandbox]\nprotect = no\n[paths]\nwrite = ./work/new\n", "work= work/new=", "rwc" },
	{ "[paths]\nread = ./work/*.x\n", "work= work/f.x=", "r" },
	/* The policy itself. */
	{ "[sandbox]\nprotect = no\n[paths]\nwrite = .\n", ".=r work=r", "wc" },
};

static struct sbx_policy *load_row(const struct row *row)
{
	char text[1024], *item;

	snprintf(text, sizeof(text), "%s%s", strstr(row->rules, "[sandbox]") ? "" : "[sandbox]\n",
		 row->rules);
	item = strchr(text, '\n');
	memmove(item + 16, item, strlen(item) + 1);
	memcpy(item, "\ninclude = none\n", 16);
	return load_text(text);
}

static void check_row(const struct row *row)
{
	char expected[256], found[8], *rest = expected, *item;
	struct sbx_policy *policy = load_row(row);
	struct launch_hold hold;

	if (launch_hold_make(sbx_policy_image(policy), true, NULL, &hold, &error) < 0)
		BAIL_OUT("%s in\n%s", error.text, row->rules);
	snprintf(expected, sizeof(expected), "%s", row->expected);
	while ((item = strsep(&rest, " "))) {
		char *classes = strchr(item, '=');

		*classes++ = '\0';
		read_classes(launch_hold_at(&hold, strcmp(item, ".") ? tree_path(item) : tree_root),
			     found);
		is(found, classes, "'%s' at %s under %s", classes, item, row->rules);
	}
	read_classes(hold.brokered, found);
	is(found, row->brokered, "the rest is the broker's");
	launch_hold_done(&hold);
	sbx_free(policy);
}

/* The folders that the kernel lets be read beside what is denied: "work/b work/c". */
static const struct row besides[] = {
	{ "[paths]\nread = ./work\n", "", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a\n", "work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/none\n", "work/a work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/none/deeper\n", "work/a work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a/c\n", "work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a/none\n", "work/a/c work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/f\n", "work/a work/b", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a, ./work/b/none\n", "work/b/c", NULL },
	{ "[paths]\nwrite = ./work\ndeny = ./work/a\n", "work/b", NULL },
	{ "[sandbox]\nworkspace = ./work\n[paths]\ndeny = ./work/a\n", "work/b", NULL },
	/* Each once, and not what the kernel grants anyway. */
	{ "[paths]\nread = ./work, ./work/b\ndeny = ./work/a, ./work/b/none\n", "work/b/c", NULL },
	{ "[paths]\nread = ./work, ./work/b\ndeny = ./work/a\n", "", NULL },
	/* What can take anything away below, by any name or condition, */
	{ "[paths]\nread = ./work\ndeny = ./work/a, ./**/.env\n", "", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a, ./work/b/*.x\n", "", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a\n[path p]\nroot = ./work/b/c\nmode = ro\n"
	  "suffixes = .x\n",
	  "", NULL },
	{ "[paths]\nread = ./work\nhide = ./work/a\n", "", NULL },
	{ "[paths]\nread = ./work\ndeny = ./work/a\nhide = ./work-evil/none\n", "", NULL },
	/* or where such a folder could be moved. */
	{ "[paths]\nwrite = ./work, ./work-evil\ndeny = ./work/a, ./work-evil/**/.env\n", "",
	  NULL },
	{ "[paths]\nwrite = ./work, ./new*\ndeny = ./work/a\n[path p]\nroot = ./newer\nmode = "
	  "rw\nmax_file_bytes = 1M\n",
	  "", NULL },
	{ "[paths]\nwrite = ./work\nread = ./work-evil\ndeny = ./work/a, ./work-evil/**/.env\n",
	  "work/b", NULL },
};

static void check_beside(const struct row *row)
{
	struct sbx_policy *policy = load_row(row);
	struct launch_hold hold;
	char found[256] = "";

	if (launch_hold_make(sbx_policy_image(policy), true, NULL, &hold, &error) < 0)
		BAIL_OUT("%s in\n%s", error.text, row->rules);
	for (size_t i = 0; i < hold.beside_count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s",
			 *found ? " " : "", hold.beside[i] + strlen(tree_root) + 1);
	is(found, row->expected, "'%s' beside what is denied under %s", row->expected, row->rules);
	launch_hold_done(&hold);
	ok(!launch_hold_make(sbx_policy_image(policy), false, NULL, &hold, &error) &&
		   !hold.beside_count,
	   "without Landlock none");
	launch_hold_done(&hold);
	sbx_free(policy);
}

/* What stands in the place of what a rule was about has no rule. */
static void test_replaced(void)
{
	struct sbx_policy *policy = load_text(
		ALONE "protect = no\n[paths]\nwrite = ./work, ./work/b\nread = ./work-evil\n"
		      "deny = ./work/a\n");
	struct launch_hold hold;

	if (launch_hold_make(sbx_policy_image(policy), true, NULL, &hold, &error) < 0)
		BAIL_OUT("%s", error.text);
	cmp_ok(launch_hold_at(&hold, tree_path("work/b/c")),
	       "==", HOLD_READ | HOLD_WRITE | HOLD_CHANGE, "a place in a place");
	if (rename(tree_path("work/b"), tree_path("work/b2")) < 0 ||
	    mkdir(tree_path("work/b"), 0755) < 0 ||
	    rename(tree_path("work-evil"), tree_path("work-evil2")) < 0)
		BAIL_OUT("cannot move folders");
	cmp_ok(launch_hold_at(&hold, tree_path("work/b/c")), "==", 0, "another in its place");
	cmp_ok(launch_hold_at(&hold, tree_path("work-evil/a")), "==", HOLD_READ,
	       "where nobody inside can change it, nobody looks");
	if (rmdir(tree_path("work/b")) < 0 ||
	    rename(tree_path("work/b2"), tree_path("work/b")) < 0 ||
	    rename(tree_path("work-evil2"), tree_path("work-evil")) < 0)
		BAIL_OUT("cannot move folders back");
	cmp_ok(launch_hold_at(&hold, tree_path("work/b")),
	       "==", HOLD_READ | HOLD_WRITE | HOLD_CHANGE, "and the same again");
	launch_hold_done(&hold);
	sbx_free(policy);
}

static void test_masks(void)
{
	struct sbx_policy *policy =
		load_text(ALONE "[paths]\nread = ./work\nexec = ./work\ndeny = ./work/a\n");
	const struct sbx_image *image = sbx_policy_image(policy);
	bool masked[1024] = { false };
	struct launch_hold hold;

	ok(launch_hold_make(image, true, NULL, &hold, &error) < 0,
	   "what is to be executed is not left to the broker");
	like(error.text,
	     "policy.ini:5: 'exec = ./work' cannot be enforced: .* what policy.ini:6 takes away by "
	     "deny = ./work/a there",
	     "and both lines are named");
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++)
		masked[i] = sbx_rules(image)[i].kind == SBX_RULE_DENY;
	ok(!launch_hold_make(image, true, masked, &hold, &error), "a mask makes it possible");
	cmp_ok(launch_hold_at(&hold, tree_path("work")), "==", HOLD_READ | HOLD_EXEC,
	       "and leaves both to the kernel");
	launch_hold_done(&hold);
	ok(!launch_hold_make(image, false, NULL, &hold, &error), "without Landlock");
	cmp_ok(launch_hold_at(&hold, tree_path("work/b")), "==", 0, "the kernel holds nothing");
	cmp_ok(hold.brokered, "==", HOLD_READ | HOLD_EXEC, "and the broker all");
	launch_hold_done(&hold);
	sbx_free(policy);
}

/* -- whatever the rules are: what the kernel grants, the engine allows */

static unsigned int state = 1;

static unsigned int chance(unsigned int below)
{
	state = state * 1103515245u + 12345u;
	return (state >> 16) % below;
}

static const char *const places[] = { "work",	  "work/a", "work/a/c",	 "work/b",
				      "work/b/c", "work/f", "work-evil", "work-evil/a" };
#define FILE_PLACE 5
static const char *const names[] = { "",	"/x",	 "/.env", "/a",		 "/c/y.x",
				     "/.npmrc", "/none", "/f.x",  "/.git/config" };

static const char *random_rule(char out[200])
{
	static const char *const keys[] = { "read", "write", "deny", "read" };
	static const char *const ends[] = { "", "", "", "/*.x", "/**/.env", "/none" };
	unsigned int key = chance(4), end = chance(6), place = chance(8);

	/* To read what is missing is an error, and there is nothing in a file. */
	if ((end == 5 && key != 2) || place == FILE_PLACE)
		end = 0;
	snprintf(out, 200, "%s = ./%s%s\n", keys[key], places[place], ends[end]);
	return out;
}

static bool agrees(const struct sbx_image *image, const struct launch_hold *hold, const char *path)
{
	static const struct {
		uint8_t class;
		enum sbx_op op;
	} asked[] = { { HOLD_READ, SBX_OP_READ }, { HOLD_WRITE, SBX_OP_WRITE } };
	uint8_t classes = launch_hold_at(hold, path);
	struct sbx_verdict verdict;

	for (size_t i = 0; i < hold->beside_count; i++)
		if (launch_is_within(path, hold->beside[i], strlen(hold->beside[i])))
			classes |= HOLD_READ;

	for (size_t i = 0; i < 2; i++) {
		struct sbx_request request = { .op = asked[i].op, .size = -1, .path = path };

		sbx_eval(image, &request, &verdict);
		if (classes & asked[i].class && !verdict.allowed) {
			diag("%s of %s", asked[i].op == SBX_OP_READ ? "reading" : "writing", path);
			return false;
		}
	}
	return true;
}

static void append(char text[TEXT], const char *more)
{
	size_t len = strlen(text);

	snprintf(text + len, TEXT - len, "%s", more);
}

static void test_random(void)
{
	unsigned int wrong = 0, held = 0, beside = 0;

	for (int round = 0; round < 500; round++) {
		char text[TEXT] = ALONE, rule[200], path[PATH_MAX];
		struct sbx_policy *policy;
		struct launch_hold hold;

		if (chance(2))
			append(text, "protect = no\n");
		append(text, "[paths]\n");
		for (unsigned int i = 0, count = 1 + chance(5); i < count; i++)
			append(text, random_rule(rule));
		policy = load_text(text);
		if (launch_hold_make(sbx_policy_image(policy), true, NULL, &hold, &error) < 0)
			BAIL_OUT("%s in\n%s", error.text, text);
		beside += hold.beside_count > 0;
		for (size_t p = 0; p < 8; p++) {
			for (size_t n = 0;
			     n < (p == FILE_PLACE ? 1 : sizeof(names) / sizeof(names[0])); n++) {
				snprintf(path, sizeof(path), "%s/%s%s", tree_root, places[p],
					 names[n]);
				held += launch_hold_at(&hold, path) != 0;
				if (!agrees(sbx_policy_image(policy), &hold, path)) {
					diag("under\n%s", text);
					wrong++;
				}
			}
		}
		launch_hold_done(&hold);
		sbx_free(policy);
	}
	cmp_ok(wrong, "==", 0, "the kernel is granted nothing that the engine refuses");
	cmp_ok(held, ">", 1000, "and it is granted something");
	cmp_ok(beside, ">", 20, "beside what is denied, too");
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (strcmp(places[i], "work/f") != 0)
			(void)tree_dir(places[i]);
	tree_file("work/f", "f", 0644);
	tree_file("work/f.x", "f", 0644);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check_row(&rows[i]);
	if (symlink("a", tree_path("work/link")) < 0)
		BAIL_OUT("cannot make a link");
	for (size_t i = 0; i < sizeof(besides) / sizeof(besides[0]); i++)
		check_beside(&besides[i]);
	test_replaced();
	test_masks();
	test_random();
	done_testing();
}
