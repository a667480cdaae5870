// SPDX-License-Identifier: MIT
// script_put.c: see script_put.h. Each asks for room once, with as much to spare as lets blanks be written by the
// sixteen.
#include "cli/script_put.h"

#include "base/digits.h"

#define BLANKS 16u

/* Room for n bytes behind as many blanks as make width of them: where they stand. They count as written. */
static char *put_padded(struct buf *out, unsigned n, int width)
{
	unsigned blanks = width > (int)n ? (unsigned)width - n : 0;
	char *p = buf_reserve(out, blanks + n + BLANKS);

	if (!p)
		return NULL;
	for (unsigned i = 0; i < blanks; i += BLANKS)
		memcpy(p + i, "                ", BLANKS);
	out->n += blanks + n;
	return p + blanks;
}

void put_number(struct buf *out, uint64_t v, int least, int width)
{
	unsigned n = digits_count(v);
	char *p;

	if ((int)n < least)
		n = (unsigned)least;
	p = put_padded(out, n, width);
	if (p)
		digits_put(p, n, v);
}

void put_hex(struct buf *out, uint64_t v, int width)
{
	unsigned n = digits_hex_count(v);
	char *p = put_padded(out, n, width);

	if (p)
		digits_put_hex(p, n, v);
}

void put_blanks(struct buf *out, int n)
{
	put_padded(out, 0, n);
}

void put_time(struct buf *out, uint64_t time_ns, bool ns)
{
	unsigned digits = ns ? 9 : 6;
	uint64_t s = time_ns / 1000000000, fraction = time_ns % 1000000000;
	unsigned n = digits_count(s);
	char *p = put_padded(out, n + 1 + digits, ns ? 15 : 12);

	if (!p)
		return;
	digits_put(p, n, s);
	p[n] = '.';
	digits_put(p + n + 1, digits, ns ? fraction : fraction / 1000);
	buf_put(out, ": ", 2);
}

void put_signed(struct buf *out, uint32_t v, int width)
{
	if (v == UINT32_MAX) {
		put_blanks(out, width - 2);
		buf_put_text(out, "-1");
	} else {
		put_number(out, v, 1, width);
	}
}
