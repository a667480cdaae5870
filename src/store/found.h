/* SPDX-License-Identifier: MIT */
/* found.h: what every kind of store does to an answer. For the files of this room. */
#ifndef SEAM_STORE_FOUND_H
#define SEAM_STORE_FOUND_H

#include "store/store.h"

/* The state of this name, put behind the others if it is not among them. PROFILE_FAILED: there are
 * too many. */
uint32_t found_state(struct profile *p, const char *name);
/* Adds to a count of the answer, by its name. -ENOMEM. */
int found_add_count(struct store_found *f, const char *name, uint64_t value);

#endif
