/* SPDX-License-Identifier: MIT */
/*
 * The tables of syscalls.def, and what they say to one call. Pure: makes no system calls, and has
 * no memory but the tables.
 */
#include "calls.h"

#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/fsverity.h>
#include <linux/mempolicy.h>
#include <linux/msdos_fs.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* What libseccomp 2.5 cannot name. Since 424 a number means the same on every architecture. */
#undef __SNR_cachestat
#undef __SNR_fchmodat2
#undef __SNR_map_shadow_stack
#undef __SNR_futex_wake
#undef __SNR_futex_wait
#undef __SNR_futex_requeue
#undef __SNR_statmount
#undef __SNR_listmount
#undef __SNR_lsm_get_self_attr
#undef __SNR_lsm_set_self_attr
#undef __SNR_lsm_list_modules
#undef __SNR_mseal
#define __SNR_cachestat 451
#define __SNR_fchmodat2 452
#define __SNR_map_shadow_stack 453
#define __SNR_futex_wake 454
#define __SNR_futex_wait 455
#define __SNR_futex_requeue 456
#define __SNR_statmount 457
#define __SNR_listmount 458
#define __SNR_lsm_get_self_attr 459
#define __SNR_lsm_set_self_attr 460
#define __SNR_lsm_list_modules 461
#define __SNR_mseal 462

/* What headers hide or may lack. */
#define SOCK_TYPE 0xfu /* the kernel's SOCK_TYPE_MASK: the other bits are flags */
#define IOPRIO_WHO_PROCESS 1
#ifndef IPV6_FLOWLABEL_MGR
#define IPV6_FLOWLABEL_MGR 32 /* in a header that does not go with the C library's */
#endif
/* In no header: FS_IOC_SETVERSION as ext4 once called it, and what gives files extents and blocks. */
#define EXT4_IOC_SETVERSION _IOW('f', 4, long)
#define EXT4_IOC_MIGRATE _IO('f', 9)
#define EXT4_IOC_ALLOC_DA_BLKS _IO('f', 12)
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif

static const struct launch_call calls[] = {
#define CALL(group, name, verdict, loosenable, reason) \
	{ "@" #group, #name, __SNR_##name, CALL_##verdict, loosenable, reason },
#include "syscalls.def"
};

#define TEST(n, part, bits, same)           \
	{                                   \
		(part), (bits), (n), (same) \
	}
#define IS(n, bits) TEST(n, UINT32_MAX, bits, true)
#define PART(n, part, bits) TEST(n, part, bits, true)
#define ONLY(n, bits) TEST(n, ~(uint32_t)(bits), 0, true)
#define ANY(n, bits) TEST(n, bits, 0, false)
#define ALWAYS TEST(0, 0, 0, true)

static const struct launch_rule rules[] = {
#define ARG(call, outcome, ...) { LAUNCH_CALL_##call, ARG_##outcome, { __VA_ARGS__ } },
#include "syscalls.def"
};

static const struct sbx_path_call paths[LAUNCH_CALL_COUNT] = {
#define PATH_CALL(name, ...) [LAUNCH_CALL_##name] = SBX_PATH_CALL(__VA_ARGS__),
#include "pathcalls.def"
#define PATH_CALL(name, ...) [LAUNCH_CALL_##name] = SBX_PATH_CALL(__VA_ARGS__),
#include "metacalls.def"
};

static const struct launch_look looks[LAUNCH_CALL_COUNT] = {
#define LOOK(name, act, dir, path, out, more, flags)                            \
	[LAUNCH_CALL_##name] = { LOOK_##act,	SBX_ARG_##dir,	SBX_ARG_##path, \
				 SBX_ARG_##out, SBX_ARG_##more, SBX_ARG_##flags },
#include "looks.def"
};

const struct launch_look *launch_call_look(enum launch_call_index call)
{
	return &looks[call];
}

bool launch_call_is_watch(enum launch_call_index call)
{
	return looks[call].act == LOOK_WATCH;
}

const struct sbx_path_call *launch_call_path(enum launch_call_index call)
{
	return &paths[call];
}

bool launch_call_is_unheld(enum launch_call_index call)
{
	return paths[call].act >= SBX_ACT_MODE;
}

const struct launch_call *launch_calls(size_t *count)
{
	*count = LAUNCH_CALL_COUNT;
	return calls;
}

const struct launch_rule *launch_rules(size_t *count)
{
	*count = sizeof(rules) / sizeof(rules[0]);
	return rules;
}

const struct launch_call *launch_call_find(const char *name)
{
	for (size_t i = 0; i < LAUNCH_CALL_COUNT; i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

static bool is_about(const struct launch_rule *rule, const struct launch_call *call)
{
	return call == &calls[rule->call];
}

bool launch_call_asks(const struct launch_call *call)
{
	if (call->verdict != CALL_ARGS)
		return call->verdict == CALL_REFUSE;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (is_about(&rules[i], call) &&
		    (rules[i].outcome == ARG_REFUSE || rules[i].outcome == ARG_TELL))
			return true;
	return false;
}

bool launch_call_is_signal(enum launch_call_index call)
{
	switch (call) {
	case LAUNCH_CALL_kill:
	case LAUNCH_CALL_tkill:
	case LAUNCH_CALL_tgkill:
	case LAUNCH_CALL_rt_sigqueueinfo:
	case LAUNCH_CALL_rt_tgsigqueueinfo:
	case LAUNCH_CALL_pidfd_send_signal:
	case LAUNCH_CALL_fcntl: /* F_SETOWN and F_SETOWN_EX of it */
		return true;
	default:
		return false;
	}
}

bool launch_call_is_birth(enum launch_call_index call)
{
	return call == LAUNCH_CALL_clone || call == LAUNCH_CALL_fork || call == LAUNCH_CALL_vfork;
}

static bool holds(const struct launch_rule *rule, const uint64_t args[6])
{
	for (size_t i = 0; i < LAUNCH_TESTS && rule->tests[i].mask; i++) {
		const struct launch_test *test = &rule->tests[i];

		if ((((uint32_t)args[test->arg] & test->mask) == test->value) != test->equal)
			return false;
	}
	return true;
}

enum launch_outcome launch_call_judge(const struct launch_call *call, const uint64_t args[6])
{
	if (call->verdict == CALL_ALLOW)
		return ARG_ALLOW;
	if (call->verdict != CALL_ARGS)
		return ARG_REFUSE;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (is_about(&rules[i], call) && holds(&rules[i], args))
			return rules[i].outcome;
	return ARG_REFUSE;
}
