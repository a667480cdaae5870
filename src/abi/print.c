// SPDX-License-Identifier: MIT
/*
 * print.c: what is the same for every record's text: the frame, the raw bytes, the line's
 * beginning.
 *
 * The text of each type is in print_kernel.c, print_user.c and print_sample.c; records.def says
 * which function a type has. `seam dump` prints through this file. Names and paths of a record go
 * through shown_printf, because a comm may hold escape sequences for the terminal.
 */
#include "abi/print.h"

#include <errno.h>
#include <string.h>

#include "abi/record.h"
#include "abi/decode.h"
#include "abi/printer.h"
#include "base/digits.h"
#include "base/shown.h"

#define RECORD(id, symbol, name, least, decoder, print_fn, fields) [id] = print_fn,
static void (*const print_types[])(struct printer *p) = {
#include "abi/records.def"
};

/* Writes 16 bytes as characters, with a dot for each that is not printable. There are no branches,
 * so that the compiler uses vector instructions. */
static void print_characters(char *to, const unsigned char *bytes)
{
	unsigned char c[16];

	memcpy(c, bytes, 16);
	for (unsigned i = 0; i < 16; i++)
		c[i] = (unsigned char)(c[i] - 0x20) < 0x5f ? c[i] : '.';
	memcpy(to, c, 16);
}

/* ". 0010: 6c 00 ... 00 l..." : n <= 16 bytes of one line. */
static char *print_hex_line(char *p, size_t at, const unsigned char *bytes, size_t n)
{
	/* Four digits hold every record's size; only bytes that come from elsewhere may be
	 * longer. */
	unsigned digits = at > 0xffff ? 8 : 4;
	unsigned char last[16] = { 0 };

	memcpy(p, ".  ", 3);
	digits_put_hex(p + 3, digits, at);
	p += 3 + digits;
	memcpy(p, ": ", 2);
	p += 2;
	/* A short last line is copied, so that 16 bytes can be read. */
	if (n < 16)
		bytes = memcpy(last, bytes, n);
	digits_put_bytes16(p, bytes);
	memset(p + n * 3, ' ', 50 - n * 3);
	print_characters(p + 50, bytes);
	memset(p + 50 + n, ' ', 16 - n);
	p[66] = '\n';
	return p + 67;
}

#define PRINT_LINE_MAX 80 /* 3 + 8 + 2 + 48 + 2 + 16 + 1 */

/* Bytes as perf's dump shows them: 16 a line, offset in front, characters behind. */
static void print_hex_dump(struct buf *out, const unsigned char *bytes, size_t n)
{
	char *start, *p;

	/* The size of the text cannot be computed any more: 80 bytes of it stand for 16 of the
	 * record. */
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
	buf_put_decimal(out, r->type);
	print_text(out, "\n.\n. ... raw event: size ");
	buf_put_decimal(out, r->size);
	print_text(out, " bytes\n");
	print_hex_dump(out, r->bytes, r->size);
	print_text(out, "\n");
}

/* Writes CPU and time, which perf prints in front of every record if any event has them. A record
 * that should have a stamp and has none gets -1, as perf prints it. */
static void print_stamp(struct buf *out, const struct seam_events *events,
                        const struct seam_record *record, const struct seam_id *id)
{
	bool user = record->type >= SEAM_RECORD_USER_FIRST;

	if (record->type != SEAM_RECORD_SAMPLE && !events->any_sample_id_all) {
		print_text(out, "-1 -1 ");
		return;
	}
	if (events->any_sample_type & SEAM_SAMPLE_CPU) {
		buf_put_decimal(out, user ? 0 : id->cpu);
		print_text(out, " ");
	}
	if (events->any_sample_type & SEAM_SAMPLE_TIME) {
		buf_put_decimal(out, user || id->has & SEAM_SAMPLE_TIME ? id->time_ns : UINT64_MAX);
		print_text(out, " ");
	}
}

/* A record that cannot be decoded is printed too: its raw bytes, its type and the reason. Nothing
 * of a hostile record reaches the output without being escaped. */
int print_record(struct buf *out, const struct seam_events *events,
                 const struct seam_record *record, const struct print_opts *opts,
                 struct seam_error *err)
{
	struct seam_decoded d;
	struct seam_error why = { 0 };
	struct printer p = {
		.out = out, .events = events, .record = record, .d = &d, .opts = opts
	};
	/* The raw bytes are printed first, whatever the decoder says, because perf's dump has them
	 * first. */
	int r = record_decode(events, record, &d, &why);

	print_raw(out, record, opts);
	if (r >= 0)
		print_stamp(out, events, record, &d.id);
	print_hex(out, record->offset);
	print_text(out, " [");
	print_hex(out, record->size);
	print_text(out, "]: PERF_RECORD_");
	if (r >= 0) {
		/* print functions read the body by themselves, so the trailer must not be part of
		 * it. */
		size_t trailer = decode_trailer(events, record, d.event)->trailer_size;

		print_text(out, seam_record_name(record->type));
		p.body = cursor_of(record->bytes + 8, record->size - 8 - trailer, record->swap);
		print_types[record->type](&p);
	} else {
		const char *name = seam_record_name(record->type);

		print_text(out, name ? name : "UNKNOWN");
		print_text(out, ": ");
		shown_put_text(out, why.text);
		print_text(out, "\n");
		if (err)
			*err = why;
	}
	return out->failed ? -ENOMEM : r;
}
