/* SPDX-License-Identifier: MIT */
/*
 * What is said about a decision.
 *
 * The reader is a person or a model that must not take a refusal for a bug, a missing file or an
 * outage. Names come from hostile programs: everything that is not ours is escaped and bounded.
 * Pure: no allocation, no stdio; a line never exceeds SBX_LINE_MAX bytes.
 */
#include "words.h"

#include "ops.h"
#include "peer.h"

#include <string.h>

#define NAME_SHOWN 170 /* bytes of a path that a line shows */
#define RULE_SHOWN 200
#define LISTED 8
#define LISTED_JSON 64

const char *sbx_words_root(const struct sbx_image *image, const struct sbx_rule *rule,
			   const char *cwd)
{
	const char *written = sbx_str(image, rule->written);
	const char *dir = sbx_str(image, sbx_files(image)[rule->file].dir);

	if (cwd && !strcmp(cwd, dir) && !(written[0] == '$' && written[1] == '{'))
		return written;
	return rule->rights & SBX_RIGHT_SOCKET ? written : sbx_str(image, rule->path);
}

/* Whether the rule's own path really has the right: a stronger rule may stand on it. */
static bool holds(const struct sbx_image *image, const struct sbx_rule *rule, uint8_t right)
{
	struct sbx_request request = { .size = -1, .path = sbx_str(image, rule->path) };
	struct sbx_verdict verdict;

	if (rule->flags & SBX_RULE_GLOB)
		return true;
	sbx_eval(image, &request, &verdict);
	return verdict.rights & right;
}

uint32_t sbx_allowed_next(struct sbx_allowed *allowed)
{
	const struct sbx_image *image = allowed->image;

	while (allowed->next < sbx_count(image, SBX_TABLE_rules)) {
		uint32_t index = allowed->next++;
		const struct sbx_rule *rule = &sbx_rules(image)[index];
		bool is_path = rule->kind == SBX_RULE_ADD || rule->kind == SBX_RULE_SET;

		if ((rule->flags & SBX_RULE_ABSENT) ||
		    !allowed->profiles != !(rule->flags & SBX_RULE_PROFILE))
			continue;
		if (allowed->right ? is_path && (rule->rights & allowed->right) &&
					     holds(image, rule, allowed->right)
				   : rule->kind == allowed->kind)
			return index;
	}
	return SBX_NONE;
}

void sbx_words_rule(const struct sbx_image *image, uint32_t index, struct sbx_out *out)
{
	const struct sbx_rule *rule = &sbx_rules(image)[index];
	const char *file = sbx_str(image, sbx_files(image)[rule->file].name);

	if (rule->kind == SBX_RULE_PROTECT)
		sbx_out_str(out, "default protection of '");
	else if (rule->kind != SBX_RULE_LOCK)
		sbx_out_shortened(out, file, RULE_SHOWN / 2, SBX_ESCAPE_PLAIN);
	if (rule->line && sbx_files(image)[rule->file].role != SBX_FILE_BUILTIN &&
	    sbx_files(image)[rule->file].role != SBX_FILE_OPTIONS) {
		sbx_out_str(out, ":");
		sbx_out_number(out, rule->line);
	}
	if (rule->kind != SBX_RULE_PROTECT && rule->kind != SBX_RULE_LOCK)
		sbx_out_str(out, " ");
	sbx_out_shortened(out, sbx_str(image, rule->text), RULE_SHOWN, SBX_ESCAPE_PLAIN);
	if (rule->kind == SBX_RULE_PROTECT) {
		sbx_out_str(out, "': ");
		sbx_out_str(out, sbx_str(image, rule->written));
	}
}

/* The command line has no lines. */
void sbx_words_mode_none(const struct sbx_image *image, struct sbx_out *out)
{
	const struct sbx_setting *mode = sbx_setting(image, SBX_KEY_network_mode);

	sbx_out_shortened(out, sbx_str(image, sbx_files(image)[mode->file].name), RULE_SHOWN / 2,
			  SBX_ESCAPE_PLAIN);
	if (mode->line) {
		sbx_out_str(out, ":");
		sbx_out_number(out, mode->line);
	}
	sbx_out_str(out, " mode = none");
}

static void put_json_name(struct sbx_out *out, const char *name)
{
	sbx_out_str(out, ",\"");
	sbx_out_str(out, name);
	sbx_out_str(out, "\":");
}

void sbx_words_rule_json(const struct sbx_image *image, uint32_t index, struct sbx_out *out)
{
	const struct sbx_rule *rule = &sbx_rules(image)[index];

	if (index == SBX_NONE) {
		sbx_out_str(out, "null");
		return;
	}
	sbx_out_str(out, "{\"file\":");
	sbx_out_json(out, sbx_str(image, sbx_files(image)[rule->file].name));
	put_json_name(out, "line");
	if (rule->line)
		sbx_out_number(out, rule->line);
	else
		sbx_out_str(out, "null");
	put_json_name(out, "text");
	sbx_out_json(out, sbx_str(image, rule->text));
	sbx_out_str(out, "}");
}

static bool is_net(const struct sbx_report *report)
{
	return sbx_ops[report->request->op].flags & SBX_OP_IS_NET;
}

/* How each code goes on after "Cannot VERB 'P': ". */
static const char *const tails[SBX_CODE_COUNT] = {
	[SBX_CODE_OUTSIDE] = "path is outside the sandbox.",
	[SBX_CODE_READ_ONLY] = "path is read-only.",
	[SBX_CODE_DENIED] = "denied by a rule.",
	[SBX_CODE_PROTECTED] = "it runs later, outside the sandbox.",
	[SBX_CODE_HIDDEN] = "path is hidden.",
	[SBX_CODE_SUFFIX] = "suffix not allowed.",
	[SBX_CODE_REFER] = "it would gain rights there.",
	[SBX_CODE_EXEC] = "program not allowed.",
	[SBX_CODE_NETWORK_OFF] = "network access is disabled.",
	[SBX_CODE_DESTINATION] = "destination not allowed.",
	[SBX_CODE_PRIVATE_ADDRESS] = "the name is allowed, but it leads to a private address.",
	[SBX_CODE_NAME] = "host not allowed. This is the sandbox, not a DNS failure.",
	[SBX_CODE_BIND] = "address not allowed.",
};

static void put_address(const struct sbx_request *request, struct sbx_out *out)
{
	char text[46];

	(void)sbx_addr_format(&request->addr, text);
	sbx_out_str(out, request->addr.family == 6 ? "[" : "");
	sbx_out_str(out, text);
	sbx_out_str(out, request->addr.family == 6 ? "]:" : ":");
	sbx_out_number(out, request->port);
}

/* '93.184.216.34:443' (example.com): the address that was tried, and the name behind it. */
static void put_destination(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_request *request = report->request;
	bool both = !request->path && request->host && request->addr.family;

	sbx_out_str(out, "'");
	if (both)
		put_address(request, out);
	else
		sbx_out_shortened(out, report->given, NAME_SHOWN, SBX_ESCAPE_QUOTED);
	sbx_out_str(out, "'");
	if (both) {
		sbx_out_str(out, " (");
		sbx_out_shortened(out, request->host, NAME_SHOWN, SBX_ESCAPE_PLAIN);
		sbx_out_str(out, ")");
	}
}

static void put_path(const char *given, const char *resolved, struct sbx_out *out)
{
	sbx_out_str(out, "'");
	sbx_out_shortened(out, given, NAME_SHOWN, SBX_ESCAPE_QUOTED);
	sbx_out_str(out, "'");
	if (!resolved || !strcmp(given, resolved))
		return;
	sbx_out_str(out, " (");
	sbx_out_shortened(out, resolved, NAME_SHOWN, SBX_ESCAPE_ASIDE);
	sbx_out_str(out, ")");
}

static void put_subject(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_request *request = report->request;
	enum sbx_code code = report->verdict->code;
	const char *to = report->given_to ? report->given_to : request->to;

	if (code == SBX_CODE_REFER) {
		sbx_out_str(out, "move '");
		sbx_out_shortened(out, report->given, NAME_SHOWN, SBX_ESCAPE_QUOTED);
		sbx_out_str(out, "' to '");
		sbx_out_shortened(out, to ? to : "", NAME_SHOWN, SBX_ESCAPE_QUOTED);
		sbx_out_str(out, "'");
		return;
	}
	sbx_out_str(out, code == SBX_CODE_SUFFIX ? "access" : sbx_ops[request->op].verb);
	sbx_out_str(out, " ");
	if (is_net(report))
		put_destination(report, out);
	else if (report->verdict->flags & SBX_VERDICT_TARGET)
		put_path(to ? to : "", request->to, out);
	else
		put_path(report->given, request->path, out);
}

static void put_headline(const struct sbx_report *report, struct sbx_out *out)
{
	sbx_out_str(out, "Cannot ");
	put_subject(report, out);
	sbx_out_str(out, ": ");
	if (report->verdict->code == SBX_CODE_REFER && report->verdict->rule != SBX_NONE) {
		sbx_out_str(out, "rules there may refuse what is in it.");
	} else if (report->verdict->code == SBX_CODE_SIZE) {
		sbx_out_str(out, "file too large (");
		sbx_out_number(out, (uint64_t)report->request->size);
		sbx_out_str(out, " bytes).");
	} else if (tails[report->verdict->code]) {
		sbx_out_str(out, tails[report->verdict->code]);
	}
}

/* One entry of the list of what is allowed, as the reader would write it. */
static void put_allowed(const struct sbx_report *report, uint32_t index, char *shown, size_t size)
{
	const struct sbx_rule *rule = &sbx_rules(report->image)[index];
	const char *text = rule->kind == SBX_RULE_ADD || rule->kind == SBX_RULE_SET
				   ? sbx_words_root(report->image, rule, report->cwd)
				   : sbx_str(report->image, rule->path);
	struct sbx_out out;
	struct sbx_peer peer;

	sbx_out_init(&out, shown, size);
	if (rule->flags & SBX_RULE_FREE)
		text = !strcmp(text, sbx_str(report->image, report->image->tmp)) ? "$TMPDIR"
										 : "$HOME";
	if (report->verdict->code == SBX_CODE_NAME && !sbx_peer_parse(text, &peer)) {
		sbx_out_str(&out, peer.kind == SBX_PEER_SUBDOMAINS ? "*." : "");
		sbx_out_str(&out, peer.kind == SBX_PEER_ANY
					  ? "*"
					  : peer.host); /* of the parser's letters */
	} else {
		sbx_out_shortened(&out, text, NAME_SHOWN, SBX_ESCAPE_PLAIN);
	}
	(void)sbx_out_finish(&out);
}

/* What nobody wrote is not listed, but for private folders where one looks for a place to write. */
static bool is_implied(const struct sbx_report *report, const struct sbx_rule *rule)
{
	if (sbx_files(report->image)[rule->file].role != SBX_FILE_BUILTIN ||
	    rule->file == report->image->main_file)
		return false;
	/* Only other names of $TMPDIR. */
	if (rule->flags & SBX_RULE_STAND_IN &&
	    strcmp(sbx_str(report->image, rule->path),
		   sbx_str(report->image, report->image->tmp)) != 0)
		return true;
	return !(rule->flags & SBX_RULE_FREE) ||
	       sbx_ops[report->request->op].right != SBX_RIGHT_WRITE;
}

/* Whether it belongs in the list of what is allowed: for names, only names. */
static bool belongs(const struct sbx_report *report, uint32_t index)
{
	struct sbx_peer peer;

	if (is_implied(report, &sbx_rules(report->image)[index]))
		return false;
	if (report->verdict->code != SBX_CODE_NAME)
		return true;
	return !sbx_peer_parse(sbx_str(report->image, sbx_rules(report->image)[index].path),
			       &peer) &&
	       peer.kind != SBX_PEER_ADDRESS;
}

static struct sbx_allowed allowed_for(const struct sbx_report *report)
{
	struct sbx_allowed allowed = { .image = report->image };

	if (report->request->op == SBX_OP_BIND && !report->request->path)
		allowed.kind = SBX_RULE_BIND;
	else if (is_net(report) && !report->request->path)
		allowed.kind = SBX_RULE_CONNECT;
	else
		allowed.right = sbx_ops[report->request->op].right;
	return allowed;
}

/* The written destinations, then sockets; the paths; each once. */
static uint32_t next_listed(const struct sbx_report *report, struct sbx_allowed *allowed)
{
	uint32_t index;

	do
		index = sbx_allowed_next(allowed);
	while (index != SBX_NONE && !belongs(report, index));
	return index;
}

/* Of hosts the ports are not shown. */
static bool is_alike(const struct sbx_report *report, uint32_t one, uint32_t other)
{
	const struct sbx_rule *rules = sbx_rules(report->image);
	char text[NAME_SHOWN + 1], more[NAME_SHOWN + 1];

	if (report->verdict->code != SBX_CODE_NAME)
		return !strcmp(sbx_str(report->image, rules[one].path),
			       sbx_str(report->image, rules[other].path));
	put_allowed(report, one, text, sizeof(text));
	put_allowed(report, other, more, sizeof(more));
	return !strcmp(text, more);
}

static bool is_repeated(const struct sbx_report *report, const uint32_t *listed, size_t count,
			uint32_t index)
{
	for (size_t i = 0; i < count; i++)
		if (is_alike(report, listed[i], index))
			return true;
	return false;
}

/* "./a, ./b and 12 more"; returns how many there are. */
static size_t put_list(const struct sbx_report *report, struct sbx_out *out)
{
	struct sbx_allowed allowed = allowed_for(report);
	uint32_t listed[LISTED], index;
	size_t shown = 0, more = 0;
	char text[NAME_SHOWN + 1];

	while ((index = next_listed(report, &allowed)) != SBX_NONE) {
		if (is_repeated(report, listed, shown, index))
			continue;
		if (shown < LISTED && !more)
			put_allowed(report, index, text, sizeof(text));
		/* Room is kept for what follows the list. */
		if (shown == LISTED || more || out->len + strlen(text) + 120 > SBX_LINE_MAX) {
			more++;
			continue;
		}
		sbx_out_str(out, shown ? ", " : "");
		sbx_out_str(out, text);
		listed[shown++] = index;
	}
	if (more) {
		sbx_out_str(out, shown ? " and " : "");
		sbx_out_number(out, more);
		sbx_out_str(out, shown ? " more" : " paths");
	}
	return shown + more;
}

/* "node" for profiles/node.ini. */
static void put_profile(const struct sbx_image *image, uint32_t file, struct sbx_out *out)
{
	const char *name = sbx_str(image, sbx_files(image)[file].name);
	const char *slash = name;

	for (const char *c = name; *c; c++)
		if (*c == '/')
			slash = c + 1;
	sbx_out_str(out, "'");
	sbx_out_escaped(out, slash, strlen(slash) > 4 ? strlen(slash) - 4 : 0, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "'");
}

/* Profiles that were asked for are named; 'base' only when it stands alone, others never. */
static bool is_named(const struct sbx_image *image, uint32_t file, bool base)
{
	const struct sbx_file *at = &sbx_files(image)[file];
	const char *name = sbx_str(image, at->name);

	return at->role == SBX_FILE_PROFILE && at->level == 2 &&
	       !strcmp(name, "profiles/base.ini") == base;
}

static size_t put_profiles(const struct sbx_image *image, uint8_t right, bool base,
			   struct sbx_out *out)
{
	struct sbx_allowed allowed = { .image = image, .right = right, .profiles = true };
	uint32_t files = sbx_count(image, SBX_TABLE_files), index, last = SBX_NONE;
	size_t count = 0;

	for (index = 0; index < files; index++)
		if (is_named(image, index, base))
			last = index, count++;
	if (count == 0 || sbx_allowed_next(&allowed) == SBX_NONE)
		return 0;
	sbx_out_str(out, right == SBX_RIGHT_EXEC ? "the programs of profile"
						 : "the system files of profile");
	sbx_out_str(out, count > 1 ? "s " : " ");
	for (index = 0, count = 0; index < files; index++) {
		if (!is_named(image, index, base))
			continue;
		if (count++)
			sbx_out_str(out, index == last ? " and " : ", ");
		put_profile(image, index, out);
	}
	return count;
}

/* Profiles summed up, behind the user's own paths or in their place. */
static bool put_profile_sum(const struct sbx_report *report, const char *before, const char *after,
			    struct sbx_out *out)
{
	uint8_t right = sbx_ops[report->request->op].right;
	struct sbx_out sum;
	char text[200];

	/* What profiles let be written are devices: nothing that would help. */
	if (right != SBX_RIGHT_READ && right != SBX_RIGHT_EXEC)
		return false;
	sbx_out_init(&sum, text, sizeof(text));
	if (!put_profiles(report->image, right, false, &sum) &&
	    !put_profiles(report->image, right, true, &sum))
		return false;
	(void)sbx_out_finish(&sum);
	sbx_out_str(out, before);
	sbx_out_str(out, text);
	sbx_out_str(out, after);
	return true;
}

static void put_paths(const struct sbx_report *report, const char *label, struct sbx_out *out)
{
	sbx_out_str(out, label);
	if (put_list(report, out))
		(void)put_profile_sum(report, " (and ", ")", out);
	else if (!put_profile_sum(report, "only ", "", out))
		sbx_out_str(out, "none");
}

static void put_suffixes(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_section *section = &sbx_sections(report->image)[report->verdict->section];

	sbx_out_str(out, "Allowed suffixes: ");
	for (uint32_t i = 0; i < section->suffixes.count; i++) {
		if (out->len > SBX_LINE_MAX - 60) {
			sbx_out_str(out, " ...");
			return;
		}
		sbx_out_str(out, i ? ", " : "");
		sbx_out_shortened(
			out,
			sbx_str(report->image,
				sbx_items(report->image)[section->suffixes.first + i].text),
			40, SBX_ESCAPE_PLAIN);
	}
}

static void put_size(const struct sbx_report *report, struct sbx_out *out)
{
	sbx_out_str(out, "Maximum allowed: ");
	sbx_out_number(out, sbx_sections(report->image)[report->verdict->section].max_bytes);
	sbx_out_str(out, " bytes");
}

/* What may be listened on: what is listed, and what every program may serve itself. */
static void put_addresses(const struct sbx_report *report, struct sbx_out *out)
{
	bool own = sbx_setting(report->image, SBX_KEY_network_own)->value;

	sbx_out_str(out, "Allowed addresses: ");
	if (!put_list(report, out) && !own)
		sbx_out_str(out, "none");
	if (!own)
		return;
	if (out->len > strlen("sbx:   Allowed addresses: "))
		sbx_out_str(out, ", and ");
	sbx_out_str(out, report->verdict->flags & SBX_VERDICT_BY_PORT
				 ? "loopback on port 0, where the kernel chooses one"
				 : "loopback on port 0 or from 1024 up");
}

static void put_executable(const struct sbx_report *report, struct sbx_out *out)
{
	if (report->verdict->flags & SBX_VERDICT_REPLACED)
		sbx_out_str(out, "It was put there during this run; the next one can execute it.");
	else if (report->verdict->flags & SBX_VERDICT_SERVED)
		sbx_out_str(out, "Nothing can be executed where sbx has to open the files itself, "
				 "because of the rule below.");
	else
		put_paths(report, "Executable paths: ", out);
}

/* The second line: what is allowed instead. */
static void put_instead(const struct sbx_report *report, struct sbx_out *out)
{
	switch ((enum sbx_code)report->verdict->code) {
	case SBX_CODE_OUTSIDE:
	case SBX_CODE_READ_ONLY:
		put_paths(report,
			  sbx_ops[report->request->op].right == SBX_RIGHT_READ ? "Readable paths: "
									       : "Writable paths: ",
			  out);
		break;
	case SBX_CODE_EXEC:
		put_executable(report, out);
		break;
	case SBX_CODE_PROTECTED:
		sbx_out_str(out,
			    "Default protection; `protect = no` in [sandbox] lifts all of them");
		break;
	case SBX_CODE_SUFFIX:
		put_suffixes(report, out);
		break;
	case SBX_CODE_SIZE:
		put_size(report, out);
		break;
	case SBX_CODE_REFER:
		sbx_out_str(out, "Copy it instead.");
		break;
	case SBX_CODE_NETWORK_OFF:
		if (report->request->op == SBX_OP_BIND) {
			put_addresses(report, out);
			break;
		}
		sbx_out_str(out, "Allowed destinations: none. Do not retry, change DNS or use a "
				 "proxy: go on without the network, or ask the user.");
		break;
	case SBX_CODE_DESTINATION:
		put_paths(report, "Allowed destinations: ", out);
		break;
	case SBX_CODE_NAME:
		put_paths(report, "Allowed hosts: ", out);
		break;
	case SBX_CODE_BIND:
		put_addresses(report, out);
		break;
	default:
		break;
	}
}

static void put_main_file(const struct sbx_image *image, struct sbx_out *out)
{
	if (image->main_file == SBX_NONE)
		sbx_out_str(out, "the policy");
	else
		sbx_out_shortened(out, sbx_str(image, sbx_files(image)[image->main_file].name),
				  RULE_SHOWN / 2, SBX_ESCAPE_PLAIN);
}

/* Suffix and size are lines of their own within a section. */
static bool put_section_line(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_image *image = report->image;
	const struct sbx_section *section;
	const struct sbx_rule *rule;
	bool suffix = report->verdict->code == SBX_CODE_SUFFIX;

	if (!suffix && report->verdict->code != SBX_CODE_SIZE)
		return false;
	section = &sbx_sections(image)[report->verdict->section];
	rule = &sbx_rules(image)[section->rule];
	sbx_out_shortened(out, sbx_str(image, sbx_files(image)[rule->file].name), RULE_SHOWN / 2,
			  SBX_ESCAPE_PLAIN);
	sbx_out_str(out, ":");
	sbx_out_number(out,
		       suffix ? sbx_items(image)[section->suffixes.first].line : section->max_line);
	sbx_out_str(out, suffix ? " suffixes in [path " : " max_file_bytes in [path ");
	sbx_out_shortened(out, sbx_str(image, section->name), 40, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "]");
	return true;
}

static void put_decider(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_verdict *verdict = report->verdict;
	const struct sbx_image *image = report->image;
	const struct sbx_setting *mode = sbx_setting(image, SBX_KEY_network_mode);

	if (put_section_line(report, out))
		return;
	if (verdict->flags & SBX_VERDICT_PARENT)
		sbx_out_str(out, "the folder it stands in is not writable; ");
	if (verdict->rule != SBX_NONE) {
		sbx_words_rule(image, verdict->rule, out);
	} else if (verdict->code == SBX_CODE_NETWORK_OFF && mode->file != SBX_NONE) {
		sbx_words_mode_none(image, out);
	} else {
		sbx_out_str(out, verdict->flags & SBX_VERDICT_PARENT ? "" : "no rule matches; ");
		put_main_file(image, out);
		sbx_out_str(out, report->program ? " decides" : " decides.");
	}
}

static void put_by(const struct sbx_report *report, struct sbx_out *out)
{
	sbx_out_str(out, "By: ");
	put_decider(report, out);
	if (!report->program)
		return;
	sbx_out_str(out, ". Tried by ");
	sbx_out_shortened(out, report->program, 64, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "[");
	sbx_out_number(out, report->pid);
	sbx_out_str(out, "]");
	if (report->syscall) {
		sbx_out_str(out, " with ");
		sbx_out_str(out, report->syscall);
	}
	sbx_out_str(out, ".");
}

static void put_reason(const struct sbx_report *report, struct sbx_out *out)
{
	uint32_t section = report->verdict->section;

	if (report->verdict->flags & SBX_VERDICT_PARENT)
		return;
	if (section == SBX_NONE && report->verdict->rule != SBX_NONE)
		section = sbx_rules(report->image)[report->verdict->rule].section;
	if (section != SBX_NONE)
		sbx_out_shortened(
			out, sbx_str(report->image, sbx_sections(report->image)[section].reason),
			SBX_LINE_MAX - 20, SBX_ESCAPE_PLAIN);
}

/* What is behind a socket that was not to be connected to. */
static void put_behind(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_request *request = report->request;
	const struct sbx_socket *socket =
		request->op == SBX_OP_CONNECT && request->path ? sbx_socket(request->path) : NULL;

	if (!socket)
		return;
	sbx_out_str(out, "This is ");
	sbx_out_str(out, socket->what);
	sbx_out_str(out, ": ");
	sbx_out_str(out, socket->why);
	sbx_out_str(out, ".");
}

static void put_suggestion(const struct sbx_report *report, struct sbx_out *out)
{
	struct sbx_suggestion suggestion;

	if (!sbx_setting(report->image, SBX_KEY_errors_suggest)->value)
		return;
	sbx_suggest(report, &suggestion);
	sbx_suggest_text(report, &suggestion, out);
}

static void put_complain(const struct sbx_report *report, struct sbx_out *out)
{
	if (report->verdict->flags & SBX_VERDICT_COMPLAIN)
		sbx_out_str(out, "Only reported: `complain` in [sandbox] lets it pass");
}

static void put_yes(const struct sbx_report *report, struct sbx_out *out)
{
	sbx_out_str(out, "Can ");
	put_subject(report, out);
	sbx_out_str(out, ".");
}

static void put_yes_by(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_verdict *verdict = report->verdict;

	sbx_out_str(out, "By: ");
	if (verdict->rule != SBX_NONE)
		sbx_words_rule(report->image, verdict->rule, out);
	else if (verdict->flags & SBX_VERDICT_OWN)
		sbx_out_str(out, "own = yes in [network]");
	else if (is_net(report) && sbx_network_mode(report->image) == SBX_NETWORK_FULL)
		sbx_out_str(out, "mode = full in [network]");
	else if (report->request->op == SBX_OP_LOOKUP)
		sbx_out_str(out, "names of this host always resolve");
	else
		put_main_file(report->image, out);
}

typedef void line_fn(const struct sbx_report *report, struct sbx_out *out);

static line_fn *const refused_lines[] = { put_headline, put_instead,	put_behind,  put_reason,
					  put_by,	put_suggestion, put_complain };
static line_fn *const allowed_lines[] = { put_yes, put_yes_by };

size_t sbx_words_text(const struct sbx_report *report, char *text, size_t size)
{
	bool allowed = report->verdict->allowed;
	line_fn *const *lines = allowed ? allowed_lines : refused_lines;
	size_t count = allowed ? sizeof(allowed_lines) / sizeof(allowed_lines[0])
			       : sizeof(refused_lines) / sizeof(refused_lines[0]);
	struct sbx_out out;

	sbx_out_init(&out, text, size);
	for (size_t i = 0; i < count; i++) {
		const char *prefix = i ? "sbx:   " : "sbx: ";
		char line[SBX_LINE_MAX];
		struct sbx_out one;

		/* The line's end is a byte too, and takes the place of the NUL. */
		sbx_out_init(&one, line, sizeof(line));
		sbx_out_str(&one, prefix);
		lines[i](report, &one);
		if (one.want == strlen(prefix))
			continue;
		(void)sbx_out_finish(&one);
		sbx_out_str(&out, line);
		sbx_out_str(&out, "\n");
	}
	return sbx_out_finish(&out);
}

static void json_allowed(const struct sbx_report *report, struct sbx_out *out)
{
	struct sbx_allowed allowed = allowed_for(report);
	uint32_t listed[LISTED_JSON], index;
	char text[NAME_SHOWN + 1];
	size_t count = 0;

	sbx_out_str(out, "[");
	while (count < LISTED_JSON && (index = next_listed(report, &allowed)) != SBX_NONE) {
		if (is_repeated(report, listed, count, index))
			continue;
		put_allowed(report, index, text, sizeof(text));
		sbx_out_str(out, count ? "," : "");
		sbx_out_json(out, text);
		listed[count++] = index;
	}
	sbx_out_str(out, "]");
}

/* The value is ours, but holds the path: through the same escape as everything. */
static void json_suggest(const struct sbx_report *report, struct sbx_out *out)
{
	struct sbx_suggestion suggestion;
	char text[SBX_LINE_MAX * 2];
	struct sbx_out value;

	sbx_out_init(&value, text, sizeof(text));
	sbx_suggest(report, &suggestion);
	sbx_suggest_value(report, &suggestion, &value);
	if (report->verdict->allowed || value.want == 0 || value.want != value.len ||
	    !sbx_setting(report->image, SBX_KEY_errors_suggest)->value) {
		sbx_out_str(out, "null");
		return;
	}
	(void)sbx_out_finish(&value);
	sbx_out_json(out, text);
}

static void json_string_or_null(struct sbx_out *out, const char *name, const char *value)
{
	put_json_name(out, name);
	if (value && *value)
		sbx_out_json(out, value);
	else
		sbx_out_str(out, "null");
}

static void json_reason(const struct sbx_report *report, struct sbx_out *out)
{
	char text[SBX_LINE_MAX];
	struct sbx_out reason;

	sbx_out_init(&reason, text, sizeof(text));
	put_reason(report, &reason);
	(void)sbx_out_finish(&reason);
	json_string_or_null(out, "reason", text);
}

void sbx_words_json(const struct sbx_report *report, struct sbx_out *out)
{
	const struct sbx_verdict *verdict = report->verdict;
	const struct sbx_request *request = report->request;
	char text[SBX_TEXT_MAX];

	sbx_out_str(out, "\"op\":");
	sbx_out_json(out, sbx_op_name(request->op));
	json_string_or_null(out, "code", sbx_code_name(verdict->code));
	json_string_or_null(out, is_net(report) ? "dest" : "path", report->given);
	json_string_or_null(out, "resolved", request->path);
	if (request->to)
		json_string_or_null(out, "to", report->given_to ? report->given_to : request->to);
	json_string_or_null(out, "errno", sbx_errno_name(verdict->error));
	put_json_name(out, "rule");
	sbx_words_rule_json(report->image, verdict->rule, out);
	put_json_name(out, "allowed");
	json_allowed(report, out);
	put_json_name(out, "suggest");
	json_suggest(report, out);
	json_reason(report, out);
	(void)sbx_words_text(report, text, sizeof(text));
	json_string_or_null(out, "message", text);
}
