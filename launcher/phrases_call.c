/* SPDX-License-Identifier: MIT */
/*
 * What is said about refused system calls: by which line or why the base filter refuses, and what
 * would change it. As in words.c, everything that is not ours is escaped and bounded. Pure.
 */
#include "phrases.h"

#include <string.h>

#include "filter.h"

#define FILE_SHOWN 100
#define NAME_SHOWN 64

/* The entry of [syscalls] deny that names the call or its group, or NULL. */
static const struct sbx_item *denied_by(const struct launch_refused *call)
{
	const struct sbx_setting *deny = sbx_setting(call->image, SBX_KEY_syscalls_deny);
	const struct launch_call *row = launch_call_find(call->name);

	for (uint32_t i = 0; i < deny->items.count; i++) {
		const struct sbx_item *item = &sbx_items(call->image)[deny->items.first + i];
		const char *text = sbx_str(call->image, item->text);

		if (!strcmp(text, call->name) || (row && !strcmp(text, row->group)))
			return item;
	}
	return NULL;
}

static const char *file_name(const struct sbx_image *image, uint32_t file)
{
	return file == SBX_NONE ? "the policy" : sbx_str(image, sbx_files(image)[file].name);
}

/* "policy.ini:12 deny = ptrace" */
static void put_item(const struct sbx_image *image, const struct sbx_item *item,
		     struct sbx_out *out)
{
	sbx_out_shortened(out, file_name(image, item->file), FILE_SHOWN, SBX_ESCAPE_PLAIN);
	if (item->line) {
		sbx_out_str(out, ":");
		sbx_out_number(out, item->line);
	}
	sbx_out_str(out, " deny = ");
	sbx_out_shortened(out, sbx_str(image, item->text), NAME_SHOWN, SBX_ESCAPE_PLAIN);
}

/* Why the base filter refuses it, as a clause; empty when it does not. */
static const char *base_reason(const struct launch_refused *call)
{
	const struct launch_call *row = launch_call_find(call->name);

	return row && row->verdict != CALL_ALLOW ? row->reason : "";
}

static void put_call_by(const struct launch_refused *call, struct sbx_out *out)
{
	const struct sbx_item *item = denied_by(call);

	sbx_out_str(out, "By: ");
	if (item) {
		put_item(call->image, item, out);
	} else {
		sbx_out_str(out, "the base filter");
		sbx_out_str(out, *base_reason(call) ? ": " : "");
		sbx_out_str(out, base_reason(call));
	}
	if (call->who) {
		sbx_out_str(out, ". Tried by ");
		launch_put_who(call->who, out);
	}
	sbx_out_str(out, call->who || !item ? "." : "");
}

/* "allow = ptrace", where that alone helps. */
static void put_call_value(const struct launch_refused *call, struct sbx_out *out)
{
	if (!(call->how & REPORT_LOOSENABLE) || denied_by(call))
		return;
	sbx_out_str(out, "allow = ");
	sbx_out_shortened(out, call->name, NAME_SHOWN, SBX_ESCAPE_PLAIN);
}

/* The uses of it that come to a listener's ears pass with mode = full. */
static bool is_wide(const struct launch_refused *call)
{
	return !strcmp(call->name, "setsockopt") && !denied_by(call);
}

static void put_call_suggestion(const struct launch_refused *call, struct sbx_out *out)
{
	const struct sbx_image *image = call->image;
	const struct sbx_item *item = denied_by(call);
	uint32_t file = image->main_file;

	if (item && (call->how & REPORT_LOOSENABLE || !*base_reason(call))) {
		sbx_out_str(out, "To allow it, the user can change or remove ");
		put_item(image, item, out);
	} else if (is_wide(call)) {
		sbx_out_str(out, "A line for it would open far more; none is suggested.");
	} else if (!(call->how & REPORT_LOOSENABLE)) {
		sbx_out_str(out, "No policy line can allow it.");
	} else {
		sbx_out_str(out, "To allow it, the user can add to [syscalls]");
		if (file != SBX_NONE && sbx_files(image)[file].role == SBX_FILE_BUILTIN) {
			sbx_out_str(out, " of a policy of their own");
		} else {
			sbx_out_str(out, " in ");
			sbx_out_shortened(out, file_name(image, file), FILE_SHOWN,
					  SBX_ESCAPE_PLAIN);
		}
		sbx_out_str(out, ": ");
		put_call_value(call, out);
	}
}

size_t launch_call_text(const struct launch_refused *call, char *text, size_t size)
{
	struct launch_line line;
	struct sbx_out out;

	if (call->socket)
		return launch_socket_text(call, text, size);
	sbx_out_init(&out, text, size);
	sbx_out_str(launch_line_begin(&line, LAUNCH_FIRST_LINE), "Cannot use '");
	sbx_out_shortened(&line.out, call->name, NAME_SHOWN, SBX_ESCAPE_QUOTED);
	sbx_out_str(&line.out, "': system call not allowed in the sandbox.");
	launch_line_end(&line, &out);
	put_call_by(call, launch_line_begin(&line, LAUNCH_NEXT_LINE));
	launch_line_end(&line, &out);
	launch_line_begin(&line, LAUNCH_NEXT_LINE);
	if (launch_suggests(call->image))
		put_call_suggestion(call, &line.out);
	launch_line_end(&line, &out);
	launch_line_begin(&line, LAUNCH_NEXT_LINE);
	if (call->how & REPORT_COMPLAIN)
		sbx_out_str(&line.out, "Only reported: `complain` in [sandbox] lets it pass");
	launch_line_end(&line, &out);
	return sbx_out_finish(&out);
}

static void put_item_json(const struct launch_refused *call, struct sbx_out *out)
{
	const struct sbx_item *item = denied_by(call);
	char text[NAME_SHOWN + 16];
	struct sbx_out value;

	if (!item) {
		sbx_out_str(out, ",\"rule\":null");
		return;
	}
	sbx_out_init(&value, text, sizeof(text));
	sbx_out_str(&value, "deny = ");
	sbx_out_shortened(&value, sbx_str(call->image, item->text), NAME_SHOWN, SBX_ESCAPE_PLAIN);
	(void)sbx_out_finish(&value);
	sbx_out_str(out, ",\"rule\":{\"file\":");
	sbx_out_json(out, file_name(call->image, item->file));
	if (item->line)
		launch_json_number(out, "line", item->line);
	else
		launch_json_string(out, "line", NULL);
	launch_json_string(out, "text", text);
	sbx_out_str(out, "}");
}

void launch_call_json(const struct launch_refused *call, struct sbx_out *out)
{
	char text[SBX_TEXT_MAX], value[NAME_SHOWN + 16];
	struct sbx_out suggest;

	if (call->socket) {
		launch_socket_json(call, out);
		return;
	}
	sbx_out_init(&suggest, value, sizeof(value));
	if (launch_suggests(call->image))
		put_call_value(call, &suggest);
	(void)sbx_out_finish(&suggest);
	sbx_out_str(out, "\"op\":\"syscall\"");
	launch_json_string(out, "code", sbx_code_name(SBX_CODE_SYSCALL));
	launch_json_string(out, "path", NULL);
	launch_json_string(out, "resolved", NULL);
	launch_json_string(out, "errno", "EPERM");
	put_item_json(call, out);
	sbx_out_str(out, ",\"allowed\":[]");
	launch_json_string(out, "suggest", value);
	launch_json_string(out, "reason", denied_by(call) ? NULL : base_reason(call));
	(void)launch_call_text(call, text, sizeof(text));
	launch_json_string(out, "message", text);
}
