/* SPDX-License-Identifier: MIT */
/* The lines of /proc/self/mountinfo, in parts: "36 35 98:0 /root /mnt options - type source ...". */
#include "mounts.h"

#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Blanks and the like are written as "\040". */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		char octal[4] = "";

		if (*text == '\\')
			memcpy(octal, text + 1, strnlen(text + 1, 3));
		*to++ = *octal ? (char)strtoul(octal, NULL, 8) : *text;
		text += strlen(octal);
	}
	*to = '\0';
}

static bool take_line(char *line, struct launch_mount *out)
{
	char *fields[5];

	for (size_t i = 0; i < 5; i++) {
		fields[i] = strsep(&line, " ");
		if (!line)
			return false;
	}
	unescape(fields[3]);
	unescape(fields[4]);
	*out = (struct launch_mount){ .line = fields[0],
				      .id = strtoull(fields[0], NULL, 10),
				      .device = fields[2],
				      .root = fields[3],
				      .at = fields[4] };
	return true;
}

static int add_line(struct launch_mounts *mounts, char *line)
{
	struct launch_mount *more =
		realloc(mounts->list, (mounts->count + 1) * sizeof(*mounts->list));

	if (!more)
		return -ENOMEM;
	mounts->list = more;
	if (!take_line(line, &more[mounts->count]))
		return -EINVAL;
	mounts->count++;
	return 0;
}

int launch_mounts_read(struct launch_mounts *out)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	struct launch_mounts mounts = { 0 };
	int failed = file ? 0 : -errno;
	char *line = NULL;
	size_t room = 0;

	while (!failed && getline(&line, &room, file) > 0) {
		failed = add_line(&mounts, line);
		if (!failed)
			line = NULL;
	}
	free(line);
	if (file)
		(void)fclose(file);
	if (failed)
		launch_mounts_done(&mounts);
	else
		*out = mounts;
	return failed;
}

void launch_mounts_done(struct launch_mounts *mounts)
{
	for (size_t i = 0; i < mounts->count; i++)
		free(mounts->list[i].line);
	free(mounts->list);
	*mounts = (struct launch_mounts){ 0 };
}

static const struct launch_mount *mount_of(const struct launch_mounts *mounts, const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_MNT_ID, &st) < 0 ||
	    !(st.stx_mask & STATX_MNT_ID))
		return NULL;
	for (size_t i = 0; i < mounts->count; i++)
		if (mounts->list[i].id == st.stx_mnt_id)
			return &mounts->list[i];
	return NULL;
}

static bool overlap(const char *a, const char *b)
{
	return launch_is_within(a, b, strlen(b)) || launch_is_within(b, a, strlen(a));
}

bool launch_mounts_has_once(const struct launch_mounts *mounts, const char *path)
{
	const struct launch_mount *own = mount_of(mounts, path);
	const char *below;
	char whole[PATH_MAX];

	if (!own || !launch_is_within(path, own->at, strlen(own->at)))
		return false;
	below = path + (own->at[1] ? strlen(own->at) : 0);
	if (snprintf(whole, sizeof(whole), "%s%s", own->root[1] || !*below ? own->root : "",
		     below) >= (int)sizeof(whole))
		return false;
	for (size_t i = 0; i < mounts->count; i++)
		if (&mounts->list[i] != own && !strcmp(mounts->list[i].device, own->device) &&
		    overlap(mounts->list[i].root, whole))
			return false;
	return true;
}
