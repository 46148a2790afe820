/* SPDX-License-Identifier: MIT */
/* What hold.c and beside.c share while it is found out who holds what. */
#ifndef SBX_LAUNCH_HOLDING_H
#define SBX_LAUNCH_HOLDING_H

#include "hold.h"

#include "engine.h"

struct holding {
	const struct sbx_image *image;
	const bool *masked; /* or NULL */
	struct launch_hold *out;
	struct launch_error *error;
	uint32_t *takers; /* rules that take something away: few, of many */
	uint32_t taker_count;
	bool landlock;
	bool protects; /* there are default protections */
};

/* The classes of a place that a rule at it or below takes away. */
uint8_t launch_hold_lost_to(const struct holding *h, uint32_t index,
			    const struct launch_held *place);
/* A section above the place speaks there too, whatever lists add. */
bool launch_hold_is_conditional(const struct sbx_image *image, const char *path);

/* Fills in 'beside', once the places are known. */
int launch_hold_find_beside(struct holding *h);

#endif
