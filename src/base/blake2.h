/* SPDX-License-Identifier: MIT */
/*
 * blake2.h: BLAKE2b (RFC 7693) with digests of 32 bytes and without a key. It tells contents apart
 * even where an enemy chose them; map.h's hashes do not.
 */
#ifndef SEAM_BASE_BLAKE2_H
#define SEAM_BASE_BLAKE2_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2_BYTES 32u
#define BLAKE2_HEX (2 * BLAKE2_BYTES + 1)
#define BLAKE2_BLOCK 128u

struct blake2 {
	uint64_t state[8];
	uint64_t hashed; /* bytes, in whole blocks */
	size_t waiting;  /* of block */
	unsigned char block[BLAKE2_BLOCK];
};

void blake2_start(struct blake2 *b);
void blake2_add(struct blake2 *b, const void *bytes, size_t n);
void blake2_end(struct blake2 *b, unsigned char ret[BLAKE2_BYTES]);
/* A number for two pieces of bytes, one behind the other. Nobody can make others that have the same
 * one, so it may be a whole key. */
uint64_t blake2_number(const void *a, size_t n_a, const void *b, size_t n_b);
/* Lower-case hex, NUL-terminated. Returns hex. */
const char *blake2_hex(const unsigned char digest[BLAKE2_BYTES], char hex[BLAKE2_HEX]);

#endif
