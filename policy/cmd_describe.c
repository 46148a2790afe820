/* SPDX-License-Identifier: MIT */
/* sbx-policy describe: one page for a model that will work inside. */
#include "command.h"
#include "values.h"

#include <string.h>
#include <unistd.h>

#define MAX_LISTED 40

/* The user's own roots with a right, and the profiles in a word. False when there is none. */
static void list_roots(const struct sbx_image *image, const char *label, uint8_t right,
		       const char *cwd)
{
	struct sbx_allowed allowed = { .image = image, .right = right };
	struct sbx_allowed profiles = { .image = image, .right = right, .profiles = true };
	uint32_t index;
	int count = 0;

	printf("- %s: ", label);
	while ((index = sbx_allowed_next(&allowed)) != SBX_NONE) {
		const struct sbx_rule *rule = &sbx_rules(image)[index];

		if (count++ >= MAX_LISTED)
			continue;
		printf("%s`", count > 1 ? ", " : "");
		print_clean(stdout, sbx_words_root(image, rule, cwd));
		printf("`");
	}
	if (count > MAX_LISTED)
		printf(" and %d more", count - MAX_LISTED);
	if (right == SBX_RIGHT_WRITE)
		printf("%s", count ? "" : "nothing");
	else if (sbx_allowed_next(&profiles) != SBX_NONE)
		printf("%s", count ? "; and the system files that programs need to start"
				   : "only the system files that programs need to start");
	else if (count == 0)
		printf("nothing");
	printf("\n");
}

static void list_kind(const struct sbx_image *image, enum sbx_rule_kind kind, const char *label,
		      const char *cwd)
{
	int count = 0;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (rule->kind != kind || (rule->flags & SBX_RULE_ABSENT))
			continue;
		printf("%s`", count++ ? ", " : label);
		print_clean(stdout, kind >= SBX_RULE_CONNECT ? sbx_str(image, rule->path)
							     : sbx_words_root(image, rule, cwd));
		printf("`");
	}
	printf("%s", count ? "\n" : "");
}

static void list_sockets(const struct sbx_image *image)
{
	struct sbx_allowed allowed = { .image = image, .right = SBX_RIGHT_SOCKET };
	uint32_t index;
	int count = 0;

	while ((index = sbx_allowed_next(&allowed)) != SBX_NONE) {
		printf("%s`", count++ ? ", " : "- And to the sockets: ");
		print_clean(stdout, sbx_str(image, sbx_rules(image)[index].written));
		printf("`");
	}
	printf("%s", count ? "\n" : "");
}

static void list_sections(const struct sbx_image *image, const char *cwd)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_sections); i++) {
		const struct sbx_section *section = &sbx_sections(image)[i];
		const struct sbx_rule *rule = &sbx_rules(image)[section->rule];
		const char *reason = sbx_str(image, section->reason);

		if (section->suffixes.count == 0 && section->max_bytes == UINT64_MAX && !*reason)
			continue;
		printf("- In `");
		print_clean(stdout, sbx_words_root(image, rule, cwd));
		printf("`:");
		for (uint32_t k = 0; k < section->suffixes.count; k++) {
			printf("%s", k ? ", " : " only files that end in ");
			print_clean(stdout,
				    sbx_str(image,
					    sbx_items(image)[section->suffixes.first + k].text));
		}
		if (section->max_bytes != UINT64_MAX)
			printf("%s at most %llu bytes each", section->suffixes.count ? "," : "",
			       (unsigned long long)section->max_bytes);
		if (*reason) {
			printf("%s ", section->suffixes.count || section->max_bytes != UINT64_MAX
					      ? ";"
					      : "");
			print_clean(stdout, reason);
		}
		printf("\n");
	}
}

static void describe_paths(const struct sbx_image *image, const char *cwd)
{
	printf("## Files\n\n");
	list_roots(image, "You may read", SBX_RIGHT_READ, cwd);
	list_roots(image, "You may write", SBX_RIGHT_WRITE, cwd);
	list_roots(image, "You may run programs from", SBX_RIGHT_EXEC, cwd);
	list_sections(image, cwd);
	list_kind(image, SBX_RULE_DENY, "- Never, whatever is around it: ", cwd);
	if (sbx_setting(image, SBX_KEY_sandbox_protect)->value)
		printf("- Inside writable folders, files that run later outside the sandbox stay "
		       "read-only: git hooks and config, shell start-up files, editor and agent "
		       "settings.\n");
	if (!strcmp(sbx_str(image, sbx_setting(image, SBX_KEY_sandbox_tmp)->text), "private"))
		printf("- Temporary files go to `$TMPDIR`; it is yours alone and is removed "
		       "afterwards.\n");
}

static void describe_network(const struct sbx_image *image, const char *cwd)
{
	printf("\n## Network\n\n");
	switch (sbx_network_mode(image)) {
	case SBX_NETWORK_FULL:
		printf("- Everything is reachable.\n");
		return;
	case SBX_NETWORK_NONE:
		printf("- There is none. Do not retry, change DNS or use a proxy: go on without "
		       "it, or "
		       "ask the user.\n");
		break;
	case SBX_NETWORK_FILTERED:
		list_kind(image, SBX_RULE_CONNECT, "- You may connect to: ", cwd);
		list_sockets(image);
		list_kind(image, SBX_RULE_BIND, "- You may listen on: ", cwd);
		list_kind(image, SBX_RULE_NET_DENY, "- Never: ", cwd);
		printf("- Anything else is refused at once, and its name does not resolve. That is "
		       "the "
		       "sandbox, not an outage.\n");
		break;
	}
	if (sbx_setting(image, SBX_KEY_network_own)->value)
		printf("- Servers of your own may listen on loopback, on port 0 or from 1024 "
		       "up.\n");
}

static void describe_limits(const struct sbx_image *image)
{
	int count = 0;

	for (int key = SBX_KEY_limits_timeout; key <= SBX_KEY_limits_output; key++) {
		const struct sbx_setting *setting = sbx_setting(image, (enum sbx_key)key);

		if (!setting->is_set || key == SBX_KEY_limits_output)
			continue;
		printf("%s- %s: ", count++ ? "" : "\n## Limits\n\n", sbx_keys[key].name);
		print_clean(stdout, sbx_str(image, setting->text));
		printf(" (%s)\n", sbx_keys[key].help);
	}
}

static void describe_refusals(void)
{
	printf("\n## When something is refused\n\n"
	       "The call fails (permission denied, EACCES) and lines that begin with `sbx:` say "
	       "what "
	       "was tried, which rule refused it and what is allowed instead. That is neither a "
	       "bug "
	       "in the program, nor a missing file, nor a network outage.\n\n"
	       "- Do not retry, and do not try another tool, chmod, sudo or a link: the kernel "
	       "holds "
	       "the same rules for all of them.\n"
	       "- Use one of the paths or destinations above. If the task cannot be done with "
	       "them, "
	       "say so and show the user the line that `sbx:` suggests.\n"
	       "- Ask before acting: `sbx-policy check read PATH` (also write, list, create, "
	       "delete, "
	       "exec, connect HOST:PORT); `sbx-policy why` shows the rules that spoke.\n");
}

int cmd_describe(const struct command *command)
{
	struct sbx_policy *policy;
	const struct sbx_image *image;
	char cwd[PATH_MAX];
	int status = command_load(command, &policy);

	if (status)
		return status;
	image = sbx_policy_image(policy);
	if (!getcwd(cwd, sizeof(cwd)))
		cwd[0] = '\0';
	printf("# Your sandbox\n\nYou work inside boundaries");
	if (image->main_file != SBX_NONE &&
	    sbx_files(image)[image->main_file].role == SBX_FILE_POLICY) {
		printf(" that the user wrote in ");
		print_where(stdout, image, image->main_file, 0);
	}
	printf(". What is not listed here is refused.\n\n");
	describe_paths(image, cwd);
	describe_network(image, cwd);
	describe_limits(image);
	describe_refusals();
	sbx_free(policy);
	return EXIT_ALLOWED;
}
