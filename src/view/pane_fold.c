// SPDX-License-Identifier: MIT
// pane_fold.c: what the panes of trees share: their lines are those of fold.c, which are made as
// far as somebody looks.
#include "view/pane.h"

#define ADOPTED_MOST 20000 /* lines that are made again at once */

int pane_fold(struct pane *p, const struct fold *f)
{
	p->n = f->n_lines;
	p->more = f->next.node;
	p->seeks = f->sought;
	return f->failed;
}

int pane_fold_reach(struct pane *p, struct fold *f, size_t n)
{
	f->failed = 0;
	fold_reach(f, p->seeks ? &p->at : NULL, n);
	return pane_fold(p, f);
}

int pane_fold_key(struct pane *p, struct fold *f, int key)
{
	bool own = fold_key(f, &p->at, key);
	int r = pane_fold(p, f);

	return r < 0 ? r : own;
}

void pane_fold_adopt(struct pane *p, struct fold *f, const struct pane *old, uint32_t here)
{
	size_t above = old->at - old->top;

	fold_reach(f, NULL, (old->at < ADOPTED_MOST ? old->at : ADOPTED_MOST) + FOLD_AHEAD);
	p->at = old->at;
	/* On the first line it stays there, so that what leads is seen. */
	if (here && old->at)
		fold_go(f, here, &p->at);
	f->sought = 0;
	(void)pane_fold(p, f);
	p->top = p->at > above ? p->at - above : 0;
}

const char *pane_fold_sign(const struct fold *f, uint32_t node)
{
	const struct fold_node *n = &f->nodes[node];

	return !n->first_child && !n->more ? "  " : f->open[node] ? "- " : "+ ";
}
