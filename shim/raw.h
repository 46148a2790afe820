/* SPDX-License-Identifier: MIT */
/*
 * System calls without libc, and a stack of one's own. The only file that knows the processor.
 *
 * Six arguments go into registers and a number comes back: errno, cancellation and everything else
 * that libc adds is for the caller to add.
 */
#ifndef SHIM_RAW_H
#define SHIM_RAW_H

#if defined(__x86_64__)
#define SHIM_HAS_OLD_CALLS 1 /* open, unlink, rename...: those without "at" */
#define SHIM_MACHINE EM_X86_64

static inline long shim_raw(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Runs 'work' on the stack that ends at 'top', which is a multiple of 16. */
static inline void shim_on_stack(void (*work)(void *), void *context, void *top)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "call *%[work]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(context)
			 : [work] "r"(work), [top] "r"(top)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0",
			   "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			   "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
}

#elif defined(__aarch64__)
#define SHIM_HAS_OLD_CALLS 0
#define SHIM_MACHINE EM_AARCH64

static inline long shim_raw(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "cc", "memory");
	return x0;
}

static inline void shim_on_stack(void (*work)(void *), void *context, void *top)
{
	register void *x0 __asm__("x0") = context;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[work]\n\t"
			 "mov sp, x19"
			 : "+r"(x0)
			 : [work] "r"(work), [top] "r"(top)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11",
			   "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0",
			   "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11",
			   "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21",
			   "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
			   "cc", "memory");
}

#else
/* cppcheck-suppress preprocessorErrorDirective */
#error "the shim knows how to make system calls on x86-64 and aarch64 only"
#endif

#endif
