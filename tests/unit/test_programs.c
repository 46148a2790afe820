/* SPDX-License-Identifier: MIT */
/*
 * Which file runs when a name is typed: PATH, links, and each version manager in a made-up home.
 */
#include "programs.h"

#include <errno.h>

#include "tree.h"

static struct sbx_program found;

/* Where the program is, relative to the tree; "none" when there is none. */
static const char *find(const char *name, const char *path_list, const char *workdir)
{
	size_t len = strlen(tree_root);
	int error;

	memset(&found, 0, sizeof(found));
	error = sbx_program_find(name, path_list, workdir, &found);
	if (error == -ENOENT)
		return "none";
	if (error < 0)
		return "wrong error";
	return strncmp(found.file, tree_root, len) ? found.file : found.file + len + 1;
}

/* A part of the result, relative to the tree. */
static const char *inside(const char *path)
{
	size_t len = strlen(tree_root);

	return strncmp(path, tree_root, len) ? path : path[len] ? path + len + 1 : "the tree";
}

/* PATH of up to three folders of the tree. */
static const char *path_of(const char *a, const char *b, const char *c)
{
	static char list[3 * PATH_MAX + 3];

	snprintf(list, sizeof(list), "%s:%s:%s", a ? tree_path(a) : "", b ? tree_path(b) : "",
		 c ? tree_path(c) : "");
	return list;
}

static void program(const char *name)
{
	tree_file(name, "#!/bin/sh\n", 0755);
}

/* Nothing of the caller's own environment may choose a version. */
static void clean_environment(void)
{
	static const char *const names[] = {
		"PYENV_VERSION",  "PYENV_ROOT",	   "RBENV_VERSION",	  "RBENV_ROOT",
		"NODENV_VERSION", "ASDF_DATA_DIR", "ASDF_NODEJS_VERSION", "VOLTA_HOME",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unsetenv(names[i]);
	setenv("HOME", tree_path("home"), 1);
}

static void test_path_search(void)
{
	const char *work = tree_dir("search/work");

	program("search/a/bin/tool");
	program("search/b/bin/tool");
	program("search/work/tool");
	tree_file("search/c/bin/tool", "", 0644);
	tree_dir("search/d/bin/tool");
	tree_link("search/e/bin/tool", "../../b/bin/tool");
	tree_link("search/f/bin/tool", "nowhere");
	is(find("tool", path_of("search/a/bin", "search/b/bin", NULL), work), "search/a/bin/tool",
	   "the first folder of PATH wins");
	is(inside(found.prefix), "search/a", "what is above bin is the program's own");
	is(found.manager, "", "no manager is in the way");
	is(find("tool", path_of("search/c/bin", "search/d/bin", "search/b/bin"), work),
	   "search/b/bin/tool", "what cannot be executed and folders are passed over");
	is(find("tool", path_of("search/f/bin", "search/e/bin", NULL), work), "search/b/bin/tool",
	   "links are followed, dangling ones passed over");
	if (chdir(work) < 0)
		BAIL_OUT("cannot enter %s", work);
	is(find("tool", "", work), "none", "an empty PATH has nothing");
	is(find("tool", ":", work), "none", "an empty element is not the cwd");
	is(find("tool", ".:./:../work", work), "none", "nor are relative ones searched");
	is(find("", "/usr/bin:/bin", work), "none", "an empty name is nothing");
	is(find("..", "/usr/bin:/bin", work), "none", "nor is '..'");
	is(find("./tool", "", work), "search/work/tool", "a name with a slash is a path");
	is(find("../a/bin/tool", "", work), "search/a/bin/tool", "from the workdir");
	is(find(tree_path("search/b/bin/tool"), "", work), "search/b/bin/tool",
	   "or an absolute one");
	is(find("../none/tool", "", work), "none", "which must exist");
	setenv("PATH", tree_path("search/b/bin"), 1);
	is(find("tool", NULL, NULL), "search/b/bin/tool", "PATH is taken from the environment");
	unsetenv("PATH");
	ok(!sbx_program_find("sh", NULL, NULL, &found), "without one sh is still found");
	is(found.prefix, "", "whose prefix is everybody's");
	memset(&found, 'x', sizeof(found));
	ok(sbx_program_find("tool", "", NULL, &found) == -ENOENT && found.file[0] == 'x',
	   "a failure leaves the result alone");
}

static void test_wrappers(void)
{
	static const char start[] = SBX_WRAPPER_START "/usr/bin/sbx-launch";
	const char *work = tree_dir("wrap/work");
	char text[256];

	snprintf(text, sizeof(text), "%s%s-- 'tool' \"$@\"\n", start, SBX_WRAPPER_MARK);
	tree_file("wrap/a/bin/tool", text, 0755);
	tree_link("wrap/b/bin/tool", "../../a/bin/tool");
	program("wrap/c/bin/tool");
	is(find("tool", path_of("wrap/a/bin", "wrap/b/bin", "wrap/c/bin"), work), "wrap/c/bin/tool",
	   "a wrapper of ours, and a link to it, are passed over");
	is(inside(found.prefix), "wrap/c", "and its folder is not the program's own");
	is(find("tool", path_of("wrap/a/bin", NULL, NULL), work), "none",
	   "a wrapper alone is no program");
	is(find(tree_path("wrap/a/bin/tool"), "", work), "wrap/a/bin/tool",
	   "one that is named by its path is what runs");
	snprintf(text, sizeof(text), "%s' -- 'tool' \"$@\"\n", start);
	tree_file("wrap/d/bin/tool", text, 0755);
	is(find("tool", path_of("wrap/d/bin", "wrap/c/bin", NULL), work), "wrap/d/bin/tool",
	   "a script that only begins like one is a program");
	tree_file("wrap/e/bin/tool", "", 0755);
	is(find("tool", path_of("wrap/e/bin", "wrap/c/bin", NULL), work), "wrap/e/bin/tool",
	   "and so is an empty one");
}

static void test_prefix(void)
{
	program("home/bin/own");
	program("home/.local/bin/own");
	program("home/.cargo/bin/own");
	program("home/miniconda/bin/own");
	program("home/.nvm/versions/node/v20.1.0/bin/own");
	program("home/tools/own");
	program("bin/own");
	find("own", path_of("home/bin", NULL, NULL), NULL);
	is(found.prefix, "", "a home is nobody's prefix");
	find("own", path_of("bin", NULL, NULL), NULL);
	is(found.prefix, "", "nor is a folder that homes are in");
	find("own", path_of("home/.local/bin", NULL, NULL), NULL);
	is(found.prefix, "", "nor ~/.local, where keyrings are");
	find("own", path_of("home/.cargo/bin", NULL, NULL), NULL);
	is(found.prefix, "", "nor ~/.cargo, where credentials are");
	find("own", path_of("home/tools", NULL, NULL), NULL);
	is(found.prefix, "", "only what is in a bin folder has one");
	find("own", path_of("home/miniconda/bin", NULL, NULL), NULL);
	is(inside(found.prefix), "home/miniconda", "a folder of its own in the home is one");
	find("own", path_of("home/.nvm/versions/node/v20.1.0/bin", NULL, NULL), NULL);
	is(inside(found.prefix), "home/.nvm/versions/node/v20.1.0", "a version deeper down too");
}

static void build_pyenv(void)
{
	tree_file("home/.pyenv/shims/python3",
		  "#!/usr/bin/env bash\nexport PYENV_ROOT=\"/x/.pyenv\"\n"
		  "exec \"/x/.pyenv/libexec/pyenv\" exec \"$program\" \"$@\"\n",
		  0755);
	program("home/.pyenv/versions/3.9.18/bin/python3.9");
	tree_link("home/.pyenv/versions/3.9.18/bin/python3", "python3.9");
	program("home/.pyenv/versions/3.11.4/bin/python3");
	program("home/.pyenv/versions/3.11.10/bin/python3");
	program("home/.pyenv/versions/3.11-dev/bin/python3");
	program("home/.pyenv/versions/3.110.1/bin/python3");
	tree_link("home/.pyenv/versions/venv", "3.9.18");
	program("home/evil/bin/python3");
	program("system/bin/python3");
}

static void test_pyenv(void)
{
	const char *work = tree_dir("home/py/work/deep");
	const char *list = path_of("home/.pyenv/shims", "system/bin", NULL);

	build_pyenv();
	is(find("python3", list, work), "system/bin/python3", "pyenv: no version means the system");
	is(inside(found.manager), "home/.pyenv", "and the manager is in the way all the same");
	tree_file("home/.pyenv/version", "3.9.18\n", 0644);
	is(find("python3", list, work), "home/.pyenv/versions/3.9.18/bin/python3.9",
	   "pyenv: the default version");
	is(inside(found.prefix), "home/.pyenv/versions/3.9.18", "its prefix is the version");
	tree_file("home/py/.python-version", "# ours\n\n  nosuch \r\n3.11.4\r\n", 0644);
	is(find("python3", list, work), "home/.pyenv/versions/3.11.4/bin/python3",
	   "pyenv: a version file further up, with lines that do not fit");
	is(find("python3", list, NULL), "home/.pyenv/versions/3.9.18/bin/python3.9",
	   "pyenv: without a workdir there is none");
	tree_file("home/py/work/.python-version", "3.11", 0644);
	is(find("python3", list, work), "home/.pyenv/versions/3.11.10/bin/python3",
	   "pyenv: 3.11 is the newest 3.11, by number, neither 3.110 nor 3.11-dev");
	tree_file("home/py/work/.python-version", "python-3.11.4", 0644);
	is(find("python3", list, work), "home/.pyenv/versions/3.11.4/bin/python3",
	   "pyenv: python-3.11.4 is 3.11.4");
	tree_file("home/py/work/.python-version", "venv", 0644);
	is(find("python3", list, work), "home/.pyenv/versions/3.9.18/bin/python3.9",
	   "pyenv: a virtual environment leads to its version");
	tree_file("home/py/work/.python-version", "system 3.11.4", 0644);
	is(find("python3", list, work), "system/bin/python3",
	   "pyenv: 'system' is the next in PATH");
	setenv("PYENV_VERSION", "none:3.11.4:3.9.18", 1);
	is(find("python3", list, work), "home/.pyenv/versions/3.11.4/bin/python3",
	   "pyenv: the variable is stronger, and a list");
	unsetenv("PYENV_VERSION");
	is(find(tree_path("home/.pyenv/shims/python3"), "", work), "home/.pyenv/shims/python3",
	   "pyenv: a shim named by its path that leads nowhere is itself what runs");
}

static void test_hostile_versions(void)
{
	static const char *const words[] = {
		"../../evil", "/etc", "..", ".",     "3.9.18/../../../evil",
		"-rf",	      "3.9*", "~",  "$HOME", "3.9.18\\"
	};
	const char *work = tree_path("home/py/work/deep");
	const char *list = path_of("home/.pyenv/shims", "system/bin", NULL);
	unsigned int bad = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		tree_file("home/py/work/.python-version", words[i], 0644);
		bad += !!strcmp(find("python3", list, work), "system/bin/python3");
	}
	cmp_ok(bad, "==", 0, "a version is never a path: such words choose nothing");
	unlink(tree_path("home/py/work/.python-version"));
	if (mkfifo(tree_path("home/py/work/.python-version"), 0644) < 0)
		BAIL_OUT("no FIFO");
	is(find("python3", list, work), "home/.pyenv/versions/3.11.4/bin/python3",
	   "a version file that is no file is passed over, and nobody waits for it");
}

static void test_rbenv(void)
{
	const char *work = tree_dir("home/rb/work");
	const char *list = path_of("home/.rbenv/shims", "system/bin", NULL);

	tree_file("home/.rbenv/shims/ruby",
		  "#!/usr/bin/env bash\nexport RBENV_ROOT=\"/x/.rbenv\"\n"
		  "exec \"/x/.rbenv/libexec/rbenv\" exec \"$program\" \"$@\"\n",
		  0755);
	program("home/.rbenv/versions/3.1.2/bin/ruby");
	program("home/.rbenv/versions/3.2.0/bin/ruby");
	program("system/bin/ruby");
	tree_file("home/.rbenv/version", "3.1.2\n", 0644);
	is(find("ruby", list, work), "home/.rbenv/versions/3.1.2/bin/ruby", "rbenv: the default");
	is(inside(found.manager), "home/.rbenv", "rbenv is in the way");
	is(inside(found.prefix), "home/.rbenv/versions/3.1.2", "with a prefix");
	tree_file("home/rb/.ruby-version", "ruby-3.2.0\n", 0644);
	is(find("ruby", list, work), "home/.rbenv/versions/3.2.0/bin/ruby",
	   "rbenv: a version file");
	setenv("RBENV_VERSION", "3.1.2", 1);
	is(find("ruby", list, work), "home/.rbenv/versions/3.1.2/bin/ruby", "rbenv: the variable");
	setenv("RBENV_VERSION", "3.1", 1);
	is(find("ruby", list, work), "system/bin/ruby",
	   "rbenv: it knows no newest; the next in PATH is taken");
	unsetenv("RBENV_VERSION");
}

static void test_asdf(void)
{
	const char *work = tree_dir("home/as/work");
	const char *list = path_of("home/.asdf/shims", "system/bin", NULL);

	tree_file(
		"home/.asdf/shims/node",
		"#!/usr/bin/env bash\n# asdf-plugin: nodejs 18.0.0\n# asdf-plugin: nodejs 20.1.0\n"
		"exec asdf exec \"node\" \"$@\"\n",
		0755);
	program("home/.asdf/installs/nodejs/18.0.0/bin/node");
	program("home/.asdf/installs/nodejs/20.1.0/bin/node");
	program("system/bin/node");
	is(find("node", list, work), "system/bin/node", "asdf: no version leads nowhere");
	is(inside(found.manager), "home/.asdf", "asdf is in the way");
	tree_file("home/.tool-versions", "ruby 3.1.2\nnodejs 18.0.0 # old\n", 0644);
	is(find("node", list, work), "home/.asdf/installs/nodejs/18.0.0/bin/node",
	   "asdf: the home's versions");
	is(find("node", list, "/"), "home/.asdf/installs/nodejs/18.0.0/bin/node",
	   "asdf: also from elsewhere");
	tree_file("home/as/.tool-versions", "nodejs-extra 1\nnodejs 99.0 20.1.0\n", 0644);
	tree_file("home/as/work/.tool-versions", "python 3.11.4\n", 0644);
	is(find("node", list, work), "home/.asdf/installs/nodejs/20.1.0/bin/node",
	   "asdf: the nearest file that names the plugin, its first version that is there");
	is(inside(found.prefix), "home/.asdf/installs/nodejs/20.1.0", "with a prefix");
	setenv("ASDF_NODEJS_VERSION", "18.0.0", 1);
	is(find("node", list, work), "home/.asdf/installs/nodejs/18.0.0/bin/node",
	   "asdf: the variable is stronger");
	setenv("ASDF_NODEJS_VERSION", "../../nodejs/18.0.0", 1);
	is(find("node", list, work), "system/bin/node", "asdf: and no path");
	unsetenv("ASDF_NODEJS_VERSION");
	tree_file("home/as/work/.tool-versions", "nodejs system\n", 0644);
	is(find("node", list, work), "system/bin/node", "asdf: 'system' is the next in PATH");
}

static void build_volta(void)
{
	static const char *const links[] = { "node", "npm", "npx", "yarn", "tsc", "bad" };
	char name[64];

	program("home/.volta/bin/volta-shim");
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		snprintf(name, sizeof(name), "home/.volta/bin/%s", links[i]);
		tree_link(name, "volta-shim");
	}
	program("home/.volta/tools/image/node/18.12.0/bin/node");
	program("home/.volta/tools/image/node/18.12.0/bin/npm");
	program("home/.volta/tools/image/node/20.1.0/bin/node");
	program("home/.volta/tools/image/node/20.1.0/bin/npx");
	program("home/.volta/tools/image/npm/9.1.0/bin/npm");
	program("home/.volta/tools/image/yarn/1.22.0/bin/yarn");
	program("home/.volta/tools/image/packages/@ts/compiler/bin/tsc");
	tree_file("home/.volta/tools/user/bins/tsc.json",
		  "{\"name\":\"tsc\", \"package\" : \"@ts/compiler\", \"version\":\"5\"}", 0644);
	tree_file("home/.volta/tools/user/bins/bad.json", "{\"package\":\"@../../evil\"}", 0644);
}

static void test_volta(void)
{
	const char *work = tree_dir("home/vo/work");
	const char *list = path_of("home/.volta/bin", NULL, NULL);

	build_volta();
	is(find("node", list, work), "none", "volta: without a default there is nothing");
	tree_file("home/.volta/tools/user/platform.json",
		  "{\n \"node\": {\"runtime\": \"18.12.0\", \"npm\": null},\n \"yarn\": "
		  "\"1.22.0\"\n}",
		  0644);
	is(find("node", list, work), "home/.volta/tools/image/node/18.12.0/bin/node",
	   "volta: the user's default");
	is(inside(found.prefix), "home/.volta/tools/image/node/18.12.0", "has a prefix");
	is(inside(found.manager), "home/.volta", "and a manager");
	is(find("npm", list, work), "home/.volta/tools/image/node/18.12.0/bin/npm",
	   "volta: npm came with node");
	is(find("yarn", list, work), "home/.volta/tools/image/yarn/1.22.0/bin/yarn", "volta: yarn");
	is(find("tsc", list, work), "home/.volta/tools/image/packages/@ts/compiler/bin/tsc",
	   "volta: a package's program");
	is(find("bad", list, work), "none", "volta: whose name is no path");
	tree_file("home/.volta/tools/user/platform.json",
		  "{\"yarn\":\"no\",\"node\":{\"npm\":\"9.1.0\",\"runtime\":\"18.12.0\"}}", 0644);
	is(find("npm", list, work), "home/.volta/tools/image/npm/9.1.0/bin/npm",
	   "volta: npm of its own");
	tree_file("home/vo/package.json",
		  "{\"name\":\"x \\\" {\",\"a\":[{\"volta\":{\"node\":\"1\"}}],\"node\":\"2\","
		  "\"volta\":{\"x\":{\"node\":\"3\"},\"node\":\"20.1.0\"}}",
		  0644);
	is(find("node", list, work), "home/.volta/tools/image/node/20.1.0/bin/node",
	   "volta: the project's pin, and nothing that looks like it");
	is(find("npx", list, work), "home/.volta/tools/image/node/20.1.0/bin/npx",
	   "volta: brings its own npx");
	tree_file("home/vo/package.json", "{\"volta\":{\"node\":\"../node/18.12.0\"}}", 0644);
	is(find("node", list, work), "none", "volta: a pin is no path");
	tree_file("home/vo/package.json", "{\"volta\":{\"node\":\"", 0644);
	is(find("node", list, work), "home/.volta/tools/image/node/18.12.0/bin/node",
	   "volta: a broken project file pins nothing");
}

static void test_links(void)
{
	program("home/.nvm/versions/node/v18.0.0/bin/node");
	tree_file("home/.nvm/versions/node/v18.0.0/lib/node_modules/npm/bin/npm-cli.js", "", 0755);
	tree_link("home/.nvm/versions/node/v18.0.0/bin/npm",
		  "../lib/node_modules/npm/bin/npm-cli.js");
	program("home/.local/share/fnm/node-versions/v20.0.0/installation/bin/node");
	tree_link("run/fnm_multishells/77_1", "../../home/.local/share/fnm/aliases/default");
	tree_link("home/.local/share/fnm/aliases/default", "../node-versions/v20.0.0/installation");
	is(find("node", path_of("home/.nvm/versions/node/v18.0.0/bin", NULL, NULL), NULL),
	   "home/.nvm/versions/node/v18.0.0/bin/node", "nvm: node is where PATH says");
	is(inside(found.prefix), "home/.nvm/versions/node/v18.0.0",
	   "with the version as its prefix");
	is(find("npm", path_of("home/.nvm/versions/node/v18.0.0/bin", NULL, NULL), NULL),
	   "home/.nvm/versions/node/v18.0.0/lib/node_modules/npm/bin/npm-cli.js",
	   "nvm: npm is the script behind its link");
	is(find("node", path_of("run/fnm_multishells/77_1/bin", NULL, NULL), NULL),
	   "home/.local/share/fnm/node-versions/v20.0.0/installation/bin/node",
	   "fnm: links of links are followed");
	is(inside(found.prefix), "home/.local/share/fnm/node-versions/v20.0.0/installation",
	   "to the installation");
	is(found.manager, "", "no manager has to run for that");
	program("other/shims/tool");
	is(find("tool", path_of("other/shims", NULL, NULL), NULL), "other/shims/tool",
	   "a folder called shims makes no manager");
}

static const struct {
	const char *command;
	const char *profile;
} profiles[] = {
	{ "node", "node" },
	{ "/usr/bin/node", "node" },
	{ "nodejs", "node" },
	{ "node-18", "node" },
	{ "npm", "npm" },
	{ "npx", "npm" },
	{ "yarn", "npm" },
	{ "pnpm", "npm" },
	{ "corepack", "npm" },
	{ "python", "python" },
	{ "python3", "python" },
	{ "python3.11", "python" },
	{ "/opt/p/bin/python3.13", "python" },
	{ "pip", "python" },
	{ "pip3", "python" },
	{ "pip3.11", "python" },
	{ "ruby", "ruby" },
	{ "ruby3.1", "ruby" },
	{ "gem", "ruby" },
	{ "bundle", "ruby" },
	{ "bundler", "ruby" },
	{ "irb", "ruby" },
	{ "rake", "ruby" },
	{ "bash", "bash" },
	{ "sh", "bash" },
	{ "dash", "bash" },
	{ "git", "git" },
	{ "gcc", "build" },
	{ "gcc-12", "build" },
	{ "g++-12", "build" },
	{ "cc", "build" },
	{ "c++", "build" },
	{ "clang", "build" },
	{ "clang-15", "build" },
	{ "clang++", "build" },
	{ "make", "build" },
	{ "cmake", "build" },
	{ "ninja", "build" },
	{ "ld", "build" },
	{ "as", "build" },
	{ "nodex", NULL },
	{ "node18x", NULL },
	{ "pythonista", NULL },
	{ "python3-config", NULL },
	{ "python.", NULL },
	{ "pip-audit", NULL },
	{ "gitk", NULL },
	{ "git2", NULL },
	{ "bashful", NULL },
	{ "zsh", NULL },
	{ "ash", NULL },
	{ "gcc-ar-12", NULL },
	{ "gcc-", NULL },
	{ "c++filt", NULL },
	{ "makeinfo", NULL },
	{ "ldd", NULL },
	{ "", NULL },
	{ "/", NULL },
	{ "node/", NULL },
};

static void test_profiles(void)
{
	for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++)
		is(sbx_program_profile(profiles[i].command), profiles[i].profile,
		   "'%s' has profile %s", profiles[i].command,
		   profiles[i].profile ? profiles[i].profile : "none");
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	clean_environment();
	test_path_search();
	test_wrappers();
	test_prefix();
	test_pyenv();
	test_hostile_versions();
	test_rbenv();
	test_asdf();
	test_volta();
	test_links();
	test_profiles();
	done_testing();
}
