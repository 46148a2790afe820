/* SPDX-License-Identifier: MIT */
/* sbx-policy check, why, resolve, compile. */
#include "command.h"
#include "ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS 256

/* The operation and its targets, or a usage message. */
static int read_op(const struct command *command, enum sbx_op *op)
{
	int found;

	if (command->arg_count < 2) {
		complain("'%s' needs an operation and a target (sbx-policy %s -p FILE read PATH)",
			 command->name, command->name);
		return EXIT_USAGE;
	}
	found = sbx_op_find(command->args[0], strlen(command->args[0]));
	if (found < 0) {
		(void)fputs("sbx-policy: unknown operation '", stderr);
		print_clean(stderr, command->args[0]);
		(void)fputs("' (there are", stderr);
		for (int i = 0; i < SBX_OP_COUNT; i++)
			(void)fprintf(stderr, "%s %s", i ? "," : "", sbx_ops[i].name);
		(void)fputs(")\n", stderr);
		return EXIT_USAGE;
	}
	*op = (enum sbx_op)found;
	return 0;
}

static void walk_text(const struct sbx_image *image, const struct sbx_asked *asked,
		      const struct sbx_trace *trace)
{
	size_t kept = trace->count < trace->cap ? trace->count : trace->cap;
	int width = 0, pad;

	for (size_t i = 0; i < kept; i++)
		if ((int)trace->steps[i].len > width && trace->steps[i].len < 64)
			width = (int)trace->steps[i].len;
	printf("sbx:   The walk down %s", asked->request.path ? "to " : "the destinations");
	print_clean(stdout, asked->request.path ? asked->request.path : "");
	printf("\n");
	for (size_t i = 0; i < kept; i++) {
		char text[SBX_LINE_MAX], at[PATH_MAX];
		struct sbx_out out;

		sbx_out_init(&out, text, sizeof(text));
		sbx_words_rule(image, trace->steps[i].rule, &out);
		(void)sbx_out_finish(&out);
		printf("sbx:     ");
		if (asked->request.path) {
			(void)snprintf(at, sizeof(at), "%.*s", (int)trace->steps[i].len,
				       asked->request.path);
			print_clean(stdout, at);
			pad = width - (int)trace->steps[i].len;
			printf("%*s", pad > 0 ? pad + 3 : 3, "");
		}
		printf("%s\n", text);
	}
	if (kept == 0)
		printf("sbx:     no rule spoke\n");
	if (kept < trace->count)
		printf("sbx:     and %zu more\n", trace->count - kept);
}

/* Printed as it comes: nobody knows how long it gets. */
static void walk_json(const struct sbx_image *image, const struct sbx_asked *asked,
		      const struct sbx_trace *trace)
{
	printf(",\"walk\":[");
	for (size_t i = 0; i < trace->count && i < trace->cap; i++) {
		char at[PATH_MAX], text[SBX_LINE_MAX * 2 + PATH_MAX * 6];
		struct sbx_out out;

		(void)snprintf(at, sizeof(at), "%.*s", (int)trace->steps[i].len,
			       asked->request.path ? asked->request.path : "");
		printf("%s{\"at\":", i ? "," : "");
		print_json(stdout, at);
		sbx_out_init(&out, text, sizeof(text));
		sbx_words_rule_json(image, trace->steps[i].rule, &out);
		(void)sbx_out_finish(&out);
		printf(",\"rule\":%s}", text);
	}
	printf("]");
}

static void answer_json(const struct sbx_image *image, const struct sbx_asked *asked,
			const struct sbx_trace *trace)
{
	static char text[SBX_JSON_MAX];
	struct sbx_report report = sbx_asked_report(image, asked);
	struct sbx_out out;

	sbx_out_init(&out, text, sizeof(text));
	sbx_out_str(&out, "{\"v\":1,\"event\":\"check\",\"verdict\":");
	sbx_out_str(&out, asked->verdict.allowed ? "\"allowed\"," : "\"refused\",");
	sbx_words_json(&report, &out);
	(void)sbx_out_finish(&out);
	(void)fputs(text, stdout);
	if (trace)
		walk_json(image, asked, trace);
	(void)fputs("}", stdout);
}

static void answer_text(const struct sbx_image *image, const struct sbx_asked *asked,
			const struct sbx_trace *trace)
{
	struct sbx_report report = sbx_asked_report(image, asked);
	char text[SBX_TEXT_MAX];

	(void)sbx_words_text(&report, text, sizeof(text));
	(void)fputs(text, stdout);
	if (trace)
		walk_text(image, asked, trace);
}

static void answer(const struct command *command, const struct sbx_image *image,
		   struct sbx_asked *asked, bool walk)
{
	struct sbx_step steps[MAX_STEPS];
	struct sbx_trace trace = { .steps = steps, .cap = MAX_STEPS };

	if (walk)
		sbx_eval_with(image, &asked->request, NULL, &trace, &asked->verdict);
	(command->json ? answer_json : answer_text)(image, asked, walk ? &trace : NULL);
}

/* One answer; of "rename" with two names, FROM and TO, there is only one question. */
static int ask(const struct command *command, const struct sbx_image *image, enum sbx_op op, int i,
	       struct sbx_asked *asked)
{
	if (op == SBX_OP_RENAME && command->arg_count == 3)
		return sbx_ask_move(image, command->args[1], command->args[2], NULL, asked);
	return sbx_ask(image, op, command->args[i], NULL, asked);
}

static int check_all(const struct command *command, const struct sbx_image *image, enum sbx_op op,
		     bool walk)
{
	bool is_move = op == SBX_OP_RENAME && command->arg_count == 3;
	int count = is_move ? 2 : command->arg_count;
	bool array = command->json && count > 2;
	struct sbx_asked asked;
	int status = EXIT_ALLOWED;

	/* Nothing half done: a question that makes no sense is found before the first answer. */
	for (int i = 1; i < count; i++) {
		if (ask(command, image, op, i, &asked) < 0) {
			complain("%s", asked.why);
			return EXIT_USAGE;
		}
	}
	for (int i = 1; i < count; i++) {
		(void)ask(command, image, op, i, &asked);
		printf("%s", array ? i == 1 ? "[" : ",\n" : "");
		answer(command, image, &asked, walk);
		if (!asked.verdict.allowed)
			status = EXIT_REFUSED;
	}
	printf("%s", array ? "]\n" : command->json ? "\n" : "");
	return status;
}

static int check(const struct command *command, bool walk)
{
	struct sbx_policy *policy;
	enum sbx_op op;
	int status = read_op(command, &op);

	if (!status)
		status = command_load(command, &policy);
	if (status)
		return status;
	status = check_all(command, sbx_policy_image(policy), op, walk);
	sbx_free(policy);
	return status;
}

int cmd_check(const struct command *command)
{
	return check(command, false);
}

int cmd_why(const struct command *command)
{
	return check(command, true);
}

static int resolve_one(const struct command *command, const struct sbx_policy *policy,
		       const char *path)
{
	const struct sbx_image *image = sbx_policy_image(policy);
	const char *root = sbx_str(image, image->root);
	char real[PATH_MAX];
	int error = sbx_resolve(policy, path, real, sizeof(real));

	if (command->json) {
		printf("{\"v\":1,\"path\":");
		print_json(stdout, path);
		printf(",\"root\":");
		print_json(stdout, root);
		printf(",\"resolved\":");
		if (error)
			printf("null,\"error\":");
		print_json(stdout, error ? strerrorname_np(-error) : real);
		printf("}");
	} else if (!error) {
		print_clean(stdout, real);
		printf("\n");
	} else if (error == -EXDEV) {
		complain("'%s' leaves the policy's root '%s'", path, root);
	} else {
		complain("'%s' below '%s': %s", path, root, strerror(-error));
	}
	return error ? EXIT_REFUSED : EXIT_ALLOWED;
}

int cmd_resolve(const struct command *command)
{
	bool array = command->json && command->arg_count > 1;
	struct sbx_policy *policy;
	int status;

	if (command->arg_count == 0) {
		complain("'resolve' needs a path (sbx-policy resolve -p FILE PATH)");
		return EXIT_USAGE;
	}
	status = command_load(command, &policy);
	if (status)
		return status;
	for (int i = 0; i < command->arg_count; i++) {
		printf("%s", array ? i ? ",\n" : "[" : "");
		status |= resolve_one(command, policy, command->args[i]);
	}
	printf("%s", array ? "]\n" : command->json ? "\n" : "");
	sbx_free(policy);
	return status;
}

static bool write_image(const char *path, const void *bytes, size_t size)
{
	FILE *to;
	bool written;

	if (!strcmp(path, "-"))
		return fwrite(bytes, 1, size, stdout) == size;
	to = fopen(path, "wbe");
	written = to && fwrite(bytes, 1, size, to) == size;
	return to && fclose(to) == 0 && written;
}

int cmd_compile(const struct command *command)
{
	struct sbx_policy *policy;
	const void *bytes;
	size_t size;
	int status;

	if (!command->output) {
		complain("'compile' needs a file to write to (-o FILE, - is standard output)");
		return EXIT_USAGE;
	}
	status = command_load(command, &policy);
	if (status)
		return status;
	bytes = sbx_image_bytes(policy, &size);
	if (!write_image(command->output, bytes, size)) {
		complain("cannot write '%s': %s", command->output, strerror(errno));
		status = EXIT_POLICY;
	}
	sbx_free(policy);
	return status;
}
