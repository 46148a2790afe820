/* SPDX-License-Identifier: MIT */
/*
 * The table of attacks, how their steps are counted, and the ways into the kernel that they share.
 */
#include "attack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>

static const struct {
	const char *id;
	void (*attack)(void);
} cases[] = {
#define CASE(id, topic, title, function, ...) { #id, function },
#include "cases.def"
#undef CASE
};

static const char *world;
static char **facts;
static unsigned succeeded, failed;
static bool hopeless; /* what must fail everywhere did not */

const char *at(const char *format, ...)
{
	static _Thread_local char paths[16][512]; /* small: some threads have little room */
	static _Thread_local unsigned turn;
	char *path = paths[turn++ % 16];
	size_t length = (size_t)snprintf(path, sizeof(paths[0]), "%s/", world);
	va_list args;

	va_start(args, format);
	vsnprintf(path + length, sizeof(paths[0]) - length, format, args);
	va_end(args);
	return path;
}

void cannot_judge(const char *why)
{
	printf("why: %s\n", why);
	fflush(stdout);
	_exit(2);
}

const char *has_fact(const char *name)
{
	size_t length = strlen(name);

	for (char **f = facts; *f; f++)
		if (!strncmp(*f, name, length) && (*f)[length] == '=')
			return *f + length + 1;
	return NULL;
}

const char *fact(const char *name)
{
	const char *value = has_fact(name);

	if (!value)
		cannot_judge(name);
	return value;
}

long fact_number(const char *name)
{
	return strtol(fact(name), NULL, 0);
}

static const char *name_of(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(error) { error, #error }
		NAME(EPERM),
		NAME(ENOENT),
		NAME(ESRCH),
		NAME(EIO),
		NAME(ENXIO),
		NAME(EBADF),
		NAME(EAGAIN),
		NAME(ENOMEM),
		NAME(EACCES),
		NAME(EFAULT),
		NAME(EBUSY),
		NAME(EEXIST),
		NAME(EXDEV),
		NAME(EFBIG),
		NAME(ENODEV),
		NAME(ENOTDIR),
		NAME(EISDIR),
		NAME(EINVAL),
		NAME(ENOTTY),
		NAME(ETXTBSY),
		NAME(EROFS),
		NAME(ENOSYS),
		NAME(E2BIG),
		NAME(ENOEXEC),
		NAME(EOPNOTSUPP),
		NAME(ECONNREFUSED),
		NAME(ENAMETOOLONG),
		NAME(ENOTEMPTY),
		NAME(ELOOP),
		NAME(EMFILE),
		NAME(EINTR),
#undef NAME
		{ SIGNALLED + SIGSYS, "SIGSYS" },
	};
	static char number[16];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	snprintf(number, sizeof(number), "%d", error);
	return number;
}

static bool tell(const char *name, long result)
{
	int error = errno;

	printf("step %s %s\n", name, result < 0 ? name_of(error) : "ok");
	return result >= 0;
}

void step(const char *name, long result)
{
	if (tell(name, result))
		succeeded++;
	else
		failed++;
}

void maybe(const char *name, long result)
{
	if (tell(name, result))
		succeeded++;
}

void never(const char *name, long result)
{
	if (tell(name, result))
		hopeless = true;
}

void must(const char *name, long result)
{
	if (result < 0) {
		tell(name, result);
		hopeless = true;
	}
}

void answers(const char *name, long result, int error)
{
	int got = result < 0 ? errno : 0;

	if (got != error)
		printf("%s: %s", name, name_of(got));
	if (got != error)
		printf(", not %s\n", name_of(error));
	errno = got ? got : EINVAL;
	step(name, got == error ? 0 : -1);
}

void reached(const char *name, long result)
{
	bool refused = result < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS ||
				      errno == EOPNOTSUPP || errno >= SIGNALLED);

	maybe(name, refused ? -1 : 0);
}

static int conclude(void)
{
	fflush(stdout);
	if (hopeless)
		return 3;
	if (!succeeded)
		return 1;
	return failed ? 3 : 0;
}

long in_child(long (*attempt)(void))
{
	int answers[2], error = 0;
	int status = 0;
	pid_t pid;

	fflush(stdout);
	if (pipe(answers) < 0 || (pid = fork()) < 0)
		cannot_judge("no child");
	if (pid == 0) {
		error = attempt() < 0 ? errno : 0;
		fflush(stdout);
		_exit(write(answers[1], &error, sizeof(error)) != sizeof(error));
	}
	close(answers[1]);
	if (waitpid(pid, &status, 0) != pid || read(answers[0], &error, sizeof(error)) < 0)
		cannot_judge("no answer of the child");
	close(answers[0]);
	if (WIFSIGNALED(status))
		error = SIGNALLED + WTERMSIG(status);
	errno = error;
	return error ? -1 : 0;
}

void wait_for_harness(void)
{
	char go;

	printf("ready\n");
	fflush(stdout);
	if (read(STDIN_FILENO, &go, 1) != 1)
		cannot_judge("the harness is gone");
}

__attribute__((format(printf, 2, 3))) static void put(const char *path, const char *format, ...)
{
	char text[64];
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	va_list args;
	int length;

	if (fd < 0)
		return;
	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (write(fd, text, (size_t)length) != length)
		fflush(stdout);
	close(fd);
}

void enter_namespaces(int flags)
{
	unsigned uid = geteuid(), gid = getegid();

	if (syscall(SYS_unshare, uid ? flags | CLONE_NEWUSER : flags) < 0)
		return;
	if (uid) {
		put("/proc/self/setgroups", "deny");
		put("/proc/self/uid_map", "0 %u 1", uid);
		put("/proc/self/gid_map", "0 %u 1", gid);
	}
	if ((flags & CLONE_NEWNS) && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		cannot_judge("mounts would be seen outside");
}

void spill_bytes(const void *bytes, size_t size)
{
	printf("spilled: %.*s\n", (int)size, (const char *)bytes);
}

int spill_fd(int fd)
{
	char bytes[4096];
	ssize_t got = read(fd, bytes, sizeof(bytes));

	if (got < 0)
		return -1;
	for (ssize_t i = 0; i < got; i++)
		if (!bytes[i])
			bytes[i] = '\n';
	spill_bytes(bytes, (size_t)got);
	return 0;
}

int spill(const char *path)
{
	int fd = do_open(path, O_RDONLY, 0), result, error;

	if (fd < 0)
		return -1;
	result = spill_fd(fd);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

static long (*own_call)(long number, ...);

/* The system call instruction on a page of its own, where no library and no filter expects it. */
static void make_own_call(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = {
		0x48, 0x89, 0xf8, /* mov %rdi, %rax */
		0x48, 0x89, 0xf7, /* mov %rsi, %rdi */
		0x48, 0x89, 0xd6, /* mov %rdx, %rsi */
		0x48, 0x89, 0xca, /* mov %rcx, %rdx */
		0x4d, 0x89, 0xc2, /* mov %r8, %r10 */
		0x4d, 0x89, 0xc8, /* mov %r9, %r8 */
		0x0f, 0x05, /* syscall */
		0xc3, /* ret */
	};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		cannot_judge("no page");
	memcpy(page, code, sizeof(code));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		cannot_judge("no executable page");
	memcpy(&own_call, &page, sizeof(page));
#else
	cannot_judge("no code for this processor");
#endif
}

static int answer(long result)
{
	if (result >= 0 || result < -4095)
		return (int)result;
	errno = (int)-result;
	return -1;
}

long do_call(long number, long a, long b, long c, long d, long e)
{
	long result;

	if (!own_call)
		return syscall(number, a, b, c, d, e);
	result = own_call(number, a, b, c, d, e);
	if (result >= 0 || result < -4095)
		return result;
	errno = (int)-result;
	return -1;
}

void become(const char *program, const char *id, const char *more)
{
	const char *argv[8] = { "attack" };
	size_t count = 1;

	if (own_call)
		argv[count++] = "-o";
	argv[count++] = id;
	argv[count++] = world;
	argv[count++] = more;
	fflush(stdout);
	execv(program, (char *const *)argv);
}

#define BY(number, libc, ...) (own_call ? answer(own_call(number, __VA_ARGS__)) : (libc))

int do_open(const char *path, int flags, int mode)
{
	return BY(SYS_openat, open(path, flags, mode), AT_FDCWD, path, (long)flags, (long)mode);
}

int do_unlink(const char *path)
{
	return BY(SYS_unlink, unlink(path), path);
}

int do_rmdir(const char *path)
{
	return BY(SYS_rmdir, rmdir(path), path);
}

int do_mkdir(const char *path, int mode)
{
	return BY(SYS_mkdir, mkdir(path, (mode_t)mode), path, (long)mode);
}

int do_mknod(const char *path, int mode, dev_t device)
{
	return BY(SYS_mknod, mknod(path, (mode_t)mode, device), path, (long)mode, (long)device);
}

int do_rename(const char *from, const char *to)
{
	return BY(SYS_rename, rename(from, to), from, to);
}

/* musl has no renameat2. */
int do_exchange(const char *a, const char *b)
{
	return BY(SYS_renameat2, (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2), AT_FDCWD,
		  a, AT_FDCWD, b, 2L);
}

int do_link(const char *from, const char *to)
{
	return BY(SYS_link, link(from, to), from, to);
}

int do_symlink(const char *target, const char *path)
{
	return BY(SYS_symlink, symlink(target, path), target, path);
}

int do_truncate(const char *path, long size)
{
	return BY(SYS_truncate, truncate(path, size), path, size);
}

long how_often(long usually)
{
	return has_fact("times") ? fact_number("times") : usually;
}

double seconds(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

void run_threads(pthread_t *threads, int count, void *(*body)(void *))
{
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, body, (void *)(long)i))
			cannot_judge("no thread");
}

void join_threads(const pthread_t *threads, int count)
{
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
}

int write_into(const char *path, int flags)
{
	int fd = do_open(path, flags | O_CLOEXEC, 0600), result;

	if (fd < 0)
		return -1;
	result = write(fd, "evil", 4) == 4 ? 0 : -1;
	close(fd);
	return result;
}

long opens(const char *path, int flags)
{
	int fd = do_open(path, flags, 0600);

	return fd < 0 ? -1 : close(fd);
}

/* The whole file. */
bool has_text(int fd, const char *text)
{
	char bytes[128];
	ssize_t got = read(fd, bytes, sizeof(bytes) - 1);

	if (got < 0)
		return false;
	bytes[got] = 0;
	return !strcmp(bytes, text);
}

static int launch(char **command)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		execv(command[0], command);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 125;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "launch"))
		return launch(argv + 2);
	if (argc > 1 && !strcmp(argv[1], "-o")) {
		make_own_call();
		argv++;
		argc--;
	}
	if (argc < 3)
		return 2;
	world = argv[2];
	facts = argv + 3;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!strcmp(cases[i].id, argv[1])) {
			cases[i].attack();
			return conclude();
		}
	}
	cannot_judge("no such case");
}
