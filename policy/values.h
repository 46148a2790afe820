/* SPDX-License-Identifier: MIT */
/*
 * Compile side: what single values of the policy file mean, and the table of keys.
 */
#ifndef SBX_VALUES_H
#define SBX_VALUES_H

#include "image.h"

/* TYPE(id, is a list, how people call it) */
#define SBX_TYPES(TYPE)                                    \
	TYPE(INCLUDES, true, "profile names or files")     \
	TYPE(PATHS, true, "paths")                         \
	TYPE(PATH, false, "path")                          \
	TYPE(NAME, false, "name")                          \
	TYPE(WORD, false, "word")                          \
	TYPE(WORDS, true, "words")                         \
	TYPE(SWITCH, false, "yes or no")                   \
	TYPE(SUFFIXES, true, "suffixes")                   \
	TYPE(SIZE, false, "size")                          \
	TYPE(DURATION, false, "duration")                  \
	TYPE(NUMBER, false, "number")                      \
	TYPE(TEXT, false, "text")                          \
	TYPE(PEERS, true, "destinations")                  \
	TYPE(ADDRESS, false, "address")                    \
	TYPE(URL, false, "URL")                            \
	TYPE(SYSCALLS, true, "system calls or @groups")    \
	TYPE(PATTERNS, true, "variable names or patterns") \
	TYPE(ASSIGNS, true, "NAME=VALUE")                  \
	TYPE(NAMES, true, "variable names")                \
	TYPE(CASES, true, "OP TARGET")

#define SBX_PUBLIC_MAX 256

enum sbx_type {
#define TYPE(id, list, shown) SBX_TYPE_##id,
	SBX_TYPES(TYPE)
#undef TYPE
	SBX_TYPE_COUNT
};

struct sbx_keyinfo {
	const char *section;
	const char *name;
	enum sbx_type type;
	const char *words;
	const char *preset;
	const char *shown;
	const char *option;
	const char *help;
};

extern const struct sbx_keyinfo sbx_keys[SBX_KEY_COUNT];

bool sbx_type_is_list(enum sbx_type type);

/* SBX_KEY_COUNT when there is none. */
enum sbx_key sbx_key_find(const char *section, const char *name);
/* The nearest known word, or NULL when nothing is near: for "did you mean 'read'?". */
const char *sbx_key_near(const char *section, const char *name);
const char *sbx_section_near(const char *section);
/* Of two words, how many letters must change; swaps of neighbours count once. */
unsigned int sbx_distance(const char *a, const char *b);
/* Whether 'distance' is near enough to suggest a word of this length. */
bool sbx_distance_is_near(unsigned int distance, size_t len);

/*
 * Checks a value's form and reads its number: bytes, milliseconds, the count, 0 or 1 for a switch,
 * the index of a WORD or of one of WORDS. Returns NULL, or what is wrong, written into 'why'.
 * Paths, includes and the targets of cases are only checked for being there: their meaning needs
 * the file they stand in. 'value' is left alone on failure.
 */
const char *sbx_value_parse(enum sbx_key key, const char *text, uint64_t *value, char why[256]);

/*
 * 'text' as a message may repeat it: valid UTF-8, what is invisible or hostile as \xNN, and cut
 * with "…" where it is long. Returns 'out'.
 */
#define SBX_SHOWN_MAX 80
const char *sbx_shown(const char *text, size_t len, char out[SBX_SHOWN_MAX]);

/*
 * The value as it may be shown: the user and password of a URL are left out. Returns 'text' or
 * 'out'.
 */
const char *sbx_value_public(enum sbx_key key, const char *text, char out[SBX_PUBLIC_MAX]);

/* The n-th word of "a|b|c" copied into out; false when there are not so many. */
bool sbx_word_at(const char *words, size_t n, char *out, size_t size);

#endif
