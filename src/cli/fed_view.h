/* SPDX-License-Identifier: MIT */
/*
 * fed_view.h: a view on a terminal whose samples are read by a thread while somebody looks, for
 * report and diff.
 */
#ifndef SEAM_CLI_FED_VIEW_H
#define SEAM_CLI_FED_VIEW_H

#include "input/profiled.h"
#include "view/feed.h"

/* What the thread tells of its progress, and asks whether anybody waits. Lives as long as f. */
struct progress fed_view_progress(struct feed *f);
/*
 * The thread does the work (feed_start), this one has the screen, until the user leaves: the work
 * then ends soon, or the program does. opts gets the feed. What view_terminal returned, which is
 * not called where the work has ended before with anything but FEED_STAYS: 0 then. -ENOTTY: text is
 * needed, and the work is done. -errno.
 */
int fed_view(struct view_opts *opts, bool color, int (*work)(void *ctx, struct feed *f), void *ctx);

/* The first part of a large recording, which is shown before the rest is read. */
struct fed_first {
	struct recording *rec;
	struct load load; /* the caller's to free */
	double percent;   /* of the file */
};
/* Reads it. False: the file is not large, or that cannot be done, which is left to the reading of
 * the whole. To be ended in either case, before the whole is read. */
bool fed_view_first(const struct infile *in, const struct naming *naming,
                    const struct profiled_opts *all, struct fed_first *ret);
void fed_view_first_end(const struct infile *in, struct fed_first *f);

#endif
