/* SPDX-License-Identifier: MIT */
/* sbx-policy show: the rules in force, and where each comes from. */
#include "command.h"
#include "values.h"

#include <string.h>

static const char *const kind_names[SBX_RULE_KIND_COUNT] = {
	[SBX_RULE_ADD] = "allow",      [SBX_RULE_SET] = "set",	       [SBX_RULE_DENY] = "deny",
	[SBX_RULE_HIDE] = "hide",      [SBX_RULE_PROTECT] = "protect", [SBX_RULE_LOCK] = "lock",
	[SBX_RULE_UNIX_DENY] = "deny", [SBX_RULE_CONNECT] = "connect", [SBX_RULE_BIND] = "bind",
	[SBX_RULE_NET_DENY] = "deny",
};

static const struct {
	const char *kind;
	const char *pattern;
	const char *what;
} env_rows[] = {
#define ENV_SAFE(pattern) { "kept", pattern, "safe" },
#define ENV_INJECT(pattern, what) { "dropped", pattern, what },
#define ENV_SECRET(pattern, what) { "secret", pattern, what },
#include "env.def"
};

/* Escaped text of any length, a slice at a time; characters are not torn apart. */
static void print_escaped(FILE *to, const char *text, enum sbx_escape how)
{
	size_t len = strlen(text);

	while (len > 0) {
		size_t slice = len > 256 ? 256 : len;
		char escaped[256 * 12 + 1];
		struct sbx_out out;

		while (slice < len && slice > 250 && ((unsigned char)text[slice] & 0xc0) == 0x80)
			slice--;
		sbx_out_init(&out, escaped, sizeof(escaped));
		sbx_out_escaped(&out, text, slice, how);
		(void)sbx_out_finish(&out);
		(void)fputs(escaped, to);
		text += slice;
		len -= slice;
	}
}

void print_json(FILE *to, const char *text)
{
	(void)fputc('"', to);
	print_escaped(to, text, SBX_ESCAPE_JSON);
	(void)fputc('"', to);
}

void print_clean(FILE *to, const char *text)
{
	print_escaped(to, text, SBX_ESCAPE_PLAIN);
}

void print_where(FILE *to, const struct sbx_image *image, uint32_t file, uint32_t line)
{
	print_clean(to, sbx_str(image, sbx_files(image)[file].name));
	if (line)
		(void)fprintf(to, ":%u", line);
}

const char *rights_name(uint8_t rights)
{
	static const char *const names[16] = { "none",	      "read",
					       "write",	      "read, write",
					       "exec",	      "read, exec",
					       "write, exec", "read, write, exec",
					       "connect" };

	return rights <= SBX_RIGHT_SOCKET ? names[rights] : "connect and more";
}

static void show_rule(const struct sbx_image *image, const struct sbx_rule *rule)
{
	bool is_net = rule->kind >= SBX_RULE_CONNECT;
	const char *kind = kind_names[rule->kind];

	if (rule->kind == SBX_RULE_ADD || rule->kind == SBX_RULE_SET)
		kind = rights_name(rule->rights);
	printf("  %-18s ", kind);
	print_clean(stdout, rule->flags & SBX_RULE_ABSENT ? sbx_str(image, rule->written)
							  : sbx_str(image, rule->path));
	printf("%s", rule->flags & SBX_RULE_ABSENT    ? "  (missing, says nothing)"
		     : rule->flags & SBX_RULE_MISSING ? "  (does not exist yet)"
						      : "");
	printf("%s", !is_net && (rule->flags & SBX_RULE_LINK) ? "  (through a link)" : "");
	if (rule->line) {
		printf("   # ");
		print_where(stdout, image, rule->file, rule->line);
		printf(" ");
		print_clean(stdout, sbx_str(image, rule->text));
	}
	printf("\n");
}

static bool is_shown(const struct command *command, const struct sbx_rule *rule)
{
	return command->all || !(rule->flags & SBX_RULE_ABSENT);
}

static void show_rules(const struct command *command, const struct sbx_image *image)
{
	uint32_t file = SBX_NONE;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (!is_shown(command, rule))
			continue;
		if (rule->file != file) {
			file = rule->file;
			printf("%sRules of ", i ? "\n" : "");
			print_where(stdout, image, file, 0);
			printf("\n");
		}
		show_rule(image, rule);
	}
}

/* A limit or a word, as the user could write it. */
static void show_setting(const struct sbx_image *image, enum sbx_key key)
{
	const struct sbx_setting *setting = sbx_setting(image, key);
	char public[SBX_PUBLIC_MAX];

	if (!setting->is_set || !strcmp(sbx_keys[key].section, "test"))
		return;
	printf("  [%s] %s = ", sbx_keys[key].section, sbx_keys[key].name);
	if (!sbx_type_is_list(sbx_keys[key].type))
		print_clean(stdout, sbx_value_public(key, sbx_str(image, setting->text), public));
	for (uint32_t i = 0; i < setting->items.count; i++) {
		printf("%s", i ? ", " : "");
		print_clean(stdout,
			    sbx_str(image, sbx_items(image)[setting->items.first + i].text));
	}
	if (setting->file == SBX_NONE) {
		printf("   # default\n");
		return;
	}
	printf("   # ");
	print_where(stdout, image, setting->file, setting->line);
	printf("\n");
}

static void show_sections(const struct sbx_image *image)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_sections); i++) {
		const struct sbx_section *section = &sbx_sections(image)[i];

		printf("  [path ");
		print_clean(stdout, sbx_str(image, section->name));
		printf("] ");
		print_clean(stdout, sbx_str(image, sbx_rules(image)[section->rule].path));
		for (uint32_t k = 0; k < section->suffixes.count; k++) {
			printf("%s", k ? ", " : ", suffixes ");
			print_clean(stdout,
				    sbx_str(image,
					    sbx_items(image)[section->suffixes.first + k].text));
		}
		if (section->max_bytes != UINT64_MAX)
			printf(", at most %llu bytes", (unsigned long long)section->max_bytes);
		printf("\n");
	}
}

/* Null where there is none, as check has it. */
static void line_json(uint32_t line)
{
	if (line)
		printf(",\"line\":%u", line);
	else
		printf(",\"line\":null");
}

static void items_json(const struct sbx_image *image, struct sbx_range items)
{
	printf("[");
	for (uint32_t i = 0; i < items.count; i++) {
		printf("%s", i ? "," : "");
		print_json(stdout, sbx_str(image, sbx_items(image)[items.first + i].text));
	}
	printf("]");
}

static void sections_json(const struct sbx_image *image)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_sections); i++) {
		const struct sbx_section *section = &sbx_sections(image)[i];

		printf("%s\n{\"name\":", i ? "," : "");
		print_json(stdout, sbx_str(image, section->name));
		printf(",\"root\":");
		print_json(stdout, sbx_str(image, sbx_rules(image)[section->rule].path));
		printf(",\"suffixes\":");
		items_json(image, section->suffixes);
		if (section->max_bytes == UINT64_MAX)
			printf(",\"max_file_bytes\":null,\"reason\":");
		else
			printf(",\"max_file_bytes\":%llu,\"reason\":",
			       (unsigned long long)section->max_bytes);
		print_json(stdout, sbx_str(image, section->reason));
		printf("}");
	}
}

static void rules_json(const struct command *command, const struct sbx_image *image)
{
	bool first = true;

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (!is_shown(command, rule))
			continue;
		printf("%s\n{\"kind\":\"%s\",\"rights\":\"%s\",\"path\":", first ? "" : ",",
		       kind_names[rule->kind], rights_name(rule->rights));
		print_json(stdout, sbx_str(image, rule->path));
		printf(",\"file\":");
		print_json(stdout, sbx_str(image, sbx_files(image)[rule->file].name));
		line_json(rule->line);
		printf(",\"text\":");
		print_json(stdout, sbx_str(image, rule->text));
		printf(",\"profile\":%s,\"missing\":%s}",
		       rule->flags & SBX_RULE_PROFILE ? "true" : "false",
		       rule->flags & (SBX_RULE_MISSING | SBX_RULE_ABSENT) ? "true" : "false");
		first = false;
	}
}

static void settings_json(const struct sbx_image *image)
{
	bool first = true;

	for (int key = 0; key < SBX_KEY_COUNT; key++) {
		const struct sbx_setting *setting = sbx_setting(image, (enum sbx_key)key);
		char public[SBX_PUBLIC_MAX];

		if (!setting->is_set)
			continue;
		printf("%s\n{\"section\":\"%s\",\"key\":\"%s\",\"value\":", first ? "" : ",",
		       sbx_keys[key].section, sbx_keys[key].name);
		if (!sbx_type_is_list(sbx_keys[key].type)) {
			print_json(stdout, sbx_value_public((enum sbx_key)key,
							    sbx_str(image, setting->text), public));
		} else {
			items_json(image, setting->items);
		}
		printf(",\"file\":");
		if (setting->file == SBX_NONE)
			printf("null");
		else
			print_json(stdout, sbx_str(image, sbx_files(image)[setting->file].name));
		line_json(setting->line);
		printf("}");
		first = false;
	}
}

static void show_env(bool json)
{
	printf("%s", json ? "{\"v\":1,\"env\":[" : "");
	for (size_t i = 0; i < sizeof(env_rows) / sizeof(env_rows[0]); i++) {
		if (!json)
			printf("%-8s %-28s %s\n", env_rows[i].kind, env_rows[i].pattern,
			       env_rows[i].what);
		else
			printf("%s\n{\"kind\":\"%s\",\"pattern\":\"%s\",\"what\":\"%s\"}",
			       i ? "," : "", env_rows[i].kind, env_rows[i].pattern,
			       env_rows[i].what);
	}
	printf("%s", json ? "]}\n" : "");
}

static void show(const struct command *command, const struct sbx_image *image)
{
	if (command->json) {
		printf("{\"v\":1,\"root\":");
		print_json(stdout, sbx_str(image, image->root));
		printf(",\"rules\":[");
		rules_json(command, image);
		printf("],\"settings\":[");
		settings_json(image);
		printf("],\"paths\":[");
		sections_json(image);
		printf("]}\n");
		return;
	}
	show_rules(command, image);
	printf("\nSettings\n");
	for (int key = 0; key < SBX_KEY_COUNT; key++)
		show_setting(image, (enum sbx_key)key);
	show_sections(image);
}

int cmd_show(const struct command *command)
{
	struct sbx_policy *policy;
	int status;

	if (command->env) {
		show_env(command->json);
		return EXIT_ALLOWED;
	}
	status = command_load(command, &policy);
	if (status)
		return status;
	show(command, sbx_policy_image(policy));
	sbx_free(policy);
	return EXIT_ALLOWED;
}
