/* SPDX-License-Identifier: MIT */
/*
 * repeats.h: the samples of a query as several measurements of the same thing, so that what they
 * differ by among themselves tells how much is noise.
 */
#ifndef SEAM_FLEET_REPEATS_H
#define SEAM_FLEET_REPEATS_H

#include "store/store.h"

/* Fewer hosts are no sample of hosts: then spans of time are what is repeated. */
#define REPEATS_HOSTS 3u
#define REPEATS_SPANS 8u

struct repeats {
	struct profile **at; /* one that has no samples is possible */
	size_t n;
	bool by_host; /* else by time */
};

/*
 * Reads a query as at most `most` profiles that have its samples between them: by host where
 * REPEATS_HOSTS have series in it (several hosts together if there are too many), else by equal
 * spans of time, of at least a window each. n 0: nothing in the store is of the query.
 * Zero-initialise *ret; repeats_free, also on failure.
 */
int repeats_load(struct repeats *ret, struct store *s, const struct store_query *q, size_t most,
                 struct seam_error *err);
void repeats_free(struct repeats *r);

#endif
