/* SPDX-License-Identifier: MIT */
/*
 * Calls that the supervisor is asked about, with all signals blocked.
 *
 * The kernel lets a signal end such a call as long as nobody has received it. Without a sandbox a fork,
 * or an open of an ordinary file, never ends with EINTR, and programs do not expect it.
 */
#ifndef SHIM_BIRTH_H
#define SHIM_BIRTH_H

#include "raw.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>

/* The kernel's own set: what was blocked before. */
static inline uint64_t shim_block_signals(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = 0;

	(void)shim_raw(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before, sizeof(all), 0, 0);
	return before;
}

static inline void shim_restore_signals(uint64_t before)
{
	(void)shim_raw(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0, sizeof(before), 0, 0);
}

/* libc's own fork, in both processes with the signals that were there; NULL is ENOSYS. */
pid_t shim_bear(pid_t (*real)(void));

#endif
