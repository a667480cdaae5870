/* SPDX-License-Identifier: MIT */
/*
 * quality.h: what a loaded recording says beside its profile (losses, how stacks ended, why objects
 * have no names) as counts with names, as a store keeps them for each window, and back.
 *
 * Names are stable, as those of report's JSON: "lost", "end.complete", "walk.end.truncated",
 * "unnamed\x1fSTATE\x1fOBJECT\x1fREASON".
 */
#ifndef SEAM_FLEET_QUALITY_H
#define SEAM_FLEET_QUALITY_H

#include "aggregate/load.h"
#include "store/store.h"

/* Zero-initialise; quality_free. */
struct quality {
	struct buf names;  /* NUL behind each */
	struct buf at;     /* size_t: where each begins */
	struct buf counts; /* struct store_count, filled by quality_end */
	struct buf values;
};

/* -ENOMEM sticks, and quality_end returns it. */
void quality_add(struct quality *q, const char *name, uint64_t value);
void quality_add_load(struct quality *q, const struct load *load);
/* The counts of all that was added; they live until quality_free. */
int quality_end(struct quality *q, const struct store_count **ret, size_t *n);
void quality_free(struct quality *q);

/* The rates of the windows of an answer, what their agents took of a CPU, and what was lost before
 * a store had it, as lines below a report; nothing for windows that no agent made. */
void quality_text(const struct store_found *found, struct buf *out);

/* Sets the counts of load, whose profile is there already. -ENOMEM. */
int quality_restore(struct load *load, const struct store_found *found);
/* Calls each with every object that had no names: its state, path and reason. -ENOMEM. */
int quality_unnamed(const struct store_found *found,
                    void (*each)(void *ctx, enum symbol_state state, const char *object,
                                 const char *reason),
                    void *ctx);

#endif
