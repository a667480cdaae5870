/* SPDX-License-Identifier: MIT */
/* listing.h: what a store has, as text. */
#ifndef SEAM_FLEET_LISTING_H
#define SEAM_FLEET_LISTING_H

#include "base/buf.h"
#include "store/store.h"

/* Makes one of all series that have the same values of these labels (by commas), the one with the
 * most samples first. What they have as their windows is then how many series they are of. -ENOMEM.
 */
int listing_join(struct store_listing *l, const char *by);
/* A line for each series, then what they are together. by: as for listing_join, after it; NULL. */
void listing_text(const struct store_listing *l, const char *by, struct buf *out);
/* The same as one JSON object; its keys are documented in cli/store.c and stable. */
void listing_json(const struct store_listing *l, const char *by, struct buf *out);

#endif
