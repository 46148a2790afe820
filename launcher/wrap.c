/* SPDX-License-Identifier: MIT */
/*
 * Writes wrappers. A wrapper has two lines, a first one for sh and
 *
 *	exec '/usr/bin/sbx-launch' --wrapped "$0" -p '/home/me/git.ini' -- 'git' "$@"
 *
 * It is there whole or not at all, and replaces nothing but another wrapper. All in it is quoted
 * for sh, and policies are named from the root: what a wrapper does must not depend on where it is
 * called, but for the paths that --workspace and its like name.
 */
#include "wrap.h"

#include "command.h"
#include "programs.h"
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MODE 0755

static int fail(const struct launch_error *error, int status)
{
	launch_complain("%s", error->text);
	return status;
}

/* For sh, nothing between two quotes means anything; a quote itself ends, is said, and begins. */
static void put_inside(FILE *to, const char *word)
{
	for (; *word; word++) {
		if (*word == '\'')
			(void)fputs("'\\''", to);
		else
			(void)fputc(*word, to);
	}
}

static void put_word(FILE *to, const char *word)
{
	(void)fputc('\'', to);
	put_inside(to, word);
	(void)fputs("' ", to);
}

/* Begins at the root, and leads through the same links: they may change, and so the policy. */
static int put_policy(FILE *to, const char *file, struct launch_error *error)
{
	char cwd[PATH_MAX] = "", *path;

	if (strcmp(file, "-") == 0)
		return launch_fail(
			error, EINVAL,
			"-p -: standard input belongs to the wrapped tool (name a file)");
	if (access(file, R_OK) < 0)
		return launch_fail(error, errno, "cannot read the policy '%s': %s", file,
				   strerror(errno));
	if (file[0] != '/' && !getcwd(cwd, sizeof(cwd)))
		return launch_fail(error, errno, "cannot tell the current directory: %s",
				   strerror(errno));
	if (asprintf(&path, "%s%s%s", cwd, *cwd && strcmp(cwd, "/") != 0 ? "/" : "", file) < 0)
		return launch_fail(error, ENOMEM, "out of memory");
	(void)fputs("-p ", to);
	put_word(to, path);
	free(path);
	return 0;
}

/* A file that is another one in every folder must not become part of the policy. */
static int check_includes(const struct launch_options *options, struct launch_error *error)
{
	for (size_t i = 0; i < options->load.option_count; i++) {
		const struct sbx_assign *setting = &options->load.options[i];
		const char *item = setting->value;

		if (strcmp(setting->key, "include") != 0)
			continue;
		while (*item) {
			size_t len;

			item += strspn(item, " \t\"");
			len = strcspn(item, ",");
			if (!strchr("/~$", *item) &&
			    (memchr(item, '/', len) || memmem(item, len, ".ini", 4)))
				return launch_fail(
					error, EINVAL,
					"--include '%.*s' would be another file in every "
					"folder (name it from the root)",
					(int)len, item);
			item += len + (item[len] == ',');
		}
	}
	return 0;
}

static int put_wrapper(FILE *to, const struct launch_options *options, struct launch_error *error)
{
	char self[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int failed = check_includes(options, error);

	if (failed < 0)
		return failed;
	self[len > 0 ? len : 0] = '\0';
	if (access(self, X_OK) < 0)
		return launch_fail(error, errno, "cannot tell where sbx-launch itself is");
	(void)fputs(SBX_WRAPPER_START, to);
	put_inside(to, self);
	(void)fputs(SBX_WRAPPER_MARK, to);
	for (size_t i = 0; !failed && i < options->load.file_count; i++)
		failed = put_policy(to, options->load.files[i], error);
	if (failed < 0)
		return failed;
	if (launch_options_write(options, put_word, to) < 0)
		return launch_fail(error, ENOMEM, "out of memory");
	(void)fputs("-- ", to);
	put_word(to, options->wrap);
	(void)fputs("\"$@\"\n", to);
	return 0;
}

static int make_text(const struct launch_options *options, char **text, struct launch_error *error)
{
	size_t size;
	FILE *to = open_memstream(text, &size);
	int failed;

	if (!to)
		return launch_fail(error, ENOMEM, "out of memory");
	failed = put_wrapper(to, options, error);
	if (fclose(to) != 0 && !failed)
		failed = launch_fail(error, ENOMEM, "out of memory");
	if (failed) {
		free(*text);
		*text = NULL;
	}
	return failed;
}

static bool write_all(int fd, const char *text)
{
	for (size_t left = strlen(text); left;) {
		ssize_t done = write(fd, text, left);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		text += done;
		left -= (size_t)done;
	}
	return true;
}

/* Over a wrapper, or where nothing is. */
static int put_in_place(const char *from, const char *to, struct launch_error *error)
{
	struct stat st;
	bool taken = lstat(to, &st) == 0;

	if (taken && (!S_ISREG(st.st_mode) || !sbx_program_is_wrapper(to)))
		return launch_fail(error, EEXIST,
				   "'%s' is there already, and is no wrapper (remove it, or choose "
				   "another folder)",
				   to);
	if (!taken && renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	/* EINVAL: this file system knows only the plain one. */
	if ((taken || errno == EINVAL) && rename(from, to) == 0)
		return 0;
	return launch_fail(error, errno, "cannot write '%s': %s", to, strerror(errno));
}

static int write_wrapper(const char *path, const char *text, struct launch_error *error)
{
	char *name;
	int fd, failed = 0;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return launch_fail(error, ENOMEM, "out of memory");
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0) {
		failed = launch_fail(error, errno, "cannot write '%s': %s", path, strerror(errno));
		free(name);
		return failed;
	}
	if (!write_all(fd, text) || fchmod(fd, MODE) < 0)
		failed = launch_fail(error, errno, "cannot write '%s': %s", path, strerror(errno));
	(void)close(fd);
	if (!failed)
		failed = put_in_place(name, path, error);
	if (failed)
		(void)unlink(name);
	free(name);
	return failed;
}

static bool is_folder(const char *path, struct stat *st)
{
	return stat(path, st) == 0 && S_ISDIR(st->st_mode);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* A wrapper that nobody meets is worse than none. */
static void warn_of_path(const char *folder, const char *tool)
{
	const char *path = getenv("PATH"), *slash = strrchr(tool, '/');
	struct stat ours, its, here;
	char part[PATH_MAX];
	bool behind = false;

	(void)snprintf(part, sizeof(part), "%.*s/", (int)(slash - tool), tool);
	if (!is_folder(folder, &ours) || !is_folder(part, &its))
		return;
	for (size_t len; path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		if (snprintf(part, sizeof(part), "%.*s", (int)len, path) >= PATH_MAX ||
		    !is_folder(len ? part : ".", &here))
			continue;
		if (is_same(&here, &ours)) {
			if (behind)
				launch_complain(
					"warning: PATH leads to '%s' first (put '%s' before "
					"it)",
					tool, folder);
			return;
		}
		behind |= is_same(&here, &its);
	}
	launch_complain("warning: '%s' is not in PATH, so nobody meets the wrapper (put it there, "
			"before '%s')",
			folder, tool);
}

static int check(const struct launch_options *options, struct launch_command *tool)
{
	struct launch_error error;
	struct stat st;
	int failed;

	if (options->argv || !options->output || !*options->wrap || strchr(options->wrap, '/')) {
		launch_complain("%s (see sbx-launch --help)",
				options->argv	   ? "--wrap takes no command"
				: !options->output ? "--wrap needs -o and a folder"
						   : "--wrap takes the name of a tool in PATH");
		return EXIT_USAGE;
	}
	if (!is_folder(options->output, &st)) {
		launch_complain("'%s' is not a folder (-o names where wrappers are kept)",
				options->output);
		return EXIT_LAUNCH;
	}
	failed = launch_command_find(options->wrap, NULL, tool, &error);
	if (failed < 0)
		return fail(&error, failed == -ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN);
	return 0;
}

int launch_wrap(const struct launch_options *options)
{
	static struct launch_command tool;
	struct launch_error error;
	char *text, *path;
	int status = check(options, &tool);

	if (status)
		return status;
	if (make_text(options, &text, &error) < 0)
		return fail(&error, EXIT_LAUNCH);
	if (options->dry_run) {
		(void)fputs(text, stdout);
		free(text);
		return 0;
	}
	if (asprintf(&path, "%s/%s", options->output, options->wrap) < 0)
		path = NULL;
	if (!path || write_wrapper(path, text, &error) < 0)
		status = path ? fail(&error, EXIT_LAUNCH) : EXIT_LAUNCH;
	else if (options->voice > VOICE_QUIET)
		warn_of_path(options->output, tool.file);
	free(text);
	free(path);
	return status;
}

/*
 * The filter answers before the kernel looks at anything: without it, an attribute of no file is
 * EFAULT. A program under it is under all the rest, which comes before it.
 */
static bool is_filtered(void)
{
	return syscall(SYS_getxattr, NULL, NULL, NULL, 0) < 0 && errno == EOPNOTSUPP;
}

bool launch_wrap_is_inside(void)
{
	struct sbx_policy *policy;

	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP) != 2 ||
	    !is_filtered() || sbx_load_running(&policy) < 0)
		return false;
	sbx_free(policy);
	return true;
}
