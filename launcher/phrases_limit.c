/* SPDX-License-Identifier: MIT */
/*
 * What is said about limits. As in words.c, everything that is not ours is escaped and bounded, and
 * a line never exceeds SBX_LINE_MAX bytes. Pure.
 */
#include "phrases.h"

#define PATH_SHOWN 170
#define NO_VALUE UINT64_MAX

enum unit {
	UNIT_BYTES,
	UNIT_MS,
	UNIT_ONES,
	UNIT_COUNT
};

static const struct limit {
	const char *name;
	enum unit unit;
	bool refuses;
	const char *error;
	const char *op; /* that is refused, where it is one of ours */
} limits[LIMIT_COUNT] = {
	[LIMIT_NONE] = { "none", UNIT_ONES, false, NULL, NULL },
	[LIMIT_TIMEOUT] = { "timeout", UNIT_MS, false, NULL, NULL },
	[LIMIT_CPU] = { "cpu", UNIT_MS, false, NULL, NULL },
	[LIMIT_MEMORY] = { "memory", UNIT_BYTES, false, NULL, NULL },
	[LIMIT_PROCESSES] = { "processes", UNIT_ONES, true, "EAGAIN", NULL },
	[LIMIT_OPEN_FILES] = { "open_files", UNIT_ONES, true, "EMFILE", NULL },
	[LIMIT_FILE_SIZE] = { "file_size", UNIT_BYTES, true, "EFBIG", "write" },
	[LIMIT_DISK] = { "disk", UNIT_BYTES, true, "ENOSPC", "write" },
	[LIMIT_OUTPUT] = { "output", UNIT_BYTES, false, NULL, NULL },
};

/* The policy's units, largest first. */
static const struct {
	const char *name;
	uint64_t factor;
} units[UNIT_COUNT][5] = {
	[UNIT_BYTES] = { { "T", 1ull << 40 },
			 { "G", 1ull << 30 },
			 { "M", 1ull << 20 },
			 { "k", 1ull << 10 },
			 { "", 1 } },
	[UNIT_MS] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } },
	[UNIT_ONES] = { { "", 1 } },
};

const char *launch_limit_name(enum launch_limit limit)
{
	return limits[limit].name;
}

bool launch_limit_refuses(enum launch_limit limit)
{
	return limits[limit].refuses;
}

/* "512 MB", "60 s", "50" */
static void put_amount(struct sbx_out *out, enum launch_limit limit, uint64_t value)
{
	char text[32];

	switch (limits[limit].unit) {
	case UNIT_BYTES:
		launch_format_size(text, value);
		sbx_out_str(out, text);
		break;
	case UNIT_MS:
		launch_format_time(text, value);
		sbx_out_str(out, text);
		break;
	default:
		sbx_out_number(out, value);
		break;
	}
}

/* "(512 MB; peak 513 MB, mostly node[4123])." */
static void put_memory(const struct launch_hit *hit, struct sbx_out *out)
{
	sbx_out_str(out, "Stopped: memory limit exceeded (");
	put_amount(out, hit->limit, hit->value);
	if (hit->peak) {
		sbx_out_str(out, "; peak ");
		put_amount(out, hit->limit, hit->peak);
	}
	if (hit->who) {
		sbx_out_str(out, hit->peak ? ", mostly " : "; mostly ");
		launch_put_who(hit->who, out);
	}
	sbx_out_str(out, ").");
}

static void put_time(const struct launch_hit *hit, struct sbx_out *out)
{
	sbx_out_str(out, hit->limit == LIMIT_CPU ? "Stopped: CPU time limit exceeded ("
						 : "Stopped: time limit exceeded (");
	put_amount(out, hit->limit, hit->value);
	sbx_out_str(out, ").");
}

static void put_processes(const struct launch_hit *hit, struct sbx_out *out)
{
	uint64_t running = hit->peak ? hit->peak : hit->value;

	sbx_out_str(out, "Cannot start another process: ");
	sbx_out_number(out, running);
	sbx_out_str(out, running == 1 ? " is running (limit " : " are running (limit ");
	sbx_out_number(out, hit->value);
	sbx_out_str(out, ").");
}

static void put_full(const struct launch_hit *hit, struct sbx_out *out)
{
	sbx_out_str(out, "Cannot write");
	if (hit->path && *hit->path) {
		sbx_out_str(out, " to '");
		sbx_out_shortened(out, hit->path, PATH_SHOWN, SBX_ESCAPE_QUOTED);
		sbx_out_str(out, "'");
	}
	sbx_out_str(out, hit->limit == LIMIT_DISK ? ": private tmp and home are full ("
						  : ": file size limit (");
	put_amount(out, hit->limit, hit->value);
	sbx_out_str(out, ").");
}

static void put_limit_headline(const struct launch_hit *hit, struct sbx_out *out)
{
	switch (hit->limit) {
	case LIMIT_TIMEOUT:
	case LIMIT_CPU:
		put_time(hit, out);
		break;
	case LIMIT_MEMORY:
		put_memory(hit, out);
		break;
	case LIMIT_PROCESSES:
		put_processes(hit, out);
		break;
	case LIMIT_OPEN_FILES:
		sbx_out_str(out, "Cannot open more files: limit ");
		sbx_out_number(out, hit->value);
		sbx_out_str(out, ".");
		break;
	case LIMIT_FILE_SIZE:
	case LIMIT_DISK:
		put_full(hit, out);
		break;
	case LIMIT_OUTPUT:
		sbx_out_str(out, "Output cut after ");
		put_amount(out, hit->limit, hit->value);
		sbx_out_str(out, ".");
		break;
	default:
		break;
	}
}

/* Twice as much, and again until what was reached fits; NO_VALUE when no policy could say it. */
static uint64_t enough(const struct launch_hit *hit)
{
	uint64_t max = limits[hit->limit].unit == UNIT_ONES ? INT32_MAX : INT64_MAX;
	uint64_t value = hit->value;

	do {
		if (value == 0 || value > max / 2)
			return NO_VALUE;
		value *= 2;
	} while (value < hit->peak);
	return value;
}

/* "memory = 1G" */
static void put_more(const struct launch_hit *hit, struct sbx_out *out)
{
	const struct limit *limit = &limits[hit->limit];
	uint64_t value = enough(hit);
	size_t unit = 0;

	if (value == NO_VALUE)
		return;
	while (value % units[limit->unit][unit].factor)
		unit++;
	sbx_out_str(out, limit->name);
	sbx_out_str(out, " = ");
	sbx_out_number(out, value / units[limit->unit][unit].factor);
	sbx_out_str(out, units[limit->unit][unit].name);
}

size_t launch_limit_text(const struct sbx_image *image, const struct launch_hit *hit, char *text,
			 size_t size)
{
	struct launch_line line;
	struct sbx_out out;

	sbx_out_init(&out, text, size);
	put_limit_headline(hit, launch_line_begin(&line, LAUNCH_FIRST_LINE));
	launch_line_end(&line, &out);
	if (launch_suggests(image) && enough(hit) != NO_VALUE) {
		sbx_out_str(launch_line_begin(&line, LAUNCH_NEXT_LINE), "To allow more: ");
		put_more(hit, &line.out);
		sbx_out_str(&line.out, " in [limits]");
		launch_line_end(&line, &out);
	}
	return sbx_out_finish(&out);
}

static void put_hit(const struct launch_hit *hit, struct sbx_out *out)
{
	sbx_out_str(out, "\"resource\":");
	sbx_out_json(out, limits[hit->limit].name);
	launch_json_number(out, "limit", hit->value);
	if (hit->peak)
		launch_json_number(out, "peak", hit->peak);
	else
		launch_json_string(out, "peak", NULL);
}

void launch_hit_json(const struct launch_hit *hit, struct sbx_out *out)
{
	if (hit->limit == LIMIT_NONE) {
		sbx_out_str(out, "null");
		return;
	}
	sbx_out_str(out, "{");
	put_hit(hit, out);
	sbx_out_str(out, "}");
}

void launch_limit_json(const struct sbx_image *image, const struct launch_hit *hit,
		       struct sbx_out *out)
{
	const struct limit *limit = &limits[hit->limit];
	char text[SBX_LINE_MAX * 2], more[64];
	struct sbx_out value;

	sbx_out_init(&value, more, sizeof(more));
	if (launch_suggests(image))
		put_more(hit, &value);
	(void)sbx_out_finish(&value);
	put_hit(hit, out);
	launch_json_string(out, "op", limit->op);
	launch_json_string(out, "code", sbx_code_name(SBX_CODE_LIMIT));
	launch_json_string(out, "path", hit->path);
	launch_json_string(out, "resolved", NULL);
	launch_json_string(out, "errno", limit->error);
	sbx_out_str(out, ",\"rule\":null,\"allowed\":[]");
	launch_json_string(out, "suggest", more);
	launch_json_string(out, "reason", NULL);
	(void)launch_limit_text(image, hit, text, sizeof(text));
	launch_json_string(out, "message", text);
}
