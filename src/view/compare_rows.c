// SPDX-License-Identifier: MIT
/* compare_rows.c: see compare_rows.h. A thing is a distinct combination of the columns' texts:
 * recordings have nothing else in common. */
#include "view/compare_rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Counts of several runs are per run: a side with more of them counts more. */
static void compare_per_run(struct noise *noise, double base_runs, double next_runs)
{
	double scale = base_runs / next_runs;

	noise->ratio *= scale;
	noise->least *= scale;
	noise->most *= scale;
}

void compare_figures(struct compare_row *row, const struct view_compare *c,
                     const struct pane_scope *s, const struct compare_counts *k)
{
	double base = pane_percent(k->weight[0], s->base->weight) / 100;
	double next = pane_percent(k->weight[1], s->weight) / 100;

	row->share = fmax(base, next);
	row->base = c->absolute ? (double)k->weight[0] / (double)c->runs[0] : base;
	row->next = c->absolute ? (double)k->weight[1] / (double)c->runs[1] : next;
	row->half = c->half;
}

void compare_fill(struct compare_row *row, const struct view_compare *c, const struct pane_scope *s,
                  const struct compare_counts *k)
{
	const struct noise_opts opts = { .confidence = c->confidence, .counts = c->absolute };
	const struct noise_run runs[2] = { { k->samples[0], s->base->samples },
		                           { k->samples[1], s->samples } };

	compare_figures(row, c, s, k);
	if (c->half)
		return;
	noise_compare(&runs[0], 1, &runs[1], 1, &opts, &row->noise);
	if (c->absolute)
		compare_per_run(&row->noise, (double)c->runs[0], (double)c->runs[1]);
	row->verdict = row->noise.least > 1 ? 1 : row->noise.most < 1 ? -1 : 0;
}

double compare_key(const struct compare_row *row, enum compare_by by)
{
	if (row->half)
		return row->base;
	switch (by) {
	case COMPARE_BY_NEW:
		return row->next;
	case COMPARE_BY_BASE:
		return row->base;
	case COMPARE_BY_RATIO:
		/* What grew by a factor stands with what shrank by it. */
		return fabs(log(row->noise.ratio > 0 ? row->noise.ratio : 1));
	default:
		return fabs(row->next - row->base);
	}
}

/* What is counted while both sides are summed up: by id of a thing's text. */
struct compare_sum {
	const enum rollup_column *columns;
	size_t n;
	bool children;
	struct intern *texts;
	struct compare_counts *counts;
	size_t capacity;
};

/* "object\0symbol\0" of a row; its id. INTERN_FAILED. */
static uint32_t compare_thing(struct compare_sum *m, const struct rollup *t,
                              const struct rollup_row *row, struct buf *key)
{
	char text[ROLLUP_TEXT_MAX];

	buf_clear(key);
	for (size_t k = 0; k < m->n; k++) {
		const char *value = rollup_text(t, row, m->columns[k], text, sizeof(text));

		buf_put(key, value, strlen(value) + 1);
	}
	return key->failed ? INTERN_FAILED : intern_bytes(m->texts, key->bytes, key->n);
}

/* Adds one side's rows. -ENOMEM. */
static int compare_sum_side(struct compare_sum *m, const struct pane_scope *s, size_t side)
{
	struct rollup_opts opts = { .event = s->event, .shown = s->shown, .watched = s->watched };
	struct buf key = { 0 };
	struct rollup t;
	int r;

	for (size_t k = 0; k < m->n; k++)
		opts.columns |= 1u << m->columns[k];
	r = rollup_build(&t, s->profile, &opts);
	if (r < 0)
		return r;
	for (size_t i = 0; i < t.n && r >= 0; i++) {
		const struct rollup_row *row = &t.rows[i];
		uint32_t thing = compare_thing(m, &t, row, &key);

		r = thing == INTERN_FAILED
		            ? -ENOMEM
		            : array_grow_zeroed(&m->counts, &m->capacity, (size_t)thing + 1,
		                                sizeof(*m->counts));
		if (r < 0)
			break;
		m->counts[thing].weight[side] += m->children ? row->total : row->self;
		m->counts[thing].samples[side] +=
		        m->children ? row->total_samples : row->self_samples;
	}
	rollup_free(&t);
	buf_free(&key);
	return r;
}

/* Larger changes first; equal ones in the order of their texts, which is the same for all orders
 * that samples come in. */
static int compare_rows_order(const void *pa, const void *pb)
{
	const struct compare_row *a = pa, *b = pb;
	double x = compare_key(a, COMPARE_BY_CHANGE), y = compare_key(b, COMPARE_BY_CHANGE);
	int r = 0;

	if (x != y)
		return x > y ? -1 : 1;
	for (size_t k = 0; !r && k < ROLLUP_COLUMNS && a->value[k]; k++)
		r = strcmp(a->value[k], b->value[k]);
	return r;
}

/* The texts of a row's columns. */
static void compare_row_texts(struct compare_row *row, const struct compare_sum *m, uint32_t thing)
{
	const char *at = intern_get(m->texts, thing);

	for (size_t k = 0; k < m->n; k++, at += strlen(at) + 1) {
		row->value[k] = at;
		if (m->columns[k] == ROLLUP_OBJECT)
			row->object = at;
		if (m->columns[k] == ROLLUP_SYMBOL)
			row->symbol = at;
	}
}

/* Things that neither side has anything of are left out. */
int compare_rows_make(struct compare_rows *ret, const struct view_compare *c, struct pane_scope *s,
                      const enum rollup_column *columns, size_t n)
{
	struct compare_sum m = { columns, n, c->children, &ret->texts, NULL, 0 };
	int r = compare_sum_side(&m, s->base, 0);

	if (r >= 0)
		r = compare_sum_side(&m, s, 1);
	if (r >= 0 && !(ret->rows = calloc(ret->texts.n + 1, sizeof(*ret->rows))))
		r = -ENOMEM;
	/* Id 0 is the empty string. */
	for (uint32_t i = 1; r >= 0 && i < ret->texts.n; i++) {
		struct compare_row *row = &ret->rows[ret->n];

		if (!m.counts[i].weight[0] && !m.counts[i].weight[1])
			continue;
		compare_row_texts(row, &m, i);
		row->event = s->event_name;
		compare_fill(row, c, s, &m.counts[i]);
		ret->n++;
	}
	if (r >= 0)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), compare_rows_order);
	free(m.counts);
	return r;
}

void compare_rows_free(struct compare_rows *r)
{
	free(r->rows);
	intern_free(&r->texts);
	*r = (struct compare_rows){ 0 };
}
