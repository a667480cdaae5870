// SPDX-License-Identifier: MIT
/*
 * pane.c: what all panes share: scopes, names and shares on the screen, the filter.
 *
 * A pane is a list with a cursor. Its kind is a table of functions (pane.h); what it shows of
 * belongs to a scope, which panes share and count the users of. Everything that is drawn goes
 * through view_screen, so tests draw into memory.
 */
#include "view/pane.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "profile/nameless.h"
#include "profile/object_name.h"
#include "profile/elided.h"

#define NARROW 32 /* columns: a screen of fewer has room for one share and a name */
/* The limits of the colours. */
#define HOT 5.0 /* percent: as in the report as text */
#define WARM 0.5
#define DEPTH_COLUMNS 40 /* deeper nodes are not indented further */

/* Events of two profiles are the same if they are called alike. */
uint32_t pane_event(const struct profile *p, const char *name)
{
	for (uint32_t e = 1; e <= profile_n_events(p); e++)
		if (!strcmp(profile_event_name(p, e), name))
			return e;
	return PANE_NO_EVENT;
}

/* It has one user; NULL: out of memory. An event that the profile does not have has no samples. */
struct pane_scope *pane_scope_new(const struct profile *p, const char *event,
                                  struct watched *watched)
{
	struct pane_scope *s = calloc(1, sizeof(*s));
	struct profile_account account = { 0 };

	if (!s)
		return NULL;
	s->users = 1;
	s->profile = p;
	s->event = pane_event(p, event);
	if (s->event != PANE_NO_EVENT)
		profile_account(p, s->event, &account);
	s->weight = account.weight;
	s->samples = account.samples;
	s->event_name = strdup(event);
	s->watched = watched;
	if (s->event_name)
		return s;
	pane_scope_free(s);
	return NULL;
}

/* One more user. */
struct pane_scope *pane_scope_share(struct pane_scope *s)
{
	s->users++;
	return s;
}

/* One user less; the last one frees it, with the profile if the scope owns it. */
void pane_scope_free(struct pane_scope *s)
{
	if (!s || --s->users)
		return;
	pane_scope_free(s->base);
	profile_free(s->owned);
	free(s->shown);
	buf_free(&s->value);
	free(s->event_name);
	buf_free(&s->label);
	free(s);
}

/* Makes a pane of a kind, as the first member of a larger struct of `size` bytes. NULL: out of
 * memory. */
void *pane_new(size_t size, const struct pane_kind *kind, const struct view_opts *opts,
               struct pane_scope *s)
{
	struct pane *p = calloc(1, size);

	if (!p)
		return NULL;
	p->kind = kind;
	p->opts = opts;
	p->scope = pane_scope_share(s);
	return p;
}

/* NULL is allowed. The kind frees its own part first. */
void pane_free(struct pane *p)
{
	if (!p)
		return;
	if (p->kind->free)
		p->kind->free(p);
	pane_scope_free(p->scope);
	buf_free(&p->filter);
	free(p);
}

void pane_set_scope(struct pane *p, struct pane_scope *s)
{
	struct pane_scope *old = p->scope;

	p->scope = pane_scope_share(s);
	pane_scope_free(old);
}

/* 0 of nothing. */
double pane_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0.0;
}

/* Draws "  12.34%", coloured by how much it is unless the row has a style. */
void pane_share(const struct view_screen *s, unsigned row, unsigned column, unsigned style,
                uint64_t part, uint64_t whole)
{
	double percent = pane_percent(part, whole);
	char text[16];

	if (style == VIEW_PLAIN)
		style = percent >= HOT ? VIEW_HOT : percent >= WARM ? VIEW_WARM : VIEW_PLAIN;
	snprintf(text, sizeof(text), "%7.2f%%", percent);
	s->put(s->ctx, row, column, style, text);
}

/* Escapes the name, then cuts it: first what is between brackets, then its middle. room: columns.
 * nameless_end keeps the address of "[unknown lib.so+0x...]" to be seen. */
void pane_name(const struct view_screen *s, unsigned row, unsigned column, unsigned room,
               unsigned style, const char *name)
{
	struct buf text = { 0 }, cut = { 0 };

	shown_put_text(&text, name);
	elided_fit(&cut, buf_text(&text), room, nameless_end(name));
	s->put(s->ctx, row, column, style, buf_text(&cut));
	buf_free(&cut);
	buf_free(&text);
}

const char *pane_in(uint32_t kind, const char *object)
{
	return kind == PROFILE_INLINED ? "inlined" : kind == PROFILE_MISSING ? NULL : object;
}

void pane_name_in(const struct view_screen *s, unsigned row, unsigned column, unsigned room,
                  unsigned style, const char *name, const char *in)
{
	struct buf text = { 0 }, object = { 0 }, line = { 0 };

	shown_put_text(&text, name);
	shown_put_text(&object, in ? in : "");
	elided_fit_in(&line, buf_text(&text), in ? buf_text(&object) : NULL, room,
	              nameless_end(name));
	s->put(s->ctx, row, column, style, buf_text(&line));
	buf_free(&text);
	buf_free(&object);
	buf_free(&line);
}

void pane_mark(const struct pane *p, const struct view_screen *s, unsigned row, unsigned style,
               uint32_t object, uint32_t symbol)
{
	const struct profile *profile = p->scope->profile;

	/* Behind the shares. */
	pane_mark_names(p, s, row, pane_shares(s) - 1, style, pane_path(profile, object),
	                pane_plain(profile, symbol));
}

void pane_mark_names(const struct pane *p, const struct view_screen *s, unsigned row,
                     unsigned column, unsigned style, const char *object, const char *symbol)
{
	if (p->marks && s->columns > column && marks_has(p->marks, object, symbol))
		s->put(s->ctx, row, column, style, "*");
}

const char *pane_path(const struct profile *p, uint32_t object)
{
	return object ? profile_text(p, profile_object_at(p, object)->path) : "";
}

const char *pane_plain(const struct profile *p, uint32_t symbol)
{
	return symbol ? profile_text(p, symbol) : "";
}

unsigned pane_shares(const struct view_screen *s)
{
	return s->columns < NARROW ? PANE_TWO / 2 : PANE_TWO;
}

unsigned pane_indent(const struct view_screen *s, unsigned figures, unsigned depth)
{
	unsigned room = s->columns > figures ? (s->columns - figures) / 2 : 0;

	room = room > DEPTH_COLUMNS ? DEPTH_COLUMNS : room;
	return depth > room / 2 ? room : depth * 2;
}

/* An object's name as panes show it: its path's last part. */
const char *pane_object(const struct profile *p, uint32_t object)
{
	const char *path = pane_path(p, object);

	return *path ? object_name(path) : "[unknown]";
}

const char *pane_symbol(const struct profile *p, uint32_t symbol)
{
	return symbol ? profile_text(p, symbol) : "[unknown]";
}

/* By path; what has none is the same. */
bool pane_same_object(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y)
{
	return !strcmp(pane_path(a, x), pane_path(b, y));
}

bool pane_same_symbol(const struct profile *a, uint32_t x, const struct profile *b, uint32_t y)
{
	return !strcmp(pane_plain(a, x), pane_plain(b, y));
}

/* Whether a name has the filter's text in it. As in less(1), a capital letter in the filter makes
 * case matter. */
bool pane_passes(const struct pane *p, const char *name)
{
	const char *filter = (const char *)p->filter.bytes;
	size_t n = p->filter.n;
	bool capital = false;

	for (size_t i = 0; i < n; i++)
		capital |= isupper((unsigned char)filter[i]);
	for (size_t length = strlen(name); n && length >= n; name++, length--)
		if (capital ? !memcmp(name, filter, n) : !strncasecmp(name, filter, n))
			return true;
	return !n;
}
