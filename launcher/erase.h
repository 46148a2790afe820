/* SPDX-License-Identifier: MIT */
/*
 * Removing a tree that a stranger made. Everything is relative to descriptors, no link is followed,
 * no mount is entered, and no depth is too deep.
 *
 * Landlock looks at each removal's path: who calls this under a layer of its own needs READ_DIR,
 * REMOVE_FILE and REMOVE_DIR on the folder, whenever its descriptor was opened. Folders without
 * rights get them back by chmod, which only their owner and CAP_FOWNER can; to get into those of
 * another user takes CAP_DAC_OVERRIDE.
 */
#ifndef SBX_LAUNCH_ERASE_H
#define SBX_LAUNCH_ERASE_H

/*
 * Opens the folder 'name' of 'parent', and gives its owner rwx where it does not let itself be read. A
 * descriptor or a negative errno: -ELOOP or -ENOTDIR for anything but a folder, -EXDEV for a mount.
 */
int launch_erase_open(int parent, const char *name);

/*
 * Empties the folder, whose owner gets rwx. 0, or a negative errno when something stayed: others kept on filling it, or
 * it cannot be removed.
 */
int launch_erase(int dir);

#endif
