/* SPDX-License-Identifier: MIT */
/*
 * The command, and how results are told. See probe.h.
 */
#include "probe.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNTOUCHED ENOANO /* what errno is before: no call here fails with it */
#define WORDS 24
#define STORM 200 /* calls */

static const char *error_name(int error)
{
	static const struct {
		int error;
		const char *name;
	} names[] = {
#define NAME(error) { error, #error }
		NAME(EPERM),	     NAME(ENOENT),	NAME(EINTR),	    NAME(EIO),
		NAME(ENXIO),	     NAME(E2BIG),	NAME(ENOEXEC),	    NAME(EBADF),
		NAME(ECHILD),	     NAME(EAGAIN),	NAME(ENOMEM),	    NAME(EACCES),
		NAME(EFAULT),	     NAME(EBUSY),	NAME(EEXIST),	    NAME(EXDEV),
		NAME(ENODEV),	     NAME(ENOTDIR),	NAME(EISDIR),	    NAME(EINVAL),
		NAME(ENFILE),	     NAME(EMFILE),	NAME(ENOTTY),	    NAME(ETXTBSY),
		NAME(EFBIG),	     NAME(ENOSPC),	NAME(ESPIPE),	    NAME(EROFS),
		NAME(EMLINK),	     NAME(EPIPE),	NAME(ENAMETOOLONG), NAME(ENOSYS),
		NAME(ENOTEMPTY),     NAME(ELOOP),	NAME(EOVERFLOW),    NAME(ENOTSOCK),
		NAME(EPROTOTYPE),    NAME(EOPNOTSUPP),	NAME(EAFNOSUPPORT), NAME(EADDRINUSE),
		NAME(EADDRNOTAVAIL), NAME(ENETUNREACH), NAME(ECONNREFUSED), NAME(EINPROGRESS),
		NAME(EISCONN),	     NAME(ENOTCONN),	NAME(EALREADY),	    NAME(ESTALE),
		NAME(EDESTADDRREQ),  NAME(ETIMEDOUT),
#undef NAME
	};
	static char number[16];

	if (error == UNTOUCHED)
		return "-";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].error == error)
			return names[i].name;
	snprintf(number, sizeof(number), "%d", error);
	return number;
}

/* One write for a line: children and their parent share the output. */
static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	char line[512];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (length > 0 && write(1, line, (size_t)length) != length)
		_exit(3);
}

static void tell(const char *prefix, const struct probe_call *call, long result, int error)
{
	struct stat state;
	int fd = (int)result;

	if (call->kind == KIND_ERROR)
		say("%s%s = %ld %s\n", prefix, call->name, result,
		    result > 0 ? error_name((int)result) : "-");
	else if (call->kind == KIND_POINTER)
		say("%s%s = %s %s\n", prefix, call->name, result ? "pointer" : "NULL",
		    error_name(error));
	else if (call->kind == KIND_OPEN && fd >= 0 && !fstat(fd, &state))
		say("%s%s = %ld %s flags %#x, %s, mode %o, %lld bytes\n", prefix, call->name,
		    result, error_name(error), (unsigned)fcntl(fd, F_GETFL),
		    fcntl(fd, F_GETFD) & FD_CLOEXEC ? "cloexec" : "inherited",
		    (unsigned)state.st_mode,
		    S_ISREG(state.st_mode) ? (long long)state.st_size : 0LL);
	else
		say("%s%s = %ld %s\n", prefix, call->name, result, error_name(error));
}

static long make_often(const struct probe_call *call, enum probe_mode mode, const long *args)
{
	long result, first = 0;
	int first_error = 0;

	for (int i = 0; i < STORM; i++) {
		errno = UNTOUCHED;
		result = probe_call_make(call, mode, args);
		if (!i) {
			first = result;
			first_error = errno;
		}
		if (result != first || errno != first_error)
			return result;
		if (call->kind == KIND_OPEN && result >= 0 && i < STORM - 1)
			close((int)result);
	}
	return result;
}

static int make_call(const char *prefix, enum probe_mode mode, char *const *words)
{
	long args[PROBE_ARGS] = { 0 }, result;
	const struct probe_call *call;
	bool often = false;

	for (; *words && **words == '+'; words++) {
		often |= !strcmp(*words, "+storm");
		if (!probe_setup(*words)) {
			say("%scannot set up %s: %s\n", prefix, *words, error_name(errno));
			return 2;
		}
	}
	call = *words ? probe_call_find(*words) : NULL;
	if (!call || !probe_words(call->words, words + 1, args)) {
		say("%sno such call, or not such words: %s\n", prefix, *words ? *words : "");
		return 2;
	}
	if (mode != MODE_LIBC && call->number < 0)
		return 0;
	errno = UNTOUCHED;
	result = (often ? make_often : probe_call_make)(call, mode, args);
	tell(prefix, call, result, call->kind == KIND_REMOVE && !result ? UNTOUCHED : errno);
	return 0;
}

/* Cuts a line into words, which end with NULL. */
static void cut(char *line, char **words)
{
	size_t count = 0;

	line[strcspn(line, "\n")] = '\0';
	for (line += strspn(line, " "); *line && count < WORDS - 1; line += strspn(line, " ")) {
		words[count++] = line;
		line += strcspn(line, " ");
		if (*line)
			*line++ = '\0';
	}
	words[count] = NULL;
}

static void in_child(unsigned number, const char *folder, enum probe_mode mode, char *const *words)
{
	char prefix[16];
	int status = 0;
	pid_t pid = fork();

	snprintf(prefix, sizeof(prefix), "%04u ", number);
	if (!pid) {
		/* What a setup or a call leaves open, and buffers of the parent, end here. */
		_exit(chdir(folder) ? 4 : make_call(prefix, mode, words));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		say("%sno child: %s\n", prefix, error_name(errno));
	else if (WIFSIGNALED(status))
		say("%sended by signal %d\n", prefix, WTERMSIG(status));
	else if (WEXITSTATUS(status))
		say("%sexit status %d\n", prefix, WEXITSTATUS(status));
}

static bool build_in(const char *folder, int back, char *const *words)
{
	return !mkdir(folder, 0755) && !chdir(folder) && probe_tree(words) && !fchdir(back);
}

static int each_line(const char *top, bool builds, enum probe_mode mode)
{
	char line[1024], folder[512], *words[WORDS];
	int back;

	/* Numbers of new descriptors are compared: nothing that we inherit counts. */
	for (int fd = 3; fd < 256; fd++)
		close(fd);
	back = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned number = 1; fgets(line, sizeof(line), stdin); number++) {
		snprintf(folder, sizeof(folder), "%s/%04u", top, number);
		cut(line, words);
		if (!builds) {
			in_child(number, folder, mode, words);
		} else if (!build_in(folder, back, words)) {
			perror(folder);
			return 1;
		}
	}
	return 0;
}

static bool mode_of(const char *name, enum probe_mode *mode)
{
	static const char *const names[] = { "libc", "syscall", "raw" };

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(names[i], name)) {
			*mode = (enum probe_mode)i;
			return true;
		}
	return false;
}

int main(int argc, char **argv)
{
	enum probe_mode mode = MODE_LIBC;
	char **words = argv + 1;

	umask(022);
	if (argc > 2 && !strcmp(*words, "-m")) {
		if (!mode_of(words[1], &mode)) {
			fprintf(stderr, "probe: no mode '%s'\n", words[1]);
			return 2;
		}
		words += 2;
	}
	if (words[0] && words[1] && !words[2] && !strcmp(words[0], "build"))
		return each_line(words[1], true, mode);
	if (words[0] && words[1] && !words[2] && !strcmp(words[0], "run"))
		return each_line(words[1], false, mode);
	return make_call("", mode, words);
}
