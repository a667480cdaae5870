// SPDX-License-Identifier: MIT
/*
 * repeats.c: see repeats.h.
 *
 * Windows that follow one another on one machine are no independent measurements: what lasts longer
 * than a window is in many of them. So hosts come first, and spans of time are few and long.
 *
 * The store is asked once, however many hosts there are: what it answers is divided here.
 */
#include "fleet/repeats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "fleet/answer.h"

/* What is in the store of the query: its hosts, its span, and at most how many windows a series
 * has. */
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

/* Which part of the answer a row belongs to. */
struct repeats_parts {
	bool by_host;
	uint32_t *of_label; /* by the profile's string: the part, from 1; n + 1: none */
	size_t n, part;     /* the part that is wanted */
};

/* The parts of all rows' hosts. One that the store did not have when it was asked for its hosts has
 * none. -ENOMEM. */
static int repeats_labels(struct repeats_parts *parts, struct repeats_found *f,
                          const struct profile *p)
{
	size_t hosts = f->hosts.n, strings = profile_n_strings(p);

	parts->of_label = calloc(strings + 1, sizeof(*parts->of_label));
	if (!parts->of_label)
		return -ENOMEM;
	for (size_t i = 0; i < profile_n_rows(p); i++) {
		uint32_t label = profile_row_at(p, i)->key.label, host;

		if (!label || label > strings || parts->of_label[label])
			continue;
		host = intern_text(&f->hosts, profile_text(p, label));
		if (host == INTERN_FAILED)
			return -ENOMEM;
		parts->of_label[label] =
		        (uint32_t)(host < hosts ? (host - 1) % parts->n : parts->n) + 1;
	}
	return 0;
}

static bool repeats_is_of(const struct profile *p, const struct profile_row *row, void *ctx)
{
	const struct repeats_parts *parts = ctx;

	(void)p;
	if (!parts->by_host)
		return row->key.slice == parts->part;
	return row->key.label <= profile_n_strings(p) &&
	       parts->of_label[row->key.label] == parts->part + 1;
}

/* Divides an answer. -ENOMEM. */
static int repeats_divide(struct repeats *r, struct repeats_found *f, const struct profile *p)
{
	struct repeats_parts parts = { .by_host = r->by_host, .n = r->n };
	int e = r->by_host ? repeats_labels(&parts, f, p) : 0;

	for (parts.part = 0; parts.part < r->n && e >= 0; parts.part++)
		e = profile_filter(&r->at[parts.part], p, repeats_is_of, &parts);
	free(parts.of_label);
	return e;
}

/* Chooses by what the parts are told apart, and how many there are. */
static int repeats_choose(struct repeats *r, const struct repeats_found *f, size_t most)
{
	size_t hosts = f->hosts.n ? f->hosts.n - 1 : 0;
	size_t spans = f->windows < REPEATS_SPANS ? (size_t)f->windows : REPEATS_SPANS, n;

	r->by_host = hosts >= REPEATS_HOSTS && most >= REPEATS_HOSTS && !f->nameless;
	n = r->by_host ? hosts : spans;
	n = n > most ? most : n;
	r->at = calloc(n + 1, sizeof(*r->at));
	if (!r->at)
		return -ENOMEM;
	r->n = n;
	return 0;
}

/* Asks for all parts at once. -errno. */
static int repeats_ask(struct repeats *r, struct repeats_found *f, struct store *s,
                       const struct store_query *q, struct seam_error *err)
{
	struct store_query all = { .from_ns = f->first_ns,
		                   .to_ns = f->last_ns,
		                   .where = q->where,
		                   .innermost = q->innermost };
	struct answer a = { 0 };
	int e;

	if (r->by_host)
		all.by = "host";
	else
		all.slice_ns = (f->last_ns - f->first_ns + r->n - 1) / r->n;
	e = answer_load(&a, s, &all, r->by_host ? PROFILE_KEEP_LABEL : PROFILE_KEEP_SLICE, err);
	if (e >= 0)
		e = repeats_divide(r, f, a.load.profile);
	answer_free(&a);
	return e;
}

/* Finds what the query has, and reads it in parts: by hosts, or by spans of time. */
int repeats_load(struct repeats *ret, struct store *s, const struct store_query *q, size_t most,
                 struct seam_error *err)
{
	struct repeats_found found = { 0 };
	struct store_listing l = { 0 };
	struct store_query each = *q;
	int r;

	each.by = NULL;
	r = store_list(s, &each, &l, err);

	if (r >= 0)
		r = repeats_find(&found, &l, q);
	store_listing_free(&l);
	if (r >= 0)
		r = repeats_choose(ret, &found, most);
	if (r >= 0 && ret->n)
		r = repeats_ask(ret, &found, s, q, err);
	intern_free(&found.hosts);
	return r < 0 ? r : 0;
}

void repeats_free(struct repeats *r)
{
	for (size_t i = 0; i < r->n; i++)
		profile_free(r->at[i]);
	free(r->at);
	*r = (struct repeats){ 0 };
}
