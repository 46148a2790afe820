/* SPDX-License-Identifier: MIT */
/*
 * The thread never ends: the kernel kills the program when the thread goes that bore it, which is to
 * mean that the supervisor has gone.
 */
#include "inside.h"

#include "user.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK (1u << 20) /* the program's last steps before it is executed are made here */

static void change(struct launch_inside *inside, int state)
{
	inside->state = state;
	(void)pthread_cond_broadcast(&inside->changed);
}

static void wait_while(struct launch_inside *inside, int state)
{
	while ((int)inside->state == state)
		(void)pthread_cond_wait(&inside->changed, &inside->lock);
}

static void *live(void *arg)
{
	struct launch_inside *inside = arg;

	(void)pthread_mutex_lock(&inside->lock);
	inside->failed = launch_netspace_enter(&inside->space, &inside->error);
	/* All threads of a process become another user at one time. */
	if (!inside->failed)
		inside->failed =
			launch_user_drop(1u << CAP_SETUID | 1u << CAP_SETGID, &inside->error);
	change(inside, INSIDE_WAITS);
	wait_while(inside, INSIDE_WAITS);
	if (launch_user_drop(0, &inside->error) < 0)
		abort();
	/* The child has a lock of its own that nobody waits for. */
	inside->born = inside->bear(inside->arg);
	change(inside, INSIDE_DONE);
	(void)pthread_mutex_unlock(&inside->lock);
	for (;;)
		(void)pause();
	return NULL;
}

static int start(struct launch_inside *inside)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int failed;

	(void)sigfillset(&all);
	if (pthread_attr_init(&attr) != 0)
		return -ENOMEM;
	(void)pthread_attr_setstacksize(&attr, STACK);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	/* Signals are the loop's to take. */
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	failed = -pthread_create(&thread, &attr, live, inside);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attr);
	return failed;
}

int launch_inside_begin(struct launch_inside *inside, struct launch_error *error)
{
	int failed;

	*inside = (struct launch_inside){ .lock = PTHREAD_MUTEX_INITIALIZER,
					  .changed = PTHREAD_COND_INITIALIZER };
	failed = start(inside);
	if (failed)
		return launch_fail(error, -failed, "cannot start a thread: %s", strerror(-failed));
	(void)pthread_mutex_lock(&inside->lock);
	wait_while(inside, INSIDE_ENTERS);
	failed = inside->failed;
	if (failed)
		*error = inside->error;
	(void)pthread_mutex_unlock(&inside->lock);
	return failed;
}

pid_t launch_inside_bear(struct launch_inside *inside, pid_t (*bear)(void *arg), void *arg)
{
	(void)pthread_mutex_lock(&inside->lock);
	inside->bear = bear;
	inside->arg = arg;
	change(inside, INSIDE_BEARS);
	wait_while(inside, INSIDE_BEARS);
	(void)pthread_mutex_unlock(&inside->lock);
	return inside->born;
}
