/* SPDX-License-Identifier: MIT */
/*
 * Whether a path leads to something hidden, or through it; and what is said then: that nothing is there.
 *
 * A path is walked as the kernel would walk it, name by name: which link or ".." has led where is not to
 * be seen from what was found in the end. What was walked is a moment old: good for refusing, and for
 * nothing else. What is allowed is allowed by the name of something pinned.
 */
#include "broker_call.h"

#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's own bound */

/* A path on its way to where it leads, name by name. */
struct trail {
	const struct brokered *call;
	char *path; /* so far, without links; PATH_MAX of it */
	size_t len;
	char text[2 * PATH_MAX]; /* what is still to be walked stands at its end */
	char *rest;
	int links;
	bool straight; /* a link ends it */
};

bool launch_broker_hides(const struct brokered *call, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	if (path[0] != '/')
		return false;
	sbx_eval(call->judge->image, &request, &verdict);
	return !verdict.allowed && verdict.code == SBX_CODE_HIDDEN;
}

/* What is pinned may have lost its name a moment ago: then by the one that it had. */
static bool hides_pinned(const struct brokered *call, char name[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(name), mark = sizeof(deleted) - 1;

	if (launch_broker_hides(call, name))
		return true;
	if (len <= mark || strcmp(name + len - mark, deleted) != 0)
		return false;
	name[len - mark] = '\0';
	return launch_broker_hides(call, name);
}

static bool trail_hides(const struct trail *trail)
{
	return trail->len && launch_broker_hides(trail->call, trail->path);
}

static void trail_up(struct trail *trail)
{
	while (trail->len > 0 && trail->path[--trail->len] != '/')
		;
	trail->path[trail->len] = '\0';
}

/* The text of the link that the trail has come to; 0: it is none. */
static int read_link(const struct trail *trail, char text[PATH_MAX])
{
	int viewed = launch_target_view(trail->call->thread, trail->path, text);
	ssize_t len = viewed ? viewed : readlinkat(AT_FDCWD, trail->path, text, PATH_MAX - 1);

	return len < 0 ? 0 : (int)len;
}

/* Goes on behind a link. False: that is no way. */
static bool follow(struct trail *trail, const char *text, size_t len)
{
	if (trail->links++ >= MAX_LINKS || len > (size_t)(trail->rest - trail->text))
		return false;
	trail->rest -= len;
	memcpy(trail->rest, text, len);
	trail_up(trail);
	if (text[0] == '/')
		trail->path[trail->len = 0] = '\0';
	return true;
}

/* A hidden file in the middle of a path: that nothing is in it would tell that it is there. */
static bool is_hidden_file(const struct trail *trail)
{
	struct stat st;

	return *trail->rest && trail_hides(trail) &&
	       fstatat(AT_FDCWD, trail->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       !S_ISDIR(st.st_mode);
}

/* One name, or some dots. 1: what is hidden was used as a way; 0: on; -1: that is no way. */
static int trail_step(struct trail *trail, const char *name, size_t len, bool follows)
{
	char text[PATH_MAX];
	int link;

	if (len == 1 && name[0] == '.')
		return 0;
	if (len == 2 && !memcmp(name, "..", 2)) {
		if (trail_hides(trail))
			return 1;
		trail_up(trail);
		return 0;
	}
	if (trail->len + 1 + len >= PATH_MAX)
		return -1;
	trail->path[trail->len++] = '/';
	memcpy(trail->path + trail->len, name, len);
	trail->len += len;
	trail->path[trail->len] = '\0';
	link = follows ? read_link(trail, text) : 0;
	if (!link)
		return is_hidden_file(trail);
	if (trail_hides(trail))
		return 1;
	return !trail->straight && follow(trail, text, (size_t)link) ? 0 : -1;
}

/* As the kernel would walk it. */
static bool walk_hides(struct trail *trail, bool follows)
{
	for (;;) {
		const char *name;
		size_t len;
		int step;

		while (*trail->rest == '/')
			trail->rest++;
		if (!*trail->rest)
			return trail_hides(trail);
		name = trail->rest;
		trail->rest = strchrnul(name, '/');
		len = (size_t)(trail->rest - name);
		step = trail_step(trail, name, len, follows || *trail->rest);
		if (step)
			return step > 0;
	}
}

bool launch_broker_hides_way(const struct brokered *call, int dir, const char *path, bool follows)
{
	return launch_broker_hides_how(call, dir, path, follows, 0);
}

bool launch_broker_hides_how(const struct brokered *call, int dir, const char *path, bool follows,
			     uint64_t how)
{
	struct trail trail = { .call = call,
			       .path = call->judge->at.path,
			       .straight = how & RESOLVE_NO_SYMLINKS };
	char whole[2 * PATH_MAX];
	size_t len;

	/* There it begins where the folder is. */
	if (how & RESOLVE_IN_ROOT)
		path += strspn(path, "/");
	if (how & RESOLVE_BENEATH && path[0] == '/')
		return false;
	if (launch_target_whole(call->thread, dir, path, whole) < 0)
		return false;
	len = strlen(whole);
	trail.rest = trail.text + sizeof(trail.text) - 1 - len;
	memcpy(trail.rest, whole, len + 1);
	trail.path[0] = '\0';
	return walk_hides(&trail, follows);
}

/* Only what is there is worth a record. */
static bool is_worth_words(const struct brokered *call, enum sbx_op op)
{
	struct stat st;

	return op == SBX_OP_CREATE || op == SBX_OP_RENAME || op == SBX_OP_BIND ||
	       fstatat(AT_FDCWD, call->judge->at.path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

enum launch_served launch_broker_hidden(const struct brokered *call, enum sbx_op op,
					const char *given)
{
	struct launch_judge *judge = call->judge;

	*call->answer = (struct launch_answer){ .error = ENOENT };
	if (!is_worth_words(call, op))
		return SERVED_DONE;
	if (given != judge->given)
		(void)snprintf(judge->given, sizeof(judge->given), "%s", given);
	judge->request =
		(struct sbx_request){ .op = SBX_OP_READ, .size = -1, .path = judge->at.path };
	sbx_eval(judge->image, &judge->request, &judge->verdict);
	judge->request.op = op;
	/* Or only its folder is, in which nothing can be made or removed then. */
	if (judge->verdict.code != SBX_CODE_HIDDEN)
		sbx_eval(judge->image, &judge->request, &judge->verdict);
	return judge->verdict.code == SBX_CODE_HIDDEN ? SERVED_JUDGED : SERVED_DONE;
}

/* Of a file that is executed, or a socket that is connected to: all else is for others to decide. */
static bool uses_hidden(const struct brokered *call, char path[PATH_MAX])
{
	struct sockaddr_un address = { .sun_family = AF_UNSPEC };
	size_t len = (size_t)(uint32_t)call->flags, before = offsetof(struct sockaddr_un, sun_path);
	int dir = launch_broker_dir(call, call->ask->dir);
	bool execs = call->ask->act == SBX_ACT_EXEC;

	if (execs)
		return launch_target_string(call->thread, call->args[call->ask->path], path) > 0 &&
		       launch_broker_hides_way(call, dir, path,
					       !(call->flags & AT_SYMLINK_NOFOLLOW));
	if (len <= before || len > sizeof(address) ||
	    launch_target_bytes(call->thread, call->args[call->ask->path], &address, len) < 0 ||
	    address.sun_family != AF_UNIX || !address.sun_path[0])
		return false;
	(void)snprintf(path, PATH_MAX, "%.*s", (int)(len - before), address.sun_path);
	return launch_broker_hides_way(call, AT_FDCWD, path, true);
}

enum launch_served launch_broker_use(const struct brokered *call)
{
	char path[PATH_MAX];

	if (!call->broker->hides || !uses_hidden(call, path))
		return SERVED_LEFT;
	return launch_broker_hidden(
		call, call->ask->act == SBX_ACT_EXEC ? SBX_OP_EXEC : SBX_OP_CONNECT, path);
}

static bool has_dots(const char *path)
{
	for (const char *at = path; (at = strstr(at, "..")); at += 2)
		if ((at == path || at[-1] == '/') && (!at[2] || at[2] == '/'))
			return true;
	return false;
}

static bool is_for_all(const char *path)
{
	return strncmp(path, "/proc/", strlen("/proc/")) != 0 &&
	       strncmp(path, "/dev/", strlen("/dev/")) != 0;
}

int launch_broker_pin_seen(const struct brokered *call, int dir, const char *path, int flags,
			   bool *hidden)
{
	char whole[2 * PATH_MAX], *name = call->judge->at.path;
	int fd = -ELOOP, failed;

	*hidden = false;
	/* Most paths have neither links nor dots in them: then the name alone decides. */
	if (!has_dots(path) && launch_target_whole(call->thread, dir, path, whole) == 0 &&
	    is_for_all(whole))
		fd = launch_target_plain(whole, flags);
	/* No link on the way up to what is missing, or that were said instead. */
	if (fd == -ENOENT)
		return fd;
	if (fd < 0) {
		*hidden = launch_broker_hides_way(call, dir, path, !(flags & O_NOFOLLOW));
		fd = *hidden ? -ENOENT : launch_target_look(call->thread, dir, path, flags);
	}
	if (fd < 0)
		return fd;
	/* What is called too long a name could be anything. */
	failed = launch_target_name(fd, name);
	if (failed >= 0)
		*hidden = hides_pinned(call, name);
	if (failed >= 0 && !*hidden)
		return fd;
	(void)close(fd);
	return *hidden ? -ENOENT : failed;
}
