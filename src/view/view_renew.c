// SPDX-License-Identifier: MIT
/*
 * view_renew.c: other samples under all panes while somebody looks: the next seconds of a recording
 * in progress, or more of a file.
 *
 * Invariant: whatever fails, each pane has a scope that is whole. The samples that were shown are
 * let go when no pane shows them any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/view_made.h"

/* All samples of the event that a pane shows; if nobody chose one, or if of two sides one has none
 * of it, of the first that can be shown. NULL: out of memory. */
static struct pane_scope *renew_all(struct view *v, const struct view_news *news, const char *event)
{
	const struct view_compare *c = news->compare ? news->compare : v->opts.compare;
	const struct profile *p = news->profile;

	if (!*event || (c && !view_has_samples(c, p, event)))
		event = view_event_with_samples(c, p);
	return view_scope_of(v, c, p, event);
}

/* The scope of a pane, made of what is new. below: that of the pane below it, made again. NULL: out
 * of memory, or not wanted any more. */
static struct pane_scope *renew_scope(struct view *v, const struct view_made *m,
                                      const struct pane *p, struct pane_scope *below)
{
	struct pane_scope *old = p->scope;

	if (p->below && p->below->scope == old)
		return pane_scope_share(below);
	if (old->what == PANE_ALL)
		return renew_all(v, &m->news, old->event_name);
	return view_scope_again(v, old, below);
}

/* A pane of a scope that was made again. A text has what it needs: the same text, or, of a section,
 * what is known when all is made. *scope: what it shows. */
static int renew_pane(struct view_made *m, size_t i, const struct pane *p, struct pane_scope *s)
{
	static const struct pane_kind none = { 0 };
	struct pane *again =
	        p->kind->again ? p->kind->again(p, s) : pane_new(sizeof(*again), &none, p->opts, s);

	m->again[i] = again;
	return again ? 0 : -ENOMEM;
}

/* The panes of the way back, from the lowest up; what is on another one is made after it. */
static int renew_make(struct view *v, struct view_made *m)
{
	const struct pane **panes = m->again ? calloc(m->n, sizeof(*panes)) : NULL;
	struct pane_scope *below = NULL;
	size_t depth = 0;
	int r = 0;

	if (!panes)
		return -ENOMEM;
	for (const struct pane *p = v->top; p; p = p->below)
		panes[depth++] = p;
	for (size_t i = depth; i-- > 0 && r >= 0;) {
		struct pane_scope *s = renew_scope(v, m, panes[i], below);

		r = s ? renew_pane(m, i, panes[i], s) : -ENOMEM;
		pane_scope_free(s);
		below = r < 0 ? NULL : m->again[i]->scope;
	}
	/* Sections that were left show what one of these shows. */
	for (const struct pane *p = v->kept; p && r >= 0; p = p->below) {
		size_t i = 0;

		while (panes[i]->scope != p->scope)
			i++;
		r = renew_pane(m, depth, p, m->again[i]->scope);
		depth++;
	}
	free(panes);
	return r;
}

/* Puts a pane in the place of the one that it was made from, whose filter and cursor it takes
 * over. */
static int renew_take_over(struct view *v, struct pane **at, struct pane *again)
{
	struct pane *old = *at;

	/* A text that is no section stays. */
	if (!old->kind->again && !old->is_section) {
		pane_set_scope(old, again->scope);
		pane_free(again);
		return 0;
	}
	if (!old->kind->again) {
		struct pane *text = view_section_pane(v, old->section, again->scope);

		pane_free(again);
		if (!text)
			return -ENOMEM;
		again = text;
	}
	again->section = old->section;
	again->is_section = old->is_section;
	again->marks = old->marks;
	again->below = old->below;
	again->at = old->at;
	again->top = old->top;
	again->filter = old->filter;
	old->filter = (struct buf){ 0 };
	if (again->kind->adopt)
		again->kind->adopt(again, old);
	else if (again->filter.n)
		again->kind->filter(again);
	*at = again;
	pane_free(old);
	return 0;
}

/* ---- all panes ---- */

/* All panes at once. What was shown is let go when no pane shows it any more. */
static int renew_put(struct view *v, struct view_made *m)
{
	struct view_news before = v->now;
	size_t i = 0;
	int r = 0;

	v->now = m->news;
	m->news = (struct view_news){ 0 };
	v->opts.profile = v->now.profile;
	v->opts.account = v->now.account;
	if (v->now.compare)
		v->opts.compare = v->now.compare;
	if (v->now.title)
		v->opts.title = v->now.title;
	for (struct pane **at = &v->top; *at && r >= 0; at = &(*at)->below, i++) {
		r = renew_take_over(v, at, m->again[i]);
		m->again[i] = NULL;
	}
	for (struct pane **at = &v->kept; *at && r >= 0; at = &(*at)->below, i++) {
		r = renew_take_over(v, at, m->again[i]);
		m->again[i] = NULL;
	}
	/* After a failure some panes still show what was there: it is not freed before they are. */
	if (r < 0) {
		v->left = before;
		return r;
	}
	if (!v->now.title) {
		v->now.title = before.title;
		before.title = NULL;
	}
	view_news_free(&before);
	return 0;
}

/* A key came: what is new waits until it is answered, unless newer samples do. */
static void renew_stopped(struct view *v, struct view_made *m)
{
	if (v->waiting.profile)
		return;
	v->waiting = m->news;
	m->news = (struct view_news){ 0 };
}

/* Shows what is new. */
static int renew_now(struct view *v, struct view_news *news)
{
	struct view_made *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->what = "what is new";
	m->make = renew_make;
	m->put = renew_put;
	m->stopped = renew_stopped;
	m->renews = true;
	m->news = *news;
	*news = (struct view_news){ 0 };
	for (const struct pane *p = v->top; p; p = p->below)
		m->n++;
	for (const struct pane *p = v->kept; p; p = p->below)
		m->n++;
	m->again = calloc(m->n, sizeof(struct pane *));
	if (!m->again)
		m->n = 0;
	return view_make(v, m);
}

/* While the view is frozen, or something is made of what is shown, the newest waits, and the one
 * before it goes. */
int view_renew(struct view *v, struct view_news *news)
{
	if (!v->frozen && !v->made)
		return renew_now(v, news);
	view_news_free(&v->waiting);
	v->waiting = *news;
	*news = (struct view_news){ 0 };
	return 0;
}

int view_renew_waiting(struct view *v)
{
	return v->waiting.profile ? renew_now(v, &v->waiting) : 0;
}
