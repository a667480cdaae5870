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

#include <stdbool.h>

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
	/* With a focus: only the function, and of each path what is next to it. */
	bool next_only;
	/* Without a focus: a node whose total is less than this has no children, and its self is
	 * all of it. 0: the whole tree. */
	uint64_t least;
	struct watched *watched; /* who may stop it; NULL: nobody */
};

/* Children are sorted by total, descending, then by name. -ENOMEM; -ECANCELED. */
int tree_build(struct tree *ret, const struct profile *p, const struct tree_opts *opts);
void tree_free(struct tree *t);

/* ---- tree_grow.c: of a large tree what is looked at, and no more ---- */

struct tree_growth;

/* Begins a tree (ret must stay where it is) with the root alone, which has the total of all; a
 * focus is not asked for. -ENOMEM; -ECANCELED. *g is to be ended in any case, ret to be freed after
 * that. */
int tree_grow_begin(struct tree_growth **g, struct tree *ret, const struct profile *p,
                    const struct tree_opts *opts);
/* Makes a node's children: behind all nodes that there are, each with its self and total, sorted
 * as those of tree_build. Nothing where they are made already. -ENOMEM; -ECANCELED. */
int tree_grow(struct tree_growth *g, uint32_t node);
/* Looks for the functions that have one of these names, by symbol, in one pass over all stacks.
 * -ENOMEM. */
int tree_grow_seek(struct tree_growth *g, const bool *symbols);
/* Whether one of them is somewhere below a node of the tree, whose children need not be made. */
bool tree_grow_leads(const struct tree_growth *g, uint32_t node);
void tree_grow_end(struct tree_growth *g);

#endif
