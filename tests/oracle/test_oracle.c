/* SPDX-License-Identifier: MIT */
/*
 * What the broker does must be what the kernel would have done. Random calls with random arguments
 * are made in two copies of a random tree, bare in one and under the broker in the other: results,
 * errors, what can be told of descriptors, and what becomes of the trees must be the same.
 *
 * In all copies everything is allowed. Default protections have all writing brokered, and a place
 * that is denied, which no call leads to, all reading too.
 *
 * SBX_SEED repeats a run, SBX_CASES says how many cases there are to be.
 */
#include "oracle.h"

#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define CASES 3200
#define BATCH 25
#define SHOWN 6
#define PATIENCE_MS 30000

struct side {
	const char *name;
	char top[PATH_MAX]; /* what is allowed; the tree is deeper, so that dot-dot stays inside */
	char root[PATH_MAX + 8];
	pid_t pid;
	int to, from;
	struct doer_result result;
	char *picture;
};

static struct side bare = { .name = "bare" }, boxed = { .name = "brokered" };
static struct plot plot;
static unsigned int wrong, succeeded, opened, renamed, kept;

/* --- The programs --- */

static const char *from_build(const char *name)
{
	return at("build/%s", name);
}

static void copy(const char *name, const char *to)
{
	const char *build = getenv("SBX_BUILD");

	plot_shell("cp -rL %s/%s %s && chmod -R go+rX %s", build ? build : "build/release", name,
		   from_build(to), at("build"));
}

static void prepare(void)
{
	if (mkdir(at("build"), 0755) < 0 || mkdir(from_build("bin"), 0755) < 0 ||
	    mkdir(from_build("lib"), 0755) < 0)
		BAIL_OUT("no folders");
	copy("bin/sbx-launch", "bin/");
	copy("lib/libsbx-shim.so", "lib/");
	copy("share", "");
	copy("tests/oracle/programs", "");
}

/* Nothing in a sandbox has capabilities, and the other one must not have any either. */
static void drop_all(uid_t uid)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	for (int cap = 0; !uid && getuid() == 0 && prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0; cap++)
		;
	(void)syscall(SYS_capset, &header, none);
}

_Noreturn static void start(const struct side *side, const char *doer, uid_t uid,
			    const char *policy)
{
	if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		_exit(BROKEN);
	if (chdir(side->top) < 0)
		_exit(BROKEN);
	if (side == &bare) {
		drop_all(uid);
		execl(doer, doer, side->root, (char *)NULL);
	} else if (freopen("/dev/null", "w", stderr)) {
		execl(from_build("bin/sbx-launch"), "sbx-launch", "-q", "--trust", "-p", policy,
		      "--workspace", side->top, "--", doer, side->root, (char *)NULL);
	}
	_exit(BROKEN);
}

static void hear(struct side *side)
{
	struct pollfd answer = { .fd = side->from, .events = POLLIN };

	if (poll(&answer, 1, PATIENCE_MS) != 1 ||
	    read(side->from, &side->result, sizeof(side->result)) != sizeof(side->result)) {
		kill(side->pid, SIGKILL);
		BAIL_OUT("the one that is %s does not answer", side->name);
	}
}

static void begin(struct side *side, const char *doer, uid_t uid, const char *policy)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		BAIL_OUT("no pipes");
	side->pid = fork();
	if (side->pid == 0) {
		signal(SIGPIPE, SIG_DFL);
		if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
			_exit(BROKEN);
		start(side, doer, uid, policy);
	}
	close(to[0]);
	close(from[1]);
	side->to = to[1];
	side->from = from[0];
	hear(side);
}

static void end(struct side *side)
{
	int status;

	close(side->to);
	if (waitpid(side->pid, &status, 0) != side->pid || status != 0)
		BAIL_OUT("the one that is %s has ended badly: %#x", side->name, status);
	close(side->from);
}

/* --- Cases --- */

static void act(struct side *side, const struct doer_case *what)
{
	const char *bytes = (const char *)what;
	ssize_t part;

	for (size_t done = 0; done < sizeof(*what); done += (size_t)part) {
		part = write(side->to, bytes + done, sizeof(*what) - done);
		if (part < 0)
			BAIL_OUT("the one that is %s does not listen", side->name);
	}
	hear(side);
	free(side->picture);
	side->picture = plot_picture(side->root);
}

/*
 * The one difference that is known: what is there is opened through its descriptor, and the kernel
 * does not keep in mind then that no link was to be followed.
 */
static void forgive(struct doer_result *result)
{
	if (result->value >= 0)
		result->status_flags &= ~O_NOFOLLOW;
}

static bool same_result(const struct doer_result *a, const struct doer_result *b)
{
	return a->value == b->value && a->descriptor_flags == b->descriptor_flags &&
	       a->status_flags == b->status_flags && a->mode == b->mode && a->size == b->size &&
	       a->offsets[0] == b->offsets[0] && a->offsets[1] == b->offsets[1] &&
	       a->link_error == b->link_error;
}

static bool are_same(void)
{
	forgive(&bare.result);
	forgive(&boxed.result);
	return same_result(&bare.result, &boxed.result) && bare.picture && boxed.picture &&
	       !strcmp(bare.picture, boxed.picture);
}

/* Whether the program cannot look into a folder, or into one below it. */
static bool is_closed(const char *path)
{
	char *const roots[] = { (char *)(uintptr_t)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	bool closed = false;

	for (FTSENT *entry; fts && (entry = fts_read(fts));) {
		const struct stat *st = entry->fts_statp;
		unsigned int wanted = st->st_uid == plot.uid   ? 0500
				      : st->st_gid == plot.uid ? 0050
							       : 0005;

		closed |= entry->fts_info == FTS_DNR ||
			  (entry->fts_info == FTS_D && (st->st_mode & wanted) != wanted);
	}
	if (fts)
		fts_close(fts);
	return closed;
}

/* openat2() for a mere name, which nobody can hand over: then there is no such call. */
static bool is_unserved(const struct doer_case *what)
{
	bool names = what->flags & O_PATH || (what->flags & O_ACCMODE) == O_ACCMODE;

	return what->call == DO_OPENAT2 && names && boxed.result.value == -ENOSYS;
}

/*
 * What the policy wants otherwise: a folder that cannot be looked through, for the repositories in it,
 * is not moved. What is refused has changed nothing, so it can be looked at still.
 */
static bool is_kept(const struct doer_case *what)
{
	const char *names[] = { what->path, what->to };
	int64_t value = boxed.result.value;

	if ((what->call != DO_RENAME && what->call != DO_RENAMEAT2) ||
	    (value != -EXDEV && value != -EACCES))
		return false;
	for (int i = 0; i < 2; i++) {
		bool based = i == 0 ? what->dir == DIR_FOLDER : what->to_dir == DIR_FOLDER;
		bool whole = *names[i] == *DOER_TEXT;
		char path[3 * DOER_PATH];
		struct stat st;

		snprintf(path, sizeof(path), "%s/%s/%s", boxed.root,
			 based && !whole && what->call == DO_RENAMEAT2 ? what->base : "",
			 names[i] + whole);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && is_closed(path))
			return true;
	}
	return false;
}

static void show_result(const struct side *side)
{
	const struct doer_result *result = &side->result;

	diag("  %s: %lld (%s), FD %#o FL %#o mode %#o size %lld, offsets %lld %lld, link: %s",
	     side->name, (long long)result->value,
	     result->value < 0 ? strerror((int)-result->value) : "success",
	     result->descriptor_flags, result->status_flags, result->mode, (long long)result->size,
	     (long long)result->offsets[0], (long long)result->offsets[1],
	     strerror(result->link_error));
}

static void show_lines(void)
{
	const char *a = bare.picture, *b = boxed.picture;

	while (*a && *b && strcspn(a, "\n") == strcspn(b, "\n") &&
	       !strncmp(a, b, strcspn(a, "\n"))) {
		a += strcspn(a, "\n") + 1;
		b += strcspn(b, "\n") + 1;
	}
	if (*a || *b)
		diag("  trees differ: '%.*s' and '%.*s'", (int)strcspn(a, "\n"), a,
		     (int)strcspn(b, "\n"), b);
}

static void complain(const struct doer_case *what, const char *before)
{
	if (wrong++ >= SHOWN)
		return;
	draw_show(what);
	show_result(&bare);
	show_result(&boxed);
	show_lines();
	diag("  before:\n%s", before);
}

static void plant(void)
{
	plot_plant(&plot, bare.root);
	plot_plant(&plot, boxed.root);
	free(bare.picture);
	bare.picture = plot_picture(bare.root);
}

/* Whether it is the same in both. */
static bool try(const struct doer_case *what)
{
	char *before = strdup(bare.picture);
	bool same;

	act(&bare, what);
	act(&boxed, what);
	same = are_same();
	succeeded += bare.result.value >= 0;
	opened += what->call == DO_OPENAT2;
	renamed += what->call == DO_RENAME || what->call == DO_RENAMEAT2;
	if (!same && (is_kept(what) || is_unserved(what)))
		kept++;
	else if (!same)
		complain(what, before);
	free(before);
	return same;
}

static void batch(void)
{
	static struct doer_case what;
	bool same = true;

	plot_grow(&plot);
	plant();
	for (int i = 0; i < BATCH && same; i++) {
		draw(&plot, &what);
		same = try(&what);
	}
}

/* What is rare among random ones, and was wrong once: second names for folders, one's own and others'. */
static void try_folders(void)
{
	static const struct plot_entry folders[] = {
		{ "ours", '/', "", 0755, false },	 { "ours/inner", '/', "", 0755, false },
		{ "theirs", '/', "", 0755, true },	 { "theirs/inner", '/', "", 0755, true },
		{ "theirs/ours", '/', "", 0755, false }, { "theirs/closed", '/', "", 0700, true },
	};
	static struct doer_case what;

	plot.count = sizeof(folders) / sizeof(folders[0]);
	memcpy(plot.entries, folders, sizeof(folders));
	plant();
	for (size_t from = 0; from < plot.count; from++)
		for (size_t to = 0; to < plot.count; to++) {
			what = (struct doer_case){ .call = DO_LINK };
			snprintf(what.path, sizeof(what.path), "%s", folders[from].path);
			snprintf(what.to, sizeof(what.to), "%s/new", folders[to].path);
			(void)try(&what);
		}
}

static void compare(const char *name, const char *doer, const char *rules, unsigned int cases)
{
	uid_t uid = getuid() == 0 ? plot.uid : 0;
	const char *policy = at("policy.ini");
	FILE *file = fopen(policy, "we");

	if (!file || fprintf(file, "%s", rules) < 0 || fclose(file) != 0)
		BAIL_OUT("cannot write %s", policy);
	wrong = succeeded = opened = renamed = kept = 0;
	plot_grow(&plot);
	plant();
	begin(&bare, doer, uid, policy);
	begin(&boxed, doer, uid, policy);
	try_folders();
	for (unsigned int done = 0; done < cases && wrong < SHOWN; done += BATCH)
		batch();
	end(&bare);
	end(&boxed);
	cmp_ok(wrong, "==", 0, "%s: %u calls, %u of openat2, %u of rename, %u that worked", name,
	       cases, opened, renamed, succeeded);
	cmp_ok(kept, "<", cases / 50 + 5, "and %u folders that cannot be looked through stayed",
	       kept);
}

static void compare_all(uid_t uid, const char *who, unsigned int cases)
{
	const char *both = at("boxed/denied");
	char deny[PATH_MAX + 64], name[128];

	plot.uid = uid;
	snprintf(deny, sizeof(deny), "[sandbox]\nisolate = none\n[paths]\ndeny = %s\n", both);
	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "%s, %s, %s", i & 1 ? "static" : "with the shim",
			 i & 2 ? "reading and writing brokered" : "writing brokered", who);
		compare(name, from_build(i & 1 ? "programs/doer-static" : "programs/doer"),
			i & 2 ? deny : "", cases);
	}
}

static void lay_out(struct side *side, const char *name)
{
	snprintf(side->top, sizeof(side->top), "%s", at("%s", name));
	snprintf(side->root, sizeof(side->root), "%s/u/v/w", side->top);
	if (mkdir(side->top, 0755) < 0 || mkdir(at("%s/u", name), 0755) < 0 ||
	    mkdir(at("%s/u/v", name), 0755) < 0 || mkdir(side->root, 0755) < 0 ||
	    mkdir(at("%s/denied", name), 0700) < 0)
		BAIL_OUT("no folders for trees");
	/* What is made above the tree would stay there. */
	if (chmod(at("%s/u/v", name), 0555) < 0 || chmod(at("%s/u", name), 0555) < 0 ||
	    chmod(side->top, 0555) < 0)
		BAIL_OUT("cannot close the folders above");
}

int main(void)
{
	const char *given = getenv("SBX_CASES");
	unsigned int cases = given ? (unsigned int)strtoul(given, NULL, 10) : CASES;

	if (launch_landlock_abi() < 3)
		plan(SKIP_ALL, "this kernel's Landlock does not hold renaming and truncating");
	plan(NO_PLAN);
	chance_begin();
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	/* Not in /dev, where there is nothing to protect. */
	tree_begin();
	prepare();
	/* Names of one length, so that what is too long in one place is so in the other. */
	lay_out(&bare, "naked");
	lay_out(&boxed, "boxed");
	if (getuid() == 0)
		compare_all(0, "as root", cases / 8);
	plot.uid = NOBODY;
	compare_all(getuid() == 0 ? NOBODY : getuid(), "as an ordinary user",
		    cases / (getuid() == 0 ? 8 : 4));
	done_testing();
}
