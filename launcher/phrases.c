/* SPDX-License-Identifier: MIT */
/*
 * What the words for calls, limits and results are made of: lines, members of JSON, names, amounts.
 * Pure.
 */
#include "phrases.h"

#include <signal.h>
#include <string.h>

#define NAME_SHOWN 64

const char *launch_who_name(const struct launch_who *who)
{
	const char *slash = strrchr(who->exe, '/');

	if (*who->name)
		return who->name;
	return slash && slash[1] ? slash + 1 : "process";
}

const char *launch_signal_name(int number, char name[LAUNCH_SIGNAL_NAME])
{
	const char *known = sigabbrev_np(number);
	struct sbx_out out;

	sbx_out_init(&out, name, LAUNCH_SIGNAL_NAME);
	sbx_out_str(&out, "SIG");
	if (known) {
		sbx_out_str(&out, known);
	} else if (number >= SIGRTMIN && number <= SIGRTMAX) {
		sbx_out_str(&out, "RTMIN+");
		sbx_out_number(&out, (uint64_t)(number - SIGRTMIN));
	} else {
		sbx_out_number(&out, (uint64_t)number);
	}
	(void)sbx_out_finish(&out);
	return name;
}

struct sbx_out *launch_line_begin(struct launch_line *line, const char *prefix)
{
	/* The line's end is a byte too, and takes the place of the NUL. */
	sbx_out_init(&line->out, line->bytes, sizeof(line->bytes));
	sbx_out_str(&line->out, prefix);
	line->empty = line->out.want;
	return &line->out;
}

void launch_line_end(struct launch_line *line, struct sbx_out *text)
{
	if (line->out.want == line->empty)
		return;
	(void)sbx_out_finish(&line->out);
	sbx_out_str(text, line->bytes);
	sbx_out_str(text, "\n");
}

static void json_name(struct sbx_out *out, const char *name)
{
	sbx_out_str(out, ",\"");
	sbx_out_str(out, name);
	sbx_out_str(out, "\":");
}

void launch_json_string(struct sbx_out *out, const char *name, const char *value)
{
	json_name(out, name);
	if (value && *value)
		sbx_out_json(out, value);
	else
		sbx_out_str(out, "null");
}

void launch_json_number(struct sbx_out *out, const char *name, uint64_t value)
{
	json_name(out, name);
	sbx_out_number(out, value);
}

void launch_put_who(const struct launch_who *who, struct sbx_out *out)
{
	sbx_out_shortened(out, launch_who_name(who), NAME_SHOWN, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "[");
	sbx_out_number(out, (uint64_t)who->pid);
	sbx_out_str(out, "]");
}

bool launch_suggests(const struct sbx_image *image)
{
	return sbx_setting(image, SBX_KEY_errors_suggest)->value;
}

/* --- Amounts --- */

/* Tenths of a unit, as "12.3" or "12". */
static void put_tenths(struct sbx_out *out, uint64_t tenths, bool always)
{
	sbx_out_number(out, tenths / 10);
	if (!always && tenths % 10 == 0)
		return;
	sbx_out_str(out, ".");
	sbx_out_number(out, tenths % 10);
}

void launch_format_size(char out[32], uint64_t bytes)
{
	static const char *const names[] = { " bytes", " KB", " MB", " GB", " TB", " PB", " EB" };
	uint64_t factor = 1, tenths;
	size_t unit = 0;
	struct sbx_out text;

	/* What would be rounded to 1024 is one of the next unit. */
	while (unit < 6 && bytes >= factor * 1024 - (unit ? factor / 2 : 0)) {
		factor *= 1024;
		unit++;
	}
	tenths = bytes / factor * 10 + (bytes % factor * 10 + factor / 2) / factor;
	if (tenths >= 1000)
		tenths = (tenths + 5) / 10 * 10;
	sbx_out_init(&text, out, 32);
	put_tenths(&text, tenths, false);
	sbx_out_str(&text, bytes == 1 ? " byte" : names[unit]);
	(void)sbx_out_finish(&text);
}

void launch_format_time(char out[32], uint64_t ms)
{
	struct sbx_out text;

	sbx_out_init(&text, out, 32);
	if (ms < 1000)
		sbx_out_number(&text, ms);
	else
		put_tenths(&text, ms / 100 + (ms % 100 >= 50), false);
	sbx_out_str(&text, ms < 1000 ? " ms" : " s");
	(void)sbx_out_finish(&text);
}

void launch_format_elapsed(char out[32], uint64_t ms)
{
	struct sbx_out text;

	sbx_out_init(&text, out, 32);
	if (ms < 1000) {
		sbx_out_str(&text, ms < 100 ? "0.0" : "0.");
		sbx_out_number(&text, ms / 10);
	} else {
		put_tenths(&text, ms / 100 + (ms % 100 >= 50), true);
	}
	sbx_out_str(&text, "s");
	(void)sbx_out_finish(&text);
}
