/* SPDX-License-Identifier: MIT */
/*
 * The processes of a run, as /proc shows them: every descendant of the supervisor, which is their
 * subreaper, so that nobody gets away by double forks. The view is a moment old when it is read:
 * who needs certainty looks again.
 */
#ifndef SBX_LAUNCH_TREE_H
#define SBX_LAUNCH_TREE_H

#include "launch.h"

struct launch_task {
	pid_t pid;
	pid_t parent;
	pid_t speaker; /* a thread of it that lives: the first one may have ended before the others */
	char state; /* as in /proc/PID/stat */
	bool mark; /* the caller's */
	unsigned int threads;
	uint64_t start; /* with the pid, who it is */
	uint64_t cpu_ms; /* of its own */
	uint64_t reaped_ms; /* of children that it has waited for */
	uint64_t rss; /* bytes, with mapped files */
};

struct launch_tree {
	pid_t root; /* not in the list itself */
	struct launch_task *list;
	size_t count;
	size_t cap;
};

void launch_tree_init(struct launch_tree *tree, pid_t root);
void launch_tree_done(struct launch_tree *tree);

/*
 * Finds all descendants; marks of known ones are kept. Without memory or descriptors to look with, an
 * error, and the tree stays as it was.
 */
int launch_tree_find(struct launch_tree *tree);
/* Looks again at those that are known, and forgets who has gone. */
void launch_tree_look(struct launch_tree *tree);
/* Processes and threads that are alive. */
unsigned int launch_tree_tasks(const struct launch_tree *tree);
const struct launch_task *launch_tree_get(const struct launch_tree *tree, pid_t pid);

/* The parent of a process (or thread); 0: there is no such process. */
pid_t launch_task_parent(pid_t pid);

/* Whether the process (or thread) descends from 'root', asked of the kernel now. */
bool launch_tree_is_below(pid_t root, pid_t pid);

/*
 * Memory that is its own: anonymous and shared memory, and what is swapped out, without files. What
 * several processes share is counted for each of them, or with 'fair' in parts, which takes longer.
 */
uint64_t launch_task_memory(pid_t pid, bool fair);
/* Whether its memory is that of its parent: between vfork() and exec(). */
bool launch_task_is_shared(const struct launch_task *task);
/* How many descriptors it has open, up to 'most'. */
uint64_t launch_task_files(pid_t pid, uint64_t most);

/*
 * Ends every descendant of 'root', which is the calling process: SIGKILL until nobody is left, and
 * reaps them. A process that the kernel does not let go of is given up after a while.
 */
void launch_tree_kill(pid_t root);

#endif
