// SPDX-License-Identifier: MIT
/*
 * threads.c: see threads.h.
 *
 * Formats that show threads in time want their samples apart: by event, pid and tid.
 */
#include "export/threads.h"

#include <errno.h>
#include <stdlib.h>

static int threads_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By event, process, thread, then time: samples of a thread stand together. */
static int threads_order(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ctx;
	uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct profile_key *a = profile_key_of(p, profile_sample_at(p, i));
	const struct profile_key *b = profile_key_of(p, profile_sample_at(p, k));
	const struct profile_task *x = profile_task_at(p, a->task),
	                          *y = profile_task_at(p, b->task);
	int r = threads_compare(a->event, b->event);

	r = r ? r : threads_compare(x->pid, y->pid);
	r = r ? r : threads_compare(x->tid, y->tid);
	return r ? r : threads_compare(i, k); /* samples are in order of time */
}

/* Adds a sample to the thread at hand, or begins another one. */
static void threads_add(struct threads *t, const struct profile *p, size_t at)
{
	const struct profile_key *key = profile_key_of(p, profile_sample_at(p, t->samples[at]));
	const struct profile_task *task = profile_task_at(p, key->task);
	struct threads_thread *last = t->n ? &t->threads[t->n - 1] : NULL;

	if (!last || last->event != key->event || last->pid != task->pid ||
	    last->tid != task->tid) {
		last = &t->threads[t->n++];
		*last = (struct threads_thread){
			.event = key->event, .pid = task->pid, .tid = task->tid, .first = at
		};
	}
	/* A thread may change its name: the last one counts. */
	last->comm = task->comm;
	last->count++;
}

/* Groups the samples of wanted events by event and thread, in order of time within each. -ENOMEM,
 * also for more samples than a u32 can number. */
int threads_build(struct threads *ret, const struct profile *p, const struct export_opts *opts)
{
	size_t n = profile_n_samples(p), wanted = 0;
	struct threads t = { 0 };

	t.samples = calloc(n + 1, sizeof(*t.samples));
	t.threads = calloc(n + 1, sizeof(*t.threads));
	if (!t.samples || !t.threads || n > UINT32_MAX) {
		threads_free(&t);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		if (export_wants(opts, profile_key_of(p, profile_sample_at(p, i))->event))
			t.samples[wanted++] = (uint32_t)i;
	qsort_r(t.samples, wanted, sizeof(*t.samples), threads_order, (void *)(uintptr_t)p);
	for (size_t i = 0; i < wanted; i++)
		threads_add(&t, p, i);
	t.n_samples = wanted;
	t.several = t.n && t.threads[0].event != t.threads[t.n - 1].event;
	*ret = t;
	return 0;
}

void threads_free(struct threads *t)
{
	free(t->threads);
	free(t->samples);
	*t = (struct threads){ 0 };
}

/* "comm pid/tid", and the event where there are several. */
void threads_name(const struct profile *p, const struct threads *t,
                  const struct threads_thread *thread, struct buf *to)
{
	buf_printf(to, "%s %d/%d", profile_text(p, thread->comm), (int)thread->pid,
	           (int)thread->tid);
	if (t->several)
		buf_printf(to, " (%s)", profile_event_name(p, thread->event));
}
