/* SPDX-License-Identifier: MIT */
/*
 * tree_make.h: what the files that make a tree share (tree_make.c): tree.c makes all of it at once,
 * tree_grow.c the children of one node after the other. For tree*.c only.
 */
#ifndef SEAM_PROFILE_TREE_MAKE_H
#define SEAM_PROFILE_TREE_MAKE_H

#include "base/map.h"
#include "base/trie.h"
#include "profile/tree.h"

struct tree_builder {
	struct tree *tree;
	size_t capacity;
	struct map labels;     /* object << 32 | symbol -> label */
	uint32_t *frame_label; /* of the profile's frames; 0: not asked for yet */
	struct trie ids;       /* of labels: the ids of the tree's nodes */
	uint32_t *path;        /* frames of one stack, innermost first */
	size_t path_capacity;
	uint32_t *children; /* of one node, while they are sorted */
	size_t children_capacity;
};

/* Begins a tree of a profile that has the root only. -ENOMEM; to be ended in any case. */
int tree_begin(struct tree_builder *b, struct tree *t, const struct profile *p);
void tree_end(struct tree_builder *b);
/* The child of a node for a frame, made when new. -ENOMEM. */
int tree_child(struct tree_builder *b, uint32_t parent, uint32_t frame, uint32_t *ret);
/* Sorts the children of a node. -ENOMEM. */
int tree_sort_children(struct tree_builder *b, uint32_t parent);

#endif
