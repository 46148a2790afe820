/* SPDX-License-Identifier: MIT */
/*
 * Attacks on other processes, and on what the program and its children are allowed.
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <tap.h>
#include <unistd.h>

static void gone(struct scene *scene)
{
	scene_no_victim(scene);
}

/* Dead or stopped, after a moment; natively there is time. */
static bool victim_hit(struct scene *scene)
{
	int status, patience = scene->sandboxed ? 2 : 200;

	while (waitpid(scene->victim, &status, WNOHANG | WUNTRACED) != scene->victim) {
		if (!patience--)
			return false;
		usleep(5000);
	}
	if (!WIFSTOPPED(status))
		scene->victim = 0;
	return true;
}

static bool victim_tuned(struct scene *scene)
{
	struct rlimit limit = { 0 };

	prlimit(scene->victim, RLIMIT_NOFILE, NULL, &limit);
	return limit.rlim_cur == 77 || getpriority(PRIO_PROCESS, (id_t)scene->victim) >= 7 ||
	       sched_getscheduler(scene->victim) != SCHED_OTHER;
}

static void root_file(struct scene *scene)
{
	scene_put(scene, "ro/rootkey", scene->marker, strlen(scene->marker));
	scene_copy(scene, scene->program, "bin/gain", 0755);
	if (chown(scene_at(scene, "ro/rootkey"), 0, 0) < 0 ||
	    chmod(scene_at(scene, "ro/rootkey"), 0600) < 0 ||
	    chown(scene_at(scene, "bin"), 0, 0) < 0 || chown(scene_at(scene, "bin/gain"), 0, 0) < 0)
		BAIL_OUT("no file of root's");
	scene_fact(scene, "program=%s", scene_at(scene, "bin/gain"));
	scene_policy(scene, "exec = %s/bin\n", scene->world);
}

static void make_setuid(struct scene *scene)
{
	root_file(scene);
	if (chmod(scene_at(scene, "bin/gain"), 04755) < 0)
		BAIL_OUT("no set-user-ID program");
}

static void make_capable(struct scene *scene)
{
	struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH,
	};

	root_file(scene);
	if (setxattr(scene_at(scene, "bin/gain"), "security.capability", &data, sizeof(data), 0) <
	    0)
		BAIL_OUT("no program with capabilities: %s", strerror(errno));
}

static void leak_descriptor(struct scene *scene)
{
	scene->descriptor = open(scene_at(scene, "secret/key"), O_RDONLY | O_CLOEXEC);
}

static void close_descriptor(struct scene *scene)
{
	close(scene->descriptor);
}

/* Where core_pattern leads to a pipe there is no file, but the kernel tells. */
static bool core_dumped(struct scene *scene)
{
	DIR *work = opendir(scene_at(scene, "work"));
	bool found = scene_says(scene, "step core ok");

	if (!work)
		return true;
	for (struct dirent *entry; (entry = readdir(work));)
		found |= !strncmp(entry->d_name, "core", 4);
	closedir(work);
	return found;
}

static const struct attack_hook hooks[] = {
	{ .id = "V049", .seen = core_dumped },
	{ .id = "V079", .arrange = scene_victim, .clear = gone },
	{ .id = "V080", .arrange = scene_victim, .clear = gone },
	{ .id = "V086", .arrange = make_setuid },
	{ .id = "V087", .arrange = make_capable },
	{ .id = "V089", .arrange = scene_victim, .seen = victim_hit, .clear = gone },
	{ .id = "V089c", .arrange = scene_victim, .seen = victim_hit, .clear = gone },
	{ .id = "V090", .arrange = scene_victim, .seen = victim_tuned, .clear = gone },
	{ .id = "V091", .arrange = leak_descriptor, .clear = close_descriptor },
	{ .id = NULL },
};

static void line_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		_exit(2);
	close(fd);
}

/*
 * A process namespace, and a /proc of it: what is done to everybody must not leave the test,
 * whether the sandbox holds or not. Returns in its first process; the caller exits with what that says, or
 * with 2 when there is no such namespace.
 */
static void alone(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };
	char map[64];
	uid_t uid = getuid();
	gid_t gid = getgid();
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWPID | CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) < 0)
		_exit(2);
	if (uid) {
		line_to("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		line_to("/proc/self/uid_map", map);
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		line_to("/proc/self/gid_map", map);
	}
	if ((pid = fork()) > 0) {
		waitpid(pid, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
	}
	if (pid < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0)
		_exit(2);
	/* a user has none outside either, and one without may do nothing to one with them */
	if (uid && syscall(SYS_capset, &head, none) < 0)
		_exit(2);
}

/* Exits with 0 when the victim is gone, 1 when it is there, 2 when it cannot be judged. */
static void signal_everybody(struct scene *scene, bool sandboxed, int report)
{
	alone();
	scene_victim(scene);
	scene_run(scene, sandboxed, NULL);
	dprintf(report, "status %d\nnice %d\n%s", scene->status,
		getpriority(PRIO_PROCESS, (id_t)scene->victim), scene->out);
	/* Who is killed takes a moment to go, natively. */
	for (int i = 0; i < (sandboxed ? 5 : 500); i++) {
		if (waitpid(scene->victim, NULL, WNOHANG) != 0)
			_exit(0);
		usleep(10000);
	}
	_exit(1);
}

static int everybody(const struct attack_way *way, bool user, bool sandboxed, char *text,
		     size_t size)
{
	static struct scene scene;
	int status = 0, report[2];
	ssize_t got;
	pid_t pid;

	scene_open(&scene, "V089b", way, user);
	if (pipe2(report, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		BAIL_OUT("no child");
	if (pid == 0)
		signal_everybody(&scene, sandboxed, report[1]);
	close(report[1]);
	got = read(report[0], text, size - 1);
	text[got < 0 ? 0 : got] = 0;
	close(report[0]);
	waitpid(pid, &status, 0);
	scene_close(&scene);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void test_everybody(const struct attack_way *way, bool user)
{
	const char *who = user ? "an ordinary user" : "root";
	char text[1024];
	int result = everybody(way, user, false, text, sizeof(text));

	if (result == 2) {
		tap_skip(2, "V089b as %s: no process namespace to try it in", who);
		return;
	}
	if (!ok(result == 0 && strstr(text, "nice 9\n"),
		"V089b a signal to everybody, and priority, %s, as %s: works natively", way->name,
		who))
		diag("%d: %s", result, text);
	result = everybody(way, user, true, text, sizeof(text));
	if (!ok(result == 1 && strstr(text, "own: gone") && strstr(text, "nice 0\n") &&
			strstr(text, "status 1\n"),
		"V089b a signal to everybody, and priority, %s, as %s: ends its own in the sandbox",
		way->name, who))
		diag("%d: %s", result, text);
}

/* Whether somebody counts on in work/beat. */
static bool beats(const struct scene *scene)
{
	unsigned counts[2] = { 0 };
	int fd = open(scene_at(scene, "work/beat"), O_RDONLY | O_CLOEXEC);

	for (int i = 0; i < 2; i++) {
		if (i)
			usleep(100000);
		if (fd < 0 || pread(fd, &counts[i], sizeof(counts[i]), 0) < 0)
			counts[i] = 0;
	}
	if (fd >= 0)
		close(fd);
	return counts[0] != counts[1];
}

/* Asks them to go, and makes sure. */
static void end_daemons(const struct scene *scene)
{
	scene_put(scene, "work/stop", "", 0);
	for (int i = 0; i < 100 && (beats(scene) || scene_processes(scene)); i++)
		scene_end_all(scene);
}

static void test_daemon(const struct attack_way *way, const char *kind, bool user)
{
	static struct scene scene;
	const char *who = user ? "an ordinary user" : "root";

	scene_open(&scene, "V092", way, user);
	scene_fact(&scene, "kind=%s", kind);
	scene_run(&scene, false, NULL);
	if (!ok(scene.status == 0 && beats(&scene),
		"V092 a %s daemon stays behind, %s, as %s: works natively", kind, way->name, who))
		scene_show(&scene);
	end_daemons(&scene);
	scene_close(&scene);

	scene_open(&scene, "V092", way, user);
	scene_fact(&scene, "kind=%s", kind);
	scene_run(&scene, true, NULL);
	if (!ok(scene.status == 0 && access(scene_at(&scene, "work/beat"), F_OK) == 0 &&
			!beats(&scene) && !scene_processes(&scene),
		"V092 a %s daemon stays behind, %s, as %s: it ends with the sandbox", kind,
		way->name, who))
		scene_show(&scene);
	end_daemons(&scene);
	scene_close(&scene);
}

static size_t tasks; /* at the height of the bomb */

static void count(struct scene *scene)
{
	tasks = scene_processes(scene);
}

static void test_bomb(const struct attack_way *way, const char *of, bool user)
{
	static struct scene scene;
	const char *who = user ? "an ordinary user" : "root";

	tasks = 0;
	scene_open(&scene, "V066", way, user);
	scene_fact(&scene, "of=%s", of);
	scene_run(&scene, false, count);
	if (!ok(scene.status == 0 && tasks > 50, "V066 bomb of %s, %s, as %s: works natively", of,
		way->name, who)) {
		diag("%zu were seen", tasks);
		scene_show(&scene);
	}
	scene_end_all(&scene);
	scene_close(&scene);

	tasks = 0;
	scene_open(&scene, "V066", way, user);
	scene_fact(&scene, "of=%s", of);
	scene_policy(&scene, "[limits]\nprocesses = 50\n");
	scene_run(&scene, true, count);
	if (!ok(scene.status == 1 && scene_says(&scene, "step fork EAGAIN") && tasks > 40 &&
			tasks <= 50,
		"V066 bomb of %s, %s, as %s: never more than 50 in the sandbox", of, way->name,
		who)) {
		diag("%zu were seen", tasks);
		scene_show(&scene);
	}
	ok(scene_processes(&scene) == 0, "V066 bomb of %s, %s, as %s: nothing stays behind", of,
	   way->name, who);
	scene_end_all(&scene);
	scene_close(&scene);
}

static void in_both_builds(bool user)
{
	for (const struct attack_way *way = attack_ways; way->name; way++) {
		attack_all(PROCESS, way, user, hooks);
		if (getenv("SBX_ATTACK"))
			continue;
		test_everybody(way, user);
		test_daemon(way, "sleeping", user);
		if (way == attack_ways) {
			test_daemon(way, "running", user);
			test_daemon(way, "sibling", user);
		}
		test_bomb(way, "processes", user);
		test_bomb(way, "threads", user);
	}
}

int main(void)
{
	attack_begin();
	attack_as_each(in_both_builds);
	return attack_end();
}
