/* SPDX-License-Identifier: MIT */
/* functions.h: the functions of a store's roll-up by hour, as text. */
#ifndef SEAM_FLEET_FUNCTIONS_H
#define SEAM_FLEET_FUNCTIONS_H

#include "base/buf.h"
#include "store/store.h"

/* For each event a table: self and total in percent of all of it, function, object. */
void functions_text(const struct store_functions *f, struct buf *out);
void functions_csv(const struct store_functions *f, struct buf *out);
/* Keys are documented in cli/store.c and stable. */
void functions_json(const struct store_functions *f, struct buf *out);

#endif
