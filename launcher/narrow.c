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
static bool is_listed(const struct launch_narrow *narrow, pid_t process)
{
	for (size_t i = 0; i < narrow->count; i++)
		if (narrow->list[i] == process)
			return true;
	return false;
}

static void forget_ended(struct launch_narrow *narrow)
{
	size_t kept = 0;

	for (size_t i = 0; i < narrow->count; i++)
		if (launch_task_parent(narrow->list[i]) > 0)
			narrow->list[kept++] = narrow->list[i];
	narrow->count = kept;
}

void launch_narrow_add(struct launch_narrow *narrow, pid_t process)
{
	(void)pthread_mutex_lock(&narrow->lock);
	narrow->any = true;
	if (narrow->count == NARROW_MOST)
		forget_ended(narrow);
	if (narrow->count == NARROW_MOST)
		narrow->full = true;
	else if (!is_listed(narrow, process))
		narrow->list[narrow->count++] = process;
	(void)pthread_mutex_unlock(&narrow->lock);
}

bool launch_narrow_has(struct launch_narrow *narrow, pid_t thread)
{
	pid_t at = narrow->any ? launch_target_process(thread) : 0;
	bool found;

	if (!at)
		return false;
	(void)pthread_mutex_lock(&narrow->lock);
	found = narrow->full;
	for (int depth = 0; !found && depth < DEPTH; depth++) {
		pid_t parent;

		found = is_listed(narrow, at);
		if (found || at == narrow->program)
			break;
		parent = launch_task_parent(at);
		found = parent <= 1 || parent == narrow->root;
		at = parent;
	}
	(void)pthread_mutex_unlock(&narrow->lock);
	return found;
}
