// SPDX-License-Identifier: MIT
// utf8.c: see utf8.h. No overlong forms, no surrogates, nothing beyond U+10FFFF.
#include "base/utf8.h"

#include <stdint.h>

/* Overlong forms, surrogates and what lies beyond U+10FFFF are not well-formed. */
size_t utf8_sequence(const unsigned char *p, size_t n)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t len = p[0] < 0x80             ? 1
	             : (p[0] & 0xe0) == 0xc0 ? 2
	             : (p[0] & 0xf0) == 0xe0 ? 3
	             : (p[0] & 0xf8) == 0xf0 ? 4
	                                     : 0;
	uint32_t c;

	if (len < 2)
		return len;
	if (len > n)
		return 0;
	c = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

/* p must be well-formed (utf8_sequence). */
uint32_t utf8_character(const unsigned char *p, size_t len)
{
	uint32_t c = len > 1 ? p[0] & (0x7fu >> len) : p[0];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}
