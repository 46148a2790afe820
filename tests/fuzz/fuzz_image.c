/* SPDX-License-Identifier: MIT */
/*
 * Arbitrary bytes as an image, with requests behind it: what passes sbx_image_check() must answer
 * every question without a crash, without going on for ever, with sound verdicts, and in words that
 * can be printed.
 *
 * Bytes alone would hardly pass the check. So the mutator knows where the tables are, starts from
 * images that are compiled when it starts (those in the corpus may be of an older layout), and sets
 * magic, version and size right. SBX_FUZZ_SEEDS=FOLDER writes those images there, and ends.
 */
#include "fuzz.h"

#include "engine.h"
#include "ops.h"
#include "peer.h"
#include "query.h"
#include "words.h"

#include "seeds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MAX_REQUESTS 24
#define MAX_STEPS 8
#define MAX_PATH 4096
#define CROWD 1024u

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes fresh[COUNT(seeds)];

/* One request, and what it points into. */
struct question {
	struct sbx_request request;
	const char *given;
	char text[MAX_PATH];
	char host[SBX_HOST_MAX];
	char *to;
};

static void check_verdict(const struct sbx_image *image, const struct sbx_verdict *verdict)
{
	MUST(verdict->code < SBX_CODE_COUNT);
	MUST(verdict->allowed == (verdict->code == SBX_CODE_ALLOWED));
	MUST(verdict->allowed == (verdict->error == 0));
	MUST(verdict->rule == SBX_NONE || verdict->rule < sbx_count(image, SBX_TABLE_rules));
	MUST(verdict->section == SBX_NONE ||
	     verdict->section < sbx_count(image, SBX_TABLE_sections));
}

static void check_text(const struct sbx_report *report)
{
	char text[SBX_TEXT_MAX], cut[41];
	size_t want = sbx_words_text(report, text, sizeof(text));

	MUST(want == strlen(text) && fuzz_is_plain(text, want, "\n"));
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		MUST(!strncmp(line, "sbx: ", 5) && end - line + 1 <= SBX_LINE_MAX);
	MUST(want && text[want - 1] == '\n');
	if (strlen(report->given) % 4)
		return;
	MUST(sbx_words_text(report, cut, sizeof(cut)) == want && strlen(cut) < sizeof(cut));
	MUST(!memcmp(text, cut, strlen(cut)));
	MUST(sbx_words_text(report, NULL, 0) == want);
}

static void check_json(const struct sbx_report *report)
{
	char *text = malloc(SBX_JSON_MAX);
	struct sbx_out out;

	MUST(text);
	sbx_out_init(&out, text, SBX_JSON_MAX);
	sbx_out_str(&out, "{");
	sbx_words_json(report, &out);
	sbx_out_str(&out, "}");
	if (sbx_out_finish(&out) == out.len)
		MUST(fuzz_is_json(text, out.len));
	free(text);
}

/* A line that is suggested must help. */
static void check_suggestion(const struct sbx_report *report)
{
	const struct sbx_request *request = report->request;
	struct sbx_suggestion suggestion;
	char text[SBX_LINE_MAX * 2];
	struct sbx_out out;

	sbx_suggest(report, &suggestion);
	sbx_out_init(&out, text, sizeof(text));
	sbx_suggest_value(report, &suggestion, &out);
	sbx_suggest_text(report, &suggestion, &out);
	(void)sbx_out_finish(&out);
	MUST(suggestion.kind != SBX_SUGGEST_LINE || !report->verdict->allowed);
	MUST(suggestion.kind != SBX_SUGGEST_CHANGE ||
	     suggestion.rule < sbx_count(report->image, SBX_TABLE_rules));
	if (suggestion.kind == SBX_SUGGEST_LINE && request->path && !request->to)
		MUST(suggestion.path_len > 0 && suggestion.path_len <= strlen(request->path));
}

/* The walk shown must not change what is decided. */
static void check_trace(const struct sbx_image *image, const struct sbx_request *request,
			const struct sbx_verdict *verdict, size_t cap)
{
	struct sbx_step steps[MAX_STEPS];
	struct sbx_trace trace = { steps, cap, 0 };
	struct sbx_verdict again;

	sbx_eval_with(image, request, NULL, &trace, &again);
	MUST(again.allowed == verdict->allowed && again.code == verdict->code &&
	     again.rule == verdict->rule && again.section == verdict->section &&
	     again.flags == verdict->flags && again.rights == verdict->rights);
	for (size_t i = 0; i < trace.count && i < cap; i++)
		MUST(steps[i].rule < sbx_count(image, SBX_TABLE_rules));
}

static void ask(const struct sbx_image *image, const struct question *question)
{
	struct sbx_verdict verdict;
	struct sbx_report report = {
		.image = image,
		.request = &question->request,
		.verdict = &verdict,
		.given = question->given,
		.cwd = "/srv",
		.program = question->request.is_dir ? "cat" : NULL,
		.pid = 1,
		.syscall = "openat",
	};

	memset(&verdict, 0x5a, sizeof(verdict));
	sbx_eval(image, &question->request, &verdict);
	check_verdict(image, &verdict);
	check_trace(image, &question->request, &verdict, strlen(question->given) % MAX_STEPS);
	check_text(&report);
	check_json(&report);
	check_suggestion(&report);
}

static void set_destination(struct question *question)
{
	struct sbx_request *request = &question->request;
	struct sbx_peer peer;

	if (request->op == SBX_OP_LOOKUP) {
		if (!sbx_host_normalize(question->text, strlen(question->text), question->host))
			request->host = question->host;
		/* Now and then it is known what for. */
		request->port = request->is_dir ? 25 : 0;
		return;
	}
	if (sbx_peer_parse(question->text, &peer))
		return;
	request->port = peer.low;
	request->addr = peer.addr;
	if (peer.kind == SBX_PEER_UNIX) {
		request->path = peer.path;
	} else if (peer.kind == SBX_PEER_HOST) {
		memcpy(question->host, peer.host, sizeof(question->host));
		request->host = question->host;
		/* Now and then both are known. */
		request->addr = (struct sbx_addr){ .family = request->is_dir ? 4 : 0,
						   .bytes = { 10, 1, 2, 3 } };
	}
}

/* See seeds.h. */
static void set_question(struct question *question, const char *line, size_t len)
{
	struct sbx_request *request = &question->request;
	unsigned int flags = (unsigned char)line[1] - 'a';

	memset(question, 0, offsetof(struct question, text));
	question->host[0] = '\0';
	question->to = NULL;
	len = len - 2 < MAX_PATH ? len - 2 : MAX_PATH - 1;
	memcpy(question->text, line + 2, len);
	question->text[len] = '\0';
	question->given = flags & 8 ? "../\xc3\xa9'\n" : question->text;
	request->op = (enum sbx_op)((unsigned char)(line[0] - 'a') % SBX_OP_COUNT);
	request->is_dir = flags & 1;
	request->new_repo = flags & 2;
	request->size = flags & 4 ? 20 << 20 : -1;
	if (sbx_ops[request->op].flags & SBX_OP_IS_NET) {
		set_destination(question);
		return;
	}
	request->path = question->text;
	question->to = strchr(question->text, '\t');
	if (question->to) {
		*question->to++ = '\0';
		request->to = request->op == SBX_OP_RENAME ? question->to : NULL;
	}
}

static void ask_lines(const struct sbx_image *image, const char *text, size_t size)
{
	static struct question question;

	for (int i = 0; i < MAX_REQUESTS && size > 0; i++) {
		const char *end = memchr(text, '\n', size);
		size_t len = end ? (size_t)(end - text) : size;

		if (len >= 2 && !memchr(text, '\0', len)) {
			set_question(&question, text, len);
			ask(image, &question);
		}
		text += len + (end != NULL);
		size -= len + (end != NULL);
	}
}

/* The rules' own paths lead deepest. */
static void ask_rules(const struct sbx_image *image)
{
	static struct question question;
	char line[MAX_PATH];

	for (uint32_t i = 0; i < sbx_count(image, SBX_TABLE_rules) && i < 6; i++) {
		const struct sbx_rule *rule = &sbx_rules(image)[i];
		bool net = rule->kind >= SBX_RULE_CONNECT;
		int len = snprintf(line, sizeof(line), "%c%c%s%s", net ? 'i' : (char)('a' + i),
				   (char)('a' + i % 4), sbx_str(image, rule->path),
				   net ? "" : "/x/y.md");

		if (len < 2 || (size_t)len >= sizeof(line))
			continue;
		set_question(&question, line, (size_t)len);
		ask(image, &question);
	}
}

static uint32_t image_size(const uint8_t *data, size_t size)
{
	struct sbx_image head;

	if (size < sizeof(head))
		return (uint32_t)size;
	memcpy(&head, data, sizeof(head));
	return head.size < size ? head.size : (uint32_t)size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t length = image_size(data, size);
	void *copy = calloc(1, length ? length : 1); /* aligned, and of its exact size */
	struct sbx_policy *policy;

	MUST(copy);
	if (length)
		memcpy(copy, data, length);
	if (sbx_image_check(copy, length) == 0) {
		ask_rules(copy);
		ask_lines(copy, (const char *)data + length, size - length);
		MUST(sbx_load_image(copy, length, &policy) == 0);
		sbx_free(policy);
	} else {
		MUST(sbx_load_image(copy, length, &policy) < 0);
	}
	free(copy);
	return 0;
}

static uint64_t random_state;

static uint32_t any(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return below ? (uint32_t)(random_state >> 16) % below : 0;
}

static const uint32_t table_sizes[SBX_TABLE_COUNT] = {
#define TABLE(name, type) [SBX_TABLE_##name] = sizeof(type),
	SBX_TABLES(TABLE)
#undef TABLE
};

/* A number that means something somewhere in this image. */
static uint32_t telling_number(const struct sbx_image *head)
{
	uint32_t count = head->tables[any(SBX_TABLE_COUNT)].count;

	switch (any(6)) {
	case 0:
		return SBX_NONE;
	case 1:
		return count;
	case 2:
		return any(8);
	case 3:
		return (uint32_t)1 << any(32);
	default:
		return any(count);
	}
}

/* Changes one number, or one byte of the strings, inside a table. */
static void change_table(uint8_t *data, uint32_t length)
{
	struct sbx_image head;
	uint32_t table = any(SBX_TABLE_COUNT), number;
	uint64_t span;

	memcpy(&head, data, sizeof(head));
	number = telling_number(&head);
	span = (uint64_t)head.tables[table].count * table_sizes[table];
	if (span < 4 || head.tables[table].offset + span > length)
		return;
	if (table == SBX_TABLE_strings)
		data[head.tables[table].offset + any((uint32_t)span)] =
			(uint8_t) "/*?.a\0:\\\xc3\xa9"[any(10)];
	else
		memcpy(data + head.tables[table].offset + any((uint32_t)span / 4) * 4, &number, 4);
}

/* Changes one number of the header; a table only ever becomes smaller. */
static void change_header(uint8_t *data)
{
	struct sbx_image head = { .size = 0 };
	uint32_t *fields[] = { &head.seed, &head.net_seed, &head.max_probe, &head.root,
			       &head.tmp,  &head.home,	   &head.main_file, &head.globs };
	uint32_t table = any(SBX_TABLE_COUNT);

	memcpy(&head, data, sizeof(head));
	if (any(2))
		*fields[any(COUNT(fields))] = telling_number(&head);
	else
		head.tables[table].count = any(head.tables[table].count + 1);
	memcpy(data, &head, sizeof(head));
}

static void repair(uint8_t *data, uint32_t length)
{
	struct sbx_image head;

	memcpy(&head, data, sizeof(head));
	memcpy(head.magic, SBX_IMAGE_MAGIC, sizeof(head.magic));
	head.version = SBX_IMAGE_VERSION;
	head.size = length;
	memcpy(data, &head, sizeof(head));
}

static size_t start_anew(uint8_t *data, size_t max_size)
{
	const struct bytes *seed = &fresh[any(COUNT(fresh))];

	if (seed->size > max_size)
		return 0;
	memcpy(data, seed->data, seed->size);
	return seed->size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	uint32_t length;
	size_t tail;

	random_state = seed * 0x9e3779b97f4a7c15u + 1;
	if (size < sizeof(struct sbx_image) || any(32) == 0)
		size = start_anew(data, max_size);
	if (size < sizeof(struct sbx_image))
		return LLVMFuzzerMutate(data, size, max_size);
	length = image_size(data, size);
	if (length < sizeof(struct sbx_image))
		length = (uint32_t)size;
	tail = size - length;
	if (any(3) == 0)
		return length + LLVMFuzzerMutate(data + length, tail, max_size - length);
	if (any(8) == 0) {
		size = LLVMFuzzerMutate(data, size, max_size);
		length = size < length ? (uint32_t)size : length;
		if (length < sizeof(struct sbx_image))
			return size;
	}
	for (uint32_t i = any(3) + 1; i > 0; i--)
		any(6) ? change_table(data, length) : change_header(data);
	repair(data, length);
	return size;
}

/* What only a forged image can have. */
static void make_hostile(uint8_t *data)
{
	struct sbx_image head;

	memcpy(&head, data, sizeof(head));
	for (uint32_t i = 0; i < head.tables[SBX_TABLE_strings].count; i++) {
		uint8_t *byte = data + head.tables[SBX_TABLE_strings].offset + i;

		*byte = *byte == 'Z' ? 0x1b : *byte;
	}
}

static void append(struct bytes *bytes, enum sbx_table table, const void *list, uint32_t count)
{
	size_t size = (size_t)count * table_sizes[table], at = (bytes->size + 7) & ~(size_t)7;
	struct sbx_image head;

	bytes->data = realloc(bytes->data, at + size);
	MUST(bytes->data);
	memset(bytes->data + bytes->size, 0, at - bytes->size);
	memcpy(bytes->data + at, list, size);
	bytes->size = at + size;
	memcpy(&head, bytes->data, sizeof(head));
	head.tables[table] = (struct sbx_span){ (uint32_t)at, count };
	head.size = (uint32_t)bytes->size;
	memcpy(bytes->data, &head, sizeof(head));
}

/* CROWD places "*" behind "/", each of which leads on to all of them. */
static void make_crowd(struct bytes *bytes)
{
	static struct sbx_node nodes[CROWD + 1];
	static struct sbx_fan fans[CROWD + 1];
	static uint32_t all[CROWD];
	const struct sbx_image *image = (const struct sbx_image *)(void *)bytes->data;
	uint32_t star = 0;

	while (sbx_str(image, star)[0] != '*')
		star++;
	for (uint32_t i = 0; i <= CROWD; i++) {
		uint32_t fan = i ? i - 1 : CROWD;

		nodes[i] = sbx_nodes(image)[0];
		nodes[i].fan = fan;
		fans[fan] = (struct sbx_fan){ .node = i, .star = SBX_NONE, .edges = { 0, CROWD } };
		if (i == 0)
			continue;
		nodes[i].parent = 0;
		nodes[i].name = star;
		nodes[i].name_len = 1;
		nodes[i].head[0] = '*';
		nodes[i].kind = SBX_EDGE_GLOB;
		all[i - 1] = i;
	}
	append(bytes, SBX_TABLE_nodes, nodes, CROWD + 1);
	append(bytes, SBX_TABLE_fans, fans, CROWD + 1);
	append(bytes, SBX_TABLE_edges, all, CROWD);
	append(bytes, SBX_TABLE_slots, (struct sbx_slot[1]){ { 0, SBX_NONE } }, 1);
	((struct sbx_image *)(void *)bytes->data)->globs = CROWD;
}

static void compile_seed(size_t i)
{
	unsigned int how = *seeds[i].name ? FUZZ_GENERIC | FUZZ_LENIENT : 0;
	size_t image_len, tail_len = strlen(seeds[i].requests);
	struct sbx_errors errors;
	struct sbx_policy *policy;
	const void *image;

	if (fuzz_compile(seeds[i].policy, strlen(seeds[i].policy), how, &policy, &errors) < 0) {
		fprintf(stderr, "seed '%s': %s\n", seeds[i].name, errors.list[0].text);
		abort();
	}
	image = sbx_image_bytes(policy, &image_len);
	fresh[i] = (struct bytes){ malloc(image_len), image_len };
	MUST(fresh[i].data);
	memcpy(fresh[i].data, image, image_len);
	sbx_free(policy);
	if (!strcmp(seeds[i].name, "hostile"))
		make_hostile(fresh[i].data);
	if (!strcmp(seeds[i].name, "crowd"))
		make_crowd(&fresh[i]);
	fresh[i].data = realloc(fresh[i].data, fresh[i].size + tail_len);
	MUST(fresh[i].data);
	memcpy(fresh[i].data + fresh[i].size, seeds[i].requests, tail_len);
	fresh[i].size += tail_len;
}

static void write_seed(const char *folder, size_t i)
{
	char path[MAX_PATH];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.img", folder, seeds[i].name);
	file = fopen(path, "we");
	MUST(file && fwrite(fresh[i].data, 1, fresh[i].size, file) == fresh[i].size);
	MUST(fclose(file) == 0);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("SBX_FUZZ_SEEDS");
	char *copy = folder ? strdup(folder) : NULL;

	(void)argc;
	(void)argv;
	fuzz_compile_start();
	for (size_t i = 0; i < COUNT(seeds); i++)
		compile_seed(i);
	for (size_t i = 0; copy && i < COUNT(seeds); i++)
		if (*seeds[i].name)
			write_seed(copy, i);
	if (copy)
		exit(0);
	return 0;
}
