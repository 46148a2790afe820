/* SPDX-License-Identifier: MIT */
/* Policies that are about [syscalls], for tests. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include "query.h"

#include <stdio.h>
#include <stdlib.h>
#include <tap.h>
#include <unistd.h>

/* 'body' is what stands in the section; it may begin others. */
static inline struct sbx_policy *load_policy(const char *body)
{
	char file[] = "/tmp/sbx-filter-XXXXXX.ini";
	const char *files[] = { file };
	const struct sbx_load load = { .files = files, .file_count = 1, .lenient = true };
	struct sbx_errors errors = { 0 };
	struct sbx_policy *policy = NULL;
	int fd = mkstemps(file, 4);
	int result;

	if (fd < 0 || dprintf(fd, "[sandbox]\ninclude = none\n[syscalls]\n%s\n", body) < 0)
		BAIL_OUT("cannot write a policy");
	close(fd);
	result = sbx_load(&load, &policy, &errors);
	unlink(file);
	if (result < 0)
		BAIL_OUT("%s", errors.list[0].text);
	return policy;
}

#endif
