/* SPDX-License-Identifier: MIT */
/*
 * decode.h: what the decoders of one record share. Invariant: `body` is bounded by the record; the
 * sample_id trailer, when its layout is known, lies behind body.end and is never part of it.
 */
#ifndef SEAM_ABI_DECODE_H
#define SEAM_ABI_DECODE_H

#include <seam/record.h>

#include "abi/events.h"
#include "base/cursor.h"

/* Above the largest number of records.def: the size of the largest of these arrays. */
union record_numbers {
#define RECORD(id, symbol, ...) char symbol[(id) + 1];
#include "abi/records.def"
};
#define RECORD_TYPES sizeof(union record_numbers)

struct decode {
	const struct seam_events *events;
	const struct seam_record *record;
	struct cursor body; /* behind the record's header, up to the trailer */
	struct seam_decoded *ret;
	struct seam_error *err;
};

/* "offset 0x1a38: MMAP2: ..."; returns -EBADMSG. */
int decode_bad(const struct decode *d, const char *fmt, ...)
        __attribute__((format(printf, 2, 3), cold));

/* The layout whose trailer and trailer_size hold for this record: that of its event, or the one
 * that all events share. Never NULL: without either it is empty. */
const struct layout *decode_trailer(const struct seam_events *events,
                                    const struct seam_record *record,
                                    const struct seam_event *event);

/* Reads a PERF_SAMPLE_READ body; returns 0, or -EBADMSG with err filled. */
int decode_read(struct decode *d, uint64_t format, struct seam_read *ret);

#define RECORD(id, symbol, name, least, decoder, printer, fields) int decoder(struct decode *d);
#include "abi/records.def"

#endif
