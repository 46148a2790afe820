/* SPDX-License-Identifier: MIT */
/*
 * The launcher while the program runs: waits, passes signals on, stops when the program stops, and
 * cleans up. It is under layer A by then, and has no capability but those that cleaning up after
 * another user takes.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_signals(sigset_t *set)
{
	static const int numbers[] = { SIGCHLD,	 SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
				       SIGUSR1,	 SIGUSR2, SIGALRM, SIGCONT, SIGTSTP,
				       SIGWINCH, SIGTTIN, SIGTTOU };

	(void)sigemptyset(set);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		(void)sigaddset(set, numbers[i]);
}

/* Who ignores SIGCHLD hears of no child's end; the program gets that back. */
static int block_signals(struct launch *launch)
{
	struct sigaction action;
	sigset_t set;

	launch->ignores_children =
		sigaction(SIGCHLD, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
	if (launch->ignores_children)
		(void)signal(SIGCHLD, SIG_DFL);
	/* A reader of our messages who goes away must not end the run. */
	launch->ignores_pipes = signal(SIGPIPE, SIG_IGN) == SIG_IGN;
	launch_signals(&set);
	(void)sigprocmask(SIG_BLOCK, &set, &launch->mask);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int confine_launcher(struct launch *launch, struct launch_error *error)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return launch_fail(error, errno, "cannot set no_new_privs: %s", strerror(errno));
	if (!launch->abi)
		return 0;
	return launch_landlock_apply(&launch->landlock, launch->abi, LAYER_LAUNCHER, error);
}

/* Who needs rights to become another user, or to take a network, keeps them yet. */
static int settle(struct launch *launch, struct launch_error *error)
{
	int failed = confine_launcher(launch, error);

	return failed < 0 || launch->user.foreign || launch->apart ? failed
								   : launch_user_drop(0, error);
}

/* The supervisor that has a /proc of its own makes it, which comes before any layer. */
static void begin_apart(struct launch *launch)
{
	struct launch_error error;
	int failed = launch_space_begin(&launch->space, &error);

	if (!failed) {
		launch_covers_moved(&launch->covers);
		launch_landlock_reopen(&launch->landlock, "/proc");
		failed = settle(launch, &error);
	}
	if (failed) {
		launch_complain("%s", error.text);
		_exit(EXIT_LAUNCH);
	}
}

/*
 * Stops as the program was stopped, so that the shell sees it; returns when we are continued. Raised
 * before it is unblocked: the terminal's own may be pending still, and both must be one stop.
 */
static void stop_like(int number)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)raise(number);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

static void take_message(int from)
{
	struct launch_message message;

	if (read(from, &message, sizeof(message)) == sizeof(message) &&
	    message.step == STEP_STOPPED)
		stop_like(message.value);
}

/* What the terminal sends, it has sent to the program too. */
static void take_signals(int from, pid_t supervisor)
{
	struct signalfd_siginfo info;

	while (read(from, &info, sizeof(info)) == sizeof(info))
		if ((int)info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
			(void)kill(supervisor, (int)info.ssi_signo);
}

/* The supervisor's wait status. */
static int wait_for(pid_t supervisor, int signals, int messages)
{
	struct pollfd ready[] = { { .fd = signals, .events = POLLIN },
				  { .fd = messages, .events = POLLIN } };
	int status;

	for (;;) {
		if (poll(ready, 2, -1) < 0 && errno != EINTR)
			return -1;
		if (ready[1].revents & POLLIN)
			take_message(messages);
		else if (ready[1].revents)
			ready[1].fd = -1;
		if (ready[0].revents)
			take_signals(signals, supervisor);
		if (waitpid(supervisor, &status, WNOHANG) == supervisor)
			return status;
	}
}

void launch_interrupt_self(void)
{
	sigset_t set;

	(void)signal(SIGINT, SIG_DFL);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
	(void)raise(SIGINT);
}

static int finish(struct launch *launch, int status)
{
	if (WIFEXITED(status)) {
		launch_private_remove(&launch->place);
		return WEXITSTATUS(status);
	}
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT) {
		launch_tree_kill(getpid());
		launch_private_remove(&launch->place);
		launch_complain("the supervisor was killed by signal %d: the run was ended",
				WTERMSIG(status));
		return EXIT_LAUNCH;
	}
	launch_private_remove(&launch->place);
	launch_interrupt_self();
	return 128 + SIGINT;
}

int launch_run(struct launch *launch)
{
	const uint64_t cleaning = 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_KILL;
	int lifeline[2], tell[2], signals = block_signals(launch);
	struct launch_error error;
	pid_t supervisor;

	if (signals < 0 || pipe2(lifeline, O_CLOEXEC) < 0 || pipe2(tell, O_CLOEXEC) < 0) {
		launch_complain("cannot make a pipe: %s", strerror(errno));
		return EXIT_LAUNCH;
	}
	if (launch_space_fork(&launch->space, &error) < 0 ||
	    (!launch->space.full && settle(launch, &error) < 0)) {
		launch_complain("%s", error.text);
		return EXIT_LAUNCH;
	}
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	supervisor = fork();
	if (supervisor == 0) {
		if (launch->space.full)
			begin_apart(launch);
		(void)close(lifeline[1]);
		(void)close(tell[0]);
		(void)close(signals);
		launch_supervise(launch, lifeline[0], tell[1]);
	}
	(void)close(lifeline[0]);
	(void)close(tell[1]);
	if (supervisor < 0) {
		launch_complain("cannot fork: %s", strerror(errno));
		return EXIT_LAUNCH;
	}
	if ((launch->space.full && settle(launch, &error) < 0) ||
	    (launch->user.foreign && launch_user_drop(cleaning, &error) < 0) ||
	    (!launch->user.foreign && launch->apart && launch_user_drop(0, &error) < 0)) {
		launch_complain("%s", error.text);
		launch_tree_kill(getpid());
		return EXIT_LAUNCH;
	}
	return finish(launch, wait_for(supervisor, signals, tell[0]));
}
