// SPDX-License-Identifier: MIT
/*
 * rollup.c: see rollup.h. Knows columns and sums; their texts and their order are rollup_text.c's.
 *
 * A rollup is a table: each row is a distinct combination of the columns that were asked for.
 * "self" is what samples hit in a row's frame, "total" what they hit in it or below; a frame that
 * recurs on a stack counts once.
 *
 * columns.def says of each column whether it is the sample's (event, comm) or the frame's (symbol,
 * object). Rows of one sample share the former.
 */
#include "profile/rollup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/map.h"
#include "base/trie.h"
#include "profile/flat.h"
#include "profile/rollup_walk.h"

#define BIT(column) (1u << (column))

/* Columns of which each frame of a stack has a value of its own. */
#define OF_SAMPLE(id) 0
#define OF_FRAME(id) BIT(ROLLUP_##id)
enum {
	FRAME_COLUMNS = 0
#define COLUMN(place, id, key, also, heading, whose, ...) | OF_##whose(id)
#include "profile/columns.def"
};

/* columns.def writes YES and NO, to be read like words. */
#define YES true
#define NO false
const struct rollup_facts rollup_facts[ROLLUP_COLUMNS] = {
#define COLUMN(place, id, name, other, above, whose, of, is, kept, need, in_diff, in_top, text) \
	[place] = { .key = name,                                                                \
		    .also = other,                                                              \
		    .heading = above,                                                           \
		    .help = text,                                                               \
		    .kind = ROLLUP_IS_##is,                                                     \
		    .keep = kept,                                                               \
		    .needs = ROLLUP_NEEDS_##need,                                               \
		    .diff = in_diff,                                                            \
		    .top = in_top },
#include "profile/columns.def"
};

/* Columns are bits and indices: each place is taken once, and none is left out. */
enum {
	PLACES = 0
#define COLUMN(place, ...) +BIT(place)
#include "profile/columns.def"
};
_Static_assert(ROLLUP_COLUMNS < 32 && PLACES == (1u << ROLLUP_COLUMNS) - 1,
               "columns.def: places are 0, 1, 2 ..., each once");

struct rollup_builder {
	struct rollup *table;
	const struct rollup_opts *opts;
	unsigned filled;               /* columns asked for, and the files of lines */
	unsigned used[ROLLUP_COLUMNS]; /* columns that tell rows apart */
	size_t n_used;
	size_t capacity;
	uint32_t *index; /* row + 1, 0 is free */
	size_t index_capacity;
	uint32_t *frames; /* of the profile -> row + 1, if that is behind `before` */
	size_t before;    /* so many rows there were when the rows of this task, event ... began */
};

/* Only the columns that are asked for: the rest of a row's value is left 0. */
static uint64_t rollup_hash(const struct rollup_builder *b, const uint32_t *value)
{
	uint32_t used[ROLLUP_COLUMNS];

	for (size_t i = 0; i < b->n_used; i++)
		used[i] = value[b->used[i]];
	return map_hash_bytes(used, b->n_used * sizeof(*used), 0);
}

static bool rollup_same(const struct rollup_builder *b, const uint32_t *x, const uint32_t *y)
{
	for (size_t i = 0; i < b->n_used; i++)
		if (x[b->used[i]] != y[b->used[i]])
			return false;
	return true;
}

/* For how many rows there is room at first: sums that are made already have hardly more keys than
 * rows, so these need not move. */
static size_t rollup_first(const struct rollup_builder *b)
{
	const size_t sums = b->opts->flat ? b->opts->flat->n_totals : 0;
	size_t rows = 128;

	while (rows < sums)
		rows *= 2;
	return rows;
}

/* Makes room for twice as many rows, and a new index of them. Rows may move. -ENOMEM. */
static int rollup_grow(struct rollup_builder *b)
{
	size_t capacity = b->capacity ? b->capacity * 2 : rollup_first(b), slots = capacity * 2;
	/* The index has twice as many slots, so that a search meets a free one soon, and their
	 * number is a power of two. So rows are doubled here. */
	struct rollup_row *rows = realloc(b->table->rows, capacity * sizeof(*rows));
	uint32_t *index;

	if (!rows)
		return -ENOMEM;
	b->table->rows = rows;
	index = calloc(slots, sizeof(*index));
	if (!index)
		return -ENOMEM;
	for (size_t i = 0; i < b->table->n; i++) {
		size_t at = rollup_hash(b, rows[i].value) & (slots - 1);

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
	at = rollup_hash(b, value) & (b->index_capacity - 1);
	for (; b->index[at]; at = (at + 1) & (b->index_capacity - 1)) {
		struct rollup_row *row = &t->rows[b->index[at] - 1];

		if (rollup_same(b, row->value, value))
			return row;
	}
	t->rows[t->n] = (struct rollup_row){ 0 };
	memcpy(t->rows[t->n].value, value, sizeof(t->rows[t->n].value));
	b->index[at] = (uint32_t)++t->n;
	return &t->rows[t->n - 1];
}

/* The innermost frame's name that is a parent; 0: none. A parent is a function whose name
 * --parent's pattern fits (opts->parents, by string). */
static uint32_t rollup_parent(const struct rollup_builder *b, uint32_t node)
{
	const struct profile *p = b->table->profile;

	for (; b->opts->parents && node != PROFILE_ROOT; node = profile_node_at(p, node).parent) {
		uint32_t symbol = profile_frame_at(p, profile_node_at(p, node).frame)->symbol;

		if (symbol && b->opts->parents[symbol])
			return symbol;
	}
	return 0;
}

/* The columns that all frames of a row's stack share; the others are 0. */
static void rollup_row_key(const struct rollup_builder *b, const struct profile_row *row,
                           uint32_t *value)
{
	const struct profile_key *key = &row->key;
	const struct profile_task *task = profile_task_at(b->table->profile, key->task);

	memset(value, 0, ROLLUP_COLUMNS * sizeof(*value));
#define FILL_FRAME(id, of)
#define FILL_SAMPLE(id, of)               \
	if (b->filled & BIT(ROLLUP_##id)) \
		value[ROLLUP_##id] = (of);
#define COLUMN(place, id, name, also, heading, whose, of, ...) FILL_##whose(id, of)
#include "profile/columns.def"
#undef FILL_FRAME
#undef FILL_SAMPLE
}

/* The columns that have values, where these are asked for. */
static unsigned rollup_filled(unsigned columns)
{
	/* A line means something together with its file only. */
	return columns & BIT(ROLLUP_LINE) ? columns | BIT(ROLLUP_FILE) : columns;
}

/* The columns that are a frame's own. */
static void rollup_frame_key(const struct rollup_builder *b, const struct profile_frame *frame,
                             uint32_t *value)
{
#define FILL_SAMPLE(id, of)
#define FILL_FRAME(id, of)                \
	if (b->filled & BIT(ROLLUP_##id)) \
		value[ROLLUP_##id] = (of);
#define COLUMN(place, id, name, also, heading, whose, of, ...) FILL_##whose(id, of)
#include "profile/columns.def"
}

/* Whether a stack counts for each of its frames. */
static bool rollup_every_frame(const struct rollup_builder *b)
{
	return b->table->columns & FRAME_COLUMNS || b->opts->shown;
}

/* The table's row of a frame, with the other columns from value; NULL: out of memory. What was
 * found is remembered per frame as long as those other columns stay the same. */
static struct rollup_row *rollup_frame_row(struct rollup_builder *b, uint32_t *value, uint32_t id)
{
	const struct profile_frame *frame;
	struct rollup_row *row;

	/* An entry of an earlier group is behind `before`'s rows and does not count. */
	if (b->frames[id] > b->before)
		return &b->table->rows[b->frames[id] - 1];
	frame = profile_frame_at(b->table->profile, id);
	rollup_frame_key(b, frame, value);
	row = rollup_find(b, value);
	if (row)
		/* A row may stand for frames of several kinds (inlined and not). */
		row->kind = profile_kind_of(row->kind, frame->kind);
	if (row)
		b->frames[id] = (uint32_t)(row - b->table->rows) + 1;
	return row;
}

static void rollup_add_self(struct rollup_row *to, const struct profile_row *row)
{
	to->self += row->weight;
	to->self_samples += row->samples;
}

/* serial tells one row of the profile from the next: a frame that recurs on its stack is met again
 * with the same serial, and its total is not added twice. */
static void rollup_add_total(struct rollup_row *to, const struct profile_row *row, size_t serial)
{
	if (to->last == serial + 1)
		return;
	to->last = serial + 1;
	to->total += row->weight;
	to->total_samples += row->samples;
}

/* Counts one row of the profile: for its innermost frame as self, and once for every distinct table
 * row on its path as total; where these are known already (walked), only of a stack without frames.
 * value: the columns that are not the frame's. */
static int rollup_count(struct rollup_builder *b, const struct profile_row *row, size_t serial,
                        uint32_t *value, bool walked)
{
	const struct trie *tree = profile_tree(b->table->profile);
	/* Only the innermost frame matters where no column is the frame's. */
	bool all = !walked && rollup_every_frame(b);
	uint32_t node = row->key.node;
	bool leaf = true, total = !walked || node == PROFILE_ROOT;

	do {
		const struct trie_node none = { 0 }, at = node ? trie_at(tree, node) : none;

		if (!b->opts->shown || b->opts->shown[at.key]) {
			struct rollup_row *to = rollup_frame_row(b, value, at.key);

			if (!to)
				return -ENOMEM;
			if (leaf)
				rollup_add_self(to, row);
			if (total)
				rollup_add_total(to, row, serial);
		}
		leaf = false;
		node = at.parent;
	} while (node != PROFILE_ROOT && all);
	b->table->weight += row->weight;
	b->table->samples += row->samples;
	return 0;
}

/* What rollup_walk asks of a frame. */
struct rollup_asking {
	struct rollup_builder *builder;
	uint32_t *value;
};

static uint32_t rollup_walk_row(void *ctx, uint32_t frame)
{
	const struct rollup_asking *a = ctx;
	const struct rollup_row *row;

	if (a->builder->opts->shown && !a->builder->opts->shown[frame])
		return 0;
	row = rollup_frame_row(a->builder, a->value, frame);
	return row ? (uint32_t)(row - a->builder->table->rows) + 1 : ROLLUP_WALK_FAILED;
}

/* Adds what stacks have that were never made. -ENOMEM. */
static int rollup_count_flat(struct rollup_builder *b)
{
	const struct flat *f = b->opts->flat;

	for (size_t i = 0; i < f->n_totals; i++) {
		const struct profile_row *total = &f->totals[i];
		const uint32_t frame = profile_node_at(b->table->profile, total->key.node).frame;
		uint32_t value[ROLLUP_COLUMNS];
		struct rollup_row *to;

		if (b->opts->event && total->key.event != b->opts->event)
			continue;
		rollup_row_key(b, total, value);
		b->before = b->table->n;
		to = rollup_frame_row(b, value, frame);
		if (!to)
			return -ENOMEM;
		to->total += total->weight;
		to->total_samples += total->samples;
	}
	return 0;
}

/* The profile's rows by group: those of one task, event ... are counted behind each other, so that
 * what a frame is in the table is looked up once for all of them. */
struct rollup_groups {
	struct intern values; /* ROLLUP_COLUMNS of u32 */
	uint32_t *of;         /* of each row: its group, 0: not wanted */
	uint32_t *rows;       /* in the order of groups */
	size_t n;
};

/* Numbers the distinct values of the sample's columns. -ENOMEM; -ECANCELED. */
static int rollup_find_groups(const struct rollup_builder *b, struct rollup_groups *g)
{
	const struct profile *p = b->table->profile;
	const size_t n = profile_n_rows(p);
	/* Without a column of the samples there is one group. */
	const bool one = !(b->filled & ~(unsigned)FRAME_COLUMNS);

	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = profile_row_at(p, i);
		uint32_t value[ROLLUP_COLUMNS];

		if (!watched_goes_on(b->opts->watched, i, n))
			return -ECANCELED;
		if (b->opts->event && row->key.event != b->opts->event)
			continue;
		/* 0 is the empty string, which is no group's. */
		if (one && g->values.n > 1) {
			g->of[i] = 1;
			continue;
		}
		rollup_row_key(b, row, value);
		g->of[i] = intern_bytes(&g->values, value, sizeof(value));
		if (g->of[i] == INTERN_FAILED)
			return -ENOMEM;
	}
	return 0;
}

/* Counts the rows of each group, and so knows where each begins. A counting sort: rows of a group
 * keep the profile's order. */
static int rollup_order_groups(const struct rollup_builder *b, struct rollup_groups *g)
{
	size_t n = profile_n_rows(b->table->profile), at = 0;
	size_t *start = calloc(g->values.n + 1, sizeof(*start));

	if (!start)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		start[g->of[i]] += g->of[i] != 0;
	for (size_t i = 0; i < g->values.n; i++) {
		size_t rows = start[i];

		start[i] = at;
		at += rows;
	}
	for (size_t i = 0; i < n; i++)
		if (g->of[i])
			g->rows[start[g->of[i]]++] = (uint32_t)i;
	g->n = at;
	free(start);
	return 0;
}

/* Counts n rows of one group: first the totals, where that can be done for all at once. */
static int rollup_count_group(struct rollup_builder *b, const uint32_t *rows, size_t n,
                              uint32_t *value)
{
	struct rollup_asking asking = { .builder = b, .value = value };
	const struct rollup_walk walk = { .table = b->table,
		                          .rows = rows,
		                          .n = n,
		                          .row = rollup_walk_row,
		                          .ctx = &asking,
		                          .known = b->frames,
		                          .before = b->before,
		                          .watched = b->opts->watched };
	const bool every = rollup_every_frame(b), flat = every && b->opts->flat;
	const bool walked = flat || (every && rollup_walk_pays(&walk));
	int r = 0;

	if (walked && !flat)
		r = b->opts->self_only ? rollup_walk_frames(&walk) : rollup_walk(&walk);
	for (size_t i = 0; i < n && r >= 0; i++)
		r = watched_goes_on(b->opts->watched, i, n)
		            ? rollup_count(b, profile_row_at(b->table->profile, rows[i]), rows[i],
		                           value, walked)
		            : -ECANCELED;
	return r;
}

/* Counts group by group. Where a group begins, what is remembered of frames is no longer true. */
static int rollup_count_groups(struct rollup_builder *b, const struct rollup_groups *g)
{
	uint32_t value[ROLLUP_COLUMNS];
	int r = 0;

	for (size_t i = 0, end; i < g->n && r >= 0; i = end) {
		uint32_t group = g->of[g->rows[i]];

		for (end = i + 1; end < g->n && g->of[g->rows[end]] == group;)
			end++;
		b->before = b->table->n;
		memcpy(value, intern_get(&g->values, group), sizeof(value));
		r = rollup_count_group(b, g->rows + i, end - i, value);
	}
	return r;
}

static int rollup_fill(struct rollup_builder *b)
{
	const struct profile *p = b->table->profile;
	struct rollup_groups g = { .of = calloc(profile_n_rows(p) + 1, sizeof(*g.of)),
		                   .rows = calloc(profile_n_rows(p) + 1, sizeof(*g.rows)) };
	int r = g.of && g.rows ? rollup_find_groups(b, &g) : -ENOMEM;

	if (r >= 0)
		r = rollup_order_groups(b, &g);
	if (r >= 0)
		r = rollup_count_groups(b, &g);
	if (r >= 0 && b->opts->flat && rollup_every_frame(b))
		r = rollup_count_flat(b);
	intern_free(&g.values);
	free(g.of);
	free(g.rows);
	return r;
}

/* Sums the profile's rows by the columns of opts. The rows are in no order: use rollup_sort.
 * -ENOMEM; -ECANCELED. */
int rollup_build(struct rollup *ret, const struct profile *p, const struct rollup_opts *opts)
{
	struct rollup t = { .profile = p, .columns = opts->columns };
	struct rollup_builder b = { .table = &t, .opts = opts };
	int r = -ENOMEM;

	b.filled = rollup_filled(opts->columns);
	for (unsigned c = 0; c < ROLLUP_COLUMNS; c++)
		if (b.filled & BIT(c))
			b.used[b.n_used++] = c;
	b.frames = calloc(profile_n_frames(p) + 1, sizeof(*b.frames));
	if (b.frames)
		r = rollup_fill(&b);
	free(b.frames);
	free(b.index);
	if (r < 0) {
		free(t.rows);
		return r;
	}
	*ret = t;
	return 0;
}

uint32_t rollup_frame_number(struct intern *numbers, const struct profile *p, unsigned columns,
                             uint32_t frame)
{
	struct rollup t = { .profile = p };
	const struct rollup_builder b = { .table = &t, .filled = rollup_filled(columns) };
	uint32_t value[ROLLUP_COLUMNS] = { 0 };

	if (!(columns & FRAME_COLUMNS))
		return 0;
	rollup_frame_key(&b, profile_frame_at(p, frame), value);
	return intern_bytes(numbers, value, sizeof(value));
}

void rollup_free(struct rollup *t)
{
	free(t->rows);
	*t = (struct rollup){ 0 };
}
