/* SPDX-License-Identifier: MIT */
/* What is said about a plan: the banner, the table of --dry-run, the notes of -v. */
#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* How many rules of the user's own are about a right, and the first of them. */
static unsigned int count_own(const struct launch *launch, uint8_t right, uint32_t *first)
{
	struct sbx_allowed allowed = { .image = launch->image, .right = right };
	unsigned int count = 0;
	uint32_t index;

	*first = SBX_NONE;
	while ((index = sbx_allowed_next(&allowed)) != SBX_NONE) {
		const struct sbx_rule *rule = &sbx_rules(launch->image)[index];

		/* What may be written or executed may also be read; the command itself is no news. */
		if ((rule->flags & SBX_RULE_FREE) ||
		    (right == SBX_RIGHT_READ &&
		     (rule->rights & (SBX_RIGHT_WRITE | SBX_RIGHT_EXEC))))
			continue;
		if (count++ == 0)
			*first = index;
	}
	return count;
}

/* The place that a rule is about, as seen from here. */
static void put_place(const struct launch *launch, struct sbx_out *out, uint32_t rule)
{
	char cwd[PATH_MAX];
	const char *place = sbx_words_root(launch->image, &sbx_rules(launch->image)[rule],
					   getcwd(cwd, sizeof(cwd)));

	sbx_out_shortened(out, place, 120, SBX_ESCAPE_PLAIN);
}

static void put_right(const struct launch *launch, struct sbx_out *out, uint8_t right,
		      const char *word)
{
	uint32_t first;
	unsigned int count = count_own(launch, right, &first);

	if (count == 0)
		return;
	sbx_out_str(out, word);
	if (count > 1) {
		sbx_out_number(out, count);
		sbx_out_str(out, " paths; ");
		return;
	}
	put_place(launch, out, first);
	sbx_out_str(out, "; ");
}

static void put_limits(const struct launch *launch, struct sbx_out *out)
{
	char text[32];

	launch_format_size(text, launch->limits.memory);
	sbx_out_str(out, text);
	if (launch->limits.timeout_ms) {
		launch_format_time(text, launch->limits.timeout_ms);
		sbx_out_str(out, ", ");
		sbx_out_str(out, text);
	}
	sbx_out_str(out, ", ");
	sbx_out_number(out, launch->limits.processes);
	sbx_out_str(out, " tasks");
}

static const char *policy_name(const struct launch *launch)
{
	uint32_t file = launch->image->main_file;

	return file == SBX_NONE ? "no policy"
				: sbx_str(launch->image, sbx_files(launch->image)[file].name);
}

static void put_layers(const struct launch *launch, struct sbx_out *out)
{
	if (!launch->enforced) {
		sbx_out_str(out, "NOTHING (enforce = none)");
		return;
	}
	if (launch->abi) {
		sbx_out_str(out, "Landlock ");
		sbx_out_number(out, (uint64_t)launch->abi);
		sbx_out_str(out, " + ");
	}
	sbx_out_str(out, launch->abi ? "seccomp" : "seccomp alone");
}

void launch_plan_banner(const struct launch *launch)
{
	static const char *const modes[] = { "no network; ", "network by rules; ",
					     "all of the network; " };
	char text[1024];
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text) - 1);
	sbx_out_str(&out, "sbx: ");
	sbx_out_shortened(&out, launch->options.argv[0], 120, SBX_ESCAPE_PLAIN);
	sbx_out_str(&out, " under ");
	sbx_out_shortened(&out, policy_name(launch), 120, SBX_ESCAPE_PLAIN);
	sbx_out_str(&out, ": ");
	put_right(launch, &out, SBX_RIGHT_WRITE, "write ");
	put_right(launch, &out, SBX_RIGHT_READ, "read ");
	sbx_out_str(&out, modes[sbx_network_mode(launch->image)]);
	put_limits(launch, &out);
	sbx_out_str(&out, "; held by ");
	put_layers(launch, &out);
	sbx_out_str(&out, "\n");
	(void)sbx_out_finish(&out);
	(void)!write(STDERR_FILENO, text, out.len);
}

/* What the rules of one kind are about: left to others, or to nobody yet. */
static bool has_rule(const struct launch *launch, enum sbx_rule_kind kind)
{
	for (uint32_t i = 0; i < sbx_count(launch->image, SBX_TABLE_rules); i++)
		if (sbx_rules(launch->image)[i].kind == kind)
			return true;
	return false;
}

struct note {
	const char *what;
	char text[400];
};

enum {
	NOTES = 64,
	PLACES_SHOWN = 24
};

static void note(struct note *notes, size_t *count, const char *what, const char *text)
{
	if (*count == NOTES)
		return;
	notes[*count].what = what;
	(void)snprintf(notes[(*count)++].text, sizeof(notes->text), "%s", text);
}

static void note_gaps(const struct launch *launch, struct note *notes, size_t *count)
{
	for (const struct launch_gap *gap = launch_landlock_gaps; launch->abi && gap->abi; gap++)
		if (launch->abi < gap->abi)
			note(notes, count, "left out", gap->what);
	if (!launch->abi) {
		note(notes, count, "left out",
		     "executing is checked and then left to the kernel: a second thread may "
		     "exchange "
		     "the name in between");
		note(notes, count, "left out", "abstract UNIX sockets");
	}
	if (!launch->brokers)
		note(notes, count, "left out",
		     "modes, owners and times of files, also of those that cannot be written, and "
		     "news of them (inotify): ordinary permissions only");
	if (has_rule(launch, SBX_RULE_PROTECT) && !launch->brokers)
		note(notes, count, "left out",
		     "default protections inside writable places (.git/hooks, shell start-up "
		     "files, "
		     "editor settings): Landlock cannot except a file from a folder");
	if (sbx_network_mode(launch->image) != SBX_NETWORK_FULL && !launch->brokers) {
		note(notes, count, "left out",
		     "listening: a TCP port that the kernel chooses can be listened on at every "
		     "address, not on loopback alone");
		note(notes, count, "left out",
		     "connecting to UNIX stream sockets by path: what may be reached outside by "
		     "ordinary permissions can be reached");
	}
	if (launch->names && !launch->apart)
		note(notes, count, "left out",
		     "host names in programs that bring a resolver of their own (musl, Go, "
		     "c-ares): "
		     "without a network namespace, they need rules by address");
}

/* A rule because of which a shared folder stays what it is, or SBX_NONE. */
static uint32_t rule_about(const struct sbx_image *image, const char *folder)
{
	size_t len = strlen(folder);

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		const char *path = sbx_str(image, rule->path);
		bool counts = rule->kind != SBX_RULE_PROTECT && rule->kind != SBX_RULE_LOCK;

		if (counts && path[0] == '/' &&
		    !(rule->flags & (SBX_RULE_ABSENT | SBX_RULE_FREE)) &&
		    (launch_is_within(path, folder, len) ||
		     launch_is_within(folder, path,
				      rule->flags & SBX_RULE_GLOB ? launch_literal_len(path)
								  : strlen(path))))
			return i;
	}
	return SBX_NONE;
}

/* Why private tmp stands in for nothing; NULL: there is no such reason. */
static const char *why_nowhere(const struct launch *launch)
{
	if (sbx_setting(launch->image, SBX_KEY_sandbox_isolate)->value == ISOLATE_NONE)
		return "isolate = none takes no namespace";
	if (!launch->brokers)
		return "inside another sandbox nothing can be mounted";
	return launch->space.lacks[0] ? launch->space.lacks : launch->stand.lacks;
}

static void note_left(const struct launch *launch, const char *folder, struct note *notes,
		      size_t *count)
{
	uint32_t rule = rule_about(launch->image, folder);
	char text[400];
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	sbx_out_str(&out, folder);
	sbx_out_str(&out, " is refused, not replaced by private tmp: ");
	if (rule == SBX_NONE) {
		sbx_out_str(&out, "the command is there, or the folder that it starts in");
	} else {
		sbx_out_str(&out, "the policy has '");
		sbx_out_shortened(&out, sbx_str(launch->image, sbx_rules(launch->image)[rule].path),
				  150, SBX_ESCAPE_PLAIN);
		sbx_out_str(&out, "' there");
	}
	(void)sbx_out_finish(&out);
	note(notes, count, "left out", text);
}

static bool may_list(const struct launch *launch, const char *folder)
{
	struct sbx_request request = {
		.op = SBX_OP_LIST, .is_dir = true, .size = -1, .path = folder
	};
	struct sbx_verdict verdict;

	sbx_eval(launch->image, &request, &verdict);
	return verdict.allowed;
}

/* Under which names private tmp is to be found, and under which not. */
static void note_tmp(const struct launch *launch, struct note *notes, size_t *count)
{
	const char *nowhere = why_nowhere(launch);
	char text[400] = "$TMPDIR";

	if (strcmp(sbx_str(launch->image, sbx_setting(launch->image, SBX_KEY_sandbox_tmp)->text),
		   "private") != 0)
		return;
	for (const char *const *place = launch_stand_places; *place; place++) {
		size_t len = strlen(text);

		if (launch_stand_is(launch->image, *place))
			(void)snprintf(text + len, sizeof(text) - len, ", %s%s", *place,
				       strcmp(*place, "/dev/shm") ? "" : " (in memory)");
	}
	note(notes, count, "private tmp", text);
	(void)snprintf(text, sizeof(text),
		       "/tmp, /var/tmp and /dev/shm are refused, not replaced by private tmp: %s",
		       nowhere ? nowhere : "");
	if (nowhere)
		note(notes, count, "left out", text);
	for (const char *const *place = launch_stand_places; *place && !nowhere; place++)
		if (!launch_stand_is(launch->image, *place) && !may_list(launch, *place) &&
		    access(*place, F_OK) == 0)
			note_left(launch, *place, notes, count);
}

static void put_classes(struct sbx_out *out, uint8_t classes, const char *who)
{
	static const char *const names[] = { "read", "execute", "write", "make and remove" };
	bool first = true;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!(classes & (1 << i)))
			continue;
		sbx_out_str(out, first ? "" : ", ");
		sbx_out_str(out, names[i]);
		first = false;
	}
	if (!first)
		sbx_out_str(out, who);
}

/* A place where not all is Landlock's: who holds what, and what that costs. */
static void note_place(const struct launch *launch, const struct launch_held *place,
		       struct note *notes, size_t *count)
{
	bool beside = false;
	char text[400];
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	put_place(launch, &out, place->rule);
	sbx_out_str(&out, ": ");
	put_classes(&out, place->classes, " by Landlock; ");
	put_classes(&out, place->left & (uint8_t)~HOLD_EXEC, " by the broker (some 30 us a call)");
	for (size_t i = 0; place->left & HOLD_READ && i < launch->hold.beside_count && !beside; i++)
		beside = launch_is_within(launch->hold.beside[i], place->path, place->len);
	if (beside)
		sbx_out_str(&out, "; folders beside what is denied are read by Landlock, too");
	if (place->left & HOLD_EXEC)
		sbx_out_str(&out, "; nothing can be executed there: the broker cannot hold it");
	(void)sbx_out_finish(&out);
	note(notes, count, "path", text);
}

static void note_places(const struct launch *launch, struct note *notes, size_t *count)
{
	size_t shown = 0;

	for (size_t i = 0; i < launch->hold.count; i++) {
		const struct launch_held *place = &launch->hold.list[i];

		if (!place->left)
			continue;
		if (shown++ == PLACES_SHOWN) {
			note(notes, count, "path", "and others");
			return;
		}
		note_place(launch, place, notes, count);
	}
}

static void note_masks(const struct launch *launch, struct note *notes, size_t *count)
{
	const struct launch_covers *covers = &launch->covers;
	size_t made = 0, len;
	char text[400] = "";

	for (size_t i = 0; i < covers->count; i++)
		made += covers->list[i].made;
	if (made)
		(void)snprintf(text, sizeof(text), "mounts over %zu place%s", made,
			       made == 1 ? "" : "s");
	len = strlen(text);
	if (covers->lacking)
		(void)snprintf(text + len, sizeof(text) - len,
			       "%sthe broker holds what could be masked: %s", len ? "; " : "",
			       launch->space.lacks[0] ? launch->space.lacks
						      : "it cannot be mounted over");
	len = strlen(text);
	if (covers->seen)
		(void)snprintf(text + len, sizeof(text) - len,
			       "%s%zu entries looked at for patterns in %u ms%s", len ? "; " : "",
			       covers->seen, (unsigned int)covers->ms,
			       covers->cut ? ", not all: patterns are the broker's" : "");
	if (text[0])
		note(notes, count, "masks", text);
}

static void note_space(const struct launch *launch, struct note *notes, size_t *count)
{
	uint64_t disk = sbx_setting(launch->image, SBX_KEY_limits_disk)->value;
	char text[100], size[32];

	if (launch->space.mounts) {
		(void)snprintf(text, sizeof(text), "%smounts%s%s",
			       launch->space.user ? "user, " : "", launch->apart ? ", network" : "",
			       launch->space.full ? ", processes, System V IPC, host name" : "");
		note(notes, count, "namespaces", text);
	}
	if (!disk)
		return;
	launch_format_size(size, disk);
	(void)snprintf(text, sizeof(text),
		       "private tmp and home are in memory, together %s at most", size);
	note(notes, count, "disk", text);
}

static const char *network_note(const struct launch *launch)
{
	enum sbx_network mode = sbx_network_mode(launch->image);

	if (mode == SBX_NETWORK_FULL)
		return "full: nothing is in the way";
	if (launch->apart)
		return "by rules: the program has a network of its own, in which nobody but the "
		       "supervisor's resolver answers; what it connects to, the supervisor "
		       "connects to "
		       "for it, outside";
	if (launch->names)
		return "by rules: the supervisor connects, binds and listens for the program, and "
		       "answers its look-ups by TCP";
	if (launch->brokers)
		return mode == SBX_NETWORK_NONE
			       ? "none: the supervisor refuses to connect and listen, but for the "
				 "program's own servers on loopback; UDP, UNIX datagrams and other "
				 "families by seccomp"
			       : "by rules: the supervisor connects, binds and listens for the "
				 "program; UDP, UNIX datagrams and other families by seccomp";
	return launch->wishes.no_tcp
		       ? "none: no socket but UNIX ones, by seccomp"
		       : "none: TCP connect and listen by Landlock; UDP, UNIX datagrams and other "
			 "families by seccomp";
}

static const char *explanations_note(const struct launch *launch)
{
	if (launch->brokers)
		return launch->shimless
			       ? "the supervisor for every program; without the shim, all calls by "
				 "path "
				 "are asked about: "
			       : "the supervisor for every program; the shim vouches for calls of "
				 "dynamic ones";
	return launch->shimless
		       ? "none: nobody can listen inside another sandbox, and without the shim "
			 "nothing is explained: "
		       : "the shim, in programs that load it: nobody can listen inside another "
			 "sandbox";
}

static size_t make_notes(const struct launch *launch, struct note notes[NOTES])
{
	size_t count = 0, rules = 0;
	char text[400];

	for (uint32_t i = 0; i < sbx_count(launch->image, SBX_TABLE_rules); i++)
		rules += sbx_rules(launch->image)[i].kind <= SBX_RULE_SET &&
			 !(sbx_rules(launch->image)[i].flags & SBX_RULE_ABSENT);
	if (launch->abi)
		(void)snprintf(text, sizeof(text), "Landlock (ABI %d), from %zu rules", launch->abi,
			       rules);
	else
		(void)snprintf(text, sizeof(text),
			       "the broker alone, from %zu rules: every call by path is served by "
			       "the supervisor",
			       rules);
	note(notes, &count, "paths", text);
	note_places(launch, notes, &count);
	note_masks(launch, notes, &count);
	note_space(launch, notes, &count);
	if (launch->brokers)
		note(notes, &count, "metadata",
		     "the supervisor: modes, owners and times of files change where they may be "
		     "written, and news of them (inotify) come where they may be read");
	if (launch->wishes.hides)
		note(notes, &count, "hidden names",
		     "the supervisor is asked at every look at a file (stat, access, readlink, "
		     "listings, chdir) and every open: some 20 times as long, 20 us each");
	note(notes, &count, "system calls", "seccomp: an allow-list");
	(void)snprintf(text, sizeof(text), "%s%s", explanations_note(launch),
		       launch->shimless ? launch->shimless : "");
	note(notes, &count, "explanations", text);
	note(notes, &count, "network", network_note(launch));
	note(notes, &count, "signals",
	     launch->wishes.scopes ? "Landlock: only to the sandbox's own processes"
	     : launch->brokers	   ? "the supervisor: only to the sandbox's own processes"
				   : "ordinary permissions only");
	note(notes, &count, "limits",
	     "the supervisor for the whole tree; rlimits behind it for each process");
	note(notes, &count, "privileges",
	     "no_new_privs; every capability dropped; descriptors closed; environment rebuilt");
	note_gaps(launch, notes, &count);
	note_tmp(launch, notes, &count);
	return count;
}

void launch_plan_print(const struct launch *launch)
{
	struct note notes[NOTES];
	size_t count = launch->enforced ? make_notes(launch, notes) : 0;

	if (!launch->enforced)
		note(notes, &count, "nothing", "enforce = none: no layer holds anything");
	for (size_t i = 0; i < count; i++) {
		if (launch->options.json)
			printf("%s{\"what\":\"%s\",\"by\":\"%s\"}", i ? "," : "{\"v\":1,\"plan\":[",
			       notes[i].what, notes[i].text);
		else
			printf("%-14s %s\n", notes[i].what, notes[i].text);
	}
	if (launch->options.json)
		printf("]}\n");
}

/* Those that were asked for, and the command's own, which comes by itself. */
static void complain_profiles(const struct launch *launch)
{
	char text[256];
	size_t len = 0;

	for (uint32_t i = 0; i < sbx_count(launch->image, SBX_TABLE_files); i++) {
		const struct sbx_file *file = &sbx_files(launch->image)[i];
		const char *name = sbx_str(launch->image, file->name);

		if (file->role == SBX_FILE_PROFILE && strcmp(name, "profiles/base.ini") != 0 &&
		    len < sizeof(text))
			len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s",
						len ? ", " : "", name);
	}
	if (len)
		launch_complain("profiles: %s", text);
}

void launch_plan_notes(const struct launch *launch)
{
	struct note notes[NOTES];
	size_t count = launch->enforced ? make_notes(launch, notes) : 0;
	char cwd[PATH_MAX];
	struct sbx_request request = { .op = SBX_OP_LIST, .is_dir = true, .size = -1 };
	struct sbx_verdict verdict;

	complain_profiles(launch);
	if (!launch->workdir && getcwd(cwd, sizeof(cwd))) {
		request.path = cwd;
		sbx_eval(launch->image, &request, &verdict);
		if (!verdict.allowed)
			launch_complain("the program starts in '%s', which it cannot read", cwd);
	}
	for (size_t i = 0; i < count; i++)
		launch_complain("%s: %s", notes[i].what, notes[i].text);
}
