// SPDX-License-Identifier: MIT
/*
 * fuzz_stitch.c: bytes as a sequence of records, in any order of time, through a file's stitcher, a
 * stream's, and a stream's with hardly any memory. Checks besides crashes: every sample fed comes
 * out once or is a counted duplicate; states add up; no marker and no cookie is ever a user
 * address; only a sample with a cookie is given another record's user part.
 *
 *	clang -fsanitize=fuzzer,address,undefined -D_GNU_SOURCE -Iinclude -Isrc fuzz/fuzz_stitch.c \
 *		src/stitch/[a-z]*.c src/abi/[a-z]*.c src/base/[a-z]*.c -lm -o fuzz_stitch
 *	./fuzz_stitch fuzz/corpus/stitch
 *
 * tests/unit/stitch_corpus.c runs the corpus as an ordinary test.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include <seam/stitch.h>

#include "abi/record.h"
#include "abi/record_at.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_demand(bool condition)
{
	if (!condition)
		abort();
}

/* The events of bench/scenario.c: chains, no chains, side-band with defer_output. */
static struct seam_events *fuzz_events(void)
{
	struct seam_attr a = { .size = 144,
		               .type = SEAM_TYPE_SOFTWARE,
		               .sample_type = SEAM_SAMPLE_IDENTIFIER | SEAM_SAMPLE_IP |
		                              SEAM_SAMPLE_TID | SEAM_SAMPLE_TIME | SEAM_SAMPLE_CPU |
		                              SEAM_SAMPLE_PERIOD,
		               .flags = SEAM_ATTR_SAMPLE_ID_ALL };
	struct seam_events *events;

	fuzz_demand(seam_events_new(&events) == 0);
	for (uint64_t id = 1; id <= 3; id++) {
		struct seam_attr event = a;

		if (id == 1)
			event.sample_type |= SEAM_SAMPLE_CALLCHAIN;
		if (id == 3)
			event.flags |= SEAM_ATTR_DEFER_OUTPUT | SEAM_ATTR_TASK;
		fuzz_demand(seam_events_add(events, &event, "event", &id, 1, NULL) >= 0);
	}
	return events;
}

struct fuzz_walk {
	const uint8_t *data;
	size_t size, at;
	uint64_t index;
	struct seam_record record;
	struct seam_decoded d;
};

/* The next record that decodes. */
static bool fuzz_next(struct fuzz_walk *w, const struct seam_events *events)
{
	while (record_at(w->data + w->at, w->size - w->at, &w->record)) {
		w->record.offset = w->at;
		w->record.index = w->index++;
		w->record.stable = true;
		w->at += w->record.size;
		if (record_decode(events, &w->record, &w->d, NULL) >= 0)
			return true;
	}
	return false;
}

static void fuzz_check(const struct seam_stitched *out)
{
	fuzz_demand((unsigned)out->state < SEAM_STITCH_STATES);
	for (uint64_t i = 0; i < out->user.n; i++)
		fuzz_demand(seam_u64s_at(&out->user, i) < SEAM_CONTEXT_MAX);
	for (uint64_t i = 0; i < out->kernel.n; i++)
		fuzz_demand(seam_u64s_at(&out->kernel, i) != SEAM_CONTEXT_USER_DEFERRED);
	if (out->user.n)
		fuzz_demand(out->state == SEAM_STITCH_IMMEDIATE ||
		            (out->cookie && (out->state == SEAM_STITCH_STITCHED ||
		                             out->state == SEAM_STITCH_STITCHED_EARLIER)));
}

static void fuzz_sums(const struct seam_stitch_counts *c, uint64_t fed, uint64_t taken)
{
	uint64_t sum = 0;

	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		sum += c->state[i];
	fuzz_demand(sum == c->samples && taken == sum && sum + c->duplicate_samples == fed);
	fuzz_demand(c->unclaimed_records <= c->deferred_records);
}

static void fuzz_stream(const struct seam_events *events, const uint8_t *data, size_t size,
                        size_t max_bytes)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = max_bytes };
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct fuzz_walk w = { .data = data, .size = size };
	uint64_t fed = 0, taken = 0;
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;

	fuzz_demand(seam_stitch_new(&st, &opts) == 0);
	fuzz_demand(seam_stitch_events(st, events) == 0);
	while (fuzz_next(&w, events)) {
		fuzz_demand(seam_stitch_feed(st, &w.d, NULL) == 0);
		fed += w.record.type == SEAM_RECORD_SAMPLE;
		for (; seam_stitch_next(st, &out) > 0; taken++)
			fuzz_check(&out);
	}
	fuzz_demand(seam_stitch_finish(st) == 0);
	for (; seam_stitch_next(st, &out) > 0; taken++)
		fuzz_check(&out);
	fuzz_demand(seam_stitch_counts(st, &c) == 0);
	fuzz_sums(&c, fed, taken);
	seam_stitch_free(st);
}

static void fuzz_file(const struct seam_events *events, const uint8_t *data, size_t size)
{
	struct seam_stitch_counts c = { .sz = sizeof(c) }, all = { .sz = sizeof(all) };
	struct fuzz_walk w = { .data = data, .size = size };
	uint64_t fed = 0, taken = 0;
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;

	fuzz_demand(seam_stitch_new(&st, NULL) == 0);
	fuzz_demand(seam_stitch_events(st, events) == 0);
	while (fuzz_next(&w, events))
		fuzz_demand(seam_stitch_learn(st, &w.d, NULL) == 0);
	fuzz_demand(seam_stitch_seal(st) == 0);
	w = (struct fuzz_walk){ .data = data, .size = size };
	while (fuzz_next(&w, events)) {
		if (w.record.type != SEAM_RECORD_SAMPLE)
			continue;
		fed++;
		if (seam_stitch_resolve(st, &w.d, &c, &out) > 0) {
			taken++;
			fuzz_check(&out);
		}
	}
	fuzz_demand(seam_stitch_counts(st, &all) == 0);
	seam_stitch_counts_add(&all, &c);
	fuzz_sums(&all, fed, taken);
	seam_stitch_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct seam_events *events = fuzz_events();

	fuzz_file(events, data, size);
	fuzz_stream(events, data, size, 0);
	fuzz_stream(events, data, size, 3000);
	seam_events_free(events);
	return 0;
}
