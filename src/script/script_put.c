// SPDX-License-Identifier: MIT
// script_put.c: see script_put.h. Each function asks for room once, with enough to spare that
// blanks can be written sixteen at a time.
#include "script/script_put.h"

#include "base/digits.h"
#include "base/shown.h"

/* One vector store. */
#define BLANKS 16u

/* Writes blanks so that they and n bytes make up width, and returns where the n bytes must be
 * written. These count as written. */
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

/* A decimal number, right-aligned in width columns. It may be wider. The same of put_hex. */
void put_number(struct buf *out, uint64_t v, int width)
{
	unsigned n = digits_count(v);
	char *p = put_padded(out, n, width);

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

/* A name as it is shown (escaped), right-aligned, and ": ". */
void put_label(struct buf *out, const char *name, int width)
{
	size_t n = shown_length(name);

	put_blanks(out, width > 0 && (size_t)width > n ? (int)((size_t)width - n) : 0);
	shown_put(out, name, strlen(name));
	buf_put(out, ": ", 2);
}

#define SECOND 1000000000u
#define SECOND_WIDTH 5u /* what is left of perf's 12 columns, and of the 15 with nanoseconds */

/* Makes the text of the second that a time is in. It is kept, because samples of a second stand
 * together. */
static void put_clock(struct put_clock *clock, uint64_t time_ns)
{
	uint64_t s = time_ns / SECOND;
	unsigned n = digits_count(s), at = n < SECOND_WIDTH ? SECOND_WIDTH - n : 0;

	clock->from_ns = s * SECOND;
	memset(clock->text, ' ', SECOND_WIDTH);
	digits_put(clock->text + at, n, s);
	clock->text[at + n] = '.';
	clock->n = at + n + 1;
}

/* If memory is out, nothing is written and out->failed is set. */
void put_time(struct buf *out, struct put_clock *clock, uint64_t time_ns, bool ns)
{
	unsigned digits = ns ? 9 : 6;
	char *p = buf_reserve(out, sizeof(clock->text) + digits + 2);
	uint32_t fraction;

	if (!p)
		return;
	if (!clock->n || time_ns < clock->from_ns || time_ns - clock->from_ns >= SECOND)
		put_clock(clock, time_ns);
	fraction = (uint32_t)(time_ns - clock->from_ns);
	memcpy(p, clock->text, sizeof(clock->text));
	if (ns) /* a number of digits that the compiler knows */
		digits_put(p + clock->n, 9, fraction);
	else
		digits_put(p + clock->n, 6, fraction / 1000);
	memcpy(p + clock->n + digits, ": ", 2);
	out->n += clock->n + digits + 2;
}

/* -1 is the one negative number that ids have. */
void put_signed(struct buf *out, uint32_t v, int width)
{
	if (v == UINT32_MAX) {
		put_blanks(out, width - 2);
		buf_put_text(out, "-1");
	} else {
		put_number(out, v, width);
	}
}
