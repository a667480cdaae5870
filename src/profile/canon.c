// SPDX-License-Identifier: MIT
/*
 * canon.c: a profile with ids that depend on its content alone. Threads fill a profile in an order
 * that chance decides; what is written into a file must not show it.
 *
 * Invariant: two things get the same rank only when they are the same thing, so the order is total.
 * Each comparison goes on until something differs; ids of the pools are never compared, because
 * these are what chance decided.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/merge.h"

struct canon {
	const struct profile *p;
	uint32_t *frames; /* id -> rank */
	uint32_t *tasks;
	uint32_t *nodes; /* id -> place in the tree, walked from the root by rank of frames */
};

static int canon_compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int canon_text(const struct profile *p, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(profile_text(p, a), profile_text(p, b));
}

static int canon_object(const struct profile *p, uint32_t a, uint32_t b)
{
	const struct profile_object *x = profile_object_at(p, a), *y = profile_object_at(p, b);
	int r = canon_text(p, x->path, y->path);

	return r ? r : canon_text(p, x->build_id, y->build_id);
}

static int canon_frame(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ((const struct canon *)ctx)->p;
	const struct profile_frame *a = profile_frame_at(p, *(const uint32_t *)pa);
	const struct profile_frame *b = profile_frame_at(p, *(const uint32_t *)pb);
	int r = canon_object(p, a->object, b->object);

	r = r ? r : canon_compare(a->address, b->address);
	r = r ? r : canon_text(p, a->symbol, b->symbol);
	r = r ? r : canon_text(p, a->file, b->file);
	r = r ? r : canon_compare(a->line, b->line);
	return r ? r : canon_compare(a->kind, b->kind);
}

static int canon_task(const void *pa, const void *pb, void *ctx)
{
	const struct profile *p = ((const struct canon *)ctx)->p;
	const struct profile_task *a = profile_task_at(p, *(const uint32_t *)pa);
	const struct profile_task *b = profile_task_at(p, *(const uint32_t *)pb);
	int r = canon_text(p, a->comm, b->comm);

	r = r ? r : canon_compare(a->pid, b->pid);
	return r ? r : canon_compare(a->tid, b->tid);
}

/* Brings the children of each node together, in the order of their frames. Which parent comes first
 * does not matter: canon_place_nodes gives the places. */
static int canon_node(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;
	struct profile_node a = profile_node_at(c->p, *(const uint32_t *)pa);
	struct profile_node b = profile_node_at(c->p, *(const uint32_t *)pb);
	int r = canon_compare(a.parent, b.parent);

	return r ? r : canon_compare(c->frames[a.frame], c->frames[b.frame]);
}

/* 0 ... n in the order of compare; the caller frees it. NULL: out of memory. */
static uint32_t *canon_sorted(struct canon *c, size_t n,
                              int (*compare)(const void *, const void *, void *))
{
	uint32_t *ids = calloc(n + 1, sizeof(*ids));

	if (!ids)
		return NULL;
	for (size_t i = 0; i <= n; i++)
		ids[i] = (uint32_t)i;
	qsort_r(ids + 1, n, sizeof(*ids), compare, c);
	return ids;
}

/* Maps each id to its place in the order; id 0 stays in front. */
static uint32_t *canon_ranks(struct canon *c, size_t n,
                             int (*compare)(const void *, const void *, void *))
{
	uint32_t *ids = canon_sorted(c, n, compare), *ranks = calloc(n + 1, sizeof(*ranks));

	for (size_t i = 0; ids && ranks && i <= n; i++)
		ranks[ids[i]] = (uint32_t)i;
	if (!ids) {
		free(ranks);
		ranks = NULL;
	}
	free(ids);
	return ranks;
}

/* Nodes are sorted by parent. A parent's id is less than its children's, so its place is known
 * before theirs. sizes are those of whole subtrees, so a child's place is behind its elder siblings
 * with all that is below them. */
static int canon_place_nodes(struct canon *c)
{
	size_t n = profile_n_nodes(c->p);
	uint32_t *order = canon_sorted(c, n, canon_node), *sizes = calloc(n + 1, sizeof(*sizes));

	c->nodes = calloc(n + 1, sizeof(*c->nodes));
	if (order && sizes && c->nodes) {
		uint32_t parent = UINT32_MAX, next = 0;

		for (size_t i = n; i > 0; i--)
			/* From the leaves up: each node adds itself and what is below it to its
			 * parent. */
			sizes[profile_node_at(c->p, (uint32_t)i).parent] += ++sizes[i];
		for (size_t i = 1; i <= n; i++) {
			uint32_t above = profile_node_at(c->p, order[i]).parent;

			if (above != parent)
				next = c->nodes[above] + 1;
			parent = above;
			c->nodes[order[i]] = next;
			next += sizes[order[i]];
		}
	}
	n = order && sizes && c->nodes;
	free(order);
	free(sizes);
	return n ? 0 : -ENOMEM;
}

/* Texts of a column that is not kept have no string to compare. */
static int canon_number_text(const struct canon *c, uint32_t a, uint32_t b)
{
	if (a == b || a == PROFILE_NOT_KEPT || b == PROFILE_NOT_KEPT)
		return canon_compare(a, b);
	return strcmp(profile_text(c->p, a), profile_text(c->p, b));
}

static int canon_key(const struct canon *c, const struct profile_key *a,
                     const struct profile_key *b)
{
	int r = canon_compare(a->event, b->event);

	r = r ? r : canon_compare(c->tasks[a->task], c->tasks[b->task]);
#define NUMBER(bit, id, name) r = r ? r : canon_compare(a->name, b->name);
#define TEXT(bit, id, name) r = r ? r : canon_number_text(c, a->name, b->name);
#include "profile/columns.def"
	r = r ? r : canon_compare(a->state, b->state);
	return r ? r : canon_compare(c->nodes[a->node], c->nodes[b->node]);
}

static int canon_row(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;

	return canon_key(c, &profile_row_at(c->p, *(const size_t *)pa)->key,
	                 &profile_row_at(c->p, *(const size_t *)pb)->key);
}

static int canon_sample(const void *pa, const void *pb, void *ctx)
{
	const struct canon *c = ctx;
	const struct profile_sample *a = profile_sample_at(c->p, *(const size_t *)pa);
	const struct profile_sample *b = profile_sample_at(c->p, *(const size_t *)pb);
	int r = canon_compare(a->time_ns, b->time_ns);

	r = r ? r : canon_key(c, &a->key, &b->key);
	return r ? r : canon_compare(a->weight, b->weight);
}

/* The order of rows or samples. The caller frees it; NULL: out of memory. */
static size_t *canon_order(struct canon *c, size_t n,
                           int (*compare)(const void *, const void *, void *))
{
	size_t *order = calloc(n + 1, sizeof(*order));

	for (size_t i = 0; order && i < n; i++)
		order[i] = i;
	if (order)
		qsort_r(order, n, sizeof(*order), compare, c);
	return order;
}

/* Writes everything anew in that order; ids follow from it. */
static int canon_copy(struct canon *c, struct profile *to)
{
	size_t *rows = canon_order(c, profile_n_rows(c->p), canon_row);
	size_t *samples = canon_order(c, profile_n_samples(c->p), canon_sample);
	int r = rows && samples ? merge_in_order(to, c->p, rows, samples) : -ENOMEM;

	free(rows);
	free(samples);
	return r;
}

/* Ranks frames and tasks by content, then nodes, from the root down, and copies all into a new
 * profile in that order. */
int profile_canonical(struct profile **ret, const struct profile *p)
{
	struct canon c = { .p = p };
	struct profile *to = NULL;
	int r = profile_new(&to, profile_keeps(p));

	if (r < 0)
		return r;
	c.frames = canon_ranks(&c, profile_n_frames(p), canon_frame);
	c.tasks = canon_ranks(&c, profile_n_tasks(p), canon_task);
	r = c.frames && c.tasks ? canon_place_nodes(&c) : -ENOMEM;
	if (r >= 0)
		r = canon_copy(&c, to);
	free(c.frames);
	free(c.tasks);
	free(c.nodes);
	if (r < 0) {
		profile_free(to);
		return r;
	}
	*profile_counts(to) = *profile_counts_of(p);
	*ret = to;
	return 0;
}
