/* SPDX-License-Identifier: MIT */
/* Reads /proc. Must bear anything that a process can be called, and processes that end meanwhile. */
#include "tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STAT_MAX 1024
#define KILL_ROUNDS 2000 /* of a millisecond */

static ssize_t read_proc(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -errno : read(fd, text, size - 1);

	if (fd >= 0)
		(void)close(fd);
	if (got >= 0)
		text[got] = '\0';
	return got;
}

static uint64_t ticks_to_ms(unsigned long long ticks)
{
	static long per_second;

	if (per_second <= 0)
		per_second = sysconf(_SC_CLK_TCK);
	return ticks * 1000 / (unsigned long long)(per_second > 0 ? per_second : 100);
}

/* Fields of /proc/PID/stat, by their numbers in proc(5). */
enum {
	STAT_STATE = 3,
	STAT_PARENT = 4,
	STAT_UTIME = 14,
	STAT_STIME,
	STAT_CUTIME,
	STAT_CSTIME,
	STAT_THREADS = 20,
	STAT_START = 22,
	STAT_RSS = 24,
	STAT_FIELDS
};

/* The name may have anything in it, parentheses too; behind the last one all is numbers. */
static bool parse_stat(const char *text, struct launch_task *task)
{
	const char *at = strrchr(text, ')');
	unsigned long long fields[STAT_FIELDS];

	if (!at || at[1] != ' ' || !at[2])
		return false;
	task->state = at[2];
	at += 3;
	for (int i = STAT_PARENT; i < STAT_FIELDS; i++) {
		char *end;

		fields[i] = strtoull(at, &end, 10);
		if (end == at)
			return false;
		at = end;
	}
	task->parent = (pid_t)fields[STAT_PARENT];
	task->cpu_ms = ticks_to_ms(fields[STAT_UTIME] + fields[STAT_STIME]);
	task->reaped_ms = ticks_to_ms(fields[STAT_CUTIME] + fields[STAT_CSTIME]);
	task->threads = fields[STAT_THREADS] ? (unsigned int)fields[STAT_THREADS] : 1;
	task->start = fields[STAT_START];
	task->rss = fields[STAT_RSS] * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static bool is_alive(const struct launch_task *task)
{
	return task->state != 'Z' && task->state != 'X';
}

static bool read_stat(pid_t pid, struct launch_task *task)
{
	char path[64], text[STAT_MAX];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return read_proc(path, text, sizeof(text)) > 0 && parse_stat(text, task);
}

/*
 * A first thread that has ended looks like a zombie without memory while the others run: what it
 * cannot tell, one of them does.
 */
static void ask_thread(struct launch_task *task)
{
	char path[64];
	struct dirent *item;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)task->pid);
	dir = opendir(path);
	while (dir && !is_alive(task) && (item = readdir(dir))) {
		pid_t thread = (pid_t)strtol(item->d_name, NULL, 10);
		struct launch_task found;

		if (thread <= 0 || thread == task->pid || !read_stat(thread, &found) ||
		    !is_alive(&found))
			continue;
		task->state = found.state;
		task->rss = found.rss;
		task->threads--;
		task->speaker = thread;
	}
	if (dir)
		(void)closedir(dir);
}

static bool read_task(pid_t pid, struct launch_task *task)
{
	if (!read_stat(pid, task))
		return false;
	task->pid = task->speaker = pid;
	if (!is_alive(task) && task->threads > 1)
		ask_thread(task);
	return true;
}

void launch_tree_init(struct launch_tree *tree, pid_t root)
{
	*tree = (struct launch_tree){ .root = root };
}

void launch_tree_done(struct launch_tree *tree)
{
	free(tree->list);
	*tree = (struct launch_tree){ .root = tree->root };
}

/* Whoever is not found has gone, unless it is we who cannot look: an error then, or 0. */
static int cannot_look(void)
{
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno : 0;
}

static int add(struct launch_tree *tree, pid_t pid)
{
	struct launch_task task = { 0 };

	errno = 0;
	if (!read_task(pid, &task))
		return cannot_look();
	if (tree->count == tree->cap) {
		size_t cap = tree->cap ? tree->cap * 2 : 16;
		struct launch_task *list = reallocarray(tree->list, cap, sizeof(*list));

		if (!list)
			return -ENOMEM;
		tree->list = list;
		tree->cap = cap;
	}
	tree->list[tree->count++] = task;
	return 0;
}

/* The children that one thread has made; a list longer than the buffer is read in pieces. */
static int add_children(struct launch_tree *tree, pid_t pid, pid_t thread)
{
	char path[64], text[4096];
	size_t kept = 0;
	ssize_t got;
	int fd, error = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cannot_look();
	while (!error && (got = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		char *at = text, *end;

		text[kept + (size_t)got] = '\0';
		while (!error && (end = strchr(at, ' '))) {
			error = add(tree, (pid_t)strtol(at, NULL, 10));
			at = end + 1;
		}
		kept = strlen(at);
		memmove(text, at, kept + 1);
	}
	(void)close(fd);
	return error;
}

static int add_below(struct launch_tree *tree, pid_t pid, unsigned int threads)
{
	char path[64];
	struct dirent *item;
	DIR *dir;
	int error = 0;

	if (threads == 1)
		return add_children(tree, pid, pid);
	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return cannot_look();
	while (!error && (item = readdir(dir)))
		if (item->d_name[0] != '.')
			error = add_children(tree, pid, (pid_t)strtol(item->d_name, NULL, 10));
	(void)closedir(dir);
	return error;
}

int launch_tree_find(struct launch_tree *tree)
{
	struct launch_tree found = { .root = tree->root };
	int error = add_below(&found, tree->root, 2);

	for (size_t i = 0; !error && i < found.count; i++)
		error = add_below(&found, found.list[i].pid,
				  found.list[i].speaker == found.list[i].pid ? found.list[i].threads
									     : 2);
	if (error) {
		launch_tree_done(&found);
		return error;
	}
	for (size_t i = 0; i < found.count; i++) {
		const struct launch_task *known = launch_tree_get(tree, found.list[i].pid);

		found.list[i].mark = known && known->mark && known->start == found.list[i].start;
	}
	free(tree->list);
	*tree = found;
	return 0;
}

void launch_tree_look(struct launch_tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++) {
		struct launch_task task = tree->list[i];
		uint64_t start = task.start;

		if (read_task(task.pid, &task) && task.start == start)
			tree->list[kept++] = task;
	}
	tree->count = kept;
}

unsigned int launch_tree_tasks(const struct launch_tree *tree)
{
	unsigned int tasks = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (is_alive(&tree->list[i]))
			tasks += tree->list[i].threads;
	return tasks;
}

const struct launch_task *launch_tree_get(const struct launch_tree *tree, pid_t pid)
{
	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].pid == pid)
			return &tree->list[i];
	return NULL;
}

pid_t launch_task_parent(pid_t pid)
{
	struct launch_task task;

	return read_task(pid, &task) ? task.parent : 0;
}

bool launch_tree_is_below(pid_t root, pid_t pid)
{
	struct launch_task task = { .parent = pid };

	/*
	 * Bounded, because processes that end meanwhile could make it go round. In a PID namespace of its
	 * own, the supervisor is number 1.
	 */
	for (int depth = 0; depth < 4096 && (task.parent > 1 || task.parent == root); depth++) {
		if (task.parent == root)
			return depth > 0;
		if (!read_task(task.parent, &task))
			return false;
	}
	return false;
}

/* The number behind the word that the line begins with, in bytes; 0 when it is another line. */
static uint64_t kilobytes(const char *line, const char *const words[3])
{
	for (size_t i = 0; i < 3; i++)
		if (strncmp(line, words[i], strlen(words[i])) == 0)
			return strtoull(line + strlen(words[i]), NULL, 10) * 1024;
	return 0;
}

/* In pieces: who is in many groups has a line that is longer than any buffer. */
static uint64_t sum_lines(int fd, const char *const words[3])
{
	char text[4096];
	uint64_t sum = 0;
	size_t kept = 0;
	ssize_t got;

	while ((got = read(fd, text + kept, sizeof(text) - 1 - kept)) > 0) {
		char *at = text, *end;

		text[kept + (size_t)got] = '\0';
		for (; (end = strchr(at, '\n')); at = end + 1)
			sum += kilobytes(at, words);
		kept = strlen(at);
		if (kept == sizeof(text) - 1)
			kept = 1; /* of such a line its beginning is enough: that is none of ours */
		memmove(text, at, kept);
	}
	return sum;
}

uint64_t launch_task_memory(pid_t pid, bool fair)
{
	static const char *const own[] = { "RssAnon:", "RssShmem:", "VmSwap:" };
	static const char *const parts[] = { "Pss_Anon:", "Pss_Shmem:", "SwapPss:" };
	char path[64];
	uint64_t sum = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid,
		       fair ? "smaps_rollup" : "status");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		sum = sum_lines(fd, fair ? parts : own);
		(void)close(fd);
	}
	/* Who made himself unreadable (PR_SET_DUMPABLE) is counted in full. */
	return fair && !sum ? launch_task_memory(pid, false) : sum;
}

bool launch_task_is_shared(const struct launch_task *task)
{
	return syscall(SYS_kcmp, task->speaker, task->parent, KCMP_VM, 0, 0) == 0;
}

uint64_t launch_task_files(pid_t pid, uint64_t most)
{
	char path[64];
	uint64_t count = 0;
	struct dirent *item;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && count < most && (item = readdir(dir)))
		count += item->d_name[0] != '.';
	if (dir)
		(void)closedir(dir);
	return count;
}

/* False when nobody is left: who has no child, and is their subreaper, has no descendant. */
static bool reap_all(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		;
	return pid == 0 || errno != ECHILD;
}

void launch_tree_kill(pid_t root)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct launch_tree tree;

	launch_tree_init(&tree, root);
	for (int round = 0; round < KILL_ROUNDS; round++) {
		if (!reap_all())
			break;
		(void)launch_tree_find(&tree);
		for (size_t i = 0; i < tree.count; i++)
			(void)kill(tree.list[i].pid, SIGKILL);
		if (!reap_all())
			break;
		(void)nanosleep(&pause, NULL);
	}
	launch_tree_done(&tree);
}
