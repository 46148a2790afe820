/* SPDX-License-Identifier: MIT */
/*
 * Makes, lists and removes the folders of runs.
 *
 * A run is alive as long as its folder is locked. Between mkdir and flock a folder has no lock, so
 * a sweeper may take it for left behind: it then holds the lock, or the folder has no links any
 * more, and the maker, who looks for both, makes another one. Sweepers exclude each other by the
 * same lock. Nobody ever waits.
 *
 * Must never touch a run that is locked, trust a base folder that others could have made or can
 * write to, or follow a link.
 */
#include "private.h"
#include "erase.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "out.h"

#define STATUS "policy" /* the compiled policy, and behind it who runs under it */
#define STATUS_MAX 1024
#define TEXT_MAX 255
#define TRIES 16
#define FOLDER (O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

enum place {
	PLACE_TMPDIR,
	PLACE_TMP,
	PLACE_STRAY,
	PLACE_COUNT
};

/* A folder that runs are in. Their names begin with 'prefix'. */
struct base {
	int fd;
	bool shared; /* others have entries there too */
	dev_t dev;
	ino_t ino;
	char prefix[32];
	char path[PATH_MAX];
};

static const char *place_parent(enum place place)
{
	const char *path = place == PLACE_TMPDIR ? secure_getenv("TMPDIR") : "/tmp";

	return path && path[0] == '/' ? path : NULL;
}

/* /tmp is shared, and safe where only owners can take entries away; any other parent is ours. */
static bool is_good_parent(enum place place, const struct stat *stat)
{
	bool shared = stat->st_mode & 022;

	if (place == PLACE_TMPDIR)
		return stat->st_uid == geteuid() && !shared;
	return (stat->st_uid == 0 || stat->st_uid == geteuid()) &&
	       (!shared || stat->st_mode & S_ISVTX);
}

static int open_parent(enum place place, struct base *base)
{
	const char *path = place_parent(place);
	struct stat stat;
	int fd;

	if (!path || !realpath(path, base->path))
		return -ENOENT;
	fd = open(base->path, O_PATH | FOLDER);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0 || !is_good_parent(place, &stat)) {
		close(fd);
		return -ENOENT;
	}
	base->fd = fd;
	base->dev = stat.st_dev;
	base->ino = stat.st_ino;
	return 0;
}

/* Whether the folder is ours alone; 'open_to' is what others must be able to do: 011 or nothing. */
static int check_base(int fd, mode_t open_to, struct base *base)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return -errno;
	if (stat.st_uid != geteuid() || stat.st_mode & 066)
		return -EPERM;
	if ((stat.st_mode & open_to) != open_to && fchmod(fd, 0711) < 0)
		return -errno;
	base->dev = stat.st_dev;
	base->ino = stat.st_ino;
	return 0;
}

/* Replaces the descriptor of the parent by that of the folder 'name' in it. */
static int enter_base(const char *name, bool create, mode_t open_to, struct base *base)
{
	size_t len = strlen(base->path);
	int parent = base->fd, fd, error;
	bool made;

	if (len + 1 + strlen(name) >= sizeof(base->path))
		return -ENAMETOOLONG;
	snprintf(base->path + len, sizeof(base->path) - len, "/%s", name);
	made = create && !mkdirat(parent, name, 0700);
	if (create && !made && errno != EEXIST)
		return -errno;
	fd = made ? launch_erase_open(parent, name) : openat(parent, name, O_RDONLY | FOLDER);
	/* A link, a file, or a folder that we may not even read. */
	if (fd < 0)
		return !made && (errno == EACCES || errno == ELOOP || errno == ENOTDIR) ? -EPERM
											: -ENOENT;
	error = check_base(fd, open_to, base);
	if (error) {
		close(fd);
		return error;
	}
	close(parent);
	base->fd = fd;
	return 0;
}

/*
 * 0, -EPERM when what is there is not private, or another negative errno when there is nothing and
 * nothing can be. Fills base->path as far as it came.
 */
static int open_base(enum place place, bool create, mode_t open_to, struct base *base)
{
	char name[24];
	int error = open_parent(place, base);

	base->shared = place == PLACE_STRAY;
	if (error)
		return error;
	snprintf(base->prefix, sizeof(base->prefix), "run.");
	snprintf(name, sizeof(name), "sbx-%u", (unsigned int)geteuid());
	if (place == PLACE_STRAY)
		snprintf(base->prefix, sizeof(base->prefix), "%s.", name);
	else
		error = enter_base(place == PLACE_TMP ? name : "sbx", create, open_to, base);
	if (error)
		close(base->fd);
	return error;
}

/*
 * The base for a new run. What others cannot have put there is not passed by: it wants repair. Where
 * the program is another user, only /tmp can be reached by both.
 */
static int choose_base(bool foreign, struct base *base, struct launch_error *error)
{
	int failed = -ENOENT;

	for (enum place place = foreign ? PLACE_TMP : PLACE_TMPDIR; place < PLACE_COUNT; place++) {
		failed = open_base(place, true, foreign ? 011 : 0, base);
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

static void random_id(char out[11])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[10] = { 0 };

	/* A poor name is only more often taken: it is made with mkdir, and locked. */
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

/* Locks the folder, unless it is somebody else's or gone: -EAGAIN. */
static int lock_folder(int fd)
{
	struct stat stat;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (fstat(fd, &stat) < 0)
		return -errno;
	return stat.st_nlink ? 0 : -EAGAIN;
}

/* A new, locked folder; its descriptor, or a negative errno. -EAGAIN: try another name. */
static int make_folder(const struct base *base, const char *name, mode_t mode)
{
	int fd, error;

	if (mkdirat(base->fd, name, 0700) < 0)
		return errno == EEXIST ? -EAGAIN : -errno;
	fd = launch_erase_open(base->fd, name);
	/* A sweeper was faster. */
	if (fd < 0)
		return fd == -ENOENT ? -EAGAIN : fd;
	error = lock_folder(fd);
	if (!error && fchmod(fd, mode) < 0)
		error = -errno;
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* A folder in the run's folder, for the program alone. */
static int make_inside(int dir, const char *name, uid_t uid, gid_t gid)
{
	int fd, error = 0;

	if (mkdirat(dir, name, 0700) < 0)
		return -errno;
	fd = launch_erase_open(dir, name);
	if (fd < 0)
		return fd;
	if (fchmod(fd, 0700) < 0 || (uid != geteuid() && fchown(fd, uid, gid) < 0))
		error = -errno;
	close(fd);
	return error;
}

/* When the process began, in ticks since the system's start; 0 when it is gone. */
static uint64_t start_of(pid_t pid)
{
	char path[32], text[1024], *at;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	/* The name may hold anything but ends with the last ')'; the state follows as field 3. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void put_line(struct sbx_out *out, const char *key, const char *text)
{
	sbx_out_str(out, key);
	sbx_out_shortened(out, text, TEXT_MAX, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "\n");
}

static const char *policy_name(const struct sbx_image *image)
{
	uint32_t file = image->main_file;

	return file == SBX_NONE ? "" : sbx_str(image, sbx_files(image)[file].name);
}

static size_t describe(const struct sbx_image *image, const char *const *argv,
		       char text[STATUS_MAX])
{
	char command[2 * TEXT_MAX];
	struct sbx_out out;

	sbx_out_init(&out, command, sizeof(command));
	for (size_t i = 0; argv && argv[i] && out.want < sizeof(command); i++) {
		sbx_out_str(&out, i ? " " : "");
		sbx_out_str(&out, argv[i]);
	}
	sbx_out_finish(&out);
	sbx_out_init(&out, text, STATUS_MAX);
	sbx_out_str(&out, SBX_IMAGE_TRAILER);
	sbx_out_number(&out, (uint64_t)getpid());
	sbx_out_str(&out, "\nsince ");
	sbx_out_number(&out, start_of(getpid()));
	sbx_out_str(&out, "\nstarted ");
	sbx_out_number(&out, (uint64_t)time(NULL));
	sbx_out_str(&out, "\n");
	put_line(&out, "command ", command);
	put_line(&out, "policy ", policy_name(image));
	sbx_out_finish(&out);
	return out.len;
}

/* One file for both: to make and remove another takes longer than all of this. */
static int write_status(const struct sbx_image *image, const char *const *argv, bool foreign,
			int dir)
{
	char text[STATUS_MAX];
	struct iovec parts[] = { { (void *)image, image->size },
				 { text, describe(image, argv, text) } };
	mode_t mode = foreign ? 0444 : 0400;
	ssize_t done;
	int fd = openat(dir, STATUS, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return -errno;
	(void)fchmod(fd, mode);
	done = writev(fd, parts, 2);
	close(fd);
	return done == (ssize_t)(parts[0].iov_len + parts[1].iov_len) ? 0
	       : done < 0					      ? -errno
								      : -ENOSPC;
}

static bool is_private(const struct sbx_image *image, enum sbx_key key)
{
	return !strcmp(sbx_str(image, sbx_setting(image, key)->text), "private");
}

static int make_run(const struct base *base, mode_t mode, struct launch_private *run)
{
	char id[11], name[64];
	int fd = -EAGAIN;

	if (strlen(base->path) + 64 > PATH_MAX)
		return -ENAMETOOLONG;
	for (int try = 0; try < TRIES && fd == -EAGAIN; try++) {
		random_id(id);
		snprintf(name, sizeof(name), "%s%s", base->prefix, id);
		fd = make_folder(base, name, mode);
	}
	if (fd < 0)
		return fd;
	run->lock = fd;
	snprintf(run->dir, sizeof(run->dir), "%.*s/%s", PATH_MAX - 66, base->path, name);
	return 0;
}

static int complain(const struct launch_private *run, int failed, struct launch_error *error)
{
	return launch_fail(error, -failed, "cannot make a folder for this run in '%.512s': %s",
			   run->base, strerror(-failed));
}

int launch_private_make(bool foreign, struct launch_private *out, struct launch_error *error)
{
	struct launch_private run = { .lock = -1 };
	struct base base;
	int failed = -ENOENT;

	/* Somebody may tidy up the empty base before the run is in it. */
	for (int try = 0; try < 3 && failed == -ENOENT; try++) {
		if ((failed = choose_base(foreign, &base, error)))
			return failed;
		memcpy(run.base, base.path, strlen(base.path) + 1);
		failed = make_run(&base, foreign ? 0711 : 0700, &run);
		close(base.fd);
	}
	if (failed)
		return complain(&run, failed, error);
	(void)snprintf(run.tmp, sizeof(run.tmp), "%.*s/tmp", PATH_MAX - 5, run.dir);
	(void)snprintf(run.home, sizeof(run.home), "%.*s/home", PATH_MAX - 6, run.dir);
	*out = run;
	return 0;
}

/* Makes one of the two, or forgets it. */
static int fill(const struct sbx_image *image, enum sbx_key key, uid_t uid, gid_t gid,
		struct launch_private *run, char *path)
{
	if (is_private(image, key))
		return make_inside(run->lock, strrchr(path, '/') + 1, uid, gid);
	path[0] = '\0';
	return 0;
}

int launch_private_fill(const struct sbx_image *image, const char *const *argv, uid_t uid,
			gid_t gid, struct launch_private *run, struct launch_error *error)
{
	int failed = write_status(image, argv, uid != geteuid(), run->lock);

	(void)snprintf(run->image, sizeof(run->image), "%.*s/" STATUS, PATH_MAX - 8, run->dir);
	if (!failed)
		failed = fill(image, SBX_KEY_sandbox_tmp, uid, gid, run, run->tmp);
	if (!failed)
		failed = fill(image, SBX_KEY_sandbox_home, uid, gid, run, run->home);
	return failed ? complain(run, failed, error) : 0;
}

/* Empties and removes a locked run. Who still fills it is not waited for. */
static int remove_run(int base, const char *name, int fd)
{
	struct stat mine, there;
	int error = -ENOTEMPTY;

	for (int try = 0; try < 3 && error == -ENOTEMPTY; try++) {
		error = launch_erase(fd);
		if (error)
			continue;
		if (fstat(fd, &mine) < 0 || fstatat(base, name, &there, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		if (mine.st_dev != there.st_dev || mine.st_ino != there.st_ino)
			return -ESTALE;
		error = unlinkat(base, name, AT_REMOVEDIR) < 0 ? -errno : 0;
	}
	return error;
}

void launch_private_remove(struct launch_private *run)
{
	const char *slash = strrchr(run->dir, '/');
	int base;

	if (!slash || run->lock < 0)
		return;
	/* The program may have taken all rights away from its own user. */
	(void)fchmod(run->lock, 0700);
	base = openat(run->lock, "..", O_PATH | FOLDER);
	if (base >= 0) {
		(void)remove_run(base, slash + 1, run->lock);
		close(base);
	}
	close(run->lock);
	*run = (struct launch_private){ .lock = -1 };
}

/* Calls 'each' for every folder of this user in the base that has the name of a run. */
static int each_folder(const struct base *base,
		       int (*each)(const struct base *base, const char *name, int fd, void *arg),
		       void *arg)
{
	int fd = openat(base->fd, ".", O_RDONLY | FOLDER), count = 0;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	struct stat stat;

	while (dir && (entry = readdir(dir))) {
		int run;

		if (strncmp(entry->d_name, base->prefix, strlen(base->prefix)) != 0)
			continue;
		run = openat(base->fd, entry->d_name, O_PATH | FOLDER);
		if (run < 0)
			continue;
		/* What is ours and open to others may have been moved there by them. */
		if (!fstat(run, &stat) && stat.st_uid == geteuid() &&
		    !(base->shared && stat.st_mode & 022))
			count += each(base, entry->d_name, run, arg);
		close(run);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	return count;
}

/*
 * All bases where runs may be. /tmp itself is only searched when /tmp/sbx-UID is not ours, or not
 * there although it is the one to be used: only then a run can have been put beside it.
 */
static int each_base(int (*each)(const struct base *base, void *arg), void *arg)
{
	struct base base, first = { .fd = -1 };
	bool own = false, search = false;
	int count = 0;

	for (enum place place = PLACE_TMPDIR; place < PLACE_COUNT; place++) {
		int error;

		if (place == PLACE_STRAY && !search)
			break;
		error = open_base(place, false, 0, &base);
		own |= !error;
		search = error == -EPERM || (place == PLACE_TMP && !own);
		if (error)
			continue;
		if (first.fd < 0 || base.dev != first.dev || base.ino != first.ino)
			count += each(&base, arg);
		close(base.fd);
		if (place == PLACE_TMPDIR)
			first = base;
	}
	return count;
}

static int sweep_folder(const struct base *base, const char *name, int found, void *arg)
{
	/* The program may have taken all rights away from its own user. */
	int fd = launch_erase_open(base->fd, name), removed = 0;
	struct stat stat;

	(void)found;
	(void)arg;
	if (fd < 0)
		return 0;
	if (!fstat(fd, &stat) && stat.st_uid == geteuid() && !lock_folder(fd))
		removed = !remove_run(base->fd, name, fd);
	close(fd);
	return removed;
}

static int sweep_base(const struct base *base, void *arg)
{
	return each_folder(base, sweep_folder, arg);
}

int launch_private_sweep(void)
{
	return each_base(sweep_base, NULL);
}

struct listing {
	void (*each)(const struct launch_run *run, void *arg);
	void *arg;
};

/* Where the image in the file ends, or -1 when there is none. */
static off_t image_end(int fd)
{
	struct sbx_image image;
	struct stat stat;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() ||
	    pread(fd, &image, sizeof(image), 0) != sizeof(image) ||
	    memcmp(image.magic, SBX_IMAGE_MAGIC, sizeof(image.magic)) != 0)
		return -1;
	return (off_t)image.size;
}

static size_t read_status(int dir, char text[STATUS_MAX])
{
	int fd = openat(dir, STATUS, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	off_t from = fd < 0 ? -1 : image_end(fd);
	ssize_t len = from < 0 ? -1 : pread(fd, text, STATUS_MAX - 1, from);

	if (fd >= 0)
		close(fd);
	return len < 0 ? 0 : (size_t)len;
}

/* The rest of the line that begins with 'key', or "". */
static void status_text(const char *status, const char *key, char out[TEXT_MAX + 1])
{
	size_t key_len = strlen(key), len;

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, key_len) != 0)
			continue;
		len = strcspn(line + key_len, "\n");
		snprintf(out, TEXT_MAX + 1, "%.*s", (int)(len > TEXT_MAX ? TEXT_MAX : len),
			 line + key_len);
		return;
	}
	out[0] = '\0';
}

static uint64_t status_number(const char *status, const char *key)
{
	char text[TEXT_MAX + 1];

	status_text(status, key, text);
	return text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : 0;
}

/* The launcher, when the process is the one that wrote it or, out of our sight, holds the lock. */
static pid_t living(int found, pid_t pid, uint64_t since)
{
	int fd;
	bool held;

	if (pid > 0 && since && start_of(pid) == since)
		return pid;
	fd = openat(found, ".", O_RDONLY | FOLDER);
	if (fd < 0)
		return 0;
	held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	close(fd);
	return held ? pid : 0;
}

static int list_folder(const struct base *base, const char *name, int found, void *arg)
{
	const struct listing *listing = arg;
	struct launch_run run = { 0 };
	char status[STATUS_MAX];
	struct sbx_out id;
	struct stat stat;
	const char *own = name + strlen(base->prefix);

	status[read_status(found, status)] = '\0';
	sbx_out_init(&id, run.id, sizeof(run.id));
	sbx_out_escaped(&id, own, strlen(own), SBX_ESCAPE_PLAIN);
	sbx_out_finish(&id);
	status_text(status, "command ", run.command);
	status_text(status, "policy ", run.policy);
	run.started = (time_t)status_number(status, "started ");
	if (!run.started && !fstat(found, &stat))
		run.started = stat.st_mtime;
	run.launcher = living(found, (pid_t)status_number(status, SBX_IMAGE_TRAILER),
			      status_number(status, "since "));
	listing->each(&run, listing->arg);
	return 1;
}

static int list_base(const struct base *base, void *arg)
{
	return each_folder(base, list_folder, arg);
}

int launch_private_list(void (*each)(const struct launch_run *run, void *arg), void *arg)
{
	struct listing listing = { each, arg };

	return each_base(list_base, &listing);
}
