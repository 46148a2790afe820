/* SPDX-License-Identifier: MIT */
/*
 * Verdicts in words: the text that people and models read, and the same as JSON. Pure.
 */
#ifndef SBX_WORDS_H
#define SBX_WORDS_H

#include "engine.h"
#include "out.h"

#define SBX_LINE_MAX 500

/* One decision, and what is known about who asked. Text and JSON are made from this record alone. */
struct sbx_report {
	const struct sbx_image *image;
	const struct sbx_request *request;
	const struct sbx_verdict *verdict;
	const char *given; /* path or destination as it was given */
	const char *given_to; /* of a rename */
	const char *cwd; /* of the program; NULL when it does not matter */
	const char *program; /* "cat"; NULL when nobody tried, but somebody asked */
	uint32_t pid;
	const char *syscall;
};

/* The lines of a refusal, or two lines that say that it is allowed. Returns the length wanted. */
size_t sbx_words_text(const struct sbx_report *report, char *text, size_t size);

/* The members that describe the decision, from "op" to "message", without the braces. */
void sbx_words_json(const struct sbx_report *report, struct sbx_out *out);

/* {"file":…,"line":…,"text":…}, or null. */
void sbx_words_rule_json(const struct sbx_image *image, uint32_t index, struct sbx_out *out);
/* "policy.ini:12 deny = ./x" */
void sbx_words_rule(const struct sbx_image *image, uint32_t index, struct sbx_out *out);
/* "policy.ini:4 mode = none", where that is written. */
void sbx_words_mode_none(const struct sbx_image *image, struct sbx_out *out);
/* A root as its reader would write it: relative where the program works in the policy's folder. */
const char *sbx_words_root(const struct sbx_image *image, const struct sbx_rule *rule,
			   const char *cwd);

/* The rules that grant a right, in the order they were written; profiles only when asked for. */
struct sbx_allowed {
	const struct sbx_image *image;
	uint8_t right; /* 0: destinations of 'kind' */
	enum sbx_rule_kind kind;
	bool profiles;
	uint32_t next;
};
uint32_t sbx_allowed_next(struct sbx_allowed *allowed); /* SBX_NONE at the end */

/* What would help. */
enum sbx_suggest_kind {
	SBX_SUGGEST_NOTHING, /* nothing is to be said */
	SBX_SUGGEST_LINE, /* add KEY = VALUE */
	SBX_SUGGEST_CHANGE, /* the rule that decided would have to change */
	SBX_SUGGEST_MODE, /* a written network mode stands in the way of the line */
	SBX_SUGGEST_SECTION, /* add KEY = VALUE to the [path] section */
	SBX_SUGGEST_REMOVE, /* no suffix would fit: only a section without any allows it */
	SBX_SUGGEST_TMP, /* use private tmp */
	SBX_SUGGEST_CREDENTIAL, /* better not */
	SBX_SUGGEST_SOCKET, /* likewise; what it is has been said */
	SBX_SUGGEST_TOO_WIDE, /* a line would open far more */
	SBX_SUGGEST_IMPOSSIBLE, /* no line can */
};

struct sbx_suggestion {
	enum sbx_suggest_kind kind;
	enum sbx_key key;
	uint32_t rule; /* of CHANGE */
	size_t path_len; /* of the request's path: the path itself, or the folder it stands in */
};

/* The narrowest change that works, found by asking the engine. */
void sbx_suggest(const struct sbx_report *report, struct sbx_suggestion *suggestion);
/* "read = /etc/passwd" */
void sbx_suggest_value(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
		       struct sbx_out *out);
/* The last line of a refusal, without its prefix; nothing when there is nothing to say. */
void sbx_suggest_text(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
		      struct sbx_out *out);

/* What kind of credential the path looks like ("an SSH key"), or NULL. */
const char *sbx_credential(const char *path);

/* A socket that is known for what whoever connects to it can do. */
struct sbx_socket {
	const char *what; /* "the container engine's socket" */
	const char *why; /* "whoever may connect to it controls the machine" */
};
const struct sbx_socket *sbx_socket(const char *path); /* by its path, or NULL */
/* Whether libc asks there by itself, and does without. */
bool sbx_socket_is_usual(const char *path);

#endif
