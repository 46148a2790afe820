/* SPDX-License-Identifier: MIT */
/*
 * Attacks on holes in a place that may be written, where namespaces are to be had and where not; and
 * on what the kernel's rules do not see.
 *
 * SBX_ATTACK_TIMES: how often races are run.
 */
#include "contract.h"
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <tap.h>

static void make_folders(const struct scene *scene)
{
	static const char *const folders[] = {
		"work/hole",	    "work/hole/dir",	"work/hole/empty",  "work/hule",
		"work/outer",	    "work/outer/hole",	"work/sub",	    "work/sub/folder",
		"work/sub/inner",   "work/repo",	"work/repo/.git",   "work/repo/.git/hooks",
		"work/.vscode",	    "work/fixed",	"work/docs",	    "work/sub/folder2",
		"work/sub/folder3", "work/sub/folder4", "work/sub/folder5", "work/sub/folder6",
	};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(scene_at(scene, folders[i]), 0755) < 0)
			BAIL_OUT("no folder %s", folders[i]);
}

static void make_files(const struct scene *scene)
{
	static const char *const secrets[] = { "work/hole/key",	      "work/hole/dir/deep",
					       "work/outer/hole/key", "work/.env",
					       "work/sub/.env",	      "work/docs/x.txt",
					       "work/docs/big.md" };
	static const char *const others[] = {
		"work/hule/key", "work/repo/.git/config",      "work/repo/.git/hooks/pre-commit",
		"work/.npmrc",	 "work/.vscode/settings.json", "work/fixed/file",
		"work/docs/a.md"
	};
	char text[128];

	snprintf(text, sizeof(text),
		 "the secret is %s, and that is all that there is to say of it\n", scene->marker);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
		scene_put(scene, secrets[i], text, strlen(text));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		scene_put(scene, others[i], "mine\n", 5);
	scene_put(scene, "work/more.ini", "[limits]\nopen_files = 500\n",
		  strlen("[limits]\nopen_files = 500\n"));
	scene_put(scene, "work/log.json", "", 0);
}

static const char *const watched[] = { "hole",	  ".env",     ".npmrc",	    ".vscode", ".idea",
				       ".bashrc", "hooks",    ".husky",	    ".envrc",  "fixed",
				       "docs",	  "more.ini", "policy.ini", "repo",    NULL };

static void prepare(struct scene *scene)
{
	scene->watched = watched;
	scene->policy_in = "work";
	scene_own_files(scene, true);
	make_folders(scene);
	make_files(scene);
	scene_own_files(scene, false);
}

static void dig(struct scene *scene)
{
	prepare(scene);
	scene_policy(scene, "deny = ./hole, ./outer/hole, ./none/hole, **/.env\n"
			    "[sandbox]\ninclude = ./more.ini\n[errors]\nlog = ./log.json\n"
			    "[path fixed]\nroot = ./fixed\nmode = ro\n"
			    "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md\n"
			    "max_file_bytes = 64\n");
}

/* No patterns, no conditions. */
static void dig_by_name(struct scene *scene)
{
	prepare(scene);
	scene_fact(scene, "voucher=%llx", (unsigned long long)SBX_VOUCHER);
	scene_policy(scene, "deny = ./hole, ./outer/hole, ./none/hole, ./.env, ./sub/.env, "
			    "./docs/x.txt, ./docs/big.md, ./folder/.env, ./s2/.env, "
			    "./sub/folder/.env, ./sub/inner/.env, ./sub/folder2/.env, "
			    "./sub/folder3/.env, ./sub/folder4/.env, ./sub/folder5/.env, "
			    "./sub/folder6/.env\n"
			    "[sandbox]\ninclude = ./more.ini\n[errors]\nlog = ./log.json\n"
			    "[path fixed]\nroot = ./fixed\nmode = ro\n");
}

/* What is allowed in docs/ may change. */
static void dig_and_use(struct scene *scene)
{
	static const char *const fewer[] = { "hole", ".env", "fixed", "more.ini", NULL };

	dig(scene);
	scene->watched = fewer;
}

/* In the repository all but settings and hooks may change. */
static void dig_repository(struct scene *scene)
{
	static const char *const fewer[] = { "hole",   ".env",	  ".npmrc", ".vscode",
					     ".idea",  ".bashrc", "hooks",  "config",
					     ".husky", ".envrc",  NULL };

	dig(scene);
	scene->watched = fewer;
}

static void race(struct scene *scene, int times)
{
	static const char *const fewer[] = { "hole", ".env", "hooks", NULL };

	scene->watched = fewer;
	if (scene->sandboxed)
		scene_races(scene, times, times / 10);
	else
		scene_fact(scene, "times=1"), scene_fact(scene, "until-won=yes");
}

static void dig_and_race(struct scene *scene)
{
	dig(scene);
	race(scene, 1000);
}

static void dig_by_name_and_race(struct scene *scene)
{
	dig_by_name(scene);
	race(scene, 300);
}

static void put_attribute(struct scene *scene)
{
	if (setxattr(scene_at(scene, "secret/key"), "user.secret", scene->marker,
		     strlen(scene->marker), 0) < 0)
		diag("no extended attributes here");
}

static const struct attack_hook hooks[] = {
	{ .id = "V028", .arrange = dig, .explained = "denied by a rule." },
	{ .id = "V029", .arrange = dig, .explained = "denied by a rule." },
	{ .id = "V029b", .arrange = dig },
	{ .id = "V030", .arrange = dig, .explained = "denied by a rule." },
	{ .id = "V030b", .arrange = dig_and_use },
	{ .id = "V031", .arrange = dig },
	{ .id = "V032", .arrange = dig },
	{ .id = "V033", .arrange = dig },
	{ .id = "V033b", .arrange = dig },
	{ .id = "V033c", .arrange = dig },
	{ .id = "V033d", .arrange = dig },
	{ .id = "V034", .arrange = dig, .explained = "it runs later, outside the sandbox." },
	{ .id = "V035",
	  .arrange = dig_repository,
	  .explained = "it runs later, outside the sandbox." },
	{ .id = "V035b", .arrange = dig_repository },
	{ .id = "V123b", .arrange = dig },
	{ .id = "V064d", .arrange = dig },
	{ .id = "V051h", .arrange = dig_and_race },
	{ .id = "V028n", .arrange = dig_by_name, .explained = "denied by a rule." },
	{ .id = "V030n", .arrange = dig_by_name, .explained = "denied by a rule." },
	{ .id = "V031n", .arrange = dig_by_name },
	{ .id = "V032n", .arrange = dig_by_name },
	{ .id = "V033n", .arrange = dig_by_name },
	{ .id = "V033o", .arrange = dig_by_name },
	{ .id = "V033p", .arrange = dig_by_name },
	{ .id = "V028v", .arrange = dig_by_name },
	{ .id = "V030v", .arrange = dig_by_name },
	{ .id = "V051n", .arrange = dig_by_name_and_race },
	{ .id = "V023", .arrange = put_attribute },
	{ .id = NULL },
};

static void both(bool user)
{
	attack_twice(HOLES, user, hooks);
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(UNSEEN, way, user, hooks);
	attack_holes(UNSEEN, user, hooks);
}

int main(void)
{
	attack_begin();
	attack_as_each(both);
	return attack_end();
}
