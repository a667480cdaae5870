// SPDX-License-Identifier: MIT
/*
 * flame_order.c: the order in which a page gets nodes and rows: a node directly before all that is
 * below it, rows by their nodes. So a browser that goes from nodes to their parents, or from rows
 * to nodes, stays near in memory; and it is compressed better. A node's parent is less than the
 * node, as in the graph.
 */
#include <errno.h>
#include <stdlib.h>

#include "export/flame_graph.h"

/* Numbers the nodes anew: each before what is below it, siblings as they stood. first and next are
 * room for a number of each node: lists of children. 0: none, as no node is below another root. */
static void flame_order_nodes(const struct flame_graph *g, struct flame_order *o, uint32_t *first,
                              uint32_t *next)
{
	size_t nodes = flame_nodes(g);
	uint32_t at = 0, n = 0;

	for (size_t i = nodes; i-- > 1;) {
		uint32_t parent = flame_node(g, i).parent;

		next[i] = first[parent];
		first[parent] = (uint32_t)i;
	}
	for (;;) {
		o->node[n] = at;
		o->place[at] = n++;
		if (first[at]) {
			at = first[at];
			continue;
		}
		while (at && !next[at])
			at = flame_node(g, at).parent;
		if (!at)
			return;
		at = next[at];
	}
}

/* Rows by the new numbers of their nodes, those of one node as they stood. starts: zeros, room for
 * one more than there are nodes. */
static void flame_order_rows(const struct flame_graph *g, struct flame_order *o, uint32_t *starts)
{
	for (uint32_t i = 0; i < g->n_keys; i++)
		starts[o->place[flame_key(g, i).node] + 1]++;
	for (size_t i = 0; i < flame_nodes(g); i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 0; i < g->n_keys; i++)
		o->row[starts[o->place[flame_key(g, i).node]]++] = i;
}

/* Makes both orders. What is made is the caller's to free. */
int flame_order_make(const struct flame_graph *g, struct flame_order *ret)
{
	size_t nodes = flame_nodes(g);
	struct flame_order o = {
		.node = calloc(nodes, sizeof(*o.node)),
		.place = calloc(nodes, sizeof(*o.place)),
		.row = calloc(g->n_keys + 1, sizeof(*o.row)),
	};
	uint32_t *first = calloc(nodes + 1, sizeof(*first)), *next = calloc(nodes, sizeof(*next));
	int r = o.node && o.place && o.row && first && next ? 0 : -ENOMEM;

	if (r >= 0) {
		flame_order_nodes(g, &o, first, next);
		for (size_t i = 0; i <= nodes; i++)
			first[i] = 0;
		flame_order_rows(g, &o, first);
	}
	free(first);
	free(next);
	if (r < 0)
		flame_order_free(&o);
	else
		*ret = o;
	return r;
}

void flame_order_free(struct flame_order *o)
{
	free(o->node);
	free(o->place);
	free(o->row);
	*o = (struct flame_order){ 0 };
}
