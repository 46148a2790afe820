/* SPDX-License-Identifier: MIT */
/*
 * Makes, lists and removes what runs have: see base.h for where, and for the races.
 *
 * Must never touch what a living run has, or follow a link.
 */
#include "private.h"
#include "base.h"
#include "registry.h"
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "out.h"

#define NAME_ROOM 160 /* of the longest name in a base, with that of a stray base */

static const struct launch_private nothing = {
	.base_fd = -1, .registry_fd = -1, .lock = -1, .tmp_lock = -1, .home_lock = -1
};

static void random_id(char out[11])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[10] = { 0 };

	/* A poor name is only more often taken, which is an error. */
	if (getrandom(bytes, sizeof(bytes), GRND_NONBLOCK) != sizeof(bytes)) {
		struct timespec now = { 0 };
		uint64_t seed;

		clock_gettime(CLOCK_MONOTONIC, &now);
		seed = (uint64_t)now.tv_nsec << 20 ^ (uint64_t)getpid();
		memcpy(bytes, &seed, sizeof(seed));
	}
	for (size_t i = 0; i < sizeof(bytes); i++)
		out[i] = digits[bytes[i] % 32];
	out[sizeof(bytes)] = '\0';
}

/* Beside the name that somebody took, a folder of this run alone; locked by its descriptor. */
static int enter_stray(const char *id, bool foreign, struct launch_base *base)
{
	size_t len = strlen(base->path);
	char name[64];
	int fd;

	launch_entry_name(KIND_STRAY, id, name);
	fd = launch_entry_make(base->fd, name, true, foreign ? 0711 : 0700);
	close(base->fd);
	base->fd = fd;
	if (fd >= 0)
		snprintf(base->path + len, sizeof(base->path) - len, "/%s", name);
	return fd < 0 ? fd : 0;
}

static int open_place(enum launch_where place, const char *id, bool foreign,
		      struct launch_base *base)
{
	int failed = launch_base_open(place, true, foreign, base);

	if (!failed && strlen(base->path) + NAME_ROOM > PATH_MAX) {
		close(base->fd);
		failed = -ENAMETOOLONG;
	}
	return !failed && place == PLACE_STRAY ? enter_stray(id, foreign, base) : failed;
}

/*
 * The base for a new run. What others cannot have put there is not passed by: it wants repair. Where
 * the program is another user, only /tmp can be reached by both.
 */
static int choose_base(const char *id, bool foreign, struct launch_base *base,
		       struct launch_error *error)
{
	int failed = -ENOENT;

	for (int place = foreign ? PLACE_TMP : PLACE_TMPDIR; place <= PLACE_STRAY; place++) {
		failed = open_place(place, id, foreign, base);
		if (!failed)
			return 0;
		if (failed == -EPERM && place < PLACE_TMP)
			return launch_fail(error, EPERM,
					   "'%.512s' is not a private folder of this user (remove "
					   "it, or make it one: owner %u, mode 0700, no link)",
					   base->path, (unsigned int)geteuid());
	}
	return launch_fail(error, -failed,
			   "no place for the folder of this run (set TMPDIR to a folder of yours "
			   "that others cannot write to)");
}

static void put_path(char out[PATH_MAX], const char *folder, enum launch_kind kind, const char *id)
{
	char name[64];

	launch_entry_name(kind, id, name);
	(void)snprintf(out, PATH_MAX, "%.*s/%s", PATH_MAX - 66, folder, name);
}

int launch_private_make(bool foreign, struct launch_private *out, struct launch_error *error)
{
	struct launch_private run = nothing;
	struct launch_base base;
	int failed;

	random_id(run.id);
	if ((failed = choose_base(run.id, foreign, &base, error)))
		return failed;
	run.base_fd = base.fd;
	run.is_stray = base.shared;
	put_path(run.tmp, base.path, KIND_TMP, run.id);
	put_path(run.home, base.path, KIND_HOME, run.id);
	if (run.is_stray)
		*strrchr(base.path, '/') = '\0';
	memcpy(run.base, base.path, strlen(base.path) + 1);
	*out = run;
	return 0;
}

static const char *last_of(const char *path)
{
	return strrchr(path, '/') + 1;
}

/* Somebody may tidy up the empty base before anything is in it. */
static int enter_again(bool foreign, struct launch_private *run)
{
	struct launch_error ignored;
	struct launch_base base;
	int failed = run->is_stray ? -ENOENT : choose_base(run->id, foreign, &base, &ignored);

	if (failed)
		return failed;
	if (base.shared || strcmp(base.path, run->base) != 0) {
		close(base.fd);
		return -ESTALE;
	}
	close(run->base_fd);
	run->base_fd = base.fd;
	return 0;
}

/* Mounts it on the very folder that 'run' has; the new descriptor of it, or a negative errno. */
static int mount_over(const char *path, int tmpfs, const struct launch_private *run)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), failed = 0;
	struct stat mine, there;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &there) < 0 || fstat(run->base_fd, &mine) < 0 ||
	    mine.st_dev != there.st_dev || mine.st_ino != there.st_ino)
		failed = -ESTALE;
	else if (move_mount(tmpfs, "", fd, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) <
		 0)
		failed = -errno;
	close(fd);
	if (failed)
		return failed;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int launch_private_limit(uint64_t size, bool foreign, struct launch_private *run,
			 struct launch_error *error)
{
	char path[PATH_MAX];
	int tmpfs = launch_space_tmpfs(size, foreign ? 0711 : 0700), fd = tmpfs;

	memcpy(path, run->tmp, sizeof(path));
	*strrchr(path, '/') = '\0';
	if (tmpfs >= 0) {
		fd = mount_over(path, tmpfs, run);
		close(tmpfs);
	}
	if (fd < 0)
		return launch_fail(error, -fd,
				   "'disk' in [limits]: a tmpfs cannot be mounted on '%.512s': %s",
				   path, strerror(-fd));
	close(run->base_fd);
	run->base_fd = fd;
	return 0;
}

static bool is_private(const struct sbx_image *image, enum sbx_key key)
{
	return !strcmp(sbx_str(image, sbx_setting(image, key)->text), "private");
}

/* A folder for the program alone, where the policy wants it and it is not there yet. */
static int make_folder(const struct sbx_image *image, enum sbx_key key, uid_t uid, gid_t gid,
		       struct launch_private *run)
{
	bool is_tmp = key == SBX_KEY_sandbox_tmp;
	int *lock = is_tmp ? &run->tmp_lock : &run->home_lock, fd;

	if (*lock >= 0 || !is_private(image, key))
		return 0;
	fd = launch_entry_make(run->base_fd, last_of(is_tmp ? run->tmp : run->home), true, 0700);
	if (fd < 0)
		return fd;
	*lock = fd;
	return uid != geteuid() && fchown(fd, uid, gid) < 0 ? -errno : 0;
}

/* In memory, or with the data where that cannot be had. */
static int open_registry(bool in_memory, bool foreign, struct launch_private *run)
{
	struct launch_base base;
	int failed = 0;

	if (in_memory) {
		failed = launch_base_open(PLACE_MEMORY, true, foreign, &base);
	} else {
		memcpy(base.path, run->tmp, sizeof(base.path));
		*strrchr(base.path, '/') = '\0';
		base.fd = fcntl(run->base_fd, F_DUPFD_CLOEXEC, 3);
		failed = base.fd < 0 ? -errno : 0;
	}
	if (failed)
		return failed;
	run->registry_fd = base.fd;
	put_path(run->image, base.path, KIND_RUN, run->id);
	if (in_memory)
		memcpy(run->registry, base.path, strlen(base.path) + 1);
	else
		memcpy(run->registry, run->base, sizeof(run->registry));
	return 0;
}

static void leave(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static bool drop(int folder, const char *path, int *fd)
{
	bool gone = *fd < 0 || launch_entry_remove(folder, last_of(path), *fd) == 0;

	leave(fd);
	return gone;
}

/* The run's file, where the first place takes it: memory may be not there, taken, or full. */
static int enroll(const struct sbx_image *image, const char *const *argv, bool foreign,
		  struct launch_private *run)
{
	int failed = 0;

	for (int in_memory = 1; run->lock < 0 && in_memory >= 0; in_memory--) {
		failed = open_registry(in_memory, foreign, run);
		if (failed)
			continue;
		failed = launch_entry_make(run->registry_fd, last_of(run->image), false,
					   foreign ? 0444 : 0400);
		if (failed >= 0) {
			run->lock = failed;
			failed = launch_registry_write(image, argv, run->lock);
		}
		if (failed) {
			(void)drop(run->registry_fd, run->image, &run->lock);
			leave(&run->registry_fd);
		}
	}
	return failed;
}

static int fill(const struct sbx_image *image, const char *const *argv, uid_t uid, gid_t gid,
		struct launch_private *run)
{
	int failed = enroll(image, argv, uid != geteuid(), run);

	if (!failed)
		failed = make_folder(image, SBX_KEY_sandbox_tmp, uid, gid, run);
	if (!failed)
		failed = make_folder(image, SBX_KEY_sandbox_home, uid, gid, run);
	return failed;
}

int launch_private_fill(const struct sbx_image *image, const char *const *argv, uid_t uid,
			gid_t gid, struct launch_private *run, struct launch_error *error)
{
	int failed = fill(image, argv, uid, gid, run);

	for (int try = 0; try < 3 && failed == -ENOENT; try++) {
		failed = enter_again(uid != geteuid(), run);
		if (!failed)
			failed = fill(image, argv, uid, gid, run);
	}
	if (failed)
		return launch_fail(error, -failed,
				   "cannot make a folder for this run in '%.512s': %s", run->base,
				   strerror(-failed));
	if (run->tmp_lock < 0)
		run->tmp[0] = '\0';
	if (run->home_lock < 0)
		run->home[0] = '\0';
	return 0;
}

/* The base of a stray run is an entry itself. */
static void drop_stray(struct launch_private *run)
{
	int parent = openat(run->base_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[64];

	launch_entry_name(KIND_STRAY, run->id, name);
	if (parent < 0)
		return;
	(void)launch_entry_remove(parent, name, run->base_fd);
	close(parent);
}

void launch_private_remove(struct launch_private *run)
{
	bool gone;

	if (!run->id[0])
		return;
	gone = drop(run->base_fd, run->tmp, &run->tmp_lock);
	gone &= drop(run->base_fd, run->home, &run->home_lock);
	/* As long as something is left, there is word of what it was. */
	if (gone)
		(void)drop(run->registry_fd, run->image, &run->lock);
	leave(&run->lock);
	leave(&run->registry_fd);
	if (run->is_stray)
		drop_stray(run);
	leave(&run->base_fd);
	*run = nothing;
}

struct survey {
	struct launch_base bases[PLACE_COUNT];
	int count;
	void (*each)(const struct launch_run *run, void *arg);
	void *arg;
};

static int survey(struct survey *survey, int (*each)(const struct launch_entry *entry, void *arg))
{
	int sum = 0;

	survey->count = launch_base_open_all(survey->bases);
	/* The registry, which says what it was, comes last. */
	for (int i = survey->count - 1; i >= 0; i--)
		sum += launch_base_each(&survey->bases[i], each, survey);
	launch_base_close_all(survey->bases, survey->count);
	return sum;
}

static bool has(const struct launch_base *base, enum launch_kind kind, const char *id)
{
	char name[64];

	launch_entry_name(kind, id, name);
	return base->shared == (kind == KIND_STRAY) &&
	       faccessat(base->fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Whether there is something of the same run of a kind before 'end'. */
static bool has_other(const struct survey *survey, const struct launch_entry *entry,
		      enum launch_kind end)
{
	for (enum launch_kind kind = 0; kind < end; kind++) {
		if (has(entry->base, kind, entry->id))
			return true;
		for (int i = 0; i < survey->count; i++)
			if (has(&survey->bases[i], kind, entry->id))
				return true;
	}
	return false;
}

/* A run counts when the last of it is gone. */
static int sweep_entry(const struct launch_entry *entry, void *arg)
{
	return launch_entry_sweep(entry) == 0 && !has_other(arg, entry, KIND_COUNT);
}

int launch_private_sweep(void)
{
	struct survey all;

	return survey(&all, sweep_entry);
}

static int list_entry(const struct launch_entry *entry, void *arg);

static int list_stray(int fd, void *arg)
{
	const struct launch_base base = { .fd = fd };

	return launch_base_each(&base, list_entry, arg);
}

/* Of what a run has, the first is listed; and a file is all that knows of a living one. */
static int list_open(const struct launch_entry *entry, int fd, bool alive, const struct survey *all)
{
	struct launch_run run = { 0 };
	struct sbx_out id;
	struct stat stat;

	if (entry->kind != KIND_RUN && alive)
		return 0;
	sbx_out_init(&id, run.id, sizeof(run.id));
	sbx_out_escaped(&id, entry->id, strlen(entry->id), SBX_ESCAPE_PLAIN);
	sbx_out_finish(&id);
	if (entry->kind == KIND_RUN)
		launch_registry_read(fd, alive, &run);
	else if (!fstat(fd, &stat))
		run.started = stat.st_mtime;
	all->each(&run, all->arg);
	return 1;
}

static int list_entry(const struct launch_entry *entry, void *arg)
{
	bool alive = false;
	int fd, count;

	if (entry->kind != KIND_STRAY && has_other(arg, entry, entry->kind))
		return 0;
	fd = launch_entry_open(entry, &alive);
	if (fd < 0)
		return 0;
	count = entry->kind == KIND_STRAY ? list_stray(fd, arg) : list_open(entry, fd, alive, arg);
	close(fd);
	return count;
}

int launch_private_list(void (*each)(const struct launch_run *run, void *arg), void *arg)
{
	struct survey all = { .each = each, .arg = arg };

	return survey(&all, list_entry);
}
