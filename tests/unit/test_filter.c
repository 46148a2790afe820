/* SPDX-License-Identifier: MIT */
/*
 * The base filter, both variants, run in an interpreter over every number, every argument rule and
 * its neighbours; and what [syscalls] may ask. What must be refused is listed here once more, by
 * hand: a slip in syscalls.def must not be a slip in its test. Loads no filter.
 */
#include "calls.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <tap.h>
#include <unistd.h>

#include "bpf.h"
#include "syscalls.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALLOWED SECCOMP_RET_ALLOW
#define FAILS(code) (SECCOMP_RET_ERRNO | (code))
#define HIGH UINT64_C(0xa5a5a5a500000000)

enum {
	LISTENING = 1,
	STANDALONE = 0
};

static const struct sock_fprog *program_of(bool listening)
{
	static struct launch_program built;
	static struct sock_fprog program;

	if (!listening)
		return &launch_filter_standalone;
	if (!program.len && launch_filter_build(true, NULL, &built) < 0)
		BAIL_OUT("the base filter cannot be built");
	program = (struct sock_fprog){ built.len, built.code };
	return &program;
}

static uint32_t ask(bool listening, int number, const uint64_t args[6])
{
	struct seccomp_data data = { .nr = number, .arch = seccomp_arch_native() };

	for (size_t i = 0; args && i < 6; i++)
		data.args[i] = args[i];
	return bpf_run(program_of(listening), &data);
}

static const struct launch_call *call_by_number(int number)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < count; i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

static int number_of(const char *name)
{
	const struct launch_call *call = launch_call_find(name);

	return call ? call->number : -1;
}

static uint32_t ask3(bool listening, const char *name, uint64_t a, uint64_t b, uint64_t c)
{
	return ask(listening, number_of(name), (const uint64_t[6]){ a, b, c });
}

/* The lists of the threat model, as it has them. */
static const char *const refused[] = {
	"ptrace",
	"process_vm_readv",
	"process_vm_writev",
	"pidfd_getfd",
	"process_madvise",
	"kcmp",
	"bpf",
	"perf_event_open",
	"userfaultfd",
	"keyctl",
	"add_key",
	"request_key",
	"mount",
	"umount2",
	"pivot_root",
	"chroot",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsconfig",
	"fsmount",
	"fspick",
	"mount_setattr",
	"setns",
	"unshare",
	"open_by_handle_at",
	"name_to_handle_at",
	"swapon",
	"swapoff",
	"reboot",
	"kexec_load",
	"kexec_file_load",
	"init_module",
	"finit_module",
	"delete_module",
	"create_module",
	"query_module",
	"quotactl",
	"quotactl_fd",
	"acct",
	"settimeofday",
	"clock_settime",
	"adjtimex",
	"clock_adjtime",
	"sethostname",
	"setdomainname",
	"iopl",
	"ioperm",
	"modify_ldt",
	"uselib",
	"ustat",
	"sysfs",
	"syslog",
	"vhangup",
	"lookup_dcookie",
	"fanotify_init",
	"fanotify_mark",
	"migrate_pages",
	"move_pages",
	"mbind",
	"shmget",
	"shmat",
	"shmctl",
	"shmdt",
	"msgget",
	"msgsnd",
	"msgrcv",
	"msgctl",
	"semget",
	"semop",
	"semtimedop",
	"semctl",
	"mq_open",
	"mq_unlink",
	"memfd_secret",
	"vmsplice",
};
static const char *const unheard[] = { "clone3", "io_uring_setup", "io_uring_enter",
				       "io_uring_register" };
static const char *const unsupported[] = {
	"setxattr",  "lsetxattr",  "fsetxattr",	 "getxattr",	"lgetxattr",	"fgetxattr",
	"listxattr", "llistxattr", "flistxattr", "removexattr", "lremovexattr", "fremovexattr",
};

static void check_list(const char *const *names, size_t count, uint32_t standalone,
		       uint32_t listening, const char *what)
{
	size_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t alone = ask(STANDALONE, number_of(names[i]), NULL);
		uint32_t heard = ask(LISTENING, number_of(names[i]), NULL);

		if (alone == standalone && heard == listening)
			continue;
		diag("%s: %#x without a listener, %#x with one", names[i], alone, heard);
		wrong++;
	}
	ok(!wrong, "%s", what);
}

static uint32_t expected(const struct launch_call *call, bool listening)
{
	if (!call || call->verdict == CALL_ENOSYS)
		return FAILS(ENOSYS);
	if (call->verdict == CALL_EOPNOTSUPP)
		return FAILS(EOPNOTSUPP);
	return call->verdict == CALL_ALLOW || listening ? ALLOWED : FAILS(EPERM);
}

static void test_numbers(bool listening)
{
	static const int beyond[] = { 601, 1000, 4095, 0x3fffffff, -1 };
	size_t wrong = 0;

	for (int number = 0; number <= 600; number++) {
		const struct launch_call *call = call_by_number(number);
		uint32_t got = ask(listening, number, NULL);

		if ((call && call->verdict == CALL_ARGS) || got == expected(call, listening))
			continue;
		diag("%d (%s): %#x", number, call ? call->name : "no row", got);
		wrong++;
	}
	ok(!wrong, "every number from 0 to 600 gets what its row says, or ENOSYS");
	for (size_t i = 0; i < COUNT(beyond); i++)
		cmp_ok(ask(listening, beyond[i], NULL), "==", FAILS(ENOSYS), "ENOSYS for %d",
		       beyond[i]);
}

static void test_foreign(bool listening)
{
	static const uint32_t foreign[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_MIPS, 0 };
	const struct sock_fprog *program = program_of(listening);
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT(foreign); i++)
		for (int number = 0; number < 600; number++)
			wrong += bpf_run(program, &(struct seccomp_data){ .nr = number,
									  .arch = foreign[i] }) !=
				 SECCOMP_RET_KILL_PROCESS;
	ok(!wrong, "every call of another architecture ends the process");

	skip(seccomp_arch_native() != SCMP_ARCH_X86_64, 1, "x32 is a matter of x86-64");
	for (int number = 0; number < 600; number++)
		wrong += ask(listening, 0x40000000 | number, NULL) != SECCOMP_RET_KILL_PROCESS;
	ok(!wrong, "every x32 call ends the process");
	end_skip;
}

static void test_shape(bool listening)
{
	const struct sock_fprog *program = program_of(listening);
	size_t wrong = 0;

	for (uint32_t i = 0; i < program->len; i++) {
		const struct sock_filter *at = &program->filter[i];

		wrong += at->code == (BPF_RET | BPF_K) &&
			 (at->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
	}
	ok(bpf_is_sound(program), "the program of %u instructions is well formed", program->len);
	ok(!wrong, "and no mark is left in it");
}

/*
 * What must be answered when argument 'arg' of a call has this value in its lower half. All other
 * arguments vary, and the upper halves too: an answer that depends on them is wrong.
 */
struct probe {
	const char *name;
	unsigned int arg;
	uint32_t value;
	uint32_t standalone;
	uint32_t listening;
};

static bool probe_holds(const struct probe *probe)
{
	static const uint64_t others[] = { 0, HIGH, UINT64_MAX, 0x20000000 };
	bool right = true;

	for (size_t i = 0; i < COUNT(others); i++) {
		uint64_t args[6];
		uint32_t alone, heard;

		for (size_t n = 0; n < 6; n++)
			args[n] = others[i];
		args[probe->arg] = probe->value | (others[i] & ~(uint64_t)UINT32_MAX);
		alone = ask(STANDALONE, number_of(probe->name), args);
		heard = ask(LISTENING, number_of(probe->name), args);
		if (alone == probe->standalone && heard == probe->listening)
			continue;
		diag("%s with args[%u] = %#jx: %#x without a listener, %#x with one", probe->name,
		     probe->arg, (uintmax_t)args[probe->arg], alone, heard);
		right = false;
	}
	return right;
}

/* Bit by bit: the call fails exactly with the bits of 'mask'. */
static void test_bits(const char *name, unsigned int arg, uint32_t mask, uint32_t standalone,
		      uint32_t listening)
{
	bool right = true;

	for (unsigned int bit = 0; bit < 32; bit++) {
		uint32_t value = UINT32_C(1) << bit;
		bool hit = value & mask;
		struct probe probe = { name, arg, value, hit ? standalone : ALLOWED,
				       hit ? listening : ALLOWED };
		struct probe without = { name, arg, ~mask & ~value, ALLOWED, ALLOWED };
		struct probe with = { name, arg, value | ~mask, probe.standalone, probe.listening };

		right &= probe_holds(&probe) && probe_holds(&without) && probe_holds(&with);
	}
	ok(right, "%s: exactly the bits %#x of argument %u are refused", name, mask, arg);
}

/* One value after the other: the call fails exactly with those listed, which 0 ends. */
static void test_values(const char *name, unsigned int arg, uint32_t from, uint32_t to,
			const uint32_t *bad, uint32_t code)
{
	bool right = true;

	for (uint32_t value = from; value < to; value++) {
		uint32_t answer = ALLOWED;

		for (size_t i = 0; bad[i]; i++)
			if (bad[i] == value)
				answer = code;
		right &= probe_holds(&(struct probe){ name, arg, value, answer, answer });
	}
	ok(right, "%s: of %#x to %#x as argument %u only the listed are refused", name, from, to,
	   arg);
}

/* Whoever wants to be looked at by nobody is told so; whoever wants to be looked at is. */
static void test_dumpable(void)
{
	for (uint64_t value = 0; value < 4; value++) {
		uint64_t args[6] = { PR_SET_DUMPABLE, value };
		uint32_t answer = value ? ALLOWED : FAILS(0);

		ok(ask(STANDALONE, number_of("prctl"), args) == answer &&
			   ask(LISTENING, number_of("prctl"), args) == answer,
		   "PR_SET_DUMPABLE %d %s", (int)value, value ? "passes" : "is only answered");
	}
}

/* IP_OPTIONS; and IPV6_2292RTHDR, IPV6_2292PKTOPTIONS, IPV6_FLOWLABEL_MGR, IPV6_RTHDR. */
static bool is_route(uint64_t level, uint64_t name)
{
	return (level == 0 && name == 4) ||
	       (level == 41 && (name == 5 || name == 6 || name == 32 || name == 57));
}

/* IP_ADD_MEMBERSHIP to MCAST_MSFILTER; IPV6_JOIN_GROUP, IPV6_JOIN_ANYCAST and their likes. */
static bool is_group(uint64_t level, uint64_t name)
{
	return (level == 0 && name >= 35 && name <= 48) ||
	       (level == 41 && (name == 20 || name == 21 || name == 27 || name == 28 ||
				(name >= 42 && name <= 48)));
}

static void test_options(void)
{
	size_t wrong = 0;

	for (uint64_t level = 0; level < 64; level++) {
		for (uint64_t name = 0; name < 128; name++) {
			bool route = is_route(level, name), group = is_group(level, name);

			wrong += ask3(STANDALONE, "setsockopt", 3, HIGH | level, name) !=
				 (route || group ? FAILS(EPERM) : ALLOWED);
			wrong += ask3(LISTENING, "setsockopt", 3, level, HIGH | name) !=
				 (route ? FAILS(EPERM) : ALLOWED);
		}
	}
	cmp_ok(wrong, "==", 0, "setsockopt: only source routes and groups are refused");
}

/* Refused whatever the mode is; in silence where it is a probe. */
static void test_mempolicy(void)
{
	size_t wrong = 0;

	for (uint64_t mode = 0; mode < 64; mode++) {
		bool probe = mode == 0 || mode == 5;

		wrong += ask3(STANDALONE, "set_mempolicy", mode, 0, 0) != FAILS(EPERM);
		wrong += ask3(LISTENING, "set_mempolicy", mode, 0, 0) !=
			 (probe ? FAILS(EPERM) : ALLOWED);
	}
	cmp_ok(wrong, "==", 0, "set_mempolicy: only what libnuma probes is refused in silence");
}

static void test_flags(void)
{
	static const uint32_t tty[] = { 0x5412, 0x541c, 0 }; /* TIOCSTI, TIOCLINUX */
	/* FS_IOC_SETFLAGS, EXT4_IOC_SETVERSION */
	static const uint32_t flags[] = { 0x40086602, 0x40086604, 0 };
	static const uint32_t ext4[] = { 0x6609, 0x660c, 0 }; /* EXT4_IOC_MIGRATE, _ALLOC_DA_BLKS */
	static const uint32_t fsx[] = { 0x401c5820, 0 }; /* FS_IOC_FSSETXATTR */
	static const uint32_t mm[] = { 35, 0 }; /* PR_SET_MM */
	static const uint32_t own[] = { 0x8901, 0x8902, 0 }; /* FIOSETOWN, SIOCSPGRP */

	test_bits("clone", 0, 0x7e020000, FAILS(EPERM), ALLOWED);
	test_bits("sendto", 3, 0x20000000, FAILS(EACCES), FAILS(EACCES));
	test_bits("sendmsg", 2, 0x20000000, FAILS(EACCES), FAILS(EACCES));
	test_bits("sendmmsg", 3, 0x20000000, FAILS(EACCES), FAILS(EACCES));
	test_bits("personality", 0, ~UINT32_C(0x0240000), FAILS(EPERM), FAILS(EPERM));
	test_values("ioctl", 1, 0x5300, 0x5600, tty, FAILS(EPERM));
	test_values("ioctl", 1, 0x40086500, 0x40086700, flags, FAILS(EOPNOTSUPP));
	test_values("ioctl", 1, 0x6500, 0x6700, ext4, FAILS(EOPNOTSUPP));
	test_values("ioctl", 1, 0x401c5800, 0x401c5900, fsx, FAILS(EOPNOTSUPP));
	/* 4 is PR_SET_DUMPABLE, which depends on another argument. */
	test_values("ioctl", 1, 0x8900, 0x8a00, own, FAILS(EPERM));
	test_values("prctl", 0, 0, 4, mm, FAILS(EPERM));
	test_values("prctl", 0, 5, 256, mm, FAILS(EPERM));
	test_dumpable();
	test_options();
	cmp_ok(ask3(STANDALONE, "personality", 0xffffffff, 0, 0), "==", ALLOWED,
	       "personality: query");
	cmp_ok(ask3(STANDALONE, "personality", HIGH, 0, 0), "==", ALLOWED,
	       "personality: the kernel does not see the upper half");
	cmp_ok(ask3(STANDALONE, "personality", 0x0240000, 0, 0), "==", ALLOWED,
	       "personality: both harmless flags");
	cmp_ok(ask3(STANDALONE, "personality", 0x0400000, 0, 0), "==", FAILS(EPERM),
	       "personality: READ_IMPLIES_EXEC");
	cmp_ok(ask3(STANDALONE, "personality", 0x0640000, 0, 0), "==", FAILS(EPERM),
	       "personality: a flag among harmless ones");
	cmp_ok(ask3(STANDALONE, "personality", 8, 0, 0), "==", FAILS(EPERM),
	       "personality: PER_LINUX32");
	cmp_ok(ask3(STANDALONE, "ioctl", 0, TIOCSTI | UINT64_C(1) << 32, 0), "==", FAILS(EPERM),
	       "TIOCSTI with bit 32 set is TIOCSTI");
}

static bool socket_is_plain(uint32_t family, uint32_t type, uint32_t protocol)
{
	if (family == 1)
		return true;
	if (family == 16)
		return protocol == 0;
	return (family == 2 || family == 10) && ((type == 1 && (protocol == 0 || protocol == 6)) ||
						 (type == 2 && (protocol == 0 || protocol == 17)));
}

static bool ask_socket(bool listening, uint64_t upper, uint32_t n)
{
	static const uint32_t flags[] = { 0, SOCK_NONBLOCK, SOCK_CLOEXEC,
					  SOCK_NONBLOCK | SOCK_CLOEXEC };
	uint32_t family = n & 63, type = n >> 6 & 15, protocol = n >> 12;
	const uint64_t args[6] = { upper | family, upper | type | flags[n >> 10 & 3],
				   upper | protocol };
	bool plain = socket_is_plain(family, type, protocol);

	/* With a listener it is the notify filter's to ask about (test_listen.c). */
	return ask(listening, __SNR_socket, args) == (plain || listening ? ALLOWED : FAILS(EPERM));
}

static void test_sockets(bool listening)
{
	size_t wrong = 0;

	for (uint32_t n = 0; n < 300 << 12; n++)
		wrong += !ask_socket(listening, 0, n) || !ask_socket(listening, HIGH, n);
	cmp_ok(wrong, "==", 0, "socket: only UNIX, TCP, UDP and NETLINK_ROUTE, of 1.2 million");
	for (uint32_t bit = 8; bit < 32; bit++)
		wrong += ask3(listening, "socket", 2 | UINT32_C(1) << bit, 1, 0) !=
			 (listening ? ALLOWED : FAILS(EPERM));
	cmp_ok(wrong, "==", 0, "socket: a family with a stray bit is another family");
	cmp_ok(ask3(listening, "socketpair", 1, 1, 0), "==", ALLOWED, "socketpair: UNIX");
	cmp_ok(ask3(listening, "socketpair", HIGH | 1, 1, 0), "==", ALLOWED,
	       "socketpair: upper half");
	cmp_ok(ask3(listening, "socketpair", 30, 1, 0), "==", FAILS(EPERM), "socketpair: TIPC");
}

static void test_seccomp_call(bool listening)
{
	static const struct {
		uint64_t op, flags;
		uint32_t answer;
		const char *what;
	} cases[] = {
		{ 1, 0, ALLOWED, "a filter" },
		{ 1, 1, ALLOWED, "a filter for all threads" },
		{ 1, 8, FAILS(EPERM), "a listener" },
		{ 1, 8 | 16 | 1, FAILS(EPERM), "a listener among other flags" },
		{ HIGH | 1, HIGH | 8, FAILS(EPERM), "a listener with upper halves" },
		{ 1, UINT64_C(8) << 32, ALLOWED, "the flag's bit in the upper half only" },
		{ 0, 0, ALLOWED, "strict mode" },
		{ 2, 8, ALLOWED, "asking about actions" },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		cmp_ok(ask3(listening, "seccomp", cases[i].op, cases[i].flags, 0),
		       "==", cases[i].answer, "seccomp: %s", cases[i].what);
}

static void test_others(void)
{
	static const char *const by_pid[] = { "prlimit64", "sched_setparam", "sched_setscheduler",
					      "sched_setattr", "sched_setaffinity" };

	for (size_t i = 0; i < COUNT(by_pid); i++) {
		struct probe own = { by_pid[i], 0, 0, ALLOWED, ALLOWED };
		struct probe other = { by_pid[i], 0, 1, FAILS(EPERM), ALLOWED };
		struct probe last = { by_pid[i], 0, 0x80000000, FAILS(EPERM), ALLOWED };

		ok(probe_holds(&own) && probe_holds(&other) && probe_holds(&last),
		   "%s: of the caller only, unless somebody listens", by_pid[i]);
	}
	cmp_ok(ask3(STANDALONE, "setpriority", 0, 0, 5), "==", ALLOWED, "setpriority: own");
	cmp_ok(ask3(STANDALONE, "setpriority", 0, 1, 5), "==", FAILS(EPERM), "setpriority: other");
	cmp_ok(ask3(STANDALONE, "setpriority", 2, 0, 5), "==", FAILS(EPERM), "setpriority: user");
	cmp_ok(ask3(LISTENING, "setpriority", 0, 1, 5), "==", ALLOWED, "setpriority: listener's");
	cmp_ok(ask3(STANDALONE, "ioprio_set", 1, 0, 5), "==", ALLOWED, "ioprio_set: own");
	cmp_ok(ask3(STANDALONE, "ioprio_set", 1, 1, 5), "==", FAILS(EPERM), "ioprio_set: other");
}

/* Rows are whole: found by name and by number, with a reason where they need one. */
static void test_table(void)
{
	size_t count, wrong = 0, asks = 0;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < count; i++) {
		wrong += launch_call_find(calls[i].name) != &calls[i];
		wrong += call_by_number(calls[i].number) != &calls[i];
		wrong += calls[i].verdict != CALL_ALLOW && !calls[i].reason[0];
		wrong += calls[i].verdict == CALL_ALLOW && calls[i].loosenable;
		asks += launch_call_asks(&calls[i]);
	}
	ok(!wrong, "each of %zu rows has its own name and number, and a reason where it refuses",
	   count);
	ok(asks > COUNT(refused), "%zu calls are a listener's", asks);
	ok(!launch_call_find("opena") && !launch_call_find(""), "other names are not found");
}

static void test_judge(void)
{
	size_t count, wrong = 0;
	const struct launch_call *calls = launch_calls(&count);
	static const uint32_t bits[] = { 0,  1,	 2,  6,	     8,		 10,
					 16, 35, 36, 0x5412, 0x20000000, 0x10000011 };

	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < COUNT(bits) * COUNT(bits) * COUNT(bits); n++) {
			uint64_t args[6] = { bits[n % COUNT(bits)],
					     bits[n / COUNT(bits) % COUNT(bits)],
					     bits[n / COUNT(bits) / COUNT(bits)],
					     bits[n % COUNT(bits)] };
			bool passes = ask(STANDALONE, calls[i].number, args) == ALLOWED;
			bool heard = ask(LISTENING, calls[i].number, args) == ALLOWED;
			enum launch_outcome outcome = launch_call_judge(&calls[i], args);

			wrong += passes != (outcome == ARG_ALLOW || outcome == ARG_TELL);
			wrong += passes != heard && !launch_call_asks(&calls[i]);
			wrong += passes != heard && outcome != ARG_REFUSE;
		}
	cmp_ok(wrong, "==", 0, "what passes only for a listener, the listener knows to refuse");
}

/* The same table by libseccomp, without the calls whose arguments decide. */
static bool build_by_libseccomp(bool listening, struct launch_program *program)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int fd = memfd_create("filter", MFD_CLOEXEC), failed = !context || fd < 0;
	ssize_t len = 0;

	failed =
		failed || seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	for (size_t i = 0; i < count && !failed; i++) {
		uint32_t want = expected(&calls[i], listening);

		if (calls[i].number >= 0 && calls[i].verdict != CALL_ARGS && want != FAILS(ENOSYS))
			failed = seccomp_rule_add_exact(context, want, calls[i].number, 0);
	}
	if (!failed && !seccomp_export_bpf(context, fd))
		len = pread(fd, program->code, sizeof(program->code), 0);
	program->len = (unsigned short)((size_t)(len > 0 ? len : 0) / sizeof(program->code[0]));
	close(fd);
	seccomp_release(context);
	return program->len > 0;
}

static void test_second_opinion(bool listening)
{
	static const uint32_t beyond[] = { 1000,       0x3fffffff, 0x40000000, 0x40000001,
					   0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff };
	static struct launch_program program;
	struct sock_fprog loaded = { .filter = program.code };
	size_t wrong = 0;

	ok(build_by_libseccomp(listening, &program), "libseccomp builds it too");
	loaded.len = program.len;
	for (uint32_t i = 0; i < 600 + COUNT(beyond); i++) {
		int number = (int)(i < 600 ? i : beyond[i - 600]);
		const struct launch_call *call = call_by_number(number);
		struct seccomp_data data = { .nr = number, .arch = seccomp_arch_native() };

		if (call && call->verdict == CALL_ARGS)
			continue;
		wrong += bpf_run(&loaded, &data) != ask(listening, number, NULL);
	}
	cmp_ok(wrong, "==", 0, "and gives the same answers, in %u instructions", program.len);
}

static void test_loosened(void)
{
	static struct launch_program program;
	bool loosened[LAUNCH_CALL_COUNT] = {
		[LAUNCH_CALL_ptrace] = true, [LAUNCH_CALL_personality] = true
	};
	struct sock_fprog loaded = { .filter = program.code };
	size_t wrong = 0;

	cmp_ok(launch_filter_build(false, loosened, &program), "==", 0,
	       "a loosened filter is built");
	loaded.len = program.len;
	for (int number = 0; number < 600; number++) {
		const uint64_t args[6] = { 0x0400000, TIOCSTI };
		struct seccomp_data data = { .nr = number,
					     .arch = seccomp_arch_native(),
					     .args = { args[0], args[1] } };
		bool named = number == __SNR_ptrace || number == __SNR_personality;

		wrong += bpf_run(&loaded, &data) !=
			 (named ? ALLOWED : ask(STANDALONE, number, args));
	}
	cmp_ok(wrong, "==", 0, "and differs from the built-in one in the two calls only");
}

static const struct {
	const char *body;
	const char *error; /* NULL: none */
} wishes[] = {
	{ "allow = ptrace", NULL },
	{ "allow = @debug, @ipc, @numa, personality", NULL },
	{ "allow = read, @poll", NULL },
	{ "deny = @network, chmod, ptrace, mount, clone3", NULL },
	{ "allow = ptrace\ndeny = ptrace", NULL },
	{ "allow = ptrac",
	  "ini:4: unknown system call 'ptrac' for 'allow' \\(did you mean 'ptrace'\\?\\)$" },
	{ "deny = chmod\nallow = @debgu",
	  "ini:5: unknown group '@debgu' for 'allow' \\(did you mean '@debug'\\?\\)$" },
	{ "deny = qqqqqqqqqq", "ini:4: unknown system call 'qqqqqqqqqq' for 'deny'$" },
	{ "deny = @qqqqqqqqqq", "ini:4: unknown group '@qqqqqqqqqq' for 'deny'$" },
	{ "deny = setxattrat", "ini:4: unknown system call 'setxattrat'" },
	{ "allow = mount",
	  "ini:4: system call 'mount' cannot be allowed: it changes what paths mean$" },
	{ "allow = io_uring_setup", "ini:4: system call 'io_uring_setup' cannot be allowed: " },
	{ "allow = clone3", "ini:4: system call 'clone3' cannot be allowed: " },
	{ "allow = bpf", "ini:4: system call 'bpf' cannot be allowed: " },
	{ "allow = socket", "ini:4: system call 'socket' cannot be allowed: " },
	{ "allow = setxattr", "ini:4: system call 'setxattr' cannot be allowed: " },
	{ "allow = @mount", "ini:4: group '@mount' cannot be allowed because of 'mount': " },
	{ "allow = @network", "ini:4: group '@network' cannot be allowed because of 'socket': " },
	{ "deny = execve", "ini:4: 'execve' cannot be denied: 'execve' starts the program$" },
	{ "deny = @exec", "ini:4: '@exec' cannot be denied: 'execve' starts the program$" },
	{ "deny = @sandbox", "ini:4: '@sandbox' cannot be denied: 'seccomp' starts the program$" },
};

static void test_wishes(void)
{
	for (size_t i = 0; i < COUNT(wishes); i++) {
		struct sbx_policy *policy = load_policy(wishes[i].body);
		struct launch_error error = { "" };
		int result = launch_filter_check(sbx_policy_image(policy), &error);

		if (wishes[i].error) {
			cmp_ok(result, "==", -EINVAL, "%s: is refused", wishes[i].body);
			like(error.text, wishes[i].error, "and says why");
		} else {
			cmp_ok(result, "==", 0, "%s: is fine", wishes[i].body);
		}
		sbx_free(policy);
	}
}

int main(void)
{
	plan(NO_PLAN);
	test_table();
	check_list(refused, COUNT(refused), FAILS(EPERM), ALLOWED, "the EPERM class is refused");
	check_list(unheard, COUNT(unheard), FAILS(ENOSYS), FAILS(ENOSYS),
		   "clone3 and io_uring: ENOSYS");
	check_list(unsupported, COUNT(unsupported), FAILS(EOPNOTSUPP), FAILS(EOPNOTSUPP),
		   "the xattr family is not supported");
	for (int listening = STANDALONE; listening <= LISTENING; listening++) {
		note("%s", listening ? "with a listener" : "without a listener");
		test_shape(listening);
		test_numbers(listening);
		test_foreign(listening);
		test_second_opinion(listening);
		test_sockets(listening);
		test_seccomp_call(listening);
	}
	test_mempolicy();
	test_flags();
	test_others();
	test_judge();
	test_loosened();
	test_wishes();
	done_testing();
}
