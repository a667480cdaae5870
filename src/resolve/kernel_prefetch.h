/* SPDX-License-Identifier: MIT */
/*
 * kernel_prefetch.h: loads the recorded kernel's names in a thread while samples are still being
 * counted, because its list is long and the kernel writes it anew for each reader.
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

/* Begins, if there is a CPU for it and some event counts in the kernel. threads: as in
 * load_opts. */
void kernel_prefetch_start(struct kernel_prefetch *e, struct resolver *resolver, unsigned threads);
/* Lets the thread write its list to disk for the next run. Call it when there is a CPU for that,
 * while names and lines are looked up. */
void kernel_prefetch_rest(struct kernel_prefetch *e);
/* The same, and waits for the thread's end; call it before the names are freed. Where it was never
 * begun (zeroed) there is nothing to wait for. */
void kernel_prefetch_end(struct kernel_prefetch *e);

#endif
