/* SPDX-License-Identifier: MIT */
/*
 * Where sbx's own files are: beside the program or the library that this code runs in, so that a
 * build tree and an installation both work where they stand; else where it was configured to be.
 */
#include "draft.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A static program has no dladdr(), and needs none. */
#pragma weak dladdr

/* Cuts components off the end; false when there are not so many. */
static bool cut(char *path, int count)
{
	while (count-- > 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return false;
		*slash = '\0';
	}
	return true;
}

/* PREFIX of PREFIX/bin/program or PREFIX/lib/libsbx.so. */
static bool own_prefix(bool library, char prefix[PATH_MAX])
{
	ssize_t len;

	if (library) {
		Dl_info info;

		if (!dladdr || !dladdr((const void *)sbx_own_dir, &info) || !info.dli_fname ||
		    !realpath(info.dli_fname, prefix))
			return false;
	} else {
		len = readlink("/proc/self/exe", prefix, PATH_MAX - 1);
		if (len <= 0)
			return false;
		prefix[len] = '\0';
	}
	return cut(prefix, 2);
}

static bool is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool join(char *out, const char *prefix, const char *below)
{
	int len = snprintf(out, PATH_MAX, "%s/%s", prefix, below);

	return len > 0 && len < PATH_MAX;
}

const char *sbx_profiles_dir(char *out)
{
	char prefix[PATH_MAX];

	for (int library = 0; library < 2; library++)
		if (own_prefix(library, prefix) && join(out, prefix, "share/sbx/profiles") &&
		    is_dir(out))
			return out;
	return join(out, SBX_DATADIR, "profiles") && is_dir(out) ? out : NULL;
}

/* Beside the profiles that were found, so that all of sbx comes from one place. */
const char *sbx_own_dir(const char *which, char *out)
{
	char prefix[PATH_MAX];

	if ((strcmp(which, "bin") != 0 && strcmp(which, "lib") != 0) || !sbx_profiles_dir(prefix))
		return NULL;
	if (!cut(prefix, 3))
		return NULL;
	return join(out, prefix, which) && is_dir(out) ? out : NULL;
}
