// SPDX-License-Identifier: MIT
/* view_event.c: which events there are to look at, and another one in place of the one that is
 * shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view/view_made.h"

/* Whether a profile has samples of an event. */
static bool view_is_sampled(const struct profile *p, const char *event)
{
	uint32_t e = pane_event(p, event);
	struct profile_account account = { 0 };

	if (e != PANE_NO_EVENT)
		profile_account(p, e, &account);
	return account.samples;
}

bool view_has_samples(const struct view_compare *c, const struct profile *p, const char *event)
{
	return c ? view_is_sampled(c->side[0], event) && view_is_sampled(c->side[1], event)
	         : view_is_sampled(p, event);
}

const char *view_event_with_samples(const struct view_compare *c, const struct profile *p)
{
	for (uint32_t e = 1; e <= profile_n_events(p); e++)
		if (view_has_samples(c, p, profile_event_name(p, e)))
			return profile_event_name(p, e);
	return profile_n_events(p) ? profile_event_name(p, 1) : "";
}

/* Whether an event of the profile is one that is shown. */
static bool view_shows_event(const struct view *v, const char *event)
{
	return view_has_samples(v->opts.compare, v->opts.profile, event);
}

size_t view_events(const struct view *v, size_t *place)
{
	const struct profile *p = v->opts.profile;
	size_t n = 0;

	*place = 0;
	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		if (!view_shows_event(v, profile_event_name(p, e)))
			continue;
		n++;
		if (!strcmp(profile_event_name(p, e), v->top->scope->event_name))
			*place = n;
	}
	return n;
}

const char *view_first_event(const struct view *v)
{
	return view_event_with_samples(v->opts.compare, v->opts.profile);
}

/* The event after or before the one that is shown, of those that can be. */
static const char *view_other_event(const struct view *v, int step)
{
	const struct profile *p = v->opts.profile;
	size_t n = profile_n_events(p);
	uint32_t at = pane_event(p, v->top->scope->event_name);

	if (at == PANE_NO_EVENT)
		return view_first_event(v);
	for (size_t i = 0; i < n; i++) {
		at = (uint32_t)((at - 1 + (step < 0 ? n - 1 : 1)) % n + 1);
		if (view_shows_event(v, profile_event_name(p, at)))
			break;
	}
	return profile_event_name(p, at);
}

static int view_event_make(struct view *v, struct view_made *m)
{
	if (m->like.value.failed)
		return -ENOMEM;
	m->scope = view_scope_all(v, buf_text(&m->like.value));
	m->pane = m->scope ? view_section_pane(v, m->section, m->scope) : NULL;
	return m->pane ? 0 : -ENOMEM;
}

/* In place of all that there is: it is of the old event. */
static int view_event_put(struct view *v, struct view_made *m)
{
	struct pane *p = m->pane;

	m->pane = NULL;
	p->is_section = true;
	p->section = m->section;
	while (v->top->below)
		view_pop(v);
	view_swap(v, v->top, p);
	p->section = m->section;
	view_forget_kept(v, true);
	return 0;
}

int view_event_only(struct view *v, const char *event)
{
	struct view_made *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->what = "samples";
	m->make = view_event_make;
	m->put = view_event_put;
	m->section = v->top->section;
	buf_put_text(&m->like.value, event);
	return view_make(v, m);
}

/* Shows the next event, or the one before, by itself, in the same section. */
int view_event(struct view *v, int step)
{
	if (!v->top->all_events || !v->opts.compare->events)
		return view_event_only(v, view_other_event(v, step));
	view_say(v, "these rows say their event");
	return 0;
}
