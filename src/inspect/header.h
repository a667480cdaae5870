/* SPDX-License-Identifier: MIT */
/*
 * header.h: what a recording says about itself as text, in the form of perf report --header-only.
 */
#ifndef SEAM_INSPECT_HEADER_H
#define SEAM_INSPECT_HEADER_H

#include <seam/reader.h>

#include "base/buf.h"

struct header_opts {
	struct seam_reader *reader;
	const char *path; /* of the reader's file; "-": standard input */
	bool full;        /* topologies, caches and memory too */
	/* Is told what cannot be read. */
	void (*say)(void *ctx, const char *text);
	void *ctx;
};

/*
 * Appends what the header says. A stream has its features among its records or behind them: what is
 * left of one is read for that, and the records are gone. 0; 1: a feature's content cannot be read,
 * which was said; -ENOMEM.
 */
int header_text(const struct header_opts *o, struct buf *out);

#endif
