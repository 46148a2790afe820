/* SPDX-License-Identifier: MIT */
/*
 * Programs that are started with the shim: it stays in their environment by every way to start one
 * and whatever the environment was; static-PIE programs get another layout, and others not. And PATH
 * is searched as libc does it: each case of that runs with and without the shim.
 */
#include "shimmed.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static char *const args[] = { (char *)"report", (char *)"one", (char *)"two", NULL };
static const char *target;

static int by_spawn(int (*spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
				 const posix_spawnattr_t *, char *const *, char *const *),
		    const char *path, char *const *envp)
{
	int status, error;
	pid_t pid;

	error = spawn(&pid, path, NULL, NULL, args, envp);
	if (error)
		return error;
	(void)waitpid(pid, &status, 0);
	_exit(WEXITSTATUS(status));
}

/* Nothing else in the tree may use these, so they have no parentheses behind them. */
static int (*const run)(const char *) = system;
static FILE *(*const run_open)(const char *, const char *) = popen;

/* A shell, which passes its own environment on. */
static void by_system(void)
{
	char command[4300];

	(void)snprintf(command, sizeof(command), "exec %s one two", target);
	_exit(run(command) ? 1 : 0);
}

static void by_popen(void)
{
	char command[4300], line[4300];
	FILE *stream;

	(void)snprintf(command, sizeof(command), "exec %s one two", target);
	stream = run_open(command, "r");
	while (stream && fgets(line, sizeof(line), stream))
		(void)fputs(line, stdout);
	(void)fflush(stdout);
	_exit(stream ? pclose(stream) : 1);
}

/* Every way to start a program; those without an environment of their own use 'environ'. */
static void start(const char *how, char *const *envp)
{
	int fd;

#define WAY(name, call)         \
	if (!strcmp(how, name)) \
	(void)(call)
	if (strcmp(how, "execve") != 0)
		environ = (char **)envp;
	WAY("execve", execve(target, args, envp));
	WAY("execv", execv(target, args));
	WAY("execvp", execvp(target, args));
	WAY("execvpe", execvpe(target, args, envp));
	WAY("execl", execl(target, "report", "one", "two", NULL));
	WAY("execle", execle(target, "report", "one", "two", NULL, envp));
	WAY("execlp", execlp(target, "report", "one", "two", NULL));
	fd = open(target, O_RDONLY | O_CLOEXEC);
	WAY("fexecve", fexecve(fd, args, envp));
	WAY("execveat", syscall(SYS_execveat, fd, "", args, envp, AT_EMPTY_PATH));
	WAY("syscall", syscall(SYS_execve, target, args, envp));
	WAY("posix_spawn", by_spawn(posix_spawn, target, envp));
	WAY("posix_spawnp", by_spawn(posix_spawnp, target, envp));
	if (!strcmp(how, "system"))
		by_system();
	if (!strcmp(how, "popen"))
		by_popen();
#undef WAY
}

static const char *const ways[] = { "execve",	   "execv",	   "execvp",  "execvpe",  "execl",
				    "execle",	   "execlp",	   "fexecve", "execveat", "syscall",
				    "posix_spawn", "posix_spawnp", "system",  "popen" };
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* The environments that programs make, by name. */
static void in_environment(const char *how, const char *which)
{
	static char own[4300], many[1200][16];
	static char *list[1300];
	size_t count = 0;

	if (!strcmp(which, "null")) {
		start(how, NULL);
		return;
	}
	if (!strcmp(which, "many"))
		for (; count < 1200; count++) {
			(void)snprintf(many[count], sizeof(many[0]), "V%zu=x", count);
			list[count] = many[count];
		}
	list[count++] = (char *)"KEEP=1";
	if (!strcmp(which, "other"))
		list[count++] = (char *)"LD_PRELOAD=libm.so.6";
	if (!strcmp(which, "ours")) {
		(void)snprintf(own, sizeof(own), "LD_PRELOAD=libm.so.6:%s", shim_file());
		list[count++] = own;
	}
	start(how, list);
}

static const char *said(const char *how, const char *which, const char *program)
{
	struct again again = { { "start", how, which, program }, true };
	int status;

	return said_by(run_again, &again, &status);
}

static void test_environments(void)
{
	const char *report = built(PROGRAMS "report");
	char want[5][9000];

	(void)snprintf(want[0], sizeof(want[0]),
		       "arg one\narg two\nenv KEEP=1\nenv LD_PRELOAD=%s\nlayout 0\nend\n",
		       shim_file());
	(void)snprintf(want[1], sizeof(want[0]),
		       "arg one\narg two\nenv KEEP=1\nenv LD_PRELOAD=%s:libm.so.6\nlayout 0\nend\n",
		       shim_file());
	(void)snprintf(want[2], sizeof(want[0]),
		       "arg one\narg two\nenv KEEP=1\nenv LD_PRELOAD=libm.so.6:%s\nlayout 0\nend\n",
		       shim_file());
	(void)snprintf(want[3], sizeof(want[0]),
		       "arg one\narg two\nenv LD_PRELOAD=%s\nlayout 0\nend\n", shim_file());
	for (size_t i = 0; i < WAYS; i++) {
		is(said(ways[i], "fresh", report), want[0], "%s: a fresh environment", ways[i]);
		is(said(ways[i], "other", report), want[1], "%s: another preload stays", ways[i]);
		is(said(ways[i], "ours", report), want[2], "%s: ours is there already", ways[i]);
		is(said(ways[i], "many", report), want[0], "%s: 1200 variables", ways[i]);
		if (strcmp(ways[i], "fexecve") != 0) /* which wants one */
			is(said(ways[i], "null", report), want[3], "%s: no environment", ways[i]);
	}
}

static void test_layouts(void)
{
	char flag[32];

	(void)snprintf(flag, sizeof(flag), "layout %#x\n", ADDR_COMPAT_LAYOUT);
	for (size_t i = 0; i < WAYS; i++) {
		bool shell = !strcmp(ways[i], "system") || !strcmp(ways[i], "popen");

		ok(strstr(said(ways[i], "fresh", built(PROGRAMS "report-static-pie")), flag),
		   "%s: a static-PIE goes below", ways[i]);
		ok(strstr(said(ways[i], "fresh", built(PROGRAMS "report-static")), "layout 0\n"),
		   "%s: a static program stays%s", ways[i], shell ? ", from a shell" : "");
		/* The kernel runs no script from a descriptor that is closed by exec. */
		if (!strcmp(ways[i], "fexecve") || !strcmp(ways[i], "execveat"))
			continue;
		ok(strstr(said(ways[i], "fresh", built(PROGRAMS "report-script")), flag),
		   "%s: a script for a static-PIE", ways[i]);
	}
}

/* The layout of the process itself, around an exec that fails or happens elsewhere. */
static int check_layout_back(void)
{
	const char *pie = built(PROGRAMS "report-static-pie");
	char **volatile bad = (char **)8;
	int before = personality(0xffffffff);

	target = pie;
	(void)execve(pie, bad, environ);
	if (personality(0xffffffff) != before)
		return 1;
	(void)personality(ADDR_NO_RANDOMIZE);
	(void)execve(pie, bad, environ);
	if (personality(0xffffffff) != ADDR_NO_RANDOMIZE)
		return 2;
	(void)personality(ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT);
	(void)execv(built(PROGRAMS "report"), args);
	return 3;
}

static void test_layout_back(void)
{
	struct again again = { { "layout" }, true };
	char want[32];
	int status;

	(void)snprintf(want, sizeof(want), "layout %#x\n", ADDR_NO_RANDOMIZE);
	ok(strstr(said_by(run_again, &again, &status), want),
	   "a failed exec takes the layout back, other bits stay, and a dynamic program is free of "
	   "it");
	cmp_ok(WEXITSTATUS(status), "==", 0, "each step of it");
}

static void test_foreign(void)
{
	const char *text = said("execve", "ours", built(PROGRAMS "report32"));

	skip(!strstr(text, "end\n"), 3, "no programs of another architecture here");
	ok(strstr(text, "env KEEP=1\nenv LD_PRELOAD=libm.so.6\nend"), "the shim is not for i386");
	is(said("execve", "fresh", built(PROGRAMS "report32")), "env KEEP=1\nend\n",
	   "and nothing is added there");
	ok(strstr(said("posix_spawn", "ours", built(PROGRAMS "report32")),
		  "env LD_PRELOAD=libm.so.6\nend"),
	   "nor by posix_spawn");
	end_skip;
}

/* One search, by name: PATH, and what is looked for. Prints errno when nothing was started. */
static const struct {
	const char *name, *path, *file;
} searches[] = {
	{ "the second folder has it", "a:b", "prog" },
	{ "no folder has it", "a:b", "nothing" },
	{ "one that may not be executed is passed over", "c:b", "prog" },
	{ "one that may not be executed is remembered", "c:a", "prog" },
	{ "a file in place of a folder", "b/prog:b", "prog" },
	{ "an empty entry is the current folder", "a::b", "here" },
	{ "PATH that is empty", "", "here" },
	{ "PATH that ends in a colon", "a:", "here" },
	{ "without PATH", NULL, "true" },
	{ "without PATH, and not there", NULL, "no-such-program" },
	{ "no name", "b", "" },
	{ "a name with a slash", "a", "b/prog" },
	{ "a script without its first line", "d", "plain" },
	{ "the same with a slash", "a", "d/plain" },
	{ "a folder of that name", "e:b", "prog" },
	{ "a link in circles", "f:b", "prog" },
	{ "a name that is too long", "b",
	  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	  "xxxx"
	  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	  "xxxx"
	  "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
	  "xxxx" },
};

static void search(const char *how, const char *number)
{
	long i = strtol(number, NULL, 10);
	char *const argv[] = { (char *)"name", (char *)"first", (char *)"second", NULL };
	int error;
	pid_t pid;

	if (searches[i].path)
		(void)setenv("PATH", searches[i].path, 1);
	else
		(void)unsetenv("PATH");
	if (!strcmp(how, "execvp"))
		(void)execvp(searches[i].file, argv);
	else if (!strcmp(how, "execlp"))
		(void)execlp(searches[i].file, "name", "first", "second", NULL);
	else if (!strcmp(how, "empty"))
		(void)execvp(searches[i].file, argv + 3);
	error = errno;
	if (!strcmp(how, "posix_spawnp")) {
		error = posix_spawnp(&pid, searches[i].file, NULL, NULL, argv, environ);
		if (!error)
			(void)waitpid(pid, NULL, 0);
	}
	printf("error %d\n", error);
	(void)fflush(stdout);
	_exit(0);
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "w");

	if (file) {
		(void)fputs(text, file);
		(void)fclose(file);
	}
	(void)chmod(path, mode);
}

static void make_folders(void)
{
	static const char script[] = "#!/bin/sh\necho prog \"$0\" \"$@\"\n";

	for (const char *name = "abcdef"; *name; name++)
		(void)mkdir((char[]){ *name, '\0' }, 0700);
	put_file("b/prog", script, 0700);
	put_file("c/prog", script, 0600);
	put_file("here", script, 0700);
	put_file("d/plain", "echo plain $# \"$@\"\n", 0700);
	(void)mkdir("e/prog", 0700);
	(void)symlink("prog", "f/prog");
}

static void test_searches(void)
{
	static const char *const hows[] = { "execvp", "execlp", "posix_spawnp", "empty" };
	char dir[] = "/tmp/sbx-search.XXXXXX", bare[16384], number[8];
	struct again again = { { "search" }, false };
	int status;

	if (!mkdtemp(dir) || chdir(dir))
		BAIL_OUT("no folder to work in");
	make_folders();
	for (size_t how = 0; how < sizeof(hows) / sizeof(hows[0]); how++)
		for (size_t i = 0; i < sizeof(searches) / sizeof(searches[0]); i++) {
			(void)snprintf(number, sizeof(number), "%zu", i);
			again.arguments[1] = hows[how];
			again.arguments[2] = number;
			again.shim = false;
			(void)snprintf(bare, sizeof(bare), "%s",
				       said_by(run_again, &again, &status));
			again.shim = true;
			is(said_by(run_again, &again, &status), bare, "%s: %s", hows[how],
			   searches[i].name);
		}
	(void)unlink("b/prog");
	(void)unlink("c/prog");
	(void)unlink("d/plain");
	(void)unlink("f/prog");
	(void)unlink("here");
	(void)rmdir("e/prog");
	for (const char *name = "abcdef"; *name; name++)
		(void)rmdir((char[]){ *name, '\0' });
	(void)rmdir(dir);
}

int main(int argc, char **argv)
{
	if (argc > 3 && !strcmp(argv[1], "search"))
		search(argv[2], argv[3]);
	if (argc > 1 && !strcmp(argv[1], "layout"))
		return check_layout_back();
	if (argc > 4 && !strcmp(argv[1], "start")) {
		target = argv[4];
		in_environment(argv[2], argv[3]);
		perror(argv[2]);
		return 1;
	}
	plan(NO_PLAN);
	test_environments();
	test_layouts();
	test_layout_back();
	test_foreign();
	test_searches();
	done_testing();
}
