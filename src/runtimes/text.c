// SPDX-License-Identifier: MIT
// text.c: see text.h.
#include "runtimes/text.h"

#include <stdint.h>
#include <string.h>

/* Writes a character; returns its bytes. Halves of surrogates and numbers beyond Unicode have no
 * UTF-8 and become U+FFFD. */
static size_t text_utf8(char to[4], uint32_t c)
{
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 63));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 63));
		to[2] = (char)(0x80 | (c & 63));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 63));
	to[2] = (char)(0x80 | (c >> 6 & 63));
	to[3] = (char)(0x80 | (c & 63));
	return 4;
}

/* The character at from[0] of n bytes, and its bytes; U+FFFD for a byte that begins none. */
static uint32_t text_decode(const unsigned char *from, size_t n, size_t *size)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t want = from[0] < 0x80   ? 1
	              : from[0] < 0xc2 ? 0
	              : from[0] < 0xe0 ? 2
	              : from[0] < 0xf0 ? 3
	                               : 4;
	uint32_t c = want < 2 ? from[0] : from[0] & (0x7f >> want);

	*size = 1;
	if (want > n || !want)
		return 0xfffd;
	for (size_t i = 1; i < want; i++) {
		if ((from[i] & 0xc0) != 0x80)
			return 0xfffd;
		c = c << 6 | (from[i] & 63);
	}
	*size = want;
	return c < least[want] ? 0xfffd : c;
}

/* A 0 within the text would end it: it becomes U+FFFD, too. */
size_t text_put(char *to, size_t room, const void *characters, size_t bytes, unsigned width)
{
	const unsigned char *from = characters;
	size_t n = 0, step = width;

	for (size_t i = 0; i < bytes && i + width <= bytes; i += step) {
		uint32_t c = from[i];
		char one[4];
		size_t size;

		/* A 0 ends what a program has as a C string: PHP's classes without a name. */
		if (!width && !c)
			break;
		if (!width)
			c = text_decode(from + i, bytes - i, &step);
		if (width > 1)
			c |= (uint32_t)from[i + 1] << 8;
		if (width > 2)
			c |= (uint32_t)from[i + 2] << 16 | (uint32_t)from[i + 3] << 24;
		size = text_utf8(one, c ? c : 0xfffd);
		if (n + size >= room)
			break;
		memcpy(to + n, one, size);
		n += size;
	}
	if (room)
		to[n] = 0;
	return n;
}
