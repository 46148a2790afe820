/* SPDX-License-Identifier: MIT */
/*
 * The closing text of a run. It is for people and models that saw the run's output scroll by: one
 * line that says it all, and few that say what. Targets were escaped when they were counted.
 */
#include "report_state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "phrases.h"
#include "repos.h"

#define KINDS_SHOWN 8
#define AGAIN_SHOWN 4
#define HEADLINE_SHOWN 300
#define REPOSITORIES_SHOWN 8
#define PATH_SHOWN 300
#define TIMES " \xc3\x97 " /* U+00D7 */

/* A kind with its place in the table. */
struct place {
	const struct launch_kind *kind;
	enum launch_event event;
	unsigned int op;
	unsigned int code;
};

#define PLACES (EVENT_COUNT * TALLY_OPS * SBX_CODE_COUNT)

/* What follows the operation; nothing where the operation says it. */
static const char *const code_words[SBX_CODE_COUNT] = {
	[SBX_CODE_OUTSIDE] = " outside",
	[SBX_CODE_READ_ONLY] = " read-only",
	[SBX_CODE_DENIED] = " denied",
	[SBX_CODE_PROTECTED] = " protected",
	[SBX_CODE_HIDDEN] = " hidden",
	[SBX_CODE_SUFFIX] = " suffix",
	[SBX_CODE_SIZE] = " too large",
	[SBX_CODE_REFER] = " to more rights",
	[SBX_CODE_PRIVATE_ADDRESS] = " private address",
	[SBX_CODE_SOCKET] = " socket",
};

static void put_count(struct sbx_out *out, uint64_t count, const char *one, const char *many)
{
	sbx_out_number(out, count);
	sbx_out_str(out, count == 1 ? one : many);
}

static void put_elapsed(struct sbx_out *out, const char *before, uint64_t ms)
{
	char text[32];

	launch_format_elapsed(text, ms);
	sbx_out_str(out, before);
	sbx_out_str(out, text);
}

static void put_size(struct sbx_out *out, const char *before, uint64_t bytes, const char *after)
{
	char text[32];

	launch_format_size(text, bytes);
	sbx_out_str(out, before);
	sbx_out_str(out, text);
	sbx_out_str(out, after);
}

static void put_total(const struct launch_report *report, enum launch_event event, const char *one,
		      const char *many, struct sbx_out *out)
{
	sbx_out_str(out, ", ");
	put_count(out, report->tally.totals[event], one, many);
	put_count(out, launch_tally_kinds(&report->tally, event), " kind)", " kinds)");
}

/* "exit 1 after 12.3s, CPU 4.1s, memory peak 287 MB (limit 512 MB), 3 refusals (2 kinds)" */
static void put_head(const struct launch_report *report, const struct launch_end *end,
		     struct sbx_out *out)
{
	const struct sbx_setting *memory = sbx_setting(report->image, SBX_KEY_limits_memory);
	const uint64_t *totals = report->tally.totals;
	char name[LAUNCH_SIGNAL_NAME];

	sbx_out_str(out, "exit ");
	sbx_out_number(out, (uint64_t)end->status);
	if (end->signal) {
		sbx_out_str(out, " (");
		sbx_out_str(out, launch_signal_name(end->signal, name));
		sbx_out_str(out, ")");
	}
	put_elapsed(out, " after ", end->usage.wall_ms);
	put_elapsed(out, ", CPU ", end->usage.cpu_ms);
	if (end->usage.memory_peak) {
		put_size(out, ", memory peak ", end->usage.memory_peak, "");
		if (memory->is_set)
			put_size(out, " (limit ", memory->value, ")");
	}
	if (totals[EVENT_DENIAL])
		put_total(report, EVENT_DENIAL, " refusal (", " refusals (", out);
	if (totals[EVENT_WOULD_DENY])
		put_total(report, EVENT_WOULD_DENY, " only reported (", " only reported (", out);
}

/* "2 × write outside: /etc/hosts, /etc/resolv.conf and 7 more" */
static void put_kind(const struct place *place, struct sbx_out *out)
{
	const struct launch_kind *kind = place->kind;
	uint32_t shown = 0;

	sbx_out_number(out, kind->count);
	sbx_out_str(out, TIMES);
	if (place->op == TALLY_LIMIT) {
		sbx_out_str(out, launch_limit_name((enum launch_limit)place->code));
		sbx_out_str(out, " limit");
	} else {
		sbx_out_str(out, place->code == SBX_CODE_SOCKET ? "open"
				 : place->op == TALLY_SYSCALL
					 ? "syscall"
					 : sbx_op_name((enum sbx_op)place->op));
		sbx_out_str(out, code_words[place->code] ? code_words[place->code] : "");
	}
	sbx_out_str(out, place->event == EVENT_WOULD_DENY ? " (only reported)" : "");
	for (; shown < TALLY_TARGETS && kind->shown[shown]; shown++) {
		sbx_out_str(out, shown ? ", " : ": ");
		sbx_out_str(out, kind->shown[shown]);
	}
	if (kind->targets > shown || kind->more_targets) {
		sbx_out_str(out, shown ? " and " : ": ");
		sbx_out_number(out, kind->targets - shown);
		sbx_out_str(out, kind->more_targets ? " or more others" : " more");
	}
}

/* Most frequent first, then in the order of the table. */
static int by_count(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->kind->count != right->kind->count)
		return left->kind->count < right->kind->count ? 1 : -1;
	return left->kind < right->kind ? -1 : 1;
}

static size_t collect(const struct launch_tally *tally, struct place places[PLACES])
{
	size_t count = 0;

	for (unsigned int event = 0; event < EVENT_COUNT; event++)
		for (unsigned int op = 0; op < TALLY_OPS; op++)
			for (unsigned int code = 0; code < SBX_CODE_COUNT; code++)
				if (tally->kinds[event][op][code].count)
					places[count++] =
						(struct place){ &tally->kinds[event][op][code],
								(enum launch_event)event, op,
								code };
	qsort(places, count, sizeof(places[0]), by_count);
	return count;
}

static void put_kinds(const struct launch_report *report, struct sbx_out *text)
{
	struct place places[PLACES];
	size_t count = collect(&report->tally, places);
	struct launch_line line;
	uint64_t rest = 0;

	for (size_t i = 0; i < count; i++) {
		if (i >= KINDS_SHOWN) {
			rest += places[i].kind->count;
			continue;
		}
		put_kind(&places[i], launch_line_begin(&line, LAUNCH_NEXT_LINE));
		launch_line_end(&line, text);
	}
	if (!rest)
		return;
	sbx_out_str(launch_line_begin(&line, LAUNCH_NEXT_LINE), "and ");
	put_count(&line.out, rest, " of ", " of ");
	put_count(&line.out, count - KINDS_SHOWN, " other kind", " other kinds");
	launch_line_end(&line, text);
}

/* The explained ones that were met most often after that, most often first; returns how many. */
static size_t most_repeated(const struct launch_tally *tally,
			    const struct launch_seen *most[AGAIN_SHOWN], uint64_t *others)
{
	size_t count = 0;

	*others = 0;
	for (uint32_t i = 0; i < tally->seen_count; i++) {
		const struct launch_seen *seen = &tally->seen[i];
		size_t at = count;

		if (!seen->headline || seen->count < 2)
			continue;
		while (at > 0 && most[at - 1]->count < seen->count)
			at--;
		if (count == AGAIN_SHOWN)
			*others += at < count ? most[count - 1]->count - 1 : seen->count - 1;
		else
			count++;
		if (at == AGAIN_SHOWN)
			continue;
		memmove(&most[at + 1], &most[at], (count - 1 - at) * sizeof(most[0]));
		most[at] = seen;
	}
	return count;
}

/* "Cannot read '/etc/passwd': path is outside the sandbox, and 41 more like it" */
static void put_repeated(const struct launch_report *report, struct sbx_out *text)
{
	const struct launch_seen *most[AGAIN_SHOWN];
	uint64_t others;
	size_t count = most_repeated(&report->tally, most, &others);
	struct launch_line line;

	for (size_t i = 0; i < count; i++) {
		/* It was escaped, and only becomes shorter. */
		sbx_out_shortened(launch_line_begin(&line, LAUNCH_FIRST_LINE), most[i]->headline,
				  HEADLINE_SHOWN, SBX_ESCAPE_PLAIN);
		sbx_out_str(&line.out, ", and ");
		sbx_out_number(&line.out, most[i]->count - 1);
		sbx_out_str(&line.out, " more like it");
		launch_line_end(&line, text);
	}
	if (!others)
		return;
	sbx_out_str(launch_line_begin(&line, LAUNCH_FIRST_LINE), "and ");
	sbx_out_number(&line.out, others);
	sbx_out_str(&line.out, " more like others explained before");
	launch_line_end(&line, text);
}

static bool wants_summary(const struct launch_report *report)
{
	const uint64_t *totals = report->tally.totals;

	return report->voice == VOICE_VERBOSE ||
	       (report->voice == VOICE_NORMAL &&
		totals[EVENT_DENIAL] + totals[EVENT_WOULD_DENY] + totals[EVENT_LIMIT] > 0);
}

/* What others will trust, and nobody protected: repositories that the program made. */
static void put_repositories(struct launch_repos *repos, struct sbx_out *text)
{
	struct launch_line line;
	const char *path;
	unsigned int shown = 0;

	for (size_t i = 0; (path = launch_repos_path(repos, i)); i++) {
		if (access(path, F_OK) < 0)
			continue;
		if (shown++ == REPOSITORIES_SHOWN)
			break;
		sbx_out_str(launch_line_begin(&line, LAUNCH_FIRST_LINE), "made in this run, ");
		sbx_out_str(&line.out, "so its hooks and settings are the program's own: ");
		sbx_out_shortened(&line.out, path, PATH_SHOWN, SBX_ESCAPE_PLAIN);
		launch_line_end(&line, text);
	}
}

void launch_summary_write(struct launch_report *report, const struct launch_end *end)
{
	char text[SBX_TEXT_MAX * 2];
	struct launch_line line;
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	if (report->explains)
		put_repeated(report, &out);
	if (wants_summary(report)) {
		put_head(report, end, launch_line_begin(&line, LAUNCH_FIRST_LINE));
		launch_line_end(&line, &out);
		put_kinds(report, &out);
	}
	if (end->repos && report->voice >= VOICE_NORMAL)
		put_repositories(end->repos, &out);
	if (out.len)
		launch_sink_put(&report->text, out.text, out.len);
}
