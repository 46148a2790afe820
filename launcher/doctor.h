/* SPDX-License-Identifier: MIT */
/*
 * --doctor: what this machine can enforce. Every row is tried for real in a child, never concluded
 * from a version; what is missing says what a policy loses by it.
 *
 * The caller is not changed by it: no process, mount, namespace or file is left, and nothing in its
 * signals, limits or descriptors differs afterwards.
 */
#ifndef SBX_LAUNCH_DOCTOR_H
#define SBX_LAUNCH_DOCTOR_H

#include "launch.h"

#include <stdio.h>

/*
 * A table, or one JSON object; 'clean' first removes what dead runs left. Returns 0, or 1 when a
 * layer is missing. Call it before there are threads, and before the caller confines itself: it
 * tells what can be had from where it stands.
 */
int launch_doctor(bool json, bool clean, FILE *to);

/*
 * One row, by its name in the table ("landlock", "seccomp", "notify", "userns", "netns", …): what
 * [sandbox] require asks. Tried at most once in a process; a forked child tries anew.
 */
bool launch_has(const char *capability);
/* Why not, in words that end a sentence: "unshare: Operation not permitted". "" when it is there. */
const char *launch_has_not(const char *capability);

#endif
