/* SPDX-License-Identifier: MIT */
/*
 * A fixed table of pins, found by the hash of their address, and in a list by age. Pins that are kept
 * for ever are in no list: nothing drives them out.
 */
#include "pins.h"

#include "hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT16_MAX
#define BUCKETS LAUNCH_PINS_MOST

struct pin {
	uint64_t expires; /* UINT64_MAX: never */
	uint32_t life; /* ms */
	uint16_t next; /* of the same hash */
	uint16_t older;
	uint16_t newer;
	struct sbx_addr addr;
	char name[SBX_HOST_MAX];
};

struct launch_pins {
	pthread_mutex_t lock;
	uint16_t buckets[BUCKETS];
	uint16_t oldest, newest;
	uint16_t used, kept;
	struct pin pins[LAUNCH_PINS_MOST];
};

struct launch_pins *launch_pins_new(void)
{
	struct launch_pins *pins = calloc(1, sizeof(*pins));

	if (!pins)
		return NULL;
	(void)pthread_mutex_init(&pins->lock, NULL);
	memset(pins->buckets, 0xff, sizeof(pins->buckets));
	pins->oldest = pins->newest = NONE;
	return pins;
}

void launch_pins_free(struct launch_pins *pins)
{
	if (pins)
		(void)pthread_mutex_destroy(&pins->lock);
	free(pins);
}

/* Not all the same form: what the kernel takes for one address is one here. */
static struct sbx_addr as_one(const struct sbx_addr *addr)
{
	return sbx_addr_canonical(addr, SBX_OP_CONNECT);
}

static uint16_t *bucket_of(struct launch_pins *pins, const struct sbx_addr *addr)
{
	uint64_t hash = sbx_hash_bytes((const char *)addr->bytes, sizeof(addr->bytes));

	return &pins->buckets[(hash ^ hash >> 32) % BUCKETS];
}

static bool same_addr(const struct sbx_addr *a, const struct sbx_addr *b)
{
	return a->family == b->family && !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

static void leave_list(struct launch_pins *pins, struct pin *pin)
{
	*(pin->older == NONE ? &pins->oldest : &pins->pins[pin->older].newer) = pin->newer;
	*(pin->newer == NONE ? &pins->newest : &pins->pins[pin->newer].older) = pin->older;
}

static void join_list(struct launch_pins *pins, struct pin *pin)
{
	uint16_t at = (uint16_t)(pin - pins->pins);

	pin->older = pins->newest;
	pin->newer = NONE;
	*(pins->newest == NONE ? &pins->oldest : &pins->pins[pins->newest].newer) = at;
	pins->newest = at;
}

static void leave_bucket(struct launch_pins *pins, const struct pin *pin)
{
	uint16_t *link = bucket_of(pins, &pin->addr);

	while (*link != (uint16_t)(pin - pins->pins))
		link = &pins->pins[*link].next;
	*link = pin->next;
}

/* The pin of that name and address, made if need be, in no list. NULL: all are kept for ever. */
static struct pin *take_pin(struct launch_pins *pins, const char *name, const struct sbx_addr *addr)
{
	uint16_t *bucket = bucket_of(pins, addr);
	struct pin *pin;

	for (uint16_t at = *bucket; at != NONE; at = pin->next) {
		pin = &pins->pins[at];
		if (!same_addr(&pin->addr, addr) || strcmp(pin->name, name) != 0)
			continue;
		if (pin->expires != UINT64_MAX)
			leave_list(pins, pin);
		return pin;
	}
	if (pins->used < LAUNCH_PINS_MOST) {
		pin = &pins->pins[pins->used++];
	} else if (pins->oldest != NONE) {
		pin = &pins->pins[pins->oldest];
		leave_list(pins, pin);
		leave_bucket(pins, pin);
	} else {
		return NULL;
	}
	*pin = (struct pin){ .addr = *addr, .next = *bucket };
	memcpy(pin->name, name, strnlen(name, sizeof(pin->name) - 1));
	*bucket = (uint16_t)(pin - pins->pins);
	return pin;
}

void launch_pins_add(struct launch_pins *pins, const char *name,
		     const struct launch_dns_addrs *addrs, uint64_t now)
{
	uint32_t life = addrs->ttl * 1000;

	if (life < LAUNCH_PINS_LEAST_MS)
		life = LAUNCH_PINS_LEAST_MS;
	(void)pthread_mutex_lock(&pins->lock);
	for (size_t i = 0; i < addrs->count; i++) {
		struct sbx_addr addr = as_one(&addrs->each[i]);
		struct pin *pin = take_pin(pins, name, &addr);

		if (!pin || pin->expires == UINT64_MAX)
			continue;
		/* The program may still have the answer that was to be kept for longer. */
		if (pin->expires < now + life) {
			pin->expires = now + life;
			pin->life = life;
		}
		join_list(pins, pin);
	}
	(void)pthread_mutex_unlock(&pins->lock);
}

bool launch_pins_keep(struct launch_pins *pins, const char *name, const struct sbx_addr *addr)
{
	struct sbx_addr one = as_one(addr);
	struct pin *pin = NULL;

	(void)pthread_mutex_lock(&pins->lock);
	if (pins->kept < LAUNCH_PINS_KEPT_MOST)
		pin = take_pin(pins, name, &one);
	if (pin && pin->expires != UINT64_MAX) {
		pin->expires = UINT64_MAX;
		pins->kept++;
	}
	(void)pthread_mutex_unlock(&pins->lock);
	return pin;
}

bool launch_pins_find(struct launch_pins *pins, const struct sbx_addr *addr, uint64_t now,
		      bool (*each)(void *arg, const char *name), void *arg)
{
	struct sbx_addr one = as_one(addr);
	struct pin *pin = NULL;
	uint16_t at;

	(void)pthread_mutex_lock(&pins->lock);
	for (at = *bucket_of(pins, &one); at != NONE; at = pin->next) {
		pin = &pins->pins[at];
		if (same_addr(&pin->addr, &one) && pin->expires > now && each(arg, pin->name))
			break;
	}
	if (at != NONE && pin->expires != UINT64_MAX && pin->expires < now + pin->life)
		pin->expires = now + pin->life;
	(void)pthread_mutex_unlock(&pins->lock);
	return at != NONE;
}

size_t launch_pins_count(struct launch_pins *pins)
{
	size_t count;

	(void)pthread_mutex_lock(&pins->lock);
	count = pins->used;
	(void)pthread_mutex_unlock(&pins->lock);
	return count;
}
