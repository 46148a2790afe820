/* SPDX-License-Identifier: MIT */
/*
 * What the launcher and the shim agree on. It has no secrets: the program can read all of it, and
 * whoever forges a voucher only goes without the explanation.
 *
 * Of the system calls that the notify filter knows none has a sixth argument, and the kernel ignores
 * that register. The shim puts one of two words there:
 *
 *	SBX_VOUCHER	pass: Landlock decides, and nobody is asked
 *	SBX_ASK		the call was refused a moment ago: the supervisor is asked, and explains
 *
 * A call with neither word is asked about too; but for those that open for reading, from code that
 * lies at SBX_QUIET_FROM or above, where the loader and libraries are: these pass.
 *
 * socket() always has SBX_ASK, and the address that it returns to as a fourth argument: which library
 * wants a socket tells whether that is worth a word.
 */
#ifndef SBX_CONTRACT_H
#define SBX_CONTRACT_H

#include <errno.h>
#include <stdint.h>

#define SBX_VOUCHER UINT64_C(0x53bd9a4e71c6f08d)
#define SBX_ASK UINT64_C(0xa7e14c3920d85b6f)

/*
 * What the shim takes for a refusal, and asks about; of any other error nobody asks a second time. EFBIG
 * is said of files that are too large for a policy. But not of truncate(): whoever meets a limit of its
 * own there gets a signal each time.
 */
#define SBX_IS_REFUSAL(error)                                                             \
	((error) == EACCES || (error) == EPERM || (error) == EROFS || (error) == EXDEV || \
	 (error) == EFBIG)

/* 0: there is no such zone on this architecture. */
#ifdef __x86_64__
#define SBX_QUIET_FROM UINT64_C(0x680000000000)
#else
#define SBX_QUIET_FROM UINT64_C(0)
#endif

/*
 * A name that could not be looked up is told by connect(-1, told, size, by, port, SBX_ASK), which
 * fails with EBADF whoever is asked: nobody but a supervisor would look at the address. The port is the
 * one that the name was wanted for, or 0; it changes words, and no verdict. So is a name that is
 * about to be looked up (SBX_TOLD_BEGINS in 'by'): who answers look-ups then leaves the words to who
 * knows the program, and which name it asked for.
 */
#define SBX_TOLD_FAMILY 0xfb58 /* no kernel's */
#define SBX_TOLD_NAME 254 /* a name of a host, without its NUL, fits */

struct sbx_told {
	uint16_t family;
	char name[SBX_TOLD_NAME];
};

/* By which function. */
enum sbx_told_by {
#define LOOKUP(name) SBX_TOLD_##name,
#include "lookups.def"
	SBX_TOLD_COUNT,
	SBX_TOLD_BEGINS = 1 << 8
};

#define SBX_SHIM_NAME "libsbx-shim.so"

/* The file that has the compiled policy in it. */
#define SBX_ENV_IMAGE "SANDBOX_SBX_IMAGE"
/* Set to "self" where nobody listens: the shim then explains by itself, from that file. */
#define SBX_ENV_EXPLAIN "SANDBOX_SBX_EXPLAIN"

#endif
