/* SPDX-License-Identifier: MIT */
/*
 * digits.h: numbers as digits, straight to where they stand: no NUL, no padding, no allocation. For
 * text that is mostly numbers; elsewhere buf_put_decimal and buf_printf are fast enough.
 */
#ifndef SEAM_BASE_DIGITS_H
#define SEAM_BASE_DIGITS_H

#include <stdint.h>
#include <string.h>

#define DIGITS_MAX 20u /* of a u64, decimal */

/* "00" "01" .. "99"; and " 00" " 01" .. " ff", a blank in front of each byte. */
extern const char digits_pairs[201];
extern const char digits_bytes[769];

extern const uint64_t digits_powers[DIGITS_MAX]; /* of 10; the first is 0 */

/* How many digits v has; 0 has one. 1233 / 4096 is slightly more than log10(2), so for a number of
 * 1 to 64 bits this gives its digits, or one less. */
static inline unsigned digits_count(uint64_t v)
{
	unsigned n = (64 - (unsigned)__builtin_clzll(v | 1)) * 1233 >> 12;

	return n + (v >= digits_powers[n]);
}

static inline unsigned digits_hex_count(uint64_t v)
{
	return v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
}

/* The last n digits of v, with zeros in front. */
static inline void digits_put(char *to, unsigned n, uint64_t v)
{
	for (; n >= 2; v /= 100)
		memcpy(to + (n -= 2), digits_pairs + v % 100 * 2, 2);
	if (n)
		*to = (char)('0' + v % 10);
}

/* Writes v with as many digits as it has (at most DIGITS_MAX), and returns where they end. */
static inline char *digits_decimal(char *to, uint64_t v)
{
	unsigned n = digits_count(v);

	digits_put(to, n, v);
	return to + n;
}

static inline void digits_put_hex(char *to, unsigned n, uint64_t v)
{
	for (; n >= 2; v >>= 8)
		memcpy(to + (n -= 2), digits_bytes + (v & 255) * 3 + 1, 2);
	if (n)
		*to = digits_bytes[(v & 15) * 3 + 2];
}

#endif
