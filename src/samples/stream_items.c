// SPDX-License-Identifier: MIT
/*
 * stream_items.c: see stream_items.h. Knows the steps of one pass; order is perfdata's, what a
 * record teaches is first_pass.c's, and what became of a user part is stitch's.
 *
 * A stream is read once, so a sample is given only when all that it needs has come: the mappings of
 * its time (order), and its deferred record (stitch/). Memory is bounded by what may wait in these
 * two.
 */
#include "samples/stream_items.h"

#include <errno.h>
#include <string.h>

#include "abi/members.h"
#include "base/buf.h"
#include "perfdata/order.h"
#include "samples/called.h"
#include "samples/first_pass.h"
#include "samples/unwound.h"
#include "abi/record.h"

struct stream_items {
	struct recording *rec;
	struct first_pass first_pass;
	const struct samples_opts *opts;
	const struct stream_handler *handler;
	struct order *order;
	struct buf indices; /* of the samples in the stitcher, as u64, from `head` on */
	size_t head;
	size_t events;       /* that the stitcher knows */
	uint64_t duplicates; /* that it has left out */
	bool started;
	struct tables *tables;
	struct unwound *unwound; /* NULL: no sample has a stack copy */
	struct members members;
	uint64_t words[CALLED_MAX];
};

/* ---- out of the stitcher ---- */

/* The index of the sample that the stitcher gives next: it gives them in the order in which they
 * went in. */
static uint64_t stream_index(struct stream_items *s)
{
	uint64_t index = 0;

	if (s->head + sizeof(index) <= s->indices.n)
		memcpy(&index, s->indices.bytes + s->head, sizeof(index));
	s->head += sizeof(index);
	if (s->head >= s->indices.n) {
		buf_clear(&s->indices);
		s->head = 0;
	} else if (s->head >= s->indices.n / 2) {
		memmove(s->indices.bytes, s->indices.bytes + s->head, s->indices.n - s->head);
		s->indices.n -= s->head;
		s->head = 0;
	}
	return index;
}

/* One sample of each member that has a share in it; else itself. */
static int stream_give(struct stream_items *s, struct sample *sample)
{
	const struct stream_handler *h = s->handler;
	const struct samples_filter *f = &s->opts->filter;
	struct member member;
	bool labelled;
	uint64_t i = 0;
	int r;

	sample->context = contexts_at(&s->rec->contexts, sample->id.tid,
	                              sample->id.has & SEAM_SAMPLE_CPU ? sample->id.cpu : 0,
	                              sample->id.time_ns);
	labelled = samples_filter_labels(f, &s->rec->contexts, sample->context);
	if (!(s->opts->needs & SAMPLES_MEMBERS) || !members_of(&sample->decoded->sample))
		return labelled && samples_filter_takes(f, sample->event, &sample->id, sample->comm)
		               ? h->each(h->ctx, sample)
		               : 0;
	while ((r = members_next(&s->members, s->rec->events, &sample->decoded->sample, &i,
	                         &member)) > 0) {
		sample->event = member.event;
		sample->period = member.period;
		if (labelled && samples_filter_takes(f, sample->event, &sample->id, sample->comm))
			r = h->each(h->ctx, sample);
		if (r < 0)
			break;
		sample->again = true;
	}
	return r;
}

/* A sample, whole, with its record as far as it lasts. */
static int stream_deliver(struct stream_items *s, struct seam_stitched *st)
{
	const struct seam_record record = { .type = SEAM_RECORD_SAMPLE,
		                            .misc = st->misc,
		                            .offset = st->offset,
		                            .index = stream_index(s) };
	const struct seam_decoded decoded = { .record = &record,
		                              .event = st->sample.event,
		                              .id = st->sample.id,
		                              .sample = st->sample };
	struct sample sample = { .event = st->sample.event,
		                 .id = st->sample.id,
		                 .index = record.index,
		                 .period = st->sample.period,
		                 .proc_ns = proc_time(&decoded),
		                 .deferred_time_ns = st->deferred_time_ns,
		                 .misc = st->misc,
		                 .deferred_misc = st->deferred_misc,
		                 .state = st->state,
		                 .decoded = &decoded,
		                 .cookie = st->cookie,
		                 .apart = true,
		                 .ip = st->sample.ip };
	int r = 0;

	recording_spaces(s->rec, st, sample.proc_ns, &sample.user_space, &sample.kernel_space);
	sample.comm = proc_comm(s->rec->procs, sample.id.pid, sample.id.tid, sample.proc_ns);
	called_sample(st, s->words);
	if (s->unwound)
		r = unwound_sample(s->unwound, sample.user_space, st);
	if (r > 0)
		sample.walk = unwound_last(s->unwound);
	sample.kernel = st->kernel;
	sample.user = st->user;
	return r < 0 ? r : stream_give(s, &sample);
}

/* Gives all samples that are decided by now. */
static int stream_take(struct stream_items *s)
{
	struct seam_stitched sample = { .sz = sizeof(sample) };
	int r;

	while ((r = seam_stitch_next(s->rec->stitch, &sample)) > 0) {
		r = stream_deliver(s, &sample);
		if (r < 0)
			return r;
	}
	return r;
}

/* ---- into it ---- */

/* How many samples the stitcher left out because they were written twice. */
static uint64_t stream_duplicates(const struct stream_items *s)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) };

	return seam_stitch_counts(s->rec->stitch, &c) < 0 ? 0 : c.duplicate_samples;
}

/* Gives a record to the stitcher and takes out what is decided by now. If the stitcher has no room,
 * samples are taken out first. */
static int stream_feed(struct stream_items *s, const struct seam_decoded *d)
{
	bool is_sample = d->record->type == SEAM_RECORD_SAMPLE;
	uint64_t duplicates;
	int r = seam_stitch_feed(s->rec->stitch, d, NULL);

	if (r == -EAGAIN) {
		r = stream_take(s);
		if (r >= 0)
			r = seam_stitch_feed(s->rec->stitch, d, NULL);
	}
	if (r < 0)
		return r;
	if (is_sample) {
		duplicates = stream_duplicates(s);
		/* A sample that was written twice is given once. */
		if (duplicates == s->duplicates)
			r = buf_put(&s->indices, &d->record->index, sizeof(d->record->index));
		s->duplicates = duplicates;
	}
	return r < 0 ? r : stream_take(s);
}

/* Makes the walker, if samples have stack copies. -errno. */
static int stream_unwound(struct stream_items *s)
{
	struct unwound_opts opts = { .sz = sizeof(opts) };
	int r;

	if (!(s->opts->needs & SAMPLES_COPIES) || !unwound_opts_of(s->rec, &opts))
		return 0;
	r = unwound_tables(s->rec, s->opts->tables, &s->tables);
	opts.tables = s->tables;
	return r < 0 ? r : unwound_new(&s->unwound, &opts);
}

/* Tells the handler that the first record about samples is here: by now events and machine are
 * known. */
static int stream_start(struct stream_items *s)
{
	int r;

	if (s->started)
		return 0;
	s->started = true;
	recording_know_machine(s->rec);
	r = stream_unwound(s);
	return r < 0 ? r : s->handler->start(s->handler->ctx, s->rec);
}

/* Records of these types that stand in front of all others are learned before the start, because
 * how the kernel is named depends on its own mapping. */
static bool stream_is_about_tasks(uint32_t type)
{
	return type == SEAM_RECORD_MMAP || type == SEAM_RECORD_MMAP2 ||
	       type == SEAM_RECORD_KSYMBOL || type == SEAM_RECORD_COMM ||
	       type == SEAM_RECORD_FORK || type == SEAM_RECORD_EXIT;
}

/* Takes the records that are in order by now through all steps: they are learned, handed to the
 * handler, and stitched. */
static int stream_drain(struct stream_items *s)
{
	struct seam_record record;
	struct seam_decoded d;
	int r;

	while ((r = order_pop(s->order, &record, NULL)) > 0) {
		r = stream_is_about_tasks(record.type) ? 0 : stream_start(s);
		if (r >= 0)
			r = record_decode(s->rec->events, &record, &d, NULL);
		if (r < 0) /* an unsound one was not pushed */
			return r;
		if (record.type != SEAM_RECORD_SAMPLE) {
			r = first_pass_side_band(&s->first_pass, &d);
			if (r >= 0 && s->started)
				r = s->handler->learn(s->handler->ctx, &record);
		}
		if (r >= 0)
			r = stream_feed(s, &d);
		if (r < 0)
			return r;
	}
	return r;
}

/* ---- in ---- */

/* Whether a record of this type can matter for samples. Others need no order, and are not held. */
static bool stream_wants(uint32_t type)
{
	switch (type) {
	case SEAM_RECORD_SAMPLE:
	case SEAM_RECORD_CALLCHAIN_DEFERRED:
	case SEAM_RECORD_MMAP:
	case SEAM_RECORD_MMAP2:
	case SEAM_RECORD_KSYMBOL:
	case SEAM_RECORD_CGROUP:
	case SEAM_RECORD_COMM:
	case SEAM_RECORD_FORK:
	case SEAM_RECORD_EXIT:
	case SEAM_RECORD_LOST:
	case SEAM_RECORD_LOST_SAMPLES:
		return true;
	default:
		return false;
	}
}

/* A round of the recorder is over: older records go on, and the handler may bring its memory
 * down. */
static int stream_round(struct stream_items *s)
{
	int r = order_round(s->order);

	if (r >= 0)
		r = stream_drain(s);
	return r < 0 || !s->started ? r : s->handler->round(s->handler->ctx);
}

/* Takes one record of the input, in the order of the file. A finished round lets older records go
 * on. */
static int stream_record(struct stream_items *s, const struct seam_record *record)
{
	struct seam_decoded d;
	int r = 0;

	if (s->events != seam_events_count(s->rec->events)) {
		s->events = seam_events_count(s->rec->events);
		r = seam_stitch_events(s->rec->stitch, s->rec->events);
	}
	if (r >= 0)
		r = first_pass_count(&s->first_pass, record, &d);
	if (r < 0)
		return r;
	if (record->type == SEAM_RECORD_FINISHED_ROUND)
		return stream_round(s);
	if (!r || !stream_wants(record->type))
		return 0;
	r = order_push(s->order, d.id.has & SEAM_SAMPLE_TIME ? d.id.time_ns : ORDER_NO_TIME,
	               record);
	return r < 0 ? r : stream_drain(s);
}

/* The input has ended: everything that waits goes on. */
static int stream_finish(struct stream_items *s)
{
	int r = order_finish(s->order);

	if (r >= 0)
		r = stream_drain(s);
	if (r >= 0)
		r = seam_stitch_finish(s->rec->stitch);
	if (r >= 0)
		r = stream_take(s);
	return r < 0 || !s->started ? r : s->handler->round(s->handler->ctx);
}

/* Reads to the end. What came before a failure is given nevertheless. */
static int stream_run(struct stream_items *s, struct seam_error *err)
{
	struct seam_record record;
	int r, failed;

	while ((r = seam_reader_next(s->rec->reader, &record, err)) > 0) {
		r = stream_record(s, &record);
		if (r < 0)
			return r;
	}
	failed = r; /* what came before is sound */
	r = stream_finish(s);
	return failed < 0 ? failed : r;
}

/* One pass over the input; memory is bounded by order.h and the stitcher. */
int stream_items(struct recording **rec, struct seam_reader *reader,
                 const struct samples_opts *opts, const struct stream_handler *handler,
                 struct stream_counts *counts, struct seam_error *err)
{
	struct stream_items s = { .opts = opts, .handler = handler };
	struct order_counts c = { 0 };
	int r = recording_stream(rec, reader);

	if (r >= 0)
		r = order_new(&s.order, NULL);
	if (r >= 0) {
		s.rec = s.first_pass.rec = *rec;
		r = stream_run(&s, err);
		order_counts(s.order, &c);
	}
	*counts = (struct stream_counts){ .late = c.late, .forced = c.forced };
	if (r < 0 && err && !err->code)
		seam_error_set(err, -r, NULL, SEAM_NO_OFFSET, NULL, "%s", strerror(-r));
	order_free(s.order);
	first_pass_free(&s.first_pass);
	members_free(&s.members);
	buf_free(&s.indices);
	unwound_free(s.unwound);
	tables_free(s.tables);
	return r;
}
