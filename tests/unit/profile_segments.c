// SPDX-License-Identifier: MIT
/*
 * profile_segments.c: segments are those of the definition, asked of each node of made-up trees:
 * nodes of one segment are on the same stacks, the segments above are those of the parents, and no
 * two segments could be one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/segments.h"

#define FRAMES 6u

/* A profile of n stacks of up to `depth` of a few frames, some of them without a row. */
static struct profile *made_up(unsigned seed, unsigned n, unsigned depth)
{
	struct profile *p;
	uint32_t frames[FRAMES];

	assert_int_equal(profile_new(&p, 0), 0);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const struct profile_frame f = { .address = i + 1, .kind = PROFILE_USER };

		frames[i] = profile_frame(p, &f);
	}
	for (unsigned i = 0; i < n; i++) {
		struct profile_key key = { .event = profile_event(p, "cycles") };
		unsigned frames_left = (unsigned)rand_r(&seed) % (depth + 1);

		for (; frames_left; frames_left--)
			key.node = profile_node(p, key.node,
			                        frames[(unsigned)rand_r(&seed) % 3 *
			                               ((unsigned)rand_r(&seed) % 3)]);
		if (rand_r(&seed) % 8)
			assert_int_equal(profile_add(p, &key, 1, 1), 0);
	}
	return p;
}

/* What is known of a node by looking at all others. */
static void look(const struct profile *p, uint32_t node, unsigned *children, bool *row)
{
	*children = 0;
	*row = false;
	for (uint32_t i = 1; i <= profile_n_nodes(p); i++)
		*children += profile_node_at(p, i).parent == node;
	for (size_t i = 0; i < profile_n_rows(p); i++)
		*row |= profile_row_at(p, i)->key.node == node;
}

static void check(const struct profile *p)
{
	const uint32_t n = (uint32_t)profile_n_nodes(p);
	const struct segments *s = segments_of(p);

	assert_non_null(s);
	/* It is not made again. */
	assert_ptr_equal(segments_of(p), s);
	assert_int_equal(s->last[0], PROFILE_ROOT);
	assert_int_equal(s->last[s->n], n);
	for (uint32_t i = 1; i <= s->n; i++) {
		const uint32_t first = segments_first(s, i);
		const uint32_t parent = profile_node_at(p, first).parent;
		unsigned children = 0;
		bool row = false;

		assert_true(s->above[i] < i);
		assert_int_equal(s->last[s->above[i]], parent);
		for (uint32_t node = first; node <= s->last[i]; node++) {
			assert_int_equal(segments_at(s, node), i);
			look(p, node, &children, &row);
			if (node == s->last[i])
				continue;
			assert_int_equal(children, 1);
			assert_false(row);
			assert_int_equal(profile_node_at(p, node + 1).parent, node);
		}
		/* The last one ends it for a reason. */
		assert_true(row || children != 1 ||
		            profile_node_at(p, s->last[i] + 1).parent != s->last[i]);
	}
}

static void add_row(struct profile *p, uint32_t node)
{
	const struct profile_key key = { .event = profile_event(p, "cycles"), .node = node };

	assert_int_equal(profile_add(p, &key, 1, 1), 0);
}

static void add_stack(struct profile *p, unsigned depth)
{
	const struct profile_frame f = { .address = FRAMES + 1, .kind = PROFILE_USER };
	const uint32_t frame = profile_frame(p, &f);
	uint32_t node = PROFILE_ROOT;

	while (depth--)
		node = profile_node(p, node, frame);
	add_row(p, node);
}

static void test_made_up(void **state)
{
	for (unsigned seed = 0; seed <= 60; seed++) { /* from none on */
		struct profile *p = made_up(seed, seed, seed % 20);

		check(p);
		/* What is filled in later is seen: another stack, a row of a node. */
		add_stack(p, 1 + seed % 5);
		check(p);
		add_row(p, seed % (uint32_t)(profile_n_nodes(p) + 1));
		check(p);
		profile_free(p);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
