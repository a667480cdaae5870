// SPDX-License-Identifier: MIT
// table.c: see table.h. Knows columns and sums; not how they are printed.
#include "profile/table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BIT(column) (1u << (column))
#define FRAME_COLUMNS (BIT(TABLE_OBJECT) | BIT(TABLE_SYMBOL))

struct table_builder {
	struct table *table;
	size_t capacity;
	uint32_t *index; /* row + 1, 0 is free */
	size_t index_capacity;
};

static uint64_t table_hash(const uint32_t *value)
{
	return map_hash_bytes(value, sizeof(uint32_t) * TABLE_COLUMNS, 0);
}

static int table_grow(struct table_builder *b)
{
	size_t capacity = b->capacity ? b->capacity * 2 : 128, slots = capacity * 2;
	struct table_row *rows = realloc(b->table->rows, capacity * sizeof(*rows));
	uint32_t *index;

	if (!rows)
		return -ENOMEM;
	b->table->rows = rows;
	index = calloc(slots, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < b->table->n; i++) {
		size_t at = table_hash(rows[i].value) & (slots - 1);

		while (index[at])
			at = (at + 1) & (slots - 1);
		index[at] = (uint32_t)i + 1;
	}
	free(b->index);
	b->index = index;
	b->index_capacity = slots;
	b->capacity = capacity;
	return 0;
}

/* The row of a key, made when new; NULL: out of memory. Lives until the next call. */
static struct table_row *table_find(struct table_builder *b, const uint32_t *value)
{
	struct table *t = b->table;
	size_t at;

	if (t->n >= b->capacity && table_grow(b) < 0)
		return NULL;
	at = table_hash(value) & (b->index_capacity - 1);
	for (; b->index[at]; at = (at + 1) & (b->index_capacity - 1)) {
		struct table_row *row = &t->rows[b->index[at] - 1];

		if (!memcmp(row->value, value, sizeof(row->value)))
			return row;
	}
	t->rows[t->n] = (struct table_row){ 0 };
	memcpy(t->rows[t->n].value, value, sizeof(t->rows[t->n].value));
	b->index[at] = (uint32_t)++t->n;
	return &t->rows[t->n - 1];
}

static void table_row_key(const struct table *t, const struct profile_row *row, uint32_t *value)
{
	const struct profile_task *task = profile_task_at(t->profile, row->key.task);
	const uint32_t all[TABLE_COLUMNS] = {
		[TABLE_EVENT] = row->key.event, [TABLE_COMM] = task->comm,
		[TABLE_PID] = task->pid,        [TABLE_TID] = task->tid,
		[TABLE_CPU] = row->key.cpu,     [TABLE_STATE] = row->key.state,
	};

	for (unsigned c = 0; c < TABLE_COLUMNS; c++)
		value[c] = t->columns & BIT(c) ? all[c] : 0;
}

static struct table_row *table_frame_row(struct table_builder *b, uint32_t *value,
                                         const struct profile_frame *frame)
{
	struct table_row *row;

	if (b->table->columns & BIT(TABLE_OBJECT))
		value[TABLE_OBJECT] = frame->object;
	if (b->table->columns & BIT(TABLE_SYMBOL))
		value[TABLE_SYMBOL] = frame->symbol;
	row = table_find(b, value);
	if (row && row->kind == PROFILE_UNKNOWN)
		row->kind = frame->kind;
	return row;
}

/* One profile row: its innermost frame is self, every distinct table row on its path is total. */
static int table_count(struct table_builder *b, const struct profile_row *row, size_t serial)
{
	const struct profile *p = b->table->profile;
	uint32_t value[TABLE_COLUMNS], node = row->key.node;
	bool leaf = true;

	table_row_key(b->table, row, value);
	do {
		const struct profile_node *at = profile_node_at(p, node);
		struct table_row *to = table_frame_row(b, value, profile_frame_at(p, at->frame));

		if (!to)
			return -ENOMEM;
		if (leaf) {
			to->self += row->weight;
			to->self_samples += row->samples;
			leaf = false;
		}
		if (to->last != serial + 1) {
			to->last = serial + 1;
			to->total += row->weight;
			to->total_samples += row->samples;
		}
		node = at->parent;
	} while (node != PROFILE_ROOT && b->table->columns & FRAME_COLUMNS);
	b->table->weight += row->weight;
	b->table->samples += row->samples;
	return 0;
}

int table_build(struct table *ret, const struct profile *p, const struct table_opts *opts)
{
	struct table t = { .profile = p, .columns = opts->columns };
	struct table_builder b = { .table = &t };
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (!opts->event || row->key.event == opts->event)
			r = table_count(&b, row, i);
	}
	free(b.index);
	if (r < 0) {
		free(t.rows);
		return r;
	}
	*ret = t;
	return 0;
}

void table_free(struct table *t)
{
	free(t->rows);
	*t = (struct table){ 0 };
}

static const char *table_number(uint32_t v, char *buf, size_t n)
{
	if (v == PROFILE_NOT_KEPT)
		return "-";
	snprintf(buf, n, "%u", v);
	return buf;
}

const char *table_text(const struct table *t, const struct table_row *row, enum table_column column,
                       char *buf, size_t n)
{
	const struct profile *p = t->profile;
	uint32_t v = row->value[column];
	const char *path, *slash;

	switch (column) {
	case TABLE_EVENT:
		return profile_event_name(p, v);
	case TABLE_COMM:
		return v ? profile_text(p, v) : "[unknown]";
	case TABLE_STATE:
		return profile_state_at(p, v)->name;
	case TABLE_OBJECT:
		path = profile_text(p, profile_object_at(p, v)->path);
		slash = path[0] == '/' ? strrchr(path, '/') : NULL;
		return !*path ? "[unknown]" : slash ? slash + 1 : path;
	case TABLE_SYMBOL:
		return v ? profile_text(p, v) : "[unknown]";
	default:
		return table_number(v, buf, n);
	}
}

struct table_order {
	const struct table *table;
	bool by_total;
};

static int table_compare_names(const struct table *t, const struct table_row *a,
                               const struct table_row *b)
{
	char ab[16], bb[16];

	for (unsigned i = 0; i < TABLE_COLUMNS; i++) {
		unsigned c = TABLE_COLUMNS - 1 - i; /* symbol first, then object ... */
		int order = 0;

		if (!(t->columns & BIT(c)))
			continue;
		if (c == TABLE_PID || c == TABLE_TID || c == TABLE_CPU)
			order = a->value[c] < b->value[c] ? -1 : a->value[c] > b->value[c];
		else if (a->value[c] != b->value[c])
			order = strcmp(table_text(t, a, c, ab, sizeof(ab)),
			               table_text(t, b, c, bb, sizeof(bb)));
		if (order)
			return order;
	}
	return 0;
}

static int table_compare(const void *pa, const void *pb, void *ctx)
{
	const struct table_order *order = ctx;
	const struct table_row *a = pa, *b = pb;

	if (order->by_total && a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return table_compare_names(order->table, a, b);
}

void table_sort(struct table *t, bool by_total)
{
	struct table_order order = { .table = t, .by_total = by_total };

	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), table_compare, &order);
}
