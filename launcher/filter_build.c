/* SPDX-License-Identifier: MIT */
/*
 * syscalls.def becomes BPF. libseccomp makes the search tree over the numbers and the checks of the
 * architecture; what a call's arguments decide is appended by hand, as a tail per call, because
 * libseccomp can neither compare under a mask for "not equal" nor give one call an "otherwise".
 *
 * In libseccomp's program a call with a tail answers SECCOMP_RET_TRACE with the number of its row.
 * These instructions are then replaced by jumps to the tail: none may be left, and none that
 * libseccomp made for another reason may exist.
 */
#include "calls.h"

#include <endian.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uint32_t call_action(const struct launch_call *call, bool listening)
{
	switch (call->verdict) {
	case CALL_ALLOW:
		return SCMP_ACT_ALLOW;
	case CALL_REFUSE:
		return listening ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);
	case CALL_EOPNOTSUPP:
		return SCMP_ACT_ERRNO(EOPNOTSUPP);
	case CALL_ENOSYS:
	case CALL_ARGS:
		break;
	}
	return SCMP_ACT_ERRNO(ENOSYS);
}

static int add_calls(scmp_filter_ctx context, bool listening, const bool *loosened)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		uint32_t action = call_action(&calls[i], listening);

		if (loosened && loosened[i])
			action = SCMP_ACT_ALLOW;
		else if (calls[i].verdict == CALL_ARGS)
			action = SCMP_ACT_TRACE((uint32_t)i);
		else if (calls[i].verdict == CALL_ENOSYS)
			continue; /* what has no rule is answered so */
		if (calls[i].number >= 0)
			error = seccomp_rule_add_exact(context, action, calls[i].number, 0);
	}
	return error;
}

static int read_program(int fd, struct launch_program *program)
{
	ssize_t len = pread(fd, program->code, sizeof(program->code), 0);

	if (len < 0)
		return -errno;
	program->len = (unsigned short)((size_t)len / sizeof(program->code[0]));
	return len > 0 && program->len < BPF_MAXINSNS ? 0 : -E2BIG;
}

static int export_program(scmp_filter_ctx context, struct launch_program *program)
{
	int fd = memfd_create("filter", MFD_CLOEXEC);
	int error;

	if (fd < 0)
		return -errno;
	error = seccomp_export_bpf(context, fd);
	if (!error)
		error = read_program(fd, program);
	close(fd);
	return error;
}

static int build_tree(bool listening, const bool *loosened, struct launch_program *program)
{
	scmp_filter_ctx context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int error;

	if (!context)
		return -ENOMEM;
	error = seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	if (!error)
		error = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	if (!error)
		error = add_calls(context, listening, loosened);
	if (!error)
		error = export_program(context, program);
	seccomp_release(context);
	return error;
}

/* Room is checked once, in append_tail(). */
static void emit(struct launch_program *program, uint16_t code, uint32_t k, uint8_t yes, uint8_t no)
{
	program->code[program->len++] = (struct sock_filter)BPF_JUMP(code, k, yes, no);
}

static uint32_t lower_half(unsigned int arg)
{
	return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t)) +
	       (BYTE_ORDER == BIG_ENDIAN ? 4 : 0);
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

static uint32_t outcome_action(enum launch_outcome outcome, bool listening)
{
	if (outcome == ARG_ALLOW || (outcome == ARG_REFUSE && listening))
		return SECCOMP_RET_ALLOW;
	return SECCOMP_RET_ERRNO | (outcome == ARG_REFUSE ? EPERM : (uint32_t)outcome);
}

/* A test that fails jumps over the rule's other tests and its answer, to the next rule. */
static void append_rule(struct launch_program *program, const struct launch_rule *rule,
			bool listening)
{
	size_t count = count_tests(rule);

	for (size_t i = 0; i < count; i++) {
		const struct launch_test *test = &rule->tests[i];
		uint8_t past = (uint8_t)((count - 1 - i) * TEST_LEN + 1);

		emit(program, BPF_LD | BPF_W | BPF_ABS, lower_half(test->arg), 0, 0);
		emit(program, BPF_ALU | BPF_AND | BPF_K, test->mask, 0, 0);
		emit(program, BPF_JMP | BPF_JEQ | BPF_K, test->value, test->equal ? 0 : past,
		     test->equal ? past : 0);
	}
	emit(program, BPF_RET | BPF_K, outcome_action(rule->outcome, listening), 0, 0);
}

/* All rules about a call; the last of them has no tests, or the program would run on. */
static int append_tail(struct launch_program *program, size_t call, bool listening)
{
	size_t count;
	const struct launch_rule *rules = launch_rules(&count);
	bool ended = false;

	for (size_t i = 0; i < count; i++) {
		if ((size_t)rules[i].call != call)
			continue;
		if (program->len + LAUNCH_TESTS * TEST_LEN + 1 > BPF_MAXINSNS)
			return -E2BIG;
		append_rule(program, &rules[i], listening);
		ended = count_tests(&rules[i]) == 0;
	}
	return ended ? 0 : -EINVAL;
}

static bool is_mark(const struct sock_filter *at)
{
	return at->code == (BPF_RET | BPF_K) &&
	       (at->k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_TRACE;
}

static int attach_tails(struct launch_program *program, bool listening)
{
	uint32_t tails[LAUNCH_CALL_COUNT] = { 0 };
	uint32_t end = program->len;

	for (uint32_t i = 0; i < end; i++) {
		struct sock_filter *at = &program->code[i];
		uint32_t call = at->k & SECCOMP_RET_DATA;
		int error;

		if (!is_mark(at))
			continue;
		if (call >= LAUNCH_CALL_COUNT)
			return -EINVAL;
		if (!tails[call]) {
			tails[call] = program->len;
			if ((error = append_tail(program, call, listening)) < 0)
				return error;
		}
		*at = (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, tails[call] - i - 1);
	}
	return 0;
}

int launch_filter_build(bool listening, const bool *loosened, struct launch_program *program)
{
	int error = build_tree(listening, loosened, program);

	return error ? error : attach_tails(program, listening);
}
