/* SPDX-License-Identifier: MIT */
/*
 * Build tool: prints the base filter that stands alone, as C. Runs on the machine that builds, and makes
 * the filter of that machine's architecture.
 */
#include <stdio.h>
#include <string.h>

#include "calls.h"

static int print_program(const char *name)
{
	static struct launch_program program;
	int error = launch_filter_build(false, NULL, &program);

	if (error) {
		fprintf(stderr, "filter: cannot build '%s': %s\n", name, strerror(-error));
		return error;
	}
	printf("\nstatic const struct sock_filter %s[] = {\n", name);
	for (size_t i = 0; i < program.len; i++)
		printf("\t{ 0x%02x, %u, %u, 0x%08x },\n", program.code[i].code, program.code[i].jt,
		       program.code[i].jf, program.code[i].k);
	printf("};\n\nconst struct sock_fprog launch_filter_%s = {\n"
	       "\t%u, (struct sock_filter *)%s\n};\n",
	       name, program.len, name);
	return 0;
}

int main(void)
{
	puts("/* Made from syscalls.def by gen/filter.c. */\n#include \"calls.h\"");
	if (print_program("standalone"))
		return 1;
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
