/* SPDX-License-Identifier: MIT */
/*
 * Verdicts about paths: what the rules along the way, which walk.c hears, come to for one operation.
 *
 * Pure: bytes in, verdict out. Must stay free of allocation, system calls, locks and errno.
 */
#include "ops.h"
#include "walk.h"

#include <string.h>

static int right_index(uint8_t right)
{
	return __builtin_ctz(right);
}

/* Why a right is missing, from what the walk left behind. */
static void refuse_missing(const struct sbx_state *state, uint8_t right,
			   struct sbx_verdict *verdict)
{
	bool taken = state->rights == 0 && state->take_kind;

	if (taken && state->take_kind == SBX_RULE_HIDE)
		sbx_refuse(verdict, SBX_CODE_HIDDEN, state->take);
	else if (taken)
		sbx_refuse(verdict, SBX_CODE_DENIED, state->take);
	else if (right == SBX_RIGHT_EXEC)
		sbx_refuse(verdict, SBX_CODE_EXEC, state->last);
	else if (right == SBX_RIGHT_SOCKET)
		sbx_refuse(verdict, SBX_CODE_DESTINATION, SBX_NONE);
	else if (right == SBX_RIGHT_WRITE && (state->rights & SBX_RIGHT_READ))
		sbx_refuse(verdict, SBX_CODE_READ_ONLY, state->last);
	else
		sbx_refuse(verdict, SBX_CODE_OUTSIDE, SBX_NONE);
}

/* Writing has more against it than a missing right. */
static bool check_write(const struct sbx_state *state, const struct sbx_request *request,
			struct sbx_verdict *verdict)
{
	if (state->lock != SBX_NONE) {
		sbx_refuse(verdict, SBX_CODE_READ_ONLY, state->lock);
	} else if (state->protect != SBX_NONE && !(state->repo && request->new_repo)) {
		sbx_refuse(verdict, SBX_CODE_PROTECTED, state->protect);
		verdict->flags |= state->repo ? SBX_VERDICT_REPO : 0;
	} else {
		return true;
	}
	return false;
}

/* Making or removing an entry changes its folder, but for a root that the policy lets be created. */
static bool check_parent(const struct sbx_state *parent, const struct sbx_state *here,
			 const struct sbx_request *request, struct sbx_verdict *verdict)
{
	if (parent->rights & SBX_RIGHT_WRITE)
		return true;
	if ((here->flags & SBX_SPEECH_MISSING) || ((here->flags & SBX_SPEECH_MAKE_DIR) &&
						   request->is_dir && request->op == SBX_OP_CREATE))
		return true;
	refuse_missing(parent, SBX_RIGHT_WRITE, verdict);
	verdict->flags |= SBX_VERDICT_PARENT;
	return false;
}

/* The rule among those below that holds for this request, or SBX_NONE. */
static uint32_t pick_hole(const struct sbx_state *state, const struct sbx_request *request)
{
	uint32_t hole = state->hole;

	if (state->free)
		return hole;
	sbx_keep_first(&hole, state->guard);
	if (!request->new_repo)
		sbx_keep_first(&hole, state->guard_repo);
	return hole;
}

static void refuse_hole(const struct sbx_image *image, uint32_t hole, struct sbx_verdict *verdict)
{
	const struct sbx_rule *rule = &sbx_rules(image)[hole];

	if (rule->kind == SBX_RULE_PROTECT || rule->flags & SBX_RULE_FREE)
		sbx_refuse(verdict, SBX_CODE_PROTECTED, hole);
	else if (rule->kind == SBX_RULE_LOCK)
		sbx_refuse(verdict, SBX_CODE_READ_ONLY, hole);
	else
		sbx_refuse(verdict, SBX_CODE_DENIED, hole);
	if (rule->flags & SBX_RULE_REPO)
		verdict->flags |= SBX_VERDICT_REPO;
}

/*
 * A folder that is moved takes along what rules below it refuse; and what is moved to such a place,
 * or is made there as a link or file, would stand where they refuse to make it bit by bit. For a link
 * that is so behind "**", too: where a repository's parts may be, it could lead to any folder.
 */
static bool check_hole(struct sbx_walk *walk, const struct sbx_request *request,
		       struct sbx_verdict *verdict)
{
	bool makes = request->op == SBX_OP_CREATE || request->op == SBX_OP_BIND;
	uint32_t hole;

	if (request->is_link)
		sbx_note_guards(&walk->here, walk, true);
	hole = pick_hole(&walk->here, request);
	if (hole == SBX_NONE || (request->op != SBX_OP_RENAME && !(makes && !request->is_dir)))
		return true;
	refuse_hole(walk->image, hole, verdict);
	return false;
}

static bool suffix_fits(const struct sbx_image *image, const struct sbx_section *section,
			const char *path)
{
	size_t end = strlen(path);
	size_t start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	for (uint32_t i = 0; i < section->suffixes.count; i++) {
		const char *suffix =
			sbx_str(image, sbx_items(image)[section->suffixes.first + i].text);
		size_t len = strlen(suffix);

		if (len <= end - start && !memcmp(path + end - len, suffix, len))
			return true;
	}
	return section->suffixes.count == 0;
}

bool sbx_eval_section(const struct sbx_image *image, const struct sbx_request *request,
		      struct sbx_verdict *verdict)
{
	const struct sbx_section *section = &sbx_sections(image)[verdict->section];

	if (!request->is_dir && !(sbx_ops[request->op].flags & SBX_OP_IS_LIST) &&
	    !suffix_fits(image, section, request->path)) {
		sbx_refuse(verdict, SBX_CODE_SUFFIX, section->rule);
		return false;
	}
	if (request->size >= 0 && (uint64_t)request->size > section->max_bytes) {
		sbx_refuse(verdict, SBX_CODE_SIZE, section->rule);
		return false;
	}
	return true;
}

void sbx_refuse(struct sbx_verdict *verdict, enum sbx_code code, uint32_t rule)
{
	verdict->allowed = false;
	verdict->code = (uint8_t)code;
	verdict->error = sbx_code_errors[code];
	verdict->rule = rule;
}

static void eval_one(const struct sbx_image *image, const struct sbx_request *request,
		     const struct sbx_extra *extra, struct sbx_trace *trace,
		     struct sbx_verdict *verdict)
{
	const struct sbx_opinfo *op = &sbx_ops[request->op];
	struct sbx_walk walk;
	const struct sbx_state *here = &walk.here;
	bool make_dir, known = sbx_walk(&walk, image, request, extra, trace);

	*verdict = (struct sbx_verdict){ .rights = here->rights, .section = here->section };
	make_dir = request->op == SBX_OP_CREATE && request->is_dir &&
		   (here->flags & SBX_SPEECH_MAKE_DIR);
	if (!known) {
		verdict->rights = 0;
		sbx_refuse(verdict, SBX_CODE_OUTSIDE, SBX_NONE);
		return;
	}
	if (!(here->rights & op->right) && !make_dir) {
		refuse_missing(here, op->right, verdict);
		return;
	}
	if (op->right == SBX_RIGHT_WRITE && !check_write(here, request, verdict))
		return;
	if ((op->flags & SBX_OP_IS_NET) && here->unix_deny != SBX_NONE) {
		sbx_refuse(verdict, SBX_CODE_DENIED, here->unix_deny);
		return;
	}
	if ((op->flags & SBX_OP_IS_ENTRY || request->op == SBX_OP_BIND) &&
	    !check_parent(&walk.parent, here, request, verdict))
		return;
	if (!check_hole(&walk, request, verdict))
		return;
	if (here->section != SBX_NONE && !sbx_eval_section(image, request, verdict))
		return;
	verdict->allowed = true;
	verdict->code = SBX_CODE_ALLOWED;
	verdict->rule =
		here->rights & op->right ? here->by[right_index(op->right)] : here->make_dir;
}

static size_t parent_len(const char *path)
{
	size_t len = strlen(path);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len;
}

/* Rules behind "**" that may speak anywhere below one place of a folder, and nowhere below 'other'. */
static void find_apart(const struct sbx_walk *walk, const struct sbx_walk *other,
		       struct sbx_state *found)
{
	sbx_state_clear(found);
	for (uint32_t i = 0; i < walk->words; i++) {
		for (uint64_t bits = walk->live[i] & ~other->live[i]; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);

			if (walk->fans[glob].star == glob)
				sbx_note_hole(found, walk->image, walk->fans[glob].node);
		}
	}
}

/*
 * What is in a folder was made under the rules of its old name. Where others hold below the new one, it
 * must be made there once more, bit by bit: it is to be copied.
 */
static void check_gained(const struct sbx_request *request, const struct sbx_walk *from,
			 const struct sbx_walk *to, struct sbx_verdict *verdict)
{
	struct sbx_request spared = *request;
	struct sbx_state gained;
	uint32_t hole;

	find_apart(to, from, &gained);
	/* Protections speak below every folder, but not where nothing is protected. */
	if (from->here.free)
		sbx_note_guards(&gained, to, false);
	gained.free = to->here.free;
	hole = pick_hole(&gained, request);
	if (hole == SBX_NONE)
		return;
	spared.new_repo = true;
	sbx_refuse(verdict, SBX_CODE_REFER, hole);
	verdict->flags |= SBX_VERDICT_TARGET;
	if (pick_hole(&gained, &spared) == SBX_NONE)
		verdict->flags |= SBX_VERDICT_REPO;
}

/* A folder that is moved takes along what rules anywhere below either name are about. */
static void check_below(const struct sbx_image *image, const struct sbx_request *request,
			struct sbx_verdict *verdict)
{
	struct sbx_request target = *request;
	struct sbx_walk from, to;
	struct sbx_state lost;

	target.path = request->to;
	if (!sbx_walk(&from, image, request, NULL, NULL) ||
	    !sbx_walk(&to, image, &target, NULL, NULL))
		return;
	find_apart(&from, &to, &lost);
	if (pick_hole(&lost, request) != SBX_NONE)
		refuse_hole(image, pick_hole(&lost, request), verdict);
	else
		check_gained(request, &from, &to, verdict);
}

static bool has_conditions(const struct sbx_image *image, uint32_t section)
{
	return section != SBX_NONE && (sbx_sections(image)[section].suffixes.count ||
				       sbx_sections(image)[section].max_bytes != UINT64_MAX);
}

/*
 * What a [path] section refuses by suffix or size must not get out of it by a move, nor into it inside
 * of a folder; or with a size that nobody looked at.
 */
static bool crosses_sections(const struct sbx_image *image, const struct sbx_request *request,
			     uint32_t from, uint32_t to)
{
	bool unseen = request->is_dir;

	if (to != SBX_NONE && request->size < 0)
		unseen |= sbx_sections(image)[to].max_bytes != UINT64_MAX;
	return from != to && (has_conditions(image, from) || (unseen && has_conditions(image, to)));
}

static bool same_folder(const char *a, const char *b)
{
	size_t len = parent_len(a);

	return len == parent_len(b) && !memcmp(a, b, len);
}

/* The new name of a rename: it must be free to be made, and must not lift what the old one was under. */
static void eval_target(const struct sbx_image *image, const struct sbx_request *request,
			const struct sbx_extra *extra, struct sbx_trace *trace,
			struct sbx_verdict *verdict)
{
	struct sbx_verdict source = *verdict;
	struct sbx_request target = *request;

	target.path = request->to;
	eval_one(image, &target, extra, trace, verdict);
	if (!verdict->allowed) {
		verdict->flags |= SBX_VERDICT_TARGET;
	} else if (crosses_sections(image, request, source.section, verdict->section) ||
		   ((verdict->rights & ~source.rights) &&
		    !same_folder(request->path, request->to))) {
		sbx_refuse(verdict, SBX_CODE_REFER, SBX_NONE);
		verdict->flags |= SBX_VERDICT_TARGET;
	} else if (request->is_dir) {
		check_below(image, request, verdict);
	}
}

void sbx_eval_path(const struct sbx_image *image, const struct sbx_request *request,
		   const struct sbx_extra *extra, struct sbx_trace *trace,
		   struct sbx_verdict *verdict)
{
	eval_one(image, request, extra, trace, verdict);
	if (verdict->allowed && request->op == SBX_OP_RENAME && request->to)
		eval_target(image, request, extra, trace, verdict);
}

/* Which part of [sandbox] complain a refusal belongs to: the order of its words in keys.def. */
static unsigned int complain_part(const struct sbx_verdict *verdict, const struct sbx_opinfo *op)
{
	enum {
		PATHS,
		EXEC,
		NETWORK
	};

	if (op->flags & SBX_OP_IS_NET)
		return NETWORK;
	return op->right == SBX_RIGHT_EXEC || verdict->code == SBX_CODE_EXEC ? EXEC : PATHS;
}

void sbx_eval_with(const struct sbx_image *image, const struct sbx_request *request,
		   const struct sbx_extra *extra, struct sbx_trace *trace,
		   struct sbx_verdict *verdict)
{
	const struct sbx_opinfo *op = &sbx_ops[request->op];
	uint64_t complain = sbx_setting(image, SBX_KEY_sandbox_complain)->value;

	if (op->flags & SBX_OP_IS_NET)
		sbx_eval_net(image, request, extra, trace, verdict);
	else
		sbx_eval_path(image, request, extra, trace, verdict);
	if (!verdict->allowed && (complain >> complain_part(verdict, op) & 1))
		verdict->flags |= SBX_VERDICT_COMPLAIN;
}

void sbx_eval(const struct sbx_image *image, const struct sbx_request *request,
	      struct sbx_verdict *verdict)
{
	sbx_eval_with(image, request, NULL, NULL, verdict);
}
