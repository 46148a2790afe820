/* SPDX-License-Identifier: MIT */
#include "narrow.h"

#include "target.h"
#include "tree.h"

#define DEPTH 4096 /* processes that end meanwhile could make it go round */

void launch_narrow_init(struct launch_narrow *narrow, pid_t root, pid_t program)
{
	*narrow = (struct launch_narrow){ .root = root, .program = program };
	(void)pthread_mutex_init(&narrow->lock, NULL);
}

/* Numbers of processes that have ended are somebody else's by and by: better one too many. */
static bool has(const struct launch_narrow_set *set, pid_t process)
{
	if (set->full)
		return true;
	for (size_t i = 0; i < set->count; i++)
		if (set->list[i] == process)
			return true;
	return false;
}

static void forget_ended(struct launch_narrow_set *set)
{
	size_t kept = 0;

	for (size_t i = 0; i < set->count; i++)
		if (launch_task_parent(set->list[i]) > 0)
			set->list[kept++] = set->list[i];
	set->count = kept;
}

static void add(struct launch_narrow_set *set, pid_t process)
{
	if (has(set, process))
		return;
	if (set->count == NARROW_MOST)
		forget_ended(set);
	if (set->count == NARROW_MOST)
		set->full = true;
	else
		set->list[set->count++] = process;
}

void launch_narrow_add(struct launch_narrow *narrow, pid_t process)
{
	(void)pthread_mutex_lock(&narrow->lock);
	narrow->any = true;
	add(&narrow->confined, process);
	(void)pthread_mutex_unlock(&narrow->lock);
}

void launch_narrow_adopts(struct launch_narrow *narrow, pid_t process)
{
	(void)pthread_mutex_lock(&narrow->lock);
	add(&narrow->adopters, process);
	(void)pthread_mutex_unlock(&narrow->lock);
}

static bool is_narrow(const struct launch_narrow *narrow, pid_t at)
{
	for (int depth = 0; depth < DEPTH; depth++) {
		pid_t parent;

		if (has(&narrow->confined, at))
			return true;
		if (at == narrow->program)
			return false;
		parent = launch_task_parent(at);
		if (parent <= 1 || parent == narrow->root || has(&narrow->adopters, parent))
			return true;
		at = parent;
	}
	return true;
}

bool launch_narrow_has(struct launch_narrow *narrow, pid_t thread)
{
	pid_t at = narrow->any ? launch_target_process(thread) : 0;
	bool found;

	if (!at)
		return false;
	(void)pthread_mutex_lock(&narrow->lock);
	found = is_narrow(narrow, at);
	(void)pthread_mutex_unlock(&narrow->lock);
	return found;
}
