/* SPDX-License-Identifier: MIT */
/* Chooses calls and arguments, right and wrong ones; see oracle.h. */
#include "oracle.h"

#include <linux/fs.h>
#include <linux/openat2.h>

#define HOW_SIZE 24

static const char *const call_names[DO_COUNT] = {
	[DO_OPENAT2] = "openat2",   [DO_OPEN] = "open",	      [DO_OPENAT] = "openat",
	[DO_CREAT] = "creat",	    [DO_RENAME] = "rename",   [DO_RENAMEAT2] = "renameat2",
	[DO_LINK] = "link",	    [DO_LINKAT] = "linkat",   [DO_UNLINK] = "unlink",
	[DO_UNLINKAT] = "unlinkat", [DO_RMDIR] = "rmdir",     [DO_MKDIR] = "mkdir",
	[DO_MKNOD] = "mknod",	    [DO_SYMLINK] = "symlink", [DO_TRUNCATE] = "truncate",
};

static void fill(char *out, size_t len)
{
	memset(out, 'n', len);
	out[len] = '\0';
}

static void draw_long(char path[DOER_PATH])
{
	static const size_t lengths[] = { 255, 256, 300, 4094, 4095, 4096, 4300 };
	size_t len = lengths[chance(7)];

	fill(path, len);
	/* As many names as it takes. */
	for (size_t i = 200; len > 300 && i < len; i += 200)
		path[i] = '/';
	if (chance(4) == 0 && len <= 300) {
		memmove(path + 8, path, len + 1);
		memcpy(path, "missing/", 8);
	}
}

/* A name of the tree, or a new one in a folder of it, said in any way. */
static void draw_path(const struct plot *plot, bool fresh, char path[DOER_PATH])
{
	static const char *const ends[] = { "/", "/.", "/..", "//", "/./" };
	const struct plot_entry *entry = plot_some(plot), *other = plot_some(plot);
	const char *start = chance(6) == 0 ? DOER_TEXT "/" : chance(10) == 0 ? "./" : "";
	char detour[80] = "";

	if (fresh)
		for (int i = 0; i < 12 && !strchr(chance(4) ? "/" : "/l", entry->kind); i++)
			entry = plot_some(plot);
	if (chance(10) == 0 && !strchr(other->path, '/'))
		snprintf(detour, sizeof(detour), "%s/../", other->path);
	snprintf(path, DOER_PATH, "%s%s%s%s%s", start, detour, entry->path, fresh ? "/new" : "",
		 chance(14) == 0 ? ends[chance(5)] : "");
	switch (chance(60)) {
	case 0:
		path[0] = '\0';
		break;
	case 1:
		draw_long(path);
		break;
	case 2:
		snprintf(path, DOER_PATH, "%s", chance(2) ? "." : "..");
		break;
	case 3:
		snprintf(path, DOER_PATH, "missing/%s", chance(2) ? "x" : "");
		break;
	case 4:
		snprintf(path, DOER_PATH, "new%s", chance(2) ? "/" : "");
		break;
	default:
		break;
	}
}

static uint64_t draw_open_flags(bool waits)
{
	static const uint64_t rare[] = { O_APPEND,    O_PATH,	 O_TMPFILE,   O_NOFOLLOW,
					 O_DIRECTORY, O_CLOEXEC, O_NONBLOCK,  O_NOATIME,
					 O_SYNC,      O_DIRECT,	 O_EXCL,      O_DSYNC,
					 O_NOCTTY,    O_ASYNC,	 O_LARGEFILE, __O_TMPFILE };
	uint64_t flags = chance(12) ? chance(3) : 3;

	if (chance(2))
		flags |= O_CREAT;
	if (chance(4) == 0)
		flags |= O_TRUNC;
	if (flags & O_CREAT && chance(4) == 0)
		flags |= O_EXCL;
	for (unsigned int i = chance(4); i > 0; i--)
		flags |= rare[chance(16)];
	if (chance(14) == 0)
		flags = (flags & ~(uint64_t)(O_CREAT | O_TRUNC)) | O_TMPFILE | O_RDWR;
	return waits ? flags : flags | O_NONBLOCK;
}

static void draw_open(const struct plot *plot, struct doer_case *what)
{
	static const uint64_t modes[] = { 0666, 0666, 0777, 0600, 0, 0444, 04755, 01777 };

	what->flags = draw_open_flags(plot->held);
	what->mode = modes[chance(8)];
	what->links = what->flags & __O_TMPFILE && chance(2);
	snprintf(what->to, sizeof(what->to), "linked%u", chance(3));
}

static void draw_how(struct doer_case *what)
{
	static const uint64_t resolves[] = { RESOLVE_NO_XDEV,	  RESOLVE_NO_MAGICLINKS,
					     RESOLVE_NO_SYMLINKS, RESOLVE_BENEATH,
					     RESOLVE_IN_ROOT,	  RESOLVE_BENEATH };
	static const uint64_t sizes[] = { 0, 8, 16, 23, 25, 32, 64, 4096, 4097, 8192 };

	what->size = chance(15) ? HOW_SIZE : sizes[chance(10)];
	what->dirty = chance(4) == 0;
	/* The mode is an error where nothing is made. */
	if (!(what->flags & (O_CREAT | __O_TMPFILE)) && chance(8))
		what->mode = 0;
	for (unsigned int i = chance(3); i > 0; i--)
		what->resolve |= resolves[chance(6)];
	if (what->flags & (O_CREAT | O_TRUNC) && chance(20) == 0)
		what->resolve |= RESOLVE_CACHED;
	if (chance(40) == 0)
		what->flags |= UINT64_C(1) << (32 + chance(31));
	if (chance(40) == 0)
		what->resolve |= UINT64_C(1) << (6 + chance(50));
	if (chance(40) == 0)
		what->mode |= 010000;
	what->how_place = chance(30) ? AT_ITS_PLACE : chance(2) ? AT_NULL : AT_NOTHING;
}

static void draw_mode(const struct plot *plot, struct doer_case *what)
{
	static const uint64_t types[] = {
		S_IFREG, S_IFREG, 0, S_IFIFO, S_IFSOCK, S_IFDIR, S_IFLNK
	};
	static const uint64_t modes[] = { 0777, 0666, 0600, 0, 01777, 02755 };

	what->mode = modes[chance(6)];
	if (what->call == DO_MKNOD)
		what->mode |= types[chance(7)];
	/* Nobody would have it open. */
	if (plot->held && what->call == DO_MKNOD && (what->mode & S_IFMT) == S_IFIFO)
		what->mode = 0666;
}

static void draw_flags(struct doer_case *what)
{
	static const uint64_t moves[] = { 0,
					  0,
					  RENAME_NOREPLACE,
					  RENAME_EXCHANGE,
					  RENAME_EXCHANGE,
					  RENAME_NOREPLACE | RENAME_EXCHANGE,
					  RENAME_WHITEOUT | RENAME_EXCHANGE,
					  8 };

	if (what->call == DO_RENAMEAT2)
		what->flags = moves[chance(8)];
	else if (what->call == DO_LINKAT)
		what->flags = chance(4) ? (chance(2) ? AT_SYMLINK_FOLLOW : 0) : 1u << chance(14);
	else if (what->call == DO_UNLINKAT)
		what->flags = chance(3) ? (chance(2) ? AT_REMOVEDIR : 0) : 1u << chance(12);
}

/* What was made up is not there for most calls, and for some it has to be so. */
static bool wants_new(enum doer_call call)
{
	switch (call) {
	case DO_MKDIR:
	case DO_MKNOD:
	case DO_SYMLINK:
		return chance(4);
	case DO_UNLINK:
	case DO_UNLINKAT:
	case DO_RMDIR:
	case DO_TRUNCATE:
		return chance(12) == 0;
	default:
		return chance(4) == 0;
	}
}

static enum doer_call draw_call(void)
{
	unsigned int which = chance(100);

	if (which < 35)
		return DO_OPENAT2;
	if (which < 65)
		return chance(3) ? DO_RENAMEAT2 : DO_RENAME;
	return (enum doer_call)(DO_OPEN + chance(DO_COUNT - 1));
}

static enum doer_place draw_place(void)
{
	return chance(25) ? AT_ITS_PLACE : (enum doer_place)(1 + chance(PLACE_COUNT - 1));
}

void draw(const struct plot *plot, struct doer_case *what)
{
	static const uint32_t masks[] = { 0, 022, 077, 0777 };
	static const int64_t lengths[] = { 0, 1, 5, 100000, -1, INT64_MIN };

	memset(what, 0, sizeof(*what));
	what->call = draw_call();
	what->raw = chance(2);
	what->mask = masks[chance(4)];
	what->length = lengths[chance(6)];
	what->dir = chance(8) ? DIR_HERE : (enum doer_dir)chance(DIR_COUNT);
	what->to_dir = chance(8) ? DIR_HERE : (enum doer_dir)chance(DIR_COUNT);
	what->place = draw_place();
	what->to_place = draw_place();
	snprintf(what->base, sizeof(what->base), "%s", plot_some(plot)->path);
	draw_path(plot, wants_new(what->call), what->path);
	draw_path(plot, chance(2), what->to);
	if (what->call <= DO_CREAT)
		draw_open(plot, what);
	if (what->call == DO_CREAT && !plot->held)
		what->call = DO_OPEN;
	if (what->call == DO_OPENAT2)
		draw_how(what);
	if (what->call == DO_MKDIR || what->call == DO_MKNOD)
		draw_mode(plot, what);
	draw_flags(what);
}

void draw_show(const struct doer_case *what)
{
	diag("%s%s dir=%d '%.200s' (at %d), to dir=%d '%.200s' (at %d), base '%s'",
	     call_names[what->call], what->raw ? " (raw)" : "", (int)what->dir, what->path,
	     (int)what->place, (int)what->to_dir, what->to, (int)what->to_place, what->base);
	diag("  flags %#llo mode %#llo umask %#o resolve %#llx size %llu%s (at %d) length %lld%s",
	     (unsigned long long)what->flags, (unsigned long long)what->mode,
	     (unsigned int)what->mask, (unsigned long long)what->resolve,
	     (unsigned long long)what->size, what->dirty ? ", dirty" : "", (int)what->how_place,
	     (long long)what->length, what->links ? ", and linked" : "");
}
