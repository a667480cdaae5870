/* SPDX-License-Identifier: MIT */
/*
 * id_filter.h: which samples a command is to look at: the options --comms, --pid, --tid, --label
 * and --cpu.
 */
#ifndef SEAM_INPUT_ID_FILTER_H
#define SEAM_INPUT_ID_FILTER_H

#include <seam/stitch.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "samples/samples.h"

enum {
	ID_FILTER_COMMS = 1000,
	ID_FILTER_PID,
	ID_FILTER_TID,
	ID_FILTER_CPU,
	ID_FILTER_LABEL,
	ID_FILTER_END,
};

#define ID_FILTER_OPTIONS                                                                    \
	{ "comms", 0, "LIST", "only samples of threads with these names", ID_FILTER_COMMS }, \
	        { "pid", 0, "LIST", "only samples of these processes", ID_FILTER_PID },      \
	        { "tid", 0, "LIST", "only samples of these threads", ID_FILTER_TID },        \
	        { "label", 0, "LIST",                                                        \
		  "only samples with these labels, as patterns: http.route=/cart*",          \
		  ID_FILTER_LABEL },                                                         \
	{                                                                                    \
		"cpu", 'C', "LIST", "only samples of these CPUs: 0,2-4", ID_FILTER_CPU       \
	}

struct id_filter_range {
	uint32_t first, last;
};

/* Zero-initialise to start. An empty list takes all. */
struct id_filter {
	const char *comms, *labels;  /* LISTs as given */
	struct buf pids, tids, cpus; /* of struct id_filter_range */
};

static inline bool id_filter_is_option(int id)
{
	return id >= ID_FILTER_COMMS && id < ID_FILTER_END;
}

/* 0, or -EINVAL after saying why on stderr. */
int id_filter_option(struct id_filter *t, const struct options *o, int id);
bool id_filter_any(const struct id_filter *t); /* an option was given */
/* comm may be NULL. Any thread. */
bool id_filter_id(const struct id_filter *t, const struct seam_id *id, const char *comm);
/* The same as a struct samples_filter, as long as t lives. */
struct samples_filter id_filter_samples(const struct id_filter *t);
void id_filter_free(struct id_filter *t);
/* True when text is one of a comma-separated list. */
bool id_filter_in_list(const char *list, const char *text);

#endif
