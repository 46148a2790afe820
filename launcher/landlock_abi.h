/* SPDX-License-Identifier: MIT */
/*
 * The kernel's Landlock interface up to ABI 7, in names of our own: the system's <linux/landlock.h>
 * may be older than the kernel, and must be able to stand beside this file.
 *
 * Only what the kernel defines; what sbx makes of it is in landlock.c.
 */
#ifndef SBX_LAUNCH_LANDLOCK_ABI_H
#define SBX_LAUNCH_LANDLOCK_ABI_H

#include <stdint.h>

#define LL_ABI_MAX 7 /* the newest that this file knows */

/* System calls; the same numbers on every architecture but alpha. */
enum {
	LL_SYS_CREATE_RULESET = 444,
	LL_SYS_ADD_RULE = 445,
	LL_SYS_RESTRICT_SELF = 446,
};

#define LL_CREATE_VERSION (1u << 0) /* create_ruleset: answer the ABI */
#define LL_RULE_PATH 1
#define LL_RULE_PORT 2

/* restrict_self, since ABI 7: what the audit log says of refusals. */
#define LL_LOG_SAME_EXEC_OFF (1u << 0)
#define LL_LOG_NEW_EXEC_ON (1u << 1)
#define LL_LOG_SUBDOMAINS_OFF (1u << 2)

struct ll_ruleset {
	uint64_t fs;
	uint64_t net; /* since ABI 4 */
	uint64_t scoped; /* since ABI 6 */
};

struct ll_path_rule {
	uint64_t access;
	int32_t fd;
} __attribute__((packed));

struct ll_port_rule {
	uint64_t access;
	uint64_t port;
};

#define LL_EXECUTE (UINT64_C(1) << 0)
#define LL_WRITE_FILE (UINT64_C(1) << 1)
#define LL_READ_FILE (UINT64_C(1) << 2)
#define LL_READ_DIR (UINT64_C(1) << 3)
#define LL_REMOVE_DIR (UINT64_C(1) << 4)
#define LL_REMOVE_FILE (UINT64_C(1) << 5)
#define LL_MAKE_CHAR (UINT64_C(1) << 6)
#define LL_MAKE_DIR (UINT64_C(1) << 7)
#define LL_MAKE_REG (UINT64_C(1) << 8)
#define LL_MAKE_SOCK (UINT64_C(1) << 9)
#define LL_MAKE_FIFO (UINT64_C(1) << 10)
#define LL_MAKE_BLOCK (UINT64_C(1) << 11)
#define LL_MAKE_SYM (UINT64_C(1) << 12)
#define LL_REFER (UINT64_C(1) << 13) /* ABI 2; before it nothing is ever linked across folders */
#define LL_TRUNCATE (UINT64_C(1) << 14) /* ABI 3; before it truncating is not looked at */
#define LL_IOCTL_DEV (UINT64_C(1) << 15) /* ABI 5 */

#define LL_BIND_TCP (UINT64_C(1) << 0) /* ABI 4 */
#define LL_CONNECT_TCP (UINT64_C(1) << 1)

#define LL_SCOPE_ABSTRACT (UINT64_C(1) << 0) /* ABI 6 */
#define LL_SCOPE_SIGNAL (UINT64_C(1) << 1)

/* Those that a rule on something other than a folder may have; any other there is EINVAL. */
#define LL_FILE_RIGHTS (LL_EXECUTE | LL_WRITE_FILE | LL_READ_FILE | LL_TRUNCATE | LL_IOCTL_DEV)

/* All that an ABI can hold, indexed by ABI. */
static const struct ll_ruleset ll_abis[LL_ABI_MAX + 1] = {
	[1] = { LL_REFER - 1, 0, 0 },
	[2] = { LL_TRUNCATE - 1, 0, 0 },
	[3] = { LL_IOCTL_DEV - 1, 0, 0 },
	[4] = { LL_IOCTL_DEV - 1, LL_BIND_TCP | LL_CONNECT_TCP, 0 },
	[5] = { (LL_IOCTL_DEV << 1) - 1, LL_BIND_TCP | LL_CONNECT_TCP, 0 },
	[6] = { (LL_IOCTL_DEV << 1) - 1, LL_BIND_TCP | LL_CONNECT_TCP,
		LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL },
	[7] = { (LL_IOCTL_DEV << 1) - 1, LL_BIND_TCP | LL_CONNECT_TCP,
		LL_SCOPE_ABSTRACT | LL_SCOPE_SIGNAL },
};

#endif
