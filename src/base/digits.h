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

/* The 8 digits of v, the first one in the lowest byte: all at once, which takes half as long as two
 * at a time. */
static inline uint64_t digits_hex8(uint32_t v)
{
	const uint64_t ones = 0x0101010101010101;
	uint64_t x = __builtin_bswap32(v), letters;

	/* A byte of v in each 16 bits, then a digit in each 8. */
	x = (x | x << 16) & 0x0000ffff0000ffff;
	x = (x | x << 8) & 0x00ff00ff00ff00ff;
	x = (x >> 4 | x << 8) & 0x0f0f0f0f0f0f0f0f;
	letters = (x + 6 * ones) >> 4 & ones; /* those above 9 */
	return x + '0' * ones + letters * ('a' - '0' - 10);
}

/* 16 characters, as two words of digits_hex8 have them. */
static inline void digits_put_words(char *to, uint64_t first, uint64_t last)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	first = __builtin_bswap64(first);
	last = __builtin_bswap64(last);
#endif
	memcpy(to, &first, 8);
	memcpy(to + 8, &last, 8);
}

/* All 16 digits of v. */
static inline void digits_put_hex16(char *to, uint64_t v)
{
	digits_put_words(to, digits_hex8((uint32_t)(v >> 32)), digits_hex8((uint32_t)v));
}

/* The digits that v has, and blanks in front: 16 characters. */
static inline void digits_put_hex_right(char *to, uint64_t v)
{
	const unsigned blanks = 16 - digits_hex_count(v);
	const uint64_t blank = 0x2020202020202020;
	const uint64_t of_first = blanks < 8 ? (1ULL << blanks * 8) - 1 : UINT64_MAX;
	const uint64_t of_last = blanks < 8 ? 0 : (1ULL << (blanks - 8) * 8) - 1;
	const uint64_t first = digits_hex8((uint32_t)(v >> 32)), last = digits_hex8((uint32_t)v);

	digits_put_words(to, (first & ~of_first) | (blank & of_first),
	                 (last & ~of_last) | (blank & of_last));
}

/* 16 bytes as a blank and two digits each: 48 characters. */
void digits_put_bytes16(char *to, const unsigned char *bytes);

#endif
