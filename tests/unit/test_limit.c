/* SPDX-License-Identifier: MIT */
/*
 * The limits of a policy as numbers, which ones are impossible, and what becomes of the limits of a
 * process. Those can only be lowered, so children try them and tell.
 */
#include "limit.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MB (UINT64_C(1) << 20)
#define NONE RLIM_INFINITY

static const int kinds[] = { RLIMIT_CORE, RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_NOFILE };

enum {
	CORE,
	DATA,
	CPU,
	FSIZE,
	NOFILE
};

/* What a child tells. */
struct told {
	int result;
	struct launch_error error;
	struct launch_limits limits;
	struct rlimit was[COUNT(kinds)];
	struct rlimit now[COUNT(kinds)];
};
static struct told *told; /* shared with the children */

/* A limit that a child lowers for itself first. */
struct first {
	size_t kind; /* of 'kinds' */
	rlim_t soft, hard;
};

static void get_all(struct rlimit *limits)
{
	for (size_t i = 0; i < COUNT(kinds); i++)
		if (getrlimit(kinds[i], &limits[i]) < 0)
			_exit(1);
}

/* In a child: lowers 'first' (or NULL), then reads 'image' or applies 'limits'. */
static void in_child(const struct first *first, const struct sbx_image *image,
		     const struct launch_limits *limits)
{
	int status = 0;
	pid_t child;

	memset(told, 0, sizeof(*told));
	child = fork();
	if (child == 0) {
		if (first &&
		    setrlimit(kinds[first->kind], &(struct rlimit){ first->soft, first->hard }) < 0)
			_exit(2);
		get_all(told->was);
		told->result = image ? launch_limits_read(image, &told->limits, &told->error)
				     : launch_limits_apply(limits, &told->error);
		get_all(told->now);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		BAIL_OUT("a child could not try limits");
}

static void test_read(void)
{
	static const char text[] = ALONE "[limits]\ntimeout = 90s\ncpu = 1500ms\n"
					 "cpu_percent = 50\nmemory = 256M\nprocesses = 7\n"
					 "open_files = 64\nfile_size = 3M\noutput = 5k\n";
	struct sbx_policy *policy = load_text(text);
	const struct launch_limits *got = &told->limits;

	in_child(NULL, sbx_policy_image(policy), NULL);
	cmp_ok(told->result, "==", 0, "limits that can be held are read");
	cmp_ok(got->timeout_ms, "==", 90000, "timeout");
	cmp_ok(got->cpu_ms, "==", 1500, "cpu");
	cmp_ok(got->cpu_percent, "==", 50, "cpu_percent");
	cmp_ok(got->memory, "==", 256 * MB, "memory");
	ok(got->memory_is_set, "which the policy has set");
	cmp_ok(got->processes, "==", 7, "processes");
	cmp_ok(got->open_files, "==", 64, "open_files");
	cmp_ok(got->file_size, "==", 3 * MB, "file_size");
	cmp_ok(got->output, "==", 5 << 10, "output");
	ok(!memcmp(told->was, told->now, sizeof(told->was)), "and nothing is set yet");
	sbx_free(policy);
}

static void test_presets(void)
{
	struct sbx_policy *policy = load_text(ALONE);
	const struct launch_limits *got = &told->limits;
	uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	in_child(NULL, sbx_policy_image(policy), NULL);
	cmp_ok(told->result, "==", 0, "a policy needs no limits");
	ok(!got->timeout_ms && !got->cpu_ms && !got->cpu_percent && !got->open_files &&
		   !got->file_size,
	   "most have no preset");
	ok(got->memory > machine / 2 && got->memory < machine && !got->memory_is_set,
	   "memory has one that is not taken for the policy's");
	cmp_ok(got->processes, "==", 1024, "processes");
	cmp_ok(got->output, "==", 10 * MB, "output");
	sbx_free(policy);
}

static const struct {
	const char *lines; /* of [limits], which is the third line */
	struct first first;
	const char *error; /* NULL: none */
} impossible[] = {
	{ "memory = 1M\n", { NOFILE, 64, 64 }, NULL },
	{ "memory = 1048575\n",
	  { NOFILE, 64, 64 },
	  "policy.ini:4: memory: no program starts in less than a megabyte$" },
	{ "timeout = 5s\n\nmemory = 4k\n",
	  { NOFILE, 64, 64 },
	  "policy.ini:6: memory: no program starts in less than a megabyte$" },
	{ "open_files = 16\n", { NOFILE, 64, 64 }, NULL },
	{ "open_files = 15\n",
	  { NOFILE, 64, 64 },
	  "policy.ini:4: open_files: no run starts with fewer than 16$" },
	{ "open_files = 64\n", { NOFILE, 32, 64 }, NULL },
	{ "open_files = 65\n",
	  { NOFILE, 64, 64 },
	  "policy.ini:4: open_files: above the hard limit of this session \\(ulimit -Hn\\)$" },
	{ "file_size = 1\n", { FSIZE, 4096, 4096 }, NULL },
	{ "file_size = 4k\n", { FSIZE, 1, 4096 }, NULL },
	{ "processes = 3\nfile_size = 4097\n",
	  { FSIZE, 4096, 4096 },
	  "policy.ini:5: file_size: above the hard limit of this session \\(ulimit -Hf\\)$" },
};

static void test_impossible(void)
{
	for (size_t i = 0; i < COUNT(impossible); i++) {
		struct sbx_policy *policy;
		char text[256];

		snprintf(text, sizeof(text), ALONE "[limits]\n%s", impossible[i].lines);
		policy = load_text(text);
		in_child(&impossible[i].first, sbx_policy_image(policy), NULL);
		cmp_ok(told->result, "==", impossible[i].error ? -EINVAL : 0, "row %zu %s", i,
		       impossible[i].error ? "is impossible" : "is possible");
		if (impossible[i].error) {
			like(told->error.text, impossible[i].error, "by file and line");
			ok(!told->limits.memory && !told->limits.output, "and nothing is read");
		}
		sbx_free(policy);
	}
}

static void test_option(void)
{
	static const struct sbx_assign option = { "limits", "memory", "1k", "--memory" };
	struct sbx_policy *policy = NULL;
	struct sbx_errors errors;
	const char *file = tree_file("option.ini", ALONE "[limits]\nmemory = 1G\n", 0600);

	if (sbx_load(&(struct sbx_load){ .files = &file,
					 .file_count = 1,
					 .options = &option,
					 .option_count = 1,
					 .cwd = tree_root },
		     &policy, &errors) < 0)
		BAIL_OUT("%s", errors.list[0].text);
	in_child(NULL, sbx_policy_image(policy), NULL);
	cmp_ok(told->result, "==", -EINVAL, "the command line can be impossible too");
	like(told->error.text, "^command line: memory: no program starts in less",
	     "by where it stands");
	sbx_free(policy);
}

static rlim_t least(rlim_t a, rlim_t b)
{
	return a < b ? a : b;
}

/* Whether a limit is now what was wanted, or what the hard limit was before where that is less. */
static bool is_now(size_t kind, rlim_t soft, rlim_t hard)
{
	const struct rlimit *was = &told->was[kind], *now = &told->now[kind];

	if (now->rlim_cur == least(soft, was->rlim_max) &&
	    now->rlim_max == least(hard, was->rlim_max))
		return true;
	diag("was %#jx of %#jx, is %#jx of %#jx", (uintmax_t)was->rlim_cur,
	     (uintmax_t)was->rlim_max, (uintmax_t)now->rlim_cur, (uintmax_t)now->rlim_max);
	return false;
}

static bool is_same(size_t kind)
{
	return told->was[kind].rlim_cur == told->now[kind].rlim_cur &&
	       told->was[kind].rlim_max == told->now[kind].rlim_max;
}

static void apply(const struct first *first, const struct launch_limits *limits)
{
	in_child(first, NULL, limits);
	cmp_ok(told->result, "==", 0, "%s", told->result ? told->error.text : "limits are set");
}

static void test_apply(void)
{
	apply(NULL, &(struct launch_limits){ 0 });
	ok(is_now(CORE, 1, 1), "no limits: no core files all the same");
	ok(is_same(DATA) && is_same(CPU) && is_same(FSIZE) && is_same(NOFILE), "and no others");

	apply(NULL, &(struct launch_limits){ .memory = 64 * MB });
	ok(is_same(DATA), "memory by its preset does not bound address space");

	apply(NULL, &(struct launch_limits){ .memory = 64 * MB, .memory_is_set = true });
	ok(is_now(DATA, 384 * MB, 384 * MB), "memory of the policy does");
	ok(is_same(CPU) && is_same(FSIZE) && is_same(NOFILE), "and nothing else");

	apply(NULL, &(struct launch_limits){ .cpu_ms = 1500 });
	ok(is_now(CPU, 3, 4), "CPU time is rounded up, with a second to be told before");
	apply(NULL, &(struct launch_limits){ .cpu_ms = 2000 });
	ok(is_now(CPU, 3, 4), "whole seconds are not");
	apply(NULL, &(struct launch_limits){ .cpu_ms = 1 });
	ok(is_now(CPU, 2, 3), "and the least is a second");

	apply(NULL, &(struct launch_limits){ .file_size = 12345, .open_files = 20 });
	ok(is_now(FSIZE, 12345, 12345), "file_size");
	ok(is_now(NOFILE, 20, 20), "open_files");
	ok(is_same(DATA) && is_same(CPU), "alone");

	apply(NULL, &(struct launch_limits){ .timeout_ms = 1, .cpu_percent = 1, .processes = 1 });
	ok(is_now(CORE, 1, 1) && is_same(DATA) && is_same(CPU) && is_same(FSIZE) && is_same(NOFILE),
	   "what the supervisor watches is no limit of the process");
}

/* As root too: what an administrator set stays. */
static void test_never_raised(void)
{
	apply(&(struct first){ CORE, 0, 0 }, &(struct launch_limits){ 0 });
	ok(told->now[CORE].rlim_cur == 0 && told->now[CORE].rlim_max == 0, "a hard limit of 0");
	apply(&(struct first){ CORE, 0, NONE }, &(struct launch_limits){ 0 });
	ok(is_now(CORE, 1, 1), "a soft limit of 0 is no help against handlers of core files");
	apply(&(struct first){ DATA, 300 * MB, 300 * MB },
	      &(struct launch_limits){ .memory = 64 * MB, .memory_is_set = true });
	ok(told->now[DATA].rlim_cur == 300 * MB && told->now[DATA].rlim_max == 300 * MB,
	   "a hard limit of data");
	apply(&(struct first){ CPU, 50, 50 }, &(struct launch_limits){ .cpu_ms = 100000 });
	ok(told->now[CPU].rlim_cur == 50 && told->now[CPU].rlim_max == 50, "of CPU time");
	apply(&(struct first){ CPU, 50, 50 }, &(struct launch_limits){ .cpu_ms = 49000 });
	ok(told->now[CPU].rlim_cur == 50 && told->now[CPU].rlim_max == 50, "or one in between");
	apply(&(struct first){ FSIZE, 1000, 1000 }, &(struct launch_limits){ .file_size = 1001 });
	ok(told->now[FSIZE].rlim_cur == 1000 && told->now[FSIZE].rlim_max == 1000, "of files");
	apply(&(struct first){ NOFILE, 30, 30 }, &(struct launch_limits){ .open_files = 40 });
	ok(told->now[NOFILE].rlim_cur == 30 && told->now[NOFILE].rlim_max == 30, "of descriptors");
}

/* The largest that a policy can say must not become a small one. */
static void test_huge(void)
{
	const struct launch_limits huge = { .memory = INT64_MAX,
					    .memory_is_set = true,
					    .cpu_ms = INT64_MAX,
					    .file_size = INT64_MAX };
	const struct launch_limits edge = { .memory = (NONE - 256 * MB) / 2,
					    .memory_is_set = true };

	apply(NULL, &huge);
	ok(is_now(DATA, NONE, NONE), "all the memory there could be is no bound");
	ok(is_now(CPU, INT64_MAX / 1000 + 2, INT64_MAX / 1000 + 3), "nor is that much CPU time");
	ok(is_now(FSIZE, INT64_MAX, INT64_MAX), "nor that long a file");
	apply(NULL, &edge);
	ok(is_now(DATA, edge.memory * 2 + 256 * MB, edge.memory * 2 + 256 * MB),
	   "right below, it is one still");
}

int main(void)
{
	plan(NO_PLAN);
	tree_begin();
	told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (told == MAP_FAILED)
		BAIL_OUT("no memory to share");
	test_read();
	test_presets();
	test_impossible();
	test_option();
	test_apply();
	test_never_raised();
	test_huge();
	done_testing();
}
