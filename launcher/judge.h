/* SPDX-License-Identifier: MIT */
/*
 * Judges a system call that Landlock decides: what the policy says to it, and the record to make words
 * from. Landlock gives the verdict that counts; this one is the same, with a reason.
 */
#ifndef SBX_LAUNCH_JUDGE_H
#define SBX_LAUNCH_JUDGE_H

#include "calls.h"
#include "cover.h"
#include "peer.h"
#include "words.h"

#include <linux/seccomp.h>

/* One for each thread that judges: large, and allocated once. */
struct launch_judge {
	const struct sbx_image *image;
	const char *own; /* the run's own file: readable, although no rule names it */
	const struct launch_broker *broker; /* who holds what Landlock does not; NULL: nobody */
	const struct launch_covers *covers; /* what mounts stand over; NULL: none */
	pid_t thread; /* that calls */
	const char *
		taken; /* the text at 'taken_at' of the caller's, which was copied; NULL: none was */
	uint64_t taken_at;
	bool final; /* the call does not go on: what the kernel would let it do does not matter */
	struct sbx_report report; /* of the last refusal; points into this struct */
	struct sbx_request request;
	struct sbx_verdict verdict;
	char given[PATH_MAX];
	char given_to[PATH_MAX];
	char host[SBX_HOST_MAX]; /* of the request */
	struct sbx_resolved at;
	struct sbx_resolved to;
};

/*
 * 0: nothing is to be said, and the kernel goes on with it; for whatever the reason is: it is allowed,
 * it would fail without a sandbox too, or the caller cannot be looked at. Else the policy refuses it:
 * the errno, and judge->report.
 */
int launch_judge_call(struct launch_judge *judge, enum launch_call_index call,
		      const struct seccomp_data *data, pid_t thread);

/* launch_target_string(), unless it was copied before: nothing is read twice that need not be. */
int launch_judge_text(const struct launch_judge *judge, pid_t thread, uint64_t at,
		      char out[PATH_MAX]);

/* The record of a refusal that others have found: judge->request, verdict and given are theirs. */
void launch_judge_record(struct launch_judge *judge, enum launch_call_index call);

#endif
