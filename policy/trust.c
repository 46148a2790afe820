/* SPDX-License-Identifier: MIT */
/*
 * Compile side: could somebody else have written this policy?
 *
 * Whoever can change a policy decides what the sandbox allows. Files are judged by their open
 * descriptor; folders above them only by name, which their owner alone could exchange.
 */
#include "draft.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Root may run a policy of its own and one of whoever called sudo. */
static bool is_invoking_user(uid_t uid)
{
	const char *sudo = getenv("SUDO_UID");
	char *end;
	unsigned long invoking;

	if (uid == geteuid() || uid == 0)
		return true;
	if (geteuid() != 0 || !sudo || !*sudo)
		return false;
	invoking = strtoul(sudo, &end, 10);
	return !*end && invoking == uid;
}

/* A group of the same number as the user is that user's own, by Debian's custom. */
static bool others_may_write(const struct stat *st)
{
	return (st->st_mode & S_IWOTH) ||
	       ((st->st_mode & S_IWGRP) && st->st_gid != 0 && (st->st_gid != st->st_uid));
}

/* A folder without the sticky bit lets everyone who may write there replace what is in it. */
static bool folder_is_open(const char *path, char *folder, size_t size)
{
	size_t len = strlen(path);

	while (len > 0 && len < size) {
		struct stat st;

		while (len > 1 && path[len - 1] != '/')
			len--;
		if (len > 1)
			len--;
		memcpy(folder, path, len);
		folder[len] = '\0';
		if (stat(folder, &st) == 0 && (st.st_mode & S_IWOTH) && !(st.st_mode & S_ISVTX))
			return true;
		if (len <= 1)
			return false;
	}
	return false;
}

/* Where the open file really is; a linked policy stands in two places. */
static bool real_path(int fd, char path[PATH_MAX])
{
	char link[40];
	ssize_t len;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, path, PATH_MAX - 1);
	if (len <= 0)
		return false;
	path[len] = '\0';
	return path[0] == '/';
}

/* With an access list the group bits are its mask, and say of nobody in particular that he may. */
static bool has_access_list(int fd)
{
	return fgetxattr(fd, "system.posix_acl_access", NULL, 0) > 0;
}

const char *sbx_trust(int fd, const char *path, char why[256])
{
	char folder[PATH_MAX], real[PATH_MAX];
	struct stat st;

	if (fstat(fd, &st) < 0)
		(void)snprintf(why, 256, "cannot be looked at");
	else if (!is_invoking_user(st.st_uid))
		(void)snprintf(why, 256, "belongs to another user (uid %lu)",
			       (unsigned long)st.st_uid);
	else if (others_may_write(&st) || ((st.st_mode & S_IWGRP) && has_access_list(fd)))
		(void)snprintf(why, 256, "may be written by others (mode %04o; chmod go-w helps)",
			       (unsigned int)st.st_mode & 07777);
	else if (folder_is_open(path, folder, sizeof(folder)) ||
		 (real_path(fd, real) && strcmp(real, path) != 0 &&
		  folder_is_open(real, folder, sizeof(folder))))
		(void)snprintf(why, 256, "stands in '%.150s', where everybody may replace it",
			       folder);
	else
		return NULL;
	return why;
}
