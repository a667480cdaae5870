// SPDX-License-Identifier: MIT
/*
 * store_joined.c: lists of nodes that become one have each stack of theirs once, with what all of
 * them counted of it, whether they were sorted or grew by and by, and whatever part of them was
 * needed; and without callers each innermost frame once.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/trie.h"
#include "store/stacks/innermost.h"
#include "store/stacks/joined.h"
#include "store/stacks/named.h"
#include "store/stacks/sorted.h"
#include "rnd.h"

#define GROUPS 3u
#define MOST 4000u

/* What is to come out: stacks, and what was counted of them. */
struct wanted {
	struct trie stacks;
	uint64_t samples[MOST][GROUPS];
};

static uint32_t key_of(uint32_t frame)
{
	return frame == BLOCKS_FOLDED ? 0 : frame;
}

/* A list as lookup_stacks_load leaves it: of n stacks, sorted or not, some not needed. */
static void list_of(struct lookup_stacks *s, struct sums *sums, uint32_t n, bool sorted,
                    struct wanted *w)
{
	struct trie grown = { 0 };
	struct blocks_node *nodes;
	uint32_t *number, *path;
	unsigned char *needed;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = TRIE_ROOT;

		for (uint32_t depth = 1 + rnd(8); depth; depth--)
			node = trie_put(&grown, node,
			                rnd(20)  ? 1 + rnd(5)
			                : sorted ? BLOCKS_FOLDED
			                         : 6);
	}
	nodes = calloc(grown.n + 1, sizeof(*nodes));
	number = calloc(grown.n + 1, sizeof(*number));
	path = calloc(grown.n + 1, sizeof(*path));
	needed = calloc(grown.n + 1, 1);
	for (uint32_t id = 1; id <= grown.n; id++) {
		nodes[id] =
		        (struct blocks_node){ trie_at(&grown, id).parent, trie_at(&grown, id).key };
		number[id] = id;
	}
	if (sorted)
		assert_int_equal(sorted_numbers(number, nodes, grown.n), 0);
	*s = (struct lookup_stacks){ .sorted = sorted, .list.highest = grown.n };
	s->nodes = calloc(grown.n + 1, sizeof(*s->nodes));
	for (uint32_t i = 0; i < n; i++) {
		const struct sums_row row = { rnd(GROUPS), rnd(grown.n + 1), 1 + rnd(3), 5 };
		const struct sums_row put = { row.group, number[row.node], row.samples, 5 };

		for (uint32_t at = row.node; at; at = nodes[at].parent)
			needed[at] = 1;
		assert_int_equal(sums_add(sums, &put), 0);
	}
	for (uint32_t id = 1; id <= grown.n; id++)
		if (needed[id]) {
			path[id] = trie_put(&w->stacks, path[nodes[id].parent],
			                    key_of(nodes[id].frame));
			assert_true(path[id] < MOST);
			s->nodes[number[id]] =
			        (struct blocks_node){ number[nodes[id].parent], nodes[id].frame };
		}
	for (size_t i = 0; i < sums->n; i++)
		for (uint32_t id = 0; id <= grown.n; id++)
			if (number[id] == sums->rows[i].node)
				w->samples[path[id]][sums->rows[i].group] += sums->rows[i].samples;
	free(nodes);
	free(number);
	free(path);
	free(needed);
	trie_free(&grown);
}

/* Each stack is a wanted one, stands behind its caller, and there are as many; so are counts. */
static void check(const struct joined *j, struct wanted *w)
{
	const uint32_t n = w->stacks.n;
	uint32_t *path = calloc(j->n + 1, sizeof(*path));

	assert_int_equal(j->n, n);
	for (uint32_t id = 1; id <= j->n; id++) {
		assert_true(j->nodes[id].parent < id);
		path[id] =
		        trie_put(&w->stacks, path[j->nodes[id].parent], key_of(j->nodes[id].frame));
	}
	assert_int_equal(w->stacks.n, n);
	for (size_t i = 0; i < j->sums.n; i++) {
		const struct sums_row *row = &j->sums.rows[i];

		assert_true(!i || row[-1].group < row->group ||
		            (row[-1].group == row->group && row[-1].node < row->node));
		assert_int_equal(w->samples[path[row->node]][row->group], row->samples);
		w->samples[path[row->node]][row->group] = 0;
	}
	for (uint32_t node = 0; node <= n; node++)
		for (uint32_t group = 0; group < GROUPS; group++)
			assert_int_equal(w->samples[node][group], 0);
	free(path);
}

static void each_stack_is_there_once(void **state)
{
	for (uint32_t lists = 1; lists < 12; lists++) {
		struct joined j[12] = { 0 };
		struct wanted *w = calloc(1, sizeof(*w));

		for (uint32_t i = 0; i < lists; i++) {
			struct lookup_stacks s;
			struct sums sums = { 0 };

			list_of(&s, &sums, i == 3 ? 0 : rnd(60), rnd(3) != 0, w);
			assert_int_equal(joined_take(&j[i], &s, &sums), 0);
			assert_null(s.nodes);
			assert_int_equal(sums.n, 0);
			sums_free(&sums);
		}
		assert_int_equal(joined_all(j, lists), 0);
		check(&j[0], w);
		joined_free(&j[0]);
		trie_free(&w->stacks);
		free(w);
	}
	(void)state;
}

static void a_count_of_no_node_is_refused(void **state)
{
	struct lookup_stacks s = { .list.highest = 1, .nodes = calloc(2, sizeof(*s.nodes)) };
	const struct sums_row row = { 0, 1, 1, 1 };
	struct sums sums = { 0 };
	struct joined j = { 0 };

	assert_int_equal(sums_add(&sums, &row), 0);
	assert_int_equal(joined_take(&j, &s, &sums), -EBADMSG);
	sums_free(&sums);
	assert_null(j.nodes);
	(void)state;
}

/* Node 3 stands behind its parent's brother. */
static void a_list_in_no_order_is_refused(void **state)
{
	static const struct blocks_node nodes[] = { { 0, 0 }, { 0, 1 }, { 0, 2 }, { 1, 3 } };
	struct joined j[2] = { 0 };

	for (size_t i = 0; i < 2; i++) {
		j[i].nodes = calloc(4, sizeof(*nodes));
		j[i].n = 3;
		for (size_t id = 1; id < 4; id++)
			j[i].nodes[id] = nodes[id];
	}
	assert_int_equal(joined_all(j, 2), -EBADMSG);
	joined_free(&j[0]);
	joined_free(&j[1]);
	(void)state;
}

/* By what a count is known without callers: its frame; of what was folded its caller's, too. */
static uint64_t *innermost_samples(uint64_t *samples, const struct blocks_node *nodes,
                                   uint32_t node)
{
	const struct blocks_node *at = &nodes[node];

	if (!node || at->frame != BLOCKS_FOLDED)
		return &samples[node ? at->frame : 0];
	return &samples[1000 + nodes[at->parent].frame];
}

static void without_callers_each_innermost_frame_is_there_once(void **state)
{
	for (uint32_t turn = 0; turn < 20; turn++) {
		struct wanted *w = calloc(1, sizeof(*w));
		uint64_t samples[2000] = { 0 };
		struct joined j[4] = { 0 };

		for (uint32_t i = 0; i < 4; i++) {
			struct lookup_stacks s;
			struct sums sums = { 0 };

			list_of(&s, &sums, rnd(60), rnd(3) != 0, w);
			/* In a list that is written nothing is below what was folded. */
			for (size_t k = 0; k < sums.n; k++)
				for (uint32_t at = s.nodes[sums.rows[k].node].parent; at;
				     at = s.nodes[at].parent)
					if (s.nodes[at].frame == BLOCKS_FOLDED)
						sums.rows[k].node = at;
			for (size_t k = 0; k < sums.n; k++)
				*innermost_samples(samples, s.nodes, sums.rows[k].node) +=
				        sums.rows[k].samples;
			assert_int_equal(innermost_take(&s, &sums), 0);
			assert_int_equal(joined_take(&j[i], &s, &sums), 0);
			sums_free(&sums);
		}
		assert_int_equal(joined_all(j, 4), 0);
		for (size_t i = 0; i < j[0].sums.n; i++)
			*innermost_samples(samples, j[0].nodes, j[0].sums.rows[i].node) -=
			        j[0].sums.rows[i].samples;
		/* No frame has two nodes. */
		assert_true(j[0].n <= 2 * 7);
		for (size_t i = 0; i < 2000; i++)
			assert_int_equal(samples[i], 0);
		joined_free(&j[0]);
		trie_free(&w->stacks);
		free(w);
	}
	(void)state;
}

/* What was folded has no string in any list, and can be asked for all the same. */
static void what_was_folded_is_a_function(void **state)
{
	static const struct blocks_node nodes[] = { { 0, 0 }, { 0, 5 }, { 1, BLOCKS_FOLDED } };
	const struct named folded = { .folded = true };
	struct lookup_stacks s = { .list.highest = 2, .nodes = calloc(3, sizeof(*nodes)) };
	struct lookup l = { 0 };
	struct sums sums = { 0 };

	for (uint32_t id = 1; id < 3; id++) {
		const struct sums_row row = { 0, id, id, id };

		s.nodes[id] = nodes[id];
		assert_int_equal(sums_add(&sums, &row), 0);
	}
	assert_int_equal(named_take(&folded, &l, &s, &sums), 0);
	assert_int_equal(sums.rows[0].node, 0);
	assert_int_equal(sums.rows[1].node, 1);
	assert_int_equal(s.nodes[1].frame, BLOCKS_FOLDED);
	lookup_stacks_free(&s);
	lookup_free(&l);
	sums_free(&sums);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stack_is_there_once),
		cmocka_unit_test(a_count_of_no_node_is_refused),
		cmocka_unit_test(a_list_in_no_order_is_refused),
		cmocka_unit_test(what_was_folded_is_a_function),
		cmocka_unit_test(without_callers_each_innermost_frame_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
