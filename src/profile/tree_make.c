// SPDX-License-Identifier: MIT
/*
 * tree_make.c: see tree_make.h. Frames of one function are one child of a node, and children are
 * sorted in the same way, whoever makes them.
 */
#include "profile/tree_make.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int tree_begin(struct tree_builder *b, struct tree *t, const struct profile *p)
{
	*t = (struct tree){ .profile = p, .n = 1 };
	*b = (struct tree_builder){ .tree = t, .capacity = 256 };
	t->nodes = calloc(b->capacity, sizeof(*t->nodes));
	b->frame_label = calloc(profile_n_frames(p) + 1, sizeof(*b->frame_label));
	return t->nodes && b->frame_label ? 0 : -ENOMEM;
}

void tree_end(struct tree_builder *b)
{
	map_free(&b->labels);
	free(b->frame_label);
	trie_free(&b->ids);
	free(b->path);
	free(b->children);
}

/* Frames of one function have the same label, whatever their addresses. Labels begin at 1. */
static int tree_label(struct tree_builder *b, uint32_t frame, uint32_t *ret)
{
	const struct profile_frame *f;
	bool is_new;
	uint64_t *slot;

	if (!b->frame_label[frame]) {
		f = profile_frame_at(b->tree->profile, frame);
		slot = map_slot(&b->labels, (uint64_t)f->object << 32 | f->symbol, &is_new);
		if (!slot)
			return -ENOMEM;
		/* The map holds the new label already, so its number is the count. */
		if (is_new)
			*slot = b->labels.n;
		b->frame_label[frame] = (uint32_t)*slot;
	}
	*ret = b->frame_label[frame];
	return 0;
}

/* The child of parent for a frame, made when new: its kind is the least that its frames know. */
int tree_child(struct tree_builder *b, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	struct tree *t = b->tree;
	const struct profile_frame *f = profile_frame_at(t->profile, frame);
	uint32_t label, id;

	if (tree_label(b, frame, &label) < 0 || ARRAY_ROOM(&t->nodes, &b->capacity, t->n + 1) < 0)
		return -ENOMEM;
	id = trie_put(&b->ids, parent, label);
	if (id == TRIE_FAILED)
		return -ENOMEM;
	/* trie_put numbers nodes in the order in which they are made, as the array does. */
	if (id == t->n) {
		t->nodes[t->n++] =
		        (struct tree_node){ .parent = parent,
			                    .object = f->object,
			                    .symbol = f->symbol,
			                    .kind = f->kind,
			                    .next_sibling = t->nodes[parent].first_child };
		t->nodes[parent].first_child = id;
	}
	t->nodes[id].kind = profile_kind_of(t->nodes[id].kind, f->kind);
	*ret = id;
	return 0;
}

/* The heaviest first; then names, so that the order is the same in every run. */
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

int tree_sort_children(struct tree_builder *b, uint32_t parent)
{
	struct tree *t = b->tree;
	size_t n = 0;

	for (uint32_t c = t->nodes[parent].first_child; c; c = t->nodes[c].next_sibling) {
		if (ARRAY_ROOM(&b->children, &b->children_capacity, n + 1) < 0)
			return -ENOMEM;
		b->children[n++] = c;
	}
	if (n < 2)
		return 0;
	qsort_r(b->children, n, sizeof(*b->children), tree_compare, t);
	t->nodes[parent].first_child = b->children[0];
	for (size_t i = 0; i < n; i++)
		t->nodes[b->children[i]].next_sibling = i + 1 < n ? b->children[i + 1] : 0;
	return 0;
}
