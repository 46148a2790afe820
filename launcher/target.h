/* SPDX-License-Identifier: MIT */
/*
 * A thread of the program in the middle of a system call, as the supervisor can see it: its memory,
 * and where its paths lead. Everything is asked by the thread's own number: threads may have folders
 * and descriptors of their own.
 *
 * What is found here is good for words, and for refusing. It is a moment old: nothing may be allowed
 * by it that no other layer decides again. (There is no root directory to look up: the program cannot
 * change its own.)
 */
#ifndef SBX_LAUNCH_TARGET_H
#define SBX_LAUNCH_TARGET_H

#include "resolve.h"

#include <sys/types.h>

/* Before the others, by the process that looks; they fail where /proc cannot be opened. */
void launch_target_init(void);

/*
 * Copies a string once: its length, or a negative errno: -EFAULT, -ENAMETOOLONG, or -EPERM for a
 * process that cannot be read. No page is touched that the string does not need.
 */
int launch_target_string(pid_t thread, uint64_t at, char out[PATH_MAX]);
/* The same for a string that has to have its end within 'size' bytes. */
int launch_target_text(pid_t thread, uint64_t at, char *out, size_t size);
/* Copies all of it, or -EFAULT or -EPERM. */
int launch_target_bytes(pid_t thread, uint64_t at, void *out, size_t size);

/* The process that the thread belongs to, or the thread itself when that cannot be told. */
pid_t launch_target_process(pid_t thread);

/* Which file the code at an address of the thread's is of. False: of none, or it cannot be told. */
bool launch_target_code(pid_t thread, uint64_t at, char out[PATH_MAX]);
/* Whether that is another file than the program's own. */
bool launch_target_is_library(pid_t thread, uint64_t at);

/* The thread's umask; -1 when it cannot be told. */
long launch_target_umask(pid_t thread);

/* A copy of a descriptor of the thread's: the same open file. */
int launch_target_take(pid_t thread, int fd);

/* Whether a descriptor of the thread's is a socket. */
bool launch_target_is_socket(pid_t thread, int fd);

/*
 * What a path of the thread's leads to, opened by its name alone (O_PATH, with 'flags' of O_NOFOLLOW
 * and O_DIRECTORY): pinned, whatever becomes of its name. -ELOOP: it leads through a link of /proc,
 * which is not the same for us.
 */
int launch_target_open(pid_t thread, int dir, const char *path, int flags, uint64_t how);
/*
 * The same, walked as the thread sees /proc, where links lead to what only it has: pinned without
 * following any link. -ELOOP: it ends in something that no path can stand for.
 */
int launch_target_open_own(pid_t thread, int dir, const char *path, int flags);
/*
 * The same for whoever only looks: what is below /proc is seen as the thread sees it, and what no path
 * stands for (a pipe, a deleted file that is open) is found through the thread's descriptors. -EACCES:
 * it belongs to a process that is none of the program's.
 */
int launch_target_look(pid_t thread, int dir, const char *path, int flags);
/* The same for a path from "/" on, without any link or ".." on the way; else it fails. */
int launch_target_plain(const char *path, int flags);
/* A path of the thread's from "/" on, links and ".." in it. 0 or a negative errno. */
int launch_target_whole(pid_t thread, int dir, const char *path, char out[2 * PATH_MAX]);
/* Where a link below /proc leads that is another one for each process; 0: 'path' is none of them. */
int launch_target_view(pid_t thread, const char *path, char out[PATH_MAX]);
/* Whether 'path', below /proc, is about a process that is none of the program's. */
bool launch_target_is_foreign(const char *path);
/*
 * Whether what is pinned, and called so, is about such a process, or lies in another procfs than /proc:
 * a second one, or a part of this one at another place. There, no name tells whose it is; and we may read
 * and write ourselves, as every process may.
 */
bool launch_target_is_outside(int fd, const char *path);
/* Writes all of it, or -EFAULT or -EPERM. */
int launch_target_write(pid_t thread, uint64_t at, const void *bytes, size_t size);
/* What such a descriptor of ours is called now: the length. */
int launch_target_name(int fd, char out[PATH_MAX]);
/* Opens for use what it stands for. */
int launch_target_reopen(int fd, int flags, mode_t mode);
/* Changes its mode. */
int launch_target_chmod(int fd, mode_t mode);

/*
 * Where a path of the thread's leads. 'dir' is the descriptor that it is relative to, or AT_FDCWD;
 * 'flags' are of SBX_RESOLVE_MISSING, _NOFOLLOW and _PLACE; 'how' the RESOLVE_ flags of openat2.
 * An empty path is the descriptor itself. 0 or a negative errno.
 */
int launch_target_find(pid_t thread, int dir, const char *path, unsigned int flags, uint64_t how,
		       struct sbx_resolved *out);

#endif
