/* SPDX-License-Identifier: MIT */
/*
 * The command line of sbx-launch. Options that are settings of the policy come from keys.def, the
 * others from one table in options.c; parsing, --help and completion are made from both.
 */
#ifndef SBX_LAUNCH_OPTIONS_H
#define SBX_LAUNCH_OPTIONS_H

#include "launch.h"

#include <stdio.h>

struct launch_options {
	struct sbx_load load; /* files, settings and the command's name; owns its lists */
	char **argv; /* the command and its arguments, NULL-terminated; NULL when there is none */
	enum launch_voice voice;
	bool json; /* one result on standard output */
	bool dry_run;
	bool doctor;
	bool clean; /* with --doctor: remove what dead runs left */
	bool no_shim;
	bool help;
	bool version;
	const char *name; /* of the run, for --doctor and logs */
	const char *wrap; /* the tool to write a wrapper for */
	const char *output; /* where to */
	const char *wrapped; /* the wrapper that calls us, or NULL */
	char *shell_text; /* of -c */
	bool shell_login;
	bool shell_interactive;
	char **own_argv; /* behind 'argv' when it was made here */
	char *own_values[16]; /* behind 'load' */
	size_t own_count;
	int log_fd; /* -1: none */
	int *keep_fds;
	size_t keep_count;
};

/* 0, or -EINVAL for a usage error; 'options' is to be emptied either way. */
int launch_options_init(struct launch_options *options, int count, char **args,
			struct launch_error *error);
void launch_options_done(struct launch_options *options);

/* Adds a setting as if it stood on the command line; the strings must last. */
int launch_options_set(struct launch_options *options, const char *section, const char *key,
		       const char *value, const char *option);

/* The same with a value that is freed with the options. */
int launch_options_own(struct launch_options *options, const char *section, const char *key,
		       char *value, const char *option);

/*
 * Calls 'put' for every word that says the same on another command line: "-v", "--memory=1G". Policy
 * files, --wrap and what only makes sense once (--dry-run, -c) are left to the caller.
 */
int launch_options_write(const struct launch_options *options, void (*put)(FILE *, const char *),
			 FILE *to);

void launch_options_help(void);

#endif
