/* SPDX-License-Identifier: MIT */
/*
 * flame_graph.h: profiles merged into one tree of functions, with what was spent where, when and by
 * whom.
 *
 * Ids are dense. A node's parent is less than the node; the root is 0. A row is a distinct (node,
 * thread, slice of time, event, state, side). Ids of threads, events and rows start at 0 and are
 * one less than those of their pools; ids of texts and functions are those of their pools. For
 * flame*.c only.
 */
#ifndef SEAM_EXPORT_FLAME_GRAPH_H
#define SEAM_EXPORT_FLAME_GRAPH_H

#include "base/intern.h"
#include "base/pool.h"
#include "base/trie.h"
#include "export/flame.h"

struct flame_function {
	uint32_t name, object; /* texts */
	uint32_t kind;         /* enum profile_kind, or one of FLAME_* */
};

struct flame_node {
	uint32_t parent, function;
};

struct flame_event {
	uint32_t name; /* text */
	uint32_t unit; /* enum profile_unit */
};

struct flame_thread {
	uint32_t comm; /* text */
	uint32_t pid, tid;
};

struct flame_key {
	uint32_t node, thread, slice;
	uint32_t what; /* event | state << 16 | side << 24 */
};

struct flame_value {
	uint64_t weight, samples;
};

struct flame_span {
	uint64_t start_ns, end_ns; /* of the first and the last sample; 0: no times */
};

struct flame_graph {
	struct intern texts;
	struct intern functions;    /* of struct flame_function */
	struct intern threads;      /* of struct flame_thread */
	struct intern events;       /* of struct flame_event */
	struct pool keys;           /* of struct flame_key */
	struct flame_value *values; /* of rows */
	size_t n_keys, values_capacity;
	struct trie nodes; /* of functions; flame_node */
	uint32_t root;     /* its function */
	struct flame_span spans[FLAME_SIDES];
	double left_out; /* the least share that a node has which is kept; 0: all are there */
};

int flame_graph_build(struct flame_graph *ret, const struct flame_side *sides, size_t n);
void flame_graph_free(struct flame_graph *g);

/* A function that belongs to no object, made when new. INTERN_FAILED: out of memory. */
uint32_t flame_graph_function(struct flame_graph *g, const char *name, uint32_t kind);
/* flame_cut.c: leaves out what is small until the bounds are kept. *ret_least: the share of its
 * event that a node must have to be kept; 0: all are. -ENOMEM, and the graph is as it was. */
int flame_cut(struct flame_graph *g, const struct flame_bounds *bounds, double *ret_least);

/* flame_order.c: in which order a page gets them. node and row: old numbers by new ones; place: new
 * numbers of nodes by old ones. */
struct flame_order {
	uint32_t *node, *place, *row;
};

/* -ENOMEM. */
int flame_order_make(const struct flame_graph *g, struct flame_order *ret);
void flame_order_free(struct flame_order *o);

/* flame_chains.c: nodes of one child as segments. By segment: the one that it hangs below, its
 * chain; by a node's new number: its segment. */
struct flame_chains {
	struct intern chains; /* of functions, u32 each, outermost first; the first has the id 1 */
	uint32_t *parent, *chain, *segment;
	size_t n;
};

/* -ENOMEM. */
int flame_chains_make(const struct flame_graph *g, const struct flame_order *o,
                      struct flame_chains *ret);
void flame_chains_free(struct flame_chains *c);

/* flame_arrays.c: what rows have in common. What a row is of (struct flame_key) is one of few in a
 * recording; and weights are multiples of one, where samples are a period apart. */
struct flame_rows {
	struct intern whats; /* u32 each, as rows have them first; the first has the id 1 */
	uint64_t unit;       /* the most that divides all weights */
};

/* -ENOMEM. */
int flame_rows_make(const struct flame_graph *g, const struct flame_order *o,
                    struct flame_rows *ret);

/* All of the block behind its JSON. -ENOMEM. */
int flame_arrays(const struct flame_graph *g, const struct flame_order *o,
                 const struct flame_chains *c, struct flame_rows *rows, struct buf *to);

/* How many nodes there are, with the root, which is node 0; and one of them. */
static inline size_t flame_nodes(const struct flame_graph *g)
{
	return (size_t)g->nodes.n + 1;
}
struct flame_node flame_node(const struct flame_graph *g, size_t id);

struct flame_function flame_function(const struct flame_graph *g, uint32_t id);
struct flame_thread flame_thread(const struct flame_graph *g, uint32_t id);
struct flame_key flame_key(const struct flame_graph *g, uint32_t id);
const char *flame_event(const struct flame_graph *g, uint32_t id);
enum profile_unit flame_event_unit(const struct flame_graph *g, uint32_t id);
const char *flame_text(const struct flame_graph *g, uint32_t text);

#endif
