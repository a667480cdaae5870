// SPDX-License-Identifier: MIT
/*
 * flame_chains.c: the tree of a graph as a page gets it. A node that nothing hit and that has one
 * child weighs what the child weighs: such nodes and the one behind them are one segment. The
 * functions of a segment, from the outermost on, are its chain, and most chains are those of many
 * segments: deep stacks differ in few of their frames. So half a million stacks of a hundred frames
 * are a million segments and some ten thousand chains.
 *
 * Segments are numbered as flame_order.c numbers nodes: each before what is below it. Segment 0 is
 * the root alone.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "export/flame_graph.h"

/* What a node is: FLAME_HIT: a row is of it. The rest: how many children it has, up to two. */
#define FLAME_HIT 4u

/* Marks nodes, by their new numbers. NULL: out of memory. */
static uint8_t *flame_chains_marks(const struct flame_graph *g, const struct flame_order *o)
{
	uint8_t *marks = calloc(flame_nodes(g), 1);

	for (size_t i = 1; marks && i < flame_nodes(g); i++) {
		uint8_t *m = &marks[o->place[flame_node(g, i).parent]];

		*m += *m < 2;
	}
	for (uint32_t i = 0; marks && i < g->n_keys; i++)
		marks[o->place[flame_key(g, i).node]] |= FLAME_HIT;
	return marks;
}

/* Ends a segment of n functions. -ENOMEM. */
static int flame_chains_end(struct flame_chains *c, uint32_t segment, const uint32_t *functions,
                            size_t n)
{
	uint32_t id = intern_bytes(&c->chains, functions, n * sizeof(*functions));

	if (id == INTERN_FAILED)
		return -ENOMEM;
	c->chain[segment] = id - 1;
	return 0;
}

/* Makes segments of nodes, in the order of their new numbers. A node of one child and no row is
 * followed by that child. */
static int flame_chains_segments(const struct flame_graph *g, const struct flame_order *o,
                                 const uint8_t *marks, struct flame_chains *c)
{
	uint32_t *functions = NULL;
	size_t n = 0, capacity = 0;
	int r = 0;

	for (size_t i = 0; i < flame_nodes(g) && r >= 0; i++) {
		struct flame_node node = flame_node(g, o->node[i]);
		uint32_t parent = o->place[node.parent];

		if (i <= 1 || parent == 0 || marks[parent] != 1) {
			if (n)
				r = flame_chains_end(c, (uint32_t)c->n - 1, functions, n);
			n = 0;
			c->parent[c->n++] = i ? c->segment[parent] : 0;
		}
		c->segment[i] = (uint32_t)c->n - 1;
		if (r >= 0)
			r = ARRAY_ROOM(&functions, &capacity, n + 1);
		if (r >= 0)
			functions[n++] = node.function;
	}
	if (r >= 0)
		r = flame_chains_end(c, (uint32_t)c->n - 1, functions, n);
	free(functions);
	return r;
}

/* What is made is the caller's to free. */
int flame_chains_make(const struct flame_graph *g, const struct flame_order *o,
                      struct flame_chains *ret)
{
	size_t nodes = flame_nodes(g);
	struct flame_chains c = {
		.parent = calloc(nodes, sizeof(*c.parent)),
		.chain = calloc(nodes, sizeof(*c.chain)),
		.segment = calloc(nodes, sizeof(*c.segment)),
	};
	uint8_t *marks = flame_chains_marks(g, o);
	int r = c.parent && c.chain && c.segment && marks ? 0 : -ENOMEM;

	if (r >= 0)
		r = flame_chains_segments(g, o, marks, &c);
	free(marks);
	if (r < 0)
		flame_chains_free(&c);
	else
		*ret = c;
	return r;
}

void flame_chains_free(struct flame_chains *c)
{
	free(c->parent);
	free(c->chain);
	free(c->segment);
	intern_free(&c->chains);
	*c = (struct flame_chains){ 0 };
}
