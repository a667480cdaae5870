// SPDX-License-Identifier: MIT
/*
 * kernel_code.c: see kernel_code.h. Ranges are joined whenever twice as many are there as were left
 * by the last time: a BPF program that comes and goes a thousand times is one range.
 */
#include "samples/kernel_code.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

#define JOIN_FROM 64u /* ranges: fewer are joined at the end alone */

void kernel_code_free(struct kernel_code *k)
{
	free(k->ranges);
	*k = (struct kernel_code){ 0 };
}

static int kernel_code_order(const void *pa, const void *pb)
{
	const struct kernel_code_range *a = pa, *b = pb;

	return a->start < b->start ? -1 : a->start > b->start;
}

void kernel_code_seal(struct kernel_code *k)
{
	size_t n = 0;

	if (k->n)
		qsort(k->ranges, k->n, sizeof(*k->ranges), kernel_code_order);
	for (size_t i = 0; i < k->n; i++) {
		struct kernel_code_range *last = n ? &k->ranges[n - 1] : NULL, at = k->ranges[i];

		if (!last || at.start > last->end)
			k->ranges[n++] = at;
		else if (at.end > last->end)
			last->end = at.end;
	}
	k->n = k->joined = n;
}

int kernel_code_note(struct kernel_code *k, uint64_t start, uint64_t len)
{
	if (k->n >= JOIN_FROM && k->n >= 2 * k->joined)
		kernel_code_seal(k);
	if (ARRAY_ROOM(&k->ranges, &k->capacity, k->n + 1) < 0)
		return -ENOMEM;
	k->ranges[k->n++] = (struct kernel_code_range){
		.start = start, .end = len < UINT64_MAX - start ? start + len : UINT64_MAX
	};
	return 0;
}

bool kernel_code_changes(const struct kernel_code *k, uint64_t address)
{
	size_t low = 0, high = k->n;

	if (!high || address < k->ranges[0].start) /* all addresses of a user's */
		return false;
	while (low < high) { /* the first that ends at or behind it */
		size_t middle = low + (high - low) / 2;

		if (k->ranges[middle].end < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < k->n && k->ranges[low].start <= address;
}

bool kernel_code_changes_any(const struct kernel_code *k, const struct seam_u64s *words)
{
	for (uint64_t i = 0; i < words->n; i++)
		if (kernel_code_changes(k, seam_u64s_at(words, i)))
			return true;
	return false;
}
