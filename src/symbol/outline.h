/* SPDX-License-Identifier: MIT */
/*
 * outline.h: where the functions of one object begin and end, for code that no symbol names.
 *
 * Invariant: spans are ascending and disjoint, so a lookup is one binary search. Where the file's
 * own overlap, what begins later has the address: nothing tells how much of the other one is meant.
 */
#ifndef SEAM_SYMBOL_OUTLINE_H
#define SEAM_SYMBOL_OUTLINE_H

#include "base/buf.h"

struct image;

struct outline_span {
	uint64_t start, end; /* [start, end), linked addresses */
};

struct outline {
	struct buf spans;         /* struct outline_span */
	struct buf signal_frames; /* the same, in no order: there are one or two */
};

/* Fills an empty outline; a file that states nothing leaves it so. 0, or -ENOMEM. */
int outline_read(struct outline *outline, struct image *image);
/* Its steps: outline_put adds a span, outline_settle ends adding. -ENOMEM. */
int outline_put(void *outline, uint64_t start, uint64_t end);
int outline_settle(struct outline *outline);
/* The span that holds addr; NULL: none does. */
const struct outline_span *outline_find(const struct outline *outline, uint64_t addr);
/* Whether addr is in code that returns from a signal's handler, by its unwind information. */
bool outline_is_signal_frame(const struct outline *outline, uint64_t addr);
void outline_free(struct outline *outline);

#endif
