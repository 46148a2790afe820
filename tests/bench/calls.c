/* SPDX-License-Identifier: MIT */
/*
 * calls FILE: what a few system calls cost whoever makes them, in nanoseconds, one line for each. FILE
 * stands in the working directory, and is given by its whole path.
 *
 * A line has the fastest of some batches: each is long enough to be an average over thousands of
 * calls, and what disturbs one only ever adds. Which sandbox it runs in is not known here.
 */
#include <err.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 5
#define BATCH_NS 2e6
#define FIRST 100 /* calls that tell how many a batch has */

static const char *file;
static char missing[PATH_MAX];
static int zero, null;

static void open_close(void)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || close(fd) < 0)
		err(1, "%s", file);
}

static void open_here(void)
{
	int fd = open(strrchr(file, '/') + 1, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || close(fd) < 0)
		err(1, "%s", file);
}

static void open_missing(void)
{
	if (open(missing, O_RDONLY | O_CLOEXEC) >= 0)
		errx(1, "%s is there", missing);
}

static void open_write(void)
{
	int fd = open(file, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || close(fd) < 0)
		err(1, "%s", file);
}

static void look(void)
{
	struct stat found;

	if (stat(file, &found) < 0)
		err(1, "%s", file);
}

static void read_one(void)
{
	char byte;

	if (read(zero, &byte, 1) != 1)
		err(1, "/dev/zero");
}

static void write_one(void)
{
	if (write(null, "", 1) != 1)
		err(1, "/dev/null");
}

static struct measured {
	const char *name;
	void (*call)(void);
	uint64_t count; /* in a batch */
	double best;
} list[] = {
	{ .name = "open+close", .call = open_close },
	{ .name = "open+close, relative", .call = open_here },
	{ .name = "open, missing", .call = open_missing },
	{ .name = "open+close, writing", .call = open_write },
	{ .name = "stat", .call = look },
	{ .name = "read", .call = read_one },
	{ .name = "write", .call = write_one },
};

#define LIST_LEN (sizeof(list) / sizeof(list[0]))

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double batch(const struct measured *measured)
{
	double start = now();

	for (uint64_t i = 0; i < measured->count; i++)
		measured->call();
	return (now() - start) / (double)measured->count;
}

static void start(struct measured *measured)
{
	measured->count = FIRST;
	measured->best = batch(measured);
	if (measured->best * FIRST < BATCH_NS)
		measured->count = (uint64_t)(BATCH_NS / measured->best);
}

int main(int argc, char **argv)
{
	if (argc != 2 || argv[1][0] != '/')
		errx(2, "usage: calls FILE");
	file = argv[1];
	(void)snprintf(missing, sizeof(missing), "%s.missing", file);
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (zero < 0 || null < 0)
		err(1, "/dev");
	for (size_t i = 0; i < LIST_LEN; i++)
		start(&list[i]);
	for (int round = 0; round < BATCHES; round++) {
		for (size_t i = 0; i < LIST_LEN; i++) {
			double ns = batch(&list[i]);

			if (ns < list[i].best)
				list[i].best = ns;
		}
	}
	for (size_t i = 0; i < LIST_LEN; i++)
		printf("%s\t%.2f\n", list[i].name, list[i].best);
	return 0;
}
