// SPDX-License-Identifier: MIT
/*
 * flame_arrays.c: the arrays of a page's block. In this order: functions' name, object, kind;
 * chains' length, and the functions of all chains; segments' parent (how many segments before),
 * chain; rows' segment (how many behind that of the row before), thread, slice, what (the number of
 * one of the JSON's "whats": event, state, side), samples, weight (in the JSON's "unit"). What
 * segments and chains are: flame_chains.c; a row is of the last node of its segment.
 *
 * An array: u32, how many bytes a number of it has; 4 zeros; the numbers, little-endian; padding to
 * 8. The bytes are as few as the largest number needs (1, 2, 4), as what a browser unpacks and
 * walks over costs it time; 8 are a double.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/flame_graph.h"

/* One array while it is made. */
struct flame_array {
	uint64_t *values;
	size_t n;
};

static void flame_array_add(struct flame_array *a, uint64_t value)
{
	a->values[a->n++] = value;
}

/* How many bytes a number of the array has. */
static size_t flame_array_width(const struct flame_array *a)
{
	uint64_t most = 0;

	for (size_t i = 0; i < a->n; i++)
		most = a->values[i] > most ? a->values[i] : most;
	return most <= UINT8_MAX ? 1 : most <= UINT16_MAX ? 2 : most <= UINT32_MAX ? 4 : 8;
}

/* Writes the array, and begins another. */
static void flame_array_end(struct flame_array *a, struct buf *to)
{
	size_t width = flame_array_width(a), at = to->n + 8, n = a->n;

	a->n = 0;
	if (buf_put_u32(to, (uint32_t)width) < 0 || buf_put_u32(to, 0) < 0 ||
	    buf_put_zeros(to, width * n) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		uint64_t bits = a->values[i];

		if (width == 8) {
			double value = (double)bits;

			memcpy(&bits, &value, sizeof(bits));
		}
		for (size_t k = 0; k < width; k++)
			to->bytes[at++] = (unsigned char)(bits >> 8 * k);
	}
	buf_put_zeros(to, -to->n & 7);
}

/* Writes functions, field by field. */
static void flame_function_arrays(const struct flame_graph *g, struct flame_array *a,
                                  struct buf *to)
{
	for (uint32_t field = 0; field < 3; field++) {
		for (uint32_t i = 0; i < g->functions.n; i++) {
			struct flame_function f = flame_function(g, i);

			flame_array_add(a, field == 0 ? f.name : field == 1 ? f.object : f.kind);
		}
		flame_array_end(a, to);
	}
}

/* Writes the tree: chains, and segments of them. */
static void flame_tree_arrays(const struct flame_chains *c, struct flame_array *a, struct buf *to)
{
	uint32_t function;

	for (uint32_t i = 1; i < c->chains.n; i++)
		flame_array_add(a, intern_length(&c->chains, i) / sizeof(function));
	flame_array_end(a, to);
	for (uint32_t i = 1; i < c->chains.n; i++) {
		const char *functions = intern_get(&c->chains, i);
		size_t n = intern_length(&c->chains, i) / sizeof(function);

		for (size_t k = 0; k < n; k++) {
			memcpy(&function, functions + k * sizeof(function), sizeof(function));
			flame_array_add(a, function);
		}
	}
	flame_array_end(a, to);
	for (size_t i = 0; i < c->n; i++)
		flame_array_add(a, i - c->parent[i]);
	flame_array_end(a, to);
	for (size_t i = 0; i < c->n; i++)
		flame_array_add(a, c->chain[i]);
	flame_array_end(a, to);
}

/* Finds what rows have in common: the whats of all, and the unit of all weights. */
int flame_rows_make(const struct flame_graph *g, const struct flame_order *o,
                    struct flame_rows *ret)
{
	struct flame_rows rows = { 0 };

	for (uint32_t i = 0; i < g->n_keys; i++) {
		uint32_t what = flame_key(g, o->row[i]).what;
		uint64_t rest = g->values[o->row[i]].weight;

		if (intern_bytes(&rows.whats, &what, sizeof(what)) == INTERN_FAILED) {
			intern_free(&rows.whats);
			return -ENOMEM;
		}
		while (rest) {
			uint64_t next = rows.unit % rest;

			rows.unit = rest;
			rest = next;
		}
	}
	rows.unit += !rows.unit;
	*ret = rows;
	return 0;
}

/* Writes rows, field by field. */
static void flame_row_arrays(const struct flame_graph *g, const struct flame_order *o,
                             const struct flame_chains *c, struct flame_rows *rows,
                             struct flame_array *a, struct buf *to)
{
	uint32_t before = 0;

	for (uint32_t field = 0; field < 6; field++) {
		for (uint32_t i = 0; i < g->n_keys; i++) {
			struct flame_key k = flame_key(g, o->row[i]);
			struct flame_value v = g->values[o->row[i]];
			uint32_t segment = field ? 0 : c->segment[o->place[k.node]];

			flame_array_add(a, field == 0   ? segment - before
			                   : field == 1 ? k.thread
			                   : field == 2 ? k.slice
			                   : field == 3 ? intern_bytes(&rows->whats, &k.what,
			                                               sizeof(k.what)) -
			                                          1
			                   : field == 4 ? v.samples
			                                : v.weight / rows->unit);
			before = segment;
		}
		flame_array_end(a, to);
	}
}

/* How many numbers the longest array has. */
static size_t flame_arrays_most(const struct flame_graph *g, const struct flame_chains *c)
{
	size_t chained = 0, most = g->functions.n > g->n_keys ? g->functions.n : g->n_keys;

	for (uint32_t i = 1; i < c->chains.n; i++)
		chained += intern_length(&c->chains, i) / sizeof(uint32_t);
	most = chained > most ? chained : most;
	most = c->n > most ? c->n : most;
	return c->chains.n > most ? c->chains.n : most;
}

/* Writes all of them; to->failed says if there was no room. -ENOMEM. */
int flame_arrays(const struct flame_graph *g, const struct flame_order *o,
                 const struct flame_chains *c, struct flame_rows *rows, struct buf *to)
{
	struct flame_array a = { calloc(flame_arrays_most(g, c), sizeof(*a.values)), 0 };

	if (!a.values)
		return -ENOMEM;
	flame_function_arrays(g, &a, to);
	flame_tree_arrays(c, &a, to);
	flame_row_arrays(g, o, c, rows, &a, to);
	free(a.values);
	return 0;
}
