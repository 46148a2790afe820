/* SPDX-License-Identifier: MIT */
/*
 * Walks a path component by component, as the kernel does, and says where it ends.
 *
 * The part that was walked stands in walk->path and never has a link, "." or ".." in it; what is
 * still to be walked stands at the end of walk->text, so that a link's text is put in front of it
 * without moving anything. No recursion: a link costs one round of the loop.
 *
 * Only the last name is looked at closely, and only when somebody wants to know what stands there:
 * of all others readlink() tells enough, in half the time. What must be a folder and is none is found
 * out by the kernel, at the next name.
 *
 * Must never change anything, keep a descriptor beyond the cache it belongs to, or answer for a place
 * that it could not look at.
 */
#include "resolve.h"

#include "arena.h"
#include "contract.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_LINKS 40 /* the kernel's own bound */
#define FIRST_BUCKETS 1024u /* a power of two */
#define MAX_OPEN 4u
/* How many names are asked of one folder before it is opened, and, if it is not too large, listed. */
#define OPEN_AFTER 1u
#define LIST_AFTER 8u
#define LIST_LARGE_AFTER 64u
#define LIST_SMALL 4096 /* its size in bytes: one block, or what tmpfs says of 200 entries */
#define LIST_LARGE 65536

/*
 * A place that was met before. Its mode is 0 when nothing is there, and S_IFDIR when it is no link
 * and not looked at any closer.
 */
struct known {
	struct known *next; /* in the same bucket */
	struct known *folder; /* where it stands; the root stands in itself */
	const char *target; /* what the link says; NULL while that was not read */
	uint32_t hash;
	mode_t mode;
	uint16_t path_len;
	uint8_t name_len;
	uint8_t asked; /* how many names the folder let us look for, up to LIST_LARGE_AFTER */
	char name[];
};

struct sbx_resolve_cache {
	struct sbx_arena arena;
	struct known **buckets;
	size_t bucket_count;
	size_t count;
	struct known *root;
	struct known *last; /* the folder of the last answer; 'path' is where it stands */
	struct {
		struct known *folder;
		int fd;
	} open[MAX_OPEN]; /* each inside the one before */
	size_t open_count;
	char path[PATH_MAX];
	char entries[LIST_LARGE] __attribute__((aligned(8))); /* of the folder being listed */
};

struct walk {
	struct sbx_resolve_cache *cache;
	const struct sbx_viewer *viewer; /* NULL: ourselves */
	struct known *known; /* the cache's entry for 'path'; NULL where there is no cache */
	struct known *folder; /* of the name that 'path' ends in, likewise */
	char *rest; /* inside 'text' */
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

/* A name in a folder, as the cache looks for it. */
struct name {
	struct known *folder; /* NULL: there is no cache */
	const char *bytes;
	size_t len;
	uint32_t hash;
};

static struct name name_in(struct known *folder, const char *bytes, size_t len)
{
	uint64_t hash = folder ? folder->hash + len : 0, word = 0;
	size_t at = 0;

	for (; folder && len - at >= sizeof(word); at += sizeof(word)) {
		memcpy(&word, bytes + at, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	for (word = 0; folder && at < len; at++)
		word = word << 8 | (unsigned char)bytes[at];
	hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
	return (struct name){ folder, bytes, len, (uint32_t)(hash >> 32) };
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

static struct known *cache_find(const struct sbx_resolve_cache *cache, const struct name *name)
{
	struct known *known = cache->buckets[name->hash & (cache->bucket_count - 1)];

	while (known &&
	       (known->hash != name->hash || known->folder != name->folder ||
		known->name_len != name->len || memcmp(known->name, name->bytes, name->len) != 0))
		known = known->next;
	return known;
}

/* Links of /proc mean something else for every process and from one moment to the next. */
static bool is_proc(const struct name *name)
{
	return name->folder && name->folder->path_len == 0 && name->len == 4 &&
	       !memcmp(name->bytes, "proc", 4);
}

/* NULL: it cannot be kept, and neither can what is below it. Only the root is in no folder. */
static struct known *cache_add(struct sbx_resolve_cache *cache, const struct name *name,
			       mode_t mode, const char *target)
{
	const struct known *folder = name->folder;
	struct known *known, **home;

	if (is_proc(name))
		return NULL;
	if (cache->count >= cache->bucket_count)
		cache_grow(cache);
	known = sbx_arena_take(&cache->arena, sizeof(*known) + name->len, _Alignof(struct known));
	if (!known)
		return NULL;
	*known = (struct known){ .folder = folder ? name->folder : known,
				 .target = target,
				 .hash = name->hash,
				 .mode = mode,
				 .path_len =
					 (uint16_t)(folder ? folder->path_len + 1 + name->len : 0),
				 .name_len = (uint8_t)name->len };
	memcpy(known->name, name->bytes, name->len);
	home = &cache->buckets[known->hash & (cache->bucket_count - 1)];
	known->next = *home;
	*home = known;
	cache->count++;
	return known;
}

struct sbx_resolve_cache *sbx_resolve_cache_new(void)
{
	struct sbx_resolve_cache *cache = malloc(sizeof(*cache));
	const struct name root = { .bytes = "" };

	if (!cache)
		return NULL;
	/* Not all of it: the buffer for listings is large and mostly not touched. */
	memset(cache, 0, offsetof(struct sbx_resolve_cache, path));
	cache->bucket_count = FIRST_BUCKETS;
	cache->buckets = calloc(cache->bucket_count, sizeof(*cache->buckets));
	if (cache->buckets)
		cache->root = cache->last = cache_add(cache, &root, S_IFDIR, NULL);
	if (cache->root)
		return cache;
	sbx_resolve_cache_free(cache);
	return NULL;
}

void sbx_resolve_cache_free(struct sbx_resolve_cache *cache)
{
	if (!cache)
		return;
	while (cache->open_count)
		(void)close(cache->open[--cache->open_count].fd);
	sbx_arena_done(&cache->arena);
	free(cache->buckets);
	free(cache);
}

int sbx_open_unheard(int dir, const char *path, int flags)
{
	return (int)syscall(SYS_openat, dir, path, flags, 0, 0, SBX_VOUCHER);
}

/* Also true of the folder itself. */
static bool is_inside(const struct known *place, const struct known *folder)
{
	while (place->path_len > folder->path_len)
		place = place->folder;
	return place == folder;
}

/* One call reads as many entries as fit; what it leaves out is looked up by name as before. */
static void cache_list(struct sbx_resolve_cache *cache, struct known *folder, int fd)
{
	ssize_t size = getdents64(fd, cache->entries, sizeof(cache->entries));

	for (ssize_t at = 0; at < size;) {
		const struct dirent64 *entry = (const struct dirent64 *)(cache->entries + at);
		struct name name = name_in(folder, entry->d_name, strlen(entry->d_name));

		if (entry->d_type != DT_UNKNOWN && strcmp(name.bytes, ".") != 0 &&
		    strcmp(name.bytes, "..") != 0 && folder->path_len + 1 + name.len < PATH_MAX &&
		    !cache_find(cache, &name))
			(void)cache_add(cache, &name, DTTOIF(entry->d_type), NULL);
		at += entry->d_reclen;
	}
}

/*
 * Once enough names are wanted of a folder, to ask them of its descriptor costs half of what whole
 * paths do, and an entry of a listing half of that.
 */
static void cache_open(struct sbx_resolve_cache *cache, struct known *folder, const char *path)
{
	int fd = sbx_open_unheard(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		return;
	while (cache->open_count == MAX_OPEN ||
	       (cache->open_count && !is_inside(folder, cache->open[cache->open_count - 1].folder)))
		(void)close(cache->open[--cache->open_count].fd);
	cache->open[cache->open_count].folder = folder;
	cache->open[cache->open_count++].fd = fd;
}

/* Lists a folder that is open still, unless it is too large for the few names that were asked. */
static void cache_try_list(struct sbx_resolve_cache *cache, struct known *folder)
{
	off_t most = folder->asked < LIST_LARGE_AFTER ? LIST_SMALL : LIST_LARGE;
	struct stat st;

	for (size_t i = 0; i < cache->open_count; i++)
		if (cache->open[i].folder == folder && !fstat(cache->open[i].fd, &st) &&
		    st.st_size <= most)
			cache_list(cache, folder, cache->open[i].fd);
}

static bool is_open(const struct sbx_resolve_cache *cache, const struct known *folder)
{
	for (size_t i = 0; i < cache->open_count; i++)
		if (cache->open[i].folder == folder)
			return true;
	return false;
}

/* The descriptor from which the kernel has the shortest way, and the rest of the way. */
static int cache_start(const struct sbx_resolve_cache *cache, const struct known *folder,
		       const char **path)
{
	for (size_t i = cache->open_count; i-- > 0;) {
		if (is_inside(folder, cache->open[i].folder)) {
			*path += cache->open[i].folder->path_len + 1;
			return cache->open[i].fd;
		}
	}
	return AT_FDCWD;
}

/* Makes 'path' end after 'len' bytes again, where 'known' stands. */
static void cut_to(struct walk *walk, size_t len, struct known *known)
{
	walk->len = len;
	walk->path[len] = '\0';
	walk->known = known;
	walk->folder = NULL;
}

static int append(struct walk *walk, const char *name, size_t len)
{
	char *end = walk->path + walk->len;

	if (len > NAME_MAX || walk->len + 1 + len >= PATH_MAX)
		return -ENAMETOOLONG;
	end[0] = '/';
	memcpy(end + 1, name, len);
	end[1 + len] = '\0';
	walk->len += 1 + len;
	return 0;
}

static bool is_below_proc(const char *path)
{
	return !strncmp(path, "/proc/", strlen("/proc/"));
}

static void take_mode(struct walk *walk, mode_t mode, int64_t size)
{
	walk->mode = mode;
	walk->size = S_ISREG(mode) ? size : -1;
	walk->seen = true;
}

/* What an errno means for what 'path' names: it is missing, or we cannot know. */
static int look_failed(struct walk *walk, int error)
{
	if (error == EACCES && (walk->flags & SBX_RESOLVE_UNSEEN)) {
		walk->unseen = true;
		return -ENOENT;
	}
	return -error;
}

/* What stands at 'path' itself, links not followed. */
static int look_closely(struct walk *walk)
{
	struct stat st;

	if (fstatat(AT_FDCWD, walk->len ? walk->path : "/", &st, AT_SYMLINK_NOFOLLOW) < 0)
		return look_failed(walk, errno);
	take_mode(walk, st.st_mode, st.st_size);
	return 0;
}

/* What the two links say to the viewer; 0: 'path' is neither of them. */
static ssize_t read_view(const struct walk *walk, char target[PATH_MAX])
{
	const struct sbx_viewer *viewer = walk->viewer;

	if (!viewer || !is_below_proc(walk->path))
		return 0;
	if (!strcmp(walk->path, "/proc/self"))
		return snprintf(target, PATH_MAX, "%d", (int)viewer->process);
	if (!strcmp(walk->path, "/proc/thread-self"))
		return snprintf(target, PATH_MAX, "%d/task/%d", (int)viewer->process,
				(int)viewer->thread);
	return 0;
}

/* readlink() of 'path': the length, or a negative errno; -EINVAL when it is no link. */
static ssize_t read_link(const struct walk *walk, char target[PATH_MAX])
{
	const char *path = walk->path;
	int fd = walk->folder ? cache_start(walk->cache, walk->folder, &path) : AT_FDCWD;
	ssize_t len = readlinkat(fd, path, target, PATH_MAX);

	if (len < 0)
		return -errno;
	if (len == PATH_MAX)
		return -ENAMETOOLONG;
	target[len] = '\0';
	return len;
}

/* Asks the kernel whether 'path' is a link, and remembers what it said. */
static int ask(struct walk *walk, const struct name *name)
{
	char target[PATH_MAX];
	const char *kept = NULL;
	ssize_t target_len = read_link(walk, target);
	mode_t mode = target_len >= 0 ? S_IFLNK : target_len == -ENOENT ? 0 : S_IFDIR;

	if (mode == S_IFDIR && target_len != -EINVAL)
		return look_failed(walk, (int)-target_len);
	take_mode(walk, mode, -1);
	if (!walk->folder)
		return mode ? 0 : -ENOENT;
	if (walk->folder->asked <= LIST_LARGE_AFTER)
		walk->folder->asked++;
	if (target_len >= 0) {
		char *copy = sbx_arena_take(&walk->cache->arena, (size_t)target_len + 1, 1);

		kept = copy ? memcpy(copy, target, (size_t)target_len + 1) : NULL;
	}
	walk->known = cache_add(walk->cache, name, mode, kept);
	return mode ? 0 : -ENOENT;
}

/* The cache's entry for a name in walk->folder, as far as there is one. */
static struct known *look_back(struct walk *walk, const struct name *name)
{
	struct known *folder = walk->folder;
	struct known *known = folder ? cache_find(walk->cache, name) : NULL;
	unsigned int asked = folder ? folder->asked : 0;

	if (known || (asked != OPEN_AFTER && asked != LIST_AFTER && asked != LIST_LARGE_AFTER))
		return known;
	if (!is_open(walk->cache, folder)) {
		walk->path[folder->path_len] = '\0';
		cache_open(walk->cache, folder, folder->path_len ? walk->path : "/");
		walk->path[folder->path_len] = '/';
	}
	if (asked != OPEN_AFTER)
		cache_try_list(walk->cache, folder);
	folder->asked++;
	return cache_find(walk->cache, name);
}

/* Whether more is to be known of 'path' than if it is a link: a slash at the end needs a folder. */
static bool is_close_look_due(const struct walk *walk)
{
	const char *next = walk->rest;

	while (*next == '/')
		next++;
	return is_below_proc(walk->path) ||
	       (!*next && (next > walk->rest || !(walk->flags & SBX_RESOLVE_PLACE)));
}

/* Looks at 'path', which is 'name' in walk->folder. */
static int look(struct walk *walk, const char *bytes, size_t len)
{
	struct name name;

	walk->known = NULL;
	if (is_close_look_due(walk))
		return look_closely(walk);
	name = name_in(walk->folder, bytes, len);
	walk->known = look_back(walk, &name);
	if (!walk->known)
		return ask(walk, &name);
	take_mode(walk, walk->known->mode, -1);
	return walk->mode ? 0 : -ENOENT;
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
	cut_to(walk, len, walk->known && dots == 2 ? walk->known->folder : walk->known);
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

static int follow(struct walk *walk, size_t folder_len)
{
	const char *target = walk->known ? walk->known->target : NULL;
	char text[PATH_MAX];
	ssize_t viewed = read_view(walk, text), len = viewed;

	if (walk->links++ >= MAX_LINKS)
		return -ELOOP;
	if (!viewed)
		len = target ? (ssize_t)strlen(target) : read_link(walk, text);
	if (len <= 0)
		return len < 0 ? (int)len : -ENOENT;
	target = target ? target : text;
	if (!viewed && is_below_proc(walk->path) && !is_text_true(walk, folder_len, target))
		return pin(walk);
	if (len > walk->rest - walk->text)
		return -ENAMETOOLONG;
	walk->rest -= len;
	memcpy(walk->rest, target, (size_t)len);
	if (target[0] == '/')
		cut_to(walk, 0, walk->cache ? walk->cache->root : NULL);
	else
		cut_to(walk, folder_len, walk->folder);
	walk->mode = S_IFDIR;
	walk->size = -1;
	walk->seen = false;
	walk->through_link = true;
	return 0;
}

static int walk_name(struct walk *walk, const char *name, size_t len)
{
	size_t folder_len = walk->len;
	int result = append(walk, name, len);

	if (result == 0 && walk->viewer && walk->viewer->meet)
		walk->viewer->meet(walk->viewer->arg, walk->path);
	if (result < 0 || walk->missing)
		return result;
	walk->folder = walk->known;
	result = look(walk, name, len);
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
			return walk->seen ? 0 : look_closely(walk);
		if (walk->pinned)
			return -ELOOP;
		name = walk->rest;
		walk->rest = strchrnul(name, '/');
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
	/* As most paths of a policy begin. */
	if (path[0] == '.' && path[1] == '/' && path[2] && path[2] != '/') {
		path += 2;
		path_len -= 2;
	}
	walk->rest = walk->text + sizeof(walk->text) - 1 - path_len;
	memcpy(walk->rest, path, path_len + 1);
	if (cwd_len) {
		*--walk->rest = '/';
		walk->rest -= cwd_len;
		memcpy(walk->rest, cwd, cwd_len);
	}
	walk->mode = S_IFDIR;
	walk->size = -1;
	return 0;
}

/*
 * Lines that stand together mostly lead to places that do: what this path shares with the last answer
 * was walked then.
 */
static void walk_ahead(struct walk *walk)
{
	struct sbx_resolve_cache *cache = walk->cache;
	struct known *known = cache ? cache->last : NULL;

	while (known && known != cache->root &&
	       (strncmp(walk->rest, cache->path, known->path_len) != 0 ||
		walk->rest[known->path_len] != '/'))
		known = known->folder;
	if (known)
		memcpy(walk->path, cache->path, known->path_len);
	cut_to(walk, known ? known->path_len : 0, known);
	walk->rest += walk->len;
}

static void remember(const struct walk *walk)
{
	struct sbx_resolve_cache *cache = walk->cache;

	if (!cache || !walk->folder)
		return;
	cache->last = walk->folder;
	memcpy(cache->path, walk->path, walk->folder->path_len);
}

static int resolve(const struct sbx_viewer *viewer, const char *cwd, const char *path,
		   unsigned int flags, struct sbx_resolve_cache *cache, struct sbx_resolved *out)
{
	struct walk walk; /* large: the parts that matter are set one by one */
	int result;

	memset(&walk, 0, offsetof(struct walk, path));
	walk.viewer = viewer;
	walk.cache = cache;
	walk.flags = flags;
	result = walk_init(&walk, cwd, path);
	if (result < 0)
		return result;
	walk_ahead(&walk);
	result = walk_all(&walk);
	if (result < 0)
		return result;
	remember(&walk);
	if (!walk.len)
		append(&walk, "", 0);
	memcpy(out->path, walk.path, walk.len + 1);
	out->unseen = walk.unseen;
	out->len = walk.len;
	out->existing = walk.missing ? walk.existing : walk.len;
	out->mode = walk.mode;
	out->size = walk.size;
	out->through_link = walk.through_link;
	out->pinned = walk.pinned;
	return 0;
}

int sbx_resolve_path(const char *cwd, const char *path, unsigned int flags,
		     struct sbx_resolve_cache *cache, struct sbx_resolved *out)
{
	return resolve(NULL, cwd, path, flags, cache, out);
}

int sbx_resolve_as(const struct sbx_viewer *viewer, const char *cwd, const char *path,
		   unsigned int flags, struct sbx_resolved *out)
{
	return resolve(viewer, cwd, path, flags, NULL, out);
}
