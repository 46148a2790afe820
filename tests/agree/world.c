/* SPDX-License-Identifier: MIT */
/* A planted tree, seen as one number, and brought back to what it was; see agree.h. */
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

/* What kind of file it is, and which of those that were planted, if any. */
static uint64_t look_at(const struct world *world, int folder, const struct dirent64 *entry,
			uint64_t name)
{
	uint64_t hash = mix(name, entry->d_type);
	struct stat st;

	for (size_t i = 0; i < world->grown.count; i++)
		if (world->inodes[i] == entry->d_ino)
			hash = mix(hash, i + 1);
	if (entry->d_type != DT_REG || fstatat(folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return hash;
	return mix(mix(mix(hash, st.st_mode), (uint64_t)st.st_size), st.st_nlink);
}

static uint64_t look_into(const struct world *world, int fd, uint64_t name);

/* Entries come in any order, so their hashes are added up. */
static uint64_t look_at_all(const struct world *world, int folder, const char *at, const char *end,
			    uint64_t name)
{
	uint64_t sum = 0;

	while (at < end) {
		const struct dirent64 *entry = (const void *)at;
		uint64_t hash = mix_text(name * 31, entry->d_name);

		at += entry->d_reclen;
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		sum += look_at(world, folder, entry, hash);
		if (entry->d_type == DT_DIR)
			sum += look_into(world,
					 openat(folder, entry->d_name,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC),
					 hash);
	}
	return sum;
}

/* Done a million times in a long run: hence without readdir(). The few names come at once. */
static uint64_t look_into(const struct world *world, int fd, uint64_t name)
{
	_Alignas(struct dirent64) char bytes[2048];
	ssize_t got = fd < 0 ? -1 : getdents64(fd, bytes, sizeof(bytes));
	uint64_t sum = got < 0 ? mix(name, 1) : look_at_all(world, fd, bytes, bytes + got, name);

	if (fd >= 0)
		close(fd);
	return sum;
}

uint64_t world_picture(const struct world *world)
{
	return look_into(world, open(world->grown.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC), 1);
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

void world_plant(struct world *world)
{
	const struct grown *grown = &world->grown;

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
	world->picture = world_picture(world);
}

/* What was removed from its place, or moved over. */
static void put_back(struct world *world, const struct sbx_image *image, const char *path)
{
	const struct grown_entry *entry = grown_find(&world->grown, path);
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
	world->spoiled = world->spoiled || (entry->kind == '/' && grown_named(image, path));
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

bool world_undo(struct world *world, const struct sbx_image *image, enum act act, const char *path,
		const char *to)
{
	bool planted = grown_find(&world->grown, path);

	if (act == ACT_EXCHANGE)
		(void)renameat2(AT_FDCWD, path, AT_FDCWD, to, RENAME_EXCHANGE);
	else if (act == ACT_LINK)
		(void)unlink(to);
	else if (act == ACT_RENAME)
		(void)rename(to, path);
	else if (acts[act].op == SBX_OP_CREATE && !planted)
		(void)remove(path);
	else if (acts[act].op != SBX_OP_DELETE)
		refill(path);
	put_back(world, image, path);
	if (act == ACT_RENAME)
		put_back(world, image, to);
	return world_picture(world) == world->picture;
}
