// SPDX-License-Identifier: MIT
// profile_samples.c: samples that are kept one by one are of the rows that count them, whatever is
// made of a profile.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "profile/profile.h"

#define SAMPLES 600u
#define TASKS 3u
#define NODES 20u /* a row of each task is at each */

/* A profile of samples at each of some nodes, by three tasks. Its frames have so many addresses,
 * and until profile_expand another depth where they have those of others. */
static struct profile *made(uint64_t from_ns, uint32_t addresses)
{
	struct profile_key key = { 0 };
	struct profile *p;
	uint32_t node[NODES], task[TASKS], at = PROFILE_ROOT;

	assert_int_equal(profile_new(&p, PROFILE_KEEP_SAMPLES | PROFILE_KEEP_TID), 0);
	key.event = profile_event(p, "e");
	for (uint32_t i = 0; i < TASKS; i++)
		task[i] = profile_task(p, profile_string(p, "comm"), 0, i);
	for (uint32_t i = 0; i < NODES; i++) {
		struct profile_frame f = { .address = i % addresses, .kind = PROFILE_USER };

		f.depth = i < addresses ? 0 : UINT32_MAX;
		at = node[i] = profile_node(p, i % 2 ? at : PROFILE_ROOT, profile_frame(p, &f));
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		struct profile_sample sample = { .time_ns = from_ns + i, .weight = i + 1 };

		key.node = node[i % NODES];
		key.task = task[i % TASKS];
		assert_int_equal(profile_add_sampled(p, &key, 1, i + 1, &sample.key), 0);
		assert_int_equal(profile_add_sample(p, &sample), 0);
	}
	return p;
}

/* The samples of each row have its weight, and a sample is still of its task and address. */
static void assert_rows_have_their_samples(const struct profile *p, size_t samples,
                                           uint32_t addresses)
{
	uint64_t *weight = calloc(profile_n_rows(p), sizeof(*weight));

	assert_non_null(weight);
	assert_int_equal(profile_n_samples(p), samples);
	for (size_t i = 0; i < samples; i++) {
		const struct profile_sample *s = profile_sample_at(p, i);
		const struct profile_key *key = profile_key_of(p, s);
		const uint64_t number = s->weight - 1;
		uint32_t node = key->node;

		assert_int_equal(profile_task_at(p, key->task)->tid, number % TASKS);
		while (profile_frame_at(p, profile_node_at(p, node).frame)->kind == PROFILE_INLINED)
			node = profile_node_at(p, node).parent;
		assert_int_equal(profile_frame_at(p, profile_node_at(p, node).frame)->address,
		                 number % addresses);
		weight[s->key - 1] += s->weight;
	}
	for (size_t i = 0; i < profile_n_rows(p); i++)
		assert_int_equal(profile_row_at(p, i)->weight, weight[i]);
	free(weight);
}

/* Frames of one address have inlined calls if *ctx says so; no others have lines. */
static size_t expand_at(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	static const struct profile_source sources[] = { { NULL, "a.c", 10 },
		                                         { "inner", "b.h", 20 } };

	*ret = sources;
	return *(bool *)ctx && frame % (NODES / 2) == 3 ? 2 : 0;
}

static bool second_task(const struct profile *p, const struct profile_row *row, void *ctx)
{
	return profile_task_at(p, row->key.task)->tid == 1;
}

static void samples_are_of_their_rows(void **state)
{
	struct profile *p = made(5, NODES), *other = made(1, NODES), *some, *of_those;

	assert_int_equal(profile_n_rows(p), NODES * TASKS);
	assert_rows_have_their_samples(p, SAMPLES, NODES);
	assert_int_equal(profile_filter(&some, p, second_task, NULL), 0);
	assert_rows_have_their_samples(some, SAMPLES / TASKS, NODES);
	profile_free(some);
	assert_int_equal(profile_choose(&some, p, second_task, NULL), 0);
	assert_int_equal(profile_n_rows(some), NODES);
	assert_rows_have_their_samples(some, SAMPLES / TASKS, NODES);
	assert_int_equal(profile_choose(&of_those, some, second_task, NULL), 0);
	assert_rows_have_their_samples(of_those, SAMPLES / TASKS, NODES);
	profile_free(of_those);
	assert_int_equal(profile_canonical(&of_those, some), 0);
	assert_rows_have_their_samples(of_those, SAMPLES / TASKS, NODES);
	profile_free(of_those);
	profile_free(some);
	assert_int_equal(profile_merge(p, other), 0);
	assert_rows_have_their_samples(p, 2 * SAMPLES, NODES);
	profile_free(other);
	profile_free(p);
}

/* Frames of one address become one, and their rows do: all, or none are equal. */
static void samples_are_of_rows_that_move(void **state)
{
	for (int at = 0; at < 4; at++) {
		const uint32_t addresses = at & 1 ? NODES : NODES / 2;
		struct profile *p = made(1, addresses), *copy;
		bool inlined = at & 2;
		int r = profile_expand(&copy, p, expand_at, &inlined);

		assert_int_equal(r, 0);
		assert_int_equal(profile_n_rows(copy), addresses * TASKS);
		assert_rows_have_their_samples(copy, SAMPLES, addresses);
		r = profile_expand_in_place(p, expand_at, &inlined);
		assert_int_equal(r, at != 2); /* too many move */
		assert_int_equal(profile_n_rows(p), (r ? addresses : NODES) * TASKS);
		assert_rows_have_their_samples(p, SAMPLES, addresses);
		profile_free(copy);
		profile_free(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_of_their_rows),
		cmocka_unit_test(samples_are_of_rows_that_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
