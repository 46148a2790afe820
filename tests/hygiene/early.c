/* SPDX-License-Identifier: MIT */
/*
 * A library whose constructor opens the files that its program is told about, before main and before
 * the program's own constructors.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

extern int early_results[2] __attribute__((weak)); /* of the program */

__attribute__((constructor)) static void begin(int argc, char **argv)
{
	for (int i = 0; i < 2 && argc == 4 && early_results; i++) {
		int fd = open(argv[2 + i], O_RDONLY | O_CLOEXEC);
		FILE *file = fopen(argv[2 + i], "r");

		early_results[i] = fd < 0 || !file ? errno : 0;
		if (file)
			fclose(file);
		if (fd >= 0)
			close(fd);
	}
}
