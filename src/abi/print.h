/* SPDX-License-Identifier: MIT */
/*
 * print.h: a record as text in the form of `perf report -D`, or as one JSON object.
 *
 * Appends to a buf, prints nothing itself. What is printed comes from the record's bytes alone; a
 * record that cannot be decoded is printed as its raw bytes and the reason.
 */
#ifndef SEAM_ABI_PRINT_H
#define SEAM_ABI_PRINT_H

#include <seam/record.h>

#include "base/buf.h"

/*
 * Decodes and prints one record. path is what stands behind "@" in the first line of a record, NULL:
 * nothing. Returns 0, the error of seam_record_decode (the text is complete all the same, with the
 * reason in it, and err is filled), or -ENOMEM.
 */
int print_record(struct buf *out, const struct seam_events *events,
                 const struct seam_record *record, const char *path, struct seam_error *err);

/* The same as one JSON object on one line. */
int print_record_json(struct buf *out, const struct seam_events *events,
                      const struct seam_record *record, struct seam_error *err);

/* Bytes as perf's dump shows them: 16 a line, offset in front, characters behind. */
void print_hex_dump(struct buf *out, const unsigned char *bytes, size_t n);

#endif
