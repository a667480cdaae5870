// SPDX-License-Identifier: MIT
// export.c: names that mean something to a format, and order that must not show.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "export/export.h"
#include "export/flame.h"
#include "export/flame_graph.h"
#include "export/pprof_way.h"
#include "export/proto.h"

struct sink {
	struct buf bytes;
};

static int sink_write(void *ctx, const void *bytes, size_t n)
{
	return buf_put(&((struct sink *)ctx)->bytes, bytes, n);
}

/* A sample of task "x y" in outer -> inner. */
static void add(struct profile *p, const char *outer, const char *inner, uint64_t time_ns)
{
	struct profile_key key = { .cpu = 0 };
	uint32_t object = profile_object(p, "/lib/a;b", "86f7");
	struct profile_sample sample = { .time_ns = time_ns, .weight = 5 };

	key.event = profile_event(p, "cpu-clock");
	key.task = profile_task(p, profile_string(p, "x\ny"), 7, 7);
	for (int i = 0; i < 2; i++) {
		const char *name = i ? inner : outer;
		struct profile_frame f = { .object = object,
			                   .symbol = name ? profile_string(p, name) : 0,
			                   .address = name ? 16 : 4096,
			                   .kind = PROFILE_USER };

		key.node = profile_node(p, key.node, profile_frame(p, &f));
	}
	assert_int_equal(profile_add_sampled(p, &key, 1, 5, &sample.key), 0);
	assert_int_equal(profile_add_sample(p, &sample), 0);
}

static struct profile *fill(bool backwards)
{
	static const char *const stacks[][2] = { { "a;b \"<\\", "\xff" },
		                                 { "m", NULL },
		                                 { "m", "n\t" } };
	unsigned keep =
	        PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_CPU | PROFILE_KEEP_SAMPLES;
	struct profile *p = NULL, *canonical = NULL;

	assert_int_equal(profile_new(&p, keep), 0);
	for (unsigned i = 0; i < 6; i++) {
		unsigned at = backwards ? 5 - i : i;

		add(p, stacks[at % 3][0], stacks[at % 3][1], 100 + at);
	}
	assert_int_equal(profile_sort_samples(p), 0);
	assert_int_equal(profile_canonical(&canonical, p), 0);
	profile_free(p);
	return canonical;
}

static void write_out(const struct export_format *f, const struct profile *p, struct sink *to)
{
	struct export_opts opts = { .sz = sizeof(opts) };
	struct export_out out = { .write = sink_write, .ctx = to };

	assert_int_equal(f->write(p, &opts, &out), 0);
	buf_free(&out.buf);
	assert_true(to->bytes.n > 0);
}

/* Whatever the order of filling, every format writes the same bytes. */
static void test_order_does_not_show(void **state)
{
	struct profile *a = fill(false), *b = fill(true);

	for (const struct export_format *f = export_formats; f->name; f++) {
		struct sink x = { 0 }, y = { 0 };

		write_out(f, a, &x);
		write_out(f, b, &y);
		assert_int_equal(x.bytes.n, y.bytes.n);
		assert_memory_equal(x.bytes.bytes, y.bytes.bytes, x.bytes.n);
		buf_free(&x.bytes);
		buf_free(&y.bytes);
	}
	profile_free(a);
	profile_free(b);
}

static void test_folded_escapes(void **state)
{
	struct profile *p = fill(false);
	struct sink s = { 0 };

	write_out(&export_formats[0], p, &s);
	assert_string_equal(buf_text(&s.bytes), "x\\ny;a:b \"<\\;\\xff 10\n"
	                                        "x\\ny;m;n\\t 10\n"
	                                        "x\\ny;m;[a:b] 10\n");
	buf_free(&s.bytes);
	profile_free(p);
}

/* What is cut keeps its beginning; a function without a name keeps its address, by which it differs
 * from the next. */
static void test_flame_cuts_names(void **state)
{
	const struct flame_opts opts = { .sz = sizeof(opts), .title = "t" };
	struct flame_side side = { .name = "x" };
	struct profile *p = NULL;
	struct sink sink = { 0 };
	struct export_out out = { .write = sink_write, .ctx = &sink };
	char name[64];

	assert_int_equal(profile_new(&p, PROFILE_KEEP_PID | PROFILE_KEEP_TID), 0);
	for (unsigned i = 0; i < 10; i++) {
		snprintf(name, sizeof(name),
		         i ? "[unknown cc1plus+0x7f4d%02x]" : "a_function_of_its_own", i);
		add(p, name, NULL, i);
	}
	side.profile = p;
	assert_int_equal(flame_svg(&side, 1, &opts, &out), 0);
	assert_non_null(strstr(buf_text(&sink.bytes), "\xe2\x80\xa6+0x7f4d01]</text>"));
	assert_non_null(strstr(buf_text(&sink.bytes), "\xe2\x80\xa6+0x7f4d09]</text>"));
	assert_non_null(strstr(buf_text(&sink.bytes), ">a_functio"));
	assert_null(strstr(buf_text(&sink.bytes), "its_own</text>"));
	buf_free(&sink.bytes);
	buf_free(&out.buf);
	profile_free(p);
}

/* The weight of all rows whose node, or the one that its rows hang below, is of a function. */
static uint64_t graph_weight(const struct flame_graph *g, const char *name)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->n_keys; i++) {
		struct flame_node node = flame_node(g, flame_key(g, i).node);

		if (!name || !strcmp(flame_text(g, flame_function(g, node.function).name), name))
			sum += g->values[i].weight;
	}
	return sum;
}

/* What is left out of a large graph is told, and no weight is lost, nor moved to what is kept. */
static void test_flame_cut_keeps_weight(void **state)
{
	const struct flame_bounds bounds = { .nodes = 20, .rows = 100 };
	struct flame_side side = { .name = "x" };
	struct profile *p = NULL;
	struct flame_graph g;
	double least = 0;
	uint32_t functions;
	char name[16];

	assert_int_equal(profile_new(&p,
	                             PROFILE_KEEP_PID | PROFILE_KEEP_TID | PROFILE_KEEP_SAMPLES),
	                 0);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "f%u", i % 4 ? i % 200 : 0);
		add(p, i % 2 ? "main" : name, name, i * 1000);
	}
	side.profile = p;
	assert_int_equal(flame_graph_build(&g, &side, 1), 0);
	functions = g.functions.n;
	assert_true(flame_nodes(&g) > 200 && g.n_keys > 100);
	assert_int_equal(graph_weight(&g, NULL), 10000);
	assert_int_equal(flame_cut(&g, &bounds, &least), 0);
	assert_true(least > 0 && least < 0.01);
	assert_true(flame_nodes(&g) < 3 * bounds.nodes && g.n_keys <= bounds.rows);
	assert_int_equal(graph_weight(&g, NULL), 10000);
	assert_int_equal(graph_weight(&g, "f0"), 2500); /* 500 samples */
	assert_int_equal(graph_weight(&g, "main"), 0);
	for (size_t i = 1; i < flame_nodes(&g); i++)
		assert_true(flame_node(&g, i).parent < i);
	flame_graph_free(&g);

	/* A part of the time has the numbers of the whole, and its own samples alone. */
	side.from_ns = 500000;
	side.to_ns = 599999;
	assert_int_equal(flame_graph_build(&g, &side, 1), 0);
	assert_int_equal(graph_weight(&g, NULL), 500);
	assert_int_equal(g.functions.n, functions);
	assert_int_equal(flame_cut(&g, &(struct flame_bounds){ 1000, 1000 }, &least), 0);
	assert_true(least == 0 && flame_nodes(&g) < 200);
	assert_int_equal(graph_weight(&g, NULL), 500);
	flame_graph_free(&g);
	profile_free(p);
}

static void test_empty_profile(void **state)
{
	struct profile *p = NULL;

	assert_int_equal(profile_new(&p, PROFILE_KEEP_SAMPLES), 0);
	for (const struct export_format *f = export_formats + 1; f->name; f++) {
		struct sink s = { 0 };

		write_out(f, p, &s);
		buf_free(&s.bytes);
	}
	profile_free(p);
}

static void test_proto(void **state)
{
	static const unsigned char expected[] = { 0x08, 0xac, 0x02, 0x12, 0x04,
		                                  'a',  0xef, 0xbf, 0xbd };
	struct buf b = { 0 };

	proto_u64(&b, 1, 300);
	proto_u64(&b, 3, 0); /* left out */
	proto_text(&b, 2, "a\xff");
	assert_int_equal(b.n, sizeof(expected));
	assert_memory_equal(b.bytes, expected, sizeof(expected));
	buf_free(&b);
}

/* The locations of a node's stack, each by itself: what pprof_way keeps must be the same. */
static void way_plain(struct buf *to, const uint32_t *parents, const uint32_t *locations,
                      uint32_t node)
{
	for (; node; node = parents[node])
		proto_varint(to, locations[node]);
}

#define WAY_NODES 500u

/* Stacks of a tree in any order, deep ones and short ones, share what they have in common; numbers
 * of all lengths. */
static void test_pprof_way_shares(void **state)
{
	static uint32_t parents[WAY_NODES], locations[WAY_NODES];
	uint32_t chance = 12345, news[WAY_NODES];
	struct pprof_way way = { 0 };
	struct buf plain = { 0 };

	(void)state;
	for (uint32_t i = 1; i < WAY_NODES; i++) {
		chance = chance * 1664525 + 1013904223;
		parents[i] = chance >> 16 & 7       ? i - 1
		             : chance >> 8 & 0xffff ? (chance >> 8) % i
		                                    : 0;
		locations[i] = chance >> (i % 32);
	}
	locations[1] = 0;
	locations[2] = UINT32_MAX;
	for (unsigned round = 0; round < 4 * WAY_NODES; round++) {
		uint32_t node, at;
		size_t n = 0, size;
		const unsigned char *bytes;

		chance = chance * 1664525 + 1013904223;
		node = at = round < WAY_NODES ? round : (chance >> 8) % WAY_NODES;
		for (; !pprof_way_meets(&way, at) && at; at = parents[at])
			news[n++] = at;
		while (n--)
			assert_int_equal(pprof_way_put(&way, news[n], locations[news[n]]), 0);
		buf_clear(&plain);
		way_plain(&plain, parents, locations, node);
		bytes = pprof_way_bytes(&way, &size);
		assert_int_equal(size, plain.n);
		if (size)
			assert_memory_equal(bytes, plain.bytes, size);
	}
	pprof_way_free(&way);
	buf_free(&plain);
}

/* What is said to come is what comes. */
static void test_proto_says_sizes(void **state)
{
	static const size_t sizes[] = { 0, 1, 127, 128, 16383, 16384, 70000 };
	static const unsigned char zeros[70000];

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct buf b = { 0 };

		proto_bytes(&b, 15, zeros, sizes[i]);
		assert_int_equal(b.n, proto_size(sizes[i]));
		buf_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_does_not_show),
		cmocka_unit_test(test_folded_escapes),
		cmocka_unit_test(test_flame_cuts_names),
		cmocka_unit_test(test_flame_cut_keeps_weight),
		cmocka_unit_test(test_empty_profile),
		cmocka_unit_test(test_proto),
		cmocka_unit_test(test_proto_says_sizes),
		cmocka_unit_test(test_pprof_way_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
