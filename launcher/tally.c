/* SPDX-License-Identifier: MIT */
/*
 * A set of hashes. The hash is SipHash-2-4 under a secret of the run, so that equal hashes can be
 * taken for equal events, and no program can make its targets meet. Memory that is not to be had
 * costs words, never counts.
 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define FIRST_SLOTS 256u

enum tag {
	TAG_EVENT,
	TAG_TARGET
};

static uint64_t rotated(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[2] += v[3];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] = rotated(v[0], 32);
	v[2] += v[1];
	v[0] += v[3];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] = rotated(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	sip_round(v);
	sip_round(v);
	v[0] ^= word;
}

static uint64_t sip_hash(const uint64_t secret[2], const void *bytes, size_t len)
{
	uint64_t v[4] = { secret[0] ^ 0x736f6d6570736575u, secret[1] ^ 0x646f72616e646f6du,
			  secret[0] ^ 0x6c7967656e657261u, secret[1] ^ 0x7465646279746573u };
	const char *at = bytes;
	uint64_t last = (uint64_t)len << 56, word = 0;

	for (; len >= sizeof(word); at += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sip_word(v, word);
	}
	word = 0;
	memcpy(&word, at, len);
	sip_word(v, last | word);
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t hash_of(const struct launch_tally *tally, const struct launch_key *key,
			enum tag tag)
{
	const uint64_t words[] = { sip_hash(tally->secret, key->target, strlen(key->target)),
				   tag,
				   key->event,
				   key->op,
				   key->code,
				   tag == TAG_EVENT ? (uint64_t)key->pid : 0 };

	return sip_hash(tally->secret, words, sizeof(words));
}

void launch_tally_init(struct launch_tally *tally)
{
	struct timespec now;

	if (getrandom(tally->secret, sizeof(tally->secret), GRND_NONBLOCK) == sizeof(tally->secret))
		return;
	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	tally->secret[0] ^= (uint64_t)now.tv_nsec;
	tally->secret[1] ^= (uint64_t)(uintptr_t)tally;
}

static void done_kinds(struct launch_kind *kinds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (int k = 0; k < TALLY_TARGETS; k++)
			free(kinds[i].shown[k]);
}

void launch_tally_done(struct launch_tally *tally)
{
	done_kinds(&tally->kinds[0][0][0], sizeof(tally->kinds) / sizeof(tally->kinds[0][0][0]));
	for (uint32_t i = 0; i < tally->seen_count; i++) {
		free(tally->seen[i].headline);
		free(tally->seen[i].members);
	}
	free(tally->seen);
	free(tally->slots);
	*tally = (struct launch_tally){ .seen = NULL };
}

/* The slot that has the hash, or the free one where it belongs; there is always a free one. */
static struct launch_slot *find(struct launch_slot *slots, uint32_t count, uint64_t hash)
{
	uint32_t at = (uint32_t)hash & (count - 1);

	while (slots[at].used && slots[at].hash != hash)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

/* Keeps half of the slots free. */
static bool make_room(struct launch_tally *tally)
{
	uint32_t count = tally->slot_count ? tally->slot_count * 2 : FIRST_SLOTS;
	struct launch_slot *slots;

	if (tally->slots_used < tally->slot_count / 2)
		return true;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return false;
	for (uint32_t i = 0; i < tally->slot_count; i++)
		if (tally->slots[i].used)
			*find(slots, count, tally->slots[i].hash) = tally->slots[i];
	free(tally->slots);
	tally->slots = slots;
	tally->slot_count = count;
	return true;
}

static void take(struct launch_tally *tally, struct launch_slot *slot, uint64_t hash, uint32_t seen)
{
	*slot = (struct launch_slot){ .hash = hash, .used = 1, .seen = seen };
	tally->slots_used++;
}

static void show_target(struct launch_kind *kind, const char *target)
{
	char text[TALLY_TARGET_SHOWN + 1];
	struct sbx_out out;

	if (kind->targets >= TALLY_TARGETS)
		return;
	sbx_out_init(&out, text, sizeof(text));
	sbx_out_shortened(&out, target, TALLY_TARGET_SHOWN, SBX_ESCAPE_PLAIN);
	(void)sbx_out_finish(&out);
	kind->shown[kind->targets] = strdup(text);
}

static void add_target(struct launch_tally *tally, struct launch_kind *kind,
		       const struct launch_key *key)
{
	uint64_t hash = hash_of(tally, key, TAG_TARGET);
	struct launch_slot *slot;

	if (!*key->target)
		return;
	if (!make_room(tally)) {
		kind->more_targets = true;
		return;
	}
	slot = find(tally->slots, tally->slot_count, hash);
	if (slot->used)
		return;
	if (kind->targets == TALLY_PER_KIND) {
		kind->more_targets = true;
		return;
	}
	show_target(kind, key->target);
	kind->targets++;
	take(tally, slot, hash, SBX_NONE);
}

/* Powers of two, from 64 on. */
static struct launch_seen *new_seen(struct launch_tally *tally)
{
	uint32_t count = tally->seen_count;
	struct launch_seen *seen = tally->seen;

	if (count == 0 || (count >= 64 && !(count & (count - 1)))) {
		seen = reallocarray(seen, count ? (size_t)count * 2 : 64, sizeof(*seen));
		if (!seen)
			return NULL;
		tally->seen = seen;
	}
	tally->seen_count++;
	return &seen[count];
}

enum launch_news launch_tally_add(struct launch_tally *tally, const struct launch_key *key,
				  struct launch_seen **seen)
{
	struct launch_kind *kind = &tally->kinds[key->event][key->op][key->code];
	uint64_t hash = hash_of(tally, key, TAG_EVENT);
	struct launch_slot *slot;
	struct launch_seen *new;

	tally->totals[key->event]++;
	kind->count++;
	add_target(tally, kind, key);
	if (!make_room(tally))
		return NEWS_COUNTED;
	slot = find(tally->slots, tally->slot_count, hash);
	if (slot->used && slot->seen == SBX_NONE)
		return NEWS_COUNTED;
	if (slot->used) {
		*seen = &tally->seen[slot->seen];
		(*seen)->count++;
		return NEWS_AGAIN;
	}
	if (kind->events == TALLY_PER_KIND || !(new = new_seen(tally)))
		return NEWS_COUNTED;
	*new = (struct launch_seen){
		.event = key->event, .op = key->op, .code = key->code, .count = 1
	};
	take(tally, slot, hash, tally->seen_count - 1);
	*seen = new;
	return kind->events++ ? NEWS_EVENT : NEWS_KIND;
}

uint64_t launch_tally_kinds(const struct launch_tally *tally, enum launch_event event)
{
	uint64_t count = 0;

	for (unsigned int op = 0; op < TALLY_OPS; op++)
		for (unsigned int code = 0; code < SBX_CODE_COUNT; code++)
			count += tally->kinds[event][op][code].count > 0;
	return count;
}
