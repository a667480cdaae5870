/* SPDX-License-Identifier: MIT */
/*
 * tracing_data.h: the formats of tracepoints, as the blob that the TRACING_DATA feature of a
 * perf.data file holds. Readers refuse files that have tracepoint events and lack it.
 */
#ifndef SEAM_CAPTURE_TRACING_DATA_H
#define SEAM_CAPTURE_TRACING_DATA_H

#include "base/buf.h"
#include "event/event.h"

/*
 * Appends the blob for the tracepoints among events to ret. 0 when there is none (nothing is
 * appended), 1 when there is one; -ENOENT, -EACCES: tracefs cannot be read; -ENOMEM.
 */
int tracing_data_collect(const struct seam_events *events, const struct event_roots *roots,
                         struct buf *ret);

#endif
