/* SPDX-License-Identifier: MIT */
/*
 * Decides nothing about requests: asks the engine what places have, and compares.
 *
 * What takes rights away is a deny, a hide, a [path] section, a file of the policy's own, and the
 * default protections. Each costs the places above it the classes it is about. Must never leave a
 * class to the kernel that some rule below the place takes away.
 */
#include "holding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

uint8_t launch_hold_classes(uint8_t rights)
{
	return (uint8_t)((rights & SBX_RIGHT_READ ? HOLD_READ : 0) |
			 (rights & SBX_RIGHT_EXEC ? HOLD_EXEC : 0) |
			 (rights & SBX_RIGHT_WRITE ? HOLD_WRITE | HOLD_CHANGE : 0));
}

uint8_t launch_rights_at(const struct sbx_image *image, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(image, &request, &verdict);
	return verdict.rights & PATH_RIGHTS;
}

uint8_t launch_rights_above(const struct sbx_image *image, const char *path)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	size_t len = slash == path ? 1 : (size_t)(slash - path);

	if (!slash[1] || len >= sizeof(folder))
		return 0;
	memcpy(folder, path, len);
	folder[len] = '\0';
	return launch_rights_at(image, folder);
}

bool launch_is_within(const char *path, const char *folder, size_t len)
{
	if (len == 1)
		return true;
	return !strncmp(path, folder, len) && (path[len] == '/' || !path[len]);
}

size_t launch_literal_len(const char *pattern)
{
	size_t len = strcspn(pattern, "*?");

	while (len > 1 && pattern[len - 1] != '/')
		len--;
	return len > 1 ? len - 1 : 1;
}

static bool may_speak_below(const struct sbx_image *image, const struct sbx_rule *rule,
			    const struct launch_held *place)
{
	const char *path = sbx_str(image, rule->path);

	if (!(rule->flags & SBX_RULE_GLOB))
		return launch_is_within(path, place->path, place->len);
	return launch_is_within(place->path, path, launch_literal_len(path)) ||
	       launch_is_within(path, place->path, place->len);
}

static bool is_conditional(const struct sbx_image *image, uint32_t index)
{
	const struct sbx_section *section;

	if (index == SBX_NONE)
		return false;
	section = &sbx_sections(image)[index];
	return section->suffixes.count || section->max_bytes != UINT64_MAX;
}

bool launch_has_conditions(const struct sbx_image *image, const struct sbx_rule *rule)
{
	return rule->kind == SBX_RULE_SET && is_conditional(image, rule->section);
}

bool launch_hold_is_conditional(const struct sbx_image *image, const char *path)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = path };
	struct sbx_verdict verdict;

	sbx_eval(image, &request, &verdict);
	return is_conditional(image, verdict.section);
}

uint8_t launch_hold_lost_to(const struct holding *h, uint32_t index,
			    const struct launch_held *place)
{
	const struct sbx_rule *rule = &sbx_rules(h->image)[index];
	uint8_t left;

	if (!may_speak_below(h->image, rule, place))
		return 0;
	if (rule->kind == SBX_RULE_LOCK)
		return HOLD_WRITE | HOLD_CHANGE;
	if (launch_has_conditions(h->image, rule))
		return HOLD_ALL;
	if (h->masked && h->masked[index])
		return HOLD_CHANGE;
	left = rule->flags & SBX_RULE_GLOB
		       ? rule->rights
		       : launch_rights_at(h->image, sbx_str(h->image, rule->path));
	return launch_hold_classes(place->rights & (uint8_t)~left);
}

static bool takes(const struct sbx_rule *rule)
{
	return rule->kind >= SBX_RULE_SET && rule->kind <= SBX_RULE_LOCK &&
	       rule->kind != SBX_RULE_PROTECT && !(rule->flags & SBX_RULE_ABSENT);
}

bool launch_hold_can_execute(const struct sbx_image *image, const char *file)
{
	struct holding h = { .image = image };
	struct launch_held place = { .path = file,
				     .len = strlen(file),
				     .rights = SBX_RIGHT_READ | SBX_RIGHT_EXEC };

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules); i++)
		if (takes(&sbx_rules(image)[i]) && launch_hold_lost_to(&h, i, &place) & HOLD_EXEC)
			return false;
	return !launch_hold_is_conditional(image, file);
}

/*
 * Protections spare what is private to the run, and there is nothing to run later among devices; but
 * anybody may work in /dev/shm.
 */
static bool is_protected_below(const struct holding *h, const struct launch_held *place,
			       const struct sbx_rule *rule)
{
	bool device = launch_is_within(place->path, "/dev", strlen("/dev")) &&
		      !launch_is_within(place->path, "/dev/shm", strlen("/dev/shm"));

	return h->protects && place->rights & SBX_RIGHT_WRITE && !(rule->flags & SBX_RULE_FREE) &&
	       !device;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int refuse_exec(const struct holding *h, const struct sbx_rule *rule, uint32_t taker)
{
	const struct sbx_rule *takes = taker == SBX_NONE ? NULL : &sbx_rules(h->image)[taker];
	char where[300], there[300] = "";

	if (takes)
		(void)launch_where(h->image, takes->file, takes->line, there);
	return launch_fail(
		h->error, EINVAL,
		"%s: '%s' cannot be enforced: what is executed must be read by the "
		"kernel itself, and only the supervisor can hold what %s%s%.256s there (take one "
		"of them back, or move it)",
		launch_where(h->image, rule->file, rule->line, where),
		sbx_str(h->image, rule->text), takes ? there : "rules take away",
		takes ? " takes away by " : "", takes ? sbx_str(h->image, takes->text) : "");
}

/* What the kernel can grant at a place that a rule names. */
static int hold_place(struct holding *h, const struct sbx_rule *rule, struct launch_held *place)
{
	uint8_t lost = h->landlock ? 0 : HOLD_ALL, classes = launch_hold_classes(place->rights);

	/* A file has nothing below it, and entries are its folder's. (The run's own come later.) */
	if (classes & HOLD_CHANGE && !(rule->flags & SBX_RULE_FREE) && !is_folder(place->path))
		classes &= (uint8_t)~HOLD_CHANGE;
	for (uint32_t i = 0; i < h->taker_count; i++) {
		uint8_t taken = launch_hold_lost_to(h, h->takers[i], place);

		if (taken & (HOLD_READ | HOLD_EXEC) && place->taker == SBX_NONE)
			place->taker = h->takers[i];
		lost |= taken;
	}
	if (launch_hold_is_conditional(h->image, place->path))
		lost = HOLD_ALL;
	if (classes & HOLD_CHANGE && is_protected_below(h, place, rule))
		lost |= HOLD_WRITE | HOLD_CHANGE;
	/* Who writes what is there can read it: so goes the kernel's right to create. */
	if (lost & HOLD_READ)
		lost = HOLD_ALL;
	place->classes = classes & (uint8_t)~lost;
	place->left = classes & lost;
	h->out->brokered |= place->left;
	if (h->landlock && rule->rights & SBX_RIGHT_EXEC && lost & HOLD_EXEC &&
	    !(rule->flags & SBX_RULE_WORKSPACE))
		return refuse_exec(h, rule, place->taker);
	return 0;
}

/* A pattern may let it be removed where the folder above cannot be written. */
static bool may_go(const struct sbx_image *image, const char *path)
{
	struct sbx_request request = {
		.op = SBX_OP_DELETE, .is_dir = is_folder(path), .size = -1, .path = path
	};
	struct sbx_verdict verdict;

	sbx_eval(image, &request, &verdict);
	return verdict.allowed;
}

/*
 * The kernel's rule is about what is there now. What is private to the run is mounted later, and by
 * nobody inside.
 */
static void note_identity(const struct sbx_image *image, const struct sbx_rule *rule, uint8_t above,
			  struct launch_held *place)
{
	struct stat st;

	if (rule->flags & (SBX_RULE_FREE | SBX_RULE_STAND_IN) ||
	    !(above & SBX_RIGHT_WRITE || may_go(image, place->path)) || lstat(place->path, &st) < 0)
		return;
	place->loose = true;
	place->dev = st.st_dev;
	place->ino = st.st_ino;
}

static bool is_still_there(const struct launch_held *place)
{
	struct stat st;

	return !place->loose ||
	       (lstat(place->path, &st) == 0 && st.st_dev == place->dev && st.st_ino == place->ino);
}

/* Where nothing is there yet, or a pattern says where, the kernel can grant nothing. */
static int leave_place(struct holding *h, const struct sbx_rule *rule, uint8_t rights)
{
	h->out->brokered |= launch_hold_classes(rights);
	h->out->wider = true;
	if (h->landlock && rights & SBX_RIGHT_EXEC)
		return refuse_exec(h, rule, SBX_NONE);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct launch_held *)a)->path, ((const struct launch_held *)b)->path);
}

static int take_rule(struct holding *h, const struct sbx_rule *rule)
{
	const char *path = sbx_str(h->image, rule->path);
	struct launch_hold *out = h->out;
	struct launch_held *place = &out->list[out->count];
	uint8_t above;

	if (rule->kind > SBX_RULE_SET || (rule->flags & SBX_RULE_ABSENT))
		return 0;
	above = launch_rights_above(h->image, path);
	if (rule->flags & SBX_RULE_GLOB)
		return leave_place(h, rule, rule->rights & PATH_RIGHTS & (uint8_t)~above);
	*place = (struct launch_held){ .path = path,
				       .len = strlen(path),
				       .rights = launch_rights_at(h->image, path),
				       .rule = (uint32_t)(rule - sbx_rules(h->image)),
				       .taker = SBX_NONE };
	if (rule->flags & SBX_RULE_MISSING)
		return leave_place(h, rule, place->rights & (uint8_t)~above);
	/* Where the folder above loses what this place has, it may have it still. */
	if (!place->rights)
		return 0;
	out->count++;
	note_identity(h->image, rule, above, place);
	return hold_place(h, rule, place);
}

static void drop_doubles(struct launch_hold *hold)
{
	size_t kept = 0;

	qsort(hold->list, hold->count, sizeof(*hold->list), by_path);
	for (size_t i = 0; i < hold->count; i++) {
		if (kept && !strcmp(hold->list[kept - 1].path, hold->list[i].path)) {
			hold->list[kept - 1].classes &= hold->list[i].classes;
			hold->list[kept - 1].left |= hold->list[i].left;
			hold->list[kept - 1].loose &= hold->list[i].loose;
		} else {
			hold->list[kept++] = hold->list[i];
		}
	}
	hold->count = kept;
}

static uint8_t held_above(const struct launch_hold *hold, const struct launch_held *place)
{
	const char *slash = strrchr(place->path, '/');
	char folder[PATH_MAX];

	if (!slash[1] || place->len >= sizeof(folder))
		return 0;
	(void)snprintf(folder, sizeof(folder), "%.*s",
		       slash == place->path ? 1 : (int)(slash - place->path), place->path);
	return launch_hold_at(hold, folder);
}

int launch_hold_make(const struct sbx_image *image, bool landlock, const bool *masked,
		     struct launch_hold *out, struct launch_error *error)
{
	uint32_t count = sbx_count(image, SBX_TABLE_rules);
	struct launch_hold hold = { .image = image };
	struct holding h = {
		.image = image, .masked = masked, .out = &hold, .error = error, .landlock = landlock
	};
	int failed = 0;

	hold.list = calloc(count + 1, sizeof(*hold.list) + sizeof(*h.takers));
	if (!hold.list)
		return launch_fail(error, ENOMEM, "out of memory");
	h.takers = (uint32_t *)(hold.list + count + 1);
	for (uint32_t i = 0; i < count; i++) {
		h.protects |= sbx_rules(image)[i].kind == SBX_RULE_PROTECT;
		if (takes(&sbx_rules(image)[i]))
			h.takers[h.taker_count++] = i;
	}
	for (uint32_t i = 0; i < count && !failed; i++)
		failed = take_rule(&h, &sbx_rules(image)[i]);
	drop_doubles(&hold);
	for (size_t i = 0; i < hold.count; i++)
		hold.list[i].above = held_above(&hold, &hold.list[i]);
	if (!failed)
		failed = launch_hold_find_beside(&h);
	if (failed)
		launch_hold_done(&hold);
	else
		*out = hold;
	return failed;
}

void launch_hold_done(struct launch_hold *hold)
{
	for (size_t i = 0; i < hold->beside_count; i++)
		free(hold->beside[i]);
	free(hold->beside);
	free(hold->list);
	*hold = (struct launch_hold){ 0 };
}

const struct launch_held *launch_hold_find(const struct launch_hold *hold, const char *path,
					   size_t len)
{
	size_t low = 0, high = hold->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct launch_held *at = &hold->list[middle];
		int order = strncmp(path, at->path, len);

		if (!order && at->len == len)
			return at;
		if (order < 0 || (!order && at->len > len))
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

uint8_t launch_hold_at(const struct launch_hold *hold, const char *path)
{
	const struct launch_held *place = launch_hold_find(hold, "/", 1);
	uint8_t classes = place ? place->classes : 0;

	for (size_t len = 1; path[len - 1]; len++) {
		if (path[len] && path[len] != '/')
			continue;
		place = launch_hold_find(hold, path, len);
		/* One that adds nothing to the folder above has no rule of the kernel's. */
		if (place && place->classes & ~place->above && place->classes & ~classes &&
		    is_still_there(place))
			classes |= place->classes;
	}
	return classes;
}
