/* SPDX-License-Identifier: MIT */
/*
 * record_live.h: where records go: straight to the sink, or, when samples carry stack copies that
 * are not to be kept, through the stage that unwinds them (recorder/live.h).
 */
#ifndef SEAM_CLI_RECORD_LIVE_H
#define SEAM_CLI_RECORD_LIVE_H

#include "cli/record/record_options.h"
#include "recorder/datafile.h"
#include "recorder/live.h"

struct record_live {
	struct datafile *sink;
	struct live *live; /* NULL: straight */
};

/* The stage for the events of an open session; NULL when no samples carry copies, or those are to
 * be kept. -errno. */
int record_live_new(struct live **ret, const struct record_opts *o, const struct session *session);

/* After the session is open. -errno. */
int record_live_open(struct record_live *r, const struct record_opts *o,
                     const struct session *session, struct datafile *sink);
void record_live_free(struct record_live *r);
/* The events as the file has them. */
const struct seam_events *record_live_events(const struct record_live *r,
                                             const struct session *session);

/* A capture_write. */
int record_live_write(void *ctx, const void *bytes, size_t n);
/* Every ring was read once, and n bytes came of it: gives what is ready to the sink, and flushes
 * it. */
int record_live_round(struct record_live *r, int64_t n);
/* What was synthesized is written: makes tables before sampling begins. 1: all; 0: not all in
 * time. */
int record_live_prepare(struct record_live *r);
/* No more comes. */
int record_live_finish(struct record_live *r, unsigned timeout_ms);
/* What became of the copies, on standard error. */
void record_live_say(const struct record_live *r, const struct record_opts *o);

#endif
