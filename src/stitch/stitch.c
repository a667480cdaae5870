// SPDX-License-Identifier: MIT
/*
 * stitch.c: the public face: one stitcher is a file's index or a stream, whichever is used first.
 *
 * The structs of the caller may be of another version of this library. Where all sizes are those
 * that are known here, nothing is copied; else a struct of this version stands between, and what
 * the caller does not know of it is left out (base/sized.h).
 *
 * Invariant: the mode changes once, from NEW to STREAM or LEARNING, and from LEARNING to SEALED.
 * After SEALED nothing changes, so that any number of threads may resolve.
 */
#include <seam/stitch.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "stitch/index.h"
#include "stitch/stream.h"

enum stitch_mode {
	STITCH_NEW,
	STITCH_STREAM,
	STITCH_LEARNING,
	STITCH_SEALED
};

/* Both ways live in it. What is not used stays empty. */
struct seam_stitch {
	enum stitch_mode mode;
	struct index index;
	struct stream stream;
};

int seam_stitch_new(struct seam_stitch **ret, const struct seam_stitch_opts *opts)
{
	struct seam_stitch_opts o;
	struct seam_stitch *st;
	int r = sized_take(&o, sizeof(o), opts);

	if (r < 0)
		return r;
	st = calloc(1, sizeof(*st));
	if (!st)
		return -ENOMEM;
	st->index.chains.way = INTERN_LASTING;
	stream_start(&st->stream, o.max_bytes);
	*ret = st;
	return 0;
}

/* NULL is allowed. */
void seam_stitch_free(struct seam_stitch *st)
{
	if (!st)
		return;
	index_free(&st->index);
	stream_free(&st->stream);
	free(st);
}

/* Both halves of the struct learn which events give deferred records, because the mode is not
 * known yet when this is called. */
int seam_stitch_events(struct seam_stitch *st, const struct seam_events *events)
{
	if (st->mode == STITCH_SEALED)
		return -EINVAL;
	st->index.output = st->stream.output = rules_output(events);
	return 0;
}

/* The counts of the stitcher itself. A file's samples are counted by those who resolve them,
 * because threads do, each in its own struct; of a stream the samples are counted here. */
int seam_stitch_counts(const struct seam_stitch *st, struct seam_stitch_counts *ret)
{
	struct seam_stitch_counts counts = { 0 };

	if (st->mode == STITCH_STREAM)
		stream_counts(&st->stream, &counts);
	else
		index_counts(&st->index, &counts);
	return sized_give(ret, &counts, sizeof(counts));
}

/* peak_bytes is of one stitcher each, and they need not have had it at the same time: the larger
 * one is kept. */
static void stitch_counts_add(struct seam_stitch_counts *to, const struct seam_stitch_counts *from)
{
	to->samples += from->samples;
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		to->state[i] += from->state[i];
	to->deferred_samples += from->deferred_samples;
	to->deferred_records += from->deferred_records;
	to->unclaimed_records += from->unclaimed_records;
	to->duplicate_records += from->duplicate_records;
	to->duplicate_samples += from->duplicate_samples;
	to->tid_mismatches += from->tid_mismatches;
	to->empty_answers += from->empty_answers;
	to->lost += from->lost;
	to->lost_samples += from->lost_samples;
	if (from->peak_bytes > to->peak_bytes)
		to->peak_bytes = from->peak_bytes;
}

int seam_stitch_counts_add(struct seam_stitch_counts *to, const struct seam_stitch_counts *from)
{
	struct seam_stitch_counts sum, more;

	/* Fields that are not known here cannot be added. They need not be refused: nobody but this
	 * library counts in them. */
	if (to->sz < sizeof(to->sz) || from->sz < sizeof(from->sz))
		return -EINVAL;
	/* Where a struct is smaller, what it lacks is 0; `to` gets back as much as it has room
	 * for. */
	sum = more = (struct seam_stitch_counts){ 0 };
	memcpy(&sum, to, to->sz < sizeof(sum) ? to->sz : sizeof(sum));
	memcpy(&more, from, from->sz < sizeof(more) ? from->sz : sizeof(more));
	stitch_counts_add(&sum, &more);
	memcpy(to, &sum, to->sz < sizeof(sum) ? to->sz : sizeof(sum));
	return 0;
}

/* The sentence for a failure of feeding or learning. -EAGAIN has none: it is a request. */
static int stitch_failed(const struct seam_decoded *d, int r, struct seam_error *err)
{
	const char *name = seam_record_name(d->record->type);

	switch (r) {
	case -EAGAIN: /* no fault: samples are to be taken first */
		return r;
	case -EINVAL:
		return seam_error_set(err, EINVAL, NULL, d->record->offset, name,
		                      "it cannot be taken: the stitcher is finished, or a part of "
		                      "the record lies outside it");
	case -EOVERFLOW:
		return seam_error_set(err, EOVERFLOW, NULL, d->record->offset, name,
		                      "more than 4,294,967,295 records");
	default:
		return seam_error_set(err, -r, NULL, d->record->offset, name, "out of memory");
	}
}

/* The record of a caller that knows less of it, or more: what is known here, in *room if need be.
 * NULL: its size is not set. */
static const struct seam_decoded *stitch_known(const struct seam_decoded *d,
                                               struct seam_decoded *room)
{
	if (d->sz >= sizeof(*d))
		return d;
	if (d->sz < offsetof(struct seam_decoded, id))
		return NULL;
	memset(room, 0, sizeof(*room));
	memcpy(room, d, d->sz);
	return room;
}

/* A size of 0 comes from a caller that forgot to set sz. */
static int stitch_unsized(struct seam_error *err)
{
	return seam_error_set(err, EINVAL, NULL, SEAM_NO_OFFSET, NULL,
	                      "the size of the record is not set");
}

/* One that learned cannot be fed: the facts of the two ways are not the same. */
static int stitch_wrong_mode(const struct seam_decoded *d, struct seam_error *err)
{
	return seam_error_set(err, EINVAL, NULL, d->record->offset,
	                      seam_record_name(d->record->type),
	                      "a stitcher is used for a stream or for a file, not for both");
}

/* The first call makes this stitcher a stream. -EAGAIN: see stream_feed. */
int seam_stitch_feed(struct seam_stitch *st, const struct seam_decoded *record,
                     struct seam_error *err)
{
	struct seam_decoded room;
	const struct seam_decoded *d = stitch_known(record, &room);
	int r;

	if (!d)
		return stitch_unsized(err);
	if (st->mode != STITCH_NEW && st->mode != STITCH_STREAM)
		return stitch_wrong_mode(d, err);
	st->mode = STITCH_STREAM;
	r = stream_feed(&st->stream, d);
	return r < 0 ? stitch_failed(d, r, err) : r;
}

/* 1 and a sample; 0: none is ready. A caller of another version gets what it knows of the
 * struct. */
int seam_stitch_next(struct seam_stitch *st, struct seam_stitched *ret)
{
	struct seam_stitched room;
	size_t sz = ret->sz;
	int r;

	if (sz < sizeof(sz))
		return -EINVAL;
	if (st->mode != STITCH_STREAM)
		return st->mode == STITCH_NEW ? 0 : -EINVAL;
	if (sz == sizeof(*ret))
		return stream_next(&st->stream, ret);
	r = stream_next(&st->stream, &room);
	if (r > 0)
		sized_give(ret, &room, sizeof(room));
	return r;
}

/* A stream that was fed nothing is a stream, too. */
int seam_stitch_finish(struct seam_stitch *st)
{
	if (st->mode == STITCH_NEW)
		st->mode = STITCH_STREAM;
	return st->mode == STITCH_STREAM ? stream_finish(&st->stream) : -EINVAL;
}

/* The first call makes this stitcher a file's index. Records may come in any order. */
int seam_stitch_learn(struct seam_stitch *st, const struct seam_decoded *record,
                      struct seam_error *err)
{
	struct seam_decoded room;
	const struct seam_decoded *d = stitch_known(record, &room);
	int r;

	if (!d)
		return stitch_unsized(err);
	if (st->mode != STITCH_NEW && st->mode != STITCH_LEARNING)
		return stitch_wrong_mode(d, err);
	st->mode = STITCH_LEARNING;
	if (!err) /* the last thing to do: of the first pass, a tenth was saving registers */
		return index_learn(&st->index, d);
	r = index_learn(&st->index, d);
	return r < 0 ? stitch_failed(d, r, err) : r;
}

void stitch_kept(struct seam_stitch *st, enum intern_way way)
{
	st->index.chains.way = way;
}

void stitch_beside(struct seam_stitch *st)
{
	st->index.chains.relay.wanted = true;
}

size_t stitch_met_again(const struct seam_stitch *st)
{
	return atomic_load_explicit(&st->index.chains.again, memory_order_relaxed);
}

/* As seam_stitch_learn, for rooms of seam: without the checks of sizes and with what was found. The
 * caller makes the sentence if it fails. */
int stitch_learn_sample(struct seam_stitch *st, const struct seam_decoded *d,
                        struct stitch_learned *ret)
{
	if (st->mode != STITCH_NEW && st->mode != STITCH_LEARNING)
		return -EINVAL;
	st->mode = STITCH_LEARNING;
	return index_learn_sample(&st->index, d, ret);
}

/* Twice is allowed. On failure it stays LEARNING, so that nothing can be resolved. */
int seam_stitch_seal(struct seam_stitch *st)
{
	int r;

	if (st->mode == STITCH_STREAM)
		return -EINVAL;
	if (st->mode == STITCH_SEALED)
		return 0;
	r = index_seal(&st->index);
	if (r >= 0)
		st->mode = STITCH_SEALED;
	return r;
}

/* The same for a caller that knows less of one of the structs, or more. Counts are added up in a
 * struct that has all of them, and given back in part. */
static int stitch_resolve_part(const struct seam_stitch *st, const struct seam_decoded *record,
                               struct seam_stitch_counts *counts, struct seam_stitched *ret)
{
	struct seam_stitch_counts all = { .sz = sizeof(all) };
	struct seam_stitched whole = { .sz = sizeof(whole) };
	struct seam_decoded room;
	const struct seam_decoded *d = stitch_known(record, &room);
	int r;

	if (!d || ret->sz < sizeof(ret->sz) || (counts && counts->sz < sizeof(counts->sz)))
		return -EINVAL;
	r = index_resolve(&st->index, d, &all, &whole);
	if (counts)
		seam_stitch_counts_add(counts, &all);
	if (r > 0)
		sized_give(ret, &whole, sizeof(whole));
	return r;
}

/* Threads may call it at once on a sealed stitcher, each with counts of its own. 0: a copy of an
 * earlier sample, which the caller leaves out. */
int seam_stitch_resolve(const struct seam_stitch *st, const struct seam_decoded *d,
                        struct seam_stitch_counts *counts, struct seam_stitched *ret)
{
	if (st->mode != STITCH_SEALED || d->record->type != SEAM_RECORD_SAMPLE)
		return -EINVAL;
	if (d->sz < sizeof(*d) || ret->sz != sizeof(*ret) ||
	    (counts && counts->sz < sizeof(*counts)))
		return stitch_resolve_part(st, d, counts, ret);
	return index_resolve(&st->index, d, counts, ret);
}

bool stitch_resolve_summary(const struct seam_stitch *st, const struct stitch_summary *summary,
                            struct seam_stitch_counts *counts, struct stitch_verdict *ret)
{
	return index_resolve_summary(&st->index, summary, counts, ret);
}

enum seam_stitch_state stitch_own(struct seam_stitch_counts *counts, enum rules_kind kind)
{
	return index_own_counted(counts, kind);
}

const struct intern *stitch_chain_words(const struct seam_stitch *st)
{
	return &st->index.chains.words;
}

/* Number 0 is the empty chain, which is there even if none was interned. */
size_t stitch_chains(const struct seam_stitch *st)
{
	return st->index.chains.words.n + !st->index.chains.words.n;
}

void stitch_rest(const struct seam_stitch *st)
{
	index_rest(&st->index);
}

uint64_t stitch_copies(const struct seam_stitch *st)
{
	return st->mode == STITCH_STREAM ? st->stream.counts.duplicate_samples
	                                 : st->index.duplicates.n;
}
