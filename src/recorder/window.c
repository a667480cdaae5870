// SPDX-License-Identifier: MIT
/*
 * window.c: see window.h. Records are kept in two buffers: side-band records, which stay while they
 * are needed, and samples with deferred stacks, of which those go that were in an interval. An
 * interval is written into a memory file, whose name in /proc a reader opens.
 *
 * So an interval is a recording like any other, with what its samples need: it is read, stitched
 * and counted by the code that reads files, and shows what a report of a file would show. What it
 * costs is a copy of a few MB for each interval.
 *
 * A sample's user part may come after it. So an interval ends WINDOW_GRACE_NS before the newest
 * sample, and what is younger waits for the next one. Rings are read one after the other, and who
 * reads may be kept waiting between two of them for longer than that; so a sample may also come
 * when its interval is over. It is in the next one.
 *
 * Invariant: each sample is in exactly one interval, or counted as dropped. Both buffers are
 * bounded: samples that find no room are dropped, side-band records of processes that are gone are
 * let go (window_prune), and at a bound all begin anew from /proc (window_renew).
 */
#include "recorder/window.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <seam/writer.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "recorder/datafile_head.h"
#include "recorder/window_side.h"

struct window {
	const struct datafile_opts *head;
	const struct seam_events *events;
	struct buf side, samples;
	int file;               /* memfd: the recording of an interval */
	uint64_t newest_ns;     /* time of the newest sample */
	uint64_t cut_ns;        /* the last interval ended here; what comes late may be older */
	uint64_t dropped;       /* samples that had no room, since the last cut */
	uint64_t lost, skipped; /* as struct window_interval has them */
	bool grew;              /* samples came since the last cut */
	struct window_watch watch;
	size_t samples_most;       /* bytes of samples */
	size_t prune_at, renew_at; /* bytes of side: see window_prune, window_renew */
};

/* head and events are the caller's and must outlive it. */
int window_new(struct window **ret, const struct datafile_opts *head,
               const struct seam_events *events)
{
	struct window *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	*w = (struct window){ .head = head,
		              .events = events,
		              .samples_most = WINDOW_SAMPLES_MAX,
		              .prune_at = WINDOW_SIDE_LEAST,
		              .renew_at = WINDOW_SIDE_MAX };
	w->file = memfd_create("seam-window", MFD_CLOEXEC);
	if (w->file < 0) {
		free(w);
		return -errno;
	}
	*ret = w;
	return 0;
}

void window_free(struct window *w)
{
	if (!w)
		return;
	close(w->file);
	buf_free(&w->side);
	buf_free(&w->samples);
	free(w);
}

void window_limit(struct window *w, size_t samples)
{
	w->samples_most = samples;
}

void window_watch(struct window *w, const struct window_watch *watch)
{
	w->watch = *watch;
}

/* ---- records ---- */

/* Tells who watches what a record says of a process. */
static void window_tell(const struct window *w, const struct seam_record *record,
                        const struct seam_decoded *d)
{
	const struct window_watch *watch = &w->watch;

	if (record->type == SEAM_RECORD_SAMPLE && d->id.has & SEAM_SAMPLE_TID)
		watch->tell(watch->ctx, WINDOW_SAMPLED, d->id.pid);
	else if (record->type == SEAM_RECORD_COMM && record->misc & SEAM_MISC_COMM_EXEC)
		watch->tell(watch->ctx, WINDOW_REPLACED, d->comm.pid);
	else if (record->type == SEAM_RECORD_FORK && d->task.pid == d->task.tid)
		watch->tell(watch->ctx, WINDOW_BEGAN, d->task.pid);
}

/* A deferred record that finds no room leaves its sample without a user part; only samples are
 * counted. */
static int window_sample(struct window *w, const struct seam_record *record)
{
	struct seam_decoded d;

	if (w->samples.n + record->size > w->samples_most) {
		w->dropped += record->type == SEAM_RECORD_SAMPLE;
		return 0;
	}
	if (record->type == SEAM_RECORD_SAMPLE && record_decode(w->events, record, &d, NULL) >= 0 &&
	    d.id.has & SEAM_SAMPLE_TIME) {
		w->grew = true;
		if (d.id.time_ns > w->newest_ns)
			w->newest_ns = d.id.time_ns;
		if (w->watch.tell)
			window_tell(w, record, &d);
	}
	return buf_put(&w->samples, record->bytes, record->size);
}

/* Sorts a record into its buffer. Those that say nothing of a profile are left out. */
static int window_record(struct window *w, const struct seam_record *record)
{
	struct seam_decoded d;

	switch (record->type) {
	case SEAM_RECORD_SAMPLE:
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
		return window_sample(w, record);
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		/* Adds what BPF programs lost; tasks that were not followed are no lost records. */
		if (record->misc & SEAM_MISC_LOST_TASKS ||
		    record_decode(w->events, record, &d, NULL) < 0)
			return 0;
		w->lost += d.lost.lost;
		if (record->type == SEAM_RECORD_LOST_SAMPLES &&
		    record->misc & SEAM_MISC_LOST_SKIPPED)
			w->skipped += d.lost.lost;
		return 0;
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
		if (w->watch.tell && record_decode(w->events, record, &d, NULL) >= 0)
			window_tell(w, record, &d);
		return buf_put(&w->side, record->bytes, record->size);
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_KSYMBOL:
	case SEAM_RECORD_BPF_EVENT:
	case SEAM_RECORD_TEXT_POKE:
		return buf_put(&w->side, record->bytes, record->size);
	default:
		return 0;
	}
}

/* A capture_write: whole records, as the recorder gives them. */
int window_write(void *ctx, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	struct seam_record record;
	int r = 0;

	for (; r >= 0 && record_at(at, n, &record); at += record.size, n -= record.size)
		r = window_record(ctx, &record);
	return r < 0 ? r : n ? -EBADMSG : 0;
}

/* The bound of next time is twice what is there now, so that work is in proportion to growth. */
static size_t window_next(size_t n, size_t least)
{
	return 2 * n > least ? 2 * n : least;
}

/* Lets go of records of processes that had ended before the samples that are to come. -ENOMEM. */
static int window_prune(struct window *w)
{
	int r;

	if (w->side.n <= w->prune_at)
		return 0;
	r = window_side_prune(&w->side, w->events, w->cut_ns);
	w->prune_at = window_next(w->side.n, WINDOW_SIDE_LEAST);
	return r;
}

/* Some processes map more and more as long as they live, and some ends are lost: so at a bound all
 * is dropped, and what runs now is asked for again. That is more than the bound where very much
 * runs. Names of an interpreter's functions stay: they come once. */
int window_renew(struct window *w, struct recorder *r)
{
	int error;

	if (w->side.n <= w->renew_at)
		return 0;
	window_side_names(&w->side, w->events);
	error = recorder_synthesize(r);
	w->renew_at = window_next(w->side.n, WINDOW_SIDE_MAX);
	return error;
}

/* ---- intervals ---- */

/* Writes the samples before to_ns, and all deferred stacks: those that wait are of the next
 * interval, and would be counted in both. */
static int window_write_samples(const struct window *w, struct seam_writer *writer, uint64_t to_ns,
                                struct seam_error *err)
{
	const unsigned char *bytes = w->samples.bytes;
	struct seam_record record;
	size_t from = 0, at = 0;
	int r = 0;

	for (; r >= 0 && record_at(bytes + at, w->samples.n - at, &record); at += record.size) {
		struct seam_decoded d;

		if (record.type != SEAM_RECORD_SAMPLE ||
		    record_decode(w->events, &record, &d, NULL) < 0 ||
		    !(d.id.has & SEAM_SAMPLE_TIME) || d.id.time_ns < to_ns)
			continue;
		if (at > from)
			r = seam_writer_write(writer, bytes + from, at - from, err);
		from = at + record.size;
	}
	return r >= 0 && at > from ? seam_writer_write(writer, bytes + from, at - from, err) : r;
}

struct window_giving {
	struct seam_writer *writer;
	struct seam_error *err;
};

static int window_give(void *ctx, const void *bytes, size_t n)
{
	const struct window_giving *g = ctx;

	return seam_writer_write(g->writer, bytes, n, g->err);
}

/* Writes the side-band records that the samples need: most processes of a machine were not sampled
 * in an interval, and reading their records takes longer than all else that is done with it. */
static int window_write_side(const struct window *w, struct seam_writer *writer,
                             struct seam_error *err)
{
	struct window_giving giving = { writer, err };
	uint64_t from_ns = w->cut_ns; /* or when the oldest sample was, if that came late */
	struct map threads = { 0 };
	struct seam_record record;
	int r = 0;

	for (size_t at = 0; r >= 0 && record_at(w->samples.bytes + at, w->samples.n - at, &record);
	     at += record.size) {
		struct seam_decoded d;

		if (record_decode(w->events, &record, &d, NULL) < 0)
			continue;
		if (d.id.has & SEAM_SAMPLE_TID)
			r = map_put(&threads, d.id.tid, 1);
		if (d.id.has & SEAM_SAMPLE_TIME && d.id.time_ns < from_ns)
			from_ns = d.id.time_ns;
	}
	if (r >= 0)
		r = window_side_sampled(&w->side, w->events, &threads, from_ns, window_give,
		                        &giving);
	map_free(&threads);
	return r;
}

/* The buffers as a recording in the memory file, of samples before to_ns. */
static int window_write_file(struct window *w, const char *path, uint64_t to_ns,
                             struct seam_error *err)
{
	struct seam_writer_opts opts = { .sz = sizeof(opts) };
	struct seam_writer *writer;
	int r = seam_writer_open(&writer, path, w->events, &opts, err);

	if (r < 0)
		return r;
	r = datafile_head(writer, w->head, w->events, err);
	if (r >= 0)
		r = window_write_side(w, writer, err);
	if (r >= 0)
		r = window_write_samples(w, writer, to_ns, err);
	if (r < 0) {
		seam_writer_close(writer, NULL);
		return r;
	}
	/* Closing writes the header: only then is it a recording. */
	return seam_writer_close(writer, err);
}

/* Keeps the records from `from_ns` on: the samples that wait, and deferred stacks that may be
 * theirs. */
static void window_forget(struct window *w, uint64_t from_ns)
{
	unsigned char *bytes = w->samples.bytes;
	struct seam_record record;
	size_t to = 0;

	/* In place: records only move towards the beginning. */
	for (size_t at = 0; record_at(bytes + at, w->samples.n - at, &record); at += record.size) {
		struct seam_decoded d;

		if (record_decode(w->events, &record, &d, NULL) >= 0 && d.id.time_ns >= from_ns) {
			memmove(bytes + to, bytes + at, record.size);
			to += record.size;
		}
	}
	w->samples.n = to;
}

/* The time up to which samples are due: younger ones than WINDOW_GRACE_NS wait for their user
 * part. */
static uint64_t window_due(const struct window *w, bool last)
{
	uint64_t to_ns = w->newest_ns + 1;

	/* If no record came, there is nothing to wait for. */
	if (!last && w->grew)
		to_ns = w->newest_ns > WINDOW_GRACE_NS ? w->newest_ns - WINDOW_GRACE_NS : 0;
	return to_ns < w->cut_ns ? w->cut_ns : to_ns;
}

/* *ret names the memory file, whose content stays until the next cut. */
int window_cut(struct window *w, bool last, struct window_interval *ret, struct seam_error *err)
{
	struct window_interval interval = { .from_ns = w->cut_ns,
		                            .to_ns = window_due(w, last),
		                            .dropped = w->dropped,
		                            .lost = w->lost,
		                            .skipped = w->skipped };
	int r;

	/* The reader opens the file by this name, with a position of its own. */
	snprintf(interval.path, sizeof(interval.path), "/proc/self/fd/%d", w->file);
	r = window_write_file(w, interval.path, interval.to_ns, err);
	if (r < 0)
		return r;
	/* What is younger stays: samples that wait, and deferred records, which may be theirs. */
	window_forget(w, interval.to_ns);
	w->cut_ns = interval.to_ns;
	w->grew = false;
	w->dropped = 0;
	*ret = interval;
	return window_prune(w);
}

/* ---- profiles ---- */

/* The recording and the profile are freed when fn has returned. */
int window_profile(const struct window_interval *interval, const struct load_opts *opts,
                   int (*fn)(void *ctx, struct recording *rec, struct load *load), void *ctx,
                   struct seam_error *err)
{
	struct recording_opts learn = { .sz = sizeof(learn), .threads = opts->threads };
	/* From the beginning, for what came late is older than the interval: what was in one before
	 * is no longer there. Where it ends at 0 no time is both. */
	const struct proc_span times = { interval->to_ns ? 0 : 1,
		                         interval->to_ns ? interval->to_ns - 1 : 0 };
	struct load_opts due = *opts;
	struct recording *rec = NULL;
	struct seam_reader *reader;
	struct load load = { 0 };
	int r = seam_reader_open(&reader, interval->path, NULL, err);

	if (r < 0)
		return r;
	/* Those that wait do not count. */
	due.filter = (struct samples_filter){ .times = &times, .n_times = 1 };
	r = recording_open(&rec, reader, &learn, err);
	if (r >= 0)
		r = load_recording(&load, rec, &due, err);
	if (r >= 0)
		r = fn(ctx, rec, &load);
	load_free(&load);
	recording_close(rec);
	seam_reader_close(reader);
	return r;
}
