/* SPDX-License-Identifier: MIT */
/*
 * What a program can do to a path: one table, and one libc call for each row. For tests and for the
 * programs that they start, which may have nothing but libc.
 */
#ifndef ACTS_H
#define ACTS_H

#include "sbx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum act {
	ACT_READ,
	ACT_LIST,
	ACT_WRITE,
	ACT_BOTH, /* read and write at once */
	ACT_TRUNCATE,
	ACT_OPEN_TRUNC, /* O_TRUNC on what is opened for reading only */
	ACT_CREATE,
	ACT_THROUGH, /* O_CREAT where a link leads to nothing */
	ACT_MKDIR,
	ACT_SYMLINK,
	ACT_FIFO,
	ACT_SOCKET,
	ACT_NODE,
	ACT_UNLINK,
	ACT_RMDIR,
	ACT_RENAME,
	ACT_EXCHANGE,
	ACT_LINK,
	ACT_EXEC,
	ACT_COUNT,
	/* Looks: only what is hidden is refused to them. */
	ACT_STAT = ACT_COUNT,
	ACT_LSTAT,
	ACT_ACCESS,
	ACT_READLINK,
	ACT_CHDIR,
	ACT_ALL
};

static const struct {
	const char *name;
	enum sbx_op op;
	bool nofollow; /* it is about the entry, not about what a link there leads to */
	int open; /* how to open it, for what an open is all that it takes; else -1 */
} acts[ACT_ALL] = {
	[ACT_READ] = { "read", SBX_OP_READ, false, O_RDONLY },
	[ACT_LIST] = { "list", SBX_OP_LIST, false, O_RDONLY | O_DIRECTORY },
	[ACT_WRITE] = { "write", SBX_OP_WRITE, false, O_WRONLY },
	[ACT_BOTH] = { "read and write", SBX_OP_WRITE, false, O_RDWR },
	[ACT_TRUNCATE] = { "truncate", SBX_OP_WRITE, false, -1 },
	[ACT_OPEN_TRUNC] = { "open and truncate", SBX_OP_WRITE, false, O_RDONLY | O_TRUNC },
	[ACT_CREATE] = { "create", SBX_OP_CREATE, true, O_RDWR | O_CREAT | O_EXCL },
	[ACT_THROUGH] = { "create through a link", SBX_OP_CREATE, false, O_WRONLY | O_CREAT },
	[ACT_MKDIR] = { "mkdir", SBX_OP_CREATE, true, -1 },
	[ACT_SYMLINK] = { "symlink", SBX_OP_CREATE, true, -1 },
	[ACT_FIFO] = { "mkfifo", SBX_OP_CREATE, true, -1 },
	[ACT_SOCKET] = { "bind", SBX_OP_CREATE, true, -1 },
	[ACT_NODE] = { "mknod", SBX_OP_CREATE, true, -1 },
	[ACT_UNLINK] = { "unlink", SBX_OP_DELETE, true, -1 },
	[ACT_RMDIR] = { "rmdir", SBX_OP_DELETE, true, -1 },
	[ACT_RENAME] = { "rename", SBX_OP_RENAME, true, -1 },
	[ACT_EXCHANGE] = { "exchange", SBX_OP_RENAME, true, -1 },
	[ACT_LINK] = { "link", SBX_OP_RENAME, true, -1 },
	[ACT_EXEC] = { "exec", SBX_OP_EXEC, false, -1 },
	[ACT_STAT] = { "stat", SBX_OP_READ, false, -1 },
	[ACT_LSTAT] = { "lstat", SBX_OP_READ, true, -1 },
	[ACT_ACCESS] = { "access", SBX_OP_READ, false, -1 },
	[ACT_READLINK] = { "readlink", SBX_OP_READ, true, -1 },
	[ACT_CHDIR] = { "chdir", SBX_OP_READ, false, -1 },
};

static inline int open_act(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -1 : 0;
}

static inline int bind_act(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	int result, fd;

	if (len >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(address.sun_path, path, len);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	result = bind(fd, (struct sockaddr *)&address, sizeof(address));
	close(fd);
	return result;
}

/* Files to execute hold no program: ENOEXEC says that they may be. */
static inline int exec_act(const char *path)
{
	char *const argv[] = { (char *)(uintptr_t)path, NULL }, *const envp[] = { NULL };

	(void)execve(path, argv, envp);
	return errno == ENOEXEC ? 0 : -1;
}

static inline int act_call(enum act act, const char *path, const char *to)
{
	if (acts[act].open >= 0)
		return open_act(path, acts[act].open);
	switch (act) {
	case ACT_TRUNCATE:
		return truncate(path, 0);
	case ACT_MKDIR:
		return mkdir(path, 0700);
	case ACT_SYMLINK:
		return symlink("anywhere", path);
	case ACT_FIFO:
		return mkfifo(path, 0600);
	case ACT_SOCKET:
		return bind_act(path);
	case ACT_NODE:
		return mknod(path, S_IFREG | 0600, 0);
	case ACT_UNLINK:
		return unlink(path);
	case ACT_RMDIR:
		return rmdir(path);
	case ACT_RENAME:
		return rename(path, to);
	case ACT_EXCHANGE:
		return renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_EXCHANGE);
	case ACT_LINK:
		return link(path, to);
	case ACT_EXEC:
		return exec_act(path);
	default:
		errno = ENOSYS;
		return -1;
	}
}

#endif
