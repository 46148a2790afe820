/* SPDX-License-Identifier: MIT */
/*
 * What a path leads through, name by name, as the kernel walks it. The second opinion on what the
 * broker finds out for itself: shares nothing with it but the engine.
 */
#include "agree.h"

#define MAX_LINKS 40 /* the kernel's own bound */

struct walk {
	const struct world *world;
	struct way *way;
	int links;
	char at[PATH_MAX]; /* "" is the root */
	char rest[2 * PATH_MAX];
};

bool way_denies(const struct world *world, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(world->image, &request, &verdict);
	return !verdict.allowed && !(verdict.rights & SBX_RIGHT_READ) &&
	       verdict.code == SBX_CODE_DENIED;
}

static void up(struct walk *walk)
{
	char *slash = strrchr(walk->at, '/');

	if (slash)
		*slash = '\0';
}

/* False: it ends here. */
static bool enter_link(struct walk *walk)
{
	char text[PATH_MAX], whole[sizeof(walk->rest)];
	ssize_t len = readlink(walk->at, text, sizeof(text) - 1);

	if (len < 0)
		return true;
	text[len] = '\0';
	walk->way->hidden |= world_hides(walk->world, walk->at);
	if (walk->links++ == MAX_LINKS)
		return false;
	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", text, walk->rest) >= sizeof(whole))
		BAIL_OUT("a path has become too long");
	memcpy(walk->rest, whole, sizeof(whole));
	up(walk);
	if (text[0] == '/')
		walk->at[0] = '\0';
	return true;
}

static bool step(struct walk *walk, const char *name, bool follows)
{
	size_t len = strlen(walk->at);
	struct stat st;

	walk->way->shut |= len && world_hides(walk->world, walk->at);
	if (!walk->way->hidden)
		walk->way->denied |= way_denies(walk->world, len ? walk->at : "/");
	if (!strcmp(name, "."))
		return true;
	if (!strcmp(name, "..")) {
		walk->way->hidden |= len && world_hides(walk->world, walk->at);
		up(walk);
		return true;
	}
	if (len + 1 + strlen(name) >= sizeof(walk->at))
		return false;
	snprintf(walk->at + len, sizeof(walk->at) - len, "/%s", name);
	walk->way->hidden |=
		*walk->rest && lstat(walk->at, &st) < 0 && world_hides(walk->world, walk->at);
	return !follows || enter_link(walk);
}

/* False: it ends before its last name. */
static bool walk_on(struct walk *walk, bool nofollow)
{
	char name[NAME_MAX + 1];
	bool going = true;

	while (going) {
		size_t skip = strspn(walk->rest, "/"), len = strcspn(walk->rest + skip, "/");

		if (len >= sizeof(name))
			return false;
		if (!len)
			break;
		memcpy(name, walk->rest + skip, len);
		name[len] = '\0';
		memmove(walk->rest, walk->rest + skip + len, strlen(walk->rest + skip + len) + 1);
		going = step(walk, name, *walk->rest || !nofollow);
	}
	return going;
}

/* As the program's user: links in a folder that is closed to it are not seen. */
void way_walk(const struct world *world, const char *cwd, const char *path, bool nofollow,
	      struct way *way)
{
	struct walk walk = { .world = world, .way = way };
	uid_t self = geteuid();

	snprintf(walk.at, sizeof(walk.at), "%s", *path == '/' || !strcmp(cwd, "/") ? "" : cwd);
	snprintf(walk.rest, sizeof(walk.rest), "%s", path);
	if (world->grown.uid && seteuid(world->grown.uid) < 0)
		BAIL_OUT("cannot become the user");
	way->ends |= walk_on(&walk, nofollow) && world_hides(world, walk.at);
	if (seteuid(self) < 0)
		BAIL_OUT("cannot become root again");
}
