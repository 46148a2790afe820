/* SPDX-License-Identifier: MIT */
/*
 * From the command line to a run that only needs to be started: everything that can be wrong is
 * found here, before anything runs, and said in one line each.
 */
#include "plan.h"

#include "contract.h"
#include "doctor.h"
#include "env.h"
#include "out.h"
#include "preload.h"
#include "wrap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int complain_load(const struct sbx_errors *errors, int error)
{
	for (size_t i = 0; i < errors->count; i++) {
		const struct sbx_error *at = &errors->list[i];

		if (at->line)
			launch_complain("%s:%u: %s", at->file, at->line, at->text);
		else
			launch_complain("%s%s%s", at->file, *at->file ? ": " : "", at->text);
	}
	if (errors->more)
		launch_complain("and %zu more error%s", errors->more, errors->more == 1 ? "" : "s");
	if (errors->count == 0)
		launch_complain("the policy cannot be loaded: %s", strerror(-error));
	return EXIT_LAUNCH;
}

static int fail(const struct launch_error *error, int status)
{
	launch_complain("%s", error->text);
	return status;
}

/* A path as a quoted value, so that nothing in it means anything. The caller frees it. */
static char *quote(const char *path)
{
	char *out = malloc(strlen(path) * 2 + 3), *at = out;

	if (!out)
		return NULL;
	*at++ = '"';
	for (; *path; path++) {
		if (*path == '"' || *path == '\\')
			*at++ = '\\';
		*at++ = *path;
	}
	*at++ = '"';
	*at = '\0';
	return out;
}

/* The command may be executed whatever [paths] says. */
static int allow_exec(struct launch *launch, const char *path)
{
	char *value = quote(path);

	if (!value)
		return -ENOMEM;
	return launch_options_own(&launch->options, "paths", "exec", value, "the command");
}

static int allow_command(struct launch *launch)
{
	int failed = allow_exec(launch, launch->command.real);

	for (size_t i = 0; !failed && i < launch->command.interpreter_count; i++)
		failed = allow_exec(launch, launch->command.interpreters[i]);
	return failed;
}

static int load(struct launch *launch)
{
	struct sbx_load *load = &launch->options.load;
	struct sbx_errors errors;
	int failed;

	load->command = launch->command.profile_of;
	load->private_tmp = launch->place.tmp;
	load->private_home = launch->place.home;
	load->private_places = launch->stand.offered[0] ? launch->stand.offered : NULL;
	failed = sbx_load(load, &launch->policy, &errors);
	if (failed < 0)
		return complain_load(&errors, failed);
	launch->image = sbx_policy_image(launch->policy);
	return 0;
}

static int load_again(struct launch *launch)
{
	sbx_free(launch->policy);
	launch->policy = NULL;
	return load(launch);
}

/*
 * A policy that counts on mounts needs a namespace for them: it is taken now, because without one
 * it is another policy.
 */
static int take_space(struct launch *launch)
{
	struct launch_error error;

	if (!launch_stand_any(launch->image))
		return 0;
	if (launch_space_mounts(&launch->user, &launch->space, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if (launch->space.mounts)
		return 0;
	launch->stand.offered[0] = NULL;
	return load_again(launch);
}

/* The run's paths are settled first, because the policy may name them; who it is for stands there. */
static int load_for_user(struct launch *launch)
{
	struct launch_error error;
	int status;

	if (launch_plan_listens() && launch_space_likely(&launch->space))
		launch_stand_offer(&launch->command, &launch->stand);
	if (launch_private_make(false, &launch->place, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if ((status = load(launch)))
		return status;
	if (launch_user_find(launch->image, &launch->user, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if (launch->user.foreign) {
		launch_private_remove(&launch->place);
		if (launch_private_make(true, &launch->place, &error) < 0)
			return fail(&error, EXIT_LAUNCH);
		if ((status = load_again(launch)))
			return status;
	}
	return take_space(launch);
}

/* An explicit workdir must be one that the program can read; else it is where we are. */
static int choose_workdir(struct launch *launch, struct launch_error *error)
{
	const struct sbx_image *image = launch->image;
	const struct sbx_setting *setting = sbx_setting(image, SBX_KEY_sandbox_workdir);
	const struct sbx_rule *rules = sbx_rules(image);
	struct sbx_request request = { .op = SBX_OP_LIST, .is_dir = true, .size = -1 };
	struct sbx_verdict verdict;

	if (setting->is_set) {
		request.path = launch->workdir = sbx_str(image, setting->text);
		sbx_eval(image, &request, &verdict);
		if (!verdict.allowed)
			return launch_fail(
				error, EINVAL,
				"workdir '%s' is outside of what the policy lets be read "
				"(add it to [paths] read, or choose another)",
				launch->workdir);
		return 0;
	}
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		if (rules[i].flags & SBX_RULE_WORKSPACE && !(rules[i].flags & SBX_RULE_ABSENT)) {
			launch->workdir = sbx_str(image, rules[i].path);
			break;
		}
	}
	return 0;
}

static int settle_workdir(struct launch *launch, struct launch_error *error)
{
	char cwd[PATH_MAX];
	int failed = choose_workdir(launch, error);

	launch->moves =
		launch->workdir && (!getcwd(cwd, sizeof(cwd)) || strcmp(cwd, launch->workdir) != 0);
	return failed;
}

static int open_log(struct launch *launch, struct launch_error *error)
{
	const struct sbx_setting *setting = sbx_setting(launch->image, SBX_KEY_errors_log);
	const char *path = sbx_str(launch->image, setting->text);
	char where[300];

	if (launch->options.log_fd >= 0)
		launch->log_fd = fcntl(launch->options.log_fd, F_DUPFD_CLOEXEC, 3);
	else if (setting->is_set)
		launch->log_fd = open(path,
				      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW |
					      O_NOCTTY | O_NONBLOCK,
				      0600);
	else
		return 0;
	if (launch->log_fd >= 0)
		return 0;
	if (launch->options.log_fd >= 0)
		return launch_fail(error, errno, "--log-fd: descriptor %d is not open",
				   launch->options.log_fd);
	return launch_fail(error, errno, "%s: cannot write the log '%s': %s%s",
			   launch_where(launch->image, setting->file, setting->line, where), path,
			   strerror(errno), errno == ENOENT ? " (its folder has to be there)" : "");
}

static int check_kept(const struct launch *launch, struct launch_error *error)
{
	for (size_t i = 0; i < launch->options.keep_count; i++)
		if (fcntl(launch->options.keep_fds[i], F_GETFD) < 0)
			return launch_fail(error, EBADF, "--keep-fd: descriptor %d is not open",
					   launch->options.keep_fds[i]);
	return 0;
}

#define VARIABLE_MAX (PATH_MAX + 32)
#define VARIABLES 14

/* Programs look at one spelling or the other; what is the sandbox's own is not asked of a proxy. */
static size_t name_proxy(const struct launch *launch, char texts[][VARIABLE_MAX])
{
	static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
					     "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };
	const struct sbx_setting *proxy = sbx_setting(launch->image, SBX_KEY_network_proxy);
	size_t count = 0;

	if (!proxy->is_set)
		return 0;
	for (; count < sizeof(names) / sizeof(names[0]); count++)
		(void)snprintf(texts[count], VARIABLE_MAX, "%s=%s", names[count],
			       sbx_str(launch->image, proxy->text));
	(void)snprintf(texts[count++], VARIABLE_MAX, "no_proxy=localhost,127.0.0.1,::1");
	(void)snprintf(texts[count++], VARIABLE_MAX, "NO_PROXY=localhost,127.0.0.1,::1");
	return count;
}

static int build_env(struct launch *launch, struct launch_error *error)
{
	static const char *const tmp_names[] = { "TMPDIR", "TMP", "TEMP" };
	static char texts[VARIABLES][VARIABLE_MAX];
	/* Without it, bash and others look for the user's in /etc/passwd, which most policies refuse. */
	static char shell[] = "SHELL=/bin/sh";
	char *const fallback[] = { shell, NULL };
	char *extra[VARIABLES + 1] = { NULL };
	const char *tmp = launch_stand_tmp(launch->image, &launch->place);
	size_t count = 0, proxies;

	for (size_t i = 0; *tmp && i < 3; i++)
		(void)snprintf(extra[count++] = texts[i], VARIABLE_MAX, "%s=%s", tmp_names[i], tmp);
	if (launch->place.home[0])
		(void)snprintf(extra[count++] = texts[3], VARIABLE_MAX, "HOME=%s",
			       launch->place.home);
	if (launch->place.image[0])
		(void)snprintf(extra[count++] = texts[4], VARIABLE_MAX, SBX_ENV_IMAGE "=%s",
			       launch->place.image);
	/* Look-ups by TCP come to us. */
	if (launch->brokers && launch->wishes.asks_network && !launch->apart)
		(void)snprintf(extra[count++] = texts[13], VARIABLE_MAX, "RES_OPTIONS=use-vc");
	proxies = name_proxy(launch, texts + 5);
	for (size_t i = 0; i < proxies; i++)
		extra[count++] = texts[5 + i];
	return launch_env_build(launch->image, environ, extra, fallback, *tmp ? tmp : NULL,
				&launch->env, error);
}

/* What the launcher needs beside the policy, to clean up; and the program, to ask. */
static int open_places(struct launch *launch, struct launch_error *error)
{
	const struct launch_place places[] = {
		{ launch->place.base, SBX_RIGHT_READ | SBX_RIGHT_WRITE, 1 << LAYER_LAUNCHER,
		  launch->stand.base },
		{ launch->place.registry, SBX_RIGHT_READ | SBX_RIGHT_WRITE, 1 << LAYER_LAUNCHER,
		  launch->stand.registry },
		{ launch->place.image, SBX_RIGHT_READ, 0, 0 },
	};

	if (!launch->abi)
		return 0;
	return launch_landlock_open(launch->image, launch->brokers ? &launch->hold : NULL, places,
				    3, &launch->landlock, error);
}

/* Private tmp where programs look for it who do not ask. */
static int mount_tmp(struct launch *launch, bool limited, struct launch_error *error)
{
	const struct launch_stand_with with = { .policy = launch->image,
						.argv = (const char *const *)launch->options.argv,
						.user = &launch->user,
						.memory = launch->limits.memory,
						.limited = limited };

	if (!launch_stand_any(launch->image))
		return 0;
	return launch_stand_mount(&with, &launch->place, &launch->stand, error);
}

/* Nobody will refuse what an argument names there: it is just not to be found. */
static void name_unseen(const struct launch *launch)
{
	char *const *argv = launch->options.argv;

	for (size_t i = 1; launch->options.voice >= VOICE_NORMAL && argv[0] && argv[i]; i++) {
		const char *place = launch_stand_over(launch->image, argv[i]);

		if (place && strcmp(place, argv[i]) != 0 && access(argv[i], F_OK) == 0)
			launch_complain("'%s' is not there for the program: private tmp is in the "
					"place of %s (read or write in [paths] brings it back)",
					argv[i], place);
	}
}

static int make_run(struct launch *launch)
{
	struct launch_error error;
	uint64_t disk;

	if (launch_limits_read(launch->image, &launch->limits, &error) < 0 ||
	    launch_filter_wishes(launch->image, &launch->wishes, &error) < 0 ||
	    settle_workdir(launch, &error) < 0 || launch_plan_make(launch, &error) < 0 ||
	    open_log(launch, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if (launch->enforced)
		launch_preload_choose(launch);
	if (launch->options.dry_run)
		return 0;
	name_unseen(launch);
	(void)launch_private_sweep();
	disk = launch->enforced ? sbx_setting(launch->image, SBX_KEY_limits_disk)->value : 0;
	if (disk && launch_private_limit(disk, launch->user.foreign, &launch->place, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if (launch_private_fill(launch->image, (const char *const *)launch->options.argv,
				launch->user.uid, launch->user.gid, &launch->place, &error) < 0 ||
	    mount_tmp(launch, disk, &error) < 0 || build_env(launch, &error) < 0 ||
	    (launch->enforced && launch_preload_add(launch, &error) < 0) ||
	    open_places(launch, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	return 0;
}

/* A wrapper that is met inside a sandbox does not nest: the tool runs as if it were not there. */
static int pass_on(const struct launch *launch)
{
	struct launch_error error;
	int code;

	launch_command_exec(&launch->command, launch->command.file, launch->options.argv, environ);
	code = errno;
	(void)launch_fail(&error, code, "cannot execute '%s': %s%s", launch->command.file,
			  strerror(code),
			  code == EACCES ? " (sbx-policy check exec says what is allowed)" : "");
	return fail(&error, code == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
}

static int usage(const char *text)
{
	launch_complain("%s (see sbx-launch --help)", text);
	return EXIT_USAGE;
}

int launch_prepare(struct launch *launch, int count, char **args)
{
	struct launch_error error;
	int failed, status;

	launch->log_fd = -1;
	if (launch_options_init(&launch->options, count, args, &error) < 0)
		return usage(error.text);
	if (launch->options.output && !launch->options.wrap)
		return usage("-o needs --wrap");
	if (launch->options.clean && !launch->options.doctor)
		return usage("--clean needs --doctor");
	if (launch->options.help || launch->options.version || launch->options.doctor ||
	    launch->options.wrap)
		return 0;
	if (!launch->options.argv)
		return usage("no command was given");
	if (check_kept(launch, &error) < 0)
		return fail(&error, EXIT_USAGE);
	failed = launch_command_find(launch->options.argv[0], launch->options.wrapped,
				     &launch->command, &error);
	if (failed < 0)
		return fail(&error, failed == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
	if (launch->options.wrapped && launch_wrap_is_inside())
		return pass_on(launch);
	if (allow_command(launch) < 0)
		return fail(&(struct launch_error){ "out of memory" }, EXIT_LAUNCH);
	status = load_for_user(launch);
	return status ? status : make_run(launch);
}
