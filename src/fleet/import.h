/* SPDX-License-Identifier: MIT */
/* import.h: a recording, cut into windows, into a store. Put twice, it counts once. */
#ifndef SEAM_FLEET_IMPORT_H
#define SEAM_FLEET_IMPORT_H

#include <seam/reader.h>

#include "samples/recording.h"
#include "store/store.h"

struct import_opts {
	struct seam_reader *reader;
	const char *path;   /* of the reader's file */
	uint64_t window_ns; /* length of a window */
	const struct symbol_opts *symbols;
	bool no_inline;
	const struct labels *labels; /* that all series get beside host and kernel */
	struct progress progress;
	/* Is told what had to be taken to be so. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

struct import_counts {
	uint64_t put, there; /* windows: put now, and those that were in the store before */
};

/* *rec is the recording, for what is damaged in it; recording_close, also on failure. */
int import_recording(struct store *store, const struct import_opts *o, struct recording **rec,
                     struct import_counts *ret, struct seam_error *err);

#endif
