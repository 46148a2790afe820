/* SPDX-License-Identifier: MIT */
/*
 * What a run has while it lives, and how a later run finds what a killed launcher left behind.
 *
 *	run.ID	a file: the compiled policy, for the program to read, and who runs under it. All of
 *		them are the registry: in /dev/shm/sbx-UID, where making and removing costs nothing,
 *		whatever the environment is. Where there is no such place, with the data.
 *	tmp.ID	folders of the program's: the data. Only made where they are private, in TMPDIR/sbx
 *	home.ID	where that is the user's own, else in /tmp/sbx-UID. (Not in memory, which is small.)
 *
 * Each is locked (flock) by itself, through a descriptor that closes on exec: what is not locked
 * belongs to nobody any more. That of the file would not do for all: containers may share /tmp and
 * not /dev/shm.
 *
 * These base folders are 0700 and verified to be ours: a bad TMPDIR/sbx is refused, and others, which
 * strangers can put there, passed by: the data is then in /tmp/sbx-UID.ID, which is locked too. For a
 * run as another user they are 0711, and only tmp and home belong to that user: nobody else can list
 * or change anything. Nothing here ever follows a link. The bases themselves stay.
 *
 * To remove the run under Landlock, the launcher's own layer grants READ_DIR, REMOVE_FILE and
 * REMOVE_DIR on 'base' and 'registry' (see erase.h).
 */
#ifndef SBX_LAUNCH_PRIVATE_H
#define SBX_LAUNCH_PRIVATE_H

#include "launch.h"

struct launch_private {
	char id[11]; /* empty when there is no run */
	bool is_stray; /* the data has a folder for this run alone, in 'base' */
	char base[PATH_MAX]; /* what the data is in */
	char registry[PATH_MAX]; /* once filled: what 'image' is in */
	char tmp[PATH_MAX]; /* once filled: empty when [sandbox] tmp is not private */
	char home[PATH_MAX]; /* likewise */
	char image[PATH_MAX]; /* once filled: the run's file */
	/* close-on-exec; -1: there is none */
	int base_fd; /* tmp's and home's folder */
	int registry_fd;
	int lock; /* of the file */
	int tmp_lock;
	int home_lock;
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
 * Settles the run's id and paths, before the policy is read: a policy may say ${tmp}. Makes nothing
 * but the base. 'foreign' says that the program will be another user.
 */
int launch_private_make(bool foreign, struct launch_private *out, struct launch_error *error);
/*
 * What will be made is in memory, and of so many bytes at most; in a mount namespace of our own, so
 * that nothing of it is left when that goes.
 */
int launch_private_limit(uint64_t size, bool foreign, struct launch_private *run,
			 struct launch_error *error);
/* Makes what the policy wants, for the program's user, and the run's file. */
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
