// SPDX-License-Identifier: MIT
/*
 * flame_cut.c: a graph of bounded size, for recordings whose whole graph a browser could not hold.
 *
 * Times are counted in wider slices until there are few enough rows; nodes with little weight are
 * left out until there are few enough of them. What hit them hangs below the nearest node that is
 * kept, in a cell that says so, each function in a cell of its own as long as there is room: the
 * weight of every node that is kept, and the whole, are what they were.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/flame_graph.h"

#define FLAME_CUT_NAME "[left out: too little to be shown]"

/* One graph on its way. */
struct flame_cut {
	struct flame_graph *g;
	const struct flame_bounds *bounds;
	double *shares;   /* by node: of the whole of its event and side, with all below it */
	uint32_t *places; /* node -> node of nodes, plus one; 0: left out */
	struct trie nodes;
	uint32_t function; /* of the cells that stand for what is left out */
	struct pool keys;
	struct flame_value *values;
	size_t capacity;
};

/* Sums what share of its event's weight each node has. -ENOMEM. */
static int flame_cut_shares(struct flame_cut *c)
{
	const struct flame_graph *g = c->g;
	struct map events = { 0 }; /* event and side -> place in whole */
	size_t nodes = flame_nodes(g), capacity = 0;
	double *whole = NULL;
	int r = 0;

	c->shares = calloc(nodes, sizeof(*c->shares));
	if (!c->shares)
		return -ENOMEM;
	for (int pass = 0; pass < 2 && r >= 0; pass++) {
		for (uint32_t i = 0; i < g->n_keys && r >= 0; i++) {
			struct flame_key k = flame_key(g, i);
			bool is_new;
			uint64_t *slot = map_slot(&events, k.what & 0xff00ffff, &is_new);

			if (!slot || ARRAY_ROOM_ZEROED(&whole, &capacity, events.n) < 0)
				r = -ENOMEM;
			else if (is_new)
				*slot = events.n - 1;
			if (r >= 0 && !pass)
				whole[*slot] += (double)g->values[i].weight;
			else if (r >= 0 && whole[*slot] > 0)
				c->shares[k.node] += (double)g->values[i].weight / whole[*slot];
		}
	}
	/* A node's parent is less than the node. */
	for (size_t i = nodes; r >= 0 && i-- > 1;)
		c->shares[flame_node(g, i).parent] += c->shares[i];
	map_free(&events);
	free(whole);
	return r;
}

static int flame_cut_order(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return (*a < *b) - (*a > *b);
}

/* The share above which there are at most so many nodes. Negative: out of memory. */
static double flame_cut_least(const struct flame_cut *c, size_t most)
{
	size_t nodes = flame_nodes(c->g), n = 0;
	double *sorted = malloc(nodes * sizeof(*sorted)), least;

	if (!sorted)
		return -1;
	for (size_t i = 0; i < nodes; i++)
		if (c->shares[i] > 0)
			sorted[n++] = c->shares[i];
	if (n > most)
		qsort(sorted, n, sizeof(*sorted), flame_cut_order);
	least = n > most ? sorted[most] : 0;
	free(sorted);
	return least;
}

/* Places the nodes that are kept; what is above one of them has at least its share. -ENOMEM. */
static int flame_cut_keep(struct flame_cut *c, double least)
{
	size_t nodes = flame_nodes(c->g), room = c->bounds->nodes;

	for (size_t i = 0; i < nodes && room; i++)
		room -= c->shares[i] > least;
	c->places = calloc(nodes, sizeof(*c->places));
	if (!c->places)
		return -ENOMEM;
	c->places[0] = 1;
	for (size_t i = 1; i < nodes; i++) {
		struct flame_node node = flame_node(c->g, i);
		uint32_t place;

		if (c->shares[i] < least || !c->places[node.parent] || c->shares[i] <= 0)
			continue;
		/* Of many with the same share as many as there is room for. */
		if (c->shares[i] <= least && !room)
			continue;
		room -= c->shares[i] <= least;
		place = trie_put(&c->nodes, c->places[node.parent] - 1, node.function);
		if (place == TRIE_FAILED)
			return -ENOMEM;
		c->places[i] = place + 1;
	}
	return 0;
}

/* Where the rows of a node go: itself, or below the nearest node that is kept. -ENOMEM. */
static int flame_cut_place(struct flame_cut *c, uint32_t node, uint32_t *ret)
{
	uint32_t leaf = flame_node(c->g, node).function, at = node, place;

	while (!c->places[at])
		at = flame_node(c->g, at).parent;
	place = c->places[at] - 1;
	if (at != node)
		place = trie_put(&c->nodes, place, c->function);
	if (at != node && place != TRIE_FAILED && c->nodes.n < 2 * c->bounds->nodes)
		place = trie_put(&c->nodes, place, leaf);
	*ret = place;
	return place == TRIE_FAILED ? -ENOMEM : 0;
}

/* Counts all rows anew, in slices of 2^shift. 1: they are too many. -ENOMEM. */
static int flame_cut_rows(struct flame_cut *c, unsigned shift, bool last)
{
	const struct flame_graph *g = c->g;

	pool_free(&c->keys);
	c->keys = (struct pool){ .size = sizeof(struct flame_key) };
	free(c->values);
	c->values = NULL;
	c->capacity = 0;
	for (uint32_t i = 0; i < g->n_keys; i++) {
		struct flame_key k = flame_key(g, i);
		uint32_t id;

		k.slice = k.slice >> shift << shift;
		if (flame_cut_place(c, k.node, &k.node) < 0)
			return -ENOMEM;
		id = pool_put(&c->keys, &k);
		if (id == POOL_FAILED ||
		    ARRAY_ROOM_ZEROED(&c->values, &c->capacity, (size_t)id) < 0)
			return -ENOMEM;
		c->values[id - 1].weight += g->values[i].weight;
		c->values[id - 1].samples += g->values[i].samples;
		if (!last && c->keys.n > c->bounds->rows)
			return 1;
	}
	return 0;
}

/* Puts what was made into the graph. */
static void flame_cut_take(struct flame_cut *c)
{
	struct flame_graph *g = c->g;

	trie_free(&g->nodes);
	pool_free(&g->keys);
	free(g->values);
	g->nodes = c->nodes;
	g->keys = c->keys;
	g->values = c->values;
	g->values_capacity = c->capacity;
	g->n_keys = c->keys.n;
	c->nodes = (struct trie){ 0 };
	c->keys = (struct pool){ 0 };
	c->values = NULL;
}

/* Nodes that nothing hit are left out in any case. */
int flame_cut(struct flame_graph *g, const struct flame_bounds *bounds, double *ret_least)
{
	struct flame_cut c = { .g = g, .bounds = bounds };
	const unsigned most = 10; /* all of FLAME_SLICES as one */
	int r = flame_cut_shares(&c);

	*ret_least = r >= 0 ? flame_cut_least(&c, bounds->nodes) : -1;
	if (*ret_least < 0)
		r = -ENOMEM;
	if (r >= 0) {
		c.function = flame_graph_function(g, FLAME_CUT_NAME, FLAME_UNFINISHED);
		r = c.function == INTERN_FAILED ? -ENOMEM : flame_cut_keep(&c, *ret_least);
	}
	if (r >= 0) {
		r = 1;
		for (unsigned shift = 0; r == 1; shift++)
			r = flame_cut_rows(&c, shift, shift == most);
	}
	if (r >= 0)
		flame_cut_take(&c);
	free(c.shares);
	free(c.places);
	trie_free(&c.nodes);
	pool_free(&c.keys);
	free(c.values);
	return r;
}
