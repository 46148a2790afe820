/* SPDX-License-Identifier: MIT */
/*
 * Events of a run: counted first, and put in words only when they are news.
 *
 * Names and paths come from hostile programs, and as many as they like: whatever is kept, printed or
 * logged for an event has a bound. An event that was met before costs a hash and no system call.
 */
#include "report_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "phrases.h"
#include "sockets.h"

#define TAIL_MAX (SBX_JSON_MAX / 4) /* head, exe, cwd and the rest of a line */
#define JSON_LINE_MAX (SBX_JSON_MAX + TAIL_MAX)
#define COMMAND_MAX (SBX_JSON_MAX / 2)

/* [errors] to, in the order of its words. */
enum {
	TO_STDERR,
	TO_LOG,
	TO_NONE
};

/* One event with all that words can be made from: exactly one of the last three is there. */
struct happening {
	struct launch_key key;
	bool hidden; /* explained only to who wants to know everything */
	const struct launch_who *who;
	const char *layer;
	const struct sbx_report *denial;
	const struct launch_refused *call;
	const struct launch_hit *hit;
};

const char *launch_event_name(enum launch_event event)
{
	static const char *const names[EVENT_COUNT] = { "denial", "would_deny", "limit" };

	return names[event];
}

int launch_report_new(const struct launch_report_setup *setup, struct launch_report **report)
{
	const struct sbx_setting *to = sbx_setting(setup->image, SBX_KEY_errors_to);
	struct launch_report *new = calloc(1, sizeof(*new));
	struct sbx_out run;

	if (!new)
		return -ENOMEM;
	new->image = setup->image;
	new->voice = setup->voice;
	new->explains = setup->text_fd >= 0 && setup->voice > VOICE_NOTHING &&
			(!to->is_set || to->value == TO_STDERR);
	new->logs = setup->log_fd >= 0 && (!to->is_set || to->value == TO_LOG);
	new->keeps = setup->keep || new->logs;
	if (setup->keep || setup->log_fd >= 0) {
		new->line = malloc(JSON_LINE_MAX);
		if (!new->line) {
			free(new);
			return -ENOMEM;
		}
	}
	launch_sink_init(&new->text, setup->text_fd);
	launch_sink_init(&new->log, setup->log_fd);
	sbx_out_init(&run, new->run, sizeof(new->run));
	sbx_out_escaped(&run, setup->run ? setup->run : "", setup->run ? strlen(setup->run) : 0,
			SBX_ESCAPE_PLAIN);
	(void)sbx_out_finish(&run);
	launch_tally_init(&new->tally);
	*report = new;
	return 0;
}

void launch_report_free(struct launch_report *report)
{
	if (!report)
		return;
	launch_tally_done(&report->tally);
	free(report->line);
	free(report);
}

/* --- JSON lines --- */

int64_t launch_report_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void put_digits(struct sbx_out *out, uint64_t number, int digits, const char *after)
{
	for (uint64_t least = 10; digits > 1; digits--, least *= 10)
		sbx_out_str(out, number < least ? "0" : "");
	sbx_out_number(out, number);
	sbx_out_str(out, after);
}

/*
 * RFC 3339, in UTC. gmtime_r() would read the time zone's file. Years begin in March, so that the
 * day that some have more is their last.
 */
static void put_time(struct sbx_out *out, uint64_t ms)
{
	uint64_t days = ms / 86400000 + 719468; /* since 0000-03-01 */
	uint64_t era = days / 146097, day = days % 146097;
	uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint64_t month;

	day -= year * 365 + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	day -= (153 * month + 2) / 5;
	month = month < 10 ? month + 3 : month - 9;
	put_digits(out, era * 400 + year + (month <= 2), 4, "-");
	put_digits(out, month, 2, "-");
	put_digits(out, day + 1, 2, "T");
	put_digits(out, ms / 3600000 % 24, 2, ":");
	put_digits(out, ms / 60000 % 60, 2, ":");
	put_digits(out, ms / 1000 % 60, 2, ".");
	put_digits(out, ms % 1000, 3, "Z");
}

void launch_report_json_head(const struct launch_report *report, int64_t time_ms, const char *event,
			     struct sbx_out *out)
{
	sbx_out_str(out, "{\"v\":1,\"time\":\"");
	put_time(out, time_ms > 0 ? (uint64_t)time_ms : 0);
	sbx_out_str(out, "\"");
	launch_json_string(out, "run", report->run);
	launch_json_string(out, "event", event);
}

struct sbx_out launch_log_begin(const struct launch_report *report, const char *event)
{
	struct sbx_out line;

	sbx_out_init(&line, report->line, report->line ? JSON_LINE_MAX : 0);
	launch_report_json_head(report, launch_report_now(), event, &line);
	return line;
}

void launch_log_end(struct launch_report *report, struct sbx_out *line)
{
	sbx_out_str(line, "}\n");
	if (line->len == line->want)
		launch_sink_put(&report->log, line->text, line->len);
}

static void put_tail(const struct happening *what, struct sbx_out *out)
{
	const struct launch_who *who = what->who;
	const char *cwd = who && *who->cwd ? who->cwd : what->denial ? what->denial->cwd : NULL;
	const char *call = what->denial ? what->denial->syscall
			   : what->call ? what->call->name
					: NULL;
	uint64_t pid = who && who->pid > 0 ? (uint64_t)who->pid
		       : what->denial	   ? what->denial->pid
					   : 0;

	launch_json_string(out, "syscall", call);
	if (pid)
		launch_json_number(out, "pid", pid);
	else
		launch_json_string(out, "pid", NULL);
	launch_json_string(out, "exe", who ? who->exe : NULL);
	launch_json_string(out, "cwd", cwd);
	launch_json_string(out, "layer", what->layer);
}

static void put_members(const struct launch_report *report, const struct happening *what,
			struct sbx_out *out)
{
	sbx_out_str(out, ",");
	if (what->denial)
		sbx_words_json(what->denial, out);
	else if (what->call)
		launch_call_json(what->call, out);
	else
		launch_limit_json(report->image, what->hit, out);
	put_tail(what, out);
}

static void keep(struct launch_report *report, struct launch_seen *seen, const char *members,
		 size_t len)
{
	seen->members = strndup(members, len);
	if (!seen->members)
		return;
	report->kept++;
	report->kept_bytes += len;
}

/* So much is kept and so much is logged; and of each kind the first in any case. */
static void record(struct launch_report *report, const struct happening *what,
		   struct launch_seen *seen, bool first)
{
	bool keeps =
		report->keeps &&
		(first || (report->kept < REPORT_KEPT && report->kept_bytes < REPORT_KEPT_BYTES));
	bool logs = report->logs && (first || report->logged_bytes < REPORT_LOGGED_BYTES);
	struct sbx_out line;
	size_t head;

	seen->time_ms = launch_report_now();
	if (!keeps && !logs)
		return;
	line = launch_log_begin(report, launch_event_name(what->key.event));
	head = line.len;
	put_members(report, what, &line);
	if (line.len != line.want)
		return;
	if (keeps)
		keep(report, seen, line.text + head, line.len - head);
	if (!logs)
		return;
	launch_json_number(&line, "count", 1);
	launch_log_end(report, &line);
	report->logged_bytes += line.len;
	seen->logged = true;
}

/* --- Text --- */

static size_t make_text(const struct launch_report *report, const struct happening *what,
			char *text, size_t size)
{
	size_t want = what->denial ? sbx_words_text(what->denial, text, size)
		      : what->call ? launch_call_text(what->call, text, size)
				   : launch_limit_text(report->image, what->hit, text, size);

	return want < size ? want : strlen(text);
}

/* The first line, without "sbx: " and the full stop: what is met again is said once more in short. */
static char *headline_of(const char *text)
{
	size_t skip = strlen(LAUNCH_FIRST_LINE), len = strcspn(text, "\n");

	if (len > skip && text[len - 1] == '.')
		len--;
	return len > skip ? strndup(text + skip, len - skip) : NULL;
}

static void say_enough(struct launch_report *report)
{
	struct launch_line line;
	struct sbx_out out;
	char text[SBX_LINE_MAX];

	if (report->said_enough)
		return;
	report->said_enough = true;
	sbx_out_init(&out, text, sizeof(text));
	sbx_out_number(launch_line_begin(&line, LAUNCH_FIRST_LINE), report->explained);
	sbx_out_str(&line.out, " refusals were explained; further refusals are only counted, but "
			       "for the first of a kind.");
	launch_line_end(&line, &out);
	launch_sink_put(&report->text, out.text, out.len);
}

static void explain(struct launch_report *report, const struct happening *what,
		    struct launch_seen *seen, bool first)
{
	char text[SBX_TEXT_MAX];

	if (!report->explains || (what->hidden && report->voice < VOICE_VERBOSE))
		return;
	if (report->explained >= REPORT_EXPLAINED && !first) {
		say_enough(report);
		return;
	}
	launch_sink_put(&report->text, text, make_text(report, what, text, sizeof(text)));
	seen->headline = headline_of(text);
	report->explained++;
}

static void happen(struct launch_report *report, const struct happening *what)
{
	struct launch_seen *seen;
	enum launch_news news = launch_tally_add(&report->tally, &what->key, &seen);

	switch (news) {
	case NEWS_KIND:
	case NEWS_EVENT:
		explain(report, what, seen, news == NEWS_KIND);
		record(report, what, seen, news == NEWS_KIND);
		break;
	case NEWS_COUNTED:
		if (report->explains && !what->hidden)
			say_enough(report);
		break;
	case NEWS_AGAIN:
		break;
	}
}

/* --- What is reported --- */

static void put_command(const char *const *argv, struct sbx_out *out)
{
	uint64_t left_out = 0;

	sbx_out_str(out, ",\"command\":[");
	for (size_t i = 0; argv && argv[i]; i++) {
		/* A byte becomes six at most: \u00NN. */
		if (left_out || out->len + strlen(argv[i]) * 6 + 8 > COMMAND_MAX) {
			left_out++;
			continue;
		}
		sbx_out_str(out, i ? "," : "");
		sbx_out_json(out, argv[i]);
	}
	sbx_out_str(out, "]");
	if (left_out)
		launch_json_number(out, "arguments_left_out", left_out);
}

void launch_report_start(struct launch_report *report, const char *const *argv, pid_t pid,
			 const char *layers_json)
{
	const struct sbx_image *image = report->image;
	struct sbx_out line;

	if (report->log.fd < 0)
		return;
	line = launch_log_begin(report, "start");
	launch_json_number(&line, "pid", (uint64_t)pid);
	put_command(argv, &line);
	launch_json_string(&line, "policy",
			   image->main_file == SBX_NONE
				   ? NULL
				   : sbx_str(image, sbx_files(image)[image->main_file].name));
	sbx_out_str(&line, ",\"layers\":");
	sbx_out_str(&line, layers_json ? layers_json : "{}");
	launch_log_end(report, &line);
}

/* What the refusal is about, as the summary lists it. */
static const char *target_of(const struct sbx_report *denial)
{
	const struct sbx_request *request = denial->request;
	const char *target = denial->given;

	if (!(sbx_ops[request->op].flags & SBX_OP_IS_NET))
		target = denial->verdict->flags & SBX_VERDICT_TARGET ? request->to : request->path;
	return target ? target : denial->given ? denial->given : "";
}

/* A shell that may not execute a file looks into it, to say what is wrong with it: that is no news. */
static bool is_echo(struct launch_report *report, const struct launch_key *key)
{
	if (key->op == SBX_OP_EXEC) {
		report->exec_pid = key->pid;
		(void)snprintf(report->exec_target, sizeof(report->exec_target), "%s", key->target);
	}
	return key->op == SBX_OP_READ && key->pid == report->exec_pid &&
	       !strcmp(key->target, report->exec_target);
}

void launch_report_denial(struct launch_report *report, const struct sbx_report *denial,
			  const struct launch_who *who, const char *layer)
{
	struct sbx_report full = *denial;
	const struct sbx_verdict *verdict = denial->verdict;
	struct happening what = {
		.key = { .event = verdict->flags & SBX_VERDICT_COMPLAIN ? EVENT_WOULD_DENY
									: EVENT_DENIAL,
			 .op = denial->request->op,
			 .code = verdict->code,
			 .target = target_of(denial) },
		.hidden = verdict->code == SBX_CODE_HIDDEN,
		.who = who,
		.layer = layer,
		.denial = &full,
	};

	if (!full.given)
		full.given = what.key.target;
	if (who && !full.program) {
		full.program = launch_who_name(who);
		full.pid = (uint32_t)who->pid;
	}
	if (who && !full.cwd && *who->cwd)
		full.cwd = who->cwd;
	what.key.pid = (pid_t)full.pid;
	what.hidden |= is_echo(report, &what.key);
	happen(report, &what);
}

void launch_report_syscall(struct launch_report *report, const char *call, unsigned int how,
			   const struct launch_who *who)
{
	const struct launch_refused refused = {
		.image = report->image, .name = call, .how = how, .who = who
	};
	const struct happening what = {
		.key = { .event = how & REPORT_COMPLAIN ? EVENT_WOULD_DENY : EVENT_DENIAL,
			 .op = TALLY_SYSCALL,
			 .code = SBX_CODE_SYSCALL,
			 .pid = who ? who->pid : 0,
			 .target = call },
		.who = who,
		.layer = "seccomp",
		.call = &refused,
	};

	happen(report, &what);
}

void launch_report_socket(struct launch_report *report, const char *call,
			  const struct launch_socket *socket, const struct launch_who *who)
{
	const struct launch_refused refused = {
		.image = report->image, .name = call, .socket = socket, .who = who
	};
	const struct happening what = {
		.key = { .event = EVENT_DENIAL,
			 .op = TALLY_SYSCALL,
			 .code = SBX_CODE_SOCKET,
			 .pid = who ? who->pid : 0,
			 .target = socket->what },
		.who = who,
		.layer = "seccomp",
		.call = &refused,
	};

	happen(report, &what);
}

/* A fork bomb meets the limit in every process: it is told once, not once per process. */
void launch_report_limit(struct launch_report *report, const struct launch_hit *hit)
{
	const struct happening what = {
		.key = { .event = EVENT_LIMIT,
			 .op = TALLY_LIMIT,
			 .code = hit->limit,
			 .target = hit->limit == LIMIT_FILE_SIZE && hit->path ? hit->path : "" },
		.who = hit->who,
		.layer = "limit",
		.hit = hit,
	};

	if (hit->limit != LIMIT_NONE)
		happen(report, &what);
}

void launch_report_end(struct launch_report *report, const struct launch_end *end)
{
	if (!report->tally.kinds[EVENT_LIMIT][TALLY_LIMIT][end->hit.limit].count)
		launch_report_limit(report, &end->hit);
	report->text.patience_ms = SINK_PATIENCE_MS;
	report->log.patience_ms = SINK_PATIENCE_MS;
	launch_summary_write(report, end);
	launch_result_log(report, end);
}
