/* SPDX-License-Identifier: MIT */
/* What report.c, summary.c and result.c share, and nobody else knows: the state of a report. */
#ifndef SBX_LAUNCH_REPORT_STATE_H
#define SBX_LAUNCH_REPORT_STATE_H

#include "report.h"
#include "sink.h"
#include "tally.h"

struct launch_report {
	const struct sbx_image *image;
	enum launch_voice voice;
	bool explains; /* refusals go to 'text' */
	bool logs; /* and to 'log' */
	bool keeps;
	struct launch_sink text;
	struct launch_sink log;
	char run[64];
	struct launch_tally tally;
	unsigned int explained;
	bool said_enough;
	pid_t exec_pid; /* who was last refused a program, */
	char exec_target[PATH_MAX]; /* and which */
	unsigned int kept;
	size_t kept_bytes;
	size_t logged_bytes;
	char *line; /* room for a line of JSON; NULL when nobody wants any */
};

int64_t launch_report_now(void); /* milliseconds since 1970 */
/* {"v":1,"time":…,"run":…,"event":"…" */
void launch_report_json_head(const struct launch_report *report, int64_t time_ms, const char *event,
			     struct sbx_out *out);
const char *launch_event_name(enum launch_event event);

/* A line of the log: begun with its head; ended with its brace, and written if it is whole. */
struct sbx_out launch_log_begin(const struct launch_report *report, const char *event);
void launch_log_end(struct launch_report *report, struct sbx_out *line);

/* The closing text; whether the run has earned a summary decides it by itself. */
void launch_summary_write(struct launch_report *report, const struct launch_end *end);
/* The closing lines of the log. */
void launch_result_log(struct launch_report *report, const struct launch_end *end);

#endif
