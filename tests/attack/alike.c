/* SPDX-License-Identifier: MIT */
/*
 * What must stay as it is without a sandbox, whoever answers a call: that it happens once, for whom it
 * was made, with that one's umask, limits and descriptors, and with the kernel's own answers to
 * arguments that make no sense.
 */
#include "attack.h"

#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>

static void alarm_rang(int number)
{
	(void)number;
}

/*
 * Each of them happens once, whatever comes in between: a second time would answer otherwise. A call
 * that waits to be asked about can be interrupted before anybody has heard of it, where the handler
 * does not restart calls; then it has not happened.
 */
#define ONCE(name, call)                                                \
	do {                                                            \
		long result;                                            \
		do                                                      \
			result = call;                                  \
		while (result < 0 && errno == EINTR && !storm.restart); \
		must(name, result);                                     \
	} while (0)

static struct {
	bool restart;
} storm;

static void change_once(long i)
{
	ONCE("mkdir", do_mkdir(at("work/d%ld", i), 0700));
	ONCE("rename", do_rename(at("work/d%ld", i), at("work/e%ld", i)));
	ONCE("rmdir", do_rmdir(at("work/e%ld", i)));
	ONCE("create", opens(at("work/f%ld", i), O_CREAT | O_EXCL | O_WRONLY));
	ONCE("link", do_link(at("work/f%ld", i), at("work/g%ld", i)));
	ONCE("unlink", do_unlink(at("work/f%ld", i)));
	ONCE("unlink-link", do_unlink(at("work/g%ld", i)));
}

void interrupted_calls(void)
{
	struct itimerval every = { { 0, 150 }, { 0, 150 } }, none = { 0 };
	struct sigaction action = { .sa_handler = alarm_rang };

	for (int restart = 0; restart < 2; restart++) {
		storm.restart = restart;
		action.sa_flags = restart ? SA_RESTART : 0;
		if (sigaction(SIGALRM, &action, NULL) < 0 || setitimer(ITIMER_REAL, &every, NULL))
			cannot_judge("no alarms");
		for (long i = 0; i < how_often(200); i++)
			change_once(i);
		setitimer(ITIMER_REAL, &none, NULL);
	}
	step("once", 0);
}

/* A line of a file in /proc, as a number. */
static long number_in(const char *path, const char *name)
{
	char text[4096];
	int fd = do_open(path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t got;
	char *line;

	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got < 0 ? 0 : got] = 0;
	return (line = strstr(text, name)) ? strtol(line + strlen(name), NULL, 10) : -1;
}

static void is_mine(const char *name, long number, long mine)
{
	errno = EINVAL;
	step(name, number == mine ? 0 : -1);
}

static void *look_at_own_thread(void *nothing)
{
	is_mine("thread-self", number_in("/proc/thread-self/status", "\nPid:"),
		syscall(SYS_gettid));
	is_mine("thread-tgid", number_in("/proc/thread-self/status", "\nTgid:"), getpid());
	is_mine("self-of-thread", number_in("/proc/self/status", "\nPid:"), getpid());
	return nothing;
}

static long look_at_own_process(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/../%d/status", getpid());
	errno = EINVAL;
	return number_in("/proc/self/status", "\nPid:") == getpid() &&
			       number_in("/proc/self/status", "\nPPid:") == getppid() &&
			       number_in(path, "\nPid:") == getpid()
		       ? 0
		       : -1;
}

void own_proc(void)
{
	pthread_t thread;

	is_mine("self", number_in("/proc/self/status", "\nPid:"), getpid());
	if (do_symlink("/proc/self/status", at("work/status")) < 0)
		cannot_judge("no link in work");
	is_mine("by-link", number_in(at("work/status"), "\nPid:"), getpid());
	if (chdir("/proc/self") < 0)
		cannot_judge("no way into /proc/self");
	is_mine("relative", number_in("status", "\nPid:"), getpid());
	run_threads(&thread, 1, look_at_own_thread);
	join_threads(&thread, 1);
	step("child", in_child(look_at_own_process));
}

/* Memory and descriptors under names that mean whoever asks. */
void own_memory(void)
{
	static volatile long word = 0x5eed;
	int fd = do_open("/proc/self/mem", O_RDONLY, 0), mine;
	char name[32];
	long seen = 0;

	if (fd >= 0)
		is_mine("mem", pread(fd, &seen, sizeof(seen), (off_t)(size_t)&word) < 0 ? -1 : seen,
			word);
	fd = do_open("/proc/self/mem", O_RDWR, 0);
	if (fd >= 0) {
		seen = 0xfeed;
		must("write", pwrite(fd, &seen, sizeof(seen), (off_t)(size_t)&word));
		is_mine("written", word, 0xfeed);
	} else if (errno != EACCES) {
		step("mem", -1);
	}
	if ((mine = open(at("work/a"), O_RDONLY)) < 0)
		cannot_judge("no file of its own");
	snprintf(name, sizeof(name), "/proc/self/fd/%d", mine);
	is_mine("proc-fd", has_text(do_open(name, O_RDONLY, 0), "mine\n"), true);
	snprintf(name, sizeof(name), "/dev/fd/%d", mine);
	is_mine("dev-fd", has_text(do_open(name, O_RDONLY, 0), "mine\n"), true);
	if (dup2(mine, 0) != 0)
		cannot_judge("no standard input");
	is_mine("dev-stdin", has_text(do_open("/dev/stdin", O_RDONLY, 0), "mine\n"), true);
}

static long mode_of(const char *path)
{
	struct stat status;

	return stat(path, &status) < 0 ? -1 : (long)(status.st_mode & 07777);
}

void own_umask(void)
{
	static const mode_t masks[] = { 077, 027, 0 };

	for (int i = 0; i < 3; i++) {
		umask(masks[i]);
		must("create", do_open(at("work/file%d", i), O_CREAT | O_WRONLY, 0666));
		must("mkdir", do_mkdir(at("work/dir%d", i), 0777));
		must("mkfifo", do_mknod(at("work/fifo%d", i), S_IFIFO | 0666, 0));
		is_mine("file", mode_of(at("work/file%d", i)), 0666 & ~masks[i]);
		is_mine("folder", mode_of(at("work/dir%d", i)), 0777 & ~masks[i]);
		is_mine("fifo", mode_of(at("work/fifo%d", i)), 0666 & ~masks[i]);
	}
}

/* What an open gave: the lowest number, and the flags that were asked for. */
static void has_flags(const char *name, int fd, int flags, int lowest)
{
	is_mine(name, fd, lowest);
	is_mine("close-on-exec", fcntl(fd, F_GETFD), flags & O_CLOEXEC ? FD_CLOEXEC : 0);
	is_mine("flags", fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND | O_NONBLOCK),
		flags & (O_ACCMODE | O_APPEND | O_NONBLOCK));
	close(fd);
}

void close_on_exec(void)
{
	static const int all[] = { O_RDONLY,
				   O_RDONLY | O_CLOEXEC,
				   O_RDWR | O_CLOEXEC,
				   O_WRONLY | O_APPEND | O_CLOEXEC,
				   O_RDONLY | O_NONBLOCK,
				   O_RDWR | O_NONBLOCK | O_CLOEXEC };
	int lowest = dup(0);

	close(lowest);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct open_how how = { .flags = (unsigned)all[i] };

		has_flags("open", do_open(at("work/a"), all[i], 0), all[i], lowest);
		has_flags("openat2",
			  (int)do_call(NR_openat2, AT_FDCWD, (long)at("work/a"), (long)&how,
				       sizeof(how), 0),
			  all[i], lowest);
	}
}

static long open_until_full(void)
{
	struct rlimit limit = { 20, 20 };
	int fd, last = -1;

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return -1;
	while ((fd = do_open(at("work/a"), O_RDONLY, 0)) >= 0)
		last = fd;
	if (errno != EMFILE)
		return -1;
	if (last != 19 || do_open(at("work/new"), O_CREAT | O_RDWR, 0600) >= 0 || errno != EMFILE)
		return errno = EINVAL, -1;
	close(19);
	if (do_open(at("work/a"), O_RDWR, 0) != 19)
		return errno = EINVAL, -1;
	return 0;
}

void descriptor_limit(void)
{
	step("limit", in_child(open_until_full));
	answers("absent", access(at("work/new"), F_OK), ENOENT);
}

/* Where a call has its path; the other arguments are good ones. */
struct pathed {
	const char *name;
	long number;
	int where;
	long arguments[5];
};

static char unmade[256]; /* a path in work where nothing is */
static char made[256]; /* a file there */
static struct open_how plain;

static const struct pathed pathed_calls[] = {
	{ "open", SYS_open, 0, { 0, O_RDONLY } },
	{ "creat", SYS_creat, 0, { 0, 0600 } },
	{ "openat", SYS_openat, 1, { AT_FDCWD, 0, O_RDWR } },
	{ "openat-create", SYS_openat, 1, { AT_FDCWD, 0, O_RDWR | O_CREAT, 0600 } },
	{ "openat2", NR_openat2, 1, { AT_FDCWD, 0, (long)&plain, sizeof(plain) } },
	{ "truncate", SYS_truncate, 0, { 0, 0 } },
	{ "mkdir", SYS_mkdir, 0, { 0, 0700 } },
	{ "mkdirat", SYS_mkdirat, 1, { AT_FDCWD, 0, 0700 } },
	{ "mknod", SYS_mknod, 0, { 0, S_IFREG | 0600, 0 } },
	{ "mknodat", SYS_mknodat, 1, { AT_FDCWD, 0, S_IFREG | 0600, 0 } },
	{ "unlink", SYS_unlink, 0, { 0 } },
	{ "unlinkat", SYS_unlinkat, 1, { AT_FDCWD, 0, 0 } },
	{ "rmdir", SYS_rmdir, 0, { 0 } },
	{ "rename-from", SYS_rename, 0, { 0, (long)unmade } },
	{ "rename-to", SYS_rename, 1, { (long)made, 0 } },
	{ "renameat", SYS_renameat, 3, { AT_FDCWD, (long)made, AT_FDCWD, 0 } },
	{ "renameat2", SYS_renameat2, 1, { AT_FDCWD, 0, AT_FDCWD, (long)unmade, 0 } },
	{ "link-from", SYS_link, 0, { 0, (long)unmade } },
	{ "link-to", SYS_link, 1, { (long)made, 0 } },
	{ "linkat", SYS_linkat, 3, { AT_FDCWD, (long)made, AT_FDCWD, 0, 0 } },
	{ "symlink-target", SYS_symlink, 0, { 0, (long)unmade } },
	{ "symlink-path", SYS_symlink, 1, { (long)made, 0 } },
	{ "symlinkat", SYS_symlinkat, 2, { (long)made, AT_FDCWD, 0 } },
	{ "execve", SYS_execve, 0, { 0, 0, 0 } },
	{ "execveat", SYS_execveat, 1, { AT_FDCWD, 0, 0, 0, 0 } },
};

static void call_with(const struct pathed *call, const char *kind, long path, int error)
{
	long a[5];
	char name[64];

	memcpy(a, call->arguments, sizeof(a));
	a[call->where] = path;
	snprintf(name, sizeof(name), "%s-%s", call->name, kind);
	answers(name, do_call(call->number, a[0], a[1], a[2], a[3], a[4]), error);
}

void bad_pointers(void)
{
	char *pages =
		mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || mprotect(pages + 8192, 4096, PROT_NONE) < 0 ||
	    munmap(pages + 12288, 4096) < 0)
		cannot_judge("no pages");
	snprintf(made, sizeof(made), "%s", at("work/a"));
	snprintf(unmade, sizeof(unmade), "%s", at("work/unmade"));
	for (size_t i = 0; i < sizeof(pathed_calls) / sizeof(pathed_calls[0]); i++) {
		const struct pathed *call = &pathed_calls[i];

		memset(pages, 'a', 8192);
		call_with(call, "null", 0, EFAULT);
		call_with(call, "low", 1, EFAULT);
		call_with(call, "unmapped", (long)pages + 12288, EFAULT);
		call_with(call, "protected", (long)pages + 8192, EFAULT);
		call_with(call, "kernel", (long)0xffff800000000000UL, EFAULT);
		call_with(call, "last", -1, EFAULT);
		call_with(call, "into-nothing", (long)pages + 8192 - 5, EFAULT);
		call_with(call, "endless", (long)pages, ENAMETOOLONG);
		call_with(call, "almost-endless", (long)pages + 4096, ENAMETOOLONG);
		call_with(call, "empty", (long)"", ENOENT);
	}
	memcpy(pages + 8192 - strlen(made) - 1, made, strlen(made) + 1);
	answers("to-the-end", do_open(pages + 8192 - strlen(made) - 1, O_RDWR, 0) < 0 ? -1 : 0, 0);
}

/* Calls of libc, with the same. */
static char *volatile nowhere;

void bad_pointers_to_libc(void)
{
	char *volatile low = (char *)8;

	answers("open", do_open(nowhere, O_RDONLY, 0), EFAULT);
	answers("open-low", do_open(low, O_RDONLY, 0), EFAULT);
	answers("create", do_open(nowhere, O_RDWR | O_CREAT, 0600), EFAULT);
	answers("unlink", do_unlink(nowhere), EFAULT);
	answers("rmdir", do_rmdir(low), EFAULT);
	answers("mkdir", do_mkdir(nowhere, 0700), EFAULT);
	answers("mknod", do_mknod(low, S_IFREG | 0600, 0), EFAULT);
	answers("rename", do_rename(nowhere, at("work/x")), EFAULT);
	answers("rename-to", do_rename(at("work/a"), low), EFAULT);
	answers("link", do_link(at("work/a"), nowhere), EFAULT);
	answers("symlink", do_symlink(nowhere, at("work/x")), EFAULT);
	answers("truncate", do_truncate(nowhere, 0), EFAULT);
	answers("execve", execve(nowhere, environ, environ), EFAULT);
}

static const struct {
	const char *path;
	bool outside; /* with some flags; then success and refusal are the same */
} resolved[] = {
	{ "a", 0 },
	{ "./a", 0 },
	{ "folder/../a", 0 },
	{ "folder/../../work/a", 0 },
	{ "../work/a", 0 },
	{ "..", 1 },
	{ "../secret/key", 1 },
	{ "/", 1 },
	{ "/a", 0 },
	{ "/work/a", 0 },
	{ "/../a", 0 },
	{ "to-a", 0 },
	{ "to-folder/in", 0 },
	{ "to-root", 1 },
	{ "to-key", 1 },
	{ "to-parent/work/a", 0 },
	{ "to-parent/secret/key", 1 },
	{ "to-itself", 0 },
	{ "to-missing", 0 },
	{ "missing", 0 },
	{ "a/b", 0 },
	{ "folder", 0 },
	{ "folder/", 0 },
	{ "a/", 0 },
	{ "", 0 },
	{ "/proc/self/fd/0", 0 },
	{ "/proc/self/status", 0 },
};

/* Whoever renames anything meanwhile makes ".." below a folder EAGAIN: then it is tried again. */
static int resolve(int folder, const char *path, unsigned long long flags)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = flags };
	long fd = -1;

	for (int i = 0; i < 1000; i++) {
		fd = do_call(NR_openat2, folder, (long)path, (long)&how, sizeof(how), 0);
		if (fd >= 0 || errno != EAGAIN || flags & RESOLVE_CACHED)
			break;
	}
	return fd < 0 ? errno : (close((int)fd), 0);
}

/* Where a mount covers it, it is another one. */
static bool is_refused(int error, unsigned long long flags)
{
	return error == EACCES || (error == EXDEV && flags & RESOLVE_NO_XDEV);
}

static void resolve_all(int folder, unsigned long long flags)
{
	for (size_t i = 0; i < sizeof(resolved) / sizeof(resolved[0]); i++) {
		const char *path = resolved[i].path;
		int error = resolve(folder, path, flags);
		int cached = resolve(folder, path, flags | RESOLVE_CACHED);

		errno = cached;
		must(path, cached == error || cached == EAGAIN ? 0 : -1);
		printf("resolve %llx '%s': %d\n", flags, path,
		       resolved[i].outside && is_refused(error, flags) ? 0 : error);
	}
}

static void resolve_oddly(int folder)
{
	struct {
		struct open_how how;
		unsigned long long more;
	} odd = { .how = { .flags = O_RDONLY } };
	static const unsigned long long how[][4] = { /* flags, mode, resolve, more */
						     { O_RDONLY, 0, 0, 1 },
						     { O_RDONLY, 0600, 0, 0 },
						     { O_RDONLY, 0, 1ULL << 40, 0 },
						     { 1ULL << 40, 0, 0, 0 },
						     { O_CREAT | O_RDWR, 0600, 0, 0 },
						     { O_CREAT | O_RDWR, 01234567, 0, 0 },
						     { O_PATH | O_RDWR, 0, 0, 0 }
	};

	for (size_t i = 0; i < sizeof(how) / sizeof(how[0]); i++)
		for (long size = 0; size <= (long)sizeof(odd); size += 8) {
			long fd;

			odd.how = (struct open_how){ how[i][0], how[i][1], how[i][2] };
			odd.more = how[i][3];
			fd = do_call(NR_openat2, folder, (long)"a", (long)&odd, size, 0);
			printf("resolve oddly %zu, size %ld: %d\n", i, size, fd < 0 ? errno : 0);
			if (fd >= 0)
				close((int)fd);
		}
	printf("resolve nowhere: %ld, %d\n", do_call(NR_openat2, folder, (long)"a", 8, 24, 0),
	       errno);
}

/* The harness compares what is printed with what was printed natively. */
void openat2_flags(void)
{
	int folder = open(at("work"), O_PATH | O_DIRECTORY);

	if (folder < 0 || do_symlink("a", at("work/to-a")) < 0 ||
	    do_symlink("folder", at("work/to-folder")) < 0 ||
	    do_symlink("/", at("work/to-root")) < 0 ||
	    do_symlink(at("secret/key"), at("work/to-key")) < 0 ||
	    do_symlink("..", at("work/to-parent")) < 0 ||
	    do_symlink("to-itself", at("work/to-itself")) < 0 ||
	    do_symlink("not-there", at("work/to-missing")) < 0 ||
	    close(open(at("work/folder/in"), O_CREAT | O_WRONLY, 0600)) < 0)
		cannot_judge("no links in work");
	for (unsigned long long flags = 0; flags < RESOLVE_CACHED; flags++)
		resolve_all(folder, flags);
	resolve_oddly(folder);
	step("compared", 0);
}
