/* SPDX-License-Identifier: MIT */
/*
 * A second opinion on paths, for tests only: the meaning of a policy as policy-format.md tells it,
 * done the slow way. Every rule is tried at every folder on the way down, pattern by pattern and
 * component by component. It shares structures with the engine so that both can be asked the same
 * question, and no code.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "engine.h"

#define REF_SUFFIXES 3
#define REF_PARTS 24

struct ref_part {
	const char *name;
	size_t len;
	bool wild; /* may be a pattern */
};

struct ref_parts {
	struct ref_part list[REF_PARTS];
	size_t count;
};

struct ref_rule {
	enum sbx_rule_kind kind;
	uint8_t rights;
	uint16_t flags; /* SBX_RULE_... */
	const char *path; /* absolute, single slashes */
	size_t literal; /* how much of it is no pattern */
	size_t existing; /* how much of it exists; matters for MISSING */
	bool tried; /* only asked about: it lifts no default protection */
	const char *suffixes[REF_SUFFIXES]; /* of a SET, NULL where there are fewer */
	uint64_t max_bytes; /* of a SET; UINT64_MAX: any */
	struct ref_parts parts; /* of 'path', filled in by ref_split() */
};

struct ref_answer {
	bool allowed;
	enum sbx_code code;
	int error;
	unsigned int
		codes; /* bits of codes that are as good an answer: several rules refuse a move */
};

/* One component against one pattern. */
bool ref_glob(const char *pattern, size_t pattern_len, const char *name, size_t name_len);

/* Takes the path of a rule apart, before it is first asked about. */
void ref_split(struct ref_rule *rule);

/*
 * 'spoke' and 'below' have a place for every rule: whether it matched anywhere on the way, and
 * whether it is about something below the path and matters for it all the same.
 */
void ref_ask(const struct ref_rule *rules, size_t count, const struct sbx_request *request,
	     bool *spoke, bool *below, struct ref_answer *answer);

#endif
