/* SPDX-License-Identifier: MIT */
/*
 * Patterns of one component: "pattern NEWLINE name". The verdict is compared with the textbook's
 * table of partial matches, which knows nothing of going back. That one needs the product of the
 * lengths in time, too, so that libFuzzer's -timeout bounds the matcher by the size of its input.
 */
#include "fuzz.h"

#include "engine.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CHARS 1024

struct chars {
	const char *at[MAX_CHARS];
	size_t len[MAX_CHARS];
	size_t count;
};

/* As '?' counts them: a lead byte with all that continues it; any other byte is one by itself. */
static size_t char_len(const char *s, size_t left)
{
	static const unsigned char leads[] = { 0xc2, 0xe0, 0xf0, 0xf5 };
	unsigned char lead = (unsigned char)*s;
	size_t len = 2;

	if (lead < leads[0] || lead >= leads[3])
		return 1;
	len += lead >= leads[1];
	len += lead >= leads[2];
	if (len > left)
		return 1;
	for (size_t i = 1; i < len; i++)
		if ((unsigned char)s[i] >> 6 != 2)
			return 1;
	return len;
}

static bool split(const char *s, size_t len, struct chars *chars)
{
	chars->count = 0;
	for (size_t i = 0; i < len; i += chars->len[chars->count++]) {
		if (chars->count == MAX_CHARS)
			return false;
		chars->at[chars->count] = s + i;
		chars->len[chars->count] = char_len(s + i, len - i);
	}
	return true;
}

static bool same(const struct chars *a, size_t i, const struct chars *b, size_t j)
{
	return a->len[i] == b->len[j] && !memcmp(a->at[i], b->at[j], a->len[i]);
}

/* reach[j]: the pattern so far can match the first j characters of the name. */
static bool reference(const struct chars *pattern, const struct chars *name)
{
	bool reach[MAX_CHARS + 1] = { true };

	for (size_t i = 0; i < pattern->count; i++) {
		char c = *pattern->at[i];

		if (c == '*') {
			for (size_t j = 1; j <= name->count; j++)
				reach[j] |= reach[j - 1];
			continue;
		}
		for (size_t j = name->count; j > 0; j--)
			reach[j] = reach[j - 1] && (c == '?' || same(pattern, i, name, j - 1));
		reach[0] = false;
	}
	return reach[name->count];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\n', size) : NULL;
	size_t pattern_len = end ? (size_t)(end - data) : size;
	size_t name_len = end ? size - pattern_len - 1 : 0;
	char *pattern = fuzz_text(data, pattern_len);
	char *name = fuzz_text(end ? end + 1 : data, name_len);
	static struct chars pattern_chars, name_chars;
	bool matched = sbx_glob_match(pattern, pattern_len, name, name_len);

	/* Patterns come from policies, which are UTF-8; names may be any bytes. */
	if (fuzz_is_utf8(pattern, pattern_len) && split(pattern, pattern_len, &pattern_chars) &&
	    split(name, name_len, &name_chars))
		MUST(matched == reference(&pattern_chars, &name_chars));
	free(pattern);
	free(name);
	return 0;
}
