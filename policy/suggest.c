/* SPDX-License-Identifier: MIT */
/*
 * What would change a refusal: the narrowest line that works, tried on the engine before anyone is
 * told. A line that cannot help is never suggested, nor one that would open a credential.
 * Pure.
 */
#include "ops.h"
#include "peer.h"
#include "words.h"

#include <string.h>

#define LONGEST_ITEM 150 /* what a line of a policy file can surely hold beside its key */

/* What the verdict is about: of a rename, one of the two names. */
static const char *path_of(const struct sbx_report *report)
{
	return report->verdict->flags & SBX_VERDICT_TARGET ? report->request->to
							   : report->request->path;
}

static size_t parent_len(const char *path, size_t len)
{
	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len > 0 && path[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : len;
}

static enum sbx_key key_for(enum sbx_op op)
{
	switch (op) {
	case SBX_OP_READ:
	case SBX_OP_LIST:
		return SBX_KEY_paths_read;
	case SBX_OP_EXEC:
		return SBX_KEY_paths_exec;
	case SBX_OP_CONNECT:
	case SBX_OP_LOOKUP:
		return SBX_KEY_network_connect;
	case SBX_OP_BIND:
		return SBX_KEY_network_bind;
	default:
		return SBX_KEY_paths_write;
	}
}

static bool would_help(const struct sbx_report *report, const char *path, size_t len, bool missing)
{
	const struct sbx_opinfo *op = &sbx_ops[report->request->op];
	struct sbx_extra extra = {
		.path = path,
		.len = len,
		.rights = op->right == SBX_RIGHT_SOCKET ? op->right : op->right | SBX_RIGHT_READ,
		.missing = missing,
	};
	struct sbx_verdict verdict;

	sbx_eval_with(report->image, report->request, &extra, NULL, &verdict);
	return verdict.allowed;
}

/* Whether a policy file can hold these bytes as one item. */
static bool can_be_written(const char *bytes, size_t len)
{
	struct sbx_out out;

	sbx_out_init(&out, NULL, 0);
	sbx_out_escaped(&out, bytes, len, SBX_ESCAPE_PLAIN);
	return out.want == len && len <= LONGEST_ITEM;
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return !strncmp(path, folder, len) && (path[len] == '/' || !path[len]);
}

/* The folder of the policy; empty when there is none of its own. */
static const char *policy_dir(const struct sbx_image *image)
{
	const char *dir = image->main_file == SBX_NONE
				  ? ""
				  : sbx_str(image, sbx_files(image)[image->main_file].dir);

	return strlen(dir) > 1 ? dir : "";
}

/* Places that private tmp stands in for. */
static bool is_shared_tmp(const struct sbx_image *image, const char *path)
{
	enum {
		PRIVATE,
		SHARED,
		NO_TMP
	};
	const char *dir = policy_dir(image);

	/* A policy that lives there speaks of its own files. */
	if (*dir && is_below(path, dir))
		return false;
	return sbx_setting(image, SBX_KEY_sandbox_tmp)->value == PRIVATE &&
	       (is_below(path, "/tmp") || is_below(path, "/var/tmp") || is_below(path, "/dev/shm"));
}

static void suggest_change(const struct sbx_report *report, struct sbx_suggestion *suggestion)
{
	uint32_t rule = report->verdict->rule;

	suggestion->kind = SBX_SUGGEST_IMPOSSIBLE;
	if (rule == SBX_NONE || sbx_rules(report->image)[rule].kind == SBX_RULE_LOCK)
		return;
	suggestion->kind = SBX_SUGGEST_CHANGE;
	suggestion->rule = rule;
}

/* In quotes such a name is taken for a mistake as long as nothing is called so. */
static bool looks_wild(const char *path)
{
	for (; *path; path++)
		if (*path == '*' || *path == '?' || (path[0] == '$' && path[1] == '{'))
			return true;
	return false;
}

/* A folder that holds far more than what was asked for: the root, what is in it, a home or above. */
static bool is_too_wide(const struct sbx_image *image, const char *path, size_t len)
{
	const char *home = sbx_str(image, image->home);

	return len < 2 || !memchr(path + 1, '/', len - 1) ||
	       (!strncmp(home, path, len) && (home[len] == '/' || !home[len]));
}

/* One line, tried: for the path itself, or for the folder it stands in. */
static bool suggest_line(const struct sbx_report *report, const char *path, size_t len,
			 bool creates, struct sbx_suggestion *suggestion)
{
	bool is_folder = report->request->is_dir || len < strlen(path);

	if (!can_be_written(path, len) || (creates && looks_wild(path)) ||
	    !would_help(report, path, len, creates))
		return false;
	suggestion->path_len = len;
	suggestion->kind = is_folder && is_too_wide(report->image, path, len) ? SBX_SUGGEST_TOO_WIDE
									      : SBX_SUGGEST_LINE;
	return true;
}

/* Below /proc/PID, which nobody has twice. */
static bool is_of_process(const char *path)
{
	const char *name = path + strlen("/proc/");

	return is_below(path, "/proc") && path[strlen("/proc")] && name[0] >= '0' && name[0] <= '9';
}

static void suggest_path(const struct sbx_report *report, struct sbx_suggestion *suggestion)
{
	const struct sbx_request *request = report->request;
	const char *path = path_of(report);
	size_t len = path ? strlen(path) : 0;
	bool creates = request->op == SBX_OP_CREATE || request->op == SBX_OP_BIND;

	/* Each terminal is there for one run. */
	if (len > strlen("/dev/pts") && is_below(path, "/dev/pts"))
		len = strlen("/dev/pts");
	if (len == 0 || path[0] != '/' || is_of_process(path))
		suggestion->kind = SBX_SUGGEST_IMPOSSIBLE;
	else if (request->op == SBX_OP_CONNECT && sbx_socket(path))
		suggestion->kind = SBX_SUGGEST_SOCKET;
	else if (sbx_credential(path))
		suggestion->kind = SBX_SUGGEST_CREDENTIAL;
	else if (report->verdict->code == SBX_CODE_OUTSIDE && is_shared_tmp(report->image, path))
		suggestion->kind = SBX_SUGGEST_TMP;
	else if (!suggest_line(report, path, len, creates, suggestion) &&
		 !suggest_line(report, path, parent_len(path, len), false, suggestion))
		suggest_change(report, suggestion);
}

static bool is_link_local(const struct sbx_addr *addr)
{
	return (addr->family == 4 && addr->bytes[0] == 169 && addr->bytes[1] == 254) ||
	       (addr->family == 6 && addr->bytes[0] == 0xfe && (addr->bytes[1] & 0xc0) == 0x80);
}

static void suggest_net(const struct sbx_report *report, struct sbx_suggestion *suggestion)
{
	const struct sbx_setting *mode = sbx_setting(report->image, SBX_KEY_network_mode);
	const struct sbx_request *request = report->request;

	if (request->path) {
		/* To listen on a socket is to make a file. */
		if (request->op == SBX_OP_BIND)
			suggestion->key = SBX_KEY_paths_write;
		suggest_path(report, suggestion);
	} else if (!request->host && !request->addr.family) {
		/* A socket without a file: there is no word for it. */
		suggestion->kind = SBX_SUGGEST_IMPOSSIBLE;
	} else if (is_link_local(&request->addr)) {
		/* Clouds hand out credentials there. */
		suggestion->kind = SBX_SUGGEST_CREDENTIAL;
	} else if (would_help(report, "", 0, false)) {
		suggestion->kind = SBX_SUGGEST_LINE;
	} else {
		suggest_change(report, suggestion);
	}
	if (suggestion->kind == SBX_SUGGEST_LINE && suggestion->key != SBX_KEY_paths_write &&
	    mode->file != SBX_NONE && mode->value == SBX_NETWORK_NONE)
		suggestion->kind = SBX_SUGGEST_MODE;
}

/* ".md" of "/a/b.md"; NULL when there is none that could be written down. */
static const char *suffix_of(const char *path)
{
	const char *dot = NULL;

	for (; *path; path++)
		dot = *path == '.' ? path : *path == '/' ? NULL : dot;
	return dot && dot[1] && !looks_wild(dot) && can_be_written(dot, strlen(dot)) ? dot : NULL;
}

void sbx_suggest(const struct sbx_report *report, struct sbx_suggestion *suggestion)
{
	*suggestion = (struct sbx_suggestion){ .kind = SBX_SUGGEST_NOTHING,
					       .key = key_for(report->request->op),
					       .rule = SBX_NONE };
	if (report->verdict->allowed)
		return;
	switch ((enum sbx_code)report->verdict->code) {
	case SBX_CODE_PROTECTED: /* its second line says it */
	case SBX_CODE_REFER:
		break;
	case SBX_CODE_SUFFIX:
		suggestion->key = SBX_KEY_path_suffixes;
		suggestion->kind =
			suffix_of(path_of(report)) ? SBX_SUGGEST_SECTION : SBX_SUGGEST_REMOVE;
		break;
	case SBX_CODE_SIZE:
		suggestion->key = SBX_KEY_path_max_file_bytes;
		suggestion->kind = SBX_SUGGEST_SECTION;
		break;
	case SBX_CODE_EXEC:
		if (report->verdict->flags & SBX_VERDICT_SERVED_FILE)
			suggest_change(report, suggestion);
		else if (!(report->verdict->flags & SBX_VERDICT_REPLACED))
			suggest_path(report, suggestion);
		break;
	default:
		/* Where ports alone are held, nothing less than all of the network can be opened. */
		if (report->verdict->flags & SBX_VERDICT_BY_PORT)
			suggestion->kind = SBX_SUGGEST_TOO_WIDE;
		else if (sbx_ops[report->request->op].flags & SBX_OP_IS_NET)
			suggest_net(report, suggestion);
		else
			suggest_path(report, suggestion);
		break;
	}
}

static bool needs_quotes(const char *bytes, size_t len)
{
	static const char special[] = " ,\"\\*?$~;#'[{";

	if (len == 0 || bytes[0] == ' ' || bytes[len - 1] == ' ')
		return true;
	for (size_t i = 0; i < len; i++)
		if (memchr(special, bytes[i], sizeof(special) - 1))
			return true;
	return false;
}

/* A path as a policy file must spell it to mean exactly this path. */
static void put_item(const char *before, const char *bytes, size_t len, struct sbx_out *out)
{
	bool quotes = needs_quotes(bytes, len);

	sbx_out_str(out, quotes ? "\"" : "");
	sbx_out_str(out, before);
	for (size_t i = 0; i < len; i++) {
		if (bytes[i] == '"' || bytes[i] == '\\')
			sbx_out_str(out, "\\");
		sbx_out_bytes(out, bytes + i, 1);
	}
	sbx_out_str(out, quotes ? "\"" : "");
}

/* Relative when it stands in the policy's own folder, as its author would write it. */
static void put_path_item(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
			  struct sbx_out *out)
{
	const struct sbx_image *image = report->image;
	const struct sbx_request *request = report->request;
	const char *path = path_of(report);
	const char *dir = policy_dir(image);
	size_t skip = strlen(dir), len = suggestion->path_len;

	if (sbx_ops[request->op].right == SBX_RIGHT_SOCKET)
		put_item("unix:", path, len, out);
	else if (skip && skip < len && is_below(path, dir))
		put_item(".", path + skip, len - skip, out);
	else
		put_item("", path, len, out);
	/* What is not there may be read or executed once it is. */
	if ((request->unseen || (request->missing && len == strlen(path))) &&
	    (suggestion->key == SBX_KEY_paths_read || suggestion->key == SBX_KEY_paths_exec))
		sbx_out_str(out, " ?");
}

static void put_destination(const struct sbx_request *request, struct sbx_out *out)
{
	char text[46];

	if (request->host) {
		sbx_out_str(out, request->host);
	} else {
		(void)sbx_addr_format(&request->addr, text);
		sbx_out_str(out, request->addr.family == 6 ? "[" : "");
		sbx_out_str(out, text);
		sbx_out_str(out, request->addr.family == 6 ? "]" : "");
	}
	sbx_out_str(out, ":");
	sbx_out_number(out,
		       request->op == SBX_OP_LOOKUP ? sbx_lookup_port(request) : request->port);
}

static void put_section_value(const struct sbx_report *report, enum sbx_key key,
			      struct sbx_out *out)
{
	const char *suffix = suffix_of(path_of(report));

	if (key == SBX_KEY_path_max_file_bytes)
		sbx_out_number(out, (uint64_t)report->request->size);
	else if (suffix)
		put_item("", suffix, strlen(suffix), out);
}

void sbx_suggest_value(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
		       struct sbx_out *out)
{
	static const char *const names[] = {
		[SBX_KEY_paths_read] = "read = ",
		[SBX_KEY_paths_write] = "write = ",
		[SBX_KEY_paths_exec] = "exec = ",
		[SBX_KEY_network_connect] = "connect = ",
		[SBX_KEY_network_bind] = "bind = ",
		[SBX_KEY_path_suffixes] = "suffixes = ",
		[SBX_KEY_path_max_file_bytes] = "max_file_bytes = ",
	};
	struct sbx_request by_address = *report->request;

	if (suggestion->kind != SBX_SUGGEST_LINE && suggestion->kind != SBX_SUGGEST_MODE &&
	    suggestion->kind != SBX_SUGGEST_SECTION)
		return;
	sbx_out_str(out, names[suggestion->key]);
	by_address.addr = sbx_addr_canonical(&by_address.addr, by_address.op);
	if (report->verdict->code == SBX_CODE_PRIVATE_ADDRESS)
		by_address.host = NULL;
	if (suggestion->kind == SBX_SUGGEST_SECTION)
		put_section_value(report, suggestion->key, out);
	else if (suggestion->path_len)
		put_path_item(report, suggestion, out);
	else
		put_destination(&by_address, out);
}

static const char *main_file(const struct sbx_image *image)
{
	return image->main_file == SBX_NONE
		       ? "the policy"
		       : sbx_str(image, sbx_files(image)[image->main_file].name);
}

static bool is_builtin(const struct sbx_image *image)
{
	return image->main_file != SBX_NONE &&
	       sbx_files(image)[image->main_file].role == SBX_FILE_BUILTIN;
}

/* A section stands in one file alone, whichever includes it. */
static void put_section(const struct sbx_image *image, uint32_t index, struct sbx_out *out)
{
	const struct sbx_section *section = &sbx_sections(image)[index];
	const struct sbx_file *file = &sbx_files(image)[sbx_rules(image)[section->rule].file];

	sbx_out_str(out, "[path ");
	sbx_out_shortened(out, sbx_str(image, section->name), 40, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "] in ");
	sbx_out_shortened(out, sbx_str(image, file->name), 100, SBX_ESCAPE_PLAIN);
}

static void put_where(const struct sbx_report *report, enum sbx_key key, struct sbx_out *out)
{
	const struct sbx_image *image = report->image;

	if (key == SBX_KEY_path_suffixes || key == SBX_KEY_path_max_file_bytes) {
		put_section(image, report->verdict->section, out);
		return;
	}
	sbx_out_str(out, key >= SBX_KEY_network_mode ? "[network]" : "[paths]");
	if (is_builtin(image)) {
		sbx_out_str(out, " of a policy of their own");
		return;
	}
	sbx_out_str(out, " in ");
	sbx_out_shortened(out, main_file(image), 100, SBX_ESCAPE_PLAIN);
}

/* The user's own mode counts before that of a profile, which is not theirs to change. */
static bool has_profile_mode(const struct sbx_image *image)
{
	const struct sbx_setting *mode = sbx_setting(image, SBX_KEY_network_mode);

	return sbx_files(image)[mode->file].role == SBX_FILE_PROFILE;
}

/* The line to add is for the main file, whichever has the mode. */
static void put_mode(const struct sbx_image *image, struct sbx_out *out)
{
	const struct sbx_setting *mode = sbx_setting(image, SBX_KEY_network_mode);

	sbx_out_str(out, "To allow it, the user can remove ");
	if (mode->file == image->main_file) {
		sbx_out_str(out, "line ");
		sbx_out_number(out, mode->line);
		sbx_out_str(out, " (mode = none)");
	} else {
		sbx_words_mode_none(image, out);
	}
	sbx_out_str(out, " and add to ");
}

static void put_line(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
		     struct sbx_out *out)
{
	bool outdoes = suggestion->kind == SBX_SUGGEST_MODE && has_profile_mode(report->image);

	if (suggestion->kind == SBX_SUGGEST_MODE && !outdoes) {
		put_mode(report->image, out);
	} else if (suggestion->key == SBX_KEY_path_max_file_bytes) {
		sbx_out_str(out, "To allow it, the user can change in ");
	} else {
		sbx_out_str(out, "To allow it, the user can add to ");
	}
	put_where(report, suggestion->key, out);
	sbx_out_str(out, ": ");
	if (outdoes)
		sbx_out_str(out, "mode = filtered and ");
	sbx_suggest_value(report, suggestion, out);
}

void sbx_suggest_text(const struct sbx_report *report, const struct sbx_suggestion *suggestion,
		      struct sbx_out *out)
{
	const struct sbx_image *image = report->image;
	const char *tmp = sbx_str(image, image->tmp);

	switch (suggestion->kind) {
	case SBX_SUGGEST_LINE:
	case SBX_SUGGEST_MODE:
	case SBX_SUGGEST_SECTION:
		put_line(report, suggestion, out);
		break;
	case SBX_SUGGEST_CHANGE:
		sbx_out_str(out, "To allow it, the user can change or remove ");
		sbx_words_rule(image, suggestion->rule, out);
		break;
	case SBX_SUGGEST_REMOVE:
		sbx_out_str(out, "To allow it, the user can remove `suffixes` from ");
		put_where(report, suggestion->key, out);
		break;
	case SBX_SUGGEST_TMP:
		sbx_out_str(out, "Use $TMPDIR ");
		if (!is_below("/tmp", tmp) && *tmp) {
			sbx_out_str(out, "(");
			sbx_out_shortened(out, tmp, 200, SBX_ESCAPE_PLAIN);
			sbx_out_str(out, ") ");
		}
		sbx_out_str(out, "instead.");
		break;
	case SBX_SUGGEST_CREDENTIAL:
		sbx_out_str(out, "this looks like a credential; no line is suggested");
		break;
	case SBX_SUGGEST_SOCKET:
		sbx_out_str(out, "No line is suggested for it.");
		break;
	case SBX_SUGGEST_TOO_WIDE:
		sbx_out_str(out, "A line for it would open far more; none is suggested.");
		break;
	case SBX_SUGGEST_IMPOSSIBLE:
		sbx_out_str(out, "No policy line can allow it.");
		break;
	case SBX_SUGGEST_NOTHING:
		break;
	}
}
