// SPDX-License-Identifier: MIT
/*
 * event.c: walks an event list: commas, groups, terms between slashes, modifiers.
 *
 * The grammar, as perf has it (n: names.c, p: pmu.c, t: tracepoint.c, terms.c for the rest):
 *
 * list   = item { "," item }
 * item   = event | "{" event { "," event } "}" [ ":" modifiers ]
 * event  = n [ "/" terms "/" ] [ ":" modifiers ]
 *        | p "/" terms "/" [ modifiers ]
 *        | system ":" t [ ":" modifiers ]
 *
 * Nothing is asked of the kernel but its descriptions in sysfs and tracefs: whether it takes the
 * attr, the session finds out.
 *
 * Invariant: a list grows by whole items; when anything fails it is cut back to what it was.
 */
#include "base/array.h"
#include "event/parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A wildcard in a tracepoint's name may mean thousands. */
#define EVENTS_MOST 4096

static void event_clear(struct event *e)
{
	free(e->name);
	free(e->cpus);
}

void event_list_free(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		event_clear(&list->at[i]);
	free(list->at);
	*list = (struct event_list){ 0 };
}

// Appends an event and takes *e over, also on failure.
static int event_add(struct event_parser *p, struct event *e)
{
	struct event_list *list = p->list;

	if (list->n == EVENTS_MOST) {
		event_clear(e);
		return event_fail(p, E2BIG, "more than %d events", EVENTS_MOST);
	}
	if (ARRAY_ROOM(&list->at, &list->capacity, list->n + 1) < 0) {
		event_clear(e);
		return event_fail(p, ENOMEM, "out of memory");
	}
	/* An event leads itself, until event_group says otherwise. */
	e->leader = (uint32_t)list->n;
	list->at[list->n++] = *e;
	return 0;
}

/* ---- one event ---- */

// The parts of "name/terms/mods", "name:mods" or "sys:name:mods", which are cut in place.
struct event_text {
	char *head;      // in front of the slash, or all
	char *terms;     // NULL: none
	char *modifiers; // "" when none
};

/* The first slash begins the terms, the last one ends them: values may hold slashes between
 * them. */
static int event_cut(struct event_parser *p, char *text, struct event_text *ret)
{
	char *slash = strchr(text, '/');
	char *last = slash ? strrchr(text, '/') : NULL;

	*ret = (struct event_text){ .head = text, .modifiers = text + strlen(text) };
	if (!slash)
		return 0;
	if (slash == last)
		return event_fail(p, EINVAL, "'%s': the second '/' is missing", p->item);
	*slash = '\0';
	*last = '\0';
	ret->terms = slash + 1;
	ret->modifiers = last + 1;
	/* perf takes modifiers behind terms with a colon and without. */
	if (*ret->modifiers == ':')
		ret->modifiers++;
	return 0;
}

/* What tracepoint_find hands through for each tracepoint that fits an item. */
struct event_trace {
	struct event_parser *p;
	struct event_text *text;
	const struct modifiers *group; /* NULL: no group */
	struct modifiers own;
	bool several; // a wildcard: each event has its own name
};

/* Modifiers of the group first, then the event's own. Takes *e over, also on failure. */
static int event_finish(struct event_parser *p, struct event *e, const struct modifiers *own,
                        const struct modifiers *group)
{
	if (group)
		terms_apply(e, group);
	terms_apply(e, own);
	/* An event is called what the user wrote, unless name= says otherwise. */
	if (!e->name)
		e->name = strdup(p->item);
	if (!e->name) {
		event_clear(e);
		return event_fail(p, ENOMEM, "out of memory");
	}
	return event_add(p, e);
}

/* Adds one tracepoint that fits the item's pattern; called by tracepoint_find. The terms are parsed
 * anew for each, because parsing cuts them up. */
static int event_add_tracepoint(void *ctx, const char *system, const char *name, uint64_t id)
{
	struct event_trace *t = ctx;
	struct event e = { .attr = { .type = SEAM_TYPE_TRACEPOINT, .config = id } };
	char full[EVENT_NAME_MOST + 1];
	char *terms;
	int r;

	if (t->text->terms) {
		terms = strdup(t->text->terms);
		r = terms ? terms_parse(t->p, &e, terms, NULL)
		          : event_fail(t->p, ENOMEM, "out of memory");
		free(terms);
		if (r < 0) {
			event_clear(&e);
			return r;
		}
	}
	if (t->several && !e.name) {
		snprintf(full, sizeof(full), "%s:%s%s%s", system, name,
		         t->text->modifiers[0] ? ":" : "", t->text->modifiers);
		e.name = strdup(full);
	}
	return event_finish(t->p, &e, &t->own, t->group);
}

/* colon: the one between system and name. It and the next one are cut out of the text. */
static int event_tracepoint(struct event_parser *p, struct event_text *text, char *colon,
                            const struct modifiers *group)
{
	struct event_trace t = { .p = p, .text = text, .group = group };
	char *second;
	int r;

	*colon = '\0';
	second = strchr(colon + 1, ':');
	if (second) {
		*second = '\0';
		text->modifiers = second + 1;
	}
	t.several = strpbrk(text->head, "*?[") || strpbrk(colon + 1, "*?[");
	r = terms_modifiers(p, text->modifiers, &t.own);
	if (r < 0)
		return r;
	return tracepoint_find(p->roots, text->head, colon + 1, event_add_tracepoint, &t, p->err);
}

/* A wrong name is mostly a mistyped one. */
static int event_unknown(struct event_parser *p, const char *name)
{
	char near[64];

	if (names_nearest(name, near, sizeof(near)))
		return event_fail(p, ENOENT, "unknown event '%s'; did you mean '%s'?", name, near);
	return event_fail(p, ENOENT,
	                  "unknown event '%s'; known are software and hardware events "
	                  "(cpu-clock, cycles, ...), rNNN, pmu/term=value/ and "
	                  "tracepoints as system:name",
	                  name);
}

/* A PMU's name stands only with terms; without them it would be an unknown event. */
static int event_symbol_or_pmu(struct event_parser *p, const struct event_text *text,
                               const struct modifiers *own, const struct modifiers *group)
{
	struct event e = { 0 };
	bool symbol = names_find(text->head, &e.attr.type, &e.attr.config);
	int r = 0;

	if (!symbol && (!text->terms || !pmu_exists(p->roots, text->head)))
		return event_unknown(p, text->head);
	if (!symbol)
		r = pmu_begin(p->roots, text->head, &e, p->err);
	if (r >= 0 && text->terms)
		r = terms_parse(p, &e, text->terms, symbol ? NULL : text->head);
	if (r < 0) {
		event_clear(&e);
		return r;
	}
	return event_finish(p, &e, own, group);
}

/* Parses one item of the list, n bytes at `at`, and adds the event or events that it means. group:
 * modifiers of the group that it stands in, or NULL. Errors name the item as the user wrote it. */
static int event_one(struct event_parser *p, const char *at, size_t n,
                     const struct modifiers *group)
{
	char copy[EVENT_ITEM_MOST];
	struct event_text text;
	struct modifiers own = { 0 };
	uint64_t config;
	uint32_t type;
	char *colon;
	int r;

	if (!n || n >= sizeof(copy) - 1)
		return event_fail(p, EINVAL,
		                  n ? "an event's text is too long" : "an event's name is missing");
	memcpy(copy, at, n);
	copy[n] = '\0';
	/* Parsing cuts the copy up; messages show the item as it was given. */
	memcpy(p->item, copy, n + 1);
	r = event_cut(p, copy, &text);
	if (r < 0)
		return r;
	/* A colon may end a name (cycles:u) or divide a tracepoint's (sched:sched_switch): known
	 * names decide. */
	colon = strchr(text.head, ':');
	if (colon) {
		*colon = '\0';
		if (!names_find(text.head, &type, &config)) {
			*colon = ':';
			return event_tracepoint(p, &text, colon, group);
		}
		text.modifiers = colon + 1;
	}
	r = terms_modifiers(p, text.modifiers, &own);
	return r < 0 ? r : event_symbol_or_pmu(p, &text, &own, group);
}

/* ---- the list ---- */

// The length of the item at `at`: up to a comma, or the end of the group, outside of slashes.
static size_t event_span(const char *at)
{
	bool slashes = false;
	size_t n = 0;

	for (; at[n]; n++) {
		if (at[n] == '/')
			slashes = !slashes;
		else if (!slashes && (at[n] == ',' || at[n] == '}' || at[n] == '{'))
			break;
	}
	return n;
}

// Reads "{a,b}:S" from behind the brace, and moves *at behind it.
static int event_group(struct event_parser *p, const char **at)
{
	size_t first = p->list->n;
	struct modifiers m = { 0 };
	const char *close = *at;
	char modifiers[32] = "";
	size_t n;
	int r;

	/* The group's modifiers stand behind its end, and each event needs them: so the end is
	 * looked for first. */
	do
		close += event_span(close);
	while (*close == ',' && *++close);
	if (*close != '}')
		return event_fail(p, EINVAL, "the group's '}' is missing");
	if (close[1] == ':') {
		n = event_span(close + 2);
		snprintf(modifiers, sizeof(modifiers), "%.*s", (int)n, close + 2);
		snprintf(p->item, sizeof(p->item), "%s", modifiers);
		r = terms_modifiers(p, modifiers, &m);
		if (r < 0)
			return r;
	}
	do {
		n = event_span(*at);
		r = event_one(p, *at, n, &m);
		if (r < 0)
			return r;
		*at += n;
	} while (**at == ',' && *++*at);
	/* The first event of the group leads it. */
	for (size_t i = first; i < p->list->n; i++)
		p->list->at[i].leader = (uint32_t)first;
	*at = close + 1 + (close[1] == ':' ? 1 + event_span(close + 2) : 0);
	return 0;
}

/* Parses items and groups up to the end of the text. Whatever was added before a failure is for the
 * caller to take back. */
static int event_items(struct event_parser *p, const char *at)
{
	for (;;) {
		int r;

		if (*at == '{') {
			at++;
			r = event_group(p, &at);
		} else {
			size_t n = event_span(at);

			r = event_one(p, at, n, NULL);
			at += n;
		}
		if (r < 0)
			return r;
		if (!*at)
			return 0;
		if (*at++ != ',')
			return event_fail(p, EINVAL, "a comma is missing in front of '%s'", at - 1);
	}
}

/* All of the text's events, or none. */
int event_list_parse(struct event_list *list, const char *text, const struct event_roots *roots,
                     struct seam_error *err)
{
	struct event_parser p = { .list = list, .roots = roots, .err = err };
	size_t before = list->n;
	int r = event_items(&p, text);

	if (r >= 0)
		return 0;
	while (list->n > before)
		event_clear(&list->at[--list->n]);
	return r;
}

/* cycles, as precise as the machine can; marked, so that the session may take cpu-clock instead. */
int event_list_default(struct event_list *list, struct seam_error *err)
{
	int r = event_list_parse(list, "cycles:P", NULL, err);

	if (r >= 0)
		list->at[list->n - 1].is_default = true;
	return r;
}
