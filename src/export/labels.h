/* SPDX-License-Identifier: MIT */
/*
 * labels.h: for whom the thread of a row or a sample worked, as pairs of key and value: its trace,
 * its span, then the labels of its set, which profiles keep as abi/context.h writes it
 * (load_opts.label_lines).
 */
#ifndef SEAM_EXPORT_LABELS_H
#define SEAM_EXPORT_LABELS_H

#include "base/buf.h"
#include "profile/profile.h"

#define LABELS_KEPT (PROFILE_KEEP_TRACE | PROFILE_KEEP_SPAN | PROFILE_KEEP_LABEL)

/* Calls each() for every pair; its texts hold until it returns. What each() returned, if negative:
 * then the rest was left out. -ENOMEM. */
int labels_each(const struct profile *p, const struct profile_key *key,
                int (*each)(void *ctx, const char *key, const char *value), void *ctx);
/* Appends all pairs for people: "trace=4bf9... route=/cart". Nothing, where there are none. */
int labels_text(const struct profile *p, const struct profile_key *key, struct buf *to);
/* Whether two keys have the same labels. */
bool labels_equal(const struct profile_key *a, const struct profile_key *b);

#endif
