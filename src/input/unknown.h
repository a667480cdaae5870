/* SPDX-License-Identifier: MIT */
/* unknown.h: what of a filter of labels fits no series, for who mistyped it. */
#ifndef SEAM_INPUT_UNKNOWN_H
#define SEAM_INPUT_UNKNOWN_H

#include "store/store.h"

/* Writes which label, or which value, of the query's filter no series of its span has, and which
 * one is like it: "; none has the label 'svc' (is service meant?)". Nothing: each by itself is
 * there, or the store cannot be asked. */
void unknown_text(struct store *s, const struct store_query *q, struct buf *out);

#endif
