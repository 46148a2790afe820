/* SPDX-License-Identifier: MIT */
/*
 * The strict line reader in front of inih.
 *
 * Invariants:
 *  1. inih sees only lines that are made here: "[section]" or "key=item", shorter than its buffer.
 *  2. Such an item holds no blank and no control character but the two that stand for blanks, so
 *     that nothing in it can be trimmed or taken for a comment or a continuation.
 *  3. What inih hands back is compared with what was sent. A difference ends the reading with an
 *     error, whatever the reason: other settings of the library, another version, a bug.
 *  4. Every byte of the file is looked at a fixed number of times, and nothing recurses.
 * A line that is wrong is reported and left out whole, except that each item of a list is judged by
 * itself. Must never touch inih's global variables: they belong to the whole process.
 */
#include "reader.h"

#include "out.h"

#include <errno.h>
#include <ini.h>
#include <search.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERRORS 1000 /* then the rest is taken for garbage */
#define MAX_WORD 50 /* longer than any section or key */
#define MAX_NAME 32 /* of [path NAME] */
#define ERROR_MAX 512

enum {
	SENT_SPACE = '\001',
	SENT_TAB = '\002'
};

struct span {
	const char *at;
	const char *end;
};

struct item {
	struct span raw; /* between the quotes where there are any */
	bool quoted;
	bool optional;
};

/* Where a [path NAME] section began; kept in a tree by name. */
struct mark {
	unsigned int line;
	char name[MAX_NAME + 1];
};

struct reader {
	const struct sbx_reader_ops *ops;
	void *arg;
	unsigned int errors;
	bool stopped; /* reading cannot go on */
	unsigned int line;
	struct span rest; /* lines not read yet */

	const char *section; /* as in keys.def; NULL where keys cannot be looked up */
	bool section_bad; /* and that was reported */
	unsigned int section_line;
	char name[MAX_NAME + 1];
	char header[MAX_WORD + 1]; /* "path NAME" or the section's name */
	void *marks;
	unsigned int first[SBX_KEY_COUNT]; /* the line that sets each scalar */

	enum sbx_key key;
	struct span value; /* what follows of the list; at == NULL when nothing does */

	bool sent; /* inih has a line that it has not handed back */
	struct item item; /* that one */
	char text[INI_MAX_LINE];
	char disguised[INI_MAX_LINE]; /* as inih was given it */
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static size_t span_len(struct span span)
{
	return (size_t)(span.end - span.at);
}

static struct span span_trim(struct span span)
{
	while (span.at < span.end && is_blank(*span.at))
		span.at++;
	while (span.end > span.at && is_blank(span.end[-1]))
		span.end--;
	return span;
}

/* False, and nothing is copied, when it does not fit. */
static bool span_copy(struct span span, char *out, size_t size)
{
	size_t len = span_len(span);

	if (len >= size)
		return false;
	memcpy(out, span.at, len);
	out[len] = '\0';
	return true;
}

static const char *shown(struct span span, char out[SBX_SHOWN_MAX])
{
	return sbx_shown(span.at, span_len(span), out);
}

static void complain(struct reader *reader, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void complain(struct reader *reader, const char *format, ...)
{
	char text[ERROR_MAX];
	va_list args;

	if (reader->stopped)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	reader->ops->error(reader->arg, reader->line, text);
	if (++reader->errors < MAX_ERRORS)
		return;
	reader->stopped = true;
	reader->ops->error(reader->arg, reader->line, "too many errors; the rest was not read");
}

/* For what a reader of the policy can do nothing about. */
static void give_up(struct reader *reader, const char *why)
{
	complain(reader, "%s", why);
	reader->stopped = true;
}

/* In a comment only that counts which would show its reader another text than is there. */
static bool is_harmless(uint32_t point)
{
	return !(point >= 0x2028 && point <= 0x202e) && !(point >= 0x2066 && point <= 0x2069) &&
	       point != 0x61c && point != 0x200e && point != 0x200f;
}

/* The length of the character at 'at', or 0 after a complaint. */
static size_t check_char(struct reader *reader, struct span line, const char *at)
{
	unsigned char c = (unsigned char)*at;
	bool comment = *line.at == '#' || *line.at == ';';
	size_t column = (size_t)(at - line.at) + 1;
	uint32_t point = c;
	size_t len = sbx_utf8_decode(at, (size_t)(line.end - at), &point);

	if (!c)
		complain(reader, "NUL byte in column %zu (a policy is plain text)", column);
	else if (!len)
		complain(reader, "byte '\\x%02x' in column %zu is not UTF-8", c, column);
	else if (point != '\t' && (point < 0x20 || (point >= 0x7f && point < 0xa0)))
		complain(reader, "control character '\\x%02x' in column %zu", point, column);
	else if (sbx_is_invisible(point) && c != '\t' && !(comment && is_harmless(point)))
		complain(reader, "invisible character U+%04X in column %zu", point, column);
	else
		return len;
	return 0;
}

/* How many bytes at the start of the line are plain ASCII, for certain: they come in eights. */
static size_t plain_length(struct span line)
{
	const uint64_t each = 0x0101010101010101u, high = 0x80 * each;
	const char *at = line.at;
	uint64_t word;

	for (; line.end - at >= (ptrdiff_t)sizeof(word); at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		/* The first byte that is none has its high bit set, or gets it: below ' ', DEL. */
		if ((word | (word - ' ' * each) | (word + each)) & high)
			break;
	}
	return (size_t)(at - line.at);
}

static bool check_bytes(struct reader *reader, struct span line)
{
	for (const char *at = line.at + plain_length(line); at < line.end;) {
		size_t len = (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x7f
				     ? 1
				     : check_char(reader, line, at);

		if (!len)
			return false;
		at += len;
	}
	return true;
}

static bool may_be_optional(enum sbx_key key)
{
	enum sbx_type type = sbx_keys[key].type;

	return type == SBX_TYPE_PATHS || type == SBX_TYPE_PATH || type == SBX_TYPE_INCLUDES ||
	       type == SBX_TYPE_PEERS;
}

/* Takes " ?" off the end. */
static bool take_optional(struct span *span)
{
	if (span_len(*span) < 2 || span->end[-1] != '?' || !is_blank(span->end[-2]))
		return false;
	span->end--;
	*span = span_trim(*span);
	return true;
}

static bool check_optional(struct reader *reader, const struct item *item)
{
	const struct sbx_keyinfo *key = &sbx_keys[reader->key];

	if (!item->optional)
		return true;
	if (key->type == SBX_TYPE_PEERS)
		complain(reader, "'%s' may name what is not there; leave ' ?' away", key->name);
	else if (key->type == SBX_TYPE_INCLUDES)
		complain(reader, "'%s' must exist; leave ' ?' away", key->name);
	else if (reader->key == SBX_KEY_paths_deny || reader->key == SBX_KEY_paths_hide)
		complain(reader, "'%s' may name what does not exist; leave ' ?' away", key->name);
	else
		return true;
	return false;
}

static void complain_comment(struct reader *reader, struct span comment)
{
	char text[SBX_SHOWN_MAX];

	complain(reader,
		 "comment behind a value: '%s' (a comment is a line of its own; quote the value if "
		 "it belongs to it)",
		 shown(comment, text));
}

/* Where the quoted text that begins at 'span.at' ends, or NULL after a complaint. */
static const char *find_closing(struct reader *reader, struct span span)
{
	char text[SBX_SHOWN_MAX];

	for (const char *at = span.at + 1; at < span.end; at++) {
		if (*at == '"')
			return at;
		if (*at != '\\' || at + 1 == span.end)
			continue;
		at++;
		if (*at != '"' && *at != '\\') {
			uint32_t point;
			size_t len = sbx_utf8_decode(at, (size_t)(span.end - at), &point);

			complain(reader, "unknown escape '\\%s' in quotes (only \\\" and \\\\)",
				 sbx_shown(at, len, text));
			return NULL;
		}
	}
	complain(reader, "unterminated quote: '%s'", shown(span, text));
	return NULL;
}

/* Text in quotes, and " ?" behind it. The value goes on at 'rest', which is empty or at a comma. */
static bool take_quoted(struct reader *reader, struct span *rest, struct item *item)
{
	bool list = sbx_type_is_list(sbx_keys[reader->key].type);
	const char *close = find_closing(reader, *rest);
	struct span behind;
	char text[SBX_SHOWN_MAX];

	if (!close)
		return false;
	*item = (struct item){ .raw = { rest->at + 1, close }, .quoted = true };
	rest->at = close + 1;
	behind = span_trim(*rest);
	if (may_be_optional(reader->key) && rest->at < behind.at && *behind.at == '?') {
		item->optional = true;
		rest->at = behind.at + 1;
		behind = span_trim(*rest);
	}
	if (behind.at == behind.end || (list && *behind.at == ',')) {
		*rest = behind;
		return true;
	}
	if (rest->at < behind.at && (*behind.at == ';' || *behind.at == '#'))
		complain_comment(reader, behind);
	else
		complain(reader, "text behind the closing quote: '%s'", shown(behind, text));
	return false;
}

/* The first byte that take_plain() has to look at; the end when there is none. */
static const char *first_special(struct span raw)
{
	for (const char *c = "\";#"; *c; c++) {
		const char *found = memchr(raw.at, *c, span_len(raw));

		raw.end = found ? found : raw.end;
	}
	return raw.end;
}

/* Up to the comma, or all of a scalar. */
static bool take_plain(struct reader *reader, struct span *rest, struct item *item)
{
	bool list = sbx_type_is_list(sbx_keys[reader->key].type);
	const char *comma = list ? memchr(rest->at, ',', span_len(*rest)) : NULL;
	struct span raw = span_trim((struct span){ rest->at, comma ? comma : rest->end });
	char text[SBX_SHOWN_MAX];

	rest->at = comma ? comma : rest->end;
	for (const char *at = first_special(raw); at < raw.end; at++) {
		if (*at == '"') {
			complain(reader, "quote inside '%s' (put quotes around the whole item)",
				 shown(raw, text));
			return false;
		}
		if ((*at == ';' || *at == '#') && (at == raw.at || is_blank(at[-1]))) {
			complain_comment(reader, (struct span){ at, raw.end });
			return false;
		}
	}
	*item = (struct item){ .raw = raw };
	if (may_be_optional(reader->key))
		item->optional = take_optional(&item->raw);
	return true;
}

/*
 * The next item of 'value', which moves behind it: to NULL at the end and after a complaint about
 * how it is written. A complaint about what the item says leaves the items behind it to be read.
 */
static bool take_item(struct reader *reader, struct span *value, struct item *item)
{
	struct span rest = span_trim(*value);
	bool list = sbx_type_is_list(sbx_keys[reader->key].type);
	bool taken;

	*value = (struct span){ NULL, NULL };
	if (rest.at == rest.end || (list && *rest.at == ',')) {
		complain(reader, "empty item in the list of '%s' (a comma too many?)",
			 sbx_keys[reader->key].name);
		return false;
	}
	taken = *rest.at == '"' ? take_quoted(reader, &rest, item)
				: take_plain(reader, &rest, item);
	if (!taken)
		return false;
	if (rest.at < rest.end)
		*value = (struct span){ rest.at + 1, rest.end };
	return check_optional(reader, item);
}

/* The item's text with its escapes resolved, in 'out', which has room for the raw one. */
static void resolve(const struct item *item, char *out)
{
	const char *at = item->raw.at, *escape;

	while (item->quoted && (escape = memchr(at, '\\', (size_t)(item->raw.end - at)))) {
		out = mempcpy(out, at, (size_t)(escape - at));
		*out++ = escape[1];
		at = escape + 2;
	}
	out = mempcpy(out, at, (size_t)(item->raw.end - at));
	*out = '\0';
}

/* How long that is: of two bytes of an escape one is left. */
static size_t resolved_length(const struct item *item)
{
	size_t len = span_len(item->raw);

	for (const char *at = item->raw.at; item->quoted && at < item->raw.end; at++) {
		len -= *at == '\\';
		at += *at == '\\';
	}
	return len;
}

/* An item that was read whole: its meaning is checked, and it goes to the caller. */
static void deliver(struct reader *reader, const struct item *item, const char *text)
{
	struct sbx_entry entry = {
		.line = reader->line,
		.key = reader->key,
		.name = reader->name,
		.section_line = reader->section_line,
		.text = text,
		.quoted = item->quoted,
		.optional = item->optional,
	};
	char why[256];

	if (sbx_value_parse(reader->key, text, &entry.value, why))
		complain(reader, "%s", why);
	else
		reader->ops->entry(reader->arg, &entry);
}

static int compare_marks(const void *a, const void *b)
{
	return strcmp(((const struct mark *)a)->name, ((const struct mark *)b)->name);
}

/* Remembers the [path NAME] that begins here, and complains when it did so before. */
static void mark_name(struct reader *reader)
{
	struct mark *mark = calloc(1, sizeof(*mark));
	struct mark **found;

	if (!mark) {
		give_up(reader, "out of memory");
		return;
	}
	mark->line = reader->line;
	memcpy(mark->name, reader->name, sizeof(mark->name));
	found = tsearch(mark, &reader->marks, compare_marks);
	if (!found || *found != mark)
		free(mark);
	if (!found)
		give_up(reader, "out of memory");
	else if (*found != mark)
		complain(reader, "section [path %s] stands twice (first in line %u)", reader->name,
			 (*found)->line);
}

static bool is_name(struct span name)
{
	for (const char *at = name.at; at < name.end; at++)
		if (!(*at >= 'a' && *at <= 'z') && !(*at >= 'A' && *at <= 'Z') &&
		    !(*at >= '0' && *at <= '9') && *at != '_' && *at != '.' && *at != '-')
			return false;
	return name.at < name.end && span_len(name) <= MAX_NAME;
}

static void begin_path(struct reader *reader, struct span name)
{
	char text[SBX_SHOWN_MAX];

	if (name.at == name.end) {
		complain(reader, "section [path] needs a name ([path NAME])");
		return;
	}
	if (!is_name(name)) {
		complain(reader,
			 "bad name '%s' in [path NAME] (letters, digits, '_', '.' and '-', at most "
			 "%d)",
			 shown(name, text), MAX_NAME);
		return;
	}
	span_copy(name, reader->name, sizeof(reader->name));
	snprintf(reader->header, sizeof(reader->header), "path %s", reader->name);
	reader->section = "path";
	mark_name(reader);
	for (size_t i = 0; i < SBX_KEY_COUNT; i++)
		if (!strcmp(sbx_keys[i].section, "path"))
			reader->first[i] = 0;
	reader->ops->section(reader->arg, reader->line, reader->name);
}

/* The table's own spelling, which lasts; NULL when there is no such section. */
static const char *known_section(struct span word)
{
	char text[MAX_WORD];

	if (!span_copy(word, text, sizeof(text)))
		return NULL;
	for (size_t i = 0; i < SBX_KEY_COUNT; i++)
		if (!strcmp(sbx_keys[i].section, text))
			return sbx_keys[i].section;
	return NULL;
}

static void complain_section(struct reader *reader, struct span inside, struct span word)
{
	char text[SBX_SHOWN_MAX], copy[MAX_WORD];
	const char *nearest = span_copy(word, copy, sizeof(copy)) ? sbx_section_near(copy) : NULL;

	shown(inside, text);
	if (inside.at == inside.end)
		complain(reader, "empty section name '[]'");
	else if (known_section(word))
		complain(reader, "unknown section '%s' ([%s] takes no name)", text, copy);
	else if (nearest)
		complain(reader, "unknown section '%s' (did you mean '%s%s'?)", text, nearest,
			 strcmp(nearest, "path") ? "" : " NAME");
	else
		complain(reader, "unknown section '%s'", text);
}

static void begin_section(struct reader *reader, struct span inside)
{
	struct span word = { inside.at, inside.at };
	const char *known;

	while (word.end < inside.end && !is_blank(*word.end))
		word.end++;
	known = known_section(word);
	reader->section = NULL;
	reader->section_line = reader->line;
	reader->name[0] = '\0';
	if (known && !strcmp(known, "path")) {
		begin_path(reader, span_trim((struct span){ word.end, inside.end }));
	} else if (known && word.end == inside.end) {
		reader->section = known;
		snprintf(reader->header, sizeof(reader->header), "%s", known);
	} else {
		complain_section(reader, inside, word);
	}
	reader->section_bad = !reader->section;
}

/* True when a line for inih is in 'out'. */
static bool read_section(struct reader *reader, struct span line, char *out, size_t size)
{
	const char *close = memchr(line.at, ']', span_len(line));
	struct span inside, behind;
	char text[SBX_SHOWN_MAX];

	if (!close) {
		complain(reader, "no ']' behind '%s'", shown(line, text));
		reader->section = NULL;
		reader->section_bad = true;
		return false;
	}
	behind = span_trim((struct span){ close + 1, line.end });
	if (behind.at < behind.end)
		complain(reader, "text behind ']': '%s' (a comment is a line of its own)",
			 shown(behind, text));
	inside = span_trim((struct span){ line.at + 1, close });
	if (span_len(inside) != (size_t)(close - line.at) - 1)
		complain(reader, "blank beside the brackets of '[%s]'", shown(inside, text));
	begin_section(reader, inside);
	if (!reader->section)
		return false;
	return snprintf(out, size, "[%s]\n", reader->header) < (int)size;
}

/* Every section that has a key of this name, as "[a], [b]"; empty when none has. */
static void list_homes(const char *name, char *out, size_t size)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < SBX_KEY_COUNT; i++) {
		const char *section = sbx_keys[i].section;

		if (strcmp(sbx_keys[i].name, name) != 0)
			continue;
		snprintf(out + used, size - used, "%s[%s%s]", used ? " or " : "", section,
			 strcmp(section, "path") ? "" : " NAME");
		used += strlen(out + used);
	}
}

static void complain_key(struct reader *reader, struct span key)
{
	char text[SBX_SHOWN_MAX], copy[MAX_WORD], where[MAX_WORD + 20] = "before any section";
	char homes[128] = "";
	const char *nearest = NULL;

	if (span_copy(key, copy, sizeof(copy))) {
		list_homes(copy, homes, sizeof(homes));
		nearest = reader->section ? sbx_key_near(reader->section, copy) : NULL;
	}
	if (reader->section)
		snprintf(where, sizeof(where), "in [%s]", reader->header);
	shown(key, text);
	if (*homes)
		complain(reader, "%s '%s' %s (it belongs in %s)",
			 reader->section ? "unknown key" : "key", text, where, homes);
	else if (nearest)
		complain(reader, "unknown key '%s' %s (did you mean '%s'?)", text, where, nearest);
	else
		complain(reader, "unknown key '%s' %s", text, where);
}

/* Finds the key, or complains. */
static bool find_key(struct reader *reader, struct span name)
{
	char text[MAX_WORD];
	enum sbx_key key = SBX_KEY_COUNT;

	if (reader->section && span_copy(name, text, sizeof(text)))
		key = sbx_key_find(reader->section, text);
	if (key == SBX_KEY_COUNT) {
		if (!reader->section_bad)
			complain_key(reader, name);
		return false;
	}
	reader->key = key;
	return true;
}

static bool check_twice(struct reader *reader)
{
	unsigned int *first = &reader->first[reader->key];

	if (sbx_type_is_list(sbx_keys[reader->key].type))
		return true;
	if (*first) {
		complain(reader, "'%s' is set twice (first in line %u)", sbx_keys[reader->key].name,
			 *first);
		return false;
	}
	*first = reader->line;
	return true;
}

/* Takes a line apart; its items are then in reader->value. */
static void read_key(struct reader *reader, struct span line)
{
	const char *equals = memchr(line.at, '=', span_len(line));
	struct span key = { line.at, equals ? equals : line.end };
	const char *colon = memchr(key.at, ':', span_len(key));
	struct span value = span_trim((struct span){ equals ? equals + 1 : line.end, line.end });
	char text[SBX_SHOWN_MAX];

	if (colon) {
		key.end = colon;
		complain(reader, "':' instead of '=' behind '%s' (a line is: key = value)",
			 shown(span_trim(key), text));
		return;
	}
	key = span_trim(key);
	if (!equals)
		complain(reader, "no '=' in '%s' (a line is: key = value)", shown(key, text));
	else if (key.at == key.end)
		complain(reader, "no key before '='");
	else if (!find_key(reader, key))
		return;
	else if (value.at == value.end)
		complain(reader, "'%s' has no value", sbx_keys[reader->key].name);
	else if (check_twice(reader))
		reader->value = value;
}

static bool take_line(struct reader *reader, struct span *line)
{
	const char *newline;

	if (reader->stopped || reader->rest.at == reader->rest.end)
		return false;
	newline = memchr(reader->rest.at, '\n', span_len(reader->rest));
	*line = (struct span){ reader->rest.at, newline ? newline : reader->rest.end };
	reader->rest.at = newline ? newline + 1 : reader->rest.end;
	if (newline && line->end > line->at && line->end[-1] == '\r')
		line->end--;
	reader->line++;
	return true;
}

/* True when a line for inih is in 'out'. */
static bool read_line(struct reader *reader, struct span line, char *out, size_t size)
{
	struct span trimmed = span_trim(line);
	char text[SBX_SHOWN_MAX];

	if (trimmed.at == trimmed.end || !check_bytes(reader, line))
		return false;
	if (trimmed.at != line.at)
		complain(reader, "blank before '%s' (lines begin in the first column)",
			 shown(trimmed, text));
	else if (*line.at == '[')
		return read_section(reader, trimmed, out, size);
	else if (*line.at != '#' && *line.at != ';')
		read_key(reader, trimmed);
	return false;
}

/* Blanks travel in disguise. */
static void disguise(char *text, size_t len, char blank, char sent)
{
	for (char *at = text; (at = memchr(at, blank, (size_t)(text + len - at)));)
		*at++ = sent;
}

/* True when a line for inih is in 'out', which has INI_MAX_LINE bytes or more. */
static bool send_item(struct reader *reader, char *out)
{
	const char *key = sbx_keys[reader->key].name;
	size_t key_len = strlen(key);
	size_t limit = INI_MAX_LINE - key_len - sizeof("=\n");
	size_t len;

	if (!take_item(reader, &reader->value, &reader->item))
		return false;
	len = resolved_length(&reader->item);
	if (len > limit) {
		complain(reader, "%s'%s' is %zu bytes long (the limit is %zu bytes)",
			 sbx_type_is_list(sbx_keys[reader->key].type) ? "an item of " : "", key,
			 len, limit);
		return false;
	}
	resolve(&reader->item, reader->text);
	memcpy(reader->disguised, reader->text, len + 1);
	disguise(reader->disguised, len, ' ', SENT_SPACE);
	disguise(reader->disguised, len, '\t', SENT_TAB);
	out = mempcpy(out, key, key_len);
	*out++ = '=';
	out = mempcpy(out, reader->disguised, len);
	memcpy(out, "\n", 2);
	reader->sent = true;
	return true;
}

static void misread(struct reader *reader)
{
	give_up(reader, "the INI library misreads this line (nothing behind it was read)");
}

/* inih's source of lines. */
static char *feed(char *out, int size, void *arg)
{
	struct reader *reader = arg;
	struct span line;

	if (reader->sent)
		misread(reader);
	if (size < INI_MAX_LINE)
		give_up(reader,
			"the INI library is set up for shorter lines than it was built for");
	while (!reader->stopped) {
		if (reader->value.at) {
			if (send_item(reader, out))
				return out;
		} else if (!take_line(reader, &line)) {
			return NULL;
		} else if (read_line(reader, line, out, (size_t)size)) {
			return out;
		}
	}
	return NULL;
}

/* inih's handler: what comes back must be what went in. */
static int receive(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *reader = arg;

	/* Some builds of inih announce sections. */
	if (!reader->sent && !key)
		return 1;
	if (!reader->sent || !key || !value || strcmp(section, reader->header) != 0 ||
	    strcmp(key, sbx_keys[reader->key].name) != 0 || strcmp(value, reader->disguised) != 0) {
		misread(reader);
		return 0;
	}
	reader->sent = false;
	deliver(reader, &reader->item, reader->text);
	return 1;
}

int sbx_read_text(const char *text, size_t size, const struct sbx_reader_ops *ops, void *arg)
{
	static const char bom[] = "\xef\xbb\xbf";
	struct reader reader = { .ops = ops, .arg = arg, .rest = { text, text + size } };
	size_t skip = size >= 3 && !memcmp(text, bom, 3) ? 3 : 0;
	int result;

	reader.rest.at += skip;
	result = ini_parse_stream(feed, &reader, receive, &reader);
	if (reader.sent || (result && !reader.errors))
		misread(&reader);
	tdestroy(reader.marks, free);
	return reader.errors ? -EINVAL : 0;
}

/* No INI here, so none of inih's limits either. */
int sbx_read_value(enum sbx_key key, const char *value, const struct sbx_reader_ops *ops, void *arg)
{
	struct reader reader = { .ops = ops, .arg = arg, .key = key };
	struct span line = { value, value + strlen(value) };
	char *text = malloc(span_len(line) + 1);

	if (!text)
		give_up(&reader, "out of memory");
	else if (check_bytes(&reader, line)) {
		reader.value = span_trim(line);
		if (reader.value.at == reader.value.end) {
			complain(&reader, "'%s' has no value", sbx_keys[key].name);
			reader.value.at = NULL;
		}
	}
	while (reader.value.at && !reader.stopped) {
		if (!take_item(&reader, &reader.value, &reader.item))
			continue;
		resolve(&reader.item, text);
		deliver(&reader, &reader.item, text);
	}
	free(text);
	return reader.errors ? -EINVAL : 0;
}
