// SPDX-License-Identifier: MIT
// diff_names.c: functions that both sides have, in objects of different names: two builds of a
// program, app-1 and app-2. Knows what to advise then, and changes no row.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/diff.h"

/* Less than a hundredth is not worth a line of advice. */
#define WORTH_A_WORD 0.01 /* of either side's whole */

/* A function of rows that one side only has, known by its name alone. */
struct unmatched {
	double share[2];   /* of each side's whole */
	uint32_t thing[2]; /* the first such row of each side; 0: none */
};

struct unmatched_list {
	struct intern names;
	struct buf list; /* of struct unmatched, by name */
};

/* The entry of a row's event and function, made where it is new. NULL: out of memory. */
static struct unmatched *diff_unmatched_of(struct unmatched_list *l, const struct diff *d,
                                           uint32_t thing, struct buf *key)
{
	const char *event = diff_event(d, thing),
	           *name = diff_value(d, thing, diff_place(d, ROLLUP_SYMBOL));
	uint32_t id;

	buf_clear(key);
	buf_put(key, event, strlen(event) + 1);
	buf_put_text(key, name);
	id = key->failed ? INTERN_FAILED : intern_bytes(&l->names, key->bytes, key->n);
	if (id == INTERN_FAILED)
		return NULL;
	while (l->list.n <= id * sizeof(struct unmatched))
		if (buf_put_zeros(&l->list, sizeof(struct unmatched)) < 0)
			return NULL;
	return (struct unmatched *)(void *)l->list.bytes + id;
}

/* Collects the functions that only one side has, by their names alone. -ENOMEM. */
static int diff_unmatched_find(struct unmatched_list *l, const struct diff *d)
{
	size_t place = diff_place(d, ROLLUP_SYMBOL);
	struct buf key = { 0 };
	int r = 0;

	for (size_t i = 0; i < d->n_rows && r >= 0; i++) {
		const struct diff_row *row = &d->rows[i];
		bool next = row->next > 0;
		struct unmatched *unmatched;

		/* Names in brackets are no functions: they stand for code that has none. */
		if (next == (row->base > 0) || *diff_value(d, row->thing, place) == '[')
			continue;
		unmatched = diff_unmatched_of(l, d, row->thing, &key);
		if (!unmatched) {
			r = -ENOMEM;
			break;
		}
		unmatched->share[next] += row->share;
		if (!unmatched->thing[next])
			unmatched->thing[next] = row->thing;
	}
	buf_free(&key);
	return r;
}

/* The share that such functions have on both sides, and the largest of them as an example. */
static const struct unmatched *diff_unmatched_sum(const struct unmatched_list *l, double *share)
{
	const struct unmatched *list = (const void *)l->list.bytes, *most = NULL;

	for (size_t i = 0; i < l->list.n / sizeof(*list); i++) {
		const struct unmatched *one = &list[i];

		if (!one->thing[0] || !one->thing[1])
			continue;
		share[0] += one->share[0];
		share[1] += one->share[1];
		if (!most || one->share[0] + one->share[1] > most->share[0] + most->share[1])
			most = one;
	}
	return most;
}

/* Writes nothing where too little would be found again to be worth a line. */
void diff_hint_names(const struct diff *d, struct buf *out)
{
	const unsigned both = 1u << ROLLUP_OBJECT | 1u << ROLLUP_SYMBOL;
	struct unmatched_list l = { 0 };
	double share[2] = { 0 };
	const struct unmatched *most = NULL;

	if ((d->keys.fields.columns & both) != both)
		return;
	if (diff_unmatched_find(&l, d) >= 0)
		most = diff_unmatched_sum(&l, share);
	if (most && (share[0] >= WORTH_A_WORD || share[1] >= WORTH_A_WORD)) {
		size_t object = diff_place(d, ROLLUP_OBJECT);

		shown_printf(
		        out,
		        "hint: functions of %.1f %% of the baseline and %.1f %% of the new side "
		        "have "
		        "the same names in objects of other names (%s, %s): -s sym compares them\n",
		        share[0] * 100, share[1] * 100, diff_value(d, most->thing[0], object),
		        diff_value(d, most->thing[1], object));
	}
	intern_free(&l.names);
	buf_free(&l.list);
}
