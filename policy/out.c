/* SPDX-License-Identifier: MIT */
/* Text into a caller's buffer, and the escape of what could mislead its reader. Pure. */
#include "out.h"

#include <string.h>

/* Characters that are not seen, or that move what is: a name must not be able to hold them. */
static const struct {
	uint32_t first;
	uint32_t last;
} invisible[] = {
	{ 0x00, 0x1f }, /* C0 controls */
	{ 0x7f, 0x9f }, /* DEL, C1 controls */
	{ 0xa0, 0xa0 }, /* blanks that look like others */
	{ 0xad, 0xad }, /* soft hyphen */
	{ 0x34f, 0x34f }, /* grapheme joiner */
	{ 0x61c, 0x61c }, /* Arabic letter mark */
	{ 0x115f, 0x1160 }, /* Hangul fillers */
	{ 0x17b4, 0x17b5 }, /* Khmer inherent vowels */
	{ 0x1680, 0x1680 }, /* Ogham space */
	{ 0x180b, 0x180f }, /* Mongolian selectors */
	{ 0x2000, 0x200a }, /* blanks of all widths */
	{ 0x200b, 0x200f }, /* zero width, direction marks */
	{ 0x2028, 0x202f }, /* line separators, bidirectional, a blank */
	{ 0x205f, 0x205f }, /* mathematical space */
	{ 0x2060, 0x206f }, /* joiners, isolates */
	{ 0x3000, 0x3000 }, /* ideographic space */
	{ 0x3164, 0x3164 }, /* Hangul filler */
	{ 0xfe00, 0xfe0f }, /* variation selectors */
	{ 0xfeff, 0xfeff }, /* byte order mark */
	{ 0xffa0, 0xffa0 }, /* half-width filler */
	{ 0xfff0, 0xfffb }, /* specials */
	{ 0x1bca0, 0x1bca3 }, /* shorthand controls */
	{ 0x1d173, 0x1d17a }, /* musical controls */
	{ 0xe0000, 0xe0fff }, /* tags: text that only machines read */
};

void sbx_out_init(struct sbx_out *out, char *text, size_t size)
{
	*out = (struct sbx_out){ .text = text, .size = size };
}

void sbx_out_bytes(struct sbx_out *out, const char *bytes, size_t len)
{
	/* Once something did not fit, nothing that follows may: the text would have a hole. */
	if (out->want == out->len && out->size > 0 && len < out->size - out->len) {
		memcpy(out->text + out->len, bytes, len);
		out->len += len;
	}
	out->want += len;
}

void sbx_out_str(struct sbx_out *out, const char *text)
{
	sbx_out_bytes(out, text, strlen(text));
}

void sbx_out_number(struct sbx_out *out, uint64_t number)
{
	char digits[20];
	size_t start = sizeof(digits);

	do {
		digits[--start] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	sbx_out_bytes(out, digits + start, sizeof(digits) - start);
}

bool sbx_is_invisible(uint32_t c)
{
	if (c >= 0x20 && c < 0x7f)
		return false;
	for (size_t i = 0; i < sizeof(invisible) / sizeof(invisible[0]); i++)
		if (c >= invisible[i].first && c <= invisible[i].last)
			return true;
	return false;
}

size_t sbx_utf8_decode(const char *bytes, size_t left, uint32_t *c)
{
	static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char lead = left ? (unsigned char)bytes[0] : 0xff;
	size_t want = lead < 0x80 ? 1 : lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
	uint32_t value = want == 1 ? lead : lead & (0x7fu >> want);

	if (want == 0 || want > left || lead > 0xf4)
		return 0;
	for (size_t i = 1; i < want; i++) {
		unsigned char byte = (unsigned char)bytes[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (byte & 0x3f);
	}
	if (value < least[want] || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
		return 0;
	*c = value;
	return want;
}

static size_t hex(char *to, uint32_t number, int digits)
{
	for (int i = 0; i < digits; i++)
		to[i] = "0123456789abcdef"[number >> (4 * (digits - 1 - i)) & 15];
	return (size_t)digits;
}

/* A character that must not appear as it is. 'raw' says that it is a byte that is not UTF-8. */
static size_t escape(char to[16], uint32_t c, bool raw, enum sbx_escape how)
{
	size_t len = 0;

	to[len++] = '\\';
	if (how == SBX_ESCAPE_JSON && raw) {
		to[len++] = '\\';
		to[len++] = 'x';
		return len + hex(to + len, c, 2);
	}
	if (how == SBX_ESCAPE_JSON) {
		to[len++] = 'u';
		if (c < 0x10000)
			return len + hex(to + len, c, 4);
		len += hex(to + len, 0xd800 + ((c - 0x10000) >> 10), 4);
		to[len++] = '\\';
		to[len++] = 'u';
		return len + hex(to + len, 0xdc00 + ((c - 0x10000) & 0x3ff), 4);
	}
	if (!raw && (c == '\n' || c == '\t' || c == '\r')) {
		to[len++] = c == '\n' ? 'n' : c == '\t' ? 't' : 'r';
		return len;
	}
	if (raw || c < 0x80) {
		to[len++] = 'x';
		return len + hex(to + len, c, 2);
	}
	to[len++] = 'u';
	to[len++] = '{';
	len += hex(to + len, c, c < 0x10000 ? 4 : 6);
	to[len++] = '}';
	return len;
}

static bool needs_backslash(char c, enum sbx_escape how)
{
	return (how == SBX_ESCAPE_JSON && (c == '"' || c == '\\')) ||
	       (how == SBX_ESCAPE_QUOTED && (c == '\'' || c == '\\')) ||
	       (how == SBX_ESCAPE_ASIDE && (c == '(' || c == ')' || c == '\\'));
}

/* One character of 'bytes' as it will be shown; returns how many bytes were read. */
static size_t show(const char *bytes, size_t left, enum sbx_escape how, char to[16], size_t *to_len)
{
	uint32_t c = (unsigned char)bytes[0];
	size_t len = sbx_utf8_decode(bytes, left, &c);

	if (!len) {
		*to_len = escape(to, (unsigned char)bytes[0], true, how);
		return 1;
	}
	if (sbx_is_invisible(c)) {
		*to_len = escape(to, c, false, how);
		return len;
	}
	*to_len = 0;
	if (len == 1 && needs_backslash(bytes[0], how))
		to[(*to_len)++] = '\\';
	memcpy(to + *to_len, bytes, len);
	*to_len += len;
	return len;
}

void sbx_out_escaped(struct sbx_out *out, const char *bytes, size_t len, enum sbx_escape how)
{
	char shown[16];
	size_t shown_len;

	for (size_t i = 0; i < len;) {
		i += show(bytes + i, len - i, how, shown, &shown_len);
		sbx_out_bytes(out, shown, shown_len);
	}
}

static size_t shown_length(const char *text, size_t len, enum sbx_escape how)
{
	struct sbx_out counter;

	sbx_out_init(&counter, NULL, 0);
	sbx_out_escaped(&counter, text, len, how);
	return counter.want;
}

/* The start and the end of a path say most: the middle goes. */
void sbx_out_shortened(struct sbx_out *out, const char *text, size_t max, enum sbx_escape how)
{
	size_t len = strlen(text), head = 0, tail;
	size_t room = max > 3 ? (max - 3) / 2 : 0;
	char shown[16];
	size_t used = 0, shown_len = 0;

	if (shown_length(text, len, how) <= max) {
		sbx_out_escaped(out, text, len, how);
		return;
	}
	while (head < len) {
		size_t read = show(text + head, len - head, how, shown, &shown_len);

		if (used + shown_len > room)
			break;
		used += shown_len;
		head += read;
	}
	/* What is left out is whole characters, too: from the head on, until the rest fits. */
	used = shown_length(text + head, len - head, how);
	for (tail = head; used > room; used -= shown_len)
		tail += show(text + tail, len - tail, how, shown, &shown_len);
	sbx_out_escaped(out, text, head, how);
	sbx_out_str(out, "...");
	sbx_out_escaped(out, text + tail, len - tail, how);
}

void sbx_out_json(struct sbx_out *out, const char *text)
{
	sbx_out_str(out, "\"");
	sbx_out_escaped(out, text, strlen(text), SBX_ESCAPE_JSON);
	sbx_out_str(out, "\"");
}

size_t sbx_out_finish(struct sbx_out *out)
{
	if (out->size > 0)
		out->text[out->len] = '\0';
	return out->want;
}
