/* SPDX-License-Identifier: MIT */
/*
 * syscalls.def becomes BPF: a search tree over ranges of numbers that get the same answer, and a tail
 * for each call whose arguments decide. (libseccomp's tree has a leaf for each call; this one has
 * half of its instructions. The tests compare both.)
 *
 * The tree also matters for what the kernel does when it loads a filter: it runs it once for every
 * number, to learn which calls always pass.
 *
 * In the tree a call with a tail answers SECCOMP_RET_TRACE with the number of its row, or of a tail
 * that many calls share. These instructions are then replaced by jumps to the tail: none may be left.
 */
#include "calls.h"

#include "contract.h"

#include <endian.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#define FOREIGN 0x40000000u /* where x32 begins, on x86-64 */
#define LONGEST 255 /* that a comparison can jump */
#define TAIL_MOST 16 /* instructions of a tail that is not made from rules */
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)

_Static_assert(LAUNCH_SOCKETS_LEN <= TAIL_MOST, "a tail has room");
_Static_assert((SBX_QUIET_FROM & UINT32_MAX) == 0, "the zone is told by upper halves");

/* Which filter is being built, and what the policy says to it. */
struct build {
	enum {
		STANDALONE, /* the base filter, which refuses by itself */
		LISTENING, /* the base filter before a notify filter, which refuses in words */
		NOTIFY,
		BOTH /* these two in one: whatever passes the first is for the second to judge */
	} role;
	const bool *loosened; /* or NULL */
	const struct launch_wishes *wishes; /* of NOTIFY and BOTH */
	struct launch_program *program;
};

/* The answer to all uses of a call whose arguments do not matter; also to what has no row. */
static uint32_t base_action(const struct build *build, enum launch_verdict verdict)
{
	switch (verdict) {
	case CALL_ALLOW:
		return SECCOMP_RET_ALLOW;
	case CALL_REFUSE:
		return build->role == STANDALONE ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW;
	case CALL_EOPNOTSUPP:
		return SECCOMP_RET_ERRNO | EOPNOTSUPP;
	case CALL_ENOSYS:
	case CALL_ARGS:
		break;
	}
	return SECCOMP_RET_ERRNO | ENOSYS;
}

static bool makes_sockets(size_t call)
{
	return call == LAUNCH_CALL_socket || call == LAUNCH_CALL_socketpair;
}

static uint32_t mark(size_t call)
{
	return SECCOMP_RET_TRACE | (uint32_t)call;
}

/* Tails of calls that Landlock decides; their marks come behind those of the rows. */
enum {
	TAIL_GOVERNED = LAUNCH_CALL_COUNT,
	TAIL_OPEN, /* the same, with flags in an argument, the number of which is added */
	TAIL_OWNER = TAIL_OPEN + 6, /* and fcntl(), where Landlock does not keep signals inside */
	TAIL_COUNT
};

static uint32_t governed_action(const struct build *build, const struct sbx_path_call *ask)
{
	if (build->wishes->hides)
		return SECCOMP_RET_USER_NOTIF;
	if (ask->act == SBX_ACT_CONNECT || ask->act == SBX_ACT_BIND) {
		bool file = ask->act == SBX_ACT_BIND && build->wishes->files;

		/* Destinations are the supervisor's to hold. */
		if (build->wishes->asks_network && build->wishes->metadata)
			return SECCOMP_RET_USER_NOTIF;
		if (!build->wishes->asks_network && !file)
			return SECCOMP_RET_ALLOW;
	}
	if (build->wishes->metadata &&
	    (ask->act == SBX_ACT_TRUNCATE || ask->act == SBX_ACT_OPEN_HOW))
		return SECCOMP_RET_USER_NOTIF;
	return mark(ask->act == SBX_ACT_OPEN ? TAIL_OPEN + (size_t)ask->flags : TAIL_GOVERNED);
}

/* Whatever its arguments are, and whatever words it carries: no layer is behind it. */
static uint32_t unheld_action(const struct build *build, const struct sbx_path_call *ask)
{
	bool asks = build->wishes->metadata;

	if (ask->act == SBX_ACT_MEMFD)
		asks = build->wishes->memfd;
	else if (ask->act == SBX_ACT_LISTEN)
		asks = asks && build->wishes->asks_network;
	return asks ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

/*
 * Who only looks, where something is hidden. An old way to list, which nothing needs any more, is not
 * there; nor are handles, which stand for files without a name.
 */
static uint32_t look_action(size_t i)
{
	if (i == LAUNCH_CALL_getdents)
		return SECCOMP_RET_ERRNO | ENOSYS;
	if (i == LAUNCH_CALL_name_to_handle_at)
		return SECCOMP_RET_ERRNO | EOPNOTSUPP;
	return launch_call_look((enum launch_call_index)i)->act ? SECCOMP_RET_USER_NOTIF
								: SECCOMP_RET_ALLOW;
}

/* Asks about births, what is denied, what the base filter leaves to us, and what nobody vouches for. */
static uint32_t notify_action(const struct build *build, const struct launch_call *call, size_t i)
{
	const struct launch_wishes *wishes = build->wishes;
	const struct sbx_path_call *ask = launch_call_path((enum launch_call_index)i);

	if (wishes->denied[i] || launch_call_is_birth((enum launch_call_index)i))
		return SECCOMP_RET_USER_NOTIF;
	if (!wishes->scopes && launch_call_is_signal((enum launch_call_index)i))
		return i == LAUNCH_CALL_fcntl ? mark(TAIL_OWNER) : SECCOMP_RET_USER_NOTIF;
	if (launch_call_is_unheld((enum launch_call_index)i))
		return unheld_action(build, ask);
	if (ask->act != SBX_ACT_NOTHING)
		return governed_action(build, ask);
	if (i == LAUNCH_CALL_socket && wishes->names)
		return SECCOMP_RET_USER_NOTIF;
	if (makes_sockets(i) && (wishes->no_udp || wishes->no_unix_datagram))
		return mark(i);
	if ((i == LAUNCH_CALL_umask && wishes->umasks) ||
	    (wishes->metadata && (i == LAUNCH_CALL_landlock_restrict_self ||
				  launch_call_is_watch((enum launch_call_index)i))))
		return SECCOMP_RET_USER_NOTIF;
	if (!launch_call_asks(call) || wishes->allowed[i])
		return wishes->hides ? look_action(i) : SECCOMP_RET_ALLOW;
	return call->verdict == CALL_ARGS ? mark(i) : SECCOMP_RET_USER_NOTIF;
}

static uint32_t call_action(const struct build *build, const struct launch_call *call, size_t i)
{
	uint32_t action = SECCOMP_RET_ALLOW;

	if (build->role == NOTIFY)
		return notify_action(build, call, i);
	if (!build->loosened || !build->loosened[i])
		action = call->verdict == CALL_ARGS ? mark(i) : base_action(build, call->verdict);
	if (build->role == BOTH && action == SECCOMP_RET_ALLOW)
		action = notify_action(build, call, i);
	return action;
}

/* Numbers from 'first' up to the next range. */
struct range {
	uint32_t first;
	uint32_t action;
};

/* What each number is answered. Returns the number of ranges. */
static int make_ranges(const struct build *build, struct range ranges[LAUNCH_NUMBERS + 1])
{
	uint32_t actions[LAUNCH_NUMBERS + 1];
	size_t count;
	const struct launch_call *calls = launch_calls(&count);
	int made = 0;

	for (size_t i = 0; i <= LAUNCH_NUMBERS; i++)
		actions[i] =
			build->role == NOTIFY ? SECCOMP_RET_ALLOW : base_action(build, CALL_ENOSYS);
	for (size_t i = 0; i < count; i++) {
		if (calls[i].number >= LAUNCH_NUMBERS)
			return -E2BIG;
		if (calls[i].number >= 0)
			actions[calls[i].number] = call_action(build, &calls[i], i);
	}
	for (uint32_t i = 0; i <= LAUNCH_NUMBERS; i++)
		if (made == 0 || ranges[made - 1].action != actions[i])
			ranges[made++] = (struct range){ i, actions[i] };
	return made;
}

/* Room is checked once, in append_tail(). */
static void emit(struct launch_program *program, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	program->code[program->len++] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
}

/* How many instructions the tree over some ranges takes. */
static size_t tree_len(size_t count)
{
	size_t left = count / 2, len;

	if (count == 1)
		return 1;
	len = tree_len(left);
	return 1 + (len > LONGEST) + len + tree_len(count - left);
}

/* Smaller numbers to the left, which follows at once. */
static void emit_tree(struct launch_program *program, const struct range *ranges, size_t count)
{
	size_t left = count / 2, len;

	if (count == 1) {
		emit(program, BPF_RET | BPF_K, ranges->action, 0, 0);
		return;
	}
	len = tree_len(left);
	if (len > LONGEST) {
		emit(program, BPF_JMP | BPF_JGE | BPF_K, ranges[left].first, 0, 1);
		emit(program, BPF_JMP | BPF_JA, (uint32_t)len, 0, 0);
	} else {
		emit(program, BPF_JMP | BPF_JGE | BPF_K, ranges[left].first, (uint8_t)len, 0);
	}
	emit_tree(program, ranges, left);
	emit_tree(program, ranges + left, count - left);
}

/* Another architecture, and x32, which calls itself x86-64, end the process, by the base filter. */
static void emit_head(struct launch_program *program, bool base)
{
	const uint32_t foreign = base ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;

	emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 1, 0);
	emit(program, BPF_RET | BPF_K, foreign, 0, 0);
	emit(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
#ifdef __x86_64__
	/* A tracer skips a call by the number -1. */
	emit(program, BPF_JMP | BPF_JGE | BPF_K, FOREIGN, 0, 2);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX, 1, 0);
	emit(program, BPF_RET | BPF_K, foreign, 0, 0);
#endif
}

static int build_tree(const struct build *build)
{
	struct range ranges[LAUNCH_NUMBERS + 1];
	int count = make_ranges(build, ranges);

	if (count < 0)
		return count;
	build->program->len = 0;
	emit_head(build->program, build->role != NOTIFY);
	emit_tree(build->program, ranges, (size_t)count);
	return 0;
}

static uint32_t lower_half(unsigned int arg)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)) +
	       (BYTE_ORDER == BIG_ENDIAN ? 4 : 0);
}

static uint32_t upper_half(unsigned int arg)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)) +
	       (BYTE_ORDER == BIG_ENDIAN ? 0 : 4);
}

enum {
	TEST_LEN = 3
}; /* load, mask, jump */

static size_t count_tests(const struct launch_rule *rule)
{
	size_t count = 0;

	while (count < LAUNCH_TESTS && rule->tests[count].mask)
		count++;
	return count;
}

/* Whatever its arguments are, somebody is asked about the call. */
static bool is_asked(const struct build *build, enum launch_call_index call)
{
	return build->role == BOTH && (build->wishes->denied[call] || launch_call_is_birth(call) ||
				       (call == LAUNCH_CALL_socket && build->wishes->names));
}

/* What only a network that rules decide takes away: with a listener, the notify filter does. */
static bool is_late(const struct launch_rule *rule)
{
	return rule->call == LAUNCH_CALL_setsockopt && rule->outcome < 0;
}

/* Sharing a port matters only where the supervisor binds. */
static bool is_free(const struct build *build, const struct launch_rule *rule)
{
	return is_late(rule) &&
	       (build->wishes ? !build->wishes->asks_network : rule->outcome == ARG_PRETEND);
}

static uint32_t outcome_action(const struct build *build, const struct launch_rule *rule)
{
	bool free = is_free(build, rule), tells = rule->outcome == ARG_TELL;
	bool passes = free || tells || rule->outcome == ARG_ALLOW;
	bool refuses = !free && rule->outcome == ARG_REFUSE;
	bool pretends = !free && rule->outcome == ARG_PRETEND;

	if (tells && (build->role == NOTIFY || build->role == BOTH))
		return SECCOMP_RET_USER_NOTIF;
	if (build->role == NOTIFY && !(pretends && is_late(rule)))
		return refuses ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
	if (refuses && build->role != STANDALONE)
		return build->role == BOTH ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
	if ((passes || (pretends && is_late(rule))) && is_asked(build, rule->call))
		return SECCOMP_RET_USER_NOTIF;
	if (passes)
		return SECCOMP_RET_ALLOW;
	if (pretends)
		return SECCOMP_RET_ERRNO;
	return SECCOMP_RET_ERRNO | (refuses ? EPERM : (uint32_t)rule->outcome);
}

/* A test that fails jumps over the rule's other tests and its answer, to the next rule. */
static void append_rule(const struct build *build, const struct launch_rule *rule)
{
	struct launch_program *program = build->program;
	size_t count = count_tests(rule);

	for (size_t i = 0; i < count; i++) {
		const struct launch_test *test = &rule->tests[i];
		uint8_t past = (uint8_t)((count - 1 - i) * TEST_LEN + 1);

		emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(test->arg), 0, 0);
		emit(program, BPF_ALU | BPF_AND | BPF_K, test->mask, 0, 0);
		emit(program, BPF_JMP | BPF_JEQ | BPF_K, test->value, test->equal ? 0 : past,
		     test->equal ? past : 0);
	}
	emit(program, BPF_RET | BPF_K, outcome_action(build, rule), 0, 0);
}

unsigned short launch_filter_sockets(const struct launch_wishes *wishes, uint32_t refuse,
				     struct sock_filter code[LAUNCH_SOCKETS_LEN])
{
	const uint32_t type = 0xf; /* the rest are flags */
	/* To the kernel a raw UNIX socket is another name of a datagram socket. */
	const struct sock_filter block[LAUNCH_SOCKETS_LEN] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, lower_half(0)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_UNIX, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, wishes->no_tcp ? 8 : 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, wishes->no_tcp ? 7 : 0, 9),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, lower_half(1)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, type),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 4, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, lower_half(1)),
		BPF_STMT(BPF_ALU | BPF_AND | BPF_K, type),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_RAW, 1, 2),
		BPF_STMT(BPF_RET | BPF_K, wishes->no_udp ? refuse : SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, wishes->no_unix_datagram ? refuse : SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	memcpy(code, block, sizeof(block));
	return LAUNCH_SOCKETS_LEN;
}

/* Passes with the voucher. */
static void append_vouched(struct launch_program *program)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(5), 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)SBX_VOUCHER, 0, 3);
	emit(program, BPF_LD | BPF_W | BPF_ABS, upper_half(5), 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(SBX_VOUCHER >> 32), 0, 1);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/*
 * Passes where it only names a file (O_PATH), which Landlock has no word for; and what opens for
 * reading in the quiet zone, unless it asks.
 */
static void append_quiet(const struct build *build, unsigned int flags)
{
	const uint32_t ip = offsetof(struct seccomp_data, instruction_pointer);
	const uint32_t zone = (uint32_t)(SBX_QUIET_FROM >> 32), ask = (uint32_t)SBX_ASK;
	struct launch_program *program = build->program;

	emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(flags), 0, 0);
	if (!build->wishes->quiet || !SBX_QUIET_FROM) {
		emit(program, BPF_JMP | BPF_JSET | BPF_K, O_PATH, 0, 1);
	} else {
		emit(program, BPF_JMP | BPF_JSET | BPF_K, O_PATH, 5, 0);
		emit(program, BPF_JMP | BPF_JSET | BPF_K, O_ACCMODE | O_CREAT | O_TRUNC | TMPFILE,
		     5, 0);
		emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(5), 0, 0);
		emit(program, BPF_JMP | BPF_JEQ | BPF_K, ask, 3, 0);
		emit(program, BPF_LD | BPF_W | BPF_ABS, ip + (BYTE_ORDER == BIG_ENDIAN ? 0 : 4), 0,
		     0);
		emit(program, BPF_JMP | BPF_JGE | BPF_K, zone, 0, 1);
	}
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

/*
 * Asks about what Landlock does not see: what truncates a file without opening it for writing (who may
 * write may truncate, and Landlock sees to that; it is not told to look for more: landlock.c); and what
 * opens one for neither reading nor writing, by the access mode 3, which is a descriptor all the same.
 */
static void append_unseen(struct launch_program *program, unsigned int flags)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(flags), 0, 0);
	emit(program, BPF_JMP | BPF_JSET | BPF_K, O_PATH, 5, 0);
	emit(program, BPF_ALU | BPF_AND | BPF_K, O_ACCMODE | O_TRUNC, 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, O_TRUNC, 2, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, O_ACCMODE, 1, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, O_ACCMODE | O_TRUNC, 0, 1);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF, 0, 0);
}

static void append_governed(const struct build *build, size_t tail)
{
	if (tail >= TAIL_OPEN && build->wishes->metadata)
		append_unseen(build->program, (unsigned int)(tail - TAIL_OPEN));
	if (build->wishes->vouched)
		append_vouched(build->program);
	if (tail >= TAIL_OPEN)
		append_quiet(build, (unsigned int)(tail - TAIL_OPEN));
	emit(build->program, BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF, 0, 0);
}

/* Who is to get a signal is asked about. */
static void append_owner(struct launch_program *program)
{
	emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(1), 0, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN, 2, 0);
	emit(program, BPF_JMP | BPF_JEQ | BPF_K, F_SETOWN_EX, 1, 0);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	emit(program, BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF, 0, 0);
}

/* What has passed the rules since 'from' is judged by its kind, too. */
static void append_kinds(const struct build *build, uint32_t from)
{
	struct launch_program *program = build->program;
	uint32_t kinds = program->len;

	for (uint32_t i = from; i < kinds; i++)
		if (program->code[i].code == (BPF_RET | BPF_K) &&
		    program->code[i].k == SECCOMP_RET_ALLOW)
			program->code[i] =
				(struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, kinds - i - 1);
	program->len +=
		launch_filter_sockets(build->wishes, SECCOMP_RET_USER_NOTIF, program->code + kinds);
}

/* All rules about a call; the last of them has no tests, or the program would run on. */
static int append_rules(const struct build *build, size_t call)
{
	struct launch_program *program = build->program;
	size_t count;
	const struct launch_rule *rules = launch_rules(&count);
	bool ended = false;

	for (size_t i = 0; i < count; i++) {
		if ((size_t)rules[i].call != call)
			continue;
		if (program->len + LAUNCH_TESTS * TEST_LEN + 1 > BPF_MAXINSNS)
			return -E2BIG;
		append_rule(build, &rules[i]);
		ended = count_tests(&rules[i]) == 0;
	}
	return ended ? 0 : -EINVAL;
}

static int append_tail(const struct build *build, size_t call)
{
	struct launch_program *program = build->program;
	uint32_t from = program->len;
	int error = 0;

	if (program->len + TAIL_MOST > BPF_MAXINSNS)
		return -E2BIG;
	if (call == TAIL_OWNER)
		append_owner(program);
	else if (call >= TAIL_GOVERNED)
		append_governed(build, call);
	if (call >= TAIL_GOVERNED)
		return 0;
	error = append_rules(build, call);
	if (error || build->role < NOTIFY || !makes_sockets(call))
		return error;
	if (program->len + TAIL_MOST > BPF_MAXINSNS)
		return -E2BIG;
	append_kinds(build, from);
	return 0;
}

static bool is_mark(const struct sock_filter *at)
{
	return at->code == (BPF_RET | BPF_K) &&
	       (at->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

static int attach_tails(const struct build *build)
{
	struct launch_program *program = build->program;
	uint32_t tails[TAIL_COUNT] = { 0 };
	uint32_t end = program->len;

	for (uint32_t i = 0; i < end; i++) {
		struct sock_filter *at = &program->code[i];
		uint32_t call = at->k & SECCOMP_RET_DATA;
		int error;

		if (!is_mark(at))
			continue;
		if (call >= TAIL_COUNT)
			return -EINVAL;
		if (!tails[call]) {
			tails[call] = program->len;
			if ((error = append_tail(build, call)) < 0)
				return error;
		}
		*at = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, tails[call] - i - 1);
	}
	return 0;
}

int launch_filter_build(bool listening, const bool *loosened, struct launch_program *program)
{
	const struct build build = { .role = listening ? LISTENING : STANDALONE,
				     .loosened = loosened,
				     .program = program };
	int error = build_tree(&build);

	return error ? error : attach_tails(&build);
}

int launch_filter_build_notify(const struct launch_wishes *wishes, struct launch_program *program)
{
	const struct build build = { .role = NOTIFY, .wishes = wishes, .program = program };
	int error = build_tree(&build);

	return error ? error : attach_tails(&build);
}

int launch_filter_build_both(const struct launch_wishes *wishes, struct launch_program *program)
{
	const struct build build = {
		.role = BOTH, .loosened = wishes->allowed, .wishes = wishes, .program = program
	};
	int error = build_tree(&build);

	return error ? error : attach_tails(&build);
}
