/* SPDX-License-Identifier: MIT */
/* lists FOLDER SIZE: the names in it, read with a buffer of that size; "!ERRNO" when that fails. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int fd = open(argv[1], O_RDONLY | O_DIRECTORY);
	size_t size = strtoul(argv[argc - 1], NULL, 10);
	char *buffer = malloc(size + 1);
	long got;

	while ((got = syscall(SYS_getdents64, fd, buffer, size)) > 0) {
		for (long at = 0; at < got;) {
			struct dirent64 *entry = (struct dirent64 *)(buffer + at);

			puts(entry->d_name);
			at += entry->d_reclen;
		}
	}
	if (got < 0)
		printf("!%s\n", strerrorname_np(errno));
	/* The old call is not there, and memory that is none is no place for entries. */
	if (lseek(fd, 0, SEEK_SET) == 0 && syscall(SYS_getdents64, fd, 8, 4096) < 0)
		printf("!%s\n", strerrorname_np(errno));
	got = syscall(SYS_getdents64, fd, buffer, size);
	printf("!%d\n", got > 0 || size < 64);
	printf("!%ld\n", syscall(SYS_getdents64, 999, buffer, size));
	printf("!%ld\n", syscall(SYS_getdents64, 0, buffer, size));
	return 0;
}
