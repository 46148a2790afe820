/* SPDX-License-Identifier: MIT */
/*
 * A program with two threads exchanges what the broker looks at while it looks: nothing that is denied
 * may be read, written, moved or removed by that.
 *
 * SBX_RACES says how many tries there are to be (1500).
 */
#include "oracle.h"

#include "../kernel/confined.h"

#include <signal.h>

static bool says(const char *path, const char *text)
{
	char got[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, got, sizeof(got) - 1);

	if (fd >= 0)
		close(fd);
	return len >= 0 && !strcmp(got, text);
}

static int run(const char *racer, uid_t uid, const char *tries)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if ((uid && (setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)) ||
		    chdir(at("w")) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0 ||
		    !freopen("/dev/null", "w", stderr))
			_exit(BROKEN);
		execl(at("build/bin/sbx-launch"), "sbx-launch", "-q", "--trust", "-p",
		      at("policy.ini"), "--workspace", at("w"), "--", racer, tries, (char *)NULL);
		_exit(BROKEN);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		BAIL_OUT("cannot run a child");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void attack(const char *racer, uid_t uid, const char *tries, const char *who)
{
	const char *root = at("w");
	int status;

	plot_shell("rm -rf %s && mkdir -p %s/denied && cd %s && echo secret >denied/secret && "
		   "echo secret >secret.x && echo good >.npmrc && chown -R %u . && chmod 755 .",
		   root, root, root, uid ? uid : getuid());
	status = run(at("build/programs/%s", racer), uid, tries);
	cmp_ok(status, "==", 0, "%s, %s, gets no secret in %s tries", racer, who, tries);
	ok(says(at("w/denied/secret"), "secret\n") && says(at("w/secret.x"), "secret\n"),
	   "and changes none");
	ok(says(at("w/.npmrc"), "good\n"), "nor what is protected");
	plot_shell("test \"$(ls %s/denied)\" = secret", root);
}

int main(void)
{
	const char *build = getenv("SBX_BUILD"), *tries = getenv("SBX_RACES");
	bool root = getuid() == 0;

	if (launch_landlock_abi() < 3)
		plan(SKIP_ALL, "this kernel's Landlock does not hold renaming and truncating");
	plan(NO_PLAN);
	umask(022);
	tree_begin();
	tries = tries ? tries : "1500";
	build = build ? build : "build/release";
	plot_shell("mkdir -p %s/bin %s/lib && cp %s/bin/sbx-launch %s/bin/ && cp "
		   "%s/lib/libsbx-shim.so "
		   "%s/lib/ && cp -rL %s/share %s/tests/oracle/programs %s/ && chmod -R go+rX %s",
		   at("build"), at("build"), build, at("build"), build, at("build"), build, build,
		   at("build"), at("build"));
	plot_shell("printf '[sandbox]\\nisolate = none\\n[paths]\\ndeny = %s, %s\\n' >%s",
		   at("w/denied"), at("w/**/*.x"), at("policy.ini"));
	for (int i = 0; i < (root ? 4 : 2); i++)
		attack(i & 1 ? "racer-static" : "racer", root && i & 2 ? NOBODY : 0, tries,
		       root && !(i & 2) ? "as root" : "as an ordinary user");
	done_testing();
}
