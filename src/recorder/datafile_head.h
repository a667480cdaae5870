/* SPDX-License-Identifier: MIT */
/*
 * datafile_head.h: what a recording says of itself: the features of the header. Knows what perf
 * expects in front of and behind the records.
 */
#ifndef SEAM_RECORDER_DATAFILE_HEAD_H
#define SEAM_RECORDER_DATAFILE_HEAD_H

#include "recorder/datafile.h"

/* The features that are known before recording: the machine, the command line, the events and, for
 * tracepoints, their formats. -errno; -ENOENT, -EACCES: formats cannot be read, err says so. */
int datafile_head(struct seam_writer *writer, const struct datafile_opts *o,
                  const struct seam_events *events, struct seam_error *err);
/* The features that are known at its end; only for a file, not for a pipe. */
void datafile_tail(struct datafile *d);

#endif
