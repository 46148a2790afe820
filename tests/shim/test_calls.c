/* SPDX-License-Identifier: MIT */
/*
 * Every function of the file and socket families: allowed, refused, missing; its result, its errno,
 * and the words that its system calls carry. Built for glibc and for musl.
 */
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netdb.h>
#include <netinet/in.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <tap.h>

#ifdef __GLIBC__
#define INNER "openat"
#else
#define INNER "open" /* what musl's own functions open with */
/* The shim has them, whatever the libc. */
int renameat2(int, const char *, int, const char *, unsigned int);
#define open64 open
#define creat64 creat
#define truncate64 truncate
#endif

/* Only reached through headers of glibc's that rename calls. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int dir, const char *path, int flags);
int __openat64_2(int dir, const char *path, int flags);
int __xmknod(int version, const char *path, mode_t mode, dev_t *device);
int __xmknodat(int version, int dir, const char *path, mode_t mode, dev_t *device);
#pragma weak __open_2
#pragma weak __open64_2
#pragma weak __openat_2
#pragma weak __openat64_2
#pragma weak renameat2

#define P watch_path
static int result, error;

/* Makes a call with errno set to something that it must leave alone, or set. */
#define TRY(call)                      \
	do {                           \
		watch_clear();         \
		errno = ENOTTY;        \
		result = settle(call); \
		error = errno;         \
	} while (0)

#define settle(value) \
	_Generic((value),                           \
		FILE *: settle_stream,              \
		DIR *: settle_folder,               \
		char *: settle_text,                \
		long: settle_long,                  \
		int: settle_fd)(value)

/* Descriptors are closed again; results of other calls are 0 and -1. */
static int settle_fd(int fd)
{
	int saved = errno;

	if (fd > 2)
		(void)close(fd);
	errno = saved;
	return fd;
}

static int settle_long(long value)
{
	return settle_fd((int)value);
}

static int settle_text(const char *text)
{
	return text ? 0 : -1;
}

static int settle_stream(FILE *file)
{
	int saved = errno;

	if (file)
		(void)fclose(file);
	errno = saved;
	return file ? 0 : -1;
}

static int settle_folder(DIR *dir)
{
	int saved = errno;

	if (dir)
		(void)closedir(dir);
	errno = saved;
	return dir ? 0 : -1;
}

static void allowed(const char *log, const char *name)
{
	ok(result >= 0, "%s: succeeds", name);
	is(watch_log(), log, "%s: is made once, vouched for where that helps", name);
	cmp_ok(error, "==", ENOTTY, "%s: leaves errno alone", name);
}

static void refused(const char *log, const char *name)
{
	cmp_ok(result, "==", -1, "%s refused: fails", name);
	is(watch_log(), log, "%s refused: is asked about once", name);
	cmp_ok(error, "==", EACCES, "%s refused: errno is the answer's", name);
}

static void missing(const char *log, const char *name)
{
	ok(result == -1 && error == ENOENT, "%s of nothing: ENOENT", name);
	is(watch_log(), log, "%s of nothing: nobody is asked", name);
}

/* A function that is one system call. */
#define ONE(name, call, good, bad)                 \
	do {                                       \
		TRY(good);                         \
		allowed(call "+", name);           \
		TRY(bad);                          \
		refused(call "+ " call "?", name); \
	} while (0)

static void test_open(void)
{
	volatile int flags = O_RDWR;
	struct stat st;

	(void)umask(022);
	ONE("open", "openat", open(P("file"), O_RDWR | O_CREAT, 0640),
	    open(P("refused"), O_RDONLY));
	ok(stat(P("file"), &st) == 0 && (st.st_mode & 0777) == 0640, "the mode gets there");
	TRY(open(P("missing"), O_RDONLY));
	missing("openat+", "open");
	ONE("open64", "openat", open64(P("file"), O_RDONLY), open64(P("refused"), O_RDONLY));
	ONE("openat", "openat", openat(AT_FDCWD, P("file"), flags),
	    openat(AT_FDCWD, P("refused"), flags));
	ONE("creat", "creat", creat(P("file"), 0600), creat(P("refused"), 0600));
	ONE("creat64", "creat", creat64(P("file"), 0600), creat64(P("refused"), 0600));
	if (__open_2)
		ONE("__open_2", "openat", __open_2(P("file"), flags),
		    __open_2(P("refused"), flags));
	if (__open64_2)
		ONE("__open64_2", "openat", __open64_2(P("file"), flags),
		    __open64_2(P("refused"), flags));
	if (__openat_2)
		ONE("__openat_2", "openat", __openat_2(AT_FDCWD, P("file"), flags),
		    __openat_2(AT_FDCWD, P("refused"), flags));
	if (__openat64_2)
		ONE("__openat64_2", "openat", __openat64_2(AT_FDCWD, P("file"), flags),
		    __openat64_2(AT_FDCWD, P("refused"), flags));
	ONE("open of a temporary file", "openat", open(watch_dir, O_TMPFILE | O_RDWR, 0600),
	    open(P("refused"), O_TMPFILE | O_RDWR, 0600));
}

/* Not for the compiler to know. */
static volatile uintptr_t nowhere;

static void test_bad_pointers(void)
{
	char *bad = (char *)(nowhere + 8), *null = (char *)nowhere;

#define FAULTS(call) \
	TRY(call);   \
	ok(result == -1 && error == EFAULT, "%s: EFAULT", #call)
	FAULTS(open(bad, O_RDONLY));
	FAULTS(open(null, O_RDONLY));
	FAULTS(unlink(null));
	FAULTS(rename(bad, bad));
	FAULTS(mkdir(null, 0));
	FAULTS(truncate(bad, 0));
	FAULTS(execve(bad, (char **)null, (char **)null));
	FAULTS(execve("/bin/true", (char **)bad, (char **)bad));
	FAULTS(execve("/bin/true", (char **)null, (char *[]){ bad, NULL }));
	FAULTS(connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)bad, 16));
#undef FAULTS
	ok(getaddrinfo(NULL, NULL, (struct addrinfo *)bad, (struct addrinfo **)null) == EAI_NONAME,
	   "a look-up of nothing: nothing else is looked at");
}

static void test_each_error(void)
{
	static const int errors[] = { EACCES, EPERM, EROFS, EXDEV };
	static const int others[] = { EINVAL, EBUSY, EMFILE, ELOOP, ENOSYS, ENOENT };

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		watch_refuse_with(errors[i]);
		TRY(open(P("refused"), O_RDONLY));
		ok(result == -1 && error == errors[i], "errno %d stays what it is", errors[i]);
		is(watch_log(), "openat+ openat?", "and is asked about");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		watch_refuse_with(others[i]);
		TRY(open(P("refused"), O_RDONLY));
		ok(result == -1 && error == others[i], "errno %d stays what it is", others[i]);
		is(watch_log(), "openat+", "and is not asked about");
	}
	watch_refuse_with(EACCES);
	watch_allow_asked(true);
	TRY(open(P("refused"), O_RDWR | O_CREAT, 0600));
	allowed("openat+ openat?", "open that the answer allows");
	TRY(unlink(P("refused")));
	allowed("unlink+ unlink?", "unlink that the answer allows");
	watch_allow_asked(false);
}

/* libc opens, bare. Of what reads the words are asked for afterwards; what writes was asked about. */
static void test_streams(void)
{
	FILE *file;

	TRY(fopen(P("file"), "w"));
	allowed(INNER "-", "fopen for writing");
	TRY(fopen(P("file"), "re"));
	allowed(INNER "-", "fopen for reading");
	TRY(fopen(P("refused"), "r"));
	refused(INNER "- openat?", "fopen for reading");
	TRY(fopen(P("refused"), "rb+"));
	refused(INNER "-", "fopen for reading and writing");
	TRY(fopen(P("refused"), "a"));
	refused(INNER "-", "fopen for appending");
	TRY(fopen(P("missing"), "r"));
	missing(INNER "-", "fopen");
	TRY(fopen(P("file"), "bad"));
	ok(result == -1 && error == EINVAL, "fopen with a bad mode: EINVAL");
	file = fopen("/dev/null", "r");
	TRY(freopen(P("refused"), "r", file));
	refused(INNER "- openat?", "freopen");
	file = fopen("/dev/null", "r");
	TRY(freopen(P("file"), "r", file));
	ok(result == 0, "freopen: succeeds");
	is(watch_log(), INNER "-", "freopen: nobody is asked");
	TRY(opendir(watch_dir));
	allowed("openat+", "opendir");
	TRY(opendir(P("refused")));
	refused("openat+ openat?", "opendir");
	TRY(opendir(P("missing")));
	missing("openat+", "opendir");
	TRY(opendir(P("file")));
	ok(result == -1 && error == ENOTDIR, "opendir of a file: ENOTDIR");
	TRY(opendir(""));
	ok(result == -1 && error == ENOENT, "opendir of no name: ENOENT");
}

static void test_entries(void)
{
	volatile dev_t null = makedev(1, 3);
	dev_t zero = 0;

	ONE("truncate", "truncate", truncate(P("file"), 5), truncate(P("refused"), 5));
	ONE("truncate64", "truncate", truncate64(P("file"), 5), truncate64(P("refused"), 5));
	ONE("mkdir", "mkdir", mkdir(P("dir"), 0700), mkdir(P("refused"), 0700));
	ONE("mkdirat", "mkdirat", mkdirat(AT_FDCWD, P("dir2"), 0700),
	    mkdirat(AT_FDCWD, P("refused"), 0700));
	ONE("symlink", "symlink", symlink("file", P("sym")), symlink("file", P("refused")));
	ONE("symlinkat", "symlinkat", symlinkat("file", AT_FDCWD, P("sym2")),
	    symlinkat("file", AT_FDCWD, P("refused")));
	ONE("link", "link", link(P("file"), P("hard")), link(P("file"), P("refused")));
	ONE("linkat", "linkat", linkat(AT_FDCWD, P("file"), AT_FDCWD, P("hard2"), 0),
	    linkat(AT_FDCWD, P("refused"), AT_FDCWD, P("hard3"), 0));
	ONE("rename", "rename", rename(P("hard"), P("hard3")), rename(P("hard2"), P("refused")));
	ONE("renameat", "renameat", renameat(AT_FDCWD, P("hard2"), AT_FDCWD, P("hard")),
	    renameat(AT_FDCWD, P("refused"), AT_FDCWD, P("hard2")));
	if (renameat2)
		ONE("renameat2", "renameat2",
		    renameat2(AT_FDCWD, P("hard"), AT_FDCWD, P("hard2"), 1),
		    renameat2(AT_FDCWD, P("refused"), AT_FDCWD, P("x"), 1));
	ONE("mkfifo", "mknodat", mkfifo(P("fifo"), 0600), mkfifo(P("refused"), 0600));
	ONE("mkfifoat", "mknodat", mkfifoat(AT_FDCWD, P("fifo2"), 0600),
	    mkfifoat(AT_FDCWD, P("refused"), 0600));
	ONE("mknod", "mknodat", mknod(P("node"), S_IFREG | 0600, 0),
	    mknod(P("refused"), S_IFCHR | 0600, null));
	ONE("mknodat", "mknodat", mknodat(AT_FDCWD, P("node2"), S_IFREG | 0600, 0),
	    mknodat(AT_FDCWD, P("refused"), S_IFCHR | 0600, null));
	ONE("__xmknod", "mknodat", __xmknod(0, P("node3"), S_IFIFO | 0600, &zero),
	    __xmknod(0, P("refused"), S_IFIFO | 0600, &zero));
	ONE("__xmknodat", "mknodat", __xmknodat(0, AT_FDCWD, P("node4"), S_IFIFO | 0600, &zero),
	    __xmknodat(0, AT_FDCWD, P("refused"), S_IFIFO | 0600, &zero));
}

static void test_deleting(void)
{
	static const char *const rest[] = { "sym2", "hard",  "hard2", "fifo",  "fifo2",
					    "node", "node2", "node3", "node4", "hard3" };

	TRY(remove(P("dir")));
	allowed("unlink+ rmdir+", "remove of a folder");
	TRY(remove(P("sym")));
	allowed("unlink+", "remove of a link");
	TRY(remove(P("refused")));
	refused("unlink+ unlink?", "remove");
	TRY(remove(P("missing")));
	missing("unlink+", "remove");
	(void)mkdir(P("dir"), 0700);
	(void)mkdir(P("dir/sub"), 0700);
	TRY(remove(P("dir")));
	ok(result == -1 && error == ENOTEMPTY, "remove of a folder with something in it");
	(void)rmdir(P("dir/sub"));
	ONE("rmdir", "rmdir", rmdir(P("dir")), rmdir(P("refused")));
	ONE("unlinkat", "unlinkat", unlinkat(AT_FDCWD, P("dir2"), AT_REMOVEDIR),
	    unlinkat(AT_FDCWD, P("refused"), 0));
	ONE("unlink", "unlink", unlink(P("file")), unlink(P("refused")));
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		(void)unlink(P(rest[i]));
}

/* Names that libc makes up. */
static void test_temporary(void)
{
	char good[128], bad[128], *path;

#define TEMPORARY(name, suffix, ...)                                             \
	path = good;                                                             \
	(void)snprintf(good, sizeof(good), "%s/XXXXXX" suffix, watch_dir);       \
	TRY(name(path __VA_ARGS__));                                             \
	ok(result >= 0, "%s works", #name);                                      \
	(void)remove(good);                                                      \
	path = bad;                                                              \
	(void)snprintf(bad, sizeof(bad), "%s/refused-XXXXXX" suffix, watch_dir); \
	TRY(name(path __VA_ARGS__));                                             \
	ok(result == -1 && error == EACCES, "%s refused: fails", #name);         \
	ok(!strchr(watch_log(), ' ') && !strchr(watch_log(), '?'), "%s: is tried once", #name)
	TEMPORARY(mkstemp, "");
	TEMPORARY(mkostemp, "", , O_CLOEXEC);
	TEMPORARY(mkstemps, ".c", , 2);
	TEMPORARY(mkostemps, ".c", , 2, O_CLOEXEC);
	TEMPORARY(mkdtemp, "");
#undef TEMPORARY
	TRY(tmpfile());
	ok(result == 0, "tmpfile works");
}

/* The file's header is read before, quietly. */
static void test_exec(void)
{
	char *const argv[] = { (char *)"x", NULL }, *const envp[] = { NULL };
	pid_t pid;

#define EXEC(call, log) \
	TRY(call);      \
	refused("openat+ " log, #call)
	EXEC(execve(P("refused"), argv, envp), "execve+ execve?");
	EXEC(execv(P("refused"), argv), "execve+ execve?");
	EXEC(execvp(P("refused"), argv), "execve+ execve?");
	EXEC(execvpe(P("refused"), argv, envp), "execve+ execve?");
	EXEC(execl(P("refused"), "x", "y", NULL), "execve+ execve?");
	EXEC(execle(P("refused"), "x", "y", NULL, envp), "execve+ execve?");
	EXEC(execlp(P("refused"), "x", "y", NULL), "execve+ execve?");
	EXEC(syscall(SYS_execve, P("refused"), argv, envp), "execve+ execve?");
	EXEC(syscall(SYS_execveat, AT_FDCWD, P("refused"), argv, envp, 0), "execveat+ execveat?");
#undef EXEC
	TRY(execve(P("missing"), argv, envp));
	missing("openat+ execve+", "execve");
	(void)setenv("PATH", P("refused"), 1);
	TRY(execlp("ls", "ls", NULL));
	refused("openat+ execve+ execve?", "execlp by PATH");
	watch_clear();
	cmp_ok(posix_spawn(&pid, P("refused"), NULL, NULL, argv, envp), "==", EACCES,
	       "posix_spawn refused: says so");
	is(watch_log(), "openat+ execve-", "posix_spawn refused: libc's own call is asked about");
}

/* Sockets have no path that is looked at here: what fails, fails in the kernel. */
static void test_sockets(void)
{
	struct sockaddr_in nobody = { .sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				      .sin_port = htons(1) };
	struct sockaddr_un local = { .sun_family = AF_UNIX };
	int fd = socket(AF_INET, SOCK_STREAM, 0), server = socket(AF_UNIX, SOCK_STREAM, 0);

	TRY(connect(fd, (struct sockaddr *)&nobody, sizeof(nobody)));
	ok(result == -1 && error == ECONNREFUSED, "connect to nobody: ECONNREFUSED");
	is(watch_log(), "connect+", "and nobody is asked");
	(void)close(fd);
	(void)snprintf(local.sun_path, sizeof(local.sun_path), "%s", P("sock"));
	TRY(bind(server, (struct sockaddr *)&local, sizeof(local)));
	allowed("bind+", "bind");
	(void)close(server);
	(void)unlink(P("sock"));
}

static void test_syscall(void)
{
	struct open_how how = { .flags = O_RDONLY };
	long page = sysconf(_SC_PAGESIZE);
	char *memory;

	(void)syscall(SYS_mknodat, AT_FDCWD, P("file"), S_IFREG | 0600, 0);
	ONE("syscall(SYS_openat)", "openat", syscall(SYS_openat, AT_FDCWD, P("file"), O_RDONLY),
	    syscall(SYS_openat, AT_FDCWD, P("refused"), O_RDONLY));
	/* The supervisor makes it in any case: asked at once. */
	TRY(syscall(SYS_openat2, AT_FDCWD, P("file"), &how, sizeof(how)));
	allowed("openat2?", "syscall(SYS_openat2)");
	TRY(syscall(SYS_openat2, AT_FDCWD, P("refused"), &how, sizeof(how)));
	refused("openat2?", "syscall(SYS_openat2)");
#ifdef SYS_open
	ONE("syscall(SYS_open)", "open", syscall(SYS_open, P("file"), O_RDONLY),
	    syscall(SYS_open, P("refused"), O_RDONLY));
	ONE("syscall(SYS_mkdir)", "mkdir", syscall(SYS_mkdir, P("dir"), 0700),
	    syscall(SYS_mkdir, P("refused"), 0700));
#endif
	ONE("syscall(SYS_unlinkat)", "unlinkat",
	    syscall(SYS_unlinkat, AT_FDCWD, P("dir"), AT_REMOVEDIR),
	    syscall(SYS_unlinkat, AT_FDCWD, P("refused"), 0));
	/* Six arguments: the second page of the file, which is the last. */
	(void)syscall(SYS_truncate, P("file"), 2 * page);
	int fd = open(P("file"), O_RDWR);
	(void)pwrite(fd, "x", 1, page);
	memory = (char *)syscall(SYS_mmap, NULL, page, 1, 2, fd, page);
	ok(memory != (char *)-1 && *memory == 'x', "syscall() passes all six arguments on");
	errno = 0;
	ok(syscall(SYS_close, -1) == -1 && errno == EBADF, "and sets errno");
	cmp_ok(syscall(SYS_getpid), "==", getpid(), "and returns results");
	ok(syscall(-1) == -1 && errno == ENOSYS, "also of calls that do not exist");
	(void)close(fd);
	(void)unlink(P("file"));
}

int main(int argc, char **argv)
{
	watch_start(argc, argv);
	plan(NO_PLAN);
	test_open();
	test_bad_pointers();
	test_each_error();
	test_streams();
	test_entries();
	test_deleting();
	test_temporary();
	test_exec();
	test_sockets();
	test_syscall();
	done_testing();
}
