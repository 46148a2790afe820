/* SPDX-License-Identifier: MIT */
/*
 * A run, from the command line to its end. Three processes take part:
 *
 *	launcher	the one that was started. Prepares everything, then waits: passes signals on,
 *			stops when the program stops, ends when the supervisor ends, and cleans up.
 *	supervisor	its child, in a session of its own, so that the terminal's signals are the
 *			program's alone. Subreaper of all that the program starts; answers the kernel,
 *			watches limits, reports; ends the tree when the program has ended, when a limit
 *			is met, or when the launcher is gone.
 *	program		the supervisor's child, in the launcher's process group and session.
 *
 * Whoever of the first two is killed, the other one ends the tree.
 */
#ifndef SBX_LAUNCH_RUN_H
#define SBX_LAUNCH_RUN_H

#include "command.h"
#include "landlock.h"
#include "upstream.h"
#include "limit.h"
#include "listen.h"
#include "cover.h"
#include "options.h"
#include "private.h"
#include "space.h"
#include "stand.h"
#include "user.h"

#include <signal.h>

struct launch {
	struct launch_options options;
	struct launch_command command;
	struct sbx_policy *policy;
	const struct sbx_image *image;
	struct launch_limits limits;
	struct launch_wishes wishes;
	struct launch_user user;
	struct launch_private place;
	struct launch_stand stand; /* where private tmp is, beside */
	struct launch_landlock landlock;
	struct launch_hold hold; /* empty when nobody can be asked */
	struct launch_space space;
	struct launch_covers covers; /* that stand in it */
	const char *workdir; /* where the program starts; NULL: here */
	char **env;
	char shim[PATH_MAX];
	const char *shimless; /* why there is no shim; NULL: there is one */
	sigset_t mask; /* as it was, for the program */
	int log_fd; /* -1: none */
	int abi; /* of Landlock; 0: not enforced */
	struct launch_upstream upstream; /* where names are looked up */
	bool names; /* some hosts are allowed by name */
	bool apart; /* and the program has a network of its own for that */
	bool brokers; /* somebody will be there to be asked, and holds what Landlock cannot */
	bool enforced; /* false: [sandbox] enforce = none */
	bool moves; /* the program starts elsewhere */
	bool ignores_children; /* SIGCHLD was ignored */
	bool ignores_pipes; /* and SIGPIPE */
};

/*
 * 'launch' is all zero. Reads options, finds the command, loads the policy, and makes all that can fail before anything
 * runs. 0, or the exit status; what is wrong has been said. launch->place is to be removed either way.
 */
int launch_prepare(struct launch *launch, int count, char **args);

/* Runs it. Returns the exit status. */
int launch_run(struct launch *launch);

/* SIGCHLD, and what is passed on to the program when somebody sends it to us. */
void launch_signals(sigset_t *set);
/* Ends as Ctrl-C does, whatever is blocked or ignored. */
void launch_interrupt_self(void);

/* What is told between the processes of a run, through pipes that close on exec. */
enum launch_step {
	STEP_LISTENING, /* the program's filters are in force; 'value' is the listener or -errno */
	STEP_FAILED, /* it could not be started; 'value' is the exit status, 'error' says why */
	STEP_STOPPED, /* to the launcher: the program was stopped by signal 'value' */
};
struct launch_message {
	enum launch_step step;
	int value;
	struct launch_error error;
};

/*
 * The supervisor: does not return. 'lifeline' reads as closed when the launcher is gone; 'tell' takes
 * messages to the launcher.
 */
void launch_supervise(struct launch *launch, int lifeline, int tell) __attribute__((noreturn));

/* The program's process: confines itself and executes. 'status' takes messages. */
void launch_confine(struct launch *launch, int status) __attribute__((noreturn));

/* "sbx-launch: …" on standard error, hostile bytes escaped. */
void launch_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
