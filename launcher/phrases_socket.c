/* SPDX-License-Identifier: MIT */
/*
 * What is said about a kind of socket that is not to be had: what may be had instead, by which line
 * or why, and what would change it. As in words.c, everything that is not ours is escaped. Pure.
 */
#include "phrases.h"

#include "filter.h"
#include "sockets.h"

#define FILE_SHOWN 100

/* The setting that decides, and its word where somebody wrote it down; else NULL. */
static const struct sbx_setting *decider(const struct launch_refused *call, const char **text)
{
	const struct sbx_setting *setting;

	if (call->socket->help == SOCKET_HELP_NONE)
		return NULL;
	if (call->socket->help == SOCKET_HELP_DATAGRAM) {
		setting = sbx_setting(call->image, SBX_KEY_network_unix_datagram);
		*text = "unix_datagram = no";
	} else {
		setting = sbx_setting(call->image, SBX_KEY_network_mode);
		*text = setting->value == SBX_NETWORK_NONE ? "mode = none" : "mode = filtered";
	}
	return setting->is_set && setting->file != SBX_NONE ? setting : NULL;
}

static const char *file_name(const struct sbx_image *image, uint32_t file)
{
	return file == SBX_NONE ? "the policy" : sbx_str(image, sbx_files(image)[file].name);
}

/* "policy.ini:12 mode = none" */
static void put_setting(const struct launch_refused *call, const struct sbx_setting *setting,
			const char *text, struct sbx_out *out)
{
	sbx_out_shortened(out, file_name(call->image, setting->file), FILE_SHOWN, SBX_ESCAPE_PLAIN);
	if (setting->line) {
		sbx_out_str(out, ":");
		sbx_out_number(out, setting->line);
	}
	sbx_out_str(out, " ");
	sbx_out_str(out, text);
}

static void put_by(const struct launch_refused *call, struct sbx_out *out)
{
	const struct launch_call *row = launch_call_find(call->name);
	const char *text = "";
	const struct sbx_setting *setting = decider(call, &text);

	sbx_out_str(out, "By: ");
	if (setting) {
		put_setting(call, setting, text, out);
	} else if (call->socket->help == SOCKET_HELP_NONE) {
		sbx_out_str(out, "the base filter: ");
		sbx_out_str(out, row ? row->reason : "");
	} else {
		sbx_out_str(out, "no rule matches; ");
		sbx_out_shortened(out, file_name(call->image, call->image->main_file), FILE_SHOWN,
				  SBX_ESCAPE_PLAIN);
		sbx_out_str(out, " decides");
	}
	sbx_out_str(out, ".");
	if (!call->who)
		return;
	sbx_out_str(out, " Tried by ");
	launch_put_who(call->who, out);
	sbx_out_str(out, " with ");
	sbx_out_str(out, call->name);
	sbx_out_str(out, ".");
}

static void put_suggestion(const struct launch_refused *call, struct sbx_out *out)
{
	const char *text = "";
	const struct sbx_setting *setting = decider(call, &text);
	uint32_t file = call->image->main_file;

	if (!launch_suggests(call->image))
		return;
	if (call->socket->help == SOCKET_HELP_NONE) {
		sbx_out_str(out, "No policy line can allow it.");
	} else if (call->socket->help == SOCKET_HELP_WIDE) {
		sbx_out_str(out, "A line for it would open far more; none is suggested.");
	} else if (setting) {
		sbx_out_str(out, "To allow it, the user can change or remove ");
		put_setting(call, setting, text, out);
	} else {
		sbx_out_str(out, "To allow it, the user can add to [network]");
		if (file != SBX_NONE && sbx_files(call->image)[file].role == SBX_FILE_BUILTIN) {
			sbx_out_str(out, " of a policy of their own");
		} else {
			sbx_out_str(out, " in ");
			sbx_out_shortened(out, file_name(call->image, file), FILE_SHOWN,
					  SBX_ESCAPE_PLAIN);
		}
		sbx_out_str(out, ": unix_datagram = yes");
	}
}

size_t launch_socket_text(const struct launch_refused *call, char *text, size_t size)
{
	struct launch_line line;
	struct sbx_out out;

	sbx_out_init(&out, text, size);
	sbx_out_str(launch_line_begin(&line, LAUNCH_FIRST_LINE), "Cannot open ");
	sbx_out_str(&line.out, call->socket->what);
	sbx_out_str(&line.out, ": ");
	sbx_out_str(&line.out, call->socket->instead);
	sbx_out_str(&line.out, ".");
	launch_line_end(&line, &out);
	put_by(call, launch_line_begin(&line, LAUNCH_NEXT_LINE));
	launch_line_end(&line, &out);
	put_suggestion(call, launch_line_begin(&line, LAUNCH_NEXT_LINE));
	launch_line_end(&line, &out);
	return sbx_out_finish(&out);
}

static void put_rule_json(const struct launch_refused *call, struct sbx_out *out)
{
	const char *text = "";
	const struct sbx_setting *setting = decider(call, &text);

	if (!setting) {
		sbx_out_str(out, ",\"rule\":null");
		return;
	}
	sbx_out_str(out, ",\"rule\":{\"file\":");
	sbx_out_json(out, file_name(call->image, setting->file));
	if (setting->line)
		launch_json_number(out, "line", setting->line);
	else
		launch_json_string(out, "line", NULL);
	launch_json_string(out, "text", text);
	sbx_out_str(out, "}");
}

void launch_socket_json(const struct launch_refused *call, struct sbx_out *out)
{
	bool datagram = call->socket->help == SOCKET_HELP_DATAGRAM;
	char text[SBX_TEXT_MAX];

	sbx_out_str(out, "\"op\":\"syscall\"");
	launch_json_string(out, "code", sbx_code_name(SBX_CODE_SOCKET));
	launch_json_string(out, "path", NULL);
	launch_json_string(out, "resolved", NULL);
	launch_json_string(out, "errno", "EACCES");
	put_rule_json(call, out);
	sbx_out_str(out, ",\"allowed\":[]");
	launch_json_string(out, "suggest",
			   datagram && launch_suggests(call->image) ? "unix_datagram = yes" : NULL);
	launch_json_string(out, "reason", NULL);
	(void)launch_socket_text(call, text, sizeof(text));
	launch_json_string(out, "message", text);
}
