/* SPDX-License-Identifier: MIT */
/*
 * The base filter in the kernel: children load it and really make the calls, and ordinary programs
 * run under it as they do without. Run by root, all of it is done once more as an ordinary user.
 *
 * Every call here is harmless should the filter not hold.
 */
#include "calls.h"
#include "listen.h"

#include <fcntl.h>
#include <ftw.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tap.h>
#include <unistd.h>

#include "../unit/syscalls.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NOBODY 65534
#define HIGH UINT64_C(0x100000000)

enum {
	NATIVE,
	STANDALONE,
	LISTENING
}; /* what a child loads */
enum {
	ENDED_BY_SIGSYS = 1000,
	BROKEN
};

static bool as_user; /* children give up root */
static const struct sbx_image *image; /* the policy that children load */

/* The half of a run's filter that comes before somebody is asked. */
static int load_listening(void)
{
	static struct launch_program built;
	static struct launch_wishes wishes;
	struct launch_error error;

	if (launch_filter_wishes(image, &wishes, &error) < 0 ||
	    launch_filter_build(true, wishes.allowed, &built) < 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0,
			    &(struct sock_fprog){ built.len, built.code });
}

static int load_alone(void)
{
	struct launch_wishes wishes;
	struct launch_error error;

	return launch_filter_wishes(image, &wishes, &error) < 0 ||
			       launch_filter_load(&wishes, &error) < 0
		       ? -1
		       : 0;
}

/* In the child: another user, no new privileges, the filter. */
static void confine(int filter)
{
	if (as_user && (setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(255);
	if (filter == NATIVE)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    (filter == LISTENING ? load_listening() : load_alone()) < 0)
		_exit(255);
}

/* 0, the errno of a child's call, or one of the codes above. */
static int outcome_of(pid_t pid)
{
	int status = 0;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return BROKEN;
	if (WIFSIGNALED(status))
		return WTERMSIG(status) == SIGSYS ? ENDED_BY_SIGSYS : BROKEN;
	return WEXITSTATUS(status) == 255 ? BROKEN : WEXITSTATUS(status);
}

/* 'attempt' returns like a system call. */
static int try(int filter, long (*attempt)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
		confine(filter);
		_exit(attempt() < 0 ? errno : 0);
	}
	return outcome_of(pid);
}

static int try_call(int filter, long number, const uint64_t args[6])
{
	pid_t pid = fork();

	if (pid == 0) {
		confine(filter);
		_exit(syscall(number, args[0], args[1], args[2], args[3], args[4], args[5]) < 0
			      ? errno
			      : 0);
	}
	return outcome_of(pid);
}

/* Arguments that no call can do anything with. */
static void test_rows(void)
{
	static const uint64_t senseless[6] = { -1, -1, -1, -1, -1, -1 };
	size_t count, wrong = 0, tried = 0;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < count; i++) {
		int want = calls[i].verdict == CALL_REFUSE	 ? EPERM
			   : calls[i].verdict == CALL_ENOSYS	 ? ENOSYS
			   : calls[i].verdict == CALL_EOPNOTSUPP ? EOPNOTSUPP
								 : 0;
		int got;

		if (!want || calls[i].number < 0)
			continue;
		tried++;
		if ((got = try_call(STANDALONE, calls[i].number, senseless)) == want)
			continue;
		diag("%s: %d, not %d", calls[i].name, got, want);
		wrong++;
	}
	ok(!wrong && tried > 90, "%zu refused calls get EPERM, ENOSYS or EOPNOTSUPP", tried);
	for (long number = 463; number <= 600; number++)
		wrong += try_call(STANDALONE, number, senseless) != ENOSYS;
	ok(!wrong, "463 to 600 do not exist");
}

#define CLONE(flags)              \
	__SNR_clone,              \
	{                         \
		(flags) | SIGCHLD \
	}

/* The errno natively, without a listener, and with a silent one. 0: it works; -1: not tried. */
static const struct {
	const char *what;
	long number;
	uint64_t args[6];
	int native, standalone, listening;
} cases[] = {
	{ "unshare nothing", __SNR_unshare, { 0 }, 0, EPERM, 0 },
	{ "ptrace TRACEME", __SNR_ptrace, { PTRACE_TRACEME }, 0, EPERM, 0 },
	{ "getpid", __SNR_getpid, { 0 }, 0, 0, 0 },
	{ "query personality", __SNR_personality, { 0xffffffff }, 0, 0, 0 },
	{ "ADDR_NO_RANDOMIZE", __SNR_personality, { 0x0040000 }, 0, 0, 0 },
	{ "READ_IMPLIES_EXEC", __SNR_personality, { 0x0400000 }, 0, EPERM, EPERM },
	{ "READ_IMPLIES_EXEC, high", __SNR_personality, { HIGH | 0x0400000 }, 0, EPERM, EPERM },
	{ "a UNIX socket", __SNR_socket, { AF_UNIX, SOCK_STREAM }, 0, 0, 0 },
	{ "a TCP socket", __SNR_socket, { AF_INET, SOCK_STREAM | SOCK_CLOEXEC }, 0, 0, 0 },
	{ "a UDP socket", __SNR_socket, { AF_INET, SOCK_DGRAM, IPPROTO_UDP }, 0, EACCES, 0 },
	{ "UDP, high", __SNR_socket, { HIGH | AF_INET6, HIGH | SOCK_DGRAM }, 0, EACCES, 0 },
	{ "a UNIX datagram socket", __SNR_socket, { AF_UNIX, SOCK_DGRAM }, 0, EACCES, 0 },
	{ "the same as a raw one", __SNR_socket, { AF_UNIX, SOCK_RAW }, 0, EACCES, 0 },
	{ "a pair of those", __SNR_socketpair, { AF_UNIX, SOCK_DGRAM }, EFAULT, EACCES, EFAULT },
	{ "a pair of streams", __SNR_socketpair, { AF_UNIX, SOCK_STREAM }, EFAULT, EFAULT, EFAULT },
	{ "a routing socket", __SNR_socket, { AF_NETLINK, SOCK_RAW, 0 }, 0, 0, 0 },
	{ "a SOCK_DIAG socket", __SNR_socket, { AF_NETLINK, SOCK_RAW, 4 }, -1, EPERM, -1 },
	{ "an MPTCP socket", __SNR_socket, { AF_INET, SOCK_STREAM, 262 }, -1, EPERM, -1 },
	{ "MPTCP, high", __SNR_socket, { HIGH | 2, HIGH | 1, HIGH | 262 }, -1, EPERM, -1 },
	{ "a raw socket", __SNR_socket, { AF_INET, SOCK_RAW, 1 }, -1, EPERM, -1 },
	{ "a packet socket", __SNR_socket, { AF_PACKET, SOCK_RAW }, -1, EPERM, -1 },
	{ "an old packet socket", __SNR_socket, { AF_INET, SOCK_PACKET }, -1, EPERM, -1 },
	{ "a VSOCK socket", __SNR_socket, { AF_VSOCK, SOCK_STREAM }, -1, EPERM, -1 },
	{ "an ALG socket", __SNR_socket, { AF_ALG, SOCK_SEQPACKET }, -1, EPERM, -1 },
	{ "TIOCSTI", __SNR_ioctl, { -1, TIOCSTI }, EBADF, EPERM, EPERM },
	{ "TIOCSTI, high", __SNR_ioctl, { -1, HIGH | TIOCSTI }, EBADF, EPERM, EPERM },
	{ "TIOCLINUX", __SNR_ioctl, { -1, TIOCLINUX }, EBADF, EPERM, EPERM },
	{ "TIOCGWINSZ", __SNR_ioctl, { -1, TIOCGWINSZ }, EBADF, EBADF, EBADF },
	{ "sendto FASTOPEN", __SNR_sendto, { -1, 0, 0, MSG_FASTOPEN }, EBADF, EACCES, EACCES },
	{ "sendmsg FASTOPEN", __SNR_sendmsg, { -1, 0, MSG_FASTOPEN }, EBADF, EACCES, EACCES },
	{ "sendmmsg FASTOPEN", __SNR_sendmmsg, { -1, 0, 0, MSG_FASTOPEN }, EBADF, EACCES, EACCES },
	{ "sendto", __SNR_sendto, { -1, 0, 0, MSG_NOSIGNAL }, EBADF, EBADF, EBADF },
	{ "own limits", __SNR_prlimit64, { 0, 7, 0, 0 }, 0, 0, 0 },
	{ "limits of init", __SNR_prlimit64, { 1, 7, 0, 0 }, -1, EPERM, -1 },
	{ "PR_SET_MM", __SNR_prctl, { PR_SET_MM, -1, -1, -1, -1 }, -1, EPERM, EPERM },
	{ "PR_SET_DUMPABLE", __SNR_prctl, { PR_SET_DUMPABLE, 0 }, 0, 0, 0 },
	{ "a namespace by clone", CLONE(CLONE_NEWUTS), -1, EPERM, -1 },
	{ "a namespace, high", CLONE(HIGH | CLONE_NEWUTS), -1, EPERM, -1 },
	{ "a process by clone", CLONE(0), 0, 0, 0 },
};

static void test_cases(void)
{
	for (size_t i = 0; i < COUNT(cases); i++) {
		const int want[] = { cases[i].native, cases[i].standalone, cases[i].listening };
		static const char *const how[] = { "natively", "alone", "with a listener" };

		for (int filter = NATIVE; filter <= LISTENING; filter++)
			if (want[filter] >= 0)
				cmp_ok(try_call(filter, cases[i].number, cases[i].args),
				       "==", want[filter], "%s, %s", cases[i].what, how[filter]);
	}
}

#ifdef __x86_64__
static long int80_getpid(void)
{
	long result;

	__asm__ volatile("int $0x80" : "=a"(result) : "0"(20L) : "memory");
	return result;
}
#endif

static void test_foreign(void)
{
#ifdef __x86_64__
	static const uint64_t none[6];

	cmp_ok(try(STANDALONE, int80_getpid), "==", ENDED_BY_SIGSYS, "int 0x80 ends the process");
	cmp_ok(try(LISTENING, int80_getpid), "==", ENDED_BY_SIGSYS, "with a listener too");
	cmp_ok(try_call(STANDALONE, 0x40000000 | 39, none), "==", ENDED_BY_SIGSYS, "so does x32");
#else
	pass("there is no int 0x80 here");
#endif
}

static struct sock_filter allow_all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
static const struct sock_fprog own_filter = { COUNT(allow_all), allow_all };

static long load_for_threads(void)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
		       &own_filter);
}

static long load_listener(void)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER,
		       &own_filter);
}

static void test_own_seccomp(void)
{
	cmp_ok(try(STANDALONE, load_for_threads), "==", 0, "a program may filter its own threads");
	cmp_ok(try(LISTENING, load_for_threads), "==", 0, "with a listener too");
	cmp_ok(try(STANDALONE, load_listener), "==", EPERM, "it may not listen");
	cmp_ok(try(LISTENING, load_listener), "==", EPERM, "nor where somebody else does");
}

static long trace_me(void)
{
	return ptrace(PTRACE_TRACEME, 0, 0, 0);
}

/* Whoever would be asked has gone: then such a call is not there. */
static int try_asked(const uint64_t args[6])
{
	pid_t pid = fork();

	if (pid == 0) {
		struct launch_wishes wishes = { .no_udp = false };
		struct launch_error error;
		int fd;

		if (launch_filter_wishes(image, &wishes, &error) < 0 ||
		    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(255);
		fd = launch_listen_install(&wishes);
		if (fd < 0)
			_exit(254);
		(void)close(fd);
		_exit(syscall(__SNR_socket, args[0], args[1], args[2]) < 0 ? errno : 0);
	}
	return outcome_of(pid);
}

static void test_asked(void)
{
	size_t tried = 0;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (cases[i].number != __SNR_socket)
			continue;
		cmp_ok(try_asked(cases[i].args), "==", cases[i].standalone ? ENOSYS : 0, "%s %s",
		       cases[i].what, cases[i].standalone ? "is asked about" : "is not");
		tried++;
	}
	cmp_ok(tried, ">=", 15, "every kind of socket was tried");
}

static long make_unix_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long make_udp_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

static long make_unix_datagram_socket(void)
{
	return socket(AF_UNIX, SOCK_DGRAM, 0);
}

static long make_raw_socket(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP);
}

static long change_mode(void)
{
	return chmod("/nowhere/at/all", 0);
}

static long no_such_call(void)
{
	return syscall(600);
}

/* [syscalls] as the policy says it, on calls that differ by it and on neighbours that do not. */
static void test_wishes(void)
{
	static const struct {
		const char *body;
		long (*attempt)(void);
		int expected;
	} wishes[] = {
		{ "allow = ptrace", trace_me, 0 },
		{ "allow = @debug", trace_me, 0 },
		{ "allow = @debug", make_raw_socket, EPERM },
		{ "allow = @debug", no_such_call, ENOSYS },
		{ "allow = personality", trace_me, EPERM },
		{ "allow = ptrace\ndeny = ptrace", trace_me, EPERM },
		{ "deny = @network", make_unix_socket, EPERM },
		{ "deny = @network", no_such_call, ENOSYS },
		{ "deny = connect, sendto", make_unix_socket, 0 },
		{ "deny = chmod, fchmodat, fchmodat2", change_mode, EPERM },
		{ "[network]\nmode = none", make_udp_socket, EACCES },
		{ "[network]\nmode = full", make_udp_socket, 0 },
		{ "[network]\nmode = full", make_unix_datagram_socket, 0 },
		{ "[network]\nunix_datagram = yes", make_unix_datagram_socket, 0 },
		{ "[network]\nunix_datagram = yes", make_udp_socket, EACCES },
		{ "[network]\nunix_datagram = no", make_unix_datagram_socket, EACCES },
	};

	for (size_t i = 0; i < COUNT(wishes); i++) {
		struct sbx_policy *policy = load_policy(wishes[i].body);
		const struct sbx_image *before = image;

		image = sbx_policy_image(policy);
		cmp_ok(try(STANDALONE, wishes[i].attempt), "==", wishes[i].expected, "'%s' holds",
		       wishes[i].body);
		image = before;
		sbx_free(policy);
	}
}

struct outcome {
	int status;
	size_t len;
	char output[16384];
};

static const struct {
	const char *needs;
	const char *script;
} programs[] = {
	{ "bash", "for i in 1 2 3; do (echo $i | cat) & wait; done; kill -0 $$; ulimit -n 64; pwd "
		  "-P | wc -l" },
	{ "python3",
	  "python3 -c '\n"
	  "import threading, multiprocessing, subprocess, socket\n"
	  "for i in range(4):\n"
	  "  t = threading.Thread(target=print, args=(i,)); t.start(); t.join()\n"
	  "print(subprocess.check_output([\"echo\", \"hi\"]))\n"
	  "a, b = socket.socketpair(); a.send(b\"x\"); print(b.recv(1))\n"
	  "with multiprocessing.get_context(\"fork\").Pool(2) as p: print(p.map(abs, [-1, -2]))'" },
	{ "git", "git init -q r && cd r && echo hi >f && git add f && "
		 "git -c user.name=a -c user.email=a@b commit -qm x && "
		 "git log --format=%s%n%T && git gc -q && git fsck && git status --short" },
	{ "gcc",
	  "echo 'int puts(const char *); int main(void) { puts(\"built\"); return 3; }' >a.c && "
	  "gcc -O2 -o a a.c && ./a; echo $?" },
	{ "node", "node -e 'const f = require(\"fs\"), w = require(\"worker_threads\");"
		  "f.writeFileSync(\"x\", \"1\"); console.log(f.readFileSync(\"x\", \"utf8\"),"
		  "require(\"child_process\").execSync(\"echo hi\").toString());"
		  "new w.Worker(\"console.log(7)\", { eval: true })'" },
	{ "tar",
	  "mkdir d && echo x >d/f && tar cf d.tar d && rm -r d && tar xvf d.tar && cat d/f" },
};

static bool is_there(const char *program)
{
	static const char *const places[] = { "/usr/local/bin", "/usr/bin", "/bin" };
	char path[256];

	for (size_t i = 0; i < COUNT(places); i++) {
		snprintf(path, sizeof(path), "%s/%s", places[i], program);
		if (access(path, X_OK) == 0)
			return true;
	}
	return false;
}

__attribute__((noreturn)) static void become(int filter, const char *script, const char *dir,
					     int out)
{
	char home[64];
	char *const argv[] = { (char *)"bash", (char *)"-c", (char *)script, NULL };
	char *const environment[] = { (char *)"PATH=/usr/local/bin:/usr/bin:/bin",
				      (char *)"LC_ALL=C", (char *)"GIT_CONFIG_NOSYSTEM=1", home,
				      NULL };

	snprintf(home, sizeof(home), "HOME=%s", dir);
	if (chdir(dir) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(255);
	confine(filter);
	execve("/bin/bash", argv, environment);
	_exit(255);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	return remove(path);
}

static void run(int filter, const char *script, struct outcome *outcome)
{
	char dir[] = "/tmp/sbx-live-XXXXXX";
	int pipes[2];
	ssize_t got;
	pid_t pid;

	if (!mkdtemp(dir) || (as_user && chown(dir, NOBODY, NOBODY)) || pipe2(pipes, O_CLOEXEC))
		BAIL_OUT("cannot prepare a run");
	if ((pid = fork()) == 0)
		become(filter, script, dir, pipes[1]);
	close(pipes[1]);
	outcome->len = 0;
	while ((got = read(pipes[0], outcome->output + outcome->len,
			   sizeof(outcome->output) - 1 - outcome->len)) > 0)
		outcome->len += (size_t)got;
	outcome->output[outcome->len] = '\0';
	close(pipes[0]);
	outcome->status = outcome_of(pid);
	nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void test_programs(void)
{
	static struct outcome native, confined;

	for (size_t i = 0; i < COUNT(programs); i++) {
		skip(!is_there(programs[i].needs), 5, "there is no %s", programs[i].needs);
		run(NATIVE, programs[i].script, &native);
		for (int filter = STANDALONE; filter <= LISTENING; filter++) {
			run(filter, programs[i].script, &confined);
			is(confined.output, native.output, "%s prints the same", programs[i].needs);
			cmp_ok(confined.status, "==", native.status, "and ends the same");
		}
		ok(native.len > 0 && native.status == 0, "%s works at all", programs[i].needs);
		end_skip;
	}
}

static void test_all(void)
{
	test_rows();
	test_cases();
	test_foreign();
	test_own_seccomp();
	test_asked();
	test_wishes();
	test_programs();
}

static long nothing(void)
{
	return 0;
}

int main(void)
{
	struct sbx_policy *policy = load_policy("");

	image = sbx_policy_image(policy);
	if (try(STANDALONE, nothing) != 0)
		plan(SKIP_ALL, "this kernel takes no seccomp filters");
	plan(NO_PLAN);
	test_all();
	skip(geteuid() != 0, 1, "not root: everything above was done as an ordinary user");
	as_user = true;
	note("as an ordinary user");
	test_all();
	end_skip;
	sbx_free(policy);
	done_testing();
}
