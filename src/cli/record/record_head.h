/* SPDX-License-Identifier: MIT */
/*
 * record_head.h: what a recording says of itself: the features of the header, and the records that
 * stand before all others.
 */
#ifndef SEAM_CLI_RECORD_HEAD_H
#define SEAM_CLI_RECORD_HEAD_H

#include "capture/session.h"
#include "cli/record/record_options.h"
#include "recorder/datafile.h"

/* The features that are known before recording: the machine, the command line, the events and, for
 * tracepoints, their formats. -errno; -ENOENT, -EACCES: formats cannot be read, err says so. */
int record_head_features(struct seam_writer *writer, const struct record_opts *o,
                         const struct seam_events *events, struct seam_error *err);
/* The features that are known at its end; only for a file, not for a pipe. */
void record_tail_features(struct seam_writer *writer, const struct datafile *sink);
/* TIME_CONV, THREAD_MAP, CPU_MAP. */
int record_head_records(struct datafile *sink, const struct record_opts *o,
                        const struct session *session);
/* FINISHED_INIT, which follows what was synthesized. */
int record_head_finished(struct datafile *sink);

#endif
