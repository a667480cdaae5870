// SPDX-License-Identifier: MIT
/*
 * fleet_flat.c: what is told of stacks that were never made is what the same stacks tell: sums by
 * function, what is outermost on them, what has no name; of windows as they were written, compacted
 * and folded, with functions that recur, several writers, and any filter; of parts of time that are
 * summed up, whoever puts, forgets and folds windows then.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "aggregate/load_cut.h"
#include "base/map.h"
#include "fleet/answer.h"
#include "fleet/flat_frames.h"
#include "fleet/nameless_frames.h"
#include "fleet/sum_up.h"
#include "rnd.h"

#define SECOND 1000000000ull
#define WINDOWS 96u
#define SAMPLES 24u
#define FUNCTIONS 9u

static struct store *store;

/* One of few frames: some without a name, some of one function at two lines, some inlined, some of
 * CPython. */
static uint32_t frame_of(struct profile *p, uint32_t n)
{
	static const char *const names[FUNCTIONS] = {
		"a", "b", "c", NULL, "_PyEval_EvalFrameDefault", "e", "py::f", "[unknown x+0x10]",
		"h",
	};
	const struct profile_frame f = {
		.object = n % 4 ? profile_object(p, n % 2 ? "/lib/odd.so" : "/bin/even", NULL) : 0,
		.symbol = names[n] ? profile_string(p, names[n]) : 0,
		.file = profile_string(p, n % 3 ? "x.c" : "y.c"),
		.line = rnd(2),
		.kind = n % 5 == 1    ? PROFILE_KERNEL
		        : rnd(2) == 1 ? PROFILE_INLINED
		                      : PROFILE_USER,
		.depth = 0,
	};

	return profile_frame(p, &f);
}

static uint32_t stack_of(struct profile *p)
{
	static const char *const ends[] = { "[unfinished: x]", "[unfinished: cut at 9 frames]" };
	uint32_t node = PROFILE_ROOT;

	if (!rnd(4)) {
		const struct profile_frame f = { .kind = PROFILE_MISSING,
			                         .symbol = profile_string(p, ends[rnd(2)]) };

		node = profile_node(p, node, profile_frame(p, &f));
	}
	for (uint32_t depth = rnd(9); depth; depth--)
		node = profile_node(p, node, frame_of(p, rnd(FUNCTIONS)));
	return node;
}

static void put(unsigned window)
{
	static const char *const comms[] = { "one", "two" };
	struct labels labels[4] = { 0 };
	struct profile *p;
	struct store_window w = { .instance = window / 24 % 2 ? "y" : "x",
		                  .from_ns = window * 10 * SECOND,
		                  .to_ns = (window + 1) * 10 * SECOND,
		                  .series = labels,
		                  .n_series = 4 };
	/* Some windows have sums beside them. */
	struct flat flat = { .says = flat_python_says, .frame = flat_frames_say };
	struct flat_frames frames = { .flat = &flat };
	uint32_t *series;

	flat.ctx = &frames;
	w.flat = rnd(5) ? &flat : NULL;
	assert_int_equal(profile_new(&p, PROFILE_KEEP_CPU), 0);
	assert_int_equal(load_states(p), 0);
	for (unsigned i = 0; i < 4; i++) {
		labels_set(&labels[i], "comm", comms[i / 2]);
		labels_set(&labels[i], "host", i % 2 ? "h1" : "h2");
	}
	for (unsigned i = 0; i < SAMPLES; i++) {
		const struct profile_key key = {
			.event = rnd(3) ? profile_event_in(p, "cpu-clock", PROFILE_NANOSECONDS)
			                : profile_event(p, "faults"),
			.task = profile_task(p, profile_string(p, comms[rnd(2)]), 0, 0),
			.state = rnd(4),
			.cpu = rnd(2), /* of which host it is */
			.node = stack_of(p),
		};

		assert_int_equal(profile_add(p, &key, 1, 1 + rnd(7)), 0);
	}
	series = calloc(profile_n_rows(p) + 1, sizeof(*series));
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_key *key = &profile_row_at(p, i)->key;
		const char *comm = profile_text(p, profile_task_at(p, key->task)->comm);

		series[i] = 2 * !strcmp(comm, "two") + (key->cpu & 1);
	}
	w.profile = p;
	w.row_series = series;
	assert_int_equal(store_put(store, &w, NULL), 1);
	free(series);
	flat_frames_free(&frames);
	profile_free(p);
	for (unsigned i = 0; i < 4; i++)
		labels_free(&labels[i]);
}

#define COLUMN_BIT(id) (1u << ROLLUP_##id)

/* A table as text, in its order. A row has a kind where rows are told by their frames. */
static void table_text(struct buf *out, const struct load *load, unsigned columns, uint32_t event,
                       bool self_only)
{
	const struct rollup_opts opts = {
		.columns = columns, .event = event, .flat = load->flat, .self_only = self_only
	};
	struct rollup t;

	assert_int_equal(rollup_build(&t, load->profile, &opts), 0);
	rollup_sort(&t, !self_only);
	buf_printf(out, "%llu %llu\n", (unsigned long long)t.weight, (unsigned long long)t.samples);
	for (size_t i = 0; i < t.n; i++) {
		const struct rollup_row *row = &t.rows[i];

		for (unsigned c = 0; c < ROLLUP_COLUMNS; c++) {
			char text[ROLLUP_TEXT_MAX];

			if (columns & 1u << c)
				buf_printf(out, "%s ",
				           rollup_text(&t, row, (enum rollup_column)c, text,
				                       sizeof(text)));
		}
		if (columns & (COLUMN_BIT(SYMBOL) | COLUMN_BIT(OBJECT) | COLUMN_BIT(LINE)))
			buf_printf(out, "%u", row->kind);
		buf_printf(out, ": %llu %llu", (unsigned long long)row->self,
		           (unsigned long long)row->self_samples);
		if (!self_only)
			buf_printf(out, " %llu %llu", (unsigned long long)row->total,
			           (unsigned long long)row->total_samples);
		buf_put_text(out, "\n");
	}
	rollup_free(&t);
}

/* Everything that is told beside the tables. */
static void account_text(struct buf *out, const struct load *load)
{
	struct profile_account a;

	profile_account(load->profile, 0, &a);
	buf_printf(out, "%llu %llu %llu %llu %llu:", (unsigned long long)a.samples,
	           (unsigned long long)a.weight, (unsigned long long)a.no_stack,
	           (unsigned long long)load->taken, (unsigned long long)load->taken_unnamed);
	for (uint32_t s = 0; s < PROFILE_STATES_MAX; s++)
		buf_printf(out, " %llu", (unsigned long long)a.state[s]);
	for (size_t i = 0; i < load->n_unnamed; i++)
		buf_printf(out, "\n%s %llu", load->unnamed[i].object,
		           (unsigned long long)load->unnamed[i].samples);
	buf_put_text(out, "\n");
}

/* A key of what is outermost: frames have other numbers in another profile, and no lines in one
 * whose table shows none. */
static uint64_t top_key(const struct profile *p, uint32_t state, uint32_t frame)
{
	const struct profile_frame *f = profile_frame_at(p, frame);
	const char *name = f->symbol ? profile_text(p, f->symbol) : "";
	const char *path = profile_text(p, profile_object_at(p, f->object)->path);

	return map_hash_bytes(name, strlen(name), map_hash_bytes(path, strlen(path), 0)) +
	       (uint64_t)state * 64 + f->kind * 8;
}

/* Adds to what each outermost frame has, and to what stacks say, of a profile with stacks. */
static void look_at_stacks(const struct profile *p, struct map *tops, uint64_t *said)
{
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t path[64], n = 0, top;
		unsigned all = 0;

		for (uint32_t node = row->key.node; node; node = profile_node_at(p, node).parent) {
			const uint32_t frame = profile_node_at(p, node).frame;

			path[n++] = node;
			all |= flat_python_says(p, frame);
			if (nameless_frames_has(p, profile_frame_at(p, frame)))
				all |= FLAT_NAMELESS;
		}
		said[all] += row->samples;
		if (!n)
			continue;
		for (top = n - 1; top && load_cut_ended(p, path[top]);)
			top--;
		*map_slot(tops, top_key(p, row->key.state, profile_node_at(p, path[top]).frame),
		          NULL) += row->samples;
	}
}

/* Compares what is told of outermost frames, and what frames say. */
static void check_stacks(const struct load *flat, const struct load *whole)
{
	struct map tops = { 0 };
	uint64_t said[FLAT_SAYS] = { 0 }, key, left;
	size_t at = 0;

	look_at_stacks(whole->profile, &tops, said);
	for (size_t i = 0; i < flat->flat->n_tops; i++) {
		const struct flat_top *top = &flat->flat->tops[i];

		*map_slot(&tops, top_key(flat->profile, top->state, top->frame), NULL) -=
		        top->samples;
	}
	while (map_next(&tops, &at, &key, &left))
		assert_int_equal(left, 0);
	assert_memory_equal(said, flat->flat->samples, sizeof(said));
	map_free(&tops);
}

/* Line by line, so that the one that differs is shown. */
static void check_lines(struct buf *wanted, struct buf *got)
{
	char *w = (char *)(uintptr_t)buf_text(wanted), *g = (char *)(uintptr_t)buf_text(got);
	char *w_line, *g_line;

	do {
		w_line = strsep(&w, "\n");
		g_line = strsep(&g, "\n");
		assert_string_equal(w_line, g_line);
	} while (w && g);
	assert_true(!w && !g);
}

/* Both answers to one question. */
static void compare(const struct store_query *asked, unsigned columns)
{
	struct flat flat = { .columns = columns, .says = flat_python_says };
	const unsigned keep = PROFILE_KEEP_LABEL | (asked->slice_ns ? PROFILE_KEEP_SLICE : 0);
	struct store_query q = *asked;
	struct answer whole = { 0 }, sums = { 0 };
	struct buf wanted = { 0 }, got = { 0 };

	assert_int_equal(answer_load(&whole, store, &q, keep, NULL), 0);
	q.flat = &flat;
	assert_int_equal(answer_load(&sums, store, &q, keep, NULL), 0);
	assert_null(whole.load.flat);
	assert_true(!sums.load.taken || sums.load.flat);
	assert_int_equal(profile_n_events(whole.load.profile), profile_n_events(sums.load.profile));
	assert_int_equal(store_found_count(&whole.found, STORE_FOLDED),
	                 store_found_count(&sums.found, STORE_FOLDED));
	for (uint32_t event = 0; event <= profile_n_events(whole.load.profile); event++) {
		assert_string_equal(profile_event_name(whole.load.profile, event),
		                    profile_event_name(sums.load.profile, event));
		for (unsigned self_only = 0; self_only < 2; self_only++) {
			table_text(&wanted, &whole.load, columns, event, self_only);
			table_text(&got, &sums.load, columns, event, self_only);
		}
	}
	account_text(&wanted, &whole.load);
	account_text(&got, &sums.load);
	check_lines(&wanted, &got);
	if (sums.load.flat)
		check_stacks(&sums.load, &whole.load);
	buf_free(&wanted);
	buf_free(&got);
	answer_free(&whole);
	answer_free(&sums);
	flat_free(&flat);
}

/* Tables of each kind, of all, of a part of the series and of a part of the time. */
static void compare_all(void)
{
	static const unsigned columns[] = {
		COLUMN_BIT(SYMBOL),
		COLUMN_BIT(COMM) | COLUMN_BIT(OBJECT) | COLUMN_BIT(SYMBOL),
		COLUMN_BIT(LINE) | COLUMN_BIT(STATE) | COLUMN_BIT(EVENT),
		COLUMN_BIT(LABEL) | COLUMN_BIT(SYMBOL),
		COLUMN_BIT(LABEL) | COLUMN_BIT(COMM),
		COLUMN_BIT(OBJECT),
	};
	static const unsigned spans[][2] = { { 0, 10000 }, { 300, 1200 }, { 7, 650 } };
	static const char *const filters[] = { NULL, "host=h1,comm=one", "host=none" };

	for (size_t f = 0; f < sizeof(filters) / sizeof(*filters); f++) {
		struct labels_filter filter = { 0 };
		struct store_query q = { .by = "host" };
		size_t at = 0;

		if (filters[f])
			assert_int_equal(labels_filter_parse(&filter, filters[f], &at), 0);
		q.where = filters[f] ? &filter : NULL;
		for (size_t c = 0; c < sizeof(columns) / sizeof(*columns); c++) {
			for (size_t i = 0; i < sizeof(spans) / sizeof(*spans); i++) {
				q.from_ns = spans[i][0] * SECOND;
				q.to_ns = spans[i][1] * SECOND;
				compare(&q, columns[c]);
			}
		}
		q.from_ns = 0;
		q.to_ns = 7200 * SECOND;
		for (q.slice_ns = 450 * SECOND; q.slice_ns < q.to_ns; q.slice_ns *= 8) {
			compare(&q, COLUMN_BIT(SLICE) | COLUMN_BIT(SYMBOL));
			compare(&q, COLUMN_BIT(SLICE) | COLUMN_BIT(COMM));
		}
		labels_filter_free(&filter);
	}
}

/* So many parts are made of what is over at a time. Answers stay. */
static void sum_up_at(uint64_t now_ns, unsigned parts)
{
	const struct store_query q = { .to_ns = UINT64_MAX };
	struct store_rolled rolled = { 0 };
	struct seam_error err = { 0 };

	assert_int_equal(sum_up(store, &q, now_ns, 0, &rolled, &err), 0);
	assert_int_equal(rolled.parts, parts);
	compare_all();
}

/* The same store over and over: as it was written, half of it compacted, all of it, folded. */
static void as_written_and_compacted(void)
{
	struct store_compacted done = { 0 };

	for (unsigned i = 0; i < WINDOWS; i++)
		put(i);
	compare_all();
	/* Of ten minutes of two instances one was put behind the other: three lists of names. */
	sum_up_at(659 * SECOND, 0);
	sum_up_at(660 * SECOND, 3);
	sum_up_at(1259 * SECOND, 0);
	while (store_compact(store, 1100 * SECOND, 0, &done, NULL) > 0)
		;
	assert_true(done.windows > 0);
	sum_up_at(1260 * SECOND, 2);
	/* An hour, too; of what was short before nothing stays but in it. */
	sum_up_at(3660 * SECOND, 4);
	sum_up_at(36000 * SECOND, 0);
	/* One goes that is in parts. */
	assert_int_equal(store_forget(store, 60 * SECOND, 0, NULL), 1);
	compare_all();
	sum_up_at(36000 * SECOND, 1);
	while (store_compact(store, 86400 * SECOND, 60000, &done, NULL) > 0)
		;
	assert_true(done.folded > 0);
	compare_all();
	sum_up_at(86400 * SECOND, 1);
	/* What is merged again is not folded again: its parts stay. */
	while (store_compact(store, 10 * 86400 * SECOND, 0, &done, NULL) > 0)
		;
	sum_up_at(864000 * SECOND, 0);
	/* A writer goes on: its own names are others. */
	put(WINDOWS);
	compare_all();
	sum_up_at(864000 * SECOND, 1);
}

/* With other windows each time: which event is met first is another one, too. */
static void of_any_windows(void **state)
{
	static const uint64_t seeds[] = { 5, 7 };

	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++) {
		seed = seeds[i];
		assert_int_equal(store_open(&store, "sqlite::memory:", STORE_WRITE, NULL), 0);
		as_written_and_compacted();
		store_close(store);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_any_windows),
	};
	int r = store_open(&store, "sqlite::memory:", STORE_WRITE, NULL);

	if (r < 0)
		return r == -ENOSYS ? 77 : 1;
	store_close(store);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
