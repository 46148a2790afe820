/* SPDX-License-Identifier: MIT */
/* Folders are known by device and inode, so that one that is moved stays what it is. */
#include "repos.h"

#include "query.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1024 /* the rest are treated like those that were there */
#define LOOK_MOST 200000 /* entries below a folder that is moved */
#define LOOK_DEPTH 64

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
		struct repo *repo = &repos->list[repos->count];

		*repo = (struct repo){ st.st_dev, st.st_ino, strdup(path) };
		repos->count += repo->path != NULL;
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

static bool is_new(struct launch_repos *repos, const struct stat *st)
{
	bool found = false;

	(void)pthread_mutex_lock(&repos->lock);
	for (size_t i = 0; i < repos->count && !found; i++)
		found = repos->list[i].device == st->st_dev && repos->list[i].inode == st->st_ino;
	(void)pthread_mutex_unlock(&repos->lock);
	return found;
}

/* Whether the repository that a path belongs to was there before the run. */
static bool is_old(struct launch_repos *repos, const char *path)
{
	char place[PATH_MAX];
	struct stat st;

	sbx_repository_of(path, place);
	return lstat(place, &st) == 0 && !is_new(repos, &st);
}

/* What a look below a folder found. */
enum look {
	LOOK_NOTHING,
	LOOK_OLD, /* a repository that was there before the run */
	LOOK_TOO_FAR /* it was not seen to the end */
};

static enum look look_below(struct launch_repos *repos, int at, const char *name, size_t *left,
			    int depth);

static enum look look_at(struct launch_repos *repos, int folder, const struct dirent *entry,
			 size_t *left, int depth)
{
	struct stat st;

	if (!(*left)--)
		return LOOK_TOO_FAR;
	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return LOOK_NOTHING;
	if (sbx_is_repository(entry->d_name))
		return fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
				       !is_new(repos, &st)
			       ? LOOK_OLD
			       : LOOK_NOTHING;
	return entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN
		       ? look_below(repos, folder, entry->d_name, left, depth)
		       : LOOK_NOTHING;
}

static enum look look_below(struct launch_repos *repos, int at, const char *name, size_t *left,
			    int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	enum look found = LOOK_NOTHING;
	DIR *folder;

	if (fd < 0)
		return errno == ENOTDIR || errno == ENOENT || errno == ELOOP ? LOOK_NOTHING
									     : LOOK_TOO_FAR;
	folder = depth < LOOK_DEPTH ? fdopendir(fd) : NULL;
	if (!folder) {
		(void)close(fd);
		return LOOK_TOO_FAR;
	}
	for (struct dirent *entry; !found && (entry = readdir(folder));)
		found = look_at(repos, fd, entry, left, depth + 1);
	(void)closedir(folder);
	return found;
}

/*
 * A folder with an old repository in it stays where it is: elsewhere it might stand inside a new one,
 * and where it was anybody could make another. So what is here has never been moved, and its name is
 * its name. A folder that is too large to look through has to be copied.
 */
static void keep_old(struct launch_repos *repos, const struct sbx_image *image,
		     const struct sbx_request *request, struct sbx_verdict *verdict)
{
	static const char settings[] = "/.git/config";
	char path[PATH_MAX + sizeof(settings)];
	struct sbx_request write = { .op = SBX_OP_WRITE, .size = -1, .path = path };
	struct sbx_verdict held;
	size_t left = LOOK_MOST;
	enum look found;

	(void)snprintf(path, sizeof(path), "%s%s", request->path, settings);
	sbx_eval(image, &write, &held);
	if (held.allowed || !(held.flags & SBX_VERDICT_REPO))
		return;
	found = look_below(repos, AT_FDCWD, request->path, &left, 0);
	if (found == LOOK_OLD) {
		sbx_refuse(verdict, SBX_CODE_PROTECTED, held.rule);
		verdict->flags |= SBX_VERDICT_REPO;
	} else if (found == LOOK_TOO_FAR) {
		sbx_refuse(verdict, SBX_CODE_REFER, SBX_NONE);
		verdict->flags |= SBX_VERDICT_TARGET;
	}
}

/*
 * What was made in a new repository, where anything may be, must not become a part of an old one. What
 * a link may not stand for there is not moved there either.
 */
static void keep_parts(struct launch_repos *repos, const struct sbx_image *image,
		       const struct sbx_request *request, struct sbx_verdict *verdict)
{
	struct sbx_request link = { .op = SBX_OP_CREATE,
				    .is_link = true,
				    .missing = true,
				    .size = -1,
				    .path = request->to };
	struct sbx_verdict held;

	sbx_eval(image, &link, &held);
	if (held.allowed || !(held.flags & SBX_VERDICT_REPO) || !is_old(repos, request->to) ||
	    is_old(repos, request->path))
		return;
	sbx_refuse(verdict, SBX_CODE_REFER, held.rule);
	verdict->flags |= SBX_VERDICT_TARGET;
}

static void eval_new(struct launch_repos *repos, const struct sbx_image *image,
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

void launch_repos_eval(struct launch_repos *repos, const struct sbx_image *image,
		       struct sbx_request *request, struct sbx_verdict *verdict)
{
	eval_new(repos, image, request, verdict);
	if (verdict->allowed && request->op == SBX_OP_RENAME && request->is_dir)
		keep_old(repos, image, request, verdict);
	if (verdict->allowed && request->op == SBX_OP_RENAME && request->is_dir && request->to)
		keep_parts(repos, image, request, verdict);
}
