// SPDX-License-Identifier: MIT
// symbol_table.c: which symbol has an address, by hand and at random against a slow count of the
// rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/table.h"

static void put(struct table *t, uint64_t start, uint64_t size, enum table_bind bind, uint32_t rank,
                const char *name)
{
	struct table_symbol s = { .start = start,
		                  .end = start + size,
		                  .limit = 1000,
		                  .bind = (uint8_t)bind,
		                  .rank = rank };

	assert_int_equal(table_put(t, &s, name, strlen(name), ""), 0);
}

static const char *at(const struct table *t, uint64_t addr)
{
	struct table_found found;

	return table_find(t, addr, &found) ? table_name(t, found.name) : "-";
}

static void test_aliases(void **state)
{
	struct table t = { 0 };

	put(&t, 100, 10, TABLE_LOCAL, 0, "a_local");
	put(&t, 100, 10, TABLE_GLOBAL, 0, "__write");
	put(&t, 100, 10, TABLE_WEAK, 0, "write");
	put(&t, 100, 0, TABLE_GLOBAL, 0, "w");
	put(&t, 200, 10, TABLE_WEAK, 0, "pread");
	put(&t, 200, 10, TABLE_GLOBAL, 0, "pread64");
	put(&t, 300, 10, TABLE_GLOBAL, 0, "longer");
	put(&t, 300, 10, TABLE_GLOBAL, 0, "short");
	assert_int_equal(table_seal(&t), 0);
	assert_string_equal(at(&t, 100), "write");
	assert_string_equal(at(&t, 209), "pread64");
	assert_string_equal(at(&t, 300), "short");
	assert_string_equal(at(&t, 99), "-");
	assert_string_equal(at(&t, 110), "-");
	assert_string_equal(at(&t, UINT64_MAX), "-");
	table_free(&t);
}

static void test_unsized(void **state)
{
	struct table t = { 0 };

	put(&t, 100, 0, TABLE_GLOBAL, 0, "_start");
	put(&t, 150, 20, TABLE_GLOBAL, 0, "main");
	put(&t, 160, 0, TABLE_LOCAL, 0, "label"); /* inside a sized one */
	put(&t, 900, 0, TABLE_LOCAL, 0, "last");
	assert_int_equal(table_seal(&t), 0);
	assert_string_equal(at(&t, 149), "_start");
	assert_string_equal(at(&t, 165), "main");
	assert_string_equal(at(&t, 170), "-");
	assert_string_equal(at(&t, 999), "last");
	assert_string_equal(at(&t, 1000), "-"); /* its limit */
	table_free(&t);
	assert_int_equal(table_seal(&t), 0); /* an empty one */
	assert_string_equal(at(&t, 0), "-");
}

static void test_nested(void **state)
{
	struct table t = { 0 };

	put(&t, 100, 100, TABLE_GLOBAL, 0, "outer");
	put(&t, 120, 10, TABLE_GLOBAL, 0, "inner");
	put(&t, 190, 30, TABLE_GLOBAL, 0, "over");
	assert_int_equal(table_seal(&t), 0);
	assert_string_equal(at(&t, 119), "outer");
	assert_string_equal(at(&t, 129), "inner");
	assert_string_equal(at(&t, 130), "outer");
	assert_string_equal(at(&t, 190), "over");
	assert_string_equal(at(&t, 219), "over");
	assert_string_equal(at(&t, 220), "-");
	table_free(&t);
}

/* Sized symbols of distinct starts: the one of highest rank, then start, that holds the address. */
static void run_random(unsigned seed)
{
	enum {
		N = 60,
		SPAN = 300
	};
	uint64_t start[N], size[N];
	uint32_t rank[N];
	bool taken[SPAN] = { 0 };
	struct table t = { 0 };
	char name[16];

	srandom(seed);
	for (int i = 0; i < N; i++) {
		do
			start[i] = (uint64_t)random() % SPAN;
		while (taken[start[i]]);
		taken[start[i]] = true;
		size[i] = 1 + (uint64_t)random() % 80;
		rank[i] = seed & 1 ? (uint32_t)random() % 5 : 0;
		snprintf(name, sizeof(name), "%d", i);
		put(&t, start[i], size[i], TABLE_GLOBAL, rank[i], name);
	}
	assert_int_equal(table_seal(&t), 0);
	for (uint64_t addr = 0; addr < SPAN + 100; addr++) {
		int best = -1;

		for (int i = 0; i < N; i++) {
			if (addr < start[i] || addr >= start[i] + size[i])
				continue;
			if (best < 0 || rank[i] > rank[best] ||
			    (rank[i] == rank[best] && start[i] > start[best]))
				best = i;
		}
		snprintf(name, sizeof(name), best < 0 ? "-" : "%d", best);
		assert_string_equal(at(&t, addr), name);
	}
	table_free(&t);
}

static void test_random(void **state)
{
	for (unsigned seed = 1; seed <= 300; seed++)
		run_random(seed);
}

/* Many at one address, and addresses not in order: what is kept does not depend on the order of
 * putting. */
static void test_order(void **state)
{
	enum {
		ALIASES = 40
	};
	char name[16], first[16];

	for (unsigned down = 0; down < 2; down++) {
		for (unsigned turned = 0; turned < 2; turned++) {
			struct table t = { 0 };

			for (unsigned i = 0; i < 3 * ALIASES; i++) {
				unsigned where = down ? 2 - i / ALIASES : i / ALIASES;
				unsigned n = turned ? ALIASES - 1 - i % ALIASES : i % ALIASES;

				snprintf(name, sizeof(name), "s%u_%02u", where, n);
				put(&t, 100 + 10 * where, 0, TABLE_GLOBAL, 0, name);
			}
			assert_int_equal(table_seal(&t), 0);
			assert_int_equal(t.n, 3);
			for (unsigned where = 0; where < 3; where++) {
				snprintf(first, sizeof(first), "s%u_00", where);
				assert_string_equal(at(&t, 100 + 10 * where), first);
				assert_string_equal(at(&t, 109 + 10 * where), first);
			}
			table_free(&t);
		}
	}
}

/* How far the answer lasts, at each address: nowhere in between is another one. */
static void run_lasts(unsigned seed)
{
	enum {
		REACH = 400
	};
	struct table_found f, other;
	struct table t = { 0 };
	char name[16];

	srand(seed);
	for (int i = 0; i < 12; i++) {
		unsigned size = rand() % 3 ? (unsigned)rand() % (seed % 2 ? 20 : 90) : 0;

		snprintf(name, sizeof(name), "s%d", i);
		put(&t, (unsigned)rand() % 300, size, TABLE_GLOBAL, 0, name);
	}
	assert_int_equal(table_seal(&t), 0);
	for (uint64_t addr = 0; addr < REACH; addr++) {
		bool found = table_find(&t, addr, &f);

		assert_true(f.from <= addr && addr < f.to);
		for (uint64_t k = f.from; k < f.to && k < REACH; k++) {
			assert_int_equal(table_find(&t, k, &other), found);
			assert_true(!found || other.number == f.number);
		}
	}
	table_free(&t);
}

static void test_lasts(void **state)
{
	for (unsigned seed = 1; seed <= 100; seed++)
		run_lasts(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aliases), cmocka_unit_test(test_unsized),
		cmocka_unit_test(test_nested),  cmocka_unit_test(test_random),
		cmocka_unit_test(test_order),   cmocka_unit_test(test_lasts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
