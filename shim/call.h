/* SPDX-License-Identifier: MIT */
/*
 * The life of a call in the program: vouched first; where that is refused, once more, asking.
 *
 * What is inline here is all that an allowed call costs. It must never look at a path, at the
 * environment or at a file.
 */
#ifndef SHIM_CALL_H
#define SHIM_CALL_H

#include "raw.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "contract.h"

#define SHIM_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

/* A system call and its arguments. */
struct shim_call {
	long number;
	long args[5];
};

static inline bool shim_is_error(long result)
{
	return (unsigned long)result > -4096UL;
}

/* A call that nobody is to be asked about. */
static inline long shim_quietly(long number, long a, long b, long c, long d, long e)
{
	return shim_raw(number, a, b, c, d, e, (long)SBX_VOUCHER);
}

/* Whether a sandbox could have given this result. */
bool shim_is_refusal(long result);

/* The result of asking about what ended with 'result', which stands when it was no refusal. */
long shim_ask(const struct shim_call *call, long result);

/* errno, from outside; 0 and nothing where there is no libc to have one. */
int shim_errno(void);
void shim_set_errno(int error);

/* -1, with errno set from the result. */
int shim_fail(long result);

/* Vouched, then asked; the kernel's result. */
long shim_try(long number, long a, long b, long c, long d, long e);
/* The same as libc returns it, for what failed: -1 and errno when it fails again. */
long shim_retry(long number, long a, long b, long c, long d, long e, long result)
	__attribute__((cold));

static inline long shim_vouch(long number, long a, long b, long c, long d, long e)
{
	long result = shim_quietly(number, a, b, c, d, e);

	if (SHIM_UNLIKELY(shim_is_error(result)))
		return shim_retry(number, a, b, c, d, e, result);
	return result;
}

/*
 * What the supervisor is asked about whatever it carries. WHOLE is for what no signal can interrupt: one
 * that comes before the supervisor has heard of the call would. FIRST is for what can wait, where the
 * supervisor sees to signals.
 */
long shim_vouch_whole(long number, long a, long b, long c, long d, long e);
long shim_ask_first(long number, long a, long b, long c, long d, long e);

/* Whether there are no other threads, as far as libc says. */
bool shim_is_alone(void);

/* For functions that a thread can be cancelled in; cancellation needs other threads. */
long shim_vouch_cancellable(long number, long a, long b, long c, long d, long e);

#endif
