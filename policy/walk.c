/* SPDX-License-Identifier: MIT */
/*
 * What a policy says along a path, from "/" down.
 *
 * At every component the rules of all places that match so far are heard together (one literal place,
 * found by hash, and those behind patterns, kept as a bitmap); the strongest word of the component
 * then changes the rights. So a walk costs by the depth of the path, not by the number of rules. What
 * many rules do cost is the way to memory: therefore a path is hashed some components ahead, and what
 * they will need is fetched meanwhile.
 *
 * Pure: bytes in, verdict out. Must stay free of allocation, system calls, locks and errno.
 */
#include "walk.h"

#include "hash.h"
#include "ops.h"

#include <string.h>

#define AHEAD 16
/* Kept out of the loop over components, for the sake of its registers. */
#define OUTLINE __attribute__((noinline))

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

/* A component, or an end of one. */
struct name {
	const char *bytes;
	size_t len;
	uint64_t low; /* the first sixteen bytes, filled up with zeros: see sbx_load_some() */
	uint64_t high;
	uint64_t hash;
	uint32_t edge; /* hash of the place that names alone lead to */
};

static void note(struct sbx_walk *walk, const uint32_t *rules, uint32_t count)
{
	struct sbx_trace *trace = walk->trace;
	size_t room = trace->count < trace->cap ? trace->cap - trace->count : 0;

	for (uint32_t i = 0; i < count && i < room; i++)
		trace->steps[trace->count + i] =
			(struct sbx_step){ rules[i], (uint32_t)(walk->end - walk->path) };
	trace->count += count;
}

static void hear_take(struct heard *heard, uint8_t kind, uint32_t rule, uint8_t rights)
{
	if (kind > heard->take_kind) {
		heard->take_kind = kind;
		heard->take = rule;
		heard->set_rights = rights;
	} else if (kind && kind == heard->take_kind) {
		sbx_keep_first(&heard->take, rule);
	}
}

OUTLINE static void hear_speech(struct sbx_walk *walk, struct heard *heard, uint32_t index)
{
	const struct sbx_speech *speech = &sbx_speeches(walk->image)[index];

	hear_take(heard, speech->take_kind, speech->take, speech->set_rights);
	heard->add_rights |= speech->add_rights;
	heard->flags |= speech->flags;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		sbx_keep_first(&heard->add[i], speech->add[i]);
	sbx_keep_first(&heard->protect, speech->protect);
	sbx_keep_first(&heard->lock, speech->lock);
	sbx_keep_first(&heard->unix_deny, speech->unix_deny);
	sbx_keep_first(&heard->make_dir, speech->make_dir);
	if (walk->trace)
		note(walk, sbx_words(walk->image) + speech->words.first, speech->words.count);
}

static void hear_rule(struct sbx_walk *walk, struct heard *heard, const struct sbx_node *node)
{
	heard->flags |= node->flags;
	switch (node->says) {
	case SBX_RULE_ADD:
		heard->add_rights |= node->rights;
		for (int i = 0; i < SBX_RIGHT_COUNT; i++)
			sbx_keep_first(&heard->add[i],
				       node->rights >> i & 1 ? node->rule : SBX_NONE);
		break;
	case SBX_RULE_PROTECT:
		sbx_keep_first(&heard->protect, node->rule);
		break;
	case SBX_RULE_LOCK:
		sbx_keep_first(&heard->lock, node->rule);
		break;
	case SBX_RULE_UNIX_DENY:
		sbx_keep_first(&heard->unix_deny, node->rule);
		break;
	default:
		hear_take(heard, node->says, node->rule, node->rights);
		break;
	}
	if (walk->trace)
		note(walk, &node->rule, 1);
}

static inline void go_live(struct sbx_walk *walk, uint32_t glob)
{
	walk->next[glob / 64] |= (uint64_t)1 << (glob % 64);
}

/* A place is reached: hear it, and walk on from it with the next component. */
static inline void enter(struct sbx_walk *walk, struct heard *heard, const struct sbx_node *node)
{
	if (node->says != SBX_SAYS_NOTHING) {
		heard->any = true;
		if (node->says == SBX_SAYS_MUCH)
			hear_speech(walk, heard, node->rule);
		else
			hear_rule(walk, heard, node);
	}
	if (node->fan != SBX_NONE) {
		uint32_t star = walk->fans[node->fan].star;

		if (node->fan < walk->image->globs)
			go_live(walk, node->fan);
		if (star != SBX_NONE)
			go_live(walk, star);
	}
}

static const char *node_name(const struct sbx_image *image, const struct sbx_node *node)
{
	return node->name_len <= sizeof(node->head) ? node->head : sbx_str(image, node->name);
}

static inline bool is_named(const struct sbx_image *image, const struct sbx_node *node,
			    const struct name *name)
{
	return node->name_len == name->len && sbx_load8(node->head) == name->low &&
	       sbx_load8(node->head + 8) == name->high &&
	       (name->len <= 16 ||
		!memcmp(node_name(image, node) + 16, name->bytes + 16, name->len - 16));
}

static inline const struct sbx_node *find(const struct sbx_walk *walk, uint32_t from,
					  enum sbx_edge_kind kind, uint32_t hash,
					  const struct name *name)
{
	for (uint32_t i = 0; i <= walk->image->max_probe; i++) {
		const struct sbx_slot *slot = &walk->slots[(hash + i) & walk->mask];
		const struct sbx_node *node;

		if (slot->node == SBX_NONE)
			return NULL;
		if (slot->hash != hash)
			continue;
		node = &walk->nodes[slot->node];
		if (node->parent == from && node->kind == kind && is_named(walk->image, node, name))
			return node;
	}
	return NULL;
}

static inline bool has_byte(const uint64_t set[4], char byte)
{
	unsigned char value = (unsigned char)byte;

	return set[value / 64] >> (value % 64) & 1;
}

static void try_affix(struct sbx_walk *walk, struct heard *heard, const struct sbx_fan *fan,
		      enum sbx_edge_kind kind, const char *bytes, size_t len)
{
	struct name name = { .bytes = bytes,
			     .len = len,
			     .low = sbx_load_some(bytes, len),
			     .high = len > 8 ? sbx_load_some(bytes + 8, len - 8) : 0,
			     .hash = sbx_hash_bytes(bytes, len) };
	const struct sbx_node *node =
		find(walk, fan->node, kind,
		     sbx_hash_edge(walk->nodes[fan->node].hash, name.hash, kind), &name);

	if (node)
		enter(walk, heard, node);
}

/* Edges "name*" and "*name": at most one look-up for each length that the policy has. */
OUTLINE static void try_prefixes(struct sbx_walk *walk, struct heard *heard,
				 const struct sbx_fan *fan, const struct name *name)
{
	for (uint64_t lens = fan->prefix_lens; lens; lens &= lens - 1) {
		size_t len = (size_t)__builtin_ctzll(lens);

		if (len > name->len)
			return;
		if (has_byte(fan->inner, name->bytes[len - 1]))
			try_affix(walk, heard, fan, SBX_EDGE_PREFIX, name->bytes, len);
	}
}

OUTLINE static void try_suffixes(struct sbx_walk *walk, struct heard *heard,
				 const struct sbx_fan *fan, const struct name *name)
{
	for (uint64_t lens = fan->suffix_lens; lens; lens &= lens - 1) {
		size_t len = (size_t)__builtin_ctzll(lens);
		const char *bytes = name->bytes + name->len - len;

		if (len > name->len)
			return;
		if (has_byte(fan->inner, *bytes))
			try_affix(walk, heard, fan, SBX_EDGE_SUFFIX, bytes, len);
	}
}

OUTLINE static void try_globs(struct sbx_walk *walk, struct heard *heard, const struct sbx_fan *fan,
			      const struct name *name)
{
	for (uint32_t i = 0; i < fan->edges.count; i++) {
		uint32_t to = sbx_edges(walk->image)[fan->edges.first + i];
		const struct sbx_node *node = &walk->nodes[to];

		if (sbx_glob_match(node_name(walk->image, node), node->name_len, name->bytes,
				   name->len))
			enter(walk, heard, node);
	}
}

/* Bytes at the ends tell whether a look-up is worth it. */
static inline void step_patterns(struct sbx_walk *walk, struct heard *heard,
				 const struct sbx_fan *fan, const struct name *name)
{
	if (fan->prefix_lens && has_byte(fan->first, name->bytes[0]))
		try_prefixes(walk, heard, fan, name);
	if (fan->suffix_lens && has_byte(fan->last, name->bytes[name->len - 1]))
		try_suffixes(walk, heard, fan, name);
	if (fan->edges.count)
		try_globs(walk, heard, fan, name);
}

/* From a place that was reached by names alone. */
static inline void step_literal(struct sbx_walk *walk, struct heard *heard, const struct name *name)
{
	uint32_t fan = walk->fan;
	const struct sbx_node *node = find(walk, walk->literal, SBX_EDGE_NAME, name->edge, name);

	walk->literal = SBX_NONE;
	if (node) {
		enter(walk, heard, node);
		if (node->leads_on) {
			walk->literal = (uint32_t)(node - walk->nodes);
			walk->fan = node->fan;
		}
	}
	if (fan != SBX_NONE)
		step_patterns(walk, heard, &walk->fans[fan], name);
}

/* From a place inside a pattern. */
static inline void step_glob(struct sbx_walk *walk, struct heard *heard, uint32_t glob,
			     const struct name *name)
{
	const struct sbx_fan *fan = &walk->fans[glob];

	if (has_byte(fan->first, name->bytes[0])) {
		uint32_t hash =
			sbx_hash_edge(walk->nodes[fan->node].hash, name->hash, SBX_EDGE_NAME);
		const struct sbx_node *node = find(walk, fan->node, SBX_EDGE_NAME, hash, name);

		if (node)
			enter(walk, heard, node);
	}
	step_patterns(walk, heard, fan, name);
	if (fan->star == glob)
		go_live(walk, glob);
}

/* What was reached by this component is where the next one starts. */
static inline void step_done(struct sbx_walk *walk)
{
	uint64_t *cleared = walk->live;

	walk->live = walk->next;
	walk->next = cleared;
}

static inline void step(struct sbx_walk *walk, struct heard *heard, const struct name *name)
{
	if (walk->literal != SBX_NONE)
		step_literal(walk, heard, name);
	for (uint32_t i = 0; i < walk->words; i++) {
		uint64_t bits = walk->live[i];

		walk->live[i] = 0;
		for (; bits; bits &= bits - 1)
			step_glob(walk, heard, i * 64 + (uint32_t)__builtin_ctzll(bits), name);
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
static void take(const struct sbx_image *image, struct sbx_state *state, const struct heard *heard)
{
	bool hidden = state->take_kind == SBX_RULE_HIDE && !state->rights;
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
	state->last = heard->take;
	/* Who gives nothing does not show what is hidden. */
	if (!hidden || keep || heard->take_kind == SBX_RULE_HIDE) {
		state->take = heard->take;
		state->take_kind = heard->take_kind;
	}
	for (int i = 0; i < 3; i++)
		state->by[i] = heard->take;
}

static void add(struct sbx_state *state, const struct heard *heard)
{
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (heard->add_rights & (1 << i))
			state->last = state->by[i] = heard->add[i];
	state->rights |= heard->add_rights;
}

/* 'is_file' says that the path ends here, and not at a folder. */
static void protect(struct sbx_state *state, const struct heard *heard, bool is_file)
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
	sbx_keep_first(&state->lock, heard->lock);
	sbx_keep_first(&state->unix_deny, heard->unix_deny);
}

OUTLINE static void apply(const struct sbx_image *image, struct sbx_state *state,
			  const struct heard *heard, bool is_file)
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

OUTLINE static void hear_extra(const struct sbx_extra *extra, const char *path, size_t len,
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

void sbx_state_clear(struct sbx_state *state)
{
	memset(state, 0, sizeof(*state));
	state->take = state->last = state->section = SBX_NONE;
	state->protect = state->lock = state->unix_deny = SBX_NONE;
	state->make_dir = state->hole = state->guard = state->guard_repo = SBX_NONE;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		state->by[i] = SBX_NONE;
}

static void walk_start(struct sbx_walk *walk, const struct sbx_image *image,
		       struct sbx_trace *trace, const char *path)
{
	walk->image = image;
	walk->nodes = sbx_nodes(image);
	walk->fans = sbx_fans(image);
	walk->slots = sbx_slots(image);
	walk->mask = sbx_count(image, SBX_TABLE_slots) - 1;
	walk->literal = 0;
	walk->fan = walk->nodes[0].fan;
	walk->words = (image->globs + 63) / 64;
	walk->live = walk->bitmaps;
	walk->next = walk->bitmaps + walk->words;
	memset(walk->bitmaps, 0, walk->words * 2 * sizeof(walk->bitmaps[0]));
	walk->trace = trace;
	walk->path = path;
	walk->end = path + 1;
}

/* Eight bytes of a path of 'len' bytes; what lies behind its end is slashes. */
static inline uint64_t load_path(const char *path, size_t len, size_t pos)
{
	const uint64_t slashes = 0x0101010101010101u * '/';
	size_t room = len - pos;

	if (pos + 8 <= len)
		return sbx_load8(path + pos);
	if (pos >= len)
		return slashes;
	if (len < 8)
		return sbx_load_some(path + pos, room) | slashes << (8 * room);
	return sbx_load8(path + len - 8) >> (64 - 8 * room) | slashes << (8 * room);
}

/* The lowest bit that is set is the highest of the first slash; 0 when there is none. */
static inline uint64_t find_slash(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;

	word ^= ones * '/';
	return (word - ones) & ~word & ones << 7;
}

/* The bytes before the slash that find_slash() found. */
static inline uint64_t before_slash(uint64_t word, uint64_t found)
{
	return word & ((found & -found) - 1) >> 7;
}

/* Sixteen bytes of a name, with zeros behind its end. Returns where they, or the name, end. */
static inline size_t read_block(const char *path, size_t len, size_t pos, uint64_t *low,
				uint64_t *high)
{
	uint64_t found;

	*low = load_path(path, len, pos);
	*high = 0;
	found = find_slash(*low);
	if (found) {
		*low = before_slash(*low, found);
		return pos + (size_t)__builtin_ctzll(found) / 8;
	}
	*high = load_path(path, len, pos + 8);
	found = find_slash(*high);
	if (!found)
		return pos + 16;
	*high = before_slash(*high, found);
	return pos + 8 + (size_t)__builtin_ctzll(found) / 8;
}

/* Reads the component at 'pos', and returns where it ends. */
static inline size_t read_name(const char *path, size_t len, size_t pos, struct name *name)
{
	uint64_t low, high;
	size_t end = read_block(path, len, pos, &low, &high);

	name->bytes = path + pos;
	name->low = low;
	name->high = high;
	name->hash = sbx_hash_block(0, low, high);
	for (; end == pos + 16; name->hash = sbx_hash_block(name->hash, low, high)) {
		pos = end;
		end = read_block(path, len, pos, &low, &high);
	}
	name->len = (size_t)(path + end - name->bytes);
	return end;
}

/*
 * Reads the components from 'pos' on that are not empty or ".", as many as fit, and has their slots
 * fetched. Returns the end of the list.
 */
OUTLINE static struct name *read_ahead(const struct sbx_walk *walk, size_t len, size_t *pos,
				       uint32_t edge, struct name names[AHEAD])
{
	const char *path = walk->path;
	const struct sbx_slot *slots = walk->slots;
	uint32_t mask = walk->mask;
	struct name *name = names;
	size_t end = *pos;

	while (name < names + AHEAD) {
		while (path[end] == '/')
			end++;
		if (end >= len)
			break;
		end = read_name(path, len, end, name);
		if (name->low == '.')
			continue;
		edge = name->edge = sbx_hash_edge(edge, name->hash, SBX_EDGE_NAME);
		__builtin_prefetch(&slots[edge & mask]);
		name++;
	}
	*pos = end;
	return name;
}

void sbx_note_hole(struct sbx_state *state, const struct sbx_image *image, uint32_t node)
{
	const struct sbx_hole *hole = &sbx_holes(image)[node];

	sbx_keep_first(&state->hole, hole->rule);
	sbx_keep_first(&state->guard, hole->guard);
	sbx_keep_first(&state->guard_repo, hole->guard_repo);
}

void sbx_note_guards(struct sbx_state *state, const struct sbx_walk *walk, bool inner)
{
	for (uint32_t i = 0; i < walk->words; i++) {
		for (uint64_t bits = walk->live[i]; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);
			const struct sbx_fan *fan = &walk->fans[glob];
			const struct sbx_hole *hole = &sbx_holes(walk->image)[fan->node];

			if (fan->star != glob || (inner && walk->nodes[fan->node].parent == 0))
				continue;
			sbx_keep_first(&state->guard, hole->guard);
			sbx_keep_first(&state->guard_repo, hole->guard_repo);
		}
	}
}

/* Rules that reach below the place where the walk ended, by name and not by "**" alone. */
OUTLINE static void find_holes(struct sbx_walk *walk)
{
	if (walk->literal != SBX_NONE)
		sbx_note_hole(&walk->here, walk->image, walk->literal);
	for (uint32_t i = 0; i < walk->words; i++) {
		for (uint64_t bits = walk->live[i]; bits; bits &= bits - 1) {
			uint32_t glob = i * 64 + (uint32_t)__builtin_ctzll(bits);

			if (walk->fans[glob].star != glob)
				sbx_note_hole(&walk->here, walk->image, walk->fans[glob].node);
		}
	}
}

/* "/" speaks before any component is read. */
static void walk_root(struct sbx_walk *walk, struct heard *heard)
{
	heard_clear(heard);
	enter(walk, heard, &walk->nodes[0]);
	step_done(walk);
}

bool sbx_walk(struct sbx_walk *walk, const struct sbx_image *image,
	      const struct sbx_request *request, const struct sbx_extra *extra,
	      struct sbx_trace *trace)
{
	const char *path = request->path;
	struct sbx_state *here = &walk->here;
	struct heard heard;
	struct name names[AHEAD];
	const struct name *last;
	size_t len, pos = 1;
	uint32_t edge = image->seed;

	sbx_state_clear(here);
	if (!path || path[0] != '/')
		return false;
	len = strlen(path);
	walk_start(walk, image, trace, path);
	walk_root(walk, &heard);
	if (extra)
		hear_extra(extra, path, 1, &heard);
	walk->parent = *here;
	apply(image, here, &heard, false);
	heard.any = true; /* so that it is cleared */
	while ((last = read_ahead(walk, len, &pos, edge, names)) > names) {
		edge = last[-1].edge;
		for (const struct name *name = names; name < last; name++) {
			if (name->low == ('.' | '.' << 8))
				return false;
			walk->end = name->bytes + name->len;
			if (heard.any)
				heard_clear(&heard);
			step(walk, &heard, name);
			if (extra)
				hear_extra(extra, path, (size_t)(walk->end - path), &heard);
			if (!heard.any)
				continue;
			walk->parent = *here;
			apply(image, here, &heard, walk->end == path + len && !request->is_dir);
		}
	}
	/* Where nothing was said, a path has what its folder has. */
	if (!heard.any) {
		here->flags = 0;
		walk->parent = *here;
	}
	if (sbx_ops[request->op].flags & SBX_OP_IS_ENTRY || request->op == SBX_OP_BIND)
		find_holes(walk);
	return true;
}
