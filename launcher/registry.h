/* SPDX-License-Identifier: MIT */
/*
 * What stands in a run's file: the compiled policy, for the program to read, and behind it who runs
 * under it, for others to list. (One file for both: to make and remove another takes longer than all
 * of this.)
 */
#ifndef SBX_LAUNCH_REGISTRY_H
#define SBX_LAUNCH_REGISTRY_H

#include "private.h"

/* Writes it, as the launcher. */
int launch_registry_write(const struct sbx_image *image, const char *const *argv, int fd);
/* Fills all but the id; 'alive' says that the file is locked. */
void launch_registry_read(int fd, bool alive, struct launch_run *run);

#endif
