/* SPDX-License-Identifier: MIT */
/*
 * From the supervisor's fork to the program's first instruction: limits, layer B, filters, exec.
 *
 * Until the filters are in force this process shares the supervisor's table of descriptors, so that
 * the listener, which only the confined process can make, is the supervisor's at once: nothing has
 * to be sent, and no right to look into processes is needed. Then it takes a table of its own with
 * nothing in it but what the program is to have. After the notify filter only calls are made that
 * [syscalls] cannot deny (see 'needed' in filter.c).
 */
#include "preload.h"

#include <errno.h>
#include <linux/close_range.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void tell(int status, enum launch_step step, int value, const struct launch_error *error)
{
	struct launch_message message = { .step = step, .value = value };

	if (error)
		message.error = *error;
	(void)!write(status, &message, sizeof(message));
}

__attribute__((noreturn)) static void give_up(int status, int code,
					      const struct launch_error *error)
{
	tell(status, STEP_FAILED, code, error);
	_exit(code);
}

/* The file as a shell would name it: scripts are told, and some look at it. */
static const char *file_of(const struct launch *launch)
{
	const char *name = launch->options.argv[0];

	return strchr(name, '/') && !launch->moves ? name : launch->command.file;
}

static int go_to_workdir(const struct launch *launch, struct launch_error *error)
{
	if (!launch->moves || chdir(launch->workdir) == 0)
		return 0;
	return launch_fail(error, errno, "cannot start in '%s': %s", launch->workdir,
			   strerror(errno));
}

static int enforce_landlock(struct launch *launch, struct launch_error *error)
{
	int failed;

	if (!launch->abi)
		return 0;
	failed = launch_landlock_apply(&launch->landlock, launch->abi, LAYER_PROGRAM, error);
	/* Of the shared table too: nobody needs them any more, and the listener needs a low number. */
	launch_landlock_done(&launch->landlock);
	return failed;
}

/* Where nobody can listen, inside another sandbox, the base filter refuses by itself. */
static int enforce_filters(const struct launch *launch, int *listener, struct launch_error *error)
{
	*listener = launch_listen_install(&launch->wishes);
	if (*listener < 0 && *listener != -EBUSY && *listener != -EPERM && *listener != -EINVAL &&
	    *listener != -ENOSYS)
		return launch_fail(error, -*listener, "cannot make a listener: %s",
				   strerror(-*listener));
	if (*listener < 0 && (launch->hold.brokered || launch->wishes.metadata))
		return launch_fail(
			error, -*listener,
			"the supervisor cannot be asked here, and would have to hold a part "
			"of the policy: %s",
			strerror(-*listener));
	return *listener >= 0 ? 0 : launch_filter_load(&launch->wishes, error);
}

static void close_between(unsigned int first, unsigned int end)
{
	if (first < end)
		(void)syscall(SYS_close_range, first, end - 1, 0);
}

/* All from 3 up, but what is to be kept; 'status' closes on exec. */
static int close_descriptors(const struct launch *launch, int status)
{
	unsigned int from = 3;

	/* The highest number there could be: closes nothing, and takes a table of our own. */
	if (syscall(SYS_close_range, ~0U, ~0U, CLOSE_RANGE_UNSHARE) < 0)
		return -errno;
	for (;;) {
		unsigned int next = ~0U;

		if ((unsigned int)status >= from)
			next = (unsigned int)status;
		for (size_t i = 0; i < launch->options.keep_count; i++) {
			unsigned int fd = (unsigned int)launch->options.keep_fds[i];

			if (fd >= from && fd < next)
				next = fd;
		}
		close_between(from, next);
		if (next == ~0U)
			return 0;
		from = next + 1;
	}
}

static void restore_signals(const struct launch *launch)
{
	if (launch->ignores_children)
		(void)signal(SIGCHLD, SIG_IGN);
	if (!launch->ignores_pipes)
		(void)signal(SIGPIPE, SIG_DFL);
	(void)sigprocmask(SIG_SETMASK, &launch->mask, NULL);
}

void launch_confine(struct launch *launch, int status)
{
	struct launch_error error;
	int listener = -ENOSYS, failed;

	/* Should the supervisor be killed, the program goes too. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (go_to_workdir(launch, &error) < 0 || enforce_landlock(launch, &error) < 0 ||
	    launch_limits_apply(&launch->limits, &error) < 0)
		give_up(status, EXIT_LAUNCH, &error);
	restore_signals(launch);
	launch_preload_place(launch);
	if (launch->enforced && enforce_filters(launch, &listener, &error) < 0)
		give_up(status, EXIT_LAUNCH, &error);
	failed = close_descriptors(launch, status);
	if (failed < 0) {
		(void)launch_fail(&error, -failed, "cannot close descriptors: %s",
				  strerror(-failed));
		give_up(status, EXIT_LAUNCH, &error);
	}
	launch_preload_settle(launch, listener >= 0);
	tell(status, STEP_LISTENING, listener, NULL);
	launch_command_exec(&launch->command, file_of(launch), launch->options.argv, launch->env);
	failed = errno;
	(void)launch_fail(&error, failed, "cannot execute '%s': %s", launch->options.argv[0],
			  strerror(failed));
	give_up(status, failed == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN, &error);
}
