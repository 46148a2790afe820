/* SPDX-License-Identifier: MIT */
/*
 * A small tree under a real Landlock ruleset, for every ABI up to the kernel's, as root and as an
 * ordinary user: what was meant, what the engine says and what the kernel does are the same.
 */
#include "confined.h"
#include "landlock_abi.h"

#include <arpa/inet.h>
#include <linux/capability.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

static int newest;
static uid_t user; /* whom the children become, 0 for nobody else */

/* "w/work" may be written, "w/ro" read, "w/bin" executed, "w/all" all of it. */
static const char *const planted[] = {
	"w/",		"w/work/",     "w/work/file",  "w/work/other",	   "w/work/sub/",
	"w/work/sub/f", "w/work/dir/", "w/work-evil/", "w/work-evil/file", "w/ro/",
	"w/ro/file",	"w/ro/given",  "w/ro/sub/",    "w/bin/",	   "w/bin/tool",
	"w/all/",	"w/all/file",  "w/secret/",    "w/secret/key",	   "w/secret/dir/",
};

static const char policy_text[] = "[paths]\nread = w/ro, w/work/file\nwrite = w/work, w/ro/given\n"
				  "exec = w/bin\ndeny = w/secret, w/nowhere\n"
				  "[path all]\nroot = w/all\nmode = rwx\n";

static void plant(void)
{
	wipe(at("w"));
	for (size_t i = 0; i < sizeof(planted) / sizeof(planted[0]); i++)
		put(at("%s", planted[i]), user);
	put_link(at("w/work/out"), "../secret/key", user);
	put_link(at("w/work/hole"), "../secret/new", user);
	put_link(at("w/work/up"), "..", user);
	put_link(at("w/work/ahead"), "fresh", user);
}

static const struct row {
	const char *name;
	const char *path;
	const char *to;
	enum act act;
	bool allowed;
} rows[] = {
	{ "a root that may be read", "w/ro/file", NULL, ACT_READ, true },
	{ "and listed", "w/ro", NULL, ACT_LIST, true },
	{ "and below", "w/ro/sub", NULL, ACT_LIST, true },
	{ "but not executed", "w/ro/file", NULL, ACT_EXEC, false },
	{ "a root that may be written", "w/work/file", NULL, ACT_WRITE, true },
	{ "and read at once", "w/work/sub/f", NULL, ACT_BOTH, true },
	{ "and truncated", "w/work/file", NULL, ACT_TRUNCATE, true },
	{ "by open too", "w/work/file", NULL, ACT_OPEN_TRUNC, true },
	{ "and created in", "w/work/new", NULL, ACT_CREATE, true },
	{ "deeper down", "w/work/sub/new", NULL, ACT_CREATE, true },
	{ "through a link that stays inside", "w/work/ahead", NULL, ACT_THROUGH, true },
	{ "folders", "w/work/new", NULL, ACT_MKDIR, true },
	{ "links", "w/work/new", NULL, ACT_SYMLINK, true },
	{ "pipes", "w/work/new", NULL, ACT_FIFO, true },
	{ "sockets", "w/work/new", NULL, ACT_SOCKET, true },
	{ "plain nodes", "w/work/new", NULL, ACT_NODE, true },
	{ "and deleted from", "w/work/file", NULL, ACT_UNLINK, true },
	{ "a link to outside can go", "w/work/out", NULL, ACT_UNLINK, true },
	{ "folders too", "w/work/dir", NULL, ACT_RMDIR, true },
	{ "rename within a folder", "w/work/file", "w/work/new", ACT_RENAME, true },
	{ "rename between folders", "w/work/file", "w/work/sub/new", ACT_RENAME, true },
	{ "rename onto another", "w/work/other", "w/work/sub/f", ACT_RENAME, true },
	{ "rename a folder", "w/work/sub", "w/work/dir/sub", ACT_RENAME, true },
	{ "link within a folder", "w/work/file", "w/work/new", ACT_LINK, true },
	{ "link between folders", "w/work/file", "w/work/sub/new", ACT_LINK, true },
	{ "exchange within", "w/work/other", "w/work/sub/f", ACT_EXCHANGE, true },
	{ "rename to fewer rights", "w/all/file", "w/work/new", ACT_RENAME, true },
	{ "rename to more rights", "w/work/other", "w/all/new", ACT_RENAME, false },
	{ "link to more rights", "w/work/other", "w/all/new", ACT_LINK, false },
	{ "but not executed", "w/work/other", NULL, ACT_EXEC, false },
	{ "a root that may be executed", "w/bin/tool", NULL, ACT_EXEC, true },
	{ "is not written", "w/bin/tool", NULL, ACT_WRITE, false },
	{ "a section may have it all", "w/all/file", NULL, ACT_EXEC, true },
	{ "all", "w/all/new", NULL, ACT_CREATE, true },
	{ "one file may be written", "w/ro/given", NULL, ACT_WRITE, true },
	{ "and truncated", "w/ro/given", NULL, ACT_TRUNCATE, true },
	{ "but not deleted", "w/ro/given", NULL, ACT_UNLINK, false },
	{ "nor renamed", "w/ro/given", "w/ro/new", ACT_RENAME, false },
	{ "nor its neighbour written", "w/ro/file", NULL, ACT_WRITE, false },
	{ "a look-alike is another place", "w/work-evil/file", NULL, ACT_READ, false },
	{ "not to be listed", "w/work-evil", NULL, ACT_LIST, false },
	{ "not to be created in", "w/work-evil/new", NULL, ACT_CREATE, false },
	{ "the folder above is not readable", "w", NULL, ACT_LIST, false },
	{ "a root itself stays", "w/work", "w/moved", ACT_RENAME, false },
	{ "nor goes", "w/ro/sub", NULL, ACT_RMDIR, false },
	{ "V001 read outside", "w/secret/key", NULL, ACT_READ, false },
	{ "V002 create outside", "w/secret/n", NULL, ACT_CREATE, false },
	{ "V003 write read-only tree", "w/ro/file", NULL, ACT_WRITE, false },
	{ "V003 create there", "w/ro/new", NULL, ACT_CREATE, false },
	{ "V004 list outside", "w/secret", NULL, ACT_LIST, false },
	{ "V005 dot-dot", "w/work/../secret/key", NULL, ACT_READ, false },
	{ "V005 dot-dot through a link", "w/work/up/secret/key", NULL, ACT_READ, false },
	{ "V006 symlink out", "w/work/out", NULL, ACT_READ, false },
	{ "V006 symlink out, to write", "w/work/out", NULL, ACT_WRITE, false },
	{ "V007 dangling symlink write", "w/work/hole", NULL, ACT_THROUGH, false },
	{ "V008 hard link in", "w/secret/key", "w/work/x", ACT_LINK, false },
	{ "V008 hard link in, from read-only", "w/ro/file", "w/work/x", ACT_LINK, false },
	{ "V008 of a writable file there", "w/ro/given", "w/work/x", ACT_LINK, false },
	{ "V009 rename in", "w/secret/key", "w/work/x", ACT_RENAME, false },
	{ "V009 rename in, from read-only", "w/ro/file", "w/work/x", ACT_RENAME, false },
	{ "V010 rename out", "w/work/other", "w/secret/a", ACT_RENAME, false },
	{ "V010 to the look-alike", "w/work/other", "w/work-evil/a", ACT_RENAME, false },
	{ "V011 exchange across", "w/work/other", "w/secret/key", ACT_EXCHANGE, false },
	{ "V012 delete outside", "w/secret/key", NULL, ACT_UNLINK, false },
	{ "V012 remove a folder outside", "w/secret/dir", NULL, ACT_RMDIR, false },
	{ "V013 mkdir outside", "w/secret/n", NULL, ACT_MKDIR, false },
	{ "V013 mknod outside", "w/secret/n", NULL, ACT_NODE, false },
	{ "V013 mkfifo outside", "w/secret/n", NULL, ACT_FIFO, false },
	{ "V013 symlink outside", "w/secret/n", NULL, ACT_SYMLINK, false },
	{ "V013 bind outside", "w/secret/n", NULL, ACT_SOCKET, false },
	{ "V014 truncate outside", "w/secret/key", NULL, ACT_TRUNCATE, false },
	{ "V015 O_TRUNC read-only", "w/ro/file", NULL, ACT_OPEN_TRUNC, false },
	{ "V015 O_TRUNC outside", "w/secret/key", NULL, ACT_OPEN_TRUNC, false },
	{ "around by /proc/self/root", "/proc/self/root//w/secret/key", NULL, ACT_READ, false },
	{ "to what is allowed", "/proc/self/root//w/ro/file", NULL, ACT_READ, true },
	{ "around by /proc/self/cwd", "/proc/self/cwd/w/secret/key", NULL, ACT_READ, false },
	{ "V041 kernel knobs", "/proc/sys/kernel/core_pattern", NULL, ACT_WRITE, false },
	{ "V042 the kernel's log", "/dev/kmsg", NULL, ACT_READ, false },
	{ "V042 devices", "/dev/null", NULL, ACT_READ, false },
	{ "V048 shared temp", "/tmp/sbx-unit-new", NULL, ACT_CREATE, false },
	{ "V048 shared memory", "/dev/shm/sbx-unit-new", NULL, ACT_CREATE, false },
	{ "the system", "/etc/passwd", NULL, ACT_READ, false },
};

/* "w" begins a path in the tree, and a double slash stands for where the tree is. */
static const char *place(const char *path)
{
	const char *gap = strstr(path, "//");
	char around[64];

	if (*path == '/' && !gap)
		return path;
	if (!gap)
		return tree_path(path);
	/* The root is never more than three folders up. */
	snprintf(around, sizeof(around), "../../..%.*s", (int)(gap - path), path);
	return tree_path(at("%s%s%s", around, tree_root, gap + 1) + strlen(tree_root) + 1);
}

static void try_row(const struct sbx_image *image, const struct row *row, int abi)
{
	struct attempt attempt = { .abi = abi,
				   .act = row->act,
				   .path = place(row->path),
				   .to = row->to ? place(row->to) : NULL };
	bool truncates = row->act == ACT_TRUNCATE || row->act == ACT_OPEN_TRUNC;
	bool held = !(abi < 3 && truncates) && !(abi < 2 && row->to);
	int bare = in_child(user, attempt_body, &attempt), code;
	bool should;

	if (bare == 0 && row->path[0] == '/' && row->act == ACT_CREATE)
		unlink(row->path);
	plant();
	should = kernel_should(image, abi, row->act, attempt.path, attempt.to);
	if (held)
		cmp_ok(should, "==", row->allowed, "%s: the engine says so", row->name);
	attempt.image = image;
	code = in_child(user, attempt_body, &attempt);
	skip(bare != 0, 1, "%s does not even work unconfined", row->name);
	ok(should ? code == 0 : is_refusal(code), "%s: ABI %d %s it (%s)", row->name, abi,
	   should ? "allows" : "refuses", strerror(code));
	end_skip;
	if (!should && row->act == ACT_CREATE)
		ok(access(attempt.path, F_OK) < 0, "%s: and nothing is left behind", row->name);
}

static struct sbx_policy *load_here(const char *text)
{
	struct sbx_policy *policy;

	if (chdir(tree_root) < 0)
		BAIL_OUT("cannot enter %s", tree_root);
	policy = load_rules(text);
	if (!policy)
		BAIL_OUT("bad policy:\n%s", text);
	return policy;
}

static void test_rows(void)
{
	struct sbx_policy *policy;
	const char *why = "";

	plant();
	policy = load_here(policy_text);
	cmp_ok(launch_landlock_unheld(sbx_policy_image(policy), &why), "==", SBX_NONE,
	       "the policy is plain%s", why);
	for (int abi = 1; abi <= newest; abi++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			plant();
			try_row(sbx_policy_image(policy), &rows[i], abi);
		}
	sbx_free(policy);
}

/* A body that runs under a ruleset, or under none when that is negative. */
struct scene {
	int ruleset;
	int (*body)(void *arg);
	void *arg;
};

static int scene_body(void *arg)
{
	const struct scene *scene = arg;
	struct launch_error error;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (scene->ruleset >= 0 && launch_landlock_enforce(scene->ruleset, &error) < 0)
		return BROKEN;
	return scene->body(scene->arg);
}

static int play_under(int ruleset, int (*body)(void *arg), const void *arg)
{
	struct scene scene = { ruleset, body, (void *)(uintptr_t)arg };

	return in_child(user, scene_body, &scene);
}

static int build(const struct sbx_image *image, int abi, enum launch_layer layer)
{
	struct launch_error error;
	int ruleset = launch_landlock_build(image, abi, layer, NULL, 0, &error);

	if (ruleset < 0)
		BAIL_OUT("%s", error.text);
	return ruleset;
}

static int play(const struct sbx_policy *policy, int abi, enum launch_layer layer,
		int (*body)(void *arg), const void *arg)
{
	int ruleset = build(sbx_policy_image(policy), abi, layer);
	int result = play_under(ruleset, body, arg);

	close(ruleset);
	return result;
}

static int read_body(void *arg)
{
	return open_act(arg, O_RDONLY) < 0 ? errno : 0;
}

static int ftruncate_body(void *arg)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? BROKEN : ftruncate(fd, 0) < 0 ? errno : 0;
}

static int map_body(void *arg)
{
	int fd = open(arg, O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return fd < 0 ? BROKEN : map == MAP_FAILED ? errno : 0;
}

static int copy_body(void *arg)
{
	int to = open(arg, O_RDONLY | O_CLOEXEC), from = open(arg, O_RDONLY | O_CLOEXEC);

	return to < 0 ? BROKEN : copy_file_range(from, NULL, to, NULL, 4, 0) < 0 ? errno : 0;
}

static int exe_body(void *arg)
{
	(void)arg;
	return open_act("/proc/self/exe", O_WRONLY) < 0 ? errno : 0;
}

/* CAP_PERFMON reads the memory of others past Landlock, so the program must not have it. */
static int uncapable_body(void *arg)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	return syscall(SYS_capset, &head, none) < 0 ? BROKEN : read_body(arg);
}

static void *thread_main(void *arg)
{
	return (void *)(uintptr_t)read_body(arg);
}

static int thread_body(void *arg)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, thread_main, arg) != 0)
		return BROKEN;
	pthread_join(thread, &result);
	return (int)(uintptr_t)result;
}

static void test_descriptors(void)
{
	struct sbx_policy *policy = load_here("[paths]\nread = w/ro, /proc\n");
	const char *file = at("w/ro/file");
	char environ_path[64];
	int code;

	cmp_ok(play(policy, newest, LAYER_PROGRAM, ftruncate_body, file), "==", EINVAL,
	       "V016 ftruncate of a read-only descriptor");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, map_body, file), "==", EACCES,
	       "V017 shared map of a read-only file");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, copy_body, file), "==", EBADF,
	       "V018 copies inside the kernel");
	code = play(policy, newest, LAYER_PROGRAM, exe_body, NULL);
	ok(is_refusal(code) || code == ETXTBSY, "V040 own exe");
	snprintf(environ_path, sizeof(environ_path), "/proc/%d/environ", (int)getpid());
	code = play(policy, newest, LAYER_PROGRAM, uncapable_body, environ_path);
	ok(is_refusal(code), "V043 the environment of a process outside (%s)", strerror(code));
	cmp_ok(play(policy, newest, LAYER_PROGRAM, read_body, "/proc/self/status"), "==", 0,
	       "what belongs to oneself can be read");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, thread_body, at("w/secret/key")), "==", EACCES,
	       "V126 threads are covered");
	sbx_free(policy);
}

/* A program with its loader and libraries: what a policy needs to allow for it. */
static int true_body(void *arg)
{
	char *const argv[] = { arg, NULL }, *const envp[] = { NULL };

	execve(arg, argv, envp);
	return errno;
}

static void test_program(void)
{
	static const char loader[] = "exec = /lib64/ld-linux-x86-64.so.2 ?, "
				     "/lib/ld-linux-aarch64.so.1 ?\nread = /usr/lib ?, /lib ?\n";
	char text[512];
	struct sbx_policy *policy, *without;

	snprintf(text, sizeof(text), "[paths]\nexec = /bin/true\n%s", loader);
	policy = load_here(text);
	without = load_here("[paths]\nexec = /bin/true\nread = /usr/lib ?, /lib ?\n");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, true_body, "/bin/true"), "==", 0,
	       "a program runs with its loader");
	cmp_ok(play(without, newest, LAYER_PROGRAM, true_body, "/bin/true"), "==", EACCES,
	       "and not without");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, true_body, "/bin/false"), "==", EACCES,
	       "nor does its neighbour");
	sbx_free(policy);
	sbx_free(without);
}

static void test_layers(void)
{
	struct sbx_policy *policy = load_here("[paths]\nread = w/ro\n");
	struct launch_place places[] = {
		{ tree_path("w/secret"), SBX_RIGHT_READ, 1 << LAYER_LAUNCHER, 0 },
		{ tree_path("w/work"), SBX_RIGHT_READ | SBX_RIGHT_WRITE, 0, 0 },
	};
	struct launch_landlock landlock;
	struct launch_error error;

	if (launch_landlock_open(sbx_policy_image(policy), NULL, places, 2, &landlock, &error) < 0)
		BAIL_OUT("%s", error.text);
	for (enum launch_layer layer = LAYER_LAUNCHER; layer <= LAYER_PROGRAM; layer++) {
		int ruleset = launch_landlock_ruleset(&landlock, newest, layer, &error);
		int only_a = layer == LAYER_LAUNCHER ? 0 : EACCES;

		ok(fcntl(ruleset, F_GETFD) & FD_CLOEXEC, "a ruleset is closed by exec");
		cmp_ok(play_under(ruleset, read_body, at("w/ro/file")), "==", 0,
		       "layer %c has the policy", 'A' + layer);
		cmp_ok(play_under(ruleset, read_body, at("w/work/file")), "==", 0,
		       "layer %c has a place for all", 'A' + layer);
		cmp_ok(play_under(ruleset, read_body, at("w/secret/key")), "==", only_a,
		       "layer %c and one for A only", 'A' + layer);
		cmp_ok(play_under(ruleset, read_body, "/proc/stat"), "==", only_a,
		       "layer %c and /proc", 'A' + layer);
		close(ruleset);
	}
	launch_landlock_done(&landlock);
	sbx_free(policy);
}

static int write_body(void *arg)
{
	return open_act(arg, O_WRONLY) < 0 ? errno : 0;
}

static void test_lock(void)
{
	struct sbx_policy *policy = load_here("[paths]\nwrite = policy.ini, w/ro/given\n");

	cmp_ok(play(policy, newest, LAYER_PROGRAM, write_body, at("policy.ini")), "==", EACCES,
	       "a policy that allows writing itself does not");
	cmp_ok(play(policy, newest, LAYER_PROGRAM, write_body, at("w/ro/given")), "==", 0,
	       "another file it does");
	sbx_free(policy);
}

/* More spots than descriptors that one may have. */
static int few_body(void *arg)
{
	struct rlimit few, after;

	if (getrlimit(RLIMIT_NOFILE, &few) < 0)
		return BROKEN;
	few.rlim_cur = 8;
	if (setrlimit(RLIMIT_NOFILE, &few) < 0 || confine(arg, newest, LAYER_PROGRAM) < 0)
		return BROKEN;
	return getrlimit(RLIMIT_NOFILE, &after) < 0 || after.rlim_cur != 8;
}

static void test_many(void)
{
	struct sbx_policy *policy =
		load_here("[paths]\nread = /etc, /usr, /var, w/bin, w/ro, w/work, w/all, "
			  "w/secret, w/work-evil, /proc\n");

	cmp_ok(in_child(user, few_body, (void *)(uintptr_t)sbx_policy_image(policy)), "==", 0,
	       "a low limit of open files is no obstacle, and is there again afterwards");
	sbx_free(policy);
}

static void test_moves(void)
{
	struct sbx_policy *policy;
	int ruleset;

	put_link(at("w/named"), "ro", user);
	policy = load_here("[paths]\nread = w/named\n");
	ruleset = build(sbx_policy_image(policy), newest, LAYER_PROGRAM);
	unlink(at("w/named"));
	put_link(at("w/named"), "secret", user);
	cmp_ok(play_under(ruleset, read_body, at("w/ro/file")), "==", 0,
	       "V046 a link that a policy names is followed once");
	cmp_ok(play_under(ruleset, read_body, at("w/named/key")), "==", EACCES,
	       "V046 and not again");
	rename(at("w/ro"), at("w/moved"));
	put_link(at("w/ro"), "secret", user);
	cmp_ok(play_under(ruleset, read_body, at("w/ro/key")), "==", EACCES,
	       "V047 a tree that was swapped has no rights");
	cmp_ok(play_under(ruleset, read_body, at("w/moved/file")), "==", 0,
	       "V047 they stay on the inode");
	close(ruleset);
	sbx_free(policy);
	plant();
}

struct nest {
	const struct sbx_image *wide;
	const struct sbx_image *narrow;
};

static int nest_body(void *arg)
{
	const struct nest *nest = arg;

	if (confine(nest->wide, newest, LAYER_LAUNCHER) < 0 ||
	    confine(nest->narrow, newest, LAYER_PROGRAM) < 0 ||
	    confine(nest->wide, newest, LAYER_PROGRAM) < 0)
		return BROKEN;
	if (open_act(at("w/ro/file"), O_RDONLY) < 0)
		return BROKEN;
	return open_act(at("w/work/file"), O_WRONLY) < 0 ? errno : 0;
}

static int many_body(void *arg)
{
	const int *ruleset = arg;
	struct launch_error error = { "" };
	int result = 0, layers = 0;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	while (layers < 20 && (result = launch_landlock_enforce(*ruleset, &error)) == 0)
		layers++;
	if (result != -E2BIG || !strstr(error.text, "16 Landlock layers are in use"))
		return BROKEN;
	return layers;
}

static void test_nesting(void)
{
	struct sbx_policy *wide = load_here("[paths]\nread = /\nwrite = w/work\n");
	struct sbx_policy *narrow = load_here("[paths]\nread = w/ro\n");
	struct nest nest = { sbx_policy_image(wide), sbx_policy_image(narrow) };
	int ruleset = build(nest.wide, newest, LAYER_PROGRAM);

	cmp_ok(in_child(user, nest_body, &nest), "==", EACCES, "V124 nesting only narrows");
	cmp_ok(in_child(user, many_body, &ruleset), "<=", 16,
	       "V125 the 17th layer is refused in words");
	close(ruleset);
	sbx_free(wide);
	sbx_free(narrow);
}

static int tty_body(void *arg)
{
	struct winsize size;
	int fd = open(arg, O_RDONLY | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? BROKEN : ioctl(fd, TIOCGWINSZ, &size) < 0 ? errno : 0;
}

/* Terminals are terminals; what lies outside /dev and is not named has no ioctl. */
static void test_ioctl(void)
{
	struct sbx_policy *named = load_here("[paths]\nwrite = /dev/ptmx ?\n");
	struct sbx_policy *all = load_here("[paths]\nread = /\n");
	char folder[] = "/tmp/sbx-unit-XXXXXX", node[64], text[256];
	int refused = newest >= 5 ? EACCES : ENOTTY;

	skip(play_under(-1, tty_body, "/dev/ptmx") != 0, 2, "there are no terminals");
	cmp_ok(play(named, newest, LAYER_PROGRAM, tty_body, "/dev/ptmx"), "==", 0,
	       "a terminal that is named is one");
	cmp_ok(play(all, newest, LAYER_PROGRAM, tty_body, "/dev/ptmx"), "==", 0,
	       "and where everything can be read");
	end_skip;
	sbx_free(named);
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0)
		BAIL_OUT("cannot make a folder in /tmp");
	snprintf(node, sizeof(node), "%s/null", folder);
	snprintf(text, sizeof(text), "[paths]\nread = %s\n", folder);
	skip(mknod(node, S_IFCHR | 0666, makedev(1, 3)) < 0 || chmod(node, 0666) < 0 ||
		     play_under(-1, tty_body, node) != ENOTTY,
	     2, "devices cannot be made or opened here");
	cmp_ok(play(all, newest, LAYER_PROGRAM, tty_body, node), "==", refused,
	       "a device outside /dev has no ioctl");
	named = load_here(text);
	cmp_ok(play(named, newest, LAYER_PROGRAM, tty_body, node), "==", refused,
	       "in a folder too");
	sbx_free(named);
	end_skip;
	sbx_free(all);
	unlink(node);
	rmdir(folder);
}

/* Of another process: as the same user, but outside. */
static int signal_body(void *arg)
{
	struct scene *scene = arg;
	struct launch_error error;
	int ends[2];
	char byte;
	pid_t other;

	if (pipe(ends) < 0)
		return BROKEN;
	other = fork();
	/* It ends with us, by the pipe: a signal of ours, even at our death, would not get out. */
	if (other == 0) {
		close(ends[1]);
		(void)!read(ends[0], &byte, 1);
		_exit(0);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (launch_landlock_enforce(scene->ruleset, &error) < 0)
		return BROKEN;
	return kill(other, 0) < 0 ? errno : 0;
}

static int abstract_body(void *arg)
{
	struct scene *scene = arg;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	socklen_t size = sizeof(sa_family_t);
	struct launch_error error;
	int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (bind(server, (struct sockaddr *)&address, size) < 0 || listen(server, 1) < 0)
		return BROKEN;
	size = sizeof(address);
	if (getsockname(server, (struct sockaddr *)&address, &size) < 0 ||
	    launch_landlock_enforce(scene->ruleset, &error) < 0)
		return BROKEN;
	return connect(client, (struct sockaddr *)&address, size) < 0 ? errno : 0;
}

static void test_scopes(void)
{
	struct sbx_policy *policy = load_here("[paths]\nread = /\n");

	for (int abi = 1; abi <= newest; abi++) {
		for (enum launch_layer layer = LAYER_LAUNCHER; layer <= LAYER_PROGRAM; layer++) {
			int ruleset = build(sbx_policy_image(policy), abi, layer);
			struct scene scene = { .ruleset = ruleset };
			int code = abi >= 6 && layer == LAYER_PROGRAM ? EPERM : 0;

			cmp_ok(in_child(user, signal_body, &scene), "==", code,
			       "ABI %d, layer %c: signals", abi, 'A' + layer);
			cmp_ok(in_child(user, abstract_body, &scene), "==", code,
			       "ABI %d, layer %c: abstract sockets", abi, 'A' + layer);
			close(ruleset);
		}
	}
	sbx_free(policy);
}

static struct sockaddr_in loopback(uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static int connect_body(void *arg)
{
	struct sockaddr_in address = loopback(*(uint16_t *)arg);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? errno : 0;
}

static int bind_body(void *arg)
{
	struct sockaddr_in address = loopback(*(uint16_t *)arg);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ? errno : 0;
}

/* Two listeners; their ports are given back. */
static bool serve(uint16_t ports[2])
{
	for (int i = 0; i < 2; i++) {
		struct sockaddr_in address = loopback(0);
		socklen_t size = sizeof(address);
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (bind(fd, (struct sockaddr *)&address, size) < 0 || listen(fd, 64) < 0 ||
		    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
			return false;
		ports[i] = ntohs(address.sin_port);
	}
	return play_under(-1, connect_body, &ports[0]) == 0;
}

static const struct {
	const char *policy; /* the first listener's port follows it when it ends in a colon */
	int first, second; /* errors of connecting */
	int free, fixed; /* and of binding port 0, and one that nobody named */
} nets[] = {
	{ "[network]\nmode = none\n", EACCES, EACCES, 0, EACCES },
	{ "[network]\nmode = none\nown = no\n", EACCES, EACCES, EACCES, EACCES },
	{ "[network]\nconnect = 127.0.0.1:", 0, EACCES, 0, EACCES },
	{ "[network]\nconnect = *:1-65535\n", 0, 0, 0, EACCES },
	{ "[network]\nconnect = unix:/run/x\n", EACCES, EACCES, 0, EACCES },
	{ "[network]\ndeny = *:25\nbind = 127.0.0.1:", EACCES, EACCES, 0, EACCES },
	{ "[network]\nmode = full\n", 0, 0, 0, 0 },
};

static void try_net(size_t row, int abi, enum launch_layer layer, uint16_t ports[2])
{
	static const uint16_t zero;
	bool held = abi >= 4 && layer == LAYER_PROGRAM;
	uint16_t unused = 47; /* not to be had by chance; root alone could bind it */
	struct sbx_policy *policy;
	char text[256];

	snprintf(text, sizeof(text), "%s", nets[row].policy);
	if (text[strlen(text) - 1] == ':')
		snprintf(text, sizeof(text), "%s%u\n", nets[row].policy, ports[0]);
	policy = load_here(text);
	cmp_ok(play(policy, abi, layer, connect_body, &ports[0]), "==", held ? nets[row].first : 0,
	       "ABI %d, layer %c, net %zu: the first port", abi, 'A' + layer, row);
	cmp_ok(play(policy, abi, layer, connect_body, &ports[1]), "==", held ? nets[row].second : 0,
	       "ABI %d, layer %c, net %zu: the second", abi, 'A' + layer, row);
	cmp_ok(play(policy, abi, layer, bind_body, &zero), "==", held ? nets[row].free : 0,
	       "ABI %d, layer %c, net %zu: any port", abi, 'A' + layer, row);
	if (user == 0 && geteuid() == 0)
		cmp_ok(play(policy, abi, layer, bind_body, &unused),
		       "==", held ? nets[row].fixed : 0, "ABI %d, layer %c, net %zu: one port", abi,
		       'A' + layer, row);
	sbx_free(policy);
}

static void test_net(void)
{
	uint16_t ports[2];

	skip(!serve(ports), 1, "there is no loopback");
	for (int abi = newest < 3 ? newest : 3; abi <= newest; abi++)
		for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++)
			for (int layer = LAYER_LAUNCHER; layer <= LAYER_PROGRAM; layer++)
				try_net(i, abi, (enum launch_layer)layer, ports);
	end_skip;
}

static void test_all(void)
{
	plant();
	test_rows();
	plant();
	test_descriptors();
	test_program();
	test_layers();
	test_lock();
	test_many();
	test_moves();
	test_nesting();
	test_ioctl();
	test_scopes();
	test_net();
}

int main(void)
{
	newest = launch_landlock_abi();
	if (!newest)
		plan(SKIP_ALL, "this kernel has no Landlock");
	plan(NO_PLAN);
	note("Landlock ABI %d", newest);
	tree_begin_fast();
	test_all();
	if (getuid() == 0) {
		user = NOBODY;
		test_all();
	}
	done_testing();
}
