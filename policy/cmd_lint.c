/* SPDX-License-Identifier: MIT */
/* sbx-policy lint: what is doubtful in a policy, and its own tests. */
#include "command.h"
#include "ops.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct lint {
	const struct command *command;
	const struct sbx_image *image;
	unsigned int warnings;
	unsigned int tests;
	unsigned int failed;
	bool listed; /* JSON: something stands in the list already */
};

static const char *const protections[] = {
#define PROTECT(pattern, repo, reason) pattern,
#include "protect.def"
};

static const char *const credentials[] = {
#define CREDENTIAL(pattern, what) pattern,
#include "credentials.def"
};

static const struct {
	const char *pattern;
	struct sbx_socket socket;
} sockets[] = {
#define SOCKET(pattern, what, why) { pattern, { what, why } },
#include "sockets.def"
};

static void find(struct lint *lint, const char *level, uint32_t file, uint32_t line,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

static void find(struct lint *lint, const char *level, uint32_t file, uint32_t line,
		 const char *format, ...)
{
	const char *name = file == SBX_NONE
				   ? "policy"
				   : sbx_str(lint->image, sbx_files(lint->image)[file].name);
	char text[PATH_MAX + 512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (lint->command->json) {
		printf("%s\n{\"level\":\"%s\",\"file\":", lint->listed ? "," : "", level);
		print_json(stdout, name);
		printf(",\"line\":%u,\"text\":", line);
		print_json(stdout, text);
		printf("}");
		lint->listed = true;
		return;
	}
	print_clean(stdout, name);
	if (line)
		printf(":%u", line);
	printf(": %s: ", level);
	print_clean(stdout, text);
	printf("\n");
}

#define WARN(lint, rule, ...)                                                     \
	do {                                                                      \
		(lint)->warnings++;                                               \
		find((lint), "warning", (rule)->file, (rule)->line, __VA_ARGS__); \
	} while (0)

static const char *text_of(const struct lint *lint, const struct sbx_rule *rule)
{
	return sbx_str(lint->image, rule->text);
}

static struct sbx_verdict ask(const struct lint *lint, enum sbx_op op, const char *path,
			      struct sbx_trace *trace)
{
	struct sbx_request request = { .op = op, .path = path, .size = -1, .is_dir = true };
	struct sbx_verdict verdict;

	sbx_eval_with(lint->image, &request, NULL, trace, &verdict);
	return verdict;
}

/* "policy.ini:12 deny = ./x", for the end of a sentence. */
static const char *name_rule(const struct lint *lint, uint32_t rule, char *text, size_t size)
{
	struct sbx_out out;

	sbx_out_init(&out, text, size);
	sbx_words_rule(lint->image, rule, &out);
	(void)sbx_out_finish(&out);
	return text;
}

static bool takes(const struct sbx_rule *rule)
{
	return rule->kind == SBX_RULE_SET || rule->kind == SBX_RULE_DENY ||
	       rule->kind == SBX_RULE_HIDE;
}

/* Another rule on the very same path that is stronger, or says the same earlier. */
static bool is_beaten(struct lint *lint, uint32_t index, const struct sbx_trace *trace)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];
	const char *path = sbx_str(lint->image, rule->path);
	char name[SBX_LINE_MAX];

	for (size_t i = 0; i < trace->count && i < trace->cap; i++) {
		uint32_t other = trace->steps[i].rule;
		const struct sbx_rule *at = &sbx_rules(lint->image)[other];

		if (other == index || trace->steps[i].len != strlen(path))
			continue;
		if (takes(at) && at->kind > rule->kind) {
			WARN(lint, rule,
			     "'%s' never matters: %s stands on the same path and is stronger",
			     text_of(lint, rule), name_rule(lint, other, name, sizeof(name)));
			return true;
		}
		if (at->kind == rule->kind && other < index && rule->kind != SBX_RULE_SET &&
		    (at->rights & rule->rights) == rule->rights) {
			WARN(lint, rule, "'%s' never matters: %s already says it",
			     text_of(lint, rule), name_rule(lint, other, name, sizeof(name)));
			return true;
		}
	}
	return false;
}

static bool is_protected_place(const struct sbx_image *image, const struct sbx_trace *trace)
{
	for (size_t i = 0; i < trace->count && i < trace->cap; i++)
		if (sbx_rules(image)[trace->steps[i].rule].kind == SBX_RULE_PROTECT)
			return true;
	return false;
}

/* Whether any rule on the way gives what this one takes. */
static void check_takes(struct lint *lint, const struct sbx_rule *rule,
			const struct sbx_trace *trace)
{
	/* What is denied through a link has a second rule, where the link stands. */
	if (rule->kind != SBX_RULE_DENY || (rule->flags & SBX_RULE_LINK) ||
	    sbx_credential(sbx_str(lint->image, rule->path)))
		return;
	for (size_t i = 0; i < trace->count && i < trace->cap; i++)
		if (sbx_rules(lint->image)[trace->steps[i].rule].rights)
			return;
	WARN(lint, rule, "'%s' never matters: nothing is allowed there anyway",
	     text_of(lint, rule));
}

/* Whether the folder above already has all that the rule gives. */
static void check_needed(struct lint *lint, const struct sbx_rule *rule, bool is_protected)
{
	const char *path = sbx_str(lint->image, rule->path);
	char folder[PATH_MAX];
	char name[SBX_LINE_MAX];
	struct sbx_verdict above;
	size_t len = (size_t)(strrchr(path, '/') - path);

	if (!strcmp(path, "/") || len >= sizeof(folder))
		return;
	(void)snprintf(folder, sizeof(folder), "%.*s", len ? (int)len : 1, path);
	above = ask(lint,
		    rule->rights & SBX_RIGHT_WRITE  ? SBX_OP_WRITE
		    : rule->rights & SBX_RIGHT_EXEC ? SBX_OP_EXEC
						    : SBX_OP_READ,
		    folder, NULL);
	if (rule->kind == SBX_RULE_ADD && !is_protected && rule->rights != SBX_RIGHT_SOCKET &&
	    above.rule != SBX_NONE && (above.rights & rule->rights) == rule->rights)
		WARN(lint, rule, "'%s' never matters: %s already allows it", text_of(lint, rule),
		     name_rule(lint, above.rule, name, sizeof(name)));
}

static void check_matters(struct lint *lint, uint32_t index)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];
	struct sbx_step steps[64];
	struct sbx_trace trace = { .steps = steps, .cap = 64 };

	if (rule->flags & SBX_RULE_GLOB)
		return;
	(void)ask(lint, SBX_OP_READ, sbx_str(lint->image, rule->path), &trace);
	if (is_beaten(lint, index, &trace))
		return;
	check_takes(lint, rule, &trace);
	check_needed(lint, rule, is_protected_place(lint->image, &trace));
}

/* A pattern whose names lead to a file, or through one, has nothing that it could match now. */
static bool is_below_file(const char *pattern, char file[PATH_MAX])
{
	struct stat st;

	(void)snprintf(file, PATH_MAX, "%.*s", (int)strcspn(pattern, "*?"), pattern);
	for (char *slash; (slash = strrchr(file, '/')) && slash > file;) {
		*slash = '\0';
		if (stat(file, &st) == 0)
			return !S_ISDIR(st.st_mode);
	}
	return false;
}

static void check_exists(struct lint *lint, const struct sbx_rule *rule)
{
	const char *path = sbx_str(lint->image, rule->path);
	char file[PATH_MAX];

	if (rule->flags & SBX_RULE_ABSENT)
		WARN(lint, rule, "'%s' does not exist, so the line says nothing",
		     sbx_str(lint->image, rule->written));
	else if ((rule->flags & SBX_RULE_MISSING) && (rule->rights & SBX_RIGHT_WRITE))
		WARN(lint, rule, "'%s' does not exist yet (the program may create it)", path);
	else if ((rule->flags & SBX_RULE_MISSING) && rule->rights)
		WARN(lint, rule, "'%s' does not exist", path);
	else if ((rule->flags & SBX_RULE_MISSING) && rule->kind != SBX_RULE_UNIX_DENY &&
		 !sbx_credential(path)) /* those are refused to be sure, here or elsewhere */
		WARN(lint, rule, "'%s' does not exist (the line forbids creating it)", path);
	else if (rule->flags & SBX_RULE_GLOB && is_below_file(path, file))
		WARN(lint, rule, "the pattern matches nothing as long as '%s' is no folder", file);
	if ((rule->flags & SBX_RULE_LINK) && (rule->rights & SBX_RIGHT_WRITE))
		WARN(lint, rule, "'%s' leads through a link to '%s', which becomes writable",
		     sbx_str(lint->image, rule->written), path);
}

static void check_credential(struct lint *lint, const struct sbx_rule *rule)
{
	const char *path = sbx_str(lint->image, rule->path);
	const char *what = sbx_credential(path);

	if (what && (rule->rights & SBX_RIGHT_READ))
		WARN(lint, rule, "'%s' makes a credential readable: %s", text_of(lint, rule), what);
}

/* Whether what a pattern is about lies below the folder. */
static bool is_within(const char *pattern, const char *folder)
{
	for (;;) {
		size_t wanted = strcspn(pattern, "/"), len = strcspn(folder, "/");

		if (!len)
			return wanted > 0;
		if (!sbx_glob_match(pattern, wanted, folder, len) || !pattern[wanted])
			return false;
		pattern += wanted + 1;
		folder += len + (folder[len] == '/');
	}
}

/* Whether the rule lets a known socket be connected to, which it does not name. */
static bool opens(const struct lint *lint, uint32_t index, const char *pattern)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];
	struct sbx_request request = { .op = SBX_OP_CONNECT, .size = -1, .path = pattern };
	struct sbx_verdict verdict;

	if (pattern[0] != '/')
		return false;
	if (strpbrk(pattern, "*?"))
		return !(rule->flags & SBX_RULE_GLOB) &&
		       is_within(pattern + 1, sbx_str(lint->image, rule->path) + 1);
	sbx_eval(lint->image, &request, &verdict);
	return verdict.allowed && verdict.rule == index;
}

static void check_socket(struct lint *lint, uint32_t index)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];
	const struct sbx_socket *named = sbx_socket(sbx_str(lint->image, rule->path));

	if (!(rule->rights & SBX_RIGHT_SOCKET))
		return;
	if (named) {
		WARN(lint, rule, "'%s' opens %s: %s", text_of(lint, rule), named->what, named->why);
		return;
	}
	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		if (!opens(lint, index, sockets[i].pattern))
			continue;
		WARN(lint, rule, "'%s' opens %s (%s), too: %s", text_of(lint, rule),
		     sockets[i].socket.what, sockets[i].pattern, sockets[i].socket.why);
		return;
	}
}

/* A writable place that outlives the sandbox and runs outside of it. */
static void check_runs_later(struct lint *lint, uint32_t index)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];
	const char *path = sbx_str(lint->image, rule->path);
	struct sbx_step steps[64];
	struct sbx_trace trace = { .steps = steps, .cap = 64 };

	if (!(rule->rights & SBX_RIGHT_WRITE) || (rule->flags & (SBX_RULE_GLOB | SBX_RULE_ABSENT)))
		return;
	(void)ask(lint, SBX_OP_WRITE, path, &trace);
	if (is_protected_place(lint->image, &trace))
		WARN(lint, rule, "'%s' makes '%s' writable, which runs later, outside the sandbox",
		     text_of(lint, rule), path);
}

/* What sbx itself brings is sbx's own concern. */
static bool is_users(const struct sbx_rule *rule)
{
	return !(rule->flags & SBX_RULE_PROFILE) && rule->line;
}

static void check_rule(struct lint *lint, uint32_t index)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[index];

	if (!is_users(rule) || rule->kind >= SBX_RULE_PROTECT)
		return;
	check_exists(lint, rule);
	if (rule->flags & SBX_RULE_ABSENT)
		return;
	check_matters(lint, index);
	check_credential(lint, rule);
	check_socket(lint, index);
	check_runs_later(lint, index);
}

/* Whether a list could give a right below it: there the limits of the section hold, too. */
static bool is_given_below(const struct lint *lint, const char *root)
{
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	for (uint32_t i = 0; i < sbx_count(lint->image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(lint->image)[i];
		const char *path = sbx_str(lint->image, rule->path);
		size_t fixed = rule->flags & SBX_RULE_GLOB ? strcspn(path, "*?") : SIZE_MAX;

		if (rule->kind != SBX_RULE_ADD || !rule->rights)
			continue;
		if (fixed <= len ? !strncmp(path, root, fixed)
				 : !strncmp(path, root, len) && path[len] == '/')
			return true;
	}
	return false;
}

/* The limits of a section that allows nothing, which nothing can come up against. */
static void check_limits(struct lint *lint, const struct sbx_section *section)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[section->rule];
	const struct sbx_item size = { .file = rule->file, .line = section->max_line };
	const char *name = sbx_str(lint->image, section->name);

	if (rule->rights || is_given_below(lint, sbx_str(lint->image, rule->path)))
		return;
	if (section->suffixes.count)
		WARN(lint, &sbx_items(lint->image)[section->suffixes.first],
		     "'suffixes' in [path %s] never matters: nothing is allowed there anyway",
		     name);
	if (section->max_bytes != UINT64_MAX)
		WARN(lint, &size,
		     "'max_file_bytes' in [path %s] never matters: nothing is allowed there anyway",
		     name);
}

/* A root that is a file, which its own section refuses for its name. */
static void check_own_suffix(struct lint *lint, const struct sbx_section *section)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[section->rule];
	struct sbx_request request = { .op = SBX_OP_READ,
				       .path = sbx_str(lint->image, rule->path),
				       .size = -1 };
	struct sbx_verdict verdict;
	struct stat st;

	if (stat(request.path, &st) < 0 || S_ISDIR(st.st_mode))
		return;
	sbx_eval(lint->image, &request, &verdict);
	if (verdict.code == SBX_CODE_SUFFIX)
		WARN(lint, &sbx_items(lint->image)[section->suffixes.first],
		     "'%s' can never be used: it has none of the suffixes of [path %s]",
		     sbx_str(lint->image, rule->written), sbx_str(lint->image, section->name));
}

static void check_section(struct lint *lint, const struct sbx_section *section)
{
	const struct sbx_rule *rule = &sbx_rules(lint->image)[section->rule];

	if (!is_users(rule) || rule->flags & SBX_RULE_ABSENT)
		return;
	check_limits(lint, section);
	check_own_suffix(lint, section);
}

static bool exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void check_credential_at(struct lint *lint, const char *path)
{
	struct sbx_verdict verdict;

	if (!exists(path) || !sbx_credential(path))
		return;
	verdict = ask(lint, SBX_OP_READ, path, NULL);
	if (verdict.allowed && verdict.rule != SBX_NONE &&
	    strcmp(sbx_str(lint->image, sbx_rules(lint->image)[verdict.rule].path), path) != 0)
		WARN(lint, &sbx_rules(lint->image)[verdict.rule],
		     "'%s' can be read: %s (deny = %s keeps it out)", path, sbx_credential(path),
		     path);
}

/* Credentials that lie inside what may be read: in the system, the home directory and the root. */
static void check_credentials(struct lint *lint)
{
	const char *home = sbx_str(lint->image, lint->image->home);
	const char *root = sbx_str(lint->image, lint->image->root);
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(credentials) / sizeof(credentials[0]); i++) {
		if (strpbrk(credentials[i], "*?"))
			continue;
		if (credentials[i][0] == '/') {
			check_credential_at(lint, credentials[i]);
			continue;
		}
		if (*home && snprintf(path, sizeof(path), "%s/%s", home, credentials[i]) < PATH_MAX)
			check_credential_at(lint, path);
		if (strcmp(home, root) != 0 &&
		    snprintf(path, sizeof(path), "%s/%s", root, credentials[i]) < PATH_MAX)
			check_credential_at(lint, path);
	}
}

/* With protect = no, the usual places are writable where they exist. */
static void check_unprotected(struct lint *lint)
{
	const char *root = sbx_str(lint->image, lint->image->root);

	if (sbx_setting(lint->image, SBX_KEY_sandbox_protect)->value)
		return;
	for (size_t i = 0; i < sizeof(protections) / sizeof(protections[0]); i++) {
		char path[PATH_MAX];
		struct sbx_verdict verdict;

		if (strpbrk(protections[i], "*?") ||
		    snprintf(path, sizeof(path), "%s/%s", root, protections[i]) >= PATH_MAX ||
		    !exists(path))
			continue;
		verdict = ask(lint, SBX_OP_WRITE, path, NULL);
		if (verdict.allowed && verdict.rule != SBX_NONE)
			WARN(lint, &sbx_rules(lint->image)[verdict.rule],
			     "'%s' can be written, and runs later, outside the sandbox", path);
	}
}

/* A program that the user's shell finds must not come from inside. */
static void check_search_path(struct lint *lint)
{
	const char *list = getenv("PATH");

	for (; list && *list; list += strspn(list, ":")) {
		size_t len = strcspn(list, ":");
		struct sbx_resolved at;
		char folder[PATH_MAX];
		struct sbx_verdict verdict;

		(void)snprintf(folder, sizeof(folder), "%.*s", (int)len, list);
		list += len;
		if (folder[0] != '/' || sbx_resolve_path("/", folder, 0, NULL, &at) < 0)
			continue;
		verdict = ask(lint, SBX_OP_WRITE, at.path, NULL);
		if (verdict.allowed && verdict.rule != SBX_NONE)
			WARN(lint, &sbx_rules(lint->image)[verdict.rule],
			     "'%s' is in your PATH and can be written: your shell runs what is put "
			     "there",
			     folder);
	}
}

static void check_settings(struct lint *lint)
{
	const struct sbx_setting *enforce = sbx_setting(lint->image, SBX_KEY_sandbox_enforce);
	const struct sbx_setting *complaining = sbx_setting(lint->image, SBX_KEY_sandbox_complain);

	if (!strcmp(sbx_str(lint->image, enforce->text), "none"))
		WARN(lint, enforce, "'enforce = none' runs without a sandbox");
	if (complaining->items.count)
		WARN(lint, complaining, "'complain' lets what it names pass, and only reports it");
}

/* Destinations that are allowed and denied at once. */
static void check_peers(struct lint *lint)
{
	for (uint32_t i = 0; i < sbx_count(lint->image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(lint->image)[i];
		struct sbx_request request = { .op = SBX_OP_CONNECT, .size = -1 };
		struct sbx_verdict verdict;
		struct sbx_peer peer;
		char name[SBX_LINE_MAX];

		if (rule->kind != SBX_RULE_CONNECT ||
		    sbx_peer_parse(sbx_str(lint->image, rule->path), &peer) ||
		    peer.low != peer.high)
			continue;
		if (peer.kind == SBX_PEER_HOST)
			request.host = peer.host;
		else if (peer.kind == SBX_PEER_ADDRESS)
			request.addr = peer.addr;
		else
			continue;
		request.port = peer.low;
		sbx_eval(lint->image, &request, &verdict);
		if (verdict.code == SBX_CODE_DENIED)
			WARN(lint, rule, "'%s' never matters: %s is stronger", text_of(lint, rule),
			     name_rule(lint, verdict.rule, name, sizeof(name)));
	}
}

/* Whether it denies any of what [network] own lets be listened on without a network. */
static bool denies_own(const struct lint *lint, const struct sbx_rule *rule)
{
	static const struct sbx_addr loopback[] = { { 4, { 127, 0, 0, 1 } }, { 6, { [15] = 1 } } };
	struct sbx_request request = { .op = SBX_OP_BIND, .size = -1 };
	struct sbx_verdict verdict;
	struct sbx_peer peer;

	if (!sbx_setting(lint->image, SBX_KEY_network_own)->value ||
	    sbx_peer_parse(sbx_str(lint->image, rule->path), &peer) ||
	    (peer.low && peer.high < 1024))
		return false;
	if (peer.kind == SBX_PEER_ADDRESS && sbx_addr_is_loopback(&peer.addr))
		return true;
	request.port = peer.low && peer.low < 1024 ? 1024 : peer.low;
	for (int i = 0; i < 2; i++) {
		request.addr = loopback[i];
		sbx_eval(lint->image, &request, &verdict);
		if (verdict.code == SBX_CODE_DENIED)
			return true;
	}
	return false;
}

/* Destinations that are denied where there is no network anyway. */
static void check_network_off(struct lint *lint)
{
	const struct sbx_setting *mode = sbx_setting(lint->image, SBX_KEY_network_mode);

	if (mode->file == SBX_NONE || mode->value != SBX_NETWORK_NONE)
		return;
	for (uint32_t i = 0; i < sbx_count(lint->image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(lint->image)[i];

		if (rule->kind == SBX_RULE_NET_DENY && is_users(rule) && !denies_own(lint, rule))
			WARN(lint, rule,
			     "'%s' never matters: 'mode = none' allows no destination anyway",
			     text_of(lint, rule));
	}
}

static void run_case(struct lint *lint, const struct sbx_item *item, bool want)
{
	const char *text = sbx_str(lint->image, item->text);
	const char *dir = sbx_str(lint->image, sbx_files(lint->image)[item->file].dir);
	struct sbx_asked asked;
	const char *target;
	int op = sbx_case_split(text, &target);

	lint->tests++;
	if (op < 0 || sbx_ask(lint->image, (enum sbx_op)op, target, dir, &asked) < 0) {
		lint->failed++;
		find(lint, "failed", item->file, item->line, "%s: %s", text,
		     op < 0 ? "unknown operation" : asked.why);
	} else if (asked.verdict.allowed != want) {
		char name[SBX_LINE_MAX] = "no rule matches";

		if (asked.verdict.rule != SBX_NONE)
			(void)name_rule(lint, asked.verdict.rule, name, sizeof(name));
		lint->failed++;
		find(lint, "failed", item->file, item->line, "'%s' is %s, not %s (by %s)", text,
		     want ? "refused" : "allowed", want ? "allowed" : "refused", name);
	}
}

static void run_tests(struct lint *lint)
{
	static const enum sbx_key keys[] = { SBX_KEY_test_allow, SBX_KEY_test_refuse };

	for (int k = 0; k < 2; k++) {
		const struct sbx_setting *cases = sbx_setting(lint->image, keys[k]);

		for (uint32_t i = 0; i < cases->items.count; i++)
			run_case(lint, &sbx_items(lint->image)[cases->items.first + i], k == 0);
	}
}

static void lint_all(struct lint *lint)
{
	const struct sbx_image *image = lint->image;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++)
		check_rule(lint, i);
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_sections); i++)
		check_section(lint, &sbx_sections(image)[i]);
	check_credentials(lint);
	check_unprotected(lint);
	check_search_path(lint);
	check_settings(lint);
	check_peers(lint);
	check_network_off(lint);
	run_tests(lint);
}

static void print_sum(const struct lint *lint)
{
	if (lint->command->json)
		printf("],\"warnings\":%u,\"tests\":%u,\"failed\":%u}\n", lint->warnings,
		       lint->tests, lint->failed);
	else
		printf("%u warning%s, %u test%s, %u failed\n", lint->warnings,
		       lint->warnings == 1 ? "" : "s", lint->tests, lint->tests == 1 ? "" : "s",
		       lint->failed);
}

int cmd_lint(const struct command *command)
{
	struct lint lint = { .command = command };
	struct sbx_policy *policy;
	int status = command_load(command, &policy);

	if (status)
		return status;
	lint.image = sbx_policy_image(policy);
	printf("%s", command->json ? "{\"v\":1,\"findings\":[" : "");
	lint_all(&lint);
	print_sum(&lint);
	sbx_free(policy);
	return lint.failed || (command->strict && lint.warnings) ? EXIT_REFUSED : EXIT_ALLOWED;
}
