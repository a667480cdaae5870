/* SPDX-License-Identifier: MIT */
/*
 * pair_tree.h: the call trees of two sides as one: a node is a function below the same way down,
 * with what each side has of it. Functions are the same on both sides if they are called alike, in
 * an object whose path ends alike. A node's children are made when they are looked at.
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
	uint32_t first[2]; /* of each side: which of its nodes; a place in parts, 0: none */
	uint32_t children, n_children; /* once they are made, they stand together */
	bool grown;
};

/* A node of one side's tree, which is a part of a node of both. */
struct pair_part {
	uint32_t node, next; /* the place of another one, 0: none */
};

/* Zero-initialise to start. */
struct pair_tree {
	struct pair_node *nodes; /* [0] is the root; a parent stands before its children */
	size_t n, capacity;
	struct trie ways; /* its ids are the nodes' */
	struct intern names;
	struct pair_part *parts; /* from place 1 on */
	size_t n_parts, parts_capacity;
	struct pair_side {
		struct tree tree;
		struct tree_growth *growth;
	} side[2];
};

/* Begins the trees of both sides of a scope, with the root alone; ret stays where it is. -ENOMEM;
 * -ECANCELED. To be freed in any case. */
int pair_tree_begin(struct pair_tree *ret, const struct pane_scope *s, enum tree_order order);
/* Makes the children of a node, behind all nodes that there are. -ENOMEM; -ECANCELED. */
int pair_tree_grow(struct pair_tree *t, uint32_t node);
/* Whether something that was sought on a side (tree_grow_seek) is somewhere below a node. */
bool pair_tree_leads(const struct pair_tree *t, uint32_t node);
void pair_tree_free(struct pair_tree *t);
/* What a name's number stands for: the object's path's last part, and the function. */
const char *pair_object(const struct pair_tree *t, uint32_t name);
const char *pair_symbol(const struct pair_tree *t, uint32_t name);
/* What fold.c knows of a node whose children are not made. */
void pair_tree_fold(const struct pair_tree *t, const struct pane_scope *s, uint32_t node,
                    struct fold_node *ret);
/* How siblings are sorted, and which of them are shown: those with a share of at least so many
 * percent on one side. */
struct pair_order {
	const struct view_compare *compare;
	const struct pane_scope *scope;
	enum compare_by by;
	double percent_limit;
};
/* Hangs the children of a node, which are made, below it. ret has a node for each of the tree's.
 * -ENOMEM. */
int pair_tree_sort(const struct pair_tree *t, uint32_t node, const struct pair_order *order,
                   struct fold *ret);

#endif
