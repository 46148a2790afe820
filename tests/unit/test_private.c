/* SPDX-License-Identifier: MIT */
/*
 * Folders of runs: where they are made, what is removed with them and what is not, and that killed
 * launchers leave nothing while living ones are left alone. As root and as an ordinary user.
 */
#include "private.h"
#include "erase.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "tree.h"

#define USER 65534

static struct sbx_policy *with_tmp, *with_home;
static const struct sbx_image *image;
static struct launch_error error;
static const char *const argv[] = { "node", "app.js", "a\nb\033[31m", NULL };

static struct sbx_policy *load(const char *name, const char *text)
{
	struct sbx_policy *policy;
	struct sbx_errors errors;
	const char *file = tree_file(name, text, 0644);

	if (sbx_load(&(struct sbx_load){ .files = &file, .file_count = 1, .trust = true }, &policy,
		     &errors) < 0)
		BAIL_OUT("%s", errors.list[0].text);
	return policy;
}

/* A run for a user, filled; nothing is left where that fails. */
static int make_run(const struct sbx_image *of, uid_t uid, struct launch_private *out)
{
	struct launch_private run;
	int failed = launch_private_make(uid != geteuid(), &run, &error);

	if (failed)
		return failed;
	failed = launch_private_fill(of, argv, uid, uid, &run, &error);
	if (failed)
		launch_private_remove(&run);
	else
		*out = run;
	return failed;
}

static void make(struct launch_private *run)
{
	if (make_run(image, geteuid(), run) < 0)
		BAIL_OUT("%s", error.text);
}

/* A place in a run's tmp; static. */
static const char *in(const struct launch_private *run, const char *name)
{
	static char path[2 * PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", run->tmp, name);
	return path;
}

static bool exists(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static mode_t mode_of(const char *path)
{
	struct stat stat;

	return lstat(path, &stat) < 0 ? 0 : stat.st_mode & 07777;
}

static int entries(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2;

	if (!dir)
		return -1;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0)
		BAIL_OUT("cannot write %s", path);
	close(fd);
}

/* TMPDIR in the tree, fresh, owned by the user who asks. */
static char *runtime(const char *name)
{
	char *path = tree_path(name);

	if (mkdir(path, 0700) < 0 || setenv("TMPDIR", path, 1) < 0)
		BAIL_OUT("cannot make %s", path);
	return path;
}

static void test_make(const char *user)
{
	char *base = runtime(user);
	struct launch_private run = { .lock = -1 }, other;
	mode_t mask = umask(0777);

	make(&run);
	umask(mask);
	ok(!strncmp(run.dir, base, strlen(base)) &&
		   !strncmp(run.dir + strlen(base), "/sbx/run.", 9),
	   "the run is below TMPDIR");
	ok(mode_of(run.base) == 0700 && mode_of(run.dir) == 0700 && mode_of(run.tmp) == 0700,
	   "base, run and tmp are 0700 whatever the umask");
	ok(!run.home[0], "there is no home where none is asked for");
	ok(fcntl(run.lock, F_GETFD) & FD_CLOEXEC, "the lock closes on exec");
	make(&other);
	ok(strcmp(run.dir, other.dir) != 0, "two runs have two folders");
	launch_private_remove(&other);
	ok(entries(run.base) == 1 && exists(run.dir) && other.lock == -1, "one is removed alone");
	launch_private_remove(&other);
	pass("twice does no harm");
	launch_private_remove(&run);
	ok(entries(base) == 1, "only the base is left");
	if (make_run(sbx_policy_image(with_home), geteuid(), &run) < 0)
		BAIL_OUT("%s", error.text);
	ok(!run.tmp[0] && mode_of(run.home) == 0700, "a private home comes without a tmp");
	launch_private_remove(&run);
}

/* What a program can leave behind to make its removal hard or dangerous. */
static void test_hostile_tree(void)
{
	struct launch_private run;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	char dir[PATH_MAX];
	int fd;

	make(&run);
	snprintf(dir, sizeof(dir), "%s", run.dir);
	if (mkdir(in(&run, "dir"), 0700) < 0 || symlink(tree_path("outside"), in(&run, "l1")) < 0 ||
	    symlink(tree_path("outside"), in(&run, "dir/l2")) < 0 ||
	    symlink(tree_path("outside/file"), in(&run, "l3")) < 0 ||
	    symlink("../../../../../outside", in(&run, "l4")) < 0 ||
	    symlink("..", in(&run, "dir/up")) < 0 || symlink("loop", in(&run, "loop")) < 0 ||
	    mkfifo(in(&run, "fifo"), 0600) < 0)
		BAIL_OUT("cannot build a tree");
	put(in(&run, "a\nb"));
	put(in(&run, "\xff\xfe"));
	put(in(&run, "-rf"));
	put(in(&run, "..."));
	if (link(tree_path("outside/file"), in(&run, "hard")) < 0)
		note("no hard link: %s", strerror(errno));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/tmp/sock", run.lock);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		BAIL_OUT("cannot bind %s", name.sun_path);
	launch_private_remove(&run);
	close(fd);
	ok(!exists(dir), "links, a FIFO, a socket and odd names are removed");
	ok(exists(tree_path("outside/file")) && exists(tree_path("outside/dir")),
	   "and what links lead to stays");
}

static void test_unreadable(void)
{
	static const mode_t modes[] = { 0, 0100, 0200, 0400, 0500, 0600 };
	struct launch_private run;
	char dir[PATH_MAX], name[64];

	make(&run);
	snprintf(dir, sizeof(dir), "%s", run.dir);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		snprintf(name, sizeof(name), "m%o", modes[i]);
		mkdir(in(&run, name), 0700);
		snprintf(name, sizeof(name), "m%o/inner", modes[i]);
		mkdir(in(&run, name), 0700);
		snprintf(name, sizeof(name), "m%o/inner/file", modes[i]);
		put(in(&run, name));
		snprintf(name, sizeof(name), "m%o/inner", modes[i]);
		chmod(in(&run, name), modes[i]);
		snprintf(name, sizeof(name), "m%o", modes[i]);
		chmod(in(&run, name), modes[i]);
	}
	chmod(run.tmp, 0);
	chmod(run.dir, 0);
	launch_private_remove(&run);
	ok(!exists(dir), "folders without rights are removed");
}

static int deepen(int fd, int levels)
{
	for (int i = 0; i < levels; i++) {
		int next;

		if (mkdirat(fd, "d", 0700) < 0)
			BAIL_OUT("cannot build a deep tree");
		next = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(openat(fd, "f", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		close(fd);
		fd = next;
	}
	return fd;
}

/* In memory, where there is a place: on a disk it takes long to make so many. */
static void test_deep(void)
{
	char memory[] = "/dev/shm/sbx-unit-XXXXXX", *before = getenv("TMPDIR");
	bool fast = mkdtemp(memory) != NULL;
	int levels = fast ? 10000 : 1000;
	struct launch_private run;
	char base[PATH_MAX];

	before = before ? strdup(before) : NULL;
	if (!before || (fast && setenv("TMPDIR", memory, 1) < 0))
		BAIL_OUT("no environment");
	make(&run);
	snprintf(base, sizeof(base), "%s", run.base);
	close(deepen(open(run.tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC), levels));
	launch_private_remove(&run);
	cmp_ok(entries(base), "==", 0, "%d levels are removed", levels);
	setenv("TMPDIR", before, 1);
	free(before);
	if (fast) {
		rmdir(base);
		rmdir(memory);
	}
}

static void test_wide(void)
{
	struct launch_private run;
	char dir[PATH_MAX], name[32];

	make(&run);
	snprintf(dir, sizeof(dir), "%s", run.dir);
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		mkdir(in(&run, name), 0700);
		snprintf(name, sizeof(name), "d%d/x", i);
		put(in(&run, name));
		snprintf(name, sizeof(name), "f%d", i);
		put(in(&run, name));
	}
	launch_private_remove(&run);
	ok(!exists(dir), "hundreds of folders and files are removed");
}

/* While another process goes on filling what is emptied, and moves folders about. */
static void test_filling(void)
{
	struct launch_private run;
	char dir[PATH_MAX], name[64];
	pid_t child;

	make(&run);
	snprintf(dir, sizeof(dir), "%s", run.dir);
	child = fork();
	if (!child) {
		for (unsigned int i = 0;; i++) {
			snprintf(name, sizeof(name), "d%u", i);
			mkdir(in(&run, name), 0700);
			snprintf(name, sizeof(name), "d%u/x", i);
			close(open(in(&run, name), O_WRONLY | O_CREAT, 0600));
			if (symlink(tree_path("outside"), in(&run, "swap")) < 0)
				rmdir(in(&run, "dir"));
			rename(in(&run, "swap"), in(&run, "dir"));
			mkdir(in(&run, "dir"), 0700);
		}
	}
	usleep(20000);
	alarm(100);
	launch_private_remove(&run);
	alarm(0);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	pass("who fills the run does not hold up its removal for ever");
	launch_private_sweep();
	ok(!exists(dir), "and the next start removes the rest");
	ok(exists(tree_path("outside/file")), "without following what was swapped in");
}

/* Starts a launcher that makes a run and waits to be killed. */
static pid_t launcher(struct launch_private *run)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) < 0)
		BAIL_OUT("no pipe");
	child = fork();
	if (!child) {
		make(run);
		if (write(ends[1], run, sizeof(*run)) != sizeof(*run))
			_exit(1);
		for (;;)
			pause();
	}
	close(ends[1]);
	for (size_t got = 0; got < sizeof(*run);) {
		ssize_t len = read(ends[0], (char *)run + got, sizeof(*run) - got);

		if (len <= 0)
			BAIL_OUT("the launcher failed");
		got += (size_t)len;
	}
	close(ends[0]);
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

struct seen {
	int count;
	int alive;
	struct launch_run last;
};

static void see(const struct launch_run *run, void *arg)
{
	struct seen *seen = arg;

	/* Others on this machine have runs too. */
	if (!strstr(run->policy, tree_root))
		return;
	seen->count++;
	seen->alive += run->launcher != 0;
	seen->last = *run;
}

static void test_killed(void)
{
	struct launch_private dead, alive;
	pid_t victim = launcher(&dead), other = launcher(&alive);
	struct seen seen = { 0 };

	launch_private_sweep();
	ok(exists(dead.tmp) && exists(alive.tmp), "a sweep leaves living runs alone");
	cmp_ok(launch_private_list(see, &seen), ">=", 2, "both are listed");
	ok(seen.count == 2 && seen.alive == 2, "as living");
	end(victim);
	memset(&seen, 0, sizeof(seen));
	launch_private_list(see, &seen);
	ok(seen.count == 2 && seen.alive == 1, "a killed one is listed as gone");
	cmp_ok(launch_private_sweep(), ">=", 1, "and swept");
	ok(!exists(dead.dir) && exists(alive.tmp), "while the living one stays");
	memset(&seen, 0, sizeof(seen));
	launch_private_list(see, &seen);
	cmp_ok(seen.last.launcher, "==", other, "the launcher is known");
	is(seen.last.command, "node app.js a\\nb\\x1b[31m", "and its command, safe to print");
	like(seen.last.policy, "tmp.ini$", "and its policy");
	is(seen.last.id, strrchr(alive.dir, '.') + 1, "and its id");
	ok(seen.last.started > 0 && seen.last.started <= time(NULL), "and when it started");
	end(other);
	cmp_ok(launch_private_sweep(), ">=", 1, "the last one is swept");
	cmp_ok(entries(alive.base), "==", 0, "and nothing is left");
}

/* Kills makers at any moment while others sweep: a living run must never lose its folder. */
static void test_random_kills(void)
{
	char base[PATH_MAX];
	struct launch_private run;
	int bad = 0;

	make(&run);
	snprintf(base, sizeof(base), "%s", run.base);
	for (int i = 0; i < 100; i++) {
		pid_t child = fork();

		if (!child)
			for (struct launch_private mine;;) {
				launch_private_sweep();
				make(&mine);
				put(in(&mine, "file"));
				if (i % 2)
					launch_private_remove(&mine);
			}
		usleep((useconds_t)(rand() % 4000));
		end(child);
		bad += !exists(run.tmp);
	}
	cmp_ok(bad, "==", 0, "100 killed launchers do not touch a living one");
	launch_private_sweep();
	cmp_ok(entries(base), "==", 1, "and after the next start nothing of them is left");
	launch_private_remove(&run);
}

static void test_sweepers(void)
{
	enum {
		SWEEPERS = 4,
		ROUNDS = 100
	};
	char base[PATH_MAX];
	struct launch_private run;
	pid_t children[SWEEPERS];
	int status, failed = 0;

	make(&run);
	snprintf(base, sizeof(base), "%s", run.base);
	for (int i = 0; i < 200; i++) {
		char name[PATH_MAX + 32];

		snprintf(name, sizeof(name), "%s/run.left%d", base, i);
		mkdir(name, 0700);
		snprintf(name, sizeof(name), "%s/run.left%d/tmp", base, i);
		mkdir(name, 0700);
	}
	for (int i = 0; i < SWEEPERS; i++)
		if (!(children[i] = fork())) {
			for (int round = 0; round < ROUNDS; round++) {
				struct launch_private mine;

				make(&mine);
				put(in(&mine, "file"));
				launch_private_sweep();
				if (!exists(in(&mine, "file")))
					_exit(1);
				launch_private_remove(&mine);
			}
			_exit(0);
		}
	for (int i = 0; i < SWEEPERS; i++)
		failed += waitpid(children[i], &status, 0) < 0 || status;
	cmp_ok(failed, "==", 0, "launchers that sweep at once never lose a run of theirs");
	ok(entries(base) == 1 && exists(run.tmp), "and all that was left is gone");
	launch_private_remove(&run);
}

/* Whether a run is refused, and says so. */
static bool is_refused(void)
{
	struct launch_private run = { .lock = 77 };
	int failed = make_run(image, geteuid(), &run);

	if (!failed)
		launch_private_remove(&run);
	return failed == -EPERM && run.lock == 77 && strstr(error.text, "not a private folder");
}

static void test_bad_base(const char *user)
{
	char name[64], *base, *path;

	snprintf(name, sizeof(name), "%s.bad", user);
	base = runtime(name);
	snprintf(name, sizeof(name), "%s.bad/sbx", user);
	path = tree_path(name);
	if (symlink(tree_path("outside"), path) < 0)
		BAIL_OUT("cannot link");
	ok(is_refused(), "a base that is a link is refused");
	unlink(path);
	put(path);
	ok(is_refused(), "a file too");
	unlink(path);
	mkdir(path, 0700);
	chmod(path, 0777);
	ok(is_refused(), "one that others can write to");
	chmod(path, 0740);
	ok(is_refused(), "or read");
	chmod(path, 0);
	skip(geteuid() == 0, 1, "root reads all") ok(is_refused(), "or that nobody can read");
	end_skip;
	chmod(path, 0700);
	skip(geteuid() != 0, 1, "only root can give folders away") if (chown(path, USER, USER) < 0)
		BAIL_OUT("cannot give a folder away");
	ok(is_refused(), "or that belongs to somebody else");
	if (chown(path, 0, 0) < 0)
		BAIL_OUT("cannot take it back");
	end_skip;
	ok(!is_refused(), "and a good one is taken");
	ok(exists(base), "TMPDIR stays");
}

/* Which base is taken: relative to the tree, or as it is. */
static const char *chosen(void)
{
	static char base[PATH_MAX];
	struct launch_private run;

	make(&run);
	snprintf(base, sizeof(base), "%s", run.base);
	launch_private_remove(&run);
	return strncmp(base, tree_root, strlen(tree_root)) ? base : base + strlen(tree_root) + 1;
}

static void test_places(const char *user)
{
	char name[64], here[80], tmp[64];
	bool was_there;

	snprintf(tmp, sizeof(tmp), "/tmp/sbx-%u", (unsigned int)geteuid());
	was_there = exists(tmp);
	snprintf(name, sizeof(name), "%s.open", user);
	snprintf(here, sizeof(here), "%s.tmp", user);
	chmod(runtime(name), 0770);
	is(chosen(), tmp, "a TMPDIR that others can write to is passed by");
	setenv("TMPDIR", "relative", 1);
	is(chosen(), tmp, "a relative one too");
	setenv("TMPDIR", tree_path("missing"), 1);
	is(chosen(), tmp, "and a missing one");
	setenv("TMPDIR", "/tmp", 1);
	is(chosen(), tmp, "TMPDIR is not taken when it is everybody's");
	mkdir(tree_path(here), 0700);
	setenv("TMPDIR", tree_path(here), 1);
	snprintf(here, sizeof(here), "%s.tmp/sbx", user);
	is(chosen(), here, "but when it is the user's own");
	unsetenv("TMPDIR");
	is(chosen(), tmp, "/tmp is there without it");
	if (!was_there)
		rmdir(tmp);
}

static void run_all(const char *user)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.run", user);
	test_make(name);
	test_hostile_tree();
	test_unreadable();
	test_deep();
	test_wide();
	test_filling();
	test_killed();
	test_random_kills();
	test_sweepers();
	test_bad_base(user);
	test_places(user);
}

/* Runs 'body' as another user, who has no say in the numbers of tests: 0 when all went well. */
static int as_user(uid_t uid, int (*body)(const char *arg), const char *arg)
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 ||
		    setresuid(uid, uid, uid) < 0)
			_exit(99);
		_exit(body(arg));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The number of the first thing that is wrong. */
static int passes_by(const char *squat)
{
	struct launch_private run, left;

	make(&run);
	if (strncmp(run.dir, squat, strlen(squat)) != 0 || run.dir[strlen(squat)] != '.')
		return 1;
	end(launcher(&left));
	if (launch_private_sweep() != 1)
		return 2;
	if (exists(left.dir) || !exists(run.dir))
		return 3;
	snprintf(left.dir, sizeof(left.dir), "%s", run.dir);
	launch_private_remove(&run);
	return exists(left.dir) ? 4 : 0;
}

/* A uid that nobody has, so that nobody minds. */
static void test_squatted(void)
{
	uid_t uid = 1900000000u + (uid_t)getpid();
	char squat[64];

	unsetenv("TMPDIR");
	snprintf(squat, sizeof(squat), "/tmp/sbx-%u", (unsigned int)uid);
	mkdir(squat, 0777);
	cmp_ok(as_user(uid, passes_by, squat), "==", 0,
	       "a base in /tmp that a stranger made is passed by, and runs are swept all the same");
	rmdir(squat);
	if (symlink(tree_path("outside"), squat) < 0)
		BAIL_OUT("cannot link");
	cmp_ok(as_user(uid, passes_by, squat), "==", 0, "one that is a link too");
	unlink(squat);
}

static int uses(const char *path)
{
	char name[PATH_MAX], *slash;

	snprintf(name, sizeof(name), "%s/dir", path);
	if (mkdir(name, 0) < 0)
		return 1;
	for (int i = 0; i < 2; i++) {
		slash = strrchr(name, '/');
		*slash = '\0';
	}
	if (entries(name) >= 0 || !mkdir(name, 0700))
		return 2;
	slash = strrchr(name, '/');
	*slash = '\0';
	return entries(name) >= 0 ? 3 : 0;
}

static void test_for_other_user(void)
{
	struct launch_private run;
	struct stat stat = { 0 };
	bool was_there = exists("/tmp/sbx-0");
	char dir[PATH_MAX];

	if (make_run(image, USER, &run) < 0)
		BAIL_OUT("%s", error.text);
	snprintf(dir, sizeof(dir), "%s", run.dir);
	lstat(run.tmp, &stat);
	ok(stat.st_uid == USER && stat.st_gid == USER && (stat.st_mode & 07777) == 0700,
	   "the tmp of another user's run is that user's");
	ok(mode_of(run.base) == 0711 && mode_of(run.dir) == 0711, "and can be reached");
	cmp_ok(as_user(USER, uses, run.tmp), "==", 0, "used, and not left");
	launch_private_remove(&run);
	ok(!exists(dir), "and is removed");
	if (!was_there)
		rmdir("/tmp/sbx-0");
}

static int removes_mount(void)
{
	struct launch_private run;

	make(&run);
	if (mkdir(in(&run, "mnt"), 0700) < 0 || mkdir(in(&run, "also"), 0700) < 0)
		return 1;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(tree_path("outside"), in(&run, "mnt"), NULL, MS_BIND, NULL) < 0)
		return 2;
	launch_private_remove(&run);
	return 0;
}

static void test_mount(void)
{
	int status;
	pid_t child;

	runtime("mounted");
	child = fork();
	if (!child)
		_exit(removes_mount());
	waitpid(child, &status, 0);
	skip(status != 0, 2, "nothing can be mounted here")
		ok(exists(tree_path("outside/file")), "what is mounted into a run stays");
	launch_private_sweep();
	ok(entries(tree_path("mounted/sbx")) == 0, "and the rest goes when it is gone");
	end_skip;
}

/* The child goes on with the numbers of the tests, and ends them. */
static int run_as_ordinary_user(void)
{
	int status;
	pid_t child;

	if (chmod(tree_root, 01777) < 0)
		BAIL_OUT("cannot open the tree");
	fflush(stdout);
	child = fork();
	if (!child) {
		if (setgroups(0, NULL) < 0 || setresgid(USER, USER, USER) < 0 ||
		    setresuid(USER, USER, USER) < 0)
			BAIL_OUT("cannot become %d", USER);
		run_all("user");
		_exit(exit_status());
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void forget(void)
{
	sbx_free(with_tmp);
	sbx_free(with_home);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	tree_file("outside/file", "precious", 0644);
	tree_dir("outside/dir");
	with_tmp = load("tmp.ini", "[sandbox]\ninclude = none\n");
	image = sbx_policy_image(with_tmp);
	with_home = load("home.ini", "[sandbox]\ninclude = none\ntmp = none\nhome = private\n");
	atexit(forget);
	if (geteuid() != 0) {
		run_all("user");
		done_testing();
	}
	run_all("root");
	test_squatted();
	test_for_other_user();
	test_mount();
	return run_as_ordinary_user();
}
