// SPDX-License-Identifier: MIT
// samples_text.c: samples into bytes in several threads, written in order. See samples.h.
//
// Samples are dealt out in jobs, which go round in a ring: the calling thread fills one, any thread
// works it, the calling thread writes it when all before it are written. When there is nothing to
// write yet it works itself. Invariant: written <= taken <= filled <= written + n_jobs; a job in
// [written, taken) is its worker's until it is done, every other one is the calling thread's. So
// memory is bounded by the ring, whatever is slow.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/thread.h"
#include "samples/samples_parts.h"

#define JOB_SAMPLES 256u
#define JOBS_PER_THREAD 3u
#define JOBS_MAX (SAMPLES_THREADS_MAX * JOBS_PER_THREAD)

/* Samples in order, and the text that they become. */
struct text_job {
	struct samples_next next[JOB_SAMPLES];
	size_t n;
	struct buf out;
	int result;
	bool done; /* under the lock */
};

/* A thread, and the reader that is its own. */
struct text_worker {
	struct samples_text *text;
	struct samples_reader *reader;
	pthread_t id;
	bool started;
};

struct samples_text {
	struct samples_source *source;
	const struct samples_consumer *consumer;
	unsigned n_workers, n_jobs;
	pthread_mutex_t lock; /* of all below, and of what jobs say is done */
	pthread_cond_t to_do, done;
	uint64_t filled, taken, written; /* jobs, counted from the start */
	bool stop;
	struct text_job *jobs[JOBS_MAX];
	struct text_worker workers[SAMPLES_THREADS_MAX]; /* the first is the calling thread's */
};

/* ---- any thread ---- */

/* Works a job: its samples become the bytes of job->out. */
static void text_work(struct text_worker *w, struct text_job *job)
{
	int r = 0;

	w->reader->out = &job->out;
	for (size_t i = 0; i < job->n && !r; i++)
		r = samples_parts_give(w->reader, &job->next[i]);
	job->result = r ? r : samples_reader_flush(w->reader);
}

/* Takes a job and works it. Locked when called and when it returns. */
static void text_take(struct text_worker *w)
{
	struct samples_text *t = w->text;
	struct text_job *job = t->jobs[t->taken++ % t->n_jobs];

	pthread_mutex_unlock(&t->lock);
	text_work(w, job);
	pthread_mutex_lock(&t->lock);
	job->done = true;
	pthread_cond_signal(&t->done);
}

/* A thread: jobs until it is told to stop. */
static void *text_thread(void *arg)
{
	struct text_worker *w = arg;
	struct samples_text *t = w->text;

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

/* Fills the next job, which is free. 1; 0: there are no more samples. */
static int text_fill(struct samples_text *t)
{
	struct text_job *job = t->jobs[t->filled % t->n_jobs];
	/* If the bytes of records do not stay, they are valid for one record only. */
	size_t most = t->source->rec->stable || !t->source->order ? JOB_SAMPLES : 1;
	int r = 0;

	job->n = 0;
	job->done = false;
	buf_clear(&job->out);
	while (job->n < most && (r = samples_source_next(t->source, &job->next[job->n])) > 0)
		job->n++;
	if (r < 0 || !job->n)
		return r;
	pthread_mutex_lock(&t->lock);
	t->filled++;
	pthread_cond_signal(&t->to_do);
	pthread_mutex_unlock(&t->lock);
	return 1;
}

/* Writes the oldest unwritten job when it is done; helps with others until then. */
static int text_write(struct samples_text *t)
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
	/* The job is this thread's again. */
	r = job->result;
	if (!r && job->out.failed)
		r = -ENOMEM;
	if (!r && job->out.n)
		r = t->consumer->write(t->consumer->ctx, &job->out);
	t->written++;
	return r;
}

/* Fills, works and writes until all is written. -errno, or what the consumer returned. */
static int text_run(struct samples_text *t)
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

/* Makes the jobs, and starts a thread for each reader but the first, which is the calling thread's.
 * -ENOMEM. */
static int text_start(struct samples_text *t, struct samples_reader *const *readers, unsigned n)
{
	/* With one thread nobody works ahead. */
	t->n_jobs = n == 1 ? 1 : n * JOBS_PER_THREAD;
	for (unsigned i = 0; i < t->n_jobs; i++) {
		t->jobs[i] = calloc(1, sizeof(*t->jobs[i]));
		if (!t->jobs[i])
			return -ENOMEM;
	}
	t->n_workers = n;
	/* A thread that cannot be started leaves its share to the others. */
	for (unsigned i = 0; i < n; i++) {
		struct text_worker *w = &t->workers[i];

		w->text = t;
		w->reader = readers[i];
		w->started = i && thread_start(&w->id, text_thread, w) >= 0;
	}
	return 0;
}

/* Ends the threads and frees what text_start made, also if it made only a part. */
static void text_end(struct samples_text *t)
{
	pthread_mutex_lock(&t->lock);
	t->stop = true;
	pthread_cond_broadcast(&t->to_do);
	pthread_mutex_unlock(&t->lock);
	for (unsigned i = 0; i < t->n_workers; i++)
		if (t->workers[i].started)
			pthread_join(t->workers[i].id, NULL);
	for (unsigned i = 0; i < t->n_jobs; i++) {
		if (t->jobs[i])
			buf_free(&t->jobs[i]->out);
		free(t->jobs[i]);
	}
	pthread_cond_destroy(&t->done);
	pthread_cond_destroy(&t->to_do);
	pthread_mutex_destroy(&t->lock);
}

/* On failure a part may have been written. -ENOMEM, or what the consumer returned. */
int samples_text(struct samples_source *source, struct samples_reader *const *readers, unsigned n,
                 const struct samples_consumer *consumer)
{
	struct samples_text *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return -ENOMEM;
	t->source = source;
	t->consumer = consumer;
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->to_do, NULL);
	pthread_cond_init(&t->done, NULL);
	r = text_start(t, readers, n);
	if (r >= 0)
		r = text_run(t);
	text_end(t);
	free(t);
	return r;
}
