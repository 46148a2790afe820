/* SPDX-License-Identifier: MIT */
/*
 * Repositories that were made during the run: git init and git clone must work inside, so what
 * protects the settings of repositories spares those.
 */
#ifndef SBX_LAUNCH_REPOS_H
#define SBX_LAUNCH_REPOS_H

#include "engine.h"

#include <sys/stat.h>

struct launch_repos;
struct launch_repos *launch_repos_new(void); /* NULL: out of memory */
void launch_repos_free(struct launch_repos *repos);

/* A folder was made by the program; it is kept in mind if that is where a repository has its files. */
void launch_repos_made(struct launch_repos *repos, int folder, const char *name, const char *path);
/* The n-th of them, by the path it was made at; NULL behind the last. */
const char *launch_repos_path(struct launch_repos *repos, size_t n);

/*
 * sbx_eval(), with the rules for repositories left out where they are about such a one, or none. A
 * folder with a repository below it that was there before the run is not moved.
 */
void launch_repos_eval(struct launch_repos *repos, const struct sbx_image *image,
		       struct sbx_request *request, struct sbx_verdict *verdict);

#endif
