// SPDX-License-Identifier: MIT
/*
 * relay.c: see relay.h. A ring of batches: the giver fills the one at `given`, the thread takes
 * those from `taken` on. Both counts wrap, and never differ by more than RELAY_BATCHES.
 */
#include "base/thread.h"
#include "base/relay.h"

#include <errno.h>
#include <stdlib.h>

#define RELAY_FETCHED 1024u /* bytes */

static unsigned char *relay_batch(const struct relay *r, unsigned batch)
{
	return r->things + (size_t)(batch % RELAY_BATCHES) * RELAY_BATCH * r->size;
}

/* Waits for a batch; false: there are no more. Who waits is woken when several are there: to wake
 * somebody takes longer than to take a batch. */
static bool relay_wait(struct relay *r)
{
	while (r->taken == r->given && !r->ends) {
		r->idle = true;
		pthread_cond_wait(&r->more, &r->lock);
	}
	r->idle = false;
	return r->taken != r->given;
}

/* The thread: takes batch after batch, until there are no more. */
static void *relay_run(void *arg)
{
	struct relay *r = arg;

	pthread_mutex_lock(&r->lock);
	while (relay_wait(r)) {
		pthread_mutex_unlock(&r->lock);
		r->take(r->ctx, relay_batch(r, r->taken), r->n[r->taken % RELAY_BATCHES]);
		pthread_mutex_lock(&r->lock);
		r->taken++;
		if (r->waiting && r->given - r->taken <= r->until) {
			r->waiting = false;
			pthread_cond_signal(&r->less);
		}
	}
	pthread_mutex_unlock(&r->lock);
	return NULL;
}

/* Also what failed leaves nothing behind. */
int relay_start(struct relay *r, size_t size, void (*take)(void *ctx, void *things, size_t n),
                void *ctx)
{
	int rc;

	*r = (struct relay){ .take = take, .ctx = ctx, .size = size };
	r->things = malloc(size * RELAY_BATCH * RELAY_BATCHES);
	if (!r->things)
		return -ENOMEM;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->more, NULL);
	pthread_cond_init(&r->less, NULL);
	r->started = true;
	rc = thread_start(&r->thread, relay_run, r);
	if (rc >= 0)
		return 0;
	pthread_cond_destroy(&r->less);
	pthread_cond_destroy(&r->more);
	pthread_mutex_destroy(&r->lock);
	free(r->things);
	*r = (struct relay){ 0 };
	return rc;
}

/* One that cannot be begun, or has ended, is wanted no more. */
bool relay_takes(struct relay *r, bool lasts, size_t size,
                 void (*take)(void *ctx, void *things, size_t n), void *ctx)
{
	if (r->started && lasts)
		return true;
	relay_end(r);
	r->wanted &= lasts;
	return r->wanted && r->before++ == RELAY_FROM && relay_start(r, size, take, ctx) >= 0;
}

/* Waits until no more than so many batches are left; the caller has the lock. */
static void relay_until(struct relay *r, unsigned left)
{
	while (r->given - r->taken > left) {
		if (r->idle)
			pthread_cond_signal(&r->more);
		r->until = left;
		r->waiting = true;
		pthread_cond_wait(&r->less, &r->lock);
	}
}

/* Hands over what was filled. Where all places are taken, it waits until half of them are free. */
static void relay_give(struct relay *r)
{
	pthread_mutex_lock(&r->lock);
	r->n[r->given % RELAY_BATCHES] = r->filled;
	r->given++;
	if (r->idle && r->given - r->taken >= RELAY_BATCHES / 4)
		pthread_cond_signal(&r->more);
	if (r->given - r->taken == RELAY_BATCHES)
		relay_until(r, RELAY_BATCHES / 2);
	pthread_mutex_unlock(&r->lock);
	r->filled = r->weight = 0;
}

void *relay_next(struct relay *r, size_t weight)
{
	unsigned char *next;

	if (r->filled == RELAY_BATCH || r->weight >= RELAY_WEIGHT)
		relay_give(r);
	r->weight += weight;
	/* Only the giver changes given. The thread has read what is behind: it is fetched back. */
	next = relay_batch(r, r->given) + r->filled++ * r->size;
	__builtin_prefetch(next + RELAY_FETCHED, 1);
	return next;
}

void relay_settle(struct relay *r)
{
	if (!r->started)
		return;
	if (r->filled)
		relay_give(r);
	pthread_mutex_lock(&r->lock);
	relay_until(r, 0);
	pthread_mutex_unlock(&r->lock);
}

void relay_end(struct relay *r)
{
	if (!r->started)
		return;
	relay_settle(r);
	pthread_mutex_lock(&r->lock);
	r->ends = true;
	pthread_cond_signal(&r->more);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	pthread_cond_destroy(&r->less);
	pthread_cond_destroy(&r->more);
	pthread_mutex_destroy(&r->lock);
	free(r->things);
	*r = (struct relay){ 0 };
}
