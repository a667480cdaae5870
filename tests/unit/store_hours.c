// SPDX-License-Identifier: MIT
// Unit tests of an SQLite store's roll-up by hour: it is what a plain loop over the samples adds
// up; hours that are not over wait; what is forgotten goes from it, too.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "profile_plain.h"
#include "store/store.h"

#define S 1000000000ULL
#define HOUR (3600 * S)
#define HOURS 4
#define SERVICES 3
#define SAMPLES 120
#define STATES 3

/* What functions have of an hour and service, by the plain way. */
static struct sum {
	uint64_t self, total;
} sums[HOURS][SERVICES][FUNCTIONS];
static uint64_t all[HOURS][SERVICES];

/* A sample's CPU stands for its service. */
static void count(const struct plain *s, unsigned hour)
{
	struct sum *of = sums[hour][s->cpu];

	all[hour][s->cpu] += s->weight;
	for (unsigned f = 0; f < FUNCTIONS; f++) {
		bool met = false;

		for (unsigned i = 0; i < s->depth; i++)
			met |= s->function[i] == f;
		of[f].total += met ? s->weight : 0;
	}
	if (s->depth)
		of[s->function[s->depth - 1]].self += s->weight;
}

static void put(struct store *store, unsigned hour, uint64_t at_ns)
{
	struct labels labels[SERVICES] = { 0 };
	struct plain samples[SAMPLES];
	uint32_t series[SAMPLES];
	struct seam_error err = { 0 };
	struct store_window w = { .instance = "one",
		                  .from_ns = hour * HOUR + at_ns,
		                  .to_ns = hour * HOUR + at_ns + 10 * S,
		                  .row_series = series,
		                  .series = labels,
		                  .n_series = SERVICES };
	struct profile *p;

	for (unsigned i = 0; i < SAMPLES; i++) {
		samples[i] = plain_random();
		samples[i].cpu %= SERVICES;
		samples[i].event = 1; /* the other has no name, which events of recordings have */
		count(&samples[i], hour);
	}
	p = profile_of(samples, SAMPLES, PROFILE_KEEP_CPU);
	for (unsigned i = 0; i < STATES; i++)
		assert_int_equal(profile_set_state(p, i, &(struct profile_state){ .name = "s" }),
		                 0);
	for (size_t i = 0; i < profile_n_rows(p); i++)
		series[i] = profile_row_at(p, i)->key.cpu;
	/* Two of them have the same text together: which is which must be known. */
	for (unsigned i = 0; i < SERVICES; i++) {
		labels_set(&labels[i], "service", i == 0 ? "a" : i == 1 ? "a, b" : NULL);
		labels_set(&labels[i], "version", i == 0 ? "b, c" : i == 1 ? "c" : "v");
	}
	w.profile = p;
	assert_int_equal(store_put(store, &w, &err), 1);
	profile_free(p);
	for (unsigned i = 0; i < SERVICES; i++)
		labels_free(&labels[i]);
}

/* The roll-up of hours [from, to) and a filter is the sum of these services. */
static void same(struct store *store, unsigned from, unsigned to, const char *where, unsigned first,
                 unsigned last)
{
	struct labels_filter filter = { 0 };
	const struct store_query q = { .from_ns = from * HOUR,
		                       .to_ns = to * HOUR,
		                       .where = &filter };
	struct store_functions f = { 0 };
	struct sum wanted[FUNCTIONS] = { 0 };
	uint64_t weight = 0;
	struct seam_error err = { 0 };
	size_t at, n = 0;

	assert_int_equal(labels_filter_parse(&filter, where, &at), 0);
	assert_int_equal(store_functions(store, &q, 100, &f, &err), 0);
	assert_int_equal(f.hours, to - from);
	assert_int_equal(f.missing, 0);
	assert_int_equal(f.n, 1);
	for (unsigned h = from; h < to; h++)
		for (unsigned s = first; s <= last; s++) {
			weight += all[h][s];
			for (unsigned i = 0; i < FUNCTIONS; i++) {
				wanted[i].self += sums[h][s][i].self;
				wanted[i].total += sums[h][s][i].total;
			}
		}
	assert_string_equal(f.events[0].type, "cycles");
	assert_int_equal(f.events[0].all, weight);
	for (; n < f.events[0].n; n++) {
		const struct store_function *got = &f.events[0].functions[n];
		unsigned i = *got->name ? (unsigned)(got->name[1] - '0') : 0;

		assert_int_equal(got->self, wanted[i].self);
		assert_int_equal(got->total, wanted[i].total);
		assert_string_equal(got->object, i % 2 ? "/lib/odd.so" : "/bin/even");
		assert_true(!n || got[-1].self >= got->self);
	}
	assert_int_equal(n, FUNCTIONS);
	store_functions_free(&f);
	labels_filter_free(&filter);
}

static struct store_rolled roll_up(struct store *store, uint64_t now_ns, unsigned most)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct store_rolled rolled = { 0 };
	struct seam_error err = { 0 };

	assert_int_equal(store_roll_up(store, &q, now_ns, most, &rolled, &err), 0);
	return rolled;
}

static void test_hours(void **state)
{
	struct seam_error err = { 0 };
	struct store_functions f = { 0 };
	struct store_rolled rolled;
	struct store *store;
	int r = store_open(&store, "sqlite::memory:", STORE_WRITE, &err);

	(void)state;
	if (r == -ENOSYS)
		skip();
	assert_int_equal(r, 0);
	/* A minute's ends, and an hour's. */
	for (unsigned hour = 0; hour < HOURS; hour++)
		for (unsigned i = 0; i < 4; i++)
			put(store, hour, i < 3 ? i * 50 * S : HOUR - 1);
	rolled = roll_up(store, HOURS * HOUR, 1);
	assert_int_equal(rolled.made, 1);
	/* The last one has just ended. */
	rolled = roll_up(store, HOURS * HOUR, 0);
	assert_int_equal(rolled.made, HOURS - 2);
	assert_int_equal(rolled.there, 1);
	assert_int_equal(rolled.open, 1);
	assert_int_equal(roll_up(store, HOURS * HOUR + 600 * S, 0).made, 1);
	same(store, 0, HOURS, "", 0, 2);
	same(store, 1, 2, "service=a", 0, 0);
	same(store, 0, HOURS, "service=a\\, b", 1, 1);
	same(store, 0, 3, "version=v", 2, 2);

	/* A window that comes later makes its hour anew. */
	put(store, 1, 1800 * S);
	rolled = roll_up(store, UINT64_MAX, 0);
	assert_int_equal(rolled.made, 1);
	assert_int_equal(rolled.there, HOURS - 1);
	same(store, 0, HOURS, "", 0, 2);

	/* What is forgotten goes from the hours, but for the one that is half forgotten. */
	assert_int_equal(store_forget(store, 2 * HOUR + 1000 * S, 0, &err), 4 + 5 + 3);
	same(store, 2, HOURS, "", 0, 2);
	assert_true(store_forget(store, UINT64_MAX, 0, &err) > 0);
	assert_int_equal(store_functions(store, &(struct store_query){ .to_ns = UINT64_MAX }, 100,
	                                 &f, &err),
	                 0);
	assert_int_equal(f.hours, 0);
	assert_int_equal(f.n, 0);
	store_functions_free(&f);
	store_close(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_hours) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
