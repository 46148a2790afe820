/* SPDX-License-Identifier: MIT */
/*
 * Attacks on files and folders.
 */
#include "attack.h"

#include <dirent.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

static int must_open(const char *path, int flags)
{
	int fd = do_open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		cannot_judge(path);
	return fd;
}

void read_outside(void)
{
	step("read", spill(at("secret/key")));
	step("read-write", do_open(at("secret/key"), O_RDWR, 0));
	step("open-tree", spill(at("secret/dir/deep")));
}

void create_outside(void)
{
	step("create", do_open(at("secret/new"), O_CREAT | O_WRONLY, 0600));
	step("exclusive", do_open(at("secret/new2"), O_CREAT | O_EXCL | O_RDWR, 0600));
	step("unnamed", do_open(at("secret"), O_TMPFILE | O_RDWR, 0600));
	step("beside", do_open(at("work-evil"), O_CREAT | O_WRONLY, 0600));
}

void write_read_only(void)
{
	step("write", write_into(at("ro/file"), O_WRONLY));
	step("append", write_into(at("ro/file"), O_WRONLY | O_APPEND));
	step("read-write", write_into(at("ro/file"), O_RDWR));
	step("create", write_into(at("ro/new"), O_WRONLY | O_CREAT));
}

void list_outside(void)
{
	DIR *folder;
	int fd = do_open(at("secret"), O_RDONLY | O_DIRECTORY, 0);

	step("list", fd);
	if (fd < 0 || !(folder = fdopendir(fd)))
		return;
	for (struct dirent *entry; (entry = readdir(folder));)
		printf("entry: %s\n", entry->d_name);
	closedir(folder);
}

void dot_dot(void)
{
	step("dot-dot", spill(at("work/../secret/key")));
	step("twice", spill(at("ro/../work/.././secret//key")));
	if (chdir(at("work")) < 0)
		cannot_judge("no way into work");
	step("relative", spill("../secret/key"));
	step("root",
	     spill(at("../../../../../../../../../../../../../../../../%s", at("secret/key"))));
	step("proc-root", spill(at("../../../../../../../../proc/self/root/%s", at("secret/key"))));
}

void symlink_out(void)
{
	if (do_symlink(at("secret/key"), at("work/l")) < 0 ||
	    do_symlink("../secret", at("work/d")) < 0 || do_symlink("d/key", at("work/l2")) < 0)
		cannot_judge("no links in work");
	step("absolute", spill(at("work/l")));
	step("folder", spill(at("work/d/key")));
	step("chain", spill(at("work/l2")));
}

void dangling_symlink(void)
{
	if (do_symlink(at("secret/new"), at("work/l")) < 0)
		cannot_judge("no links in work");
	step("create", write_into(at("work/l"), O_WRONLY | O_CREAT));
}

void hard_link_in(void)
{
	int linked = do_link(at("secret/key"), at("work/x"));

	step("link", linked);
	if (linked == 0)
		step("read", spill(at("work/x")));
	step("at", linkat(AT_FDCWD, at("secret/dir/deep"), AT_FDCWD, at("work/y"), 0));
	step("out", do_link(at("work/a"), at("secret/a")));
}

void rename_in(void)
{
	int renamed = do_rename(at("secret/key"), at("work/x"));

	step("rename", renamed);
	if (renamed == 0)
		step("read", spill(at("work/x")));
	step("folder", do_rename(at("secret/dir"), at("work/dir")));
}

void rename_out(void)
{
	step("rename", do_rename(at("work/a"), at("secret/a")));
	step("over", do_rename(at("work/b"), at("secret/key")));
	step("read-only", do_rename(at("work/c"), at("ro/file")));
}

void exchange_across(void)
{
	int exchanged = do_exchange(at("work/a"), at("secret/key"));

	step("exchange", exchanged);
	if (exchanged == 0)
		step("read", spill(at("work/a")));
	step("folders", do_exchange(at("work/folder"), at("secret/dir")));
}

void delete_outside(void)
{
	step("unlink", do_unlink(at("secret/key")));
	step("rmdir", do_rmdir(at("secret/empty")));
	step("read-only", do_unlink(at("ro/file")));
	step("at", unlinkat(AT_FDCWD, at("secret/dir/deep"), 0));
}

static int bind_at(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result, error;

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		cannot_judge("no socket");
	memcpy(address.sun_path, path, strlen(path) + 1);
	result = bind(fd, (struct sockaddr *)&address, sizeof(address));
	error = errno;
	close(fd);
	errno = error;
	return result;
}

void make_nodes_outside(void)
{
	step("mkdir", do_mkdir(at("secret/d"), 0700));
	step("mknod", do_mknod(at("secret/n"), S_IFREG | 0600, 0));
	step("mkfifo", do_mknod(at("secret/f"), S_IFIFO | 0600, 0));
	step("socket", do_mknod(at("secret/o"), S_IFSOCK | 0600, 0));
	step("symlink", do_symlink("key", at("secret/l")));
	step("bind", bind_at(at("secret/s")));
	step("read-only", do_mkdir(at("ro/d"), 0700));
}

void truncate_outside(void)
{
	step("truncate", do_truncate(at("secret/key"), 0));
	step("read-only", do_truncate(at("ro/file"), 1));
}

void trunc_read_only(void)
{
	static const unsigned ways[] = { O_RDONLY, NEITHER, O_WRONLY };
	const char *names[] = { "ro/file", "ro/file2", "secret/key" };

	step("trunc", do_open(at("ro/file"), O_RDONLY | O_TRUNC, 0));
	step("creat", creat(at("ro/file2"), 0600));
	for (int i = 0; i < 9; i++) {
		struct open_how how = { .flags = ways[i / 3] | O_TRUNC };
		const char *name = at("%s", names[i % 3]);

		step("open", do_open(name, (int)how.flags, 0));
		step("how", do_call(NR_openat2, AT_FDCWD, (long)name, (long)&how, sizeof(how), 0));
	}
}

/* The access mode that needs no right of Landlock's, and gives a descriptor to ask things of. */
void opened_for_neither(void)
{
	const char *names[] = { "ro/file", "secret/key" };
	struct open_how how = { .flags = NEITHER };

	for (int i = 0; i < 2; i++) {
		long name = (long)at("%s", names[i]);

		step("open", do_open(at("%s", names[i]), NEITHER, 0));
		step("raw", do_call(SYS_openat, AT_FDCWD, name, NEITHER, 0, 0));
		step("how", do_call(NR_openat2, AT_FDCWD, name, (long)&how, sizeof(how), 0));
		step("create", do_open(at("%s", names[i]), NEITHER | O_CREAT, 0600));
	}
	step("new", do_open(at("secret/new"), NEITHER | O_CREAT, 0600));
}

/* What ext4 calls its own: no right to write is needed. */
void change_version(void)
{
	unsigned long version = 7;
	int fd = must_open(at("ro/file"), O_RDONLY);

	maybe("version", ioctl(fd, _IOW('f', 4, long), &version));
	maybe("extents", ioctl(fd, _IO('f', 9)));
	reached("blocks", ioctl(fd, _IO('f', 12)));
	reached("subvolume", ioctl(fd, _IOC(_IOC_WRITE, 0x94, 14, 4096), NULL));
}

/* Another descriptor for the same file, by its name in /proc. */
static int reopen(int fd, int flags)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return do_open(name, flags, 0);
}

void ftruncate_read_only(void)
{
	int fd = must_open(at("ro/file"), O_RDONLY), again;

	never("for-reading", ftruncate(fd, 0));
	step("reopen", again = reopen(fd, O_RDWR));
	if (again >= 0)
		step("truncate", ftruncate(again, 0));
}

void map_read_only(void)
{
	int reading = must_open(at("ro/file"), O_RDONLY), writing, mem;
	char *map = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reading, 0);
	char *other;

	step("open", writing = do_open(at("ro/file"), O_RDWR, 0));
	if (map == MAP_FAILED)
		cannot_judge("no map for reading");
	never("protect", mprotect(map, 4096, PROT_READ | PROT_WRITE));
	other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reading, 0);
	never("map-for-reading", other == MAP_FAILED ? -1 : 0);
	if ((mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC)) >= 0)
		never("proc-mem", pwrite(mem, "evil", 4, (off_t)(size_t)map));
	if (writing < 0)
		return;
	other = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, writing, 0);
	step("map", other == MAP_FAILED ? -1 : 0);
	if (other != MAP_FAILED)
		memcpy(other, "evil", 4);
}

/* A change of attributes needs no more than a descriptor for reading. */
static long set_flags(int fd)
{
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) < 0)
		return -1;
	flags |= FS_NODUMP_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags);
}

void copy_into_read_only(void)
{
	int reading = must_open(at("ro/file"), O_RDONLY),
	    source = must_open(at("work/a"), O_RDONLY);
	int writing, ends[2];

	if (pipe(ends) < 0 || write(ends[1], "evil", 4) != 4)
		cannot_judge("no pipe");
	never("copy-for-reading", syscall(SYS_copy_file_range, source, NULL, reading, NULL, 4, 0));
	never("splice-for-reading", syscall(SYS_splice, ends[0], NULL, reading, NULL, 4, 0));
	never("fallocate-for-reading", syscall(SYS_fallocate, reading, 0, 0, 9999));
	step("open", writing = do_open(at("ro/file"), O_WRONLY, 0));
	if (writing >= 0) {
		step("copy", syscall(SYS_copy_file_range, source, NULL, writing, NULL, 4, 0));
		step("splice", syscall(SYS_splice, ends[0], NULL, writing, NULL, 4, 0));
		step("fallocate", syscall(SYS_fallocate, writing, 0, 0, 9999));
	}
	maybe("flags", set_flags(reading));
}

/*
 * A program cannot be written while it runs: so hold on to it, become another one, and write then
 * (CVE-2019-5736).
 */
void own_program(void)
{
	const char *held = has_fact("held"), *other = fact("other");
	char number[40];
	int fd;

	if (held) {
		step("held", write_into(held, O_WRONLY));
		step("name", write_into(at("bin/attack"), O_WRONLY));
		step("rename", do_rename(at("work/a"), at("bin/attack")));
		return;
	}
	never("running", do_open("/proc/self/exe", O_WRONLY, 0));
	if ((fd = open("/proc/self/exe", O_PATH)) < 0)
		cannot_judge("no way to hold on to the program");
	snprintf(number, sizeof(number), "held=/proc/self/fd/%d", fd);
	fflush(stdout);
	execl(other, "attack", "V040", at("."), "other=", number, NULL);
	cannot_judge("no other program");
}

/* Opened, and never written. Some of its own belong to the program itself. */
void kernel_settings(void)
{
	static const char *const names[] = { "/proc/sys/kernel/core_pattern",
					     "/proc/sys/kernel/hostname",
					     "/proc/sysrq-trigger",
					     "/proc/1/oom_score_adj",
					     "/sys/kernel/mm/transparent_hugepage/enabled",
					     "/proc/self/oom_score_adj",
					     "/proc/self/coredump_filter",
					     "/proc/self/clear_refs" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (access(names[i], F_OK) < 0)
			continue;
		if (i == 0 && geteuid() == 0)
			step(names[i], do_open(names[i], O_WRONLY, 0));
		else
			maybe(names[i], do_open(names[i], O_WRONLY, 0));
	}
}

void devices(void)
{
	static const char *const names[] = { "mem",	    "kmem",  "port", "kmsg",  "vda",
					     "sda",	    "ptmx",  "fuse", "loop0", "kvm",
					     "userfaultfd", "vsock", "tty1" };
	char path[32];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/dev/%s", names[i]);
		if (access(path, F_OK) == 0)
			maybe(names[i], do_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0));
	}
	/* of its own making: what /dev/null is, in a folder that it may write */
	maybe("make", do_mknod(at("work/null"), S_IFCHR | 0666, makedev(1, 3)));
}

static int parent_of(int pid)
{
	char path[32], line[512];
	int fd, parent = 0;
	ssize_t got;
	char *end;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[got < 0 ? 0 : got] = 0;
	if ((end = strrchr(line, ')')) && strlen(end) > 4)
		parent = (int)strtol(end + 4, NULL, 10);
	return parent;
}

/* Everything above it, as far as the harness. */
void launcher_secrets(void)
{
	int harness = (int)fact_number("harness");
	char path[64], target[256];

	for (int pid = getppid(); pid > 1 && pid != harness; pid = parent_of(pid)) {
		snprintf(path, sizeof(path), "/proc/%d/environ", pid);
		step("environ", spill(path));
		snprintf(path, sizeof(path), "/proc/%d/mem", pid);
		step("mem", do_open(path, O_RDWR, 0));
		snprintf(path, sizeof(path), "/proc/%d/maps", pid);
		step("maps", spill(path));
		snprintf(path, sizeof(path), "/proc/%d/cwd", pid);
		step("cwd", readlink(path, target, sizeof(target)));
		snprintf(path, sizeof(path), "/proc/%d/root/etc/passwd", pid);
		step("root", do_open(path, O_RDONLY, 0));
		snprintf(path, sizeof(path), "/proc/%d/fd/0", pid);
		maybe("fd", do_open(path, O_RDONLY | O_NONBLOCK, 0));
	}
}

void changed_link(void)
{
	wait_for_harness();
	step("through-link", spill(at("ro/link/key")));
}

void replaced_tree(void)
{
	wait_for_harness();
	step("through-link", spill(at("work/key")));
}

void shared_temp(void)
{
	char path[128];
	const char *name = fact("name");

	snprintf(path, sizeof(path), "/tmp/%s", name);
	step("tmp", do_open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "/var/tmp/%s", name);
	step("var-tmp", do_open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "/dev/shm/%s", name);
	step("dev-shm", do_open(path, O_CREAT | O_WRONLY, 0600));
}

void delayed_execution(void)
{
	static const char *const names[] = { ".bashrc",	   ".profile",
					     ".npmrc",	   ".config/autostart/evil.desktop",
					     ".gitconfig", ".ssh/authorized_keys" };
	const char *home = getenv("HOME");
	char path[4096];

	if (!home || strcmp(home, at("home")))
		home = at("home");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", home, names[i]);
		step(names[i], write_into(path, O_WRONLY | O_CREAT | O_APPEND));
	}
}

static long read_key(void)
{
	return spill(at("secret/key"));
}

static long read_key_in_grandchild(void)
{
	setsid();
	return in_child(read_key);
}

static void *read_key_in_thread(void *error)
{
	if (read_key() < 0)
		*(int *)error = errno;
	return NULL;
}

void from_everywhere(void)
{
	pthread_t threads[4];
	int errors[4] = { 0 };

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, read_key_in_thread, &errors[i]))
			cannot_judge("no thread");
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		errno = errors[i];
		step("thread", errors[i] ? -1 : 0);
	}
	step("child", in_child(read_key));
	step("grandchild", in_child(read_key_in_grandchild));
}
