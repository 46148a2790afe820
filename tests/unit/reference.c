/* SPDX-License-Identifier: MIT */
/* The meaning of a policy, done the slow way. See reference.h. */
#include "reference.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What has been said of a folder by the time the walk stands in it. */
struct place {
	unsigned int rights;
	const struct ref_rule *taken; /* the hide, deny or [path] that spoke last */
	const struct ref_rule *section; /* the [path] whose suffixes and size hold */
	bool always; /* protected */
	bool repo; /* protected in repositories that existed at start */
	bool free;
	bool lock;
	bool no_socket;
	bool missing_root; /* this very place is a root to be created */
	bool missing_folder; /* a folder on the way to such a root */
	unsigned int undone; /* bits of codes: what refuses below and would not after a move */
	unsigned int undone_repo; /* the same, in repositories that existed at start */
};

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Bytes of the character at 'name'; of text that is not UTF-8 every byte is one. */
static size_t character(const char *name, size_t len)
{
	unsigned char lead = (unsigned char)name[0];
	size_t want = 1, got = 1;

	if (lead >= 0xc2 && lead <= 0xf4)
		want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
	while (got < want && got < len && is_continuation(name[got]))
		got++;
	return got == want ? want : 1;
}

bool ref_glob(const char *pattern, size_t pattern_len, const char *name, size_t name_len)
{
	if (pattern_len == 0)
		return name_len == 0;
	if (pattern[0] == '*') {
		for (size_t skip = 0; skip <= name_len; skip++)
			if (ref_glob(pattern + 1, pattern_len - 1, name + skip, name_len - skip))
				return true;
		return false;
	}
	if (name_len == 0)
		return false;
	if (pattern[0] == '?') {
		size_t skip = character(name, name_len);

		return ref_glob(pattern + 1, pattern_len - 1, name + skip, name_len - skip);
	}
	return pattern[0] == name[0] &&
	       ref_glob(pattern + 1, pattern_len - 1, name + 1, name_len - 1);
}

/* Empty components and "." mean nothing. */
static void split(const char *path, size_t literal, struct ref_parts *parts)
{
	parts->count = 0;
	for (const char *at = path; *at;) {
		size_t len = strcspn(at, "/");

		if (len > 0 && !(len == 1 && at[0] == '.')) {
			if (parts->count == REF_PARTS)
				abort();
			parts->list[parts->count++] =
				(struct ref_part){ at, len, (size_t)(at - path) >= literal };
		}
		at += len + (at[len] == '/');
	}
}

void ref_split(struct ref_rule *rule)
{
	split(rule->path, rule->literal, &rule->parts);
}

static bool is_stars(const struct ref_part *part)
{
	return part->wild && part->len == 2 && !memcmp(part->name, "**", 2);
}

static bool fits(const struct ref_part *part, const struct ref_part *name)
{
	if (part->wild)
		return ref_glob(part->name, part->len, name->name, name->len);
	return part->len == name->len && !memcmp(part->name, name->name, part->len);
}

static bool matches(const struct ref_part *pattern, size_t pattern_count,
		    const struct ref_part *path, size_t count)
{
	if (pattern_count == 0)
		return count == 0;
	if (is_stars(pattern))
		return matches(pattern + 1, pattern_count - 1, path, count) ||
		       (count > 0 && matches(pattern, pattern_count, path + 1, count - 1));
	return count > 0 && fits(pattern, path) &&
	       matches(pattern + 1, pattern_count - 1, path + 1, count - 1);
}

static bool speaks(const struct ref_rule *rule, const struct ref_part *path, size_t count)
{
	return matches(rule->parts.list, rule->parts.count, path, count);
}

static bool grants_write(const struct ref_rule *rule)
{
	return (rule->kind == SBX_RULE_ADD || rule->kind == SBX_RULE_SET) &&
	       (rule->rights & SBX_RIGHT_WRITE);
}

/* Whether the path is a missing folder that must be made before the rule's root can be. */
static bool leads_to(const struct ref_rule *rule, const struct ref_part *path, size_t count)
{
	const struct ref_parts *root = &rule->parts;

	if (!(rule->flags & SBX_RULE_MISSING) || !grants_write(rule))
		return false;
	for (size_t i = 1; i < root->count; i++) {
		const struct ref_part *last = &root->list[i - 1];
		size_t len = (size_t)(last->name - rule->path) + last->len;

		/* "**" names no folder. */
		if (len > rule->existing && !is_stars(last) && matches(root->list, i, path, count))
			return true;
	}
	return false;
}

/* Whether a "**" of the rule is open at the path: what follows it may speak anywhere below. */
static bool is_open(const struct ref_rule *rule, size_t stars, const struct ref_parts *path)
{
	for (size_t depth = 0; depth <= path->count; depth++)
		if (matches(rule->parts.list, stars, path->list, depth))
			return true;
	return false;
}

static bool guards(const struct ref_rule *rule)
{
	return rule->kind == SBX_RULE_PROTECT || rule->flags & SBX_RULE_FREE;
}

/*
 * Whether a link at the path could lead a protection past its place: one that is about a part of a
 * repository, whatever it is called, and so has a second "**".
 */
static bool speaks_of_parts(const struct ref_rule *rule, const struct ref_parts *path)
{
	if (!guards(rule))
		return false;
	for (size_t i = 1; i < rule->parts.count; i++)
		if (is_stars(&rule->parts.list[i]) && is_open(rule, i, path))
			return true;
	return false;
}

/*
 * Whether the rule speaks below the path, by name: what could be anywhere ("**") would still be
 * refused in another place.
 */
static bool reaches_below(const struct ref_rule *rule, const struct ref_part *path, size_t count)
{
	for (size_t i = 0; i < rule->parts.count; i++)
		if ((i == 0 || !is_stars(&rule->parts.list[i - 1])) &&
		    matches(rule->parts.list, i, path, count))
			return true;
	return false;
}

static bool has_protections(const struct ref_rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rules[i].kind == SBX_RULE_PROTECT)
			return true;
	return false;
}

/*
 * To move a folder would take what is in it from under such a rule; or what is free of protections to
 * where they hold.
 */
static void note_undone(struct place *place, const struct ref_rule *rule, bool protects)
{
	if (protects && (rule->flags & SBX_RULE_FREE) && !place->free)
		place->undone |= 1u << SBX_CODE_PROTECTED;
	switch (rule->kind) {
	case SBX_RULE_HIDE:
	case SBX_RULE_DENY:
	case SBX_RULE_SET:
	case SBX_RULE_UNIX_DENY:
		place->undone |= 1u << SBX_CODE_DENIED;
		break;
	case SBX_RULE_LOCK:
		place->undone |= 1u << SBX_CODE_READ_ONLY;
		break;
	case SBX_RULE_PROTECT:
		if (place->free)
			break;
		*(rule->flags & SBX_RULE_REPO ? &place->undone_repo : &place->undone) |=
			1u << SBX_CODE_PROTECTED;
		break;
	default:
		break;
	}
}

/* All that rules say of one place, before anybody decides who is heard. */
struct chorus {
	const struct ref_rule *hide, *deny, *set;
	unsigned int add;
	bool always, repo, by_name, free, lock, no_socket, missing_root, missing_folder;
};

/* 'is_file' says that the path ends here, and not at a folder. */
static void join(struct chorus *chorus, const struct ref_rule *rule, bool is_file)
{
	switch (rule->kind) {
	case SBX_RULE_HIDE:
		chorus->hide = rule;
		break;
	case SBX_RULE_DENY:
		chorus->deny = rule;
		break;
	case SBX_RULE_SET:
		chorus->set = rule;
		break;
	case SBX_RULE_ADD:
		chorus->add |= rule->rights;
		break;
	case SBX_RULE_PROTECT:
		if ((rule->flags & SBX_RULE_FILE) && !is_file)
			break;
		chorus->always |= !(rule->flags & SBX_RULE_REPO);
		chorus->repo |= !!(rule->flags & SBX_RULE_REPO);
		break;
	case SBX_RULE_LOCK:
		chorus->lock = true;
		break;
	case SBX_RULE_UNIX_DENY:
		chorus->no_socket = true;
		break;
	default:
		break;
	}
	chorus->free |= !!(rule->flags & SBX_RULE_FREE);
	chorus->by_name |= grants_write(rule) && !(rule->flags & SBX_RULE_GLOB) && !rule->tried;
	/* What a pattern matches may come and go. */
	chorus->missing_root |=
		grants_write(rule) && (rule->flags & (SBX_RULE_MISSING | SBX_RULE_GLOB));
}

/* hide beats deny beats [path] beats the lists. */
static void set_rights(struct place *place, const struct chorus *chorus)
{
	unsigned int socket = (place->rights | chorus->add) & SBX_RIGHT_SOCKET;
	const struct ref_rule *taken = chorus->hide   ? chorus->hide
				       : chorus->deny ? chorus->deny
						      : chorus->set;
	bool hidden;

	if (!taken) {
		place->rights |= chorus->add;
		return;
	}
	hidden = place->rights == 0 && place->taken && place->taken->kind == SBX_RULE_HIDE;
	place->section = taken == chorus->set ? taken : NULL;
	place->rights = taken == chorus->set ? taken->rights | socket : 0;
	/* What takes away, or sets to nothing, shows nothing. */
	if (!hidden || place->rights || taken == chorus->hide)
		place->taken = taken;
}

static void set_guards(struct place *place, const struct chorus *chorus)
{
	if (chorus->free)
		place->free = true;
	if (chorus->by_name || chorus->free) {
		place->always = place->repo = false;
	} else if (!place->free) {
		place->always |= chorus->always;
		place->repo |= chorus->repo;
	}
	place->lock |= chorus->lock;
	place->no_socket |= chorus->no_socket;
	place->missing_root = chorus->missing_root;
	place->missing_folder =
		chorus->missing_folder && !chorus->hide && !chorus->deny && !chorus->set;
}

/* A move, and making anything but a folder, could put a thing past the rules below the place. */
static bool may_undo(const struct sbx_request *request)
{
	return request->op == SBX_OP_RENAME ||
	       ((request->op == SBX_OP_CREATE || request->op == SBX_OP_BIND) && !request->is_dir);
}

/* The place at the path and the folder it stands in; false where ".." makes it unknowable. */
static bool walk(const struct ref_rule *rules, size_t count, const struct sbx_request *request,
		 bool *spoke, bool *below, struct place *parent, struct place *here)
{
	const char *path = request->path;
	struct ref_parts parts;
	bool is_file;

	*parent = *here = (struct place){ 0 };
	if (!path || path[0] != '/')
		return false;
	split(path, SIZE_MAX, &parts);
	is_file = !request->is_dir && path[strlen(path) - 1] != '/';
	for (size_t depth = 0; depth <= parts.count; depth++) {
		struct chorus chorus = { 0 };

		if (depth > 0 && parts.list[depth - 1].len == 2 &&
		    !memcmp(parts.list[depth - 1].name, "..", 2))
			return false;
		for (size_t i = 0; i < count; i++) {
			if (rules[i].flags & SBX_RULE_ABSENT)
				continue;
			below[i] = leads_to(&rules[i], parts.list, depth);
			chorus.missing_folder |= below[i];
			if (!speaks(&rules[i], parts.list, depth))
				continue;
			spoke[i] = true;
			join(&chorus, &rules[i], is_file && depth == parts.count);
		}
		*parent = *here;
		set_rights(here, &chorus);
		set_guards(here, &chorus);
	}
	for (size_t i = 0; i < count && may_undo(request); i++) {
		if ((rules[i].flags & SBX_RULE_ABSENT) ||
		    !(reaches_below(&rules[i], parts.list, parts.count) ||
		      (request->is_link && speaks_of_parts(&rules[i], &parts))))
			continue;
		below[i] = true;
		note_undone(here, &rules[i], has_protections(rules, count));
	}
	return true;
}

static bool refuse(struct ref_answer *answer, enum sbx_code code)
{
	int error = code == SBX_CODE_HIDDEN  ? ENOENT
		    : code == SBX_CODE_SIZE  ? EFBIG
		    : code == SBX_CODE_REFER ? EXDEV
					     : EACCES;

	*answer = (struct ref_answer){ false, code, error, 1u << code };
	return false;
}

static bool refuse_lack(const struct place *place, unsigned int right, struct ref_answer *answer)
{
	if (place->rights == 0 && place->taken)
		return refuse(answer, place->taken->kind == SBX_RULE_HIDE ? SBX_CODE_HIDDEN
									  : SBX_CODE_DENIED);
	if (right == SBX_RIGHT_EXEC)
		return refuse(answer, SBX_CODE_EXEC);
	if (right == SBX_RIGHT_SOCKET)
		return refuse(answer, SBX_CODE_DESTINATION);
	if (right == SBX_RIGHT_WRITE && (place->rights & SBX_RIGHT_READ))
		return refuse(answer, SBX_CODE_READ_ONLY);
	return refuse(answer, SBX_CODE_OUTSIDE);
}

static unsigned int needed(enum sbx_op op)
{
	switch (op) {
	case SBX_OP_READ:
	case SBX_OP_LIST:
		return SBX_RIGHT_READ;
	case SBX_OP_EXEC:
		return SBX_RIGHT_EXEC;
	case SBX_OP_CONNECT:
		return SBX_RIGHT_SOCKET;
	default:
		return SBX_RIGHT_WRITE;
	}
}

static bool suffix_fits(const struct ref_rule *section, const char *path)
{
	struct ref_parts parts;
	struct ref_part last = { "", 0, false };

	split(path, SIZE_MAX, &parts);
	if (parts.count)
		last = parts.list[parts.count - 1];
	if (!section->suffixes[0])
		return true;
	for (int i = 0; i < REF_SUFFIXES && section->suffixes[i]; i++) {
		size_t len = strlen(section->suffixes[i]);

		if (last.len >= len &&
		    !memcmp(last.name + last.len - len, section->suffixes[i], len))
			return true;
	}
	return false;
}

static bool check_section(const struct ref_rule *section, const struct sbx_request *request,
			  struct ref_answer *answer)
{
	if (section && !request->is_dir && request->op != SBX_OP_LIST &&
	    !suffix_fits(section, request->path))
		return refuse(answer, SBX_CODE_SUFFIX);
	if (section && request->size >= 0 && (uint64_t)request->size > section->max_bytes)
		return refuse(answer, SBX_CODE_SIZE);
	return true;
}

static bool changes_folder(enum sbx_op op)
{
	return op == SBX_OP_CREATE || op == SBX_OP_DELETE || op == SBX_OP_RENAME ||
	       op == SBX_OP_BIND;
}

/* A folder takes along what is in it. */
static bool check_move(const struct place *here, const struct sbx_request *request,
		       struct ref_answer *answer)
{
	unsigned int codes = here->undone | (request->new_repo ? 0 : here->undone_repo);

	if (!may_undo(request) || !codes)
		return true;
	(void)refuse(answer, (enum sbx_code)__builtin_ctz(codes));
	answer->codes = codes;
	return false;
}

/* One path, without a rename's target. */
static bool judge(const struct place *parent, const struct place *here,
		  const struct sbx_request *request, struct ref_answer *answer)
{
	unsigned int right = needed(request->op);
	bool makes_folder = request->op == SBX_OP_CREATE && request->is_dir && here->missing_folder;

	if (!(here->rights & right) && !makes_folder)
		return refuse_lack(here, right, answer);
	if (right == SBX_RIGHT_WRITE && here->lock)
		return refuse(answer, SBX_CODE_READ_ONLY);
	if (right == SBX_RIGHT_WRITE && (here->always || (here->repo && !request->new_repo)))
		return refuse(answer, SBX_CODE_PROTECTED);
	if (right == SBX_RIGHT_SOCKET && here->no_socket)
		return refuse(answer, SBX_CODE_DENIED);
	if (changes_folder(request->op) && !(parent->rights & SBX_RIGHT_WRITE) &&
	    !here->missing_root && !makes_folder)
		return refuse_lack(parent, SBX_RIGHT_WRITE, answer);
	if (!check_move(here, request, answer) || !check_section(here->section, request, answer))
		return false;
	*answer = (struct ref_answer){ .allowed = true,
				       .code = SBX_CODE_ALLOWED,
				       .codes = 1u << SBX_CODE_ALLOWED };
	return true;
}

static bool same_folder(const char *a, const char *b)
{
	struct ref_parts x, y;

	split(a, SIZE_MAX, &x);
	split(b, SIZE_MAX, &y);
	if (x.count == 0 || x.count != y.count)
		return false;
	for (size_t i = 0; i + 1 < x.count; i++)
		if (!fits(&x.list[i], &y.list[i]))
			return false;
	return true;
}

/* A folder that leaves the reach of a "**" takes along what the rule refuses in it. */
static void leave(const struct ref_rule *rules, size_t count, const struct sbx_request *request,
		  bool *below, struct ref_answer *answer)
{
	bool protects = has_protections(rules, count);
	struct place lost = { 0 };
	struct ref_parts from, to;
	unsigned int codes;

	split(request->path, SIZE_MAX, &from);
	split(request->to, SIZE_MAX, &to);
	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at < rules[i].parts.count; at++) {
			if ((rules[i].flags & SBX_RULE_ABSENT) ||
			    !is_stars(&rules[i].parts.list[at]) || !is_open(&rules[i], at, &from) ||
			    is_open(&rules[i], at, &to))
				continue;
			below[i] = true;
			note_undone(&lost, &rules[i], protects);
		}
	}
	codes = lost.undone | (request->new_repo ? 0 : lost.undone_repo);
	if (!codes)
		return;
	(void)refuse(answer, (enum sbx_code)__builtin_ctz(codes));
	answer->codes = codes;
}

/* What is in a folder was not made under what a "**" says that is open at the new name alone. */
static void enter(const struct ref_rule *rules, size_t count, const struct sbx_request *request,
		  const struct place *here, const struct place *there, bool *below,
		  struct ref_answer *answer)
{
	struct place gained = { .free = there->free };
	bool unguarded = here->free && !there->free, protects = has_protections(rules, count);
	struct ref_parts from, to;

	split(request->path, SIZE_MAX, &from);
	split(request->to, SIZE_MAX, &to);
	for (size_t i = 0; i < count; i++) {
		for (size_t at = 0; at < rules[i].parts.count; at++) {
			if ((rules[i].flags & SBX_RULE_ABSENT) ||
			    !is_stars(&rules[i].parts.list[at]) || !is_open(&rules[i], at, &to) ||
			    (is_open(&rules[i], at, &from) && !(unguarded && guards(&rules[i]))))
				continue;
			below[i] = true;
			note_undone(&gained, &rules[i], protects);
		}
	}
	if (gained.undone | (request->new_repo ? 0 : gained.undone_repo))
		(void)refuse(answer, SBX_CODE_REFER);
}

static bool is_picky(const struct ref_rule *section)
{
	return section && (section->suffixes[0] || section->max_bytes != UINT64_MAX);
}

/* A section's conditions hold for what is made there: nobody has looked at what comes from elsewhere. */
static bool crosses(const struct ref_rule *from, const struct ref_rule *to,
		    const struct sbx_request *request)
{
	if (from == to)
		return false;
	if (is_picky(from))
		return true;
	if (request->is_dir)
		return is_picky(to);
	return to && to->max_bytes != UINT64_MAX && request->size < 0;
}

void ref_ask(const struct ref_rule *rules, size_t count, const struct sbx_request *request,
	     bool *spoke, bool *below, struct ref_answer *answer)
{
	struct sbx_request target = *request;
	struct place parent, here, there;

	memset(spoke, 0, count * sizeof(*spoke));
	memset(below, 0, count * sizeof(*below));
	if (!walk(rules, count, request, spoke, below, &parent, &here)) {
		(void)refuse(answer, SBX_CODE_OUTSIDE);
		return;
	}
	if (!judge(&parent, &here, request, answer) || request->op != SBX_OP_RENAME || !request->to)
		return;
	target.path = request->to;
	if (!walk(rules, count, &target, spoke, below, &parent, &there))
		(void)refuse(answer, SBX_CODE_OUTSIDE);
	else if (judge(&parent, &there, &target, answer) &&
		 (crosses(here.section, there.section, request) ||
		  ((there.rights & ~here.rights) && !same_folder(request->path, request->to))))
		(void)refuse(answer, SBX_CODE_REFER);
	if (answer->allowed && request->is_dir)
		leave(rules, count, request, below, answer);
	if (answer->allowed && request->is_dir)
		enter(rules, count, request, &here, &there, below, answer);
}
