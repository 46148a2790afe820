/* SPDX-License-Identifier: MIT */
/* Puts the shim into the program's environment, and static programs below the quiet zone. */
#include "preload.h"

#include "binary.h"
#include "contract.h"
#include "draft.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="
#define SELF SBX_ENV_EXPLAIN "=self"

const char *launch_preload_find(char path[PATH_MAX])
{
	char dir[PATH_MAX], file[PATH_MAX];

	if (!sbx_own_dir("lib", dir) ||
	    snprintf(file, sizeof(file), "%s/%s", dir, SBX_SHIM_NAME) >= (int)sizeof(file) ||
	    !realpath(file, path))
		return SBX_SHIM_NAME " is not installed";
	if (path[strcspn(path, ": \t\n")])
		return "the loader cannot be told of a path with blanks or colons";
	return access(path, R_OK) == 0 ? NULL : SBX_SHIM_NAME " cannot be read";
}

static bool may_be_read(const struct sbx_image *image, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(image, &request, &verdict);
	return verdict.allowed;
}

void launch_preload_choose(struct launch *launch)
{
	launch->shimless =
		launch->options.no_shim ? "--no-shim" : launch_preload_find(launch->shim);
	if (!launch->shimless && !may_be_read(launch->image, launch->shim))
		launch->shimless = "the policy does not let " SBX_SHIM_NAME " be read";
	if (!launch->shimless && !launch_user_reads(&launch->user, launch->shim))
		launch->shimless = "the program's user cannot read " SBX_SHIM_NAME;
	if (launch->shimless)
		launch->wishes.quiet = launch->wishes.hushes = false;
}

/* "LD_PRELOAD=shim:theirs"; in front, because theirs may call it, and it calls nobody. */
static char *join(const char *shim, const char *theirs)
{
	size_t size = strlen(PRELOAD) + strlen(shim) + strlen(theirs) + 2;
	char *text = malloc(size);

	if (text)
		(void)snprintf(text, size, PRELOAD "%s%s%s", shim, *theirs ? ":" : "", theirs);
	return text;
}

/* One array for the whole run: never freed. */
static int extend(struct launch *launch, const char *shim)
{
	size_t count = 0, at;
	const char *theirs = "";
	char **env;

	while (launch->env[count])
		count++;
	env = calloc(count + 3, sizeof(*env));
	if (!env)
		return -ENOMEM;
	memcpy(env, launch->env, count * sizeof(*env));
	for (at = 0; at < count && strncmp(env[at], PRELOAD, strlen(PRELOAD)) != 0; at++)
		;
	if (at < count)
		theirs = env[at] + strlen(PRELOAD);
	else
		count++;
	env[at] = join(shim, theirs);
	env[count] = (char *)SELF;
	launch->env = env;
	return env[at] ? 0 : -ENOMEM;
}

int launch_preload_add(struct launch *launch, struct launch_error *error)
{
	if (!launch->shimless && extend(launch, launch->shim) < 0)
		return launch_fail(error, ENOMEM, "out of memory");
	return 0;
}

void launch_preload_settle(struct launch *launch, bool listening)
{
	for (char **at = launch->env; listening && *at; at++)
		if (!strcmp(*at, SELF)) /* the last one */
			*at = NULL;
}

/* What the kernel will load for the command: the first file that is no script. */
static bool is_static_pie(const struct launch_command *command)
{
	char runner[BINARY_START];
	enum launch_binary kind = launch_binary_read(command->real, runner);

	for (size_t i = 0; kind == BINARY_SCRIPT && i < command->interpreter_count; i++)
		kind = launch_binary_read(command->interpreters[i], runner);
	return kind == BINARY_STATIC_PIE;
}

void launch_preload_place(const struct launch *launch)
{
	int now = personality(0xffffffff), wanted = now & ~ADDR_COMPAT_LAYOUT;

	if ((launch->wishes.quiet || launch->wishes.hushes) && is_static_pie(&launch->command))
		wanted |= ADDR_COMPAT_LAYOUT;
	if (now >= 0 && wanted != now)
		(void)personality((unsigned long)wanted);
}
