/* SPDX-License-Identifier: MIT */
/* Compile side: memory and error reports of a draft. */
#include "draft.h"
#include "out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *arena_take(struct sbx_draft *draft, size_t size)
{
	char *bytes = sbx_arena_take(&draft->arena, size, 1);

	if (!bytes)
		draft->out_of_memory = true;
	return bytes;
}

void *sbx_draft_grow(struct sbx_draft *draft, void *list, size_t *cap, size_t item_size)
{
	size_t bigger = *cap ? *cap * 2 : 64;
	void *grown = reallocarray(list, bigger, item_size);

	if (!grown) {
		draft->out_of_memory = true;
		return list;
	}
	*cap = bigger;
	return grown;
}

void sbx_draft_sort(void *list, size_t count, size_t size,
		    int (*compare)(const void *a, const void *b))
{
	char *bytes = list;

	for (size_t i = 1; i < count; i++) {
		if (compare(bytes + (i - 1) * size, bytes + i * size) > 0) {
			qsort(list, count, size, compare);
			return;
		}
	}
}

const char *sbx_draft_copy(struct sbx_draft *draft, const char *text, size_t len)
{
	char *copy = arena_take(draft, len + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, len);
	copy[len] = '\0';
	return copy;
}

const char *sbx_draft_join(struct sbx_draft *draft, const char *first, size_t len,
			   const char *second, const char *third)
{
	size_t second_len = strlen(second), third_len = strlen(third);
	char *text = arena_take(draft, len + second_len + third_len + 1);

	if (!text)
		return NULL;
	memcpy(text, first, len);
	memcpy(text + len, second, second_len);
	memcpy(text + len + second_len, third, third_len + 1);
	return text;
}

const char *sbx_draft_format(struct sbx_draft *draft, const char *format, ...)
{
	char text[PATH_MAX * 2];
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (len < 0)
		return NULL;
	return sbx_draft_copy(draft, text,
			      (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

static void copy_escaped(char *to, size_t size, const char *from, size_t len)
{
	struct sbx_out out;

	sbx_out_init(&out, to, size);
	sbx_out_escaped(&out, from, len, SBX_ESCAPE_PLAIN);
	sbx_out_finish(&out);
}

void sbx_errors_add(struct sbx_errors *errors, const char *file, unsigned int line,
		    const char *text)
{
	struct sbx_error *error = &errors->list[errors->count];

	if (errors->count == SBX_MAX_ERRORS) {
		errors->more++;
		return;
	}
	errors->count++;
	copy_escaped(error->file, sizeof(error->file), file, strlen(file));
	copy_escaped(error->text, sizeof(error->text), text, strlen(text));
	error->line = line;
}

void sbx_draft_error(struct sbx_draft *draft, uint32_t file, unsigned int line, const char *format,
		     ...)
{
	char text[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	draft->failed = true;
	sbx_errors_add(draft->errors, file == SBX_NONE ? "" : draft->files.list[file].name, line,
		       text);
}

const char *sbx_draft_where(struct sbx_draft *draft, uint32_t file, unsigned int line)
{
	const char *name = draft->files.list[file].name;

	return line ? sbx_draft_format(draft, "%s:%u", name, line) : name;
}

const char *sbx_draft_text(struct sbx_draft *draft, const struct draft_entry *entry)
{
	const char *key = sbx_keys[entry->key].name;
	char public[SBX_PUBLIC_MAX];
	const char *text = sbx_value_public(entry->key, entry->text, public);

	return text == entry->text ? entry->said
				   : sbx_draft_join(draft, key, strlen(key), " = ", text);
}

const struct draft_entry *sbx_draft_section_entry(const struct sbx_draft *draft, uint32_t section,
						  enum sbx_key key)
{
	for (size_t i = draft->sections.list[section].first;
	     i < draft->entries.count && draft->entries.list[i].section == section; i++)
		if (draft->entries.list[i].key == key)
			return &draft->entries.list[i];
	return NULL;
}

static const char *environment(struct sbx_draft *draft, const char *name)
{
	const char *value = getenv(name);

	return value && value[0] == '/' ? sbx_draft_copy(draft, value, strlen(value)) : NULL;
}

int sbx_draft_init(struct sbx_draft *draft, const struct sbx_load *load, struct sbx_errors *errors)
{
	char path[PATH_MAX];
	const char *tmp;

	memset(draft, 0, sizeof(*draft));
	memset(errors, 0, sizeof(*errors));
	draft->load = load;
	draft->errors = errors;
	draft->cache = sbx_resolve_cache_new();
	if (!draft->cache)
		return -ENOMEM;
	if (load->cwd)
		draft->cwd = load->cwd;
	else if (getcwd(path, sizeof(path)) && path[0] == '/')
		draft->cwd = sbx_draft_copy(draft, path, strlen(path));
	else {
		int error = errno;

		sbx_errors_add(errors, "", 0,
			       "the current directory is gone (go into one that exists)");
		return -error;
	}
	draft->workdir = draft->cwd;
	draft->home = environment(draft, "HOME");
	tmp = environment(draft, "TMPDIR");
	draft->tmp = load->tmp ? load->tmp : tmp ? tmp : "/tmp";
	draft->profiles = load->profiles;
	if (!draft->profiles && sbx_profiles_dir(path))
		draft->profiles = sbx_draft_copy(draft, path, strlen(path));
	for (int i = 0; i < SBX_KEY_COUNT; i++)
		draft->settled[i] = SBX_NONE;
	return draft->out_of_memory ? -ENOMEM : 0;
}

void sbx_draft_done(struct sbx_draft *draft)
{
	sbx_arena_done(&draft->arena);
	free(draft->files.list);
	free(draft->entries.list);
	free(draft->sections.list);
	free(draft->rules.list);
	free(draft->programs.list);
	free(draft->links.list);
	sbx_resolve_cache_free(draft->cache);
}
