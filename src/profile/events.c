// SPDX-License-Identifier: MIT
// events.c: see events.h: where events are numbered in a profile, and nowhere else.
#include "profile/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "profile/inside.h"
#include "profile/kept.h"

static int events_order(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ctx;
	const uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	const int order = strcmp(profile_event_name(p, a), profile_event_name(p, b));

	return order ? order : (int)profile_event_unit(p, a) - (int)profile_event_unit(p, b);
}

/* Takes the events in another order: places[i] was the number of the one at i + 1. -ENOMEM. */
static int events_take(struct profile *p, const uint32_t *places, size_t n)
{
	struct intern events = { 0 };
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		const uint32_t id = intern_bytes(&events, intern_get(&p->events, places[i]),
		                                 intern_length(&p->events, places[i]));

		r = id == INTERN_FAILED ? -ENOMEM : 0;
	}
	if (r < 0) {
		intern_free(&events);
		return r;
	}
	intern_free(&p->events);
	p->events = events;
	return 0;
}

/* The sums of each event, at its new number. -ENOMEM. */
static int events_move_sums(struct profile *p, const uint32_t *moved, size_t n)
{
	struct profile_sums *sums = calloc(n + 1, sizeof(*sums));

	if (!sums)
		return -ENOMEM;
	for (size_t e = 0; e <= n && e < p->sums_capacity; e++)
		sums[moved[e]] = p->sums[e];
	free(p->sums);
	p->sums = sums;
	p->sums_capacity = n + 1;
	return 0;
}

/* Gives all that has an event its new number. Rows stay as distinct as they were, and are put into
 * the index again when one is looked up. */
static void events_move(struct profile *p, struct flat *flat, const uint32_t *moved)
{
	for (size_t i = 0; i < p->n_rows; i++)
		p->rows[i].key.event = moved[p->rows[i].key.event];
	for (size_t i = 0; flat && i < flat->n_totals; i++)
		flat->totals[i].key.event = moved[flat->totals[i].key.event];
	if (p->row_index)
		memset(p->row_index, 0, p->row_index_capacity * sizeof(*p->row_index));
	p->n_indexed = 0;
}

/* Most profiles have one event, and nothing is to be done. */
int events_sort(struct profile *p, struct flat *flat)
{
	const size_t n = profile_n_events(p);
	uint32_t *places = calloc(n + 1, sizeof(*places)), *moved = calloc(n + 1, sizeof(*moved));
	bool sorted = true;
	int r = places && moved ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < n; i++)
		places[i] = i + 1;
	if (r >= 0 && n)
		qsort_r(places, n, sizeof(*places), events_order, p);
	for (uint32_t i = 0; r >= 0 && i < n; i++) {
		moved[places[i]] = i + 1;
		sorted &= places[i] == i + 1;
	}
	if (r >= 0 && !sorted) {
		free(atomic_exchange(profile_segments(p), NULL));
		r = events_move_sums(p, moved, n);
		if (r >= 0)
			r = events_take(p, places, n);
		if (r >= 0)
			events_move(p, flat, moved);
	}
	free(places);
	free(moved);
	return r;
}
