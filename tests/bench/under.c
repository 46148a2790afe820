/* SPDX-License-Identifier: MIT */
/*
 * Runs a command under one layer alone, to show what that layer costs by itself:
 *
 *	under filter COMMAND...
 *		a seccomp filter that allows everything
 *	under landlock WRITABLE READABLE... -- COMMAND...
 *		Landlock, which handles all that this kernel can
 */
#include "../../launcher/landlock_abi.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READABLE (LL_EXECUTE | LL_READ_FILE | LL_READ_DIR)

static void filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { .len = 1, .filter = &allow };

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		err(1, "seccomp");
}

/* What is not there is left out. */
static void add_rule(int ruleset, const char *path, uint64_t rights)
{
	struct ll_path_rule rule = { .access = rights, .fd = open(path, O_PATH | O_CLOEXEC) };
	struct stat found;

	if (rule.fd < 0 && errno == ENOENT)
		return;
	if (rule.fd < 0 || fstat(rule.fd, &found) < 0)
		err(1, "%s", path);
	if (!S_ISDIR(found.st_mode))
		rule.access &= LL_FILE_RIGHTS;
	if (syscall(LL_SYS_ADD_RULE, ruleset, LL_RULE_PATH, &rule, 0) < 0)
		err(1, "Landlock rule '%s'", path);
	(void)close(rule.fd);
}

static char **landlock(char **argv)
{
	long abi = syscall(LL_SYS_CREATE_RULESET, NULL, 0, LL_CREATE_VERSION);
	struct ll_ruleset handled;
	int ruleset;

	if (abi < 1)
		err(1, "Landlock");
	handled = ll_abis[abi < LL_ABI_MAX ? abi : LL_ABI_MAX];
	ruleset = (int)syscall(LL_SYS_CREATE_RULESET, &handled, sizeof(handled), 0);
	if (ruleset < 0)
		err(1, "Landlock ruleset");
	for (uint64_t rights = handled.fs; *argv && strcmp(*argv, "--") != 0; argv++) {
		add_rule(ruleset, *argv, rights);
		rights = handled.fs & READABLE;
	}
	add_rule(ruleset, "/dev/null", handled.fs & LL_FILE_RIGHTS);
	add_rule(ruleset, "/dev/zero", handled.fs & LL_FILE_RIGHTS);
	if (syscall(LL_SYS_RESTRICT_SELF, ruleset, 0) < 0)
		err(1, "Landlock");
	(void)close(ruleset);
	return *argv ? argv + 1 : argv;
}

int main(int argc, char **argv)
{
	char **command = argv + 2;

	if (argc < 3)
		errx(2, "usage: under filter|landlock ...");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		err(1, "no_new_privs");
	if (strcmp(argv[1], "filter") == 0)
		filter();
	else
		command = landlock(command);
	if (!*command)
		errx(2, "usage: under filter|landlock ...");
	execv(command[0], command);
	err(1, "%s", command[0]);
}
