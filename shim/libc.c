/* SPDX-License-Identifier: MIT */
/*
 * Finds the functions that the shim's stand before.
 */
#include "libc.h"

#include <stdatomic.h>

/*
 * Two threads may look it up at the same time and find the same. dlsym() goes by where it is called
 * from: it must not be the last thing that this function does, or it would be called from elsewhere.
 */
__attribute__((noinline)) void *shim_real(void *_Atomic *slot, const char *name)
{
	void *real = atomic_load_explicit(slot, memory_order_acquire);

	if (!real && dlsym) {
		real = dlsym(RTLD_NEXT, name);
		atomic_store_explicit(slot, real, memory_order_release);
	}
	return real;
}
