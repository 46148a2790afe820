/* SPDX-License-Identifier: MIT */
/*
 * posix_spawn, system and popen. Their exec comes from libc, bare, and is never in the quiet zone: the
 * kernel has asked about it already, and there is nothing to repeat.
 */
#include "spawn.h"

#include "call.h"
#include "exec.h"
#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static long spawn_now(void *context, char *const *envp)
{
	const struct shim_spawn *spawn = context;

	return spawn->real(spawn->pid, spawn->path, spawn->actions, spawn->attributes, spawn->argv,
			   envp);
}

/* The file that posix_spawnp() will find, as long as nothing changes meanwhile. */
struct found {
	struct shim_spawn *spawn;
	char *const *envp;
};

static long spawn_found(struct shim_spawn *spawn, const char *path, char *const *envp)
{
	long error = shim_start_inside(path, envp, spawn_now, spawn);
	long result = -error;

	if (path && shim_is_refusal(result) && shim_explains())
		(void)shim_explain(&(struct shim_call){ SYS_execve, { (long)path } }, &result);
	return error;
}

/* Returns what is not an errno, so that the search ends with the first file that is there. */
static long spawn_searched(void *context, const char *path)
{
	struct found *found = context;
	long there = shim_quietly(SYS_faccessat, AT_FDCWD, (long)path, 0, 0, 0);

	if (there < 0)
		return there;
	return spawn_found(found->spawn, path, found->envp);
}

int shim_spawn(struct shim_spawn *spawn, char *const *envp)
{
	struct found found = { spawn, envp };
	long error;

	if (!spawn->real)
		return ENOSYS;
	if (!spawn->search || strchr(spawn->path, '/'))
		return (int)spawn_found(spawn, spawn->path, envp);
	error = shim_search(spawn->path, spawn_searched, &found);
	/* It is nowhere: libc finds the right words for that. */
	return error < 0 ? (int)spawn_found(spawn, NULL, envp) : (int)error;
}

/* A command for the shell, which finds its environment in 'environ'. */
struct command {
	shim_system_function *run;
	shim_popen_function *open;
	const char *command;
	const char *type;
	FILE *stream;
};

static long command_now(void *context, char *const *envp)
{
	struct command *command = context;
	char **before = shim_environ();
	/* Other threads would see it, change it, or end this one before it is put back. */
	bool differs = &environ && envp != before && (shim_is_alone() || !shim_is_glibc());
	long status = 0;

	if (differs)
		environ = (char **)envp;
	if (command->run)
		status = command->run(command->command);
	else
		command->stream = command->open(command->command, command->type);
	if (differs)
		environ = before;
	return status;
}

int shim_shell_run(shim_system_function *real, const char *command)
{
	struct command start = { .run = real, .command = command };

	if (!real)
		return shim_fail(-ENOSYS);
	return (int)shim_start_inside("/bin/sh", shim_environ(), command_now, &start);
}

FILE *shim_shell_open(shim_popen_function *real, const char *command, const char *type)
{
	struct command start = { .open = real, .command = command, .type = type };

	if (real)
		(void)shim_start_inside("/bin/sh", shim_environ(), command_now, &start);
	else
		shim_set_errno(ENOSYS);
	return start.stream;
}
