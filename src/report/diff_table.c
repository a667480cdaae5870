// SPDX-License-Identifier: MIT
// diff_table.c: recordings side by side. Knows how the rows of one are found again in another: by
// the text of their columns.
//
// Invariant: a thing that a recording does not have counts 0 of that recording's samples.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/diff.h"

static bool diff_has(const struct diff *d, unsigned column)
{
	return d->keys.fields.columns & 1u << column;
}

/* "event\0object\0symbol\0": no value holds a NUL. The id of what a row is about, the same in every
 * recording. INTERN_FAILED. */
static uint32_t diff_thing(struct diff *d, const struct rollup *t, const struct rollup_row *row,
                           struct buf *key)
{
	char text[ROLLUP_TEXT_MAX];
	const char *value = rollup_text(t, row, ROLLUP_EVENT, text, sizeof(text));

	buf_clear(key);
	buf_put(key, value, strlen(value) + 1);
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++) {
		if (!diff_has(d, c) || c == ROLLUP_EVENT)
			continue;
		value = rollup_text(t, row, (enum rollup_column)c, text, sizeof(text));
		buf_put(key, value, strlen(value) + 1);
	}
	return key->failed ? INTERN_FAILED : intern_bytes(&d->things, key->bytes, key->n);
}

/* The text of a column: the place-th behind the event. */
const char *diff_value(const struct diff *d, uint32_t thing, size_t place)
{
	const char *at = intern_get(&d->things, thing);

	for (place++; place; place--)
		at += strlen(at) + 1;
	return at;
}

/* The event stands in front of all columns. */
const char *diff_event(const struct diff *d, uint32_t thing)
{
	return intern_get(&d->things, thing);
}

/* Makes room for the cells of id, set to zero. -ENOMEM. */
static int diff_reserve(const struct diff *d, struct diff_cell **cells, size_t *capacity,
                        uint32_t id)
{
	return array_grow_zeroed(cells, capacity, (size_t)id + 1, d->runs * sizeof(**cells));
}

/* Adds a row's counts to its thing's cell of this recording. -ENOMEM. */
static int diff_add_row(struct diff *d, const struct rollup *t, const struct rollup_row *row,
                        size_t run, struct buf *key)
{
	uint32_t thing = diff_thing(d, t, row, key);
	struct diff_cell *cell;

	if (thing == INTERN_FAILED || diff_reserve(d, &d->cells, &d->things_capacity, thing) < 0)
		return -ENOMEM;
	cell = &d->cells[thing * d->runs + run];
	cell->weight += d->children ? row->total : row->self;
	cell->samples += d->children ? row->total_samples : row->self_samples;
	return 0;
}

/* Adds up what each event counted in a recording: shares are of these. -ENOMEM. */
static int diff_add_events(struct diff *d, const struct profile *p, size_t run)
{
	for (uint32_t e = 1; e <= profile_n_events(p); e++) {
		uint32_t id = intern_text(&d->events, profile_event_name(p, e));
		struct profile_account a;

		if (id == INTERN_FAILED || diff_reserve(d, &d->wholes, &d->events_capacity, id) < 0)
			return -ENOMEM;
		profile_account(p, e, &a);
		d->wholes[id * d->runs + run].weight += a.weight;
		d->wholes[id * d->runs + run].samples += a.samples;
	}
	return 0;
}

/* Adds a recording's rows and wholes. -ENOMEM. */
static int diff_add(struct diff *d, const struct profile *p, size_t run)
{
	const struct rollup_opts opts = { .columns = d->keys.fields.columns | 1u << ROLLUP_EVENT };
	struct buf key = { 0 };
	struct rollup t;
	int r = rollup_build(&t, p, &opts);

	if (r < 0)
		return r;
	for (size_t i = 0; i < t.n && r >= 0; i++)
		r = diff_add_row(d, &t, &t.rows[i], run, &key);
	rollup_free(&t);
	buf_free(&key);
	return r < 0 ? r : diff_add_events(d, p, run);
}

/* The profile is kept until it is known which builds of its objects the others have: it grows with
 * distinct stacks only. */
int diff_add_run(struct diff *d, struct load *load, size_t run)
{
	size_t side = run >= d->n_runs[0];
	struct profile_account a;

	profile_account(load->profile, 0, &a);
	d->samples[side] += a.samples;
	d->whole_stacks[side] += a.whole;
	d->profiles[run] = load->profile;
	load->profile = NULL;
	return builds_add(&d->builds, d->profiles[run]);
}

/* ---- comparing ---- */

/* Computes a row's share on both sides and within which bounds their ratio lies. tests: how many
 * rows are judged at once, which widens the bounds. */
static void diff_row_fill(struct diff *d, uint32_t event, struct diff_row *row, size_t tests)
{
	const struct diff_cell *cells = &d->cells[row->thing * d->runs];
	const struct diff_cell *wholes = &d->wholes[event * d->runs];
	const struct noise_opts opts = { d->confidence, tests, d->absolute, &d->limits };
	struct noise_run runs[2 * DIFF_RUNS_MAX];
	double sum[2] = { 0 }, whole[2] = { 0 };

	/* Cells stand by recording: first those of the baseline, then the new ones. */
	for (size_t i = 0; i < d->runs; i++) {
		runs[i] = (struct noise_run){ cells[i].samples, wholes[i].samples };
		sum[i >= d->n_runs[0]] += (double)cells[i].weight;
		whole[i >= d->n_runs[0]] += (double)wholes[i].weight;
	}
	noise_compare(runs, d->n_runs[0], runs + d->n_runs[0], d->n_runs[1], &opts, &row->noise);
	for (size_t side = 0; side < 2; side++) {
		double of = d->absolute ? (double)d->n_runs[side] : whole[side];

		*(side ? &row->next : &row->base) = of > 0 ? sum[side] / of : 0;
		if (whole[side] > 0)
			row->share = fmax(row->share, sum[side] / whole[side]);
	}
	row->verdict = row->noise.least > 1  ? DIFF_SLOWER
	               : row->noise.most < 1 ? DIFF_FASTER
	                                     : DIFF_SAME;
}

/* By how much the share, or the count, changed. */
static double diff_change(const struct diff_row *row)
{
	return fabs(row->next - row->base);
}

/* The largest change first, then by text, so that the order does not depend on the input's. */
static int diff_order(const void *pa, const void *pb, void *ctx)
{
	const struct diff *d = ctx;
	const struct diff_row *a = pa, *b = pb;
	double x = diff_change(a), y = diff_change(b);
	size_t n, m;
	int r;

	if (x != y)
		return x > y ? -1 : 1;
	n = intern_length(&d->things, a->thing);
	m = intern_length(&d->things, b->thing);
	r = memcmp(intern_get(&d->things, a->thing), intern_get(&d->things, b->thing),
	           n < m ? n : m);
	return r ? r : n < m ? -1 : n > m;
}

/* Where a column stands among a thing's texts. */
size_t diff_place(const struct diff *d, enum rollup_column column)
{
	size_t place = 0;

	for (unsigned c = 0; c < column; c++)
		place += diff_has(d, c) && c != ROLLUP_EVENT;
	return place;
}

/* Whether a gate judges the row: functions that are named, or else all that are large enough. */
static bool diff_is_wanted(const struct diff *d, const struct diff_row *row)
{
	const char *name = NULL;

	if (diff_has(d, ROLLUP_SYMBOL))
		name = diff_value(d, row->thing, diff_place(d, ROLLUP_SYMBOL));

	if (!d->wanted.n)
		return row->share * 100 >= d->percent_limit;
	for (size_t at = 0; name && at < d->wanted.n; at += sizeof(name)) {
		const char *wanted;

		memcpy(&wanted, d->wanted.bytes + at, sizeof(wanted));
		if (!strcmp(wanted, name))
			return true;
	}
	return false;
}

/* The event's id, by the row's text; it is there already. */
static uint32_t diff_event_of(struct diff *d, const struct diff_row *row)
{
	return intern_text(&d->events, diff_event(d, row->thing));
}

/* Decides which rows fail --fail-if-slower. */
static void diff_gate(struct diff *d)
{
	double most = 1 + d->fail_above / 100;

	for (size_t i = 0; i < d->n_rows; i++)
		d->n_gated += d->rows[i].gated =
		        d->fail_above >= 0 && diff_is_wanted(d, &d->rows[i]);
	for (size_t i = 0; i < d->n_rows; i++) {
		struct diff_row *row = &d->rows[i];

		if (!row->gated)
			continue;
		/* Among many rows one will look slower by chance, so the intervals are wider
		 * here. */
		diff_row_fill(d, diff_event_of(d, row), row, d->n_gated);
		row->fails = row->noise.least > most;
		row->may = !row->fails && row->noise.ratio > most;
		d->n_fails += row->fails;
		d->n_may += row->may;
	}
}

/* An event that one side has no samples of says nothing of the other side's functions. */
static bool diff_on_both(const struct diff *d, uint32_t event)
{
	uint64_t n[2] = { 0 };

	for (size_t i = 0; i < d->runs; i++)
		n[i >= d->n_runs[0]] += d->wholes[event * d->runs + i].samples;
	return n[0] && n[1];
}

/* Whether any recording has samples of the event. */
static bool diff_is_sampled(const struct diff *d, uint32_t event)
{
	for (size_t i = 0; i < d->runs; i++)
		if (d->wholes[event * d->runs + i].samples)
			return true;
	return false;
}

/* The next event behind e that one side only has; 0: there is none. Begin with 0. */
uint32_t diff_one_sided(const struct diff *d, uint32_t e)
{
	for (e++; e < d->events.n; e++)
		if (diff_is_sampled(d, e) && !diff_on_both(d, e))
			return e;
	return 0;
}

/* Adds a run to its side. -ENOMEM. */
static int diff_keep(struct diff *d, size_t run)
{
	struct profile **side = &d->side[run >= d->n_runs[0]];

	if (*side)
		return profile_merge(*side, d->profiles[run]);
	*side = d->profiles[run];
	d->profiles[run] = NULL;
	return 0;
}

/* Adds up a run. The functions of another build begin at other addresses, so those without a name
 * are treated as one thing. */
static int diff_sum_up(struct diff *d, size_t run)
{
	int r = builds_fold(&d->profiles[run], &d->builds);

	if (r >= 0)
		r = diff_add(d, d->profiles[run], run);
	if (r >= 0 && d->keeps_sides)
		r = diff_keep(d, run);
	profile_free(d->profiles[run]);
	d->profiles[run] = NULL;
	return r;
}

/* An event that one side has no samples of gives no rows. */
int diff_compare(struct diff *d)
{
	for (size_t run = 0; run < d->runs; run++)
		if (diff_sum_up(d, run) < 0)
			return -ENOMEM;
	d->rows = calloc(d->things.n + 1, sizeof(*d->rows));
	if (!d->rows)
		return -ENOMEM;
	for (uint32_t thing = 1; thing < d->things.n; thing++) {
		struct diff_row row = { .thing = thing };
		uint32_t event = diff_event_of(d, &row);

		if (event == INTERN_FAILED)
			return -ENOMEM;
		if (!diff_on_both(d, event))
			continue;
		diff_row_fill(d, event, &row, 1);
		if (row.base > 0 || row.next > 0)
			d->rows[d->n_rows++] = row;
	}
	for (uint32_t e = 1; e < d->events.n; e++)
		d->n_events += diff_on_both(d, e);
	qsort_r(d->rows, d->n_rows, sizeof(*d->rows), diff_order, d);
	diff_gate(d);
	return 0;
}

/* Frees also profiles that were added and not compared. */
void diff_free(struct diff *d)
{
	intern_free(&d->things);
	intern_free(&d->events);
	builds_free(&d->builds);
	for (size_t i = 0; i < d->runs; i++)
		profile_free(d->profiles[i]);
	profile_free(d->side[0]);
	profile_free(d->side[1]);
	buf_free(&d->wanted);
	free(d->cells);
	free(d->wholes);
	free(d->rows);
}
