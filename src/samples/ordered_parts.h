/* SPDX-License-Identifier: MIT */
/*
 * ordered_parts.h: what ordered_each and ordered_text share: records in order, and what turns them
 * into items.
 */
#ifndef SEAM_SAMPLES_ORDERED_PARTS_H
#define SEAM_SAMPLES_ORDERED_PARTS_H

#include "perfdata/order.h"
#include "samples/index_order.h"
#include "samples/ordered.h"
#include "samples/ordered_notes.h"

struct ordered {
	struct recording *rec;
	const struct ordered_opts *opts;
	struct order *order;
	bool noted; /* what comes are entries, not records */
	struct index_order index;
	uint64_t pushed, popped;
	struct tables *tables; /* NULL: no sample is unwound */
};

/* Reads the recording's wanted records into order. End it with ordered_end whatever it returns. */
int ordered_start(struct ordered *o, struct recording *rec, const struct ordered_opts *opts,
                  struct seam_error *err);
/* A batch, for one thread; its unwound is the caller's to free. -ENOMEM. */
int ordered_batch(struct ordered *o, struct batch *ret);
/* 1 and the next record, whose bytes live until the next call unless it is stable; 0: that was
 * all. */
int ordered_next(struct ordered *o, struct seam_record *ret);
/* 1 and the next entry, which lives as long as the recording's entries do; 0: that was all;
 * -ENOMEM. */
int ordered_next_note(struct ordered *o, const struct sample_entry **ret);
/* Frees; says what r means if nobody has; returns r. */
int ordered_end(struct ordered *o, int r, struct seam_error *err);

#endif
