/* SPDX-License-Identifier: MIT */
/* convert_head.h: what of a converted recording stands around its samples: attrs, features, and
 * perf's own records. For convert.c only. */
#ifndef SEAM_CONVERT_CONVERT_HEAD_H
#define SEAM_CONVERT_CONVERT_HEAD_H

#include <seam/writer.h>

#include "base/buf.h"
#include "convert/convert.h"

/* Whether stack copies become chains: they are there, are not to be kept, and of a machine (enum
 * frametab_machine) that can be unwound. */
bool convert_head_unwinds(const struct recording *rec, const struct convert_opts *opts,
                          uint32_t *machine);
/* The events of the output: the same indices, names and ids, classic attrs. */
int convert_head_events(const struct recording *rec, const struct convert_opts *opts,
                        struct seam_events **ret, struct seam_error *err);
/* perf's own records that go in front, appended to out; others are counted in result. */
int convert_head_records(const struct recording *rec, struct buf *out,
                         struct convert_result *result, struct seam_error *err);
/* The features that are still true; those that perf cannot read are counted in result. last_ns 0:
 * no times are known. */
int convert_head_features(const struct recording *rec, const struct seam_events *events,
                          struct seam_writer *writer, bool stream, uint64_t first_ns,
                          uint64_t last_ns, struct convert_result *result, struct seam_error *err);

#endif
