// SPDX-License-Identifier: MIT
// fleet_repeats.c: a query of a store as several measurements: which hosts, which spans.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "aggregate/load.h"
#include "fleet/repeats.h"

#define SECOND 1000000000ull

static char url[80];
static struct store *store;

/* Puts a window of 10 s with one sample of a host and version. */
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
	assert_int_equal(profile_add(p, &key, 1, 100), 0);
	w.profile = p;
	assert_int_equal(store_put(store, &w, NULL), 1);
	profile_free(p);
	labels_free(&labels);
}

/* Plans for a filter. */
static void plan(struct repeats *r, const char *where, uint64_t from_s, uint64_t to_s, size_t most)
{
	struct labels_filter f = { 0 };
	const struct store_query q = { .from_ns = from_s * SECOND,
		                       .to_ns = to_s * SECOND,
		                       .where = &f };
	size_t at;

	assert_int_equal(labels_filter_parse(&f, where, &at), 0);
	assert_int_equal(repeats_plan(r, store, &q, most, NULL), 0);
	labels_filter_free(&f);
}

static bool matches(const struct repeat *r, const char *host, const char *version)
{
	struct labels l = { 0 };
	bool is;

	labels_set(&l, "host", host);
	labels_set(&l, "version", version);
	is = labels_match(&r->where, &l);
	labels_free(&l);
	return is;
}

static void hosts_are_repeats(void **state)
{
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct repeats r = { 0 };

	for (size_t i = 0; i < 4; i++)
		put(hosts[i], "1", 1000);
	put("a", "2", 1010);
	plan(&r, "version=1", 1000, 2000, 64);
	assert_true(r.by_host && r.n == 4);
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++) {
			assert_true(matches(&r.at[i], hosts[j], "1") == (i == j));
			assert_false(matches(&r.at[i], hosts[j], "2"));
		}
	repeats_free(&r);
	/* More hosts than there may be runs: several are one, and none is lost or twice. */
	plan(&r, "version=1", 1000, 2000, 3);
	assert_int_equal(r.n, 3);
	for (size_t j = 0; j < 4; j++) {
		size_t n = 0;

		for (size_t i = 0; i < 3; i++)
			n += matches(&r.at[i], hosts[j], "1");
		assert_int_equal(n, 1);
	}
	repeats_free(&r);
	/* A filter of hosts holds. */
	plan(&r, "version=1,host=a,host=b,host=c", 1000, 2000, 64);
	assert_int_equal(r.n, 3);
	for (size_t i = 0; i < 3; i++)
		assert_false(matches(&r.at[i], "d", "1"));
	repeats_free(&r);
}

static void spans_are_repeats(void **state)
{
	struct repeats r = { 0 };
	uint64_t next;

	for (uint64_t at = 5000; at < 5300; at += 10)
		put("x", "3", at);
	plan(&r, "version=3", 0, 9000, 64);
	assert_true(!r.by_host && r.n == REPEATS_SPANS);
	next = 5000 * SECOND;
	for (size_t i = 0; i < r.n; i++) {
		assert_true(r.at[i].from_ns == next);
		next = r.at[i].to_ns;
	}
	assert_true(next == 5300 * SECOND);
	repeats_free(&r);
	/* Of what is asked for, not of all that is there. */
	plan(&r, "version=3", 5100, 5140, 64);
	assert_true(r.at[0].from_ns == 5100 * SECOND && r.at[r.n - 1].to_ns == 5140 * SECOND);
	repeats_free(&r);
	put("y", "4", 7000);
	plan(&r, "version=4", 0, 9000, 64);
	assert_int_equal(r.n, 1);
	repeats_free(&r);
	plan(&r, "version=5", 0, 9000, 64);
	assert_int_equal(r.n, 0);
	repeats_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_repeats),
		cmocka_unit_test(spans_are_repeats),
	};
	struct seam_error err = { 0 };
	char dir[] = "/tmp/seam-repeats-XXXXXX", remove[80];
	int r;

	if (!mkdtemp(dir))
		return 1;
	snprintf(url, sizeof(url), "sqlite:%s/a.db", dir);
	r = store_open(&store, url, STORE_WRITE, &err);
	if (r == -ENOSYS)
		return 77;
	if (r < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	store_close(store);
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	return system(remove) || r;
}
