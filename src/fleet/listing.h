/* SPDX-License-Identifier: MIT */
/* listing.h: what a store has, as text. */
#ifndef SEAM_FLEET_LISTING_H
#define SEAM_FLEET_LISTING_H

#include "base/buf.h"
#include "store/store.h"

/* A line for each series, then what they are together. */
void listing_text(const struct store_listing *l, struct buf *out);
/* The same as one JSON object; its keys are documented in cli/store.c and stable. */
void listing_json(const struct store_listing *l, struct buf *out);

#endif
