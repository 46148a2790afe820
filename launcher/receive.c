/* SPDX-License-Identifier: MIT */
/*
 * Receives the kernel's questions.
 *
 * Receivers all wait for questions, and the first one awake gets it. An answer brings the caller to the CPU
 * of whoever answers, where the question was asked, because it woke us there. But who finds the next
 * question waiting is on a CPU that is not that caller's: it lets the kernel choose where the caller
 * goes on, or two callers would share one CPU, beside an idle one.
 */
#include "listen.h"

#include "known.h"
#include "target.h"

#include "contract.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Questions in a row; then signals, limits and the launcher have their turn. */
#define SERVE_MOST 64
#define RECEIVERS_MOST 8
#define RECEIVER_STACK (256u << 10)
#define WOKEN_NS 2500 /* it takes longer to be woken, and less to take what is there */

/* Newer than the system's header. */
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

/* Whether there is a question; -ENOENT: there will be none. */
static int look_for_question(const struct launch_listen *listen)
{
	struct pollfd ready = { .fd = listen->with.fd, .events = POLLIN };

	if (poll(&ready, 1, 0) <= 0)
		return 0;
	return ready.revents & POLLIN ? 1 : -ENOENT;
}

/* 1 and a question; 0: none after all; or a negative errno. */
static int take(const struct launch_listen *listen, struct seccomp_notif *asked)
{
	memset(asked, 0, sizeof(*asked));
	if (ioctl(listen->with.fd, SECCOMP_IOCTL_NOTIF_RECV, asked) == 0)
		return 1;
	return errno == ENOENT || errno == EINTR ? 0 : -errno;
}

/* Newer than the system's headers. */
#define KEEP_POLICY 0x08 /* SCHED_FLAG_KEEP_POLICY */
struct sched_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime;
	uint64_t deadline;
	uint64_t period;
};

/*
 * A call that is not received yet is interrupted by signals. Who runs in short slices is let run soon
 * (6.12+); that is all that can be done without privileges. How nice the run is meant to be stays.
 */
static void hurry(void)
{
	struct sched_attributes attributes = { .size = sizeof(attributes),
					       .flags = KEEP_POLICY,
					       .nice = getpriority(PRIO_PROCESS, 0),
					       .runtime = 100000 };

	(void)syscall(SYS_sched_setattr, 0, &attributes, 0);
}

/* One who receives, and the question that it has. */
struct receiver {
	struct launch_listen *listen;
	struct launch_judge judge;
	struct seccomp_notif asked;
	bool apart; /* its umask and working folder are its own */
	bool astray; /* from the caller's CPU */
	bool plain; /* 'path' is opened to read, and nobody has asked for words */
	char path[KNOWN_LEN];
};

/*
 * What is made for a caller gets its umask, and a socket is bound in the folder that we are in: both
 * are the thread's own. Where they cannot be (containers refuse unshare), one is served at a time.
 */
static void serve(struct receiver *receiver)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;

	if (!receiver->apart)
		(void)pthread_mutex_lock(&one);
	launch_listen_answer(receiver->listen, &receiver->judge, &receiver->asked);
	if (!receiver->apart)
		(void)pthread_mutex_unlock(&one);
}

/* Whether callers are to go on where they are answered. False: this kernel does without. */
static bool gather(const struct launch_listen *listen, bool on)
{
	uint64_t flags = on ? SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP : 0;
	int done;

	do
		done = ioctl(listen->with.fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS, flags);
	while (done < 0 && errno == EINTR);
	return done == 0;
}

static uint64_t nanoseconds(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* take(), and whether it was waited for. */
static int receive_one(struct receiver *receiver)
{
	uint64_t before = nanoseconds();
	int taken = take(receiver->listen, &receiver->asked);

	receiver->astray =
		taken > 0 && receiver->listen->gathers && nanoseconds() - before < WOKEN_NS;
	return taken;
}

/* A file that is there is opened to read, by whoever has no words to lose. Reads its path. */
static bool is_plain(struct receiver *receiver)
{
	const struct launch_listen *listen = receiver->listen;
	const struct seccomp_data *data = &receiver->asked.data;
	enum launch_call_index index = launch_listen_row(listen, &receiver->asked);
	const struct sbx_path_call *ask;

	if (!listen->known || index == LAUNCH_CALL_COUNT || data->args[5] == SBX_ASK ||
	    listen->with.wishes->denied[index] || !launch_listen_only_reads(index, data))
		return false;
	ask = launch_call_path(index);
	if (launch_target_text((pid_t)receiver->asked.pid, data->args[ask->path], receiver->path,
			       sizeof(receiver->path)) <= 0)
		return false;
	receiver->judge.taken = receiver->path;
	receiver->judge.taken_at = data->args[ask->path];
	return true;
}

/* Where nothing is to be found out, the caller can go on at once. */
static bool is_known(struct receiver *receiver)
{
	receiver->judge.taken = NULL;
	receiver->plain = is_plain(receiver);
	if (!receiver->plain)
		return false;
	switch (launch_known_find(receiver->listen->known, receiver->path, launch_now())) {
	case KNOWN_OPEN:
		return true;
	case KNOWN_ASK:
		receiver->plain = false;
		break;
	case KNOWN_NOT:
		break;
	}
	return false;
}

static void serve_question(struct receiver *receiver)
{
	struct launch_listen *listen = receiver->listen;
	bool known = is_known(receiver);

	if (receiver->astray)
		(void)gather(listen, false);
	if (known)
		launch_listen_go_on(listen, receiver->asked.id);
	else
		serve(receiver);
	if (receiver->astray)
		(void)gather(listen, true);
	if (!known && receiver->plain)
		launch_known_learn(listen->known, receiver->path, launch_now());
}

static void *receive(void *arg)
{
	struct receiver receiver = { .listen = arg };
	struct launch_listen *listen = arg;
	int taken;

	receiver.judge = launch_listen_judge(listen);
	receiver.apart = unshare(CLONE_FS) == 0;
	hurry();
	while ((taken = receive_one(&receiver)) >= 0) {
		if (taken > 0)
			serve_question(&receiver);
		else if (look_for_question(listen) < 0)
			break;
	}
	return NULL;
}

static int count_receivers(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;

	return count > RECEIVERS_MOST ? RECEIVERS_MOST : count;
}

int launch_listen_start(struct launch_listen *listen)
{
	int started = 0, wanted = count_receivers();
	pthread_attr_t attr;
	pthread_t thread;

	if (pthread_attr_init(&attr) != 0)
		return -ENOMEM;
	(void)pthread_attr_setstacksize(&attr, RECEIVER_STACK);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	listen->gathers = gather(listen, true);
	listen->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	while (listen->wake >= 0 && started < wanted &&
	       pthread_create(&thread, &attr, receive, listen) == 0)
		started++;
	(void)pthread_attr_destroy(&attr);
	if (!started && listen->wake >= 0) {
		(void)close(listen->wake);
		listen->wake = -1;
	}
	return started ? 0 : -EAGAIN;
}

int launch_listen_serve(struct launch_listen *listen)
{
	struct launch_judge judge = launch_listen_judge(listen);
	struct seccomp_notif asked;
	int there = 1;

	(void)pthread_mutex_unlock(listen->with.lock);
	for (int i = 0; i < SERVE_MOST && (there = look_for_question(listen)) > 0; i++) {
		int taken = take(listen, &asked);

		if (taken > 0)
			launch_listen_answer(listen, &judge, &asked);
		else if (taken < 0)
			there = taken;
	}
	(void)pthread_mutex_lock(listen->with.lock);
	return there < 0 ? there : 0;
}
