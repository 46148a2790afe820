/* SPDX-License-Identifier: MIT */
/* Random trees and policies; see grown.h. Must draw the same from the same seed on every machine. */
#include "grown.h"

#include "confined.h"

#include <time.h>

#define DEPTH 3

/* Some begin like others: a rule for "work" says nothing of "work-evil". */
const char *const grown_names[GROWN_NAMES] = { "work", "work-evil", "a",    "ab",    "f",
					       "f.x",  ".npmrc",    ".git", "config" };

static uint64_t seed;

void chance_begin(void)
{
	const char *given = getenv("SBX_SEED");

	seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 2654435761u + 1;
	seed = seed ? seed : 1;
	note("SBX_SEED=%llu", (unsigned long long)seed);
}

unsigned int chance(unsigned int below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned int)((seed >> 11) % below);
}

const struct grown_entry *grown_some(const struct grown *grown)
{
	return &grown->entries[chance((unsigned int)grown->count)];
}

const struct grown_entry *grown_find(const struct grown *grown, const char *path)
{
	size_t len = strlen(grown->root);

	if (strncmp(path, grown->root, len) != 0 || path[len] != '/')
		return NULL;
	for (size_t i = 0; i < grown->count; i++)
		if (!strcmp(grown->entries[i].path, path + len + 1))
			return &grown->entries[i];
	return NULL;
}

static struct grown_entry *add(struct grown *grown, const char *folder, const char *name, char kind)
{
	struct grown_entry *entry = &grown->entries[grown->count++];

	*entry = (struct grown_entry){ .kind = kind, .mode = 0755 };
	snprintf(entry->path, sizeof(entry->path), "%s%s%s", folder, *folder ? "/" : "", name);
	return entry;
}

/* Beside it, above it, by its whole name, or nowhere. */
static void aim_link(const struct grown *grown, struct grown_entry *entry)
{
	unsigned int how = chance(8);

	if (how < 3)
		snprintf(entry->target, sizeof(entry->target), "%s",
			 grown_names[chance(GROWN_NAMES)]);
	else if (how < 6)
		snprintf(entry->target, sizeof(entry->target), "../%s",
			 grown_names[chance(GROWN_NAMES)]);
	else if (how == 6)
		snprintf(entry->target, sizeof(entry->target), "%s/%s", grown->root,
			 grown_some(grown)->path);
	else
		snprintf(entry->target, sizeof(entry->target), "%s", chance(2) ? "." : "..");
}

/* A second name needs a first one: without, it is a file of its own. */
static void aim_name(const struct grown *grown, struct grown_entry *entry)
{
	const struct grown_entry *other = grown_some(grown);

	for (int tries = 0; other->kind != 'f' && tries < 4; tries++)
		other = grown_some(grown);
	if (other->kind == 'f' && other != entry)
		snprintf(entry->target, sizeof(entry->target), "%s", other->path);
	else
		entry->kind = 'f';
}

/* Never a folder that can be changed but not listed: nobody could tell whether it was. */
static void close_some(const struct grown *grown, struct grown_entry *entry)
{
	static const mode_t folders[] = { 0555, 0444, 0 }, files[] = { 0644, 0444, 0311, 0 };

	if (!grown->closed || chance(10) != 0)
		return;
	if (entry->kind == '/')
		entry->mode = folders[chance(3)];
	else if (entry->kind == 'f')
		entry->mode = files[chance(4)];
}

static void grow(struct grown *grown, const char *folder, int depth)
{
	static const char kinds[] = "   fffhll///";

	for (size_t i = 0; i < GROWN_NAMES; i++) {
		char kind = kinds[chance(depth == DEPTH ? 9 : 12)];
		struct grown_entry *entry;

		if (kind == ' ' || grown->count == GROWN_MAX)
			continue;
		entry = add(grown, folder, grown_names[i], kind);
		if (kind == 'l')
			aim_link(grown, entry);
		else if (kind == 'h')
			aim_name(grown, entry);
		close_some(grown, entry);
		if (kind == '/' && depth < DEPTH)
			grow(grown, entry->path, depth + 1);
	}
}

void grown_grow(struct grown *grown)
{
	grown->count = 0;
	add(grown, "", "work", '/');
	add(grown, "", "work-evil", '/');
	grow(grown, "work", 1 + (int)chance(2));
	grow(grown, "work-evil", 2);
}

static const char *place(const struct grown *grown, const char *path, char end)
{
	static char places[2][PATH_MAX];
	static unsigned int turn;
	char *out = places[turn++ % 2];

	snprintf(out, PATH_MAX, "%s/%s%s", grown->root, path, end == '/' ? "/" : "");
	return out;
}

void grown_put(const struct grown *grown, const struct grown_entry *entry)
{
	const char *path = place(grown, entry->path, entry->kind);

	if (entry->kind == 'l')
		put_link(path, entry->target, grown->uid);
	else if (entry->kind != 'h')
		put(path, grown->uid);
	else if (link(place(grown, entry->target, 0), path) < 0)
		BAIL_OUT("cannot link %s", path);
}

void grown_plant(const struct grown *grown)
{
	char top[sizeof(grown->root) + 1];

	wipe(grown->root);
	snprintf(top, sizeof(top), "%s/", grown->root);
	put(top, grown->uid);
	for (size_t i = 0; i < grown->count; i++)
		grown_put(grown, &grown->entries[i]);
}

void grown_close(const struct grown *grown)
{
	/* Folders after what is in them. */
	for (size_t i = grown->count; i > 0; i--) {
		const struct grown_entry *entry = &grown->entries[i - 1];

		if (entry->mode != 0755 && chmod(place(grown, entry->path, 0), entry->mode) < 0)
			BAIL_OUT("cannot close %s", entry->path);
	}
}

/* What a rule is about: rather a folder than not, and rather something that is there. */
static const char *rule_place(const struct grown *grown)
{
	bool folder = chance(2);
	const struct grown_entry *entry = grown_some(grown);

	for (int tries = 0; tries < 8; tries++, entry = grown_some(grown))
		if (folder ? entry->kind == '/' : access(place(grown, entry->path, 0), F_OK) == 0)
			break;
	return entry->path;
}

/* What may be written may now and then be executed too, so that writable places differ in rights. */
static size_t say_rule(const struct grown *grown, char *out, size_t size)
{
	static const char *const keys[] = { "read",  "read", "write", "write",
					    "write", "exec", "exec",  "deny" };
	const char *key = keys[chance(8)], *path = chance(8) ? rule_place(grown) : "";
	int len = snprintf(out, size, "%s = %s/%s\n", key, grown->root, path);

	if (*key == 'w' && chance(3) == 0)
		len += snprintf(out + len, size - (size_t)len, "exec = %s/%s\n", grown->root, path);
	return (size_t)len;
}

void grown_policy(const struct grown *grown, char *out, size_t size)
{
	static const char *const modes[] = { "ro", "rw", "rx", "rwx", "rwx", "none" };
	size_t used = (size_t)snprintf(out, size, "[paths]\n");
	unsigned int sections = chance(3) ? 0 : 1 + chance(2);

	for (unsigned int i = 2 + chance(4); i > 0; i--)
		used += say_rule(grown, out + used, size - used);
	for (unsigned int i = 0; i < sections; i++)
		used += (size_t)snprintf(out + used, size - used,
					 "[path p%u]\nroot = %s/%s\nmode = %s\n", i, grown->root,
					 rule_place(grown), modes[chance(6)]);
}

/* Something that Landlock cannot say. */
static size_t say_more(const struct grown *grown, char *out, size_t size)
{
	static const char *const keys[] = { "deny", "deny", "deny", "read", "write", "write" };
	static const char *const globs[] = {
		"**/f", "*.x", "work/*", "**/*.x", "work/**/a", "**/ab"
	};
	const char *root = grown->root, *key = keys[chance(6)];

	switch (chance(11)) {
	case 0:
	case 1:
	case 2:
		return (size_t)snprintf(out, size, "%s = %s/%s\n", key, root, globs[chance(6)]);
	case 3:
	case 4:
		return (size_t)snprintf(out, size, "deny = %s/%s\n", root, rule_place(grown));
	case 5:
	case 6:
		return (size_t)snprintf(out, size, "%s = %s/%s/new\n", chance(2) ? "deny" : "write",
					root, rule_place(grown));
	default:
		return say_rule(grown, out, size);
	}
}

static size_t say_section(const struct grown *grown, unsigned int n, char *out, size_t size)
{
	static const char *const modes[] = { "ro", "rw", "rw", "rw", "rwx", "none" };
	static const char *const more[] = { "", "", "suffixes = .x\n", "max_file_bytes = 3\n",
					    "max_file_bytes = 100\n" };

	return (size_t)snprintf(out, size, "[path p%u]\nroot = %s/%s\nmode = %s\n%s", n,
				grown->root, rule_place(grown), modes[chance(6)], more[chance(5)]);
}

/* Something that is not there for the program. */
static size_t say_hidden(const struct grown *grown, char *out, size_t size)
{
	static const char *const globs[] = { "**/f",  "work/*.x",      "**/*.x", "work/**/a",
					     "**/ab", "work*/**/.git", "*/a*" };

	switch (chance(5)) {
	case 0:
	case 1:
		return (size_t)snprintf(out, size, "hide = %s/%s\n", grown->root, globs[chance(7)]);
	case 2:
		return (size_t)snprintf(out, size, "hide = %s/%s/new\n", grown->root,
					rule_place(grown));
	default:
		return (size_t)snprintf(out, size, "hide = %s/%s\n", grown->root,
					rule_place(grown));
	}
}

void grown_policy_any(const struct grown *grown, char *out, size_t size)
{
	size_t used =
		(size_t)snprintf(out, size, "protect = %s\n[paths]\n", chance(2) ? "yes" : "no");
	unsigned int sections = chance(2) ? 0 : 1 + chance(2);

	if (chance(2))
		used += (size_t)snprintf(out + used, size - used, "write = %s/work\n", grown->root);
	for (unsigned int i = 1 + chance(4); i > 0; i--)
		used += say_more(grown, out + used, size - used);
	for (unsigned int i = chance(3) ? 0 : 1 + chance(2); i > 0; i--)
		used += say_hidden(grown, out + used, size - used);
	for (unsigned int i = 0; i < sections; i++)
		used += say_section(grown, i, out + used, size - used);
}

bool grown_named(const struct sbx_image *image, const char *path)
{
	size_t len = strlen(path);

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const char *named = sbx_str(image, sbx_rules(image)[i].path);

		if (!strncmp(named, path, len) && (!named[len] || named[len] == '/'))
			return true;
	}
	return false;
}

/* The name that all names of a file go by. */
static const char *first_name(const struct grown_entry *entry)
{
	return entry->kind == 'h' ? entry->target : entry->path;
}

bool grown_granted(const struct sbx_image *image, const char *path)
{
	size_t len = strlen(path);

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		const char *named = sbx_str(image, rule->path);

		if (rule->kind <= SBX_RULE_SET && rule->rights && !strncmp(named, path, len) &&
		    (!named[len] || named[len] == '/'))
			return true;
	}
	return false;
}

static bool named_elsewhere(const struct grown *grown, const struct sbx_image *image,
			    const char *path)
{
	const struct grown_entry *entry = path ? grown_find(grown, path) : NULL;

	if (!entry || (entry->kind != 'f' && entry->kind != 'h'))
		return false;
	for (size_t i = 0; i < grown->count; i++) {
		const struct grown_entry *other = &grown->entries[i];

		if ((other->kind == 'f' || other->kind == 'h') &&
		    !strcmp(first_name(other), first_name(entry)) &&
		    grown_granted(image, place(grown, other->path, 0)))
			return true;
	}
	return false;
}

bool grown_bound(const struct grown *grown, const struct sbx_image *image, const char *path,
		 const char *to)
{
	if (to && (grown_granted(image, path) || grown_granted(image, to)))
		return true;
	return named_elsewhere(grown, image, path) || named_elsewhere(grown, image, to);
}
