// SPDX-License-Identifier: MIT
/* history.c: see history.h. What held from which time on, by key: a sorted array per key, with the
 * newest last. Found by a binary search; written only at the end. */
#include "proc/history.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

void history_free(struct histories *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->all[i].changes);
	free(h->all);
	map_free(&h->index);
}

/* The lists stand in one array, which moves when it grows. */
struct history *history_get(struct histories *h, uint64_t key)
{
	uint64_t at;

	if (map_get(&h->index, key, &at))
		return &h->all[at];
	if (ARRAY_ROOM(&h->all, &h->capacity, h->n + 1) < 0)
		return NULL;
	if (map_put(&h->index, key, h->n) < 0)
		return NULL;
	h->all[h->n] = (struct history){ 0 };
	return &h->all[h->n++];
}

/* NULL: nothing is known of the key. */
const struct history *history_of(const struct histories *h, uint64_t key)
{
	uint64_t at;

	return map_get(&h->index, key, &at) ? &h->all[at] : NULL;
}

const struct change *history_last(const struct history *history)
{
	return history && history->n ? &history->changes[history->n - 1] : NULL;
}

/* The last change at or before the time; NULL: the first one is later. */
const struct change *history_at(const struct history *history, uint64_t time)
{
	uint32_t low = 0, high = history ? history->n : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (history->changes[middle].time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &history->changes[low - 1] : NULL;
}

/* The caller gives changes in order of time; only_last keeps no past, which is what a live table
 * needs. */
int history_put(struct history *history, bool only_last, struct change change)
{
	if (history->n && (only_last || history->changes[history->n - 1].time == change.time)) {
		history->changes[history->n - 1] = change;
		return 0;
	}
	/* From 2 on: there is a history for each task, and most are short. */
	if (history->n == history->capacity) {
		uint32_t capacity = history->capacity ? history->capacity * 2 : 2;
		struct change *changes =
		        realloc(history->changes, capacity * sizeof(struct change));

		if (!changes)
			return -ENOMEM;
		history->changes = changes;
		history->capacity = capacity;
	}
	history->changes[history->n++] = change;
	return 0;
}

size_t history_bytes(const struct histories *h)
{
	size_t bytes = map_bytes(&h->index) + h->capacity * sizeof(*h->all);

	for (size_t i = 0; i < h->n; i++)
		bytes += h->all[i].capacity * sizeof(struct change);
	return bytes;
}
