/* SPDX-License-Identifier: MIT */
/*
 * print.h: a record as text in the form of `perf report -D`, or as one JSON object.
 *
 * Appends to a buf, prints nothing itself. What is printed comes from the record's bytes and its
 * event's attr alone, so perf's lines on thread and dso, which come from other records, are not
 * there. A record that cannot be decoded is printed as its raw bytes and the reason.
 */
#ifndef SEAM_ABI_PRINT_H
#define SEAM_ABI_PRINT_H

#include <seam/record.h>

#include "base/buf.h"

struct print_opts {
	/* Behind the "@" of a record's first line, as it is: what shown_put wrote. NULL: no "@". */
	const char *path;
	const char
	        *arch; /* of the recording, as uname -m says it, for names of registers; or NULL */
	/* Appends the text of a tracepoint's raw data: 1; or why there is none: 0; or NULL. */
	int (*trace)(void *ctx, const struct seam_sample *sample, struct buf *out);
	void *ctx;
};

/*
 * Decodes and prints one record. Returns 0, the error of seam_record_decode (the text is complete
 * all the same, with the reason in it, and err is filled), or -ENOMEM.
 */
int print_record(struct buf *out, const struct seam_events *events,
                 const struct seam_record *record, const struct print_opts *opts,
                 struct seam_error *err);

/* The same as one JSON object on one line. */
int print_record_json(struct buf *out, const struct seam_events *events,
                      const struct seam_record *record, const struct print_opts *opts,
                      struct seam_error *err);

/* "type = 1 (PERF_TYPE_SOFTWARE), size = 136, config = 0 (...), ...": what is not 0, as perf evlist
 * -v says it. */
void print_attr_fields(struct buf *out, const struct seam_attr *attr);

/* "AX" of PERF_REG number 0 on x86; NULL when arch is NULL or not known. */
const char *print_reg_name(const char *arch, unsigned reg);

/* Entry i of a branch stack in perf script's words: "0x1234/0x5678/P/-/-/0/CALL/-". */
void print_branch_short(struct buf *out, const struct seam_branch_stack *b, uint64_t i);

#endif
