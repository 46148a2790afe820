/* SPDX-License-Identifier: MIT */
/*
 * The notify filter, run in an interpreter over every row of syscalls.def, every ARG rule and its
 * neighbours, for policies that wish nothing, something and everything. It is held against the base
 * filter that lets calls pass for it: what passes there and is to be refused must be asked about
 * here. Whether the kernel takes it is tried in a child.
 */
#include "listen.h"

#include "contract.h"
#include "sockets.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "bpf.h"
#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define ALLOWED SECCOMP_RET_ALLOW
#define ASKED SECCOMP_RET_USER_NOTIF
#define HIGH UINT64_C(0xa5a5a5a500000000)
#define VALUES 128 /* of one argument */

/* A policy, its notify filter, and the base filter that goes with it. */
struct pair {
	const char *what;
	struct launch_wishes wishes;
	struct launch_program asking;
	struct sock_fprog notify;
	struct launch_program built;
	struct sock_fprog base;
	struct launch_program joined;
	struct sock_fprog both;
};

static struct pair *pair; /* that is tested */
static bool metadata, memfd; /* are somebody's to perform */

static bool names; /* hosts are allowed by name: the same */
static bool hides; /* something, whatever the policy says: that is found out later */

static void make_pair(const char *what, const char *policy)
{
	struct sbx_policy *loaded = load_text(policy);
	struct launch_error error = { "" };

	pair->what = what;
	if (launch_filter_wishes(sbx_policy_image(loaded), &pair->wishes, &error) < 0)
		BAIL_OUT("%s: %s", what, error.text);
	sbx_free(loaded);
	pair->wishes.metadata = metadata;
	pair->wishes.memfd = memfd;
	pair->wishes.hides = hides;
	pair->wishes.names = names;
	memset(&pair->asking, 0xff, sizeof(pair->asking));
	if (launch_filter_build_notify(&pair->wishes, &pair->asking) < 0)
		BAIL_OUT("%s: no notify filter", what);
	pair->notify = (struct sock_fprog){ pair->asking.len, pair->asking.code };
	if (launch_filter_build(true, pair->wishes.allowed, &pair->built) < 0)
		BAIL_OUT("%s: no base filter", what);
	pair->base = (struct sock_fprog){ pair->built.len, pair->built.code };
	memset(&pair->joined, 0xff, sizeof(pair->joined));
	if (launch_filter_build_both(&pair->wishes, &pair->joined) < 0)
		BAIL_OUT("%s: no filter of both", what);
	pair->both = (struct sock_fprog){ pair->joined.len, pair->joined.code };
}

static size_t disjoined; /* answers of both in one that are not those of the two */

/* What the kernel makes of two filters' answers: the base filter's, unless it passes. */
static void compare(const struct seccomp_data *data)
{
	uint32_t base = bpf_run(&pair->base, data), notify = bpf_run(&pair->notify, data);

	disjoined += bpf_run(&pair->both, data) != (base == ALLOWED ? notify : base);
}

static uint32_t ask(const struct sock_fprog *program, int number, const uint64_t args[6])
{
	struct seccomp_data data = { .nr = number, .arch = seccomp_arch_native() };

	for (size_t i = 0; args && i < 6; i++)
		data.args[i] = args[i];
	compare(&data);
	return bpf_run(program, &data);
}

static bool is_birth(const struct launch_call *call)
{
	return !strcmp(call->name, "clone") || !strcmp(call->name, "fork") ||
	       !strcmp(call->name, "vfork");
}

/* By hand: UDP, and all that the kernel makes a UNIX datagram socket of, which is SOCK_RAW too. */
static bool is_bad_socket(const struct launch_call *call, const uint64_t args[6])
{
	uint32_t family = (uint32_t)args[0], type = (uint32_t)args[1] & 0xf;

	if (strcmp(call->name, "socket") != 0 && strcmp(call->name, "socketpair") != 0)
		return false;
	if (family == AF_UNIX)
		return pair->wishes.no_unix_datagram && (type == SOCK_DGRAM || type == SOCK_RAW);
	return (family == AF_INET || family == AF_INET6) && type == SOCK_DGRAM &&
	       pair->wishes.no_udp;
}

/* By hand: what Landlock decides, and the argument that has the flags of an open. */
static const struct {
	const char *name;
	int flags; /* -1: it is no such open */
	bool network;
	bool truncates; /* or may become what does */
} governed[] = {
	{ "open", 1, false, false },	   { "openat", 2, false, false },
	{ "openat2", -1, false, true },	   { "creat", -1, false, false },
	{ "truncate", -1, false, true },   { "mkdir", -1, false, false },
	{ "mkdirat", -1, false, false },   { "mknod", -1, false, false },
	{ "mknodat", -1, false, false },   { "symlink", -1, false, false },
	{ "symlinkat", -1, false, false }, { "unlink", -1, false, false },
	{ "unlinkat", -1, false, false },  { "rmdir", -1, false, false },
	{ "rename", -1, false, false },	   { "renameat", -1, false, false },
	{ "renameat2", -1, false, false }, { "link", -1, false, false },
	{ "linkat", -1, false, false },	   { "execve", -1, false, false },
	{ "execveat", -1, false, false },  { "connect", -1, true, false },
	{ "bind", -1, true, false },
};

/* By hand: who only looks, which is asked about where something is hidden; watches wherever we act. */
static const char *const looks[] = {
	"stat",	     "lstat",	   "newfstatat",       "statx",	     "access",
	"faccessat", "faccessat2", "readlink",	       "readlinkat", "statfs",
	"chdir",     "getdents64", "inotify_add_watch"
};

static bool is_look(const struct launch_call *call)
{
	for (size_t i = 0; i < COUNT(looks); i++)
		if (!strcmp(looks[i], call->name))
			return pair->wishes.hides ||
			       (pair->wishes.metadata && !strcmp(call->name, "inotify_add_watch"));
	return false;
}

/* What is not there at all then, or 0. */
static uint32_t is_gone(const struct launch_call *call, bool allowed)
{
	if (!pair->wishes.hides)
		return 0;
	if (!strcmp(call->name, "getdents"))
		return SECCOMP_RET_ERRNO | ENOSYS;
	return allowed && !strcmp(call->name, "name_to_handle_at") ? SECCOMP_RET_ERRNO | EOPNOTSUPP
								   : 0;
}

/* Whether a call that nobody vouches for is asked about, from code outside of the quiet zone. */
static bool is_governed(const struct launch_call *call, const uint64_t args[6])
{
	for (size_t i = 0; i < COUNT(governed); i++) {
		if (strcmp(governed[i].name, call->name) != 0)
			continue;
		if (pair->wishes.hides)
			return true;
		if (governed[i].network && !pair->wishes.asks_network)
			return false;
		return governed[i].flags < 0 || !(args[governed[i].flags] & O_PATH);
	}
	return is_look(call);
}

/* By hand: what nobody decides but the supervisor, where there is one. */
static const char *const unheld[] = { "chmod",	      "fchmod", "fchmodat",  "fchmodat2",
				      "chown",	      "fchown", "lchown",    "fchownat",
				      "utime",	      "utimes", "futimesat", "utimensat",
				      "memfd_create", "listen" };

static bool is_served(const struct launch_call *call)
{
	for (size_t i = 0; i < COUNT(unheld); i++)
		if (strcmp(unheld[i], call->name) == 0)
			return !strcmp(call->name, "memfd_create") ? memfd
			       : !strcmp(call->name, "listen")
				       ? metadata && pair->wishes.asks_network
				       : metadata;
	if (pair->wishes.names && !strcmp(call->name, "socket"))
		return true;
	/* Who confines itself further is remembered. */
	return metadata && !strcmp(call->name, "landlock_restrict_self");
}

static size_t wrong, gaps, questions, tried;

static void complain(const struct launch_call *call, const uint64_t args[6], const char *why,
		     uint32_t got)
{
	if (wrong + gaps + questions < 20)
		diag("%s: %s(%#jx, %#jx, %#jx, %#jx): %s: %#x", pair->what, call->name,
		     (uintmax_t)args[0], (uintmax_t)args[1], (uintmax_t)args[2], (uintmax_t)args[3],
		     why, got);
}

/* With mode = full these rows take nothing away. */
static bool is_free(const struct launch_call *call, enum launch_outcome outcome)
{
	return !strcmp(call->name, "setsockopt") && outcome < 0 && !pair->wishes.asks_network;
}

/* One call with these arguments: as the rows say, no gap behind the base filter, no idle question. */
static void try_call(size_t index, const uint64_t args[6])
{
	size_t count;
	const struct launch_call *call = &launch_calls(&count)[index];
	bool denied = pair->wishes.denied[index], allowed = pair->wishes.allowed[index];
	enum launch_outcome judged = launch_call_judge(call, args);
	enum launch_outcome outcome = is_free(call, judged) ? ARG_ALLOW : judged;
	bool pretends = outcome == ARG_PRETEND && !strcmp(call->name, "setsockopt");
	bool told = outcome == ARG_TELL;
	bool refused = denied || is_bad_socket(call, args) ||
		       (!allowed && outcome != ARG_ALLOW && !pretends && !told);
	uint32_t got = ask(&pair->notify, call->number, args), expected = ALLOWED;
	bool passes = ask(&pair->base, call->number, args) == ALLOWED;

	if (denied || is_birth(call) || is_governed(call, args) || is_served(call) ||
	    is_bad_socket(call, args) || told ||
	    (launch_call_asks(call) && !allowed && outcome == ARG_REFUSE))
		expected = ASKED;
	else if (is_gone(call, allowed))
		expected = is_gone(call, allowed);
	else if (pretends)
		expected = SECCOMP_RET_ERRNO;
	tried++;
	if (got != expected) {
		complain(call, args, "not what its row says", got);
		wrong++;
	}
	if (passes && refused && got != ASKED) {
		complain(call, args, "nobody refuses it", got);
		gaps++;
	}
	if (!refused && !is_birth(call) && !is_governed(call, args) && !is_served(call) && !told &&
	    got == ASKED) {
		complain(call, args, "asked about, although it is allowed", got);
		questions++;
	}
}

/* Values of one argument that decide about the call: each test's own and its neighbours. */
struct choice {
	uint32_t values[VALUES];
	size_t count;
};

static void choose(struct choice *choice, uint32_t value)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->values[i] == value)
			return;
	if (choice->count == VALUES)
		BAIL_OUT("more values of an argument than this test has room for");
	choice->values[choice->count++] = value;
}

static void choose_near(struct choice *choice, const struct launch_test *test)
{
	uint32_t lowest = test->mask & -test->mask;

	choose(choice, test->value);
	choose(choice, test->value ^ lowest);
	choose(choice, test->value ^ UINT32_C(0x80000000));
	choose(choice, test->value | ~test->mask);
	choose(choice, (test->value ^ lowest) | ~test->mask);
	choose(choice, ~test->value);
	if (!test->equal) /* bits, one by one */
		for (uint32_t bit = 1; bit; bit <<= 1)
			if (test->mask & bit)
				choose(choice, bit);
}

static void try_row(size_t index)
{
	static const uint64_t upper[] = { 0, HIGH, UINT64_C(1) << 32 };
	struct choice choices[6] = { 0 };
	size_t count, all = 1;
	const struct launch_rule *rules = launch_rules(&count);

	for (size_t arg = 0; arg < 6; arg++) {
		choose(&choices[arg], 0);
		choose(&choices[arg], UINT32_MAX);
	}
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < LAUNCH_TESTS && (size_t)rules[i].call == index; n++)
			if (rules[i].tests[n].mask)
				choose_near(&choices[rules[i].tests[n].arg], &rules[i].tests[n]);
	for (size_t arg = 0; arg < 6; arg++)
		all *= choices[arg].count;
	for (size_t n = 0; n < all * COUNT(upper); n++) {
		uint64_t args[6];
		size_t rest = n / COUNT(upper);

		for (size_t arg = 0; arg < 6; arg++) {
			args[arg] = upper[n % COUNT(upper)] |
				    choices[arg].values[rest % choices[arg].count];
			rest /= choices[arg].count;
		}
		try_call(index, args);
	}
}

/* Every kind of socket there is, not only those that syscalls.def has tests for. */
static void try_sockets(size_t index)
{
	static const uint64_t flags[] = { 0, SOCK_NONBLOCK | SOCK_CLOEXEC, HIGH };

	for (uint64_t n = 0; n < 64 * 16 * COUNT(flags); n++)
		try_call(index, (uint64_t[6]){ (flags[n % 3] & HIGH) | (n / 3 % 64),
					       flags[n % 3] | (n / 3 / 64), 0 });
}

static void test_rows(void)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	wrong = gaps = questions = tried = 0;
	for (size_t i = 0; i < count; i++)
		if (calls[i].number >= 0)
			try_row(i);
	try_sockets(LAUNCH_CALL_socket);
	try_sockets(LAUNCH_CALL_socketpair);
	cmp_ok(wrong, "==", 0, "%s: every row of syscalls.def, by %zu calls", pair->what, tried);
	cmp_ok(gaps, "==", 0, "%s: what passes the base filter for a listener is heard",
	       pair->what);
	cmp_ok(questions, "==", 0, "%s: what is allowed is not asked about", pair->what);
}

static bool has_row(int number)
{
	size_t count;
	const struct launch_call *calls = launch_calls(&count);

	for (size_t i = 0; i < count; i++)
		if (calls[i].number == number)
			return true;
	return false;
}

static void test_strangers(void)
{
	static const uint32_t foreign[] = { AUDIT_ARCH_I386, AUDIT_ARCH_ARM, AUDIT_ARCH_MIPS, 0 };
	size_t bad = 0;

	for (size_t i = 0; i < COUNT(foreign); i++)
		for (int number = 0; number < 600; number++)
			bad += bpf_run(&pair->notify,
				       &(struct seccomp_data){ .nr = number,
							       .arch = foreign[i] }) != ALLOWED;
	cmp_ok(bad, "==", 0, "%s: another architecture is left to the base filter", pair->what);
	for (int number = 0; number < 4096; number++)
		bad += !has_row(number) && ask(&pair->notify, number, NULL) != ALLOWED;
	for (int number = 0; number < 600; number++)
		bad += ask(&pair->notify, 0x40000000 | number, NULL) != ALLOWED;
	bad += ask(&pair->notify, -1, NULL) != ALLOWED;
	cmp_ok(bad, "==", 0, "%s: and so is a number without a row", pair->what);
}

/* Whether a child can load it. It answers no call that a child needs in order to end. */
static bool kernel_takes(const struct sock_fprog *program)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		long failed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);

		if (!failed)
			failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, program);
		(void)syscall(SYS_exit_group, failed ? 1 : 0); /* a sanitizer's _exit() does more */
	}
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

static void test_shape(void)
{
	static struct sock_filter nothing[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };

	ok(bpf_is_sound(&pair->notify), "%s: the program of %u instructions is well formed",
	   pair->what, pair->notify.len);
	skip(!kernel_takes(&(struct sock_fprog){ 1, nothing }), 1, "no filter can be loaded here");
	ok(kernel_takes(&pair->notify) && kernel_takes(&pair->both),
	   "%s: and the kernel takes it, alone and in one with the base filter", pair->what);
	end_skip;
}

static void test_foreign(void)
{
	static const uint32_t foreign[] = { AUDIT_ARCH_I386, AUDIT_ARCH_AARCH64, 0 };

	for (size_t i = 0; i < COUNT(foreign); i++)
		for (int number = 0; number < 600; number++)
			compare(&(struct seccomp_data){ .nr = number, .arch = foreign[i] });
}

static void test_pair(const char *what, const char *policy)
{
	make_pair(what, policy);
	disjoined = 0;
	test_shape();
	test_rows();
	test_strangers();
	test_foreign();
	ok(bpf_is_sound(&pair->both), "%s: both in one, of %u instructions, is well formed", what,
	   pair->both.len);
	cmp_ok(disjoined, "==", 0, "%s: and answers as the two would", what);
}

/* By hand: a slip in syscalls.def must not be a slip in its test. */
static void test_known(void)
{
	static const struct {
		const char *name;
		uint64_t args[6];
		uint32_t answer;
	} known[] = {
		{ "ptrace", { 0 }, ASKED },
		{ "mount", { 0 }, ASKED },
		{ "unshare", { 0 }, ASKED },
		{ "setns", { 0 }, ASKED },
		{ "keyctl", { 0 }, ASKED },
		{ "bpf", { 0 }, ASKED },
		{ "clone", { 0 }, ASKED },
		{ "clone", { 0x10000000 }, ASKED }, /* CLONE_NEWUSER */
		{ "fork", { 0 }, ASKED },
		{ "vfork", { 0 }, ASKED },
		{ "prlimit64", { 0, 7 }, ALLOWED },
		{ "prlimit64", { 1, 7 }, ASKED },
		{ "prlimit64", { HIGH, 7 }, ALLOWED },
		{ "prlimit64", { HIGH | 1, 7 }, ASKED },
		{ "setpriority", { 0, 0, 5 }, ALLOWED },
		{ "setpriority", { 0, 1, 5 }, ASKED },
		{ "setpriority", { 1, 0, 5 }, ASKED },
		{ "setpriority", { 2, 0, 5 }, ASKED },
		{ "ioprio_set", { 1, 0 }, ALLOWED },
		{ "ioprio_set", { 3, 0 }, ASKED },
		{ "sched_setaffinity", { 4242 }, ASKED },
		{ "openat", { 0 }, ASKED },
		{ "openat", { 0, 0, O_PATH }, ALLOWED },
		{ "openat", { 0, 0, 0, 0, 0, SBX_VOUCHER }, ALLOWED },
		{ "execve", { 0 }, ASKED },
		{ "stat", { 0 }, ALLOWED },
		{ "chdir", { 0 }, ALLOWED },
		{ "ioctl", { 0, 0x5412 }, ALLOWED }, /* TIOCSTI: the base filter's */
		{ "clone3", { 0 }, ALLOWED }, /* ENOSYS there */
		{ "socket", { AF_UNIX, SOCK_STREAM }, ALLOWED },
		{ "socket", { AF_UNIX, SOCK_SEQPACKET }, ALLOWED },
		{ "socket", { AF_UNIX, SOCK_DGRAM }, ASKED },
		{ "socket", { AF_UNIX, SOCK_RAW }, ASKED },
		{ "socket", { AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC }, ASKED },
		{ "socket", { AF_INET, SOCK_DGRAM }, ASKED },
		{ "socket", { AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK }, ASKED },
		{ "socket", { AF_INET, SOCK_STREAM }, ALLOWED },
		{ "socket", { AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP }, ALLOWED },
		{ "socket", { AF_INET, SOCK_STREAM, 262 }, ASKED }, /* MPTCP */
		{ "socket", { AF_INET, SOCK_RAW, 1 }, ASKED },
		{ "socket", { AF_PACKET, SOCK_RAW }, ASKED },
		{ "socket", { AF_VSOCK, SOCK_STREAM }, ASKED },
		{ "socket", { AF_NETLINK, SOCK_RAW, 4 }, ASKED },
		{ "socket", { AF_UNIX, SOCK_DGRAM, 0, 0, 0, SBX_VOUCHER }, ASKED },
		{ "socketpair", { AF_INET, SOCK_STREAM }, ALLOWED }, /* the base filter's */
		{ "socket", { AF_NETLINK, SOCK_DGRAM }, ALLOWED },
		{ "socketpair", { AF_UNIX, SOCK_STREAM }, ALLOWED },
		{ "socketpair", { AF_UNIX, SOCK_SEQPACKET }, ALLOWED },
		{ "socketpair", { AF_UNIX, SOCK_DGRAM }, ASKED },
		{ "socketpair", { AF_UNIX, SOCK_RAW | SOCK_CLOEXEC }, ASKED },
	};

	for (size_t i = 0; i < COUNT(known); i++)
		cmp_ok(ask(&pair->notify, launch_call_find(known[i].name)->number, known[i].args),
		       "==", known[i].answer, "%s(%#jx, %#jx): %s", known[i].name,
		       (uintmax_t)known[i].args[0], (uintmax_t)known[i].args[1],
		       known[i].answer == ASKED ? "is asked about" : "passes");
}

/* Whoever is asked refuses what was asked about, and nothing else, and has a name for it. */
static void test_socket_words(void)
{
	static const uint32_t protocols[] = { 0, 1, 4, 6, 17, 33, 58, 132, 136, 255, 256, 262 };
	size_t bad = 0, nameless = 0, refused = 0;

	for (uint64_t n = 0; n < 64 * 16 * COUNT(protocols) * 2; n++) {
		bool socketpair = n & 1;
		uint64_t args[6] = { HIGH | (n / 2 % 64), HIGH | SOCK_CLOEXEC | (n / 128 % 16),
				     HIGH | protocols[n / 2048] };
		int number = launch_call_find(socketpair ? "socketpair" : "socket")->number;
		struct launch_socket socket = { .what = "" };
		bool said = launch_socket_refused(
			&pair->wishes, socketpair ? LAUNCH_CALL_socketpair : LAUNCH_CALL_socket,
			args, &socket);
		bool is_static = socketpair && (uint32_t)args[0] != AF_UNIX;
		uint32_t got = ask(&pair->both, number, args);

		bad += got != (is_static ? SECCOMP_RET_ERRNO | EPERM : said ? ASKED : ALLOWED);
		nameless += said && (!*socket.what || !socket.instead);
		refused += said;
	}
	cmp_ok(bad, "==", 0, "%s: what is asked about is refused, of %zu kinds", pair->what,
	       refused);
	cmp_ok(nameless, "==", 0, "%s: and has a name", pair->what);
}

/* What a library only looks with, and its neighbours. */
static void test_socket_looks(void)
{
	static const struct {
		uint64_t args[6];
		const char *file;
		bool looks;
	} known[] = {
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libcurl.so.4.8.0", true },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libcurl-gnutls.so.4.8.0", true },
		{ { AF_INET, SOCK_DGRAM }, "/usr/lib/libuuid.so.1.3.0", true },
		{ { AF_INET, SOCK_DGRAM }, "/usr/lib/libcurl.so.4.8.0", false },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libuuid.so.1.3.0", false },
		{ { AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC }, "/usr/lib/libcurl.so.4.8.0", false },
		{ { AF_INET6, SOCK_DGRAM, IPPROTO_UDP }, "/usr/lib/libcurl.so.4.8.0", false },
		{ { AF_INET6, SOCK_RAW }, "/usr/lib/libcurl.so.4.8.0", false },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libcurling.so.4", false },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libcurl", false },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/lib/libcurl.so.4/other", false },
		{ { AF_INET6, SOCK_DGRAM }, "/usr/bin/curl", false },
	};

	for (size_t i = 0; i < COUNT(known); i++)
		ok(launch_socket_looks(known[i].args, known[i].file) == known[i].looks,
		   "%s %s with socket %u %u %u", known[i].file,
		   known[i].looks ? "only looks" : "is taken at its word",
		   (unsigned)known[i].args[0], (unsigned)known[i].args[1],
		   (unsigned)known[i].args[2]);
}

static void test_socket_names(void)
{
	static const struct {
		uint64_t args[6];
		const char *what, *instead; /* NULL: it may be had */
		enum launch_socket_help help;
	} known[] = {
		{ { AF_INET, SOCK_STREAM }, NULL, NULL, 0 },
		{ { AF_INET6, SOCK_STREAM, IPPROTO_TCP }, NULL, NULL, 0 },
		{ { AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK }, NULL, NULL, 0 },
		{ { AF_NETLINK, SOCK_RAW, 0 }, NULL, NULL, 0 },
		{ { AF_INET, SOCK_DGRAM | SOCK_CLOEXEC },
		  "a UDP socket",
		  "only TCP is allowed",
		  SOCKET_HELP_WIDE },
		{ { AF_INET6, SOCK_DGRAM, IPPROTO_UDP },
		  "a UDP socket",
		  "only TCP is allowed",
		  SOCKET_HELP_WIDE },
		{ { AF_UNIX, SOCK_DGRAM },
		  "a UNIX datagram socket",
		  "only stream sockets are allowed",
		  SOCKET_HELP_DATAGRAM },
		{ { AF_INET, SOCK_RAW, 1 }, "a raw socket", "only TCP is allowed", 0 },
		{ { AF_INET, SOCK_DGRAM, 1 }, "an ICMP socket", "only TCP is allowed", 0 },
		{ { AF_INET, SOCK_STREAM, 262 }, "an MPTCP socket", "only TCP is allowed", 0 },
		{ { AF_INET, SOCK_STREAM, 132 },
		  "a socket of protocol 132",
		  "only TCP is allowed",
		  0 },
		{ { AF_INET, SOCK_SEQPACKET },
		  "an internet socket of type 5",
		  "only TCP is allowed",
		  0 },
		{ { AF_VSOCK, SOCK_STREAM },
		  "a vsock socket",
		  "only UNIX and TCP sockets are allowed",
		  0 },
		{ { AF_PACKET, SOCK_RAW },
		  "a packet socket",
		  "only UNIX and TCP sockets are allowed",
		  0 },
		{ { 38, SOCK_SEQPACKET },
		  "a socket of family 38",
		  "only UNIX and TCP sockets are allowed",
		  0 },
		{ { AF_NETLINK, SOCK_RAW, 4 },
		  "a netlink socket of protocol 4",
		  "only NETLINK_ROUTE is allowed",
		  0 },
	};

	for (size_t i = 0; i < COUNT(known); i++) {
		struct launch_socket socket = { .what = "" };
		bool said = launch_socket_refused(&pair->wishes, LAUNCH_CALL_socket, known[i].args,
						  &socket);

		ok(said == (known[i].what != NULL) &&
			   (!said || (!strcmp(socket.what, known[i].what) &&
				      !strcmp(socket.instead, known[i].instead) &&
				      socket.help == known[i].help &&
				      socket.usual == (known[i].args[2] == 262))),
		   "a socket of %ju, %ju, %ju is %s", (uintmax_t)known[i].args[0],
		   (uintmax_t)known[i].args[1], (uintmax_t)known[i].args[2],
		   known[i].what ? known[i].what : "allowed");
	}
}

static uint32_t ask_from(uint64_t from, int number, const uint64_t args[6])
{
	struct seccomp_data data = { .nr = number,
				     .arch = seccomp_arch_native(),
				     .instruction_pointer = from };

	for (size_t i = 0; i < 6; i++)
		data.args[i] = args[i];
	compare(&data);
	return bpf_run(&pair->notify, &data);
}

static const uint64_t places[] = { 0,
				   0x400000,
				   UINT64_C(0x2aaaaaaab000),
				   UINT64_C(0x555555554000),
				   SBX_QUIET_FROM - 1,
				   SBX_QUIET_FROM,
				   UINT64_C(0x7ffff7dd0000) };
static const uint64_t words[] = { 0,
				  SBX_VOUCHER,
				  SBX_ASK,
				  SBX_VOUCHER ^ 1,
				  SBX_VOUCHER ^ UINT64_C(1) << 32,
				  SBX_VOUCHER ^ UINT64_C(1) << 63,
				  (uint32_t)SBX_VOUCHER,
				  SBX_VOUCHER & ~UINT64_C(0xffffffff) };

/* One call of one row, from all the places and with all the words that could matter. */
static size_t try_words(size_t row, uint64_t flags)
{
	int number = launch_call_find(governed[row].name)->number, at = governed[row].flags;
	const uint64_t writes = O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
	size_t bad = 0;

	for (size_t i = 0; i < COUNT(places) * COUNT(words); i++) {
		uint64_t place = places[i / COUNT(words)], word = words[i % COUNT(words)];
		uint64_t args[6] = { [5] = word };
		bool quiet = pair->wishes.quiet && place >= SBX_QUIET_FROM && word != SBX_ASK;
		bool passes = word == SBX_VOUCHER;
		uint64_t how = flags & O_ACCMODE;

		if (at >= 0) {
			args[at] = flags;
			passes |= (flags & O_PATH) || (quiet && !(flags & writes));
		}
		/* Landlock does not look for the right to truncate where we do, nor at mode 3. */
		if (pair->wishes.metadata &&
		    (at < 0 ? governed[row].truncates
			    : !(flags & O_PATH) &&
				      ((flags & O_TRUNC && how == O_RDONLY) || how == O_ACCMODE)))
			passes = false;
		if (governed[row].network && !pair->wishes.asks_network)
			passes = true;
		else if (governed[row].network && pair->wishes.metadata)
			passes = false;
		/* No voucher, zone or flag is worth anything. */
		if (pair->wishes.hides)
			passes = false;
		bad += ask_from(place, number, args) != (passes ? ALLOWED : ASKED);
	}
	return bad;
}

/* Vouched calls pass, asking ones do not, and bare ones only in the quiet zone, to read. */
static void test_governed(const char *what)
{
	static const uint64_t flags[] = { O_RDONLY,
					  O_WRONLY,
					  O_RDWR,
					  O_ACCMODE,
					  O_CREAT,
					  O_TRUNC,
					  O_TRUNC | O_WRONLY,
					  O_TRUNC | O_RDWR,
					  O_TRUNC | O_ACCMODE,
					  O_TRUNC | O_PATH,
					  HIGH | O_TRUNC,
					  O_TMPFILE,
					  O_DIRECTORY | O_CLOEXEC,
					  O_WRONLY | O_CREAT,
					  O_PATH,
					  O_PATH | O_CREAT,
					  O_NOFOLLOW | O_NONBLOCK,
					  HIGH | O_RDONLY,
					  HIGH | O_WRONLY };
	size_t count, rows = 0;

	disjoined = 0;
	(void)launch_calls(&count);
	for (size_t i = 0; i < count; i++)
		rows += launch_call_path((enum launch_call_index)i)->act != SBX_ACT_NOTHING &&
			!launch_call_is_unheld((enum launch_call_index)i);
	cmp_ok(rows, "==", COUNT(governed), "%s: there are so many calls of paths", what);
	rows = 0;
	for (size_t i = 0; i < count; i++)
		rows += launch_call_look((enum launch_call_index)i)->act != LOOK_NOTHING;
	cmp_ok(rows, "==", COUNT(looks), "%s: and so many that look", what);
	for (size_t row = 0; row < COUNT(governed); row++) {
		size_t bad = 0;

		for (size_t i = 0; i < COUNT(flags); i++)
			bad += try_words(row, flags[i]);
		cmp_ok(bad, "==", 0, "%s: %s by word, place and flags", what, governed[row].name);
	}
	cmp_ok(disjoined, "==", 0, "%s: in one filter, too", what);
}

/* A voucher says that Landlock decides, and there is no quiet zone for what it does not see. */
static void test_unheld(const char *what)
{
	static const uint64_t values[] = { 0, UINT32_MAX, HIGH, O_PATH, UINT64_MAX };
	size_t count, rows = 0;

	disjoined = 0;
	(void)launch_calls(&count);
	for (size_t i = 0; i < count; i++)
		rows += launch_call_is_unheld((enum launch_call_index)i);
	cmp_ok(rows, "==", COUNT(unheld), "%s: there are so many calls that no layer holds", what);
	for (size_t row = 0; row < COUNT(unheld); row++) {
		const struct launch_call *call = launch_call_find(unheld[row]);
		uint32_t answer = is_served(call) ? ASKED : ALLOWED;
		size_t bad = 0;

		for (size_t i = 0; i < COUNT(places) * COUNT(words) * COUNT(values); i++) {
			uint64_t value = values[i / COUNT(words) / COUNT(places)];
			uint64_t args[6] = { value, value, value,
					     value, value, words[i % COUNT(words)] };
			uint64_t place = places[i / COUNT(words) % COUNT(places)];

			bad += ask_from(place, call->number, args) != answer;
		}
		cmp_ok(bad, "==", 0, "%s: %s is %s, whatever it says", what, unheld[row],
		       answer == ASKED ? "asked about" : "left alone");
	}
	cmp_ok(disjoined, "==", 0, "%s: and in one filter", what);
}

/* A policy that allows, denies, or does both to everything that can be. */
static const char *wish_all(bool allow, bool deny)
{
	static const char *const needed[] = { "execve", "seccomp", "close_range", "write",
					      "exit_group" };
	static char text[64 << 10];
	size_t count, len;
	const struct launch_call *calls = launch_calls(&count);

	len = (size_t)snprintf(text, sizeof(text), ALONE "[syscalls]\n");
	for (size_t i = 0; i < count; i++) {
		bool starts = false;

		for (size_t n = 0; n < COUNT(needed); n++)
			starts |= strcmp(needed[n], calls[i].name) == 0;
		if (allow && calls[i].loosenable)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "allow = %s\n",
						calls[i].name);
		if (deny && !starts)
			len += (size_t)snprintf(text + len, sizeof(text) - len, "deny = %s\n",
						calls[i].name);
	}
	return text;
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	pair = calloc(1, sizeof(*pair));
	if (!pair)
		BAIL_OUT("out of memory");
	test_pair("no wishes", ALONE);
	ok(pair->wishes.no_udp && pair->wishes.no_unix_datagram, "which means no datagrams");
	test_known();
	test_socket_words();
	test_socket_looks();
	test_socket_names();
	test_governed("no wishes");
	test_pair("all explained", ALONE "[errors]\nexplain = all\n");
	test_governed("all explained");
	test_pair("full network", ALONE "[network]\nmode = full\n");
	test_governed("full network");
	ok(!pair->wishes.no_udp && !pair->wishes.no_unix_datagram, "which means all datagrams");
	test_socket_words();
	test_pair("UNIX datagrams", ALONE "[network]\nunix_datagram = yes\n");
	ok(pair->wishes.no_udp && !pair->wishes.no_unix_datagram, "which means no UDP");
	test_socket_words();
	test_pair("filtered network", ALONE "[network]\nconnect = 10.0.0.1:443\n");
	ok(pair->wishes.no_udp && pair->wishes.no_unix_datagram, "which means no datagrams");
	test_pair("ptrace and prlimit64",
		  ALONE "[syscalls]\nallow = ptrace, prlimit64\ndeny = chmod, socket, getpid\n");
	test_pair("all allowed", wish_all(true, false));
	test_pair("all denied", wish_all(false, true));
	test_pair("all allowed and denied", wish_all(true, true));
	test_pair("nobody performs", ALONE);
	test_unheld("nobody performs");
	metadata = true;
	test_pair("modes, owners, times", ALONE);
	test_unheld("modes, owners, times");
	memfd = true;
	test_pair("and files in memory", ALONE);
	test_unheld("and files in memory");
	test_governed("and files in memory");
	test_pair("and all allowed", wish_all(true, false));
	test_unheld("and all allowed");
	test_pair("and all denied", wish_all(false, true));
	names = true;
	test_pair("hosts by name", ALONE "[network]\nconnect = example.org:443\n");
	test_governed("hosts by name");
	names = metadata = false;
	test_pair("files in memory alone", ALONE);
	test_unheld("files in memory alone");
	hides = true;
	test_pair("something is hidden", ALONE);
	test_governed("something is hidden");
	test_pair("hidden, and full network", ALONE "[network]\nmode = full\n");
	test_governed("hidden, and full network");
	test_pair("hidden, and all allowed", wish_all(true, false));
	test_pair("hidden, and all denied", wish_all(false, true));
	free(pair);
	done_testing();
}
