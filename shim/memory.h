/* SPDX-License-Identifier: MIT */
/*
 * Memory for those who may not allocate, and a look at memory that may not be there.
 */
#ifndef SHIM_MEMORY_H
#define SHIM_MEMORY_H

#include <stddef.h>
#include <stdint.h>

/*
 * Calls 'work' with 'size' bytes that are gone when it returns. Little comes from the stack: what a
 * child of vfork maps would stay behind in its parent. NULL when there is none to be had.
 */
long shim_with_memory(size_t size, long (*work)(void *context, void *memory), void *context);

/* Pages for as long as they are needed; NULL when there are none. */
void *shim_map(size_t size);
void shim_unmap(void *memory, size_t size);

/*
 * Reads what a caller points to, which the kernel would answer with EFAULT where a program would
 * crash. Remembers the last page that was there.
 */
struct shim_peek {
	uintptr_t page;
};

int shim_peek_byte(struct shim_peek *peek, const char *at); /* -1: not there */
/* The length of a string, or -1. */
long shim_peek_len(struct shim_peek *peek, const char *text);

#endif
