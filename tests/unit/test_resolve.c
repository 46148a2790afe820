/* SPDX-License-Identifier: MIT */
/*
 * Where a path leads: a table of cases, and random ones in which the kernel itself is the judge.
 */
#include "resolve.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "tree.h"

/* The result, "" for the tree's root and relative to it, or the name of the error. */
static const char *resolve_in(const char *cwd, const char *path, unsigned int flags,
			      struct sbx_resolve_cache *cache, struct sbx_resolved *out)
{
	int error = sbx_resolve_path(cwd, path, flags, cache, out);
	size_t len = strlen(tree_root);

	if (error < 0)
		return strerrorname_np(-error);
	if (strncmp(out->path, tree_root, len) || (out->path[len] && out->path[len] != '/'))
		return out->path;
	return out->path[len] ? out->path + len + 1 : "";
}

static void build(void)
{
	tree_dir("work/sub/deep");
	tree_dir("work-evil");
	tree_file("work/file", "12345", 0644);
	tree_file("work/sub/deep/leaf", "", 0600);
	tree_link("work/to-sub", "sub");
	tree_link("work/to-deep", "to-sub/deep");
	tree_link("work/to-file", "file");
	tree_link("work/slashed", "sub/");
	tree_link("work/slashed-file", "file/");
	tree_link("work/up", "../work-evil");
	tree_link("work/absolute", tree_path("work/sub"));
	tree_link("work/root", "/");
	tree_link("work/dangling", "sub/new");
	tree_link("work/dangling-far", "none/new");
	tree_link("work/loop", "loop");
	tree_link("work/ping", "pong");
	tree_link("work/pong", "ping");
	tree_link("work/dot", ".");
	tree_link("work/dotdot", "..");
}

static const struct {
	const char *path; /* relative to work */
	unsigned int flags;
	const char *expected;
	const char *name;
} cases[] = {
	{ "file", 0, "work/file", "a file is where it is" },
	{ "./file", 0, "work/file", "'.' is skipped" },
	{ ".//./sub///deep", 0, "work/sub/deep", "'//' and '.' in the middle are skipped" },
	{ ".", 0, "work", "'.' alone is the cwd" },
	{ "", 0, "ENOENT", "an empty path is missing" },
	{ "..", 0, "", "'..' leads up" },
	{ "../work-evil", 0, "work-evil", "a look-alike is another place" },
	{ "sub/", 0, "work/sub", "a folder may have a slash behind it" },
	{ "sub/.", 0, "work/sub", "and a dot behind that" },
	{ "file/", 0, "ENOTDIR", "a file may not" },
	{ "file/.", 0, "ENOTDIR", "'.' needs a folder" },
	{ "file/..", 0, "ENOTDIR", "'..' needs a folder" },
	{ "file/x", SBX_RESOLVE_MISSING, "ENOTDIR", "nothing can be in a file" },
	{ "to-file", 0, "work/file", "a link is followed" },
	{ "to-file", SBX_RESOLVE_NOFOLLOW, "work/to-file", "but not with NOFOLLOW" },
	{ "to-sub/deep", SBX_RESOLVE_NOFOLLOW, "work/sub/deep", "links on the way always are" },
	{ "to-sub", SBX_RESOLVE_NOFOLLOW, "work/to-sub", "a last link to a folder is kept" },
	{ "to-sub/", SBX_RESOLVE_NOFOLLOW, "work/sub", "unless a slash stands behind it" },
	{ "to-sub/.", SBX_RESOLVE_NOFOLLOW, "work/sub", "or a dot" },
	{ "to-file/", SBX_RESOLVE_NOFOLLOW, "ENOTDIR", "and then it must be a folder" },
	{ "slashed", 0, "work/sub", "a link's text may end in a slash" },
	{ "slashed-file", 0, "ENOTDIR", "and then means a folder too" },
	{ "to-deep/leaf", 0, "work/sub/deep/leaf", "links lead through links" },
	{ "to-deep/..", 0, "work/sub", "'..' is taken after following" },
	{ "to-deep/../..", 0, "work", "twice as well" },
	{ "up/../work/file", 0, "work/file", "'..' behind a link that leads up" },
	{ "absolute/deep", 0, "work/sub/deep", "an absolute link starts over" },
	{ "dot/dot/dot/file", 0, "work/file", "a link to '.'" },
	{ "dotdot/work/dotdot", 0, "", "a link to '..'" },
	{ "root", 0, "/", "a link to the root" },
	{ "root/..", 0, "/", "above the root is the root" },
	{ "root/", SBX_RESOLVE_NOFOLLOW, "/", "the root with a slash" },
	{ "loop", 0, "ELOOP", "a link to itself" },
	{ "loop", SBX_RESOLVE_NOFOLLOW, "work/loop", "which may be looked at" },
	{ "ping/x", SBX_RESOLVE_MISSING, "ELOOP", "a circle of two" },
	{ "new", 0, "ENOENT", "what is missing is an error" },
	{ "new", SBX_RESOLVE_MISSING, "work/new", "or kept, with MISSING" },
	{ "new/", SBX_RESOLVE_MISSING, "work/new", "as a folder too" },
	{ "new/./a//b", SBX_RESOLVE_MISSING, "work/new/a/b", "with all that follows" },
	{ "new/..", SBX_RESOLVE_MISSING, "ENOENT", "but nothing is above it" },
	{ "new/../file", SBX_RESOLVE_MISSING, "ENOENT", "nor beside it" },
	{ "dangling", 0, "ENOENT", "a dangling link" },
	{ "dangling", SBX_RESOLVE_MISSING, "work/sub/new", "leads to what is missing" },
	{ "dangling", SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, "work/dangling", "or not" },
	{ "dangling-far", SBX_RESOLVE_MISSING, "work/none/new", "also over a missing folder" },
	{ "dangling/x", SBX_RESOLVE_MISSING, "work/sub/new/x", "also on the way" },
};

static void test_cases(void)
{
	struct sbx_resolve_cache *cache = sbx_resolve_cache_new();
	struct sbx_resolved out;
	const char *work = tree_path("work");
	unsigned int bad = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(resolve_in(work, cases[i].path, cases[i].flags, NULL, &out), cases[i].expected,
		   "%s", cases[i].name);
	for (size_t round = 0; round < 200; round++) {
		unsigned int place = round % 2 ? SBX_RESOLVE_PLACE : 0;

		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
			bad += strcmp(resolve_in(work, cases[i].path, cases[i].flags | place, cache,
						 &out),
				      cases[i].expected) != 0;
	}
	cmp_ok(bad, "==", 0, "a cache never changes an answer");
	sbx_resolve_cache_free(cache);
	sbx_resolve_cache_free(NULL);
}

static void test_facts(void)
{
	struct sbx_resolved out = { .path = "untouched" };
	const char *work = tree_path("work");
	size_t root_len = strlen(tree_root);

	sbx_resolve_path(work, "none", 0, NULL, &out);
	is(out.path, "untouched", "a failure leaves the result alone");
	ok(!sbx_resolve_path(work, "file", 0, NULL, &out), "a file is found");
	cmp_ok(out.size, "==", 5, "its size is told");
	ok(S_ISREG(out.mode) && (out.mode & 0777) == 0644, "and its mode");
	ok(!out.through_link, "no link was on the way");
	cmp_ok(out.existing, "==", strlen(out.path), "and all of it exists");
	ok(!sbx_resolve_path(work, "to-sub", 0, NULL, &out), "a link to a folder is found");
	ok(S_ISDIR(out.mode) && out.size == -1 && out.through_link, "as a folder behind a link");
	ok(!sbx_resolve_path(work, "to-sub", SBX_RESOLVE_NOFOLLOW, NULL, &out), "or as itself");
	ok(S_ISLNK(out.mode) && !out.through_link, "which is a link");
	ok(!sbx_resolve_path(work, "sub/x/y", SBX_RESOLVE_MISSING, NULL, &out), "a missing tail");
	cmp_ok(out.existing, "==", root_len + strlen("/work/sub"), "begins where it begins");
	ok(out.mode == 0 && out.size == -1, "and has no mode and no size");
	ok(!sbx_resolve_path("/", "/sbx-none", SBX_RESOLVE_MISSING, NULL, &out), "below the root");
	cmp_ok(out.existing, "==", 1, "the root exists");
	ok(!sbx_resolve_path("/", "/", 0, NULL, &out) && S_ISDIR(out.mode), "the root is found");
	is(out.path, "/", "as '/'");
	ok(!sbx_resolve_path("/", "///", 0, NULL, &out), "with more slashes too");
	is(out.path, "/", "as '/'");
	cmp_ok(sbx_resolve_path("work", "file", 0, NULL, &out), "==", -EINVAL,
	       "a cwd must be absolute");
	ok(!sbx_resolve_path("work", "/", 0, NULL, &out), "where it is needed");
}

static void test_lengths(void)
{
	static char path[2 * PATH_MAX];
	struct sbx_resolved out;

	memset(path, 'n', NAME_MAX);
	ok(!sbx_resolve_path(tree_root, path, SBX_RESOLVE_MISSING, NULL, &out), "NAME_MAX fits");
	path[NAME_MAX] = 'n';
	cmp_ok(sbx_resolve_path(tree_root, path, SBX_RESOLVE_MISSING, NULL, &out),
	       "==", -ENAMETOOLONG, "one more does not");
	for (size_t i = 0; i < PATH_MAX; i++)
		path[i] = i % 2 ? 'd' : '/';
	path[PATH_MAX - 1] = '\0';
	ok(!sbx_resolve_path("/", path, SBX_RESOLVE_MISSING, NULL, &out),
	   "a path may be as long as one can be");
	path[PATH_MAX - 1] = 'd';
	cmp_ok(sbx_resolve_path("/", path, SBX_RESOLVE_MISSING, NULL, &out), "==", -ENAMETOOLONG,
	       "and no longer");
	path[PATH_MAX - 3] = '\0';
	cmp_ok(sbx_resolve_path(tree_root, path + 1, SBX_RESOLVE_MISSING, NULL, &out),
	       "==", -ENAMETOOLONG, "also with the cwd in front");
	memset(path, '/', PATH_MAX - 1);
	path[PATH_MAX - 1] = '\0';
	ok(!sbx_resolve_path("/", path, 0, NULL, &out), "slashes do not count");
}

/* 40 links are followed, the 41st is not. */
static void test_forty_links(void)
{
	char name[32], target[32] = "end";
	struct sbx_resolved out;

	tree_file("chain/end", "", 0644);
	for (int i = 1; i <= 41; i++) {
		snprintf(name, sizeof(name), "chain/%d", i);
		tree_link(name, target);
		snprintf(target, sizeof(target), "%d", i);
	}
	is(resolve_in(tree_path("chain"), "40", 0, NULL, &out), "chain/end",
	   "40 links are followed");
	is(resolve_in(tree_path("chain"), "41", 0, NULL, &out), "ELOOP", "41 are too many");
}

static void test_proc(void)
{
	struct sbx_resolved out;
	char path[64], expected[64];
	int ends[2], deleted, folder;

	snprintf(expected, sizeof(expected), "/proc/%d/status", (int)getpid());
	ok(!sbx_resolve_path("/", "/proc/self/status", 0, NULL, &out), "/proc/self is a link");
	is(out.path, expected, "to this process");
	if (chdir(tree_path("work")) < 0 || pipe(ends) < 0)
		BAIL_OUT("no pipe");
	is(resolve_in("/", "/proc/self/cwd/file", 0, NULL, &out), "work/file",
	   "/proc/self/cwd leads on");
	is(resolve_in("/proc/self", "cwd/to-sub/..", 0, NULL, &out), "work", "and back");
	is(resolve_in("/", "/proc/self/root/", 0, NULL, &out), "/", "/proc/self/root is the root");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[0]);
	snprintf(expected, sizeof(expected), "/proc/%d/fd/%d", (int)getpid(), ends[0]);
	is(resolve_in("/", path, 0, NULL, &out), expected, "a pipe is its own place");
	ok(S_ISFIFO(out.mode), "and a pipe");
	is(resolve_in("/", path, SBX_RESOLVE_NOFOLLOW, NULL, &out), expected, "or its link");
	ok(S_ISLNK(out.mode), "when that is wanted");
	deleted = open(tree_file("gone", "secret", 0644), O_RDONLY);
	unlink(tree_path("gone"));
	tree_file("gone (deleted)", "bait", 0644);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", deleted);
	snprintf(expected, sizeof(expected), "/proc/%d/fd/%d", (int)getpid(), deleted);
	is(resolve_in("/", path, 0, NULL, &out), expected,
	   "a deleted file is not what its text names");
	cmp_ok(out.size, "==", 6, "but it has its size");
	folder = open(tree_dir("gone-dir"), O_RDONLY);
	rmdir(tree_path("gone-dir"));
	snprintf(path, sizeof(path), "/proc/self/fd/%d/x", folder);
	is(resolve_in("/", path, SBX_RESOLVE_MISSING, NULL, &out), "ELOOP",
	   "nothing leads on through a folder that has no name");
	close(ends[0]);
	close(ends[1]);
	close(deleted);
	close(folder);
}

/* As a user that has no rights in work/closed; returns how many answers were wrong. */
static int ask_closed(void)
{
	struct sbx_resolved out;
	const char *work = tree_path("work");

	if (geteuid() == 0 && setuid(65534) < 0)
		return 99;
	return !!strcmp(resolve_in(work, "closed/x", 0, NULL, &out), "EACCES") +
	       !!strcmp(resolve_in(work, "closed/x", SBX_RESOLVE_MISSING, NULL, &out), "EACCES") +
	       !!strcmp(resolve_in(work, "closed/.", 0, NULL, &out), "EACCES") +
	       !!strcmp(resolve_in(work, "closed/..", 0, NULL, &out), "EACCES") +
	       !!strcmp(resolve_in(work, "closed", 0, NULL, &out), "work/closed") +
	       !!strcmp(resolve_in(work, "closed/", 0, NULL, &out), "work/closed");
}

static void test_closed(void)
{
	int status = -1;
	pid_t child;

	tree_file("work/closed/x", "", 0644);
	chmod(tree_path("work/closed"), 0600);
	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit(ask_closed());
	waitpid(child, &status, 0);
	cmp_ok(status, "==", 0, "a folder that may not be searched answers EACCES");
}

/* Many names of one folder make the cache list it; then answers must still be the same. */
static void test_listing(void)
{
	struct sbx_resolve_cache *cache = sbx_resolve_cache_new();
	struct sbx_resolved out;
	unsigned int bad = 0;
	char name[64], expected[64];

	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "many/file%d", i);
		tree_file(name, "x", 0640);
		snprintf(name, sizeof(name), "many/link%d", i);
		snprintf(expected, sizeof(expected), "file%d", i);
		tree_link(name, expected);
	}
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "link%d", i);
		snprintf(expected, sizeof(expected), "many/file%d", i);
		bad += !!strcmp(resolve_in(tree_path("many"), name, SBX_RESOLVE_PLACE, cache, &out),
				expected) ||
		       !out.through_link;
		snprintf(name, sizeof(name), "none%d", i);
		bad += !!strcmp(resolve_in(tree_path("many"), name, SBX_RESOLVE_PLACE, cache, &out),
				"ENOENT");
	}
	cmp_ok(bad, "==", 0, "names of a listed folder are answered as others are");
	ok(!sbx_resolve_path(tree_path("many"), "file7", 0, cache, &out) && out.size == 1 &&
		   (out.mode & 0777) == 0640,
	   "and size and mode are still told to those who want them");
	sbx_resolve_cache_free(cache);
}

static unsigned int random_state;

static unsigned int roll(unsigned int sides)
{
	random_state = random_state * 1103515245u + 12345u;
	return (random_state >> 16) % sides;
}

/* Up to six of: names a to d, "." and "..", with one or two slashes between. */
static void random_path(char *path, size_t size)
{
	static const char *const parts[] = { "a", "b", "c", "d", "a", "b", ".", ".." };
	unsigned int count = 1 + roll(6);
	size_t len = 0;

	for (unsigned int i = 0; i < count; i++)
		len += (size_t)snprintf(path + len, size - len, "%s%s", parts[roll(8)],
					i + 1 < count || !roll(4) ? roll(5) ? "/" : "//" : "");
}

/* Whether something new at 'path' would stand inside the random tree: its links lead out too. */
static bool is_inside(const char *path)
{
	char folder[PATH_MAX], real[PATH_MAX];
	const char *random = tree_path("random");
	size_t len = strlen(random);

	snprintf(folder, sizeof(folder), "%s", path);
	*strrchr(folder, '/') = '\0';
	return realpath(folder, real) && !strncmp(real, random, len) &&
	       (!real[len] || real[len] == '/');
}

static void random_tree(void)
{
	char name[256] = "random/", target[256];

	for (int i = 0; i < 60; i++) {
		const char *path;

		random_path(name + strlen("random/"), sizeof(name) - strlen("random/"));
		path = tree_path(name);
		random_path(target, sizeof(target));
		if (!is_inside(path))
			continue;
		if (roll(3))
			mkdir(path, 0755);
		else if (roll(2))
			close(open(path, O_WRONLY | O_CREAT | O_EXCL, 0644));
		else if (symlink(target, path) < 0)
			continue;
	}
}

/* What the kernel says, in the words of resolve_in(). */
static const char *kernel_says(const char *path, bool follow, char out[PATH_MAX])
{
	char link[64];
	size_t root_len = strlen(tree_root);
	int fd = open(path, O_PATH | (follow ? 0 : O_NOFOLLOW));
	ssize_t len;

	if (fd < 0)
		return strerrorname_np(errno);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, out, PATH_MAX - 1);
	close(fd);
	out[len < 0 ? 0 : len] = '\0';
	if (!strncmp(out, tree_root, root_len) && (!out[root_len] || out[root_len] == '/'))
		return out + root_len + (out[root_len] == '/');
	return out;
}

static void test_random(void)
{
	struct sbx_resolve_cache *cache = NULL;
	char name[256] = "random/", kernel[PATH_MAX];
	struct sbx_resolved out;
	const char *given = getenv("SBX_SEED");
	unsigned int seed =
		given ? (unsigned int)strtoul(given, NULL, 0) : (unsigned int)time(NULL);
	unsigned int bad = 0;

	random_state = seed;
	tree_dir("random");
	random_tree();
	for (int i = 0; i < 20000; i++) {
		unsigned int flags = roll(2) ? SBX_RESOLVE_NOFOLLOW : 0;
		const char *says, *path;

		if (i % 1000 == 0) {
			sbx_resolve_cache_free(cache);
			random_tree();
			cache = sbx_resolve_cache_new();
		}
		random_path(name + strlen("random/"), sizeof(name) - strlen("random/"));
		path = tree_path(name);
		says = kernel_says(path, !flags, kernel);
		if (!strcmp(says, resolve_in("/", path, flags, NULL, &out)) &&
		    !strcmp(says, resolve_in("/", path, flags, cache, &out)) &&
		    !strcmp(says, resolve_in("/", path, flags | SBX_RESOLVE_PLACE, cache, &out)))
			continue;
		if (!bad++)
			diag("%s, flags %u: the kernel says %s", path, flags, says);
	}
	sbx_resolve_cache_free(cache);
	cmp_ok(bad, "==", 0, "the kernel agrees in 20,000 random cases (SBX_SEED=%u)", seed);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	build();
	test_cases();
	test_facts();
	test_lengths();
	test_forty_links();
	test_proc();
	test_closed();
	test_listing();
	test_random();
	done_testing();
}
