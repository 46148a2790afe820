/* SPDX-License-Identifier: MIT */
/* Says how it was started: its arguments, layout, and those variables that the shim has to do with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static const char *const names[] = { "LD_PRELOAD=", "SANDBOX_SBX_", "KEEP=" };

	for (int i = 1; i < argc; i++)
		printf("arg %s\n", argv[i]);
	for (char **env = environ; env && *env; env++)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(*env, names[i], strlen(names[i])))
				printf("env %s\n", *env);
	printf("layout %#x\n", (unsigned int)personality(0xffffffff));
	printf("end\n");
	return 0;
}
