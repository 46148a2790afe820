/* SPDX-License-Identifier: MIT */
/*
 * The names that a case may use, and how each is made. A folder gets only what its line names, so
 * that thousands of them cost little.
 */
#include "probe.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define OTHER 65534 /* who owns what is not ours, where we can give it away */

enum type {
	FOLDER,
	REGULAR,
	LINK,
	HARD,
	PIPE,
	SOCKET
};

static const struct row {
	const char *path; /* rows of one first component are made together */
	enum type type;
	mode_t mode;
	const char *text; /* contents, or where a link leads */
	bool foreign;
} rows[] = {
	{ "f", REGULAR, 0644, "some text\n", false },
	{ "g", REGULAR, 0600, "another text\n", false },
	{ "f0", REGULAR, 0000, "nobody reads this\n", false },
	{ "f4", REGULAR, 0444, "read only\n", false },
	{ "f2", REGULAR, 0222, "write only\n", false },
	{ "d", FOLDER, 0755, NULL, false },
	{ "d/in", REGULAR, 0644, "inside\n", false },
	{ "d/sub", FOLDER, 0755, NULL, false },
	{ "e", FOLDER, 0755, NULL, false },
	{ "e2", FOLDER, 0700, NULL, false },
	{ "d0", FOLDER, 0000, NULL, false },
	{ "d0/f", REGULAR, 0644, "in a closed folder\n", false },
	{ "dx", FOLDER, 0311, NULL, false },
	{ "dx/f", REGULAR, 0644, "in a folder that cannot be listed\n", false },
	{ "dr", FOLDER, 0444, NULL, false },
	{ "dr/f", REGULAR, 0644, "in a folder that can only be listed\n", false },
	{ "dro", FOLDER, 0555, NULL, false },
	{ "dro/f", REGULAR, 0644, "in a folder that cannot be changed\n", false },
	{ "dro/e", FOLDER, 0755, NULL, false },
	{ "st", FOLDER, 01777, NULL, true },
	{ "st/f", REGULAR, 0666, "somebody's, in a sticky folder\n", true },
	{ "st/e", FOLDER, 0777, NULL, true },
	{ "st/own", REGULAR, 0644, "ours, in a sticky folder\n", false },
	{ "other", REGULAR, 0600, "somebody's\n", true },
	{ "h", HARD, 0, "f", false },
	{ "lf", LINK, 0, "f", false },
	{ "ld", LINK, 0, "d", false },
	{ "le", LINK, 0, "e", false },
	{ "lx", LINK, 0, "nowhere", false },
	{ "lp", LINK, 0, "no/where", false },
	{ "lprog", LINK, 0, "prog", false },
	{ "lnull", LINK, 0, "/dev/null", false },
	{ "lself", LINK, 0, "/proc/self/cwd", false },
	{ "l0", LINK, 0, "d0/f", false },
	{ "loop", LINK, 0, "loop", false },
	{ "ring", LINK, 0, "gnir", false },
	{ "gnir", LINK, 0, "ring", false },
	{ "pipe", PIPE, 0644, NULL, false },
	{ "sock", SOCKET, 0, NULL, false },
	{ "prog", REGULAR, 0755, "#!/bin/sh\nexit 7\n", false },
	{ "noexec", REGULAR, 0644, "#!/bin/sh\nexit 7\n", false },
	{ "xonly", REGULAR, 0111, "#!/bin/sh\nexit 7\n", false },
	{ "noint", REGULAR, 0755, "#!/nonexistent/interpreter\n", false },
	{ "dirint", REGULAR, 0755, "#!/etc\n", false },
	{ "fint", REGULAR, 0755, "#!/etc/passwd\n", false },
	{ "selfint", REGULAR, 0755, "#!./selfint\n", false },
	{ "plain", REGULAR, 0755, "exit 7\n", false },
	{ "void", REGULAR, 0755, "", false },
	{ "notelf", REGULAR, 0755, "\177ELF and no more", false },
	{ "lfalse", LINK, 0, "/bin/false", false },
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

static size_t first_length(const char *path)
{
	return strcspn(path, "/");
}

static bool same_first(const char *a, const char *b)
{
	return first_length(a) == first_length(b) && !strncmp(a, b, first_length(a));
}

static bool make_file(const struct row *row)
{
	int fd = open(row->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t length = strlen(row->text);
	bool good = fd >= 0 && write(fd, row->text, length) == (ssize_t)length;

	if (fd >= 0)
		close(fd);
	return good;
}

static bool make_socket(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good;

	memcpy(address.sun_path, path, strlen(path));
	good = fd >= 0 && !bind(fd, (struct sockaddr *)&address, sizeof(address));
	if (fd >= 0)
		close(fd);
	return good;
}

static bool make(const struct row *row)
{
	switch (row->type) {
	case FOLDER:
		return !mkdir(row->path, 0700);
	case REGULAR:
		return make_file(row);
	case LINK:
		return !symlink(row->text, row->path);
	case HARD:
		return !link(row->text, row->path);
	case PIPE:
		return !mkfifo(row->path, 0600);
	case SOCKET:
		return make_socket(row->path);
	}
	return false;
}

/* Modes and owners come last, and from the inside out: they close folders. */
static bool dress(const struct row *row)
{
	bool has_mode = row->type == FOLDER || row->type == REGULAR || row->type == PIPE;

	if (row->foreign && !geteuid() && lchown(row->path, OTHER, OTHER))
		return false;
	return !has_mode || !chmod(row->path, row->mode);
}

/* All rows of one first component, once, and what links lead to. */
static bool build(const char *path)
{
	char first[64];
	struct stat state;

	if (first_length(path) >= sizeof(first))
		return true;
	memcpy(first, path, first_length(path));
	first[first_length(path)] = '\0';
	if (!lstat(first, &state))
		return true;
	for (size_t i = 0; i < ROWS; i++) {
		const struct row *row = &rows[i];

		if (!same_first(row->path, first))
			continue;
		if (row->type == HARD && !build(row->text))
			return false;
		if (!make(row) || (row->type == LINK && !build(row->text)))
			return false;
	}
	for (size_t i = ROWS; i-- > 0;)
		if (same_first(rows[i].path, first) && !dress(&rows[i]))
			return false;
	return true;
}

const char *probe_path_of(const char *word)
{
	const char *colon = strrchr(word, ':');

	return colon ? colon + 1 : word;
}

bool probe_tree(char *const *words)
{
	for (; *words; words++) {
		const char *path = probe_path_of(*words);

		while (!strncmp(path, "./", 2))
			path += 2;
		if (*path && !build(path)) {
			perror(*words);
			return false;
		}
	}
	return true;
}
