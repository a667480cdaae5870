/* SPDX-License-Identifier: MIT */
/* points.h: the share of a function, with what it called, over time. */
#ifndef SEAM_FLEET_POINTS_H
#define SEAM_FLEET_POINTS_H

#include "base/buf.h"
#include "store/store.h"

#define POINTS_MAX 10000u

struct points {
	const char *function; /* the caller's */
	struct point {
		uint64_t from_ns;
		uint64_t all, total, self; /* weights of the first event */
	} * at;
	size_t n;
};

/* How many points a query has whose span is cut into parts of step_ns (0: a 60th of the span). */
uint64_t points_count(const struct store_query *q, uint64_t step_ns);
/* They are at most POINTS_MAX. points_free, also on failure. */
int points_load(struct points *ret, struct store *store, const struct store_query *q,
                const char *function, uint64_t step_ns, struct seam_error *err);
/* A line for each point, with a bar; the longest one is the largest share. */
void points_text(const struct points *p, struct buf *out);
void points_csv(const struct points *p, struct buf *out);
/* One JSON object; its keys are documented in cli/store.c and stable. */
void points_json(const struct points *p, struct buf *out);
void points_free(struct points *p);

#endif
