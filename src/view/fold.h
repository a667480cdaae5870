/* SPDX-License-Identifier: MIT */
/*
 * fold.h: a tree as lines of which branches are opened and closed by keys. Knows how nodes hang
 * together and which of them are open, not what they are and how they are drawn.
 *
 * Invariant: the nodes that are to be seen are those whose ancestors are all open. With a filter
 * all are open for as long as it lasts, and only nodes with a name that passes are listed. Lines
 * are made from the first on, as far as somebody looks, and with them the nodes of open branches:
 * that all are open costs no more than what is seen of them.
 */
#ifndef SEAM_VIEW_FOLD_H
#define SEAM_VIEW_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLD_AHEAD 256 /* lines behind the cursor's that are made with it */

/* 0: none; the root is node 0. A node that is never shown is in no list. */
struct fold_node {
	uint32_t parent, first_child, next_sibling;
	uint32_t name;
	bool end;   /* the hottest way down ends here */
	bool grown; /* its children are there */
	bool more;  /* there will be some */
};

struct fold_line {
	uint32_t node, depth;
};

struct fold {
	struct fold_node *nodes;
	size_t n, n_names;
	bool *open;              /* by node */
	bool *before;            /* the same, before there was a filter */
	bool all, all_before;    /* the same of nodes that are not made yet */
	bool *passes;            /* by name */
	struct fold_line *lines; /* n_lines of them, as far as they are made */
	size_t room[4];          /* of the arrays by node, and of the lines */
	size_t n_lines;
	struct fold_line next; /* the node that is looked at next; 0: all lines are made */
	uint32_t sought;       /* the cursor belongs to its line, which is not made yet; 0: none */
	bool filtered;
	/* Makes the children of a node that are not there yet; it calls fold_more and fills
	 * them, and says that they are there. NULL: all are. -errno. */
	int (*grow)(void *ctx, uint32_t node);
	bool ahead; /* only what is below a node tells whether it has children that are shown */
	/* With a filter: whether a name that passes may be below a node, whose children need not be
	 * there. NULL: any may be. */
	bool (*leads)(const void *ctx, uint32_t node);
	/* Whether a node of another tree, which has its own ctx, is called as one of this. */
	bool (*same)(const void *other, uint32_t its, const void *ctx, uint32_t node);
	void *ctx;
	int failed; /* -errno of it, since the last fold_key */
};

/* n nodes without children, names from 0 to n_names - 1. -ENOMEM. */
int fold_new(struct fold *f, size_t n, size_t n_names);
/* Room for n nodes in all; new ones have no children. -ENOMEM. */
int fold_more(struct fold *f, size_t n);
void fold_free(struct fold *f);
/* Room for names from 0 to n - 1; of a tree that grew there are more. -ENOMEM. */
int fold_names(struct fold *f, size_t n);
/* Makes the children of a node, if they are not there yet; and theirs, where that is to be known
 * ahead. -errno. */
int fold_grow(struct fold *f, uint32_t node);
/* Opens and closes what is so in another tree, whose place this one takes. Returns what its node
 * `here` is now; 0: nothing. Without memory for that nothing differs from the others. */
uint32_t fold_carry(struct fold *f, const struct fold *from, uint32_t here);
/* To be called when passes has been filled. filtered: there is a filter. When there is none any
 * more, the way to the node of line *at is opened, and the cursor goes with it. */
void fold_filter(struct fold *f, bool filtered, size_t *at);
/* Lists the nodes that are to be seen, depth first: up to line `at` and FOLD_AHEAD more. */
void fold_list(struct fold *f, size_t at);
/* Goes on with the list until it has n lines, or all. *at becomes the line that is sought, if it
 * comes; NULL: it is not wanted any more. */
void fold_reach(struct fold *f, size_t *at, size_t n);
/* Enter, e, Right, l, +, Left, h, -, E, C, H on line *at, which goes with its node. False: another
 * key. */
bool fold_key(struct fold *f, size_t *at, int key);
/* The node of a line; 0: there is no such line. */
static inline uint32_t fold_at(const struct fold *f, size_t line)
{
	return line < f->n_lines ? f->lines[line].node : 0;
}
/* Moves *at to a node's line, if it is to be seen; a line that is not made yet is sought. */
void fold_go(struct fold *f, uint32_t node, size_t *at);

#endif
