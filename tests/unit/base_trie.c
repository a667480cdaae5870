// SPDX-License-Identifier: MIT
/*
 * base_trie.c: each pair of a parent and a key has one node, whether its parent has few
 * children, so many that they are in a map, or just as many as make it one; ids count up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/trie.h"

/* Puts n children below a parent, twice: the second time all are there. */
static void put_children(struct trie *t, uint32_t parent, uint32_t n)
{
	uint32_t first = t->n + 1;

	for (int again = 0; again < 2; again++) {
		for (uint32_t i = 0; i < n; i++) {
			uint32_t id = trie_put(t, parent, 1000 + i * 7);

			assert_int_equal(id, first + i);
			assert_int_equal(trie_at(t, id).parent, parent);
			assert_int_equal(trie_at(t, id).key, 1000 + i * 7);
		}
		assert_int_equal(t->n, first + n - 1);
	}
}

static void test_few_and_many(void **state)
{
	struct trie t = { 0 };
	uint32_t parent = TRIE_ROOT;

	for (uint32_t n = 1; n < 3 * TRIE_LISTED; n++) {
		put_children(&t, parent, n);
		parent = t.n; /* a leaf: the next ones hang below it */
	}
	put_children(&t, parent, 3 * TRIE_BLOCK);
	trie_free(&t);
	(void)state;
}

/* Children that come one by one, in turn with those of another parent. */
static void test_in_turn(void **state)
{
	enum {
		PARENTS = 50,
		CHILDREN = 200
	};
	static uint32_t ids[PARENTS][CHILDREN];
	struct trie t = { 0 };

	for (uint32_t i = 0; i < PARENTS; i++)
		assert_int_equal(trie_put(&t, TRIE_ROOT, i + 1), i + 1);
	for (uint32_t c = 0; c < CHILDREN; c++)
		for (uint32_t i = 0; i < PARENTS; i++)
			ids[i][c] = trie_put(&t, i + 1, c + 1);
	assert_int_equal(t.n, PARENTS + PARENTS * CHILDREN);
	for (uint32_t i = 0; i < PARENTS; i++)
		for (uint32_t c = 0; c < CHILDREN; c++) {
			assert_int_equal(trie_put(&t, i + 1, c + 1), ids[i][c]);
			assert_int_equal(trie_at(&t, ids[i][c]).parent, i + 1);
			assert_int_equal(trie_at(&t, ids[i][c]).key, c + 1);
		}
	trie_free(&t);
	(void)state;
}

/* A way is what its steps are, one by one: the part that is there is found, and the rest made. */
static void test_path(void **state)
{
	enum {
		LONG = 2 * TRIE_BLOCK
	};
	static struct trie_step steps[LONG];
	struct trie t = { 0 };

	assert_int_equal(trie_path(&t, TRIE_ROOT, steps, 0), TRIE_ROOT);
	for (uint32_t i = 0; i < LONG; i++)
		steps[i].key = i + 1;
	for (int again = 0; again < 2; again++)
		assert_int_equal(trie_path(&t, TRIE_ROOT, steps, LONG), LONG);
	for (uint32_t i = 0, parent = TRIE_ROOT; i < LONG; parent = steps[i++].id) {
		assert_int_equal(steps[i].id, i + 1);
		assert_int_equal(trie_put(&t, parent, i + 1), i + 1);
		assert_int_equal(trie_first(&t, i + 1), i + 1 < LONG ? i + 2 : 0);
	}
	for (uint32_t i = LONG / 2; i < LONG; i++)
		steps[i].key += LONG;
	assert_int_equal(trie_path(&t, TRIE_ROOT, steps, LONG), LONG + LONG / 2);
	assert_int_equal(steps[LONG / 2].id, LONG + 1);
	assert_int_equal(trie_at(&t, LONG + 1).parent, LONG / 2);
	assert_int_equal(trie_next(&t, LONG / 2 + 1), LONG + 1);
	assert_int_equal(trie_put(&t, LONG / 2, LONG / 2 + 1), LONG / 2 + 1);
	for (uint32_t i = 0; i < 3 * TRIE_LISTED; i++) { /* below what becomes a hub */
		struct trie_step step = { .key = 9 * LONG + i };
		uint32_t n = t.n, id = trie_path(&t, 1, &step, 1);

		assert_int_equal(id, n + 1);
		assert_int_equal(trie_path(&t, 1, &step, 1), id);
	}
	trie_free(&t);
	(void)state;
}

/* Nodes that were made without a look are found, also where they are too many for a list. */
static void test_new(void **state)
{
	struct trie t = { 0 };

	for (uint32_t n = 1; n < 4 * TRIE_LISTED; n += TRIE_LISTED / 2) {
		uint32_t parent = trie_put_new(&t, TRIE_ROOT, n), first = t.n + 1;

		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(trie_put_new(&t, parent, 1000 + i * 7), first + i);
		put_children(&t, t.n, 2);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(trie_put(&t, parent, 1000 + i * 7), first + i);
	}
	assert_int_equal(trie_put_new(&t, TRIE_ROOT, TRIE_KEYS), TRIE_FAILED);
	trie_free(&t);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_and_many),
		cmocka_unit_test(test_in_turn),
		cmocka_unit_test(test_path),
		cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
