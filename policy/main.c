/* SPDX-License-Identifier: MIT */
/* sbx-policy: ask a policy, see it, check it. The only file here that parses options and exits. */
#include "command.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	int (*run)(const struct command *command);
	const char *args;
	const char *help;
} commands[] = {
	{ "check", cmd_check, "OP TARGET...", "may it be done? exit 0 allowed, 1 refused" },
	{ "why", cmd_why, "OP TARGET...", "the same, with every rule that spoke, from / down" },
	{ "show", cmd_show, "", "the rules in force, and where each comes from" },
	{ "lint", cmd_lint, "", "what is wrong or doubtful, and run the [test] section" },
	{ "resolve", cmd_resolve, "PATH...", "the file a program would reach, or why not" },
	{ "describe", cmd_describe, "", "one page for a model that will work inside" },
	{ "compile", cmd_compile, "", "write the compiled policy (-o FILE)" },
};

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

enum {
	OPT_JSON = 256,
	OPT_TRUST,
	OPT_COMMAND,
	OPT_STRICT,
	OPT_ENV,
	OPT_ALL,
	OPT_VERSION,
	OPT_LENIENT
};

static const struct {
	struct option option;
	const char *arg;
	const char *help;
} options[] = {
	{ { "policy", required_argument, NULL, 'p' },
	  "FILE",
	  "policy to ask; repeats, - is standard input" },
	{ { "command", required_argument, NULL, OPT_COMMAND },
	  "NAME",
	  "take this program's profile as sbx-launch would" },
	{ { "json", no_argument, NULL, OPT_JSON }, NULL, "one JSON document on standard output" },
	{ { "trust", no_argument, NULL, OPT_TRUST },
	  NULL,
	  "accept policy files that others may write" },
	{ { "lenient", no_argument, NULL, OPT_LENIENT },
	  NULL,
	  "accept read and exec paths that do not exist here" },
	{ { "strict", no_argument, NULL, OPT_STRICT }, NULL, "lint: a warning is a failure" },
	{ { "all", no_argument, NULL, OPT_ALL },
	  NULL,
	  "show: also optional lines whose path is missing" },
	{ { "env", no_argument, NULL, OPT_ENV },
	  NULL,
	  "show: which variables pass, and which never do" },
	{ { "output", required_argument, NULL, 'o' }, "FILE", "compile: where to" },
	{ { "help", no_argument, NULL, 'h' }, NULL, "this text" },
	{ { "version", no_argument, NULL, OPT_VERSION }, NULL, "the version" },
};

#define OPTIONS (sizeof(options) / sizeof(options[0]))

void complain(const char *format, ...)
{
	char text[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)fputs("sbx-policy: ", stderr);
	print_clean(stderr, text);
	(void)fputc('\n', stderr);
}

static void print_help(void)
{
	printf("usage: sbx-policy COMMAND [-p FILE]... [OPTION]... [ARGUMENT]...\n\n"
	       "Asks an sbx policy. Without -p: the policy of the sandbox this runs in, else the\n"
	       "built-in one (the current directory is the workspace).\n\nCommands:\n");
	for (size_t i = 0; i < COMMANDS; i++)
		printf("  %-9s%-14s %s\n", commands[i].name, commands[i].args, commands[i].help);
	printf("\nOperations: ");
	for (int op = 0; op <= SBX_OP_LOOKUP; op++)
		printf("%s%s", op ? ", " : "", sbx_op_name((enum sbx_op)op));
	printf("\n\nOptions:\n");
	for (size_t i = 0; i < OPTIONS; i++) {
		const struct option *option = &options[i].option;
		char name[40];

		(void)snprintf(name, sizeof(name), "--%s%s%s", option->name,
			       options[i].arg ? "=" : "", options[i].arg ? options[i].arg : "");
		if (option->val < 256)
			printf("  -%c, %-17s%s\n", option->val, name, options[i].help);
		else
			printf("      %-17s%s\n", name, options[i].help);
	}
	printf("\nExit status: 0 allowed, 1 refused (lint: a test failed), 2 usage, 125 bad "
	       "policy.\n"
	       "Manual: sbx-policy(1), sbx-policy(5).\n");
}

static int usage(const char *why, const char *what)
{
	complain("%s%s%s%s (see sbx-policy --help)", why, what ? " '" : "", what ? what : "",
		 what ? "'" : "");
	return EXIT_USAGE;
}

static void report_errors(const struct sbx_errors *errors, int error)
{
	for (size_t i = 0; i < errors->count; i++) {
		const struct sbx_error *at = &errors->list[i];

		if (at->line)
			complain("%s:%u: %s", at->file, at->line, at->text);
		else
			complain("%s%s%s", at->file, *at->file ? ": " : "", at->text);
	}
	if (errors->more)
		complain("and %zu more error%s", errors->more, errors->more == 1 ? "" : "s");
	if (errors->count == 0)
		complain("the policy cannot be loaded: %s", strerror(-error));
}

int command_load(const struct command *command, struct sbx_policy **policy)
{
	struct sbx_errors errors;
	int error;

	if (command->load.file_count == 0) {
		error = sbx_load_running(policy);
		if (!error)
			return 0;
		/* Inside a sandbox whose policy is gone, another one would be a wrong answer. */
		if (error != -ENOENT) {
			complain("the policy of this sandbox cannot be read: %s", strerror(-error));
			return EXIT_POLICY;
		}
	}
	error = sbx_load(&command->load, policy, &errors);
	if (error)
		report_errors(&errors, error);
	return error ? EXIT_POLICY : 0;
}

/* 0 to go on, else the exit status plus one. */
static int take_option(struct command *command, const char **files, int option)
{
	switch (option) {
	case 'p':
		files[command->load.file_count++] = optarg;
		break;
	case 'o':
		command->output = optarg;
		break;
	case OPT_JSON:
		command->json = true;
		break;
	case OPT_TRUST:
		command->load.trust = true;
		break;
	case OPT_LENIENT:
		command->load.lenient = true;
		break;
	case OPT_COMMAND:
		command->load.command = optarg;
		break;
	case OPT_STRICT:
		command->strict = true;
		break;
	case OPT_ENV:
		command->env = true;
		break;
	case OPT_ALL:
		command->all = true;
		break;
	case 'h':
		print_help();
		return EXIT_ALLOWED + 1;
	case OPT_VERSION:
		printf("sbx-policy %s\n", SBX_VERSION);
		return EXIT_ALLOWED + 1;
	case ':':
		return usage("an argument is missing for", command->args[optind - 1]) + 1;
	default: /* of several letters behind one '-', only getopt knows which */
		if (optopt > 0 && optopt < 256)
			return usage("unknown option", (const char[]){ '-', (char)optopt, '\0' }) +
			       1;
		return usage("unknown option", command->args[optind - 1]) + 1;
	}
	return 0;
}

static int parse(struct command *command, const char **files, int count, char **args)
{
	struct option long_options[OPTIONS + 1] = { 0 };
	int option, stop = 0;

	for (size_t i = 0; i < OPTIONS; i++)
		long_options[i] = options[i].option;
	command->args = args;
	command->load.files = files;
	opterr = 0;
	/* Options may stand behind the command, whatever the user's shell is set up for. */
	(void)unsetenv("POSIXLY_CORRECT");
	while (!stop && (option = getopt_long(count, args, ":p:o:h", long_options, NULL)) != -1)
		stop = take_option(command, files, option);
	command->args = args + optind;
	command->arg_count = count - optind;
	return stop;
}

static int dispatch(struct command *command)
{
	if (command->arg_count == 0)
		return usage("no command was given", NULL);
	command->name = command->args[0];
	command->args++;
	command->arg_count--;
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, command->name) != 0)
			continue;
		if (!*commands[i].args && command->arg_count)
			return usage("a policy is given with -p, not as", command->args[0]);
		if (command->json && commands[i].run == cmd_describe)
			return usage("there is no JSON of", command->name);
		return commands[i].run(command);
	}
	return usage("unknown command", command->name);
}

int main(int count, char **args)
{
	struct command command = { 0 };
	const char **files = calloc((size_t)count + 1, sizeof(*files));
	int status;

	if (!files) {
		complain("out of memory");
		return EXIT_POLICY;
	}
	status = parse(&command, files, count, args);
	status = status ? status - 1 : dispatch(&command);
	free(files);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		complain("standard output: %s", strerror(errno));
		return status ? status : EXIT_POLICY;
	}
	return status;
}
