/* SPDX-License-Identifier: MIT */
/* Which names an address was given out for: all of them, for as long as said, and never too many. */
#include "pins.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tap.h>

#define START 1000000u
#define MINUTE 60000u

static struct sbx_addr addr_of(const char *text)
{
	struct sbx_addr addr = { 0 };

	if (!sbx_addr_parse(text, strlen(text), &addr))
		BAIL_OUT("'%s' is no address", text);
	return addr;
}

static void add(struct launch_pins *pins, const char *name, const char *text, uint32_t ttl,
		uint64_t now)
{
	struct launch_dns_addrs addrs = { .ttl = ttl, .count = 1, .each = { addr_of(text) } };

	launch_pins_add(pins, name, &addrs, now);
}

static bool collect(void *arg, const char *name)
{
	char *out = arg;

	snprintf(out + strlen(out), 256 - strlen(out), "%s ", name);
	return false;
}

static const char *names_of(struct launch_pins *pins, const char *text, uint64_t now)
{
	static char out[256];
	struct sbx_addr addr = addr_of(text);

	out[0] = '\0';
	launch_pins_find(pins, &addr, now, collect, out);
	return out;
}

static bool use(void *arg, const char *name)
{
	return !strcmp(arg, name);
}

static bool is_found(struct launch_pins *pins, const char *text, const char *name, uint64_t now)
{
	struct sbx_addr addr = addr_of(text);

	return launch_pins_find(pins, &addr, now, use, (void *)name);
}

static void check_names(struct launch_pins *pins)
{
	is(names_of(pins, "1.2.3.4", START), "", "nothing is pinned at first");
	add(pins, "a.test", "1.2.3.4", 300, START);
	add(pins, "b.test", "1.2.3.4", 300, START);
	add(pins, "b.test", "1.2.3.4", 300, START);
	is(names_of(pins, "1.2.3.4", START), "b.test a.test ",
	   "an address has all its names, once");
	is(names_of(pins, "1.2.3.5", START), "", "its neighbour has none");
	is(names_of(pins, "::ffff:1.2.3.4", START), "b.test a.test ",
	   "IPv4 dressed as IPv6 is IPv4");
	is(names_of(pins, "::102:304", START), "", "the same bytes elsewhere are another address");
	add(pins, "c.test", "2001:db8::1", 300, START);
	is(names_of(pins, "2001:db8::1", START), "c.test ", "IPv6");
	add(pins, "zero.test", "0.0.0.0", 300, START);
	is(names_of(pins, "127.0.0.1", START), "zero.test ", "any address is this machine's");
}

static void check_time(struct launch_pins *pins)
{
	add(pins, "short", "10.0.0.1", 0, START);
	is(names_of(pins, "10.0.0.1", START + MINUTE - 1), "short ", "no pin goes within a minute");
	is(names_of(pins, "10.0.0.1", START + MINUTE), "", "and after that it is gone");
	add(pins, "long", "10.0.0.2", 3600, START);
	is(names_of(pins, "10.0.0.2", START + 60 * MINUTE - 1), "long ", "an hour");
	is(names_of(pins, "10.0.0.2", START + 60 * MINUTE), "", "is all");
	add(pins, "both", "10.0.0.3", 600, START);
	add(pins, "both", "10.0.0.3", 0, START + MINUTE);
	is(names_of(pins, "10.0.0.3", START + 9 * MINUTE), "both ",
	   "a shorter time takes nothing from a longer one");
	add(pins, "used", "10.0.0.4", 120, START);
	ok(is_found(pins, "10.0.0.4", "used", START + MINUTE), "what is used");
	ok(is_found(pins, "10.0.0.4", "used", START + 2 * MINUTE + 1), "is kept for longer");
	ok(!is_found(pins, "10.0.0.4", "used", START + 10 * MINUTE), "and goes when it is not");
	add(pins, "used", "10.0.0.4", 120, START + 10 * MINUTE);
	ok(is_found(pins, "10.0.0.4", "used", START + 11 * MINUTE), "given out anew, it is back");
	add(pins, "looked", "10.0.0.5", 60, START);
	ok(!is_found(pins, "10.0.0.5", "other", START + 1) &&
		   !is_found(pins, "10.0.0.5", "looked", START + MINUTE + 1),
	   "to be looked at is not to be used");
}

static void fill(struct launch_pins *pins, int from, int to)
{
	for (int i = from; i < to; i++) {
		char name[32], text[32];

		snprintf(name, sizeof(name), "n%d.test", i);
		snprintf(text, sizeof(text), "100.64.%d.%d", i / 256 % 256, i % 256);
		add(pins, name, text, 3600, START);
	}
}

static void check_bounds(struct launch_pins *pins)
{
	struct sbx_addr addr = addr_of("203.0.113.1");
	char name[32];
	int kept = 0;

	ok(launch_pins_keep(pins, "kept.test", &addr), "a pin is kept for ever");
	fill(pins, 0, LAUNCH_PINS_MOST - 1);
	cmp_ok((int)launch_pins_count(pins), "==", LAUNCH_PINS_MOST, "so many there are at most");
	is(names_of(pins, "100.64.0.0", START), "n0.test ", "the oldest is still there");
	add(pins, "n0.test", "100.64.0.0", 3600, START);
	fill(pins, LAUNCH_PINS_MOST, LAUNCH_PINS_MOST + 10);
	cmp_ok((int)launch_pins_count(pins), "==", LAUNCH_PINS_MOST, "there are never more");
	is(names_of(pins, "100.64.0.0", START), "n0.test ", "what was given out again is young");
	is(names_of(pins, "100.64.0.1", START), "", "what is oldest goes");
	is(names_of(pins, "100.64.0.10", START), "", "as many as have come");
	is(names_of(pins, "100.64.0.11", START), "n11.test ", "and no more");
	fill(pins, 10000, 10000 + 3 * LAUNCH_PINS_MOST);
	is(names_of(pins, "203.0.113.1", START + 1000 * MINUTE), "kept.test ",
	   "what is kept is driven out by nothing");
	for (int i = 0; i < LAUNCH_PINS_MOST; i++) {
		snprintf(name, sizeof(name), "k%d.test", i);
		kept += launch_pins_keep(pins, name, &addr);
	}
	cmp_ok(kept, "==", LAUNCH_PINS_KEPT_MOST - 1, "half of all can be kept");
	add(pins, "new.test", "10.9.9.9", 60, START);
	is(names_of(pins, "10.9.9.9", START), "new.test ", "the rest is for the others");
}

static void *hammer(void *arg)
{
	for (int i = 0; i < 20000; i++) {
		char text[32];

		snprintf(text, sizeof(text), "10.1.%d.%d", i / 128 % 128, i % 128);
		add(arg, i % 2 ? "x.test" : "y.test", text, 60, START);
		(void)is_found(arg, text, "x.test", START);
	}
	return NULL;
}

static void check_threads(struct launch_pins *pins)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, hammer, pins);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	cmp_ok((int)launch_pins_count(pins), "==", LAUNCH_PINS_MOST, "threads may all use it");
}

int main(void)
{
	static void (*const checks[])(struct launch_pins *) = { check_names, check_time,
								check_bounds, check_threads };

	plan(NO_PLAN);
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++) {
		struct launch_pins *pins = launch_pins_new();

		checks[i](pins);
		launch_pins_free(pins);
	}
	done_testing();
}
