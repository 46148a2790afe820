/* SPDX-License-Identifier: MIT */
/*
 * Paths of whose opens for reading there is nothing to find out any more: by their text, while nothing
 * on their way can be changed by the program, and the kernel's own rules let it read what is there, or
 * nothing is.
 *
 * Every dynamic program opens the same fifty files of libc and its loader when it starts. Where they
 * are questions, because something else in the policy is the broker's to open, they are the most
 * frequent ones by far, and each has the same answer: to go on. Landlock then decides, as ever; what is
 * remembered wrongly is refused by it, and never allowed.
 *
 * Others could put a link where the program cannot; so nothing is known for longer than a second.
 */
#ifndef SBX_LAUNCH_KNOWN_H
#define SBX_LAUNCH_KNOWN_H

#include "hold.h"

#define KNOWN_LEN 160 /* of a text that is remembered, with its end */

struct launch_known;
struct launch_known *launch_known_new(const struct launch_hold *hold); /* NULL: out of memory */
void launch_known_free(struct launch_known *known);

enum launch_knowledge {
	KNOWN_NOT, /* worth to be learnt */
	KNOWN_OPEN, /* whoever opens it to read can go on */
	KNOWN_ASK /* it has to be looked at each time */
};

/* 'now' is in milliseconds. */
enum launch_knowledge launch_known_find(struct launch_known *known, const char *path, uint64_t now);
/* Looks where an absolute path leads, and remembers it. */
void launch_known_learn(struct launch_known *known, const char *path, uint64_t now);

#endif
