/* SPDX-License-Identifier: MIT */
/*
 * Watches a program with the shim in it: every system call of shim/hooks.def is a notification, which
 * is written down with the word that it carried, and refused where its path has "refused" in it. So
 * the shim is tested without a launcher, and without rights that root would not heed.
 *
 *	int main(int argc, char **argv)
 *	{
 *		watch_start(argc, argv);	// comes back in a process that is watched
 *		watch_clear();
 *		open("/tmp/refused", O_RDONLY);
 *		is(watch_log(), "openat+ openat?", "open is vouched for, then asked about");
 */
#ifndef TESTS_WATCH_H
#define TESTS_WATCH_H

#include <stdbool.h>

/* Runs this program again, with the shim and watched; in there it returns. Else it never does. */
void watch_start(int argc, char **argv);

/* The folder that the test works in: calls about other paths are not written down. */
extern char watch_dir[64];
/* "FOLDER/NAME", good for some calls of it. */
char *watch_path(const char *name);

/* The errno of a refusal; EACCES at first. */
void watch_refuse_with(int error);
/* Lets pass what is asked about, as for a file that only the broker may open. */
void watch_allow_asked(bool allow);

/* Forgets what was seen; and what was seen since: "openat+" vouched, "openat?" asked, "openat-" bare. */
void watch_clear(void);
const char *watch_log(void);

#endif
