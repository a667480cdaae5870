// SPDX-License-Identifier: MIT
/* blake2.c: see blake2.h. Written after RFC 7693; little-endian machines only, as all of seam's
 * tables. It is for what must not be confused even if somebody tries: identities of files, keys of
 * caches. Tables in memory take the faster hashes of map.h. */
#include "base/blake2.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words are taken as they lie in memory");

#define ROUNDS 12

/* The fractional parts of the square roots of the first eight primes (as in SHA-512). */
static const uint64_t initial[8] = {
	0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
	0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

/* Which words of the message a round mixes in; rounds 10 and 11 are as 0 and 1. */
static const uint8_t order[ROUNDS][16] = {
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
	{ 11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4 },
	{ 7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8 },
	{ 9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13 },
	{ 2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9 },
	{ 12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11 },
	{ 13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10 },
	{ 6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5 },
	{ 10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0 },
	{ 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 },
	{ 14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3 },
};

/* To the right. */
static uint64_t blake2_rotated(uint64_t x, unsigned n)
{
	return x >> n | x << (64 - n);
}

/* The function G of RFC 7693, 3.1: one quarter of a round. */
#define MIX(a, b, c, d, x, y)                           \
	do {                                            \
		v[a] += v[b] + (x);                     \
		v[d] = blake2_rotated(v[d] ^ v[a], 32); \
		v[c] += v[d];                           \
		v[b] = blake2_rotated(v[b] ^ v[c], 24); \
		v[a] += v[b] + (y);                     \
		v[d] = blake2_rotated(v[d] ^ v[a], 16); \
		v[c] += v[d];                           \
		v[b] = blake2_rotated(v[b] ^ v[c], 63); \
	} while (0)

/* Takes one block into the state; n: bytes hashed with it. Unrolled, so that the order of words
 * costs nothing. */
static void blake2_compress(uint64_t state[8], const unsigned char *block, uint64_t n,
                            uint64_t last)
{
	uint64_t v[16], m[16];

	memcpy(m, block, sizeof(m));
	memcpy(v, state, 8 * sizeof(*v));
	memcpy(v + 8, initial, sizeof(initial));
	v[12] ^= n; /* the upper half of the count stays 0: below 2^64 bytes */
	v[14] ^= last;
#pragma GCC unroll 12
	for (int i = 0; i < ROUNDS; i++) {
		const uint8_t *o = order[i];

		MIX(0, 4, 8, 12, m[o[0]], m[o[1]]);
		MIX(1, 5, 9, 13, m[o[2]], m[o[3]]);
		MIX(2, 6, 10, 14, m[o[4]], m[o[5]]);
		MIX(3, 7, 11, 15, m[o[6]], m[o[7]]);
		MIX(0, 5, 10, 15, m[o[8]], m[o[9]]);
		MIX(1, 6, 11, 12, m[o[10]], m[o[11]]);
		MIX(2, 7, 8, 13, m[o[12]], m[o[13]]);
		MIX(3, 4, 9, 14, m[o[14]], m[o[15]]);
	}
	for (int i = 0; i < 8; i++)
		state[i] ^= v[i] ^ v[i + 8];
}

void blake2_start(struct blake2 *b)
{
	*b = (struct blake2){ 0 };
	memcpy(b->state, initial, sizeof(initial));
	b->state[0] ^= 0x01010000 ^ BLAKE2_BYTES; /* no key, one tree, so many bytes come out */
}

/* The last block is compressed with a mark. So a full block waits until it is known whether more
 * follows. */
void blake2_add(struct blake2 *b, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;

	while (n) {
		size_t take = BLAKE2_BLOCK - b->waiting;

		if (!take) {
			b->hashed += BLAKE2_BLOCK;
			blake2_compress(b->state, b->block, b->hashed, 0);
			b->waiting = 0;
			continue;
		}
		if (!b->waiting && n > BLAKE2_BLOCK) {
			b->hashed += BLAKE2_BLOCK;
			blake2_compress(b->state, at, b->hashed, 0);
			at += BLAKE2_BLOCK;
			n -= BLAKE2_BLOCK;
			continue;
		}
		take = take < n ? take : n;
		memcpy(b->block + b->waiting, at, take);
		b->waiting += take;
		at += take;
		n -= take;
	}
}

/* The last block is filled up with zeros; the mark in its last word makes it the last. */
void blake2_end(struct blake2 *b, unsigned char ret[BLAKE2_BYTES])
{
	memset(b->block + b->waiting, 0, BLAKE2_BLOCK - b->waiting);
	blake2_compress(b->state, b->block, b->hashed + b->waiting, UINT64_MAX);
	memcpy(ret, b->state, BLAKE2_BYTES);
}

/* For keys of maps: the first 8 bytes of the digest of a and b, one behind the other. How they are
 * divided does not count. */
uint64_t blake2_number(const void *a, size_t n_a, const void *b, size_t n_b)
{
	unsigned char digest[BLAKE2_BYTES];
	struct blake2 hash;
	uint64_t ret;

	blake2_start(&hash);
	blake2_add(&hash, a, n_a);
	blake2_add(&hash, b, n_b);
	blake2_end(&hash, digest);
	memcpy(&ret, digest, sizeof(ret));
	return ret;
}

const char *blake2_hex(const unsigned char digest[BLAKE2_BYTES], char hex[BLAKE2_HEX])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < BLAKE2_BYTES; i++) {
		hex[2 * i] = digits[digest[i] >> 4];
		hex[2 * i + 1] = digits[digest[i] & 15];
	}
	hex[2 * BLAKE2_BYTES] = 0;
	return hex;
}
