/* SPDX-License-Identifier: MIT */
/* times.h: a growing list of moments (rules.h) that is sorted once and then asked. */
#ifndef SEAM_STITCH_TIMES_H
#define SEAM_STITCH_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct times {
	uint64_t *at;
	uint32_t n, capacity;
	uint32_t last; /* where times_quiet found the last one */
};

void times_free(struct times *t);
int times_add(struct times *t, uint64_t when); /* -ENOMEM */
void times_sort(struct times *t);
size_t times_bytes(const struct times *t);

/* Once sorted. The first moment >= when, or UINT64_MAX. */
uint64_t times_from(const struct times *t, uint64_t when);
/* True when a moment lies in [from, to], or may: a timed and an untimed moment cannot be told
 * apart. */
bool times_within(const struct times *t, uint64_t from, uint64_t to);

/* Narrows *before and *after, lengths of time, so that no moment lies in (when - *before, when +
 * *after): 0 and 0 where one is there, or where that cannot be told. Moments asked for one behind
 * the other cost no search. */
void times_quiet(struct times *t, uint64_t when, uint64_t *before, uint64_t *after);

#endif
