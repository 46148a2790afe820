/* SPDX-License-Identifier: MIT */
/*
 * The exec family. A child of vfork runs this on its parent's memory: nothing is written but the
 * stack, and nothing stays behind.
 */
#include "exec.h"

#include "call.h"
#include "env.h"
#include "memory.h"
#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

/* A program to be started in one way or another, and its environment. */
struct start {
	struct shim_env env;
	shim_start_function *work;
	void *context;
};

static long start_with(void *context, void *memory)
{
	struct start *start = context;

	if (!memory)
		return start->work(start->context, start->env.list);
	return start->work(start->context, shim_env_fill(&start->env, memory));
}

static long start_program(const struct shim_program *program, char *const *list,
			  shim_start_function *work, void *context)
{
	struct start start = { .work = work, .context = context };
	size_t size = shim_env_plan(&start.env, list, program->foreign);
	long before = shim_layout_set(program);
	long result = size ? shim_with_memory(size, start_with, &start) : work(context, list);

	shim_layout_restore(before);
	return result;
}

long shim_start_inside(const char *path, char *const *list, shim_start_function *work,
		       void *context)
{
	struct shim_program program = { 0 };

	if (path)
		program = shim_program_read(AT_FDCWD, path, 0);
	return start_program(&program, list, work, context);
}

struct exec {
	long number;
	int dir;
	const char *path;
	char *const *argv;
	int flags;
};

static long exec_now(void *context, char *const *envp)
{
	const struct exec *exec = context;

	if (exec->number == SYS_execve)
		return shim_try(SYS_execve, (long)exec->path, (long)exec->argv, (long)envp, 0, 0);
	return shim_try(SYS_execveat, exec->dir, (long)exec->path, (long)exec->argv, (long)envp,
			exec->flags);
}

static long exec_program(struct exec *exec, char *const *envp)
{
	struct shim_program program = shim_program_read(exec->dir, exec->path, exec->flags);

	return start_program(&program, envp, exec_now, exec);
}

long shim_start_path(const char *path, char *const *argv, char *const *envp)
{
	struct exec exec = { .number = SYS_execve, .dir = AT_FDCWD, .path = path, .argv = argv };

	return exec_program(&exec, envp);
}

long shim_start_at(int dir, const char *path, char *const *argv, char *const *envp, int flags)
{
	struct exec exec = { SYS_execveat, dir, path, argv, flags };

	return exec_program(&exec, envp);
}

long shim_start_fd(int fd, char *const *argv, char *const *envp)
{
	if (shim_is_glibc() && (fd < 0 || !argv || !envp))
		return -EINVAL;
	return shim_start_at(fd, "", argv, envp, AT_EMPTY_PATH);
}

/* A file that is no program is a script for the shell; so glibc holds, and musl does not. */
struct script {
	const char *path;
	char *const *argv;
	char *const *envp;
	size_t count;
};

static long exec_script(void *context, void *memory)
{
	const struct script *script = context;
	const char **argv = memory;

	if (!memory)
		return -ENOMEM;
	argv[0] = "/bin/sh";
	argv[1] = script->path;
	argv[2] = NULL;
	if (script->count > 1)
		memcpy(argv + 2, script->argv + 1, script->count * sizeof(*argv));
	return shim_start_path(argv[0], (char *const *)argv, script->envp);
}

static long exec_file(const char *path, char *const *argv, char *const *envp)
{
	struct script script = { path, argv, envp, 0 };
	long result = shim_start_path(path, argv, envp);

	if (result != -ENOEXEC || !shim_is_glibc())
		return result;
	while (argv[script.count])
		script.count++;
	return shim_with_memory((script.count + 3) * sizeof(char *), exec_script, &script);
}

struct searched {
	char *const *argv;
	char *const *envp;
};

static long exec_searched(void *context, const char *path)
{
	const struct searched *searched = context;

	return exec_file(path, searched->argv, searched->envp);
}

long shim_start_file(const char *file, char *const *argv, char *const *envp)
{
	struct searched searched = { argv, envp };

	if (!*file)
		return -ENOENT;
	if (strchr(file, '/'))
		return exec_file(file, argv, envp);
	return shim_search(file, exec_searched, &searched);
}

/* An argument list, which becomes an array; of execle() the environment follows it. */
struct list {
	enum shim_list kind;
	const char *path;
	const char *first;
	va_list rest;
};

static long exec_list(void *context, void *memory)
{
	struct list *list = context;
	const char **argv = memory;
	char *const *args = (char *const *)argv;
	size_t count = 0;

	if (!memory)
		return -ENOMEM;
	/* NOLINTBEGIN(clang-analyzer-valist.Uninitialized): shim_start_list() has made it. */
	for (argv[0] = list->first; argv[count]; argv[count] = va_arg(list->rest, const char *))
		count++;
	if (list->kind == SHIM_EXECLE)
		return shim_start_path(list->path, args, va_arg(list->rest, char *const *));
	/* NOLINTEND(clang-analyzer-valist.Uninitialized) */
	if (list->kind == SHIM_EXECLP)
		return shim_start_file(list->path, args, shim_environ());
	return shim_start_path(list->path, args, shim_environ());
}

long shim_start_list(enum shim_list kind, const char *path, const char *first, va_list rest)
{
	struct list list = { .kind = kind, .path = path, .first = first };
	size_t count = 1;
	long result;

	va_copy(list.rest, rest);
	for (const char *arg = first; arg; arg = va_arg(list.rest, const char *))
		count++;
	va_end(list.rest);
	va_copy(list.rest, rest);
	result = shim_with_memory(count * sizeof(char *), exec_list, &list);
	va_end(list.rest);
	return result;
}
