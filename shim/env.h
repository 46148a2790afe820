/* SPDX-License-Identifier: MIT */
/*
 * The environment of programs that are started from here: with the shim in it, whatever the caller
 * made of it.
 */
#ifndef SHIM_ENV_H
#define SHIM_ENV_H

#include <stdbool.h>
#include <stddef.h>

/* An environment, and what is to be changed in it. */
struct shim_env {
	char *const *list; /* the caller's; NULL is empty */
	size_t count;
	const char *preload; /* the value of LD_PRELOAD that counts, or NULL */
	size_t preload_len;
	bool without; /* the shim is taken out */
	bool add_image;
	bool add_explain;
};

/*
 * Looks at the caller's environment: how many bytes shim_env_fill() needs, or 0 when nothing is to
 * be changed, and then the caller's own will do. That is also the answer for what cannot be read.
 * 'without': for a program that cannot load the shim.
 */
size_t shim_env_plan(struct shim_env *env, char *const *list, bool without);
char **shim_env_fill(const struct shim_env *env, void *memory);

#endif
