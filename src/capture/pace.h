/* SPDX-License-Identifier: MIT */
/*
 * pace.h: how soon, and how often, the follower reads what the kernel says of mappings.
 *
 * A sample between an exec and the reading of its records brings a copy of its stack, which the
 * recorder walks. Reading costs the same whether samples come or not. So new mappings are made
 * known within a small part of the time between two samples: where these are rare, a process that
 * lives for some milliseconds costs no waking up of its own.
 */
#ifndef SEAM_CAPTURE_PACE_H
#define SEAM_CAPTURE_PACE_H

#include <stdbool.h>
#include <stdint.h>

#define PACE_SOON_NS 50000ull
/* The longest, also for room to be made (kwalk_room.c); four times that where samples are rare. */
#define PACE_WAIT_NS 100000000ull

struct pace {
	uint64_t soon_ns; /* the first wait after news */
	uint64_t wait_ns; /* the next */
	uint64_t most_ns; /* the longest */
};

/* period_ns: between two samples; 0: not known, or as short as can be. */
void pace_start(struct pace *p, uint64_t period_ns);
/* Whether news wait for as long as soon_ns for what comes after them. */
bool pace_gathers(const struct pace *p);
/* After a wait, sets the next one. news: the programs said something. */
void pace_next(struct pace *p, bool news);

#endif
