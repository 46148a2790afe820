/* SPDX-License-Identifier: MIT */
/* Memory that is taken in small pieces and given back all at once. {0} is an empty one. */
#ifndef SBX_ARENA_H
#define SBX_ARENA_H

#include <stddef.h>

struct sbx_arena {
	struct sbx_chunk *chunks;
};

/* Not zeroed; 'align' is a power of two, at most 8. NULL: out of memory. */
void *sbx_arena_take(struct sbx_arena *arena, size_t size, size_t align);
void sbx_arena_done(struct sbx_arena *arena);

#endif
