/* SPDX-License-Identifier: MIT */
/*
 * Probes of what confines: Landlock, seccomp filters, and the notifications of seccomp.
 *
 * Each one confines its own process and sees that it holds. The calls made to be refused are
 * harmless should they not be.
 */
#include "doctor_probe.h"

#include "filter.h"
#include "landlock.h"
#include "landlock_abi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Newer than the system's headers. */
#define NOTIF_SET_FLAGS SECCOMP_IOW(4, uint64_t) /* since 6.6 */
#define NOTIF_SYNC_WAKE_UP (1UL << 0)
#define FILTER_WAIT_KILLABLE (1UL << 5) /* since 5.19 */
#define ADDFD_SEND (1UL << 1) /* since 5.14 */

enum {
	ANSWER = -0x5b5 & 0x7fffffff, /* the number of no session */
	PATIENCE = 2000, /* milliseconds */
	LAYERS_NEEDED = 2, /* the launcher's and the program's */
	LAYERS_MAX = 64 /* no kernel has as many */
};

static void forgo_privileges(void)
{
	/* Where it fails, what needs it fails, and says so. */
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

/* Something that can be opened now. Inside another sandbox that may be little. */
static const char *readable_place(void)
{
	static const char *const places[] = { "/",    "/usr", "/etc",	   "/lib", "/proc/self",
					      "/tmp", ".",    "/dev/null", NULL };

	for (size_t i = 0; places[i]; i++) {
		int fd = open(places[i], O_RDONLY | O_CLOEXEC | O_NOCTTY);

		if (fd >= 0) {
			close(fd);
			return places[i];
		}
	}
	return NULL;
}

/* A ruleset that grants nothing, or -1 with errno. */
static int empty_ruleset(int abi)
{
	return (int)syscall(LL_SYS_CREATE_RULESET, &ll_abis[abi], sizeof(ll_abis[abi]), 0);
}

/* Why there is no ABI. */
static int no_abi(struct launch_finding *found)
{
	long result = syscall(LL_SYS_CREATE_RULESET, NULL, 0, LL_CREATE_VERSION);

	if (result >= 0)
		return launch_probe_wrong(found, "the kernel counts an ABI but makes no ruleset");
	(void)launch_probe_failed(found, "landlock_create_ruleset");
	if (found->error == EOPNOTSUPP)
		launch_probe_say(found, " (built in, but turned off when the machine started)");
	return -found->error;
}

int launch_try_landlock(struct launch_finding *found)
{
	const char *place = readable_place();
	int abi = launch_landlock_abi();
	struct launch_error error;
	int ruleset, result;

	if (!abi)
		return no_abi(found);
	ruleset = empty_ruleset(abi);
	if (ruleset < 0)
		return launch_probe_failed(found, "landlock_create_ruleset");
	forgo_privileges();
	result = launch_landlock_enforce(ruleset, &error);
	if (result < 0) {
		found->error = -result;
		launch_probe_say(found, "%s", error.text);
		return result;
	}
	if (place && (open(place, O_RDONLY | O_CLOEXEC | O_NOCTTY) >= 0 || errno != EACCES))
		return launch_probe_wrong(found, "enforced, but what it refuses can be opened");
	found->number = abi;
	launch_probe_say(found, "ABI %d", abi);
	return 0;
}

/* Counts those that can be stacked on the caller's. */
int launch_try_landlock_layers(struct launch_finding *found)
{
	int count = 0, ruleset = empty_ruleset(launch_landlock_abi());

	if (ruleset < 0)
		return launch_probe_failed(found, "landlock_create_ruleset");
	forgo_privileges();
	while (count < LAYERS_MAX && syscall(LL_SYS_RESTRICT_SELF, ruleset, 0) == 0)
		count++;
	found->number = count;
	if (count < LAYERS_NEEDED)
		(void)launch_probe_failed(found, "landlock_restrict_self");
	launch_probe_say(found, "%s%d left", count < LAYERS_NEEDED ? "; " : "", count);
	return -found->error;
}

int launch_try_no_new_privs(struct launch_finding *found)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return launch_probe_failed(found, "prctl");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return launch_probe_wrong(found, "set, but not kept");
	return 0;
}

static long load(unsigned long flags, const struct sock_fprog *program)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, program);
}

/* getsid(), which every sandbox allows and nothing here needs, with the given outcome. */
#define ON_GETSID(outcome)                                                             \
	{                                                                              \
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)), \
			BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),         \
			BPF_STMT(BPF_RET | BPF_K, outcome),                            \
			BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),                  \
	}

/* A mark that no outer filter leaves, then the filter that runs get. */
int launch_try_seccomp(struct launch_finding *found)
{
	static struct sock_filter code[] = ON_GETSID(SECCOMP_RET_ERRNO | EDOM);
	static const struct sock_fprog marking = { sizeof(code) / sizeof(code[0]), code };

	forgo_privileges();
	if (load(0, &marking) < 0)
		return launch_probe_failed(found, "seccomp");
	if (syscall(SYS_getsid, 0) != -1 || errno != EDOM)
		return launch_probe_wrong(found, "a filter was taken, but does not hold");
	if (load(0, &launch_filter_standalone) < 0)
		return launch_probe_failed(found, "seccomp, with the filter of a run");
	if (syscall(SYS_keyctl, -1, 0, 0, 0, 0) != -1 || errno != EPERM)
		return launch_probe_wrong(found,
					  "the filter of a run was taken, but keyctl passes");
	return 0;
}

/* One call that is notified: the probe listens, a child of it calls. */
struct exchange {
	int listener;
	pid_t caller;
	struct seccomp_notif call;
};

static int listen_for_calls(struct launch_finding *found, unsigned long flags)
{
	static struct sock_filter code[] = ON_GETSID(SECCOMP_RET_USER_NOTIF);
	static const struct sock_fprog asking = { sizeof(code) / sizeof(code[0]), code };
	long listener;

	forgo_privileges();
	listener = load(SECCOMP_FILTER_FLAG_NEW_LISTENER | flags, &asking);
	if (listener >= 0)
		return (int)listener;
	(void)launch_probe_failed(found, "seccomp");
	if (found->error == EBUSY)
		launch_probe_say(found, " (another sandbox around this one listens already)");
	return -found->error;
}

/* What the caller does with the answer; its exit status. */
static int expect_number(void)
{
	return syscall(SYS_getsid, 0) == ANSWER ? 0 : 1;
}

static int expect_descriptor(void)
{
	long fd = syscall(SYS_getsid, 0);
	char byte = 0;

	return fd >= 0 && read((int)fd, &byte, 1) == 1 && byte == 'x' ? 0 : 1;
}

static int begin(struct launch_finding *found, struct exchange *exchange, int (*expect)(void))
{
	struct pollfd ready = { .fd = exchange->listener, .events = POLLIN };

	exchange->caller = launch_probe_fork();
	if (exchange->caller == 0)
		_exit(expect());
	if (exchange->caller < 0)
		return launch_probe_failed(found, "fork");
	if (poll(&ready, 1, PATIENCE) != 1)
		return launch_probe_wrong(found, "a listener was given, but hears nothing");
	if (ioctl(exchange->listener, SECCOMP_IOCTL_NOTIF_RECV, &exchange->call) < 0)
		return launch_probe_failed(found, "receiving a notification");
	return 0;
}

static int answer(struct launch_finding *found, const struct exchange *exchange, long long value)
{
	struct seccomp_notif_resp response = { .id = exchange->call.id, .val = value };

	if (ioctl(exchange->listener, SECCOMP_IOCTL_NOTIF_SEND, &response) < 0)
		return launch_probe_failed(found, "answering a notification");
	return 0;
}

static int check_caller(struct launch_finding *found, const struct exchange *exchange)
{
	if (launch_probe_wait(exchange->caller) < 0)
		return launch_probe_wrong(found, "the call did not return the answer");
	return 0;
}

/* The whole exchange, with something done to the caller or the listener in between. */
static int try_exchange(struct launch_finding *found, unsigned long flags,
			int (*prepare)(struct launch_finding *, int listener),
			int (*disturb)(struct launch_finding *, const struct exchange *))
{
	struct exchange exchange = { .listener = listen_for_calls(found, flags) };
	int error = exchange.listener < 0 ? exchange.listener : 0;

	if (!error && prepare)
		error = prepare(found, exchange.listener);
	if (!error)
		error = begin(found, &exchange, expect_number);
	if (!error && disturb)
		error = disturb(found, &exchange);
	if (!error)
		error = answer(found, &exchange, ANSWER);
	return error ? error : check_caller(found, &exchange);
}

int launch_try_notify(struct launch_finding *found)
{
	return try_exchange(found, 0, NULL, NULL);
}

static void ignore_signal(int number)
{
	(void)number;
}

/* A signal with a handler ends the wait for an answer, unless only fatal ones may. */
static int signal_caller(struct launch_finding *found, const struct exchange *exchange)
{
	static const struct timespec moment = { 0, 2000000 };

	if (kill(exchange->caller, SIGUSR1) < 0)
		return launch_probe_failed(found, "kill");
	nanosleep(&moment, NULL);
	return 0;
}

int launch_try_notify_killable(struct launch_finding *found)
{
	static const struct sigaction action = { .sa_handler = ignore_signal };

	if (sigaction(SIGUSR1, &action, NULL) < 0)
		return launch_probe_failed(found, "sigaction");
	return try_exchange(found, FILTER_WAIT_KILLABLE, NULL, signal_caller);
}

static int set_sync(struct launch_finding *found, int listener)
{
	if (ioctl(listener, NOTIF_SET_FLAGS, NOTIF_SYNC_WAKE_UP) < 0)
		return launch_probe_failed(found, "SECCOMP_IOCTL_NOTIF_SET_FLAGS");
	return 0;
}

int launch_try_notify_sync(struct launch_finding *found)
{
	return try_exchange(found, 0, set_sync, NULL);
}

/* Puts a pipe with an 'x' in it into the caller; its number there, or a negative errno. */
static int hand_over(struct launch_finding *found, const struct exchange *exchange, uint32_t flags)
{
	struct seccomp_notif_addfd add = { .id = exchange->call.id, .flags = flags };
	int pipes[2], number;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return launch_probe_failed(found, "pipe");
	if (write(pipes[1], "x", 1) != 1)
		return launch_probe_failed(found, "write");
	add.srcfd = (uint32_t)pipes[0];
	number = ioctl(exchange->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	return number < 0 ? launch_probe_failed(found, "SECCOMP_IOCTL_NOTIF_ADDFD") : number;
}

static int try_addfd(struct launch_finding *found, uint32_t flags)
{
	struct exchange exchange = { .listener = listen_for_calls(found, 0) };
	int error = exchange.listener < 0 ? exchange.listener
					  : begin(found, &exchange, expect_descriptor);
	int number = error ? error : hand_over(found, &exchange, flags);

	if (number < 0)
		return number;
	if (!(flags & ADDFD_SEND))
		error = answer(found, &exchange, number);
	return error ? error : check_caller(found, &exchange);
}

int launch_try_notify_addfd(struct launch_finding *found)
{
	return try_addfd(found, 0);
}

int launch_try_notify_addfd_send(struct launch_finding *found)
{
	return try_addfd(found, ADDFD_SEND);
}
