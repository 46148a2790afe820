/* SPDX-License-Identifier: MIT */
/*
 * Finds the command as a shell would, and reads its first line as the kernel will. Decides nothing:
 * what may be executed is for the policy to say, which gets the files found here as if they stood
 * on the command line.
 */
#include "command.h"

#include "contract.h"

#include "programs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Shells take a name that leads nowhere, or is too long for a file, for one that is not there. */
static bool is_absence(int found)
{
	return found == -ENOENT || found == -ENOTDIR || found == -ELOOP || found == -ENAMETOOLONG;
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
		if (result == -ENOENT && !is_absence(found))
			result = found;
		path += len;
		if (!*path++)
			return result;
	}
}

/* The file that the name is the path of, from the current directory. */
static int find_path(const char *name, char out[PATH_MAX])
{
	bool absolute = name[0] == '/';
	int result = join(out, absolute ? "/" : "", absolute, name + absolute);

	return result ? result : try_file(out);
}

static int find_file(const char *name, const char *past, char out[PATH_MAX])
{
	if (strchr(name, '/'))
		return find_path(name, out);
	return *name ? search(name, past, out) : -ENOENT;
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

/* What follows an option of env, whose value may be a word of its own; -S may have its first. */
static char *behind_option(char *word, char **rest)
{
	static const char split[] = "--split-string=";
	char *takes = word[1] == '-' ? NULL : strpbrk(word, "SuCa");

	if (strncmp(word, split, sizeof(split) - 1) == 0)
		return word + sizeof(split) - 1;
	if (takes && takes[0] == 'S' && takes[1])
		return takes + 1;
	if ((takes && takes[0] != 'S' && !takes[1]) || strcmp(word, "--unset") == 0 ||
	    strcmp(word, "--chdir") == 0 || strcmp(word, "--argv0") == 0)
		(void)next_word(rest);
	return next_word(rest);
}

/* The program that "#!/usr/bin/env [-S] [OPTION]... [NAME=VALUE]... X" names. */
static const char *behind_env(char *rest)
{
	char *word = next_word(&rest);

	while (word && (word[0] == '-' || strchr(word, '=')))
		word = word[0] == '-' ? behind_option(word, &rest) : next_word(&rest);
	return word;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Only env looks into PATH: to the kernel "#!node" is a file of the current directory. */
static bool take_interpreter(struct launch_command *command, const char *name, bool by_env)
{
	char found[PATH_MAX];

	if (command->interpreter_count == LAUNCH_INTERPRETERS ||
	    (by_env ? find_file(name, command->past, found) : find_path(name, found)) != 0 ||
	    !realpath(found, command->interpreters[command->interpreter_count]))
		return false;
	command->interpreter_count++;
	return true;
}

/* How many bytes of the file's beginning there are, or -1: it cannot be read. */
static ssize_t read_start(const char *path, char start[LINE_MAX_KERNEL + 1])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, start, LINE_MAX_KERNEL);

	if (fd >= 0)
		(void)close(fd);
	start[got > 0 ? got : 0] = '\0';
	return got;
}

/* What "#!" names, or NULL; to the kernel a path that its buffer may have cut is none. */
static char *first_word(char *start, ssize_t len, char **rest)
{
	bool whole = len < LINE_MAX_KERNEL || memchr(start, '\n', LINE_MAX_KERNEL);
	char *word;

	if (len < 2 || start[0] != '#' || start[1] != '!')
		return NULL;
	*rest = start + 2;
	(*rest)[strcspn(*rest, "\n")] = '\0';
	word = next_word(rest);
	return word && (whole || word + strlen(word) < start + len) ? word : NULL;
}

/* No program and no line for the kernel. An empty file is a script too, which does nothing. */
static bool is_plain(const char *start, ssize_t len)
{
	return len == 0 || (len > 0 && memcmp(start, "\177ELF", len < 4 ? (size_t)len : 4) != 0);
}

/* The interpreter of 'path', and of that one in turn; an interpreter may be a script too. */
static void follow_lines(struct launch_command *command, const char *path)
{
	char start[LINE_MAX_KERNEL + 1], *line, *word;
	const char *behind;
	ssize_t len = read_start(path, start);

	word = first_word(start, len, &line);
	if (!word)
		command->plain_script = path == command->real && is_plain(start, len);
	if (!word || !take_interpreter(command, word, false))
		return;
	if (strcmp(base_name(word), "env") == 0 && (behind = behind_env(line)))
		(void)take_interpreter(command, behind, true);
	if (command->interpreter_count < LAUNCH_INTERPRETERS)
		follow_lines(command, command->interpreters[command->interpreter_count - 1]);
}

/* The command's own, else that of the first interpreter that has one: a version manager's come last. */
static const char *choose_profile(const struct launch_command *command, const char *name)
{
	for (size_t i = 0; !sbx_program_profile(name) && i < command->interpreter_count; i++)
		if (sbx_program_profile(command->interpreters[i]))
			return command->interpreters[i];
	return name;
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
		(void)take_interpreter(command, "/bin/sh", false);
	command->profile_of = choose_profile(command, name);
	return 0;
}

/* Nobody is asked about the command; but if it is refused all the same, the reason is to be told. */
static void vouched_exec(const char *file, char *const *argv, char *const *env)
{
	(void)syscall(SYS_execve, file, argv, env, 0, 0, SBX_VOUCHER);
	if (errno == EACCES)
		(void)syscall(SYS_execve, file, argv, env, 0, 0, SBX_ASK);
}

void launch_command_exec(const struct launch_command *command, const char *file, char *const *argv,
			 char *const *env)
{
	const char *words[LAUNCH_SHELL_WORDS + 3] = { argv[0], file };
	size_t count = 0;

	vouched_exec(file, argv, env);
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
	vouched_exec("/bin/sh", (char *const *)words, env);
}
