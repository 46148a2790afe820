/* SPDX-License-Identifier: MIT */
/*
 * Where the shim is, and what it was told by the environment it started in.
 */
#include "start.h"

#include "call.h"
#include "explain.h"
#include "libc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD="
#define IMAGE SBX_ENV_IMAGE "="
#define EXPLAIN SBX_ENV_EXPLAIN "=self"

static char preload[sizeof(PRELOAD) + PATH_MAX] = PRELOAD;
static char image[sizeof(IMAGE) + PATH_MAX];
static struct shim_self self;

enum {
	UNKNOWN,
	KNOWN,
	EXPLAINING
};
static atomic_int state;

/* The value of the entry, or NULL. 'name' ends in "=". */
static const char *find(const char *name)
{
	size_t len = strlen(name);
	char **env = shim_environ();

	for (; env && *env; env++)
		if (!strncmp(*env, name, len))
			return *env + len;
	return NULL;
}

/* The first entry of LD_PRELOAD that is called like us. */
static size_t path_by_environment(char *path)
{
	const char *value = find(PRELOAD);
	size_t len, name = strlen(SBX_SHIM_NAME);

	for (; value && *value; value += len + (value[len] != '\0')) {
		for (len = 0; value[len] && value[len] != ':' && value[len] != ' ';)
			len++;
		if (len <= name || len >= PATH_MAX || value[len - name - 1] != '/' ||
		    memcmp(value + len - name, SBX_SHIM_NAME, name))
			continue;
		memcpy(path, value, len);
		return len;
	}
	return 0;
}

/* Relative to where the program was started: the loader's name, made to hold elsewhere too. */
static size_t absolute(char *path, const char *name)
{
	size_t len = strlen(name), cwd = 0;

	if (name[0] != '/') {
		long got = shim_raw(SYS_getcwd, (long)path, PATH_MAX, 0, 0, 0, 0);

		if (shim_is_error(got) || got < 2)
			return 0;
		cwd = (size_t)got;
		path[cwd - 1] = '/';
	}
	if (len + cwd >= PATH_MAX)
		return 0;
	memcpy(path + cwd, name, len);
	return len + cwd;
}

static size_t find_path(char *path)
{
	Dl_info info;

	if (dladdr && dladdr((const void *)&state, &info) && info.dli_fname && *info.dli_fname)
		return absolute(path, info.dli_fname);
	return path_by_environment(path);
}

/* The same bytes are written by whoever comes here, in whatever order. */
static int start(void)
{
	char *path = preload + strlen(PRELOAD);
	const char *explain = find(SBX_ENV_EXPLAIN "="), *file = find(IMAGE);
	size_t len = find_path(path);
	int found = KNOWN;

	path[len] = '\0';
	self.path = path;
	self.preload = preload;
	if (explain && !strcmp(explain, "self") && file && strlen(file) < PATH_MAX) {
		memcpy(image, IMAGE, strlen(IMAGE));
		memcpy(image + strlen(IMAGE), file, strlen(file) + 1);
		self.image = image;
		self.explain = EXPLAIN;
		found = EXPLAINING;
	}
	self.path_len = len;
	/* Too early: libc itself has not started. The next caller will know more. */
	if (shim_environ())
		atomic_store_explicit(&state, found, memory_order_release);
	return found;
}

static int started(void)
{
	int found = atomic_load_explicit(&state, memory_order_acquire);

	return found ? found : start();
}

const struct shim_self *shim_self(void)
{
	(void)started();
	return &self;
}

bool shim_explains(void)
{
	return started() == EXPLAINING;
}

static __attribute__((constructor)) void begin(void)
{
	(void)started();
}
