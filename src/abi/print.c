// SPDX-License-Identifier: MIT
/*
 * print.c: what is the same for every record's text: the frame, the raw bytes, the line's beginning,
 * and numbers, written by hand because a dump is mostly numbers.
 */
#include "abi/print.h"

#include <errno.h>
#include <string.h>

#include "abi/decode.h"
#include "abi/printer.h"

static const char print_digits[] = "0123456789abcdef";

#define RECORD(id, symbol, name, least, decoder, print_fn, fields) [id] = print_fn,
static void (*const print_types[])(struct printer *p) = {
#include "abi/records.def"
};

void print_text(struct buf *out, const char *text)
{
	buf_put(out, text, strlen(text));
}

void print_dec(struct buf *out, uint64_t v)
{
	char text[20], *p = text + sizeof(text);

	do
		*--p = (char)('0' + v % 10);
	while (v /= 10);
	buf_put(out, p, (size_t)(text + sizeof(text) - p));
}

void print_signed(struct buf *out, int64_t v)
{
	if (v < 0)
		buf_put(out, "-", 1);
	print_dec(out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void print_hex(struct buf *out, uint64_t v)
{
	char text[18], *p = text + sizeof(text);

	if (!v) {
		buf_put(out, "0", 1);
		return;
	}
	for (; v; v >>= 4)
		*--p = print_digits[v & 15];
	*--p = 'x';
	*--p = '0';
	buf_put(out, p, (size_t)(text + sizeof(text) - p));
}

void print_hex16(struct buf *out, uint64_t v)
{
	char text[16];

	for (int i = 15; i >= 0; i--, v >>= 4)
		text[i] = print_digits[v & 15];
	buf_put(out, text, sizeof(text));
}

/* ".  0010:  6c 00 ... 00  l..." : n <= 16 bytes of one line. */
static char *print_hex_line(char *p, size_t at, const unsigned char *bytes, size_t n)
{
	unsigned digits = at > 0xffff ? 8 : 4;

	memcpy(p, ".  ", 3);
	p += 3;
	for (unsigned i = 0; i < digits; i++)
		*p++ = print_digits[at >> (4 * (digits - 1 - i)) & 15];
	memcpy(p, ": ", 2);
	p += 2;
	for (size_t i = 0; i < 16; i++, p += 3) {
		p[0] = ' ';
		p[1] = i < n ? print_digits[bytes[i] >> 4] : ' ';
		p[2] = i < n ? print_digits[bytes[i] & 15] : ' ';
	}
	*p++ = ' ';
	*p++ = ' ';
	for (size_t i = 0; i < 16; i++)
		*p++ = i >= n ? ' ' : bytes[i] >= 0x20 && bytes[i] < 0x7f ? (char)bytes[i] : '.';
	*p++ = '\n';
	return p;
}

#define PRINT_LINE_MAX 80 /* 3 + 8 + 2 + 48 + 2 + 16 + 1 */

void print_hex_dump(struct buf *out, const unsigned char *bytes, size_t n)
{
	char *start, *p;

	if (n > SIZE_MAX / PRINT_LINE_MAX - 16)
		return;
	start = p = buf_reserve(out, (n + 15) / 16 * PRINT_LINE_MAX);
	if (!p)
		return;
	for (size_t at = 0; at < n; at += 16)
		p = print_hex_line(p, at, bytes + at, n - at < 16 ? n - at : 16);
	out->n += (size_t)(p - start);
}

/* "0x1a0@perf.data [0x30]: event: 78" and the raw bytes. */
static void print_raw(struct buf *out, const struct seam_record *r, const struct print_opts *opts)
{
	print_text(out, "\n");
	print_hex(out, r->offset);
	if (opts && opts->path) {
		print_text(out, "@");
		print_text(out, opts->path);
	}
	print_text(out, " [");
	print_hex(out, r->size);
	print_text(out, "]: event: ");
	print_dec(out, r->type);
	print_text(out, "\n.\n. ... raw event: size ");
	print_dec(out, r->size);
	print_text(out, " bytes\n");
	print_hex_dump(out, r->bytes, r->size);
	print_text(out, "\n");
}

/* CPU and time, if any event has them, as perf prints them in front of every record. */
static void print_stamp(struct buf *out, const struct seam_events *events,
                        const struct seam_record *record, const struct seam_id *id)
{
	bool user = record->type >= SEAM_RECORD_USER_FIRST;

	if (record->type != SEAM_RECORD_SAMPLE && !events->any_sample_id_all) {
		print_text(out, "-1 -1 ");
		return;
	}
	if (events->any_sample_type & SEAM_SAMPLE_CPU) {
		print_dec(out, user ? 0 : id->cpu);
		print_text(out, " ");
	}
	if (events->any_sample_type & SEAM_SAMPLE_TIME) {
		print_dec(out, user || id->has & SEAM_SAMPLE_TIME ? id->time_ns : UINT64_MAX);
		print_text(out, " ");
	}
}

int print_record(struct buf *out, const struct seam_events *events,
                 const struct seam_record *record, const struct print_opts *opts,
                 struct seam_error *err)
{
	struct seam_decoded d;
	struct seam_error why = { 0 };
	struct printer p = {
		.out = out, .events = events, .record = record, .d = &d, .opts = opts
	};
	int r = seam_record_decode(events, record, &d, &why);

	print_raw(out, record, opts);
	if (r >= 0)
		print_stamp(out, events, record, &d.id);
	print_hex(out, record->offset);
	print_text(out, " [");
	print_hex(out, record->size);
	print_text(out, "]: PERF_RECORD_");
	if (r >= 0) {
		size_t trailer = decode_trailer(events, record, d.event)->trailer_size;

		print_text(out, seam_record_name(record->type));
		p.body = cursor_of(record->bytes + 8, record->size - 8 - trailer, record->swap);
		print_types[record->type](&p);
	} else {
		const char *name = seam_record_name(record->type);

		print_text(out, name ? name : "UNKNOWN");
		print_text(out, ": ");
		print_text(out, why.text);
		print_text(out, "\n");
		if (err)
			*err = why;
	}
	return out->failed ? -ENOMEM : r;
}
