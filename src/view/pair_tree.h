/* SPDX-License-Identifier: MIT */
/*
 * pair_tree.h: the call trees of two sides as one: a node is a function below the same way down,
 * with what each side has of it. Functions are the same on both sides if they are called alike, in
 * an object whose path ends alike.
 */
#ifndef SEAM_VIEW_PAIR_TREE_H
#define SEAM_VIEW_PAIR_TREE_H

#include "base/trie.h"
#include "view/compare_rows.h"
#include "profile/tree.h"

struct pair_node {
	uint32_t parent, name;
	uint32_t kind;               /* of both sides' frames, by profile_kind_of */
	struct compare_counts total; /* with what is below */
	uint64_t self[2];            /* weight */
};

/* Zero-initialise to start. */
struct pair_tree {
	struct pair_node *nodes; /* [0] is the root; a parent stands before its children */
	size_t n, capacity;
	struct trie ways; /* its ids are the nodes' */
	struct intern names;
};

/* The trees of both sides of a scope. -ENOMEM. */
int pair_tree_build(struct pair_tree *ret, const struct pane_scope *s, enum tree_order order);
void pair_tree_free(struct pair_tree *t);
/* What a name's number stands for: the object's path's last part, and the function. */
const char *pair_object(const struct pair_tree *t, uint32_t name);
const char *pair_symbol(const struct pair_tree *t, uint32_t name);
/* Hangs the nodes that have a share of at least so many percent on one side together, siblings
 * sorted. ret has a node for each of the tree's. -ENOMEM. */
int pair_tree_sort(const struct pair_tree *t, const struct view_compare *c,
                   const struct pane_scope *s, enum compare_by by, double percent_limit,
                   struct fold *ret);

#endif
