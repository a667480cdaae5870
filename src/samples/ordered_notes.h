/* SPDX-License-Identifier: MIT */
/*
 * ordered_notes.h: items of what the first pass indexed of samples (sample_index.h): no record is
 * looked at again, so that a compressed file is read once, too.
 *
 * Such an item is that of batch.h but for what is not indexed: the record has its type, misc and
 * index only, the sample its event, ids, time, CPU and period, its parts, and its ip if it has no
 * kernel part; of its cookie nothing is said. Equal parts have one place, for as long as the
 * recording is open.
 */
#ifndef SEAM_SAMPLES_ORDERED_NOTES_H
#define SEAM_SAMPLES_ORDERED_NOTES_H

#include "samples/batch.h"
#include "samples/sample_index.h"

struct ordered_noted { /* one thread each */
	const struct recording *rec;
	struct proc_recall recall;
	struct seam_stitch_counts counts;
	struct batch_item item;
};

void ordered_noted_start(struct ordered_noted *noted, const struct recording *rec);
/* The item of an entry, until the next one: NULL: it is a duplicate's. */
const struct batch_item *ordered_noted_item(struct ordered_noted *noted,
                                            const struct sample_entry *entry);

#endif
