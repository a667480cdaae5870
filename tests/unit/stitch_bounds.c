// SPDX-License-Identifier: MIT
/*
 * stitch_bounds.c: what the truth table (stitch.c) cannot say: byte orders, duplicates, records
 * without times, the memory of long streams, threads, misuse, names.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "abi/record.h"
#include "stitch/rules.h"
#include "stitch_tape.h"

/* One tape, told to a stream and to a file. */
struct both {
	struct tape t;
	struct seam_stitch *stream, *file;
};

static void both_make(struct both *b, const struct step *steps)
{
	make_tape(&b->t, steps, WITH_OUTPUT);
	b->stream = new_stitch(&b->t, WITH_OUTPUT);
	b->file = new_stitch(&b->t, WITH_OUTPUT);
}

/* All of it; the file is sealed behind it. */
static void both_feed(struct both *b)
{
	for (size_t i = 0; i < b->t.n; i++) {
		b->t.records[i].index = i;
		assert_int_equal(seam_stitch_feed(b->stream, &b->t.decoded[i], NULL), 0);
		assert_int_equal(seam_stitch_learn(b->file, &b->t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(b->file), 0);
}

static void both_free(struct both *b)
{
	seam_stitch_free(b->stream);
	seam_stitch_free(b->file);
	free_tape(&b->t);
}

/* Turns the words at p round, as a file of the other byte order has them. */
static void turn(struct seam_u64s *words)
{
	for (uint64_t i = 0; i < words->n; i++) {
		uint64_t v = __builtin_bswap64(seam_u64s_at(words, i));

		memcpy((unsigned char *)words->bytes + i * 8, &v, 8);
	}
	words->swap = true;
}

static void test_other_byte_order(void **state)
{
	const struct row row = { "other byte order",
		                 .steps = { { KERNEL, 10, C1, 7, 7, STITCHED, 0xa },
		                            { ANSWER, 20, C1, 7, 7, 0, 0xa } } };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct both b;

	both_make(&b, row.steps);
	turn(&b.t.decoded[0].sample.callchain);
	turn(&b.t.decoded[1].deferred.ips);
	both_feed(&b);
	assert_int_equal(seam_stitch_next(b.stream, &out), 1);
	check(&row, "stream", 0, &out, true);
	assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[0], NULL, &out), 1);
	check(&row, "file", 0, &out, false);
	both_free(&b);
}

/* Equal samples stand for themselves, of whatever kind, but where the kernel can have written only
 * one of them. */
static void test_equal_samples(void **state)
{
	static const enum kind kinds[] = {
		KERNEL, AT_ONCE, NO_USER, CUT, NULL_COOKIE, PLAIN, BARE
	};
	struct seam_stitch_counts c, mine;
	struct seam_stitched out = { .sz = sizeof(out) };

	(void)state;
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		struct step s = { kinds[k], 10, 0, 7, 7 };
		struct step steps[12] = { s, s, s };
		struct both b;

		both_make(&b, steps);
		both_feed(&b);
		c = mine = (struct seam_stitch_counts){ .sz = sizeof(c) };
		assert_int_equal(seam_stitch_finish(b.stream), 0);
		assert_int_equal(seam_stitch_counts(b.stream, &c), 0);
		for (size_t i = 0; i < 3; i++)
			assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[i], &mine, &out),
			                 1);
		assert_int_equal(c.samples, 3);
		assert_int_equal(mine.samples, 3);
		assert_int_equal(c.duplicate_samples + mine.duplicate_samples, 0);
		both_free(&b);
	}
}

/* A deferred one is the only one of its event, entry and moment: but for counts that grow by many
 * periods at once. */
static void test_copies(void **state)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		bool told;
	} events[] = { { SEAM_TYPE_SOFTWARE, 0, true },   { SEAM_TYPE_SOFTWARE, 1, true },
		       { SEAM_TYPE_SOFTWARE, 2, false },  { SEAM_TYPE_HARDWARE, 0, true },
		       { SEAM_TYPE_HW_CACHE, 3, true },   { SEAM_TYPE_RAW, 0xc0, true },
		       { SEAM_TYPE_TRACEPOINT, 1, false } };
	const struct step one = { KERNEL, 10, C1, 7, 7 }, answer = { ANSWER, 20, C1, 7, 7, 0, 0xa };
	const struct step steps[12] = { one, one, answer };
	struct seam_stitched out = { .sz = sizeof(out) };

	(void)state;
	for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++) {
		struct seam_stitch_counts c = { .sz = sizeof(c) }, mine = c;
		struct seam_event event;
		struct both b;

		both_make(&b, steps);
		event = *b.t.decoded[0].event;
		event.attr.type = events[k].type;
		event.attr.config = events[k].config;
		b.t.decoded[0].event = b.t.decoded[1].event = &event;
		both_feed(&b);
		assert_int_equal(seam_stitch_finish(b.stream), 0);
		assert_int_equal(seam_stitch_counts(b.stream, &c), 0);
		assert_int_equal(c.duplicate_samples, events[k].told);
		assert_int_equal(c.samples, 2 - events[k].told);
		assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[0], &mine, &out), 1);
		assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[1], &mine, &out),
		                 !events[k].told);
		assert_int_equal(mine.duplicate_samples, events[k].told);
		both_free(&b);
	}
}

/* A sample that was written again counts once; two that differ in nothing but their address
 * twice. */
static void test_duplicates(void **state)
{
	const struct step steps[] = { { USER, 10, C1, 7, 7 },
		                      { USER, 10, C1, 7, 7 },
		                      { USER, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { ANSWER, 21, C1, 7, 7, 0, 0xb },
		                      { END } };
	struct seam_stitch_counts c = { .sz = sizeof(c) }, mine = { .sz = sizeof(mine) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct both b;
	uint64_t ip = 0x99;

	both_make(&b, steps);
	/* Behind header and IDENTIFIER. */
	memcpy((unsigned char *)b.t.records[1].bytes + 16, &ip, 8);
	both_feed(&b);
	assert_int_equal(seam_stitch_finish(b.stream), 0);
	assert_int_equal(seam_stitch_counts(b.stream, &c), 0);
	assert_int_equal(c.samples, 2);
	assert_int_equal(c.state[STITCHED], 2);
	assert_int_equal(c.duplicate_samples, 1);
	assert_int_equal(c.deferred_records, 1);
	assert_int_equal(c.duplicate_records, 2);
	assert_int_equal(c.deferred_samples, 2);

	assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[2], &mine, &out), 0);
	assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[1], &mine, &out), 1);
	assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[0], &mine, &out), 1);
	assert_int_equal(seam_u64s_at(&out.user, 0), 0xa); /* the first of the deferred records */
	assert_int_equal(mine.duplicate_samples, 1);
	assert_int_equal(mine.samples, 2);
	assert_int_equal(seam_stitch_counts(b.file, &c), 0);
	assert_int_equal(c.duplicate_records, 2);
	assert_int_equal(c.deferred_records, 1);
	both_free(&b);
}

/* Without times two equal samples may be two, and positions tell the order. */
static void test_without_times(void **state)
{
	const struct step steps[] = { { KERNEL, 0, C1, 7, 7 },
		                      { KERNEL, 0, C1, 7, 7 },
		                      { ANSWER, 0, C1, 7, 7, 0, 0xa },
		                      { KERNEL, 0, C1, 7, 7 },
		                      { END } };
	const enum seam_stitch_state expected[] = { STITCHED, STITCHED, 0, EARLIER };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct both b;

	both_make(&b, steps);
	for (size_t i = 0; i < b.t.n; i++) {
		b.t.decoded[i].id.has &= ~SEAM_SAMPLE_TIME;
		b.t.decoded[i].sample.id.has &= ~SEAM_SAMPLE_TIME;
	}
	both_feed(&b);
	for (size_t i = 0; i < b.t.n; i++) {
		if (i == 2)
			continue;
		assert_int_equal(seam_stitch_next(b.stream, &out), 1);
		assert_int_equal(out.state, expected[i]);
		assert_int_equal(out.deferred_time_ns, 0);
		assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[i], NULL, &out), 1);
		assert_int_equal(out.state, expected[i]);
	}
	both_free(&b);
}

/* What is said in the bits of a deferred record's header reaches its samples, as their own does. */
static void test_misc(void **state)
{
	const struct step steps[] = { { KERNEL, 1, C1, 7, 7 },
		                      { ANSWER, 2, C1, 7, 7, 0, 0xa },
		                      { AT_ONCE, 3, 0, 7, 7 },
		                      { END } };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct both b;

	both_make(&b, steps);
	b.t.records[0].misc |= 13u << 4;
	b.t.records[1].misc |= 5u << 4;
	both_feed(&b);
	for (size_t i = 0; i < b.t.n; i += 2) {
		for (int file = 0; file < 2; file++) {
			int r = file ? seam_stitch_resolve(b.file, &b.t.decoded[i], NULL, &out)
			             : seam_stitch_next(b.stream, &out);

			assert_int_equal(r, 1);
			assert_int_equal(out.misc, b.t.records[i].misc);
			assert_int_equal(out.deferred_misc, i ? 0 : b.t.records[1].misc);
		}
	}
	both_free(&b);
}

/* A marker that comes again says whose the next addresses are, and ends nothing. */
static void test_markers_again(void **state)
{
	const uint64_t k = SEAM_CONTEXT_KERNEL, u = SEAM_CONTEXT_USER,
	               d = SEAM_CONTEXT_USER_DEFERRED;
	const struct {
		uint16_t misc;
		uint64_t n, chain[8];
		enum rules_kind kind;
		uint64_t kernel, user, first; /* words of each, and the user part's first */
	} rows[] = {
		{ SEAM_MISC_USER, 6, { u, 1, u, 2, u, 3 }, RULES_AT_ONCE, 4, 1, 3 },
		{ SEAM_MISC_USER, 5, { u, u, 1, 2, u }, RULES_AT_ONCE, 0, 2, 1 },
		{ SEAM_MISC_KERNEL, 7, { k, 1, k, 2, u, u, 3 }, RULES_AT_ONCE, 4, 1, 3 },
		{ SEAM_MISC_KERNEL, 8, { k, 1, u, 3, k, 2, u, 4 }, RULES_AT_ONCE, 6, 1, 4 },
		{ SEAM_MISC_KERNEL, 6, { k, 1, u, 3, k, 2 }, RULES_AT_ONCE, 6, 0, 0 },
		{ SEAM_MISC_KERNEL, 6, { k, 1, u, u, d, 5 }, RULES_DEFERRED, 4, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct seam_sample sample = { .callchain = encode_words(rows[i].chain, rows[i].n) };
		struct rules_parts parts;

		rules_split(&sample, rows[i].misc, &parts);
		assert_int_equal(parts.kind, rows[i].kind);
		assert_int_equal(parts.kernel.n, rows[i].kernel);
		assert_int_equal(parts.user.n, rows[i].user);
		if (rows[i].user)
			assert_int_equal(seam_u64s_at(&parts.user, 0), rows[i].first);
	}
}

/* A deferred record that is no deferred record: markers inside are cut, they are not addresses. */
static void test_markers_in_an_deferred(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { END } };
	const uint64_t marker = SEAM_CONTEXT_USER_DEFERRED;
	struct seam_stitched out = { .sz = sizeof(out) };
	struct both b;

	both_make(&b, steps);
	memcpy((unsigned char *)b.t.decoded[1].deferred.ips.bytes + 8, &marker, 8);
	both_feed(&b);
	assert_int_equal(seam_stitch_next(b.stream, &out), 1);
	assert_int_equal(out.user.n, 1);
	assert_int_equal(seam_stitch_resolve(b.file, &b.t.decoded[0], NULL, &out), 1);
	assert_int_equal(out.user.n, 1);
	both_free(&b);
}

/* ---- long streams ---- */

/* One sample or deferred record after the other, without end. */
struct source {
	struct seam_events *events;
	struct buf bytes;
	struct seam_record record;
	struct seam_decoded decoded;
	uint64_t index;
};

static const struct seam_decoded *source_next(struct source *s, struct step step)
{
	buf_clear(&s->bytes);
	assert_int_equal(put(&s->bytes, s->events, &step), 0);
	s->record = (struct seam_record){ .bytes = s->bytes.bytes,
		                          .size = (uint32_t)s->bytes.n,
		                          .index = s->index++ };
	memcpy(&s->record.type, s->bytes.bytes, 4);
	memcpy(&s->record.misc, s->bytes.bytes + 4, 2);
	assert_int_equal(record_decode(s->events, &s->record, &s->decoded, NULL), 0);
	return &s->decoded;
}

static uint64_t cookie_of(uint64_t i)
{
	return (2 * i + 1) << 32 | (i % 4 + 1);
}

/* The memory of a stream does not grow with its length: some answers lost, some foreign, tasks that
 * come and go without a word. */
static void test_endless_stream(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 16 << 20 };
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	uint64_t peak_early = 0, taken = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	assert_int_equal(seam_stitch_events(st, s.events), 0);
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t time = 1000 + i * 20000;
		uint32_t tid = 10 + i % 50;
		struct step sample = { KERNEL, time, cookie_of(i), tid, tid };
		struct step answer = { ANSWER, time + 10, cookie_of(i), tid, tid, 0, 0xa };

		assert_int_equal(seam_stitch_feed(st, source_next(&s, sample), NULL), 0);
		if (i % 1000 == 7) /* foreign, of a task that is never seen again */
			answer.tid = 100000 + (uint32_t)i;
		if (i % 500 != 3)
			assert_int_equal(seam_stitch_feed(st, source_next(&s, answer), NULL), 0);
		for (; seam_stitch_next(st, &out) > 0; taken++)
			assert_int_not_equal(out.state, SEAM_STITCH_GAVE_UP);
		if (i == 40000) {
			assert_int_equal(seam_stitch_counts(st, &c), 0);
			peak_early = c.peak_bytes;
		}
	}
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_true(c.peak_bytes < peak_early * 2);
	assert_true(c.peak_bytes < 2 * opts.max_bytes + (2 << 20));
	assert_true(taken > 190000);
	assert_int_equal(seam_stitch_finish(st), 0);
	while (seam_stitch_next(st, &out) > 0)
		taken++;
	assert_int_equal(taken, 200000);
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_int_equal(c.state[RECORD_LOST] + c.state[STITCHED] + c.state[STILL], 200000);
	/* 400 without a deferred record, 200 answered by a stranger; the last of a task may be
	 * either. */
	assert_in_range(c.state[RECORD_LOST] + c.state[STILL], 600, 600);
	assert_int_equal(c.tid_mismatches, 200);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* At the limit the oldest go first, each sample still comes out once and in order. */
static void test_memory_limit(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 200000 };
	struct seam_stitch_counts c = { .sz = sizeof(c) };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	uint64_t taken = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	assert_int_equal(seam_stitch_events(st, s.events), 0);
	for (uint64_t i = 0; i < 20000; i++) { /* each its own task, asleep for ever */
		struct step sample = { KERNEL, 1000 + i, cookie_of(i), 10 + (uint32_t)i,
			               10 + (uint32_t)i };

		assert_int_equal(seam_stitch_feed(st, source_next(&s, sample), NULL), 0);
		for (; seam_stitch_next(st, &out) > 0; taken++) {
			assert_int_equal(out.state, SEAM_STITCH_GAVE_UP);
			assert_int_equal(out.sample.id.time_ns, 1000 + taken);
		}
	}
	assert_true(taken > 19000);
	assert_int_equal(seam_stitch_finish(st), 0);
	for (; seam_stitch_next(st, &out) > 0; taken++)
		assert_int_equal(out.state, STILL);
	assert_int_equal(taken, 20000);
	assert_int_equal(seam_stitch_counts(st, &c), 0);
	assert_int_equal(c.state[SEAM_STITCH_GAVE_UP] + c.state[STILL], 20000);
	assert_true(c.peak_bytes < 2000000);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* A caller that never takes samples is told to, and loses none. */
static void test_caller_that_does_not_take(void **state)
{
	struct seam_stitch_opts opts = { .sz = sizeof(opts), .max_bytes = 50000 };
	struct source s = { .events = new_events(WITH_OUTPUT) };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	uint64_t fed = 0, taken = 0;
	int r = 0;

	assert_int_equal(seam_stitch_new(&st, &opts), 0);
	while (r == 0 && fed < 10000) {
		struct step sample = { AT_ONCE, 1000 + fed, 0, 7, 7 };

		r = seam_stitch_feed(st, source_next(&s, sample), NULL);
		fed += r == 0;
	}
	assert_int_equal(r, -EAGAIN);
	while (seam_stitch_next(st, &out) > 0)
		taken++;
	assert_int_equal(taken, fed);
	assert_int_equal(seam_stitch_feed(st, &s.decoded, NULL), 0);
	seam_stitch_free(st);
	seam_events_free(s.events);
	buf_free(&s.bytes);
}

/* ---- threads, misuse, names ---- */

struct part {
	pthread_t thread;
	const struct seam_stitch *st;
	const struct tape *tape;
	struct seam_stitch_counts counts;
};

static void *resolve_part(void *arg)
{
	struct part *p = arg;
	struct seam_stitched out = { .sz = sizeof(out) };

	for (int i = 0; i < 20000; i++)
		seam_stitch_resolve(p->st, &p->tape->decoded[i % 3], &p->counts, &out);
	return NULL;
}

static void test_threads_share_a_sealed_stitcher(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 }, { KERNEL, 11, C2, 8, 8 },
		                      { KERNEL, 30, C1, 7, 7 }, { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { EXIT, 40, 0, 8, 8 },    { END } };
	struct part parts[4];
	struct seam_stitch *st;
	struct tape t;

	make_tape(&t, steps, WITH_OUTPUT);
	st = new_stitch(&t, WITH_OUTPUT);
	for (size_t i = 0; i < t.n; i++) {
		t.records[i].index = i;
		assert_int_equal(seam_stitch_learn(st, &t.decoded[i], NULL), 0);
	}
	assert_int_equal(seam_stitch_seal(st), 0);
	for (size_t i = 0; i < 4; i++) {
		parts[i] =
		        (struct part){ .st = st, .tape = &t, .counts.sz = sizeof(parts->counts) };
		assert_int_equal(pthread_create(&parts[i].thread, NULL, resolve_part, &parts[i]),
		                 0);
	}
	for (size_t i = 0; i < 4; i++) {
		pthread_join(parts[i].thread, NULL);
		assert_int_equal(parts[i].counts.samples, 20000);
		assert_int_equal(parts[i].counts.state[STITCHED], 6667);
		assert_int_equal(parts[i].counts.state[EXITED], 6667);
		assert_int_equal(parts[i].counts.state[EARLIER], 6666);
	}
	seam_stitch_free(st);
	free_tape(&t);
}

static void test_misuse(void **state)
{
	const struct step steps[] = { { KERNEL, 10, C1, 7, 7 },
		                      { ANSWER, 20, C1, 7, 7, 0, 0xa },
		                      { END } };
	struct seam_stitch_counts c = { 0 };
	struct seam_error err = { 0 };
	struct seam_stitched out = { .sz = sizeof(out) };
	struct seam_stitch *st;
	struct seam_decoded d;
	struct tape t;
	uint64_t elsewhere[4] = { 0 };

	make_tape(&t, steps, WITH_OUTPUT);
	st = new_stitch(&t, WITH_OUTPUT);
	assert_int_equal(seam_stitch_counts(st, &c), -EINVAL);
	assert_int_equal(seam_stitch_resolve(st, &t.decoded[0], NULL, &out), -EINVAL);
	assert_int_equal(seam_stitch_next(st, &out), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), 0);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[0], &err), -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_int_equal(seam_stitch_finish(st), -EINVAL);
	assert_int_equal(seam_stitch_seal(st), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), -EINVAL);
	assert_int_equal(seam_stitch_resolve(st, &t.decoded[1], NULL, &out), -EINVAL);
	seam_stitch_free(st);

	st = new_stitch(&t, WITH_OUTPUT);
	d = t.decoded[0];
	d.sample.callchain = encode_words(elsewhere, 4); /* not in its record: would dangle */
	assert_int_equal(seam_stitch_feed(st, &d, &err), -EINVAL);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[0], NULL), 0);
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], NULL), -EINVAL);
	assert_int_equal(seam_stitch_seal(st), -EINVAL);
	assert_int_equal(seam_stitch_finish(st), 0);
	assert_int_equal(seam_stitch_feed(st, &t.decoded[1], NULL), -EINVAL);
	assert_int_equal(seam_stitch_next(st, &out), 1);
	assert_int_equal(seam_stitch_next(st, &out), 0);
	seam_stitch_free(st);

	st = new_stitch(&t, WITH_OUTPUT);
	t.records[0].index = 1ULL << 32;
	assert_int_equal(seam_stitch_learn(st, &t.decoded[0], &err), -EOVERFLOW);
	seam_stitch_free(st);
	seam_stitch_free(NULL);
	free_tape(&t);
}

static void test_state_names(void **state)
{
	for (int i = 0; i < SEAM_STITCH_STATES; i++) {
		const char *name = seam_stitch_state_name(i);

		assert_true(name[0] && seam_stitch_state_text(i)[0]);
		assert_string_not_equal(name, "unknown");
		for (int k = 0; k < i; k++)
			assert_string_not_equal(name, seam_stitch_state_name(k));
	}
	assert_string_equal(seam_stitch_state_name(SEAM_STITCH_STATES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_byte_order),
		cmocka_unit_test(test_equal_samples),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_duplicates),
		cmocka_unit_test(test_without_times),
		cmocka_unit_test(test_misc),
		cmocka_unit_test(test_markers_again),
		cmocka_unit_test(test_markers_in_an_deferred),
		cmocka_unit_test(test_endless_stream),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_caller_that_does_not_take),
		cmocka_unit_test(test_threads_share_a_sealed_stitcher),
		cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_state_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
