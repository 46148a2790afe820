/* SPDX-License-Identifier: MIT */
/*
 * --doctor tells the truth: natively, and where an outer filter, an outer Landlock domain or a
 * limit takes something away, exactly the rows change that are about it. Run by root, all of it is
 * done once more as an ordinary user. What the machine itself lacks is not asked for.
 */
#include "doctor.h"

#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <termios.h>

#include "confined.h"
#include "filter.h"
#include "landlock_abi.h"
#include "private.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define REPORT_MAX 65536

enum {
	LEFT_SOMETHING = 64 /* in the exit status of a child */
};

struct report {
	char text[REPORT_MAX];
	int status;
};

static uid_t as_user;

/* Outer filters: a call, perhaps only with some bits in one argument, and what becomes of it. */
struct taken {
	long number;
	int arg; /* -1: whatever its arguments are */
	uint32_t bits;
	uint32_t outcome;
};

static long load(const struct taken *taken, size_t count, unsigned long flags)
{
	struct sock_filter code[64];
	struct sock_fprog program = { 0, code };

#define ADD(...) code[program.len++] = (struct sock_filter)__VA_ARGS__
	for (size_t i = 0; i < count; i++) {
		const struct taken *t = &taken[i];
		uint32_t arg = (uint32_t)(offsetof(struct seccomp_data, args) +
					  8 * (t->arg < 0 ? 0U : (unsigned int)t->arg));

		ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
		ADD(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)t->number, 0,
			     t->arg < 0 ? 1 : 3));
		if (t->arg >= 0) {
			ADD(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, arg));
			ADD(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, t->bits, 0, 1));
		}
		ADD(BPF_STMT(BPF_RET | BPF_K, t->outcome));
	}
	ADD(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
#undef ADD
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		_exit(BROKEN);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

static void take(const struct taken *taken, size_t count)
{
	if (load(taken, count, 0) < 0)
		_exit(BROKEN);
}

static void nothing(void)
{
}

static void no_landlock(void)
{
	static const struct taken taken[] = {
		{ LL_SYS_CREATE_RULESET, -1, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ LL_SYS_ADD_RULE, -1, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ LL_SYS_RESTRICT_SELF, -1, 0, SECCOMP_RET_ERRNO | ENOSYS },
	};

	take(taken, COUNT(taken));
}

static void unenforced_landlock(void)
{
	static const struct taken taken[] = { { LL_SYS_RESTRICT_SELF, -1, 0, SECCOMP_RET_ERRNO } };

	take(taken, COUNT(taken));
}

static void no_userns(void)
{
	static const struct taken taken[] = {
		{ SYS_unshare, 0, CLONE_NEWUSER, SECCOMP_RET_ERRNO | EPERM },
		{ SYS_clone, 0, CLONE_NEWUSER, SECCOMP_RET_ERRNO | EPERM },
	};

	take(taken, COUNT(taken));
}

static void no_unshare(void)
{
	static const struct taken taken[] = { { SYS_unshare, -1, 0, SECCOMP_RET_ERRNO | EPERM } };

	take(taken, COUNT(taken));
}

static void no_listener(void)
{
	static const struct taken taken[] = {
		{ SYS_seccomp, 1, SECCOMP_FILTER_FLAG_NEW_LISTENER, SECCOMP_RET_ERRNO | EINVAL },
	};

	take(taken, COUNT(taken));
}

static void no_seccomp(void)
{
	static const struct taken taken[] = { { SYS_seccomp, -1, 0, SECCOMP_RET_ERRNO | EINVAL } };

	take(taken, COUNT(taken));
}

static void no_mount(void)
{
	static const struct taken taken[] = { { SYS_mount, -1, 0, SECCOMP_RET_ERRNO | EPERM } };

	take(taken, COUNT(taken));
}

static void no_reading(void)
{
	static const struct taken taken[] = {
		{ SYS_process_vm_readv, -1, 0, SECCOMP_RET_ERRNO | EPERM },
		{ SYS_pidfd_getfd, -1, 0, SECCOMP_RET_ERRNO | EPERM },
		{ SYS_close_range, -1, 0, SECCOMP_RET_ERRNO | ENOSYS },
		{ SYS_timer_create, -1, 0, SECCOMP_RET_ERRNO | EINVAL },
	};

	take(taken, COUNT(taken));
}

/* Calls that claim to have worked. */
static void lies(void)
{
	static const struct taken taken[] = {
		{ SYS_prlimit64, -1, 0, SECCOMP_RET_ERRNO },
		{ SYS_setrlimit, -1, 0, SECCOMP_RET_ERRNO },
		{ SYS_mount, -1, 0, SECCOMP_RET_ERRNO },
		{ SYS_fchmod, -1, 0, SECCOMP_RET_ERRNO },
		{ SYS_process_vm_readv, -1, 0, SECCOMP_RET_ERRNO },
	};

	take(taken, COUNT(taken));
}

static void deadly_memfd(void)
{
	static const struct taken taken[] = { { SYS_memfd_create, -1, 0,
						SECCOMP_RET_KILL_PROCESS } };

	take(taken, COUNT(taken));
}

/* The filter that runs without a listener have. */
static void base_filter(void)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &launch_filter_standalone) < 0)
		_exit(BROKEN);
}

/* Somebody listens, as around a nested run. */
static void own_listener(void)
{
	static const struct taken taken[] = { { 600, -1, 0, SECCOMP_RET_USER_NOTIF } };

	if (load(taken, COUNT(taken), SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0)
		_exit(BROKEN);
}

/* A call that never returns, because nobody answers. */
static void silent_memfd(void)
{
	static const struct taken taken[] = { { SYS_memfd_create, -1, 0, SECCOMP_RET_USER_NOTIF } };

	if (load(taken, COUNT(taken), SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0)
		_exit(BROKEN);
}

static void stack_layers(int count)
{
	struct ll_ruleset attr = ll_abis[1];
	int ruleset = (int)syscall(LL_SYS_CREATE_RULESET, &attr, sizeof(attr.fs), 0);

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	for (int i = 0; i < count; i++)
		if (syscall(LL_SYS_RESTRICT_SELF, ruleset, 0) < 0)
			_exit(BROKEN);
	close(ruleset);
}

static void one_layer(void)
{
	stack_layers(1);
}

static void fifteen_layers(void)
{
	stack_layers(15);
}

static void sixteen_layers(void)
{
	stack_layers(16);
}

/* RLIMIT_NPROC does not bind root. */
static void no_processes(void)
{
	struct rlimit limit = { 0, 0 };

	if (setrlimit(RLIMIT_NPROC, &limit) < 0)
		_exit(BROKEN);
}

#define LANDLOCKED "userns=no mountns=no pidns_proc=no children=no smaps=no "
#define NO_SPACES \
	"userns=no mountns=no netns=no netns_route=implied pidns=no pidns_proc=implied ipcns=no "
#define NO_NOTIFY                                                                           \
	"notify=no notify_addfd=implied notify_addfd_send=implied notify_killable=implied " \
	"notify_sync=implied "
#define NO_LANDLOCK "landlock=no landlock_layers=implied "

static const struct scene {
	const char *name;
	void (*confine)(void);
	const char *root, *user; /* what changes; NULL: not tried */
	const char *says; /* is in the report */
} scenes[] = {
	{ "nothing is taken away", nothing, "", "", NULL },
	{ "Landlock is ENOSYS", no_landlock, NO_LANDLOCK, NO_LANDLOCK,
	  "hidden by an outer filter" },
	{ "Landlock only seems to enforce", unenforced_landlock, NO_LANDLOCK, NO_LANDLOCK,
	  "can be opened" },
	{ "user namespaces are refused", no_userns, "userns=no", NO_SPACES,
	  "unshare a user namespace: Operation not permitted" },
	{ "unshare is refused", no_unshare, NO_SPACES, NO_SPACES, NULL },
	{ "mount is refused", no_mount, "mountns=no pidns_proc=no", "mountns=no pidns_proc=no",
	  NULL },
	{ "listeners are refused", no_listener, NO_NOTIFY, NO_NOTIFY, "Invalid argument" },
	{ "filters are refused", no_seccomp, "seccomp=no " NO_NOTIFY, "seccomp=no " NO_NOTIFY,
	  NULL },
	{ "the base filter is around", base_filter, NO_SPACES NO_NOTIFY "read_memory=no pidfd=no",
	  NO_SPACES NO_NOTIFY "read_memory=no pidfd=no", NULL },
	{ "somebody listens", own_listener, NO_NOTIFY, NO_NOTIFY, "listens already" },
	{ "processes cannot be read", no_reading,
	  "read_memory=no pidfd=no close_range=no cpu_timer=no",
	  "read_memory=no pidfd=no close_range=no cpu_timer=no", "pidfd_getfd: Operation not" },
	{ "calls lie", lies, "rlimits=no mountns=no pidns_proc=no memfd_noexec=no read_memory=no",
	  "rlimits=no mountns=no pidns_proc=no memfd_noexec=no read_memory=no", NULL },
	{ "memfd_create kills", deadly_memfd, "memfd_noexec=no", "memfd_noexec=no", "SIGSYS" },
	{ "a Landlock domain that grants nothing is around", one_layer, LANDLOCKED,
	  NO_SPACES "children=no smaps=no", "15 left" },
	{ "15 layers are in use", fifteen_layers, "landlock_layers=no " LANDLOCKED,
	  "landlock_layers=no children=no smaps=no " NO_SPACES, "1 left" },
	{ "16 layers are in use", sixteen_layers, NO_LANDLOCK LANDLOCKED,
	  NO_LANDLOCK NO_SPACES "children=no smaps=no", "16 Landlock layers are in use" },
	{ "no process can be started", no_processes, NULL,
	  "landlock_layers=implied notify=untried " NO_NOTIFY
	  "netns_route=implied pidns_proc=implied *=untried",
	  "fork: " },
	{ "a call never returns", silent_memfd, NULL, NO_NOTIFY "memfd_noexec=silent",
	  "did not answer within 5 s" },
};

static void read_all(int fd, struct report *report)
{
	size_t len = 0;
	ssize_t got;

	while ((got = read(fd, report->text + len, sizeof(report->text) - 1 - len)) > 0)
		len += (size_t)got;
	report->text[len] = '\0';
	close(fd);
}

/* In a child that would inherit every process that got lost; its exit status says if one did. */
__attribute__((noreturn)) static void examine(void (*confine_self)(void), bool json, int out)
{
	FILE *to = fdopen(out, "w");
	int result;

	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (as_user &&
	    (setresgid(as_user, as_user, as_user) || setresuid(as_user, as_user, as_user)))
		_exit(BROKEN);
	confine_self();
	result = launch_doctor(json, false, to);
	if (fflush(to) != 0)
		_exit(BROKEN);
	if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
		result |= LEFT_SOMETHING;
	_exit(result);
}

static void ask(void (*confine_self)(void), bool json, struct report *report)
{
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		BAIL_OUT("cannot run a child");
	if (pid == 0)
		examine(confine_self, json, pipes[1]);
	close(pipes[1]);
	read_all(pipes[0], report);
	if (waitpid(pid, &report->status, 0) != pid || !WIFEXITED(report->status))
		BAIL_OUT("the child was killed");
	report->status = WEXITSTATUS(report->status);
}

/* The state of a row in a JSON report, "" when it has none. */
static const char *state_of(const struct report *report, const char *name, char state[16])
{
	char key[64];
	const char *at;

	snprintf(key, sizeof(key), "\"name\":\"%s\"", name);
	at = strstr(report->text, key);
	at = at ? strstr(at, "\"state\":\"") : NULL;
	snprintf(state, 16, "%.*s", at ? (int)strcspn(at + 9, "\"") : 0, at ? at + 9 : "");
	return state;
}

/* The next row's name from 'at' on; NULL at the end. */
static const char *next_name(const char *at, char name[32])
{
	at = strstr(at, "{\"name\":\"");
	if (!at)
		return NULL;
	snprintf(name, 32, "%.*s", (int)strcspn(at + 9, "\""), at + 9);
	return at + 9;
}

/* What 'changes' says of a row, else of all ("*"), or what it was. */
static void expected_state(const char *changes, const char *name, const char *was, char state[16])
{
	const char *at = changes, *found = NULL;
	size_t len = strlen(name);

	for (; *at; at += strcspn(at, " "), at += strspn(at, " "))
		if ((!strncmp(at, name, len) && at[len] == '=') || !strncmp(at, "*=", 2))
			found = found ? found : strchr(at, '=') + 1;
	snprintf(state, 16, "%.*s", found ? (int)strcspn(found, " ") : 15, found ? found : was);
}

/* Rows that the machine does not have natively prove nothing. */
static int wrong_rows(const struct report *native, const struct report *report, const char *changes)
{
	char name[32], was[16], is_now[16], should[16];
	int wrong = 0, count = 0;

	for (const char *at = native->text; (at = next_name(at, name)); count++) {
		state_of(native, name, was);
		state_of(report, name, is_now);
		expected_state(changes, name, was, should);
		if (strcmp(was, "yes") != 0 || strcmp(is_now, should) == 0)
			continue;
		diag("%s is '%s' and was '%s', expected '%s'", name, is_now, was, should);
		wrong++;
	}
	return count > 20 ? wrong : -1;
}

static bool parses(const char *json)
{
	int pipes[2], status;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		BAIL_OUT("cannot run a child");
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (dup2(pipes[0], 0) < 0 || dup2(null, 1) < 0)
			_exit(BROKEN);
		execlp("python3", "python3", "-m", "json.tool", (char *)NULL);
		_exit(BROKEN);
	}
	close(pipes[0]);
	status = write(pipes[1], json, strlen(json)) != (ssize_t)strlen(json);
	close(pipes[1]);
	return !status && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
	       !WEXITSTATUS(status);
}

static void test_scene(const struct scene *scene, const struct report *native)
{
	static struct report report;
	const char *changes = as_user || geteuid() ? scene->user : scene->root;
	bool ok_is_true;

	if (!changes)
		return;
	ask(scene->confine, true, &report);
	skip(report.status == BROKEN, 4, "%s: this machine does not let us", scene->name);
	cmp_ok(wrong_rows(native, &report, changes), "==", 0, "%s: exactly its rows change",
	       scene->name);
	ok(!(report.status & LEFT_SOMETHING), "%s: no child is left", scene->name);
	ok_is_true = strstr(report.text, "\"ok\":true,\"missing\":[]") != NULL;
	cmp_ok(report.status & 1, "==", !ok_is_true, "%s: the exit status says it", scene->name);
	ok(parses(report.text), "%s: the JSON parses", scene->name);
	if (scene->says && *changes)
		ok(strstr(report.text, scene->says) != NULL, "%s: it says '%s'", scene->name,
		   scene->says);
	end_skip;
}

static void test_scenes(void)
{
	static struct report native;

	ask(nothing, true, &native);
	for (size_t i = 0; i < COUNT(scenes); i++)
		test_scene(&scenes[i], &native);
}

/* Answers for the kernel that it has Landlock ABI 3, until the doctor is done. */
static int answer_abi(int listener, pid_t doctor)
{
	struct pollfd ready = { .fd = listener, .events = POLLIN };
	int status;

	while (waitpid(doctor, &status, WNOHANG) == 0) {
		struct seccomp_notif call = { 0 };
		struct seccomp_notif_resp response = { .val = 3 };

		if (poll(&ready, 1, 10) != 1 ||
		    ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			continue;
		response.id = call.id;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : BROKEN;
}

static void old_landlock(void)
{
	static const struct taken taken[] = {
		{ LL_SYS_CREATE_RULESET, 2, LL_CREATE_VERSION, SECCOMP_RET_USER_NOTIF },
	};
	long listener = load(taken, COUNT(taken), SECCOMP_FILTER_FLAG_NEW_LISTENER);
	pid_t pid = listener < 0 ? -1 : fork();

	if (pid < 0)
		_exit(BROKEN);
	if (pid > 0)
		_exit(answer_abi((int)listener, pid));
}

static void test_gaps(void)
{
	static struct report report;
	char state[16];

	skip(launch_landlock_abi() < 3 || !launch_has("notify"), 4, "no Landlock, or no listeners");
	ask(old_landlock, true, &report);
	like(report.text, "\"landlock_abi\":3,", "an old Landlock is called by its number");
	is(state_of(&report, "landlock", state), "yes", "and it is there");
	is(state_of(&report, "landlock_abi_3", state), "", "what it has is no gap");
	is(state_of(&report, "landlock_abi_6", state), "no", "what it lacks is one");
	end_skip;
}

static void test_text(void)
{
	static struct report report;

	ask(no_landlock, false, &report);
	unlike(report.text, "\033", "there are no colours in a file");
	like(report.text, "layers? (is|are) missing: (.*, )?landlock[.,]",
	     "a sentence says what is missing");
	like(report.text, "\n  no  landlock  *the kernel", "the row says what it is needed for");
	like(report.text, "lost:  the supervisor opens", "and what is lost");
	ask(nothing, false, &report);
	like(report.text, report.status & 1 ? "missing" : "\nEvery layer is here\\.",
	     "a sentence sums it up");
}

/* What is printed on a terminal. */
static bool has_colours(const char *no_color)
{
	static struct report report;
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;
	pid_t pid;

	if (terminal < 0 || grantpt(terminal) < 0 || unlockpt(terminal) < 0 ||
	    (fd = open(ptsname(terminal), O_RDWR | O_NOCTTY | O_CLOEXEC)) < 0 || (pid = fork()) < 0)
		BAIL_OUT("cannot open a terminal");
	if (pid == 0) {
		setenv("TERM", "xterm", 1);
		setenv("NO_COLOR", no_color, 1);
		examine(nothing, false, fd);
	}
	close(fd);
	read_all(terminal, &report);
	waitpid(pid, NULL, 0);
	return strstr(report.text, "\033[") != NULL;
}

static void test_has(void)
{
	static const char *const names[] = { "landlock", "seccomp", "notify", "userns", "netns" };
	static struct report native;
	char state[16];
	int status;
	pid_t pid;

	ask(nothing, true, &native);
	for (size_t i = 0; i < COUNT(names); i++) {
		bool there = strcmp(state_of(&native, names[i], state), "yes") == 0;

		cmp_ok(launch_has(names[i]), "==", there, "'%s' can be required", names[i]);
		cmp_ok(*launch_has_not(names[i]) == '\0', "==", there, "and has its reason");
	}
	ok(!launch_has("magic"), "what is unknown is not there");
	ok(!launch_has("landlock_abi_2"), "a gap cannot be required");
	pid = fork();
	if (pid == 0) {
		bool before = launch_has("landlock");

		no_landlock();
		if (launch_has("landlock") != before)
			_exit(1);
		pid = fork();
		if (pid == 0)
			_exit(launch_has("landlock") ? 2 : 0);
		_exit(waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status) : BROKEN);
	}
	ok(waitpid(pid, &status, 0) == pid && status == 0,
	   "it is tried once in a process, and anew in its child");
}

/* All that can be seen of a process from inside. */
static void look(char text[4096])
{
	static const char *const spaces[] = { "user", "mnt", "net", "pid", "pid_for_children",
					      "ipc",  "uts" };
	char path[64], link[64], cwd[PATH_MAX];
	struct rlimit data, core;
	sigset_t mask;
	size_t len = 0;
	ssize_t got;
	DIR *dir;

	for (size_t i = 0; i < COUNT(spaces); i++) {
		snprintf(path, sizeof(path), "/proc/self/ns/%s", spaces[i]);
		got = readlink(path, link, sizeof(link));
		len += (size_t)snprintf(text + len, 4096 - len, "%.*s ", (int)got, link);
	}
	dir = opendir("/proc/self/fd");
	for (const struct dirent *entry; dir && (entry = readdir(dir));)
		len += (size_t)snprintf(text + len, 4096 - len, "%s ", entry->d_name);
	closedir(dir);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	getrlimit(RLIMIT_DATA, &data);
	getrlimit(RLIMIT_CORE, &core);
	snprintf(text + len, 4096 - len, "%s %d %d %d %d %lu %lu %d", getcwd(cwd, sizeof(cwd)),
		 prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_SECCOMP, 0, 0, 0, 0),
		 prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), sigismember(&mask, SIGCHLD),
		 (unsigned long)data.rlim_cur, (unsigned long)core.rlim_cur, (int)getpgrp());
}

static int count_mounts(void)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	int count = 0;

	for (int c; file && (c = fgetc(file)) != EOF;)
		count += c == '\n';
	fclose(file);
	return count;
}

static void test_untouched(void)
{
	static char before[4096], after[4096], sink[REPORT_MAX];
	FILE *to = fmemopen(sink, sizeof(sink), "w");
	int mounts = count_mounts();

	look(before);
	launch_doctor(false, false, to);
	look(after);
	is(after, before, "the caller is what it was");
	cmp_ok(count_mounts(), "==", mounts, "so are the mounts");
	ok(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "it has no child more");
	fclose(to);
}

/* A launcher that makes a run and is then killed, or not; 'mute': without its file. */
static pid_t launch(const struct sbx_image *image, const char *name, bool kill_it, bool mute)
{
	const char *const argv[] = { name, "a\"b\\.js", NULL };
	struct launch_private run;
	struct launch_error error;
	int pipes[2];
	char byte;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		BAIL_OUT("cannot run a child");
	if (pid == 0) {
		if (launch_private_make(false, &run, &error) < 0 ||
		    launch_private_fill(image, argv, geteuid(), getegid(), &run, &error) < 0)
			_exit(BROKEN);
		if (mute && unlink(run.image) < 0)
			_exit(BROKEN);
		if (write(pipes[1], "x", 1) == 1)
			pause();
		_exit(BROKEN);
	}
	close(pipes[1]);
	if (read(pipes[0], &byte, 1) != 1)
		BAIL_OUT("no run was made");
	close(pipes[0]);
	if (kill_it && (kill(pid, SIGKILL) < 0 || waitpid(pid, NULL, 0) != pid))
		BAIL_OUT("cannot kill a launcher");
	return pid;
}

static const char *said(bool json, bool clean)
{
	static char text[REPORT_MAX];
	FILE *to = fmemopen(text, sizeof(text), "w");

	launch_doctor(json, clean, to);
	fclose(to);
	return text;
}

/* How many runs have something on the disk, in our TMPDIR. */
static int count_data(void)
{
	DIR *dir = opendir(tree_path("sbx"));
	int count = -2;

	while (dir && readdir(dir))
		count++;
	if (dir)
		closedir(dir);
	return count;
}

/* Other tests may have runs in /tmp at the same time: ours are known by their commands. */
static void test_runs(void)
{
	struct sbx_policy *policy;
	char living[64], dead[64], line[64];
	pid_t alive;

	tree_begin();
	tree_own_memory();
	chmod(tree_root, 0700);
	setenv("TMPDIR", tree_root, 1);
	unsetenv("XDG_RUNTIME_DIR");
	policy = load_rules("[sandbox]\ntmp = private\n");
	if (!policy)
		BAIL_OUT("cannot load a policy");
	snprintf(living, sizeof(living), "living-%d", (int)getpid());
	snprintf(dead, sizeof(dead), "dead-%d", (int)getpid());
	alive = launch(sbx_policy_image(policy), living, false, false);
	launch(sbx_policy_image(policy), dead, true, false);
	snprintf(line, sizeof(line), "launcher %d  %.40s a", (int)alive, living);
	ok(strstr(said(false, false), line) != NULL, "a running sandbox is listed");
	snprintf(line, sizeof(line), "--clean' removes it:(.|\n)*%.30s a", dead);
	like(said(false, false), line, "and what a dead one left");
	launch(sbx_policy_image(policy), dead, true, true);
	like(said(false, false), "--clean' removes it:(.|\n)*\\(command unknown\\)",
	     "data of which nothing is known too");
	snprintf(line, sizeof(line), ",\"pid\":%d,", (int)alive);
	ok(strstr(said(true, false), line) != NULL, "also as JSON");
	ok(parses(said(true, false)), "which parses");
	like(said(false, true), "Removed what [1-9][0-9]* dead run", "--clean removes it");
	ok(!strstr(said(false, false), dead), "it is gone then");
	cmp_ok(count_data(), "==", 1, "with what was unknown");
	ok(strstr(said(true, true), living) != NULL, "and the living is left alone");
	kill(alive, SIGKILL);
	waitpid(alive, NULL, 0);
	sbx_free(policy);
}

int main(void)
{
	plan(NO_PLAN);
	test_has();
	test_untouched();
	test_scenes();
	test_gaps();
	test_text();
	ok(has_colours(""), "there are colours on a terminal");
	ok(!has_colours("1"), "NO_COLOR takes them away");
	test_runs();
	skip(geteuid() != 0, 1, "not root: everything above was done as an ordinary user");
	as_user = NOBODY;
	note("as an ordinary user");
	test_scenes();
	test_gaps();
	end_skip;
	done_testing();
}
