/* SPDX-License-Identifier: MIT */
/*
 * What a program finds when it starts, and what it leaves behind for the next start.
 */
#include "attack.h"

#include <stdint.h>
#include <sys/prctl.h>

void own_environment(void)
{
	static const char *const names[] = { "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN",
					     "SSH_AUTH_SOCK", "SOMETHING_PRIVATE" };

	if (spill("/proc/self/environ") < 0)
		cannot_judge("no /proc/self/environ");
	for (char **variable = environ; *variable; variable++)
		printf("variable: %s\n", *variable);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			step(names[i], 0);
		else
			printf("step %s absent\n", names[i]);
}

void bad_folder(void)
{
	step("read", spill("key"));
	step("write", open("key", O_WRONLY));
	step("list", open(".", O_RDONLY | O_DIRECTORY) < 0 ? -1 : spill("./key"));
}

void injection(void)
{
	static const char *const names[] = { "LD_PRELOAD",    "LD_AUDIT",	 "LD_LIBRARY_PATH",
					     "NODE_OPTIONS",  "BASH_ENV",	 "ENV",
					     "PYTHONSTARTUP", "PYTHONPATH",	 "PERL5OPT",
					     "RUBYOPT",	      "GIT_SSH_COMMAND", "GIT_PAGER",
					     "PAGER",	      "EDITOR",		 "VISUAL" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		/* a value of the launcher's own is not what was injected */
		if (value && strstr(value, fact("value")))
			step(names[i], 0);
		else
			printf("step %s absent\n", names[i]);
	}
}

void leave_mark(void)
{
	int fd = open(at("work/mark"), O_CREAT | O_WRONLY, 0600);

	printf("the program ran\n");
	step("mark", fd);
}

void edit_policy(void)
{
	int fd = open(at("work/policy.ini"), O_WRONLY | O_APPEND);

	step("append", fd < 0 ? -1 : write(fd, "[paths]\nread = ../secret\n", 25));
	step("replace", rename(at("work/a"), at("work/policy.ini")));
	step("remove", unlink(at("work/policy.ini")));
}

/* Landlock layers that take nothing away but what nobody here does: making block devices. */
void use_layers(void)
{
	uint64_t handled = 1 << 11;
	long count = fact_number("layers");
	char *command[32];
	size_t length = 0;
	int rules;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		cannot_judge("no no_new_privs");
	for (long i = 0; i < count; i++) {
		rules = (int)syscall(444 /* landlock_create_ruleset */, &handled, sizeof(handled),
				     0);
		if (rules < 0 || syscall(446 /* landlock_restrict_self */, rules, 0) < 0)
			cannot_judge("no Landlock, or not so many layers");
		close(rules);
	}
	for (long i = 0; length < 31; i++) {
		char name[16];

		snprintf(name, sizeof(name), "c%ld", i);
		if (!has_fact(name))
			break;
		command[length++] = (char *)has_fact(name);
	}
	command[length] = NULL;
	if (length)
		execv(command[0], command);
	cannot_judge("nothing to start");
}
