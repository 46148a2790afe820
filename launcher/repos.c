/* SPDX-License-Identifier: MIT */
/* Folders are known by device and inode, so that one that is moved stays what it is. */
#include "repos.h"

#include "query.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1024 /* the rest are treated like those that were there */

struct repo {
	dev_t device;
	ino_t inode;
	char *path;
};

struct launch_repos {
	pthread_mutex_t lock;
	struct repo list[MOST];
	size_t count;
};

struct launch_repos *launch_repos_new(void)
{
	struct launch_repos *repos = calloc(1, sizeof(*repos));

	if (repos)
		(void)pthread_mutex_init(&repos->lock, NULL);
	return repos;
}

void launch_repos_free(struct launch_repos *repos)
{
	if (!repos)
		return;
	for (size_t i = 0; i < repos->count; i++)
		free(repos->list[i].path);
	(void)pthread_mutex_destroy(&repos->lock);
	free(repos);
}

void launch_repos_made(struct launch_repos *repos, int folder, const char *name, const char *path)
{
	struct stat st;

	if (!sbx_is_repository(name) || fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISDIR(st.st_mode))
		return;
	(void)pthread_mutex_lock(&repos->lock);
	if (repos->count < MOST) {
		char *copy = strdup(path);

		if (copy)
			repos->list[repos->count++] = (struct repo){ st.st_dev, st.st_ino, copy };
	}
	(void)pthread_mutex_unlock(&repos->lock);
}

const char *launch_repos_path(struct launch_repos *repos, size_t n)
{
	const char *path;

	(void)pthread_mutex_lock(&repos->lock);
	path = n < repos->count ? repos->list[n].path : NULL;
	(void)pthread_mutex_unlock(&repos->lock);
	return path;
}

/* Whether the repository that a path belongs to was there before the run. */
static bool is_old(struct launch_repos *repos, const char *path)
{
	char place[PATH_MAX];
	struct stat st;
	bool old = true;

	sbx_repository_of(path, place);
	if (lstat(place, &st) < 0)
		return false;
	(void)pthread_mutex_lock(&repos->lock);
	for (size_t i = 0; i < repos->count && old; i++)
		old = repos->list[i].device != st.st_dev || repos->list[i].inode != st.st_ino;
	(void)pthread_mutex_unlock(&repos->lock);
	return old;
}

void launch_repos_eval(struct launch_repos *repos, const struct sbx_image *image,
		       struct sbx_request *request, struct sbx_verdict *verdict)
{
	request->new_repo = false;
	sbx_eval(image, request, verdict);
	if (!(verdict->flags & SBX_VERDICT_REPO) || is_old(repos, request->path) ||
	    (request->to && is_old(repos, request->to)))
		return;
	request->new_repo = true;
	sbx_eval(image, request, verdict);
}
