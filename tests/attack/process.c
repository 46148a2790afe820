/* SPDX-License-Identifier: MIT */
/*
 * Attacks on other processes, and on what a process is allowed. The victim is one that the harness
 * made for the purpose.
 */
#include "attack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

/* Newer than the headers that this may be built with. */
enum {
	NR_pidfd_send_signal = 424,
	NR_pidfd_open = 434,
	NR_pidfd_getfd = 438,
	NR_process_madvise = 440,
};
#define BAD ((void *)-1L)

static void nap(long milliseconds)
{
	struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };

	nanosleep(&time, NULL);
}

static pid_t victim(void)
{
	return (pid_t)fact_number("victim");
}

static long trace_victim(void)
{
	long address = fact_number("address");
	long words[8];

	if (syscall(SYS_ptrace, PTRACE_ATTACH, victim(), NULL, NULL) < 0)
		return -1;
	waitpid(victim(), NULL, __WALL);
	for (size_t i = 0; i < 8; i++)
		if (syscall(SYS_ptrace, PTRACE_PEEKDATA, victim(), address + 8 * (long)i,
			    &words[i]) < 0)
			return -1;
	spill_bytes(words, strnlen((char *)words, sizeof(words)));
	return syscall(SYS_ptrace, PTRACE_DETACH, victim(), NULL, NULL);
}

static long seize_victim(void)
{
	return syscall(SYS_ptrace, PTRACE_SEIZE, victim(), NULL, NULL);
}

static long be_traced(void)
{
	return syscall(SYS_ptrace, PTRACE_TRACEME, 0, NULL, NULL);
}

void trace(void)
{
	step("attach", in_child(trace_victim));
	step("seize", in_child(seize_victim));
	step("traceme", in_child(be_traced));
}

void others_memory(void)
{
	char bytes[64] = { 0 }, path[64];
	struct iovec here = { bytes, sizeof(bytes) };
	struct iovec there = { (void *)fact_number("address"), sizeof(bytes) };
	long result = syscall(SYS_process_vm_readv, victim(), &here, 1UL, &there, 1UL, 0UL);
	int fd;

	step("process_vm_readv", result);
	if (result > 0)
		spill_bytes(bytes, strnlen(bytes, sizeof(bytes)));
	here.iov_len = there.iov_len = 4;
	step("process_vm_writev",
	     syscall(SYS_process_vm_writev, victim(), &here, 1UL, &there, 1UL, 0UL));
	fd = (int)syscall(NR_pidfd_getfd, syscall(NR_pidfd_open, victim(), 0),
			  fact_number("victim-fd"), 0);
	step("pidfd_getfd", fd < 0 ? -1 : spill_fd(fd));
	maybe("kcmp", syscall(SYS_kcmp, getpid(), victim(), 0, 0, 0));
	reached("process_madvise", syscall(NR_process_madvise, -1, BAD, 1, 0, 0));
	snprintf(path, sizeof(path), "/proc/%d/mem", victim());
	step("proc-mem", open(path, O_RDWR));
	snprintf(path, sizeof(path), "/proc/%d/environ", victim());
	step("proc-environ", open(path, O_RDONLY));
	snprintf(path, sizeof(path), "/proc/%d/fd/%ld", victim(), fact_number("victim-fd"));
	step("proc-fd", spill(path));
}

/* By another program, which reads what only root may. */
static long gain(void)
{
	char *argv[] = { (char *)"attack", (char *)"V086", (char *)at("."), (char *)"gained=yes",
			 NULL };
	int status = 0;
	pid_t pid;

	fflush(stdout);
	if ((pid = fork()) == 0) {
		execv(fact("program"), argv);
		printf("step exec no\n");
		fflush(stdout);
		_exit(2);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		cannot_judge("no child");
	if (WEXITSTATUS(status) == 2)
		cannot_judge("the program cannot be executed");
	errno = EACCES;
	return WEXITSTATUS(status) ? -1 : 0;
}

void setuid_program(void)
{
	if (has_fact("gained")) {
		step("read", spill(at("ro/rootkey")));
		return;
	}
	never("before", spill(at("ro/rootkey")));
	step("gain", gain());
}

void cap_program(void)
{
	setuid_program();
}

/* A line of /proc/self/status as a number; prints it too. */
static unsigned long long status_line(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	if (!line)
		cannot_judge(name);
	printf("%s %llx\n", name, strtoull(line + strlen(name), NULL, 16));
	return strtoull(line + strlen(name), NULL, 16);
}

/* After one more exec: that is when root gets its capabilities back. */
void capabilities(void)
{
	static const char *const names[] = { "CapInh:", "CapPrm:", "CapEff:", "CapBnd:",
					     "CapAmb:" };
	static char text[8192];
	int fd = open("/proc/self/status", O_RDONLY);
	unsigned long long any = 0, privileges;

	if (!has_fact("again")) {
		execl("/proc/self/exe", "attack", "V088", at("."), "again=yes", NULL);
		cannot_judge("cannot execute itself");
	}
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		cannot_judge("no /proc/self/status");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (geteuid() == 0 || i != 3)
			any |= status_line(text, names[i]);
	privileges = status_line(text, "NoNewPrivs:");
	errno = EPERM;
	maybe("capabilities", any ? 0 : -1);
	errno = EPERM;
	maybe("new-privileges", privileges ? -1 : 0);
	errno = EPERM;
	maybe("unfiltered", status_line(text, "Seccomp:") == 2 ? -1 : 0);
	maybe("securebits",
	      prctl(PR_SET_SECUREBITS, prctl(PR_GET_SECUREBITS, 0, 0, 0, 0), 0, 0, 0));
}

void signal_others(void)
{
	siginfo_t info = { .si_signo = 0, .si_code = -1 };
	int fd = (int)syscall(NR_pidfd_open, victim(), 0);

	step("tkill", syscall(SYS_tkill, victim(), 0));
	step("tgkill", syscall(SYS_tgkill, victim(), victim(), 0));
	step("sigqueue", syscall(SYS_rt_sigqueueinfo, victim(), 0, &info));
	step("pidfd", syscall(NR_pidfd_send_signal, fd, 0, NULL, 0));
	step("group", kill(-(pid_t)fact_number("victim"), 0));
	step("parent", kill(getppid(), 0));
	step("stop", kill(victim(), SIGSTOP));
	step("kill", kill(victim(), SIGKILL));
}

/*
 * The kernel sends these, when a descriptor has news, to whomever a program names. It tells nobody
 * whether they arrive.
 */
void signal_by_descriptor(void)
{
	int ends[2], folder = open(at("work"), O_RDONLY | O_DIRECTORY);

	if (pipe(ends) < 0 || folder < 0)
		cannot_judge("no descriptors");
	maybe("own", fcntl(ends[0], F_SETOWN, victim()) | fcntl(ends[0], F_SETSIG, SIGKILL) |
			     fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	maybe("watch", fcntl(folder, F_SETSIG, SIGKILL) | fcntl(folder, F_SETOWN, victim()) |
			       fcntl(folder, F_NOTIFY, DN_CREATE));
	step("write", write(ends[1], "x", 1));
	step("create", open(at("work/news"), O_CREAT | O_WRONLY, 0600));
}

/* The harness gives this one a process namespace: natively it ends everything there is. */
void signal_all(void)
{
	pid_t own = fork();

	if (own == 0) {
		nap(5000);
		_exit(0);
	}
	nap(20);
	setpriority(PRIO_USER, getuid(), 9);
	printf("kill: %d\n", kill(-1, SIGKILL));
	nap(20);
	printf("own: %s\n", waitpid(own, NULL, WNOHANG) == own ? "gone" : "there");
}

void tune_others(void)
{
	struct rlimit limit = { 77, 77 };
	struct sched_param parameter = { 0 };
	unsigned long cpu = 1;

	step("prlimit", syscall(SYS_prlimit64, victim(), RLIMIT_NOFILE, &limit, NULL));
	step("setpriority", setpriority(PRIO_PROCESS, (id_t)victim(), 7));
	step("setpriority-group", setpriority(PRIO_PGRP, (id_t)victim(), 8));
	/* with the system call itself: musl's functions do nothing */
	step("sched_setscheduler",
	     syscall(SYS_sched_setscheduler, victim(), SCHED_BATCH, &parameter));
	step("sched_setparam", syscall(SYS_sched_setparam, victim(), &parameter));
	step("sched_setaffinity", syscall(SYS_sched_setaffinity, victim(), sizeof(cpu), &cpu));
	step("ioprio_set", syscall(SYS_ioprio_set, 1, victim(), 3 << 13));
	/* whoever watches over it */
	step("parent-prlimit", syscall(SYS_prlimit64, getppid(), RLIMIT_NOFILE, &limit, NULL));
	step("parent-setpriority", setpriority(PRIO_PROCESS, (id_t)getppid(), 7));
	step("parent-affinity", syscall(SYS_sched_setaffinity, getppid(), sizeof(cpu), &cpu));
}

void inherited(void)
{
	int open_ones = 0;

	for (int fd = 3; fd < 1024; fd++) {
		if (fcntl(fd, F_GETFD) < 0)
			continue;
		open_ones++;
		printf("descriptor %d\n", fd);
		if (lseek(fd, 0, SEEK_SET) == 0)
			spill_fd(fd);
	}
	errno = EBADF;
	step("descriptors", open_ones ? 0 : -1);
}

static bool is_kind(const char *kind)
{
	return !strcmp(fact("kind"), kind);
}

/* Never the same process for long: by the time that its number is known, it is another one. */
static void keep_running(int beat)
{
	for (unsigned count = 0; count < 1000000; count++) {
		pid_t pid = fork();

		if (pid > 0)
			_exit(0);
		if (pid < 0)
			nap(1);
		if (pwrite(beat, &count, sizeof(count), 0) < 0 ||
		    access(at("work/stop"), F_OK) == 0)
			_exit(0);
	}
}

static void be_daemon(int beat)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	close(0);
	close(1);
	close(2);
	if (is_kind("running"))
		keep_running(beat);
	for (unsigned count = 0; count < 3000 && access(at("work/stop"), F_OK) < 0; count++) {
		if (pwrite(beat, &count, sizeof(count), 0) < 0)
			_exit(1);
		nap(10);
	}
	_exit(0);
}

/*
 * Away from its parent, its session and its terminal; or, with the parent of this process for a
 * parent, never this one's child. Shows that it is there by counting in a file.
 */
void leave_daemon(void)
{
	int beat = open(at("work/beat"), O_CREAT | O_RDWR, 0600);
	long flags = is_kind("sibling") ? CLONE_PARENT | SIGCHLD : SIGCHLD;
	pid_t pid;

	fflush(stdout);
	if (beat < 0 || (pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0)) < 0)
		cannot_judge("no child");
	if (pid == 0) {
		setsid();
		if (is_kind("sibling") || fork() == 0)
			be_daemon(beat);
		_exit(0);
	}
	/* its end must not be taken for the end of this one */
	if (is_kind("sibling") && syscall(SYS_clone, flags, 0, 0, 0, 0) == 0)
		_exit(42);
	while (!is_kind("sibling") && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	nap(50);
	step("daemon", 0);
}

void dump_core(void)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	int status = 0;
	pid_t pid;

	if (chdir(at("work")) < 0)
		cannot_judge("no way into work");
	maybe("limit", setrlimit(RLIMIT_CORE, &limit));
	fflush(stdout);
	if ((pid = fork()) == 0)
		abort();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSIGNALED(status))
		cannot_judge("no child that aborts");
	printf("step core %s\n", WCOREDUMP(status) ? "ok" : "no-core");
	if (WCOREDUMP(status)) {
		errno = 0;
		maybe("core", 0);
	}
}

/* Every process makes more, until there were enough or none can be made. */
static struct {
	atomic_int made, refused, error;
	atomic_bool over;
} * bomb;

static void burst(void)
{
	while (!bomb->over && bomb->made < 200 && bomb->refused < 100) {
		pid_t pid = fork();

		if (pid < 0) {
			bomb->error = errno;
			bomb->refused++;
			nap(1);
		} else if (pid > 0) {
			bomb->made++;
		}
	}
	for (int i = 0; i < 1000 && !bomb->over; i++)
		nap(10);
}

static void *sit(void *nothing)
{
	while (!bomb->over)
		nap(10);
	return nothing;
}

/* By threads of one process. */
static void burst_of_threads(void)
{
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	while (bomb->made < 200 && !bomb->refused) {
		int error = pthread_create(&thread, &small, sit, NULL);

		if (error) {
			bomb->error = error;
			bomb->refused++;
		} else {
			bomb->made++;
		}
	}
}

void fork_bomb(void)
{
	pid_t first = getpid();

	bomb = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (bomb == MAP_FAILED)
		cannot_judge("no shared memory");
	fflush(stdout);
	if (!strcmp(fact("of"), "threads")) {
		burst_of_threads();
	} else if (fork() == 0) {
		burst();
		_exit(0);
	}
	for (int i = 0; i < 500 && bomb->made < 200 && bomb->refused < 100; i++)
		nap(10);
	wait_for_harness(); /* to look */
	bomb->over = true;
	if (getpid() != first)
		_exit(0);
	printf("made %d\n", bomb->made);
	errno = bomb->error;
	step("fork", bomb->made >= 200 ? 0 : -1);
}
