/* SPDX-License-Identifier: MIT */
/*
 * Signals, where Landlock has no scope for them: only to the sandbox's own processes. What goes to one
 * process is decided by registers; what goes to many is sent one by one, to those that are ours.
 */
#ifndef SBX_LAUNCH_SIGNALS_H
#define SBX_LAUNCH_SIGNALS_H

#include "calls.h"

#include <sys/types.h>

enum launch_signal {
	SIGNAL_GOES_ON, /* the kernel may send it */
	SIGNAL_DONE, /* it was sent */
	SIGNAL_FAILED /* 'error' */
};
/* 'root' is the supervisor, 'thread' who sends. */
enum launch_signal launch_signal_serve(pid_t root, enum launch_call_index call,
				       const uint64_t args[6], pid_t thread, int *error);

#endif
