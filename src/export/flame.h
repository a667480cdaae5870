/* SPDX-License-Identifier: MIT */
/*
 * flame.h: one or two finished profiles as a flame graph: a page that needs nothing but a browser,
 * or a picture.
 *
 * The cells are functions (name, object, kind), not addresses, and stacks of both sides share one
 * tree. A stack that is not whole hangs below a cell that says why, so that it is never taken for a
 * whole one.
 */
#ifndef SEAM_EXPORT_FLAME_H
#define SEAM_EXPORT_FLAME_H

#include "export/export.h"

struct builds;

#define FLAME_SIDES 2u
#define FLAME_SLICES 1024u /* of a recording's time */
/* The kind of the cell that says why. */
#define FLAME_UNFINISHED ((uint32_t)PROFILE_MISSING)
/* Kinds from here on are functions that runtimes run, by their rows in runtime.h. */
#define FLAME_RUNTIME (FLAME_UNFINISHED + 1)

struct flame_side {
	const struct profile *profile; /* with samples, to have its time shown */
	const char *name;
	struct builds *builds; /* which objects are the other side's; NULL: there is no other */
	/* In time since its first sample: what is counted; to_ns 0: all. Numbers of functions,
	 * threads and events are the same whatever is counted. */
	uint64_t from_ns, to_ns;
};

/* How large the data of a served page may become: about so many nodes and rows. */
struct flame_bounds {
	size_t nodes, rows;
};

struct flame_opts {
	size_t sz;
	const char *title;
	/* that is shown first (page) or at all (svg); NULL: the first with samples */
	const char *event;
	bool icicle;  /* roots on top */
	double least; /* svg: share of the whole below which a cell is left out; 0: 0.0005 */
	/* page: source and instructions of functions, as JSON of annotate/annotate_page.c, of each
	 * side; n 0: none */
	const char *source[FLAME_SIDES];
	size_t source_n[FLAME_SIDES];
	const struct flame_bounds *bounds; /* of flame_served_data; NULL: none */
};

/* What a browser gets of a server: the page without data, and the data (flame.c), gzip'd. */
void flame_served_page(struct buf *to);
int flame_served_data(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
                      struct buf *to);

/* sides[0] is what is shown; sides[1], if n is 2, what it is compared with. */
int flame_page(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
               struct export_out *out);
int flame_svg(const struct flame_side *sides, size_t n, const struct flame_opts *opts,
              struct export_out *out);

#endif
