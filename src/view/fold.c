// SPDX-License-Identifier: MIT
/*
 * fold.c: see fold.h. Lines are made anew at each key: a walk over open nodes, from the first to
 * the last, without recursion.
 */
#include "view/fold.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "view/view.h"

/* New nodes are open where all are. */
int fold_more(struct fold *f, size_t n)
{
	if (ARRAY_ROOM_ZEROED(&f->nodes, &f->room[0], n + 1) < 0 ||
	    ARRAY_ROOM(&f->open, &f->room[1], n + 1) < 0 ||
	    ARRAY_ROOM(&f->before, &f->room[2], n + 1) < 0)
		return -ENOMEM;
	for (; f->n < n; f->n++) {
		f->open[f->n] = f->all;
		f->before[f->n] = f->all_before;
	}
	return 0;
}

int fold_names(struct fold *f, size_t n)
{
	bool *passes = n > f->n_names ? realloc(f->passes, n + 1) : f->passes;

	if (!passes)
		return -ENOMEM;
	f->passes = passes;
	f->n_names = n > f->n_names ? n : f->n_names;
	return 0;
}

int fold_new(struct fold *f, size_t n, size_t n_names)
{
	*f = (struct fold){ .n_names = n_names };
	f->passes = calloc(n_names + 1, sizeof(*f->passes));
	if (f->passes && fold_more(f, n) >= 0)
		return 0;
	fold_free(f);
	return -ENOMEM;
}

void fold_free(struct fold *f)
{
	free(f->nodes);
	free(f->open);
	free(f->before);
	free(f->lines);
	free(f->passes);
	*f = (struct fold){ 0 };
}

/* One node's own children. */
static int fold_children(struct fold *f, uint32_t node)
{
	return !f->grow || f->nodes[node].grown ? 0 : f->grow(f->ctx, node);
}

int fold_grow(struct fold *f, uint32_t node)
{
	int r = fold_children(f, node);

	for (uint32_t at = f->ahead ? f->nodes[node].first_child : 0; at && r >= 0;
	     at = f->nodes[at].next_sibling)
		r = fold_children(f, at);
	return r;
}

/* The node that is what `its` is in the other tree; 0: there is none. known: by the other's nodes,
 * for those whose way down was looked at. */
static uint32_t fold_counterpart(struct fold *f, const struct fold *from, const uint32_t *known,
                                 uint32_t its)
{
	uint32_t up = from->nodes[its].parent, at;

	if ((up && !known[up]) || fold_grow(f, known[up]) < 0)
		return 0;
	at = f->nodes[known[up]].first_child;
	while (at && !f->same(from->ctx, its, f->ctx, at))
		at = f->nodes[at].next_sibling;
	return at;
}

/* Marks the nodes that differ from what nodes are by default, `here`, and those above them. */
static void fold_differing(const struct fold *from, const bool *was, bool all, uint32_t here,
                           bool *ret)
{
	for (uint32_t i = 1; i < from->n; i++)
		for (uint32_t at = was[i] != all || i == here ? i : 0; at && !ret[at];
		     at = from->nodes[at].parent)
			ret[at] = true;
}

/* A node's number is larger than its parent's. */
uint32_t fold_carry(struct fold *f, const struct fold *from, uint32_t here)
{
	/* While a filter opens all, what was open before it is what counts. */
	const bool *was = from->filtered ? from->before : from->open;
	uint32_t *known = calloc(from->n + 1, sizeof(*known)), ret = 0;
	bool *differs = calloc(from->n + 1, sizeof(*differs));

	f->all = from->filtered ? from->all_before : from->all;
	memset(f->open, f->all, f->n);
	if (known && differs)
		fold_differing(from, was, f->all, here, differs);
	for (uint32_t i = 1; known && differs && i < from->n; i++) {
		if (!differs[i])
			continue;
		known[i] = fold_counterpart(f, from, known, i);
		if (known[i])
			f->open[known[i]] = was[i];
	}
	if (known)
		ret = known[here];
	free(known);
	free(differs);
	return ret;
}

/* For keys: what fails is noted. */
static void fold_try(struct fold *f, uint32_t node)
{
	int r = fold_grow(f, node);

	if (r < 0)
		f->failed = r;
}

/* Whether a node has several children. If it has one only, its way goes on straight down. */
static bool fold_branches(const struct fold *f, uint32_t node)
{
	uint32_t child = f->nodes[node].first_child;

	return child && f->nodes[child].next_sibling;
}

/* Whether what is below a node stands further to the right: in a way straight down it does not, but
 * for the first step of one that has another beside it. */
static bool fold_deepens(const struct fold *f, uint32_t node)
{
	return node && (fold_branches(f, node) || fold_branches(f, f->nodes[node].parent));
}

/* Whether what is below a node is looked at: with a filter only where something passes. Then its
 * children are made. */
static bool fold_enters(struct fold *f, uint32_t node)
{
	if (!f->open[node] || (f->filtered && f->leads && !f->leads(f->ctx, node)))
		return false;
	fold_try(f, node);
	return f->nodes[node].first_child;
}

/* What comes after a node, depth first. */
static struct fold_line fold_behind(struct fold *f, struct fold_line at)
{
	if (fold_enters(f, at.node))
		return (struct fold_line){ f->nodes[at.node].first_child,
			                   at.depth + fold_deepens(f, at.node) };
	while (at.node && !f->nodes[at.node].next_sibling) {
		/* Up to the first node that has another one beside it. */
		at.node = f->nodes[at.node].parent;
		at.depth -= fold_deepens(f, at.node);
	}
	at.node = at.node ? f->nodes[at.node].next_sibling : 0;
	return at;
}

void fold_reach(struct fold *f, size_t *at, size_t n)
{
	while (f->next.node && f->n_lines < n) {
		if (!f->filtered || f->passes[f->nodes[f->next.node].name]) {
			if (ARRAY_ROOM(&f->lines, &f->room[3], f->n_lines + 1) < 0) {
				f->failed = -ENOMEM;
				return;
			}
			if (f->sought == f->next.node) {
				f->sought = 0;
				if (at)
					*at = f->n_lines;
			}
			f->lines[f->n_lines++] = f->next;
		}
		f->next = fold_behind(f, f->next);
	}
}

void fold_list(struct fold *f, size_t at)
{
	f->sought = 0;
	f->n_lines = 0;
	f->next = (struct fold_line){ f->nodes[0].first_child, 0 };
	fold_reach(f, NULL, at + FOLD_AHEAD);
}

/* A filter looks into closed branches, too; what was closed before it is closed after it, but for
 * the way to what was found. */
void fold_filter(struct fold *f, bool filtered, size_t *at)
{
	uint32_t here = f->filtered && !filtered ? fold_at(f, *at) : 0;

	f->failed = 0;
	if (filtered && !f->filtered) {
		memcpy(f->before, f->open, f->n);
		f->all_before = f->all;
		memset(f->open, 1, f->n);
		f->all = true;
	} else if (!filtered && f->filtered) {
		memcpy(f->open, f->before, f->n);
		f->all = f->all_before;
	}
	f->filtered = filtered;
	for (uint32_t up = f->nodes[here].parent; up; up = f->nodes[up].parent)
		f->open[up] = true;
	fold_list(f, *at);
	if (here)
		fold_go(f, here, at);
}

/* Opens a node and the one child below it, and so on to where the way parts. */
static void fold_open(struct fold *f, uint32_t node)
{
	for (; node && !f->open[node]; node = f->nodes[node].first_child) {
		fold_try(f, node);
		f->open[node] = true;
		if (fold_branches(f, node))
			break;
	}
}

/* Opens the first way down from a node to where its end is, which is returned. */
static uint32_t fold_hottest(struct fold *f, uint32_t node)
{
	for (;; node = f->nodes[node].first_child) {
		fold_try(f, node);
		f->open[node] = true;
		if (f->nodes[node].end || !f->nodes[node].first_child)
			return node;
	}
}

/* Closes the node, or, if it is closed, the one that it is below. Returns which; 0: there is
 * none. */
static uint32_t fold_close(struct fold *f, uint32_t node)
{
	uint32_t up = f->nodes[node].parent;

	if (f->open[node] && f->nodes[node].first_child) {
		f->open[node] = false;
		return node;
	}
	/* A chain was opened in one step, so it closes in one. */
	while (up && !fold_branches(f, up) && f->nodes[up].parent)
		up = f->nodes[up].parent;
	f->open[up] = false;
	return up;
}

void fold_go(struct fold *f, uint32_t node, size_t *at)
{
	for (size_t i = 0; i < f->n_lines; i++)
		if (f->lines[i].node == node) {
			*at = i;
			return;
		}
	f->sought = f->next.node ? node : 0;
}

/* Does what the key asks for, and keeps the cursor where the node is to be seen. */
bool fold_key(struct fold *f, size_t *at, int key)
{
	uint32_t node = fold_at(f, *at);
	bool closed = node && !f->open[node];

	f->failed = 0;
	if (!node)
		return key != VIEW_KEY_LEFT && key != 'h';
	if (((key == VIEW_KEY_ENTER || key == 'e') && closed) || key == VIEW_KEY_RIGHT ||
	    key == '+' || key == 'l')
		fold_open(f, node);
	else if (key == VIEW_KEY_ENTER || key == 'e')
		f->open[node] = false;
	else if (key == VIEW_KEY_LEFT || key == 'h' || key == '-')
		node = fold_close(f, node);
	else if (key == 'H')
		node = fold_hottest(f, node);
	else if (key == 'E' || key == 'C')
		memset(f->open, f->all = key == 'E', f->n);
	else
		return false;
	/* What stands at the left can go no further: to go back is for who has the pane. */
	if (!node)
		return key == '-';
	fold_list(f, *at);
	/* What was closed above the node hides it: the cursor goes to what hides it. */
	for (uint32_t up = node; up; up = f->nodes[up].parent)
		if (!f->open[up])
			node = up;
	fold_go(f, node, at);
	return true;
}
