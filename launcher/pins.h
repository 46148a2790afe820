/* SPDX-License-Identifier: MIT */
/*
 * Which allowed names an address was given out for. A connect to an address is one to its names: the
 * program is believed nothing about them.
 *
 * Bounded, and what was given out longest ago goes first. All functions may be called by any thread;
 * 'now' is launch_now().
 */
#ifndef SBX_LAUNCH_PINS_H
#define SBX_LAUNCH_PINS_H

#include "dns.h"

#define LAUNCH_PINS_MOST 4096
#define LAUNCH_PINS_KEPT_MOST (LAUNCH_PINS_MOST / 2)
#define LAUNCH_PINS_LEAST_MS 60000 /* whoever looks a name up may connect a moment later */

struct launch_pins;
struct launch_pins *launch_pins_new(void); /* NULL: out of memory */
void launch_pins_free(struct launch_pins *pins);

/* For as long as they may be kept, but a minute at least. 'name' is normalised, and is allowed. */
void launch_pins_add(struct launch_pins *pins, const char *name,
		     const struct launch_dns_addrs *addrs, uint64_t now);
/* For ever: names that the program reads from a file. Bounded too; false when there is no room. */
bool launch_pins_keep(struct launch_pins *pins, const char *name, const struct sbx_addr *addr);

/*
 * Calls 'each' for the names of an address, in no order, until it returns true: then that pin is
 * good for as long again. 'each' must not call anything of here.
 */
bool launch_pins_find(struct launch_pins *pins, const struct sbx_addr *addr, uint64_t now,
		      bool (*each)(void *arg, const char *name), void *arg);
size_t launch_pins_count(struct launch_pins *pins);

#endif
