/* SPDX-License-Identifier: MIT */
/*
 * Compile side: takes in the command line, the policy files, and what they include.
 *
 * Nothing is read from the working directory that was not named. A file is read once however often
 * it is included; including one's own includer is an error that shows the way round.
 */
#include "draft.h"
#include "programs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_POLICY_BYTES (4u << 20)

static const char builtin_policy[] = "[sandbox]\nworkspace = .\n";

struct reading {
	struct sbx_draft *draft;
	uint32_t file;
	const char *option; /* how a command-line value was spelled, or NULL */
};

static uint32_t add_file(struct sbx_draft *draft, struct draft_file file)
{
	if (!file.name || !file.path || !file.dir || !DRAFT_PUSH(draft, &draft->files, file))
		return SBX_NONE;
	return (uint32_t)draft->files.count - 1;
}

static uint32_t find_section(const struct sbx_draft *draft, uint32_t file, const char *name)
{
	for (size_t i = draft->sections.count; i-- > 0;)
		if (draft->sections.list[i].file == file &&
		    !strcmp(draft->sections.list[i].name, name))
			return (uint32_t)i;
	return SBX_NONE;
}

static void on_entry(void *arg, const struct sbx_entry *entry)
{
	struct reading *reading = arg;
	struct sbx_draft *draft = reading->draft;
	const char *key = sbx_keys[entry->key].name;
	size_t key_len = strlen(key);
	const char *said = sbx_draft_join(draft, key, key_len, " = ", entry->text);

	if (!said)
		return;
	(void)DRAFT_PUSH(
		draft, &draft->entries,
		(struct draft_entry){
			.file = reading->file,
			.line = entry->line,
			.key = entry->key,
			.section = *entry->name ? find_section(draft, reading->file, entry->name)
						: SBX_NONE,
			.said = said,
			.text = said + key_len + strlen(" = "),
			.value = entry->value,
			.quoted = entry->quoted,
			.optional = entry->optional,
		});
}

static void on_section(void *arg, unsigned int line, const char *name)
{
	struct reading *reading = arg;
	struct sbx_draft *draft = reading->draft;
	const char *copy = sbx_draft_copy(draft, name, strlen(name));

	/* Within one file the reader has seen to it. */
	for (size_t i = 0; i < draft->sections.count; i++) {
		const struct draft_section *other = &draft->sections.list[i];

		if (other->file == reading->file)
			break;
		if (!strcmp(other->name, name))
			sbx_draft_error(
				draft, reading->file, line,
				"section [path %s] is also in %s (give one of them another name)",
				name, sbx_draft_where(draft, other->file, other->line));
	}
	if (copy)
		(void)DRAFT_PUSH(draft, &draft->sections,
				 (struct draft_section){ .file = reading->file,
							 .line = line,
							 .name = copy,
							 .first = draft->entries.count });
}

static void on_error(void *arg, unsigned int line, const char *text)
{
	struct reading *reading = arg;
	struct sbx_draft *draft = reading->draft;

	if (draft->sections.count &&
	    draft->sections.list[draft->sections.count - 1].file == reading->file)
		draft->sections.list[draft->sections.count - 1].bad = true;
	if (reading->option)
		sbx_draft_error(reading->draft, SBX_NONE, 0, "%s: %s", reading->option, text);
	else
		sbx_draft_error(reading->draft, reading->file, line, "%s", text);
}

static const struct sbx_reader_ops reader_ops = { on_entry, on_section, on_error };

static void read_text(struct sbx_draft *draft, uint32_t file, const char *text, size_t size)
{
	struct reading reading = { .draft = draft, .file = file };

	if (file != SBX_NONE && sbx_read_text(text, size, &reader_ops, &reading) < 0)
		draft->failed = true;
}

/* Reads it all, up to one byte over the limit. Negative errno, or the size. */
static ssize_t slurp(int fd, char **bytes)
{
	size_t size = 0, cap = 64 * 1024;
	char *text = malloc(cap);

	while (text) {
		ssize_t got;

		if (size == cap) {
			char *bigger = cap > MAX_POLICY_BYTES ? NULL : realloc(text, cap * 2);

			if (!bigger)
				break;
			text = bigger;
			cap *= 2;
		}
		got = read(fd, text + size, cap - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int error = errno;

			free(text);
			return -error;
		}
		if (got == 0 || size + (size_t)got > MAX_POLICY_BYTES) {
			*bytes = text;
			return (ssize_t)size + got;
		}
		size += (size_t)got;
	}
	free(text);
	return -ENOMEM;
}

static void read_fd(struct sbx_draft *draft, uint32_t file, int fd)
{
	char *text = NULL;
	ssize_t size = slurp(fd, &text);

	if (size < 0)
		sbx_draft_error(draft, file, 0, "cannot be read: %s", strerror((int)-size));
	else if (size > MAX_POLICY_BYTES)
		sbx_draft_error(draft, file, 0, "is too large for a policy (at most %u MB)",
				MAX_POLICY_BYTES >> 20);
	else
		read_text(draft, file, text, (size_t)size);
	free(text);
}

static bool may_be_read(struct sbx_draft *draft, uint32_t file, int fd)
{
	struct stat st;
	char why[256];

	if (fstat(fd, &st) < 0) {
		sbx_draft_error(draft, file, 0, "cannot be read: %s", strerror(errno));
		return false;
	}
	/* What comes through a pipe, as from <(…), stands in no folder. */
	if (!S_ISREG(st.st_mode)) {
		draft->files.list[file].dir = draft->cwd;
		draft->files.list[file].path = "";
	}
	if (S_ISDIR(st.st_mode)) {
		sbx_draft_error(draft, file, 0, "is a directory, not a policy file");
		return false;
	}
	if (!S_ISREG(st.st_mode) && draft->files.list[file].role != SBX_FILE_POLICY) {
		sbx_draft_error(draft, file, 0, "is not a regular file, and cannot be included");
		return false;
	}
	/* A terminal may be written by its group; a pipe in a folder is like a file. */
	if (!draft->load->trust && !S_ISCHR(st.st_mode) &&
	    sbx_trust(fd, draft->files.list[file].path, why)) {
		sbx_draft_error(draft, file, 0, "%s (--trust accepts it all the same)", why);
		return false;
	}
	return true;
}

/* Whoever replaces it decides what the next run reads. */
static void keep_link(void *arg, const char *place)
{
	struct sbx_draft *draft = arg;
	struct draft_link link = { .file = SBX_NONE,
				   .key = SBX_KEY_sandbox_include,
				   .place = sbx_draft_copy(draft, place, strlen(place)) };

	if (link.place)
		(void)DRAFT_PUSH(draft, &draft->links, link);
}

/* The folder of a path, its links resolved; the file's own name may be a link and stays. */
static bool locate(struct sbx_draft *draft, const char *base, const char *name, const char **path,
		   const char **dir)
{
	struct sbx_resolved at;
	const char *slash;
	int error =
		sbx_resolve_path(base, name, SBX_RESOLVE_NOFOLLOW | SBX_RESOLVE_MISSING, NULL, &at);

	errno = -error;
	if (error < 0)
		return false;
	slash = strrchr(at.path, '/');
	*path = sbx_draft_copy(draft, at.path, strlen(at.path));
	*dir = slash == at.path ? "/" : sbx_draft_copy(draft, at.path, (size_t)(slash - at.path));
	return *path && *dir;
}

static void read_file(struct sbx_draft *draft, const char *base, struct draft_file file,
		      const struct draft_entry *from)
{
	const char *written = file.path;
	uint32_t index;
	int fd;

	if (!locate(draft, base, file.path, &file.path, &file.dir)) {
		file.path = "";
		file.dir = base;
	}
	index = add_file(draft, file);
	if (index == SBX_NONE)
		return;
	/* What is included is a file; what the user names may be a pipe, and worth waiting for. */
	fd = open(*file.path ? file.path : file.name,
		  O_RDONLY | O_CLOEXEC | O_NOCTTY | (from ? O_NONBLOCK : 0));
	if (fd < 0 && from)
		sbx_draft_error(draft, from->file, from->line, "cannot include '%s': %s",
				from->text, strerror(errno));
	else if (fd < 0)
		sbx_draft_error(draft, index, 0, "cannot be read: %s", strerror(errno));
	if (fd < 0)
		return;
	if (may_be_read(draft, index, fd)) {
		if (*draft->files.list[index].path)
			sbx_draft_links(base, written, keep_link, draft);
		read_fd(draft, index, fd);
	}
	(void)close(fd);
}

/* What was written on the command line, or follows from it. */
static void read_assigns(struct sbx_draft *draft, bool implied)
{
	const struct sbx_load *load = draft->load;
	struct reading reading = { .draft = draft, .file = SBX_NONE };

	for (size_t i = 0; i < load->option_count; i++) {
		const struct sbx_assign *assign = &load->options[i];
		enum sbx_key key = sbx_key_find(assign->section, assign->key);

		if (implied != (i >= load->option_count - load->implied))
			continue;
		if (reading.file == SBX_NONE)
			reading.file = add_file(
				draft,
				(struct draft_file){
					.name = implied ? "the command" : "command line",
					.path = "",
					.dir = draft->cwd,
					.role = implied ? SBX_FILE_BUILTIN : SBX_FILE_OPTIONS,
					.level = 0,
					.parent = SBX_NONE });
		if (reading.file == SBX_NONE)
			return;
		reading.option = assign->option ? assign->option : assign->key;
		if (key == SBX_KEY_COUNT)
			on_error(&reading, 0, "no such setting");
		else
			(void)sbx_read_value(key, assign->value, &reader_ops, &reading);
	}
}

static bool is_at_or_below(const char *path, const char *dir, size_t len)
{
	return !strncmp(path, dir, len) && (path[len] == '/' || !path[len]);
}

/* The n-th field of a line of /etc/passwd, from 0; ended in place. NULL when there are not so many. */
static char *field(char *line, int n)
{
	for (; n > 0 && line; n--) {
		line = strchr(line, ':');
		line += line != NULL;
	}
	if (line)
		line[strcspn(line, ":\n")] = '\0';
	return line;
}

/* Whether the folder is a home, or has homes in it. System accounts live in /usr or /var instead. */
static bool has_homes(const char *dir)
{
	size_t len = strlen(dir), room = 0;
	FILE *users = fopen("/etc/passwd", "re");
	char *line = NULL;
	bool found = false;

	while (users && !found && getline(&line, &room, users) > 0) {
		char *home = field(line, 5), *uid = field(line, 2);
		unsigned long number = uid ? strtoul(uid, NULL, 10) : 0;

		found = home && (number == 0 || number >= 1000) && strcmp(home, "/") != 0 &&
			is_at_or_below(home, dir, len);
	}
	free(line);
	if (users)
		(void)fclose(users);
	return found;
}

/* Places of the system, which are nobody's project; of the second list, nothing below either. */
static bool is_system(const char *dir)
{
	static const char *const roots[] = { "/usr", "/usr/local", "/var", "/run",  "/opt",
					     "/srv", "/home",	   "/mnt", "/media" };
	static const char *const trees[] = { "/etc",
					     "/bin",
					     "/sbin",
					     "/lib",
					     "/lib32",
					     "/lib64",
					     "/boot",
					     "/dev",
					     "/proc",
					     "/sys",
					     "/usr/bin",
					     "/usr/sbin",
					     "/usr/lib",
					     "/usr/lib32",
					     "/usr/lib64",
					     "/usr/local/bin",
					     "/usr/local/sbin",
					     "/usr/local/lib" };

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!strcmp(dir, roots[i]))
			return true;
	for (size_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++)
		if (is_at_or_below(dir, trees[i], strlen(trees[i])) && strncmp(dir, "/dev/shm/", 9))
			return true;
	return false;
}

/* A place so wide that nobody means it by just being there. */
static bool is_too_wide(const struct sbx_draft *draft, const char *dir)
{
	struct sbx_resolved own;

	if (!strcmp(dir, "/") || is_system(dir))
		return true;
	if (draft->home &&
	    sbx_resolve_path("/", draft->home, SBX_RESOLVE_MISSING, NULL, &own) == 0 &&
	    is_at_or_below(own.path, dir, strlen(dir)))
		return true;
	return has_homes(dir);
}

static void read_builtin(struct sbx_draft *draft)
{
	struct draft_file file = { .name = "the built-in policy",
				   .path = "",
				   .dir = draft->cwd,
				   .role = SBX_FILE_BUILTIN,
				   .level = 1,
				   .parent = SBX_NONE };

	if (is_too_wide(draft, draft->cwd)) {
		sbx_draft_error(
			draft, SBX_NONE, 0,
			"no policy was given, and '%s' is too wide to be the workspace (use -p, "
			"or go into a project's folder)",
			draft->cwd);
		return;
	}
	read_text(draft, add_file(draft, file), builtin_policy, strlen(builtin_policy));
}

static void read_policies(struct sbx_draft *draft)
{
	const struct sbx_load *load = draft->load;

	for (size_t i = 0; i < load->file_count; i++) {
		struct draft_file file = { .name = load->files[i],
					   .path = load->files[i],
					   .dir = draft->cwd,
					   .role = SBX_FILE_POLICY,
					   .level = 1,
					   .parent = SBX_NONE };

		if (strcmp(file.name, "-") != 0) {
			read_file(draft, draft->cwd, file, NULL);
			continue;
		}
		file.name = "stdin";
		file.path = "";
		read_fd(draft, add_file(draft, file), STDIN_FILENO);
	}
	if (load->file_count == 0)
		read_builtin(draft);
}

/* "a.ini -> b.ini -> a.ini" when 'path' is among the includers of 'file', else NULL. */
static const char *find_cycle(struct sbx_draft *draft, uint32_t file, const char *path)
{
	const char *way = "";
	uint32_t top = file;

	while (top != SBX_NONE && strcmp(draft->files.list[top].path, path) != 0)
		top = draft->files.list[top].parent;
	for (uint32_t i = top == SBX_NONE ? top : file; i != SBX_NONE;
	     i = draft->files.list[i].parent) {
		const struct draft_file *at = &draft->files.list[i];

		way = sbx_draft_format(draft, "%s%s%s", at->name, *way ? " -> " : "", way);
		if (!way)
			return NULL;
		if (!strcmp(at->path, path))
			return sbx_draft_format(draft, "%s -> %s", way, at->name);
	}
	return NULL;
}

static bool is_read(const struct sbx_draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->files.count; i++)
		if (!strcmp(draft->files.list[i].path, path))
			return true;
	return false;
}

/* The bundled profile whose name is nearest, for "did you mean". */
static const char *near_profile(struct sbx_draft *draft, const char *name)
{
	DIR *dir = draft->profiles ? opendir(draft->profiles) : NULL;
	unsigned int best = UINT32_MAX;
	const char *found = NULL;
	struct dirent *item;

	while (dir && (item = readdir(dir))) {
		size_t len = strlen(item->d_name);
		const char *word;

		if (len < 5 || strcmp(item->d_name + len - 4, ".ini") != 0)
			continue;
		word = sbx_draft_copy(draft, item->d_name, len - 4);
		if (word && sbx_distance(word, name) < best) {
			best = sbx_distance(word, name);
			found = word;
		}
	}
	if (dir)
		(void)closedir(dir);
	return found && sbx_distance_is_near(best, strlen(name)) ? found : NULL;
}

static void missing_profile(struct sbx_draft *draft, const struct draft_entry *entry)
{
	const char *near = near_profile(draft, entry->text);

	if (!draft->profiles)
		sbx_draft_error(draft, entry->file, entry->line,
				"cannot include '%s': the bundled profiles were not found",
				entry->text);
	else if (near)
		sbx_draft_error(draft, entry->file, entry->line,
				"no profile is called '%s' (did you mean '%s'?)", entry->text,
				near);
	else
		sbx_draft_error(
			draft, entry->file, entry->line,
			"no profile is called '%s' (a file is written with a slash: './%s')",
			entry->text, entry->text);
}

static bool is_profile_name(const char *text)
{
	size_t len = strlen(text);

	return !strchr(text, '/') && !strchr(text, '$') &&
	       (len < 4 || strcmp(text + len - 4, ".ini") != 0);
}

/* Whoever includes it, what is included is weaker than every -p file. */
static unsigned int level_below(const struct sbx_draft *draft, uint32_t file)
{
	unsigned int level = draft->files.list[file].level;

	return level < 2 ? 2 : level + 1;
}

static void include_profile(struct sbx_draft *draft, const struct draft_entry *entry)
{
	struct draft_file file = { .role = SBX_FILE_PROFILE,
				   .level = level_below(draft, entry->file),
				   .parent = entry->file };

	file.name = sbx_draft_format(draft, "profiles/%s.ini", entry->text);
	file.path = sbx_draft_format(draft, "%s/%s.ini", draft->profiles ? draft->profiles : "",
				     entry->text);
	if (!file.name || !file.path || is_read(draft, file.path))
		return;
	if (entry->text[0] == '.' || !draft->profiles || access(file.path, F_OK) < 0)
		missing_profile(draft, entry);
	else
		read_file(draft, "/", file, entry);
}

/* An included file, named as seen from where the user stands. */
static const char *name_include(struct sbx_draft *draft, const struct draft_entry *entry)
{
	const char *from = draft->files.list[entry->file].name;
	const char *slash = strrchr(from, '/');
	const char *text = entry->text;

	if (!slash || text[0] == '/' || text[0] == '~' || text[0] == '$')
		return text;
	while (!strncmp(text, "./", 2))
		text += 2;
	return sbx_draft_join(draft, from, (size_t)(slash - from) + 1, text, "");
}

static void include_file(struct sbx_draft *draft, const struct draft_entry *entry)
{
	const struct draft_file *from = &draft->files.list[entry->file];
	const char *text =
		entry->quoted ? entry->text : sbx_draft_expand(draft, entry, entry->text);
	struct draft_file file = { .name = name_include(draft, entry),
				   .role = SBX_FILE_INCLUDE,
				   .level = level_below(draft, entry->file),
				   .parent = entry->file };
	const char *path, *dir, *cycle;

	if (!text)
		return;
	if (!locate(draft, from->dir, text, &path, &dir)) {
		sbx_draft_error(draft, entry->file, entry->line, "cannot include '%s': %s",
				entry->text, strerror(errno));
		return;
	}
	cycle = find_cycle(draft, entry->file, path);
	if (cycle)
		sbx_draft_error(draft, entry->file, entry->line, "files include each other: %s",
				cycle);
	if (cycle || is_read(draft, path))
		return;
	file.path = text;
	read_file(draft, from->dir, file, entry);
}

/* Files that are included add their own entries behind: the loop reaches them too. */
static void read_includes(struct sbx_draft *draft, size_t from)
{
	for (size_t i = from; i < draft->entries.count; i++) {
		/* A copy: reading a file moves the list. */
		struct draft_entry entry = draft->entries.list[i];

		if (entry.key != SBX_KEY_sandbox_include || !strcmp(entry.text, "none"))
			continue;
		if (is_profile_name(entry.text))
			include_profile(draft, &entry);
		else
			include_file(draft, &entry);
	}
}

static bool says_include(const struct sbx_draft *draft, const char *name)
{
	for (size_t i = 0; i < draft->entries.count; i++)
		if (draft->entries.list[i].key == SBX_KEY_sandbox_include &&
		    (!name || !strcmp(draft->entries.list[i].text, name)))
			return true;
	return false;
}

static void include_by_itself(struct sbx_draft *draft, const char *profile)
{
	size_t from = draft->entries.count;

	(void)DRAFT_PUSH(draft, &draft->entries,
			 (struct draft_entry){ .key = SBX_KEY_sandbox_include,
					       .section = SBX_NONE,
					       .said = profile,
					       .text = profile });
	read_includes(draft, from);
}

void sbx_draft_read_all(struct sbx_draft *draft)
{
	const char *profile =
		draft->load->command ? sbx_program_profile(draft->load->command) : NULL;
	bool said;

	read_assigns(draft, false);
	read_assigns(draft, true);
	read_policies(draft);
	if (draft->files.count == 0)
		return;
	said = says_include(draft, NULL);
	read_includes(draft, 0);
	if (!said && profile)
		include_by_itself(draft, profile);
	if (!says_include(draft, "none"))
		include_by_itself(draft, "base");
}
