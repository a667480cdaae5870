/* SPDX-License-Identifier: MIT */
/*
 * printer.h: what the printers of one record share. A printer is called behind "PERF_RECORD_NAME"
 * and ends its last line.
 */
#ifndef SEAM_ABI_PRINTER_H
#define SEAM_ABI_PRINTER_H

#include "abi/events.h"
#include "abi/print.h"
#include "base/cursor.h"

struct printer {
	struct buf *out;
	const struct seam_events *events;
	const struct seam_record *record;
	const struct seam_decoded *d;
	const struct print_opts *opts;
	struct cursor body; /* behind the header, up to the trailer */
};

#define RECORD(id, symbol, name, least, decoder, print_fn, fields) void print_fn(struct printer *p);
#include "abi/records.def"

static inline void print_text(struct buf *out, const char *text)
{
	buf_put_text(out, text);
}

void print_hex(struct buf *out, uint64_t v);   /* %#llx: 0 has no 0x */
void print_hex16(struct buf *out, uint64_t v); /* %016llx */
void print_hex_bytes(struct buf *out, const unsigned char *bytes, size_t n); /* %02x of each */
/* The flags of a branch entry with bit 0 = mispred on every machine. */
uint64_t print_branch_flags(const struct seam_branch_stack *b, uint64_t i);
/* The text of a tracepoint's sample: 1; or why it has none: 0; -ENOENT: nobody asked for one. */
int print_trace(const struct printer *p, const struct seam_sample *s, struct buf *ret);
/* "KERNEL" for a marker of a callchain; NULL when it is none that is known. */
const char *print_context_name(uint64_t ip);

#endif
