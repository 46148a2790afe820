/* SPDX-License-Identifier: MIT */
/*
 * --doctor: the table of what can be had here, as text and as JSON, and the runs of this user.
 *
 * One row owns all that is said of a capability. Whether it is there is the probes' word alone.
 */
#include "doctor.h"

#include "doctor_probe.h"
#include "landlock.h"
#include "preload.h"
#include "private.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "out.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMNS 100
#define NAME_WIDTH 17
#define INDENT (2 + 4 + NAME_WIDTH + 1)

/* A layer is what a boundary or a limit stands on; what is none costs speed, words or comfort. */
struct row {
	const char *name;
	bool layer;
	const char *needs; /* the row without which it is not tried */
	launch_probe *probe;
	const char *purpose;
	const char *lost;
};

static const struct row rows[] = {
	{ "landlock", true, NULL, launch_try_landlock,
	  "the kernel itself holds paths, programs, TCP ports and signals",
	  "the supervisor opens and changes files on the program's behalf: the same boundaries, "
	  "but "
	  "slower; only programs are checked and then started, which a hostile thread can race" },
	{ "landlock_layers", true, "landlock", launch_try_landlock_layers,
	  "one Landlock layer for the launcher and one for the program",
	  "no sandbox can be started in here: start fewer of them inside each other" },
	{ "no_new_privs", true, NULL, launch_try_no_new_privs,
	  "su, sudo and set-uid programs gain nothing",
	  "an ordinary user can load neither Landlock rules nor filters" },
	{ "seccomp", true, NULL, launch_try_seccomp,
	  "dangerous system calls are refused by an allow-list",
	  "ptrace, mount, bpf, keyctl and their like are held only by what else is here" },
	{ "notify", true, NULL, launch_try_notify,
	  "refusals are explained, and the supervisor serves what Landlock cannot say",
	  "deny and hide inside something allowed, patterns, suffixes, sizes, chmod, addresses and "
	  "host names are not held, and only the shim explains; with no Landlock either, nothing "
	  "holds paths" },
	{ "notify_addfd", true, "notify", launch_try_notify_addfd,
	  "the supervisor hands over the files that it opened",
	  "what is brokered cannot be opened at all" },
	{ "notify_addfd_send", false, "notify", launch_try_notify_addfd_send,
	  "handing over and answering in one step",
	  "a call that is interrupted in between leaves an open file in the program" },
	{ "notify_killable", false, "notify", launch_try_notify_killable,
	  "signals do not interrupt a call that is being served (WAIT_KILLABLE_RECV)",
	  "programs that signal themselves often, like Go's, repeat such calls, perhaps for ever" },
	{ "notify_sync", false, "notify", launch_try_notify_sync,
	  "a call wakes the supervisor on its own CPU (SYNC_WAKE_UP)",
	  "notified calls take five times as long" },
	{ "read_memory", true, NULL, launch_try_read_memory,
	  "the supervisor reads the arguments of calls (process_vm_readv)",
	  "no path and no address of a notified call is known: such calls are refused" },
	{ "pidfd", true, NULL, launch_try_pidfd,
	  "the supervisor takes the listener and sockets from the program (pidfd_getfd)",
	  "there are no notifications, and nothing connects on behalf" },
	{ "close_range", false, NULL, launch_try_close_range,
	  "inherited descriptors are closed in one step (CLOSE_RANGE_UNSHARE)",
	  "they are closed one by one" },
	{ "userns", true, NULL, launch_try_userns, "the namespaces below, for an ordinary user",
	  "an ordinary user gets no namespaces; root takes them without it" },
	{ "mountns", true, NULL, launch_try_mountns,
	  "masks over denied and read-only places, and a private tmp of a given size",
	  "such places are brokered: slower, and nothing can be executed beside them" },
	{ "netns", true, NULL, launch_try_netns, "a network of its own, with no way out",
	  "host names are resolved at launch and pinned, and later look-ups go through the shim; "
	  "destinations are held by the supervisor and by Landlock's ports" },
	{ "netns_route", false, "netns", launch_try_netns_route,
	  "look-ups reach the supervisor's resolver, whatever server is asked",
	  "host names are resolved at launch and pinned, and later look-ups go through the shim" },
	{ "pidns", true, NULL, launch_try_pidns,
	  "isolate = full: other processes cannot be seen or signalled",
	  "names and command lines of other processes stay visible" },
	{ "pidns_proc", false, "pidns", launch_try_pidns_proc, "isolate = full: a /proc of its own",
	  "names and command lines of other processes stay visible" },
	{ "ipcns", false, NULL, launch_try_ipcns,
	  "isolate = full: System V IPC and the host's name of its own",
	  "System V IPC of this user is shared" },
	{ "subreaper", true, NULL, launch_try_subreaper,
	  "what the program leaves behind is found and ended",
	  "daemons outlive their sandbox and its limits" },
	{ "pdeathsig", true, NULL, launch_try_pdeathsig,
	  "a killed launcher takes the program along", "the program outlives a killed launcher" },
	{ "children", false, NULL, launch_try_children,
	  "the tree of processes is read from /proc/PID/task/TID/children",
	  "it is found by reading all of /proc: limits are checked less often" },
	{ "cpu_timer", false, NULL, launch_try_cpu_timer,
	  "the CPU limit is a timer on the program's clock", "the CPU limit is found by sampling" },
	{ "rlimits", true, NULL, launch_try_rlimits,
	  "memory and open files are bounded in each process",
	  "the memory limit has no backstop between two samples" },
	{ "smaps", false, NULL, launch_try_smaps,
	  "shared memory is counted once (/proc/PID/smaps_rollup)",
	  "the memory limit counts shared pages once for each process" },
	{ "memfd_noexec", false, NULL, launch_try_memfd_noexec,
	  "files in memory cannot be executed (MFD_NOEXEC_SEAL)",
	  "a program can execute what it wrote to a memfd, unless memfds are refused" },
};

/* What is shown of a row, or of a gap in Landlock. */
struct line {
	const char *name;
	bool layer;
	const char *purpose;
	const char *lost;
	const struct launch_finding *found;
};

/* All runs of this user. */
struct roll {
	struct launch_run *runs;
	size_t count;
};

static size_t row_named(const char *name)
{
	size_t i = 0;

	while (i < COUNT(rows) && strcmp(rows[i].name, name) != 0)
		i++;
	return i;
}

/* Findings are this process's: a child may stand in another place. Never goes deeper than 'needs'. */
static const struct launch_finding *examine(size_t index)
{
	static struct launch_finding findings[COUNT(rows)];
	static pid_t owner;
	const struct row *row = &rows[index];
	struct launch_finding *found = &findings[index];

	if (owner != getpid()) {
		memset(findings, 0, sizeof(findings));
		owner = getpid();
	}
	if (found->state != STATE_UNTRIED || found->detail[0])
		return found;
	if (row->needs && !launch_has(row->needs)) {
		found->state = STATE_IMPLIED;
		launch_probe_say(found, "needs %s", row->needs);
	} else {
		launch_probe_run(row->probe, found);
	}
	return found;
}

bool launch_has(const char *capability)
{
	size_t index = row_named(capability);

	return index < COUNT(rows) && examine(index)->state == STATE_YES;
}

const char *launch_has_not(const char *capability)
{
	size_t index = row_named(capability);

	if (index == COUNT(rows))
		return "there is no such capability";
	return examine(index)->state == STATE_YES ? "" : examine(index)->detail;
}

/* What a Landlock that is there lacks. */
static void each_gap(int abi, void (*put)(const struct line *line, void *arg), void *arg)
{
	for (const struct launch_gap *gap = launch_landlock_gaps; gap->abi; gap++) {
		struct launch_finding found = { .state = STATE_NO };
		char name[32];
		const struct line line = { name, false, "what newer kernels hold", gap->what,
					   &found };

		if (abi >= gap->abi)
			continue;
		snprintf(name, sizeof(name), "landlock_abi_%d", gap->abi);
		launch_probe_say(&found, "ABI %d is here", abi);
		put(&line, arg);
	}
}

static void each_line(void (*put)(const struct line *line, void *arg), void *arg)
{
	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct launch_finding *found = examine(i);
		const struct line line = { rows[i].name, rows[i].layer, rows[i].purpose,
					   rows[i].lost, found };

		put(&line, arg);
		if (rows[i].probe == launch_try_landlock && found->state == STATE_YES)
			each_gap(found->number, put, arg);
	}
}

/* Those missing for a reason of their own. */
struct missing {
	size_t layers;
	size_t parts;
	char layer_names[512];
	char part_names[512];
};

static void count_missing(const struct line *line, void *arg)
{
	struct missing *missing = arg;
	char *names = line->layer ? missing->layer_names : missing->part_names;
	size_t *count = line->layer ? &missing->layers : &missing->parts;
	size_t len = strlen(names), room = sizeof(missing->layer_names) - len;

	if (line->found->state == STATE_YES || line->found->state == STATE_IMPLIED)
		return;
	snprintf(names + len, room, "%s%s", *count ? ", " : "", line->name);
	++*count;
}

static void keep_run(const struct launch_run *run, void *arg)
{
	struct roll *roll = arg;
	struct launch_run *runs = realloc(roll->runs, (roll->count + 1) * sizeof(*runs));

	if (!runs)
		return;
	roll->runs = runs;
	runs[roll->count++] = *run;
}

static size_t count_runs(const struct roll *roll, bool alive)
{
	size_t count = 0;

	for (size_t i = 0; i < roll->count; i++)
		count += (roll->runs[i].launcher != 0) == alive;
	return count;
}

struct page {
	FILE *to;
	bool colours;
	bool more; /* an element was put before */
};

/* Words from the column INDENT on, in lines of COLUMNS; the first one begins with 'label'. */
static void put_wrapped(FILE *to, const char *label, const char *text)
{
	int column = fprintf(to, "%*s%s", INDENT, "", label);

	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column + 1 + len > COLUMNS)
			column = fprintf(to, "\n%*s", INDENT + (int)strlen(label), "") - 1;
		column += fprintf(to, " %.*s", len, text);
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

static void put_line(const struct line *line, void *arg)
{
	static const char *const words[] = { "?", "yes", "no", "?", "-" };
	const struct page *page = arg;
	const struct launch_finding *found = line->found;
	bool here = found->state == STATE_YES, implied = found->state == STATE_IMPLIED;
	const char *colour = here	   ? "\033[32m"
			     : implied	   ? ""
			     : line->layer ? "\033[31m"
					   : "\033[33m";
	bool aside = found->detail[0] && (here || implied);

	fprintf(page->to, "  %s%-4s%s%-*s %s%s%s%s\n", page->colours ? colour : "",
		words[found->state], page->colours && *colour ? "\033[0m" : "", NAME_WIDTH,
		line->name, line->purpose, aside ? " (" : "", aside ? found->detail : "",
		aside ? ")" : "");
	if (here || implied)
		return;
	put_wrapped(page->to, "tried:", found->detail);
	put_wrapped(page->to, "lost: ", line->lost);
}

static void put_summary(FILE *to, const struct missing *missing)
{
	if (missing->layers)
		fprintf(to, "%zu layer%s missing: %s.", missing->layers,
			missing->layers == 1 ? " is" : "s are", missing->layer_names);
	else
		fprintf(to, "Every layer is here.");
	if (missing->parts)
		fprintf(to, " %zu smaller thing%s missing: %s.", missing->parts,
			missing->parts == 1 ? " is" : "s are", missing->part_names);
	fputc('\n', to);
	if (!launch_has("landlock") && !launch_has("notify"))
		fprintf(to, "Neither Landlock nor notify: nothing here can hold a path.\n");
}

/* Ours, not the machine's, and no layer; but without it everything is slower. */
static void put_shim(FILE *to)
{
	char path[PATH_MAX];
	const char *why = launch_preload_find(path);

	if (why)
		fprintf(to, "No shim: %s. All calls by path are asked about, which takes longer.\n",
			why);
	else
		fprintf(to, "The shim is %s.\n", path);
}

static void put_runs(FILE *to, const struct roll *roll, bool alive)
{
	for (size_t i = 0; i < roll->count; i++) {
		const struct launch_run *run = &roll->runs[i];
		char when[32] = "?";
		struct tm time;

		if ((run->launcher != 0) != alive)
			continue;
		if (localtime_r(&run->started, &time))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &time);
		fprintf(to, "  %s  %s  ", run->id, when);
		if (alive)
			fprintf(to, "launcher %d  ", (int)run->launcher);
		fprintf(to, "%s", run->command[0] ? run->command : "(command unknown)");
		if (run->policy[0])
			fprintf(to, "  under %s", run->policy);
		fputc('\n', to);
	}
}

static void put_roll(FILE *to, const struct roll *roll, int removed)
{
	size_t alive = count_runs(roll, true), dead = count_runs(roll, false);

	if (alive)
		fprintf(to, "%zu sandbox%s running:\n", alive, alive == 1 ? " is" : "es are");
	else
		fprintf(to, "No sandbox of this user is running.\n");
	put_runs(to, roll, true);
	if (removed >= 0)
		fprintf(to, "Removed what %d dead run%s left.\n", removed, removed == 1 ? "" : "s");
	if (dead && removed >= 0)
		fprintf(to, "%zu dead run%s could not be removed:\n", dead, dead == 1 ? "" : "s");
	else if (dead)
		fprintf(to,
			"%zu dead run%s left something; 'sbx-launch --doctor --clean' removes "
			"it:\n",
			dead, dead == 1 ? "" : "s");
	put_runs(to, roll, false);
}

static bool wants_colours(FILE *to)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") != 0 && isatty(fileno(to));
}

static void put_text(FILE *to, const struct utsname *host, const struct missing *missing,
		     const struct roll *roll, int removed)
{
	struct page page = { .to = to, .colours = wants_colours(to) };

	fprintf(to, "sbx %s on %s %s (%s), as user %u. Each was tried just now:\n\n", SBX_VERSION,
		host->sysname, host->release, host->machine, (unsigned int)geteuid());
	each_line(put_line, &page);
	fputc('\n', to);
	put_summary(to, missing);
	put_shim(to);
	fputc('\n', to);
	put_roll(to, roll, removed);
}

/* "key":"text", after a comma unless it is the first. */
static void put_field(FILE *to, const char *before, const char *key, const char *text)
{
	char buffer[2048];
	struct sbx_out out;

	sbx_out_init(&out, buffer, sizeof(buffer));
	sbx_out_json(&out, text);
	sbx_out_finish(&out);
	fprintf(to, "%s\"%s\":%s", before, key, buffer);
}

static void put_object(const struct line *line, void *arg)
{
	static const char *const words[] = { "untried", "yes", "no", "silent", "implied" };
	struct page *page = arg;
	const struct launch_finding *found = line->found;

	put_field(page->to, page->more ? ",\n{" : "\n{", "name", line->name);
	fprintf(page->to, ",\"present\":%s,\"layer\":%s",
		found->state == STATE_YES ? "true" : "false", line->layer ? "true" : "false");
	put_field(page->to, ",", "state", words[found->state]);
	fprintf(page->to, ",\"errno\":%d,\"number\":%d", found->error, found->number);
	put_field(page->to, ",", "detail", found->detail);
	put_field(page->to, ",", "for", line->purpose);
	put_field(page->to, ",", "lost", line->lost);
	fputc('}', page->to);
	page->more = true;
}

static void put_missing(const struct line *line, void *arg)
{
	struct page *page = arg;

	if (!line->layer || line->found->state == STATE_YES || line->found->state == STATE_IMPLIED)
		return;
	fprintf(page->to, "%s\"%s\"", page->more ? "," : "", line->name);
	page->more = true;
}

static void put_run_objects(FILE *to, const struct roll *roll, bool alive)
{
	const char *before = "\n{";

	for (size_t i = 0; i < roll->count; i++) {
		const struct launch_run *run = &roll->runs[i];
		char when[32] = "";
		struct tm time;

		if ((run->launcher != 0) != alive)
			continue;
		if (gmtime_r(&run->started, &time))
			strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &time);
		put_field(to, before, "run", run->id);
		if (alive)
			fprintf(to, ",\"pid\":%d", (int)run->launcher);
		put_field(to, ",", "started", when);
		put_field(to, ",", "command", run->command);
		put_field(to, ",", "policy", run->policy);
		fputc('}', to);
		before = ",\n{";
	}
}

static void put_json(FILE *to, const struct utsname *host, const struct missing *missing,
		     const struct roll *roll, int removed)
{
	put_field(to, "{\"v\":1,", "version", SBX_VERSION);
	put_field(to, ",", "kernel", host->release);
	put_field(to, ",", "machine", host->machine);
	fprintf(to, ",\"uid\":%u,\"ok\":%s,\"missing\":[", (unsigned int)geteuid(),
		missing->layers ? "false" : "true");
	each_line(put_missing, &(struct page){ .to = to });
	fprintf(to, "],\"landlock_abi\":%d,\n\"capabilities\":[",
		examine(row_named("landlock"))->number);
	each_line(put_object, &(struct page){ .to = to });
	fprintf(to, "],\n\"running\":[");
	put_run_objects(to, roll, true);
	fprintf(to, "],\"left\":[");
	put_run_objects(to, roll, false);
	fprintf(to, "],\"removed\":%d}\n", removed < 0 ? 0 : removed);
}

int launch_doctor(bool json, bool clean, FILE *to)
{
	int removed = clean ? launch_private_sweep() : -1;
	struct missing missing = { 0 };
	struct roll roll = { 0 };
	struct utsname host = { 0 };

	(void)uname(&host);
	(void)launch_private_list(keep_run, &roll);
	each_line(count_missing, &missing);
	(json ? put_json : put_text)(to, &host, &missing, &roll, removed);
	free(roll.runs);
	return missing.layers ? 1 : 0;
}
