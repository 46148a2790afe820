/* SPDX-License-Identifier: MIT */
/*
 * What runs have: where it is made, what is removed with it and what is not, and that killed
 * launchers leave nothing while living ones are left alone. As root and as an ordinary user.
 */
#include "private.h"
#include "erase.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "tree.h"

#define USER 65534

static struct sbx_policy *with_tmp, *with_home, *with_none;
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

/* Whether nothing is left of a run that was like this. */
static bool is_gone(const struct launch_private *was)
{
	return !exists(was->tmp) && !exists(was->image);
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

/* Where files of runs must be; static. */
static const char *memory(void)
{
	static char path[64];
	struct statfs system;

	if (statfs("/dev/shm", &system) < 0 || system.f_type != TMPFS_MAGIC)
		return NULL;
	snprintf(path, sizeof(path), "/dev/shm/sbx-%u", (unsigned int)geteuid());
	return path;
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
	char *base = runtime(user), sbx[PATH_MAX];
	struct launch_private run = { 0 }, other;
	mode_t mask = umask(0777);
	struct stat file;

	if (launch_private_make(false, &run, &error) < 0)
		BAIL_OUT("%s", error.text);
	snprintf(sbx, sizeof(sbx), "%s/sbx", base);
	is(run.base, sbx, "the run is below TMPDIR");
	cmp_ok(entries(sbx), "==", 0, "nothing is made before the policy is known");
	if (launch_private_fill(image, argv, geteuid(), getegid(), &run, &error) < 0)
		BAIL_OUT("%s", error.text);
	umask(mask);
	ok(!strncmp(run.tmp, sbx, strlen(sbx)) && !strncmp(run.tmp + strlen(sbx), "/tmp.", 5) &&
		   entries(sbx) == 1,
	   "and then tmp alone");
	ok(mode_of(run.base) == 0700 && mode_of(run.registry) == (mode_of(run.registry) & 0711) &&
		   mode_of(run.tmp) == 0700 && mode_of(run.image) == 0400,
	   "all of it is the user's alone whatever the umask");
	ok(!stat(run.image, &file) && file.st_size > (off_t)image->size, "there is a policy");
	is(run.registry, memory() ? memory() : sbx, "in memory");
	ok(!run.home[0], "there is no home where none is asked for");
	ok((fcntl(run.lock, F_GETFD) & fcntl(run.tmp_lock, F_GETFD) & fcntl(run.base_fd, F_GETFD) &
	    fcntl(run.registry_fd, F_GETFD)) == FD_CLOEXEC,
	   "all descriptors close on exec");
	make(&other);
	ok(strcmp(run.id, other.id) != 0 && strcmp(run.tmp, other.tmp) != 0, "two runs have two");
	launch_private_remove(&other);
	ok(entries(run.base) == 1 && exists(run.tmp) && exists(run.image) && !other.id[0],
	   "one is removed alone");
	launch_private_remove(&other);
	pass("twice does no harm");
	other = run;
	launch_private_remove(&run);
	ok(entries(base) == 1 && entries(sbx) == 0 && is_gone(&other), "only the bases are left");
}

static void test_wishes(void)
{
	struct launch_private run = { 0 };

	if (make_run(sbx_policy_image(with_home), geteuid(), &run) < 0)
		BAIL_OUT("%s", error.text);
	ok(!run.tmp[0] && mode_of(run.home) == 0700, "a private home comes without a tmp");
	launch_private_remove(&run);
	if (make_run(sbx_policy_image(with_none), geteuid(), &run) < 0)
		BAIL_OUT("%s", error.text);
	skip(!memory(), 1, "no memory to be in") ok(entries(run.base) == 0 && exists(run.image),
						    "who wants neither has nothing on the disk");
	end_skip;
	launch_private_remove(&run);
}

/* The base may go before anything is in it. */
static void test_tidied(void)
{
	struct launch_private run;

	if (launch_private_make(false, &run, &error) < 0 || rmdir(run.base) < 0)
		BAIL_OUT("cannot remove %s", run.base);
	ok(!launch_private_fill(image, argv, geteuid(), getegid(), &run, &error) && exists(run.tmp),
	   "a base that was tidied up is made again");
	launch_private_remove(&run);
}

/* What a program can leave behind to make its removal hard or dangerous. */
static void test_hostile_tree(void)
{
	struct launch_private run, was;
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd;

	make(&run);
	was = run;
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
	snprintf(name.sun_path, sizeof(name.sun_path), "/proc/self/fd/%d/sock", run.tmp_lock);
	if (fd < 0 || bind(fd, (struct sockaddr *)&name, sizeof(name)) < 0)
		BAIL_OUT("cannot bind %s", name.sun_path);
	launch_private_remove(&run);
	close(fd);
	ok(is_gone(&was), "links, a FIFO, a socket and odd names are removed");
	ok(exists(tree_path("outside/file")) && exists(tree_path("outside/dir")),
	   "and what links lead to stays");
}

static void test_unreadable(void)
{
	static const mode_t modes[] = { 0, 0100, 0200, 0400, 0500, 0600 };
	struct launch_private run, was;
	char name[64];

	make(&run);
	was = run;
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
	launch_private_remove(&run);
	ok(is_gone(&was), "folders without rights are removed");
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
	char place[] = "/dev/shm/sbx-unit-XXXXXX", *before = getenv("TMPDIR");
	bool fast = mkdtemp(place) != NULL;
	int levels = fast ? 10000 : 1000;
	struct launch_private run;
	char base[PATH_MAX];

	before = before ? strdup(before) : NULL;
	if (!before || (fast && setenv("TMPDIR", place, 1) < 0))
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
		rmdir(place);
	}
}

static void test_wide(void)
{
	struct launch_private run, was;
	char name[32];

	make(&run);
	was = run;
	for (int i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		mkdir(in(&run, name), 0700);
		snprintf(name, sizeof(name), "d%d/x", i);
		put(in(&run, name));
		snprintf(name, sizeof(name), "f%d", i);
		put(in(&run, name));
	}
	launch_private_remove(&run);
	ok(is_gone(&was), "hundreds of folders and files are removed");
}

/* While another process goes on filling what is emptied, and moves folders about. */
static void test_filling(void)
{
	struct launch_private run, was;
	char name[64];
	pid_t child;

	make(&run);
	was = run;
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
	ok(is_gone(&was), "and the next start removes the rest");
	ok(exists(tree_path("outside/file")), "without following what was swapped in");
}

/* Starts a launcher that makes a run and waits to be killed. */
static pid_t launcher_for(uid_t uid, struct launch_private *run)
{
	int ends[2];
	pid_t child;

	if (pipe(ends) < 0)
		BAIL_OUT("no pipe");
	child = fork();
	if (!child) {
		if (make_run(image, uid, run) < 0)
			BAIL_OUT("%s", error.text);
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

static pid_t launcher(struct launch_private *run)
{
	return launcher_for(geteuid(), run);
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
	ok(is_gone(&dead) && exists(alive.tmp) && exists(alive.image),
	   "while the living one stays");
	memset(&seen, 0, sizeof(seen));
	launch_private_list(see, &seen);
	cmp_ok(seen.last.launcher, "==", other, "the launcher is known");
	is(seen.last.command, "node app.js a\\nb\\x1b[31m", "and its command, safe to print");
	like(seen.last.policy, "tmp.ini$", "and its policy");
	is(seen.last.id, alive.id, "and its id");
	ok(seen.last.started > 0 && seen.last.started <= time(NULL), "and when it started");
	end(other);
	cmp_ok(launch_private_sweep(), ">=", 1, "the last one is swept");
	ok(entries(alive.base) == 0 && is_gone(&alive), "and nothing is left");
}

/* Its file is known whatever TMPDIR is, its data only where that is. */
static void test_elsewhere(const char *user)
{
	struct launch_private run;
	struct seen seen = { 0 };
	char name[64], *before = getenv("TMPDIR");
	pid_t child = launcher(&run);

	before = before ? strdup(before) : NULL;
	if (!before)
		BAIL_OUT("no environment");
	snprintf(name, sizeof(name), "%s.elsewhere", user);
	runtime(name);
	launch_private_list(see, &seen);
	skip(!memory(), 2, "no memory to be in")
		ok(seen.count == 1 && seen.alive == 1, "a run with another TMPDIR is listed");
	end(child);
	launch_private_sweep();
	ok(!exists(run.image) && exists(run.tmp),
	   "and of what it left, what can be found is swept");
	end_skip;
	setenv("TMPDIR", before, 1);
	free(before);
	end(child);
	launch_private_sweep();
	ok(is_gone(&run), "the rest where it is");
}

struct known {
	const char *id;
	struct launch_run found;
};

static void know(const struct launch_run *run, void *arg)
{
	struct known *known = arg;

	if (!strcmp(run->id, known->id))
		known->found = *run;
}

/* As another container has it, which shares /tmp and not /dev/shm. */
static void test_without_file(void)
{
	struct launch_private run, left;
	pid_t child = launcher(&run);
	struct known known = { .id = run.id };

	unlink(run.image);
	launch_private_sweep();
	ok(exists(run.tmp), "data without a file is left alone while it is locked");
	launch_private_list(know, &known);
	ok(!known.found.id[0], "and not taken for left behind");
	end(child);
	launch_private_list(know, &known);
	ok(known.found.id[0] && !known.found.launcher && !known.found.command[0] &&
		   known.found.started > 0,
	   "but listed when its launcher is dead");
	cmp_ok(launch_private_sweep(), ">=", 1, "then it counts");
	ok(is_gone(&run), "and is removed");
	end(launcher(&left));
	end(launcher(&run));
	unlink(run.image);
	rmdir(left.tmp);
	cmp_ok(launch_private_sweep(), ">=", 2, "a part of a run is a run, whichever it is");
	ok(is_gone(&run) && is_gone(&left), "and goes");
}

/* A living program may shut its own tmp, and that is none of a sweeper's business. */
static void test_shut(void)
{
	struct launch_private run;
	pid_t child = launcher(&run);

	chmod(run.tmp, 0);
	launch_private_sweep();
	ok(exists(run.tmp) && mode_of(run.tmp) == 0, "a sweep leaves a living run's rights alone");
	chmod(run.tmp, 0500);
	launch_private_sweep();
	ok(mode_of(run.tmp) == 0500, "all of them");
	chmod(run.tmp, 0);
	end(child);
	launch_private_sweep();
	ok(is_gone(&run), "and a dead one's tmp goes, shut as it is");
}

/* A file as no launcher writes it. */
static void forge(const char *path)
{
	struct sbx_image head = { .size = sizeof(head) };
	static const char text[] = SBX_IMAGE_TRAILER "1\ncommand \033[31mred\npolicy \x9b\n";
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	memcpy(head.magic, SBX_IMAGE_MAGIC, sizeof(head.magic));
	if (fd < 0 || write(fd, &head, sizeof(head)) != sizeof(head) ||
	    write(fd, text, sizeof(text) - 1) != sizeof(text) - 1)
		BAIL_OUT("cannot write %s", path);
	close(fd);
}

static void test_forged(void)
{
	struct known known = { .id = "forged" };
	struct launch_private run;
	char path[PATH_MAX + 32];

	make(&run);
	snprintf(path, sizeof(path), "%s/run.forged", run.registry);
	forge(path);
	launch_private_list(know, &known);
	is(known.found.command, "\\x1b[31mred", "what a stranger wrote is safe to print");
	is(known.found.policy, "\\x9b", "also as a policy");
	cmp_ok(known.found.launcher, "==", 0, "and nobody lives by its word");
	launch_private_sweep();
	ok(!exists(path), "it is swept");
	launch_private_remove(&run);
}

/* What is not a run's, whatever it is called. */
static void test_strange_entries(void)
{
	struct launch_private run;
	char path[PATH_MAX + 32];

	make(&run);
	snprintf(path, sizeof(path), "%s/tmp.link", run.base);
	if (symlink(tree_path("outside"), path) < 0)
		BAIL_OUT("cannot link");
	snprintf(path, sizeof(path), "%s/home.file", run.base);
	put(path);
	snprintf(path, sizeof(path), "%s/run.%d", run.registry, (int)getpid());
	if (mkfifo(path, 0600) < 0)
		BAIL_OUT("cannot make a FIFO");
	alarm(60);
	launch_private_sweep();
	launch_private_list(see, &(struct seen){ 0 });
	alarm(0);
	ok(exists(path), "a FIFO among the files is passed by");
	unlink(path);
	snprintf(path, sizeof(path), "%s/tmp.link", run.base);
	ok(exists(path) && exists(tree_path("outside/file")), "a link among the folders too");
	unlink(path);
	snprintf(path, sizeof(path), "%s/home.file", run.base);
	ok(exists(path), "and a file");
	unlink(path);
	launch_private_remove(&run);
}

/* Kills makers at any moment while others sweep: a living run must never lose its folder. */
static void test_random_kills(void)
{
	char base[PATH_MAX];
	struct launch_private run;
	struct seen seen = { 0 };
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
		bad += !exists(run.tmp) || !exists(run.image);
	}
	cmp_ok(bad, "==", 0, "100 killed launchers do not touch a living one");
	launch_private_sweep();
	cmp_ok(entries(base), "==", 1, "and after the next start nothing of them is left");
	launch_private_list(see, &seen);
	cmp_ok(seen.count, "==", 1, "nor a file");
	launch_private_remove(&run);
}

static void test_sweepers(void)
{
	enum {
		SWEEPERS = 4,
		ROUNDS = 100
	};
	char base[PATH_MAX], name[PATH_MAX + 32];
	struct launch_private run;
	pid_t children[SWEEPERS];
	int status, failed = 0, files = 0;

	make(&run);
	snprintf(base, sizeof(base), "%s", run.base);
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%s/tmp.left%d", base, i);
		mkdir(name, 0700);
		snprintf(name, sizeof(name), "%s/tmp.left%d/dir", base, i);
		mkdir(name, 0700);
		snprintf(name, sizeof(name), "%s/run.%d.%d", run.registry, (int)getpid(), i);
		put(name);
	}
	for (int i = 0; i < SWEEPERS; i++)
		if (!(children[i] = fork())) {
			for (int round = 0; round < ROUNDS; round++) {
				struct launch_private mine;

				make(&mine);
				put(in(&mine, "file"));
				launch_private_sweep();
				if (!exists(in(&mine, "file")) || !exists(mine.image))
					_exit(1);
				launch_private_remove(&mine);
			}
			_exit(0);
		}
	for (int i = 0; i < SWEEPERS; i++)
		failed += waitpid(children[i], &status, 0) < 0 || status;
	cmp_ok(failed, "==", 0, "launchers that sweep at once never lose a run of theirs");
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "%s/run.%d.%d", run.registry, (int)getpid(), i);
		files += exists(name);
	}
	ok(entries(base) == 1 && exists(run.tmp) && exists(run.image) && !files,
	   "and all that was left is gone");
	launch_private_remove(&run);
}

/* Whether a run is refused, and says so. */
static bool is_refused(void)
{
	struct launch_private run = { .id = "untouched" };
	int failed = make_run(image, geteuid(), &run);

	if (!failed)
		launch_private_remove(&run);
	return failed == -EPERM && !strcmp(run.id, "untouched") &&
	       strstr(error.text, "not a private folder");
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
	test_wishes();
	test_tidied();
	test_hostile_tree();
	test_unreadable();
	test_deep();
	test_wide();
	test_filling();
	test_killed();
	test_elsewhere(user);
	test_without_file();
	test_shut();
	test_forged();
	test_strange_entries();
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
	struct known known = { .id = run.id };
	size_t len = strlen(squat);

	make(&run);
	if (!strncmp(squat, "/tmp", 4) && (strncmp(run.tmp, squat, len) || run.tmp[len] != '.'))
		return 1;
	if (!strncmp(run.registry, squat, len) && (!run.registry[len] || run.registry[len] == '/'))
		return 2;
	launch_private_list(know, &known);
	if (known.found.launcher != getpid() || strncmp(known.found.command, "node app.js", 11))
		return 3;
	end(launcher(&left));
	known.id = left.id;
	launch_private_list(know, &known);
	if (strcmp(known.found.id, left.id) != 0 || known.found.launcher)
		return 4;
	if (launch_private_sweep() != 1)
		return 5;
	if (!is_gone(&left) || !exists(run.tmp) || !exists(run.image))
		return 6;
	left = run;
	launch_private_remove(&run);
	*strrchr(left.tmp, '/') = '\0';
	return exists(left.image) || (left.is_stray && exists(left.tmp)) ? 7 : 0;
}

/* A uid that nobody has, so that nobody minds. */
static void test_squatted(void)
{
	uid_t uid = 1900000000u + (uid_t)getpid();
	char squat[64], other[64];

	unsetenv("TMPDIR");
	snprintf(squat, sizeof(squat), "/tmp/sbx-%u", (unsigned int)uid);
	snprintf(other, sizeof(other), "/dev/shm/sbx-%u", (unsigned int)uid);
	mkdir(squat, 0777);
	cmp_ok(as_user(uid, passes_by, squat), "==", 0,
	       "a base in /tmp that a stranger made is passed by, and runs are swept all the same");
	rmdir(squat);
	if (symlink(tree_path("outside"), squat) < 0)
		BAIL_OUT("cannot link");
	cmp_ok(as_user(uid, passes_by, squat), "==", 0, "one that is a link too");
	rmdir(other);
	mkdir(other, 0777);
	cmp_ok(as_user(uid, passes_by, squat), "==", 0, "also when there is one in memory");
	unlink(squat);
	cmp_ok(as_user(uid, passes_by, other), "==", 0, "or there alone");
	rmdir(other);
	if (symlink(tree_path("outside"), other) < 0)
		BAIL_OUT("cannot link");
	cmp_ok(as_user(uid, passes_by, other), "==", 0, "or is a link there");
	unlink(other);
	ok(entries(tree_path("outside")) == 2, "nothing was made where the links lead");
	rmdir(squat);
}

static struct launch_private given;

/* The program's view of what was made for it. */
static int uses(const char *path)
{
	char name[2 * PATH_MAX];

	snprintf(name, sizeof(name), "%s/dir", path);
	if (mkdir(name, 0) < 0)
		return 1;
	if (access(given.image, R_OK) < 0 || access(given.image, W_OK) == 0)
		return 2;
	snprintf(name, sizeof(name), "%s/new", given.base);
	if (entries(given.base) >= 0 || !mkdir(name, 0700) || !rename(given.tmp, name))
		return 3;
	snprintf(name, sizeof(name), "%s/new", given.registry);
	if (entries(given.registry) >= 0 || !mkdir(name, 0700) || !unlink(given.image))
		return 4;
	return 0;
}

static void test_for_other_user(void)
{
	struct stat stat = { 0 };
	bool was_there = exists("/tmp/sbx-0");
	struct launch_private was;
	pid_t child;

	if (make_run(image, USER, &given) < 0)
		BAIL_OUT("%s", error.text);
	was = given;
	lstat(given.tmp, &stat);
	ok(stat.st_uid == USER && stat.st_gid == USER && (stat.st_mode & 07777) == 0700,
	   "the tmp of another user's run is that user's");
	ok(mode_of(given.base) == 0711 && mode_of(given.registry) == 0711 &&
		   mode_of(given.image) == 0444,
	   "and can be reached");
	cmp_ok(as_user(USER, uses, given.tmp), "==", 0, "used, and not left");
	launch_private_remove(&given);
	ok(is_gone(&was), "and is removed");
	child = launcher_for(USER, &given);
	cmp_ok(as_user(USER, uses, given.tmp), "==", 0, "one is used");
	launch_private_sweep();
	ok(exists(given.tmp), "and not swept while it lives");
	end(child);
	cmp_ok(launch_private_sweep(), ">=", 1, "but when its launcher was killed");
	ok(is_gone(&given), "as root finds it");
	if (!was_there)
		rmdir("/tmp/sbx-0");
}

/* Whether a /dev/shm of this kind, in a namespace of our own, is taken: 0 for no. */
static int takes_memory(const char *type, const char *options)
{
	int status;
	pid_t child = fork();

	if (!child) {
		struct launch_private run, was;

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount(type ? type : tree_path("outside"), "/dev/shm", type, type ? 0 : MS_BIND,
			  options) < 0)
			_exit(99);
		make(&run);
		was = run;
		launch_private_remove(&run);
		_exit(!is_gone(&was) ? 98 : !strncmp(was.image, "/dev/shm/", 9));
	}
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void test_memory(void)
{
	int taken;

	runtime("memory");
	taken = takes_memory("tmpfs", "mode=1777");
	skip(taken == 99, 4, "nothing can be mounted here")
		cmp_ok(taken, "==", 1, "a tmpfs takes the files of runs");
	cmp_ok(takes_memory("tmpfs", "mode=1777,size=4k"), "==", 0, "not when it is full");
	cmp_ok(takes_memory("tmpfs", "mode=0777"), "==", 0, "nor when all can take all away");
	cmp_ok(takes_memory(NULL, NULL), "==", 0, "nor what is not in memory");
	end_skip;
}

/* Something is mounted into a run, and upon another one. */
static int removes_mounts(void)
{
	struct launch_private run, dead;

	make(&run);
	end(launcher(&dead));
	if (mkdir(in(&run, "mnt"), 0700) < 0 || mkdir(in(&run, "also"), 0700) < 0)
		return 1;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(tree_path("outside"), in(&run, "mnt"), NULL, MS_BIND, NULL) < 0 ||
	    mount(tree_path("outside"), dead.tmp, NULL, MS_BIND, NULL) < 0)
		return 2;
	launch_private_sweep();
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
		_exit(removes_mounts());
	waitpid(child, &status, 0);
	skip(status != 0, 2, "nothing can be mounted here")
		ok(exists(tree_path("outside/file")) && exists(tree_path("outside/dir")),
		   "what is mounted into a run, or upon it, stays");
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
	sbx_free(with_none);
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	tree_own_memory();
	tree_file("outside/file", "precious", 0644);
	tree_dir("outside/dir");
	with_tmp = load("tmp.ini", "[sandbox]\ninclude = none\n");
	image = sbx_policy_image(with_tmp);
	with_home = load("home.ini", "[sandbox]\ninclude = none\ntmp = none\nhome = private\n");
	with_none = load("none.ini", "[sandbox]\ninclude = none\ntmp = none\n");
	atexit(forget);
	if (geteuid() != 0) {
		run_all("user");
		done_testing();
	}
	run_all("root");
	test_squatted();
	test_for_other_user();
	test_memory();
	test_mount();
	return run_as_ordinary_user();
}
