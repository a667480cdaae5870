// SPDX-License-Identifier: MIT
// script_put.c: see script_put.h. Each asks for room once, with as much to spare as lets blanks be written by the
// sixteen.
#include "cli/script_put.h"

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

static unsigned put_count(uint64_t v)
{
	unsigned n = 1;

	for (; v >= 10000; v /= 10000)
		n += 4;
	return n + (v >= 10) + (v >= 100) + (v >= 1000);
}

static const char put_pairs[] =
        "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
        "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
        "8081828384858687888990919293949596979899";

/* The last n digits of v. */
static inline void put_digits(char *to, unsigned n, uint64_t v)
{
	for (; n >= 2; v /= 100)
		memcpy(to + (n -= 2), put_pairs + v % 100 * 2, 2);
	if (n)
		*to = (char)('0' + v % 10);
}

void put_number(struct buf *out, uint64_t v, int least, int width)
{
	unsigned n = put_count(v);
	char *p;

	if ((int)n < least)
		n = (unsigned)least;
	p = put_padded(out, n, width);
	if (p)
		put_digits(p, n, v);
}

void put_hex(struct buf *out, uint64_t v, int width)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;
	char *p = put_padded(out, n, width);

	for (; p && n; v >>= 4)
		p[--n] = "0123456789abcdef"[v & 15];
}

void put_blanks(struct buf *out, int n)
{
	put_padded(out, 0, n);
}

void put_time(struct buf *out, uint64_t time_ns, bool ns)
{
	unsigned digits = ns ? 9 : 6;
	uint64_t s = time_ns / 1000000000, fraction = time_ns % 1000000000;
	unsigned n = put_count(s);
	char *p = put_padded(out, n + 1 + digits, ns ? 15 : 12);

	if (!p)
		return;
	put_digits(p, n, s);
	p[n] = '.';
	put_digits(p + n + 1, digits, ns ? fraction : fraction / 1000);
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
