// SPDX-License-Identifier: MIT
// rollup.c: see rollup.h. Knows columns and sums; not how they are printed.
#include "profile/rollup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"

#define BIT(column) (1u << (column))
#define FRAME_COLUMNS (BIT(ROLLUP_OBJECT) | BIT(ROLLUP_SYMBOL))

struct rollup_builder {
	struct rollup *table;
	size_t capacity;
	uint32_t *index; /* row + 1, 0 is free */
	size_t index_capacity;
};

static uint64_t rollup_hash(const uint32_t *value)
{
	return map_hash_bytes(value, sizeof(uint32_t) * ROLLUP_COLUMNS, 0);
}

static int rollup_grow(struct rollup_builder *b)
{
	size_t capacity = b->capacity ? b->capacity * 2 : 128, slots = capacity * 2;
	struct rollup_row *rows = realloc(b->table->rows, capacity * sizeof(*rows));
	uint32_t *index;

	if (!rows)
		return -ENOMEM;
	b->table->rows = rows;
	index = calloc(slots, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < b->table->n; i++) {
		size_t at = rollup_hash(rows[i].value) & (slots - 1);

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
static struct rollup_row *rollup_find(struct rollup_builder *b, const uint32_t *value)
{
	struct rollup *t = b->table;
	size_t at;

	if (t->n >= b->capacity && rollup_grow(b) < 0)
		return NULL;
	at = rollup_hash(value) & (b->index_capacity - 1);
	for (; b->index[at]; at = (at + 1) & (b->index_capacity - 1)) {
		struct rollup_row *row = &t->rows[b->index[at] - 1];

		if (!memcmp(row->value, value, sizeof(row->value)))
			return row;
	}
	t->rows[t->n] = (struct rollup_row){ 0 };
	memcpy(t->rows[t->n].value, value, sizeof(t->rows[t->n].value));
	b->index[at] = (uint32_t)++t->n;
	return &t->rows[t->n - 1];
}

static void rollup_row_key(const struct rollup *t, const struct profile_row *row, uint32_t *value)
{
	const struct profile_task *task = profile_task_at(t->profile, row->key.task);
	const uint32_t all[ROLLUP_COLUMNS] = {
		[ROLLUP_EVENT] = row->key.event, [ROLLUP_COMM] = task->comm,
		[ROLLUP_PID] = task->pid,        [ROLLUP_TID] = task->tid,
		[ROLLUP_CPU] = row->key.cpu,     [ROLLUP_STATE] = row->key.state,
	};

	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		value[c] = t->columns & BIT(c) ? all[c] : 0;
}

static struct rollup_row *rollup_frame_row(struct rollup_builder *b, uint32_t *value,
                                           const struct profile_frame *frame)
{
	struct rollup_row *row;

	if (b->table->columns & BIT(ROLLUP_OBJECT))
		value[ROLLUP_OBJECT] = frame->object;
	if (b->table->columns & BIT(ROLLUP_SYMBOL))
		value[ROLLUP_SYMBOL] = frame->symbol;
	row = rollup_find(b, value);
	if (row && row->kind == PROFILE_UNKNOWN)
		row->kind = frame->kind;
	return row;
}

/* One profile row: its innermost frame is self, every distinct table row on its path is total. */
static int rollup_count(struct rollup_builder *b, const struct profile_row *row, size_t serial)
{
	const struct profile *p = b->table->profile;
	uint32_t value[ROLLUP_COLUMNS], node = row->key.node;
	bool leaf = true;

	rollup_row_key(b->table, row, value);
	do {
		const struct profile_node *at = profile_node_at(p, node);
		struct rollup_row *to = rollup_frame_row(b, value, profile_frame_at(p, at->frame));

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

int rollup_build(struct rollup *ret, const struct profile *p, const struct rollup_opts *opts)
{
	struct rollup t = { .profile = p, .columns = opts->columns };
	struct rollup_builder b = { .table = &t };
	int r = 0;

	for (size_t i = 0; i < profile_n_rows(p) && r >= 0; i++) {
		const struct profile_row *row = profile_row_at(p, i);

		if (!opts->event || row->key.event == opts->event)
			r = rollup_count(&b, row, i);
	}
	free(b.index);
	if (r < 0) {
		free(t.rows);
		return r;
	}
	*ret = t;
	return 0;
}

void rollup_free(struct rollup *t)
{
	free(t->rows);
	*t = (struct rollup){ 0 };
}

static const char *rollup_number(uint32_t v, char *buf, size_t n)
{
	if (v == PROFILE_NOT_KEPT)
		return "-";
	snprintf(buf, n, "%u", v);
	return buf;
}

const char *rollup_text(const struct rollup *t, const struct rollup_row *row,
                        enum rollup_column column, char *buf, size_t n)
{
	const struct profile *p = t->profile;
	uint32_t v = row->value[column];
	const char *path, *slash;

	switch (column) {
	case ROLLUP_EVENT:
		return profile_event_name(p, v);
	case ROLLUP_COMM:
		return v ? profile_text(p, v) : "[unknown]";
	case ROLLUP_STATE:
		return profile_state_at(p, v)->name;
	case ROLLUP_OBJECT:
		path = profile_text(p, profile_object_at(p, v)->path);
		slash = path[0] == '/' ? strrchr(path, '/') : NULL;
		return !*path ? "[unknown]" : slash ? slash + 1 : path;
	case ROLLUP_SYMBOL:
		return v ? profile_text(p, v) : "[unknown]";
	default:
		return rollup_number(v, buf, n);
	}
}

struct rollup_order {
	const struct rollup *table;
	bool by_total;
};

static const char *rollup_path(const struct rollup *t, const struct rollup_row *row)
{
	return profile_text(t->profile,
	                    profile_object_at(t->profile, row->value[ROLLUP_OBJECT])->path);
}

static int rollup_compare_names(const struct rollup *t, const struct rollup_row *a,
                                const struct rollup_row *b)
{
	char ab[16], bb[16];

	for (unsigned i = 0; i < ROLLUP_COLUMNS; i++) {
		unsigned c = ROLLUP_COLUMNS - 1 - i; /* symbol first, then object ... */
		int order = 0;

		if (!(t->columns & BIT(c)))
			continue;
		if (c == ROLLUP_PID || c == ROLLUP_TID || c == ROLLUP_CPU)
			order = a->value[c] < b->value[c] ? -1 : a->value[c] > b->value[c];
		else if (a->value[c] != b->value[c])
			order = strcmp(rollup_text(t, a, c, ab, sizeof(ab)),
			               rollup_text(t, b, c, bb, sizeof(bb)));
		if (order)
			return order;
	}
	return strcmp(rollup_path(t, a), rollup_path(t, b));
}

static int rollup_compare(const void *pa, const void *pb, void *ctx)
{
	const struct rollup_order *order = ctx;
	const struct rollup_row *a = pa, *b = pb;

	if (order->by_total && a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->self != b->self)
		return a->self > b->self ? -1 : 1;
	if (a->total != b->total)
		return a->total > b->total ? -1 : 1;
	return rollup_compare_names(order->table, a, b);
}

void rollup_sort(struct rollup *t, bool by_total)
{
	struct rollup_order order = { .table = t, .by_total = by_total };

	if (t->n)
		qsort_r(t->rows, t->n, sizeof(*t->rows), rollup_compare, &order);
}
