// SPDX-License-Identifier: MIT
// Unit tests of profile/: sums of tables against a slow count over plain stacks, and merge and
// filter against the same samples added at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profile/rollup.h"
#include "profile/tree.h"
#include "profile_plain.h"

static bool has(const struct plain *s, unsigned function)
{
	for (unsigned i = 0; i < s->depth; i++)
		if (s->function[i] == function)
			return true;
	return false;
}

/* The weights of one function in one comm, counted the slow way. */
static void count(const struct plain *samples, size_t n, const char *comm, const char *symbol,
                  uint64_t *self, uint64_t *total)
{
	*self = *total = 0;
	for (size_t i = 0; i < n; i++) {
		const struct plain *s = &samples[i];
		unsigned function = symbol[0] == 'f' ? (unsigned)(symbol[1] - '0') : 0;

		if (s->comm != (unsigned)(comm[0] - 'a') || !has(s, function))
			continue;
		*total += s->weight;
		if (s->function[s->depth - 1] == function)
			*self += s->weight;
	}
}

/* A function that stands alone in some stacks and inlined in others is one row, whichever came
 * first. */
static void a_row_is_of_the_least_kind(void **state)
{
	for (int first = 0; first < 2; first++) {
		struct profile *p;
		struct rollup t;
		struct tree tree;

		assert_int_equal(profile_new(&p, 0), 0);
		for (int i = 0; i < 2; i++) {
			struct profile_frame f = { .address = 1 + (uint64_t)i,
				                   .object = profile_object(p, "o", NULL),
				                   .symbol = profile_string(p, "f"),
				                   .kind = i == first ? PROFILE_USER
				                                      : PROFILE_INLINED };
			struct profile_key key = { .event = profile_event(p, "e"),
				                   .task = profile_task(p, profile_string(p, "c"),
				                                        1, 1) };

			key.node = profile_node(p, PROFILE_ROOT, profile_frame(p, &f));
			assert_int_equal(profile_add(p, &key, 1, 1), 0);
		}
		assert_int_equal(rollup_build(&t, p,
		                              &(struct rollup_opts){ .columns = 1u
		                                                                << ROLLUP_SYMBOL }),
		                 0);
		assert_int_equal(t.n, 1);
		assert_int_equal(t.rows[0].kind, PROFILE_USER);
		rollup_free(&t);
		assert_int_equal(tree_build(&tree, p, &(struct tree_opts){ .order = TREE_CALLEE }),
		                 0);
		assert_int_equal(tree.n, 2);
		assert_int_equal(tree.nodes[1].kind, PROFILE_USER);
		tree_free(&tree);
		profile_free(p);
	}
}

/* stacks: so many of the samples' stacks differ. */
static void equals_the_slow_count(size_t stacks, unsigned keep)
{
	enum {
		N = 3000
	};
	struct plain *samples = calloc(N, sizeof(*samples));
	uint64_t sum_self = 0, sum = 0;
	struct profile *p;
	struct rollup t;
	char b[16];

	seed = 1;
	for (size_t i = 0; i < N; i++) {
		samples[i] = plain_random();
		sum += samples[i].weight;
		if (i < stacks)
			continue;
		samples[i].depth = samples[i % stacks].depth;
		memcpy(samples[i].function, samples[i % stacks].function,
		       sizeof(samples[i].function));
	}
	p = profile_of(samples, N, keep);
	assert_int_equal(rollup_build(&t, p,
	                              &(struct rollup_opts){ .columns = 1u << ROLLUP_COMM |
	                                                                1u << ROLLUP_OBJECT |
	                                                                1u << ROLLUP_SYMBOL }),
	                 0);
	rollup_sort(&t, true);
	/* 3 comms, 6 functions each, and a row for empty stacks. */
	if (stacks == N)
		assert_int_equal(t.n, 3 * (FUNCTIONS + 1));
	for (size_t i = 0; i < t.n; i++) {
		const char *comm = rollup_text(&t, &t.rows[i], ROLLUP_COMM, b, sizeof(b));
		uint64_t self, total;

		sum_self += t.rows[i].self;
		if (i)
			assert_true(t.rows[i].total <= t.rows[i - 1].total);
		if (!t.rows[i].value[ROLLUP_OBJECT])
			continue; /* empty stacks */
		count(samples, N, comm, rollup_text(&t, &t.rows[i], ROLLUP_SYMBOL, b, sizeof(b)),
		      &self, &total);
		assert_int_equal(t.rows[i].self, self);
		assert_int_equal(t.rows[i].total, total);
	}
	assert_int_equal(sum_self, sum);
	assert_int_equal(t.weight, sum);
	assert_int_equal(t.samples, N);
	rollup_free(&t);
	profile_free(p);
	free(samples);
}

/* Of few stacks, in many rows, totals come from nodes instead of rows. */
static void rollup_equals_the_slow_count(void **state)
{
	equals_the_slow_count(3000, 0);
	equals_the_slow_count(2, PROFILE_KEEP_CPU | PROFILE_KEEP_TID);
	equals_the_slow_count(20, PROFILE_KEEP_CPU | PROFILE_KEEP_TID);
}

static void recursion_counts_once(void **state)
{
	struct plain s = { .depth = 4, .function = { 1, 2, 1, 2 }, .weight = 10 };
	struct profile *p = profile_of(&s, 1, 0);
	struct rollup t;

	assert_int_equal(rollup_build(&t, p,
	                              &(struct rollup_opts){ .columns = 1u << ROLLUP_SYMBOL }),
	                 0);
	assert_int_equal(t.n, 2);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(t.rows[i].total, 10);
	assert_int_equal(t.rows[0].self + t.rows[1].self, 10);
	rollup_free(&t);
	profile_free(p);
}

/* Equal tables whatever the ids are. */
static void assert_same(const struct profile *a, const struct profile *b)
{
	const struct rollup_opts all = { .columns = (1u << ROLLUP_COLUMNS) - 1 };
	struct profile_account aa, ab;
	struct rollup ta, tb;
	char ba[16], bb[16];

	assert_int_equal(rollup_build(&ta, a, &all), 0);
	assert_int_equal(rollup_build(&tb, b, &all), 0);
	rollup_sort(&ta, true);
	rollup_sort(&tb, true);
	assert_int_equal(ta.n, tb.n);
	for (size_t i = 0; i < ta.n; i++) {
		assert_int_equal(ta.rows[i].self, tb.rows[i].self);
		assert_int_equal(ta.rows[i].total_samples, tb.rows[i].total_samples);
		for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
			assert_string_equal(rollup_text(&ta, &ta.rows[i], c, ba, sizeof(ba)),
			                    rollup_text(&tb, &tb.rows[i], c, bb, sizeof(bb)));
	}
	profile_account(a, 0, &aa);
	profile_account(b, 0, &ab);
	assert_memory_equal(&aa, &ab, sizeof(aa));
	assert_int_equal(profile_n_rows(a), profile_n_rows(b));
	assert_int_equal(profile_n_nodes(a), profile_n_nodes(b));
	rollup_free(&ta);
	rollup_free(&tb);
}

static void merge_equals_adding_all(void **state)
{
	enum {
		N = 1500,
		PARTS = 4
	};
	unsigned keep = PROFILE_KEEP_CPU | PROFILE_KEEP_PID;
	struct plain *samples = calloc(N, sizeof(*samples));
	const struct profile_state first = {
		.name = "one", .text = "the first", .hint = "what helps", .whole = true
	};
	struct profile_account account;
	struct profile *all, *merged, *part;

	seed = 3;
	for (size_t i = 0; i < N; i++)
		samples[i] = plain_random();
	seed = 4; /* addresses: the same sequence both times */
	all = profile_of(samples, N, keep);
	seed = 4;
	assert_int_equal(profile_new(&merged, keep), 0);
	for (size_t i = 0; i < PARTS; i++) {
		part = profile_of(samples + i * N / PARTS, N / PARTS, keep);
		profile_counts(part)->lost = i;
		assert_int_equal(profile_set_state(part, 1, &first), 0);
		assert_int_equal(profile_merge(merged, part), 0);
		profile_free(part);
	}
	assert_int_equal(profile_set_state(all, 1, &first), 0);
	assert_same(all, merged);
	assert_int_equal(profile_counts_of(merged)->lost, 0 + 1 + 2 + 3);
	assert_string_equal(profile_state_at(merged, 1)->text, "the first");
	assert_string_equal(profile_state_at(merged, 1)->hint, "what helps");
	profile_account(merged, 0, &account);
	assert_int_not_equal(account.state[1], 0);
	assert_int_equal(account.whole, account.state[1]);
	assert_int_equal(profile_new(&part, 0), 0);
	assert_int_equal(profile_merge(merged, part), -22); /* other keys */
	profile_free(part);
	profile_free(all);
	profile_free(merged);
	free(samples);
}

static bool keep_cpu_2(const struct profile *p, const struct profile_row *row, void *ctx)
{
	++*(size_t *)ctx;
	return row->key.cpu == 2;
}

static void filter_equals_adding_some(void **state)
{
	enum {
		N = 1000
	};
	struct plain *samples = calloc(N, sizeof(*samples));
	struct profile *all, *some, *filtered, *chosen;
	size_t asked = 0, row = 0;

	seed = 5;
	for (size_t i = 0; i < N; i++) {
		samples[i] = plain_random();
		samples[i].depth = samples[i].depth > 2 ? 2 : samples[i].depth;
	}
	all = profile_of(samples, N, PROFILE_KEEP_CPU);
	assert_int_equal(profile_filter(&filtered, all, keep_cpu_2, &asked), 0);
	assert_int_equal(asked, profile_n_rows(all));
	assert_int_equal(profile_new(&some, PROFILE_KEEP_CPU), 0);
	for (size_t i = 0; i < profile_n_rows(filtered); i++)
		assert_int_equal(profile_row_at(filtered, i)->key.cpu, 2);
	for (size_t i = 0; i < N; i++)
		if (samples[i].cpu == 2)
			add(some, &samples[i]);
	assert_true(profile_n_rows(filtered) > 0);
	{
		struct profile_account a, b;

		profile_account(filtered, 0, &a);
		profile_account(some, 0, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		/* Without a copy the rows are those of the whole, and sums are of them alone. */
		assert_int_equal(profile_choose(&chosen, all, keep_cpu_2, &asked), 0);
		profile_account(chosen, 0, &a);
		assert_memory_equal(&a, &b, sizeof(a));
	}
	assert_int_equal(asked, 2 * profile_n_rows(all));
	assert_int_equal(profile_n_rows(chosen), profile_n_rows(filtered));
	for (size_t i = 0; i < profile_n_rows(all); i++)
		if (profile_row_at(all, i)->key.cpu == 2)
			assert_memory_equal(profile_row_at(chosen, row++), profile_row_at(all, i),
			                    sizeof(struct profile_row));
	assert_int_equal(row, profile_n_rows(chosen));
	assert_ptr_equal(profile_text(chosen, 1), profile_text(all, 1));
	profile_free(chosen);
	profile_free(some);
	profile_free(filtered);
	profile_free(all);
	free(samples);
}

static void equal_samples_cost_no_memory(void **state)
{
	struct plain s = { .depth = DEPTH, .function = { 1, 2, 3, 4, 5, 1, 2, 3, 4 }, .weight = 3 };
	struct profile *p = profile_of(&s, 1, 0);
	struct profile_key key = profile_row_at(p, 0)->key;
	size_t nodes = profile_n_nodes(p), frames = profile_n_frames(p);

	for (uint32_t i = 0; i < 10000; i++) {
		key.cpu = i; /* not kept */
		assert_int_equal(profile_add(p, &key, 1, 3), 0);
	}
	assert_int_equal(profile_n_rows(p), 1);
	assert_int_equal(profile_n_nodes(p), nodes);
	assert_int_equal(profile_n_frames(p), frames);
	assert_int_equal(profile_row_at(p, 0)->samples, 10001);
	assert_int_equal(profile_row_at(p, 0)->weight, 30003);
	assert_int_equal(profile_row_at(p, 0)->key.cpu, PROFILE_NOT_KEPT);
	profile_free(p);
}

/* Rows that were added without a look are found by who looks later. */
static void new_rows_are_found(void **state)
{
	struct plain s = { .depth = DEPTH, .function = { 1, 2, 3, 4, 5, 1, 2, 3, 4 }, .weight = 3 };
	struct profile *p = profile_of(&s, 1, 0);
	struct profile_key key = profile_row_at(p, 0)->key;
	struct profile_account a;

	for (uint32_t again = 0; again < 2; again++)
		for (uint32_t node = 1000; node < 3000; node++) {
			key.node = node + again * 1000;
			assert_int_equal((again && node < 2000 ? profile_add
			                                       : profile_add_new)(p, &key, 1, 3),
			                 0);
		}
	assert_int_equal(profile_n_rows(p), 3001);
	for (size_t i = 1; i < 3001; i++) {
		const uint32_t node = profile_row_at(p, i)->key.node;

		assert_int_equal(profile_row_at(p, i)->samples,
		                 node >= 2000 && node < 3000 ? 2 : 1);
	}
	profile_account(p, key.event, &a);
	assert_int_equal(a.samples, 4001);
	profile_free(p);
}

static void ids_that_are_not_there_read_as_nothing(void **state)
{
	struct profile *p;

	assert_int_equal(profile_new(&p, 0), 0);
	assert_string_equal(profile_text(p, 77), "");
	assert_string_equal(profile_event_name(p, 77), "");
	assert_int_equal(profile_frame_at(p, 77)->symbol, 0);
	assert_int_equal(profile_object_at(p, 77)->path, 0);
	assert_int_equal(profile_task_at(p, 77)->tid, PROFILE_NOT_KEPT);
	assert_int_equal(profile_node_at(p, 77).parent, PROFILE_ROOT);
	assert_string_equal(profile_state_at(p, 77)->name, "unnamed");
	assert_int_equal(profile_set_state(p, PROFILE_STATES_MAX,
	                                   &(struct profile_state){ .name = "x" }),
	                 -22);
	assert_int_equal(profile_n_events(p), 0);
	assert_int_equal(profile_n_nodes(p), 0);
	profile_free(p);
	profile_free(NULL);
}

static size_t expand_at(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	static const struct profile_source sources[] = { { NULL, "a.c", 10 },
		                                         { "inner", "b.h", 20 },
		                                         { "innermost", NULL, 0 } };

	(void)ctx;
	*ret = sources;
	return frame == 1 ? 3 : frame == 2 ? 1 : 0;
}

/* What is inlined stands below the frame it is inlined in; weights are what they were. */
static void expanded_frames_keep_weights(void **state)
{
	struct profile *p, *expanded;
	struct profile_key key = { 0 };
	uint32_t outer, inner, node;
	const struct profile_frame *f;

	(void)state;
	assert_int_equal(profile_new(&p, 0), 0);
	key.event = profile_event(p, "e");
	key.task = profile_task(p, profile_string(p, "comm"), 0, 0);
	inner = profile_frame(p, &(struct profile_frame){ .address = 1,
	                                                  .symbol = profile_string(p, "f"),
	                                                  .kind = PROFILE_USER,
	                                                  .depth = UINT32_MAX });
	outer = profile_frame(p, &(struct profile_frame){ .address = 2, .kind = PROFILE_USER });
	assert_int_equal(inner, 1);
	key.node = profile_node(p, profile_node(p, PROFILE_ROOT, outer), inner);
	assert_int_equal(profile_add(p, &key, 3, 300), 0);
	assert_int_equal(profile_expand(&expanded, p, expand_at, NULL), 0);
	assert_int_equal(profile_n_rows(expanded), 1);
	assert_int_equal(profile_row_at(expanded, 0)->weight, 300);
	node = profile_row_at(expanded, 0)->key.node;
	f = profile_frame_at(expanded, profile_node_at(expanded, node).frame);
	assert_string_equal(profile_text(expanded, f->symbol), "innermost");
	assert_int_equal(f->kind, PROFILE_INLINED);
	assert_int_equal(f->depth, 2);
	assert_int_equal(f->address, 1);
	node = profile_node_at(expanded, node).parent;
	f = profile_frame_at(expanded, profile_node_at(expanded, node).frame);
	assert_string_equal(profile_text(expanded, f->symbol), "inner");
	assert_string_equal(profile_text(expanded, f->file), "b.h");
	node = profile_node_at(expanded, node).parent;
	f = profile_frame_at(expanded, profile_node_at(expanded, node).frame);
	assert_string_equal(profile_text(expanded, f->symbol), "f");
	assert_int_equal(f->line, 10);
	assert_int_equal(f->depth, 0);
	node = profile_node_at(expanded, node).parent;
	f = profile_frame_at(expanded, profile_node_at(expanded, node).frame);
	assert_int_equal(f->address, 2);
	assert_int_equal(f->line, 10);
	assert_int_equal(profile_node_at(expanded, node).parent, PROFILE_ROOT);
	profile_free(p);
	profile_free(expanded);
}

/* A frame of 1 has inlined calls, 2 and 4 are one but for the depth, all others have no lines. */
static size_t alike_at(void *ctx, uint32_t frame, const struct profile_source **ret)
{
	(void)ctx;
	return expand_at(NULL, frame == 4 ? 2 : frame, ret);
}

/* Fills a profile with `plain` stacks, and stacks of frames 1, 2 and 4; the last two become one. */
static struct profile *alike_new(uint32_t plain)
{
	struct profile_key key = { 0 };
	struct profile *p;
	uint32_t frame[5];

	assert_int_equal(profile_new(&p, 0), 0);
	key.event = profile_event(p, "e");
	key.task = profile_task(p, profile_string(p, "comm"), 0, 0);
	for (uint32_t i = 1; i <= 4; i++) {
		frame[i] = profile_frame(p, &(struct profile_frame){ .address = i == 4 ? 2 : i,
		                                                     .kind = PROFILE_USER,
		                                                     .depth = i == 2 ? UINT32_MAX
		                                                                     : 0 });
		assert_int_equal(frame[i], i);
	}
	for (uint32_t i = 1; i <= 4; i++) {
		key.node = profile_node(p, profile_node(p, PROFILE_ROOT, frame[3]), frame[i]);
		assert_int_equal(profile_add(p, &key, i, i * 10), 0);
		key.node = profile_node(p, key.node, frame[1]);
		key.node = profile_node(p, key.node, frame[3]);
		assert_int_equal(profile_add(p, &key, i, i * 100), 0);
	}
	key.node = PROFILE_ROOT;
	for (uint32_t i = 0; i < plain; i++) {
		struct profile_frame f = { .address = 100 + i, .kind = PROFILE_USER };

		key.node = profile_node(p, key.node, profile_frame(p, &f));
		assert_int_equal(profile_add(p, &key, 1, 1), 0);
	}
	return p;
}

/* Without a copy a profile becomes what the copy is; where most of it changes, it is left alone. */
static void expanded_in_place_is_the_copy(void **state)
{
	for (int few = 0; few < 2; few++) {
		struct profile *p = alike_new(few ? 200 : 0), *copy, *a, *b;
		size_t rows = profile_n_rows(p), nodes = profile_n_nodes(p);
		struct profile_account account;

		assert_int_equal(profile_expand(&copy, p, alike_at, NULL), 0);
		assert_int_equal(profile_n_rows(copy), rows - 2);
		assert_int_equal(profile_expand_in_place(p, alike_at, NULL), few);
		if (!few) {
			assert_int_equal(profile_n_rows(p), rows);
			assert_int_equal(profile_n_nodes(p), nodes);
			assert_int_equal(profile_frame_at(p, 2)->depth, UINT32_MAX);
		} else {
			assert_int_equal(profile_canonical(&a, p), 0);
			assert_int_equal(profile_canonical(&b, copy), 0);
			assert_int_equal(profile_n_rows(a), rows - 2);
			assert_int_equal(profile_n_rows(b), rows - 2);
			assert_int_equal(profile_n_frames(a), profile_n_frames(b));
			assert_int_equal(profile_n_nodes(a), profile_n_nodes(b));
			for (size_t i = 0; i < rows - 2; i++)
				assert_memory_equal(profile_row_at(a, i), profile_row_at(b, i),
				                    sizeof(struct profile_row));
			for (uint32_t i = 1; i <= profile_n_nodes(a); i++) {
				struct profile_node x = profile_node_at(a, i),
				                    y = profile_node_at(b, i);
				const struct profile_frame *f = profile_frame_at(a, x.frame);
				const struct profile_frame *g = profile_frame_at(b, y.frame);

				assert_int_equal(x.parent, y.parent);
				assert_int_equal(f->address, g->address);
				assert_int_equal(f->line, g->line);
				assert_int_equal(f->depth, g->depth);
				assert_string_equal(profile_text(a, f->symbol),
				                    profile_text(b, g->symbol));
			}
			profile_free(a);
			profile_free(b);
		}
		profile_account(p, 0, &account);
		assert_int_equal(account.samples, 20 + (few ? 200 : 0));
		assert_int_equal(account.weight, 1100 + (few ? 200 : 0));
		profile_free(p);
		profile_free(copy);
	}
	(void)state;
}

/* What a row is, as text in the order in which a canonical profile has its rows. */
static void row_text(const struct profile *p, size_t i, char *ret, size_t size)
{
	const struct profile_key *k = &profile_row_at(p, i)->key;
	const char *comm = profile_text(p, profile_task_at(p, k->task)->comm);
	char cgroup[16] = "~", stack[128] = "";

	if (k->cgroup != PROFILE_NOT_KEPT)
		snprintf(cgroup, sizeof(cgroup), "%s", profile_text(p, k->cgroup));
	for (uint32_t node = k->node; node; node = profile_node_at(p, node).parent) {
		const struct profile_frame *f = profile_frame_at(p, profile_node_at(p, node).frame);
		char rest[128];

		snprintf(rest, sizeof(rest), "%s", stack);
		snprintf(stack, sizeof(stack), "%c%02llu/%.100s",
		         f->object ? *(profile_text(p, profile_object_at(p, f->object)->path) + 1)
		                   : ' ',
		         (unsigned long long)f->address, rest);
	}
	snprintf(ret, size, "%u %s %08x %08x %s %u %s %llu", k->event, comm, k->cpu, k->slice,
	         cgroup, k->state, stack, (unsigned long long)profile_row_at(p, i)->weight);
}

/* Rows of every kind of key, added in the order of from, from + step ... of n. */
static struct profile *many_keys(unsigned n, unsigned from, unsigned step)
{
	static const char *const groups[] = { "/b", "/a", "/c/d", "/c" };
	struct profile *p, *ret;

	assert_int_equal(profile_new(&p,
	                             PROFILE_KEEP_CPU | PROFILE_KEEP_SLICE | PROFILE_KEEP_CGROUP),
	                 0);
	profile_event(p, "first");
	profile_event(p, "second");
	for (unsigned k = 0, i = from; k < n; k++, i = (i + step) % n) {
		char comm[2] = { (char)('a' + i % 3), '\0' };
		struct profile_key key = {
			.event = 1 + i / 3 % 2,
			.task = profile_task(p, profile_string(p, comm), 0, 0),
			.cpu = i / 7 % 4 == 3 ? PROFILE_NOT_KEPT : i / 7 % 4 * 70000,
			.slice = i / 11 % 3,
			.cgroup = i / 5 % 5 == 4 ? PROFILE_NOT_KEPT
			                         : profile_string(p, groups[i / 5 % 5]),
			.state = i / 13 % 3,
		};

		for (unsigned d = 0; d < i % 4; d++)
			key.node = profile_node(p, key.node, frame_of(p, 2, 10 + (i + d) % 5));
		assert_int_equal(profile_add(p, &key, 1, i), 0);
	}
	assert_int_equal(profile_canonical(&ret, p), 0);
	profile_free(p);
	return ret;
}

static void canonical_rows_are_in_order(void **state)
{
	enum {
		N = 997
	};
	struct profile *a = many_keys(N, 0, 1), *b = many_keys(N, 500, 313);
	char before[256] = "", text[256], other[256];

	(void)state;
	assert_int_equal(profile_n_rows(a), profile_n_rows(b));
	for (size_t i = 0; i < profile_n_rows(a); i++) {
		row_text(a, i, text, sizeof(text));
		row_text(b, i, other, sizeof(other));
		assert_string_equal(text, other);
		assert_true(strcmp(before, text) < 0);
		memcpy(before, text, sizeof(before));
		assert_memory_equal(&profile_row_at(a, i)->key, &profile_row_at(b, i)->key,
		                    sizeof(struct profile_key));
	}
	profile_free(a);
	profile_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rollup_equals_the_slow_count),
		cmocka_unit_test(recursion_counts_once),
		cmocka_unit_test(merge_equals_adding_all),
		cmocka_unit_test(filter_equals_adding_some),
		cmocka_unit_test(equal_samples_cost_no_memory),
		cmocka_unit_test(new_rows_are_found),
		cmocka_unit_test(ids_that_are_not_there_read_as_nothing),
		cmocka_unit_test(a_row_is_of_the_least_kind),
		cmocka_unit_test(canonical_rows_are_in_order),
		cmocka_unit_test(expanded_frames_keep_weights),
		cmocka_unit_test(expanded_in_place_is_the_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
