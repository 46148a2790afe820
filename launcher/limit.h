/* SPDX-License-Identifier: MIT */
/* The limits of a run: what the policy says, and those that the kernel holds for each process. */
#ifndef SBX_LAUNCH_LIMIT_H
#define SBX_LAUNCH_LIMIT_H

#include "launch.h"

/* 0 where there is none. */
struct launch_limits {
	uint64_t timeout_ms;
	uint64_t cpu_ms;
	uint64_t cpu_percent;
	uint64_t memory;
	bool memory_is_set; /* by the policy: the preset is no reason to bound address space */
	uint64_t processes;
	uint64_t open_files;
	uint64_t file_size;
	uint64_t output;
};

/* -EINVAL for a limit that no run could live with, or that is above what we may have ourselves. */
int launch_limits_read(const struct sbx_image *image, struct launch_limits *limits,
		       struct launch_error *error);

/* Sets those of the calling process, for good. */
int launch_limits_apply(const struct launch_limits *limits, struct launch_error *error);

#endif
