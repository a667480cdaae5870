/* SPDX-License-Identifier: MIT */
/*
 * rnd.h: numbers that look random, the same in each run, for one test program.
 */
#ifndef SEAM_TESTS_RND_H
#define SEAM_TESTS_RND_H

#include <stdint.h>

static uint64_t seed = 7;

/* One below n. */
static inline uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

#endif
