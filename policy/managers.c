/* SPDX-License-Identifier: MIT */
/*
 * Looks past the shims of pyenv, rbenv, nodenv, asdf and volta by reading what they would read:
 * variables, version files on the way up from the workdir, and the manager's own defaults.
 *
 * A version file may come from a hostile project. So a version is a plain word, never a path, and
 * only chooses among what the manager has installed. Must never run a shim or a manager.
 */
#include "managers.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SMALL_FILE 32768 /* version files, shims and settings; what is longer is cut */
#define BLANKS " \t\r\n"

/* The managers that work as rbenv does. */
struct family {
	const char *name; /* stands in its shims */
	const char *variable;
	const char *file;
	const char *prefix; /* may stand before a version, and means nothing */
	bool newest; /* "3.11" means the newest 3.11 that is installed */
};

static const struct family families[] = {
	{ "pyenv", "PYENV_VERSION", ".python-version", "python-", true },
	{ "rbenv", "RBENV_VERSION", ".ruby-version", "ruby-", false },
	{ "nodenv", "NODENV_VERSION", ".node-version", "node-", false },
};

struct shim {
	const char *name;
	const char *workdir;
	const char *root; /* the manager's folder */
	struct sbx_program *out;
};

static bool __attribute__((format(printf, 2, 3))) join(char out[PATH_MAX], const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(out, PATH_MAX, format, args);
	va_end(args);
	return len >= 0 && len < PATH_MAX;
}

static bool is_folder(const char *parent, const char *name)
{
	char path[PATH_MAX];
	struct stat st;

	return join(path, "%s/%s", parent, name) && !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* The beginning of DIR/NAME as a string; false unless it is a regular file that can be read. */
static bool read_small(const char *dir, const char *name, char text[SMALL_FILE])
{
	char path[PATH_MAX];
	struct stat st;
	ssize_t len = -1;
	int fd;

	if (!join(path, "%s/%s", dir, name))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		len = read(fd, text, SMALL_FILE - 1);
	close(fd);
	if (len < 0)
		return false;
	text[len] = '\0';
	return true;
}

static bool cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || !path[1])
		return false;
	slash[slash == path] = '\0';
	return true;
}

/* The C library's own would ask the locale. */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* A word of letters, digits and ". _ + -" that does not begin with a dot: never a path. */
static bool is_plain(const char *word)
{
	if (word[0] == '.' || word[0] == '-' || !word[0])
		return false;
	for (; *word; word++)
		if (!is_digit(*word) && !(to_upper(*word) >= 'A' && to_upper(*word) <= 'Z') &&
		    !strchr("._+-", *word))
			return false;
	return true;
}

/* The next word of a version list in place, or NULL; comments run to the end of their line. */
static char *next_word(char **text, const char *separators)
{
	char *word = *text + strspn(*text, separators);
	size_t len;

	while (*word == '#') {
		word += strcspn(word, "\n");
		word += strspn(word, separators);
	}
	if (!*word)
		return NULL;
	len = strcspn(word, separators);
	*text = word + len;
	if (**text)
		*(*text)++ = '\0';
	return word;
}

/* Takes what the manager would run, if that can be run. */
static bool take(const struct shim *shim, const char *folder)
{
	char path[PATH_MAX];

	return join(path, "%s/%s", folder, shim->name) &&
	       sbx_program_is_runnable(path, shim->out->file);
}

static unsigned long take_number(const char **text)
{
	unsigned long number = 0;

	for (; is_digit(**text); ++*text)
		number = number < 1000000000 ? number * 10 + (unsigned long)(**text - '0') : number;
	return number;
}

/* By number where both have one: 3.9.18 is older than 3.11.7. */
static int compare_versions(const char *a, const char *b)
{
	while (*a && *b) {
		if (is_digit(*a) && is_digit(*b)) {
			unsigned long at_a = take_number(&a), at_b = take_number(&b);

			if (at_a != at_b)
				return at_a < at_b ? -1 : 1;
		} else if (*a++ != *b++) {
			return a[-1] < b[-1] ? -1 : 1;
		}
	}
	return (*a != '\0') - (*b != '\0');
}

/* "3.11" has the releases "3.11.4" and "3.11.7", but neither "3.110" nor "3.11-dev". */
static bool is_release_of(const char *version, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(version, prefix, len) && (version[len] == '.' || version[len] == '-') &&
	       version[len + strspn(version + len, ".-0123456789")] == '\0';
}

static bool find_newest(const char *versions, const char *prefix, char newest[NAME_MAX + 1])
{
	DIR *dir = opendir(versions);
	const struct dirent *entry;

	if (!dir)
		return false;
	newest[0] = '\0';
	while ((entry = readdir(dir)))
		if (is_release_of(entry->d_name, prefix) &&
		    (!newest[0] || compare_versions(entry->d_name, newest) > 0))
			snprintf(newest, NAME_MAX + 1, "%s", entry->d_name);
	closedir(dir);
	return newest[0];
}

static bool take_version(const struct shim *shim, const struct family *family, const char *version)
{
	char versions[PATH_MAX], folder[PATH_MAX], newest[NAME_MAX + 1];
	size_t prefix_len = strlen(family->prefix);

	if (!join(versions, "%s/versions", shim->root))
		return false;
	if (!is_folder(versions, version) && !strncmp(version, family->prefix, prefix_len))
		version += prefix_len;
	if (!is_plain(version))
		return false;
	if (!is_folder(versions, version)) {
		if (!family->newest || !find_newest(versions, version, newest))
			return false;
		version = newest;
	}
	return join(folder, "%s/%s/bin", versions, version) && take(shim, folder);
}

/* The words of the variable, of the nearest version file, or of the manager's default. */
static bool read_versions(const struct shim *shim, const struct family *family,
			  char text[SMALL_FILE])
{
	const char *value = getenv(family->variable);
	char dir[PATH_MAX];

	if (value && *value)
		return snprintf(text, SMALL_FILE, "%s", value) < SMALL_FILE;
	if (shim->workdir && join(dir, "%s", shim->workdir)) {
		do {
			if (read_small(dir, family->file, text))
				return true;
		} while (cut_last(dir));
	}
	return read_small(shim->root, "version", text);
}

static enum sbx_shim follow_family(const struct shim *shim, const struct family *family)
{
	char text[SMALL_FILE], *rest = text;

	if (!read_versions(shim, family, text))
		return SBX_SHIM_NOWHERE;
	for (const char *word; (word = next_word(&rest, BLANKS ":"));) {
		if (!strcmp(word, "system"))
			return SBX_SHIM_NOWHERE;
		if (is_plain(word) && take_version(shim, family, word))
			return SBX_SHIM_FOUND;
	}
	return SBX_SHIM_NOWHERE;
}

/* What follows the word 'first' at the beginning of a line, up to that line's end; or NULL. */
static char *find_line(char *text, const char *first)
{
	size_t len = strlen(first);

	for (char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
		line += strspn(line, " \t");
		if (strncmp(line, first, len) || !strchr(BLANKS, line[len]))
			continue;
		line[strcspn(line, "#\r\n")] = '\0';
		return line + len;
	}
	return NULL;
}

/* What asdf would take for the plugin: variable, .tool-versions upwards, that of the home. */
static char *asdf_versions(const struct shim *shim, const char *plugin, char text[SMALL_FILE])
{
	char variable[NAME_MAX + 1], dir[PATH_MAX];
	const char *value, *home = getenv("HOME");

	snprintf(variable, sizeof(variable), "ASDF_%s_VERSION", plugin);
	for (char *c = variable; *c; c++)
		*c = *c == '-' ? '_' : to_upper(*c);
	value = getenv(variable);
	if (value && *value)
		return snprintf(text, SMALL_FILE, "%s", value) < SMALL_FILE ? text : NULL;
	if (shim->workdir && join(dir, "%s", shim->workdir)) {
		do {
			if (read_small(dir, ".tool-versions", text)) {
				char *versions = find_line(text, plugin);

				if (versions)
					return versions;
			}
		} while (cut_last(dir));
	}
	return home && read_small(home, ".tool-versions", text) ? find_line(text, plugin) : NULL;
}

static enum sbx_shim follow_plugin(const struct shim *shim, const char *plugin)
{
	char text[SMALL_FILE], folder[PATH_MAX], *rest;

	rest = is_plain(plugin) ? asdf_versions(shim, plugin, text) : NULL;
	if (!rest)
		return SBX_SHIM_NONE;
	for (const char *word; (word = next_word(&rest, BLANKS));) {
		if (!strcmp(word, "system"))
			return SBX_SHIM_NOWHERE;
		if (is_plain(word) &&
		    join(folder, "%s/installs/%s/%s/bin", shim->root, plugin, word) &&
		    take(shim, folder))
			return SBX_SHIM_FOUND;
	}
	return SBX_SHIM_NOWHERE;
}

/* Each shim of asdf names its plugins: "# asdf-plugin: nodejs 20.1.0". */
static enum sbx_shim follow_asdf(const struct shim *shim, char *script)
{
	static const char mark[] = "# asdf-plugin:";

	for (char *line = script, *next; line; line = next) {
		enum sbx_shim result;
		const char *plugin;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, mark, strlen(mark)))
			continue;
		line += strlen(mark);
		plugin = next_word(&line, BLANKS);
		result = plugin ? follow_plugin(shim, plugin) : SBX_SHIM_NONE;
		if (result != SBX_SHIM_NONE)
			return result;
	}
	return SBX_SHIM_NOWHERE;
}

static bool is_key(const char *begin, const char *end, const char *key)
{
	return key && (size_t)(end - begin) == strlen(key) && !memcmp(begin, key, strlen(key));
}

static const char *string_end(const char *text)
{
	while (*text && *text != '"')
		text += *text == '\\' && text[1] ? 2 : 1;
	return text;
}

/*
 * The string text[outer][key] of a JSON text, or text[key] when 'outer' is NULL. Reads just as much
 * of JSON as it takes to skip the rest; a string with an escape in it is none of ours.
 */
static bool json_get(const char *text, const char *outer, const char *key, char *out, size_t size)
{
	unsigned int depth = 0, wanted = outer ? 2 : 1;
	bool inside = !outer;

	for (const char *end; *text; text++) {
		depth += *text == '{' || *text == '[';
		depth -= depth && (*text == '}' || *text == ']');
		if (*text != '"')
			continue;
		end = string_end(text + 1);
		if (!*end || end[1 + strspn(end + 1, BLANKS)] != ':') {
			text = *end ? end : end - 1;
			continue;
		}
		if (outer && depth == 1)
			inside = is_key(text + 1, end, outer);
		if (!inside || depth != wanted || !is_key(text + 1, end, key)) {
			text = end;
			continue;
		}
		text = end + 1 + strspn(end + 1, BLANKS ":");
		end = *text == '"' ? string_end(text + 1) : text;
		return end > text + 1 && !memchr(text, '\\', (size_t)(end - text)) &&
		       (size_t)snprintf(out, size, "%.*s", (int)(end - text - 1), text + 1) < size;
	}
	return false;
}

/* The version of 'tool' that volta would take: the project's pin, else the user's default. */
static bool volta_version(const struct shim *shim, const char *tool, char version[NAME_MAX + 1])
{
	char text[SMALL_FILE], dir[PATH_MAX];
	bool is_inner = !strcmp(tool, "node") || !strcmp(tool, "npm");

	text[0] = '\0';
	if (shim->workdir && join(dir, "%s", shim->workdir)) {
		while (!read_small(dir, "package.json", text) && cut_last(dir))
			;
		if (json_get(text, "volta", tool, version, NAME_MAX + 1))
			return is_plain(version);
		if (!strcmp(tool, "npm") && json_get(text, "volta", "node", version, NAME_MAX + 1))
			return false; /* the one that came with the pinned node */
	}
	if (!read_small(shim->root, "tools/user/platform.json", text))
		return false;
	if (is_inner)
		tool = strcmp(tool, "node") ? "npm" : "runtime";
	return json_get(text, is_inner ? "node" : NULL, tool, version, NAME_MAX + 1) &&
	       is_plain(version);
}

static bool take_volta(const struct shim *shim, const char *tool)
{
	char version[NAME_MAX + 1], folder[PATH_MAX];

	return volta_version(shim, tool, version) &&
	       join(folder, "%s/tools/image/%s/%s/bin", shim->root, tool, version) &&
	       take(shim, folder);
}

/* "typescript" or "@scope/name". */
static bool is_package(char *package)
{
	char *slash = strchr(package, '/');
	bool good;

	if (package[0] != '@' || !slash)
		return is_plain(package);
	*slash = '\0';
	good = is_plain(package + 1) && is_plain(slash + 1);
	*slash = '/';
	return good;
}

/* A program that 'volta install PACKAGE' brought. */
static bool take_volta_package(const struct shim *shim)
{
	char text[SMALL_FILE], path[PATH_MAX], package[NAME_MAX + 1];

	return join(path, "%s/tools/user/bins", shim->root) && is_plain(shim->name) &&
	       snprintf(package, sizeof(package), "%s.json", shim->name) <= NAME_MAX &&
	       read_small(path, package, text) &&
	       json_get(text, NULL, "package", package, sizeof(package)) && is_package(package) &&
	       join(path, "%s/tools/image/packages/%s/bin", shim->root, package) &&
	       take(shim, path);
}

static enum sbx_shim follow_volta(const struct shim *shim)
{
	const char *name = shim->name;
	bool is_npm = !strcmp(name, "npm") || !strcmp(name, "npx");
	bool found;

	if (is_npm)
		found = take_volta(shim, "npm") || take_volta(shim, "node");
	else if (!strcmp(name, "node") || !strcmp(name, "yarn") || !strcmp(name, "pnpm"))
		found = take_volta(shim, name);
	else
		found = take_volta_package(shim);
	return found ? SBX_SHIM_FOUND : SBX_SHIM_NOWHERE;
}

/* Where volta keeps things: $VOLTA_HOME, the folder above the shim's, or ~/.volta. */
static bool find_volta_root(const char *found, char root[PATH_MAX])
{
	const char *home = getenv("VOLTA_HOME");

	if (home && *home == '/' && is_folder(home, "tools"))
		return join(root, "%s", home);
	if (join(root, "%s", found) && cut_last(root) && cut_last(root) && is_folder(root, "tools"))
		return true;
	home = getenv("HOME");
	return home && *home == '/' && join(root, "%s/.volta", home) && is_folder(root, "tools");
}

static const struct family *family_of(const char *root, const char *script)
{
	const char *base = strrchr(root, '/');

	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		if (strstr(script, families[i].name) || (base && strstr(base, families[i].name)))
			return &families[i];
	return NULL;
}

/* A file ROOT/shims/NAME beside ROOT/versions or ROOT/installs. */
static enum sbx_shim follow_script(struct shim *shim, const char *real, char root[PATH_MAX])
{
	const struct family *family = NULL;
	char script[SMALL_FILE], dir[PATH_MAX];
	const char *base;

	if (!join(dir, "%s", real) || !cut_last(dir) || !join(root, "%s", dir) || !cut_last(root))
		return SBX_SHIM_NONE;
	base = strrchr(dir, '/');
	if (strcmp(base, "/shims") || !read_small(dir, strrchr(real, '/') + 1, script))
		return SBX_SHIM_NONE;
	if (is_folder(root, "installs") && strstr(script, "asdf"))
		return follow_asdf(shim, script);
	if (is_folder(root, "versions"))
		family = family_of(root, script);
	return family ? follow_family(shim, family) : SBX_SHIM_NONE;
}

enum sbx_shim sbx_shim_follow(const char *name, const char *found, const char *real,
			      const char *workdir, struct sbx_program *out)
{
	char root[PATH_MAX];
	struct shim shim = { name, workdir, root, out };
	const char *base = strrchr(real, '/');
	enum sbx_shim result;

	if (base && !strcmp(base, "/volta-shim"))
		result = find_volta_root(found, root) ? follow_volta(&shim) : SBX_SHIM_NONE;
	else
		result = follow_script(&shim, real, root);
	if (result != SBX_SHIM_NONE)
		memcpy(out->manager, root, strlen(root) + 1);
	return result;
}
