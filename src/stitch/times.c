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

void times_sort(struct times *t)
{
	if (t->n > 1)
		qsort(t->at, t->n, sizeof(*t->at), times_compare);
}

size_t times_bytes(const struct times *t)
{
	return t->capacity * sizeof(*t->at);
}

uint64_t times_from(const struct times *t, uint64_t when)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (t->at[middle] < when)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n ? t->at[low] : UINT64_MAX;
}

bool times_within(const struct times *t, uint64_t from, uint64_t to)
{
	if (!t->n)
		return false;
	if ((from ^ to) & RULES_UNTIMED || (from ^ t->at[0]) & RULES_UNTIMED ||
	    (from ^ t->at[t->n - 1]) & RULES_UNTIMED)
		return true;
	return from <= to && times_from(t, from) <= to;
}
