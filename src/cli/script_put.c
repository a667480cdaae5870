// SPDX-License-Identifier: MIT
// script_put.c: see script_put.h.
#include "cli/script_put.h"

static char *put_digits(char *end, uint64_t v)
{
	do
		*--end = (char)('0' + v % 10);
	while (v /= 10);
	return end;
}

void put_number(struct buf *out, uint64_t v, int least, int width)
{
	char text[48], *end = text + sizeof(text), *at = put_digits(end, v);

	while (end - at < least)
		*--at = '0';
	while (end - at < width)
		*--at = ' ';
	buf_put(out, at, (size_t)(end - at));
}

void put_hex(struct buf *out, uint64_t v, int width)
{
	char text[32], *end = text + sizeof(text), *at = end;

	do
		*--at = "0123456789abcdef"[v & 15];
	while (v >>= 4);
	while (end - at < width)
		*--at = ' ';
	buf_put(out, at, (size_t)(end - at));
}

void put_blanks(struct buf *out, int n)
{
	while (n-- > 0)
		buf_put(out, " ", 1);
}

void put_time(struct buf *out, uint64_t time_ns, bool ns)
{
	char text[48], *end = text + sizeof(text), *at = end;
	uint64_t fraction = time_ns % 1000000000;
	int digits = ns ? 9 : 6, width = ns ? 15 : 12;

	if (!ns)
		fraction /= 1000;
	at = put_digits(at, fraction);
	while (end - at < digits)
		*--at = '0';
	*--at = '.';
	at = put_digits(at, time_ns / 1000000000);
	put_blanks(out, width - (int)(end - at));
	buf_put(out, at, (size_t)(end - at));
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
