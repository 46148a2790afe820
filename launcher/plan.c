/* SPDX-License-Identifier: MIT */
/*
 * What each layer enforces. Decides nothing about requests: it looks at what a policy asks and at
 * what this machine has, and refuses what would be held less well than it is written.
 */
#include "plan.h"

#include "doctor.h"
#include "values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* From which on Landlock has them. */
#define ABI_TCP 4
#define ABI_SCOPES 6

enum {
	ENFORCE_AUTO,
	ENFORCE_LANDLOCK,
	ENFORCE_SECCOMP,
	ENFORCE_NONE
};

static uint64_t value_of(const struct launch *launch, enum sbx_key key)
{
	return sbx_setting(launch->image, key)->value;
}

/* "policy.ini:12", or the file's name alone. */
static void put_where(const struct sbx_image *image, uint32_t file, uint32_t line, char out[300])
{
	const char *name = file == SBX_NONE ? "sbx" : sbx_str(image, sbx_files(image)[file].name);

	if (line)
		(void)snprintf(out, 300, "%.256s:%u", name, line);
	else
		(void)snprintf(out, 300, "%.256s", name);
}

static int refuse_setting(const struct launch *launch, enum sbx_key key, const char *why,
			  struct launch_error *error)
{
	const struct sbx_setting *setting = sbx_setting(launch->image, key);
	char where[300];

	put_where(launch->image, setting->file, setting->line, where);
	return launch_fail(error, EINVAL, "%s: '%s' in [%s] cannot be enforced: %s", where,
			   sbx_keys[key].name, sbx_keys[key].section, why);
}

static int refuse_rule(const struct launch *launch, uint32_t index, const char *why,
		       struct launch_error *error)
{
	const struct sbx_rule *rule = &sbx_rules(launch->image)[index];
	char where[300];

	put_where(launch->image, rule->file, rule->line, where);
	return launch_fail(error, EINVAL, "%s: '%s' cannot be enforced: %s", where,
			   sbx_str(launch->image, rule->text), why);
}

static int check_paths(const struct launch *launch, struct launch_error *error)
{
	const char *why;
	char text[256];
	uint32_t rule = launch_landlock_unheld(launch->image, &why);

	if (rule == SBX_NONE)
		return 0;
	(void)snprintf(text, sizeof(text), "%s, which Landlock cannot express", why);
	return refuse_rule(launch, rule, text, error);
}

/* The rule by which a place is writable: its own, or that of the folder it stands in. */
static uint32_t writing_rule(const struct sbx_image *image, const char *path)
{
	char folder[PATH_MAX];
	struct sbx_request request = { .op = SBX_OP_WRITE, .size = -1, .path = folder };
	struct sbx_verdict verdict;
	char *slash;

	(void)snprintf(folder, sizeof(folder), "%s", path);
	while ((slash = strrchr(folder, '/')) && slash != folder) {
		*slash = '\0';
		sbx_eval(image, &request, &verdict);
		if (verdict.allowed)
			return verdict.rule;
	}
	request = (struct sbx_request){ .op = SBX_OP_READ, .size = -1, .path = path };
	sbx_eval(image, &request, &verdict);
	return verdict.rule;
}

/* The policy and the log must stay as they are, and Landlock cannot except a file from a folder. */
static int check_locks(const struct launch *launch, struct launch_error *error)
{
	const struct sbx_image *image = launch->image;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		struct sbx_request request = { .op = SBX_OP_READ,
					       .size = -1,
					       .path = sbx_str(image, rule->path) };
		struct sbx_verdict verdict;
		char text[PATH_MAX + 200];

		if (rule->kind != SBX_RULE_LOCK)
			continue;
		sbx_eval(image, &request, &verdict);
		if (!(verdict.rights & SBX_RIGHT_WRITE))
			continue;
		(void)snprintf(text, sizeof(text),
			       "'%s' stands there and must not be writable by the program (keep it "
			       "outside, or name narrower places to write)",
			       request.path);
		return refuse_rule(launch, writing_rule(image, request.path), text, error);
	}
	return 0;
}

static uint32_t first_net_rule(const struct sbx_image *image)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++)
		if (sbx_rules(image)[i].kind >= SBX_RULE_UNIX_DENY ||
		    (sbx_rules(image)[i].rights & SBX_RIGHT_SOCKET))
			return i;
	return SBX_NONE;
}

static int check_network(const struct launch *launch, struct launch_error *error)
{
	uint32_t rule = first_net_rule(launch->image);

	if (sbx_network_mode(launch->image) == SBX_NETWORK_FULL)
		return 0;
	if (rule != SBX_NONE)
		return refuse_rule(launch, rule,
				   "no layer decides by destination yet; mode = none and mode = "
				   "full can be held",
				   error);
	if (sbx_network_mode(launch->image) == SBX_NETWORK_FILTERED)
		return refuse_setting(launch, SBX_KEY_network_mode,
				      "no layer decides by destination yet", error);
	return 0;
}

/* Settings that no layer holds yet: never ignored. */
static const struct {
	enum sbx_key key;
	uint64_t fine; /* the value that needs no layer */
	const char *why;
} unheld[] = {
	{ SBX_KEY_sandbox_complain, 0, "what is refused by the kernel cannot only be reported" },
};

static int check_settings(const struct launch *launch, struct launch_error *error)
{
	for (size_t i = 0; i < sizeof(unheld) / sizeof(unheld[0]); i++) {
		const struct sbx_setting *setting = sbx_setting(launch->image, unheld[i].key);

		if (setting->is_set && setting->value != unheld[i].fine)
			return refuse_setting(launch, unheld[i].key, unheld[i].why, error);
	}
	return 0;
}

static bool is_private(const struct launch *launch, enum sbx_key key)
{
	return !strcmp(sbx_str(launch->image, sbx_setting(launch->image, key)->text), "private");
}

/* Why a limit of disk space cannot be held, whatever there is here; NULL: it can. */
static const char *disk_fault(const struct launch *launch)
{
	if (!is_private(launch, SBX_KEY_sandbox_tmp) && !is_private(launch, SBX_KEY_sandbox_home))
		return "it is about private tmp and home, and neither is private";
	if (value_of(launch, SBX_KEY_sandbox_isolate) == ISOLATE_NONE)
		return "it takes a mount, and isolate = none takes no namespace";
	return NULL;
}

/* Settings that take namespaces, and cannot do without them. */
static int plan_space(struct launch *launch, struct launch_error *error)
{
	static const char *const needs[] = { "pidns", "pidns_proc", "ipcns" };
	bool full = value_of(launch, SBX_KEY_sandbox_isolate) == ISOLATE_FULL;
	bool disk = value_of(launch, SBX_KEY_limits_disk);
	enum sbx_key key = full ? SBX_KEY_sandbox_isolate : SBX_KEY_limits_disk;
	int failed;

	if (disk && disk_fault(launch))
		return refuse_setting(launch, SBX_KEY_limits_disk, disk_fault(launch), error);
	for (size_t i = 0; full && i < sizeof(needs) / sizeof(needs[0]); i++)
		if (!launch_has(needs[i]))
			return refuse_setting(launch, key, launch_has_not(needs[i]), error);
	if (!full && !disk)
		return 0;
	if ((failed = launch_space_mounts(&launch->user, &launch->space, error)) < 0)
		return failed;
	launch->space.full = full;
	return launch->space.mounts ? 0 : refuse_setting(launch, key, launch->space.lacks, error);
}

static int check_required(const struct launch *launch, struct launch_error *error)
{
	const struct sbx_range *items = &sbx_setting(launch->image, SBX_KEY_sandbox_require)->items;

	for (uint32_t i = 0; i < items->count; i++) {
		const struct sbx_item *item = &sbx_items(launch->image)[items->first + i];
		const char *name = sbx_str(launch->image, item->text);
		char where[300];

		if (launch_has(name))
			continue;
		put_where(launch->image, item->file, item->line, where);
		return launch_fail(
			error, ENOSYS,
			"%s: '%s' is required, and missing here: %s (sbx-launch --doctor "
			"says more)",
			where, name, launch_has_not(name));
	}
	return 0;
}

/* Inside another sandbox there is a listener already. */
static bool can_listen(void)
{
	return prctl(PR_GET_SECCOMP) == 0 || launch_has("notify");
}

/* The first rule that hides something, or SBX_NONE. */
static uint32_t hiding_rule(const struct sbx_image *image)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (rule->kind == SBX_RULE_HIDE && !(rule->flags & SBX_RULE_ABSENT))
			return i;
	}
	return SBX_NONE;
}

/* Landlock says EACCES to who opens, and nothing to who only looks. */
static int check_hidden(const struct launch *launch, struct launch_error *error)
{
	uint32_t rule = hiding_rule(launch->image);

	if (rule == SBX_NONE)
		return 0;
	return refuse_rule(launch, rule,
			   "names are hidden by the supervisor, and inside another sandbox it "
			   "cannot be asked (deny can be held)",
			   error);
}

static bool is_folder(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISDIR(st.st_mode);
}

/* A folder that somebody else opened is one without masks: from there on, none stands in the way. */
static bool inherits_folder(const struct launch *launch)
{
	for (int fd = 0; fd < 3; fd++)
		if (is_folder(fd))
			return true;
	for (size_t i = 0; i < launch->options.keep_count; i++)
		if (is_folder(launch->options.keep_fds[i]))
			return true;
	return false;
}

/*
 * Finds what can be masked and mounts it at once: what is then held is no guess. Where there can be no
 * mounts the rules are the broker's.
 */
static int plan_masks(struct launch *launch, struct launch_error *error)
{
	const char *log =
		sbx_str(launch->image, sbx_setting(launch->image, SBX_KEY_errors_log)->text);
	char cwd[PATH_MAX], run[64];
	const char *keep[] = { run, launch->place.base, NULL, NULL, NULL };
	size_t kept = 2;
	int failed;

	if (value_of(launch, SBX_KEY_sandbox_isolate) == ISOLATE_NONE || inherits_folder(launch))
		return 0;
	/* Where the run's file will be. */
	(void)snprintf(run, sizeof(run), "/dev/shm/sbx-%u/run", (unsigned int)geteuid());
	if (*log)
		keep[kept++] = log;
	if (getcwd(cwd, sizeof(cwd)))
		keep[kept] = cwd;
	failed = launch_covers_find(launch->image, launch->user.uid, keep, &launch->covers, error);
	if (failed < 0 || !launch->covers.count)
		return failed;
	if ((failed = launch_space_mounts(&launch->user, &launch->space, error)) < 0)
		return failed;
	if (launch->space.mounts)
		return launch_covers_mount(&launch->covers, error);
	launch_covers_drop(&launch->covers);
	return 0;
}

/* Who holds which paths. */
static int plan_paths(struct launch *launch, bool landlock, struct launch_error *error)
{
	int failed;

	launch->brokers = can_listen();
	if (!launch->brokers) {
		if ((failed = check_hidden(launch, error)) < 0)
			return failed;
		failed = check_paths(launch, error);
		return failed < 0 ? failed : check_locks(launch, error);
	}
	launch->wishes.hides = hiding_rule(launch->image) != SBX_NONE;
	if (landlock && (failed = plan_masks(launch, error)) < 0)
		return failed;
	failed = launch_hold_make(launch->image, landlock, launch->covers.held, &launch->hold,
				  error);
	launch->wishes.umasks = launch->wishes.metadata = true;
	/* Landlock has no word for a file in memory: it could be executed wherever anything could. */
	launch->wishes.memfd = !failed && !(launch_hold_at(&launch->hold, "/") & HOLD_EXEC);
	/* What libraries read by themselves would fail, and nobody would be asked. */
	if (launch->hold.brokered & HOLD_READ || launch->wishes.hides)
		launch->wishes.quiet = false;
	return failed;
}

int launch_plan_make(struct launch *launch, struct launch_error *error)
{
	uint64_t enforce = value_of(launch, SBX_KEY_sandbox_enforce);
	int failed = check_required(launch, error);

	if (failed < 0)
		return failed;
	launch->enforced = enforce != ENFORCE_NONE;
	if (!launch->enforced)
		return 0;
	launch->abi = enforce == ENFORCE_SECCOMP ? 0 : launch_landlock_abi();
	if (!launch->abi && (enforce == ENFORCE_LANDLOCK || !can_listen()))
		return launch_fail(error, ENOSYS,
				   "this kernel has no Landlock (or something hides it), so the "
				   "policy's paths cannot be held (sbx-launch --doctor says more)");
	if ((failed = check_settings(launch, error)) < 0 ||
	    (failed = plan_space(launch, error)) < 0 ||
	    (failed = plan_paths(launch, launch->abi > 0, error)) < 0)
		return failed;
	launch->wishes.scopes = launch->abi >= ABI_SCOPES;
	launch->wishes.vouched = launch->abi > 0 && !launch->wishes.hides;
	launch->wishes.no_tcp =
		launch->abi < ABI_TCP && sbx_network_mode(launch->image) != SBX_NETWORK_FULL;
	return check_network(launch, error);
}

void launch_plan_layers(const struct launch *launch, bool listening, char out[256])
{
	if (!launch->enforced)
		(void)snprintf(out, 256, "{}");
	else
		(void)snprintf(out, 256, "{\"landlock\":%d,\"seccomp\":true,\"notify\":%s}",
			       launch->abi, listening ? "true" : "false");
}

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

static void put_right(const struct launch *launch, struct sbx_out *out, uint8_t right,
		      const char *word)
{
	char cwd[PATH_MAX];
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
	sbx_out_shortened(out,
			  sbx_words_root(launch->image, &sbx_rules(launch->image)[first],
					 getcwd(cwd, sizeof(cwd))),
			  120, SBX_ESCAPE_PLAIN);
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
		     "modes, owners and times of files, also of those that cannot be written: "
		     "ordinary permissions only");
	if (has_rule(launch, SBX_RULE_PROTECT) && !launch->brokers)
		note(notes, count, "left out",
		     "default protections inside writable places (.git/hooks, shell start-up "
		     "files, "
		     "editor settings): Landlock cannot except a file from a folder");
	if (sbx_network_mode(launch->image) != SBX_NETWORK_FULL) {
		note(notes, count, "left out",
		     "listening: a TCP port that the kernel chooses can be listened on at every "
		     "address, not on loopback alone");
		note(notes, count, "left out",
		     "connecting to UNIX stream sockets by path: what may be reached outside by "
		     "ordinary permissions can be reached");
	}
	if (launch->place.tmp[0])
		note(notes, count, "left out",
		     "private tmp is $TMPDIR alone: /tmp, /var/tmp and /dev/shm are refused, not "
		     "replaced");
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
	char text[400], cwd[PATH_MAX];
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	sbx_out_shortened(&out,
			  sbx_words_root(launch->image, &sbx_rules(launch->image)[place->rule],
					 getcwd(cwd, sizeof(cwd))),
			  120, SBX_ESCAPE_PLAIN);
	sbx_out_str(&out, ": ");
	put_classes(&out, place->classes, " by Landlock; ");
	put_classes(&out, place->left & (uint8_t)~HOLD_EXEC, " by the broker (some 30 us a call)");
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
	uint64_t disk = value_of(launch, SBX_KEY_limits_disk);
	char text[100], size[32];

	if (launch->space.mounts) {
		(void)snprintf(text, sizeof(text), "%smounts%s", launch->space.user ? "user, " : "",
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

static size_t make_notes(const struct launch *launch, struct note notes[NOTES])
{
	static const char *const modes[] = { "none: TCP connect and listen by Landlock; UDP, UNIX "
					     "datagrams and other families by "
					     "seccomp",
					     "by rules", "full: nothing is in the way" };
	enum sbx_network mode = sbx_network_mode(launch->image);
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
		     "written");
	if (launch->wishes.hides)
		note(notes, &count, "hidden names",
		     "the supervisor is asked at every look at a file (stat, access, readlink, "
		     "listings, chdir) and every open: some 20 times as long, 20 us each");
	note(notes, &count, "system calls", "seccomp: an allow-list");
	(void)snprintf(text, sizeof(text), "the supervisor for every program; %s%s",
		       launch->shimless ? "without the shim, all calls by path are asked about: "
					: "the shim vouches for calls of dynamic ones",
		       launch->shimless ? launch->shimless : "");
	note(notes, &count, "explanations", text);
	note(notes, &count, "network",
	     launch->wishes.no_tcp ? "none: no socket but UNIX ones, by seccomp" : modes[mode]);
	note(notes, &count, "signals",
	     launch->wishes.scopes ? "Landlock: only to the sandbox's own processes"
	     : launch->brokers	   ? "the supervisor: only to the sandbox's own processes"
				   : "ordinary permissions only");
	note(notes, &count, "limits",
	     "the supervisor for the whole tree; rlimits behind it for each process");
	note(notes, &count, "privileges",
	     "no_new_privs; every capability dropped; descriptors closed; environment rebuilt");
	note_gaps(launch, notes, &count);
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

static const char *taken_profile(const struct launch *launch)
{
	for (uint32_t i = 0; i < sbx_count(launch->image, SBX_TABLE_files); i++) {
		const struct sbx_file *file = &sbx_files(launch->image)[i];
		const char *name = sbx_str(launch->image, file->name);

		if (file->role == SBX_FILE_PROFILE && strcmp(name, "profiles/base.ini") != 0)
			return name;
	}
	return NULL;
}

void launch_plan_notes(const struct launch *launch)
{
	struct note notes[NOTES];
	size_t count = launch->enforced ? make_notes(launch, notes) : 0;
	const char *profile = taken_profile(launch);
	char cwd[PATH_MAX];
	struct sbx_request request = { .op = SBX_OP_LIST, .is_dir = true, .size = -1 };
	struct sbx_verdict verdict;

	if (profile)
		launch_complain("%s: profile taken: %s", launch->options.argv[0], profile);
	if (!launch->workdir && getcwd(cwd, sizeof(cwd))) {
		request.path = cwd;
		sbx_eval(launch->image, &request, &verdict);
		if (!verdict.allowed)
			launch_complain("the program starts in '%s', which it cannot read", cwd);
	}
	for (size_t i = 0; i < count; i++)
		launch_complain("%s: %s", notes[i].what, notes[i].text);
}
