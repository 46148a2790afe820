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

static int refuse_setting(const struct launch *launch, enum sbx_key key, const char *why,
			  struct launch_error *error)
{
	const struct sbx_setting *setting = sbx_setting(launch->image, key);
	char where[300];

	(void)launch_where(launch->image, setting->file, setting->line, where);
	return launch_fail(error, EINVAL, "%s: '%s' in [%s] cannot be enforced: %s", where,
			   sbx_keys[key].name, sbx_keys[key].section, why);
}

static int refuse_rule(const struct launch *launch, uint32_t index, const char *why,
		       struct launch_error *error)
{
	const struct sbx_rule *rule = &sbx_rules(launch->image)[index];
	char where[300];

	(void)launch_where(launch->image, rule->file, rule->line, where);
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

/* The first rule that allows a host by its name, or any host; or SBX_NONE. */
static uint32_t first_name_rule(const struct sbx_image *image)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_netnodes); i++) {
		const struct sbx_netnode *node = &sbx_netnodes(image)[i];
		char kind = *sbx_str(image, node->key);

		for (uint32_t n = 0;
		     (kind == 'h' || kind == 'w' || kind == '*') && n < node->ports.count; n++) {
			uint32_t rule = sbx_ports(image)[node->ports.first + n].rule;

			if (sbx_rules(image)[rule].kind == SBX_RULE_CONNECT)
				return rule;
		}
	}
	return SBX_NONE;
}

/*
 * Hosts by name: best in a network of the program's own, in which nobody but us answers. Without one,
 * look-ups reach us by TCP alone, which we connect; libc can be told to use that.
 */
static int plan_names(struct launch *launch, struct launch_error *error)
{
	const struct sbx_setting *dns = sbx_setting(launch->image, SBX_KEY_network_dns);
	int failed = 0;

	if (value_of(launch, SBX_KEY_sandbox_isolate) != ISOLATE_NONE)
		failed = launch_space_mounts(&launch->user, &launch->space, error);
	if (failed)
		return failed;
	launch->names = true;
	launch->apart = launch->wishes.names = launch->space.mounts;
	if (launch->apart)
		launch->wishes.no_udp = false; /* what stays inside harms nobody */
	return launch_upstream_init(&launch->upstream,
				    dns->is_set ? sbx_str(launch->image, dns->text) : NULL,
				    "/etc/resolv.conf", "/etc/hosts", error);
}

static int plan_network(struct launch *launch, struct launch_error *error)
{
	uint32_t rule = first_net_rule(launch->image), name = first_name_rule(launch->image);

	if (sbx_network_mode(launch->image) == SBX_NETWORK_FULL)
		return 0;
	if (launch->brokers)
		return name == SBX_NONE ? 0 : plan_names(launch, error);
	if (rule != SBX_NONE)
		return refuse_rule(launch, rule,
				   "the supervisor cannot be asked here, and nobody else decides "
				   "by destination; mode = none and mode = full can be held",
				   error);
	if (sbx_network_mode(launch->image) == SBX_NETWORK_FILTERED)
		return refuse_setting(launch, SBX_KEY_network_mode,
				      "the supervisor cannot be asked here, and nobody else "
				      "decides by destination",
				      error);
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

/* Settings that do without a layer, though it may be there. */
static const struct {
	enum sbx_key key;
	uint64_t value;
	const char *layer; /* NULL: any */
	const char *text;
} without[] = {
	{ SBX_KEY_sandbox_enforce, ENFORCE_NONE, NULL, "enforce = none" },
	{ SBX_KEY_sandbox_enforce, ENFORCE_SECCOMP, "landlock", "enforce = seccomp" },
	{ SBX_KEY_sandbox_isolate, ISOLATE_NONE, "userns", "isolate = none" },
	{ SBX_KEY_sandbox_isolate, ISOLATE_NONE, "netns", "isolate = none" },
};

/* A layer that is asked for at 'where'. */
static int check_layer(const struct launch *launch, const char *layer, const char *where,
		       struct launch_error *error)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		const struct sbx_setting *setting = sbx_setting(launch->image, without[i].key);
		char there[300];

		if (setting->value != without[i].value ||
		    (without[i].layer && strcmp(layer, without[i].layer) != 0))
			continue;
		(void)launch_where(launch->image, setting->file, setting->line, there);
		return launch_fail(error, EINVAL,
				   "%s: '%s' is required, and '%s' (%s) does without it (take one "
				   "of them back)",
				   where, layer, without[i].text, there);
	}
	if (launch_has(layer))
		return 0;
	return launch_fail(error, ENOSYS,
			   "%s: '%s' is required, and missing here: %s (sbx-launch --doctor "
			   "says more)",
			   where, layer, launch_has_not(layer));
}

static int check_required(const struct launch *launch, struct launch_error *error)
{
	const struct sbx_range *items = &sbx_setting(launch->image, SBX_KEY_sandbox_require)->items;
	int failed = 0;

	for (uint32_t i = 0; i < items->count && !failed; i++) {
		const struct sbx_item *item = &sbx_items(launch->image)[items->first + i];
		char where[300];

		(void)launch_where(launch->image, item->file, item->line, where);
		failed = check_layer(launch, sbx_str(launch->image, item->text), where, error);
	}
	return failed;
}

bool launch_plan_listens(void)
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

	launch->brokers = launch_plan_listens();
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
	launch->wishes.files = launch->hold.brokered & HOLD_CHANGE;
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
	if (!launch->abi && (enforce == ENFORCE_LANDLOCK || !launch_plan_listens()))
		return launch_fail(error, ENOSYS,
				   "this kernel has no Landlock (or something hides it), so the "
				   "policy's paths cannot be held (sbx-launch --doctor says more)");
	if ((failed = check_settings(launch, error)) < 0 ||
	    (failed = plan_space(launch, error)) < 0 ||
	    (failed = plan_paths(launch, launch->abi > 0, error)) < 0)
		return failed;
	launch->wishes.scopes = launch->abi >= ABI_SCOPES;
	launch->wishes.vouched = launch->abi > 0 && !launch->wishes.hides;
	/* Without a supervisor, ports are Landlock's to hold. */
	launch->wishes.no_tcp = launch->abi < LANDLOCK_TCP && !launch->brokers &&
				sbx_network_mode(launch->image) != SBX_NETWORK_FULL;
	return plan_network(launch, error);
}

void launch_plan_layers(const struct launch *launch, bool listening, char out[256])
{
	if (!launch->enforced)
		(void)snprintf(out, 256, "{}");
	else
		(void)snprintf(out, 256, "{\"landlock\":%d,\"seccomp\":true,\"notify\":%s}",
			       launch->abi, listening ? "true" : "false");
}
