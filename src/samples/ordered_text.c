// SPDX-License-Identifier: MIT
// ordered_text.c: items into bytes in several threads, written in order. See ordered.h.
//
// Records are dealt out in jobs, which go round in a ring: the calling thread fills one, any thread
// works it, the calling thread writes it when all before it are written. When there is nothing to
// write yet it works itself. Invariant: written <= taken <= filled <= written + n_jobs; a job in
// [written, taken) is its worker's until it is done, every other one is the calling thread's. So
// memory is bounded by the ring, whatever is slow.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/cpus.h"
#include "samples/ordered_parts.h"

#define JOB_RECORDS 256u
#define JOBS_PER_THREAD 3u
#define JOBS_MAX (ORDERED_THREADS_MAX * JOBS_PER_THREAD)
#define ALONE_BELOW 4096u /* records: less work than this is not worth starting a thread */

struct text_job {
	union {
		struct seam_record record[JOB_RECORDS];
		const struct sample_entry *entry[JOB_RECORDS]; /* if what comes are entries */
	};
	size_t n;
	struct buf out;
	int result;
	bool done; /* under the lock */
};

struct text_worker {
	struct ordered_text *text;
	struct batch batch;
	struct ordered_noted noted; /* in place of batch */
	void *thread;               /* the writer's */
	struct buf *out;
	pthread_t id;
	bool started;
};

struct ordered_text {
	struct ordered ordered;
	const struct ordered_writer *writer;
	unsigned n_workers, n_jobs;
	pthread_mutex_t lock; /* of all below, and of what jobs say is done */
	pthread_cond_t to_do, done;
	uint64_t filled, taken, written; /* jobs, counted from the start */
	bool stop;
	struct text_job *jobs[JOBS_MAX];
	struct text_worker workers[ORDERED_THREADS_MAX]; /* the first is the calling thread's */
};

static int text_put(void *ctx, const struct batch_item *item)
{
	struct text_worker *w = ctx;

	return w->text->writer->put(w->thread, item, w->out);
}

/* ---- any thread ---- */

static int text_work_notes(struct text_worker *w, const struct text_job *job)
{
	const struct batch_item *item;
	int r = 0;

	for (size_t i = 0; i < job->n && !r; i++) {
		item = ordered_noted_item(&w->noted, job->entry[i]);
		r = item ? text_put(w, item) : 0;
	}
	return r;
}

static void text_work(struct text_worker *w, struct text_job *job)
{
	int r = 0;

	w->out = &job->out;
	if (w->text->ordered.noted) {
		job->result = text_work_notes(w, job);
		return;
	}
	for (size_t i = 0; i < job->n && !r; i++) {
		r = batch_add(&w->batch, &job->record[i]);
		if (!r && !job->record[i].stable)
			r = batch_run(&w->batch);
	}
	job->result = r ? r : batch_run(&w->batch);
}

/* Takes a job and works it. Locked when called and when it returns. */
static void text_take(struct text_worker *w)
{
	struct ordered_text *t = w->text;
	struct text_job *job = t->jobs[t->taken++ % t->n_jobs];

	pthread_mutex_unlock(&t->lock);
	text_work(w, job);
	pthread_mutex_lock(&t->lock);
	job->done = true;
	pthread_cond_signal(&t->done);
}

static void *text_thread(void *arg)
{
	struct text_worker *w = arg;
	struct ordered_text *t = w->text;

	pthread_mutex_lock(&t->lock);
	for (;;) {
		if (t->stop)
			break;
		if (t->taken < t->filled)
			text_take(w);
		else
			pthread_cond_wait(&t->to_do, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	return NULL;
}

/* ---- the calling thread ---- */

static int text_fill_records(struct ordered_text *t, struct text_job *job)
{
	/* Bytes that do not stay do so for one record only. */
	size_t most = t->ordered.rec->stable ? JOB_RECORDS : 1;
	int r = 0;

	while (job->n < most && (r = ordered_next(&t->ordered, &job->record[job->n])) > 0)
		job->n++;
	return r;
}

static int text_fill_notes(struct ordered_text *t, struct text_job *job)
{
	int r = 0;

	while (job->n < JOB_RECORDS &&
	       (r = ordered_next_note(&t->ordered, &job->entry[job->n])) > 0)
		job->n++;
	return r;
}

/* Fills the next job, which is free. 1; 0: there are no more records. */
static int text_fill(struct ordered_text *t)
{
	struct text_job *job = t->jobs[t->filled % t->n_jobs];
	int r;

	job->n = 0;
	job->done = false;
	buf_clear(&job->out);
	r = t->ordered.noted ? text_fill_notes(t, job) : text_fill_records(t, job);
	if (r < 0 || !job->n)
		return r;
	pthread_mutex_lock(&t->lock);
	t->filled++;
	pthread_cond_signal(&t->to_do);
	pthread_mutex_unlock(&t->lock);
	return 1;
}

/* Writes the oldest job that is not written, once it is done; until then helps. */
static int text_write(struct ordered_text *t)
{
	struct text_job *job = t->jobs[t->written % t->n_jobs];
	int r;

	pthread_mutex_lock(&t->lock);
	while (!job->done) {
		if (t->taken < t->filled)
			text_take(&t->workers[0]);
		else
			pthread_cond_wait(&t->done, &t->lock);
	}
	pthread_mutex_unlock(&t->lock);
	r = job->result;
	if (!r && job->out.failed)
		r = -ENOMEM;
	if (!r && job->out.n)
		r = t->writer->write(t->writer->ctx, &job->out);
	t->written++;
	return r;
}

static int text_run(struct ordered_text *t)
{
	int more = 1, r = 0;

	while (!r && (more || t->written < t->filled)) {
		while (more > 0 && t->filled < t->written + t->n_jobs)
			more = text_fill(t);
		if (more < 0)
			return more;
		if (t->written < t->filled)
			r = text_write(t);
	}
	return r;
}

/* ---- start and end ---- */

static unsigned text_thread_count(const struct ordered_text *t)
{
	unsigned n = t->ordered.opts->threads;

	if (!n)
		n = t->ordered.pushed < ALONE_BELOW ? 1 : cpus_online();
	if (!t->ordered.rec->stable && !t->ordered.noted)
		n = 1;
	return n > ORDERED_THREADS_MAX ? ORDERED_THREADS_MAX : n;
}

static int text_start(struct ordered_text *t)
{
	unsigned n = text_thread_count(t);
	int r = 0;

	t->n_jobs = n == 1 ? 1 : n * JOBS_PER_THREAD;
	for (unsigned i = 0; i < t->n_jobs; i++) {
		t->jobs[i] = calloc(1, sizeof(*t->jobs[i]));
		if (!t->jobs[i])
			return -ENOMEM;
	}
	for (unsigned i = 0; i < n && r >= 0; i++) {
		struct text_worker *w = &t->workers[i];

		w->text = t;
		r = ordered_batch(&t->ordered, &w->batch);
		w->batch.each = text_put;
		w->batch.ctx = w;
		ordered_noted_start(&w->noted, t->ordered.rec);
		if (r >= 0)
			r = t->writer->start(t->writer->ctx, &w->thread);
		t->n_workers = i + 1;
	}
	/* A thread that cannot be started leaves its share to the others. */
	for (unsigned i = 1; i < n && r >= 0; i++)
		t->workers[i].started =
		        !pthread_create(&t->workers[i].id, NULL, text_thread, &t->workers[i]);
	return r;
}

static void text_end(struct ordered_text *t)
{
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->to_do);
	pthread_mutex_unlock(&t->lock);
	for (unsigned i = 0; i < t->n_workers; i++) {
		if (t->workers[i].started)
			pthread_join(t->workers[i].id, NULL);
		unwound_free(t->workers[i].batch.unwound);
	}
	for (unsigned i = 0; i < t->n_jobs; i++) {
		if (t->jobs[i])
			buf_free(&t->jobs[i]->out);
		free(t->jobs[i]);
	}
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->to_do);
	pthread_mutex_destroy(&t->lock);
}

int ordered_text(struct recording *rec, const struct ordered_opts *opts,
                 const struct ordered_writer *writer, struct seam_error *err)
{
	struct ordered_text *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return seam_error_set(err, ENOMEM, NULL, SEAM_NO_OFFSET, NULL, "out of memory");
	t->writer = writer;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->to_do, NULL);
	pthread_cond_init(&t->done, NULL);
	r = ordered_start(&t->ordered, rec, opts, err);
	if (r >= 0)
		r = text_start(t);
	if (r >= 0)
		r = text_run(t);
	text_end(t);
	r = ordered_end(&t->ordered, r, err);
	free(t);
	return r;
}
