/* SPDX-License-Identifier: MIT */
/*
 * Policies through the whole compile side. The text comes in as standard input, which is replaced
 * by a file in memory, and the environment is a fixed one. Must never start anything or write
 * anywhere but into its own folder.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/sbx-fuzz-XXXXXX";
static char profiles[sizeof(folder) + 16];

/* What a policy can meet: files that include each other, links, a loop of links, a folder. */
static const struct {
	const char *name;
	const char *text; /* NULL for a folder */
	const char *link;
} places[] = {
	{ "profiles", NULL, NULL },
	{ "profiles/base.ini", "[paths]\nread = /usr ?\nexec = /usr/bin ?\n", NULL },
	{ "profiles/node.ini", "[sandbox]\ninclude = base\n[paths]\nexec = /usr/bin/node ?\n",
	  NULL },
	{ "a.ini", "[sandbox]\ninclude = ./b.ini\n", NULL },
	{ "b.ini", "[sandbox]\ninclude = ./a.ini\n", NULL },
	{ "one.ini", "[paths]\nread = ./data\n[path data]\nroot = ./data/sub\nmode = ro\n", NULL },
	{ "bad.ini", "[paths]\nraed = ./data\n", NULL },
	{ "data", NULL, NULL },
	{ "data/sub", NULL, NULL },
	{ "data/file.txt", "text\n", NULL },
	{ "link", NULL, "data/sub" },
	{ "loop", NULL, "loop" },
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void make_place(const char *name, const char *text, const char *link)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (link) {
		MUST(symlink(link, path) == 0);
	} else if (!text) {
		MUST(mkdir(path, 0755) == 0);
	} else {
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		MUST(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
		close(fd);
	}
}

static void remove_places(void)
{
	char path[PATH_MAX];

	for (size_t i = COUNT(places); i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", folder, places[i].name);
		remove(path);
	}
	remove(folder);
}

void fuzz_compile_start(void)
{
	int fd = memfd_create("policy", MFD_CLOEXEC);

	MUST(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
	MUST(mkdtemp(folder) && chmod(folder, 0755) == 0);
	atexit(remove_places);
	for (size_t i = 0; i < COUNT(places); i++)
		make_place(places[i].name, places[i].text, places[i].link);
	snprintf(profiles, sizeof(profiles), "%s/profiles", folder);
	MUST(clearenv() == 0 && setenv("HOME", "/home/user", 1) == 0 &&
	     setenv("PATH", "/usr/bin", 1) == 0 && setenv("EMPTY", "", 1) == 0 &&
	     setenv("STAR", "a*b", 1) == 0);
}

int fuzz_compile(const char *text, size_t size, unsigned int how, struct sbx_policy **policy,
		 struct sbx_errors *errors)
{
	static const char *const files[] = { "-" };
	static const struct sbx_assign alone = { "sandbox", "include", "none", "--include" };
	bool generic = how & FUZZ_GENERIC;
	struct sbx_load load = {
		.files = files,
		.file_count = 1,
		.options = &alone,
		.option_count = generic ? 1 : 0,
		.cwd = generic ? "/srv" : folder,
		.tmp = "/tmp",
		.profiles = profiles,
		.lenient = how & FUZZ_LENIENT,
	};

	MUST(ftruncate(STDIN_FILENO, 0) == 0 &&
	     pwrite(STDIN_FILENO, text, size, 0) == (ssize_t)size &&
	     lseek(STDIN_FILENO, 0, SEEK_SET) == 0);
	return sbx_load(&load, policy, errors);
}
