/* SPDX-License-Identifier: MIT */
/*
 * relay.h: hands things of one size to a thread, in their order, some hundreds at a time. The one
 * that gives goes on meanwhile, and waits where it is far ahead.
 *
 * What `take` touches is the thread's until relay_settle or relay_end has returned, but for what
 * both may read. Zero-initialise; one thread gives.
 */
#ifndef SEAM_BASE_RELAY_H
#define SEAM_BASE_RELAY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RELAY_BATCH 256u /* things that are handed over together */
#define RELAY_WEIGHT \
	(32u << 10)       /* bytes, of what they stand for, from which on they are handed over */
#define RELAY_BATCHES 64u /* that may wait */
#define RELAY_FROM 8192u  /* things: fewer are not worth a thread (relay_takes) */

struct relay {
	bool started;
	bool wanted;     /* relay_takes may begin a thread; for the owner to set */
	uint32_t before; /* things that came before one was worth it */
	pthread_t thread;
	void (*take)(void *ctx, void *things, size_t n);
	void *ctx;
	size_t size;
	unsigned char *things;
	size_t n[RELAY_BATCHES]; /* of each batch that waits */
	size_t filled, weight;   /* of the batch that is being filled; the giver's alone */
	/* Batches, counted. The lock is for what follows, and n. */
	pthread_mutex_t lock;
	pthread_cond_t more, less;
	unsigned given, taken;
	bool idle;    /* the thread waits for a batch */
	bool waiting; /* the giver waits, until this many are left */
	unsigned until;
	bool ends;
};

/* take is called in a thread, with the things of a batch, which it may change. Negative: there is
 * no thread, and nothing may be given. */
int relay_start(struct relay *r, size_t size, void (*take)(void *ctx, void *things, size_t n),
                void *ctx);
/* Whether the next thing is to be given: in a relay that is wanted a thread begins when there were
 * many. It ends, for good, at the first thing whose bytes do not last. */
bool relay_takes(struct relay *r, bool lasts, size_t size,
                 void (*take)(void *ctx, void *things, size_t n), void *ctx);
/* The place of the next thing, for the caller to fill before the next call. weight: of bytes that
 * it stands for, so that the giver is not far ahead of the thread in a file; 0: of none. */
void *relay_next(struct relay *r, size_t weight);
/* All that was given has been taken. */
void relay_settle(struct relay *r);
/* The same, then the thread ends. One that was never started is fine. */
void relay_end(struct relay *r);

#endif
