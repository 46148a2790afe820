/* SPDX-License-Identifier: MIT */
/*
 * The end of a run for machines: the closing lines of the log, and the one object of --json.
 *
 * Whatever a program wrote, the object is valid JSON. Streams may have many megabytes: they pass
 * through a small buffer, and are read once.
 */
#include "report_state.h"

#include <stdlib.h>
#include <string.h>

#include "phrases.h"

#define PIECE 65536
#define LONGEST 16 /* bytes of one character, escaped */
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

/* Output on its way. The first error ends it. */
struct writer {
	int fd;
	int error;
	size_t len;
	char bytes[PIECE];
};

static void flush(struct writer *writer)
{
	if (!writer->error)
		writer->error = launch_write_all(writer->fd, writer->bytes, writer->len);
	writer->len = 0;
}

static void put_bytes(struct writer *writer, const char *bytes, size_t len)
{
	while (len > 0 && !writer->error) {
		size_t room = PIECE - writer->len;
		size_t now = len < room ? len : room;

		memcpy(writer->bytes + writer->len, bytes, now);
		writer->len += now;
		bytes += now;
		len -= now;
		if (writer->len == PIECE)
			flush(writer);
	}
}

static void put_str(struct writer *writer, const char *text)
{
	put_bytes(writer, text, strlen(text));
}

static void put_bool(struct writer *writer, const char *name, bool value)
{
	put_str(writer, ",\"");
	put_str(writer, name);
	put_str(writer, value ? "\":true" : "\":false");
}

static bool is_plain(char c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* The escape of one character that has a short one, or NULL. */
static const char *short_escape(char c)
{
	switch (c) {
	case '\n':
		return "\\n";
	case '\t':
		return "\\t";
	case '\r':
		return "\\r";
	case '"':
		return "\\\"";
	case '\\':
		return "\\\\";
	default:
		return NULL;
	}
}

/* One character that is not plain; returns its length. */
static size_t put_character(struct writer *writer, const char *bytes, size_t left, bool *replaced)
{
	const char *known = short_escape(*bytes);
	char shown[LONGEST];
	struct sbx_out out;
	uint32_t c;
	size_t len = sbx_utf8_decode(bytes, left, &c);

	if (known) {
		put_str(writer, known);
		return 1;
	}
	if (!len) {
		put_str(writer, REPLACEMENT);
		*replaced = true;
		return 1;
	}
	sbx_out_init(&out, shown, sizeof(shown));
	sbx_out_escaped(&out, bytes, len, SBX_ESCAPE_JSON);
	put_bytes(writer, shown, out.len);
	return len;
}

/* Without the character that a cut went through: it was the launcher that broke it. */
static size_t whole_length(const struct launch_stream *stream)
{
	uint32_t c;

	for (size_t back = 1; stream->cut && back <= 3 && back <= stream->len; back++) {
		const char *at = stream->bytes + stream->len - back;
		unsigned char lead = (unsigned char)*at;
		size_t want = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;

		if (lead < 0x80)
			break;
		if (lead >= 0xc2 && lead <= 0xf4)
			return want > back && !sbx_utf8_decode(at, back, &c) ? stream->len - back
									     : stream->len;
	}
	return stream->len;
}

/* "…"; returns whether anything had to be replaced. */
static bool put_stream(struct writer *writer, const struct launch_stream *stream)
{
	size_t len = stream ? whole_length(stream) : 0, at = 0;
	bool replaced = false;

	put_str(writer, "\"");
	while (at < len && !writer->error) {
		size_t plain = at;

		while (plain < len && is_plain(stream->bytes[plain]))
			plain++;
		put_bytes(writer, stream->bytes + at, plain - at);
		at = plain;
		if (at < len)
			at += put_character(writer, stream->bytes + at, len - at, &replaced);
	}
	put_str(writer, "\"");
	return replaced;
}

static bool timed_out(const struct launch_end *end)
{
	return end->hit.limit == LIMIT_TIMEOUT || end->hit.limit == LIMIT_CPU;
}

/* "exit_code":…,"signal":…,"timed_out":… */
static void put_status(const struct launch_end *end, struct sbx_out *out)
{
	char name[LAUNCH_SIGNAL_NAME];

	sbx_out_str(out, "\"exit_code\":");
	sbx_out_number(out, (uint64_t)end->status);
	launch_json_string(out, "signal",
			   end->signal ? launch_signal_name(end->signal, name) : NULL);
	sbx_out_str(out, timed_out(end) ? ",\"timed_out\":true" : ",\"timed_out\":false");
}

/* ,"limit":…,"usage":{…} */
static void put_usage(const struct launch_end *end, struct sbx_out *out)
{
	sbx_out_str(out, ",\"limit\":");
	launch_hit_json(&end->hit, out);
	sbx_out_str(out, ",\"usage\":{\"wall_ms\":");
	sbx_out_number(out, end->usage.wall_ms);
	launch_json_number(out, "cpu_ms", end->usage.cpu_ms);
	launch_json_number(out, "memory_peak_bytes", end->usage.memory_peak);
	launch_json_number(out, "processes_peak", end->usage.processes_peak);
	sbx_out_str(out, "}");
}

/* --- The object --- */

/* What refuses something; a limit that ended the run, or cut its output, has members of its own. */
static bool is_violation(const struct launch_seen *seen)
{
	return seen->event != EVENT_LIMIT || launch_limit_refuses((enum launch_limit)seen->code);
}

static uint64_t all_violations(const struct launch_tally *tally)
{
	uint64_t count = tally->totals[EVENT_DENIAL] + tally->totals[EVENT_WOULD_DENY];

	for (unsigned int limit = 0; limit < LIMIT_COUNT; limit++)
		if (launch_limit_refuses((enum launch_limit)limit))
			count += tally->kinds[EVENT_LIMIT][TALLY_LIMIT][limit].count;
	return count;
}

static void put_event(struct writer *writer, const struct launch_report *report,
		      const struct launch_seen *seen)
{
	char text[512];
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	launch_report_json_head(report, seen->time_ms, launch_event_name(seen->event), &out);
	put_bytes(writer, text, out.len);
	put_str(writer, seen->members);
	sbx_out_init(&out, text, sizeof(text));
	launch_json_number(&out, "count", seen->count);
	sbx_out_str(&out, "}");
	put_bytes(writer, text, out.len);
}

static void put_violations(struct writer *writer, const struct launch_report *report)
{
	const struct launch_tally *tally = &report->tally;
	uint64_t left_out = all_violations(tally);
	const char *comma = "";
	char text[64];
	struct sbx_out out;

	put_str(writer, ",\"violations\":[");
	for (uint32_t i = 0; i < tally->seen_count; i++) {
		if (!tally->seen[i].members || !is_violation(&tally->seen[i]))
			continue;
		put_str(writer, comma);
		put_event(writer, report, &tally->seen[i]);
		left_out -= tally->seen[i].count;
		comma = ",";
	}
	put_str(writer, "]");
	if (!left_out)
		return;
	sbx_out_init(&out, text, sizeof(text));
	launch_json_number(&out, "violations_left_out", left_out);
	put_bytes(writer, text, out.len);
}

static void put_streams(struct writer *writer, const struct launch_stream *out,
			const struct launch_stream *err)
{
	bool replaced_out, replaced_err;

	put_str(writer, ",\"stdout\":");
	replaced_out = put_stream(writer, out);
	put_str(writer, ",\"stderr\":");
	replaced_err = put_stream(writer, err);
	put_bool(writer, "truncated", (out && out->cut) || (err && err->cut));
	if (replaced_out)
		put_bool(writer, "stdout_replaced", true);
	if (replaced_err)
		put_bool(writer, "stderr_replaced", true);
}

int launch_report_result(const struct launch_report *report, const struct launch_end *end,
			 const struct launch_stream *out, const struct launch_stream *err,
			 const char *layers_json, int fd)
{
	struct writer writer = { .fd = fd };
	char text[512];
	struct sbx_out part;

	put_str(&writer, "{\"v\":1");
	put_bool(&writer, "success", end->status == 0 && end->hit.limit == LIMIT_NONE);
	put_str(&writer, ",");
	sbx_out_init(&part, text, sizeof(text));
	put_status(end, &part);
	put_bytes(&writer, text, part.len);
	put_streams(&writer, out, err);
	put_violations(&writer, report);
	sbx_out_init(&part, text, sizeof(text));
	put_usage(end, &part);
	put_bytes(&writer, text, part.len);
	put_str(&writer, ",\"layers\":");
	put_str(&writer, layers_json ? layers_json : "{}");
	put_str(&writer, "}\n");
	flush(&writer);
	return writer.error;
}

/* --- The log --- */

/* What was met again, once more, with how often. */
static void log_repeated(struct launch_report *report)
{
	const struct launch_tally *tally = &report->tally;

	for (uint32_t i = 0; i < tally->seen_count; i++) {
		const struct launch_seen *seen = &tally->seen[i];
		struct sbx_out line;

		if (!seen->logged || !seen->members || seen->count < 2)
			continue;
		line = launch_log_begin(report, launch_event_name(seen->event));
		sbx_out_str(&line, seen->members);
		launch_json_number(&line, "count", seen->count - 1);
		launch_log_end(report, &line);
	}
}

static uint64_t not_logged(const struct launch_tally *tally)
{
	uint64_t count = 0;

	for (unsigned int event = 0; event < EVENT_COUNT; event++)
		count += tally->totals[event];
	for (uint32_t i = 0; i < tally->seen_count; i++)
		if (tally->seen[i].logged)
			count -= tally->seen[i].members ? tally->seen[i].count : 1;
	return count;
}

void launch_result_log(struct launch_report *report, const struct launch_end *end)
{
	const struct launch_tally *tally = &report->tally;
	struct sbx_out line;

	if (report->log.fd < 0)
		return;
	log_repeated(report);
	line = launch_log_begin(report, "exit");
	sbx_out_str(&line, ",");
	put_status(end, &line);
	put_usage(end, &line);
	launch_json_number(&line, "refusals", tally->totals[EVENT_DENIAL]);
	launch_json_number(&line, "kinds", launch_tally_kinds(tally, EVENT_DENIAL));
	launch_json_number(&line, "would_deny", tally->totals[EVENT_WOULD_DENY]);
	launch_json_number(&line, "limits", tally->totals[EVENT_LIMIT]);
	launch_json_number(&line, "not_logged", not_logged(tally));
	launch_log_end(report, &line);
}
