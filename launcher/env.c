/* SPDX-License-Identifier: MIT */
/*
 * The program's environment, built anew as [env] and the table env.def say.
 *
 * Every source of a variable is a candidate: what passes of the caller's environment, what [env]
 * sets or passes as a secret, what the launcher adds. Of each name the strongest candidate stands:
 * the launcher's own, then the policy's by level (command line, -p files, includes), then the
 * caller's, then what stands in for a variable that is missing. Two answers of one level are an
 * error: nothing is guessed.
 *
 * Must never ask the process's own environment, pass a credential that no 'secret' names, or put a
 * value into a message: any of them may be a secret.
 */
#include "env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_PREFIX "SANDBOX_SBX"
#define FILE_SUFFIX "_FILE"

enum env_class {
	ENV_CLASS_OTHER,
	ENV_CLASS_SAFE,
	ENV_CLASS_SECRET,
	ENV_CLASS_INJECT
};

static const struct env_row {
	enum env_class class;
	const char *pattern;
	const char *what;
} rows[] = {
#define ENV_SAFE(pattern) { ENV_CLASS_SAFE, pattern, NULL },
#define ENV_SECRET(pattern, what) { ENV_CLASS_SECRET, pattern, what },
#define ENV_INJECT(pattern, what) { ENV_CLASS_INJECT, pattern, what },
#include "env.def"
};

/* A name that need not end in a NUL. */
struct name {
	const char *text;
	size_t len;
};

enum origin {
	FROM_FALLBACK,
	FROM_CALLER,
	FROM_SET,
	FROM_SECRET,
	FROM_SECRET_FILE,
	FROM_LAUNCHER
};

struct candidate {
	struct name name;
	const char *value; /* NULL: a secret that the caller does not have */
	const struct sbx_item *item; /* what the policy says; NULL for caller and launcher */
	int64_t level; /* the lowest stands */
	size_t order;
	enum origin origin;
	bool stands;
};

struct building {
	const struct sbx_image *image;
	char *const *from;
	const char *secret_dir;
	struct launch_error *error;
	struct candidate *list;
	size_t count;
	char *names; /* room for the names that end in _FILE */
};

static char folded(char c, bool fold)
{
	return fold && c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* '*' is any run of bytes. Only the last one is ever retried. */
static bool matches(const char *pattern, struct name name, bool fold)
{
	const char *star = NULL;
	size_t n = 0, retry = 0;

	while (n < name.len) {
		if (*pattern == '*') {
			star = pattern++;
			retry = n;
		} else if (*pattern && *pattern == folded(name.text[n], fold)) {
			pattern++;
			n++;
		} else if (star) {
			pattern = star + 1;
			n = ++retry;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static bool same_name(struct name name, const char *text)
{
	return !strncmp(name.text, text, name.len) && !text[name.len];
}

static bool is_own(struct name name)
{
	return name.len >= strlen(OWN_PREFIX) && !memcmp(name.text, OWN_PREFIX, strlen(OWN_PREFIX));
}

static const struct env_row *row_of(struct name name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (matches(rows[i].pattern, name, rows[i].class == ENV_CLASS_SECRET))
			return &rows[i];
	return NULL;
}

static const struct sbx_item *items_of(const struct sbx_image *image, enum sbx_key key,
				       uint32_t *count)
{
	const struct sbx_range *range = &sbx_setting(image, key)->items;

	*count = range->count;
	return sbx_items(image) + range->first;
}

static bool is_listed(const struct sbx_image *image, enum sbx_key key, struct name name)
{
	uint32_t count;
	const struct sbx_item *items = items_of(image, key, &count);

	for (uint32_t i = 0; i < count; i++)
		if (same_name(name, sbx_str(image, items[i].text)))
			return true;
	return false;
}

/* What 'pass' says about a name. */
struct passing {
	bool exactly;
	bool by_pattern;
	bool none; /* the safe set is empty */
};

static struct passing passing_of(const struct sbx_image *image, struct name name)
{
	struct passing passing = { 0 };
	uint32_t count;
	const struct sbx_item *items = items_of(image, SBX_KEY_env_pass, &count);

	for (uint32_t i = 0; i < count; i++) {
		const char *text = sbx_str(image, items[i].text);

		if (!strcmp(text, "none"))
			passing.none = true;
		else if (strchr(text, '*'))
			passing.by_pattern |= matches(text, name, false);
		else
			passing.exactly |= same_name(name, text);
	}
	return passing;
}

/* Whether the caller's variable passes without being a secret of the policy; NULL, or why not. */
static const char *why_dropped(const struct sbx_image *image, struct name name)
{
	struct passing passing = passing_of(image, name);
	const struct env_row *row = row_of(name);
	enum env_class class = row ? row->class : ENV_CLASS_OTHER;

	if (!name.len)
		return "it has no name";
	if (is_own(name))
		return "it is one of sbx's own";
	if (is_listed(image, SBX_KEY_env_secret_file, name))
		return "it is passed in a file";
	if (class == ENV_CLASS_SECRET)
		return row->what;
	if (class == ENV_CLASS_INJECT)
		return passing.exactly ? NULL : row->what;
	if (passing.exactly || passing.by_pattern || (class == ENV_CLASS_SAFE && !passing.none))
		return NULL;
	return class == ENV_CLASS_SAFE ? "'pass = none' empties the safe set"
				       : "it is not in the safe set";
}

/* The same, without a reason: most variables are in neither list, and soon done with. */
static bool is_kept(const struct sbx_image *image, struct name name)
{
	struct passing passing = passing_of(image, name);
	bool candidate = passing.exactly || passing.by_pattern;

	for (size_t i = 0; !candidate && i < sizeof(rows) / sizeof(rows[0]); i++)
		candidate =
			rows[i].class == ENV_CLASS_SAFE && matches(rows[i].pattern, name, false);
	return candidate && !why_dropped(image, name);
}

bool launch_env_passes(const struct sbx_image *image, const char *name, const char **why)
{
	struct name whole = { name, strlen(name) };

	*why = NULL;
	if (is_own(whole) || !is_listed(image, SBX_KEY_env_secret, whole))
		*why = why_dropped(image, whole);
	return !*why;
}

/* Splits NAME=VALUE; false when there is no '='. */
static bool split(const char *entry, struct name *name, const char **value)
{
	size_t len = strcspn(entry, "=");

	*name = (struct name){ entry, len };
	*value = entry + len + 1;
	return entry[len] == '=';
}

static const char *value_in(char *const *from, const char *wanted)
{
	struct name name;
	const char *value;

	for (; from && *from; from++)
		if (split(*from, &name, &value) && same_name(name, wanted))
			return value;
	return NULL;
}

static void add(struct building *b, struct candidate candidate)
{
	candidate.order = b->count;
	b->list[b->count++] = candidate;
}

static void add_strings(struct building *b, char *const *strings, enum origin origin)
{
	struct candidate candidate = { .origin = origin,
				       .level = origin == FROM_LAUNCHER ? -1 : INT64_MAX };

	for (; strings && *strings; strings++) {
		if (!split(*strings, &candidate.name, &candidate.value))
			continue;
		if (origin != FROM_CALLER || is_kept(b->image, candidate.name))
			add(b, candidate);
	}
}

/* The candidate that an item of 'set', 'secret' or 'secret_file' makes. */
static void add_item(struct building *b, const struct sbx_item *item, enum origin origin)
{
	const char *text = sbx_str(b->image, item->text);
	struct candidate candidate = { .name = { text, strlen(text) },
				       .item = item,
				       .level = sbx_files(b->image)[item->file].level,
				       .origin = origin };

	if (origin == FROM_SET) {
		split(text, &candidate.name, &candidate.value);
	} else {
		candidate.value = value_in(b->from, text);
	}
	if (origin == FROM_SECRET_FILE) {
		memcpy(b->names, text, candidate.name.len);
		memcpy(b->names + candidate.name.len, FILE_SUFFIX, strlen(FILE_SUFFIX));
		candidate.name.text = b->names;
		candidate.name.len += strlen(FILE_SUFFIX);
		b->names += candidate.name.len;
	}
	add(b, candidate);
}

static const struct {
	enum sbx_key key;
	enum origin origin;
} policy_keys[] = {
	{ SBX_KEY_env_set, FROM_SET },
	{ SBX_KEY_env_secret, FROM_SECRET },
	{ SBX_KEY_env_secret_file, FROM_SECRET_FILE },
};
#define POLICY_KEYS (sizeof(policy_keys) / sizeof(policy_keys[0]))

static size_t count_strings(char *const *strings)
{
	size_t count = 0;

	while (strings && strings[count])
		count++;
	return count;
}

/* Lists every candidate, in memory of its own: free(b->list). */
static int gather(struct building *b, char *const *extra, char *const *fallback)
{
	size_t room = count_strings(b->from) + count_strings(extra) + count_strings(fallback) + 1;
	size_t bytes = 0;
	uint32_t count;

	for (size_t k = 0; k < POLICY_KEYS; k++) {
		const struct sbx_item *items = items_of(b->image, policy_keys[k].key, &count);

		room += count;
		for (uint32_t i = 0; i < count; i++)
			bytes += strlen(sbx_str(b->image, items[i].text)) + strlen(FILE_SUFFIX);
	}
	b->list = malloc(room * sizeof(*b->list) + bytes);
	if (!b->list)
		return launch_fail(b->error, ENOMEM, "cannot build the environment: out of memory");
	b->names = (char *)(b->list + room);
	add_strings(b, b->from, FROM_CALLER);
	for (size_t k = 0; k < POLICY_KEYS; k++) {
		const struct sbx_item *items = items_of(b->image, policy_keys[k].key, &count);

		for (uint32_t i = 0; i < count; i++)
			add_item(b, &items[i], policy_keys[k].origin);
	}
	add_strings(b, extra, FROM_LAUNCHER);
	add_strings(b, fallback, FROM_FALLBACK);
	return 0;
}

static int compare_names(struct name a, struct name b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.text, b.text, len) : 0;

	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int by_strength(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;
	int order = compare_names(a->name, b->name);

	if (!order)
		order = (a->level > b->level) - (a->level < b->level);
	return order ? order : (a->order > b->order) - (a->order < b->order);
}

static int by_order(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return (a->order > b->order) - (a->order < b->order);
}

static const char *where(const struct building *b, const struct sbx_item *item, char out[300])
{
	return launch_where(b->image, item->file, item->line, out);
}

/* How much of a name goes into a message. */
static int shown_len(size_t len)
{
	return len < 200 ? (int)len : 200;
}

static bool same_answer(const struct candidate *a, const struct candidate *b)
{
	if (a->origin == FROM_SECRET_FILE || b->origin == FROM_SECRET_FILE)
		return a->origin == b->origin;
	return a->value && b->value ? !strcmp(a->value, b->value) : a->value == b->value;
}

/* Of one name: the strongest stands, and nobody of its level may say something else. */
static int settle_name(const struct building *b, struct candidate *first, size_t count)
{
	char here[300], there[300];

	first->stands = true;
	for (size_t i = 1; first->item && i < count && first[i].level == first->level; i++)
		if (!same_answer(first, &first[i]))
			return launch_fail(b->error, EINVAL,
					   "%s: variable '%.*s' contradicts %s (a line in a "
					   "stronger file, or on the command line, decides)",
					   where(b, first[i].item, here),
					   shown_len(first->name.len), first->name.text,
					   where(b, first->item, there));
	return 0;
}

/* Leaves only the candidates that stand, in the order in which they came. */
static int settle(struct building *b)
{
	size_t kept = 0;

	qsort(b->list, b->count, sizeof(*b->list), by_strength);
	for (size_t i = 0, next; i < b->count; i = next) {
		int error;

		for (next = i + 1; next < b->count; next++)
			if (compare_names(b->list[i].name, b->list[next].name) != 0)
				break;
		if ((error = settle_name(b, &b->list[i], next - i)))
			return error;
	}
	for (size_t i = 0; i < b->count; i++)
		if (b->list[i].stands)
			b->list[kept++] = b->list[i];
	b->count = kept;
	qsort(b->list, b->count, sizeof(*b->list), by_order);
	return 0;
}

/* What the policy asks and cannot be had. */
static int check(const struct building *b)
{
	char at[300];

	for (size_t i = 0; i < b->count; i++) {
		const struct candidate *c = &b->list[i];
		const char *key = c->origin == FROM_SECRET_FILE ? "secret_file" : "secret";
		const char *name;
		int shown;

		if (!c->item)
			continue;
		name = sbx_str(b->image, c->item->text);
		shown = shown_len(strcspn(name, "="));
		if (is_own(c->name))
			return launch_fail(b->error, EINVAL,
					   "%s: variable '%.*s' is sbx's own (choose a name that "
					   "does not begin with " OWN_PREFIX ")",
					   where(b, c->item, at), shown, name);
		if (!c->value)
			return launch_fail(b->error, ENOENT,
					   "%s: %s '%.*s' is not in the environment (export it "
					   "before the start, or take the line out)",
					   where(b, c->item, at), key, shown, name);
		if (c->origin == FROM_SECRET_FILE && !b->secret_dir)
			return launch_fail(b->error, EINVAL,
					   "%s: secret_file '%.*s' has no place to be ('tmp = "
					   "private' makes one)",
					   where(b, c->item, at), shown, name);
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t done = write(fd, text, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return done < 0 ? -errno : -EIO;
		text += done;
		len -= (size_t)done;
	}
	return 0;
}

/* The file belongs to whom the folder belongs to, and exists only with all that is in it. */
static int write_secret(int dir, const struct stat *owner, const char *name, const char *value)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0400);
	int error = 0;

	if (fd < 0)
		return -errno;
	if ((owner->st_uid != geteuid() && fchown(fd, owner->st_uid, owner->st_gid) < 0) ||
	    fchmod(fd, 0400) < 0)
		error = -errno;
	if (!error)
		error = write_all(fd, value, strlen(value));
	if (close(fd) < 0 && !error)
		error = -errno;
	if (error)
		unlinkat(dir, name, 0);
	return error;
}

static int write_secrets(const struct building *b, int dir)
{
	struct stat owner;
	char at[300];

	if (dir < 0 || fstat(dir, &owner) < 0)
		return launch_fail(b->error, errno, "cannot open '%.256s' for secrets: %s",
				   b->secret_dir, strerror(errno));
	for (size_t i = 0; i < b->count; i++) {
		const struct candidate *c = &b->list[i];
		const char *name;
		int error;

		if (c->origin != FROM_SECRET_FILE)
			continue;
		name = sbx_str(b->image, c->item->text);
		error = write_secret(dir, &owner, name, c->value);
		if (error)
			return launch_fail(b->error, -error,
					   "%s: cannot write secret_file '%.200s': %s",
					   where(b, c->item, at), name, strerror(-error));
	}
	return 0;
}

static int make_secrets(const struct building *b)
{
	int dir, error;
	bool any = false;

	for (size_t i = 0; i < b->count; i++)
		any |= b->list[i].origin == FROM_SECRET_FILE;
	if (!any)
		return 0;
	dir = open(b->secret_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	error = write_secrets(b, dir);
	if (dir >= 0)
		close(dir);
	return error;
}

static char *put(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

static size_t length_of(const struct building *b, const struct candidate *c)
{
	/* NAME_FILE=secret_dir/NAME: the suffix of the name makes room for more than the slash. */
	size_t value = c->origin == FROM_SECRET_FILE ? strlen(b->secret_dir) + 1 + c->name.len
						     : strlen(c->value);

	return c->name.len + 1 + value + 1;
}

static char *put_variable(const struct building *b, const struct candidate *c, char *at)
{
	at = put(at, c->name.text, c->name.len);
	at = put(at, "=", 1);
	if (c->origin == FROM_SECRET_FILE) {
		at = put(at, b->secret_dir, strlen(b->secret_dir));
		at = put(at, "/", 1);
		at = put(at, c->name.text, c->name.len - strlen(FILE_SUFFIX));
	} else {
		at = put(at, c->value, strlen(c->value));
	}
	return put(at, "", 1);
}

/* The array, and behind it the strings. */
static int lay_out(const struct building *b, char ***env)
{
	size_t bytes = (b->count + 1) * sizeof(char *);
	char **array, *at;

	for (size_t i = 0; i < b->count; i++)
		bytes += length_of(b, &b->list[i]);
	array = malloc(bytes);
	if (!array)
		return launch_fail(b->error, ENOMEM, "cannot build the environment: out of memory");
	at = (char *)(array + b->count + 1);
	for (size_t i = 0; i < b->count; i++) {
		array[i] = at;
		at = put_variable(b, &b->list[i], at);
	}
	array[b->count] = NULL;
	*env = array;
	return 0;
}

int launch_env_build(const struct sbx_image *image, char *const *from, char *const *extra,
		     char *const *fallback, const char *secret_dir, char ***env,
		     struct launch_error *error)
{
	struct building b = {
		.image = image, .from = from, .secret_dir = secret_dir, .error = error
	};
	int failed = gather(&b, extra, fallback);

	if (!failed)
		failed = settle(&b);
	if (!failed)
		failed = check(&b);
	if (!failed)
		failed = make_secrets(&b);
	if (!failed)
		failed = lay_out(&b, env);
	free(b.list);
	return failed;
}
