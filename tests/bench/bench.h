/* SPDX-License-Identifier: MIT */
/*
 * Measuring: policies and questions of any size, and times that say how sure they are. Everything
 * is made from fixed seeds, so that two runs ask the same.
 */
#ifndef BENCH_H
#define BENCH_H

#include "engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_MAX_ROUNDS 101

/* A folder of its own, removed at exit, with real folders for the rules to name. */
void bench_world_start(void);
const char *bench_world(void);

enum bench_kind {
	BENCH_LITERAL, /* folders spread over a tree of teams, projects and modules */
	BENCH_FLAT, /* folders side by side in one folder */
	BENCH_GLOB, /* a third each of **[/]name_1, **[/]*.ext_1 and ./any/[*]/b_1 */
	BENCH_HARD, /* **[/]x*y_1: what cannot be looked up by hash */
	BENCH_PEERS, /* hosts, subdomains, addresses and networks */
};

/* Writes a policy file of so many rules, and makes the folders it names. Its name is kept. */
struct bench_policy {
	enum bench_kind kind;
	unsigned int rules;
	char file[128];
	struct sbx_policy *loaded;
	const struct sbx_image *image;
};
void bench_policy_write(struct bench_policy *policy, enum bench_kind kind, unsigned int rules);
/* What 'make bench' measures as loading. Ends the program when the policy is refused. */
struct sbx_policy *bench_policy_load(const struct bench_policy *policy);

/* Requests in random order, one behind the other in memory, most of them about some rule. */
struct bench_requests {
	struct sbx_request *list;
	size_t count;
	char *text; /* what they point into */
};
void bench_requests_new(struct bench_requests *requests, const struct bench_policy *policy,
			size_t count, unsigned int depth);
void bench_requests_free(struct bench_requests *requests);

/* The nanoseconds of one operation, round by round. */
struct bench_times {
	double ns[BENCH_MAX_ROUNDS];
	size_t count;
};
double bench_now(void); /* of CPU time, in nanoseconds */
void bench_times_add(struct bench_times *times, double ns);
double bench_min(const struct bench_times *times);
double bench_median(const struct bench_times *times);
/* From the fastest to the slowest round, in percent of the median. */
double bench_spread(const struct bench_times *times);
/* How many times as long, in the median of the rounds, which were measured side by side. */
double bench_ratio(const struct bench_times *times, const struct bench_times *base);

#endif
