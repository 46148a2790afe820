/* SPDX-License-Identifier: MIT */
/*
 * The words for system calls and limits, as text and as members of JSON, in the voice of words.h.
 * Pure but for the tables of syscalls.def.
 */
#ifndef SBX_LAUNCH_PHRASES_H
#define SBX_LAUNCH_PHRASES_H

#include "report.h"

/* A refused system call. */
struct launch_refused {
	const struct sbx_image *image;
	const char *name;
	const struct launch_socket *socket; /* the kind that was refused; NULL: the call is */
	unsigned int how; /* REPORT_LOOSENABLE, REPORT_COMPLAIN */
	const struct launch_who *who; /* or NULL */
};

/* Both return the length wanted, and are lines as sbx_words_text() makes them. */
size_t launch_call_text(const struct launch_refused *call, char *text, size_t size);
size_t launch_limit_text(const struct sbx_image *image, const struct launch_hit *hit, char *text,
			 size_t size);
/* From "op" to "message", without the braces, like sbx_words_json(). */
void launch_call_json(const struct launch_refused *call, struct sbx_out *out);
void launch_limit_json(const struct sbx_image *image, const struct launch_hit *hit,
		       struct sbx_out *out);

/* The same, where call->socket says which kind was refused; for the two above to call. */
size_t launch_socket_text(const struct launch_refused *call, char *text, size_t size);
void launch_socket_json(const struct launch_refused *call, struct sbx_out *out);

/* {"resource":…,"limit":…,"peak":…}, or null. Times are milliseconds. */
void launch_hit_json(const struct launch_hit *hit, struct sbx_out *out);
const char *launch_limit_name(enum launch_limit limit); /* the key in [limits] */
bool launch_limit_refuses(enum launch_limit limit); /* calls, and does not end the run */

#define LAUNCH_SIGNAL_NAME 32
const char *launch_signal_name(int number, char name[LAUNCH_SIGNAL_NAME]); /* "SIGKILL" */

/* The program's name for messages, whatever is known of it. */
const char *launch_who_name(const struct launch_who *who);

void launch_put_who(const struct launch_who *who, struct sbx_out *out); /* "cat[4123]" */
bool launch_suggests(const struct sbx_image *image); /* [errors] suggest */

#define LAUNCH_FIRST_LINE "sbx: "
#define LAUNCH_NEXT_LINE "sbx:   "

/* One line on its way into a text: bounded, and left out when nothing was added to it. */
struct launch_line {
	struct sbx_out out;
	size_t empty;
	char bytes[SBX_LINE_MAX];
};
struct sbx_out *launch_line_begin(struct launch_line *line, const char *prefix);
void launch_line_end(struct launch_line *line, struct sbx_out *text);

/* ,"name":"value", or null when there is none */
void launch_json_string(struct sbx_out *out, const char *name, const char *value);
void launch_json_number(struct sbx_out *out, const char *name, uint64_t value);

#endif
