/* SPDX-License-Identifier: MIT */
/* Query side: libsbx. Looks at the file system to understand a question, and never changes it. */
#include "query.h"

#include "contract.h"
#include "draft.h"
#include "ops.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct sbx_policy {
	struct sbx_image *image;
};

static int policy_new(struct sbx_image *image, struct sbx_policy **policy)
{
	struct sbx_policy *made = malloc(sizeof(*made));

	if (!made) {
		free(image);
		return -ENOMEM;
	}
	made->image = image;
	*policy = made;
	return 0;
}

/* An explicit workdir that the program could not even list would only confuse it. */
static void check_workdir(struct sbx_draft *draft, const struct sbx_image *image)
{
	const struct sbx_setting *workdir = sbx_setting(image, SBX_KEY_sandbox_workdir);
	struct sbx_request request = { .op = SBX_OP_LIST, .is_dir = true, .size = -1 };
	struct sbx_verdict verdict;

	if (workdir->file == SBX_NONE)
		return;
	request.path = sbx_str(image, workdir->text);
	sbx_eval(image, &request, &verdict);
	if (!verdict.allowed)
		sbx_draft_error(
			draft, workdir->file, workdir->line,
			"workdir '%s' is not readable by the policy (add it to read or workspace)",
			request.path);
}

/* Events behind a policy's last line would be its next ones. */
static void check_log(struct sbx_draft *draft)
{
	uint32_t settled = draft->settled[SBX_KEY_errors_log];
	const char *log = draft->settled_path[SBX_KEY_errors_log];
	struct stat there, file;

	if (!log || stat(log, &there) < 0)
		return;
	for (size_t i = 0; i < draft->files.count; i++)
		if (*draft->files.list[i].path && stat(draft->files.list[i].path, &file) == 0 &&
		    file.st_dev == there.st_dev && file.st_ino == there.st_ino)
			sbx_draft_error(draft, draft->entries.list[settled].file,
					draft->entries.list[settled].line,
					"the log is '%s', a file of the policy (name another one)",
					draft->files.list[i].name);
}

/* What the program puts in the place of a link, the next run would be allowed. */
static void check_links(struct sbx_draft *draft, const struct sbx_image *image)
{
	for (size_t i = 0; i < draft->links.count; i++) {
		const struct draft_link *link = &draft->links.list[i];
		struct sbx_request request = { .op = SBX_OP_DELETE,
					       .path = link->place,
					       .size = -1 };
		struct sbx_verdict verdict;

		sbx_eval(image, &request, &verdict);
		if (verdict.allowed)
			sbx_draft_error(draft, link->file, link->line,
					"'%s' leads through the link '%s', which the program could "
					"replace (write '%s' instead)",
					link->text, link->place, link->end);
	}
}

int sbx_load(const struct sbx_load *load, struct sbx_policy **policy, struct sbx_errors *errors)
{
	struct sbx_image *image = NULL;
	struct sbx_draft draft;
	int error = sbx_draft_init(&draft, load, errors);

	if (!error) {
		sbx_draft_read_all(&draft);
		sbx_draft_settle(&draft);
		if (!draft.out_of_memory && draft.files.count)
			sbx_draft_make_rules(&draft);
		if (draft.out_of_memory)
			error = -ENOMEM;
		else if (draft.failed)
			error = -EINVAL;
		else
			error = sbx_draft_build(&draft, &image);
	}
	if (!error) {
		check_workdir(&draft, image);
		check_links(&draft, image);
		check_log(&draft);
		error = draft.failed ? -EINVAL : 0;
	}
	sbx_draft_done(&draft);
	if (error) {
		free(image);
		return error;
	}
	return policy_new(image, policy);
}

int sbx_load_image(const void *bytes, size_t size, struct sbx_policy **policy)
{
	void *copy;

	if (size == 0 || size > SBX_MAX_IMAGE)
		return -EINVAL;
	/* A node is a line of the cache, if it is let begin with one. */
	copy = aligned_alloc(64, (size + 63) & ~(size_t)63);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, size);
	if (sbx_image_check(copy, size) < 0) {
		free(copy);
		return -EINVAL;
	}
	return policy_new(copy, policy);
}

static int read_all(int fd, char *bytes, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t got = read(fd, bytes + done, size - done);

		if (got < 0 && errno != EINTR)
			return -errno;
		if (got == 0)
			return -EIO;
		done += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* The launcher writes more behind the image; nobody else has a reason to. */
static size_t image_size(const char *bytes, size_t size)
{
	const size_t trailer = strlen(SBX_IMAGE_TRAILER);
	struct sbx_image head;

	if (size < sizeof(head))
		return size;
	memcpy(&head, bytes, sizeof(head));
	if (head.size > size || size - head.size < trailer ||
	    memcmp(bytes + head.size, SBX_IMAGE_TRAILER, trailer) != 0)
		return size;
	return head.size;
}

int sbx_load_running(struct sbx_policy **policy)
{
	const char *path = getenv(SBX_ENV_IMAGE);
	int fd, error = -EINVAL;
	char *bytes = NULL;
	struct stat st;

	if (!path || !*path)
		return -ENOENT;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return errno == ENOENT ? -ESTALE : -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size <= SBX_MAX_IMAGE)
		bytes = malloc((size_t)st.st_size);
	if (bytes)
		error = read_all(fd, bytes, (size_t)st.st_size);
	if (bytes && !error)
		error = sbx_load_image(bytes, image_size(bytes, (size_t)st.st_size), policy);
	free(bytes);
	(void)close(fd);
	return error;
}

const void *sbx_image_bytes(const struct sbx_policy *policy, size_t *size)
{
	*size = policy->image->size;
	return policy->image;
}

const struct sbx_image *sbx_policy_image(const struct sbx_policy *policy)
{
	return policy->image;
}

void sbx_free(struct sbx_policy *policy)
{
	if (policy)
		free(policy->image);
	free(policy);
}

static int wrong(struct sbx_asked *asked, int error, const char *why, const char *target)
{
	(void)snprintf(asked->why, sizeof(asked->why), "%s '%.150s'", why, target);
	return error;
}

static int ask_path(struct sbx_asked *asked, const char *target)
{
	enum sbx_op op = asked->request.op;
	bool entry = op == SBX_OP_DELETE || op == SBX_OP_RENAME;
	size_t len = strlen(target);
	/* What we may not look at is judged by its name. */
	int error = sbx_resolve_path(asked->cwd, target,
				     SBX_RESOLVE_MISSING | SBX_RESOLVE_UNSEEN |
					     (entry ? SBX_RESOLVE_NOFOLLOW : 0),
				     NULL, &asked->at);

	if (error)
		return wrong(asked, error, strerror(-error), target);
	asked->request.path = asked->at.path;
	asked->request.missing = !asked->at.unseen && asked->at.existing < strlen(asked->at.path);
	/* To write what is not there is to create it. */
	if (op == SBX_OP_WRITE && asked->request.missing)
		asked->request.op = SBX_OP_CREATE;
	asked->request.is_dir = S_ISDIR(asked->at.mode) || (len && target[len - 1] == '/');
	asked->request.size = op == SBX_OP_READ || op == SBX_OP_WRITE ? asked->at.size : -1;
	return 0;
}

/* As execvp() finds it; the working directory is never searched. */
static int ask_program(struct sbx_asked *asked, const char *name)
{
	const char *list = getenv("PATH");

	if (strchr(name, '/'))
		return ask_path(asked, name);
	for (; list && *list; list += strspn(list, ":")) {
		size_t len = strcspn(list, ":");
		struct stat st;

		if (list[0] == '/' && len + strlen(name) + 2 < sizeof(asked->program)) {
			(void)snprintf(asked->program, sizeof(asked->program), "%.*s/%s", (int)len,
				       list, name);
			if (stat(asked->program, &st) == 0 && S_ISREG(st.st_mode) &&
			    (st.st_mode & 0111))
				return ask_path(asked, asked->program);
		}
		list += len;
	}
	return wrong(asked, -ENOENT, "not found in PATH:", name);
}

static int ask_address(struct sbx_asked *asked, const struct sbx_peer *peer, const char *target)
{
	asked->request.addr = peer->addr;
	if (peer->bits != (peer->addr.family == 4 ? 32 : 128))
		return wrong(asked, -EINVAL, "one address is needed, not a network:", target);
	return 0;
}

static int ask_name(struct sbx_asked *asked, const struct sbx_peer *peer, const char *target)
{
	memcpy(asked->host, peer->host, sizeof(asked->host));
	asked->request.host = asked->host;
	if (asked->request.op != SBX_OP_BIND)
		return 0;
	if (strcmp(peer->host, "localhost") != 0)
		return wrong(asked, -EINVAL,
			     "an address is needed to listen on, not a name:", target);
	asked->request.host = NULL;
	asked->request.addr = (struct sbx_addr){ .family = 4, .bytes = { 127, 0, 0, 1 } };
	return 0;
}

static int ask_peer(struct sbx_asked *asked, const char *target)
{
	struct sbx_peer peer;
	const char *fault = asked->request.op == SBX_OP_BIND ? sbx_peer_parse_bind(target, &peer)
							     : sbx_peer_parse(target, &peer);

	if (fault) {
		(void)snprintf(asked->why, sizeof(asked->why), "bad destination '%.100s': %.120s",
			       target, fault);
		return -EINVAL;
	}
	if (peer.kind == SBX_PEER_UNIX)
		return ask_path(asked, peer.path);
	if (peer.low != peer.high)
		return wrong(asked, -EINVAL, "one port is needed:", target);
	asked->request.port = peer.low;
	switch (peer.kind) {
	case SBX_PEER_ADDRESS:
		return ask_address(asked, &peer, target);
	case SBX_PEER_HOST:
		return ask_name(asked, &peer, target);
	default:
		return wrong(asked, -EINVAL, "one destination is needed, not a pattern:", target);
	}
}

static int ask_host(struct sbx_asked *asked, const char *target)
{
	const char *fault = sbx_host_normalize(target, strlen(target), asked->host);

	if (fault) {
		(void)snprintf(asked->why, sizeof(asked->why), "bad host '%.100s': %.120s", target,
			       fault);
		return -EINVAL;
	}
	asked->request.host = asked->host;
	return 0;
}

static const char *const repositories[] = { "/.git", "/.hg", "/.jj" };
#define REPOSITORIES (sizeof(repositories) / sizeof(repositories[0]))

bool sbx_is_repository(const char *name)
{
	for (size_t i = 0; i < REPOSITORIES; i++)
		if (!strcmp(name, repositories[i] + 1))
			return true;
	return false;
}

void sbx_repository_of(const char *path, char out[PATH_MAX])
{
	size_t len = (size_t)(strrchr(path, '/') - path);
	const char *own = repositories[0];

	for (size_t i = 0; i < REPOSITORIES; i++) {
		size_t name_len = strlen(repositories[i]);
		const char *at = path;

		while ((at = strstr(at, repositories[i])) && at[name_len] && at[name_len] != '/')
			at += name_len;
		if (at && (size_t)(at - path) < len) {
			len = (size_t)(at - path);
			own = repositories[i];
		}
	}
	(void)snprintf(out, PATH_MAX, "%.*s%s", (int)len, path, own);
}

static bool repository_exists(const char *path)
{
	char place[PATH_MAX];
	struct stat st;

	sbx_repository_of(path, place);
	return lstat(place, &st) == 0;
}

/* Protections of repositories hold only where there is one. */
static void decide(const struct sbx_image *image, struct sbx_asked *asked)
{
	asked->request.new_repo = false;
	sbx_eval(image, &asked->request, &asked->verdict);
	if ((asked->verdict.flags & SBX_VERDICT_REPO) && !repository_exists(asked->at.path) &&
	    !(asked->request.to && repository_exists(asked->request.to))) {
		asked->request.new_repo = true;
		sbx_eval(image, &asked->request, &asked->verdict);
	}
}

int sbx_ask(const struct sbx_image *image, enum sbx_op op, const char *target, const char *cwd,
	    struct sbx_asked *asked)
{
	int error;

	*asked = (struct sbx_asked){ .request = { .op = op, .size = -1 }, .given = target };
	if (!target || !*target)
		return wrong(asked, -EINVAL, "a target is needed", "");
	if (cwd)
		(void)snprintf(asked->cwd, sizeof(asked->cwd), "%s", cwd);
	else if (!getcwd(asked->cwd, sizeof(asked->cwd)))
		return wrong(asked, -errno, "the current directory is gone", "");
	if (op == SBX_OP_CONNECT || op == SBX_OP_BIND)
		error = ask_peer(asked, target);
	else if (op == SBX_OP_LOOKUP)
		error = ask_host(asked, target);
	else if (op == SBX_OP_EXEC)
		error = ask_program(asked, target);
	else
		error = ask_path(asked, target);
	if (error)
		return error;
	decide(image, asked);
	return 0;
}

int sbx_ask_move(const struct sbx_image *image, const char *from, const char *to, const char *cwd,
		 struct sbx_asked *asked)
{
	int error = sbx_ask(image, SBX_OP_RENAME, from, cwd, asked);

	if (error)
		return error;
	error = sbx_resolve_path(asked->cwd, to,
				 SBX_RESOLVE_MISSING | SBX_RESOLVE_UNSEEN | SBX_RESOLVE_NOFOLLOW,
				 NULL, &asked->to_at);
	if (error)
		return wrong(asked, error, strerror(-error), to);
	asked->given_to = to;
	asked->request.to = asked->to_at.path;
	decide(image, asked);
	return 0;
}

struct sbx_report sbx_asked_report(const struct sbx_image *image, const struct sbx_asked *asked)
{
	return (struct sbx_report){ .image = image,
				    .request = &asked->request,
				    .verdict = &asked->verdict,
				    .given = asked->given,
				    .given_to = asked->given_to,
				    .cwd = asked->cwd };
}

int sbx_case_split(const char *text, const char **target)
{
	size_t len = strcspn(text, " \t");

	*target = text + len + strspn(text + len, " \t");
	return sbx_op_find(text, len);
}

int sbx_can(const struct sbx_policy *policy, enum sbx_op op, const char *target)
{
	struct sbx_asked asked;
	int error;

	if ((unsigned int)op >= SBX_OP_COUNT)
		return -EINVAL;
	error = sbx_ask(policy->image, op, target, NULL, &asked);
	return error ? error : -asked.verdict.error;
}

int sbx_can_read(const struct sbx_policy *policy, const char *path)
{
	return sbx_can(policy, SBX_OP_READ, path);
}

int sbx_can_write(const struct sbx_policy *policy, const char *path)
{
	return sbx_can(policy, SBX_OP_WRITE, path);
}

int sbx_can_exec(const struct sbx_policy *policy, const char *program)
{
	return sbx_can(policy, SBX_OP_EXEC, program);
}

int sbx_can_connect(const struct sbx_policy *policy, const char *destination)
{
	return sbx_can(policy, SBX_OP_CONNECT, destination);
}

int sbx_resolve(const struct sbx_policy *policy, const char *path, char *out, size_t size)
{
	const char *root = sbx_str(policy->image, policy->image->root);
	size_t root_len = strlen(root);
	struct sbx_resolved at;
	int error = sbx_resolve_path(root, path, SBX_RESOLVE_MISSING, NULL, &at);
	size_t len;

	if (error)
		return error;
	len = strlen(at.path);
	if (root_len > 1 && (strncmp(at.path, root, root_len) != 0 ||
			     (at.path[root_len] && at.path[root_len] != '/')))
		return -EXDEV;
	if (strchr(at.path + at.existing + (at.existing < len), '/'))
		return -ENOENT;
	if (len >= size)
		return -ENAMETOOLONG;
	memcpy(out, at.path, len + 1);
	return 0;
}

static int check_section(const struct sbx_policy *policy, const char *path, int64_t size)
{
	struct sbx_asked asked;
	int error = sbx_ask(policy->image, SBX_OP_READ, path, NULL, &asked);

	if (error || asked.verdict.section == SBX_NONE)
		return error;
	asked.request.size = size;
	asked.request.is_dir |= size >= 0; /* only the size: folders have no suffix */
	asked.verdict.error = 0;
	(void)sbx_eval_section(policy->image, &asked.request, &asked.verdict);
	return -asked.verdict.error;
}

int sbx_check_suffix(const struct sbx_policy *policy, const char *path)
{
	return check_section(policy, path, -1);
}

int sbx_check_size(const struct sbx_policy *policy, const char *path, uint64_t bytes)
{
	return check_section(policy, path, bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes);
}

int sbx_explain(const struct sbx_policy *policy, enum sbx_op op, const char *target,
		unsigned int flags, char *out, size_t size)
{
	struct sbx_asked asked;
	struct sbx_report report;
	struct sbx_out text;
	int error;

	if ((unsigned int)op >= SBX_OP_COUNT)
		return -EINVAL;
	error = sbx_ask(policy->image, op, target, NULL, &asked);
	if (error)
		return error;
	report = sbx_asked_report(policy->image, &asked);
	if (!(flags & SBX_EXPLAIN_JSON))
		return (int)sbx_words_text(&report, out, size);
	sbx_out_init(&text, out, size);
	sbx_out_str(&text, "{\"v\":1,\"event\":\"check\",\"verdict\":");
	sbx_out_str(&text, asked.verdict.allowed ? "\"allowed\"," : "\"refused\",");
	sbx_words_json(&report, &text);
	sbx_out_str(&text, "}");
	return (int)sbx_out_finish(&text);
}
