/* SPDX-License-Identifier: MIT */
/* Writes and reads the files of runs. What it reads anybody may have written who can write there. */
#include "registry.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "out.h"

#define STATUS_MAX 1024
#define TEXT_MAX 255

/* When the process began, in ticks since the system's start; 0 when it is gone. */
static uint64_t start_of(pid_t pid)
{
	char path[32], text[1024], *at;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	/* The name may hold anything but ends with the last ')'; the state follows as field 3. */
	at = strrchr(text, ')');
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

static void put_line(struct sbx_out *out, const char *key, const char *text)
{
	sbx_out_str(out, key);
	sbx_out_shortened(out, text, TEXT_MAX, SBX_ESCAPE_PLAIN);
	sbx_out_str(out, "\n");
}

static const char *policy_name(const struct sbx_image *image)
{
	uint32_t file = image->main_file;

	return file == SBX_NONE ? "" : sbx_str(image, sbx_files(image)[file].name);
}

static size_t describe(const struct sbx_image *image, const char *const *argv,
		       char text[STATUS_MAX])
{
	char command[2 * TEXT_MAX];
	struct sbx_out out;

	sbx_out_init(&out, command, sizeof(command));
	for (size_t i = 0; argv && argv[i] && out.want < sizeof(command); i++) {
		sbx_out_str(&out, i ? " " : "");
		sbx_out_str(&out, argv[i]);
	}
	sbx_out_finish(&out);
	sbx_out_init(&out, text, STATUS_MAX);
	sbx_out_str(&out, SBX_IMAGE_TRAILER);
	sbx_out_number(&out, (uint64_t)getpid());
	sbx_out_str(&out, "\nsince ");
	sbx_out_number(&out, start_of(getpid()));
	sbx_out_str(&out, "\nstarted ");
	sbx_out_number(&out, (uint64_t)time(NULL));
	sbx_out_str(&out, "\n");
	put_line(&out, "command ", command);
	put_line(&out, "policy ", policy_name(image));
	sbx_out_finish(&out);
	return out.len;
}

int launch_registry_write(const struct sbx_image *image, const char *const *argv, int fd)
{
	char text[STATUS_MAX];
	struct iovec parts[] = { { (void *)image, image->size },
				 { text, describe(image, argv, text) } };
	ssize_t done = writev(fd, parts, 2);

	return done == (ssize_t)(parts[0].iov_len + parts[1].iov_len) ? 0
	       : done < 0					      ? -errno
								      : -ENOSPC;
}

/* Where the image in the file ends, or -1 when there is none. */
static off_t image_end(int fd)
{
	struct sbx_image image;
	struct stat stat;

	if (fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode) || stat.st_uid != geteuid() ||
	    pread(fd, &image, sizeof(image), 0) != sizeof(image) ||
	    memcmp(image.magic, SBX_IMAGE_MAGIC, sizeof(image.magic)) != 0)
		return -1;
	return (off_t)image.size;
}

static size_t read_status(int fd, char text[STATUS_MAX])
{
	off_t from = image_end(fd);
	ssize_t len = from < 0 ? -1 : pread(fd, text, STATUS_MAX - 1, from);

	return len < 0 ? 0 : (size_t)len;
}

/* The rest of the line that begins with 'key', or "". What was escaped stays as it is. */
static void status_text(const char *status, const char *key, char text[TEXT_MAX + 1])
{
	size_t key_len = strlen(key);
	struct sbx_out out;

	for (const char *line = status; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, key_len) != 0)
			continue;
		sbx_out_init(&out, text, TEXT_MAX + 1);
		sbx_out_escaped(&out, line + key_len, strcspn(line + key_len, "\n"),
				SBX_ESCAPE_PLAIN);
		sbx_out_finish(&out);
		return;
	}
	text[0] = '\0';
}

static uint64_t status_number(const char *status, const char *key)
{
	char text[TEXT_MAX + 1];

	status_text(status, key, text);
	return text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : 0;
}

void launch_registry_read(int fd, bool alive, struct launch_run *run)
{
	char status[STATUS_MAX];
	uint64_t since;
	struct stat stat;
	pid_t pid;

	status[read_status(fd, status)] = '\0';
	status_text(status, "command ", run->command);
	status_text(status, "policy ", run->policy);
	run->started = (time_t)status_number(status, "started ");
	if (!run->started && !fstat(fd, &stat))
		run->started = stat.st_mtime;
	pid = (pid_t)status_number(status, SBX_IMAGE_TRAILER);
	since = status_number(status, "since ");
	/* The process is the one that wrote it or, out of our sight, holds the lock. */
	run->launcher = alive || (pid > 0 && since && start_of(pid) == since) ? pid : 0;
}
