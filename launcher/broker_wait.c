/* SPDX-License-Identifier: MIT */
/*
 * A thread for each call that waits, and one more, while there are any, that looks after them: it
 * interrupts those whose callers have died, or would have been interrupted themselves.
 *
 * Most calls wait for nobody: a connection on this host is made at once, and a thread costs more than
 * that. So a few threads that are done stay for the next call, and are sent away when none comes. They
 * keep nothing of the call that they made.
 *
 * A signal may come before the thread has begun to wait, and is lost then; so it is sent again and
 * again until the call is made. Threads make no files here: they need no umask of their own.
 */
#include "broker_wait.h"

#include "broker_call.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 1024 /* threads */
#define FILES_EACH 3 /* descriptors: what is pinned, how it is called, what it is opened as */
#define STACK (64u << 10)
#define LOOK_MS 200
#define IDLE_MOST 8 /* threads */
#define IDLE_LOOKS 5 /* which is a second */

/* What one thread does. */
struct seat {
	struct launch_waits *waits;
	struct launch_waiting what;
	pid_t thread; /* 0: it is not to be interrupted */
	_Atomic int broken; /* what the call gets that a signal has ended; 0: it goes on */
	bool manned; /* by a thread */
	bool taken; /* by a call */
	bool dismissed; /* the thread, which is about to go */
	unsigned int looks; /* since there was a call */
	pthread_cond_t called; /* to take one, or to go */
	struct seat *next; /* of those that are idle */
};

struct launch_waits {
	pthread_mutex_t lock;
	pthread_attr_t attr;
	int listener;
	bool ready; /* for signals */
	bool watched; /* by a thread */
	struct seat *idle; /* manned, and not taken; the last to be so is the first */
	size_t idle_count;
	size_t most; /* seats that are used: who looks after the run needs descriptors, too */
	struct seat seats[MOST];
};

/* One that the supervisor does not read from its descriptor of signals. */
static int wake_signal(void)
{
	return SIGRTMIN + 1;
}

/* That a call is interrupted is all there is to it. */
static void wake(int number)
{
	(void)number;
}

static size_t count_seats(void)
{
	struct rlimit files;
	rlim_t most = getrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_cur / 2 / FILES_EACH : 0;

	return most < MOST ? (size_t)most : MOST;
}

struct launch_waits *launch_waits_new(int listener)
{
	struct launch_waits *waits = calloc(1, sizeof(*waits));

	if (!waits)
		return NULL;
	waits->listener = listener;
	waits->most = count_seats();
	if (pthread_attr_init(&waits->attr) != 0) {
		free(waits);
		return NULL;
	}
	(void)pthread_attr_setstacksize(&waits->attr, STACK);
	(void)pthread_attr_setdetachstate(&waits->attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_mutex_init(&waits->lock, NULL);
	return waits;
}

static bool is_wanted(const struct seat *seat)
{
	uint64_t id = seat->what.id;

	return ioctl(seat->waits->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* --- Signals of the caller --- */

/* Newer than any header: what the kernel turns into EINTR, or into a new beginning of the call. */
#define RESTART 512 /* ERESTARTSYS */

#define BIT(number) (UINT64_C(1) << ((number)-1))
#define STOPS (BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT))
#define NEVER (BIT(SIGKILL) | BIT(SIGSTOP)) /* blocked */

static uint64_t number_behind(const char *text, const char *word, int base)
{
	const char *line = strstr(text, word);

	return line ? strtoull(line + strlen(word), NULL, base) : 0;
}

/*
 * Whoever waits for us hears of no signal but those that kill; and where the shim asks, of none at
 * all, because it blocks them. What would end the call has to end the waiting: the errno, or 0. Where
 * it is certain that the thread itself takes the signal next, the kernel is left to decide whether the
 * call begins anew.
 */
static int interrupting(pid_t thread)
{
	char path[32], text[4096];
	uint64_t own, shared, blocked, caught, counts;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)thread);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	own = number_behind(text, "\nSigPnd:", 16);
	shared = number_behind(text, "\nShdPnd:", 16);
	blocked = number_behind(text, "\nSigBlk:", 16);
	caught = number_behind(text, "\nSigCgt:", 16);
	counts = caught | ~(number_behind(text, "\nSigIgn:", 16) | STOPS | HARMLESS);
	if (!((own | shared) & counts))
		return 0;
	if ((blocked | NEVER) == UINT64_MAX)
		return EINTR;
	if (number_behind(text, "\nThreads:", 10) == 1)
		own |= shared;
	if (own & counts & ~blocked)
		return RESTART;
	return shared & counts & ~blocked ? EINTR : 0;
}

/* --- The call --- */

static int act(const struct launch_waiting *what)
{
	if (what->kind != WAIT_CONNECT)
		return launch_target_reopen(what->pinned, launch_broker_open_flags(what->flags), 0);
	return connect(what->pinned, &what->address.any, what->address.len) < 0 ? -errno : 0;
}

/*
 * What has waited once may do so again: a lease that was given back can be taken once more, and a
 * connection goes on where it was.
 */
static int act_again(const struct seat *seat)
{
	int result;

	do
		result = act(&seat->what);
	while (result == -EINTR && !seat->broken && is_wanted(seat));
	return result == -EINTR && seat->broken ? -seat->broken : result;
}

static void become(struct seat *seat, pid_t thread)
{
	(void)pthread_mutex_lock(&seat->waits->lock);
	seat->thread = thread;
	(void)pthread_mutex_unlock(&seat->waits->lock);
}

/* Nothing else is interrupted: not the answer, and not the next call. */
static int act_waiting(struct seat *seat, pid_t thread)
{
	sigset_t set;
	int result;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, wake_signal());
	become(seat, thread);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	result = act_again(seat);
	(void)pthread_sigmask(SIG_BLOCK, &set, NULL);
	become(seat, 0);
	return result;
}

/* What the call gets; -EALREADY: it has got it. */
static int use(const struct seat *seat, int fd)
{
	const struct launch_waiting *what = &seat->what;
	int given;

	if (fd >= 0 && what->kind == WAIT_OPEN) {
		given = launch_broker_hand_over(seat->waits->listener, what->id, fd, what->pinned,
						what->flags);
		if (given < 0 && given != -EALREADY)
			(void)close(fd);
		return given;
	}
	(void)close(what->pinned);
	if (fd < 0 || what->kind == WAIT_CONNECT)
		return fd;
	given = ftruncate(fd, what->length) < 0 ? -errno : 0;
	(void)close(fd);
	return given;
}

static void finish(struct seat *seat, int result)
{
	const struct launch_waiting *what = &seat->what;
	struct seccomp_notif_resp response = { .id = what->id };
	int given = use(seat, result);

	if (what->named >= 0)
		(void)close(what->named);
	if (given == -EALREADY && what->kind == WAIT_OPEN)
		return;
	response.error = given < 0 ? given : 0;
	response.val = given < 0 ? 0 : given;
	(void)ioctl(seat->waits->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* --- Threads --- */

/* True: there is one more call; false: it is time to go. The lock is held. */
static bool idle(struct seat *seat)
{
	struct launch_waits *waits = seat->waits;

	seat->taken = false;
	seat->dismissed = waits->idle_count == IDLE_MOST;
	if (!seat->dismissed) {
		seat->looks = 0;
		seat->next = waits->idle;
		waits->idle = seat;
		waits->idle_count++;
	}
	while (!seat->taken && !seat->dismissed)
		(void)pthread_cond_wait(&seat->called, &waits->lock);
	seat->manned = seat->taken;
	return seat->taken;
}

static void *wait_in(void *arg)
{
	struct seat *seat = arg;
	struct launch_waits *waits = seat->waits;
	pid_t thread = (pid_t)syscall(SYS_gettid);
	bool more;

	do {
		finish(seat, act_waiting(seat, thread));
		(void)pthread_mutex_lock(&waits->lock);
		more = idle(seat);
		(void)pthread_mutex_unlock(&waits->lock);
	} while (more);
	return NULL;
}

/* Whoever has had nothing to do for long goes. The lock is held. */
static void dismiss_idle(struct launch_waits *waits)
{
	struct seat **link = &waits->idle;

	while (*link) {
		struct seat *seat = *link;

		if (++seat->looks <= IDLE_LOOKS) {
			link = &seat->next;
			continue;
		}
		*link = seat->next;
		waits->idle_count--;
		seat->dismissed = true;
		(void)pthread_cond_signal(&seat->called);
	}
}

/* False when there are no threads any more. */
static bool look_after(struct launch_waits *waits)
{
	bool any = false;

	(void)pthread_mutex_lock(&waits->lock);
	dismiss_idle(waits);
	for (size_t i = 0; i < waits->most; i++) {
		struct seat *seat = &waits->seats[i];

		any |= seat->manned;
		if (!seat->taken || !seat->thread)
			continue;
		if (!seat->broken)
			seat->broken = interrupting(seat->what.thread);
		if (seat->broken || !is_wanted(seat))
			(void)syscall(SYS_tgkill, getpid(), seat->thread, wake_signal());
	}
	waits->watched = any;
	(void)pthread_mutex_unlock(&waits->lock);
	return any;
}

static void *watch(void *arg)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };

	do
		(void)nanosleep(&pause, NULL);
	while (look_after(arg));
	return NULL;
}

/* The lock is held. */
static int get_ready(struct launch_waits *waits)
{
	struct sigaction action = { .sa_handler = wake }; /* without SA_RESTART */
	pthread_t thread;

	if (!waits->ready && sigaction(wake_signal(), &action, NULL) < 0)
		return -errno;
	waits->ready = true;
	if (!waits->watched && pthread_create(&thread, &waits->attr, watch, waits) != 0)
		return -ENOMEM;
	waits->watched = true;
	return 0;
}

static struct seat *find_empty(struct launch_waits *waits)
{
	for (size_t i = 0; i < waits->most; i++)
		if (!waits->seats[i].manned)
			return &waits->seats[i];
	return NULL;
}

static void take_seat(struct seat *seat, const struct launch_waiting *waiting)
{
	seat->what = *waiting;
	seat->broken = 0;
	seat->taken = true;
}

/* The lock is held. */
static int man_seat(struct launch_waits *waits, const struct launch_waiting *waiting)
{
	struct seat *seat = find_empty(waits);
	pthread_t thread;

	if (!seat)
		return -ENOMEM;
	/* Once: whoever calls somebody does so without the lock. */
	if (!seat->waits)
		(void)pthread_cond_init(&seat->called, NULL);
	seat->waits = waits;
	take_seat(seat, waiting);
	seat->manned = pthread_create(&thread, &waits->attr, wait_in, seat) == 0;
	seat->taken = seat->manned;
	return seat->manned ? 0 : -ENOMEM;
}

/* NULL: nobody is idle. The lock is held. */
static struct seat *take_idle(struct launch_waits *waits, const struct launch_waiting *waiting)
{
	struct seat *seat = waits->idle;

	if (seat) {
		waits->idle = seat->next;
		waits->idle_count--;
		take_seat(seat, waiting);
	}
	return seat;
}

int launch_waits_add(struct launch_waits *waits, const struct launch_waiting *waiting)
{
	struct seat *seat = NULL;
	int failed;

	if (!waits)
		return -ENOMEM;
	(void)pthread_mutex_lock(&waits->lock);
	failed = get_ready(waits);
	if (!failed)
		seat = take_idle(waits, waiting);
	if (!failed && !seat)
		failed = man_seat(waits, waiting);
	(void)pthread_mutex_unlock(&waits->lock);
	if (seat)
		(void)pthread_cond_signal(&seat->called);
	return failed;
}
