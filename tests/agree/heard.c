/* SPDX-License-Identifier: MIT */
/* What a log of JSON lines says was refused. Names in these trees need no unescaping. */
#include "agree.h"

/* The text of a string member; false when there is none, or null. */
static bool member(const char *line, const char *name, char *out, size_t size)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":\"", name);
	at = strstr(line, key);
	if (!at)
		return false;
	at += strlen(key);
	snprintf(out, size, "%.*s", (int)strcspn(at, "\""), at);
	return true;
}

static bool is_below(const char *path, const char *tree)
{
	size_t len = strlen(tree);

	return !strncmp(path, tree, len) && (!path[len] || path[len] == '/');
}

void heard_read(struct heard *heard, const char *log, const struct world *world)
{
	const char *tree = world->grown.root;
	FILE *file = fopen(log, "re");
	struct heard_event event = { .expected = false };
	char *line = NULL, kind[24];
	size_t room = 0;

	*heard = (struct heard){ 0 };
	while (file && getline(&line, &room, file) > 0) {
		if (!member(line, "event", kind, sizeof(kind)) || strcmp(kind, "denial") != 0 ||
		    !member(line, "op", event.op, sizeof(event.op)) ||
		    !member(line, "code", event.code, sizeof(event.code)) ||
		    !member(line, "resolved", event.path, sizeof(event.path)) ||
		    !is_below(event.path, tree))
			continue;
		heard->events = reallocarray(heard->events, heard->count + 1, sizeof(event));
		if (!heard->events)
			BAIL_OUT("out of memory");
		world_call(world->grown.root, world->called, event.path);
		heard->events[heard->count++] = event;
	}
	free(line);
	if (file)
		fclose(file);
}

struct heard_event *heard_find(struct heard *heard, const struct answer *answer)
{
	const char *op = sbx_op_name(answer->op), *code = sbx_code_name(answer->verdict.code);
	/* What is hidden may have been met on the way to something else. */
	bool any = answer->verdict.code == SBX_CODE_HIDDEN;
	struct heard_event *found = NULL;

	for (size_t i = 0; i < heard->count; i++) {
		struct heard_event *event = &heard->events[i];

		if ((!any && strcmp(event->op, op) != 0) || strcmp(event->code, code) != 0 ||
		    strcmp(event->path, answer->at.path) != 0)
			continue;
		event->expected = true;
		found = event;
	}
	return found;
}

void heard_free(struct heard *heard)
{
	free(heard->events);
	*heard = (struct heard){ 0 };
}
