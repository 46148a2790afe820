/* SPDX-License-Identifier: MIT */
/* What sbx makes of Landlock without asking the kernel: rights by ABI, what rules cannot hold. */
#include "landlock.h"
#include "landlock_abi.h"
#include "tree.h"

#include <errno.h>
#include <linux/landlock.h> /* must be able to stand beside ours */

#define R SBX_RIGHT_READ
#define W SBX_RIGHT_WRITE
#define X SBX_RIGHT_EXEC

static const struct {
	int abi;
	int fs_rights; /* how many, from bit 0 up */
	uint64_t net;
	uint64_t scoped;
} abis[] = {
	{ 1, 13, 0, 0 }, { 2, 14, 0, 0 }, { 3, 15, 0, 0 }, { 4, 15, 3, 0 },
	{ 5, 16, 3, 0 }, { 6, 16, 3, 3 }, { 7, 16, 3, 3 },
};

static void test_abis(void)
{
	for (size_t i = 0; i < sizeof(abis) / sizeof(abis[0]); i++) {
		const struct ll_ruleset *abi = &ll_abis[abis[i].abi];

		cmp_ok((intmax_t)abi->fs, "==", (1 << abis[i].fs_rights) - 1,
		       "ABI %d has %d rights on files", abis[i].abi, abis[i].fs_rights);
		ok(abi->net == abis[i].net && abi->scoped == abis[i].scoped,
		   "ABI %d has the right ports and scopes", abis[i].abi);
	}
	cmp_ok(sizeof(abis) / sizeof(abis[0]), "==", LL_ABI_MAX, "every ABI was looked at");
	cmp_ok(sizeof(struct ll_path_rule), "==", sizeof(struct landlock_path_beneath_attr),
	       "a path rule has the kernel's size");
	cmp_ok((intmax_t)LL_MAKE_SYM, "==", (intmax_t)LANDLOCK_ACCESS_FS_MAKE_SYM,
	       "rights have the kernel's numbers");
	for (int i = 0; launch_landlock_gaps[i].abi; i++)
		cmp_ok(launch_landlock_gaps[i].abi, "<=", LL_ABI_MAX, "gap %d: %s", i,
		       launch_landlock_gaps[i].what);
}

#define FOLDER_WRITE                                                                   \
	(LL_READ_FILE | LL_WRITE_FILE | LL_REMOVE_DIR | LL_REMOVE_FILE | LL_MAKE_DIR | \
	 LL_MAKE_REG | LL_MAKE_SOCK | LL_MAKE_FIFO | LL_MAKE_SYM)

static const struct {
	uint8_t rights;
	mode_t mode;
	bool dev;
	int abi;
	uint64_t access;
	const char *name;
} maps[] = {
	{ R, S_IFDIR, false, 7, LL_READ_FILE | LL_READ_DIR, "read of a folder" },
	{ R, S_IFREG, false, 7, LL_READ_FILE, "read of a file" },
	{ W, S_IFREG, false, 7, LL_READ_FILE | LL_WRITE_FILE | LL_TRUNCATE, "write of a file" },
	{ W, S_IFREG, false, 2, LL_READ_FILE | LL_WRITE_FILE, "write of a file, ABI 2" },
	{ W, S_IFDIR, false, 1, FOLDER_WRITE, "write of a folder, ABI 1" },
	{ W, S_IFDIR, false, 2, FOLDER_WRITE | LL_REFER, "ABI 2 adds refer" },
	{ W, S_IFDIR, false, 7, FOLDER_WRITE | LL_REFER | LL_TRUNCATE, "ABI 3 adds truncate" },
	{ X, S_IFDIR, false, 7, LL_EXECUTE | LL_READ_FILE, "exec of a folder" },
	{ R | X, S_IFREG, false, 7, LL_EXECUTE | LL_READ_FILE, "exec of a file" },
	{ R, S_IFCHR, false, 5, LL_READ_FILE | LL_IOCTL_DEV, "a device anywhere has ioctl" },
	{ R, S_IFBLK, false, 4, LL_READ_FILE, "before ABI 5 nobody asks" },
	{ R, S_IFDIR, true, 7, LL_READ_FILE | LL_READ_DIR | LL_IOCTL_DEV, "and what is in /dev" },
	{ X, S_IFCHR, true, 7, LL_EXECUTE | LL_READ_FILE, "but not for exec alone" },
	{ SBX_RIGHT_SOCKET, S_IFSOCK, false, 7, 0, "a socket needs no right on its file" },
	{ 0, S_IFDIR, true, 7, 0, "nothing is nothing" },
};

static void test_maps(void)
{
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		cmp_ok((intmax_t)launch_landlock_access(maps[i].rights, maps[i].mode, maps[i].dev,
							maps[i].abi),
		       "==", (intmax_t)maps[i].access, "%s", maps[i].name);
	for (int abi = 1; abi <= LL_ABI_MAX; abi++) {
		uint64_t all = launch_landlock_access(SBX_RIGHTS_ALL, S_IFDIR, true, abi);
		uint64_t file = launch_landlock_access(SBX_RIGHTS_ALL, S_IFCHR, true, abi);

		ok(!(all & (LL_MAKE_CHAR | LL_MAKE_BLOCK)), "ABI %d: devices are never made", abi);
		ok(!(all & ~ll_abis[abi].fs), "ABI %d: nothing that it does not know", abi);
		ok(!(file & ~LL_FILE_RIGHTS), "ABI %d: a file gets no folder's rights", abi);
	}
}

/* 'T' stands for the tree. 'text' is the rule that cannot be held, NULL when all can. */
static const struct {
	const char *policy;
	const char *text;
	const char *why;
	const char *name;
} cases[] = {
	{ "[paths]\nread = T/a\nwrite = T/b\nexec = T/c\n", NULL, NULL, "plain rules" },
	{ "[paths]\nread = T/a\nwrite = T/a/sub\n", NULL, NULL, "more rights inside" },
	{ "[paths]\nwrite = T/a\nread = T/a/sub\n", NULL, NULL, "fewer in a list take nothing" },
	{ "[paths]\nread = T/a\ndeny = T/a/sub\n", "deny = T/a/sub", "takes", "deny inside" },
	{ "[paths]\nread = T/a\nhide = T/a/sub\n", "hide = T/a/sub", "takes", "hide inside" },
	{ "[paths]\nread = T/a\ndeny = T/b\nhide = T/c\n", NULL, NULL, "deny of the rest" },
	{ "[paths]\nread = T/a\ndeny = T/a\n", NULL, NULL, "deny of the very same" },
	{ "[paths]\nread = T/a, T/a/sub\ndeny = T/a\n", NULL, NULL, "and a root below it" },
	{ "[paths]\nread = T/a\ndeny = T/a-evil\n", NULL, NULL, "deny of a look-alike" },
	{ "[paths]\nread = T/a\ndeny = T/a/none\n", "deny = T/a/none", "takes",
	  "deny of what does not exist" },
	{ "[paths]\nread = T/a\ndeny = T/b/*\n", NULL, NULL, "a pattern with nothing to deny" },
	{ "[paths]\nread = T/b/sub\ndeny = T/b/*\n", "deny = T/b/*", "pattern", "with something" },
	{ "[paths]\nread = T/b-evil\ndeny = T/b/*\n", NULL, NULL, "a look-alike is not something" },
	{ "[paths]\nread = T/a\nhide = /**/.env\n", "hide = /**/.env", "pattern", "** hides" },
	{ "[paths]\nread = T/a\ndeny = T/a/*.key\n", "deny = T/a/*.key", "pattern", "* denies" },
	{ "[paths]\nread = T/*/sub\n", "read = T/*/sub", "pattern", "a pattern that adds" },
	{ "[paths]\nread = T/a, T/a/*\n", NULL, NULL, "a pattern that adds nothing" },
	{ "[paths]\nread = T/a\nwrite = T/a/*\n", "write = T/a/*", "pattern", "that adds writing" },
	{ "[paths]\nwrite = T/new\n", "write = T/new", "exist", "a root to be created" },
	{ "[paths]\nwrite = T/a, T/a/new/deep\n", NULL, NULL, "to be created in a writable one" },
	{ "[paths]\nread = T/a\nwrite = T/a/new\n", "write = T/a/new", "exist",
	  "in a readable one" },
	{ "[paths]\nread = T/none ?\n", NULL, NULL, "an optional root that is absent" },
	{ "[path p]\nroot = T/a\nmode = rwx\n", NULL, NULL, "a section" },
	{ "[paths]\nread = T/a\n[path p]\nroot = T/a/sub\nmode = rw\n", NULL, NULL, "that adds" },
	{ "[paths]\nread = T/a\n[path p]\nroot = T/a/sub\nmode = ro\n", NULL, NULL, "the same" },
	{ "[paths]\nwrite = T/a\n[path p]\nroot = T/a/sub\nmode = ro\n", "mode = ro in [path p]",
	  "takes", "a section that takes writing" },
	{ "[paths]\nread = T/a\n[path p]\nroot = T/a/sub\nmode = none\n", "mode = none in [path p]",
	  "takes", "that takes all" },
	{ "[paths]\nread = T/a\n[path p]\nroot = T/b\nmode = none\n", NULL, NULL, "of nothing" },
	{ "[paths]\nwrite = T/a\n[path p]\nroot = T/a\nmode = ro\n", NULL, NULL,
	  "a section beats the list on its own place" },
	{ "[paths]\nexec = T/a\n[path p]\nroot = T/a/sub\nmode = rw\n", "mode = rw in [path p]",
	  "takes", "a section that swaps rights" },
	{ "[path p]\nroot = T/a\nmode = rw\nsuffixes = .md\n", "mode = rw in [path p]", "endings",
	  "suffixes" },
	{ "[path p]\nroot = T/a\nmode = none\nsuffixes = .md\n", NULL, NULL, "of nothing" },
	{ "[path p]\nroot = T/a\nmode = ro\nmax_file_bytes = 1M\n", "mode = ro in [path p]",
	  "sizes", "sizes" },
	{ "[path p]\nroot = T/new\nmode = rw\n", "mode = rw in [path p]", "exist",
	  "a section to be created" },
	{ "[paths]\nread = T/a\ndeny = T/link\n", "deny = T/link", "takes",
	  "a denied link denies what it leads to" },
	{ "[paths]\nread = /\n", NULL, NULL, "the whole system" },
	{ "[paths]\nread = /\ndeny = T/a\n", "deny = T/a", "takes", "less one folder" },
	{ "[network]\nconnect = unix:T/sock\ndeny = unix:T/a/sock\n[paths]\nread = T/a\n", NULL,
	  NULL, "sockets are another matter" },
	{ "[sandbox]\nworkspace = T/a\n", NULL, NULL, "default protections do not count" },
};

/* "T" becomes the tree's root where it begins a path. */
static void spell(char *out, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + strlen(tree_root) + 2 < size; text++)
		if (*text == 'T' && text[1] == '/')
			used += (size_t)snprintf(out + used, size - used, "%s", tree_root);
		else
			out[used++] = *text;
	out[used] = '\0';
}

static struct sbx_policy *load(const char *text)
{
	static const struct sbx_assign none = { "sandbox", "include", "none", "--include" };
	char ini[4096], *file;
	const char *files[1];
	struct sbx_load load = {
		.files = files, .file_count = 1, .trust = true, .options = &none, .option_count = 1
	};
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;

	spell(ini, sizeof(ini), text);
	file = tree_file("policy.ini", ini, 0600);
	files[0] = file;
	if (sbx_load(&load, &policy, &errors) < 0)
		diag("%s: %s", ini, errors.count ? errors.list[0].text : "cannot be loaded");
	return policy;
}

static void test_unheld(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sbx_policy *policy = load(cases[i].policy);
		const struct sbx_image *image;
		const char *why = NULL;
		char text[1024] = "";
		uint32_t rule;

		if (!ok(policy != NULL, "policy %zu loads", i))
			continue;
		image = sbx_policy_image(policy);
		rule = launch_landlock_unheld(image, &why);
		spell(text, sizeof(text), cases[i].text ? cases[i].text : "");
		is(rule == SBX_NONE ? "" : sbx_str(image, sbx_rules(image)[rule].text), text, "%s",
		   cases[i].name);
		if (cases[i].why)
			like(why, cases[i].why, "and says why");
		else
			ok(!why, "and has nothing to say");
		cmp_ok(launch_landlock_unheld(image, NULL), "==", rule, "why may be NULL");
		sbx_free(policy);
	}
}

static void test_open_errors(void)
{
	struct sbx_policy *policy = load("[paths]\nread = T/gone, T/a\n");
	struct launch_place place = { tree_path("nowhere"), R, 0, 0 };
	struct launch_landlock landlock;
	struct launch_error error = { "" };
	const struct sbx_image *image = sbx_policy_image(policy);

	rmdir(tree_path("gone"));
	cmp_ok(launch_landlock_open(image, NULL, NULL, 0, &landlock, &error), "==", -ENOENT,
	       "a root that vanished is an error");
	like(error.text, "/gone' .*gone", "that names it");
	tree_link("gone", "a");
	cmp_ok(launch_landlock_open(image, NULL, NULL, 0, &landlock, &error), "==", -ELOOP,
	       "one that became a link is an error");
	like(error.text, "/gone' .*link", "that names it");
	unlink(tree_path("gone"));
	tree_dir("gone");
	cmp_ok(launch_landlock_open(image, NULL, &place, 1, &landlock, &error), "==", -ENOENT,
	       "so is a place that does not exist");
	like(error.text, "/nowhere'", "that names it");
	cmp_ok(launch_landlock_open(image, NULL, NULL, 0, &landlock, &error), "==", 0,
	       "else all is well");
	cmp_ok(launch_landlock_ruleset(&landlock, 0, LAYER_PROGRAM, &error), "==", -EINVAL,
	       "there is no ABI 0");
	cmp_ok(launch_landlock_ruleset(&landlock, LL_ABI_MAX + 1, LAYER_PROGRAM, &error),
	       "==", -EINVAL, "and none beyond the table");
	launch_landlock_done(&landlock);
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	tree_dir("a/sub");
	tree_dir("a-evil");
	tree_dir("b/sub");
	tree_dir("b-evil");
	tree_dir("c");
	tree_dir("gone");
	tree_link("link", "a/sub");
	test_abis();
	test_maps();
	test_unheld();
	test_open_errors();
	done_testing();
}
