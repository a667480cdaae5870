/* SPDX-License-Identifier: MIT */
/*
 * window_side.h: side-band records of processes and threads that are gone are let go, so
 * that what a window knows of them is as large as what runs, however long it records.
 */
#ifndef SEAM_RECORDER_WINDOW_SIDE_H
#define SEAM_RECORDER_WINDOW_SIDE_H

#include <seam/record.h>

#include "base/buf.h"
#include "base/map.h"

/* After its EXIT a task may still be sampled until it is scheduled away. */
#define WINDOW_SIDE_GRACE_NS 2000000000ULL

/*
 * Takes out of side (whole records, in the order in which they came) those of threads that had
 * ended WINDOW_SIDE_GRACE_NS before a time from which on samples are to come. Of a process all
 * mappings stay while one of its threads lives; what a process that lives has inherited by fork,
 * and not left behind by an exec, stays, too. -ENOMEM: side is as it was.
 */
int window_side_prune(struct buf *side, const struct seam_events *events, uint64_t from_ns);
/*
 * Gives, in their order and in runs as long as they are, the records that samples of some threads
 * (tid -> anything) from from_ns on need: of these threads, of their processes' first threads, and
 * of whom they inherited from; and those that are nobody's. Of what ended WINDOW_SIDE_GRACE_NS
 * before, none. -errno, also of give.
 */
int window_side_sampled(const struct buf *side, const struct seam_events *events,
                        const struct map *threads, uint64_t from_ns,
                        int (*give)(void *ctx, const void *bytes, size_t n), void *ctx);
/* Keeps nothing but the names of functions that interpreters run (abi/runtime_code.h). */
void window_side_names(struct buf *side, const struct seam_events *events);

#endif
