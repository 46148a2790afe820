/* SPDX-License-Identifier: MIT */
/* See watch.h. Works with glibc and musl alike. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tap.h>

#include "contract.h"
#include "pathcalls.h"

#ifdef __x86_64__
#define SHIM_HAS_OLD_CALLS 1
#else
#define SHIM_HAS_OLD_CALLS 0
#endif
#define SEEN_MAX 4096
#define ENV "SBX_WATCH"

char watch_dir[64];

/* Shared by the watcher and the watched. */
struct watch {
	char dir[64];
	int error;
	int allow_asked;
	size_t count;
	struct {
		short row;
		char word;
	} seen[SEEN_MAX];
};
static struct watch *watch;

static const struct row {
	int number;
	struct sbx_path_call call;
	const char *name;
} rows[] = {
#define PATH_CALL(name, ...) { SYS_##name, SBX_PATH_CALL(__VA_ARGS__), #name },
#include "pathcalls.def"
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static int install(void)
{
	struct sock_filter code[ROWS + 3];
	struct sock_fprog program = { ROWS + 3, code };

	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ROWS; i++)
		code[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							   (unsigned int)rows[i].number,
							   (unsigned char)(ROWS - i), 0);
	code[ROWS + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[ROWS + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
			    &program);
}

/* Byte by byte up to the end of each page, as the kernel reads. */
static void read_path(pid_t pid, uint64_t from, char *out, size_t size)
{
	size_t done = 0;

	while (done + 1 < size) {
		size_t part = 4096 - (from + done) % 4096;
		struct iovec local = { out + done,
				       part < size - 1 - done ? part : size - 1 - done };
		struct iovec remote = { (void *)(uintptr_t)(from + done), local.iov_len };
		ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);

		if (got <= 0 || memchr(out + done, '\0', (size_t)got))
			return;
		done += (size_t)got;
	}
}

static char word_of(uint64_t word)
{
	return word == SBX_VOUCHER ? '+' : word == SBX_ASK ? '?' : '-';
}

/* The error to answer with, or 0. */
static int judge(const struct seccomp_notif *notif)
{
	char path[2][4096] = { "", "" }, word = word_of(notif->data.args[5]);
	size_t row = 0;
	bool by_path;

	while (row < ROWS && rows[row].number != notif->data.nr)
		row++;
	if (row == ROWS)
		return 0;
	by_path = rows[row].call.act != SBX_ACT_CONNECT && rows[row].call.act != SBX_ACT_BIND;
	if (by_path)
		read_path((pid_t)notif->pid, notif->data.args[rows[row].call.path], path[0], 4096);
	if (rows[row].call.to_path >= 0)
		read_path((pid_t)notif->pid, notif->data.args[rows[row].call.to_path], path[1],
			  4096);
	if (by_path && !strstr(path[0], watch->dir) && !strstr(path[1], watch->dir))
		return 0;
	if (watch->count < SEEN_MAX) {
		watch->seen[watch->count].row = (short)row;
		watch->seen[watch->count++].word = word;
	}
	if (word == '?' && watch->allow_asked)
		return 0;
	return strstr(path[0], "refused") || strstr(path[1], "refused") ? watch->error : 0;
}

static void answer(int listener)
{
	struct seccomp_notif notif = { 0 };
	struct seccomp_notif_resp response = { 0 };
	int error;

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &notif))
		return;
	error = judge(&notif);
	response.id = notif.id;
	response.error = -error;
	response.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

static int serve(pid_t child, int listener)
{
	struct pollfd at = { .fd = listener, .events = POLLIN };
	int status;

	while (poll(&at, 1, -1) >= 0 && !(at.revents & POLLHUP))
		if (at.revents & POLLIN)
			answer(listener);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	(void)rmdir(watch->dir);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The listener's number goes through one pipe, and "go on" comes back through the other. */
static void run_watched(char **argv, int memory, const int *there, const int *back)
{
	char number[16], preload[4200];
	const char *build = getenv("SBX_BUILD");
	int listener = install();

	if (listener < 0 || write(there[1], &listener, sizeof(listener)) < 0 ||
	    read(back[0], number, 1) < 0)
		_exit(99);
	(void)close(listener);
	(void)snprintf(number, sizeof(number), "%d", memory);
	(void)snprintf(preload, sizeof(preload), "%s/lib/%s", build ? build : "build/release",
		       SBX_SHIM_NAME);
	(void)setenv(ENV, number, 1);
	(void)setenv("LD_PRELOAD", preload, 1);
	(void)execv("/proc/self/exe", argv);
	_exit(98);
}

static void attach(const char *number)
{
	watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE, MAP_SHARED,
		     (int)strtol(number, NULL, 10), 0);
	if (watch == MAP_FAILED)
		BAIL_OUT("no shared memory");
	memcpy(watch_dir, watch->dir, sizeof(watch_dir));
	(void)unsetenv(ENV);
}

static void prepare(int memory)
{
	if (memory < 0 || ftruncate(memory, sizeof(*watch)))
		BAIL_OUT("no shared memory");
	watch = mmap(NULL, sizeof(*watch), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
	if (watch == MAP_FAILED)
		BAIL_OUT("no shared memory");
	(void)snprintf(watch->dir, sizeof(watch->dir), "/tmp/sbx-shim.XXXXXX");
	if (!mkdtemp(watch->dir))
		BAIL_OUT("no folder to work in");
	watch->error = EACCES;
}

void watch_start(int argc, char **argv)
{
	const char *number = getenv(ENV);
	int memory, listener = -1, there[2], back[2];
	pid_t child;

	(void)argc;
	if (number) {
		attach(number);
		return;
	}
	memory = (int)syscall(SYS_memfd_create, "watch", 0);
	prepare(memory);
	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		BAIL_OUT("no pipes");
	child = fork();
	if (child == 0)
		run_watched(argv, memory, there, back);
	(void)close(there[1]);
	if (read(there[0], &listener, sizeof(listener)) == sizeof(listener))
		listener = (int)syscall(SYS_pidfd_getfd, (int)syscall(SYS_pidfd_open, child, 0),
					listener, 0);
	if (listener < 0) {
		(void)kill(child, SIGKILL);
		(void)rmdir(watch->dir);
		plan(SKIP_ALL, "no seccomp notifications here");
	}
	(void)write(back[1], "", 1);
	_exit(serve(child, listener));
}

char *watch_path(const char *name)
{
	static char paths[8][256];
	static unsigned int next;
	char *path = paths[next++ % 8];

	(void)snprintf(path, sizeof(paths[0]), "%s/%s", watch_dir, name);
	return path;
}

void watch_refuse_with(int error)
{
	watch->error = error;
}

void watch_allow_asked(bool allow)
{
	watch->allow_asked = allow;
}

void watch_clear(void)
{
	watch->count = 0;
}

const char *watch_log(void)
{
	static char text[SEEN_MAX];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < watch->count && len < sizeof(text) - 40; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s%c", i ? " " : "",
					rows[watch->seen[i].row].name, watch->seen[i].word);
	return text;
}
