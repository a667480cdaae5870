// SPDX-License-Identifier: MIT
/* load_rows.c: see load_rows.h. Keys that meet in the table push each other out. */
#include "aggregate/load_rows.h"

#include <errno.h>
#include <stdlib.h>

#define LOAD_ROWS 256u

struct load_rows {
	struct profile *profile;
	struct load_row row[LOAD_ROWS]; /* by key, modulo LOAD_ROWS */
};

struct load_rows *load_rows_new(struct profile *p)
{
	struct load_rows *rows = calloc(1, sizeof(*rows));

	if (rows)
		rows->profile = p;
	return rows;
}

static int load_row_flush(struct load_rows *rows, struct load_row *row)
{
	uint32_t number;
	int r = row->samples ? profile_add_sampled(rows->profile, &row->key, row->samples,
	                                           row->weight, &number)
	                     : 0;

	row->samples = row->weight = 0;
	return r;
}

struct load_row *load_row(struct load_rows *rows, uint32_t id)
{
	struct load_row *row = &rows->row[id % LOAD_ROWS];

	if (row->id == id)
		return row;
	if (load_row_flush(rows, row) < 0)
		return NULL;
	row->id = 0;
	return row;
}

int load_rows_add(struct load_rows *rows, struct load_row *row, const struct stacks_entry *e,
                  uint32_t node)
{
	int r = row->key.node != node ? load_row_flush(rows, row) : 0;

	row->id = e->same.key;
	row->key.node = node;
	row->samples += e->samples;
	row->weight += e->weight;
	return r;
}

int load_rows_flush(struct load_rows *rows)
{
	int r = 0;

	for (size_t i = 0; i < LOAD_ROWS && r >= 0; i++)
		r = load_row_flush(rows, &rows->row[i]);
	return r;
}
