/* SPDX-License-Identifier: MIT */
/*
 * Finds the file that really runs when somebody types a program's name, the folder that was
 * installed for it alone, and the profile that fits it.
 *
 * Must never take a program from the current directory because PATH has an empty or a relative
 * element, and never call a folder private in which others keep their files.
 */
#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "managers.h"
#include "resolve.h"

#define DEFAULT_PATH "/bin:/usr/bin" /* what execvp(3) searches without a PATH */

static const struct {
	const char *command;
	bool versions; /* "python3.11" and "gcc-12" mean the same */
	const char *profile;
} commands[] = {
	{ "node", true, "node" },     { "nodejs", true, "node" },   { "npm", false, "npm" },
	{ "npx", false, "npm" },      { "corepack", false, "npm" }, { "yarn", false, "npm" },
	{ "pnpm", false, "npm" },     { "python", true, "python" }, { "pip", true, "python" },
	{ "ruby", true, "ruby" },     { "gem", true, "ruby" },	    { "bundle", true, "ruby" },
	{ "bundler", true, "ruby" },  { "irb", true, "ruby" },	    { "rake", true, "ruby" },
	{ "bash", false, "bash" },    { "sh", false, "bash" },	    { "dash", false, "bash" },
	{ "git", false, "git" },      { "gcc", true, "build" },	    { "g++", true, "build" },
	{ "cc", false, "build" },     { "c++", false, "build" },    { "clang", true, "build" },
	{ "clang++", true, "build" }, { "make", false, "build" },   { "cmake", false, "build" },
	{ "ninja", false, "build" },  { "ld", false, "build" },	    { "as", false, "build" },
};

/* Folders that many programs share. Home directories are asked for separately. */
static const char *const shared_folders[] = {
	"/usr",	  "/usr/local", "/opt", "/etc",	    "/var",	"/srv",	 "/mnt",
	"/media", "/run",	"/tmp", "/var/lib", "/var/tmp", "/snap",
};

/* Where home directories are. */
static const char *const home_parents[] = { "/home", "/var/home", "/export/home", "/Users" };

/* The kernel is asked first, in one call: most folders of PATH do not have the program. */
bool sbx_program_is_runnable(const char *path, char out[PATH_MAX])
{
	struct sbx_resolved resolved;

	if (faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ||
	    sbx_resolve_path("/", path, 0, NULL, &resolved) < 0 || !S_ISREG(resolved.mode))
		return false;
	memcpy(out, resolved.path, strlen(resolved.path) + 1);
	return true;
}

/* The mark stands behind the launcher's name, in which a quote is written as four characters. */
bool sbx_program_is_wrapper(const char *path)
{
	static const size_t start = sizeof(SBX_WRAPPER_START) - 1;
	char text[4 * PATH_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t len = fd < 0 ? -1 : read(fd, text, start);

	if (len == (ssize_t)start && !memcmp(text, SBX_WRAPPER_START, start))
		len = read(fd, text, sizeof(text));
	else
		len = -1;
	if (fd >= 0)
		(void)close(fd);
	return len > 0 && memmem(text, (size_t)len, SBX_WRAPPER_MARK, sizeof(SBX_WRAPPER_MARK) - 1);
}

/* Whether 'path' is 'folder' or lies below it; returns what follows, without the slash, or NULL. */
static const char *below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (strncmp(path, folder, len) || (path[len] && path[len] != '/'))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

/* What follows the home directory that 'path' lies in: "" for a home itself, NULL outside. */
static const char *below_home(const char *path, const char *home)
{
	const char *rest = below(path, home);

	if (!rest)
		rest = below(path, "/root");
	for (size_t i = 0; !rest && i < sizeof(home_parents) / sizeof(home_parents[0]); i++) {
		rest = below(path, home_parents[i]);
		if (rest)
			rest += strcspn(rest, "/");
		if (rest && *rest)
			rest++;
	}
	return rest;
}

/*
 * A home directory and what is above one belong to everybody in it. So do folders such as ~/.local
 * and ~/.cargo: keyrings and credentials stand in them beside bin.
 */
static bool is_private(const char *folder)
{
	const char *home = getenv("HOME"), *rest;
	struct sbx_resolved real = { .path = "/root" };

	if (!folder[0])
		return false;
	for (size_t i = 0; i < sizeof(shared_folders) / sizeof(shared_folders[0]); i++)
		if (!strcmp(folder, shared_folders[i]))
			return false;
	for (size_t i = 0; i < sizeof(home_parents) / sizeof(home_parents[0]); i++)
		if (below(home_parents[i], folder))
			return false;
	if (home && home[0] == '/')
		(void)sbx_resolve_path("/", home, SBX_RESOLVE_MISSING, NULL, &real);
	rest = below_home(folder, real.path);
	if (rest && (!*rest || (*rest == '.' && !strchr(rest, '/'))))
		return false;
	return !below(real.path, folder);
}

static void set_prefix(struct sbx_program *program)
{
	char *slash;

	memcpy(program->prefix, program->file, strlen(program->file) + 1);
	slash = strrchr(program->prefix, '/');
	*slash = '\0';
	slash = strrchr(program->prefix, '/');
	if (slash && !strcmp(slash, "/bin")) {
		*slash = '\0';
		if (is_private(program->prefix))
			return;
	}
	program->prefix[0] = '\0';
}

/* Takes the program at 'path', or what is behind it. False: the search goes on, as at wrappers. */
static bool try_path(const char *name, const char *path, const char *workdir,
		     struct sbx_program *program)
{
	struct sbx_program behind = { .manager = "" };
	char real[PATH_MAX];
	enum sbx_shim shim;

	if (!sbx_program_is_runnable(path, real) || sbx_program_is_wrapper(real))
		return false;
	shim = sbx_shim_follow(name, path, real, workdir, &behind);
	if (!program->manager[0])
		memcpy(program->manager, behind.manager, sizeof(program->manager));
	if (shim == SBX_SHIM_NOWHERE)
		return false;
	memcpy(program->file, shim == SBX_SHIM_FOUND ? behind.file : real, PATH_MAX);
	set_prefix(program);
	return true;
}

static bool search(const char *name, const char *list, const char *workdir,
		   struct sbx_program *program)
{
	char path[PATH_MAX];

	for (size_t len; *list; list += len + (list[len] == ':')) {
		len = strcspn(list, ":");
		if (list[0] == '/' && len < PATH_MAX &&
		    snprintf(path, sizeof(path), "%.*s/%s", (int)len, list, name) < PATH_MAX &&
		    try_path(name, path, workdir, program))
			return true;
	}
	return false;
}

/* A name with a slash in it is a path, and a shim that leads nowhere is then itself what runs. */
static bool take_path(const char *name, const char *workdir, struct sbx_program *program)
{
	char cwd[PATH_MAX], path[PATH_MAX];
	const char *from = name[0] == '/' ? "" : workdir ? workdir : getcwd(cwd, sizeof(cwd));

	if (!from || snprintf(path, sizeof(path), "%s/%s", from, name) >= PATH_MAX)
		return false;
	if (try_path(strrchr(name, '/') + 1, path, workdir, program))
		return true;
	if (!sbx_program_is_runnable(path, program->file))
		return false;
	set_prefix(program);
	return true;
}

int sbx_program_find(const char *name, const char *path_list, const char *workdir,
		     struct sbx_program *out)
{
	struct sbx_program program = { .manager = "" };
	bool found;

	if (!path_list)
		path_list = getenv("PATH");
	if (!path_list)
		path_list = DEFAULT_PATH;
	if (strchr(name, '/'))
		found = take_path(name, workdir, &program);
	else
		found = *name && search(name, path_list, workdir, &program);
	if (!found)
		return -ENOENT;
	*out = program;
	return 0;
}

/* "3", "3.11", "-12": what may follow a program's name. */
static bool is_version(const char *text)
{
	text += *text == '-';
	return *text >= '0' && *text <= '9' && text[strspn(text, "0123456789.")] == '\0';
}

const char *sbx_program_profile(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *name = slash ? slash + 1 : command;

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		size_t len = strlen(commands[i].command);

		if (strncmp(name, commands[i].command, len))
			continue;
		if (!name[len] || (commands[i].versions && is_version(name + len)))
			return commands[i].profile;
	}
	return NULL;
}
