/* SPDX-License-Identifier: MIT */
/*
 * Attacks by system calls that a sandbox should not have at all.
 *
 * What would change the machine is never called with arguments that could work: natively the
 * kernel then complains about the arguments, in the sandbox the call itself is refused. Calls for
 * which the kernel first asks who is calling tell something about root only.
 */
#include "attack.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/vfs.h>
#include <sys/wait.h>

/* Newer than the headers that this may be built with. */
enum {
	NR_io_uring_setup = 425,
	NR_io_uring_enter = 426,
	NR_io_uring_register = 427,
	NR_open_tree = 428,
	NR_move_mount = 429,
	NR_fsopen = 430,
	NR_fsconfig = 431,
	NR_fsmount = 432,
	NR_fspick = 433,
	NR_clone3 = 435,
	NR_mount_setattr = 442,
	NR_quotactl_fd = 443,
	NR_first_unknown = 463,
	NR_setxattrat = 463,
	NR_last_unknown = 600,
};
#define TMPFS 0x01021994
#define BAD ((void *)-1L)

static long mount_tmpfs(void)
{
	struct statfs fs;

	enter_namespaces(CLONE_NEWNS);
	if (mount("none", at("work"), "tmpfs", 0, NULL) < 0)
		return -1;
	return statfs(at("work"), &fs) == 0 && fs.f_type == TMPFS ? 0 : -1;
}

static long bind_secret(void)
{
	enter_namespaces(CLONE_NEWNS);
	if (mount(at("secret"), at("work"), NULL, MS_BIND, NULL) < 0)
		return -1;
	return spill(at("work/key"));
}

void mount_over(void)
{
	step("tmpfs", in_child(mount_tmpfs));
	step("bind", in_child(bind_secret));
	reached("bad-type", mount(BAD, at("work"), BAD, 0, BAD));
}

struct handle {
	unsigned bytes;
	int type;
	unsigned char data[128];
};

static long by_handle(void)
{
	struct handle handle;
	int mounted = open(at("work"), O_RDONLY | O_DIRECTORY), file, result;

	if ((file = open(at("ro/handle"), O_RDONLY)) < 0 ||
	    read(file, &handle, sizeof(handle)) != sizeof(handle))
		cannot_judge("no handle");
	file = (int)syscall(SYS_open_by_handle_at, mounted, &handle, O_RDONLY);
	result = file < 0 ? -1 : spill_fd(file);
	return result;
}

void open_by_handle(void)
{
	maybe("open", in_child(by_handle));
	reached("bad-folder", syscall(SYS_open_by_handle_at, -1, BAD, O_RDONLY));
}

void learn_handle(void)
{
	struct handle handle = { .bytes = sizeof(handle.data) };
	int where;
	long result =
		syscall(SYS_name_to_handle_at, AT_FDCWD, at("secret/key"), &handle, &where, 0);

	step("handle", result);
	if (result < 0)
		return;
	printf("handle: ");
	for (unsigned i = 0; i < handle.bytes; i++)
		printf("%02x", handle.data[i]);
	printf("\n");
}

void admin_paths(void)
{
	reached("swapon", syscall(SYS_swapon, at("secret/key"), 0x7fff0000));
	reached("swapoff", syscall(SYS_swapoff, BAD));
	reached("acct", syscall(SYS_acct, BAD));
	reached("quotactl", syscall(SYS_quotactl, 0xff, BAD, 0, BAD));
	reached("quotactl_fd", syscall(NR_quotactl_fd, -1, 0, 0, BAD));
}

void io_uring(void)
{
	unsigned parameters[30] = { 0 };

	maybe("setup", syscall(NR_io_uring_setup, 4, parameters));
	reached("enter", syscall(NR_io_uring_enter, -1, 1, 0, 0, NULL, 0));
	reached("register", syscall(NR_io_uring_register, -1, 0, BAD, 0));
}

#ifdef __x86_64__
/* Everything it is given must lie in the lower 4 GB. */
static long call_32bit(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(a), "c"(b), "d"(c)
			 : "memory", "r8", "r9", "r10", "r11");
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

static long open_32bit(void)
{
	char *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	int fd;

	if (low == MAP_FAILED)
		cannot_judge("no low memory");
	memcpy(low, at("secret/key"), strlen(at("secret/key")) + 1);
	fd = (int)call_32bit(5 /* open */, (long)low, O_RDONLY, 0);
	return fd < 0 ? -1 : spill_fd(fd);
}

static long socket_32bit(void)
{
	unsigned *low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (low == MAP_FAILED)
		cannot_judge("no low memory");
	low[0] = 2; /* AF_INET */
	low[1] = 2; /* SOCK_DGRAM */
	low[2] = 0;
	return call_32bit(102 /* socketcall */, 1, (long)low, 0);
}
#endif

void entry_32bit(void)
{
#ifdef __x86_64__
	long result = in_child(open_32bit);

	if (result < 0 && errno == SIGNALLED + SIGSEGV)
		cannot_judge("this kernel has no 32-bit entry");
	step("open", result);
	step("socketcall", in_child(socket_32bit));
#else
	cannot_judge("this processor has no 32-bit entry");
#endif
}

static long getpid_x32(void)
{
	return syscall(0x40000000L | SYS_getpid);
}

static long open_x32(void)
{
	int fd = (int)syscall(0x40000000L | SYS_open, at("secret/key"), O_RDONLY);

	return fd < 0 ? -1 : spill_fd(fd);
}

/* Kernels without x32 answer ENOSYS; the sandbox must do so or kill, whatever the kernel has. */
void entry_x32(void)
{
#ifdef __x86_64__
	maybe("getpid", in_child(getpid_x32));
	maybe("open", in_child(open_x32));
#else
	cannot_judge("this processor has no x32");
#endif
}

void unknown_numbers(void)
{
	struct {
		uint64_t value;
		uint32_t size, flags;
	} attribute = { (uintptr_t) "evil", 4, 0 };
	char name[16];

	for (long number = NR_first_unknown; number <= NR_last_unknown; number++) {
		snprintf(name, sizeof(name), "%ld", number);
		if (syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) < 0 && errno == ENOSYS)
			continue;
		maybe(name, 0);
	}
	maybe("setxattrat", syscall(NR_setxattrat, AT_FDCWD, at("secret/key"), 0, "user.evil",
				    &attribute, sizeof(attribute)));
	errno = ENOSYS;
	maybe("others", -1);
}

/* A copy of this process, ended at once. */
static long copied(long pid)
{
	if (pid == 0)
		_exit(0);
	return pid < 0 || waitpid((pid_t)pid, NULL, __WALL) < 0 ? -1 : 0;
}

void clone_namespace(void)
{
	uint64_t arguments[11] = { CLONE_NEWUSER, 0, 0, 0, SIGCHLD };

	fflush(stdout);
	step("clone", copied(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)));
	maybe("clone",
	      copied(syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0)));
	fflush(stdout);
	step("clone3", copied(syscall(NR_clone3, arguments, sizeof(arguments))));
}

static long unshare_user(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER);
}

static long unshare_all(void)
{
	return syscall(SYS_unshare, CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
					    CLONE_NEWPID | CLONE_NEWNET);
}

static long unshare_files(void)
{
	return syscall(SYS_unshare, CLONE_NEWNS);
}

void other_namespaces(void)
{
	step("unshare-user", in_child(unshare_user));
	step("unshare-all", in_child(unshare_all));
	maybe("unshare-mounts", in_child(unshare_files));
	reached("setns", syscall(SYS_setns, -1, 0));
	reached("setns-own", syscall(SYS_setns, open("/proc/self/ns/user", O_RDONLY), 0));
}

static long make_tmpfs(void)
{
	enter_namespaces(CLONE_NEWNS);
	return syscall(NR_fsopen, "tmpfs", 0);
}

static long clone_tree(void)
{
	enter_namespaces(CLONE_NEWNS);
	return syscall(NR_open_tree, AT_FDCWD, at("secret"), 1 /* OPEN_TREE_CLONE */);
}

static long bad_pivot(void)
{
	enter_namespaces(CLONE_NEWNS);
	reached("pivot_root", syscall(SYS_pivot_root, BAD, BAD));
	reached("umount2", umount2(at("secret"), 0x7fff0000));
	reached("fsconfig", syscall(NR_fsconfig, -1, 0, BAD, BAD, 0));
	reached("fsmount", syscall(NR_fsmount, -1, 0, 0));
	reached("fspick", syscall(NR_fspick, -1, BAD, 0));
	reached("move_mount", syscall(NR_move_mount, -1, BAD, -1, BAD, 0));
	reached("mount_setattr", syscall(NR_mount_setattr, -1, BAD, 0, BAD, 0));
	return 0;
}

void mount_calls(void)
{
	step("fsopen", in_child(make_tmpfs));
	step("open_tree", in_child(clone_tree));
	/* counted in the child only: the lines that it prints are what the harness judges */
	if (in_child(bad_pivot) < 0)
		cannot_judge("no child");
}

static long change_root_really(void)
{
	enter_namespaces(CLONE_NEWNS);
	if (chroot(at("work")) < 0)
		return -1;
	return access("/a", F_OK);
}

void change_root(void)
{
	step("chroot", in_child(change_root_really));
}

void kernel_surface(void)
{
	reached("bpf", syscall(SYS_bpf, 0, BAD, 1 << 20));
	reached("perf_event_open", syscall(SYS_perf_event_open, BAD, 0, -1, -1, 0xffff0000));
	reached("userfaultfd", syscall(SYS_userfaultfd, 1 /* UFFD_USER_MODE_ONLY */));
	/* an invalid flag and more segments than there can be */
	reached("kexec_load", syscall(SYS_kexec_load, 0, 100000, BAD, 0x0000ff00));
#ifdef SYS_kexec_file_load
	reached("kexec_file_load", syscall(SYS_kexec_file_load, -1, -1, 0, BAD, 0x0000ff00));
#endif
	reached("init_module", syscall(SYS_init_module, BAD, 0, BAD));
	reached("finit_module", syscall(SYS_finit_module, -1, BAD, 0x7fff0000));
	reached("delete_module", syscall(SYS_delete_module, BAD, O_NONBLOCK));
	reached("reboot", syscall(SYS_reboot, 0, 0, 0, BAD)); /* wrong magic numbers */
	reached("sethostname", syscall(SYS_sethostname, BAD, -1));
	reached("setdomainname", syscall(SYS_setdomainname, BAD, -1));
	reached("settimeofday", syscall(SYS_settimeofday, BAD, BAD));
	reached("clock_settime", syscall(SYS_clock_settime, 0x7fff, BAD));
	reached("adjtimex", syscall(SYS_adjtimex, BAD));
	reached("clock_adjtime", syscall(SYS_clock_adjtime, 0x7fff, BAD));
	reached("syslog", syscall(SYS_syslog, 3, BAD, -1));
#ifdef __x86_64__
	reached("iopl", syscall(SYS_iopl, 9));
	reached("ioperm", syscall(SYS_ioperm, 0x100000, 1, 1));
#endif
	reached("fanotify_init", syscall(SYS_fanotify_init, 0x7fff0000, 0));
	reached("fanotify_mark", syscall(SYS_fanotify_mark, -1, 0, 0, 0, -1, BAD));
	reached("move_pages", syscall(SYS_move_pages, 0, 1, BAD, BAD, BAD, 0xff00));
	reached("mbind", syscall(SYS_mbind, 1, 4096, 0x7f, BAD, 0, 0));
	reached("vmsplice", syscall(SYS_vmsplice, -1, BAD, 1, 0));
}

void keys(void)
{
	const char *name = fact("key");
	char payload[256];
	long key, got;

	key = syscall(SYS_keyctl, 10 /* KEYCTL_SEARCH */, -3 /* the session's */, "user", name, 0);
	step("search", key);
	if (key >= 0) {
		got = syscall(SYS_keyctl, 11 /* KEYCTL_READ */, key, payload, sizeof(payload));
		step("read", got);
		if (got > 0 && got <= (long)sizeof(payload))
			spill_bytes(payload, (size_t)got);
	}
	step("request", syscall(SYS_request_key, "user", name, NULL, 0));
	/* into a keyring of this process alone */
	step("add", syscall(SYS_add_key, "user", "evil", "evil", 4, -2));
}

void personality_ldt(void)
{
	char table[64];

	step("personality", personality(READ_IMPLIES_EXEC));
	step("32-bit", personality(PER_LINUX32));
#ifdef __x86_64__
	maybe("modify_ldt", syscall(SYS_modify_ldt, 0, table, sizeof(table)));
#endif
}

static long type(unsigned long request, const char *text)
{
	for (; *text; text++)
		if (syscall(SYS_ioctl, STDIN_FILENO, request, text) < 0)
			return -1;
	return 0;
}

void type_into_terminal(void)
{
	const char *text = fact("text");
	char two = 2; /* show the selection */

	if (!isatty(STDIN_FILENO))
		cannot_judge("no terminal");
	step("type", type(TIOCSTI, text));
	/* the kernel looks at 32 bits; so must a filter */
	step("type-high", type(TIOCSTI | (1UL << 32), text));
	reached("linux", ioctl(STDIN_FILENO, 0x541c /* TIOCLINUX */, &two));
	reached("linux-high", syscall(SYS_ioctl, STDIN_FILENO, 0x541cUL | (1UL << 32), &two));
}

void system_v(void)
{
	struct {
		long type;
		char text[256];
	} message = { 0 };
	key_t key = (key_t)fact_number("shm");
	int shm = shmget(key, 0, 0), queue, semaphores;
	char *memory;
	ssize_t got;

	step("shmget", shm);
	if (shm >= 0) {
		memory = shmat(shm, NULL, SHM_RDONLY);
		step("shmat", memory == BAD ? -1 : 0);
		if (memory != BAD)
			spill_bytes(memory, strlen(memory));
	}
	queue = msgget(key, 0);
	step("msgget", queue);
	if (queue >= 0) {
		got = msgrcv(queue, &message, sizeof(message.text) - 1, 0,
			     IPC_NOWAIT | MSG_NOERROR);
		step("msgrcv", got);
	}
	semaphores = semget(key, 1, 0);
	step("semget", semaphores);
	/* also by number, which needs no key */
	memory = shmat((int)fact_number("shmid"), NULL, SHM_RDONLY);
	step("shmat-id", memory == BAD ? -1 : 0);
	if (memory != BAD)
		spill_bytes(memory, strlen(memory));
}

static volatile int stage;

static void *ask_when_told(void *result)
{
	while (stage < 1)
		sched_yield();
	*(int *)result = syscall(SYS_getppid) < 0 ? errno : 0;
	return NULL;
}

/* As browsers do: a thread runs, then a filter for all of them. */
void own_filter(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ETXTBSY),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	int result = 0;
	pthread_t thread;

	if (pthread_create(&thread, NULL, ask_when_told, &result))
		cannot_judge("no thread");
	step("no-new-privs", prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	step("filter",
	     syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
	stage = 1;
	pthread_join(thread, NULL);
	errno = result;
	step("this-thread", syscall(SYS_getppid) < 0 && errno == ETXTBSY ? 0 : -1);
	step("other-thread", result == ETXTBSY ? 0 : -1);
}
