/* SPDX-License-Identifier: MIT */
/*
 * watched.h: work that one thread does while another one watches: how far it is, and whether
 * anybody still wants it. Zero-initialise to start.
 *
 * Invariant: both sides only set and read single values, so that neither waits for the other.
 */
#ifndef SEAM_BASE_WATCHED_H
#define SEAM_BASE_WATCHED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* done: percent of the step that the work is in. */
struct watched {
	atomic_bool stopped;
	atomic_uint done;
};

/* How often work looks up: at numbers that this does not divide it does nothing. */
#define WATCHED_EVERY 4096

static inline bool watched_stopped(struct watched *w)
{
	return w && atomic_load_explicit(&w->stopped, memory_order_relaxed);
}

/* To be called with each i of n. Whether the work is still wanted. w: NULL: nobody watches. */
static inline bool watched_goes_on(struct watched *w, size_t i, size_t n)
{
	if (!w || i % WATCHED_EVERY)
		return true;
	atomic_store_explicit(&w->done, n ? (unsigned)(100.0 * (double)i / (double)n) : 0,
	                      memory_order_relaxed);
	return !watched_stopped(w);
}

#endif
