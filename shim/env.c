/* SPDX-License-Identifier: MIT */
/*
 * Keeps the shim in LD_PRELOAD: our file first, what the user has there after it. Copies pointers,
 * never the caller's strings, and changes nothing in place.
 */
#include "env.h"

#include "memory.h"
#include "start.h"

#include <stdint.h>
#include <string.h>

#include "contract.h"

#define PRELOAD "LD_PRELOAD="

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

/* The length of the first file of a list. */
static size_t file_len(const char *list, size_t size)
{
	size_t len = 0;

	while (len < size && !is_separator(list[len]))
		len++;
	return len;
}

static bool is_own(const char *file, size_t len)
{
	const struct shim_self *self = shim_self();

	return len == self->path_len && !memcmp(file, self->path, len);
}

static bool lists_own(const char *list, size_t size)
{
	for (size_t at = 0; at < size; at++) {
		size_t len = file_len(list + at, size - at);

		if (is_own(list + at, len))
			return true;
		at += len;
	}
	return false;
}

/* Whether the entry begins with "NAME="; -1 when it cannot be read. */
static int is_named(struct shim_peek *peek, const char *entry, const char *name)
{
	for (; *name; name++, entry++) {
		int c = shim_peek_byte(peek, entry);

		if (c != (unsigned char)*name)
			return c < 0 ? -1 : 0;
	}
	return 1;
}

/* What one entry is to us; false when it cannot be read. */
static bool note_entry(struct shim_env *env, struct shim_peek *peek, const char *entry, bool *kept)
{
	int preload = is_named(peek, entry, PRELOAD);
	long len;

	if (preload < 0)
		return false;
	if (is_named(peek, entry, SBX_ENV_IMAGE "=") > 0)
		env->add_image = false;
	if (is_named(peek, entry, SBX_ENV_EXPLAIN "=") > 0)
		env->add_explain = false;
	if (!preload)
		return true;
	entry += strlen(PRELOAD);
	len = shim_peek_len(peek, entry);
	if (len < 0)
		return false;
	env->preload = entry;
	env->preload_len = (size_t)len;
	/* Of several entries glibc's loader takes the last, musl's the first: all must have it. */
	if (lists_own(entry, (size_t)len) == env->without)
		*kept = false;
	return true;
}

static bool read_list(struct shim_env *env, bool *kept)
{
	struct shim_peek at = { 0 }, strings = { 0 };

	for (; env->list; env->count++) {
		char *const *entry = env->list + env->count;

		if (shim_peek_byte(&at, (const char *)entry) < 0 ||
		    shim_peek_byte(&at, (const char *)(entry + 1) - 1) < 0)
			return false;
		if (!*entry)
			break;
		if (!note_entry(env, &strings, *entry, kept))
			return false;
	}
	return true;
}

size_t shim_env_plan(struct shim_env *env, char *const *list, bool without)
{
	const struct shim_self *self = shim_self();
	bool kept = true;

	*env = (struct shim_env){ .list = list,
				  .without = without,
				  .add_image = self->image && !without,
				  .add_explain = self->explain && !without };
	if (!self->path_len || !read_list(env, &kept))
		return 0;
	if (!env->preload && !without)
		kept = false;
	if (kept && !env->add_image && !env->add_explain)
		return 0;
	return (env->count + 4) * sizeof(char *) + strlen(self->preload) + env->preload_len + 2;
}

static char *append(char *to, const char *from, size_t len)
{
	memcpy(to, from, len);
	return to + len;
}

/* "LD_PRELOAD=ours:theirs", or theirs alone; NULL when nothing is left. */
static char *make_preload(const struct shim_env *env, char *text)
{
	const struct shim_self *self = shim_self();
	char *to = append(text, PRELOAD, strlen(PRELOAD)), *start = to;

	if (!env->without)
		to = append(to, self->path, self->path_len);
	for (size_t at = 0; at < env->preload_len; at++) {
		size_t len = file_len(env->preload + at, env->preload_len - at);

		if (len && !is_own(env->preload + at, len)) {
			if (to != start)
				*to++ = ':';
			to = append(to, env->preload + at, len);
		}
		at += len;
	}
	*to = '\0';
	return to == start ? NULL : text;
}

static char *unconst(const char *text)
{
	return (char *)(uintptr_t)text;
}

char **shim_env_fill(const struct shim_env *env, void *memory)
{
	const struct shim_self *self = shim_self();
	char **list = memory, **to = list;
	char *preload = make_preload(env, (char *)(list + env->count + 4));

	for (size_t i = 0; i < env->count; i++) {
		if (strncmp(env->list[i], PRELOAD, strlen(PRELOAD))) {
			*to++ = env->list[i];
		} else if (preload) {
			*to++ = preload;
			preload = NULL;
		}
	}
	if (preload)
		*to++ = preload;
	if (env->add_image)
		*to++ = unconst(self->image);
	if (env->add_explain)
		*to++ = unconst(self->explain);
	*to = NULL;
	return list;
}
