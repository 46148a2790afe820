/* SPDX-License-Identifier: MIT */
/*
 * Finds places with O_PATH and /proc/self/fd. Leaves no descriptor open.
 */
#include "place.h"

#include "call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define LINKS 16 /* dangling ones in a row */

const char *shim_fd_name(char out[SHIM_FD_NAME], int fd)
{
	static const char head[] = "/proc/self/fd/";
	char *at = out + SHIM_FD_NAME - 1;
	unsigned int number = (unsigned int)fd;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	at -= sizeof(head) - 1;
	memcpy(at, head, sizeof(head) - 1);
	return at;
}

static int open_path(int dir, const char *path, int flags)
{
	return (int)shim_quietly(SYS_openat, dir, (long)path, O_PATH | O_CLOEXEC | flags, 0, 0);
}

static void close_path(int fd)
{
	if (fd >= 0)
		(void)shim_raw(SYS_close, fd, 0, 0, 0, 0, 0);
}

static bool read_link(int dir, const char *path, char out[PATH_MAX])
{
	long len = shim_raw(SYS_readlinkat, dir, (long)path, (long)out, PATH_MAX - 1, 0, 0);

	if (len <= 0)
		return false;
	out[len] = '\0';
	return true;
}

static bool name_of(int fd, char out[PATH_MAX])
{
	char text[SHIM_FD_NAME];

	return read_link(AT_FDCWD, shim_fd_name(text, fd), out) && out[0] == '/';
}

static bool describe(struct shim_place *place, int fd)
{
	struct stat st = { 0 };

	if (!name_of(fd, place->path) || shim_raw(SYS_fstat, fd, (long)&st, 0, 0, 0, 0) < 0)
		return false;
	place->missing = false;
	place->is_dir = S_ISDIR(st.st_mode);
	place->size = S_ISREG(st.st_mode) ? st.st_size : -1;
	return true;
}

/* The last component, without the slashes behind it, and where it begins. */
static size_t last_part(const char *path, size_t *start)
{
	size_t end = strlen(path);

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (*start = end; *start > 0 && path[*start - 1] != '/';)
		--*start;
	return end - *start;
}

/* Opens the folder that the last component is missing in; 'path' is cut in between. */
static int open_parent(int dir, char *path, size_t start)
{
	char first = path[start];
	int fd;

	if (start == 0)
		return open_path(dir, ".", O_DIRECTORY);
	path[start] = '\0';
	fd = open_path(dir, path, O_DIRECTORY);
	path[start] = first;
	return fd;
}

/* Appends what is missing to the name of its folder. */
static bool describe_missing(struct shim_place *place, int parent, const char *name, size_t len)
{
	size_t at;

	if (!name_of(parent, place->path))
		return false;
	at = strlen(place->path);
	if (at + len + 2 > PATH_MAX)
		return false;
	if (at > 1)
		place->path[at++] = '/';
	memcpy(place->path + at, name, len);
	place->path[at + len] = '\0';
	place->missing = true;
	place->is_dir = false;
	place->size = -1;
	return true;
}

/* Goes on at the missing last component of place->link: 1 found, 0 a link led on, -1 nowhere. */
static int find_missing(struct shim_place *place, int *dir, bool follow)
{
	size_t start, len = last_part(place->link, &start);
	int parent = open_parent(*dir, place->link, start), found = -1;
	char *name = place->link + start;

	if (parent < 0)
		return -1;
	name[len] = '\0';
	if (len && describe_missing(place, parent, name, len))
		found = 1;
	/* A link that leads to what is missing: there it would be made. */
	if (found > 0 && follow && read_link(parent, name, place->link))
		found = 0;
	if (found)
		close_path(parent);
	else
		*dir = parent;
	return found;
}

static bool find_here(struct shim_place *place, int dir, bool follow)
{
	int at = dir, found = 0;

	for (int i = 0; i < LINKS && !found; i++) {
		int before = at, fd = open_path(at, place->link, follow ? 0 : O_NOFOLLOW);

		if (fd >= 0)
			found = describe(place, fd) ? 1 : -1;
		else
			found = fd == -ENOENT ? find_missing(place, &at, follow) : -1;
		close_path(fd);
		if (before != dir)
			close_path(before);
	}
	if (!found && at != dir)
		close_path(at);
	return found > 0;
}

bool shim_place_find(struct shim_place *place, int dir, const char *path, bool follow)
{
	size_t len = strlen(path);

	if (len == 0)
		return dir != AT_FDCWD && describe(place, dir);
	if (len >= PATH_MAX)
		return false;
	memcpy(place->link, path, len + 1);
	return find_here(place, dir, follow);
}
