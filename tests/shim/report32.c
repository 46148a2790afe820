/* SPDX-License-Identifier: MIT */
/* A program of another architecture, which needs no libc: writes its environment. */
static void put(const char *text, int len)
{
	int result = 4;

	__asm__ volatile("int $0x80" : "+a"(result) : "b"(1), "c"(text), "d"(len) : "memory");
}

__attribute__((used)) static void report(int *stack)
{
	char **env = (char **)(stack + 1) + *stack + 1;
	int result = 1;

	for (; *env; env++) {
		int len = 0;

		while ((*env)[len])
			len++;
		put("env ", 4);
		put(*env, len);
		put("\n", 1);
	}
	put("end\n", 4);
	__asm__ volatile("int $0x80" : : "a"(result), "b"(0));
}

__asm__(".globl _start\n_start: movl %esp, %eax\n push %eax\n call report");
