/* SPDX-License-Identifier: MIT */
/*
 * stat_stitch.h: what became of the deferred user stacks of a recording, counted as it streams by.
 * Does nothing unless an event defers them. Memory: order.h's and stitch.h's limits, whatever the
 * file.
 */
#ifndef SEAM_INSPECT_STAT_STITCH_H
#define SEAM_INSPECT_STAT_STITCH_H

#include <seam/stitch.h>

#include "base/buf.h"
#include "perfdata/order.h"

/* Zero-initialise to start; stat_stitch_free to end. */
struct stat_stitch {
	struct order *order; /* NULL: nothing is deferred so far */
	struct seam_stitch *stitch;
	size_t events; /* that were looked at */
};

int stat_stitch_record(struct stat_stitch *s, const struct seam_events *events,
                       const struct seam_record *record); /* -ENOMEM */
int stat_stitch_finish(struct stat_stitch *s, const struct seam_events *events);
void stat_stitch_text(const struct stat_stitch *s, struct buf *out);
/* The samples that the recorder wrote twice, which are counted once. */
uint64_t stat_stitch_copies(const struct stat_stitch *s);
void stat_stitch_free(struct stat_stitch *s);

#endif
