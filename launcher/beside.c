/* SPDX-License-Identifier: MIT */
/*
 * Folders beside what is denied by name, for hold.c: looked for along the ways from a place to what is
 * denied in it. Must list none in which anything could be refused, now or by a move; and may leave out
 * any.
 */
#include "holding.h"
#include "mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* They are looked for at every start, and each is a rule. */
enum {
	BESIDE_MAX = 512,
	WORK_MAX = 65536 /* entries times rules */
};

struct search {
	struct holding *h;
	struct launch_mounts mounts;
	size_t work;
};

/* Whether rules about two places can meet: one lies in the other, as far as names go. */
static bool can_meet(const struct sbx_image *image, const struct sbx_rule *a,
		     const struct sbx_rule *b)
{
	const char *x = sbx_str(image, a->path), *y = sbx_str(image, b->path);
	size_t x_len = a->flags & SBX_RULE_GLOB ? launch_literal_len(x) : strlen(x);
	size_t y_len = b->flags & SBX_RULE_GLOB ? launch_literal_len(y) : strlen(y);

	return x_len < y_len ? launch_is_within(y, x, x_len) : launch_is_within(x, y, y_len);
}

static bool is_by_name(const struct sbx_image *image, const struct sbx_rule *rule)
{
	return rule->kind == SBX_RULE_LOCK ||
	       (!(rule->flags & SBX_RULE_GLOB) && !launch_has_conditions(image, rule));
}

/*
 * A folder takes its own rule along when it is moved. Where all that can be written is free of
 * patterns and conditions, the engine lets no folder be moved to where something below it would be
 * refused (check_hole() in eval.c). Who hides has every call asked about: it would be of no use.
 */
static bool may_move_freely(const struct holding *h)
{
	const struct sbx_rule *rules = sbx_rules(h->image);
	uint32_t count = sbx_count(h->image, SBX_TABLE_rules);

	for (uint32_t i = 0; i < h->taker_count; i++) {
		const struct sbx_rule *taker = &rules[h->takers[i]];

		if (taker->kind == SBX_RULE_HIDE)
			return false;
		for (uint32_t j = 0; !is_by_name(h->image, taker) && j < count; j++)
			if (rules[j].kind <= SBX_RULE_SET && rules[j].rights & SBX_RIGHT_WRITE &&
			    can_meet(h->image, taker, &rules[j]))
				return false;
	}
	return true;
}

static uint8_t lost_at(const struct holding *h, const struct launch_held *place)
{
	uint8_t lost = launch_hold_is_conditional(h->image, place->path) ? HOLD_ALL : 0;

	for (uint32_t i = 0; i < h->taker_count; i++)
		lost |= launch_hold_lost_to(h, h->takers[i], place);
	return lost;
}

static bool is_named_below(const struct holding *h, const char *path, size_t len)
{
	for (uint32_t i = 0; i < h->taker_count; i++) {
		const struct sbx_rule *taker = &sbx_rules(h->image)[h->takers[i]];
		const char *taken = sbx_str(h->image, taker->path);

		if (!(taker->flags & SBX_RULE_GLOB) && strlen(taken) > len &&
		    launch_is_within(taken, path, len))
			return true;
	}
	return false;
}

static bool is_real_folder(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static void look_into(struct search *search, const char *folder);

/*
 * A folder in one that something below is denied in: it is beside that, above it, or neither. Processes
 * come and go in /proc, and their numbers come again.
 */
static void look_at(struct search *search, const char *path)
{
	struct holding *h = search->h;
	struct launch_hold *out = h->out;
	struct launch_held at = { .path = path,
				  .len = strlen(path),
				  .rights = launch_rights_at(h->image, path) };

	if (!(at.rights & SBX_RIGHT_READ) || launch_hold_at(out, path) & HOLD_READ ||
	    launch_is_within(path, "/proc", strlen("/proc")))
		return;
	if (lost_at(h, &at) & HOLD_READ) {
		if (is_named_below(h, path, at.len))
			look_into(search, path);
	} else if (launch_mounts_has_once(&search->mounts, path)) {
		out->beside[out->beside_count] = strdup(path);
		out->beside_count += out->beside[out->beside_count] != NULL;
	}
}

static void look_into(struct search *search, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	char path[PATH_MAX];

	if (!stream && fd >= 0)
		(void)close(fd);
	while (stream && search->work < WORK_MAX && search->h->out->beside_count < BESIDE_MAX &&
	       (entry = readdir(stream))) {
		int len = snprintf(path, sizeof(path), "%s/%s", folder[1] ? folder : "",
				   entry->d_name);

		search->work += 1 + search->h->taker_count;
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    len < (int)sizeof(path) && is_real_folder(fd, entry))
			look_at(search, path);
	}
	if (stream)
		(void)closedir(stream);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Places in places were looked through more than once. */
static void drop_doubles(struct launch_hold *hold)
{
	size_t kept = 0;

	qsort(hold->beside, hold->beside_count, sizeof(*hold->beside), by_text);
	for (size_t i = 0; i < hold->beside_count; i++) {
		if (kept && !strcmp(hold->beside[kept - 1], hold->beside[i]))
			free(hold->beside[i]);
		else
			hold->beside[kept++] = hold->beside[i];
	}
	hold->beside_count = kept;
}

int launch_hold_find_beside(struct holding *h)
{
	struct search search = { .h = h };
	struct launch_hold *out = h->out;

	if (!h->landlock || !(out->brokered & HOLD_READ) || !may_move_freely(h) ||
	    launch_mounts_read(&search.mounts) < 0)
		return 0;
	out->beside = calloc(BESIDE_MAX, sizeof(*out->beside));
	for (size_t i = 0; out->beside && i < out->count; i++) {
		const struct launch_held *place = &out->list[i];

		if (place->left & HOLD_READ && is_named_below(h, place->path, place->len))
			look_into(&search, place->path);
	}
	launch_mounts_done(&search.mounts);
	if (!out->beside)
		return launch_fail(h->error, ENOMEM, "out of memory");
	drop_doubles(out);
	return 0;
}
