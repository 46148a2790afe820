/* SPDX-License-Identifier: MIT */
/*
 * A million random questions, answered by the engine and by the naive reference: whether it is
 * allowed, the reason code and the errno must be the same, and the rule that the engine names must
 * have spoken. Most policies are drafts made here; some are INI files on a tree that partly exists.
 *
 * SBX_SEED repeats a run, SBX_CASES says how many questions there are. What goes wrong is printed
 * with the fewest rules that still show it.
 */
#include "draft.h"
#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "reference.h"
#include "tree.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_RULES 256 /* the default protections are among them */
#define MAX_TEXT 256
#define QUESTIONS 250 /* asked of one policy */
#define MAX_STEPS 512
#define MAX_FAILURES 3

static uint64_t state;

static uint64_t random_bits(void)
{
	uint64_t z = (state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static unsigned int pick(unsigned int limit)
{
	return (unsigned int)((random_bits() >> 32) * limit >> 32);
}

static bool chance(unsigned int percent)
{
	return pick(100) < percent;
}

/* Few names, and many that look like each other. One is spelled like a pattern. */
static const char *const names[] = { "a",    "ab",   "a.b",   ".env",	  "work", "work-evil",
				     "x.md", ".git", "hooks", "\xc3\xa9", "a*b",  ".bashrc" };
#define ODD_NAME 10 /* what only quotes can write */
static const char *const patterns[] = { "*",  "?",   "??",    "a*",  "*b",   "a*b",  "*.md",
					".*", "w*k", "work*", "?b",  "a?b",  "*.*",  "wor?",
					"**", "**",  "**",    "h**", "*e*l", "\xc3?" };
#define ODD_PATTERNS 3 /* the last ones are nothing that a policy file could say */
static const char *const suffixes[] = { ".md", ".b", ".env", ".git", ".d" };

/* A policy, with the memory its paths stand in. */
struct policy {
	struct ref_rule rules[MAX_RULES];
	char paths[MAX_RULES][MAX_TEXT];
	size_t count;
	size_t own; /* rules that can be left out; what follows comes by itself */
	bool is_file; /* to be loaded from INI text */
	bool protect;
	char text[MAX_RULES * MAX_TEXT];
};

static const char *name_for(const struct policy *policy)
{
	unsigned int i;

	do
		i = pick(COUNT(names));
	while (policy->is_file && i == ODD_NAME);
	return names[i];
}

static void append(char *text, const char *more)
{
	size_t len = strlen(text);

	if (len + strlen(more) + 1 > MAX_TEXT)
		BAIL_OUT("a path became too long");
	memcpy(text + len, more, strlen(more) + 1);
}

/* A pattern never ends in "**": that is tidied away before a rule is made. */
static const char *pattern_for(const struct policy *policy, bool last, bool after_stars)
{
	for (;;) {
		const char *pattern =
			patterns[pick(COUNT(patterns) - (policy->is_file ? ODD_PATTERNS : 0))];

		if (strcmp(pattern, "**") != 0 || (!last && !after_stars))
			return pattern;
	}
}

/* Components below 'base', which stays as it is. */
static void random_rule_path(const struct policy *policy, struct ref_rule *rule, char *path,
			     const char *base, bool globs)
{
	unsigned int depth = pick(10) < 7 ? pick(4) : pick(6);
	bool wild = false, stars = false;

	path[0] = '\0';
	append(path, base);
	rule->path = path;
	rule->literal = strlen(path);
	for (unsigned int i = 0; i < depth; i++) {
		const char *part = name_for(policy);

		if (globs && chance(30)) {
			part = pattern_for(policy, i + 1 == depth, stars);
			wild = true;
		}
		stars = wild && !strcmp(part, "**");
		append(path, "/");
		append(path, part);
		if (!wild)
			rule->literal = strlen(path);
	}
	if (!*path) {
		append(path, "/");
		rule->literal = 1;
	}
	rule->flags = wild ? SBX_RULE_GLOB : 0;
	rule->existing = rule->literal;
}

/* Whether an earlier [path] has the same root, which is an error. */
static bool is_taken(const struct policy *policy, const char *path)
{
	for (size_t i = 0; i + 1 < policy->count; i++)
		if (policy->rules[i].kind == SBX_RULE_SET && !strcmp(policy->rules[i].path, path))
			return true;
	return false;
}

static void random_set(struct ref_rule *rule)
{
	static const uint8_t modes[] = { 0, 1, 3, 5, 7 };
	static const uint64_t sizes[] = { 1, 10, 500 };

	rule->rights = modes[pick(COUNT(modes))];
	for (unsigned int i = 0; i < REF_SUFFIXES && chance(40); i++)
		rule->suffixes[i] = suffixes[pick(COUNT(suffixes))];
	if (chance(30))
		rule->max_bytes = sizes[pick(COUNT(sizes))];
}

static enum sbx_rule_kind random_kind(void)
{
	unsigned int n = pick(100);

	return n < 50	? SBX_RULE_ADD
	       : n < 64 ? SBX_RULE_SET
	       : n < 76 ? SBX_RULE_DENY
	       : n < 84 ? SBX_RULE_HIDE
	       : n < 92 ? SBX_RULE_PROTECT
	       : n < 96 ? SBX_RULE_LOCK
			: SBX_RULE_UNIX_DENY;
}

static uint8_t random_rights(void)
{
	static const uint8_t rights[] = { 1, 3, 3, 3, 5, 7, 7, 8, 9, 15, 2 };

	return rights[pick(COUNT(rights))];
}

/* What is missing begins somewhere in the part that is no pattern. */
static void lose(struct ref_rule *rule)
{
	size_t cut = pick((unsigned int)rule->literal + 1);

	while (cut > 0 && rule->path[cut] != '/')
		cut--;
	rule->existing = cut ? cut : 1;
	if (rule->existing < rule->literal)
		rule->flags |= SBX_RULE_MISSING;
}

static struct ref_rule *add_rule(struct policy *policy, enum sbx_rule_kind kind)
{
	struct ref_rule *rule = &policy->rules[policy->count++];

	if (policy->count >= MAX_RULES)
		BAIL_OUT("there is no room for all rules");
	policy->paths[policy->count - 1][0] = '\0';
	*rule = (struct ref_rule){ .kind = kind,
				   .path = policy->paths[policy->count - 1],
				   .max_bytes = UINT64_MAX };
	return rule;
}

/* Protections of one name are all about files, or all about files and folders. */
static bool is_file_name(const char *path)
{
	const char *name = strrchr(path, '/') + 1;

	return !strcmp(name, ".bashrc") || !strcmp(name, "x.md") || !strcmp(name, "a");
}

static void random_draft_rule(struct policy *policy)
{
	struct ref_rule *rule = add_rule(policy, random_kind());
	char *path = policy->paths[policy->count - 1];

	random_rule_path(policy, rule, path, rule->kind == SBX_RULE_PROTECT ? "/**" : "",
			 rule->kind != SBX_RULE_SET && rule->kind != SBX_RULE_PROTECT);
	if (rule->kind == SBX_RULE_PROTECT) {
		if (!path[3])
			append(path, "/.git/hooks");
		rule->literal = 0;
		rule->flags = SBX_RULE_GLOB | (chance(50) ? SBX_RULE_REPO : 0) |
			      (is_file_name(path) ? SBX_RULE_FILE : 0);
	} else if (rule->kind == SBX_RULE_SET) {
		if (is_taken(policy, path)) {
			policy->count--;
			return;
		}
		random_set(rule);
	} else if (rule->kind == SBX_RULE_ADD) {
		rule->rights = random_rights();
		rule->flags |= chance(4) ? SBX_RULE_FREE : 0;
		rule->flags |= chance(2) ? SBX_RULE_ABSENT : 0;
	}
	if ((rule->rights & SBX_RIGHT_WRITE) && chance(25))
		lose(rule);
	ref_split(rule);
}

static int by_weight(const void *a, const void *b)
{
	const struct ref_rule *x = a, *y = b;
	int x_weight = x->kind != SBX_RULE_PROTECT ? 0 : x->flags & SBX_RULE_REPO ? 2 : 1;
	int y_weight = y->kind != SBX_RULE_PROTECT ? 0 : y->flags & SBX_RULE_REPO ? 2 : 1;

	return x_weight != y_weight ? x_weight - y_weight : x->path < y->path ? -1 : 1;
}

/*
 * Protections come last, those of repositories behind the others: of all rules that forbid to move
 * a folder an image knows only the first, which must not be one that does not hold.
 */
static void sort_rules(struct policy *policy)
{
	qsort(policy->rules, policy->count, sizeof(policy->rules[0]), by_weight);
}

static void random_draft(struct policy *policy)
{
	unsigned int count = 1 + pick(chance(80) ? 10 : 24);

	policy->count = 0;
	policy->is_file = false;
	while (policy->count < count)
		random_draft_rule(policy);
	/* Something wide to speak against. */
	if (chance(60)) {
		struct ref_rule *wide = add_rule(policy, SBX_RULE_ADD);

		snprintf(policy->paths[policy->count - 1], MAX_TEXT, "%s", chance(50) ? "/" : "/a");
		wide->literal = wide->existing = strlen(wide->path);
		wide->rights = chance(60) ? 7 : 1;
		ref_split(wide);
	}
	policy->own = policy->count;
	sort_rules(policy);
}

static void put_section(struct sbx_draft *draft, const struct ref_rule *rule)
{
	uint32_t section = (uint32_t)draft->sections.count;
	struct draft_entry entry = { .section = section };

	(void)DRAFT_PUSH(draft, &draft->sections,
			 (struct draft_section){ .name = "s", .first = draft->entries.count });
	for (int i = 0; i < REF_SUFFIXES && rule->suffixes[i]; i++) {
		entry.key = SBX_KEY_path_suffixes;
		entry.text = rule->suffixes[i];
		(void)DRAFT_PUSH(draft, &draft->entries, entry);
	}
	entry.key = SBX_KEY_path_max_file_bytes;
	entry.value = rule->max_bytes;
	if (rule->max_bytes != UINT64_MAX)
		(void)DRAFT_PUSH(draft, &draft->entries, entry);
}

static struct sbx_image *compile(const struct policy *policy)
{
	static const struct sbx_load load = { .cwd = "/", .tmp = "/tmp", .profiles = "/" };
	static struct sbx_errors errors;
	struct sbx_image *image = NULL;
	struct sbx_draft draft;

	if (sbx_draft_init(&draft, &load, &errors) < 0)
		BAIL_OUT("cannot make a draft");
	(void)DRAFT_PUSH(
		&draft, &draft.files,
		(struct draft_file){ .name = "draft", .path = "", .dir = "/", .level = 1 });
	for (size_t i = 0; i < policy->count; i++) {
		const struct ref_rule *rule = &policy->rules[i];
		struct draft_rule made = { .line = (unsigned int)i + 1,
					   .kind = rule->kind,
					   .rights = rule->rights,
					   .flags = rule->flags,
					   .section = SBX_NONE,
					   .text = rule->path,
					   .written = rule->path,
					   .path = rule->path,
					   .literal = rule->literal,
					   .existing = rule->existing };

		if (rule->kind == SBX_RULE_SET) {
			made.section = (uint32_t)draft.sections.count;
			put_section(&draft, rule);
		}
		(void)DRAFT_PUSH(&draft, &draft.rules, made);
	}
	if (sbx_draft_build(&draft, &image) < 0)
		BAIL_OUT("a draft was refused: %s", errors.list[0].text);
	sbx_draft_done(&draft);
	return image;
}

/* The default protections, as every policy file has them unless it says no. */
static void add_protections(struct policy *policy)
{
	static const struct {
		const char *pattern;
		int repo; /* 2: files only */
	} table[] = {
#define PROTECT(pattern, repo, reason) { pattern, repo },
#include "protect.def"
	};

	for (size_t i = 0; policy->protect && i < COUNT(table); i++) {
		struct ref_rule *rule = add_rule(policy, SBX_RULE_PROTECT);

		snprintf(policy->paths[policy->count - 1], MAX_TEXT, "/**/%s", table[i].pattern);
		rule->flags = SBX_RULE_GLOB | (table[i].repo ? SBX_RULE_REPO : 0) |
			      (table[i].repo == 2 ? SBX_RULE_FILE : 0);
		ref_split(rule);
	}
}

/* How much of the rule's literal part is really there. */
static void look(struct ref_rule *rule)
{
	char path[MAX_TEXT];

	rule->flags &= (uint16_t)~SBX_RULE_MISSING;
	rule->existing = rule->literal;
	snprintf(path, sizeof(path), "%.*s", (int)rule->literal, rule->path);
	while (rule->existing > 1 && access(path, F_OK) < 0) {
		rule->flags |= SBX_RULE_MISSING;
		*strrchr(path, '/') = '\0';
		rule->existing = strlen(path);
	}
}

static void random_file_rule(struct policy *policy)
{
	static const uint8_t lists[] = { 1, 3, 3, 5, 8 };
	enum sbx_rule_kind kind = random_kind();
	struct ref_rule *rule;
	char *path;

	if (kind == SBX_RULE_PROTECT || kind == SBX_RULE_LOCK)
		kind = SBX_RULE_ADD;
	rule = add_rule(policy, kind);
	path = policy->paths[policy->count - 1];
	random_rule_path(policy, rule, path, chance(95) ? tree_root : "", kind != SBX_RULE_SET);
	if (kind == SBX_RULE_SET && is_taken(policy, path)) {
		policy->count--;
		return;
	}
	if (kind == SBX_RULE_SET)
		random_set(rule);
	else if (kind == SBX_RULE_ADD)
		rule->rights = lists[pick(COUNT(lists))];
	look(rule);
	ref_split(rule);
}

static void random_file(struct policy *policy)
{
	unsigned int count = 1 + pick(10);
	struct ref_rule *lock;

	policy->count = 0;
	policy->is_file = true;
	policy->protect = chance(60);
	while (policy->count < count)
		random_file_rule(policy);
	policy->own = policy->count;
	add_protections(policy);
	lock = add_rule(policy, SBX_RULE_LOCK);
	append(policy->paths[policy->count - 1], tree_root);
	append(policy->paths[policy->count - 1], "/policy.ini");
	lock->literal = lock->existing = strlen(lock->path);
	ref_split(lock);
}

/* The path as one of the ways to write it. */
static void write_path(FILE *to, const struct ref_rule *rule)
{
	size_t root = strlen(tree_root);
	bool inside = !strncmp(rule->path, tree_root, root);
	const char *path = inside && chance(50) ? rule->path + root : rule->path;

	if (path != rule->path)
		fputs(*path ? "." : "./", to);
	for (; *path; path++) {
		fputc(*path, to);
		if (*path == '/' && chance(5))
			fputs(chance(50)			    ? "/"
			      : rule->literal == strlen(rule->path) ? "./"
								    : "",
			      to);
	}
	if ((rule->flags & SBX_RULE_GLOB) && chance(30))
		fputs(chance(50) ? "/**" : "/**/**/", to);
	else if (chance(10) && strcmp(rule->path, "/") != 0)
		fputc('/', to);
}

static void write_rule(FILE *to, const struct ref_rule *rule, size_t number)
{
	static const char *const modes[] = { "none", "ro", "", "rw", "", "rx", "", "rwx" };
	static const char *const lists[] = { "", "read", "", "write", "", "exec" };

	if (rule->kind == SBX_RULE_SET) {
		fprintf(to, "[path s%zu]\nmode = %s\n", number, modes[rule->rights]);
		for (int i = 0; i < REF_SUFFIXES && rule->suffixes[i]; i++)
			fprintf(to, "suffixes = %s\n", rule->suffixes[i]);
		if (rule->max_bytes != UINT64_MAX)
			fprintf(to, "max_file_bytes = %u\n", (unsigned int)rule->max_bytes);
		fputs("root = ", to);
	} else if (rule->kind == SBX_RULE_UNIX_DENY || (rule->rights & SBX_RIGHT_SOCKET)) {
		fprintf(to,
			"[network]\n%s = unix:", rule->kind == SBX_RULE_ADD ? "connect" : "deny");
	} else {
		fprintf(to, "[paths]\n%s = ",
			rule->kind == SBX_RULE_HIDE   ? "hide"
			: rule->kind == SBX_RULE_DENY ? "deny"
						      : lists[rule->rights]);
	}
	write_path(to, rule);
	fputc('\n', to);
}

static void write_policy(struct policy *policy)
{
	FILE *to = fmemopen(policy->text, sizeof(policy->text), "w");

	fprintf(to, "[sandbox]\ninclude = none\nprotect = %s\n", policy->protect ? "yes" : "no");
	for (size_t i = 0; i < policy->own; i++)
		write_rule(to, &policy->rules[i], i);
	fclose(to);
}

static struct sbx_image *load(struct policy *policy)
{
	static struct sbx_errors errors;
	const char *file = tree_path("policy.ini");
	const struct sbx_load load = {
		.files = &file, .file_count = 1, .cwd = tree_root, .trust = true, .lenient = true
	};
	struct sbx_policy *loaded;
	struct sbx_image *image;
	const void *bytes;
	size_t size;

	(void)unlink(file);
	(void)tree_file("policy.ini", policy->text, 0600);
	if (sbx_load(&load, &loaded, &errors) < 0)
		BAIL_OUT("a policy was refused: line %u: %s\n%s", errors.list[0].line,
			 errors.list[0].text, policy->text);
	bytes = sbx_image_bytes(loaded, &size);
	image = malloc(size);
	if (!image)
		BAIL_OUT("out of memory");
	memcpy(image, bytes, size);
	sbx_free(loaded);
	return image;
}

/* A question, with the memory its paths stand in. */
struct question {
	struct sbx_request request;
	struct sbx_extra extra;
	bool with_extra;
	char path[MAX_TEXT];
	char to[MAX_TEXT];
	char extra_path[MAX_TEXT];
};

static void put_part(const struct policy *policy, char *path, const char *part)
{
	if (!strcmp(path, "/"))
		path[0] = '\0';
	append(path, "/");
	append(path, part ? part : name_for(policy));
}

/* A path that a rule speaks for, or nearly. */
static void path_like(const struct policy *policy, const struct ref_rule *rule, char *path)
{
	const struct ref_parts *parts = &rule->parts;
	size_t keep = parts->count + 1 - (chance(20) ? pick((unsigned int)parts->count + 1) : 0);

	for (size_t i = 0; i < parts->count && i < keep; i++) {
		const struct ref_part *part = &parts->list[i];
		char name[MAX_TEXT];

		snprintf(name, sizeof(name), "%.*s", (int)part->len, part->name);
		if (part->wild && !strcmp(name, "**")) {
			for (unsigned int more = pick(3); more > 0; more--)
				put_part(policy, path, NULL);
		} else if (part->wild && strpbrk(name, "*?")) {
			const char *fitting = name_for(policy);

			for (int tries = 0; tries < 20 && !ref_glob(part->name, part->len, fitting,
								    strlen(fitting));
			     tries++)
				fitting = name_for(policy);
			put_part(policy, path, fitting);
		} else {
			put_part(policy, path, name);
		}
	}
	for (unsigned int more = pick(3); keep > parts->count && more > 0; more--)
		put_part(policy, path, NULL);
}

static void random_path(const struct policy *policy, char *path)
{
	snprintf(path, MAX_TEXT, "/");
	if (chance(60)) {
		path_like(policy, &policy->rules[pick((unsigned int)policy->count)], path);
		return;
	}
	if (policy->is_file && chance(90))
		append(path, tree_root + 1);
	for (unsigned int more = pick(7); more > 0; more--)
		put_part(policy, path, NULL);
}

/* What means the same: empty components and dots. Or nothing at all: "..". */
static void roughen(char *path)
{
	char smooth[MAX_TEXT];

	memcpy(smooth, path, MAX_TEXT);
	path[0] = '\0';
	if (strlen(smooth) > MAX_TEXT / 4)
		memcpy(path, smooth, MAX_TEXT);
	else
		for (const char *c = smooth; *c; c++) {
			char one[2] = { *c, '\0' };

			append(path, one);
			if (*c == '/' && chance(20))
				append(path, chance(50) ? "/" : chance(95) ? "./" : "../");
		}
	if (chance(20))
		append(path, "/");
}

static void random_question(const struct policy *policy, struct question *question)
{
	static const int64_t sizes[] = { 0, 10, 11, 400, 501 };
	struct sbx_request *request = &question->request;

	*request = (struct sbx_request){ .op = (enum sbx_op)pick(SBX_OP_CONNECT + 1),
					 .is_dir = chance(30),
					 .is_link = chance(15),
					 .new_repo = chance(30),
					 .size = chance(50) ? -1 : sizes[pick(COUNT(sizes))],
					 .path = question->path };
	random_path(policy, question->path);
	if (request->op == SBX_OP_RENAME && chance(70)) {
		random_path(policy, question->to);
		request->to = question->to;
	} else if (chance(5)) {
		roughen(question->path);
	}
	question->with_extra = !strstr(question->path, "//") && !strstr(question->path, "/./") &&
			       question->path[strlen(question->path) - 1] != '/' && chance(10);
	if (question->with_extra) {
		char *path = question->extra_path;

		snprintf(path, MAX_TEXT, "%s", question->path);
		while (chance(30) && strrchr(path, '/') > path)
			*strrchr(path, '/') = '\0';
		question->extra =
			(struct sbx_extra){ path, strlen(path), random_rights(), chance(30) };
	}
}

/* What the reference says, when the policy also had the extra rule. */
static void ask_reference(struct policy *policy, const struct question *question, bool *spoke,
			  bool *below, struct ref_answer *answer)
{
	size_t count = policy->count;

	if (question->with_extra) {
		struct ref_rule *rule = add_rule(policy, SBX_RULE_ADD);

		rule->path = question->extra_path;
		rule->rights = question->extra.rights;
		rule->flags = question->extra.missing ? SBX_RULE_MISSING : 0;
		rule->tried = true;
		rule->literal = rule->existing = question->extra.len;
		ref_split(rule);
	}
	ref_ask(policy->rules, policy->count, &question->request, spoke, below, answer);
	policy->count = count;
}

/* By what it says, for a file's rules have an order of their own. */
static bool has_spoken(const struct policy *policy, const struct sbx_image *image, uint32_t index,
		       const bool *spoke)
{
	const struct sbx_rule *rule = &sbx_rules(image)[index];

	for (size_t i = 0; i < policy->count; i++)
		if (spoke[i] && policy->rules[i].kind == rule->kind &&
		    !strcmp(policy->rules[i].path, sbx_str(image, rule->path)))
			return true;
	return false;
}

static bool trace_agrees(const struct policy *policy, const struct sbx_image *image,
			 const struct sbx_trace *trace, const bool *spoke)
{
	bool seen[MAX_RULES] = { false };

	if (trace->count > trace->cap)
		return false;
	for (size_t i = 0; i < trace->count; i++) {
		if (!has_spoken(policy, image, trace->steps[i].rule, spoke))
			return false;
		if (!policy->is_file)
			seen[trace->steps[i].rule] = true;
	}
	return policy->is_file || !memcmp(seen, spoke, policy->count * sizeof(*seen));
}

struct tally {
	unsigned long cases, allowed, files, extras, traces;
	unsigned long codes[SBX_CODE_COUNT];
};

static bool agree(struct policy *policy, const struct sbx_image *image,
		  const struct question *question, bool with_trace, struct ref_answer *expected,
		  struct sbx_verdict *verdict)
{
	struct sbx_step steps[MAX_STEPS];
	struct sbx_trace trace = { .steps = steps, .cap = MAX_STEPS };
	bool spoke[MAX_RULES], below[MAX_RULES];

	ask_reference(policy, question, spoke, below, expected);
	sbx_eval_with(image, &question->request, question->with_extra ? &question->extra : NULL,
		      with_trace ? &trace : NULL, verdict);
	return verdict->allowed == expected->allowed && (expected->codes >> verdict->code & 1) &&
	       verdict->error == expected->error &&
	       (verdict->rule == SBX_NONE || has_spoken(policy, image, verdict->rule, spoke) ||
		has_spoken(policy, image, verdict->rule, below)) &&
	       (!with_trace || !expected->allowed || trace_agrees(policy, image, &trace, spoke));
}

static void print_rule(const struct ref_rule *rule)
{
	static const char *const kinds[] = { "add",	"[path]", "deny",     "hide",
					     "protect", "lock",	  "unix deny" };
	char rights[] = "rwxs";

	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (!(rule->rights & (1 << i)))
			rights[i] = '-';
	diag("  %s %s %s%s%s%s%s%s%s (literal %zu, existing %zu, suffixes %s %s %s, max %jd)",
	     kinds[rule->kind], rights, rule->path, rule->flags & SBX_RULE_GLOB ? " GLOB" : "",
	     rule->flags & SBX_RULE_MISSING ? " MISSING" : "",
	     rule->flags & SBX_RULE_ABSENT ? " ABSENT" : "",
	     rule->flags & SBX_RULE_FREE ? " FREE" : "", rule->flags & SBX_RULE_REPO ? " REPO" : "",
	     rule->flags & SBX_RULE_FILE ? " FILE" : "", rule->literal, rule->existing,
	     rule->suffixes[0] ? rule->suffixes[0] : "-",
	     rule->suffixes[0] && rule->suffixes[1] ? rule->suffixes[1] : "-",
	     rule->suffixes[0] && rule->suffixes[1] && rule->suffixes[2] ? rule->suffixes[2] : "-",
	     (intmax_t)rule->max_bytes);
}

static void print_question(const struct question *question)
{
	const struct sbx_request *request = &question->request;

	diag("  asked: %s %s%s%s%s%s, size %jd", sbx_op_name(request->op), request->path,
	     request->to ? " to " : "", request->to ? request->to : "",
	     request->is_dir ? ", a folder" : "", request->new_repo ? ", new repository" : "",
	     (intmax_t)request->size);
	if (question->with_extra)
		diag("  as if there were: rights %d on %s%s", question->extra.rights,
		     question->extra.path, question->extra.missing ? ", missing" : "");
}

static bool still_fails(struct policy *policy, const struct question *question, bool with_trace)
{
	struct sbx_image *image;
	struct ref_answer expected;
	struct sbx_verdict verdict;
	bool fails;

	if (policy->is_file)
		write_policy(policy);
	image = policy->is_file ? load(policy) : compile(policy);
	fails = !agree(policy, image, question, with_trace, &expected, &verdict);
	free(image);
	return fails;
}

static void drop_rule(struct policy *policy, size_t at)
{
	memmove(&policy->rules[at], &policy->rules[at + 1],
		(policy->count - at - 1) * sizeof(policy->rules[0]));
	policy->count--;
	policy->own--;
}

/* Leaves out what does not matter. Paths stay where they are: rules point at them. */
static void shrink(struct policy *policy, struct question *question, bool with_trace)
{
	static struct policy smaller;
	struct question simpler = *question;

	for (size_t i = policy->own; i-- > 0;) {
		smaller = *policy;
		drop_rule(&smaller, i);
		if (still_fails(&smaller, question, with_trace))
			drop_rule(policy, i);
	}
	simpler.request.path = simpler.path;
	simpler.request.to = question->request.to ? simpler.to : NULL;
	simpler.with_extra = false;
	if (still_fails(policy, &simpler, with_trace))
		question->with_extra = false;
	for (int i = 0; i < 3; i++) {
		struct sbx_request kept = question->request;

		question->request.size = i == 0 ? -1 : kept.size;
		question->request.is_dir = i == 1 ? false : kept.is_dir;
		question->request.new_repo = i == 2 ? false : kept.new_repo;
		if (!still_fails(policy, question, with_trace))
			question->request = kept;
	}
}

static void report(struct policy *policy, struct question *question, bool with_trace)
{
	struct sbx_image *image;
	struct ref_answer expected;
	struct sbx_verdict verdict;

	shrink(policy, question, with_trace);
	if (policy->is_file)
		write_policy(policy);
	image = policy->is_file ? load(policy) : compile(policy);
	(void)agree(policy, image, question, with_trace, &expected, &verdict);
	diag("the engine and the reference disagree%s:", with_trace ? " (or the trace does)" : "");
	for (size_t i = 0; i < policy->own; i++)
		print_rule(&policy->rules[i]);
	if (policy->is_file)
		diag("  as a file in %s:\n%s", tree_root, policy->text);
	print_question(question);
	diag("  reference: %s, errno %d", sbx_code_name(expected.code), expected.error);
	diag("  engine: %s, errno %d, rule %d", sbx_code_name((enum sbx_code)verdict.code),
	     verdict.error, (int)verdict.rule);
	free(image);
}

/* All questions of one policy; false after a disagreement. */
static bool examine(struct policy *policy, unsigned long questions, struct tally *tally)
{
	struct sbx_image *image;
	bool fine = true;

	if (policy->is_file)
		write_policy(policy);
	image = policy->is_file ? load(policy) : compile(policy);
	for (unsigned long i = 0; i < questions && fine; i++) {
		struct question question = { 0 };
		struct ref_answer expected;
		struct sbx_verdict verdict;
		bool with_trace;

		random_question(policy, &question);
		with_trace = chance(10) && !question.with_extra;
		fine = agree(policy, image, &question, with_trace, &expected, &verdict);
		tally->cases++;
		tally->files += policy->is_file;
		tally->extras += question.with_extra;
		tally->traces += with_trace;
		tally->codes[expected.code]++;
		if (!fine)
			report(policy, &question, with_trace);
	}
	free(image);
	return fine;
}

static void build_tree(void)
{
	tree_begin();
	tree_dir("a/ab/a.b");
	tree_dir("a/.git/hooks");
	tree_dir("work/work/work-evil");
	tree_dir("ab");
	tree_dir(".git/hooks");
	tree_dir("hooks/x.md");
}

static unsigned long number_from(const char *name, unsigned long otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

static void check_coverage(const struct tally *tally)
{
	static const enum sbx_code codes[] = {
		SBX_CODE_ALLOWED,   SBX_CODE_OUTSIDE, SBX_CODE_READ_ONLY,  SBX_CODE_DENIED,
		SBX_CODE_PROTECTED, SBX_CODE_HIDDEN,  SBX_CODE_SUFFIX,	   SBX_CODE_SIZE,
		SBX_CODE_REFER,	    SBX_CODE_EXEC,    SBX_CODE_DESTINATION
	};

	for (size_t i = 0; i < COUNT(codes); i++) {
		const char *name = sbx_code_name(codes[i]);

		note("%s: %lu", name, tally->codes[codes[i]]);
		if (tally->cases >= 100000)
			cmp_ok(tally->codes[codes[i]], ">", 0, "'%s' was among the answers", name);
	}
}

int main(void)
{
	static struct policy policy;
	const char *variant = getenv("SBX_VARIANT");
	unsigned long cases =
		number_from("SBX_CASES", variant && !strcmp(variant, "asan") ? 100000 : 2000000);
	unsigned long seed = number_from("SBX_SEED", (unsigned long)time(NULL) * 1000003 +
							     (unsigned long)getpid());
	struct tally tally = { 0 };
	int failures = 0;

	plan(NO_PLAN);
	diag("SBX_SEED=%lu", seed);
	state = seed;
	build_tree();
	while (tally.cases < cases && failures < MAX_FAILURES) {
		unsigned long left = cases - tally.cases;

		if (chance(5))
			random_file(&policy);
		else
			random_draft(&policy);
		failures += !examine(&policy, left < QUESTIONS ? left : QUESTIONS, &tally);
	}
	cmp_ok(failures, "==", 0, "the engine answers %lu random questions like the reference",
	       tally.cases);
	note("%lu of policy files, %lu with a rule to try, %lu traced", tally.files, tally.extras,
	     tally.traces);
	check_coverage(&tally);
	done_testing();
}
