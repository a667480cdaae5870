// SPDX-License-Identifier: MIT
/*
 * live_same.c: the stack copies of one recording, unwound as a file is and as a recorder does,
 * sample by sample.
 *
 *	system_live_same FILE [THREADS]    FILE: by seam record --keep-stacks; prints one JSON
 *	                                   object, and the
 *	                                   first differences on stderr
 *
 * Both see the same bytes. The file's walks come from samples/ordered, which knows the whole past;
 * then the records go through recorder/live in the rounds in which they were written. Without
 * arguments: 77, there is nothing to compare.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seam/reader.h>

#include "abi/record.h"
#include "abi/record_at.h"
#include "base/buf.h"
#include "base/map.h"
#include "recorder/live.h"
#include "samples/samples.h"
#include "samples/walk_result.h"
#include "samples/unwound.h"

#define SHOWN 5

struct expected {
	bool walked;
	enum walk_end end;
	bool guessed;
	size_t at, n; /* in frames */
};

struct same {
	struct map by_sample; /* hash of time, tid, ip, period -> position + 1 in expected */
	struct buf expected;
	struct buf frames; /* u64 */
	uint64_t twins, samples, equal, in_exec, complete, frames_compared, differ;
};

/* A sample is found again by what stays the same; time and tid alone may stand for several
 * events. */
static uint64_t same_key(const struct seam_sample *s)
{
	uint64_t key[5] = { s->id.time_ns, s->id.tid, s->id.id, s->ip, s->period };

	return map_hash_bytes(key, sizeof(key), 1);
}

static int same_expect(void *ctx, const struct sample *sample, struct buf *out)
{
	const struct seam_u64s user = sample_user(sample);
	struct same *s = ctx;
	struct expected e = { .walked = sample->walk != NULL, .at = s->frames.n / 8 };
	uint64_t *slot;

	(void)out;
	if (sample->walk) {
		e.end = sample->walk->end;
		e.guessed = sample->walk->n_sure < sample->walk->n;
		/* A callchain cannot mark a guess: one that did not lead to the end is left out. */
		e.n = e.end == WALK_COMPLETE ? sample->walk->n : sample->walk->n_sure;
	}
	for (size_t i = 0; i < e.n; i++)
		buf_put_u64(&s->frames, seam_u64s_at(&user, i) & WALK_ADDRESS);
	slot = map_slot(&s->by_sample, same_key(&sample->decoded->sample), NULL);
	if (!slot || buf_put(&s->expected, &e, sizeof(e)) < 0)
		return -1;
	s->twins += *slot != 0;
	*slot = s->expected.n / sizeof(e);
	return 0;
}

/* The user words of a callchain: *at is the first. */
static uint64_t same_user(const struct seam_u64s *chain, uint64_t *at)
{
	uint64_t i = 0;

	while (i < chain->n && seam_u64s_at(chain, i) != SEAM_CONTEXT_USER)
		i++;
	*at = i + 1;
	return i < chain->n ? chain->n - i - 1 : 0;
}

static const char *same_difference(const struct same *s, const struct expected *e,
                                   const struct seam_decoded *d, const struct walk_result *o)
{
	const uint64_t *frames = (const uint64_t *)(const void *)s->frames.bytes + e->at;
	uint64_t at, n = same_user(&d->sample.callchain, &at);

	if (!e->walked)
		return o->kind == WALK_RESULT_WALKED ? "walked by the recorder only" : NULL;
	if (o->kind != WALK_RESULT_WALKED)
		return "walked in the file only";
	if (o->end != e->end)
		return "another end";
	if (o->guessed != e->guessed)
		return "another guess";
	if (n != e->n)
		return "another number of frames";
	for (uint64_t i = 0; i < n; i++)
		if (seam_u64s_at(&d->sample.callchain, at + i) != frames[i])
			return "another frame";
	return NULL;
}

static void same_sample(struct same *s, const struct seam_decoded *d)
{
	const struct expected *all = (const struct expected *)(const void *)s->expected.bytes, *e;
	const char *difference = "not in the file";
	struct walk_result o = { 0 };
	uint64_t position;

	s->samples++;
	walk_result_get(&d->event->attr, d->record->misc, &o);
	if (o.kind == WALK_RESULT_IN_EXEC) { /* the recorder leaves out what nobody can know */
		s->in_exec++;
		return;
	}
	if (map_get(&s->by_sample, same_key(&d->sample), &position)) {
		e = &all[position - 1];
		difference = same_difference(s, e, d, &o);
		s->complete += e->walked && e->end == WALK_COMPLETE;
		s->frames_compared += e->n;
	}
	if (!difference)
		s->equal++;
	else if (s->differ++ < SHOWN)
		fprintf(stderr, "tid %u at %" PRIu64 ": %s (%s)\n", d->id.tid, d->id.time_ns,
		        difference, walk_result_name(&o));
}

static int same_gather(void *ctx, const void *bytes, size_t n)
{
	return buf_put(ctx, bytes, n);
}

static int same_feed(struct live *live, struct seam_reader *reader, struct buf *out)
{
	struct seam_record record;
	int r = seam_reader_rewind(reader);

	while (r >= 0 && (r = seam_reader_next(reader, &record, NULL)) > 0) {
		if (record.type < SEAM_RECORD_USER_FIRST)
			r = live_write(live, record.bytes, record.size);
		else if (record.type == SEAM_RECORD_FINISHED_ROUND)
			r = live_round(live);
		if (r >= 0)
			r = live_collect(live, same_gather, out);
	}
	if (r >= 0)
		r = live_finish(live, LIVE_NO_LIMIT);
	return r < 0 ? r : live_collect(live, same_gather, out);
}

static int same_compare(struct same *s, const struct live *live, const struct buf *out)
{
	struct seam_record record;
	size_t at = 0;

	for (; record_at(out->bytes + at, out->n - at, &record); at += record.size) {
		struct seam_decoded d;

		if (record.type != SEAM_RECORD_SAMPLE)
			continue;
		if (record_decode(live_events(live), &record, &d, NULL) < 0)
			return -1;
		same_sample(s, &d);
	}
	return at == out->n ? 0 : -1;
}

static int same_run(struct same *s, struct seam_reader *reader, unsigned threads)
{
	struct live_opts opts = { .sz = sizeof(opts),
		                  .events = seam_reader_events(reader),
		                  .machine = unwound_machine("x86_64"),
		                  .threads = threads,
		                  .queue_bytes = (size_t)1 << 32,
		                  .renew_bytes = 1,
		                  .tables = { .sz = sizeof(opts.tables) } };
	const struct samples_opts in_order = { .sz = sizeof(in_order),
		                               .order = SAMPLES_BY_TIME,
		                               .needs = SAMPLES_COPIES | SAMPLES_RECORD };
	const struct samples_consumer consumer = { .sample = same_expect, .ctx = s };
	struct recording *rec;
	struct buf out = { 0 };
	struct live_counts c;
	struct live *live;
	int r = recording_open(&rec, reader, NULL, NULL);

	if (r < 0)
		return r;
	r = samples_each(rec, &in_order, &consumer, NULL);
	if (r >= 0)
		r = live_new(&live, &opts);
	if (r >= 0) {
		r = same_feed(live, reader, &out);
		live_count(live, &c);
		if (r >= 0)
			r = same_compare(s, live, &out);
		if (r >= 0 && c.not_unwound)
			r = -1;
		live_free(live);
	}
	buf_free(&out);
	recording_close(rec);
	return r;
}

int main(int argc, char **argv)
{
	struct seam_reader *reader;
	struct seam_error err = { 0 };
	struct same s = { 0 };
	int r;

	if (argc < 2)
		return 77;
	r = seam_reader_open(&reader, argv[1], NULL, &err);
	if (r >= 0) {
		r = same_run(&s, reader, argc > 2 ? (unsigned)atoi(argv[2]) : 1);
		seam_reader_close(reader);
	}
	printf("{\"expected\": %zu, \"samples\": %" PRIu64 ", \"equal\": %" PRIu64
	       ", \"differ\": %" PRIu64 ", \"in_exec\": %" PRIu64 ", \"complete\": %" PRIu64
	       ", \"frames\": %" PRIu64 ", \"twins\": %" PRIu64 "}\n",
	       s.expected.n / sizeof(struct expected), s.samples, s.equal, s.differ, s.in_exec,
	       s.complete, s.frames_compared, s.twins);
	map_free(&s.by_sample);
	buf_free(&s.expected);
	buf_free(&s.frames);
	if (r < 0)
		fprintf(stderr, "failed: %d %s\n", r, err.text);
	return r < 0;
}
