/* SPDX-License-Identifier: MIT */
/*
 * What lives in the program's own process is no boundary: the verdicts are the same when it is gone
 * around, and nothing that a program may do breaks with it or by it. And what may be executed.
 */
#include "attack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/wait.h>

enum {
	NR_close_range = 436,
};

void own_library(void)
{
	const char *image = getenv("SANDBOX_SBX_IMAGE");

	if (has_fact("shim")) {
		step("write", opens(fact("shim"), O_WRONLY));
		step("append", opens(fact("shim"), O_RDWR | O_APPEND));
	}
	step("command", opens(fact("command"), O_WRONLY));
	step("beside", opens(fact("beside"), O_WRONLY | O_CREAT));
	if (image)
		step("image", opens(image, O_WRONLY));
}

/* A second C library in the same process, that nobody has put anything in front of. */
void second_library(void)
{
#if defined(__GLIBC__) && !defined(ATTACK_STATIC)
	int (*other)(const char *path, int flags, ...);
	void *library, *function;
	int fd;

	if (!(library = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW)) ||
	    !(function = dlsym(library, "open")))
		cannot_judge("no second library");
	memcpy(&other, &function, sizeof(other));
	must("first-works", opens(at("work/a"), O_RDWR));
	/* errno is the other library's: what counts is what the first one says */
	fd = other(at("work/a"), O_RDWR);
	errno = EINVAL;
	must("works", fd);
	if ((fd = other(at("secret/key"), O_RDONLY)) >= 0)
		spill_fd(fd);
	errno = EACCES;
	step("second", fd);
	step("first", opens(at("secret/key"), O_RDONLY));
	must("close", dlclose(library));
	step("afterwards", spill(at("secret/key")));
#else
	cannot_judge("a static program, and musl, have one library only");
#endif
}

static long ended_well(int status)
{
	errno = EACCES;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* By their addresses: nothing else here may call them. */
static int (*const run_command)(const char *command) = system;
static FILE *(*const read_command)(const char *command, const char *mode) = popen;

static long by_system(const char *path)
{
	char command[512];

	snprintf(command, sizeof(command), "cat '%s' 2>/dev/null", path);
	return ended_well(run_command(command));
}

static long by_popen(const char *path)
{
	char command[512], line[256];
	FILE *from;

	snprintf(command, sizeof(command), "exec cat '%s' 2>/dev/null", path);
	if (!(from = read_command(command, "r")))
		return -1;
	while (fgets(line, sizeof(line), from))
		fputs(line, stdout);
	fflush(stdout);
	return ended_well(pclose(from));
}

static long waited_for(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid ? ended_well(status) : -1;
}

static long by_spawn(const char *path)
{
	char *argv[] = { (char *)"cat", (char *)path, NULL };
	posix_spawn_file_actions_t actions;
	int error;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	error = posix_spawn(&pid, "/bin/cat", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error ? (errno = error, -1) : waited_for(pid);
}

static long by_spawnp(const char *path)
{
	char *argv[] = { (char *)"cat", (char *)path, NULL };
	char *environment[] = { (char *)"PATH=/nowhere", NULL };
	int error;
	pid_t pid;

	error = posix_spawnp(&pid, "cat", NULL, NULL, argv, environment);
	return error ? (errno = error, -1) : waited_for(pid);
}

static long by_vfork(const char *path)
{
	pid_t pid = vfork(); /* NOLINT */

	if (pid == 0) {
		execlp("cat", "cat", path, NULL);
		_exit(127);
	}
	return pid < 0 ? -1 : waited_for(pid);
}

static long by_vfork_alone(const char *path)
{
	char *argv[] = { (char *)"cat", (char *)path, NULL }, *nothing[] = { NULL };
	pid_t pid = vfork(); /* NOLINT */

	if (pid == 0) {
		execve("/bin/cat", argv, nothing);
		_exit(127);
	}
	return pid < 0 ? -1 : waited_for(pid);
}

void spawning(void)
{
	static const struct {
		const char *name;
		long (*run)(const char *path);
	} ways[] = { { "system", by_system },	  { "popen", by_popen },
		     { "posix_spawn", by_spawn }, { "posix_spawnp", by_spawnp },
		     { "vfork", by_vfork },	  { "vfork-alone", by_vfork_alone } };

	setenv("PATH", "/usr/bin:/bin", 1);
	fflush(stdout);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		must(ways[i].name, ways[i].run(at("work/a")));
		step(ways[i].name, ways[i].run(at("secret/key")));
		fflush(stdout);
	}
}

static atomic_bool over;

/* Somewhere in a call, or in a lock of the library, whenever a fork happens. */
static void *keep_busy(void *number)
{
	char name[32];

	for (long i = 0; !over; i++) {
		FILE *file = fopen(at("work/a"), "r");

		if (file)
			fclose(file);
		snprintf(name, sizeof(name), "work/busy%ld", (long)number);
		if (do_mkdir(at("%s", name), 0700) == 0)
			do_rmdir(at("%s", name));
		opens(at("secret/key"), O_RDONLY);
		free(malloc(64 + (size_t)i % 4096));
		usleep(50);
	}
	return NULL;
}

enum {
	READ_MINE = 1,
	READ_SECRET = 2
};

static int fork_and_read(void)
{
	int status = 0, all = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (opens(at("work/a"), O_RDONLY) == 0)
			all |= READ_MINE;
		if (opens(at("secret/key"), O_RDONLY) == 0)
			all |= READ_SECRET;
		_exit(all);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 0;
	return WEXITSTATUS(status);
}

void forks_with_threads(void)
{
	long times = how_often(1000), mine = 0, secret = 0;
	pthread_t threads[4];

	fflush(stdout);
	run_threads(threads, 4, keep_busy);
	for (long i = 0; i < times; i++) {
		int all = fork_and_read();

		mine += !!(all & READ_MINE);
		secret += !!(all & READ_SECRET);
	}
	over = true;
	join_threads(threads, 4);
	printf("%ld of %ld read theirs, %ld the secret\n", mine, times, secret);
	errno = EINVAL;
	must("mine", mine == times ? 0 : -1);
	if (secret)
		spill(at("secret/key"));
	errno = EACCES;
	step("secret", secret ? 0 : -1);
}

static long read_without_descriptors(void)
{
	int out = fcntl(1, F_DUPFD, 500);
	int fd, error;

	if (do_call(NR_close_range, 0, 499, 0, 0, 0) < 0 ||
	    do_call(NR_close_range, 501, 0xffffffffL, 0, 0, 0) < 0)
		return -1;
	fd = do_open(at("work/a"), O_RDONLY, 0);
	if (fd != 0) {
		errno = EINVAL;
		dup2(out, 1);
		must("lowest", -1);
	}
	close(fd);
	fd = do_open(at("secret/key"), O_RDONLY, 0);
	error = errno;
	dup2(out, 1);
	if (fd >= 0)
		spill_fd(fd);
	errno = error;
	return fd;
}

void all_closed(void)
{
	fflush(stdout);
	step("secret", read_without_descriptors());
}

/* Natively the program says the secret; the status tells whether it ran. */
static long run_program(void (*execute)(void))
{
	int status = 0, error = 0, ends[2];
	pid_t pid;

	fflush(stdout);
	if (pipe2(ends, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		cannot_judge("no child");
	if (pid == 0) {
		execute();
		error = errno;
		_exit(write(ends[1], &error, sizeof(error)) < 0);
	}
	close(ends[1]);
	if (read(ends[0], &error, sizeof(error)) < 0 || waitpid(pid, &status, 0) != pid)
		cannot_judge("no child");
	close(ends[0]);
	errno = error;
	return error ? -1 : 0;
}

static void execute(const char *path)
{
	char *argv[] = { (char *)"attack", (char *)"V118", (char *)at("."), (char *)"ran=yes",
			 NULL };

	do_call(SYS_execve, (long)path, (long)argv, (long)environ, 0, 0);
}

static void execute_denied(void)
{
	become(at("bin/denied"), "V118", "ran=yes");
}

static void execute_denied_by_call(void)
{
	execute(at("bin/denied"));
}

static void execute_link(void)
{
	become(at("work/link"), "V118", "ran=yes");
}

static void execute_relative(void)
{
	if (chdir(at("work")) == 0)
		become("../bin/denied", "V118", "ran=yes");
}

static void execute_in_folder(void)
{
	if (chdir(at("bin")) == 0)
		become("./denied", "V118", "ran=yes");
}

static void execute_by_path(void)
{
	setenv("PATH", at("bin"), 1);
	execlp("denied", "attack", "V118", at("."), "ran=yes", NULL);
}

/* A script that may be executed, for a program that may not. */
static void execute_script(void)
{
	execl(at("scripts/script"), "script", NULL);
}

static void execute_descriptor(void)
{
	char *argv[] = { (char *)"attack", (char *)"V118", (char *)at("."), (char *)"ran=yes",
			 NULL };
	int fd = open(at("bin/denied"), O_PATH | O_CLOEXEC);

	if (fd >= 0)
		do_call(SYS_execveat, fd, (long)"", (long)argv, (long)environ, AT_EMPTY_PATH);
}

static void execute_proc_fd(void)
{
	char name[64];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", open(at("bin/denied"), O_PATH));
	become(name, "V118", "ran=yes");
}

static void execute_spawned(void)
{
	char *argv[] = { (char *)"attack", (char *)"V118", (char *)at("."), (char *)"ran=yes",
			 NULL };
	int status = 0;
	pid_t pid;

	if ((errno = posix_spawn(&pid, at("bin/denied"), NULL, NULL, argv, environ)) == 0 &&
	    waitpid(pid, &status, 0) == pid)
		_exit(0);
}

/* Its own copy, where it may write. */
static void execute_copy(void)
{
	become(at("work/copy"), "V118", "ran=yes");
}

void exec_rule(void)
{
	if (has_fact("ran")) {
		spill(at("ro/marker"));
		step("ran", 0);
		return;
	}
	if (do_symlink(at("bin/denied"), at("work/link")) < 0)
		cannot_judge("no link in work");
	step("path", run_program(execute_denied));
	step("call", run_program(execute_denied_by_call));
	step("link", run_program(execute_link));
	step("relative", run_program(execute_relative));
	step("folder", run_program(execute_in_folder));
	step("search", run_program(execute_by_path));
	step("script", run_program(execute_script));
	step("descriptor", run_program(execute_descriptor));
	step("proc-fd", run_program(execute_proc_fd));
	step("spawn", run_program(execute_spawned));
	step("copy", run_program(execute_copy));
}
