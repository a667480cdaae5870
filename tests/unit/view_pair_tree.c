// SPDX-License-Identifier: MIT
// Unit tests of view/pair_tree: the tree of two sides, of which only what is opened is made.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile_plain.h"
#include "view/pair_tree.h"

#define SAMPLES 60
#define ROUNDS 40

/* What plain samples have below a way of functions: named as a node's is, outermost first. */
struct way {
	const char *name[DEPTH]; /* symbols */
	unsigned n;
};

static const char *plain_name(unsigned function)
{
	static char names[FUNCTIONS][16];

	if (function)
		snprintf(names[function], sizeof(names[0]), "f%u", function);
	return function ? names[function] : "[unknown]";
}

/* Counts slowly: the samples of event 1 whose stack begins, or by callee ends, in that way. */
static struct compare_counts counted(const struct plain *s, size_t side, const struct way *w,
                                     enum tree_order order)
{
	struct compare_counts ret = { 0 };

	for (size_t i = 0; i < SAMPLES; i++) {
		bool on = s[i].depth >= w->n && !s[i].event;

		for (unsigned k = 0; on && k < w->n; k++)
			on = !strcmp(
			        w->name[k],
			        plain_name(
			                s[i].function[order == TREE_CALLER ? k
			                                                   : s[i].depth - 1 - k]));
		ret.weight[side] += on ? s[i].weight : 0;
		ret.samples[side] += on;
	}
	return ret;
}

/* The names on the way to a node. */
static struct way way_to(const struct pair_tree *t, uint32_t node)
{
	struct way w = { 0 };

	for (uint32_t at = node; at; at = t->nodes[at].parent)
		w.n++;
	for (unsigned k = w.n; node; node = t->nodes[node].parent)
		w.name[--k] = pair_symbol(t, t->nodes[node].name);
	return w;
}

/* In whatever order nodes are opened, each has what both sides' samples have, and none is missing:
 * what is not a node's own is its children's. */
static void is_what_samples_have(struct pair_tree *t, const struct plain *sides[2],
                                 enum tree_order order)
{
	for (uint32_t i = 0; i < t->n; i++) {
		struct way w = way_to(t, i);
		const struct pair_node *n = &t->nodes[i];
		uint64_t below[2] = { 0 };

		for (uint32_t k = 0; n->grown && k < n->n_children; k++)
			for (size_t side = 0; side < 2; side++)
				below[side] += t->nodes[n->children + k].total.weight[side];
		for (size_t side = 0; side < 2; side++) {
			struct compare_counts c = counted(sides[side], side, &w, order);

			assert_int_equal(n->total.weight[side], c.weight[side]);
			assert_int_equal(n->total.samples[side], c.samples[side]);
			if (n->grown)
				assert_int_equal(n->self[side] + below[side], c.weight[side]);
		}
	}
}

/* Whether a name is somewhere below a node, all of whose branches are made. */
static bool name_is_below(const struct pair_tree *t, uint32_t node, const char *name)
{
	for (uint32_t i = node + 1; i < t->n; i++) {
		uint32_t up = t->nodes[i].parent;

		while (up > node)
			up = t->nodes[up].parent;
		if (up == node && !strcmp(pair_symbol(t, t->nodes[i].name), name))
			return true;
	}
	return false;
}

/* A name is sought on both sides. */
static void leads_where_a_side_does(struct pair_tree *t, struct profile *p[2])
{
	for (unsigned f = 1; f < FUNCTIONS; f += 3) {
		for (size_t side = 0; side < 2; side++) {
			uint32_t n = (uint32_t)profile_n_strings(p[side]) + 1;
			bool *symbols = calloc(n, sizeof(*symbols));

			for (uint32_t i = 1; i < n; i++)
				symbols[i] = !strcmp(profile_text(p[side], i), plain_name(f));
			assert_int_equal(tree_grow_seek(t->side[side].growth, symbols), 0);
			free(symbols);
		}
		for (uint32_t i = 1; i < t->n; i++)
			assert_int_equal(pair_tree_leads(t, i), name_is_below(t, i, plain_name(f)));
	}
}

static void grows(const struct plain *sides[2], enum tree_order order)
{
	struct watched watched = { 0 };
	struct profile *p[2] = { profile_of(sides[0], SAMPLES, 0),
		                 profile_of(sides[1], SAMPLES, 0) };
	struct pane_scope *scope = pane_scope_new(p[1], "", &watched);
	struct pair_tree t = { 0 };
	size_t level;

	scope->base = pane_scope_new(p[0], "", &watched);
	assert_int_equal(pair_tree_begin(&t, scope, order), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(pair_tree_grow(&t, 0), 0);
	level = t.n;
	assert_true(level > 1 && level <= FUNCTIONS + 1);
	is_what_samples_have(&t, sides, order);
	/* One branch: the others stay as they are. */
	assert_int_equal(pair_tree_grow(&t, (uint32_t)level - 1), 0);
	assert_true(t.n <= level + FUNCTIONS);
	is_what_samples_have(&t, sides, order);
	for (uint32_t i = 0; i < t.n; i++)
		assert_int_equal(pair_tree_grow(&t, i), 0);
	level = t.n;
	for (uint32_t i = 0; i < t.n; i++)
		assert_int_equal(pair_tree_grow(&t, i), 0);
	assert_int_equal(t.n, level);
	is_what_samples_have(&t, sides, order);
	leads_where_a_side_does(&t, p);
	pair_tree_free(&t);
	pane_scope_free(scope);
	profile_free(p[0]);
	profile_free(p[1]);
}

static void a_pair_grows_to_what_both_have(void **state)
{
	(void)state;
	for (seed = 1; seed < ROUNDS; seed++) {
		struct plain a[SAMPLES], b[SAMPLES];
		const struct plain *sides[2] = { a, b };
		uint64_t round = seed;

		for (size_t i = 0; i < SAMPLES; i++) {
			a[i] = plain_random();
			b[i] = plain_random();
		}
		grows(sides, TREE_CALLER);
		grows(sides, TREE_CALLEE);
		seed = round;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_grows_to_what_both_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
