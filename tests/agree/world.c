/* SPDX-License-Identifier: MIT */
/* Planted trees, seen as numbers, and brought back to what they were; see agree.h. */
#include "agree.h"

#include <dirent.h>

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return hash;
}

/* Where one is looking. */
struct eye {
	const struct world *world;
	struct picture sum;
	char path[PATH_MAX]; /* as rules call it */
};

void world_call(const char *from, const char *to, char *text)
{
	size_t len = strlen(from);

	for (char *at = text; (at = strstr(at, from)); at += len)
		memcpy(at, to, len);
}

bool world_hides(const struct world *world, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	if (!world->hides)
		return false;
	sbx_eval(world->image, &request, &verdict);
	return !verdict.allowed && verdict.code == SBX_CODE_HIDDEN;
}

/* Which of those that were planted it is, if any. */
static uint64_t recognize(const struct world *world, const struct dirent64 *entry, uint64_t name)
{
	uint64_t hash = mix(name, entry->d_type);

	for (size_t i = 0; i < world->grown.count; i++)
		if (world->inodes[i] == entry->d_ino)
			hash = mix(hash, i + 1);
	return hash;
}

/* And what kind of file. */
static uint64_t look_at(const struct world *world, int folder, const struct dirent64 *entry,
			uint64_t name)
{
	uint64_t hash = recognize(world, entry, name);
	struct stat st;

	if (entry->d_type != DT_REG || fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return hash;
	return mix(mix(mix(hash, st.st_mode), (uint64_t)st.st_size), st.st_nlink);
}

static void look_into(struct eye *eye, size_t len, int fd, uint64_t name);

/*
 * Entries come in any order, so their hashes are added up. What is hidden may be moved along, and be
 * changed under another name.
 */
static void look_at_one(struct eye *eye, size_t len, int folder, const struct dirent64 *entry,
			uint64_t name)
{
	uint64_t hash = mix_text(name * 31, entry->d_name);
	uint64_t sum = look_at(eye->world, folder, entry, hash);

	len += (size_t)snprintf(eye->path + len, sizeof(eye->path) - len, "/%s", entry->d_name);
	eye->sum.all += sum;
	if (world_hides(eye->world, eye->path))
		eye->sum.hidden += recognize(eye->world, entry, 1);
	else
		eye->sum.seen += sum;
	if (entry->d_type == DT_DIR)
		look_into(eye, len,
			  openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC), hash);
}

/* Done a million times in a long run: hence without readdir(). The few names come at once. */
static void look_into(struct eye *eye, size_t len, int fd, uint64_t name)
{
	_Alignas(struct dirent64) char bytes[2048];
	ssize_t got = fd < 0 ? -1 : getdents64(fd, bytes, sizeof(bytes));

	eye->sum.all += got < 0 ? mix(name, 1) : 0;
	for (ssize_t at = 0; at < got;) {
		const struct dirent64 *entry = (const void *)(bytes + at);

		at += entry->d_reclen;
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			look_at_one(eye, len, fd, entry, name);
	}
	if (fd >= 0)
		close(fd);
}

uint32_t world_unseen(const struct world *world, const char *folder)
{
	char path[PATH_MAX];
	DIR *stream = opendir(folder);
	const struct dirent *entry;
	uint32_t sum = 0;

	while (stream && (entry = readdir(stream))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (world_hides(world, path))
			sum += actor_name(entry->d_name);
	}
	if (stream)
		closedir(stream);
	return sum;
}

struct picture world_picture(const struct world *world)
{
	struct eye eye = { .world = world };

	(void)snprintf(eye.path, sizeof(eye.path), "%s", world->called);
	look_into(&eye, strlen(eye.path),
		  open(world->grown.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 1);
	return eye.sum;
}

static bool is_file(const struct grown_entry *entry)
{
	return entry->kind == 'f' || entry->kind == 'h';
}

static const char *path_of(const struct world *world, const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", world->grown.root, name);
	return path;
}

static const char *spare_of(const struct world *world, const struct grown_entry *entry)
{
	static char path[sizeof(world->spare) + 16];

	snprintf(path, sizeof(path), "%s/%zu", world->spare,
		 (size_t)(entry - world->grown.entries));
	return path;
}

/* Remembers which file it is. */
static void know(struct world *world, const struct grown_entry *entry, const char *path)
{
	struct stat st;

	world->inodes[entry - world->grown.entries] = lstat(path, &st) == 0 ? st.st_ino : 0;
}

void world_copy(const struct world *from, struct world *to)
{
	to->grown.count = from->grown.count;
	memcpy(to->grown.entries, from->grown.entries, sizeof(to->grown.entries));
	to->grown.uid = from->grown.uid;
	to->grown.closed = from->grown.closed;
	for (size_t i = 0; i < to->grown.count; i++)
		world_call(from->grown.root, to->grown.root, to->grown.entries[i].target);
}

void world_plant(struct world *world)
{
	const struct grown *grown = &world->grown;

	world->image = NULL;
	world->hides = false;
	memset(world->gone, 0, sizeof(world->gone));
	grown_plant(grown);
	wipe(world->spare);
	if (mkdir(world->spare, 0755) < 0)
		BAIL_OUT("cannot make %s", world->spare);
	for (size_t i = 0; i < grown->count; i++) {
		const struct grown_entry *entry = &grown->entries[i];
		const char *path = path_of(world, entry->path);

		if (is_file(entry) &&
		    linkat(AT_FDCWD, path, AT_FDCWD, spare_of(world, entry), 0) < 0)
			BAIL_OUT("cannot link %s", path);
		know(world, entry, path);
	}
	grown_close(grown);
	world->spoiled = false;
}

void world_rule(struct world *world, const struct sbx_image *image)
{
	world->image = image;
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++)
		world->hides |= sbx_rules(image)[i].kind == SBX_RULE_HIDE;
	world->picture = world_picture(world);
}

/* A rule may give back what is not there yet. */
static bool is_given_back(const struct sbx_image *image, const char *folder)
{
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];

		if (rule->kind <= SBX_RULE_SET && rule->rights && rule->flags & SBX_RULE_GLOB)
			return true;
	}
	return grown_granted(image, folder);
}

/* Files are put away, so that their other names do not become fewer. */
static bool take_away(const struct world *world, const struct grown_entry *entry, const char *path)
{
	char away[sizeof(world->spare) + 24];

	if (entry->kind == '/')
		return !is_given_back(world->image, path) && rmdir(path) == 0;
	if (entry->kind == 'l')
		return unlink(path) == 0;
	snprintf(away, sizeof(away), "%s.away", spare_of(world, entry));
	return rename(path, away) == 0;
}

void world_bare(struct world *world)
{
	const struct grown *grown = &world->grown;

	if (!world->hides)
		return;
	for (size_t i = 0; i < grown->count; i++)
		if (grown->entries[i].kind == '/' && grown->entries[i].mode != 0755)
			(void)chmod(path_of(world, grown->entries[i].path), 0755);
	for (size_t i = grown->count; i > 0; i--) {
		const char *path = path_of(world, grown->entries[i - 1].path);

		if (world_hides(world, path))
			world->gone[i - 1] = take_away(world, &grown->entries[i - 1], path);
	}
	for (size_t i = grown->count; i > 0; i--) {
		const struct grown_entry *entry = &grown->entries[i - 1];

		if (entry->kind == '/' && entry->mode != 0755 && !world->gone[i - 1] &&
		    chmod(path_of(world, entry->path), entry->mode) < 0)
			BAIL_OUT("cannot close %s", entry->path);
	}
	world->picture = world_picture(world);
}

/* NULL also for what was taken away. */
static const struct grown_entry *find(const struct world *world, const char *path)
{
	const struct grown_entry *entry = grown_find(&world->grown, path);

	return entry && !world->gone[entry - world->grown.entries] ? entry : NULL;
}

/* What was removed from its place, or moved over. */
static void put_back(struct world *world, const char *path)
{
	const struct grown_entry *entry = find(world, path);
	char called[PATH_MAX];
	struct stat st;

	if (!entry || lstat(path, &st) == 0)
		return;
	if (is_file(entry)) {
		if (linkat(AT_FDCWD, spare_of(world, entry), AT_FDCWD, path, 0) < 0)
			diag("cannot link %s again", path);
		return;
	}
	grown_put(&world->grown, entry);
	if (entry->kind == '/' && chmod(path, entry->mode) < 0)
		BAIL_OUT("cannot close %s", path);
	know(world, entry, path);
	snprintf(called, sizeof(called), "%s", path);
	world_call(world->grown.root, world->called, called);
	world->spoiled |= entry->kind == '/' && grown_named(world->image, called);
}

/* What was truncated. */
static void refill(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 || write(fd, PUT_BYTES, strlen(PUT_BYTES)) < 0)
		diag("cannot write %s again", path);
	if (fd >= 0)
		close(fd);
}

bool world_undo(struct world *world, enum act act, const char *called, const char *called_to)
{
	char path[PATH_MAX], to[PATH_MAX];

	snprintf(path, sizeof(path), "%s", called);
	snprintf(to, sizeof(to), "%s", called_to ? called_to : "");
	world_call(world->called, world->grown.root, path);
	world_call(world->called, world->grown.root, to);
	if (act == ACT_EXCHANGE)
		(void)renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_EXCHANGE);
	else if (act == ACT_LINK)
		(void)unlink(to);
	else if (act == ACT_RENAME)
		(void)rename(to, path);
	else if (acts[act].op == SBX_OP_CREATE && !find(world, path))
		(void)remove(path);
	else if (acts[act].op != SBX_OP_DELETE)
		refill(path);
	put_back(world, path);
	if (act == ACT_RENAME)
		put_back(world, to);
	return world_picture(world).all == world->picture.all;
}
