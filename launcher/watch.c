/* SPDX-License-Identifier: MIT */
/*
 * When to look at the tree, and what to conclude. Kills nobody: that is for the supervisor, which
 * can also say why.
 */
#include "watch.h"

#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <unistd.h>

#define PERIOD_MS 60 /* between looks, as a rule */
#define PERIOD_LEAST_MS 6
#define TOKENS_MAX 8 /* looks sooner than that, in a row */
#define GROWTH ((uint64_t)3 << 20) /* bytes that one CPU touches in a millisecond, at most */
#define WAKE_CPU_MS 4 /* of CPU time, until a sleeper counts as awake */

uint64_t launch_now(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void read_text(const char *path, char *out, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, out, size - 1);

	if (fd >= 0)
		(void)close(fd);
	out[got > 0 ? got : 0] = '\0';
	out[strcspn(out, "\n")] = '\0';
}

static void read_link(const char *path, char *out, size_t size)
{
	ssize_t got = readlink(path, out, size - 1);

	out[got > 0 ? got : 0] = '\0';
}

void launch_who_fill(struct launch_who *who, pid_t thread)
{
	pid_t pid = launch_target_process(thread);
	char path[64];

	who->pid = pid;
	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	read_text(path, who->name, sizeof(who->name));
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	read_link(path, who->exe, sizeof(who->exe));
	(void)snprintf(path, sizeof(path), "/proc/%d/cwd", (int)thread);
	read_link(path, who->cwd, sizeof(who->cwd));
}

void launch_watch_init(struct launch_watch *watch, const struct launch_limits *limits, pid_t root,
		       int timer_signal, bool notified)
{
	*watch = (struct launch_watch){ .limits = limits,
					.timer_signal = timer_signal,
					.notified = notified,
					.stale = true,
					.started = launch_now(),
					.tokens = TOKENS_MAX,
					.tasks_peak = 1 };
	launch_tree_init(&watch->tree, root);
	watch->looked = watch->tokens_at = watch->started;
	watch->next = watch->started + PERIOD_LEAST_MS;
}

static void disarm(struct launch_watch *watch)
{
	for (size_t i = 0; i < watch->timer_count; i++)
		(void)timer_delete(watch->timers[i]);
	free(watch->timers);
	watch->timers = NULL;
	watch->timer_count = 0;
}

void launch_watch_done(struct launch_watch *watch)
{
	disarm(watch);
	launch_tree_done(&watch->tree);
}

/* One CPU timer for each process. False when one could not be had: then we go on looking. */
static bool arm(struct launch_watch *watch)
{
	const struct itimerspec when = { .it_value = { .tv_nsec = WAKE_CPU_MS * 1000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = watch->timer_signal };

	watch->timers = calloc(watch->tree.count + 1, sizeof(*watch->timers));
	for (size_t i = 0; watch->timers && i < watch->tree.count; i++) {
		clockid_t clock;
		timer_t *timer = &watch->timers[watch->timer_count];

		if (watch->tree.list[i].state == 'Z')
			continue;
		if (clock_getcpuclockid(watch->tree.list[i].pid, &clock) != 0 ||
		    timer_create(clock, &event, timer) < 0) {
			disarm(watch);
			return false;
		}
		watch->timer_count++;
		(void)timer_settime(*timer, 0, &when, NULL);
	}
	return watch->timers != NULL;
}

/* Soon, but not more often than a look in a period, unless the bucket pays for it. */
static void plan_look(struct launch_watch *watch, uint64_t now, uint64_t wanted_ms)
{
	uint64_t refill = (now - watch->tokens_at) / PERIOD_MS;

	if (refill) {
		watch->tokens = refill + watch->tokens > TOKENS_MAX
					? TOKENS_MAX
					: watch->tokens + (unsigned int)refill;
		watch->tokens_at += refill * PERIOD_MS;
	}
	if (wanted_ms < PERIOD_MS && watch->tokens)
		watch->tokens--;
	else if (wanted_ms < PERIOD_MS)
		wanted_ms = PERIOD_MS;
	watch->next = now + wanted_ms;
}

void launch_watch_wake(struct launch_watch *watch, bool born)
{
	watch->stale |= born;
	if (watch->next != UINT64_MAX)
		return;
	disarm(watch);
	plan_look(watch, launch_now(), PERIOD_LEAST_MS);
}

/* The wall clock's own deadline stands beside the next look. */
static uint64_t deadline(const struct launch_watch *watch)
{
	return watch->limits->timeout_ms ? watch->started + watch->limits->timeout_ms : UINT64_MAX;
}

int launch_watch_due(const struct launch_watch *watch)
{
	uint64_t now = launch_now(), end = deadline(watch);
	uint64_t due = watch->next < end ? watch->next : end;

	if (due == UINT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	return due - now > 3600000 ? 3600000 : (int)(due - now);
}

/* Who has most of it. */
static void blame(struct launch_watch *watch, bool memory)
{
	const struct launch_task *worst = NULL;

	for (size_t i = 0; i < watch->tree.count; i++) {
		const struct launch_task *task = &watch->tree.list[i];

		if (!worst || (memory ? task->rss > worst->rss : task->cpu_ms > worst->cpu_ms))
			worst = task;
	}
	if (worst)
		launch_who_fill(&watch->culprit, worst->pid);
}

static uint64_t weigh(const struct launch_watch *watch, bool fair)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < watch->tree.count; i++)
		if (!fair || !launch_task_is_shared(&watch->tree.list[i]))
			sum += launch_task_memory(watch->tree.list[i].speaker, fair);
	return sum;
}

/*
 * The resident size is more than what counts, and cheap; so memory is weighed where that has grown,
 * or nears the limit, and in parts only where it seems to be too much.
 */
static bool memory_is_over(struct launch_watch *watch)
{
	uint64_t rss = 0, limit = watch->limits->memory;

	for (size_t i = 0; i < watch->tree.count; i++)
		rss += watch->tree.list[i].rss;
	if (rss > watch->rss_weighed + watch->rss_weighed / 16 || rss > limit / 4 * 3) {
		watch->memory = weigh(watch, false);
		watch->rss_weighed = rss;
		if (limit && watch->memory > limit)
			watch->memory = weigh(watch, true);
		if (watch->memory > watch->memory_peak)
			watch->memory_peak = watch->memory;
	}
	return limit && watch->memory > limit;
}

bool launch_watch_memory_is_over(struct launch_watch *watch)
{
	return launch_tree_find(&watch->tree) == 0 && memory_is_over(watch);
}

static uint64_t children_ms(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_CHILDREN, &usage) < 0)
		return 0;
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
}

/*
 * CPU time that is accounted for: of the living, and of those who were waited for. Whose parent
 * ignores SIGCHLD is in neither, so what was seen of each process between looks is summed up too.
 */
static uint64_t count_cpu(struct launch_watch *watch, const struct launch_tree *before)
{
	uint64_t sum = children_ms(), seen = 0;

	for (size_t i = 0; i < watch->tree.count; i++) {
		const struct launch_task *task = &watch->tree.list[i];
		const struct launch_task *was = launch_tree_get(before, task->pid);

		sum += task->cpu_ms + task->reaped_ms;
		seen += task->cpu_ms - (was && was->start == task->start ? was->cpu_ms : 0);
	}
	watch->seen_cpu_ms += seen;
	if (watch->cpu_ms < sum)
		watch->cpu_ms = sum;
	if (watch->cpu_ms < watch->seen_cpu_ms)
		watch->cpu_ms = watch->seen_cpu_ms;
	return seen;
}

static void signal_marked(struct launch_watch *watch, int number)
{
	for (size_t i = 0; i < watch->tree.count; i++)
		if (watch->tree.list[i].mark)
			(void)kill(watch->tree.list[i].pid, number);
}

void launch_watch_release(struct launch_watch *watch)
{
	if (!watch->stopped_until)
		return;
	signal_marked(watch, SIGCONT);
	for (size_t i = 0; i < watch->tree.count; i++)
		watch->tree.list[i].mark = false;
	watch->stopped_until = 0;
}

bool launch_watch_is_stopping(const struct launch_watch *watch)
{
	return watch->stopped_until != 0;
}

/* Who is stopped already was stopped by somebody else, and is for him to continue. */
static void stop_all(struct launch_watch *watch, uint64_t until)
{
	(void)launch_tree_find(&watch->tree);
	for (size_t i = 0; i < watch->tree.count; i++)
		watch->tree.list[i].mark =
			watch->tree.list[i].state != 'T' && watch->tree.list[i].state != 'Z';
	signal_marked(watch, SIGSTOP);
	watch->stopped_until = until;
	watch->next = until;
}

/* cpu_percent: what is used beyond the share is slept off. True when the tree was stopped. */
static bool throttle(struct launch_watch *watch, uint64_t now, uint64_t used_ms)
{
	int64_t percent = (int64_t)watch->limits->cpu_percent;
	int64_t most = percent * PERIOD_MS * 10;

	if (!percent)
		return false;
	watch->credit_us += (int64_t)(now - watch->looked) * percent * 10 - (int64_t)used_ms * 1000;
	if (watch->credit_us > most)
		watch->credit_us = most;
	if (watch->credit_us >= 0)
		return false;
	stop_all(watch, now + (uint64_t)(-watch->credit_us / (percent * 10)) + 1);
	return true;
}

static bool is_busy(const struct launch_watch *watch)
{
	for (size_t i = 0; i < watch->tree.count; i++)
		if (watch->tree.list[i].state == 'R' || watch->tree.list[i].state == 'D')
			return true;
	return false;
}

/* Nearer to the limit, memory is looked at sooner: it must not get far beyond it in between. */
static uint64_t period(const struct launch_watch *watch)
{
	uint64_t limit = watch->limits->memory, left, ms;

	if (!limit || watch->memory >= limit)
		return PERIOD_MS;
	left = limit - watch->memory;
	ms = left / GROWTH;
	return ms < PERIOD_LEAST_MS ? PERIOD_LEAST_MS : ms > PERIOD_MS ? PERIOD_MS : ms;
}

static bool files_are_used_up(struct launch_watch *watch)
{
	uint64_t most = watch->limits->open_files;

	for (size_t i = 0; most && !watch->files_told && i < watch->tree.count; i++) {
		if (launch_task_files(watch->tree.list[i].speaker, most) < most)
			continue;
		launch_who_fill(&watch->culprit, watch->tree.list[i].pid);
		watch->files_told = true;
		return true;
	}
	return false;
}

static enum launch_limit report_hit(struct launch_watch *watch, enum launch_limit limit,
				    uint64_t value, uint64_t peak, struct launch_hit *hit)
{
	if (limit == LIMIT_MEMORY || limit == LIMIT_CPU)
		blame(watch, limit == LIMIT_MEMORY);
	*hit = (struct launch_hit){ .limit = limit,
				    .value = value,
				    .peak = peak,
				    .who = watch->culprit.pid ? &watch->culprit : NULL };
	return limit;
}

/* What this look saw; CPU time since the last one is returned in 'used'. */
static void see(struct launch_watch *watch, uint64_t *used)
{
	struct launch_tree before = watch->tree;
	unsigned int tasks;

	watch->tree.list = NULL;
	watch->tree.count = watch->tree.cap = 0;
	if (watch->stale || !watch->notified) {
		(void)launch_tree_find(&watch->tree);
	} else {
		watch->tree.list = calloc(before.count + 1, sizeof(*before.list));
		if (watch->tree.list) {
			memcpy(watch->tree.list, before.list, before.count * sizeof(*before.list));
			watch->tree.cap = before.count + 1;
			watch->tree.count = before.count;
		}
		launch_tree_look(&watch->tree);
	}
	watch->stale = false;
	*used = count_cpu(watch, &before);
	launch_tree_done(&before);
	tasks = launch_tree_tasks(&watch->tree);
	if (tasks > watch->tasks_peak)
		watch->tasks_peak = tasks;
}

enum launch_limit launch_watch_look(struct launch_watch *watch, struct launch_hit *hit)
{
	const struct launch_limits *limits = watch->limits;
	uint64_t now = launch_now(), used;

	if (now >= deadline(watch))
		return report_hit(watch, LIMIT_TIMEOUT, limits->timeout_ms, now - watch->started,
				  hit);
	if (now < watch->next)
		return LIMIT_NONE;
	launch_watch_release(watch);
	see(watch, &used);
	if (memory_is_over(watch))
		return report_hit(watch, LIMIT_MEMORY, limits->memory, watch->memory_peak, hit);
	/* Where births are not told, nobody can be refused one: who is too many ends the run. */
	if (!watch->notified && limits->processes &&
	    launch_tree_tasks(&watch->tree) > limits->processes)
		return report_hit(watch, LIMIT_PROCESSES, limits->processes,
				  launch_tree_tasks(&watch->tree), hit);
	if (limits->cpu_ms && watch->cpu_ms >= limits->cpu_ms)
		return report_hit(watch, LIMIT_CPU, limits->cpu_ms, watch->cpu_ms, hit);
	if (!throttle(watch, now, used)) {
		if (used == 0 && now - watch->looked >= PERIOD_LEAST_MS && !is_busy(watch) &&
		    watch->notified && arm(watch))
			watch->next = UINT64_MAX;
		else
			plan_look(watch, now, period(watch));
	}
	watch->looked = now;
	return files_are_used_up(watch) ? report_hit(watch, LIMIT_OPEN_FILES, limits->open_files,
						     limits->open_files, hit)
					: LIMIT_NONE;
}
