/* SPDX-License-Identifier: MIT */
/*
 * race SEEN HIDDEN SIZE TRIES: one thread exchanges a path, names of the same length, while the other uses it.
 * Fails when the hidden file's size or a word of its contents is ever seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char path[256];
static struct open_how how;
static const char *seen, *hidden;
static long size, tries;
static volatile int over;
static int bad;

static void *exchange(void *unused)
{
	size_t len = strlen(seen);

	while (!over) {
		memcpy(path, hidden, len);
		how.flags = O_PATH;
		for (volatile int i = 0; i < 200; i++)
			;
		memcpy(path, seen, len);
		how.flags = O_RDONLY;
		for (volatile int i = 0; i < 200; i++)
			;
	}
	return unused;
}

static void check(const char *what, const struct stat *st)
{
	if (st->st_size != size)
		return;
	printf("%s told the size\n", what);
	bad++;
}

static void check_fd(const char *what, long fd)
{
	char text[64] = "";
	struct stat st;

	if (fd < 0)
		return;
	if (fstat((int)fd, &st) == 0)
		check(what, &st);
	(void)!read((int)fd, text, sizeof(text) - 1);
	if (strstr(text, "TOPSECRET")) {
		printf("%s told what is in it\n", what);
		bad++;
	}
	close((int)fd);
}

static void try_other(int n)
{
	struct statx x;
	struct stat st;

	if (n == 0 && syscall(SYS_newfstatat, AT_FDCWD, path, &st, AT_EMPTY_PATH) == 0)
		check("newfstatat", &st);
	if (n == 1 && syscall(SYS_statx, AT_FDCWD, path, 0, STATX_SIZE, &x) == 0 &&
	    (long)x.stx_size == size) {
		printf("statx told the size\n");
		bad++;
	}
	if (n == 2)
		check_fd("open for no use", syscall(SYS_open, path, 3));
	if (n == 3)
		check_fd("open of a name", syscall(SYS_openat, AT_FDCWD, path, O_PATH));
	if (n == 4)
		check_fd("openat2", syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
	if (n == 5 && syscall(SYS_link, path, "raced") == 0) {
		check_fd("link", syscall(SYS_open, "raced", O_RDONLY));
		unlink("raced");
	}
}

static void try(int n)
{
	struct stat st;

	if (syscall(SYS_stat, path, &st) == 0)
		check("stat", &st);
	check_fd("open", syscall(SYS_open, path, O_RDONLY));
	try_other(n % 6);
}

/* Of folders: who gets into the hidden one still does not see what is in it. */
static void try_folder(int here)
{
	struct stat st;

	if (syscall(SYS_chdir, path) < 0)
		return;
	if (stat("f", &st) == 0)
		check("stat inside", &st);
	check_fd("open inside", open("f", O_RDONLY));
	check_fd("open below", openat(AT_FDCWD, "./f", O_RDONLY));
	/* The other one has a file of that name. */
	if (open(".", O_RDONLY | O_DIRECTORY) >= 0 && faccessat(AT_FDCWD, "seen", F_OK, 0) < 0) {
		printf("it could be listed\n");
		bad++;
	}
	(void)!fchdir(here);
}

int main(int argc, char **argv)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);
	struct stat st = { .st_mode = 0 };
	pthread_t thread;

	if (argc != 5)
		return 2;
	seen = argv[1];
	hidden = argv[2];
	size = strtol(argv[3], NULL, 10);
	tries = strtol(argv[4], NULL, 10);
	snprintf(path, sizeof(path), "%s", seen);
	if (pthread_create(&thread, NULL, exchange, NULL))
		return 2;
	stat(seen, &st);
	for (long i = 0; i < tries; i++) {
		if (S_ISDIR(st.st_mode))
			try_folder(here);
		else
			try(i);
		(void)close_range(here + 1, 1000, 0);
	}
	over = 1;
	pthread_join(thread, NULL);
	return bad != 0;
}
