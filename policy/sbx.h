/* SPDX-License-Identifier: MIT */
/*
 * libsbx: ask an sbx policy what it allows, before acting.
 *
 * A policy is loaded once and never changes; every question after that may be asked from any
 * number of threads. Loading reads files and allocates. Questions about a path look at the file
 * system (links are followed as the kernel would follow them) but never change it.
 *
 * Functions return 0 or a negative errno, and leave their out-parameters alone when they fail.
 * The can_ and check_ functions return 0 for "allowed" and the negative errno that the sandbox
 * itself would answer (-EACCES, -ENOENT for hidden places, -EFBIG) for "refused"; -EINVAL means
 * that the question made no sense. sbx_explain() says in words why.
 *
 *	struct sbx_errors errors;
 *	struct sbx_policy *policy;
 *	const char *files[] = { "policy.ini" };
 *	struct sbx_load load = { .files = files, .file_count = 1 };
 *
 *	if (sbx_load(&load, &policy, &errors) < 0)
 *		errx(125, "%s:%u: %s", errors.list[0].file, errors.list[0].line, errors.list[0].text);
 *	if (sbx_can_read(policy, "/etc/passwd") < 0) {
 *		char text[SBX_TEXT_MAX];
 *
 *		sbx_explain(policy, SBX_OP_READ, "/etc/passwd", 0, text, sizeof(text));
 *		fputs(text, stderr);
 *	}
 *	sbx_free(policy);
 */
#ifndef SBX_H
#define SBX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SBX_TEXT_MAX 4096 /* enough for any explanation as text */
#define SBX_JSON_MAX 262144 /* and as JSON, where paths are not shortened */
#define SBX_MAX_ERRORS 20

/* What can be asked. The names in words are those of sbx-policy(1). */
enum sbx_op {
	SBX_OP_READ, /* open a file for reading */
	SBX_OP_WRITE, /* open an existing file for writing */
	SBX_OP_LIST, /* read a directory's entries */
	SBX_OP_CREATE, /* make a new entry */
	SBX_OP_DELETE, /* remove an entry */
	SBX_OP_RENAME, /* give an entry another name */
	SBX_OP_CHANGE, /* mode, owner, times */
	SBX_OP_EXEC, /* execute a program */
	SBX_OP_CONNECT, /* HOST:PORT, ADDRESS:PORT or unix:PATH */
	SBX_OP_BIND, /* listen on ADDRESS:PORT */
	SBX_OP_LOOKUP, /* resolve a host name */
};

/* One thing that is wrong with a policy. 'line' is 0 when the whole file is meant. */
struct sbx_error {
	char file[256];
	unsigned int line;
	char text[512];
};

/* All that is wrong, in the order of the files; 'more' counts those that did not fit. */
struct sbx_errors {
	size_t count;
	size_t more;
	struct sbx_error list[SBX_MAX_ERRORS];
};

/* One setting of the command line: the same words as in a file, relative to the cwd. */
struct sbx_assign {
	const char *section;
	const char *key;
	const char *value;
	const char *option; /* how the user wrote it, for messages: "--allow-read" */
};

/* What to load. Zero is a good default for every field. */
struct sbx_load {
	const char *const *files; /* "-" is standard input; none at all: the built-in policy */
	size_t file_count;
	const struct sbx_assign *options; /* stronger than the files */
	size_t option_count;
	size_t implied; /* so many of them, the last, nobody wrote: they hold, and are not listed */
	const char *command; /* a program whose profile comes by itself, or NULL */
	const char *cwd; /* NULL: the current one */
	const char *tmp; /* what ${tmp} means, NULL: private_tmp in force, $TMPDIR or /tmp */
	const char *private_tmp; /* the run's own, for tmp = private; NULL: none is made here */
	const char *private_home; /* and for home = private */
	/*
	 * Folders like /tmp, which private tmp can stand in for here; NULL ends them. It does where no
	 * rule is about anything at, above or below them, and isolate does not forbid it.
	 */
	const char *const *private_places;
	const char *profiles; /* folder of bundled profiles, NULL: beside the program or library */
	bool trust; /* accept files that other users could have written */
	bool lenient; /* accept missing read and exec paths: the policy is for elsewhere */
};

struct sbx_policy;

/* -EINVAL when the policy is bad and 'errors' says why; other errors are the system's. */
int sbx_load(const struct sbx_load *load, struct sbx_policy **policy, struct sbx_errors *errors);

/* The policy of the sandbox this process runs in; -ENOENT outside of one, -ESTALE when it is gone. */
int sbx_load_running(struct sbx_policy **policy);

/* A compiled policy: flat bytes that may be written to a file and loaded again. */
int sbx_load_image(const void *bytes, size_t size, struct sbx_policy **policy);
const void *sbx_image_bytes(const struct sbx_policy *policy, size_t *size);

void sbx_free(struct sbx_policy *policy);

/*
 * Paths may be relative to the cwd; links are followed. A program without a slash is looked for in
 * PATH. To write a file that is not there is to create it.
 */
int sbx_can_read(const struct sbx_policy *policy, const char *path);
int sbx_can_write(const struct sbx_policy *policy, const char *path);
int sbx_can_exec(const struct sbx_policy *policy, const char *program);
int sbx_can_connect(const struct sbx_policy *policy, const char *destination);
int sbx_can(const struct sbx_policy *policy, enum sbx_op op, const char *target);

/*
 * The real path that 'path' leads to, taken relative to the policy's root (its first workspace,
 * else the folder of its first file). -EXDEV when it leaves the root, by dot-dot, as an absolute
 * path or through a link; -ENAMETOOLONG when 'out' is too small. The last component may be missing.
 */
int sbx_resolve(const struct sbx_policy *policy, const char *path, char *out, size_t size);

/* Only the suffix or the size rule of the [path] section that covers 'path'. */
int sbx_check_suffix(const struct sbx_policy *policy, const char *path);
int sbx_check_size(const struct sbx_policy *policy, const char *path, uint64_t bytes);

#define SBX_EXPLAIN_JSON 1u

/*
 * Says whether the policy allows it and why, as text or as one JSON object. Returns the length that
 * the whole text has, which may exceed 'size' (then it was cut, and still ends in a NUL), or a
 * negative errno.
 */
int sbx_explain(const struct sbx_policy *policy, enum sbx_op op, const char *target,
		unsigned int flags, char *out, size_t size);

#ifdef __cplusplus
}
#endif
#endif
