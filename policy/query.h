/* SPDX-License-Identifier: MIT */
/*
 * Query side: a question as people ask it ("read ./x", "connect host:443") becomes a request, with
 * the file system's help. Behind libsbx and sbx-policy.
 */
#ifndef SBX_QUERY_H
#define SBX_QUERY_H

#include "peer.h"
#include "resolve.h"
#include "words.h"

/* A request with the memory it points into. Must not be moved. */
struct sbx_asked {
	struct sbx_request request;
	struct sbx_verdict verdict;
	const char *given;
	const char *given_to; /* of a rename that names both */
	struct sbx_resolved at;
	struct sbx_resolved to_at;
	char host[SBX_HOST_MAX];
	char program[PATH_MAX];
	char cwd[PATH_MAX];
	char why[256]; /* what is wrong with the question */
};

/*
 * Reads 'target' relative to 'cwd' (NULL: the current one). 0, or a negative errno and asked->why:
 * -EINVAL when the question makes no sense, -ENOENT and others when the path leads nowhere.
 */
int sbx_ask(const struct sbx_image *image, enum sbx_op op, const char *target, const char *cwd,
	    struct sbx_asked *asked);
/* May 'from' be renamed to 'to'? */
int sbx_ask_move(const struct sbx_image *image, const char *from, const char *to, const char *cwd,
		 struct sbx_asked *asked);
/* The record to make words from. */
struct sbx_report sbx_asked_report(const struct sbx_image *image, const struct sbx_asked *asked);

const struct sbx_image *sbx_policy_image(const struct sbx_policy *policy);

/* Whether a folder of that name is where a repository has its own files. */
bool sbx_is_repository(const char *name);
/* Where the repository of a protected path has them: on the way to the path, or ".git" beside it. */
void sbx_repository_of(const char *path, char out[PATH_MAX]);

/* "OP TARGET" of a [test]; the op, or -1, and where the target begins. */
int sbx_case_split(const char *text, const char **target);

#endif
