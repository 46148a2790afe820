/* SPDX-License-Identifier: MIT */
/* Trees with one of everything; see oracle.h. */
#include "oracle.h"

#include <dirent.h>
#include <stdarg.h>
#include <sys/wait.h>

#define NAMES 7
#define DEPTH 3
#define HELD_MOST (2 * PLOT_MOST)

/* The last one looks like what the kernel says of a file that is gone. */
static const char *const names[NAMES] = { "a", "b", "c", "d", "e", "f", "g (deleted)" };

static int held[HELD_MOST];
static size_t held_count;

const struct plot_entry *plot_some(const struct plot *plot)
{
	return &plot->entries[chance((unsigned int)plot->count)];
}

static void aim(const struct plot *plot, struct plot_entry *entry)
{
	const char *slash = strrchr(entry->path, '/');
	char target[sizeof(entry->target)];

	switch (chance(7)) {
	case 0:
		snprintf(target, sizeof(target), "%s", slash ? slash + 1 : entry->path);
		break;
	case 1:
		snprintf(target, sizeof(target), DOER_TEXT "/%.50s", plot_some(plot)->path);
		break;
	case 2:
		snprintf(target, sizeof(target), "missing%s", chance(3) ? "" : "/");
		break;
	case 3:
		snprintf(target, sizeof(target), "%s/missing", names[chance(NAMES)]);
		break;
	case 4:
		snprintf(target, sizeof(target), "%s", chance(2) ? "." : "..");
		break;
	default:
		snprintf(target, sizeof(target), "%s%s", chance(3) ? "" : "../",
			 names[chance(NAMES)]);
		break;
	}
	memcpy(entry->target, target, sizeof(target));
}

static void aim_name(const struct plot *plot, struct plot_entry *entry)
{
	const struct plot_entry *other = plot_some(plot);

	for (int i = 0; i < 8 && (!strchr("fp", other->kind) || other == entry); i++)
		other = plot_some(plot);
	if (strchr("fp", other->kind) && other != entry)
		memcpy(entry->target, other->path, sizeof(entry->target));
	else
		entry->kind = 'f';
}

static void choose_mode(struct plot_entry *entry)
{
	static const mode_t folders[] = { 0555, 0333, 0, 01777, 02775, 01777 };
	static const mode_t files[] = { 0600, 0444, 0222, 0, 04755, 0666 };

	if (entry->kind == '/')
		entry->mode = chance(3) ? 0755 : folders[chance(6)];
	else
		entry->mode = chance(3) ? 0644 : files[chance(6)];
	entry->foreign = chance(12) == 0;
}

static void grow(struct plot *plot, const char *folder, int depth)
{
	static const char kinds[] = "  fffhllllps///";

	for (size_t i = 0; i < NAMES && plot->count < PLOT_MOST; i++) {
		char kind = kinds[chance(depth == DEPTH ? 12 : 15)];
		struct plot_entry *entry = &plot->entries[plot->count];
		char path[sizeof(entry->path)] = "";

		if (kind == ' ' && plot->count)
			continue;
		plot->count++;
		*entry = (struct plot_entry){ .kind = kind == ' ' ? 'f' : kind };
		snprintf(path, sizeof(path), "%s%s%s", folder, *folder ? "/" : "", names[i]);
		memcpy(entry->path, path, sizeof(path));
		choose_mode(entry);
		if (kind == 'l')
			aim(plot, entry);
		else if (kind == 'h')
			aim_name(plot, entry);
		else if (kind == '/' && depth < DEPTH)
			grow(plot, entry->path, depth + 1);
	}
}

void plot_grow(struct plot *plot)
{
	while (held_count)
		close(held[--held_count]);
	memset(plot->entries, 0, sizeof(plot->entries));
	plot->count = 0;
	plot->held = chance(2);
	grow(plot, "", 1);
}

/* --- Planting --- */

static void make(const struct plot *plot, const char *root, const struct plot_entry *entry)
{
	char path[PATH_MAX], target[PATH_MAX];
	size_t index = (size_t)(entry - plot->entries);
	bool made = true;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", root, entry->path);
	snprintf(target, sizeof(target), "%s%s", *entry->target == *DOER_TEXT ? root : "",
		 entry->target + (*entry->target == *DOER_TEXT));
	switch (entry->kind) {
	case '/':
		made = mkdir(path, 0700) == 0;
		break;
	case 'l':
		made = symlink(target, path) == 0;
		break;
	case 'h':
		snprintf(target, sizeof(target), "%s/%s", root, entry->target);
		made = link(target, path) == 0;
		break;
	case 'p':
		made = mkfifo(path, 0600) == 0;
		break;
	case 's':
		made = mknod(path, S_IFSOCK | 0600, 0) == 0;
		break;
	default:
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		made = fd >= 0 && ftruncate(fd, (off_t)index + 3) == 0 && close(fd) == 0;
	}
	if (!made)
		BAIL_OUT("cannot make %s", path);
	if (entry->kind == 'p' && plot->held && held_count < HELD_MOST)
		held[held_count++] = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

/* Owners first: that takes bits of modes away. */
static void dress(const struct plot *plot, const char *root, const struct plot_entry *entry)
{
	char path[PATH_MAX];
	uid_t uid = entry->foreign ? plot->uid + 1 : plot->uid;

	snprintf(path, sizeof(path), "%s/%s", root, entry->path);
	if (entry->kind == 'h')
		return;
	if (getuid() == 0 && lchown(path, uid, uid) < 0)
		BAIL_OUT("cannot give %s away", path);
	if (entry->kind != 'l' && chmod(path, entry->mode) < 0)
		BAIL_OUT("cannot close %s", path);
}

void plot_shell(const char *format, ...)
{
	char command[8 * PATH_MAX];
	int status = -1;
	va_list args;
	pid_t pid;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	pid = fork();
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		BAIL_OUT("'%s' failed", command);
}

/* Not the folder itself: the programs are in it. */
static void empty(const char *root)
{
	plot_shell("mkdir -p %s; chmod -R u+rwX %s 2>/dev/null; find %s -mindepth 1 -delete", root,
		   root, root);
}

void plot_plant(const struct plot *plot, const char *root)
{
	empty(root);
	if (getuid() == 0 && chown(root, plot->uid, plot->uid) < 0)
		BAIL_OUT("cannot give %s away", root);
	for (size_t i = 0; i < plot->count; i++)
		make(plot, root, &plot->entries[i]);
	for (size_t i = plot->count; i > 0; i--)
		dress(plot, root, &plot->entries[i - 1]);
}

/* --- Pictures --- */

static void look(FILE *out, const char *root, const char *path)
{
	char whole[PATH_MAX * 2], target[PATH_MAX] = "";
	struct dirent **list;
	struct stat st;
	ssize_t len;
	int count;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	if (lstat(whole, &st) < 0)
		return;
	if (S_ISLNK(st.st_mode) && (len = readlink(whole, target, sizeof(target) - 1)) > 0)
		target[len] = '\0';
	fprintf(out, "%s %o %lld %ju %u:%u %s\n", path, (unsigned int)st.st_mode,
		S_ISREG(st.st_mode) ? (long long)st.st_size : 0LL, (uintmax_t)st.st_nlink,
		st.st_uid, st.st_gid,
		strncmp(target, root, strlen(root)) ? target : target + strlen(root));
	count = S_ISDIR(st.st_mode) ? scandir(whole, &list, NULL, alphasort) : 0;
	for (int i = 0; i < count; i++) {
		char below[PATH_MAX];

		if (strcmp(list[i]->d_name, ".") != 0 && strcmp(list[i]->d_name, "..") != 0) {
			snprintf(below, sizeof(below), "%s/%s", path, list[i]->d_name);
			look(out, root, below);
		}
		free(list[i]);
	}
	if (count > 0)
		free(list);
}

char *plot_picture(const char *root)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		BAIL_OUT("out of memory");
	look(out, root, "");
	fclose(out);
	return text;
}
