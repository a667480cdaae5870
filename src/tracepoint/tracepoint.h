/* SPDX-License-Identifier: MIT */
/*
 * tracepoint.h: the fields of a tracepoint's sample as text, as perf script prints them.
 *
 * The formats come from the recording (TRACING_DATA), the parsing and printing of one format is
 * libtraceevent's. Formats and raw data are a stranger's, and that library trusts both, so every
 * format is looked at before and after it is parsed (vet.h), and raw data are checked against its
 * fields. A print format that computes lengths is not followed: its fields are shown one by one. A
 * format that is refused is said, and its samples have no text. No plugin is loaded. One thread per
 * struct tracepoints.
 *
 * Built without libtraceevent (-Dtraceevent=disabled), tracepoint_text says so for every sample.
 */
#ifndef SEAM_TRACEPOINT_TRACEPOINT_H
#define SEAM_TRACEPOINT_TRACEPOINT_H

#include <stddef.h>
#include <stdint.h>

#include <seam/error.h>

#include "base/buf.h"

struct tracepoints;

/* A function's name at a kernel address, for %pS; *start: where it begins. NULL: not known. The
 * name lives until the next call. */
struct tracepoint_names {
	const char *(*find)(void *ctx, uint64_t addr, uint64_t *start);
	void *ctx;
};

/*
 * bytes (TRACING_DATA, as seam_reader_feature gives it) are borrowed until tracepoint_free; none:
 * every text is a reason. names may be NULL. Data that are cut or not sound are no error: err is
 * then filled and what is there is used. -ENOMEM.
 */
int tracepoint_new(struct tracepoints **ret, const void *bytes, size_t n,
                   const struct tracepoint_names *names, struct seam_error *err);
void tracepoint_free(struct tracepoints *t);

/*
 * Appends the text of a sample of tracepoint number id (attr.config): "prev_comm=... prev_pid=...".
 * Returns 1; or 0 when there is none, and *reason says why in a few words, which live until
 * tracepoint_free; or -ENOMEM.
 */
int tracepoint_text(struct tracepoints *t, uint64_t id, uint32_t cpu, const void *raw, size_t n,
                    struct buf *out, const char **reason);

#endif
