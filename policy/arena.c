/* SPDX-License-Identifier: MIT */
/* Compile side: memory in chunks. */
#include "arena.h"

#include <stdlib.h>

#define CHUNK_SIZE (64u << 10)

struct sbx_chunk {
	struct sbx_chunk *next;
	size_t used;
	size_t size;
	char bytes[];
};

void *sbx_arena_take(struct sbx_arena *arena, size_t size, size_t align)
{
	struct sbx_chunk *chunk = arena->chunks;
	size_t at = chunk ? (chunk->used + align - 1) & ~(align - 1) : 0;

	if (!chunk || at > chunk->size || chunk->size - at < size) {
		size_t room = size > CHUNK_SIZE ? size : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct sbx_chunk){ .next = arena->chunks, .size = room };
		arena->chunks = chunk;
		at = 0;
	}
	chunk->used = at + size;
	return chunk->bytes + at;
}

void sbx_arena_done(struct sbx_arena *arena)
{
	while (arena->chunks) {
		struct sbx_chunk *chunk = arena->chunks;

		arena->chunks = chunk->next;
		free(chunk);
	}
}
