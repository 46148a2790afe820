/* SPDX-License-Identifier: MIT */
/*
 * narrow HOW FILE [COMMAND...]: somebody confines itself by Landlock, with no rule at all; then FILE is
 * made, written, read and removed by it, or by whoever HOW says, and what came of it is said. None
 * of those may.
 *	self, child, thread	the one who did, its child, its thread's child
 *	sibling			its child that has another for a parent (CLONE_PARENT)
 *	uncle			such a one, whose bearer had confined nobody yet, and its child
 *	orphan			its child's child that its subreaper has adopted
 *	deep			the same, far below
 * And two who have nothing to do with it:
 *	parent, beside		who started it; another child of that one
 *	adopter			a subreaper; its children are not looked at, and it may itself
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *file;

static void say(const char *call, long result)
{
	printf("%s %s\n", call, result < 0 ? strerrorname_np(errno) : "ok");
}

static void use(void)
{
	int fd = open(file, O_CREAT | O_EXCL | O_RDWR, 0644);

	say("create", fd);
	fd = open("there", O_WRONLY);
	say("write", fd);
	fd = open("there", O_RDONLY);
	say("read", fd);
	say("rename", rename("there", "elsewhere"));
	(void)rename("elsewhere", "there");
	say("unlink", unlink("spare"));
	(void)fflush(stdout);
}

static void confine(void)
{
	struct {
		unsigned long long files, network, scopes;
	} handled = { .files = 0x1fff };
	long rules = syscall(444, &handled, 8, 0);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || rules < 0 || syscall(446, rules, 0) < 0) {
		puts("no Landlock");
		exit(99);
	}
}

static void wait_all(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

/* 0 in the child. */
static pid_t bear(unsigned long flags)
{
	pid_t pid = (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);

	if (pid < 0) {
		perror("clone");
		exit(98);
	}
	return pid;
}

static void in_child(unsigned long flags, void (*body)(void))
{
	if (bear(flags) == 0) {
		body();
		exit(0);
	}
	if (!(flags & CLONE_PARENT))
		wait_all();
}

static void child(void)
{
	confine();
	in_child(0, use);
}

static void *thread_body(void *arg)
{
	confine();
	in_child(0, use);
	return arg;
}

static void thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, thread_body, NULL) == 0)
		(void)pthread_join(id, NULL);
}

static void sibling(void)
{
	confine();
	in_child(CLONE_PARENT, use);
}

static void uncle_body(void)
{
	confine();
	in_child(CLONE_PARENT, use);
}

static void uncle(void)
{
	in_child(CLONE_PARENT, uncle_body);
}

static void leave(void (*body)(void))
{
	pid_t parent = getpid();

	if (bear(0) == 0) {
		while (getppid() == parent)
			(void)usleep(1000);
		body();
		exit(0);
	}
}

static void leave_orphan(void)
{
	leave(use);
}

static void orphan(void)
{
	confine();
	in_child(0, leave_orphan);
}

static void use_below(void)
{
	in_child(0, use);
}

static void leave_deep(void)
{
	leave(use_below);
}

static void deep(void)
{
	confine();
	in_child(0, leave_deep);
}

static void self(void)
{
	confine();
	use();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *how;
		void (*body)(void);
		int adopts, uses;
	} ways[] = {
		{ "self", self, 0, 0 },	     { "child", child, 0, 0 },
		{ "thread", thread, 0, 0 },  { "sibling", sibling, 0, 0 },
		{ "uncle", uncle, 0, 0 },    { "orphan", orphan, 1, 0 },
		{ "deep", deep, 1, 0 },	     { "parent", confine, 0, 1 },
		{ "beside", confine, 0, 2 }, { "adopter", confine, 1, 1 },
	};

	if (argc < 3)
		return 97;
	file = argv[2];
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(ways[i].how, argv[1]) != 0)
			continue;
		if (ways[i].adopts)
			(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		in_child(0, ways[i].body);
		if (ways[i].uses == 1)
			use();
		else if (ways[i].uses)
			in_child(0, use);
	}
	return 0;
}
