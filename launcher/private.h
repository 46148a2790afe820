/* SPDX-License-Identifier: MIT */
/*
 * The directory of a run: private tmp and home, and the marks by which a later run finds what a
 * killed launcher left behind.
 *
 * One folder per run, with a random name, below the user's base folder: TMPDIR/sbx where that is
 * the user's own, else /tmp/sbx-UID. (Not XDG_RUNTIME_DIR, which is small and in memory.) A base is 0700 and verified to be
 * ours: a bad one is refused, and in /tmp, where strangers can put it, passed by: the run is then
 * /tmp/sbx-UID.RANDOM itself. For a run as another user the base is in /tmp and 0711, as the run's
 * folder is: nobody can list or change them, and only tmp and home belong to that user.
 *
 * The run's folder is locked (flock) through the descriptor 'lock', which closes on exec: what is
 * not locked belongs to nobody any more. Nothing here ever follows a link. The base itself stays.
 *
 * To remove the run under Landlock, the launcher's own layer grants READ_DIR, REMOVE_FILE and
 * REMOVE_DIR on 'base' (see erase.h).
 */
#ifndef SBX_LAUNCH_PRIVATE_H
#define SBX_LAUNCH_PRIVATE_H

#include "launch.h"

struct launch_private {
	char base[PATH_MAX]; /* what 'dir' is in */
	char dir[PATH_MAX]; /* of this run */
	char tmp[PATH_MAX]; /* once filled: empty when [sandbox] tmp is not private */
	char home[PATH_MAX]; /* likewise */
	char image[PATH_MAX]; /* once filled: the compiled policy, for the program to read */
	int lock; /* close-on-exec; -1 when there is no run */
};

/* A run that is going on, or was left behind. The texts are safe to print. */
struct launch_run {
	char id[32];
	pid_t launcher; /* 0 when it is gone */
	char command[256]; /* cut, and empty when it was not written yet */
	char policy[256];
	time_t started;
};

/*
 * Makes the run's folder, empty, so that its paths are known before the policy is read: a policy may
 * say ${tmp}. 'foreign' says that the program will be another user.
 */
int launch_private_make(bool foreign, struct launch_private *out, struct launch_error *error);
/*
 * Makes in it what the policy wants, for the program's user, and writes the compiled policy, with
 * the run's description behind it for others to list.
 */
int launch_private_fill(const struct sbx_image *image, const char *const *argv, uid_t uid,
			gid_t gid, struct launch_private *run, struct launch_error *error);
/*
 * Removes it all, never following a link, also when the program made it unreadable (chmod 000).
 * What cannot be removed is left to the next sweep. Harmless when there is no run.
 */
void launch_private_remove(struct launch_private *run);
/* Removes what dead launchers of this user left; returns how many runs. Called at every start. */
int launch_private_sweep(void);
/* Calls 'each' for every run of this user, alive or dead; returns how many. */
int launch_private_list(void (*each)(const struct launch_run *run, void *arg), void *arg);

#endif
