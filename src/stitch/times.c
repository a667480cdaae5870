// SPDX-License-Identifier: MIT
/* times.c: see times.h. Side-band records are few: a plain array, doubled. */
#include "stitch/times.h"

#include <errno.h>
#include <stdlib.h>

#include "stitch/rules.h"

void times_free(struct times *t)
{
	free(t->at);
	*t = (struct times){ 0 };
}

/* 2, 4, 8 ...: most tasks and processes have one birth and one exec. */
int times_add(struct times *t, uint64_t when)
{
	if (t->n == t->capacity) {
		uint32_t capacity = t->capacity ? t->capacity * 2 : 2;
		uint64_t *at = capacity > t->capacity
		                       ? realloc(t->at, (size_t)capacity * sizeof(*at))
		                       : NULL;

		if (!at)
			return -ENOMEM;
		t->at = at;
		t->capacity = capacity;
	}
	t->at[t->n++] = when;
	return 0;
}

static int times_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Equal moments may stay: all questions are about ranges. */
void times_sort(struct times *t)
{
	if (t->n > 1)
		qsort(t->at, t->n, sizeof(*t->at), times_compare);
}

size_t times_bytes(const struct times *t)
{
	return t->capacity * sizeof(*t->at);
}

/* How many moments lie before one. */
static uint32_t times_before(const struct times *t, uint64_t when)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->at[middle] < when)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The list must be sorted. */
uint64_t times_from(const struct times *t, uint64_t when)
{
	uint32_t at = times_before(t, when);

	return at < t->n ? t->at[at] : UINT64_MAX;
}

/* The list must be sorted, so that its ends tell whether any moment is untimed. */
bool times_within(const struct times *t, uint64_t from, uint64_t to)
{
	if (!t->n)
		return false;
	if ((from ^ to) & RULES_UNTIMED || (from ^ t->at[0]) & RULES_UNTIMED ||
	    (from ^ t->at[t->n - 1]) & RULES_UNTIMED)
		return true;
	return from <= to && times_from(t, from) <= to;
}

/* A time that is unknown (RULES_UNTIMED) cannot be compared, so the answer is then 0 and 0. */
void times_quiet(struct times *t, uint64_t when, uint64_t *before, uint64_t *after)
{
	uint32_t i = t->last;

	if (!t->n)
		return;
	if ((when | t->at[0] | t->at[t->n - 1]) & RULES_UNTIMED) {
		*before = *after = 0;
		return;
	}
	/* The list is asked in order of time as a rule: the gap of the last question is tried
	 * before a search. */
	if ((i && t->at[i - 1] >= when) || (i < t->n && t->at[i] < when))
		i = t->last = times_before(t, when);
	if (i && when - t->at[i - 1] < *before)
		*before = when - t->at[i - 1];
	if (i < t->n && t->at[i] - when < *after)
		*after = t->at[i] - when;
	/* A moment at `when` itself: nothing is quiet around it. */
	if (!*after)
		*before = 0;
}
