/* SPDX-License-Identifier: MIT */
/* Classic BPF on seccomp_data, as the kernel checks and runs it. */
#ifndef TEST_BPF_H
#define TEST_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	BPF_BROKEN = 0x12345 /* answered where the kernel would not load the program */
};

static inline uint32_t bpf_run(const struct sock_fprog *program, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (uint32_t pc = 0; pc < program->len; pc++) {
		const struct sock_filter *at = &program->filter[pc];

		switch (at->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (at->k % 4 || at->k + 4 > sizeof(*data))
				return BPF_BROKEN;
			memcpy(&a, (const char *)data + at->k, 4);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= at->k;
			break;
		case BPF_JMP | BPF_JA:
			pc += at->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			pc += a > at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= at->k ? at->jt : at->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			pc += a & at->k ? at->jt : at->jf;
			break;
		case BPF_RET | BPF_K:
			return at->k;
		default:
			return BPF_BROKEN;
		}
	}
	return BPF_BROKEN;
}

/* Only jumps forward to instructions that exist, only whole words of the data, and an answer last. */
static inline bool bpf_is_sound(const struct sock_fprog *program)
{
	uint32_t len = program->len;

	for (uint32_t i = 0; i < len; i++) {
		const struct sock_filter *at = &program->filter[i];

		if (at->code == (BPF_JMP | BPF_JA) && at->k >= len - i - 1)
			return false;
		if (BPF_CLASS(at->code) == BPF_JMP && at->code != (BPF_JMP | BPF_JA) &&
		    (i + 1 + at->jt >= len || i + 1 + at->jf >= len))
			return false;
		if (BPF_CLASS(at->code) == BPF_LD &&
		    (at->k % 4 || at->k + 4 > sizeof(struct seccomp_data)))
			return false;
	}
	return len > 0 && len <= BPF_MAXINSNS && program->filter[len - 1].code == (BPF_RET | BPF_K);
}

#endif
