/* SPDX-License-Identifier: MIT */
/*
 * Finds the command as a shell would, and reads its first line as the kernel will. Decides nothing:
 * what may be executed is for the policy to say, which gets the files found here as if they stood
 * on the command line.
 */
#include "command.h"

#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_KERNEL 256 /* BINPRM_BUF_SIZE: the kernel reads no more of a first line */
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"

/* 0, or why the file cannot be executed. */
static int try_file(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0) /* a folder that we may not search might as well be empty */
		return errno == EACCES ? -ENOENT : -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* An empty part of PATH is the current directory, as ever. */
static int join(char out[PATH_MAX], const char *dir, size_t len, const char *name)
{
	char cwd[PATH_MAX] = "";
	int made;

	if (len == 0 || dir[0] != '/')
		if (!getcwd(cwd, sizeof(cwd)))
			return -errno;
	made = snprintf(out, PATH_MAX, "%s%s%.*s%s%s", cwd, *cwd && len ? "/" : "", (int)len, dir,
			*cwd || len > 1 || dir[0] != '/' ? "/" : "", name);
	return made < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;

	return other && stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* The first file of that name that can be executed; else the first obstacle that is not absence. */
static int search(const char *name, const char *past, char out[PATH_MAX])
{
	const char *path = getenv("PATH");
	int result = -ENOENT;

	if (!path)
		path = DEFAULT_PATH;
	for (;;) {
		size_t len = strcspn(path, ":");
		int found = join(out, path, len, name);

		if (found == 0)
			found = try_file(out);
		if (found == 0 && (is_same_file(out, past) || sbx_program_is_wrapper(out)))
			found = -ENOENT;
		if (found == 0)
			return 0;
		if (result == -ENOENT && found != -ENOTDIR)
			result = found;
		path += len;
		if (!*path++)
			return result;
	}
}

static int find_file(const char *name, const char *past, char out[PATH_MAX])
{
	int result;

	if (!strchr(name, '/'))
		return *name ? search(name, past, out) : -ENOENT;
	result = join(out, name[0] == '/' ? "/" : "", name[0] == '/', name + (name[0] == '/'));
	return result ? result : try_file(out);
}

/* The next word of a "#!" line, or NULL; the kernel itself splits at most once, env -S does more. */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t");

	*line = word + strcspn(word, " \t");
	if (**line)
		*(*line)++ = '\0';
	return *word ? word : NULL;
}

/* The program that "#!/usr/bin/env [-S] [NAME=VALUE]... X" names. */
static const char *behind_env(char *rest)
{
	char *word;

	while ((word = next_word(&rest)))
		if (word[0] != '-' && !strchr(word, '='))
			return word;
	return NULL;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool take_interpreter(struct launch_command *command, const char *name)
{
	char found[PATH_MAX];

	if (command->interpreter_count == LAUNCH_INTERPRETERS ||
	    find_file(name, command->past, found) != 0 ||
	    !realpath(found, command->interpreters[command->interpreter_count]))
		return false;
	command->interpreter_count++;
	return true;
}

/* How many bytes of the file's beginning there are; a file that cannot be read has none to show. */
static size_t read_start(const char *path, char start[LINE_MAX_KERNEL + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t got = fd < 0 ? 0 : read(fd, start, LINE_MAX_KERNEL);

	if (fd >= 0)
		(void)close(fd);
	start[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* The interpreter of 'path', and of that one in turn; an interpreter may be a script too. */
static void follow_lines(struct launch_command *command, const char *path)
{
	char start[LINE_MAX_KERNEL + 1], *line = start + 2, *word;
	const char *behind;
	size_t len = read_start(path, start);

	if (len < 2 || start[0] != '#' || start[1] != '!') {
		command->plain_script = path == command->real && len > 0 &&
					memcmp(start, "\177ELF", len < 4 ? len : 4) != 0;
		return;
	}
	line[strcspn(line, "\n")] = '\0';
	word = next_word(&line);
	if (!word || !take_interpreter(command, word))
		return;
	if (strcmp(base_name(word), "env") == 0 && (behind = behind_env(line)))
		(void)take_interpreter(command, behind);
	if (command->interpreter_count < LAUNCH_INTERPRETERS)
		follow_lines(command, command->interpreters[command->interpreter_count - 1]);
}

static const char *choose_profile(const struct launch_command *command, const char *name)
{
	if (sbx_program_profile(name) || command->interpreter_count == 0)
		return name;
	return command->interpreters[command->interpreter_count - 1];
}

static int complain(const char *name, const char *past, int code, struct launch_error *error)
{
	if (code == ENOENT && !strchr(name, '/') && past)
		return launch_fail(error, code,
				   "'%s' was not found in PATH behind its wrapper '%s'", name,
				   past);
	if (code == ENOENT && !strchr(name, '/'))
		return launch_fail(error, code, "'%s' was not found in PATH", name);
	if (code == ENOENT || code == ENOTDIR)
		return launch_fail(error, ENOENT, "'%s' was not found", name);
	if (code == EISDIR)
		return launch_fail(error, code, "cannot execute '%s': it is a folder", name);
	if (code == EACCES)
		return launch_fail(error, code,
				   "cannot execute '%s': it is not marked as a program (chmod +x?)",
				   name);
	return launch_fail(error, code, "cannot execute '%s': %s", name, strerror(code));
}

int launch_command_find(const char *name, const char *past, struct launch_command *command,
			struct launch_error *error)
{
	int result = find_file(name, past, command->file);

	if (result < 0)
		return complain(name, past, -result, error);
	if (!realpath(command->file, command->real))
		return complain(name, past, errno, error);
	command->past = past;
	command->interpreter_count = 0;
	command->plain_script = false;
	follow_lines(command, command->real);
	if (command->plain_script)
		(void)take_interpreter(command, "/bin/sh");
	command->profile_of = choose_profile(command, name);
	return 0;
}

void launch_command_exec(const struct launch_command *command, const char *file, char *const *argv,
			 char *const *env)
{
	const char *words[LAUNCH_SHELL_WORDS + 3] = { argv[0], file };
	size_t count = 0;

	(void)execve(file, argv, env);
	if (errno != ENOEXEC || !command->plain_script)
		return;
	while (argv[count])
		count++;
	if (count > LAUNCH_SHELL_WORDS) {
		errno = E2BIG;
		return;
	}
	for (size_t i = 1; i <= count; i++)
		words[i + 1] = argv[i];
	(void)execve("/bin/sh", (char *const *)words, env);
}
