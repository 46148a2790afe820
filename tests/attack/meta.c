/* SPDX-License-Identifier: MIT */
/*
 * Attacks on modes, owners and times, which only the supervisor holds; and on execution, by a file that
 * is in no folder.
 */
#include "attack.h"

#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>

#define FCHMODAT2 452

static long folder_of(const char *name)
{
	int fd = open(at("%s", name), O_PATH | O_DIRECTORY);

	if (fd < 0)
		cannot_judge("no folder");
	return fd;
}

/* A descriptor that is good for reading alone. */
static long for_reading(void)
{
	int fd = do_open(at("ro/file"), O_RDONLY, 0);

	if (fd < 0)
		cannot_judge("no file to read");
	return fd;
}

static const char *by_descriptor(long fd)
{
	static char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%ld", fd);
	return path;
}

void chmod_outside(void)
{
	long secret = folder_of("secret"), fd = for_reading();
	long named = open(at("secret/key"), O_PATH);

	step("chmod", do_call(SYS_chmod, (long)at("secret/key"), 0777, 0, 0, 0));
	step("at", do_call(SYS_fchmodat, secret, (long)"key", 0777, 0, 0));
	step("read-only", do_call(SYS_chmod, (long)at("ro/file"), 0666, 0, 0, 0));
	step("folder", do_call(SYS_chmod, (long)at("ro"), 0777, 0, 0, 0));
	step("descriptor", do_call(SYS_fchmod, fd, 0777, 0, 0, 0));
	step("by-proc", do_call(SYS_chmod, (long)by_descriptor(fd), 0777, 0, 0, 0));
	step("named", do_call(SYS_chmod, (long)by_descriptor(named), 0777, 0, 0, 0));
	step("dot-dot", do_call(SYS_chmod, (long)at("work/../secret/key"), 0700, 0, 0, 0));
	if (do_symlink(at("secret/key"), at("work/to-key")) < 0)
		cannot_judge("no link");
	step("link", do_call(SYS_chmod, (long)at("work/to-key"), 0700, 0, 0, 0));
	maybe("empty", do_call(FCHMODAT2, named, (long)"", 0700, AT_EMPTY_PATH, 0));
}

void chown_outside(void)
{
	long secret = folder_of("secret"), fd = for_reading(), uid = getuid(), gid = getgid();

	step("chown", do_call(SYS_chown, (long)at("secret/key"), uid, gid, 0, 0));
	step("lchown", do_call(SYS_lchown, (long)at("secret/key"), uid, gid, 0, 0));
	step("at", do_call(SYS_fchownat, secret, (long)"key", uid, gid, 0));
	step("empty", do_call(SYS_fchownat, fd, (long)"", uid, gid, AT_EMPTY_PATH));
	step("descriptor", do_call(SYS_fchown, fd, uid, gid, 0, 0));
}

void times_outside(void)
{
	static const struct timespec when[2] = { { 1, 2 }, { 3, 4 } };
	long secret = folder_of("secret"), fd = for_reading();

	step("utimensat", do_call(SYS_utimensat, secret, (long)"key", (long)when, 0, 0));
	step("now", do_call(SYS_utimensat, secret, (long)"key", 0, 0, 0));
	step("descriptor", do_call(SYS_utimensat, fd, 0, (long)when, 0, 0));
	step("empty", do_call(SYS_utimensat, fd, (long)"", (long)when, AT_EMPTY_PATH, 0));
#ifdef SYS_utime
	step("utime", do_call(SYS_utime, (long)at("ro/file"), 0, 0, 0, 0));
	step("utimes", do_call(SYS_utimes, (long)at("ro/file"), 0, 0, 0, 0));
	step("futimesat", do_call(SYS_futimesat, fd, 0, 0, 0, 0));
#endif
}

/* A program that was never a file. */
static long copy_into_memory(void)
{
	static char bytes[64 << 10];
	long fd = do_call(SYS_memfd_create, (long)"program", 0, 0, 0, 0);
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0 || from < 0)
		cannot_judge("no file in memory");
	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		if (write((int)fd, bytes, (size_t)got) != got)
			cannot_judge("no room in memory");
	close(from);
	return fd;
}

static long in_memory;

static long execute_by_descriptor(void)
{
	const char *argv[] = { "attack", "V119", at("."), "again=yes", NULL };
	const char *none[] = { NULL };

	(void)fchmod((int)in_memory, 0755);
	return do_call(SYS_execveat, in_memory, (long)"", (long)argv, (long)none, AT_EMPTY_PATH);
}

static long execute_by_name(void)
{
	(void)do_call(SYS_chmod, (long)by_descriptor(in_memory), 0755, 0, 0, 0);
	become(by_descriptor(in_memory), "V119", "again=yes");
	return -1;
}

void execute_memory(void)
{
	if (has_fact("again"))
		_exit(0);
	in_memory = copy_into_memory();
	step("descriptor", in_child(execute_by_descriptor));
	step("name", in_child(execute_by_name));
	maybe("asked", do_call(SYS_memfd_create, (long)"asked", 0x10, 0, 0, 0)); /* MFD_EXEC */
}

/* Between the caller's own file and one outside, all the time. */
static struct {
	char path[4096];
	char *letter;
	int inside, outside;
	int mode;
	atomic_bool over;
	void (*flip)(bool outside);
} racing;

enum {
	RACED_FD = 77
};

static void flip_path(bool outside)
{
	__atomic_store_n(racing.letter, outside ? 'a' : 'o', __ATOMIC_RELAXED);
}

static void flip_descriptor(bool outside)
{
	if (dup2(outside ? racing.outside : racing.inside, RACED_FD) < 0)
		racing.over = true;
}

static void *flip_on(void *nothing)
{
	for (bool outside = false; !racing.over; outside = !outside)
		racing.flip(outside);
	return nothing;
}

static long chmod_path(void)
{
	return do_call(SYS_chmod, (long)racing.path, racing.mode, 0, 0, 0);
}

static long chmod_descriptor(void)
{
	return do_call(SYS_fchmod, RACED_FD, racing.mode, 0, 0, 0);
}

static long chmod_by_name(void)
{
	return do_call(SYS_chmod, (long)"/proc/self/fd/77", racing.mode, 0, 0, 0);
}

static mode_t mode_of(const char *path)
{
	struct stat status;

	if (stat(path, &status) < 0)
		cannot_judge("no file");
	return status.st_mode & 07777;
}

/* A hit is told by the mode of the file outside, which no call may give it. */
static void try_race(const char *name, void (*flip)(bool), long (*attempt)(void),
		     const char *target, long times)
{
	long refused = 0, done = 0, others = 0, hits = 0;
	double until = seconds() + RACE_SECONDS;
	pthread_t flipper;

	racing.flip = flip;
	racing.over = false;
	flip(false);
	run_threads(&flipper, 1, flip_on);
	for (long i = 0; i < times || (hits + refused < times / 10 && seconds() < until); i++) {
		if (attempt() == 0)
			done++;
		else
			*(errno == EACCES ? &refused : &others) += 1;
		hits += mode_of(target) == (mode_t)racing.mode;
	}
	racing.over = true;
	join_threads(&flipper, 1);
	printf("race %s: %ld hits, %ld done, %ld refused, %ld others\n", name, hits, done, refused,
	       others);
	errno = EINVAL;
	must("mixed", !done || others ? -1 : 0);
	errno = refused ? EACCES : ENOENT;
	step(name, hits ? 0 : -1);
}

void change_race(void)
{
	racing.mode = 0751;
	snprintf(racing.path, sizeof(racing.path), "%s", at("work/key"));
	racing.letter = racing.path + strlen(racing.path) - strlen("ork/key");
	racing.inside = open(at("work/key"), O_RDONLY);
	racing.outside = open(at("ro/file"), O_RDONLY);
	if (racing.inside < 0 || racing.outside < 0)
		cannot_judge("no files");
	try_race("path", flip_path, chmod_path, at("wark/key"), how_often(20000));
	try_race("descriptor", flip_descriptor, chmod_descriptor, at("ro/file"), how_often(20000));
	racing.mode = 0753; /* which nobody has given it yet */
	try_race("by-name", flip_descriptor, chmod_by_name, at("ro/file"), how_often(20000) / 10);
}
