/* SPDX-License-Identifier: MIT */
/*
 * tree.h: a profile as a call tree for people: nodes are functions (object, symbol), not addresses.
 *
 * By caller the root's children are the outermost frames and a path reads downwards as calls; by
 * callee they are the innermost frames and a path reads downwards as "called by". Invariant: a
 * node's total is its self plus its children's totals.
 */
#ifndef SEAM_PROFILE_TREE_H
#define SEAM_PROFILE_TREE_H

#include "base/watched.h"
#include "profile/profile.h"

enum tree_order {
	TREE_CALLER,
	TREE_CALLEE
};

struct tree_node {
	uint32_t parent, first_child, next_sibling; /* 0: none (the root is node 0) */
	uint32_t object, symbol;                    /* of the profile; symbol 0: not known */
	uint32_t kind;                              /* of its frames, by profile_kind_of */
	uint64_t self, total;                       /* weight */
	uint64_t self_samples, total_samples;
};

struct tree {
	const struct profile *profile;
	struct tree_node *nodes; /* [0] is the root, with the total of all */
	size_t n;
};

struct tree_opts {
	enum tree_order order;
	uint32_t event; /* 0: all */
	/* By frame id: paths begin at the first of these and stacks without one are left out: what
	 * such a function called (from its outermost call on), or who called it. NULL: whole
	 * stacks. */
	const bool *focus;
	/* Of a tree by caller without a focus: a node whose total is less than this has no
	 * children, and its self is all of it; samples are not counted. 0: the whole tree. */
	uint64_t least;
	struct watched *watched; /* who may stop it; NULL: nobody */
};

/* Children are sorted by total, descending, then by name. -ENOMEM; -ECANCELED. */
int tree_build(struct tree *ret, const struct profile *p, const struct tree_opts *opts);
void tree_free(struct tree *t);

#endif
