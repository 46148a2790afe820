/* SPDX-License-Identifier: MIT */
/*
 * A hostile program with two threads: one exchanges what the other's calls are about, again and again.
 *
 *	racer TRIES
 *
 * Its folder has 'plain', which it may do anything to, 'secret.x' and 'denied/secret', which it may not
 * read, write, move or remove, and '.npmrc', which it may only read. Says what it got, and exits with 1
 * if that was anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool stop;
static char name[64]; /* that one thread gives to the kernel, and the other changes */
static long tries, got, done;

/* --- Exchanging --- */

static void *exchange_bytes(void *arg)
{
	const char *const *names = arg;

	while (!stop)
		for (int i = 0; i < 2; i++)
			for (size_t at = 0; at <= strlen(names[i]); at++)
				((volatile char *)name)[at] = names[i][at];
	return NULL;
}

/* A link that leads now here, now there. */
static void *exchange_links(void *arg)
{
	const char *const *targets = arg;

	while (!stop) {
		for (int i = 0; i < 2; i++) {
			(void)!symlink(targets[i], "next");
			(void)rename("next", "way");
		}
	}
	return NULL;
}

/* A folder that is now itself, now a link to another; what is made there is removed. */
static void *exchange_folders(void *arg)
{
	const char *const *targets = arg;

	(void)mkdir("spare", 0700);
	(void)!symlink(targets[0], "astray");
	while (!stop)
		(void)syscall(SYS_renameat2, AT_FDCWD, "spare", AT_FDCWD, "astray", 2);
	return NULL;
}

/* A name that is now free, now a link to what is protected, now something else. */
static void *exchange_entries(void *arg)
{
	(void)arg;
	while (!stop) {
		(void)!symlink(".npmrc", "spot");
		(void)unlink("spot");
		(void)!link("plain", "spot");
		(void)unlink("spot");
		(void)rename("spot", "elsewhere");
	}
	return NULL;
}

/* --- Trying --- */

static void check(int fd, const char *how)
{
	char text[64] = "";

	if (fd < 0)
		return;
	done++;
	if (read(fd, text, sizeof(text) - 1) > 0 && strstr(text, "secret")) {
		got++;
		printf("%s: got the secret\n", how);
	}
	close(fd);
}

static void try_open(const char *path)
{
	check(open(path, O_RDONLY), "open");
	check(open(path, O_RDWR), "open to write");
	check(open(path, O_RDWR | O_CREAT, 0600), "create");
}

static void try_link(const char *path)
{
	(void)unlink("second");
	if (link(path, "second") == 0)
		check(open("second", O_RDONLY), "link");
	if (linkat(AT_FDCWD, path, AT_FDCWD, "third", AT_SYMLINK_FOLLOW) == 0)
		check(open("third", O_RDONLY), "linkat");
	(void)unlink("third");
}

static void try_move(const char *path)
{
	if (rename(path, "moved") == 0)
		check(open("moved", O_RDONLY), "rename");
	(void)rename("moved", "plain");
	if (syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, "other", 2) == 0) {
		check(open("other", O_RDONLY), "exchange");
		(void)syscall(SYS_renameat2, AT_FDCWD, "plain", AT_FDCWD, "other", 2);
	}
}

static void try_remove(const char *path)
{
	char below[80];

	(void)unlink(path);
	(void)truncate(path, 0);
	snprintf(below, sizeof(below), "%s/secret", path);
	(void)unlink(below);
	(void)truncate(below, 0);
	check(open(below, O_RDWR | O_CREAT | O_TRUNC, 0600), "below");
	(void)rename("other", below);
	(void)link("other", below);
}

/* Who asks dies in the middle of it: what was made is removed, and nothing else. */
static void try_dying(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;) {
			int fd = open(path, O_WRONLY | O_CREAT, 0600);

			if (fd >= 0)
				(void)!write(fd, "evil", 4);
			close(fd);
		}
	}
	usleep(300);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void try_write(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd >= 0)
		(void)!write(fd, "evil", 4);
	close(fd);
	done += fd >= 0;
}

/* --- */

static void race(void *(*exchange)(void *), const char *const *between,
		 void (*attempt)(const char *), const char *path, long count)
{
	pthread_t thread;

	stop = false;
	if (pthread_create(&thread, NULL, exchange, (void *)(uintptr_t)between) != 0)
		exit(3);
	for (long i = 0; i < count; i++)
		attempt(path);
	stop = true;
	pthread_join(thread, NULL);
}

static void plain(void)
{
	int fd = open("plain", O_WRONLY | O_CREAT, 0600);

	(void)!write(fd, "plain\n", 6);
	close(fd);
	fd = open("other", O_WRONLY | O_CREAT, 0600);
	close(fd);
}

int main(int argc, char *argv[])
{
	static const char *const bytes[] = { "plain\0\0\0", "secret.x" };
	static const char *const links[] = { "plain", "denied/secret" };
	static const char *const files[] = { "plain", "secret.x" };
	static const char *const folders[] = { "denied", "" };
	void (*const attempts[])(const char *) = { try_open, try_link, try_move, try_write };

	tries = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	snprintf(name, sizeof(name), "plain");
	for (size_t i = 0; i < 3; i++) {
		plain();
		race(exchange_bytes, bytes, attempts[i], name, tries / 10);
		plain();
		race(exchange_links, links, attempts[i], "way", tries / 10);
		race(exchange_links, files, attempts[i], "way", tries / 10);
	}
	plain();
	race(exchange_folders, folders, try_remove, "spare", tries / 10);
	race(exchange_folders, folders, try_remove, "astray", tries / 10);
	race(exchange_entries, NULL, try_write, "spot", tries / 5);
	race(exchange_entries, NULL, try_dying, "spot", tries / 20);
	printf("%ld calls worked, %ld secrets\n", done, got);
	return got != 0;
}
