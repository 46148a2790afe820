/* SPDX-License-Identifier: MIT */
/*
 * The escape of hostile bytes: whatever goes in, only UTF-8 that can be seen comes out, no more
 * than there is room for, ending in a NUL; JSON strings are valid; what is short is not shortened;
 * and a cut never leaves half a character.
 */
#include "fuzz.h"

#include "out.h"
#include "values.h"

#include <stdlib.h>
#include <string.h>

static const enum sbx_escape modes[] = { SBX_ESCAPE_PLAIN, SBX_ESCAPE_QUOTED, SBX_ESCAPE_ASIDE,
					 SBX_ESCAPE_JSON };

/* Some of what must never be seen raw; out.c has the whole list. */
static const uint32_t hidden[] = { 0xa0,   0xad,   0x61c,  0x2003, 0x200b,
				   0x200e, 0x202e, 0x2066, 0xfeff, 0xe0041 };

static bool is_hidden(uint32_t c)
{
	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
		if (hidden[i] == c)
			return true;
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

static void check_visible(const char *s, size_t len)
{
	uint32_t c;

	for (size_t i = 0, step; i < len; i += step) {
		step = fuzz_char(s + i, len - i, &c);
		MUST(step && !is_hidden(c));
	}
}

/* Nothing in it ends the quotes or parentheses it stands in. */
static void check_quoted(const char *s, size_t len, enum sbx_escape how)
{
	const char *ends = how == SBX_ESCAPE_QUOTED ? "'" : how == SBX_ESCAPE_ASIDE ? "()" : "\"";

	for (size_t i = 0; how != SBX_ESCAPE_PLAIN && i < len; i++) {
		MUST(!strchr(ends, s[i]));
		if (s[i] == '\\')
			MUST(++i < len);
	}
}

/* A byte of valid UTF-8 appears as \xNN only when half of its character was cut off. */
static void check_whole(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '\\')
			continue;
		MUST(++i < len);
		MUST(s[i] != 'x' || (i + 1 < len && s[i + 1] < '8'));
	}
}

static size_t escape_all(const char *text, size_t size, enum sbx_escape how, char **shown)
{
	struct sbx_out out;
	size_t want;

	/* No byte becomes more than six: "\u{e0041}" was four. */
	*shown = malloc(size * 6 + 1);
	MUST(*shown);
	sbx_out_init(&out, *shown, size * 6 + 1);
	sbx_out_escaped(&out, text, size, how);
	want = sbx_out_finish(&out);
	MUST(want == out.len && want == strlen(*shown));
	return want;
}

/* With less room it is the same text, cut, and 'want' stays. */
static void check_bound(const char *text, size_t size, enum sbx_escape how, const char *shown,
			size_t want, size_t room)
{
	char *cut = malloc(room ? room : 1);
	struct sbx_out out;

	MUST(cut);
	sbx_out_init(&out, cut, room);
	sbx_out_escaped(&out, text, size, how);
	MUST(sbx_out_finish(&out) == want);
	if (room) {
		MUST(out.len < room && out.len <= want && strlen(cut) == out.len);
		MUST(!memcmp(cut, shown, out.len));
		MUST(out.len == want || want >= room);
		check_visible(cut, out.len);
	}
	free(cut);
}

static void check_shortened(const char *text, enum sbx_escape how, const char *shown, size_t want,
			    size_t max)
{
	size_t len = strlen(text);
	char *cut = malloc(max + 1);
	struct sbx_out out;

	MUST(cut);
	sbx_out_init(&out, cut, max + 1);
	sbx_out_shortened(&out, text, max, how);
	MUST(sbx_out_finish(&out) == out.len && out.len <= max);
	check_visible(cut, out.len);
	if (want <= max)
		MUST(!strcmp(cut, shown));
	else
		MUST(strstr(cut, "..."));
	check_quoted(cut, out.len, how);
	if ((how == SBX_ESCAPE_QUOTED || how == SBX_ESCAPE_ASIDE) && fuzz_is_utf8(text, len))
		check_whole(cut, out.len);
	free(cut);
}

static void check_mode(const char *text, size_t size, enum sbx_escape how, size_t room)
{
	char *shown;
	size_t want = escape_all(text, size, how, &shown);

	check_visible(shown, want);
	check_quoted(shown, want, how);
	check_bound(text, size, how, shown, want, room);
	/* What follows works on strings, which end at the first NUL. */
	if (strlen(text) == size)
		check_shortened(text, how, shown, want, room < 4 ? 4 : room);
	free(shown);
}

static void check_json(const char *text)
{
	size_t room = strlen(text) * 6 + 3;
	char *shown = malloc(room);
	struct sbx_out out;

	MUST(shown);
	sbx_out_init(&out, shown, room);
	sbx_out_json(&out, text);
	MUST(sbx_out_finish(&out) < room && fuzz_is_json(shown, out.len));
	free(shown);
}

/* The compile side has a shorter one of its own. */
static void check_shown(const char *text, size_t size)
{
	char shown[SBX_SHOWN_MAX];

	memset(shown, 0x5a, sizeof(shown));
	MUST(sbx_shown(text, size, shown) == shown && memchr(shown, '\0', sizeof(shown)));
	check_visible(shown, strlen(shown));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size ? data[0] : 0;
	char *text = fuzz_text(size ? data + 1 : data, size ? size - 1 : 0);

	size -= size > 0;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		check_mode(text, size, modes[i], room);
	check_json(text);
	check_shown(text, size);
	free(text);
	return 0;
}
