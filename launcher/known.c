/* SPDX-License-Identifier: MIT */
/*
 * A table that finds by hash, one path at each of its places; who comes later takes the place. The
 * whole text is compared.
 */
#include "known.h"

#include "hash.h"
#include "resolve.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PLACES 1024u /* a power of two */
#define LASTS_MS 1000

struct place {
	char path[KNOWN_LEN]; /* "": nothing is known here */
	uint64_t until;
	enum launch_knowledge what;
};

struct launch_known {
	pthread_mutex_t lock;
	const struct launch_hold *hold;
	struct place places[PLACES];
};

struct launch_known *launch_known_new(const struct launch_hold *hold)
{
	struct launch_known *known = calloc(1, sizeof(*known));

	if (!known)
		return NULL;
	known->hold = hold;
	(void)pthread_mutex_init(&known->lock, NULL);
	return known;
}

void launch_known_free(struct launch_known *known)
{
	if (!known)
		return;
	(void)pthread_mutex_destroy(&known->lock);
	free(known);
}

static struct place *place_of(struct launch_known *known, const char *path, size_t len)
{
	return &known->places[sbx_hash_bytes(path, len) & (PLACES - 1)];
}

enum launch_knowledge launch_known_find(struct launch_known *known, const char *path, uint64_t now)
{
	size_t len = strnlen(path, KNOWN_LEN);
	enum launch_knowledge what = KNOWN_NOT;
	const struct place *place;

	if (path[0] != '/' || len == KNOWN_LEN)
		return KNOWN_ASK;
	(void)pthread_mutex_lock(&known->lock);
	place = place_of(known, path, len);
	if (now < place->until && !strcmp(place->path, path))
		what = place->what;
	(void)pthread_mutex_unlock(&known->lock);
	return what;
}

/* What was met on the way of a path. */
struct way {
	const struct sbx_image *image;
	bool changeable; /* by the program; or another one for each process */
};

static void meet(void *arg, const char *place)
{
	struct way *way = arg;

	way->changeable |= launch_rights_at(way->image, place) & SBX_RIGHT_WRITE ||
			   launch_is_within(place, "/proc", strlen("/proc")) ||
			   launch_is_within(place, "/dev", strlen("/dev"));
}

/*
 * What may be read, the kernel has to grant, also where nothing is there yet. Of what may not, nothing is
 * known: who opens it is told why. But of what is missing the kernel says so before it asks any rule.
 */
static bool is_kernels(const struct launch_hold *hold, const struct sbx_resolved *at)
{
	bool missing = at->existing < at->len;
	struct sbx_request request = { .op = S_ISDIR(at->mode) ? SBX_OP_LIST : SBX_OP_READ,
				       .is_dir = S_ISDIR(at->mode),
				       .size = at->size,
				       .path = at->path };
	struct sbx_verdict verdict;

	sbx_eval(hold->image, &request, &verdict);
	if (!verdict.allowed)
		return missing;
	return launch_hold_at(hold, at->path) & HOLD_READ;
}

static enum launch_knowledge look(const struct launch_hold *hold, const char *path)
{
	struct way way = { .image = hold->image };
	struct sbx_viewer viewer = { .meet = meet, .arg = &way };
	struct sbx_resolved at;

	meet(&way, "/");
	if (way.changeable || sbx_resolve_as(&viewer, "/", path, SBX_RESOLVE_MISSING, &at) < 0 ||
	    way.changeable || at.pinned)
		return KNOWN_ASK;
	return is_kernels(hold, &at) ? KNOWN_OPEN : KNOWN_ASK;
}

void launch_known_learn(struct launch_known *known, const char *path, uint64_t now)
{
	size_t len = strnlen(path, KNOWN_LEN);
	enum launch_knowledge what;
	struct place *place;

	if (path[0] != '/' || len == KNOWN_LEN)
		return;
	what = look(known->hold, path);
	(void)pthread_mutex_lock(&known->lock);
	place = place_of(known, path, len);
	memcpy(place->path, path, len + 1);
	place->until = now + LASTS_MS;
	place->what = what;
	(void)pthread_mutex_unlock(&known->lock);
}
