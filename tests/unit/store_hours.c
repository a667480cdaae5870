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

#include "store/store.h"

#define S 1000000000ULL
#define HOUR (3600 * S)
#define HOURS 4
#define FUNCTIONS 6
#define SERVICES 3

static uint64_t seed = 1;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

/* What functions have of an hour and service, by the plain way. */
static struct sum {
	uint64_t self, total;
} sums[HOURS][SERVICES][FUNCTIONS];
static uint64_t all[HOURS][SERVICES];

/* One sample of a window, in its profile and in the sums. */
static void add(struct profile *p, unsigned hour, unsigned service)
{
	uint32_t node = PROFILE_ROOT, n = rnd(6), function = 0;
	uint64_t weight = 1 + rnd(1000);
	bool met[FUNCTIONS] = { 0 };
	struct profile_key key = { .cpu = service };

	for (uint32_t i = 0; i < n; i++) {
		char name[16];
		struct profile_frame f = { .line = rnd(3) };

		function = rnd(FUNCTIONS);
		snprintf(name, sizeof(name), "f%u", function);
		f.symbol = profile_string(p, name);
		f.object = profile_object(p, function % 2 ? "/lib/odd.so" : "/bin/even", "");
		node = profile_node(p, node, profile_frame(p, &f));
		met[function] = true;
	}
	key.event = profile_event(p, "ticks");
	key.task = profile_task(p, profile_string(p, "c"), 0, 0);
	key.node = node;
	assert_int_equal(profile_add(p, &key, 1, weight), 0);
	all[hour][service] += weight;
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		sums[hour][service][i].total += met[i] ? weight : 0;
	if (n)
		sums[hour][service][function].self += weight;
}

static void put(struct store *store, unsigned hour, uint64_t at_ns)
{
	struct labels labels[SERVICES] = { 0 };
	uint32_t series[SERVICES * 40];
	struct seam_error err = { 0 };
	struct store_window w = { .instance = "one",
		                  .from_ns = hour * HOUR + at_ns,
		                  .to_ns = hour * HOUR + at_ns + 10 * S,
		                  .row_series = series,
		                  .series = labels,
		                  .n_series = SERVICES };
	struct profile *p;

	assert_int_equal(profile_new(&p, PROFILE_KEEP_CPU), 0);
	assert_int_equal(profile_set_state(p, 0, &(struct profile_state){ .name = "s" }), 0);
	for (unsigned i = 0; i < SERVICES; i++) {
		/* Together they are the same text: which is which must be known. */
		labels_set(&labels[i], "service", i == 0 ? "a" : i == 1 ? "a, b" : NULL);
		labels_set(&labels[i], "version", i == 0 ? "b, c" : i == 1 ? "c" : "v");
		for (unsigned n = 0; n < 40; n++)
			add(p, hour, i);
	}
	for (size_t i = 0; i < profile_n_rows(p); i++)
		series[i] = profile_row_at(p, i)->key.cpu;
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
	assert_string_equal(f.events[0].type, "ticks");
	assert_int_equal(f.events[0].all, weight);
	for (; n < f.events[0].n; n++) {
		const struct store_function *got = &f.events[0].functions[n];
		unsigned i = (unsigned)(got->name[1] - '0');

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
