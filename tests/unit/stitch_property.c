// SPDX-License-Identifier: MIT
/*
 * stitch_property.c: thousands of made-up machines (bench/scenario.h), their records in several
 * orders, through both ways of use. Demanded: every sample delivered once, in the state that the
 * machine knows to be true, with the very user stack; every count exact. The seed is printed on
 * failure: SEAM_SEED=N runs that one case, SEAM_CASES=N that many.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <seam/stitch.h>

#include "abi/record.h"
#include "../../bench/scenario.h"
#include "abi/record_at.h"

struct tape {
	struct buf bytes;
	struct scenario_record *records;
	size_t n, capacity;
	struct scenario *scenario;
	uint64_t seed;
};

#define DEMAND(t, condition, ...)                                                           \
	do {                                                                                \
		if (!(condition)) {                                                         \
			fprintf(stderr, "SEAM_SEED=%llu: ", (unsigned long long)(t)->seed); \
			fprintf(stderr, __VA_ARGS__);                                       \
			fprintf(stderr, "\n");                                              \
			fail();                                                             \
		}                                                                           \
	} while (0)

static unsigned some(uint64_t *random, unsigned most)
{
	/* Often nothing, sometimes a little, sometimes a lot. */
	switch (scenario_random(random) % 3) {
	case 0:
		return 0;
	case 1:
		return (unsigned)(scenario_random(random) % (most / 8 + 1));
	default:
		return (unsigned)(scenario_random(random) % most);
	}
}

static struct scenario_opts options(uint64_t seed)
{
	uint64_t r = ~seed;
	struct scenario_opts o = { .seed = seed };

	o.tasks = 1 + scenario_random(&r) % 12;
	o.cpus = 1 + scenario_random(&r) % 5;
	o.frames = 1 + scenario_random(&r) % 70;
	o.at_once = some(&r, 3000);
	o.kernel_only = some(&r, 3000);
	o.no_callchain = some(&r, 3000);
	o.user_mode = some(&r, 6000);
	o.again = some(&r, 6000);
	o.late = some(&r, 6000);
	o.lost = some(&r, 8000);
	o.exec = some(&r, 4000);
	o.exit = some(&r, 4000);
	o.foreign = some(&r, 4000);
	o.twin_sample = some(&r, 3000);
	o.twin_deferred = some(&r, 3000);
	o.wrong_task = some(&r, 4000);
	o.empty = some(&r, 3000);
	o.overlap = some(&r, 4000);
	o.loss = some(&r, 200);
	o.migrate = some(&r, 9000);
	o.no_output = scenario_random(&r) % 16 == 0;
	return o;
}

static void record_tape(struct tape *t, uint64_t seed)
{
	struct scenario_opts o = options(seed);
	uint64_t r = seed ^ 0x5eaa;
	size_t steps = 1 + scenario_random(&r) % 400, n;

	*t = (struct tape){ .seed = seed };
	assert_int_equal(scenario_new(&t->scenario, &o), 0);
	for (size_t i = 0; i < steps; i++) {
		if (t->n + SCENARIO_STEP > t->capacity) {
			t->capacity = (t->n + SCENARIO_STEP) * 2;
			t->records = realloc(t->records, t->capacity * sizeof(*t->records));
			assert_non_null(t->records);
		}
		assert_int_equal(scenario_step(t->scenario, &t->bytes, t->records + t->n, &n), 0);
		t->n += n;
	}
	scenario_end(t->scenario);
}

static void free_tape(struct tape *t)
{
	scenario_free(t->scenario);
	buf_free(&t->bytes);
	free(t->records);
}

/* The i-th record in the order given by `order`, at position `index`. */
static struct seam_record record_of(const struct tape *t, size_t i, size_t index)
{
	const unsigned char *p = t->bytes.bytes + t->records[i].offset;
	struct seam_record rec;

	DEMAND(t, record_at(p, t->bytes.n - t->records[i].offset, &rec), "record %zu", i);
	rec.index = index;
	rec.offset = t->records[i].offset;
	return rec;
}

static void decode(const struct tape *t, const struct seam_record *rec, struct seam_decoded *ret)
{
	struct seam_error err = { 0 };

	if (record_decode(scenario_events(t->scenario), rec, ret, &err) < 0)
		DEMAND(t, false, "%s", err.text);
}

static void check_sample(const struct tape *t, uint32_t sample, const struct seam_stitched *out)
{
	const struct scenario_truth *truth = scenario_truth(t->scenario, sample);
	uint32_t n = truth->chain ? scenario_frames(t->scenario, truth->chain) : 0;

	DEMAND(t, out->state == truth->state, "sample %u is %s, truth is %s", sample,
	       seam_stitch_state_name(out->state), seam_stitch_state_name(truth->state));
	if (out->state == SEAM_STITCH_IMMEDIATE) {
		assert_int_equal(out->user.n, 3);
		assert_int_equal(seam_u64s_at(&out->user, 2), 0x403000);
		return;
	}
	DEMAND(t, out->user.n == n, "sample %u: %llu user frames, truth is %u", sample,
	       (unsigned long long)out->user.n, n);
	for (uint32_t i = 0; i < n; i++)
		DEMAND(t, seam_u64s_at(&out->user, i) == scenario_frame(truth->chain, i),
		       "sample %u: a wrong user frame", sample);
	for (uint64_t i = 0; i < out->kernel.n; i++)
		assert_int_not_equal(seam_u64s_at(&out->kernel, i), out->cookie);
}

#define COUNT(t, got, field)                                                       \
	DEMAND(t, (got)->field == scenario_counts((t)->scenario)->field,           \
	       #field " is %llu, truth is %llu", (unsigned long long)(got)->field, \
	       (unsigned long long)scenario_counts((t)->scenario)->field)

static void check_counts(const struct tape *t, const struct seam_stitch_counts *got)
{
	COUNT(t, got, samples);
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		COUNT(t, got, state[i]);
	COUNT(t, got, deferred_samples);
	COUNT(t, got, deferred_records);
	COUNT(t, got, unclaimed_records);
	COUNT(t, got, duplicate_records);
	COUNT(t, got, duplicate_samples);
	COUNT(t, got, tid_mismatches);
	COUNT(t, got, empty_answers);
	COUNT(t, got, lost);
}

/* ---- a stream ---- */

struct expectation {
	uint32_t *samples; /* in the order fed, without duplicates */
	size_t n, at;
};

static void drain(const struct tape *t, struct seam_stitch *st, struct expectation *e, bool exact)
{
	struct seam_stitched out = { .sz = sizeof(out) };
	int r;

	while ((r = seam_stitch_next(st, &out)) > 0) {
		DEMAND(t, e->at < e->n, "more samples come out than went in");
		if (exact) {
			check_sample(t, e->samples[e->at], &out);
		} else if (out.state != SEAM_STITCH_IMMEDIATE && out.user.n) {
			/* With little memory samples may be let go, but never wrongly stitched. */
			uint32_t chain = scenario_truth(t->scenario, e->samples[e->at])->chain;

			DEMAND(t, chain && seam_u64s_at(&out.user, 0) == scenario_frame(chain, 0),
			       "sample %u: a wrong stitch", e->samples[e->at]);
		}
		e->at++;
	}
	DEMAND(t, r == 0, "next: %d", r);
}

static void run_stream(const struct tape *t, size_t max_bytes)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = max_bytes };
	struct seam_stitch_counts counts = { .sz = sizeof(counts) };
	struct expectation e = { 0 };
	struct seam_error err = { 0 };
	struct seam_decoded d;
	struct seam_stitch *st;

	e.samples = malloc((t->n + 1) * sizeof(*e.samples));
	assert_non_null(e.samples);
	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	assert_int_equal(seam_stitch_events(st, scenario_events(t->scenario)), 0);
	for (size_t i = 0; i < t->n; i++) {
		struct seam_record rec = record_of(t, i, i);
		uint32_t sample = t->records[i].sample;

		decode(t, &rec, &d);
		DEMAND(t, seam_stitch_feed(st, &d, &err) == 0, "feed: %s", err.text);
		if (sample != SCENARIO_NOT_A_SAMPLE && (!e.n || e.samples[e.n - 1] != sample))
			e.samples[e.n++] = sample;
		if (t->seed & 1 || i % 7 == 0 || max_bytes)
			drain(t, st, &e, !max_bytes);
	}
	assert_int_equal(seam_stitch_finish(st), 0);
	drain(t, st, &e, !max_bytes);
	DEMAND(t, e.at == e.n, "%zu samples of %zu came out", e.at, e.n);
	assert_int_equal(seam_stitch_counts(st, &counts), 0);
	if (!max_bytes) {
		check_counts(t, &counts);
	} else {
		COUNT(t, &counts, samples);
		COUNT(t, &counts, duplicate_samples);
		COUNT(t, &counts, deferred_samples);
	}
	seam_stitch_free(st);
	free(e.samples);
}

/* ---- a file ---- */

enum order {
	BY_TIME,
	BY_ROUNDS, /* ring by ring, as a recorder writes */
	SHUFFLED,
	ORDERS
};

static void order_rounds(const struct tape *t, size_t *order, uint64_t *random)
{
	size_t n = 0;

	for (size_t from = 0, to; from < t->n; from = to) {
		to = from + 1 + scenario_random(random) % 60;
		if (to > t->n)
			to = t->n;
		for (uint32_t cpu = 0; cpu < 5; cpu++)
			for (size_t i = from; i < to; i++)
				if (t->records[i].cpu == cpu)
					order[n++] = i;
	}
	assert_int_equal(n, t->n);
}

static void order_of(const struct tape *t, size_t *order, enum order how)
{
	uint64_t random = t->seed + how;

	for (size_t i = 0; i < t->n; i++)
		order[i] = i;
	if (how == BY_ROUNDS)
		order_rounds(t, order, &random);
	for (size_t i = t->n; how == SHUFFLED && i > 1; i--) {
		size_t k = scenario_random(&random) % i, spare = order[i - 1];

		order[i - 1] = order[k];
		order[k] = spare;
	}
}

static void run_file(const struct tape *t, enum order how)
{
	struct seam_stitch_counts counts = { .sz = sizeof(counts) }, all = { .sz = sizeof(all) };
	size_t *order = malloc((t->n + 1) * sizeof(*order));
	unsigned char *seen = calloc(t->n + 1, 1);
	unsigned char scratch[65536];
	struct seam_error err = { 0 };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_decoded d;
	struct seam_stitch *st;

	assert_true(order && seen);
	order_of(t, order, how);
	assert_int_equal(seam_stitch_new(&st, NULL), 0);
	assert_int_equal(seam_stitch_events(st, scenario_events(t->scenario)), 0);
	for (size_t i = 0; i < t->n; i++) {
		struct seam_record rec = record_of(t, order[i], i);

		if (t->seed % 3) { /* bytes that do not stay */
			memcpy(scratch, rec.bytes, rec.size);
			rec.bytes = scratch;
		} else {
			rec.stable = true;
		}
		decode(t, &rec, &d);
		DEMAND(t, seam_stitch_learn(st, &d, &err) == 0, "learn: %s", err.text);
	}
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t k = 0; k < t->n; k++) {
		size_t i = how == SHUFFLED ? t->n - 1 - k : k; /* any order will do */
		struct seam_record rec = record_of(t, order[i], i);
		uint32_t sample = t->records[order[i]].sample;
		int r;

		if (sample == SCENARIO_NOT_A_SAMPLE)
			continue;
		decode(t, &rec, &d);
		r = seam_stitch_resolve(st, &d, &counts, &out);
		DEMAND(t, r >= 0, "resolve: %d", r);
		if (!r)
			continue;
		DEMAND(t, !seen[sample], "sample %u is delivered twice", sample);
		seen[sample] = 1;
		check_sample(t, sample, &out);
	}
	for (uint32_t i = 0; i < scenario_samples(t->scenario); i++)
		DEMAND(t, seen[i], "sample %u is missing", i);
	assert_int_equal(seam_stitch_counts(st, &all), 0);
	seam_stitch_counts_add(&all, &counts);
	check_counts(t, &all);
	seam_stitch_free(st);
	free(order);
	free(seen);
}

/* ---- cases ---- */

static void run_case(uint64_t seed)
{
	struct tape t;

	record_tape(&t, seed);
	run_stream(&t, 0);
	if (seed % 5 == 0)
		run_stream(&t, 8000 + seed % 3000);
	for (int how = BY_TIME; how < ORDERS; how++)
		run_file(&t, how);
	free_tape(&t);
}

static void test_cases(void **state)
{
	const char *seed = getenv("SEAM_SEED"), *cases = getenv("SEAM_CASES");
	uint64_t n = cases ? strtoull(cases, NULL, 10) : 4000;

	if (seed) {
		run_case(strtoull(seed, NULL, 10));
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		run_case(i);
}

/* The cases must hold every state, else they would prove little. */
static void test_cases_hold_every_state(void **state)
{
	struct seam_stitch_counts sum = { .sz = sizeof(sum) };
	struct tape t;

	for (uint64_t i = 0; i < 200; i++) {
		record_tape(&t, i);
		seam_stitch_counts_add(&sum, scenario_counts(t.scenario));
		free_tape(&t);
	}
	for (int i = 0; i < SEAM_STITCH_STATES; i++)
		if (i != SEAM_STITCH_NO_COOKIE && i != SEAM_STITCH_GAVE_UP &&
		    i != SEAM_STITCH_STACK_COPY)
			assert_true(sum.state[i] > 50);
	assert_true(sum.tid_mismatches && sum.empty_answers && sum.duplicate_samples &&
	            sum.duplicate_records && sum.unclaimed_records && sum.lost);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases_hold_every_state),
		cmocka_unit_test(test_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
