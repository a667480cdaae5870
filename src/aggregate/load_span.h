/* SPDX-License-Identifier: MIT */
/*
 * load_span.h: the functions that were met last, by where they lie in files, in front of the
 * resolver: where addresses are not told apart, all of a function are one frame.
 * For load_descend.c only.
 *
 * Invariant: what is said of a place is what naming it would say (resolver_lasts).
 */
#ifndef SEAM_AGGREGATE_LOAD_SPAN_H
#define SEAM_AGGREGATE_LOAD_SPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "resolve/resolver.h"

/* Bytes of a mapping of one kind (alike.h): [from, to) are this frame. No padding. */
struct load_span {
	uint32_t kind, from, to;
	uint32_t frame; /* 0: none */
};

/* calloc'ed by 1 << bits; at NULL: none are kept. */
struct load_spans {
	struct load_span *at;
	unsigned bits;
};

/* Whether the frame of a place is known. */
bool load_span_get(const struct load_spans *s, const struct alike_place *at, bool caller,
                   uint64_t *frame);
/* Notes the frame of a function, where it lies around a place that was named. */
void load_span_put(struct load_spans *s, const struct alike_place *at, bool caller,
                   const struct place *place, uint64_t frame);

#endif
