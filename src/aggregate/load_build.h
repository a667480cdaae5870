/* SPDX-License-Identifier: MIT */
/* load_build.h: the second half of loading: every distinct stack is named once. For load.c only. */
#ifndef SEAM_AGGREGATE_LOAD_BUILD_H
#define SEAM_AGGREGATE_LOAD_BUILD_H

#include "resolve/early.h"
#include "aggregate/load.h"
#include "resolve/places.h"
#include "samples/stacks.h"

#define LOAD_TABLES_MAX 16u /* as many as there are threads that count */

/* Fills load's profile, unnamed and taken_unnamed from n tables of stacks. -ENOMEM; what was filled
 * is load_free's. */
int load_build(struct load *load, struct places *places, const struct load_opts *opts,
               struct early *early, const struct stacks *const *stacks, size_t n);

#endif
