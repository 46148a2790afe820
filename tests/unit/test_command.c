/* SPDX-License-Identifier: MIT */
/*
 * Which file a command is, and what its first line names: PATH as shells search it, lines as the
 * kernel and env read them, and the scripts that are left to sh. In texts '@' is the tree.
 */
#include "run.h" /* its command.h: the policy has one too */

#include <errno.h>
#include <sys/wait.h>

#include "programs.h"
#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ELF "\177ELF"
#define NOBODY 65534

static struct launch_command command;
static struct launch_error error;

/* With the tree for each '@'; lives as long as the next four. */
static char *expand(const char *text)
{
	static char out[4][4 * PATH_MAX];
	static size_t turn;
	char *to = out[turn++ % COUNT(out)];
	size_t at = 0;

	for (; *text; text++) {
		int len = *text == '@' ? snprintf(to + at, PATH_MAX, "%s", tree_root) : 1;

		if (at + (size_t)len + PATH_MAX >= sizeof(out[0]))
			BAIL_OUT("a text is too long for this test");
		if (*text != '@')
			to[at] = *text;
		at += (size_t)len;
	}
	to[at] = '\0';
	return to;
}

/* An ordinary user for as long as it takes, also when root runs the test. */
static void be_ordinary(bool ordinary)
{
	static uid_t was;

	if (ordinary)
		was = geteuid();
	if (was == 0 && seteuid(ordinary ? NOBODY : 0) < 0)
		BAIL_OUT("cannot change the user");
}

static int find_past(const char *path, const char *name, const char *past)
{
	memset(&command, 0x5a, sizeof(command));
	error.text[0] = '\0';
	if (path ? setenv("PATH", expand(path), 1) : unsetenv("PATH"))
		BAIL_OUT("cannot set PATH");
	return launch_command_find(expand(name), past, &command, &error);
}

static int find(const char *path, const char *name)
{
	return find_past(path, name, NULL);
}

static void make_tree(void)
{
	char *closed;

	tree_begin();
	tree_dir("empty");
	tree_dir("folder/tool");
	tree_file("file", "", 0755);
	tree_file("first/tool", ELF, 0755);
	tree_file("second/tool", ELF, 0755);
	tree_file("plain/tool", ELF, 0644);
	tree_file("hidden/tool", ELF, 0755);
	tree_file("here/tool", ELF, 0755);
	tree_file("here/sub/tool", ELF, 0755);
	tree_link("linked/tool", "../second/tool");
	tree_link("away/tool", "nowhere");
	tree_link("loop/tool", "tool");
	tree_link("alias", "second");
	if (mkfifo(tree_path("empty/pipe"), 0777) < 0)
		BAIL_OUT("cannot make a pipe");
	closed = tree_path("hidden");
	if (chmod(closed, 0) < 0 || chdir(tree_path("here")) < 0)
		BAIL_OUT("cannot prepare the tree");
}

/* PATH, the name, what is returned, and for 0 which file is meant. */
static const struct {
	const char *path, *name;
	int result;
	const char *file;
} places[] = {
	{ "@/first:@/second", "tool", 0, "@/first/tool" },
	{ "@/second:@/first", "tool", 0, "@/second/tool" },
	{ "@/empty:@/second", "tool", 0, "@/second/tool" },
	{ "@/nowhere:@/second", "tool", 0, "@/second/tool" },
	{ "@/file:@/second", "tool", 0, "@/second/tool" },
	{ "@/hidden:@/second", "tool", 0, "@/second/tool" },
	{ "@/plain:@/second", "tool", 0, "@/second/tool" },
	{ "@/folder:@/second", "tool", 0, "@/second/tool" },
	{ "@/away:@/second", "tool", 0, "@/second/tool" },
	{ "@/loop:@/second", "tool", 0, "@/second/tool" },
	{ "@/plain:@/folder:@/hidden:@/second", "tool", 0, "@/second/tool" },
	{ "@/linked", "tool", 0, "@/linked/tool" },
	{ "@/alias", "tool", 0, "@/alias/tool" },
	{ "@/second/", "tool", 0, "@/second//tool" },
	/* The current directory */
	{ "", "tool", 0, "@/here/tool" },
	{ ":", "tool", 0, "@/here/tool" },
	{ ":@/second", "tool", 0, "@/here/tool" },
	{ "@/empty:", "tool", 0, "@/here/tool" },
	{ "@/empty::@/second", "tool", 0, "@/here/tool" },
	{ ".", "tool", 0, "@/here/./tool" },
	{ "sub", "tool", 0, "@/here/sub/tool" },
	{ "nowhere:sub:@/second", "tool", 0, "@/here/sub/tool" },
	{ "../second", "tool", 0, "@/here/../second/tool" },
	{ "@/second", "sub", -ENOENT, NULL },
	/* Not found: 127 */
	{ "@/empty", "tool", -ENOENT, NULL },
	{ "@/nowhere", "tool", -ENOENT, NULL },
	{ "@/file", "tool", -ENOENT, NULL },
	{ "@/hidden", "tool", -ENOENT, NULL },
	{ "@/away", "tool", -ENOENT, NULL },
	{ "@/loop", "tool", -ENOENT, NULL },
	{ "@/first", "", -ENOENT, NULL },
	{ "@/first", "Tool", -ENOENT, NULL },
	{ "@/first", "tool ", -ENOENT, NULL },
	/* Found, but of no use: 126, and the first obstacle is the one to speak of */
	{ "@/plain", "tool", -EACCES, NULL },
	{ "@/empty:@/plain:@/nowhere", "tool", -EACCES, NULL },
	{ "@/folder", "tool", -EISDIR, NULL },
	{ "@/folder:@/plain", "tool", -EISDIR, NULL },
	{ "@/plain:@/folder", "tool", -EACCES, NULL },
	{ "@/empty", "pipe", -EACCES, NULL },
	/* A slash: PATH is not looked at */
	{ "@/first", "./tool", 0, "@/here/./tool" },
	{ "@/first", "sub/tool", 0, "@/here/sub/tool" },
	{ "@/first", "../second/tool", 0, "@/here/../second/tool" },
	{ "@/first", "@/second/tool", 0, "@/second/tool" },
	{ "@/first", "@/linked/tool", 0, "@/linked/tool" },
	{ "@/first", "./nothing", -ENOENT, NULL },
	{ "@/first", "@/nowhere/tool", -ENOENT, NULL },
	{ "@/first", "@/file/tool", -ENOENT, NULL },
	{ "@/first", "@/away/tool", -ENOENT, NULL },
	{ "@/first", "@/plain/tool", -EACCES, NULL },
	{ "@/first", "@/folder/tool", -EISDIR, NULL },
	{ "@/first", "@/empty/pipe", -EACCES, NULL },
	{ "@/first", "/", -EISDIR, NULL },
	{ "@/first", "./", -EISDIR, NULL },
};

static void test_places(void)
{
	for (size_t i = 0; i < COUNT(places); i++) {
		char real[PATH_MAX];
		int result;

		be_ordinary(true);
		result = find(places[i].path, places[i].name);
		be_ordinary(false);
		cmp_ok(result, "==", places[i].result, "'%s' in PATH '%s'", places[i].name,
		       places[i].path);
		if (result < 0) {
			like(error.text, "^('|cannot execute ')", "which is said");
			continue;
		}
		is(command.file, places[i].file ? expand(places[i].file) : NULL, "is that file");
		is(command.real, realpath(command.file, real), "links resolved");
	}
}

static void test_long(void)
{
	char name[PATH_MAX + 8], path[2 * PATH_MAX + 64];

	memset(name, 'x', sizeof(name));
	name[300] = '\0';
	cmp_ok(find("@/first", name), "==", -ENOENT, "a name too long for a file is not found");
	name[300] = 'x';
	name[sizeof(name) - 1] = '\0';
	cmp_ok(find("@/first", name), "==", -ENOENT, "nor is one too long for a path");
	snprintf(path, sizeof(path), "/%s:@/second", name);
	cmp_ok(find(path, "tool"), "==", 0, "an endless part of PATH is passed over");
	is(command.file, tree_path("second/tool"), "for what is behind it");
}

static void test_default(void)
{
	cmp_ok(find(NULL, "sh"), "==", 0, "without PATH there are the usual folders");
	like(command.file, "^(/usr(/local)?)?/bin/sh$", "to find sh in");
	cmp_ok(find(NULL, "tool"), "==", -ENOENT, "and not the current one");
}

static void test_messages(void)
{
	(void)find("@/empty", "tool");
	is(error.text, "'tool' was not found in PATH", "not in PATH");
	(void)find("@/empty", "./nothing");
	is(error.text, "'./nothing' was not found", "not at its path");
	(void)find("@/plain", "tool");
	is(error.text, "cannot execute 'tool': it is not marked as a program (chmod +x?)",
	   "not executable");
	(void)find("@/folder", "tool");
	is(error.text, "cannot execute 'tool': it is a folder", "a folder");
	(void)find_past("@/empty", "tool", tree_path("first/tool"));
	like(error.text, "^'tool' was not found in PATH behind its wrapper '.*/first/tool'$",
	     "nothing behind a wrapper");
}

static void test_wrappers(void)
{
	char *past = tree_path("first/tool");

	tree_file("wrap/tool", SBX_WRAPPER_START "/usr/bin/sbx-launch" SBX_WRAPPER_MARK "tool\n",
		  0755);
	tree_link("again/tool", "../first/tool");
	cmp_ok(find("@/wrap:@/second", "tool"), "==", 0, "a wrapper is passed over");
	is(command.file, tree_path("second/tool"), "for the tool behind it");
	cmp_ok(find("@/wrap", "tool"), "==", -ENOENT, "alone it is not the tool");
	cmp_ok(find("@/second", "@/wrap/tool"), "==", 0, "by its path it is meant");
	cmp_ok(find_past("@/first:@/second", "tool", past), "==", 0, "who asks is passed over");
	is(command.file, tree_path("second/tool"), "too");
	cmp_ok(find_past("@/again:@/second", "tool", past), "==", 0, "under another name");
	is(command.file, tree_path("second/tool"), "as well");
	cmp_ok(find_past("@/first", "@/first/tool", past), "==", 0, "but not by its path");
}

/* The interpreters, separated by blanks, with '@' for the tree and "sh" for the system's; static. */
static const char *interpreters(void)
{
	static char out[LAUNCH_INTERPRETERS * (PATH_MAX + 1)];
	char shell[PATH_MAX];
	size_t len = strlen(tree_root), at = 0;

	out[0] = '\0';
	if (!realpath("/bin/sh", shell))
		BAIL_OUT("no /bin/sh");
	for (size_t i = 0; i < command.interpreter_count; i++) {
		const char *name = command.interpreters[i];
		bool inside = strncmp(name, tree_root, len) == 0;

		if (strcmp(name, shell) == 0)
			name = "sh";
		at += (size_t)snprintf(out + at, sizeof(out) - at, "%s%s%s", i ? " " : "",
				       inside ? "@" : "", inside ? name + len : name);
	}
	return out;
}

static const struct {
	const char *text; /* of a script */
	const char *found; /* interpreters */
	bool plain;
} lines[] = {
	{ "#!@/bin/node\n", "@/bin/node", false },
	{ "#!@/bin/node\nrest\n", "@/bin/node", false },
	{ "#! \t @/bin/node \t \n", "@/bin/node", false },
	{ "#!@/bin/node --flag\n", "@/bin/node", false },
	{ "#!@/bin/node --flag @/bin/python3\n", "@/bin/node", false },
	{ "#!@/bin/node\t--flag\n", "@/bin/node", false },
	{ "#!@/bin/node", "@/bin/node", false },
	{ "#!@/bin/node x", "@/bin/node", false },
	{ "#!@/link\n", "@/bin/node", false },
	/* What the kernel will not find either */
	{ "#!@/bin/absent\n", "", false },
	{ "#!@/bin/node\r\n", "", false },
	{ "#!@/bin/data\n", "", false },
	{ "#!@/bin\n", "", false },
	{ "#!node\n", "", false },
	/* Relative to the current directory, never in PATH */
	{ "#!tool\n", "@/here/tool", false },
	{ "#!sub/tool x\n", "@/here/sub/tool", false },
	{ "#!./tool\n", "@/here/tool", false },
	/* By env, which looks into PATH */
	{ "#!@/bin/env node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env \t node  \n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env @/bin/node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env node", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S node --flag\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S A=1 B=2 node --flag C=3\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -i node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S - node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -- node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -i A=1 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -u python3 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -upython3 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -iu python3 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S --unset python3 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S --unset=python3 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -C / -u A node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S --chdir / node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -Snode --flag\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -SA=1 node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -vS node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -iSnode\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env --split-string=node --flag\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env --split-string node\n", "@/bin/env @/bin/node", false },
	{ "#!@/bin/env -S -u\n", "@/bin/env", false },
	{ "#!@/bin/env -S\n", "@/bin/env", false },
	{ "#!@/bin/env A=1\n", "@/bin/env", false },
	{ "#!@/bin/env absent\n", "@/bin/env", false },
	{ "#!@/bin/env node\r\n", "@/bin/env", false },
	{ "#!@/bin/env\n", "@/bin/env", false },
	{ "#!@/bin/envy node\n", "@/bin/envy", false },
	/* An interpreter that is a script */
	{ "#!@/one\n", "@/one @/bin/node", false },
	{ "#!@/two\n", "@/two @/one @/bin/node", false },
	{ "#!@/by-env\n", "@/by-env @/bin/env @/bin/python3", false },
	{ "#!@/bin/env wrapped\n", "@/bin/env @/bin/wrapped @/bin/env @/bin/python3", false },
	{ "#!@/broken\n", "@/broken", false },
	{ "#!@/mute\n", "@/mute", false },
	/* No program and no line: sh runs it */
	{ "", "sh", true },
	{ "#", "sh", true },
	{ "#!", "sh", true },
	{ "#!\n", "sh", true },
	{ "#! \t\n@/bin/node\n", "sh", true },
	{ "echo plain\n", "sh", true },
	{ " #!@/bin/node\n", "sh", true },
	{ "# !@/bin/node\n", "sh", true },
	{ "\n#!@/bin/node\n", "sh", true },
	{ "\xef\xbb\xbf#!@/bin/node\n", "sh", true },
	/* Programs */
	{ ELF, "", false },
	{ ELF "\n#!@/bin/node\n", "", false },
};

static void make_interpreters(void)
{
	tree_file("bin/node", ELF, 0755);
	tree_file("bin/python3", ELF, 0755);
	tree_file("bin/env", ELF, 0755);
	tree_file("bin/envy", ELF, 0755);
	tree_file("bin/data", ELF, 0644);
	tree_link("link", "bin/node");
	tree_file("one", expand("#!@/bin/node --flag\n"), 0755);
	tree_file("two", expand("#!@/one\n"), 0755);
	tree_file("by-env", expand("#!@/bin/env python3\n"), 0755);
	tree_file("bin/wrapped", expand("#!@/bin/env python3\n"), 0755);
	tree_file("broken", expand("#!@/bin/absent\n"), 0755);
	tree_file("mute", "echo no interpreter\n", 0755);
}

static void script(const char *text, mode_t mode)
{
	(void)unlink(tree_path("script"));
	(void)tree_file("script", text, mode);
}

static void test_lines(void)
{
	for (size_t i = 0; i < COUNT(lines); i++) {
		int len = (int)strcspn(lines[i].text, "\r\n\177");

		script(expand(lines[i].text), 0755);
		ok(find("@/bin", "@/script") == 0 && command.plain_script == lines[i].plain,
		   "line %zu '%.*s' is %s", i, len, lines[i].text,
		   lines[i].plain ? "for sh to run" : "for the kernel");
		is(interpreters(), lines[i].found, "by these");
	}
}

/* "#!", the tree, so many "/." that the line has 'len' characters before 'end', and 'end'. */
static void stretched(size_t len, const char *end)
{
	char text[PATH_MAX];
	size_t at = (size_t)snprintf(text, sizeof(text), "#!%s", tree_root);

	while (at + 2 <= len) {
		text[at++] = '/';
		text[at++] = '.';
	}
	if (at < len)
		text[at++] = '/';
	snprintf(text + at, sizeof(text) - at, "%s", end);
	script(text, 0755);
}

static void test_long_lines(void)
{
	char blanks[400];
	const size_t name = strlen("/bin/node");

	stretched(255 - name, "/bin/node\n");
	ok(find("@/bin", "@/script") == 0 && !command.plain_script, "255 bytes and their end");
	is(interpreters(), "@/bin/node", "are a line to the kernel");
	stretched(255 - name, "/bin/node argument that is cut\n");
	ok(find("@/bin", "@/script") == 0 && !command.plain_script, "so are 255 and a blank");
	is(interpreters(), "@/bin/node", "although the rest is cut");
	stretched(256 - name, "/bin/node\n");
	ok(find("@/bin", "@/script") == 0 && command.plain_script, "256 bytes may have been cut");
	is(interpreters(), "sh", "so sh runs the script");
	stretched(256 - name, "/bin/nodeother\n");
	ok(find("@/bin", "@/script") == 0 && command.plain_script, "a path that was cut");
	is(interpreters(), "sh", "does not name the file that is left of it");
	memset(blanks, ' ', sizeof(blanks));
	memcpy(blanks, "#!", 2);
	snprintf(blanks + 300, sizeof(blanks) - 300, "/bin/sh\n");
	script(blanks, 0755);
	ok(find("@/bin", "@/script") == 0 && command.plain_script, "blanks alone are no line");
	stretched(80, "/bin/node and-an-argument");
	ok(find("@/bin", "@/script") == 0 && !command.plain_script, "a short one needs no end");
	is(interpreters(), "@/bin/node", "to name a program");
}

static void test_rounds(void)
{
	script(expand("#!@/script\n"), 0755);
	ok(find("@/bin", "@/script") == 0, "a script that names itself is found");
	cmp_ok(command.interpreter_count, "==", LAUNCH_INTERPRETERS, "and followed only so far");
	script(expand("#!@/bin/env -S script\n"), 0755);
	ok(find("@/bin:@", "@/script") == 0, "one that comes back by env");
	cmp_ok(command.interpreter_count, "==", LAUNCH_INTERPRETERS, "too");
}

static void test_unreadable(void)
{
	int result;

	script("#!/bin/sh\n", 0111);
	be_ordinary(true);
	result = find("@/bin", "@/script");
	be_ordinary(false);
	cmp_ok(result, "==", 0, "what may be executed and not read is found");
	ok(!command.plain_script && !command.interpreter_count, "and its lines are not known");
}

static const struct {
	const char *place; /* in the tree, executable */
	const char *text;
	const char *name; /* how it is called */
	const char *profile_of;
} profiles[] = {
	{ "tools/npm", "#!@/bin/env node\n", "npm", "npm" },
	{ "tools/npm", "#!@/bin/env node\n", "@/tools/npm", "@/tools/npm" },
	{ "tools/mine", "#!@/bin/env node\n", "mine", "@/bin/node" },
	{ "tools/mine", "#!@/bin/node\n", "@/tools/mine", "@/bin/node" },
	{ "tools/mine", "#!@/bin/env -S -u A python3\n", "mine", "@/bin/python3" },
	{ "tools/mine", "#!@/two\n", "mine", "@/bin/node" },
	{ "tools/mine", "#!@/bin/absent\n", "mine", "mine" },
	{ "tools/mine", ELF, "mine", "mine" },
	{ "tools/git", ELF, "git", "git" },
	{ "tools/python3.11", "#!@/bin/node\n", "python3.11", "python3.11" },
};

static void test_profiles(void)
{
	char shell[PATH_MAX];

	for (size_t i = 0; i < COUNT(profiles); i++) {
		(void)unlink(tree_path(profiles[i].place));
		(void)tree_file(profiles[i].place, expand(profiles[i].text), 0755);
		ok(find("@/tools:@/bin", profiles[i].name) == 0 &&
			   strcmp(command.profile_of, expand(profiles[i].profile_of)) == 0,
		   "'%s' takes the profile of '%s'", profiles[i].name, profiles[i].profile_of);
	}
	(void)tree_file("tools/plain", "echo\n", 0755);
	ok(find("@/tools", "plain") == 0 && realpath("/bin/sh", shell), "a plain script is found");
	is(command.profile_of, shell, "and takes the profile of sh");
}

/* The exit status of the script when it is executed with arguments. */
static int status_of(const char *text, const char *first, const char *second)
{
	const char *const argv[] = { "name", first, second, NULL };
	int status = 0;
	pid_t child;

	script(expand(text), 0755);
	if (find("@/bin", "@/script") < 0)
		return -1;
	child = fork();
	if (child == 0) {
		launch_command_exec(&command, command.file, (char *const *)argv,
				    (char *const[]){ NULL });
		_exit(errno == ENOENT ? 127 : 126);
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

/* Held against the kernel: it and sh run what was found to be theirs. */
static void test_exec(void)
{
	cmp_ok(status_of("exit \"$#$2\"\n", "a b", "3"), "==", 23, "a plain script has arguments");
	cmp_ok(status_of("exit \"$#\"\n", NULL, NULL), "==", 0, "or none");
	cmp_ok(status_of("#!/bin/sh\nexit \"$1\"\n", "7", NULL), "==", 7, "and so has one by line");
	cmp_ok(status_of("#!\nexit \"$1\"\n", "8", NULL), "==", 8, "also by an empty one");
	cmp_ok(status_of("", NULL, NULL), "==", 0, "an empty file does nothing");
	cmp_ok(status_of("#!/bin/sh\r\nexit 1\n", NULL, NULL), "==", 127,
	       "a line with a carriage return names nothing");
	cmp_ok(status_of("#!sh\nexit 1\n", NULL, NULL), "==", 127, "nor does one without a path");
	cmp_ok(status_of(ELF, NULL, NULL), "==", 126, "what only looks like a program is none");
}

int main(void)
{
	plan(NO_PLAN);
	make_tree();
	make_interpreters();
	test_places();
	test_long();
	test_default();
	test_messages();
	test_wrappers();
	test_lines();
	test_long_lines();
	test_rounds();
	test_unreadable();
	test_profiles();
	test_exec();
	done_testing();
}
