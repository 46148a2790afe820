/* SPDX-License-Identifier: MIT */
/* From [limits] to numbers, and to what the kernel holds for each process by itself. */
#include "limit.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEGABYTE ((uint64_t)1 << 20)

/* "policy.ini:12: " for an error about a setting. */
static int impossible(const struct sbx_image *image, const struct sbx_setting *setting,
		      const char *name, const char *why, struct launch_error *error)
{
	char where[300];

	if (setting->file == SBX_NONE)
		return launch_fail(error, EINVAL, "%s: %s", name, why);
	return launch_fail(error, EINVAL, "%s: %s: %s",
			   launch_where(image, setting->file, setting->line, where), name, why);
}

static const struct {
	enum sbx_key key;
	const char *name;
	size_t at;
	uint64_t least;
	const char *why; /* when it is less */
} table[] = {
#define ROW(key, field, least, why)                                                           \
	{                                                                                     \
		SBX_KEY_limits_##key, #key, offsetof(struct launch_limits, field), least, why \
	}
	ROW(timeout, timeout_ms, 1, "a run without any time cannot start"),
	ROW(cpu, cpu_ms, 1, "a run without any CPU time cannot start"),
	ROW(cpu_percent, cpu_percent, 1, "a run without any CPU cannot start"),
	ROW(memory, memory, MEGABYTE, "no program starts in less than a megabyte"),
	ROW(processes, processes, 1, "the program itself is one"),
	ROW(open_files, open_files, 16, "no run starts with fewer than 16"),
	ROW(file_size, file_size, 1, "0 would forbid all writing; use [paths] for that"),
	ROW(output, output, 1, "0 would capture nothing"),
#undef ROW
};

/* Three quarters of the machine, when nobody says anything. */
static uint64_t preset_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages / 4 * 3 * (uint64_t)size : 0;
}

static int check_hard(const struct sbx_image *image, const struct launch_limits *limits,
		      struct launch_error *error)
{
	struct rlimit now;

	if (limits->open_files && getrlimit(RLIMIT_NOFILE, &now) == 0 &&
	    limits->open_files > now.rlim_max)
		return impossible(image, sbx_setting(image, SBX_KEY_limits_open_files),
				  "open_files", "above the hard limit of this session (ulimit -Hn)",
				  error);
	if (limits->file_size && getrlimit(RLIMIT_FSIZE, &now) == 0 &&
	    limits->file_size > now.rlim_max)
		return impossible(image, sbx_setting(image, SBX_KEY_limits_file_size), "file_size",
				  "above the hard limit of this session (ulimit -Hf)", error);
	return 0;
}

int launch_limits_read(const struct sbx_image *image, struct launch_limits *limits,
		       struct launch_error *error)
{
	struct launch_limits read = { 0 };

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const struct sbx_setting *setting = sbx_setting(image, table[i].key);

		if (!setting->is_set)
			continue;
		if (setting->value < table[i].least)
			return impossible(image, setting, table[i].name, table[i].why, error);
		memcpy((char *)&read + table[i].at, &setting->value, sizeof(setting->value));
	}
	read.memory_is_set = read.memory != 0;
	if (!read.memory)
		read.memory = preset_memory();
	if (check_hard(image, &read, error) < 0)
		return -EINVAL;
	*limits = read;
	return 0;
}

/* Never above what is there: a hard limit is not raised, whoever we are. */
static int lower(int resource, rlim_t soft, rlim_t hard)
{
	struct rlimit now;

	if (getrlimit(resource, &now) < 0)
		return -errno;
	if (hard < now.rlim_max)
		now.rlim_max = hard;
	now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
	return setrlimit(resource, &now) < 0 ? -errno : 0;
}

/* Twice the memory and some; a limit that nobody can reach must not wrap round to a small one. */
static rlim_t data_bound(uint64_t memory)
{
	const uint64_t beside = 256 * MEGABYTE;

	return memory > (RLIM_INFINITY - beside) / 2 ? RLIM_INFINITY : memory * 2 + beside;
}

/*
 * Memory is watched by the supervisor; RLIMIT_DATA is behind it for what grows faster than anybody
 * looks, and wide, because it counts the stacks of threads; sanitizers, which reserve far more than
 * they use, live with no such bound, so the preset has none. A core file is never written: a handler
 * behind a pipe takes 0 for no limit, but not 1.
 */
int launch_limits_apply(const struct launch_limits *limits, struct launch_error *error)
{
	rlim_t cpu = (limits->cpu_ms + 999) / 1000;
	int failed = lower(RLIMIT_CORE, 1, 1);

	if (!failed && limits->memory_is_set)
		failed = lower(RLIMIT_DATA, data_bound(limits->memory), data_bound(limits->memory));
	if (!failed && cpu)
		failed = lower(RLIMIT_CPU, cpu + 1, cpu + 2);
	if (!failed && limits->file_size)
		failed = lower(RLIMIT_FSIZE, limits->file_size, limits->file_size);
	if (!failed && limits->open_files)
		failed = lower(RLIMIT_NOFILE, limits->open_files, limits->open_files);
	if (failed)
		return launch_fail(error, -failed, "cannot set a limit of the process: %s",
				   strerror(-failed));
	return 0;
}
