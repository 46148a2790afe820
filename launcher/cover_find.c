/* SPDX-License-Identifier: MIT */
/*
 * Finds what to mask. Decides nothing about requests: asks the engine where rights are lost.
 *
 * A mask is only put where nothing below it has more than the mask leaves; and a rule counts as held
 * when everything that it takes away is behind a mask, and never else. Where that cannot be known,
 * because there is too much to look at or a folder cannot be looked into, the rule is the broker's.
 */
#include "cover.h"

#include "engine.h"
#include "hold.h"
#include "watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define MASKS_MOST 4000 /* a mount takes some 15 us, and the kernel's own limit is 100,000 */
#define SEEN_MOST 50000 /* entries, for all patterns together */

/* What is being found. */
struct finding {
	const struct sbx_image *image;
	const char *const *keep;
	uid_t uid;
	struct launch_covers *out;
	bool lost; /* out of memory */
};

/* A folder that is looked into for what patterns match. */
struct scan {
	struct finding *finding;
	char path[PATH_MAX];
};

static const struct sbx_rule *rule_of(const struct finding *f, uint32_t index)
{
	return &sbx_rules(f->image)[index];
}

static const char *path_of(const struct finding *f, uint32_t index)
{
	return sbx_str(f->image, rule_of(f, index)->path);
}

/* The path's rights, and the rule that speaks against reading it, or SBX_NONE. */
static uint8_t rights_at(const struct finding *f, const char *path, uint32_t *rule)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(f->image, &request, &verdict);
	*rule = verdict.allowed ? SBX_NONE : verdict.rule;
	return verdict.rights & PATH_RIGHTS;
}

/* Whether a rule may give something below a folder that a mask leaving 'rights' would take. */
static bool gives_below(const struct finding *f, uint32_t index, const char *folder, uint8_t rights)
{
	const struct sbx_rule *rule = rule_of(f, index);
	const char *path = path_of(f, index);
	size_t len = strlen(folder), literal = launch_literal_len(path);

	if (rule->kind > SBX_RULE_SET || (rule->flags & SBX_RULE_ABSENT) ||
	    !(rule->rights & (uint8_t)~rights))
		return false;
	if (!(rule->flags & SBX_RULE_GLOB))
		return launch_is_within(path, folder, len) && strlen(path) > len;
	return launch_is_within(folder, path, literal) || launch_is_within(path, folder, len);
}

static bool is_in_the_way(const struct finding *f, const char *path, bool folder, uint8_t rights)
{
	size_t len = strlen(path);

	/* What is there differs for every process, and goes away with it. */
	if (len == 1 || launch_is_within(path, "/proc", strlen("/proc")))
		return true;
	for (const char *const *keep = f->keep; *keep; keep++)
		if (launch_is_within(*keep, path, len))
			return true;
	for (uint32_t i = 0; folder && i < sbx_count(f->image, SBX_TABLE_rules); i++)
		if (gives_below(f, i, path, rights))
			return true;
	return false;
}

static bool push(struct finding *f, const struct launch_cover *mask)
{
	struct launch_covers *out = f->out;

	if (out->count == MASKS_MOST)
		return false;
	if (out->count == out->room) {
		size_t room = out->room ? 2 * out->room : 32;
		struct launch_cover *bigger = reallocarray(out->list, room, sizeof(*bigger));

		f->lost |= !bigger;
		if (!bigger)
			return false;
		out->list = bigger;
		out->room = room;
	}
	out->list[out->count] = *mask;
	out->list[out->count].path = strdup(mask->path);
	f->lost |= !out->list[out->count].path;
	out->count += !f->lost;
	return !f->lost;
}

/* Puts a mask over what loses some of 'above' and has 'here'. False: it cannot be. */
static bool mask(struct finding *f, uint32_t rule, const char *path, uint8_t above, uint8_t here)
{
	struct launch_cover found = { .path = (char *)path, .rule = rule, .denied = !here };
	struct stat st;

	if (lstat(path, &st) < 0 || S_ISLNK(st.st_mode) ||
	    is_in_the_way(f, path, S_ISDIR(st.st_mode), here))
		return false;
	found.folder = S_ISDIR(st.st_mode);
	found.dev = st.st_dev;
	found.ino = st.st_ino;
	if (above & SBX_RIGHT_WRITE & (uint8_t)~here)
		found.attributes |= MOUNT_ATTR_RDONLY;
	if (above & SBX_RIGHT_EXEC & (uint8_t)~here)
		found.attributes |= MOUNT_ATTR_NOEXEC;
	return push(f, &found);
}

/*
 * What is denied there can only be made, which is the broker's to refuse; but not what we make there
 * ourselves, or the kernel.
 */
static bool is_nothing(const struct finding *f, const char *path, uint8_t here)
{
	struct stat st;

	return !here && lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR) &&
	       !is_in_the_way(f, path, false, here);
}

/* A rule about one place. */
static void find_place(struct finding *f, uint32_t index)
{
	const uint16_t others = SBX_RULE_GLOB | SBX_RULE_ABSENT;
	const struct sbx_rule *rule = rule_of(f, index);
	const char *path = path_of(f, index);
	uint8_t above, here;

	if ((rule->kind != SBX_RULE_DENY && rule->kind != SBX_RULE_SET) || rule->flags & others ||
	    launch_has_conditions(f->image, rule))
		return;
	above = launch_rights_above(f->image, path);
	here = launch_rights_at(f->image, path);
	/* What the folder above has not, some rule above has taken, and answers for it. */
	f->out->held[index] = !(above & (uint8_t)~here) || is_nothing(f, path, here) ||
			      mask(f, index, path, above, here);
}

static bool is_pattern(const struct sbx_rule *rule)
{
	return rule->kind == SBX_RULE_DENY && rule->flags & SBX_RULE_GLOB &&
	       !(rule->flags & SBX_RULE_ABSENT);
}

static bool scan_folder(struct scan *scan, size_t len, int fd, uint8_t rights);

/* A folder that the program could open to itself must have been seen; others are closed to it. */
static bool scan_below(struct scan *scan, size_t len, int parent, const char *name, uint8_t rights)
{
	struct stat st;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0)
		return scan_folder(scan, len, fd, rights);
	if (errno == EACCES)
		return fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		       st.st_uid != scan->finding->uid;
	return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
}

static bool is_folder_entry(int fd, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool scan_entry(struct scan *scan, size_t len, int fd, const struct dirent *entry,
		       uint8_t above)
{
	struct finding *f = scan->finding;
	size_t name = strlen(entry->d_name);
	uint32_t rule;
	uint8_t here;

	if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
		return true;
	if (f->out->seen++ == SEEN_MOST || len + 1 + name >= sizeof(scan->path))
		return false;
	/* Of a link, what it leads to counts. */
	if (entry->d_type == DT_LNK)
		return true;
	scan->path[len] = '/';
	memcpy(scan->path + len + 1, entry->d_name, name + 1);
	here = rights_at(f, scan->path, &rule);
	if (above && !here && rule != SBX_NONE && is_pattern(rule_of(f, rule)))
		return mask(f, rule, scan->path, above, here);
	return !is_folder_entry(fd, entry) ||
	       scan_below(scan, len + 1 + name, fd, entry->d_name, here);
}

/* Takes the descriptor. False: not all could be seen, or masked. */
static bool scan_folder(struct scan *scan, size_t len, int fd, uint8_t rights)
{
	DIR *folder = fdopendir(fd);
	struct dirent *entry;
	bool good = folder;

	if (!folder) {
		(void)close(fd);
		return false;
	}
	errno = 0;
	while (good && (entry = readdir(folder))) {
		good = scan_entry(scan, len, fd, entry, rights);
		errno = 0;
	}
	good &= !errno;
	(void)closedir(folder);
	return good;
}

/* Where both a pattern and a rule that grants something can speak; NULL: nowhere. */
static const char *meeting(const struct finding *f, uint32_t pattern, uint32_t rule,
			   char out[PATH_MAX])
{
	const struct sbx_rule *other = rule_of(f, rule);
	const char *glob = path_of(f, pattern), *path = path_of(f, rule);
	size_t literal = launch_literal_len(glob);
	/* Folders of this run are empty yet. */
	const uint16_t none = SBX_RULE_ABSENT | SBX_RULE_MISSING | SBX_RULE_FREE;

	if (other->kind > SBX_RULE_SET || other->flags & none || !(other->rights & PATH_RIGHTS) ||
	    literal >= PATH_MAX)
		return NULL;
	if (!(other->flags & SBX_RULE_GLOB) && launch_is_within(path, glob, literal))
		return path;
	if (!launch_is_within(glob, path,
			      other->flags & SBX_RULE_GLOB ? launch_literal_len(path)
							   : strlen(path)))
		return NULL;
	memcpy(out, glob, literal);
	out[literal] = '\0';
	return out;
}

/* Each place once: what lies in one that was looked at was seen with it. */
static bool was_scanned(char *const *done, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (launch_is_within(path, done[i], strlen(done[i])))
			return true;
	return false;
}

static bool scan_root(struct finding *f, const char *path)
{
	struct scan *scan;
	struct stat st;
	size_t len = strlen(path);
	uint32_t rule;
	uint8_t here = rights_at(f, path, &rule);
	bool good;

	if (lstat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR;
	if (len == 1 || launch_is_within(path, "/proc", 5) || launch_is_within(path, "/sys", 4))
		return false;
	/* The place itself may match. */
	if (!here && rule != SBX_NONE && is_pattern(rule_of(f, rule)) &&
	    launch_rights_above(f->image, path))
		return mask(f, rule, path, launch_rights_above(f->image, path), here);
	if (!S_ISDIR(st.st_mode))
		return true;
	scan = malloc(sizeof(*scan));
	f->lost |= !scan;
	if (!scan)
		return false;
	scan->finding = f;
	memcpy(scan->path, path, len + 1);
	good = scan_below(scan, len, AT_FDCWD, path, here);
	free(scan);
	return good;
}

/* All places where a pattern may take something away. */
static bool scan_all(struct finding *f)
{
	uint32_t count = sbx_count(f->image, SBX_TABLE_rules);
	char **done = NULL, place[PATH_MAX];
	size_t done_count = 0;
	bool good = true;

	for (uint32_t i = 0; i < count && good; i++) {
		for (uint32_t j = 0; is_pattern(rule_of(f, i)) && j < count && good; j++) {
			const char *root = meeting(f, i, j, place);
			char **bigger;

			if (!root || was_scanned(done, done_count, root))
				continue;
			bigger = reallocarray(done, done_count + 1, sizeof(*done));
			done = bigger ? bigger : done;
			f->lost |= !bigger || !(done[done_count++] = strdup(root));
			good = !f->lost && scan_root(f, root);
		}
	}
	for (size_t i = 0; i < done_count; i++)
		free(done[i]);
	free(done);
	return good;
}

static void find_patterns(struct finding *f)
{
	uint32_t count = sbx_count(f->image, SBX_TABLE_rules), patterns = 0;
	size_t before = f->out->count;
	uint64_t started;

	for (uint32_t i = 0; i < count; i++)
		patterns += is_pattern(rule_of(f, i));
	if (!patterns)
		return;
	started = launch_now();
	f->out->cut = !scan_all(f);
	f->out->ms = launch_now() - started;
	/* Half of them would serve nobody. */
	for (; f->out->cut && f->out->count > before; f->out->count--)
		free(f->out->list[f->out->count - 1].path);
	for (uint32_t i = 0; i < count; i++)
		if (is_pattern(rule_of(f, i)))
			f->out->held[i] = !f->out->cut;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct launch_cover *)a)->path,
		      ((const struct launch_cover *)b)->path);
}

/* What lies behind a mask needs none; nor does the same place a second one. */
static void drop_covered(struct launch_covers *covers)
{
	size_t kept = 0;

	if (!covers->list)
		return;
	qsort(covers->list, covers->count, sizeof(*covers->list), by_path);
	for (size_t i = 0; i < covers->count; i++) {
		struct launch_cover *mask = &covers->list[i];
		bool covered = false;

		for (size_t j = 0; j < kept && !covered; j++)
			covered = (covers->list[j].denied ||
				   !strcmp(covers->list[j].path, mask->path)) &&
				  launch_is_within(mask->path, covers->list[j].path,
						   strlen(covers->list[j].path));
		if (covered)
			free(mask->path);
		else
			covers->list[kept++] = *mask;
	}
	covers->count = kept;
}

int launch_covers_find(const struct sbx_image *image, uid_t uid, const char *const *keep,
		       struct launch_covers *out, struct launch_error *error)
{
	uint32_t count = sbx_count(image, SBX_TABLE_rules);
	struct launch_covers covers = { .rules = count, .held = calloc(count + 1, sizeof(bool)) };
	struct finding f = { .image = image, .keep = keep, .uid = uid, .out = &covers };

	f.lost = !covers.held;
	for (uint32_t i = 0; i < count && !f.lost; i++)
		find_place(&f, i);
	if (!f.lost)
		find_patterns(&f);
	if (f.lost) {
		launch_covers_done(&covers);
		return launch_fail(error, ENOMEM, "out of memory");
	}
	drop_covered(&covers);
	*out = covers;
	return 0;
}
