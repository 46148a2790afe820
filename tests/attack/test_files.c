/* SPDX-License-Identifier: MIT */
/*
 * Attacks on files, by a program that is built and started in every way there is: what a program
 * does to libraries, to its environment or to system calls must not change what it can reach.
 */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tap.h>
#include <unistd.h>

/* It attacks its own file, so it gets one. */
static void own_copy(struct scene *scene)
{
	const char *other = strcmp(scene->way->program, "attack") ? "attack" : "attack-static";

	scene_copy(scene, scene->program, "bin/attack", 0755);
	snprintf(scene->program, sizeof(scene->program), "%s", scene_at(scene, "bin/attack"));
	scene_fact(scene, "other=%s/build/programs/%s", attack_folder(), other);
	scene_policy(scene, "exec = %s/bin/attack\n", scene->world);
}

static void above(struct scene *scene)
{
	scene->wrapped = true;
	scene_fact(scene, "harness=%d", getpid());
}

/* One that the program could replace itself would be an error. */
static void allow_link(struct scene *scene)
{
	scene_policy(scene, "write = %s/ro/link\n", scene->world);
}

static void change_link(struct scene *scene)
{
	if (unlink(scene_at(scene, "ro/link")) < 0 ||
	    symlink("../secret", scene_at(scene, "ro/link")) < 0)
		BAIL_OUT("no link");
}

static void replace_tree(struct scene *scene)
{
	if (rename(scene_at(scene, "work"), scene_at(scene, "work.old")) < 0 ||
	    symlink("secret", scene_at(scene, "work")) < 0)
		BAIL_OUT("no link");
}

static const char *const shared[] = { "/tmp", "/var/tmp", "/dev/shm" };

static void name_file(struct scene *scene)
{
	scene_fact(scene, "name=sbx-attack-%.16s", scene->marker);
}

/* Where nothing stands for them they are refused; tests/e2e/tmp-mount.t has what else there is. */
static void leave_shared(struct scene *scene)
{
	name_file(scene);
	scene_policy(scene, "[sandbox]\nisolate = none\n[paths]\n");
}

/* Removes them, too. */
static bool shared_file(struct scene *scene)
{
	bool found = false;

	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/sbx-attack-%.16s", shared[i], scene->marker);
		found |= unlink(path) == 0;
	}
	return found;
}

static const struct attack_hook hooks[] = {
	{ .id = "V040", .arrange = own_copy },
	{ .id = "V043", .arrange = above },
	{ .id = "V046", .arrange = allow_link, .meanwhile = change_link },
	{ .id = "V047", .meanwhile = replace_tree },
	{ .id = "V048", .arrange = leave_shared, .seen = shared_file },
	{ .id = NULL },
};

static void in_every_way(bool user)
{
	attack_in_every_way(FILES, user, hooks);
	attack_holes(FILES, user, hooks);
}

int main(void)
{
	attack_begin();
	attack_as_each(in_every_way);
	return attack_end();
}
