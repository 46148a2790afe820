/* SPDX-License-Identifier: MIT */
/*
 * Compile side: what a path in a policy file means. Variables and "~" are filled in, it is made
 * absolute, what exists of it is resolved through links, and the rest is kept, as a pattern or as
 * the name of something that is not there yet.
 */
#include "draft.h"
#include "programs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The command itself decides which program its name means; any other is looked for in PATH. */
static const char *search_path(struct sbx_draft *draft, const char *name)
{
	const char *command = draft->load->command;
	const char *slash = command ? strrchr(command, '/') : NULL;

	if (!slash || strcmp(slash + 1, name) != 0)
		return NULL;
	if (command[0] == '/')
		return slash == command ? "/"
					: sbx_draft_copy(draft, command, (size_t)(slash - command));
	return sbx_draft_format(draft, "%s/%.*s", draft->cwd, (int)(slash - command), command);
}

/* Finding a program takes many look-ups, and profiles name theirs often. */
static const struct draft_program *find_program(struct sbx_draft *draft, const char *name)
{
	struct draft_program program = { .name = name, .file = "", .prefix = "", .manager = "" };
	struct sbx_program found;

	for (size_t i = 0; i < draft->programs.count; i++)
		if (!strcmp(draft->programs.list[i].name, name))
			return &draft->programs.list[i];
	if (sbx_program_find(name, search_path(draft, name), draft->workdir, &found) == 0) {
		program.file = sbx_draft_copy(draft, found.file, strlen(found.file));
		program.prefix = sbx_draft_copy(draft, found.prefix, strlen(found.prefix));
		program.manager = sbx_draft_copy(draft, found.manager, strlen(found.manager));
	}
	if (!program.file || !program.prefix || !program.manager ||
	    !DRAFT_PUSH(draft, &draft->programs, program))
		return NULL;
	return &draft->programs.list[draft->programs.count - 1];
}

/* ${program:node}, ${prefix:node}, ${manager:node}; NULL when there is none. */
static const char *program_variable(struct sbx_draft *draft, const char *name)
{
	const char *colon = strchr(name, ':');
	size_t len = (size_t)(colon - name);
	const struct draft_program *program = find_program(draft, colon + 1);
	const char *value = "";

	if (program && len == 7 && !memcmp(name, "program", len))
		value = program->file;
	else if (program && len == 6 && !memcmp(name, "prefix", len))
		value = program->prefix;
	else if (program && len == 7 && !memcmp(name, "manager", len))
		value = program->manager;
	return *value ? value : NULL;
}

/* The terminal that this runs on; NULL without one. */
static const char *terminal(char out[PATH_MAX])
{
	for (int fd = 0; fd <= 2; fd++)
		if (ttyname_r(fd, out, PATH_MAX) == 0)
			return out;
	return NULL;
}

static const char *variable(struct sbx_draft *draft, const struct draft_entry *entry,
			    const char *name)
{
	char own[PATH_MAX];
	const char *value;

	if (!strcmp(name, "workdir"))
		return draft->workdir;
	if (!strcmp(name, "policy_dir"))
		return draft->files.list[entry->file].dir;
	if (!strcmp(name, "tmp"))
		return draft->tmp;
	if (!strcmp(name, "uid"))
		return sbx_draft_format(draft, "%lu", (unsigned long)getuid());
	if (!strncmp(name, "sbx_", 4) || !strcmp(name, "tty")) {
		value = name[0] == 't' ? terminal(own) : sbx_own_dir(name + 4, own);
		return value ? sbx_draft_copy(draft, value, strlen(value)) : NULL;
	}
	if (strchr(name, ':'))
		return program_variable(draft, name);
	return getenv(name);
}

/* The value of "${name}" at 'text'; moves *end behind it. NULL: reported unless optional. */
static const char *expand_one(struct sbx_draft *draft, const struct draft_entry *entry,
			      const char *text, const char **end)
{
	const char *close = text[1] == '{' ? strchr(text, '}') : NULL;
	const char *name =
		close ? sbx_draft_copy(draft, text + 2, (size_t)(close - text - 2)) : NULL;
	const char *value;

	if (text[1] != '{') {
		sbx_draft_error(draft, entry->file, entry->line,
				"'%s': a variable is written '${NAME}' (quote the path if the '$' "
				"belongs to it)",
				text);
		return NULL;
	}
	if (!close) {
		sbx_draft_error(draft, entry->file, entry->line, "'%s' has a '${' without '}'",
				text);
		return NULL;
	}
	*end = close + 1;
	value = name ? variable(draft, entry, name) : NULL;
	if (value && *value && !strpbrk(value, "*?\n"))
		return value;
	if (value && *value)
		sbx_draft_error(draft, entry->file, entry->line,
				"the value of '${%s}' cannot be part of a path", name);
	else if (!entry->optional && name && strchr(name, ':'))
		sbx_draft_error(draft, entry->file, entry->line,
				"'%s' was not found in PATH, and the line needs it",
				strchr(name, ':') + 1);
	else if (!entry->optional && name)
		sbx_draft_error(
			draft, entry->file, entry->line,
			"'${%s}' is not set (add ' ?' behind the path if it may be missing)", name);
	return NULL;
}

const char *sbx_draft_expand(struct sbx_draft *draft, const struct draft_entry *entry,
			     const char *text)
{
	const char *done = "";
	const char *next;

	if (text[0] != '~' && !strchr(text, '$'))
		return text;
	if (text[0] == '~') {
		if (text[1] && text[1] != '/') {
			sbx_draft_error(
				draft, entry->file, entry->line,
				"'%s': only '~/' is known (write the other user's path out)", text);
			return NULL;
		}
		if (!draft->home) {
			if (!entry->optional)
				sbx_draft_error(draft, entry->file, entry->line,
						"'%s': HOME is not set", text);
			return NULL;
		}
		if (strpbrk(draft->home, "*?\n")) {
			sbx_draft_error(draft, entry->file, entry->line,
					"the value of HOME cannot be part of a path");
			return NULL;
		}
		done = draft->home;
		text++;
	}
	while (done && (next = strchr(text, '$'))) {
		const char *end;
		const char *value = expand_one(draft, entry, next, &end);

		if (!value)
			return NULL;
		done = sbx_draft_format(draft, "%s%.*s%s", done, (int)(next - text), text, value);
		text = end;
	}
	return done ? sbx_draft_format(draft, "%s%s", done, text) : NULL;
}

/* How many bytes at the start of an absolute path hold no pattern; ends before a slash. */
static size_t literal_length(const char *path)
{
	size_t wild = strcspn(path, "*?");

	if (!path[wild])
		return wild;
	while (wild > 0 && path[wild] != '/')
		wild--;
	return wild;
}

/* What is wrong with one component of a pattern, or NULL. */
static const char *component_fault(const char *name, size_t len)
{
	const char *stars = memmem(name, len, "**", 2);

	if (memchr(name, '[', len) || memchr(name, '{', len))
		return "only '*', '**' and '?' are patterns (write a line for each name)";
	if (stars && len != 2)
		return "'**' must stand alone between slashes";
	if ((len == 1 && name[0] == '.') || (len == 2 && !memcmp(name, "..", 2)))
		return "'.' and '..' cannot follow a pattern";
	if (len > NAME_MAX * 2)
		return "a component is too long";
	return NULL;
}

/*
 * Copies the pattern part with single slashes. "**" twice is "**", and one at the end says nothing
 * that its folder does not: rules reach down by themselves.
 */
static const char *tidy_pattern(struct sbx_draft *draft, const char *pattern, const char **fault)
{
	char tidy[PATH_MAX];
	size_t used = 0, last = 0;
	bool star = false;

	while (*pattern) {
		size_t len;

		pattern += strspn(pattern, "/");
		len = strcspn(pattern, "/");
		if (len == 0)
			break;
		*fault = component_fault(pattern, len);
		if (used + len + 2 > sizeof(tidy))
			*fault = "the path is too long";
		if (*fault)
			return NULL;
		if (!(star && len == 2 && !memcmp(pattern, "**", 2))) {
			last = used;
			tidy[used++] = '/';
			memcpy(tidy + used, pattern, len);
			used += len;
		}
		star = len == 2 && !memcmp(pattern, "**", 2);
		pattern += len;
	}
	return sbx_draft_copy(draft, tidy, star ? last : used);
}

/* The name in the folder of 'path' that is nearest to its last component, or NULL. */
static const char *near_name(struct sbx_draft *draft, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *folder = sbx_draft_copy(draft, path, (size_t)(slash - path) + 1);
	DIR *dir = folder ? opendir(folder) : NULL;
	unsigned int best = UINT32_MAX;
	const char *found = NULL;
	struct dirent *item;

	while (dir && (item = readdir(dir))) {
		unsigned int distance = sbx_distance(item->d_name, slash + 1);

		if (distance < best && item->d_name[0] != '\0') {
			best = distance;
			found = sbx_draft_copy(draft, item->d_name, strlen(item->d_name));
		}
	}
	if (dir)
		(void)closedir(dir);
	return found && sbx_distance_is_near(best, strlen(slash + 1)) ? found : NULL;
}

static void report_missing(struct sbx_draft *draft, const struct draft_entry *entry,
			   const char *text, const struct sbx_resolved *at)
{
	const char *rest = at->path + at->existing;
	bool last = strrchr(at->path, '/') == rest;
	bool is_said = draft->errors->count < SBX_MAX_ERRORS;
	const char *near = last && is_said ? near_name(draft, at->path) : NULL;
	bool may_be_missing = entry->key != SBX_KEY_sandbox_workdir;

	if (near)
		sbx_draft_error(draft, entry->file, entry->line,
				"'%s' does not exist (did you mean '%s'?%s)", text, near,
				may_be_missing ? " add ' ?' if it may be missing" : "");
	else if (!may_be_missing)
		sbx_draft_error(draft, entry->file, entry->line,
				"workdir '%s' does not exist (make it first, or name another)",
				text);
	else
		sbx_draft_error(draft, entry->file, entry->line,
				"'%s' does not exist (add ' ?' behind it if it may be missing)",
				text);
}

/* Quotes make a name of what looks like a pattern; say so when that cannot have been meant. */
static bool quoted_by_mistake(struct sbx_draft *draft, const struct draft_entry *entry,
			      const char *text, const struct sbx_resolved *at)
{
	if (!entry->quoted || at->existing == at->len ||
	    (!strpbrk(text, "*?") && !strstr(text, "${") && text[0] != '~'))
		return false;
	sbx_draft_error(
		draft, entry->file, entry->line,
		"'%s' is in quotes, so it is a name and not a pattern, and nothing is called so "
		"(leave the quotes away)",
		text);
	return true;
}

/*
 * What would silently match nothing is refused: patterns of other tools, a comma that was forgotten,
 * the wrong kind of quotes.
 */
static bool foreign_pattern(struct sbx_draft *draft, const struct draft_entry *entry,
			    const char *text, const struct sbx_resolved *at)
{
	if (entry->quoted || at->existing == at->len)
		return false;
	if (strpbrk(at->path + at->existing, "[{"))
		sbx_draft_error(
			draft, entry->file, entry->line,
			"'%s' does not exist, and only '*', '**' and '?' are patterns (quote it "
			"if it is a name)",
			text);
	else if (strpbrk(at->path + at->existing, " \t'"))
		sbx_draft_error(
			draft, entry->file, entry->line,
			"'%s' does not exist (is a comma missing? quote it with \" if it is one "
			"name)",
			text);
	else
		return false;
	return true;
}

/* /proc/self is somebody else for everyone who says it: a rule would be about us. */
static bool is_about_ourselves(struct sbx_draft *draft, const struct draft_entry *entry,
			       const char *text, const struct sbx_resolved *at)
{
	char own[40];
	size_t len;

	if (strncmp(at->path, "/proc/", strlen("/proc/")) != 0)
		return false;
	len = (size_t)snprintf(own, sizeof(own), "/proc/%ld", (long)getpid());
	if (strncmp(at->path, own, len) != 0 || (at->path[len] && at->path[len] != '/'))
		return false;
	sbx_draft_error(draft, entry->file, entry->line,
			"'%s' means another place for every process (say '/proc')", text);
	return true;
}

/* A profile takes a variable's word for where certificates are, not for opening the machine. */
static bool is_variable_of_profile(const struct sbx_draft *draft, const struct draft_entry *entry)
{
	return draft->files.list[entry->file].role == SBX_FILE_PROFILE &&
	       strstr(entry->text, "${") && !strchr(entry->text, ':');
}

static bool is_too_wide_for_profile(const struct sbx_draft *draft, const struct draft_entry *entry,
				    const struct sbx_resolved *at)
{
	size_t len = at->len;

	if (!is_variable_of_profile(draft, entry) || !S_ISDIR(at->mode))
		return false;
	return strchr(at->path + 1, '/') == NULL ||
	       (draft->home && !strncmp(draft->home, at->path, len) &&
		(draft->home[len] == '/' || !draft->home[len]));
}

/* Where it matters whether it is a folder. */
static bool is_mode_wanted(const struct sbx_draft *draft, const struct draft_entry *entry)
{
	return entry->key == SBX_KEY_sandbox_workspace || entry->key == SBX_KEY_sandbox_workdir ||
	       is_variable_of_profile(draft, entry);
}

static enum draft_path_result resolve_literal(struct sbx_draft *draft,
					      const struct draft_entry *entry, const char *text,
					      const char *literal, enum draft_path_need need,
					      struct sbx_resolved *at)
{
	const char *base = draft->files.list[entry->file].dir;
	/* What we may not look at is refused by its name: it may come into sight later. */
	int error =
		sbx_resolve_path(base, literal,
				 SBX_RESOLVE_MISSING |
					 (is_mode_wanted(draft, entry) ? 0 : SBX_RESOLVE_PLACE) |
					 (need == DRAFT_PATH_ANY ? SBX_RESOLVE_UNSEEN : 0),
				 draft->cache, at);

	if (error < 0 && entry->optional)
		return DRAFT_PATH_SKIP;
	if (error < 0) {
		sbx_draft_error(draft, entry->file, entry->line, "'%s': %s", text,
				strerror(-error));
		return DRAFT_PATH_BAD;
	}
	if (is_too_wide_for_profile(draft, entry, at))
		return DRAFT_PATH_SKIP;
	if (quoted_by_mistake(draft, entry, text, at) || foreign_pattern(draft, entry, text, at) ||
	    is_about_ourselves(draft, entry, text, at))
		return DRAFT_PATH_BAD;
	if (at->existing == at->len || need != DRAFT_PATH_EXISTING || draft->load->lenient)
		return DRAFT_PATH_OK;
	if (entry->optional)
		return DRAFT_PATH_SKIP;
	report_missing(draft, entry, text, at);
	return DRAFT_PATH_BAD;
}

/* Where the name itself stands, when it is a link: refusing its target must refuse it too. */
static const char *own_place(struct sbx_draft *draft, const struct draft_entry *entry,
			     const char *literal, const struct sbx_resolved *at)
{
	struct sbx_resolved name;

	if (!at->through_link ||
	    sbx_resolve_path(draft->files.list[entry->file].dir, literal,
			     SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, draft->cache, &name) < 0 ||
	    !strcmp(name.path, at->path))
		return NULL;
	return sbx_draft_copy(draft, name.path, strlen(name.path));
}

struct links {
	void (*tell)(void *arg, const char *place);
	void *arg;
};

static void meet(void *arg, const char *place)
{
	const struct links *links = arg;
	char byte;

	if (readlink(place, &byte, 1) >= 0)
		links->tell(links->arg, place);
}

void sbx_draft_links(const char *dir, const char *path, void (*tell)(void *arg, const char *place),
		     void *arg)
{
	struct links links = { tell, arg };
	struct sbx_viewer viewer = {
		.process = getpid(), .thread = getpid(), .meet = meet, .arg = &links
	};
	struct sbx_resolved at;

	(void)sbx_resolve_as(&viewer, dir, path, SBX_RESOLVE_MISSING | SBX_RESOLVE_UNSEEN, &at);
}

struct on_the_way {
	struct sbx_draft *draft;
	const struct draft_entry *entry;
	const char *end;
};

static void keep_link(void *arg, const char *place)
{
	const struct on_the_way *way = arg;
	struct draft_link link = {
		.file = way->entry->file,
		.line = way->entry->line,
		.key = way->entry->key,
		.text = way->entry->text,
		.place = sbx_draft_copy(way->draft, place, strlen(place)),
		.end = way->end,
	};

	if (link.place)
		(void)DRAFT_PUSH(way->draft, &way->draft->links, link);
}

enum draft_path_result sbx_draft_path(struct sbx_draft *draft, const struct draft_entry *entry,
				      const char *text, enum draft_path_need need,
				      struct draft_path *out)
{
	const char *full = entry->quoted ? text : sbx_draft_expand(draft, entry, text);
	size_t wild = full && !entry->quoted ? literal_length(full) : full ? strlen(full) : 0;
	const char *literal, *pattern, *fault = NULL;
	enum draft_path_result result;
	struct sbx_resolved at;

	if (!full)
		return entry->optional ? DRAFT_PATH_SKIP : DRAFT_PATH_BAD;
	if (wild == 0 && *full)
		literal = full[0] == '/' ? "/" : ".";
	else
		literal = full[wild] ? sbx_draft_copy(draft, full, wild) : full;
	pattern = full[wild] ? tidy_pattern(draft, full + wild, &fault) : "";
	if (fault)
		sbx_draft_error(draft, entry->file, entry->line, "bad pattern '%s': %s", text,
				fault);
	if (!literal || !pattern)
		return DRAFT_PATH_BAD;
	result = resolve_literal(draft, entry, text, literal, need, &at);
	if (result != DRAFT_PATH_OK)
		return result;
	*out = (struct draft_path){
		.literal = at.len,
		.existing = at.existing,
		.is_glob = *pattern,
		.is_missing = at.existing < at.len,
		.through_link = at.through_link,
		.mode = at.mode,
		.link = *pattern ? NULL : own_place(draft, entry, literal, &at),
	};
	if (!strcmp(at.path, "/") && *pattern)
		out->literal = 0;
	out->path = sbx_draft_join(draft, at.path, out->literal, pattern, "");
	if (out->path && at.through_link && need != DRAFT_PATH_ANY &&
	    entry->key != SBX_KEY_sandbox_workdir)
		sbx_draft_links(draft->files.list[entry->file].dir, literal, keep_link,
				&(struct on_the_way){ draft, entry, out->path });
	return out->path ? DRAFT_PATH_OK : DRAFT_PATH_BAD;
}
