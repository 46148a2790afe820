/* SPDX-License-Identifier: MIT */
/*
 * Compile side: everything that was read, before it becomes an image.
 *
 * Order of work: include.c takes in options, files and includes; settle.c picks the value of each
 * scalar; rules.c turns list entries into rules with resolved paths; build.c lays out the image.
 * Nothing here prints; what is wrong goes to draft->errors, and an image is made only when there
 * was nothing.
 */
#ifndef SBX_DRAFT_H
#define SBX_DRAFT_H

#include "arena.h"
#include "engine.h"
#include "reader.h"
#include "resolve.h"

#include <stdarg.h>

struct draft_file {
	const char *name;
	const char *path; /* absolute, "" for what is not a file */
	const char *dir;
	enum sbx_file_role role;
	unsigned int level;
	uint32_t parent; /* the file that included it, or SBX_NONE */
};

struct draft_entry {
	uint32_t file;
	unsigned int line;
	enum sbx_key key;
	uint32_t section; /* of [path NAME], or SBX_NONE */
	const char *said; /* "read = ./x" */
	const char *text; /* the end of it */
	uint64_t value;
	bool quoted;
	bool optional;
};

struct draft_section {
	uint32_t file;
	unsigned int line;
	const char *name;
	size_t first; /* its first entry; the others follow */
	bool bad; /* something in it was wrong, and reported */
};

/* A rule on its way into the image. */
struct draft_rule {
	uint32_t file;
	unsigned int line;
	enum sbx_rule_kind kind;
	uint8_t rights;
	uint16_t flags;
	uint32_t section;
	const char *text;
	const char *written;
	const char *path; /* "" for network rules */
	size_t literal; /* how much of 'path' is no pattern */
	size_t existing; /* how much of it exists */
	const char *peer; /* of network rules, else NULL */
	size_t order; /* in which it was made */
};

/* A program that variables named; the strings are empty when it was not found. */
struct draft_program {
	const char *name;
	const char *file;
	const char *prefix;
	const char *manager;
};

/* On the way of a path that an entry wrote. */
struct draft_link {
	uint32_t file;
	unsigned int line;
	enum sbx_key key;
	const char *text;
	const char *place; /* of the link itself */
	const char *end; /* where the path leads */
};

#define DRAFT_VECTOR(type)    \
	struct {              \
		type *list;   \
		size_t count; \
		size_t cap;   \
	}

struct sbx_draft {
	const struct sbx_load *load;
	struct sbx_errors *errors;
	struct sbx_arena arena; /* of strings that live as long as the draft */
	struct sbx_resolve_cache *cache;
	DRAFT_VECTOR(struct draft_file) files;
	DRAFT_VECTOR(struct draft_entry) entries;
	DRAFT_VECTOR(struct draft_section) sections;
	DRAFT_VECTOR(struct draft_rule) rules;
	DRAFT_VECTOR(struct draft_program) programs; /* found so far */
	DRAFT_VECTOR(struct draft_link)
	links; /* on the way of what is allowed, of the policy's files and the log */
	/* the entry that decides each scalar key, or SBX_NONE */
	uint32_t settled[SBX_KEY_COUNT];
	const char *settled_path[SBX_KEY_COUNT]; /* resolved, of keys that are paths */
	const char *cwd;
	const char *home; /* NULL when unset */
	const char *tmp;
	const char *profiles;
	const char *workdir; /* what ${workdir} means by now */
	const char *root;
	bool failed; /* an error was reported */
	bool out_of_memory;
};

/*
 * Room for more: the list, moved if need be. Without memory it stays as it is, 'cap' too, and
 * draft->out_of_memory says so.
 */
void *sbx_draft_grow(struct sbx_draft *draft, void *list, size_t *cap, size_t item_size);
/* True when the item was added. */
#define DRAFT_PUSH(draft, vector, ...)                                              \
	(((vector)->count < (vector)->cap ||                                        \
	  ((vector)->list = sbx_draft_grow((draft), (vector)->list, &(vector)->cap, \
					   sizeof(*(vector)->list)),                \
	   (vector)->count < (vector)->cap)) &&                                     \
	 ((vector)->list[(vector)->count++] = (__VA_ARGS__), true))

/* qsort(), but free for what is in order already, as what comes from a file mostly is. */
void sbx_draft_sort(void *list, size_t count, size_t size,
		    int (*compare)(const void *a, const void *b));

/* Strings in the arena; NULL and out_of_memory when there is no memory. */
const char *sbx_draft_copy(struct sbx_draft *draft, const char *text, size_t len);
/* Three strings in one; the first is cut to 'len'. Every rule needs some: printf would dominate. */
const char *sbx_draft_join(struct sbx_draft *draft, const char *first, size_t len,
			   const char *second, const char *third);
const char *sbx_draft_format(struct sbx_draft *draft, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Reports one thing that is wrong. 'file' may be SBX_NONE. Hostile bytes are escaped. */
void sbx_draft_error(struct sbx_draft *draft, uint32_t file, unsigned int line, const char *format,
		     ...) __attribute__((format(printf, 4, 5)));
void sbx_errors_add(struct sbx_errors *errors, const char *file, unsigned int line,
		    const char *text);
/* "policy.ini:12" for messages, in the arena. */
const char *sbx_draft_where(struct sbx_draft *draft, uint32_t file, unsigned int line);

int sbx_draft_init(struct sbx_draft *draft, const struct sbx_load *load, struct sbx_errors *errors);
void sbx_draft_done(struct sbx_draft *draft);

/* A key of one [path NAME] section, or NULL. */
const struct draft_entry *sbx_draft_section_entry(const struct sbx_draft *draft, uint32_t section,
						  enum sbx_key key);

/* "proxy = http://...@host", for messages. */
const char *sbx_draft_text(struct sbx_draft *draft, const struct draft_entry *entry);

/* Each reports into draft->errors and goes on, so that one run shows all that is wrong. */
void sbx_draft_read_all(struct sbx_draft *draft);
void sbx_draft_settle(struct sbx_draft *draft);
void sbx_draft_make_rules(struct sbx_draft *draft);

/* Lays out the image in malloc'ed memory. 0, -EINVAL (reported), -ENOMEM. */
int sbx_draft_build(struct sbx_draft *draft, struct sbx_image **image);

/* A path as an entry wrote it: what it means, and which part of it is a pattern. */
struct draft_path {
	const char *path;
	size_t literal;
	size_t existing;
	const char *link; /* where the name itself stands when it is a link, else NULL */
	bool is_glob;
	bool is_missing;
	bool through_link;
	mode_t mode;
};

enum draft_path_result {
	DRAFT_PATH_OK,
	DRAFT_PATH_SKIP, /* optional, and not here */
	DRAFT_PATH_BAD, /* reported */
};

enum draft_path_need {
	DRAFT_PATH_EXISTING, /* read, exec: must be there unless optional */
	DRAFT_PATH_CREATABLE, /* write: may be missing */
	DRAFT_PATH_ANY, /* deny, hide: may be missing, and may be out of sight */
};

enum draft_path_result sbx_draft_path(struct sbx_draft *draft, const struct draft_entry *entry,
				      const char *text, enum draft_path_need need,
				      struct draft_path *out);

/* Tells of each link on the way of a path, by its own place. */
void sbx_draft_links(const char *dir, const char *path, void (*tell)(void *arg, const char *place),
		     void *arg);

/* Variables and "~" in 'text'; NULL when unset (reported unless the entry is optional). */
const char *sbx_draft_expand(struct sbx_draft *draft, const struct draft_entry *entry,
			     const char *text);

/* NULL, or why a file is not to be trusted, written into 'why'. */
const char *sbx_trust(int fd, const char *path, char why[256]);

/* The directory of bundled profiles, or NULL. 'out' has PATH_MAX bytes. */
const char *sbx_profiles_dir(char *out);
/* Directories of sbx's own programs and libraries; "" when unknown. */
const char *sbx_own_dir(const char *which, char *out);

#endif
