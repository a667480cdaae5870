/* SPDX-License-Identifier: MIT */
/*
 * object_prefetch.h: loads the names of files in a thread as soon as a sample has an address in
 * them, while others are still being counted. The tables of a compiler's or a browser's libraries
 * take as long as a small recording.
 */
#ifndef SEAM_RESOLVE_OBJECT_PREFETCH_H
#define SEAM_RESOLVE_OBJECT_PREFETCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/map.h"
#include "resolve/resolver.h"

struct object_prefetch {
	const struct resolver *resolver; /* NULL: nothing is loaded early */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t more;
	const struct proc_object **met; /* in the order in which they were met */
	size_t n, capacity, taken;
	struct map seen; /* their ids */
	bool started, ends;
};

/* Makes ready to load, if there is a CPU for it. threads: as in load_opts. */
void object_prefetch_start(struct object_prefetch *e, const struct resolver *resolver,
                           unsigned threads);
/* An object was met whose names will be wanted; any thread. Where that cannot be noted the first
 * lookup loads it. */
void object_prefetch_met(void *prefetch, const struct proc_object *object);
/* Waits for the object that is being loaded, and loads no more; call it before the names are freed.
 * Where it was never begun (zeroed) there is nothing to wait for. */
void object_prefetch_end(struct object_prefetch *e);

#endif
