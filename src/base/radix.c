// SPDX-License-Identifier: MIT
/* radix.c: see radix.h. By digits, the lowest first: each pass is stable, and moves all things from
 * one array to the other. */
#include "base/radix.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RADIX_DIGIT 11u /* bits: numbers within 4 GiB are sorted in three passes */
#define RADIX_DIGITS (1u << RADIX_DIGIT)

static uint64_t radix_key(const unsigned char *thing)
{
	uint64_t key;

	memcpy(&key, thing, sizeof(key));
	return key;
}

/* One pass, by one digit of how far a number lies above the least. size is a constant where this is
 * inlined. */
__attribute__((always_inline)) static inline void radix_pass(const unsigned char *from,
                                                             unsigned char *to, size_t n,
                                                             size_t size, uint64_t least,
                                                             unsigned shift)
{
	size_t at[RADIX_DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		at[(radix_key(from + i * size) - least) >> shift & (RADIX_DIGITS - 1)]++;
	for (size_t digit = 0; digit < RADIX_DIGITS; digit++) {
		size_t count = at[digit];

		at[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		const uint64_t above = radix_key(from + i * size) - least;

		memcpy(to + at[above >> shift & (RADIX_DIGITS - 1)]++ * size, from + i * size,
		       size);
	}
}

/* What is in order already is left as it is. */
bool radix_sort(void *things, size_t n, size_t size)
{
	uint64_t least = UINT64_MAX, most = 0, before = 0;
	unsigned char *from = things, *to, *other;
	bool sorted = true;

	for (size_t i = 0; i < n; i++) {
		const uint64_t key = radix_key(from + i * size);

		sorted &= before <= key;
		least = key < least ? key : least;
		most = key > most ? key : most;
		before = key;
	}
	if (sorted)
		return true;
	other = to = malloc(n * size);
	if (!other)
		return false;
	for (unsigned shift = 0; shift < 64 && (most - least) >> shift; shift += RADIX_DIGIT) {
		unsigned char *last = from;

		switch (size) {
		case 16:
			radix_pass(from, to, n, 16, least, shift);
			break;
		case 40:
			radix_pass(from, to, n, 40, least, shift);
			break;
		default:
			radix_pass(from, to, n, size, least, shift);
		}
		from = to;
		to = last;
	}
	if (from == other)
		memcpy(things, from, n * size);
	free(other);
	return true;
}
