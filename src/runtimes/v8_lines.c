// SPDX-License-Identifier: MIT
// v8_lines.c: see v8_lines.h. A line ends behind a line feed, a carriage return (and the line feed
// behind it), and the two separators that Unicode has.
#include "runtimes/v8_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LINE_SEPARATOR 0x2028u /* and the one for paragraphs, behind it */
#define BYTE_ORDER_MARK 0xfeffu

static int v8_lines_begin(struct v8_lines *l, uint32_t at)
{
	if (ARRAY_ROOM(&l->starts, &l->room, l->n + 1) < 0)
		return -ENOMEM;
	l->starts[l->n++] = at;
	return 0;
}

/* One character, which is not a part of a longer one where lines are concerned. */
static int v8_lines_one(struct v8_lines *l, uint16_t c)
{
	uint32_t at = l->characters++;

	if (l->returned && c != '\n' && v8_lines_begin(l, at) < 0)
		return -ENOMEM;
	l->returned = c == '\r';
	if (c == '\n' || c == LINE_SEPARATOR || c == LINE_SEPARATOR + 1)
		return v8_lines_begin(l, at + 1);
	return 0;
}

int v8_lines_add(struct v8_lines *lines, const void *characters, size_t n, unsigned width)
{
	const unsigned char *bytes = characters;
	int r = 0;

	if (n > INT32_MAX - lines->characters)
		return -EFBIG;
	for (size_t i = 0; i < n && r >= 0; i++) {
		uint16_t c = bytes[i * width];

		if (width == 2)
			memcpy(&c, bytes + i * 2, sizeof(c));
		r = v8_lines_one(lines, c);
	}
	return r;
}

/* One character of UTF-8. Returns its bytes; 0: it is none. */
static size_t v8_utf8(const unsigned char *bytes, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t bytes_of = *bytes < 0x80   ? 1
	                  : *bytes < 0xc2 ? 0
	                  : *bytes < 0xe0 ? 2
	                  : *bytes < 0xf0 ? 3
	                  : *bytes < 0xf5 ? 4
	                                  : 0;
	uint32_t c = bytes_of == 1 ? *bytes : *bytes & (0x7fu >> bytes_of);

	if (bytes_of > n)
		return 0;
	for (size_t i = 1; i < bytes_of; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3f);
	}
	if (c < least[bytes_of] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		return 0;
	*ret = c;
	return bytes_of;
}

/* A mark of the byte order in front is left out: node does so. */
int64_t v8_lines_units(uint16_t *to, const unsigned char *bytes, size_t n)
{
	size_t put = 0, more;
	uint32_t c;

	for (size_t i = 0; i < n; i += more) {
		more = v8_utf8(bytes + i, n - i, &c);
		if (!more)
			return -EINVAL;
		if (!i && c == BYTE_ORDER_MARK)
			continue;
		if (c >= 0x10000) {
			to[put++] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
			c = 0xdc00 + (c & 0x3ff);
		}
		to[put++] = (uint16_t)c;
	}
	return (int64_t)put;
}

uint32_t v8_lines_at(const struct v8_lines *lines, uint32_t character)
{
	size_t low = 0, high = lines->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (lines->starts[middle] <= character)
			low = middle + 1;
		else
			high = middle;
	}
	return (uint32_t)low + 1;
}

void v8_lines_free(struct v8_lines *lines)
{
	free(lines->starts);
	*lines = (struct v8_lines){ 0 };
}
