// SPDX-License-Identifier: MIT
// unknown.c: see unknown.h. Series of the span are listed without the filter, and looked through
// for each of its terms.
#include "input/unknown.h"

#include <string.h>

#include "base/edits.h"

/* A name that is looked for, and the one that was met which is most like it. */
struct unknown_name {
	const char *name, *like; /* like: NULL: none is; it lives as long as the listing */
	unsigned best;
	bool known;
};

static struct unknown_name unknown_start(const char *name)
{
	return (struct unknown_name){ .name = name, .best = edits_most(name) };
}

static void unknown_meet(struct unknown_name *n, const char *met)
{
	const unsigned edits = edits_between(n->name, met);

	n->known |= !strcmp(n->name, met);
	if (edits < n->best) {
		n->best = edits;
		n->like = met;
	}
}

/* Looks through all series for a term's label, and for its value among that label's. */
static void unknown_look(const struct store_listing *l, struct unknown_name *label,
                         struct unknown_name *value)
{
	for (size_t i = 0; i < l->n; i++) {
		const char *key, *met;
		size_t at = 0;

		while (labels_next(&l->series[i].labels, &at, &key, &met)) {
			unknown_meet(label, key);
			if (!strcmp(key, label->name))
				unknown_meet(value, met);
		}
	}
}

/* Writes what is unknown of one term. */
static void unknown_term(const struct store_listing *l, const char *key, const char *value,
                         struct buf *out)
{
	struct unknown_name k = unknown_start(key), v = unknown_start(value);
	const struct unknown_name *wrong = &v;

	unknown_look(l, &k, &v);
	if (!k.known) {
		buf_printf(out, "; none has the label '%s'", key);
		wrong = &k;
	} else if (!v.known) {
		buf_printf(out, "; none has %s '%s'", key, value);
	}
	if (!wrong->known && wrong->like)
		buf_printf(out, " (is %s meant?)", wrong->like);
}

void unknown_text(struct store *s, const struct store_query *q, struct buf *out)
{
	const struct store_query all = { .from_ns = q->from_ns, .to_ns = q->to_ns };
	const struct labels terms = { q->where->terms };
	struct store_listing l = { 0 };
	const char *key, *value;
	size_t at = 0;

	if (store_list(s, &all, &l, NULL) < 0)
		return;
	while (labels_next(&terms, &at, &key, &value))
		unknown_term(&l, key, value, out);
	store_listing_free(&l);
}
