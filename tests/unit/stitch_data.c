// SPDX-License-Identifier: MIT
/*
 * stitch_data.c: real recordings of Linux 7.3.4 (tests/data). What perf and
 * a count of cookies say of each, and what the rules must make of it; a file and a stream agree.
 * SEAM_SHOW=1 prints the counts.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <seam/reader.h>
#include <seam/stitch.h>

#include "abi/record.h"
#include "perfdata/order.h"

struct recording {
	const char *name;
	/* From its README: all records as they lie there, duplicates and all. */
	uint64_t samples, deferred_samples, deferred_records, unanswered;
};

/* pipe_z: the README says 5568, 5566, 5023; perf script prints these. */
static const struct recording recordings[] = {
	{ "gcc_d", 7628, 7628, 6967, 1 },       { "sysshort_d", 1443, 117, 94, 0 },
	{ "z_single", 5686, 5686, 5019, 0 },    { "pipe_z", 5631, 5628, 5079, 0 },
	{ "multi_group", 3002, 3002, 2727, 0 }, { "uonly", 204, 204, 204, 0 },
	{ "attach_p", 317, 317, 310, 0 },       { "exec_chain", 2666, 2663, 2227, 2 },
	{ "hackbench_d", 3280, 1469, 875, 0 },  { "regs", 1476, 1476, 783, 0 },
	{ "kill9_z", 25319, 14986, 12629, 18 }, { "park_switch", 368, 249, 128, 101 },
};

static void path_of(const struct recording *rec, char *path, size_t n)
{
	snprintf(path, n, "%s/%s/perf.data", getenv("SEAM_TEST_DATA"), rec->name);
}

static struct seam_reader *open_recording(const struct recording *rec)
{
	struct seam_reader *reader;
	struct seam_error err = { 0 };
	char path[4096];

	path_of(rec, path, sizeof(path));
	if (seam_reader_open(&reader, path, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return reader;
}

/* One pass over the file; what cannot be decoded is none of stitch's business. */
static void each(struct seam_reader *reader, void (*take)(void *ctx, const struct seam_decoded *d),
                 void *ctx)
{
	struct seam_record record;
	struct seam_decoded d;

	while (seam_reader_next(reader, &record, NULL) > 0)
		if (record_decode(seam_reader_events(reader), &record, &d, NULL) >= 0)
			take(ctx, &d);
}

struct pass {
	struct seam_stitch *st;
	struct seam_stitch_counts counts;
	struct order *order;
	uint64_t crossed_or_earlier_user;
};

static void take_learn(void *ctx, const struct seam_decoded *d)
{
	struct pass *p = ctx;

	assert_int_equal(seam_stitch_learn(p->st, d, NULL), 0);
}

static void take_resolve(void *ctx, const struct seam_decoded *d)
{
	struct pass *p = ctx;
	struct seam_stitched out = { .sz = sizeof(out) };

	if (d->record->type != SEAM_RECORD_SAMPLE ||
	    seam_stitch_resolve(p->st, d, &p->counts, &out) == 0)
		return;
	for (uint64_t i = 0; i < out.user.n; i++) {
		assert_true(seam_u64s_at(&out.user, i) < SEAM_CONTEXT_MAX);
		assert_int_not_equal(seam_u64s_at(&out.user, i), out.cookie);
	}
	if (out.state == SEAM_STITCH_STITCHED)
		assert_true(out.deferred_time_ns >= out.sample.id.time_ns);
	if (out.state == SEAM_STITCH_STITCHED_EARLIER)
		assert_true(out.deferred_time_ns < out.sample.id.time_ns);
}

static struct seam_stitch_counts as_file(const struct recording *rec)
{
	struct pass p = { .counts.sz = sizeof(p.counts) };
	struct seam_stitch_counts all = { .sz = sizeof(all) };
	struct seam_reader *reader = open_recording(rec);

	assert_int_equal(seam_stitch_new(&p.st, NULL), 0);
	each(reader, take_learn, &p);
	assert_int_equal(seam_stitch_events(p.st, seam_reader_events(reader)), 0);
	assert_int_equal(seam_stitch_seal(p.st), 0);
	assert_int_equal(seam_reader_rewind(reader), 0);
	each(reader, take_resolve, &p);
	assert_int_equal(seam_stitch_counts(p.st, &all), 0);
	seam_stitch_counts_add(&all, &p.counts);
	seam_stitch_free(p.st);
	seam_reader_close(reader);
	return all;
}

static void take_order(void *ctx, const struct seam_decoded *d)
{
	struct pass *p = ctx;
	uint64_t time = d->id.has & SEAM_SAMPLE_TIME ? d->id.time_ns : ORDER_NO_TIME;

	if (d->record->type < SEAM_RECORD_USER_FIRST)
		assert_int_equal(order_push(p->order, time, d->record), 0);
}

static void drain(struct pass *p, uint64_t *last)
{
	struct seam_stitched out = { .sz = sizeof(out) };

	while (seam_stitch_next(p->st, &out) > 0) {
		assert_true(out.sample.id.time_ns >= *last);
		*last = out.sample.id.time_ns;
	}
}

static struct seam_stitch_counts as_stream(const struct recording *rec)
{
	struct order_opts opts = { .sort = true };
	struct pass p = { .counts.sz = sizeof(p.counts) };
	struct seam_reader *reader = open_recording(rec);
	struct seam_record record;
	struct seam_decoded d;
	uint64_t last = 0;

	assert_int_equal(seam_stitch_new(&p.st, NULL), 0);
	assert_int_equal(order_new(&p.order, &opts), 0);
	each(reader, take_order, &p);
	assert_int_equal(order_finish(p.order), 0);
	assert_int_equal(seam_stitch_events(p.st, seam_reader_events(reader)), 0);
	while (order_pop(p.order, &record, NULL) > 0) {
		assert_int_equal(record_decode(seam_reader_events(reader), &record, &d, NULL), 0);
		assert_int_equal(seam_stitch_feed(p.st, &d, NULL), 0);
		drain(&p, &last);
	}
	assert_int_equal(seam_stitch_finish(p.st), 0);
	drain(&p, &last);
	assert_int_equal(seam_stitch_counts(p.st, &p.counts), 0);
	order_free(p.order);
	seam_stitch_free(p.st);
	seam_reader_close(reader);
	return p.counts;
}

static void show(const char *name, const struct seam_stitch_counts *c)
{
	if (!getenv("SEAM_SHOW"))
		return;
	printf("%s: %llu samples", name, (unsigned long long)c->samples);
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		if (c->state[i])
			printf(", %llu %s", (unsigned long long)c->state[i],
			       seam_stitch_state_name(i));
	printf("; %llu records, %llu unclaimed, %llu + %llu duplicates, %llu tid mismatches, %llu "
	       "empty, %llu lost, %llu bytes\n",
	       (unsigned long long)c->deferred_records, (unsigned long long)c->unclaimed_records,
	       (unsigned long long)c->duplicate_samples, (unsigned long long)c->duplicate_records,
	       (unsigned long long)c->tid_mismatches, (unsigned long long)c->empty_answers,
	       (unsigned long long)c->lost, (unsigned long long)c->peak_bytes);
}

static void check(const struct recording *rec, const struct seam_stitch_counts *c)
{
	uint64_t answered = c->state[SEAM_STITCH_STITCHED] +
	                    c->state[SEAM_STITCH_STITCHED_EARLIER] +
	                    c->state[SEAM_STITCH_CROSSED_EXEC];

	assert_int_equal(c->samples + c->duplicate_samples, rec->samples);
	assert_int_equal(c->deferred_records + c->duplicate_records, rec->deferred_records);
	assert_in_range(c->deferred_samples, rec->deferred_samples - c->duplicate_samples,
	                rec->deferred_samples);
	assert_int_equal(c->deferred_samples - answered, rec->unanswered);
	assert_int_equal(c->tid_mismatches, 0);
}

static void test_recordings(void **state)
{
	for (size_t i = 0; i < sizeof(recordings) / sizeof(*recordings); i++) {
		struct seam_stitch_counts file = as_file(&recordings[i]);
		struct seam_stitch_counts stream = as_stream(&recordings[i]);

		show(recordings[i].name, &file);
		check(&recordings[i], &file);
		check(&recordings[i], &stream);
		assert_memory_equal(file.state, stream.state, sizeof(file.state));
		assert_int_equal(file.unclaimed_records, stream.unclaimed_records);
		assert_int_equal(file.duplicate_samples, stream.duplicate_samples);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_recordings) };

	if (!getenv("SEAM_TEST_DATA")) {
		fprintf(stderr, "SEAM_TEST_DATA names tests/data\n");
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
