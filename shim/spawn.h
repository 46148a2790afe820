/* SPDX-License-Identifier: MIT */
/*
 * Programs that libc starts: posix_spawn, and what a shell is started for. libc's own function is
 * called, once, with an environment that has the shim in it.
 */
#ifndef SHIM_SPAWN_H
#define SHIM_SPAWN_H

#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>

typedef int shim_spawn_function(pid_t *pid, const char *path,
				const posix_spawn_file_actions_t *actions,
				const posix_spawnattr_t *attributes, char *const *argv,
				char *const *envp);
typedef int shim_system_function(const char *command);
typedef FILE *shim_popen_function(const char *command, const char *type);

/* All arguments of posix_spawn() and posix_spawnp(). */
struct shim_spawn {
	shim_spawn_function *real;
	bool search;
	pid_t *pid;
	const char *path;
	const posix_spawn_file_actions_t *actions;
	const posix_spawnattr_t *attributes;
	char *const *argv;
};

int shim_spawn(struct shim_spawn *spawn, char *const *envp);
int shim_shell_run(shim_system_function *real, const char *command);
FILE *shim_shell_open(shim_popen_function *real, const char *command, const char *type);

#endif
