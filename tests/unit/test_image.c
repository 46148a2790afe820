/* SPDX-License-Identifier: MIT */
/*
 * Images as bytes: a good one survives a round trip, and a bad one (cut, flipped, made up) is either
 * refused or can be asked anything without harm. AddressSanitizer is the judge of harm: every image
 * stands in memory of exactly its size.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "load.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define HANG 600 /* seconds after which something hangs */

static const char policy_text[] =
	"[sandbox]\ninclude = none\nprotect = no\ncomplain = network\n"
	"[paths]\n"
	"read = ./work, ./**/*.md, ./pre*/x, ./*fix, ./a?c/*\n"
	"write = ./out, ./new/deep/root\n"
	"exec = ./work/tool ?\n"
	"deny = ./work/**/secret\n"
	"hide = ./work/gone\n"
	"[path docs]\nroot = ./docs\nmode = rwx\nsuffixes = .md, .txt\nmax_file_bytes = 1k\n"
	"reason = because\n"
	"[network]\n"
	"connect = example.com:443, *.example.org:80-90, 10.0.0.0/8:22, [fd00::/8]:1, localhost:5\n"
	"connect = *:7, unix:./app.sock\n"
	"deny = bad.example.org:*, unix:./work\n"
	"bind = 127.0.0.1:80\n";

/* With default protections: large. */
static const char large_text[] = "[sandbox]\ninclude = none\nworkspace = ./work\n";

static uint64_t state = 1;

static uint32_t random_number(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 32);
}

/* Paths are relative to the tree's root here, which stands in front of all of them. */
static const struct {
	const char *path, *to, *host;
	enum sbx_op op;
	uint16_t port;
	struct sbx_addr addr;
} questions[] = {
	{ .op = SBX_OP_READ, .path = "/work/a/secret" },
	{ .op = SBX_OP_READ, .path = "/pre/x" },
	{ .op = SBX_OP_READ, .path = "/suffix/x.md/abc/abc" },
	{ .op = SBX_OP_LIST, .path = "/abc/d" },
	{ .op = SBX_OP_WRITE, .path = "/out/.bashrc" },
	{ .op = SBX_OP_WRITE, .path = "/docs/f.md" },
	{ .op = SBX_OP_CREATE, .path = "/docs/f.sh" },
	{ .op = SBX_OP_CREATE, .path = "/new/deep" },
	{ .op = SBX_OP_CREATE, .path = "/work/.git/hooks/x" },
	{ .op = SBX_OP_DELETE, .path = "/work/gone" },
	{ .op = SBX_OP_RENAME, .path = "/out/a", .to = "/docs/a.md" },
	{ .op = SBX_OP_EXEC, .path = "/work/tool" },
	{ .op = SBX_OP_CONNECT, .path = "/app.sock" },
	{ .op = SBX_OP_CONNECT, .path = "/work/sock" },
	{ .op = SBX_OP_CONNECT, .host = "example.com", .port = 443 },
	{ .op = SBX_OP_CONNECT, .host = "bad.example.org", .port = 80, .addr = { 4, { 10, 1 } } },
	{ .op = SBX_OP_CONNECT, .host = "x.y", .port = 7, .addr = { 6, { 0xfd } } },
	{ .op = SBX_OP_BIND, .port = 80, .addr = { 4, { 127, 0, 0, 1 } } },
	{ .op = SBX_OP_LOOKUP, .host = "a.b.example.org" },
};

/* All that can be said about one decision. */
static uint64_t say(const struct sbx_report *report)
{
	static char text[SBX_TEXT_MAX], json[SBX_JSON_MAX];
	struct sbx_out out;

	sbx_out_init(&out, json, sizeof(json));
	sbx_words_json(report, &out);
	return 104729 * sbx_words_text(report, text, sizeof(text)) + 1299709 * sbx_out_finish(&out);
}

/* A number that depends on all of the answer. */
static uint64_t ask_one(const struct sbx_image *image, size_t index, bool in_words)
{
	static char path[2 * PATH_MAX], to[2 * PATH_MAX];
	struct sbx_request request = { .op = questions[index].op,
				       .size = 2000,
				       .port = questions[index].port,
				       .host = questions[index].host,
				       .addr = questions[index].addr,
				       .is_dir = index % 3 == 0 };
	struct sbx_step steps[8];
	struct sbx_trace trace = { .steps = steps, .cap = COUNT(steps) };
	struct sbx_verdict verdict;
	struct sbx_report report = { .image = image, .request = &request, .verdict = &verdict };

	if (questions[index].path) {
		snprintf(path, sizeof(path), "%s%s", tree_root, questions[index].path);
		request.path = path;
	}
	if (questions[index].to) {
		snprintf(to, sizeof(to), "%s%s", tree_root, questions[index].to);
		request.to = to;
	}
	report.given = request.path ? request.path : "somewhere:1";
	report.cwd = tree_root;
	sbx_eval_with(image, &request, NULL, &trace, &verdict);
	return verdict.code + 31 * verdict.rule + 977 * (uint64_t)verdict.flags +
	       7919 * trace.count + (in_words ? say(&report) : 0);
}

static uint64_t ask_all(const struct sbx_image *image)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < COUNT(questions); i++)
		sum = sum * 1000003 + ask_one(image, i, true);
	return sum;
}

/* Words take long: each time about another question. */
static void ask_most(const struct sbx_image *image)
{
	static size_t turn;

	for (size_t i = 0; i < COUNT(questions); i++)
		(void)ask_one(image, i, i == turn);
	turn = (turn + 1) % COUNT(questions);
}

struct trial {
	unsigned long refused, accepted;
};

/* The bytes as an image in memory of its own; asked when it passes. */
static void try_bytes(struct trial *trial, const void *bytes, size_t size)
{
	void *copy = malloc(size ? size : 1);

	if (!copy)
		BAIL_OUT("out of memory");
	memcpy(copy, bytes, size);
	if (sbx_image_check(copy, size) < 0) {
		trial->refused++;
	} else {
		trial->accepted++;
		ask_most(copy);
	}
	free(copy);
}

static void check_round_trip(const char *text, const char *which)
{
	struct sbx_policy *policy = load_text(text), *again = NULL;
	const char *file = tree_path("image.bin");
	size_t size, size_again, got;
	const void *bytes = sbx_image_bytes(policy, &size);
	char *read = malloc(size + 1);
	FILE *stream = fopen(file, "w+");

	if (!read || !stream)
		BAIL_OUT("cannot write %s", file);
	(void)fwrite(bytes, 1, size, stream);
	rewind(stream);
	got = fread(read, 1, size + 1, stream);
	fclose(stream);
	cmp_ok(got, "==", size, "%s image is written and read back", which);
	cmp_ok(sbx_load_image(read, got, &again), "==", 0, "%s image loads again", which);
	memset(read, 0xff, size);
	free(read);
	cmp_mem(sbx_image_bytes(again, &size_again), bytes, size, "with the same bytes");
	cmp_ok(size_again, "==", size, "and the same size");
	ok(ask_all(sbx_policy_image(again)) == ask_all(sbx_policy_image(policy)),
	   "and gives the same answers (%s)", which);
	sbx_free(again);
	sbx_free(policy);
}

/* The same policy makes the same image, whenever and wherever it is made. */
static void check_sameness(void)
{
	struct sbx_policy *one = load_text(policy_text), *two = load_text(policy_text);
	size_t size_one, size_two;
	const void *bytes_one = sbx_image_bytes(one, &size_one);
	const void *bytes_two = sbx_image_bytes(two, &size_two);

	ok(size_one == size_two && !memcmp(bytes_one, bytes_two, size_one),
	   "one policy loaded twice makes the same bytes");
	sbx_free(one);
	sbx_free(two);
}

static void check_refusals(const struct sbx_image *image, size_t size)
{
	static const char zeros[sizeof(struct sbx_image) + 64];
	char *copy = malloc(size + 16);
	struct sbx_policy *policy = NULL;

	if (!copy)
		BAIL_OUT("out of memory");
	cmp_ok(sbx_image_check(image, size), "==", 0, "a good image is good");
	cmp_ok(sbx_image_check("", 0), "==", -EINVAL, "nothing is no image");
	cmp_ok(sbx_image_check(zeros, sizeof(zeros)), "==", -EINVAL, "zeros are no image");
	memcpy(copy + 1, image, size);
	cmp_ok(sbx_image_check(copy + 1, size), "==", -EINVAL, "an image must be aligned");
	cmp_ok(sbx_load_image(copy + 1, size, &policy), "==", 0, "to be loaded it need not be");
	sbx_free(policy);
	policy = NULL;
	memcpy(copy, image, size);
	memset(copy + size, 0, 16);
	cmp_ok(sbx_image_check(copy, size + 8), "==", -EINVAL, "nothing may follow it");
	((struct sbx_image *)copy)->version++;
	cmp_ok(sbx_load_image(copy, size, &policy), "==", -EINVAL, "another version is refused");
	ok(!policy, "and nothing is made of it");
	free(copy);
}

/* Places that share their patterns would make a walk as long as their number squared. */
static void check_shared_fans(const struct sbx_image *image, size_t size)
{
	char *copy = malloc(size);
	uint32_t fan = SBX_NONE;
	struct sbx_node *nodes;

	if (!copy)
		BAIL_OUT("out of memory");
	memcpy(copy, image, size);
	nodes = (struct sbx_node *)(copy + image->tables[SBX_TABLE_nodes].offset);
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_nodes); i++)
		if (nodes[i].fan != SBX_NONE && sbx_fans(image)[nodes[i].fan].edges.count)
			fan = nodes[i].fan;
	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_nodes); i++)
		if (nodes[i].fan == SBX_NONE)
			nodes[i].fan = fan;
	ok(fan != SBX_NONE && sbx_image_check(copy, size) == -EINVAL,
	   "no two places may share their patterns");
	free(copy);
}

static void check_cuts(const struct sbx_image *image, size_t size)
{
	struct trial plain = { 0 }, dressed = { 0 };
	char *copy = malloc(size);

	if (!copy)
		BAIL_OUT("out of memory");
	for (size_t len = 0; len < size; len++) {
		try_bytes(&plain, image, len);
		if (len < sizeof(*image))
			continue;
		memcpy(copy, image, len);
		((struct sbx_image *)copy)->size = (uint32_t)len;
		try_bytes(&dressed, copy, len);
	}
	free(copy);
	cmp_ok(plain.accepted, "==", 0, "an image cut anywhere is refused (%lu cuts)",
	       plain.refused);
	cmp_ok(dressed.accepted, "<", 8, "also one that claims to be as short as it is");
}

/* Every byte with each bit flipped; the header's with all values. */
static void check_flips(const struct sbx_image *image, size_t size, const char *which, size_t step)
{
	struct trial trial = { 0 };
	unsigned char *copy = malloc(size);

	if (!copy)
		BAIL_OUT("out of memory");
	memcpy(copy, image, size);
	for (size_t i = 0; i < size; i += i < sizeof(*image) ? 1 : step) {
		unsigned char good = copy[i];
		bool all = i < sizeof(*image) && step == 1;

		for (int k = 0; k < (all ? 255 : 8); k++) {
			copy[i] = (unsigned char)(all ? good + 1 + k : good ^ 1 << k);
			try_bytes(&trial, copy, size);
		}
		copy[i] = good;
	}
	free(copy);
	ok(trial.refused > 0 && trial.accepted > 0,
	   "%s image with any byte changed is refused (%lu) or harmless (%lu)", which,
	   trial.refused, trial.accepted);
}

/* Whole numbers replaced by those that break bounds. */
static void check_numbers(const struct sbx_image *image, size_t size, int rounds)
{
	static const uint32_t wild[] = { 0,	     1,	     2,		 7,	     63,
					 64,	     255,    0x7fffffff, 0x80000000, 0xffffffff,
					 0xfffffffe, 0xffff, 4096,	 4097 };
	struct trial trial = { 0 };
	uint32_t *copy = malloc(size);

	if (!copy || size < sizeof(*image))
		BAIL_OUT("out of memory");
	for (int i = 0; i < rounds; i++) {
		memcpy(copy, image, size);
		for (uint32_t k = 1 + random_number() % 4; k > 0; k--) {
			uint32_t at = random_number() % (uint32_t)(size / 4);

			if (random_number() % 2)
				copy[at] = wild[random_number() % COUNT(wild)];
			else
				copy[at] += random_number() % 5 - 2;
		}
		try_bytes(&trial, copy, size);
	}
	free(copy);
	ok(trial.refused > 0 && trial.accepted > 0,
	   "numbers made wild are refused (%lu) or harmless (%lu)", trial.refused, trial.accepted);
}

/* Bytes behind a header that is right. */
static void check_noise(const struct sbx_image *image, size_t size, int rounds)
{
	struct trial trial = { 0 };
	unsigned char *copy = malloc(size);

	if (!copy)
		BAIL_OUT("out of memory");
	for (int i = 0; i < rounds; i++) {
		int table = (int)(random_number() % SBX_TABLE_COUNT);
		size_t from = image->tables[table].offset;
		size_t to = table + 1 < SBX_TABLE_COUNT ? image->tables[table + 1].offset : size;

		memcpy(copy, image, size);
		if (random_number() % 8 == 0)
			from = random_number() % 2 ? 0 : sizeof(*image), to = size;
		for (size_t k = from; k < to; k++)
			if (random_number() % 4 == 0)
				copy[k] = (unsigned char)random_number();
		try_bytes(&trial, copy, size);
	}
	free(copy);
	ok(trial.refused > 0, "noise is refused (%lu) or harmless (%lu)", trial.refused,
	   trial.accepted);
}

int main(void)
{
	const char *variant = getenv("SBX_VARIANT");
	bool slow = variant && !strcmp(variant, "asan");
	struct sbx_policy *small, *large;
	size_t size, large_size;

	plan(NO_PLAN);
	(void)alarm(HANG);
	tree_begin();
	tree_dir("work");
	tree_dir("out");
	tree_dir("docs");
	check_round_trip(policy_text, "a small");
	check_round_trip(large_text, "a large");
	check_sameness();
	small = load_text(policy_text);
	large = load_text(large_text);
	(void)sbx_image_bytes(small, &size);
	(void)sbx_image_bytes(large, &large_size);
	check_refusals(sbx_policy_image(small), size);
	check_shared_fans(sbx_policy_image(small), size);
	check_cuts(sbx_policy_image(small), size);
	check_flips(sbx_policy_image(small), size, "a small", slow ? 3 : 1);
	check_flips(sbx_policy_image(large), large_size, "a large", slow ? 211 : 53);
	check_numbers(sbx_policy_image(small), size, slow ? 5000 : 40000);
	check_noise(sbx_policy_image(small), size, slow ? 2000 : 10000);
	sbx_free(small);
	sbx_free(large);
	done_testing();
}
