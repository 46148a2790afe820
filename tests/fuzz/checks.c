/* SPDX-License-Identifier: MIT */
/* What output must look like, judged by code that shares nothing with the code under test. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64

/* Nothing is to be learned from which way these go. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

_Noreturn void fuzz_fail(const char *file, int line, const char *promise)
{
	fprintf(stderr, "%s:%d: broken promise: %s\n", file, line, promise);
	abort();
}

char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	MUST(text);
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

size_t fuzz_char(const char *s, size_t left, uint32_t *c)
{
	static const struct {
		uint32_t low, high;
		uint8_t len, lead, mask;
	} forms[] = {
		{ 0, 0x7f, 1, 0x00, 0x80 },
		{ 0x80, 0x7ff, 2, 0xc0, 0xe0 },
		{ 0x800, 0xffff, 3, 0xe0, 0xf0 },
		{ 0x10000, 0x10ffff, 4, 0xf0, 0xf8 },
	};
	const unsigned char *bytes = (const unsigned char *)s;

	for (size_t i = 0; left && i < sizeof(forms) / sizeof(forms[0]); i++) {
		uint32_t value = bytes[0] & (uint8_t)~forms[i].mask;
		size_t more = 1;

		if ((bytes[0] & forms[i].mask) != forms[i].lead || forms[i].len > left)
			continue;
		for (; more < forms[i].len && bytes[more] >> 6 == 2; more++)
			value = value << 6 | (bytes[more] & 63);
		*c = value;
		return more == forms[i].len && value >= forms[i].low && value <= forms[i].high &&
				       value >> 11 != 0xd800 >> 11
			       ? more
			       : 0;
	}
	return 0;
}

bool fuzz_is_utf8(const char *s, size_t len)
{
	uint32_t c;

	for (size_t i = 0, step; i < len; i += step) {
		step = fuzz_char(s + i, len - i, &c);
		if (!step)
			return false;
	}
	return true;
}

bool fuzz_is_plain(const char *s, size_t len, const char *but)
{
	uint32_t c;

	for (size_t i = 0, step; i < len; i += step) {
		step = fuzz_char(s + i, len - i, &c);
		if (!step)
			return false;
		if ((c < 0x20 || (c >= 0x7f && c < 0xa0)) &&
		    !(c && c < 0x20 && strchr(but, (int)c)))
			return false;
	}
	return true;
}

struct json {
	const char *at;
	const char *end;
};

static bool take(struct json *json, const char *text)
{
	size_t len = strlen(text);

	if ((size_t)(json->end - json->at) < len || memcmp(json->at, text, len))
		return false;
	json->at += len;
	return true;
}

static bool take_hex(struct json *json, uint32_t *number)
{
	*number = 0;
	for (int i = 0; i < 4; i++) {
		const char *digits = "0123456789abcdef";
		const char *found =
			json->at < json->end && *json->at ? strchr(digits, *json->at) : NULL;

		if (!found)
			return false;
		*number = *number << 4 | (uint32_t)(found - digits);
		json->at++;
	}
	return true;
}

/* Half of a surrogate pair is not a character. */
static bool take_escape(struct json *json)
{
	uint32_t high, low;

	if (json->at == json->end)
		return false;
	if (*json->at != 'u')
		return *json->at && strchr("\"\\/bfnrt", *json->at++);
	json->at++;
	if (!take_hex(json, &high) || (high >= 0xdc00 && high < 0xe000))
		return false;
	if (high < 0xd800 || high >= 0xe000)
		return true;
	return take(json, "\\u") && take_hex(json, &low) && low >= 0xdc00 && low < 0xe000;
}

static bool take_string(struct json *json)
{
	if (!take(json, "\""))
		return false;
	while (json->at < json->end && *json->at != '"') {
		uint32_t c;
		size_t len = fuzz_char(json->at, (size_t)(json->end - json->at), &c);

		if (!len || c < 0x20)
			return false;
		json->at += len;
		if (c == '\\' && !take_escape(json))
			return false;
	}
	return take(json, "\"");
}

static bool take_number(struct json *json)
{
	const char *start = json->at;

	while (json->at < json->end && *json->at >= '0' && *json->at <= '9')
		json->at++;
	return json->at > start && (*start != '0' || json->at == start + 1);
}

/* All that is written here has strings, counts, null, lists and objects; nothing nests deeply. */
static bool take_value(struct json *json, int depth)
{
	bool object = take(json, "{");

	if (depth > MAX_DEPTH)
		return false;
	if (!object && !take(json, "["))
		return take(json, "null") || take(json, "true") || take(json, "false") ||
		       (json->at < json->end && *json->at == '"' ? take_string(json)
								 : take_number(json));
	if (take(json, object ? "}" : "]"))
		return true;
	do {
		if (object && (!take_string(json) || !take(json, ":")))
			return false;
		if (!take_value(json, depth + 1))
			return false;
	} while (take(json, ","));
	return take(json, object ? "}" : "]");
}

bool fuzz_is_json(const char *s, size_t len)
{
	struct json json = { s, s + len };

	return take_value(&json, 0) && json.at == json.end;
}

#ifdef __clang__
#pragma clang attribute pop
#endif
