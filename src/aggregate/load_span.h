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

/* Bytes of a mapping of one kind (alike.h): [from, to) are this frame. */
struct load_span {
	uint32_t kind, from, to;
	uint32_t frame;
};

/* Zero-initialise for one that keeps none. */
struct load_spans {
	struct load_span *all; /* in the order in which they were noted */
	size_t n, capacity;
	uint32_t *at; /* by piece of code: place in all + 1; 0: none */
	unsigned bits;
};

/* A table of 1 << bits pieces. -ENOMEM. */
int load_spans_start(struct load_spans *s, unsigned bits);
void load_spans_free(struct load_spans *s);
/* Whether the frame of a place is known. */
bool load_span_get(const struct load_spans *s, const struct alike_place *at, bool caller,
                   uint64_t *frame);
/* Notes the frame of a function, where it lies around a place that was named. -ENOMEM. */
int load_span_put(struct load_spans *s, const struct alike_place *at, bool caller,
                  const struct place *place, uint64_t frame);

#endif
