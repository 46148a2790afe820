/* SPDX-License-Identifier: MIT */
/*
 * A system call, as questions to the policy: what a call needs may be refused in more than one place.
 */
#ifndef SHIM_QUESTION_H
#define SHIM_QUESTION_H

#include "call.h"
#include "place.h"
#include "program.h"

#include "engine.h"

struct shim_question {
	struct sbx_request request;
	const char *given;
	const char *given_to; /* of a rename, else NULL */
	const char *syscall;
	struct shim_place at;
	struct shim_place to;
	char text[SHIM_HEAD]; /* a destination, a socket, or the program that a script is for */
};

/*
 * Question 'number', from 0, that belongs to the call. False when there is none: the call is not
 * judged, or is about what does not exist. 'error' is how it ended.
 */
bool shim_question(struct shim_question *question, const struct shim_call *call, long error,
		   unsigned int number);

#endif
