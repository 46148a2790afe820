/* SPDX-License-Identifier: MIT */
/* The policies that are measured, the folders they name, and the questions. */
#include "bench.h"

#include "peer.h"
#include "query.h"

#include <err.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX 600 /* of one request's path */

static char world[PATH_MAX];

static uint64_t random_state = 42;

static uint32_t any(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 16) % below;
}

static void remove_world(void)
{
	char *const roots[] = { world, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	for (FTSENT *entry; fts && (entry = fts_read(fts));)
		if (entry->fts_info != FTS_D)
			remove(entry->fts_accpath);
	if (fts)
		fts_close(fts);
}

/* Two components deep, wherever it is: "/tmp/x". SBX_BENCH_DIR may name another file system. */
void bench_world_start(void)
{
	const char *where = getenv("SBX_BENCH_DIR");
	char template[PATH_MAX];

	snprintf(template, sizeof(template), "%s/sbx-bench-XXXXXX", where ? where : "/tmp");
	if (!mkdtemp(template) || !realpath(template, world) || chmod(world, 0755) < 0)
		err(2, "cannot make a folder in '%s'", where ? where : "/tmp");
	atexit(remove_world);
}

const char *bench_world(void)
{
	return world;
}

/* Makes the folder and those above it. */
static void make_folder(const char *below)
{
	char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s/%s", world, below);
	for (char *slash = path + strlen(world); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (mkdir(path, 0755) < 0 && access(path, F_OK) < 0)
		err(2, "cannot make '%s'", path);
}

/* 20 teams of 25 projects of 20 modules, and two thirds of the rules are one deeper. */
static void literal_path(unsigned int i, char *out, size_t size)
{
	static const char *const ends[] = { "", "/include", "/data" };

	snprintf(out, size, "team-%02u/project-%02u/src/module-%02u%s", i / 500, i / 20 % 25,
		 i % 20, ends[i % 3]);
}

static void rule_line(enum bench_kind kind, unsigned int i, FILE *file)
{
	static const char *const keys[] = { "read", "write", "read", "deny",  "read",
					    "exec", "read",  "read", "write", "read" };
	char path[256];

	switch (kind) {
	case BENCH_LITERAL:
		literal_path(i, path, sizeof(path));
		make_folder(path);
		fprintf(file, "%s = ./%s\n", keys[i % 10], path);
		break;
	case BENCH_FLAT:
		snprintf(path, sizeof(path), "flat/rule-%u", i);
		make_folder(path);
		fprintf(file, "%s = ./%s\n", keys[i % 10], path);
		break;
	case BENCH_GLOB:
		fprintf(file,
			i % 3 == 0   ? "read = ./**/name_%u\n"
			: i % 3 == 1 ? "read = ./**/*.ext_%u\n"
				     : "read = ./any/*/b_%u\n",
			i);
		break;
	case BENCH_HARD:
		fprintf(file, "read = ./**/x*y_%u\n", i);
		break;
	case BENCH_PEERS:
		if (i % 4 == 0)
			fprintf(file, "connect = host-%u.example.org:443\n", i);
		else if (i % 4 == 1)
			fprintf(file, "connect = *.zone-%u.example.net:8000-8100\n", i);
		else
			fprintf(file, "connect = 10.%u.%u.%s\n", i / 250, i % 250,
				i % 4 == 2 ? "1:5432" : "0/24:*");
		break;
	}
}

void bench_policy_write(struct bench_policy *policy, enum bench_kind kind, unsigned int rules)
{
	static const char *const names[] = { [BENCH_LITERAL] = "literal",
					     [BENCH_FLAT] = "flat",
					     [BENCH_GLOB] = "glob",
					     [BENCH_HARD] = "hard",
					     [BENCH_PEERS] = "peers" };
	char path[PATH_MAX + 128];
	FILE *file;

	*policy = (struct bench_policy){ .kind = kind, .rules = rules };
	snprintf(policy->file, sizeof(policy->file), "%s-%u.ini", names[kind], rules);
	snprintf(path, sizeof(path), "%s/%s", world, policy->file);
	file = fopen(path, "we");
	if (!file)
		err(2, "cannot write '%s'", path);
	make_folder("any");
	fprintf(file, "[sandbox]\ninclude = none\n[%s]\n",
		kind == BENCH_PEERS ? "network" : "paths");
	for (unsigned int i = 0; i < rules; i++)
		rule_line(kind, i, file);
	if (fclose(file))
		err(2, "cannot write '%s'", path);
}

struct sbx_policy *bench_policy_load(const struct bench_policy *policy)
{
	const char *const files[] = { policy->file };
	struct sbx_load load = { .files = files, .file_count = 1, .cwd = world };
	static struct sbx_errors errors;
	struct sbx_policy *loaded;

	if (sbx_load(&load, &loaded, &errors) < 0)
		errx(2, "%s:%u: %s", errors.list[0].file, errors.list[0].line,
		     errors.count ? errors.list[0].text : "cannot be loaded");
	return loaded;
}

/* Fills up, or cuts, to 'depth' components. */
static void set_depth(char *path, size_t size, unsigned int depth)
{
	unsigned int have = 0;

	for (char *c = path; *c; c++) {
		have += *c == '/';
		if (have > depth) {
			*c = '\0';
			return;
		}
	}
	for (; have < depth; have++) {
		size_t len = strlen(path);

		snprintf(path + len, size - len, "/name-%04x", any(0x10000));
	}
}

/* A path that meets the rule; one in eight looks alike and does not. */
static void path_request(const struct bench_policy *policy, unsigned int depth, char *out)
{
	unsigned int rule = any(policy->rules);
	char path[256];
	int used = snprintf(out, TEXT_MAX, "%s/", world);

	if (policy->kind == BENCH_LITERAL)
		literal_path(rule, path, sizeof(path));
	else if (policy->kind == BENCH_HARD)
		snprintf(path, sizeof(path), "src/x%04xy_%u", any(0x10000), rule);
	else if (rule % 3 == 0)
		snprintf(path, sizeof(path), "src/lib-%u/name_%u", any(100), rule);
	else if (rule % 3 == 1)
		snprintf(path, sizeof(path), "src/lib-%u/file-%u.ext_%u", any(100), any(100), rule);
	else
		snprintf(path, sizeof(path), "any/dir-%u/b_%u", any(100), rule);
	snprintf(out + used, TEXT_MAX - (size_t)used, "%s%s", path, any(8) ? "" : "-evil");
	set_depth(out, TEXT_MAX, depth);
}

static void peer_request(const struct bench_policy *policy, struct sbx_request *request, char *out)
{
	unsigned int rule = any(policy->rules);
	unsigned int off = any(8) ? 0 : 1;

	request->op = SBX_OP_CONNECT;
	out[0] = '\0';
	if (rule % 4 == 0) {
		snprintf(out, TEXT_MAX, "host-%u.example.org", rule + off);
		request->port = 443;
	} else if (rule % 4 == 1) {
		snprintf(out, TEXT_MAX, "www.zone-%u.example.net", rule + off);
		request->port = 8001;
	} else {
		request->addr = (struct sbx_addr){
			4, { 10, (uint8_t)(rule / 250), (uint8_t)(rule % 250), (uint8_t)(1 + off) }
		};
		request->port = 5432;
	}
}

void bench_requests_new(struct bench_requests *requests, const struct bench_policy *policy,
			size_t count, unsigned int depth)
{
	size_t used = 0;

	requests->list = calloc(count, sizeof(*requests->list));
	requests->text = calloc(count, TEXT_MAX);
	requests->count = count;
	if (!requests->list || !requests->text)
		errx(2, "out of memory");
	for (size_t i = 0; i < count; i++) {
		struct sbx_request *request = &requests->list[i];
		char *text = requests->text + used;

		*request = (struct sbx_request){ .op = i % 2 ? SBX_OP_WRITE : SBX_OP_READ,
						 .size = -1 };
		if (policy->kind == BENCH_PEERS) {
			peer_request(policy, request, text);
			request->host = *text ? text : NULL;
		} else {
			path_request(policy, depth, text);
			request->path = text;
		}
		used += strlen(text) + 1;
	}
}

void bench_requests_free(struct bench_requests *requests)
{
	free(requests->list);
	free(requests->text);
}
