/* SPDX-License-Identifier: MIT */
/*
 * Attacks on what rules take away in the midst of a place that may be written: folders and names that
 * are denied, what is protected because it runs later, the policy's own files, and what a [path]
 * section says. test_holes.c digs the holes.
 */
#include "attack.h"

#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

static int put_new(const char *path)
{
	return write_into(path, O_CREAT | O_WRONLY);
}

static int spill_at(int dir, const char *name)
{
	int fd = (int)do_call(SYS_openat, dir, (long)name, O_RDONLY | O_CLOEXEC, 0, 0), result;

	if (fd < 0)
		return -1;
	result = spill_fd(fd);
	close(fd);
	return result;
}

static int spill_how(int dir, const char *name, unsigned long long resolve)
{
	struct open_how how = { .flags = O_RDONLY | O_CLOEXEC, .resolve = resolve };
	int fd = (int)do_call(NR_openat2, dir, (long)name, (long)&how, sizeof(how), 0), result;

	if (fd < 0)
		return -1;
	result = spill_fd(fd);
	close(fd);
	return result;
}

static int folder_at(const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		cannot_judge(path);
	return fd;
}

static void enter(const char *path)
{
	if (chdir(path) < 0)
		cannot_judge(path);
}

/* Where a mount covers the hole there is no way in, which is as good a refusal. */
static bool enter_hole(const char *path)
{
	int result = chdir(path);

	if (result < 0)
		step("enter", result);
	return result == 0;
}

/* By a short name: a socket's is never long. */
static int bind_here(const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), result, error;

	if (fd < 0 || strlen(name) >= sizeof(address.sun_path))
		cannot_judge("no socket");
	memcpy(address.sun_path, name, strlen(name) + 1);
	result = (int)do_call(SYS_bind, fd, (long)&address, sizeof(address), 0, 0);
	error = errno;
	close(fd);
	errno = error;
	return result;
}

static const char *of_descriptor(int fd)
{
	static char names[4][64];
	static unsigned turn;
	char *name = names[turn++ % 4];

	snprintf(name, sizeof(names[0]), "/proc/self/fd/%d", fd);
	return name;
}

/* A file without a name gets one. */
static int link_unnamed(const char *folder, const char *to)
{
	int fd = do_open(folder, O_TMPFILE | O_RDWR, 0600), result;

	if (fd < 0)
		return -1;
	result = (int)do_call(SYS_linkat, AT_FDCWD, (long)of_descriptor(fd), AT_FDCWD, (long)to,
			      AT_SYMLINK_FOLLOW);
	close(fd);
	return result;
}

void hole_plain(void)
{
	int work = folder_at(at("work"));

	step("absolute", spill(at("work/hole/key")));
	step("deep", spill(at("work/hole/dir/deep")));
	step("read-write", opens(at("work/hole/key"), O_RDWR));
	step("list", opens(at("work/hole"), O_RDONLY | O_DIRECTORY));
	step("inner", spill(at("work/outer/hole/key")));
	step("name", spill(at("work/.env")));
	step("name-deeper", spill(at("work/sub/.env")));
	step("suffix", spill(at("work/docs/x.txt")));
	step("size", spill(at("work/docs/big.md")));
	step("descriptor", spill_at(work, "hole/key"));
	step("how", spill_how(work, "hole/key", 0));
	step("beneath", spill_how(work, ".env", RESOLVE_BENEATH));
	step("in-root", spill_how(work, "/hole/key", RESOLVE_IN_ROOT));
	enter(at("work"));
	step("relative", spill("hole/key"));
	step("relative-name", spill(".env"));
}

void hole_written(void)
{
	step("create", put_new(at("work/hole/new")));
	step("mkdir", do_mkdir(at("work/hole/d"), 0700));
	step("mknod", do_mknod(at("work/hole/n"), S_IFREG | 0600, 0));
	step("mkfifo", do_mknod(at("work/hole/f"), S_IFIFO | 0600, 0));
	step("symlink", do_symlink("key", at("work/hole/l")));
	step("unnamed", link_unnamed(at("work/hole"), at("work/hole/u")));
	step("unnamed-in", link_unnamed(at("work"), at("work/hole/u2")));
	step("truncate", do_truncate(at("work/sub/.env"), 1));
	step("trunc", opens(at("work/hole/dir/deep"), O_RDONLY | O_TRUNC));
	step("append", write_into(at("work/.env"), O_WRONLY | O_APPEND));
	step("rmdir", do_rmdir(at("work/hole/empty")));
	step("unlink", do_unlink(at("work/hole/key")));
	step("unlink-name", do_unlink(at("work/.env")));
	must("mkdir-above", do_mkdir(at("work/none"), 0700));
	step("named", put_new(at("work/none/hole")));
	step("new-name", put_new(at("work/folder/.env")));
	if (enter_hole(at("work/hole")))
		step("bind", bind_here("s"));
	enter(at("work/sub"));
	step("bind-name", bind_here("../none/.env"));
}

void fixed_written(void)
{
	step("write", write_into(at("work/fixed/file"), O_WRONLY));
	step("trunc", opens(at("work/fixed/file"), O_RDONLY | O_TRUNC));
	step("create", put_new(at("work/fixed/new")));
	step("onto", do_rename(at("work/a"), at("work/fixed/file")));
	step("link", do_link(at("work/fixed/file"), at("work/twin")));
	step("unlink", do_unlink(at("work/fixed/file")));
	step("suffix", put_new(at("work/docs/new.txt")));
	step("suffix-moved", do_rename(at("work/b"), at("work/docs/moved.txt")));
	step("suffix-out", do_rename(at("work/docs/x.txt"), at("work/docs/x.md")));
	step("size", write_into(at("work/docs/big.md"), O_WRONLY));
	step("longer", do_truncate(at("work/docs/a.md"), 4096));
}

void hole_spelled(void)
{
	step("dot", spill(at("work/./hole/./key")));
	step("slashes", spill(at("work///hole//key")));
	step("dot-dot", spill(at("work/folder/../hole/key")));
	step("through-hole", spill(at("work/hole/../.env")));
	step("root", spill(at("../../../../../../../proc/self/root/%s", at("work/hole/key"))));
	enter(at("work"));
	step("proc-cwd", spill("/proc/self/cwd/hole/key"));
	step("proc-thread", spill("/proc/thread-self/cwd/.env"));
	step("up-and-down", spill("../work/.env"));
	step("list-slash", opens("hole/", O_RDONLY));
	step("list-dot", opens("hole/.", O_RDONLY));
	if (!enter_hole(at("work/hole/dir")))
		return;
	step("inside", spill("deep"));
	step("from-inside", spill("../key"));
	step("dot-dot-list", opens("..", O_RDONLY | O_DIRECTORY));
	step("at-dot-dot", spill("../../.env"));
}

void hole_linked(void)
{
	if (do_symlink("hole", at("work/l1")) < 0 ||
	    do_symlink(at("work/.env"), at("work/l2")) < 0 ||
	    do_symlink("l1/dir", at("work/l3")) < 0 || do_symlink("hole/new", at("work/l4")) < 0 ||
	    do_symlink("folder/.env", at("work/l5")) < 0 || do_symlink(".", at("work/l6")) < 0)
		cannot_judge("no links");
	step("folder", spill(at("work/l1/key")));
	step("file", spill(at("work/l2")));
	step("chain", spill(at("work/l3/deep")));
	step("self", spill(at("work/l6/l6/l6/hole/key")));
	step("dangling", put_new(at("work/l4")));
	step("dangling-name", put_new(at("work/l5")));
	step("made-by-way", do_mkdir(at("work/l1/made"), 0700));
	step("truncate", do_truncate(at("work/l2"), 1));
	step("unlink", do_unlink(at("work/l1/dir/deep")));
	step("moved", do_rename(at("work/a"), at("work/l1/a")));
}

static void by_folder(int hole)
{
	step("list", opens(of_descriptor(hole), O_RDONLY));
	step("at", spill_at(hole, "key"));
	step("at-how", spill_how(hole, "dir/deep", RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS));
	step("below", spill(at("../../../../../../../proc/self/fd/%d/dir/deep", hole)));
	if (!enter_hole(at("work/hole")))
		return;
	step("here", spill("key"));
	step("create", put_new("new"));
	step("unlink", do_unlink("key"));
}

void hole_by_descriptor(void)
{
	int file = open(at("work/hole/key"), O_PATH | O_CLOEXEC);
	int hole = open(at("work/hole"), O_PATH | O_CLOEXEC);
	int name = open(at("work/.env"), O_PATH | O_CLOEXEC);

	if (hole < 0 || name < 0)
		cannot_judge("no descriptors");
	step("file", file < 0 ? -1 : spill(of_descriptor(file)));
	step("reopen-name", spill(of_descriptor(name)));
	step("reopen-write", write_into(of_descriptor(name), O_WRONLY | O_APPEND));
	step("dev-fd", spill(at("../../../../../../../dev/fd/%d", name)));
	by_folder(hole);
}

void hole_moved_out(void)
{
	int name = open(at("work/sub/.env"), O_PATH | O_CLOEXEC), result;

	step("link", result = do_link(at("work/.env"), at("work/x1")));
	if (!result)
		step("link-read", spill(at("work/x1")));
	step("link-away", do_link(at("work/.env"), at("work/folder/x2")));
	step("link-hole", do_link(at("work/hole/key"), at("work/x3")));
	step("link-descriptor", do_call(SYS_linkat, AT_FDCWD, (long)of_descriptor(name), AT_FDCWD,
					(long)at("work/x4"), AT_SYMLINK_FOLLOW));
	maybe("link-empty",
	      do_call(SYS_linkat, name, (long)"", AT_FDCWD, (long)at("work/x5"), AT_EMPTY_PATH));
	step("rename", result = do_rename(at("work/sub/.env"), at("work/sub/x6")));
	if (!result)
		step("rename-read", spill(at("work/sub/x6")));
	step("exchange", result = do_exchange(at("work/a"), at("work/.env")));
	if (!result)
		step("exchange-read", spill(at("work/a")));
	step("out", do_rename(at("work/hole/key"), at("work/x7")));
	step("folder", result = do_rename(at("work/hole"), at("work/x8")));
	if (!result)
		step("folder-read", spill(at("work/x8/dir/deep")));
	step("inner", do_rename(at("work/outer/hole"), at("work/x9")));
	step("unsuffixed", do_link(at("work/docs/x.txt"), at("work/x10")));
	step("unsuffixed-beside", do_link(at("work/docs/x.txt"), at("work/docs/y.md")));
}

void hole_moved_in(void)
{
	must("mkdir", do_mkdir(at("work/pre"), 0700));
	must("named", put_new(at("work/pre/hole")));
	step("above", do_rename(at("work/pre"), at("work/none")));
	step("onto", do_rename(at("work/a"), at("work/.env")));
	step("new", do_rename(at("work/b"), at("work/folder/.env")));
	step("link", do_link(at("work/c"), at("work/.idea")));
	step("unnamed", link_unnamed(at("work"), at("work/sub/folder/.env")));
	step("into", do_link(at("work/c"), at("work/hole/c")));
	step("exchange", do_exchange(at("work/folder"), at("work/hole")));
	step("exchange-name", do_exchange(at("work/c"), at("work/sub/.env")));
	step("symlink", do_symlink("c", at("work/sub/inner/.env")));
	step("mkdir-name", do_mkdir(at("work/sub/folder2/.env"), 0700));
	step("fifo", do_mknod(at("work/sub/folder3/.env"), S_IFIFO | 0600, 0));
	step("slash", do_mkdir(at("work/sub/folder4/.env/"), 0700));
	step("slashes", do_mkdir(at("work/sub/folder5//.env//"), 0700));
	enter(at("work"));
	step("bind", bind_here("sub/folder6/.env"));
	do_unlink(at("work/pre/hole"));
}

/* The folder that a hole lies in goes elsewhere, with its name and with whoever stands in it. */
void hole_parent(void)
{
	int outer = folder_at(at("work/outer")), result;

	enter(at("work/outer"));
	step("away", result = do_rename(at("work/outer"), at("work/o2")));
	step("read-here", spill("hole/key"));
	step("read-descriptor", spill_at(outer, "hole/key"));
	if (!result) {
		step("read-there", spill(at("work/o2/hole/key")));
		must("back", do_rename(at("work/o2"), at("work/outer")));
	}
	step("down", result = do_rename(at("work/outer"), at("work/folder/outer")));
	if (!result)
		must("up", do_rename(at("work/folder/outer"), at("work/outer")));
	step("exchange", result = do_exchange(at("work/outer"), at("work/folder")));
	if (!result)
		must("again", do_exchange(at("work/outer"), at("work/folder")));
	step("mine", put_new("hole/evil"));
}

/* Where a name is denied everywhere its folder may move; the name stays denied. */
void hole_follows(void)
{
	int sub = folder_at(at("work/sub")), moved;

	enter(at("work/sub"));
	moved = do_rename(at("work/sub"), at("work/s2"));
	step("here", spill(".env"));
	step("descriptor", spill_at(sub, ".env"));
	step("there", spill(moved ? at("work/sub/.env") : at("work/s2/.env")));
	step("dot-dot", spill("../.env"));
	step("create", put_new("folder2/.env"));
	if (!moved)
		moved = do_rename(at("work/s2"), at("work/folder/s3"));
	if (!moved)
		step("deeper", spill(at("work/folder/s3/.env")));
	step("still-here", spill(".env"));
	if (!moved)
		must("back", do_rename(at("work/folder/s3"), at("work/sub")));
}

void protected_opened(void)
{
	static const char *const there[] = { "repo/.git/config", "repo/.git/hooks/pre-commit",
					     ".npmrc", ".vscode/settings.json" };
	static const char *const missing[] = {
		"repo/.git/hooks/new", "repo/.git/commondir", "repo/.git/config.worktree",
		"repo/.gitmodules",    ".vscode/new",	      ".bashrc",
		".gitconfig",	       "folder/.npmrc"
	};

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++) {
		step("append", write_into(at("work/%s", there[i]), O_WRONLY | O_APPEND));
		step("read-write", opens(at("work/%s", there[i]), O_RDWR));
		step("trunc", opens(at("work/%s", there[i]), O_RDONLY | O_TRUNC));
		step("truncate", do_truncate(at("work/%s", there[i]), 1));
		step("unlink", do_unlink(at("work/%s", there[i])));
	}
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		step("create", put_new(at("work/%s", missing[i])));
	step("mkdir", do_mkdir(at("work/.idea"), 0700));
	step("mkdir-config", do_mkdir(at("work/.vscode/d"), 0700));
	step("lock", put_new(at("work/repo/.git/hooks/x.lock")));
}

void protected_replaced(void)
{
	int result;

	step("link", result = do_link(at("work/.npmrc"), at("work/n")));
	if (!result)
		step("link-write", write_into(at("work/n"), O_WRONLY));
	step("onto", do_rename(at("work/a"), at("work/.npmrc")));
	step("onto-config", do_rename(at("work/b"), at("work/repo/.git/config")));
	step("exchange", do_exchange(at("work/c"), at("work/repo/.git/hooks/pre-commit")));
	step("away", do_rename(at("work/repo/.git/hooks"), at("work/h")));
	step("folder", do_rename(at("work/folder"), at("work/.idea")));
	step("symlink", do_symlink("folder", at("work/.husky")));
	step("mknod", do_mknod(at("work/.envrc"), S_IFREG | 0600, 0));
	step("unnamed", link_unnamed(at("work"), at("work/.bashrc")));
	step("git", result = do_rename(at("work/repo/.git"), at("work/repo/g")));
	if (!result)
		must("back", do_rename(at("work/repo/g"), at("work/repo/.git")));
	step("repository", result = do_rename(at("work/repo"), at("work/r2")));
	if (!result)
		must("return", do_rename(at("work/r2"), at("work/repo")));
	enter(at("work"));
	step("bind", bind_here("outer/.npmrc"));
}

/* A repository of its own is free; one that was there must not become part of it, or be replaced. */
void protected_by_new(void)
{
	int result;

	if (do_mkdir(at("work/new"), 0700) < 0 || do_mkdir(at("work/new/.git"), 0700) < 0 ||
	    put_new(at("work/new/.git/config")) < 0)
		cannot_judge("no repository of its own");
	step("into", result = do_rename(at("work/repo"), at("work/new/.git/repo")));
	if (!result) {
		step("write", write_into(at("work/new/.git/repo/.git/config"), O_WRONLY));
		must("back", do_rename(at("work/new/.git/repo"), at("work/repo")));
	}
	step("exchange", do_exchange(at("work/new"), at("work/repo")));
	step("exchange-git", do_exchange(at("work/new/.git"), at("work/repo/.git")));
	step("config", do_rename(at("work/new/.git/config"), at("work/repo/.git/config")));
	step("hooks", do_symlink(at("work/new"), at("work/repo/.git/hooks/l")));
	step("file", do_symlink("../new/.git", at("work/repo/.git/commondir")));
	do_unlink(at("work/new/.git/config"));
}

void policy_files(void)
{
	static const char *const names[] = { "policy.ini", "more.ini", "log.json" };

	for (size_t i = 0; i < 3; i++) {
		const char *name = at("work/%s", names[i]);
		int result;

		step("append", write_into(name, O_WRONLY | O_APPEND));
		step("truncate", do_truncate(name, 0));
		step("link", result = do_link(name, at("work/twin%zu", i)));
		if (!result)
			step("link-write", write_into(at("work/twin%zu", i), O_WRONLY | O_APPEND));
		step("exchange", do_exchange(name, at("work/a")));
		step("onto", do_rename(at("work/b"), name));
		step("remove", do_unlink(name));
		step("create", put_new(name));
		must("again", do_unlink(at("work/c")));
		must("another", put_new(at("work/b")));
		must("and-another", put_new(at("work/c")));
	}
}

/* Down a chain of folders that no path can name any more; names that are hard to print. */
void hole_odd(void)
{
	static const char *const odd[] = { "new\nline",	  "\xff\xfe", "a (deleted)",
					   "tab\tblank ", "'\"$(x)",  "..." };
	char name[201];
	int depth = 0;

	enter(at("work"));
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		char path[64];

		must("mkdir", do_mkdir(odd[i], 0700));
		snprintf(path, sizeof(path), "%s/.Env", odd[i]);
		must("neighbour", put_new(path));
		must("again", opens(path, O_RDWR));
		snprintf(path, sizeof(path), "%s/.env", odd[i]);
		step("create", put_new(path));
		snprintf(path, sizeof(path), "%s/./.env//", odd[i]);
		never("folder", do_open(path, O_CREAT | O_WRONLY, 0600));
	}
	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	while (depth < 25 && do_mkdir(name, 0700) == 0 && chdir(name) == 0)
		depth++;
	must("deep", depth > 15 ? 0 : -1);
	step("deep-create", put_new(".env"));
	(void)do_unlink(".env");
	step("deep-link", do_symlink("x", ".env"));
	step("deep-secret", spill(at("work/.env")));
	/* As far as it goes: whoever made it can take away what is not too deep. */
	(void)do_unlink(".env");
	while (depth-- && chdir("..") == 0 && do_rmdir(name) == 0)
		;
}

/* What looks like a hole and is none. */
void hole_neighbours(void)
{
	static const char *const names[] = { ".Env",	    ".env.",	 "x.env", ".env~",
					     ".envx",	    "hole-evil", "holes", "hol",
					     "policy.ini~", ".npmrc.bak" };
	struct stat st;
	int fd;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = at("work/%s", names[i]);

		answers("create", put_new(path), 0);
		answers("write", opens(path, O_RDWR | O_TRUNC), 0);
		answers("rename", do_rename(path, at("work/other")), 0);
		answers("link", do_link(at("work/other"), path), 0);
		answers("truncate", do_truncate(path, 3), 0);
		answers("unlink", do_unlink(path), 0);
	}
	answers("mkdir", do_mkdir(at("work/outer/d"), 0700), 0);
	answers("in-outer", put_new(at("work/outer/d/x")), 0);
	answers("rmdir", do_rmdir(at("work/hol")), ENOENT);
	answers("suffix", put_new(at("work/docs/new.md")), 0);
	answers("read", spill(at("work/.npmrc")), 0);
	answers("read-config", spill(at("work/repo/.git/config")), 0);
	answers("unnamed", link_unnamed(at("work"), at("work/unnamed")), 0);
	answers("exists", do_open(at("work/unnamed"), O_CREAT | O_EXCL | O_WRONLY, 0600), EEXIST);
	fd = do_open(at("work/appended"), O_CREAT | O_WRONLY | O_APPEND, 0640);
	answers("append", fd < 0 ? -1 : fcntl(fd, F_GETFL) & O_APPEND ? 0 : -1, 0);
	answers("mode", fstat(fd, &st) == 0 && (st.st_mode & 0777) == 0640 ? 0 : -1, 0);
}

/* The kernel's own answer: with this word in it, nobody is asked about a call. */
static int open_vouched(const char *path, int flags)
{
	return (int)with_word((long)strtoul(fact("voucher"), NULL, 16), SYS_openat, AT_FDCWD,
			      (long)path, flags | O_CLOEXEC, 0, 0);
}

static int spill_vouched(const char *path)
{
	int fd = open_vouched(path, O_RDONLY);

	return fd < 0 ? -1 : spill_fd(fd);
}

void hole_vouched(void)
{
	step("absolute", spill_vouched(at("work/hole/key")));
	step("deep", spill_vouched(at("work/hole/dir/deep")));
	step("list", open_vouched(at("work/hole"), O_RDONLY | O_DIRECTORY));
	step("inner", spill_vouched(at("work/outer/hole/key")));
	step("name", spill_vouched(at("work/.env")));
	step("name-deeper", spill_vouched(at("work/sub/.env")));
	step("up-and-down", spill_vouched(at("work/hule/../hole/key")));
}

/* Folders in which nothing is denied, and what is in them. */
void beside_vouched(void)
{
	answers("read", spill_vouched(at("work/hule/key")), 0);
	answers("list", open_vouched(at("work/hule"), O_RDONLY | O_DIRECTORY), 0);
	answers("deeper", spill_vouched(at("work/repo/.git/config")), 0);
}

/*
 * Races at holes. What a call is about changes all the time, between what is allowed and a hole; in
 * turn by the path in memory, a link, a descriptor, the working directory, and the folder's own name.
 */
static struct {
	char path[512], *letter;
	int inside, hole;
	atomic_bool over;
	void (*flip)(bool hole);
	long wins, tries;
	bool visible; /* what is in the hole can be seen from here; the harness sees it anyway */
} race;

enum {
	RACED_FD = 78
};

static void flip_letter(bool hole)
{
	__atomic_store_n(race.letter, hole ? 'o' : 'u', __ATOMIC_RELAXED);
}

static void flip_link(bool hole)
{
	(void)hole;
	do_exchange(at("work/there"), at("work/here"));
}

static void flip_descriptor(bool hole)
{
	dup2(hole ? race.hole : race.inside, RACED_FD);
}

static void flip_here(bool hole)
{
	if (fchdir(hole ? race.hole : race.inside) < 0)
		race.over = true;
}

static void flip_folder(bool hole)
{
	do_rename(at(hole ? "work/sub" : "work/s2"), at(hole ? "work/s2" : "work/sub"));
}

static void flip_repositories(bool hole)
{
	(void)hole;
	do_exchange(at("work/new"), at("work/repo"));
}

static struct open_how raced_how;

static void flip_how(bool hole)
{
	__atomic_store_n(&raced_how.flags, (__u64)(hole ? NEITHER | O_TRUNC : O_RDONLY),
			 __ATOMIC_RELAXED);
}

static void *flip_on(void *nothing)
{
	for (bool hole = false; !race.over; hole = !hole)
		race.flip(hole);
	return nothing;
}

/* 1: something was read that is a secret. */
static int won_read(int fd)
{
	static const char begins[] = "the secret";
	char bytes[sizeof(begins) - 1];
	bool won;

	if (fd < 0)
		return 0;
	won = read(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) &&
	      !memcmp(bytes, begins, sizeof(bytes)) && lseek(fd, 0, SEEK_SET) == 0;
	if (won && !race.wins)
		spill_fd(fd);
	close(fd);
	return won;
}

static int won_link(long linked)
{
	int won = linked < 0 ? 0 : won_read(do_open(at("work/got"), O_RDONLY, 0));

	do_unlink(at("work/got"));
	return won;
}

static int race_open(void)
{
	return won_read(do_open(race.path, O_RDONLY, 0));
}

static int race_link(void)
{
	return won_link(do_link(race.path, at("work/got")));
}

static int race_rename(void)
{
	int won = do_rename(race.path, at("work/got")) == 0 &&
		  won_read(do_open(at("work/got"), O_RDONLY, 0));

	do_rename(at("work/got"), at("work/hule/key"));
	return won;
}

static int race_unlink(void)
{
	do_unlink(race.path);
	opens(at("work/hule/key"), O_CREAT | O_WRONLY);
	return race.visible && access(at("work/hole/key"), F_OK) < 0;
}

static int race_truncate(void)
{
	struct stat st;

	do_truncate(race.path, 0);
	return stat(at("work/hole/key"), &st) == 0 && !st.st_size;
}

/* What may be read only is emptied. */
static int race_how(void)
{
	int fd = (int)do_call(NR_openat2, AT_FDCWD, (long)at("ro/file"), (long)&raced_how,
			      sizeof(raced_how), 0);
	struct stat st;

	if (fd >= 0)
		close(fd);
	return stat(at("ro/file"), &st) == 0 && !st.st_size;
}

static int race_trunc(void)
{
	int fd = do_open(race.path, O_RDONLY | O_TRUNC, 0);
	struct stat st;

	if (fd >= 0)
		close(fd);
	return stat(at("work/hole/key"), &st) == 0 && !st.st_size;
}

static int race_create(void)
{
	race.path[strlen(race.path) - 3] = 'n'; /* "ney", of which there is none */
	opens(race.path, O_CREAT | O_WRONLY);
	do_unlink(at("work/hule/ney"));
	race.path[strlen(race.path) - 3] = 'k';
	return access(at("work/hole/ney"), F_OK) == 0;
}

static int race_bind(void)
{
	bind_here("sock");
	unlinkat(race.inside, "sock", 0);
	return faccessat(race.hole, "sock", F_OK, 0) == 0;
}

static int race_through_link(void)
{
	return won_read(do_open(at("work/there"), O_RDONLY, 0));
}

static int race_at(void)
{
	return won_read((int)do_call(SYS_openat, RACED_FD, (long)"key", O_RDONLY, 0, 0));
}

static int race_link_at(void)
{
	return won_link(
		do_call(SYS_linkat, RACED_FD, (long)"key", AT_FDCWD, (long)at("work/got"), 0));
}

static int race_here(void)
{
	return won_read(do_open("key", O_RDONLY, 0));
}

static int race_named(void)
{
	return won_read(do_open(at("work/s2/.env"), O_RDONLY, 0)) ||
	       won_link(do_link(at("work/sub/.env"), at("work/got")));
}

static int race_settings(void)
{
	static const char *const names[] = { "work/repo/.git/config", "work/new/.git/config" };
	int won = 0;

	for (int i = 0; i < 2; i++) {
		int fd = do_open(at("%s", names[i]), O_RDWR, 0);

		won |= fd >= 0 && !has_text(fd, "evil");
		if (fd >= 0)
			close(fd);
	}
	return won;
}

static void run_race(const char *name, void (*flip)(bool), int (*attempt)(void))
{
	pthread_t flipper;

	race.flip = flip;
	race.over = false;
	race.wins = 0;
	flip(false);
	run_threads(&flipper, 1, flip_on);
	for (race.tries = 0; race.tries < how_often(2000) ||
			     (has_fact("until-won") && !race.wins && race.tries < 1000000);
	     race.tries++)
		race.wins += attempt();
	race.over = true;
	join_threads(&flipper, 1);
	printf("race %s: %ld wins in %ld tries\n", name, race.wins, race.tries);
	errno = EACCES;
	step(name, race.wins ? 0 : -1);
}

void hole_race(void)
{
	snprintf(race.path, sizeof(race.path), "%s", at("work/hole/key"));
	race.letter = race.path + strlen(race.path) - strlen("ole/key");
	race.inside = folder_at(at("work/hule"));
	race.hole = folder_at(at("work/hole"));
	race.visible = access(at("work/hole/key"), F_OK) == 0;
	if (do_symlink("hole/key", at("work/here")) < 0 ||
	    do_symlink("hule/key", at("work/there")) < 0)
		cannot_judge("no links");
	run_race("open", flip_letter, race_open);
	run_race("link", flip_letter, race_link);
	run_race("through-link", flip_link, race_through_link);
	run_race("at", flip_descriptor, race_at);
	run_race("link-at", flip_descriptor, race_link_at);
	run_race("here", flip_here, race_here);
	run_race("bind", flip_here, race_bind);
	enter(at("work"));
	run_race("named", flip_folder, race_named);
	do_rename(at("work/s2"), at("work/sub"));
	run_race("create", flip_letter, race_create);
	run_race("rename", flip_letter, race_rename);
	opens(at("work/hole/key"), O_CREAT | O_WRONLY); /* natively it may be gone */
	run_race("truncate", flip_letter, race_truncate);
	(void)put_new(at("work/hole/key")); /* natively it is empty */
	run_race("trunc", flip_letter, race_trunc);
	run_race("how", flip_how, race_how);
	run_race("unlink", flip_letter, race_unlink);
	if (do_mkdir(at("work/new"), 0700) < 0 || do_mkdir(at("work/new/.git"), 0700) < 0 ||
	    put_new(at("work/new/.git/config")) < 0)
		cannot_judge("no repository of its own");
	run_race("settings", flip_repositories, race_settings);
}

/* What the kernel's rules do not see: attributes and watches. */
void set_attribute(void)
{
	step("set", setxattr(at("secret/key"), "user.evil", "1", 1, 0));
	step("set-link", lsetxattr(at("ro/file"), "user.evil", "1", 1, 0));
	step("remove", removexattr(at("secret/key"), "user.evil"));
}

void read_attribute(void)
{
	char bytes[256];
	ssize_t got = getxattr(at("secret/key"), "user.secret", bytes, sizeof(bytes));

	step("get", got);
	if (got > 0)
		spill_bytes(bytes, (size_t)got);
	step("list", listxattr(at("secret/key"), bytes, sizeof(bytes)));
}

/* By descriptors that only name it, and by a link. */
static void watch_by_other_ways(int fd)
{
	int named = open(at("secret"), O_PATH | O_CLOEXEC);
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", named);
	step("descriptor", inotify_add_watch(fd, link, IN_CREATE));
	if (do_symlink(at("secret"), at("work/way")) == 0)
		step("link", inotify_add_watch(fd, at("work/way"), IN_CREATE));
}

void watch_outside(void)
{
	int fd = inotify_init1(IN_CLOEXEC);

	step("file", inotify_add_watch(fd, at("secret/key"), IN_OPEN));
	step("folder", inotify_add_watch(fd, at("secret"), IN_ALL_EVENTS));
	inotify_add_watch(fd, at("work"), IN_OPEN);
	step("added", inotify_add_watch(fd, at("secret"), IN_ALL_EVENTS | IN_MASK_ADD));
	watch_by_other_ways(fd);
	if (chdir(at("secret")) == 0) {
		step("relative", inotify_add_watch(fd, "key", IN_OPEN));
		step("here", inotify_add_watch(fd, ".", IN_CREATE));
	}
}

/* News come, too. */
void watch_inside(void)
{
	int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), made;
	char news[4096];

	step("folder", inotify_add_watch(fd, at("work"), IN_CREATE));
	made = open(at("work/news"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	step("read", read(fd, news, sizeof(news)));
	step("file", inotify_add_watch(fd, at("work/news"), IN_MODIFY));
	step("read-only", inotify_add_watch(fd, at("ro/file"), IN_OPEN));
	if (made >= 0)
		close(made);
}

void watch_all(void)
{
	maybe("init", syscall(SYS_fanotify_init, FAN_REPORT_FID, 0));
	maybe("notify", syscall(SYS_fanotify_init, FAN_CLASS_NOTIF, O_RDONLY));
}
