/* SPDX-License-Identifier: MIT */
/* Compile side: the entries of a policy become rules, with the defaults that nobody wrote. */
#include "draft.h"
#include "peer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The table of what runs later, outside the sandbox. */
static const struct {
	const char *pattern;
	int repo;
	const char *reason;
} protections[] = {
#define PROTECT(pattern, repo, reason) { pattern, repo, reason },
#include "protect.def"
};

static bool push_rule(struct sbx_draft *draft, const struct draft_rule *rule)
{
	if (!rule->text || !rule->written || !rule->path ||
	    !DRAFT_PUSH(draft, &draft->rules, *rule))
		return false;
	draft->rules.list[draft->rules.count - 1].order = draft->rules.count;
	return true;
}

static struct draft_rule rule_of(struct sbx_draft *draft, const struct draft_entry *entry,
				 enum sbx_rule_kind kind, uint8_t rights)
{
	const char *text = sbx_draft_text(draft, entry);
	const char *written = text ? text + strlen(sbx_keys[entry->key].name) + 3 : NULL;

	if (text && entry->optional)
		text = sbx_draft_join(draft, text, strlen(text), " ?", "");
	return (struct draft_rule){
		.file = entry->file,
		.line = entry->line,
		.kind = kind,
		.rights = rights,
		.flags = draft->files.list[entry->file].role == SBX_FILE_PROFILE ? SBX_RULE_PROFILE
										 : 0,
		.section = SBX_NONE,
		.text = text,
		.written = written,
		.path = "",
	};
}

static void place(struct draft_rule *rule, const struct draft_path *path)
{
	rule->path = path->path;
	rule->literal = path->literal;
	rule->existing = path->existing;
	rule->flags |= (path->is_glob ? SBX_RULE_GLOB : 0) |
		       (path->is_missing ? SBX_RULE_MISSING : 0) |
		       (path->through_link ? SBX_RULE_LINK : 0);
}

/* A refused link: the name is refused as well as what it leads to. */
static void push_own_place(struct sbx_draft *draft, struct draft_rule rule,
			   const struct draft_path *path)
{
	if (!path->link)
		return;
	rule.path = path->link;
	rule.literal = rule.existing = strlen(path->link);
	rule.flags &= (uint16_t) ~(SBX_RULE_MISSING | SBX_RULE_LINK);
	(void)push_rule(draft, &rule);
}

static const struct {
	enum sbx_key key;
	enum sbx_rule_kind kind;
	uint8_t rights;
	enum draft_path_need need;
} path_keys[] = {
	{ SBX_KEY_sandbox_workspace, SBX_RULE_ADD,
	  SBX_RIGHT_READ | SBX_RIGHT_WRITE | SBX_RIGHT_EXEC, DRAFT_PATH_EXISTING },
	{ SBX_KEY_paths_read, SBX_RULE_ADD, SBX_RIGHT_READ, DRAFT_PATH_EXISTING },
	{ SBX_KEY_paths_write, SBX_RULE_ADD, SBX_RIGHT_READ | SBX_RIGHT_WRITE,
	  DRAFT_PATH_CREATABLE },
	{ SBX_KEY_paths_exec, SBX_RULE_ADD, SBX_RIGHT_READ | SBX_RIGHT_EXEC, DRAFT_PATH_EXISTING },
	{ SBX_KEY_paths_deny, SBX_RULE_DENY, 0, DRAFT_PATH_ANY },
	{ SBX_KEY_paths_hide, SBX_RULE_HIDE, 0, DRAFT_PATH_ANY },
};

static void path_rule(struct sbx_draft *draft, const struct draft_entry *entry, size_t row)
{
	struct draft_rule rule = rule_of(draft, entry, path_keys[row].kind, path_keys[row].rights);
	struct draft_path path;

	switch (sbx_draft_path(draft, entry, entry->text, path_keys[row].need, &path)) {
	case DRAFT_PATH_BAD:
		return;
	case DRAFT_PATH_SKIP:
		rule.flags |= SBX_RULE_ABSENT;
		break;
	case DRAFT_PATH_OK:
		place(&rule, &path);
		break;
	}
	if (entry->key == SBX_KEY_sandbox_workspace && !(rule.flags & SBX_RULE_ABSENT)) {
		rule.flags |= SBX_RULE_WORKSPACE;
		if (path.is_glob || (!S_ISDIR(path.mode) && !path.is_missing)) {
			sbx_draft_error(draft, entry->file, entry->line,
					"workspace '%s' is not a directory", entry->text);
			return;
		}
		if (!draft->root)
			draft->root = path.path;
	}
	if (push_rule(draft, &rule) && rule.kind != SBX_RULE_ADD && !(rule.flags & SBX_RULE_ABSENT))
		push_own_place(draft, rule, &path);
}

static void path_rules(struct sbx_draft *draft, bool workspaces)
{
	for (size_t i = 0; i < draft->entries.count; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		for (size_t row = 0; row < sizeof(path_keys) / sizeof(path_keys[0]); row++)
			if (entry->key == path_keys[row].key &&
			    workspaces == (entry->key == SBX_KEY_sandbox_workspace))
				path_rule(draft, entry, row);
	}
}

/* In the order of the words of 'mode' in keys.def. */
static const uint8_t mode_rights[] = {
	0,
	SBX_RIGHT_READ,
	SBX_RIGHT_READ | SBX_RIGHT_WRITE,
	SBX_RIGHT_READ | SBX_RIGHT_EXEC,
	SBX_RIGHT_READ | SBX_RIGHT_WRITE | SBX_RIGHT_EXEC,
};

static void section_rule(struct sbx_draft *draft, uint32_t section)
{
	const struct draft_entry *root = sbx_draft_section_entry(draft, section, SBX_KEY_path_root);
	const struct draft_entry *mode = sbx_draft_section_entry(draft, section, SBX_KEY_path_mode);
	const char *name = draft->sections.list[section].name;
	enum draft_path_need need;
	struct draft_rule rule;
	struct draft_path path;
	enum draft_path_result result;

	if (!root || !mode)
		return;
	rule = rule_of(draft, mode, SBX_RULE_SET, mode_rights[mode->value]);
	need = rule.rights == 0		       ? DRAFT_PATH_ANY
	       : rule.rights & SBX_RIGHT_WRITE ? DRAFT_PATH_CREATABLE
					       : DRAFT_PATH_EXISTING;
	rule.text = sbx_draft_format(draft, "mode = %s in [path %s]", mode->text, name);
	rule.written = root->text;
	rule.section = section;
	result = sbx_draft_path(draft, root, root->text, need, &path);
	if (result == DRAFT_PATH_BAD)
		return;
	if (result == DRAFT_PATH_OK && path.is_glob) {
		sbx_draft_error(draft, root->file, root->line,
				"'root = %s' must be one path, not a pattern", root->text);
		return;
	}
	if (result == DRAFT_PATH_SKIP)
		rule.flags |= SBX_RULE_ABSENT;
	else
		place(&rule, &path);
	(void)push_rule(draft, &rule);
}

static void unix_rule(struct sbx_draft *draft, const struct draft_entry *entry, const char *socket,
		      bool deny)
{
	struct draft_rule rule = rule_of(draft, entry, deny ? SBX_RULE_UNIX_DENY : SBX_RULE_ADD,
					 deny ? 0 : SBX_RIGHT_SOCKET);
	struct draft_path path;
	enum draft_path_result result = sbx_draft_path(
		draft, entry, socket, deny ? DRAFT_PATH_ANY : DRAFT_PATH_CREATABLE, &path);

	if (result == DRAFT_PATH_BAD)
		return;
	if (result == DRAFT_PATH_SKIP)
		rule.flags |= SBX_RULE_ABSENT;
	else
		place(&rule, &path);
	(void)push_rule(draft, &rule);
}

static const char *proxy_peer(struct sbx_draft *draft, const char *url)
{
	static const struct {
		const char *scheme;
		unsigned int port;
	} schemes[] = { { "http://", 80 },
			{ "https://", 443 },
			{ "socks5://", 1080 },
			{ "socks5h://", 1080 } };
	const char *at, *end;
	size_t len;

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (strncmp(url, schemes[i].scheme, strlen(schemes[i].scheme)) != 0)
			continue;
		url += strlen(schemes[i].scheme);
		end = url + strcspn(url, "/");
		at = memrchr(url, '@', (size_t)(end - url));
		url = at ? at + 1 : url;
		len = (size_t)(end - url);
		/* The port is behind the last colon, unless that is inside an IPv6 address. */
		if (memchr(url, ':', len) && url[len - 1] != ']')
			return sbx_draft_copy(draft, url, len);
		return sbx_draft_format(draft, "%.*s:%u", (int)len, url, schemes[i].port);
	}
	return NULL;
}

static void net_rule(struct sbx_draft *draft, const struct draft_entry *entry,
		     enum sbx_rule_kind kind, const char *text)
{
	struct draft_rule rule = rule_of(draft, entry, kind, 0);
	const char *fault;
	struct sbx_peer peer;

	if (!text)
		return;
	fault = sbx_peer_parse(text, &peer);
	if (fault) {
		sbx_draft_error(draft, entry->file, entry->line, "bad destination '%s': %s", text,
				fault);
	} else if (kind == SBX_RULE_BIND && peer.kind <= SBX_PEER_SUBDOMAINS &&
		   strcmp(peer.host, "localhost") != 0) {
		sbx_draft_error(draft, entry->file, entry->line,
				"'bind = %s' needs an address, not a name (or '*:PORT')", text);
	} else if (peer.kind == SBX_PEER_UNIX) {
		unix_rule(draft, entry, peer.path, kind == SBX_RULE_NET_DENY);
	} else {
		rule.peer = text;
		rule.flags |= entry->key == SBX_KEY_network_proxy ? SBX_RULE_PROXY : 0;
		(void)push_rule(draft, &rule);
	}
}

static void net_rules(struct sbx_draft *draft)
{
	for (size_t i = 0; i < draft->entries.count; i++) {
		const struct draft_entry *entry = &draft->entries.list[i];

		if (entry->key == SBX_KEY_network_connect)
			net_rule(draft, entry, SBX_RULE_CONNECT, entry->text);
		else if (entry->key == SBX_KEY_network_bind)
			net_rule(draft, entry, SBX_RULE_BIND, entry->text);
		else if (entry->key == SBX_KEY_network_deny)
			net_rule(draft, entry, SBX_RULE_NET_DENY, entry->text);
	}
	if (draft->settled[SBX_KEY_network_proxy] != SBX_NONE) {
		const struct draft_entry *proxy =
			&draft->entries.list[draft->settled[SBX_KEY_network_proxy]];

		net_rule(draft, proxy, SBX_RULE_CONNECT, proxy_peer(draft, proxy->text));
	}
}

static bool switched_on(const struct sbx_draft *draft, enum sbx_key key, bool preset)
{
	uint32_t settled = draft->settled[key];

	return settled == SBX_NONE ? preset : draft->entries.list[settled].value != 0;
}

/* Rules that stand in no file belong to one called "sbx". */
static uint32_t own_file(struct sbx_draft *draft)
{
	(void)DRAFT_PUSH(draft, &draft->files,
			 (struct draft_file){ .name = "sbx",
					      .path = "",
					      .dir = "/",
					      .role = SBX_FILE_BUILTIN,
					      .level = 99,
					      .parent = SBX_NONE });
	return (uint32_t)draft->files.count - 1;
}

static void protection_rules(struct sbx_draft *draft, uint32_t file)
{
	for (size_t i = 0; i < sizeof(protections) / sizeof(protections[0]); i++) {
		const char *path = sbx_draft_join(draft, "/**/", 4, protections[i].pattern, "");
		struct draft_rule rule = {
			.file = file,
			.kind = SBX_RULE_PROTECT,
			.flags = SBX_RULE_GLOB | (protections[i].repo ? SBX_RULE_REPO : 0) |
				 (protections[i].repo == 2 ? SBX_RULE_FILE : 0),
			.section = SBX_NONE,
			.text = protections[i].pattern,
			.written = protections[i].reason,
			.path = path,
		};

		(void)push_rule(draft, &rule);
	}
}

/* Writing and executing in one place is allowed somewhere: then also in what is private. */
static uint8_t private_rights(const struct sbx_draft *draft)
{
	const uint8_t both = SBX_RIGHT_WRITE | SBX_RIGHT_EXEC;

	for (size_t i = 0; i < draft->rules.count; i++)
		if ((draft->rules.list[i].rights & both) == both)
			return SBX_RIGHT_READ | both;
	return SBX_RIGHT_READ | SBX_RIGHT_WRITE;
}

/* A rule of our own about one place. */
static struct draft_rule rule_at(uint32_t file, enum sbx_rule_kind kind, const char *path,
				 const char *text)
{
	size_t len = path ? strlen(path) : 0;

	return (struct draft_rule){ .file = file,
				    .kind = kind,
				    .section = SBX_NONE,
				    .text = text,
				    .written = path,
				    .path = path,
				    .literal = len,
				    .existing = len };
}

/* Folders of this run alone: nothing in them runs later, outside. */
static void private_rule(struct sbx_draft *draft, uint32_t file, const char *path, const char *text,
			 uint8_t rights, uint16_t flags)
{
	struct draft_rule rule = rule_at(file, SBX_RULE_ADD, path, text);

	rule.rights = rights;
	rule.flags = SBX_RULE_FREE | flags;
	if (path)
		(void)push_rule(draft, &rule);
}

static bool is_within(const char *path, const char *folder, size_t len)
{
	return len <= 1 || (!strncmp(path, folder, len) && (path[len] == '/' || !path[len]));
}

/* Whether the link that a rule names may lie below a folder, wherever it leads. */
static bool is_named_below(const struct sbx_draft *draft, const struct draft_rule *rule,
			   const char *folder, size_t len)
{
	const char *dir = draft->files.list[rule->file].dir, *name = rule->written;
	size_t dir_len = strlen(dir), from = dir_len > 1 ? dir_len + 1 : 1;

	while (!strncmp(name, "./", 2))
		name += 2;
	if (name[0] == '/')
		return is_within(name, folder, len);
	if (strstr(name, "..") || is_within(dir, folder, len))
		return true;
	return is_within(folder, dir, dir_len) && is_within(name, folder + from, len - from);
}

/* Whether a rule is about a folder, or something below or above it, or named by way of it. */
static bool is_about(const struct sbx_draft *draft, const struct draft_rule *rule,
		     const char *folder)
{
	size_t len = strlen(folder), literal = strlen(rule->path);

	if (rule->path[0] != '/' || rule->flags & SBX_RULE_ABSENT)
		return false;
	/* What a pattern matches begins with the whole names before it. */
	if (rule->flags & SBX_RULE_GLOB) {
		literal = strcspn(rule->path, "*?");
		while (rule->path[literal] != '/')
			literal--;
	}
	if (is_within(rule->path, folder, len) || is_within(folder, rule->path, literal))
		return true;
	return rule->flags & SBX_RULE_LINK && is_named_below(draft, rule, folder, len);
}

static bool has_word(const struct sbx_draft *draft, enum sbx_key key, const char *word)
{
	uint32_t settled = draft->settled[key];

	return settled != SBX_NONE && !strcmp(draft->entries.list[settled].text, word);
}

/* Private tmp under the names of shared folders, where these mean nothing else to the policy. */
static void stand_in_rules(struct sbx_draft *draft, uint32_t file, uint8_t rights)
{
	const char *const *place = draft->load->private_places;
	size_t count = draft->rules.count;

	if (!place || has_word(draft, SBX_KEY_sandbox_isolate, "none") ||
	    has_word(draft, SBX_KEY_sandbox_enforce, "none"))
		return;
	for (; *place; place++) {
		bool meant = false;

		for (size_t i = 0; i < count && !meant; i++)
			meant = is_about(draft, &draft->rules.list[i], *place);
		if (!meant)
			private_rule(draft, file, *place, "tmp = private", rights,
				     SBX_RULE_STAND_IN);
	}
}

/* The place of a shared folder that something lies in, where it cannot be reached; or NULL. */
static const char *covering(const struct sbx_draft *draft, const char *path)
{
	for (size_t i = 0; i < draft->rules.count; i++) {
		const struct draft_rule *rule = &draft->rules.list[i];

		if (rule->flags & SBX_RULE_STAND_IN &&
		    is_within(path, rule->path, strlen(rule->path)))
			return rule->path;
	}
	return NULL;
}

static void lock_path(struct sbx_draft *draft, uint32_t file, const char *path, const char *what)
{
	struct draft_rule rule = rule_at(file, SBX_RULE_LOCK, path, what);

	if (path && !covering(draft, path))
		(void)push_rule(draft, &rule);
}

#define POLICY_STAYS "the policy and what it includes stay as they are"
#define LOG_STAYS "the log is written from outside only"

/*
 * The policy decides what is allowed, so it is never to be changed from inside, nor is the log; nor
 * where the next run finds them.
 */
static void lock_rules(struct sbx_draft *draft, uint32_t file)
{
	for (size_t i = 0; i < draft->files.count; i++) {
		const char *path = draft->files.list[i].path;
		struct sbx_resolved at;

		if (!*path)
			continue;
		lock_path(draft, file, path, POLICY_STAYS);
		if (sbx_resolve_path("/", path, SBX_RESOLVE_MISSING, draft->cache, &at) == 0 &&
		    strcmp(at.path, path) != 0)
			lock_path(draft, file, sbx_draft_copy(draft, at.path, strlen(at.path)),
				  POLICY_STAYS);
	}
	if (draft->settled_path[SBX_KEY_errors_log])
		lock_path(draft, file, draft->settled_path[SBX_KEY_errors_log], LOG_STAYS);
	for (size_t i = 0; i < draft->links.count; i++) {
		const struct draft_link *link = &draft->links.list[i];

		if (link->key == SBX_KEY_errors_log)
			lock_path(draft, file, link->place, LOG_STAYS);
		else if (link->key == SBX_KEY_sandbox_include)
			lock_path(draft, file, link->place, POLICY_STAYS);
	}
}

static void settle_path(struct sbx_draft *draft, enum sbx_key key, enum draft_path_need need)
{
	uint32_t settled = draft->settled[key];
	struct draft_path path;

	if (settled == SBX_NONE)
		return;
	switch (sbx_draft_path(draft, &draft->entries.list[settled],
			       draft->entries.list[settled].text, need, &path)) {
	case DRAFT_PATH_BAD:
		return;
	case DRAFT_PATH_SKIP: /* as if it had not been written */
		draft->settled[key] = SBX_NONE;
		return;
	case DRAFT_PATH_OK:
		break;
	}
	if (path.is_glob) {
		sbx_draft_error(draft, draft->entries.list[settled].file,
				draft->entries.list[settled].line,
				"'%s = %s' must be one path, not a pattern", sbx_keys[key].name,
				draft->entries.list[settled].text);
		return;
	}
	draft->settled_path[key] = path.path;
	if (key == SBX_KEY_sandbox_workdir) {
		draft->workdir = path.path;
		if (!S_ISDIR(path.mode) && !path.is_missing)
			sbx_draft_error(draft, draft->entries.list[settled].file,
					draft->entries.list[settled].line,
					"workdir '%s' is not a directory",
					draft->entries.list[settled].text);
	}
}

/* "read ~/x": the target of a [test] is a path like any other. */
static void expand_cases(struct sbx_draft *draft)
{
	for (size_t i = 0; i < draft->entries.count; i++) {
		struct draft_entry *entry = &draft->entries.list[i];
		const char *target;
		size_t op;

		if ((entry->key != SBX_KEY_test_allow && entry->key != SBX_KEY_test_refuse) ||
		    entry->quoted)
			continue;
		op = strcspn(entry->text, " \t");
		target = entry->text + op + strspn(entry->text + op, " \t");
		target = sbx_draft_expand(draft, entry, target);
		target = target ? sbx_draft_format(draft, "%.*s %s", (int)op, entry->text, target)
				: NULL;
		if (target)
			entry->text = target;
	}
}

static int by_place(const void *a, const void *b)
{
	const struct draft_rule *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Whether a place of the run's own is in force: 'private' is the first word of both keys. */
static bool is_private(const struct sbx_draft *draft, enum sbx_key key)
{
	uint32_t settled = draft->settled[key];
	uint64_t preset = key == SBX_KEY_sandbox_tmp ? 0 : 1;

	return (settled == SBX_NONE ? preset : draft->entries.list[settled].value) == 0;
}

static void private_rules(struct sbx_draft *draft, uint32_t file)
{
	uint8_t rights = private_rights(draft);

	if (is_private(draft, SBX_KEY_sandbox_tmp) && draft->load->private_tmp) {
		const char *tmp = draft->load->private_tmp, *place;

		stand_in_rules(draft, file, rights);
		place = covering(draft, tmp);
		if (!place)
			private_rule(draft, file, tmp, "tmp = private", rights, 0);
		else if (draft->tmp == tmp)
			draft->tmp = place;
	}
	if (is_private(draft, SBX_KEY_sandbox_home))
		private_rule(draft, file, draft->load->private_home, "home = private", rights, 0);
}

void sbx_draft_make_rules(struct sbx_draft *draft)
{
	uint32_t file;

	if (draft->load->private_tmp && !draft->load->tmp && is_private(draft, SBX_KEY_sandbox_tmp))
		draft->tmp = draft->load->private_tmp;
	settle_path(draft, SBX_KEY_sandbox_workdir, DRAFT_PATH_EXISTING);
	path_rules(draft, true);
	if (draft->root && !draft->settled_path[SBX_KEY_sandbox_workdir])
		draft->workdir = draft->root;
	settle_path(draft, SBX_KEY_errors_log, DRAFT_PATH_CREATABLE);
	path_rules(draft, false);
	for (uint32_t i = 0; i < draft->sections.count; i++)
		section_rule(draft, i);
	net_rules(draft);
	expand_cases(draft);
	file = own_file(draft);
	if (draft->out_of_memory)
		return;
	private_rules(draft, file);
	lock_rules(draft, file);
	if (switched_on(draft, SBX_KEY_sandbox_protect, true))
		protection_rules(draft, file);
	/* The order in which people wrote them is the order in which they are shown. */
	sbx_draft_sort(draft->rules.list, draft->rules.count, sizeof(*draft->rules.list), by_place);
	/* Nothing is resolved after this, and the image can have the memory. */
	sbx_resolve_cache_free(draft->cache);
	draft->cache = NULL;
}
