/* SPDX-License-Identifier: MIT */
/*
 * fit.h: what other readers refuse in a recording, and the form in which they accept it. perf gives
 * up a whole file for one record or feature that it does not expect. What is put into this form is
 * read by perf 6.1 and 7.3; what has none is left out and counted by the caller.
 */
#ifndef SEAM_PERFDATA_FIT_H
#define SEAM_PERFDATA_FIT_H

#include <seam/record.h>

#include "base/buf.h"

/* The newest record type of perf 6.1 and of perf 7.3; older perf gives up a file for one that is
 * newer. */
#define FIT_TYPE_6_1 82u
#define FIT_TYPE_7_3 86u

/* Whether perf 7.3 knows records of that type, as they stand outside of a compressed block. */
bool fit_type(uint32_t type);

/*
 * Appends a record that perf would refuse to out, in the form that perf accepts: true (or
 * out->failed). False: the record is fine as it is, or no better form of it is known. events: those
 * of the file.
 */
bool fit_record(const struct seam_events *events, const struct seam_record *record,
                struct buf *out);

/* Whether perf reads a header feature to its end; the byte order is this machine's. */
bool fit_feature(unsigned feature, const struct seam_bytes *content);

#endif
