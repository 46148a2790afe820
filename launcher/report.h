/* SPDX-License-Identifier: MIT */
/*
 * What a run says: refusals and limits as text and as JSON lines, the closing summary, and the one
 * result of --json. The words for paths and destinations are the engine's (words.h); those for
 * system calls and limits are made here, from tables.
 *
 * Every text leaves in one write, so that lines of several runs do not mix. Nothing here fails a
 * run: what cannot be written is dropped (a full log, a closed standard error). A reader that does
 * not read is waited for, half a second in a whole run and once more at its end. No SIGPIPE is raised.
 *
 * What is the same (process, operation, code and target; of limits, the limit) is explained and
 * logged once and then counted. Memory and text are bounded: each kind (operation and code) tells so
 * many events apart and only counts the rest, and beyond the bounds below only the first of each
 * further kind is explained, kept and logged. A flood of one kind thus hides no other.
 *
 * [errors] to = stderr or log sends refusals and limits only there, none nowhere; the log's start
 * and exit, the summary (a matter of the voice) and --json are as ever.
 *
 * Nothing here locks: of one report, one function runs at a time, and the caller sees to it.
 */
#ifndef SBX_LAUNCH_REPORT_H
#define SBX_LAUNCH_REPORT_H

#include "launch.h"

#include <limits.h>

#define REPORT_EXPLAINED 200 /* refusals that a run explains as text */
#define REPORT_KEPT 1000 /* events that --json lists, and the log closes with their counts */
#define REPORT_KEPT_BYTES (4u << 20) /* of their JSON, and then no more */
#define REPORT_LOGGED_BYTES (16u << 20) /* of events in the log, and then no more */

enum launch_limit {
	LIMIT_NONE,
	LIMIT_TIMEOUT, /* milliseconds */
	LIMIT_CPU, /* milliseconds */
	LIMIT_MEMORY, /* bytes */
	LIMIT_PROCESSES, /* tasks; does not end a run */
	LIMIT_OPEN_FILES, /* descriptors; does not end a run */
	LIMIT_FILE_SIZE, /* bytes; does not end a run by itself */
	LIMIT_DISK, /* bytes; does not end a run */
	LIMIT_OUTPUT, /* bytes; does not end a run */
	LIMIT_COUNT
};

/* Who did it, as far as that could be found out; strings are empty when not. */
struct launch_who {
	pid_t pid;
	char name[64]; /* "cat" */
	char exe[PATH_MAX];
	char cwd[PATH_MAX];
};

/* A limit that was met. */
struct launch_hit {
	enum launch_limit limit;
	uint64_t value; /* of the limit */
	uint64_t peak; /* what was reached, or 0 */
	const struct launch_who *who; /* mostly this one, or NULL */
	const char *path; /* of file_size and disk, or NULL */
};

struct launch_usage {
	uint64_t wall_ms;
	uint64_t cpu_ms;
	uint64_t memory_peak;
	uint64_t processes_peak;
};

/* How a run ended. */
struct launch_end {
	int status; /* the launcher's own exit status */
	int signal; /* that ended the program, or 0 */
	struct launch_usage usage;
	struct launch_hit hit; /* the limit that ended the run, or LIMIT_NONE */
	struct launch_repos *repos; /* repositories that were made, or NULL */
};

/* What a stream of the program was captured as. */
struct launch_stream {
	const char *bytes;
	size_t len;
	bool cut;
};

struct launch_report_setup {
	const struct sbx_image *image;
	enum launch_voice voice;
	int text_fd; /* where text goes, or -1; standard error as a rule */
	int log_fd; /* where JSON lines go, or -1 */
	const char *run; /* its id */
	bool keep; /* remember events for --json's "violations" */
};

/* About a refused system call. */
enum {
	REPORT_LOOSENABLE = 1 << 0, /* [syscalls] allow can help */
	REPORT_COMPLAIN = 1 << 1, /* it was let pass, and is only reported */
};

struct launch_report; /* one for a run; made by _new, never moved */

int launch_report_new(const struct launch_report_setup *setup, struct launch_report **report);
void launch_report_free(struct launch_report *report);

/*
 * The log's first line: {"event":"start","pid":…,"command":[…],"policy":"…","layers":{…}}. Of a very
 * long command the last arguments are left out, and counted in "arguments_left_out". 'layers_json'
 * is trusted to be an object; NULL is an empty one.
 */
void launch_report_start(struct launch_report *report, const char *const *argv, pid_t pid,
			 const char *layers_json);
/*
 * A refused path or destination; 'layer' is "landlock", "broker", "mask", … 'who' may be NULL, and
 * fills in what 'denial' does not say of program, pid and cwd.
 */
void launch_report_denial(struct launch_report *report, const struct sbx_report *denial,
			  const struct launch_who *who, const char *layer);
/* A refused kind of socket; 'call' is socket or socketpair, 'who' may be NULL. */
struct launch_socket;
void launch_report_socket(struct launch_report *report, const char *call,
			  const struct launch_socket *socket, const struct launch_who *who);
/* A refused system call; 'how' is of REPORT_LOOSENABLE and REPORT_COMPLAIN, 'who' may be NULL. */
void launch_report_syscall(struct launch_report *report, const char *call, unsigned int how,
			   const struct launch_who *who);
/* A limit was met. Those that are met again and again may be reported as often. */
void launch_report_limit(struct launch_report *report, const struct launch_hit *hit);

/*
 * The end: how often what was explained was met again, the summary as text (when something was
 * refused or a limit was met; with VOICE_VERBOSE always), and the log's last lines: for each event
 * that was met again one more with "count" (all counts of a log together are all that happened, but
 * for "not_logged"), then {"event":"exit","exit_code":…,"signal":…,"timed_out":…,"limit":…,
 * "usage":{…},"refusals":…,"kinds":…,"would_deny":…,"limits":…,"not_logged":…}.
 * The limit in 'end' is reported, too, if it was not before.
 */
void launch_report_end(struct launch_report *report, const struct launch_end *end);
/*
 * The object of --json, to 'fd', waiting as long as it takes. 0 or a negative errno. Streams may be
 * NULL. Beside what messages.md lists there are, only where it is so:
 *	"stdout_replaced", "stderr_replaced": true	bytes that were not UTF-8 became U+FFFD
 *	"violations_left_out": N			refusals that "violations" does not count
 * "timed_out" is about both timeout and cpu; times in "limit" are milliseconds. "violations" has
 * limits that refuse calls (processes, open_files, file_size, disk) too, with "event":"limit".
 */
int launch_report_result(const struct launch_report *report, const struct launch_end *end,
			 const struct launch_stream *out, const struct launch_stream *err,
			 const char *layers_json, int fd);

/* As messages have them: "512 MB", "1.5 GB"; "60 s", "500 ms"; and "12.3s" for what has passed. */
void launch_format_size(char out[32], uint64_t bytes);
void launch_format_time(char out[32], uint64_t ms);
void launch_format_elapsed(char out[32], uint64_t ms);

#endif
