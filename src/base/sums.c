// SPDX-License-Identifier: MIT
// sums.c: see sums.h. Rows are sorted by digits of their key, the least first: each pass goes over
// all of them once, and no two are compared.
#include "base/sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pages.h"

#define BITS 11u
#define DIGITS (1u << BITS)
/* So many rows are added up before there are more. */
#define MANY (1u << 20)

static unsigned sums_bits(uint32_t highest)
{
	return highest ? 32u - (unsigned)__builtin_clz(highest) : 0;
}

/* One pass: from into to, by a digit of the key. */
static void sums_pass(struct sums_row *to, const struct sums_row *from, size_t n,
                      unsigned node_bits, unsigned shift)
{
	size_t at[DIGITS + 1] = { 0 };

	for (size_t i = 0; i < n; i++)
		at[(((uint64_t)from[i].group << node_bits | from[i].node) >> shift & (DIGITS - 1)) +
		   1]++;
	for (unsigned i = 0; i < DIGITS; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < n; i++)
		to[at[((uint64_t)from[i].group << node_bits | from[i].node) >> shift &
		      (DIGITS - 1)]++] = from[i];
}

/* Adds up rows of the same stack, which stand together. */
static void sums_join(struct sums *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct sums_row *row = &s->rows[i], *last = n ? &s->rows[n - 1] : NULL;

		if (last && last->group == row->group && last->node == row->node) {
			last->samples += row->samples;
			last->weight += row->weight;
		} else {
			s->rows[n++] = *row;
		}
	}
	s->n = s->sorted = n;
}

/* Makes room for as many rows again. -ENOMEM. */
static int sums_spare(struct sums *s)
{
	if (s->spare_capacity >= s->n)
		return 0;
	free(s->spare);
	s->spare = pages_grown(NULL, 0, s->capacity * sizeof(*s->spare));
	s->spare_capacity = s->spare ? s->capacity : 0;
	return s->spare ? 0 : -ENOMEM;
}

/* What is sorted is in the spare room, which changes places with that of the rows. */
static void sums_swap(struct sums *s)
{
	struct sums_row *rows = s->rows;
	const size_t capacity = s->capacity;

	s->rows = s->spare;
	s->capacity = s->spare_capacity;
	s->spare = rows;
	s->spare_capacity = capacity;
}

/* The key has no more bits than the highest group and node need. */
int sums_end(struct sums *s)
{
	uint32_t group = 0, node = 0;
	unsigned node_bits, bits;

	if (s->n == s->sorted)
		return 0;
	if (sums_spare(s) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < s->n; i++) {
		group |= s->rows[i].group;
		node |= s->rows[i].node;
	}
	node_bits = sums_bits(node);
	bits = node_bits + sums_bits(group);
	for (unsigned shift = 0; shift < bits; shift += BITS) {
		sums_pass(s->spare, s->rows, s->n, node_bits, shift);
		sums_swap(s);
	}
	sums_join(s);
	return 0;
}

/* When there are many, they are added up; when that did not help, there may be more. */
int sums_add(struct sums *s, const struct sums_row *row)
{
	if (s->n == s->capacity && s->n >= MANY && s->sorted < s->n / 2) {
		int r = sums_end(s);

		if (r < 0)
			return r;
	}
	if (ARRAY_ROOM(&s->rows, &s->capacity, s->n + 1) < 0)
		return -ENOMEM;
	s->rows[s->n++] = *row;
	return 0;
}

void sums_free(struct sums *s)
{
	free(s->rows);
	free(s->spare);
	*s = (struct sums){ 0 };
}
