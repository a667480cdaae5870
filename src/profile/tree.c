// SPDX-License-Identifier: MIT
// tree.c: see tree.h. Stacks that differ only in addresses become one path here.
#include "profile/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

struct tree_builder {
	struct tree *tree;
	size_t capacity;
	struct map labels;   /* object << 32 | symbol -> label + 1 */
	struct map children; /* parent << 32 | label -> node */
	uint32_t *path;      /* frames of one stack, innermost first */
	size_t path_capacity;
};

static int tree_label(struct tree_builder *b, const struct profile_frame *f, uint32_t *ret)
{
	bool is_new;
	uint64_t *slot = map_slot(&b->labels, (uint64_t)f->object << 32 | f->symbol, &is_new);

	if (!slot)
		return -ENOMEM;
	if (is_new)
		*slot = b->labels.n;
	*ret = (uint32_t)*slot;
	return 0;
}

/* The child of parent for a frame, made when new. */
static int tree_child(struct tree_builder *b, uint32_t parent, const struct profile_frame *f,
                      uint32_t *ret)
{
	struct tree *t = b->tree;
	uint32_t label;
	uint64_t *slot;
	bool is_new;

	if (tree_label(b, f, &label) < 0)
		return -ENOMEM;
	if (t->n >= b->capacity) {
		size_t capacity = b->capacity * 2;
		struct tree_node *nodes = realloc(t->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return -ENOMEM;
		t->nodes = nodes;
		b->capacity = capacity;
	}
	slot = map_slot(&b->children, (uint64_t)parent << 32 | label, &is_new);
	if (!slot)
		return -ENOMEM;
	if (is_new) {
		t->nodes[t->n] = (struct tree_node){ .parent = parent,
			                             .object = f->object,
			                             .symbol = f->symbol,
			                             .kind = f->kind,
			                             .next_sibling = t->nodes[parent].first_child };
		t->nodes[parent].first_child = (uint32_t)t->n;
		*slot = t->n++;
	}
	*ret = (uint32_t)*slot;
	return 0;
}

static int tree_path(struct tree_builder *b, uint32_t node, size_t *ret)
{
	const struct profile *p = b->tree->profile;
	size_t n = 0;

	for (; node != PROFILE_ROOT; node = profile_node_at(p, node)->parent) {
		if (n == b->path_capacity) {
			size_t capacity = n ? n * 2 : 256;
			uint32_t *path = realloc(b->path, capacity * sizeof(*path));

			if (!path)
				return -ENOMEM;
			b->path = path;
			b->path_capacity = capacity;
		}
		b->path[n++] = profile_node_at(p, node)->frame;
	}
	*ret = n;
	return 0;
}

/* The frame of the path's place i, from where the tree's root is. */
static uint32_t tree_frame(const struct tree_builder *b, enum tree_order order, size_t n, size_t i)
{
	return b->path[order == TREE_CALLER ? n - 1 - i : i];
}

static int tree_add(struct tree_builder *b, const struct profile_row *row,
                    const struct tree_opts *opts)
{
	struct tree *t = b->tree;
	uint32_t at = 0;
	size_t n, i = 0;
	int r = tree_path(b, row->key.node, &n);

	while (r >= 0 && opts->focus && i < n && !opts->focus[tree_frame(b, opts->order, n, i)])
		i++;
	if (r >= 0 && opts->focus && i == n)
		return 0;
	for (; r >= 0; i++) {
		t->nodes[at].total += row->weight;
		t->nodes[at].total_samples += row->samples;
		if (i == n)
			break;
		r = tree_child(b, at,
		               profile_frame_at(t->profile, tree_frame(b, opts->order, n, i)), &at);
	}
	if (r < 0)
		return r;
	t->nodes[at].self += row->weight;
	t->nodes[at].self_samples += row->samples;
	return 0;
}

static int tree_compare(const void *pa, const void *pb, void *ctx)
{
	const struct tree *t = ctx;
	const struct tree_node *a = &t->nodes[*(const uint32_t *)pa];
	const struct tree_node *b = &t->nodes[*(const uint32_t *)pb];
	int order;

	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	order = strcmp(profile_text(t->profile, a->symbol), profile_text(t->profile, b->symbol));
	if (order)
		return order;
	return strcmp(profile_text(t->profile, profile_object_at(t->profile, a->object)->path),
	              profile_text(t->profile, profile_object_at(t->profile, b->object)->path));
}

static int tree_sort(struct tree *t)
{
	uint32_t *ids = calloc(t->n, sizeof(*ids));

	if (!ids)
		return -ENOMEM;
	for (size_t parent = 0; parent < t->n; parent++) {
		size_t n = 0;

		for (uint32_t c = t->nodes[parent].first_child; c; c = t->nodes[c].next_sibling)
			ids[n++] = c;
		if (n < 2)
			continue;
		qsort_r(ids, n, sizeof(*ids), tree_compare, t);
		t->nodes[parent].first_child = ids[0];
		for (size_t i = 0; i < n; i++)
			t->nodes[ids[i]].next_sibling = i + 1 < n ? ids[i + 1] : 0;
	}
	free(ids);
	return 0;
}

int tree_build(struct tree *ret, const struct profile *p, const struct tree_opts *opts)
{
	struct tree t = { .profile = p, .n = 1 };
	struct tree_builder b = { .tree = &t, .capacity = 256 };
	int r = 0;

	t.nodes = calloc(b.capacity, sizeof(*t.nodes));
	if (!t.nodes)
		return -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (!opts->event || row->key.event == opts->event)
			r = tree_add(&b, row, opts);
	}
	if (r >= 0)
		r = tree_sort(&t);
	map_free(&b.labels);
	map_free(&b.children);
	free(b.path);
	if (r < 0) {
		tree_free(&t);
		return r;
	}
	*ret = t;
	return 0;
}

void tree_free(struct tree *t)
{
	free(t->nodes);
	*t = (struct tree){ 0 };
}
