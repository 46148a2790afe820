/* SPDX-License-Identifier: MIT */
/* Times, and how sure they are. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The time that this thread ran: others on the machine cost it some of the caches, no more. */
double bench_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void bench_times_add(struct bench_times *times, double ns)
{
	if (times->count < BENCH_MAX_ROUNDS)
		times->ns[times->count++] = ns;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static struct bench_times sorted(const struct bench_times *times)
{
	struct bench_times copy = *times;

	qsort(copy.ns, copy.count, sizeof(copy.ns[0]), compare);
	return copy;
}

double bench_min(const struct bench_times *times)
{
	return times->count ? sorted(times).ns[0] : 0;
}

double bench_median(const struct bench_times *times)
{
	return times->count ? sorted(times).ns[times->count / 2] : 0;
}

double bench_spread(const struct bench_times *times)
{
	struct bench_times copy = sorted(times);

	return times->count ? 100 * (copy.ns[copy.count - 1] - copy.ns[0]) / bench_median(times)
			    : 0;
}

double bench_ratio(const struct bench_times *times, const struct bench_times *base)
{
	struct bench_times ratios = { .count = 0 };

	for (size_t i = 0; i < times->count && i < base->count; i++)
		bench_times_add(&ratios, times->ns[i] / base->ns[i]);
	return bench_median(&ratios);
}
