// SPDX-License-Identifier: MIT
// report_fields.c: what a report's rows are made of and show: perf's names of sort keys and fields.
//
// Invariant: every column that is shown tells rows apart, so no row shows a value that is not its
// own.
#include <errno.h>
#include <string.h>

#include "report/report.h"

/* One mask holds the fields that a list has named. */
_Static_assert(REPORT_FIELDS <= 32, "fields are bits of an unsigned");

static const struct {
	const char *key, *also, *heading;
} fields[REPORT_FIELDS] = {
#define COLUMN(place, id, key, also, heading, ...) [ROLLUP_##id] = { key, also, heading },
#define FIGURE(id, key, also, heading, ...) [REPORT_##id] = { key, also, heading },
#include "profile/columns.def"
};

/* The names of keys, and of figures, each with a comma in front: ",comm,pid". */
static const char report_sort_keys[] =
#define COLUMN(place, id, key, ...) "," key
#include "profile/columns.def"
        ;

static const char report_figure_keys[] =
#define FIGURE(id, key, ...) "," key
#include "profile/columns.def"
        ;

/* The name in -s and -F, and in JSON and CSV. */
const char *report_key(unsigned field)
{
	return fields[field].key;
}

/* The heading of its column. */
const char *report_heading(unsigned field)
{
	return fields[field].heading;
}

/* What the profile must keep so that all columns have their values (PROFILE_KEEP_*). */
unsigned report_keeps(const struct report *r)
{
	unsigned all = r->threads ? PROFILE_KEEP_TID : 0;

	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (r->fields.columns & 1u << c)
			all |= rollup_facts[c].keep;
	return all;
}

/* Whether any column needs it. */
bool report_needs(const struct report *r, enum rollup_needs needs)
{
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (r->fields.columns & 1u << c && rollup_facts[c].needs == needs)
			return true;
	return false;
}

/* Whether len bytes of text are this name. NULL is none. */
static bool report_field_is(const char *name, const char *text, size_t len)
{
	return name && strlen(name) == len && !memcmp(name, text, len);
}

/* Puts the fields of a list into to, each once. *ret_figures: the list names one of the figures. */
static int fields_parse(const char *option, const char *list, struct report_fields *to,
                        bool *ret_figures, struct buf *why)
{
	unsigned seen = 0;

	while (*list) {
		size_t len = strcspn(list, ",");
		unsigned f = 0;

		while (f < REPORT_FIELDS && !report_field_is(fields[f].key, list, len) &&
		       !report_field_is(fields[f].also, list, len))
			f++;
		if (f == REPORT_FIELDS) {
			buf_printf(why, "%s: '%.*s' is not one of %s and %s", option, (int)len,
			           list, report_sort_keys + 1, report_figure_keys + 1);
			return -EINVAL;
		}
		if (!(seen & 1u << f))
			to->field[to->n++] = (unsigned char)f;
		seen |= 1u << f;
		list += len + (list[len] == ',');
	}
	*ret_figures = seen >> ROLLUP_COLUMNS;
	to->columns |= seen & ((1u << ROLLUP_COLUMNS) - 1);
	return 0;
}

/* Keys that stand in front of "overhead" order the rows before it does, as in perf. */
static void fields_find_first(struct report_fields *f, const struct report_fields *sort)
{
	for (size_t i = 0; i < sort->n; i++) {
		if (sort->field[i] >= ROLLUP_COLUMNS)
			return;
		f->first[f->n_first++] = (enum rollup_column)sort->field[i];
	}
}

/* A field beyond the most that are shown is dropped. */
static void fields_add(struct report_fields *f, unsigned field)
{
	if (f->n < sizeof(f->field))
		f->field[f->n++] = (unsigned char)field;
}

/* The figures that nobody asked for by name. */
static void fields_add_figures(const struct report *r, struct report_fields *f)
{
	if (!r->no_children)
		fields_add(f, REPORT_TOTAL);
	fields_add(f, REPORT_SELF);
	if (r->samples_column)
		fields_add(f, REPORT_SAMPLES);
}

/* Without -s the keys are perf's (comm, dso, sym), or those that -F names. Without -F the usual
 * figures stand in front, unless -s names one. */
int report_fields_set(struct report *r, struct buf *why)
{
	const char *keys = r->sort_list ? r->sort_list : r->field_list ? "" : "comm,dso,sym";
	struct report_fields sort = { 0 }, shown = { 0 }, *f = &r->fields;
	bool sort_figures, figures;

	*f = (struct report_fields){ 0 };
	if (fields_parse("-s", keys, &sort, &sort_figures, why) < 0 ||
	    (r->field_list && fields_parse("-F", r->field_list, &shown, &figures, why) < 0))
		return -EINVAL;
	f->columns = sort.columns | shown.columns;
	if (!f->columns) {
		buf_put_text(why, "-s: no sort key is given");
		return -EINVAL;
	}
	if (sort_figures)
		fields_find_first(f, &sort);
	if (!r->field_list && !sort_figures)
		fields_add_figures(r, f);
	for (size_t i = 0; i < (r->field_list ? shown.n : sort.n); i++)
		fields_add(f, r->field_list ? shown.field[i] : sort.field[i]);
	return 0;
}
