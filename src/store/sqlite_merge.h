/* SPDX-License-Identifier: MIT */
/*
 * sqlite_merge.h: several epochs of one instance and the same names become one, with sorted nodes
 * and longer windows. For sqlite_compact.c.
 */
#ifndef SEAM_STORE_SQLITE_MERGE_H
#define SEAM_STORE_SQLITE_MERGE_H

#include "store/sqlite.h"

struct sqlite_merge_source {
	int64_t id;
	bool sorted;
};

struct sqlite_merge_opts {
	const struct sqlite_merge_source *sources;
	size_t n;
	int64_t names;
	const char *instance;
	uint64_t step_ns;    /* windows that begin in the same step become one */
	uint64_t hour_bytes; /* where an hour would take more, stacks are folded; 0: never */
};

/* In a transaction of the caller's. Adds to *ret. -errno. */
int sqlite_merge(const struct sqlite_store *s, const struct sqlite_merge_opts *o,
                 struct store_compacted *ret, struct seam_error *err);
/* Makes larger blocks of the strings, objects and frames. Likewise. */
int sqlite_join_names(const struct sqlite_store *s, int64_t names, struct seam_error *err);

#endif
