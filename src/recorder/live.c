// SPDX-License-Identifier: MIT
/*
 * live.c: see live.h. The queue, the worker's thread, and what of it the recorder's thread may
 * touch.
 *
 *	recorder's thread: live_write fills a batch, live_round puts it into the queue
 *	worker's thread:   takes batches in order, puts their records into order of time
 *	                   (live_batch.c), walks the samples (live_walk.c), gives final records
 *	recorder's thread: live_collect takes these and writes them to the sink
 *
 * So the rings are read while stacks are walked, and a walk that takes long loses no records, as
 * long as the queue has room. Beyond its bound samples are kept without their stack copies, which
 * are most of their bytes, and say so (WALK_RESULT_LATE); far beyond it the recorder waits.
 *
 * Invariant: all that both threads touch is behind one lock, which is never held while something is
 * walked, decoded in bulk or written. Records leave in order of time, each once.
 */
#include "recorder/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "base/thread.h"
#include "recorder/live_walk.h"
#include "samples/walk_result.h"

/* Above this many times the bound (stripped samples and side-band only), the recorder waits: then
 * the kernel drops records, and counts them. */
#define HARD_FACTOR 4u

/* The parts are named by who may touch them. */
struct live {
	struct live_opts opts;
	struct seam_events *out;
	struct live_walk walk;
	struct live_order order;
	pthread_t thread;
	bool started;
	/* the recorder's */
	struct live_batch *filling;
	struct buf ready_swap, chain;
	uint64_t not_unwound, kernel_only;
	/* behind the lock */
	pthread_mutex_t lock;
	pthread_cond_t more, idle;
	struct live_batch *queue, **queue_end;
	struct buf ready;
	size_t waiting, peak; /* bytes that were written and not processed */
	bool working, stop, prepare_over;
	int failed;
	uint64_t unsound;
};

/* -- the worker -- */

/* One batch: what is now sure to be in order is walked and put into out, as a round of its own. */
static int live_process(struct live *l, struct live_batch *batch, struct buf *out)
{
	static const struct {
		uint32_t type;
		uint16_t misc, size;
	} round = { SEAM_RECORD_FINISHED_ROUND, 0, 8 };
	uint64_t unsound = 0;
	int r = live_order_take(&l->order, batch, l->opts.events, l->out, &unsound);

	/* live_count reads it from the recorder's thread. */
	pthread_mutex_lock(&l->lock);
	l->unsound += unsound;
	pthread_mutex_unlock(&l->lock);
	if (r >= 0)
		r = live_walk_round(&l->walk, l->order.ready, l->order.n, out);
	if (r >= 0 && out->n)
		r = buf_put(out, &round, sizeof(round));
	return r;
}

/* Tables are made ahead only until sampling begins, because then the worker is needed for samples.
 */
static bool live_asked_to_stop(struct live *l)
{
	bool stop;

	pthread_mutex_lock(&l->lock);
	stop = l->stop || l->prepare_over;
	pthread_mutex_unlock(&l->lock);
	return stop;
}

/* The worker's thread: takes batches from the queue, walks their samples, and puts the final
 * records into l->ready. The first failure is kept in l->failed. */
static void *live_run(void *arg)
{
	struct live *l = arg;
	struct buf out = { 0 };

	pthread_mutex_lock(&l->lock);
	for (;;) {
		struct live_batch *batch;
		size_t released;
		bool prepare;
		int r;

		/* Woken by a batch, or by live_free. */
		while (!l->queue && !l->stop)
			pthread_cond_wait(&l->more, &l->lock);
		if (l->stop)
			break;
		batch = l->queue;
		l->queue = batch->next;
		if (!l->queue)
			l->queue_end = &l->queue;
		batch->next = NULL;
		prepare = batch->prepare;
		l->working = true;
		/* Without the lock: this is where the time goes. */
		pthread_mutex_unlock(&l->lock);
		r = live_process(l, batch, &out);
		/* Bytes count as waiting until nothing refers to their batch any more: the horizon
		 * may hold it back for a round. */
		released = live_order_release(&l->order);
		pthread_mutex_lock(&l->lock);
		l->waiting -= released;
		if (r >= 0 && out.n)
			r = buf_put(&l->ready, out.bytes, out.n);
		buf_clear(&out);
		if (r < 0 && !l->failed)
			l->failed = r;
		pthread_mutex_unlock(&l->lock);
		/* The lock is free between two objects, so that the recorder can say stop. */
		while (prepare && !live_asked_to_stop(l) && live_walk_prepare(&l->walk))
			;
		pthread_mutex_lock(&l->lock);
		l->working = false;
		pthread_cond_broadcast(&l->idle);
	}
	pthread_mutex_unlock(&l->lock);
	buf_free(&out);
	return NULL;
}

/* -- life -- */

/* The events of what comes out: a callchain stands in the place of registers and stack copy. */
static int live_make_events(struct live *l)
{
	size_t n = seam_events_count(l->opts.events);
	int r = seam_events_new(&l->out);

	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct seam_event *e = seam_events_at(l->opts.events, i);
		struct seam_attr attr = walked_sample_attr(&e->attr);

		r = seam_events_add(l->out, &attr, e->name, e->ids, e->n_ids, NULL);
	}
	return r < 0 ? r : 0;
}

/* Starts the worker's thread. opts->events must outlive it. */
int live_new(struct live **ret, const struct live_opts *opts)
{
	struct live *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	memcpy(&l->opts, opts, opts->sz < sizeof(*opts) ? opts->sz : sizeof(*opts));
	if (!l->opts.queue_bytes)
		l->opts.queue_bytes = LIVE_QUEUE_BYTES;
	l->queue_end = &l->queue;
	r = live_make_events(l);
	if (r < 0) {
		seam_events_free(l->out);
		free(l);
		return r;
	}
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->more, NULL);
	pthread_cond_init(&l->idle, NULL);
	/* From here on live_free takes everything apart, whatever was made. */
	r = live_walk_init(&l->walk, &l->opts, l->out);
	if (r >= 0)
		r = thread_start(&l->thread, live_run, l);
	l->started = r >= 0;
	if (r < 0) {
		live_free(l);
		return r;
	}
	*ret = l;
	return 0;
}

/* Ends the worker; what it has not processed is lost (live_finish waits for it). NULL is fine. */
void live_free(struct live *l)
{
	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	l->stop = true;
	pthread_cond_broadcast(&l->more);
	pthread_mutex_unlock(&l->lock);
	if (l->started)
		pthread_join(l->thread, NULL);
	live_walk_destroy(&l->walk);
	live_order_free(&l->order);
	while (l->queue) {
		struct live_batch *next = l->queue->next;

		live_batch_free(l->queue);
		l->queue = next;
	}
	live_batch_free(l->filling);
	buf_free(&l->ready);
	buf_free(&l->ready_swap);
	buf_free(&l->chain);
	seam_events_free(l->out);
	pthread_cond_destroy(&l->more);
	pthread_cond_destroy(&l->idle);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

const struct seam_events *live_events(const struct live *l)
{
	return l->out;
}

/* -- the recorder's side -- */

/* The batch that the recorder fills, made when it is needed. Only its thread touches it. */
static struct live_batch *live_filling(struct live *l)
{
	if (!l->filling)
		l->filling = calloc(1, sizeof(*l->filling));
	return l->filling;
}

/* Keeps a sample without its stack copy, because there is no room: its kernel part and its user
 * ip. */
static int live_strip(struct live *l, struct live_batch *b, const struct seam_record *record)
{
	struct seam_decoded d;
	struct walk_result result = { .kind = WALK_RESULT_LATE };
	const struct seam_attr *attr;
	uint64_t ip;
	int r = record_decode(l->opts.events, record, &d, NULL);

	/* Records of other events, and what cannot be decoded, are kept as they are. */
	if (r < 0 || !(d.event->attr.sample_type & SEAM_SAMPLE_STACK_USER))
		return buf_put(&b->bytes, record->bytes, record->size);
	attr = &seam_events_at(l->out, d.event->index)->attr;
	ip = walked_sample_user_ip(l->opts.machine, &d.sample);
	/* The offset tells the worker that this sample has its final form, which is that of the
	 * events out. */
	buf_put_u64(&b->stripped, b->bytes.n);
	if (ip) {
		l->not_unwound++;
	} else {
		l->kernel_only++;
		result.kind = WALK_RESULT_NO_STACK;
	}
	r = walked_sample_put(&b->bytes, &l->chain, attr,
	                      walk_result_put(attr, record->misc, &result), &d.sample, &ip,
	                      ip != 0);
	return r < 0 ? r : b->stripped.failed ? -ENOMEM : 0;
}

/* Strips the samples of a span of records; all other records are kept as they are. */
static int live_write_stripped(struct live *l, struct live_batch *b, const unsigned char *p,
                               size_t n)
{
	struct seam_record record;
	int r = 0;

	for (; r >= 0 && record_at(p, n, &record); p += record.size, n -= record.size)
		r = record.type == SEAM_RECORD_SAMPLE ? live_strip(l, b, &record)
		                                      : buf_put(&b->bytes, p, record.size);
	return r;
}

/* Does not wait while the queue is within its bound. Beyond it samples lose their stack copies.
 * Only far beyond it does it wait for the worker, and then the kernel drops records and counts
 * them. */
int live_write(void *ctx, const void *bytes, size_t n)
{
	struct live *l = ctx;
	struct live_batch *b = live_filling(l);
	size_t waiting, before;
	int r;

	if (!b)
		return -ENOMEM;
	pthread_mutex_lock(&l->lock);
	/* The bound, with its factor, is passed: the worker must get on first. If it failed it will
	 * not. */
	while (l->waiting / HARD_FACTOR > l->opts.queue_bytes && !l->failed &&
	       (l->queue || l->working))
		pthread_cond_wait(&l->idle, &l->lock);
	waiting = l->waiting;
	r = l->failed;
	pthread_mutex_unlock(&l->lock);
	if (r < 0)
		return r;
	before = b->bytes.n;
	/* The first test keeps the subtraction above 0. */
	if (n <= l->opts.queue_bytes && waiting <= l->opts.queue_bytes - n)
		r = buf_put(&b->bytes, bytes, n);
	else
		r = live_write_stripped(l, b, bytes, n);
	pthread_mutex_lock(&l->lock);
	l->waiting += b->bytes.n - before;
	if (l->waiting > l->peak)
		l->peak = l->waiting;
	pthread_mutex_unlock(&l->lock);
	return r;
}

/* Gives the batch to the worker. An empty one is right, too: it lets the worker release what it
 * held. */
static int live_push(struct live *l)
{
	struct live_batch *b = live_filling(l);
	int r;

	if (!b)
		return -ENOMEM;
	l->filling = NULL;
	pthread_mutex_lock(&l->lock);
	*l->queue_end = b;
	l->queue_end = &b->next;
	pthread_cond_signal(&l->more);
	r = l->failed;
	pthread_mutex_unlock(&l->lock);
	return r;
}

/* A round of the session has ended: records up to the round before are complete now. */
int live_round(struct live *l)
{
	return live_push(l);
}

/* The caller holds the lock. Waits until the worker has nothing to do, or until a time (NULL:
 * without limit). True: nothing is left to do. */
static bool live_wait_idle(struct live *l, const struct timespec *until)
{
	int r = 0;

	while ((l->queue || l->working) && !l->failed && !r)
		r = until ? pthread_cond_timedwait(&l->idle, &l->lock, until)
		          : pthread_cond_wait(&l->idle, &l->lock);
	return !l->queue && !l->working;
}

/* pthread_cond_timedwait counts by CLOCK_REALTIME unless told otherwise. */
static struct timespec live_until(unsigned timeout_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return until;
}

/* An empty batch that asks for tables: the worker comes to it when all records before it, those of
 * /proc, are learned. Whether it was done in time is the result. -errno: the worker failed. */
int live_prepare(struct live *l, unsigned timeout_ms)
{
	struct timespec until;
	bool done;
	int r;

	if (!live_filling(l))
		return -ENOMEM;
	l->filling->prepare = true;
	until = live_until(timeout_ms);
	r = live_push(l);
	pthread_mutex_lock(&l->lock);
	done = live_wait_idle(l, &until);
	l->prepare_over = true;
	if (!r)
		r = l->failed;
	pthread_mutex_unlock(&l->lock);
	return r < 0 ? r : done;
}

/* Two buffers take turns, so that the worker goes on while one is written. */
int live_collect(struct live *l, int (*write)(void *ctx, const void *bytes, size_t n), void *ctx)
{
	struct buf ready;
	int r, failed;

	/* The lock is held for an exchange of two structs. */
	pthread_mutex_lock(&l->lock);
	ready = l->ready;
	l->ready = l->ready_swap;
	failed = l->failed;
	pthread_mutex_unlock(&l->lock);
	r = ready.n ? write(ctx, ready.bytes, ready.n) : 0;
	buf_clear(&ready);
	l->ready_swap = ready;
	return r < 0 ? r : failed;
}

/* Any thread may call it. */
void live_end_by(struct live *l, uint64_t end_ns)
{
	live_walk_end_by(&l->walk, end_ns);
}

/* timeout_ms LIVE_NO_LIMIT: as long as it takes. */
int live_finish(struct live *l, unsigned timeout_ms)
{
	struct timespec until = live_until(timeout_ms);
	int r;

	if (!live_filling(l))
		return -ENOMEM;
	/* Nothing comes after it: all records are complete. */
	l->filling->last = true;
	if (!timeout_ms)
		live_walk_hurry(&l->walk);
	r = live_push(l);
	pthread_mutex_lock(&l->lock);
	/* The time is over: what waits is written without being walked, which is quick. */
	if (!live_wait_idle(l, timeout_ms == LIVE_NO_LIMIT ? NULL : &until)) {
		live_walk_hurry(&l->walk);
		live_wait_idle(l, NULL);
	}
	if (!r)
		r = l->failed;
	pthread_mutex_unlock(&l->lock);
	return r < 0 ? r : live_renew_keep_missing(&l->walk);
}

void live_count(struct live *l, struct live_counts *ret)
{
	*ret = (struct live_counts){ .samples = l->not_unwound + l->kernel_only,
		                     .not_unwound = l->not_unwound,
		                     .kernel_only = l->kernel_only };
	pthread_mutex_lock(&l->lock);
	ret->unsound = l->unsound;
	ret->peak_bytes = l->peak;
	pthread_mutex_unlock(&l->lock);
	live_walk_count(&l->walk, ret);
}

/* The entries live until live_free. To be asked for after live_finish. */
const struct unwound_missing *live_missing(const struct live *l, size_t *n)
{
	const struct buf *entries = &l->walk.missing.entries;

	*n = entries->n / sizeof(struct unwound_missing);
	return (const struct unwound_missing *)(const void *)entries->bytes;
}
