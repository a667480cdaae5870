// SPDX-License-Identifier: MIT
/*
 * table.c: see table.h.
 *
 * A table is filled, then sealed, then only read: by several threads without a lock. Most tables
 * are disjoint after table_choose, and a lookup is one binary search. perf maps are not: later code
 * lies over earlier code, and pieces say which is on top.
 */
#include "symbol/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/radix.h"
#include "base/array.h"

void table_free(struct table *table)
{
	if (!table->spilled.at && !table->lent.bytes) {
		buf_free(&table->names);
		free(table->symbols);
		free(table->pieces);
	}
	scratch_alone_free(&table->spilled);
	if (table->lent.bytes)
		table->lent.drop(&table->lent);
	*table = (struct table){ 0 };
}

/* The name of a symbol, ended by a NUL. It moves while symbols are put. */
const char *table_name(const struct table *table, uint32_t name)
{
	return (const char *)table->names.bytes + name;
}

void table_room(struct table *table, size_t n, size_t names)
{
	bool failed = table->names.failed;

	if (!n || n >= UINT32_MAX || names >= UINT32_MAX ||
	    ARRAY_ROOM(&table->symbols, &table->capacity, table->n + n) < 0)
		return;
	(void)buf_reserve(&table->names, names + n);
	table->names.failed = failed;
}

/* The name is copied; table->n is the number of the new symbol, until table_seal puts them in
 * order. -E2BIG: names beyond 4 GiB. -ENOMEM. */
int table_put(struct table *table, const struct table_symbol *symbol, const char *name, size_t n,
              const char *suffix)
{
	size_t n_suffix = strlen(suffix) + 1;
	char *to;

	if (ARRAY_ROOM(&table->symbols, &table->capacity, table->n + 1) < 0)
		return -ENOMEM;
	if (table->names.n > UINT32_MAX - n - n_suffix || table->n >= UINT32_MAX - 1)
		return -E2BIG;
	to = buf_reserve(&table->names, n + n_suffix);
	if (!to)
		return -ENOMEM;
	memcpy(to, name, n);
	memcpy(to + n, suffix, n_suffix);
	table->symbols[table->n] = *symbol;
	table->symbols[table->n].name = (uint32_t)table->names.n;
	table->names.n += n + n_suffix;
	table->n++;
	return 0;
}

/* Names that are meant for users have few. */
static size_t table_underscores(const char *name)
{
	return strspn(name, "_");
}

/* Compares two symbols that begin at one address; < 0: a is to be kept. The rules, in this order: a
 * size, then (for JIT code) the later one, then global before local, few underscores, strong before
 * weak, a short name; at last the alphabet, so that the choice is the same in every run. */
static int table_prefer(const struct table *table, const struct table_symbol *a,
                        const struct table_symbol *b)
{
	const char *x = table_name(table, a->name), *y = table_name(table, b->name);
	bool sized_a = a->end > a->start, sized_b = b->end > b->start;
	size_t n, m;

	if (sized_a != sized_b)
		return sized_a ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	if ((a->bind == TABLE_LOCAL) != (b->bind == TABLE_LOCAL))
		return a->bind == TABLE_LOCAL ? 1 : -1;
	n = table_underscores(x);
	m = table_underscores(y);
	if (n != m)
		return n < m ? -1 : 1;
	if (a->bind != b->bind)
		return a->bind > b->bind ? -1 : 1;
	n = strlen(x);
	m = strlen(y);
	if (n != m)
		return n < m ? -1 : 1;
	return strcmp(x, y);
}

static int table_order(const void *a, const void *b, void *ctx)
{
	const struct table_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return table_prefer(ctx, x, y);
}

#define RUN_SHORT 16u /* symbols: so few are quicker put in order one by one */

/* Sorts a short run; equal symbols keep their order. */
static void table_sort_run(struct table *table, size_t from, size_t n)
{
	struct table_symbol *at = table->symbols + from;

	if (n > RUN_SHORT) {
		qsort_r(at, n, sizeof(*at), table_order, table);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct table_symbol s = at[i];
		size_t to = i;

		for (; to && table_order(&at[to - 1], &s, table) > 0; to--)
			at[to] = at[to - 1];
		at[to] = s;
	}
}

/* Sorts all symbols: by address, then those of one address. */
static void table_sort(struct table *table)
{
	size_t from = 0;

	if (!radix_sort(table->symbols, table->n, sizeof(*table->symbols))) {
		qsort_r(table->symbols, table->n, sizeof(*table->symbols), table_order, table);
		return;
	}
	for (size_t i = 1; i <= table->n; i++) {
		if (i < table->n && table->symbols[i].start == table->symbols[from].start)
			continue;
		table_sort_run(table, from, i - from);
		from = i;
	}
}

/* Keeps one symbol per start. A symbol without size ends where the next one begins, or is
 * dropped. */
static void table_choose(struct table *table)
{
	uint64_t reached = 0; /* the farthest end of the sized ones so far */
	size_t kept = 0;

	for (size_t i = 0; i < table->n; i++) {
		struct table_symbol s = table->symbols[i];

		if (kept && table->symbols[kept - 1].start == s.start)
			continue;
		/* A label inside a sized function names nothing of its own. */
		if (s.end <= s.start && s.start < reached)
			continue;
		if (s.end > reached)
			reached = s.end;
		table->symbols[kept++] = s;
	}
	table->n = kept;
	for (size_t i = 0; i < kept; i++) {
		struct table_symbol *s = &table->symbols[i];

		if (s->end > s->start)
			continue;
		s->end = s->limit > s->start ? s->limit : s->start + 1;
		if (i + 1 < kept && table->symbols[i + 1].start < s->end)
			s->end = table->symbols[i + 1].start;
	}
}

/* ---- pieces: a sweep over the starts, with a heap of the symbols that are open ---- */

/* What is being cut: open symbols, and up to which address pieces were given. */
struct sweep {
	struct table *table;
	uint32_t *heap; /* the strongest symbol on top */
	size_t n;
	uint64_t at;
};

/* The later of two with the same rank begins later, so it lies on top. */
static bool table_stronger(const struct table *table, uint32_t a, uint32_t b)
{
	const struct table_symbol *x = &table->symbols[a], *y = &table->symbols[b];

	return x->rank != y->rank ? x->rank > y->rank : a > b;
}

/* Puts a symbol into the heap. */
static void table_sweep_open(struct sweep *s, uint32_t symbol)
{
	size_t i = s->n++;

	for (; i && table_stronger(s->table, symbol, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
		s->heap[i] = s->heap[(i - 1) / 2];
	s->heap[i] = symbol;
}

/* Takes the strongest symbol out. */
static void table_sweep_close(struct sweep *s)
{
	uint32_t last = s->heap[--s->n];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < s->n) {
		if (child + 1 < s->n &&
		    table_stronger(s->table, s->heap[child + 1], s->heap[child]))
			child++;
		if (!table_stronger(s->table, s->heap[child], last))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = last;
}

/* Begins a piece at s->at, unless the one before goes on. */
static void table_sweep_emit(struct sweep *s, uint32_t symbol)
{
	struct table *t = s->table;

	if (t->n_pieces && t->pieces[t->n_pieces - 1].symbol == symbol)
		return;
	if (t->n_pieces && t->pieces[t->n_pieces - 1].start == s->at)
		t->n_pieces--; /* an empty one */
	t->pieces[t->n_pieces++] = (struct table_piece){ .start = s->at, .symbol = symbol };
}

/* Gives the addresses from s->at up to `to` to their symbol. */
static void table_sweep_advance(struct sweep *s, uint64_t to)
{
	while (s->at < to) {
		uint64_t end;

		while (s->n && s->table->symbols[s->heap[0]].end <= s->at)
			table_sweep_close(s);
		table_sweep_emit(s, s->n ? s->heap[0] : TABLE_NOTHING);
		end = s->n ? s->table->symbols[s->heap[0]].end : to;
		s->at = end < to ? end : to;
	}
}

/* -ENOMEM. */
static int table_sweep_all(struct table *table)
{
	struct sweep sweep = { .table = table };

	sweep.heap = calloc(table->n, sizeof(*sweep.heap));
	if (!sweep.heap)
		return -ENOMEM;
	for (size_t i = 0; i < table->n; i++) {
		table_sweep_advance(&sweep, table->symbols[i].start);
		table_sweep_open(&sweep, (uint32_t)i);
	}
	table_sweep_advance(&sweep, UINT64_MAX);
	table_sweep_emit(&sweep,
	                 TABLE_NOTHING); /* ends are exclusive: the last address is nobody's */
	free(sweep.heap);
	return 0;
}

/* Whether no two symbols overlap, so that no pieces are needed. */
static bool table_is_disjoint(const struct table *table)
{
	for (size_t i = 1; i < table->n; i++) {
		if (table->symbols[i].start < table->symbols[i - 1].end)
			return false;
	}
	return true;
}

/* Sorts by address and keeps one symbol per address. Where symbols overlap, the address space is
 * cut into pieces, each of which belongs to the symbol of the highest rank. */
int table_seal(struct table *table)
{
	int r;

	if (!table->n || table->sealed)
		return 0;
	table_sort(table);
	table_choose(table);
	table->sealed = true;
	if (table_is_disjoint(table)) /* as almost all tables are */
		return 0;
	/* Every symbol begins one piece and ends at most one. */
	table->pieces = calloc(2 * table->n + 2, sizeof(*table->pieces));
	if (!table->pieces)
		return -ENOMEM;
	r = table_sweep_all(table);
	if (r < 0) {
		free(table->pieces);
		table->pieces = NULL;
	}
	return r;
}

void table_lend(struct table *table, const struct kernel_kept *bytes, const struct table_kept *kept,
                size_t n, const char *names, size_t n_names)
{
	*table = (struct table){
		/* Its bytes are not written to: nothing may be put into a sealed table. */
		.names = { (unsigned char *)(uintptr_t)names, n_names, n_names, false },
		.n = n,
		.sealed = true,
		.kept = kept,
		.lent = *bytes,
	};
}

/* Symbols come first, then pieces, then names: so all are aligned. */
bool table_spill(struct table *table)
{
	size_t symbols = table->n * (table->kept ? sizeof(*table->kept) : sizeof(*table->symbols));
	size_t pieces = table->n_pieces * sizeof(*table->pieces), names = table->names.n;
	struct table to = {
		.n = table->n, .capacity = table->n, .sealed = true, .n_pieces = table->n_pieces
	};
	unsigned char *at;

	if (!table->sealed || table->spilled.at ||
	    !scratch_alone_make(&to.spilled, symbols + pieces + names))
		return false;
	at = to.spilled.at;
	if (table->kept)
		to.kept = memcpy(at, table->kept, symbols);
	else
		to.symbols = memcpy(at, table->symbols, symbols);
	if (table->pieces)
		to.pieces = memcpy(at + symbols, table->pieces, pieces);
	to.names = (struct buf){ memcpy(at + symbols + pieces, table->names.bytes, names), names,
		                 names, false };
	scratch_alone_rest(&to.spilled);
	table_free(table);
	*table = to;
	return true;
}

_Static_assert(offsetof(struct table_kept, start) == 0 &&
                       offsetof(struct table_symbol, start) == 0 &&
                       offsetof(struct table_piece, start) == 0,
               "table_reached reads it there");

/* How many of n things, which ascend and begin with their start, start at an address or before. */
static size_t table_reached(const void *things, size_t n, size_t size, uint64_t addr)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		uint64_t start;

		memcpy(&start, (const char *)things + middle * size, sizeof(start));
		if (start <= addr)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Where thing i of n begins; behind the last one, the end of all addresses. */
static uint64_t table_start(const void *things, size_t i, size_t n, size_t size)
{
	uint64_t start = UINT64_MAX;

	if (i < n)
		memcpy(&start, (const char *)things + i * size, sizeof(start));
	return start;
}

/* The table must be sealed. */
bool table_find(const struct table *table, uint64_t addr, struct table_found *ret)
{
	const bool kept = table->kept, pieces = !kept && table->pieces;
	const void *things = kept     ? (const void *)table->kept
	                     : pieces ? (const void *)table->pieces
	                              : table->symbols;
	const size_t size = kept     ? sizeof(*table->kept)
	                    : pieces ? sizeof(*table->pieces)
	                             : sizeof(*table->symbols);
	const size_t count = pieces ? table->n_pieces : table->n;
	size_t n = table_reached(things, count, size, addr);

	*ret = (struct table_found){ .from = n ? table_start(things, n - 1, count, size) : 0,
		                     .to = table_start(things, n, count, size) };
	if (n && pieces)
		n = table->pieces[n - 1].symbol == TABLE_NOTHING
		            ? 0
		            : (size_t)table->pieces[n - 1].symbol + 1;
	if (!n)
		return false;
	ret->start = kept ? table->kept[n - 1].start : table->symbols[n - 1].start;
	ret->end = kept ? ret->start + table->kept[n - 1].size : table->symbols[n - 1].end;
	ret->name = kept ? table->kept[n - 1].name : table->symbols[n - 1].name;
	ret->number = (uint32_t)n - 1;
	if (addr >= ret->end) {
		ret->from = ret->end;
		return false;
	}
	ret->to = ret->to < ret->end ? ret->to : ret->end;
	return true;
}
