/* SPDX-License-Identifier: MIT */
/* evlist.h: the events of a recording and how they were opened, in perf's spelling. */
#ifndef SEAM_INSPECT_EVLIST_H
#define SEAM_INSPECT_EVLIST_H

#include <seam/reader.h>

#include "base/buf.h"

struct evlist_opts {
	struct seam_reader *reader;
	bool verbose; /* all fields that are not zero */
	bool freq;    /* the sampling frequency or period */
	bool group;   /* groups in braces */
};

/* Whether all events are known before the first record. A stream, and a file that was not finished,
 * name events among the records. */
bool evlist_is_known(const struct seam_reader *reader);
/* A line for each event or group of those that are known by now. */
void evlist_text(const struct evlist_opts *o, struct buf *out);

#endif
