/* SPDX-License-Identifier: MIT */
/*
 * history.h: values that change in time, one list per key (a pid's address space, a tid's name).
 * Lists grow at their end only, in order of time.
 */
#ifndef SEAM_PROC_HISTORY_H
#define SEAM_PROC_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

/* From `time` on, value: a root in the pool of spaces, or a name. */
struct change {
	uint64_t time;
	uint32_t value;
	uint32_t stamp; /* spaces: nodes of this stamp are this change's own; 0: none are */
};

struct history {
	struct change *changes;
	uint32_t n, capacity;
};

struct histories {
	struct map index; /* key -> position in all */
	struct history *all;
	size_t n, capacity;
};

void history_free(struct histories *h);
/* The list of a key, made when new; NULL: out of memory. Lives until the next history_get. */
struct history *history_get(struct histories *h, uint64_t key);
/* The list of a key, or NULL. */
const struct history *history_of(const struct histories *h, uint64_t key);
/* The newest change, NULL if none; history may be NULL. */
const struct change *history_last(const struct history *history);
/* The last change not later than time, NULL if none; history may be NULL. O(log n). */
const struct change *history_at(const struct history *history, uint64_t time);
/* A change at `time`, not earlier than the last; one of the same time (only_last: any) is
 * replaced. */
int history_put(struct history *history, bool only_last, struct change change);
size_t history_bytes(const struct histories *h);

#endif
