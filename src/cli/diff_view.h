/* SPDX-License-Identifier: MIT */
// diff_view.h: a comparison on a terminal, to be walked through by keys (view/).
#ifndef SEAM_CLI_DIFF_VIEW_H
#define SEAM_CLI_DIFF_VIEW_H

#include "input/naming.h"
#include "input/sample_filter.h"
#include "report/diff.h"

/* Whether the view can show it: there is a terminal, and rows have names. */
bool diff_view_can(const struct diff *d);
/* What reads both sides, and compares them. What load tells of the sides, it tells before it goes
 * on. */
struct diff_view_load {
	/* In a thread: an exit code, after saying on stderr what failed. */
	int (*load)(void *ctx);
	void *ctx;
	struct progress progress; /* what it tells, and asks whether anybody waits */
	size_t run, runs; /* which of how many recordings it reads, says load; 0: not told */
	const char *path; /* of that one */
	/* Shows what is read of the baseline, before the new side is there; takes the profile over.
	 * percent: of the recording, when it is the first part of one. NULL: there is no screen. */
	void (*base)(void *ctx, struct profile *p, double percent);
	void *base_ctx;
	int code;        /* what load returned */
	bool damaged[2]; /* sides, says load */
	bool stopped;    /* nobody waited for it */
};

/* Shows it until the user leaves, while it is read; d keeps its sides. naming: of recordings, for
 * source and instructions; NULL: of a store, which has none. 0; -ENOMEM; -ENOTTY: text is
 * needed. */
int diff_view(const struct diff *d, struct naming *naming, const struct sample_filter *filter,
              struct diff_view_load *load);

#endif
