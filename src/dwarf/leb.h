/* SPDX-License-Identifier: MIT */
/* leb.h: numbers of variable length, as DWARF has them. What does not fit into 64 bits fails the cursor. */
#ifndef SEAM_DWARF_LEB_H
#define SEAM_DWARF_LEB_H

#include "base/cursor.h"

static inline uint64_t leb_unsigned_long(struct cursor *c, uint64_t v)
{
	unsigned shift = 7;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift > 63 || (shift == 63 && byte > 1))
			cursor_fail(c);
		else
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->failed);
	return v;
}

/* Almost all have one byte. */
static inline uint64_t leb_unsigned(struct cursor *c)
{
	uint8_t byte = cursor_u8(c);

	return byte & 0x80 ? leb_unsigned_long(c, byte & 0x7f) : byte;
}

static inline int64_t leb_signed(struct cursor *c)
{
	unsigned shift = 0;
	uint64_t v = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift > 63)
			cursor_fail(c);
		else
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !c->failed);
	if (byte & 0x40 && shift < 64)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

#endif
