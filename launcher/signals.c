/* SPDX-License-Identifier: MIT */
#include "signals.h"

#include "target.h"
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The process behind a descriptor of ours that stands for one; -1: for none. */
static pid_t process_of(int pidfd)
{
	char path[64], text[512];
	const char *line;
	ssize_t got;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[got > 0 ? got : 0] = '\0';
	line = strstr(text, "\nPid:");
	return line ? (pid_t)strtol(line + strlen("\nPid:"), NULL, 10) : -1;
}

/* The number of a descriptor may stand for another by the time the kernel looks: a copy is used. */
static enum launch_signal send_by_descriptor(pid_t root, const uint64_t args[6], pid_t thread,
					     int *error)
{
	int fd = launch_target_take(thread, (int)args[0]);
	pid_t pid;

	if (fd < 0) {
		*error = -fd;
		return SIGNAL_FAILED;
	}
	pid = process_of(fd);
	*error = 0;
	if (pid <= 0)
		*error = pid < 0 ? ESRCH : EBADF;
	else if (!launch_tree_is_below(root, pid))
		*error = EPERM;
	else if (syscall(SYS_pidfd_send_signal, fd, (int)args[1], NULL, 0) < 0)
		*error = errno;
	(void)close(fd);
	return *error ? SIGNAL_FAILED : SIGNAL_DONE;
}

/* To a process group, or with -1 to all but the sender. */
static enum launch_signal send_to_many(pid_t root, pid_t group, int number, pid_t sender,
				       int *error)
{
	struct launch_tree tree;
	bool sent = false;

	*error = ESRCH;
	launch_tree_init(&tree, root);
	if (launch_tree_find(&tree) < 0)
		*error = ENOMEM;
	for (size_t i = 0; *error != ENOMEM && i < tree.count; i++) {
		pid_t pid = tree.list[i].pid;

		if (group < 0 ? pid == sender : getpgid(pid) != group)
			continue;
		if (kill(pid, number) == 0)
			sent = true;
		else if (!sent)
			*error = errno;
	}
	launch_tree_done(&tree);
	return sent ? SIGNAL_DONE : SIGNAL_FAILED;
}

/*
 * Whoever is made the owner of a descriptor gets any signal that its owner chooses. A group may have
 * the launcher in it, and a struct in memory may have changed by the time the kernel looks.
 */
static enum launch_signal own(pid_t root, const uint64_t args[6], int *error)
{
	pid_t owner = (pid_t)args[2];

	if ((int)args[1] == F_SETOWN &&
	    (owner == 0 || (owner > 0 && launch_tree_is_below(root, owner))))
		return SIGNAL_GOES_ON;
	*error = EPERM;
	return SIGNAL_FAILED;
}

/* A process that ends meanwhile leaves its number to nobody for long: it comes last in the turn. */
enum launch_signal launch_signal_serve(pid_t root, enum launch_call_index call,
				       const uint64_t args[6], pid_t thread, int *error)
{
	bool by_thread = call == LAUNCH_CALL_tgkill || call == LAUNCH_CALL_rt_tgsigqueueinfo;
	pid_t target = (pid_t)args[by_thread ? 1 : 0];

	if (call == LAUNCH_CALL_fcntl)
		return own(root, args, error);
	if (call == LAUNCH_CALL_pidfd_send_signal)
		return send_by_descriptor(root, args, thread, error);
	if (target <= 0 && call == LAUNCH_CALL_kill) {
		pid_t sender = launch_target_process(thread);
		pid_t group = target == 0 ? getpgid(sender) : target == -1 ? -1 : -target;

		return send_to_many(root, group, (int)args[1], sender, error);
	}
	if (target <= 0 || launch_tree_is_below(root, target))
		return SIGNAL_GOES_ON;
	*error = kill(target, 0) < 0 && errno == ESRCH ? ESRCH : EPERM;
	return SIGNAL_FAILED;
}
