// SPDX-License-Identifier: MIT
/*
 * base_relay.c: a thread takes all things once, in their order, in batches; who gives may go on at
 * once, waits when all places are taken, and sees after relay_settle what the thread did.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "base/relay.h"

struct taken {
	uint64_t n, sum, batches;
	uint64_t slow; /* every so many batches it sleeps; 0: never */
	int wrong;
};

static void take(void *ctx, void *things, size_t n)
{
	struct taken *t = ctx;
	const uint64_t *thing = things;

	t->wrong |= !n || n > RELAY_BATCH;
	for (size_t i = 0; i < n; i++) {
		t->wrong |= thing[i] != t->n++;
		t->sum += thing[i];
	}
	if (t->slow && !(++t->batches % t->slow))
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void give(struct relay *r, uint64_t from, uint64_t n)
{
	for (uint64_t i = from; i < from + n; i++)
		*(uint64_t *)relay_next(r, i % 3 * 700) = i;
}

static void all_in_order(void **state)
{
	/* Few, a batch, one more, all places, and many times all places. */
	static const uint64_t counts[] = { 0,
		                           1,
		                           RELAY_BATCH,
		                           RELAY_BATCH + 1,
		                           RELAY_BATCH * RELAY_BATCHES,
		                           RELAY_BATCH * RELAY_BATCHES + 1,
		                           RELAY_BATCH * RELAY_BATCHES * 20 + 7 };

	(void)state;
	for (uint64_t slow = 0; slow < 40; slow += 13) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct taken t = { .slow = slow };
			struct relay r;

			assert_int_equal(relay_start(&r, sizeof(uint64_t), take, &t), 0);
			give(&r, 0, counts[i]);
			relay_end(&r);
			assert_false(r.started);
			assert_int_equal(t.n, counts[i]);
			assert_int_equal(t.sum, counts[i] ? counts[i] * (counts[i] - 1) / 2 : 0);
			assert_int_equal(t.wrong, 0);
		}
	}
}

/* A thread begins when things are many, and never again once one came that does not last. */
static void begins_when_many(void **state)
{
	struct taken t = { 0 };
	struct relay r = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 2 * RELAY_FROM; i++)
		assert_false(relay_takes(&r, true, sizeof(uint64_t), take, &t)); /* not wanted */
	r.wanted = true;
	for (uint32_t i = 0; i < RELAY_FROM; i++)
		assert_false(relay_takes(&r, true, sizeof(uint64_t), take, &t));
	for (uint64_t i = 0; i < 700; i++) {
		assert_true(relay_takes(&r, true, sizeof(uint64_t), take, &t));
		give(&r, i, 1);
	}
	assert_false(relay_takes(&r, false, sizeof(uint64_t), take, &t));
	assert_false(r.started);
	assert_int_equal(t.n, 700);
	assert_int_equal(t.wrong, 0);
	for (uint32_t i = 0; i < 2 * RELAY_FROM; i++)
		assert_false(relay_takes(&r, true, sizeof(uint64_t), take, &t));
}

static void settled_between(void **state)
{
	struct taken t = { 0 };
	struct relay r;
	uint64_t n = 0;

	(void)state;
	assert_int_equal(relay_start(&r, sizeof(uint64_t), take, &t), 0);
	relay_settle(&r); /* nothing was given */
	for (uint64_t more = 0; more < 700; more++) {
		give(&r, n, more);
		n += more;
		relay_settle(&r);
		assert_int_equal(t.n, n);
	}
	relay_end(&r);
	assert_int_equal(t.wrong, 0);
}

static void never_started(void **state)
{
	struct relay r = { 0 };

	(void)state;
	relay_settle(&r);
	relay_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_in_order),
		cmocka_unit_test(begins_when_many),
		cmocka_unit_test(settled_between),
		cmocka_unit_test(never_started),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
