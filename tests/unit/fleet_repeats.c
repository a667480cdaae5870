// SPDX-License-Identifier: MIT
// fleet_repeats.c: a query of a store as several measurements: which hosts, which spans.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "aggregate/load.h"
#include "fleet/repeats.h"
#include "own_store.h"

#define SECOND 1000000000ull

/* Puts a window of 10 s with one sample of a host and version, which weighs what the host's first
 * letter is. */
static void put(const char *host, const char *version, uint64_t at_s)
{
	struct labels labels = { 0 };
	struct profile *p;
	struct profile_key key = { 0 };
	struct store_window w = { .instance = host,
		                  .from_ns = at_s * SECOND,
		                  .to_ns = (at_s + 10) * SECOND,
		                  .series = &labels,
		                  .n_series = 1 };

	labels_set(&labels, "host", host);
	labels_set(&labels, "version", version);
	assert_int_equal(profile_new(&p, 0), 0);
	assert_int_equal(load_states(p), 0);
	key.event = profile_event(p, "cpu-clock");
	key.task = profile_task(p, 0, 0, 0);
	key.node = PROFILE_ROOT;
	assert_int_equal(profile_add(p, &key, 1, (uint64_t)host[0]), 0);
	w.profile = p;
	assert_int_equal(store_put(own_store, &w, NULL), 1);
	profile_free(p);
	labels_free(&labels);
}

/* Reads what a filter lets through. */
static void load(struct repeats *r, const char *where, uint64_t from_s, uint64_t to_s, size_t most)
{
	struct labels_filter f = { 0 };
	const struct store_query q = { .from_ns = from_s * SECOND,
		                       .to_ns = to_s * SECOND,
		                       .where = &f };
	size_t at;

	assert_int_equal(labels_filter_parse(&f, where, &at), 0);
	assert_int_equal(repeats_load(r, own_store, &q, most, NULL), 0);
	labels_filter_free(&f);
}

/* Samples of a part, and what they weigh. */
static uint64_t sum(const struct repeats *r, size_t part, uint64_t *weight)
{
	uint64_t samples = 0;

	*weight = 0;
	for (size_t i = 0; i < profile_n_rows(r->at[part]); i++) {
		samples += profile_row_at(r->at[part], i)->samples;
		*weight += profile_row_at(r->at[part], i)->weight;
	}
	return samples;
}

static void hosts_are_repeats(void **state)
{
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct repeats r = { 0 };
	uint64_t weight, all = 0, samples = 0;
	unsigned seen = 0;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		put(hosts[i], "1", 1000);
	put("a", "2", 1010);
	load(&r, "version=1", 1000, 2000, 64);
	assert_true(r.by_host && r.n == 4);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(sum(&r, i, &weight), 1);
		seen |= 1u << (weight - 'a');
	}
	assert_int_equal(seen, 15);
	repeats_free(&r);
	/* More hosts than there may be runs: several are one, and none is lost or twice. */
	load(&r, "version=1", 1000, 2000, 3);
	assert_int_equal(r.n, 3);
	for (size_t i = 0; i < 3; i++) {
		samples += sum(&r, i, &weight);
		all += weight;
	}
	assert_int_equal(samples, 4);
	assert_int_equal(all, 'a' + 'b' + 'c' + 'd');
	repeats_free(&r);
	/* A filter of hosts holds. */
	load(&r, "version=1,host=a,host=b,host=c", 1000, 2000, 64);
	assert_int_equal(r.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(sum(&r, i, &weight), 1);
		assert_true(weight != 'd');
	}
	repeats_free(&r);
}

static void spans_are_repeats(void **state)
{
	struct repeats r = { 0 };
	uint64_t weight, samples = 0;

	(void)state;
	for (uint64_t at = 5000; at < 5300; at += 10)
		put("x", "3", at);
	load(&r, "version=3", 0, 9000, 64);
	assert_true(!r.by_host && r.n == REPEATS_SPANS);
	for (size_t i = 0; i < r.n; i++) {
		uint64_t n = sum(&r, i, &weight);

		assert_true(n == 3 || n == 4);
		samples += n;
	}
	assert_int_equal(samples, 30);
	repeats_free(&r);
	/* Of what is asked for, not of all that is there. */
	load(&r, "version=3", 5100, 5140, 64);
	samples = 0;
	for (size_t i = 0; i < r.n; i++)
		samples += sum(&r, i, &weight);
	assert_int_equal(samples, 4);
	repeats_free(&r);
	put("y", "4", 7000);
	load(&r, "version=4", 0, 9000, 64);
	assert_int_equal(r.n, 1);
	assert_int_equal(sum(&r, 0, &weight), 1);
	repeats_free(&r);
	load(&r, "version=5", 0, 9000, 64);
	assert_int_equal(r.n, 0);
	repeats_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_repeats),
		cmocka_unit_test(spans_are_repeats),
	};
	int r = own_store_open();

	return r ? r : own_store_close(cmocka_run_group_tests(tests, NULL, NULL));
}
