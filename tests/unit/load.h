/* SPDX-License-Identifier: MIT */
/*
 * Policies from text, for tests: written into the tree as policy.ini and loaded from there as if
 * the user stood beside it. Questions are asked from there too.
 */
#ifndef LOAD_H
#define LOAD_H

#include "query.h"

#include "tree.h"

/* Nearly every policy of a test speaks for itself alone. */
#define ALONE "[sandbox]\ninclude = none\n"

static const char *load_profiles; /* of the tests that include any */

static inline int load_try(const char *text, struct sbx_policy **policy, struct sbx_errors *errors)
{
	static const char *const files[] = { "policy.ini" };
	const struct sbx_load load = { .files = files,
				       .file_count = 1,
				       .cwd = tree_root,
				       .tmp = "/run/sbx-private",
				       .profiles = load_profiles };

	/* A new file: to cut an old one short costs some file systems a write to the disk. */
	(void)unlink(tree_path("policy.ini"));
	(void)tree_file("policy.ini", text, 0600);
	return sbx_load(&load, policy, errors);
}

static inline struct sbx_policy *load_text(const char *text)
{
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;

	if (load_try(text, &policy, &errors) < 0)
		BAIL_OUT("policy.ini:%u: %s in\n%s", errors.list[0].line, errors.list[0].text,
			 text);
	return policy;
}

/* "OP TARGET", asked from the tree's root. */
static inline int load_ask(const struct sbx_policy *policy, const char *question,
			   struct sbx_asked *asked)
{
	const char *target;
	int op = sbx_case_split(question, &target);

	if (op < 0)
		BAIL_OUT("'%s' asks for no operation", question);
	return sbx_ask(sbx_policy_image(policy), (enum sbx_op)op, target, tree_root, asked);
}

#endif
