/* SPDX-License-Identifier: MIT */
#include "births.h"

#include "tree.h"
#include "watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SETTLE_MS 100 /* after which a birth that was let go on has happened */
#define COUNT_LEAST_MS 10 /* between counts */
#define COUNT_SHARE 4 /* a count takes no more than a part of the time */

/* False without memory. */
static bool push(struct launch_birth_list *list, struct launch_birth birth)
{
	if (list->count == list->cap) {
		size_t wanted = list->cap ? list->cap * 2 : 64;
		struct launch_birth *bigger = reallocarray(list->items, wanted, sizeof(*bigger));

		if (!bigger)
			return false;
		list->items = bigger;
		list->cap = wanted;
	}
	list->items[list->count++] = birth;
	return true;
}

static void forget_old(struct launch_birth_list *recent, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < recent->count; i++)
		if (now - recent->items[i].at < SETTLE_MS)
			recent->items[kept++] = recent->items[i];
	recent->count = kept;
}

/* A thread that asks again has its last birth behind it. */
static bool note_birth(struct launch_birth_list *recent, struct launch_birth birth)
{
	birth.at = launch_now();
	for (size_t i = 0; i < recent->count; i++) {
		if (recent->items[i].thread == birth.thread) {
			recent->items[i] = birth;
			return true;
		}
	}
	if (recent->count > 256)
		forget_old(recent, birth.at);
	return push(recent, birth);
}

static void let_live(struct launch_births *births, struct launch_birth birth)
{
	if (!note_birth(&births->recent, birth)) {
		births->tell(births->arg, &birth, BIRTH_FAILED);
		return;
	}
	births->tasks++;
	births->tell(births->arg, &birth, BIRTH_GOES_ON);
}

int launch_births_due(const struct launch_births *births)
{
	uint64_t pause = births->count_ms * COUNT_SHARE, now = launch_now();

	if (!births->waiting.count)
		return -1;
	if (pause < COUNT_LEAST_MS)
		pause = COUNT_LEAST_MS;
	return now - births->counted >= pause ? 0 : (int)(pause - (now - births->counted));
}

/* How many births there may be that a count begun now does not see. */
static uint64_t count_unsettled(struct launch_births *births, uint64_t now)
{
	forget_old(&births->recent, now);
	return births->recent.count;
}

void launch_births_count(struct launch_births *births)
{
	uint64_t now = launch_now(), unsettled = count_unsettled(births, now), alive;
	struct launch_birth_list *waiting = &births->waiting;
	struct launch_tree tree;
	size_t done = 0;

	launch_tree_init(&tree, births->root);
	alive = launch_tree_find(&tree) < 0 ? births->limit : launch_tree_tasks(&tree);
	launch_tree_done(&tree);
	births->counted = now;
	births->count_ms = launch_now() - now;
	births->tasks = alive + unsettled;
	for (; done < waiting->count; done++) {
		if (alive >= births->limit)
			births->tell(births->arg, &waiting->items[done], BIRTH_REFUSED);
		else if (births->tasks < births->limit)
			let_live(births, waiting->items[done]);
		else
			break;
	}
	waiting->count -= done;
	memmove(waiting->items, waiting->items + done, waiting->count * sizeof(*waiting->items));
}

void launch_births_ask(struct launch_births *births, struct launch_birth birth)
{
	if (births->tasks < births->limit && !births->waiting.count)
		let_live(births, birth);
	else if (!push(&births->waiting, birth))
		births->tell(births->arg, &birth, BIRTH_FAILED);
	else if (launch_births_due(births) == 0)
		launch_births_count(births);
}
