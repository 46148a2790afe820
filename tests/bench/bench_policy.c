/* SPDX-License-Identifier: MIT */
/*
 * What a verdict, a refusal in words and the loading of a policy cost, by the number of rules and
 * by the depth of the path.
 *
 *	bench_policy			everything, as tables, and the bars that are to be met
 *	bench_policy --once NAME RULES [TIMES]
 *					one case alone, for callgrind (see callgrind.sh) and perf
 *
 * Cases that are compared are measured side by side, round by round. SBX_BENCH_STRICT=1 makes a bar
 * that is not met an error, SBX_BENCH_ROUNDS sets the number of rounds, SBX_BENCH_DIR the folder.
 */
#include "bench.h"

#include "query.h"
#include "words.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define QUESTIONS 8192
#define COMPONENTS 8
#define LOADS 41
#define MAX_CASES 16
#define MAX_RULES 10000
#define WORDS_ENOUGH_NS 2e6

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const unsigned int sizes[] = { 10, 100, 1000, 10000 };

/* One line of a table. */
struct line {
	char name[40];
	struct bench_policy policy;
	struct bench_requests requests;
	struct bench_times times;
	size_t loop; /* how many words a round makes */
};

/*
 * Times are judged by the fastest round, because disturbances only ever add; ratios by the median,
 * because both sides of a round are disturbed alike. The other one is shown beside it.
 */
struct bar {
	const char *what;
	double is;
	double other;
	double most;
	const char *unit;
};

static struct bar bars[16];
static size_t bar_count;
static unsigned int rounds = 15;
/* Keeps the compiler from leaving the work away. */
static volatile uint64_t sink;

static void add_bar(const char *what, double is, double other, double most, const char *unit)
{
	if (bar_count < COUNT(bars))
		bars[bar_count++] = (struct bar){ what, is, other, most, unit };
}

static void line_start(struct line *line, enum bench_kind kind, unsigned int rules,
		       unsigned int depth)
{
	memset(line, 0, sizeof(*line));
	snprintf(line->name, sizeof(line->name), "%u", rules);
	bench_policy_write(&line->policy, kind, rules);
	line->policy.loaded = bench_policy_load(&line->policy);
	line->policy.image = sbx_policy_image(line->policy.loaded);
	bench_requests_new(&line->requests, &line->policy, QUESTIONS, depth);
}

static void line_done(struct line *line)
{
	bench_requests_free(&line->requests);
	sbx_free(line->policy.loaded);
}

/* The name is callgrind.sh's. */
__attribute__((noinline)) static void once_verdicts(const struct line *line)
{
	const struct sbx_image *image = line->policy.image;
	uint64_t sum = 0;

	for (size_t i = 0; i < line->requests.count; i++) {
		struct sbx_verdict verdict;

		sbx_eval(image, &line->requests.list[i], &verdict);
		sum += verdict.rule;
	}
	sink += sum;
}

static void measure_verdicts(struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		once_verdicts(&lines[i]);
	for (unsigned int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			double start = bench_now();

			once_verdicts(&lines[i]);
			bench_times_add(&lines[i].times, (bench_now() - start) / QUESTIONS);
		}
	}
}

/* How many different rules decided, and how much was allowed: proof that the questions are real. */
static void count_rules(const struct line *line, unsigned int *hit, unsigned int *allowed)
{
	static bool seen[MAX_RULES * 2];

	memset(seen, 0, sizeof(seen));
	*hit = *allowed = 0;
	for (size_t i = 0; i < line->requests.count; i++) {
		struct sbx_verdict verdict;

		sbx_eval(line->policy.image, &line->requests.list[i], &verdict);
		*allowed += verdict.allowed;
		if (verdict.rule >= COUNT(seen) || seen[verdict.rule])
			continue;
		seen[verdict.rule] = true;
		++*hit;
	}
}

static void print_verdicts(const char *title, const char *first, struct line *lines, size_t count)
{
	printf("\n%s\n%10s %8s %8s %7s %12s %6s %10s %9s %8s\n", title, first, "min ns", "median",
	       "spread", "verdicts/s", "ratio", "image KiB", "rules hit", "allowed");
	for (size_t i = 0; i < count; i++) {
		const struct bench_times *times = &lines[i].times;
		unsigned int hit, allowed;

		count_rules(&lines[i], &hit, &allowed);
		printf("%10s %8.1f %8.1f %6.0f%% %12.0f %6.2f %10.1f %9u %7u%%\n", lines[i].name,
		       bench_min(times), bench_median(times), bench_spread(times),
		       1e9 / bench_median(times), bench_ratio(times, &lines[0].times),
		       lines[i].policy.image->size / 1024.0, hit, allowed * 100 / QUESTIONS);
	}
	fflush(stdout);
}

/* The bars are those of many rules against few, and of a verdict under few and under many. */
static void bench_rules(enum bench_kind kind, const char *title, const char *const bars_of[3])
{
	struct line lines[COUNT(sizes)];
	const struct bench_times *few, *usual, *many;

	for (size_t i = 0; i < COUNT(sizes); i++)
		line_start(&lines[i], kind, sizes[i], COMPONENTS);
	measure_verdicts(lines, COUNT(sizes));
	print_verdicts(title, kind == BENCH_PEERS ? "peers" : "rules", lines, COUNT(sizes));
	few = &lines[0].times;
	usual = &lines[2].times;
	many = &lines[COUNT(sizes) - 1].times;
	if (bars_of) {
		add_bar(bars_of[0], bench_ratio(many, few), bench_min(many) / bench_min(few), 2,
			"times");
		add_bar(bars_of[1], bench_min(few), bench_median(few), 300, "ns");
		add_bar(bars_of[2], bench_min(usual), bench_median(usual), 300, "ns");
	}
	for (size_t i = 0; i < COUNT(sizes); i++)
		line_done(&lines[i]);
}

/* Patterns with something before and behind the star: the one kind whose cost is by the rule. */
static void bench_hard(void)
{
	static const unsigned int few[] = { 10, 100, 1000 };
	struct line lines[COUNT(few)];

	for (size_t i = 0; i < COUNT(few); i++)
		line_start(&lines[i], BENCH_HARD, few[i], COMPONENTS);
	measure_verdicts(lines, COUNT(few));
	print_verdicts("verdicts, patterns **/x*y_1, which are tried one by one", "rules", lines,
		       COUNT(few));
	for (size_t i = 0; i < COUNT(few); i++)
		line_done(&lines[i]);
}

static void bench_depth(void)
{
	static const unsigned int depths[] = { 2, 4, 8, 16, 32 };
	struct line lines[COUNT(depths)];

	for (size_t i = 0; i < COUNT(depths); i++) {
		line_start(&lines[i], BENCH_LITERAL, 1000, depths[i]);
		snprintf(lines[i].name, sizeof(lines[i].name), "%u", depths[i]);
	}
	measure_verdicts(lines, COUNT(depths));
	print_verdicts("verdicts by depth of the path, 1000 literal rules", "components", lines,
		       COUNT(depths));
	for (size_t i = 0; i < COUNT(depths); i++)
		line_done(&lines[i]);
}

/* The name is callgrind.sh's. */
__attribute__((noinline)) static void once_words(const struct line *line, size_t count)
{
	struct sbx_request request = { .op = SBX_OP_READ, .size = -1, .path = "/etc/passwd" };
	struct sbx_verdict verdict;
	struct sbx_report report = { .image = line->policy.image,
				     .request = &request,
				     .verdict = &verdict,
				     .given = request.path,
				     .cwd = bench_world() };
	char text[SBX_TEXT_MAX];

	for (size_t i = 0; i < count; i++) {
		sbx_eval(line->policy.image, &request, &verdict);
		sink += sbx_words_text(&report, text, sizeof(text));
	}
}

static void measure_words(struct line *lines, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double start = bench_now();

		once_words(&lines[i], 1);
		lines[i].loop = 1 + (size_t)(WORDS_ENOUGH_NS / (bench_now() - start));
	}
	for (unsigned int round = 0; round < rounds; round++) {
		for (size_t i = 0; i < count; i++) {
			double start = bench_now();

			once_words(&lines[i], lines[i].loop);
			bench_times_add(&lines[i].times,
					(bench_now() - start) / (double)lines[i].loop);
		}
	}
}

static void bench_words(void)
{
	struct line lines[COUNT(sizes)];

	for (size_t i = 0; i < COUNT(sizes); i++)
		line_start(&lines[i], BENCH_LITERAL, sizes[i], COMPONENTS);
	measure_words(lines, COUNT(sizes));
	printf("\na refusal in words (text)\n%10s %8s %8s %7s %6s\n", "rules", "min us", "median",
	       "spread", "ratio");
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const struct bench_times *times = &lines[i].times;

		printf("%10s %8.2f %8.2f %6.0f%% %6.1f\n", lines[i].name, bench_min(times) / 1e3,
		       bench_median(times) / 1e3, bench_spread(times),
		       bench_ratio(times, &lines[0].times));
		line_done(&lines[i]);
	}
	fflush(stdout);
}

/* The name is callgrind.sh's. */
__attribute__((noinline)) static void once_load(const struct line *line)
{
	sbx_free(bench_policy_load(&line->policy));
}

/* What the kernel takes for the least it can do, and for what loading does most: a yardstick. */
static void print_yardstick(void)
{
	enum {
		TIMES = 20000
	};
	struct bench_times idle = { 0 }, look = { 0 };

	for (int round = 0; round < 5; round++) {
		double start = bench_now(), middle;
		struct stat st;

		for (int i = 0; i < TIMES; i++)
			(void)getppid();
		middle = bench_now();
		for (int i = 0; i < TIMES; i++)
			(void)lstat(bench_world(), &st);
		bench_times_add(&look, (bench_now() - middle) / TIMES);
		bench_times_add(&idle, (middle - start) / TIMES);
	}
	printf("this machine: getppid %.0f ns, lstat of two components %.0f ns\n", bench_min(&idle),
	       bench_min(&look));
}

static void bench_load(enum bench_kind kind, const char *where, const char *bar)
{
	struct line lines[COUNT(sizes)];

	for (size_t i = 0; i < COUNT(sizes); i++)
		line_start(&lines[i], kind, sizes[i], COMPONENTS);
	for (int round = 0; round < LOADS; round++) {
		for (size_t i = 0; i < COUNT(sizes); i++) {
			double start = bench_now();

			once_load(&lines[i]);
			bench_times_add(&lines[i].times, bench_now() - start);
		}
	}
	printf("\nloading a policy file, folders that exist %s (%d times)\n%10s %8s %8s %7s %10s\n",
	       where, LOADS, "rules", "min ms", "median", "spread", "us/rule");
	for (size_t i = 0; i < COUNT(sizes); i++) {
		const struct bench_times *times = &lines[i].times;

		printf("%10s %8.3f %8.3f %6.0f%% %10.2f\n", lines[i].name, bench_min(times) / 1e6,
		       bench_median(times) / 1e6, bench_spread(times),
		       bench_median(times) / 1e3 / sizes[i]);
		if (sizes[i] == 1000 && bar)
			add_bar(bar, bench_min(times) / 1e6, bench_median(times) / 1e6, 2, "ms");
		line_done(&lines[i]);
	}
	fflush(stdout);
}

static int judge(void)
{
	const char *strict = getenv("SBX_BENCH_STRICT");
	int missed = 0;

	puts("");
	for (size_t i = 0; i < bar_count; i++) {
		bool met = bars[i].is <= bars[i].most;

		missed += !met;
		printf("bar: %s: %.2f %s (%s %.2f), at most %.0f: %s\n", bars[i].what, bars[i].is,
		       bars[i].unit, strcmp(bars[i].unit, "times") ? "median" : "fastest rounds",
		       bars[i].other, bars[i].most, met ? "met" : "NOT met");
	}
	return missed && strict && *strict ? 1 : 0;
}

static int once(const char *what, unsigned int rules, unsigned int times)
{
	enum bench_kind kind = !strcmp(what, "glob")	? BENCH_GLOB
			       : !strcmp(what, "peers") ? BENCH_PEERS
							: BENCH_LITERAL;
	static struct line line;

	line_start(&line, kind, rules, COMPONENTS);
	for (; times > 0; times--) {
		if (!strcmp(what, "words"))
			once_words(&line, 1);
		else if (!strcmp(what, "load"))
			once_load(&line);
		else
			once_verdicts(&line);
	}
	printf("%d\n", !strcmp(what, "words") || !strcmp(what, "load") ? 1 : QUESTIONS);
	line_done(&line);
	return 0;
}

static unsigned int number(const char *text, unsigned int preset, unsigned int most)
{
	unsigned long value = text ? strtoul(text, NULL, 10) : preset;

	return value < 1 ? 1 : value > most ? most : (unsigned int)value;
}

int main(int argc, char **argv)
{
	static const char *const literal_bars[] = { "10000 literal rules against 10",
						    "8 components under 10 literal rules",
						    "8 components under 1000 literal rules" };
	static const char *const pattern_bars[] = { "10000 patterns against 10",
						    "8 components under 10 patterns",
						    "8 components under 1000 patterns" };

	rounds = number(getenv("SBX_BENCH_ROUNDS"), rounds, BENCH_MAX_ROUNDS);
	bench_world_start();
	if (argc >= 4 && !strcmp(argv[1], "--once"))
		return once(argv[2], number(argv[3], 1, MAX_RULES), number(argv[4], 1, 1000000));
	if (argc != 1)
		errx(2, "usage: bench_policy [--once literal|glob|peers|words|load RULES [TIMES]]");
	printf("CPU time; %u rounds, side by side; %d questions a round; 8 components; protections "
	       "on\n",
	       rounds, QUESTIONS);
	print_yardstick();
	bench_rules(BENCH_LITERAL, "verdicts, literal rules", literal_bars);
	bench_rules(BENCH_GLOB, "verdicts, patterns **/name_1, **/*.ext_1, ./any/*/b_1",
		    pattern_bars);
	bench_hard();
	bench_depth();
	bench_rules(BENCH_PEERS, "verdicts, connect to hosts, subdomains, addresses and networks",
		    NULL);
	bench_words();
	bench_load(BENCH_FLAT, "in one folder", "loading 1000 rules");
	/* Without a bar: the kernel looks up most of them in a folder of their own. */
	bench_load(BENCH_LITERAL, "spread over a tree", NULL);
	return judge();
}
