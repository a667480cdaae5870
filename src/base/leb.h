/* SPDX-License-Identifier: MIT */
/* leb.h: DWARF's variable-length integers, from a bounded cursor. More than 64 bits: the rest is
 * dropped. */
#ifndef SEAM_BASE_LEB_H
#define SEAM_BASE_LEB_H

#include "base/cursor.h"

static inline uint64_t leb_unsigned(struct cursor *c)
{
	uint64_t v = 0;

	/* Most numbers have one byte. */
	if (__builtin_expect(c->at < c->end && *c->at < 0x80, 1))
		return *c->at++;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) /* also at the end, where cursor_u8 gives 0 */
			return v;
	}
}

static inline int64_t leb_signed(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		v |= ~0ULL << shift;
	return (int64_t)v;
}

#endif
