/* SPDX-License-Identifier: MIT */
/*
 * Worlds, runs and verdicts. Nothing here knows a single attack.
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <grp.h>
#include <linux/fs.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <tap.h>
#include <time.h>
#include <unistd.h>

#define NOBODY 65534
#define PATIENCE 60 /* seconds for one run */

static const struct attack_row rows[] = {
#define CASE(id, topic, title, function, expect, effects, flags) \
	{ #id, topic, title, expect, effects, flags },
#include "cases.def"
#undef CASE
};

const struct attack_way attack_ways[] = { { .name = "dynamic", .program = "attack" },
					  { .name = "static", .program = "attack-static" },
					  { .name = NULL } };

static char preload[128], audit[128];
static const struct attack_way every_way[] = {
	{ .name = "dynamic", .program = "attack" },
	{ .name = "static (V107)", .program = "attack-static" },
	{ .name = "env -i (V108)", .program = "attack", .before = { "/usr/bin/env", "-i" } },
	{ .name = "own instruction (V109)", .program = "attack", .option = "-o", .quiet = true },
	{ .name = "musl (V110)", .program = "attack-musl" },
	{ .name = "hostile preload (V111)",
	  .program = "attack",
	  .before = { "/usr/bin/env", preload },
	  .loads = "evil: loaded" },
	{ .name = "hostile audit (V111)",
	  .program = "attack",
	  .before = { "/usr/bin/env", audit },
	  .loads = "evil: loaded" },
};

static char folder[32]; /* of this test: programs, build, tmp, worlds */
static char launcher[256];
static pid_t owner; /* of the folder */
static bool surrounded; /* what may not be touched lies in the midst of what may */
static const char *outer; /* a program that starts the launcher, or NULL */

const char *attack_folder(void)
{
	return folder;
}

const char *attack_launcher(void)
{
	return launcher;
}

bool attack_root(void)
{
	return getuid() == 0;
}

void attack_in_holes(bool on)
{
	surrounded = on;
}

void attack_beneath(const char *program)
{
	outer = program;
}

const struct attack_row *attack_row(const char *id)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(rows[i].id, id))
			return &rows[i];
	BAIL_OUT("no row %s", id);
}

static int run_quietly(const char *const argv[])
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return status;
}

static int forget(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)place;
	return kind == FTW_DP ? rmdir(path) : unlink(path), 0;
}

/* Some folders are deeper than a path is long. */
static void erase(const char *path)
{
	const char *const argv[] = { "rm", "-rf", "--", path, NULL };

	nftw(path, forget, 32, FTW_DEPTH | FTW_PHYS);
	if (access(path, F_OK) == 0 && run_quietly(argv) != 0)
		diag("%s is left behind", path);
}

__attribute__((format(printf, 2, 3))) static void copy(const char *from, const char *format, ...)
{
	char to[256];
	va_list args;
	const char *argv[] = { "cp", "-a", "--no-preserve=ownership", from, to, NULL };

	va_start(args, format);
	vsnprintf(to, sizeof(to), format, args);
	va_end(args);
	if (run_quietly(argv) != 0)
		BAIL_OUT("cannot copy %s", from);
}

/* Also when a test bails out. Where launchers keep the files of runs stays when it is not empty. */
static void clean_up(void)
{
	const uid_t users[] = { getuid(), NOBODY };
	char path[64];

	if (getpid() != owner)
		return;
	erase(folder);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), i < 2 ? "/dev/shm/sbx-%u" : "/tmp/sbx-%u",
			 users[i % 2]);
		rmdir(path);
	}
	if (access(folder, F_OK) == 0) {
		(void)fflush(NULL);
		_exit(EXIT_FAILURE);
	}
}

/* The build lies where its owner wants; an ordinary user must be able to get there. */
void attack_begin(void)
{
	static const char *const parts[] = { "bin", "share", "tests/attack/programs" };
	const char *build = getenv("SBX_BUILD"), *other = getenv("SBX_LAUNCH");
	char from[4096], path[128];

	if (!build)
		build = "build/release";
	umask(022);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1); /* what attacks leave behind must not stay */
	snprintf(folder, sizeof(folder), "/tmp/sbx-attack-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0755) < 0)
		BAIL_OUT("no folder");
	owner = getpid();
	if (atexit(clean_up))
		BAIL_OUT("no way to clean up");
	snprintf(path, sizeof(path), "%s/build", folder);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/build/lib", folder);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/worlds", folder);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/tmp", folder);
	if (mkdir(path, 0755) < 0 || chmod(path, 01777) < 0)
		BAIL_OUT("no folder");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(from, sizeof(from), "%s/%s", build, parts[i]);
		copy(from, "%s/build/", folder);
	}
	snprintf(from, sizeof(from), "%s/lib/libsbx-shim.so", build);
	if (access(from, F_OK) == 0)
		copy(from, "%s/build/lib/", folder);
	snprintf(path, sizeof(path), "%s/build", folder);
	if (run_quietly((const char *const[]){ "chmod", "-R", "go+rX", path, NULL }) != 0)
		BAIL_OUT("cannot open %s to others", path);
	snprintf(launcher, sizeof(launcher), "%s/build/bin/sbx-launch", folder);
	if (other)
		snprintf(launcher, sizeof(launcher), "%s", other);
	snprintf(preload, sizeof(preload), "LD_PRELOAD=%s/build/programs/evil.so", folder);
	snprintf(audit, sizeof(audit), "LD_AUDIT=%s/build/programs/evil.so", folder);
	if (access(launcher, X_OK) < 0)
		plan(SKIP_ALL, "there is no sbx-launch");
	plan(NO_PLAN);
}

int attack_end(void)
{
	return exit_status();
}

void attack_as_each(void (*test)(bool user))
{
	if (attack_root())
		test(false);
	test(true);
}

const char *scene_at(const struct scene *scene, const char *name)
{
	static char paths[8][256];
	static unsigned turn;
	char *path = paths[turn++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", scene->world, name);
	return path;
}

void scene_put(const struct scene *scene, const char *name, const void *bytes, size_t size)
{
	int fd = open(scene_at(scene, name), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		BAIL_OUT("cannot make %s: %s", scene_at(scene, name), strerror(errno));
	close(fd);
}

static void put_text(const struct scene *scene, const char *name, const char *text)
{
	scene_put(scene, name, text, strlen(text));
}

void scene_own_files(const struct scene *scene, bool on)
{
	if (!attack_root() || !scene->user)
		return;
	setfsgid(on ? NOBODY : 0);
	setfsuid(on ? NOBODY : 0);
}

static void fill_world(struct scene *scene)
{
	static const char *const folders[] = { "work",	     "work/folder",
					       "ro",	     "secret",
					       "secret/dir", "secret/empty",
					       "home",	     "home/.config",
					       "home/.ssh",  "home/.config/autostart",
					       "linked",     "bin" };
	char text[128];

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(scene_at(scene, folders[i]), 0755) < 0)
			BAIL_OUT("cannot make %s: %s", scene_at(scene, folders[i]),
				 strerror(errno));
	put_text(scene, "work/a", "mine\n");
	put_text(scene, "work/b", "mine\n");
	put_text(scene, "work/c", "mine\n");
	put_text(scene, "ro/file", "only to be read\n");
	put_text(scene, "ro/file2", "only to be read\n");
	snprintf(text, sizeof(text), "the secret is %s\n", scene->marker);
	put_text(scene, "secret/key", text);
	put_text(scene, "secret/dir/deep", text);
	snprintf(text, sizeof(text), "secret/name-%s", scene->marker);
	put_text(scene, text, "");
	put_text(scene, "home/.bashrc", "# nothing\n");
	put_text(scene, "linked/key", "no secret\n");
	if (symlink("../linked", scene_at(scene, "ro/link")) < 0)
		BAIL_OUT("no link");
}

void scene_open(struct scene *scene, const char *id, const struct attack_way *way, bool user)
{
	static unsigned count;
	uint64_t random[2];

	memset(scene, 0, offsetof(struct scene, out) + 1);
	scene->row = attack_row(id);
	scene->way = way;
	scene->user = user;
	scene->start_in = "work";
	scene->policy_in = ".";
	scene->terminal = scene->descriptor = -1;
	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		BAIL_OUT("no random numbers");
	snprintf(scene->marker, sizeof(scene->marker), "%016llx%016llx",
		 (unsigned long long)random[0], (unsigned long long)random[1]);
	snprintf(scene->world, sizeof(scene->world), "%s/worlds/%u", folder, count++);
	if (mkdir(scene->world, 0755) < 0 ||
	    (user && attack_root() && chown(scene->world, NOBODY, NOBODY)))
		BAIL_OUT("no world");
	snprintf(scene->program, sizeof(scene->program), "%s/build/programs/%s", folder,
		 way->program);
	scene_own_files(scene, true);
	fill_world(scene);
	scene_own_files(scene, false);
	scene_variable(scene, "SOMETHING_PRIVATE=%s", scene->marker);
}

void scene_copy(const struct scene *scene, const char *from, const char *to, int mode)
{
	static char bytes[1 << 16];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t got;

	scene_own_files(scene, true);
	out = open(scene_at(scene, to), O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	scene_own_files(scene, false);
	if (in < 0 || out < 0)
		BAIL_OUT("cannot copy %s", from);
	while ((got = read(in, bytes, sizeof(bytes))) > 0)
		if (write(out, bytes, (size_t)got) != got)
			BAIL_OUT("cannot copy %s", from);
	if (got < 0 || fchmod(out, (mode_t)mode) < 0)
		BAIL_OUT("cannot copy %s", from);
	close(in);
	close(out);
}

void scene_close(struct scene *scene)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	erase(scene->world);
}

#define ADD(array, count, format)                                              \
	do {                                                                   \
		va_list args;                                                  \
		if (count >= sizeof(array) / sizeof((array)[0]))               \
			BAIL_OUT("too many " #array);                          \
		va_start(args, format);                                        \
		vsnprintf((array)[count++], sizeof((array)[0]), format, args); \
		va_end(args);                                                  \
	} while (0)

void scene_fact(struct scene *scene, const char *format, ...)
{
	ADD(scene->facts, scene->fact_count, format);
}

void scene_races(struct scene *scene, int full, int some)
{
	const char *long_run = getenv("SBX_ATTACK_TIMES");
	bool all = !strcmp(scene->way->name, "dynamic") ||
		   !strcmp(scene->way->program, "attack-static");

	if (scene->sandboxed && all && long_run)
		scene_fact(scene, "times=%s", long_run);
	else
		scene_fact(scene, "times=%d", scene->sandboxed && all ? full : some);
}

void scene_variable(struct scene *scene, const char *format, ...)
{
	ADD(scene->variables, scene->variable_count, format);
}

void scene_policy(struct scene *scene, const char *format, ...)
{
	size_t used = strlen(scene->policy);
	va_list args;

	va_start(args, format);
	vsnprintf(scene->policy + used, sizeof(scene->policy) - used, format, args);
	va_end(args);
}

static const char *policy_file(const struct scene *scene)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/policy.ini", scene->policy_in);
	return scene_at(scene, name);
}

static void write_policy(struct scene *scene)
{
	char text[2048], name[64];

	if (surrounded)
		snprintf(
			text, sizeof(text),
			"[paths]\nwrite = %1$s\ndeny = %1$s/secret, %1$s/home, %1$s/wark, %1$s/so, "
			"%1$s/work-evil\nexec = %2$s/build/programs\n%3$s\n"
			"[path ro]\nroot = %1$s/ro\nmode = ro\n",
			scene->world, folder, scene->policy);
	else
		snprintf(text, sizeof(text),
			 "[paths]\nread = %s/ro\nwrite = %s/work\nexec = %s/build/programs\n%s",
			 scene->world, scene->world, folder, scene->policy);
	snprintf(name, sizeof(name), "%s/policy.ini", scene->policy_in);
	scene_own_files(scene, true);
	put_text(scene, name, text);
	scene_own_files(scene, false);
}

void scene_command(struct scene *scene, bool sandboxed, const char *argv[64])
{
	static char stand_in[128], beneath[128];
	size_t count = 0;

	snprintf(stand_in, sizeof(stand_in), "%s/build/programs/attack", folder);
	if (!sandboxed || scene->wrapped) {
		argv[count++] = stand_in;
		argv[count++] = "launch";
	}
	if (sandboxed && outer) {
		snprintf(beneath, sizeof(beneath), "%s/build/programs/%s", folder, outer);
		argv[count++] = beneath;
	}
	if (sandboxed) {
		argv[count++] = launcher;
		argv[count++] = "-p";
		argv[count++] = policy_file(scene);
		argv[count++] = scene->loud ? "-q" : "-qq";
		argv[count++] = "--";
	}
	for (size_t i = 0; i < 4 && scene->way->before[i]; i++)
		argv[count++] = scene->way->before[i];
	argv[count++] = scene->program;
	if (scene->way->option)
		argv[count++] = scene->way->option;
	argv[count++] = scene->row->id;
	argv[count++] = scene->world;
	for (size_t i = 0; i < scene->fact_count; i++)
		argv[count++] = scene->facts[i];
	argv[count] = NULL;
}

void scene_become(const struct scene *scene)
{
	if (attack_root() && scene->user &&
	    (setgroups(0, NULL) < 0 || setresgid(NOBODY, NOBODY, NOBODY) < 0 ||
	     setresuid(NOBODY, NOBODY, NOBODY) < 0))
		_exit(125);
}

void scene_execute(struct scene *scene, const char *const argv[])
{
	char home[128], tmp[128];
	const char *environment[32] = { "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", home,
					tmp };
	struct rlimit core;

	snprintf(home, sizeof(home), "HOME=%s/home", scene->world);
	snprintf(tmp, sizeof(tmp), "TMPDIR=%s/tmp", folder);
	for (size_t i = 0; i < scene->variable_count; i++)
		environment[4 + i] = scene->variables[i];
	if (chdir(scene_at(scene, scene->start_in)) < 0)
		_exit(125);
	if (getrlimit(RLIMIT_CORE, &core) == 0) {
		core.rlim_cur = core.rlim_max;
		setrlimit(RLIMIT_CORE, &core);
	}
	if (scene->descriptor >= 0 &&
	    (dup2(scene->descriptor, 100) < 0 || dup2(100, 3) < 0 || dup2(100, 1023) < 0))
		_exit(125);
	scene_become(scene);
	execve(argv[0], (char *const *)argv, (char *const *)environment);
	_exit(127);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void drain(struct scene *scene, int fd)
{
	ssize_t got;

	while (scene->length < sizeof(scene->out) - 1 &&
	       (got = read(fd, scene->out + scene->length,
			   sizeof(scene->out) - 1 - scene->length)) > 0)
		scene->length += (size_t)got;
	scene->out[scene->length] = 0;
	if (scene->length == sizeof(scene->out) - 1)
		BAIL_OUT("%s says too much", scene->row->id);
}

static int exit_code(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void child(struct scene *scene, const char *const argv[], int in, int out)
{
	setsid();
	if (scene->terminal >= 0) {
		in = scene->terminal;
		ioctl(in, TIOCSCTTY, 0);
	}
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0)
		_exit(125);
	scene_execute(scene, argv);
}

static size_t requests(const struct scene *scene)
{
	size_t count = 0;

	for (const char *line = scene->out; (line = strstr(line, "ready\n")); line++)
		count++;
	return count;
}

void scene_capture(struct scene *scene, const char *const argv[], void (*meanwhile)(struct scene *))
{
	int in[2], out[2], status = 0;
	double deadline = now() + (getenv("SBX_ATTACK_TIMES") ? 20 * PATIENCE : PATIENCE);
	size_t served = 0; /* requests of the program for the harness to do its part */
	pid_t pid;

	scene->length = 0;
	scene->out[0] = 0;
	scene->status = -1;
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0 ||
	    fcntl(out[0], F_SETFL, O_NONBLOCK) < 0 || (pid = fork()) < 0)
		BAIL_OUT("no child");
	if (pid == 0)
		child(scene, argv, in[0], out[1]);
	scene->child = pid;
	close(in[0]);
	close(out[1]);
	while (now() < deadline) {
		struct pollfd waits = { .fd = out[0], .events = POLLIN };

		poll(&waits, 1, meanwhile ? 2 : 20);
		drain(scene, out[0]);
		if (meanwhile && !(scene->row->flags & WAITS)) {
			meanwhile(scene);
		} else if (meanwhile && requests(scene) > served) {
			served++;
			meanwhile(scene);
			if (write(in[1], "g", 1) != 1)
				diag("nobody waits");
		}
		if (waitpid(pid, &status, WNOHANG) == pid) {
			scene->status = exit_code(status);
			break;
		}
		if (waits.revents & POLLHUP) /* said all it had to say: ends soon */
			usleep(200);
	}
	if (scene->status < 0) {
		kill(-pid, SIGKILL);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	drain(scene, out[0]);
	close(in[1]);
	close(out[0]);
}

static void start(struct scene *scene, bool sandboxed, void (*meanwhile)(struct scene *))
{
	const char *argv[64];

	scene->sandboxed = sandboxed;
	scene_command(scene, sandboxed, argv);
	scene_capture(scene, argv, meanwhile);
}

void scene_run(struct scene *scene, bool sandboxed, void (*meanwhile)(struct scene *))
{
	write_policy(scene);
	start(scene, sandboxed, meanwhile);
}

bool scene_says(const struct scene *scene, const char *text)
{
	return strstr(scene->out, text);
}

void scene_show(const struct scene *scene)
{
	char line[512];

	diag("exit status %d, in %s", scene->status, scene->world);
	for (const char *at = scene->out; *at;) {
		size_t length = strcspn(at, "\n");

		snprintf(line, sizeof(line), "%.*s", (int)(length < 500 ? length : 500), at);
		diag("| %s", line);
		at += length + (at[length] == '\n');
	}
}

/* A process with a secret in its memory and in a file that it has open. */
static char victim_memory[64];

void scene_victim(struct scene *scene)
{
	int ready[2], fd;
	char byte;

	snprintf(victim_memory, sizeof(victim_memory), "%s", scene->marker);
	if ((fd = open(scene_at(scene, "secret/key"), O_RDONLY)) < 0 || pipe(ready) < 0 ||
	    (scene->victim = fork()) < 0)
		BAIL_OUT("no victim");
	if (scene->victim == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setsid();
		scene_become(scene);
		prctl(PR_SET_DUMPABLE, 1);
		close(ready[0]);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		close(ready[1]);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		BAIL_OUT("the victim died too early");
	close(ready[0]);
	close(fd);
	scene_fact(scene, "victim=%d", scene->victim);
	scene_fact(scene, "victim-fd=%d", fd);
	scene_fact(scene, "address=%p", (void *)victim_memory);
}

void scene_no_victim(struct scene *scene)
{
	if (scene->victim <= 0)
		return;
	kill(scene->victim, SIGKILL);
	waitpid(scene->victim, NULL, 0);
	scene->victim = 0;
}

static bool is_attacker(const struct scene *scene, const char *pid)
{
	char path[300], line[512];
	size_t program = strlen(scene->program) + 1, id = strlen(scene->row->id) + 1;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/cmdline", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return false;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (got < 0)
		return false;
	line[got] = 0;
	return (size_t)got > program + id && !strcmp(line, scene->program) &&
	       !strcmp(line + program, scene->row->id) &&
	       !strcmp(line + program + id, scene->world);
}

static size_t entries_of(const char *pid, const char *name)
{
	char path[300];
	size_t count = 0;
	DIR *folder_of;

	snprintf(path, sizeof(path), "/proc/%s/%s", pid, name);
	if (!(folder_of = opendir(path)))
		return 0;
	for (struct dirent *entry; (entry = readdir(folder_of));)
		count += entry->d_name[0] != '.';
	closedir(folder_of);
	return count;
}

struct scene_holds scene_holds(pid_t pid)
{
	struct scene_holds holds = { 0 };
	char name[32];

	snprintf(name, sizeof(name), "%d", pid);
	holds.threads = entries_of(name, "task");
	holds.descriptors = entries_of(name, "fd");
	return holds;
}

static pid_t parent_of(const char *pid)
{
	char path[300], line[512];
	const char *end;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		return 0;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[got < 0 ? 0 : got] = 0;
	end = strrchr(line, ')');
	return end && strlen(end) > 4 ? (pid_t)strtol(end + 4, NULL, 10) : 0;
}

pid_t scene_supervisor(const struct scene *scene)
{
	DIR *proc = opendir("/proc");
	pid_t found = 0;

	if (!proc)
		return 0;
	for (struct dirent *entry; !found && (entry = readdir(proc));) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 1 && parent_of(entry->d_name) == scene->child)
			found = pid;
	}
	closedir(proc);
	return found;
}

static size_t scene_end(const struct scene *scene, int signal)
{
	DIR *proc = opendir("/proc");
	size_t count = 0;

	if (!proc)
		return 0;
	for (struct dirent *entry; (entry = readdir(proc));) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 1 && is_attacker(scene, entry->d_name)) {
			count += entries_of(entry->d_name, "task");
			kill(pid, signal);
		}
	}
	closedir(proc);
	return count;
}

size_t scene_processes(const struct scene *scene)
{
	return scene_end(scene, 0);
}

void scene_end_all(const struct scene *scene)
{
	scene_end(scene, SIGKILL);
}

/* All that can be said of the world outside of work/, as sorted lines. */
static struct {
	char *lines[256];
	size_t count;
	const char *root;
	const char *const *watched;
} look;

/* In work/ only what has one of these names in its path is looked at. */
static bool is_watched(const char *name)
{
	for (const char *const *watched = look.watched; watched && *watched; watched++) {
		const char *found = strstr(name, *watched);
		size_t len = strlen(*watched);

		if (found && found[-1] == '/' && (!found[len] || found[len] == '/'))
			return true;
	}
	return false;
}

static uint64_t content_of(const char *path, uint64_t hash)
{
	unsigned char bytes[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	int flags = 0;
	ssize_t got;

	if (fd < 0)
		return hash;
	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < got; i++)
			hash = (hash ^ bytes[i]) * 0x100000001b3;
	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0)
		hash ^= (uint64_t)flags << 32;
	close(fd);
	return hash;
}

static int look_at(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	char line[1024], names[512];
	uint64_t hash = 0xcbf29ce484222325;
	ssize_t got = llistxattr(path, names, sizeof(names));
	const char *name = path + strlen(look.root);

	(void)place;
	if (!strncmp(name, "/work", 5) && (!name[5] || name[5] == '/') && !is_watched(name))
		return 0;
	for (ssize_t i = 0; i < got; i++)
		hash = (hash ^ (unsigned char)names[i]) * 0x100000001b3;
	if (kind == FTW_F && S_ISREG(status->st_mode))
		hash = content_of(path, hash);
	snprintf(line, sizeof(line),
		 "%s %o %u:%u links %lu size %ld ino %lu time %ld.%09ld %ld.%09ld %llx", name,
		 status->st_mode, status->st_uid, status->st_gid, (unsigned long)status->st_nlink,
		 (long)status->st_size, (unsigned long)status->st_ino, (long)status->st_mtim.tv_sec,
		 status->st_mtim.tv_nsec, (long)status->st_ctim.tv_sec, status->st_ctim.tv_nsec,
		 (unsigned long long)hash);
	if (look.count < 256)
		look.lines[look.count++] = strdup(line);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* To be freed. */
static char *outside(const struct scene *scene)
{
	size_t size = 1, used = 0;
	char *text;

	look.count = 0;
	look.root = scene->world;
	look.watched = scene->watched;
	nftw(scene->world, look_at, 32, FTW_PHYS);
	qsort(look.lines, look.count, sizeof(look.lines[0]), by_text);
	for (size_t i = 0; i < look.count; i++)
		size += strlen(look.lines[i]) + 1;
	if (!(text = malloc(size)))
		BAIL_OUT("no memory");
	for (size_t i = 0; i < look.count; i++) {
		used += (size_t)snprintf(text + used, size - used, "%s\n", look.lines[i]);
		free(look.lines[i]);
	}
	text[used] = 0;
	return text;
}

/* The first line that differs. */
static void show_difference(const char *before, const char *after)
{
	while (*before && *after) {
		size_t a = strcspn(before, "\n"), b = strcspn(after, "\n");

		if (a != b || memcmp(before, after, a)) {
			diag("before: %.*s", (int)a, before);
			diag("after:  %.*s", (int)b, after);
			return;
		}
		before += a + 1;
		after += b + 1;
	}
	diag("before: %s", before);
	diag("after:  %s", after);
}

/* Whether RESULT is how step NAME has to be refused. */
static bool expected(const char *expect, const char *name, const char *result)
{
	size_t size = strlen(name);
	bool own = false, good = false, general = false;

	for (const char *word = expect; *word; word += strspn(word, " ")) {
		size_t length = strcspn(word, " ");
		const char *value = memchr(word, '=', length);

		if (!value) {
			general |= length == strlen(result) && !strncmp(word, result, length);
		} else if ((size_t)(value - word) == size && !strncmp(word, name, size)) {
			own = true;
			good |= length - size - 1 == strlen(result) &&
				!strncmp(value + 1, result, strlen(result));
		}
		word += length;
	}
	return own ? good : general;
}

/* Every step was refused as it should be; and there was at least one. */
static bool refused_well(const struct scene *scene)
{
	const char *line = scene->out;
	char name[64], result[64];
	size_t count = 0;

	while ((line = strstr(line, "step "))) {
		size_t a, b;

		line += 5;
		a = strcspn(line, " \n");
		b = strcspn(line + a + 1, " \n");
		if (a >= sizeof(name) || b >= sizeof(result))
			return false;
		snprintf(name, sizeof(name), "%.*s", (int)a, line);
		snprintf(result, sizeof(result), "%.*s", (int)b, line + a + 1);
		count++;
		if (!expected(scene->row->expect, name, result)) {
			diag("step %s: %s, which is not %s", name, result, scene->row->expect);
			return false;
		}
	}
	return count > 0;
}

static const struct attack_hook *hook_of(const struct attack_hook *hooks, const char *id)
{
	static const struct attack_hook none = { .id = "" };

	for (; hooks && hooks->id; hooks++)
		if (!strcmp(hooks->id, id))
			return hooks;
	return &none;
}

static bool leaks(const struct scene *scene)
{
	return memmem(scene->out, scene->length, scene->marker, strlen(scene->marker));
}

static bool judge_natively(const struct scene *scene, bool changed, bool seen)
{
	unsigned effects = scene->row->effects;

	if (scene->status == 1 && (scene->row->flags & KERNEL))
		return true;
	if (scene->status != 0)
		return false;
	if ((effects & LEAK) && !leaks(scene))
		return diag("nothing leaked"), false;
	if ((effects & CHANGE) && !changed)
		return diag("nothing changed"), false;
	if ((effects & SEEN) && !seen)
		return diag("nothing is seen"), false;
	return true;
}

static bool judge_in_sandbox(const struct scene *scene, bool changed, bool seen)
{
	if (leaks(scene))
		return diag("a secret leaked"), false;
	if (changed)
		return diag("the world outside changed"), false;
	if (seen)
		return diag("the effect is seen"), false;
	if (scene->row->flags & (WORKS | SILENT))
		return scene->status == 0;
	if ((scene->row->flags & REFUSES) && scene->status == 125)
		return true;
	return scene->status == 1 && refused_well(scene);
}

/* A hole is refused by the rule that makes it one. */
static const char *words_of(const struct attack_hook *hook)
{
	static char text[256];
	const char *end = strstr(hook->explained, "': path is outside");

	if (!surrounded || !end)
		return hook->explained;
	snprintf(text, sizeof(text), "%.*s': denied by a rule.", (int)(end - hook->explained),
		 hook->explained);
	return text;
}

/* One run in a world of its own. True when it went as it should. */
static bool act(struct scene *scene, bool sandboxed, const struct attack_hook *hook)
{
	bool changed, seen, good;
	char *before, *after;

	scene->loud = hook->explained;
	scene->sandboxed = sandboxed;
	if (hook->arrange)
		hook->arrange(scene);
	write_policy(scene);
	before = outside(scene);
	start(scene, sandboxed, hook->meanwhile);
	/* what the harness itself replaced is none of the attack */
	after = scene->row->flags & WAITS ? strdup(before) : outside(scene);
	changed = strcmp(before, after) != 0;
	seen = hook->seen && hook->seen(scene);
	good = sandboxed ? judge_in_sandbox(scene, changed, seen)
			 : judge_natively(scene, changed, seen);
	if (scene->way->loads && !scene_says(scene, scene->way->loads))
		good = false;
	if (sandboxed && hook->explained && !scene->way->quiet &&
	    !scene_says(scene, words_of(hook))) {
		diag("nobody said: %s", words_of(hook));
		good = false;
	}
	if (!good && scene->status != 2)
		scene_show(scene);
	if (!good && changed && sandboxed)
		show_difference(before, after);
	if (hook->clear)
		hook->clear(scene);
	free(before);
	free(after);
	return good;
}

static const char *why(const struct scene *scene)
{
	const char *line = strstr(scene->out, "why: ");
	static char text[128];

	snprintf(text, sizeof(text), "%.*s", line ? (int)strcspn(line + 5, "\n") : 0,
		 line ? line + 5 : "");
	return text;
}

static void attack_once(const struct attack_row *row, const struct attack_way *way, bool user,
			const struct attack_hook *hook)
{
	static struct scene native, scene;
	char who[128];
	bool good;

	if (((row->flags & USER) && !user) || ((row->flags & EXECUTES) && surrounded))
		return;
	snprintf(who, sizeof(who), "%s%s%s", user ? "an ordinary user" : "root",
		 surrounded ? ", in a hole" : "", outer ? ", without namespaces" : "");
	if ((row->flags & PREPARE) && !attack_root()) {
		tap_skip(2, "%s: only root can prepare it", row->id);
		return;
	}
	scene_open(&native, row->id, way, user);
	good = act(&native, false, hook);
	scene_close(&native);
	if (native.status == 2) {
		tap_skip(2, "%s %s, %s, as %s: %s", row->id, row->title, way->name, who,
			 why(&native));
		return;
	}
	ok(good, "%s %s, %s, as %s: %s natively", row->id, row->title, way->name, who,
	   native.status == 1 ? "this kernel refuses it" : "works");
	scene_open(&scene, row->id, way, user);
	good = act(&scene, true, hook);
	ok(good, "%s %s, %s, as %s: %s in the sandbox", row->id, row->title, way->name, who,
	   row->flags & WORKS	 ? "works"
	   : row->flags & SILENT ? "has no effect"
				 : "refused");
	scene_close(&scene);
}

void attack_all(enum attack_topic topic, const struct attack_way *way, bool user,
		const struct attack_hook *hooks)
{
	const char *only = getenv("SBX_ATTACK"); /* one id, for whoever looks for a fault */

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].topic == topic && !(rows[i].flags & APART) &&
		    (!only || !strcmp(only, rows[i].id)))
			attack_once(&rows[i], way, user, hook_of(hooks, rows[i].id));
}

void attack_twice(enum attack_topic topic, bool user, const struct attack_hook *hooks)
{
	attack_in_every_way(topic, user, hooks);
	attack_beneath("without-namespaces");
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(topic, way, user, hooks);
	attack_beneath(NULL);
}

void attack_holes(enum attack_topic topic, bool user, const struct attack_hook *hooks)
{
	attack_in_holes(true);
	/* Behind a mount there is nothing to aim at: what HOLES tries is tried there, too. */
	attack_beneath("without-namespaces");
	for (const struct attack_way *way = attack_ways; way->name; way++)
		attack_all(topic, way, user, hooks);
	attack_beneath(NULL);
	attack_in_holes(false);
}

void attack_in_every_way(enum attack_topic topic, bool user, const struct attack_hook *hooks)
{
	char path[128];

	for (size_t i = 0; i < sizeof(every_way) / sizeof(every_way[0]); i++) {
		snprintf(path, sizeof(path), "%s/build/programs/%s", folder, every_way[i].program);
		if (access(path, X_OK) == 0)
			attack_all(topic, &every_way[i], user, hooks);
		else
			tap_skip(1, "there is no %s", every_way[i].program);
	}
}
