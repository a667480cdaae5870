// SPDX-License-Identifier: MIT
// fleet_answer.c: of an answer it is known whether counts of its windows are of other samples, too.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fleet/answer.h"
#include "own_store.h"

#define SECOND 1000000000ull

/* Puts a window with a sample of each of two services. */
static void put(void)
{
	struct labels labels[2] = { 0 };
	const uint32_t series[] = { 0, 1 };
	struct profile *p;
	struct store_window w = { .instance = "one",
		                  .from_ns = 1000 * SECOND,
		                  .to_ns = 1010 * SECOND,
		                  .series = labels,
		                  .row_series = series,
		                  .n_series = 2 };

	assert_int_equal(labels_set(&labels[0], "service", "a"), 0);
	assert_int_equal(labels_set(&labels[1], "service", "b"), 0);
	assert_int_equal(profile_new(&p, 0), 0);
	assert_int_equal(load_states(p), 0);
	for (uint32_t i = 0; i < 2; i++) {
		const struct profile_key key = {
			.event = profile_event(p, "cpu-clock"),
			.task = profile_task(p, profile_string(p, i ? "a" : "b"), 0, 0),
			.node = PROFILE_ROOT,
		};

		assert_int_equal(profile_add(p, &key, 1, 1), 0);
	}
	w.profile = p;
	assert_int_equal(store_put(own_store, &w, NULL), 1);
	profile_free(p);
	labels_free(&labels[0]);
	labels_free(&labels[1]);
}

/* Whether windows have more than what a query's answer is made of. */
static bool of_others(const struct store_query *q, uint64_t taken)
{
	struct answer a = { 0 };
	bool others;

	assert_int_equal(answer_load(&a, own_store, q, 0, NULL), 0);
	assert_int_equal(a.load.taken, taken);
	others = a.load.of_others;
	answer_free(&a);
	return others;
}

static void some_series_are_not_all(void **state)
{
	struct labels_filter f = { 0 };
	struct store_query q = { .to_ns = 2000 * SECOND };
	size_t at;

	put();
	assert_false(of_others(&q, 2));
	assert_int_equal(labels_filter_parse(&f, "service=a", &at), 0);
	q.where = &f;
	assert_true(of_others(&q, 1));
	labels_filter_free(&f);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_series_are_not_all),
	};
	int r = own_store_open();

	return r ? r : own_store_close(cmocka_run_group_tests(tests, NULL, NULL));
}
