/* SPDX-License-Identifier: MIT */
/*
 * What single values of the policy file mean: the table of keys, and one parser for each type.
 *
 * Every complaint names its key. A value that may hold a password (a proxy's URL, what a variable
 * is set to) is never repeated in one. Nothing here may guess: what is not written exactly as
 * documented is refused.
 */
#include "values.h"

#include "out.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine.h"
#include "peer.h"

#define WHY_MAX 256
#define WORD_MAX 64
#define VARIABLE_HINT "letters, digits and '_', not beginning with a digit"

const struct sbx_keyinfo sbx_keys[SBX_KEY_COUNT] = {
#define KEY(in, key, kind, list, value, described, flag, text) \
	[SBX_KEY_##in##_##key] = { #in, #key, SBX_TYPE_##kind, list, value, described, flag, text },
#include "keys.def"
};

/* The characters that each kind of name may have, beside letters and digits. */
struct alphabet {
	bool upper;
	const char *also;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char to_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_letter(char c)
{
	return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Whether one or more characters, all of the alphabet, are there. */
static bool is_made_of(const char *text, size_t len, const struct alphabet *alphabet)
{
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (is_digit(c) || (is_letter(c) && (alphabet->upper || c == to_lower(c))))
			continue;
		if (!c || !strchr(alphabet->also, c))
			return false;
	}
	return len > 0;
}

const char *sbx_shown(const char *text, size_t len, char out[SBX_SHOWN_MAX])
{
	static const char cut[] = "…";
	size_t used = 0;

	for (size_t i = 0; i < len;) {
		uint32_t point;
		size_t bytes = sbx_utf8_decode(text + i, len - i, &point);
		bool plain = bytes && !sbx_is_invisible(point);
		char piece[5];

		if (!plain) {
			snprintf(piece, sizeof(piece), "\\x%02x", (unsigned char)text[i]);
			bytes = 4;
		}
		if (used + bytes > SBX_SHOWN_MAX - sizeof(cut)) {
			memcpy(out + used, cut, sizeof(cut));
			return out;
		}
		memcpy(out + used, plain ? text + i : piece, bytes);
		used += bytes;
		i += plain ? bytes : 1;
	}
	out[used] = '\0';
	return out;
}

bool sbx_word_at(const char *words, size_t n, char *out, size_t size)
{
	size_t len = strcspn(words, "|");

	for (; n; n--) {
		if (!words[len])
			return false;
		words += len + 1;
		len = strcspn(words, "|");
	}
	if (!len || len >= size)
		return false;
	memcpy(out, words, len);
	out[len] = '\0';
	return true;
}

static unsigned int min_of(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Restricted Damerau-Levenshtein, three rows of it. Words beyond WORD_MAX are all different. */
unsigned int sbx_distance(const char *a, const char *b)
{
	size_t a_len = strlen(a);
	size_t b_len = strlen(b);
	unsigned int rows[3][WORD_MAX + 1];

	if (a_len > WORD_MAX || b_len > WORD_MAX)
		return (unsigned int)(a_len > b_len ? a_len : b_len);
	for (unsigned int j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++) {
		unsigned int *row = rows[i % 3];
		const unsigned int *above = rows[(i + 2) % 3];
		const unsigned int *two_above = rows[(i + 1) % 3];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= b_len; j++) {
			unsigned int best = above[j - 1] + (a[i - 1] != b[j - 1]);

			best = min_of(best, above[j] + 1);
			best = min_of(best, row[j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = min_of(best, two_above[j - 2] + 1);
			row[j] = best;
		}
	}
	return rows[a_len % 3][b_len];
}

bool sbx_distance_is_near(unsigned int distance, size_t len)
{
	size_t most = len < 5 ? 1 : len < 8 ? 2 : 3;

	return distance < len && distance <= most;
}

/* The best of several words, offered one after another. */
struct search {
	char word[WORD_MAX + 1]; /* in lower case; empty when it is too long to be like anything */
	const char *best;
	unsigned int distance;
};

static void search_begin(struct search *search, const char *word)
{
	size_t len = strlen(word);

	*search = (struct search){ .distance = UINT32_MAX };
	for (size_t i = 0; len <= WORD_MAX && i < len; i++)
		search->word[i] = to_lower(word[i]);
}

/* Whether it is nearer than all before it. */
static bool search_offer(struct search *search, const char *known)
{
	unsigned int distance = sbx_distance(search->word, known);

	if (distance >= search->distance || !sbx_distance_is_near(distance, strlen(known)))
		return false;
	search->distance = distance;
	search->best = known;
	return true;
}

bool sbx_type_is_list(enum sbx_type type)
{
	static const bool lists[SBX_TYPE_COUNT] = {
#define TYPE(id, list, shown) [SBX_TYPE_##id] = list,
		SBX_TYPES(TYPE)
#undef TYPE
	};

	return lists[type];
}

enum sbx_key sbx_key_find(const char *section, const char *name)
{
	unsigned int key = 0;

	/* Every line of a policy asks: most rows are told apart by the first letter. */
	while (key < SBX_KEY_COUNT &&
	       (sbx_keys[key].name[0] != name[0] || strcmp(sbx_keys[key].name, name) != 0 ||
		strcmp(sbx_keys[key].section, section) != 0))
		key++;
	return (enum sbx_key)key;
}

const char *sbx_key_near(const char *section, const char *name)
{
	struct search search;

	search_begin(&search, name);
	for (size_t i = 0; i < SBX_KEY_COUNT; i++)
		if (!strcmp(sbx_keys[i].section, section))
			search_offer(&search, sbx_keys[i].name);
	return search.best;
}

const char *sbx_section_near(const char *section)
{
	struct search search;

	search_begin(&search, section);
	for (size_t i = 0; i < SBX_KEY_COUNT; i++)
		search_offer(&search, sbx_keys[i].section);
	return search.best;
}

/* A value on its way through its parser. */
struct parse {
	const struct sbx_keyinfo *key;
	const char *text;
	uint64_t value;
	char *why;
};

/* Adds what fits to the complaint, and returns it. */
static const char *say(const struct parse *parse, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *say(const struct parse *parse, const char *format, ...)
{
	size_t used = strlen(parse->why);
	va_list args;

	va_start(args, format);
	vsnprintf(parse->why + used, WHY_MAX - used, format, args);
	va_end(args);
	return parse->why;
}

/* bad KIND 'TEXT' for 'KEY' (HINT) */
static const char *bad(const struct parse *parse, const char *kind, const char *hint)
{
	char shown[SBX_SHOWN_MAX];

	sbx_shown(parse->text, strlen(parse->text), shown);
	return say(parse, "bad %s '%s' for '%s' (%s)", kind, shown, parse->key->name, hint);
}

/* Which of "a|b|c" the 'len' bytes of 'text' are; -1 when they are none of them. */
static int word_find(const char *words, const char *text, size_t len)
{
	char word[WORD_MAX];

	for (int n = 0; sbx_word_at(words, (size_t)n, word, sizeof(word)); n++)
		if (strlen(word) == len && !memcmp(word, text, len))
			return n;
	return -1;
}

/* Which of "a|b|c" is most like 'text'; -1 when none is. */
static int word_near(const char *words, const char *text)
{
	struct search search;
	char word[WORD_MAX];
	int nearest = -1;

	search_begin(&search, text);
	for (int n = 0; sbx_word_at(words, (size_t)n, word, sizeof(word)); n++)
		if (search_offer(&search, word))
			nearest = n;
	return nearest;
}

/* unknown WHAT 'TEXT' for 'KEY' (did you mean 'WORD'? possible: A, B, C) */
static const char *unknown_word(const struct parse *parse, const char *what, const char *words,
				size_t len)
{
	char shown[SBX_SHOWN_MAX] = "", word[WORD_MAX];
	int nearest = word_near(words, sbx_shown(parse->text, len, shown));

	say(parse, "unknown %s '%s' for '%s' (", what, shown, parse->key->name);
	if (nearest >= 0 && sbx_word_at(words, (size_t)nearest, word, sizeof(word)))
		say(parse, "did you mean '%s'? ", word);
	for (size_t n = 0; sbx_word_at(words, n, word, sizeof(word)); n++)
		say(parse, "%s%s", n ? ", " : "possible: ", word);
	return say(parse, ")");
}

static const char *parse_filled(struct parse *parse)
{
	if (*parse->text)
		return NULL;
	return say(parse, "'%s' has an empty value", parse->key->name);
}

static const char *parse_text(struct parse *parse)
{
	(void)parse;
	return NULL;
}

static const char *parse_name(struct parse *parse)
{
	static const struct alphabet alphabet = { true, "_.-" };

	if (parse->text[0] != '-' && is_made_of(parse->text, strlen(parse->text), &alphabet))
		return NULL;
	return bad(parse, "name", "letters, digits, '_', '.' and '-', not beginning with '-'");
}

static const char *parse_word(struct parse *parse)
{
	const char *words = parse->key->words;
	int n = word_find(words, parse->text, strlen(parse->text));

	if (n < 0)
		return unknown_word(parse, "word", words, strlen(parse->text));
	parse->value = (uint64_t)n;
	return NULL;
}

static const char *parse_switch(struct parse *parse)
{
	static const char words[] = "yes|no|on|off|true|false";
	int n = word_find(words, parse->text, strlen(parse->text));

	if (n < 0)
		return unknown_word(parse, "word", words, strlen(parse->text));
	parse->value = n % 2 == 0;
	return NULL;
}

static const char *parse_suffix(struct parse *parse)
{
	const char *text = parse->text;

	if (strpbrk(text, "*?"))
		return bad(parse, "suffix", "it stands for the end of a name: .md, not *.md");
	if (strchr(text, '/'))
		return bad(parse, "suffix", "it is the end of a name, without '/'");
	if (text[0] != '.' || !text[1])
		return bad(parse, "suffix", "it begins with a dot: .md");
	return NULL;
}

struct unit {
	const char *name;
	uint64_t factor;
};

/* A kind of amount: its units and its words. The row without a name ends the units. */
struct measure {
	const char *kind;
	const char *hint;
	const char *fraction;
	uint64_t max;
	bool any_case;
	uint64_t bare; /* what a number without a unit counts */
	struct unit units[16];
};

#define KILO (UINT64_C(1) << 10)
#define MEGA (UINT64_C(1) << 20)
#define GIGA (UINT64_C(1) << 30)
#define TERA (UINT64_C(1) << 40)

static const struct measure sizes = {
	.kind = "size",
	.hint = "512k, 512M, 1G or 1T; a bare number is bytes",
	.fraction = "fractions are not read; use a smaller unit: 1536M",
	.max = INT64_MAX,
	.any_case = true,
	.bare = 1,
	.units = {
		{ "k", KILO }, { "kb", KILO }, { "kib", KILO },
		{ "m", MEGA }, { "mb", MEGA }, { "mib", MEGA },
		{ "g", GIGA }, { "gb", GIGA }, { "gib", GIGA },
		{ "t", TERA }, { "tb", TERA }, { "tib", TERA },
	},
};

static const struct measure durations = {
	.kind = "duration",
	.hint = "500ms, 60s, 5m or 1h; a bare number is seconds",
	.fraction = "fractions are not read; use a smaller unit: 1500ms",
	.max = INT64_MAX,
	.bare = 1000,
	.units = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 } },
};

static const struct measure numbers = {
	.kind = "number",
	.hint = "digits only",
	.fraction = "digits only",
	.max = INT32_MAX,
	.bare = 1,
};

/* What one of the unit is worth, or 0. */
static uint64_t unit_factor(const struct measure *measure, const char *text)
{
	if (!*text)
		return measure->bare;
	for (const struct unit *unit = measure->units; unit->name; unit++) {
		size_t i = 0;

		while (text[i] &&
		       unit->name[i] == (measure->any_case ? to_lower(text[i]) : text[i]))
			i++;
		if (!text[i] && !unit->name[i])
			return unit->factor;
	}
	return 0;
}

static bool is_fraction(const char *unit)
{
	return (unit[0] == '.' || unit[0] == ',') && is_digit(unit[1]);
}

static const char *parse_amount(struct parse *parse, const struct measure *measure)
{
	const char *at = parse->text;
	bool negative = *at == '-';
	bool overflow = false;
	uint64_t value = 0;
	uint64_t factor;
	char shown[SBX_SHOWN_MAX];

	at += negative;
	if (!is_digit(*at))
		return bad(parse, measure->kind, measure->hint);
	for (; is_digit(*at); at++)
		overflow |= __builtin_mul_overflow(value, 10, &value) ||
			    __builtin_add_overflow(value, (uint64_t)(*at - '0'), &value);
	if (is_fraction(at))
		return bad(parse, measure->kind, measure->fraction);
	factor = unit_factor(measure, at);
	if (!factor)
		return bad(parse, measure->kind, measure->hint);
	overflow |= __builtin_mul_overflow(value, factor, &value) || value > measure->max;
	if (negative || (!value && !overflow))
		return say(parse, "'%s' must be at least 1", parse->key->name);
	if (overflow)
		return say(parse, "'%s' is too large for '%s'",
			   sbx_shown(parse->text, strlen(parse->text), shown), parse->key->name);
	parse->value = value;
	return NULL;
}

static const char *parse_size(struct parse *parse)
{
	return parse_amount(parse, &sizes);
}

static const char *parse_duration(struct parse *parse)
{
	return parse_amount(parse, &durations);
}

static const char *parse_number(struct parse *parse)
{
	return parse_amount(parse, &numbers);
}

static const char *parse_peer(struct parse *parse)
{
	char shown[SBX_SHOWN_MAX];
	struct sbx_peer peer;
	bool binds = parse->key == &sbx_keys[SBX_KEY_network_bind];
	const char *wrong = binds ? sbx_peer_parse_bind(parse->text, &peer)
				  : sbx_peer_parse(parse->text, &peer);

	if (!wrong && binds && peer.kind == SBX_PEER_UNIX)
		wrong = "a socket file is allowed by its folder (write = FOLDER in [paths])";
	if (!wrong && parse->key == &sbx_keys[SBX_KEY_network_connect] &&
	    peer.kind != SBX_PEER_UNIX && !peer.high)
		wrong = "port 0 is for bind only";
	if (!wrong)
		return NULL;
	sbx_shown(parse->text, strlen(parse->text), shown);
	return say(parse, "bad destination '%s' for '%s': %s", shown, parse->key->name, wrong);
}

/* ":PORT" or nothing. */
static bool is_port_part(const char *text)
{
	unsigned int port = 0;

	if (!*text)
		return true;
	if (*text++ != ':' || *text == '0')
		return false;
	for (; is_digit(*text) && port <= UINT16_MAX; text++)
		port = port * 10 + (unsigned int)(*text - '0');
	return !*text && port && port <= UINT16_MAX;
}

static bool is_v6(const char *text, size_t len)
{
	struct sbx_addr addr;

	return memchr(text, ':', len) && sbx_addr_parse(text, len, &addr);
}

static const char *parse_address(struct parse *parse)
{
	const char *text = parse->text;
	struct sbx_addr addr;
	size_t len;

	if (sbx_addr_parse(text, strlen(text), &addr))
		return NULL;
	len = strcspn(text, text[0] == '[' ? "]" : ":");
	if (text[0] == '[' && text[len] && is_v6(text + 1, len - 1) && is_port_part(text + len + 1))
		return NULL;
	if (text[0] != '[' && sbx_addr_parse(text, len, &addr) && is_port_part(text + len))
		return NULL;
	return bad(parse, "address", "an IP address: 1.1.1.1, 1.1.1.1:53, ::1 or [::1]:53");
}

/* Passwords may stand in it, so the text is not shown. */
static const char *bad_url(const struct parse *parse, const char *hint)
{
	return say(parse, "bad URL for '%s' (%s)", parse->key->name, hint);
}

/* HOST, HOST:PORT, with an address for HOST, or [IPV6]; at most one '/' behind. */
static const char *parse_authority(const struct parse *parse, const char *text, size_t len)
{
	char host[SBX_HOST_MAX], port[8] = "";
	struct sbx_addr addr;
	bool bracket = len && text[0] == '[';
	const char *close = bracket ? memchr(text, ']', len) : NULL;
	const char *colon = bracket ? close : memchr(text, ':', len);
	size_t host_len = colon ? (size_t)(colon - text) : len;
	size_t port_at = host_len + (close ? 1 : 0);

	if (bracket && (!close || !is_v6(text + 1, host_len - 1)))
		return bad_url(parse, "an IPv6 address stands in brackets: http://[::1]:3128");
	if (!bracket && !sbx_addr_parse(text, host_len, &addr) &&
	    sbx_host_normalize(text, host_len, host))
		return bad_url(parse, "no host: http://proxy.example.org:3128");
	if (len - port_at >= sizeof(port))
		return bad_url(parse, "the port is a number from 1 to 65535");
	memcpy(port, text + port_at, len - port_at);
	if (strlen(port) != len - port_at || !is_port_part(port))
		return bad_url(parse, "the port is a number from 1 to 65535");
	return NULL;
}

static bool is_visible(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text <= ' ' || (unsigned char)*text >= 0x7f)
			return false;
	return true;
}

static const char *parse_url(struct parse *parse)
{
	static const char *const schemes[] = { "http://", "https://", "socks5://", "socks5h://" };
	const char *at = NULL;
	const char *user;
	size_t len;

	for (size_t i = 0; !at && i < sizeof(schemes) / sizeof(schemes[0]); i++)
		if (!strncmp(parse->text, schemes[i], strlen(schemes[i])))
			at = parse->text + strlen(schemes[i]);
	if (!at)
		return bad_url(parse, "it begins with http://, https://, socks5:// or socks5h://");
	if (!is_visible(at))
		return bad_url(parse, "blanks and special characters are written %20");
	len = strcspn(at, "/?#");
	if (at[len] && strcmp(at + len, "/") != 0)
		return bad_url(parse,
			       "nothing follows host and port: http://proxy.example.org:3128");
	user = memrchr(at, '@', len);
	if (user && (user == at || memchr(at, '@', (size_t)(user - at))))
		return bad_url(parse, "one '@' ends USER:PASSWORD; another one is written %40");
	if (user) {
		len -= (size_t)(user + 1 - at);
		at = user + 1;
	}
	return parse_authority(parse, at, len);
}

static const char *parse_syscall(struct parse *parse)
{
	static const struct alphabet alphabet = { false, "_" };
	const char *name = parse->text + (parse->text[0] == '@');

	if (is_made_of(name, strlen(name), &alphabet))
		return NULL;
	return bad(parse, "system call", "a name such as ptrace, or a group such as @debug");
}

static bool is_variable(const char *text, size_t len, const char *also)
{
	const struct alphabet alphabet = { true, also };

	return is_made_of(text, len, &alphabet) && !is_digit(text[0]);
}

/* What stands behind '=' may be a secret and is not shown. */
static const char *bad_variable(const struct parse *parse, const char *hint)
{
	char shown[SBX_SHOWN_MAX];
	size_t len = strcspn(parse->text, "=");

	return say(parse, "bad variable '%s' for '%s' (%s)", sbx_shown(parse->text, len, shown),
		   parse->key->name, parse->text[len] ? "a name, without '='" : hint);
}

static const char *parse_pattern(struct parse *parse)
{
	if (is_variable(parse->text, strlen(parse->text), "_*"))
		return NULL;
	return bad_variable(parse, "letters, digits, '_' and '*', not beginning with a digit");
}

static const char *parse_variable(struct parse *parse)
{
	if (is_variable(parse->text, strlen(parse->text), "_"))
		return NULL;
	return bad_variable(parse, VARIABLE_HINT);
}

static const char *parse_assign(struct parse *parse)
{
	size_t len = strcspn(parse->text, "=");
	char shown[SBX_SHOWN_MAX];

	if (!parse->text[len])
		return say(parse, "no '=' in an item of '%s' (NAME=VALUE)", parse->key->name);
	if (is_variable(parse->text, len, "_"))
		return NULL;
	return say(parse, "bad variable '%s' for '%s' (" VARIABLE_HINT ")",
		   sbx_shown(parse->text, len, shown), parse->key->name);
}

static const char *parse_case(struct parse *parse)
{
	static const char words[] =
#define OP(id, name, ...) name "|"
#include "ops.def"
		;
	size_t len = strcspn(parse->text, " \t");
	const char *target = parse->text + len;
	int op = sbx_op_find(parse->text, len);

	if (op < 0)
		return unknown_word(parse, "operation", words, len);
	while (is_blank(*target))
		target++;
	if (!*target)
		return bad(parse, "case", "OP TARGET, such as read ./file");
	parse->value = (uint64_t)op;
	return NULL;
}

/* clang-format off */
static const char *(*const parsers[SBX_TYPE_COUNT])(struct parse *) = {
	[SBX_TYPE_INCLUDES] = parse_filled,
	[SBX_TYPE_PATHS] = parse_filled,
	[SBX_TYPE_PATH] = parse_filled,
	[SBX_TYPE_NAME] = parse_name,
	[SBX_TYPE_WORD] = parse_word,
	[SBX_TYPE_WORDS] = parse_word,
	[SBX_TYPE_SWITCH] = parse_switch,
	[SBX_TYPE_SUFFIXES] = parse_suffix,
	[SBX_TYPE_SIZE] = parse_size,
	[SBX_TYPE_DURATION] = parse_duration,
	[SBX_TYPE_NUMBER] = parse_number,
	[SBX_TYPE_TEXT] = parse_text,
	[SBX_TYPE_PEERS] = parse_peer,
	[SBX_TYPE_ADDRESS] = parse_address,
	[SBX_TYPE_URL] = parse_url,
	[SBX_TYPE_SYSCALLS] = parse_syscall,
	[SBX_TYPE_PATTERNS] = parse_pattern,
	[SBX_TYPE_ASSIGNS] = parse_assign,
	[SBX_TYPE_NAMES] = parse_variable,
	[SBX_TYPE_CASES] = parse_case,
};
/* clang-format on */

const char *sbx_value_parse(enum sbx_key key, const char *text, uint64_t *value, char why[256])
{
	struct parse parse = { .key = &sbx_keys[key], .text = text, .why = why };
	const char *wrong;

	why[0] = '\0';
	wrong = parsers[sbx_keys[key].type](&parse);
	if (!wrong)
		*value = parse.value;
	return wrong;
}

const char *sbx_value_public(enum sbx_key key, const char *text, char out[SBX_PUBLIC_MAX])
{
	bool is_url = sbx_keys[key].type == SBX_TYPE_URL;
	const char *scheme = is_url ? strstr(text, "://") : NULL;
	const char *at = is_url ? strrchr(text, '@') : NULL;

	if (!scheme || !at || at < scheme)
		return text;
	(void)snprintf(out, SBX_PUBLIC_MAX, "%.*s...%s", (int)(scheme + 3 - text), text, at);
	return out;
}
