/* SPDX-License-Identifier: MIT */
/* What the parts of the sbx-policy command share. Only main.c exits. */
#ifndef SBX_COMMAND_H
#define SBX_COMMAND_H

#include "query.h"

#include <stdio.h>

enum {
	EXIT_ALLOWED = 0,
	EXIT_REFUSED = 1,
	EXIT_USAGE = 2,
	EXIT_POLICY = 125
};

/* What the command line said. */
struct command {
	const char *name; /* "check" */
	struct sbx_load load;
	bool json;
	bool strict; /* lint: warnings count */
	bool env; /* show: the environment tables */
	bool all; /* show: lines that say nothing here too */
	const char *output; /* compile */
	char **args;
	int arg_count;
};

/* One clear line on standard error, "sbx-policy: …". */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The policy that the options name; reports what is wrong. 0 or EXIT_POLICY. */
int command_load(const struct command *command, struct sbx_policy **policy);

/* Each returns the exit status. */
int cmd_check(const struct command *command);
int cmd_why(const struct command *command);
int cmd_show(const struct command *command);
int cmd_lint(const struct command *command);
int cmd_resolve(const struct command *command);
int cmd_describe(const struct command *command);
int cmd_compile(const struct command *command);

/* JSON on standard output, by the engine's own escapes. */
void print_json(FILE *to, const char *text);
/* "policy.ini:12", or the file's name alone. */
void print_where(FILE *to, const struct sbx_image *image, uint32_t file, uint32_t line);
/* Text with hostile bytes escaped. */
void print_clean(FILE *to, const char *text);
const char *rights_name(uint8_t rights); /* "read, write" */

#endif
