/* SPDX-License-Identifier: MIT */
/*
 * Starts the actor, bare and by the launcher, and talks to it through pipes. Whoever does not answer
 * ends the test: a sandbox that hangs is worse than one that is wrong.
 */
#include "agree.h"

#include "contract.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>

#define PATIENCE_MS 60000
#define STATUS_REFUSED 125

const char *const run_names[RUN_COUNT] = { "bare", "with the shim", "static",
					   "with the shim, masked", "static, masked" };

static char build[PATH_MAX];

/* --- The programs --- */

static const char *built(const char *name)
{
	static char paths[4][PATH_MAX * 2];
	static unsigned int turn;
	char *path = paths[turn++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", build, name);
	return path;
}

static void command(const char *const argv[])
{
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ) != 0 ||
	    waitpid(pid, &status, 0) != pid || status != 0)
		BAIL_OUT("'%s %s %s' failed", argv[0], argv[1], argv[2]);
}

static void copy(const char *from, const char *name, const char *to)
{
	char source[PATH_MAX * 2];

	snprintf(source, sizeof(source), "%s/%s", from, name);
	command((const char *const[]){ "cp", "-rL", source, to, NULL });
}

void runs_begin(const char *folder)
{
	const char *from = getenv("SBX_BUILD");

	from = from ? from : "build/release";
	snprintf(build, sizeof(build), "%s", folder);
	signal(SIGPIPE, SIG_IGN);
	if (mkdir(build, 0755) < 0 || mkdir(built("lib"), 0755) < 0 ||
	    mkdir(built("bin"), 0755) < 0)
		BAIL_OUT("cannot make %s", build);
	copy(from, "lib/" SBX_SHIM_NAME, built("lib/"));
	copy(from, "bin/sbx-launch", built("bin/"));
	copy(from, "share", built(""));
	copy(from, "tests/agree/programs", built(""));
	command((const char *const[]){ "chmod", "-R", "go+rX", build, NULL });
}

const char *runs_profiles(void)
{
	return built("share/sbx/profiles");
}

/* --- A run --- */

static const char *errors_of(enum run_kind kind)
{
	static char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s/errors.%d", build, (int)kind);
	return path;
}

static void show_errors(enum run_kind kind)
{
	FILE *file = fopen(errors_of(kind), "re");
	char line[512];

	for (int i = 0; file && i < 10 && fgets(line, sizeof(line), file); i++)
		diag("%s: %s", run_names[kind], line);
	if (file)
		fclose(file);
}

_Noreturn static void give_up(const struct run *run, const char *why)
{
	show_errors(run->kind);
	kill(run->pid, SIGKILL);
	BAIL_OUT("the actor %s %s", run_names[run->kind], why);
}

/* How many bytes came: all, or 0 when the other end is closed. */
static size_t hear(const struct run *run, void *bytes, size_t size)
{
	struct pollfd answer = { .fd = run->from, .events = POLLIN };
	ssize_t got;

	if (poll(&answer, 1, PATIENCE_MS) != 1)
		give_up(run, "does not answer");
	got = read(run->from, bytes, size);
	if (got != 0 && got != (ssize_t)size)
		give_up(run, "says nonsense");
	return (size_t)got;
}

static void become(uid_t uid)
{
	if (uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		_exit(BROKEN);
}

/* In the child. */
_Noreturn static void start(enum run_kind kind, uid_t uid, const char *policy, const char *log)
{
	const char *actor =
		built(run_has_loader(kind) ? "programs/actor" : "programs/actor-static");
	const char *argv[12] = { built("bin/sbx-launch"), "-q", "--trust", "-p", policy };
	size_t count = 5;
	int errors = open(errors_of(kind), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

	become(uid);
	if (log) {
		argv[count++] = "--log";
		argv[count++] = log;
	}
	argv[count++] = "--";
	argv[count] = actor;
	dup2(errors, STDERR_FILENO);
	if (kind == RUN_BARE)
		execl(actor, actor, (char *)NULL);
	else
		execv(argv[0], (char *const *)(uintptr_t)argv);
	_exit(BROKEN);
}

bool run_start(struct run *run, enum run_kind kind, uid_t uid, const char *policy, const char *log)
{
	struct actor_hello hello;
	int to[2], from[2], status;

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		BAIL_OUT("no pipes");
	*run = (struct run){ .kind = kind, .pid = fork(), .to = to[1], .from = from[0] };
	if (run->pid == 0) {
		if (dup2(to[0], STDIN_FILENO) < 0 || dup2(from[1], STDOUT_FILENO) < 0)
			_exit(BROKEN);
		start(kind, uid, policy, log);
	}
	close(to[0]);
	close(from[1]);
	if (run->pid > 0 && hear(run, &hello, sizeof(hello))) {
		run->shim = hello.shim;
		return true;
	}
	close(run->to);
	close(run->from);
	if (run->pid < 0 || waitpid(run->pid, &status, 0) != run->pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) != STATUS_REFUSED)
		give_up(run, "did not start");
	return false;
}

struct actor_reply run_act(const struct run *run, const struct actor_case *what)
{
	struct actor_reply reply;

	if (write(run->to, what, sizeof(*what)) != sizeof(*what) ||
	    !hear(run, &reply, sizeof(reply)))
		give_up(run, "has ended too early");
	return reply;
}

void run_end(struct run *run)
{
	int status;

	close(run->to);
	if (waitpid(run->pid, &status, 0) != run->pid || status != 0)
		give_up(run, "did not end well");
	close(run->from);
}
