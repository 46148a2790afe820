/* SPDX-License-Identifier: MIT */
/*
 * What follows a vouched call that failed: asking, errno, and cancellation.
 *
 * A refused call is repeated at most once. Nothing here may be called twice that is not a system
 * call, and errno must stay as it is when a call succeeds.
 */
#include "call.h"

#include "birth.h"
#include "explain.h"
#include "libc.h"

#include <errno.h>
#include <pthread.h>

bool shim_is_refusal(long result)
{
	return SBX_IS_REFUSAL(-result);
}

int shim_errno(void)
{
	return __errno_location ? *__errno_location() : 0;
}

void shim_set_errno(int error)
{
	if (__errno_location)
		*__errno_location() = error;
}

int shim_fail(long result)
{
	shim_set_errno((int)-result);
	return -1;
}

static long ask(const struct shim_call *call)
{
	uint64_t before = shim_block_signals();
	long result = shim_raw(call->number, call->args[0], call->args[1], call->args[2],
			       call->args[3], call->args[4], (long)SBX_ASK);

	shim_restore_signals(before);
	return result;
}

long shim_ask(const struct shim_call *call, long result)
{
	if (!shim_is_refusal(result))
		return result;
	if (SHIM_UNLIKELY(shim_explains()) && shim_explain(call, &result))
		return result;
	return ask(call);
}

long shim_try(long number, long a, long b, long c, long d, long e)
{
	long result = shim_quietly(number, a, b, c, d, e);

	if (!shim_is_refusal(result) || (result == -EFBIG && number == SYS_truncate))
		return result;
	return shim_ask(&(struct shim_call){ number, { a, b, c, d, e } }, result);
}

long shim_retry(long number, long a, long b, long c, long d, long e, long result)
{
	result = shim_ask(&(struct shim_call){ number, { a, b, c, d, e } }, result);
	return shim_is_error(result) ? shim_fail(result) : result;
}

long shim_vouch_whole(long number, long a, long b, long c, long d, long e)
{
	long result = shim_try(number, a, b, c, d, e);

	if (result == -EINTR)
		result = ask(&(struct shim_call){ number, { a, b, c, d, e } });
	return shim_is_error(result) ? shim_fail(result) : result;
}

long shim_ask_first(long number, long a, long b, long c, long d, long e)
{
	long result;

	if (SHIM_UNLIKELY(shim_explains()))
		return shim_vouch(number, a, b, c, d, e);
	result = ask(&(struct shim_call){ number, { a, b, c, d, e } });
	return shim_is_error(result) ? shim_fail(result) : result;
}

/*
 * As glibc did until 2.40: whoever is cancelled while the call waits ends in the middle of it. Only
 * the call itself may stand between the two lines, because nothing would clean up after the rest.
 */
static long cancellably(const struct shim_call *call)
{
	long result;
	int type;

	if (pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type)) /* NOLINT(cert-pos47-c) */
		type = PTHREAD_CANCEL_DEFERRED;
	result = shim_raw(call->number, call->args[0], call->args[1], call->args[2], call->args[3],
			  call->args[4], (long)SBX_VOUCHER);
	(void)pthread_setcanceltype(type, &type);
	return result;
}

static long vouch_cancellably(long number, long a, long b, long c, long d, long e)
{
	struct shim_call call = { number, { a, b, c, d, e } };
	long result = shim_ask(&call, cancellably(&call));

	return shim_is_error(result) ? shim_fail(result) : result;
}

/* musl does not say; it has the function in any case. */
bool shim_is_alone(void)
{
	return !pthread_setcanceltype || (&__libc_single_threaded && __libc_single_threaded);
}

long shim_vouch_cancellable(long number, long a, long b, long c, long d, long e)
{
	if (!shim_is_alone())
		return vouch_cancellably(number, a, b, c, d, e);
	return shim_vouch(number, a, b, c, d, e);
}
