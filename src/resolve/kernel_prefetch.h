/* SPDX-License-Identifier: MIT */
/*
 * kernel_prefetch.h: the recorded kernel's names, in a thread of their own while samples are still
 * being counted: its list is long, and the kernel writes it anew for each reader.
 */
#ifndef SEAM_RESOLVE_KERNEL_PREFETCH_H
#define SEAM_RESOLVE_KERNEL_PREFETCH_H

#include <pthread.h>
#include <semaphore.h>

#include "resolve/resolver.h"

struct kernel_prefetch {
	struct symbol_object *kernel;
	pthread_t thread;
	sem_t rest;
	bool started;
};

/* Begins, where there is a CPU for it and some event counts in the kernel. threads as in
 * load_opts. */
void kernel_prefetch_start(struct kernel_prefetch *e, struct resolver *resolver, unsigned threads);
/* Lets it write its list to disk, for the next run: when there is a CPU for that, as names and
 * lines are found. */
void kernel_prefetch_rest(struct kernel_prefetch *e);
/* Lets it, and waits for its end: before the names are freed. Zeroed: there is nothing to wait
 * for. */
void kernel_prefetch_end(struct kernel_prefetch *e);

#endif
