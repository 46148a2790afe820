/* SPDX-License-Identifier: MIT */
/*
 * Compile side: lays the rules out as an image.
 *
 * Rule paths become a tree whose edges are components, literal or patterns; what all rules of one
 * place say together becomes that place's speech. The tree is walked by hash, and the tables are
 * sized so that no look-up goes far: see the invariants in image.h. The result is verified with
 * sbx_image_check() before anyone sees it.
 */
#include "draft.h"
#include "hash.h"
#include "peer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_PROBE 16u
#define CACHE_LINE 64

struct table {
	void *list;
	size_t count;
	size_t cap;
};

/* A rule that speaks at a place; the order of rules is kept. */
struct word {
	uint32_t node;
	uint32_t rule;
};

struct edge {
	uint32_t node;
	uint32_t fan;
};

/* Where a component of a path ends, and the place that it leads to. */
struct step {
	size_t end;
	uint32_t node;
};

#define MAX_STEPS 32

struct build {
	struct sbx_draft *draft;
	struct sbx_image head;
	struct table tables[SBX_TABLE_COUNT];
	DRAFT_VECTOR(struct word) words;
	DRAFT_VECTOR(struct word) make_dirs;
	DRAFT_VECTOR(struct edge) edges;
	DRAFT_VECTOR(bool) in_pattern; /* per node: reached through a pattern */
	DRAFT_VECTOR(struct word) ports; /* netnode and port, to be sorted */
	struct step steps[MAX_STEPS]; /* the way to the last rule's place */
	size_t step_count;
	const char *step_path; /* of that rule */
};

static const uint32_t item_sizes[SBX_TABLE_COUNT] = {
#define TABLE(name, type) [SBX_TABLE_##name] = sizeof(type),
	SBX_TABLES(TABLE)
#undef TABLE
};

/* Most tables have about as many items as there are rules: what fits at once is not moved. */
static bool grow(struct build *build, enum sbx_table id, size_t count)
{
	struct table *table = &build->tables[id];
	size_t per_rule = id == SBX_TABLE_strings ? 192 : id == SBX_TABLE_nodes ? 2 : 1;
	size_t cap = table->cap ? table->cap * 2 : build->draft->rules.count * per_rule + 64;
	void *list;

	while (cap < count)
		cap *= 2;
	list = reallocarray(table->list, cap, item_sizes[id]);
	if (!list) {
		build->draft->out_of_memory = true;
		return false;
	}
	table->list = list;
	table->cap = cap;
	return true;
}

/* Room for 'count' more items, zeroed; NULL when out of memory. */
static inline void *take(struct build *build, enum sbx_table id, size_t count)
{
	struct table *table = &build->tables[id];
	size_t first = table->count;

	if (first + count > table->cap && !grow(build, id, first + count))
		return NULL;
	table->count += count;
	return memset((char *)table->list + first * item_sizes[id], 0, count * item_sizes[id]);
}

static uint32_t last(const struct build *build, enum sbx_table id)
{
	return (uint32_t)build->tables[id].count - 1;
}

#define ITEM(build, table, type, index) (&((type *)(build)->tables[SBX_TABLE_##table].list)[index])

/* The string's offset; NULL and "" are 0. */
static uint32_t put_bytes(struct build *build, const char *bytes, size_t len)
{
	uint32_t offset = (uint32_t)build->tables[SBX_TABLE_strings].count;
	char *to;

	if (!bytes || len == 0)
		return 0;
	to = take(build, SBX_TABLE_strings, len + 1);
	if (!to)
		return 0;
	memcpy(to, bytes, len);
	return offset;
}

static uint32_t put(struct build *build, const char *text)
{
	return text ? put_bytes(build, text, strlen(text)) : 0;
}

static const char *string_at(const struct build *build, uint32_t offset)
{
	return ITEM(build, strings, char, offset);
}

/* Puts an index into a slot table; false when it would lie too far from home. */
static bool slot_insert(struct sbx_slot *slots, uint32_t count, uint32_t hash, uint32_t index)
{
	for (uint32_t i = 0; i <= TARGET_PROBE && i < count; i++) {
		struct sbx_slot *slot = &slots[(hash + i) & (count - 1)];

		if (slot->node == SBX_NONE) {
			*slot = (struct sbx_slot){ hash, index };
			return true;
		}
	}
	return false;
}

static uint32_t node_hash(const struct build *build, uint32_t index)
{
	const struct sbx_node *node = ITEM(build, nodes, struct sbx_node, index);

	return sbx_hash_edge(ITEM(build, nodes, struct sbx_node, node->parent)->hash,
			     sbx_hash_bytes(string_at(build, node->name), node->name_len),
			     node->kind);
}

static uint32_t netnode_hash(const struct build *build, uint32_t index)
{
	const struct sbx_netnode *node = ITEM(build, netnodes, struct sbx_netnode, index);

	return sbx_hash_edge(build->head.net_seed,
			     sbx_hash_bytes(string_at(build, node->key), node->key_len), 0);
}

static bool is_hashed(const struct build *build, uint32_t index)
{
	const struct sbx_node *node = ITEM(build, nodes, struct sbx_node, index);

	return index > 0 && node->kind != SBX_EDGE_STAR;
}

/*
 * Fills a slot table of 'count' slots anew. False when some item lies too far from home: the
 * caller grows the table.
 */
static bool fill_slots(struct build *build, enum sbx_table id, uint32_t count)
{
	bool nodes = id == SBX_TABLE_slots;
	size_t items = build->tables[nodes ? SBX_TABLE_nodes : SBX_TABLE_netnodes].count;
	struct sbx_slot *slots;

	build->tables[id].count = 0;
	slots = take(build, id, count);
	if (!slots)
		return false;
	memset(slots, 0xff, count * sizeof(*slots));
	for (uint32_t i = 0; i < items; i++) {
		if (nodes && !is_hashed(build, i))
			continue;
		if (!slot_insert(slots, count,
				 nodes ? ITEM(build, nodes, struct sbx_node, i)->hash
				       : netnode_hash(build, i),
				 i))
			return false;
	}
	return true;
}

/* Another seed changes the hash of every place. Children stand behind their parents. */
static void change_seed(struct build *build, enum sbx_table id)
{
	uint32_t *seed = id == SBX_TABLE_slots ? &build->head.seed : &build->head.net_seed;

	*seed = *seed * 747796405u + 2891336453u;
	if (id != SBX_TABLE_slots)
		return;
	ITEM(build, nodes, struct sbx_node, 0)->hash = *seed;
	for (uint32_t i = 1; i < build->tables[SBX_TABLE_nodes].count; i++)
		ITEM(build, nodes, struct sbx_node, i)->hash = node_hash(build, i);
}

/*
 * Twice as many slots as items keep probes short. Where they are not, the table grows, and names
 * that share a hash are split by another seed.
 */
static bool grow_slots(struct build *build, enum sbx_table id, size_t items)
{
	uint32_t count = 16;

	while (count < items * 2)
		count *= 2;
	for (int tries = 0; tries < 8 && !build->draft->out_of_memory; tries++) {
		if (fill_slots(build, id, count))
			return true;
		if (tries % 2)
			change_seed(build, id);
		else
			count *= 2;
	}
	if (!build->draft->out_of_memory)
		sbx_draft_error(build->draft, 0, 0, "too many names that hash alike");
	return false;
}

/* The newest item of a table gets its slot. */
static bool add_slot(struct build *build, enum sbx_table id, uint32_t index, uint32_t hash)
{
	struct table *slots = &build->tables[id];

	if ((size_t)index * 2 < slots->count &&
	    slot_insert(slots->list, (uint32_t)slots->count, hash, index))
		return true;
	return grow_slots(build, id, (size_t)index * 2 + 2);
}

static uint32_t find_node(const struct build *build, uint32_t parent, enum sbx_edge_kind kind,
			  const char *name, size_t len)
{
	uint32_t count = (uint32_t)build->tables[SBX_TABLE_slots].count;
	uint32_t hash = sbx_hash_edge(ITEM(build, nodes, struct sbx_node, parent)->hash,
				      sbx_hash_bytes(name, len), kind);

	for (uint32_t i = 0; i <= TARGET_PROBE && i < count; i++) {
		const struct sbx_slot *slot =
			ITEM(build, slots, struct sbx_slot, (hash + i) & (count - 1));
		const struct sbx_node *node;

		if (slot->node == SBX_NONE)
			return SBX_NONE;
		node = ITEM(build, nodes, struct sbx_node, slot->node);
		if (slot->hash == hash && node->parent == parent && node->kind == kind &&
		    node->name_len == len && !memcmp(string_at(build, node->name), name, len))
			return slot->node;
	}
	return SBX_NONE;
}

static struct sbx_fan *fan_of(struct build *build, uint32_t node)
{
	uint32_t *index = &ITEM(build, nodes, struct sbx_node, node)->fan;
	struct sbx_fan *fan;

	if (*index != SBX_NONE)
		return ITEM(build, fans, struct sbx_fan, *index);
	fan = take(build, SBX_TABLE_fans, 1);
	if (!fan)
		return NULL;
	fan->star = SBX_NONE;
	ITEM(build, nodes, struct sbx_node, node)->fan = last(build, SBX_TABLE_fans);
	return fan;
}

static bool hook_up(struct build *build, uint32_t parent, uint32_t node, enum sbx_edge_kind kind,
		    size_t len)
{
	struct sbx_fan *fan;

	ITEM(build, nodes, struct sbx_node, parent)->leads_on = true;
	if (kind == SBX_EDGE_NAME && !build->in_pattern.list[parent])
		return true;
	fan = fan_of(build, parent);
	if (!fan)
		return false;
	if (kind == SBX_EDGE_NAME)
		return true;
	if (kind == SBX_EDGE_PREFIX)
		fan->prefix_lens |= (uint64_t)1 << len;
	else if (kind == SBX_EDGE_SUFFIX)
		fan->suffix_lens |= (uint64_t)1 << len;
	else if (kind == SBX_EDGE_STAR)
		fan->star = node;
	else
		return DRAFT_PUSH(
			build->draft, &build->edges,
			(struct edge){ node, ITEM(build, nodes, struct sbx_node, parent)->fan });
	return true;
}

static uint32_t new_node(struct build *build, uint32_t parent, enum sbx_edge_kind kind,
			 uint32_t name, size_t len)
{
	struct sbx_node *node = take(build, SBX_TABLE_nodes, 1);
	bool in_pattern =
		kind != SBX_EDGE_NAME || (parent != SBX_NONE && build->in_pattern.list[parent]);

	if (!node || !DRAFT_PUSH(build->draft, &build->in_pattern, in_pattern))
		return SBX_NONE;
	*node = (struct sbx_node){ .parent = parent,
				   .hash = build->head.seed,
				   .fan = SBX_NONE,
				   .rule = SBX_NONE,
				   .says = SBX_SAYS_NOTHING,
				   .kind = (uint8_t)kind,
				   .name_len = (uint16_t)len,
				   .name = name };
	if (parent != SBX_NONE)
		node->hash = node_hash(build, last(build, SBX_TABLE_nodes));
	memcpy(node->head, string_at(build, name),
	       len < sizeof(node->head) ? len : sizeof(node->head));
	return last(build, SBX_TABLE_nodes);
}

static uint32_t star_of(const struct build *build, uint32_t node)
{
	uint32_t fan = ITEM(build, nodes, struct sbx_node, node)->fan;

	return fan == SBX_NONE ? SBX_NONE : ITEM(build, fans, struct sbx_fan, fan)->star;
}

static uint32_t child(struct build *build, uint32_t parent, enum sbx_edge_kind kind, uint32_t name,
		      size_t len)
{
	uint32_t node = kind == SBX_EDGE_STAR
				? star_of(build, parent)
				: find_node(build, parent, kind, string_at(build, name), len);

	if (node != SBX_NONE)
		return node;
	node = new_node(build, parent, kind, name, len);
	if (node == SBX_NONE || !hook_up(build, parent, node, kind, len))
		return SBX_NONE;
	/* A walk is at every "**" for every component: its fan's bytes keep that cheap. */
	if (kind == SBX_EDGE_STAR && !fan_of(build, node))
		return SBX_NONE;
	if (is_hashed(build, node) && !add_slot(build, SBX_TABLE_slots, node,
						ITEM(build, nodes, struct sbx_node, node)->hash))
		return SBX_NONE;
	return node;
}

/* "*.md" and "test_*" are looked up by hash; what else has a wildcard is tried one by one. */
static enum sbx_edge_kind classify(const char *name, size_t *len, size_t *skip)
{
	size_t wild = 0, stars = 0;

	for (size_t i = 0; i < *len; i++) {
		wild += name[i] == '*' || name[i] == '?';
		stars += name[i] == '*';
	}
	if (wild == 0)
		return SBX_EDGE_NAME;
	if (*len == 2 && stars == 2)
		return SBX_EDGE_STAR;
	if (wild != 1 || stars != 1 || *len < 2 || *len > 63)
		return SBX_EDGE_GLOB;
	if (name[0] == '*')
		*skip = 1;
	else if (name[*len - 1] != '*')
		return SBX_EDGE_GLOB;
	*len -= 1;
	return *skip ? SBX_EDGE_SUFFIX : SBX_EDGE_PREFIX;
}

/* Marks the missing folders on the way to a root that the program may create. */
static bool mark_missing(struct build *build, const struct draft_rule *rule, uint32_t index,
			 uint32_t node, size_t end)
{
	if (!(rule->flags & SBX_RULE_MISSING) || !(rule->rights & SBX_RIGHT_WRITE) ||
	    end <= rule->existing || !rule->path[end])
		return true;
	return DRAFT_PUSH(build->draft, &build->make_dirs, (struct word){ node, index });
}

/* How much of the way to the last rule's place is on the way to this one's, too. */
static struct step shared_steps(struct build *build, const struct draft_rule *rule)
{
	size_t known = rule->literal < rule->existing ? rule->literal : rule->existing;

	for (; build->step_count > 0; build->step_count--) {
		struct step step = build->steps[build->step_count - 1];

		if (step.end < known && rule->path[step.end] == '/' &&
		    !memcmp(rule->path, build->step_path, step.end))
			return step;
	}
	return (struct step){ 0, 0 };
}

static void keep_step(struct build *build, const struct draft_rule *rule, struct step step)
{
	if (step.end <= rule->literal && build->step_count < MAX_STEPS)
		build->steps[build->step_count++] = step;
}

static bool add_path(struct build *build, const struct draft_rule *rule, uint32_t index,
		     uint32_t path)
{
	struct step shared = shared_steps(build, rule);
	uint32_t node = shared.node;

	build->step_path = rule->path;
	for (size_t pos = shared.end; rule->path[pos];) {
		size_t len, skip = 0, end;
		enum sbx_edge_kind kind = SBX_EDGE_NAME;

		pos += rule->path[pos] == '/';
		end = (size_t)(strchrnul(rule->path + pos, '/') - rule->path);
		len = end - pos;
		if (len == 0)
			continue;
		if (pos >= rule->literal)
			kind = classify(rule->path + pos, &len, &skip);
		node = child(build, node, kind, path + (uint32_t)(pos + skip), len);
		if (node == SBX_NONE || !mark_missing(build, rule, index, node, end))
			return false;
		keep_step(build, rule, (struct step){ end, node });
		pos = end;
	}
	return DRAFT_PUSH(build->draft, &build->words, (struct word){ node, index });
}

static uint32_t find_netnode(const struct build *build, const char *key, size_t len)
{
	uint32_t count = (uint32_t)build->tables[SBX_TABLE_netslots].count;
	uint32_t hash = sbx_hash_edge(build->head.net_seed, sbx_hash_bytes(key, len), 0);

	for (uint32_t i = 0; i <= TARGET_PROBE && i < count; i++) {
		const struct sbx_slot *slot =
			ITEM(build, netslots, struct sbx_slot, (hash + i) & (count - 1));
		const struct sbx_netnode *node;

		if (slot->node == SBX_NONE)
			return SBX_NONE;
		node = ITEM(build, netnodes, struct sbx_netnode, slot->node);
		if (slot->hash == hash && node->key_len == len &&
		    !memcmp(string_at(build, node->key), key, len))
			return slot->node;
	}
	return SBX_NONE;
}

static bool add_key(struct build *build, const char *key, size_t len, struct sbx_port port)
{
	uint32_t index = find_netnode(build, key, len);
	struct sbx_port *to;

	if (index == SBX_NONE) {
		uint32_t offset = put_bytes(build, key, len);
		struct sbx_netnode *node = take(build, SBX_TABLE_netnodes, 1);

		if (!node)
			return false;
		node->key = offset;
		node->key_len = (uint32_t)len;
		index = last(build, SBX_TABLE_netnodes);
		if (!add_slot(build, SBX_TABLE_netslots, index, netnode_hash(build, index)))
			return false;
	}
	to = take(build, SBX_TABLE_ports, 1);
	if (!to)
		return false;
	*to = port;
	return DRAFT_PUSH(build->draft, &build->ports,
			  (struct word){ index, last(build, SBX_TABLE_ports) });
}

static bool add_network(struct build *build, const struct sbx_addr *addr, unsigned int bits,
			struct sbx_port port)
{
	char key[SBX_NETKEY_MAX];
	uint64_t *lens = addr->family == 4 ? &build->head.prefix_lens4 : build->head.prefix_lens6;

	lens[bits / 64] |= (uint64_t)1 << (bits % 64);
	return add_key(build, key, sbx_netkey_addr(key, addr, bits), port);
}

/* "localhost" is a name, and the addresses that it stands for. */
static bool add_localhost(struct build *build, struct sbx_port port)
{
	static const struct sbx_addr v4 = { .family = 4, .bytes = { 127 } };
	static const struct sbx_addr v6 = { .family = 6, .bytes = { [15] = 1 } };

	return add_network(build, &v4, 8, port) && add_network(build, &v6, 128, port);
}

static bool add_peer(struct build *build, const struct draft_rule *rule, uint32_t index)
{
	char key[SBX_NETKEY_MAX];
	struct sbx_peer peer;
	struct sbx_port port;

	if (sbx_peer_parse(rule->peer, &peer))
		return false;
	port = (struct sbx_port){ peer.low, peer.high, index };
	switch (peer.kind) {
	case SBX_PEER_ADDRESS:
		return add_network(build, &peer.addr, peer.bits, port);
	case SBX_PEER_HOST:
		if (!strcmp(peer.host, "localhost") && !add_localhost(build, port))
			return false;
		return add_key(build, key, sbx_netkey_name(key, 'h', peer.host), port);
	case SBX_PEER_SUBDOMAINS:
		return add_key(build, key, sbx_netkey_name(key, 'w', peer.host), port);
	default:
		return add_key(build, "*", 1, port);
	}
}

/* Where 'text' ends in 'end', which most rules do with what was written; NULL where it does not. */
static const char *tail_of(const char *text, const char *end)
{
	size_t len = strlen(text), end_len = strlen(end);

	return end_len && len >= end_len && !memcmp(text + len - end_len, end, end_len)
		       ? text + len - end_len
		       : NULL;
}

static bool add_rule(struct build *build, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];
	const char *written = tail_of(rule->text, rule->written);
	uint32_t text = put(build, rule->text);
	struct sbx_rule image = {
		.file = rule->file,
		.line = rule->line,
		.text = text,
		.written = written ? text + (uint32_t)(written - rule->text)
				   : put(build, rule->written),
		.path = put(build, rule->peer ? rule->peer : rule->path),
		.section = rule->section,
		.kind = (uint16_t)rule->kind,
		.flags = rule->flags,
		.rights = rule->rights,
	};
	struct sbx_rule *to = take(build, SBX_TABLE_rules, 1);

	if (!to)
		return false;
	*to = image;
	if (rule->flags & SBX_RULE_ABSENT)
		return true;
	return rule->peer ? add_peer(build, rule, index) : add_path(build, rule, index, image.path);
}

static int by_node(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return x->rule < y->rule ? -1 : x->rule > y->rule;
}

static void keep_first(uint32_t *kept, uint32_t rule)
{
	if (rule < *kept)
		*kept = rule;
}

static void speak_take(struct build *build, struct sbx_speech *speech, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	if (rule->kind == SBX_RULE_SET && speech->take_kind == SBX_RULE_SET) {
		const struct draft_rule *other = &build->draft->rules.list[speech->take];

		sbx_draft_error(build->draft, rule->file, rule->line,
				"[path %s] and [path %s] (%s) have the same root '%s'",
				build->draft->sections.list[rule->section].name,
				build->draft->sections.list[other->section].name,
				sbx_draft_where(build->draft, other->file, other->line),
				rule->path);
	}
	if (rule->kind <= speech->take_kind)
		return;
	speech->take = index;
	speech->take_kind = (uint8_t)rule->kind;
	speech->set_rights = rule->rights;
}

static void speak_add(struct sbx_speech *speech, const struct draft_rule *rule, uint32_t index)
{
	speech->add_rights |= rule->rights;
	for (int i = 0; i < SBX_RIGHT_COUNT; i++)
		if (rule->rights & (1 << i))
			keep_first(&speech->add[i], index);
}

static uint8_t speech_flags(const struct draft_rule *rule)
{
	uint8_t flags = 0;

	if (rule->flags & SBX_RULE_FREE)
		flags |= SBX_SPEECH_FREE;
	if (rule->kind == SBX_RULE_PROTECT && !(rule->flags & SBX_RULE_REPO))
		flags |= SBX_SPEECH_ALWAYS;
	if (rule->kind == SBX_RULE_PROTECT && !(rule->flags & SBX_RULE_FILE))
		flags |= SBX_SPEECH_FOLDER;
	if (!(rule->rights & SBX_RIGHT_WRITE))
		return flags;
	if (!(rule->flags & SBX_RULE_GLOB))
		flags |= SBX_SPEECH_EXACT;
	/* What a pattern matches may come and go, whatever its folder allows. */
	if (rule->flags & (SBX_RULE_MISSING | SBX_RULE_GLOB))
		flags |= SBX_SPEECH_MISSING;
	return flags;
}

static void speak(struct build *build, struct sbx_speech *speech, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	speech->flags |= speech_flags(rule);
	switch (rule->kind) {
	case SBX_RULE_ADD:
		speak_add(speech, rule, index);
		break;
	case SBX_RULE_PROTECT:
		keep_first(&speech->protect, index);
		break;
	case SBX_RULE_LOCK:
		keep_first(&speech->lock, index);
		break;
	case SBX_RULE_UNIX_DENY:
		keep_first(&speech->unix_deny, index);
		break;
	default:
		speak_take(build, speech, index);
		break;
	}
}

static struct sbx_speech *speech_of(struct build *build, uint32_t index)
{
	struct sbx_node *node = ITEM(build, nodes, struct sbx_node, index);
	struct sbx_speech *speech;

	if (node->says == SBX_SAYS_MUCH)
		return ITEM(build, speeches, struct sbx_speech, node->rule);
	speech = take(build, SBX_TABLE_speeches, 1);
	if (!speech)
		return NULL;
	node->says = SBX_SAYS_MUCH;
	node->rule = last(build, SBX_TABLE_speeches);
	memset(speech, 0xff, offsetof(struct sbx_speech, words));
	return speech;
}

static bool add_make_dirs(struct build *build)
{
	for (size_t i = 0; i < build->make_dirs.count; i++) {
		struct sbx_speech *speech = speech_of(build, build->make_dirs.list[i].node);

		if (!speech)
			return false;
		speech->flags |= SBX_SPEECH_MAKE_DIR;
		keep_first(&speech->make_dir, build->make_dirs.list[i].rule);
	}
	return true;
}

/* A rule that speaks alone needs no speech: the node itself has room for it. */
static void speak_alone(struct build *build, struct sbx_node *node, uint32_t index)
{
	const struct draft_rule *rule = &build->draft->rules.list[index];

	node->rule = index;
	node->says = (uint8_t)rule->kind;
	node->rights = rule->rights;
	node->flags = speech_flags(rule);
}

static bool add_speeches(struct build *build)
{
	const struct word *words = build->words.list;

	sbx_draft_sort(build->words.list, build->words.count, sizeof(*words), by_node);
	for (size_t i = 0; i < build->words.count; i++) {
		struct sbx_node *node = ITEM(build, nodes, struct sbx_node, words[i].node);
		struct sbx_speech *speech;
		uint32_t *word;

		if (node->says == SBX_SAYS_NOTHING &&
		    (i + 1 == build->words.count || words[i + 1].node != words[i].node)) {
			speak_alone(build, node, words[i].rule);
			continue;
		}
		speech = speech_of(build, words[i].node);
		word = speech ? take(build, SBX_TABLE_words, 1) : NULL;
		if (!word)
			return false;
		*word = words[i].rule;
		if (speech->words.count++ == 0)
			speech->words.first = last(build, SBX_TABLE_words);
		speak(build, speech, *word);
	}
	return true;
}

static void add_hole(struct sbx_hole *above, const struct sbx_speech *speech)
{
	keep_first(&above->rule, speech->take);
	keep_first(&above->rule, speech->lock);
	keep_first(&above->rule, speech->unix_deny);
	keep_first(speech->flags & SBX_SPEECH_ALWAYS ? &above->guard : &above->guard_repo,
		   speech->protect);
}

/*
 * Tells every place which rule below it takes something away: to move the place would move what
 * is refused from under the rule. Children stand behind their parents.
 */
static bool add_holes(struct build *build)
{
	size_t count = build->tables[SBX_TABLE_nodes].count;
	struct sbx_hole *holes = take(build, SBX_TABLE_holes, count);

	if (!holes)
		return false;
	memset(holes, 0xff, count * sizeof(*holes));
	for (size_t i = count; i-- > 1;) {
		const struct sbx_node *node = ITEM(build, nodes, struct sbx_node, i);
		struct sbx_hole *above = &holes[node->parent];

		keep_first(&above->rule, holes[i].rule);
		keep_first(&above->guard, holes[i].guard);
		keep_first(&above->guard_repo, holes[i].guard_repo);
		if (node->says == SBX_SAYS_MUCH)
			add_hole(above, ITEM(build, speeches, struct sbx_speech, node->rule));
		else if (node->says == SBX_RULE_PROTECT)
			keep_first(node->flags & SBX_SPEECH_ALWAYS ? &above->guard
								   : &above->guard_repo,
				   node->rule);
		else if (node->says != SBX_RULE_ADD && node->says != SBX_SAYS_NOTHING)
			keep_first(&above->rule, node->rule);
	}
	return true;
}

static int by_fan(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	return x->fan < y->fan ? -1 : x->fan > y->fan;
}

static bool add_edges(struct build *build)
{
	sbx_draft_sort(build->edges.list, build->edges.count, sizeof(*build->edges.list), by_fan);
	for (size_t i = 0; i < build->edges.count; i++) {
		struct sbx_fan *fan = ITEM(build, fans, struct sbx_fan, build->edges.list[i].fan);
		uint32_t *edge = take(build, SBX_TABLE_edges, 1);

		if (!edge)
			return false;
		*edge = build->edges.list[i].node;
		if (fan->edges.count++ == 0)
			fan->edges.first = last(build, SBX_TABLE_edges);
	}
	return true;
}

static void add_byte(uint64_t set[4], char byte)
{
	unsigned char value = (unsigned char)byte;

	set[value / 64] |= (uint64_t)1 << (value % 64);
}

static void add_bytes(struct build *build)
{
	for (uint32_t i = 1; i < build->tables[SBX_TABLE_nodes].count; i++) {
		const struct sbx_node *node = ITEM(build, nodes, struct sbx_node, i);
		uint32_t index = ITEM(build, nodes, struct sbx_node, node->parent)->fan;
		const char *name = string_at(build, node->name);
		struct sbx_fan *fan;

		if (index == SBX_NONE)
			continue;
		fan = ITEM(build, fans, struct sbx_fan, index);
		if (node->kind == SBX_EDGE_NAME || node->kind == SBX_EDGE_PREFIX)
			add_byte(fan->first, name[0]);
		if (node->kind == SBX_EDGE_PREFIX)
			add_byte(fan->inner, name[node->name_len - 1]);
		if (node->kind != SBX_EDGE_SUFFIX)
			continue;
		add_byte(fan->inner, name[0]);
		add_byte(fan->last, name[node->name_len - 1]);
	}
}

/* Moves the fans of all places that are, or are not, inside patterns into the table. */
static bool move_fans(struct build *build, const struct sbx_fan *from, bool in_pattern)
{
	for (uint32_t i = 0; i < build->tables[SBX_TABLE_nodes].count; i++) {
		struct sbx_node *node = ITEM(build, nodes, struct sbx_node, i);
		struct sbx_fan *fan;

		if (node->fan == SBX_NONE || build->in_pattern.list[i] != in_pattern)
			continue;
		fan = take(build, SBX_TABLE_fans, 1);
		if (!fan)
			return false;
		*fan = from[node->fan];
		fan->node = i;
		if (node->kind == SBX_EDGE_STAR)
			fan->star = i;
		node->fan = last(build, SBX_TABLE_fans);
	}
	return true;
}

/* Numbers the pattern nodes that a walk must keep in mind: theirs are the first fans. */
static bool sort_fans(struct build *build)
{
	struct table *fans = &build->tables[SBX_TABLE_fans];
	struct table old = *fans;
	bool ok;

	*fans = (struct table){ 0 };
	ok = move_fans(build, old.list, true);
	build->head.globs = (uint32_t)fans->count;
	ok = ok && move_fans(build, old.list, false);
	free(old.list);
	for (uint32_t i = 0; i < fans->count; i++) {
		uint32_t *star = &ITEM(build, fans, struct sbx_fan, i)->star;

		if (*star != SBX_NONE)
			*star = ITEM(build, nodes, struct sbx_node, *star)->fan;
	}
	if (build->head.globs <= SBX_MAX_GLOBS)
		return ok;
	sbx_draft_error(build->draft, 0, 0, "too many patterns (%u places inside them, at most %u)",
			build->head.globs, SBX_MAX_GLOBS);
	return false;
}

/* Brings the ports of each destination together. */
static bool sort_ports(struct build *build)
{
	size_t size = build->ports.count * sizeof(struct sbx_port);
	struct sbx_port *sorted = malloc(size + 1);

	if (!sorted) {
		build->draft->out_of_memory = true;
		return false;
	}
	sbx_draft_sort(build->ports.list, build->ports.count, sizeof(*build->ports.list), by_node);
	for (size_t i = 0; i < build->ports.count; i++) {
		struct sbx_netnode *node =
			ITEM(build, netnodes, struct sbx_netnode, build->ports.list[i].node);

		sorted[i] = *ITEM(build, ports, struct sbx_port, build->ports.list[i].rule);
		if (node->ports.count++ == 0)
			node->ports.first = (uint32_t)i;
	}
	if (size)
		memcpy(build->tables[SBX_TABLE_ports].list, sorted, size);
	free(sorted);
	return true;
}

static bool add_files(struct build *build)
{
	const struct sbx_draft *draft = build->draft;

	build->head.main_file = SBX_NONE;
	for (uint32_t i = 0; i < draft->files.count; i++) {
		const struct draft_file *file = &draft->files.list[i];
		struct sbx_file image = {
			.name = put(build, file->name),
			.path = put(build, file->path),
			.dir = put(build, file->dir),
			.role = file->role,
			.level = file->level,
		};
		struct sbx_file *to = take(build, SBX_TABLE_files, 1);

		if (!to)
			return false;
		*to = image;
		if (file->level == 1 && build->head.main_file == SBX_NONE)
			build->head.main_file = i;
	}
	return true;
}

static bool add_item(struct build *build, const struct draft_entry *entry, const char *text)
{
	uint32_t offset = put(build, text);
	struct sbx_item *item = take(build, SBX_TABLE_items, 1);

	if (item)
		*item = (struct sbx_item){ offset, entry->file, entry->line };
	return item;
}

static bool add_section(struct build *build, uint32_t index)
{
	struct sbx_draft *draft = build->draft;
	const struct draft_section *section = &draft->sections.list[index];
	const struct draft_entry *max =
		sbx_draft_section_entry(draft, index, SBX_KEY_path_max_file_bytes);
	const struct draft_entry *reason =
		sbx_draft_section_entry(draft, index, SBX_KEY_path_reason);
	struct sbx_section image = {
		.max_bytes = max ? max->value : UINT64_MAX,
		.name = put(build, section->name),
		.rule = SBX_NONE,
		.reason = put(build, reason ? reason->text : NULL),
		.max_line = max ? max->line : 0,
		.suffixes.first = (uint32_t)build->tables[SBX_TABLE_items].count,
	};
	struct sbx_section *to;

	for (size_t i = section->first;
	     i < draft->entries.count && draft->entries.list[i].section == index; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->key != SBX_KEY_path_suffixes)
			continue;
		if (!add_item(build, entry, entry->text))
			return false;
		image.suffixes.count++;
	}
	to = take(build, SBX_TABLE_sections, 1);
	if (to)
		*to = image;
	return to;
}

static bool add_sections(struct build *build)
{
	for (uint32_t i = 0; i < build->draft->sections.count; i++)
		if (!add_section(build, i))
			return false;
	for (uint32_t i = 0; i < build->draft->rules.count; i++)
		if (build->draft->rules.list[i].kind == SBX_RULE_SET)
			ITEM(build, sections, struct sbx_section,
			     build->draft->rules.list[i].section)
				->rule = i;
	return true;
}

static void set_scalar(struct build *build, enum sbx_key key, struct sbx_setting *setting)
{
	uint32_t settled = build->draft->settled[key];
	const char *path = build->draft->settled_path[key];
	char why[256];

	if (settled != SBX_NONE) {
		const struct draft_entry *entry = &build->draft->entries.list[settled];

		*setting = (struct sbx_setting){ .value = entry->value,
						 .text = put(build, path ? path : entry->text),
						 .file = entry->file,
						 .line = entry->line,
						 .is_set = true };
	} else if (*sbx_keys[key].preset &&
		   !sbx_value_parse(key, sbx_keys[key].preset, &setting->value, why)) {
		setting->text = put(build, sbx_keys[key].preset);
		setting->is_set = true;
	}
}

static bool set_list(struct build *build, enum sbx_key key, struct sbx_setting *setting)
{
	struct sbx_draft *draft = build->draft;

	setting->items.first = (uint32_t)build->tables[SBX_TABLE_items].count;
	for (size_t i = 0; i < draft->entries.count; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->key != key)
			continue;
		if (!add_item(build, entry, entry->text))
			return false;
		if (sbx_keys[key].type == SBX_TYPE_WORDS)
			setting->value |= (uint64_t)1 << entry->value;
		setting->items.count++;
		setting->is_set = true;
		if (setting->file == SBX_NONE) {
			setting->file = entry->file;
			setting->line = entry->line;
		}
	}
	return true;
}

/* Path lists live on as rules; keeping their items too would double the image. */
static bool is_kept_as_rules(enum sbx_key key)
{
	return !strcmp(sbx_keys[key].section, "paths") || !strcmp(sbx_keys[key].section, "path");
}

static bool add_settings(struct build *build)
{
	const struct sbx_draft *draft = build->draft;
	bool said[SBX_KEY_COUNT] = { false };

	for (size_t i = 0; i < draft->entries.count; i++)
		said[draft->entries.list[i].key] = true;
	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		struct sbx_setting setting = { .file = SBX_NONE };
		struct sbx_setting *to;

		if (!is_kept_as_rules(key)) {
			if (!sbx_type_is_list(sbx_keys[key].type))
				set_scalar(build, key, &setting);
			else if (said[key] && !set_list(build, key, &setting))
				return false;
		}
		to = take(build, SBX_TABLE_settings, 1);
		if (!to)
			return false;
		*to = setting;
	}
	return true;
}

static bool lay_out(struct build *build)
{
	struct sbx_draft *draft = build->draft;

	if (!take(build, SBX_TABLE_strings, 1) || !add_files(build) ||
	    new_node(build, SBX_NONE, SBX_EDGE_NAME, 0, 0) == SBX_NONE ||
	    !grow_slots(build, SBX_TABLE_slots, draft->rules.count * 2) ||
	    !grow_slots(build, SBX_TABLE_netslots, 1))
		return false;
	for (uint32_t i = 0; i < draft->rules.count; i++)
		if (!add_rule(build, i))
			return false;
	if (!add_make_dirs(build) || !add_speeches(build) || !add_holes(build))
		return false;
	add_bytes(build);
	return add_edges(build) && sort_fans(build) && sort_ports(build) && add_sections(build) &&
	       add_settings(build);
}

static const char *policy_root(const struct sbx_draft *draft)
{
	for (size_t i = 0; !draft->root && i < draft->files.count; i++)
		if (draft->files.list[i].level == 1)
			return draft->files.list[i].dir;
	return draft->root ? draft->root : draft->cwd;
}

static size_t align(size_t size, size_t to)
{
	return (size + to - 1) / to * to;
}

static struct sbx_image *assemble(struct build *build)
{
	struct sbx_image *head = &build->head;
	size_t size = sizeof(*head), end = sizeof(*head);
	char *bytes;

	memcpy(head->magic, SBX_IMAGE_MAGIC, sizeof(head->magic));
	head->version = SBX_IMAGE_VERSION;
	head->max_probe = TARGET_PROBE;
	head->root = put(build, policy_root(build->draft));
	head->tmp = put(build, build->draft->tmp);
	head->home = put(build, build->draft->home);
	if (build->draft->out_of_memory)
		return NULL;
	for (int i = 0; i < SBX_TABLE_COUNT; i++) {
		size = align(size, CACHE_LINE);
		head->tables[i].offset = (uint32_t)size;
		head->tables[i].count = (uint32_t)build->tables[i].count;
		size += build->tables[i].count * item_sizes[i];
		if (size > SBX_MAX_IMAGE - 8)
			return NULL;
	}
	size = align(size, 8);
	head->size = (uint32_t)size;
	bytes = aligned_alloc(CACHE_LINE, align(size, CACHE_LINE));
	if (!bytes)
		return NULL;
	memcpy(bytes, head, sizeof(*head));
	for (int i = 0; i < SBX_TABLE_COUNT; i++) {
		size_t start = head->tables[i].offset;

		memset(bytes + end, 0, start - end);
		end = start + build->tables[i].count * item_sizes[i];
		if (end > start)
			memcpy(bytes + start, build->tables[i].list, end - start);
	}
	memset(bytes + end, 0, size - end);
	return (struct sbx_image *)bytes;
}

static void build_done(struct build *build)
{
	for (int i = 0; i < SBX_TABLE_COUNT; i++)
		free(build->tables[i].list);
	free(build->words.list);
	free(build->make_dirs.list);
	free(build->edges.list);
	free(build->in_pattern.list);
	free(build->ports.list);
}

int sbx_draft_build(struct sbx_draft *draft, struct sbx_image **image)
{
	struct build build = { .draft = draft };
	struct sbx_image *made = NULL;

	if (lay_out(&build) && !draft->failed && !draft->out_of_memory)
		made = assemble(&build);
	build_done(&build);
	if (!made)
		return draft->failed ? -EINVAL : -ENOMEM;
	if (sbx_image_check(made, made->size) < 0) {
		free(made);
		return -EINVAL;
	}
	*image = made;
	return 0;
}
