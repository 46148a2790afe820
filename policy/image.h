/* SPDX-License-Identifier: MIT */
/*
 * The compiled policy: one flat run of bytes without pointers, in the machine's own byte order.
 *
 * Invariants, all verified by sbx_image_check() and relied upon everywhere else:
 *  1. Every table lies inside the image, aligned to 8, and tables do not overlap the header.
 *  2. Every string is an offset into 'strings' that a NUL ends; offset 0 is the empty string.
 *  3. Every index is below its table's count, or SBX_NONE where that is allowed.
 *  4. nodes[0] is "/". An edge's slot lies at most 'max_probe' slots past its hash's home, cyclically.
 *  5. A fan belongs to one node, which each names of the other. The first 'globs' fans, at most
 *     SBX_MAX_GLOBS, belong to the nodes that are reached through a pattern and lead on, and to every
 *     "**"; 'star' is one of them.
 *  6. settings[] has exactly one entry per key of keys.def, in that order.
 *  7. holes[] has one entry per node. The fans have no more edges, all together, than there are 'edges'.
 * Following parents is never done; nothing else in a hostile image can make a walk long.
 */
#ifndef SBX_IMAGE_H
#define SBX_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SBX_IMAGE_MAGIC "sbx-img"
#define SBX_IMAGE_TRAILER "launcher " /* how what a launcher writes behind an image begins */
#define SBX_IMAGE_VERSION 1u
#define SBX_NONE UINT32_MAX
#define SBX_MAX_GLOBS 4096u /* inner nodes of patterns: two bitmaps of them stand on the stack */
#define SBX_MAX_PROBE 64u
#define SBX_MAX_PATH 8192u /* of a rule, with its pattern */
#define SBX_MAX_IMAGE (256u << 20)

enum sbx_key {
#define KEY(section, name, ...) SBX_KEY_##section##_##name,
#include "keys.def"
	SBX_KEY_COUNT
};

enum {
	SBX_RIGHT_READ = 1 << 0,
	SBX_RIGHT_WRITE = 1 << 1,
	SBX_RIGHT_EXEC = 1 << 2,
	SBX_RIGHT_SOCKET = 1 << 3, /* connect to a UNIX socket */
	SBX_RIGHT_SOCKET_INDEX = 3,
	SBX_RIGHT_COUNT = 4,
	SBX_RIGHTS_ALL = (1 << SBX_RIGHT_COUNT) - 1,
};

/* What a rule does, strongest last among those that can meet on one path. */
enum sbx_rule_kind {
	SBX_RULE_ADD, /* read, write, exec, workspace, connect = unix: */
	SBX_RULE_SET, /* a [path] section */
	SBX_RULE_DENY,
	SBX_RULE_HIDE,
	SBX_RULE_PROTECT, /* default protection: not writable unless named exactly */
	SBX_RULE_LOCK, /* the policy's own files: never writable */
	SBX_RULE_UNIX_DENY, /* [network] deny = unix:PATH */
	SBX_RULE_CONNECT,
	SBX_RULE_BIND,
	SBX_RULE_NET_DENY,
	SBX_RULE_KIND_COUNT
};

enum {
	SBX_RULE_GLOB = 1 << 0, /* 'path' is a pattern */
	SBX_RULE_MISSING = 1 << 1, /* did not exist when the policy was loaded */
	SBX_RULE_ABSENT = 1 << 2, /* optional and missing, so it says nothing */
	SBX_RULE_FREE = 1 << 3, /* private to this run: no default protections inside */
	SBX_RULE_LINK = 1 << 4, /* the path as written leads through a link */
	SBX_RULE_REPO = 1 << 5, /* protects only repositories that existed at start */
	SBX_RULE_PROFILE = 1 << 6, /* stands in a bundled profile */
	SBX_RULE_WORKSPACE = 1 << 7,
	SBX_RULE_FILE = 1 << 8, /* protects a file of that name, not a folder */
	SBX_RULE_PROXY = 1 << 9, /* the user named this very host, wherever it stands */
	SBX_RULE_STAND_IN = 1 << 10, /* a shared folder's name, in whose place private tmp is */
};

enum sbx_file_role {
	SBX_FILE_POLICY, /* given with -p */
	SBX_FILE_INCLUDE,
	SBX_FILE_PROFILE,
	SBX_FILE_OPTIONS, /* the command line */
	SBX_FILE_BUILTIN, /* the policy without -p, default protections */
	SBX_FILE_ROLE_COUNT
};

enum sbx_edge_kind {
	SBX_EDGE_NAME, /* exactly this component */
	SBX_EDGE_PREFIX, /* component begins with it: "name*" */
	SBX_EDGE_SUFFIX, /* component ends with it: "*name" */
	SBX_EDGE_GLOB, /* any other pattern; listed in the fan */
	SBX_EDGE_STAR, /* any number of components: "**" */
	SBX_EDGE_KIND_COUNT
};

struct sbx_range {
	uint32_t first;
	uint32_t count;
};

struct sbx_file {
	uint32_t name; /* as the user gave it, or the profile's name */
	uint32_t path; /* absolute; empty for what is not a file */
	uint32_t dir; /* what its relative paths are relative to */
	uint32_t role;
	uint32_t level; /* 0 command line, 1 -p, 2 and more: depth of include */
};

struct sbx_rule {
	uint32_t file;
	uint32_t line;
	uint32_t text; /* "deny = ./portfolio/.git" */
	uint32_t written; /* "./portfolio/.git"; the reason for a default protection */
	uint32_t path; /* resolved path or pattern; the peer for network rules */
	uint32_t section; /* of [path], else SBX_NONE */
	uint16_t kind;
	uint16_t flags;
	uint8_t rights;
	uint8_t pad[3];
};

/* Beside the kinds of rules: what a node says. */
enum {
	SBX_SAYS_NOTHING = SBX_RULE_KIND_COUNT,
	SBX_SAYS_MUCH, /* more than one rule does */
};

/*
 * A place in the tree of rule paths. All that most verdicts need of it stands in one line of the
 * processor's cache.
 */
struct sbx_node {
	uint32_t parent;
	uint32_t hash; /* see sbx_hash_edge() */
	uint32_t fan; /* the patterns that lead on from here, or SBX_NONE */
	uint32_t rule; /* the one that speaks here; or SBX_SAYS_MUCH: in 'speeches' */
	uint8_t says; /* enum sbx_rule_kind of the rule, or SBX_SAYS_... */
	uint8_t rights; /* of the rule */
	uint8_t flags; /* SBX_SPEECH_... of the rule */
	uint8_t leads_on; /* edges start here */
	uint8_t kind; /* enum sbx_edge_kind: how it is reached */
	uint8_t pad;
	uint16_t name_len;
	uint32_t name; /* a string */
	uint32_t pad2;
	char head[32]; /* how the name begins, filled up with zeros */
};

_Static_assert(sizeof(struct sbx_node) == 64, "a node is a line of cache");

/* What rules below a place refuse, one for each node: apart, because only moves ask for it. */
struct sbx_hole {
	uint32_t rule; /* that a move would undo, or SBX_NONE */
	uint32_t guard; /* a default protection */
	uint32_t guard_repo; /* one that holds for repositories that existed at start */
};

/*
 * What leads on from a node. 'first', 'last' and 'inner' are sets of bytes: of those that names and
 * prefixes of edges begin with, that suffixes end with, and that stand beside the '*' of either. They
 * spare most components a look-up.
 */
struct sbx_fan {
	uint64_t first[4];
	uint64_t last[4];
	uint64_t inner[4];
	uint64_t prefix_lens; /* bit n: an edge "name*" with n bytes of name leads on; 1 to 63 */
	uint64_t suffix_lens;
	uint32_t node;
	uint32_t
		star; /* the fan of the "**" behind the node, its own where it is one, or SBX_NONE */
	struct sbx_range edges; /* in 'edges': nodes behind any other pattern */
};

enum {
	SBX_SPEECH_FREE = 1 << 0,
	SBX_SPEECH_MISSING = 1 << 1, /* a writable root that does not exist yet */
	SBX_SPEECH_MAKE_DIR = 1 << 2, /* a missing folder on the way to such a root */
	SBX_SPEECH_EXACT = 1 << 3, /* writing was granted here by name, not by a pattern */
	SBX_SPEECH_ALWAYS = 1 << 4, /* 'protect' holds also where no repository was at start */
	SBX_SPEECH_FOLDER = 1 << 5, /* 'protect' holds also for folders, and below them */
};

/* All rules of a place where several speak, summed up. */
struct sbx_speech {
	uint32_t take; /* rule of hide, deny or [path], or SBX_NONE */
	uint32_t protect;
	uint32_t lock;
	uint32_t unix_deny;
	uint32_t add[SBX_RIGHT_COUNT]; /* rule that adds each right */
	uint32_t make_dir; /* rule of the missing root that MAKE_DIR is about */
	struct sbx_range words; /* every rule, in 'words' */
	uint8_t take_kind; /* enum sbx_rule_kind of 'take' */
	uint8_t set_rights; /* what a [path] section sets */
	uint8_t add_rights;
	uint8_t flags;
};

struct sbx_slot {
	uint32_t hash;
	uint32_t node; /* SBX_NONE when empty */
};

/* A [path NAME] section. */
struct sbx_section {
	uint64_t max_bytes; /* UINT64_MAX when there is none */
	uint32_t name;
	uint32_t rule;
	uint32_t reason;
	uint32_t max_line; /* of max_file_bytes, for messages */
	struct sbx_range suffixes; /* in 'items' */
};

/* A destination that rules name: key bytes, and the ports. See evalnet.c. */
struct sbx_netnode {
	uint32_t key;
	uint32_t key_len;
	struct sbx_range ports;
};

struct sbx_port {
	uint16_t low;
	uint16_t high;
	uint32_t rule;
};

/* One entry of a list setting. */
struct sbx_item {
	uint32_t text;
	uint32_t file;
	uint32_t line;
};

/* One key of keys.def. 'line' and 'file' say who set it: SBX_NONE for nobody. */
struct sbx_setting {
	uint64_t value; /* number, bytes, milliseconds, switch, or index of the word */
	uint32_t text;
	uint32_t file;
	uint32_t line;
	struct sbx_range items;
	uint32_t is_set; /* a value holds, from a file or as the preset */
};

/* TABLE(name, type): all that follows the header. */
#define SBX_TABLES(TABLE)                   \
	TABLE(strings, char)                \
	TABLE(files, struct sbx_file)       \
	TABLE(rules, struct sbx_rule)       \
	TABLE(nodes, struct sbx_node)       \
	TABLE(holes, struct sbx_hole)       \
	TABLE(slots, struct sbx_slot)       \
	TABLE(fans, struct sbx_fan)         \
	TABLE(edges, uint32_t)              \
	TABLE(speeches, struct sbx_speech)  \
	TABLE(words, uint32_t)              \
	TABLE(sections, struct sbx_section) \
	TABLE(netnodes, struct sbx_netnode) \
	TABLE(netslots, struct sbx_slot)    \
	TABLE(ports, struct sbx_port)       \
	TABLE(settings, struct sbx_setting) \
	TABLE(items, struct sbx_item)

enum sbx_table {
#define TABLE(name, type) SBX_TABLE_##name,
	SBX_TABLES(TABLE)
#undef TABLE
	SBX_TABLE_COUNT
};

struct sbx_span {
	uint32_t offset;
	uint32_t count;
};

struct sbx_image {
	char magic[8];
	uint32_t version;
	uint32_t size;
	uint32_t seed; /* of the hash of edges */
	uint32_t net_seed; /* and of destinations */
	uint32_t max_probe;
	uint32_t root; /* string: the policy's root for sbx_resolve() */
	uint32_t tmp; /* string: what ${tmp} means */
	uint32_t home; /* string: the home directory */
	uint32_t main_file; /* the file that decides where no rule matches, or SBX_NONE */
	uint32_t globs; /* how many fans belong to pattern nodes */
	uint64_t prefix_lens4; /* bit n: some rule has an IPv4 network of n bits */
	uint64_t prefix_lens6[3];
	struct sbx_span tables[SBX_TABLE_COUNT];
};

#define TABLE(table, type)                                                      \
	static inline const type *sbx_##table(const struct sbx_image *image)    \
	{                                                                       \
		return (const type *)((const char *)image +                     \
				      image->tables[SBX_TABLE_##table].offset); \
	}
SBX_TABLES(TABLE)
#undef TABLE

static inline uint32_t sbx_count(const struct sbx_image *image, enum sbx_table table)
{
	return image->tables[table].count;
}

static inline const char *sbx_str(const struct sbx_image *image, uint32_t offset)
{
	return sbx_strings(image) + offset;
}

static inline const struct sbx_setting *sbx_setting(const struct sbx_image *image, enum sbx_key key)
{
	return &sbx_settings(image)[key];
}

#endif
