/* SPDX-License-Identifier: MIT */
/*
 * Users and capabilities. Reads /etc/passwd itself: the C library would load modules for it, and the
 * launcher is one static file.
 */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CAPABILITIES 64 /* the kernel has fewer, and says where they end */

static bool read_number(const char *text, uid_t *id)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	if (!*text || *text < '0' || *text > '9' || *end || number >= UINT32_MAX)
		return false;
	*id = (uid_t)number;
	return true;
}

/* By name, or by number; a number need not be listed. */
static bool look_up(const char *name, struct launch_user *user)
{
	FILE *file = fopen("/etc/passwd", "re");
	bool is_number = read_number(name, &user->uid), found = false;
	struct passwd *entry;

	if (is_number)
		user->gid = (gid_t)user->uid;
	while (file && !found && (entry = fgetpwent(file))) {
		found = is_number ? entry->pw_uid == user->uid : !strcmp(entry->pw_name, name);
		if (found) {
			user->uid = entry->pw_uid;
			user->gid = entry->pw_gid;
		}
	}
	if (file)
		(void)fclose(file);
	return found || is_number;
}

int launch_user_find(const struct sbx_image *image, struct launch_user *user,
		     struct launch_error *error)
{
	const struct sbx_setting *setting = sbx_setting(image, SBX_KEY_sandbox_user);
	struct launch_user found = { .uid = geteuid(), .gid = getegid() };
	const char *name = sbx_str(image, setting->text);
	char where[300];

	if (setting->is_set && *name && !look_up(name, &found))
		return launch_fail(error, EINVAL, "%s: user '%s' is not in /etc/passwd",
				   launch_where(image, setting->file, setting->line, where), name);
	found.foreign = found.uid != geteuid();
	if (found.foreign && geteuid() != 0)
		return launch_fail(error, EPERM,
				   "%s: only root can run a program as user '%s' (leave 'user' "
				   "out, or start as root)",
				   launch_where(image, setting->file, setting->line, where), name);
	*user = found;
	return 0;
}

static bool is_bounding_set_empty(void)
{
	for (unsigned long cap = 0; cap < CAPABILITIES; cap++) {
		int there = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (there != 0)
			return there < 0;
	}
	return true;
}

/*
 * True when nothing is left in it. Who has no right to lower it cannot gain from it either:
 * no_new_privs is set, and root has the right.
 */
static bool empty_bounding_set(void)
{
	for (unsigned long cap = 0; cap < CAPABILITIES; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return errno == EINVAL && cap > 0;
	return true;
}

int launch_user_become(const struct launch_user *user, struct launch_error *error)
{
	if (!user->foreign)
		return 0;
	/* While we may. */
	(void)empty_bounding_set();
	if (setgroups(1, &user->gid) == 0 && setresgid(user->gid, user->gid, user->gid) == 0 &&
	    setresuid(user->uid, user->uid, user->uid) == 0)
		return 0;
	return launch_fail(error, errno, "cannot become user %u: %s", (unsigned int)user->uid,
			   strerror(errno));
}

bool launch_user_reads(const struct launch_user *user, const char *path)
{
	struct launch_error error;
	int status = -1;
	pid_t child;

	if (!user->foreign)
		return access(path, R_OK) == 0;
	child = fork();
	if (!child)
		_exit(launch_user_become(user, &error) < 0 || access(path, R_OK) < 0);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

int launch_user_drop(uint64_t keep, struct launch_error *error)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { { 0 }, { 0 } };
	bool empty;

	(void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	/*
	 * Who is not root gains nothing by it, and leaves it alone in a user namespace too: without it
	 * the kernel does not execute programs that would have capabilities (ping), not even without.
	 */
	empty = geteuid() == 0 && empty_bounding_set();
	for (int half = 0; half < 2; half++)
		sets[half].permitted = sets[half].effective = (uint32_t)(keep >> (32 * half));
	if (syscall(SYS_capset, &header, sets) < 0)
		return launch_fail(error, errno, "cannot drop capabilities: %s", strerror(errno));
	if (geteuid() == 0 && !keep && !empty && !is_bounding_set_empty())
		return launch_fail(error, EPERM,
				   "cannot empty the bounding set of root: a program could take "
				   "capabilities back");
	return 0;
}
