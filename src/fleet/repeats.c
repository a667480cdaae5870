// SPDX-License-Identifier: MIT
/*
 * repeats.c: see repeats.h.
 *
 * Windows that follow one another on one machine are no independent measurements: what lasts longer
 * than a window is in many of them. So hosts come first, and spans of time are few and long.
 */
#include "fleet/repeats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

/* Copies the terms of a filter, but those of a key. */
static int repeats_filter(struct labels_filter *ret, const struct labels_filter *f, const char *but)
{
	const struct labels terms = { f ? f->terms : (struct buf){ 0 } };
	const char *key, *value;
	size_t at = 0;

	while (labels_next(&terms, &at, &key, &value)) {
		if (but && !strcmp(key, but))
			continue;
		buf_put(&ret->terms, key, strlen(key) + 1);
		buf_put(&ret->terms, value, strlen(value) + 1);
	}
	return ret->terms.failed ? -ENOMEM : 0;
}

/* What is in the store of the query: its hosts, its span, and at most how many windows. */
struct repeats_found {
	struct intern hosts; /* from 1 on */
	uint64_t first_ns, last_ns, windows;
	bool nameless; /* a series has no host */
};

/* Looks through the series of the store. -ENOMEM. */
static int repeats_find(struct repeats_found *ret, const struct store_listing *l,
                        const struct store_query *q)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct store_series *s = &l->series[i];
		const char *host = labels_get(&s->labels, "host");
		uint64_t first = s->first_ns > q->from_ns ? s->first_ns : q->from_ns;
		uint64_t last = s->last_ns < q->to_ns ? s->last_ns : q->to_ns;

		if (first >= last || !labels_match(q->where, &s->labels))
			continue;
		if (host && intern_text(&ret->hosts, host) == INTERN_FAILED)
			return -ENOMEM;
		ret->nameless |= !host;
		ret->first_ns = !ret->windows || first < ret->first_ns ? first : ret->first_ns;
		ret->last_ns = last > ret->last_ns ? last : ret->last_ns;
		ret->windows = s->windows > ret->windows ? s->windows : ret->windows;
	}
	return 0;
}

/* One query for each host, or for several: a filter takes any of a key's values. */
static int repeats_hosts(struct repeats *r, const struct repeats_found *f,
                         const struct store_query *q)
{
	int e = 0;

	r->by_host = true;
	for (size_t i = 0; i < r->n && e >= 0; i++)
		e = repeats_filter(&r->at[i].where, q->where, "host");
	for (size_t host = 1; host < f->hosts.n && e >= 0; host++) {
		struct buf *terms = &r->at[(host - 1) % r->n].where.terms;
		const char *name = intern_get(&f->hosts, (uint32_t)host);

		buf_put(terms, "host", sizeof("host"));
		e = buf_put(terms, name, strlen(name) + 1);
	}
	return e < 0 ? e : 0;
}

/* Equal spans of time. */
static int repeats_spans(struct repeats *r, const struct repeats_found *f,
                         const struct store_query *q)
{
	uint64_t span = f->last_ns - f->first_ns, step = span / r->n;
	int e = 0;

	for (size_t i = 0; i < r->n && e >= 0; i++) {
		e = repeats_filter(&r->at[i].where, q->where, NULL);
		r->at[i].from_ns = f->first_ns + i * step;
		r->at[i].to_ns = i + 1 == r->n ? f->last_ns : f->first_ns + (i + 1) * step;
	}
	return e;
}

/* Chooses by what the queries are told apart, and fills them. */
static int repeats_fill(struct repeats *r, const struct repeats_found *f,
                        const struct store_query *q, size_t most)
{
	size_t hosts = f->hosts.n ? f->hosts.n - 1 : 0;
	bool by_host = hosts >= REPEATS_HOSTS && most >= REPEATS_HOSTS && !f->nameless;
	size_t spans = f->windows < REPEATS_SPANS ? (size_t)f->windows : REPEATS_SPANS;

	r->n = by_host ? hosts : spans;
	r->n = r->n > most ? most : r->n;
	if (!r->n)
		return 0;
	r->at = calloc(r->n, sizeof(*r->at));
	if (!r->at) {
		r->n = 0;
		return -ENOMEM;
	}
	for (size_t i = 0; i < r->n; i++) {
		r->at[i].from_ns = q->from_ns;
		r->at[i].to_ns = q->to_ns;
	}
	return by_host ? repeats_hosts(r, f, q) : repeats_spans(r, f, q);
}

int repeats_plan(struct repeats *ret, struct store *s, const struct store_query *q, size_t most,
                 struct seam_error *err)
{
	struct repeats_found found = { 0 };
	struct store_listing l = { 0 };
	int r = store_list(s, &l, err);

	if (r >= 0)
		r = repeats_find(&found, &l, q);
	if (r >= 0)
		r = repeats_fill(ret, &found, q, most);
	store_listing_free(&l);
	intern_free(&found.hosts);
	return r < 0 ? r : 0;
}

void repeats_free(struct repeats *r)
{
	for (size_t i = 0; i < r->n; i++)
		labels_filter_free(&r->at[i].where);
	free(r->at);
	*r = (struct repeats){ 0 };
}
