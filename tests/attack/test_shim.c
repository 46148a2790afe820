/* SPDX-License-Identifier: MIT */
/*
 * Attacks on what lives in the program's own process, and around it; and on the right to execute.
 */
#include "harness.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <tap.h>
#include <unistd.h>

#define NOBODY 65534

/* The installed files: for the moment those of whoever attacks them, or it could not succeed. */
static void own_installation(struct scene *scene, uid_t owner)
{
	static const char *const names[] = { "lib", "lib/libsbx-shim.so", "bin/sbx-policy" };
	char path[128];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/build/%s", attack_folder(), names[i]);
		if (attack_root() && access(path, F_OK) == 0 && chown(path, owner, owner) < 0)
			BAIL_OUT("cannot give away %s", path);
		if (i == 1 && access(path, F_OK) == 0 && owner != (uid_t)-1)
			scene_fact(scene, "shim=%s", path);
	}
}

static void give_installation(struct scene *scene)
{
	own_installation(scene, scene->user && attack_root() ? NOBODY : getuid());
	scene_fact(scene, "command=%s/build/bin/sbx-policy", attack_folder());
	scene_fact(scene, "beside=%s/build/lib/libevil.so", attack_folder());
}

static void take_installation(struct scene *scene)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/build/lib/libevil.so", attack_folder());
	unlink(path);
	scene->fact_count = 0;
	own_installation(scene, getuid());
}

static void allow_tools(struct scene *scene)
{
	scene_policy(scene, "exec = /bin/sh, /bin/cat\n");
}

static void often(struct scene *scene)
{
	bool all = scene->sandboxed && !strcmp(scene->way->name, "dynamic");

	scene_fact(scene, "times=%d", all ? 1000 : 50);
}

/* One that may be executed names one that may not. */
static void programs(struct scene *scene)
{
	char script[256];

	scene_copy(scene, scene->program, "bin/denied", 0755);
	scene_copy(scene, scene->program, "work/copy", 0755);
	scene_copy(scene, "/bin/sh", "bin/shell", 0755);
	scene_put(scene, "ro/marker", scene->marker, strlen(scene->marker));
	snprintf(script, sizeof(script),
		 "#!%s/bin/shell\nread -r line <%s/ro/marker\necho \"$line\"\n", scene->world,
		 scene->world);
	if (mkdir(scene_at(scene, "scripts"), 0755) < 0)
		BAIL_OUT("no folder");
	scene_put(scene, "scripts/script", script, strlen(script));
	if (chmod(scene_at(scene, "scripts/script"), 0755) < 0)
		BAIL_OUT("no script");
	scene_policy(scene, "exec = %s/scripts\n", scene->world);
}

#define KEY_EXPLAINED "secret/key': path is outside the sandbox."

static const struct attack_hook hooks[] = {
	{ .id = "V112", .arrange = give_installation, .clear = take_installation },
	{ .id = "V113", .explained = KEY_EXPLAINED },
	{ .id = "V114", .explained = KEY_EXPLAINED, .arrange = allow_tools },
	{ .id = "V115", .explained = KEY_EXPLAINED, .arrange = often },
	{ .id = "V116", .explained = KEY_EXPLAINED },
	{ .id = "V118", .explained = "bin/denied': program not allowed.", .arrange = programs },
	{ .id = NULL },
};

static void in_every_way(bool user)
{
	attack_in_every_way(SHIM, user, hooks);
}

int main(void)
{
	attack_begin();
	attack_as_each(in_every_way);
	return attack_end();
}
