/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary bytes as a policy file: through the line reader, and then through the whole compile
 * side. What is accepted must be accepted line for line, mean the same when it is written down
 * again, and make an image that passes its own check; what is refused must say why.
 */
#include "fuzz.h"

#include "engine.h"
#include "ops.h"
#include "query.h"
#include "reader.h"
#include "words.h"

#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LINES 4096u
#define RULES_ASKED 8u

/* What the reader said about one text. */
struct said {
	unsigned int line; /* of the last thing said */
	unsigned int section_line; /* of the last [path NAME] */
	unsigned int lines; /* that the text has */
	size_t errors;
	bool reaches_out; /* it includes what is not in the folder made for this */
	bool spoken[MAX_LINES]; /* per line: an entry came from it */
	uint64_t digest; /* of all entries, but for where they stand and how they are quoted */
	FILE *again; /* where everything is written down once more, or NULL */
	enum sbx_key last_key;
	unsigned int last_section;
};

static uint64_t digest(uint64_t sum, const char *text)
{
	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * 0x100000001b3u;
	return (sum ^ 0xff) * 0x100000001b3u;
}

static bool is_harmless_include(const char *text)
{
	if (strpbrk(text, "$~") || strstr(text, ".."))
		return false;
	return !strchr(text, '/') || !strncmp(text, "./", 2);
}

/* In quotes, which any text can stand in. */
static void write_down(struct said *said, const struct sbx_entry *entry)
{
	const struct sbx_keyinfo *key = &sbx_keys[entry->key];

	if (*entry->name && said->last_section != entry->section_line)
		fprintf(said->again, "[path %s]\n", entry->name);
	else if (!*entry->name)
		fprintf(said->again, "[%s]\n", key->section);
	said->last_section = *entry->name ? entry->section_line : 0;
	fprintf(said->again, "%s = \"", key->name);
	for (const char *c = entry->text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', said->again);
		fputc(*c, said->again);
	}
	fprintf(said->again, "\"%s\n", entry->optional ? " ?" : "");
}

static void check_entry(const struct said *said, const struct sbx_entry *entry)
{
	const struct sbx_keyinfo *key = &sbx_keys[entry->key];
	uint64_t value;
	char why[256];

	MUST(entry->text && strlen(entry->text) < INI_MAX_LINE);
	MUST(fuzz_is_plain(entry->text, strlen(entry->text), "\t"));
	MUST(entry->name && !*entry->name == (strcmp(key->section, "path") != 0));
	MUST(!*entry->name || entry->section_line == said->section_line);
	MUST(entry->section_line < entry->line);
	MUST(!entry->optional || key->type == SBX_TYPE_PATH || key->type == SBX_TYPE_PATHS);
	MUST(!sbx_value_parse(entry->key, entry->text, &value, why));
}

static void on_entry(void *arg, const struct sbx_entry *entry)
{
	struct said *said = arg;

	MUST((unsigned int)entry->key < SBX_KEY_COUNT);
	MUST(entry->line >= said->line && entry->line <= said->lines);
	check_entry(said, entry);
	said->line = entry->line;
	if (entry->line < MAX_LINES)
		said->spoken[entry->line] = true;
	if (entry->key == SBX_KEY_sandbox_include && !is_harmless_include(entry->text))
		said->reaches_out = true;
	said->digest = digest(said->digest, sbx_keys[entry->key].section);
	said->digest = digest(said->digest, sbx_keys[entry->key].name);
	said->digest = digest(said->digest, entry->name);
	said->digest = digest(said->digest, entry->text) + entry->optional;
	if (said->again)
		write_down(said, entry);
}

static void on_section(void *arg, unsigned int line, const char *name)
{
	struct said *said = arg;

	MUST(line >= said->line && line <= said->lines);
	MUST(name && *name && strlen(name) <= 32 && fuzz_is_plain(name, strlen(name), ""));
	said->line = said->section_line = line;
}

static void on_error(void *arg, unsigned int line, const char *text)
{
	struct said *said = arg;

	MUST(line >= said->line && line <= said->lines);
	MUST(text && *text && strlen(text) < sizeof(((struct sbx_error *)0)->text));
	MUST(fuzz_is_plain(text, strlen(text), ""));
	said->errors++;
}

static void read_it(const char *text, size_t size, struct said *said)
{
	static const struct sbx_reader_ops ops = { on_entry, on_section, on_error };
	int result;

	for (size_t i = 0; i < size; i++)
		said->lines += text[i] == '\n' || i + 1 == size;
	result = sbx_read_text(text, size, &ops, said);
	MUST(result == (said->errors ? -EINVAL : 0));
}

/* Of a text without errors: every line that is not blank, a comment or a section said something. */
static void check_lines(const char *text, size_t size, const struct said *said)
{
	size_t skip = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
	const char *end = text + size, *at = text + skip;

	for (unsigned int line = 1; at < end && line < MAX_LINES; line++) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at), blank = 0;

		while (blank < len && strchr(" \t\r", at[blank]) && at[blank])
			blank++;
		MUST(said->spoken[line] == (blank < len && !strchr("#;[", *at)));
		at += len + 1;
	}
}

/* Written down again with everything in quotes it says the same. */
static void check_again(const struct said *first, char *text, size_t size)
{
	struct said second = { 0 };

	read_it(text, size, &second);
	MUST(!second.errors && second.digest == first->digest);
	free(text);
}

static void check_errors(const struct sbx_errors *errors)
{
	MUST(errors->count > 0 && errors->count <= SBX_MAX_ERRORS);
	MUST(!errors->more || errors->count == SBX_MAX_ERRORS);
	for (size_t i = 0; i < errors->count; i++) {
		const struct sbx_error *error = &errors->list[i];

		MUST(memchr(error->text, '\0', sizeof(error->text)) && *error->text);
		MUST(memchr(error->file, '\0', sizeof(error->file)));
		MUST(fuzz_is_plain(error->text, strlen(error->text), ""));
	}
}

/* Whatever may be asked about a path must have an answer in words. */
static void ask(const struct sbx_image *image, enum sbx_op op, const char *path)
{
	struct sbx_request request = { .op = op, .size = -1, .path = path };
	struct sbx_verdict verdict;
	struct sbx_report report = {
		.image = image, .request = &request, .verdict = &verdict, .given = path
	};
	char text[SBX_TEXT_MAX];

	sbx_eval(image, &request, &verdict);
	MUST(verdict.allowed == (verdict.code == SBX_CODE_ALLOWED) &&
	     verdict.allowed == !verdict.error);
	MUST(sbx_words_text(&report, text, sizeof(text)) == strlen(text));
	MUST(*text && fuzz_is_plain(text, strlen(text), "\n"));
}

static void check_image(const struct sbx_image *image)
{
	static const char *const paths[] = { "/", "/usr/bin/env", "/srv/.git/config", "/a/../b",
					     "x" };

	MUST(sbx_image_check(image, image->size) == 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		ask(image, (enum sbx_op)(i % SBX_OP_CONNECT), paths[i]);
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules) && i < RULES_ASKED; i++) {
		const char *path = sbx_str(image, sbx_rules(image)[i].path);

		ask(image, SBX_OP_READ, path);
		ask(image, SBX_OP_CREATE, path);
	}
}

static void compile(const char *text, size_t size, unsigned int how)
{
	struct sbx_policy *policy = NULL, *again = NULL;
	struct sbx_errors errors;
	int result = fuzz_compile(text, size, how, &policy, &errors);
	size_t first, second;

	if (result < 0) {
		MUST(result == -EINVAL && !policy);
		check_errors(&errors);
		return;
	}
	MUST(policy && !errors.count);
	check_image(sbx_policy_image(policy));
	/* The same policy has the same bytes: nothing undefined is in them. */
	MUST(fuzz_compile(text, size, how, &again, &errors) == 0);
	(void)sbx_image_bytes(policy, &first);
	(void)sbx_image_bytes(again, &second);
	MUST(first == second &&
	     !memcmp(sbx_image_bytes(policy, &first), sbx_image_bytes(again, &second), first));
	sbx_free(policy);
	sbx_free(again);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_compile_start();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *written = NULL;
	size_t written_size = 0;
	struct said said = { .again = open_memstream(&written, &written_size) };

	MUST(said.again);
	read_it(text, size, &said);
	fclose(said.again);
	if (!said.errors) {
		check_lines(text, size, &said);
		check_again(&said, written, written_size);
	} else {
		free(written);
	}
	/* What the reader refuses is refused in either way. */
	if (!said.reaches_out)
		compile(text, size, 0);
	if (!said.reaches_out && !said.errors)
		compile(text, size, FUZZ_LENIENT | FUZZ_GENERIC);
	free(text);
	return 0;
}
