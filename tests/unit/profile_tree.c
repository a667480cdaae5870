// SPDX-License-Identifier: MIT
// Unit tests of profile/tree: sums of trees against a slow count over plain stacks, and trees of
// which a part is made against the whole ones.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/tree.h"
#include "profile_plain.h"

/* Every node: total == self + children's totals; the root has it all; names are one per parent. */
static void tree_check(const struct tree *t, uint64_t sum)
{
	assert_int_equal(t->nodes[0].total, sum);
	for (uint32_t i = 0; i < t->n; i++) {
		uint64_t children = 0, last = UINT64_MAX;

		for (uint32_t c = t->nodes[i].first_child; c; c = t->nodes[c].next_sibling) {
			assert_int_equal(t->nodes[c].parent, i);
			assert_true(t->nodes[c].total <= last);
			last = t->nodes[c].total;
			children += last;
			for (uint32_t d = t->nodes[c].next_sibling; d; d = t->nodes[d].next_sibling)
				assert_false(t->nodes[c].symbol == t->nodes[d].symbol &&
				             t->nodes[c].object == t->nodes[d].object);
		}
		assert_int_equal(t->nodes[i].total, t->nodes[i].self + children);
	}
}

/* Below each of two nodes the same branches are in the same order, as far as they are so heavy. */
static void assert_same_branches(const struct tree *a, uint32_t x, const struct tree *b, uint32_t y,
                                 uint64_t least)
{
	uint32_t c = a->nodes[x].first_child, d = b->nodes[y].first_child;

	assert_int_equal(a->nodes[x].total, b->nodes[y].total);
	assert_int_equal(a->nodes[x].symbol, b->nodes[y].symbol);
	if (x && a->nodes[x].total < least) {
		assert_int_equal(d, 0);
		assert_int_equal(b->nodes[y].self, b->nodes[y].total);
		return;
	}
	assert_int_equal(a->nodes[x].self, b->nodes[y].self);
	assert_int_equal(a->nodes[x].kind, b->nodes[y].kind);
	for (; c && d; c = a->nodes[c].next_sibling, d = b->nodes[d].next_sibling)
		assert_same_branches(a, c, b, d, least);
	assert_int_equal(c, d);
}

/* Both have an order where totals are equal, so trees of any limit can be compared. */
static void branches_are_those_of_the_whole(const struct profile *p, uint64_t sum,
                                            enum tree_order order)
{
	struct tree_opts opts = { .order = order, .event = 1 };
	struct tree whole, t;

	assert_int_equal(tree_build(&whole, p, &opts), 0);
	for (uint64_t least = 1; least < 2 * sum; least *= 3) {
		opts.least = least;
		assert_int_equal(tree_build(&t, p, &opts), 0);
		assert_true(t.n <= whole.n);
		tree_check(&t, sum);
		assert_same_branches(&whole, 0, &t, 0, least);
		tree_free(&t);
	}
	tree_free(&whole);
}

/* In whatever order nodes are opened, each has the children that it has in the whole tree. */
static void a_tree_grows_to_the_whole(const struct profile *p, enum tree_order order)
{
	const struct tree_opts opts = { .order = order, .event = 1 };
	struct tree_growth *g;
	struct tree whole, t;

	assert_int_equal(tree_build(&whole, p, &opts), 0);
	assert_int_equal(tree_grow_begin(&g, &t, p, &opts), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.nodes[0].total, whole.nodes[0].total);
	assert_int_equal(tree_grow(g, 0), 0);
	/* Its last child and what is there so far, then all the others. */
	for (uint32_t i = (uint32_t)t.n - 1; i; i--)
		assert_int_equal(tree_grow(g, i), 0);
	for (uint32_t i = 0; i < t.n; i++)
		assert_int_equal(tree_grow(g, i), 0);
	assert_int_equal(t.n, whole.n);
	assert_same_branches(&whole, 0, &t, 0, 0);
	tree_grow_end(g);
	tree_free(&t);
	tree_free(&whole);
}

/* Whether one of the names is somewhere below a node. */
static bool name_is_below(const struct tree *t, uint32_t node, const bool *symbols)
{
	for (uint32_t c = t->nodes[node].first_child; c; c = t->nodes[c].next_sibling)
		if (symbols[t->nodes[c].symbol] || name_is_below(t, c, symbols))
			return true;
	return false;
}

/* What leads to a name is known of each node, whether its children are made or not. */
static void a_tree_knows_what_leads_to_names(const struct profile *p, enum tree_order order)
{
	const struct tree_opts opts = { .order = order, .event = 1 };
	bool *symbols = calloc(profile_n_strings(p) + 1, sizeof(*symbols));
	struct tree_growth *g;
	bool *leads;
	struct tree t;

	for (char digit = '0'; digit <= '9'; digit++) {
		for (uint32_t i = 0; i <= profile_n_strings(p); i++) {
			const char *name = profile_text(p, i);

			symbols[i] = name[0] == 'f' && (name[1] == digit || name[1] == digit + 5);
		}
		assert_int_equal(tree_grow_begin(&g, &t, p, &opts), 0);
		/* What was sought before does not count. */
		symbols[0] = true;
		assert_int_equal(tree_grow_seek(g, symbols), 0);
		symbols[0] = false;
		assert_int_equal(tree_grow_seek(g, symbols), 0);
		leads = calloc(100000, sizeof(*leads));
		for (uint32_t i = 0; i < t.n; i++) {
			assert_true(i < 100000);
			leads[i] = tree_grow_leads(g, i);
			assert_int_equal(tree_grow(g, i), 0);
		}
		for (uint32_t i = 1; i < t.n; i++)
			assert_int_equal(leads[i], name_is_below(&t, i, symbols));
		free(leads);
		tree_grow_end(g);
		tree_free(&t);
	}
	free(symbols);
}

/* Two levels of a tree with a focus are what is next to the function. */
static void assert_next(const struct profile *p, const bool *focus, enum tree_order order)
{
	struct tree_opts opts = { .order = order, .event = 1, .focus = focus };
	struct tree whole, t;
	uint32_t c, d, x, y;

	assert_int_equal(tree_build(&whole, p, &opts), 0);
	opts.next_only = true;
	assert_int_equal(tree_build(&t, p, &opts), 0);
	assert_int_equal(t.nodes[0].total, whole.nodes[0].total);
	assert_int_equal(t.nodes[0].total_samples, whole.nodes[0].total_samples);
	c = whole.nodes[0].first_child;
	d = t.nodes[0].first_child;
	for (; c && d; c = whole.nodes[c].next_sibling, d = t.nodes[d].next_sibling) {
		assert_int_equal(whole.nodes[c].symbol, t.nodes[d].symbol);
		assert_int_equal(whole.nodes[c].total, t.nodes[d].total);
		assert_int_equal(whole.nodes[c].self, t.nodes[d].self);
		x = whole.nodes[c].first_child;
		y = t.nodes[d].first_child;
		for (; x && y; x = whole.nodes[x].next_sibling, y = t.nodes[y].next_sibling) {
			assert_int_equal(whole.nodes[x].symbol, t.nodes[y].symbol);
			assert_int_equal(whole.nodes[x].kind, t.nodes[y].kind);
			assert_int_equal(whole.nodes[x].total, t.nodes[y].total);
			assert_int_equal(whole.nodes[x].total_samples, t.nodes[y].total_samples);
			assert_int_equal(t.nodes[y].first_child, 0);
		}
		assert_int_equal(x, y);
	}
	assert_int_equal(c, d);
	tree_free(&whole);
	tree_free(&t);
}

/* Of one function, and of two, which may be next to each other. */
static void functions_have_what_is_next_to_them(const struct profile *p)
{
	bool *focus = calloc(profile_n_frames(p) + 1, sizeof(*focus));

	for (char one = '0'; one <= '9'; one++)
		for (char other = one; other <= '9'; other = (char)(other + 4)) {
			for (uint32_t i = 1; i <= profile_n_frames(p); i++) {
				const char *name = profile_text(p, profile_frame_at(p, i)->symbol);

				focus[i] = *name && (name[1] == one || name[1] == other);
			}
			assert_next(p, focus, TREE_CALLER);
			assert_next(p, focus, TREE_CALLEE);
		}
	free(focus);
}

static void trees_add_up(void **state)
{
	enum {
		N = 2000
	};
	struct plain *samples = calloc(N, sizeof(*samples));
	uint64_t sum = 0, empty = 0, roots[FUNCTIONS] = { 0 }, leaves[FUNCTIONS] = { 0 };
	struct profile *p;
	struct tree t;

	seed = 2;
	for (size_t i = 0; i < N; i++) {
		const struct plain *s = &samples[i];

		samples[i] = plain_random();
		samples[i].event = 0;
		sum += s->weight;
		if (!s->depth) {
			empty += s->weight;
			continue;
		}
		roots[s->function[0]] += s->weight;
		leaves[s->function[s->depth - 1]] += s->weight;
	}
	p = profile_of(samples, N, 0);
	for (int order = TREE_CALLER; order <= TREE_CALLEE; order++) {
		const uint64_t *expected = order == TREE_CALLER ? roots : leaves;

		assert_int_equal(tree_build(&t, p,
		                            &(struct tree_opts){ .order = order, .event = 1 }),
		                 0);
		tree_check(&t, sum);
		assert_int_equal(t.nodes[0].self, empty);
		for (uint32_t c = t.nodes[0].first_child; c; c = t.nodes[c].next_sibling) {
			const char *name = profile_text(p, t.nodes[c].symbol);

			assert_int_equal(t.nodes[c].total, expected[*name ? name[1] - '0' : 0]);
		}
		tree_free(&t);
	}
	for (int order = TREE_CALLER; order <= TREE_CALLEE; order++) {
		branches_are_those_of_the_whole(p, sum, order);
		a_tree_grows_to_the_whole(p, order);
		a_tree_knows_what_leads_to_names(p, order);
	}
	functions_have_what_is_next_to_them(p);
	assert_int_equal(tree_build(&t, p, &(struct tree_opts){ .event = 2 }),
	                 0); /* an event without samples */
	assert_int_equal(t.n, 1);
	tree_free(&t);
	profile_free(p);
	free(samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
