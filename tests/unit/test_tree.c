/* SPDX-License-Identifier: MIT */
/*
 * The processes of a run, as /proc shows them, with real ones: hostile names, threads, zombies,
 * orphans, and more children than one read has. The test is their subreaper, as the supervisor is.
 * Every child waits for a pipe that closes when the test ends, however it does.
 */
#include "watch.h" /* its tree.h: the tests have one too */

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MB (UINT64_C(1) << 20)

static int life[2]; /* closes with the test */
static int ready[2]; /* children tell here */
static struct launch_tree tree;

static void tell(pid_t pid)
{
	if (write(ready[1], &pid, sizeof(pid)) != sizeof(pid))
		_exit(1);
}

static pid_t hear(void)
{
	pid_t pid;

	if (read(ready[0], &pid, sizeof(pid)) != sizeof(pid))
		BAIL_OUT("a child did not tell");
	return pid;
}

/* Waits to be killed; ends by itself when the test is gone. */
__attribute__((noreturn)) static void wait_long(void)
{
	char byte;

	close(life[1]);
	(void)!read(life[0], &byte, 1);
	_exit(0);
}

/* A child that does something, tells its pid and waits. */
static pid_t start(void (*act)(void))
{
	pid_t child = fork();

	if (child < 0)
		BAIL_OUT("cannot fork");
	if (child == 0) {
		if (act)
			act();
		tell(getpid());
		wait_long();
	}
	(void)hear();
	return child;
}

static void end(pid_t child)
{
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
}

static const struct launch_task *find(pid_t pid)
{
	if (launch_tree_find(&tree) < 0)
		BAIL_OUT("out of memory");
	return launch_tree_get(&tree, pid);
}

static void test_alone(void)
{
	ok(!find(getpid()), "who looks is not in the tree");
	cmp_ok(tree.count, "==", 0, "and there is nobody else");
	cmp_ok(launch_tree_tasks(&tree), "==", 0, "without tasks");
}

static const char *name; /* for the next child */

static void take_name(void)
{
	(void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

static void test_names(void)
{
	static const char *const names[] = { "plain",		")",	       ") Z 0 0 0 0",
					     "a) (b) S 1 1",	"x\ny",	       "x\nRssAnon:99999",
					     "\nVmSwap:999999", "))))\n((((",  "",
					     "           ",	"\xff\x1b[2J", "S 1 2 3 4 5 6" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct launch_task *task;
		pid_t child;
		uint64_t memory;

		name = names[i];
		child = start(take_name);
		task = find(child);
		ok(task && task->pid == child && task->parent == getpid() && task->threads == 1 &&
			   task->state != 'Z' && task->start > 0 && task->rss > 0 &&
			   tree.count == 1,
		   "name %zu is not taken for numbers", i);
		memory = launch_task_memory(child, false);
		ok(task && memory > 0 && memory <= task->rss + 64 * MB, "nor for memory");
		ok(launch_tree_is_below(getpid(), child), "nor for another parent");
		end(child);
	}
}

static void *thread_waits(void *unused)
{
	(void)unused;
	tell((pid_t)syscall(SYS_gettid));
	wait_long();
}

static void make_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 3; i++)
		if (pthread_create(&thread, NULL, thread_waits, NULL) != 0)
			_exit(1);
}

static void *thread_forks(void *unused)
{
	(void)unused;
	if (fork() == 0) {
		tell(getpid());
		wait_long();
	}
	wait_long();
}

static void fork_in_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, thread_forks, NULL) != 0)
		_exit(1);
}

/* In the order in which they tell: three threads and the process, or the other way round. */
static void test_threads(void)
{
	const struct launch_task *task;
	pid_t child = fork(), told[4], thread = 0;

	if (child == 0) {
		make_threads();
		tell(getpid());
		wait_long();
	}
	for (size_t i = 0; i < COUNT(told); i++) {
		told[i] = hear();
		if (told[i] != child)
			thread = told[i];
	}
	task = find(child);
	ok(task && task->threads == 4, "threads are counted");
	cmp_ok(tree.count, "==", 1, "as one process");
	cmp_ok(launch_tree_tasks(&tree), "==", 4, "and as tasks");
	ok(launch_tree_is_below(getpid(), thread), "a thread is below as its process is");
	ok(!launch_tree_is_below(child, thread), "and not below that one");
	end(child);
}

static void test_thread_forks(void)
{
	const struct launch_task *task;
	pid_t child = fork(), first, second, other;

	if (child == 0) {
		fork_in_thread();
		tell(getpid());
		wait_long();
	}
	first = hear();
	second = hear();
	other = first == child ? second : first;
	task = find(other);
	ok(task && task->parent == child, "what a thread forks is the child of its process");
	cmp_ok(tree.count, "==", 2, "and found with it");
	cmp_ok(launch_tree_tasks(&tree), "==", 3, "as three tasks");
	launch_tree_kill(getpid());
	ok(!find(child) && !launch_tree_get(&tree, other), "both can be ended");
}

static void test_zombie(void)
{
	const struct launch_task *task;
	pid_t living = start(NULL), dead = fork();

	if (dead == 0)
		_exit(7);
	if (waitid(P_PID, (id_t)dead, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0)
		BAIL_OUT("cannot wait");
	task = find(dead);
	ok(task && task->state == 'Z', "a zombie is found");
	ok(tree.count == 2 && launch_tree_get(&tree, living), "beside the living");
	cmp_ok(launch_tree_tasks(&tree), "==", 1, "and is no task that is alive");
	cmp_ok(launch_task_memory(dead, false), "==", 0, "it has no memory");
	cmp_ok(launch_task_memory(dead, true), "==", 0, "nor a part of any");
	cmp_ok(launch_task_files(dead, 100), "==", 0, "nor files");
	ok(launch_tree_is_below(getpid(), dead), "but it is below still");
	launch_tree_look(&tree);
	ok(tree.count == 2 && launch_tree_get(&tree, dead), "another look keeps it");
	(void)waitpid(dead, NULL, 0);
	ok(launch_tree_get(&tree, dead), "once reaped, it is known until then");
	launch_tree_look(&tree);
	ok(tree.count == 1 && !launch_tree_get(&tree, dead) && launch_tree_get(&tree, living),
	   "and then forgotten");
	ok(!launch_tree_is_below(getpid(), dead), "and below nobody");
	end(living);
}

static void test_marks(void)
{
	pid_t first = start(NULL), second = start(NULL), third;

	(void)find(first);
	for (size_t i = 0; i < tree.count; i++)
		tree.list[i].mark = tree.list[i].pid == first;
	third = start(NULL);
	launch_tree_look(&tree);
	ok(tree.count == 2 && launch_tree_get(&tree, first)->mark &&
		   !launch_tree_get(&tree, second)->mark,
	   "a look keeps marks, and finds nobody new");
	ok(find(first)->mark && !launch_tree_get(&tree, second)->mark, "to find does too");
	ok(launch_tree_get(&tree, third) && !launch_tree_get(&tree, third)->mark,
	   "and a new one has none");
	for (size_t i = 0; i < tree.count; i++)
		tree.list[i].start -= tree.list[i].pid == first;
	ok(find(first) && !launch_tree_get(&tree, first)->mark,
	   "nor has another process with the number of a marked one");
	for (size_t i = 0; i < tree.count; i++)
		tree.list[i].start -= tree.list[i].pid == second;
	launch_tree_look(&tree);
	ok(tree.count == 2 && !launch_tree_get(&tree, second), "which a look takes for gone");
	end(first);
	end(second);
	end(third);
}

static void fork_deep(void)
{
	for (int depth = 0; depth < 5; depth++) {
		if (fork() != 0)
			wait_long();
	}
}

static void test_depth(void)
{
	const struct launch_task *task;
	pid_t child = fork(), deepest, sibling;

	if (child == 0) {
		fork_deep();
		tell(getpid());
		wait_long();
	}
	deepest = hear();
	sibling = start(NULL);
	task = find(deepest);
	ok(task && task->parent != getpid() && task->parent != child, "the deepest is found");
	cmp_ok(tree.count, "==", 7, "with all between, and beside");
	ok(launch_tree_is_below(getpid(), deepest), "it is below the root");
	ok(launch_tree_is_below(child, deepest), "and below each between");
	ok(!launch_tree_is_below(deepest, child), "never the other way");
	ok(!launch_tree_is_below(sibling, deepest) && !launch_tree_is_below(child, sibling),
	   "nor beside");
	ok(!launch_tree_is_below(getpid(), getpid()), "the root is not below itself");
	ok(!launch_tree_is_below(getpid(), getppid()) && !launch_tree_is_below(getpid(), 1),
	   "nor are its own parents");
	ok(!launch_tree_is_below(getpid(), 0) && !launch_tree_is_below(getpid(), -1) &&
		   !launch_tree_is_below(getpid(), 0x7fffffff),
	   "nor is who does not exist");
	launch_tree_kill(getpid());
	cmp_ok((find(1), tree.count), "==", 0, "and all of them can be ended");
}

static void test_orphan(void)
{
	const struct launch_task *task;
	pid_t middle = fork(), orphan;

	if (middle == 0) {
		if (fork() == 0) {
			(void)setsid();
			tell(getpid());
			wait_long();
		}
		_exit(0);
	}
	orphan = hear();
	if (waitpid(middle, NULL, 0) != middle)
		BAIL_OUT("cannot wait");
	task = find(orphan);
	ok(task && task->parent == getpid(), "an orphan comes to its subreaper");
	cmp_ok(tree.count, "==", 1, "who finds it");
	ok(launch_tree_is_below(getpid(), orphan), "below itself");
	end(orphan);
}

/* As many as make the list of children longer than a page, whatever their numbers are. */
static void test_many(void)
{
	enum {
		MOST = 2000,
		PAGE = 4096
	};
	static pid_t children[MOST];
	size_t count = 0, missing = 0, len = 0;

	while (len < PAGE + 256 && count < MOST) {
		pid_t child = fork();

		if (child == 0)
			wait_long();
		if (child < 0)
			break;
		children[count++] = child;
		len += (size_t)snprintf(NULL, 0, "%d ", (int)child);
	}
	skip(len < PAGE + 256, 3, "no more than %zu processes here", count);
	(void)find(1);
	for (size_t i = 0; i < count; i++)
		missing += !launch_tree_get(&tree, children[i]);
	cmp_ok(missing, "==", 0, "of %zu children none is overlooked", count);
	cmp_ok(tree.count, "==", count, "and none is there twice");
	cmp_ok(launch_tree_tasks(&tree), "==", count, "nor as a task");
	end_skip;
	launch_tree_kill(getpid());
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "they are ended and reaped at once");
}

static void be_stubborn(void)
{
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_IGN);
	(void)setsid();
}

static void leave_orphans(void)
{
	be_stubborn();
	for (int i = 0; i < 3; i++) {
		if (fork() == 0) {
			if (fork() == 0)
				wait_long();
			_exit(0);
		}
	}
}

static void test_kill(void)
{
	pid_t stubborn = start(be_stubborn), stopped = start(NULL), stranger = getppid();

	(void)start(leave_orphans);
	(void)start(fork_deep);
	if (kill(stopped, SIGSTOP) < 0 || waitpid(stopped, NULL, WUNTRACED) != stopped)
		BAIL_OUT("cannot stop a child");
	ok(find(stopped) && launch_tree_get(&tree, stopped)->state == 'T', "who is stopped,");
	ok(launch_tree_get(&tree, stubborn), "who ignores signals, in a session of its own,");
	cmp_ok(tree.count, ">", 6, "and what they left behind");
	launch_tree_kill(getpid());
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "all are ended and reaped");
	cmp_ok((find(1), tree.count), "==", 0, "so that nobody is found");
	ok(kill(stranger, 0) == 0 || errno == EPERM, "and nobody else is");
	launch_tree_kill(getpid());
	pass("where nobody is, there is nothing to do");
}

/* A child that does one thing after the other, when it is told to. */
static int orders[2];

static void next(void)
{
	char byte;

	tell(getpid());
	if (read(orders[0], &byte, 1) != 1)
		_exit(0);
}

static void order(void)
{
	if (write(orders[1], "x", 1) != 1)
		BAIL_OUT("cannot tell a child");
	(void)hear();
}

static void *touched(size_t size, int flags)
{
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		_exit(1);
	memset(at, 1, size);
	return at;
}

/* Whether memory has grown by that much, give or take what a process needs beside. */
static bool has_grown(uint64_t before, uint64_t now, uint64_t by)
{
	if (now + 4 * MB >= before + by && now <= before + by + 4 * MB)
		return true;
	diag("from %ju by %ju bytes, not %ju", (uintmax_t)before, (uintmax_t)(now - before),
	     (uintmax_t)by);
	return false;
}

static void test_memory(void)
{
	uint64_t before, fair, second_fair;
	pid_t child = fork(), second;

	if (child == 0) {
		char *shared;

		close(orders[1]);
		next();
		(void)touched(48 * MB, MAP_PRIVATE);
		next();
		shared = touched(32 * MB, MAP_SHARED);
		next();
		if (fork() == 0)
			memset(shared, 2, 32 * MB);
		else
			wait_long();
		tell(getpid());
		wait_long();
	}
	(void)hear();
	before = launch_task_memory(child, false);
	fair = launch_task_memory(child, true);
	order();
	ok(has_grown(before, launch_task_memory(child, false), 48 * MB), "private memory counts");
	skip(!fair, 1, "no parts are to be had here");
	ok(has_grown(fair, launch_task_memory(child, true), 48 * MB), "and as a part of its own");
	end_skip;
	order();
	ok(has_grown(before, launch_task_memory(child, false), 80 * MB), "shared memory does too");
	fair = launch_task_memory(child, true);
	if (write(orders[1], "x", 1) != 1)
		BAIL_OUT("cannot tell a child");
	second = hear();
	ok(launch_task_memory(second, false) >= 32 * MB &&
		   has_grown(before, launch_task_memory(child, false), 80 * MB),
	   "for each of those that share it");
	second_fair = launch_task_memory(second, true);
	skip(!fair, 1, "no parts are to be had here");
	ok(has_grown(0, launch_task_memory(child, true) + second_fair, fair),
	   "and by parts together no more than there is");
	end_skip;
	launch_tree_kill(getpid());
	cmp_ok(launch_task_memory(child, false), "==", 0, "who is gone has none");
}

static void join_groups(void)
{
	static gid_t groups[3000];

	for (size_t i = 0; i < COUNT(groups); i++)
		groups[i] = (gid_t)(4000000000u + i);
	if (setgroups(COUNT(groups), groups) < 0)
		_exit(1);
	(void)touched(16 * MB, MAP_PRIVATE);
}

static void test_groups(void)
{
	pid_t child;

	skip(geteuid() != 0, 1, "only root can join groups");
	child = start(join_groups);
	cmp_ok(launch_task_memory(child, false), ">=", 16 * MB,
	       "the memory of who is in thousands of groups counts like any");
	end(child);
	end_skip;
}

static void test_files(void)
{
	uint64_t before;
	pid_t child = fork();

	if (child == 0) {
		close(orders[1]);
		next();
		for (int i = 0; i < 40; i++)
			if (dup(life[0]) < 0)
				_exit(1);
		next();
		wait_long();
	}
	(void)hear();
	before = launch_task_files(child, 1000);
	order();
	cmp_ok(launch_task_files(child, 1000), "==", before + 40, "open files are counted");
	cmp_ok(launch_task_files(child, 30), "==", 30, "up to a number");
	cmp_ok(launch_task_files(child, 0), "==", 0, "which may be none");
	end(child);
	cmp_ok(launch_task_files(child, 1000), "==", 0, "who is gone has none");
}

int main(void)
{
	plan(NO_PLAN);
	if (pipe(life) < 0 || pipe(ready) < 0 || pipe(orders) < 0 ||
	    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		BAIL_OUT("cannot prepare");
	alarm(600); /* should a child not tell */
	launch_tree_init(&tree, getpid());
	test_alone();
	test_names();
	test_threads();
	test_thread_forks();
	test_zombie();
	test_marks();
	test_depth();
	test_orphan();
	test_many();
	test_kill();
	test_memory();
	test_groups();
	test_files();
	launch_tree_kill(getpid());
	launch_tree_done(&tree);
	ok(!tree.list && !tree.count && tree.root == getpid(), "a tree can be emptied");
	done_testing();
}
