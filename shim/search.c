/* SPDX-License-Identifier: MIT */
/*
 * Looks for a program in PATH as the libc at hand does. It must try the same files in the same order
 * and stop at the same errors, or a program would run another one in the sandbox than outside.
 */
#include "exec.h"
#include "memory.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>

struct search {
	const char *file;
	size_t file_len;
	const char *path;
	size_t longest; /* entry of 'path' that is tried */
	shim_search_function *try;
	void *context;
};

static const char *get_path(void)
{
	char **env = shim_environ();

	for (; env && *env; env++)
		if (!strncmp(*env, "PATH=", 5))
			return *env + 5;
	return shim_is_glibc() ? "/bin:/usr/bin" : "/usr/local/bin:/bin:/usr/bin";
}

/* Whether the next folder may have it. */
static bool goes_on(long error)
{
	switch (error) {
	case -EACCES:
	case -ENOENT:
	case -ENOTDIR:
		return true;
	case -ESTALE:
	case -ENODEV:
	case -ETIMEDOUT:
		return shim_is_glibc();
	default:
		return false;
	}
}

static size_t entry_len(const char *entry)
{
	size_t len = 0;

	while (entry[len] && entry[len] != ':')
		len++;
	return len;
}

static long search_in(void *context, void *memory)
{
	const struct search *search = context;
	const char *entry = search->path;
	char *path = memory;
	bool refused = false;
	long error = -ENOENT;

	if (!memory)
		return -ENOMEM;
	for (;; entry++) {
		size_t len = entry_len(entry);

		if (len <= search->longest) {
			memcpy(path, entry, len);
			path[len] = '/';
			memcpy(path + len + (len > 0), search->file, search->file_len + 1);
			error = search->try(search->context, path);
			if (!goes_on(error))
				return error;
			refused |= error == -EACCES;
		}
		entry += len;
		if (!*entry)
			break;
	}
	return refused ? -EACCES : error;
}

long shim_search(const char *file, shim_search_function *try, void *context)
{
	struct search search = { .file = file, .path = get_path(), .try = try, .context = context };
	size_t len = strlen(search.path);

	search.file_len = strlen(file);
	if (search.file_len > NAME_MAX)
		return -ENAMETOOLONG;
	search.longest = len < PATH_MAX ? len : PATH_MAX - 1;
	return shim_with_memory(search.longest + search.file_len + 2, search_in, &search);
}
