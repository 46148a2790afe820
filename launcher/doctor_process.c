/* SPDX-License-Identifier: MIT */
/*
 * Probes of what a supervisor does to other processes: read them, find them, end them, limit them.
 *
 * Children are left where they are: the warden ends them.
 */
#include "doctor_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Newer than the system's headers, or not in all of them. */
#define CLOSE_UNSHARE (1U << 1) /* since 5.9 */
#define MEMFD_NOEXEC_SEAL 0x0008U /* since 6.3 */

enum {
	PATIENCE = 2000, /* milliseconds */
	MEGABYTE = 1 << 20
};

/* A child that did something, told a number, and then does 'rest' until it is ended. */
static pid_t victim(struct launch_finding *found, int (*prepare)(void), void (*rest)(void),
		    int *told)
{
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (pid = launch_probe_fork()) < 0)
		return (pid_t)launch_probe_failed(found, "fork");
	if (pid == 0) {
		int number = prepare ? prepare() : 0;

		if (write(pipes[1], &number, sizeof(number)) != sizeof(number))
			_exit(1);
		for (;;)
			rest();
	}
	close(pipes[1]);
	if (read(pipes[0], told, sizeof(*told)) != sizeof(*told))
		return (pid_t)launch_probe_wrong(found, "a child did not begin");
	close(pipes[0]);
	return pid;
}

static void sleep_on(void)
{
	(void)pause();
}

static void burn(void)
{
	for (volatile int i = 0; i < MEGABYTE; i++)
		;
}

static volatile int mark; /* differs in the child */

static int set_mark(void)
{
	mark = getpid();
	return mark;
}

int launch_try_read_memory(struct launch_finding *found)
{
	int told = 0, seen = 0;
	pid_t pid = victim(found, set_mark, sleep_on, &told);
	struct iovec here = { &seen, sizeof(seen) }, there = { (void *)&mark, sizeof(mark) };

	if (pid < 0)
		return pid;
	if (process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof(seen))
		return launch_probe_failed(found, "process_vm_readv");
	if (seen != told)
		return launch_probe_wrong(found, "what was read is not what is there");
	return 0;
}

static int fill_pipe(void)
{
	int pipes[2];

	return pipe2(pipes, O_CLOEXEC) == 0 && write(pipes[1], "x", 1) == 1 ? pipes[0] : -1;
}

int launch_try_pidfd(struct launch_finding *found)
{
	int told = -1, pidfd, fd;
	char byte = 0;
	pid_t pid = victim(found, fill_pipe, sleep_on, &told);

	if (pid < 0)
		return pid;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0)
		return launch_probe_failed(found, "pidfd_open");
	fd = (int)syscall(SYS_pidfd_getfd, pidfd, told, 0);
	if (fd < 0)
		return launch_probe_failed(found, "pidfd_getfd");
	if (read(fd, &byte, 1) != 1 || byte != 'x')
		return launch_probe_wrong(found, "what was taken is not what is there");
	return 0;
}

/* In a child that shares its descriptors with the probe, until it unshares them. */
static int close_alone(int fd)
{
	if (syscall(SYS_close_range, (unsigned int)fd, ~0U, CLOSE_UNSHARE) < 0)
		return errno;
	return fcntl(fd, F_GETFD) < 0 ? 0 : EPROTO;
}

int launch_try_close_range(struct launch_finding *found)
{
	int status, fd = open("/", O_PATH | O_CLOEXEC);
	pid_t pid;

	if (fd < 0)
		return launch_probe_failed(found, "open");
	pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(close_alone(fd));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return launch_probe_failed(found, "clone");
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPROTO;
	if (errno)
		return launch_probe_failed(found, "close_range");
	if (fcntl(fd, F_GETFD) < 0)
		return launch_probe_wrong(found, "it closed another process's descriptors");
	return 0;
}

/* A grandchild whose parent is gone must come to us. */
int launch_try_subreaper(struct launch_finding *found)
{
	int status = 0;
	pid_t pid;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
		return launch_probe_failed(found, "prctl");
	pid = launch_probe_fork();
	if (pid == 0) {
		pid = fork();
		_exit(pid == 0 ? 7 : pid < 0);
	}
	if (launch_probe_wait(pid) < 0)
		return launch_probe_failed(found, "fork");
	if (waitpid(-1, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 7)
		return launch_probe_wrong(found, "an orphan did not come to its subreaper");
	return 0;
}

/* In the middle process: starts one that says when it is ready, and waits. */
__attribute__((noreturn)) static void start_orphan(int ready)
{
	if (fork() == 0) {
		char asked = prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 ? 'y' : 'n';

		if (write(ready, &asked, 1) != 1)
			_exit(1);
	}
	for (;;)
		(void)pause();
}

/* The pipe is closed when the orphan is dead, too. */
int launch_try_pdeathsig(struct launch_finding *found)
{
	struct pollfd end = { 0 };
	char asked = 0;
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0)
		return launch_probe_failed(found, "pipe");
	pid = launch_probe_fork();
	if (pid == 0)
		start_orphan(pipes[1]);
	close(pipes[1]);
	if (pid < 0 || read(pipes[0], &asked, 1) != 1)
		return launch_probe_failed(found, "fork");
	if (asked != 'y')
		return launch_probe_wrong(found, "prctl refuses it");
	if (kill(pid, SIGKILL) < 0)
		return launch_probe_failed(found, "kill");
	end.fd = pipes[0];
	if (poll(&end, 1, PATIENCE) != 1)
		return launch_probe_wrong(found, "a process outlived its parent");
	return 0;
}

/* Reads a small file; its length, or -1. */
static ssize_t read_text(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return -1;
	len = read(fd, text, size - 1);
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return len;
}

int launch_try_children(struct launch_finding *found)
{
	char path[64], text[64];
	int told;
	pid_t pid = victim(found, NULL, sleep_on, &told);

	if (pid < 0)
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)getpid(), (int)getpid());
	if (read_text(path, text, sizeof(text)) < 0)
		return launch_probe_failed(found, "/proc/PID/task/TID/children");
	if (strtol(text, NULL, 10) != pid)
		return launch_probe_wrong(found, "it does not list a child");
	return 0;
}

int launch_try_smaps(struct launch_finding *found)
{
	char path[64], text[1024];
	int told;
	pid_t pid = victim(found, NULL, sleep_on, &told);

	if (pid < 0)
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	if (read_text(path, text, sizeof(text)) < 0)
		return launch_probe_failed(found, "/proc/PID/smaps_rollup");
	if (!strstr(text, "\nPss:"))
		return launch_probe_wrong(found, "/proc/PID/smaps_rollup has no Pss");
	return 0;
}

/* A timer on the CPU time of a child that burns it. */
int launch_try_cpu_timer(struct launch_finding *found)
{
	static const struct itimerspec soon = { .it_value = { .tv_nsec = 1000000 } };
	static const struct timespec patience = { .tv_sec = PATIENCE / 1000 };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	int told, error;
	pid_t pid = victim(found, NULL, burn, &told);
	clockid_t clock;
	timer_t timer;
	sigset_t usr1;

	if (pid < 0)
		return pid;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, NULL);
	error = clock_getcpuclockid(pid, &clock);
	if (error) {
		errno = error;
		return launch_probe_failed(found, "clock_getcpuclockid");
	}
	if (timer_create(clock, &event, &timer) < 0 || timer_settime(timer, 0, &soon, NULL) < 0)
		return launch_probe_failed(found, "timer_create");
	if (sigtimedwait(&usr1, NULL, &patience) != SIGUSR1)
		return launch_probe_wrong(found, "a timer on another's CPU time did not go off");
	return 0;
}

static int lower(int resource, rlim_t value)
{
	struct rlimit limit;

	if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
		return -1;
	if (limit.rlim_max > value)
		limit.rlim_max = value;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit((__rlimit_resource_t)resource, &limit);
}

static bool can_map(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return false;
	munmap(at, size);
	return true;
}

int launch_try_rlimits(struct launch_finding *found)
{
	if (!can_map((size_t)64 * MEGABYTE))
		return launch_probe_failed(found, "mmap of 64 MB");
	if (lower(RLIMIT_DATA, MEGABYTE) < 0 || lower(RLIMIT_NOFILE, 3) < 0)
		return launch_probe_failed(found, "setrlimit");
	if (can_map((size_t)64 * MEGABYTE))
		return launch_probe_wrong(found, "RLIMIT_DATA does not hold");
	if (open("/", O_PATH | O_CLOEXEC) >= 3)
		return launch_probe_wrong(found, "RLIMIT_NOFILE does not hold");
	return 0;
}

int launch_try_memfd_noexec(struct launch_finding *found)
{
	int fd = (int)syscall(SYS_memfd_create, "sbx", MEMFD_NOEXEC_SEAL | MFD_CLOEXEC);

	if (fd < 0)
		return launch_probe_failed(found, "memfd_create");
	if (fchmod(fd, 0700) == 0)
		return launch_probe_wrong(found, "a sealed memfd can be made executable");
	return 0;
}
