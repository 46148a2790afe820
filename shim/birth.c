/* SPDX-License-Identifier: MIT */
/*
 * fork() and vfork(), which return twice.
 *
 * vfork() is written for the processor, because its child goes on with the caller's stack: what this
 * function needs after the call stands in registers, which the parent finds as they were.
 */
#include "birth.h"

#include "call.h"

#include <errno.h>

pid_t shim_bear(pid_t (*real)(void))
{
	uint64_t before;
	pid_t pid;

	if (!real) {
		shim_set_errno(ENOSYS);
		return -1;
	}
	before = shim_block_signals();
	pid = real();
	shim_restore_signals(before);
	return pid;
}

#ifdef __x86_64__
/* The last step of vfork(), for its errors. */
__attribute__((used)) static int shim_vfork_failed(long result)
{
	return shim_fail(result);
}

#define TEXT_(value) #value
#define TEXT(value) TEXT_(value)

/* clang-format off */
__asm__(".pushsection .text\n"
	".balign 16\n"
	".globl vfork, __vfork\n"
	".type vfork, @function\n"
	".type __vfork, @function\n"
	"vfork:\n"
	"__vfork:\n"
	".cfi_startproc\n"
	"	movl $" TEXT(SYS_rt_sigprocmask) ", %eax\n"
	"	xorl %edi, %edi\n" /* SIG_BLOCK */
	"	leaq 1f(%rip), %rsi\n"
	"	leaq -8(%rsp), %rdx\n" /* below the stack: signals that come now save 128 bytes of it */
	"	movl $8, %r10d\n"
	"	syscall\n"
	"	movq -8(%rsp), %r8\n" /* what was blocked */
	"	popq %r9\n" /* where to return to */
	".cfi_adjust_cfa_offset -8\n"
	".cfi_register %rip, %r9\n"
	"	movl $" TEXT(SYS_vfork) ", %eax\n"
	"	syscall\n"
	"	pushq %r9\n" /* the child has been there since */
	".cfi_adjust_cfa_offset 8\n"
	".cfi_rel_offset %rip, 0\n"
	"	movq %r8, -8(%rsp)\n"
	"	movq %rax, %r8\n"
	"	movl $" TEXT(SYS_rt_sigprocmask) ", %eax\n"
	"	movl $2, %edi\n" /* SIG_SETMASK */
	"	leaq -8(%rsp), %rsi\n"
	"	xorl %edx, %edx\n"
	"	movl $8, %r10d\n"
	"	syscall\n"
	"	movq %r8, %rax\n"
	"	cmpq $-4095, %rax\n"
	"	jae 2f\n"
	"	ret\n"
	"2:	movq %rax, %rdi\n"
	"	jmp shim_vfork_failed\n"
	".cfi_endproc\n"
	".size vfork, . - vfork\n"
	".size __vfork, . - __vfork\n"
	".popsection\n"
	".pushsection .rodata\n"
	".balign 8\n"
	"1:	.quad -1\n"
	".popsection\n");
/* clang-format on */
#endif
