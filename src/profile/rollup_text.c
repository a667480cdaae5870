// SPDX-License-Identifier: MIT
// rollup_text.c: what people read in a rollup's columns, and the order that follows from it. Knows
// nothing of how rows were summed up.
//
// Invariant: the order is total: rows that differ in a column never compare equal.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/object_name.h"
#include "profile/rollup.h"

#define BIT(column) (1u << (column))

/* A column that the profile does not keep has no number. */
static const char *rollup_number(uint32_t v, char *buf, size_t n)
{
	if (v == PROFILE_NOT_KEPT)
		return "-";
	snprintf(buf, n, "%" PRIu32, v);
	return buf;
}

static const char *rollup_base(const char *path)
{
	return *path ? object_name(path) : "[unknown]";
}

static const char *rollup_name(const struct rollup *t, uint32_t string, const char *none)
{
	return string ? profile_text(t->profile, string) : none;
}

/* Seconds at which the slice begins. A slice is a span of quantum_ns; as many digits are shown as
 * it needs. */
static const char *rollup_slice(const struct rollup *t, uint32_t slice, char *buf, size_t n)
{
	const struct profile_slices *s = profile_slices(t->profile);
	uint64_t at = (s->first + slice) * s->quantum_ns;

	if (slice == PROFILE_NOT_KEPT)
		return "-";
	snprintf(buf, n, s->quantum_ns % 1000 ? "%" PRIu64 ".%09" PRIu64 : "%" PRIu64 ".%06" PRIu64,
	         at / 1000000000, at % 1000000000 / (s->quantum_ns % 1000 ? 1 : 1000));
	return buf;
}

static const char *rollup_line(const struct rollup *t, const struct rollup_row *row, char *buf,
                               size_t n)
{
	if (!row->value[ROLLUP_FILE])
		return "[unknown]";
	snprintf(buf, n, "%.255s:%" PRIu32,
	         rollup_base(profile_text(t->profile, row->value[ROLLUP_FILE])),
	         row->value[ROLLUP_LINE]);
	return buf;
}

/* The text of a row's column: from the profile, or written into buf (ROLLUP_TEXT_MAX bytes are
 * enough). Names are not escaped; whoever prints them does that. */
const char *rollup_text(const struct rollup *t, const struct rollup_row *row,
                        enum rollup_column column, char *buf, size_t n)
{
	const struct profile *p = t->profile;
	uint32_t v = row->value[column];

	switch (rollup_facts[column].kind) {
	case ROLLUP_IS_EVENT:
		return profile_event_name(p, v);
	case ROLLUP_IS_COMM:
	case ROLLUP_IS_NAME:
		return rollup_name(t, v, "[unknown]");
	case ROLLUP_IS_TEXT:
		return v == PROFILE_NOT_KEPT ? "-" : rollup_name(t, v, "[unknown]");
	case ROLLUP_IS_PARENT:
		return rollup_name(t, v, "[other]");
	case ROLLUP_IS_STATE:
		return profile_state_at(p, v)->name;
	case ROLLUP_IS_TIME:
		return rollup_slice(t, v, buf, n);
	case ROLLUP_IS_OBJECT:
		return rollup_base(profile_text(p, profile_object_at(p, v)->path));
	case ROLLUP_IS_FILE:
		return rollup_base(profile_text(p, v));
	case ROLLUP_IS_LINE:
		return rollup_line(t, row, buf, n);
	case ROLLUP_IS_NUMBER:
		break;
	}
	return rollup_number(v, buf, n);
}

/* NULL is for JSON's null and CSV's empty field. Names are not shortened, and nothing stands in for
 * what is not known. */
const char *rollup_value(const struct rollup *t, const struct rollup_row *row,
                         enum rollup_column column, char *buf, size_t n)
{
	const struct profile *p = t->profile;
	uint32_t v = row->value[column];
	bool is = true;

	switch (rollup_facts[column].kind) {
	case ROLLUP_IS_OBJECT:
		return v ? profile_text(p, profile_object_at(p, v)->path) : NULL;
	case ROLLUP_IS_NAME:
	case ROLLUP_IS_PARENT:
	case ROLLUP_IS_FILE:
		return v ? profile_text(p, v) : NULL;
	case ROLLUP_IS_TEXT:
		return v && v != PROFILE_NOT_KEPT ? profile_text(p, v) : NULL;
	case ROLLUP_IS_NUMBER:
	case ROLLUP_IS_TIME:
		is = v != PROFILE_NOT_KEPT;
		break;
	case ROLLUP_IS_LINE:
		is = row->value[ROLLUP_FILE] != 0;
		break;
	case ROLLUP_IS_EVENT:
	case ROLLUP_IS_STATE:
	case ROLLUP_IS_COMM:
		break;
	}
	return is ? rollup_text(t, row, column, buf, n) : NULL;
}

static int rollup_compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int rollup_compare_values(const struct rollup_row *a, const struct rollup_row *b,
                          enum rollup_column column)
{
	int r = rollup_compare_numbers(a->value[column], b->value[column]);

	if (!r && rollup_facts[column].kind == ROLLUP_IS_LINE)
		r = rollup_compare_numbers(a->value[ROLLUP_FILE], b->value[ROLLUP_FILE]);
	return r;
}

/* As people read them; what reads alike and is not the same is told apart by the rest of it. Two
 * objects may have the same last part of their paths, two lines the same file name. */
static int rollup_compare_column(const struct rollup *t, const struct rollup_row *a,
                                 const struct rollup_row *b, enum rollup_column c)
{
	uint32_t x = a->value[c], y = b->value[c];
	char ab[ROLLUP_TEXT_MAX], bb[ROLLUP_TEXT_MAX];
	const struct profile *p = t->profile;
	enum rollup_kind kind = rollup_facts[c].kind;
	int r;

	if (!rollup_compare_values(a, b, c))
		return 0;
	if (kind == ROLLUP_IS_NUMBER || kind == ROLLUP_IS_TIME)
		return rollup_compare_numbers(x, y);
	if (kind == ROLLUP_IS_FILE || kind == ROLLUP_IS_LINE) {
		enum rollup_column file = kind == ROLLUP_IS_FILE ? c : ROLLUP_FILE;

		r = strcmp(profile_text(p, a->value[file]), profile_text(p, b->value[file]));
		return r || kind == ROLLUP_IS_FILE ? r : rollup_compare_numbers(x, y);
	}
	r = strcmp(rollup_text(t, a, c, ab, sizeof(ab)), rollup_text(t, b, c, bb, sizeof(bb)));
	if (r || kind != ROLLUP_IS_OBJECT)
		return r;
	r = strcmp(profile_text(p, profile_object_at(p, x)->path),
	           profile_text(p, profile_object_at(p, y)->path));
	return r ? r : rollup_compare_numbers(x, y);
}

/* The columns without those of `without`. */
int rollup_compare_names(const struct rollup *t, const struct rollup_row *a,
                         const struct rollup_row *b, unsigned without)
{
	/* Functions and objects are what rows are looked for by; of the others the last is first.
	 * */
	const unsigned first = BIT(ROLLUP_SYMBOL) | BIT(ROLLUP_OBJECT);
	unsigned columns = t->columns & ~without;
	int r = columns & BIT(ROLLUP_SYMBOL) ? rollup_compare_column(t, a, b, ROLLUP_SYMBOL) : 0;

	if (!r && columns & BIT(ROLLUP_OBJECT))
		r = rollup_compare_column(t, a, b, ROLLUP_OBJECT);
	for (unsigned c = ROLLUP_COLUMNS; c-- > 0 && !r;)
		if (columns & ~first & BIT(c))
			r = rollup_compare_column(t, a, b, (enum rollup_column)c);
	return r;
}

struct rollup_order {
	const struct rollup *table;
	const enum rollup_column *first;
	size_t n;
	bool by_total;
};

/* By the columns that go first, then weights from the largest, then names: so equal weights have
 * one order in every run. */
static int rollup_compare(const void *pa, const void *pb, void *ctx)
{
	const struct rollup_order *order = ctx;
	const struct rollup_row *a = pa, *b = pb;
	int r = 0;

	for (size_t i = 0; i < order->n && !r; i++)
		r = rollup_compare_column(order->table, a, b, order->first[i]);
	if (r)
		return r;
	if (order->by_total && a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	return rollup_compare_names(order->table, a, b, 0);
}

void rollup_sort_behind(struct rollup *t, bool by_total, const enum rollup_column *first, size_t n)
{
	struct rollup_order order = { .table = t, .first = first, .n = n, .by_total = by_total };

	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), rollup_compare, &order);
}

void rollup_sort(struct rollup *t, bool by_total)
{
	rollup_sort_behind(t, by_total, NULL, 0);
}

/* Rows that differ only in the event stand side by side. */
static int rollup_compare_groups(const void *a, const void *b, void *ctx)
{
	int r = rollup_compare_names(ctx, a, b, BIT(ROLLUP_EVENT));
	const struct rollup_row *x = a, *y = b;

	return r ? r : rollup_compare_numbers(x->value[ROLLUP_EVENT], y->value[ROLLUP_EVENT]);
}

void rollup_sort_groups(struct rollup *t)
{
	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), rollup_compare_groups, t);
}
