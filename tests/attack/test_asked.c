/* SPDX-License-Identifier: MIT */
/*
 * Attacks on whoever answers system calls: it must neither be confused, nor stopped, nor taken in;
 * and what is allowed has to work as it does without a sandbox.
 */
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tap.h>
#include <unistd.h>

#include "contract.h"

/* In full with the shim and without; elsewhere it is enough to see that nothing is different. */
static void often(struct scene *scene, int full, int some)
{
	bool all = !strcmp(scene->way->name, "dynamic") ||
		   !strcmp(scene->way->program, "attack-static");

	scene_fact(scene, "times=%d", scene->sandboxed && all ? full : some);
}

/* Paths that differ in one letter. */
static void two_folders(struct scene *scene)
{
	if (mkdir(scene_at(scene, "wark"), 0755) < 0)
		BAIL_OUT("no folder");
	scene_put(scene, "wark/key", scene->marker, strlen(scene->marker));
	scene_put(scene, "work/key", "mine\n", 5);
	if (mkdir(scene_at(scene, "so"), 0755) < 0)
		BAIL_OUT("no folder");
	scene_put(scene, "so/key", scene->marker, strlen(scene->marker));
	scene_put(scene, "ro/key", "mine\n", 5);
	scene_races(scene, 20000, 1000);
}

/* And the files are the program's own, as far as ordinary permissions go. */
static void two_own_folders(struct scene *scene)
{
	const uid_t nobody = 65534;

	two_folders(scene);
	if (scene->user && geteuid() == 0 &&
	    (chown(scene_at(scene, "work/key"), nobody, nobody) < 0 ||
	     chown(scene_at(scene, "wark/key"), nobody, nobody) < 0))
		BAIL_OUT("no files for the user");
}

static void tell_words(struct scene *scene)
{
	char name[32];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "secret/from%d", i);
		scene_put(scene, name, "", 0);
		snprintf(name, sizeof(name), "secret/file%d", i);
		scene_put(scene, name, "", 0);
		snprintf(name, sizeof(name), "secret/dir%d", i);
		if (mkdir(scene_at(scene, name), 0755) < 0)
			BAIL_OUT("no folder");
	}
	scene_fact(scene, "voucher=%llx", (unsigned long long)SBX_VOUCHER);
	scene_fact(scene, "ask=%llx", (unsigned long long)SBX_ASK);
}

static struct scene_holds first, last;

static void two_hundred(struct scene *scene)
{
	memset(&first, 0, sizeof(first));
	often(scene, 200, 8);
}

static void look_at_supervisor(struct scene *scene)
{
	pid_t pid = scene->sandboxed ? scene_supervisor(scene) : 0;

	if (!pid)
		return;
	last = scene_holds(pid);
	if (!first.threads)
		first = last;
}

/* Clients came and went in between: one thing kept of each would be many times this. */
static bool supervisor_grew(struct scene *scene)
{
	if (!scene->sandboxed)
		return false;
	if (!first.threads)
		return diag("there was no supervisor"), true;
	if (last.descriptors <= first.descriptors + 8 && last.threads <= first.threads + 4)
		return false;
	diag("%zu descriptors and %zu threads became %zu and %zu", first.descriptors, first.threads,
	     last.descriptors, last.threads);
	return true;
}

static void storms(struct scene *scene)
{
	often(scene, 100, 25);
}

/* Where each of them is asked about. */
static void many_opens(struct scene *scene)
{
	bool all = scene->sandboxed && !strcmp(scene->way->program, "attack-static");

	scene_fact(scene, "times=%d", all ? 1000 : 30);
}

static void unreadable_copy(struct scene *scene)
{
	scene_copy(scene, scene->program, "bin/unreadable", 0111);
	scene_fact(scene, "copy=%s", scene_at(scene, "bin/unreadable"));
	scene_policy(scene, "exec = %s/bin/unreadable\n", scene->world);
}

/* What it printed natively. */
static char *natively;

static void show_differences(const char *before, const char *after)
{
	while (*before && *after) {
		int a = (int)strcspn(before, "\n"), b = (int)strcspn(after, "\n");

		if (a != b || memcmp(before, after, (size_t)a) != 0)
			diag("natively %.*s; here %.*s", a, before, b, after);
		before += a + (before[a] != 0);
		after += b + (after[b] != 0);
	}
}

static bool resolves_otherwise(struct scene *scene)
{
	const char *other = strstr(scene->out, "resolve ");
	bool different;

	if (!scene->sandboxed) {
		free(natively);
		natively = strdup(other ? other : "");
		return false;
	}
	different = !natively || !other || strcmp(natively, other) != 0;
	if (different && natively && other)
		show_differences(natively, other);
	return different;
}

#define KEY_EXPLAINED "secret/key': path is outside the sandbox."

static const struct attack_hook hooks[] = {
	{ .id = "V051",
	  .explained = "wark/key': path is outside the sandbox.",
	  .arrange = two_folders },
	{ .id = "V051b", .explained = KEY_EXPLAINED, .arrange = tell_words },
	{ .id = "V051c",
	  .explained = "wark/key': path is outside the sandbox.",
	  .arrange = two_own_folders },
	{ .id = "V052",
	  .explained = "secret/dir/deep': path is outside the sandbox.",
	  .arrange = two_hundred,
	  .meanwhile = look_at_supervisor,
	  .seen = supervisor_grew },
	{ .id = "V056", .explained = KEY_EXPLAINED },
	{ .id = "V057", .arrange = storms },
	{ .id = "V063", .explained = KEY_EXPLAINED },
	{ .id = "V065", .explained = KEY_EXPLAINED, .arrange = many_opens },
	{ .id = "V067", .explained = KEY_EXPLAINED },
	{ .id = "V069", .arrange = unreadable_copy },
	{ .id = "V070", .seen = resolves_otherwise },
	{ .id = NULL },
};

static const char *to_kill;

static void kill_who_answers(struct scene *scene)
{
	pid_t pid = strcmp(to_kill, "supervisor") ? scene->child : scene_supervisor(scene);

	if (pid <= 1 || kill(pid, SIGKILL) < 0)
		diag("there is no %s", to_kill);
}

/* It says there what it could read. */
static bool leaked(const struct scene *scene)
{
	char bytes[256] = { 0 };
	int fd = open(scene_at(scene, "work/leak"), O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, bytes, sizeof(bytes) - 1);
	close(fd);
	return got > 0 && strstr(bytes, scene->marker);
}

/* Waits until they are gone, for as long as anything may take; or shows that they stay. */
static bool gone(const struct scene *scene, int patience)
{
	for (int i = 0; i < patience; i++) {
		if (!scene_processes(scene))
			return true;
		usleep(10000);
	}
	return false;
}

static void test_killed(const char *victim, const struct attack_way *way, bool user)
{
	static struct scene scene;
	const char *who = user ? "an ordinary user" : "root";

	to_kill = "launcher";
	scene_open(&scene, "V053", way, user);
	scene_run(&scene, false, kill_who_answers);
	if (!ok(!gone(&scene, 20) && leaked(&scene),
		"V053 %s killed, %s, as %s: natively it goes on", to_kill, way->name, who))
		scene_show(&scene);
	scene_end_all(&scene);
	gone(&scene, 2000);
	scene_close(&scene);

	to_kill = victim;
	scene_open(&scene, "V053", way, user);
	scene_run(&scene, true, kill_who_answers);
	if (!ok(gone(&scene, 2000) && !leaked(&scene),
		"V053 %s killed, %s, as %s: nothing is let through, and nobody left", victim,
		way->name, who))
		scene_show(&scene);
	scene_end_all(&scene);
	scene_close(&scene);
}

static void in_every_way(bool user)
{
	const char *only = getenv("SBX_ATTACK");

	attack_in_every_way(ASKED, user, hooks);
	attack_holes(ASKED, user, hooks);
	if (only && strcmp(only, "V053") != 0)
		return;
	for (const struct attack_way *way = attack_ways; way->name; way++) {
		test_killed("launcher", way, user);
		test_killed("supervisor", way, user);
	}
}

int main(void)
{
	attack_begin();
	attack_as_each(in_every_way);
	free(natively);
	return attack_end();
}
