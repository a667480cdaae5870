// SPDX-License-Identifier: MIT
/*
 * view_renew.c: other samples under all panes of a view, while somebody looks: the next seconds of
 * a recording in progress, or more of a file.
 *
 * Invariant: whatever fails, each pane has a scope that is whole. The samples that were shown are
 * let go when no pane shows them any more.
 */
#include <errno.h>
#include <stdlib.h>

#include "view/view_state.h"

void view_news_free(struct view_news *news)
{
	if (news->owned)
		profile_free(news->profile);
	free(news->title);
	free(news->account);
	*news = (struct view_news){ 0 };
}

/* The event that is shown if nobody chose one: the first with samples. */
static const char *renew_event(const struct profile *p)
{
	struct profile_account account;

	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		profile_account(p, e, &account);
		if (account.samples)
			return profile_event_name(p, e);
	}
	return profile_n_events(p) ? profile_event_name(p, 1) : "";
}

/* A pane of a scope that was made again. Texts stay, but for those that are sections: they are of
 * the samples. */
static int renew_pane(struct view *v, struct pane **at, struct pane_scope *s)
{
	struct pane *p = *at, *again;
	if (p->kind->renew)
		return p->kind->renew(p, s);
	if (!p->is_section) {
		pane_set_scope(p, s);
		return 0;
	}
	again = view_section_pane(v, p->section, s);
	if (!again)
		return -ENOMEM;
	again->section = p->section;
	again->is_section = true;
	again->marks = p->marks;
	again->at = p->at;
	again->top = p->top;
	again->below = p->below;
	again->filter = p->filter;
	p->filter = (struct buf){ 0 };
	if (v->top == p)
		v->top = again;
	*at = again;
	pane_free(p);
	return again->filter.n ? again->kind->filter(again) : 0;
}

/* Shows the newest profile in n panes, from the lowest to the top one. old: room for their
 * scopes. */
static int renew_panes(struct view *v, struct pane **panes, struct pane_scope **old, size_t n)
{
	const struct profile *profile = v->opts.profile;
	int r = 0;

	/* What a scope above borrows of one below lives until all are made again. */
	for (size_t i = 0; i < n; i++)
		old[i] = pane_scope_share(panes[i]->scope);
	for (size_t i = 0; i < n && r >= 0; i++) {
		struct pane_scope *below = i ? panes[i - 1]->scope : NULL, *s;

		if (i && old[i] == old[i - 1])
			s = pane_scope_share(below);
		else if (old[i]->what == PANE_ALL)
			s = pane_scope_new(profile,
			                   old[i]->event_name.n ? buf_text(&old[i]->event_name)
			                                        : renew_event(profile),
			                   "");
		else
			s = view_scope_again(v, old[i], below);
		r = s ? renew_pane(v, &panes[i], s) : -ENOMEM;
		/* The pane above lies on the new one. */
		if (i + 1 < n)
			panes[i + 1]->below = panes[i];
		pane_scope_free(s);
	}
	for (size_t i = n; i; i--)
		pane_scope_free(old[i - 1]);
	return r;
}

/* Shows what is new. */
static int renew_now(struct view *v, struct view_news *news)
{
	struct view_news before = v->now;
	struct pane_scope **old;
	struct pane **panes;
	size_t n = 0;
	int r;

	v->now = *news;
	*news = (struct view_news){ 0 };
	v->opts.profile = v->now.profile;
	v->opts.account = v->now.account;
	if (v->now.title)
		v->opts.title = v->now.title;
	for (struct pane *p = v->top; p; p = p->below)
		n++;
	panes = calloc(n, sizeof(struct pane *));
	old = calloc(n, sizeof(struct pane_scope *));
	if (panes && old) {
		size_t i = n;

		for (struct pane *p = v->top; p; p = p->below)
			panes[--i] = p;
		r = renew_panes(v, panes, old, n);
	} else {
		r = -ENOMEM;
	}
	free(panes);
	free(old);
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

/* While the view is frozen the newest waits, and the one before it goes. */
int view_renew(struct view *v, struct view_news *news)
{
	if (!v->frozen)
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
