/* SPDX-License-Identifier: MIT */
/*
 * What a policy says about a path: the walk from "/" down to it.
 *
 * At every component the rules of all places that match so far are heard together (one literal place,
 * found by hash, and those behind patterns, kept as a bitmap); the strongest word of the component
 * then changes the rights. So a verdict costs by the depth of the path, not by the number of rules.
 *
 * Pure: bytes in, verdict out. Must stay free of allocation, system calls, locks and errno.
 */
#include "hash.h"
#include "ops.h"

#include <string.h>

#define BITMAP_WORDS (SBX_MAX_GLOBS / 64)

/* All that is said at one component. */
struct heard {
	uint32_t take;
	uint32_t protect;
	uint32_t lock;
	uint32_t unix_deny;
	uint32_t add[SBX_RIGHT_COUNT];
	uint32_t make_dir;
	uint8_t take_kind;
	uint8_t set_rights;
	uint8_t add_rights;
	uint8_t flags;
	bool any;
};

/* What holds after a component. */
struct state {
	uint32_t take; /* the last hide, deny or [path] */
	uint32_t last; /* the last rule that changed anything */
	uint32_t by[SBX_RIGHT_COUNT];
	uint32_t section;
	uint32_t protect;
	uint32_t lock;
	uint32_t unix_deny;
	uint32_t make_dir; /* the rule behind SBX_SPEECH_MAKE_DIR */
	uint32_t hole; /* rules below that a move would undo: see struct sbx_hole */
	uint32_t guard;
	uint32_t guard_repo;
	uint8_t take_kind;
	uint8_t rights;
	uint8_t flags; /* of this component alone */
	bool free;
	bool repo;
};

struct walk {
	const struct sbx_image *image;
	struct sbx_trace *trace;
	uint32_t len; /* how much of the path has been walked */
	uint32_t literal; /* the place reached by name, or SBX_NONE */
	uint32_t next_literal;
	uint32_t words; /* of the bitmaps that are in use */
	uint64_t *live; /* pattern places reached so far */
	uint64_t *next; /* and with the component that is being read; all clear in between */
	uint64_t bitmaps[2][BITMAP_WORDS];
};

struct component {
	const char *name;
	size_t len;
	uint64_t hash;
};

static void keep_first(uint32_t *kept, uint32_t rule)
{
	if (rule < *kept)
		*kept = rule;
}

static void note_words(struct walk *walk, const struct sbx_speech *speech)
{
	const uint32_t *words = sbx_words(walk->image) + speech->words.first;
	struct sbx_trace *trace = walk->trace;
	size_t room = trace->count < trace->cap ? trace->cap - trace->count : 0;

	for (uint32_t i = 0; i < speech->words.count && i < room; i++)
		trace->steps[trace->count + i] = (struct sbx_step){ words[i], walk->len };
	trace->count += speech->words.count;
}

static void hear(struct walk *walk, struct heard *heard, uint32_t index)
{
	const struct sbx_speech *speech = &sbx_speeches(walk->image)[index];

	heard->any = true;
	if (speech->take_kind > heard->take_kind) {
		heard->take_kind = speech->take_kind;
		heard->take = speech->take;
		heard->set_rights = speech->set_rights;
	} else if (speech->take_kind && speech->take_kind == heard->take_kind) {
		keep_first(&heard->take, speech->take);
	}
	heard->add_rights |= speech->add_rights;
	heard->flags |= speech->flags;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		keep_first(&heard->add[i], speech->add[i]);
	keep_first(&heard->protect, speech->protect);
	keep_first(&heard->lock, speech->lock);
	keep_first(&heard->unix_deny, speech->unix_deny);
	keep_first(&heard->make_dir, speech->make_dir);
	if (walk->trace)
		note_words(walk, speech);
}

static void go_live(struct walk *walk, uint32_t glob)
{
	walk->next[glob / 64] |= (uint64_t)1 << (glob % 64);
}

/* A place is reached: hear it, and walk on from it with the next component. */
static void enter(struct walk *walk, struct heard *heard, uint32_t index, bool by_name)
{
	const struct sbx_node *node = &sbx_nodes(walk->image)[index];

	if (node->speech != SBX_NONE)
		hear(walk, heard, node->speech);
	if (node->glob != SBX_NONE)
		go_live(walk, node->glob);
	else if (by_name && node->leads_on)
		walk->next_literal = index;
	if (node->fan != SBX_NONE) {
		uint32_t star = sbx_fans(walk->image)[node->fan].star;

		if (star != SBX_NONE)
			go_live(walk, sbx_nodes(walk->image)[star].glob);
	}
}

/* memcmp() for names, which are short: a call would cost more than the comparison. */
static inline bool same_name(const char *a, const char *b, size_t len)
{
	for (; len > 8; a += 8, b += 8, len -= 8)
		if (sbx_hash_load(a, 8) != sbx_hash_load(b, 8))
			return false;
	return sbx_hash_load(a, len) == sbx_hash_load(b, len);
}

static inline uint32_t find_edge(const struct sbx_image *image, uint32_t parent,
				 enum sbx_edge_kind kind, const char *name, size_t len,
				 uint64_t bytes_hash)
{
	const struct sbx_slot *slots = sbx_slots(image);
	uint32_t mask = sbx_count(image, SBX_TABLE_slots) - 1;
	uint32_t hash = sbx_hash_edge(image->seed, bytes_hash, parent, kind);

	for (uint32_t i = 0; i <= image->max_probe; i++) {
		const struct sbx_slot *slot = &slots[(hash + i) & mask];
		const struct sbx_node *node;

		if (slot->node == SBX_NONE)
			return SBX_NONE;
		if (slot->hash != hash)
			continue;
		node = &sbx_nodes(image)[slot->node];
		if (node->parent == parent && node->kind == kind && node->name_len == len &&
		    same_name(sbx_str(image, node->name), name, len))
			return slot->node;
	}
	return SBX_NONE;
}

static inline bool has_byte(const uint64_t set[4], char byte)
{
	unsigned char value = (unsigned char)byte;

	return set[value / 64] >> (value % 64) & 1;
}

/* Edges "name*" and "*name": one look-up for each length that the policy has. */
static void try_affixes(struct walk *walk, struct heard *heard, uint32_t from, uint64_t lens,
			enum sbx_edge_kind kind, const struct component *part)
{
	for (; lens; lens &= lens - 1) {
		size_t len = (size_t)__builtin_ctzll(lens);
		const char *name =
			kind == SBX_EDGE_PREFIX ? part->name : part->name + part->len - len;
		uint32_t to;

		if (len > part->len)
			return;
		to = find_edge(walk->image, from, kind, name, len, sbx_hash_bytes(name, len));
		if (to != SBX_NONE)
			enter(walk, heard, to, false);
	}
}

static void try_globs(struct walk *walk, struct heard *heard, const struct sbx_fan *fan,
		      const struct component *part)
{
	const struct sbx_image *image = walk->image;

	for (uint32_t i = 0; i < fan->edges.count; i++) {
		uint32_t to = sbx_edges(image)[fan->edges.first + i];
		const struct sbx_node *node = &sbx_nodes(image)[to];

		if (sbx_glob_match(sbx_str(image, node->name), node->name_len, part->name,
				   part->len))
			enter(walk, heard, to, false);
	}
}

static inline void try_name(struct walk *walk, struct heard *heard, uint32_t from,
			    const struct component *part)
{
	uint32_t to =
		find_edge(walk->image, from, SBX_EDGE_NAME, part->name, part->len, part->hash);

	if (to != SBX_NONE)
		enter(walk, heard, to, from == walk->literal);
}

/* From a place that patterns lead on from. Bytes at the ends tell whether a look-up is worth it. */
static void step_fan(struct walk *walk, struct heard *heard, uint32_t from,
		     const struct sbx_fan *fan, const struct component *part)
{
	if (has_byte(fan->first, part->name[0])) {
		try_name(walk, heard, from, part);
		if (fan->prefix_lens)
			try_affixes(walk, heard, from, fan->prefix_lens, SBX_EDGE_PREFIX, part);
	}
	if (fan->suffix_lens && has_byte(fan->last, part->name[part->len - 1]))
		try_affixes(walk, heard, from, fan->suffix_lens, SBX_EDGE_SUFFIX, part);
	if (fan->edges.count)
		try_globs(walk, heard, fan, part);
}

static inline void step_from(struct walk *walk, struct heard *heard, uint32_t from,
			     const struct component *part)
{
	const struct sbx_node *node = &sbx_nodes(walk->image)[from];

	if (node->fan != SBX_NONE)
		step_fan(walk, heard, from, &sbx_fans(walk->image)[node->fan], part);
	else
		try_name(walk, heard, from, part);
	if (node->kind == SBX_EDGE_STAR && node->glob != SBX_NONE)
		go_live(walk, node->glob);
}

/* What was reached by this component is where the next one starts. */
static void step_done(struct walk *walk)
{
	uint64_t *cleared = walk->live;

	walk->live = walk->next;
	walk->next = cleared;
	walk->literal = walk->next_literal;
}

static void step(struct walk *walk, struct heard *heard, const struct component *part)
{
	walk->next_literal = SBX_NONE;
	if (walk->literal != SBX_NONE)
		step_from(walk, heard, walk->literal, part);
	for (uint32_t i = 0; i < walk->words; i++) {
		uint64_t bits = walk->live[i];

		walk->live[i] = 0;
		for (; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);

			step_from(walk, heard, sbx_globs(walk->image)[glob], part);
		}
	}
	step_done(walk);
}

static void heard_clear(struct heard *heard)
{
	memset(heard, 0xff, offsetof(struct heard, take_kind));
	heard->take_kind = heard->set_rights = heard->add_rights = heard->flags = 0;
	heard->any = false;
}

/* hide and deny take all, a [path] section sets; what it says of sockets is nothing. */
static void take(const struct sbx_image *image, struct state *state, const struct heard *heard)
{
	uint8_t keep = 0;

	state->section = SBX_NONE;
	if (heard->take_kind == SBX_RULE_SET) {
		keep = (state->rights | heard->add_rights) & SBX_RIGHT_SOCKET;
		state->section = sbx_rules(image)[heard->take].section;
		keep |= heard->set_rights;
	}
	if (heard->add_rights & keep & SBX_RIGHT_SOCKET)
		state->by[SBX_RIGHT_SOCKET_INDEX] = heard->add[SBX_RIGHT_SOCKET_INDEX];
	state->rights = keep;
	state->take = state->last = heard->take;
	state->take_kind = heard->take_kind;
	for (int i = 0; i < 3; i++)
		state->by[i] = heard->take;
}

static void add(struct state *state, const struct heard *heard)
{
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (heard->add_rights & (1 << i))
			state->last = state->by[i] = heard->add[i];
	state->rights |= heard->add_rights;
}

/* 'is_file' says that the path ends here, and not at a folder. */
static void protect(struct state *state, const struct heard *heard, bool is_file)
{
	if (heard->flags & SBX_SPEECH_FREE)
		state->free = true;
	if (heard->flags & (SBX_SPEECH_EXACT | SBX_SPEECH_FREE)) {
		state->protect = SBX_NONE;
	} else if (heard->protect != SBX_NONE && !state->free &&
		   (heard->flags & SBX_SPEECH_FOLDER || is_file) &&
		   (state->protect == SBX_NONE || state->repo)) {
		state->protect = heard->protect;
		state->repo = !(heard->flags & SBX_SPEECH_ALWAYS);
	}
	keep_first(&state->lock, heard->lock);
	keep_first(&state->unix_deny, heard->unix_deny);
}

static void apply(const struct sbx_image *image, struct state *state, const struct heard *heard,
		  bool is_file)
{
	if (heard->take_kind)
		take(image, state, heard);
	else if (heard->add_rights)
		add(state, heard);
	protect(state, heard, is_file);
	state->flags = heard->flags & (SBX_SPEECH_MISSING | SBX_SPEECH_MAKE_DIR);
	state->make_dir = heard->make_dir;
	if (heard->take_kind)
		state->flags &= ~SBX_SPEECH_MAKE_DIR;
}

static void hear_extra(const struct sbx_extra *extra, const char *path, size_t len,
		       struct heard *heard)
{
	if (extra->len != len || memcmp(extra->path, path, len))
		return;
	heard->any = true;
	heard->add_rights |= extra->rights;
	/* It must not lift a default protection: that is for the user to think of. */
	if ((extra->rights & SBX_RIGHT_WRITE) && extra->missing)
		heard->flags |= SBX_SPEECH_MISSING;
}

static void walk_start(struct walk *walk, const struct sbx_image *image, struct sbx_trace *trace)
{
	walk->image = image;
	walk->trace = trace;
	walk->len = 1;
	walk->words = (sbx_count(image, SBX_TABLE_globs) + 63) / 64;
	walk->live = walk->bitmaps[0];
	walk->next = walk->bitmaps[1];
	memset(walk->live, 0, walk->words * sizeof(walk->live[0]));
	memset(walk->next, 0, walk->words * sizeof(walk->next[0]));
}

/* "/" speaks before any component is read. */
static void walk_root(struct walk *walk, struct heard *heard)
{
	walk->next_literal = SBX_NONE;
	enter(walk, heard, 0, true);
	step_done(walk);
}

/* Where the component that begins at 'pos' ends: memchr() for short distances. */
static inline size_t component_end(const char *path, size_t pos, size_t len)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	const uint64_t ones = 0x0101010101010101u, slashes = ones * '/';

	for (; pos + 8 <= len; pos += 8) {
		uint64_t bytes = sbx_hash_load(path + pos, 8) ^ slashes;
		uint64_t found = (bytes - ones) & ~bytes & ones << 7;

		if (found)
			return pos + (size_t)__builtin_ctzll(found) / 8;
	}
#endif
	while (pos < len && path[pos] != '/')
		pos++;
	return pos;
}

/* The next component that is not empty or ".", starting at 'pos'; false at the end. */
static bool next_component(const char *path, size_t len, size_t *pos, struct component *part)
{
	size_t i = *pos;

	for (;;) {
		size_t start;

		while (path[i] == '/')
			i++;
		start = i;
		i = component_end(path, i, len);
		*pos = i;
		if (i == start)
			return false;
		if (i - start == 1 && path[start] == '.')
			continue;
		*part = (struct component){ path + start, i - start,
					    sbx_hash_bytes(path + start, i - start) };
		return true;
	}
}

static void state_clear(struct state *state)
{
	memset(state, 0, sizeof(*state));
	state->take = state->last = state->section = SBX_NONE;
	state->protect = state->lock = state->unix_deny = SBX_NONE;
	state->make_dir = state->hole = state->guard = state->guard_repo = SBX_NONE;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		state->by[i] = SBX_NONE;
}

static void note_hole(struct state *state, const struct sbx_image *image, uint32_t node)
{
	const struct sbx_hole *hole = &sbx_holes(image)[node];

	keep_first(&state->hole, hole->rule);
	keep_first(&state->guard, hole->guard);
	keep_first(&state->guard_repo, hole->guard_repo);
}

/* Rules that reach below the place where the walk ended, by name and not by "**" alone. */
static void find_holes(const struct walk *walk, struct state *state)
{
	if (walk->literal != SBX_NONE)
		note_hole(state, walk->image, walk->literal);
	for (uint32_t i = 0; i < walk->words; i++) {
		for (uint64_t bits = walk->live[i]; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t node = sbx_globs(walk->image)[glob];

			if (sbx_nodes(walk->image)[node].kind != SBX_EDGE_STAR)
				note_hole(state, walk->image, node);
		}
	}
}

/*
 * False for what is not an absolute path without "..": nothing can be said of it. Flattened, because
 * a step is little more than its calls.
 */
__attribute__((flatten)) static bool walk_path(const struct sbx_image *image,
					       const struct sbx_request *request,
					       const struct sbx_extra *extra,
					       struct sbx_trace *trace, struct walk *walk,
					       struct state *parent, struct state *here)
{
	const char *path = request->path;
	size_t len = path ? strlen(path) : 0, pos = 0;
	struct heard heard;
	struct component part;
	bool spoke = true;

	state_clear(here);
	if (len == 0 || path[0] != '/')
		return false;
	walk_start(walk, image, trace);
	heard_clear(&heard);
	walk_root(walk, &heard);
	if (extra)
		hear_extra(extra, path, 1, &heard);
	state_clear(parent);
	apply(image, here, &heard, false);
	while (next_component(path, len, &pos, &part)) {
		if (part.len == 2 && part.name[0] == '.' && part.name[1] == '.')
			return false;
		walk->len = (uint32_t)pos;
		if (heard.any)
			heard_clear(&heard);
		step(walk, &heard, &part);
		if (extra)
			hear_extra(extra, path, pos, &heard);
		spoke = heard.any;
		if (!spoke)
			continue;
		*parent = *here;
		apply(image, here, &heard, pos == len && !request->is_dir);
	}
	/* Where nothing was said, a path has what its folder has. */
	if (!spoke) {
		here->flags = 0;
		*parent = *here;
	}
	if (sbx_ops[request->op].flags & SBX_OP_IS_ENTRY || request->op == SBX_OP_BIND)
		find_holes(walk, here);
	return true;
}

static int right_index(uint8_t right)
{
	return __builtin_ctz(right);
}

/* Why a right is missing, from what the walk left behind. */
static void refuse_missing(const struct state *state, uint8_t right, struct sbx_verdict *verdict)
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
static bool check_write(const struct state *state, const struct sbx_request *request,
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
static bool check_parent(const struct state *parent, const struct state *here,
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
static uint32_t pick_hole(const struct state *state, const struct sbx_request *request)
{
	uint32_t hole = state->hole;

	if (state->free)
		return hole;
	keep_first(&hole, state->guard);
	if (!request->new_repo)
		keep_first(&hole, state->guard_repo);
	return hole;
}

static void refuse_hole(const struct sbx_image *image, uint32_t hole, struct sbx_verdict *verdict)
{
	const struct sbx_rule *rule = &sbx_rules(image)[hole];

	if (rule->kind == SBX_RULE_PROTECT)
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
 * or is made there as a link or file, would stand where they refuse to make it bit by bit.
 */
static bool check_hole(const struct sbx_image *image, const struct state *here,
		       const struct sbx_request *request, struct sbx_verdict *verdict)
{
	bool makes = request->op == SBX_OP_CREATE || request->op == SBX_OP_BIND;
	uint32_t hole = pick_hole(here, request);

	if (hole == SBX_NONE || (request->op != SBX_OP_RENAME && !(makes && !request->is_dir)))
		return true;
	refuse_hole(image, hole, verdict);
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
	struct state parent, here;
	struct walk walk;
	bool make_dir, known = walk_path(image, request, extra, trace, &walk, &parent, &here);

	*verdict = (struct sbx_verdict){ .rights = here.rights, .section = here.section };
	make_dir = request->op == SBX_OP_CREATE && request->is_dir &&
		   (here.flags & SBX_SPEECH_MAKE_DIR);
	if (!known) {
		verdict->rights = 0;
		sbx_refuse(verdict, SBX_CODE_OUTSIDE, SBX_NONE);
		return;
	}
	if (!(here.rights & op->right) && !make_dir) {
		refuse_missing(&here, op->right, verdict);
		return;
	}
	if (op->right == SBX_RIGHT_WRITE && !check_write(&here, request, verdict))
		return;
	if ((op->flags & SBX_OP_IS_NET) && here.unix_deny != SBX_NONE) {
		sbx_refuse(verdict, SBX_CODE_DENIED, here.unix_deny);
		return;
	}
	if ((op->flags & SBX_OP_IS_ENTRY || request->op == SBX_OP_BIND) &&
	    !check_parent(&parent, &here, request, verdict))
		return;
	if (!check_hole(image, &here, request, verdict))
		return;
	if (here.section != SBX_NONE && !sbx_eval_section(image, request, verdict))
		return;
	verdict->allowed = true;
	verdict->code = SBX_CODE_ALLOWED;
	verdict->rule = here.rights & op->right ? here.by[right_index(op->right)] : here.make_dir;
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

/*
 * Rules behind "**" that may speak anywhere below the old name of a folder, and nowhere below the new
 * one.
 */
static void find_lost(const struct sbx_image *image, const struct sbx_request *request,
		      struct state *lost)
{
	struct sbx_request target = *request;
	struct state parent;
	struct walk from, to;

	target.path = request->to;
	if (!walk_path(image, request, NULL, NULL, &from, &parent, lost) ||
	    !walk_path(image, &target, NULL, NULL, &to, &parent, lost))
		return;
	state_clear(lost);
	for (uint32_t i = 0; i < from.words; i++) {
		for (uint64_t bits = from.live[i] & ~to.live[i]; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);
			uint32_t node = sbx_globs(image)[glob];

			if (sbx_nodes(image)[node].kind == SBX_EDGE_STAR)
				note_hole(lost, image, node);
		}
	}
}

/* What a [path] section refuses by suffix or size must not get out of it by a move. */
static bool leaves_section(const struct sbx_image *image, uint32_t from, uint32_t to)
{
	return from != SBX_NONE && from != to &&
	       (sbx_sections(image)[from].suffixes.count ||
		sbx_sections(image)[from].max_bytes != UINT64_MAX);
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
	struct state lost;

	target.path = request->to;
	eval_one(image, &target, extra, trace, verdict);
	if (!verdict->allowed) {
		verdict->flags |= SBX_VERDICT_TARGET;
	} else if (leaves_section(image, source.section, verdict->section) ||
		   ((verdict->rights & ~source.rights) &&
		    !same_folder(request->path, request->to))) {
		sbx_refuse(verdict, SBX_CODE_REFER, SBX_NONE);
		verdict->flags |= SBX_VERDICT_TARGET;
	} else if (request->is_dir) {
		find_lost(image, request, &lost);
		if (pick_hole(&lost, request) != SBX_NONE)
			refuse_hole(image, pick_hole(&lost, request), verdict);
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
