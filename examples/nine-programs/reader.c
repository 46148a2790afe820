/* SPDX-License-Identifier: MIT */
/*
 * Reads a file and prints it. With -DRAW it calls no libc function to open it: it has a syscall
 * instruction of its own, as programs have whose language brings no libc.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_file(const char *path)
{
#if defined(RAW) && defined(__x86_64__)
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_open), "D"(path), "S"(O_RDONLY)
			 : "rcx", "r11", "memory");
	if (result >= 0)
		return (int)result;
	errno = (int)-result;
	return -1;
#else
	return open(path, O_RDONLY);
#endif
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "";
	char text[4096];
	ssize_t got;
	int fd = open_file(path);

	if (fd < 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	while ((got = read(fd, text, sizeof(text))) > 0)
		fwrite(text, 1, (size_t)got, stdout);
	return 0;
}
