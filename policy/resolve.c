/* SPDX-License-Identifier: MIT */
/*
 * Walks a path component by component, as the kernel does, and says where it ends.
 *
 * The part that was walked stands in walk->path and never has a link, "." or ".." in it; what is
 * still to be walked stands at the end of walk->text, so that a link's text is put in front of it
 * without moving anything. No recursion: a link costs one round of the loop.
 *
 * Must never change anything, keep a descriptor, or answer for a place that it could not look at.
 */
#include "resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's own bound */
#define FIRST_BUCKETS 256u /* a power of two */
#define LIST_AFTER 64u /* names asked of one folder, before it is read as a whole */
#define LIST_SOON 61u /* where a small folder starts to count */
#define LIST_SMALL 4096 /* its size in bytes: one block, or what tmpfs says of 200 entries */
#define LIST_BYTES 65536 /* of entries read then: some 2,000 */

/*
 * A place that was met before: a folder, a link, nothing at all (mode 0), or any entry of a folder
 * that was listed. The text is "where it is", NUL, "what the link says", NUL.
 */
struct known {
	struct known *next;
	uint64_t hash;
	size_t len;
	mode_t mode;
	unsigned int asked; /* of a folder: how many names it let us look for, up to LIST_AFTER */
	bool rough; /* from a listing: the mode has only the type, a link no text */
	char text[];
};

struct sbx_resolve_cache {
	struct known **buckets;
	size_t bucket_count;
	size_t count;
	char entries[LIST_BYTES] __attribute__((aligned(8))); /* of the folder being listed */
};

struct walk {
	struct sbx_resolve_cache *cache;
	struct known *known; /* the cache's entry for 'path', or NULL */
	char *rest; /* inside 'text' */
	uint64_t hash; /* of 'path'; kept only for the cache */
	unsigned int flags;
	unsigned int links;
	mode_t mode; /* of what 'path' names; only its type is sure while 'seen' is false */
	int64_t size;
	size_t len;
	size_t existing;
	bool seen;
	bool missing;
	bool unseen;
	bool pinned; /* 'path' ends in a link of /proc that no path can stand for */
	bool through_link;
	char path[PATH_MAX]; /* "" is the root */
	char text[2 * PATH_MAX];
};

/* FNV-1a, which grows with the path byte by byte. */
static uint64_t hash_more(uint64_t hash, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
	return hash;
}

static uint64_t hash_path(const char *path, size_t len)
{
	return hash_more(0xcbf29ce484222325u, path, len);
}

struct sbx_resolve_cache *sbx_resolve_cache_new(void)
{
	struct sbx_resolve_cache *cache = malloc(sizeof(*cache));

	if (!cache)
		return NULL;
	/* Not all of it: the buffer for listings is large and mostly not touched. */
	cache->count = 0;
	cache->bucket_count = FIRST_BUCKETS;
	cache->buckets = calloc(cache->bucket_count, sizeof(*cache->buckets));
	if (!cache->buckets) {
		free(cache);
		return NULL;
	}
	return cache;
}

void sbx_resolve_cache_free(struct sbx_resolve_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < cache->bucket_count; i++) {
		struct known *next;

		for (struct known *known = cache->buckets[i]; known; known = next) {
			next = known->next;
			free(known);
		}
	}
	free(cache->buckets);
	free(cache);
}

/* Without memory the cache merely stays as small as it is. */
static void cache_grow(struct sbx_resolve_cache *cache)
{
	size_t wider = cache->bucket_count * 2;
	struct known **buckets = calloc(wider, sizeof(*buckets));

	if (!buckets)
		return;
	for (size_t i = 0; i < cache->bucket_count; i++) {
		struct known *next;

		for (struct known *known = cache->buckets[i]; known; known = next) {
			struct known **home = &buckets[known->hash & (wider - 1)];

			next = known->next;
			known->next = *home;
			*home = known;
		}
	}
	free(cache->buckets);
	cache->buckets = buckets;
	cache->bucket_count = wider;
}

static struct known *cache_find(const struct sbx_resolve_cache *cache, uint64_t hash,
				const char *path, size_t len)
{
	struct known *known = cache ? cache->buckets[hash & (cache->bucket_count - 1)] : NULL;

	while (known &&
	       (known->hash != hash || known->len != len || memcmp(known->text, path, len)))
		known = known->next;
	return known;
}

/* Links of /proc mean something else for every process and from one moment to the next. */
static bool is_below_proc(const char *path)
{
	return !strncmp(path, "/proc/", strlen("/proc/"));
}

static struct known *cache_add(struct sbx_resolve_cache *cache, uint64_t hash, const char *path,
			       size_t len, mode_t mode, const char *target)
{
	size_t target_size = strlen(target) + 1;
	struct known *known, **home;

	if (!cache || is_below_proc(path))
		return NULL;
	if (cache->count >= cache->bucket_count)
		cache_grow(cache);
	known = malloc(sizeof(*known) + len + 1 + target_size);
	if (!known)
		return NULL;
	*known = (struct known){ .hash = hash, .len = len, .mode = mode };
	memcpy(known->text, path, len);
	known->text[len] = '\0';
	memcpy(known->text + len + 1, target, target_size);
	home = &cache->buckets[hash & (cache->bucket_count - 1)];
	known->next = *home;
	*home = known;
	cache->count++;
	return known;
}

static void cache_add_entry(struct sbx_resolve_cache *cache, const struct known *folder,
			    const struct dirent64 *entry)
{
	char path[PATH_MAX + NAME_MAX + 2];
	size_t len = folder->len, name_len = strlen(entry->d_name);
	struct known *known;
	uint64_t hash;

	memcpy(path, folder->text, len);
	path[len] = '/';
	memcpy(path + len + 1, entry->d_name, name_len);
	hash = hash_more(folder->hash, path + len, 1 + name_len);
	len += 1 + name_len;
	if (len >= PATH_MAX || cache_find(cache, hash, path, len))
		return;
	known = cache_add(cache, hash, path, len, DTTOIF(entry->d_type), "");
	if (!known)
		return;
	known->rough = true;
	known->asked = LIST_SOON;
}

/*
 * A look-up costs several times what an entry of a listing does, once enough of them are wanted. One
 * call reads as many as fit; what it leaves out is looked up by name as before.
 */
static void cache_list(struct sbx_resolve_cache *cache, const struct known *folder)
{
	char *entries = cache->entries;
	int fd = open(folder->text, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);
	ssize_t size;

	if (fd < 0)
		return;
	size = getdents64(fd, entries, LIST_BYTES);
	(void)close(fd);
	for (ssize_t at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(entries + at);

		if (entry->d_type != DT_UNKNOWN && strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0)
			cache_add_entry(cache, folder, entry);
		at += entry->d_reclen;
	}
}

/* Makes 'path' end after 'len' bytes again. */
static void cut_to(struct walk *walk, size_t len)
{
	walk->len = len;
	walk->path[len] = '\0';
	walk->hash = walk->cache ? hash_path(walk->path, len) : 0;
	walk->known = NULL;
}

static int append(struct walk *walk, const char *name, size_t len)
{
	char *end = walk->path + walk->len;

	if (len > NAME_MAX || walk->len + 1 + len >= PATH_MAX)
		return -ENAMETOOLONG;
	end[0] = '/';
	memcpy(end + 1, name, len);
	end[1 + len] = '\0';
	if (walk->cache)
		walk->hash = hash_more(walk->hash, end, 1 + len);
	walk->len += 1 + len;
	return 0;
}

static void take_mode(struct walk *walk, mode_t mode, int64_t size)
{
	walk->mode = mode;
	walk->size = S_ISREG(mode) ? size : -1;
	walk->seen = true;
}

/* The cache's answer about 'path', an entry of 'folder', as far as there is one. */
static struct known *look_back(struct walk *walk, struct known *folder)
{
	bool rough = walk->flags & SBX_RESOLVE_TYPE;
	struct known *known = cache_find(walk->cache, walk->hash, walk->path, walk->len);

	if (!known && rough && folder && folder->asked == LIST_AFTER) {
		folder->asked++;
		cache_list(walk->cache, folder);
		known = cache_find(walk->cache, walk->hash, walk->path, walk->len);
	}
	return known && (rough || !known->rough) ? known : NULL;
}

/* What stands at 'path' itself, links not followed. */
static int look(struct walk *walk, struct known *folder)
{
	struct stat st;

	walk->known = look_back(walk, folder);
	if (walk->known) {
		take_mode(walk, walk->known->mode, -1);
		return walk->mode ? 0 : -ENOENT;
	}
	if (fstatat(AT_FDCWD, walk->len ? walk->path : "/", &st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno == EACCES && (walk->flags & SBX_RESOLVE_UNSEEN)) {
			walk->unseen = true;
			return -ENOENT;
		}
		if (errno != ENOENT)
			return -errno;
		st.st_mode = 0;
	}
	if (folder && folder->asked < LIST_AFTER)
		folder->asked++;
	if (!st.st_mode || S_ISDIR(st.st_mode))
		walk->known =
			cache_add(walk->cache, walk->hash, walk->path, walk->len, st.st_mode, "");
	if (walk->known && st.st_mode && st.st_size <= LIST_SMALL)
		walk->known->asked = LIST_SOON;
	take_mode(walk, st.st_mode, st.st_size);
	return st.st_mode ? 0 : -ENOENT;
}

static void skip_slashes(struct walk *walk)
{
	while (*walk->rest == '/')
		walk->rest++;
}

/*
 * "." and "..": the kernel wants to search the folder for both. In the middle of a path the look at
 * the next name tells as much, so "." costs nothing there.
 */
static int walk_dots(struct walk *walk, size_t dots)
{
	size_t len = walk->len;
	struct stat st;
	int result;

	if (walk->missing)
		return dots == 2 ? -ENOENT : 0;
	skip_slashes(walk);
	if (dots == 1 && *walk->rest)
		return 0;
	result = append(walk, "..", dots);
	if (result < 0)
		return result;
	result = fstatat(AT_FDCWD, walk->path, &st, 0) < 0 ? -errno : 0;
	while (dots == 2 && len > 0 && walk->path[--len] != '/')
		;
	cut_to(walk, len);
	if (result == 0)
		take_mode(walk, st.st_mode, st.st_size);
	return result;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat at_a, at_b;

	return !fstatat(AT_FDCWD, a, &at_a, 0) && !fstatat(AT_FDCWD, b, &at_b, 0) &&
	       at_a.st_dev == at_b.st_dev && at_a.st_ino == at_b.st_ino;
}

/*
 * Whether the text of a link below /proc is a path to where the link leads: "pipe:[7]", a deleted
 * file and another mount namespace are not to be found by their text.
 */
static bool is_text_true(const struct walk *walk, size_t folder_len, const char *target)
{
	char beside[2 * PATH_MAX];
	size_t size = strlen(target) + 1;

	if (target[0] == '/')
		return is_same_file(walk->path, target);
	memcpy(beside, walk->path, folder_len);
	beside[folder_len] = '/';
	memcpy(beside + folder_len + 1, target, size);
	return is_same_file(walk->path, beside);
}

/* The link itself is the answer; what is there is asked through it. */
static int pin(struct walk *walk)
{
	struct stat st;

	if (fstatat(AT_FDCWD, walk->path, &st, 0) < 0)
		return -errno;
	take_mode(walk, st.st_mode, st.st_size);
	walk->pinned = true;
	return 0;
}

/* What the link at 'path' says: its length, or a negative errno. */
static ssize_t read_link(struct walk *walk, char target[PATH_MAX])
{
	ssize_t len;

	if (walk->known && !walk->known->rough) {
		const char *text = walk->known->text + walk->known->len + 1;

		len = (ssize_t)strlen(text);
		memcpy(target, text, (size_t)len + 1);
		return len;
	}
	len = readlinkat(AT_FDCWD, walk->path, target, PATH_MAX);
	if (len < 0)
		return -errno;
	if (len == PATH_MAX)
		return -ENAMETOOLONG;
	target[len] = '\0';
	if (!walk->known)
		cache_add(walk->cache, walk->hash, walk->path, walk->len, walk->mode, target);
	return len;
}

static int follow(struct walk *walk, size_t folder_len)
{
	char target[PATH_MAX];
	ssize_t len;

	if (walk->links++ >= MAX_LINKS)
		return -ELOOP;
	len = read_link(walk, target);
	if (len <= 0)
		return len < 0 ? (int)len : -ENOENT;
	if (is_below_proc(walk->path) && !is_text_true(walk, folder_len, target))
		return pin(walk);
	if (len > walk->rest - walk->text)
		return -ENAMETOOLONG;
	walk->rest -= len;
	memcpy(walk->rest, target, (size_t)len);
	cut_to(walk, target[0] == '/' ? 0 : folder_len);
	walk->mode = S_IFDIR;
	walk->size = -1;
	walk->seen = false;
	walk->through_link = true;
	return 0;
}

static int walk_name(struct walk *walk, const char *name, size_t len)
{
	struct known *folder = walk->known;
	size_t folder_len = walk->len;
	int result = append(walk, name, len);

	if (result < 0 || walk->missing)
		return result;
	result = look(walk, folder);
	if (result == -ENOENT && walk->flags & SBX_RESOLVE_MISSING) {
		walk->missing = true;
		walk->seen = true;
		walk->existing = folder_len ? folder_len : 1;
		walk->mode = 0;
		walk->size = -1;
		return 0;
	}
	if (result < 0 || !S_ISLNK(walk->mode))
		return result;
	/* A slash behind the last name means what the link leads to, whatever the flags say. */
	if (walk->flags & SBX_RESOLVE_NOFOLLOW && !*walk->rest)
		return 0;
	return follow(walk, folder_len);
}

static int walk_all(struct walk *walk)
{
	for (;;) {
		const char *name;
		size_t len;
		int result;

		if (*walk->rest == '/' && !walk->missing && !S_ISDIR(walk->mode))
			return -ENOTDIR;
		skip_slashes(walk);
		if (!*walk->rest)
			return walk->seen ? 0 : look(walk, NULL);
		if (walk->pinned)
			return -ELOOP;
		name = walk->rest;
		while (*walk->rest && *walk->rest != '/')
			walk->rest++;
		len = (size_t)(walk->rest - name);
		if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
			result = walk_dots(walk, len);
		else
			result = walk_name(walk, name, len);
		if (result < 0)
			return result;
	}
}

/* Puts "CWD/PATH", or PATH alone when it is absolute, at the end of 'text'. */
static int walk_init(struct walk *walk, const char *cwd, const char *path)
{
	size_t path_len = strlen(path), cwd_len = path[0] == '/' ? 0 : strlen(cwd);

	if (!path_len)
		return -ENOENT;
	if (path_len >= PATH_MAX || cwd_len >= PATH_MAX)
		return -ENAMETOOLONG;
	if (cwd_len && cwd[0] != '/')
		return -EINVAL;
	walk->rest = walk->text + sizeof(walk->text) - 1 - path_len;
	memcpy(walk->rest, path, path_len + 1);
	if (cwd_len) {
		*--walk->rest = '/';
		walk->rest -= cwd_len;
		memcpy(walk->rest, cwd, cwd_len);
	}
	walk->mode = S_IFDIR;
	walk->size = -1;
	cut_to(walk, 0);
	return 0;
}

int sbx_resolve_path(const char *cwd, const char *path, unsigned int flags,
		     struct sbx_resolve_cache *cache, struct sbx_resolved *out)
{
	struct walk walk; /* large: the parts that matter are set one by one */
	int result;

	memset(&walk, 0, offsetof(struct walk, path));
	walk.cache = cache;
	walk.flags = flags;
	result = walk_init(&walk, cwd, path);
	if (result == 0)
		result = walk_all(&walk);
	if (result < 0)
		return result;
	if (!walk.len)
		append(&walk, "", 0);
	memcpy(out->path, walk.path, walk.len + 1);
	out->unseen = walk.unseen;
	out->existing = walk.missing ? walk.existing : walk.len;
	out->mode = walk.mode;
	out->size = walk.size;
	out->through_link = walk.through_link;
	return 0;
}
