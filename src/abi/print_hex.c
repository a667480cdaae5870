// SPDX-License-Identifier: MIT
// print_hex.c: numbers of records, written by hand because a dump is mostly numbers.
#include <string.h>

#include "abi/printer.h"
#include "base/digits.h"

/* 0 is written as "0": printf's %#llx does the same. */
void print_hex(struct buf *out, uint64_t v)
{
	char *p = buf_reserve(out, 18);
	unsigned n = digits_hex_count(v);

	if (!p)
		return;
	if (v) {
		memcpy(p, "0x", 2);
		p += 2;
		out->n += 2;
	}
	digits_put_hex(p, n, v);
	out->n += n;
}

void print_hex16(struct buf *out, uint64_t v)
{
	char *p = buf_reserve(out, 16);

	if (!p)
		return;
	digits_put_hex16(p, v);
	out->n += 16;
}

void print_hex_bytes(struct buf *out, const unsigned char *bytes, size_t n)
{
	char *p = buf_reserve(out, n * 2);

	if (!p)
		return;
	for (size_t i = 0; i < n; i++)
		digits_put_hex(p + i * 2, 2, bytes[i]);
	out->n += n * 2;
}
