/* SPDX-License-Identifier: MIT */
/* hotspot_memory.h: made-up memory of a process that runs HotSpot. Define BYTES first: its size. */
#ifndef SEAM_TESTS_UNIT_HOTSPOT_MEMORY_H
#define SEAM_TESTS_UNIT_HOTSPOT_MEMORY_H

#include <errno.h>
#include <string.h>

#include "runtimes/hotspot.h"

#define BASE 0x10000u

/* Memory at BASE. */
static unsigned char memory[BYTES];
static size_t used;

static int memory_read(void *ctx, uint64_t address, void *to, size_t n)
{
	(void)ctx;
	if (address < BASE || address - BASE > BYTES || n > BYTES - (address - BASE))
		return -EFAULT;
	memcpy(to, memory + (address - BASE), n);
	return 0;
}
static const struct hotspot_memory reader = { NULL, memory_read };

__attribute__((noinline)) static void put(uint64_t address, uint64_t value, size_t n)
{
	assert_true(address >= BASE && address - BASE + n <= BYTES);
	for (size_t i = 0; i < n; i++)
		memory[address - BASE + i] = (unsigned char)(value >> 8 * i);
}

static uint64_t room(size_t n)
{
	uint64_t at = BASE + used;

	used += (n + 15) & ~(size_t)15;
	assert_true(used <= BYTES);
	return at;
}

#endif
