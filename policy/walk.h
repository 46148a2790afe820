/* SPDX-License-Identifier: MIT */
/* The walk from "/" down to a path, for eval.c alone. */
#ifndef SBX_WALK_H
#define SBX_WALK_H

#include "engine.h"

#define SBX_BITMAP_WORDS (SBX_MAX_GLOBS / 64)

/* What holds after a component. */
struct sbx_state {
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

struct sbx_walk {
	const struct sbx_image *image;
	const struct sbx_node *nodes;
	const struct sbx_fan *fans;
	const struct sbx_slot *slots;
	uint32_t mask; /* of slots */
	uint32_t literal; /* the place reached by names alone, or SBX_NONE */
	uint32_t fan; /* its fan, or SBX_NONE */
	uint32_t words; /* of the bitmaps that are in use */
	uint64_t *live; /* pattern places reached so far, by the numbers of their fans */
	uint64_t *next; /* and with the component that is being read; all clear in between */
	uint64_t bitmaps[2 * SBX_BITMAP_WORDS];
	struct sbx_trace *trace;
	const char *path;
	const char *end; /* of what has been walked of it */
	struct sbx_state parent; /* of the folder */
	struct sbx_state here;
};

/*
 * Walks request->path. False for what is not an absolute path without "..": nothing can be said of
 * it. 'extra' and 'trace' may be NULL.
 */
bool sbx_walk(struct sbx_walk *walk, const struct sbx_image *image,
	      const struct sbx_request *request, const struct sbx_extra *extra,
	      struct sbx_trace *trace);

void sbx_state_clear(struct sbx_state *state);
/* Rules that reach below a place. */
void sbx_note_hole(struct sbx_state *state, const struct sbx_image *image, uint32_t node);
/* Default protections behind every "**" that is open where a walk ended; 'inner': but the one at the root. */
void sbx_note_guards(struct sbx_state *state, const struct sbx_walk *walk, bool inner);

static inline void sbx_keep_first(uint32_t *kept, uint32_t rule)
{
	if (rule < *kept)
		*kept = rule;
}

#endif
