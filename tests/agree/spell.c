/* SPDX-License-Identifier: MIT */
/*
 * Chooses acts, entries to do them to, and words for these: the same place can be said as a path from
 * the root or from any folder, with detours, through links, and through links of /proc.
 */
#include "agree.h"

struct text {
	char *bytes;
	size_t len;
};

static void say(struct text *text, const char *format, ...) TAP_FORMAT(2, 3);
static void say(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->bytes + text->len, ACTOR_PATH - text->len, format, args);
	va_end(args);
	text->len += (size_t)len;
	if (text->len >= ACTOR_PATH)
		BAIL_OUT("a path has become too long");
}

/* Whether 'path' is an entry of 'folder', which is "" for the root. */
static bool stands_in(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len && (strncmp(path, folder, len) != 0 || path[len++] != '/'))
		return false;
	return !strchr(path + len, '/');
}

static bool is_empty(const struct grown *grown, const struct grown_entry *folder)
{
	for (size_t i = 0; i < grown->count; i++)
		if (stands_in(grown->entries[i].path, folder->path))
			return false;
	return true;
}

/* --- Words for a place --- */

/* What changes nothing, as long as what it goes through is a folder. */
static void say_detour(struct text *text, const struct grown *grown, const char *folder)
{
	const struct grown_entry *entry = grown_some(grown);

	switch (chance(20)) {
	case 0:
		say(text, "./");
		break;
	case 1:
		say(text, "%s", text->len ? "/" : "");
		break;
	case 2:
	case 3:
		if (stands_in(entry->path, folder) && text->len < ACTOR_PATH / 2)
			say(text, "%s/../",
			    strrchr(entry->path, '/') ? strrchr(entry->path, '/') + 1
						      : entry->path);
		break;
	default:
		break;
	}
}

/* The path of an entry from a folder above it: 'skip' bytes of the path are that folder. */
static void say_down(struct text *text, const struct grown *grown, const char *path, size_t skip)
{
	char folder[ACTOR_PATH];

	while (path[skip]) {
		size_t len = strcspn(path + skip, "/");

		snprintf(folder, sizeof(folder), "%.*s", skip ? (int)skip - 1 : 0, path);
		say_detour(text, grown, folder);
		say(text, "%.*s%s", (int)len, path + skip, path[skip + len] ? "/" : "");
		skip += len + (path[skip + len] != '\0');
	}
	if (chance(24) == 0)
		say(text, chance(2) ? "/" : "/.");
}

/* How much of both is the same folder, with its slash. */
static size_t common(const char *base, const char *path)
{
	size_t same = 0;

	for (size_t i = 0; path[i] && (base[i] == path[i] || (!base[i] && path[i] == '/')); i++) {
		if (path[i] == '/')
			same = i + 1;
		if (!base[i])
			break;
	}
	return same;
}

static void say_from(struct text *text, const struct grown *grown, const char *base,
		     const char *path)
{
	size_t same = chance(4) ? common(base, path) : 0;

	for (const char *rest = base + (same > strlen(base) ? strlen(base) : same); *rest;
	     rest += strspn(rest, "/")) {
		rest += strcspn(rest, "/");
		say(text, "../");
	}
	say_down(text, grown, path, same);
	if (!text->len)
		say(text, ".");
}

/* The same place through a link that leads to it or to a folder above it, if there is one. */
static void pass_link(const struct grown *grown, char path[ACTOR_PATH])
{
	const struct grown_entry *entry = grown_some(grown);
	size_t root = strlen(grown->root);
	struct sbx_resolved at;
	char link[ACTOR_PATH];
	size_t len;

	snprintf(link, sizeof(link), "%s/%s", grown->root, entry->path);
	if (entry->kind != 'l' || sbx_resolve_path("/", link, 0, NULL, &at) < 0 ||
	    at.len <= root + 1 || strncmp(at.path, grown->root, root) != 0)
		return;
	len = at.len - root - 1;
	if (strncmp(at.path + root + 1, path, len) != 0 || (path[len] && path[len] != '/'))
		return;
	snprintf(link, sizeof(link), "%s%s", entry->path, path + len);
	snprintf(path, ACTOR_PATH, "%s", link);
}

/* Acts that have no form that takes a descriptor. */
static bool has_at(enum act act)
{
	return act != ACT_TRUNCATE && act != ACT_SOCKET && act != ACT_CHDIR;
}

/* Sets how the act starts: from the root, in a folder, or from a descriptor of one. */
static const char *choose_base(const struct grown *grown, struct actor_case *what)
{
	const struct grown_entry *entry = grown_some(grown);

	what->base[0] = '\0';
	if (entry->kind != '/' || chance(3) == 0)
		return NULL;
	snprintf(what->base, sizeof(what->base), "%s/%s", grown->root, entry->path);
	what->by_descriptor = chance(2);
	return entry->path;
}

/*
 * 'given' is what the program says, 'meant' the same for who is not the program: /proc/self is
 * somebody else there. True when it is relative.
 */
static bool spell_path(const struct grown *grown, const struct actor_case *what, const char *base,
		       const char *path, char given[ACTOR_PATH], char meant[ACTOR_PATH])
{
	static const char *const selves[] = { "self", "thread-self" };
	struct text out = { .bytes = meant };
	unsigned int how = chance(8);

	if (!base || how == 0) {
		say(&out, "%s/", grown->root);
		say_down(&out, grown, path, 0);
		snprintf(given, ACTOR_PATH, "%s%s", how == 1 ? "/proc/self/root" : "", meant);
		return false;
	}
	say_from(&out, grown, base, path);
	if (how > 2 && (!what->by_descriptor || has_at(what->act))) {
		snprintf(given, ACTOR_PATH, "%s", meant);
		return true;
	}
	out = (struct text){ .bytes = given };
	if (what->by_descriptor)
		say(&out, "/proc/%s/fd/%d/%s", selves[chance(2)], ACTOR_FOLDER, meant);
	else
		say(&out, "/proc/%s/cwd/%s", selves[chance(2)], meant);
	return false;
}

/* --- What, and to whom --- */

/* One of these kinds, most of the time; 'e' is a folder with nothing in it. */
static const struct grown_entry *pick(const struct grown *grown, const char *kinds)
{
	const struct grown_entry *entry = grown_some(grown);

	for (int tries = 0; tries < 12; tries++, entry = grown_some(grown))
		if (strchr(kinds, entry->kind) ||
		    (strchr(kinds, 'e') && entry->kind == '/' && is_empty(grown, entry)))
			break;
	return entry;
}

static void pick_new(const struct grown *grown, char path[ACTOR_PATH])
{
	const char *name = chance(3) ? "new" : grown_names[chance(GROWN_NAMES)];

	if (chance(10) == 0)
		snprintf(path, ACTOR_PATH, "%s", name);
	else
		snprintf(path, ACTOR_PATH, "%s/%s", pick(grown, "//l")->path, name);
}

static void pick_old(const struct grown *grown, const char *kinds, char path[ACTOR_PATH])
{
	snprintf(path, ACTOR_PATH, "%s", pick(grown, chance(16) ? kinds : "fhl/")->path);
}

static void pick_places(const struct grown *grown, enum act act, char path[ACTOR_PATH],
			char to[ACTOR_PATH])
{
	if (acts[act].op == SBX_OP_CREATE && (act != ACT_THROUGH || chance(3) == 0))
		pick_new(grown, path);
	else if (act >= ACT_COUNT && chance(6) == 0)
		pick_new(grown, path);
	else if (act == ACT_LIST || act == ACT_CHDIR)
		pick_old(grown, "/", path);
	else if (act == ACT_STAT || act == ACT_LSTAT || act == ACT_ACCESS)
		pick_old(grown, "fhl/", path);
	else if (act == ACT_RMDIR)
		pick_old(grown, "e", path);
	else if (act == ACT_RENAME || act == ACT_EXCHANGE)
		pick_old(grown, "fhl/", path);
	else
		pick_old(grown, "fhl", path);
	if (act != ACT_EXCHANGE && chance(10) < 6)
		pick_new(grown, to);
	else
		pick_old(grown, act == ACT_LINK ? "fl" : "fhle", to);
}

void spell(const struct grown *grown, struct spelled *spelled)
{
	struct actor_case *what = &spelled->what;
	char path[ACTOR_PATH], to[ACTOR_PATH];
	bool relative;
	const char *base;

	*spelled = (struct spelled){ .what.act = (enum act)chance(ACT_ALL) };
	pick_places(grown, what->act, path, to);
	base = choose_base(grown, what);
	if (chance(2))
		pass_link(grown, path);
	relative = spell_path(grown, what, base, path, what->path, spelled->path);
	if (acts[what->act].op == SBX_OP_RENAME) {
		if (chance(2))
			pass_link(grown, to);
		relative |= spell_path(grown, what, base, to, what->to, spelled->to);
	}
	what->how = (enum actor_how)chance(HOW_COUNT);
	if (what->by_descriptor && relative)
		what->how = chance(2) ? HOW_AT : HOW_RAW_AT;
}
