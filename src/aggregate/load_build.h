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

struct load_builder;
struct load_cut;
struct load_whose;

/* Makes an empty profile, load's. stacks: how many there will be, about. -ENOMEM; *ret is to be
 * freed anyhow, if it is set. */
int load_build_start(struct load_builder **ret, struct load *load, struct resolver *resolver,
                     const struct load_opts *opts, const struct load_cgroups *cgroups,
                     uint64_t stacks);
/* Puts a user part of the first table into the tree before the others are known, where that can be
 * said (load_cut_waits). -ENOMEM. */
int load_build_user(struct load_builder *b, const struct load_whose *e,
                    const struct callchain *sample);
const struct load_cut *load_build_cut(const struct load_builder *b);
/* So it was done with all of them. */
void load_build_users_known(struct load_builder *b);
/* Fills profile, unnamed and taken_unnamed of load from n tables. -ENOMEM; load_free
 * frees what was filled. */
int load_build(struct load_builder *b, struct kernel_prefetch *prefetch,
               const struct load_table *tables, size_t n);
void load_build_free(struct load_builder *b); /* NULL is fine */

#endif
