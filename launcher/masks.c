/* SPDX-License-Identifier: MIT */
#include "masks.h"

#include "target.h"

#include <sys/stat.h>

void launch_masks_init(struct launch_masks *masks)
{
	*masks = (struct launch_masks){ .first = umask(0) };
	(void)umask(masks->first);
	(void)pthread_mutex_init(&masks->lock, NULL);
}

void launch_masks_set(struct launch_masks *masks, pid_t process, mode_t mask)
{
	size_t at = 0;

	(void)pthread_mutex_lock(&masks->lock);
	while (at < masks->count && masks->others[at] != process)
		at++;
	if (mask == masks->first && at < masks->count)
		masks->others[at] = masks->others[--masks->count];
	else if (mask != masks->first && at == masks->count && at < LAUNCH_MASKS)
		masks->others[masks->count++] = process;
	else if (mask != masks->first && at == LAUNCH_MASKS)
		masks->unsure = true;
	(void)pthread_mutex_unlock(&masks->lock);
}

/* Whether of one of the others does not matter: it costs time, and nothing else. */
void launch_masks_born(struct launch_masks *masks)
{
	(void)pthread_mutex_lock(&masks->lock);
	masks->unsure |= masks->count > 0;
	(void)pthread_mutex_unlock(&masks->lock);
}

mode_t launch_masks_get(struct launch_masks *masks, pid_t thread)
{
	bool known;
	long mask;

	(void)pthread_mutex_lock(&masks->lock);
	known = !masks->count && !masks->unsure;
	(void)pthread_mutex_unlock(&masks->lock);
	mask = known ? (long)masks->first : launch_target_umask(thread);
	return mask < 0 ? 077 : (mode_t)mask;
}
