/* SPDX-License-Identifier: MIT */
/*
 * Memory from the stack or from the kernel. Never from malloc, which belongs to the program.
 */
#include "memory.h"

#include "call.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>

#define SMALL 896
#define MEDIUM 2048 /* two of these, for a search and an environment, fit in 8 KB with the rest */
#define LARGE 5120
#define PAGE 4096

typedef long work_function(void *context, void *memory);

static __attribute__((noinline)) long with_small(work_function *work, void *context)
{
	_Alignas(16) char memory[SMALL];

	return work(context, memory);
}

static __attribute__((noinline)) long with_medium(work_function *work, void *context)
{
	_Alignas(16) char memory[MEDIUM];

	return work(context, memory);
}

static __attribute__((noinline)) long with_large(work_function *work, void *context)
{
	_Alignas(16) char memory[LARGE];

	return work(context, memory);
}

void *shim_map(size_t size)
{
	long result = shim_raw(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return shim_is_error(result) ? NULL : (void *)result;
}

void shim_unmap(void *memory, size_t size)
{
	(void)shim_raw(SYS_munmap, (long)memory, (long)size, 0, 0, 0, 0);
}

long shim_with_memory(size_t size, long (*work)(void *context, void *memory), void *context)
{
	void *memory;
	long result;

	if (size <= SMALL)
		return with_small(work, context);
	if (size <= MEDIUM)
		return with_medium(work, context);
	if (size <= LARGE)
		return with_large(work, context);
	memory = shim_map(size);
	result = work(context, memory);
	if (memory)
		shim_unmap(memory, size);
	return result;
}

/* The kernel reads the set before it looks at 'how', and no 'how' has this number. */
static bool is_there(uintptr_t at)
{
	/* To the kernel a set at address 0 is none, which is no error. */
	return at >= 8 &&
	       shim_raw(SYS_rt_sigprocmask, -1, (long)(at & ~7UL), 0, 8, 0, 0) != -EFAULT;
}

int shim_peek_byte(struct shim_peek *peek, const char *at)
{
	uintptr_t page = (uintptr_t)at / PAGE + 1;

	if (page != peek->page && !is_there((uintptr_t)at))
		return -1;
	peek->page = page;
	return (unsigned char)*at;
}

long shim_peek_len(struct shim_peek *peek, const char *text)
{
	long len = 0;
	int c;

	while ((c = shim_peek_byte(peek, text + len)) > 0)
		len++;
	return c < 0 ? -1 : len;
}
