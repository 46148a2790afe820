/* SPDX-License-Identifier: MIT */
/*
 * From the registers of a call to the policy's verdict.
 *
 * What would fail by itself is let go on, so that the program gets the kernel's own errno: what is
 * missing, exists already, is a folder or no folder, or is refused by ordinary permissions. Only what
 * would have worked without the sandbox, as far as can be seen, is worth words.
 *
 * Nothing is allowed here: to go on means that Landlock decides.
 */
#include "judge_call.h"

#include "binary.h"
#include "broker.h"
#include "repos.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INTERPRETERS 5 /* that the kernel follows */
#define TMPFILE (O_TMPFILE & ~O_DIRECTORY)

static int dir_of(const struct call *call, int8_t arg)
{
	return arg < 0 ? AT_FDCWD : (int)call->args[arg];
}

static bool is_masked(const struct launch_judge *judge, const char *path)
{
	return judge->covers && launch_covers_over(judge->covers, path);
}

/* By a mask that nobody can look behind. */
static bool is_shut(const struct launch_judge *judge, const char *path)
{
	return judge->covers && launch_covers_deny(judge->covers, path);
}

/*
 * What a path leads to below a masked folder, which nobody can look into: by its names alone, as if a
 * file were there, or where something is to be made, nothing but its folder.
 */
static bool find_masked(const struct launch_judge *judge, int dir, const char *path,
			unsigned int flags, struct sbx_resolved *at)
{
	if (!judge->covers || !judge->covers->count ||
	    launch_target_find(judge->thread, dir, path,
			       flags | SBX_RESOLVE_MISSING | SBX_RESOLVE_UNSEEN, 0, at) < 0 ||
	    !at->unseen || at->len < 2 || !is_shut(judge, at->path))
		return false;
	at->existing = flags & SBX_RESOLVE_MISSING ? (size_t)(strrchr(at->path + 1, '/') - at->path)
						   : at->len;
	at->mode = flags & SBX_RESOLVE_MISSING ? 0 : S_IFREG;
	return true;
}

static bool find_at(const struct launch_judge *judge, int dir, const char *path, unsigned int flags,
		    uint64_t how, struct sbx_resolved *at)
{
	int failed = launch_target_find(judge->thread, dir, path, flags, how, at);

	return !failed || (failed == -EACCES && !how && find_masked(judge, dir, path, flags, at));
}

int launch_judge_text(const struct launch_judge *judge, pid_t thread, uint64_t at,
		      char out[PATH_MAX])
{
	size_t len;

	if (!judge->taken || judge->taken_at != at)
		return launch_target_string(thread, at, out);
	len = strlen(judge->taken);
	memcpy(out, judge->taken, len + 1);
	return (int)len;
}

/* Where the call's path leads; false: there is nothing to judge. */
static bool find(const struct call *call, unsigned int flags, uint64_t how)
{
	struct launch_judge *judge = call->judge;
	const struct sbx_path_call *ask = call->ask;

	return launch_judge_text(judge, judge->thread, call->args[ask->path], judge->given) >= 0 &&
	       find_at(judge, dir_of(call, ask->dir), judge->given, flags, how, &judge->at) &&
	       !judge->at.pinned;
}

static bool find_to(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	const struct sbx_path_call *ask = call->ask;

	return launch_target_string(judge->thread, call->args[ask->to_path], judge->given_to) > 0 &&
	       find_at(judge, dir_of(call, ask->to_dir), judge->given_to,
		       SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, 0, &judge->to);
}

static bool is_missing(const struct sbx_resolved *at)
{
	return at->existing < at->len;
}

/* The folder that it would be made in is missing, too. */
static bool is_nowhere(const struct sbx_resolved *at)
{
	return is_missing(at) && strchr(at->path + at->existing + 1, '/');
}

/* "x/.", "..", "/": no name that could be made or removed. */
static bool is_no_name(const char *path)
{
	size_t end = strlen(path), start;

	while (end > 0 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	return end == start || (end - start == 1 && path[start] == '.') ||
	       (end - start == 2 && !memcmp(path + start, "..", 2));
}

/* A mount that forbids to write or to execute was ours: ordinary permissions are still to be seen. */
static bool may_but_for_mask(const char *path, int mode)
{
	struct stat st;

	if (errno == EROFS)
		return true;
	return mode == X_OK && errno == EACCES &&
	       fstatat(AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
}

/*
 * Whether ordinary permissions, and the mount, would have it: as our own user, who is the program's.
 * Where a mask stands, they are ours, and what is behind it cannot be asked any more.
 */
static bool may(const struct launch_judge *judge, const char *path, int mode)
{
	if (is_shut(judge, path) ||
	    faccessat(AT_FDCWD, path, mode, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0)
		return true;
	return may_but_for_mask(path, mode) && is_masked(judge, path);
}

static bool may_change_folder(const struct launch_judge *judge, const char *path)
{
	char folder[PATH_MAX];
	size_t len = strlen(path);

	while (len > 1 && path[--len] != '/')
		;
	memcpy(folder, path, len);
	folder[len] = '\0';
	return may(judge, len ? folder : "/", W_OK | X_OK);
}

static bool may_without_us(const struct launch_judge *judge)
{
	const struct sbx_request *request = &judge->request;

	switch (request->op) {
	case SBX_OP_READ:
	case SBX_OP_LIST:
		return may(judge, request->path, R_OK);
	case SBX_OP_WRITE:
		return may(judge, request->path, W_OK);
	case SBX_OP_EXEC:
		return may(judge, request->path, X_OK);
	case SBX_OP_CREATE:
	case SBX_OP_DELETE:
	case SBX_OP_BIND:
		return may_change_folder(judge, request->path);
	case SBX_OP_RENAME:
		return may_change_folder(judge, request->path) &&
		       may_change_folder(judge, request->to);
	default:
		return true;
	}
}

/*
 * Landlock knows files, the engine names: a file that a rule names may have another name by now. We are
 * under the same rules, and may try. (Not what opening could wait for, or be noticed by.)
 */
static bool kernel_lets(const struct launch_judge *judge)
{
	const struct sbx_request *request = &judge->request;
	bool writes = request->op == SBX_OP_WRITE;
	int flags = writes ? O_WRONLY : O_RDONLY, fd;

	if (judge->final || (request->op != SBX_OP_READ && !writes) || !S_ISREG(judge->at.mode))
		return false;
	/* More is allowed to us than to the program where the broker decides. */
	if (judge->broker && (judge->broker->hold->wider ||
			      judge->broker->hold->brokered & (writes ? HOLD_WRITE : HOLD_READ)))
		return false;
	fd = open(request->path, flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0)
		(void)close(fd);
	return fd >= 0;
}

/* What the broker alone would hold. */
static bool is_for_protections(const struct launch_judge *judge)
{
	const struct sbx_verdict *verdict = &judge->verdict;

	return verdict->code == SBX_CODE_PROTECTED ||
	       (verdict->code == SBX_CODE_REFER && verdict->rule != SBX_NONE &&
		sbx_rules(judge->image)[verdict->rule].kind == SBX_RULE_PROTECT);
}

/* Without a broker nobody holds default protections: what is refused for them alone is not refused. */
static bool refuses(struct launch_judge *judge)
{
	if (judge->broker) {
		launch_repos_eval(judge->broker->repos, judge->image, &judge->request,
				  &judge->verdict);
		return !judge->verdict.allowed;
	}
	sbx_eval(judge->image, &judge->request, &judge->verdict);
	return !judge->verdict.allowed && !is_for_protections(judge);
}

static int judge_request(struct launch_judge *judge)
{
	if (judge->request.op == SBX_OP_READ && !strcmp(judge->request.path, judge->own))
		return 0;
	return refuses(judge) && may_without_us(judge) && !kernel_lets(judge) ? judge->verdict.error
									      : 0;
}

int launch_judge_path(struct launch_judge *judge, enum sbx_op op)
{
	judge->request =
		(struct sbx_request){ .op = op,
				      .is_dir = S_ISDIR(judge->at.mode),
				      .is_link = op == SBX_OP_CREATE && S_ISLNK(judge->at.mode),
				      .missing = is_missing(&judge->at),
				      .unseen = judge->at.unseen,
				      .size = judge->at.size,
				      .path = judge->at.path };
	return judge_request(judge);
}

static uint8_t rights_of_open(uint64_t flags)
{
	uint8_t rights = (flags & O_ACCMODE) == O_WRONLY ? 0 : SBX_RIGHT_READ;

	return (flags & O_ACCMODE) != O_RDONLY || flags & O_TRUNC ? rights | SBX_RIGHT_WRITE
								  : rights;
}

/* Most are: then it does not matter what is there. (In a section, its size may.) */
static bool is_plainly_allowed(struct launch_judge *judge, uint64_t flags)
{
	uint8_t rights = rights_of_open(flags);

	judge->request =
		(struct sbx_request){ .op = rights & SBX_RIGHT_WRITE ? SBX_OP_WRITE : SBX_OP_READ,
				      .size = INT64_MAX,
				      .path = judge->at.path };
	return !refuses(judge) && (judge->verdict.rights & rights) == rights &&
	       judge->verdict.section == SBX_NONE;
}

/* What is there is opened. */
static int judge_open_existing(struct launch_judge *judge, uint64_t flags)
{
	bool folder = S_ISDIR(judge->at.mode), writes = rights_of_open(flags) & SBX_RIGHT_WRITE;
	int refused = 0;

	if ((flags & O_CREAT && flags & O_EXCL) || S_ISLNK(judge->at.mode) ||
	    (folder && (writes || flags & O_CREAT)) || (!folder && flags & O_DIRECTORY))
		return 0;
	if ((flags & O_ACCMODE) != O_WRONLY)
		refused = launch_judge_path(judge, folder ? SBX_OP_LIST : SBX_OP_READ);
	if (!refused && writes)
		refused = launch_judge_path(judge, SBX_OP_WRITE);
	return refused;
}

/* A file without a name: as if it had one in that folder. */
static int judge_tmpfile(struct launch_judge *judge)
{
	size_t len = judge->at.len;
	int refused;

	if (!S_ISDIR(judge->at.mode) || len + 3 > sizeof(judge->at.path))
		return 0;
	memcpy(judge->at.path + len, "/?", 3);
	judge->at.len = len + 2;
	judge->at.mode = 0;
	refused = launch_judge_path(judge, SBX_OP_CREATE);
	judge->at.path[len] = '\0'; /* for the words, the folder */
	return refused;
}

static int judge_open(const struct call *call, uint64_t flags, uint64_t how)
{
	struct launch_judge *judge = call->judge;
	bool exclusive = flags & O_CREAT && flags & O_EXCL;
	bool makes = flags & O_CREAT && !(flags & TMPFILE);
	unsigned int find_flags = makes ? SBX_RESOLVE_MISSING : 0;

	if (flags & O_NOFOLLOW || exclusive)
		find_flags |= SBX_RESOLVE_NOFOLLOW;
	if (flags & O_PATH || !find(call, find_flags | SBX_RESOLVE_PLACE, how) || !*judge->given ||
	    (!is_missing(&judge->at) && is_plainly_allowed(judge, flags)) ||
	    !find(call, find_flags, how))
		return 0;
	if (flags & TMPFILE)
		return judge_tmpfile(judge);
	if (!is_missing(&judge->at))
		return judge_open_existing(judge, flags);
	if (is_nowhere(&judge->at) || judge->given[strlen(judge->given) - 1] == '/')
		return 0;
	return launch_judge_path(judge, SBX_OP_CREATE);
}

static int judge_open_how(const struct call *call)
{
	struct open_how how;

	if (call->args[3] < sizeof(how) ||
	    launch_target_bytes(call->judge->thread, call->args[2], &how, sizeof(how)) < 0)
		return 0;
	return judge_open(call, how.flags, how.resolve);
}

static int judge_truncate(const struct call *call)
{
	if ((int64_t)call->args[1] < 0 || !find(call, 0, 0) || !S_ISREG(call->judge->at.mode))
		return 0;
	call->judge->at.size = (int64_t)call->args[1];
	return launch_judge_path(call->judge, SBX_OP_WRITE);
}

bool launch_judge_is_new(const struct launch_judge *judge)
{
	return is_missing(&judge->at) && !is_nowhere(&judge->at) && !is_no_name(judge->given);
}

static int judge_make(const struct call *call, mode_t type)
{
	struct launch_judge *judge = call->judge;

	if (!find(call, SBX_RESOLVE_MISSING | SBX_RESOLVE_NOFOLLOW, 0) ||
	    !launch_judge_is_new(judge) ||
	    (type != S_IFDIR && judge->given[strlen(judge->given) - 1] == '/'))
		return 0;
	judge->at.mode = type;
	return launch_judge_path(judge, SBX_OP_CREATE);
}

static int judge_mknod(const struct call *call)
{
	mode_t type = (mode_t)call->flags & S_IFMT;

	if (type && type != S_IFREG && type != S_IFCHR && type != S_IFBLK && type != S_IFIFO &&
	    type != S_IFSOCK)
		return 0;
	return judge_make(call, 0);
}

/* "link/": the kernel removes nothing through a link, whatever it leads to. */
static bool is_slashed_link(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	size_t len = strlen(judge->given);
	char path[PATH_MAX];
	struct sbx_resolved at;

	if (len < 2 || judge->given[len - 1] != '/')
		return false;
	while (len > 1 && judge->given[len - 1] == '/')
		len--;
	memcpy(path, judge->given, len);
	path[len] = '\0';
	return launch_target_find(judge->thread, dir_of(call, call->ask->dir), path,
				  SBX_RESOLVE_NOFOLLOW, 0, &at) == 0 &&
	       S_ISLNK(at.mode);
}

static int judge_remove(const struct call *call)
{
	bool folder = call->ask->act == SBX_ACT_RMDIR || call->flags & AT_REMOVEDIR;

	if (call->flags & ~(uint64_t)AT_REMOVEDIR || !find(call, SBX_RESOLVE_NOFOLLOW, 0) ||
	    is_no_name(call->judge->given) || folder != S_ISDIR(call->judge->at.mode) ||
	    is_slashed_link(call))
		return 0;
	return launch_judge_path(call->judge, SBX_OP_DELETE);
}

static void ask_move(struct launch_judge *judge)
{
	judge->request = (struct sbx_request){ .op = SBX_OP_RENAME,
					       .is_dir = S_ISDIR(judge->at.mode),
					       .size = -1,
					       .path = judge->at.path,
					       .to = judge->to.path };
}

/* From one place to the other. */
static int judge_move(struct launch_judge *judge)
{
	ask_move(judge);
	return judge_request(judge);
}

/* The way back of an exchange. */
static int judge_move_back(struct launch_judge *judge)
{
	struct sbx_resolved at = judge->at;
	char given[PATH_MAX];

	judge->at = judge->to;
	judge->to = at;
	memcpy(given, judge->given, sizeof(given));
	memcpy(judge->given, judge->given_to, sizeof(given));
	memcpy(judge->given_to, given, sizeof(given));
	return judge_move(judge);
}

/* Which mount a path lies on; 0 where the kernel does not tell (before 5.8). */
static uint64_t mount_of(const char *path, size_t len)
{
	char text[PATH_MAX];
	struct statx st;

	memcpy(text, path, len);
	memcpy(text + len, len ? "" : "/", len ? 1 : 2);
	if (statx(AT_FDCWD, text, AT_SYMLINK_NOFOLLOW, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return 0;
	return st.stx_mnt_id;
}

/* Between mounts nothing is renamed or linked, and the kernel says so before it asks anybody else. */
static bool is_across(const struct launch_judge *judge)
{
	const char *at = judge->at.path, *to = judge->to.path;

	if (is_masked(judge, at) || is_masked(judge, to))
		return false;
	return mount_of(at, (size_t)(strrchr(at, '/') - at)) !=
	       mount_of(to, (size_t)(strrchr(to, '/') - to));
}

static int judge_rename(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	int refused;

	if (call->flags & ~(uint64_t)(RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT) ||
	    (call->flags & RENAME_EXCHANGE && call->flags != RENAME_EXCHANGE))
		return 0;
	if (!find(call, SBX_RESOLVE_NOFOLLOW, 0) || !find_to(call) || is_no_name(judge->given) ||
	    is_no_name(judge->given_to) || is_nowhere(&judge->to) || is_across(judge) ||
	    (call->flags & RENAME_NOREPLACE && !is_missing(&judge->to)) ||
	    (call->flags & RENAME_EXCHANGE && is_missing(&judge->to)))
		return 0;
	if (!call->flags && !is_missing(&judge->to) &&
	    S_ISDIR(judge->at.mode) != S_ISDIR(judge->to.mode))
		return 0;
	refused = judge_move(judge);
	return !refused && call->flags & RENAME_EXCHANGE ? judge_move_back(judge) : refused;
}

/*
 * A second name is made in a folder, and the file must not gain rights by it: to the engine, as if it
 * were moved. Whether the first name could be removed does not matter.
 */
static int judge_link(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	struct sbx_resolved from;
	int refused;

	if (call->flags & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return 0;
	if (!find(call, call->flags & AT_SYMLINK_FOLLOW ? 0 : SBX_RESOLVE_NOFOLLOW, 0) ||
	    S_ISDIR(judge->at.mode) || !find_to(call) || !is_missing(&judge->to) ||
	    is_nowhere(&judge->to) || is_no_name(judge->given_to) || is_across(judge))
		return 0;
	from = judge->at;
	judge->at = judge->to;
	judge->at.mode = from.mode & S_IFMT;
	refused = launch_judge_path(judge, SBX_OP_CREATE);
	if (refused) {
		memcpy(judge->given, judge->given_to, sizeof(judge->given));
		return refused;
	}
	judge->at = from;
	ask_move(judge);
	if (!refuses(judge) || !may_change_folder(judge, judge->to.path))
		return 0;
	sbx_refuse(&judge->verdict, SBX_CODE_REFER, SBX_NONE);
	return judge->verdict.error;
}

/*
 * What is executed is read by the kernel itself, for the program: where reading is left to the broker,
 * the kernel refuses what the policy would allow. The rule that has it so is named. (Or the one whose
 * place it was: the kernel's rule is about what was there when the run began.)
 */
static int judge_exec_held(struct launch_judge *judge)
{
	const struct launch_hold *hold = judge->broker ? judge->broker->hold : NULL;
	const struct launch_held *place = NULL;

	if (!hold || !judge->broker->landlock || launch_hold_at(hold, judge->at.path) & HOLD_EXEC)
		return 0;
	for (size_t len = judge->at.len; len && !place; len--)
		if (!judge->at.path[len] || judge->at.path[len] == '/')
			place = launch_hold_find(hold, judge->at.path, len);
	if (!place || (place->taker == SBX_NONE && !(place->classes & HOLD_EXEC)))
		return 0;
	if (place->taker == SBX_NONE) {
		sbx_refuse(&judge->verdict, SBX_CODE_EXEC, place->rule);
		judge->verdict.flags |= SBX_VERDICT_REPLACED;
	} else {
		sbx_refuse(&judge->verdict, SBX_CODE_EXEC, place->taker);
		judge->verdict.flags |= SBX_VERDICT_SERVED;
		if (!launch_hold_can_execute(hold->image, judge->at.path))
			judge->verdict.flags |= SBX_VERDICT_SERVED_FILE;
	}
	return judge->verdict.error;
}

/* The file, and whoever runs it in turn. */
static int judge_exec(const struct call *call)
{
	struct launch_judge *judge = call->judge;
	unsigned int flags = call->flags & AT_SYMLINK_NOFOLLOW ? SBX_RESOLVE_NOFOLLOW : 0;

	if (call->flags & ~(uint64_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return 0;
	if (!find(call, flags, 0) || (!*judge->given && !(call->flags & AT_EMPTY_PATH)))
		return 0;
	for (int i = 0; i <= INTERPRETERS; i++) {
		int refused;

		if (!S_ISREG(judge->at.mode))
			return 0;
		refused = launch_judge_path(judge, SBX_OP_EXEC);
		if (!refused && judge->verdict.allowed && may(judge, judge->at.path, X_OK))
			refused = judge_exec_held(judge);
		if (refused)
			return refused;
		(void)launch_binary_read(judge->at.path, judge->given);
		if (!*judge->given)
			return 0;
		if (launch_target_find(judge->thread, AT_FDCWD, judge->given, 0, 0, &judge->at) < 0)
			return 0;
	}
	return 0;
}

static int judge_act(const struct call *call)
{
	switch ((enum sbx_act)call->ask->act) {
	case SBX_ACT_OPEN:
		return judge_open(call, call->flags, 0);
	case SBX_ACT_OPEN_HOW:
		return judge_open_how(call);
	case SBX_ACT_CREAT:
		return judge_open(call, O_CREAT | O_WRONLY | O_TRUNC, 0);
	case SBX_ACT_TRUNCATE:
		return judge_truncate(call);
	case SBX_ACT_MKDIR:
		return judge_make(call, S_IFDIR);
	case SBX_ACT_MKNOD:
		return judge_mknod(call);
	case SBX_ACT_SYMLINK:
		return judge_make(call, S_IFLNK);
	case SBX_ACT_UNLINK:
	case SBX_ACT_RMDIR:
		return judge_remove(call);
	case SBX_ACT_RENAME:
		return judge_rename(call);
	case SBX_ACT_LINK:
		return judge_link(call);
	case SBX_ACT_EXEC:
		return judge_exec(call);
	case SBX_ACT_BIND:
		return launch_judge_bind(call);
	case SBX_ACT_CONNECT: /* the broker's alone */
	case SBX_ACT_MODE:
	case SBX_ACT_OWNER:
	case SBX_ACT_OWNER_OF_LINK:
	case SBX_ACT_SECONDS:
	case SBX_ACT_MICROSECONDS:
	case SBX_ACT_NANOSECONDS:
	case SBX_ACT_MEMFD:
	case SBX_ACT_LISTEN:
	case SBX_ACT_NOTHING:
		break;
	}
	return 0;
}

void launch_judge_record(struct launch_judge *judge, enum launch_call_index call)
{
	size_t count;

	judge->report = (struct sbx_report){ .image = judge->image,
					     .request = &judge->request,
					     .verdict = &judge->verdict,
					     .given = judge->given,
					     .given_to = judge->request.to ? judge->given_to : NULL,
					     .syscall = launch_calls(&count)[call].name };
}

int launch_judge_call(struct launch_judge *judge, enum launch_call_index call,
		      const struct seccomp_data *data, pid_t thread)
{
	const struct sbx_path_call *ask = launch_call_path(call);
	uint64_t args[6];
	struct call asked = { .judge = judge, .ask = ask, .args = args };
	int refused;

	for (int i = 0; i < 6; i++)
		args[i] = data->args[i];
	if (ask->flags >= 0)
		asked.flags = (uint32_t)args[ask->flags];
	judge->thread = thread;
	refused = judge_act(&asked);
	if (refused)
		launch_judge_record(judge, call);
	return refused;
}
