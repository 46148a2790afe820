/* SPDX-License-Identifier: MIT */
/*
 * The parts of the agreement test: trees that are brought back after every act, acts in random
 * spellings, the programs that do them, and what the log says of it.
 */
#ifndef AGREE_H
#define AGREE_H

#include "../kernel/confined.h"
#include "../kernel/grown.h"
#include "actor.h"

/* --- runs.c --- */

enum run_kind {
	RUN_BARE, /* no sandbox: what would happen */
	RUN_SHIM, /* with a loader, so that the shim vouches */
	RUN_STATIC, /* without: every call is asked about */
	RUN_MASKED, /* as the shim's, where mounts stand over what is denied */
	RUN_MASKED_STATIC,
	RUN_COUNT
};
extern const char *const run_names[RUN_COUNT];

static inline bool run_has_loader(enum run_kind kind)
{
	return kind != RUN_STATIC && kind != RUN_MASKED_STATIC;
}

static inline bool run_is_masked(enum run_kind kind)
{
	return kind >= RUN_MASKED;
}

struct run {
	enum run_kind kind;
	pid_t pid;
	int to, from;
	bool shim; /* it is loaded */
};

/* Copies what is needed from the build tree to 'folder', where other users can execute it. */
void runs_begin(const char *folder);
/* The bundled profiles, for who loads the same policy. */
const char *runs_profiles(void);

/* False when the launcher refuses the policy. 'log' may be NULL. */
bool run_start(struct run *run, enum run_kind kind, uid_t uid, const char *policy, const char *log);
struct actor_reply run_act(const struct run *run, const struct actor_case *what);
void run_end(struct run *run);

/* --- world.c --- */

/* Numbers that differ when anything in a tree does: names, kinds, sizes, which file it is. */
struct picture {
	uint64_t all;
	uint64_t seen; /* of what is not hidden */
	uint64_t hidden; /* of what is, wherever it stands */
};

/*
 * The same tree stands in several places: one is for the bare program, and others are for sandboxes
 * of a kind. Acts, rules and verdicts call all of them by the name of the first.
 *
 * The kernel's rules are bound to files and folders, not to names. So what an act removed is not
 * made anew: all files have one more name in a folder beside the tree, and folders that were moved
 * are moved back. Only a folder that was removed is lost.
 */
struct world {
	struct grown grown;
	char called[64]; /* the root of the first; as long as the tree's own */
	char spare[96]; /* the folder beside the tree */
	ino_t inodes[GROWN_MAX]; /* what entries are known by */
	const struct sbx_image *image; /* what rules say */
	struct picture picture; /* of the tree as it was planted */
	bool gone[GROWN_MAX]; /* was taken away: see world_bare() */
	bool hides; /* some of the rules do */
	bool spoiled; /* a folder that a rule names is not the one that it was */
};

/* Replaces a tree's root by another's, which is as long, wherever it stands in a text. */
void world_call(const char *from, const char *to, char *text);
/* Takes over the entries. */
void world_copy(const struct world *from, struct world *to);
/* A new tree, in the place of the old one. */
void world_plant(struct world *world);
/* The rules are known from now on. */
void world_rule(struct world *world, const struct sbx_image *image);
/*
 * Takes away what is hidden: what a bare program sees then is what one in a sandbox should see. What
 * stays is folders with something in them that rules give back.
 */
void world_bare(struct world *world);
bool world_hides(const struct world *world, const char *path);
/* What the names of hidden entries that are there still add to a listing of the first tree. */
uint32_t world_unseen(const struct world *world, const char *folder);
struct picture world_picture(const struct world *world);
/* After an act on these resolved paths; 'to' may be NULL. False: nothing but planting helps. */
bool world_undo(struct world *world, enum act act, const char *path, const char *to);

/* --- spell.c --- */

/* An act as the program gets it, and its paths as they are to be understood from outside. */
struct spelled {
	struct actor_case what;
	char path[ACTOR_PATH];
	char to[ACTOR_PATH];
};

/* Any act on any entries, said in any way: absolute, relative, through links, dot-dot and /proc. */
void spell(const struct grown *grown, struct spelled *spelled);

/* --- way.c --- */

/* What a path leads through. */
struct way {
	/* Something hidden is left by "..", is a link that is followed, or is no folder. */
	bool hidden;
	bool ends; /* in something hidden, whether or not one could come there */
	bool denied; /* a name is looked for in a folder that is denied */
	bool shut; /* in one that is hidden */
};

/* 'cwd' is absolute, and has no links in it. Adds to what 'way' says. */
void way_walk(const struct world *world, const char *cwd, const char *path, bool nofollow,
	      struct way *way);
/* Whether a rule denies all that could be done there. */
bool way_denies(const struct world *world, const char *path);

/* --- one.c --- */

/* One act, with all that was said of it and came of it. */
struct one {
	struct spelled spelled;
	struct answer answers[2];
	struct answer base; /* where it starts from; base.known: the launcher has to be asked */
	size_t answer_count;
	struct way way;
	bool known, allowed, bound;
	bool early; /* the kernel may refuse before it finds that this cannot be */
	bool done[RUN_COUNT];
	struct actor_reply replies[RUN_COUNT];
	struct picture pictures[RUN_COUNT];
	/* Trees as they were before. */
	struct picture before[RUN_COUNT];
};

/* Finds out what the engine says of what is spelled. */
void one_judge(struct one *one, const struct world *world);
/* Whether what came of it in this run is what should have. 'policy' is its text. */
bool one_agrees(const struct one *one, enum run_kind kind, const struct world *world,
		const char *policy);
/* Whether something has to be in the log. */
bool one_needs_words(const struct one *one, enum run_kind kind, const struct world *world,
		     const char *policy);
bool one_changes(const struct one *one);
/* A folder with a repository in it, or with something that cannot be looked into. */
bool one_holds_repository(const struct world *world, const char *path);
/* How often what differs for a reason did. */
void one_note_differences(void);

/* --- heard.c --- */

struct heard_event {
	char op[16];
	char code[24];
	char path[ACTOR_PATH]; /* resolved */
	bool expected;
};

struct heard {
	struct heard_event *events;
	size_t count;
};

/* All refusals in a log that are about the tree. */
void heard_read(struct heard *heard, const char *log, const struct world *world);
/* Finds what answers a question that was refused, and marks it as expected; NULL: there is none. */
struct heard_event *heard_find(struct heard *heard, const struct answer *answer);
void heard_free(struct heard *heard);

#endif
