/* SPDX-License-Identifier: MIT */
/* load_build.h: the second step of loading: every distinct stack is named once. For load.c only. */
#ifndef SEAM_AGGREGATE_LOAD_BUILD_H
#define SEAM_AGGREGATE_LOAD_BUILD_H

#include "resolve/kernel_prefetch.h"
#include "aggregate/load.h"
#include "aggregate/load_alike.h"
#include "aggregate/load_cgroup.h"
#include "resolve/resolver.h"
#include "samples/stacks.h"

#define LOAD_TABLES_MAX 16u /* as many as there are threads that count */

/* What one thread counted. */
struct load_table {
	struct stacks *stacks; /* its samples are let go once the profile has them */
	const struct load_alike *alike;
};

/* Fills profile, unnamed and taken_unnamed of load from n tables. -ENOMEM; load_free
 * frees what was filled. */
int load_build(struct load *load, struct resolver *resolver, const struct load_opts *opts,
               const struct load_cgroups *cgroups, struct kernel_prefetch *prefetch,
               const struct load_table *tables, size_t n);

#endif
