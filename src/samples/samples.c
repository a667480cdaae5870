// SPDX-License-Identifier: MIT
/*
 * samples.c: see samples.h. Knows which entries come next, in which order and in how many threads;
 * what a sample is made of is samples_reader.c's.
 *
 * By file: threads take shares of entries, each with a reader and a consumer of its own, and the
 * result must not depend on who takes what. By time: one thread merges what is ordered
 * (samples_source.c), and text is made in threads (samples_text.c).
 */
#include "samples/samples.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpus.h"
#include "base/thread.h"
#include "samples/samples_parts.h"

#define SHARE 256u         /* samples that a thread takes at a time, by file */
#define RUNS_PER_THREAD 4u /* MiB: less work than this is not worth a thread, by file */
#define ALONE_BELOW 4096u  /* samples: the same, by time */
#define ASK_AHEAD 8u       /* samples: whose headers are asked for */

/* What the threads share. All but next and result is set before they start. */
struct samples_work {
	struct recording *rec;
	const struct samples_opts *opts;
	const struct samples_consumer *consumer;
	struct tables *tables; /* NULL: nothing is walked */
	bool bytes;            /* records of samples are needed */
	unsigned n;
	struct samples_reader *readers[SAMPLES_THREADS_MAX]; /* the first is the calling thread's */
	atomic_size_t next;                                  /* share */
	atomic_int result;
};

struct samples_thread {
	struct samples_work *work;
	struct samples_reader *reader;
	pthread_t id;
	bool started;
};

/* How many distinct tasks, events and CPUs the samples have (sample.who). */
uint32_t samples_whos(const struct recording *rec)
{
	return rec->index->whos.n;
}

/* ---- by file ---- */

/* Asks for the memory of a record some samples ahead: it may lie anywhere in the file. */
static void samples_ask(const struct sample_entry *entry, const struct sample_entry *end)
{
	if (entry + ASK_AHEAD < end && entry[ASK_AHEAD].bytes)
		__builtin_prefetch(entry[ASK_AHEAD].bytes);
}

/* Gives the samples of one share. *end: there are no more. */
static int samples_share(const struct samples_work *w, struct samples_reader *r, size_t share,
                         bool *end)
{
	const struct sample_entry *entry;
	size_t first = share % (SAMPLE_INDEX_BLOCK / SHARE) * SHARE;
	size_t n = sample_index_block(w->rec->index, share / (SAMPLE_INDEX_BLOCK / SHARE), &entry);
	int rc = 0;

	if (!first && share) { /* other threads are still in the block before, at most */
		sample_index_rest(w->rec->index, share / (SAMPLE_INDEX_BLOCK / SHARE) - 1, 2);
		stitch_rest(w->rec->stitch);
	}
	*end = first >= n;
	n = n < first + SHARE ? n : first + SHARE;
	for (size_t i = first; i < n && !rc; i++) {
		if (w->bytes)
			samples_ask(&entry[i], &entry[n]);
		rc = samples_reader_take(r, &entry[i], NULL);
	}
	return rc;
}

/* A thread: shares until none is left, or somebody failed. */
static void *samples_run(void *arg)
{
	const struct samples_thread *t = arg;
	struct samples_work *w = t->work;
	bool end = false;
	int rc = 0;

	while (!rc && !end && !atomic_load(&w->result))
		rc = samples_share(w, t->reader, atomic_fetch_add(&w->next, 1), &end);
	/* Also what waits in the reader must be given. */
	if (!rc)
		rc = samples_reader_flush(t->reader);
	if (rc)
		atomic_store(&w->result, rc);
	return NULL;
}

/* The calling thread works, too. 0, or what a consumer returned. */
static int samples_in_threads(struct samples_work *w)
{
	struct samples_thread threads[SAMPLES_THREADS_MAX];

	for (unsigned i = 0; i < w->n; i++)
		threads[i] = (struct samples_thread){ .work = w, .reader = w->readers[i] };
	/* One that cannot be started leaves its share to the others. */
	for (unsigned i = 1; i < w->n; i++)
		threads[i].started = thread_start(&threads[i].id, samples_run, &threads[i]) >= 0;
	samples_run(&threads[0]);
	for (unsigned i = 1; i < w->n; i++)
		if (threads[i].started)
			pthread_join(threads[i].id, NULL);
	return atomic_load(&w->result);
}

/* Gives a sample at once, because the bytes of its record do not last. */
static int samples_reread(void *ctx, const struct seam_record *record)
{
	struct samples_work *w = ctx;
	const struct sample_entry *entry;

	if (record->type != SEAM_RECORD_SAMPLE)
		return 0;
	entry = sample_index_find(w->rec->index, record->index);
	/* What the consumer returned is in result. -ECANCELED only ends the reading. */
	atomic_store(&w->result, entry ? samples_reader_take(w->readers[0], entry, record) : 0);
	return atomic_load(&w->result) ? -ECANCELED : 0;
}

/* If the bytes of records do not last, the file is read again, in one thread. */
static int samples_by_file(struct samples_work *w, struct seam_error *err)
{
	int rc;

	if (w->rec->stable || !w->bytes)
		return samples_in_threads(w);
	rc = recording_each(w->rec, samples_reread, w, err);
	return rc == -ECANCELED ? atomic_load(&w->result) : rc;
}

/* ---- by time ---- */

/* One thread, one sample after the other. */
static int samples_drain(struct samples_source *source, struct samples_reader *r)
{
	struct samples_next next;
	int rc;

	while ((rc = samples_source_next(source, &next)) > 0) {
		rc = samples_parts_give(r, &next);
		if (rc)
			return rc;
	}
	return rc < 0 ? rc : samples_reader_flush(r);
}

/* A consumer that writes text gets it made in threads; another gets one sample after the other. */
static int samples_by_time(struct samples_work *w, struct seam_error *err)
{
	struct samples_source source;
	int rc = samples_source_start(&source, w->rec, w->opts, err);

	if (rc >= 0)
		rc = w->consumer->write ? samples_text(&source, w->readers, w->n, w->consumer)
		                        : samples_drain(&source, w->readers[0]);
	samples_source_free(&source);
	return rc;
}

/* ---- both ---- */

/* Whether one thread must read: counters of groups grow from sample to sample, and bytes that do
 * not last must be used one after the other. */
static bool samples_alone(const struct samples_work *w)
{
	return (w->opts->needs & SAMPLES_MEMBERS && w->rec->index->flags & SAMPLE_INDEX_GROUP) ||
	       (w->bytes && !w->rec->stable) ||
	       (w->opts->order == SAMPLES_BY_TIME &&
	        (!w->consumer->write || (w->opts->beside && !w->rec->stable)));
}

/* How many threads are worth their start. */
static unsigned samples_thread_count(const struct samples_work *w)
{
	size_t n = cpus_for(w->opts->threads);
	size_t worth = n;

	if (samples_alone(w))
		return 1;
	/* By file and without records there is little to do for a sample: one thread is enough. */
	if (w->opts->order == SAMPLES_BY_TIME)
		worth = sample_index_count(w->rec->index) < ALONE_BELOW ? 1 : n;
	else
		worth = w->bytes ? w->rec->n_runs / RUNS_PER_THREAD + 1 : 1;
	if (!w->opts->threads && n > worth)
		n = worth;
	return n > SAMPLES_THREADS_MAX ? SAMPLES_THREADS_MAX : (unsigned)n;
}

/* Makes the tables, if stacks will be walked, and a reader for each thread. -errno. */
static int samples_start(struct samples_work *w)
{
	struct unwound_opts walk = { .sz = sizeof(walk) };
	int rc = 0;

	if (w->opts->needs & SAMPLES_COPIES && unwound_opts_of(w->rec, &walk))
		rc = unwound_tables(w->rec, w->opts->tables, &w->tables);
	w->bytes = samples_reader_needs_bytes(w->rec, w->opts);
	w->n = samples_thread_count(w);
	for (unsigned i = 0; i < w->n && rc >= 0; i++) {
		rc = samples_reader_new(&w->readers[i], w->rec, w->opts, w->consumer, w->tables);
		if (rc >= 0 && w->consumer->start)
			rc = w->consumer->start(w->consumer->ctx, &w->readers[i]->thread);
	}
	return rc;
}

/* opts->kept is filled also after a failure. -errno, and err says why. */
int samples_each(struct recording *rec, const struct samples_opts *opts,
                 const struct samples_consumer *consumer, struct seam_error *err)
{
	struct samples_work w = { .rec = rec, .opts = opts, .consumer = consumer };
	int rc = samples_start(&w);

	if (rc >= 0)
		rc = opts->order == SAMPLES_BY_TIME ? samples_by_time(&w, err)
		                                    : samples_by_file(&w, err);
	/* Readers end one after the other, so a consumer may add up without a lock. */
	for (unsigned i = 0; i < w.n && rc >= 0; i++)
		rc = samples_reader_end(w.readers[i]);
	for (unsigned i = 0; i < w.n; i++)
		samples_reader_free(w.readers[i]);
	if (opts->kept)
		*opts->kept = w.tables;
	else
		tables_free(w.tables);
	if (rc < 0 && err && !err->code)
		seam_error_set(err, -rc, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-rc));
	return rc;
}
