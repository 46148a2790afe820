/* SPDX-License-Identifier: MIT */
/*
 * The parts of the agreement test: a tree that is brought back after every act, acts in random
 * spellings, the programs that do them, and what the log says of it.
 */
#ifndef AGREE_H
#define AGREE_H

#include "../kernel/confined.h"
#include "../kernel/grown.h"
#include "actor.h"

/* --- world.c --- */

/*
 * The kernel's rules are bound to files and folders, not to names. So what an act removed is not
 * made anew: all files have one more name in a folder beside the tree, and folders that were moved
 * are moved back. Only a folder that was removed is lost.
 */
struct world {
	struct grown grown;
	char spare[96]; /* the folder beside the tree */
	ino_t inodes[GROWN_MAX]; /* what entries are known by */
	uint64_t picture; /* of the tree as it was planted */
	bool spoiled; /* a folder that a rule names is not the one that it was */
};

/* A new tree, in the place of the old one. */
void world_plant(struct world *world);
/* A number that differs when anything in the tree does: names, kinds, sizes, which file it is. */
uint64_t world_picture(const struct world *world);
/* After an act on these resolved paths; 'to' may be NULL. False: nothing but planting helps. */
bool world_undo(struct world *world, const struct sbx_image *image, enum act act, const char *path,
		const char *to);

/* --- spell.c --- */

/* An act as the program gets it, and its paths as they are to be understood from outside. */
struct spelled {
	struct actor_case what;
	char path[ACTOR_PATH];
	char to[ACTOR_PATH];
};

/* Any act on any entries, said in any way: absolute, relative, through links, dot-dot and /proc. */
void spell(const struct grown *grown, struct spelled *spelled);

/* --- runs.c --- */

enum run_kind {
	RUN_BARE, /* no sandbox: what would happen */
	RUN_SHIM, /* with a loader, so that the shim vouches */
	RUN_STATIC, /* without: every call is asked about */
	RUN_COUNT
};
extern const char *const run_names[RUN_COUNT];

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
int run_act(const struct run *run, const struct actor_case *what);
void run_end(struct run *run);

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
void heard_read(struct heard *heard, const char *log, const char *tree);
/* Finds what answers a question that was refused, and marks it as expected; NULL: there is none. */
struct heard_event *heard_find(struct heard *heard, const struct answer *answer);
void heard_free(struct heard *heard);

#endif
