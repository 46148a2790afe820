/* SPDX-License-Identifier: MIT */
/* libsbx as a program sees it: every function of sbx.h, with nothing but sbx.h. */
#include "sbx.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALONE "[sandbox]\ninclude = none\n"
#define UNTOUCHED ((struct sbx_policy *)&untouched)

static char untouched;

static const char policy_text[] =
	ALONE "[paths]\n"
	      "read = ./work\n"
	      "write = ./work/out\n"
	      "exec = ./work/tool\n"
	      "deny = ./work/private\n"
	      "hide = ./work/gone\n"
	      "[path docs]\nroot = ./docs\nmode = rw\nsuffixes = .md, .txt\nmax_file_bytes = 10\n"
	      "[network]\nconnect = api.example:443, unix:./work/socket\nbind = 127.0.0.1:80\n";

static void build(void)
{
	tree_begin();
	tree_file("work/f", "12345", 0644);
	tree_file("work/tool", "#!/bin/sh\n", 0755);
	tree_file("work/out/old", "", 0644);
	tree_file("work/private/f", "", 0644);
	tree_file("work/gone/f", "", 0644);
	tree_file("docs/small.md", "1234567890", 0644);
	tree_file("docs/large.md", "12345678901", 0644);
	tree_file("outside", "", 0644);
	tree_link("work/to-outside", "../outside");
	tree_link("to-work", "work");
	tree_link("work/loop", "loop");
	tree_file("policy.ini", policy_text, 0600);
	if (chdir(tree_root) < 0)
		BAIL_OUT("cannot go to %s", tree_root);
}

static int load_named(const char *name, struct sbx_policy **policy, struct sbx_errors *errors)
{
	const struct sbx_load load = { .files = &name, .file_count = 1 };

	return sbx_load(&load, policy, errors);
}

static struct sbx_policy *load_text(const char *text)
{
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;

	tree_file("other.ini", text, 0600);
	if (load_named("other.ini", &policy, &errors) < 0)
		BAIL_OUT("%s:%u: %s", errors.list[0].file, errors.list[0].line,
			 errors.list[0].text);
	return policy;
}

static void check_load(void)
{
	struct sbx_policy *policy = UNTOUCHED;
	struct sbx_errors errors;

	memset(&errors, 0xff, sizeof(errors));
	cmp_ok(load_named("policy.ini", &policy, &errors), "==", 0, "a good policy loads");
	ok(policy != UNTOUCHED, "and is handed out");
	cmp_ok(errors.count, "==", 0, "nothing is wrong with it");
	cmp_ok(errors.more, "==", 0, "nor more than that");
	sbx_free(policy);
	sbx_free(NULL);
	pass("to free nothing is nothing");

	policy = UNTOUCHED;
	tree_file("bad.ini", ALONE "[paths]\nraed = ./work\nread = ./nowhere\n[pahts]\n", 0600);
	cmp_ok(load_named("bad.ini", &policy, &errors), "==", -EINVAL,
	       "a bad policy does not load");
	ok(policy == UNTOUCHED, "and the out-parameter is left alone");
	cmp_ok(errors.count, "==", 3, "all that is wrong is listed");
	is(errors.list[0].file, "bad.ini", "with its file");
	cmp_ok(errors.list[0].line, "==", 4, "its line");
	is(errors.list[0].text, "unknown key 'raed' in [paths] (did you mean 'read'?)",
	   "and words");

	cmp_ok(load_named("missing.ini", &policy, &errors), "==", -EINVAL, "so is a missing file");
	is(errors.list[0].file, "missing.ini", "by its name");
	cmp_ok(errors.list[0].line, "==", 0, "as a whole");
	is(errors.list[0].text, "cannot be read: No such file or directory", "and why");
	cmp_ok(load_named("work", &policy, &errors), "==", -EINVAL, "a folder is no policy");
}

static void check_many_errors(void)
{
	static char text[4096];
	struct sbx_policy *policy = UNTOUCHED;
	struct sbx_errors errors;
	size_t used = (size_t)snprintf(text, sizeof(text), ALONE "[paths]\n");

	for (int i = 0; i < 30; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "bad%d = x\n", i);
	tree_file("bad.ini", text, 0600);
	cmp_ok(load_named("bad.ini", &policy, &errors), "==", -EINVAL,
	       "thirty errors are too many");
	cmp_ok(errors.count, "==", SBX_MAX_ERRORS, "to be listed all");
	cmp_ok(errors.more, "==", 30 - SBX_MAX_ERRORS, "but not to be counted");
	cmp_ok(errors.list[SBX_MAX_ERRORS - 1].line, "==", SBX_MAX_ERRORS + 3, "in their order");
}

static void check_options(void)
{
	static const struct sbx_assign options[] = {
		{ "sandbox", "include", "none", "--include" },
		{ "paths", "read", "./outside", "--allow-read" },
		{ "limits", "timeout", "5s", "--timeout" },
	};
	static const struct sbx_assign bad[] = { { "paths", "read", "./nowhere", "--allow-read" } };
	static const struct sbx_assign unknown[] = { { "paths", "raed", "./work", "--raed" } };
	const char *const files[] = { "policy.ini" };
	struct sbx_load load = {
		.files = files, .file_count = 1, .options = options, .option_count = COUNT(options)
	};
	struct sbx_policy *policy = UNTOUCHED;
	struct sbx_errors errors;

	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "options load beside a file");
	cmp_ok(sbx_can_read(policy, "outside"), "==", 0, "and add to it");
	cmp_ok(sbx_can_read(policy, "work/f"), "==", 0, "and leave it as it is");
	sbx_free(policy);
	policy = UNTOUCHED;
	load.options = bad;
	load.option_count = 1;
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL, "a bad option is refused");
	like(errors.list[0].text, "'\\./nowhere' does not exist", "with its value");
	load.options = unknown;
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL, "an unknown one as well");
	like(errors.list[0].text, "--raed", "with its spelling");
	ok(policy == UNTOUCHED, "and nothing is handed out");
}

static void check_cwd_and_tmp(void)
{
	const char *const files[] = { "policy.ini" };
	struct sbx_load load = { .files = files, .file_count = 1, .cwd = tree_root };
	struct sbx_policy *policy;
	struct sbx_errors errors;

	if (chdir("/") < 0)
		BAIL_OUT("cannot go to /");
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "files are found from the given cwd");
	cmp_ok(sbx_can_read(policy, tree_path("work/f")), "==", 0, "and mean their own folder");
	cmp_ok(sbx_can_read(policy, "work/f"), "==", -EACCES, "but questions mean the real one");
	sbx_free(policy);
	if (chdir(tree_root) < 0)
		BAIL_OUT("cannot go to %s", tree_root);
	tree_file("tmp.ini", ALONE "[paths]\nread = ${tmp}\n", 0600);
	load = (struct sbx_load){ .files = (const char *const[]){ "tmp.ini" },
				  .file_count = 1,
				  .tmp = tree_path("work/out") };
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "${tmp} is what the caller says");
	cmp_ok(sbx_can_read(policy, "work/out/old"), "==", 0, "and can be read then");
	sbx_free(policy);
}

static void check_lenient(void)
{
	const char *const files[] = { "missing-roots.ini" };
	struct sbx_load load = { .files = files, .file_count = 1 };
	struct sbx_policy *policy = UNTOUCHED;
	struct sbx_errors errors;

	tree_file("missing-roots.ini", ALONE "[paths]\nread = ./nowhere\nexec = ./never\n", 0600);
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL, "missing roots are errors");
	cmp_ok(errors.count, "==", 2, "each of them");
	load.lenient = true;
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "unless the caller is lenient");
	cmp_ok(sbx_can_read(policy, "nowhere/x"), "==", 0, "and then they mean what they say");
	sbx_free(policy);
}

static void check_trust(void)
{
	const char *const files[] = { "loose.ini" };
	struct sbx_load load = { .files = files, .file_count = 1 };
	struct sbx_policy *policy = UNTOUCHED;
	struct sbx_errors errors;

	tree_file("loose.ini", ALONE, 0666);
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL,
	       "a policy that everybody may write is refused");
	like(errors.list[0].text, "may be written by others", "with the reason");
	load.trust = true;
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "unless it is trusted all the same");
	sbx_free(policy);
	load.trust = false;
	tree_file("open/strict.ini", ALONE, 0600);
	chmod(tree_path("open"), 0777);
	load.files = (const char *const[]){ "open/strict.ini" };
	policy = UNTOUCHED;
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL,
	       "so is one in a folder where everybody may exchange it");
	like(errors.list[0].text, "everybody may replace it", "with the reason");
	ok(policy == UNTOUCHED, "and nothing is handed out");
}

static void check_profiles(void)
{
	static const char *const files[] = { "plain.ini" };
	struct sbx_load load = { .files = files, .file_count = 1 };
	struct sbx_policy *policy;
	struct sbx_errors errors;

	tree_file("plain.ini", "[limits]\ntimeout = 5s\n", 0600);
	tree_file("profiles/base.ini", "[paths]\nread = /usr\n", 0644);
	tree_file("profiles/python.ini", "[paths]\nread = /etc/hostname ?, /etc/passwd\n", 0644);
	load.profiles = tree_path("profiles");
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "profiles are found where it is said");
	cmp_ok(sbx_can_read(policy, "/usr"), "==", 0, "'base' comes by itself");
	cmp_ok(sbx_can_read(policy, "/etc/passwd"), "==", -EACCES, "and no other");
	sbx_free(policy);
	load.command = "python3";
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "a command may be named");
	cmp_ok(sbx_can_read(policy, "/etc/passwd"), "==", 0, "and brings its own profile");
	sbx_free(policy);
}

/* Two files, standard input, and none at all. */
static void check_sources(void)
{
	static const char *const both[] = { "one.ini", "two.ini" };
	struct sbx_load load = { .files = both, .file_count = 2 };
	struct sbx_policy *policy;
	struct sbx_errors errors;
	int saved = dup(STDIN_FILENO), file;

	tree_file("one.ini", ALONE "[paths]\nread = ./work\n", 0600);
	tree_file("two.ini", "[paths]\nread = ./outside\n", 0600);
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "two files load together");
	ok(!sbx_can_read(policy, "work/f") && !sbx_can_read(policy, "outside"), "and add up");
	sbx_free(policy);
	file = open(tree_path("one.ini"), O_RDONLY);
	(void)dup2(file, STDIN_FILENO);
	load = (struct sbx_load){ .files = (const char *const[]){ "-" }, .file_count = 1 };
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "'-' is standard input");
	cmp_ok(sbx_can_read(policy, "work/f"), "==", 0, "whose paths are relative to the cwd");
	sbx_free(policy);
	(void)dup2(saved, STDIN_FILENO);
	close(saved);
	close(file);
	load = (struct sbx_load){ .profiles = tree_path("profiles") };
	cmp_ok(sbx_load(&load, &policy, &errors), "==", 0, "no file at all is the built-in policy");
	ok(!sbx_can_write(policy, "work/f") && sbx_can_read(policy, "/etc/passwd") == -EACCES,
	   "which is about the cwd");
	sbx_free(policy);
	load.cwd = "/";
	cmp_ok(sbx_load(&load, &policy, &errors), "==", -EINVAL, "but not where that is too wide");
	like(errors.list[0].text, "too wide", "and says so");
}

static void check_can(const struct sbx_policy *policy)
{
	static const struct {
		const char *target;
		const char *name;
		enum sbx_op op;
		int expected;
	} cases[] = {
		{ "work/f", "what a rule allows is allowed", SBX_OP_READ, 0 },
		{ "./work//../work/f", "however it is spelled", SBX_OP_READ, 0 },
		{ "to-work/f", "and through a link", SBX_OP_READ, 0 },
		{ "outside", "what none allows is not", SBX_OP_READ, -EACCES },
		{ "work/to-outside", "whatever link leads there", SBX_OP_READ, -EACCES },
		{ "work/private/f", "what is denied is not", SBX_OP_READ, -EACCES },
		{ "work/gone/f", "what is hidden is not there", SBX_OP_READ, -ENOENT },
		{ "work/none", "what is not there could be read", SBX_OP_READ, 0 },
		{ "work/loop", "a link that leads to itself leads nowhere", SBX_OP_READ, -ELOOP },
		{ "work/f/below", "nothing is below a file", SBX_OP_READ, -ENOTDIR },
		{ "", "an empty path makes no sense", SBX_OP_READ, -EINVAL },
		{ "docs/small.md", "a file of the right size can be read", SBX_OP_READ, 0 },
		{ "docs/large.md", "a larger one cannot", SBX_OP_READ, -EFBIG },
		{ "docs/none.sh", "nor one of another suffix", SBX_OP_READ, -EACCES },
		{ "work/f", "reading is not writing", SBX_OP_WRITE, -EACCES },
		{ "work/out/old", "what may be written may", SBX_OP_WRITE, 0 },
		{ "work/out/new", "and may be created", SBX_OP_WRITE, 0 },
		{ "work", "a folder is listed", SBX_OP_LIST, 0 },
		{ "work/out/new", "an entry is created", SBX_OP_CREATE, 0 },
		{ "work/new", "or not", SBX_OP_CREATE, -EACCES },
		{ "work/out/old", "an entry is deleted", SBX_OP_DELETE, 0 },
		{ "work/out", "but not the root itself", SBX_OP_DELETE, -EACCES },
		{ "work/out/old", "an entry is renamed", SBX_OP_RENAME, 0 },
		{ "work/out/old", "an entry is changed", SBX_OP_CHANGE, 0 },
		{ "work/tool", "a program is executed", SBX_OP_EXEC, 0 },
		{ "work/f", "another is not", SBX_OP_EXEC, -EACCES },
		{ "tool", "a program is found in PATH", SBX_OP_EXEC, 0 },
		{ "no-such-tool", "or not", SBX_OP_EXEC, -ENOENT },
		{ "api.example:443", "a destination is allowed", SBX_OP_CONNECT, 0 },
		{ "api.example:80", "another port is not", SBX_OP_CONNECT, -EACCES },
		{ "unix:./work/socket", "a socket is", SBX_OP_CONNECT, 0 },
		{ "unix:./work/f", "another is not", SBX_OP_CONNECT, -EACCES },
		{ "api.example", "a destination has a port", SBX_OP_CONNECT, -EINVAL },
		{ "api.example:*", "one port", SBX_OP_CONNECT, -EINVAL },
		{ "*.example:443", "and is one destination", SBX_OP_CONNECT, -EINVAL },
		{ "10.0.0.0/8:443", "not a network", SBX_OP_CONNECT, -EINVAL },
		{ "127.0.0.1:80", "an address is listened on", SBX_OP_BIND, 0 },
		{ "0.0.0.0:80", "another is not", SBX_OP_BIND, -EACCES },
		{ "api.example:80", "a name cannot be", SBX_OP_BIND, -EINVAL },
		{ "api.example", "a name is looked up", SBX_OP_LOOKUP, 0 },
		{ "other.example", "another does not exist", SBX_OP_LOOKUP, -ENOENT },
		{ "not a name", "what is no name makes no sense", SBX_OP_LOOKUP, -EINVAL },
		{ "work/f", "an unknown operation makes no sense", (enum sbx_op)99, -EINVAL },
	};

	setenv("PATH", tree_path("work"), 1);
	for (size_t i = 0; i < COUNT(cases); i++)
		cmp_ok(sbx_can(policy, cases[i].op, cases[i].target), "==", cases[i].expected,
		       "%s: %s", cases[i].name, cases[i].target);
	cmp_ok(sbx_can(policy, SBX_OP_READ, NULL), "==", -EINVAL, "no target makes no sense");
}

static void check_can_one(const struct sbx_policy *policy)
{
	cmp_ok(sbx_can_read(policy, "work/f"), "==", 0, "can_read is about reading");
	cmp_ok(sbx_can_write(policy, "work/f"), "==", -EACCES, "can_write about writing");
	cmp_ok(sbx_can_write(policy, "work/out/new"), "==", 0, "also to what is not there");
	cmp_ok(sbx_can_write(policy, "work/new"), "==", -EACCES, "where it may be created");
	cmp_ok(sbx_can_exec(policy, "work/tool"), "==", 0, "can_exec is about executing");
	cmp_ok(sbx_can_exec(policy, "work/f"), "==", -EACCES, "and nothing else");
	cmp_ok(sbx_can_connect(policy, "api.example:443"), "==", 0, "can_connect is about hosts");
	cmp_ok(sbx_can_connect(policy, "b.example:443"), "==", -EACCES, "and nothing else");
	ok(access("work/out/new", F_OK) < 0, "no question changes anything");
}

static void check_resolve(const struct sbx_policy *policy)
{
	static const struct {
		const char *path, *expected; /* below the root */
		int error;
		const char *name;
	} cases[] = {
		{ "work/f", "work/f", 0, "a path below the root is found" },
		{ ".", "", 0, "so is the root" },
		{ "work/../work/./f", "work/f", 0, "through dots" },
		{ "to-work/f", "work/f", 0, "and links" },
		{ "work/to-outside", "outside", 0, "also those that stay inside" },
		{ "work/new", "work/new", 0, "the last component may be missing" },
		{ "new/er", NULL, -ENOENT, "but not the one before" },
		{ "..", NULL, -EXDEV, "dot-dot does not lead out" },
		{ "work/../../x", NULL, -EXDEV, "wherever it stands" },
		{ "/etc/passwd", NULL, -EXDEV, "nor does an absolute path" },
		{ "leaves", NULL, -EXDEV, "nor a link" },
		{ "leaves/passwd", NULL, -EXDEV, "nor what is behind one" },
		{ "work/loop", NULL, -ELOOP, "a loop leads nowhere" },
		{ "work/f/x", NULL, -ENOTDIR, "a file is no folder" },
	};
	char out[PATH_MAX], look_alike[PATH_MAX + 8];

	tree_link("leaves", "/etc");
	for (size_t i = 0; i < COUNT(cases); i++) {
		memset(out, '#', sizeof(out));
		cmp_ok(sbx_resolve(policy, cases[i].path, out, sizeof(out)), "==", cases[i].error,
		       "%s: %s", cases[i].name, cases[i].path);
		if (cases[i].expected)
			is(out, tree_path(cases[i].expected), "and it is that one");
		else
			ok(out[0] == '#', "and nothing is written");
	}
	snprintf(look_alike, sizeof(look_alike), "../%s-evil", strrchr(tree_root, '/') + 1);
	cmp_ok(sbx_resolve(policy, look_alike, out, sizeof(out)), "==", -EXDEV,
	       "a look-alike of the root is not the root");
	cmp_ok(sbx_resolve(policy, tree_path("work/f"), out, sizeof(out)), "==", 0,
	       "an absolute path may lead inside");
	out[0] = '#';
	cmp_ok(sbx_resolve(policy, "work/f", out, strlen(tree_path("work/f"))), "==", -ENAMETOOLONG,
	       "a buffer may be too small by its NUL");
	ok(out[0] == '#', "and then is left alone");
	cmp_ok(sbx_resolve(policy, "work/f", out, strlen(tree_path("work/f")) + 1), "==", 0,
	       "or just large enough");
}

static void check_root(void)
{
	struct sbx_policy *policy =
		load_text("[sandbox]\ninclude = none\nworkspace = ./work, ./docs\n");
	char out[PATH_MAX];

	cmp_ok(sbx_resolve(policy, "f", out, sizeof(out)), "==", 0, "the root is the workspace");
	is(out, tree_path("work/f"), "the first one");
	cmp_ok(sbx_resolve(policy, "../outside", out, sizeof(out)), "==", -EXDEV,
	       "not the policy's folder");
	sbx_free(policy);
}

static void check_section_rules(const struct sbx_policy *policy)
{
	cmp_ok(sbx_check_suffix(policy, "docs/x.md"), "==", 0, "an allowed suffix is fine");
	cmp_ok(sbx_check_suffix(policy, "docs/x.sh"), "==", -EACCES, "another is not");
	cmp_ok(sbx_check_suffix(policy, "docs/deeper/x.sh"), "==", -EACCES, "at any depth");
	cmp_ok(sbx_check_suffix(policy, "docs/large.md"), "==", 0, "whatever size the file has");
	cmp_ok(sbx_check_suffix(policy, "work/x.sh"), "==", 0, "elsewhere there is no rule");
	cmp_ok(sbx_check_suffix(policy, "outside"), "==", 0, "nor is it about rights");
	cmp_ok(sbx_check_suffix(policy, ""), "==", -EINVAL, "nothing makes no sense");
	cmp_ok(sbx_check_size(policy, "docs/new.md", 10), "==", 0, "an allowed size is fine");
	cmp_ok(sbx_check_size(policy, "docs/new.md", 11), "==", -EFBIG, "a larger one is not");
	cmp_ok(sbx_check_size(policy, "docs/new.md", UINT64_MAX), "==", -EFBIG, "nor the largest");
	cmp_ok(sbx_check_size(policy, "docs/x.sh", 10), "==", 0, "whatever suffix the file has");
	cmp_ok(sbx_check_size(policy, "docs/x.sh", 11), "==", -EFBIG, "really whatever");
	cmp_ok(sbx_check_size(policy, "work/f", UINT64_MAX), "==", 0, "elsewhere there is no rule");
}

static void check_explain(const struct sbx_policy *policy)
{
	char text[SBX_TEXT_MAX], part[40];
	static char json[SBX_JSON_MAX];
	int len = sbx_explain(policy, SBX_OP_READ, "outside", 0, text, sizeof(text));

	cmp_ok(len, "==", strlen(text), "an explanation has the length that is told");
	like(text,
	     "^sbx: Cannot read 'outside' \\(/.*/outside\\): path is outside the sandbox\\.\n",
	     "and says why");
	cmp_ok(sbx_explain(policy, SBX_OP_READ, "outside", 0, part, sizeof(part)), "==", len,
	       "a small buffer does not change the length");
	ok(strlen(part) < sizeof(part) && !strncmp(part, text, strlen(part)),
	   "and holds the beginning");
	cmp_ok(sbx_explain(policy, SBX_OP_READ, "outside", 0, NULL, 0), "==", len,
	       "without any only the length is told");
	cmp_ok(sbx_explain(policy, SBX_OP_READ, "work/f", 0, text, sizeof(text)), ">", 0,
	       "what is allowed is explained too");
	like(text, "^sbx: Can read 'work/f'", "in words");
	len = sbx_explain(policy, SBX_OP_READ, "outside", SBX_EXPLAIN_JSON, json, sizeof(json));
	cmp_ok(len, "==", strlen(json), "JSON has the length that is told");
	like(json, "^\\{\"v\":1,.*\"verdict\":\"refused\",.*\"op\":\"read\",\"code\":\"outside\",",
	     "and begins with what matters");
	like(json, "\"errno\":\"EACCES\".*\"message\":\"sbx: Cannot read .*\\\\u000a\"\\}$",
	     "and ends with the text");
	(void)sbx_explain(policy, SBX_OP_READ, "work/f", SBX_EXPLAIN_JSON, json, sizeof(json));
	like(json,
	     "\"verdict\":\"allowed\".*\"code\":\"allowed\".*\"rule\":\\{\"file\":\"policy.ini\"",
	     "what is allowed names its rule");
	cmp_ok(sbx_explain(policy, SBX_OP_READ, "", 0, text, sizeof(text)), "==", -EINVAL,
	       "no target makes no sense");
	cmp_ok(sbx_explain(policy, (enum sbx_op)99, "x", 0, text, sizeof(text)), "==", -EINVAL,
	       "nor does an unknown operation");
	cmp_ok(sbx_explain(policy, SBX_OP_READ, "work/loop", 0, text, sizeof(text)), "==", -ELOOP,
	       "what leads nowhere is not explained");
}

static void check_image(const struct sbx_policy *policy)
{
	struct sbx_policy *again = UNTOUCHED;
	size_t size = 0;
	const void *bytes = sbx_image_bytes(policy, &size);
	FILE *file = fopen(tree_path("image"), "w");

	cmp_ok(size, ">", 0, "a policy is bytes");
	cmp_ok(sbx_load_image(bytes, size, &again), "==", 0, "that load again");
	cmp_ok(sbx_can_read(again, "work/private/f"), "==", -EACCES, "and mean the same");
	sbx_free(again);
	again = UNTOUCHED;
	cmp_ok(sbx_load_image(bytes, size - 1, &again), "==", -EINVAL, "but not in part");
	cmp_ok(sbx_load_image("text", 4, &again), "==", -EINVAL, "nor does anything else");
	cmp_ok(sbx_load_image(bytes, 0, &again), "==", -EINVAL, "nor nothing");
	ok(again == UNTOUCHED, "and nothing is handed out");

	unsetenv("SANDBOX_SBX_IMAGE");
	cmp_ok(sbx_load_running(&again), "==", -ENOENT, "outside of a sandbox there is no policy");
	setenv("SANDBOX_SBX_IMAGE", tree_path("nowhere"), 1);
	cmp_ok(sbx_load_running(&again), "==", -ESTALE, "inside of one that is gone, neither");
	setenv("SANDBOX_SBX_IMAGE", tree_path("policy.ini"), 1);
	cmp_ok(sbx_load_running(&again), "==", -EINVAL, "what is no image is refused");
	setenv("SANDBOX_SBX_IMAGE", tree_path("work"), 1);
	cmp_ok(sbx_load_running(&again), "<", 0, "so is a folder");
	ok(again == UNTOUCHED, "and nothing is handed out");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
		BAIL_OUT("cannot write the image");
	setenv("SANDBOX_SBX_IMAGE", tree_path("image"), 1);
	cmp_ok(sbx_load_running(&again), "==", 0, "inside of one there is");
	cmp_ok(sbx_can_read(again, "work/private/f"), "==", -EACCES, "and it is that one");
	sbx_free(again);
	unsetenv("SANDBOX_SBX_IMAGE");
}

/* Many threads ask one policy. */
static void *ask_often(void *arg)
{
	const struct sbx_policy *policy = arg;
	char text[SBX_TEXT_MAX];
	intptr_t wrong = 0;

	for (int i = 0; i < 500; i++) {
		wrong += sbx_can_read(policy, "work/f") != 0;
		wrong += sbx_can_read(policy, "work/private/f") != -EACCES;
		wrong += sbx_can_connect(policy, "other.example:443") != -EACCES;
		wrong += sbx_explain(policy, SBX_OP_READ, "outside", 0, text, sizeof(text)) <= 0;
	}
	return (void *)wrong;
}

static void check_threads(struct sbx_policy *policy)
{
	pthread_t threads[8];
	intptr_t wrong = 0;

	for (size_t i = 0; i < COUNT(threads); i++)
		if (pthread_create(&threads[i], NULL, ask_often, policy))
			BAIL_OUT("cannot make a thread");
	for (size_t i = 0; i < COUNT(threads); i++) {
		void *result;

		(void)pthread_join(threads[i], &result);
		wrong += (intptr_t)result;
	}
	cmp_ok(wrong, "==", 0, "eight threads get the right answers from one policy");
}

/* A policy does not change with the file it came from. */
static void check_constancy(void)
{
	struct sbx_policy *policy = load_text(ALONE "[paths]\nread = ./work\n");

	tree_file("other.ini", ALONE, 0600);
	cmp_ok(sbx_can_read(policy, "work/f"), "==", 0, "a loaded policy stays as it was");
	sbx_free(policy);
}

/* Private tmp in the place of shared folders: only where the policy is about nothing there. */
static void check_places(void)
{
	static const struct {
		const char *lines;
		bool stands;
		const char *why;
	} rows[] = {
		{ "", true, "nothing speaks against it" },
		{ "[paths]\nread = ./place-evil, ./work\n", true, "a neighbour does not" },
		{ "[paths]\nread = ./place/none ?\n", true, "nor what is not there" },
		{ "[paths]\nread = ./place\n", false, "a rule about the folder" },
		{ "[paths]\nread = ./place/in\n", false, "about something in it" },
		{ "[paths]\nwrite = ./place/new\n", false, "about what is not there yet" },
		{ "[paths]\ndeny = ./place/in\n", false, "that denies something in it" },
		{ "[paths]\nread = .\n", false, "about what it lies in" },
		{ "[paths]\ndeny = ./pl*/x\n", false, "a pattern that may be about it" },
		{ "[paths]\ndeny = ./work/*/x\n", true, "not one that cannot" },
		{ "[paths]\nread = ./place/to-work\n", false, "a link in it, wherever it leads" },
		{ "[paths]\nread = ./to-work\n", true, "not one beside it" },
		{ "[path p]\nroot = ./place/in\nmode = ro\n", false, "a section" },
		{ "[network]\nconnect = unix:./place/socket\n", false, "a socket" },
		{ "isolate = none\n", false, "isolate = none" },
		{ "isolate = full\n", true, "not isolate = full" },
		{ "enforce = none\n", false, "enforce = none" },
		{ "tmp = shared\n", false, "shared tmp" },
	};
	static const char *const file = "other.ini";
	static char place[4096], tmp[4096], inside[4096 + 8], text[1024];
	const char *const places[] = { place, NULL };
	const struct sbx_load load = {
		.files = &file, .file_count = 1, .private_tmp = tmp, .private_places = places
	};

	tree_file("place/in", "", 0644);
	tree_file("place-evil/in", "", 0644);
	tree_link("place/to-work", "../work");
	snprintf(place, sizeof(place), "%s", tree_path("place"));
	snprintf(tmp, sizeof(tmp), "%s", tree_path("place/run/tmp.1"));
	snprintf(inside, sizeof(inside), "%s/x", place);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct sbx_policy *policy = NULL;
		struct sbx_errors errors;

		snprintf(text, sizeof(text), ALONE "%s", rows[i].lines);
		tree_file("other.ini", text, 0600);
		if (sbx_load(&load, &policy, &errors) < 0)
			BAIL_OUT("%s", errors.list[0].text);
		ok((sbx_can_write(policy, inside) == 0) == rows[i].stands, "private tmp %s: %s",
		   rows[i].stands ? "stands in" : "does not stand in", rows[i].why);
		sbx_free(policy);
	}
}

int main(void)
{
	struct sbx_policy *policy;
	struct sbx_errors errors;

	plan(NO_PLAN);
	build();
	check_load();
	check_many_errors();
	check_options();
	check_cwd_and_tmp();
	check_lenient();
	check_trust();
	check_profiles();
	check_sources();
	check_places();
	if (load_named("policy.ini", &policy, &errors) < 0)
		BAIL_OUT("%s", errors.list[0].text);
	check_can(policy);
	check_can_one(policy);
	check_resolve(policy);
	check_root();
	check_section_rules(policy);
	check_explain(policy);
	check_image(policy);
	check_threads(policy);
	check_constancy();
	sbx_free(policy);
	done_testing();
}
