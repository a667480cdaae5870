/* SPDX-License-Identifier: MIT */
/* take.h: which samples a command is to look at: the options --comms, --pid, --tid and --cpu. */
#ifndef SEAM_CLI_TAKE_H
#define SEAM_CLI_TAKE_H

#include <seam/stitch.h>

#include "base/buf.h"
#include "cli/cmd.h"

enum {
	TAKE_COMMS = 1000,
	TAKE_PID,
	TAKE_TID,
	TAKE_CPU,
	TAKE_END,
};

#define TAKE_OPTIONS                                                                    \
	{ "comms", 0, "LIST", "only samples of threads with these names", TAKE_COMMS }, \
	        { "pid", 0, "LIST", "only samples of these processes", TAKE_PID },      \
	        { "tid", 0, "LIST", "only samples of these threads", TAKE_TID },        \
	{                                                                               \
		"cpu", 'C', "LIST", "only samples of these CPUs: 0,2-4", TAKE_CPU       \
	}

struct take_range {
	uint32_t first, last;
};

/* Zero-initialise to start. An empty list takes all. */
struct take {
	const char *comms;           /* LIST as given */
	struct buf pids, tids, cpus; /* of struct take_range */
};

static inline bool take_is_option(int id)
{
	return id >= TAKE_COMMS && id < TAKE_END;
}

/* 0, or -EINVAL after saying why on stderr. */
int take_option(struct take *t, const struct options *o, int id);
bool take_any(const struct take *t); /* an option was given */
/* comm may be NULL. Any thread. */
bool take_id(const struct take *t, const struct seam_id *id, const char *comm);
/* The same, as a load_opts.take or convert_opts.take; ctx is the struct take. */
bool take_sample(void *ctx, const struct seam_stitched *sample, const char *comm);
void take_free(struct take *t);
/* True when text is one of a comma-separated list. */
bool take_in_list(const char *list, const char *text);

#endif
