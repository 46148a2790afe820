/* SPDX-License-Identifier: MIT */
/*
 * Runs a probe where it can harm nobody.
 *
 *	caller ── warden ── probe ── whatever the probe starts
 *
 * 1. The caller only forks, polls a pipe that closes when the warden is gone, and reaps it.
 * 2. The warden is a subreaper: it ends and reaps all that the probe left before it goes itself.
 * 3. The finding is in memory that all of them share: an outer or own filter, which may take away
 *    any system call, cannot keep the probe from answering.
 * 4. Who is left alone by its parent dies of PDEATHSIG.
 *
 * After fork() nothing here takes locks or memory, and nobody but the caller prints.
 */
#include "doctor_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	DEADLINE = 5000, /* milliseconds for a probe */
	GRACE = 2000, /* more for its warden */
};

void launch_probe_say(struct launch_finding *found, const char *format, ...)
{
	size_t len = strlen(found->detail);
	va_list args;

	va_start(args, format);
	vsnprintf(found->detail + len, sizeof(found->detail) - len, format, args);
	va_end(args);
}

int launch_probe_failed(struct launch_finding *found, const char *what)
{
	int code = errno;

	found->error = code;
	found->detail[0] = '\0';
	launch_probe_say(found, "%s: %s", what,
			 code == ENOSYS ? "not in this kernel, or hidden by an outer filter"
					: strerror(code));
	return -code;
}

int launch_probe_wrong(struct launch_finding *found, const char *sentence)
{
	found->error = 0;
	found->detail[0] = '\0';
	launch_probe_say(found, "%s", sentence);
	return -EPROTO;
}

/*
 * A parent that died before the signal was asked for has left a new one behind; one in an outer pid
 * namespace has no number here.
 */
static void die_with(pid_t parent)
{
	pid_t there;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	there = getppid();
	if (there != parent && there != 0)
		_exit(1);
}

pid_t launch_probe_fork(void)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0)
		die_with(parent);
	return pid;
}

int launch_probe_wait(pid_t pid)
{
	int status;

	if (pid < 0)
		return -1;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static long long now(void)
{
	struct timespec time = { 0 };

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

static void finish(launch_probe *probe, struct launch_finding *found)
{
	int result = probe(found);

	if (result < 0 && !found->detail[0])
		launch_probe_say(found, "%s", strerror(-result));
	found->state = result == 0 ? STATE_YES : STATE_NO;
	_exit(0);
}

/*
 * The probe's own process. After a change of user it would be unreadable to itself in /proc, which
 * a launcher that was executed is not.
 */
static pid_t start(launch_probe *probe, struct launch_finding *found, int alive)
{
	sigset_t none;
	pid_t pid = launch_probe_fork();

	if (pid == 0) {
		close(alive);
		(void)setpgid(0, 0);
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		finish(probe, found);
	}
	if (pid > 0)
		(void)setpgid(pid, pid);
	return pid;
}

/* Whether the child ended in time; it is left as a zombie, so that its number stays its own. */
static bool ended(pid_t pid, const sigset_t *chld, siginfo_t *info)
{
	long long until = now() + DEADLINE;

	for (;;) {
		long long left = until - now();
		struct timespec time = { left / 1000, left % 1000 * 1000000 };

		info->si_pid = 0;
		if (waitid(P_PID, (id_t)pid, info, WEXITED | WNOHANG | WNOWAIT) < 0)
			return false;
		if (info->si_pid == pid)
			return true;
		if (left <= 0)
			return false;
		(void)sigtimedwait(chld, NULL, &time);
	}
}

static void judge_end(const siginfo_t *info, struct launch_finding *found)
{
	if (found->state != STATE_UNTRIED)
		return;
	found->state = STATE_NO;
	found->detail[0] = '\0';
	if (info->si_code == CLD_EXITED)
		launch_probe_say(found, "ended with exit status %d", info->si_status);
	else if (info->si_status == SIGSYS)
		launch_probe_say(found, "killed by an outer filter (SIGSYS)");
	else
		launch_probe_say(found, "killed by signal %d", info->si_status);
}

/* What was set for the caller is not for these: its handlers would run here too. */
static void settle(sigset_t *chld)
{
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	sigemptyset(chld);
	sigaddset(chld, SIGCHLD);
	sigprocmask(SIG_SETMASK, chld, NULL);
	(void)setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

__attribute__((noreturn)) static void ward(launch_probe *probe, struct launch_finding *found,
					   int alive)
{
	siginfo_t info = { 0 };
	sigset_t chld;
	pid_t pid;

	settle(&chld);
	pid = start(probe, found, alive);
	if (pid < 0) {
		(void)launch_probe_failed(found, "fork");
		_exit(0);
	}
	if (ended(pid, &chld, &info)) {
		judge_end(&info, found);
	} else {
		found->detail[0] = '\0';
		launch_probe_say(found, "did not answer within %d s", DEADLINE / 1000);
		found->state = STATE_SILENT;
	}
	/* Its group has its number for as long as it is not reaped. */
	(void)kill(-pid, SIGKILL);
	(void)kill(pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
	_exit(0);
}

/* Until the other end of the pipe is closed, or time is up. */
static bool closed(int fd, int milliseconds)
{
	long long until = now() + milliseconds, left;
	struct pollfd poll_fd = { .fd = fd };
	int count = 0;

	while (count <= 0 && (left = until - now()) > 0)
		count = poll(&poll_fd, 1, (int)left);
	return count > 0;
}

static void watch(launch_probe *probe, struct launch_finding *shared, int pipes[2])
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (pid == 0) {
		die_with(parent);
		close(pipes[0]);
		ward(probe, shared, pipes[1]);
	}
	close(pipes[1]);
	if (pid < 0) {
		(void)launch_probe_failed(shared, "fork");
		return;
	}
	if (!closed(pipes[0], DEADLINE + GRACE))
		(void)kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void launch_probe_run(launch_probe *probe, struct launch_finding *found)
{
	struct launch_finding *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pipes[2];

	*found = (struct launch_finding){ 0 };
	if (shared == MAP_FAILED) {
		(void)launch_probe_failed(found, "cannot be tried: mmap");
		return;
	}
	if (pipe2(pipes, O_CLOEXEC) < 0) {
		(void)launch_probe_failed(shared, "cannot be tried: pipe");
	} else {
		watch(probe, shared, pipes);
		close(pipes[0]);
	}
	*found = *shared;
	found->detail[sizeof(found->detail) - 1] = '\0';
	munmap(shared, sizeof(*shared));
}
