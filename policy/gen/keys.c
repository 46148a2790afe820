/* SPDX-License-Identifier: MIT */
/*
 * Build tool: prints what else keys.def is the source of.
 *
 *	keys man	the description of every key, in roff, for sbx-policy(5)
 *	keys dict	libFuzzer's dictionary: sections, keys, words and operators
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "values.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct sbx_keyinfo keys[] = {
#define KEY(section, name, type, ...) { #section, #name, SBX_TYPE_##type, __VA_ARGS__ },
#include "keys.def"
};

static const char *const types[] = {
#define TYPE(id, list, shown) [SBX_TYPE_##id] = shown,
	SBX_TYPES(TYPE)
#undef TYPE
};

static const char *const operations[] = {
#define OP(id, name, ...) name,
#include "ops.def"
};

/* What stands between words, and values of each type that keys.def cannot list. */
static const char tokens[] =
	" = |, | ?|\"|\\\"|\\\\|\n|\r\n|# |; | ;| #|]|=|:|\xef\xbb\xbf|"
	"${|}|${workdir}|${policy_dir}|${tmp}|${HOME}|~/|./|../|//|/|*|**|/**/|?|"
	"*.|unix:|localhost:|127.0.0.1:|[::1]:|10.0.0.0/8:|[fd00::/8]:|:443|:*|:8000-8100|http://|"
	"yes|no|none|512M|10MiB|1G|60s|100ms|5m|2h|@network|NAME=VALUE";

static void print_roff(const char *text)
{
	for (; *text; text++) {
		if (*text == '\\')
			fputs("\\e", stdout);
		else if (*text == '\'')
			fputs("\\(aq", stdout);
		else if (*text == '-')
			fputs("\\-", stdout);
		else
			putchar(*text);
	}
}

/* "a|b|c" in bold, as "a | b | c" to choose from or as the list "a, b, c". */
static void print_words(const char *words, const char *between)
{
	while (*words) {
		size_t len = strcspn(words, "|");

		printf("\\fB%.*s\\fR", (int)len, words);
		words += len + (words[len] == '|');
		if (*words)
			fputs(between, stdout);
	}
}

static void print_man_key(const struct sbx_keyinfo *key)
{
	const char first[] = { (char)toupper((unsigned char)key->help[0]), '\0' };

	printf(".TP\n\\fB%s\\fR = ", key->name);
	if (*key->words)
		print_words(key->words, key->type == SBX_TYPE_WORD ? " | " : ", ");
	else
		printf("\\fI%s\\fR", types[key->type]);
	fputs("\n\\&", stdout);
	print_roff(first);
	print_roff(key->help + 1);
	fputs(".\nDefault: ", stdout);
	print_roff(key->shown);
	if (*key->option) {
		fputs(".\nOption: \\fB", stdout);
		print_roff(key->option);
		fputs("\\fR", stdout);
	}
	fputs(".\n", stdout);
}

static void print_man(void)
{
	const char *section = "";

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (strcmp(keys[i].section, section) != 0) {
			section = keys[i].section;
			printf(".SS [%s%s]\n", section,
			       strcmp(section, "path") ? "" : " \\fINAME\\fR");
		}
		print_man_key(&keys[i]);
	}
}

static void print_token(const char *before, const char *token, size_t len, const char *after)
{
	printf("\"%s", before);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)token[i];

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c > '~')
			printf("\\x%02x", c);
		else
			putchar(c);
	}
	printf("%s\"\n", after);
}

static void print_tokens(const char *words)
{
	while (*words) {
		size_t len = strcspn(words, "|");

		print_token("", words, len, "");
		words += len + (words[len] == '|');
	}
}

/* libFuzzer does not mind that some words come twice. */
static void print_dict(void)
{
	const char *section = "";

	for (size_t i = 0; i < COUNT(keys); i++) {
		if (strcmp(keys[i].section, section) != 0) {
			section = keys[i].section;
			print_token("[", section, strlen(section),
				    strcmp(section, "path") ? "]" : " ");
		}
		print_token("", keys[i].name, strlen(keys[i].name), " = ");
		print_tokens(keys[i].words);
	}
	for (size_t i = 0; i < COUNT(operations); i++)
		print_token("", operations[i], strlen(operations[i]), " ");
	print_tokens(tokens);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "man") == 0)
		print_man();
	else if (argc == 2 && strcmp(argv[1], "dict") == 0)
		print_dict();
	else
		return 2;
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
